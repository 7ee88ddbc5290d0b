//! One line a finding.

use insta::assert_snapshot;
use reglint::fix::{Applicability, Fix};

use super::*;
use reglint::report::Levels;

#[test]
fn one_line_a_finding() {
    let sources = sources([
        ("registers/a.json", "{\n\t\"µ字\": \"x\"\n}\n"),
        ("registers/odd\u{1b}[2J\nname.json", "{}"),
    ]);
    let x = at(&sources, "registers/a.json", "x", 0, "");
    let fix = |trust| Fix::single("remove it", x.file, x.span, "", trust);
    let found = vec![
        error("invalid-pattern", "unclosed group", x.clone()).with_hypothesis(Some("H\n2")),
        warning("id-style", "hypothesis H2 breaks the scheme", x.clone())
            .with_hypothesis(Some("H2"))
            .with_fix(fix(Applicability::Unsafe)),
        error("duplicate-key", "`x\u{202e}y` twice\r\n", x.clone())
            .with_fix(fix(Applicability::Safe))
            .with_note("not shown"),
        error("schema-violation", "no `hypotheses`", Label::new(FileId(1), Span::new(0, 2), "")),
    ];
    let shown = render(Format::Concise, &report(found.clone()), &sources, &Options::default());
    assert_snapshot!(shown, @r"
    registers/a.json:2:9: error[invalid-pattern]: unclosed group (hypothesis H\n2)
    registers/a.json:2:9: warning[id-style]: hypothesis H2 breaks the scheme
    registers/a.json:2:9: error[duplicate-key]: [*] `x\u202ey` twice\r\n
    registers/odd\u001b[2J\nname.json:1:1: error[schema-violation]: no `hypotheses`
    ");
    let options = Options { color: true, ..Options::default() };
    let coloured = render(Format::Concise, &report(found), &sources, &options);
    assert!(coloured.contains("\u{1b}[38;5;9merror[invalid-pattern]\u{1b}[0m: "), "{coloured:?}");
    assert_eq!(super::text::without_colours(&coloured), shown);
}

#[test]
fn nothing_for_nothing() {
    let shown = render(Format::Concise, &report(vec![]), &sources([]), &Options::default());
    assert_eq!(shown, "");
}

#[test]
fn what_is_cut_is_said() {
    let sources = sources([("r.json", "[]")]);
    let found = (0..1003).map(|_| error("duplicate-key", "again", on(0, 1))).collect();
    let report = Report::new(found, &Levels::default(), Summary::default(), Vec::new());
    let shown = render(Format::Concise, &report, &sources, &Options::default());
    let last = shown.lines().last().unwrap_or_default();
    assert_snapshot!(last, @"r.json:1:1: error[duplicate-key]: again; 3 more findings of this rule in this file are not shown");
    assert_eq!(shown.matches("not shown").count(), 1);
    assert_eq!(shown.lines().count() + report.summary.not_shown, report.summary.errors);
    let shown = render(Format::Json, &report, &sources, &Options::default());
    assert!(shown.contains("\"not_shown\":3"), "{shown}");
}
