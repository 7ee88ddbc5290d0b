//! What the patterns of registers measure in evidence: the consumer's table, and what it does not have.
//!
//! Uses `workspace`, `evidence`, `register`, `pattern` and `source`.

use crate::evidence::{
    Content, Evidence, Format, FrameId, Largest, Notes, Pair, Sets, Time, Together, Trace, Unit,
    claims,
};
use crate::pattern::{Ast, Consumer};
use crate::register::{PatternId, Slot};
use crate::source::Sources;
use crate::span::{FileId, Span};
use crate::workspace::{Entry, Measured, Patterns, Workspace};

/// What to measure.
#[derive(Debug)]
pub struct Request<'a> {
    /// The registers, and what was read beside them.
    pub sources: &'a Sources,
    /// By the number of a source: the family that the configuration gives its file.
    pub families: &'a [Option<String>],
    /// The evidence.
    pub evidence: &'a Sets,
    /// Whose dialect the patterns are written in.
    pub consumer: Consumer,
    /// Only samples count whose stack has a frame that this pattern claims.
    pub only_under: Option<&'a Ast>,
}

/// What the patterns of one register measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The register.
    pub file: FileId,
    /// Its family.
    pub family: Option<String>,
    /// The evidence about it; none where nothing is known of its family.
    pub sources: Vec<Source>,
    /// What the times of all traces are counted in; `None` without a trace.
    pub unit: Option<Unit>,
    /// Its patterns in order: each canonical one before its subcomponents.
    pub rows: Vec<Row>,
    /// For each trace what its canonical rows add up to.
    pub sums: Vec<Sum>,
}

/// One source of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// What it was read as.
    pub format: Format,
    /// How many frames it has.
    pub frames: usize,
    /// The time of all its samples, for a trace.
    pub total: Option<Time>,
    /// The part of it that counts, where not all does.
    pub under: Option<Time>,
    /// What was left out in reading it.
    pub notes: Notes,
    /// Whether it is a list, and most of the evidence is in Rust's v0 mangling, which the profiler may print otherwise.
    pub is_v0: bool,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The hypothesis, if it has an id.
    pub hypothesis: Option<String>,
    /// The label of a subcomponent; `None` for the canonical pattern.
    pub subcomponent: Option<String>,
    /// The pattern, decoded.
    pub pattern: String,
    /// Its place in the register.
    pub span: Span,
    /// What is known of it.
    pub state: State,
    /// The functions that it claims, by name, with how many frames of each.
    pub functions: Vec<(String, usize)>,
    /// What it measures in each trace, in the order of the traces.
    pub trials: Vec<Trial>,
}

/// What is known of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It claims frames.
    Claims,
    /// It claims none, though the symbols cover it.
    NoFrame,
    /// It claims none of the frames that were sampled, and no list of symbols covers it.
    NotSampled,
    /// It claims no symbol, and the symbols do not cover it: what it names may be in another binary.
    NotCovered,
    /// The search was given up.
    Undecided,
    /// Its consumer refuses it.
    Refused,
    /// Its consumer is fancy-regex, which may read it otherwise than Python.
    OtherDialect,
}

impl State {
    /// The word for it in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::NoFrame => "no-frame",
            Self::NotSampled => "not-sampled",
            Self::NotCovered => "not-covered",
            Self::Undecided => "undecided",
            Self::Refused => "refused",
            Self::OtherDialect => "other-dialect",
        }
    }
}

/// What a pattern measures in one trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trial {
    /// The frame that the consumer reports, with the time that it credits; `None` where its table shows 0.0.
    pub credited: Option<(String, u64)>,
    /// The frame with the most sampled time, with that time.
    pub sampled: Option<(String, u64)>,
}

/// What the rows of a register add up to in one trace. In what was sampled a row counts with the frame that has the most of
/// it, in what is credited with the frame that the consumer reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// The trace's name.
    pub source: String,
    /// The sums; `None` where a snapshot does not tell how the frames lie in its stacks.
    pub known: Option<Known>,
}

