//! `claims-no-frame`: a pattern that claims nothing of what the evidence has.

use super::functions::{self, LISTED, Namings};
use super::{Check, Findings, FixAvailability, Level, Needs, Rule, label};
use crate::diagnostic::{Diagnostic, Severity};
use crate::evidence::{Function, Kinship, NearFrame, Nearest, V0_NOTE, is_v0, without_hash};
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
            let covering = measured.covering(workspace.patterns, slot.pattern);
            if covering.is_none() && measured.traces().next().is_none() {
                continue;
            }
            let asked = asked(workspace, slot);
            let mut near = asked
                .as_deref()
                .map_or_else(Nearest::default, |text| measured.near().nearest(text, ASKED));
            if let Some(stripped) = without_its_hash(workspace, measured, slot, &near) {
                let message = format!("it cannot be told whether {name} claims a frame");
                let mut finding = findings
                    .finding(message, label(entry.file, slot.text.span(), ""))
                    .with_note(format!(
                        "it claims {} with a hash behind it (`::h…`), as profilers print it; the evidence \
                         has names without their hashes, as `nm -C` prints them",
                        functions::path(stripped)
                    ))
                    .with_hypothesis(hypothesis.id());
                finding.severity = Severity::Warning;
                findings.push(finding);
                continue;
            }
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
            let asked = asked.as_deref();
            explain(measured, (entry, slot, asked), &near, &mut namings, &mut finding);
            if measured.looks_v0() {
                finding.notes.push(V0_NOTE.to_owned());
            }
            findings.push(finding);
        }
    }
}

/// A near frame of a list that the pattern would claim if it had a hash, where it has none.
fn without_its_hash<'m>(
    workspace: &Workspace<'_>,
    measured: &'m Measured<'_>,
    slot: &Slot<'_>,
    near: &Nearest,
) -> Option<&'m str> {
    // A trace shows what the consumer sees.
    let listed = near.frames.iter().filter(|near| !measured.is_sampled(near.frame));
    let mut stripped = listed
        .map(|near| measured.text(near.frame))
        .filter(|text| text.contains("::") && !without_hash(text).1 && !is_v0(text));
    stripped.find(|text| {
        let whole = format!("{text}::h0123456789abcdef");
        workspace.claims(slot.pattern, &whole) == Some(true)
    })
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
        Kinship::SameName => has_each_name(measured, &function, near),
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

/// Whether a function of the name that was asked for stands under what the path asks for, one of its names perhaps in
/// another form (`Context`, `context`) or with a slip. Another module or crate has another function.
fn has_each_name(measured: &Measured<'_>, asked: &Function, near: &NearFrame) -> bool {
    /// Names of fewer characters are too alike.
    const SHORT: usize = 4;
    /// Comparing names takes time quadratic in their length; nobody writes longer ones.
    const LONG: usize = 100;
    let found = Function::of(measured.text(near.frame));
    let path = outer_names(&found);
    let lower = found.as_str().to_lowercase();
    let outer = outer_names(asked);
    let is_there = |name: &str| {
        let (name, length) = (name.to_lowercase(), name.chars().count());
        lower.contains(&name)
            || (SHORT..LONG).contains(&length)
                && path.iter().filter(|other| other.len() <= LONG).any(|other| {
                    let other = other.to_lowercase();
                    other.chars().count() >= SHORT && name.contains(&other)
                        || strsim::damerau_levenshtein(&name, &other) <= (length / 6).max(1)
                })
    };
    near.shared > 0 && near.shared + 1 >= outer.len() && outer.iter().all(|name| is_there(name))
}

/// What a function stands in.
fn outer_names(function: &Function) -> Vec<&str> {
    let mut segments = function.segments();
    segments.pop();
    segments
}

/// Adds the near frames, and the repair where there is one right one.
fn explain(
    measured: &Measured<'_>,
    (entry, slot, asked): (&Entry<'_>, &Slot<'_>, Option<&str>),
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
        let is_plain = found.kinship == Kinship::SameName
            && asked.is_some_and(|asked| {
                has_each_name(measured, &Function::of(asked.trim_end_matches("::")), found)
            });
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
