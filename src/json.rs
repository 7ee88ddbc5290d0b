//! A JSON document with the place of everything in it, read on through errors.
//!
//! Uses `span` only.
//!
//! [`parse`] never fails: it gives a [`Document`] and its errors. A text is accepted when both
//! CPython's `json.loads` and RFC 8259 accept it; everything that either refuses is an error.
//! One mistake gives one error, and the rest is read all the same, so that one run can show all:
//! the parser goes on from each by what stands near it, and where that gives several errors, the text is
//! read again with one token mended, to see whether that explains them (`slip.rs`).
//!
//! A document is one flat list of nodes in the order of the text (a "tape"): a container is
//! followed by its children and knows where they end. There is nothing to recurse into, neither
//! in reading nor in dropping, and a deep or long document costs what its bytes cost.
//!
//! Why a parser of its own. Measured side by side on one machine, strict options where there are
//! any; JSONTestSuite has 95 texts to accept and 188 to refuse, the text with mistakes has four,
//! the deep one 200,000 arrays, the speed is that of a register of 2.8 MB:
//!
//! | parser | accepted | refused | mistakes found | deep text | MB/s | crates |
//! |---|---|---|---|---|---|---|
//! | `jsonc-parser` 0.34 | 95 | 184 | 1 | refused | 490 | 1 |
//! | `spanned_json_parser` 0.2 | 95 | 171 | 1 | stack overflow | 47 | 14 |
//! | `json-spanned-value` 0.2 | 93 | 188 | 1 | refused | 100 | 18 |
//! | `tree-sitter-json` 0.24 | 91 | 166 | 6 | accepted | 40 | 9, and C |
//! | `serde_json` 1.0, no spans | 95 | 188 | 1 | refused | 610 | 5 |
//! | this module | 95 | 188 | 4 | refused, with its bound | 2,440 | – |
//!
//! (`biome_json_parser` 0.5 does not compile as published.) What decided: all but tree-sitter stop at
//! the first mistake, and none has a way from a string's value back to its text, which every finding
//! inside a pattern needs; json-spanned-value also drops repeated names.

mod error;
mod parser;
mod slip;
mod string;

use std::fmt;
use std::ops::Range;

use crate::span::Span;
pub use error::{Repair, SyntaxError, SyntaxErrorKind};

/// How many arrays and objects may lie within each other.
///
/// CPython 3.11 reads 994 levels before its `RecursionError` when called from the top of a script,
/// 3.12 reads 1,497, 3.13 reads 9,998; the bound leaves a caller in Python some stack of its own.
pub const MAX_DEPTH: usize = 900;

/// How many errors a document keeps. If there are more, a note of the last one says how many.
pub const MAX_ERRORS: usize = 100;

/// How many bytes may lie between an object and an error next to it.
const NEAR: usize = 200;

/// How many digits CPython's `int` reads (`sys.int_info.default_max_str_digits`).
pub const MAX_INT_DIGITS: usize = 4300;

/// Reads a text. A byte order mark at its start is passed over.
pub fn parse(text: &str) -> Document<'_> {
    let (document, _) = parser::Parser::new(text).run();
    if document.errors.is_empty() { document } else { slip::look_again(text, document) }
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
    Invalid,
}

/// One entry of the tape. An object's children are name, value, name, value.
#[derive(Debug, Clone, Copy)]
struct Node {
    span: Span,
    /// The index behind the node and everything within it.
    next: u32,
    /// Containers: how many elements or members. Strings: their [`Spelling`], or `PLAIN`.
    extra: u32,
    tag: Tag,
    /// Names: a later member has the same name. Containers: something of it was lost.
    flag: bool,
    /// Containers: one of its brackets was guessed, and with it what belongs to it.
    guessed: bool,
}

/// The `extra` of a string between two `"` that has no escapes: its value is its text.
const PLAIN: u32 = u32::MAX;

/// How a string that is not plain was spelled.
#[derive(Debug, Clone)]
struct Spelling {
    /// Its value, in `Document::decoded`.
    value: Range<u32>,
    /// Its text between the quotes.
    source: Span,
    /// Its escapes, in `Document::escapes`.
    escapes: Range<u32>,
    fault: Fault,
}

