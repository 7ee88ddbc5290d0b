//! Applies fixes until nothing changes: which ones go together, and what becomes of the sources.
//!
//! Uses `linter`, `report`, `rules`, `register`, `json`, `fix`, `source` and `span`. In memory: `writer` puts
//! the result on disk.
//!
//! In each round the fixes of the findings are taken in the order of the rules and then of the findings. One
//! is taken whole or not at all, and only where none of its edits touches one that was taken before, nor
//! two of them change one hypothesis other than inside of a pattern: each alone may be right, and both
//! together give a member twice. Those that only add links to one hypothesis are taken together. What had
//! to wait comes in a later round, if its finding is still there. Then everything is linted again. A round
//! after which a file no longer parses is taken back, and no fix edits that file from then on.
//!
//! In the end there is no error that was not there before, in no file: not in those that were named, nor in those that
//! are read for context. Errors that come up and go in a later round do not matter. Where one stays, all is
//! done again from the start, and a round that brings up an error is taken back; those of its fixes that edit the
//! hypotheses which the error is about, first the less trusted ones, are withheld from then on.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::fix::{self, Applicability, Edit, Fix};
use crate::linter::{self, Options};
use crate::register::Register;
use crate::report::{Fault, Report};
use crate::source::Sources;
use crate::span::{FileId, Span};
use crate::{json, report, rules};

/// So many rounds are made at most. One is enough where no fixes touch; more mean that fixes undo each
/// other.
const MAX_ROUNDS: usize = 100;

/// So many fixes are applied until no further round begins: a few seconds.
const MOST_FIXES: usize = 100_000;

/// What fixing led to.
#[derive(Debug)]
pub struct Outcome {
    /// What is still found in the sources as they are now; counts the fixes that were applied.
    pub report: Report,
    /// The sources that changed, with the text that each had, in the order of the paths.
    pub changed: BTreeMap<FileId, String>,
    /// The files that some fix would have left so that they do not parse; that fix was not applied.
    pub spoiled: Vec<FileId>,
    /// Fixes that were not applied, since an error would have come of them. In the report they are
    /// [`Applicability::DisplayOnly`].
    pub withheld: Vec<Withheld>,
    /// Whether there was still something to apply after a hundred rounds, or after very many fixes.
    pub unsettled: bool,
}

/// A fix that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The file of its finding.
    pub file: FileId,
    /// What it does.
    pub message: String,
    /// The rule of the error that would have come of it.
    pub error: &'static str,
    /// The file of that error.
    pub error_file: FileId,
    key: Key,
}

/// Lints `sources` and applies every fix up to `trust`, again until none is left.
/// [`Applicability::DisplayOnly`] fixes are never applied.
pub fn fix(sources: &mut Sources, options: &Options<'_>, trust: Applicability) -> Outcome {
    let mut outcome = settle(sources, trust, |sources| linter::lint_for_fixes(sources, options));
    // What cannot be fixed is reported as ever.
    if outcome.report.is_thorough {
        let fixed = outcome.report.summary.fixed;
        outcome.report = linter::lint(sources, options);
        outcome.report.summary.fixed = fixed;
        withhold(&mut outcome, sources);
    }
    outcome
}

/// [`fix`], whatever it is that finds things.
fn settle(
    sources: &mut Sources,
    trust: Applicability,
    lint: impl Fn(&Sources) -> Report,
) -> Outcome {
    let mut fixer = Fixer { sources, trust, lint };
    let report = (fixer.lint)(fixer.sources);
    let before = Errors::of(&report);
    let mut seen = before.clone();
    let mut outcome = fixer.run(report, Some(&mut seen), None);
    // In a second pass those may come up that went again in the first one, in a third one none.
    let after = Errors::of(&outcome.report);
    seen.0.retain(|error, _| after.count(error) <= before.count(error));
    seen.widen(&before);
    for allowed in [seen, before.clone()] {
        if Errors::of(&outcome.report).more_than(&before).next().is_none() {
            break;
        }
        for (file, text) in outcome.changed {
            fixer.sources.replace(file, text);
        }
        let report = (fixer.lint)(fixer.sources);
        outcome = fixer.run(report, None, Some(&allowed));
    }
    withhold(&mut outcome, fixer.sources);
    outcome
}

