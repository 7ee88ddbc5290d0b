//! The Firefox profiler's processed format, as samply writes it.
//!
//! Tables are columns: a sample has a stack, a stack a frame and the stack that it is in, a frame a
//! function, a function a name. They are in each thread, or for all threads under `shared`. A
//! sample without a weight weighs 1; samples are turned into time by the profile's interval.
//!
//! A thread is folded into its stacks' weights as soon as it is read, so memory grows with the
//! distinct stacks and with the samples of one thread. Uses the model of `evidence`.

use std::fmt;
use std::io::{BufReader, Read};
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::bounds::{self, Capped, Runs};
use super::error::{EvidenceError, Place};
use super::format::Format;
use super::frames::{FrameId, Frames, is_frame};
use super::trace::{Stacks, Time, Trace, Unit};
use super::{Notes, Read as Reading};

/// The most rows of a column of numbers.
const ROWS: usize = 1 << 23;

/// The most stacks with a weight, of all threads that use the shared tables.
const PENDING: usize = 1 << 22;

/// The most threads.
const THREADS: usize = 1 << 16;

/// Nothing, in a column of row numbers.
const NONE: u32 = u32::MAX;

/// A column: a value a row.
#[derive(Debug)]
struct Column<T>(Vec<T>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// How a value stands in a column.
trait Cell: Sized {
    type Json: for<'de> Deserialize<'de>;
    /// The most rows of its columns.
    const MOST: usize = ROWS;
    fn of(json: Self::Json) -> Self;
    /// What it takes besides its place.
    fn bytes(&self) -> usize {
        0
    }
}

impl Cell for u32 {
    type Json = Option<i64>;
    fn of(json: Self::Json) -> Self {
        json.and_then(|row| row.try_into().ok()).unwrap_or(NONE)
    }
}

impl Cell for f64 {
    type Json = Option<Self>;
    fn of(json: Self::Json) -> Self {
        json.unwrap_or(0.0)
    }
}

impl Cell for Box<str> {
    type Json = Self;
    const MOST: usize = bounds::FRAMES;
    fn bytes(&self) -> usize {
        self.len()
    }
    fn of(json: Self::Json) -> Self {
        json
    }
}

impl<'de, T: Cell> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows<T>(PhantomData<T>);
        impl<'de, T: Cell> Visitor<'de> for Rows<T> {
            type Value = Column<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a column")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Column::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let (mut rows, mut bytes) = (Vec::new(), 0);
                while let Some(json) = seq.next_element()? {
                    let row = T::of(json);
                    bytes += row.bytes();
                    bounds::check("rows in a table", rows.len() + 1, T::MOST)
                        .and_then(|()| bounds::check("bytes of names", bytes, bounds::FRAME_BYTES))
                        .map_err(de::Error::custom)?;
                    rows.push(row);
                }
                Ok(Column(rows))
            }
        }
        deserializer.deserialize_any(Rows(PhantomData))
    }
}

impl<T: Copy> Column<T> {
    fn get(&self, row: u32) -> Option<T> {
        self.0.get(row as usize).copied()
    }
}

#[derive(serde::Deserialize)]
struct Profile {
    #[serde(default)]
    meta: Meta,
    #[serde(default)]
    threads: Threads,
    #[serde(default)]
    shared: Tables,
}

#[derive(Default, serde::Deserialize)]
struct Meta {
    /// Milliseconds.
    interval: Option<f64>,
}

/// The tables that lead from a stack to names.
#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tables {
    stack_table: StackTable,
    frame_table: FrameTable,
    func_table: FuncTable,
    #[serde(alias = "stringTable")]
    string_array: Column<Box<str>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct StackTable {
    prefix: Column<u32>,
    frame: Column<u32>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct FrameTable {
    func: Column<u32>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct FuncTable {
    name: Column<u32>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    #[serde(default)]
    samples: Samples,
    #[serde(default)]
    stack_table: StackTable,
    #[serde(default)]
    frame_table: FrameTable,
    #[serde(default)]
    func_table: FuncTable,
    #[serde(default, alias = "stringTable")]
    string_array: Column<Box<str>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Samples {
    stack: Column<u32>,
    weight: Column<f64>,
    weight_type: Option<Box<str>>,
    /// There in the raw format that Firefox itself writes.
    schema: Option<de::IgnoredAny>,
}

/// All threads, folded.
#[derive(Default)]
struct Threads {
    frames: Frames,
    /// Nanoseconds as `sampled`, samples as `credited`, until the interval is known.
    stacks: Stacks,
    notes: Notes,
    /// Weights by row of the shared stack table.
    pending: Vec<Vec<(u32, Time)>>,
    pending_rows: usize,
}

impl<'de> Deserialize<'de> for Threads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Threads;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("threads")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let (mut threads, mut count) = (Threads::default(), 0);
                while let Some(thread) = seq.next_element()? {
                    count += 1;
                    bounds::check("threads", count, THREADS).map_err(de::Error::custom)?;
                    threads.take(thread).map_err(de::Error::custom)?;
                }
                Ok(threads)
            }
        }
        deserializer.deserialize_seq(Each)
    }
}

