//! A second look at a text with several errors: would fewer be left if one token were another?
//!
//! The parser reads on from every mistake by what stands near it. Where the token at fault is not
//! the one at which reading fails (`{` typed for `[`, a bracket too many that happens to close
//! something), what it reads then is not what was meant, and one mistake gives several errors. So
//! a text with several errors is read again with one token mended, for each way to mend one near
//! an error ([`Near::candidates`], the likelier ones first), and the way that leaves the fewest errors
//! is kept if those and the mended one are fewer than before. The rest of the text is the judge, and an
//! error that is sure by itself, such as a comment, is never explained away ([`explains`]).
//!
//! A closing bracket that is missing shows late, or far too late where members fall into the object that
//! is not closed. Where it is missing is seen by the layout, or else by what the neighbours of the object
//! are made of ([`better_places`]); the text is the judge there, too.
//!
//! A mended text is another text, of another length. What was read of it is brought back to the
//! places of the text as it is ([`Mended::settle`]); strings and containers that the mended token lies in
//! are marked as guessed.
//!
//! How much is read again is bounded by a multiple of the text's length ([`READINGS`]), so that the
//! whole stays linear, and by [`MAX_READ`]; what is not tried by then is left as it was read at first. A text that is right is never read again.

use std::collections::HashSet;
use std::ops::Range;

use super::error::{Repair, SyntaxError, SyntaxErrorKind as Kind};
use super::parser::Parser;
use super::{Document, Escape, Fault, MAX_ERRORS, Node, Spelling, Tag};
use crate::span::Span;

/// How many times the length of the text may be read again, looks ahead included.
const READINGS: usize = 12;

/// How many bytes may be read again besides, whatever the length.
const MIN_READ: usize = 1 << 22;

/// How many bytes may be read again at the most, a second or two.
const MAX_READ: usize = 1 << 26;

/// At how many errors a mend is tried.
const MAX_TRIED: usize = 12;

/// The most strings that are joined at once, and the most bytes between two of them.
const MAX_JOINED: usize = 64;
const MAX_GAP: usize = 200;

/// Looks again at a text of which `document` was read.
#[cold]
pub(super) fn look_again<'s>(text: &'s str, mut document: Document<'s>) -> Document<'s> {
    if document.errors.len() >= MAX_ERRORS || text.len() > MAX_READ {
        return document;
    }
    let budget = text.len().saturating_mul(READINGS).saturating_add(MIN_READ);
    let mut budget = budget.min(MAX_READ);
    let elsewhere = better_places(text, &document);
    if let [error] = document.errors.as_slice() {
        let mut mends = Vec::new();
        if matches!(error.kind, Kind::Unexpected | Kind::MissingComma | Kind::Unclosed) {
            Near::find(text, error.span.start as usize).beside(error.kind, &mut mends);
        }
        // The brackets that close what is around it may lie in it.
        if error.kind == Kind::UnclosedString && text[error.span.range()].contains(['}', ']']) {
            let near = Near::find(text, error.span.start as usize);
            if let Some(token) = near.tokens.get(near.before)
                && near.first(token) == b'"'
            {
                near.closings(token, &mut mends);
            }
        }
        let near = Near::find(text, error.span.start as usize);
        // Something else than letters, digits and signs may have come into a number or a literal.
        let is_odd = |it: char| !it.is_ascii_alphanumeric() && !"+-._ ".contains(it);
        if matches!(error.kind, Kind::UnquotedText | Kind::BadNumber)
            && (error.kind == Kind::UnquotedText || text[error.span.range()].contains(is_odd))
        {
            near.splits(&mut mends);
        }
        // A letter of a literal may be what looks like a quotation mark.
        if error.kind == Kind::UnclosedString && !text[error.span.range()].starts_with('"') {
            near.splits(&mut mends);
        }
        if error.kind == Kind::Unopened {
            near.opener(&mut mends);
        }
        mends.extend(nested_array(&document, error));
        // Its closing bracket shows that the opening one of a list of strings is missing.
        let is_list =
            error.kind == Kind::Unopened && text[error.span.range().end..].starts_with('"');
        let fits = |mend: &Mend| !is_list || mend.error.kind != Kind::WrongCloser;
        mends.extend(elsewhere.into_iter().filter(fits));
        for mend in mends {
            let Some(mended) = Mended::new(text, vec![mend]) else { continue };
            let (read, cost) = Parser::new(&mended.text).run_within(0);
            budget = budget.saturating_sub(cost.saturating_add(text.len() / 8));
            if let Some(read) = read.and_then(|read| mended.settle(text, read)) {
                return read;
            }
            if budget == 0 {
                break;
            }
        }
        return document;
    }
    let mut mends: Vec<Mend> = Vec::new();
    for tried in 0..MAX_TRIED {
        let Some(error) = document.errors.get(tried) else { break };
        if document.errors.len() <= mends.len() + 1 {
            break;
        }
        let near = Near::find(text, error.span.start as usize);
        budget = budget.saturating_sub(error.span.start as usize);
        let mut best = None;
        let mut fewest = document.errors.len();
        let comment = uncommented(text, error);
        for mend in comment.into_iter().chain(elsewhere.iter().cloned()).chain(near.candidates()) {
            let mut all = mends.clone();
            all.push(mend);
            // The error of each mend counts.
            let Some(most) = fewest.checked_sub(all.len() + 1) else { break };
            let Some(mended) = Mended::new(text, all) else { continue };
            let (read, cost) = Parser::new(&mended.text).run_within(most);
            // To write it costs, too.
            budget = budget.saturating_sub(cost.saturating_add(text.len() / 8));
            if let Some(read) = read
                && let errors = read.errors.len() + mended.mends.len()
                && let Some(read) = mended.settle(text, read)
                && explains(&document, &read)
            {
                fewest = errors;
                best = Some((mended.mends, read));
            }
            if budget == 0 {
                break;
            }
        }
        if let Some(best) = best {
            (mends, document) = best;
        }
        if budget == 0 {
            break;
        }
    }
    document
}

