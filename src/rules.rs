//! The rules: one list, one file a rule, named as the rule.
//!
//! A rule sees the [`Workspace`] and reports [`Diagnostic`]s. It knows no file system, no
//! configuration and no output. To add one: its file beside the others, one line in [`RULES`],
//! its page under `docs/rules`, its cases under `tests/cases`; tests hold the set closed.

use ahash::AHashMap;

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::fix::{Applicability, Edit};
use crate::json::Str;
use crate::register::Hypothesis;
use crate::span::{FileId, Span};
use crate::workspace::{Entry, Place, Workspace};

mod duplicate_canonical_frame;
mod duplicate_id;
mod duplicate_key;
mod example_mismatch;
mod frame_claimed_twice;
mod id_style;
mod invalid_encoding;
mod invalid_json;
mod invalid_pattern;
mod link_drift;
mod link_mismatch;
mod member;
mod one_sided_link;
mod prose_link;
mod schema_violation;
mod undeclared_link;
mod unresolved_link;
mod unused_allowance;

/// What the user wants of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Its findings are errors.
    Deny,
    /// Its findings are warnings.
    Warn,
    /// It does not run.
    Allow,
}

impl Level {
    /// The word for it in the configuration and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Warn => "warn",
            Self::Allow => "allow",
        }
    }
}

/// Whether a rule's findings come with a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixAvailability {
    /// Never.
    None,
    /// Some do.
    Sometimes,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub enum Check {
    /// One register at a time, on any thread.
    Entry(fn(&Workspace<'_>, &Entry<'_>, &mut Findings)),
    /// All of them together.
    Workspace(fn(&Workspace<'_>, &mut Findings)),
    /// The allowances of the registers, after what they silence was found.
    Allowances(fn(&Workspace<'_>, &[Judged], &mut Findings)),
}

/// What became of one allowance, of a rule that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The hypothesis that has it.
    pub place: Place,
    /// Its index in [`Hypothesis::allowances`].
    pub allowance: usize,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It silenced a finding.
    Used,
    /// There was nothing to silence.
    Unused,
    /// Its last day is over.
    RunOut,
}

/// A rule: everything there is to know of it.
pub struct Rule {
    /// Its name everywhere: file, page, configuration, output.
    pub name: &'static str,
    /// One line: what it reports.
    pub summary: &'static str,
    /// Its level where the user says nothing.
    pub default: Level,
    /// Whether its findings come with a repair.
    pub fix: FixAvailability,
    /// Its page, as Markdown.
    pub page: &'static str,
    /// The code.
    pub check: Check,
}

/// All rules, in the order of the catalogue.
pub static RULES: &[Rule] = &[
    invalid_encoding::RULE,
    invalid_json::RULE,
    duplicate_key::RULE,
    schema_violation::RULE,
    duplicate_id::RULE,
    id_style::RULE,
    invalid_pattern::RULE,
    duplicate_canonical_frame::RULE,
    example_mismatch::RULE,
    unresolved_link::RULE,
    link_mismatch::RULE,
    one_sided_link::RULE,
    undeclared_link::RULE,
    link_drift::RULE,
    prose_link::RULE,
    unused_allowance::RULE,
    frame_claimed_twice::RULE,
];

impl Rule {
    /// Its place in [`RULES`].
    pub fn index(&self) -> usize {
        position(self.name)
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// The place of a rule in the catalogue, by name; behind all others for an unknown one.
pub fn position(name: &str) -> usize {
    RULES.iter().position(|rule| rule.name == name).unwrap_or(RULES.len())
}

/// Where a rule puts what it finds.
#[derive(Debug)]
pub struct Findings {
    rule: &'static Rule,
    list: Vec<Diagnostic>,
    /// By file: how many there were, and where in the list the last one stands that was kept.
    counts: AHashMap<FileId, (usize, usize)>,
}

impl Findings {
    /// The findings of one rule, none yet.
    pub fn new(rule: &'static Rule) -> Self {
        Self { rule, list: Vec::new(), counts: AHashMap::new() }
    }

    /// Starts a finding at the rule's default severity; hand it to [`Findings::push`] when it is whole.
    pub fn finding(&self, message: impl Into<String>, primary: Label) -> Diagnostic {
        let severity = match self.rule.default {
            Level::Deny => Severity::Error,
            Level::Warn | Level::Allow => Severity::Warning,
        };
        Diagnostic::new(self.rule.name, severity, message, primary)
    }

    /// How many findings of one rule in one file are kept: nobody reads more, and a hostile file must
    /// not fill the memory with them. The last one says how many there are besides.
    pub const MOST: usize = 1000;

    /// Adds a finding, unless its file has [`Findings::MOST`] of them.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let (count, last) = self.counts.entry(diagnostic.primary.file).or_default();
        *count += 1;
        if *count <= Self::MOST {
            *last = self.list.len();
            self.list.push(diagnostic);
        }
    }

    /// All of them.
    pub fn into_vec(mut self) -> Vec<Diagnostic> {
        for &(count, last) in self.counts.values() {
            if count > Self::MOST {
                let more = count - Self::MOST;
                let note = format!("{more} more findings of this rule in this file are not shown");
                self.list[last].notes.push(note);
            }
        }
        self.list
    }
}

/// A label at `span` of `file`.
fn label(file: FileId, span: Span, message: impl Into<String>) -> Label {
    Label::new(file, span, message)
}

/// Edits of one file, from places and what is to stand there.
fn edits(file: FileId, places: &[(Span, String)]) -> Vec<Edit> {
    let edit =
        |(span, text): &(Span, String)| Edit { file, span: *span, replacement: text.clone() };
    places.iter().map(edit).collect()
}

/// How far to trust a repair, by whether its author calls it safe.
fn applicability(safe: bool) -> Applicability {
    if safe { Applicability::Safe } else { Applicability::Unsafe }
}

/// `text` as it is spelled within a JSON string.
fn as_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Whether a text can be a frame: not empty, and without control characters.
fn is_frame(text: &Str<'_>) -> bool {
    !text.value().is_empty()
        && !text.value().contains(char::is_control)
        && !text.has_lone_surrogate()
}

/// How a hypothesis is named in a sentence.
fn named(hypothesis: &Hypothesis<'_>) -> String {
    hypothesis.id().map_or_else(|| "a hypothesis without id".to_owned(), quoted)
}

/// `text` between back ticks, cut where it is too long to read in a sentence.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}
