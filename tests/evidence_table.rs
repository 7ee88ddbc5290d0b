//! `reglint evidence` against the table of the users' script, which a Python program of the tests' own computes.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::Rng;

fn oracle(question: &Value) -> Option<Value> {
    let (python, _) = support::python()?;
    let script = include_str!("support/evidence_table.py");
    support::ask(&python, script, vec![question.clone()]).pop()
}

fn frame(rng: &mut Rng) -> String {
    let path = *rng.pick(&[&"one::", &"two::kv::", &"", &"one::Device::"]);
    let name = *rng.pick(&[&"alloc", &"alloc_buffer", &"put", &"put_all", &"run", &"decode"]);
    let hash = *rng.pick(&[&"", &"::h0123456789abcdef", &"::h1123456789abcdef"]);
    format!("{path}{name}{hash}")
}

#[test]
fn the_table_is_that_of_the_users_script() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut rng = Rng::new(support::seed());
    let patterns =
        ["alloc", "alloc_buffer::", "^one", "put(?!_all)", "kv::", "run$", "Device::", "nowhere"];
    let schema = serde_json::from_str(reglint::output::EVIDENCE_SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut compared = 0;
    for _ in 0..support::cases(24) {
        let mut traces: Vec<Vec<String>> = Vec::new();
        let mut arguments = vec!["evidence".to_owned(), "--isolated".to_owned()];
        for number in 0..=rng.below(4) {
            let line = |rng: &mut Rng| {
                let stack: Vec<String> = (0..=rng.below(5)).map(|_| frame(rng)).collect();
                format!("{} {}", stack.join(";"), rng.below(1_000_000))
            };
            let lines: Vec<String> = (0..=rng.below(20)).map(|_| line(&mut rng)).collect();
            let name = path(&format!("{number}.folded"));
            fs::write(&name, lines.join("\n")).unwrap();
            arguments.push(format!("--evidence={}", name.display()));
            traces.push(lines);
        }
        let chosen: Vec<&str> = (0..=rng.below(4)).map(|_| rng.pick(&patterns)).collect();
        let hypotheses: Vec<Value> = chosen
            .iter()
            .enumerate()
            .map(|(at, pattern)| {
                json!({"id": format!("H{at}"), "description": "d", "canonical_frame_regex": pattern})
            })
            .collect();
        fs::write(path("r.json"), json!({ "hypotheses": hypotheses }).to_string()).unwrap();
        let tokens = 1 + rng.below(300);
        let only_under = rng.one_in(2).then(|| (*rng.pick(&[&"decode", &"one", &"^x"])).to_owned());
        arguments.extend(["--format=json".to_owned(), format!("--tokens={tokens}")]);
        arguments.extend(only_under.iter().map(|under| format!("--only-under={under}")));
        arguments.push(path("r.json").display().to_string());
        let out = Command::new(env!("CARGO_BIN_EXE_reglint")).args(&arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        let is_under = |frame: &str| match only_under.as_deref() {
            Some("^x") => frame.starts_with('x'),
            Some(part) => frame.contains(part),
            None => true,
        };
        let stacks = traces.iter().flatten().filter_map(|line| line.rsplit_once(' '));
        if !stacks.flat_map(|(stack, _)| stack.split(';')).any(is_under) {
            // A table of nothing but zeros would read as a result.
            assert!(stderr.contains("claims no frame") && out.status.code() == Some(2), "{stderr}");
            continue;
        }
        assert!(out.status.success(), "{stderr}");
        let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
        if let Err(error) = schema.validate(&answer) {
            panic!("{error} at {}", error.instance_path());
        }
        let question = json!({
            "traces": traces, "patterns": chosen, "tokens": tokens, "only_under": only_under,
        });
        let Some(expected) = oracle(&question) else { return };
        let table = &answer["registers"][0];
        for (row, spread) in table["patterns"].as_array().unwrap().iter().zip(0..) {
            let of = |name: &str| row["credited"][name].as_f64().unwrap();
            let is = [of("median"), of("minimum"), of("maximum")];
            for (is, wanted) in is.iter().zip(expected["spreads"][spread].as_array().unwrap()) {
                let wanted = wanted.as_f64().unwrap();
                assert!((is - wanted).abs() <= wanted * 1e-12, "{is} {wanted}: {question}");
            }
        }
        for (sum, wanted) in table["sums"].as_array().unwrap().iter().zip(0..) {
            let wanted = &expected["sums"][wanted];
            if !wanted.is_null() {
                let of = |name: &str| sum[name]["sampled"].as_u64().unwrap();
                assert_eq!(json!([of("sum"), of("union")]), *wanted, "{question}");
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "no sum was compared");
}
