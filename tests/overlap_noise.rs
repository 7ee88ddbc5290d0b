//! How noisy the relation is on patterns of the kind that authors write, drawn from real frames.
//!
//! `cargo test --release --test overlap_noise -- --ignored --nocapture` draws `REGLINT_CASES`
//! registers (by default 200) of twelve patterns and prints by shape: double claims that real
//! frames show and that are missed, and alarms without a frame behind them. The frames are those of
//! `../shared/frames` or `$REGLINT_SHARED/frames`; without them it says that it was skipped.
#![allow(clippy::format_collect, clippy::too_many_lines, clippy::cast_precision_loss)]
#![allow(clippy::print_stdout, reason = "the output is the point")]

#[allow(dead_code, reason = "only the generator is wanted")]
#[path = "support/frame_patterns.rs"]
mod frame_patterns;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use frame_patterns::Rng;
use reglint::overlap::{Budget, Kind, Pairs, pairs};
use reglint::pattern::{Versions, parse};

const PATTERNS: usize = 12;

fn shared() -> PathBuf {
    std::env::var_os("REGLINT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from)
}

/// All frames, each once, without those in a mangling that has no paths.
fn frames() -> Option<Vec<String>> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(shared().join("frames")).ok()? {
        let path = entry.ok()?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let text = std::fs::read_to_string(path).ok()?;
            let named = text.lines().filter(|line| !line.is_empty() && !line.starts_with("_R"));
            all.extend(named.map(str::to_owned));
        }
    }
    Some(all.into_iter().collect())
}

