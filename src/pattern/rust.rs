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
    compile_within(text, 10, BACKTRACK_LIMIT).is_ok()
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
