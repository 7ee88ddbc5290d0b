//! The rules: one list, one file a rule, named as the rule.
//!
//! A rule sees the [`Workspace`] and reports [`Diagnostic`]s. It knows no file system, no
//! configuration and no output. To add one: its file beside the others, one line in [`RULES`],
//! its page under `docs/rules`, its cases under `tests/cases`; tests hold the set closed.

use ahash::{AHashMap, AHashSet};
use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::fix::{Applicability, Edit};
use crate::json::Str;
use crate::overlap::{Answer, Budget, Compiled};
use crate::pattern::ast::{Ast, Node};
use crate::pattern::{Pattern, measure};
use crate::register::{Allowance, Hypothesis, PatternId, Slot};
use crate::span::{FileId, Span};
use crate::workspace::{Entry, Measured, Place, Workspace};

mod canonical_claims_subcomponent;
mod claims_everything;
mod claims_no_frame;
mod claims_nothing;
mod claims_several_functions;
mod dialect_mismatch;
mod duplicate_canonical_frame;
mod duplicate_id;
mod duplicate_key;
mod example_mismatch;
mod frame_claimed_twice;
mod functions;
mod id_style;
mod invalid_encoding;
mod invalid_json;
mod invalid_pattern;
mod link_drift;
mod link_mismatch;
mod member;
mod narrow;
mod nested_canonical_frames;
mod nested_in_stack;
mod one_sided_link;
mod open_ended_frame;
mod overlapping_canonical_frames;
mod overlapping_subcomponents;
mod pairs;
mod possible_overlap;
mod prose_link;
mod redundant_branch;
mod schema_violation;
mod several_canonical_frames;
mod slow_pattern;
mod undecided_overlap;
mod undeclared_link;
mod unescaped_dot;
mod unresolved_link;
mod unstable_frame;
mod unused_allowance;

/// What the user wants of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Its findings are errors.
    Deny,
    /// Its findings are warnings.
    Warn,
    /// It does not run.
    Allow,
}

impl Level {
    /// The word for it in the configuration and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Warn => "warn",
            Self::Allow => "allow",
        }
    }
}

