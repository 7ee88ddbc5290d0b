//! `undeclared-link`: two families read the same frame, and no link says so.

use super::{Check, Findings, FixAvailability, Level, Rule, label, member, named, quoted};
use crate::fix::{Applicability, Edit, Fix};
use crate::workspace::{Place, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "undeclared-link",
    summary: "two families with equal canonical patterns and no link that says so",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/undeclared-link.md"),
    check: Check::Workspace(check),
};

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    let pairs = workspace.pairs();
    for pair in pairs.list.iter().filter(|pair| !pair.is_declared) {
        let (entry, hypothesis) = workspace.at(pair.later);
        let (other_entry, there) = workspace.at(pair.earlier);
        // A link may be just what a syntax error took away.
        if !entry.is_whole() || !other_entry.is_whole() {
            continue;
        }
        let (Some(own), Some(theirs)) = (&hypothesis.canonical, &there.canonical) else { continue };
        let message = format!(
            "{} and {} claim the same frame, and no link says so",
            named(hypothesis),
            named(there)
        );
        let family = |name: Option<&str>| {
            name.map_or_else(String::new, |name| format!(" of {}", quoted(name)))
        };
        let (here, elsewhere) = (family(entry.family), family(other_entry.family));
        let mut finding = findings
            .finding(
                message,
                label(
                    entry.file,
                    own.text.span(),
                    format!("the frame of {}{here}", named(hypothesis)),
                ),
            )
            .with_related(label(
                other_entry.file,
                theirs.text.span(),
                format!("and of {}{elsewhere}", named(there)),
            ))
            .with_hypothesis(hypothesis.id())
            .with_fix(fix(workspace, pair.later, pair.earlier));
        if own.pattern != theirs.pattern {
            finding = finding
                .with_note("the patterns are spelled differently, and claim the same frames");
        }
        if pairs.crowded.contains(&pair.later) {
            finding = finding.with_note(format!(
                "more hypotheses claim the frame of {} than are shown",
                named(hypothesis)
            ));
        }
        findings.push(finding);
    }
    left_out(workspace, findings);
}

/// Says that the patterns are too many and too much alike, where they are.
fn left_out(workspace: &Workspace<'_>, findings: &mut Findings) {
    if workspace.families().iter().count() < 2 {
        return;
    }
    let Some(pattern) = workspace.classes().left_out() else { return };
    for entry in &workspace.entries {
        for hypothesis in &entry.register.hypotheses {
            let Some(slot) = hypothesis.canonical.as_ref().filter(|slot| slot.pattern == pattern)
            else {
                continue;
            };
            let message = format!(
                "the pattern of {} was not compared with those of other families",
                named(hypothesis)
            );
            let finding = findings
                .finding(message, label(entry.file, slot.text.span(), ""))
                .with_note("too many patterns of this run are alike; those that come later were not compared either")
                .with_hypothesis(hypothesis.id());
            findings.push(finding);
            return;
        }
    }
}

/// Both halves of the link. Only files that were asked for are changed: of the other half,
/// `one-sided-link` speaks.
fn fix(workspace: &Workspace<'_>, a: Place, b: Place) -> Option<Fix> {
    let half = |from: Place, to: Place| -> Option<Edit> {
        let ((entry, hypothesis), (other, there)) = (workspace.at(from), workspace.at(to));
        if !entry.is_asked_for() {
            return None;
        }
        // Of a repeated id a link means the first.
        let (families, id) = (workspace.families(), there.id()?);
        let is_meant = families.get(families.of(to)?).find(workspace, id) == Some(to);
        is_meant.then(|| member::link(entry, hypothesis.object, other.family?, id))?
    };
    // In the order of the files.
    let halves = [(b, a), (a, b)].map(|(from, to)| {
        let is_wanted = workspace.at(from).0.is_asked_for();
        (is_wanted, half(from, to))
    });
    // Each half that is wanted, or none.
    if halves.iter().any(|(is_wanted, half)| *is_wanted && half.is_none()) {
        return None;
    }
    let edits: Vec<Edit> = halves.into_iter().filter_map(|(_, half)| half).collect();
    let [first, ..] = edits.as_slice() else { return None };
    let message = if edits.len() == 2 {
        format!("link {} and {}", named(workspace.at(b).1), named(workspace.at(a).1))
    } else {
        let (from, to) = if first.file == workspace.at(a).0.file { (a, b) } else { (b, a) };
        format!("link {} to {}", named(workspace.at(from).1), named(workspace.at(to).1))
    };
    Some(Fix { message, edits, applicability: Applicability::Safe })
}
