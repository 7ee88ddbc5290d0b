//! Every single mistake of many kinds, at every place of a register, gives one finding.
//!
//! `REGLINT_MISTAKES=all` tries every place in every layout; without it a share of them is tried,
//! the same in every run. `REGLINT_SHOW_MISTAKES=1` prints how many findings each kind gives.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

#[path = "support/registers.rs"]
mod registers;

use std::collections::BTreeMap;
use std::ops::Range;

use registers::{diagnostics, minified};
use reglint::diagnostic::Diagnostic;

/// A register with every form of a member, at the start, in the middle and at the end of what is
/// around it.
const REGISTER: &str = r#"{
  "family": "fam",
  "_note": ["kept by hand", 1.5, true],
  "hypotheses": [
    {
      "id": "H1",
      "description": "The \"decode\" path, mostly (see H2).",
      "canonical_frame_regex": "^a::b\\d+\\(",
      "subcomponent_regexes": {
        "first": "x::y",
        "second": "z\\.w"
      },
      "static_estimate_us_per_token": 12.5
    },
    {
      "_tags": ["one", "two"],
      "id": "H2",
      "subcomponent_regexes": {
        "only": "q::r",
        "other": "s::t"
      },
      "description": "d",
      "canonical_frame_regex": "c::d",
      "static_estimate_us_per_token": null,
      "frames": {
        "claimed": ["c::d e", "c::d f"],
        "spared": []
      }
    },
    {
      "id": "H3",
      "description": "d, too",
      "canonical_frame_regex": "e_(f|g)::h\u0069",
      "frames": {
        "spared": [
          "i::j",
          "k::l"
        ]
      },
      "links": {}
    }
  ]
}
"#;

fn layouts() -> [(&'static str, String); 4] {
    // One hypothesis a line.
    let mut lines = String::new();
    for line in REGISTER.lines() {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if depth > 4 {
            lines.push_str(text);
            lines.push(' ');
        } else if lines.ends_with(' ') {
            lines.truncate(lines.len() - 1);
            lines.push_str(text);
            lines.push('\n');
        } else if depth == 4 {
            lines.push_str(line);
        } else {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    [
        ("pretty", REGISTER.to_owned()),
        ("crlf", REGISTER.replace('\n', "\r\n")),
        ("lines", lines),
        ("minified", minified(REGISTER)),
    ]
}

/// The tokens of a text that is right.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b' ' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'{' | b'}' | b'[' | b']' | b':' | b',' => at += 1,
            _ => {
                while bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.' {
                    at += 1;
                }
            }
        }
        found.push(start..at);
    }
    found
}

/// A mistake: its kind, where it is, and what stands there.
struct Mistake {
    kind: String,
    at: Range<usize>,
    new: String,
}

