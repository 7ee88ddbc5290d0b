//! The rules with evidence on random registers and random evidence of every format: against a Python program of
//! the tests' own, and against themselves, with the evidence in another order and as a snapshot.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![allow(clippy::print_stderr, reason = "what is skipped is said")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use support::Rng;

/// A sample: frames from the outermost in, what was sampled, what the consumer credits.
type Sample = (Vec<String>, u64, u64);

/// Evidence, apart from how it is written.
struct Case {
    traces: Vec<Vec<Sample>>,
    lists: Vec<Vec<String>>,
    patterns: Vec<&'static str>,
}

const PATTERNS: [&str; 16] = [
    "alloc",
    "alloc_buffer::",
    "^one",
    "put(?!_all)",
    "kv::",
    "run$",
    "Device::",
    "put_all::h0",
    "one::kv",
    "closure",
    "two::kv::put",
    "one::Device::run",
    "one::Device::decode::",
    "mach_msg",
    "decode|run",
    "nowhere::at_all",
];

fn frame(rng: &mut Rng) -> String {
    let path = *rng.pick(&[&"one::", &"two::kv::", &"one::kv::", &"one::Device::"]);
    let name = *rng.pick(&[&"alloc", &"alloc_buffer", &"put", &"put_all", &"run", &"decode"]);
    let inner = *rng.pick(&[&"", &"", &"", &"::{{closure}}", &"::_$u7b$$u7b$closure$u7d$$u7d$"]);
    let hash = *rng.pick(&[&"", &"::h0123456789abcdef", &"::h1123456789abcdef"]);
    if rng.one_in(12) { "mach_msg2_trap".to_owned() } else { format!("{path}{name}{inner}{hash}") }
}

impl Case {
    fn new(rng: &mut Rng) -> Self {
        // Few frames meet often, and few times tie.
        let frames: Vec<String> = (0..=2 + rng.below(14)).map(|_| frame(rng)).collect();
        let name = |rng: &mut Rng| frames[rng.below(frames.len())].clone();
        let times = 1 + rng.below(5);
        let sample = |rng: &mut Rng| {
            let stack: Vec<String> = (0..=rng.below(6)).map(|_| name(rng)).collect();
            let time = rng.below(times) as u64;
            (stack, time, time)
        };
        let traces = (0..rng.below(4)).map(|_| (0..=rng.below(12)).map(|_| sample(rng)).collect());
        let traces: Vec<Vec<Sample>> = traces.collect();
        let lists = usize::from(traces.is_empty()) + rng.below(2);
        let lists = (0..lists).map(|_| (0..=rng.below(9)).map(|_| name(rng)).collect()).collect();
        let patterns = (0..=rng.below(6)).map(|_| PATTERNS[rng.below(PATTERNS.len())]).collect();
        Self { traces, lists, patterns }
    }

    fn shuffle(&mut self, rng: &mut Rng) {
        self.traces.iter_mut().for_each(|trace| shuffle(rng, trace));
        self.lists.iter_mut().for_each(|list| shuffle(rng, list));
    }

    fn write_register(&self, folder: &Path) {
        let one = |(at, it)| {
            let id = format!("H{at}");
            json!({"id": id, "description": "d", "canonical_frame_regex": it})
        };
        let hypotheses: Vec<Value> = self.patterns.iter().enumerate().map(one).collect();
        fs::write(folder.join("r.json"), json!({ "hypotheses": hypotheses }).to_string()).unwrap();
    }

    /// The arguments that name the evidence, which is written. Times of an export are credited only where
    /// a backtrace is written out, so they are changed.
    fn write(&mut self, folder: &Path, format: &str) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |name: String, text: String| {
            fs::write(folder.join(&name), text).unwrap();
            arguments.push(format!("--evidence={name}"));
        };
        for (at, trace) in self.traces.iter_mut().enumerate() {
            let text = match format {
                "xml" => export(trace),
                "firefox" => profile(trace),
                _ => trace.iter().fold(String::new(), |mut text, (stack, time, _)| {
                    let _ = writeln!(text, "{} {time}", stack.join(";"));
                    text
                }),
            };
            add(format!("t{at}"), text);
        }
        for (at, list) in self.lists.iter().enumerate() {
            let text = match format {
                "xml" => list.iter().fold(String::new(), |mut text, name| {
                    let _ = writeln!(text, "0000000000001139 t {name}\n                 U exit");
                    text
                }),
                _ => list.join("\n"),
            };
            add(format!("l{at}"), text);
        }
        arguments
    }
}

