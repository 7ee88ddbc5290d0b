//! Evidence as a small text of our own, to be committed in the place of gigabytes of traces.
//!
//! JSON, one frame a line, sorted, so that a difference between two of them reads well:
//!
//! ```json
//! {"reglint-evidence": 1,
//! "sources": [
//! {"name":"trial-1.xml","format":"instruments","unit":"ns","total":[9581000000,16000000]},
//! {"name":"symbols.txt","format":"names"}],
//! "kept": ["one::inner","one::outer"],
//! "frames": [
//! ["one::inner",5000000,null],
//! ["one::outer",[9000000,1000000],0]],
//! "stacks": [
//! [["one::outer","one::inner"],5000000,null]]}
//! ```
//! A frame has a time for each source: `null` where the source does not have it, 0 where a symbol
//! list has it. A time is what was sampled; where the consumer credits less, it is both.
//!
//! Stacks are projections onto the `kept` frames, so that what the rules ask of stacks is exact for
//! these frames; of other frames the snapshot knows the inclusive times only. What uses a snapshot
//! for other frames is told that it cannot know ([`super::Trace::together`] is none).
//!
//! Uses the model of `evidence`.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::bounds::{self, Capped, Runs};
use super::error::{EvidenceError, Place};
use super::format::Format;
use super::frames::{FrameId, Frames, is_frame};
use super::trace::{Stacks, Time, Trace, Unit};
use super::{Content, Evidence, Notes, Source};

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The most projected stacks of a snapshot.
pub const MAX_STACKS: usize = 100_000;

/// A source, as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    format: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    unit: Option<Written>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    total: Option<Times>,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
enum Written {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "samples")]
    Samples,
}

/// A time, as it is written.
#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(untagged)]
enum Times {
    Same(u64),
    Both(u64, u64),
}

impl From<Time> for Times {
    fn from(time: Time) -> Self {
        if time.sampled == time.credited {
            Self::Same(time.sampled)
        } else {
            Self::Both(time.sampled, time.credited)
        }
    }
}

impl Times {
    /// None where more is credited than was sampled.
    fn time(self) -> Option<Time> {
        match self {
            Self::Same(time) => Some(Time::full(time)),
            Self::Both(sampled, credited) => {
                (credited <= sampled).then_some(Time { sampled, credited })
            }
        }
    }
}

/// Writes a snapshot. `kept` are the frames whose places in stacks are kept: those that the
/// registers claim.
///
/// # Errors
/// Where `out` cannot be written to; where there are more than [`MAX_STACKS`] projected stacks
/// (`kept` has too many frames).
pub fn write(
    evidence: &Evidence,
    kept: &[FrameId],
    out: &mut impl Write,
) -> Result<(), EvidenceError> {
    let frames = evidence.frames();
    let mut kept: Vec<FrameId> = kept.to_vec();
    // A snapshot knows no more of stacks than the snapshot that it is made from.
    kept.retain(|&frame| {
        evidence.sources().iter().filter_map(Source::trace).all(|trace| trace.places(frame))
    });
    kept.sort_by_key(|&frame| frames.text(frame));
    kept.dedup();
    let stacks = projected(evidence, &kept)?;
    write!(out, "{{\"reglint-evidence\": {VERSION},\n\"sources\": [")?;
    for (nth, source) in evidence.sources().iter().enumerate() {
        let trace = source.trace();
        let head = Head {
            name: source.name.clone(),
            format: source.format.as_str().to_owned(),
            unit: trace.map(|trace| match trace.unit() {
                Unit::Nanoseconds => Written::Nanoseconds,
                Unit::Samples => Written::Samples,
            }),
            total: trace.map(|trace| trace.total().into()),
        };
        write!(out, "{}\n{}", comma(nth), json(&head)?)?;
    }
    let names: Vec<&str> = kept.iter().map(|&frame| frames.text(frame)).collect();
    write!(out, "],\n\"kept\": {},\n\"frames\": [", json(&names)?)?;
    let mut all: Vec<(FrameId, &str)> = frames.iter().collect();
    all.sort_unstable_by_key(|(_, text)| *text);
    for (nth, (frame, text)) in all.into_iter().enumerate() {
        write!(out, "{}\n[{}", comma(nth), json(&text)?)?;
        for source in evidence.sources() {
            let time = match &source.content {
                Content::Trace(trace) => trace.inclusive(frame),
                Content::Symbols(_) => source.has(frame).then(Time::default),
            };
            write!(out, ",{}", json(&time.map(Times::from))?)?;
        }
        write!(out, "]")?;
    }
    write!(out, "],\n\"stacks\": [")?;
    for (nth, (stack, times)) in stacks.iter().enumerate() {
        write!(out, "{}\n[{}", comma(nth), json(stack)?)?;
        for time in times {
            write!(out, ",{}", json(&time.map(Times::from))?)?;
        }
        write!(out, "]")?;
    }
    writeln!(out, "]}}")?;
    Ok(())
}

