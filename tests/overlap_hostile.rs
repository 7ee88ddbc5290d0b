//! Patterns made to take for ever: each answer comes, and says which bound was met where one was.
//!
//! Each test prints how long it took and the process's peak memory; run one alone to have its own:
//! `cargo test --release --test overlap_hostile NAME -- --nocapture`. A time is never asserted.
#![allow(clippy::format_collect, clippy::too_many_lines, clippy::cast_precision_loss)]
#![allow(clippy::print_stdout, reason = "the measures are for reading")]

use std::time::Instant;

use reglint::overlap::{
    Answer, Bound, Budget, Finding, Kind, Member, Pairs, Reason, Wanted, claims_everything,
    claims_nothing, few, pairs, relation,
};
use reglint::pattern::{Ast, Versions, parse};

/// Prints what a test cost when it ends.
struct Measure(&'static str, Instant);

impl Measure {
    fn new(name: &'static str) -> Self {
        Self(name, Instant::now())
    }
}

/// The seconds that the process has run for: on a busy machine that says more than a clock.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: f64 =
        stat.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

impl Drop for Measure {
    fn drop(&mut self) {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: ?");
        println!("{}: {:.2?}, {:.2} s of processor, {peak}", self.0, self.1.elapsed(), cpu());
    }
}

fn ast(pattern: &str) -> Ast {
    let shown: String = pattern.chars().take(60).collect();
    parse(pattern, Versions::ALL).unwrap_or_else(|error| panic!("{shown}: {error:?}"))
}

/// The relation both ways round, and both questions about one pattern; the reason if there is one.
fn ask(a: &str, b: &str) -> Option<Reason> {
    let (x, y) = (ast(a), ast(b));
    let (start, before) = (Instant::now(), cpu());
    let kinds =
        [relation(&x, &y, Budget::default()).kind, relation(&y, &x, Budget::default()).kind];
    let answers = [claims_everything(&x, Budget::default()), claims_nothing(&x, Budget::default())];
    let shown: String = a.chars().take(40).collect();
    println!("  {shown}: {kinds:?} {:.2?}, {:.2} s of processor", start.elapsed(), cpu() - before);
    let of = |kind: &Kind| match kind {
        Kind::Undecided(reason) => Some(reason.clone()),
        _ => None,
    };
    assert_eq!(of(&kinds[0]).is_some(), of(&kinds[1]).is_some());
    let single = answers.into_iter().find_map(|answer| match answer {
        Answer::Undecided(reason) => Some(reason),
        Answer::Yes | Answer::No(_) => None,
    });
    of(&kinds[0]).or(single)
}

fn undecided(found: &Pairs) -> usize {
    let is = |kind: &Kind| matches!(kind, Kind::Undecided(_));
    found.findings.iter().filter(|finding| is(&finding.relation.kind)).count()
}

fn all(patterns: &[String]) -> Pairs {
    let asts: Vec<Ast> = patterns.iter().map(|pattern| ast(pattern)).collect();
    let (start, before) = (Instant::now(), cpu());
    let found = pairs(&asts.iter().collect::<Vec<_>>(), Budget::default());
    println!(
        "  {} patterns: {:.2?}, {:.2} s of processor; {} findings, {} undecided, {} unknown, {} left out, {} more",
        patterns.len(),
        start.elapsed(),
        cpu() - before,
        found.findings.len(),
        undecided(&found),
        found.unknown.len(),
        found.left_out,
        found.more.len(),
    );
    found
}

#[test]
fn nesting() {
    let _measure = Measure::new("nesting");
    for deep in [10_000, 100_000] {
        // CPython refuses it, and so does the parser: the engine never sees it.
        assert!(parse(&"(".repeat(deep), Versions::ALL).is_err());
        assert!(parse(&("(".repeat(deep) + &")".repeat(deep)), Versions::ALL).is_err());
    }
    for (open, close) in
        [("(", ")"), ("(?:", ")"), ("(?>", ")"), ("(?:a|", ")"), ("(?:", ")*"), ("(?:", ")*+")]
    {
        let deep = format!("{}ab{}", open.repeat(190), close.repeat(190));
        ask(&deep, "ab");
    }
    for (open, close) in [
        ("(?=", ")"),
        ("(?!", ")"),
        ("(?=a*", ")"),
        ("(?!a|.*b", ")"),
        ("(?<=", ")"),
        ("(?<!", ")"),
        ("(?<=(?=", "))"),
        ("(?<!a(?=.*", ").)"),
    ] {
        for depth in [20, 400] {
            let deep = format!("{}b{}a+b", open.repeat(depth), close.repeat(depth));
            if parse(&deep, Versions::ALL).is_ok() {
                ask(&deep, "ab");
            }
        }
    }
}

#[test]
fn large_automata() {
    let _measure = Measure::new("large automata");
    assert_eq!(ask("(a{1,1000}){1,1000}b", "ab"), Some(Reason::Bound(Bound::Size)));
    assert_eq!(ask("((a{1,100}){1,100}){1,100}b", "ab"), Some(Reason::Bound(Bound::Size)));
    ask("(a{1,300}){1,300}b", "ab");
    ask("(?:ab?){1,1000}c", "(?:a?b){1,999}c");
    ask("a{1,60000}b", "ab");
    ask("a{60000}b", "a{50000}b");
    ask("(?:a|b|c|d){1,500}x_", "(?:b|c|d|e){1,400}x_");
    ask("(?>(a{1,100}b?){1,60})c", "ab");
    let steps = "(?>a|bb)".repeat(400);
    ask(&format!("(?>{steps})c"), "ab");
    let branches = "(?:a|bb)".repeat(40);
    ask(&format!("(?>{branches})c"), "ab");
}

#[test]
fn a_long_alternation() {
    let _measure = Measure::new("a long alternation");
    let words: Vec<String> = (0..160_000).map(|i| format!("module_{i}::function_{i}_of")).collect();
    let text = words.join("|");
    assert!(text.len() > 4_500_000);
    assert_eq!(ask(&text, "module_77"), Some(Reason::Bound(Bound::Size)));
    let text = words[..20_000].join("|");
    ask(&text, "module_77");
    let letters = "a|".repeat(2_500_000) + "b";
    ask(&letters, "ab");
}

#[test]
fn classes() {
    let _measure = Measure::new("classes");
    let class = |step: usize| -> String {
        (0xA0..0x1_0000u32)
            .step_by(step)
            .filter_map(char::from_u32)
            .filter(|c| c.is_alphanumeric())
            .collect()
    };
    ask(&format!("[{}]x", class(2)), &format!("[{}]x", class(3)));
    ask(&format!("(?i)[{}]x", class(2)), &format!("(?i)[{}]x", class(3)));
    let many: String = class(7).chars().map(|c| format!("[{c}x]")).collect();
    assert_eq!(ask(&many, "x"), Some(Reason::Bound(Bound::Characters)));
    ask(&format!("[{}]{{3}}", class(11)), r"\w\w\W");
}

#[test]
fn sets_of_states() {
    let _measure = Measure::new("sets of states");
    for n in [14, 16, 18, 20, 24, 30, 100] {
        ask(&format!("(a|b)*a(a|b){{{n}}}"), "ab");
        ask(&format!("(a|b)*a(a|b){{{n}}}$"), &format!("(a|b)*a(a|b){{{}}}[ab]$", n - 1));
    }
    ask(r"(?:\w*_\w*){12}x$", r"(?:\w*_\w*){13}y$");
    ask(r".*a.{20}b.{20}c", r".*a.{19}b.{21}c");
    let any: String = ('a'..='z').map(|c| format!("(?=.*{c}.{{9}})")).collect();
    ask(&format!("^{any}x"), "x_y");
}

#[test]
fn lookarounds() {
    let _measure = Measure::new("lookarounds");
    let ahead: String = (0..300).map(|i| format!("(?=.*w{i}_)")).collect();
    ask(&format!("{ahead}x"), "w7_");
    let ahead: String = (0..300).map(|i| format!("(?!.*w{i}_)")).collect();
    ask(&format!("{ahead}x"), "w7_");
    let behind: String = (0..60).map(|i| format!("(?:(?<=w{i}_)a)?")).collect();
    ask(&format!("{behind}x"), "w7_ax");
    let behind: String = (0..400).map(|i| format!("(?:(?<!w{i})|a)")).collect();
    ask(&format!("{behind}x"), "w7_ax");
    let mixed: String = (0..40).map(|i| format!("(?:(?=.*a.{{{i}}}b)|(?=.*b.{{{i}}}a))")).collect();
    // Each way through them is an edge with conditions of its own.
    assert_eq!(ask(&format!("{mixed}x"), "ax"), Some(Reason::Bound(Bound::Size)));
    ask(&format!("(?:{mixed}x)*y"), "axy");
    ask(&format!("(?<=a{}){}x", ".".repeat(60), mixed), "axx");
    let each: String =
        (0..18).map(|i| format!("(?=.*(?:a{}|b{}))(?=.*x{})", i, i + 7, i)).collect();
    ask(&format!("(?:{each}.)*y_"), "axy_");
    ask(r"(?:(?=.*a.*b.*c)(?!.*c.*b.*a).)*(?<!ab.c)xyz_", r"(?:(?!.*xyz.*zyx).)*xyz_");
}

#[test]
fn backtracking() {
    let _measure = Measure::new("backtracking");
    ask(r"((a+)+)+\2$", r"((a*)*)*b_c$");
    ask(r"(a?){40}a{40}(?:\1|b)$", "aaaa_aaa");
    ask(r"(?>(?:a|ab|abc|b|c)*?)(x*)\1y_zz", r"(?:a|ab|abc|b|c)*y_zz");
    ask(r"(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5name_x", r"name_x.*(.+)\1");
    ask(r"(?>(?:.*_)*.*)(?>(?:a*_)*b)x", r"b_xa.*");
}

/// Registers in which every pair is hard.
#[test]
fn many_hard_patterns() {
    let _measure = Measure::new("many hard patterns");
    let lists: [Vec<String>; 6] = [
        (0..1_000).map(|i| format!("(a|b)*a(a|b){{{}}}$", 15 + i)).collect(),
        (0..1_000).map(|i| format!("(?:a|b)*a[ab]{{{}}}x_{i}$", 15 + i % 50)).collect(),
        (0..1_000).map(|i| format!("((a+)+)+\\{}_n{i}$", 1 + i % 2)).collect(),
        (0..1_000).map(|i| format!("(a{{1,300}}){{1,300}}n{i}")).collect(),
        (0..1_000).map(|i| format!("(?=.*a.{{{}}}b)(?!.*b.{{9}}a)x.*y{i}_z", i % 90)).collect(),
        (0..1_000).map(|i| format!(".*(?:.*a.*b.*)*n.{{{i}}}k_f.*$")).collect(),
    ];
    for list in &lists {
        all(list);
    }
}

#[test]
fn many_large_automata() {
    let _measure = Measure::new("many large automata");
    // Each is made almost to its bound before it turns out to be too large; what that costs is paid for,
    // and what comes behind them is still compared.
    let mut many: Vec<String> = (0..400).map(|i| format!("(?:a?b?c?){{900}}x{i}")).collect();
    many.extend(["mod::.*_norm".to_owned(), "::rms_norm".to_owned()]);
    let found = all(&many);
    assert!(found.unknown.len() >= 300);
    assert!(found.unknown.iter().all(|(at, _)| *at < 400));
    let of_last = |finding: &Finding| (finding.a, finding.b) == (400, 401);
    let last = found.findings.iter().find(|finding| of_last(finding));
    assert_eq!(last.map(|finding| &finding.relation.kind), Some(&Kind::Partial));
    // What is seen to be too large before anything is made costs nothing.
    let mut many: Vec<String> = (0..400).map(|i| format!("(a{{1,1000}}){{1,1000}}x{i}")).collect();
    many.push("(?:a?b?){100}y".to_owned());
    assert!(all(&many).unknown.iter().all(|(at, _)| *at < 400));
}

#[test]
fn few_long_texts() {
    let _measure = Measure::new("few long texts");
    // Each place of each may begin each other one, and looks right for long.
    let texts: Vec<String> = (0..10).map(|i| format!("{}{i}", "a".repeat(200_000))).collect();
    let members: Vec<Member<'_>> = texts.iter().map(|text| Member::Text(text)).collect();
    let found = few(&members, &|_| None, &|_, _| Wanted::Relation);
    assert_eq!((found.findings.len(), found.open.len()), (0, 0));
    // One of which is in the other is found behind all that is alike.
    let longer = format!("{}b", texts[3]);
    let members = [Member::Text(&longer), Member::Text(&texts[3])];
    let found = few(&members, &|_| None, &|_, _| Wanted::Relation);
    assert_eq!(found.findings.first().map(|it| &it.relation.kind), Some(&Kind::AWithinB));
}

#[test]
fn many_sets_beyond_ascii() {
    let _measure = Measure::new("many sets beyond ASCII");
    let set = |i: u32| -> String {
        (0..60).filter_map(|j| char::from_u32(0x4E00 + (i * 37 + j * 11) % 2_000)).collect()
    };
    // Every pair has an alphabet of its own.
    let many: Vec<String> = (0..400).map(|i| format!("[{}]{{3}}q", set(i))).collect();
    let found = all(&many);
    assert_eq!((undecided(&found), found.unknown.len()), (0, 0));
    let many: Vec<String> = (0..400).map(|i| format!(r"[\w{}]+x{i}", set(i))).collect();
    all(&many);
}

#[test]
fn sets_whose_case_is_ignored() {
    let _measure = Measure::new("sets whose case is ignored");
    let set = |i: u32, width: u32| {
        let [first, last] = [0x400 + i % 500, 0x400 + i % 500 + width + i % 700];
        let char = |c| char::from_u32(c).unwrap_or_default();
        format!("[{}-{}]", char(first), char(last))
    };
    // Too many ranges for one pattern: nothing is worked out.
    let many: String = (0..60_000).map(|i| set(i, 12_000)).collect();
    assert_eq!(ask(&format!("(?i){many}"), "b"), Some(Reason::Bound(Bound::Ranges)));
    let found =
        all(&[format!("(?i){many}"), format!("(?i)a{many}"), "c.d".to_owned(), "c.".to_owned()]);
    assert!(
        found.unknown.iter().all(|(at, reason)| *at < 2 && *reason == Reason::Bound(Bound::Ranges))
    );
    assert_eq!((found.unknown.len(), found.findings.len()), (2, 1));
    // As many as one may have, many times over: what follows is still compared.
    let many = |i: u32| -> String { (0..2_000).map(|j| set(i + j, 12_000)).collect() };
    let mut all_of: Vec<String> = (0..100).map(|i| format!("(?i)x{i}{}", many(i))).collect();
    all_of.extend(["mod::.*_norm".to_owned(), "::rms_norm".to_owned()]);
    let found = all(&all_of);
    assert!(found.unknown.iter().all(|(at, _)| *at < 100));
    assert!(found.findings.iter().any(|finding| (finding.a, finding.b) == (100, 101)));
    // Few in each, which every pair tells apart anew.
    let some = |i: u32| -> String { (0..20).map(|j| set(i * j, 9_000)).collect() };
    all(&(0..200).map(|i| format!("(?i){}", some(i))).collect::<Vec<_>>());
}

#[test]
fn more_pairs_than_can_be_decided() {
    let _measure = Measure::new("more pairs than can be decided");
    // Every pair has something in common, in each of the spellings that case allows.
    let found = all(&(0..3_000).map(|i| format!("(?i)x{i}.*?y")).collect::<Vec<_>>());
    assert!(found.left_out > 0 && !found.findings.is_empty());
}

#[test]
fn long_texts_that_are_alike() {
    let _measure = Measure::new("long texts that are alike");
    // Each place of the one may begin the other, and each is compared to its end.
    let found =
        all(&[format!("c{}.*z", "a_".repeat(300_000)), format!("{}b.*y", "a_".repeat(300_000))]);
    assert_eq!(found.left_out, 1);
    let many: Vec<String> =
        (0..200).map(|more| format!("{}.*b", "::".repeat(1_000 + more))).collect();
    let found = all(&many);
    assert!(found.left_out > 0);
}