/// Marks the fixes in the report that were withheld.
fn withhold(outcome: &mut Outcome, sources: &Sources) {
    let Outcome { report, withheld, .. } = outcome;
    if withheld.is_empty() {
        return;
    }
    let keys: BTreeSet<&Key> = withheld.iter().map(|it| &it.key).collect();
    for found in &mut report.diagnostics {
        let Some(fix) = &found.fix else { continue };
        if !keys.contains(&Key::new(found, fix, sources)) {
            continue;
        }
        let counted = match report::applicability(fix, &report.sealed) {
            Applicability::Safe => &mut report.summary.fixable,
            Applicability::Unsafe => &mut report.summary.unsafe_fixable,
            Applicability::DisplayOnly => continue,
        };
        *counted = counted.saturating_sub(1);
        if let Some(fix) = &mut found.fix {
            fix.applicability = Applicability::DisplayOnly;
        }
    }
}

/// What applies fixes to sources.
struct Fixer<'s, L> {
    sources: &'s mut Sources,
    trust: Applicability,
    lint: L,
}

impl<L: Fn(&Sources) -> Report> Fixer<'_, L> {
    /// Applies the fixes of `report` and of what is found then. The errors that come up are noted in `seen`;
    /// with `allowed`, a round that brings up others does not count.
    fn run(
        &mut self,
        report: Report,
        mut seen: Option<&mut Errors>,
        allowed: Option<&Errors>,
    ) -> Outcome {
        let mut outcome = Outcome {
            report,
            changed: BTreeMap::new(),
            spoiled: Vec::new(),
            withheld: Vec::new(),
            unsettled: false,
        };
        let mut fixed = 0;
        for _ in 0..MAX_ROUNDS {
            if fixed >= MOST_FIXES {
                break;
            }
            let (taken, edits) = select(&outcome, self.sources, self.trust);
            if taken.is_empty() {
                outcome.report.summary.fixed = fixed;
                return outcome;
            }
            let before: Vec<(FileId, String)> = edits
                .into_iter()
                .map(|(file, edits)| {
                    let text = fix::apply(self.sources.get(file).text(), &edits);
                    (file, self.sources.replace(file, text))
                })
                .collect();
            let report = (self.lint)(self.sources);
            let spoils = |file: &FileId| report.sealed.binary_search(file).is_ok();
            let spoiled: Vec<FileId> =
                before.iter().map(|(file, _)| *file).filter(|file| spoils(file)).collect();
            let errors = Errors::of(&report);
            let is_bad = allowed.is_some_and(|allowed| errors.more_than(allowed).next().is_some());
            if spoiled.is_empty() && !is_bad {
                if let Some(seen) = &mut seen {
                    seen.widen(&errors);
                }
                fixed += taken.len();
                for (file, text) in before {
                    outcome.changed.entry(file).or_insert(text);
                }
                outcome.report = report;
                continue;
            }
            for (file, text) in before {
                self.sources.replace(file, text);
            }
            let withheld = match allowed.filter(|_| spoiled.is_empty()) {
                Some(allowed) => errors.culprits(allowed, &taken, self.sources),
                None => Vec::new(),
            };
            outcome.spoiled.extend(spoiled);
            outcome.withheld.extend(withheld);
        }
        outcome.unsettled = !select(&outcome, self.sources, self.trust).0.is_empty();
        outcome.report.summary.fixed = fixed;
        // Where fixes went round in a circle, a file may be what it was.
        outcome.changed.retain(|&file, text| self.sources.get(file).text() != text);
        outcome
    }
}

/// What a finding's fix is known by, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: &'static str,
    hypothesis: Option<String>,
    /// By edit: the file, what goes and what comes.
    edits: Vec<(FileId, String, String)>,
}

