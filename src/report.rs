//! What a run found: allowances, baseline, levels and selection applied, in one total order, counted.
//!
//! Uses `workspace`, `diagnostic`, `fix`, `source`, `rules`.

pub mod allowance;
pub mod baseline;

use std::cmp::Ordering;

use ahash::AHashMap;

use crate::diagnostic::{Diagnostic, Severity};
use crate::fix::{Applicability, Fix};
use crate::rules::{self, Level, Rule};
use crate::span::FileId;
use crate::workspace::Workspace;

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// The findings in their total order.
    pub diagnostics: Vec<Diagnostic>,
    /// The last findings of a rule in a file of which more are not shown, each by its index in
    /// [`diagnostics`](Self::diagnostics) and with how many those are; in ascending order.
    pub cut: Vec<(usize, usize)>,
    /// The counts.
    pub summary: Summary,
    /// The files that no fix may touch, in ascending order: those that do not parse, whose bytes are not
    /// their text, those that are read for context only, and those that cannot be written.
    pub sealed: Vec<FileId>,
    /// What the baseline did, where there was one.
    pub baseline: Option<baseline::Outcome>,
    /// Patterns of which lists of symbols cannot tell: they claim none, and none covers them.
    pub uncovered: usize,
    /// How many patterns the rules about claims pass over, since fancy-regex, the consumer, may read them otherwise than
    /// Python does.
    pub unlike: usize,
    /// Families that evidence is about and no register.
    pub idle_families: Vec<String>,
    /// For fixes: all errors, those among them that are about files read for context only.
    pub errors: Vec<Fault>,
    /// Whether more was looked for than a report shows, since fixes were to be made.
    pub is_thorough: bool,
}

/// An error as it is known again after an edit: not by what it says or points at, both of which may change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Its rule.
    pub rule: &'static str,
    /// Its file.
    pub file: FileId,
    /// The hypotheses that it has places in, each by its file and its number there; in order.
    pub places: Vec<(FileId, usize)>,
}

/// The errors among `diagnostics`, in the same order.
pub fn faults(
    workspace: &Workspace<'_>,
    diagnostics: &[Diagnostic],
    levels: &Levels,
) -> Vec<Fault> {
    let is_error = |found: &&Diagnostic| {
        let place = rules::position(found.rule);
        let rule = rules::RULES.get(place);
        rule.and_then(|rule| levels.severity(rule, place, found.severity)) == Some(Severity::Error)
    };
    let fault = |found: &Diagnostic| Fault {
        rule: found.rule,
        file: found.primary.file,
        places: allowance::hypotheses_of(workspace, found)
            .into_iter()
            .map(|place| (workspace.at(place).0.file, place.hypothesis))
            .collect(),
    };
    diagnostics.iter().filter(is_error).map(fault).collect()
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Registers that were asked for and checked; those read for context only do not count.
    pub registers: usize,
    /// Hypotheses in them.
    pub hypotheses: usize,
    /// Patterns in them, canonical and of subcomponents, repeated ones counted each time.
    pub patterns: usize,
    /// Findings at error level, those that are not shown too.
    pub errors: usize,
    /// Findings at warning level, likewise.
    pub warnings: usize,
    /// How many of these findings are not shown.
    pub not_shown: usize,
    /// Findings that `--fix` repairs: those with a safe fix of files that may be touched.
    pub fixable: usize,
    /// Findings that `--fix --unsafe-fixes` repairs besides.
    pub unsafe_fixable: usize,
    /// Fixes that this run applied.
    pub fixed: usize,
}

/// The level of each rule in a run.
#[derive(Debug, Clone)]
pub struct Levels {
    /// By the rule's index in [`rules::RULES`]; `None` where the rule's own severities hold.
    chosen: Vec<Option<Level>>,
    /// Whether the rule was selected; all are where nothing was.
    selected: Vec<bool>,
    /// What becomes of findings at warning level.
    warnings: Level,
}

impl Default for Levels {
    fn default() -> Self {
        let count = rules::RULES.len();
        Self { chosen: vec![None; count], selected: vec![true; count], warnings: Level::Warn }
    }
}

impl Levels {
    /// Sets the level of one rule; a later call wins.
    pub fn set(&mut self, rule: &'static Rule, level: Level) {
        self.chosen[rule.index()] = Some(level);
    }

    /// Sets what becomes of everything that would be a warning: an error, or nothing.
    pub fn set_warnings(&mut self, level: Level) {
        self.warnings = level;
    }

