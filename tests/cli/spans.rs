//! Exact spans, through everything that lies between a pattern and a file: a random fault in a
//! random pattern, its JSON string spelled with random escapes, in a file of random layout. What the
//! finding points at decodes to the faulty part, always.

use proptest::prelude::*;
use reglint::linter::{Options, lint};
use reglint::report::{Levels, Report};
use reglint::schema::Schema;
use reglint::source::{ColumnUnit, Source, Sources};

/// A pattern's faulty part between what may stand before it and behind it. Each fault is one that
/// stays the first whatever valid text surrounds it; the marked part is what has to be shown.
const FAULTS: &[(&str, &str, &str)] = &[
    ("x", "(?i)", ""),
    ("", "(?<n>", "y)"),
    ("", "\\p{L}", ""),
    ("", "\\p{Greek}", "+"),
    ("", "\\h", "*"),
    ("", "\\q", ""),
    ("", "\\z", ""),
    ("x*", "*", ""),
    ("x{2}", "{3}", ""),
    ("x", "{3,2}", ""),
    ("", ")", ""),
    ("[", "z-a", "]"),
    ("[", "a-\\d", "]"),
    ("", "(?<=a|bc)", ""),
    ("", "(?<!a+)", "x"),
    ("(?P=", "nobody", ")"),
    ("(?P<n>x)(?P<", "n", ">y)"),
    ("", "\\400", ""),
    ("", "\\N{no such name}", ""),
    ("", "(?R)", ""),
    ("", "\\7", ""),
];

/// Valid text of a pattern that neither opens nor closes anything.
fn valid() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "::",
        "\\.",
        "µ",
        "→",
        "漢字",
        "\u{1f40d}",
        "e\u{301}",
        "\"",
        "/",
        "\t",
        " ",
        "(?:b|c)",
        "[^:]",
        "\\w+",
        "d*?",
        "(e)",
        "$",
        "\\b",
        "_f",
        "\\\\",
        "{",
    ]);
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// `text` as a JSON string, each character spelled in the way that `choices` picks.
fn spell(text: &str, choices: &[u8]) -> String {
    let mut out = String::from("\"");
    for (at, c) in text.chars().enumerate() {
        let choice = choices[at % choices.len()];
        let short = match c {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '/' if choice.is_multiple_of(2) => Some("\\/"),
            '\t' => Some("\\t"),
            _ => None,
        };
        match short {
            Some(short) if choice % 4 != 3 => out.push_str(short),
            None if !choice.is_multiple_of(3) => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let digits = format!("\\u{unit:04x}");
                    out.push_str(&if choice.is_multiple_of(5) {
                        digits.to_uppercase().replace("\\U", "\\u")
                    } else {
                        digits
                    });
                }
            }
        }
    }
    out.push('"');
    out
}

fn check(text: &str) -> (Sources, Report) {
    let sources = Sources::new(vec![Source::new("r.json", text.as_bytes().to_vec())]);
    let report = lint(&sources, &Options::new(&Levels::default(), Schema::embedded()));
    (sources, report)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_finding_decodes_to_the_faulty_part(
        fault in prop::sample::select(FAULTS),
        before in valid(),
        behind in valid(),
        choices in prop::collection::vec(any::<u8>(), 1..40),
        layout in prop::sample::select(vec!["", " ", "\n", "\r\n", "\n\t", "  \r\n  "]),
        in_subcomponent in any::<bool>(),
        mark in any::<bool>(),
    ) {
        let (lead, part, tail) = fault;
        // A repeat needs no more of itself behind it, and a brace no digits.
        let pattern = format!("{before}{lead}{part}{tail}{behind}");
        let spelled = spell(&pattern, &choices);
        let gap = layout;
        let slot = if in_subcomponent {
            format!("\"canonical_frame_regex\":{gap}\"ok\",{gap}\"subcomponent_regexes\":{gap}{{{gap}\"µ\":{gap}{spelled}{gap}}}")
        } else {
            format!("\"canonical_frame_regex\":{gap}{spelled}")
        };
        let text = format!(
            "{}{{{gap}\"hypotheses\"{gap}:[{gap}{{\"id\":{gap}\"H1\",{gap}\"description\":\"é\",{gap}{slot}{gap}}}{gap}]{gap}}}{gap}",
            if mark { "\u{feff}" } else { "" },
        );
        let (sources, report) = check(&text);
        let found: Vec<_> =
            report.diagnostics.iter().filter(|d| d.rule == "invalid-pattern").collect();
        prop_assert_eq!(found.len(), 1, "{}", text);
        prop_assert_eq!(report.diagnostics.len(), 1 + usize::from(mark));
        let primary = &found[0].primary;
        let source = sources.get(primary.file);
        let shown: String = serde_json::from_str(&format!("\"{}\"", source.slice(primary.span)))
            .map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(&shown, part, "{}", text);
        // And the line and column lead to the same character, counted here in another way.
        let at = source.position(primary.span.range().start, ColumnUnit::Scalar);
        let line = text.trim_start_matches('\u{feff}').split('\n').nth(at.line as usize - 1).unwrap();
        let rest: String = line.chars().skip(at.column as usize - 1).collect();
        prop_assert!(rest.starts_with(source.slice(primary.span)));
        // A repair, where there is one, is spelled so that the file still parses as JSON.
        if let Some(fix) = &found[0].fix {
            let mended = reglint::fix::apply(source.text(), &fix.edits);
            let json = mended.trim_start_matches('\u{feff}');
            let parses = serde_json::from_str::<serde_json::Value>(json).is_ok();
            prop_assert!(parses, "{}", mended);
        }
    }
}