/// All mistakes of a text.
#[expect(clippy::too_many_lines, reason = "one kind after the other")]
fn mistakes(text: &str) -> Vec<Mistake> {
    let mut all = Vec::new();
    let mut add = |kind: &str, at: Range<usize>, new: &str| {
        all.push(Mistake { kind: kind.to_owned(), at, new: new.to_owned() });
    };
    let tokens = tokens(text);
    let line_end = if text.contains('\r') { "\r\n" } else { "\n" };
    for (index, token) in tokens.iter().enumerate() {
        let spelled = &text[token.clone()];
        let (start, end) = (token.start, token.end);
        if spelled.len() == 1 && "{}[]:,".contains(spelled) {
            add(&format!("delete {spelled}"), token.clone(), "");
            add(&format!("double {spelled}"), end..end, spelled);
            let others: &[&str] = match spelled {
                "{" => &["[", "("],
                "[" => &["{", "("],
                "}" => &["]", ")"],
                "]" => &["}", ")"],
                ":" => &["=", ",", ";", "=>", "."],
                _ => &[";", ":", "."],
            };
            for other in others {
                add(&format!("{spelled} as {other}"), token.clone(), other);
            }
        }
        if let Some(next) = tokens.get(index + 1)
            && let other = &text[next.clone()]
            && [spelled, other].iter().all(|it| it.len() == 1 && "{}[]:,".contains(*it))
        {
            let swapped = format!("{other}{}{spelled}", &text[end..next.start]);
            add("swap two", start..next.end, &swapped);
        }
        if spelled.starts_with('"') {
            let inner = &spelled[1..spelled.len() - 1];
            let is_name = text[end..].trim_start().starts_with(':');
            let what = if is_name { "name" } else { "string" };
            for (kind, new) in [
                ("delete first \" of", format!("{inner}\"")),
                ("delete last \" of", format!("\"{inner}")),
                ("double first \" of", format!("\"\"{inner}\"")),
                ("double last \" of", format!("\"{inner}\"\"")),
                ("first \" as ' of", format!("'{inner}\"")),
                ("last \" as ' of", format!("\"{inner}'")),
                ("both \" as ' of", format!("'{inner}'")),
                ("\" within", format!("\"{}\"{}\"", &inner[..1], &inner[1..])),
                ("\\u00 in", format!("\"{inner}\\u00\"")),
                ("\\u00 and a space in", format!("\"\\u00 {inner}\"")),
                ("\\u00g0 in", format!("\"\\u00g0{inner}\"")),
                ("\\ at the end of", format!("\"{inner}\\\"")),
                ("\\d in", format!("\"\\d{inner}\"")),
                ("line end in", format!("\"{}{line_end}{}\"", &inner[..1], &inner[1..])),
            ] {
                add(&format!("{kind} {what}"), token.clone(), &new);
            }
            if is_name {
                let colon = tokens.get(index + 1).map_or(end, |next| next.end);
                add("colon within \" of name", start..colon, &format!("\"{inner}:\""));
            } else {
                for (kind, new) in [
                    ("a:: line end b:: for", format!("\"M::{line_end}  alloc::\"")),
                    ("a line end ::b for", format!("\"M{line_end}::alloc::\"")),
                    ("a:: \\ LF b for", format!("\"a::\" \\{line_end} \"b\"")),
                    ("` with a line end for", format!("`a{line_end}b`")),
                ] {
                    add(&format!("{kind} {what}"), token.clone(), &new);
                }
            }
            // Without its quotation marks, text with a comma is as much as two members.
            if !inner.contains([',', '\\']) {
                add(&format!("delete both \" of {what}"), token.clone(), inner);
            }
            if inner.len() > 1 && !inner.starts_with('\\') && !inner[1..].starts_with('\\') {
                let (a, b) = inner.split_at(1);
                for (kind, by) in [
                    ("\"a\" + \"b\"", " + ".to_owned()),
                    ("\"a\"+\"b\"", "+".to_owned()),
                    ("\"a\" \"b\"", " ".to_owned()),
                    ("\"a\" + LF \"b\"", format!(" +{line_end}        ")),
                    ("\"a\" LF + \"b\"", format!("{line_end}        + ")),
                    ("\"a\" LF \"b\"", format!("{line_end}        ")),
                    ("\"a\" . \"b\"", " . ".to_owned()),
                    ("\"a\" \\ LF \"b\"", format!(" \\{line_end}      ")),
                ] {
                    add(&format!("{kind} {what}"), token.clone(), &format!("\"{a}\"{by}\"{b}\""));
                }
            }
        }
        let is_value = index > 0 && &text[tokens[index - 1].clone()] == ":";
        if is_value && (spelled == "{" || spelled == "[") {
            add("string before container", start..start, "\"s\" ");
            add("word and line end before container", start..start, &format!("x {line_end}"));
        }
        if spelled.len() > 1 && !spelled.starts_with('"') {
            add("end within", start + 1..text.len(), "");
        }
        for (kind, new) in [
            ("insert /* */", "/* a \"b\", c */".to_owned()),
            ("insert //", format!("// a: {{b}}, c{line_end}")),
            ("insert #", format!("# no \"c\"{line_end}")),
            ("insert +", "+".to_owned()),
            ("insert word", " foo ".to_owned()),
            ("insert ...", "...".to_owned()),
            ("insert 1", " 1 ".to_owned()),
            ("insert {", "{".to_owned()),
            ("insert }", "}".to_owned()),
            ("insert [", "[".to_owned()),
            ("insert ]", "]".to_owned()),
            ("insert :", ":".to_owned()),
            ("insert ,", ",".to_owned()),
            ("insert \"", "\"".to_owned()),
            ("insert '", "'".to_owned()),
        ] {
            add(kind, start..start, &new);
        }
        add("end before", start..text.len(), "");
    }
    all
}

