//! Repairs as edits of bytes, and the one function that applies them.
//!
//! Uses `span` only. Pure: it never reads or writes a file.

use crate::span::{FileId, Span};

/// Replaces the bytes of `span` in `file` by `replacement`; an empty span inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The source to change.
    pub file: FileId,
    /// The bytes that go.
    pub span: Span,
    /// What stands there instead, spelled as the file wants it (JSON escapes included).
    pub replacement: String,
}

/// How far a repair can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// The meaning for the consumer stays, or was plainly intended.
    Safe,
    /// Likely right; a person should look.
    Unsafe,
    /// Shown, never applied.
    DisplayOnly,
}

impl Applicability {
    /// The word that every output uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::DisplayOnly => "display-only",
        }
    }
}

/// One repair of one finding: all of its edits, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an imperative without a full stop: "rename it to `id`".
    pub message: String,
    /// The edits, sorted by file and offset, none touching another. Never empty.
    pub edits: Vec<Edit>,
    /// How far to trust it.
    pub applicability: Applicability,
}

impl Fix {
    /// A repair that is one edit.
    pub fn single(
        message: impl Into<String>,
        file: FileId,
        span: Span,
        replacement: impl Into<String>,
        applicability: Applicability,
    ) -> Self {
        let edit = Edit { file, span, replacement: replacement.into() };
        Self { message: message.into(), edits: vec![edit], applicability }
    }
}

/// `text` with `edits` applied. The edits are of one file, sorted by offset and do not overlap;
/// one that reaches back into its forerunner is left out.
pub fn apply<'e>(text: &str, edits: impl IntoIterator<Item = &'e Edit>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let range = edit.span.range();
        if range.start < at {
            continue;
        }
        out.push_str(&text[at..range.start]);
        out.push_str(&edit.replacement);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applies_in_order_and_leaves_the_rest_alone() {
        let edit = |start, end, text: &str| Edit {
            file: FileId(0),
            span: Span::new(start, end),
            replacement: text.into(),
        };
        assert_eq!(apply("abcdef", &[edit(1, 2, "X"), edit(4, 4, "--")]), "aXcd--ef");
        assert_eq!(apply("abcdef", &[edit(1, 4, "X"), edit(3, 5, "no")]), "aXef");
        assert_eq!(apply("abc", &[]), "abc");
    }
}