fn shuffle<T>(rng: &mut Rng, list: &mut [T]) {
    for at in (1..list.len()).rev() {
        list.swap(at, rng.below(at + 1));
    }
}

/// An export of Instruments. A stack that was written out before is pointed to, and not credited.
fn export(trace: &mut [Sample]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<trace-query-result><node><schema name=\"time-profile\"/>\n",
    );
    let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut id = 0;
    for (stack, time, credited) in trace {
        id += 1;
        let _ = write!(text, "<row><weight id=\"{id}\">{time}</weight>");
        if let Some(known) = known.get(stack) {
            *credited = 0;
            let _ = writeln!(text, "<backtrace ref=\"{known}\"/></row>");
            continue;
        }
        *credited = *time;
        id += 1;
        known.insert(stack.clone(), id);
        let _ = write!(text, "<backtrace id=\"{id}\">");
        for name in stack.iter().rev() {
            id += 1;
            let name = name.replace('<', "&lt;");
            let _ = write!(text, "<frame id=\"{id}\" name=\"{name}\"/>");
        }
        text.push_str("</backtrace></row>\n");
    }
    text.push_str("</node></trace-query-result>");
    text
}

/// A profile of samply's, with a table for the thread.
fn profile(trace: &[Sample]) -> String {
    let mut strings: Vec<&str> = Vec::new();
    let (mut prefixes, mut frames): (Vec<Value>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut stacks, mut weights): (Vec<Value>, Vec<u64>) = (Vec::new(), Vec::new());
    for (stack, time, _) in trace {
        let mut prefix = Value::Null;
        for name in stack {
            let at = strings.iter().position(|known| known == name).unwrap_or_else(|| {
                strings.push(name);
                strings.len() - 1
            });
            prefixes.push(prefix);
            frames.push(at);
            prefix = json!(frames.len() - 1);
        }
        stacks.push(prefix);
        weights.push(*time);
    }
    let numbers: Vec<usize> = (0..strings.len()).collect();
    json!({
        "meta": {"version": 24, "interval": 1},
        "threads": [{
            "stringArray": strings,
            "funcTable": {"name": numbers, "length": numbers.len()},
            "frameTable": {"func": numbers, "length": numbers.len()},
            "stackTable": {"prefix": prefixes, "frame": frames, "length": frames.len()},
            "samples": {
                "stack": stacks, "weight": weights, "weightType": "samples", "length": weights.len(),
            },
        }],
    })
    .to_string()
}

fn reglint(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reglint"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

fn findings(folder: &Path, evidence: &[String]) -> Vec<Value> {
    let mut arguments = vec!["--isolated".to_owned(), "--format=json".to_owned()];
    for rule in [
        "claims-no-frame",
        "claims-several-functions",
        "frame-claimed-twice",
        "nested-in-stack",
        "unstable-frame",
    ] {
        arguments.push(format!("--select={rule}"));
    }
    arguments.extend_from_slice(evidence);
    arguments.push("r.json".to_owned());
    let out = reglint(folder, &arguments);
    let answer: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&out.stderr)));
    answer["diagnostics"].as_array().unwrap().clone()
}

/// The findings, but for what only whole stacks can show.
fn without_stacks(findings: &[Value]) -> Vec<Value> {
    let mut findings = findings.to_vec();
    for finding in &mut findings {
        let notes = finding["notes"].as_array_mut().unwrap();
        notes.retain(|note| !note.as_str().unwrap().starts_with("a stack: "));
    }
    findings
}

