//! `overlapping-subcomponents`: two subcomponents of one hypothesis read the same frames.

use super::narrow::{Goal, Other, narrow};
use super::pairs::{EXAMPLES, more, witness};
use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::diagnostic::Diagnostic;
use crate::overlap::Kind;
use crate::register::{Hypothesis, Subcomponent};
use crate::workspace::{Entry, Lie, Relations, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "overlapping-subcomponents",
    summary: "two subcomponents of one hypothesis of which one claims every frame that the other claims",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/overlapping-subcomponents.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    if relations.is_quiet() {
        return;
    }
    for hypothesis in &entry.register.hypotheses {
        // By the pattern that stands for them: the subcomponents so far, by their places.
        let mut so_far: ahash::AHashMap<usize, Vec<usize>> = ahash::AHashMap::new();
        for (at, later) in hypothesis.subcomponents.iter().enumerate() {
            let Some(stand) = relations.stand(later.slot.pattern) else { continue };
            let others = earlier(hypothesis, relations, &so_far, later, stand);
            if !others.is_empty() {
                findings.push_from(entry.file, |findings| {
                    report(workspace, entry, findings, hypothesis, later, &others)
                });
            }
            so_far.entry(stand).or_default().push(at);
        }
    }
}

/// An earlier subcomponent, and how it lies to the later one.
type Earlier<'e> = (&'e Subcomponent<'e>, Lie<'e>);

/// The earlier subcomponents that are equal to `later`, within it or around it, in order.
fn earlier<'e>(
    hypothesis: &'e Hypothesis<'e>,
    relations: &'e Relations,
    so_far: &ahash::AHashMap<usize, Vec<usize>>,
    later: &Subcomponent<'_>,
    stand: usize,
) -> Vec<Earlier<'e>> {
    let neighbours = relations.neighbours(stand);
    let mut places: Vec<usize> = if neighbours.len() < so_far.len() {
        let stands = std::iter::once(&stand).chain(neighbours);
        stands.filter_map(|stand| so_far.get(stand)).flatten().copied().collect()
    } else {
        so_far.values().flatten().copied().collect()
    };
    places.sort_unstable();
    let at_odds = places.into_iter().filter_map(|at| {
        let earlier = hypothesis.subcomponents.get(at)?;
        let lie = relations.between(earlier.slot.pattern, later.slot.pattern)?;
        let included = matches!(lie.kind, Kind::Equal | Kind::AWithinB | Kind::BWithinA);
        included.then_some((earlier, lie))
    });
    at_odds.collect()
}

fn report(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    findings: &Findings,
    hypothesis: &Hypothesis<'_>,
    later: &Subcomponent<'_>,
    others: &[Earlier<'_>],
) -> Diagnostic {
    let name = named(hypothesis);
    let label_of = |each: &Subcomponent<'_>| quoted(each.label.value());
    let own = label_of(later);
    let message = match others {
        [(earlier, lie)] => {
            let other = label_of(earlier);
            match lie.kind {
                Kind::Equal => {
                    format!("the subcomponents {other} and {own} of {name} claim the same frames")
                }
                Kind::AWithinB => {
                    format!(
                        "the subcomponent {own} of {name} claims every frame that {other} claims"
                    )
                }
                _ => format!(
                    "the subcomponent {other} of {name} claims every frame that {own} claims"
                ),
            }
        }
        all => format!("the subcomponent {own} of {name} overlaps {} other ones of it", all.len()),
    };
    // Only one broader pattern can be narrowed at a time.
    let fix = match others {
        [(earlier, lie)] => match lie.kind {
            Kind::AWithinB => {
                let narrower = Other { slot: &earlier.slot, places: lie.flipped().places() };
                narrow(workspace, entry.file, &later.slot, &[narrower], Goal::NotWithin)
            }
            Kind::BWithinA => {
                let narrower = Other { slot: &later.slot, places: lie.places() };
                narrow(workspace, entry.file, &earlier.slot, &[narrower], Goal::NotWithin)
            }
            _ => None,
        },
        _ => None,
    };
    let shown = others.iter().find_map(|(earlier, lie)| {
        witness(lie, "a frame that both claim", &label_of(earlier), &own)
    });
    let mut finding = findings
        .finding(message, label(entry.file, later.slot.text.span(), "this subcomponent"))
        .with_witness(shown)
        .with_note("the table shows the time of such a frame in both rows")
        .with_fix(fix)
        .with_hypothesis(hypothesis.id());
    for (earlier, lie) in others.iter().take(EXAMPLES) {
        let words = match lie.kind {
            Kind::Equal => "claims the same",
            Kind::AWithinB => "claims less",
            _ => "claims more",
        };
        finding = finding.with_related(label(entry.file, earlier.slot.text.span(), words));
    }
    finding.notes.extend(more(others.iter().map(|(earlier, _)| label_of(earlier))));
    finding
}
