//! `overlapping-canonical-frames`: a hypothesis reads every frame that another one reads.

use super::narrow::{Goal, Other, narrow};
use super::pairs::{Canonical, EXAMPLES, Group, Pair, groups};
use super::{Check, Findings, FixAvailability, Level, Rule};
use crate::diagnostic::Diagnostic;
use crate::overlap::Kind;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "overlapping-canonical-frames",
    summary: "of two canonical patterns of one register, one claims every frame that the other claims",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/overlapping-canonical-frames.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    if relations.is_quiet() {
        return;
    }
    for group in groups(entry, relations, |kind| matches!(kind, Kind::AWithinB | Kind::BWithinA)) {
        let file = entry.file;
        findings.push_from(file, |findings| match &group {
            Group::Pair(pair) => of_pair(workspace, entry, findings, pair),
            Group::Crowd(one, pairs) => of_crowd(workspace, entry, findings, one, pairs),
        });
    }
}

fn of_pair(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    findings: &Findings,
    pair: &Pair<'_>,
) -> Diagnostic {
    let (broader, narrower) = match pair.lie.kind {
        Kind::AWithinB => (pair.later, pair.earlier),
        _ => (pair.earlier, pair.later),
    };
    let words = |one: &Canonical<'_>| {
        if one.at == broader.at { "the broader pattern" } else { "the narrower pattern" }
    };
    let message = format!("{} claims every frame that {} claims", broader.name(), narrower.name());
    let others = [Other { slot: narrower.slot, places: pair.places(&broader) }];
    findings
        .finding(message, pair.later.label(entry, words(&pair.later)))
        .with_related(pair.earlier.label(entry, words(&pair.earlier)))
        .with_witness(pair.witness("a frame that both claim"))
        .with_note("the table shows the time of such a frame in both rows")
        .with_fix(narrow(workspace, entry.file, broader.slot, &others, Goal::NoOverlap))
        .with_hypothesis(pair.later.hypothesis.id())
}

fn of_crowd(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    findings: &Findings,
    one: &Canonical<'_>,
    pairs: &[Pair<'_>],
) -> Diagnostic {
    let is_broader = |pair: &&Pair<'_>| match pair.lie.kind {
        Kind::AWithinB => pair.later.at == one.at,
        _ => pair.earlier.at == one.at,
    };
    let narrower: Vec<&Pair<'_>> = pairs.iter().filter(is_broader).collect();
    let name = one.name();
    let message = match (narrower.len(), pairs.len() - narrower.len()) {
        (all, 0) => format!("{name} claims every frame that {all} other hypotheses claim"),
        (0, all) => format!("{all} other hypotheses claim every frame that {name} claims"),
        (some, rest) => format!(
            "{name} claims every frame that {some} other hypotheses claim, and {rest} claim every frame that it claims"
        ),
    };
    let others: Vec<_> = narrower
        .iter()
        .map(|pair| Other { slot: pair.other(one).slot, places: pair.places(one) })
        .collect();
    let fix = if narrower.len() == pairs.len() {
        narrow(workspace, entry.file, one.slot, &others, Goal::NoOverlap)
    } else {
        None
    };
    let mut finding = findings
        .finding(message, one.label(entry, "this pattern"))
        .with_witness(pairs.first().and_then(|pair| pair.witness("a frame that two of them claim")))
        .with_note("the table shows the time of such a frame in each of these rows")
        .with_fix(fix)
        .with_hypothesis(one.hypothesis.id());
    for pair in pairs.iter().take(EXAMPLES) {
        let other = pair.other(one);
        let words = if is_broader(&pair) { "claims less" } else { "claims more" };
        finding = finding.with_related(other.label(entry, words));
    }
    finding.notes.extend(super::pairs::more(pairs.iter().map(|pair| pair.other(one).name())));
    finding
}
