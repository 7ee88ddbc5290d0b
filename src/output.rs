//! A report as bytes: one file a format, and what the formats share.
//!
//! Uses `report`, `query`, `diagnostic`, `fix`, `source` and `span`. Opens nothing and looks at no terminal: the
//! caller says where to write, how wide it is and whether it shows colours.
//!
//! Nothing of the input reaches the writer raw, in any format: see `escape`.

mod answers;
mod catalogue;
mod concise;
mod escape;
mod github;
mod json;
mod measured;
mod sarif;
mod text;
mod view;

use std::borrow::Cow;
use std::io;

use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::Relation;
use crate::query::evidence::Table;
use crate::query::{Claims, Refusal};
use crate::report::Report;
use crate::rules::Rule;
use crate::source::Sources;

/// What the format `json` is described by.
pub const REPORT_SCHEMA: &str = include_str!("../schema/report.schema.json");

/// What `reglint evidence --format json` is described by.
pub const EVIDENCE_SCHEMA: &str = include_str!("../schema/evidence.schema.json");

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Excerpts of the sources with labels under them, for people.
    Text,
    /// One line a finding, `path:line:column` first.
    Concise,
    /// One object, described by schema/report.schema.json.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands, which GitHub shows beside the code.
    Github,
}

impl Format {
    /// All of them, in the order that a list shows them.
    pub const ALL: [Self; 5] = [Self::Text, Self::Concise, Self::Json, Self::Sarif, Self::Github];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Concise => "concise",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Github => "github",
        }
    }
}

/// What the formats for people may be told. The others ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether to write ANSI colours.
    pub color: bool,
    /// How many columns a line of the source may take, with its line number.
    pub width: usize,
    /// Findings only, no summary.
    pub quiet: bool,
    /// Whether `--fix` would apply unsafe fixes too.
    pub unsafe_fixes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { color: false, width: 100, quiet: false, unsafe_fixes: false }
    }
}

/// Writes `report` in `format`. The diagnostics point into `sources`.
///
/// Writes in few, large pieces.
///
/// # Errors
/// What `out` says. A closed pipe is an error like any other; what it means is the caller's to say.
pub fn write(
    format: Format,
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::write(report, sources, options, out),
        Format::Concise => concise::write(report, sources, options, out),
        Format::Json => json::write(report, sources, out),
        Format::Sarif => sarif::write(report, sources, out),
        Format::Github => github::write(report, sources, options, out),
    }
}

/// Writes the answer about two patterns in `format`.
///
/// # Errors
///
/// What the writer says.
pub fn relation(
    answer: &Result<Relation, Refusal>,
    format: Format,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    answers::relation(answer, format, options.width, out)
}

/// Writes who claims `frame` in `format`.
///
/// # Errors
///
/// What the writer says.
pub fn claims(
    claims: &Claims,
    frame: &str,
    sources: &Sources,
    format: Format,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    answers::claims(claims, frame, sources, format, options.width, out)
}

/// Writes what patterns measure in `format`, in times for each of `tokens` where that is given.
///
/// # Errors
///
/// What the writer says.
pub fn measured(
    tables: &[Table],
    tokens: Option<u64>,
    sources: &Sources,
    format: Format,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    measured::write(tables, tokens, sources, format, out)
}

/// Writes the list of `rules` in `format`.
///
/// # Errors
///
/// What the writer says.
pub fn catalogue(rules: &[Rule], format: Format, out: &mut dyn io::Write) -> io::Result<()> {
    match format {
        Format::Text | Format::Concise | Format::Github => catalogue::write_text(rules, out),
        Format::Json | Format::Sarif => catalogue::write_json(rules, out),
    }
}

/// `text` as it may reach a terminal: on one line, escaped.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape::escape(text)
}

/// Whether `--fix` repairs a finding, with the options of this run.
fn is_fixable(diagnostic: &Diagnostic, report: &Report, options: &Options) -> bool {
    diagnostic.fix.as_ref().is_some_and(|fix| match report.applicability(fix) {
        Applicability::Safe => true,
        Applicability::Unsafe => options.unsafe_fixes,
        Applicability::DisplayOnly => false,
    })
}

/// How far a fix can be trusted, in words.
fn trust(fix: &Fix, report: &Report) -> &'static str {
    match report.applicability(fix) {
        Applicability::Safe => "safe fix",
        Applicability::Unsafe => "unsafe fix",
        // What stands in a file that does not parse is a guess.
        Applicability::DisplayOnly if !report.takes(fix) => "by hand",
        Applicability::DisplayOnly => "shown only",
    }
}

/// What a finding says besides its message, in formats that do not draw: the witness, then the notes.
fn facts(diagnostic: &Diagnostic) -> impl Iterator<Item = Cow<'_, str>> {
    let witness = diagnostic.witness.as_ref();
    let witness = witness.map(|it| Cow::Owned(format!("{}: `{}`", it.message, it.frame)));
    witness.into_iter().chain(diagnostic.notes.iter().map(|note| Cow::Borrowed(note.as_str())))
}

/// The id of the hypothesis that a finding is about, unless its message says it already or it is empty.
fn unnamed_hypothesis(diagnostic: &Diagnostic) -> Option<&str> {
    let id = diagnostic.hypothesis.as_deref().filter(|id| !id.is_empty())?;
    let names = [format!("hypothesis {id}"), format!("`{id}`")];
    (!names.iter().any(|name| diagnostic.message.contains(name))).then_some(id)
}
