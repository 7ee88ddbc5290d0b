//! How long the index takes over many patterns: `cargo bench --bench overlap [-- N|REGISTER…]`, generated ones (by default 1,000,
//! 10,000 and 100,000) or those of a register.
//!
//! Prints for each number of patterns the time to parse them, to find all pairs that are at odds, and what was found.
#![allow(clippy::print_stdout, reason = "the output is the point")]

#[path = "../tests/support/frame_patterns.rs"]
mod frame_patterns;

use std::time::Instant;

use reglint::overlap::{Budget, Kind, pairs};
use reglint::pattern::{Versions, parse};

/// The canonical patterns of a register.
fn register(path: &str) -> Option<Vec<String>> {
    let register: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let patterns = register["hypotheses"]
        .as_array()?
        .iter()
        .filter_map(|h| h["canonical_frame_regex"].as_str());
    Some(patterns.map(str::to_owned).collect())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut lists: Vec<Vec<String>> = Vec::new();
    for argument in &arguments {
        match argument.parse() {
            Ok(size) => lists.push(frame_patterns::frame_patterns(size, 1)),
            Err(_) => lists.extend(register(argument)),
        }
    }
    if lists.is_empty() {
        lists = [1_000, 10_000, 100_000].map(|size| frame_patterns::frame_patterns(size, 1)).into();
    }
    for texts in lists {
        let size = texts.len();
        let start = Instant::now();
        let asts: Vec<_> =
            texts.iter().filter_map(|text| parse(text, Versions::ALL).ok()).collect();
        let parsed = start.elapsed();
        let all: Vec<_> = asts.iter().collect();
        let start = Instant::now();
        let found = pairs(&all, Budget::default());
        let related = start.elapsed();
        let count = |kind: fn(&Kind) -> bool| {
            found.findings.iter().filter(|f| kind(&f.relation.kind)).count()
        };
        println!(
            "{size} patterns: parse {parsed:.1?}, relate {related:.1?}; {} same, {} equal, {} within, {} partial, {} \
             undecided, {} crowds of more than 8",
            found.same.iter().map(|all| all.len() - 1).sum::<usize>(),
            count(|kind| *kind == Kind::Equal),
            count(|kind| matches!(kind, Kind::AWithinB | Kind::BWithinA)),
            count(|kind| *kind == Kind::Partial),
            count(|kind| matches!(kind, Kind::Undecided(_))),
            found.crowds(8).0.len(),
        );
    }
}
