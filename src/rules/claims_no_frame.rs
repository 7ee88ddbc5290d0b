//! `claims-no-frame`: a pattern that claims nothing of what the evidence has.

use super::functions::{self, LISTED, Namings};
use super::{Check, Findings, FixAvailability, Level, Needs, Rule, label};
use crate::diagnostic::{Diagnostic, Severity};
use crate::evidence::{Function, Kinship, NearFrame, Nearest, is_v0};
use crate::pattern::ways::{GAP, ways};
use crate::register::Slot;
use crate::workspace::{Entry, Measured, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "claims-no-frame",
    summary: "a pattern that claims none of the evidence's frames, though the evidence covers it",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/claims-no-frame.md"),
    check: Check::Evidence(check, Needs::Unknown),
};

/// How many near frames are asked for: a trace has not all that lists have.
const ASKED: usize = 16;

/// The longest pattern that is shown, in scalar values: nobody writes a longer one.
const LONGEST: usize = 100;

fn check(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    measured: Option<&Measured<'_>>,
    findings: &mut Findings,
) {
    let Some(measured) = measured else { return };
    let mut namings = Namings::new(measured, functions::measured_registers(workspace));
    for hypothesis in &entry.register.hypotheses {
        for (name, slot) in functions::patterns(hypothesis) {
            let place = label(entry.file, slot.text.span(), "no frame");
            if measured.is_unfinished(slot.pattern) {
                let message = format!("it could not be found out which frames {name} claims");
                let mut finding = findings
                    .finding(message, label(entry.file, slot.text.span(), ""))
                    .with_note("the search was given up after a bound of steps or of claims")
                    .with_hypothesis(hypothesis.id());
                finding.severity = Severity::Warning;
                findings.push(finding);
                continue;
            }
            if measured.frames(slot.pattern).is_none_or(|frames| !frames.is_empty()) {
                continue;
            }
            let asked = asked(workspace, slot);
            let covering = measured.covering(workspace.patterns, slot.pattern);
            if covering.is_none() && measured.traces().next().is_none() {
                continue;
            }
            let mut near = asked
                .as_deref()
                .map_or_else(Nearest::default, |text| measured.near().nearest(text, ASKED));
            if covering.is_none() {
                let asked = asked.as_deref().unwrap_or_default();
                near.frames.retain(|near| {
                    measured.is_sampled(near.frame) && is_near_miss(measured, asked, near)
                });
                if near.frames.is_empty() {
                    continue;
                }
            }
            let mut finding = findings
                .finding(format!("{name} claims no frame"), place)
                .with_note("the table shows 0.0 for it, which reads as a result")
                .with_hypothesis(hypothesis.id());
            if let Some(name) = covering {
                finding.notes.push(format!("the symbols cover it: they have `{name}`"));
            } else {
                finding.severity = Severity::Warning;
                let why = "the traces have no such frame, but one that is close to it";
                finding.notes.push(why.to_owned());
            }
            explain(measured, entry, slot, &near, &mut namings, &mut finding);
            if measured.looks_v0() {
                let note = "most of these frames are in Rust's v0 mangling, where no `::h…` stands at \
                            the end; the profiler may print them otherwise";
                finding.notes.push(note.to_owned());
            }
            findings.push(finding);
        }
    }
}

/// The path that a pattern asks for: what it spells out, of its branches the first, of parts the longest.
fn asked(workspace: &Workspace<'_>, slot: &Slot<'_>) -> Option<String> {
    let tree = workspace.patterns.tree(slot.pattern)?;
    let ways = ways(&tree.root)?;
    let parts = ways.first()?.text().split(GAP);
    parts.max_by_key(|part| part.len()).filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Whether a trace without the frame that was asked for has one that must have been meant: not any function of the
/// same name, since what was not sampled is a result.
fn is_near_miss(measured: &Measured<'_>, asked: &str, near: &NearFrame) -> bool {
    let function = Function::of(asked.trim_end_matches("::"));
    let outer = function.segments().len().saturating_sub(1);
    match near.kinship {
        Kinship::OtherMangling => true,
        // One name of the path may be another one.
        Kinship::SameName => near.shared > 0 && near.shared + 1 >= outer,
        Kinship::Inside => near.shared > 0 && near.shared == outer,
        // A slip of the pen, not a longer name: that may be another function.
        Kinship::SimilarName => {
            let found = Function::of(measured.text(near.frame));
            let names = |function: &Function| function.segments().last().map(|it| it.len());
            let is_longer = names(&found) > names(&function).map(|length| length + 1);
            near.shared == outer && !is_longer
        }
    }
}

/// Adds the near frames, and the repair where there is one right one.
fn explain(
    measured: &Measured<'_>,
    entry: &Entry<'_>,
    slot: &Slot<'_>,
    near: &Nearest,
    namings: &mut Namings,
    finding: &mut Diagnostic,
) {
    let Nearest { frames: near, is_cut } = near;
    let mut is_spent = false;
    for (nth, found) in near.iter().take(LISTED - 1).enumerate() {
        let what = match found.kinship {
            Kinship::OtherMangling => "the same path in another spelling",
            Kinship::SameName => "a function of that name under another path",
            Kinship::Inside => "a function inside of what has that name",
            Kinship::SimilarName => "a function of a similar name",
        };
        let text = measured.text(found.frame);
        // Nobody writes a pattern for a mangled name.
        let named = if is_v0(text) {
            None
        } else {
            is_spent |= namings.is_spent();
            namings.ask(measured, found.frame)
        };
        let readable = named.as_ref().filter(|named| named.chars().count() <= LONGEST);
        let claims = readable.map_or_else(String::new, |named| format!(", which `{named}` claims"));
        let shown = if found.kinship == Kinship::OtherMangling {
            functions::path(text)
        } else {
            functions::path(Function::of(text).as_str())
        };
        finding.notes.push(format!("{what}: {shown}{claims}"));
        let is_alone = near.get(nth + 1).is_none_or(|next| next.rank() != found.rank());
        let is_plain = found.kinship == Kinship::SameName && found.shared > 0;
        // Among those that were not looked at there may be another one.
        if nth == 0 && is_alone && is_plain && !is_cut {
            finding.fix = named.and_then(|named| {
                functions::name_one(
                    measured,
                    entry.file,
                    slot,
                    &named,
                    &measured.near().same(found.frame),
                )
            });
        }
    }
    if is_spent {
        finding.notes.push(Namings::SPENT.to_owned());
    }
    if *is_cut {
        let note = "more frames have a name of it than are looked at: there may be a nearer one";
        finding.notes.push(note.to_owned());
    }
}
