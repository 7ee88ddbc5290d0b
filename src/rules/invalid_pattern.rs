//! `invalid-pattern`: a pattern that the consumer cannot compile.

use super::{Check, Findings, FixAvailability, Level, Rule, applicability, as_json, label};
use crate::diagnostic::Diagnostic;
use crate::fix::{Edit, Fix};
use crate::pattern::{Consumer, Pattern, PatternError, RustError, Versions, accepted_by_rust};
use crate::register::Slot;
use crate::span::Span;
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
            let finding = match workspace.consumer {
                Consumer::Python(versions) => pattern
                    .python_fault()
                    .map(|fault| python_finding(entry, slot, pattern, fault, versions, findings)),
                Consumer::Rust => {
                    pattern.rust_fault().map(|fault| rust_finding(entry, slot, fault, findings))
                }
            };
            if let Some(finding) = finding {
                findings.push(finding.with_hypothesis(hypothesis.id()));
            }
        }
    }
}

fn python_finding(
    entry: &Entry<'_>,
    slot: &Slot<'_>,
    pattern: &Pattern<'_>,
    fault: &PatternError,
    versions: Versions,
    findings: &Findings,
) -> Diagnostic {
    let message = format!("Python's `re` refuses this pattern: {}", fault.message);
    let mut finding = findings.finding(message, label(entry.file, slot.locate(fault.span), ""));
    if let Some((span, words)) = &fault.related {
        finding = finding.with_related(label(entry.file, slot.locate(*span), words.clone()));
    }
    finding.notes.push(in_pythons_words(pattern, fault, versions));
    finding.notes.extend(fault.notes.iter().cloned());
    finding.with_fix(fix(entry, slot, fault))
}

fn rust_finding(
    entry: &Entry<'_>,
    slot: &Slot<'_>,
    fault: &RustError,
    findings: &Findings,
) -> Diagnostic {
    let message = format!("fancy-regex refuses this pattern: {}", fault.message);
    findings.finding(message, label(entry.file, slot.locate(fault.span), ""))
}

/// CPython's own words, which of its versions they are from, and what the other engine says.
fn in_pythons_words(pattern: &Pattern<'_>, fault: &PatternError, versions: Versions) -> String {
    let mut note = format!("`re.compile` says \"{}\"", fault.python);
    if fault.refused_by != versions {
        note.push_str(" in Python ");
        note.push_str(&fault.refused_by.to_string());
    }
    if accepted_by_rust(pattern.text()) {
        note += "; Rust's fancy-regex accepts the pattern";
    }
    note
}

/// The repair of the pattern, spelled as JSON wants it.
fn fix(entry: &Entry<'_>, slot: &Slot<'_>, fault: &PatternError) -> Option<Fix> {
    let repair = fault.repair.as_ref()?;
    let edit =
        |(span, text): &(Span, String)| Edit::new(entry.file, slot.locate(*span), as_json(text));
    Some(Fix {
        message: repair.message.clone(),
        edits: repair.edits.iter().map(edit).collect(),
        applicability: applicability(repair.safe),
    })
}