/// Whether what is left of the errors was there before, and those that are sure whatever stands around
/// them are left.
fn explains(before: &Document<'_>, after: &Document<'_>) -> bool {
    let is_sure = |error: &SyntaxError| {
        matches!(
            error.kind,
            Kind::Comment
                | Kind::Conflict
                | Kind::WrongLiteral
                | Kind::NotFinite
                | Kind::LongNumber
                | Kind::TypographicQuotes
                | Kind::ControlCharacter
                | Kind::BadEscape
                | Kind::TruncatedEscape
                | Kind::TooDeep
        )
    };
    let places = |document: &Document<'_>| -> HashSet<_> {
        document.errors.iter().map(|error| (error.span.start, error.kind)).collect()
    };
    let (old, new) = (places(before), places(after));
    let sure = before.errors.iter().filter(|error| is_sure(error));
    sure.map(|error| (error.span.start, error.kind)).all(|error| new.contains(&error))
        && new.difference(&old).count() <= 1
}

/// A way to mend one token, and the error that it is the repair of.
#[derive(Clone)]
struct Mend {
    /// What to put where, in order, none overlapping another.
    edits: Vec<(Range<usize>, &'static str)>,
    error: SyntaxError,
    /// Whether it is a bracket: what belongs to which container is a guess then.
    is_bracket: bool,
}

impl Mend {
    fn new(
        edits: Vec<(Range<usize>, &'static str)>,
        at: Range<usize>,
        kind: Kind,
        message: String,
        words: &'static str,
    ) -> Self {
        let as_edit = |(range, new): &(Range<usize>, &str)| {
            (Span::new(range.start, range.end), new.trim().to_owned())
        };
        let repair =
            Repair { message: words, edits: edits.iter().map(as_edit).collect(), safe: false };
        let span = Span::new(at.start, at.end);
        let (related, repair, facts) = (None, Some(repair), Vec::new());
        let error = SyntaxError { span, kind, message, related, repair, facts };
        Self { edits, error, is_bracket: kind.is_of_brackets() }
    }
}

// Brackets that are missing long before that shows.

/// Where a closing bracket may be missing earlier than where its absence shows: there the members that
/// follow have fallen into the object that is not closed.
fn better_places(text: &str, document: &Document<'_>) -> Vec<Mend> {
    let is_missing = |error: &&SyntaxError| {
        matches!(error.kind, Kind::Unclosed | Kind::WrongCloser) && error.related.is_some()
    };
    let missing = document.errors.iter().find(is_missing);
    let by_names = missing.and_then(|error| unclosed_by_names(document, error));
    let mut places = misplaced_by_layout(text);
    places.extend(by_names);
    if let Some(error) = document.errors.first().filter(|_| missing.is_none()) {
        places.extend(unclosed_before(text, error));
    }
    places
}

/// Where `error` says that a `{` does not belong in an object: the object may be an element of a list, and
/// the bracket of its last member is missing.
fn unclosed_before(text: &str, error: &SyntaxError) -> Option<Mend> {
    if error.kind != Kind::Unexpected || !text[error.span.range()].starts_with('{') {
        return None;
    }
    let near = Near::find(text, error.span.start as usize);
    let opener = *near.open.last()?;
    let before = text[..error.span.start as usize].trim_end();
    let at = before.strip_suffix(',')?.trim_end().len();
    let mended = Mended::new(text, vec![unclosed(opener, at, "}")])?;
    let (read, _) = Parser::new(&mended.text).run_within(0);
    let read = mended.settle(text, read?)?;
    unclosed_by_names(&read, read.errors.first()?)
}

fn unclosed(opener: usize, at: usize, new: &'static str) -> Mend {
    let (what, right) = if new.starts_with('}') { ("object", "}") } else { ("array", "]") };
    let message = format!("this {what} is not closed: `{right}` is missing");
    let mut mend = Mend::new(vec![(at..at, new)], at..at, Kind::Unclosed, message, "close it");
    mend.error.relate(Span::new(opener, opener + 1), "opened here");
    mend
}

/// The first container whose opening bracket ends its line, and that is not closed though a later line is
/// indented no deeper than that one; before it, closing brackets of such containers that stand elsewhere
/// than below what they close.
fn misplaced_by_layout(text: &str) -> Vec<Mend> {
    const MOST: usize = 4;
    struct Open {
        at: usize,
        indent: usize,
        ends_line: bool,
    }
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let (mut at, mut last_end, mut indent) = (0, 0, 0);
    while let Some(token) = token(text, at) {
        let line = memchr::memrchr2(b'\n', b'\r', &bytes[last_end..token.start]);
        if let Some(line) = line {
            indent = token.start - (last_end + line + 1);
        }
        let byte = bytes[token.start];
        let closes = matches!(byte, b'}' | b']');
        if let Some(top) = open.last_mut() {
            if top.at + 1 == last_end {
                top.ends_line = line.is_some();
            }
            let is_out = if closes {
                indent < top.indent
            } else {
                // A bracket that opens elsewhere than its neighbours do is rather astray.
                let opens = matches!(byte, b'{' | b'[');
                let is_neighbour = indent == top.indent && ends_line(bytes, token.end);
                indent <= top.indent && (!opens || is_neighbour)
            };
            // One that opens within a line may end in it.
            if line.is_some() && !top.ends_line && is_out && !closes && found.len() < MOST {
                let end = if bytes[last_end - 1] == b',' { last_end - 1 } else { last_end };
                let at = text[..end].trim_end().len();
                found.push(unclosed(top.at, at, if bytes[top.at] == b'{' { "}" } else { "]" }));
            }
            if line.is_some() && top.ends_line && is_out {
                // A comma stands behind the bracket.
                let end = if bytes[last_end - 1] == b',' { last_end - 1 } else { last_end };
                let at = end - (text[..end].len() - text[..end].trim_end().len());
                if closes {
                    found.push(stray(text, token.clone()));
                }
                // Of two that are alike and have nothing between them, one is too many.
                if byte == bytes[top.at] && top.at + 1 == last_end {
                    found.push(stray(text, token));
                    return found;
                }
                let rights = if bytes[top.at] == b'{' { ["}", "},"] } else { ["]", "],"] };
                found.extend(rights.map(|right| unclosed(top.at, at, right)));
                return found;
            }
        }
        match byte {
            b'{' | b'[' => open.push(Open { at: token.start, indent, ends_line: false }),
            b'}' | b']' => {
                // One that does not stand below what it closes closes it too early.
                let is_odd = |it: Open| it.ends_line && (line.is_none() || indent != it.indent);
                if open.pop().is_some_and(is_odd) && found.len() < MOST {
                    found.push(stray(text, token.clone()));
                }
            }
            _ => {}
        }
        (at, last_end) = (token.end, token.end);
    }
    found
}

/// Whether nothing but spaces stands between `at` and the end of its line.
fn ends_line(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    let next = rest.iter().find(|byte| !b" \t".contains(byte));
    matches!(next, None | Some(b'\n' | b'\r'))
}

/// Where `error` says that an object in a list is not closed: its last member may be an object that has
/// members which the other objects of the list have, too.
fn unclosed_by_names(document: &Document<'_>, error: &SyntaxError) -> Option<Mend> {
    /// How many neighbours are looked at, on either side.
    const NEIGHBOURS: usize = 4;
    let opener = error.related.as_ref()?.0.start;
    let id = document.nodes.partition_point(|node| node.span.start < opener);
    let list = document.nodes[..id]
        .iter()
        .rposition(|node| node.tag == Tag::Array && node.next as usize > id)?;
    let value = |id: usize| super::Value { doc: document, id: id as u32 };
    let object = value(id).as_object()?;
    let elements: Vec<_> = value(list).as_array()?.elements().collect();
    let index = elements.iter().position(|it| it.id() as usize == id)?;
    let near = index.saturating_sub(NEIGHBOURS)..elements.len().min(index + NEIGHBOURS + 1);
    let neighbours: Vec<_> = near
        .filter(|&it| it != index)
        .filter_map(|it| elements[it].as_object())
        .flat_map(super::Object::members)
        .map(|member| member.name.value())
        .collect();
    let inner = object.members().last()?.value.as_object()?;
    let members: Vec<_> = inner.members().collect();
    let stray = members.iter().position(|it| neighbours.contains(&it.name.value()))?;
    let before = members.get(stray.checked_sub(1)?)?;
    let start = inner.as_value().span().start as usize;
    Some(unclosed(start, before.value.span().end as usize, "}"))
}

/// Where an array that is not closed has one array in it among its elements, or nothing else: its opening
/// bracket is one too many, rather.
fn nested_array(document: &Document<'_>, error: &SyntaxError) -> Option<Mend> {
    if !matches!(error.kind, Kind::Unclosed | Kind::WrongCloser) {
        return None;
    }
    let outer = error.related.as_ref()?.0.start;
    let id = document.nodes.partition_point(|node| node.span.start < outer);
    let value = super::Value { doc: document, id: u32::try_from(id).ok()? };
    let mut inner = value.as_array()?.elements().filter_map(super::Value::as_array);
    let (inner, more) = (inner.next()?, inner.next());
    let at = inner.as_value().span().start as usize;
    more.is_none().then(|| stray(document.text, at..at + 1))
}

/// Where `error` is a comment up to the end of its line: what stands in it may be of the document, and only
/// its mark too much.
fn uncommented(text: &str, error: &SyntaxError) -> Option<Mend> {
    let comment = text.get(error.span.range()).filter(|_| error.kind == Kind::Comment)?;
    let len = if comment.starts_with('#') {
        1
    } else if comment.starts_with("//") {
        2
    } else {
        return None;
    };
    let start = error.span.start as usize;
    let at = start..start + len;
    let edits = vec![(at.clone(), " ")];
    let message = "a comment in JSON, which hides a part of it".to_owned();
    Some(Mend::new(edits, at, Kind::Comment, message, "delete its mark"))
}

/// The token at `at` is too many.
fn stray(text: &str, at: Range<usize>) -> Mend {
    let shown: String = text[at.clone()].chars().take(40).collect();
    let (kind, message) = match shown.as_bytes().first() {
        Some(b'}' | b']') => (Kind::WrongCloser, format!("`{shown}` closes nothing that is open")),
        Some(b'{' | b'[') => (Kind::WrongOpener, format!("`{shown}` opens nothing that is closed")),
        _ => (Kind::Unexpected, format!("`{shown}` does not belong here")),
    };
    Mend::new(vec![(at.clone(), " ")], at, kind, message, "delete it")
}

/// The tokens near a place, and what is open there.
struct Near<'s> {
    text: &'s str,
    /// Up to three before the place, and up to four from it on.
    tokens: Vec<Range<usize>>,
    /// How many of them lie before it.
    before: usize,
    /// Where the brackets stand that are open before the place, the innermost last.
    open: Vec<usize>,
}

fn is_structural(byte: u8) -> bool {
    b"{}[]:,".contains(&byte)
}

/// The token at or behind `at`, white space and comments passed over.
fn token(text: &str, mut at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    loop {
        let rest = &bytes[at..];
        match rest.first()? {
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            b'#' => at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"//") => {
                at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            }
            b'/' if rest.starts_with(b"/*") => {
                at += text[at..].find("*/").map_or(rest.len(), |len| len + 2);
            }
            _ => break,
        }
    }
    let start = at;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match bytes[at] {
        b'"' => {
            at += 1;
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'"' => return Some(start..at + 1),
                    b'\n' | b'\r' => break,
                    b'\\' if !matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
                    _ => at += 1,
                }
            }
            at = at.min(bytes.len());
        }
        byte if is_structural(byte) => at += 1,
        byte if is_word(byte) => {
            while bytes.get(at).is_some_and(|&byte| is_word(byte) || byte == b'.') {
                at += 1;
            }
            // A point at its end may stand for something else.
            at -= bytes[start..at].iter().rev().take_while(|&&byte| byte == b'.').count();
        }
        b'.' => at += bytes[at..].iter().take_while(|&&byte| byte == b'.').count(),
        _ => at += text.get(at..)?.chars().next()?.len_utf8(),
    }
    // An escape may lead into the middle of a character.
    while !text.is_char_boundary(at) {
        at += 1;
    }
    Some(start..at)
}

