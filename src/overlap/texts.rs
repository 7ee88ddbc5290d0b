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
    /// For each [`order_key`] of its own, side by side: a search seldom looks at the texts themselves,
    /// which lie all over a register.
    keys: Vec<u64>,
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
        // Of those that are not there one in a thousand or less is taken for one that is.
        let bits = (count.max(4).saturating_mul(32)).min(1 << 29).next_power_of_two();
        Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() }
    }

    /// The word that a gram stands in, and its three bits there: a Bloom filter in blocks of a word
    /// (Putze, Sanders and Singler, *Cache-, hash- and space-efficient Bloom filters*, 2007).
    fn place(&self, gram: Gram) -> (usize, u64) {
        // Multiplication leaves the good bits at the top.
        let hash = (gram.0 ^ u64::from(gram.1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bit = hash >> self.shift;
        let bits = (1 << (bit & 63)) | (1 << ((hash >> 23) & 63)) | (1 << ((hash >> 29) & 63));
        ((bit >> 6) as usize, bits)
    }

    pub(crate) fn add(&mut self, gram: Gram) {
        let (word, bits) = self.place(gram);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bits;
        }
    }

    /// Whether it is there; never wrong where it says no.
    pub(crate) fn may_have(&self, gram: Gram) -> bool {
        let (word, bits) = self.place(gram);
        self.bits.get(word).is_some_and(|word| word & bits == bits)
    }
}

/// The first `size` bytes as a number, of at most eight.
pub(crate) fn gram(text: &[u8], size: usize) -> Gram {
    cut(word(text), size)
}

/// The first eight bytes as a number, the first one lowest; zeros behind the end.
pub(crate) fn word(text: &[u8]) -> u64 {
    match text.first_chunk::<GRAM>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => text.iter().rev().fold(0, |sum, &byte| (sum << 8) | u64::from(byte)),
    }
}

/// The first `size` of eight bytes.
fn cut(word: u64, size: usize) -> Gram {
    let kept = if size >= GRAM { word } else { word & ((1 << (8 * size)) - 1) };
    (kept, size as u8)
}

/// A number in whose order texts are that do not begin with the same eight bytes; equal for those
/// that do, and maybe for some that end before.
pub(crate) fn order_key(text: &str) -> u64 {
    word(text.as_bytes()).swap_bytes()
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
        let keys = texts.iter().map(|text| order_key(text)).collect();
        Self { all: texts, keys, parents, beginnings, lengths, stubs }
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
        let at = self.partition(text, |other| other < text);
        (self.all.get(at) == Some(&text)).then_some(at as u32)
    }

    /// How many texts are before `text` and, of those that begin with the same eight bytes, fulfil
    /// `is_before`, which holds for those in front and not for those behind.
    fn partition(&self, text: &str, is_before: impl Fn(&str) -> bool) -> usize {
        let key = order_key(text);
        let start = self.keys.partition_point(|other| *other < key);
        let rest = self.keys.get(start..).unwrap_or_default();
        let length = rest.partition_point(|other| *other == key);
        let alike = self.all.get(start..start + length).unwrap_or_default();
        start + alike.partition_point(|other| is_before(other))
    }

    /// Whether some text may have the first bytes of this, of one of the sizes: bit n for n bytes.
    fn may_have_one_of(&self, word: u64, mut sizes: u16) -> bool {
        while sizes != 0 {
            if self.beginnings.may_have(cut(word, sizes.trailing_zeros() as usize)) {
                return true;
            }
            sizes &= sizes - 1;
        }
        false
    }

    /// Whether some text may begin the text that has these first bytes, and `size` bytes in all or
    /// more than eight; never wrong where it says no.
    fn may_begin(&self, word: u64, size: usize) -> bool {
        self.may_have_one_of(word, self.lengths & ((2 << size.min(GRAM)) - 1))
    }

    /// The same, of beginning with that text.
    fn may_go_on(&self, word: u64, size: usize) -> bool {
        match size {
            0 => true,
            _ if size < GRAM => self.stubs.may_have(cut(word, size)),
            _ => self.beginnings.may_have(cut(word, GRAM)),
        }
    }

    /// Tells `found` the places behind the first character, in bytes, from which on there may be
    /// something in [`Texts::prefixes`] or in [`Texts::extensions`]; never one too few.
    pub(crate) fn meetings(&self, text: &str, mut found: impl FnMut(usize)) {
        let bytes = text.as_bytes();
        // What is as long as a gram or longer begins with the same gram.
        let sizes = self.lengths | (1 << GRAM);
        for (at, window) in bytes.windows(GRAM).enumerate().skip(1) {
            if self.may_have_one_of(word(window), sizes) && text.is_char_boundary(at) {
                found(at);
            }
        }
        let rest = bytes.len().saturating_sub(GRAM);
        let mut last = word(bytes.get(rest..).unwrap_or_default());
        for at in rest + 1..bytes.len() {
            last >>= 8;
            let size = bytes.len() - at;
            let meets = self.may_begin(last, size) || self.may_go_on(last, size);
            if meets && text.is_char_boundary(at) {
                found(at);
            }
        }
    }

    /// The texts that one of them begins with, itself included, the longest first.
    pub(crate) fn prefixes_of(&self, number: u32) -> impl Iterator<Item = u32> {
        let known = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(known(number), move |&at| known(self.parent(at)))
    }

    /// The texts that `text` begins with, itself included, the longest first.
    pub(crate) fn prefixes<'a>(&'a self, text: &'a str) -> impl Iterator<Item = u32> + 'a {
        let mut at = if self.may_begin(word(text.as_bytes()), text.len()) {
            let after = self.partition(text, |other| other <= text);
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
        if !self.may_go_on(word(text.as_bytes()), text.len()) {
            return 0..0;
        }
        let start = self.partition(text, |other| other < text);
        let rest = self.all.get(start..).unwrap_or_default();
        if rest.first().is_none_or(|first| !first.starts_with(text)) {
            return 0..0;
        }
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
            assert_eq!(texts.find(text).is_some(), words.contains(&text), "{text}");
            let mut meetings = Vec::new();
            texts.meetings(text, |at| meetings.push(at));
            for (at, _) in text.char_indices().skip(1) {
                let rest = &text[at..];
                let meets = |word: &&str| rest.starts_with(word) || word.starts_with(rest);
                assert!(meetings.contains(&at) || !words.iter().any(meets), "{text} {at}");
            }
            found = texts.extensions(text).map(|at| texts.get(at)).collect();
            scan = words.iter().copied().filter(|word| word.starts_with(text)).collect();
            scan.sort_unstable();
            assert_eq!(found, scan, "{text}");
        }
    }
}
