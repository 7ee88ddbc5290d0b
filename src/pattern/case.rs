//! Which characters are the same where case is ignored, and which characters a set matches, as
//! CPython's `re` has both.
//!
//! A literal that has case matches the characters with the same lower case, and those whose lower
//! case has the same upper case (`_casefix.py`): `s` and `ſ`, `k` and the Kelvin sign, `i`, `I`,
//! `İ` and `ı`. The mappings are Rust's, whose Unicode is newer: they differ from CPython's only in
//! characters that the older version has not assigned. Uses `ast` and `unicode`.

use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::ast::{Class, ClassItemKind, Flags, PerlClass};
use super::unicode::{self, table};

/// Different lower-case characters with the same upper case. Made and checked by the test
/// `the_table_is_what_the_mappings_say`; sorted by the first of each.
const SAME_UPPER: &[&[char]] = &[
    &['i', 'ı'],
    &['s', 'ſ'],
    &['µ', 'μ'],
    &['\u{345}', 'ι', '\u{1FBE}'],
    &['\u{390}', '\u{1FD3}'],
    &['\u{3B0}', '\u{1FE3}'],
    &['β', 'ϐ'],
    &['ε', 'ϵ'],
    &['θ', 'ϑ'],
    &['κ', 'ϰ'],
    &['π', 'ϖ'],
    &['ρ', 'ϱ'],
    &['ς', 'σ'],
    &['φ', 'ϕ'],
    &['в', '\u{1C80}'],
    &['д', '\u{1C81}'],
    &['о', '\u{1C82}'],
    &['с', '\u{1C83}'],
    &['т', '\u{1C84}', '\u{1C85}'],
    &['ъ', '\u{1C86}'],
    &['ѣ', '\u{1C87}'],
    &['\u{1C88}', 'ꙋ'],
    &['ṡ', 'ẛ'],
    &['\u{FB05}', '\u{FB06}'],
];

/// The characters whose lower case is another one, with it.
static LOWERED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let changed = table(r"[\p{Changes_When_Lowercased}\p{Lu}\p{Lt}]");
    let all = changed.into_iter().flat_map(|(start, end)| start..=end);
    all.map(|c| (c, lower(c))).filter(|(c, lower)| c != lower).collect()
});

/// The characters whose upper case is another one, with it.
static UPPERED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let changed = table(r"[\p{Changes_When_Uppercased}\p{Ll}\p{Lt}]");
    let all = changed.into_iter().flat_map(|(start, end)| start..=end);
    all.map(|c| (c, upper(c))).filter(|(c, upper)| c != upper).collect()
});

/// The first character of `c` in lower case.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// The first character of `c` in upper case.
fn upper(c: char) -> char {
    c.to_uppercase().next().unwrap_or(c)
}

fn has_case(c: char, ascii: bool) -> bool {
    if ascii { c.is_ascii_alphabetic() } else { c != lower(c) || c != upper(c) }
}

/// The other lower-case characters with the upper case of `lower`.
fn same_upper(lower: char) -> impl Iterator<Item = char> {
    let set = SAME_UPPER.iter().find(|set| set.contains(&lower));
    set.into_iter().flat_map(|set| set.iter().copied()).filter(move |c| *c != lower)
}

