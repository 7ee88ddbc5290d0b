//! What the two product searches have in common: nodes in breadth-first order, and how a search ends.
//! Uses `alphabet`.

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

/// The frames met so far, as a tree of last characters.
#[derive(Debug)]
pub(crate) struct Trail {
    nodes: Vec<(u32, Symbol)>,
}

impl Trail {
    /// Only the empty text, number 0.
    pub(crate) fn new() -> Self {
        Self { nodes: vec![(0, 0)] }
    }

    /// The text of `parent` and one character more.
    pub(crate) fn push(&mut self, parent: u32, symbol: Symbol) {
        self.nodes.push((parent, symbol));
    }

    /// The text of a node.
    pub(crate) fn text(&self, node: u32, alphabet: &Alphabet) -> String {
        let mut chars = Vec::new();
        let mut at = node;
        while at != 0 {
            let Some(&(parent, symbol)) = self.nodes.get(at as usize) else { break };
            chars.push(alphabet.char(symbol));
            at = parent;
        }
        chars.iter().rev().collect()
    }
}

/// How often a place may be met by another way where the automata are approximations: the frame that confirms may not be
/// the first to lead there.
const VISITS: u8 = 16;

/// The places met so far.
#[derive(Debug)]
pub(crate) struct Seen<N> {
    times: Map<N, u8>,
    most: u8,
}

impl<N: Hash + Eq> Seen<N> {
    /// None yet; `exact` if the first way to a place is as good as any.
    pub(crate) fn new(exact: bool) -> Self {
        Self {
            times: Map::with_capacity_and_hasher(256, BuildHasherDefault::default()),
            most: if exact { 1 } else { VISITS },
        }
    }

    /// Whether the place is to be looked at.
    pub(crate) fn insert(&mut self, node: N) -> bool {
        let times = self.times.entry(node).or_insert(0);
        *times = times.saturating_add(1);
        *times <= self.most
    }
}
