//! `frame-claimed-twice`: one function claimed by two hypotheses of a register.

use std::collections::BTreeMap;

use ahash::{AHashMap, AHashSet};

use super::{
    Check, Findings, FixAvailability, Level, Needs, Rule, functions, label, named, quoted,
};
use crate::diagnostic::Diagnostic;
use crate::evidence::{FrameId, Function, without_hash};
use crate::register::{Hypothesis, PatternId};
use crate::span::Span;
use crate::workspace::{Claims, Entry, Measured, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "frame-claimed-twice",
    summary: "one function claimed by two hypotheses of a register: an example of one, or of the evidence",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/frame-claimed-twice.md"),
    check: Check::Evidence(check, Needs::Frames),
};

/// What stands behind the frame in a message about an example.
const OF_AN_EXAMPLE: &str = ", an example of ";

/// Whether a message is about an example, not about a frame of evidence. It may be cut off behind 80 characters.
pub(super) fn is_of_an_example(message: &str) -> bool {
    // That one begins with the frame, the other one with who claims it.
    let at = |words: &str| message.find(words).unwrap_or(usize::MAX);
    at(&format!("`{OF_AN_EXAMPLE}")) < at("` claims ")
}

/// How many searches of one register may be given up before only plain text is looked for: each costs
/// a bound of steps.
const MOST_GIVEN_UP: usize = 16;

fn check(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    measured: Option<&Measured<'_>>,
    findings: &mut Findings,
) {
    let said = check_examples(workspace, entry, findings);
    if let Some(measured) = measured {
        check_evidence(entry, measured, &said, findings);
    }
}

/// Two hypotheses by their numbers, the earlier one first, and a function that both claim.
type Said<'e> = AHashSet<(usize, usize, &'e str)>;

/// Looks at the authors' own examples; gives what was reported.
fn check_examples<'e>(
    workspace: &Workspace<'_>,
    entry: &'e Entry<'_>,
    findings: &mut Findings,
) -> Said<'e> {
    let hypotheses = &entry.register.hypotheses;
    // An example that both of two have is one fault.
    let mut said = Said::new();
    if hypotheses.iter().all(|hypothesis| hypothesis.frames.claimed.is_empty()) {
        return said;
    }
    // Of hypotheses with one pattern `duplicate-canonical-frame` speaks: the first stands for them.
    let mut owners: AHashMap<PatternId, usize> = AHashMap::new();
    for (number, hypothesis) in hypotheses.iter().enumerate() {
        if let Some(slot) = &hypothesis.canonical {
            owners.entry(slot.pattern).or_insert(number);
        }
    }
    let mut ids: Vec<PatternId> = owners.keys().copied().collect();
    ids.sort_unstable();
    let claims = Claims::new(workspace.patterns, ids);
    let mut given_up = 0;
    for (number, hypothesis) in hypotheses.iter().enumerate() {
        let Some(own) = &hypothesis.canonical else { continue };
        for frame in hypothesis.frames.claimed.iter().filter(|frame| super::is_frame(frame)) {
            // Of an example that is none `example-mismatch` speaks.
            if workspace.claims(own.pattern, frame.value()) == Some(false) {
                continue;
            }
            let mut others: Vec<(usize, &Hypothesis<'_>)> = Vec::new();
            for id in claims.candidates(frame.value()) {
                let Some(&owner) = owners.get(&id) else { continue };
                if id == own.pattern || owner == number {
                    continue;
                }
                let is_literal = workspace.patterns.get(id).is_literal();
                if !is_literal && given_up >= MOST_GIVEN_UP {
                    continue;
                }
                match workspace.claims(id, frame.value()) {
                    Some(true) => others.push((owner, &hypotheses[owner])),
                    Some(false) => {}
                    None => given_up += 1,
                }
            }
            let (function, _) = without_hash(frame.value());
            others.retain(|&(owner, _)| {
                said.insert((owner.min(number), owner.max(number), function))
            });
            others.sort_unstable_by_key(|&(owner, _)| owner);
            let Some(&(_, first)) = others.first() else { continue };
            let message = format!(
                "{}{OF_AN_EXAMPLE}{}, is claimed by {} too",
                quoted(frame.value()),
                named(hypothesis),
                match others.len() {
                    1 => named(first),
                    count => format!("{} and {} more", named(first), count - 1),
                }
            );
            let mut finding = findings
                .finding(message, label(entry.file, frame.span(), "claimed twice"))
                .with_note("the table shows the time of this function in each of their rows")
                .with_hypothesis(hypothesis.id());
            for (_, other) in others.iter().take(MOST_SHOWN) {
                if let Some(slot) = &other.canonical {
                    let words = format!("{} claims it", named(other));
                    finding = finding.with_related(label(entry.file, slot.text.span(), words));
                }
            }
            findings.push(finding);
        }
    }
    said
}

/// What two hypotheses have in common: by function the frames that the later one claims and of which the earlier one
/// claims a copy.
type Shared<'m> = BTreeMap<&'m Function, Vec<FrameId>>;

/// The most claims of a frame that are held against an earlier one's, in one register.
const MOST_LOOKS: usize = 2_000_000;

