//! `link-mismatch`: a link between hypotheses that do not claim the same frames.

use super::{Check, Findings, FixAvailability, Level, Rule, as_json, label, named, quoted};
use crate::fix::{Applicability, Fix};
use crate::overlap::Answer;
use crate::register::{Hypothesis, Link, PatternId};
use crate::workspace::{Claim, Entry, Place, Scope, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "link-mismatch",
    summary: "a link whose two canonical patterns are not equal, or a null link that is contradicted",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/link-mismatch.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let families = workspace.families();
    for (number, hypothesis) in entry.register.hypotheses.iter().enumerate() {
        if hypothesis.links.is_empty() || hypothesis.canonical.is_none() {
            continue;
        }
        let place = workspace.place(entry, number);
        for link in &hypothesis.links {
            let Some(family) = families.find(link.family.value()) else { continue };
            // One to the own family is no link: `unresolved-link` says so.
            if families.of(place) == Some(family) {
                continue;
            }
            if link.is_null {
                null_link(workspace, (entry, hypothesis, place), link, family, findings);
            }
            for id in &link.ids {
                let Some(other) = families.get(family).find(workspace, id.value()) else {
                    continue;
                };
                // Of two that link to each other the later one says it.
                if other > place && families.names(workspace, other, place) {
                    continue;
                }
                let (other_entry, there) = workspace.at(other);
                let (Some(own), Some(theirs)) = (&hypothesis.canonical, &there.canonical) else {
                    continue;
                };
                let Some((only_here, frame)) = difference(workspace, own.pattern, theirs.pattern)
                else {
                    continue;
                };
                let claimer = if only_here { named(hypothesis) } else { named(there) };
                let message = format!(
                    "{} and {} are linked, but only {claimer} claims {}",
                    named(hypothesis),
                    named(there),
                    quoted(&frame)
                );
                let finding = findings
                    .finding(message, label(entry.file, id.span(), "linked here"))
                    .with_related(label(entry.file, own.text.span(), "this pattern"))
                    .with_related(label(other_entry.file, theirs.text.span(), "is not equal to this one"))
                    .with_note("a link says that both claim the same frames, so that their rows can be compared")
                    .with_hypothesis(hypothesis.id());
                findings.push(finding);
            }
        }
    }
}

/// A frame that only one of the two claims, and whether that is the first.
fn difference(workspace: &Workspace<'_>, a: PatternId, b: PatternId) -> Option<(bool, String)> {
    if a == b {
        return None;
    }
    let (first, second) = (workspace.patterns.get(a), workspace.patterns.get(b));
    if first.is_literal() && second.is_literal() {
        // Different texts: at most one contains the other.
        let is_first = !first.text().contains(second.text());
        return Some((is_first, if is_first { first } else { second }.text().to_owned()));
    }
    let classes = workspace.classes();
    if classes.of(a) == classes.of(b) {
        return None;
    }
    let (first, second) = (workspace.compiled(a)?, workspace.compiled(b)?);
    if let Answer::No(frame) = first.within(second) {
        return Some((true, frame));
    }
    match second.within(first) {
        Answer::No(frame) => Some((false, frame)),
        Answer::Yes | Answer::Undecided(_) => None,
    }
}

fn null_link(
    workspace: &Workspace<'_>,
    (entry, hypothesis, place): (&Entry<'_>, &Hypothesis<'_>, Place),
    link: &Link<'_>,
    family: usize,
    findings: &mut Findings,
) {
    let Some(own) = &hypothesis.canonical else { return };
    let families = workspace.families();
    let Claim::All(other, pattern) =
        families.who_claims(workspace, own.pattern, place, Scope::Family(family))
    else {
        return;
    };
    let (other_entry, there) = workspace.at(other);
    let slot = there.slots().find(|slot| slot.pattern == pattern);
    let Some(slot) = slot else { return };
    let name = families.get(family).name;
    let message = format!(
        "{} says that nothing of {} claims its frame, but {} does",
        named(hypothesis),
        quoted(name),
        named(there)
    );
    let is_equal = there.canonical.as_ref().is_some_and(|theirs| {
        let classes = workspace.classes();
        classes.of(theirs.pattern) == classes.of(own.pattern)
    });
    let fix = there.id().filter(|_| is_equal && entry.is_whole()).map(|id| {
        Fix::single(
            format!("link to {}", quoted(id)),
            entry.file,
            link.value.span(),
            format!("\"{}\"", as_json(id)),
            Applicability::Unsafe,
        )
    });
    let finding = findings
        .finding(message, label(entry.file, link.value.span(), "said here"))
        .with_related(label(entry.file, own.text.span(), "the frame"))
        .with_related(label(other_entry.file, slot.text.span(), "claims it too"))
        .with_hypothesis(hypothesis.id())
        .with_fix(fix);
    findings.push(finding);
}
