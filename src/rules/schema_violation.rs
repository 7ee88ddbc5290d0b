//! `schema-violation`: a register that does not have the form of one.

use super::{Check, Findings, FixAvailability, Level, Rule, applicability, edits, label};
use crate::fix::Fix;
use crate::span::Span;
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
        if is_said_already(entry, violation.span) {
            continue;
        }
        let mut finding =
            findings.finding(violation.message.clone(), label(entry.file, violation.span, ""));
        for (span, words) in &violation.related {
            finding = finding.with_related(label(entry.file, *span, words.clone()));
        }
        finding.notes.clone_from(&violation.notes);
        finding.hypothesis.clone_from(&violation.hypothesis);
        findings.push(finding.with_fix(violation.repair.as_ref().map(|repair| Fix {
            message: repair.message.clone(),
            edits: edits(entry.file, &repair.edits),
            applicability: applicability(repair.safe),
        })));
    }
}

/// Whether the string at `span` has bytes that are no text: `invalid-encoding` says so, and what the
/// schema makes of the rest is no news.
fn is_said_already(entry: &Entry<'_>, span: Span) -> bool {
    entry.source.slice(span).starts_with('"') && entry.source.is_damaged(span)
}