/// With more others than this a hypothesis gets one finding instead of one with each of them.
const CROWD: usize = 4;

/// Looks at the frames of the evidence.
fn check_evidence(
    entry: &Entry<'_>,
    measured: &Measured<'_>,
    said: &Said<'_>,
    findings: &mut Findings,
) {
    let hypotheses = &entry.register.hypotheses;
    // By the path of a frame, copies being one; a closure is another one.
    let mut claimants: AHashMap<&str, Vec<usize>> = AHashMap::new();
    let mut pairs: BTreeMap<usize, BTreeMap<usize, Shared<'_>>> = BTreeMap::new();
    let mut looks = 0;
    for (number, hypothesis) in hypotheses.iter().enumerate() {
        let Some(slot) = &hypothesis.canonical else { continue };
        for &frame in measured.frames(slot.pattern).unwrap_or_default() {
            let Some(function) = measured.function(frame) else { continue };
            let path = without_hash(measured.text(frame)).0;
            let before = claimants.entry(path).or_default();
            for &other in before.iter().filter(|other| **other != number) {
                let same = hypotheses.get(other).and_then(|it| it.canonical.as_ref());
                // Of equal patterns `duplicate-canonical-frame` speaks.
                if same.is_some_and(|it| it.pattern == slot.pattern)
                    || said.contains(&(other, number, path))
                {
                    continue;
                }
                looks += 1;
                if looks <= MOST_LOOKS {
                    let with = pairs.entry(number).or_default().entry(other).or_default();
                    with.entry(function).or_default().push(frame);
                }
            }
            if before.last() != Some(&number) && before.len() < MOST_CLAIMANTS {
                before.push(number);
            }
        }
    }
    for (&number, others) in &pairs {
        let others: Vec<_> = others.iter().collect();
        if others.len() > CROWD {
            findings.push(twice(entry, measured, number, &others, findings));
            continue;
        }
        for other in others {
            findings.push(twice(entry, measured, number, &[other], findings));
        }
    }
    if looks > MOST_LOOKS {
        let message = format!(
            "hypotheses claim the same frames more often than the {MOST_LOOKS} times that are looked at"
        );
        let place = label(entry.file, Span::empty(0), "");
        findings.push(findings.finding(message, place));
    }
}

/// How many of those that claim one frame are held against a later one.
const MOST_CLAIMANTS: usize = 64;

/// The finding about the functions that a hypothesis shares with earlier ones.
fn twice(
    entry: &Entry<'_>,
    measured: &Measured<'_>,
    number: usize,
    others: &[(&usize, &Shared<'_>)],
    findings: &Findings,
) -> Diagnostic {
    let hypotheses = &entry.register.hypotheses;
    let this = &hypotheses[number];
    let whose = match others {
        [] => String::new(),
        [(only, _)] => named(&hypotheses[**only]),
        [(first, _), rest @ ..] => {
            format!("{} and {} more", named(&hypotheses[**first]), rest.len())
        }
    };
    let mut functions: BTreeMap<&Function, &[FrameId]> = BTreeMap::new();
    for (function, frames) in others.iter().flat_map(|(_, shared)| *shared) {
        functions.entry(function).or_insert(frames);
    }
    let message = match functions.keys().next() {
        Some(only) if functions.len() == 1 => {
            let function = functions::path(only.as_str());
            format!("{} claims {function}, which {whose} claims too", named(this))
        }
        _ => format!("{} claims {} functions of {whose} too", named(this), functions.len()),
    };
    let own = this.canonical.as_ref().map_or(this.span, |slot| slot.text.span());
    let mut finding = findings
        .finding(message, label(entry.file, own, "claimed twice"))
        .with_note(
            "where it is the largest of both, the table shows its time in each of their rows",
        )
        .with_hypothesis(this.id());
    for &(&other, _) in others.iter().take(MOST_SHOWN) {
        if let Some(slot) = &hypotheses[other].canonical {
            let words = format!("{} claims it", named(&hypotheses[other]));
            finding = finding.with_related(label(entry.file, slot.text.span(), words));
        }
    }
    // Those with the most time first.
    let most = |frames: &[FrameId]| {
        let times = measured.traces().filter_map(|(_, trace)| {
            Some(functions::reported(measured, trace, frames)?.1.credited)
        });
        times.max().unwrap_or(0)
    };
    let count = functions.len();
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by_cached_key(|(_, frames)| std::cmp::Reverse(most(frames)));
    for (function, frames) in functions.iter().take(functions::LISTED) {
        let times = measured.traces().filter_map(|(name, trace)| {
            let (_, time) = functions::reported(measured, trace, frames)?;
            Some(format!("{} in `{name}`", functions::shown(trace, time)))
        });
        let times: Vec<_> = times.take(functions::LISTED).collect();
        let times =
            if times.is_empty() { String::new() } else { format!(": {}", times.join(", ")) };
        finding.notes.push(format!("both claim {}{times}", functions::path(function.as_str())));
    }
    if count > functions::LISTED {
        finding.notes.push(format!("and {} more functions", count - functions::LISTED));
    }
    finding
}

/// How many of those that claim a frame are pointed at.
const MOST_SHOWN: usize = 5;
