//! The view of a line: what is shown of it, escaped and no wider than asked for, and where the
//! marked places stand in that.
//!
//! codespan-reporting prints what it is given, so it is given views and never a file. The work for one
//! line depends on the width that is asked for and not on the line's length.
//!
//! All ranges are of bytes. A *cost* is an upper bound for columns: a character that takes none costs
//! one, so that a line's width bounds its bytes as well.

use std::ops::Range;

use super::escape;

/// A tab reaches to the next multiple of so many columns.
const TAB: usize = 4;
/// Stands where text was left out.
const GAP: &str = "…";
/// What a combining mark stands on that has nothing before it, as Unicode's charts show it.
const DOTTED_CIRCLE: char = '\u{25cc}';

/// A line, or the part of one that is at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// Its text, without a line's end.
    pub(super) text: &'t str,
    /// Whether the line has more before the text.
    pub(super) more_before: bool,
    /// Whether there is more behind the text that belongs to what is shown, be it on later lines.
    pub(super) more_behind: bool,
}

impl<'t> Line<'t> {
    /// A whole line.
    pub(super) fn whole(text: &'t str) -> Self {
        Self { text, more_before: false, more_behind: false }
    }

    /// Writes the view of the line to `out`, at most `width` columns of it around each of `marks`, and
    /// gives the range in `out` of each mark.
    ///
    /// `marks` lie in the text and end on its character boundaries. A mark that begins with a combining
    /// mark has the character that carries it in its range; an empty one stays empty.
    pub(super) fn draw(
        self,
        marks: &[Range<usize>],
        width: usize,
        out: &mut String,
    ) -> Vec<Range<usize>> {
        let mut pen = Pen { out, column: 0, carrier: None };
        let mut drawn = vec![None; marks.len()];
        let mut end = 0;
        let mut skipped = self.more_before;
        for piece in pieces(self.text, marks, width) {
            if skipped || piece.start > end {
                pen.gap(marks, &mut drawn, end..piece.start);
            }
            skipped = false;
            for (at, ch) in self.text[piece.clone()].char_indices() {
                pen.character(marks, &mut drawn, piece.start + at, ch);
            }
            end = piece.end;
        }
        let text_end = pen.out.len();
        if end < self.text.len() {
            pen.gap(marks, &mut drawn, end..self.text.len());
        } else if self.more_behind {
            pen.out.push_str(if self.text.is_empty() { GAP } else { " …" });
        }
        drawn.into_iter().map(|place| place.unwrap_or(text_end..text_end)).collect()
    }
}

/// Writes characters and knows in which column it is.
struct Pen<'o> {
    out: &'o mut String,
    column: usize,
    /// Where in `out` the last character stands that takes a column.
    carrier: Option<usize>,
}

impl Pen<'_> {
    /// Writes the character at byte `at` of the text, and notes which marks have it.
    fn character(
        &mut self,
        marks: &[Range<usize>],
        drawn: &mut [Option<Range<usize>>],
        at: usize,
        ch: char,
    ) {
        let mut start = self.out.len();
        match escape::columns(ch) {
            Some(0) => {
                start = *self.carrier.get_or_insert_with(|| {
                    self.out.push(DOTTED_CIRCLE);
                    self.column += 1;
                    start
                });
                self.out.push(ch);
            }
            Some(columns) => {
                self.carrier = Some(start);
                self.out.push(ch);
                self.column += columns;
            }
            None if ch == '\t' => {
                let columns = TAB - self.column % TAB;
                self.out.extend(std::iter::repeat_n(' ', columns));
                self.column += columns;
                self.carrier = Some(self.out.len() - 1);
            }
            None => {
                escape::push_spelled(self.out, ch);
                self.column += escape::spelled_columns(ch);
                self.carrier = Some(self.out.len() - 1);
            }
        }
        self.note(marks, drawn, at..at + ch.len_utf8(), start);
    }

    /// Writes the sign for text left out, which stands for the bytes `left_out` of the text.
    fn gap(
        &mut self,
        marks: &[Range<usize>],
        drawn: &mut [Option<Range<usize>>],
        left_out: Range<usize>,
    ) {
        let start = self.out.len();
        self.carrier = Some(start);
        self.out.push_str(GAP);
        self.column += 1;
        self.note(marks, drawn, left_out, start);
    }

    /// Notes that the bytes `part` of the text stand in `out` from `start` to its end.
    fn note(
        &self,
        marks: &[Range<usize>],
        drawn: &mut [Option<Range<usize>>],
        part: Range<usize>,
        start: usize,
    ) {
        for (mark, drawn) in marks.iter().zip(drawn) {
            if mark.is_empty() {
                if mark.start >= part.start && mark.start < part.end && drawn.is_none() {
                    *drawn = Some(start..start);
                }
            } else if mark.start < part.end && part.start < mark.end {
                let from = drawn.as_ref().map_or(start, |drawn| drawn.start);
                *drawn = Some(from..self.out.len());
            }
        }
    }
}

/// An upper bound for the columns that `ch` takes; at least one.
fn cost(ch: char) -> usize {
    match escape::columns(ch) {
        Some(columns) => columns.max(1),
        None if ch == '\t' => TAB,
        None => escape::spelled_columns(ch),
    }
}

/// How far `chars` goes within `budget`: the bytes, and what is left of the budget.
fn reach(chars: impl Iterator<Item = char>, mut budget: usize) -> (usize, usize) {
    let mut bytes = 0;
    for ch in chars {
        match budget.checked_sub(cost(ch)) {
            Some(rest) => budget = rest,
            None => break,
        }
        bytes += ch.len_utf8();
    }
    (bytes, budget)
}

/// The parts of `text` to show, by place, none touching another: all of it where `width` allows, else
/// a part around each mark (around the start, without one) that has its share of the width.
fn pieces(text: &str, marks: &[Range<usize>], width: usize) -> Vec<Range<usize>> {
    if reach(text.chars(), width).0 == text.len() {
        return std::iter::once(0..text.len()).collect();
    }
    let shares = marks.len().max(1);
    // Each part may have a gap before it, the last one behind it as well.
    let share = width.saturating_sub(shares + 1) / shares;
    let mut pieces: Vec<_> = match marks {
        [] => std::iter::once(0..reach(text.chars(), share).0).collect(),
        _ => marks.iter().map(|mark| piece(text, mark, share)).collect(),
    };
    pieces.sort_unstable_by_key(|piece| piece.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match merged.last_mut() {
            Some(last) if piece.start <= last.end => last.end = last.end.max(piece.end),
            _ => merged.push(piece),
        }
    }
    merged
}

/// The part of `text` around `mark` that costs at most `budget`: the mark, or its beginning, with
/// twice as much behind it as before it.
fn piece(text: &str, mark: &Range<usize>, budget: usize) -> Range<usize> {
    let lead = budget / 4;
    let (before, marked, behind) = (&text[..mark.start], &text[mark.clone()], &text[mark.end..]);
    let (marked_bytes, rest) = reach(marked.chars(), budget - lead);
    let spare = lead + rest;
    let left = |budget| {
        let (bytes, rest) = reach(before.chars().rev(), budget);
        (mark.start - bytes, rest)
    };
    if marked_bytes < marked.len() {
        return left(spare).0..mark.start + marked_bytes;
    }
    let (_, left_unused) = left(spare / 3);
    let (right_bytes, unused) = reach(behind.chars(), spare - spare / 3 + left_unused);
    // What the right did not need goes to the left.
    let (start, _) = left(spare / 3 - left_unused + unused);
    start..mark.end + right_bytes
}