/// What is known of a string that is not spelled as JSON spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It is.
    None,
    /// Something in it is wrong; where it ends is clear.
    Misspelled,
    /// Where it ends is a guess, or what one of its characters is.
    Guessed,
}

/// One escape sequence.
#[derive(Debug, Clone, Copy)]
struct Escape {
    /// Where the character stands in the string's value, in bytes.
    at: u32,
    /// How many bytes of the value it is.
    len: u8,
    /// How many bytes of the text spell it.
    source_len: u8,
    /// The first byte of its spelling.
    source: u32,
    /// The surrogate that it stands for, if it is one without a partner; else 0.
    surrogate: u16,
}

/// A member name that an object gives more than once.
#[derive(Debug, Clone, Copy)]
struct Repeat {
    object: u32,
    first: u32,
    later: u32,
}

/// A text with everything that could be read of it.
#[derive(Debug)]
pub struct Document<'s> {
    text: &'s str,
    nodes: Vec<Node>,
    spellings: Vec<Spelling>,
    decoded: String,
    escapes: Vec<Escape>,
    repeats: Vec<Repeat>,
    errors: Vec<SyntaxError>,
}

impl<'s> Document<'s> {
    /// The document's value; `None` if the text has none.
    pub fn root(&self) -> Option<Value<'_>> {
        (!self.nodes.is_empty()).then_some(Value { doc: self, id: 0 })
    }

    /// What is wrong with the text, by offset.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// Whether one of its strings has a surrogate without a partner.
    pub fn has_lone_surrogate(&self) -> bool {
        surrogates(&self.escapes).next().is_some()
    }

    /// The text that was read.
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// Each member whose name its object has given before, together with the first of that name,
    /// by the later one's offset. Python keeps the value of the last.
    pub fn repeated_members(&self) -> impl Iterator<Item = (Member<'_>, Member<'_>)> {
        self.repeats.iter().map(|repeat| (self.member(repeat.first), self.member(repeat.later)))
    }

    /// [`repeated_members`](Self::repeated_members) of objects whose extent is sure: of others, what has
    /// fallen into one may be the members of its neighbour.
    pub fn surely_repeated_members(&self) -> impl Iterator<Item = (Member<'_>, Member<'_>)> {
        let sure = self.repeats.iter().filter(|repeat| {
            let span = self.node(repeat.object).span;
            self.has_sure_end(repeat.object)
                && !self.bracket_errors().any(|at| {
                    self.are_neighbours(at.end, span.start)
                        || span.start <= at.start && at.end <= span.end
                })
        });
        sure.map(|repeat| (self.member(repeat.first), self.member(repeat.later)))
    }

    /// The errors that may move the ends of containers: those of brackets, and of a string that ends in
    /// the wrong place, which may have brackets in it.
    fn bracket_errors(&self) -> impl Iterator<Item = Span> {
        let may_move = |kind: SyntaxErrorKind| {
            kind.is_of_brackets() || matches!(kind, SyntaxErrorKind::UnescapedQuote)
        };
        self.errors.iter().filter(move |error| may_move(error.kind)).map(|error| error.span)
    }

    /// Whether nothing but a comma and white space lies between two places.
    fn are_neighbours(&self, from: u32, to: u32) -> bool {
        let gap = self.text.get(from as usize..to as usize).unwrap_or("x");
        gap.len() <= NEAR && gap.bytes().all(|byte| b" \t\r\n,".contains(&byte))
    }

    /// Whether an error speaks of the text at `span`, or stands so close to it that it may be about it.
    fn is_disturbed(&self, span: Span) -> bool {
        let touches = |at: Span| at.start <= span.end && span.start <= at.end;
        self.errors.iter().any(|error| error.kind.is_of_text() && touches(error.span))
    }

    /// Whether an error stands in `span` or next to it: nothing but a comma and white space lies between.
    fn is_beside_error(&self, span: Span) -> bool {
        let errors = self.errors.iter().filter(|error| !error.kind.is_harmless());
        errors.map(|error| error.span).any(|at| {
            at.start <= span.end && span.start <= at.end
                || self.are_neighbours(span.end, at.start)
                || self.are_neighbours(at.end, span.start)
        })
    }

    /// Whether it is clear where the container of that number ends: no such error stands there.
    fn has_sure_end(&self, container: u32) -> bool {
        let Node { span, guessed, .. } = self.node(container);
        // What stands behind the document may be of it.
        let is_end = |error: &SyntaxError| error.kind != SyntaxErrorKind::AfterDocument;
        !guessed
            && (container != 0 || self.errors.iter().all(is_end))
            && !self.bracket_errors().any(|at| self.are_neighbours(span.end, at.start))
    }

    fn member(&self, name: u32) -> Member<'_> {
        Member { name: Str { doc: self, id: name }, value: Value { doc: self, id: name + 1 } }
    }

    fn node(&self, id: u32) -> Node {
        self.nodes[id as usize]
    }

    fn str_value(&self, node: Node) -> &str {
        match self.spelling(node) {
            None => &self.text[node.span.start as usize + 1..node.span.end as usize - 1],
            Some(it) => &self.decoded[it.value.start as usize..it.value.end as usize],
        }
    }

    fn spelling(&self, node: Node) -> Option<&Spelling> {
        // `PLAIN` lies behind the end.
        self.spellings.get(node.extra as usize)
    }

    fn str_escapes(&self, node: Node) -> &[Escape] {
        self.spelling(node)
            .map_or(&[], |it| &self.escapes[it.escapes.start as usize..it.escapes.end as usize])
    }
}

