//! Strings: where they end, what they say, and what was meant by those that are spelled wrongly.

use super::error::SyntaxErrorKind as Kind;
use super::parser::Parser;
use super::{Escape, Fault, Node, PLAIN, Spelling, Tag};
use crate::span::Span;

/// The most control characters of one string that its repair spells as escapes.
const MAX_REPAIRED_CONTROLS: usize = 256;

/// Where a string was found to end.
struct End {
    /// The end of its text.
    content: usize,
    /// Where reading goes on.
    next: usize,
    /// What is wrong with that end.
    fault: Option<Kind>,
    escapes: bool,
    controls: bool,
}

/// The offset from `at` of the next `"`, backslash or control character; the length if there is none.
///
/// Eight bytes at a time: the lowest marked byte of each of the three tests is exact.
#[inline]
pub(super) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * 0x22);
        let slash = word ^ (ONES * 0x5c);
        let mask = (word.wrapping_sub(ONES * 0x20) & !word)
            | (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash);
        let mask = mask & HIGHS;
        if mask != 0 {
            return at + mask.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        at += 1;
    }
    at.min(bytes.len())
}

/// Whether what stands at `at` can follow a string: a separator, a bracket, a line end, the end.
/// White space before it is passed over, that which JSON does not have too.
fn looks_closed(bytes: &[u8], mut at: usize) -> bool {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(0x0b | 0x0c | 0x80..) => match odd_space(bytes, at) {
                0 => break,
                len => at += len,
            },
            _ => break,
        }
    }
    matches!(bytes.get(at), None | Some(b',' | b':' | b'}' | b']' | b'\n' | b'\r'))
}

/// How many bytes the white space at `at` has that JSON does not have as such; 0 if there is none. A byte
/// order mark and a space without width count.
pub(super) fn odd_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest {
        [0x0b | 0x0c, ..] => 1,
        [0xc2, 0x85 | 0xa0, ..] => 2,
        // U+1680, U+2000 to U+200B, U+2028, U+2029, U+202F, U+205F, U+3000, U+FEFF.
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8b | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..]
        | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// `"…"` characters of typographic kinds that can close a string which `open` opened.
fn closes(open: char, close: char) -> bool {
    match open {
        '\'' | '`' => close == open,
        '‘' | '’' | '‚' | '‛' => matches!(close, '‘' | '’' | '‚' | '‛' | '\''),
        '«' => close == '»',
        '»' => close == '«',
        _ => matches!(close, '“' | '”' | '„' | '‟' | '"'),
    }
}

/// Whether `c` opens a string of some other language, or of some word processor.
pub(super) fn is_other_quote(c: char) -> bool {
    "'`‘’‚‛“”„‟«»".contains(c)
}