/// See [`Sum`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The plain sum of the rows.
    pub sum: Time,
    /// The time of the samples that at least one of them is in.
    pub union: Time,
    /// The pairs that are in one stack, by what was sampled.
    pub pairs: Vec<InOneStack>,
    /// Whether these are not all of them: there are too many.
    pub is_cut: bool,
}

/// Two hypotheses that are in one stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InOneStack {
    /// The outer one's id, by most of the time; of two that show one frame, and of a tie, the earlier one's.
    pub outer: Option<String>,
    /// The inner one's id.
    pub inner: Option<String>,
    /// Whether both show the same frame.
    pub is_one_frame: bool,
    /// The time that both have.
    pub time: Time,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A register has traces in nanoseconds and traces in samples.
    Units(FileId),
    /// What a snapshot keeps of stacks is not enough for [`Request::only_under`].
    Partial(String),
    /// No trace has a frame that [`Request::only_under`] claims.
    UnderNothing,
    /// The search for the frames of [`Request::only_under`] was given up.
    OnlyUnder,
    /// The registers have different evidence, which no one snapshot can hold.
    SeveralSets,
    /// There is no evidence about any of the registers.
    NoEvidence,
    /// No register is there, or none has a hypothesis.
    NoRegister,
}

/// Measures the registers among the sources that were asked for.
///
/// # Errors
/// See [`Failure`].
pub fn measure(request: &Request<'_>) -> Result<Vec<Table>, Failure> {
    with_workspace(request, |workspace| {
        let mut tables = Vec::new();
        for entry in workspace.entries.iter().filter(|entry| is_register(entry)) {
            tables.push(table(workspace, entry, request.only_under)?);
        }
        if tables.is_empty() {
            return Err(Failure::NoRegister);
        }
        if tables.iter().all(|table| table.sources.is_empty()) {
            return Err(Failure::NoEvidence);
        }
        Ok(tables)
    })
}