/// A frame without its hash.
fn function(frame: &str) -> &str {
    match frame.rsplit_once("::h") {
        Some((function, hash))
            if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            function
        }
        _ => frame,
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if ".$^*+?()[]{}|\\".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The last one to three segments of a function, and how many.
fn suffix(rng: &mut Rng, function: &str) -> (String, usize) {
    let segments: Vec<&str> = function.split("::").collect();
    let count = (1 + rng.below(3)).min(segments.len());
    (segments[segments.len() - count..].join("::"), count)
}

/// A pattern that claims the function, with the name of its shape.
fn draw(rng: &mut Rng, from: &[&str], function: &str, hashed: bool) -> (String, String) {
    let (tail, segments) = suffix(rng, function);
    match rng.below(10) {
        0..3 if hashed => (escape(&tail) + "::", format!("{segments} segments, closed")),
        0..5 => (escape(&tail), format!("{segments} segments")),
        5 => {
            // Up to one of its words.
            let cuts: Vec<usize> = tail.match_indices('_').map(|(at, _)| at).collect();
            match cuts.get(rng.below(cuts.len().max(1))) {
                Some(&cut) if cut > 2 => (escape(&tail[..cut]), "prefix".to_owned()),
                _ => (escape(&tail), format!("{segments} segments")),
            }
        }
        6 | 7 => {
            let other = from[rng.below(from.len())];
            let (other, _) = suffix(rng, other);
            (format!("{}|{}", escape(&tail), escape(&other)), "alternation".to_owned())
        }
        8 => {
            // Not one of the longer names, if there are any.
            let longer: Vec<&str> = from
                .iter()
                .filter_map(|name| name.find(&tail).map(|at| &name[at + tail.len()..]))
                .filter_map(|rest| rest.strip_prefix('_'))
                .collect();
            let word = longer.get(rng.below(longer.len().max(1))).map_or("cached", |rest| {
                rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
            });
            (format!("{}(?!_{})", escape(&tail), escape(word)), "lookahead".to_owned())
        }
        _ => {
            let first = function.split("::").next().unwrap_or_default();
            let last = tail.rsplit(['_', ':']).next().unwrap_or_default();
            if first.len() > 2 && last.len() > 2 && first.len() + last.len() < function.len() {
                (format!("{}.*{}", escape(first), escape(last)), "wildcard".to_owned())
            } else {
                (escape(&tail), format!("{segments} segments"))
            }
        }
    }
}

#[derive(Default)]
struct Count {
    pairs: usize,
    double: usize,
    missed: usize,
    sure: usize,
    partial: usize,
    alarms: usize,
    /// A missed pair and an alarm.
    examples: [Option<String>; 2],
}

fn verdicts(found: &Pairs) -> HashMap<(usize, usize), Kind> {
    let mut all: HashMap<(usize, usize), Kind> =
        found.findings.iter().map(|f| ((f.a, f.b), f.relation.kind.clone())).collect();
    for same in &found.same {
        for (at, &a) in same.iter().enumerate() {
            // What the first is said to be, the others are too.
            for &b in &same[at + 1..] {
                all.insert((a.min(b), a.max(b)), Kind::Equal);
            }
        }
    }
    all
}

#[test]
#[ignore = "a measure over real frames; it takes a minute"]
fn registers_drawn_from_real_frames() {
    let Some(frames) = frames() else {
        println!("skipped: no frames in {}", shared().display());
        return;
    };
    let registers: usize =
        std::env::var("REGLINT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let seed = std::env::var("REGLINT_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let functions: Vec<&str> =
        frames.iter().map(|frame| function(frame)).collect::<BTreeSet<_>>().into_iter().collect();
    let hashed: BTreeSet<&str> = frames
        .iter()
        .map(|frame| function(frame))
        .zip(&frames)
        .filter(|(f, frame)| f != frame)
        .map(|(f, _)| f)
        .collect();
    let mut of_crate: HashMap<&str, Vec<&str>> = HashMap::new();
    for &name in &functions {
        of_crate.entry(name.split("::").next().unwrap_or_default()).or_default().push(name);
    }
    println!("{} frames, {} functions, {registers} registers", frames.len(), functions.len());
    let mut rng = Rng(seed);
    let mut counts: BTreeMap<(String, String), Count> = BTreeMap::new();
    let mut without_frame = Vec::new();
    for _ in 0..registers {
        // Half of a register is about one crate.
        let topic = functions[rng.below(functions.len())];
        let crate_ = &of_crate[topic.split("::").next().unwrap_or_default()];
        let mut drawn: Vec<(String, String)> = Vec::new();
        for at in 0..PATTERNS {
            let from: &[&str] = if at % 2 == 0 { crate_ } else { &functions };
            let name = from[rng.below(from.len())];
            drawn.push(draw(&mut rng, from, name, hashed.contains(name)));
        }
        let asts: Vec<_> = drawn
            .iter()
            .map(|(text, _)| parse(text, Versions::ALL).expect("well-formed"))
            .collect();
        let found = pairs(&asts.iter().collect::<Vec<_>>(), Budget::default());
        assert!(found.unknown.is_empty() && found.left_out == 0);
        let verdicts = verdicts(&found);
        let claims: Vec<BTreeSet<usize>> = drawn
            .iter()
            .map(|(text, _)| {
                let regex = fancy_regex::Regex::new(text).expect("well-formed");
                let claims = |frame: &String| regex.is_match(frame).unwrap_or(false);
                (0..frames.len()).filter(|&at| claims(&frames[at])).collect()
            })
            .collect();
        let stands_for = |at: usize| {
            found.same.iter().find(|same| same.contains(&at)).map_or(at, |same| same[0])
        };
        for b in 0..PATTERNS {
            for a in 0..b {
                let (x, y) = (stands_for(a), stands_for(b));
                let kind =
                    if x == y { Some(&Kind::Equal) } else { verdicts.get(&(x.min(y), x.max(y))) };
                let mut shapes = [drawn[a].1.clone(), drawn[b].1.clone()];
                shapes.sort();
                let [one, other] = shapes;
                let count = counts.entry((one, other)).or_default();
                let shown = format!("{}   {}", drawn[a].0, drawn[b].0);
                let double = !claims[a].is_disjoint(&claims[b]);
                count.pairs += 1;
                count.double += usize::from(double);
                match kind {
                    Some(Kind::Equal | Kind::AWithinB | Kind::BWithinA) => {
                        count.sure += 1;
                        if !double {
                            without_frame.push(shown);
                        }
                    }
                    Some(_) => {
                        count.partial += 1;
                        if !double {
                            count.alarms += 1;
                            count.examples[1].get_or_insert(shown);
                        }
                    }
                    None if double => {
                        count.missed += 1;
                        count.examples[0].get_or_insert(shown);
                    }
                    None => {}
                }
            }
        }
    }
    let mut sum = Count::default();
    for ((one, other), count) in &counts {
        sum.pairs += count.pairs;
        sum.double += count.double;
        sum.missed += count.missed;
        sum.sure += count.sure;
        sum.partial += count.partial;
        sum.alarms += count.alarms;
        if count.missed + count.alarms == 0 {
            continue;
        }
        println!(
            "{one} with {other}: {} pairs, {} double claims of which {} missed, {} partial of which {} alarms",
            count.pairs, count.double, count.missed, count.partial, count.alarms
        );
        for (what, example) in ["missed", "alarm"].into_iter().zip(&count.examples) {
            if let Some(example) = example {
                println!("    {what}: {example}");
            }
        }
    }
    println!(
        "in all: {} pairs, {} double claims of which {} equal or within and {} missed; {} partial of which {} alarms, \
         {:.2} a register",
        sum.pairs,
        sum.double,
        sum.sure,
        sum.missed,
        sum.partial,
        sum.alarms,
        sum.alarms as f64 / registers as f64,
    );
    assert!(without_frame.is_empty(), "equal or within, and no frame: {without_frame:#?}");
    assert!(sum.alarms < registers, "{} alarms in {registers} registers", sum.alarms);
}
