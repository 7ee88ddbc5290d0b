//! `duplicate-key`: a member name given twice in one object.

use super::{Check, Findings, FixAvailability, Level, Rule, label, quoted};
use crate::json::{Kind, Value};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "duplicate-key",
    summary: "a member name given twice, of which Python keeps the last",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/duplicate-key.md"),
    check: Check::Entry(check),
};

fn check(_: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for (first, later) in entry.document.repeated_members() {
        if [first, later].iter().any(|member| entry.source.is_damaged(member.name.span())) {
            continue;
        }
        let name = quoted(later.name.value());
        let message = format!("the member {name} is given again");
        let kept = shown(entry, later.value);
        let finding = findings
            .finding(message, label(entry.file, later.name.span(), "again here"))
            .with_related(label(entry.file, first.name.span(), "first given here"));
        let note = if later.is_shadowed() {
            "Python keeps neither of these two values, but one that comes later still".to_owned()
        } else {
            format!("Python keeps this value, {kept}, and drops the earlier one without a word")
        };
        findings
            .push(finding.with_note(note).with_hypothesis(entry.hypothesis_at(later.name.span())));
    }
}

/// A value in a few words.
fn shown(entry: &Entry<'_>, value: Value<'_>) -> String {
    match value.kind() {
        Kind::Array(list) if list.is_empty() => "an empty list".to_owned(),
        Kind::Array(list) => format!("a list of {}", list.len()),
        Kind::Object(object) if object.is_empty() => "an empty object".to_owned(),
        Kind::Object(_) => "an object".to_owned(),
        _ => quoted(entry.source.slice(value.span())),
    }
}
