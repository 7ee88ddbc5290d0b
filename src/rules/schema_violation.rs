//! `schema-violation`: a register that does not have the form of one.

use super::{
    Check, Findings, FixAvailability, Level, RULES, Rule, applicability, as_json, edits, find,
    label, named, quoted,
};
use crate::fix::{Applicability, Fix};
use crate::register::{Allowance, Date, Hypothesis};
use crate::span::Span;
use crate::suggest;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "schema-violation",
    summary: "a violation of the register's schema",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/schema-violation.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for hypothesis in &entry.register.hypotheses {
        for allowance in &hypothesis.allowances {
            check_allowance(workspace, entry, hypothesis, allowance, findings);
        }
    }
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

/// What of an allowance no schema can know: rules and ids. (And days, where it is a schema of the
/// user's that does not look at them.)
fn check_allowance(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    hypothesis: &Hypothesis<'_>,
    allowance: &Allowance<'_>,
    findings: &mut Findings,
) {
    let name = allowance.rule.value();
    if find(name).is_none() {
        let message = format!("{} allows {}, which is no rule", named(hypothesis), quoted(name));
        let mut finding = findings
            .finding(message, label(entry.file, allowance.rule.span(), ""))
            .with_hypothesis(hypothesis.id());
        finding = match suggest::nearest(name, RULES.iter().map(|rule| rule.name)) {
            Some(near) => finding.with_note(suggest::did_you_mean(near)).with_fix(Fix::single(
                format!("name the rule {}", quoted(near)),
                entry.file,
                allowance.rule.inner_span(),
                as_json(near),
                Applicability::Unsafe,
            )),
            None => finding.with_note("`reglint rules` lists the rules"),
        };
        findings.push(finding);
    }
    if let Some(with) = &allowance.with
        && workspace.find(with.value()).is_none()
        && workspace.hidden.unread.is_empty()
        && workspace.entries.iter().all(Entry::is_whole)
        && !with.value().is_empty()
    {
        let message = format!(
            "the allowance of {} is for {}, and no hypothesis has this id",
            quoted(name),
            quoted(with.value())
        );
        let finding = findings
            .finding(message, label(entry.file, with.span(), ""))
            .with_hypothesis(hypothesis.id());
        findings.push(finding);
    }
    if let Some(until) = &allowance.until
        && Date::parse(until.value()).is_none()
        && !entry.violations.iter().any(|violation| violation.span == until.span())
    {
        let message = format!("{} is not a day, written as in `2027-03-31`", quoted(until.value()));
        let finding = findings
            .finding(message, label(entry.file, until.span(), ""))
            .with_hypothesis(hypothesis.id());
        findings.push(finding);
    }
}
