//! What would repair a refused pattern, and what other engines mean by what Python refuses.
//!
//! A repair is tried before it is offered: with it the parser gets past the place that it changes.
//! Uses `span`, `ast`, `error` and the parser.

use super::ast::Look;
use super::error::{ErrorKind, PatternError, Repair};
use super::names;
use super::parser::{self, Width};
use super::versions::Versions;
use crate::span::Span;

/// More branches than these are not given a lookbehind each.
const MAX_LOOKBEHINDS: usize = 16;

/// Says of a lookbehind how wide its branches are, and splits it where that keeps its meaning.
pub(super) fn lookbehind(
    text: &str,
    fault: &mut PatternError,
    look: Look,
    width: Width,
    bounds: &[(Span, Width)],
) {
    let characters = |width: Width| match (width.min, width.max) {
        (1, 1) => "1 character".to_owned(),
        (a, b) if a == b => format!("{a} characters"),
        (a, u64::MAX) => format!("{a} or more characters"),
        (a, b) => format!("{a} to {b} characters"),
    };
    if let [_] = bounds {
        fault.notes.push(format!("it is {} wide", characters(width)));
        return;
    }
    for (span, width) in bounds.iter().take(MAX_LOOKBEHINDS) {
        let branch = shown(slice(text, *span));
        fault.notes.push(format!("{branch} is {} wide", characters(*width)));
    }
    let fixed = bounds.iter().all(|(_, width)| width.min == width.max);
    if !fixed || bounds.len() > MAX_LOOKBEHINDS {
        return;
    }
    let sign = if look.negative { '!' } else { '=' };
    let parts = bounds.iter().map(|(span, _)| format!("(?<{sign}{})", slice(text, *span)));
    let parts: Vec<String> = parts.collect();
    let repeated = text.as_bytes().get(fault.span.end as usize);
    let repeated = fault.verbose || repeated.is_some_and(|b| b"*+?{".contains(b));
    let replacement = match (look.negative, repeated) {
        (true, false) => parts.concat(),
        (true, true) => format!("(?:{})", parts.concat()),
        (false, _) => format!("(?:{})", parts.join("|")),
    };
    fault.repair = Some(Repair {
        message: "give each branch a lookbehind of its own".into(),
        edits: vec![(fault.span, replacement)],
        safe: true,
    });
}

/// `text` in backticks, cut if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("`{}…`", text.get(..at).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

/// Adds to `fault` what other engines mean by its place, and a repair if there is one.
pub(super) fn suggest(text: &str, versions: Versions, fault: &mut PatternError) {
    match fault.kind {
        ErrorKind::UnknownExtension => extension(text, fault),
        ErrorKind::UnknownEscape => escape(text, fault),
        ErrorKind::IncompleteEscape => incomplete(text, fault),
        ErrorKind::FlagsNotAtStart => flags(text, fault),
        ErrorKind::BadGroupName => group_name(text, fault),
        _ => punctuation(text, fault),
    }
    if let Some(repair) = &fault.repair
        && !progresses(text, versions, repair)
    {
        fault.repair = None;
    }
}

/// Whether the parser, after `repair`, finds nothing wrong up to the end of its first edit.
fn progresses(text: &str, versions: Versions, repair: &Repair) -> bool {
    let Some((first, replacement)) = repair.edits.first() else { return false };
    match parser::parse(&repair.apply(text), versions) {
        Ok(_) => true,
        Err(next) => next.span.start as usize >= first.start as usize + replacement.len(),
    }
}

fn repair(
    fault: &mut PatternError,
    message: impl Into<String>,
    with: impl Into<String>,
    safe: bool,
) {
    let edits = vec![(fault.span, with.into())];
    fault.repair = Some(Repair { message: message.into(), edits, safe });
}

// ---- groups

/// The name at `at` up to `close`, if it is an identifier of ASCII.
fn name_at(text: &str, at: usize, close: char) -> Option<&str> {
    let rest = text.get(at..)?;
    let name = rest.get(..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?)?;
    let fits = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    (fits && rest.get(name.len()..)?.starts_with(close)).then_some(name)
}

