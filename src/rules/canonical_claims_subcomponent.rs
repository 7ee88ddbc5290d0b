//! `canonical-claims-subcomponent`: a hypothesis reads its own subcomponent as its canonical frame.

use super::narrow::{Goal, Other, narrow};
use super::pairs::{EXAMPLES, more, witness};
use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::diagnostic::Diagnostic;
use crate::overlap::Kind;
use crate::register::{Hypothesis, Slot, Subcomponent};
use crate::workspace::{Entry, Lie, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "canonical-claims-subcomponent",
    summary: "a canonical pattern that claims every frame of one of its own subcomponents",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/canonical-claims-subcomponent.md"),
    check: Check::Entry(check),
};

/// A subcomponent that is claimed, and how the canonical pattern lies to it.
type Claimed<'e> = (&'e Subcomponent<'e>, Lie<'e>);

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    if relations.is_quiet() {
        return;
    }
    for hypothesis in &entry.register.hypotheses {
        let Some(canonical) = &hypothesis.canonical else { continue };
        let claimed: Vec<Claimed<'_>> = hypothesis
            .subcomponents
            .iter()
            .filter_map(|each| {
                let lie = relations.between(canonical.pattern, each.slot.pattern)?;
                matches!(lie.kind, Kind::Equal | Kind::BWithinA).then_some((each, lie))
            })
            .collect();
        if !claimed.is_empty() {
            findings.push_from(entry.file, |findings| {
                report(workspace, entry, findings, hypothesis, canonical, &claimed)
            });
        }
    }
}

fn report(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    findings: &Findings,
    hypothesis: &Hypothesis<'_>,
    canonical: &Slot<'_>,
    claimed: &[Claimed<'_>],
) -> Diagnostic {
    let name = named(hypothesis);
    let label_of = |each: &Subcomponent<'_>| quoted(each.label.value());
    let message = match claimed {
        [(one, Lie { kind: Kind::Equal, .. })] => {
            format!("the canonical pattern of {name} is that of its subcomponent {}", label_of(one))
        }
        [(one, _)] => {
            format!("the canonical pattern of {name} claims its subcomponent {}", label_of(one))
        }
        all => format!("the canonical pattern of {name} claims {} of its subcomponents", all.len()),
    };
    let others: Vec<_> = claimed
        .iter()
        .map(|(each, lie)| Other { slot: &each.slot, places: lie.places() })
        .collect();
    let shown = claimed.iter().find_map(|(each, lie)| {
        witness(lie, "a frame that both claim", "the canonical pattern", &label_of(each))
    });
    let mut finding = findings
        .finding(message, label(entry.file, canonical.text.span(), "the canonical pattern"))
        .with_witness(shown)
        .with_note(
            "where the subcomponent takes the most time, the table shows it as the hypothesis's own",
        )
        .with_fix(narrow(workspace, entry.file, canonical, &others, Goal::NotWithin))
        .with_hypothesis(hypothesis.id());
    for (each, lie) in claimed.iter().take(EXAMPLES) {
        let words = if lie.kind == Kind::Equal { "the same" } else { "claimed as well" };
        finding = finding.with_related(label(entry.file, each.slot.text.span(), words));
    }
    finding.notes.extend(more(claimed.iter().map(|(each, _)| label_of(each))));
    finding
}
