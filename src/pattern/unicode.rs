//! What CPython's `re` calls a word character, a space and a digit in patterns of text.
//!
//! CPython's own tables are of Unicode 14.0 to 16.0, ours are those of regex-syntax (16.0): they
//! differ in characters that the older version has not assigned. Uses nothing of the crate.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Sorted ranges of characters, both ends included, none touching another.
pub type Ranges = [(char, char)];

static WORD: LazyLock<Vec<(char, char)>> = LazyLock::new(|| table(r"[\p{L}\p{N}_]"));
static DIGIT: LazyLock<Vec<(char, char)>> = LazyLock::new(|| table(r"\p{Nd}"));
static SPACE: LazyLock<Vec<(char, char)>> = LazyLock::new(|| table(r"[\s\x1C-\x1F]"));

/// The characters of a set in regex-syntax's notation; none if it knows no such set.
pub(super) fn table(set: &str) -> Vec<(char, char)> {
    match regex_syntax::parse(set).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|r| (r.start(), r.end())).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn contains(ranges: &Ranges, c: char) -> bool {
    ranges
        .binary_search_by(|&(start, end)| {
            if end < c {
                std::cmp::Ordering::Less
            } else if start > c {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// The characters of `\w`: letters, numbers of every kind (Python's `str.isalnum`) and `_`. No
/// combining marks, which Rust's `\w` has.
pub fn word_ranges() -> &'static Ranges {
    &WORD
}

/// The characters of `\d`: decimal digits (general category Nd).
pub fn digit_ranges() -> &'static Ranges {
    &DIGIT
}

/// The characters of `\s`: Unicode white space and U+001C to U+001F.
pub fn space_ranges() -> &'static Ranges {
    &SPACE
}

/// Whether every CPython from 3.11 on knows `c`: it was assigned in Unicode 14.0 or before.
pub fn is_known_to_all(c: char) -> bool {
    static KNOWN: LazyLock<Vec<(char, char)>> = LazyLock::new(|| table(r"\p{Age:14.0}"));
    c.is_ascii() || contains(&KNOWN, c)
}

/// Whether `\w` matches `c`; see [`word_ranges`].
pub fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { contains(word_ranges(), c) }
}

/// Whether `\d` matches `c`; see [`digit_ranges`].
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { contains(digit_ranges(), c) }
}

/// Whether `\s` matches `c`; see [`space_ranges`].
pub fn is_space(c: char) -> bool {
    if c.is_ascii() {
        matches!(c, '\t'..='\r' | '\x1C'..='\x1F' | ' ')
    } else {
        contains(space_ranges(), c)
    }
}
