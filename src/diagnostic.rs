//! What a rule reports.
//!
//! Uses `span` and `fix`. Knows no rule, no level of the user's and no output format.

use crate::fix::Fix;
use crate::span::{FileId, Span};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth a look; does not fail the run.
    Warning,
    /// Fails the run.
    Error,
}

impl Severity {
    /// The word that every output uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place in a source, with what to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The source.
    pub file: FileId,
    /// The very characters, in bytes of that source. Empty only where something is missing.
    pub span: Span,
    /// A few words beside the underline; may be empty.
    pub message: String,
}

impl Label {
    /// Puts the three together.
    pub fn new(file: FileId, span: Span, message: impl Into<String>) -> Self {
        Self { file, span, message: message.into() }
    }
}

/// A frame that shows what a finding says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// What it shows, as a clause before a colon.
    pub message: String,
    /// The frame.
    pub frame: String,
    /// What matches where.
    pub marks: Vec<Mark>,
}

/// A part of a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Where it begins, in scalar values of the frame.
    pub start: usize,
    /// Where it ends, in scalar values of the frame.
    pub end: usize,
    /// A few words about it.
    pub message: String,
}

/// One finding.
///
/// All texts are plain: they may quote the input and are escaped by the output, never here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that found it, by name.
    pub rule: &'static str,
    /// The rule's default for it, until the report puts the user's level here.
    pub severity: Severity,
    /// One sentence without a full stop; names what was found, not the rule.
    pub message: String,
    /// Where.
    pub primary: Label,
    /// Other places that belong to it, in the order to read them.
    pub related: Vec<Label>,
    /// A frame that shows it.
    pub witness: Option<Witness>,
    /// Facts that help to judge it, one sentence each.
    pub notes: Vec<String>,
    /// The one right repair, where there is one.
    pub fix: Option<Fix>,
    /// The id of the hypothesis that it is about, decoded.
    pub hypothesis: Option<String>,
}

impl Diagnostic {
    /// A finding with nothing but the place and the sentence.
    pub fn new(
        rule: &'static str,
        severity: Severity,
        message: impl Into<String>,
        primary: Label,
    ) -> Self {
        Self {
            rule,
            severity,
            message: message.into(),
            primary,
            related: Vec::new(),
            witness: None,
            notes: Vec::new(),
            fix: None,
            hypothesis: None,
        }
    }

    /// Adds a related place.
    #[must_use]
    pub fn with_related(mut self, label: Label) -> Self {
        self.related.push(label);
        self
    }

    /// Sets the frame that shows it, if there is one.
    #[must_use]
    pub fn with_witness(mut self, witness: impl Into<Option<Witness>>) -> Self {
        self.witness = witness.into();
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the repair, if there is one.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        self.fix = fix.into();
        self
    }

    /// Names the hypothesis.
    #[must_use]
    pub fn with_hypothesis(mut self, id: Option<&str>) -> Self {
        self.hypothesis = id.map(str::to_owned);
        self
    }
}