fn surrogates(escapes: &[Escape]) -> impl Iterator<Item = (u32, u16)> {
    escapes.iter().filter(|it| it.surrogate != 0).map(|it| (it.at, it.surrogate))
}

/// One value of a document; as cheap to copy as a reference.
#[derive(Clone, Copy)]
pub struct Value<'d> {
    doc: &'d Document<'d>,
    id: u32,
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'d> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is spelled; `1e999` is infinite for Python.
    Number(&'d str),
    /// A string.
    String(Str<'d>),
    /// An array.
    Array(Array<'d>),
    /// An object.
    Object(Object<'d>),
    /// Stands where a value could not be read; an error says why.
    Invalid,
}

impl<'d> Value<'d> {
    /// Its characters; of a container, from bracket to bracket.
    pub fn span(self) -> Span {
        self.doc.node(self.id).span
    }

    /// The document that it is of.
    pub fn document(self) -> &'d Document<'d> {
        self.doc
    }

    /// A number that no other value of the document has.
    pub fn id(self) -> u32 {
        self.id
    }

    /// What it is.
    pub fn kind(self) -> Kind<'d> {
        let Self { doc, id } = self;
        match doc.node(id).tag {
            Tag::Null => Kind::Null,
            Tag::False => Kind::Bool(false),
            Tag::True => Kind::Bool(true),
            Tag::Number => Kind::Number(&doc.text[self.span().range()]),
            Tag::String => Kind::String(Str { doc, id }),
            Tag::Array => Kind::Array(Array { doc, id }),
            Tag::Object => Kind::Object(Object { doc, id }),
            Tag::Invalid => Kind::Invalid,
        }
    }

    /// Whether it is clear where this container ends: what stands in it may else belong to another one.
    pub fn has_sure_end(self) -> bool {
        self.doc.has_sure_end(self.id)
    }

    /// Whether an error stands in it or next to it, so that it may not be what was meant to stand there.
    pub fn is_beside_error(self) -> bool {
        self.doc.is_beside_error(self.span())
    }

    /// Whether an error stands in it, or touches it.
    pub fn touches_error(self) -> bool {
        let span = self.span();
        let errors = self.doc.errors.iter().filter(|error| !error.kind.is_harmless());
        errors.map(|error| error.span).any(|at| at.start <= span.end && span.start <= at.end)
    }

    /// Whether an error stands in this container, and not within one of its children: what its children
    /// are may be a guess.
    pub fn has_loose_error(self) -> bool {
        let span = self.span();
        let errors = self.doc.errors.iter().filter(|error| !error.kind.is_harmless());
        let errors = errors.map(|error| error.span);
        let mut own = errors.filter(|at| at.start <= span.end && span.start <= at.end);
        own.any(|at| {
            // What is missing at the end of a child is missing between two.
            let inset = u32::from(at.is_empty());
            let is_of_child =
                |child: Span| child.start + inset <= at.start && at.end + inset <= child.end;
            !match self.kind() {
                Kind::Array(array) => array.elements().any(|it| is_of_child(it.span())),
                Kind::Object(object) => object
                    .members()
                    .any(|it| is_of_child(it.name.span()) || is_of_child(it.value.span())),
                _ => true,
            }
        })
    }

    /// The string, if it is one.
    pub fn as_str(self) -> Option<Str<'d>> {
        match self.kind() {
            Kind::String(string) => Some(string),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(self) -> Option<Array<'d>> {
        match self.kind() {
            Kind::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn as_object(self) -> Option<Object<'d>> {
        match self.kind() {
            Kind::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value that Python finds under `name`, if it is an object.
    pub fn get(self, name: &str) -> Option<Value<'d>> {
        self.as_object()?.get(name)
    }

    /// Whether it could not be read.
    pub fn is_invalid(self) -> bool {
        self.doc.node(self.id).tag == Tag::Invalid
    }

    /// Whether all of it was read: false for an invalid value, and for a container that may have
    /// lost members or elements to an error. Says nothing of the values within.
    pub fn is_complete(self) -> bool {
        let node = self.doc.node(self.id);
        match node.tag {
            Tag::Invalid => false,
            Tag::Array | Tag::Object => !node.flag,
            _ => true,
        }
    }

    /// Whether one of its brackets was guessed: which members or elements are its own is not sure.
    pub fn is_guessed(self) -> bool {
        self.doc.node(self.id).guessed
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({:?})", &self.doc.text[self.span().range()])
    }
}

/// An array of a document.
#[derive(Clone, Copy)]
pub struct Array<'d> {
    doc: &'d Document<'d>,
    id: u32,
}

impl<'d> Array<'d> {
    /// Its elements, in order.
    pub fn elements(self) -> Elements<'d> {
        let end = self.doc.node(self.id).next;
        Elements { doc: self.doc, at: self.id + 1, end }
    }

    /// How many elements it has.
    pub fn len(self) -> usize {
        self.doc.node(self.id).extra as usize
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// It, as a value.
    pub fn as_value(self) -> Value<'d> {
        Value { doc: self.doc, id: self.id }
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_value().fmt(f)
    }
}

/// The elements of an array.
#[derive(Clone)]
pub struct Elements<'d> {
    doc: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        if self.at >= self.end {
            return None;
        }
        let id = self.at;
        self.at = self.doc.node(id).next;
        Some(Value { doc: self.doc, id })
    }
}

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Member<'d> {
    /// Its name.
    pub name: Str<'d>,
    /// Its value.
    pub value: Value<'d>,
}

