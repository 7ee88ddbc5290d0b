//! Word characters, spaces, digits, case and sets against the CPython on the machine, over all
//! characters that it has assigned.
#![allow(missing_docs)]

mod support;

use reglint::pattern::ast::{Ast, NodeKind};
use reglint::pattern::case::{class_ranges, equivalents};
use reglint::pattern::{Versions, is_digit, is_space, is_word, parse};
use serde_json::{Value, json};
use support::{Rng, ask, cases, python, seed};

/// For each pattern the assigned characters that it matches, as ranges over the assigned ones.
const SCRIPT: &str = r"
import json, sys, re, unicodedata, warnings
warnings.simplefilter('ignore')
text = ''.join(c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ('Cn', 'Cs'))
print(json.dumps(text), flush=True)
sys.stdin.readline()
for line in sys.stdin:
    print(json.dumps(''.join(re.findall('(?s)' + json.loads(line), text))))
";

fn asked(python: &str, patterns: &[String]) -> (Vec<char>, Vec<String>) {
    let questions = std::iter::once(json!(null)).chain(patterns.iter().map(|p| json!(p))).collect();
    let mut answers = ask(python, SCRIPT, questions).into_iter().map(|answer| match answer {
        Value::String(text) => text,
        other => panic!("{other} is no text"),
    });
    let all = answers.next().expect("the characters").chars().collect();
    (all, answers.collect())
}

fn differences(all: &[char], ours: impl Fn(char) -> bool, theirs: &str) -> Vec<String> {
    let ours: String = all.iter().copied().filter(|c| ours(*c)).collect();
    if ours == theirs {
        return Vec::new();
    }
    let theirs: std::collections::BTreeSet<char> = theirs.chars().collect();
    let ours: std::collections::BTreeSet<char> = ours.chars().collect();
    ours.symmetric_difference(&theirs).take(9).map(|c| format!("U+{:04X}", u32::from(*c))).collect()
}

#[test]
fn the_three_sets_are_those_of_python() {
    let Some((python, _)) = python() else { return };
    let sets = [r"\w", r"\s", r"\d"].map(str::to_owned);
    let (all, answers) = asked(&python, &sets);
    assert!(all.len() > 280_000);
    let ours = [is_word, is_space, is_digit];
    for ((set, ours), theirs) in sets.iter().zip(ours).zip(&answers) {
        assert_eq!(differences(&all, ours, theirs), Vec::<String>::new(), "{set}");
    }
}

#[test]
fn literals_ignore_case_as_in_python() {
    let Some((python, _)) = python() else { return };
    let script = r"
import json, sys, re, unicodedata
text = ''.join(c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ('Cn', 'Cs'))
cased = ''.join(c for c in text if c != c.lower() or c != c.upper() or c != c.casefold())
print(json.dumps(cased), flush=True)
sys.stdin.readline()
for line in sys.stdin:
    c, ascii = json.loads(line)
    print(json.dumps(''.join(re.findall(re.escape(c), cased, re.I | (re.A if ascii else 0)))))
";
    let text = match ask(&python, script, vec![json!(null)]).remove(0) {
        Value::String(text) => text,
        other => panic!("{other} is no text"),
    };
    assert!(text.chars().count() > 2_700);
    let mut questions = vec![json!(null)];
    questions.extend(text.chars().map(|c| json!([c, false])));
    questions.extend(text.chars().take(300).map(|c| json!([c, true])));
    let answers = ask(&python, script, questions.clone());
    for (question, answer) in questions.iter().zip(&answers).skip(1) {
        let c = question[0].as_str().and_then(|s| s.chars().next()).expect("a character");
        let ascii = question[1] == true;
        let ours: String =
            equivalents(c, ascii).into_iter().filter(|c| text.contains(*c)).collect();
        assert_eq!(answer, &json!(ours), "{c:?} U+{:04X} {ascii}", u32::from(c));
    }
}

fn ranges(ast: &Ast) -> Vec<(char, char)> {
    match &ast.root.kind {
        NodeKind::Class(class, flags) => class_ranges(class, *flags),
        other => panic!("{other:?} is no set"),
    }
}

#[test]
fn sets_match_what_they_match_in_python() {
    let Some((python, version)) = python() else { return };
    let mut sets: Vec<String> = [
        r"[a-z]",
        r"[^a-z]",
        r"[k]",
        r"[^k]",
        r"[kk]",
        r"[ks]",
        r"[\dK]",
        r"[\Wk]",
        r"[^\Wk]",
        r"[\w-]",
        r"\W",
        r"[\D]",
        "[ſ-ƀ]",
        "[İ1]",
        "[ıx]",
        "[Ͱ-Ͽ]",
        r"[\u0390\u1fd3]",
        "[\u{1C80}-\u{1C88}]",
        "[ǅx]",
        "[ßẞ]",
        "[ß1]",
        "[\u{10400}x]",
        "[\u{10428}x]",
        "[\u{10400}]",
        "[\u{10400}-\u{10410}]",
        "[\u{10428}-\u{10430}]",
        "[\u{FF00}-\u{10410}]",
        "[^\u{10400}-\u{10410}]",
        "[0-9]",
        "[0-9:]",
        "[A-F0-9]",
        r"[\s\S]",
        "[Ω1]",
        "[Å-Ç]",
        "[\u{13A0}-\u{13A5}]",
        "[\u{AB70}x]",
        "[\u{1E900}-\u{1E905}a]",
    ]
    .iter()
    .map(|set| (*set).to_owned())
    .collect();
    let mut rng = Rng::new(seed());
    let parts = [
        "a",
        "z",
        "K",
        "s",
        "i",
        "é",
        "É",
        "µ",
        "Σ",
        "ς",
        "ǆ",
        "0",
        "_",
        "-",
        "\u{10400}",
        "\u{10428}",
        "\u{1F0}",
        "ﬆ",
        "ﬅ",
    ];
    for _ in 0..cases(12).min(1_000) {
        let mut set = String::from(if rng.one_in(4) { "[^" } else { "[" });
        for _ in 0..=rng.below(3) {
            let (a, b) = (parts[rng.below(parts.len())], parts[rng.below(parts.len())]);
            match rng.below(4) {
                0 if a < b && a != "-" && b != "-" => set.extend([a, "-", b]),
                1 => set.push_str(rng.pick(&[r"\w", r"\W", r"\d", r"\D", r"\s", r"\S"])),
                _ => set.push_str(a.trim_start_matches('-')),
            }
        }
        if set.len() > 2 {
            set.push(']');
            sets.push(set);
        }
    }
    let patterns: Vec<String> = sets
        .iter()
        .flat_map(|set| ["(?u)", "(?i)", "(?a)", "(?ia)"].map(|flags| format!("{flags}{set}")))
        .collect();
    let (all, answers) = asked(&python, &patterns);
    for (pattern, theirs) in patterns.iter().zip(&answers) {
        let ast = parse(pattern, Versions::only(version)).expect("the set is valid");
        let ours = ranges(&ast);
        // The lower case of capitals that Unicode got after 14.0, which older ones do not lower.
        let newer = |c: char| matches!(c, '\u{19B}' | '\u{264}');
        let theirs: String = theirs.chars().filter(|c| !newer(*c)).collect();
        let ours = |c: char| !newer(c) && ours.iter().any(|(start, end)| *start <= c && c <= *end);
        // A binary search would do, but this says what is meant.
        assert_eq!(differences(&all, ours, &theirs), Vec::<String>::new(), "{pattern}");
    }
}
