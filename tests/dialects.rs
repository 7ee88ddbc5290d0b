//! `dialect-mismatch` against both engines, on random patterns: what it says is so, and what a search of all
//! short frames finds it finds too.

use std::fs;
use std::process::Command;

use reglint::overlap::matcher::{Matcher, Outcome};
use reglint::pattern::{Versions, compile_rust, parse};
use serde_json::{Value, json};

mod support;
use support::{Rng, cases, seed};

/// What patterns are made of: constructs that differ, and neighbours that can be mistaken for them.
const PIECES: &[&str] = &[
    "a",
    "b",
    "-",
    "&",
    "[[ab]c]",
    "[a&&b]",
    "[a-c&&[^b]]",
    "[a-b--a]",
    "[a~~b]",
    "[[:alpha:]]",
    "[[:^alpha:]]",
    "[a-]",
    "[-b]",
    "[]a]",
    "[^]b]",
    "[a&b]",
    r"[\w-]",
    r"[\w&&b]",
    r"\<",
    r"\>",
    r"\b",
    r"\B",
    r"\b{start}",
    r"\b{end}",
    r"\N{DIGIT ONE}",
    "(?#a)",
    r"(?#\)b)",
    "(?i:ı)",
    "(?i:[ı])",
    "(?i:a)",
    "$",
    "^",
    ".",
    "(a|b)",
    "(?=a)",
    "(?!b)",
    "(?<=a)",
    "(?<!b)",
    "a*",
    "b+?",
    "a{,2}",
    "b{2}",
    "(?:a|)",
    "(?>a|ab)",
    "a*+",
    "|",
    r"\]",
    r"\[",
    r"[\]a]",
    "[+--]",
    "(?P<n>a)?(?(n)b|c)",
    "(a)?(?(1)b|-)",
    "{",
    "}",
    r"\x61",
    "(?x: a # b\n)",
    r"\W",
    r"[^\W]",
    r"\.",
];

/// All frames of up to three of the characters that tell the pieces apart.
fn frames() -> Vec<String> {
    let letters = ["a", "b", "c", "-", "&", "1", "i", "[", "]", "<", "{", " "];
    let mut all: Vec<String> = letters.iter().map(ToString::to_string).collect();
    let mut last = all.clone();
    for _ in 1..3 {
        last = last
            .iter()
            .flat_map(|text| letters.iter().map(move |c| format!("{text}{c}")))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The patterns that the rule reports, by number.
fn reported(patterns: &[String]) -> Vec<usize> {
    let hypotheses: Vec<Value> = patterns
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "id": format!("P{at}"), "description": "d", "canonical_frame_regex": text }))
        .collect();
    let folder = tempfile::tempdir().expect("can be made");
    let file = folder.path().join("r.json");
    fs::write(&file, json!({ "hypotheses": hypotheses }).to_string()).expect("can be written");
    let out = Command::new(env!("CARGO_BIN_EXE_reglint"))
        .args(["--isolated", "--select", "dialect-mismatch", "--format", "json"])
        .arg(&file)
        .output()
        .expect("runs");
    let report: Value = serde_json::from_slice(&out.stdout).expect("is JSON");
    let list = report["diagnostics"].as_array().expect("is a list");
    list.iter()
        .filter_map(|one| one["hypothesis"].as_str()?.strip_prefix('P')?.parse().ok())
        .collect()
}

#[test]
fn agrees_with_both_engines_on_all_short_frames() {
    let mut rng = Rng::new(seed());
    let frames = frames();
    // One register holds at most as many findings as are shown.
    let mut patterns = Vec::new();
    while patterns.len() < cases(400).min(900) {
        let text: String = (0..=rng.below(4)).map(|_| rng.pick(PIECES)).collect();
        if parse(&text, Versions::ALL).is_ok()
            && compile_rust(&text).is_ok()
            && !patterns.contains(&text)
        {
            patterns.push(text);
        }
    }
    let reported = reported(&patterns);
    let (mut missed, mut differing) = (Vec::new(), 0);
    for (at, text) in patterns.iter().enumerate() {
        let rust = compile_rust(text).expect("was compiled");
        let python = Matcher::new(&parse(text, Versions::ALL).expect("was parsed"));
        let differs = frames.iter().find(|frame| {
            let claims = matches!(python.search(frame), Outcome::Match(..));
            rust.is_match(frame).is_ok_and(|other| other != claims)
        });
        if let Some(frame) = differs {
            differing += 1;
            if !reported.contains(&at) {
                missed.push((text, frame));
            }
        }
    }
    assert!(differing > patterns.len() / 20, "the pieces do not differ");
    assert!(missed.is_empty(), "missed: {missed:?}");
}
