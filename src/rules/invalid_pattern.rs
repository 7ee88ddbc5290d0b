//! `invalid-pattern`: a pattern that the consumer cannot compile.

use super::{Check, Findings, FixAvailability, Level, Rule, applicability, label};
use crate::fix::{Edit, Fix};
use crate::json;
use crate::pattern::{Consumer, Pattern, PatternError};
use crate::register::Slot;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "invalid-pattern",
    summary: "a pattern that the consumer refuses",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/invalid-pattern.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for hypothesis in &entry.register.hypotheses {
        for slot in hypothesis.slots() {
            let pattern = workspace.patterns.get(slot.pattern);
            let Some(error) = pattern.error() else { continue };
            let here = label(entry.file, slot.locate(error.span), error.label.clone());
            let message = format!("{} refuses this pattern: {}", refuser(workspace), error.message);
            let mut finding =
                findings.finding(message, here).with_hypothesis(hypothesis.id());
            if let Some((span, words)) = &error.related {
                let there = slot.locate(*span);
                finding = finding.with_related(label(entry.file, there, words.clone()));
            }
            finding.notes.extend(notes(workspace, pattern, error));
            findings.push(finding.with_fix(fix(entry, slot, error)));
        }
    }
}
