//! SARIF: what is in it, and that the standard's schema takes it.

use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use reglint::fix::{Applicability, Edit, Fix};
use reglint::linter::{self, lint};
use reglint::report::Levels;
use reglint::rules::RULES;
use reglint::schema::Schema;
use serde_json::{Value, json};

use super::*;

/// The schema of SARIF 2.1.0, from the sources of the crate that `.ci/sarif-schema` names. Cargo fetches
/// them where they are not there; without a network nothing is checked, and the test says so.
fn schema() -> Option<Value> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/sarif-schema/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    let package = metadata["packages"].as_array()?.iter().find(|p| p["name"] == "serde-sarif")?;
    let folder = PathBuf::from(package["manifest_path"].as_str()?);
    let text = std::fs::read(folder.with_file_name("src").join("schema.json")).ok()?;
    let mut schema: Value = serde_json::from_slice(&text).ok()?;
    // No regular expression by today's standards, and of members that are never written.
    for definition in ["run", "toolComponent"] {
        let pointer = format!("/definitions/{definition}/properties/language");
        schema.pointer_mut(&pointer)?.as_object_mut()?.remove("pattern");
    }
    Some(schema)
}

/// The JSON files of each folder below the cases, those with thousands of findings aside.
fn registers() -> Vec<Vec<Source>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")];
    let mut registers = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "json") {
                let bytes = std::fs::read(&path).unwrap();
                if bytes.len() < 50_000 {
                    files.push(Source::new(path.to_string_lossy(), bytes));
                }
            }
        }
        if !files.is_empty() {
            registers.push(files);
        }
    }
    registers
}

fn parse(report: &Report, sources: &Sources) -> Value {
    serde_json::from_str(&render(Format::Sarif, report, sources, &Options::default())).unwrap()
}

fn sample() -> (Sources, Report) {
    let sources = sources([
        ("registers/a b.json", "{\n  \"µ → 😀\": \"x\",\n  \"id\": \"H1\"\n}\n"),
        ("registers/b.json", "{\"id\": \"H1\"}"),
    ]);
    let x = at(&sources, "registers/a b.json", "x", 0, "not this");
    let first = at(&sources, "registers/a b.json", "H1", 0, "the first");
    let h1 = at(&sources, "registers/b.json", "H1", 0, "");
    let edit = |label: &Label| Edit::new(label.file, label.span, "y");
    let fix = Fix {
        message: "turn both".into(),
        edits: vec![edit(&x), edit(&first), edit(&h1)],
        applicability: Applicability::Unsafe,
    };
    let found = vec![
        warning("id-style", "odd: \u{1b}[2J", x)
            .with_hypothesis(Some("H2"))
            .with_note("a note")
            .with_fix(fix),
        error("duplicate-id", "twice", h1).with_related(first),
        error("invalid-json", "at the end", Label::new(FileId(0), Span::empty(43), "")),
    ];
    (sources, report(found))
}

