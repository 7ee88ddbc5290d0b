//! Applies fixes until nothing changes: which ones go together, and what becomes of the sources.
//!
//! Uses `linter`, `report`, `rules`, `register`, `json`, `fix`, `source` and `span`. In memory: `writer` puts
//! the result on disk.
//!
//! In each round the fixes of the findings are taken in the order of the rules and then of the findings. One
//! is taken whole or not at all, and only where none of its edits touches one that was taken before, nor
//! two of them change one hypothesis other than inside of a pattern: each alone may be right, and both
//! together give a member twice. What had to wait comes
//! in a later round, if its finding is still there. Then everything is linted again. A round after which a
//! file no longer parses is taken back, and no fix edits that file from then on.

use std::collections::{BTreeMap, BTreeSet};

use crate::fix::{self, Applicability, Edit, Fix};
use crate::linter::{self, Options};
use crate::register::Register;
use crate::report::Report;
use crate::source::Sources;
use crate::span::{FileId, Span};
use crate::{json, rules};

/// So many rounds are made at most. One is enough where no fixes touch; more mean that fixes undo each
/// other.
pub const MAX_ROUNDS: usize = 100;

/// What fixing led to.
#[derive(Debug)]
pub struct Outcome {
    /// What is still found in the sources as they are now; counts the fixes that were applied.
    pub report: Report,
    /// The sources that changed, with the text that each had, in the order of the paths.
    pub changed: BTreeMap<FileId, String>,
    /// The files that some fix would have left so that they do not parse; that fix was not applied.
    pub spoiled: Vec<FileId>,
    /// Whether there was still something to apply after [`MAX_ROUNDS`].
    pub unsettled: bool,
}

/// Lints `sources` and applies every fix up to `trust`, again until none is left.
/// [`Applicability::DisplayOnly`] fixes are never applied.
pub fn fix(sources: &mut Sources, options: &Options<'_>, trust: Applicability) -> Outcome {
    settle(sources, trust, |sources| linter::lint(sources, options))
}

/// [`fix`], whatever it is that finds things.
fn settle(
    sources: &mut Sources,
    trust: Applicability,
    lint: impl Fn(&Sources) -> Report,
) -> Outcome {
    let report = lint(sources);
    let mut outcome =
        Outcome { report, changed: BTreeMap::new(), spoiled: Vec::new(), unsettled: false };
    let mut fixed = 0;
    for _ in 0..MAX_ROUNDS {
        let (count, edits) = select(&outcome, sources, trust);
        if count == 0 {
            outcome.report.summary.fixed = fixed;
            return outcome;
        }
        let before: Vec<(FileId, String)> = edits
            .iter()
            .map(|(&file, edits)| {
                let text = fix::apply(sources.get(file).text(), edits.values().copied());
                (file, sources.replace(file, text))
            })
            .collect();
        let report = lint(sources);
        let spoils = |file: &FileId| report.sealed.binary_search(file).is_ok();
        let spoiled: Vec<FileId> =
            before.iter().map(|(file, _)| *file).filter(|file| spoils(file)).collect();
        if spoiled.is_empty() {
            fixed += count;
            for (file, text) in before {
                outcome.changed.entry(file).or_insert(text);
            }
            outcome.report = report;
        } else {
            for (file, text) in before {
                sources.replace(file, text);
            }
            outcome.spoiled.extend(spoiled);
        }
    }
    outcome.unsettled = select(&outcome, sources, trust).0 > 0;
    outcome.report.summary.fixed = fixed;
    // Where fixes went round in a circle, a file may be what it was.
    outcome.changed.retain(|&file, text| sources.get(file).text() != text);
    outcome
}

/// The edits of one file by where they start.
type Taken<'r> = BTreeMap<FileId, BTreeMap<u32, &'r Edit>>;

/// The fixes of one round: how many, and their edits.
fn select<'r>(outcome: &'r Outcome, sources: &Sources, trust: Applicability) -> (usize, Taken<'r>) {
    let (mut count, mut taken) = (0, Taken::new());
    let mut parts: BTreeMap<FileId, Parts> = BTreeMap::new();
    let mut changed = BTreeSet::new();
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
        let theirs: BTreeSet<(FileId, usize)> = fix
            .edits
            .iter()
            .filter_map(|edit| {
                let parts = parts.entry(edit.file).or_insert_with(|| Parts::of(sources, edit.file));
                Some((edit.file, parts.hypothesis(edit.span)?))
            })
            .collect();
        if fits(&taken, fix) && changed.is_disjoint(&theirs) {
            for edit in &fix.edits {
                taken.entry(edit.file).or_default().insert(edit.span.start, edit);
            }
            changed.extend(theirs);
            count += 1;
        }
    }
    (count, taken)
}

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

    /// The number of the hypothesis that an edit changes other than inside of a pattern.
    fn hypothesis(&self, edit: Span) -> Option<usize> {
        let after = self.0.partition_point(|(span, _)| span.start <= edit.start);
        let number = after.checked_sub(1)?;
        let (span, patterns) = &self.0[number];
        let is_inside = |pattern: &Span| pattern.start < edit.start && edit.end < pattern.end;
        (span.contains(edit) && !patterns.iter().any(is_inside)).then_some(number)
    }
}

/// Whether no edit of `fix` touches one that is taken: between the two at least one byte stays.
fn fits(taken: &Taken<'_>, fix: &Fix) -> bool {
    fix.edits.iter().all(|edit| {
        let Some(others) = taken.get(&edit.file) else { return true };
        // Those that are taken do not touch, so only the last one before the end of this can reach it.
        let last = others.range(..=edit.span.end).next_back();
        last.is_none_or(|(_, other)| other.span.end < edit.span.start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Diagnostic, Label, Severity};
    use crate::source::Source;
    use crate::span::Span;

    fn edit(file: u32, start: usize, end: usize) -> Edit {
        Edit { file: FileId(file), span: Span::new(start, end), replacement: String::new() }
    }

    fn fix(edits: Vec<Edit>) -> Fix {
        Fix { message: String::new(), edits, applicability: Applicability::Safe }
    }

    #[test]
    fn fixes_that_touch_do_not_fit() {
        let there = [edit(0, 10, 20), edit(0, 30, 30)];
        let mut taken = Taken::new();
        for edit in &there {
            taken.entry(edit.file).or_default().insert(edit.span.start, edit);
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
}