impl<'s> Near<'s> {
    fn find(text: &'s str, place: usize) -> Self {
        const BEFORE: usize = 3;
        const BEHIND: usize = 4;
        let mut near = Self { text, tokens: Vec::new(), before: 0, open: Vec::new() };
        let mut at = 0;
        while let Some(token) = token(text, at) {
            at = token.end;
            if token.end <= place {
                match text.as_bytes()[token.start] {
                    b'{' | b'[' => near.open.push(token.start),
                    b'}' | b']' => {
                        near.open.pop();
                    }
                    _ => {}
                }
                if near.before == BEFORE {
                    near.tokens.remove(0);
                } else {
                    near.before += 1;
                }
            } else if near.tokens.len() == near.before + BEHIND {
                break;
            }
            near.tokens.push(token);
        }
        near
    }

    fn first(&self, token: &Range<usize>) -> u8 {
        self.text.as_bytes().get(token.start).copied().unwrap_or_default()
    }

    fn is_string(&self, token: &Range<usize>) -> bool {
        token.len() > 1 && self.first(token) == b'"' && self.text[..token.end].ends_with('"')
    }

    /// Those tokens at which something may be wrong, the likeliest first: the one at the place, the
    /// one before, the one behind.
    fn suspects(&self) -> impl Iterator<Item = &Range<usize>> {
        let at = self.before;
        [Some(at), at.checked_sub(1), Some(at + 1), Some(at + 2), at.checked_sub(2)]
            .into_iter()
            .flatten()
            .filter_map(|index| self.tokens.get(index))
    }

