//! Sources: their text, their lines, and the one place where columns are counted.
//!
//! Uses `span` only. Nothing here reads a file; `input` does.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::span::{FileId, Span};

/// The longest source that is checked, in bytes: enough for any register by far, and little enough
/// for its tree to fit in memory and its offsets in 32 bits.
pub const MAX_BYTES: usize = 1 << 28;

/// A column is counted from the nearest multiple of so many bytes, never from the start of a longer
/// line: a register can be one line of megabytes with thousands of findings in it.
const STRIDE: usize = 1024;

/// The byte order mark, in UTF-8.
const BOM: &str = "\u{feff}";

/// A fault in how a source's bytes encode text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingFault {
    /// A UTF-8 byte order mark at the start.
    ByteOrderMark(Span),
    /// A run of bytes that no UTF-8 text has.
    NotUtf8(Span),
    /// The text is in another encoding of Unicode, as its first bytes show; nothing else of it can
    /// be checked.
    Wide(Span, Wide),
}

impl EncodingFault {
    /// The bytes at fault.
    pub fn span(self) -> Span {
        match self {
            Self::ByteOrderMark(span) | Self::NotUtf8(span) | Self::Wide(span, _) => span,
        }
    }
}

/// An encoding of Unicode that takes more than one byte for an ASCII character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wide {
    /// Its name, such as `UTF-16LE`.
    pub name: &'static str,
    /// Whether a byte order mark names it; else the zero bytes beside the first characters do.
    pub is_marked: bool,
}

impl Wide {
    /// The encoding that the first bytes of a text show, and how many bytes show it.
    ///
    /// JSON begins with ASCII, whatever it holds. Without a byte order mark, two such characters
    /// beside each other are asked for (or one that is all): the zero bytes of an encoding as RFC 4627,
    /// section 3, and `json.detect_encoding` of CPython tell them apart.
    fn detect(bytes: &[u8]) -> Option<(usize, Self)> {
        const LONGEST: usize = 4;
        let marks: [(&[u8], _); LONGEST] = [
            (&[0xff, 0xfe, 0, 0], "UTF-32LE"),
            (&[0, 0, 0xfe, 0xff], "UTF-32BE"),
            (&[0xff, 0xfe], "UTF-16LE"),
            (&[0xfe, 0xff], "UTF-16BE"),
        ];
        if let Some((mark, name)) = marks.into_iter().find(|(mark, _)| bytes.starts_with(mark)) {
            return Some((mark.len(), Self { name, is_marked: true }));
        }
        let shows = |width: usize, ascii: usize| {
            let start = &bytes[..bytes.len().min(2 * width)];
            let is_ascii = |unit: &[u8]| {
                let fits = |(at, &byte): (usize, &u8)| (byte == 0) == (at != ascii) && byte < 0x80;
                unit.len() == width && unit.iter().enumerate().all(fits)
            };
            !start.is_empty() && start.chunks(width).all(is_ascii)
        };
        [("UTF-32LE", 4, 0), ("UTF-32BE", 4, 3), ("UTF-16LE", 2, 0), ("UTF-16BE", 2, 1)]
            .into_iter()
            .find(|&(_, width, ascii)| shows(width, ascii))
            .map(|(name, width, _)| (width, Self { name, is_marked: false }))
    }
}

/// Why a source takes part in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The user named it: it is checked whatever it holds.
    Named,
    /// It was found in a folder that the user named: it is checked if it is a register.
    Found,
    /// It stands beside one that is checked: findings need a place in another file too.
    Context,
}

/// One text of a run.
///
/// Its text has the same length and the same offsets as the bytes that were read: each byte that
/// is not UTF-8 stands in it as `?`, so that everything else can be checked all the same.
#[derive(Debug)]
pub struct Source {
    path: String,
    /// Where it stands among others, if that is not by its path: see [`Source::with_place`].
    place: Option<String>,
    role: Role,
    text: String,
    faults: Vec<EncodingFault>,
    line_starts: OnceLock<Vec<u32>>,
    tallies: OnceLock<Vec<Tally>>,
}

/// How many characters a text has before some offset, in the two units that have to be counted.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    scalars: u32,
    utf16: u32,
}

impl Source {
    /// A source that was named and is shown as `path`, with the bytes that were read. `bytes` is at
    /// most [`MAX_BYTES`] long; the caller sees to that.
    pub fn new(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        debug_assert!(bytes.len() <= MAX_BYTES);
        let (text, faults) = decode(bytes);
        Self {
            path: path.into(),
            place: None,
            role: Role::Named,
            text,
            faults,
            line_starts: OnceLock::new(),
            tallies: OnceLock::new(),
        }
    }

