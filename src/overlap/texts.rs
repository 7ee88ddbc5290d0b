//! A sorted list of texts, and which of them begin, or are the beginning of, another text.
//!
//! Does the work of the output links of Aho and Corasick's automaton (*Efficient string matching:
//! an aid to bibliographic search*, 1975): the list's texts that are prefixes of some text `x` form
//! a chain, which starts at the last one that is not after `x` in the order and goes from each text
//! to its longest proper prefix in the list. One binary search a place instead of an automaton that
//! would have a node for every byte; and at most places none, because no text begins with the bytes there.

use std::ops::Range;

/// No text.
const NONE: u32 = u32::MAX;

/// How many bytes are looked at before anything is searched for.
pub(crate) const GRAM: usize = 8;

/// The list.
#[derive(Debug)]
pub(crate) struct Texts<'t> {
    all: Vec<&'t str>,
    /// For each the longest other one that it begins with.
    parents: Vec<u32>,
    /// The first eight bytes of the texts; whole texts where they are shorter.
    beginnings: Grams,
    /// Bit n: some of these have n bytes.
    lengths: u16,
    /// The first one to seven bytes of the texts.
    stubs: Grams,
}

/// Up to eight bytes as a number, and how many.
pub(crate) type Gram = (u64, u8);

/// A set of short byte strings that may say yes of one that is not in it, seldom.
#[derive(Debug, Default)]
pub(crate) struct Grams {
    bits: Vec<u64>,
    shift: u32,
}

impl Grams {
    /// Room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        // Of those that are not there one in thirty or less is taken for one that is.
        let bits = (count.max(4).saturating_mul(32)).min(1 << 29).next_power_of_two();
        Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() }
    }

    fn place(&self, gram: Gram) -> (usize, u64) {
        // Multiplication leaves the good bits at the top.
        let bit = (gram.0 ^ u64::from(gram.1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        ((bit >> 6) as usize, 1 << (bit & 63))
    }

    pub(crate) fn add(&mut self, gram: Gram) {
        let (word, bit) = self.place(gram);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether it is there; never wrong where it says no.
    pub(crate) fn may_have(&self, gram: Gram) -> bool {
        let (word, bit) = self.place(gram);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The first `size` bytes as a number, of at most eight.
pub(crate) fn gram(text: &[u8], size: usize) -> Gram {
    let whole = text.first_chunk::<GRAM>().map(|bytes| u64::from_le_bytes(*bytes));
    let bytes = whole.unwrap_or_else(|| {
        text.iter().take(GRAM).rev().fold(0, |sum, &byte| (sum << 8) | u64::from(byte))
    });
    let kept = if size >= GRAM { bytes } else { bytes & ((1 << (8 * size)) - 1) };
    (kept, size as u8)
}

impl<'t> Texts<'t> {
    /// Takes texts that are sorted, each once; empty ones are left out.
    pub(crate) fn sorted(mut texts: Vec<&'t str>) -> Self {
        texts.retain(|text| !text.is_empty());
        texts.dedup();
        let mut parents = Vec::with_capacity(texts.len());
        let mut open: Vec<u32> = Vec::new();
        let mut beginnings = Grams::with_capacity(texts.len());
        let mut stubs = Grams::with_capacity(texts.len());
        let mut lengths = 0;
        let mut before = "";
        for (at, &text) in texts.iter().enumerate() {
            while open.last().is_some_and(|&last| !text.starts_with(texts[last as usize])) {
                open.pop();
            }
            parents.push(open.last().copied().unwrap_or(NONE));
            open.push(at as u32);
            let bytes = text.as_bytes();
            let size = bytes.len().min(GRAM);
            lengths |= 1 << size;
            beginnings.add(gram(bytes, size));
            // What it has in common with the one before is there already.
            let common = bytes.iter().zip(before.as_bytes()).take_while(|(a, b)| a == b).count();
            for size in common + 1..=size.min(GRAM - 1) {
                stubs.add(gram(bytes, size));
            }
            before = text;
        }
        Self { all: texts, parents, beginnings, lengths, stubs }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// A text by its number.
    pub(crate) fn get(&self, number: u32) -> &'t str {
        self.all.get(number as usize).copied().unwrap_or("")
    }

    /// The number of a text.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.all.binary_search_by(|other| (*other).cmp(text)).ok().map(|at| at as u32)
    }

    /// Whether some text may begin `text`; never wrong where it says no.
    fn may_begin(&self, text: &[u8]) -> bool {
        let mut sizes = self.lengths & ((2 << text.len().min(GRAM)) - 1);
        while sizes != 0 {
            if self.beginnings.may_have(gram(text, sizes.trailing_zeros() as usize)) {
                return true;
            }
            sizes &= sizes - 1;
        }
        false
    }

    /// Whether some text may begin with `text`; never wrong where it says no.
    fn may_go_on(&self, text: &[u8]) -> bool {
        match text.len() {
            0 => true,
            size if size < GRAM => self.stubs.may_have(gram(text, size)),
            _ => self.beginnings.may_have(gram(text, GRAM)),
        }
    }

    /// Whether there may be something in [`Texts::prefixes`] or in [`Texts::extensions`]; never wrong
    /// where it says no.
    pub(crate) fn may_meet(&self, text: &str) -> bool {
        let text = text.as_bytes();
        self.may_begin(text) || self.may_go_on(text)
    }

    /// The texts that one of them begins with, itself included, the longest first.
    pub(crate) fn prefixes_of(&self, number: u32) -> impl Iterator<Item = u32> {
        let known = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(known(number), move |&at| known(self.parent(at)))
    }

    /// The texts that `text` begins with, itself included, the longest first.
    pub(crate) fn prefixes<'a>(&'a self, text: &'a str) -> impl Iterator<Item = u32> + 'a {
        let mut at = if self.may_begin(text.as_bytes()) {
            let after = self.all.partition_point(|other| *other <= text);
            after.checked_sub(1).map_or(NONE, |at| at as u32)
        } else {
            NONE
        };
        // Each one of the chain is the beginning of the one before, so one comparison tells for all.
        if at != NONE && !text.starts_with(self.get(at)) {
            let last = self.get(at).as_bytes();
            let common = text.bytes().zip(last).take_while(|(a, b)| a == *b).count();
            while at != NONE && self.get(at).len() > common {
                at = self.parent(at);
            }
        }
        self.prefixes_of(at)
    }

    fn parent(&self, at: u32) -> u32 {
        self.parents.get(at as usize).copied().unwrap_or(NONE)
    }

    /// The texts that begin with `text`, itself included.
    pub(crate) fn extensions(&self, text: &str) -> Range<u32> {
        if !self.may_go_on(text.as_bytes()) {
            return 0..0;
        }
        let start = self.all.partition_point(|other| *other < text);
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
        let words = [
            "a",
            "ab",
            "abc",
            "b",
            "abcde",
            "bcd",
            "é",
            "éa",
            "abd",
            "abcdefgh",
            "abcdefghi",
            "bbbbbbb",
        ];
        let texts = {
            let mut sorted = words.to_vec();
            sorted.sort_unstable();
            Texts::sorted(sorted)
        };
        for text in [
            "a",
            "abcd",
            "abcdef",
            "",
            "b",
            "bc",
            "éab",
            "x",
            "abd",
            "ac",
            "abcdefg",
            "abcdefgh",
            "abcdefghij",
            "bbbb",
            "bbbbbbb",
            "bbbbbbbb",
            "bbbbbbbbb",
            "xbbbbbbbb",
        ] {
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
