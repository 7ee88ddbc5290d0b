//! What the two product searches have in common: the places still to be looked at, and how a search
//! ends.
//!
//! The search is A* (Hart, Nilsson, Raphael, *A formal basis for the heuristic determination of
//! minimum cost paths*, 1968) with characters as steps. What is surely still to come, the least
//! that a pattern needs to end its match, never overrates and falls by one a character at most, so
//! the first frame found is a shortest; and the many places that only a longer frame would reach
//! are never looked at. Uses `alphabet`, `hash`.

use std::collections::VecDeque;
use std::hash::Hash;

use super::Reason;
use super::alphabet::{Alphabet, Symbol};
use super::hash::{Numbers, hash_of};

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
    /// How often the place was met, as far as its shortest way knows.
    times: u8,
    /// Whether a shorter way to the place was met later.
    is_past: bool,
}

/// The places met so far, in the order in which they are to be looked at.
#[derive(Debug)]
pub(crate) struct Frontier<N> {
    entries: Vec<Entry<N>>,
    /// By the least length of a frame through them, less that of any frame.
    waiting: Vec<VecDeque<u32>>,
    lowest: usize,
    /// The least length of any frame.
    least: usize,
    /// The places by their hash, each by the entry of the shortest way to it.
    met: Numbers,
    exact: bool,
}

impl<N: Hash + Eq + Copy> Frontier<N> {
    /// Only the place `first`, from which at least `rest` characters are needed; `exact` if one way to a
    /// place is as good as any other.
    pub(crate) fn new(first: N, rest: u32, exact: bool) -> Self {
        let mut met = Numbers::new();
        met.add(hash_of(&first), 0);
        let first =
            Entry { node: first, parent: 0, symbol: 0, length: 0, times: 1, is_past: false };
        Self {
            entries: vec![first],
            waiting: vec![VecDeque::from([0])],
            lowest: 0,
            least: rest as usize,
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
    /// needed; `u32::MAX` for one that leads nowhere. Whether it is to be looked at.
    pub(crate) fn push(&mut self, node: N, parent: u32, symbol: Symbol, rest: u32) -> bool {
        if rest == u32::MAX {
            return false;
        }
        let length = self.length(parent) + 1;
        let number = self.entries.len() as u32;
        let hash = hash_of(&node);
        let known = self.find(hash, &node);
        let mut times = 1;
        if let Some((known, entry)) =
            known.and_then(|known| Some((known, self.entries.get_mut(known as usize)?)))
        {
            if length >= entry.length && (self.exact || entry.times >= VISITS) {
                return false;
            }
            entry.times = entry.times.saturating_add(1);
            if length < entry.length {
                (times, entry.is_past) = (entry.times, true);
                self.met.replace(hash, known, number);
            }
        } else {
            self.met.add(hash, number);
        }
        self.entries.push(Entry { node, parent, symbol, length, times, is_past: false });
        self.wait(number, length as usize + rest as usize);
        true
    }

    fn wait(&mut self, number: u32, least: usize) {
        let least = least.saturating_sub(self.least);
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
        let waits = least > self.least + self.lowest;
        if waits {
            self.wait(number, least);
        }
        waits
    }

    /// The entry of the shortest way to a place.
    fn find(&self, hash: u64, node: &N) -> Option<u32> {
        let is_it = |number| self.entries.get(number as usize).is_some_and(|e| e.node == *node);
        self.met.find(hash, is_it)
    }

    /// Whether a place was met by a way that is no longer.
    pub(crate) fn knows(&self, node: &N, length: u32) -> bool {
        self.find(hash_of(node), node).is_some_and(|number| self.length(number) <= length)
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
            if !self.exact || !entry.is_past {
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
