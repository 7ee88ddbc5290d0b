//! The excerpts: what they show, and where the carets stand.

use insta::assert_snapshot;
use proptest::prelude::*;
use reglint::fix::{Applicability, Edit, Fix};
use reglint::output::Format;

use super::*;

const REGISTER: &str = r#"{
  "hypotheses": [
    {
      "id": "H1",
      "description": "costs 464 µs → 208 µs",
      "canonical_frame_regx": "kv::dispatch(?!_hb)"
    },
    {
      "id": "H2",
      "description": "one of two",
      "canonical_frame_regex": "exec.begin|exec.finish"
    }
  ]
}
"#;

#[test]
fn a_finding_with_everything() {
    let sources = sources([("registers/a.json", REGISTER), ("registers/b.json", REGISTER)]);
    let primary = at(&sources, "registers/b.json", "\"H2\"", 0, "used again here");
    let name = at(&sources, "registers/a.json", "canonical_frame_regx", 0, "");
    let fix = |applicability| {
        Fix::single(
            "rename it to `canonical_frame_regex`",
            name.file,
            name.span,
            "canonical_frame_regex",
            applicability,
        )
    };
    let duplicate = error("duplicate-id", "the id `H2` is used twice in the workspace", primary)
        .with_related(at(&sources, "registers/a.json", "\"H2\"", 0, "first used here"))
        .with_related(at(&sources, "registers/a.json", "\"id\"", 0, "and this stands near"))
        .with_note("an id has to name one hypothesis of all registers")
        .with_hypothesis(Some("H2"));
    let renamed = error("schema-violation", "unknown member `canonical_frame_regx`", name.clone())
        .with_hypothesis(Some("H1"));
    let mut report = report(vec![
        duplicate,
        renamed.clone().with_fix(fix(Applicability::Safe)),
        renamed.clone().with_fix(fix(Applicability::Unsafe)),
        warning(
            "open-ended-frame",
            "stops inside `_hb`",
            at(&sources, "registers/a.json", "_hb", 0, "here"),
        )
        .with_fix(fix(Applicability::DisplayOnly)),
    ]);
    report.summary.registers = 2;
    report.summary.fixable = 1;
    report.summary.unsafe_fixable = 1;
    assert_snapshot!(render(Format::Text, &report, &sources, &Options::default()), @r#"
    error[duplicate-id]: the id `H2` is used twice in the workspace
      ┌─ registers/b.json:9:13
      │
    9 │       "id": "H2",
      │             ^^^^ used again here
      │
      ┌─ registers/a.json:4:7
      │
    4 │       "id": "H1",
      │       ---- and this stands near
      ·
    9 │       "id": "H2",
      │             ---- first used here
      │
      = an id has to name one hypothesis of all registers

    error[schema-violation]: unknown member `canonical_frame_regx`
      ┌─ registers/a.json:6:8
      │
    6 │       "canonical_frame_regx": "kv::dispatch(?!_hb)"
      │        ^^^^^^^^^^^^^^^^^^^^
      │
      = in hypothesis H1
      = help: rename it to `canonical_frame_regex` (safe fix)

    error[schema-violation]: unknown member `canonical_frame_regx`
      ┌─ registers/a.json:6:8
      │
    6 │       "canonical_frame_regx": "kv::dispatch(?!_hb)"
      │        ^^^^^^^^^^^^^^^^^^^^
      │
      = in hypothesis H1
      = help: rename it to `canonical_frame_regex` (unsafe fix)

    warning[open-ended-frame]: stops inside `_hb`
      ┌─ registers/a.json:6:47
      │
    6 │       "canonical_frame_regx": "kv::dispatch(?!_hb)"
      │                                               ^^^ here
      │
      = help: rename it to `canonical_frame_regex` (shown only)

    3 errors and 1 warning in 2 registers (2 hypotheses, 5 patterns); 1 fixable with `--fix`, 1 more with `--fix --unsafe-fixes`
    "#);
}

#[test]
fn a_fix_shows_the_line_that_it_makes() {
    let sources = sources([("a.json", REGISTER)]);
    let dot = at(&sources, "a.json", ".", 0, "");
    let other = at(&sources, "a.json", ".", 1, "");
    let edit = |label: &Label| Edit::new(label.file, Span::empty(label.span.start as usize), r"\\");
    let both = Fix {
        message: "escape the dots".into(),
        edits: vec![edit(&dot), edit(&other)],
        applicability: Applicability::Safe,
    };
    let comma = at(&sources, "a.json", ",", 4, "");
    let remove = Fix::single("remove the comma", comma.file, comma.span, "", Applicability::Safe);
    let finding = |fix| {
        warning("unescaped-dot", "`.` matches any character", dot.clone()).with_fix(Some(fix))
    };
    assert_snapshot!(text(&sources, vec![finding(both), finding(remove)]), @r#"
    warning[unescaped-dot]: `.` matches any character
       ┌─ a.json:11:37
       │
    11 │       "canonical_frame_regex": "exec.begin|exec.finish"
       │                                     ^
       │
       = help: escape the dots (safe fix)
               "canonical_frame_regex": "exec\\.begin|exec\\.finish"

    warning[unescaped-dot]: `.` matches any character
       ┌─ a.json:11:37
       │
    11 │       "canonical_frame_regex": "exec.begin|exec.finish"
       │                                     ^
       │
       = help: remove the comma (safe fix)
               "description": "one of two"
    "#);
}

#[test]
fn carets_stand_under_their_characters() {
    let text_of = |line: &str, needle: &str| {
        let sources = sources([("a.json", line)]);
        text(&sources, vec![error("r", "m", at(&sources, "a.json", needle, 0, "here"))])
    };
    assert_snapshot!(text_of("µs → \"x\"", "x"), @r#"
    error[r]: m
      ┌─ a.json:1:7
      │
    1 │ µs → "x"
      │       ^ here
    "#);
    assert_snapshot!(text_of("\"字典\": \"x\"", "\"x\""), @r#"
    error[r]: m
      ┌─ a.json:1:7
      │
    1 │ "字典": "x"
      │         ^^^ here
    "#);
    assert_snapshot!(text_of("\"字典\": \"x\"", "典"), @r#"
    error[r]: m
      ┌─ a.json:1:3
      │
    1 │ "字典": "x"
      │    ^^ here
    "#);
    assert_snapshot!(text_of("\"e\u{301}e\u{301}\": \"x\"", "x"), @r#"
    error[r]: m
      ┌─ a.json:1:10
      │
    1 │ "éé": "x"
      │        ^ here
    "#);
    assert_snapshot!(text_of("\"e\u{301}e\u{301}\": \"x\"", "\u{301}"), @r#"
    error[r]: m
      ┌─ a.json:1:3
      │
    1 │ "éé": "x"
      │  ^ here
    "#);
    assert_snapshot!(text_of("\u{301}x", "\u{301}"), @"
    error[r]: m
      ┌─ a.json:1:1
      │
    1 │ ◌́x
      │ ^ here
    ");
    assert_snapshot!(text_of("\"😀🐍\": \"x\"", "x"), @r#"
    error[r]: m
      ┌─ a.json:1:8
      │
    1 │ "😀🐍": "x"
      │          ^ here
    "#);
    assert_snapshot!(text_of("\t\"a\tb\":\t\"x\"", "x"), @r#"
    error[r]: m
      ┌─ a.json:1:10
      │
    1 │     "a  b": "x"
      │              ^ here
    "#);
    assert_snapshot!(text_of("\t\"a\tb\":\t\"x\"", "a\tb"), @r#"
    error[r]: m
      ┌─ a.json:1:3
      │
    1 │     "a  b": "x"
      │      ^^^^ here
    "#);
    assert_snapshot!(text_of("\"\u{202e}\u{1b}[2J\u{200b}\r\": \"x\"", "x"), @r#"
    error[r]: m
      ┌─ a.json:1:13
      │
    1 │ "\u202e\u001b[2J\u200b\r": "x"
      │                             ^ here
    "#);
    assert_snapshot!(text_of("\"\u{202e}\u{1b}[2J\u{200b}\r\": \"x\"", "\u{1b}[2J"), @r#"
    error[r]: m
      ┌─ a.json:1:3
      │
    1 │ "\u202e\u001b[2J\u200b\r": "x"
      │        ^^^^^^^^^ here
    "#);
}

#[test]
fn places_where_nothing_stands() {
    let text_of = |content: &str, start, end| {
        let sources = sources([("a.json", content)]);
        text(&sources, vec![error("invalid-json", "expected a value", on(start, end))])
    };
    // An empty file; a file that is only a byte order mark.
    assert_snapshot!(text_of("", 0, 0), @"
    error[invalid-json]: expected a value
      ┌─ a.json:1:1
      │
    1 │
      │ ^
    ");
    assert_snapshot!(text_of("\u{feff}", 0, 3), @"
    error[invalid-json]: expected a value
      ┌─ a.json:1:1
      │
    1 │
      │ ^
    ");
    // The end of the last line, with and without a line feed; a line's end; past the end.
    assert_snapshot!(text_of("{\"a\": ", 6, 6), @r#"
    error[invalid-json]: expected a value
      ┌─ a.json:1:7
      │
    1 │ {"a":
      │       ^
    "#);
    assert_snapshot!(text_of("{\"a\":\n", 6, 6), @"
    error[invalid-json]: expected a value
      ┌─ a.json:2:1
      │
    2 │
      │ ^
    ");
    assert_snapshot!(text_of("[\"a\nb\"]", 3, 4), @r#"
    error[invalid-json]: expected a value
      ┌─ a.json:1:4
      │
    1 │ ["a
      │    ^
    "#);
    assert_snapshot!(text_of("[1]", 40, 50), @"
    error[invalid-json]: expected a value
      ┌─ a.json:1:4
      │
    1 │ [1]
      │    ^
    ");
    // Between two characters.
    assert_snapshot!(text_of("[1 2]", 3, 3), @"
    error[invalid-json]: expected a value
      ┌─ a.json:1:4
      │
    1 │ [1 2]
      │    ^
    ");
}

#[test]
fn a_span_of_several_lines_shows_its_first() {
    let sources = sources([("a.json", REGISTER)]);
    let start = REGISTER.match_indices('{').nth(2).unwrap().0;
    let end = REGISTER.len() - "\n  ]\n}\n".len();
    let found = error("schema-violation", "hypothesis H2 has no `frames`", on(start, end))
        .with_related(at(&sources, "a.json", "\"H2\"", 0, "its id"))
        .with_related(at(&sources, "a.json", "\"exec.begin", 0, "its pattern"))
        .with_hypothesis(Some("H2"));
    assert_snapshot!(text(&sources, vec![found]), @r#"
    error[schema-violation]: hypothesis H2 has no `frames`
       ┌─ a.json:8:5
       │
     8 │     { …
       │     ^
     9 │       "id": "H2",
       │             ---- its id
    10 │       "description": "one of two",
    11 │       "canonical_frame_regex": "exec.begin|exec.finish"
       │                                ----------- its pattern
    "#);
}

#[test]
fn several_labels_on_one_line() {
    let sources = sources([("a.json", "{\"one\": \"exec.begin|exec.finish\"}\n")]);
    let found = error(
        "several-canonical-frames",
        "it names two",
        at(&sources, "a.json", "exec.begin", 0, "one"),
    )
    .with_related(at(&sources, "a.json", "exec.finish", 0, "another"));
    let overlapping =
        error("r", "m", at(&sources, "a.json", "\"exec.begin|exec.finish\"", 0, "all"))
            .with_related(at(&sources, "a.json", "begin", 0, "part"));
    assert_snapshot!(text(&sources, vec![found, overlapping]), @r#"
    error[several-canonical-frames]: it names two
      ┌─ a.json:1:10
      │
    1 │ {"one": "exec.begin|exec.finish"}
      │          ^^^^^^^^^^ ----------- another
      │          │
      │          one

    error[r]: m
      ┌─ a.json:1:9
      │
    1 │ {"one": "exec.begin|exec.finish"}
      │         ^^^^^^^^^^^^^^^^^^^^^^^^
      │         │     │
      │         │     part
      │         all
    "#);
}

#[test]
fn a_long_line_is_cut_around_its_labels() {
    let entry =
        |n: usize| format!(r#"{{"id":"H{n}","canonical_frame_regex":"crate_{n}::function"}},"#);
    let line: String = (0..500).map(entry).collect();
    let sources = sources([("a.json", &line)]);
    let label = |needle: &str, message| at(&sources, "a.json", needle, 0, message);
    let start = label("\"H1\"", "used again").span.start;
    let whole = Label::new(FileId(0), Span::new(start as usize, line.len() - 1), "all of it");
    let found = vec![
        error("one", "in the middle", label("crate_250", "here")),
        error("start", "at the start", label("{\"id\":\"H0\"", "here")),
        error(
            "end",
            "at the end",
            label("H499\",\"canonical_frame_regex\":\"crate_499::function\"},", "here"),
        ),
        error("two", "far from each other", label("\"H400\"", "used again"))
            .with_related(label("\"H100\"", "first used")),
        error("near", "near each other", label("crate_7:", "this"))
            .with_related(label("\"H8\"", "and that")),
        error("whole", "longer than the width", whole),
        error("many", "in many places", label("\"H400\"", "here"))
            .with_related(label("\"H100\"", "one"))
            .with_related(label("\"H101\"", "two"))
            .with_related(label("\"H102\"", "three"))
            .with_related(label("\"H103\"", ""))
            .with_related(label("\"H104\"", "five")),
    ];
    let shown = text(&sources, found);
    for line in shown.lines() {
        assert!(columns(line) <= 100 + " used again".len(), "{line}");
    }
    assert_snapshot!(shown, @r#"
    error[one]: in the middle
      ┌─ a.json:1:14819
      │
    1 │ …0","canonical_frame_regex":"crate_250::function"},{"id":"H251","canonical_frame_regex":"crate…
      │                              ^^^^^^^^^ here

    error[start]: at the start
      ┌─ a.json:1:1
      │
    1 │ {"id":"H0","canonical_frame_regex":"crate_0::function"},{"id":"H1","canonical_frame_regex":"c…
      │ ^^^^^^^^^^ here

    error[end]: at the end
      ┌─ a.json:1:29728
      │
    1 │ …me_regex":"crate_498::function"},{"id":"H499","canonical_frame_regex":"crate_499::function"},
      │                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here

    error[two]: far from each other
      ┌─ a.json:1:23787
      │
    1 │ …tion"},{"id":"H100","canonical_frame_regex":"c…tion"},{"id":"H400","canonical_frame_regex":"c…
      │               ------                                         ^^^^^^ used again
      │               │
      │               first used

    error[near]: near each other
      ┌─ a.json:1:429
      │
    1 │ …ame_regex":"crate_7::function"},{"id":"H8","canonical_frame_regex":"cr…
      │              ^^^^^^^^                  ---- and that
      │              │
      │              this

    error[whole]: longer than the width
      ┌─ a.json:1:63
      │
    1 │ …te_0::function"},{"id":"H1","canonical_frame_regex":"crate_1::function"},{"id":"H2","canonica…
      │                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ all of it

    error[many]: in many places
      ┌─ a.json:1:23787
      │
    1 │ …},{"id":"H100","canonical_fram…},{"id":"H101","canonical_fram…},{"id":"H400","canonical_fram…
      │          ------                         ------                         ^^^^^^ here
      │          │                              │
      │          │                              two
      │          one
      │
      = also at a.json:1:5907: three
      = also at a.json:1:5967
      = also at a.json:1:6027: five
    "#);
}

#[test]
fn a_hundred_thousand_related_places_stay_few_lines() {
    let sources = sources([("a.json", REGISTER)]);
    let mut found = error("r", "m", on(0, 1));
    found.related = (0..100_000).map(|n| on(n % REGISTER.len(), n % REGISTER.len())).collect();
    let shown = text(&sources, vec![found]);
    assert!(shown.lines().count() < 60, "{shown}");
    assert!(shown.contains("99987 more places"), "{shown}");
}

#[test]
fn the_summary_counts() {
    let empty = sources([]);
    let summary = |registers, errors, warnings, fixable, unsafe_fixable| {
        let summary = Summary {
            registers,
            hypotheses: registers,
            patterns: 3 * registers,
            errors,
            warnings,
            fixable,
            unsafe_fixable,
            ..Summary::default()
        };
        let report = Report { summary, ..Report::default() };
        render(Format::Text, &report, &empty, &Options::default())
    };
    assert_snapshot!(summary(0, 0, 0, 0, 0), @"no register was checked");
    assert_snapshot!(summary(1, 0, 0, 0, 0), @"no findings in 1 register (1 hypothesis, 3 patterns)");
    assert_snapshot!(summary(2, 0, 0, 0, 0), @"no findings in 2 registers (2 hypotheses, 6 patterns)");
    assert_snapshot!(summary(2, 1, 0, 1, 0), @"1 error in 2 registers (2 hypotheses, 6 patterns); 1 fixable with `--fix`");
    assert_snapshot!(summary(2, 0, 2, 0, 1), @"2 warnings in 2 registers (2 hypotheses, 6 patterns); 1 fixable with `--fix --unsafe-fixes`");
    assert_snapshot!(summary(2, 3, 1, 2, 1), @"3 errors and 1 warning in 2 registers (2 hypotheses, 6 patterns); 2 fixable with `--fix`, 1 more with `--fix --unsafe-fixes`");
    let report = Report {
        summary: Summary {
            registers: 1,
            fixable: 1,
            unsafe_fixable: 2,
            fixed: 3,
            ..Summary::default()
        },
        ..Report::default()
    };
    let options = Options { unsafe_fixes: true, ..Options::default() };
    assert_snapshot!(render(Format::Text, &report, &empty, &options), @"no findings in 1 register (0 hypotheses, 0 patterns); 3 fixed; 3 fixable with `--fix`");
}

#[test]
fn colour_only_when_asked_for() {
    let sources = sources([("a.json", REGISTER)]);
    let found = || {
        let label = at(&sources, "a.json", "\"H2\"", 0, "here");
        vec![error("duplicate-id", "twice", label.clone()), warning("id-style", "odd", label)]
    };
    let plain = text(&sources, found());
    let options = Options { color: true, quiet: true, ..Options::default() };
    let coloured = render(Format::Text, &report(found()), &sources, &options);
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}[38;5;9merror[duplicate-id]"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[38;5;11mwarning[id-style]"), "{coloured:?}");
    assert_eq!(without_colours(&coloured), plain);
}

#[test]
fn line_ends_make_no_difference() {
    let crlf = REGISTER.replace('\n', "\r\n");
    for format in [Format::Text, Format::Concise] {
        let shown = |content: &str| {
            let sources = sources([("a.json", content)]);
            let found = ["\"H1\"", "µ", "exec.finish\"", "}", "["].map(|needle| {
                error("r", "m", at(&sources, "a.json", needle, 0, "here"))
                    .with_related(at(&sources, "a.json", "\"id\"", 1, ""))
            });
            render(format, &report(found.into()), &sources, &Options::default())
        };
        let shown_crlf = shown(&crlf);
        assert!(!shown_crlf.contains('\r'));
        assert_eq!(shown(REGISTER), shown_crlf);
    }
}

/// `text` without ANSI colours.
pub(super) fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        let (codes, rest) = part.split_once('m').expect("a colour ends in m");
        assert!(codes.chars().all(|ch| ch.is_ascii_digit() || ch == ';'), "{codes}");
        out + rest
    })
}

/// The columns of `text` in a terminal, by a table of this test's own: wide blocks, combining marks
/// and nothing else, for the characters that the tests use.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(column_width).sum()
}

fn column_width(ch: char) -> usize {
    match u32::from(ch) {
        0x300..=0x36f | 0x20d0..=0x20f0 | 0xfe20..=0xfe2f | 0x1161..=0x11ff => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0x33ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xff01..=0xff60
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Characters of every kind that the view treats in its own way.
fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        6 => prop::sample::select("abc{}[]:,\"\\ ".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("µ→é—Ω".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("字典ｆ한😀🐍🤖".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("\u{301}\u{308}\u{20dd}\u{36f}".chars().collect::<Vec<_>>()),
        1 => Just('\t'),
        1 => prop::sample::select("\u{1b}\u{0}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\r\u{a0}\u{e0041}\u{fe0f}".chars().collect::<Vec<_>>()),
    ]
}

/// What a view shows for `ch` in column `column`, said independently of the view.
fn shown(ch: char, column: usize) -> String {
    match ch {
        '\t' => " ".repeat(4 - column % 4),
        '\r' => "\\r".into(),
        _ if "\u{1b}\u{0}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{a0}\u{e0041}\u{fe0f}"
            .contains(ch) =>
        {
            ch.encode_utf16(&mut [0; 2])
                .iter()
                .fold(String::new(), |out, unit| out + &format!("\\u{unit:04x}"))
        }
        _ => ch.into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// The first caret stands in the column in which the marked character begins, and the carets are
    /// as many as the marked characters are wide, on a line that fits.
    #[test]
    fn carets_match_an_independent_count(
        line in prop::collection::vec(character(), 1..14),
        start in any::<prop::sample::Index>(),
        length in 0_usize..6,
    ) {
        let start = start.index(line.len());
        let end = (start + length).min(line.len());
        let content: String = line.iter().collect();
        let offset = |index: usize| line[..index].iter().map(|ch| ch.len_utf8()).sum();
        // At the start of a file it is a byte order mark, which is no character of the line.
        prop_assume!(line[0] != '\u{feff}');
        let sources = sources([("a.json", &content)]);
        let found = error("r", "m", on(offset(start), offset(end)));
        let out = text(&sources, vec![found]);
        let rows: Vec<&str> = out.lines().collect();
        prop_assert_eq!(rows[1], format!("  ┌─ a.json:1:{}", start + 1));
        let (view, carets) = (rows[3], rows[4]);

        // Where each character begins, and the view, made character by character.
        let mut expected = String::new();
        let mut begins = Vec::new();
        for &ch in &line {
            let width = columns(&expected);
            if column_width(ch) == 0 {
                if width == 0 { expected.push('\u{25cc}'); }
                // It stands where the character that carries it begins.
                let carrier = expected.char_indices().rev().find(|(_, ch)| column_width(*ch) > 0);
                begins.push(columns(&expected[..carrier.unwrap().0]));
                expected.push(ch);
            } else {
                begins.push(width);
                expected.push_str(&shown(ch, width));
            }
        }
        let expected = format!("1 │ {expected}");
        prop_assert_eq!(view, expected.trim_end());
        let gutter = columns("1 │ ");
        let first = columns(&carets[..carets.find('^').unwrap()]) - gutter;
        prop_assert_eq!(first, begins[start], "{}", out);
        let last = columns(carets.trim_end()) - gutter;
        let after = if end > start {
            let mut width = 0;
            let mut column = 0;
            for &ch in &line[..end] {
                if column_width(ch) == 0 { if column == 0 { column = 1; } }
                else { column += columns(&shown(ch, column)); }
                width = column;
            }
            width
        } else {
            last
        };
        prop_assert_eq!(last, after, "{}", out);
    }

    /// On a line that does not fit: the carets stand under the marked text, which stands in the view as
    /// it stands in the line, and nothing is wider than asked for.
    #[test]
    fn carets_match_on_long_lines(
        before in prop::collection::vec(character(), 0..400),
        marked in "[a-z]{1,12}",
        behind in prop::collection::vec(character(), 0..400),
        width in 40_usize..140,
    ) {
        let content: String = before.iter().chain(&['<']).copied()
            .chain(marked.chars()).chain(['>']).chain(behind).collect();
        let sources = sources([("a.json", &content)]);
        let start = before.iter().map(|ch| ch.len_utf8()).sum::<usize>() + 1;
        let options = Options { width, quiet: true, ..Options::default() };
        let found = report(vec![error("r", "m", on(start, start + marked.len()))]);
        let out = render(Format::Text, &found, &sources, &options);
        let rows: Vec<&str> = out.lines().collect();
        let (view, carets) = (rows[3], rows[4]);
        prop_assert!(columns(view) <= width, "{}", out);
        let first = carets.find('^').unwrap();
        let column = columns(&carets[..first]);
        // The characters of the view above the carets.
        let mut reached = 0;
        let above: String = view.chars().filter(|&ch| {
            reached += column_width(ch);
            column_width(ch) > 0 && reached > column && reached <= column + marked.len()
        }).collect();
        prop_assert_eq!(above, marked);
        prop_assert_eq!(carets[first..].trim_end().len(), rows[4][first..].matches('^').count());
    }
}
