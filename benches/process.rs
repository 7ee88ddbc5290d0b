//! Whole processes, side by side in one run: reglint, and any other command that reads the same files.
//!
//! ```sh
//! cargo bench --bench process
//! REGLINT_PEER='jsonschema-cli validate schema/register.schema.json -i' cargo bench --bench process
//! ```
//!
//! The files follow the peer's words. Runs alternate, so that what else the machine does hits both;
//! the fastest and the median run count, and their ratio.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/support/frame_patterns.rs"]
mod frame_patterns;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WORDS: &[&str] = &[
    "device", "buffer", "alloc", "rope", "norm", "fused", "add", "moe", "routing", "dispatch",
    "kernel", "encode", "layer", "gpu", "ffn", "attn", "head", "softcap", "argmax", "quant", "kv",
    "cache",
];

/// Numbers without a pattern to them, the same in every run (a linear congruential generator with
/// the constants of Knuth's MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }
}

/// A clean register of `count` hypotheses whose ids and patterns no other register has.
fn register(number: usize, count: usize, numbers: &mut Numbers) -> String {
    let mut text = String::from("{\n  \"_doc\": \"generated\",\n  \"hypotheses\": [");
    for index in 0..count {
        let separator = if index == 0 { "" } else { "," };
        let prose: Vec<_> = (0..25).map(|_| numbers.word()).collect();
        let mut frame = |label: &str| {
            let (a, b, c) = (numbers.word(), numbers.word(), numbers.word());
            format!("{label}{number}_{index}::{a}_{b}::{c}::")
        };
        let (canonical, first, second) = (frame("m"), frame("s"), frame("t"));
        write!(
            text,
            "{separator}\n    {{\n      \"id\": \"R{number}x{index}\",\n      \"description\": \"{}\",\n      \
             \"canonical_frame_regex\": \"{canonical}\",\n      \"subcomponent_regexes\": {{\n        \
             \"first\": \"{first}\",\n        \"second\": \"{second}\"\n      }},\n      \
             \"static_estimate_us_per_token\": null\n    }}",
            prose.join(" ")
        )
        .expect("a string takes everything");
    }
    text.push_str("\n  ]\n}\n");
    text
}

/// A register that is linked to the one beside it, `number` with its lowest bit turned: of 14
/// hypotheses four claim the same frames there and say so, two say that nothing there does, and a few
/// patterns are more than text.
fn linked_register(number: usize, numbers: &mut Numbers) -> String {
    let (partner, pair) = (number ^ 1, number / 2);
    let mut text = String::from("{\n  \"hypotheses\": [");
    for index in 0..14 {
        let separator = if index == 0 { "" } else { "," };
        let prose: Vec<_> = (0..25).map(|_| numbers.word()).collect();
        let word = numbers.word();
        let (canonical, subcomponent, links) = match index {
            0..=2 => (
                format!("p{pair}_{index}::alloc_buffer::"),
                format!("q{pair}_{index}::kernel::"),
                format!("{{ \"r{partner:04}\": \"R{partner}x{index}\" }}"),
            ),
            3 => (
                // Spelled in two ways.
                if number.is_multiple_of(2) {
                    format!("p{pair}::exec\\\\.begin")
                } else {
                    format!("p{pair}::exec[.]begin")
                },
                format!("q{pair}_{index}::kernel::"),
                format!("{{ \"r{partner:04}\": [\"R{partner}x{index}\"] }}"),
            ),
            4 | 5 => (
                format!("m{number}_{index}::{word}::"),
                format!("s{number}_{index}::{word}"),
                format!("{{ \"r{partner:04}\": null }}"),
            ),
            6 | 7 => (
                format!("m{number}_{index}::(?:{word}|dispatch_{word})_f32"),
                format!("s{number}_{index}.*{word}"),
                "{}".to_owned(),
            ),
            _ => (
                format!("m{number}_{index}::{word}::"),
                format!("s{number}_{index}::{word}"),
                "{}".to_owned(),
            ),
        };
        write!(
            text,
            "{separator}\n    {{\n      \"id\": \"R{number}x{index}\",\n      \"description\": \"{}\",\n      \
             \"canonical_frame_regex\": \"{canonical}\",\n      \"subcomponent_regexes\": {{\n        \
             \"first\": \"{subcomponent}\"\n      }},\n      \"links\": {links}\n    }}",
            prose.join(" ")
        )
        .expect("a string takes everything");
    }
    text.push_str("\n  ]\n}\n");
    text
}

