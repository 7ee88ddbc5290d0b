//! Sets of characters as CPython's `re` reads them.
//!
//! A set is a list of ranges of scalar values. What a leaf of the syntax tree matches, its flags
//! included, is worked out here once; everything above deals in sets only. Uses `pattern`.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::pattern::ast::{Class, ClassItemKind, Flags, Node, NodeKind, PerlClass};
use crate::pattern::measure::children;
use crate::pattern::unicode;

/// The most ranges ([`weight`]) of a pattern whose sets are worked out.
pub(crate) const MAX_RANGES: usize = 4 << 20;

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
    #[allow(
        clippy::stable_sort_primitive,
        reason = "lists are mostly runs in order, which are merged"
    )]
    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort();
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

    /// Whether it has a character of an inclusive range.
    fn meets(&self, (start, end): (u32, u32)) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < start);
        self.ranges.get(at).is_some_and(|range| range.0 <= end)
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
        let mut ranges = Vec::new();
        let (mut at, mut other_at) = (0, 0);
        while let (Some(a), Some(b)) = (self.ranges.get(at), other.ranges.get(other_at)) {
            let (start, end) = (a.0.max(b.0), a.1.min(b.1));
            if start <= end {
                ranges.push((start, end));
            }
            if a.1 < b.1 { at += 1 } else { other_at += 1 }
        }
        Self { ranges }
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
    let low = c.to_lowercase().next().unwrap_or(c);
    if low == c || (unicode::is_known_to_all(c) && unicode::is_known_to_all(low)) { low } else { c }
}

/// What `re` knows of case. All lists are in order, by the first of each pair.
struct Cases {
    /// Characters that are not their own lower case, with that.
    lowered: Vec<(char, char)>,
    /// The same from the other end: lower-case characters with those whose lower case they are.
    raised: Vec<(char, char)>,
    /// Lower-case characters that share their upper case with others, with one of those each.
    extra: Vec<(char, char)>,
    /// Characters that have case.
    cased: CharSet,
}

impl Cases {
    fn new(lowered: Vec<(char, char)>, extra: Vec<(char, char)>, cased: CharSet) -> Self {
        let mut raised: Vec<(char, char)> = lowered.iter().map(|&(c, low)| (low, c)).collect();
        raised.sort_unstable();
        Self { lowered, raised, extra, cased }
    }

    /// Those of ASCII.
    fn ascii() -> Self {
        let lowered = ('A'..='Z').map(|c| (c, c.to_ascii_lowercase())).collect();
        Self::new(lowered, Vec::new(), CharSet::new(vec![(0x41, 0x5A), (0x61, 0x7A)]))
    }

    /// Those of Unicode, as far as every CPython knows them: the standard library's table is newer.
    fn unicode() -> Self {
        let (mut lowered, mut cased) = (Vec::new(), Vec::new());
        let mut by_upper: HashMap<String, Vec<char>> = HashMap::new();
        for c in ('\0'..=char::MAX).filter(|&c| c.is_ascii_alphabetic() || !c.is_ascii()) {
            let low = lower(c, false);
            if low != c {
                lowered.push((c, low));
                cased.push((c as u32, c as u32));
                continue;
            }
            if is_cased(c, false) {
                cased.push((c as u32, c as u32));
                by_upper.entry(c.to_uppercase().collect()).or_default().push(c);
            }
        }
        let others = |group: &Vec<char>| -> Vec<(char, char)> {
            let of = |&c: &char| group.iter().filter(move |&&o| o != c).map(move |&o| (c, o));
            group.iter().flat_map(of).collect()
        };
        let mut extra: Vec<(char, char)> = by_upper.values().flat_map(others).collect();
        extra.sort_unstable();
        Self::new(lowered, extra, CharSet::new(cased))
    }

    /// The table for `(?a)`, or for Unicode; built when the first pattern asks for it.
    fn of(ascii: bool) -> &'static Self {
        static CASES: [OnceLock<Cases>; 2] = [const { OnceLock::new() }; 2];
        CASES[usize::from(ascii)]
            .get_or_init(|| if ascii { Self::ascii() } else { Self::unicode() })
    }
}

