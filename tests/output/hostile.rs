//! Nothing of the input reaches the output raw.

use proptest::prelude::*;
use reglint::fix::{Applicability, Fix};

use super::text::without_colours;
use super::*;

/// Text with whatever a terminal might obey.
fn hostile() -> impl Strategy<Value = String> {
    let ch = prop_oneof![
        3 => any::<char>(),
        2 => (0_u32..0x20).prop_map(|code| char::from_u32(code).unwrap()),
        1 => (0x7f_u32..0xa0).prop_map(|code| char::from_u32(code).unwrap()),
        1 => (0x2000_u32..0x2070).prop_map(|code| char::from_u32(code).unwrap()),
        1 => prop::sample::select(vec!['\u{61c}', '\u{feff}', '\u{ad}', '\u{180e}', '\u{e0001}', '\u{301}']),
        2 => prop::char::range(' ', '~'),
    ];
    prop::collection::vec(ch, 0..40).prop_map(String::from_iter)
}

/// Whether a terminal might obey or hide `ch`; by code points, so as not to repeat the rule.
fn is_dangerous(ch: char) -> bool {
    matches!(u32::from(ch),
        0..=0x1f | 0x7f..=0x9f | 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e
        | 0x2060..=0x206f | 0xd800..=0xf8ff | 0xfeff | 0xfff0..=0xfffb | 0xe0000..=0x10_ffff)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_raw(
        texts in prop::collection::vec(hostile(), 9),
        content in hostile(),
        ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        width in 0_usize..200,
    ) {
        let sources = Sources::new(vec![Source::new(&*texts[0], content.clone().into_bytes())]);
        let offsets: Vec<_> = content.char_indices().map(|(at, _)| at).chain([content.len()]).collect();
        let (a, b) = (offsets[ends.0.index(offsets.len())], offsets[ends.1.index(offsets.len())]);
        let (start, end) = (a.min(b), a.max(b));
        let label = |message: &str| Label::new(FileId(0), Span::new(start, end), message);
        let fix = Fix::single(&*texts[1], FileId(0), Span::new(start, end), &*texts[2], Applicability::Safe);
        let found = error("rule", &texts[3], label(&texts[4]))
            .with_related(label(&texts[5]))
            .with_note(&*texts[6])
            .with_note(&*texts[7])
            .with_hypothesis(Some(&texts[8]))
            .with_fix(fix);
        let report = report(vec![found]);
        for format in Format::ALL {
            for color in [false, true] {
                let options = Options { color, width, quiet: false, unsafe_fixes: false };
                let mut out = render(format, &report, &sources, &options);
                if color {
                    out = without_colours(&out);
                }
                let raw = out.chars().find(|&ch| ch != '\n' && is_dangerous(ch));
                prop_assert_eq!(raw, None, "{:?}", out);
                if format == Format::Concise {
                    prop_assert_eq!(out.matches('\n').count(), 1);
                }
                if format == Format::Github {
                    // One command a finding, and one for the count.
                    prop_assert_eq!(out.matches('\n').count(), 2, "{:?}", out);
                    prop_assert!(out.lines().all(|line| line.starts_with("::")), "{:?}", out);
                }
                if format == Format::Sarif {
                    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
                    let result = &value["runs"][0]["results"][0];
                    let message = result["message"]["text"].as_str().unwrap();
                    prop_assert!(message.starts_with(&*texts[3]));
                }
                if format == Format::Json {
                    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
                    prop_assert_eq!(value["diagnostics"][0]["message"].as_str(), Some(&*texts[3]));
                }
            }
        }
    }
}

/// Spans that lie nowhere must not end the run.
#[test]
fn spans_that_no_text_has() {
    let sources = sources([("a.json", "字\r\n字")]);
    for start in 0..12 {
        for end in start..12 {
            let found = error("r", "m", on(start, end)).with_related(on(end, end));
            for format in Format::ALL {
                render(format, &report(vec![found.clone()]), &sources, &Options::default());
            }
        }
    }
}

/// Stacked marks on one line cost no more than a line of letters.
#[test]
fn a_line_of_combining_marks_is_cut() {
    let content = format!("e{}x", "\u{301}".repeat(100_000));
    let sources = sources([("a.json", &content)]);
    let shown = super::text(&sources, vec![error("r", "m", on(content.len() - 1, content.len()))]);
    assert!(shown.len() < 2000, "{}", shown.len());
}

/// A pipe that closes is an error for the caller to judge, at once.
#[test]
fn a_closed_pipe_is_told() {
    struct Closed(usize);
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            self.0 += 1;
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let sources = sources([("a.json", "{}")]);
    let report = report(vec![error("r", "m", on(0, 1)); 10]);
    for format in Format::ALL {
        let mut out = Closed(0);
        let error =
            output::write(format, &report, &sources, &Options::default(), &mut out).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        assert_eq!(out.0, 1);
    }
}