impl Key {
    fn new(found: &Diagnostic, fix: &Fix, sources: &Sources) -> Self {
        let edits = fix.edits.iter().map(|edit| {
            let old = sources.get(edit.file).text().get(edit.span.range()).unwrap_or_default();
            (edit.file, old.to_owned(), edit.replacement.clone())
        });
        let hypothesis = found.hypothesis.clone();
        Self { rule: found.rule, hypothesis, edits: edits.collect() }
    }
}

/// A fix that is applied in a round.
struct Taken<'r> {
    found: &'r Diagnostic,
    fix: &'r Fix,
    /// The hypotheses that it edits.
    places: BTreeSet<(FileId, usize)>,
}

impl Taken<'_> {
    /// Whether it edits a hypothesis that the error is about.
    fn edits_places_of(&self, error: &Fault) -> bool {
        error.places.iter().any(|place| self.places.contains(place))
    }

    /// Whether it edits a file that the error is about.
    fn edits_files_of(&self, error: &Fault) -> bool {
        let is_edited = |file: FileId| self.fix.edits.iter().any(|edit| edit.file == file);
        is_edited(error.file) || error.places.iter().any(|(file, _)| is_edited(*file))
    }
}

/// Errors, and how often each is there.
#[derive(Debug, Default, Clone)]
struct Errors(BTreeMap<Fault, usize>);

impl Errors {
    fn of(report: &Report) -> Self {
        let mut errors = Self::default();
        for error in &report.errors {
            *errors.0.entry(error.clone()).or_default() += 1;
        }
        errors
    }

    fn count(&self, error: &Fault) -> usize {
        self.0.get(error).copied().unwrap_or(0)
    }

    /// Those that are here more often than there.
    fn more_than<'a>(&'a self, there: &'a Self) -> impl Iterator<Item = (&'a Fault, usize)> {
        let is_more = |(error, count): &(&Fault, &usize)| **count > there.count(error);
        self.0.iter().filter(is_more).map(|(error, count)| (error, *count))
    }

    /// Makes each as many as there, where those are more.
    fn widen(&mut self, there: &Self) {
        for (error, &count) in &there.0 {
            let own = self.0.entry(error.clone()).or_default();
            *own = (*own).max(count);
        }
    }

    /// The fixes among the `taken` ones that are withheld for the errors that are here more often than they are
    /// `allowed`.
    fn culprits(&self, allowed: &Self, taken: &[Taken<'_>], sources: &Sources) -> Vec<Withheld> {
        let mut culprits: BTreeMap<Key, Withheld> = BTreeMap::new();
        for (error, _) in self.more_than(allowed) {
            let mut suspects: Vec<_> =
                taken.iter().filter(|it| it.edits_places_of(error)).collect();
            if suspects.is_empty() {
                suspects = taken.iter().filter(|it| it.edits_files_of(error)).collect();
            }
            if suspects.is_empty() {
                suspects = taken.iter().collect();
            }
            // What is trusted less goes first.
            let least = suspects.iter().map(|it| it.fix.applicability).max();
            suspects.retain(|it| Some(it.fix.applicability) == least);
            for Taken { found, fix, .. } in suspects {
                let key = Key::new(found, fix, sources);
                culprits.entry(key.clone()).or_insert_with(|| Withheld {
                    file: found.primary.file,
                    message: fix.message.clone(),
                    error: error.rule,
                    error_file: error.file,
                    key,
                });
            }
        }
        culprits.into_values().collect()
    }
}

