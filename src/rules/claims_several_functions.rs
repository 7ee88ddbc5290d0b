//! `claims-several-functions`: a canonical pattern that claims several functions of the evidence.

use super::functions::{self, LISTED, Namings};
use super::{Check, Findings, FixAvailability, Level, Needs, Rule, label, named};
use crate::evidence::{FrameId, Time, Trace};
use crate::fix::Fix;
use crate::pattern::ways::ways;
use crate::register::Slot;
use crate::workspace::{Claimed, Entry, Measured, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "claims-several-functions",
    summary: "a canonical pattern that claims several functions of the evidence",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/claims-several-functions.md"),
    check: Check::Evidence(check, Needs::Frames),
};

fn check(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    measured: Option<&Measured<'_>>,
    findings: &mut Findings,
) {
    let Some(measured) = measured else { return };
    let mut namings = Namings::new(measured, functions::measured_registers(workspace));
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let Some(claimed) = measured.functions(slot.pattern).filter(|found| found.len() > 1) else {
            continue;
        };
        let frames: Vec<FrameId> =
            claimed.iter().flat_map(|claimed| claimed.frames.iter().copied()).collect();
        let words = format!("{} of {} frames", frames.len(), measured.evidence().frames().len());
        let message = format!("{} claims {} functions", named(hypothesis), claimed.len());
        let mut finding = findings
            .finding(message, label(entry.file, slot.text.span(), words))
            .with_hypothesis(hypothesis.id());
        let ranked = ranked(measured, &claimed);
        for (claimed, time) in ranked.iter().take(LISTED) {
            let copies = functions::copies(measured, &claimed.frames);
            let of_copies =
                if copies > 1 { format!(", {copies} copies of it") } else { String::new() };
            let time = time.map_or_else(String::new, |(trace, time)| {
                let most = match (copies > 1, measured.traces().nth(1).is_some()) {
                    (true, true) => ", the largest at most ",
                    (true, false) => ", the largest ",
                    (false, true) => ", at most ",
                    (false, false) => ", ",
                };
                format!("{most}{}", functions::shown(trace, time))
            });
            finding.notes.push(format!(
                "it claims {}{of_copies}{time}",
                functions::path(claimed.function.as_str())
            ));
        }
        if ranked.len() > LISTED {
            finding.notes.push(format!("and {} more", ranked.len() - LISTED));
        }
        finding.notes.extend(in_one_stack(measured, &ranked));
        let shown = shown(measured, &frames);
        if shown.is_empty() {
            let note =
                "the table shows the one with the most time, maybe another one in each trace";
            finding.notes.push(note.to_owned());
        }
        for (source, frame) in shown.iter().take(LISTED) {
            let text = functions::path(measured.text(*frame));
            finding.notes.push(format!("in `{source}` the table shows {text}"));
        }
        if let Some(target) = target(workspace, measured, slot, &claimed, &shown) {
            if namings.is_spent() {
                finding.notes.push(Namings::SPENT.to_owned());
            }
            finding.fix = repair(measured, entry, slot, target, &mut namings);
        }
        findings.push(finding);
    }
}

/// The functions with the most time first, each with its largest time in any trace; by name where there is none.
fn ranked<'c, 'e>(
    measured: &Measured<'e>,
    claimed: &'c [Claimed<'c>],
) -> Vec<(&'c Claimed<'c>, Option<(&'e Trace, Time)>)> {
    let time = |claimed: &Claimed<'_>| {
        let times = measured.traces().filter_map(|(_, trace)| {
            let (_, time) = functions::reported(measured, trace, &claimed.frames)?;
            Some((trace, time))
        });
        times.max_by_key(|(_, time)| time.credited)
    };
    let mut ranked: Vec<_> = claimed.iter().map(|claimed| (claimed, time(claimed))).collect();
    ranked.sort_by_key(|(_, time)| std::cmp::Reverse(time.map_or(0, |(_, time)| time.credited)));
    ranked
}

/// The frame that the table shows of these, by trace.
fn shown<'e>(measured: &Measured<'e>, frames: &[FrameId]) -> Vec<(&'e str, FrameId)> {
    let mut frames = frames.to_vec();
    frames.sort_unstable();
    let shown = |(name, trace)| Some((name, functions::reported(measured, trace, &frames)?.0));
    measured.traces().filter_map(shown).collect()
}

/// What is said of functions that call one another: the time of the outer one has that of the inner one in it.
fn in_one_stack(
    measured: &Measured<'_>,
    ranked: &[(&Claimed<'_>, Option<(&Trace, Time)>)],
) -> Option<String> {
    const LOOKED_AT: usize = 64;
    let ranked = ranked.get(..LOOKED_AT).unwrap_or(ranked);
    let groups: Vec<&[FrameId]> =
        ranked.iter().map(|(claimed, _)| claimed.frames.as_slice()).collect();
    let pairs = measured.traces().filter_map(|(_, trace)| {
        let together = trace.together(&groups, measured.evidence().frames())?;
        let pair = together.pairs.into_iter().max_by_key(|pair| pair.time.sampled)?;
        Some((trace, pair))
    });
    let (trace, pair) = pairs.max_by_key(|(_, pair)| pair.time.sampled)?;
    let (mut outer, mut inner) = pair.frames;
    if !pair.second_is_inner {
        (outer, inner) = (inner, outer);
    }
    let path = |frame| functions::path(measured.function(frame).map_or("", |it| it.as_str()));
    Some(format!(
        "{} stands above {} in one stack: {} {} in the time of both",
        path(outer),
        path(inner),
        functions::time(trace, pair.time.sampled),
        functions::is(trace, pair.time.sampled)
    ))
}

/// The function that was meant: the one that the table shows in every trace, or without a trace the one whose name
/// is what the pattern ends in.
fn target<'c>(
    workspace: &Workspace<'_>,
    measured: &Measured<'_>,
    slot: &Slot<'_>,
    claimed: &'c [Claimed<'c>],
    shown: &[(&str, FrameId)],
) -> Option<&'c Claimed<'c>> {
    if let Some((_, first)) = shown.first() {
        let first = measured.function(*first)?;
        let is_first = |(_, frame): &(&str, FrameId)| measured.function(*frame) == Some(first);
        return claimed
            .iter()
            .find(|it| it.function == first)
            .filter(|_| shown.iter().all(is_first));
    }
    let ways = ways(&workspace.patterns.tree(slot.pattern)?.root)?;
    let [way] = ways.as_slice() else { return None };
    let is_own = |it: &&Claimed<'_>| it.function.segments().last() == Some(&way.name());
    let mut own = claimed.iter().filter(is_own);
    own.next().filter(|_| own.next().is_none())
}

fn repair(
    measured: &Measured<'_>,
    entry: &Entry<'_>,
    slot: &Slot<'_>,
    target: &Claimed<'_>,
    namings: &mut Namings,
) -> Option<Fix> {
    // The same whatever the order of the evidence.
    let frame = target.frames.iter().min_by_key(|frame| measured.text(**frame))?;
    let named = namings.ask(measured, *frame)?;
    functions::name_one(measured, entry.file, slot, &named, &target.frames)
}
