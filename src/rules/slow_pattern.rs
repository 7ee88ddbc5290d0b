//! `slow-pattern`: a pattern on which Python's backtracking takes cubic time or worse.

use ahash::AHashMap;
use rayon::prelude::*;

use super::{Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, first_of};
use crate::diagnostic::Diagnostic;
use crate::pattern::Consumer;
use crate::pattern::backtrack::{Attack, FRAME_CHARS, attack, is_suspect, may_be_suspect};
use crate::register::PatternId;
use crate::span::Span;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "slow-pattern",
    summary: "a pattern on which Python's backtracking takes cubic time or worse",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/slow-pattern.md"),
    check: Check::Workspace(check),
};

/// The work on all patterns of a run, in nanoseconds of the model.
const MAX_COST: u64 = 1_200_000_000;

/// So many patterns are looked at before the work so far is added up. Not by the number of threads, so that what is found
/// does not depend on it.
const WAVE: usize = 16;

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    // fancy-regex runs most of these in linear time.
    if workspace.consumer == Consumer::Rust {
        return;
    }
    let patterns = workspace.patterns;
    let tree = |id: PatternId| patterns.get(id).ast().ok();
    let is_suspect = |id: &PatternId| {
        may_be_suspect(patterns.get(*id).text()) && tree(*id).is_some_and(is_suspect)
    };
    let suspects: Vec<PatternId> = patterns.unusual().iter().copied().filter(is_suspect).collect();
    let (found, left) = attack_all(&suspects, MAX_COST, |id| tree(id).map_or((None, 0), attack));
    each_pattern(workspace, findings, |id, _| found.get(&id), |to, at, it| report(to, at, it));
    if let Some((count, hypothesis, place)) = first_of(workspace, left.iter().copied()) {
        let message = format!("{count} patterns that may be slow were not looked at");
        let finding = findings
            .finding(message, place.label(Span::empty(0), "the first of them"))
            .with_note("the work of a run on slow patterns is bounded")
            .with_hypothesis(hypothesis.id());
        findings.push(finding);
    }
}

/// What `attack` finds in `suspects`, in their order until its work is `most` or more, and those that are left.
fn attack_all<A: Send>(
    suspects: &[PatternId],
    most: u64,
    attack: impl Fn(PatternId) -> (Option<A>, u64) + Sync,
) -> (AHashMap<PatternId, A>, &[PatternId]) {
    let mut found = AHashMap::new();
    let (mut left, mut cost) = (suspects, 0);
    while cost < most
        && let (wave @ [_, ..], rest) = left.split_at(WAVE.min(left.len()))
    {
        let attacked: Vec<_> = wave.par_iter().map(|&id| (id, attack(id))).collect();
        for (id, (attack, spent)) in attacked {
            cost += spent;
            found.extend(attack.map(|attack| (id, attack)));
        }
        left = rest;
    }
    (found, left)
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Attack) -> Diagnostic {
    let mut parts = Vec::new();
    if !found.prefix.is_empty() {
        parts.push(format!("`{}`", found.prefix));
    }
    parts.extend(found.pumps.iter().map(|(word, times)| format!("`{word}` {times} times")));
    if !found.suffix.is_empty() {
        parts.push(format!("`{}`", found.suffix));
    }
    let message = "Python's backtracking takes cubic time or worse on this pattern";
    findings.finding(message, place.label(found.repeat, "most of it in this repeat")).with_note(
        format!(
            "a frame of {FRAME_CHARS} characters that takes 10 ms or more: {}",
            parts.join(", then ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_run_is_bounded() {
        let suspects: Vec<PatternId> = (0..100).map(PatternId).collect();
        let attack = |id: PatternId| ((id.0 % 10 == 3).then_some(id.0), 5);
        let (found, left) = attack_all(&suspects, 200, attack);
        // Whole waves: 16 and 16 patterns cost 160, and with 16 more it is enough.
        assert_eq!(left.first(), Some(&PatternId(48)));
        let mut found: Vec<u32> = found.into_values().collect();
        found.sort_unstable();
        assert_eq!(found, [3, 13, 23, 33, 43]);
        assert!(attack_all(&suspects, u64::MAX, attack).1.is_empty());
        assert!(attack_all(&[], 200, attack).1.is_empty());
    }
}
