//! Public cases and suites that stand beside the checkout on some machines. Where they are not,
//! these tests say so and pass: what they check is checked by the project's own cases too.

use std::fs;
use std::path::PathBuf;

use crate::transcript::{project, reglint, show};

/// The folder of shared data, if it is there.
fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("REGLINT_SHARED")
        .map_or_else(|| project().join("../shared"), PathBuf::from);
    let there = folder.join("cases").is_dir();
    if !there {
        eprintln!("skipped: no shared data at {}", folder.display());
    }
    there.then_some(folder)
}

/// The findings of a case as `rule@line:column`, and how the run ended.
fn findings(case: &str, arguments: &[&str]) -> Option<(Vec<String>, i32)> {
    let folder = shared()?;
    let case = fs::read_dir(folder.join("cases"))
        .expect("is there")
        .map(|entry| entry.expect("can be listed").path())
        .find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(case)))
        .expect("the case is there");
    let output = reglint(&case)
        .args(["--isolated", "--format", "concise", "--quiet"])
        .args(arguments)
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text
        .lines()
        .map(|line| {
            let mut parts = line.splitn(4, ':');
            let (_, line_number, column) = (parts.next(), parts.next(), parts.next());
            let rest = parts.next().unwrap_or_default();
            let rule = rest.split('[').nth(1).and_then(|rest| rest.split(']').next());
            format!("{}@{}:{}", rule.unwrap_or(rest), line_number.unwrap(), column.unwrap())
        })
        .collect();
    Some((found, output.status.code().unwrap_or_else(|| panic!("{}", show(&output)))))
}

fn expect(case: &str, arguments: &[&str], expected: &[&str], exit: i32) {
    if let Some((found, code)) = findings(case, arguments) {
        assert_eq!(
            (found, code),
            (expected.iter().map(ToString::to_string).collect(), exit),
            "{case}"
        );
    }
}

#[test]
fn public_complaints_are_answered() {
    expect("01", &["r.json"], &["duplicate-key@8:7"], 1);
    expect("03", &["r.json"], &["duplicate-key@12:3", "schema-violation@12:17"], 1);
    expect("04", &["r.json"], &["schema-violation@7:32", "schema-violation@16:7"], 1);
    expect("07", &["r.json"], &["invalid-pattern@7:44"], 1);
    expect("08", &["r.json"], &["invalid-pattern@7:33"], 1);
    expect("14", &["registers/a.json", "registers/b.json"], &["duplicate-id@5:13"], 1);
    expect("14", &["registers/b.json", "registers/a.json"], &["duplicate-id@5:13"], 1);
    expect("23", &["r.json"], &["invalid-encoding@1:1"], 1);
    expect("25", &["r.json"], &["invalid-pattern@1:85"], 1);
    expect("30", &["r.json"], &["duplicate-id@19:13", "duplicate-id@26:13"], 1);
}
