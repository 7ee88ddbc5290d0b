//! The relation of random patterns, against brute force by CPython over all short frames.
//!
//! `tests/support/overlap_oracle.py` makes the patterns and the facts; every witness goes back to
//! it and is confirmed there. The number of checks is `REGLINT_CASES` (default 3,000; three a pair:
//! inclusion both ways, and shared text), the seed `REGLINT_SEED`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};

use reglint::overlap::matcher::Outcome;
use reglint::overlap::{Answer, Bound, Budget, Compiled, Kind, Reason, Sample, relate};
use reglint::pattern::{Versions, parse};
use serde_json::Value;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn python() -> Option<String> {
    let name = std::env::var("REGLINT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let new_enough = Command::new(&name)
        .args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
        .status()
        .is_ok_and(|status| status.success());
    new_enough.then_some(name)
}

fn oracle(python: &str, arguments: &[&str], input: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/overlap_oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the oracle failed");
    String::from_utf8(output.stdout).unwrap()
}

#[derive(Default)]
struct Tally {
    kinds: HashMap<&'static str, usize>,
    faults: Vec<String>,
    claims: Vec<Value>,
}

#[test]
fn no_disagreement_with_brute_force() {
    let Some(python) = python() else {
        println!("skipped: no python3 of version 3.11 or newer");
        return;
    };
    let (checks, seed) = (number("REGLINT_CASES", 3_000), number("REGLINT_SEED", 1));
    let mut tally = Tally::default();
    for line in oracle(&python, &["pairs", &seed.to_string(), &checks.to_string()], "").lines() {
        check_pool(&serde_json::from_str(line).unwrap(), &mut tally);
    }
    let input: Vec<String> = tally.claims.iter().map(Value::to_string).collect();
    let input = input.join("\n");
    for (claim, answer) in tally.claims.iter().zip(oracle(&python, &["confirm"], &input).lines()) {
        if answer != "true" {
            tally.faults.push(format!("CPython does not confirm {claim}"));
        }
    }
    println!("verdicts: {:?}; witnesses confirmed: {}", tally.kinds, tally.claims.len());
    assert!(tally.faults.is_empty(), "{} faults:\n{}", tally.faults.len(), tally.faults.join("\n"));
    let pairs: usize = tally.kinds.values().sum();
    let undecided = tally.kinds.get("undecided").copied().unwrap_or(0);
    assert!(pairs > 50 && undecided * 10 < pairs, "{undecided} of {pairs} undecided");
}

fn check_pool(pool: &Value, tally: &mut Tally) {
    let patterns: Vec<&str> =
        pool["patterns"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    let longest = pool["longest"].as_u64().unwrap() as usize;
    let asts: Vec<_> = patterns.iter().map(|p| parse(p, Versions::ALL).unwrap()).collect();
    let compiled: Vec<_> = asts.iter().map(|ast| Compiled::new(ast, Budget::default())).collect();
    for pair in pool["pairs"].as_array().unwrap() {
        let (i, j) = (pair[0].as_u64().unwrap() as usize, pair[1].as_u64().unwrap() as usize);
        let (a, b) = (&compiled[i], &compiled[j]);
        let [only_a, only_b, partial, both] = [2, 3, 4, 5].map(|at| pair[at].as_str());
        let relation = relate(a, b);
        let mut fault = |what: String| {
            tally.faults.push(format!("{:?} {:?}: {what}: {relation:?}", patterns[i], patterns[j]));
        };
        let (within_a, within_b, name) = match &relation.kind {
            Kind::Equal => (true, true, "equal"),
            Kind::AWithinB => (true, false, "within"),
            Kind::BWithinA => (false, true, "within"),
            Kind::Partial => (false, false, "partial"),
            Kind::None => (false, false, "none"),
            Kind::Undecided(_) => {
                *tally.kinds.entry("undecided").or_default() += 1;
                continue;
            }
        };
        *tally.kinds.entry(name).or_default() += 1;
        if let (true, Some(frame)) = (within_a, only_a) {
            fault(format!("only A claims {frame:?}"));
        }
        if let (true, Some(frame)) = (within_b, only_b) {
            fault(format!("only B claims {frame:?}"));
        }
        if let (Kind::None, Some(frame)) = (&relation.kind, partial) {
            fault(format!("partial in {frame:?}"));
        }
        // What is said to be only A's must be so, and must be a shortest.
        for (x, y, only, known) in [(i, j, within_a, only_a), (j, i, within_b, only_b)] {
            match compiled[x].within(&compiled[y]) {
                Answer::No(frame) => {
                    if only && name != "none" {
                        fault(format!("not within by {frame:?}"));
                    }
                    let length = frame.chars().count();
                    if known.is_none() && length <= longest && in_letters(&frame, pool) {
                        fault(format!("{frame:?} is news to CPython"));
                    }
                    let exact = compiled[x].is_exact() && compiled[y].is_exact();
                    if exact && known.is_some_and(|known| known.chars().count() < length) {
                        fault(format!("{frame:?} is not the shortest, {known:?} is shorter"));
                    }
                    tally.claims.push(serde_json::json!([
                        patterns[x],
                        patterns[y],
                        frame,
                        "only a"
                    ]));
                }
                Answer::Yes => {
                    if !only && *compiled[x].sample() != Sample::None {
                        fault("within after all".to_owned());
                    }
                }
                Answer::Undecided(_) => {
                    let empty = [x, y].iter().any(|&at| *compiled[at].sample() == Sample::None);
                    if !only && !empty && !matches!(relation.kind, Kind::Partial) {
                        fault("not known to be outside".to_owned());
                    }
                }
            }
        }
        let Some(witness) = &relation.witness else {
            if !matches!(relation.kind, Kind::None) && both.is_some() {
                fault("no witness".to_owned());
            }
            continue;
        };
        let what = if relation.kind == Kind::Partial { "partial" } else { "both" };
        tally.claims.push(serde_json::json!([patterns[i], patterns[j], witness.text, what]));
        let known = if relation.kind == Kind::Partial { partial } else { both };
        // A `::` for readability may make it longer; for a partial overlap the letters that the two
        // have in common may be written twice as well.
        let length = witness.text.chars().count();
        let added = 2 * witness.text.matches("::").count();
        let least = if what == "both" { length - added } else { length };
        let twice =
            what == "partial" && added > 0 && [i, j].iter().any(|&at| !patterns[at].contains("::"));
        if !twice
            && a.is_exact()
            && b.is_exact()
            && known.is_some_and(|known| known.chars().count() < least)
        {
            fault(format!("not the shortest, {known:?} is shorter"));
        }
        for x in [i, j] {
            if let Outcome::None = compiled[x].matcher().search(&witness.text) {
                fault("the matcher does not confirm".to_owned());
            }
        }
    }
}

/// Whether a frame has only letters that the brute force tried.
fn in_letters(frame: &str, pool: &Value) -> bool {
    let letters = pool["letters"].as_str().unwrap();
    frame.chars().all(|c| letters.contains(c))
}

#[test]
fn reasons_say_what_is_wrong() {
    assert!(Reason::Backreference.to_string().contains("backreference"));
    assert!(Reason::Bound(Bound::States).to_string().contains("budget"));
}
