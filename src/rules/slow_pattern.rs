//! `slow-pattern`: a pattern on which Python's backtracking takes cubic time or worse.

use ahash::AHashMap;

use super::{
    Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, first_of, in_waves,
};
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
const MAX_COST: u64 = 900_000_000;

/// How many are looked at at a time: few, because one may cost a tenth of that.
const WAVE: usize = 4;

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
    let attack = |id| tree(id).map_or((None, 0), attack);
    let (found, left) = in_waves(&suspects, (WAVE, MAX_COST), true, attack);
    let found: AHashMap<PatternId, Attack> =
        found.into_iter().filter_map(|(id, attack)| Some((id, attack?))).collect();
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