impl Member<'_> {
    /// Whether a later member of the object has the same name, so that Python drops this one.
    pub fn is_shadowed(self) -> bool {
        self.name.doc.node(self.name.id).flag
    }
}

/// An object of a document.
#[derive(Clone, Copy)]
pub struct Object<'d> {
    doc: &'d Document<'d>,
    id: u32,
}

impl<'d> Object<'d> {
    /// Its members in the order of the text, repeated ones too.
    pub fn members(self) -> Members<'d> {
        let end = self.doc.node(self.id).next;
        Members { doc: self.doc, at: self.id + 1, end }
    }

    /// Its members as Python keeps them: of each name the last.
    pub fn effective_members(self) -> impl Iterator<Item = Member<'d>> {
        self.members().filter(|member| !member.is_shadowed())
    }

    /// The value that Python finds under `name`: the last one of that name.
    pub fn get(self, name: &str) -> Option<Value<'d>> {
        self.member(name).map(|member| member.value)
    }

    /// The last member of that name.
    pub fn member(self, name: &str) -> Option<Member<'d>> {
        self.effective_members().find(|member| member.name.is(name))
    }

    /// How many members it has, repeated ones counted each time.
    pub fn len(self) -> usize {
        self.doc.node(self.id).extra as usize
    }

    /// How many different names it has.
    pub fn effective_len(self) -> usize {
        if self.doc.repeats.is_empty() { self.len() } else { self.effective_members().count() }
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// It, as a value.
    pub fn as_value(self) -> Value<'d> {
        Value { doc: self.doc, id: self.id }
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_value().fmt(f)
    }
}