    /// Switches off every rule that is not in `selection`. A selected rule that is off by default
    /// is on, as a warning.
    pub fn select(&mut self, selection: &[&'static Rule]) {
        self.selected.fill(false);
        for rule in selection {
            self.selected[rule.index()] = true;
            if rule.default == Level::Allow && self.chosen[rule.index()].is_none() {
                self.chosen[rule.index()] = Some(Level::Warn);
            }
        }
    }

    /// Whether the rule has to run at all.
    pub fn runs(&self, rule: &'static Rule) -> bool {
        self.selected[rule.index()]
            && self.chosen[rule.index()].unwrap_or(rule.default) != Level::Allow
    }

    /// The severity of a finding of the rule at `index` that gave it `own`; `None` where it is not
    /// reported.
    fn severity(&self, rule: &Rule, index: usize, own: Severity) -> Option<Severity> {
        let level = match self.chosen[index] {
            Some(level) => level,
            None if rule.default == Level::Allow => Level::Allow,
            None if own == Severity::Error => Level::Deny,
            None => Level::Warn,
        };
        let level = if level == Level::Warn { self.warnings } else { level };
        match level {
            Level::Deny => Some(Severity::Error),
            Level::Warn => Some(Severity::Warning),
            Level::Allow => None,
        }
    }
}

impl Report {
    /// The report of `diagnostics`, in any order, with `counted` registers, hypotheses and patterns.
    /// No fix may touch the files in `sealed`, which is in ascending order.
    pub fn new(
        diagnostics: Vec<Diagnostic>,
        levels: &Levels,
        counted: Summary,
        sealed: Vec<FileId>,
    ) -> Self {
        let mut ranked: Vec<(usize, Diagnostic)> = Vec::with_capacity(diagnostics.len());
        for (place, mut diagnostic) in ranked_in_order(diagnostics) {
            let severity = rules::RULES
                .get(place)
                .and_then(|rule| levels.severity(rule, place, diagnostic.severity));
            if let Some(severity) = severity {
                diagnostic.severity = severity;
                ranked.push((place, diagnostic));
            }
        }
        let diagnostics: Vec<_> = ranked.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        let mut summary = counted;
        for diagnostic in &diagnostics {
            match diagnostic.severity {
                Severity::Error => summary.errors += 1,
                Severity::Warning => summary.warnings += 1,
            }
            match diagnostic.fix.as_ref().map(|fix| applicability(fix, &sealed)) {
                Some(Applicability::Safe) => summary.fixable += 1,
                Some(Applicability::Unsafe) => summary.unsafe_fixable += 1,
                Some(Applicability::DisplayOnly) | None => {}
            }
        }
        let (diagnostics, cut) = shown(diagnostics);
        summary.not_shown = cut.iter().map(|(_, more)| more).sum();
        Self {
            diagnostics,
            cut,
            summary,
            sealed,
            baseline: None,
            uncovered: 0,
            unlike: 0,
            idle_families: Vec::new(),
            errors: Vec::new(),
            is_thorough: false,
        }
    }

    /// Whether the fix of a finding can be applied: each file that it edits may be touched.
    pub fn takes(&self, fix: &Fix) -> bool {
        is_open(fix, &self.sealed)
    }

    /// How far the fix of a finding can be trusted where it stands: one that cannot be applied is for reading
    /// only.
    pub fn applicability(&self, fix: &Fix) -> Applicability {
        applicability(fix, &self.sealed)
    }

    /// How many findings of the rule of the one at `index`, the last of them that is shown of its file, are not.
    pub fn not_shown_behind(&self, index: usize) -> usize {
        let found = self.cut.binary_search_by_key(&index, |(last, _)| *last);
        found.ok().and_then(|at| self.cut.get(at)).map_or(0, |(_, more)| *more)
    }

