//! Every change of a single character, at every place of a register, gives one finding that stands there.
//!
//! `REGLINT_CHARACTERS=all` tries every place in every layout; without it a share of them is tried, the same
//! in every run. `REGLINT_SHOW_CHARACTERS=1` prints how many findings each kind of change gives, and those
//! that give several.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

#[path = "support/registers.rs"]
mod registers;

use std::collections::BTreeMap;
use std::ops::Range;

use registers::{diagnostics, minified};
use reglint::diagnostic::Diagnostic;
use reglint::json;

const REGISTER: &str = r#"{
  "family": "fam",
  "hypotheses": [
    {
      "id": "H1",
      "description": "The \"decode\" path (see H2), µs",
      "canonical_frame_regex": "a::b\\d+\\(|^c\u003a:[d-e]o",
      "subcomponent_regexes": {
        "first": "x::y",
        "second": "z\\.w"
      },
      "static_estimate_us_per_token": 12.5,
      "frames": {
        "claimed": ["a::b7(", "c::do"],
        "spared": []
      },
      "links": {"other": null},
      "_reglint": {
        "allow": {"several-canonical-frames": "one lever"}
      }
    },
    {
      "_n": [1, true, {"a": -2e3}],
      "id": "H2",
      "description": "d",
      "canonical_frame_regex": "q::r",
      "static_estimate_us_per_token": null,
      "frames": {
        "spared": ["i::j"],
        "claimed": [
          "q::r s",
          "aq::rs"
        ]
      },
      "links": {
        "other": ["O1"]
      }
    }
  ]
}
"#;

/// A register of the family that the links name.
const OTHER: &str = r#"{"family":"other","hypotheses":[{"id":"O1","description":"d","canonical_frame_regex":"q::r"}]}"#;