/// The evidence about the registers, and those of its frames whose places in stacks a snapshot has to keep: what the
/// patterns claim.
///
/// # Errors
/// See [`Failure`].
pub fn kept<'a>(request: &Request<'a>) -> Result<(&'a Evidence, Vec<FrameId>), Failure> {
    let sets = request.evidence;
    with_workspace(request, |workspace| {
        let entries = || workspace.entries.iter().filter(|entry| is_register(entry));
        if entries().next().is_none() {
            return Err(Failure::NoRegister);
        }
        let mut numbers: Vec<usize> =
            entries().filter_map(|entry| sets.number(entry.family)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let number = match numbers.as_slice() {
            [] => return Err(Failure::NoEvidence),
            [number] => *number,
            _ => return Err(Failure::SeveralSets),
        };
        let mut kept = Vec::new();
        for entry in entries() {
            let Some(measured) = workspace.measured(entry) else { continue };
            for slot in entry.register.slots() {
                kept.extend_from_slice(measured.frames(slot.pattern).unwrap_or_default());
            }
        }
        kept.sort_unstable();
        kept.dedup();
        let evidence = sets.get(number).ok_or(Failure::NoEvidence)?;
        Ok((evidence, kept))
    })
}

fn is_register(entry: &Entry<'_>) -> bool {
    entry.is_asked_for() && !entry.register.hypotheses.is_empty()
}

fn with_workspace<T>(
    request: &Request<'_>,
    ask: impl FnOnce(&Workspace<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let sources = request.sources;
    let documents = super::documents(sources);
    let mut entries = super::entries(&documents, request.families);
    let patterns = Patterns::intern(&mut entries, request.consumer);
    let mut workspace = Workspace::new(entries, &patterns, sources, request.consumer);
    workspace.measure(request.evidence);
    ask(&workspace)
}

fn table(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    only_under: Option<&Ast>,
) -> Result<Table, Failure> {
    let mut table = Table {
        file: entry.file,
        family: entry.family.map(str::to_owned),
        sources: Vec::new(),
        unit: None,
        rows: Vec::new(),
        sums: Vec::new(),
    };
    let Some(measured) = workspace.measured(entry) else { return Ok(table) };
    let evidence = measured.evidence();
    table.sources = evidence.sources().iter().map(|it| source(it, measured)).collect();
    let traces = traces(measured, only_under)?;
    if only_under.is_some() {
        let of_traces = table.sources.iter_mut().filter(|source| source.total.is_some());
        for (source, (_, part)) in of_traces.zip(&traces) {
            source.under = Some(part.total());
        }
    }
    for (_, trace) in &traces {
        match table.unit {
            Some(unit) if unit != trace.unit() => return Err(Failure::Units(entry.file)),
            _ => table.unit = Some(trace.unit()),
        }
    }
    for hypothesis in &entry.register.hypotheses {
        let canonical = hypothesis.canonical.iter().map(|slot| (None, slot));
        let rest = hypothesis.subcomponents.iter();
        let rest = rest.map(|each| (Some(each.label.value().to_owned()), &each.slot));
        for (subcomponent, slot) in canonical.chain(rest) {
            let row = row(workspace, measured, &traces, slot);
            table.rows.push(Row {
                hypothesis: hypothesis.id().map(str::to_owned),
                subcomponent,
                ..row
            });
        }
    }
    table.sums = traces.iter().map(|(name, trace)| sum(entry, measured, name, trace)).collect();
    Ok(table)
}

fn source(source: &crate::evidence::Source, measured: &Measured<'_>) -> Source {
    let (frames, total) = match &source.content {
        Content::Trace(trace) => (trace.frames().len(), Some(trace.total())),
        Content::Symbols(symbols) => (symbols.len(), None),
    };
    let name = source.name.clone();
    let is_v0 = total.is_none() && measured.looks_v0();
    Source { name, format: source.format, frames, total, under: None, notes: source.notes, is_v0 }
}

/// A trace, whole or the part of it that counts.
type Part<'e> = std::borrow::Cow<'e, Trace>;

fn traces<'e>(
    measured: &Measured<'e>,
    only_under: Option<&Ast>,
) -> Result<Vec<(&'e str, Part<'e>)>, Failure> {
    let Some(ast) = only_under else {
        let whole = measured.traces().map(|(name, trace)| (name, Part::Borrowed(trace)));
        return Ok(whole.collect());
    };
    let mut found = claims(measured.evidence().frames(), &[ast]);
    if !found.unfinished.is_empty() {
        return Err(Failure::OnlyUnder);
    }
    let frames = found.frames.pop().unwrap_or_default();
    let is_sampled = |frame: &FrameId| measured.is_sampled(*frame);
    if measured.traces().next().is_some() && !frames.iter().any(is_sampled) {
        return Err(Failure::UnderNothing);
    }
    let part = |(name, trace): (&'e str, &'e Trace)| {
        let part = trace.only_under(&frames).ok_or_else(|| Failure::Partial(name.to_owned()))?;
        Ok((name, Part::Owned(part)))
    };
    measured.traces().map(part).collect()
}

fn row(
    workspace: &Workspace<'_>,
    measured: &Measured<'_>,
    traces: &[(&str, Part<'_>)],
    slot: &Slot<'_>,
) -> Row {
    let id = slot.pattern;
    let claimed = measured.functions(id).unwrap_or_default();
    let functions = claimed.iter().map(|it| (it.function.to_string(), it.frames.len())).collect();
    let frames = measured.frames(id).unwrap_or_default();
    let trial = |(_, trace): &(&str, Part<'_>)| {
        let Some(largest) = measured.largest(trace, frames) else { return Trial::default() };
        let named = |(frame, time): (FrameId, u64)| {
            (time > 0).then(|| (measured.text(frame).to_owned(), time))
        };
        Trial {
            credited: named((largest.credited.0, largest.credited.1.credited)),
            sampled: named((largest.sampled.0, largest.sampled.1.sampled)),
        }
    };
    Row {
        hypothesis: None,
        subcomponent: None,
        pattern: slot.text.value().to_owned(),
        span: slot.text.span(),
        state: state(workspace, measured, id),
        functions,
        trials: traces.iter().map(trial).collect(),
    }
}

fn state(workspace: &Workspace<'_>, measured: &Measured<'_>, id: PatternId) -> State {
    if measured.is_unfinished(id) {
        return State::Undecided;
    }
    match measured.frames(id) {
        None if workspace.patterns.get(id).ast().is_ok() => State::OtherDialect,
        None => State::Refused,
        Some([_, ..]) => State::Claims,
        Some([]) if measured.covering(workspace.patterns, id).is_some() => State::NoFrame,
        Some([]) if measured.traces().next().is_some() => State::NotSampled,
        Some([]) => State::NotCovered,
    }
}

fn sum(entry: &Entry<'_>, measured: &Measured<'_>, name: &str, trace: &Trace) -> Sum {
    let together = |of: fn(&Largest) -> (FrameId, Time), is_seen: fn(&Time) -> bool| {
        let mut rows: Vec<(Option<&str>, FrameId)> = Vec::new();
        for hypothesis in &entry.register.hypotheses {
            let frames =
                hypothesis.canonical.as_ref().and_then(|slot| measured.frames(slot.pattern));
            let largest = frames.and_then(|frames| measured.largest(trace, frames));
            if let Some((frame, _)) = largest.as_ref().map(of).filter(|(_, time)| is_seen(time)) {
                rows.push((hypothesis.id(), frame));
            }
        }
        let groups: Vec<&[FrameId]> =
            rows.iter().map(|(_, frame)| std::slice::from_ref(frame)).collect();
        let together = trace.together(&groups, measured.evidence().frames())?;
        Some((rows.iter().map(|(id, _)| id.map(str::to_owned)).collect::<Vec<_>>(), together))
    };
    let known = together(|it| it.sampled, |time| time.sampled > 0).and_then(|(ids, sampled)| {
        let (_, credited) = together(|it| it.credited, |time| time.credited > 0)?;
        let id = |at: usize| ids.get(at).cloned().flatten();
        let pair = |pair: Pair| {
            let (first, second) = pair.groups;
            let is_one_frame = pair.frames.0 == pair.frames.1;
            let (outer, inner) = if pair.second_is_inner || is_one_frame {
                (first, second)
            } else {
                (second, first)
            };
            InOneStack { outer: id(outer), inner: id(inner), is_one_frame, time: pair.time }
        };
        let both = |time: fn(&Together) -> Time| Time {
            sampled: time(&sampled).sampled,
            credited: time(&credited).credited,
        };
        let (sum, union, is_cut) = (both(|it| it.sum), both(|it| it.union), sampled.is_cut);
        Some(Known { sum, union, pairs: sampled.pairs.into_iter().map(pair).collect(), is_cut })
    });
    Sum { source: name.to_owned(), known }
}

/// The median of some values, doubled so that it is an integer: of an even number of them it is the mean of the two in
/// the middle. 0 of none.
pub fn doubled_median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let half = sorted.len() / 2;
    let at = |at: usize| sorted.get(at).copied().unwrap_or(0);
    if sorted.len() % 2 == 1 {
        at(half).saturating_mul(2)
    } else {
        at(half.saturating_sub(1)).saturating_add(at(half))
    }
}

#[cfg(test)]
mod tests {
    use super::doubled_median;

    #[test]
    fn medians() {
        let cases: [(&[u64], u64); 5] =
            [(&[], 0), (&[3], 6), (&[4, 1], 5), (&[9, 1, 5], 10), (&[8, 2, 4, 100], 12)];
        for (values, doubled) in cases {
            assert_eq!(doubled_median(values), doubled, "{values:?}");
        }
    }
}