    /// The same source in another role.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// The same source with the path that orders it among others: the absolute one, so that which of two is
    /// the later one does not depend on the folder from which they are seen.
    #[must_use]
    pub fn with_place(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    fn place(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.path)
    }

    /// Why it takes part in the run.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The path as the user gave it, or as it was found.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The text, a byte order mark included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is wrong with the bytes, by offset.
    pub fn encoding_faults(&self) -> &[EncodingFault] {
        &self.faults
    }

    /// Whether bytes that are not UTF-8 lie in `span` or right beside it, so that what stands there
    /// now is not what was meant.
    pub fn is_damaged(&self, span: Span) -> bool {
        let at = self.faults.partition_point(|fault| fault.span().end < span.start);
        // A byte order mark may stand before the one that matters.
        self.faults[at..].iter().take(2).any(|fault| {
            matches!(fault, EncodingFault::NotUtf8(bytes)
                if bytes.start <= span.end && span.start <= bytes.end)
        })
    }

    /// Whether the bytes are text at all, so that anything else can be said of them.
    pub fn is_text(&self) -> bool {
        !matches!(self.faults.first(), Some(EncodingFault::Wide(..)))
    }

    /// Whether the text is what was read, byte by byte.
    pub fn is_exact(&self) -> bool {
        self.faults.iter().all(|fault| matches!(fault, EncodingFault::ByteOrderMark(_)))
    }

    /// The first byte behind a byte order mark.
    pub fn content_start(&self) -> usize {
        if self.text.starts_with(BOM) { BOM.len() } else { 0 }
    }

    /// The text of `span`.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.range()]
    }

    /// Where each line starts, in bytes. A line ends behind its `\n`.
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.match_indices('\n');
            let start = self.content_start() as u32;
            std::iter::once(start).chain(newlines.map(|(at, _)| at as u32 + 1)).collect()
        })
    }

    /// How many lines there are; at least one. A text that ends in a line feed has an empty last line.
    pub fn line_count(&self) -> usize {
        self.line_starts().len()
    }

    /// The line (from 0) that `offset` lies in. The offset of a line's end lies in that line.
    pub fn line_index(&self, offset: usize) -> usize {
        match self.line_starts().binary_search(&(offset as u32)) {
            Ok(line) => line,
            Err(next) => next.saturating_sub(1),
        }
    }

    /// The bytes of a line (from 0) without its `\n` or `\r\n`, and without a byte order mark.
    pub fn line_span(&self, line: usize) -> Span {
        let starts = self.line_starts();
        let start = starts[line] as usize;
        let end = starts.get(line + 1).map_or(self.text.len(), |&next| next as usize - 1);
        let has_return =
            line + 1 < starts.len() && end > start && self.text.as_bytes()[end - 1] == b'\r';
        Span::new(start, end - usize::from(has_return))
    }

    /// The position of a byte offset, its column in `unit`. An offset within a line's end counts
    /// as the end of that line, one within the byte order mark as the start of the text.
    ///
    /// Takes no longer in a long line than in a short one, but for the first call there.
    pub fn position(&self, offset: usize, unit: ColumnUnit) -> Position {
        let line = self.line_index(offset);
        let span = self.line_span(line);
        let (start, end) = (span.start as usize, span.end as usize);
        let offset = offset.clamp(start, end);
        let before = if offset - start <= STRIDE {
            unit.count(&self.text.as_bytes()[start..offset])
        } else {
            self.units_before(offset, unit) - self.units_before(start, unit)
        };
        Position { line: line as u32 + 1, column: before as u32 + 1 }
    }

    /// How many of `unit` the text has before `offset`.
    fn units_before(&self, offset: usize, unit: ColumnUnit) -> usize {
        let bytes = self.text.as_bytes();
        let tallies = self.tallies.get_or_init(|| {
            let mut tally = Tally::default();
            let add = |chunk: &[u8]| {
                let before = tally;
                tally.scalars += ColumnUnit::Scalar.count(chunk) as u32;
                tally.utf16 += ColumnUnit::Utf16.count(chunk) as u32;
                before
            };
            bytes.chunks(STRIDE).map(add).collect()
        });
        // The last chunk ends at the text's end, which may be a multiple of the stride.
        let chunk = (offset / STRIDE).min(tallies.len().saturating_sub(1));
        let tally = tallies.get(chunk).copied().unwrap_or_default();
        let rest = unit.count(&bytes[chunk * STRIDE..offset]);
        match unit {
            ColumnUnit::Scalar => tally.scalars as usize + rest,
            ColumnUnit::Utf16 => tally.utf16 as usize + rest,
            ColumnUnit::Byte => offset,
        }
    }
}

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Unicode scalar values: the JSON report, the text formats.
    Scalar,
    /// UTF-16 code units: SARIF by default, editors that speak LSP.
    Utf16,
    /// Bytes of UTF-8.
    Byte,
}

