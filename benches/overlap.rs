//! How long the relation takes: `cargo bench --bench overlap [-- N|REGISTER…]`.
//!
//! First the index over many patterns, generated ones (by default 1,000, 10,000 and 100,000) or those
//! of a register: the time to parse them, to find all pairs that are at odds, and what was found.
//!
//! Then, without arguments, inclusion in both directions of all pairs of a few patterns, side by side
//! with a product of `regex-automata`'s dense automata of the search languages. Those know no
//! lookarounds, so only pairs without are asked about; the answers must be equal. Shared text is a
//! question that they cannot be asked.
//!
//! `regexsolver` 1.1 would be another peer, but brings ten crates for this bench alone, among them
//! `tiny-keccak`, whose licence (CC0-1.0) is not one of those that `deny.toml` allows.
#![allow(clippy::print_stdout, reason = "the output is the point")]

#[path = "../tests/support/frame_patterns.rs"]
mod frame_patterns;

use std::collections::HashSet;
use std::time::Instant;

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use reglint::overlap::{Answer, Budget, Compiled, Kind, pairs};
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

/// The automaton of all texts in which a pattern is found.
fn dense(pattern: &str) -> Option<dense::DFA<Vec<u32>>> {
    dense::Builder::new()
        .syntax(syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true))
        .configure(dense::Config::new().dfa_size_limit(Some(1 << 24)))
        .build(&format!(".*(?:{pattern}).*"))
        .ok()
}

/// Whether every text of `a` is one of `b`: no text leads to an end of `a` alone.
fn dense_within(a: &dense::DFA<Vec<u32>>, b: &dense::DFA<Vec<u32>>) -> Option<bool> {
    let anchored = start::Config::new().anchored(Anchored::Yes);
    let first = (a.start_state(&anchored).ok()?, b.start_state(&anchored).ok()?);
    let ends =
        |dfa: &dense::DFA<Vec<u32>>, state: StateID| dfa.is_match_state(dfa.next_eoi_state(state));
    // One byte of each class of either.
    let mut bytes: Vec<u8> = [a, b]
        .iter()
        .flat_map(|dfa| {
            dfa.byte_classes()
                .representatives(0..=255)
                .filter_map(regex_automata::util::alphabet::Unit::as_u8)
        })
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    let mut seen = HashSet::from([first]);
    let mut stack = vec![first];
    while let Some((x, y)) = stack.pop() {
        if ends(a, x) && !ends(b, y) {
            return Some(false);
        }
        for &byte in &bytes {
            let next = (a.next_state(x, byte), b.next_state(y, byte));
            if !a.is_dead_state(next.0) && seen.insert(next) {
                stack.push(next);
            }
        }
    }
    Some(true)
}

/// Inclusion in both directions of all pairs of `count` patterns, by each library.
fn peers(count: usize) {
    let texts: Vec<String> = frame_patterns::frame_patterns(count * 2, 7)
        .into_iter()
        .filter(|text| !text.contains("(?"))
        .take(count)
        .collect();
    let ordered = |a: usize| (0..texts.len()).filter(move |&b| a != b).map(move |b| (a, b));
    let all: Vec<(usize, usize)> = (0..texts.len()).flat_map(ordered).collect();
    let report = |name: &str, start: Instant, answers: &[Option<bool>]| {
        let count = |answer| answers.iter().filter(|&&one| one == answer).count();
        println!(
            "{name}: {:.1?} for {} questions; {} yes, {} no, {} unanswered",
            start.elapsed(),
            answers.len(),
            count(Some(true)),
            count(Some(false)),
            count(None)
        );
    };
    let start = Instant::now();
    let asts: Vec<_> = texts.iter().filter_map(|text| parse(text, Versions::ALL).ok()).collect();
    let compiled: Vec<_> = asts.iter().map(|ast| Compiled::new(ast, Budget::default())).collect();
    let ours: Vec<Option<bool>> = all
        .iter()
        .map(|&(a, b)| match compiled[a].within(&compiled[b]) {
            Answer::Yes => Some(true),
            Answer::No(_) => Some(false),
            Answer::Undecided(_) => None,
        })
        .collect();
    report("reglint, all pairs", start, &ours);
    let start = Instant::now();
    let dfas: Vec<_> = texts.iter().map(|text| dense(text)).collect();
    let theirs: Vec<Option<bool>> =
        all.iter().map(|&(a, b)| dense_within(dfas[a].as_ref()?, dfas[b].as_ref()?)).collect();
    report("regex-automata, all pairs", start, &theirs);
    assert_eq!(ours, theirs);
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
        peers(100);
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
