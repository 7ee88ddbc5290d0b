//! `possible-overlap`: two hypotheses can read one frame.

use super::pairs::{EXAMPLES, Group, groups};
use super::{Check, Findings, FixAvailability, Level, Rule};
use crate::overlap::Kind;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "possible-overlap",
    summary: "two canonical patterns of one register can claim the same frame by the same text",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/possible-overlap.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    let relations = workspace.relations(entry);
    if relations.is_quiet() {
        return;
    }
    for group in groups(entry, relations, |kind| *kind == Kind::Partial) {
        findings.push_from(entry.file, |findings| match &group {
            Group::Pair(pair) => {
                let message = format!(
                    "{} and {} can claim one frame",
                    pair.earlier.name(),
                    pair.later.name()
                );
                findings
                    .finding(message, pair.later.label(entry, pair.later.name()))
                    .with_related(pair.earlier.label(entry, pair.earlier.name()))
                    .with_witness(pair.witness("a frame that both claim"))
                    .with_hypothesis(pair.later.hypothesis.id())
            }
            Group::Crowd(one, pairs) => {
                let message = format!(
                    "{} and {} other hypotheses can claim one frame",
                    one.name(),
                    pairs.len()
                );
                let witness =
                    pairs.first().and_then(|pair| pair.witness("a frame that two of them claim"));
                let mut finding = findings
                    .finding(message, one.label(entry, "this pattern"))
                    .with_witness(witness)
                    .with_hypothesis(one.hypothesis.id());
                for pair in pairs.iter().take(EXAMPLES) {
                    finding =
                        finding.with_related(pair.other(one).label(entry, "can claim the same"));
                }
                finding
                    .notes
                    .extend(super::pairs::more(pairs.iter().map(|pair| pair.other(one).name())));
                finding
            }
        });
    }
}
