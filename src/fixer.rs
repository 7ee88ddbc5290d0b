//! Applies fixes until nothing changes: which ones go together, and what becomes of the sources.
//!
//! Uses `linter`, `report`, `fix`, `source` and `span`. In memory: `writer` puts the result on disk.
//!
//! In each round the fixes of the findings are taken in the findings' total order. One is taken whole or
//! not at all, and only where none of its edits touches one that was taken before; what had to wait comes
//! in a later round, if its finding is still there. Then everything is linted again. A round after which a
//! file no longer parses is taken back, and no fix edits that file from then on.

use std::collections::BTreeMap;

use crate::fix::{self, Applicability, Edit, Fix};
use crate::linter::{self, Options};
use crate::report::Report;
use crate::source::Sources;
use crate::span::FileId;

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
    let report = linter::lint(sources, options);
    let mut outcome =
        Outcome { report, changed: BTreeMap::new(), spoiled: Vec::new(), unsettled: false };
    let mut fixed = 0;
    for _ in 0..MAX_ROUNDS {
        let (count, edits) = select(&outcome, trust);
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
        let report = linter::lint(sources, options);
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
    outcome.unsettled = select(&outcome, trust).0 > 0;
    outcome.report.summary.fixed = fixed;
    // Where fixes went round in a circle, a file may be what it was.
    outcome.changed.retain(|&file, text| sources.get(file).text() != text);
    outcome
}

/// The edits of one file by where they start.
type Taken<'r> = BTreeMap<FileId, BTreeMap<u32, &'r Edit>>;

/// The fixes of one round: how many, and their edits.
fn select(outcome: &Outcome, trust: Applicability) -> (usize, Taken<'_>) {
    let (mut count, mut taken) = (0, Taken::new());
    for diagnostic in &outcome.report.diagnostics {
        let Some(fix) = &diagnostic.fix else { continue };
        let is_trusted =
            fix.applicability <= trust && fix.applicability != Applicability::DisplayOnly;
        let spoils = |edit: &Edit| outcome.spoiled.contains(&edit.file);
        if !is_trusted || !outcome.report.takes(fix) || fix.edits.iter().any(spoils) {
            continue;
        }
        if fits(&taken, fix) {
            for edit in &fix.edits {
                taken.entry(edit.file).or_default().insert(edit.span.start, edit);
            }
            count += 1;
        }
    }
    (count, taken)
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
}
