//! `duplicate-id`: an id used twice among all registers of the run.

use ahash::AHashMap;

use super::{Check, Findings, FixAvailability, Level, Rule, label, quoted};
use crate::register::Hypothesis;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "duplicate-id",
    summary: "an id that two hypotheses have, in one register or in two",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/duplicate-id.md"),
    check: Check::Workspace(check),
};

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    let count = workspace.entries.iter().map(|entry| entry.register.hypotheses.len()).sum();
    let mut first: AHashMap<&str, (&Entry<'_>, &Hypothesis<'_>)> = AHashMap::with_capacity(count);
    for entry in &workspace.entries {
        for hypothesis in &entry.register.hypotheses {
            let Some(id) = hypothesis.id() else { continue };
            let (other, earlier) = *first.entry(id).or_insert((entry, hypothesis));
            if std::ptr::eq(earlier, hypothesis) {
                continue;
            }
            let here = label(entry.file, hypothesis.name_span(), "used again here");
            let there = label(other.file, earlier.name_span(), "first used here");
            let mut finding = findings
                .finding(format!("two hypotheses have the id {}", quoted(id)), here)
                .with_related(there)
                .with_hypothesis(Some(id));
            if other.file != entry.file {
                finding = finding.with_note(format!(
                    "ids are shared by all registers: the other one is in {}",
                    other.source.path()
                ));
            }
            findings.push(finding);
        }
    }
}
