//! How long the index takes over many generated patterns: `cargo bench --bench overlap [-- N…]`.
//!
//! Prints for each number of patterns the time to parse them, to find all pairs that are at odds, and what was found.
#![allow(clippy::print_stdout, reason = "the output is the point")]

#[path = "../tests/support/frame_patterns.rs"]
mod frame_patterns;

use std::time::Instant;

use reglint::overlap::{Budget, Kind, pairs};
use reglint::pattern::{Versions, parse};

fn main() {
    let mut sizes: Vec<usize> =
        std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    for size in sizes {
        let texts = frame_patterns::frame_patterns(size, 1);
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