fn layouts() -> [(&'static str, String); 4] {
    [
        ("pretty", REGISTER.to_owned()),
        ("crlf", REGISTER.replace('\n', "\r\n")),
        ("tabs", REGISTER.replace("  ", "\t")),
        ("minified", minified(REGISTER)),
    ]
}

/// What is put in, or for what stands there.
const CHARACTERS: &[char] = &[
    '{', '}', '[', ']', ':', ',', '"', '\'', '(', ')', ';', '=', 'x', '0', '-', '\\', '\t',
    '\u{a0}', '\n',
];

fn shown(c: char) -> String {
    match c {
        'a'..='z' | 'A'..='Z' => "letter".to_owned(),
        '1'..='9' => "digit".to_owned(),
        c if c.is_whitespace() => format!("{c:?}"),
        c => c.to_string(),
    }
}

/// How much of a text a strict parser does not read, in bytes; 0 where it reads all.
fn unread(text: &str) -> usize {
    let Err(error) = serde_json::from_str::<serde_json::Value>(text) else { return 0 };
    let lines: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    // At the end of the text nothing is left to read, and all the same it is not right.
    (text.len() + 1).saturating_sub(lines + error.column()).max(1)
}

/// Where the change of `at`, and the tokens next to it, are in `text`.
fn near(text: &str, at: Range<usize>) -> Range<usize> {
    let before = text[..at.start].trim_end();
    let start = if let Some(inner) = before.strip_suffix('"') {
        inner.rfind('"').unwrap_or(0)
    } else {
        let word = |c: char| c.is_alphanumeric() || "-.".contains(c);
        let len = before.len() - before.trim_end_matches(word).len();
        before.len() - len.max(before.chars().next_back().map_or(0, char::len_utf8))
    };
    let behind = text[at.end..].trim_start();
    let from = text.len() - behind.len();
    let len = match behind.strip_prefix('"') {
        Some(rest) => rest.find('"').map_or(behind.len(), |len| len + 2),
        None => {
            behind.find(|c: char| !c.is_alphanumeric() && !"-.".contains(c)).unwrap_or(0).max(1)
        }
    };
    start..(from + len).min(text.len())
}

#[derive(Default)]
struct Row {
    /// How many changes gave no, one, two, and more findings.
    found: [usize; 4],
    /// How many gave the first one elsewhere.
    far: usize,
    /// How many gave a repair that makes nothing better.
    idle: usize,
}

#[test]
#[expect(clippy::too_many_lines, reason = "one change after the other, and what it gives")]
fn one_character_gives_one_finding() {
    let all = std::env::var_os("REGLINT_CHARACTERS").is_some_and(|value| value == "all");
    let show = std::env::var_os("REGLINT_SHOW_CHARACTERS").is_some();
    // A prime, so that each kind has its turn at places of every sort.
    let share = if all { 1 } else { 97 };
    let mut table = BTreeMap::<String, Row>::new();
    let mut number = 0;
    for (layout, text) in &layouts() {
        assert_eq!(diagnostics(&[("r.json", text), ("o.json", OTHER)]), Vec::new(), "{text}");
        for (start, old) in text.char_indices().chain([(text.len(), ' ')]) {
            let end = (start + old.len_utf8()).min(text.len());
            let inserts = CHARACTERS.iter().map(|&new| (start..start, Some(new)));
            let replaces = CHARACTERS.iter().map(|&new| (start..end, Some(new)));
            for (at, new) in inserts.chain(replaces).chain([(start..end, None)]) {
                number += 1;
                if number % share != 0 || new == Some(old) || at.is_empty() && new.is_none() {
                    continue;
                }
                let put: String = new.into_iter().collect();
                let wrong = format!("{}{put}{}", &text[..at.start], &text[at.end..]);
                let left = unread(&wrong);
                if left == 0 {
                    continue;
                }
                let kind = match (at.is_empty(), new) {
                    (true, Some(new)) => format!("insert {}", shown(new)),
                    (_, Some(new)) => format!("{} as {}", shown(old), shown(new)),
                    _ => format!("delete {}", shown(old)),
                };
                let mut found = diagnostics(&[("r.json", &wrong), ("o.json", OTHER)]);
                found.sort_by_key(|it| it.rule != "invalid-json");
                let row = table.entry(kind.clone()).or_default();
                row.found[found.len().min(3)] += 1;
                let near = near(&wrong, at.start..at.start + put.len());
                // Of a bracket that is not closed, the place where it opens is shown, too.
                let is_near = |it: &Diagnostic| {
                    std::iter::once(&it.primary).chain(&it.related).any(|label| {
                        let span = label.span.range();
                        span.start <= near.end && near.start <= span.end
                    })
                };
                let far = !found.first().is_some_and(is_near);
                row.far += usize::from(far);
                let mends = |error: &json::SyntaxError| {
                    error.repair.as_ref().is_none_or(|repair| {
                        let mut mended = wrong.clone();
                        let mut edits = repair.edits.clone();
                        edits.sort_by_key(|(span, _)| *span);
                        for (span, by) in edits.iter().rev() {
                            mended.replace_range(span.range(), by);
                        }
                        unread(&mended) < left
                    })
                };
                let idle = !json::parse(&wrong).errors().iter().all(mends);
                row.idle += usize::from(idle);
                if show && (found.len() != 1 || far || idle) {
                    let before: String = text[..start].chars().rev().take(30).collect();
                    let before: String = before.chars().rev().collect();
                    let behind: String = text[at.end..].chars().take(30).collect();
                    let far = if far { " FAR" } else { "" };
                    let idle = if idle { " IDLE" } else { "" };
                    eprintln!(
                        "{}{far}{idle} | {kind} ({layout}): {before:?}«{put}»{behind:?}",
                        found.len()
                    );
                    for it in &found {
                        let span = it.primary.span.range();
                        let shown = wrong.get(span.clone()).unwrap_or_default();
                        let fix = it.fix.as_ref().map(|fix| (&fix.message, &fix.edits));
                        let fix = fix.map(|(message, edits)| {
                            let edits: Vec<_> =
                                edits.iter().map(|it| (it.span.range(), &it.replacement)).collect();
                            format!("{message} {edits:?}")
                        });
                        eprintln!(
                            "    {} at {}: {} {:?} {}",
                            it.rule,
                            span.start,
                            it.message,
                            shown.chars().take(50).collect::<String>(),
                            fix.unwrap_or_default()
                        );
                    }
                }
            }
        }
    }
    let mut sum = Row::default();
    for row in table.values() {
        for (sum, count) in sum.found.iter_mut().zip(row.found) {
            *sum += count;
        }
        sum.far += row.far;
        sum.idle += row.idle;
    }
    table.insert("all".to_owned(), sum);
    let several = |row: &Row| row.found[2] + row.found[3];
    let mut rows: Vec<_> = table.iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(several(row)));
    if show {
        eprintln!(
            "changes that give 0, 1, 2, and more findings; the first elsewhere; an idle repair:"
        );
        for (kind, Row { found, far, idle }) in &rows {
            eprintln!("{kind:24} {found:?} {far} {idle}");
        }
    }
    let row = table.remove("all").unwrap_or_default();
    let tried: usize = row.found.iter().sum();
    // None is passed over, none gives three, and of a thousand two may give two or stand elsewhere.
    assert!(row.found[0] == 0 && row.found[3] == 0, "{:?}", row.found);
    assert!(several(&row) * 500 <= tried, "{} of {tried} give several", several(&row));
    assert!(row.far * 500 <= tried, "{} of {tried} are shown elsewhere", row.far);
    assert_eq!(row.idle, 0, "repairs that make nothing better");
}

