//! Workflow commands.

use insta::assert_snapshot;
use reglint::fix::{Applicability, Fix};

use super::*;

#[test]
fn one_command_a_finding_and_the_count() {
    let sources =
        sources([("registers/a.json", "{\n\t\"µ → 😀\": \"x\"\n}\n"), ("odd: 100%,\n.json", "{}")]);
    let x = at(&sources, "registers/a.json", "x", 0, "");
    let odd = at(&sources, "odd: 100%,\n.json", "{}", 0, "first: 50%,\r\n::error::here");
    let all = at(&sources, "registers/a.json", "{\n\t\"", 0, "");
    let found = vec![
        error("duplicate-id", "the id `a:b,c%0A\n::set-output` is used twice", x.clone())
            .with_hypothesis(Some("H,1:\n2%"))
            .with_related(odd.clone())
            .with_note("a note: 100%, \r\n")
            .with_fix(Fix::single("put 1%", x.file, x.span, "y", Applicability::Safe)),
        warning("id-style", "all of it", all),
        error("invalid-json", "at the end", Label::new(x.file, Span::empty(22), "")),
        warning("id-style", "in an odd file", odd),
    ];
    let shown = render(Format::Github, &report(found.clone()), &sources, &Options::default());
    assert_snapshot!(shown, @r###"
    ::error file=registers/a.json,line=2,col=12,endColumn=13,title=reglint%3A duplicate-id::the id `a:b,c%250A\n::set-output` is used twice%0Ain hypothesis H,1:\n2%25%0Aa note: 100%25, \r\n%0Asee odd: 100%25,\n.json:1:1: first: 50%25,\r\n::error::here%0Ahelp: put 1%25
    ::warning file=registers/a.json,line=1,endLine=2,title=reglint%3A id-style::all of it
    ::error file=registers/a.json,line=3,col=1,title=reglint%3A invalid-json::at the end
    ::warning file=odd%3A 100%25%2C\n.json,line=1,col=1,endColumn=3,title=reglint%3A id-style::in an odd file
    ::notice title=reglint::2 errors and 2 warnings in 1 register (2 hypotheses, 5 patterns)
    "###);
    let quiet = Options { quiet: true, ..Options::default() };
    let lines = render(Format::Github, &report(found.clone()), &sources, &quiet);
    assert_eq!(lines.lines().count(), found.len());
}

#[test]
fn nothing_is_no_command() {
    let shown = render(Format::Github, &report(vec![]), &sources([]), &Options::default());
    assert_snapshot!(shown, @r###"no findings in 1 register (2 hypotheses, 5 patterns)"###);
}
