//! One line a finding, for editors, `grep` and hooks.
//!
//! `path:line:column: severity[rule]: message (hypothesis H2)`, with `[*]` before the message where a
//! `--fix` would repair it. No summary: as many lines as findings. Of a rule with too many of them in a file, the
//! last line says how many are not shown.

use std::io::{self, Write as _};

use codespan_reporting::term::termcolor::{Ansi, Color, ColorSpec, WriteColor as _};

use super::escape::escape;
use super::{Options, is_fixable, unnamed_hypothesis};
use crate::diagnostic::{Diagnostic, Severity};
use crate::report::{Report, not_shown};
use crate::source::{ColumnUnit, Position, Sources};

/// Writes the findings.
pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    for (index, diagnostic) in report.diagnostics.iter().enumerate() {
        line.clear();
        let fixable = is_fixable(diagnostic, report, options);
        write_line(diagnostic, fixable, sources, options, &mut line)?;
        match report.not_shown_behind(index) {
            0 => {}
            more => write!(line, "; {}", not_shown(more))?,
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn write_line(
    diagnostic: &Diagnostic,
    fixable: bool,
    sources: &Sources,
    options: &Options,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let source = sources.get(diagnostic.primary.file);
    let start = diagnostic.primary.span.start as usize;
    let Position { line, column } = source.position(start, ColumnUnit::Scalar);
    write!(out, "{}:{line}:{column}: ", escape(source.path()))?;
    if options.color {
        let mut style = ColorSpec::new();
        style.set_bold(true).set_intense(true).set_fg(Some(match diagnostic.severity {
            Severity::Error => Color::Red,
            Severity::Warning => Color::Yellow,
        }));
        let mut out = Ansi::new(&mut *out);
        out.set_color(&style)?;
        write!(out, "{}[{}]", diagnostic.severity.as_str(), diagnostic.rule)?;
        out.reset()?;
    } else {
        write!(out, "{}[{}]", diagnostic.severity.as_str(), diagnostic.rule)?;
    }
    let marker = if fixable { "[*] " } else { "" };
    write!(out, ": {marker}{}", escape(&diagnostic.message))?;
    if let Some(id) = unnamed_hypothesis(diagnostic) {
        write!(out, " (hypothesis {})", escape(id))?;
    }
    Ok(())
}