/// The numbers in a text that are not inside of back ticks.
fn numbers(text: &str) -> Vec<u64> {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    plain.split(|c: char| !c.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect()
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// What the findings say, in the shape of the oracle's answer.
fn said(findings: &[Value], is_exact: bool) -> Value {
    let (mut several, mut twice) = (BTreeMap::new(), BTreeMap::new());
    let (mut unstable, mut nested) = (Vec::new(), Vec::new());
    for finding in findings {
        let message = finding["message"].as_str().unwrap();
        let notes: Vec<&str> = finding["notes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|note| note.as_str().unwrap())
            .collect();
        let hypothesis = finding["hypothesis"].as_str().unwrap().to_owned();
        match finding["rule"].as_str().unwrap() {
            "claims-several-functions" => {
                several.insert(hypothesis, json!(numbers(message)[0]));
            }
            "frame-claimed-twice" if message.contains(" more ") => {}
            "frame-claimed-twice" => {
                let of: &mut BTreeMap<String, u64> = twice.entry(hypothesis).or_default();
                let other = quoted(message).into_iter().rev().find(|it| it.starts_with('H'));
                of.insert(
                    other.unwrap().to_owned(),
                    numbers(message).first().copied().unwrap_or(1),
                );
            }
            "unstable-frame" => unstable.push(hypothesis),
            "nested-in-stack" if message.contains(" more") => {}
            "nested-in-stack" => {
                let outer = quoted(message)[1].to_owned();
                for note in notes.iter().filter(|note| note.starts_with("in `")) {
                    let trace: usize = quoted(note)[0][1..].parse().unwrap();
                    let (of_it, reversed) = note.split_once(';').unwrap_or((note, ""));
                    let found = numbers(of_it);
                    let reversed = numbers(reversed).first().copied().unwrap_or(0);
                    let whole = found.get(1).copied().unwrap_or(found[0]);
                    let times =
                        if is_exact { json!([found[0], reversed, whole]) } else { json!([]) };
                    nested.push(json!([[hypothesis, outer, trace], times]));
                }
            }
            _ => {}
        }
    }
    nested.sort_by_key(Value::to_string);
    json!({"several": several, "twice": twice, "unstable": unstable, "nested": nested})
}

/// The oracle's answer without what findings put together for a crowd.
fn wanted(answer: &Value, is_exact: bool) -> Value {
    let mut twice = answer["twice"].clone();
    twice.as_object_mut().unwrap().retain(|_, others| others.as_object().unwrap().len() <= 4);
    let all = answer["nested"].as_array().unwrap();
    let outers = |inner: &Value| {
        let mut outers: Vec<&str> =
            all.iter().filter(|it| it[0] == *inner).map(|it| it[1].as_str().unwrap()).collect();
        outers.sort_unstable();
        outers.dedup();
        outers.len()
    };
    let found = all.iter().filter(|it| outers(&it[0]) <= 4).map(|it| {
        let times = if is_exact { json!([it[3], it[4], it[5]]) } else { json!([]) };
        json!([[it[0], it[1], it[2]], times])
    });
    let mut nested: Vec<Value> = found.collect();
    nested.sort_by_key(Value::to_string);
    json!({
        "several": answer["several"], "twice": twice, "unstable": answer["unstable"], "nested": nested,
    })
}

#[test]
fn the_rules_find_what_their_pages_say_in_any_order_and_in_a_snapshot() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let mut rng = Rng::new(support::seed());
    let python = support::python();
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..support::cases(40) {
        let mut case = Case::new(&mut rng);
        let format = *rng.pick(&[&"folded", &"xml", &"firefox"]);
        case.write_register(folder);
        let evidence = case.write(folder, format);
        let found = findings(folder, &evidence);
        for finding in &found {
            *met.entry(finding["rule"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let question = json!({
            "traces": case.traces,
            "lists": case.lists,
            "patterns": case.patterns.iter().enumerate().map(|(at, it)| json!([format!("H{at}"), it])).collect::<Vec<_>>(),
        });
        if let Some((python, _)) = &python {
            let script = include_str!("support/evidence_rules.py");
            let answer = support::ask(python, script, vec![question.clone()]).pop().unwrap();
            // Nanoseconds are shown as milliseconds.
            let is_exact = format != "xml";
            assert_eq!(said(&found, is_exact), wanted(&answer, is_exact), "{format}: {question}");
        }
        let mut write = evidence.clone();
        write.extend([
            "--snapshot=s.json".to_owned(),
            "--isolated".to_owned(),
            "r.json".to_owned(),
        ]);
        write.insert(0, "evidence".to_owned());
        let _ = fs::remove_file(folder.join("s.json"));
        let out = reglint(folder, &write);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let again = findings(folder, &["--evidence=s.json".to_owned()]);
        assert_eq!(
            without_stacks(&again),
            without_stacks(&found),
            "snapshot of {format}: {question}"
        );
        // An export in another order credits other samples.
        if format != "xml" || case.traces.is_empty() {
            case.shuffle(&mut rng);
            let evidence = case.write(folder, format);
            assert_eq!(findings(folder, &evidence), found, "{format}, shuffled: {question}");
        }
    }
    assert!(met.len() == 5, "not every rule found something: {met:?}");
}
