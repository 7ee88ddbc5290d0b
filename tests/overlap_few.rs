//! What is seen of a few patterns pair by pair is what the index finds among them.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

#[path = "support/frame_patterns.rs"]
mod frame_patterns;

use reglint::overlap::{
    Budget, Compiled, Kind, Member, Outline, Relation, Wanted, few, inclusion, relate,
};
use reglint::pattern::{Versions, ast::Ast, parse};

/// Patterns over few words, so that many pairs are at odds.
fn dense(rng: &mut frame_patterns::Rng) -> String {
    const WORDS: &[&str] = &["kv", "norm", "add", "a", "rope_x", "head", "f32", "lm"];
    const JOINS: &[&str] =
        &["::", "_", "", "::", "_", ".*", "(?!_x)", "|", "[xy]", "\\.", "(?i:A)"];
    let mut text = String::new();
    for at in 0..=rng.below(4) {
        if at > 0 {
            text.push_str(JOINS[rng.below(JOINS.len())]);
        }
        text.push_str(WORDS[rng.below(WORDS.len())]);
    }
    text
}

fn compare(texts: &[String]) {
    let asts: Vec<Ast> = texts.iter().map(|text| parse(text, Versions::ALL).unwrap()).collect();
    let outlines: Vec<Outline> = asts.iter().map(Outline::new).collect();
    let compiled: Vec<_> = asts.iter().map(|ast| Compiled::new(ast, Budget::default())).collect();
    let members: Vec<Member<'_>> = (0..asts.len())
        .map(|at| match outlines[at].plain() {
            Some(text) => Member::Text(text),
            None => Member::Other(&outlines[at]),
        })
        .collect();
    for wanted in [Wanted::Relation, Wanted::Inclusion] {
        let found = few(&members, &|at| compiled.get(at), &|_, _| wanted);
        let mut seen: Vec<(usize, usize, Kind)> =
            found.findings.into_iter().map(|f| (f.a, f.b, f.relation.kind)).collect();
        let ask: fn(&Compiled<'_>, &Compiled<'_>) -> Relation =
            if wanted == Wanted::Relation { relate } else { inclusion };
        seen.extend(found.open.iter().filter_map(|&(a, b)| {
            let kind = ask(&compiled[a], &compiled[b]).kind;
            (kind != Kind::None).then_some((a, b, kind))
        }));
        seen.sort_by_key(|(a, b, _)| (*a, *b));
        let mut expected = Vec::new();
        for b in 0..asts.len() {
            for a in 0..b {
                let kind = ask(&compiled[a], &compiled[b]).kind;
                if kind != Kind::None {
                    expected.push((a, b, kind));
                }
            }
        }
        expected.sort_by_key(|(a, b, _)| (*a, *b));
        assert_eq!(seen, expected, "{texts:?}");
    }
}

#[test]
fn nothing_is_missed_where_much_is_at_odds() {
    let mut rng = frame_patterns::Rng(7);
    for _ in 0..60 {
        let mut texts: Vec<String> = (0..16).map(|_| dense(&mut rng)).collect();
        texts.sort();
        texts.dedup();
        compare(&texts);
    }
}

#[test]
fn nothing_is_missed_among_generated_patterns() {
    for seed in 0..20 {
        let texts = frame_patterns::frame_patterns(40, seed);
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort();
        texts.dedup();
        compare(&texts);
    }
}