    /// Takes out all findings: they were written into the baseline.
    pub fn forget_findings(&mut self) {
        self.diagnostics.clear();
        self.cut.clear();
        let Summary { registers, hypotheses, patterns, .. } = self.summary;
        self.summary = Summary { registers, hypotheses, patterns, ..Summary::default() };
    }
}

/// How many findings of one rule in one file are shown: nobody reads more.
const SHOWN: usize = 1000;

/// The findings without those behind the first [`SHOWN`] of a rule in a file; the last that is shown says how many
/// those are. With these last ones by their index, as [`Report::cut`].
fn shown(diagnostics: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<(usize, usize)>) {
    if diagnostics.len() <= SHOWN {
        return (diagnostics, Vec::new());
    }
    let mut counts: AHashMap<(FileId, &'static str), (usize, usize)> = AHashMap::new();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        let (count, last) = counts.entry((diagnostic.primary.file, diagnostic.rule)).or_default();
        *count += 1;
        if *count <= SHOWN {
            *last = kept.len();
            kept.push(diagnostic);
        }
    }
    let over = counts.into_values().filter(|(count, _)| *count > SHOWN);
    let mut cut: Vec<_> = over.map(|(count, last)| (last, count - SHOWN)).collect();
    cut.sort_unstable();
    for &(last, more) in &cut {
        if let Some(last) = kept.get_mut(last) {
            last.notes.push(not_shown(more));
        }
    }
    (kept, cut)
}

/// Says that so many findings of a rule in a file are not shown.
pub fn not_shown(more: usize) -> String {
    match more {
        1 => "one more finding of this rule in this file is not shown".to_owned(),
        more => format!("{more} more findings of this rule in this file are not shown"),
    }
}

/// How far a fix can be trusted where no fix may touch the files in `sealed`, which is in ascending order.
pub(crate) fn applicability(fix: &Fix, sealed: &[FileId]) -> Applicability {
    if is_open(fix, sealed) { fix.applicability } else { Applicability::DisplayOnly }
}

fn is_open(fix: &Fix, sealed: &[FileId]) -> bool {
    fix.edits.iter().all(|edit| sealed.binary_search(&edit.file).is_err())
}

/// The findings in their total order, each with its rule's place in the catalogue, which the order
/// needs again and again.
fn ranked_in_order(diagnostics: Vec<Diagnostic>) -> Vec<(usize, Diagnostic)> {
    let ranked = diagnostics.into_iter().map(|it| (rules::position(it.rule), it));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by(total_order);
    ranked
}

/// The findings in the order that a report has them in.
pub fn in_order(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    ranked_in_order(diagnostics).into_iter().map(|(_, diagnostic)| diagnostic).collect()
}

/// The one order of findings: by file, then place, then rule, then what is said. Files are
/// numbered by path, so neither the order of arguments nor that of threads can show.
fn total_order((rank_a, a): &(usize, Diagnostic), (rank_b, b): &(usize, Diagnostic)) -> Ordering {
    let places = |diagnostic: &Diagnostic| -> Vec<_> {
        diagnostic.related.iter().map(|label| (label.file, label.span)).collect()
    };
    (a.primary.file, a.primary.span, rank_a)
        .cmp(&(b.primary.file, b.primary.span, rank_b))
        .then_with(|| a.message.cmp(&b.message))
        .then_with(|| places(a).cmp(&places(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Label;
    use crate::span::{FileId, Span};

    fn finding(rule: &'static str, severity: Severity, file: u32, at: usize) -> Diagnostic {
        Diagnostic::new(rule, severity, "m", Label::new(FileId(file), Span::empty(at), ""))
    }

    fn rule(name: &str) -> &'static Rule {
        rules::find(name).unwrap()
    }

    #[test]
    fn the_order_is_total() {
        let list = [
            finding("duplicate-id", Severity::Error, 1, 0),
            finding("duplicate-id", Severity::Error, 0, 9),
            finding("duplicate-key", Severity::Error, 0, 9),
            finding("schema-violation", Severity::Error, 0, 2),
        ];
        let report =
            |list: Vec<_>| Report::new(list, &Levels::default(), Summary::default(), Vec::new());
        let mut reversed = list.to_vec();
        reversed.reverse();
        let places = |report: &Report| -> Vec<_> {
            report.diagnostics.iter().map(|d| (d.primary.file.0, d.primary.span, d.rule)).collect()
        };
        let (a, b) = (report(list.to_vec()), report(reversed));
        assert_eq!(places(&a), places(&b));
        let rules: Vec<_> = a.diagnostics.iter().map(|d| d.rule).collect();
        assert_eq!(rules, ["schema-violation", "duplicate-key", "duplicate-id", "duplicate-id"]);
    }

    #[test]
    fn a_thousand_findings_of_a_rule_are_shown_and_all_are_counted() {
        let list = (0..SHOWN + 5).map(|at| finding("duplicate-id", Severity::Error, 0, at));
        let list = list.chain([finding("duplicate-key", Severity::Error, 0, 9)]).collect();
        let report = Report::new(list, &Levels::default(), Summary::default(), Vec::new());
        assert_eq!((report.diagnostics.len(), report.summary.errors), (SHOWN + 1, SHOWN + 6));
        assert_eq!((report.summary.not_shown, &report.cut[..]), (5, &[(SHOWN, 5)][..]));
        assert_eq!((report.not_shown_behind(SHOWN), report.not_shown_behind(3)), (5, 0));
        let shown = report.diagnostics.last().unwrap();
        assert_eq!(shown.notes, ["5 more findings of this rule in this file are not shown"]);
    }

    #[test]
    fn levels_apply() {
        let own = |levels: &Levels, name: &'static str, severity| {
            let list = vec![finding(name, severity, 0, 0)];
            let report = Report::new(list, levels, Summary::default(), Vec::new());
            report.diagnostics.first().map(|diagnostic| diagnostic.severity)
        };
        let mut levels = Levels::default();
        assert_eq!(own(&levels, "duplicate-id", Severity::Error), Some(Severity::Error));
        assert_eq!(own(&levels, "id-style", Severity::Warning), None);
        levels.set(rule("duplicate-id"), Level::Warn);
        levels.set(rule("id-style"), Level::Warn);
        assert_eq!(own(&levels, "duplicate-id", Severity::Error), Some(Severity::Warning));
        assert_eq!(own(&levels, "id-style", Severity::Warning), Some(Severity::Warning));
        levels.set_warnings(Level::Deny);
        assert_eq!(own(&levels, "id-style", Severity::Warning), Some(Severity::Error));
        levels.set_warnings(Level::Allow);
        assert_eq!(own(&levels, "id-style", Severity::Warning), None);
    }

    #[test]
    fn a_selection_switches_the_others_off() {
        let mut levels = Levels::default();
        levels.select(&[rule("id-style")]);
        assert!(levels.runs(rule("id-style")));
        assert!(!levels.runs(rule("duplicate-id")));
    }
}