/// The spelling of a named group, or of a reference to one, in other engines at `at`: its end and
/// Python's spelling.
fn foreign_name(text: &str, at: usize) -> Option<(usize, String)> {
    let rest = text.get(at..)?;
    let group = [("(?<", '>'), ("(?'", '\'')].into_iter().map(|(open, close)| (open, close, true));
    let reference = [("\\k<", '>'), ("\\k{", '}'), ("\\k'", '\''), ("\\g{", '}')];
    let reference = reference.into_iter().map(|(open, close)| (open, close, false));
    group.chain(reference).find_map(|(open, close, group)| {
        let name = name_at(text, at + open.len(), close).filter(|_| rest.starts_with(open))?;
        let end = at + open.len() + name.len() + 1;
        Some((end, if group { format!("(?P<{name}>") } else { format!("(?P={name})") }))
    })
}

/// Respells the named groups of other engines and the references to them, all at once.
fn respell_names(text: &str, fault: &mut PatternError, end: usize) {
    fault.span.end = end as u32;
    let from = fault.span.start as usize;
    let edits =
        Tokens::new(text, from, fault.verbose).filter(|token| token.outside).filter_map(|token| {
            let (end, python) = foreign_name(text, token.start)?;
            Some((Span::new(token.start, end), python))
        });
    let edits: Vec<_> = edits.collect();
    if !edits.is_empty() {
        let message = "spell groups and references in Python's way".into();
        fault.repair = Some(Repair { message, edits, safe: true });
    }
}

fn extension(text: &str, fault: &mut PatternError) {
    let start = fault.span.start as usize;
    if let Some((end, python)) = foreign_name(text, start) {
        let theirs = text.get(start..end).unwrap_or_default();
        fault.message = format!("a named group is spelled `{python}` in Python, not `{theirs}`");
        respell_names(text, fault, end);
        return;
    }
    let rest = text.get(start + 2..).unwrap_or_default();
    let meaning = match rest.chars().next() {
        Some('R') => "recursion in PCRE and a flag in Rust",
        Some('0'..='9' | '+' | '&') => "a call of a group as a subroutine in PCRE",
        Some('P') if rest.starts_with("P>") => "a call of a group as a subroutine in PCRE",
        Some('|') => "a group that numbers each branch anew in PCRE",
        Some('~') => "an absent operator in Oniguruma",
        Some('U') => "the flag for lazy repeats in PCRE and Rust",
        Some('J') => "the flag for repeated group names in PCRE",
        Some('n') => "the flag for groups that do not capture in PCRE and .NET",
        Some('C') => "a callout in PCRE",
        Some('^') => "a group with default flags in Perl and PCRE",
        Some('{' | '?') => "code in Perl",
        _ => return,
    };
    // A closed bracket without a body is shown whole.
    let bare = rest.find(')').filter(|end| {
        *end <= 12
            && rest.bytes().take(*end).all(|b| b.is_ascii_alphanumeric() || b"&>+-".contains(&b))
    });
    if let Some(end) = bare {
        fault.span.end = (start + 2 + end + 1) as u32;
    }
    let shown = slice(text, fault.span);
    fault.message = format!("`{shown}` is {meaning}, and nothing in Python");
}

fn group_name(text: &str, fault: &mut PatternError) {
    let name = slice(text, fault.span);
    if name.starts_with("?=") || name.starts_with("?!") || name.starts_with("?<") {
        fault.message = "a conditional asks for a group in Python, not for a lookaround".into();
        return;
    }
    if let Some(number) = names::python_int(name).filter(|n| *n > 0) {
        repair(fault, "write the number in plain digits", number.to_string(), true);
        return;
    }
    let start = fault.span.start as usize;
    let named = text.get(..start).is_some_and(|before| before.ends_with("(?P<"));
    let tidy: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if named && !name.starts_with("(?P<") {
        let lead = if tidy.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        repair(fault, format!("name it `{lead}{tidy}`"), format!("{lead}{tidy}"), false);
    }
}

// ---- flags

