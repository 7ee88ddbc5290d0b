//! `nested-in-stack`: two canonical frames in one stack of a trace.

use std::collections::BTreeMap;

use super::functions::{self, LISTED};
use super::{Check, Findings, FixAvailability, Level, Needs, Rule, label, named};
use crate::diagnostic::Diagnostic;
use crate::evidence::{FrameId, Pair, StackId, Time, Together, Trace};
use crate::span::Span;
use crate::workspace::{Entry, Measured, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "nested-in-stack",
    summary: "two canonical frames in one stack: a sum of their rows counts time twice",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/nested-in-stack.md"),
    check: Check::Evidence(check, Needs::Stacks),
};

/// One hypothesis in one trace.
struct Row {
    /// Its number in the register.
    hypothesis: usize,
    /// The largest that it claims.
    frame: FrameId,
}

/// One hypothesis inside of another one, in one trace.
struct Nested<'m> {
    source: &'m str,
    trace: &'m Trace,
    /// Of the stacks that both are in.
    time: Time,
    /// The part of it whose stacks have them the other way round.
    reversed: Time,
    /// Of the inner one.
    whole: Time,
    stack: StackId,
    outer: FrameId,
    inner: FrameId,
}

fn check(
    _: &Workspace<'_>,
    entry: &Entry<'_>,
    measured: Option<&Measured<'_>>,
    findings: &mut Findings,
) {
    let Some(measured) = measured else { return };
    let mut found: BTreeMap<usize, BTreeMap<usize, Vec<Nested<'_>>>> = BTreeMap::new();
    let mut sums: Vec<(&str, &Trace, Together)> = Vec::new();
    for (source, trace) in measured.traces() {
        let rows = rows(entry, measured, trace);
        let groups: Vec<&[FrameId]> =
            rows.iter().map(|row| std::slice::from_ref(&row.frame)).collect();
        let Some(together) = trace.together(&groups, measured.evidence().frames()) else {
            say_unknown(entry, source, trace, &rows, findings);
            continue;
        };
        for pair in &together.pairs {
            // Of rows that show one function `frame-claimed-twice` speaks.
            let (a, b) = pair.frames;
            if measured.function_number(a) == measured.function_number(b) {
                continue;
            }
            if let Some((outer, inner, nested)) = nested(source, trace, &rows, &together, pair) {
                found.entry(inner).or_default().entry(outer).or_default().push(nested);
            }
        }
        if together.is_cut {
            let message = format!("`{source}` has more hypotheses in one stack than are looked at");
            findings.push(findings.finding(message, label(entry.file, Span::empty(0), "")));
        }
        sums.push((source, trace, together));
    }
    for (inner, outers) in &found {
        if outers.len() > CROWD {
            let all: Vec<_> = outers.iter().collect();
            if let Some(finding) = inside(entry, measured, *inner, &all, &sums, findings) {
                findings.push(finding);
            }
            continue;
        }
        for outer in outers {
            if let Some(finding) = inside(entry, measured, *inner, &[outer], &sums, findings) {
                findings.push(finding);
            }
        }
    }
}

/// With more others than this a hypothesis gets one finding instead of one with each of them.
const CROWD: usize = 4;

