//! What fancy-regex makes of a pattern: the other engine, and the judge for consumers in Rust.
//!
//! Uses `span`, `ast` and the parser of `pattern`, which knows better where some faults are.

use fancy_regex::{CompileError, Error, ParseError, Regex, RegexBuilder};

use super::ast::{Ast, Flags, Node, NodeKind, RepeatKind};
use super::error::ErrorKind;
use super::versions::Versions;
use crate::span::Span;

/// Steps of backtracking after which a match is given up; some 50 ms.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// Bytes that one of the automata of a pattern may take: the regex crate's own default.
const SIZE_LIMIT: usize = 10 << 20;

/// Instructions that the backtracking program of a pattern may have; some 64 bytes each.
const PROGRAM_LIMIT: usize = 200_000;

/// Longer patterns, in bytes, are not compiled: the engine's syntax trees take some hundred times
/// that in memory.
const MAX_BYTES: usize = 1 << 20;

/// How many characters of a pattern's sets are folded at most. The engine's parser folds them one by one, some
/// 20 ns each.
const MAX_FOLDED: usize = 32_000_000;

/// How many where the pattern is mentioned in passing: there may be a great many such patterns.
const MAX_FOLDED_IN_PASSING: usize = 4_000;

/// Why fancy-regex refuses a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustError {
    /// What is wrong, in the engine's words: without a full stop, and without the position.
    pub message: String,
    /// Where the engine says it is, as a byte offset in the pattern, if it says so.
    pub position: Option<usize>,
    /// The characters to show, in bytes of the decoded pattern: those at fault where they are
    /// known, else all of it. Empty only if the pattern is.
    pub span: Span,
}

/// Compiles `text` with fancy-regex, within limits of size and of backtracking.
///
/// # Errors
/// What the engine refuses, because of its syntax or of a limit.
pub fn compile_rust(text: &str) -> Result<Regex, RustError> {
    compile_within(text, 1, BACKTRACK_LIMIT)
}

/// [`compile_rust`] for many short texts: a match is given up after a hundredth of the steps.
///
/// # Errors
/// As [`compile_rust`].
pub fn compile_for_short(text: &str) -> Result<Regex, RustError> {
    compile_within(text, 1, BACKTRACK_LIMIT / 100)
}

/// [`compile_rust`] within a part of the limits of size, and a limit of backtracking.
fn compile_within(text: &str, part: usize, steps: usize) -> Result<Regex, RustError> {
    let whole = Span::new(0, text.len());
    if text.len() > MAX_BYTES {
        let message = format!("the pattern is longer than {MAX_BYTES} bytes");
        return Err(RustError { message, position: None, span: whole });
    }
    if folded(text) > MAX_FOLDED {
        let message = format!("its sets under `(?i)` have more than {MAX_FOLDED} characters");
        return Err(RustError { message, position: None, span: whole });
    }
    RegexBuilder::new(text)
        .backtrack_limit(steps)
        .delegate_size_limit(SIZE_LIMIT / part)
        .max_prog_size(PROGRAM_LIMIT / part)
        .build()
        .map_err(|error| explain(text, &error))
}

/// Whether fancy-regex accepts `text`, for a mention in passing: a pattern that takes more than a tenth of what
/// [`compile_rust`] allows counts as refused.
pub fn accepted_by_rust(text: &str) -> bool {
    folded(text) <= MAX_FOLDED_IN_PASSING && compile_within(text, 10, BACKTRACK_LIMIT).is_ok()
}