impl Threads {
    fn take(&mut self, thread: Thread) -> Result<(), EvidenceError> {
        let Thread { samples, stack_table, frame_table, func_table, string_array } = thread;
        if samples.schema.is_some() {
            return Err(broken(
                "a raw profile of Firefox itself; open it in the profiler and save it from there",
            ));
        }
        let unit = match samples.weight_type.as_deref() {
            Some("tracing-ms") => Unit::Nanoseconds,
            Some("samples") | None => Unit::Samples,
            // Bytes that were allocated are no time.
            Some(_) => {
                self.notes.unweighted += samples.stack.0.len() as u64;
                return Ok(());
            }
        };
        let mut weights: Vec<(u32, Time)> = Vec::new();
        for (at, &row) in samples.stack.0.iter().enumerate() {
            let weight = samples.weight.0.get(at).copied().unwrap_or(match unit {
                Unit::Samples => 1.0,
                Unit::Nanoseconds => 0.0,
            });
            let time = match unit {
                Unit::Nanoseconds => Time { sampled: whole(weight * 1e6)?, credited: 0 },
                Unit::Samples => Time { sampled: 0, credited: whole(weight)? },
            };
            weights.push((row, time));
        }
        weights.sort_unstable_by_key(|(row, _)| *row);
        let mut folded: Vec<(u32, Time)> = Vec::new();
        for (row, time) in weights {
            match folded.last_mut() {
                Some((last, sum)) if *last == row => *sum = plus(*sum, time)?,
                _ => folded.push((row, time)),
            }
        }
        if stack_table.frame.0.is_empty() {
            folded.shrink_to_fit();
            self.pending_rows += folded.len();
            bounds::check("stacks of threads", self.pending_rows, PENDING)?;
            self.pending.push(folded);
            Ok(())
        } else {
            self.fold(&folded, &Tables { stack_table, frame_table, func_table, string_array })
        }
    }

    fn fold(&mut self, weights: &[(u32, Time)], tables: &Tables) -> Result<(), EvidenceError> {
        let mut of_func: Vec<Option<Option<FrameId>>> = vec![None; tables.func_table.name.0.len()];
        let mut stack = Vec::new();
        for &(row, time) in weights {
            if row == NONE {
                // An idle thread.
                self.stacks.add_total(time)?;
                continue;
            }
            stack.clear();
            let mut at = row;
            while at != NONE {
                let frame = tables.stack_table.frame.get(at);
                let func = frame.and_then(|frame| tables.frame_table.func.get(frame));
                let known = func.and_then(|func| of_func.get_mut(func as usize));
                let Some((func, known)) = func.zip(known) else {
                    return Err(broken(format!("stack {at} leads to no function")));
                };
                if known.is_none() {
                    let name = tables.func_table.name.get(func);
                    let name = name.and_then(|name| tables.string_array.0.get(name as usize));
                    let Some(name) = name else {
                        return Err(broken(format!("function {func} has no name")));
                    };
                    let frame = if is_frame(name) { Some(self.frames.add(name)?) } else { None };
                    self.notes.unfit_names += u64::from(frame.is_none());
                    *known = Some(frame);
                }
                let frame = known.flatten();
                stack.extend(frame);
                bounds::check("frames in one stack", stack.len(), bounds::DEPTH)?;
                let outer = tables.stack_table.prefix.get(at).unwrap_or(NONE);
                // The format lists an outer stack before those in it, so there is no way round.
                if outer != NONE && outer >= at {
                    return Err(broken(format!("stack {at} is inside of {outer}, a later one")));
                }
                at = outer;
            }
            stack.reverse();
            let id = self.stacks.add(&stack)?;
            self.stacks.sample(id, time)?;
        }
        Ok(())
    }
}

fn broken(what: impl Into<String>) -> EvidenceError {
    EvidenceError::Broken { format: Format::Firefox, what: what.into(), at: Place::Unknown }
}

fn plus(a: Time, b: Time) -> Result<Time, EvidenceError> {
    let sum = a.sampled.checked_add(b.sampled).zip(a.credited.checked_add(b.credited));
    let sum = sum.map(|(sampled, credited)| Time { sampled, credited });
    sum.ok_or_else(|| broken("weights beyond all bounds"))
}

/// The nearest whole number. Weights are whole already where they count samples.
#[expect(clippy::cast_sign_loss, reason = "is checked")]
fn whole(weight: f64) -> Result<u64, EvidenceError> {
    let weight = weight.round();
    // 2^53: up to here each whole number has a form.
    if (0.0..=9_007_199_254_740_992.0).contains(&weight) {
        Ok(weight as u64)
    } else {
        Err(broken(format!("a weight of {weight}")))
    }
}

/// Reads a profile.
pub(super) fn read(input: impl Read) -> Result<Reading, EvidenceError> {
    let input = Runs::new(Capped::new(input, bounds::JSON_BYTES));
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, input));
    let profile = Profile::deserialize(&mut json).and_then(|profile| {
        json.end()?;
        Ok(profile)
    });
    let Profile { meta, mut threads, shared } =
        profile.map_err(|error| EvidenceError::from_json(Format::Firefox, error))?;
    for weights in std::mem::take(&mut threads.pending) {
        threads.fold(&weights, &shared)?;
    }
    let Threads { frames, mut stacks, notes, .. } = threads;
    let interval = match meta.interval {
        Some(interval) => Some(whole(interval * 1e6)?).filter(|&interval| interval > 0),
        None => None,
    };
    let has_time = stacks.total().sampled > 0;
    let unit = match interval {
        Some(interval) => {
            stacks.retime(|time| {
                let sampled = time.credited.checked_mul(interval)?.checked_add(time.sampled)?;
                Some(Time::full(sampled))
            })?;
            Unit::Nanoseconds
        }
        None if has_time && stacks.total().credited > 0 => {
            return Err(broken("times and samples in one profile, and no interval"));
        }
        None => {
            stacks.retime(|time| Some(Time::full(time.sampled.max(time.credited))))?;
            if has_time { Unit::Nanoseconds } else { Unit::Samples }
        }
    };
    let trace = Trace::new(unit, stacks, &frames);
    Ok(Reading::trace(frames, trace, notes))
}
