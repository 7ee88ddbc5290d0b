//! `unused-allowance`: an allowance that silences nothing or has run out.

use super::{
    Check, Findings, FixAvailability, Judged, Level, Outcome, Rule, label, member, quoted,
};
use crate::fix::{Applicability, Fix};
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "unused-allowance",
    summary: "an allowance that silences nothing or has run out",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/unused-allowance.md"),
    check: Check::Allowances(check),
};

/// The rule whose allowance a message of this rule is about.
pub(super) fn subject(message: &str) -> Option<&'static Rule> {
    super::find(message.strip_prefix(START)?.split('`').nth(1)?)
}

/// How each message begins; the rule follows, between back ticks.
const START: &str = "the allowance of ";

fn check(workspace: &Workspace<'_>, judged: &[Judged], findings: &mut Findings) {
    for judgement in judged {
        let (entry, hypothesis) = workspace.at(judgement.place);
        let Some(allowance) = hypothesis.allowances.get(judgement.allowance) else { continue };
        let rule = quoted(allowance.rule.value());
        let until = allowance.until.map_or("", |until| until.value());
        let with =
            allowance.with.map_or_else(String::new, |id| format!(" with {}", quoted(id.value())));
        let message = match judgement.outcome {
            Outcome::Used => continue,
            Outcome::Unused => format!("{START}{rule}{with} silences nothing"),
            Outcome::RunOut => format!("{START}{rule}{with} has run out on {until}"),
        };
        let mut finding = findings
            .finding(message, label(entry.file, allowance.span(), ""))
            .with_hypothesis(hypothesis.id());
        if judgement.outcome == Outcome::RunOut {
            finding = finding.with_note("what it silenced is reported again");
        }
        // Where it is the only one, what holds it goes with it.
        let holder = hypothesis.object.member("_reglint");
        let allow = holder
            .and_then(|holder| holder.value.as_object())
            .and_then(|holder| Some((holder.member("allow")?, holder)));
        let edit = allow.and_then(|(allow, inner)| {
            let list = allow.value.as_object()?;
            let own = list.members().find(|it| it.value.id() == allowance.value.id())?;
            Some(match (list.len(), inner.len()) {
                (1, 1) => member::remove(entry, hypothesis.object, holder?),
                (1, _) => member::remove(entry, inner, allow),
                _ => member::remove(entry, list, own),
            })
        });
        let is_safe_to_edit = entry.is_whole() && entry.is_asked_for();
        let fix = edit.filter(|_| is_safe_to_edit).map(|edit| Fix {
            message: "remove the allowance".to_owned(),
            edits: vec![edit],
            applicability: Applicability::Safe,
        });
        findings.push(finding.with_fix(fix));
    }
}
