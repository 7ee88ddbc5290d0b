//! `undecided-overlap`: whether two patterns overlap could not be decided, and why.

use ahash::{AHashMap, AHashSet};

use super::pairs::{CROWD, EXAMPLES, more};
use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::overlap::{self, Kind, Reason, crowds};
use crate::register::{Hypothesis, Slot};
use crate::workspace::{Entry, Relations, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "undecided-overlap",
    summary: "two patterns whose overlap could not be decided, and why",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/undecided-overlap.md"),
    check: Check::Entry(check),
};

/// Where a pattern is first used.
#[derive(Clone, Copy)]
struct Use<'e> {
    /// Its place among the slots of the register.
    at: usize,
    hypothesis: &'e Hypothesis<'e>,
    slot: &'e Slot<'e>,
    /// Of a subcomponent.
    label: Option<&'e str>,
}

impl Use<'_> {
    fn name(&self) -> String {
        match self.label {
            Some(label) => format!("{} of {}", quoted(label), named(self.hypothesis)),
            None => named(self.hypothesis),
        }
    }
}

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    let undecided: Vec<_> = relations
        .pairs()
        .filter_map(|(a, b, relation)| match &relation.kind {
            Kind::Undecided(reason) => Some(((a, b), reason)),
            _ => None,
        })
        .collect();
    let too_large = too_large(workspace, entry, relations);
    let is_complete = relations.unknown().is_empty() && relations.more().is_empty();
    if undecided.is_empty() && is_complete && relations.left_out() == 0 && too_large.is_empty() {
        return;
    }
    let uses = first_uses(entry, relations);
    of_pairs(entry, findings, &uses, &undecided);
    let unknown = relations.unknown().iter().chain(&too_large);
    of_unknown(entry, findings, &uses, unknown);
    of_many(entry, findings, &uses, relations);
    if relations.left_out() > 0
        && let Some(first) = entry.register.slots().next()
    {
        let message = format!("{} pairs of patterns were not looked at", relations.left_out());
        findings.push_from(entry.file, |findings| {
            let text = "the patterns together hit a bound of one run: too many are alike, or hard to compare";
            findings.finding(message, label(entry.file, first.text.span(), text))
        });
    }
}

/// Patterns that nobody looked at, since there is none to compare them with, and that could not be
/// compared: by number, and why.
fn too_large(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    relations: &Relations,
) -> Vec<(usize, Reason)> {
    let mut all: Vec<(usize, Reason)> = Vec::new();
    for slot in entry.register.slots() {
        if workspace.patterns.get(slot.pattern).is_literal() {
            continue;
        }
        if let Some(number) = relations.stand(slot.pattern)
            && let Some(ast) = workspace.patterns.tree(slot.pattern)
            && let Some(reason) = overlap::too_large(ast)
        {
            all.push((number, reason));
        }
    }
    if !all.is_empty() {
        let known: AHashSet<usize> =
            relations.unknown().iter().map(|(number, _)| *number).collect();
        all.sort_by_key(|(number, _)| *number);
        all.dedup_by_key(|(number, _)| *number);
        all.retain(|(number, _)| !known.contains(number));
    }
    all
}

/// Patterns that could not be compared with any other: a finding each, or one for all where many have
/// one reason.
fn of_unknown<'r>(
    entry: &Entry<'_>,
    findings: &mut Findings,
    uses: &AHashMap<usize, Use<'_>>,
    unknown: impl Iterator<Item = &'r (usize, Reason)>,
) {
    let mut by_reason: Vec<(&Reason, Vec<&Use<'_>>)> = Vec::new();
    for (number, reason) in unknown {
        let Some(one) = uses.get(number) else { continue };
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) => all.push(one),
            None => by_reason.push((reason, vec![one])),
        }
    }
    for (reason, mut all) in by_reason {
        all.sort_by_key(|one| one.at);
        let finding = |findings: &Findings, one: &Use<'_>, message: String| {
            findings
                .finding(message, label(entry.file, one.slot.text.span(), reason.to_string()))
                .with_hypothesis(one.hypothesis.id())
        };
        if let [first, others @ ..] = all.as_slice()
            && others.len() >= CROWD
        {
            let message =
                format!("{} patterns could not be compared with any other pattern", all.len());
            findings.push_from(entry.file, |findings| {
                let mut finding = finding(findings, first, message);
                for other in others.iter().take(EXAMPLES) {
                    let place = label(entry.file, other.slot.text.span(), "one of them");
                    finding = finding.with_related(place);
                }
                finding.notes.extend(more(others.iter().map(|other| other.name())));
                finding
            });
            continue;
        }
        for one in all {
            let message = format!("{} could not be compared with any other pattern", one.name());
            findings.push_from(entry.file, |findings| finding(findings, one, message));
        }
    }
}

