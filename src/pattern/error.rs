//! Why a pattern is refused, and what would repair it.
//!
//! Uses `span` and `versions`.

use super::versions::Versions;
use crate::span::Span;

/// What the consumer finds wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// The very characters at fault, in bytes of the decoded pattern. Empty only if the pattern is.
    pub span: Span,
    /// What kind of fault it is.
    pub kind: ErrorKind,
    /// What is wrong, in our words: one sentence without a full stop.
    pub message: String,
    /// CPython's own words, without its position, for searching.
    pub python: String,
    /// Facts that help to judge it, one sentence each.
    pub notes: Vec<String>,
    /// Those of the versions asked for that refuse the pattern for this.
    pub refused_by: Versions,
    /// Another place that belongs to it, with a few words.
    pub related: Option<(Span, String)>,
    /// What would repair it.
    pub repair: Option<Repair>,
    /// Whether it lies in a set.
    pub(super) in_set: bool,
    /// Whether verbose mode is on there.
    pub(super) verbose: bool,
    /// Whether `$` means the end of a line there.
    pub(super) lines: bool,
}

/// A change of the pattern's text that repairs a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// What it does, as an imperative without a full stop.
    pub message: String,
    /// The bytes of the decoded pattern that go, and what stands there instead: sorted by offset,
    /// none touching another, never empty.
    pub edits: Vec<(Span, String)>,
    /// Whether the meaning was plainly intended; else a person should look.
    pub safe: bool,
}

impl Repair {
    /// `text` with the edits applied.
    pub fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        let mut at = 0;
        for (span, replacement) in &self.edits {
            let range = span.range();
            if range.start < at {
                continue;
            }
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(replacement);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A `\` with nothing after it.
    TrailingBackslash,
    /// A `(` without its `)`.
    UnclosedGroup,
    /// A `)` without its `(`.
    UnopenedGroup,
    /// A `[` without its `]`.
    UnclosedClass,
    /// A `(?#` without its `)`.
    UnclosedComment,
    /// A repeat with nothing before it, or after a place such as `^`.
    NothingToRepeat,
    /// A repeat of a repeat.
    MultipleRepeat,
    /// `{3,2}`.
    RepeatOutOfOrder,
    /// A count of 2³² - 1 or more.
    RepeatTooLarge,
    /// A range with a set such as `\w` at an end.
    RangeOfClass,
    /// A range whose end is before its start.
    RangeOutOfOrder,
    /// A backslash before a letter or digit that means nothing there.
    UnknownEscape,
    /// `\x4`, `\u{41}`, `\N`.
    IncompleteEscape,
    /// `\400`, `\U00110000`.
    EscapeOutOfRange,
    /// `\N{…}` with a name that no character has.
    UnknownCharacterName,
    /// A reference to a group that is not there.
    UnknownGroup,
    /// A reference to a group from within.
    OpenGroup,
    /// A reference in a lookbehind to a group of the same lookbehind.
    LookbehindGroup,
    /// A group name that is missing, unclosed or no identifier.
    BadGroupName,
    /// A group name given twice.
    DuplicateGroupName,
    /// `(?` with something after it that means nothing there.
    UnknownExtension,
    /// Flags that are unknown, contradict each other, or cannot stand where they do.
    BadFlags,
    /// `(?i)` anywhere but at the start.
    FlagsNotAtStart,
    /// A lookbehind that matches texts of more than one length.
    VariableLookbehind,
    /// A lookbehind over 2³² characters or more.
    LookbehindTooWide,
    /// `(?(1)a|b|c)`.
    TooManyBranches,
    /// Groups within groups beyond what CPython's recursion allows.
    TooNested,
}
