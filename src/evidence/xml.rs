//! Instruments' time profile, as `xctrace export --xpath` writes it.
//!
//! ```text
//! <node><schema name="time-profile">…</schema>
//!   <row>…<weight id="9">1000000</weight><backtrace id="10"><frame id="11" name="f"/>…</backtrace></row>
//!   <row>…<weight ref="9"/><backtrace ref="10"/></row>
//! ```
//! A value is written out once, with an `id`, and later pointed to by `ref`, on weights, frames,
//! backtraces and tagged backtraces. Frames are listed from the innermost out, directly below a
//! `<backtrace>` or `<tagged-backtrace>`, or at any depth below it. Weights are nanoseconds.
//!
//! A row counts if it has a weight and its table is a time profile; other tables may be in the
//! same export, and what they define may be pointed to. A `ref` to what was not defined before is
//! an error, which rules cycles out. So is a document type with entities.
//!
//! The consumer reads a backtrace only where it is written out in its row; that reading is kept
//! beside the true one (see [`Time`]). Frames and weights it follows.
//!
//! One pass; memory grows with what has an `id`, not with the rows. Uses the model of `evidence`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufReader, Read};

use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use quick_xml::{Reader, XmlVersion};

use super::bounds::{self, Capped, Tokens};
use super::error::{EvidenceError, Place};
use super::format::Format;
use super::frames::{FrameId, Frames, is_frame};
use super::trace::{StackId, Stacks, Time, Trace, Unit};
use super::{Notes, Read as Reading};

/// Ids of one page.
const PAGE: u64 = 32;

/// The most pages of values with an `id`.
const PAGES: usize = 1 << 20;

/// The most weights with an `id`.
const WEIGHTS: usize = 1 << 22;

/// What an `id` stands for.
#[derive(Debug, Clone, Copy)]
enum Value {
    /// By its place in `State::weights`.
    Weight(u32),
    Frame(FrameId),
    /// A frame whose name is none, or cannot be a frame.
    Nameless,
    Stack(StackId),
}

/// What each `id` stands for. Ids are handed out in order, so those of one backtrace are on one page
/// or two: half the time of a map of values, and less memory.
#[derive(Debug, Default)]
struct Values {
    places: HashMap<u64, u32, ahash::RandomState>,
    pages: Vec<[Option<Value>; PAGE as usize]>,
    /// The page that was looked at last, and its place.
    last: Option<(u64, u32)>,
}

impl Values {
    fn get(&self, id: u64) -> Option<Value> {
        let page = id / PAGE;
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => *self.places.get(&page)?,
        };
        *self.pages.get(place as usize)?.get((id % PAGE) as usize)?
    }

    fn insert(&mut self, id: u64, value: Value) -> Result<(), EvidenceError> {
        let page = id / PAGE;
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => {
                let new = self.pages.len() as u32;
                let place = *self.places.entry(page).or_insert(new);
                if place == new {
                    bounds::check("pages of values with an id", self.pages.len() + 1, PAGES)?;
                    self.pages.push([None; PAGE as usize]);
                }
                self.last = Some((page, place));
                place
            }
        };
        if let Some(old) =
            self.pages.get_mut(place as usize).and_then(|page| page.get_mut((id % PAGE) as usize))
        {
            *old = Some(value);
        }
        Ok(())
    }
}

/// The elements that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Row,
    Weight,
    Backtrace,
    Frame,
    Schema,
    Node,
    Other,
}

impl Tag {
    fn of(name: &str) -> Self {
        match name {
            "row" => Self::Row,
            "weight" => Self::Weight,
            "backtrace" | "tagged-backtrace" => Self::Backtrace,
            "frame" => Self::Frame,
            "schema" => Self::Schema,
            "node" => Self::Node,
            _ => Self::Other,
        }
    }
}

/// Which frame stood behind which one, so that where stacks are written out again and again most names are
/// compared once instead of being hashed and looked up: a third of what a frame costs.
#[derive(Debug, Default)]
struct Followers {
    /// The frame before.
    last: Option<FrameId>,
    /// By frame: the one that stood behind it the last time, where its name is written as it is.
    after: Vec<Option<FrameId>>,
}

impl Followers {
    /// The frame that is written like `name`, if it is the expected one.
    fn expected(&mut self, name: &str, frames: &Frames) -> Option<FrameId> {
        let next = (*self.after.get(self.last?.index())?)?;
        (frames.text(next) == name).then(|| *self.last.insert(next))
    }

    /// Another frame came.
    fn learn(&mut self, frame: FrameId, is_plain: bool) {
        if let Some(last) = self.last.replace(frame).filter(|_| is_plain) {
            if self.after.len() <= last.index() {
                self.after.resize(last.index() + 1, None);
            }
            if let Some(after) = self.after.get_mut(last.index()) {
                *after = Some(frame);
            }
        }
    }
}

