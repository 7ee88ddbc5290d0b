//! The index finds what asking about every pair finds.
#![allow(clippy::print_stdout, reason = "tests say what they skip")]

#[path = "support/frame_patterns.rs"]
mod frame_patterns;

use frame_patterns::{Rng, frame_patterns};
use reglint::overlap::matcher::{Matcher, Outcome};
use reglint::overlap::{
    Bound, Budget, Compiled, Finding, Index, Kind, Pairs, Reason, pairs, relate,
};
use reglint::pattern::{Ast, Versions, is_word, parse};

fn asts(patterns: &[String]) -> Vec<Ast> {
    patterns
        .iter()
        .map(|p| parse(p, Versions::ALL).unwrap_or_else(|e| panic!("{p}: {e:?}")))
        .collect()
}

fn check(patterns: &[String]) -> usize {
    let asts = asts(patterns);
    let compiled: Vec<_> = asts.iter().map(|ast| Compiled::new(ast, Budget::default())).collect();
    let found = pairs(&asts.iter().collect::<Vec<_>>(), Budget::default());
    let stands_for =
        |at: usize| found.same.iter().find(|all| all.contains(&at)).map_or(at, |all| all[0]);
    let unknown = |at: usize| found.unknown.iter().any(|(pattern, _)| *pattern == at);
    let mut count = 0;
    for b in 0..patterns.len() {
        for a in 0..b {
            let all_pairs = relate(&compiled[a], &compiled[b]);
            let (x, y) = (stands_for(a), stands_for(b));
            let indexed = if x == y {
                Kind::Equal
            } else if unknown(x) || unknown(y) {
                assert!(matches!(all_pairs.kind, Kind::Undecided(_)));
                continue;
            } else {
                let of = found.findings.iter().find(|f| (f.a, f.b) == (x.min(y), x.max(y)));
                let relation = of
                    .map(|f| if x < y { f.relation.clone() } else { f.relation.clone().flipped() });
                if let (Some(relation), true) = (&relation, (x, y) == (a, b)) {
                    let length = |r: &reglint::overlap::Relation| {
                        r.witness.as_ref().map(|w| w.text.chars().count())
                    };
                    assert_eq!(
                        length(relation),
                        length(&all_pairs),
                        "{} {}",
                        patterns[a],
                        patterns[b]
                    );
                }
                relation.map_or(Kind::None, |relation| relation.kind)
            };
            if all_pairs.kind == Kind::None && x == y {
                // Both claim nothing.
                continue;
            }
            assert_eq!(indexed, all_pairs.kind, "{} {}", patterns[a], patterns[b]);
            count += usize::from(indexed != Kind::None);
        }
    }
    count
}

#[test]
fn generated_patterns() {
    let mut found = 0;
    for seed in 0..4 {
        found += check(&frame_patterns(250, seed));
    }
    assert!(found > 100, "{found}");
}

/// Patterns of few short words, so that most pairs touch in some way.
fn crowded(rng: &mut Rng, count: usize) -> Vec<String> {
    let words = ["kv", "a", "norm", "add", "rope", "moe", "fused", "q"];
    let glue = ["::", "_", "", "::", "_", ".*", ".", r"\w+", "[^:]*", "(?:::|_)"];
    let ends = [
        "",
        "",
        "",
        "::",
        "_",
        "$",
        r"\b",
        "(?!_kv)",
        "(?=::)",
        "[ab]",
        "+",
        ".*",
        "(?:_q)?",
        "(?>_a|_ad)",
    ];
    let starts = ["", "", "", "", "^", r"\b", "::", "_", "(?i)", "(?<!_)", ".*", r"\w*"];
    let mut all: Vec<String> = Vec::new();
    while all.len() < count {
        let mut branches = Vec::new();
        for branch in 0..=rng.below(4) / 3 {
            let mut text = String::new();
            if branch == 0 {
                text.push_str(starts[rng.below(starts.len())]);
            }
            for word in 0..=rng.below(3) {
                if word > 0 {
                    text.push_str(glue[rng.below(glue.len())]);
                }
                text.push_str(words[rng.below(words.len())]);
            }
            text.push_str(ends[rng.below(ends.len())]);
            branches.push(text);
        }
        all.push(branches.join("|"));
    }
    all
}

#[test]
fn patterns_that_touch() {
    let cases: u64 =
        std::env::var("REGLINT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    for seed in 0..(cases / 1_000).clamp(1, 100) {
        let mut rng = Rng(seed);
        assert!(check(&crowded(&mut rng, 70)) > 100);
    }
}

#[test]
fn a_pattern_at_odds_with_many_is_one_crowd() {
    let mut patterns: Vec<String> = (0..200).map(|i| format!("encoder::layer_{i}_run")).collect();
    patterns.push("encoder::".to_owned());
    patterns.push("other::thing".to_owned());
    patterns.push("thing::else".to_owned());
    let asts = asts(&patterns);
    let found = pairs(&asts.iter().collect::<Vec<_>>(), Budget::default());
    let (crowds, alone) = found.crowds(8);
    assert_eq!(crowds.len(), 1);
    assert_eq!((crowds[0].pattern, crowds[0].findings.len()), (200, 200));
    assert_eq!(alone.len(), 1);
}

