//! The parser: one loop over the text, an explicit stack, and a way on from every mistake.
//!
//! The fast path reads what is right; the functions behind [`Parser::rest_slow`],
//! [`Parser::bad_value`] and [`Parser::bad_name`] guess what was meant by what is not: from a line of
//! context, and where a bracket is too many or too few, by how far the rest of the text fits each
//! guess ([`Parser::foresee`]). What may be looked at ahead is bounded by a multiple of the text, so
//! that the whole stays linear. What a guess may have lost marks its container as incomplete
//! ([`Parser::lose`]). Where that leaves several errors, or a bracket that may be missing elsewhere,
//! `slip` takes a second look.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use super::error::SyntaxErrorKind as Kind;
use super::string::{is_other_quote, odd_space};
use super::{
    Document, Escape, MAX_DEPTH, MAX_ERRORS, MAX_INT_DIGITS, Node, PLAIN, Repeat, Spelling,
    SyntaxError, Tag,
};
use crate::span::Span;

/// Objects up to this size are searched for repeated names pair by pair.
const FEW_MEMBERS: u32 = 12;

/// The most closing brackets that one bracket of another kind can show to be missing.
const MAX_MISSING: usize = 32;

/// How many times the length of the text may be looked at ahead to judge guesses.
const FORESIGHT: usize = 16;

/// What is to be read next.
#[derive(Clone, Copy)]
enum Expect {
    /// The document's value, or the value behind a colon.
    Value,
    /// An element, behind the comma at this offset or at the start of its array.
    Element(Option<usize>),
    /// A member's name, likewise.
    Name(Option<usize>),
    /// What follows a value.
    Rest,
    Done,
}

/// How far a conflict that a merge left has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conflict {
    None,
    /// Behind its first marker.
    Ours,
    /// One had no end, so that none is looked for again.
    Endless,
}

/// A container that is being read.
pub(super) struct Open {
    node: u32,
    pub(super) is_object: bool,
    count: u32,
    lost: bool,
}

pub(super) struct Parser<'s> {
    pub(super) text: &'s str,
    pub(super) bytes: &'s [u8],
    pub(super) at: usize,
    pub(super) nodes: Vec<Node>,
    pub(super) spellings: Vec<Spelling>,
    pub(super) decoded: String,
    pub(super) escapes: Vec<Escape>,
    repeats: Vec<Repeat>,
    pub(super) stack: Vec<Open>,
    /// Where the last token ends.
    last_end: usize,
    /// An error has said already that the text ends too early.
    pub(super) truncated: bool,
    /// Containers below this depth may have lost their closing bracket to an unclosed string.
    forgiven: usize,
    /// How many bytes may still be looked at in vain for the end of a badly quoted string; as many
    /// as the text has, so that guessing stays linear.
    pub(super) guesses: usize,
    /// How many bytes may still be looked at ahead to judge guesses by what follows them.
    foresight: usize,
    /// The text around the document is known to be none of it: a code fence, or a statement.
    is_wrapped: bool,
    /// Where the last comment begins that may hold structure, or the last conflict marker.
    hidden: usize,
    /// What is known of the conflict that a merge left here.
    conflict: Conflict,
    /// Where parentheses close that stand for the brackets of arrays, the innermost last.
    parentheses: Vec<usize>,
    pub(super) errors: Vec<SyntaxError>,
    /// How many errors there were beyond [`MAX_ERRORS`].
    pub(super) more_errors: usize,
    /// So many errors are worth reading on.
    most_errors: usize,
}

/// A character that can stand in a name or word without quotes.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.' | b'+') || byte >= 0x80
}

/// How many bytes the word at the start of `bytes` has.
fn word_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at)
        && is_word(byte)
        && (byte < 0x80 || odd_space(bytes, at) == 0)
    {
        at += 1;
    }
    at
}

/// The name of the white space at the start of `text` that JSON does not have.
pub(super) fn odd_space_name(text: &str) -> Option<String> {
    let code = u32::from(text.chars().next()?);
    let is_odd = odd_space(text.as_bytes(), 0) > 0;
    is_odd.then(|| format!("U+{code:04X} {}", space_name(code)))
}

/// What Unicode calls the white space that JSON does not have.
fn space_name(code: u32) -> &'static str {
    match code {
        0x0b => "LINE TABULATION",
        0x0c => "FORM FEED",
        0x85 => "NEXT LINE",
        0xa0 => "NO-BREAK SPACE",
        0x1680 => "OGHAM SPACE MARK",
        0x2000 => "EN QUAD",
        0x2001 => "EM QUAD",
        0x2002 => "EN SPACE",
        0x2003 => "EM SPACE",
        0x2004 => "THREE-PER-EM SPACE",
        0x2005 => "FOUR-PER-EM SPACE",
        0x2006 => "SIX-PER-EM SPACE",
        0x2007 => "FIGURE SPACE",
        0x2008 => "PUNCTUATION SPACE",
        0x2009 => "THIN SPACE",
        0x200a => "HAIR SPACE",
        0x200b => "ZERO WIDTH SPACE",
        0x2028 => "LINE SEPARATOR",
        0x2029 => "PARAGRAPH SEPARATOR",
        0x202f => "NARROW NO-BREAK SPACE",
        0x205f => "MEDIUM MATHEMATICAL SPACE",
        0x3000 => "IDEOGRAPHIC SPACE",
        _ => "ZERO WIDTH NO-BREAK SPACE",
    }
}