/// Of pairs in order those whose first lies in a range.
fn within(pairs: &[(char, char)], (start, end): (u32, u32)) -> &[(char, char)] {
    let from = pairs.partition_point(|&(c, _)| (c as u32) < start);
    let to = pairs.partition_point(|&(c, _)| c as u32 <= end);
    pairs.get(from..to).unwrap_or_default()
}

/// The lower-case characters that `re` takes for the same as lower-case `c`, without `c`.
pub(crate) fn extra_cases(c: char) -> impl Iterator<Item = char> {
    let extra = if c.is_alphabetic() || c == '\u{345}' { &*Cases::of(false).extra } else { &[] };
    within(extra, (c as u32, c as u32)).iter().map(|&(_, other)| other)
}

/// Whether `re` takes `c` for a character that has case.
fn is_cased(c: char, ascii: bool) -> bool {
    if ascii {
        return c.is_ascii_alphabetic();
    }
    lower(c, false) != c || {
        let mut upper = c.to_uppercase();
        let is_other = upper.len() > 1 || upper.next() != Some(c);
        is_other && c.to_uppercase().all(unicode::is_known_to_all)
    }
}

/// The characters whose lower case is in `set`. What `set` has that is not its own lower case does not count.
fn lowered_into(set: &CharSet, ascii: bool) -> CharSet {
    let cases = Cases::of(ascii);
    let mut out = Vec::with_capacity(2 * set.ranges().len());
    let mut raised = Vec::new();
    for &(start, end) in set.ranges() {
        let mut next = start;
        for &(c, _) in within(&cases.lowered, (start, end)) {
            if next < c as u32 {
                out.push((next, c as u32 - 1));
            }
            next = c as u32 + 1;
        }
        if next <= end {
            out.push((next, end));
        }
        raised
            .extend(within(&cases.raised, (start, end)).iter().map(|&(_, c)| (c as u32, c as u32)));
    }
    // Behind the others, so that both lists are nearly in order.
    out.append(&mut raised);
    CharSet::new(out)
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
    set.extend(extra_cases(low).map(|c| (c as u32, c as u32)));
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
        let table = Cases::of(ascii);
        let single = |c: char| (c as u32, c as u32);
        set = CharSet::new(set).ranges;
        // Behind the ranges, so that all lists are nearly in order.
        let (mut lows, mut extra) = (Vec::new(), Vec::new());
        for &range in &set {
            cased = cased || table.cased.meets(range);
            let from = lows.len();
            lows.extend(within(&table.lowered, range).iter().map(|&(_, low)| single(low)));
            for &low in lows[from..].iter().chain([&range]) {
                extra.extend(within(&table.extra, low).iter().map(|&(_, other)| single(other)));
            }
        }
        set.append(&mut lows);
        set.append(&mut extra);
    }
    set.append(&mut kinds);
    let set = CharSet::new(set);
    // `re` looks up the lower case of the text's character, but only where something has case. The
    // complement comes last: of the lower case it would be much larger.
    let set = if cased { lowered_into(&set, ascii) } else { set };
    if class.negated { set.complement() } else { set }
}

/// Whether a class has more than `most` characters; most that do are known by their ranges.
pub(crate) fn is_wider(class: &Class, flags: Flags, most: usize) -> bool {
    /// More than there are characters that Python takes for one where case is ignored, and their kin.
    const KIN: usize = 16;
    let width = |kind| match kind {
        ClassItemKind::Single(_) => Some(1),
        ClassItemKind::Range(first, last) => Some(last as usize - first as usize + 1),
        ClassItemKind::Perl(_) | ClassItemKind::NotPerl(_) => None,
    };
    let is_wide = if class.negated {
        let sum = |sum: usize, kind| Some(sum.saturating_add(width(kind)?.saturating_mul(KIN)));
        let outside = class.items.iter().try_fold(0, |all, item| sum(all, item.kind));
        outside.is_some_and(|outside| outside.saturating_add(most) <= LAST as usize)
    } else {
        // Each of its characters is one that it matches, whatever its case.
        let is_wide = |kind| match kind {
            ClassItemKind::Perl(PerlClass::Word) => 63 > most,
            kind => width(kind).is_some_and(|width| width > most),
        };
        class.items.iter().any(|item| is_wide(item.kind))
    };
    is_wide || self::class(class, flags).len() > most
}

