//! Names in patterns: of characters (`\N{BULLET}`) and of groups, and since when CPython knows them.
//!
//! Uses `versions` and `unicode`.

use std::sync::LazyLock;

use super::aliases;
use super::unicode::{self, contains, table};
use super::versions::{Python, Versions};

/// For each version the characters that its Unicode has assigned.
type Assigned = (Python, Vec<(char, char)>);

static ASSIGNED: LazyLock<[Assigned; 4]> = LazyLock::new(|| {
    Python::ALL.map(|version| {
        let (major, minor) = version.unicode();
        (version, table(&format!(r"\p{{age={major}.{minor}}}")))
    })
});
static XID_START: LazyLock<Vec<(char, char)>> = LazyLock::new(|| table(r"\p{XID_Start}"));
static XID_CONTINUE: LazyLock<Vec<(char, char)>> = LazyLock::new(|| table(r"\p{XID_Continue}"));

/// The oldest version that knows it; `None` if all are too old.
pub(super) type Since = Option<Python>;

fn known_since(c: char) -> Since {
    if c.is_ascii() {
        return Some(Python::V3_11);
    }
    ASSIGNED.iter().find(|(_, assigned)| contains(assigned, c)).map(|(version, _)| *version)
}

/// Those of `versions` that do not know what is known `since` then.
pub(super) fn refused_by(since: Since, versions: Versions) -> Option<Versions> {
    since.map_or(Some(versions), |since| versions.before(since))
}

/// A character that was found by its name.
pub(super) struct Found {
    pub(super) char: char,
    pub(super) since: Since,
}

/// The character that Python's `unicodedata.lookup` finds: by its name or an alias, in either
/// case, but spaces and hyphens as they are.
pub(super) fn lookup(name: &str) -> Option<Found> {
    // Made up by rule, which CPython follows for capitals only.
    const RULED: [&str; 2] = ["HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-"];
    let upper = name.to_ascii_uppercase();
    let char = unicode_names2::character(&upper)?;
    let since = if unicode_names2::name(char).is_some_and(|own| own.to_string() == upper) {
        if upper != name && RULED.iter().any(|prefix| upper.starts_with(prefix)) {
            return None;
        }
        known_since(char)
    } else {
        alias_since(&upper)?
    };
    Some(Found { char, since })
}

/// The first version that has the alias `name`, whose character was found loosely; the outer
/// `None` if it is no alias as it is spelled.
fn alias_since(name: &str) -> Option<Since> {
    if let Some((_, since)) = aliases::LATER.iter().find(|(alias, _)| *alias == name) {
        return Some(Some(*since));
    }
    if aliases::SINCE_3_11.binary_search(&name).is_ok() {
        return Some(Some(Python::V3_11));
    }
    // A single word is an alias if it is not one of several words, or the character's own name,
    // run together. The longest that is has nine letters (`BACKSPACE`).
    let word = name.len() < 12 && name.bytes().all(|b| b.is_ascii_alphanumeric());
    let run_together = |alias: &str| {
        let letters =
            |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).collect::<Vec<_>>();
        letters(alias) == name.as_bytes()
    };
    let own = unicode_names2::character(name).and_then(unicode_names2::name);
    (word
        && !aliases::SINCE_3_11.iter().any(|alias| run_together(alias))
        && !own.is_some_and(|own| run_together(&own.to_string())))
    .then_some(Some(Python::V3_11))
}

/// Whether a text is an identifier in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identifier {
    /// In no version.
    No,
    /// From this version on.
    Since(Since),
}

/// What Python's `str.isidentifier` says of `name`.
pub(super) fn identifier(name: &str) -> Identifier {
    let mut since = Some(Python::V3_11);
    for (at, c) in name.char_indices() {
        let fits = match c {
            'a'..='z' | 'A'..='Z' | '_' => true,
            '0'..='9' => at > 0,
            _ if c.is_ascii() => false,
            _ if at == 0 => contains(&XID_START, c),
            _ => contains(&XID_CONTINUE, c),
        };
        if !fits {
            return Identifier::No;
        }
        since = match (since, known_since(c)) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
    }
    if name.is_empty() { Identifier::No } else { Identifier::Since(since) }
}

/// The number that Python's `int` reads in `text`, if it is not negative; saturates.
pub(super) fn python_int(text: &str) -> Option<u64> {
    let text = text.trim_matches(unicode::is_space);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut value: u64 = 0;
    let mut count = 0;
    let mut after_digit = false;
    for c in digits.chars() {
        if c == '_' && after_digit {
            after_digit = false;
            continue;
        }
        value = value.saturating_mul(10).saturating_add(digit_value(c)?.into());
        count += 1;
        after_digit = true;
    }
    (after_digit && count <= 4300 && !(negative && value > 0)).then_some(value)
}

/// The value of a decimal digit of any script: their ranges are made of runs from zero to nine.
fn digit_value(c: char) -> Option<u32> {
    let range = unicode::digit_ranges().iter().find(|(start, end)| *start <= c && c <= *end)?;
    Some((u32::from(c) - u32::from(range.0)) % 10)
}