    /// Ways to mend one token, the likelier ones first.
    fn candidates(&self) -> Vec<Mend> {
        let mut all = Vec::new();
        self.joins(&mut all);
        self.splits(&mut all);
        self.brackets(&mut all);
        self.strays(&mut all);
        self.separators(&mut all);
        self.missing(&mut all);
        self.quotes(&mut all);
        all
    }

    /// What else a single error may be: strings that are joined, a number or a literal before the value
    /// that was meant, brackets with nothing between them.
    fn beside(&self, kind: Kind, all: &mut Vec<Mend>) {
        if kind == Kind::Unexpected {
            self.joins(all);
        }
        let before = self.before.checked_sub(1).and_then(|index| self.tokens.get(index));
        let here = self.tokens.get(self.before).filter(|&it| b"{[".contains(&self.first(it)));
        let (Some(before), Some(here)) = (before, here) else { return };
        let behind = self.tokens.get(self.before + 1).map_or(0, |token| self.first(token));
        if kind == Kind::Unclosed {
            if matches!((self.first(here), behind), (b'{', b'}') | (b'[', b']')) {
                all.push(stray(self.text, here.clone()));
            }
        } else if self.first(before).is_ascii_alphanumeric() || self.first(before) == b'-' {
            all.push(stray(self.text, before.clone()));
        }
    }

    /// One character before the place that stands for an opening bracket.
    fn opener(&self, all: &mut Vec<Mend>) {
        let before = self.before.checked_sub(1).and_then(|index| self.tokens.get(index));
        let Some(token) = before.filter(|token| self.text[(*token).clone()].chars().count() == 1)
        else {
            return;
        };
        let stray = self.text[token.start..].chars().next().unwrap_or_default();
        for right in ["{", "["] {
            let (kind, message) = instead(stray, right);
            let edits = vec![(token.clone(), right)];
            all.push(Mend::new(edits, token.clone(), kind, message, "put the right bracket"));
        }
    }

    /// `"a" + "b"`, and strings side by side.
    fn joins(&self, all: &mut Vec<Mend>) {
        for (index, first) in self.tokens.iter().enumerate() {
            if !self.is_string(first) {
                continue;
            }
            let mut edits = Vec::new();
            let mut at = None;
            let mut last = first.clone();
            while edits.len() < MAX_JOINED {
                let Some(mut next) = token(self.text, last.end) else { break };
                let mut gap = last.end..last.end;
                if matches!(self.first(&next), b'+' | b'.' | b'&' | b'\\' | b'~') {
                    gap = next.clone();
                    let Some(behind) = token(self.text, next.end) else { break };
                    next = behind;
                }
                if !self.is_string(&next) || next.start - last.end > MAX_GAP {
                    break;
                }
                edits.push((last.end - 1..next.start + 1, ""));
                at.get_or_insert(gap);
                last = next;
            }
            let Some(at) = at else { continue };
            // Two marks with nothing between them are rather of one string.
            if let [(marks, _)] = edits.as_slice()
                && marks.len() == 2
            {
                let edits = [marks.start, marks.start + 1].map(|mark| (mark..mark, "\\"));
                let message = "this quotation mark ends the string too early".to_owned();
                let (at, kind) = (marks.start..marks.start + 1, Kind::UnescapedQuote);
                let words = "escape the quotation marks";
                all.push(Mend::new(edits.to_vec(), at, kind, message, words));
            }
            let message = match &self.text[at.clone()] {
                "" => "two strings side by side, which JSON does not join".to_owned(),
                stray => format!("`{stray}` between two strings, which JSON does not join"),
            };
            all.push(Mend::new(edits, at, Kind::Unexpected, message, "join them"));
            // What begins within it is part of it.
            if index >= self.before {
                break;
            }
        }
    }

