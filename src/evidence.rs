//! Evidence: real frames, to hold patterns against.
//!
//! ```text
//! bytes ─ format ─▶ instruments │ folded │ firefox ─▶ stacks with times ─▶ Trace
//!                   binary │ nm │ names ───────────────────────────────────▶ Symbols
//!                   snapshot ─▶ any of them, as they were
//! frames of all of it, each once ─ claims ─▶ what each pattern claims, in one pass
//!                                ─ function ▶ what they are copies of
//!                                ─ near ────▶ what an author may have meant
//!                                ─ covered ─▶ what a list of symbols can tell of
//! all of it, by family ─ sets ─▶ what a register is held against
//! ```
//!
//! A **trace** shows what ran, and how long. A **symbol list** shows what is in one binary: what it
//! does not have may live elsewhere, so it tells only of patterns that it *covers* ([`Covered`]).
//!
//! Reading takes bytes, never a path, and knows nothing of findings. It is bounded ([`bounds`]): a
//! bound that is hit is an error, and so is evidence without a frame. Names with control characters
//! are no frames; they are counted in [`Notes`]. Uses `pattern` and `overlap`.

pub mod bounds;
mod claims;
mod covered;
mod error;
mod firefox;
mod folded;
mod format;
mod frames;
mod function;
mod near;
mod nm;
mod sets;
pub mod snapshot;
mod symbols;
mod trace;
mod xml;

use std::cmp::Ordering;
use std::io::{self, Read as _};

pub use claims::{Claims, claims};
pub use covered::Covered;
pub use error::{EvidenceError, Place};
pub use format::Format;
pub use frames::{FrameId, Frames};
pub use function::{Function, demangled, is_v0, without_hash};
pub use near::{Kinship, Near, NearFrame, Nearest};
pub use sets::Sets;
pub use trace::{Largest, Pair, StackId, Time, Together, Trace, Unit};

use bounds::Gzip;

/// What was read, of one file or of several.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    frames: Frames,
    sources: Vec<Source>,
}

/// One trace or symbol list.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name, as it was handed in; a snapshot's sources have the names that they had.
    pub name: String,
    /// What it was read as; for a snapshot's sources, what they were read as then.
    pub format: Format,
    /// What it says.
    pub content: Content,
    /// What was left out of it.
    pub notes: Notes,
}

/// What a source says.
#[derive(Debug, Clone)]
pub enum Content {
    /// What ran, and how long.
    Trace(Box<Trace>),
    /// What is in a binary, by number.
    Symbols(Vec<FrameId>),
}

/// What was left out in reading; counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Notes {
    /// Names that are empty or have control characters, by how often they were met.
    pub unfit_names: u64,
    /// Samples with a stack and no weight, or one that is no time; they count nothing.
    pub unweighted: u64,
    /// Lines whose count has a fraction, which is cut off.
    pub fractions: u64,
}

impl Source {
    /// Its frames, by number.
    pub fn frames(&self) -> impl Iterator<Item = FrameId> {
        let (trace, symbols) = match &self.content {
            Content::Trace(trace) => (trace.frames(), &[][..]),
            Content::Symbols(symbols) => (&[][..], symbols.as_slice()),
        };
        trace.iter().map(|(frame, _)| *frame).chain(symbols.iter().copied())
    }

    /// Whether it has this frame.
    pub fn has(&self, frame: FrameId) -> bool {
        match &self.content {
            Content::Trace(trace) => trace.inclusive(frame).is_some(),
            Content::Symbols(symbols) => symbols.binary_search(&frame).is_ok(),
        }
    }

    /// The trace, if it is one.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.content {
            Content::Trace(trace) => Some(trace),
            Content::Symbols(_) => None,
        }
    }
}

impl Evidence {
    /// Reads one file. `name` is for messages and the snapshot; the format is found from the
    /// content, gzip included, unless it is given.
    ///
    /// # Errors
    /// Where the bytes cannot be had, are not what they seem, exceed a bound, or have no frame.
    pub fn read(
        name: &str,
        input: impl io::Read,
        format: Option<Format>,
    ) -> Result<Self, EvidenceError> {
        // A second layer is none that a tool writes.
        let (head, mut input) = head(input)?;
        if !head.starts_with(b"\x1f\x8b") {
            return read(name, &head, io::Cursor::new(&head).chain(&mut input), format);
        }
        let (inner, mut input) = self::head(Gzip::new(io::Cursor::new(&head).chain(&mut input)))?;
        read(name, &inner, io::Cursor::new(&inner).chain(&mut input), format)
    }

