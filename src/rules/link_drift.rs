//! `link-drift`: two counterparts whose subcomponents differ.

use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::diagnostic::Label;
use crate::overlap::Answer;
use crate::register::{Hypothesis, PatternId, Subcomponent};
use crate::span::Span;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "link-drift",
    summary: "two counterparts in two families whose subcomponents differ",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/link-drift.md"),
    check: Check::Workspace(check),
};

/// How many subcomponents of one side are named in a sentence.
const MOST_NAMED: usize = 3;

/// How many of them are pointed at.
const MOST_SHOWN: usize = 20;

/// How many pairs of patterns the engine is asked about in one pair of hypotheses.
const MOST_ASKED: usize = 400;

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    for pair in &workspace.pairs().list {
        let (entry, hypothesis) = workspace.at(pair.later);
        let (other_entry, there) = workspace.at(pair.earlier);
        // What could not be read may be just what seems to be missing.
        if !entry.is_whole() || !other_entry.is_whole() {
            continue;
        }
        let (Some(here_only), Some(there_only)) = (
            without_counterpart(workspace, hypothesis, there),
            without_counterpart(workspace, there, hypothesis),
        ) else {
            continue;
        };
        if here_only.is_empty() && there_only.is_empty() {
            continue;
        }
        // A label that both have, with another pattern on each side.
        let is_in = |list: &[&Subcomponent<'_>], it: &Subcomponent<'_>| {
            list.len() <= MOST_ASKED && list.iter().any(|other| other.label == it.label)
        };
        let (differing, ours_alone): (Vec<_>, Vec<_>) =
            here_only.iter().copied().partition(|it| is_in(&there_only, it));
        let theirs_alone: Vec<_> =
            there_only.iter().copied().filter(|it| !is_in(&here_only, it)).collect();
        let mut sentences = Vec::new();
        if !differing.is_empty() {
            let verb = if differing.len() == 1 { "is" } else { "are" };
            sentences.push(format!("{} {verb} not the same in both", listed(&differing)));
        }
        for (only, of) in [(&ours_alone, hypothesis), (&theirs_alone, there)] {
            if !only.is_empty() {
                sentences.push(format!("only {} has {}", named(of), listed(only)));
            }
        }
        let message = format!(
            "{} and {} claim the same frame, but {}",
            named(hypothesis),
            named(there),
            sentences.join(", and ")
        );
        let mut labels: Vec<Label> = Vec::new();
        for (only, others, of) in
            [(&here_only, &there_only, entry), (&there_only, &here_only, other_entry)]
        {
            labels.extend(only.iter().take(MOST_SHOWN).map(|subcomponent| {
                let span = subcomponent.label.span().to(subcomponent.slot.text.span());
                let words = if is_in(others, subcomponent) { "differs" } else { "only here" };
                label(of.file, span, words)
            }));
        }
        // The side that has none of its own is shown by the place where they would stand.
        if here_only.is_empty() {
            labels.push(missing(entry, hypothesis));
        }
        if there_only.is_empty() {
            labels.push(missing(other_entry, there));
        }
        let mut labels = labels.into_iter();
        let Some(primary) = labels.next() else { continue };
        let is_here = primary.file == entry.file;
        let mut finding = findings
            .finding(message, primary)
            .with_note(
                "the rows of the two are compared, and what is printed beside them is not the same",
            )
            .with_hypothesis(if is_here { hypothesis.id() } else { there.id() });
        finding.related.extend(labels);
        findings.push(finding);
    }
}

/// The subcomponents of `a` that `b` has no equal of. `None` where that is not known.
fn without_counterpart<'a, 'd>(
    workspace: &Workspace<'_>,
    a: &'a Hypothesis<'d>,
    b: &Hypothesis<'_>,
) -> Option<Vec<&'a Subcomponent<'d>>> {
    let theirs: ahash::AHashSet<_> = b.subcomponents.iter().map(|it| it.slot.pattern).collect();
    let is_literal = |it: &PatternId| workspace.patterns.get(*it).is_literal();
    let regular: Vec<_> = theirs.iter().copied().filter(|it| !is_literal(it)).collect();
    let all: Vec<_> = theirs.iter().copied().collect();
    let mut only = Vec::new();
    let mut asked = 0;
    for subcomponent in &a.subcomponents {
        let own = subcomponent.slot.pattern;
        if theirs.contains(&own) {
            continue;
        }
        let mut has_equal = false;
        // Two texts that differ are never equal.
        for &other in if is_literal(&own) { &regular } else { &all } {
            asked += 1;
            if asked > MOST_ASKED {
                return None;
            }
            if workspace.is_plainly_outside(own, other) || workspace.is_plainly_outside(other, own)
            {
                continue;
            }
            let (first, second) = (workspace.compiled(own)?, workspace.compiled(other)?);
            match first.within(second) {
                Answer::Yes => match second.within(first) {
                    Answer::Yes => has_equal = true,
                    Answer::No(_) => {}
                    Answer::Undecided(_) => return None,
                },
                Answer::No(_) => {}
                Answer::Undecided(_) => return None,
            }
            if has_equal {
                break;
            }
        }
        if !has_equal {
            only.push(subcomponent);
        }
    }
    Some(only)
}

fn listed(subcomponents: &[&Subcomponent<'_>]) -> String {
    let shown = subcomponents.iter().take(MOST_NAMED).map(|it| quoted(it.label.value()));
    let mut words: Vec<String> = shown.collect();
    if subcomponents.len() > MOST_NAMED {
        words.push(format!("{} more", subcomponents.len() - MOST_NAMED));
    }
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Where a hypothesis has its subcomponents, or would have them.
fn missing(entry: &Entry<'_>, hypothesis: &Hypothesis<'_>) -> Label {
    let member = hypothesis.object.member("subcomponent_regexes");
    let span: Span = member.map_or_else(|| hypothesis.name_span(), |member| member.name.span());
    label(entry.file, span, "not here")
}
