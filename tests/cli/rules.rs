//! The set of rules is closed: each has its page, its cases and its place in the README.

use std::fs;

use reglint::rules::{FixAvailability, Level, RULES};

use crate::cases;
use crate::transcript::project;

#[test]
fn each_rule_has_cases_that_fire_and_cases_that_stay_quiet() {
    let cases = cases::all();
    for rule in RULES {
        let of = |kind: &str| -> Vec<_> {
            let is_of = |case: &std::path::PathBuf| {
                case.starts_with(rule.name)
                    && case.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind))
            };
            cases.iter().filter(|(case, _)| is_of(case)).collect()
        };
        let (fires, quiet) = (of("fires-"), of("quiet-"));
        assert!(!fires.is_empty() && !quiet.is_empty(), "{} lacks a case", rule.name);
        // The concise, the text and the JSON form all name the rule in one of these ways.
        let named = |transcript: &str| {
            transcript.contains(&format!("[{}]", rule.name))
                || transcript.contains(&format!("\"rule\":\"{}\"", rule.name))
        };
        for (case, transcript) in fires {
            assert!(named(transcript), "{} does not fire", case.display());
        }
        for (case, transcript) in quiet {
            assert!(!named(transcript), "{} is not quiet", case.display());
        }
    }
}

#[test]
fn no_case_group_is_named_like_a_rule_that_is_gone() {
    let topics = [
        "allowances",
        "baseline",
        "command-line",
        "configuration",
        "evidence",
        "fixes",
        "input",
        "output",
        "registers",
    ];
    for case in cases::all().keys() {
        let group = case.iter().next().expect("is not empty").to_string_lossy().into_owned();
        let known = topics.contains(&group.as_str()) || RULES.iter().any(|rule| rule.name == group);
        assert!(known, "{} belongs to no rule", case.display());
    }
}

#[test]
fn the_readme_lists_every_rule_as_it_is() {
    let readme = fs::read_to_string(project().join("README.md")).expect("is there");
    for rule in RULES {
        let default = match rule.default {
            Level::Deny => "error",
            Level::Warn => "warning",
            Level::Allow => "off",
        };
        let fix = match rule.fix {
            FixAvailability::None => "",
            FixAvailability::Sometimes => "sometimes",
        };
        let row = format!(
            "| [`{name}`](docs/rules/{name}.md) | {default} | {fix} | {} |",
            rule.summary,
            name = rule.name
        )
        .replace("|  |", "| |");
        assert!(readme.contains(&row), "the README lacks this row:\n{row}");
    }
    let rows = readme.lines().filter(|line| line.starts_with("| [`")).count();
    assert_eq!(rows, RULES.len(), "the README lists a rule that is not there");
}

#[test]
fn each_rule_has_its_own_file_and_page() {
    let mut pages: Vec<_> = fs::read_dir(project().join("docs/rules"))
        .expect("is there")
        .map(|entry| entry.expect("can be listed").file_name().into_string().expect("is text"))
        .collect();
    pages.sort();
    let mut expected: Vec<_> = RULES.iter().map(|rule| format!("{}.md", rule.name)).collect();
    expected.sort();
    assert_eq!(pages, expected);
    for rule in RULES {
        let file = format!("src/rules/{}.rs", rule.name.replace('-', "_"));
        assert!(project().join(&file).is_file(), "{file} is missing");
        assert!(rule.page.starts_with(&format!("# {}\n", rule.name)), "{}", rule.name);
        let name_is_plain = rule.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        assert!(name_is_plain, "{}", rule.name);
        assert!(!rule.summary.ends_with('.') && !rule.summary.contains('|'), "{}", rule.name);
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
}