/// The patterns that have so much in common with others that only some pairs were looked at: one finding.
fn of_many(
    entry: &Entry<'_>,
    findings: &mut Findings,
    uses: &AHashMap<usize, Use<'_>>,
    relations: &Relations,
) {
    let places = relations.more().iter();
    let mut many: Vec<(&Use<'_>, usize)> =
        places.filter_map(|&(number, count)| Some((uses.get(&number)?, count))).collect();
    many.sort_by_key(|(one, count)| (std::cmp::Reverse(*count), one.at));
    let Some(&(first, count)) = many.first() else { return };
    let message = match many.len() {
        1 => format!("{} may overlap more patterns than were looked at", first.name()),
        all => format!("{all} patterns may overlap more patterns than were looked at"),
    };
    findings.push_from(entry.file, |findings| {
        let text = format!("about {count} pairs with it were not looked at");
        let mut finding = findings
            .finding(message, label(entry.file, first.slot.text.span(), text))
            .with_note(
                "they begin or end as very many others do, so this says little of any of them",
            )
            .with_hypothesis(first.hypothesis.id());
        for (other, count) in many.iter().skip(1).take(EXAMPLES) {
            let text = format!("about {count}");
            finding = finding.with_related(label(entry.file, other.slot.text.span(), text));
        }
        finding
    });
}

fn of_pairs(
    entry: &Entry<'_>,
    findings: &mut Findings,
    uses: &AHashMap<usize, Use<'_>>,
    undecided: &[((usize, usize), &Reason)],
) {
    let numbers: Vec<_> = undecided.iter().map(|(pair, _)| *pair).collect();
    let (crowds, alone) = crowds(&numbers, CROWD);
    for crowd in crowds {
        let Some(one) = uses.get(&crowd.pattern) else { continue };
        let pairs = crowd.findings.iter().filter_map(|&at| undecided.get(at));
        let mut others: Vec<(&Use<'_>, &Reason)> = pairs
            .filter_map(|&((a, b), reason)| {
                uses.get(&(if a == crowd.pattern { b } else { a })).map(|other| (other, reason))
            })
            .collect();
        others.sort_by_key(|(other, _)| other.at);
        let Some(&(_, reason)) = others.first() else { continue };
        let message =
            format!("whether {} overlaps {} others could not be decided", one.name(), others.len());
        findings.push_from(entry.file, |findings| {
            let mut finding = findings
                .finding(message, label(entry.file, one.slot.text.span(), reason.to_string()))
                .with_hypothesis(one.hypothesis.id());
            for (other, _) in others.iter().take(EXAMPLES) {
                finding =
                    finding.with_related(label(entry.file, other.slot.text.span(), "one of them"));
            }
            finding.notes.extend(more(others.iter().map(|(other, _)| other.name())));
            finding
        });
    }
    for at in alone {
        let Some(&((a, b), reason)) = undecided.get(at) else { continue };
        let (Some(a), Some(b)) = (uses.get(&a), uses.get(&b)) else { continue };
        let (earlier, later) = if a.at < b.at { (a, b) } else { (b, a) };
        let message =
            format!("whether {} and {} overlap could not be decided", earlier.name(), later.name());
        findings.push_from(entry.file, |findings| {
            findings
                .finding(message, label(entry.file, later.slot.text.span(), reason.to_string()))
                .with_related(label(entry.file, earlier.slot.text.span(), "the other pattern"))
                .with_hypothesis(later.hypothesis.id())
        });
    }
}

/// By the pattern that stands for them: where a pattern is first used.
fn first_uses<'e>(entry: &'e Entry<'_>, relations: &Relations) -> AHashMap<usize, Use<'e>> {
    let mut uses = AHashMap::new();
    let mut at = 0;
    for hypothesis in &entry.register.hypotheses {
        let canonical = hypothesis.canonical.iter().map(|slot| (None, slot));
        let rest = hypothesis.subcomponents.iter();
        let rest = rest.map(|each| (Some(each.label.value()), &each.slot));
        for (label, slot) in canonical.chain(rest) {
            if let Some(stand) = relations.stand(slot.pattern) {
                uses.entry(stand).or_insert(Use { at, hypothesis, slot, label });
            }
            at += 1;
        }
    }
    uses
}
