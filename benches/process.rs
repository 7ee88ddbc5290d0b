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

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut numbers = Numbers(1);
    let mut make = |name: &str, files: usize, hypotheses: usize| -> Vec<PathBuf> {
        let below: &Path = &folder.path().join(name);
        fs::create_dir(below).expect("can be made");
        (0..files)
            .map(|number| {
                let path = below.join(format!("r{number:04}.json"));
                fs::write(&path, register(number, hypotheses, &mut numbers))
                    .expect("can be written");
                path
            })
            .collect()
    };
    let loads = [
        ("one small register", make("one", 1, 8), 100),
        ("a thousand registers", make("thousand", 1000, 14), 30),
        ("one of 6,000 hypotheses", make("large", 1, 6000), 30),
    ];
    let own = vec![env!("CARGO_BIN_EXE_reglint").to_owned(), "-q".to_owned()];
    let peer: Option<Vec<String>> = std::env::var("REGLINT_PEER")
        .ok()
        .map(|words| words.split_whitespace().map(str::to_owned).collect());
    for (name, files, rounds) in loads {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(time(&own, &files));
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