/// A backtrace whose end was not met yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    id: Option<u64>,
    /// Its first frame in `State::building`.
    start: usize,
}

#[derive(Debug, Default)]
struct State {
    frames: Frames,
    follower: Followers,
    stacks: Stacks,
    values: Values,
    /// The weights with an id.
    weights: Vec<u64>,
    notes: Notes,
    /// Tables other than time profiles, for the case that there is nothing else.
    others: Vec<String>,
    is_time_profile: bool,
    /// Rows of a time profile that have a weight and a stack.
    samples: u64,
    in_row: bool,
    /// Of the row.
    weight: Option<u64>,
    /// Of the row, and whether it is written out there.
    stack: Option<(StackId, bool)>,
    /// The weight whose text is awaited: its id, and the text.
    weighing: Option<(Option<u64>, String)>,
    open: Vec<Open>,
    /// The frames of the open backtraces, from the innermost out.
    building: Vec<FrameId>,
    /// The stack that all of `building` would be, where a `ref` is all there was so far: most rows name one that is known, and
    /// may be deep. `building` is empty then, and the open backtraces begin at its start.
    whole: Option<StackId>,
    written_out: bool,
    /// To turn a stack round.
    turned: Vec<FrameId>,
}

/// The attributes that matter.
#[derive(Debug, Default)]
struct Attributes<'t> {
    id: Option<u64>,
    reference: Option<u64>,
    /// As it is written.
    name: Option<&'t str>,
}

/// What is wrong, still without its place.
enum Fault {
    What(String),
    Error(EvidenceError),
}

impl From<EvidenceError> for Fault {
    fn from(error: EvidenceError) -> Self {
        Self::Error(error)
    }
}

fn fault(what: impl Into<String>) -> Fault {
    Fault::What(what.into())
}

/// Reads an export.
pub(super) fn read(input: impl Read) -> Result<Reading, EvidenceError> {
    let capped = Capped::new(input, bounds::STREAM_BYTES);
    let mut reader = Reader::from_reader(Tokens::new(BufReader::with_capacity(1 << 16, capped)));
    let mut state = State { is_time_profile: true, ..State::default() };
    let (mut buffer, mut depth, mut has_root) = (Vec::new(), 0, false);
    loop {
        buffer.clear();
        reader.get_mut().next();
        let step = match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element)) => {
                depth += 1;
                has_root = true;
                bounds::check("elements inside each other", depth, bounds::NESTING)?;
                match Tag::of(element.name().as_ref()) {
                    Tag::Other => Ok(()),
                    tag => state.start(tag, &element),
                }
            }
            Ok(Event::Empty(element)) => {
                has_root = true;
                match Tag::of(element.name().as_ref()) {
                    Tag::Other => Ok(()),
                    tag => state.start(tag, &element).and_then(|()| state.end(tag)),
                }
            }
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                state.end(Tag::of(element.name().as_ref()))
            }
            Ok(Event::Text(text)) => {
                if let Some((_, weight)) = &mut state.weighing {
                    weight.push_str(&text);
                }
                Ok(())
            }
            Ok(Event::GeneralRef(_)) if state.weighing.is_some() => {
                Err(fault("an entity in a weight"))
            }
            Ok(Event::DocType(text)) if text.contains("ENTITY") => {
                Err(fault("a document type with entities of its own"))
            }
            Ok(Event::Eof) if depth > 0 => Err(fault("it ends in the middle")),
            Ok(Event::Eof) if !has_root => Err(fault("no element in it")),
            Ok(Event::Eof) => break,
            Ok(_) => Ok(()),
            Err(quick_xml::Error::Io(error)) => Err(Fault::Error(EvidenceError::of_io(&error))),
            Err(error) => Err(fault(error.to_string())),
        };
        match step {
            Ok(()) => {}
            Err(Fault::Error(error)) => return Err(error),
            Err(Fault::What(what)) => {
                let at = Place::Byte(reader.error_position().max(reader.buffer_position()));
                return Err(EvidenceError::Broken { format: Format::Instruments, what, at });
            }
        }
    }
    if state.frames.is_empty() || state.samples == 0 {
        let what = if !state.others.is_empty() {
            Some(format!("its tables are {}, not `time-profile`", state.others.join(", ")))
        } else if state.frames.is_empty() {
            None
        } else {
            Some("no row has a weight and a backtrace".to_owned())
        };
        return Err(EvidenceError::Empty(Format::Instruments, what));
    }
    let trace = Trace::new(Unit::Nanoseconds, state.stacks, &state.frames);
    Ok(Reading::trace(state.frames, trace, state.notes))
}