impl ColumnUnit {
    /// How many of the unit `text` has.
    pub fn length(self, text: &str) -> usize {
        self.count(text.as_bytes())
    }

    /// How many characters, each counted where it starts, have their first byte in a part of a
    /// UTF-8 text. The part may begin or end inside a character, so that counts of parts add up.
    fn count(self, part: &[u8]) -> usize {
        let starts = || part.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        match self {
            Self::Scalar => starts(),
            // Four bytes of UTF-8 are two units of UTF-16.
            Self::Utf16 => starts() + part.iter().filter(|&&byte| byte >= 0xf0).count(),
            Self::Byte => part.len(),
        }
    }
}

/// A place as people read it: line and column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in the unit that was asked for.
    pub column: u32,
}

/// The sources of a run, numbered in the order of their paths, as they are from one root.
#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Sorts `list` by place and numbers it. Of two with one path the first stays.
    pub fn new(mut list: Vec<Source>) -> Self {
        list.sort_by(|a, b| compare_paths(a.place(), b.place()));
        list.dedup_by(|later, first| later.path == first.path);
        Self { list }
    }

    /// One source.
    pub fn get(&self, id: FileId) -> &Source {
        &self.list[id.index()]
    }

    /// Gives a source another text, under its path, number and role; returns the one that it had.
    pub fn replace(&mut self, id: FileId, text: String) -> String {
        let source = &mut self.list[id.index()];
        let mut new = Source::new(source.path.clone(), text.into_bytes()).with_role(source.role);
        new.place.clone_from(&source.place);
        std::mem::replace(source, new).text
    }

    /// All of them, by path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FileId, &Source)> {
        self.list.iter().enumerate().map(|(index, source)| (FileId(index as u32), source))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// The order of paths that "later" means: by component, so that a folder's files stay together.
pub fn compare_paths(a: &str, b: &str) -> Ordering {
    // A separator sorts before every byte of a name, so a name sorts before its own extensions.
    fn keys(path: &str) -> impl Iterator<Item = u8> {
        path.bytes().map(|byte| if matches!(byte, b'/' | b'\\') { 0 } else { byte })
    }
    keys(a).cmp(keys(b))
}

