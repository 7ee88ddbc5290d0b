//! The report as JSON, for programs: schema/report.schema.json says what is in it.
//!
//! Written as it goes, one finding a line, members always in the same order. Its strings are escaped
//! by the rule that all formats share, which changes nothing for whoever parses them: the report may
//! be read on a terminal as well.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

use super::escape;
use crate::diagnostic::{Diagnostic, Mark};
use crate::report::Report;
use crate::source::{ColumnUnit, Source, Sources};
use crate::span::{FileId, Span};

/// The version of the format. A new member is no new version.
pub(super) const VERSION: u32 = 1;

/// Writes the report.
pub(super) fn write(report: &Report, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    write!(out, "{{\"version\":{VERSION},\"diagnostics\":[")?;
    for (index, diagnostic) in report.diagnostics.iter().enumerate() {
        line.clear();
        line.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        put(&mut line, &DiagnosticJson::new(diagnostic, report, sources))?;
        out.write_all(&line)?;
    }
    line.clear();
    line.extend_from_slice(if report.diagnostics.is_empty() { b"" } else { b"\n" });
    line.extend_from_slice(b"],\"summary\":");
    let summary = &report.summary;
    put(
        &mut line,
        &SummaryJson {
            registers: summary.registers,
            hypotheses: summary.hypotheses,
            patterns: summary.patterns,
            errors: summary.errors,
            warnings: summary.warnings,
            not_shown: summary.not_shown,
            fixable: summary.fixable,
            unsafe_fixable: summary.unsafe_fixable,
            fixed: summary.fixed,
        },
    )?;
    line.extend_from_slice(b"}\n");
    out.write_all(&line)
}

/// Adds `value` to `line`.
pub(super) fn put(line: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(line, Escaping)).map_err(Into::into)
}

/// Compact JSON in which a string shows no character that a terminal might obey or hide.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut written = 0;
        let mut spelled = String::new();
        for (at, ch) in fragment.char_indices() {
            if escape::columns(ch).is_some() {
                continue;
            }
            spelled.clear();
            escape::push_numbered(&mut spelled, ch);
            CompactFormatter.write_string_fragment(writer, &fragment[written..at])?;
            writer.write_all(spelled.as_bytes())?;
            written = at + ch.len_utf8();
        }
        CompactFormatter.write_string_fragment(writer, &fragment[written..])
    }
}

#[derive(Serialize)]
struct DiagnosticJson<'r> {
    rule: &'r str,
    severity: &'r str,
    message: &'r str,
    path: &'r str,
    hypothesis: Option<&'r str>,
    span: SpanJson,
    related: Vec<RelatedJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<WitnessJson<'r>>,
    notes: &'r [String],
    fix: Option<FixJson<'r>>,
}

#[derive(Serialize)]
struct WitnessJson<'r> {
    message: &'r str,
    frame: &'r str,
    marks: Vec<MarkJson<'r>>,
}

#[derive(Serialize)]
struct MarkJson<'r> {
    start: usize,
    end: usize,
    message: &'r str,
}

#[derive(Serialize)]
struct RelatedJson<'r> {
    path: &'r str,
    span: SpanJson,
    message: &'r str,
}

#[derive(Serialize)]
struct FixJson<'r> {
    message: &'r str,
    applicability: &'r str,
    edits: Vec<EditJson<'r>>,
}

#[derive(Serialize)]
struct EditJson<'r> {
    path: &'r str,
    span: SpanJson,
    replacement: &'r str,
}

#[derive(Serialize)]
pub(super) struct SpanJson {
    start: PlaceJson,
    end: PlaceJson,
}

#[derive(Serialize)]
struct PlaceJson {
    offset: u32,
    line: u32,
    column: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct SummaryJson {
    registers: usize,
    hypotheses: usize,
    patterns: usize,
    errors: usize,
    warnings: usize,
    #[serde(skip_serializing_if = "is_zero")]
    not_shown: usize,
    fixable: usize,
    unsafe_fixable: usize,
    fixed: usize,
}

impl<'r> DiagnosticJson<'r> {
    fn new(diagnostic: &'r Diagnostic, report: &Report, sources: &'r Sources) -> Self {
        let primary = &diagnostic.primary;
        let related = diagnostic.related.iter().map(|label| RelatedJson {
            path: sources.get(label.file).path(),
            span: SpanJson::new(label.file, label.span, sources),
            message: &label.message,
        });
        let fix = diagnostic.fix.as_ref().map(|fix| {
            let edits = fix.edits.iter().map(|edit| EditJson {
                path: sources.get(edit.file).path(),
                span: SpanJson::new(edit.file, edit.span, sources),
                replacement: &edit.replacement,
            });
            FixJson {
                message: &fix.message,
                applicability: report.applicability(fix).as_str(),
                edits: edits.collect(),
            }
        });
        Self {
            rule: diagnostic.rule,
            severity: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            path: sources.get(primary.file).path(),
            hypothesis: diagnostic.hypothesis.as_deref(),
            span: SpanJson::new(primary.file, primary.span, sources),
            related: related.collect(),
            witness: diagnostic.witness.as_ref().map(|witness| WitnessJson {
                message: &witness.message,
                frame: &witness.frame,
                marks: witness.marks.iter().map(MarkJson::new).collect(),
            }),
            notes: &diagnostic.notes,
            fix,
        }
    }
}

impl<'r> MarkJson<'r> {
    fn new(mark: &'r Mark) -> Self {
        Self { start: mark.start, end: mark.end, message: &mark.message }
    }
}

impl SpanJson {
    pub(super) fn new(file: FileId, span: Span, sources: &Sources) -> Self {
        let source = sources.get(file);
        Self { start: PlaceJson::new(span.start, source), end: PlaceJson::new(span.end, source) }
    }
}

impl PlaceJson {
    fn new(offset: u32, source: &Source) -> Self {
        let position = source.position(offset as usize, ColumnUnit::Scalar);
        Self { offset, line: position.line, column: position.column }
    }
}