/// `(?i)` in the middle holds for the rest of its group in other engines.
fn flags(text: &str, fault: &mut PatternError) {
    let shown = slice(text, fault.span).to_owned();
    let open = format!("{}:", shown.trim_end_matches(')'));
    let verbose = fault.verbose || open.contains('x');
    let from = fault.span.end as usize;
    let mut edits = vec![(fault.span, open.clone())];
    let mut depth = 0_u32;
    let mut end = text.len();
    for token in Tokens::new(text, from, verbose).filter(|token| token.outside) {
        match text.as_bytes().get(token.start) {
            Some(b'(') => depth += 1,
            Some(b')') if depth == 0 => {
                end = token.start;
                break;
            }
            Some(b')') => depth -= 1,
            Some(b'|') if depth == 0 => {
                edits.push((Span::new(token.start, token.start + 1), format!(")|{open}")));
            }
            _ => {}
        }
    }
    if end == from {
        repair(fault, "remove it: nothing stands after it", "", true);
        return;
    }
    edits.push((Span::empty(end), ")".into()));
    let mut merged: Vec<(Span, String)> = Vec::with_capacity(edits.len());
    for (span, with) in edits {
        match merged.last_mut() {
            Some((last, text)) if last.end == span.start => {
                last.end = span.end;
                text.push_str(&with);
            }
            _ => merged.push((span, with)),
        }
    }
    fault.notes.push("at the start of the pattern it holds for all of it".into());
    fault.repair = Some(Repair {
        message: format!("let it hold for the rest of its group: `{open}…)`"),
        edits: merged,
        safe: false,
    });
}

// ---- escapes

