//! `duplicate-key`: a member name given twice in one object.

use super::{Check, Findings, FixAvailability, Level, Rule, label, quoted};
use crate::json::{Kind, Member, Value};
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
    let is_whole = |member: Member<'_>| !entry.source.is_damaged(member.name.span());
    for (first, later) in entry.document.surely_repeated_members() {
        if !is_whole(first) || !is_whole(later) {
            continue;
        }
        let message = format!("the member {} is given again", quoted(later.name.value()));
        let note = if later.is_shadowed() {
            "Python keeps neither of these two values, but one that comes later still".to_owned()
        } else {
            let kept = shown(entry, later.value);
            format!("Python keeps this value, {kept}, and drops the earlier one without a word")
        };
        let finding = findings
            .finding(message, label(entry.file, later.name.span(), "again here"))
            .with_related(label(entry.file, first.name.span(), "first given here"))
            .with_note(note)
            .with_hypothesis(entry.hypothesis_at(later.name.span()));
        findings.push(finding);
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