/// Whether a rule's findings come with a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixAvailability {
    /// Never.
    None,
    /// Some do.
    Sometimes,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub enum Check {
    /// One register at a time, on any thread.
    Entry(fn(&Workspace<'_>, &Entry<'_>, &mut Findings)),
    /// One register at a time, on any thread, with what it claims in evidence where there is some; and what has to be
    /// there so that all can be found.
    Evidence(fn(&Workspace<'_>, &Entry<'_>, Option<&Measured<'_>>, &mut Findings), Needs),
    /// All of them together.
    Workspace(fn(&Workspace<'_>, &mut Findings)),
    /// The allowances of the registers, after what they silence was found.
    Allowances(fn(&Workspace<'_>, &[Judged], &mut Findings)),
}

/// What evidence a rule needs to find all that it can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Any.
    Frames,
    /// Traces whose stacks are whole; those of a snapshot are not.
    Stacks,
    /// What evidence cannot promise: another one may have what this rule finds.
    Unknown,
}

/// What became of one allowance, of a rule that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The hypothesis that has it.
    pub place: Place,
    /// Its index in [`Hypothesis::allowances`].
    pub allowance: usize,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It silenced a finding.
    Used,
    /// There was nothing to silence.
    Unused,
    /// Its last day is over.
    RunOut,
}

/// A rule: everything there is to know of it.
pub struct Rule {
    /// Its name everywhere: file, page, configuration, output.
    pub name: &'static str,
    /// One line: what it reports.
    pub summary: &'static str,
    /// Its level where the user says nothing.
    pub default: Level,
    /// Whether its findings come with a repair.
    pub fix: FixAvailability,
    /// Its page, as Markdown.
    pub page: &'static str,
    /// The code.
    pub check: Check,
}

/// All rules, in the order of the catalogue.
pub static RULES: &[Rule] = &[
    invalid_encoding::RULE,
    invalid_json::RULE,
    duplicate_key::RULE,
    schema_violation::RULE,
    duplicate_id::RULE,
    id_style::RULE,
    invalid_pattern::RULE,
    dialect_mismatch::RULE,
    claims_everything::RULE,
    claims_nothing::RULE,
    unescaped_dot::RULE,
    redundant_branch::RULE,
    slow_pattern::RULE,
    duplicate_canonical_frame::RULE,
    overlapping_canonical_frames::RULE,
    possible_overlap::RULE,
    several_canonical_frames::RULE,
    example_mismatch::RULE,
    open_ended_frame::RULE,
    canonical_claims_subcomponent::RULE,
    overlapping_subcomponents::RULE,
    nested_canonical_frames::RULE,
    undecided_overlap::RULE,
    unresolved_link::RULE,
    link_mismatch::RULE,
    one_sided_link::RULE,
    undeclared_link::RULE,
    link_drift::RULE,
    prose_link::RULE,
    unused_allowance::RULE,
    claims_no_frame::RULE,
    claims_several_functions::RULE,
    frame_claimed_twice::RULE,
    nested_in_stack::RULE,
    unstable_frame::RULE,
];

impl Rule {
    /// Whether evidence has to be read for it.
    pub fn takes_evidence(&self) -> bool {
        matches!(self.check, Check::Evidence(..))
    }

    /// Whether what it finds in a register depends on others.
    fn reads_others(&self) -> bool {
        let all = [
            &duplicate_id::RULE,
            &unresolved_link::RULE,
            &link_mismatch::RULE,
            &one_sided_link::RULE,
            &undeclared_link::RULE,
            &link_drift::RULE,
            &prose_link::RULE,
        ];
        all.iter().any(|rule| rule.name == self.name)
    }

    /// Whether what it does not find in a register is not there, with what the run has of evidence about it and could
    /// read of other registers.
    pub fn finds_all(&self, workspace: &Workspace<'_>, entry: &Entry<'_>) -> bool {
        if self.reads_others() && !workspace.hidden.is_empty() {
            return false;
        }
        let needs = match self.check {
            Check::Evidence(_, needs) => needs,
            // Of a register that does not parse they are not judged.
            Check::Allowances(_) => return entry.is_whole(),
            Check::Entry(_) | Check::Workspace(_) => return true,
        };
        workspace.measured(entry).is_some_and(|measured| match needs {
            Needs::Frames => true,
            Needs::Stacks => {
                measured.traces().next().is_some()
                    && measured.traces().all(|(_, trace)| trace.has_all_stacks())
            }
            Needs::Unknown => false,
        })
    }

    /// Whether an allowance of a hypothesis that silences nothing is one too many. Where a trace did not sample the frames of
    /// the hypothesis, or those of the other one that the allowance is about, the next one may.
    pub fn judges(
        &self,
        workspace: &Workspace<'_>,
        entry: &Entry<'_>,
        hypothesis: &Hypothesis<'_>,
        allowance: &Allowance<'_>,
    ) -> bool {
        let measured = workspace.measured(entry).filter(|_| self.takes_evidence());
        let has_traces = measured.filter(|measured| measured.traces().next().is_some());
        let is_sampled = |of: &Hypothesis<'_>| {
            let frames = of.canonical.as_ref().zip(has_traces);
            let frames = frames.and_then(|(slot, measured)| measured.frames(slot.pattern));
            let is_sampled = |frame| has_traces.is_some_and(|it| it.is_sampled(frame));
            frames.is_some_and(|frames| frames.iter().any(|&frame| is_sampled(frame)))
        };
        let others = entry
            .register
            .hypotheses
            .iter()
            .filter(|it| allowance.with.is_some_and(|with| it.id() == Some(with.value())));
        self.finds_all(workspace, entry)
            && (has_traces.is_none()
                || is_sampled(hypothesis) && others.into_iter().all(is_sampled))
    }

    /// Whether a finding of this rule with such a message is looked for in every run, with evidence or without.
    pub fn needs_no_evidence(&self, message: &str) -> bool {
        self.name == frame_claimed_twice::RULE.name
            && frame_claimed_twice::is_of_an_example(message)
    }

    /// The rule that a finding of this one with such a message is about, where that is another one:
    /// `unused-allowance` judges the allowances of rules. It cannot be judged where that one cannot.
    pub fn subject(&self, message: &str) -> Option<&'static Self> {
        (self.name == unused_allowance::RULE.name).then(|| unused_allowance::subject(message))?
    }

    /// Whether it is about the file's text, so that it finds all also where that does not parse.
    pub fn reads_the_text(&self) -> bool {
        [invalid_encoding::RULE.name, invalid_json::RULE.name].contains(&self.name)
    }

    /// Whether it parses every pattern, so that it is nothing lost to do so ahead, on all threads.
    pub fn parses_all(&self) -> bool {
        self.name == invalid_pattern::RULE.name
    }

    /// Its place in [`RULES`].
    pub fn index(&self) -> usize {
        position(self.name)
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// The place of a rule in the catalogue, by name; behind all others for an unknown one.
pub fn position(name: &str) -> usize {
    RULES.iter().position(|rule| rule.name == name).unwrap_or(RULES.len())
}

/// Where a rule puts what it finds.
#[derive(Debug)]
pub struct Findings {
    rule: &'static Rule,
    list: Vec<Diagnostic>,
    /// By file: how many there were.
    counts: AHashMap<FileId, usize>,
}

impl Findings {
    /// The findings of one rule, none yet.
    pub fn new(rule: &'static Rule) -> Self {
        Self { rule, list: Vec::new(), counts: AHashMap::new() }
    }

    /// Starts a finding at the rule's default severity; hand it to [`Findings::push`] when it is whole.
    pub fn finding(&self, message: impl Into<String>, primary: Label) -> Diagnostic {
        let severity = match self.rule.default {
            Level::Deny => Severity::Error,
            Level::Warn | Level::Allow => Severity::Warning,
        };
        Diagnostic::new(self.rule.name, severity, message, primary)
    }

    /// How many findings of one rule in one file are kept: a hostile file must not fill the memory with
    /// them. One more, of no hypothesis, says how many there are besides, so that no allowance can hide
    /// that. (A report shows fewer, behind allowances and the baseline.)
    pub const MOST: usize = 20_000;

    /// Adds a finding, unless its file has [`Findings::MOST`] of them.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = self.counts.entry(diagnostic.primary.file).or_default();
        *count += 1;
        if *count <= Self::MOST {
            self.list.push(diagnostic);
        }
    }

    /// Adds the finding that `make` makes, which is not asked where the file has [`Findings::MOST`].
    pub fn push_from(&mut self, file: FileId, make: impl FnOnce(&Self) -> Diagnostic) {
        let count = self.counts.entry(file).or_default();
        if *count >= Self::MOST {
            *count += 1;
        } else {
            let diagnostic = make(self);
            self.push(diagnostic);
        }
    }

    /// All of them.
    pub fn into_vec(mut self) -> Vec<Diagnostic> {
        let counts = std::mem::take(&mut self.counts);
        for (file, count) in counts {
            if count > Self::MOST {
                let message = format!(
                    "{} more findings of this rule in this file are not kept",
                    count - Self::MOST
                );
                let more = self.finding(message, label(file, Span::empty(0), ""));
                self.list.push(more);
            }
        }
        self.list
    }
}

/// Looks at each distinct pattern once, and reports what `analyse` finds in it at each slot that has it.
///
/// Plain text is not looked at, unless it is empty or has control characters: each of these rules is
/// about something else.
fn each_pattern<'w, 'd, F: Send, I: IntoIterator<Item = F>>(
    workspace: &'w Workspace<'d>,
    findings: &mut Findings,
    analyse: impl Fn(PatternId, &'w Pattern<'d>) -> I + Sync,
    report: impl Fn(&Findings, PatternPlace<'_, 'd>, &F) -> Diagnostic,
) {
    /// From how many patterns on other threads are worth their start.
    const PER_THREAD: usize = 512;
    let patterns = workspace.patterns;
    let one = |id: PatternId| {
        let found: Vec<F> = analyse(id, patterns.get(id)).into_iter().collect();
        (!found.is_empty()).then_some((id, found))
    };
    let ids = patterns.unusual();
    let found: Vec<(PatternId, Vec<F>)> = if ids.len() < PER_THREAD {
        ids.iter().copied().filter_map(one).collect()
    } else {
        ids.par_iter().copied().filter_map(one).collect()
    };
    let found: AHashMap<PatternId, Vec<F>> = found.into_iter().collect();
    if found.is_empty() {
        return;
    }
    for entry in &workspace.entries {
        for hypothesis in &entry.register.hypotheses {
            for slot in hypothesis.slots() {
                for found in found.get(&slot.pattern).into_iter().flatten() {
                    let place = PatternPlace { entry, slot, pattern: patterns.get(slot.pattern) };
                    let finding = report(findings, place, found);
                    findings.push(finding.with_hypothesis(hypothesis.id()));
                }
            }
        }
    }
}

/// What `look` says of patterns, in their order until what it costs is `most` or more, and those that are left.
///
/// `wave` are looked at before the cost so far is added up; not by the number of threads, so that what is found does not
/// depend on it.
fn in_waves<T: Send>(
    ids: &[PatternId],
    (wave, most): (usize, u64),
    on_threads: bool,
    look: impl Fn(PatternId) -> (T, u64) + Sync,
) -> (Vec<(PatternId, T)>, &[PatternId]) {
    let mut found = Vec::with_capacity(ids.len());
    let (mut left, mut cost) = (ids, 0);
    while cost < most
        && let (wave @ [_, ..], rest) = left.split_at(wave.min(left.len()))
    {
        let one = |&id: &PatternId| (id, look(id));
        let seen: Vec<_> = if on_threads {
            wave.par_iter().map(one).collect()
        } else {
            wave.iter().map(one).collect()
        };
        for (id, (it, spent)) in seen {
            cost += spent;
            found.push((id, it));
        }
        left = rest;
    }
    (found, left)
}

/// Of some patterns how many stand in registers that were asked for, and the first place of one there, with its
/// hypothesis: for what is said once about many.
fn first_of<'w, 'd>(
    workspace: &'w Workspace<'d>,
    ids: impl IntoIterator<Item = PatternId>,
) -> Option<(usize, &'w Hypothesis<'d>, PatternPlace<'w, 'd>)> {
    let mut wanted: AHashSet<PatternId> = ids.into_iter().collect();
    if wanted.is_empty() {
        return None;
    }
    let (all, mut first) = (wanted.len(), None);
    for entry in workspace.entries.iter().filter(|entry| entry.is_asked_for()) {
        for hypothesis in &entry.register.hypotheses {
            for slot in hypothesis.slots() {
                if wanted.remove(&slot.pattern) && first.is_none() {
                    let pattern = workspace.patterns.get(slot.pattern);
                    first = Some((hypothesis, PatternPlace { entry, slot, pattern }));
                }
            }
        }
    }
    first.map(|(hypothesis, place)| (all - wanted.len(), hypothesis, place))
}

/// A pattern where it stands in a register.
#[derive(Clone, Copy)]
struct PatternPlace<'p, 'd> {
    entry: &'p Entry<'d>,
    slot: &'p Slot<'d>,
    pattern: &'p Pattern<'d>,
}

impl PatternPlace<'_, '_> {
    /// A label at a span of the pattern; at the whole string where that is empty.
    fn label(&self, span: Span, message: impl Into<String>) -> Label {
        let string = self.slot.text.span();
        let span = if span.is_empty() { string } else { self.slot.locate(span) };
        label(self.entry.file, span, message)
    }

    /// Edits of the pattern, as edits of the file.
    fn edits(&self, edits: &[(Span, String)]) -> Vec<Edit> {
        let edit = |(span, text): &(Span, String)| (self.slot.locate(*span), as_json(text));
        self::edits(self.entry.file, &edits.iter().map(edit).collect::<Vec<_>>())
    }
}

/// Whether `node`, as a pattern of its own, has the property that `ask` asks for.
fn holds_alone(ast: &Ast, node: &Node, ask: Ask, budget: Budget) -> bool {
    let part = measure::part(ast, node.clone());
    let compiled = Compiled::new(&part, budget);
    let answer = match ask {
        Ask::ClaimsEverything => compiled.claims_everything(),
        Ask::ClaimsNothing => compiled.claims_nothing(),
    };
    answer == Answer::Yes
}

/// What [`holds_alone`] asks.
#[derive(Clone, Copy)]
enum Ask {
    ClaimsEverything,
    ClaimsNothing,
}

/// `text` with edits of it applied; they are sorted and do not overlap.
fn edited(text: &str, edits: &[(Span, String)]) -> String {
    let edit = |(span, new): &(Span, String)| Edit::new(FileId(0), *span, new.as_str());
    crate::fix::apply(text, &edits.iter().map(edit).collect::<Vec<_>>())
}

/// A label at `span` of `file`.
fn label(file: FileId, span: Span, message: impl Into<String>) -> Label {
    Label::new(file, span, message)
}

/// Edits of one file, from places and what is to stand there.
fn edits(file: FileId, places: &[(Span, String)]) -> Vec<Edit> {
    let edit = |(span, text): &(Span, String)| Edit::new(file, *span, text.as_str());
    places.iter().map(edit).collect()
}

/// How far to trust a repair, by whether its author calls it safe.
fn applicability(safe: bool) -> Applicability {
    if safe { Applicability::Safe } else { Applicability::Unsafe }
}

/// `text` as it is spelled within a JSON string.
fn as_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Whether a text can be a frame: not empty, and without control characters.
fn is_frame(text: &Str<'_>) -> bool {
    !text.value().is_empty()
        && !text.value().contains(char::is_control)
        && !text.has_lone_surrogate()
}

/// How a hypothesis is named in a sentence.
fn named(hypothesis: &Hypothesis<'_>) -> String {
    hypothesis.id().map_or_else(|| "a hypothesis without id".to_owned(), quoted)
}

/// `text` between back ticks, cut where it is too long to read in a sentence.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_run_is_bounded() {
        let ids: Vec<PatternId> = (0..100).map(PatternId).collect();
        for on_threads in [false, true] {
            let look = |id: PatternId| (id.0 % 10 == 3, 5);
            let (found, left) = in_waves(&ids, (16, 200), on_threads, look);
            // Whole waves: 16 and 16 patterns cost 160, and with 16 more it is enough.
            assert_eq!(left.first(), Some(&PatternId(48)));
            let seen: Vec<PatternId> = found.iter().map(|(id, _)| *id).collect();
            assert_eq!(seen, ids[..48]);
            assert!(found.iter().all(|(id, it)| *it == (id.0 % 10 == 3)));
            assert!(in_waves(&ids, (16, u64::MAX), on_threads, look).1.is_empty());
            assert!(in_waves(&[], (16, 200), on_threads, look).1.is_empty());
        }
    }
}
