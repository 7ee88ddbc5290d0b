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
    /// For one that adds to a list or an object: what `replacement` is made of, so that it can be made
    /// together with others at the same place.
    pub addition: Option<Addition>,
}

/// Something to add where others may be added too: in short `before`, `name` and `value`, `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// What stands before all that is added.
    pub before: String,
    /// What stands between two of them.
    pub between: String,
    /// What stands behind all of them.
    pub after: String,
    /// A member's name with its colon, or nothing in a list. Of several values under one name a list is made.
    pub name: String,
    /// What stands between two values of such a list.
    pub comma: &'static str,
    /// The value.
    pub value: String,
}

impl Addition {
    /// Whether the two go to one place of one text: all that stands around them is the same.
    fn goes_with(&self, other: &Self) -> bool {
        (&self.before, &self.between, &self.after) == (&other.before, &other.between, &other.after)
    }

    /// The text of several that go together, whatever their order: sorted, each once.
    fn text(mut all: Vec<&Self>) -> String {
        all.sort_unstable_by(|a, b| (&a.name, &a.value).cmp(&(&b.name, &b.value)));
        all.dedup_by(|a, b| (&a.name, &a.value) == (&b.name, &b.value));
        let Some(first) = all.first() else { return String::new() };
        let mut out = first.before.clone();
        let groups = all.chunk_by(|a, b| a.name == b.name && !a.name.is_empty());
        for (number, group) in groups.enumerate() {
            if number > 0 {
                out.push_str(&first.between);
            }
            match group {
                [only] => out.extend([only.name.as_str(), &only.value]),
                [one, ..] => {
                    let values: Vec<&str> = group.iter().map(|it| it.value.as_str()).collect();
                    out.extend([&one.name, "[", &values.join(one.comma), "]"]);
                }
                [] => {}
            }
        }
        out.push_str(&first.after);
        out
    }
}

impl Edit {
    /// An edit that goes with no other one at its place.
    pub fn new(file: FileId, span: Span, replacement: impl Into<String>) -> Self {
        Self { file, span, replacement: replacement.into(), addition: None }
    }

    /// An edit that adds something.
    pub fn adding(file: FileId, span: Span, addition: Addition) -> Self {
        let replacement = Addition::text(vec![&addition]);
        Self { file, span, replacement, addition: Some(addition) }
    }

    /// Whether both can be made at once, as one edit: they add to the same place.
    pub fn goes_with(&self, other: &Self) -> bool {
        let (Some(own), Some(theirs)) = (&self.addition, &other.addition) else { return false };
        (self.file, self.span) == (other.file, other.span) && own.goes_with(theirs)
    }

    /// The one edit that makes all of these, which [go together](Self::goes_with); the first of others.
    /// Their order does not matter. `None` for none.
    pub fn together(edits: &[&Self]) -> Option<Self> {
        let [first, rest @ ..] = edits else { return None };
        let mut joined = (*first).clone();
        if !rest.is_empty() {
            joined.replacement =
                Addition::text(edits.iter().filter_map(|edit| edit.addition.as_ref()).collect());
        }
        Some(joined)
    }
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
        let edit = Edit::new(file, span, replacement);
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
        let edit =
            |start, end, text: &str| Edit::new(FileId(0), Span::new(start, end), text.to_owned());
        assert_eq!(apply("abcdef", &[edit(1, 2, "X"), edit(4, 4, "--")]), "aXcd--ef");
        assert_eq!(apply("abcdef", &[edit(1, 4, "X"), edit(3, 5, "no")]), "aXef");
        assert_eq!(apply("abc", &[]), "abc");
    }

    #[test]
    fn what_is_added_at_one_place_is_added_together_in_any_order() {
        let add = |name: &str, value: &str| {
            Edit::adding(
                FileId(0),
                Span::empty(1),
                Addition {
                    before: "<".into(),
                    between: "; ".into(),
                    after: ">".into(),
                    name: name.into(),
                    comma: ",",
                    value: value.into(),
                },
            )
        };
        let together = |edits: &[Edit]| {
            let list: Vec<&Edit> = edits.iter().collect();
            assert!(edits.iter().all(|edit| edit.goes_with(&edits[0])));
            Edit::together(&list).map(|edit| edit.replacement)
        };
        assert_eq!(add("b:", "1").replacement, "<b:1>");
        let mut all = [add("b:", "1"), add("a:", "2"), add("b:", "0"), add("a:", "2")];
        assert_eq!(together(&all).as_deref(), Some("<a:2; b:[0,1]>"));
        all.reverse();
        assert_eq!(together(&all).as_deref(), Some("<a:2; b:[0,1]>"));
        // Elements have no name: none makes a list of its own.
        assert_eq!(together(&[add("", "2"), add("", "1")]).as_deref(), Some("<1; 2>"));
        let other = Edit { span: Span::empty(2), ..add("c:", "1") };
        assert!(!other.goes_with(&all[0]));
        assert!(!Edit::new(FileId(0), Span::empty(1), "x").goes_with(&all[0]));
    }
}
