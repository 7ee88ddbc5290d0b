//! The JSON document beside the parsers that were measured against it, and the schema on top.
//!
//! `cargo bench --bench json`. Medians of interleaved rounds, so that a busy machine slows all alike.
#![allow(missing_docs)]
#![allow(clippy::print_stdout, clippy::cast_precision_loss, clippy::format_push_string)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use reglint::json;
use reglint::schema::Schema;

/// A register of `rows` hypotheses of three patterns each, laid out as the real ones are.
fn register(seed: usize, rows: usize) -> String {
    let mut text = String::from(
        "{\n  \"_doc\": \"A register — one canonical frame per hypothesis.\",\n  \"hypotheses\": [\n",
    );
    for row in 0..rows {
        let end = if row + 1 < rows { "," } else { "" };
        text.push_str(&format!(
            "    {{\n      \"id\": \"H{row}-{seed}\",\n      \"description\": \"Candidate {row} — allocation through the device, ~{seed} calls per token; measured {} µs/token in an earlier wave and closed by a hoist. Kept for regression detection, as the lever may come back with another model family or a longer context. {}\",\n      \"canonical_frame_regex\": \"crate_{seed}::module_{row}::dispatch_{row}(?!_cached)\",\n      \"subcomponent_regexes\": {{\n        \"kernel_{row}\": \"encode_threadgroups_{row}\\\\.with_args\",\n        \"lookup_{row}\": \"registry::get_pipeline_{row}\"\n      }},\n      \"static_estimate_us_per_token\": {}\n    }}{end}\n",
            row * 7 + 3,
            "Prose goes on. ".repeat(row % 12),
            if row % 3 == 0 { "null".to_owned() } else { (row * 5).to_string() },
        ));
    }
    text.push_str("  ]\n}\n");
    text
}

struct Contest {
    name: &'static str,
    run: fn(&str) -> usize,
}

const CONTEST: [Contest; 4] = [
    Contest { name: "reglint, parse", run: |text| json::parse(text).errors().len() },
    Contest {
        name: "reglint, parse and validate",
        run: |text| Schema::embedded().violations(&json::parse(text)).len(),
    },
    Contest {
        name: "serde_json::Value",
        run: |text| {
            serde_json::from_str::<serde_json::Value>(text)
                .map_or(1, |value| usize::from(value.is_null()))
        },
    },
    Contest {
        name: "serde::de::IgnoredAny",
        run: |text| usize::from(serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()),
    },
];

fn main() {
    let start = Instant::now();
    black_box(Schema::embedded());
    println!("{:>10.1?}  the first validator of the process", start.elapsed());

    let small: Vec<_> = (0..1000).map(|seed| register(seed, 14)).collect();
    let large = vec![register(0, 6000)];
    for (what, texts, rounds) in
        [("a thousand registers", &small, 15), ("one large register", &large, 15)]
    {
        let bytes: usize = texts.iter().map(String::len).sum();
        let mut times = [const { Vec::<Duration>::new() }; CONTEST.len()];
        for _ in 0..rounds {
            for (contest, times) in CONTEST.iter().zip(&mut times) {
                let start = Instant::now();
                for text in texts {
                    assert_eq!(black_box((contest.run)(black_box(text))), 0);
                }
                times.push(start.elapsed());
            }
        }
        println!("{what}, {:.1} MB:", bytes as f64 / 1e6);
        for (contest, times) in CONTEST.iter().zip(&mut times) {
            times.sort_unstable();
            let median = times[times.len() / 2];
            let speed = bytes as f64 / 1e6 / median.as_secs_f64();
            println!("{median:>10.1?}  {speed:>6.0} MB/s  {}", contest.name);
        }
    }
}