/// The text of `bytes` and what is wrong with them, offsets kept.
fn decode(bytes: Vec<u8>) -> (String, Vec<EncodingFault>) {
    let mut faults = Vec::new();
    if let Some((length, wide)) = Wide::detect(&bytes) {
        faults.push(EncodingFault::Wide(Span::new(0, length), wide));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let mut bytes = error.into_bytes();
            let mut at = 0;
            while let Err(error) = std::str::from_utf8(&bytes[at..]) {
                let start = at + error.valid_up_to();
                at = error.error_len().map_or(bytes.len(), |length| start + length);
                bytes[start..at].fill(b'?');
                match faults.last_mut() {
                    Some(EncodingFault::Wide(..)) => {}
                    // Bytes side by side are one fault.
                    Some(EncodingFault::NotUtf8(run)) if run.end as usize == start => {
                        run.end = at as u32;
                    }
                    _ => faults.push(EncodingFault::NotUtf8(Span::new(start, at))),
                }
            }
            String::from_utf8(bytes).unwrap_or_default()
        }
    };
    if text.starts_with(BOM) {
        faults.insert(0, EncodingFault::ByteOrderMark(Span::new(0, BOM.len())));
    }
    (text, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("a.json", text.as_bytes().to_vec())
    }

    #[test]
    fn counts_columns_in_each_unit() {
        let source = source("{\n  \"µ→😀x\"");
        let at = source.text().find('x').unwrap();
        let column = |unit| source.position(at, unit);
        assert_eq!(column(ColumnUnit::Scalar), Position { line: 2, column: 7 });
        assert_eq!(column(ColumnUnit::Utf16), Position { line: 2, column: 8 });
        assert_eq!(column(ColumnUnit::Byte), Position { line: 2, column: 13 });
    }

    #[test]
    fn columns_of_long_lines_are_those_of_a_plain_count() {
        let piece = "ab µ→ 字😀 e\u{301}\u{1f40d}";
        for lines in [1, 3] {
            let text = format!("{}\n", piece.repeat(120)).repeat(lines);
            let source = source(&text);
            for (offset, _) in text.char_indices() {
                let before = &text[..offset];
                let line_start = before.rfind('\n').map_or(0, |at| at + 1);
                let line = before.matches('\n').count() as u32 + 1;
                let before = &text[line_start..offset];
                for (unit, count) in [
                    (ColumnUnit::Scalar, before.chars().count()),
                    (ColumnUnit::Utf16, before.encode_utf16().count()),
                    (ColumnUnit::Byte, before.len()),
                ] {
                    let column = count as u32 + 1;
                    assert_eq!(source.position(offset, unit), Position { line, column });
                }
            }
        }
        // An end that is a multiple of the stride has no chunk of its own.
        let even = source(&"x".repeat(4 * STRIDE));
        let end = Position { line: 1, column: 4 * STRIDE as u32 + 1 };
        assert_eq!(even.position(4 * STRIDE, ColumnUnit::Scalar), end);
        assert_eq!(even.position(usize::MAX, ColumnUnit::Utf16), end);
    }

    #[test]
    fn line_ends_belong_to_their_line() {
        let (lf, crlf) = (source("ab\ncd\n"), source("ab\r\ncd\r\n"));
        for line in 0..3 {
            assert_eq!(lf.slice(lf.line_span(line)), crlf.slice(crlf.line_span(line)));
        }
        assert_eq!(crlf.position(3, ColumnUnit::Scalar), Position { line: 1, column: 3 });
        assert_eq!(crlf.position(8, ColumnUnit::Scalar), Position { line: 3, column: 1 });
        assert_eq!(lf.line_count(), 3);
        // A return that no line feed follows is a character of its line.
        assert_eq!(source("a\r").line_span(0), Span::new(0, 2));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let source = source("\u{feff}{}\n");
        assert_eq!(source.position(3, ColumnUnit::Byte), Position { line: 1, column: 1 });
        assert_eq!(source.position(0, ColumnUnit::Byte), Position { line: 1, column: 1 });
        let mark = EncodingFault::ByteOrderMark(Span::new(0, 3));
        assert_eq!(source.encoding_faults(), [mark]);
    }

    #[test]
    fn bytes_that_are_not_text_keep_their_places() {
        let source = Source::new("a", b"ab\xff\xfec\xe2\x82 \xed\xa0\x80\xf0\x9f".to_vec());
        assert_eq!(source.text(), "ab??c?? ?????");
        let spans: Vec<_> = source.encoding_faults().iter().map(|fault| fault.span()).collect();
        assert_eq!(spans, [Span::new(2, 4), Span::new(5, 7), Span::new(8, 13)]);
        for (start, end, damaged) in
            [(0, 1, false), (0, 2, true), (4, 5, true), (7, 7, true), (13, 13, true)]
        {
            assert_eq!(source.is_damaged(Span::new(start, end)), damaged, "{start}..{end}");
        }
    }

    #[test]
    fn wide_encodings_are_one_fault() {
        let wide = |text: &str, name: &str| -> Vec<u8> {
            let utf16 = text.encode_utf16();
            let utf32 = text.chars().map(u32::from);
            match name {
                "UTF-16LE" => utf16.flat_map(u16::to_le_bytes).collect(),
                "UTF-16BE" => utf16.flat_map(u16::to_be_bytes).collect(),
                "UTF-32LE" => utf32.flat_map(u32::to_le_bytes).collect(),
                _ => utf32.flat_map(u32::to_be_bytes).collect(),
            }
        };
        for name in ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"] {
            let width = if name.starts_with("UTF-32") { 4 } else { 2 };
            for text in ["{\n  \"µ\": 1}", "[]", "1", "\r\n{\"字\": \"\u{1f40d}\"}"] {
                for mark in ["", "\u{feff}"] {
                    let source = Source::new("a", wide(&format!("{mark}{text}"), name));
                    assert!(!source.is_text());
                    let is_marked = !mark.is_empty();
                    let fault = EncodingFault::Wide(Span::new(0, width), Wide { name, is_marked });
                    assert_eq!(source.encoding_faults(), [fault], "{name} {text:?}");
                }
            }
        }
        for text in ["", "{", "{}", "{\0}}", "\0", "\0\0", "\0\0\0\0", "1\0\x002", "{\0\0"] {
            assert!(source(text).is_text(), "{text:?}");
        }
    }

    #[test]
    fn sources_are_numbered_by_path() {
        let named = |path: &str| Source::new(path, Vec::new());
        let sources = Sources::new(vec![named("b"), named("a/z"), named("a-b"), named("a/b")]);
        let paths: Vec<_> = sources.iter().map(|(_, source)| source.path()).collect();
        assert_eq!(paths, ["a/b", "a/z", "a-b", "b"]);
        let seen = |path: &str, place: &str| named(path).with_place(place);
        let from_a = Sources::new(vec![seen("../b/x", "/r/b/x"), seen("y", "/r/a/y")]);
        let paths: Vec<_> = from_a.iter().map(|(_, source)| source.path()).collect();
        assert_eq!(paths, ["y", "../b/x"]);
    }
}