/// What is found in `text`, a finding a line.
fn findings(text: &str) -> Vec<String> {
    let line = |it: &Diagnostic| {
        let span = it.primary.span;
        let shown = text.get(span.range()).unwrap_or_default();
        format!("{} at {}: {} {shown:?}", it.rule, span.start, it.message)
    };
    diagnostics(&[("r.json", text)]).iter().map(line).collect()
}

/// Whether what is found besides the one syntax error is true all the same.
fn is_excused(kind: &str, found: &[String]) -> bool {
    let (syntax, others): (Vec<_>, Vec<_>) =
        found.iter().partition(|line| line.starts_with("invalid-json"));
    let all = |words: &[&str]| others.iter().all(|line| words.iter().any(|it| line.contains(it)));
    let is_true = match kind {
        // A value too many in a list: a comma is missing, and the value is of another type.
        "insert 1" => all(&["is a number, not"]),
        // A string of another kind that runs to the end of its line takes the brackets with it.
        "insert '" => all(&["is an object, not"]),
        // A list around the register that does not end.
        "insert [" => all(&["the register is an array"]),
        _ => false,
    };
    is_true && syntax.len() == 1
}

const H1: &str = r#""id":"H1","description":"d","canonical_frame_regex":"a::b""#;
const H2: &str = r#"{"id":"H2","description":"d","canonical_frame_regex":"c::d"}"#;

