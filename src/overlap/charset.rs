//! Sets of characters as CPython's `re` reads them.
//!
//! A set is a list of ranges of scalar values. What a leaf of the syntax tree matches, its flags
//! included, is worked out here once; everything above deals in sets only. Uses `pattern`.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::pattern::ast::{Class, ClassItemKind, Flags, PerlClass};
use crate::pattern::unicode;

/// The last scalar value.
const LAST: u32 = 0x10_FFFF;

/// A set of scalar values.
///
/// The ranges are inclusive, sorted, and neither touch nor overlap. Surrogates may lie in a range;
/// no text has them, so they never matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct CharSet {
    ranges: Vec<(u32, u32)>,
}

impl CharSet {
    /// The set of the given inclusive ranges, in any order.
    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match out.last_mut() {
                Some(last) if start <= last.1.saturating_add(1) => last.1 = last.1.max(end),
                _ => out.push((start, end)),
            }
        }
        Self { ranges: out }
    }

    /// The set of one character.
    pub(crate) fn single(c: char) -> Self {
        Self { ranges: vec![(c as u32, c as u32)] }
    }

    /// All characters.
    pub(crate) fn all() -> Self {
        Self { ranges: vec![(0, LAST)] }
    }

    /// The ranges: inclusive, sorted, apart.
    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Whether `c` is in it.
    pub(crate) fn has(&self, c: char) -> bool {
        let c = c as u32;
        if let [(start, end)] = self.ranges[..] {
            return start <= c && c <= end;
        }
        let after = self.ranges.partition_point(|&(start, _)| start <= c);
        after > 0 && self.ranges.get(after - 1).is_some_and(|&(_, end)| c <= end)
    }

    /// How many characters it has.
    pub(crate) fn len(&self) -> usize {
        self.ranges.iter().map(|&(start, end)| (end - start) as usize + 1).sum()
    }

    /// All that it has not.
    pub(crate) fn complement(&self) -> Self {
        let mut out = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(start, end) in &self.ranges {
            if next < start {
                out.push((next, start - 1));
            }
            next = end + 1;
        }
        if next <= LAST {
            out.push((next, LAST));
        }
        Self { ranges: out }
    }

    /// The characters of both.
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::new(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// Those that both have.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.complement().union(&other.complement()).complement()
    }
}

/// The set of a Perl class, shared by all that ask for it.
pub(crate) fn perl(class: PerlClass, ascii: bool) -> &'static CharSet {
    static SETS: [OnceLock<CharSet>; 6] = [const { OnceLock::new() }; 6];
    let unicode = |ranges: &unicode::Ranges| {
        ranges.iter().map(|&(start, end)| (start as u32, end as u32)).collect()
    };
    let (at, make): (usize, &dyn Fn() -> Vec<(u32, u32)>) = match (class, ascii) {
        (PerlClass::Digit, false) => (0, &|| unicode(unicode::digit_ranges())),
        (PerlClass::Space, false) => (1, &|| unicode(unicode::space_ranges())),
        (PerlClass::Word, false) => (2, &|| unicode(unicode::word_ranges())),
        (PerlClass::Digit, true) => (3, &|| vec![(0x30, 0x39)]),
        (PerlClass::Space, true) => (4, &|| vec![(0x09, 0x0D), (0x20, 0x20)]),
        (PerlClass::Word, true) => {
            (5, &|| vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
        }
    };
    SETS[at].get_or_init(|| CharSet::new(make()))
}

/// Whether `c` is a word character: `\w`, with `ascii` that of `(?a)`.
pub(crate) fn is_word(c: char, ascii: bool) -> bool {
    if ascii { c.is_ascii() && unicode::is_word(c) } else { unicode::is_word(c) }
}

/// The lower case of `c` as `re` takes it: the first character of the full mapping.
pub(crate) fn lower(c: char, ascii: bool) -> char {
    if ascii || c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    c.to_lowercase().next().unwrap_or(c)
}

/// What `re` knows of Unicode case.
struct Cases {
    /// Characters that are not their own lower case, with that.
    lowered: Vec<(char, char)>,
    /// Lower-case characters that share their upper case with others, with those.
    extra: HashMap<char, Vec<char>>,
}

/// The table of cases, built when the first pattern ignores case beyond ASCII.
fn cases() -> &'static Cases {
    static CASES: OnceLock<Cases> = OnceLock::new();
    CASES.get_or_init(|| {
        let mut lowered = Vec::new();
        let mut by_upper: HashMap<String, Vec<char>> = HashMap::new();
        for c in
            ('\0'..=char::MAX).filter(|&c| c.is_lowercase() || c.is_uppercase() || !c.is_ascii())
        {
            let low = lower(c, false);
            if low != c {
                lowered.push((c, low));
                continue;
            }
            let mut upper = c.to_uppercase();
            if upper.len() > 1 || upper.next() != Some(c) {
                by_upper.entry(c.to_uppercase().collect()).or_default().push(c);
            }
        }
        let mut extra: HashMap<char, Vec<char>> = HashMap::new();
        for group in by_upper.values().filter(|group| group.len() > 1) {
            for &c in group {
                extra.insert(c, group.iter().copied().filter(|&other| other != c).collect());
            }
        }
        Cases { lowered, extra }
    })
}