/// The members of an object, repeated ones too.
#[derive(Clone)]
pub struct Members<'d> {
    doc: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Members<'d> {
    type Item = Member<'d>;

    fn next(&mut self) -> Option<Member<'d>> {
        // A name is always followed by a value.
        if self.at + 1 >= self.end {
            return None;
        }
        let member = self.doc.member(self.at);
        self.at = self.doc.node(self.at + 1).next;
        Some(member)
    }
}

/// A string of a document, with the way from its value back to its text.
///
/// Two are equal if Python's are: by value, surrogates without a partner included.
#[derive(Clone, Copy)]
pub struct Str<'d> {
    doc: &'d Document<'d>,
    id: u32,
}

impl<'d> Str<'d> {
    fn node(self) -> Node {
        self.doc.node(self.id)
    }

    /// Its characters, quotes included.
    pub fn span(self) -> Span {
        self.node().span
    }

    /// Its characters without the quotes.
    pub fn inner_span(self) -> Span {
        let node = self.node();
        match self.doc.spelling(node) {
            None => Span { start: node.span.start + 1, end: node.span.end - 1 },
            Some(spelling) => spelling.source,
        }
    }

    /// Its value, escapes decoded. A surrogate without a partner stands in it as U+FFFD.
    pub fn value(self) -> &'d str {
        self.doc.str_value(self.node())
    }

    /// Whether where it ends is a guess, since it is not closed or closed too early, or what one of its
    /// characters is, since an escape is cut short: its value may not be what it was to be.
    pub fn is_guessed(self) -> bool {
        self.fault() == Fault::Guessed
    }

    /// Whether an error speaks of its spelling, so that its value may not be what was meant.
    pub fn is_misspelled(self) -> bool {
        self.fault() != Fault::None || self.doc.is_disturbed(self.span())
    }

    fn fault(self) -> Fault {
        self.doc.spelling(self.node()).map_or(Fault::None, |spelling| spelling.fault)
    }

    /// Whether its value is `text`; never so with a surrogate without a partner.
    pub fn is(self, text: &str) -> bool {
        let node = self.node();
        self.doc.str_value(node) == text && surrogates(self.doc.str_escapes(node)).next().is_none()
    }

    /// Its surrogates without a partner, each with its offset in [`value`](Self::value) (bytes),
    /// where three bytes of U+FFFD stand for it.
    pub fn lone_surrogates(self) -> impl Iterator<Item = (usize, u16)> + use<'d> {
        surrogates(self.doc.str_escapes(self.node())).map(|(at, unit)| (at as usize, unit))
    }

    /// Whether it has a surrogate without a partner: such a string cannot be written as UTF-8.
    pub fn has_lone_surrogate(self) -> bool {
        self.lone_surrogates().next().is_some()
    }

    /// The very characters of the file that spell the bytes `range` of [`value`](Self::value),
    /// escapes as a whole. An empty range gives the empty span between two characters. What lies
    /// behind the end of the value counts as its end.
    pub fn source_span(self, range: Range<usize>) -> Span {
        let node = self.node();
        let inner = self.inner_span();
        let len = self.doc.str_value(node).len();
        let escapes = self.doc.str_escapes(node);
        let (start, end) = (range.start.min(len), range.end.min(len));
        let from = source_offset(escapes, inner, start, false);
        let to = if end <= start { from } else { source_offset(escapes, inner, end, true) };
        Span { start: from, end: to.max(from) }
    }
}

/// Where the byte `at` of a value is spelled: the start of its spelling, or with `end` the end of
/// the spelling of the byte before it.
fn source_offset(escapes: &[Escape], inner: Span, at: usize, end: bool) -> u32 {
    let at = at as u32;
    let before = escapes.partition_point(|it| if end { it.at < at } else { it.at <= at });
    let Some(escape) = before.checked_sub(1).and_then(|index| escapes.get(index)) else {
        return inner.start + at;
    };
    let escape_end = escape.at + u32::from(escape.len);
    if at >= escape_end {
        escape.source + u32::from(escape.source_len) + (at - escape_end)
    } else if end {
        escape.source + u32::from(escape.source_len)
    } else {
        escape.source
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value() && self.lone_surrogates().eq(other.lone_surrogates())
    }
}

impl Eq for Str<'_> {}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Str({:?})", self.value())
    }
}
