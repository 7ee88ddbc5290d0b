//! What reaches the user: the three formats over reports of our own making.

// Clippy's leave for tests does not reach their helpers; a decomposed é is what some snapshots are about.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::unicode_not_nfc)]

mod concise;
mod hostile;
mod json;
mod load;
mod text;

use reglint::diagnostic::{Diagnostic, Label, Severity};
use reglint::output::{self, Format, Options};
use reglint::report::{Report, Summary};
use reglint::source::{Source, Sources};
use reglint::span::{FileId, Span};

/// The sources of a test, by path.
fn sources<const N: usize>(files: [(&str, &str); N]) -> Sources {
    let source = |(path, text): (&str, &str)| Source::new(path, text.as_bytes().to_vec());
    Sources::new(files.into_iter().map(source).collect())
}

/// A label on the `nth` (from 0) `needle` of the file at `path`.
fn at(sources: &Sources, path: &str, needle: &str, nth: usize, message: &str) -> Label {
    let (file, source) = sources.iter().find(|(_, source)| source.path() == path).unwrap();
    let (start, _) = source.text().match_indices(needle).nth(nth).unwrap();
    Label::new(file, Span::new(start, start + needle.len()), message)
}

/// A label on bytes of the first file.
fn on(start: usize, end: usize) -> Label {
    Label::new(FileId(0), Span::new(start, end), "")
}

fn error(rule: &'static str, message: &str, primary: Label) -> Diagnostic {
    Diagnostic::new(rule, Severity::Error, message, primary)
}

fn warning(rule: &'static str, message: &str, primary: Label) -> Diagnostic {
    Diagnostic::new(rule, Severity::Warning, message, primary)
}

/// A report of these findings, counted.
fn report(diagnostics: Vec<Diagnostic>) -> Report {
    let of = |severity| diagnostics.iter().filter(|found| found.severity == severity).count();
    let summary = Summary {
        registers: 1,
        hypotheses: 2,
        patterns: 5,
        errors: of(Severity::Error),
        warnings: of(Severity::Warning),
        ..Summary::default()
    };
    Report { diagnostics, summary, ..Report::default() }
}

fn render(format: Format, report: &Report, sources: &Sources, options: &Options) -> String {
    let mut out = Vec::new();
    output::write(format, report, sources, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The findings as text, without the summary.
fn text(sources: &Sources, diagnostics: Vec<Diagnostic>) -> String {
    let options = Options { quiet: true, ..Options::default() };
    render(Format::Text, &report(diagnostics), sources, &options)
}