/// How many characters of the sets of `text` are folded one by one where the engine's parser ignores case: roughly, and
/// rather too many. Reads no more of the pattern than its brackets and escapes.
pub fn folded(text: &str) -> usize {
    /// Of Unicode, of its word characters, and of its digits or white space.
    const ALL: usize = 1_112_064;
    const WORDS: usize = 140_000;
    const FEW: usize = 800;
    let is_flags = |after: &str| {
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        after.get(..end).is_some_and(|flags| flags.contains('i'))
    };
    if !text.split("(?").skip(1).any(is_flags) {
        return 0;
    }
    let (mut depth, mut sum) = (0u32, 0usize);
    // The character before, and whether a dash stands between it and the next one.
    let (mut before, mut dash) = (None::<char>, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (mut one, mut len) = (Some(c), c.len_utf8());
        match c {
            '[' => (depth, one) = (depth.saturating_add(1), None),
            ']' => (depth, one) = (depth.saturating_sub(1), None),
            '-' if before.is_some() && !dash => {
                (dash, rest) = (true, rest.get(1..).unwrap_or_default());
                continue;
            }
            '\\' => {
                let escaped = rest.get(1..).and_then(|rest| rest.chars().next());
                let is_number = matches!(escaped, Some('x' | 'u' | 'U'));
                let number = is_number.then(|| super::dialects::hex(rest)).flatten();
                (one, len) = match (escaped, number) {
                    (_, Some((c, len))) => (Some(c), len),
                    (Some(c), None) => (Some(c), 1 + c.len_utf8()),
                    (None, None) => (None, 1),
                };
                if let (Some(c), None) = (escaped, number) {
                    let width = match c {
                        'W' | 'D' | 'S' | 'P' => ALL,
                        'w' | 'p' | 'x' | 'u' | 'U' => WORDS,
                        'd' | 's' => FEW,
                        _ => 0,
                    };
                    sum = sum.saturating_add(if depth > 0 { width } else { 0 });
                }
            }
            _ => {}
        }
        if let (true, Some(start), Some(end)) = (dash && depth > 0, before, one) {
            sum = sum.saturating_add((end as usize).saturating_sub(start as usize));
        }
        (before, dash) = (one, false);
        rest = rest.get(len..).unwrap_or_default();
    }
    sum
}

/// The fault of `text` for a consumer in Rust, if there is one. A pattern that is
/// [`plain`](plain_in_rust) is known to have none without being compiled.
pub fn check_rust(text: &str, ast: Option<&Ast>) -> Option<RustError> {
    if ast.is_some_and(|ast| plain_in_rust(text, ast)) {
        return None;
    }
    compile_rust(text).err()
}

fn explain(text: &str, error: &Error) -> RustError {
    let (message, position) = match error {
        Error::ParseError(position, error) => (error.to_string(), Some(*position)),
        Error::CompileError(error) => match &**error {
            CompileError::InnerError(inner) => (
                match (inner.syntax_error(), inner.size_limit()) {
                    (Some(regex_syntax::Error::Parse(error)), _) => error.kind().to_string(),
                    (Some(regex_syntax::Error::Translate(error)), _) => error.kind().to_string(),
                    (_, Some(limit)) => {
                        format!("the compiled pattern would take more than {limit} bytes")
                    }
                    _ => inner.to_string(),
                },
                None,
            ),
            error => (error.to_string(), None),
        },
        error => (error.to_string(), None),
    };
    let span = same_fault(text, error).or_else(|| token_at(text, position?));
    RustError {
        message: decapitalized(&message),
        position: position.filter(|at| *at <= text.len()),
        span: span.unwrap_or(Span::new(0, text.len())),
    }
}

/// Where our own parser finds the fault, if it finds the same one.
fn same_fault(text: &str, error: &Error) -> Option<Span> {
    let kinds: &[ErrorKind] = match error {
        Error::ParseError(_, error) => match error {
            ParseError::UnclosedOpenParen => {
                &[ErrorKind::UnclosedGroup, ErrorKind::UnclosedComment]
            }
            ParseError::TrailingBackslash => &[ErrorKind::TrailingBackslash],
            ParseError::InvalidClass => &[ErrorKind::UnclosedClass],
            ParseError::TargetNotRepeatable => {
                &[ErrorKind::NothingToRepeat, ErrorKind::MultipleRepeat]
            }
            ParseError::InvalidBackref => &[ErrorKind::UnknownGroup],
            ParseError::InvalidEscape(_) => &[ErrorKind::UnknownEscape],
            ParseError::GeneralParseError(_) => &[ErrorKind::UnopenedGroup],
            _ => return None,
        },
        Error::CompileError(error) => match &**error {
            CompileError::InnerError(_) => {
                &[ErrorKind::RangeOutOfOrder, ErrorKind::RangeOfClass, ErrorKind::RepeatOutOfOrder]
            }
            CompileError::InvalidBackref(_) => &[ErrorKind::UnknownGroup],
            _ => return None,
        },
        _ => return None,
    };
    let ours = super::parser::parse(text, Versions::ALL).err()?;
    kinds.contains(&ours.kind).then_some(ours.span)
}

