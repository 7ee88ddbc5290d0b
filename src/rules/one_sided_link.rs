//! `one-sided-link`: A links to B, and B does not link back.

use super::{Check, Findings, FixAvailability, Level, Rule, label, member, named};
use crate::fix::{Applicability, Fix};
use crate::register::Slot;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "one-sided-link",
    summary: "a link that the other hypothesis does not give back",
    default: Level::Allow,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/one-sided-link.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let families = workspace.families();
    for (number, hypothesis) in entry.register.hypotheses.iter().enumerate() {
        if hypothesis.links.is_empty() {
            continue;
        }
        let place = workspace.place(entry, number);
        let Some(own) = families.of(place) else { continue };
        for link in &hypothesis.links {
            let Some(family) = families.find(link.family.value()) else { continue };
            // One to the own family is no link: `unresolved-link` says so.
            if family == own {
                continue;
            }
            for id in &link.ids {
                let Some(other) = families.get(family).find(workspace, id.value()) else {
                    continue;
                };
                if families.names(workspace, other, place) {
                    continue;
                }
                let (other_entry, there) = workspace.at(other);
                let message = format!(
                    "{} links to {}, which does not link back",
                    named(hypothesis),
                    named(there)
                );
                let finding = findings
                    .finding(message, label(entry.file, id.span(), "linked here"))
                    .with_related(label(other_entry.file, there.name_span(), "without a link back"))
                    .with_hypothesis(hypothesis.id());
                // Only what was asked for is changed, and only a link that holds is worth its other half.
                let classes = workspace.classes();
                let class = |slot: &Slot<'_>| classes.of(slot.pattern);
                let holds = hypothesis.canonical.as_ref().map(class).is_some_and(|class_here| {
                    there.canonical.as_ref().map(class) == Some(class_here)
                });
                let edit = hypothesis
                    .id()
                    .filter(|_| holds && other_entry.is_asked_for())
                    .filter(|id| families.get(own).find(workspace, id) == Some(place))
                    .and_then(|id| {
                        member::link(other_entry, there.object, families.get(own).name, id)
                    });
                findings.push(finding.with_fix(edit.map(|edit| Fix {
                    message: format!("link {} back to {}", named(there), named(hypothesis)),
                    edits: vec![edit],
                    applicability: Applicability::Safe,
                })));
            }
        }
    }
}