fn json<T: Serialize + ?Sized>(value: &T) -> io::Result<String> {
    serde_json::to_string(value).map_err(io::Error::from)
}

fn comma(nth: usize) -> &'static str {
    if nth == 0 { "" } else { "," }
}

/// The stacks' projections onto `kept`, by text, with a time for each source.
fn projected<'e>(
    evidence: &'e Evidence,
    kept: &[FrameId],
) -> Result<BTreeMap<Vec<&'e str>, Vec<Option<Time>>>, EvidenceError> {
    let sources = evidence.sources();
    let wanted: HashSet<FrameId, ahash::RandomState> = kept.iter().copied().collect();
    let mut found: BTreeMap<Vec<&str>, Vec<Option<Time>>> = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    for (at, source) in sources.iter().enumerate() {
        for (_, stack, time) in source.trace().into_iter().flat_map(Trace::stacks) {
            let mut names: Vec<&str> = Vec::new();
            let mut seen: HashSet<FrameId, ahash::RandomState> = HashSet::default();
            for frame in stack {
                // Of a recursion the outermost call.
                if wanted.contains(frame) && seen.insert(*frame) {
                    names.push(evidence.frames().text(*frame));
                }
            }
            if names.is_empty() {
                continue;
            }
            let times = found.entry(names).or_insert_with(|| vec![None; sources.len()]);
            if let Some(sum) = times.get_mut(at) {
                sum.get_or_insert_default().add(time);
            }
            bounds::check("stacks in a snapshot", found.len(), MAX_STACKS)?;
        }
    }
    Ok(found)
}

/// What was read so far.
#[derive(Default)]
struct State {
    heads: Vec<Head>,
    frames: Frames,
    kept: Vec<FrameId>,
    kept_set: HashSet<FrameId, ahash::RandomState>,
    /// The frames that have a row.
    listed: HashSet<FrameId, ahash::RandomState>,
    /// For each source its frames' times.
    inclusive: Vec<Vec<(FrameId, Time)>>,
    stacks: Vec<Stacks>,
    /// Times in all.
    times: usize,
}

/// The most sources of a snapshot.
const SOURCES: usize = 1 << 10;

/// The most times of a snapshot.
const TIMES: usize = 1 << 24;

impl State {
    fn name(&mut self, name: &str) -> Result<FrameId, EvidenceError> {
        if is_frame(name) {
            self.frames.add(name)
        } else {
            Err(broken("a name that is empty or has control characters"))
        }
    }

    fn frame(&mut self, name: &str, times: &[Option<Times>]) -> Result<(), EvidenceError> {
        let frame = self.name(name)?;
        if !self.listed.insert(frame) {
            return Err(broken(format!("the frame `{name}` is there twice")));
        }
        if times.iter().all(Option::is_none) {
            return Err(broken(format!("the frame `{name}` is in no source")));
        }
        self.times += times.len();
        bounds::check("times in a snapshot", self.times, TIMES)?;
        for (time, of) in times.iter().zip(&mut self.inclusive) {
            if let Some(time) = time {
                of.push((frame, sound(*time)?));
            }
        }
        Ok(())
    }

    fn stack(&mut self, names: &[String], times: &[Option<Times>]) -> Result<(), EvidenceError> {
        let mut stack = Vec::new();
        for name in names {
            let frame = self.frames.find(name).filter(|frame| self.kept_set.contains(frame));
            stack.push(frame.ok_or_else(|| broken("a stack with a frame that is not kept"))?);
        }
        for (time, stacks) in times.iter().zip(&mut self.stacks) {
            if let Some(time) = time {
                let id = stacks.add(&stack)?;
                stacks.sample(id, sound(*time)?)?;
            }
        }
        Ok(())
    }
}

fn broken(what: impl Into<String>) -> EvidenceError {
    EvidenceError::Broken { format: Format::Snapshot, what: what.into(), at: Place::Unknown }
}

fn sound(times: Times) -> Result<Time, EvidenceError> {
    times.time().ok_or_else(|| broken("more time credited than sampled"))
}

/// At most `MOST` values.
struct Few<T, const MOST: usize>(Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Values<T, MOST> {
            type Value = Few<T, MOST>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MOST} values")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                    if values.len() > MOST {
                        return Err(de::Error::invalid_length(values.len(), &self));
                    }
                }
                Ok(Few(values))
            }
        }
        deserializer.deserialize_seq(Values(PhantomData))
    }
}

/// Reads the rows of `frames` or `stacks` into a state, one at a time.
struct Rows<'s> {
    state: &'s mut State,
    are_stacks: bool,
}

