//! A sorted list of texts, and which of them begin, or are the beginning of, another text.
//!
//! Does the work of the output links of Aho and Corasick's automaton (*Efficient string matching:
//! an aid to bibliographic search*, 1975): the list's texts that are prefixes of some text `x` form
//! a chain, which starts at the last one that is not after `x` in the order and goes from each text
//! to its longest proper prefix in the list. One binary search a place instead of an automaton that
//! would have a node for every byte. Uses `hash`.

use std::ops::Range;

use super::hash::Set;

/// No text.
const NONE: u32 = u32::MAX;

/// The list.
#[derive(Debug)]
pub(crate) struct Texts {
    all: Vec<String>,
    /// For each the longest other one that it begins with.
    parents: Vec<u32>,
    /// The first bytes of the texts, up to three; whole texts where they are shorter.
    beginnings: Set<u32>,
}

fn beginning(text: &[u8]) -> u32 {
    let byte = |at: usize| u32::from(text.get(at).copied().unwrap_or(0));
    (text.len().min(3) as u32) << 24 | byte(0) << 16 | byte(1) << 8 | byte(2)
}

impl Texts {
    /// Takes the texts, each once; empty ones are left out.
    pub(crate) fn new(mut texts: Vec<String>) -> Self {
        texts.retain(|text| !text.is_empty());
        texts.sort_unstable();
        texts.dedup();
        let mut parents = Vec::with_capacity(texts.len());
        let mut open: Vec<u32> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            while open.last().is_some_and(|&last| !text.starts_with(&texts[last as usize])) {
                open.pop();
            }
            parents.push(open.last().copied().unwrap_or(NONE));
            open.push(at as u32);
        }
        let beginnings = texts.iter().map(|text| beginning(text.as_bytes())).collect();
        Self { all: texts, parents, beginnings }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// A text by its number.
    pub(crate) fn get(&self, number: u32) -> &str {
        self.all.get(number as usize).map_or("", String::as_str)
    }

    /// The number of a text.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.all.binary_search_by(|other| other.as_str().cmp(text)).ok().map(|at| at as u32)
    }

    /// The texts that `text` begins with, itself included, the longest first.
    pub(crate) fn prefixes<'a>(&'a self, text: &'a str) -> impl Iterator<Item = u32> + 'a {
        let bytes = text.as_bytes();
        let known =
            (1..=3.min(bytes.len())).any(|n| self.beginnings.contains(&beginning(&bytes[..n])));
        let mut at = if known {
            let after = self.all.partition_point(|other| other.as_str() <= text);
            after.checked_sub(1).map_or(NONE, |at| at as u32)
        } else {
            NONE
        };
        while at != NONE && !text.starts_with(self.get(at)) {
            at = self.parent(at);
        }
        std::iter::from_fn(move || {
            let now = at;
            if now == NONE {
                return None;
            }
            at = self.parent(now);
            Some(now)
        })
    }

    fn parent(&self, at: u32) -> u32 {
        self.parents.get(at as usize).copied().unwrap_or(NONE)
    }

    /// The texts that begin with `text`, itself included.
    pub(crate) fn extensions(&self, text: &str) -> Range<u32> {
        if text.len() >= 3 && !self.beginnings.contains(&beginning(text.as_bytes())) {
            return 0..0;
        }
        let start = self.all.partition_point(|other| other.as_str() < text);
        let rest = self.all.get(start..).unwrap_or_default();
        let length = rest.partition_point(|other| other.starts_with(text));
        start as u32..(start + length) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_extensions_are_those_that_a_scan_finds() {
        let words = ["a", "ab", "abc", "b", "abcde", "bcd", "é", "éa", "abd"];
        let texts = Texts::new(words.iter().map(|&w| w.to_owned()).collect());
        for text in ["a", "abcd", "abcdef", "", "b", "bc", "éab", "x", "abd", "ac"] {
            let mut found: Vec<&str> = texts.prefixes(text).map(|at| texts.get(at)).collect();
            let mut scan: Vec<&str> =
                words.iter().copied().filter(|word| text.starts_with(word)).collect();
            scan.sort_unstable_by_key(|word| std::cmp::Reverse(word.len()));
            assert_eq!(found, scan, "{text}");
            found = texts.extensions(text).map(|at| texts.get(at)).collect();
            scan = words.iter().copied().filter(|word| word.starts_with(text)).collect();
            scan.sort_unstable();
            assert_eq!(found, scan, "{text}");
        }
    }
}