/// A character as an escape that every version reads in the same way.
fn spelled(code: u32) -> String {
    match code {
        0..=0xFF => format!("\\x{code:02X}"),
        0x100..=0xFFFF => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}

/// What is in the braces at `at`, and where they end.
fn braced(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text.get(at..)?.strip_prefix('{')?;
    let inner = rest.get(..rest.find('}')?)?;
    (inner.len() <= 64).then_some((inner, at + inner.len() + 2))
}

fn incomplete(text: &str, fault: &mut PatternError) {
    let (start, end) = (fault.span.start as usize, fault.span.end as usize);
    let escape = slice(text, fault.span);
    let digits = escape.get(2..).unwrap_or_default();
    match escape.as_bytes().get(1) {
        Some(letter @ (b'x' | b'u' | b'U')) if digits.is_empty() => {
            let Some((hex, end)) = braced(text, end) else { return };
            let Ok(code) = u32::from_str_radix(hex, 16) else { return };
            if char::from_u32(code).is_none() {
                return;
            }
            fault.span.end = end as u32;
            let python = if *letter == b'u' && code <= 0xFFFF {
                format!("\\u{code:04X}")
            } else {
                spelled(code)
            };
            let theirs = slice(text, fault.span);
            fault.message = format!("Python spells `{theirs}` as `{python}`");
            repair(fault, format!("spell it `{python}`"), python, true);
        }
        Some(letter @ (b'x' | b'u' | b'U')) => {
            let width = match letter {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            let letter = char::from(*letter);
            let python = format!("\\{letter}{digits:0>width$}");
            repair(fault, format!("fill it up: `{python}`"), python, false);
        }
        Some(b'N') if end == start + 2 && !fault.in_set => {
            fault.notes.push("elsewhere `\\N` is any character but a line feed".into());
            repair(fault, "spell it `[^\\n]`", "[^\\n]", false);
        }
        _ => {}
    }
}

/// A set by Unicode property: what stands for it in brackets, and whether that is the same set.
/// In brackets of its own, `(…, true)` is negated.
fn property(name: &str) -> Option<(&'static str, bool, bool)> {
    let name: String = name.chars().filter(|c| !" _-".contains(*c)).collect();
    Some(match name.to_ascii_lowercase().as_str() {
        "nd" | "decimalnumber" | "digit" => (r"\d", false, true),
        "n" | "number" => (r"\d", false, false),
        "l" | "letter" | "alpha" | "alphabetic" => (r"\W\d_", true, false),
        "alnum" => (r"\W_", true, false),
        "lu" | "uppercaseletter" | "upper" | "uppercase" => ("A-Z", false, false),
        "ll" | "lowercaseletter" | "lower" | "lowercase" => ("a-z", false, false),
        "z" | "zs" | "separator" | "space" | "whitespace" => (r"\s", false, false),
        "word" | "w" => (r"\w", false, false),
        "p" | "punct" | "punctuation" => (r"\w\s", true, false),
        "ascii" => (r"\x00-\x7F", false, true),
        "any" => (r"\s\S", false, true),
        _ => return None,
    })
}

fn property_escape(text: &str, fault: &mut PatternError) {
    let end = fault.span.end as usize;
    let (name, end) = match braced(text, end) {
        Some(found) => found,
        None => match text.get(end..).and_then(|rest| rest.chars().next()) {
            Some(c) if c.is_ascii_alphabetic() => {
                (text.get(end..=end).unwrap_or_default(), end + 1)
            }
            _ => return,
        },
    };
    let negated = slice(text, fault.span) == "\\P" || name.starts_with('^');
    fault.span.end = end as u32;
    let theirs = slice(text, fault.span);
    fault.message =
        format!("`{theirs}` is a set by Unicode property, which Python's `re` does not have");
    let Some((set, inverse, exact)) = property(name.trim_start_matches('^')) else { return };
    let negated = negated != inverse;
    let python = match (fault.in_set, negated, set) {
        (_, false, r"\d" | r"\w" | r"\s") | (true, false, _) => set.to_owned(),
        (_, true, r"\d" | r"\w" | r"\s") => set.to_ascii_uppercase(),
        (false, false, _) => format!("[{set}]"),
        (false, true, _) => format!("[^{set}]"),
        // A set in a set cannot be negated.
        (true, true, r"\W\d_") => "a-zA-Z".to_owned(),
        (true, true, r"\W_") => "a-zA-Z0-9".to_owned(),
        (true, true, _) => return,
    };
    if !exact {
        fault.notes.push(format!("`{python}` is near to it, but not the same set"));
    }
    repair(fault, format!("spell it `{python}`"), python, exact);
}

/// `text` with a backslash before whatever means something in a pattern.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if ".*+?()[]{}|^$\\#&-~ \t\n\r\u{b}\u{c}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// `\cA` and `\o{101}`; `end` is behind the letter.
fn coded(text: &str, fault: &mut PatternError, end: usize) {
    let code = if slice(text, fault.span) == "\\c" {
        match text.as_bytes().get(end) {
            Some(b @ (b'@'..=b'_' | b'a'..=b'z')) => {
                Some((u32::from(b.to_ascii_uppercase()) ^ 0x40, end + 1))
            }
            _ => None,
        }
    } else {
        braced(text, end).and_then(|(digits, end)| {
            let code = u32::from_str_radix(digits, 8).ok()?;
            char::from_u32(code).map(|_| (code, end))
        })
    };
    if let Some((code, end)) = code {
        fault.span.end = end as u32;
        let python = spelled(code);
        repair(fault, format!("spell it `{python}`"), python, true);
    }
}

fn escape(text: &str, fault: &mut PatternError) {
    let (start, end) = (fault.span.start as usize, fault.span.end as usize);
    let letter = text.get(start + 1..).and_then(|rest| rest.chars().next());
    let in_set = fault.in_set;
    let outside = !in_set;
    match letter {
        Some('p' | 'P') => property_escape(text, fault),
        Some('k' | 'g') if outside => {
            if let Some((end, python)) = foreign_name(text, start) {
                let theirs = text.get(start..end).unwrap_or_default();
                fault.message = format!(
                    "a reference to a group is spelled `{python}` in Python, not `{theirs}`"
                );
                respell_names(text, fault, end);
                return;
            }
            let number = braced(text, end).filter(|(number, _)| {
                !number.is_empty() && number.len() < 3 && number.bytes().all(|b| b.is_ascii_digit())
            });
            if let Some((number, end)) = number {
                fault.span.end = end as u32;
                repair(fault, format!("spell it `\\{number}`"), format!("(?:\\{number})"), true);
            }
        }
        // Before the end they differ only where a line feed follows, and frames have none. `$` says it in both dialects.
        Some('z') if outside && !fault.lines => {
            repair(fault, "spell it `$`, the end of a frame", "$", true);
        }
        Some('z') if outside => {
            repair(fault, "spell it `\\Z`, the very end of the text", "\\Z", true);
        }
        Some('h' | 'H') => {
            let inverse = letter == Some('H');
            fault.message = format!("`{}` means nothing in Python", slice(text, fault.span));
            fault.notes.push(
                "in PCRE and Perl it is a space or tab, in Oniguruma and fancy-regex a hexadecimal digit".into(),
            );
            match (in_set, inverse) {
                (false, false) => repair(fault, "spell it `[ \\t]`", "[ \\t]", false),
                (false, true) => repair(fault, "spell it `[^ \\t]`", "[^ \\t]", false),
                (true, false) => repair(fault, "spell it ` \\t`", " \\t", false),
                (true, true) => {}
            }
        }
        Some('R') if outside => {
            let python = r"(?>\r\n|[\n-\r\x85\u2028\u2029])";
            fault.notes.push("elsewhere `\\R` is a line break of any kind".into());
            repair(fault, "spell it out", python, true);
        }
        Some('V') if outside => {
            fault.notes.push("in PCRE `\\V` is any character but a line break".into());
            repair(fault, "spell it out", r"[^\n-\r\x85\u2028\u2029]", false);
        }
        Some('O') if outside => {
            fault.notes.push("in Oniguruma `\\O` is any character".into());
            repair(fault, "spell it `[\\s\\S]`", "[\\s\\S]", true);
        }
        Some('e') => {
            fault.notes.push("elsewhere `\\e` is the escape character".into());
            repair(fault, "spell it `\\x1B`", "\\x1B", true);
        }
        Some('Q') if outside => {
            let body = text.get(end..).unwrap_or_default();
            let (body, after) = match body.find("\\E") {
                Some(at) => (body.get(..at).unwrap_or_default(), end + at + 2),
                None => (body, text.len()),
            };
            fault.notes.push("elsewhere `\\Q…\\E` quotes what is between".into());
            let edits = vec![(Span::new(start, after), quoted(body))];
            let message = "escape its characters one by one".into();
            fault.repair = Some(Repair { message, edits, safe: true });
        }
        Some('E') => repair(fault, "remove it", "", false),
        Some('c' | 'o') => coded(text, fault, end),
        Some('K') => fault.notes.push(
            "in PCRE `\\K` starts the match anew; what stands before it can become a lookbehind"
                .into(),
        ),
        Some('G') => fault.notes.push("in PCRE `\\G` is where the last match ended".into()),
        Some('X') => {
            fault.notes.push("in PCRE `\\X` is a character with its combining marks".into());
        }
        Some('C') => fault.notes.push("in PCRE `\\C` is a single byte".into()),
        Some(c) if c.is_ascii_alphanumeric() && !matches!(c, 'A' | 'B' | 'Z' | 'z' | 'k' | 'g') => {
            repair(fault, format!("remove the backslash if `{c}` is meant"), c.to_string(), false);
        }
        _ => {}
    }
}

// ---- punctuation

fn punctuation(text: &str, fault: &mut PatternError) {
    let (start, end) = (fault.span.start as usize, fault.span.end as usize);
    let shown = slice(text, fault.span).to_owned();
    match fault.kind {
        ErrorKind::TrailingBackslash => {
            repair(fault, "escape the backslash if it is meant", "\\\\", false);
        }
        ErrorKind::UnclosedGroup if shown == "(" && end < text.len() => {
            let edits = vec![(Span::empty(text.len()), ")".into())];
            let message = "close it at the end".into();
            fault.repair = Some(Repair { message, edits, safe: false });
        }
        ErrorKind::UnclosedGroup if shown == "(" => {
            repair(fault, "escape it if the bracket is meant", "\\(", false);
        }
        ErrorKind::UnopenedGroup => {
            repair(fault, "escape it if the bracket is meant", "\\)", false);
        }
        ErrorKind::UnclosedClass => {
            repair(fault, "escape it if the bracket is meant", "\\[", false);
        }
        ErrorKind::UnclosedComment => {
            let edits = vec![(Span::empty(text.len()), ")".into())];
            let message = "close it at the end".into();
            fault.repair = Some(Repair { message, edits, safe: false });
        }
        ErrorKind::NothingToRepeat if is_verb(text, start) => {
            fault.message = "`(*` opens a verb in PCRE, and nothing in Python".into();
        }
        ErrorKind::NothingToRepeat => {
            let after_place = fault.message.contains("is a place");
            let optional = matches!(shown.as_bytes(), [b'*' | b'?', ..] | [b'{', b'0' | b',', ..]);
            if after_place && !optional {
                repair(fault, "remove it: a place is there once or not at all", "", true);
            } else if !after_place {
                repair(fault, "escape it if the character is meant", format!("\\{shown}"), false);
            }
        }
        ErrorKind::MultipleRepeat if shown.len() == 1 => {
            if let Some((first, _)) = fault.related.clone().filter(|(first, _)| first.len() == 1) {
                let edits = vec![(first.to(fault.span), "*".into())];
                let whole = slice(text, first.to(fault.span));
                if whole.len() == 2 {
                    let message = format!("`{whole}` is `*`");
                    fault.repair = Some(Repair { message, edits, safe: false });
                }
            }
        }
        ErrorKind::RepeatOutOfOrder => {
            let inner = shown.trim_start_matches('{').trim_end_matches('}');
            if let Some((low, high)) = inner.split_once(',') {
                repair(fault, "swap the counts", format!("{{{high},{low}}}"), false);
            }
        }
        ErrorKind::RangeOutOfOrder => {
            let ends: Vec<char> = shown.chars().collect();
            if let [a, '-', b] = ends[..] {
                if a.is_alphanumeric() && b.is_alphanumeric() {
                    repair(fault, format!("swap its ends: `{b}-{a}`"), format!("{b}-{a}"), false);
                } else {
                    repair(fault, "escape the hyphen if it is meant", format!("{a}\\-{b}"), false);
                }
            }
        }
        ErrorKind::RangeOfClass => {
            // The hyphen is behind the first end or before the second.
            let at = if shown.starts_with('\\') && shown.as_bytes().get(2) == Some(&b'-') {
                2
            } else {
                shown.len().saturating_sub(3)
            };
            if shown.as_bytes().get(at) == Some(&b'-') {
                let mut with = shown;
                with.insert(at, '\\');
                repair(fault, "escape the hyphen", with, true);
            }
        }
        _ => {}
    }
}

/// Whether the `*` at `at` is that of `(*VERB`.
fn is_verb(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let behind = text.as_bytes().get(at + 1);
    before.ends_with('(') && behind.is_some_and(u8::is_ascii_uppercase)
}

// ---- tokens

/// The tokens of a pattern from some place on: characters, escapes, and sets and comments as one.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
    verbose: bool,
}

struct Token {
    start: usize,
    /// Not a comment.
    outside: bool,
}

impl<'t> Tokens<'t> {
    /// `at` lies outside of sets and comments.
    fn new(text: &'t str, at: usize, verbose: bool) -> Self {
        Self { text, at, verbose }
    }

    /// Past the character at `at`, or the escape.
    fn past(&self, at: usize) -> usize {
        let mut rest = self.text.get(at..).unwrap_or_default().chars();
        let first = rest.next();
        let mut end = at + first.map_or(1, char::len_utf8);
        if first == Some('\\') {
            end += rest.next().map_or(0, char::len_utf8);
        }
        end
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let first = *bytes.get(start)?;
        let until = |mut at: usize, close: u8| {
            while bytes.get(at).is_some_and(|b| *b != close) {
                at = self.past(at);
            }
            at + 1
        };
        let rest = self.text.get(start..).unwrap_or_default();
        let mut outside = true;
        self.at = match first {
            b'[' => {
                let mut at = start + 1 + usize::from(bytes.get(start + 1) == Some(&b'^'));
                at += usize::from(bytes.get(at) == Some(&b']'));
                until(at, b']')
            }
            b'(' if rest.starts_with("(?#") => {
                outside = false;
                until(start + 3, b')')
            }
            b'#' if self.verbose => {
                outside = false;
                until(start, b'\n')
            }
            _ => self.past(start),
        };
        Some(Token { start, outside })
    }
}
