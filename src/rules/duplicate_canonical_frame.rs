//! `duplicate-canonical-frame`: two hypotheses of one register read the same frame.

use ahash::AHashMap;

use super::{Check, Findings, FixAvailability, Level, Rule, label, named};
use crate::register::Hypothesis;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "duplicate-canonical-frame",
    summary: "two hypotheses of one register whose canonical patterns claim the same frames",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/duplicate-canonical-frame.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    if relations.is_quiet() {
        return;
    }
    let mut first: AHashMap<usize, &Hypothesis<'_>> = AHashMap::new();
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let Some(stand) = relations.stand(slot.pattern) else { continue };
        let Some(&earlier) = first.get(&stand) else {
            first.insert(stand, hypothesis);
            continue;
        };
        let Some(other) = &earlier.canonical else { continue };
        findings.push_from(entry.file, |findings| {
            let message =
                format!("{} and {} read the same frame", named(earlier), named(hypothesis));
            let (again, note) = if slot.pattern == other.pattern {
                ("the same pattern again", None)
            } else {
                let note = "the patterns differ in spelling, but each claims every frame that the other claims";
                ("the same claim again", Some(note.to_owned()))
            };
            let mut finding = findings
                .finding(message, label(entry.file, slot.text.span(), again))
                .with_related(label(entry.file, other.text.span(), "first used here"))
                .with_hypothesis(hypothesis.id());
            finding.notes.extend(note);
            finding.with_note("the table shows the time of this frame in both rows")
        });
    }
}