    /// Brackets of the wrong kind.
    fn brackets(&self, all: &mut Vec<Mend>) {
        let mut replace = |at: Range<usize>, right: &[&'static str]| {
            for &right in right {
                let kind = if b"{[".contains(&right.as_bytes()[0]) {
                    Kind::WrongOpener
                } else {
                    Kind::WrongCloser
                };
                let message = format!("`{}` instead of `{right}`", &self.text[at.clone()]);
                let edits = vec![(at.clone(), right)];
                all.push(Mend::new(edits, at.clone(), kind, message, "put the right bracket"));
            }
        };
        let innermost = self.open.iter().rev().take(2).copied();
        let near = self.suspects().map(|token| token.start);
        let openers: Vec<_> = innermost.chain(near).collect();
        for (index, &at) in openers.iter().enumerate() {
            if openers[..index].contains(&at) {
                continue;
            }
            match self.text.as_bytes().get(at) {
                Some(b'{') => replace(at..at + 1, &["["]),
                Some(b'[') => replace(at..at + 1, &["{"]),
                Some(b'}') => replace(at..at + 1, &["]"]),
                Some(b']') => replace(at..at + 1, &["}"]),
                _ => {}
            }
        }
        // Anything else of one character.
        for token in self.suspects() {
            let spelled = &self.text[token.clone()];
            if spelled.chars().count() == 1 {
                let rights = ["{", "[", "}", "]"];
                let others: Vec<_> =
                    rights.into_iter().filter(|it| !spelled.contains(*it)).collect();
                replace(token.clone(), &others);
            }
        }
    }

    /// Tokens that are too many.
    fn strays(&self, all: &mut Vec<Mend>) {
        let mut delete = |at: Range<usize>| all.push(stray(self.text, at));
        for token in self.suspects() {
            if self.first(token) != b'"' {
                delete(token.clone());
            }
        }
        for &at in self.open.iter().rev().take(2) {
            delete(at..at + 1);
        }
        // Or one that stands for a value.
        for token in self.suspects() {
            let spelled = &self.text[token.clone()];
            if spelled.chars().count() == 1 {
                let message = match super::parser::odd_space_name(spelled) {
                    Some(name) => format!("{name} stands where a value should"),
                    None => format!("`{spelled}` stands where a value should"),
                };
                let edits = vec![(token.clone(), "null")];
                let mut mend = Mend::new(edits, token.clone(), Kind::Unexpected, message, "");
                mend.error.repair = None;
                all.push(mend);
            }
        }
        // Two tokens in the wrong order.
        let near = self.before.saturating_sub(2)..self.tokens.len();
        for pair in self.tokens[near].windows(2) {
            let spelled = [&self.text[pair[0].clone()], &self.text[pair[1].clone()]];
            let same =
                |text: &str| ["{", "}", "[", "]", ",", ":"].into_iter().find(|&it| it == text);
            if let (Some(first), Some(second)) = (same(spelled[0]), same(spelled[1]))
                && first != second
            {
                let edits = vec![(pair[0].clone(), second), (pair[1].clone(), first)];
                let at = pair[0].start..pair[1].end;
                let message = format!("`{first}` and `{second}` in the wrong order");
                let mut mend = Mend::new(edits, at, Kind::Unexpected, message, "swap them");
                mend.is_bracket = true;
                all.push(mend);
            }
        }
    }

    /// Something else for a comma or a colon.
    fn separators(&self, all: &mut Vec<Mend>) {
        for token in self.suspects() {
            let spelled = &self.text[token.clone()];
            if self.first(token) == b'"' {
                continue;
            }
            for (right, name) in [(",", "a comma"), (":", "a colon")] {
                if spelled != right {
                    let message = format!("`{spelled}` instead of {name}");
                    let edits = vec![(token.clone(), right)];
                    let kind = Kind::WrongSeparator;
                    all.push(Mend::new(edits, token.clone(), kind, message, "put it"));
                }
            }
        }
    }

    /// Tokens that are missing.
    fn missing(&self, all: &mut Vec<Mend>) {
        for token in self.suspects() {
            for (new, kind, message) in [
                (":", Kind::MissingColon, "no colon between a name and its value"),
                (",", Kind::MissingComma, "no comma here"),
                ("{", Kind::Unopened, "`{` is missing here"),
                ("[", Kind::Unopened, "`[` is missing here"),
                ("}", Kind::Unclosed, "`}` is missing here"),
                ("]", Kind::Unclosed, "`]` is missing here"),
            ] {
                let at = token.start..token.start;
                let edits = vec![(at.clone(), new)];
                all.push(Mend::new(edits, at, kind, message.to_owned(), "put it"));
            }
        }
    }