fn time(command: &[String], files: &[PathBuf]) -> Duration {
    let start = Instant::now();
    let status = Command::new(&command[0])
        .args(&command[1..])
        .args(files)
        .stdout(Stdio::null())
        .status()
        .unwrap_or_else(|error| panic!("{}: {error}", command[0]));
    assert!(status.success(), "{} finds something in clean files", command[0]);
    start.elapsed()
}

/// A register of `count` generated frame patterns.
fn pattern_register(count: usize) -> String {
    let hypotheses: Vec<_> = frame_patterns::frame_patterns(count, 1)
        .into_iter()
        .enumerate()
        .map(|(number, pattern)| {
            let id = format!("P{number}");
            serde_json::json!({"id": id, "description": "d", "canonical_frame_regex": pattern})
        })
        .collect();
    serde_json::to_string_pretty(&serde_json::json!({"hypotheses": hypotheses})).expect("is JSON")
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut numbers = Numbers(1);
    let mut make = |name: &str, files: usize, hypotheses: Option<usize>| -> Vec<PathBuf> {
        let below: &Path = &folder.path().join(name);
        fs::create_dir(below).expect("can be made");
        (0..files)
            .map(|number| {
                let path = below.join(format!("r{number:04}.json"));
                let text = match hypotheses {
                    Some(count) => register(number, count, &mut numbers),
                    None => linked_register(number, &mut numbers),
                };
                fs::write(&path, text).expect("can be written");
                path
            })
            .collect()
    };
    let patterns = |count: usize| -> Vec<PathBuf> {
        let path = folder.path().join(format!("patterns-{count}.json"));
        fs::write(&path, pattern_register(count)).expect("can be written");
        vec![path]
    };
    let mut loads = vec![
        ("one small register", make("one", 1, Some(8)), 100),
        ("a thousand registers", make("thousand", 1000, Some(14)), 30),
        ("one of 6,000 hypotheses", make("large", 1, Some(6000)), 30),
        ("a thousand linked registers, all rules on", make("linked", 1000, None), 30),
        ("1,000 frame patterns, all rules on", patterns(1_000), 10),
        ("10,000 frame patterns, all rules on", patterns(10_000), 5),
    ];
    // Takes a while.
    if std::env::var_os("REGLINT_LARGE").is_some() {
        loads.push(("100,000 frame patterns, all rules on", patterns(100_000), 1));
    }
    let own = [
        env!("CARGO_BIN_EXE_reglint").to_owned(),
        "-q".to_owned(),
        "-W".to_owned(),
        "one-sided-link".to_owned(),
        "-W".to_owned(),
        "id-style".to_owned(),
    ];
    let peer: Option<Vec<String>> = std::env::var("REGLINT_PEER")
        .ok()
        .map(|words| words.split_whitespace().map(str::to_owned).collect());
    // The files of a load, for another tool that times processes.
    if let Some(kept) = std::env::var_os("REGLINT_KEEP") {
        for (_, files, _) in &loads {
            for file in files {
                let name = file.strip_prefix(folder.path()).expect("below it");
                let to = Path::new(&kept).join(name);
                fs::create_dir_all(to.parent().expect("has one")).expect("can be made");
                fs::copy(file, to).expect("can be copied");
            }
        }
        return;
    }
    for (name, files, rounds) in loads {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let own = if name.ends_with("all rules on") { &own[..] } else { &own[..2] };
        for _ in 0..rounds {
            ours.push(time(own, &files));
            theirs.extend(peer.as_ref().map(|peer| time(peer, &files)));
        }
        let millis = |times: &mut Vec<Duration>| {
            times.sort();
            let of = |at: usize| times[at].as_secs_f64() * 1e3;
            (of(0), of(times.len() / 2))
        };
        let (best, median) = millis(&mut ours);
        print!("{name}: reglint {best:.2} ms at best, {median:.2} ms at the median");
        if theirs.is_empty() {
            println!();
        } else {
            let (peer_best, peer_median) = millis(&mut theirs);
            let ratio = median / peer_median;
            println!("; peer {peer_best:.2} and {peer_median:.2} ms; ratio {ratio:.2}");
        }
    }
}