/// How many ranges the sets of a pattern have together, give or take a factor of eight: what it
/// takes to work them out.
pub(crate) fn weight(node: &Node) -> usize {
    let of_class = |class: &Class, flags: Flags| -> usize {
        let (ascii, fold) = (flags.has(Flags::ASCII), flags.has(Flags::IGNORE_CASE));
        let weigh = |kind| match kind {
            ClassItemKind::Perl(kind) | ClassItemKind::NotPerl(kind) => {
                // Of words in any case nearly every letter is its own range for a while.
                perl(kind, ascii).ranges().len() * if fold && !ascii { 4 } else { 1 }
            }
            ClassItemKind::Range(first, last) if fold && last > '\u{7F}' && !ascii => {
                let range = (first as u32, last as u32);
                let cases = Cases::of(false);
                let of = |pairs: &[(char, char)]| within(pairs, range).len();
                1 + 2 * of(&cases.lowered) + of(&cases.raised) + of(&cases.extra)
            }
            _ => 1,
        };
        class.items.iter().map(|item| weigh(item.kind)).sum()
    };
    match &node.kind {
        NodeKind::Class(class, flags) => of_class(class, *flags),
        _ => children(node).map(weight).fold(0, usize::saturating_add),
    }
}

/// The set of `.`.
pub(crate) fn dot(flags: Flags) -> CharSet {
    if flags.has(Flags::DOT_ALL) { CharSet::all() } else { CharSet::single('\n').complement() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Versions, parse};

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

    /// Whether `class` matches `c` under `(?i)`, by the definition: the lower case of `c` is held against
    /// the lower case of each character of the class, and those that share their upper case with it.
    fn matches(class: &Class, flags: Flags, c: char) -> bool {
        let ascii = flags.has(Flags::ASCII);
        let same = |one: char| {
            let low = lower(one, ascii);
            let extra: Vec<char> = if ascii { Vec::new() } else { extra_cases(low).collect() };
            low == lower(c, ascii) || extra.contains(&lower(c, ascii))
        };
        let has = class.items.iter().any(|item| match item.kind {
            ClassItemKind::Single(one) => same(one),
            ClassItemKind::Range(first, last) => (first..=last).any(same),
            ClassItemKind::Perl(kind) => perl(kind, ascii).has(lower(c, ascii)),
            ClassItemKind::NotPerl(kind) => !perl(kind, ascii).has(lower(c, ascii)),
        });
        has != class.negated
    }

    #[test]
    fn classes_without_case_are_as_defined() {
        let patterns = [
            "[a-z]",
            "[^a-z]",
            "[A-K]",
            "[k]",
            "[^k]",
            "[ſ]",
            "[^ſs]",
            "[à-ö]",
            "[À-Þ]",
            "[^À-Þ]",
            "[İ-ı]",
            "[i]",
            "[µμ]",
            "[Ω]",
            "[ǅ]",
            "[ß]",
            "[^ẞ]",
            "[\u{345}ι]",
            "[ﬅ]",
            r"[\wé]",
            r"\d",
            r"\W",
            r"[^\s\S]",
            r"[^\Wk]",
            r"[\dA]",
            "[_:]",
            "[^_:]",
            "[ꭰ-ꭿ]",
            "[Ꭰ]",
        ];
        let tried: Vec<char> = ('\0'..='\u{24FF}')
            .chain('\u{A640}'..='\u{ABFF}')
            .chain('\u{FB00}'..='\u{FB20}')
            .collect();
        for prefix in ["(?i)", "(?ia)"] {
            for pattern in patterns {
                let text = format!("{prefix}{pattern}");
                let ast = parse(&text, Versions::ALL).unwrap_or_else(|e| panic!("{text}: {e:?}"));
                let NodeKind::Class(node, flags) = &ast.root.kind else {
                    panic!("{text}: {:?}", ast.root)
                };
                let set = class(node, *flags);
                let wrong = tried.iter().find(|&&c| set.has(c) != matches(node, *flags, c));
                assert_eq!(wrong, None, "{text}");
                assert!(weight(&ast.root) * 8 >= set.ranges().len(), "{text}");
                for most in [0, 1, 2, 4, 16, 62, 63, 64, 1_000] {
                    assert_eq!(is_wider(node, *flags, most), set.len() > most, "{text}, {most}");
                }
                assert_eq!(set, CharSet::new(set.ranges().to_vec()), "{text}");
            }
        }
    }
}