    /// Numbers and literals that one character splits, or that have another one in place of one of theirs,
    /// or at an end.
    fn splits(&self, all: &mut Vec<Mend>) {
        /// So far from the place a character may stand.
        const REACH: usize = 8;
        let place = self.tokens.get(self.before).map_or(self.text.len(), |token| token.start);
        let place = place.min(self.text.len());
        let bytes = self.text.as_bytes();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let from = (place.saturating_sub(REACH)..=place).find(|&at| self.text.is_char_boundary(at));
        for (at, stray) in self.text[from.unwrap_or(place)..].char_indices() {
            let at = from.unwrap_or(place) + at;
            if at > place + REACH {
                break;
            }
            let end = at + stray.len_utf8();
            let before = bytes[..at].iter().rev().take_while(|&&byte| is_plain(byte)).count();
            let behind = bytes[end..].iter().take_while(|&&byte| is_plain(byte)).count();
            let (before, behind) = (&self.text[at - before..at], &self.text[end..end + behind]);
            if before.len() + behind.len() > 40 {
                continue;
            }
            let mut add = |new: &'static str, kind, message: String, words| {
                all.push(Mend::new(vec![(at..end, new)], at..end, kind, message, words));
            };
            if !before.is_empty() && !behind.is_empty() && is_scalar(&format!("{before}{behind}")) {
                let message = format!("`{stray}` within `{before}{behind}`");
                add("", Kind::Unexpected, message, "delete it");
            }
            if before.is_empty() && behind.is_empty() {
                continue;
            }
            // White space at an end stands for nothing, and a line end is none of a word.
            let is_end = before.is_empty() || behind.is_empty();
            if matches!(stray, '\n' | '\r') || is_end && stray.is_ascii_whitespace() {
                continue;
            }
            for word in ["true", "false", "null"] {
                let is_of_it = word.len() == before.len() + 1 + behind.len()
                    && word.starts_with(before)
                    && word.ends_with(behind);
                if let Some(right) = word.get(before.len()..=before.len()).filter(|_| is_of_it) {
                    let right = ["t", "r", "u", "e", "f", "a", "l", "s", "n"]
                        .into_iter()
                        .find(|it| *it == right);
                    let message = format!("`{before}{stray}{behind}` instead of `{word}`");
                    add(right.unwrap_or(""), Kind::WrongLiteral, message, "put the right letter");
                }
            }
            if before.starts_with(|c: char| c.is_ascii_digit() || c == '-')
                && !stray.is_ascii_digit()
                && is_scalar(&format!("{before}0{behind}"))
            {
                let message = format!("`{before}{stray}{behind}` is no number of JSON");
                add("0", Kind::BadNumber, message, "put a digit");
            }
            // What stands for a separator or a bracket.
            let ends = before.is_empty() && is_scalar(behind);
            let is_sign = stray.is_ascii_alphanumeric() || "+-.".contains(stray);
            // A digit at the end of a number is one of its own.
            let is_of_number = stray.is_ascii_digit() && super::parser::is_number(before);
            let is_end = behind.is_empty() && is_scalar(before) && !is_of_number;
            if is_sign && (ends || is_end) {
                let rights: &[&'static str] =
                    if ends { &[":", ",", "[", "{"] } else { &[",", "}", "]"] };
                for right in rights {
                    let (kind, message) = instead(stray, right);
                    add(right, kind, message, "put it");
                }
            }
        }
    }

    /// Quotation marks that are too many, or that stand within a string without a backslash.
    fn quotes(&self, all: &mut Vec<Mend>) {
        for token in self.suspects() {
            if self.first(token) != b'"' {
                let spelled = &self.text[token.clone()];
                if spelled.chars().count() == 1 {
                    let message = format!("`{spelled}` instead of a quotation mark");
                    let edits = vec![(token.clone(), "\"")];
                    let kind = Kind::WrongQuotes;
                    all.push(Mend::new(edits, token.clone(), kind, message, "put one"));
                }
                continue;
            }
            let is_string = self.is_string(token);
            if !is_string {
                self.closings(token, all);
            }
            self.within(token, all);
            let last = is_string.then(|| token.end - 1);
            for start in [Some(token.start), last].into_iter().flatten() {
                let at = start..start + 1;
                let message = "this quotation mark is one too many".to_owned();
                let edits = vec![(at.clone(), " ")];
                all.push(Mend::new(edits, at.clone(), Kind::Unexpected, message, "delete it"));
                let message = "this quotation mark ends the string too early".to_owned();
                let edits = vec![(at.start..at.start, "\\")];
                let words = "escape it";
                all.push(Mend::new(edits, at, Kind::UnescapedQuote, message, words));
            }
        }
    }
}

/// What to say of a character that stands for another one.
fn instead(stray: char, right: &str) -> (Kind, String) {
    match right {
        ":" => (Kind::WrongSeparator, format!("`{stray}` instead of a colon")),
        "," => (Kind::WrongSeparator, format!("`{stray}` instead of a comma")),
        "{" | "[" => (Kind::WrongOpener, format!("`{stray}` instead of `{right}`")),
        _ => (Kind::WrongCloser, format!("`{stray}` instead of `{right}`")),
    }
}

/// Whether `text` is a number or a literal.
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false" | "null") || super::parser::is_number(text)
}