/// The lower-case characters that `re` takes for the same as lower-case `c`, without `c`.
pub(crate) fn extra_cases(c: char) -> &'static [char] {
    if !c.is_alphabetic() && c != '\u{345}' {
        return &[];
    }
    cases().extra.get(&c).map_or(&[], Vec::as_slice)
}

/// Whether `re` takes `c` for a character that has case.
fn is_cased(c: char, ascii: bool) -> bool {
    if ascii {
        return c.is_ascii_alphabetic();
    }
    lower(c, false) != c || {
        let mut upper = c.to_uppercase();
        upper.len() > 1 || upper.next() != Some(c)
    }
}

/// The characters whose lower case is in `set`.
fn lowered_into(set: &CharSet, ascii: bool) -> CharSet {
    let mut out = Vec::new();
    let mut moved = Vec::new();
    if ascii {
        moved.push(('A' as u32, 'Z' as u32));
        for upper in 'A'..='Z' {
            if set.has(upper.to_ascii_lowercase()) {
                out.push((upper as u32, upper as u32));
            }
        }
    } else {
        for &(c, low) in &cases().lowered {
            moved.push((c as u32, c as u32));
            if set.has(low) {
                out.push((c as u32, c as u32));
            }
        }
    }
    CharSet::new(out).union(&set.intersection(&CharSet::new(moved).complement()))
}

/// The set of a literal.
pub(crate) fn literal(c: char, flags: Flags) -> CharSet {
    let ascii = flags.has(Flags::ASCII);
    if is_itself(c, flags) {
        return CharSet::single(c);
    }
    let low = lower(c, ascii);
    if ascii || (low.is_ascii() && !matches!(low, 'i' | 's' | 'k')) {
        // No other character has one of these as its lower case.
        let up = low.to_ascii_uppercase();
        return CharSet::new(vec![(low as u32, low as u32), (up as u32, up as u32)]);
    }
    let mut set = vec![(low as u32, low as u32)];
    set.extend(extra_cases(low).iter().map(|&c| (c as u32, c as u32)));
    lowered_into(&CharSet::new(set), ascii)
}

/// Whether a literal matches no other character than `c`.
pub(crate) fn is_itself(c: char, flags: Flags) -> bool {
    !flags.has(Flags::IGNORE_CASE) || !is_cased(c, flags.has(Flags::ASCII))
}

/// The set of a class.
pub(crate) fn class(class: &Class, flags: Flags) -> CharSet {
    let ascii = flags.has(Flags::ASCII);
    let ignore_case = flags.has(Flags::IGNORE_CASE);
    let mut set = Vec::new();
    let mut cased = false;
    let mut kinds = Vec::new();
    for item in &class.items {
        match item.kind {
            ClassItemKind::Single(c) => set.push((c as u32, c as u32)),
            ClassItemKind::Range(first, last) => set.push((first as u32, last as u32)),
            ClassItemKind::Perl(class) => kinds.extend_from_slice(perl(class, ascii).ranges()),
            ClassItemKind::NotPerl(class) => {
                kinds.extend_from_slice(perl(class, ascii).complement().ranges());
            }
        }
    }
    if ignore_case {
        let spelled = CharSet::new(set);
        let mut folded = Vec::with_capacity(spelled.ranges().len());
        for &(start, end) in spelled.ranges() {
            for c in (start..=end).filter_map(char::from_u32) {
                cased = cased || is_cased(c, ascii);
                let low = lower(c, ascii);
                folded.push((low as u32, low as u32));
                if !ascii {
                    folded.extend(extra_cases(low).iter().map(|&c| (c as u32, c as u32)));
                }
            }
        }
        set = folded;
    }
    set.append(&mut kinds);
    let set = CharSet::new(set);
    let set = if class.negated { set.complement() } else { set };
    // `re` looks up the lower case of the text's character, but only where something has case.
    if cased { lowered_into(&set, ascii) } else { set }
}

/// The set of `.`.
pub(crate) fn dot(flags: Flags) -> CharSet {
    if flags.has(Flags::DOT_ALL) { CharSet::all() } else { CharSet::single('\n').complement() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_closed_under_the_operations() {
        let set = CharSet::new(vec![(5, 9), (1, 3), (4, 4), (20, 30)]);
        assert_eq!(set.ranges(), &[(1, 9), (20, 30)]);
        assert_eq!(set.complement().complement(), set);
        assert_eq!(set.intersection(&CharSet::new(vec![(8, 22)])).ranges(), &[(8, 9), (20, 22)]);
        assert!(set.has('\u{5}') && !set.has('\u{a}'));
    }

    #[test]
    fn case_folds_as_in_cpython() {
        let i = literal('I', Flags::IGNORE_CASE);
        for c in ['i', 'I', 'ı', 'İ'] {
            assert!(i.has(c), "{c}");
        }
        assert_eq!(i.len(), 4);
        assert_eq!(literal('K', Flags::IGNORE_CASE).len(), 3);
        assert_eq!(literal('K', Flags::IGNORE_CASE.with(Flags::ASCII)).len(), 2);
        assert_eq!(literal('x', Flags::IGNORE_CASE).len(), 2);
        assert_eq!(literal(':', Flags::IGNORE_CASE).len(), 1);
    }
}
