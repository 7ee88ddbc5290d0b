//! `frame-claimed-twice`: one function claimed by two hypotheses of a register.

use ahash::{AHashMap, AHashSet};

use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::register::{Hypothesis, PatternId};
use crate::workspace::{Claims, Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "frame-claimed-twice",
    summary: "an example frame of one hypothesis that another one of the register claims too",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/frame-claimed-twice.md"),
    check: Check::Entry(check),
};

/// How many searches of one register may be given up before only plain text is looked for: each costs
/// a bound of steps.
const MOST_GIVEN_UP: usize = 16;

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let hypotheses = &entry.register.hypotheses;
    if hypotheses.iter().all(|hypothesis| hypothesis.frames.claimed.is_empty()) {
        return;
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
    // An example that both of two have is one fault.
    let mut said: AHashSet<(usize, usize, &str)> = AHashSet::new();
    for (number, hypothesis) in hypotheses.iter().enumerate() {
        let Some(own) = &hypothesis.canonical else { continue };
        for frame in hypothesis.frames.claimed.iter().filter(|frame| super::is_frame(frame)) {
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
            let function = function(frame.value());
            others.retain(|&(owner, _)| {
                said.insert((owner.min(number), owner.max(number), function))
            });
            others.sort_unstable_by_key(|&(owner, _)| owner);
            let Some(&(_, first)) = others.first() else { continue };
            let message = format!(
                "{}, an example of {}, is claimed by {} too",
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
}

/// A frame without the hash that tells the copies of one function apart.
fn function(frame: &str) -> &str {
    match frame.rsplit_once("::h") {
        Some((function, hash))
            if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) =>
        {
            function
        }
        _ => frame,
    }
}

/// How many of those that claim a frame are pointed at.
const MOST_SHOWN: usize = 5;