/// The part of a quoted text that a message shows: nothing behind the end of its first line.
fn short(text: &str) -> &str {
    const LONGEST: usize = 40;
    let line = text.split(['\n', '\r']).next().unwrap_or_default().trim_end();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

impl<'s> Parser<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            text,
            bytes: text.as_bytes(),
            at: start,
            // Real registers have a node for every 25 to 40 bytes.
            nodes: Vec::with_capacity((text.len() / 24).min(1 << 16)),
            spellings: Vec::new(),
            decoded: String::new(),
            escapes: Vec::new(),
            repeats: Vec::new(),
            stack: Vec::new(),
            last_end: start,
            truncated: false,
            forgiven: 0,
            guesses: text.len(),
            foresight: text.len().saturating_mul(FORESIGHT),
            is_wrapped: false,
            hidden: usize::MAX,
            conflict: Conflict::None,
            parentheses: Vec::new(),
            errors: Vec::new(),
            more_errors: 0,
            most_errors: usize::MAX,
        }
    }

    /// Reads the text. With how many bytes were read for it, those that were looked at ahead included.
    pub(super) fn run(mut self) -> (Document<'s>, usize) {
        let mut expect = Expect::Value;
        loop {
            expect = match expect {
                Expect::Rest => self.rest(),
                Expect::Name(comma) => self.name(comma),
                Expect::Value => self.value(),
                Expect::Element(comma) => self.element(comma),
                Expect::Done => break,
            };
        }
        let ahead = self.budget().saturating_sub(self.guesses.saturating_add(self.foresight));
        let cost = self.at.saturating_add(ahead);
        (self.finish(), cost)
    }

    /// Reads as [`run`](Self::run) does, but gives up, with `None`, before a container opens once there
    /// are more than `most` errors.
    pub(super) fn run_within(mut self, most: usize) -> (Option<Document<'s>>, usize) {
        self.most_errors = most;
        let (read, cost) = self.run();
        (Some(read).filter(|read| read.errors.len() <= most), cost)
    }

    /// How many bytes may be looked at ahead, for every purpose.
    fn budget(&self) -> usize {
        self.bytes.len().saturating_mul(1 + FORESIGHT)
    }

    fn finish(mut self) -> Document<'s> {
        self.errors.sort_by_key(|error| error.span.start);
        if self.more_errors > 0 {
            let message = match self.more_errors {
                1 => "one more syntax error is not shown".to_owned(),
                more => format!("{more} more syntax errors are not shown"),
            };
            if let Some(last) = self.errors.last_mut() {
                last.facts.push(message);
            }
        }
        self.repeats.sort_unstable_by_key(|repeat| repeat.later);
        // An object that was opened again was searched twice.
        self.repeats.dedup_by_key(|repeat| repeat.later);
        Document {
            text: self.text,
            nodes: self.nodes,
            spellings: self.spellings,
            decoded: self.decoded,
            escapes: self.escapes,
            repeats: self.repeats,
            errors: self.errors,
        }
    }

    // Errors.

    /// Adds an error, unless there are enough.
    pub(super) fn report(
        &mut self,
        span: Span,
        kind: Kind,
        message: impl Display,
    ) -> Option<&mut SyntaxError> {
        if self.errors.len() >= MAX_ERRORS {
            self.more_errors += 1;
            return None;
        }
        let message = message.to_string();
        let (related, repair, facts) = (None, None, Vec::new());
        self.errors.push(SyntaxError { span, kind, message, related, repair, facts });
        self.errors.last_mut()
    }

    /// How many errors there were so far, those that are not kept too.
    pub(super) fn error_count(&self) -> usize {
        self.errors.len() + self.more_errors
    }

    /// Marks the innermost container: something of it may be missing.
    pub(super) fn lose(&mut self) {
        if let Some(open) = self.stack.last_mut() {
            open.lost = true;
        }
    }

    /// An unclosed string may have swallowed closing brackets: their absence is no error of its own.
    pub(super) fn forgive(&mut self) {
        self.forgiven = self.stack.len();
    }

    // Tokens.

    /// The next byte that is no white space and no comment, not consumed.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at).copied() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(b'/' | b'#' | 0x0b | 0x0c | 0x80..) => {
                    if !self.odd_space() {
                        return self.bytes.get(self.at).copied();
                    }
                }
                other => return other,
            }
        }
    }

    /// Passes over a comment or over white space that JSON does not have; false if there is none.
    #[cold]
    fn odd_space(&mut self) -> bool {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with('#') || rest.starts_with("//") {
            let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
            self.at = end;
            let span = Span::new(start, start + rest[..end - start].trim_end().len());
            self.comment(span);
            return true;
        }
        if let Some(inner) = rest.strip_prefix("/*") {
            if let Some(len) = inner.find("*/") {
                self.at = start + len + 4;
                self.comment(Span::new(start, self.at));
            } else {
                self.at = self.bytes.len();
                self.truncated = true;
                self.lose();
                let span = Span::new(start, start + 2);
                self.report(span, Kind::Comment, "this comment is not closed, and JSON has none");
            }
            return true;
        }
        // What stands for an opening quotation mark.
        if self.name_behind(start).is_some() {
            return false;
        }
        let mut end = start;
        loop {
            match odd_space(self.bytes, end) {
                0 => break,
                len => end += len,
            }
        }
        if end == start {
            return false;
        }
        self.at = end;
        let span = Span::new(start, self.at);
        let name = odd_space_name(rest).unwrap_or_default();
        let message = format_args!("{name} is no white space of JSON");
        self.report(span, Kind::Space, message)
            .map(|it| it.replace("replace it by a space", span, " ", true));
        true
    }

    /// Passes over a line that a merge left; false if there is none.
    #[cold]
    fn pass_conflict_marker(&mut self) -> bool {
        let Some(mut span) = self.conflict_marker(self.at) else { return false };
        let message = "a merge conflict marker";
        self.report(span, Kind::Conflict, message);
        self.lose();
        self.guess_brackets();
        self.hidden = self.at;
        match self.bytes[self.at] {
            b'<' if self.conflict == Conflict::None => self.conflict = Conflict::Ours,
            // What one side made of it is read; what the other did is not there as well.
            b'|' | b'=' if self.conflict == Conflict::Ours => {
                match self.markers_ahead(span.range().end) {
                    Some(markers) => {
                        self.conflict = Conflict::None;
                        for marker in markers {
                            self.report(marker, Kind::Conflict, message);
                            span = marker;
                        }
                    }
                    None => self.conflict = Conflict::Endless,
                }
            }
            _ => {}
        }
        self.at = span.end as usize;
        true
    }

    /// The markers of a conflict from `at` up to the one that ends it; `None` if none does.
    fn markers_ahead(&self, mut at: usize) -> Option<Vec<Span>> {
        /// More belong to more than one conflict.
        const MOST: usize = 2;
        let mut markers = Vec::new();
        while markers.len() < MOST {
            at += memchr::memchr2(b'\n', b'\r', self.bytes.get(at..)?)? + 1;
            if let Some(marker) = self.conflict_marker(at) {
                markers.push(marker);
                match self.bytes[at] {
                    b'>' => return Some(markers),
                    b'=' => {}
                    _ => return None,
                }
            }
        }
        None
    }

    /// The line of a merge conflict that begins at `at`: `<<<<<<< HEAD`, `=======`.
    fn conflict_marker(&self, at: usize) -> Option<Span> {
        let rest = self.text.get(at..)?;
        let mark = rest.chars().next().filter(|mark| "<=>|".contains(*mark))?;
        let is_first = self.text[..at].ends_with(['\n', '\r', '\u{feff}']) || at == 0;
        if !is_first {
            return None;
        }
        let behind = rest.trim_start_matches(mark);
        let is_marker = rest.len() - behind.len() == 7;
        if !is_marker || !(behind.is_empty() || behind.starts_with([' ', '\n', '\r'])) {
            return None;
        }
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        Some(Span::new(at, at + line.trim_end().len()))
    }

    fn comment(&mut self, span: Span) {
        // What a comment hides is no mistake of its own.
        if self.text[span.range()].contains(['"', ',', '{', '}', '[', ']', ':']) {
            self.hidden = span.start as usize;
            self.lose();
            if self.text[span.end as usize..].trim_start().is_empty() && !self.stack.is_empty() {
                self.truncated = true;
            }
        }
        self.report(span, Kind::Comment, "a comment in JSON")
            .map(|it| it.replace("delete the comment", span, "", false));
    }

    /// Whether between the last token and this place something was hidden from the parser.
    fn is_hidden(&self) -> bool {
        self.hidden >= self.last_end && self.hidden < self.at
    }

    /// The character at `at`.
    fn char(&self) -> char {
        self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or('\u{fffd}')
    }

    /// The first byte from `at` that is no white space.
    pub(super) fn byte_behind(&self, at: usize) -> Option<u8> {
        let rest = self.bytes.get(at..)?;
        rest.iter().copied().find(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
    }

    /// The end of the string that the `"` at `at` opens, or of its line.
    pub(super) fn string_end(&self, at: usize) -> usize {
        let mut at = at + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'"' => return at + 1,
                b'\n' | b'\r' => return at,
                b'\\' if !matches!(self.bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// The end of the brackets that open at `at`, whatever is in them; `None` if there is none.
    fn balanced_end(&self, mut at: usize) -> Option<usize> {
        let mut depth = 0usize;
        loop {
            match self.bytes.get(at)? {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                b'"' => {
                    at = self.string_end(at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The end of the brackets that open at `at`, if they match each other and what follows them can
    /// follow a value of the innermost container.
    fn fitting_end(&mut self, at: usize) -> Option<usize> {
        let end = self.matching_end(at)?;
        let is_object = self.stack.last().map(|open| open.is_object);
        let fits = match (is_object, self.byte_behind(end)) {
            (None, follows) => follows.is_none(),
            (Some(is_object), Some(b',')) => self.comma_fits_well(end, is_object),
            (Some(is_object), Some(b'}')) => is_object,
            (Some(is_object), Some(b']')) => !is_object,
            (Some(_), follows) => follows == Some(b'"'),
        };
        fits.then_some(end)
    }

    /// The end of the brackets that open at `at`, if they match each other. A search in vain is
    /// charged to `guesses`.
    fn matching_end(&mut self, at: usize) -> Option<usize> {
        let mut open = Vec::new();
        let end = self.closer_ahead(at, &mut open)?;
        open.is_empty().then_some(end + 1)
    }

    /// The first closing bracket ahead of `at` that closes what was open at `at`, or the bracket
    /// that opens there, or does not match. What is open at it is left in `open`. A search is
    /// charged to `guesses`.
    fn closer_ahead(&mut self, start: usize, open: &mut Vec<u8>) -> Option<usize> {
        let mut at = start;
        let limit = start.saturating_add(self.guesses);
        let found = loop {
            let Some(&byte) = self.bytes.get(at).filter(|_| at < limit) else { break None };
            match byte {
                b'{' => open.push(b'}'),
                b'[' => open.push(b']'),
                b'}' | b']' => {
                    if open.last() != Some(&byte) {
                        break Some(at);
                    }
                    open.pop();
                    if open.is_empty() && matches!(self.bytes.get(start), Some(b'{' | b'[')) {
                        break Some(at);
                    }
                }
                b'"' => {
                    at = self.string_end(at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        };
        self.guesses = self.guesses.saturating_sub(at - start);
        found
    }

    /// Whether the string at `at` is a member's name.
    pub(super) fn opens_member(&self, at: usize) -> bool {
        self.byte_behind(self.string_end(at)) == Some(b':')
    }

    /// Whether the comma at `at` is followed by what follows one in an object, or in an array; a
    /// line's end is good enough.
    pub(super) fn comma_fits_well(&self, at: usize, in_object: bool) -> bool {
        let rest = self.bytes.get(at + 1..).unwrap_or_default();
        let skipped = rest.iter().take_while(|byte| b" \t".contains(byte)).count();
        match rest.get(skipped) {
            Some(b'"') => self.opens_member(at + 1 + skipped) == in_object,
            Some(b'{' | b'[' | b'-' | b'0'..=b'9') => !in_object,
            Some(b'\n' | b'\r') | None => true,
            Some(_) => false,
        }
    }

    /// Likewise, with the line's end passed over.
    fn comma_fits_well_below(&self, at: usize, in_object: bool) -> bool {
        self.comma_fits_well(at, in_object) && self.comma_fits(at, in_object)
    }

    /// Whether the closing bracket at `at` is followed by what can follow one.
    pub(super) fn closer_fits_well(&self, at: usize) -> bool {
        let rest = self.bytes.get(at + 1..).unwrap_or_default();
        let next = rest.iter().find(|byte| !b" \t".contains(byte));
        matches!(next, None | Some(b',' | b'}' | b']' | b'\n' | b'\r'))
    }

    /// Passes over what fits nowhere, up to a separator, a closing bracket or the line's end;
    /// at least one character. Gives what was passed, without spaces behind it.
    fn junk(&mut self) -> Span {
        let start = self.at;
        let in_object = self.stack.last().is_some_and(|open| open.is_object);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' if self.at > start && in_object && self.opens_member(self.at) => break,
                b'"' => self.at = self.string_end(self.at),
                b'{' | b'[' if self.guesses == 0 => {
                    let end = self.balanced_end(self.at);
                    self.truncated |= end.is_none();
                    self.at = end.unwrap_or(self.bytes.len());
                }
                // One without a partner is astray itself.
                b'{' | b'[' => self.at = self.fitting_end(self.at).unwrap_or(self.at + 1),
                b',' | b'}' | b']' | b'\n' | b'\r' if self.at > start => break,
                _ => self.at += 1,
            }
        }
        let text = &self.text[start..self.at];
        let end = start + text.trim_end().len();
        self.last_end = end;
        Span::new(start, end)
    }

    // Nodes.

    fn leaf(&mut self, tag: Tag, span: Span) -> Expect {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { span, next, extra: 0, tag, flag: false, guessed: false });
        self.last_end = span.end as usize;
        Expect::Rest
    }

    /// Counts the value or member that begins now.
    #[inline]
    fn count(&mut self) {
        if let Some(open) = self.stack.last_mut() {
            open.count += 1;
        }
    }

    fn open(&mut self, is_object: bool) -> Expect {
        let start = self.at;
        if self.errors.len() > self.most_errors {
            return Expect::Done;
        }
        if self.stack.len() >= MAX_DEPTH {
            let message = format_args!(
                "nested deeper than the {MAX_DEPTH} levels that reglint reads; this is passed over"
            );
            self.report(Span::new(start, start + 1), Kind::TooDeep, message);
            self.at = self.balanced_end(start).unwrap_or_else(|| {
                self.truncated = true;
                self.bytes.len()
            });
            return self.leaf(Tag::Invalid, Span::new(start, self.at));
        }
        let node = self.nodes.len() as u32;
        let tag = if is_object { Tag::Object } else { Tag::Array };
        let span = Span::new(start, start + 1);
        self.nodes.push(Node { span, next: node + 1, extra: 0, tag, flag: false, guessed: false });
        self.stack.push(Open { node, is_object, count: 0, lost: false });
        self.at += 1;
        self.last_end = self.at;
        if is_object { Expect::Name(None) } else { Expect::Element(None) }
    }

    /// Closes the innermost container, which ends before `end`.
    fn close(&mut self, end: usize) -> Expect {
        let Some(open) = self.stack.pop() else { return Expect::Rest };
        let lost = open.lost || self.forgiven > self.stack.len();
        self.forgiven = self.forgiven.min(self.stack.len());
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(open.node as usize) {
            node.span.end = end as u32;
            node.next = next;
            node.extra = open.count;
            node.flag = lost;
        }
        if open.is_object && open.count > 1 {
            self.find_repeats(open.node, open.count);
        }
        self.last_end = end;
        Expect::Rest
    }

    /// Finds names that the object gives more than once, and marks all but the last of each.
    fn find_repeats(&mut self, object: u32, count: u32) {
        let end = self.nodes.len() as u32;
        if count > FEW_MEMBERS {
            return self.find_repeats_among_many(object, end);
        }
        let mut names = [0u32; FEW_MEMBERS as usize];
        let mut len = 0;
        let mut at = object + 1;
        while at + 1 < end && len < names.len() {
            // Names differ in length far more often than not, and that needs no look at the text.
            for &first in &names[..len] {
                if self.same_name(first, at) {
                    self.repeats.push(Repeat { object, first, later: at });
                    // The first stays in its slot as what later ones are compared with.
                    self.shadow(first, at);
                    break;
                }
            }
            names[len] = at;
            len += 1;
            at = self.nodes[at as usize + 1].next;
        }
    }

    /// Marks `first` and every repetition of it before `last`.
    fn shadow(&mut self, first: u32, last: u32) {
        self.nodes[first as usize].flag = true;
        for repeat in self.repeats.iter().rev().take(FEW_MEMBERS as usize) {
            if repeat.first == first && repeat.later < last {
                self.nodes[repeat.later as usize].flag = true;
            }
        }
    }

    fn find_repeats_among_many(&mut self, object: u32, end: u32) {
        let mut found = Vec::new();
        {
            let mut seen: HashMap<_, (u32, u32)> = HashMap::new();
            let mut at = object + 1;
            while at + 1 < end {
                let key = (self.name_value(at), self.name_surrogates(at));
                let (first, last) = *seen.entry(key).and_modify(|it| it.1 = at).or_insert((at, at));
                if first != last {
                    found.push(Repeat { object, first, later: at });
                }
                at = self.nodes[at as usize + 1].next;
            }
        }
        // Of each name all but the last: walking back, the last one comes first.
        let mut lasts = HashSet::new();
        for repeat in found.iter().rev() {
            self.nodes[repeat.first as usize].flag = true;
            if !lasts.insert(repeat.first) {
                self.nodes[repeat.later as usize].flag = true;
            }
        }
        self.repeats.append(&mut found);
    }

    fn name_value(&self, name: u32) -> &str {
        let node = self.nodes[name as usize];
        match self.spellings.get(node.extra as usize) {
            None => &self.text[node.span.start as usize + 1..node.span.end as usize - 1],
            Some(it) => &self.decoded[it.value.start as usize..it.value.end as usize],
        }
    }

    fn name_surrogates(&self, name: u32) -> Vec<(u32, u16)> {
        let node = self.nodes[name as usize];
        let Some(it) = self.spellings.get(node.extra as usize) else { return Vec::new() };
        super::surrogates(&self.escapes[it.escapes.start as usize..it.escapes.end as usize])
            .collect()
    }

    fn same_name(&self, a: u32, b: u32) -> bool {
        let plain = |id: u32| self.nodes[id as usize].extra == PLAIN;
        self.name_value(a) == self.name_value(b)
            && (plain(a) && plain(b) || self.name_surrogates(a) == self.name_surrogates(b))
    }

    // What is expected.

    #[inline]
    fn rest(&mut self) -> Expect {
        let Some(open) = self.stack.last() else { return self.after_document() };
        let is_object = open.is_object;
        match self.peek() {
            Some(b',') => self.comma(is_object),
            Some(b'}') if is_object => {
                self.at += 1;
                self.close(self.at)
            }
            Some(b']') if !is_object => {
                self.at += 1;
                self.close(self.at)
            }
            Some(byte) => self.rest_slow(byte, is_object),
            None => self.end_of_text(Expect::Rest),
        }
    }

    fn comma(&mut self, is_object: bool) -> Expect {
        let comma = Some(self.at);
        self.at += 1;
        self.last_end = self.at;
        if is_object { Expect::Name(comma) } else { Expect::Element(comma) }
    }

    #[inline]
    fn name(&mut self, comma: Option<usize>) -> Expect {
        match self.peek() {
            Some(b'"') => {
                self.string(true);
                self.behind_name()
            }
            Some(b'}') => {
                if let Some(comma) = comma {
                    self.trailing_comma(Span::new(comma, comma + 1));
                }
                self.at += 1;
                self.close(self.at)
            }
            Some(byte) => self.bad_name(byte, comma),
            None => self.end_of_text(Expect::Name(comma)),
        }
    }

    /// Behind what stood before a colon.
    fn behind_name_again(&mut self) -> Expect {
        if self.peek() == Some(b':') {
            self.at += 1;
            self.last_end = self.at;
        }
        Expect::Value
    }

    /// Behind a name, whose node is the last one.
    #[inline]
    fn behind_name(&mut self) -> Expect {
        self.count();
        self.last_end = self.at;
        if self.peek() == Some(b':') {
            self.at += 1;
            self.last_end = self.at;
            return Expect::Value;
        }
        self.missing_colon()
    }

    #[inline]
    fn element(&mut self, comma: Option<usize>) -> Expect {
        match self.peek() {
            Some(b']') => {
                if let Some(comma) = comma {
                    self.trailing_comma(Span::new(comma, comma + 1));
                }
                self.at += 1;
                self.close(self.at)
            }
            Some(b',') => self.extra_comma(comma),
            Some(b'}') => self.wrong_closer(b'}', comma),
            None => self.end_of_text(Expect::Element(comma)),
            Some(byte) => {
                self.count();
                self.value_at(byte)
            }
        }
    }

    #[inline]
    fn value(&mut self) -> Expect {
        match self.peek() {
            Some(byte) => self.value_at(byte),
            None => self.end_of_text(Expect::Value),
        }
    }

    #[inline]
    fn value_at(&mut self, byte: u8) -> Expect {
        match byte {
            b'"' => {
                self.string(false);
                self.last_end = self.at;
                Expect::Rest
            }
            b'{' => self.open(true),
            b'[' => self.open(false),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal("true", Tag::True),
            b'f' => self.literal("false", Tag::False),
            b'n' => self.literal("null", Tag::Null),
            _ => self.bad_value(byte),
        }
    }

    fn literal(&mut self, word: &str, tag: Tag) -> Expect {
        let end = self.at + word.len();
        if self.bytes[self.at..].starts_with(word.as_bytes()) && word_len(&self.bytes[end..]) == 0 {
            let span = Span::new(self.at, end);
            self.at = end;
            return self.leaf(tag, span);
        }
        self.word()
    }

    fn number(&mut self) -> Expect {
        let start = self.at;
        let Some((end, integer_digits)) = number_end(self.bytes, start) else {
            return self.bad_number();
        };
        if self.bytes.get(end).is_some_and(|&byte| is_word(byte))
            && word_len(&self.bytes[end..]) > 0
        {
            return self.bad_number();
        }
        self.at = end;
        let span = Span::new(start, end);
        if integer_digits > MAX_INT_DIGITS {
            let message =
                format_args!("a whole number of {integer_digits} digits, which Python refuses");
            self.report(span, Kind::LongNumber, message);
            return self.leaf(Tag::Invalid, span);
        }
        self.leaf(Tag::Number, span)
    }

    // The end.

    /// Behind the document's value there may be only white space.
    fn after_document(&mut self) -> Expect {
        if let Some(byte) = self.peek() {
            let start = self.at;
            if self.pass_conflict_marker() {
                return Expect::Rest;
            }
            if let Some(expect) = self.document_goes_on(byte) {
                return expect;
            }
            let rest = &self.text[start..];
            if self.is_wrapped
                && (rest.starts_with("```") || matches!(rest.trim_end(), ";" | ")" | ");"))
            {
                return Expect::Done;
            }
            let line = rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())].trim_end();
            let (span, message) = match byte {
                b'{' | b'[' => {
                    (Span::new(start, start + 1), "a second value behind the end of the document")
                }
                b'}' | b']' => (Span::new(start, start + 1), "this bracket closes nothing"),
                b',' => (Span::new(start, start + 1), "a comma behind the end of the document"),
                _ => (Span::new(start, start + line.len()), "text behind the end of the document"),
            };
            let last = rest.trim_end().len() == span.len();
            if let Some(error) = self.report(span, Kind::AfterDocument, message)
                && last
                && matches!(byte, b'}' | b']' | b',')
            {
                error.replace("delete it", span, "", false);
            }
        }
        Expect::Done
    }

    /// Goes on with the document's value, if it was closed too early or never opened.
    #[cold]
    fn document_goes_on(&mut self, byte: u8) -> Option<Expect> {
        if self.errors.len() >= MAX_ERRORS {
            return None;
        }
        let root = *self.nodes.first()?;
        let is_object = match root.tag {
            Tag::Object => true,
            Tag::Array => false,
            Tag::String if byte == b':' => {
                if self.foresee(self.at, &[true], b'1') != usize::MAX {
                    return None;
                }
                self.open_before(0, true);
                return Some(self.behind_name_again());
            }
            _ => return None,
        };
        if byte != b',' && !(is_object && byte == b'"') {
            return None;
        }
        let last = if byte == b',' { b'1' } else { b',' };
        if self.foresee(self.at, &[is_object], last) != usize::MAX {
            return None;
        }
        self.reopen(0);
        Some(if byte == b',' { Expect::Rest } else { Expect::Name(None) })
    }

    /// The text ends within the document, where `expected` should stand.
    fn end_of_text(&mut self, expected: Expect) -> Expect {
        if self.nodes.is_empty() {
            if self.errors.is_empty() {
                let blank = self.text.trim_start_matches('\u{feff}');
                let message = if blank.is_empty() {
                    "the file is empty"
                } else {
                    "the file has nothing but white space"
                };
                self.report(Span::empty(self.last_end), Kind::Empty, message);
            }
            return Expect::Done;
        }
        let end = self.last_end;
        let forgiven = self.forgiven >= self.stack.len();
        let is_cut = self.nodes.last().is_some_and(|it| it.tag == Tag::Invalid);
        if let Some(open) = self.stack.last()
            && !self.truncated
            && !forgiven
        {
            let opener = self.nodes[open.node as usize].span;
            let opener = Span { start: opener.start, end: opener.start + 1 };
            let what = if open.is_object { "object" } else { "array" };
            let closers: String = self
                .stack
                .iter()
                .rev()
                .map(|open| if open.is_object { '}' } else { ']' })
                .collect();
            let one = closers.len() == 1 && self.errors.is_empty();
            let message =
                format!("the file ends before this {what} does: `{}` is missing", short(&closers));
            if let Some(error) = self.report(Span::empty(end), Kind::Unclosed, message) {
                error.relate(opener, "opened here");
                if matches!(expected, Expect::Rest) && !is_cut {
                    error.replace("close it", Span::empty(end), closers, one);
                }
            }
        }
        // A name is always followed by a value.
        if matches!(expected, Expect::Value) {
            self.leaf(Tag::Invalid, Span::empty(end));
        }
        while !self.stack.is_empty() {
            self.lose();
            self.close(end);
        }
        Expect::Done
    }

    // Commas.

    #[cold]
    fn trailing_comma(&mut self, span: Span) {
        if self.is_hidden() {
            // Without the comment, the comma before it is too many.
            if let Some(last) = self.errors.last_mut()
                && last.kind == Kind::Comment
                && span.end <= last.span.start
                && let Some(repair) = &mut last.repair
            {
                repair.message = "delete the comment, and the comma before it";
                match repair.edits.first_mut().filter(|(first, _)| first.start == span.end) {
                    Some((first, _)) => first.start = span.start,
                    None => repair.edits.insert(0, (span, String::new())),
                }
            }
            return self.lose();
        }
        self.report(span, Kind::TrailingComma, "a comma behind the last one")
            .map(|it| it.replace("delete the comma", span, "", true));
    }

    /// A comma where a name or an element should stand, behind another comma or an opening bracket.
    fn extra_comma(&mut self, before: Option<usize>) -> Expect {
        let first = self.at;
        let mut end = first + 1;
        let mut at = end;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b',' => end = at + 1,
                b' ' | b'\n' | b'\r' | b'\t' => {}
                _ => break,
            }
            at += 1;
        }
        self.at = end;
        self.last_end = end;
        let is_object = self.stack.last().is_some_and(|open| open.is_object);
        let closes = self.bytes.get(at) == Some(if is_object { &b'}' } else { &b']' });
        let mut left = before;
        if let (Some(before), true) = (before, closes) {
            self.trailing_comma(Span::new(before, end));
            left = None;
        } else {
            let span = Span::new(first, end);
            self.report(span, Kind::ExtraComma, "a comma with nothing before it")
                .map(|it| it.replace("delete the comma", span, "", true));
        }
        if is_object { Expect::Name(left) } else { Expect::Element(left) }
    }

    // Something else than a separator behind a value.

    #[cold]
    #[expect(clippy::too_many_lines, reason = "one case after the other, the surer ones first")]
    fn rest_slow(&mut self, byte: u8, is_object: bool) -> Expect {
        if self.pass_conflict_marker() {
            return Expect::Rest;
        }
        let before = self.last_end;
        match byte {
            b')' if !is_object && self.parentheses.last() == Some(&self.at) => {
                self.parentheses.pop();
                self.at += 1;
                return self.close(self.at);
            }
            b'}' | b']' => return self.wrong_closer(byte, None),
            b';' if !matches!(self.byte_behind(self.at + 1), Some(b',' | b'}' | b']')) => {
                let span = Span::new(self.at, self.at + 1);
                self.report(span, Kind::WrongSeparator, "a `;` instead of a comma")
                    .map(|it| it.replace("put a comma", span, ",", true));
                return self.comma(is_object);
            }
            _ if matches!(self.char(), '，' | '、') => {
                let mark = self.char();
                let span = Span::new(self.at, self.at + mark.len_utf8());
                let message = format_args!("a `{mark}` instead of a comma");
                self.report(span, Kind::WrongSeparator, message)
                    .map(|it| it.replace("put a comma", span, ",", false));
                self.at = span.range().end;
                self.last_end = self.at;
                return if is_object { Expect::Name(None) } else { Expect::Element(None) };
            }
            b':' if self.is_member_of_array() => return self.colon_in_array(),
            b':' if is_object && self.value_is_hidden() => return self.value_is_name(),
            b':' if is_object && self.errors.len() < MAX_ERRORS => {
                // `"frames": "claimed": [`
                if let Some(value) = self.nodes.len().checked_sub(1)
                    && self.nodes[value].tag == Tag::String
                    && self.nodes[value].span.end as usize == before
                {
                    let kinds = self.kinds_and(true);
                    if self.foresee(self.at, &kinds, b'1') == usize::MAX {
                        self.open_before(value as u32, true);
                        return self.behind_name_again();
                    }
                }
                return self.colon_behind_value(is_object);
            }
            b':' => return self.colon_behind_value(is_object),
            b'{' | b'[' if is_object && self.is_second_value() => return self.second_value(),
            b'"' if is_object && self.is_stray_string() => {
                let span = Span::new(self.at, self.string_end(self.at));
                self.at = span.end as usize;
                self.last_end = self.at;
                let message = format!("`{}` behind a value", short(&self.text[span.range()]));
                self.report(span, Kind::Unexpected, message)
                    .map(|it| it.replace("delete it", span, "", false));
                return Expect::Rest;
            }
            b'{' if is_object && self.is_stray_opener() => return self.stray_opener(),
            b'{' if is_object && self.parent_is(false) => {
                return self.missing_closer(before, "},", Expect::Element(None));
            }
            // A quotation mark that only closes.
            _ if self.is_stray_quote(byte, is_object) => {
                let span = Span::new(self.at, self.at + self.char().len_utf8());
                self.lose();
                self.at = span.end as usize;
                let next = self.behind_junk(is_object);
                // It stands for a comma where one is missing.
                let (words, new) = match next {
                    Expect::Rest => ("delete it", ""),
                    _ => ("put a comma", ","),
                };
                self.report(span, Kind::Unexpected, "this quotation mark closes nothing")
                    .map(|it| it.replace(words, span, new, false));
                return next;
            }
            b'"' if !is_object && self.opens_member(self.at) => {
                if let Some(expect) = self.member_in_array(self.at) {
                    return expect;
                }
                if self.parent_is(true) {
                    return self.missing_closer(before, "],", Expect::Name(None));
                }
            }
            _ => {}
        }
        let starts = if is_object { self.is_name_here(byte) } else { self.is_value_here(byte) };
        if starts {
            if !is_object && self.is_split_number(byte) {
                return self.split_number();
            }
            let is_apart = self.at > before || !is_word(byte);
            if self.is_hidden() {
                self.lose();
                return if is_object { Expect::Name(None) } else { Expect::Element(None) };
            }
            if is_object && byte == b'"' && self.is_next_object() {
                return self.missing_boundary(before);
            }
            let words = if is_object { "members" } else { "elements" };
            // Behind a token that is at fault itself, a comma may not be what is missing.
            let sound = self.errors.last().is_none_or(|it| (it.span.end as usize) < before)
                && !self.nodes.last().is_some_and(|it| it.tag == Tag::Invalid)
                && is_apart;
            if !self.comma_is_quoted() {
                let message = format_args!("no comma between two {words}");
                self.report(Span::empty(before), Kind::MissingComma, message)
                    .map(|it| it.replace("put a comma", Span::empty(before), ",", sound));
            }
            return if is_object { Expect::Name(None) } else { Expect::Element(None) };
        }
        self.lose();
        let mark = self.char();
        let depth = self.stack.len();
        let behind = self.at + mark.len_utf8();
        let kinds = self.kinds();
        if self.errors.len() < MAX_ERRORS
            && !mark.is_alphabetic()
            && self.foresee(behind, &kinds[..depth - 1], b'1') == usize::MAX
        {
            let span = Span::new(self.at, behind);
            let right = if is_object { "}" } else { "]" };
            let message = format_args!("`{mark}` instead of `{right}`");
            self.report(span, Kind::WrongCloser, message)
                .map(|it| it.replace("put the right bracket", span, right, false));
            self.guess_brackets();
            self.at = behind;
            return self.close(behind);
        }
        let span = self.junk();
        let message =
            format_args!("`{}` does not belong behind a value", short(&self.text[span.range()]));
        self.report(span, Kind::Unexpected, message);
        self.behind_junk(is_object)
    }

    /// Whether the name that stands here, in an object of a list, is one that the object has already: another
    /// object begins with it.
    fn is_next_object(&self) -> bool {
        let open = self.stack.last().map_or(0, |open| open.node);
        self.errors.len() < MAX_ERRORS
            && self.parent_is(false)
            && self.opens_member(self.at)
            && self.has_name(open, self.at)
    }

    /// Closes the object, at `before`, and opens the next one.
    fn missing_boundary(&mut self, before: usize) -> Expect {
        let next = self.at;
        let here = Span::new(before, next);
        let blank = &self.text[here.range()];
        let new = format!("}},{blank}{{");
        let message = "between these two objects `},` and `{` are missing";
        self.report(Span::empty(before), Kind::Unclosed, message)
            .map(|it| it.replace("put them", here, new, false));
        self.guess_brackets();
        self.lose();
        self.close(before);
        self.count();
        self.open_at(next, Tag::Object);
        Expect::Name(None)
    }

    /// Opens a container at `at` whose bracket is missing.
    fn open_at(&mut self, at: usize, tag: Tag) {
        let node = self.nodes.len() as u32;
        let (span, next, is_object) = (Span::empty(at), node + 1, tag == Tag::Object);
        self.nodes.push(Node { span, next, extra: 0, tag, flag: false, guessed: true });
        self.stack.push(Open { node, is_object, count: 0, lost: true });
    }

    /// Whether nothing but spaces stands before `at` in its line.
    fn starts_line(&self, at: usize) -> bool {
        self.text[..at].trim_end_matches([' ', '\t']).ends_with(['\n', '\r'])
    }

    /// Whether the container that opens here, behind a member's value, is rather the value, and all that
    /// follows it fits then.
    fn is_second_value(&mut self) -> bool {
        let is_leaf = self.nodes.last().is_some_and(|it| {
            !matches!(it.tag, Tag::Array | Tag::Object) && it.span.end as usize == self.last_end
        });
        if !is_leaf || self.errors.len() >= MAX_ERRORS {
            return false;
        }
        let kinds = self.kinds();
        self.foresee(self.at, &kinds, b':') == usize::MAX
    }

    /// Drops the value before the container that opens here.
    fn second_value(&mut self) -> Expect {
        let Some(first) = self.nodes.pop() else { return Expect::Value };
        let message =
            format!("`{}` before a member's value", short(&self.text[first.span.range()]));
        self.report(first.span, Kind::Unexpected, message)
            .map(|it| it.replace("delete it", first.span, "", false));
        Expect::Value
    }

    /// Whether the string that stands here, behind a value that is none, is neither a name nor half of one
    /// that was split, and all that follows it fits without it.
    fn is_stray_string(&mut self) -> bool {
        let end = self.string_end(self.at);
        if end < self.at + 2
            || self.bytes.get(end - 1) != Some(&b'"')
            || !matches!(self.byte_behind(end), Some(b',' | b'}'))
            || self.nodes.last().is_none_or(|it| matches!(it.tag, Tag::String | Tag::Invalid))
            || self.errors.len() >= MAX_ERRORS
        {
            return false;
        }
        let kinds = self.kinds();
        self.foresee(end, &kinds, b'1') == usize::MAX
    }

    /// What may follow text that was astray: it may have stood for a comma.
    fn behind_junk(&mut self, is_object: bool) -> Expect {
        match self.peek() {
            Some(byte) if is_object && self.is_name_here(byte) => Expect::Name(None),
            Some(byte) if !is_object && self.is_value_here(byte) => Expect::Element(None),
            _ => Expect::Rest,
        }
    }

    /// Whether a quotation mark stands here, behind a value, that closes nothing and opens nothing.
    fn is_stray_quote(&self, byte: u8, is_object: bool) -> bool {
        let mark = self.char();
        if byte != b'"' {
            return is_other_quote(mark) && self.is_closed(self.at + mark.len_utf8());
        }
        let end = self.string_end(self.at);
        let opens = if is_object {
            self.byte_behind(end) == Some(b':')
        } else {
            self.at != self.last_end && self.bytes.get(end - 1) == Some(&b'"') && end > self.at + 1
        };
        !opens && self.is_closed(self.at + 1)
    }

    /// Whether the digits that stand here and are no number go on with the number before them.
    fn is_split_number(&self, byte: u8) -> bool {
        byte.is_ascii_digit()
            && self.nodes.last().is_some_and(|node| {
                node.tag == Tag::Number && node.span.end as usize == self.last_end
            })
            && self.text[self.last_end..self.at].bytes().all(|byte| byte == b' ')
            && number_end(self.bytes, self.at).is_none()
    }

    /// Reads `1 000.0` as one number that is none.
    #[cold]
    fn split_number(&mut self) -> Expect {
        let rest = &self.bytes[self.at..];
        self.at += word_len(rest);
        let Some(node) = self.nodes.last_mut() else { return Expect::Rest };
        node.tag = Tag::Invalid;
        node.span.end = self.at as u32;
        let span = node.span;
        self.last_end = self.at;
        let message = format!("`{}` is no number of JSON", short(&self.text[span.range()]));
        self.report(span, Kind::BadNumber, message);
        Expect::Rest
    }

    /// The string before this colon, so far an element, is a member's name.
    fn colon_in_array(&mut self) -> Expect {
        let name = self.nodes.last().map_or(0, |node| node.span.start as usize);
        let popped = self.nodes.pop();
        if let Some(open) = self.stack.last_mut() {
            open.count -= 1;
        }
        let colon = self.at;
        if let Some(expect) = self.member_in_array(name) {
            return expect;
        }
        self.at = colon;
        self.nodes.extend(popped);
        self.count();
        if self.parent_is(true) {
            return self.unclosed_array();
        }
        self.colon_behind_value(false)
    }

    /// Whether a comment before the last value, a string with a colon behind it, hides what the
    /// member before has for a value.
    fn value_is_hidden(&self) -> bool {
        let [.., name, value] = self.nodes.as_slice() else { return false };
        let between = name.span.end as usize..value.span.start as usize;
        name.tag == Tag::String && value.tag == Tag::String && between.contains(&self.hidden)
    }

    /// Reads the last value as the next member's name.
    fn value_is_name(&mut self) -> Expect {
        self.lose();
        if let Some(value) = self.nodes.pop() {
            self.leaf(Tag::Invalid, Span::empty(value.span.start as usize));
            let id = self.nodes.len() as u32;
            self.nodes.push(Node { next: id + 1, ..value });
        }
        self.behind_name()
    }

    #[cold]
    fn colon_behind_value(&mut self, is_object: bool) -> Expect {
        let span = Span::new(self.at, self.at + 1);
        let message = if is_object {
            "a colon behind a value"
        } else {
            "a colon in an array; members with names stand in `{}`"
        };
        self.report(span, Kind::Unexpected, message);
        self.lose();
        self.at += 1;
        self.junk_value();
        self.behind_junk(is_object)
    }

    /// Whether the innermost container lies in an object, or in an array, as asked.
    fn parent_is(&self, object: bool) -> bool {
        let parent = self.stack.len().checked_sub(2).and_then(|index| self.stack.get(index));
        parent.is_some_and(|open| open.is_object == object)
    }

    /// Whether the colon that stands here makes the string before it, so far the last element of an
    /// array, a member's name of the object around the array.
    fn is_member_of_array(&self) -> bool {
        self.stack.last().is_some_and(|open| !open.is_object)
            && self.nodes.last().is_some_and(|node| {
                node.tag == Tag::String && node.span.end as usize == self.last_end
            })
    }

    /// Closes the array before its last element, and reads that as a member's name.
    fn unclosed_array(&mut self) -> Expect {
        let Some(name) = self.nodes.pop() else { return Expect::Rest };
        if let Some(open) = self.stack.last_mut() {
            open.count -= 1;
        }
        let before = self.text[..name.span.start as usize].trim_end();
        let before = before.strip_suffix(',').map_or(before.len(), |text| text.trim_end().len());
        let last = self.nodes.last().map_or(0, |node| node.span.end as usize);
        self.missing_closer(before.max(last), "]", Expect::Rest);
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { next: id + 1, ..name });
        self.last_end = name.span.end as usize;
        self.behind_name()
    }

    /// Whether a member's name stands here.
    fn is_name_here(&self, byte: u8) -> bool {
        if byte == b'"' || is_other_quote(self.char()) {
            return true;
        }
        let word = word_len(&self.bytes[self.at..]);
        word > 0 && matches!(self.byte_behind(self.at + word), Some(b':' | b'='))
    }

    /// Whether a value stands here that could be an element.
    fn is_value_here(&self, byte: u8) -> bool {
        match byte {
            b'"' | b'{' | b'[' | b'0'..=b'9' => true,
            b'-' => self.bytes.get(self.at + 1).is_some_and(|&byte| is_word(byte)),
            _ if is_other_quote(self.char()) => true,
            _ => {
                let rest = &self.bytes[self.at..];
                let word = word_len(rest);
                matches!(
                    &rest[..word],
                    b"true" | b"false" | b"null" | b"True" | b"False" | b"None" | b"NaN"
                )
            }
        }
    }

    /// The innermost container was to be closed at `at`.
    fn missing_closer(&mut self, at: usize, insert: &'static str, next: Expect) -> Expect {
        if self.forgiven < self.stack.len()
            && let Some(open) = self.stack.last()
        {
            let start = self.nodes[open.node as usize].span.start as usize;
            let message = if open.is_object {
                "this object is not closed: `}` is missing"
            } else {
                "this array is not closed: `]` is missing"
            };
            let span = Span::empty(at);
            if let Some(error) = self.report(span, Kind::Unclosed, message) {
                error.relate(Span::new(start, start + 1), "opened here");
                error.replace("close it", span, insert, false);
            }
        }
        self.lose();
        self.guess_brackets();
        self.close(at);
        next
    }

    /// Marks the innermost container: one of its brackets is a guess.
    fn guess_brackets(&mut self) {
        if let Some(node) = self.stack.last().and_then(|it| self.nodes.get_mut(it.node as usize)) {
            node.guessed = true;
        }
    }

    /// A closing bracket too many, or one whose opening bracket is missing.
    fn stray_closer(&mut self, byte: u8, comma: Option<usize>) -> Expect {
        let is_object = self.stack.last().is_some_and(|open| open.is_object);
        // `"hypotheses": {…}]`: a list of one.
        if byte == b']'
            && comma.is_none()
            && self.stack.len() == 1
            && self.errors.len() < MAX_ERRORS
            && let Some(last) = self.last_value()
            && self.nodes.get(last as usize).is_some_and(|it| it.tag == Tag::Object && !it.guessed)
        {
            self.open_before(last, false);
            return Expect::Rest;
        }
        // A string that stands between a name and a bracket, on a line of its own, is a list of one.
        if byte == b']'
            && comma.is_none()
            && self.errors.len() < MAX_ERRORS
            && self.starts_line(self.at)
            && let Some(last) = self.last_value()
            && let Some(node) = self.nodes.get(last as usize)
            && node.tag == Tag::String
            && self.starts_line(node.span.start as usize)
        {
            self.open_before(last, false);
            return Expect::Rest;
        }
        let span = Span::new(self.at, self.at + 1);
        self.lose();
        self.guess_brackets();
        // What it closes may be the value before it.
        if comma.is_none()
            && self.errors.len() < MAX_ERRORS
            && let Some(node) = self.last_value().and_then(|it| self.nodes.get_mut(it as usize))
        {
            node.guessed = true;
        }
        let follows = self.byte_behind(self.at + 1);
        let is_comma = comma.is_none()
            && self.errors.len() < MAX_ERRORS
            && self.last_value().is_some()
            && !matches!(follows, None | Some(b',' | b':' | b'}' | b']'));
        if is_comma {
            let message = format_args!("`{}` instead of a comma", byte as char);
            self.report(span, Kind::WrongCloser, message)
                .map(|it| it.replace("put a comma", span, ",", false));
        } else {
            let message = format_args!("`{}` closes nothing that is open", byte as char);
            // One comma is enough.
            let doubled = self.with_comma(span).filter(|_| comma.is_some());
            let words = if doubled.is_some() { "delete it and the comma" } else { "delete it" };
            let extent = doubled.unwrap_or(span);
            self.report(span, Kind::WrongCloser, message)
                .map(|it| it.replace(words, extent, "", false));
            self.at = extent.end as usize - 1;
        }
        self.at += 1;
        self.last_end = self.at;
        match (comma, is_object) {
            (Some(_), true) => Expect::Name(comma),
            (Some(_), false) => Expect::Element(comma),
            (None, _) => self.behind_junk(is_object),
        }
    }

    // What the rest of the text says of a guess.

    /// Whether the bracket that opens here, in an object where none can, is one too many.
    fn is_stray_opener(&mut self) -> bool {
        let behind = self.at + 1;
        let kinds = self.kinds();
        if self.errors.len() >= MAX_ERRORS
            || self.forgiven >= self.stack.len()
            || self.foresee(behind, &kinds, b',') != usize::MAX
        {
            return false;
        }
        // Where the names begin anew, the object before it was not closed.
        let space = self.bytes[behind..].iter().take_while(|it| b" \n\r\t".contains(it)).count();
        let name = behind + space;
        let open = self.stack.last().map_or(0, |open| open.node);
        self.bytes[self.at] == b'[' || !self.parent_is(false) || !self.has_name(open, name)
    }

    fn stray_opener(&mut self) -> Expect {
        let span = Span::new(self.at, self.at + 1);
        self.lose();
        self.guess_brackets();
        let message = format_args!("`{}` where a member should stand", self.char());
        self.report(span, Kind::Unexpected, message)
            .map(|it| it.replace("delete it", span, "", false));
        self.at += 1;
        Expect::Name(None)
    }

    /// Whether the element at `at`, in an object, goes on with a list: the last value was closed too
    /// early, or is the first of an array whose opening bracket is missing. Opens that.
    fn list_goes_on(&mut self, at: usize) -> bool {
        let inside = self.kinds_and(false);
        if self.errors.len() >= MAX_ERRORS || self.foresee(at, &inside, b',') != usize::MAX {
            return false;
        }
        let Some(last) = self.last_value() else { return false };
        if self.nodes.get(last as usize).is_some_and(|node| node.tag == Tag::Array) {
            self.reopen(last);
        } else if self.bytes[at] == b'{' && self.starts_line(at) {
            // What stands before its first object is rather a member of its own.
            let message = "a name and `[` are missing before this object";
            self.report(Span::empty(at), Kind::Unopened, message);
            self.lose();
            self.count();
            self.push_respelled(Span::empty(at), Span::empty(at));
            self.open_at(at, Tag::Array);
        } else {
            self.open_before(last, false);
        }
        true
    }

    /// Whether each of the open containers is an object, the outermost first.
    fn kinds(&self) -> Vec<bool> {
        self.stack.iter().map(|open| open.is_object).collect()
    }

    /// How far the text from `at` fits, if `open` are the containers around it and `last` stands
    /// before it (`1` for any value): the first place that does not, `usize::MAX` if all does.
    /// Looks at brackets, names and separators only. 0 where too much has been looked at already.
    fn foresee(&mut self, at: usize, open: &[bool], last: u8) -> usize {
        if self.foresight < self.bytes.len() - at.min(self.bytes.len()) {
            return 0;
        }
        let reached = self.fits_until(at, open.to_vec(), last);
        self.foresight = self.foresight.saturating_sub(reached.min(self.bytes.len()) - at);
        reached
    }

    fn fits_until(&self, mut at: usize, mut open: Vec<bool>, mut last: u8) -> usize {
        while let Some(&byte) = self.bytes.get(at) {
            if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                at += 1;
                continue;
            }
            let Some(&is_object) = open.last() else { return at };
            let is_value = !is_object || last == b':';
            let starts = matches!(last, b',' | b':' | b'{' | b'[');
            match byte {
                b'"' => {
                    let end = self.string_end(at);
                    let is_name = self.byte_behind(end) == Some(b':');
                    if !starts || is_name == is_value {
                        return at;
                    }
                    (at, last) = (end, b'1');
                    continue;
                }
                b'{' | b'[' if !starts || !is_value => return at,
                b'{' | b'[' => open.push(byte == b'{'),
                b'}' | b']' if is_object != (byte == b'}') || matches!(last, b',' | b':') => {
                    return at;
                }
                b'}' | b']' => {
                    open.pop();
                    (at, last) = (at + 1, b'1');
                    continue;
                }
                b':' if !is_object || last != b'1' => return at,
                b',' if last != b'1' => return at,
                b':' | b',' => {}
                _ if starts && is_value => {
                    let rest = &self.bytes[at..];
                    at += word_len(rest).max(1);
                    last = b'1';
                    continue;
                }
                _ if last == b'1' => return at,
                _ => return at,
            }
            (at, last) = (at + 1, byte);
        }
        if open.is_empty() { usize::MAX } else { at }
    }

    /// The containers around the text, with one more within them.
    fn kinds_and(&self, is_object: bool) -> Vec<bool> {
        let mut kinds = self.kinds();
        kinds.push(is_object);
        kinds
    }

    /// The last value within the innermost container, if it is a whole node of the tape.
    fn last_value(&self) -> Option<u32> {
        let open = self.stack.last()?;
        let end = self.nodes.len() as u32;
        let mut at = open.node + 1;
        let mut last = None;
        while at < end {
            let value = if open.is_object { at + 1 } else { at };
            if value >= end {
                break;
            }
            last = Some(value);
            at = self.nodes.get(value as usize)?.next;
        }
        last
    }

    /// Opens the container at `node` again, the last value of what is open, which was closed too
    /// early.
    fn reopen(&mut self, node: u32) {
        let Some(it) = self.nodes.get_mut(node as usize) else { return };
        it.guessed = true;
        let (count, is_object) = (it.extra, it.tag == Tag::Object);
        let closer = it.span.end as usize - 1;
        self.stack.push(Open { node, is_object, count, lost: true });
        // A comma before it is no fault of its own.
        if let Some(last) = self.errors.last()
            && last.kind == Kind::TrailingComma
            && self.text[last.span.end as usize..closer].trim().is_empty()
        {
            self.errors.pop();
        }
        let span = Span::new(closer, closer + 1);
        // Where it stands for a comma.
        let has_comma = self.text[..closer].trim_end().ends_with(',');
        let follows = self.byte_behind(closer + 1);
        if !has_comma && count > 0 && !matches!(follows, None | Some(b',' | b':' | b'}' | b']')) {
            let mark = if is_object { '}' } else { ']' };
            self.report(span, Kind::WrongCloser, format_args!("`{mark}` instead of a comma"))
                .map(|it| it.replace("put a comma", span, ",", false));
            return;
        }
        let what = if is_object { "object" } else { "array" };
        let message = format_args!("this bracket closes the {what} too early");
        // What was to stand before a comma is missing where there is nothing.
        let is_bare = count == 0 && follows == Some(b',');
        // One comma is enough.
        let doubled = self.with_comma(span).filter(|_| has_comma);
        let words = if doubled.is_some() { "delete it and the comma" } else { "delete it" };
        self.report(span, Kind::WrongCloser, message)
            .filter(|_| !is_bare)
            .map(|it| it.replace(words, doubled.unwrap_or(span), "", false));
    }

    /// `span` with the comma behind it, if there is one.
    fn with_comma(&self, span: Span) -> Option<Span> {
        let behind = &self.text[span.end as usize..];
        let rest = behind.trim_start_matches([' ', '\t', '\r', '\n']).strip_prefix(',')?;
        Some(Span::new(span.start as usize, self.text.len() - rest.len()))
    }

    /// Puts a container around the last value, which begins at `node`, and what follows: its opening
    /// bracket is missing.
    fn open_before(&mut self, node: u32, is_object: bool) {
        let start = self.nodes.get(node as usize).map_or(0, |it| it.span.start as usize);
        let opener = if is_object { "{" } else { "[" };
        let message = format_args!("`{opener}` is missing before this value");
        self.report(Span::empty(start), Kind::Unopened, message)
            .map(|it| it.replace("put it", Span::empty(start), opener, false));
        let tag = if is_object { Tag::Object } else { Tag::Array };
        let next = node + 1;
        let span = Span::new(start, start);
        let container = Node { span, next, extra: 0, tag, flag: false, guessed: true };
        for it in self.nodes.iter_mut().skip(node as usize) {
            it.next += 1;
        }
        for repeat in self.repeats.iter_mut().rev().take_while(|it| it.later >= node) {
            repeat.later += 1;
            repeat.first += u32::from(repeat.first >= node);
            repeat.object += u32::from(repeat.object >= node);
        }
        self.nodes.insert(node as usize, container);
        self.stack.push(Open { node, is_object, count: 1, lost: true });
    }

    /// Whether the object at `node` has a member of the name that the string at `at` spells.
    fn has_name(&self, node: u32, at: usize) -> bool {
        let Some(object) = self.nodes.get(node as usize) else { return false };
        let spelled = &self.text[at..self.string_end(at)];
        let end = if object.next > node + 1 { object.next } else { self.nodes.len() as u32 };
        let mut name = node + 1;
        while name + 1 < end {
            let Some(it) = self.nodes.get(name as usize) else { break };
            if self.text.get(it.span.range()) == Some(spelled) {
                return true;
            }
            let Some(value) = self.nodes.get(name as usize + 1) else { break };
            name = value.next;
        }
        false
    }

    /// A member's name at `at`, in an array: what the array's object lacks, or the array.
    fn member_in_array(&mut self, at: usize) -> Option<Expect> {
        if self.errors.len() >= MAX_ERRORS {
            return None;
        }
        let inside = self.kinds_and(true);
        let as_member = self.foresee(at, &inside, b',');
        let as_unclosed = match self.stack.len() {
            depth if depth > 1 && self.parent_is(true) => {
                let kinds = self.kinds();
                self.foresee(at, &kinds[..depth - 1], b',')
            }
            _ => 0,
        };
        if as_member <= as_unclosed || (as_unclosed == 0 && as_member != usize::MAX) {
            return None;
        }
        let last = self.last_value();
        let last =
            last.filter(|&it| self.nodes.get(it as usize).is_some_and(|it| it.tag == Tag::Object));
        match last {
            Some(last) if !self.has_name(last, at) => self.reopen(last),
            _ => {
                self.count();
                let message = "`{` is missing before this member";
                self.report(Span::empty(at), Kind::Unopened, message)
                    .map(|it| it.replace("put it", Span::empty(at), "{", false));
                self.open_at(at, Tag::Object);
            }
        }
        self.at = at;
        Some(Expect::Name(None))
    }

    /// Skips a value that has no place in the tree.
    fn junk_value(&mut self) {
        if let Some(byte) = self.peek()
            && !matches!(byte, b',' | b'}' | b']')
        {
            self.junk();
        }
    }

    /// A closing bracket of the other kind: either it was mistyped, or the innermost container was
    /// not closed before it. What follows decides.
    fn wrong_closer(&mut self, byte: u8, comma: Option<usize>) -> Expect {
        let here = Span::new(self.at, self.at + 1);
        let for_object = byte == b'}';
        let Some(open) = self.stack.last() else {
            // Callers have a container; without one it is text behind the document.
            return self.after_document();
        };
        let is_object = open.is_object;
        let opener = self.nodes[open.node as usize].span.start as usize;
        let opener = Span::new(opener, opener + 1);
        let right = if is_object { "}" } else { "]" };
        let depth = self.stack.len();
        // Where so many brackets are missing, nothing is known of what was meant.
        let near = depth.saturating_sub(MAX_MISSING);
        let matching = self.stack.iter().skip(near).rposition(|open| open.is_object == for_object);
        let matching = matching.map(|index| index + near);
        let behind = here.end as usize;
        let (mut as_stray, mut as_typo, mut as_missing) = (0, 0, 0);
        // To list what is open costs, too, where brackets are nested deeply.
        if self.errors.len() < MAX_ERRORS && self.foresight >= 8 * depth {
            self.foresight -= 8 * depth;
            let kinds = self.kinds();
            as_stray = self.foresee(behind, &kinds, b'1').max(self.foresee(behind, &kinds, b','));
            as_typo = self.foresee(behind, &kinds[..depth - 1], b'1');
            as_missing = matching.map_or(0, |it| self.foresee(behind, &kinds[..it], b'1'));
        }
        if as_stray > as_typo && as_stray > as_missing && self.forgiven < depth {
            return self.stray_closer(byte, comma);
        }
        let mistyped = match matching {
            None => true,
            Some(_) if as_typo != as_missing => as_typo > as_missing,
            Some(matching) => {
                let follows = self.byte_behind(behind);
                let fits = |depth: usize| {
                    let around = depth.checked_sub(1).and_then(|index| self.stack.get(index));
                    match (around, follows) {
                        (None, None) => true,
                        (Some(open), Some(b',')) => self.comma_fits(behind, open.is_object),
                        (Some(open), Some(b'}')) => open.is_object,
                        (Some(open), Some(b']')) => !open.is_object,
                        _ => false,
                    }
                };
                let (as_typo, as_missing) = (fits(depth - 1), fits(matching));
                as_typo && !as_missing
            }
        };
        self.lose();
        let forgiven = self.forgiven >= depth;
        if mistyped {
            if !forgiven {
                let message = format_args!("`{}` instead of `{right}`", byte as char);
                if let Some(error) = self.report(here, Kind::WrongCloser, message) {
                    error.relate(opener, "opened here");
                    error.replace("put the right bracket", here, right, as_typo == usize::MAX);
                }
            }
            // Of an empty one, the opening bracket may as well be the wrong one.
            if self.stack.last().is_some_and(|open| open.count == 0) {
                self.guess_brackets();
            }
            self.at += 1;
            return self.close(self.at);
        }
        let before = self.last_end;
        if !forgiven {
            let what = if is_object { "object" } else { "array" };
            let message = format_args!(
                "`{}` comes before this {what} is closed: `{right}` is missing",
                byte as char
            );
            if let Some(error) = self.report(here, Kind::WrongCloser, message) {
                error.relate(opener, "opened here");
                if comma.is_none() && matching.is_some_and(|index| index + 2 == depth) {
                    error.replace("close it", Span::empty(before), right, false);
                }
            }
        }
        let matching = matching.unwrap_or(0);
        while self.stack.len() > matching + 1 {
            self.lose();
            self.guess_brackets();
            self.close(before);
        }
        // The bracket itself is read now, as the one that closes what is open.
        Expect::Rest
    }

    /// Whether what follows the comma behind `at` is a member, or an element, as asked.
    fn comma_fits(&self, at: usize, in_object: bool) -> bool {
        let skip = |at: usize| {
            let rest = self.bytes.get(at..).unwrap_or_default();
            at + rest.iter().take_while(|byte| b" \n\r\t".contains(byte)).count()
        };
        let start = skip(skip(at) + 1);
        match self.bytes.get(start) {
            Some(b'"') => {
                let end = self.string_end(start);
                (self.bytes.get(skip(end)) == Some(&b':')) == in_object
            }
            Some(b'{' | b'[' | b'-' | b'0'..=b'9') => !in_object,
            _ => true,
        }
    }

    // Names.

    #[cold]
    fn bad_name(&mut self, byte: u8, comma: Option<usize>) -> Expect {
        let start = self.at;
        if self.pass_conflict_marker() {
            return Expect::Name(comma);
        }
        if self.escaped_string() {
            return self.behind_name();
        }
        if let Some(name) = self.name_behind(start) {
            let span = Span::new(start, name.end as usize);
            let text = short(&self.text[name.range()]);
            let message = format!("the member name `{text}` has no opening quotation mark");
            let mark = Span::new(start, start + self.char().len_utf8());
            self.report(span, Kind::UnquotedName, message)
                .map(|it| it.replace("quote it", mark, "\"", false));
            self.at = name.end as usize + 1;
            self.push_unquoted(name);
            return self.behind_name();
        }
        match byte {
            b',' => return self.extra_comma(comma),
            b']' => return self.wrong_closer(byte, comma),
            b'{' | b'[' if self.is_stray_opener() => return self.stray_opener(),
            b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
                if comma.is_some() && self.list_goes_on(start) =>
            {
                return Expect::Element(comma);
            }
            b'{' if self.parent_is(false) => {
                let at = comma.unwrap_or(self.last_end);
                return self.missing_closer(at, "}", Expect::Element(None));
            }
            b':' => {
                let span = Span::new(start, start + 1);
                self.report(span, Kind::MissingName, "a member without a name");
                self.lose();
                self.at += 1;
                self.junk_value();
                return Expect::Rest;
            }
            _ => {}
        }
        let quote = self.char();
        if is_other_quote(quote)
            && self.text[start + quote.len_utf8()..]
                .trim_start_matches([' ', '\t'])
                .starts_with(['"', '\n', '\r'])
        {
            self.lose();
            self.at += quote.len_utf8();
            let span = Span::new(start, self.at);
            let message = format_args!("`{quote}` stands where a member should");
            self.report(span, Kind::Unexpected, message)
                .map(|it| it.replace("delete it", span, "", false));
            return self.behind_junk(true);
        }
        if is_other_quote(quote) {
            self.other_quotes(quote);
            return self.behind_name();
        }
        // Up to the colon, or up to what ends a member.
        let stop = [b':', b'=', b',', b'{', b'}', b'[', b']', b'\n', b'\r', b'"'];
        let len = self.bytes[start..].iter().take_while(|byte| !stop.contains(byte)).count();
        let text = self.text[start..start + len].trim_end();
        let span = Span::new(start, start + text.len());
        let quoted = self.bytes.get(start + len) == Some(&b'"');
        let behind = start + len + usize::from(quoted);
        let has_colon = matches!(self.byte_behind(behind), Some(b':' | b'='));
        if text.is_empty() || !has_colon {
            self.lose();
            let span = self.junk();
            let shown = short(&self.text[span.range()]);
            let message = format_args!("`{shown}` stands where a member should");
            self.report(span, Kind::Unexpected, message);
            return self.behind_junk(true);
        }
        let message = format_args!("the member name `{}` is not quoted", short(text));
        let plain = !text.contains('\\');
        if let Some(error) = self.report(span, Kind::UnquotedName, message)
            && plain
        {
            let quote = |at: u32| (Span { start: at, end: at }, "\"".to_owned());
            let mut edits = vec![quote(span.start), quote(span.end)];
            edits.truncate(if quoted { 1 } else { 2 });
            error.repair("quote it", edits, true);
        }
        self.at = if quoted { behind } else { span.end as usize };
        self.push_unquoted(span);
        self.behind_name()
    }

    /// The name behind a character at `at` that stands for its opening quotation mark: `,id":`.
    fn name_behind(&self, at: usize) -> Option<Span> {
        let mark = self.char();
        if mark.is_alphanumeric() || matches!(mark, '_' | '$' | '"') {
            return None;
        }
        let start = at + mark.len_utf8();
        let rest = self.bytes.get(start..)?;
        let len = word_len(rest);
        let is_name = len > 0 && rest.get(len) == Some(&b'"');
        let has_colon = is_name && self.byte_behind(start + len + 1) == Some(b':');
        has_colon.then(|| Span::new(start, start + len))
    }

    /// Whether the name before a comma or bracket is rather an element of a list that lacks its
    /// opening bracket, or was closed too early. Makes it one.
    fn name_is_element(&mut self) -> bool {
        let inside = self.kinds_and(false);
        if self.errors.len() >= MAX_ERRORS || self.foresee(self.at, &inside, b'1') != usize::MAX {
            return false;
        }
        let Some(name) = self.nodes.pop() else { return false };
        let list = self.last_value();
        if let (Some(last), Some(open)) = (list, self.stack.last_mut()) {
            open.count -= 1;
            if self.nodes.get(last as usize).is_some_and(|node| node.tag == Tag::Array) {
                self.reopen(last);
            } else {
                self.open_before(last, false);
            }
            self.count();
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { next: id + 1, ..name });
        self.last_end = name.span.end as usize;
        list.is_some()
    }

    /// What stands here for a colon, or before it.
    fn stray_before_value(&mut self) -> Option<(Span, bool)> {
        let start = self.at;
        let byte = *self.bytes.get(start)?;
        let rest = &self.bytes[start..];
        let one = Span::new(start, start + 1);
        if matches!(byte, b',' | b'"') && self.byte_behind(start + 1) == Some(b':') {
            return Some((one, true));
        }
        if byte == b',' && self.errors.len() < MAX_ERRORS {
            let kinds = self.kinds();
            let fits = self.foresee(start + 1, &kinds, b':') == usize::MAX;
            return fits.then_some((one, false));
        }
        let opens = b"\"{[-0123456789tfn".contains(&byte);
        let longest = if opens { 3 } else { 24 };
        let stop = rest.iter().take(longest + 1).position(|byte| b"\",:}]\n\r".contains(byte));
        if let Some(len) = stop
            && rest[len] == b':'
            && len > 0
        {
            let text = self.text[start..start + len].trim_end();
            return Some((Span::new(start, start + text.len()), true));
        }
        if b",:}]=".contains(&byte) {
            return None;
        }
        let end = start + self.char().len_utf8();
        let next = self.byte_behind(end)?;
        let is_value = b"\"{[-0123456789".contains(&next) || is_literal(&self.bytes[end..]);
        let is_joined = is_word(byte) && self.bytes.get(end).is_some_and(|&it| is_word(it));
        if !is_value || is_joined {
            return None;
        }
        let reads_as_value = match byte {
            b'"' => {
                let end = self.string_end(start);
                self.is_closed(end)
            }
            b'{' | b'[' => self.matching_end(start).is_some(),
            _ => false,
        };
        (!reads_as_value && (next == b'"' || !is_other_quote(self.char())))
            .then(|| (Span::new(start, end), false))
    }

    #[cold]
    fn missing_colon(&mut self) -> Expect {
        let before = self.last_end;
        if matches!(self.peek(), Some(b',' | b']')) && self.name_is_element() {
            return Expect::Rest;
        }
        if let Some((span, has_colon)) = self.stray_before_value() {
            let stray = short(&self.text[span.range()]);
            self.at = span.end as usize;
            if has_colon {
                let message = format!("`{stray}` stands before the colon");
                self.report(span, Kind::Unexpected, message)
                    .map(|it| it.replace("delete it", span, "", false));
                return self.behind_name_again();
            }
            let message = format!("`{stray}` where a colon should stand");
            self.report(span, Kind::WrongSeparator, message)
                .map(|it| it.replace("put a colon", span, ":", false));
            return Expect::Value;
        }
        match self.peek() {
            Some(b'=') => {
                let len = if self.bytes[self.at..].starts_with(b"=>") { 2 } else { 1 };
                let span = Span::new(self.at, self.at + len);
                self.at += len;
                self.last_end = self.at;
                let message = format_args!("`{}` instead of a colon", &self.text[span.range()]);
                self.report(span, Kind::WrongSeparator, message)
                    .map(|it| it.replace("put a colon", span, ":", true));
                Expect::Value
            }
            Some(b',' | b'}' | b']') if self.member_is_one_string() => Expect::Rest,
            Some(b',' | b'}' | b']') => {
                let message = "a member without a value";
                self.report(Span::empty(before), Kind::MissingValue, message);
                self.leaf(Tag::Invalid, Span::empty(before))
            }
            Some(byte) if self.is_value_here(byte) && self.colon_is_quoted() => Expect::Value,
            Some(byte) if self.is_value_here(byte) => {
                let span = Span::empty(before);
                self.report(span, Kind::MissingColon, "no colon between a name and its value")
                    .map(|it| it.replace("put a colon", span, ":", true));
                Expect::Value
            }
            Some(_) => {
                self.lose();
                let span = self.junk();
                let message = format_args!(
                    "`{}` where a colon should stand",
                    short(&self.text[span.range()])
                );
                self.report(span, Kind::Unexpected, message);
                self.leaf(Tag::Invalid, span)
            }
            None => {
                self.leaf(Tag::Invalid, Span::empty(before));
                self.end_of_text(Expect::Name(None))
            }
        }
    }

    /// Whether the string before this place, the last node, has the comma that is missing within its quotation
    /// marks. Reports that, and takes it out of the string.
    fn comma_is_quoted(&mut self) -> bool {
        let is_string = |it: &Node| it.tag == Tag::String && it.extra == PLAIN;
        let Some(node) = self.nodes.last().copied().filter(is_string) else { return false };
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        if end != self.last_end || end < start + 4 || !self.text[start..end].ends_with(",\"") {
            return false;
        }
        let (comma, at) = (Span::new(end - 2, end - 1), Span::new(end - 2, end));
        let message = "the comma stands within the quotation marks";
        self.report(comma, Kind::MissingComma, message)
            .map(|it| it.replace("put it behind them", at, "\",", false));
        self.nodes.pop();
        self.push_respelled(node.span, Span::new(start + 1, end - 2));
        true
    }

    /// Whether the name before this place, the last node, is a member as a whole: `"id: H1"`. Reports that,
    /// and makes a name and a value of it.
    fn member_is_one_string(&mut self) -> bool {
        let Some(node) = self.nodes.last().copied().filter(|it| it.extra == PLAIN) else {
            return false;
        };
        let inner = Span { start: node.span.start + 1, end: node.span.end.saturating_sub(1) };
        let Some(text) = self.text.get(inner.range()) else { return false };
        let len = word_len(text.as_bytes());
        let Some(rest) = text[len..].strip_prefix(':').filter(|it| !it.starts_with(':')) else {
            return false;
        };
        let value = rest.trim_start();
        if len == 0 || value.is_empty() {
            return false;
        }
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        let (from, to) = (start + 1 + len, end - 1 - value.len());
        let gap = Span::new(from, to);
        self.report(gap, Kind::MissingColon, "the quotation marks around this colon are missing")
            .map(|it| it.replace("put them", gap, "\": \"", false));
        self.nodes.pop();
        self.push_respelled(Span::new(start, from), Span::new(start + 1, from));
        self.push_respelled(Span::new(to, end), Span::new(to, end - 1));
        self.last_end = end;
        true
    }

    /// Whether the name before this value, the last node, has the colon within its quotation marks. Reports
    /// that, and takes it out of the name.
    fn colon_is_quoted(&mut self) -> bool {
        let Some(name) = self.nodes.last().copied() else { return false };
        let inner = Span { start: name.span.start + 1, end: name.span.end.saturating_sub(1) };
        let Some(text) = self.text.get(inner.range()) else { return false };
        let bare = match text.trim_end().strip_suffix(':') {
            Some(bare) if name.extra == PLAIN && !bare.ends_with(':') => bare.trim_end(),
            _ => return false,
        };
        let content = Span::new(inner.start as usize, inner.start as usize + bare.len());
        let (from, to) = (content.end, name.span.end);
        let message = "the colon stands within the quotation marks of the name";
        let at = Span { start: from, end: to };
        self.report(Span { start: from, end: inner.end }, Kind::MissingColon, message)
            .map(|it| it.replace("put it behind them", at, "\":", false));
        self.nodes.pop();
        self.push_respelled(name.span, content);
        true
    }

    // Values.

    /// Reads a string whose opening quotation mark is missing: `"id": H1",`.
    fn unopened_string(&mut self) -> Option<Expect> {
        let start = self.at;
        let mut at = start;
        let limit = start.saturating_add(self.guesses);
        let end = loop {
            match self.bytes.get(at) {
                Some(b'"') if at > start && self.is_closed(at + 1) => break at,
                None | Some(b'"' | b'\n' | b'\r') => {
                    self.guesses = limit.saturating_sub(at);
                    return None;
                }
                _ if at >= limit => {
                    self.guesses = 0;
                    return None;
                }
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        };
        let in_object = self.stack.last().is_some_and(|open| open.is_object);
        if self.byte_behind(end + 1) == Some(b',')
            && !self.comma_fits_well_below(end + 1, in_object)
        {
            self.guesses = limit.saturating_sub(end);
            return None;
        }
        // A backslash for the quotation mark.
        let mark = self.bytes[start] == b'\\' && end > start + 1;
        let content = Span::new(start + usize::from(mark), end);
        let text = &self.text[content.range()];
        let word = text.bytes().all(is_word);
        let message = format!("the string `{}` has no opening quotation mark", short(text));
        let span = Span::new(start, end + 1);
        self.report(span, Kind::UnquotedText, message).map(|it| {
            let at = Span { start: start as u32, end: content.start };
            it.replace("quote it", at, "\"", word)
        });
        self.at = end + 1;
        self.push_unopened(span, content);
        self.last_end = self.at;
        Some(Expect::Rest)
    }

    #[cold]
    fn bad_value(&mut self, byte: u8) -> Expect {
        if self.pass_conflict_marker() {
            return self.value_again();
        }
        if self.pass_wrapper() {
            return Expect::Value;
        }
        let start = self.at;
        if self.escaped_string() {
            return Expect::Rest;
        }
        if byte == b'(' && self.parenthesis() {
            let expect = self.open(false);
            self.guess_brackets();
            return expect;
        }
        if !is_other_quote(self.char())
            && !b",:{}[]".contains(&byte)
            && let Some(expect) = self.unopened_string()
        {
            return expect;
        }
        let in_object = self.stack.last().is_some_and(|open| open.is_object);
        match byte {
            b',' if in_object && self.value_follows(start + 1) => {
                let span = Span::new(start, start + 1);
                self.report(span, Kind::ExtraComma, "a comma before a value")
                    .map(|it| it.replace("delete the comma", span, "", false));
                self.at += 1;
                return Expect::Value;
            }
            b',' | b'}' | b']' if in_object => {
                let span = Span::empty(self.last_end);
                self.report(span, Kind::MissingValue, "a member without a value");
                return self.leaf(Tag::Invalid, span);
            }
            b'.' | b'+' => return self.bad_number(),
            _ => {}
        }
        let quote = self.char();
        if is_other_quote(quote) {
            let behind = start + quote.len_utf8();
            let rest = self.text[behind..].trim_start_matches([' ', '\t']);
            if rest.starts_with(['{', '[', '"', '\n', '\r']) {
                return self.pass_over(quote, start);
            }
            self.other_quotes(quote);
            self.last_end = self.at;
            return Expect::Rest;
        }
        if is_word(byte) {
            return self.word();
        }
        // One character that stands before a value.
        let behind = start + quote.len_utf8();
        let follows = if in_object {
            self.value_follows(behind)
        } else {
            self.byte_behind(behind).is_some_and(|byte| b"\"{[-0123456789".contains(&byte))
        };
        if follows && !self.stack.is_empty() {
            return self.pass_over(quote, start);
        }
        let span = self.junk();
        let message =
            format_args!("`{}` stands where a value should", short(&self.text[span.range()]));
        self.report(span, Kind::Unexpected, message);
        let expect = self.leaf(Tag::Invalid, Span::new(start, (span.end as usize).max(start)));
        self.last_end = span.end as usize;
        expect
    }

    /// Reads a string both quotation marks of which a backslash precedes, as within a string of some
    /// language; false if there is none.
    fn escaped_string(&mut self) -> bool {
        let start = self.at;
        if !self.bytes[start..].starts_with(b"\\\"") {
            return false;
        }
        let limit = start.saturating_add(self.guesses);
        let mut at = start + 2;
        let end = loop {
            match self.bytes.get(at) {
                Some(b'\\') if self.bytes.get(at + 1) == Some(&b'"') && self.is_closed(at + 2) => {
                    break at;
                }
                None | Some(b'"' | b'\n' | b'\r') => {
                    self.guesses = limit.saturating_sub(at);
                    return false;
                }
                _ if at >= limit => {
                    self.guesses = 0;
                    return false;
                }
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        };
        let span = Span::new(start, end + 2);
        let slash = |at: usize| (Span::new(at, at + 1), String::new());
        let message = "a backslash before each quotation mark of this string";
        self.report(span, Kind::WrongQuotes, message)
            .map(|it| it.repair("delete them", vec![slash(start), slash(end)], false));
        self.push_unopened(span, Span::new(start + 2, end));
        self.at = end + 2;
        self.last_end = self.at;
        true
    }

    /// Whether a parenthesis opens here that another one closes, with values between them: they stand for
    /// the brackets of an array. Reports that.
    fn parenthesis(&mut self) -> bool {
        let start = self.at;
        if !self.byte_behind(start + 1).is_some_and(|byte| b"\"{[-0123456789".contains(&byte)) {
            return false;
        }
        let limit = start.saturating_add(self.guesses);
        let mut open = Vec::new();
        let mut at = start;
        let end = loop {
            let Some(&byte) = self.bytes.get(at).filter(|_| at < limit) else { break None };
            match byte {
                b'(' => open.push(b')'),
                b'{' => open.push(b'}'),
                b'[' => open.push(b']'),
                b')' | b'}' | b']' if open.pop() != Some(byte) => break None,
                b')' | b'}' | b']' if open.is_empty() => break Some(at),
                b'"' => {
                    at = self.string_end(at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        };
        self.guesses = limit.saturating_sub(at);
        let Some(end) = end.filter(|&end| self.is_closed(end + 1)) else { return false };
        let (opener, closer) = (Span::new(start, start + 1), Span::new(end, end + 1));
        if let Some(error) = self.report(opener, Kind::WrongOpener, "`(` instead of `[`") {
            error.relate(closer, "and `)` instead of `]`");
            let edits = vec![(opener, "[".to_owned()), (closer, "]".to_owned())];
            error.repair("put the right brackets", edits, false);
        }
        self.parentheses.push(end);
        true
    }

    /// Reports one character that stands before a value, and reads the value.
    fn pass_over(&mut self, stray: char, start: usize) -> Expect {
        let span = Span::new(start, start + stray.len_utf8());
        let message = format_args!("`{stray}` stands where a value should");
        self.report(span, Kind::Unexpected, message)
            .map(|it| it.replace("delete it", span, "", false));
        self.at = span.range().end;
        self.value_again()
    }

    /// Behind what stood before a value; an element has been counted already.
    fn value_again(&mut self) -> Expect {
        match self.stack.last_mut() {
            Some(open) if !open.is_object => {
                open.count -= 1;
                open.lost = true;
                Expect::Element(None)
            }
            _ => Expect::Value,
        }
    }

    /// Whether a value stands at `at` that is no member's name.
    fn value_follows(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let start = at + rest.iter().take_while(|byte| b" \t".contains(byte)).count();
        match self.bytes.get(start) {
            Some(b'"') => !self.opens_member(start),
            Some(b'{' | b'[' | b'-' | b'0'..=b'9') => true,
            _ => is_literal(self.bytes.get(start..).unwrap_or_default()),
        }
    }

    /// A word where a value should stand.
    #[cold]
    fn word(&mut self) -> Expect {
        let start = self.at;
        if self.pass_wrapper() {
            return Expect::Value;
        }
        if let Some(expect) = self.unopened_string() {
            return expect;
        }
        let len = word_len(&self.bytes[start..]);
        let word = &self.text[start..start + len];
        let span = Span::new(start, start + len);
        let literal = match word.to_ascii_lowercase().as_str() {
            "true" => Some(("true", Tag::True)),
            "false" => Some(("false", Tag::False)),
            "null" | "none" | "nil" | "undefined" => Some(("null", Tag::Null)),
            _ => None,
        };
        let slip = ["true", "false", "null"].into_iter().find(|right| is_slip_of(word, right));
        if let Some((right, tag)) = literal {
            self.at = span.end as usize;
            let message = format_args!("`{word}` instead of `{right}`");
            self.report(span, Kind::WrongLiteral, message)
                .map(|it| it.replace("put the literal of JSON", span, right, word != "undefined"));
            return self.leaf(tag, span);
        }
        if is_not_finite(word) {
            self.at = span.end as usize;
            self.not_finite(span);
            return self.leaf(Tag::Invalid, span);
        }
        if self.is_cut_off(span.end as usize)
            && ["true", "false", "null"].iter().any(|right| right.starts_with(word))
        {
            self.at = span.end as usize;
            return self.leaf(Tag::Invalid, span);
        }
        if let Some(expect) = self.word_before_container(span) {
            return expect;
        }
        if let Some(right) = slip.filter(|_| {
            self.is_closed(span.end as usize) && self.byte_behind(span.range().end) != Some(b':')
        }) {
            self.at = span.end as usize;
            self.report(span, Kind::UnquotedText, format_args!("`{word}` instead of `{right}`"))
                .map(|it| it.replace("put the literal of JSON", span, right, false));
            return self.leaf(Tag::Invalid, span);
        }
        let span = self.junk();
        let text = &self.text[span.range()];
        let message = format_args!("`{}` is not quoted and no literal of JSON", short(text));
        let plain = !text.contains(['"', '\\', '\t', ':']);
        if let Some(error) = self.report(span, Kind::UnquotedText, message)
            && plain
        {
            let quote = |at: u32| (Span { start: at, end: at }, "\"".to_owned());
            error.repair("quote it", vec![quote(span.start), quote(span.end)], false);
        }
        self.leaf(Tag::Invalid, span)
    }

    /// Passes over what stands before the document's value: the line of a Markdown code fence, or
    /// `const register =`; false if there is none.
    fn pass_wrapper(&mut self) -> bool {
        const LONGEST: usize = 80;
        if !self.nodes.is_empty() || !self.stack.is_empty() || self.is_wrapped {
            return false;
        }
        let start = self.at;
        let rest = &self.text[start..];
        let (len, message) = if rest.starts_with("```") {
            (rest.find(['\n', '\r']).unwrap_or(rest.len()), "a code fence around the JSON")
        } else {
            let opener =
                self.bytes[start..].iter().take(LONGEST).position(|it| b"{[\"\n\r".contains(it));
            let Some(len) = opener.filter(|len| b"{[".contains(&self.bytes[start + len])) else {
                return false;
            };
            if !rest[..len].trim_end().ends_with(['=', '(']) {
                return false;
            }
            (len, "the document is more than JSON: a statement of some language")
        };
        let len = rest[..len].trim_end().len();
        let span = Span::new(start, start + len);
        self.report(span, Kind::Unexpected, message);
        self.is_wrapped = true;
        self.at = start + len;
        self.last_end = self.at;
        true
    }

    /// Whether the text ends at `end`, within a container, so that what stands there may be half a token:
    /// the end is the error.
    fn is_cut_off(&self, end: usize) -> bool {
        !self.stack.is_empty() && !self.truncated && self.text[end..].trim_start().is_empty()
    }

    /// Reads the container behind a word, where that is what was to be read.
    fn word_before_container(&mut self, mut word: Span) -> Option<Expect> {
        // A line of text between two elements.
        let start = word.range().start;
        if self.starts_line(start) {
            // No further than to what ends it: a line may be as long as the text.
            let rest = &self.text[start..];
            let end = rest.find(['\n', '\r', '"', '{', '}', '[', ']', ',']).unwrap_or(rest.len());
            let line = rest[..end].trim_end();
            if rest[end..].is_empty() || rest[end..].starts_with(['\n', '\r']) {
                word = Span::new(start, start + line.len());
            }
        }
        let behind = word.end as usize;
        let next = self.byte_behind(behind).filter(|byte| b"{[".contains(byte))?;
        let start = behind + self.bytes[behind..].iter().position(|&byte| byte == next)?;
        let kinds = self.kinds();
        let last = if kinds.last() == Some(&false) { b',' } else { b':' };
        if kinds.is_empty()
            || self.errors.len() >= MAX_ERRORS
            || self.foresee(start, &kinds, last) != usize::MAX
        {
            return None;
        }
        let message = format!("`{}` stands where a value should", short(&self.text[word.range()]));
        self.report(word, Kind::Unexpected, message)
            .map(|it| it.replace("delete it", word, "", false));
        self.at = behind;
        Some(self.value_again())
    }

    fn not_finite(&mut self, span: Span) {
        let message = format_args!("`{}` is no number of JSON", &self.text[span.range()]);
        self.report(span, Kind::NotFinite, message)
            .map(|it| it.replace("put `null`", span, "null", false));
    }

    /// A number that JSON spells otherwise, or something that only begins like one.
    #[cold]
    fn bad_number(&mut self) -> Expect {
        let start = self.at;
        if let Some(expect) = self.unopened_string() {
            return expect;
        }
        let len = word_len(&self.bytes[start..]);
        let text = &self.text[start..start + len];
        let span = Span::new(start, start + len);
        if is_not_finite(text.trim_start_matches(['-', '+'])) {
            self.at = span.end as usize;
            self.not_finite(span);
            return self.leaf(Tag::Invalid, span);
        }
        if self.is_cut_off(span.end as usize) && respell(&format!("{text}0")).is_some() {
            self.at = span.end as usize;
            return self.leaf(Tag::Invalid, span);
        }
        let right = respell(text);
        let span = if right.is_some() {
            self.at = span.end as usize;
            span
        } else {
            self.junk()
        };
        let text = short(&self.text[span.range()]);
        let message = match &right {
            Some(right) => format!("`{text}` is spelled `{}` in JSON", short(right)),
            None if text.bytes().all(|byte| byte == b'.') => {
                format!("`{text}` stands for what was left out, and JSON has no such thing")
            }
            None => format!("`{text}` is no number of JSON"),
        };
        // A leading zero means octal elsewhere.
        let octal = text.trim_start_matches('-').starts_with('0');
        let is_ellipsis = text.len() > 1 && text.bytes().all(|byte| byte == b'.');
        let kind = if is_ellipsis { Kind::Unexpected } else { Kind::BadNumber };
        if let (Some(error), Some(right)) = (self.report(span, kind, message), right) {
            error.replace("spell it as JSON does", span, right, !octal);
        }
        self.leaf(Tag::Invalid, span)
    }
}

/// Whether `word` is `right` with one letter missing, too many, or another, or two in the wrong order.
fn is_slip_of(word: &str, right: &str) -> bool {
    let (word, right) = (word.as_bytes(), right.as_bytes());
    let same = word.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (word, right) = (&word[same..], &right[same..]);
    match (word, right) {
        ([a, b, word @ ..], [c, d, right @ ..]) if a == d && b == c && word == right => true,
        ([_, word @ ..], [_, right @ ..]) if word == right => true,
        ([_, word @ ..], right) if word == right => true,
        (word, [_, right @ ..]) => word == right,
        _ => false,
    }
}

fn is_literal(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|byte| !b" \t".contains(byte)).unwrap_or(bytes.len());
    [&b"true"[..], b"false", b"null"].iter().any(|word| bytes[start..].starts_with(word))
}

/// Whether all of `text` is a number of JSON.
pub(super) fn is_number(text: &str) -> bool {
    number_end(text.as_bytes(), 0).is_some_and(|(end, _)| end == text.len())
}

fn is_not_finite(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "nan" | "infinity" | "inf")
}

/// The end of the number of JSON at `start`, and how many digits it has if it is a whole one;
/// `None` if there is none.
#[inline]
fn number_end(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let first = if bytes.get(start) == Some(&b'-') { start + 1 } else { start };
    let mut end = digits(first);
    if end == first || (bytes[first] == b'0' && end > first + 1) {
        return None;
    }
    let mut whole = end - first;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if fraction == end + 1 {
            return None;
        }
        (end, whole) = (fraction, 0);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent == end + 1 + sign {
            return None;
        }
        (end, whole) = (exponent, 0);
    }
    Some((end, whole))
}

/// How JSON spells the number that `text` means in other languages, if it means one.
fn respell(text: &str) -> Option<String> {
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    if let Some(hex) = hex.filter(|hex| !hex.starts_with('+')) {
        return u64::from_str_radix(hex, 16).ok().map(|value| format!("{sign}{value}"));
    }
    let mut right = rest.to_owned();
    if right.contains('_') {
        right.retain(|c| c != '_');
    }
    if right.starts_with('.') {
        right.insert(0, '0');
    }
    let zeros = right.len() - right.trim_start_matches('0').len();
    let behind = right.as_bytes().get(zeros);
    if zeros > 0 {
        let keep = usize::from(!behind.is_some_and(u8::is_ascii_digit));
        right.drain(..zeros - keep);
    }
    if let Some(dot) = right.find('.')
        && !right.as_bytes().get(dot + 1).is_some_and(u8::is_ascii_digit)
    {
        right.insert(dot + 1, '0');
    }
    right.insert_str(0, sign);
    let (end, _) = number_end(right.as_bytes(), 0)?;
    (end == right.len()).then_some(right)
}
