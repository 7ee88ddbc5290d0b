//! Thousands of findings in one line of megabytes.

use std::time::{Duration, Instant};

use super::text::columns;
use super::*;

/// A register of 6,000 hypotheses without a line feed, µ in each, 3 MB.
fn minified() -> String {
    let entry = |n: usize| {
        let padding = "description ".repeat(36);
        format!(
            r#"{{"id":"H{n:05}","description":"µ{padding}","canonical_frame_regex":"crate_{n}::f"}}"#
        )
    };
    let entries: Vec<_> = (0..6000).map(entry).collect();
    format!(r#"{{"hypotheses":[{}]}}"#, entries.join(","))
}

#[test]
fn many_findings_in_one_line() {
    let content = minified();
    assert!(content.len() > 3_000_000 && !content.contains('\n'));
    let sources = sources([("a.json", &content)]);
    let ids: Vec<_> = content.match_indices("\"H").map(|(at, _)| at).collect();
    let found: Vec<_> = (0..10_000)
        .map(|n| {
            let start = ids[n % ids.len()];
            error("duplicate-id", "an id is used twice", on(start, start + 8))
                .with_related(on(ids[0], ids[0] + 8))
        })
        .collect();
    let report = report(found);
    for format in Format::ALL {
        let begin = Instant::now();
        let shown = render(format, &report, &sources, &Options::default());
        let took = begin.elapsed();
        println!("{}: {took:?}, {} bytes", format.as_str(), shown.len());
        // Counting each column from the line's start would take a minute.
        assert!(took < Duration::from_secs(5), "{}: {took:?}", format.as_str());
        if format == Format::Text {
            assert!(shown.lines().all(|line| columns(line) <= 100));
        }
    }
    // The last one's column, counted plainly.
    let last = ids[9_999 % ids.len()];
    let column = content[..last].chars().count() + 1;
    let shown = render(Format::Concise, &report, &sources, &Options::default());
    assert!(shown.lines().last().unwrap().starts_with(&format!("a.json:1:{column}: ")));
}

/// The same place in each format.
#[test]
fn the_formats_agree_on_places() {
    let content = format!("{}\n\t\"{}x\"", "字µ→\u{301}".repeat(400), "字😀".repeat(900));
    let sources = sources([("a.json", &content)]);
    let offsets = content.char_indices().map(|(at, _)| at).step_by(37);
    for start in offsets {
        let report = report(vec![error("r", "m", on(start, start))]);
        let options = Options::default();
        let [text, concise, json, sarif, github] =
            Format::ALL.map(|format| render(format, &report, &sources, &options));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let place = &json["diagnostics"][0]["span"]["start"];
        let place = format!("a.json:{}:{}", place["line"], place["column"]);
        assert!(concise.starts_with(&format!("{place}: ")), "{concise}");
        assert!(text.contains(&format!("┌─ {place}\n")), "{text}");
        let (line, column) = place.trim_start_matches("a.json:").split_once(':').unwrap();
        let command = format!("::error file=a.json,line={line},col={column},title=");
        assert!(github.starts_with(&command), "{github}");
        // SARIF counts UTF-16 units.
        let before = &content[..start];
        let units = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count() + 1;
        let log: serde_json::Value = serde_json::from_str(&sarif).unwrap();
        let physical = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(physical["region"]["startColumn"], units, "{sarif}");
        assert_eq!(physical["region"]["startLine"].to_string(), line, "{sarif}");
    }
}