impl Parser<'_> {
    /// Reads the string whose `"` stands at `at`, a member name if `name`.
    #[inline]
    pub(super) fn string(&mut self, name: bool) {
        let start = self.at;
        let end = plain_end(self.bytes, start + 1);
        if self.bytes.get(end) == Some(&b'"')
            && matches!(
                self.bytes.get(end + 1),
                None | Some(b',' | b':' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
            )
            && (name || self.bytes.get(end + 1) != Some(&b':'))
        {
            self.at = end + 1;
            self.push_string(Span::new(start, end + 1), PLAIN);
        } else {
            self.unusual_string(start, name);
        }
    }

    fn push_string(&mut self, span: Span, extra: u32) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { span, next, extra, tag: Tag::String, flag: false, guessed: false });
    }

    /// A string with escapes or with something wrong.
    #[inline(never)]
    fn unusual_string(&mut self, start: usize, name: bool) {
        let end = self.find_end(start, name);
        if end.fault == Some(Kind::Unexpected) {
            // The second quotation mark is the one that opens it.
            let stray = Span::new(start, start + 1);
            let close = self.string_end(end.next);
            let mut words = ("this quotation mark opens nothing", "delete it");
            let mut edits = vec![(stray, String::new())];
            let is_doubled = end.next == start + 1 && self.bytes.get(close) == Some(&b'"');
            if is_doubled {
                words = ("the quotation marks of this string are doubled", "delete the outer ones");
                edits.push((Span::new(close, close + 1), String::new()));
            }
            self.report(stray, Kind::Unexpected, words.0)
                .map(|it| it.repair(words.1, edits, false));
            self.at = end.next;
            self.string(name);
            if is_doubled && self.at == close {
                self.at += 1;
            }
            return;
        }
        if end.fault.is_none() && !end.escapes && !end.controls {
            self.at = end.next;
            self.push_string(Span::new(start, end.next), PLAIN);
            return;
        }
        let span = Span::new(start, end.next.max(end.content));
        let content = Span::new(start + 1, end.content);
        let (first, beyond) = (self.errors.len(), self.more_errors);
        let extra = self.decode(content, '"');
        // Of a string that ends in the wrong place, nobody knows which escapes are its own.
        let of_escapes = self.errors.get(first).and_then(|error| error.repair.clone());
        let is_beyond_repair = self.errors.len() > first && of_escapes.is_none();
        if end.fault.is_some() {
            self.errors.truncate(first);
            self.more_errors = beyond;
        }
        if let Some(spelling) = self.spellings.last_mut() {
            // What runs over a line's end may have been meant to end there.
            let runs_on = || self.text[content.range()].contains(['\n', '\r']);
            if end.fault.is_some() || end.controls && runs_on() {
                spelling.fault = Fault::Guessed;
            } else if end.controls {
                spelling.fault = Fault::Misspelled;
            }
        }
        match end.fault {
            Some(Kind::UnclosedString) => {
                self.lose();
                let swallowed = &self.bytes[content.range()];
                let truncated = self.truncated;
                let swallows = swallowed.iter().any(|byte| b"}]{[".contains(byte));
                if swallows {
                    self.forgive();
                }
                // White space of other kinds may be what stands for the quotation mark.
                let (at, quote) = self.closing_edit(content, end.next);
                let message = "this string is not closed";
                if let Some(error) = self.report(span, Kind::UnclosedString, message)
                    && !swallows
                    && !truncated
                {
                    error.replace("close it here", at, quote, false);
                }
            }
            Some(_) => {
                let inner = self.inner_quotes(content);
                let first = inner.first().copied().unwrap_or(content);
                let mut edits: Vec<_> =
                    inner.into_iter().map(|at| (at, "\\\"".to_owned())).collect();
                edits.extend(of_escapes.into_iter().flat_map(|repair| repair.edits));
                edits.sort_by_key(|(at, _)| *at);
                self.report(
                    first,
                    Kind::UnescapedQuote,
                    "this quotation mark ends the string too early",
                )
                .filter(|_| !is_beyond_repair)
                .map(|it| it.repair("escape the quotation marks", edits, false));
            }
            None => {}
        }
        if end.controls {
            self.control_characters(content, first);
        }
        self.at = end.next;
        self.push_string(span, extra);
    }

    /// What closes a string that has no closing quotation mark, reading on at `next`.
    fn closing_edit(&self, content: Span, next: usize) -> (Span, &'static str) {
        let end = content.end as usize;
        let text = &self.text[content.range()];
        let slashes = |text: &str| text.len() - text.trim_end_matches('\\').len();
        // The mark would be escaped by a backslash before it, or has been.
        if slashes(text) % 2 == 1 {
            return (Span::empty(end), "\\\"");
        }
        if let Some(before) = text.strip_suffix('"')
            && slashes(before) % 2 == 1
        {
            return (Span::empty(end - 1), "\\");
        }
        (Span::new(end, next.max(end)), "\"")
    }

    /// The quotation marks in `content` that no backslash precedes.
    fn inner_quotes(&self, content: Span) -> Vec<Span> {
        let mut found = Vec::new();
        let mut at = content.start as usize;
        while at < content.end as usize && found.len() < MAX_REPAIRED_CONTROLS {
            match self.bytes[at] {
                b'\\' => at += 1,
                b'"' => found.push(Span::new(at, at + 1)),
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// One error for all the control characters of a string, or none where `first_error` is one of it
    /// already: that one's repair spells them then.
    fn control_characters(&mut self, content: Span, first_error: usize) {
        let bytes = &self.bytes[content.range()];
        let mut edits = Vec::new();
        let mut first = None;
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            let len = if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
            if byte < 0x20 {
                let span = Span::new(at, at + len).shifted(content.start as usize);
                // A backslash that was to go on with the string in the next line.
                let continued = matches!(byte, b'\n' | b'\r') && bytes[..at].ends_with(b"\\");
                first.get_or_insert((span, byte));
                if edits.len() > MAX_REPAIRED_CONTROLS {
                    break;
                }
                let escape = match byte {
                    b'\n' | b'\r' => "\\n".to_owned(),
                    b'\t' => "\\t".to_owned(),
                    _ => format!("\\u{byte:04x}"),
                };
                edits.push((Span { start: span.start - u32::from(continued), ..span }, escape));
            }
            at += len;
        }
        let Some((span, byte)) = first else { return };
        let message = match byte {
            b'\n' | b'\r' => "a string cannot run over the end of a line".to_owned(),
            b'\t' => "a tab in a string has to be spelled `\\t`".to_owned(),
            _ => format!("the control character U+{byte:04X} in a string has to be escaped"),
        };
        let repaired = edits.len() <= MAX_REPAIRED_CONTROLS;
        if let Some(error) = self.errors.get_mut(first_error) {
            error.facts.push(format!("{message}, too"));
            match &mut error.repair {
                Some(repair) if repaired && error.kind != Kind::UnclosedString => {
                    // An escape that is none may have been mended with the character that it escapes.
                    let mended = repair.edits.clone();
                    let is_free = |at: Span| {
                        mended.iter().all(|(it, _)| it.end <= at.start || at.end <= it.start)
                    };
                    repair.edits.extend(edits.into_iter().filter(|(at, _)| is_free(*at)));
                    repair.edits.sort_by_key(|(at, _)| *at);
                    repair.safe = false;
                }
                _ => error.repair = None,
            }
            return;
        }
        if let Some(error) = self.report(span, Kind::ControlCharacter, message)
            && repaired
        {
            error.repair("spell it as an escape", edits, byte == b'\t');
        }
    }

    /// Where the string whose `"` stands at `start` ends, or was meant to.
    fn find_end(&mut self, start: usize, name: bool) -> End {
        let bytes = self.bytes;
        let (mut escapes, mut controls) = (false, false);
        let mut at = start + 1;
        let close = loop {
            at = plain_end(bytes, at);
            match bytes.get(at) {
                Some(b'"') => break at,
                Some(b'\\') => {
                    escapes = true;
                    // A backslash escapes no line end; whether that ends the string is decided there.
                    let line_end = matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r'));
                    at += if line_end { 1 } else { 2 };
                }
                Some(b'\n' | b'\r') => {
                    let Some(close) = self.closing_quote_below(at, name) else {
                        self.truncated |= self.text[at..].trim_start().is_empty();
                        return self.unclosed(start, at, escapes, controls, name);
                    };
                    controls = true;
                    break close;
                }
                Some(_) => {
                    controls = true;
                    at += 1;
                }
                None => {
                    self.truncated = true;
                    return self.unclosed(start, bytes.len(), escapes, controls, name);
                }
            }
        };
        let closed = End { content: close, next: close + 1, fault: None, escapes, controls };
        // A double colon belongs to the text of a frame or a pattern.
        if !name && bytes[close + 1..].starts_with(b"::") {
            return self.glued(start, &closed, name);
        }
        // A name is followed by a colon or by what the parser makes of it; a value by a separator.
        if matches!(bytes.get(close + 1), Some(b' ' | b'\t' | b'"' | b'/' | b'#' | b'=' | b';'))
            || looks_closed(bytes, close + 1)
            || odd_space(bytes, close + 1) > 0
            || self.stray_follows(start, close + 1, name)
            || name && self.value_is_glued(start, close)
        {
            return closed;
        }
        let is_blank =
            close > start + 1 && bytes[start + 1..close].iter().all(|it| b" \t".contains(it));
        if is_blank && bytes[close + 1].is_ascii_alphanumeric()
            || close == start + 1 && self.is_doubled(close, name)
        {
            return End { next: close, fault: Some(Kind::Unexpected), ..closed };
        }
        self.glued(start, &closed, name)
    }

    /// Whether the `"` at `mark`, right behind another one, opens a string that ends as one should.
    fn is_doubled(&self, mark: usize, name: bool) -> bool {
        let end = self.string_end(mark);
        // The mark at its end may be doubled, too.
        let end = end + usize::from(self.bytes.get(end) == Some(&b'"'));
        let has_colon = self.byte_behind(end) == Some(b':');
        self.text[mark + 1..end].ends_with('"')
            && looks_closed(self.bytes, end)
            && name == has_colon
    }

    /// Whether the colon at `at` has the value of a member behind it, in its line.
    fn value_follows_colon(&self, at: usize) -> bool {
        /// Longer numbers are rather text.
        const LONGEST: usize = 40;
        let rest = self.bytes.get(at + 1..).unwrap_or_default();
        let rest = &rest[rest.iter().take_while(|it| b" \t".contains(it)).count()..];
        let len = rest.iter().take(LONGEST).take_while(|it| !b" \t\r\n,}]".contains(it)).count();
        let word = std::str::from_utf8(&rest[..len]).unwrap_or("x");
        let is_scalar = super::parser::is_number(word) || matches!(word, "true" | "false" | "null");
        word.is_empty() || word.starts_with(['"', '{', '[']) || is_scalar && looks_closed(rest, len)
    }

    /// Whether a value stands right behind the name at `start` that the `"` at `close` ends: only the colon
    /// is missing.
    fn value_is_glued(&self, start: usize, close: usize) -> bool {
        let name = &self.text[start + 1..close];
        // A colon at its end may be the one that is missing.
        if name.strip_suffix(':').unwrap_or(name).contains(':') {
            return false;
        }
        let rest = &self.bytes[close + 1..];
        let len = match rest.first() {
            Some(b'{' | b'[') => return true,
            Some(b'-' | b'0'..=b'9') => {
                rest.iter().take_while(|&&it| it.is_ascii_digit() || b"+-.eE".contains(&it)).count()
            }
            _ => ["true", "false", "null"]
                .iter()
                .find(|word| rest.starts_with(word.as_bytes()))
                .map_or(0, |word| word.len()),
        };
        len > 0 && looks_closed(self.bytes, close + 1 + len)
    }

    /// A string whose `"` is followed by more text at once: either that quote was to stand in the
    /// string, or the string was never closed and the quote opens the next one.
    fn glued(&mut self, start: usize, closed: &End, name: bool) -> End {
        let bytes = self.bytes;
        let content = &self.text[start + 1..closed.content];
        let reopened = |len: usize| {
            let (content, next) = self.settle(start + 1, start + 1 + len);
            End { content, next, fault: Some(Kind::UnclosedString), ..*closed }
        };
        let trimmed = content.trim_end();
        if name {
            // `"id:: 1`: a colon for the quotation mark.
            if let Some(rest) = trimmed.strip_suffix("::") {
                let end = start + 1 + rest.len();
                let fault = Some(Kind::UnclosedString);
                return End { content: end, next: end + 1, fault, ..*closed };
            }
            if let Some(colon) = content.find(':').filter(|_| !content.contains("::")) {
                return reopened(content[..colon].trim_end().len());
            }
        } else if let Some(rest) = trimmed.strip_suffix(',') {
            let rest = rest.trim_end();
            // `"H1},"id": 1`: what stands before the comma closed something.
            return reopened(rest.trim_end_matches(['}', ']', ' ', '\t']).len());
        }
        // The first `"` of the line that looks as if it ended something.
        let mut at = closed.content + 1;
        let mut escapes = closed.escapes;
        let limit = at + self.guesses;
        let mut first = None;
        let in_object = self.stack.last().is_some_and(|open| open.is_object);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\n' | b'\r' => break,
                _ if at >= limit => break,
                b'\\' => {
                    escapes = true;
                    at += 1;
                }
                b'"' if looks_closed(bytes, at + 1) => {
                    let next = bytes[at + 1..].iter().find(|byte| !b" \t".contains(byte));
                    if !name && next == Some(&b':') {
                        // Text of the string has no value of a member behind its colon.
                        let colon = memchr::memchr(b':', &bytes[at..]).map_or(at, |len| at + len);
                        if !self.value_follows_colon(colon) {
                            at += 1;
                            continue;
                        }
                        let structure = [',', '{', '}', '[', ']', ' ', '\t'];
                        let end = reopened(content.trim_end_matches(structure).len());
                        self.guesses = limit.saturating_sub(at);
                        return end;
                    }
                    let fault = Some(Kind::UnescapedQuote);
                    let end = End { content: at, next: at + 1, fault, escapes, ..*closed };
                    // A comma within the string is not followed by what follows a string.
                    if name || next != Some(&b',') || self.comma_fits_well(at + 1, in_object) {
                        return end;
                    }
                    first.get_or_insert(end);
                }
                _ => {}
            }
            at += 1;
        }
        self.guesses = limit.saturating_sub(at);
        if let Some(end) = first {
            return end;
        }
        End { content: closed.content, next: closed.next, fault: None, ..*closed }
    }

    /// The end of an unclosed string's text that begins at `start` and ends at `end`, and where
    /// reading goes on: past what stands there for the quotation mark.
    fn settle(&self, start: usize, end: usize) -> (usize, usize) {
        let text = &self.text[start..end];
        if let Some(rest) = text.strip_suffix(['”', '“', '„', '‟']) {
            return (start + rest.len(), end);
        }
        let behind = &self.text[end..];
        let space = behind.len()
            - behind.trim_start_matches(|c: char| c.is_whitespace() && !"\r\n".contains(c)).len();
        let is_odd = !behind.as_bytes()[..space].iter().all(|byte| b" \t".contains(byte));
        (end, if is_odd { end + space } else { end })
    }

    /// Whether what stands at `at`, right behind a `"`, is a slip between that string's end and the
    /// separator, and no sign that the quotation mark belongs into the string.
    fn stray_follows(&self, start: usize, at: usize, name: bool) -> bool {
        /// How many bytes may be astray.
        const LONGEST: usize = 24;
        let bytes = self.bytes;
        let rest = bytes.get(at..).unwrap_or_default();
        let is_end = |byte: &u8| b"\",:}]\n\r".contains(byte);
        let Some(len) = rest.iter().take(LONGEST).position(is_end) else { return false };
        let stray = self.text[at..at + len].trim();
        let end = at + len;
        let in_object = self.stack.last().is_some_and(|open| open.is_object);
        match rest[len] {
            // What was to be the name reaches into its value.
            _ if name && self.text[start + 1..at - 1].contains(':') => false,
            b'"' if stray.chars().count() > 1 => false,
            b'"' if name => !looks_closed(bytes, end + 1),
            b'"' if in_object => self.opens_member(end),
            b'"' => !looks_closed(bytes, end + 1) && looks_closed(bytes, self.string_end(end)),
            // One character may stand for a closing bracket, too.
            b',' if !name && stray.chars().count() == 1 => {
                self.comma_fits_well(end, in_object) || self.comma_fits_well(end, !in_object)
            }
            b',' => !name && self.comma_fits_well(end, in_object),
            b':' => name,
            b'}' => !name && in_object && self.closer_fits_well(end),
            b']' => !name && !in_object && self.closer_fits_well(end),
            _ => true,
        }
    }

    /// The `"` on a later line that closes a string which runs over the line end at `at`; `None`
    /// if the next `"` rather opens another string.
    fn closing_quote_below(&self, at: usize, name: bool) -> Option<usize> {
        let bytes = self.bytes;
        let mut quote = at;
        loop {
            quote = plain_end(bytes, quote);
            match bytes.get(quote)? {
                b'"' => break,
                b'\\' => quote += 2,
                _ => quote += 1,
            }
        }
        let line = bytes[..quote].iter().rposition(|&byte| byte == b'\n' || byte == b'\r')?;
        let lead = &bytes[line + 1..quote];
        let opens = lead.iter().all(|byte| b" \t{}[],:".contains(byte));
        // An opening quote is followed by its text, a closing one by a separator. The text of a frame
        // or a pattern may end in a double colon, or in brackets that are nothing to JSON.
        let end = lead.trim_ascii_end();
        let is_structure = match end.last() {
            Some(b':') => !end.ends_with(b"::"),
            Some(b'{' | b'[') => opens,
            _ => false,
        };
        let closes = looks_closed(bytes, quote + 1)
            && !(opens && !name && bytes.get(quote + 1) == Some(&b':'))
            && !is_structure;
        closes.then_some(quote)
    }

    /// A string that ends with its line or with the text.
    fn unclosed(
        &self,
        start: usize,
        line_end: usize,
        escapes: bool,
        controls: bool,
        name: bool,
    ) -> End {
        let text = self.text[start + 1..line_end].trim_end();
        let colon = text.find(':').filter(|_| name && !text.contains("::"));
        let len = match colon {
            Some(colon) => text[..colon].trim_end().len(),
            // The comma was to stand behind the string.
            None => text.strip_suffix(',').map_or(text.len(), |rest| rest.trim_end().len()),
        };
        let (content, next) = self.settle(start + 1, start + 1 + len);
        End { content, next, fault: Some(Kind::UnclosedString), escapes, controls }
    }

    /// Reads a string in quotes of another kind at `at`; it ends with its line at the latest.
    pub(super) fn other_quotes(&mut self, open: char) {
        let start = self.at;
        let inner = start + open.len_utf8();
        let mut close = None;
        let mut escaped = false;
        let mut line_end = self.text.len();
        for (at, c) in self.text[inner..].char_indices() {
            let (at, end) = (inner + at, inner + at + c.len_utf8());
            if matches!(c, '\n' | '\r') {
                line_end = at;
                break;
            } else if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if closes(open, c) {
                if looks_closed(self.bytes, end) || self.bytes.get(end) == Some(&b'=') {
                    close = Some((at, end));
                    break;
                }
                close = close.or(Some((at, end)));
            }
            if let Some((_, first)) = close
                && end - first >= self.guesses
            {
                break;
            }
        }
        if let Some((_, first)) = close
            && !looks_closed(self.bytes, first)
        {
            self.guesses = self.guesses.saturating_sub(line_end - first);
        }
        let rest = &self.text[inner..line_end];
        // A string of JavaScript that may have several lines.
        let several_lines = open == '`' && close.is_none();
        if several_lines && let Some(at) = self.backtick_below(line_end) {
            close = Some((at, at + 1));
        }
        // `'H1",`: of the right kind at its end.
        if close.is_none() {
            let mark = rest.match_indices('"').map(|(at, _)| inner + at);
            close =
                mark.filter(|&at| looks_closed(self.bytes, at + 1)).map(|at| (at, at + 1)).next();
        }
        let Some((content_end, end)) = close else {
            let text = rest.trim_end();
            let end =
                inner + text.strip_suffix(',').map_or(text.len(), |text| text.trim_end().len());
            let content = Span::new(inner, end);
            let span = Span::new(start, end);
            if end == self.bytes.len() {
                self.truncated = true;
            }
            self.lose();
            self.forgive();
            self.report(span, Kind::UnclosedString, "this string is not closed");
            let extra = self.spell_as_it_is(content, Fault::Guessed);
            self.at = end;
            self.push_string(span, extra);
            return;
        };
        let content = Span::new(inner, content_end);
        let span = Span::new(start, end);
        let (kind, message) = if open.is_ascii() {
            (Kind::WrongQuotes, format!("a string in `{open}` instead of `\"`"))
        } else {
            (Kind::TypographicQuotes, format!("a string in typographic quotes (`{open}`)"))
        };
        let text = &self.text[content.range()];
        let mut edits = vec![(Span::new(start, inner), "\"".to_owned())];
        let mut escaped = false;
        for (at, c) in text.char_indices() {
            let here = Span::new(at, at + c.len_utf8()).shifted(inner);
            match c {
                '"' if !escaped => edits.push((here, "\\\"".to_owned())),
                // `\'` is no escape of JSON.
                '\'' | '`' if escaped => {
                    edits.push((
                        Span::new(here.start as usize - 1, here.start as usize),
                        String::new(),
                    ));
                }
                _ => {}
            }
            escaped = c == '\\' && !escaped;
        }
        edits.push((Span::new(content_end, end), "\"".to_owned()));
        // Whether line ends were meant to be part of it is not known.
        let repaired = edits.len() <= MAX_REPAIRED_CONTROLS && content_end <= line_end;
        if let Some(error) = self.report(span, kind, message)
            && repaired
        {
            error.repair("put it in double quotes", edits, true);
        }
        let extra = self.decode(content, open);
        if content_end > line_end
            && let Some(spelling) = self.spellings.last_mut()
        {
            spelling.fault = Fault::Guessed;
        }
        self.at = end;
        self.push_string(span, extra);
    }

    /// The backtick on a later line that closes a string which runs over the line end at `at`.
    fn backtick_below(&mut self, at: usize) -> Option<usize> {
        let limit = at.saturating_add(self.guesses).min(self.bytes.len());
        let found = memchr::memchr(b'`', &self.bytes[at..limit]);
        self.guesses = self.guesses.saturating_sub(found.unwrap_or(limit - at));
        found.map(|len| at + len).filter(|&mark| looks_closed(self.bytes, mark + 1))
    }

    /// A spelling whose value is its text.
    fn spell_as_it_is(&mut self, content: Span, fault: Fault) -> u32 {
        let start = self.decoded.len() as u32;
        self.decoded.push_str(&self.text[content.range()]);
        let escapes = self.escapes.len() as u32;
        self.spellings.push(Spelling {
            value: start..self.decoded.len() as u32,
            source: content,
            escapes: escapes..escapes,
            fault,
        });
        self.spellings.len() as u32 - 1
    }

    /// Whether what stands at `at` can follow a string.
    pub(super) fn is_closed(&self, at: usize) -> bool {
        looks_closed(self.bytes, at)
    }

    /// A string without its opening quotation mark.
    pub(super) fn push_unopened(&mut self, span: Span, content: Span) {
        let extra = self.decode(content, '"');
        if let Some(spelling) = self.spellings.last_mut() {
            spelling.fault = Fault::Guessed;
        }
        self.push_string(span, extra);
    }

    /// A string at `span` of which `content` is what was meant.
    pub(super) fn push_respelled(&mut self, span: Span, content: Span) {
        let extra = self.spell_as_it_is(content, Fault::Guessed);
        self.push_string(span, extra);
    }

    /// A string that is `content` as it stands, such as a name without quotes.
    pub(super) fn push_unquoted(&mut self, content: Span) {
        let extra = self.spell_as_it_is(content, Fault::Misspelled);
        self.push_string(content, extra);
    }

    /// Decodes what stands between the quotes; escapes that JSON does not have are reported and
    /// kept as they are spelled.
    fn decode(&mut self, content: Span, quote: char) -> u32 {
        let value = self.decoded.len();
        let first_escape = self.escapes.len() as u32;
        let (first_error, count) = (self.errors.len(), self.error_count());
        let end = content.end as usize;
        let text = self.text;
        let mut at = content.start as usize;
        while let Some(run) = memchr::memchr(b'\\', &self.bytes[at..end]) {
            self.decoded.push_str(&text[at..at + run]);
            at = self.escape(at + run, end, value, quote);
        }
        self.decoded.push_str(&text[at..end]);
        let fault = if self.error_count() == count {
            Fault::None
        } else if self.errors[first_error..].iter().any(|it| it.kind == Kind::TruncatedEscape) {
            // Which character was meant is not known.
            Fault::Guessed
        } else {
            Fault::Misspelled
        };
        if self.errors.len() > first_error {
            self.doubt_escapes(first_escape as usize, first_error);
            self.join_escapes(first_error);
        }
        self.spellings.push(Spelling {
            value: value as u32..self.decoded.len() as u32,
            source: content,
            escapes: first_escape..self.escapes.len() as u32,
            fault,
        });
        self.spellings.len() as u32 - 1
    }

    /// Where some backslashes of a string were not doubled, escapes that JSON does have may be slips
    /// too: to double the bad ones alone would make a loud error a silent one.
    #[cold]
    fn doubt_escapes(&mut self, first_escape: usize, first_error: usize) {
        let escapes = self.escapes.get(first_escape..).unwrap_or_default();
        let Some((spelled, meaning)) = escapes.iter().find_map(|escape| {
            let start = escape.source as usize;
            let spelled = self.text.get(start..start + usize::from(escape.source_len))?;
            let meaning = match self.bytes.get(start + 1)? {
                b'b' => "a backspace",
                b'f' => "a form feed",
                b'n' => "a line feed",
                b'r' => "a carriage return",
                b't' => "a tab",
                b'u' if escape.surrogate != 0 => "half a character",
                b'u' if spelled.starts_with(r"\u00") && (spelled < r"\u0020") => {
                    "a control character"
                }
                _ => return None,
            };
            Some((spelled, meaning))
        }) else {
            return;
        };
        let fact = format!(
            "`{spelled}` in this string is {meaning} for JSON; its backslash probably needs doubling as well"
        );
        for error in self.errors.iter_mut().skip(first_error) {
            if error.kind == Kind::BadEscape {
                error.facts.push(fact.clone());
                if let Some(repair) = &mut error.repair {
                    repair.safe = false;
                }
            }
        }
    }

    /// Makes one error of those of one string's escapes, which begin at `first_error`: whoever did not
    /// double one backslash of a pattern did not double the others.
    #[cold]
    fn join_escapes(&mut self, first_error: usize) {
        let mut joined = self.errors.drain(first_error..);
        let Some(mut first) = joined.next() else { return };
        let (mut count, mut all_mended) = (0, true);
        for error in joined {
            count += 1;
            let edits = error.repair.map(|repair| (repair.edits, repair.safe));
            match (&mut first.repair, edits) {
                (Some(repair), Some((edits, safe))) => {
                    repair.edits.extend(edits);
                    repair.safe &= safe;
                }
                _ => all_mended = false,
            }
        }
        if count > 0 {
            first.facts.push(match count {
                1 => "one more escape of this string is none of JSON".to_owned(),
                more => format!("{more} more escapes of this string are none of JSON"),
            });
            match &mut first.repair {
                Some(repair) if all_mended => repair.message = "double the backslashes",
                repair => *repair = None,
            }
        }
        self.errors.push(first);
    }

    /// Decodes the escape at `at`; gives where it ends.
    fn escape(&mut self, at: usize, end: usize, value: usize, quote: char) -> usize {
        let letter = if at + 1 < end { self.bytes[at + 1] } else { b'\n' };
        let plain = match letter {
            b'"' | b'\\' | b'/' => letter as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(at, end, value),
            b'\'' | b'`' if letter as char == quote => quote,
            // Before a line end, which is an error of its own.
            b'\n' | b'\r' => {
                self.decoded.push('\\');
                return at + 1;
            }
            _ => return self.bad_escape(at),
        };
        self.push_escape(at, 2, plain, 0, value);
        at + 2
    }

    fn push_escape(
        &mut self,
        source: usize,
        source_len: u8,
        c: char,
        surrogate: u16,
        value: usize,
    ) {
        self.escapes.push(Escape {
            at: (self.decoded.len() - value) as u32,
            len: c.len_utf8() as u8,
            source_len,
            source: source as u32,
            surrogate,
        });
        self.decoded.push(c);
    }

    /// The four hexadecimal digits that a `\u` at `at` has.
    fn unit(&self, at: usize, end: usize) -> Option<u16> {
        let digits = self.bytes[..end].get(at + 2..at + 6)?;
        digits
            .iter()
            .try_fold(0u16, |unit, &digit| Some(unit << 4 | (digit as char).to_digit(16)? as u16))
    }

    fn unicode_escape(&mut self, at: usize, end: usize, value: usize) -> usize {
        let Some(unit) = self.unit(at, end) else {
            let digits =
                self.bytes[at + 2..end].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let span = Span::new(at, at + 2 + digits);
            let message = "`\\u` needs four hexadecimal digits";
            self.report(span, Kind::TruncatedEscape, message);
            self.decoded.push_str(&self.text[span.range()]);
            return span.end as usize;
        };
        if let Some(c) = char::from_u32(u32::from(unit)) {
            self.push_escape(at, 6, c, 0, value);
            return at + 6;
        }
        let is_pair = unit < 0xdc00 && self.bytes[..end].get(at + 6..at + 8) == Some(br"\u");
        let low = if is_pair { self.unit(at + 6, end) } else { None };
        if let Some(low @ 0xdc00..=0xdfff) = low {
            let code = 0x10000 + ((u32::from(unit) & 0x3ff) << 10 | u32::from(low) & 0x3ff);
            let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            self.push_escape(at, 12, c, 0, value);
            return at + 12;
        }
        self.push_escape(at, 6, char::REPLACEMENT_CHARACTER, unit, value);
        at + 6
    }

    /// A backslash before something that JSON does not escape: both stay in the value.
    fn bad_escape(&mut self, at: usize) -> usize {
        let c = self.text[at + 1..].chars().next().unwrap_or_default();
        let end = at + 1 + c.len_utf8();
        let span = Span::new(at, end);
        self.decoded.push_str(&self.text[span.range()]);
        if let Some(error) =
            self.report(span, Kind::BadEscape, format_args!("`\\{c}` is no escape of JSON"))
        {
            // What a regular expression means by it can only be meant for the expression.
            if c < ' ' {
                let spelled = match c {
                    '\t' => "\\t".to_owned(),
                    _ => format!("\\u{:04x}", u32::from(c)),
                };
                error.replace("spell it as an escape", span, spelled, false);
                return end;
            }
            let plain = c.is_ascii_punctuation() && c != '\'' || "dDwWsSBAZz".contains(c);
            error.replace("double the backslash", Span::empty(at), "\\", plain);
        }
        end
    }
}
