//! What the two product searches have in common: the places still to be looked at, and how a search
//! ends.
//!
//! The search is A* (Hart, Nilsson, Raphael, *A formal basis for the heuristic determination of
//! minimum cost paths*, 1968) with characters as steps. What is surely still to come, the least
//! that a pattern needs to end its match, never overrates and falls by one a character at most, so
//! the first frame found is a shortest; and the many places that only a longer frame would reach
//! are never looked at. Uses `alphabet`, `hash`.

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hash};

use super::Reason;
use super::alphabet::{Alphabet, Symbol};
use super::hash::Map;

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is no such frame.
    No,
    /// A shortest such frame.
    Yes(String),
    /// Not known, and why.
    Unknown(Reason),
}

/// How often a place may be met by another way where the automata are approximations: the frame
/// that confirms may not be the first to lead there.
const VISITS: u8 = 16;

/// A place that was met.
#[derive(Debug)]
struct Entry<N> {
    node: N,
    /// The place before it; its own for the first.
    parent: u32,
    /// The character between the two.
    symbol: Symbol,
    /// How many characters lead to it.
    length: u32,
}

/// The places met so far, in the order in which they are to be looked at.
#[derive(Debug)]
pub(crate) struct Frontier<N> {
    entries: Vec<Entry<N>>,
    /// By the least length of a frame through them.
    waiting: Vec<VecDeque<u32>>,
    lowest: usize,
    /// For each place how often it was met, and the shortest way to it.
    met: Map<N, (u8, u32)>,
    exact: bool,
}

impl<N: Hash + Eq + Copy> Frontier<N> {
    /// Only the place `first`; `exact` if one way to a place is as good as any other.
    pub(crate) fn new(first: N, exact: bool) -> Self {
        let mut met = Map::with_capacity_and_hasher(256, BuildHasherDefault::default());
        met.insert(first, (1, 0));
        Self {
            entries: vec![Entry { node: first, parent: 0, symbol: 0, length: 0 }],
            waiting: vec![VecDeque::from([0])],
            lowest: 0,
            met,
            exact,
        }
    }

    /// How many places were met; each costs its caller at least one unit of fuel.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many characters lead to a place.
    pub(crate) fn length(&self, number: u32) -> u32 {
        self.entries.get(number as usize).map_or(0, |entry| entry.length)
    }

    /// Meets a place one character after another, from which at least `rest` more characters are
    /// needed; `u32::MAX` for one that leads nowhere.
    pub(crate) fn push(&mut self, node: N, parent: u32, symbol: Symbol, rest: u32) {
        if rest == u32::MAX {
            return;
        }
        let length = self.length(parent) + 1;
        let (times, shortest) = self.met.entry(node).or_insert((0, u32::MAX));
        if length >= *shortest && (self.exact || *times >= VISITS) {
            return;
        }
        *times = times.saturating_add(1);
        *shortest = length.min(*shortest);
        let number = self.entries.len() as u32;
        self.entries.push(Entry { node, parent, symbol, length });
        self.wait(number, length as usize + rest as usize);
    }

    fn wait(&mut self, number: u32, least: usize) {
        if self.waiting.len() <= least {
            self.waiting.resize_with(least + 1, VecDeque::new);
        }
        if let Some(bucket) = self.waiting.get_mut(least) {
            bucket.push_back(number);
        }
        self.lowest = self.lowest.min(least);
    }

    /// Whether a place that was just taken can wait, because it turns out that at least `rest` more
    /// characters are needed from there; then it will come again.
    pub(crate) fn postpone(&mut self, number: u32, rest: u32) -> bool {
        let least = self.length(number) as usize + rest as usize;
        let waits = least > self.lowest;
        if waits {
            self.wait(number, least);
        }
        waits
    }

    /// Whether a place was met by a way that is no longer.
    pub(crate) fn knows(&self, node: &N, length: u32) -> bool {
        self.met.get(node).is_some_and(|met| met.1 <= length)
    }

    /// The next place to look at, with its number.
    pub(crate) fn pop(&mut self) -> Option<(u32, N)> {
        loop {
            let bucket = self.waiting.get_mut(self.lowest)?;
            let Some(number) = bucket.pop_front() else {
                self.lowest += 1;
                continue;
            };
            let entry = self.entries.get(number as usize)?;
            let shortest = self.met.get(&entry.node).map_or(0, |met| met.1);
            if !self.exact || entry.length <= shortest {
                return Some((number, entry.node));
            }
        }
    }

    /// The frame that leads to a place.
    pub(crate) fn text(&self, number: u32, alphabet: &Alphabet) -> String {
        let mut chars = Vec::new();
        let mut at = number;
        while at != 0 {
            let Some(entry) = self.entries.get(at as usize) else { break };
            chars.push(alphabet.char(entry.symbol));
            at = entry.parent;
        }
        chars.iter().rev().collect()
    }
}
