//! `unstable-frame`: a pattern whose largest frame is of another function in another trace.

use std::collections::BTreeSet;

use super::functions::{self, LISTED};
use super::{Check, Findings, FixAvailability, Level, Needs, Rule, label, named};
use crate::evidence::{FrameId, Trace};
use crate::workspace::{Entry, Measured, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "unstable-frame",
    summary: "a canonical pattern whose largest function differs from trace to trace",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/unstable-frame.md"),
    check: Check::Evidence(check, Needs::Unknown),
};

fn check(
    _: &Workspace<'_>,
    entry: &Entry<'_>,
    measured: Option<&Measured<'_>>,
    findings: &mut Findings,
) {
    let Some(measured) = measured else { return };
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let Some(frames) = measured.frames(slot.pattern).filter(|frames| frames.len() > 1) else {
            continue;
        };
        let shown: Vec<Shown<'_>> = measured
            .traces()
            .filter_map(|(source, trace)| Shown::of(measured, frames, source, trace))
            .collect();
        // Functions that are the largest everywhere; in a trace, several can be.
        let common = shown
            .iter()
            .map(|each| each.functions.clone())
            .reduce(|so_far, functions| so_far.intersection(&functions).copied().collect());
        if common.is_none_or(|common| !common.is_empty()) {
            continue;
        }
        let message = format!(
            "the largest function that {} claims is not the same in all traces",
            named(hypothesis)
        );
        let mut finding = findings
            .finding(message, label(entry.file, slot.text.span(), ""))
            .with_hypothesis(hypothesis.id());
        for each in shown.iter().take(LISTED) {
            finding.notes.push(format!(
                "in `{}` the table shows {}, {}",
                each.source,
                functions::path(measured.text(each.frame)),
                functions::time(each.trace, each.time)
            ));
        }
        if shown.len() > LISTED {
            finding.notes.push(format!("and {} more traces", shown.len() - LISTED));
        }
        let note = "the median over the traces is of times of different functions";
        findings.push(finding.with_note(note));
    }
}

/// What the table shows of a pattern in a trace.
struct Shown<'m> {
    source: &'m str,
    trace: &'m Trace,
    frame: FrameId,
    time: u64,
    /// The functions of all frames that have the same time.
    functions: BTreeSet<usize>,
}

impl<'m> Shown<'m> {
    fn of(
        measured: &Measured<'_>,
        frames: &[FrameId],
        source: &'m str,
        trace: &'m Trace,
    ) -> Option<Self> {
        let (frame, time) = functions::reported(measured, trace, frames)?;
        let time = time.credited;
        let is_largest =
            |frame: &&FrameId| trace.inclusive(**frame).is_some_and(|other| other.credited == time);
        let largest = frames.iter().filter(is_largest);
        let functions = largest.filter_map(|frame| measured.function_number(*frame)).collect();
        Some(Self { source, trace, frame, time, functions })
    }
}
