//! The JSON document against CPython's `json`, against JSONTestSuite, and against mistakes that
//! people make.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::needless_raw_string_hashes
)]

#[path = "support/registers.rs"]
mod registers;
mod support;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use registers::minified;
use reglint::json::{self, Document, Kind, MAX_DEPTH, MAX_ERRORS, SyntaxErrorKind, Value};
use reglint::schema::Schema;
use reglint::source::Source;

// What CPython makes of a text.

/// Reads a text as hexadecimal digits a line; answers `-`, or `+` and the value in the notation of
/// [`notation`]: numbers as they are spelled, strings as UTF-16 units, members in order.
const ORACLE: &str = r#"
import json, sys
def refuse(word): raise ValueError(word)
class Pairs(list): pass
class Raw(str): pass
def show(v, out):
    if v is None: out.append('n')
    elif v is True: out.append('t')
    elif v is False: out.append('f')
    elif isinstance(v, Raw): out.append('#' + v + ' ')
    elif isinstance(v, str): out.append('"' + v.encode('utf-16-be', 'surrogatepass').hex() + '"')
    elif isinstance(v, Pairs):
        out.append('{')
        for name, value in v: show(name, out); show(value, out)
        out.append('}')
    else:
        out.append('[')
        for value in v: show(value, out)
        out.append(']')
for line in sys.stdin:
    try:
        text = bytes.fromhex(line).decode('utf-8')
        json.loads(text, parse_constant=refuse)
        value = json.loads(text, parse_constant=refuse, parse_int=Raw, parse_float=Raw, object_pairs_hook=Pairs)
        out = []
        show(value, out)
        print('+' + ''.join(out), flush=True)
    except (ValueError, RecursionError):
        print('-', flush=True)
"#;

struct Oracle {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Oracle {
    /// `None`, with a word on it, where there is no Python to ask.
    fn start() -> Option<Self> {
        let child = Command::new("python3")
            .args(["-c", ORACLE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            eprintln!("skipped: there is no python3 to compare with");
            return None;
        };
        let out = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, out })
    }

    fn ask(&mut self, bytes: &[u8]) -> Option<String> {
        let mut line = String::new();
        for byte in bytes {
            write!(line, "{byte:02x}").unwrap();
        }
        line.push('\n');
        self.child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.out.read_line(&mut answer).unwrap();
        answer.trim_end_matches('\n').strip_prefix('+').map(str::to_owned)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn hex_units(string: json::Str<'_>) -> String {
    let mut lone = string.lone_surrogates().peekable();
    let mut out = String::new();
    for (at, c) in string.value().char_indices() {
        if let Some((_, unit)) = lone.next_if(|&(place, _)| place == at) {
            write!(out, "{unit:04x}").unwrap();
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "{unit:04x}").unwrap();
        }
    }
    out
}

fn notation(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Null => out.push('n'),
        Kind::Bool(true) => out.push('t'),
        Kind::Bool(false) => out.push('f'),
        Kind::Number(text) => write!(out, "#{text} ").unwrap(),
        Kind::String(string) => write!(out, "\"{}\"", hex_units(string)).unwrap(),
        Kind::Array(array) => {
            out.push('[');
            array.elements().for_each(|element| notation(element, out));
            out.push(']');
        }
        Kind::Object(object) => {
            out.push('{');
            for member in object.members() {
                write!(out, "\"{}\"", hex_units(member.name)).unwrap();
                notation(member.value, out);
            }
            out.push('}');
        }
        Kind::Invalid => out.push('?'),
    }
}

/// The document's value, if the whole file is right.
fn read(bytes: &[u8]) -> Option<String> {
    let source = Source::new("a.json", bytes.to_vec());
    let document = json::parse(source.text());
    check_invariants(&document);
    let mut out = String::new();
    document.root().into_iter().for_each(|root| notation(root, &mut out));
    (document.errors().is_empty() && source.encoding_faults().is_empty()).then_some(out)
}

/// What holds for every document, right or wrong.
fn check_invariants(document: &Document<'_>) {
    let text = document.text();
    assert!(document.errors().len() <= MAX_ERRORS);
    for error in document.errors() {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        assert!(!error.message.is_empty());
        for (span, _) in error.repair.iter().flat_map(|repair| &repair.edits) {
            assert!(text.get(span.range()).is_some(), "{error:?}");
        }
        for pair in error.repair.iter().flat_map(|repair| repair.edits.windows(2)) {
            assert!(pair[0].0.end <= pair[1].0.start, "{error:?}");
        }
    }
    assert!(
        document.errors().len() > MAX_ERRORS
            || document.errors().is_sorted_by_key(|it| it.span.start)
    );
    let mut todo: Vec<_> = document.root().into_iter().collect();
    while let Some(value) = todo.pop() {
        assert!(text.get(value.span().range()).is_some());
        match value.kind() {
            Kind::Array(array) => {
                assert_eq!(array.elements().count(), array.len());
                let mut last = value.span().start;
                for element in array.elements() {
                    assert!(value.span().contains(element.span()), "{text:?}");
                    assert!(last <= element.span().start, "{text:?}");
                    last = element.span().end;
                    todo.push(element);
                }
            }
            Kind::Object(object) => {
                assert_eq!(object.members().count(), object.len());
                for member in object.members() {
                    assert!(value.span().contains(member.name.span()));
                    assert!(value.span().contains(member.value.span()));
                    assert!(member.name.span().end <= member.value.span().start);
                    if !member.name.has_lone_surrogate() && !member.is_shadowed() {
                        let found = object.get(member.name.value()).map(Value::id);
                        assert_eq!(found, Some(member.value.id()));
                    }
                    todo.push(member.value);
                }
            }
            Kind::String(string) => {
                let value = string.value();
                assert!(string.span().contains(string.inner_span()));
                assert_eq!(string.source_span(0..value.len()), string.inner_span());
            }
            _ => {}
        }
    }
}

// Random documents.

/// White space of every kind, seldom much of it.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 2 => Just(" ".to_owned()), 1 => "[ \t\r\n]{1,4}"]
}