/// The characters that the literal `c` matches where case is ignored, `c` among them; sorted. With
/// `ascii` ([`Flags::ASCII`]) only the letters of ASCII have case.
pub fn equivalents(c: char, ascii: bool) -> Vec<char> {
    if !has_case(c, ascii) {
        return vec![c];
    }
    if ascii {
        return vec![c.to_ascii_uppercase(), c.to_ascii_lowercase()];
    }
    let low = lower(c);
    let mut all: Vec<char> = Vec::with_capacity(4);
    for low in std::iter::once(low).chain(same_upper(low)) {
        if lower(low) == low {
            all.push(low);
        }
        all.extend(LOWERED.iter().filter(|(_, l)| *l == low).map(|(c, _)| *c));
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn range(start: char, end: char) -> ClassUnicodeRange {
    ClassUnicodeRange::new(start, end)
}

fn perl(set: PerlClass, negated: bool, ascii: bool) -> ClassUnicode {
    let ranges: &[(char, char)] = match (set, ascii) {
        (PerlClass::Digit, true) => &[('0', '9')],
        (PerlClass::Space, true) => &[('\t', '\r'), (' ', ' ')],
        (PerlClass::Word, true) => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        (PerlClass::Digit, false) => unicode::digit_ranges(),
        (PerlClass::Space, false) => unicode::space_ranges(),
        (PerlClass::Word, false) => unicode::word_ranges(),
    };
    let mut class = ClassUnicode::new(ranges.iter().map(|(start, end)| range(*start, *end)));
    if negated {
        class.negate();
    }
    class
}

/// The last character of the basic plane, up to which CPython lowers a set's characters one by one.
const BMP_END: char = '\u{FFFF}';

/// The characters that a set matches under `flags`: sorted ranges, both ends included, none
/// touching another; without the surrogates, which are in no text.
///
/// Exact, CPython's oddities in sets that ignore case included (`_optimize_charset` in
/// `Lib/re/_compiler.py`): `(?i)[𐐀x]` does not match `𐐀`, because beyond the basic plane the text's
/// lower case is compared with the set's character as it is.
pub fn class_ranges(class: &Class, flags: Flags) -> Vec<(char, char)> {
    let ascii = flags.has(Flags::ASCII);
    let mut set = ClassUnicode::empty();
    let one = match *class.items.as_slice() {
        [item] => Some(item.kind),
        [first, ref rest @ ..] if rest.iter().all(|item| item.kind == first.kind) => {
            Some(first.kind)
        }
        _ => None,
    };
    if !flags.has(Flags::IGNORE_CASE) {
        for item in &class.items {
            match item.kind {
                ClassItemKind::Single(c) => set.push(range(c, c)),
                ClassItemKind::Range(a, b) => set.push(range(a, b)),
                ClassItemKind::Perl(perl_set) => set.union(&perl(perl_set, false, ascii)),
                ClassItemKind::NotPerl(perl_set) => set.union(&perl(perl_set, true, ascii)),
            }
        }
    } else if let Some(ClassItemKind::Single(c)) = one {
        // A set of one character is a literal.
        for c in equivalents(c, ascii) {
            set.push(range(c, c));
        }
    } else {
        set = ignoring_case(class, ascii);
    }
    if class.negated {
        set.negate();
    }
    set.ranges().iter().map(|r| (r.start(), r.end())).collect()
}

/// What a set of several characters matches where case is ignored, before negation.
fn ignoring_case(class: &Class, ascii: bool) -> ClassUnicode {
    let lower = |c: char| if ascii { c.to_ascii_lowercase() } else { lower(c) };
    // The characters whose lower case is another one, as far as the flags see it.
    let lowered: &[(char, char)] = if ascii { &ASCII_LOWERED } else { &LOWERED };
    // The set of lower-case characters that the text's character, lowered, is looked up in.
    let mut looked_up = ClassUnicode::empty();
    let mut exact = ClassUnicode::empty();
    let mut any_case = false;
    let add = |set: &mut ClassUnicode, low: char| {
        set.push(range(low, low));
        if !ascii {
            same_upper(low).for_each(|c| set.push(range(c, c)));
        }
    };
    for item in &class.items {
        match item.kind {
            ClassItemKind::Single(c) => {
                exact.push(range(c, c));
                if c <= BMP_END {
                    any_case |= has_case(c, ascii);
                    add(&mut looked_up, lower(c));
                } else {
                    any_case = true;
                    looked_up.push(range(c, c));
                }
            }
            ClassItemKind::Range(a, b) => {
                exact.push(range(a, b));
                let (in_plane, end) = (a <= BMP_END, b.min(BMP_END));
                if in_plane {
                    // Characters without a lower case of their own stand for themselves.
                    looked_up.push(range(a, end));
                    let inside = lowered.iter().filter(|(c, _)| a <= *c && *c <= end);
                    for &(_, low) in inside {
                        add(&mut looked_up, low);
                    }
                    if !ascii {
                        for set in SAME_UPPER {
                            if set.iter().any(|c| a <= *c && *c <= end) {
                                set.iter().for_each(|c| looked_up.push(range(*c, *c)));
                            }
                        }
                    }
                    any_case |= (a..=end).any(|c| has_case(c, ascii));
                }
                if b > BMP_END {
                    any_case = true;
                    looked_up.push(range(a, b));
                    // And by its upper case, for which there is all of Unicode in either mode.
                    for &(c, upper) in UPPERED.iter() {
                        if a <= upper && upper <= b {
                            looked_up.push(range(c, c));
                        }
                    }
                }
            }
            ClassItemKind::Perl(set) => {
                looked_up.union(&perl(set, false, ascii));
                exact.union(&perl(set, false, ascii));
            }
            ClassItemKind::NotPerl(set) => {
                looked_up.union(&perl(set, true, ascii));
                exact.union(&perl(set, true, ascii));
            }
        }
    }
    if !any_case {
        return exact;
    }
    // The text's characters whose lower case is in the set.
    let mut capitals = ClassUnicode::new(lowered.iter().map(|(c, _)| range(*c, *c)));
    let mut matched = ClassUnicode::empty();
    let wanted: Vec<(char, char)> =
        looked_up.ranges().iter().map(|r| (r.start(), r.end())).collect();
    for &(c, low) in lowered {
        if unicode::contains(&wanted, low) {
            matched.push(range(c, c));
        }
    }
    capitals.negate();
    looked_up.intersect(&capitals);
    matched.union(&looked_up);
    matched
}

static ASCII_LOWERED: LazyLock<Vec<(char, char)>> =
    LazyLock::new(|| ('A'..='Z').map(|c| (c, c.to_ascii_lowercase())).collect());

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The definition, over all characters that Unicode 14.0 has.
    #[test]
    fn the_table_is_what_the_mappings_say() {
        let mut by_upper: BTreeMap<String, Vec<char>> = BTreeMap::new();
        let assigned = table(r"\p{age=14.0}");
        for c in assigned.into_iter().flat_map(|(start, end)| start..=end) {
            let full: String = c.to_uppercase().collect();
            if lower(c) == c && full != c.to_string() {
                by_upper.entry(full).or_default().push(c);
            }
        }
        let mut made: Vec<Vec<char>> = by_upper.into_values().filter(|set| set.len() > 1).collect();
        made.sort();
        assert_eq!(SAME_UPPER.iter().map(|set| set.to_vec()).collect::<Vec<_>>(), made);
    }

    #[test]
    fn knows_the_odd_ones() {
        assert_eq!(equivalents('k', false), ['K', 'k', '\u{212A}']);
        assert_eq!(equivalents('ſ', false), ['S', 's', 'ſ']);
        assert_eq!(equivalents('I', false), ['I', 'i', '\u{130}', 'ı']);
        assert_eq!(equivalents('I', true), ['I', 'i']);
        assert_eq!(equivalents('é', true), ['é']);
        assert_eq!(equivalents('7', false), ['7']);
    }
}
