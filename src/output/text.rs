//! The format for people: excerpts with labels under them, notes, the fix, and a summary.
//!
//! codespan-reporting lays it out. It looks at a *view* of the few lines that a finding needs, made
//! for that finding: escaped, with tabs as spaces, cut to the width (see `view`). What it prints as
//! the place is the place in the file.

use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error as FilesError, Files, Location};
use codespan_reporting::term::{self, Config, Styles, StylesWriter, termcolor::Ansi};

use super::escape::{columns, escape, spelled_columns};
use super::view::Line;
use super::{Options, unnamed_hypothesis};
use crate::diagnostic::{Diagnostic, Label, Mark as FrameMark, Severity, Witness};
use crate::fix::{Edit, Fix, apply};
use crate::report::{Report, Summary};
use crate::source::{ColumnUnit, Position, Source, Sources};
use crate::span::{FileId, Span};

/// No narrower excerpt is made, whatever the terminal says.
const MIN_WIDTH: usize = 40;
/// A mark in an excerpt wants so many columns; those of one line that do not get them are listed.
const COLUMNS_A_MARK: usize = 24;
/// How many related places are shown in excerpts, and how many more are listed. The rest is counted.
const MAX_RELATED: usize = 8;

/// Writes the findings, and the summary unless `options` forbid it.
pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let config = Config::default();
    let styles = Styles::default();
    // codespan-reporting writes single characters.
    let mut buffer = Vec::new();
    for diagnostic in &report.diagnostics {
        let (files, shown) = prepare(diagnostic, report, sources, options.width.max(MIN_WIDTH));
        buffer.clear();
        let emitted = if options.color {
            let mut writer = StylesWriter::new(Ansi::new(&mut buffer), &styles);
            term::emit_to_write_style(&mut writer, &config, &files, &shown)
        } else {
            term::emit_to_io_write(&mut buffer, &config, &files, &shown)
        };
        emitted.map_err(|error| match error {
            FilesError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        trim_lines(&mut buffer);
        out.write_all(&buffer)?;
    }
    if !options.quiet {
        writeln!(out, "{}", summary(&report.summary, options.unsafe_fixes))?;
    }
    Ok(())
}

/// Takes the spaces from the ends of lines, so that output can be pasted into a page as it is.
fn trim_lines(text: &mut Vec<u8>) {
    let mut end = 0;
    for at in 0..text.len() {
        let byte = text[at];
        if byte == b'\n' {
            while end > 0 && text[end - 1] == b' ' {
                end -= 1;
            }
        }
        text[end] = byte;
        end += 1;
    }
    text.truncate(end);
}

/// One finding as codespan-reporting takes it, with the files that it points into.
fn prepare(
    diagnostic: &Diagnostic,
    report: &Report,
    sources: &Sources,
    width: usize,
) -> (Views, codespan::Diagnostic<usize>) {
    let View { files, labels, unseen } = view(diagnostic, sources, width);
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
    };
    let shown = codespan::Diagnostic {
        severity,
        code: Some(diagnostic.rule.to_owned()),
        message: escape(&diagnostic.message).into_owned(),
        labels,
        notes: notes(diagnostic, report, sources, width, &unseen),
    };
    (Views(files), shown)
}

/// What codespan-reporting gets to see for one finding.
struct View<'d> {
    files: Vec<FileView>,
    /// The labels, in places of `files`.
    labels: Vec<codespan::Label<usize>>,
    /// The related places that no excerpt shows.
    unseen: Vec<&'d Label>,
}

/// The shown lines of one file.
struct FileView {
    path: String,
    /// The views of the lines, a line feed behind each.
    text: String,
    lines: Vec<LineView>,
    /// Where a label starts in `text`, and where that is in the file.
    places: Vec<(usize, Position)>,
}

/// One shown line.
struct LineView {
    /// The line in the file, from 0.
    index: usize,
    /// Its view in the file view's text.
    range: Range<usize>,
}

/// A label cut down to the line that it starts in.
struct Mark<'d> {
    label: &'d Label,
    style: codespan::LabelStyle,
    line: usize,
    /// Where it stands in the line, in bytes.
    range: Range<usize>,
    /// Whether it goes on in later lines.
    goes_on: bool,
}

