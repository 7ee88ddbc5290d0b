//! `schema-violation`: a register that does not have the form of one.

use super::{Check, Findings, FixAvailability, Level, Rule, label};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "schema-violation",
    summary: "a violation of the register's schema",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/schema-violation.md"),
    check: Check::Entry(check),
};

fn check(_: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for violation in &entry.violations {
        let finding = findings
            .finding(violation.message.clone(), label(entry.file, violation.span, ""))
            .with_hypothesis(entry.hypothesis_at(violation.span));
        findings.push(finding);
    }
}