/// One character of a string, in one of the ways to spell it.
fn spelled_char() -> impl Strategy<Value = String> {
    let escape = |units: Vec<u16>, upper: bool| {
        units.iter().fold(String::new(), |mut out, unit| {
            if upper { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") }
                .unwrap();
            out
        })
    };
    prop_oneof![
        6 => "[a-z0-9:_.(){}\\[\\], /']",
        2 => prop::sample::select(vec![r"\n", r"\t", r"\\", r#"\""#, r"\/", r"\b", r"\f", r"\r"])
            .prop_map(str::to_owned),
        2 => prop::sample::select(vec!["µ", "→", "é", "😀", "\u{7f}", "\u{2028}", "\u{fffd}", "\u{a0}"])
            .prop_map(str::to_owned),
        2 => (any::<char>(), any::<bool>())
            .prop_map(move |(c, upper)| escape(c.encode_utf16(&mut [0; 2]).to_vec(), upper)),
        1 => (0xd800u16..0xe000, any::<bool>()).prop_map(move |(unit, upper)| escape(vec![unit], upper)),
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop::collection::vec(spelled_char(), 0..12).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn name() -> impl Strategy<Value = String> {
    let few = vec![
        r#""id""#,
        r#""\u0069d""#,
        r#""i\u0064""#,
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ufffd""#,
    ];
    prop_oneof![prop::sample::select(few).prop_map(str::to_owned), string()]
}

fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][-+]?[0-9]{1,4})?",
        string(),
    ];
    let value = leaf.prop_recursive(5, 40, 6, |inner| {
        let element = (space(), inner.clone(), space()).prop_map(|(a, value, b)| a + &value + &b);
        let member = (space(), name(), space(), space(), inner, space())
            .prop_map(|(a, name, b, c, value, d)| format!("{a}{name}{b}:{c}{value}{d}"));
        prop_oneof![
            (prop::collection::vec(element, 0..6), space()).prop_map(|(list, empty)| {
                if list.is_empty() { format!("[{empty}]") } else { format!("[{}]", list.join(",")) }
            }),
            (prop::collection::vec(member, 0..16), space()).prop_map(|(list, empty)| {
                if list.is_empty() {
                    format!("{{{empty}}}")
                } else {
                    format!("{{{}}}", list.join(","))
                }
            }),
        ]
    });
    (space(), value, space()).prop_map(|(a, value, b)| a + &value + &b)
}

/// One change of a file's bytes.
#[derive(Debug, Clone)]
enum Change {
    Delete(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Replace(prop::sample::Index, u8),
    Cut(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let tokens: Vec<&[u8]> = vec![
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"'",
        b"//",
        b"/*",
        b"*/",
        b"#",
        b"NaN",
        b"-",
        b"Infinity",
        b"True",
        b"0",
        b"1e",
        b".",
        b"+",
        b"\\u",
        b"\\ud83d",
        b"\n",
        b"\r\n",
        b"\t",
        b"\0",
        b"\x1f",
        b"\xef\xbb\xbf",
        b"\xc2\xa0",
        b"\xe2\x80\x9c",
        b"\xff",
        b" ",
        b"=",
        b";",
        b"a",
    ];
    prop_oneof![
        (at(), 1usize..4).prop_map(|(at, len)| Change::Delete(at, len)),
        (at(), prop::sample::select(tokens))
            .prop_map(|(at, token)| Change::Insert(at, token.to_vec())),
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        at().prop_map(Change::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Delete(at, len) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes.drain(at..(at + len).min(bytes.len()));
        }
        Change::Insert(at, token) => {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, token.iter().copied());
        }
        Change::Replace(at, byte) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Change::Cut(at) if !bytes.is_empty() => bytes.truncate(at.index(bytes.len())),
        _ => {}
    }
}

fn runner(cases: u32) -> proptest::test_runner::TestRunner {
    proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

#[test]
fn reads_random_documents_as_python_does() {
    let Some(mut oracle) = Oracle::start() else { return };
    let oracle = std::cell::RefCell::new(&mut oracle);
    runner(1500)
        .run(&document(), |text| {
            let expected = oracle.borrow_mut().ask(text.as_bytes());
            prop_assert!(expected.is_some(), "the generator is at fault: {text}");
            prop_assert_eq!(read(text.as_bytes()), expected);
            Ok(())
        })
        .unwrap();
}

#[test]
fn refuses_changed_documents_as_python_does() {
    let Some(mut oracle) = Oracle::start() else { return };
    let oracle = std::cell::RefCell::new(&mut oracle);
    let changed = (document(), prop::collection::vec(change(), 1..4));
    runner(6000)
        .run(&changed, |(text, changes)| {
            let mut bytes = text.into_bytes();
            for change in &changes {
                apply(&mut bytes, change);
            }
            prop_assert_eq!(read(&bytes), oracle.borrow_mut().ask(&bytes));
            Ok(())
        })
        .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each character of a value leads to the very characters that spell it.
    #[test]
    fn source_spans_lead_back(parts in prop::collection::vec(spelled_char(), 0..30), lead in "[ \n]{0,9}") {
        let text = format!("{lead}[\"{}\"]", parts.concat());
        let document = json::parse(&text);
        let root = document.root().unwrap();
        let string = root.as_array().unwrap().elements().next().unwrap().as_str().unwrap();
        let lone: Vec<_> = string.lone_surrogates().map(|(at, _)| at).collect();
        let mut expected_start = string.span().start + 1;
        for (at, c) in string.value().char_indices() {
            let span = string.source_span(at..at + c.len_utf8());
            prop_assert_eq!(span.start, expected_start);
            expected_start = span.end;
            let empty = string.source_span(at..at);
            prop_assert!(empty.is_empty() && empty.start == span.start);
            let spelled = &text[span.range()];
            // Spelled alone in a document of its own, it is read by another parser.
            if lone.contains(&at) {
                prop_assert!(spelled.len() == 6 && spelled.to_lowercase().starts_with("\\ud"), "{}", spelled);
            } else {
                let read: String = serde_json::from_str(&format!("\"{spelled}\"")).unwrap();
                prop_assert_eq!(read, c.to_string());
            }
        }
        prop_assert_eq!(expected_start, string.span().end - 1);
        let len = string.value().len();
        prop_assert_eq!(string.source_span(len..len).start, string.span().end - 1);
    }

    #[test]
    fn any_bytes_are_read_without_a_crash(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }

    /// Nothing but what the parser has to guess about.
    #[test]
    fn any_tokens_are_read_without_a_crash(text in "([\\[\\]{},:;\"'“”\\\\/*#=\n\r\t .+\\-0-9eEnulTrsNafxé\u{a0}]|/\\*|\\*/|\\\\u|: ?\"|\",\n){0,80}") {
        read(text.as_bytes());
    }
}

/// Every token at every place of a small file, and every byte of it taken away.
#[test]
fn no_mend_reaches_into_a_string() {
    // What closes the list is put where the string that is not closed ends, behind its backslash.
    check_invariants(&json::parse("[nul,[\r \"\\n\\n\\u\n0"));
    check_invariants(&json::parse("[1 \"b c\"\"\"  \"\\u0041\"(\n\"\\u0041\"]"));
}

#[test]
fn each_single_change_is_read_without_a_crash() {
    let text = "{\"id\":[0, \"\\u0069\"] ,\r\n\"b\":{\"c\":null, \"d\": -1.5e3},\"\\\\.\":[{\"e\":true},[]]} ";
    let tokens = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "'", "//", "/*", "#", "NaN", "-", "True", "0",
        ".", "+", "\\u", "\n", "\t", "\u{a0}", "“", "”", "=", ";", "a", "`", "...", "\u{feff}",
        "],", "},", "\",", ",\"",
    ];
    for at in 0..=text.len() {
        for token in tokens {
            let changed = format!("{}{token}{}", &text[..at], &text[at..]);
            check_invariants(&json::parse(&changed));
            let rest = text.get(at + 1..).unwrap_or_default();
            check_invariants(&json::parse(&format!("{}{token}{rest}", &text[..at])));
        }
        check_invariants(&json::parse(&text[..at]));
        check_invariants(&json::parse(&text[at..]));
        check_invariants(&json::parse(&format!(
            "{}{}",
            &text[..at],
            text.get(at + 1..).unwrap_or_default()
        )));
    }
}

// JSONTestSuite.

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REGLINT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

#[test]
fn json_test_suite() {
    let Some(folder) = shared("json/JSONTestSuite") else { return };
    let mut counts = [0; 3];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let accepted = read(&std::fs::read(&path).unwrap()).is_some();
        let kind = ["y_", "n_", "i_"].iter().position(|kind| file.starts_with(kind)).unwrap();
        counts[kind] += 1;
        match kind {
            0 => assert!(accepted, "{file} must be accepted"),
            1 => assert!(!accepted, "{file} must be refused"),
            _ => {}
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

// Mistakes.

/// `text` with the faulty characters between `«` and `»`, or `^` where something is missing.
#[track_caller]
fn one_error(marked: &str, kind: SyntaxErrorKind, rest: &str) {
    for line_end in ["\n", "\r\n"] {
        let marked = marked.replace('⏎', line_end);
        let text = marked.replace(['«', '»', '¦'], "");
        let (start, end) = match marked.find('¦') {
            Some(at) => (at, at),
            None => (marked.find('«').unwrap(), marked.find('»').unwrap() - '«'.len_utf8()),
        };
        let document = json::parse(&text);
        check_invariants(&document);
        let errors = document.errors();
        assert_eq!(errors.len(), 1, "{text:?}: {errors:#?}");
        assert_eq!(errors[0].kind, kind, "{text:?}: {errors:#?}");
        assert_eq!(errors[0].span.range(), start..end, "{text:?}: {errors:#?}");
        let mut shown = String::new();
        show(document.root(), &mut shown);
        assert_eq!(shown, rest.replace('⏎', line_end), "{text:?}");
        let Some(repair) = &errors[0].repair else { continue };
        let mut mended = text.clone();
        for (span, replacement) in repair.edits.iter().rev() {
            mended.replace_range(span.range(), replacement);
        }
        let left = json::parse(&mended);
        assert!(left.errors().is_empty(), "{mended:?}: {:#?}", left.errors());
    }
}

/// JSON without spaces, `?` for what could not be read, `~` behind an incomplete container.
fn show(value: Option<Value<'_>>, out: &mut String) {
    let Some(value) = value else { return };
    match value.kind() {
        Kind::Null => out.push_str("null"),
        Kind::Bool(value) => write!(out, "{value}").unwrap(),
        Kind::Number(text) => out.push_str(text),
        Kind::String(string) => write!(out, "'{}'", string.value()).unwrap(),
        Kind::Array(array) => {
            out.push('[');
            for (index, element) in array.elements().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                show(Some(element), out);
            }
            out.push(']');
        }
        Kind::Object(object) => {
            out.push('{');
            for (index, member) in object.members().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write!(out, "{}:", member.name.value()).unwrap();
                show(Some(member.value), out);
            }
            out.push('}');
        }
        Kind::Invalid => out.push('?'),
    }
    let container = matches!(value.kind(), Kind::Array(_) | Kind::Object(_));
    out.push_str(if container && !value.is_complete() { "~" } else { "" });
}

#[test]
fn one_mistake_gives_one_error_and_the_rest_is_read() {
    use SyntaxErrorKind::*;
    let cases = [
        (r#"{"a": 1¦ "b": 2}"#, MissingComma, "{a:1,b:2}"),
        (r#"{"a": 1¦⏎ "b": 2}"#, MissingComma, "{a:1,b:2}"),
        (r#"{"a": {}¦⏎⏎ "b": 2}"#, MissingComma, "{a:{},b:2}"),
        (r#"["a"¦⏎"b"]"#, MissingComma, "['a','b']"),
        (r"[{}¦{}, true]", MissingComma, "[{},{},true]"),
        (r"[1,2«,»]", TrailingComma, "[1,2]"),
        (r#"{"a": 1«,»⏎}"#, TrailingComma, "{a:1}"),
        (r#"{"a": [1«,»⏎], "b": 2}"#, TrailingComma, "{a:[1],b:2}"),
        ("[1«, ,» ]", TrailingComma, "[1]"),
        ("[1,«,»2]", ExtraComma, "[1,2]"),
        ("[1,«,⏎,»2]", ExtraComma, "[1,2]"),
        ("[«,»1]", ExtraComma, "[1]"),
        (r#"{"a": 1, «,»"b": 2}"#, ExtraComma, "{a:1,b:2}"),
        ("[1, «// no»⏎ 2]", Comment, "[1,2]"),
        ("[1 «/* a⏎ b */», 2]", Comment, "[1,2]"),
        ("«# first»⏎[1]", Comment, "[1]"),
        ("[1]⏎«// last»⏎", Comment, "[1]"),
        (r#"{"a": 1, «/*» no end"#, Comment, "{a:1}~"),
        ("[«\u{a0}»1]", Space, "[1]"),
        (r#"{«'a'»: 1, "b": 2}"#, WrongQuotes, "{a:1,b:2}"),
        (r#"{"a": «'it\'s "x"'», "b": 2}"#, WrongQuotes, r#"{a:'it's "x"',b:2}"#),
        (r#"{"a": «`x`»}"#, WrongQuotes, "{a:'x'}"),
        (r#"{«a»: 1, "b": 2}"#, UnquotedName, "{a:1,b:2}"),
        (r#"{«a-b.c» : 1, "b": 2}"#, UnquotedName, "{a-b.c:1,b:2}"),
        (r"{«1»: 1}", UnquotedName, "{1:1}"),
        (r#"{«id»": 1, "b": 2}"#, UnquotedName, "{id:1,b:2}"),
        (r#"{"a"¦ 1, "b": 2}"#, MissingColon, "{a:1,b:2}"),
        (r#"{"a"¦ "x", "b": 2}"#, MissingColon, "{a:'x',b:2}"),
        (r#"{"a" «=» 1, "b": 2}"#, WrongSeparator, "{a:1,b:2}"),
        (r#"{"a" «=>» 1, "b": 2}"#, WrongSeparator, "{a:1,b:2}"),
        (r#"{"a": 1«;» "b": 2}"#, WrongSeparator, "{a:1,b:2}"),
        (r#"{"a":¦ , "b": 2}"#, MissingValue, "{a:?,b:2}"),
        (r#"{"a":¦⏎}"#, MissingValue, "{a:?}"),
        (r#"{"a"¦, "b": 2}"#, MissingValue, "{a:?,b:2}"),
        (r#"{«:» 1, "b": 2}"#, MissingName, "{b:2}~"),
        (r#"{"a": «True», "b": 2}"#, WrongLiteral, "{a:true,b:2}"),
        (r"[«None», 1]", WrongLiteral, "[null,1]"),
        (r"[«FALSE»]", WrongLiteral, "[false]"),
        (r"[«NaN», 1]", NotFinite, "[?,1]"),
        (r"[«-Infinity», 1]", NotFinite, "[?,1]"),
        (r"[«01», 1]", BadNumber, "[?,1]"),
        (r"[«-00.5», 1]", BadNumber, "[?,1]"),
        (r"[«+1», 1]", BadNumber, "[?,1]"),
        (r"[«.5», 1]", BadNumber, "[?,1]"),
        (r"[«1.», 1]", BadNumber, "[?,1]"),
        (r"[«1.e3», 1]", BadNumber, "[?,1]"),
        (r"[«0x1F», 1]", BadNumber, "[?,1]"),
        (r"[«1_000», 1]", BadNumber, "[?,1]"),
        (r"[«2026-01-01», 1]", BadNumber, "[?,1]"),
        (r"[«-», 1]", BadNumber, "[?,1]"),
        (r"[«1e», 1]", BadNumber, "[?,1]"),
        (r#"{"a": «H1», "b": 2}"#, UnquotedText, "{a:?,b:2}"),
        (r#"{"a": «some words»⏎, "b": 2}"#, UnquotedText, "{a:?,b:2}"),
        (r#"{"a": «"x»,⏎ "b": 2}"#, UnclosedString, "{a:'x',b:2}~"),
        (r#"{"a": «"x»⏎}"#, UnclosedString, "{a:'x'}~"),
        (r#"{"a": «"x», "b": 2}"#, UnclosedString, "{a:'x',b:2}~"),
        (r#"[«"a», "b", 3]"#, UnclosedString, "['a','b',3]~"),
        (r#"[{"id":«"H1»},{"id":"H2"}]"#, UnclosedString, "[{id:'H1'}~,{id:'H2'}]"),
        (r#"{«"id»: "H1", "b": 2}"#, UnclosedString, "{id:'H1',b:2}~"),
        (r#"{«"id»: 5,⏎ "b": 2}"#, UnclosedString, "{id:5,b:2}~"),
        (r#"{"a": [1, 2], "b": «"x»⏎"#, UnclosedString, "{a:[1,2],b:'x'}~"),
        (r#"[{"a": «"x»},⏎ {"b": 2}]⏎"#, UnclosedString, "[{a:'x'}~,{b:2}]"),
        (r#"{"a": "the «"»foo" bar", "b": 2}"#, UnescapedQuote, r#"{a:'the "foo" bar',b:2}"#),
        (r#"{"a": "one«⏎»two", "b": 2}"#, ControlCharacter, "{a:'one⏎two',b:2}"),
        (r#"{"a": "one«⏎»two⏎three⏎", "b": 2}"#, ControlCharacter, "{a:'one⏎two⏎three⏎',b:2}"),
        ("{\"a\": \"x«\t»y\tz\", \"b\": 2}", ControlCharacter, "{a:'x\ty\tz',b:2}"),
        ("[\"x«\u{1b}»[0m\"]", ControlCharacter, "['x\u{1b}[0m']"),
        (r#"["«\x»41", 1]"#, BadEscape, r"['\x41',1]"),
        (r#"["a«\.»b", 1]"#, BadEscape, r"['a\.b',1]"),
        (r#"["\\.«\é»", 1]"#, BadEscape, r"['\.\é',1]"),
        (r#"["«\u12»", 1]"#, TruncatedEscape, r"['\u12',1]"),
        (r#"["«\u12»G4z", 1]"#, TruncatedEscape, r"['\u12G4z',1]"),
        (r#"{"a": [1, 2«}»}"#, WrongCloser, "{a:[1,2]~}"),
        (r"[1, 2«}»", WrongCloser, "[1,2]~"),
        (r#"{"a": 1«]»"#, WrongCloser, "{a:1}~"),
        (r#"[{"a": 1«]», {"b": 2}]"#, WrongCloser, "[{a:1}~,{b:2}]"),
        (r#"{"h": [{"a": 1 «]», "b": 2}"#, WrongCloser, "{h:[{a:1}~],b:2}"),
        (r#"{"h": [{"a": 1}, {"b": 2}«}»"#, WrongCloser, "{h:[{a:1},{b:2}]~}"),
        (r#"{"h": [{"a": 1¦, {"a": 2}]}"#, Unclosed, "{h:[{a:1}~,{a:2}]}"),
        (r#"{"h": [{"a": 1¦⏎ {"a": 2}]}"#, Unclosed, "{h:[{a:1}~,{a:2}]}"),
        (r#"{"h": [1, 2¦, "b": 3}"#, Unclosed, "{h:[1,2]~,b:3}"),
        (r#"{"h": [1, 2¦⏎ "b": 3}"#, Unclosed, "{h:[1,2]~,b:3}"),
        (r#"{"h": [{"a": 1}¦⏎"#, Unclosed, "{h:[{a:1}]~}~"),
        (r#"{"h":¦⏎"#, Unclosed, "{h:?}~"),
        (r#"{"h"¦"#, Unclosed, "{h:?}~"),
        (r#"{"h": 1,¦"#, Unclosed, "{h:1}~"),
        // A bracket too many or too few.
        (r#"[{"a": 1«}», "b": 2}, {"a": 3}]"#, WrongCloser, "[{a:1,b:2}~,{a:3}]"),
        (r#"[{"a": 1«}»⏎, "b": 2}⏎]"#, WrongCloser, "[{a:1,b:2}~]"),
        (r#"[{"a": 1, «}» "b": 2}]"#, WrongCloser, "[{a:1,b:2}~]"),
        (r#"{"a": 1«}», "b": [2]}"#, WrongCloser, "{a:1,b:[2]}~"),
        (r#"{"a": [1«]», 2], "b": 3}"#, WrongCloser, "{a:[1,2]~,b:3}"),
        (r#"[{"a": 1,⏎ «]» "b": 2}, 3]"#, WrongCloser, "[{a:1,b:2}~,3]"),
        (r#"[{"a": 1}«}», {"b": 2}]"#, WrongCloser, "[{a:1},{b:2}]~"),
        (r#"{"h": [{"a": 1},⏎ ¦"a": 2, "b": 3}]}"#, Unopened, "{h:[{a:1},{a:2,b:3}~]}"),
        (r#"{"h": [⏎ ¦"a": 2}, {"a": 3}]}"#, Unopened, "{h:[{a:2}~,{a:3}]}"),
        (r#"{"a": ¦"b": 1, "c": 2}, "d": 3}"#, Unopened, "{a:{b:1,c:2}~,d:3}"),
        (r#"{"a": ¦"b", "c"], "d": 3}"#, Unopened, "{a:['b','c']~,d:3}"),
        (r#"{"a": ¦{"x": 1}, {"x": 2}], "d": 3}"#, Unopened, "{a:[{x:1},{x:2}]~,d:3}"),
        (r#"¦"a": 1, "b": 2}"#, Unopened, "{a:1,b:2}~"),
        (r#"{"a": 1, «{» "b": 2}"#, Unexpected, "{a:1,b:2}~"),
        // One token that explains several errors.
        (r#"{"h": «{»{"a": 1}, {"a": 2}], "c": 3}"#, WrongOpener, "{h:[{a:1},{a:2}]~,c:3}"),
        (r#"{"h": «{»"x", "y"]}"#, WrongOpener, "{h:['x','y']~}"),
        (r#"{"h": «[»"a": "x", "b": "y" }, "c": 3}"#, WrongOpener, "{h:{a:'x',b:'y'}~,c:3}"),
        (r#"«[»"a": 1, "b": [2]}"#, WrongOpener, "{a:1,b:[2]}~"),
        (r#"{"a": «(»1, 2], "b": 3}"#, WrongOpener, "{a:[1,2]~,b:3}"),
        (r#"{"a": "x" «+» "y", "b": 2}"#, Unexpected, "{a:'xy',b:2}~"),
        (r#"{"a": "x" «+»⏎ "y" + "z", "b": 2}"#, Unexpected, "{a:'xyz',b:2}~"),
        (r#"{"a": "x"¦ "y", "b": 2}"#, Unexpected, "{a:'xy',b:2}~"),
        (r#"{"a" «+» "b": 1, "c": 2}"#, Unexpected, "{ab:1,c:2}~"),
        (r#"{"a": 1«.» "b": [2]}"#, WrongSeparator, "{a:1,b:[2]}~"),
        (r#"{"a"«]»: {"b": 1}, "c": 2}"#, WrongCloser, "{a:{b:1},c:2}~"),
        (r#"{"a": «{»"x", "b": 2}"#, WrongOpener, "{a:'x',b:2}~"),
        // The layout, or the neighbours, show where a bracket is missing.
        (r#"{⏎  "a": {⏎    "b": 1¦,⏎  "c": 2,⏎  "d": 3⏎}"#, Unclosed, "{a:{b:1}~,c:2,d:3}"),
        (
            r#"[⏎  {⏎    "a": {⏎      "x": 1¦⏎    ,⏎    "b": 2⏎  },⏎  {"b": 3}⏎]"#,
            Unclosed,
            "[{a:{x:1}~,b:2},{b:3}]",
        ),
        (r#"[{"a":{"x":1¦,"b":2},{"a":{},"b":3}]"#, Unclosed, "[{a:{x:1}~,b:2},{a:{},b:3}]"),
        // Text astray behind a string, before a colon or a member.
        (r#"{"a": "d"«-», "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"{"a": "d"«'», "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"{"a": "d"«[», "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"{"a": "d"«true»,⏎ "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"{"a": "d"«\»,⏎ "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"{"a": "d"«"», "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"{"a": "d"«-» "b": 2}"#, Unexpected, "{a:'d',b:2}~"),
        (r#"["a"«-», "b"]"#, Unexpected, "['a','b']~"),
        (r#"{"a"«-»: 1, "b": 2}"#, Unexpected, "{a:1,b:2}"),
        (r#"{"a"«[»: "x", "b": 2}"#, Unexpected, "{a:'x',b:2}"),
        (r#"{"a"«.» "x", "b": 2}"#, WrongSeparator, "{a:'x',b:2}"),
        (r#"{"x"«,» null}"#, WrongSeparator, "{x:null}"),
        (r#"{"a": 1,«.»⏎ "b": 2}"#, Unexpected, "{a:1,b:2}~"),
        (r#"{"a": "the «"»big", one", "b": 2}"#, UnescapedQuote, r#"{a:'the "big", one',b:2}"#),
        ("[«1 000.0», 1]", BadNumber, "[?,1]"),
        ("[«.», 1]", BadNumber, "[?,1]"),
        ("[«-.», 1]", BadNumber, "[?,1]"),
        // Half of the quotation marks.
        (r#"{"a": «H1"»,⏎ "b": 2}"#, UnquotedText, "{a:'H1',b:2}"),
        (r#"{"a": «some, words"», "b": 2}"#, UnquotedText, "{a:'some, words',b:2}"),
        (r#"["x", «y"», "z"]"#, UnquotedText, "['x','y','z']"),
        (r#"{«,a»": 1, "b": 2}"#, UnquotedName, "{a:1,b:2}"),
        ("{\"a\": «\"x\u{a0}», \"b\": 2}", UnclosedString, "{a:'x',b:2}~"),
        ("{\"a\": «\"x\u{a0}»,⏎ \"b\": 2}", UnclosedString, "{a:'x',b:2}~"),
        (r#"{"a": «"x”»,⏎ "b": 2}"#, UnclosedString, "{a:'x',b:2}~"),
        (r#"{"a": «"x(\»,⏎ "b": 2}"#, UnclosedString, r"{a:'x(\',b:2}~"),
        (r#"{"a": «"x(\"»,⏎ "b": 2}"#, UnclosedString, "{a:'x(\"',b:2}~"),
        (r#"{"a": 1, «...»}"#, Unexpected, "{a:1}~"),
        (r#"{"a": 1 «2», "b": 2}"#, Unexpected, "{a:1,b:2}~"),
        (r"[«@», 1]", Unexpected, "[?,1]"),
        (r#"["a"«:» 1, 2]"#, Unexpected, "['a',2]~"),
        (r#"{"a": "b"«:» 1, "c": 2}"#, Unexpected, "{a:'b',c:2}~"),
        (r"{} «{»}", AfterDocument, "{}"),
        (r"{}⏎«}»⏎", AfterDocument, "{}"),
        (r"[1]«,»⏎", AfterDocument, "[1]"),
        (r"{} «and so on»⏎", AfterDocument, "{}"),
        ("¦", Empty, ""),
        ("¦ ⏎ ", Empty, ""),
    ];
    for (marked, kind, rest) in cases {
        one_error(marked, kind, rest);
    }
    // `«` marks a span above.
    let document = json::parse(r#"{"a": “x”, "b": «y»}"#);
    let kinds: Vec<_> = document.errors().iter().map(|error| error.kind).collect();
    assert_eq!(kinds, [TypographicQuotes, TypographicQuotes]);
    assert_eq!(document.root().unwrap().get("b").unwrap().as_str().unwrap().value(), "y");
}

#[test]
fn escapes_beside_a_bad_one_are_doubted() {
    for (text, safe, spelled) in [
        (r#"["a\d+\bfoo"]"#, false, r"\b"),
        (r#"["\b\.\d"]"#, false, r"\b"),
        (r#"["\d\t"]"#, false, r"\t"),
        (r#"["\d\n\f"]"#, false, r"\n"),
        (r#"["\d\r"]"#, false, r"\r"),
        (r#"["\d\u0008"]"#, false, r"\u0008"),
        (r#"["\d\ud800"]"#, false, r"\ud800"),
        (r#"["\d\\b\u00e9\"\/"]"#, true, ""),
        (r#"["\d", "\b"]"#, true, ""),
    ] {
        let document = json::parse(text);
        assert!(!document.errors().is_empty());
        for error in document.errors() {
            assert_eq!(error.kind, SyntaxErrorKind::BadEscape);
            assert_eq!(error.repair.as_ref().map(|repair| repair.safe), Some(safe), "{text}");
            let notes = error.notes();
            let more = usize::from(text.contains(r"\.\d"));
            assert_eq!(notes.len(), more + if safe { 1 } else { 2 }, "{notes:?}");
            assert!(safe || notes[1].starts_with(&format!("`{spelled}` in this string is")));
        }
    }
}

#[test]
fn each_line_of_a_merge_conflict_is_one_error() {
    let marks = |text: &str| {
        let document = json::parse(text);
        check_invariants(&document);
        let mut shown = String::new();
        show(document.root(), &mut shown);
        for error in document.errors() {
            assert_eq!((error.kind, &error.repair), (SyntaxErrorKind::Conflict, &None), "{text}");
        }
        let lines: Vec<_> =
            document.errors().iter().map(|error| text[error.span.range()].to_owned()).collect();
        (lines.concat(), shown)
    };
    let all = "<<<<<<< HEAD||||||| base=======>>>>>>> a branch";
    for (text, marked, shown) in [
        (
            "{\n<<<<<<< HEAD\n \"a\": 1,\n||||||| base\n=======\n \"b\": 2,\n>>>>>>> a branch\n \"c\": 3}\n",
            all,
            "{a:1,c:3}~",
        ),
        (
            "{\"c\": 3,\n<<<<<<< HEAD\n \"a\": 1\n||||||| base\n=======\n \"b\": 2\n>>>>>>> a branch\n}\n",
            all,
            "{c:3,a:1}~",
        ),
        (
            "[1,\n<<<<<<< HEAD\n {},\n||||||| base\n=======\n {}\n>>>>>>> a branch\n]\n",
            all,
            "[1,{}]~",
        ),
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            assert_eq!(marks(&text), (marked.to_owned(), shown.to_owned()), "{text}");
        }
    }
    // Not at the start of a line, or not seven, they are something else.
    for text in ["[1, <<<<<<< HEAD\n2]", "[1,\n<<<<<< HEAD\n2]", "[1,\n<<<<<<<< HEAD\n2]"] {
        let document = json::parse(text);
        assert!(document.errors().iter().all(|it| it.kind != SyntaxErrorKind::Conflict), "{text}");
    }
}

#[test]
fn strings_whose_end_is_a_guess_say_so() {
    for (text, guessed, misspelled) in [
        (r#"{"a": "x"}"#, false, false),
        (r#"{"a": "\u0041\n"}"#, false, false),
        ("{\"a\": \"x,\n\"b\": 1}", true, true),
        (r#"{"a": "the "big" one"}"#, true, true),
        (r#"{"a": x", "b": 1}"#, true, true),
        ("{\"a\": 'x,\n\"b\": 1}", true, true),
        (r#"{"a": "\d"}"#, false, true),
        ("{\"a\": \"\t\"}", false, true),
    ] {
        let document = json::parse(text);
        let string = document.root().unwrap().get("a").unwrap().as_str().unwrap();
        assert_eq!((string.is_guessed(), string.is_misspelled()), (guessed, misspelled), "{text}");
    }
}

/// A comma, or a bracket, is safe to put only where nothing beside it is at fault.
#[test]
fn no_safe_comma_stands_behind_a_fault() {
    let comma = |text: &str| {
        let document = json::parse(text);
        let missing = document.errors().iter().find(|it| it.kind == SyntaxErrorKind::MissingComma);
        missing.and_then(|it| it.repair.as_ref()).map(|repair| repair.safe)
    };
    assert_eq!(comma("{\"a\": 1\n \"b\": 2}"), Some(true));
    assert_eq!(comma("{\"a\": x\n \"b\": 2}"), Some(false));
    assert_eq!(comma("{\"a\": 01\n \"b\": 2}"), Some(false));
    assert_eq!(comma("{\"a\": \"x\n \"b\": 2}"), Some(false));
    assert_eq!(comma("{\"a\": 'x'\n \"b\": 2}"), Some(false));
}

#[test]
fn several_mistakes_are_several_errors() {
    use SyntaxErrorKind::*;
    let text = "{\n  // one\n  'a': [1 2,],\n  \"b\": True\n  c: \"\\.\",\n}\n";
    let document = json::parse(text);
    let kinds: Vec<_> = document.errors().iter().map(|error| error.kind).collect();
    let expected = [
        Comment,
        WrongQuotes,
        MissingComma,
        TrailingComma,
        WrongLiteral,
        MissingComma,
        UnquotedName,
        BadEscape,
        TrailingComma,
    ];
    assert_eq!(kinds, expected);
    let mut shown = String::new();
    show(document.root(), &mut shown);
    assert_eq!(shown, r"{a:[1,2],b:true,c:'\.'}");
}

#[test]
fn repeated_names_are_kept_and_the_last_one_counts() {
    let mut text = r#"{"id": 1, "x": 0, "\u0069d": 2, "i\u0064": 3, "\ud800": 4, "\udc00": 5, "\ufffd": 6, "\ud800": 7"#.to_owned();
    for more in [0, 20] {
        (0..more).for_each(|index| write!(text, ", \"m{index}\": {index}").unwrap());
        let whole = format!("{text}}}");
        let document = json::parse(&whole);
        assert_eq!(document.errors(), []);
        let pairs: Vec<_> = document
            .repeated_members()
            .map(|(first, later)| {
                (&whole[first.value.span().range()], &whole[later.value.span().range()])
            })
            .collect();
        assert_eq!(pairs, [("1", "2"), ("1", "3"), ("4", "7")]);
        let object = document.root().unwrap().as_object().unwrap();
        assert_eq!(object.len(), 8 + more);
        assert_eq!(object.effective_members().count(), 5 + more);
        assert_eq!(&whole[object.get("id").unwrap().span().range()], "3");
        assert_eq!(&whole[object.get("\u{fffd}").unwrap().span().range()], "6");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let document = json::parse("\u{feff}{\"a\": 1}");
    assert_eq!(document.errors(), []);
    assert_eq!(document.root().unwrap().span().range(), 3..11);
    assert_eq!(json::parse("\u{feff}").errors()[0].kind, SyntaxErrorKind::Empty);
}

#[test]
fn bounds_are_exact_and_said() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(json::parse(&nested(MAX_DEPTH)).errors(), []);
    let text = format!("[{}, 1,]", nested(MAX_DEPTH));
    let document = json::parse(&text);
    let kinds: Vec<_> = document.errors().iter().map(|error| error.kind).collect();
    assert_eq!(kinds, [SyntaxErrorKind::TooDeep, SyntaxErrorKind::TrailingComma]);
    assert!(document.errors()[0].message.contains(&MAX_DEPTH.to_string()));
    assert!(document.errors()[0].notes()[0].starts_with("the bound is reglint's own; Python's"));
    assert_eq!(document.errors()[0].span.range(), MAX_DEPTH..MAX_DEPTH + 1);

    let digits = |count: usize| format!("[-{}]", "1".repeat(count));
    assert_eq!(json::parse(&digits(4300)).errors(), []);
    assert_eq!(json::parse(&digits(4301)).errors()[0].kind, SyntaxErrorKind::LongNumber);
    assert_eq!(json::parse(&format!("[{}.0]", "1".repeat(5000))).errors(), []);

    let text = format!("[{}]", "NaN,".repeat(1000));
    let document = json::parse(&text);
    assert_eq!(document.errors().len(), MAX_ERRORS);
    let last = document.errors().last().unwrap();
    assert_eq!(last.kind, SyntaxErrorKind::NotFinite);
    let note = last.notes().pop().unwrap();
    assert!(note.starts_with("901 more"), "{note}");
}

/// Hostile texts of a size that makes anything quadratic take minutes.
#[test]
fn hostile_texts_take_linear_time() {
    let units = [
        "[",
        "{\"a\":",
        "]",
        "}",
        "[}",
        "{]",
        "{\"a\":[",
        "[[[[[},",
        "\"",
        "\"a\"b,",
        "'a'b,",
        "['a'b,",
        "'a",
        "“a”b,",
        "\"a\n",
        "\"a",
        "/*",
        "//",
        "//\n",
        "#",
        "\\",
        ",",
        ":",
        "a:",
        "{a",
        "[1 ",
        "\"a\":1 ",
        "\"\\u",
        "\"\\ud800\",",
        "{\"a\":1,",
        "[{",
        "\t",
        "\u{a0}",
        "1",
        "-",
        "\"a\": ",
        "[\"a\":",
        "[1,\"b\":",
        "{,",
        "{\"a\" b",
        "\u{0}",
        "{\"a\"b:",
        "[\"a b\"c \"d\" e,",
        "=",
        "{\"a\"=",
        ";",
        "\"a\n\n\n\n",
        "[{\"a\":1 ],",
        "\"\\",
        "{\"x\":[{\"a\":\"b}",
        "[{},\"a\":1},",
        "{\"a\":1},",
        "{\"a\" .\"b\"",
        "{\"a\",1",
        "{\"a\",\"b\"],",
        "{\"a\":\"b\":1},",
        "<<<<<<< a\n",
        "<",
        "[1 000,",
        "x\",",
        "x\" ",
        "\"a\"[",
        "\"a\"-\"",
        "{\"a\":1],",
        "[{[{",
        "'\n",
        "\"\" ",
        "\"  \"a",
    ];
    let start = Instant::now();
    for unit in units {
        for lead in ["", "[", "{"] {
            let text = format!("{lead}{}", unit.repeat(300_000 / unit.len()));
            let document = json::parse(&text);
            assert!(document.errors().len() <= MAX_ERRORS);
            let took = start.elapsed();
            assert!(took < Duration::from_mins(1), "{lead}{unit} took too long");
        }
    }
    // What begins in many places and is found to be something else far behind, or never.
    for (lead, many, much) in [
        ("{", "\"a\":1,", "\"b\":1]"),
        ("[", "1,", "}1"),
        ("[", "x, ", " "),
        ("[", "01 ", "\n"),
        ("[", "01 ", "x\","),
        ("{\"a\":\"", "b", "\t"),
        ("{\"a\":\"x\\q", " ", " "),
        ("[", "\"a", "{\"a\":1},"),
        ("{", "\"\\u", "{\"a\":1,"),
        ("[", "(\"a\"),", "{\"a\":1],"),
        ("[", "\"a\"-\"", "[{\"a\":1 ],"),
        ("[", "\\\"a", "x"),
    ] {
        let (many, much) = (many.repeat(200_000 / many.len()), much.repeat(600_000 / much.len()));
        let errors = json::parse(&format!("{lead}{many}{much}")).errors().len();
        assert!((1..=MAX_ERRORS).contains(&errors));
        let took = start.elapsed();
        assert!(took < Duration::from_mins(1), "{lead}{} took too long", &many[..8]);
    }
    // One object with a hundred thousand names, and one name a hundred thousand times.
    let many: Vec<_> = (0..100_000).map(|index| format!("\"{index}\":0,")).collect();
    let many = many.concat();
    assert_eq!(json::parse(&format!("{{{many}\"0\":1}}")).repeated_members().count(), 1);
    let same = "\"a\":0,".repeat(100_000);
    assert_eq!(json::parse(&format!("{{{same}\"a\":1}}")).repeated_members().count(), 100_000);
    assert_eq!(json::parse(&"[".repeat(200_000)).errors().len(), 1);
}

// One slip of the pen.

/// A register in the three layouts that people have.
fn layouts() -> [String; 3] {
    let pretty = r#"{
  "family": "fam",
  "_note": ["kept by hand", 1.5, true],
  "hypotheses": [
    {
      "id": "H1",
      "description": "The \"decode\" path, mostly (see H2).",
      "canonical_frame_regex": "^a::b\\d+\\(",
      "static_estimate_us_per_token": 12.5,
      "subcomponent_regexes": {"first": "x::y", "second": "z\\.w"}
    },
    {
      "id": "H2",
      "description": "d",
      "canonical_frame_regex": "c::d",
      "links": {"other": ["H6", "H7"], "none": null},
      "frames": {"claimed": ["c::d e"], "spared": []}
    },
    {"id": "H3", "description": "d, too", "canonical_frame_regex": "e|f"}
  ]
}
"#;
    [pretty.to_owned(), pretty.replace('\n', "\r\n"), minified(pretty)]
}

/// How many of a thousand single changes may give more than one finding.
const MAX_SHARE: usize = 8;

/// One change of one character gives one finding as a rule, and safe repairs make nothing worse.
#[test]
fn one_change_gives_one_finding() {
    const CHANGES: usize = 30_000;
    let pieces: Vec<char> = "\"\"\\{}[]:,,'-.0 1eatn\n\u{a0}/#=;”".chars().collect();
    let count = |text: &str| {
        let document = json::parse(text);
        check_invariants(&document);
        let schema = Schema::embedded().violations(&document).len();
        let mut safe: Vec<_> = document
            .errors()
            .iter()
            .filter_map(|error| error.repair.clone())
            .filter(|repair| repair.safe)
            .flat_map(|repair| repair.edits)
            .collect();
        safe.sort_by_key(|(span, _)| *span);
        (document.errors().len(), schema, safe)
    };
    let mut numbers = support::Rng::new(1);
    let mut tally = std::collections::BTreeMap::<(usize, bool), usize>::new();
    let mut several = 0;
    for layout in &layouts() {
        assert_eq!(count(layout), (0, 0, vec![]));
        let at: Vec<_> = layout.char_indices().collect();
        for _ in 0..CHANGES / 3 {
            let (start, old) = at[numbers.below(at.len())];
            let new = pieces[numbers.below(pieces.len())];
            let end = start + old.len_utf8();
            let text = match numbers.below(3) {
                0 => format!("{}{}", &layout[..start], &layout[end..]),
                1 => format!("{}{new}{}", &layout[..start], &layout[start..]),
                _ => format!("{}{new}{}", &layout[..start], &layout[end..]),
            };
            let (errors, violations, safe) = count(&text);
            *tally.entry(((errors + violations).min(9), errors > 0)).or_default() += 1;
            several += usize::from(errors + violations > 1);
            if errors + violations > 1 && std::env::var_os("REGLINT_SHOW_CHANGES").is_some() {
                let near = text.get(start.saturating_sub(30)..(start + 30).min(text.len()));
                eprintln!("{errors} {violations} {:?}", near.unwrap_or_default());
                let document = json::parse(&text);
                for error in document.errors() {
                    eprintln!("    {:?} {:?}", &text[error.span.range()], error.message);
                }
                for it in Schema::embedded().violations(&document) {
                    eprintln!("    schema {:?} {:?}", &text[it.span.range()], it.message);
                }
            }
            for pair in safe.windows(2) {
                let (one, next) = (pair[0].0, pair[1].0);
                assert!(one.end <= next.start && one != next, "{text}\n{safe:?}");
            }
            let mut mended = text.clone();
            for (span, replacement) in safe.iter().rev() {
                mended.replace_range(span.range(), replacement);
            }
            assert!(safe.is_empty() || count(&mended).0 < errors, "{text}\n{mended}");
        }
    }
    eprintln!("findings of one change (and whether of JSON): {tally:?}");
    eprintln!("more than one: {several} of {CHANGES}");
    assert!(several * 1000 <= MAX_SHARE * CHANGES, "{several} of {CHANGES}");
}