impl<'d> Mark<'d> {
    fn new(label: &'d Label, style: codespan::LabelStyle, source: &Source) -> Self {
        let span = label.span.range();
        let line = source.line_index(span.start);
        let bounds = source.line_span(line).range();
        let text = &source.text()[bounds.clone()];
        let place = |offset: usize| {
            let offset = offset.clamp(bounds.start, bounds.end) - bounds.start;
            text.floor_char_boundary(offset)
        };
        let range = place(span.start)..place(span.end);
        let last = source.line_index(span.end.saturating_sub(1).max(span.start));
        Self { label, style, line, range, goes_on: last > line }
    }
}

/// Makes the view for `diagnostic`, at most `width` columns wide.
fn view<'d>(diagnostic: &'d Diagnostic, sources: &Sources, width: usize) -> View<'d> {
    let (related, mut unseen): (Vec<_>, Vec<_>) = {
        let cut = diagnostic.related.len().min(MAX_RELATED);
        let (shown, rest) = diagnostic.related.split_at(cut);
        (shown.iter().collect(), rest.iter().collect())
    };
    let primary = (&diagnostic.primary, codespan::LabelStyle::Primary);
    let secondary = related.into_iter().map(|label| (label, codespan::LabelStyle::Secondary));
    let mut by_file: Vec<(FileId, Vec<Mark>)> = Vec::new();
    let mut last_line = 0;
    for (label, style) in std::iter::once(primary).chain(secondary) {
        let mark = Mark::new(label, style, sources.get(label.file));
        last_line = last_line.max(mark.line);
        match by_file.iter_mut().find(|(file, _)| *file == label.file) {
            Some((_, marks)) => marks.push(mark),
            None => by_file.push((label.file, vec![mark])),
        }
    }
    // The line number, a space, the border, a space, and the caret behind the last character.
    let gutter = (last_line + 1).ilog10() as usize + 1 + 4;
    let width = width.saturating_sub(gutter);

    let mut labels = Vec::new();
    let mut crowded = Vec::new();
    let mut files = Vec::with_capacity(by_file.len());
    for (file, marks) in by_file {
        let index = files.len();
        let source = sources.get(file);
        files.push(file_view(index, source, marks, width, &mut labels, &mut crowded));
    }
    crowded.append(&mut unseen);
    View { files, labels, unseen: crowded }
}

/// Draws the lines that `marks` of one file need and adds the marks to `labels`, or to `crowded`
/// where a line has no room for them.
fn file_view<'d>(
    index: usize,
    source: &Source,
    mut marks: Vec<Mark<'d>>,
    width: usize,
    labels: &mut Vec<codespan::Label<usize>>,
    crowded: &mut Vec<&'d Label>,
) -> FileView {
    let path = escape(source.path()).into_owned();
    let mut view = FileView { path, text: String::new(), lines: Vec::new(), places: Vec::new() };
    // Stable, so that the primary label stays before the others of its line.
    marks.sort_by_key(|mark| mark.line);
    for group in marks.chunk_by(|a, b| a.line == b.line) {
        let Some(first) = group.first() else { continue };
        // A single line between two shown ones is shown as well.
        let before = view.lines.last().map(|line| line.index);
        if before.is_some_and(|before| before + 2 == first.line) {
            view.draw(source, first.line - 1, &[], false, width);
        }
        let room = (width / COLUMNS_A_MARK).clamp(1, group.len());
        let (shown, rest) = group.split_at(room);
        crowded.extend(rest.iter().map(|mark| mark.label));
        let ranges: Vec<_> = shown.iter().map(|mark| mark.range.clone()).collect();
        let goes_on = shown.iter().any(|mark| mark.goes_on);
        let drawn = view.draw(source, first.line, &ranges, goes_on, width);
        for (mark, range) in shown.iter().zip(drawn) {
            let start = mark.label.span.start as usize;
            view.places.push((range.start, source.position(start, ColumnUnit::Scalar)));
            let message = escape(&mark.label.message).into_owned();
            labels.push(codespan::Label { style: mark.style, file_id: index, range, message });
        }
    }
    view
}