impl State {
    fn start(&mut self, tag: Tag, element: &BytesStart<'_>) -> Result<(), Fault> {
        match tag {
            Tag::Other => {}
            Tag::Node => self.is_time_profile = true,
            Tag::Schema => {
                let name = attributes(element, true)?.name.map(unescaped).transpose()?;
                self.schema(name.as_deref());
            }
            Tag::Row => {
                self.in_row = true;
                self.weight = None;
                self.stack = None;
            }
            Tag::Weight => {
                let found = attributes(element, false)?;
                match found.reference {
                    Some(reference) => {
                        let Some(Value::Weight(weight)) = self.values.get(reference) else {
                            return Err(unknown("weight", reference));
                        };
                        let weight = self.weights.get(weight as usize).copied();
                        self.weigh(found.id, weight.unwrap_or_default())?;
                    }
                    None => self.weighing = Some((found.id, String::new())),
                }
            }
            Tag::Frame => {
                let found = attributes(element, true)?;
                self.frame(&found)?;
            }
            Tag::Backtrace => {
                let found = attributes(element, false)?;
                if self.open.is_empty() {
                    self.building.clear();
                    self.whole = None;
                    self.written_out = found.reference.is_none();
                }
                self.write_out()?;
                self.open.push(Open { id: found.id, start: self.building.len() });
                if let Some(reference) = found.reference {
                    let Some(Value::Stack(stack)) = self.values.get(reference) else {
                        return Err(unknown("backtrace", reference));
                    };
                    self.written_out = false;
                    let is_first = self.building.is_empty();
                    self.whole = Some(stack);
                    if !is_first {
                        self.write_out()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, tag: Tag) -> Result<(), Fault> {
        match tag {
            Tag::Other | Tag::Frame | Tag::Schema => {}
            Tag::Node => self.is_time_profile = true,
            Tag::Weight => {
                if let Some((id, text)) = self.weighing.take() {
                    let text = text.trim();
                    let weight = text.parse().map_err(|_| {
                        let shown: String = text.chars().take(40).collect();
                        fault(format!("a weight that is no number of nanoseconds: `{shown}`"))
                    })?;
                    self.weigh(id, weight)?;
                }
            }
            Tag::Backtrace => {
                if let Some(Open { id, start }) = self.open.pop() {
                    let is_whole = self.open.is_empty();
                    if id.is_some() || is_whole && self.in_row {
                        let stack = if let Some(stack) = self.whole {
                            stack
                        } else {
                            self.turned.clear();
                            let own = self.building.get(start..).unwrap_or_default();
                            self.turned.extend(own.iter().rev());
                            self.stacks.add(&self.turned)?
                        };
                        self.define(id, Value::Stack(stack))?;
                        if is_whole && self.in_row && self.stack.is_none() {
                            self.stack = Some((stack, self.written_out));
                        }
                    }
                }
            }
            Tag::Row => {
                self.in_row = false;
                if !self.is_time_profile {
                    return Ok(());
                }
                match (self.weight, self.stack) {
                    (Some(weight), Some((stack, written_out))) => {
                        self.samples += 1;
                        let credited = if written_out { weight } else { 0 };
                        self.stacks.sample(stack, Time { sampled: weight, credited })?;
                    }
                    (Some(weight), None) => {
                        let time = Time { sampled: weight, credited: 0 };
                        self.stacks.add_total(time)?;
                    }
                    (None, Some(_)) => self.notes.unweighted += 1,
                    (None, None) => {}
                }
            }
        }
        Ok(())
    }

    fn schema(&mut self, name: Option<&str>) {
        const LISTED: usize = 5;
        self.is_time_profile = name.is_none_or(|name| name == "time-profile");
        if let Some(name) = name
            && !self.is_time_profile
            && self.others.len() < LISTED
            && name.len() < 100
        {
            self.others.push(format!("`{name}`"));
        }
    }

    /// Puts the frames of the stack that is all there was so far into what is built.
    fn write_out(&mut self) -> Result<(), Fault> {
        if let Some(stack) = self.whole.take() {
            self.building.extend(self.stacks.get(stack).iter().rev());
            bounds::check("frames in one stack", self.building.len(), bounds::DEPTH)?;
        }
        Ok(())
    }

    fn define(&mut self, id: Option<u64>, value: Value) -> Result<(), Fault> {
        if let Some(id) = id {
            // An id that is given again counts from there on: each table may number anew.
            self.values.insert(id, value)?;
        }
        Ok(())
    }

    fn weigh(&mut self, id: Option<u64>, weight: u64) -> Result<(), Fault> {
        if id.is_some() {
            self.define(id, Value::Weight(self.weights.len() as u32))?;
            self.weights.push(weight);
            // An id that is given again and again leaves its weights behind.
            bounds::check("weights with an id", self.weights.len(), WEIGHTS)?;
        }
        if self.in_row && self.weight.is_none() {
            self.weight = Some(weight);
        }
        Ok(())
    }

    fn frame(&mut self, found: &Attributes<'_>) -> Result<(), Fault> {
        let frame = match (found.reference, found.name) {
            (Some(reference), _) => match self.values.get(reference) {
                Some(Value::Frame(frame)) => Some(frame),
                Some(Value::Nameless) => None,
                _ => return Err(unknown("frame", reference)),
            },
            (None, Some(name)) => match self.follower.expected(name, &self.frames) {
                Some(frame) => Some(frame),
                None => self.named(name)?,
            },
            (None, None) => None,
        };
        if let (Some(frame), false) = (frame, self.open.is_empty()) {
            self.write_out()?;
            self.building.push(frame);
            bounds::check("frames in one stack", self.building.len(), bounds::DEPTH)?;
        }
        self.define(found.id, frame.map_or(Value::Nameless, Value::Frame))
    }

    /// The frame of this name, as it is written; none where it cannot be one.
    fn named(&mut self, written: &str) -> Result<Option<FrameId>, Fault> {
        let name = unescaped(written)?;
        let frame = match self.frames.find(&name) {
            Some(frame) => frame,
            None if is_frame(&name) => self.frames.add(&name)?,
            None => {
                self.notes.unfit_names += 1;
                return Ok(None);
            }
        };
        self.follower.learn(frame, matches!(name, Cow::Borrowed(_)));
        Ok(Some(frame))
    }
}

fn unknown(what: &str, reference: u64) -> Fault {
    fault(format!("ref=\"{reference}\" is no {what} that was written out before"))
}

/// The attributes of an element that matter. Instruments writes the `id` first and the `name`
/// second; what follows both of them is not looked at.
fn attributes<'t>(element: &'t BytesStart<'_>, named: bool) -> Result<Attributes<'t>, Fault> {
    let mut found = Attributes::default();
    let mut rest = element.attributes_raw().trim_ascii_start();
    // The usual spelling, without a search for what it is.
    if let Some((id, after)) = rest.strip_prefix("id=\"").and_then(number_before_quote) {
        found.id = Some(id);
        rest = after.trim_ascii_start();
        if !named && !rest.contains("ref") {
            return Ok(found);
        }
        if named
            && let Some(value) = rest.strip_prefix("name=\"")
            && let Some(end) = memchr::memchr(b'"', value.as_bytes())
        {
            found.name = value.get(..end);
            return Ok(found);
        }
    } else if let Some((id, _)) = rest.strip_prefix("ref=\"").and_then(number_before_quote) {
        found.reference = Some(id);
        return Ok(found);
    }
    while !rest.is_empty() {
        let (key, value) = next_attribute(&mut rest).ok_or_else(|| fault("a broken attribute"))?;
        let number = || value.parse().map_err(|_| fault("an id or ref that is no number"));
        match key {
            "id" => found.id = Some(number()?),
            "ref" => found.reference = Some(number()?),
            "name" if named => {
                found.name = Some(value);
                if found.id.is_some() {
                    break;
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The number that a value begins with and that is all of it, and what stands behind its quote.
fn number_before_quote(value: &str) -> Option<(u64, &str)> {
    let (mut number, mut digits) = (0, 0);
    // No more digits than fit.
    for digit in value.bytes().take(19).take_while(u8::is_ascii_digit) {
        number = number * 10 + u64::from(digit - b'0');
        digits += 1;
    }
    let rest = value.get(digits..)?.strip_prefix('"')?;
    (digits > 0).then_some((number, rest))
}

/// Takes `key="value"` off the start of `rest`, and the space behind it.
fn next_attribute<'t>(rest: &mut &'t str) -> Option<(&'t str, &'t str)> {
    let (key, after) = rest.split_once('=')?;
    let after = after.trim_ascii_start();
    let quote = *after.as_bytes().first().filter(|quote| matches!(quote, b'"' | b'\''))?;
    let after = after.get(1..)?;
    let end = memchr::memchr(quote, after.as_bytes())?;
    let value = after.get(..end)?;
    *rest = after.get(end + 1..)?.trim_ascii_start();
    Some((key.trim_ascii_end(), value))
}

/// The value that is written like this, normalised as XML asks for.
fn unescaped(value: &str) -> Result<Cow<'_, str>, Fault> {
    // Without an early end it takes many bytes at once.
    let special = value.bytes().fold(0, |sum, b| sum | u8::from(b < b' ') | u8::from(b == b'&'));
    if special == 0 {
        return Ok(Cow::Borrowed(value));
    }
    let attribute = Attribute { key: QName("name"), value: Cow::Borrowed(value) };
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    value.map_err(|error| fault(error.to_string()))
}
