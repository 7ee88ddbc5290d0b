//! `slow-pattern`: a pattern on which Python's backtracking takes cubic time or worse.

use super::{Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern};
use crate::diagnostic::Diagnostic;
use crate::pattern::Consumer;
use crate::pattern::backtrack::{Attack, FRAME_CHARS, MAX_COST, attack, is_suspect};
use crate::register::PatternId;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "slow-pattern",
    summary: "a pattern on which Python's backtracking takes cubic time or worse",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/slow-pattern.md"),
    check: Check::Workspace(check),
};

/// Up to how many patterns of a run that may be slow are looked at as long as each needs; more share as much.
const FULL_SHARES: u64 = 24;

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    // fancy-regex runs most of these in linear time.
    if workspace.consumer == Consumer::Rust {
        return;
    }
    let patterns = workspace.patterns;
    let is_suspect = |&&id: &&PatternId| patterns.get(id).ast().is_ok_and(is_suspect);
    let suspects = patterns.unusual().iter().filter(is_suspect).count() as u64;
    let most = MAX_COST.min(FULL_SHARES * MAX_COST / suspects.max(1));
    each_pattern(workspace, findings, |_, pattern| attack(pattern.ast().ok()?, most), report);
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
