//! `example-mismatch`: an example frame that the canonical pattern does not treat as it should.

use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "example-mismatch",
    summary: "an example frame that the canonical pattern does not claim, or claims though it must not",
    default: Level::Deny,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/example-mismatch.md"),
    check: Check::Entry(check),
};

/// How many searches of one pattern may be given up before no more is tried: each costs a bound of
/// steps.
const MOST_GIVEN_UP: usize = 3;

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let frames = &hypothesis.frames;
        let claimed = frames.claimed.iter().map(|frame| (frame, true));
        let spared = frames.spared.iter().map(|frame| (frame, false));
        let mut given_up = 0;
        for (frame, is_wanted) in claimed.chain(spared) {
            // What is no frame at all the schema reports.
            if !super::is_frame(frame) {
                continue;
            }
            let Some(is_claimed) = workspace.claims(slot.pattern, frame.value()) else {
                given_up += 1;
                if given_up == MOST_GIVEN_UP {
                    break;
                }
                continue;
            };
            if is_claimed == is_wanted {
                continue;
            }
            let (message, words) = if is_wanted {
                let message =
                    format!("{} does not claim {}", named(hypothesis), quoted(frame.value()));
                (message, "not claimed")
            } else {
                let message = format!(
                    "{} claims {}, which it must not",
                    named(hypothesis),
                    quoted(frame.value())
                );
                (message, "claimed all the same")
            };
            let finding = findings
                .finding(message, label(entry.file, frame.span(), words))
                .with_related(label(entry.file, slot.text.span(), "by this pattern"))
                .with_hypothesis(hypothesis.id());
            findings.push(finding);
        }
    }
}