#[test]
fn white_space_of_another_kind_is_the_finding() {
    for (space, name) in [
        ('\u{a0}', "U+00A0 NO-BREAK SPACE"),
        ('\u{2028}', "U+2028 LINE SEPARATOR"),
        ('\u{feff}', "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ('\u{3000}', "U+3000 IDEOGRAPHIC SPACE"),
        ('\u{c}', "U+000C FORM FEED"),
    ] {
        for text in layouts().map(|(_, text)| text) {
            let (mut quoted, mut escaped) = (false, false);
            let mut before = ' ';
            for (at, c) in text.char_indices().skip(1) {
                let is_word = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
                let is_inside = quoted || is_word(before) && is_word(c);
                quoted ^= c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                before = c;
                if is_inside {
                    continue;
                }
                let wrong = format!("{}{space}{}", &text[..at], &text[at..]);
                let found = diagnostics(&[("r.json", &wrong), ("o.json", OTHER)]);
                let span = found.first().map_or(0..0, |it| it.primary.span.range());
                assert!(
                    found.len() == 1 && span == (at..at + space.len_utf8()),
                    "{wrong}\n{found:#?}"
                );
                assert!(found[0].message.starts_with(name), "{}", found[0].message);
            }
        }
    }
}

#[test]
fn a_mistake_hides_nothing_of_the_next_hypothesis() {
    let text = REGISTER.replace("\"q::r\"", "\"q::(r\"");
    assert_eq!(diagnostics(&[("r.json", &text), ("o.json", OTHER)]).len(), 1);
    let second = text.find("      \"_n\"").unwrap();
    let mut lost = Vec::new();
    for (start, old) in text[..second].char_indices().filter(|(_, c)| "{}[]:,\"'".contains(*c)) {
        for new in ["", "x", "(", ";", "\\"] {
            let wrong = format!("{}{new}{}", &text[..start], &text[start + old.len_utf8()..]);
            let found = diagnostics(&[("r.json", &wrong), ("o.json", OTHER)]);
            if !found.iter().any(|it| it.rule == "invalid-pattern") {
                lost.push(format!("{:?}", &wrong[start.saturating_sub(20)..start + 5]));
            }
        }
    }
    // Where the first one is not closed, or the second one not opened, what is in it may be of the other.
    assert!(lost.len() <= MOST_LOST, "{}: {lost:#?}", lost.len());
}

/// So many of these changes may hide what is found in the next hypothesis.
const MOST_LOST: usize = 10;

#[test]
fn half_a_surrogate_pair_is_found_in_names_at_every_depth() {
    for (right, wrong) in [
        ("\"claimed\": [\"a", "\"\\ud83d\": [], \"claimed\": [\"a"),
        ("{\"a\": -2e3}]", "{\"a\": -2e3}], \"\\ud83d\": {\"b\": [{\"\\udc00\": 1}]}"),
    ] {
        let text = REGISTER.replace(right, wrong);
        let found = diagnostics(&[("r.json", &text), ("o.json", OTHER)]);
        let count = found.iter().filter(|it| it.rule == "invalid-encoding").count();
        assert_eq!(count, wrong.matches("\\ud").count(), "{found:#?}");
    }
}