/// The fixes of one round, and their edits by file, in order.
fn select<'r>(
    outcome: &'r Outcome,
    sources: &Sources,
    trust: Applicability,
) -> (Vec<Taken<'r>>, BTreeMap<FileId, Vec<Edit>>) {
    let (mut all, mut places) = (Vec::new(), Places::new());
    let mut parts: BTreeMap<FileId, Parts> = BTreeMap::new();
    // By hypothesis that is changed other than inside of a pattern: whether only by additions.
    let mut changed: BTreeMap<(FileId, usize), bool> = BTreeMap::new();
    let mut found: Vec<_> = outcome.report.diagnostics.iter().collect();
    found.sort_by_cached_key(|diagnostic| rules::position(diagnostic.rule));
    for diagnostic in found {
        let Some(fix) = &diagnostic.fix else { continue };
        let own = outcome.report.applicability(fix);
        let is_trusted = own <= trust && own != Applicability::DisplayOnly;
        let spoils = |edit: &Edit| outcome.spoiled.contains(&edit.file);
        if !is_trusted || fix.edits.iter().any(spoils) {
            continue;
        }
        if !outcome.withheld.is_empty() {
            let key = Key::new(diagnostic, fix, sources);
            if outcome.withheld.iter().any(|withheld| withheld.key == key) {
                continue;
            }
        }
        let mut edited = BTreeSet::new();
        let mut theirs: Vec<((FileId, usize), bool)> = Vec::new();
        for edit in &fix.edits {
            let parts = parts.entry(edit.file).or_insert_with(|| Parts::of(sources, edit.file));
            if let Some((number, is_inside)) = parts.hypothesis(edit.span) {
                edited.insert((edit.file, number));
                if !is_inside {
                    theirs.push(((edit.file, number), edit.addition.is_some()));
                }
            }
        }
        let goes = |(place, adds): &((FileId, usize), bool)| {
            changed.get(place).is_none_or(|only_adds| *only_adds && *adds)
        };
        if theirs.iter().all(goes) && fits(&places, fix) {
            for edit in &fix.edits {
                let at = places.entry(edit.file).or_default().entry(edit.span.start).or_default();
                at.push(edit);
            }
            for (place, adds) in theirs {
                *changed.entry(place).or_insert(true) &= adds;
            }
            all.push(Taken { found: diagnostic, fix, places: edited });
        }
    }
    let joined = |(file, edits): (FileId, BTreeMap<u32, Vec<&Edit>>)| {
        (file, edits.values().filter_map(|edits| Edit::together(edits)).collect())
    };
    (all, places.into_iter().map(joined).collect())
}

/// The edits of a round by where they start; those of one place are made together.
type Places<'r> = BTreeMap<FileId, BTreeMap<u32, Vec<&'r Edit>>>;

/// The hypotheses of a file, each with the strings of its patterns.
struct Parts(Vec<(Span, Vec<Span>)>);

impl Parts {
    fn of(sources: &Sources, file: FileId) -> Self {
        let document = json::parse(sources.get(file).text());
        let register = Register::read(&document);
        let parts = register.hypotheses.iter().map(|hypothesis| {
            (hypothesis.span, hypothesis.slots().map(|slot| slot.text.span()).collect())
        });
        Self(parts.collect())
    }

    /// The number of the hypothesis that an edit changes, and whether only inside of a pattern.
    fn hypothesis(&self, edit: Span) -> Option<(usize, bool)> {
        let after = self.0.partition_point(|(span, _)| span.start <= edit.start);
        let number = after.checked_sub(1)?;
        let (span, patterns) = &self.0[number];
        let is_inside = |pattern: &Span| pattern.start < edit.start && edit.end < pattern.end;
        span.contains(edit).then(|| (number, patterns.iter().any(is_inside)))
    }
}