/// One row: names, and a time for each source.
struct Row {
    sources: usize,
    are_stacks: bool,
}

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let (sources, are_stacks) = (self.state.heads.len(), self.are_stacks);
        while let Some((names, times)) = seq.next_element_seed(Row { sources, are_stacks })? {
            let taken = if are_stacks {
                self.state.stack(&names, &times)
            } else {
                self.state.frame(names.first().map_or("", String::as_str), &times)
            };
            taken.map_err(de::Error::custom)?;
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Row {
    type Value = (Vec<String>, Vec<Option<Times>>);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row {
    type Value = (Vec<String>, Vec<Option<Times>>);
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name and {} times", self.sources)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let missing = || de::Error::invalid_length(0, &"a name");
        let names = if self.are_stacks {
            seq.next_element::<Few<String, { bounds::DEPTH }>>()?.ok_or_else(missing)?.0
        } else {
            vec![seq.next_element()?.ok_or_else(missing)?]
        };
        let mut times = Vec::new();
        while let Some(time) = seq.next_element()? {
            times.push(time);
            if times.len() > self.sources {
                return Err(de::Error::invalid_length(times.len() + 1, &self));
            }
        }
        if times.len() < self.sources {
            return Err(de::Error::invalid_length(times.len() + 1, &self));
        }
        Ok((names, times))
    }
}

/// The whole document: its members in the order in which they are written.
struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = State;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snapshot")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<State, A::Error> {
        const MEMBERS: [&str; 5] = ["reglint-evidence", "sources", "kept", "frames", "stacks"];
        let mut state = State::default();
        for member in MEMBERS {
            let key: Option<String> = map.next_key()?;
            if key.as_deref() != Some(member) {
                let met = key.map_or("the end".to_owned(), |key| format!("`{key}`"));
                return Err(de::Error::custom(format!("{met} in the place of `{member}`")));
            }
            match member {
                "reglint-evidence" => {
                    let version: u32 = map.next_value()?;
                    if version != VERSION {
                        let what = format!("version {version}; this reglint reads {VERSION}");
                        return Err(de::Error::custom(what));
                    }
                }
                "sources" => {
                    let Few(heads) = map.next_value::<Few<Head, SOURCES>>()?;
                    state.heads = heads;
                    let count = state.heads.len();
                    state.inclusive = vec![Vec::new(); count];
                    state.stacks = vec![Stacks::default(); count];
                }
                "kept" => {
                    let Few(kept) = map.next_value::<Few<String, { bounds::FRAMES }>>()?;
                    for name in kept {
                        let frame = state.name(&name).map_err(de::Error::custom)?;
                        state.kept.push(frame);
                        state.kept_set.insert(frame);
                    }
                }
                _ => {
                    let are_stacks = member == "stacks";
                    map.next_value_seed(Rows { state: &mut state, are_stacks })?;
                }
            }
        }
        if let Some(key) = map.next_key::<String>()? {
            return Err(de::Error::custom(format!("`{key}` after the stacks")));
        }
        Ok(state)
    }
}

/// Reads a snapshot.
pub(super) fn read(input: impl Read) -> Result<Evidence, EvidenceError> {
    let input =
        BufReader::with_capacity(1 << 16, Runs::new(Capped::new(input, bounds::LIST_BYTES)));
    let mut json = serde_json::Deserializer::from_reader(input);
    let state = json.deserialize_map(Whole).and_then(|state| {
        json.end()?;
        Ok(state)
    });
    let state = state.map_err(|error| EvidenceError::from_json(Format::Snapshot, error))?;
    let State { heads, frames, kept, listed, inclusive, stacks, .. } = state;
    if listed.len() < frames.len() {
        return Err(broken("a frame is kept that is not among the frames"));
    }
    if frames.is_empty() {
        return Err(EvidenceError::Empty(Format::Snapshot, None));
    }
    let mut sources = Vec::new();
    for ((head, mut times), stacks) in heads.into_iter().zip(inclusive).zip(stacks) {
        let format = Format::from_name(&head.format)
            .ok_or_else(|| broken(format!("a source of the unknown format `{}`", head.format)))?;
        times.sort_unstable_by_key(|(frame, _)| *frame);
        let content = match (head.unit, head.total) {
            (Some(unit), Some(total)) => {
                let unit = match unit {
                    Written::Nanoseconds => Unit::Nanoseconds,
                    Written::Samples => Unit::Samples,
                };
                let trace = Trace::partial(unit, sound(total)?, times, stacks, kept.clone());
                Content::Trace(Box::new(trace))
            }
            (None, None) => Content::Symbols(times.into_iter().map(|(frame, _)| frame).collect()),
            _ => return Err(broken("a source with a unit or a total, and not both")),
        };
        sources.push(Source { name: head.name, format, content, notes: Notes::default() });
    }
    Ok(Evidence { frames, sources })
}
