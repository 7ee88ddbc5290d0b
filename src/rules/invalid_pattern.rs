//! `invalid-pattern`: a pattern that the consumer cannot compile.

use super::{Check, Findings, FixAvailability, Level, Rule, applicability, as_json, label};
use crate::fix::{Edit, Fix};
use crate::pattern::{Consumer, Pattern, PatternError, Versions};
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
            let Some(error) = pattern.error() else { continue };
            let (refuser, notes) = match workspace.consumer {
                Consumer::Python(_) => ("Python's `re`", python_notes(pattern, error)),
                Consumer::Rust => ("fancy-regex", Vec::new()),
            };
            let message = format!("{refuser} refuses this pattern: {}", error.message);
            let here = label(entry.file, slot.locate(error.span), "");
            let mut finding = findings.finding(message, here).with_hypothesis(hypothesis.id());
            if let Some((span, words)) = &error.related {
                let there = slot.locate(*span);
                finding = finding.with_related(label(entry.file, there, words.clone()));
            }
            finding.notes.extend(notes);
            finding.notes.extend(error.notes.iter().cloned());
            findings.push(finding.with_fix(fix(entry, slot, error)));
        }
    }
}

/// CPython's own words, which of its versions they are from, and what the other engine says.
fn python_notes(pattern: &Pattern, error: &PatternError) -> Vec<String> {
    let mut note = format!("`re.compile` says \"{}\"", error.python);
    if error.refused_by != Versions::ALL {
        note += &format!(" in {}", error.refused_by);
    }
    if pattern.rust().is_ok() {
        note += "; Rust's fancy-regex accepts the pattern";
    }
    vec![note]
}

/// The repair of the pattern, spelled as JSON wants it.
fn fix(entry: &Entry<'_>, slot: &Slot<'_>, error: &PatternError) -> Option<Fix> {
    let repair = error.repair.as_ref()?;
    let edit = |(span, text): &(Span, String)| Edit {
        file: entry.file,
        span: slot.locate(*span),
        replacement: as_json(text),
    };
    Some(Fix {
        message: repair.message.clone(),
        edits: repair.edits.iter().map(edit).collect(),
        applicability: applicability(repair.safe),
    })
}
