//! `invalid-json`: what Python's `json` or RFC 8259 refuses.

use super::{Check, Findings, FixAvailability, Level, Rule, applicability, edits, label};
use crate::fix::Fix;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "invalid-json",
    summary: "a syntax error of JSON",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/invalid-json.md"),
    check: Check::Entry(check),
};

fn check(_: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for error in entry.document.errors() {
        // The same bytes again, or what they made of the text: `invalid-encoding` has said it.
        if entry.source.is_damaged(error.span) {
            continue;
        }
        let mut finding =
            findings.finding(error.message.clone(), label(entry.file, error.span, ""));
        if let Some((span, words)) = &error.related {
            finding = finding.with_related(label(entry.file, *span, words.clone()));
        }
        finding.notes.extend(error.notes());
        findings.push(finding.with_fix(error.repair.as_ref().map(|repair| Fix {
            message: repair.message.to_owned(),
            edits: edits(entry.file, &repair.edits),
            applicability: applicability(repair.safe),
        })));
    }
}