/// What a run finds does not depend on the number of threads, not even where pairs are cut short.
#[test]
fn the_number_of_threads_changes_nothing() {
    let mut rng = Rng(5);
    let mut lists = vec![
        (frame_patterns(1_500, 11), None),
        (frame_patterns(1_500, 12), Some(400_000)),
        (crowded(&mut rng, 60), Some(100_000)),
    ];
    let hard = (0..30).map(|i| format!("(a|b)*a(a|b){{{}}}$", 15 + i));
    lists.push((hard.collect(), Some(3_000_000)));
    for (list, total) in &lists {
        let asts = asts(list);
        let all: Vec<&Ast> = asts.iter().collect();
        let find = |threads| -> Pairs {
            let index = Index::new(&all, Budget::default()).with_threads(threads);
            match total {
                Some(total) => index.with_total(*total).pairs(),
                None => index.pairs(),
            }
        };
        let alone = find(1);
        for threads in [2, 5] {
            assert_eq!(find(threads), alone);
        }
        let cut = |f: &Finding| f.relation.kind == Kind::Undecided(Reason::Bound(Bound::Total));
        assert!(!alone.findings.is_empty());
        assert_eq!(alone.findings.iter().any(cut), total.is_some());
    }
}

/// Where every state of a pattern leads to every later one, it is held against all others at once.
#[test]
fn patterns_of_too_many_triples() {
    let many = "[ab]?[cd]?[ef]?".repeat(30);
    let mut patterns = ["abcdef_q", "x_yz", "bdfx_yk"].map(str::to_owned).to_vec();
    patterns.push(format!("{many}x_y"));
    patterns.extend((0..6).map(|i| format!("cebd::w{i}_(?:abc|x_yy)")));
    assert!(check(&patterns) >= 2);
}

/// A file of the public rule sets, where the data is at hand.
fn rule_set_file(name: &str) -> Option<String> {
    let shared = std::env::var_os("REGLINT_SHARED").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        std::path::PathBuf::from,
    );
    std::fs::read_to_string(shared.join("rulesets").join(name)).ok()
}

/// The patterns of a public rule set.
fn rule_set(name: &str) -> Option<Vec<Ast>> {
    let text = rule_set_file(name)?;
    let register: serde_json::Value = serde_json::from_str(&text).ok()?;
    let patterns = register["hypotheses"]
        .as_array()?
        .iter()
        .filter_map(|h| h["canonical_frame_regex"].as_str());
    Some(patterns.filter_map(|pattern| parse(pattern, Versions::ALL).ok()).collect())
}

#[test]
fn public_rule_sets_are_decided() {
    for name in ["gitleaks.json", "crawler-user-agents.json"] {
        let Some(asts) = rule_set(name) else {
            println!("skipped: no {name}");
            continue;
        };
        let start = std::time::Instant::now();
        let found = pairs(&asts.iter().collect::<Vec<_>>(), Budget::default());
        let mut kinds: std::collections::BTreeMap<String, usize> =
            std::collections::BTreeMap::new();
        for finding in &found.findings {
            *kinds.entry(format!("{:?}", finding.relation.kind)).or_default() += 1;
        }
        let (patterns, unknown) = (asts.len(), found.unknown.len());
        println!(
            "{name}: {patterns} patterns, {:.1?}, {kinds:?}, {unknown} unknown",
            start.elapsed()
        );
        assert!(patterns > 100 && unknown == 0 && found.left_out == 0);
        let undecided = |f: &&Finding| matches!(f.relation.kind, Kind::Undecided(_));
        assert!(found.findings.iter().filter(undecided).count() <= 3, "{name}: {kinds:?}");
    }
}

/// Where patterns of a public rule set claim the same real line, either the index says so, or they
/// match different text of it, or text in common in which no identifier starts (`BrandVerity` and
/// `Verity/`).
#[test]
fn double_claims_of_a_public_rule_set_are_explained() {
    let (Some(asts), Some(truth), Some(lines)) = (
        rule_set("crawler-user-agents.json"),
        rule_set_file("crawler-user-agents.truth.json"),
        rule_set_file("crawler-user-agents.frames.txt"),
    ) else {
        println!("skipped: no crawler-user-agents");
        return;
    };
    let found = pairs(&asts.iter().collect::<Vec<_>>(), Budget::default());
    let matchers: Vec<Matcher> = asts.iter().map(Matcher::new).collect();
    let truth: serde_json::Value = serde_json::from_str(&truth).expect("JSON");
    let overlaps = truth["overlaps"].as_array().expect("a list");
    let (mut said, mut apart, mut inside) = (0, 0, 0);
    for pair in overlaps {
        let [a, b] =
            ["a_index", "b_index"].map(|name| pair[name].as_u64().expect("an index") as usize);
        let same = |all: &Vec<usize>| all.contains(&a) && all.contains(&b);
        let finding = |f: &Finding| (f.a, f.b) == (a.min(b), a.max(b));
        if found.same.iter().any(same) || found.findings.iter().any(finding) {
            said += 1;
            continue;
        }
        let mut in_common = false;
        for line in lines.lines() {
            let chars: Vec<char> = line.chars().collect();
            let claims =
                |at: usize| matches!(matchers[at].search_chars(&chars), Outcome::Match(..));
            if !claims(a) || !claims(b) {
                continue;
            }
            let found_by = |at: usize| matchers[at].all_matches(&chars).expect("few");
            for x in found_by(a) {
                for y in found_by(b) {
                    let shared = x.start.max(y.start)..x.end.min(y.end);
                    in_common |= !shared.is_empty();
                    let starts =
                        |&at: &usize| is_word(chars[at]) && (at == 0 || !is_word(chars[at - 1]));
                    assert!(!shared.clone().any(|at| starts(&at)), "{pair}: {line}");
                }
            }
        }
        *if in_common { &mut inside } else { &mut apart } += 1;
    }
    println!(
        "{} double claims: {said} said, {apart} of different text, {inside} inside identifiers",
        overlaps.len()
    );
    assert_eq!(said + apart + inside, overlaps.len());
    assert!(said > 0 && inside < overlaps.len() / 5);
}