impl FileView {
    /// Adds the view of a line; gives the places of `marks` in it.
    fn draw(
        &mut self,
        source: &Source,
        index: usize,
        marks: &[Range<usize>],
        goes_on: bool,
        width: usize,
    ) -> Vec<Range<usize>> {
        let start = self.text.len();
        let mut line = Line::whole(source.slice(source.line_span(index)));
        line.more_behind = goes_on;
        let drawn = line.draw(marks, width, &mut self.text);
        self.lines.push(LineView { index, range: start..self.text.len() });
        self.text.push('\n');
        drawn
    }
}

/// The files of one finding, as codespan-reporting asks for them: an offset is one in a view's text,
/// a line is one of the file.
struct Views(Vec<FileView>);

impl Views {
    fn file(&self, id: usize) -> Result<&FileView, FilesError> {
        self.0.get(id).ok_or(FilesError::FileMissing)
    }
}

impl<'a> Files<'a> for Views {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, FilesError> {
        Ok(&self.file(id)?.path)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, FilesError> {
        Ok(&self.file(id)?.text)
    }

    fn line_index(&'a self, id: usize, offset: usize) -> Result<usize, FilesError> {
        let lines = &self.file(id)?.lines;
        let next = lines.partition_point(|line| line.range.start <= offset);
        let line = lines.get(next.saturating_sub(1));
        line.map(|line| line.index).ok_or(FilesError::LineTooLarge { given: 0, max: 0 })
    }

    fn line_range(&'a self, id: usize, index: usize) -> Result<Range<usize>, FilesError> {
        let lines = &self.file(id)?.lines;
        let found = lines.binary_search_by_key(&index, |line| line.index).ok();
        let line = found.and_then(|at| lines.get(at));
        line.map(|line| line.range.clone())
            .ok_or(FilesError::LineTooLarge { given: index, max: lines.len() })
    }

