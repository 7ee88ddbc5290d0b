//! `duplicate-canonical-frame`: two hypotheses of one register read the same frame.

use ahash::AHashMap;

use super::{Check, Findings, FixAvailability, Level, Rule, label, named};
use crate::register::{Hypothesis, PatternId};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "duplicate-canonical-frame",
    summary: "two hypotheses of one register with the same canonical pattern",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/duplicate-canonical-frame.md"),
    check: Check::Entry(check),
};

fn check(_: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let mut first: AHashMap<PatternId, &Hypothesis<'_>> = AHashMap::new();
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let Some(&earlier) = first.get(&slot.pattern) else {
            first.insert(slot.pattern, hypothesis);
            continue;
        };
        let Some(other) = &earlier.canonical else { continue };
        let message = format!("{} and {} read the same frame", named(earlier), named(hypothesis));
        let finding = findings
            .finding(message, label(entry.file, slot.text.span(), "the same pattern again"))
            .with_related(label(entry.file, other.text.span(), "first used here"))
            .with_note("the table shows the time of this frame in both rows")
            .with_hypothesis(hypothesis.id());
        findings.push(finding);
    }
}
