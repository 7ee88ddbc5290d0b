//! The case folders: `tests/cases/<group>/<case>/` holds input files and a `transcript.txt` whose
//! commands are run in a copy of the folder. For a rule the group is named as the rule, and the
//! case begins with `fires-` or `quiet-`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::transcript::{blessing, copy, difference, project, replay, scratch, walk};

/// The folder of all cases.
pub fn folder() -> PathBuf {
    project().join("tests/cases")
}

/// Every case: its folder below [`folder`], and its transcript as it is written down.
pub fn all() -> BTreeMap<PathBuf, String> {
    let transcripts = walk(&folder()).into_iter().filter(|path| path.ends_with("transcript.txt"));
    transcripts
        .map(|path| {
            let text = fs::read_to_string(&path).expect("is text");
            let case = path.parent().expect("has one").strip_prefix(folder()).expect("below it");
            (case.to_path_buf(), text)
        })
        .collect()
}

#[test]
fn transcripts_hold() {
    let mut failures = Vec::new();
    let cases = all();
    assert!(cases.len() > 20, "the cases are gone");
    for (case, expected) in &cases {
        let from = folder().join(case);
        let scratch = scratch();
        copy(&from, scratch.path());
        fs::remove_file(scratch.path().join("transcript.txt")).expect("was copied");
        let now = replay(expected, scratch.path());
        let runs = now.lines().any(|line| line.starts_with("$ ") && line.contains("reglint "));
        assert!(runs, "{} runs nothing", case.display());
        if blessing() {
            fs::write(from.join("transcript.txt"), &now).expect("can be written");
        } else if let Some(difference) = difference(expected, &now) {
            failures.push(format!("{}: {difference}", case.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_case_has_a_transcript() {
    let cases = all();
    for path in walk(&folder()) {
        let covered = path.ancestors().any(|folder| {
            folder.strip_prefix(self::folder()).is_ok_and(|case| cases.contains_key(case))
        });
        assert!(covered, "{} belongs to no case with a transcript.txt", path.display());
    }
}
