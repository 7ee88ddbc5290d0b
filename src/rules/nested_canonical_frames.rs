//! `nested-canonical-frames`: a subcomponent of one hypothesis is the canonical frame of another one.

use super::pairs::{Canonical, EXAMPLES, canonicals, more, witness};
use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::diagnostic::Diagnostic;
use crate::overlap::Kind;
use crate::register::{Hypothesis, Subcomponent};
use crate::workspace::{Entry, Lie, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "nested-canonical-frames",
    summary: "a subcomponent of one hypothesis that claims the canonical frame of another one",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/nested-canonical-frames.md"),
    check: Check::Entry(check),
};

/// The canonical pattern of another hypothesis, and how the subcomponent lies to it.
type Nested<'e> = (Canonical<'e>, Lie<'e>);

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    if relations.is_quiet() {
        return;
    }
    let canonicals = canonicals(entry, relations);
    for hypothesis in &entry.register.hypotheses {
        let own = hypothesis.canonical.as_ref().and_then(|slot| relations.stand(slot.pattern));
        for subcomponent in &hypothesis.subcomponents {
            let Some(stand) = relations.stand(subcomponent.slot.pattern) else { continue };
            let stands = std::iter::once(&stand).chain(relations.neighbours(stand));
            let mut others: Vec<Nested<'_>> = stands
                .filter(|&&other| Some(other) != own)
                .filter_map(|other| {
                    let canonical = *canonicals.get(other)?;
                    let lie =
                        relations.between(subcomponent.slot.pattern, canonical.slot.pattern)?;
                    let included =
                        matches!(lie.kind, Kind::Equal | Kind::AWithinB | Kind::BWithinA);
                    included.then_some((canonical, lie))
                })
                .collect();
            others.sort_by_key(|(canonical, _)| canonical.at);
            if !others.is_empty() {
                findings.push_from(entry.file, |findings| {
                    report(entry, findings, hypothesis, subcomponent, &others)
                });
            }
        }
    }
}

fn report(
    entry: &Entry<'_>,
    findings: &Findings,
    hypothesis: &Hypothesis<'_>,
    subcomponent: &Subcomponent<'_>,
    others: &[Nested<'_>],
) -> Diagnostic {
    let name = named(hypothesis);
    let own = quoted(subcomponent.label.value());
    let (message, note) = match others {
        [(other, lie)] => {
            let other = other.name();
            let message = match lie.kind {
                Kind::Equal => {
                    format!("the subcomponent {own} of {name} is the canonical frame of {other}")
                }
                Kind::AWithinB => {
                    format!(
                        "the canonical pattern of {other} claims the subcomponent {own} of {name}"
                    )
                }
                _ => format!(
                    "the subcomponent {own} of {name} claims the canonical frame of {other}"
                ),
            };
            (
                message,
                format!("the time of {other} lies within that of {name}: a sum counts it twice"),
            )
        }
        all => (
            format!(
                "the subcomponent {own} of {name} meets the canonical frames of {} hypotheses",
                all.len()
            ),
            format!("their time lies within that of {name}: a sum counts it twice"),
        ),
    };
    let shown = others
        .iter()
        .find_map(|(other, lie)| witness(lie, "a frame that both claim", &own, &other.name()));
    let mut finding = findings
        .finding(message, label(entry.file, subcomponent.slot.text.span(), "this subcomponent"))
        .with_witness(shown)
        .with_note(note)
        .with_hypothesis(hypothesis.id());
    for (other, _) in others.iter().take(EXAMPLES) {
        finding = finding
            .with_related(other.label(entry, format!("the canonical pattern of {}", other.name())));
    }
    finding.notes.extend(more(others.iter().map(|(other, _)| other.name())));
    finding
}