#[test]
fn the_results() {
    let (sources, report) = sample();
    let mut log = parse(&report, &sources);
    let run = &mut log["runs"][0];
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    for result in run["results"].as_array_mut().unwrap() {
        // Rules come and go.
        let index = result.as_object_mut().unwrap().remove("ruleIndex").unwrap();
        let index = usize::try_from(index.as_u64().unwrap()).unwrap();
        assert_eq!(RULES[index].name, result["ruleId"]);
    }
    let results: Vec<String> =
        run["results"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_snapshot!(results.join("\n\n").replace("},\"", "},\n\""), @r##"
    {"fixes":[{"artifactChanges":[{"artifactLocation":{"uri":"registers/a%20b.json"},
    "replacements":[{"deletedRegion":{"endColumn":15,"endLine":2,"startColumn":14,"startLine":2},
    "insertedContent":{"text":"y"}},{"deletedRegion":{"endColumn":12,"endLine":3,"startColumn":10,"startLine":3},
    "insertedContent":{"text":"y"}}]},{"artifactLocation":{"uri":"registers/b.json"},
    "replacements":[{"deletedRegion":{"endColumn":11,"endLine":1,"startColumn":9,"startLine":1},
    "insertedContent":{"text":"y"}}]}],"description":{"text":"turn both"},
    "properties":{"applicability":"unsafe"}}],"level":"warning","locations":[{"logicalLocations":[{"kind":"object","name":"H2"}],"message":{"text":"not this"},
    "physicalLocation":{"artifactLocation":{"uri":"registers/a%20b.json"},
    "region":{"endColumn":15,"endLine":2,"startColumn":14,"startLine":2}}}],"message":{"text":"odd: \u001b[2J\na note"},
    "partialFingerprints":{"primaryLocationLineHash":"af3ce277c56d6884:1","reglint/v1":"af3ce277c56d6884:1"},
    "ruleId":"id-style"}

    {"level":"error","locations":[{"physicalLocation":{"artifactLocation":{"uri":"registers/b.json"},
    "region":{"endColumn":11,"endLine":1,"startColumn":9,"startLine":1}}}],"message":{"text":"twice"},
    "partialFingerprints":{"primaryLocationLineHash":"508ff17c842c3028:1","reglint/v1":"508ff17c842c3028:1"},
    "relatedLocations":[{"id":1,"message":{"text":"the first"},
    "physicalLocation":{"artifactLocation":{"uri":"registers/a%20b.json"},
    "region":{"endColumn":12,"endLine":3,"startColumn":10,"startLine":3}}}],"ruleId":"duplicate-id"}

    {"level":"error","locations":[{"physicalLocation":{"artifactLocation":{"uri":"registers/a%20b.json"},
    "region":{"endColumn":1,"endLine":5,"startColumn":1,"startLine":5}}}],"message":{"text":"at the end"},
    "partialFingerprints":{"primaryLocationLineHash":"4baec6d1d04ea005:1","reglint/v1":"4baec6d1d04ea005:1"},
    "ruleId":"invalid-json"}
    "##);
    let rules = &run["tool"]["driver"]["rules"];
    let rules = rules.as_array().unwrap();
    assert_eq!(rules.len(), RULES.len());
    for (rule, descriptor) in RULES.iter().zip(rules) {
        assert_eq!(descriptor["id"], json!(rule.name));
        assert_eq!(descriptor["help"]["markdown"], json!(rule.page));
        assert!(descriptor["help"]["text"].as_str().unwrap().contains(rule.summary));
    }
}

#[test]
fn the_schema_takes_it() {
    let Some(schema) = schema() else {
        println!("skipped: the SARIF schema is not there and cannot be fetched");
        return;
    };
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (sources, full) = sample();
    for report in [full, report(vec![])] {
        let log = parse(&report, &sources);
        let errors: Vec<_> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    // And what is found in the registers of the cases.
    let mut logs = 0;
    for files in registers() {
        let sources = Sources::new(files);
        let levels = Levels::default();
        let options = linter::Options::new(&levels, Schema::embedded());
        let log = parse(&lint(&sources, &options), &sources);
        let error = validator.iter_errors(&log).next().map(|error| error.to_string());
        assert_eq!(error, None, "{:?}", sources.iter().next().unwrap().1.path());
        logs += 1;
    }
    assert!(logs > 50, "{logs} folders");
    // The schema is one that can refuse.
    let (sources, full) = sample();
    let mut log = parse(&full, &sources);
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] =
        json!(0);
    assert!(!validator.is_valid(&log));
}

/// A fingerprint names a finding, wherever it has moved; alike ones are told apart.
#[test]
fn fingerprints_do_not_move() {
    let of = |text: &str, hypothesis: &str| -> Vec<String> {
        let sources = sources([("a.json", text), ("b.json", text)]);
        let places = sources.iter().flat_map(|(file, source)| {
            source
                .text()
                .match_indices("H1")
                .map(move |(at, _)| Span::new(at, at + 2))
                .map(move |span| (file, span))
        });
        let found = places
            .map(|(file, span)| {
                error("duplicate-id", "twice", Label::new(file, span, ""))
                    .with_hypothesis(Some(hypothesis))
            })
            .collect();
        let log = parse(&report(found), &sources);
        let results = log["runs"][0]["results"].as_array().unwrap();
        results
            .iter()
            .map(|result| {
                let prints = &result["partialFingerprints"];
                assert_eq!(prints["reglint/v1"], prints["primaryLocationLineHash"]);
                prints["reglint/v1"].as_str().unwrap().to_owned()
            })
            .collect()
    };
    let here = of("{\"id\": \"H1\", \"x\": \"H1\"}", "H1");
    assert_eq!(here.len(), 4);
    let distinct: std::collections::BTreeSet<_> = here.iter().collect();
    assert_eq!(distinct.len(), 4, "alike ones are numbered, and the file counts");
    assert_eq!(here, of("{\n\n  \"_\": \"µ\",\n  \"id\": \"H1\",\n \"x\": \"H1\"}\n", "H1"));
    assert_ne!(here, of("{\"id\": \"H1\", \"x\": \"H1\"}", "H2"));
}

#[test]
fn a_byte_order_mark_is_the_first_column() {
    let sources = sources([("r.json", "\u{feff}{}")]);
    let report = report(vec![error("invalid-encoding", "a mark", on(0, 3))]);
    let region = &parse(&report, &sources)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        ["region"];
    let place = json!({"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2});
    assert_eq!(region, &place);
}

/// In whatever order hypotheses stand, and so findings come, each has the fingerprint that it had.
#[test]
fn fingerprints_do_not_depend_on_the_order_of_hypotheses() {
    let hypotheses = [
        r#"{"id": "A1", "description": "d", "canonical_frame_regex": "pool::take"}"#,
        r#"{"id": "A2", "description": "d", "canonical_frame_regex": "pool::take_all"}"#,
        r#"{"id": "A3", "description": "d", "canonical_frame_regex": "sampler::draw"}"#,
        r#"{"id": "A8", "description": "d", "canonical_frame_regex": "sampler::draw"}"#,
        r#"{"id": "A4", "description": "d", "canonical_frame_regex": "exec.begin.end", "subcomponent_regexes": {"x": "exec.begin.end", "y": "z.a"}}"#,
        r#"{"id": "A5", "description": "d", "canonical_frame_regex": "norm_add|exec\\.run"}"#,
        r#"{"id": "A6", "description": "d", "canonical_frame_regex": "fused_norm"}"#,
        r#"{"id": "A7", "description": "d", "canonical_frame_regex": "only::mine", "links": {"b": ["B9", "B8"]}}"#,
        r#"{"id": "A7", "description": "d", "canonical_frame_regex": "only::mine_too", "links": {"b": "B1"}}"#,
    ];
    let other = r#"{"family": "b", "hypotheses": [{"id": "B1", "description": "d", "canonical_frame_regex": "pool::take"}]}"#;
    let found = |order: &[usize], names: [&str; 2]| -> Vec<(String, String)> {
        let list: Vec<&str> = order.iter().map(|at| hypotheses[*at]).collect();
        let text = format!("{{\"family\": \"a\", \"hypotheses\": [{}]}}", list.join(",\n"));
        let sources = sources([(names[0], &text), (names[1], other)]);
        let levels = Levels::default();
        let options = linter::Options::new(&levels, Schema::embedded());
        let log = parse(&lint(&sources, &options), &sources);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let print = |result: &Value| {
            let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (of(&result["ruleId"]), of(&result["partialFingerprints"]["reglint/v1"]))
        };
        let mut prints: Vec<_> = results.iter().map(print).collect();
        prints.sort();
        prints
    };
    let names = ["a.json", "b.json"];
    let all: Vec<usize> = (0..hypotheses.len()).collect();
    let first = found(&all, names);
    assert!(first.len() > 12, "{first:?}");
    let mut order = all.clone();
    for step in [1, 2, 4, 7] {
        order = (0..all.len()).map(|at| order[(at * step + 1) % all.len()]).collect();
        assert_eq!(found(&order, names), first, "{order:?}");
    }
    order.reverse();
    assert_eq!(found(&order, names), first, "{order:?}");
    // The file is part of it.
    let moved = found(&all, ["x.json", "y.json"]);
    assert!(moved.iter().all(|print| !first.contains(print)));
}