impl Near<'_> {
    /// Characters of a string, or behind it, that stand for something else.
    fn within(&self, token: &Range<usize>, all: &mut Vec<Mend>) {
        const MOST: usize = 8;
        let is_string = self.is_string(token);
        let bytes = self.text.as_bytes();
        // Its quotation marks.
        let last = is_string.then(|| token.end - 1);
        for at in [Some(token.start), last].into_iter().flatten() {
            for right in [":", ",", "[", "{", "]", "}"] {
                let (kind, message) = instead('"', right);
                let edits = vec![(at..at + 1, right)];
                all.push(Mend::new(edits, at..at + 1, kind, message, "put it"));
            }
        }
        // A tab for the backslash of an escape.
        if is_string && self.text[token.start..token.end - 1].ends_with('\t') {
            let at = token.end - 2..token.end - 1;
            let message = "a tab in a string has to be spelled `\\t`".to_owned();
            let edits = vec![(at.clone(), "\\")];
            all.push(Mend::new(edits, at, Kind::ControlCharacter, message, "put a backslash"));
        }
        // A character between a backslash and the mark that it escapes.
        if is_string && token.len() > 4 {
            let inner = &self.text[token.start..token.end - 1];
            if let Some(stray) = inner.chars().next_back()
                && let at = token.end - 1 - stray.len_utf8()
                && inner[..inner.len() - stray.len_utf8()].ends_with('\\')
                && !"\"\\/bfnrtu".contains(stray)
            {
                let message = format!("`\\{stray}` is no escape of JSON");
                let place = at - 1..token.end - 1;
                let edits = vec![(at..token.end - 1, "")];
                all.push(Mend::new(edits, place, Kind::BadEscape, message, "delete it"));
            }
        }
        // Where it may end rather.
        let mut at = token.start + 1;
        let mut count = 0;
        // The next byte that is no space, found once for a row of spaces.
        let mut next_at = at;
        while at < token.end && count < MOST {
            let Some(stray) = self.text[at..].chars().next() else { break };
            let end = at + stray.len_utf8();
            next_at = next_at.max(end);
            while bytes.get(next_at).is_some_and(|byte| b" \t".contains(byte)) {
                next_at += 1;
            }
            let next = bytes.get(next_at);
            let is_last = !is_string && end == token.end;
            if is_last || matches!(next, None | Some(b',' | b':' | b'}' | b']')) {
                count += 1;
                let message = format!("`{stray}` instead of the closing quotation mark");
                let edits = vec![(at..end, "\"")];
                let kind = Kind::UnclosedString;
                all.push(Mend::new(edits, at..end, kind, message, "put it"));
                let message = "this string is not closed".to_owned();
                let edits = vec![(end..end, "\"")];
                all.push(Mend::new(edits, token.start..end, kind, message, "close it here"));
            }
            at = end;
        }
        // A line end for the backslash of an escape.
        let line = bytes.get(token.end..).unwrap_or_default();
        let len = usize::from(line.starts_with(b"\r")) + 1;
        if !is_string && matches!(line.first(), Some(b'\n' | b'\r')) {
            let message = "a string cannot run over the end of a line".to_owned();
            let at = token.end..(token.end + len).min(self.text.len());
            let slashes =
                self.text[..token.end].bytes().rev().take_while(|&it| it == b'\\').count();
            let (new, words) = if slashes % 2 == 1 {
                ("", "delete the line end")
            } else {
                ("\\", "put a backslash")
            };
            let edits = vec![(at.clone(), new)];
            all.push(Mend::new(edits, at, Kind::ControlCharacter, message, words));
        }
        // A quotation mark for a digit.
        if let Some(last) = last
            && let Some(escape) = self.text[token.start..last].rfind("\\u")
            && let digits = &self.text[token.start + escape + 2..last]
            && digits.len() < 4
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        {
            let message = "`\\u` needs four hexadecimal digits".to_owned();
            let at = token.start + escape..last + 1;
            let edits = vec![(last..last + 1, "0")];
            all.push(Mend::new(edits, at, Kind::TruncatedEscape, message, "put a digit"));
        }
    }

    /// Where a string that its line ends may have been meant to end: before closing brackets and
    /// commas.
    fn closings(&self, token: &Range<usize>, all: &mut Vec<Mend>) {
        const MOST: usize = 6;
        let mut inner = self.text[token.start + 1..token.end].trim_end();
        for _ in 0..MOST {
            let Some(shorter) = inner.strip_suffix([',', '}', ']']) else { break };
            inner = shorter.trim_end();
            let end = token.start + 1 + inner.len();
            let message = "this string is not closed".to_owned();
            let (edits, at) = (vec![(end..end, "\"")], token.start..end);
            all.push(Mend::new(edits, at, Kind::UnclosedString, message, "close it here"));
        }
    }
}

/// How a string is spelled that lies in more than one piece.
struct Spelled {
    source: Span,
    parts: Vec<(u32, Range<usize>)>,
}

/// A text with some tokens mended.
struct Mended {
    text: String,
    mends: Vec<Mend>,
    /// What was put where, in order: the place of the original, and the place of the mended text.
    edits: Vec<(Range<usize>, Range<usize>)>,
}

impl Mended {
    /// `None` where two mends concern the same place.
    fn new(text: &str, mends: Vec<Mend>) -> Option<Self> {
        let mut edits: Vec<_> = mends.iter().flat_map(|mend| mend.edits.iter().cloned()).collect();
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut mended = String::with_capacity(text.len() + edits.len());
        let mut places = Vec::with_capacity(edits.len());
        let mut at = 0;
        for (range, new) in edits {
            mended.push_str(text.get(at..range.start)?);
            at = range.end;
            let start = mended.len();
            mended.push_str(new);
            places.push((range, start..mended.len()));
        }
        mended.push_str(text.get(at..)?);
        Some(Self { text: mended, mends, edits: places })
    }

    /// Where the byte at `offset` stands in the original; what was put in counts as its start, or
    /// with `end` as its end.
    fn origin(&self, offset: u32, end: bool) -> u32 {
        let offset = offset as usize;
        let before = self
            .edits
            .partition_point(|(_, new)| if end { new.start < offset } else { new.start <= offset });
        let Some((old, new)) = before.checked_sub(1).map(|index| &self.edits[index]) else {
            return offset as u32;
        };
        let origin = match offset.checked_sub(new.end) {
            Some(behind) => old.end + behind,
            None if end => old.end,
            None => old.start,
        };
        origin as u32
    }

    fn original(&self, span: Span) -> Span {
        let start = self.origin(span.start, false);
        Span { start, end: self.origin(span.end, true).max(start) }
    }

    /// The edits that lie in the string at `span` of the mended text, or begin there.
    fn edits_within(&self, span: Span) -> &[(Range<usize>, Range<usize>)] {
        let (start, end) = (span.start as usize, span.end as usize);
        let first = self.edits.partition_point(|(_, new)| new.start < start);
        let count = self.edits[first..].iter().take_while(|(_, new)| new.start < end).count();
        &self.edits[first..first + count]
    }

    /// Where the text of a string with `edits` stands in the mended text, and where in its value
    /// parts of it are joined, with what lies between them in the original.
    fn spell(
        node: Node,
        edits: &[(Range<usize>, Range<usize>)],
        spellings: &[Spelling],
        escapes: &[Escape],
    ) -> Spelled {
        let spelling = spellings.get(node.extra as usize);
        let inner = Span { start: node.span.start + 1, end: node.span.end - 1 };
        let source = spelling.map_or(inner, |it| it.source);
        let own = spelling.map_or(0..0, |it| it.escapes.start as usize..it.escapes.end as usize);
        let own = &escapes[own];
        let joins = edits.iter().filter(|(_, new)| new.is_empty());
        let parts = joins.filter_map(|(old, new)| {
            let place = new.start as u32;
            let at = match own.iter().rfind(|escape| escape.source < place) {
                Some(it) => {
                    let end = it.source + u32::from(it.source_len);
                    // Within an escape, it is one character all the same.
                    if place < end {
                        return None;
                    }
                    it.at + u32::from(it.len) + place.saturating_sub(end)
                }
                None => place.saturating_sub(source.start),
            };
            Some((at, old.clone()))
        });
        Spelled { source, parts: parts.collect() }
    }

