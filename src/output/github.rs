//! Workflow commands, which GitHub shows beside the lines of a pull request:
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
//!
//! `::error file=…,line=…,col=…,title=…::message`. What the input brings is escaped twice: by the rule of
//! all formats, since the log is read on terminals too, and then as the commands want it, so that no text
//! ends a command or begins one. GitHub shows ten errors and ten warnings of a step, so the last line, a
//! notice, has the full count. Columns count scalar values; GitHub takes them within one line only.

use std::fmt::Write as _;
use std::io;

use super::escape::escape;
use super::{Options, text, unnamed_hypothesis};
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::source::{ColumnUnit, Sources};

/// Writes the findings, and their count unless `options` forbid it.
pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut line = String::new();
    for diagnostic in &report.diagnostics {
        line.clear();
        push_command(&mut line, diagnostic, sources);
        out.write_all(line.as_bytes())?;
    }
    if !options.quiet {
        let summary = text::summary(&report.summary, options.unsafe_fixes);
        // A plain line where there is nothing to look at.
        let command = if report.diagnostics.is_empty() { "" } else { "::notice title=reglint::" };
        let summary = if command.is_empty() { summary } else { data(&summary) };
        writeln!(out, "{command}{summary}")?;
    }
    Ok(())
}

/// Adds the command of one finding, with its line end.
fn push_command(out: &mut String, diagnostic: &Diagnostic, sources: &Sources) {
    let source = sources.get(diagnostic.primary.file);
    let span = diagnostic.primary.span;
    let start = source.position(span.start as usize, ColumnUnit::Scalar);
    let end = source.position(span.end as usize, ColumnUnit::Scalar);
    let path = property(&escape(source.path()));
    let severity = diagnostic.severity.as_str();
    let _ = write!(out, "::{severity} file={path},line={}", start.line);
    if start.line == end.line {
        let _ = write!(out, ",col={}", start.column);
        if start.column < end.column {
            let _ = write!(out, ",endColumn={}", end.column);
        }
    } else {
        let _ = write!(out, ",endLine={}", end.line);
    }
    let title = property(&format!("reglint: {}", diagnostic.rule));
    let _ = write!(out, ",title={title}::{}", data(&escape(&diagnostic.message)));
    if let Some(id) = unnamed_hypothesis(diagnostic) {
        let _ = write!(out, "%0Ain hypothesis {}", data(&escape(id)));
    }
    for note in super::facts(diagnostic) {
        let _ = write!(out, "%0A{}", data(&escape(&note)));
    }
    for label in &diagnostic.related {
        let source = sources.get(label.file);
        let at = source.position(label.span.start as usize, ColumnUnit::Scalar);
        let path = data(&escape(source.path()));
        let _ = write!(out, "%0Asee {path}:{}:{}", at.line, at.column);
        if !label.message.is_empty() {
            let _ = write!(out, ": {}", data(&escape(&label.message)));
        }
    }
    if let Some(fix) = &diagnostic.fix {
        let _ = write!(out, "%0Ahelp: {}", data(&escape(&fix.message)));
    }
    out.push('\n');
}

/// `text` as the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// `text` as a value before the message.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