    fn location(&'a self, id: usize, offset: usize) -> Result<Location, FilesError> {
        // Only asked for the start of a label.
        let places = &self.file(id)?.places;
        let place = places.iter().find(|(start, _)| *start == offset);
        let (_, position) =
            place.ok_or(FilesError::IndexTooLarge { given: offset, max: places.len() })?;
        Ok(Location {
            line_number: position.line as usize,
            column_number: position.column as usize,
        })
    }
}

/// The lines below the excerpts.
fn notes(
    diagnostic: &Diagnostic,
    report: &Report,
    sources: &Sources,
    width: usize,
    unseen: &[&Label],
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(id) = unnamed_hypothesis(diagnostic) {
        notes.push(format!("in hypothesis {}", escape(id)));
    }
    notes.extend(diagnostic.witness.as_ref().map(|witness| shown_witness(witness, width)));
    notes.extend(diagnostic.notes.iter().map(|note| escape(note).into_owned()));
    for label in unseen.iter().take(MAX_RELATED) {
        let source = sources.get(label.file);
        let Position { line, column } =
            source.position(label.span.start as usize, ColumnUnit::Scalar);
        let mut note = format!("also at {}:{line}:{column}", escape(source.path()));
        if !label.message.is_empty() {
            let _ = write!(note, ": {}", escape(&label.message));
        }
        notes.push(note);
    }
    if unseen.len() > MAX_RELATED {
        notes.push(format!("and at {}", count(unseen.len() - MAX_RELATED, "more place")));
    }
    if let Some(fix) = &diagnostic.fix {
        let trust = super::trust(fix, report);
        let mut help = format!("help: {} ({trust})", escape(&fix.message));
        if let Some(line) = fixed_line(fix, sources, width.saturating_sub(12)) {
            let _ = write!(help, "\n      {line}");
        }
        notes.push(help);
    }
    notes
}

/// A witness with its marks under it.
fn shown_witness(witness: &Witness, width: usize) -> String {
    let frame = marked(&witness.frame, &witness.marks, "  ", width.saturating_sub(5));
    format!("{}:\n{frame}", escape(&witness.message))
}

/// `frame` on a line of its own behind `indent`, its marks on lines below; without them where it is too long for
/// `width` columns.
pub(super) fn marked(frame: &str, marks: &[FrameMark], indent: &str, width: usize) -> String {
    let mut shown = format!("{indent}{}", escape(frame));
    // By character: in which column it begins.
    let mut places = Vec::new();
    let mut column = 0;
    for ch in frame.chars() {
        places.push(column);
        column += columns(ch).unwrap_or_else(|| spelled_columns(ch));
    }
    if column + indent.len() > width {
        return shown;
    }
    let place = |at: usize| places.get(at).copied().unwrap_or(column);
    let end = marks.iter().map(|mark| place(mark.end)).max().unwrap_or(0);
    for mark in marks {
        let (start, stop) = (place(mark.start), place(mark.end));
        let line = format!("{:start$}{}", "", "~".repeat((stop - start).max(1)));
        let line = format!("{indent}{line:end$}  {}", escape(&mark.message));
        let _ = write!(shown, "\n{}", line.trim_end());
    }
    shown
}

/// The line that `fix` changes as it will be, in at most `width` columns. None where the fix changes
/// several lines, where its parts are too far from each other, and where its message says it all.
fn fixed_line(fix: &Fix, sources: &Sources, width: usize) -> Option<String> {
    let (first, last) = (fix.edits.first()?, fix.edits.last()?);
    let said = |replacement: &str| !replacement.is_empty() && fix.message.contains(replacement);
    if fix.edits.len() == 1 && said(&first.replacement) {
        return None;
    }
    let source = sources.get(first.file);
    let bounds = source.line_span(source.line_index(first.span.start as usize));
    let changed = first.span.to(last.span);
    let fits = |edit: &Edit| {
        edit.file == first.file
            && changed.contains(edit.span)
            && !edit.replacement.contains('\n')
            && edit.replacement.len() <= width
    };
    if !bounds.contains(changed) || changed.len() > width || !fix.edits.iter().all(fits) {
        return None;
    }
    // As much around it as any view can show, without the indentation.
    let text = source.text();
    let (bounds, changed) = (bounds.range(), changed.range());
    let reach = 4 * width;
    let start = text.ceil_char_boundary(changed.start.saturating_sub(reach).max(bounds.start));
    let end = text.floor_char_boundary((changed.end + reach).min(bounds.end));
    let before = text.get(start..changed.start)?;
    let indent = before.len() - before.trim_start().len();
    let (start, cut) = (start + indent, start > bounds.start);
    let edits: Vec<_> = fix
        .edits
        .iter()
        .map(|edit| {
            let span = Span::new(edit.span.range().start - start, edit.span.range().end - start);
            Edit { span, ..edit.clone() }
        })
        .collect();
    let fixed = apply(text.get(start..end)?, &edits);
    let mark = changed.start - start..fixed.len() - (end - changed.end);
    let line = Line { text: &fixed, more_before: cut, more_behind: end < bounds.end };
    let mut out = String::new();
    line.draw(std::slice::from_ref(&mark), width, &mut out);
    Some(out)
}

/// The last line. `unsafe_fixes`: `--fix` would apply those too.
pub(super) fn summary(summary: &Summary, unsafe_fixes: bool) -> String {
    let Summary {
        registers,
        hypotheses,
        patterns,
        errors,
        warnings,
        not_shown,
        fixable,
        unsafe_fixable,
        fixed,
    } = *summary;
    if registers == 0 && errors + warnings == 0 {
        return "no register was checked".to_owned();
    }
    let hypotheses = if hypotheses == 1 {
        "1 hypothesis".to_owned()
    } else {
        format!("{hypotheses} hypotheses")
    };
    let what = format!("{hypotheses}, {}", count(patterns, "pattern"));
    let registers = count(registers, "register");
    let found = match (errors, warnings) {
        (0, 0) => "no findings".to_owned(),
        (_, 0) => count(errors, "error"),
        (0, _) => count(warnings, "warning"),
        _ => format!("{} and {}", count(errors, "error"), count(warnings, "warning")),
    };
    let mut text = format!("{found} in {registers} ({what})");
    let (with, without) =
        if unsafe_fixes { (fixable + unsafe_fixable, 0) } else { (fixable, unsafe_fixable) };
    if not_shown > 0 {
        let _ = write!(text, "; {not_shown} not shown");
    }
    if fixed > 0 {
        let _ = write!(text, "; {fixed} fixed");
    }
    let _ = match (with, without) {
        (0, 0) => Ok(()),
        (_, 0) => write!(text, "; {with} fixable with `--fix`"),
        (0, _) => write!(text, "; {without} fixable with `--fix --unsafe-fixes`"),
        _ => write!(
            text,
            "; {with} fixable with `--fix`, {without} more with `--fix --unsafe-fixes`"
        ),
    };
    text
}

/// A number and its noun.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