/// The character at `position`, with the one after it if it is a backslash.
fn token_at(text: &str, position: usize) -> Option<Span> {
    let mut rest = text.get(position..)?.chars();
    let mut len = rest.next().map(|c| {
        if c == '\\' { 1 + rest.next().map_or(0, char::len_utf8) } else { c.len_utf8() }
    })?;
    len = len.min(text.len() - position);
    Some(Span::new(position, position + len))
}

fn decapitalized(message: &str) -> String {
    let mut chars = message.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => message.to_owned(),
    }
}

/// Whether fancy-regex is known to accept `text`, whose tree is `ast`, and to read it as Python does:
/// letters, digits, escaped punctuation, `.`, plain sets of them, small groups and alternations, and simple repeats. True of
/// most patterns that name a frame, and a hundredth of the time that compiling takes.
pub fn plain_in_rust(text: &str, ast: &Ast) -> bool {
    ast.flags == Flags::NONE
        && text.len() <= 1000
        && ast.groups.iter().all(|group| group.name.is_none())
        && plain(text, &ast.root, 16)
}

/// So many rounds of a repeat of one character are nothing to either engine.
const MAX_ROUNDS: u32 = 64;

/// Whether a set is spelled with nothing but characters and ranges that every dialect reads alike: no escapes, no
/// brackets within, none of the doubled characters that make set operations.
fn plain_class(text: &str, node: &Node) -> bool {
    let spelled = text.get(node.span.range()).and_then(|it| it.strip_prefix('['));
    let Some(inner) = spelled.and_then(|it| it.strip_suffix(']')) else { return false };
    let inner = inner.strip_prefix('^').unwrap_or(inner);
    !inner.is_empty() && !inner.contains("--") && inner.bytes().all(|b| is_plain(b) || b == b'.')
}

/// Whether `b` stands for itself in every dialect.
fn is_plain(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b' ' | b',' | b'-')
}

fn plain(text: &str, node: &Node, depth: u32) -> bool {
    let Some(deeper) = depth.checked_sub(1) else { return false };
    match &node.kind {
        NodeKind::Empty => node.span.is_empty(),
        NodeKind::Literal(..) => match text.as_bytes().get(node.span.range()) {
            Some([b]) => is_plain(*b),
            Some([b'\\', b]) => b".*+?()[]{}|^$\\".contains(b),
            _ => false,
        },
        NodeKind::Capture(_, body) => plain(text, body, deeper),
        NodeKind::Group(body) => {
            text.get(node.span.range()).is_some_and(|group| group.starts_with("(?:"))
                && plain(text, body, deeper)
        }
        // Both leave out the line feed.
        NodeKind::Dot(_) => true,
        NodeKind::Class(class, _) => class.bracketed && plain_class(text, node),
        NodeKind::Repeat(repeat, body) => {
            repeat.kind != RepeatKind::Possessive
                && repeat.max.is_none_or(|max| max <= MAX_ROUNDS)
                && repeat.min <= MAX_ROUNDS
                && matches!(
                    body.kind,
                    NodeKind::Literal(..) | NodeKind::Dot(_) | NodeKind::Class(..)
                )
                && plain(text, body, deeper)
        }
        NodeKind::Concat(parts) | NodeKind::Alternation(parts) => {
            parts.iter().all(|part| plain(text, part, deeper))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_folded_is_counted_before_it_is() {
        for text in
            ["[а-я]", r"(?i)\W\w", "(?i)a-z", "(?s:[а-я])(?!i)", r"(?i)\[а-я\]", "(?i)[abc]"]
        {
            assert_eq!(folded(text), 0, "{text}");
        }
        for (text, least) in [
            ("(?i)[а-я]", 31),
            (r"(?i)[\u0400-\u04ff]", 255),
            (r"(?i)[\x41-\u04ff][а-\U0001F600]", 120_000),
            (r"[а-я](?si:[^\W\d])", 1_112_064),
            ("(?i)[[а-я]-]", 31),
            ("(?i)[-а-я-]", 31),
            (r"(?i)[\]а-я]", 31),
        ] {
            assert!((least..=least + 200_000).contains(&folded(text)), "{text}: {}", folded(text));
        }
        let wide = format!("(?i){}", "[\u{400}-\u{3fff}]".repeat(MAX_FOLDED / 0x3000));
        let fault = compile_rust(&wide).map(|_| ()).unwrap_err();
        assert_eq!(fault.message, "its sets under `(?i)` have more than 32000000 characters");
        assert!(!accepted_by_rust("(?i)[\u{400}-\u{3fff}]") && accepted_by_rust("(?i)[а-я]"));
    }
}