/// The finding about one hypothesis inside of others.
fn inside(
    entry: &Entry<'_>,
    measured: &Measured<'_>,
    inner: usize,
    outers: &[(&usize, &Vec<Nested<'_>>)],
    sums: &[(&str, &Trace, Together)],
    findings: &Findings,
) -> Option<Diagnostic> {
    let hypotheses = &entry.register.hypotheses;
    let this = hypotheses.get(inner)?;
    let slot = this.canonical.as_ref()?;
    let (first, nested) = outers.first()?;
    let more = match outers.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let message =
        format!("{} is measured inside of {}{more}", named(this), named(&hypotheses[**first]));
    let words = nested.first().map_or_else(String::new, |nested| {
        format!("its largest frame is {}", functions::path(measured.text(nested.inner)))
    });
    let mut finding = findings
        .finding(message, label(entry.file, slot.text.span(), words))
        .with_hypothesis(this.id());
    for (outer, nested) in outers.iter().take(LISTED) {
        let other = &hypotheses[**outer];
        if let (Some(slot), Some(first)) = (&other.canonical, nested.first()) {
            let words = format!("calls it from {}", functions::path(measured.text(first.outer)));
            finding = finding.with_related(label(entry.file, slot.text.span(), words));
        }
        for nested in nested.iter().take(LISTED) {
            let (time, whole) = (nested.time.sampled, nested.whole.sampled);
            let of = if time == whole {
                "all that it has".to_owned()
            } else {
                format!("of {}", functions::time(nested.trace, whole))
            };
            let reversed = match nested.reversed.sampled {
                0 => String::new(),
                reversed => format!(
                    "; in {} of these {} is the inner one",
                    functions::time(nested.trace, reversed),
                    named(other)
                ),
            };
            finding.notes.push(format!(
                "in `{}` {} of it {} in the time of {} too, {of}{reversed}",
                nested.source,
                functions::time(nested.trace, time),
                functions::is(nested.trace, time),
                named(other)
            ));
        }
        if let Some(nested) = nested.first() {
            finding.notes.push(format!("a stack: {}", stack(measured, nested)));
        }
    }
    for (source, trace, together) in sums.iter().take(LISTED) {
        if together.sum.sampled > together.union.sampled {
            finding.notes.push(format!(
                "the rows of `{source}` add up to {}, which is {} without what is counted twice",
                functions::time(trace, together.sum.sampled),
                functions::time(trace, together.union.sampled)
            ));
        }
        if together.sum.sampled != together.sum.credited {
            finding.notes.push(format!(
                "the script passes over a part of `{source}` (`<backtrace ref>`), so its table has less: \
                 `reglint evidence` shows both"
            ));
        }
    }
    Some(finding)
}

/// The largest frame of each hypothesis in a trace, by what was sampled.
fn rows(entry: &Entry<'_>, measured: &Measured<'_>, trace: &Trace) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (hypothesis, it) in entry.register.hypotheses.iter().enumerate() {
        let frames = it.canonical.as_ref().and_then(|slot| measured.frames(slot.pattern));
        let largest = frames.and_then(|frames| measured.largest(trace, frames));
        let sampled = largest.map(|largest| largest.sampled).filter(|(_, time)| time.sampled > 0);
        rows.extend(sampled.map(|(frame, _)| Row { hypothesis, frame }));
    }
    rows
}

/// A pair as the numbers of the outer and of the inner hypothesis, and how they lie.
fn nested<'m>(
    source: &'m str,
    trace: &'m Trace,
    rows: &[Row],
    together: &Together,
    pair: &Pair,
) -> Option<(usize, usize, Nested<'m>)> {
    let (first, second) = pair.groups;
    let (outer, inner) = if pair.second_is_inner { (first, second) } else { (second, first) };
    if pair.time.sampled == 0 {
        return None;
    }
    let nested = Nested {
        source,
        trace,
        time: pair.time,
        reversed: pair.reversed,
        whole: *together.each.get(inner)?,
        stack: pair.stack,
        outer: rows.get(outer)?.frame,
        inner: rows.get(inner)?.frame,
    };
    Some((rows.get(outer)?.hypothesis, rows.get(inner)?.hypothesis, nested))
}

/// The part of a stack from the outer frame to the inner one, without the middle of a long one.
fn stack(measured: &Measured<'_>, nested: &Nested<'_>) -> String {
    const SHOWN: usize = 3;
    let stack = nested.trace.stack(nested.stack);
    let start = stack.iter().position(|frame| *frame == nested.outer).unwrap_or(0);
    let part = stack.get(start..).unwrap_or_default();
    let end = part.iter().position(|frame| *frame == nested.inner).map_or(part.len(), |at| at + 1);
    let part = part.get(..end).unwrap_or(part);
    let path = |frame: &FrameId| {
        let function = crate::evidence::Function::of(measured.text(*frame));
        functions::path(function.as_str())
    };
    let words: Vec<String> = if part.len() > 2 * SHOWN {
        let head = part.iter().take(SHOWN).map(path);
        let tail = part.iter().skip(part.len() - SHOWN).map(path);
        let between = format!("{} more", part.len() - 2 * SHOWN);
        head.chain(std::iter::once(between)).chain(tail).collect()
    } else {
        part.iter().map(path).collect()
    };
    words.join(" → ")
}

/// Says that a snapshot was made for other patterns.
fn say_unknown(
    entry: &Entry<'_>,
    source: &str,
    trace: &Trace,
    rows: &[Row],
    findings: &mut Findings,
) {
    let Some(row) = rows.iter().find(|row| !trace.places(row.frame)) else { return };
    let Some(hypothesis) = entry.register.hypotheses.get(row.hypothesis) else { return };
    let Some(slot) = &hypothesis.canonical else { return };
    let message = format!(
        "the snapshot of `{source}` does not tell what {} is measured inside of",
        named(hypothesis)
    );
    let finding = findings
        .finding(message, label(entry.file, slot.text.span(), "not among the frames that it keeps"))
        .with_note(
            "it was written for other patterns; `reglint evidence --snapshot` writes it anew",
        )
        .with_hypothesis(hypothesis.id());
    findings.push(finding);
}
