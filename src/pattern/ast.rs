//! The syntax tree of a pattern in the consumer's dialect, CPython's `re` for text patterns.
//!
//! Every span is in **bytes of the decoded pattern**. Flags are resolved while parsing: each leaf
//! carries those in force where it stands, so a reader of the tree needs no context.

use crate::span::Span;

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ast {
    /// The whole pattern.
    pub root: Node,
    /// The flags that hold for the whole pattern (`(?i)` at its start).
    pub flags: Flags,
    /// The capturing groups, in the order of their numbers; index 0 is group 1.
    pub groups: Vec<Group>,
    /// Spellings that CPython warns about (`FutureWarning`), by offset.
    pub warnings: Vec<Warning>,
}

/// A capturing group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// From its `(` to its `)`.
    pub span: Span,
    /// Its name, if it has one.
    pub name: Option<Box<str>>,
}

/// A part of a pattern and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The part's characters, a group's brackets and a repeat's operator included.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
}

/// What a part of a pattern is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// Matches the empty text: an empty branch, a comment, a global flag group.
    Empty,
    /// One character, however it is spelled (`a`, `\.`, `\x41`, `\N{BULLET}`).
    Literal(char, Flags),
    /// `.`: any character, without a line feed unless [`Flags::DOT_ALL`].
    Dot(Flags),
    /// `[…]`, or an escape that stands for a set (`\d`) outside of one.
    Class(Box<Class>, Flags),
    /// A place between characters.
    Assertion(Assertion, Flags),
    /// A lookahead or lookbehind.
    Look(Look, Box<Node>),
    /// `(…)`, `(?P<name>…)`; the number counts from 1 and indexes [`Ast::groups`] less one.
    Capture(u32, Box<Node>),
    /// `(?:…)`, `(?i-s:…)`; its flags are in force in the leaves.
    Group(Box<Node>),
    /// `(?>…)`.
    Atomic(Box<Node>),
    /// A repeated part.
    Repeat(Repeat, Box<Node>),
    /// One part after the other; at least two.
    Concat(Vec<Node>),
    /// Branches; at least two, any of them may be empty.
    Alternation(Vec<Node>),
    /// `\1`, `(?P=name)`: the text of a group, by number.
    Backreference(u32, Flags),
    /// `(?(1)yes|no)`: by whether a group took part. Without `|no`, the second is `None`.
    Conditional(u32, Box<Node>, Option<Box<Node>>),
}

/// Flags of a pattern or a group, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(u8);

impl Flags {
    /// None of them: case matters, `^` and `$` mean the text, Unicode classes.
    pub const NONE: Self = Self(0);
    /// `(?i)`.
    pub const IGNORE_CASE: Self = Self(1);
    /// `(?m)`.
    pub const MULTI_LINE: Self = Self(2);
    /// `(?s)`.
    pub const DOT_ALL: Self = Self(4);
    /// `(?x)`.
    pub const VERBOSE: Self = Self(8);
    /// `(?a)`: `\w`, `\d`, `\s`, `\b` and case folding know ASCII only. Without it, Unicode.
    pub const ASCII: Self = Self(16);

    /// Whether all of `other` are in it.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// It less `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// `[^…]`.
    pub negated: bool,
    /// Whether it was written in brackets; else it is a single escape such as `\d`.
    pub bracketed: bool,
    /// Its parts, in order; the set is their union. Never empty.
    pub items: Vec<ClassItem>,
}

/// A part of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassItem {
    /// Its characters.
    pub span: Span,
    /// What it is.
    pub kind: ClassItemKind,
}

/// What a part of a set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassItemKind {
    /// One character.
    Single(char),
    /// All from the first to the second, both included.
    Range(char, char),
    /// `\d`, `\s`, `\w`.
    Perl(PerlClass),
    /// `\D`, `\S`, `\W`.
    NotPerl(PerlClass),
}

/// The sets that have an escape of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PerlClass {
    /// `\d`: Unicode `Nd`, with [`Flags::ASCII`] `[0-9]`.
    Digit,
    /// `\s`: Unicode white space **and** U+001C to U+001F, with [`Flags::ASCII`] `[ \t\n\r\f\v]`.
    Space,
    /// `\w`: alphanumeric by Python's `str.isalnum` and `_`, with [`Flags::ASCII`] `[a-zA-Z0-9_]`.
    Word,
}

/// A place between characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Assertion {
    /// `^`: the start of the text, with [`Flags::MULTI_LINE`] of a line.
    Caret,
    /// `$`: the end of the text or before a last line feed, with [`Flags::MULTI_LINE`] of a line.
    Dollar,
    /// `\A`.
    TextStart,
    /// `\Z`, and `\z` from Python 3.14 on: the very end of the text.
    TextEnd,
    /// `\b`.
    WordBoundary,
    /// `\B`.
    NotWordBoundary,
}

/// Which way a lookaround looks, and what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Look {
    /// `(?<…`: at the text before this place. Its width is fixed.
    pub behind: bool,
    /// `!`: that it does not match.
    pub negative: bool,
}

/// How often a part is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repeat {
    /// At least so often.
    pub min: u32,
    /// At most so often; `None` without a bound.
    pub max: Option<u32>,
    /// Which count is tried first, and whether others are.
    pub kind: RepeatKind,
    /// The operator's characters: `*`, `{2,3}?`.
    pub operator: Span,
}

/// Which count of a repeat is tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RepeatKind {
    /// `*`: the most, then fewer.
    Greedy,
    /// `*?`: the fewest, then more.
    Lazy,
    /// `*+`: the most, and nothing else.
    Possessive,
}

/// A spelling that CPython warns about because a later version may read it in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warning {
    /// The characters in question.
    pub span: Span,
    /// What it may come to mean.
    pub kind: WarningKind,
}

/// What CPython warns about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningKind {
    /// `[[`: a nested set.
    NestedSet,
    /// `--` in a set.
    SetDifference,
    /// `&&` in a set.
    SetIntersection,
    /// `~~` in a set.
    SetSymmetricDifference,
    /// `||` in a set.
    SetUnion,
}