    /// Whether one of the errors quotes what was mended: what it quotes has to be the text as it is.
    fn is_quoted(&self, errors: &[SyntaxError]) -> bool {
        let is_in = |new: &Range<usize>, at: Range<usize>| {
            !at.is_empty() && at.start < new.end.max(new.start + 1) && new.start < at.end
        };
        let mut edits = self.edits.iter();
        edits.any(|(_, new)| errors.iter().any(|error| is_in(new, error.span.range())))
    }

    /// What was read of the mended text, as what was read of `text`.
    /// `None` where a token that was put in has become part of a string, or a string that it lies in is at
    /// fault itself.
    fn settle<'s>(&self, text: &'s str, read: Document<'_>) -> Option<Document<'s>> {
        let Document { nodes, spellings, decoded, escapes, repeats, errors, .. } = read;
        if self.is_quoted(&errors) {
            return None;
        }
        let mut document = Document { text, nodes, spellings, decoded, escapes, repeats, errors };
        let Document { nodes, spellings, decoded, escapes, errors, .. } = &mut document;
        let mut joined = Vec::new();
        for (id, node) in nodes.iter().enumerate().filter(|(_, node)| node.tag == Tag::String) {
            let edits = self.edits_within(node.span);
            let is_of_string = |(_, new): &(Range<usize>, Range<usize>)| {
                matches!(&self.text[new.clone()], "" | "\\" | "0")
                    || &self.text[new.clone()] == "\""
                        && (new.end == node.span.end as usize
                            || new.start == node.span.start as usize)
            };
            let own = spellings.get(node.extra as usize).map_or(Fault::None, |it| it.fault);
            if !edits.is_empty() && own != Fault::None || !edits.iter().all(is_of_string) {
                return None;
            }
            if !edits.is_empty() {
                joined.push((id, Self::spell(*node, edits, spellings, escapes)));
            }
        }
        for escape in escapes.iter_mut() {
            let end = self.origin(escape.source + u32::from(escape.source_len), true);
            escape.source = self.origin(escape.source, false);
            escape.source_len = end.saturating_sub(escape.source).min(255) as u8;
        }
        for spelling in spellings.iter_mut() {
            spelling.source = self.original(spelling.source);
        }
        for (id, Spelled { source, parts }) in joined {
            let node = &mut nodes[id];
            let (mut source, first) = (self.original(source), escapes.len() as u32);
            let value = if let Some(spelling) = spellings.get(node.extra as usize) {
                let own = spelling.escapes.start as usize..spelling.escapes.end as usize;
                escapes.extend_from_within(own);
                spelling.value.clone()
            } else {
                let start = decoded.len() as u32;
                let inner = node.span.start as usize + 1..node.span.end as usize - 1;
                decoded.push_str(&self.text[inner]);
                start..decoded.len() as u32
            };
            let text = &decoded[value.start as usize..value.end as usize];
            for (at, old) in parts {
                // The first character behind a gap is spelled by the gap and itself.
                let own = escapes[first as usize..].iter_mut().find(|it| it.at == at);
                let character = text.get(at as usize..).and_then(|rest| rest.chars().next());
                match (own, character) {
                    _ if at == 0 => source.start = old.end as u32,
                    (_, None) => source.end = source.end.min(old.start as u32),
                    (Some(own), Some(character)) => {
                        let end = own.source + u32::from(own.source_len);
                        let end = end.max((old.end + character.len_utf8()) as u32);
                        own.source = own.source.min(old.start as u32);
                        own.source_len = end.saturating_sub(own.source).min(255) as u8;
                    }
                    (None, Some(character)) => {
                        let len = character.len_utf8() as u8;
                        let source_len = len.saturating_add(old.len().min(255) as u8);
                        let source = old.start as u32;
                        escapes.push(Escape { at, len, source_len, source, surrogate: 0 });
                        escapes[first as usize..].sort_by_key(|it| it.at);
                    }
                }
            }
            node.extra = spellings.len() as u32;
            let escapes = first..escapes.len() as u32;
            spellings.push(Spelling { value, source, escapes, fault: Fault::Guessed });
        }
        for node in nodes.iter_mut() {
            // What a number or literal is that is not spelled as one is not known.
            let is_scalar = !matches!(node.tag, Tag::String | Tag::Array | Tag::Object);
            if is_scalar && !self.edits_within(node.span).is_empty() {
                node.tag = Tag::Invalid;
            }
            node.span = self.original(node.span);
        }
        for error in errors.iter_mut() {
            error.span = self.original(error.span);
            if let Some((span, _)) = &mut error.related {
                *span = self.original(*span);
            }
            for (span, _) in error.repair.iter_mut().flat_map(|repair| &mut repair.edits) {
                *span = self.original(*span);
            }
        }
        for mend in &self.mends {
            let at = mend.error.span;
            let is_container = |tag| matches!(tag, Tag::Array | Tag::Object);
            // In the order of the text, the last one around it is the innermost.
            let around = nodes.iter().rposition(|node| {
                is_container(node.tag) && node.span.start <= at.start && at.end <= node.span.end
            });
            if let Some(node) = around.and_then(|index| nodes.get_mut(index)) {
                node.flag = true;
                node.guessed |= mend.is_bracket;
            }
            errors.push(mend.error.clone());
        }
        errors.sort_by_key(|error| error.span.start);
        Some(document)
    }
}
