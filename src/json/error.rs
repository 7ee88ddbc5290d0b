//! What is wrong with a text that should be JSON, in plain words.

use crate::span::Span;

/// The kinds of mistakes, for callers and tests that do not read words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntaxErrorKind {
    /// The text has no value.
    Empty,
    /// A `//`, `/* */` or `#` comment.
    Comment,
    /// White space that JSON does not have, such as a no-break space.
    Space,
    /// A comma before a closing bracket.
    TrailingComma,
    /// A comma where a value or a name should stand.
    ExtraComma,
    /// No comma between two members or elements.
    MissingComma,
    /// No colon behind a member name.
    MissingColon,
    /// `=` or the like for a colon, `;` for a comma.
    WrongSeparator,
    /// A member without a value.
    MissingValue,
    /// A member without a name.
    MissingName,
    /// A member name without quotes.
    UnquotedName,
    /// A value that is no literal, number or string.
    UnquotedText,
    /// `True`, `None` and other spellings of the literals.
    WrongLiteral,
    /// `NaN`, `Infinity` and the like.
    NotFinite,
    /// A number spelled in a way that JSON does not have.
    BadNumber,
    /// A whole number with more digits than Python reads.
    LongNumber,
    /// `'…'` or `` `…` ``.
    WrongQuotes,
    /// `“…”` and the like.
    TypographicQuotes,
    /// A string that does not end.
    UnclosedString,
    /// A quotation mark inside a string without a backslash.
    UnescapedQuote,
    /// A line end, tab or other control character in a string.
    ControlCharacter,
    /// A backslash before a character that JSON does not escape.
    BadEscape,
    /// `\u` with fewer than four hexadecimal digits.
    TruncatedEscape,
    /// An opening bracket of the wrong kind, or one too many.
    WrongOpener,
    /// A closing bracket of the wrong kind, or one too many.
    WrongCloser,
    /// A container that is not closed.
    Unclosed,
    /// A container without its opening bracket.
    Unopened,
    /// A line that a merge left: `<<<<<<< HEAD`, `=======` and the like.
    Conflict,
    /// Something that fits nowhere.
    Unexpected,
    /// Text behind the document.
    AfterDocument,
    /// Brackets nested deeper than [`super::MAX_DEPTH`].
    TooDeep,
}

impl SyntaxErrorKind {
    /// What Python and RFC 8259 say of it, a sentence; empty where the message says it all.
    pub fn note(self) -> &'static str {
        match self {
            Self::Comment => {
                "neither Python's `json` nor RFC 8259 has comments; a member whose name begins with `_` can hold the words"
            }
            Self::Space => {
                "JSON has four kinds of white space: space, tab, line feed, carriage return"
            }
            Self::TrailingComma | Self::ExtraComma => {
                "neither Python's `json` nor RFC 8259 takes a comma that no value follows"
            }
            Self::UnquotedName => "a member name is a string in double quotes",
            Self::WrongLiteral => "the literals of JSON are `true`, `false` and `null`",
            Self::NotFinite => {
                "Python's `json` reads it, RFC 8259 and most other parsers do not; `null` is the usual stand-in"
            }
            Self::BadNumber => {
                "a number of JSON is an optional `-`, digits without a leading zero, then an optional fraction and exponent"
            }
            Self::LongNumber => {
                "since 3.11 Python's `int` refuses more than 4300 digits, and `json` with it"
            }
            Self::WrongQuotes | Self::TypographicQuotes => "strings of JSON stand in `\"`",
            Self::ControlCharacter => {
                "a control character in a string is spelled as an escape, such as `\\n` or `\\t`"
            }
            Self::BadEscape => {
                r#"the escapes of JSON are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits"#
            }
            Self::TooDeep => {
                "the bound is reglint's own; Python's `json` gives up with a RecursionError near a thousand levels"
            }
            _ => "",
        }
    }
}

/// A way to mend one error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// What it does, as an imperative: "delete the comma".
    pub message: &'static str,
    /// What to put where, by offset, none touching another. Never empty.
    pub edits: Vec<(Span, String)>,
    /// Whether it is plainly what was meant; a person should look at any other.
    pub safe: bool,
}

/// One mistake. Texts quote the input as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The characters at fault; empty where something is missing.
    pub span: Span,
    /// What kind of mistake it is.
    pub kind: SyntaxErrorKind,
    /// One sentence without a full stop.
    pub message: String,
    /// Another place that belongs to it, with a few words.
    pub related: Option<(Span, String)>,
    /// The one right repair, where there is one.
    pub repair: Option<Repair>,
    /// Facts of this very mistake, one sentence each.
    pub(super) facts: Vec<String>,
}

impl SyntaxErrorKind {
    /// Whether what stands around it was read as it was meant.
    pub(super) fn is_harmless(self) -> bool {
        matches!(self, Self::Comment | Self::Space | Self::TrailingComma | Self::ExtraComma)
    }

    /// Whether it is about a text: what stands next to it may be part of that text.
    pub(super) fn is_of_text(self) -> bool {
        matches!(
            self,
            Self::UnquotedText
                | Self::UnclosedString
                | Self::UnescapedQuote
                | Self::ControlCharacter
                | Self::BadEscape
                | Self::TruncatedEscape
                | Self::Unexpected
        )
    }

    /// Whether what belongs to which container is a guess near it.
    pub(super) fn is_of_brackets(self) -> bool {
        matches!(self, Self::WrongOpener | Self::WrongCloser | Self::Unclosed | Self::Unopened)
    }
}

impl SyntaxError {
    pub(super) fn relate(&mut self, span: Span, words: &str) -> &mut Self {
        self.related = Some((span, words.to_owned()));
        self
    }

    pub(super) fn repair(
        &mut self,
        message: &'static str,
        edits: Vec<(Span, String)>,
        safe: bool,
    ) -> &mut Self {
        self.repair = Some(Repair { message, edits, safe });
        self
    }

    pub(super) fn replace(
        &mut self,
        message: &'static str,
        span: Span,
        by: impl Into<String>,
        safe: bool,
    ) -> &mut Self {
        self.repair(message, vec![(span, by.into())], safe)
    }

    /// What Python and RFC 8259 say of its kind; `None` where the message says it all.
    pub fn note(&self) -> Option<&'static str> {
        Some(self.kind.note()).filter(|note| !note.is_empty())
    }

    /// Facts that help to judge it, one sentence each: [`note`](Self::note), then those of this
    /// very mistake.
    pub fn notes(&self) -> Vec<String> {
        self.note().map(str::to_owned).into_iter().chain(self.facts.iter().cloned()).collect()
    }
}