    /// Takes in more.
    ///
    /// # Errors
    /// A bound of frames.
    pub fn merge(&mut self, other: Self) -> Result<(), EvidenceError> {
        let mut new = Vec::with_capacity(other.frames.len());
        for (_, text) in other.frames.iter() {
            new.push(self.frames.add(text)?);
        }
        for mut source in other.sources {
            match &mut source.content {
                Content::Trace(trace) => trace.renumber(&new),
                Content::Symbols(symbols) => {
                    for symbol in symbols.iter_mut() {
                        *symbol = new.get(symbol.index()).copied().unwrap_or(*symbol);
                    }
                    symbols.sort_unstable();
                }
            }
            self.sources.push(source);
        }
        Ok(())
    }

    /// The distinct frames of all sources.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// The frame of `frames` that the consumer would report in a trace, the one with the largest credited
    /// time, and the one that it should. Of equal ones the first by text: the consumer takes any. None
    /// was sampled: none.
    pub fn largest(&self, trace: &Trace, frames: &[FrameId]) -> Option<Largest> {
        let timed = || frames.iter().filter_map(|&id| Some((id, trace.inclusive(id)?)));
        let is_before = |a: FrameId, b: FrameId| self.frames.text(a) < self.frames.text(b);
        let most = |key: fn(&Time) -> u64| {
            timed().reduce(|best, next| match key(&next.1).cmp(&key(&best.1)) {
                Ordering::Greater => next,
                Ordering::Equal if is_before(next.0, best.0) => next,
                _ => best,
            })
        };
        Some(Largest { sampled: most(|t| t.sampled)?, credited: most(|t| t.credited)? })
    }

    /// The sources, in the order in which they were taken in.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
}

/// What has to be said of a list whose frames are in Rust's v0 mangling.
pub const V0_NOTE: &str = "most of these frames are in Rust's v0 mangling, where no `::h…` stands at the end; \
                           the profiler may print them otherwise";

/// Up to 64 KiB, and what follows.
fn head<R: io::Read>(mut input: R) -> io::Result<(Vec<u8>, R)> {
    let mut head = Vec::new();
    (&mut input).take(format::HEAD as u64).read_to_end(&mut head)?;
    Ok((head, input))
}

fn read(
    name: &str,
    head: &[u8],
    input: impl io::Read,
    format: Option<Format>,
) -> Result<Evidence, EvidenceError> {
    if head.starts_with(b"\x1f\x8b") {
        return Err(EvidenceError::Unknown);
    }
    let is_said = format.is_some();
    let Some(format) = format.or_else(|| Format::of(head)) else {
        return Err(EvidenceError::Unknown);
    };
    let read = match format {
        Format::Instruments => xml::read(input)?,
        Format::Folded => folded::read(input)?,
        Format::Firefox => firefox::read(input)?,
        Format::Binary => symbols::read(input)?,
        Format::Names => folded::read_names(input, is_said)?,
        Format::Nm => nm::read(input)?,
        Format::Snapshot => return snapshot::read(input),
    };
    if read.frames.is_empty() {
        return Err(EvidenceError::Empty(format, None));
    }
    let source = Source { name: name.to_owned(), format, content: read.content, notes: read.notes };
    Ok(Evidence { frames: read.frames, sources: vec![source] })
}

/// What a reader gives.
pub(crate) struct Read {
    frames: Frames,
    content: Content,
    notes: Notes,
}

impl Read {
    fn trace(frames: Frames, trace: Trace, notes: Notes) -> Self {
        Self { frames, content: Content::Trace(Box::new(trace)), notes }
    }

    /// All the frames are symbols.
    fn symbols(frames: Frames, notes: Notes) -> Self {
        let symbols = frames.iter().map(|(frame, _)| frame).collect();
        Self { frames, content: Content::Symbols(symbols), notes }
    }
}