#[test]
fn so_do_these() {
    let long = "a::\n  b::c::\n  d::";
    for (text, words) in [
        (format!(r#"{{"hypotheses":{{{H1}}}]}}"#), "`[` is missing before this value"),
        (format!(r#"{{"hypotheses":[{{{H1}}},"links":{{}},{}]}}"#, &H2[1..]), "too early"),
        (format!(r#"{{"hypotheses":[{{{H1},{{"_n":1,{}]}}"#, &H2[1..]), "a member should stand"),
        (format!(r#"{{"hypotheses":[{{{H1},"links"{{}}}},{H2}]}}"#), "no colon"),
        (format!(r#"{{"hypotheses":[{{{H1},"links":{{}} "s"}},{H2}]}}"#), "`\"s\"` behind a value"),
        (format!(r#"{{"hypotheses":[{{{H1},"links":"s" {{}}}},{H2}]}}"#), "`\"s\"` before"),
        (format!(r#"{{"hypotheses":[{{{H1},"_n":[true,fals"#), "the file ends before"),
        (format!(r#"{{"hypotheses":[{{{H1},"_n":[1,-"#), "the file ends before"),
        (format!(r#"{{"hypotheses":[{{{H1},"_n":[1,...]}}]}}"#), "left out"),
        (
            format!("{{\"hypotheses\":[{{{H1},\"frames\":{{\"spared\":[\"x::y]}}}},\n{H2}]}}"),
            "this string is not closed",
        ),
        (format!("{{\"hypotheses\":[{{{H1},\"_n\":\"{long}\"}}]}}"), "the end of a line"),
        (format!("```json\n{{\"hypotheses\":[{H2}]}}\n```\n"), "a code fence"),
        (format!("const r = {{\"hypotheses\":[{H2}]}};\n"), "a statement"),
        (format!(r#"{{"hypotheses":[{{{H1},"\ud83dx":1}}]}}"#), "half of a surrogate pair"),
    ] {
        let found = findings(&text);
        assert!(found.len() == 1 && found[0].contains(words), "{text}\n{found:#?}");
    }
    // What is within a wrapper is checked.
    let found = findings(&format!("```\n{{\"hypotheses\":[{{{H1},\"x\":1}}]}}\n```"));
    assert_eq!(found.len(), 2, "{found:#?}");
    let found = findings(&format!(r#"{{"hypotheses":{{{H1},"x":1}}]}}"#));
    assert_eq!(found.len(), 2, "{found:#?}");
}

/// What is found in several registers, a finding a line.
fn findings_of(files: &[(&str, &str)]) -> Vec<String> {
    diagnostics(files).iter().map(|it| format!("{}: {}", it.rule, it.message)).collect()
}

#[test]
fn what_cannot_be_read_may_be_what_is_missed() {
    let hypotheses = format!("\"hypotheses\":[{H2}]}}");
    let linking = r#"{"hypotheses":[{"id":"L","description":"d","canonical_frame_regex":"c::d","links":{"gemma":"H2"}}]}"#;
    for family in ["\"gemma,\n", "\"g\nemma\",", ","] {
        let broken = format!("{{\"family\":{family}{hypotheses}");
        let found = findings_of(&[("a.json", &broken), ("b.json", linking)]);
        assert!(found.len() == 1 && found[0].starts_with("invalid-json"), "{found:#?}");
    }
    // It is missed where all can be read.
    let found = findings_of(&[("a.json", &format!("{{{hypotheses}")), ("b.json", linking)]);
    assert!(found.iter().any(|it| it.starts_with("unresolved-link")), "{found:#?}");

    let register = |id: &str, allow: &str| {
        format!(
            r#"{{"hypotheses":[{{"id":{id}"description":"d","canonical_frame_regex":"a::b"}},
            {{"id":"H2","description":"d","canonical_frame_regex":"a::b","_reglint":{{"allow":{{{allow}}}}}}}]}}"#
        )
    };
    let rule = "\"duplicate-canonical-frame\"";
    let right = format!(r#"{rule}:{{"reason":"r","with":"H1"}}"#);
    let other = format!(r#"{rule}:{{"reason":"r","with":"H2"}}"#);
    assert_eq!(findings_of(&[("a.json", &register("\"H1\",", &right))]), Vec::<String>::new());
    for (id, allow) in [
        ("\"H1,\n", right.as_str()),
        ("\"H1\",", &right.replace("\"H1\"", "\"H1")),
        ("\"H1\",", &right.replace("\"H1\"", "")),
        ("\"H1\",", "\"duplicate-canonical-fr\name\":\"r\""),
    ] {
        let found = findings_of(&[("a.json", &register(id, allow))]);
        assert!(found.len() == 1 && found[0].starts_with("invalid-json"), "{allow}: {found:#?}");
    }
    // One for another hypothesis that can be read is not for this one.
    let found = findings_of(&[("a.json", &register("\"H1,\n", &other))]);
    assert!(found.iter().any(|it| it.starts_with("duplicate-canonical-frame")), "{found:#?}");
}

#[test]
fn one_mistake_gives_one_finding() {
    let all = std::env::var_os("REGLINT_MISTAKES").is_some_and(|value| value == "all");
    let show = std::env::var_os("REGLINT_SHOW_MISTAKES").is_some();
    // A prime, so that each kind has its turn at places of every sort.
    let share = if all { 1 } else { 23 };
    let mut table = BTreeMap::<String, [usize; 5]>::new();
    let mut failures = Vec::new();
    let mut number = 0;
    for (layout, text) in &layouts() {
        assert_eq!(findings(text), Vec::<String>::new(), "{text}");
        for mistake in mistakes(text) {
            number += 1;
            if number % share != 0 {
                continue;
            }
            let Range { start, end } = mistake.at;
            let wrong = format!("{}{}{}", &text[..start], mistake.new, &text[end..]);
            // It is another register then, and a right one.
            if serde_json::from_str::<serde_json::Value>(&wrong).is_ok() {
                continue;
            }
            let found = findings(&wrong);
            assert!(found.iter().all(|line| !line.contains(['\n', '\r'])), "{found:?}");
            table.entry(mistake.kind.clone()).or_default()[found.len().min(4)] += 1;
            if found.len() != 1 && !is_excused(&mistake.kind, &found) {
                let before = text[..start].lines().last().unwrap_or_default();
                let behind: String = text[end..].chars().take(40).collect();
                let (kind, new, found) = (mistake.kind, mistake.new, found.join("\n    "));
                failures.push(format!("{kind} ({layout}): {before}«{new}»{behind:?}\n    {found}"));
            }
        }
    }
    if show {
        let sums =
            table.values().fold([0; 5], |sums, row| std::array::from_fn(|it| sums[it] + row[it]));
        eprintln!("mistakes that give 0, 1, 2, 3, and more findings:");
        for (kind, row) in table.iter().chain([(&"all".to_owned(), &sums)]) {
            eprintln!("{kind:32} {row:?}");
        }
    }
    assert!(failures.is_empty(), "{} mistakes:\n{}", failures.len(), failures.join("\n"));
}