/// Whether no edit of `fix` touches one that is taken, between the two at least one byte staying; or is
/// made together with those.
fn fits(places: &Places<'_>, fix: &Fix) -> bool {
    fix.edits.iter().all(|edit| {
        let Some(others) = places.get(&edit.file) else { return true };
        // Those that are taken do not touch, so only the last one before the end of this can reach it.
        let last = others.range(..=edit.span.end).next_back();
        let last = last.and_then(|(_, others)| others.first());
        last.is_none_or(|other| other.span.end < edit.span.start || edit.goes_with(other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Diagnostic, Label, Severity};
    use crate::source::Source;
    use crate::span::Span;

    fn edit(file: u32, start: usize, end: usize) -> Edit {
        Edit::new(FileId(file), Span::new(start, end), "")
    }

    fn fix(edits: Vec<Edit>) -> Fix {
        Fix { message: String::new(), edits, applicability: Applicability::Safe }
    }

    #[test]
    fn fixes_that_touch_do_not_fit() {
        let there = [edit(0, 10, 20), edit(0, 30, 30)];
        let mut taken = Places::new();
        for edit in &there {
            taken.entry(edit.file).or_default().insert(edit.span.start, vec![edit]);
        }
        for (start, end, expected) in [
            (0, 9, true),
            (0, 10, false),
            (5, 40, false),
            (12, 13, false),
            (20, 20, false),
            (21, 29, true),
            (21, 30, false),
            (30, 30, false),
            (31, 31, true),
        ] {
            assert_eq!(fits(&taken, &fix(vec![edit(0, start, end)])), expected, "{start}..{end}");
        }
        assert!(fits(&taken, &fix(vec![edit(1, 10, 20)])));
        // All edits or none.
        assert!(!fits(&taken, &fix(vec![edit(1, 10, 20), edit(0, 15, 16)])));
    }

    fn sources(texts: &[&str]) -> Sources {
        let name = |(index, text): (usize, &&str)| {
            Source::new(format!("{index}.json"), text.as_bytes().to_vec())
        };
        Sources::new(texts.iter().enumerate().map(name).collect())
    }

    fn texts(sources: &Sources) -> Vec<&str> {
        sources.iter().map(|(_, source)| source.text()).collect()
    }

    fn found(fix: Fix) -> Diagnostic {
        let place = Label::new(fix.edits[0].file, fix.edits[0].span, "");
        Diagnostic::new("r", Severity::Error, "m", place).with_fix(fix)
    }

    /// Finds every `a` and wants `b` there.
    fn letters(sources: &Sources) -> Report {
        let places = sources.iter().flat_map(|(file, source)| {
            source.text().match_indices('a').map(move |(at, _)| (file, at))
        });
        let diagnostics = places
            .map(|(file, at)| {
                found(fix(vec![Edit { replacement: "b".to_owned(), ..edit(file.0, at, at + 1) }]))
            })
            .collect();
        Report { diagnostics, ..Report::default() }
    }

    #[test]
    fn what_touches_waits_for_the_next_round() {
        let mut sources = sources(&["aaa-a", "x", "a"]);
        let rounds = std::cell::Cell::new(0);
        let outcome = settle(&mut sources, Applicability::Safe, |sources| {
            rounds.set(rounds.get() + 1);
            letters(sources)
        });
        assert_eq!(texts(&sources), ["bbb-b", "x", "b"]);
        assert_eq!((outcome.report.summary.fixed, rounds.get()), (5, 3));
        let changed: Vec<_> = outcome.changed.into_iter().collect();
        assert_eq!(changed, [(FileId(0), "aaa-a".to_owned()), (FileId(2), "a".to_owned())]);
        assert!(!outcome.unsettled && outcome.spoiled.is_empty());
    }

    #[test]
    fn a_fix_of_two_files_is_made_in_both_or_in_none() {
        let both = |sources: &Sources| {
            let edits = vec![edit(0, 0, 1), edit(1, 0, 1)];
            let is_there = sources.get(FileId(0)).text().starts_with('a');
            let diagnostics = is_there.then(|| found(fix(edits))).into_iter().collect();
            Report { diagnostics, ..Report::default() }
        };
        let mut open = sources(&["a1", "a2"]);
        settle(&mut open, Applicability::Safe, both);
        assert_eq!(texts(&open), ["1", "2"]);
        let mut half = sources(&["a1", "a2"]);
        let outcome = settle(&mut half, Applicability::Safe, |sources| Report {
            sealed: vec![FileId(1)],
            ..both(sources)
        });
        assert_eq!(texts(&half), ["a1", "a2"]);
        assert_eq!((outcome.changed.len(), outcome.report.diagnostics.len()), (0, 1));
    }

    #[test]
    fn what_would_not_parse_is_taken_back() {
        let mut sources = sources(&["a", "a"]);
        let outcome = settle(&mut sources, Applicability::Safe, |sources| {
            let is_broken = sources.get(FileId(1)).text() == "b";
            Report {
                sealed: is_broken.then_some(FileId(1)).into_iter().collect(),
                ..letters(sources)
            }
        });
        assert_eq!(texts(&sources), ["b", "a"]);
        assert_eq!(outcome.spoiled, [FileId(1)]);
        assert_eq!((outcome.changed.len(), outcome.report.summary.fixed), (1, 1));
    }

    #[test]
    fn fixes_that_undo_each_other_come_to_an_end() {
        let turn = |sources: &Sources| {
            let other = if sources.get(FileId(0)).text() == "a" { "b" } else { "a" };
            let turned = Edit { replacement: other.to_owned(), ..edit(0, 0, 1) };
            Report { diagnostics: vec![found(fix(vec![turned]))], ..Report::default() }
        };
        let mut sources = sources(&["a"]);
        let outcome = settle(&mut sources, Applicability::Safe, turn);
        assert!(outcome.unsettled);
        assert_eq!(outcome.report.summary.fixed, MAX_ROUNDS);
        // As many rounds there as back.
        assert!(outcome.changed.is_empty());
    }

    #[test]
    fn trust_is_asked_for() {
        for (trust, own, expected) in [
            (Applicability::Safe, Applicability::Unsafe, "a"),
            (Applicability::Unsafe, Applicability::Unsafe, "b"),
            (Applicability::Unsafe, Applicability::Safe, "b"),
            (Applicability::DisplayOnly, Applicability::DisplayOnly, "a"),
        ] {
            let mut sources = sources(&["a"]);
            settle(&mut sources, trust, |sources| {
                let mut report = letters(sources);
                for fix in report.diagnostics.iter_mut().filter_map(|found| found.fix.as_mut()) {
                    fix.applicability = own;
                }
                report
            });
            assert_eq!(texts(&sources), [expected], "{trust:?} {own:?}");
        }
    }

    /// Registers of as many families, each with these hypotheses: an id and a pattern.
    fn families(count: usize, hypotheses: impl Fn(usize) -> Vec<(String, String)>) -> Sources {
        let register = |number: usize| {
            let list: Vec<String> = hypotheses(number)
                .into_iter()
                .map(|(id, pattern)| {
                    format!(
                        "    {{ \"id\": \"{id}\", \"description\": \"d\", \"canonical_frame_regex\": \"{pattern}\" }}"
                    )
                })
                .collect();
            let text = format!(
                "{{\n  \"family\": \"f{number}\",\n  \"hypotheses\": [\n{}\n  ]\n}}\n",
                list.join(",\n")
            );
            Source::new(format!("f{number:03}.json"), text.into_bytes())
        };
        Sources::new((0..count).map(register).collect())
    }

    #[test]
    fn many_links_are_made_in_a_round_or_two() {
        let levels = crate::report::Levels::default();
        let options = Options::new(&levels, crate::schema::Schema::embedded());
        let hypotheses = |number: usize| {
            let other = (0..3).map(|it| (format!("O{number}x{it}"), format!("own{number}x{it}")));
            other.chain([(format!("H{number}"), "pool::take".to_owned())]).collect()
        };
        for count in [2, 10, 99] {
            let mut sources = families(count, hypotheses);
            let lints = std::cell::Cell::new(0);
            let outcome = settle(&mut sources, Applicability::Safe, |sources| {
                lints.set(lints.get() + 1);
                linter::lint_for_fixes(sources, &options)
            });
            assert!(lints.get() <= 3, "{count} families take {} looks", lints.get());
            assert_eq!(outcome.report.summary.fixed, count * (count - 1) / 2);
            assert_eq!(linter::lint(&sources, &options).summary.warnings, 0);
            // All links of a hypothesis, in order.
            let last = sources.iter().last().map(|(_, source)| source.text()).unwrap_or_default();
            let mut names: Vec<String> =
                (0..count - 1).map(|it| format!("\"f{it}\": \"H{it}\"")).collect();
            names.sort();
            assert!(
                last.contains(&format!("\"links\": {{{}}}", names.join(", ")))
                    || last.contains(&format!("\"links\": {{ {} }}", names.join(", "))),
                "{last}"
            );
        }
    }

    #[test]
    fn links_back_are_made_together() {
        let mut levels = crate::report::Levels::default();
        levels.set(rules::find("one-sided-link").unwrap(), crate::rules::Level::Warn);
        let options = Options::new(&levels, crate::schema::Schema::embedded());
        let hypotheses =
            |number: usize| vec![(format!("H{number}"), format!("pool::take{number}"))];
        // All link to the first one, which claims the same frame.
        let mut sources = families(40, hypotheses);
        for (file, number) in (0..40_u32).map(|number| (FileId(number), number)) {
            let text =
                sources.get(file).text().replace(&format!("pool::take{number}"), "pool::take");
            let back = if number == 0 { "" } else { ", \"links\": {\"f0\": \"H0\"}" };
            sources.replace(file, text.replace("pool::take\"", &format!("pool::take\"{back}")));
        }
        let mut levels_of_pairs = levels.clone();
        levels_of_pairs.set(rules::find("undeclared-link").unwrap(), crate::rules::Level::Allow);
        let options = Options { levels: &levels_of_pairs, ..options };
        let lints = std::cell::Cell::new(0);
        let outcome = settle(&mut sources, Applicability::Safe, |sources| {
            lints.set(lints.get() + 1);
            linter::lint_for_fixes(sources, &options)
        });
        assert_eq!((lints.get(), outcome.report.summary.fixed), (2, 39));
        // Its own id, and those of all others.
        assert_eq!(sources.get(FileId(0)).text().matches("\"H").count(), 40);
    }

    /// In file 0 finds an `a`, of which the fix makes a `b`; and where `bad` holds of all texts, an error.
    fn with_error(
        sources: &Sources,
        trust: Applicability,
        bad: impl Fn(&[&str]) -> bool,
    ) -> Report {
        let mut report = letters(sources);
        for found in &mut report.diagnostics {
            if let Some(fix) = &mut found.fix {
                fix.applicability = trust;
            }
        }
        if bad(&texts(sources)) {
            report.errors.push(Fault { rule: "bad", file: FileId(1), places: Vec::new() });
        }
        report
    }

    #[test]
    fn what_an_error_comes_of_is_withheld() {
        let one = |sources: &Sources| {
            with_error(sources, Applicability::Safe, |texts| texts[1].contains('b'))
        };
        let mut some = sources(&["a", "a", "a"]);
        let outcome = settle(&mut some, Applicability::Safe, one);
        assert_eq!(texts(&some), ["b", "a", "b"]);
        let files: Vec<_> = outcome.withheld.iter().map(|it| (it.file, it.error)).collect();
        assert_eq!(files, [(FileId(1), "bad")]);
        assert_eq!(outcome.report.summary.fixed, 2);
        let left: Vec<_> =
            outcome.report.diagnostics.iter().filter_map(|it| it.fix.as_ref()).collect();
        assert!(left.iter().all(|fix| fix.applicability == Applicability::DisplayOnly));
        assert_eq!(left.len(), 1);
        // Where it was there before, it is no reason.
        let mut there = sources(&["a", "ab"]);
        settle(&mut there, Applicability::Safe, one);
        assert_eq!(texts(&there), ["b", "bb"]);
        // Nor where it goes again.
        let mut passing = sources(&["aa", "x"]);
        settle(&mut passing, Applicability::Safe, |sources| {
            with_error(sources, Applicability::Safe, |texts| texts[0] == "ba")
        });
        assert_eq!(texts(&passing), ["bb", "x"]);
        // Of one that no file of the fixes is named for, all are.
        let mut all = sources(&["a", "x", "a"]);
        settle(&mut all, Applicability::Safe, |sources| {
            with_error(sources, Applicability::Safe, |texts| texts.contains(&"b"))
        });
        assert_eq!(texts(&all), ["a", "x", "a"]);
    }
}
