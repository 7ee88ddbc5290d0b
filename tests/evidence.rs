//! Evidence from bytes to times: each format and layout, an independent aggregation in Python, and
//! inputs that are cut, hostile or endless.
#![allow(clippy::print_stderr, reason = "what is skipped is said")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use reglint::evidence::{
    Content, Covered, Evidence, EvidenceError, Format, FrameId, Function, Kinship, Near, Pair,
    Time, Trace, Unit, claims, snapshot,
};
use reglint::pattern::{Ast, Versions, parse};
use support::Rng;

fn shuffle<T>(rng: &mut Rng, list: &mut [T]) {
    for at in (1..list.len()).rev() {
        list.swap(at, rng.below(at + 1));
    }
}

fn read(bytes: impl AsRef<[u8]>) -> Result<Evidence, EvidenceError> {
    Evidence::read("it", bytes.as_ref(), None)
}

fn good(bytes: impl AsRef<[u8]>) -> Evidence {
    read(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn error(bytes: impl AsRef<[u8]>) -> String {
    match read(bytes) {
        Ok(evidence) => panic!("{} frames", evidence.frames().len()),
        Err(error) => error.to_string(),
    }
}

fn trace(evidence: &Evidence) -> &Trace {
    evidence.sources()[0].trace().expect("is a trace")
}

/// The inclusive times by name, sampled and credited.
fn times(evidence: &Evidence) -> BTreeMap<String, (u64, u64)> {
    let named = |&(frame, time): &(FrameId, Time)| {
        (evidence.frames().text(frame).to_owned(), (time.sampled, time.credited))
    };
    trace(evidence).frames().iter().map(named).collect()
}

fn expect(evidence: &Evidence, expected: &[(&str, u64, u64)]) {
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|&(name, sampled, credited)| (name.to_owned(), (sampled, credited)))
        .collect();
    assert_eq!(times(evidence), expected);
}

fn names(evidence: &Evidence) -> Vec<&str> {
    let mut names: Vec<_> = evidence.frames().iter().map(|(_, text)| text).collect();
    names.sort_unstable();
    names
}

fn shared(path: &str) -> Option<Vec<u8>> {
    let root = std::env::var_os("REGLINT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let read = std::fs::read(root.join(path)).ok();
    if read.is_none() {
        eprintln!("skipped: {path} is not there");
    }
    read
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn export(rows: &str) -> String {
    format!(
        r#"<?xml version="1.0"?><trace-query-result><node><schema name="time-profile"><col><name>Weight</name></col></schema>{rows}</node></trace-query-result>"#
    )
}

// Instruments.

#[test]
fn every_layout_of_an_export() {
    let first = r#"<weight id="1" fmt="1 ms">1000000</weight>"#;
    let inner = r#"<frame id="3" name="inner" addr="0x1"><binary id="9" name="b"/></frame><frame id="4" name="a&amp;b&lt;T&gt;"/>"#;
    let layouts = [
        (format!(r#"<backtrace id="2">{inner}</backtrace>"#), r#"<backtrace ref="2"/>"#),
        (format!(r#"<tagged-backtrace id="2">{inner}</tagged-backtrace>"#), r#"<tagged-backtrace ref="2"/>"#),
        (
            format!(r#"<tagged-backtrace id="2" fmt="x"><backtrace id="5">{inner}</backtrace></tagged-backtrace>"#),
            r#"<tagged-backtrace ref="2"/>"#,
        ),
        (
            format!(r#"<tagged-backtrace id="2"><backtrace id="5">{inner}</backtrace></tagged-backtrace>"#),
            r#"<tagged-backtrace id="6"><backtrace ref="5"/></tagged-backtrace>"#,
        ),
        (
            r#"<backtrace id="2"><frame id="3" name="inner"><frame id="4" name="a&#38;b&lt;T&gt;"/></frame></backtrace>"#.to_owned(),
            r#"<backtrace ref="2"/>"#,
        ),
        (format!(r#"<backtrace id="2"><process id="7"/><list>{inner}</list></backtrace>"#), r#"<backtrace ref="2"/>"#),
    ];
    for (stack, again) in layouts {
        let rows = format!(
            r#"<row>{first}{stack}</row>
               <row><weight ref="1"/>{again}</row>
               <row><weight id="8">5</weight><backtrace id="10"><frame ref="3"/><frame ref="3"/></backtrace></row>"#
        );
        let evidence = good(export(&rows));
        expect(&evidence, &[("a&b<T>", 2_000_000, 1_000_000), ("inner", 2_000_005, 1_000_005)]);
        let total = trace(&evidence).total();
        assert_eq!((total.sampled, total.credited), (2_000_005, 1_000_005));
        let outermost = trace(&evidence).stacks().next().unwrap().1[0];
        assert_eq!(evidence.frames().text(outermost), "a&b<T>");
        assert_eq!(good(gzip(export(&rows).as_bytes())).frames().len(), 2);
    }
}

#[test]
fn other_tables_define_but_do_not_count() {
    let xml = r#"<?xml version="1.0"?><trace-query-result>
        <node><schema name="os-signpost"/><row><weight id="1">7</weight><backtrace id="2"><frame id="3" name="f"/></backtrace></row></node>
        <node><schema name="time-profile"/><row><weight ref="1"/><backtrace ref="2"/></row><row><weight ref="1"/><sentinel/></row></node>
        </trace-query-result>"#;
    let evidence = good(xml);
    expect(&evidence, &[("f", 7, 0)]);
    assert_eq!(trace(&evidence).total().sampled, 14);
}

#[test]
fn an_export_without_frames_is_an_error() {
    let other = r#"<?xml version="1.0"?><trace-query-result><node><schema name="os-signpost"/></node></trace-query-result>"#;
    assert!(error(other).contains("`os-signpost`"), "{}", error(other));
    assert!(error(export("")).contains("no frames"));
    let nameless = r#"<row><weight id="1">1</weight><backtrace id="2"><frame id="3" addr="0x1"/></backtrace></row>"#;
    assert!(error(export(nameless)).contains("no frames"));
}

#[test]
fn the_real_export_and_its_folded_stacks() {
    let (Some(xml), Some(folded)) =
        (shared("traces/xctrace-time-profile.xml"), shared("traces/xctrace-time-profile.folded"))
    else {
        return;
    };
    let (xml, folded) = (good(xml), good(folded));
    assert_eq!(times(&xml)["start"], (9_581_000_000, 16_000_000));
    assert_eq!(trace(&folded).unit(), Unit::Samples);
    let by_function = |evidence: &Evidence| -> BTreeMap<Function, u64> {
        let mut groups: BTreeMap<Function, Vec<FrameId>> = BTreeMap::new();
        for (id, text) in evidence.frames().iter() {
            groups.entry(Function::of(text)).or_default().push(id);
        }
        let frames: Vec<&[FrameId]> = groups.values().map(Vec::as_slice).collect();
        let each = trace(evidence).together(&frames, evidence.frames()).unwrap().each;
        groups.keys().cloned().zip(each.into_iter().map(|time| time.sampled)).collect()
    };
    let in_ms: BTreeMap<_, _> =
        by_function(&xml).into_iter().map(|(function, ns)| (function, ns / 1_000_000)).collect();
    assert_eq!(in_ms, by_function(&folded));
    assert!(in_ms.len() > 10);
}

// The other formats.

#[test]
fn folded_stacks() {
    let evidence = good("# made by hand\nmain;a b;-[C d:] 3\r\n\nmain;x;main 4\nmain;x;main 4.5\n");
    expect(&evidence, &[("-[C d:]", 3, 3), ("a b", 3, 3), ("main", 11, 11), ("x", 8, 8)]);
    assert_eq!(evidence.sources()[0].notes.fractions, 1);
    assert!(error("a;b 1\nc;d\n").contains("line 2"));
    assert!(error("a 99999999999999999999\n").contains("2^64"));
    assert!(error("a 18446744073709551615\na 1\n").contains("units of time"));
}

#[test]
fn lists_of_names() {
    let evidence = good("\u{feff}<a::T>::f\n\n_RNvX\na::f::h0123456789abcdef\na\u{1}b\n");
    assert_eq!(names(&evidence), ["<a::T>::f", "_RNvX", "a::f::h0123456789abcdef"]);
    assert_eq!(evidence.sources()[0].notes.unfit_names, 1);
    assert!(matches!(evidence.sources()[0].content, Content::Symbols(_)));
    assert!(error("").contains("no frames"));
    assert!(error("\n# nothing\n").contains("no frames"));
    assert!(error([0, 1, 2, 3]).contains("not a format"));
    // What it seems to be can be overridden.
    let list = Evidence::read("it", &b"a 1\nb 2\n"[..], Some(Format::Names)).unwrap();
    assert_eq!(names(&list), ["a 1", "b 2"]);
}

fn firefox(tables_are_shared: bool, weights: &str, meta: &str) -> String {
    let tables = r#""stackTable":{"length":3,"prefix":[null,0,0],"frame":[0,1,2]},
        "frameTable":{"length":3,"func":[0,1,2],"address":[1,2,3]},
        "funcTable":{"length":3,"name":[2,0,1],"isJS":[false,false,false]},
        "stringArray":["inner","other","outer"]"#;
    let samples =
        format!(r#""samples":{{"length":4,"stack":[1,null,2,1],"time":[1,2,3,4],{weights}}}"#);
    if tables_are_shared {
        format!(
            r#"{{"meta":{meta},"threads":[{{{samples}}},{{{samples}}}],"shared":{{{tables}}}}}"#
        )
    } else {
        format!(r#"{{"threads":[{{{samples},{tables}}},{{{tables},{samples}}}],"meta":{meta}}}"#)
    }
}

#[test]
fn firefox_profiles() {
    let meta = r#"{"interval":1,"version":24}"#;
    for is_shared in [false, true] {
        let plain = firefox(is_shared, r#""weightType":"samples","weight":null"#, meta);
        for bytes in [plain.as_bytes().to_vec(), gzip(plain.as_bytes())] {
            let evidence = good(bytes);
            let ms = 1_000_000;
            expect(
                &evidence,
                &[("inner", 4 * ms, 4 * ms), ("other", 2 * ms, 2 * ms), ("outer", 6 * ms, 6 * ms)],
            );
            assert_eq!(trace(&evidence).total().sampled, 8 * ms);
            let stack = trace(&evidence).stacks().next().unwrap().1;
            assert_eq!(evidence.frames().text(stack[0]), "outer");
        }
        let weighted =
            firefox(is_shared, r#""weightType":"tracing-ms","weight":[0.5,1,2,0.25]"#, "{}");
        expect(
            &good(weighted),
            &[
                ("inner", 1_500_000, 1_500_000),
                ("other", 4_000_000, 4_000_000),
                ("outer", 5_500_000, 5_500_000),
            ],
        );
        let counted = good(firefox(is_shared, r#""weight":[1,1,1,1]"#, "{}"));
        assert_eq!(trace(&counted).unit(), Unit::Samples);
    }
    assert!(error(firefox(true, r#""weight":[-1,1,1,1]"#, "{}")).contains("weight of -1"));
    let cycle = firefox(true, r#""weight":null"#, "{}").replace("[null,0,0]", "[1,0,0]");
    assert!(error(cycle).contains("inside of"));
    let lost = firefox(true, r#""weight":null"#, "{}").replace("\"func\":[0,1,2]", "\"func\":[0]");
    assert!(error(lost).contains("no function"));
    assert!(error(r#"{"threads":[{"samples":{"schema":{},"data":[]}}]}"#).contains("raw profile"));
    assert!(error(r#"{"some":"json"}"#).contains("no frames"));
    assert!(error(r#"{"threads":[{"samples""#).contains("broken Firefox"));
}

/// An ELF object with these function symbols.
fn elf(symbols: &[&str]) -> Vec<u8> {
    let mut strings = vec![0];
    let mut table = vec![0_u8; 24];
    for symbol in symbols {
        table.extend((strings.len() as u32).to_le_bytes());
        // A global function, in section 1.
        table.extend([0x12, 0, 1, 0]);
        table.extend([0; 16]);
        strings.extend(symbol.as_bytes());
        strings.push(0);
    }
    let (table_at, strings_at) = (64, 64 + table.len());
    let sections_at = strings_at + strings.len();
    let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    out.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    out.extend([0; 16]);
    out.extend((sections_at as u64).to_le_bytes());
    out.extend([0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 64, 0, 4, 0, 3, 0]);
    out.extend(&table);
    out.extend(&strings);
    let mut section = |kind: u32, at: usize, size: usize, link: u32, entry: u64| {
        out.extend(0_u32.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend([0; 16]);
        out.extend((at as u64).to_le_bytes());
        out.extend((size as u64).to_le_bytes());
        out.extend(link.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend(1_u64.to_le_bytes());
        out.extend(entry.to_le_bytes());
    };
    section(0, 0, 0, 0, 0);
    section(1, 0, 0, 0, 0);
    section(2, table_at, table.len(), 3, 24);
    section(3, strings_at, strings.len(), 0, 0);
    out
}

/// A Mach-O object with these function symbols, and one that is only referred to.
fn mach_o(symbols: &[&str], is_64: bool) -> Vec<u8> {
    let word = |out: &mut Vec<u8>, n: usize| {
        if is_64 {
            out.extend((n as u64).to_le_bytes());
        } else {
            out.extend((n as u32).to_le_bytes());
        }
    };
    let put = |out: &mut Vec<u8>, n: u32| out.extend(n.to_le_bytes());
    let (header, segment) = if is_64 { (32, 72 + 80) } else { (28, 56 + 68) };
    let (mut strings, mut table) = (vec![0_u8], Vec::new());
    for (at, symbol) in symbols.iter().chain(&["_imported"]).enumerate() {
        put(&mut table, strings.len() as u32);
        let is_defined = at < symbols.len();
        table.extend([if is_defined { 0x0f } else { 0x01 }, u8::from(is_defined), 0, 0]);
        word(&mut table, 0);
        strings.extend(symbol.as_bytes());
        strings.push(0);
    }
    let mut out = Vec::new();
    put(&mut out, if is_64 { 0xfeed_facf } else { 0xfeed_face });
    let cpu = if is_64 { 0x0100_000c } else { 12 };
    for n in [cpu, 0, 1, 2, segment + 24, 0] {
        put(&mut out, n);
    }
    if is_64 {
        put(&mut out, 0);
    }
    put(&mut out, if is_64 { 0x19 } else { 1 });
    put(&mut out, segment);
    out.extend([0; 16]);
    (0..4).for_each(|_| word(&mut out, 0));
    for n in [7, 7, 1, 0] {
        put(&mut out, n);
    }
    out.extend(b"__text\0\0\0\0\0\0\0\0\0\0__TEXT\0\0\0\0\0\0\0\0\0\0");
    (0..2).for_each(|_| word(&mut out, 0));
    for n in [0, 0, 0, 0, 0x8000_0000, 0, 0] {
        put(&mut out, n);
    }
    if is_64 {
        put(&mut out, 0);
    }
    let table_at = header + segment + 24;
    let strings_at = table_at + table.len() as u32;
    for n in [2, 24, table_at, symbols.len() as u32 + 1, strings_at, strings.len() as u32] {
        put(&mut out, n);
    }
    assert_eq!(out.len(), table_at as usize);
    out.extend(table);
    out.extend(strings);
    out
}

fn archive(members: &[&[u8]]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for member in members {
        out.extend(
            format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "m.o/", 0, 0, 0, 644, member.len())
                .bytes(),
        );
        out.extend(*member);
        if member.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

fn fat(slice: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for n in [0xcafe_babe, 1, 0x0100_000c, 0, 28, slice.len() as u32, 0] {
        out.extend(u32::to_be_bytes(n));
    }
    out.extend(slice);
    out
}

#[test]
fn symbol_tables() {
    let legacy = "_ZN3one29_$LT$impl$u20$one..Tr$GT$two5alloc17h0123456789abcdefE";
    let legacy = legacy.replace("29_$LT$impl$u20$one..Tr$GT$two", "24_$LT$impl$u20$one..T$GT$");
    let v0 = "_RNvMNtCsdIwGCHF0bNq_3one6deviceNtB2_3Two5alloc";
    let symbols = [legacy.as_str(), v0, "_ZN3one3putEi", "main"];
    let expected =
        [v0, "main", "one::_$LT$impl$u20$one..T$GT$::alloc::h0123456789abcdef", "one::put(int)"];
    let underscored: Vec<String> = symbols.iter().map(|symbol| format!("_{symbol}")).collect();
    let underscored: Vec<&str> = underscored.iter().map(String::as_str).collect();
    let elf = elf(&symbols);
    let (mach_o, mach_o_32) = (mach_o(&underscored, true), mach_o(&underscored, false));
    for (what, bytes) in [
        ("elf", elf.clone()),
        ("mach-o", mach_o.clone()),
        ("mach-o 32", mach_o_32),
        ("fat", fat(&mach_o)),
        ("archive", archive(&[b"metadata", &elf, &mach_o])),
        ("fat archive", fat(&archive(&[&mach_o]))),
        ("gzip", gzip(&elf)),
    ] {
        let evidence = good(&bytes);
        assert_eq!(names(&evidence), expected, "{what}");
        assert_eq!(evidence.sources()[0].format, Format::Binary);
        // Cut anywhere, it ends with an error or with fewer symbols.
        for cut in 0..bytes.len() {
            let _ = read(&bytes[..cut]);
        }
    }
    assert!(error(self::elf(&[])).contains("stripped"));
    assert!(error(archive(&[b"text"])).contains("no object"));
    assert!(error(fat(b"\xca\xfe\xba\xbe")).contains("no object"));
    let huge = "x".repeat((1 << 20) + 1);
    assert!(error(self::elf(&[&huge])).contains("bytes in a name"));
}

/// Keeps a symbol of its own, however much is optimised.
#[inline(never)]
fn a_function_to_find(number: u64) -> u64 {
    std::hint::black_box(number) + 1
}

#[test]
fn the_symbols_of_this_very_test() {
    assert_eq!(a_function_to_find(1), 2);
    let exe = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    // A release build has none.
    match read(exe) {
        Ok(evidence) => {
            assert!(names(&evidence).into_iter().any(|text| text.contains("a_function_to_find")));
        }
        Err(error) => {
            let is_stripped = error.to_string() == "no frames in this binary: it has been stripped";
            assert!(is_stripped && !cfg!(debug_assertions), "{error}");
        }
    }
}

// Snapshots.

fn write(evidence: &Evidence, kept: &[FrameId]) -> String {
    let mut out = Vec::new();
    snapshot::write(evidence, kept, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_snapshot_is_the_evidence_it_was_made_of() {
    let rows = r#"<row><weight id="1">5</weight><backtrace id="2"><frame id="3" name="inner"/><frame id="4" name="rec"/><frame id="5" name="outer"/><frame ref="4"/></backtrace></row><row><weight id="6">2</weight><backtrace ref="2"/></row>"#;
    let mut evidence = good(export(rows));
    evidence.merge(good("outer;z 3\nouter;inner;\"q\" 4\n")).unwrap();
    evidence.merge(good("inner\nsymbol\n")).unwrap();
    let frames = evidence.frames();
    let id = |name: &str| frames.find(name).unwrap();
    let kept = [id("outer"), id("inner"), id("rec")];
    let text = write(&evidence, &kept);
    let again = good(&text);
    assert_eq!(again.sources().len(), 3);
    assert_eq!(write(&again, &[]).lines().filter(|line| line.starts_with("[[")).count(), 0);
    let kept_again: Vec<FrameId> =
        ["rec", "inner", "outer"].iter().map(|name| again.frames().find(name).unwrap()).collect();
    assert_eq!(write(&again, &kept_again), text, "the order does not matter");
    for (before, after) in evidence.sources().iter().zip(again.sources()) {
        assert_eq!((before.format, &before.name), (after.format, &after.name));
        for (frame, text) in frames.iter() {
            let other = again.frames().find(text).unwrap();
            assert_eq!(before.has(frame), after.has(other), "{text}");
            if let (Some(before), Some(after)) = (before.trace(), after.trace()) {
                assert_eq!(before.inclusive(frame), after.inclusive(other), "{text}");
                assert_eq!((before.unit(), before.total()), (after.unit(), after.total()));
                assert!(before.has_all_stacks() && !after.has_all_stacks());
            }
        }
        if let (Some(before), Some(after)) = (before.trace(), after.trace()) {
            let groups = |evidence: &Evidence| -> Vec<FrameId> {
                ["inner", "outer", "rec"]
                    .iter()
                    .map(|n| evidence.frames().find(n).unwrap())
                    .collect()
            };
            let (b, a) = (groups(&evidence), groups(&again));
            let b = before.together(&b.chunks(1).collect::<Vec<_>>(), evidence.frames()).unwrap();
            let a = after.together(&a.chunks(1).collect::<Vec<_>>(), again.frames()).unwrap();
            assert_eq!((b.each, b.sum, b.union), (a.each, a.sum, a.union));
            let lies = |pairs: &[Pair], evidence: &Evidence| -> Vec<_> {
                let text = |frame| evidence.frames().text(frame).to_owned();
                let names = |pair: &Pair| (text(pair.frames.0), text(pair.frames.1));
                pairs
                    .iter()
                    .map(|it| (names(it), it.time, it.second_is_inner, it.reversed))
                    .collect()
            };
            assert_eq!(lies(&b.pairs, &evidence), lies(&a.pairs, &again));
            let z = again.frames().find("z").unwrap();
            let is_known = after.inclusive(z).is_none();
            assert_eq!(
                after.together(&[&[z]], again.frames()).is_some(),
                is_known,
                "z is not kept"
            );
        }
    }
}

#[test]
fn a_snapshot_that_is_none() {
    let text = write(&good("a;b 1\n"), &[]);
    for (from, to, what) in [
        ("\": 1", "\": 2", "version 2"),
        ("\"kept\"", "\"held\"", "in the place of `kept`"),
        (",1]", "]", "a name and 1 times"),
        (",1]", ",1,1]", "a name and 1 times"),
        (",1]", ",[1,2]]", "more time credited"),
        ("[\"b\"", "[\"a\"", "there twice"),
        ("[\"b\"", "[\"\"", "empty"),
        ("\"folded\"", "\"fold\"", "unknown format"),
        ("\"stacks\": [", "\"stacks\": [[[\"a\"],1]", "not kept"),
        ("]}", "]", "EOF"),
        ("\"kept\": [", "\"kept\": [\"c\"", "not among the frames"),
        (",1]", ",null]", "in no source"),
        ("]}", "],\"x\":1}", "after the stacks"),
        (",\"total\":1", "", "not both"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let error = error(&changed);
        assert!(error.contains(what), "{from} → {to}: {error}");
    }
}

// Stacks in common.

#[test]
fn groups_of_frames_in_one_stack() {
    let evidence = good(
        "main;run;commit;barrier 7\nmain;run;commit 2\nmain;run 3\nmain;barrier;commit;barrier 1\n",
    );
    let id = |name: &str| evidence.frames().find(name).unwrap();
    let (run, commit, barrier) = (id("run"), id("commit"), id("barrier"));
    let found = trace(&evidence)
        .together(&[&[commit], &[barrier], &[commit, run]], evidence.frames())
        .unwrap();
    let sampled: Vec<u64> = found.each.iter().map(|time| time.sampled).collect();
    assert_eq!((sampled, found.sum.sampled, found.union.sampled), (vec![10, 8, 13], 31, 13));
    let pairs: Vec<_> = found
        .pairs
        .iter()
        .map(|pair| (pair.groups, pair.time.sampled, pair.frames, pair.second_is_inner))
        .collect();
    assert_eq!(
        pairs,
        [
            ((0, 1), 8, (commit, barrier), true),
            ((0, 2), 10, (commit, run), false),
            ((1, 2), 8, (barrier, run), false),
        ]
    );
    let under = trace(&evidence).only_under(&[run]).unwrap();
    assert_eq!(under.inclusive(barrier).unwrap().sampled, 7);
    assert_eq!(under.total().sampled, 12);
    let largest = evidence.largest(trace(&evidence), &[barrier, commit]).unwrap();
    assert_eq!(largest.credited.0, commit);
    assert_eq!(evidence.largest(trace(&evidence), &[]), None);
}

#[test]
fn which_group_is_inside_of_which_is_the_same_for_any_order_of_the_stacks() {
    let lines = [
        "m;a;x;b 2",
        "m;b;y;a 2",
        "m;a;b 1",
        "m;b;a 1",
        "m;a;c 3",
        "m;c;a 4",
        "m;a;d;b 2",
        "m;b;z;a 2",
        "m;c 9",
        "m;e;f 0",
        "m;f;e 0",
    ];
    let mut rng = Rng::new(support::seed());
    let mut known = None;
    for _ in 0..support::cases(50) {
        let mut lines = lines.to_vec();
        shuffle(&mut rng, &mut lines);
        let evidence = good(lines.join("\n"));
        let frames = evidence.frames();
        let group = |name: &str| [frames.find(name).unwrap()];
        let groups = ["a", "b", "c", "e", "f"].map(group);
        let groups: Vec<&[FrameId]> = groups.iter().map(<[FrameId; 1]>::as_slice).collect();
        let trace = trace(&evidence);
        let pairs = trace.together(&groups, frames).unwrap().pairs;
        let found: Vec<_> = pairs
            .iter()
            .map(|pair| {
                let stack: Vec<_> =
                    trace.stack(pair.stack).iter().map(|it| frames.text(*it)).collect();
                let times = (pair.time.sampled, pair.reversed.sampled);
                (pair.groups, times, pair.second_is_inner, stack.join(";"))
            })
            .collect();
        // Of a tie the second is the inner one, and the stack shown is one of that kind.
        assert_eq!((found[0].0, found[0].1, found[0].2), ((0, 1), (10, 5), true));
        assert!(["m;a;x;b", "m;a;d;b"].contains(&found[0].3.as_str()), "{found:?}");
        assert_eq!(found[1], ((0, 2), (7, 3), false, "m;c;a".to_owned()));
        assert_eq!(found[2], ((3, 4), (0, 0), true, "m;e;f".to_owned()));
        assert_eq!(*known.get_or_insert_with(|| found.clone()), found);
    }
}

// Claims, and what is near.

fn asts(patterns: &[String]) -> Vec<Ast> {
    patterns
        .iter()
        .map(|pattern| parse(pattern, Versions::ALL).unwrap_or_else(|f| panic!("{pattern}: {f:?}")))
        .collect()
}

fn claimed(evidence: &Evidence, patterns: &[String]) -> Vec<Vec<String>> {
    let asts = asts(patterns);
    let found = claims(evidence.frames(), &asts.iter().collect::<Vec<_>>());
    assert!(found.unfinished.is_empty());
    let named = |ids: &Vec<FrameId>| {
        let mut names: Vec<_> =
            ids.iter().map(|&id| evidence.frames().text(id).to_owned()).collect();
        names.sort_unstable();
        names
    };
    found.frames.iter().map(named).collect()
}

#[test]
fn work_without_end_is_said() {
    let list: String = (0..20).fold(String::new(), |mut list, n| {
        let _ = writeln!(list, "{}{n}", "a".repeat(400));
        list
    });
    let evidence = good(list);
    let asts = asts(&["(a|aa)+b|(a|aa)+c".to_owned(), "a9".to_owned(), String::new()]);
    let found = claims(evidence.frames(), &asts.iter().collect::<Vec<_>>());
    assert_eq!(found.unfinished, [0]);
    assert_eq!((found.frames[1].len(), found.frames[2].len()), (1, 20));
}

#[test]
fn the_real_symbols() {
    let mut evidence = Evidence::default();
    for list in ["hf2q", "mlx-native", "anyhow"] {
        let Some(bytes) = shared(&format!("frames/{list}.legacy-xctrace.txt")) else { return };
        evidence.merge(good(bytes)).unwrap();
    }
    let frames = evidence.frames();
    let near = Near::new(frames);
    let all = frames.iter().map(|(id, _)| id);
    let covered = Covered::new(frames, all);
    for (pattern, nearest) in [
        ("anyhow::Context::with_context", "with_context::h"),
        ("core::fmt::format", "format"),
        ("registry::get_pipeline", "get_pipeline"),
    ] {
        assert_eq!(claimed(&evidence, &[pattern.to_owned()]), [Vec::<String>::new()]);
        assert!(covered.covering(pattern).is_some(), "{pattern}");
        let found = near.nearest(pattern, 3).frames;
        let texts: Vec<_> =
            found.iter().map(|near| (near.kinship, frames.text(near.frame))).collect();
        eprintln!("{pattern}: {texts:#?}");
        assert!(texts[0].1.contains(nearest), "{texts:?}");
    }
    for pattern in ["IOGPUResourceCreate", "mach_msg2_trap", "-[AGXG17XFamilyComputeContext init"] {
        assert!(covered.covering(pattern).is_none(), "{pattern}");
    }
    let functions = |pattern: &str| {
        let claimed = claimed(&evidence, &[pattern.to_owned()]).remove(0);
        let mut functions: Vec<_> = claimed.iter().map(|frame| Function::of(frame)).collect();
        functions.sort();
        functions.dedup();
        functions.len()
    };
    assert_eq!(functions("hadamard_quantize_kv::dispatch_hadamard_quantize_kv"), 3);
    assert_eq!(functions(r"GraphSession|exec\.begin|s\.finish"), 30);
    let Some(v0) = shared("frames/mlx-native.v0-mangled.txt") else { return };
    let v0 = good(v0);
    let near = Near::new(v0.frames());
    let found = near.nearest("MlxDevice::alloc_buffer::", 1).frames;
    assert_eq!(found[0].kinship, Kinship::OtherMangling);
}

#[test]
fn near_frames_are_the_same_in_any_order() {
    // More than are looked at, with copies.
    let mut names: Vec<String> = (0..700)
        .flat_map(|n| [0, 1].map(|copy| format!("m{}::of::get::h{copy:08x}{n:08x}", n / 3)))
        .collect();
    names.push("m7::of::got::h0123456789abcdef".to_owned());
    let mut rng = Rng::new(support::seed());
    let mut known = None;
    for _ in 0..support::cases(6) {
        shuffle(&mut rng, &mut names);
        let evidence = good(names.join("\n"));
        let frames = evidence.frames();
        let near = Near::new(frames);
        let found = ["m7::get", "m100::of::get", "of::gets"].map(|text| {
            let nearest = near.nearest(text, 9);
            let texts = |list: &[FrameId]| -> Vec<String> {
                list.iter().map(|it| frames.text(*it).to_owned()).collect()
            };
            let ids: Vec<FrameId> = nearest.frames.iter().map(|it| it.frame).collect();
            let same = ids.first().map(|first| texts(&near.same(*first)));
            (texts(&ids), same, nearest.is_cut)
        });
        assert!(found[0].2, "{found:?}");
        assert_eq!(*known.get_or_insert_with(|| found.clone()), found);
    }
}

#[test]
fn too_many_groups_in_one_stack_are_said_and_not_looked_at() {
    // Looks at pairs of them would be more than 2^26.
    let names: Vec<String> = (0..12_000).map(|number| format!("f{number}")).collect();
    let evidence = good(format!("{} 3\nf0;f1 2\n", names.join(";")));
    let frames: Vec<FrameId> =
        names.iter().map(|name| evidence.frames().find(name).unwrap()).collect();
    let groups: Vec<&[FrameId]> = frames.iter().map(std::slice::from_ref).collect();
    let together = trace(&evidence).together(&groups, evidence.frames()).unwrap();
    assert!(together.is_cut);
    assert_eq!((together.sum.sampled, together.union.sampled), (36_004, 5));
    // Of the stack that is too long the first groups, and no more pairs than are listed.
    assert_eq!(together.pairs.len(), Trace::MAX_PAIRS);
    let first = together.pairs.first().unwrap();
    assert_eq!((first.groups, first.time.sampled), ((0, 1), 5));
    let last = together.pairs.last().unwrap();
    assert!(last.groups.0 < 9 && last.time.sampled == 3, "{last:?}");
    assert!(!trace(&evidence).together(&groups[..100], evidence.frames()).unwrap().is_cut);
}

// An independent aggregation.

fn oracle(question: &serde_json::Value) -> Option<serde_json::Value> {
    let (python, _) = support::python()?;
    let script = include_str!("support/evidence_oracle.py");
    support::ask(&python, script, vec![question.clone()]).pop()
}

fn frame(rng: &mut Rng) -> String {
    let path = rng.pick(&["one::", "two::kv::", "", "one::Device::", "_$LT$a..T$GT$::"]).to_owned();
    let name = rng.pick(&["alloc", "alloc_buffer", "dispatch", "dispatch_kv", "é", "x<T>", "a&b"]);
    let hash = if rng.one_in(2) { format!("::h{:016x}", rng.below(3)) } else { String::new() };
    format!("{path}{name}{hash}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// An export in which everything that can be is pointed to by `ref` now and then.
fn random_export(rng: &mut Rng) -> String {
    let (mut rows, mut next) = (String::new(), 0);
    let (mut frames, mut stacks, mut weights): (Vec<u64>, Vec<(u64, &str)>, Vec<u64>) =
        (vec![], vec![], vec![]);
    let mut id = || {
        // Not all that has an id is of interest, and tables may number as they like.
        next += if next % 5 == 0 { 1000 } else { 1 };
        next
    };
    for _ in 0..=rng.below(40) {
        rows.push_str("<row>");
        if !weights.is_empty() && rng.one_in(2) {
            let _ = write!(rows, r#"<weight ref="{}"/>"#, weights[rng.below(weights.len())]);
        } else {
            weights.push(id());
            let weight = rng.next() >> 20;
            let _ = write!(rows, r#"<weight id="{}" fmt="x">{weight}</weight>"#, next_of(&weights));
        }
        if !stacks.is_empty() && rng.one_in(2) {
            let (id, tag) = stacks[rng.below(stacks.len())];
            let _ = writeln!(rows, r#"<{tag} ref="{id}"/></row>"#);
            continue;
        }
        let tag = *rng.pick(&[&"backtrace", &"tagged-backtrace"]);
        let own = id();
        let _ = write!(rows, r#"<{tag} id="{own}">"#);
        let inner = (tag == "tagged-backtrace" && rng.one_in(2)).then(&mut id);
        if let Some(inner) = inner {
            let _ = write!(rows, r#"<backtrace id="{inner}">"#);
        }
        for _ in 0..=rng.below(6) {
            if !frames.is_empty() && rng.one_in(2) {
                let _ = write!(rows, r#"<frame ref="{}"/>"#, frames[rng.below(frames.len())]);
            } else {
                frames.push(id());
                let name = escaped(&frame(rng));
                let _ =
                    write!(rows, r#"<frame id="{}" name="{name}" addr="0x1"/>"#, next_of(&frames));
            }
        }
        if let Some(inner) = inner {
            rows.push_str("</backtrace>");
            stacks.push((inner, "backtrace"));
        }
        let _ = writeln!(rows, "</{tag}></row>");
        stacks.push((own, tag));
    }
    export(&rows)
}

fn next_of(ids: &[u64]) -> u64 {
    ids.last().copied().unwrap_or_default()
}

#[test]
fn times_and_claims_are_those_of_the_independent_aggregation() {
    let patterns: Vec<String> = [
        "alloc",
        "alloc_buffer::",
        "^one",
        r"kv|Device",
        r"dispatch(?!_kv)",
        r"\w+::h",
        "é",
        "",
        "x<T>$",
        r"(?i)ALLOC",
        r"::h0+1$",
        r"(?<=one::)alloc",
        "nowhere",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut rng = Rng::new(support::seed());
    for _ in 0..support::cases(40) {
        let is_xml = rng.one_in(2);
        let text = if is_xml {
            random_export(&mut rng)
        } else {
            let mut text = String::new();
            for _ in 0..=rng.below(30) {
                let stack: Vec<String> = (0..=rng.below(6)).map(|_| frame(&mut rng)).collect();
                let _ = writeln!(text, "{} {}", stack.join(";"), rng.next() >> 20);
            }
            text
        };
        let key = if is_xml { "xml" } else { "folded" };
        let Some(answer) = oracle(&serde_json::json!({key: text, "patterns": patterns})) else {
            return;
        };
        let evidence = good(&text);
        let expected: BTreeMap<String, (u64, u64)> =
            serde_json::from_value(answer["frames"].clone()).unwrap();
        assert_eq!(times(&evidence), expected, "{text}");
        for (pattern, (found, answer)) in patterns
            .iter()
            .zip(claimed(&evidence, &patterns).iter().zip(answer["patterns"].as_array().unwrap()))
        {
            let expected: Vec<String> = serde_json::from_value(answer["claimed"].clone()).unwrap();
            assert_eq!(*found, expected, "{pattern}");
            let ids: Vec<FrameId> =
                found.iter().map(|name| evidence.frames().find(name).unwrap()).collect();
            let reported =
                evidence.largest(trace(&evidence), &ids).map_or(0, |most| most.credited.1.credited);
            assert_eq!(reported, answer["reported"].as_u64().unwrap(), "{pattern}");
        }
        let kept: Vec<FrameId> = evidence.frames().iter().map(|(id, _)| id).collect();
        let again = good(write(&evidence, &kept));
        assert_eq!(times(&again), expected);
    }
}

// Cut, hostile and endless.

/// The same bytes for ever, after a beginning.
struct Endless {
    head: Vec<u8>,
    again: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        for byte in buf.iter_mut() {
            let past = self.at.checked_sub(self.head.len());
            *byte =
                past.map_or_else(|| self.head[self.at], |past| self.again[past % self.again.len()]);
            self.at += 1;
        }
        Ok(buf.len())
    }
}

fn endless(head: &str, again: &str) -> String {
    let input = Endless { head: head.into(), again: again.into(), at: 0 };
    Evidence::read("it", input, None).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn what_is_cut_is_an_error() {
    let whole = export(
        r#"<row><weight id="1">5</weight><backtrace id="2"><frame id="3" name="f"/></backtrace></row>"#,
    );
    for cut in 30..whole.len() - 1 {
        assert!(read(&whole[..cut]).is_err(), "{}", &whole[..cut]);
    }
    let profile = firefox(true, r#""weight":null"#, "{}");
    for cut in 2..profile.len() - 1 {
        assert!(read(&profile[..cut]).is_err(), "{}", &profile[..cut]);
    }
    let packed = gzip(whole.as_bytes());
    for cut in 0..packed.len() - 1 {
        assert!(read(&packed[..cut]).is_err() || cut < 2, "{cut}");
    }
}

#[test]
fn hostile_exports() {
    let row = |stack: &str| export(&format!(r#"<row><weight id="1">1</weight>{stack}</row>"#));
    for (xml, what) in [
        (row(r#"<backtrace id="2"><backtrace ref="2"/></backtrace>"#), "ref=\"2\" is no backtrace"),
        (row(r#"<backtrace id="2" ref="2"/>"#), "ref=\"2\" is no backtrace"),
        (row(r#"<backtrace id="2"><frame id="3" ref="3"/></backtrace>"#), "ref=\"3\" is no frame"),
        (row(r#"<backtrace id="2"><frame ref="1"/></backtrace>"#), "is no frame"),
        (row(r#"<backtrace ref="1"/>"#), "is no backtrace"),
        (row(r#"<backtrace id="x"/>"#), "no number"),
        (row(r#"<backtrace id="2"><frame id="3" name="&bomb;"/></backtrace>"#), "bomb"),
        (export("<row><weight ref=\"1\"/></row>"), "is no weight"),
        (export("<row><weight id=\"1\">-5</weight></row>"), "no number of nanoseconds"),
        (export("<row><weight id=\"1\">&lol;</weight></row>"), "entity"),
        (export("<row></node>"), "expected"),
        (
            "<!DOCTYPE a [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><a>&b;</a>".to_owned(),
            "entities of its own",
        ),
        ("<?xml version=\"1.0\"?>".to_owned(), "no element"),
        (export(&"<a>".repeat(10_000_000)), "inside each other"),
        (row(&"<backtrace>".repeat(1000)), "inside each other"),
        (
            row(&format!(
                r#"<backtrace id="2"><frame id="3" name="{}"/></backtrace>"#,
                "n".repeat(10_000_000)
            )),
            "bytes in",
        ),
        (
            row(&format!(
                r#"<backtrace id="2"><frame id="3" name="{}"/></backtrace>"#,
                "n".repeat(2_000_000)
            )),
            "bytes in a name",
        ),
        (
            row(&format!(
                r#"<backtrace id="2"><frame id="3" name="f"/>{}</backtrace>"#,
                r#"<frame ref="3"/>"#.repeat(70_000)
            )),
            "frames in one stack",
        ),
    ] {
        let error = error(&xml);
        assert!(error.contains(what), "{what}: {error}");
    }
    let begin = r#"<?xml version="1.0"?><trace-query-result><node><row>"#;
    assert!(endless(begin, "<a>").contains("inside each other"));
    assert!(endless(begin, " ").contains("one tag or text"));
    assert!(endless(&format!("{begin}<!--"), "x").contains("one tag or text"));
    assert!(endless(&format!("{begin}<frame name=\""), "x").contains("one tag or text"));
    assert!(endless("<!DOCTYPE a [", "<!ENTITY a 'b'>").contains("one tag or text"));
    let backtraces = r#"<backtrace id="1"><frame id="2" name="f"/></backtrace><backtrace id="3"><backtrace ref="1"/><backtrace ref="1"/></backtrace><backtrace id="1"><backtrace ref="3"/></backtrace>"#;
    let doubling = backtraces.replacen(
        "</backtrace><backtrace id=\"3\">",
        &format!(
            "</backtrace>{}<backtrace id=\"3\">",
            r#"<backtrace id="1"><backtrace ref="1"/><backtrace ref="1"/></backtrace>"#.repeat(60)
        ),
        1,
    );
    assert!(error(row(&doubling)).contains("frames in one stack"));
}

#[test]
fn hostile_lists_and_profiles() {
    assert!(error("n".repeat(10_000_000)).contains("bytes in a name"));
    assert!(error(format!("a;{} 1\n", "n".repeat(10_000_000))).contains("bytes in a name"));
    assert!(error(format!("{}a 1\n", "a;".repeat(70_000))).contains("frames in one stack"));
    assert!(endless("", "x").contains("bytes in a line"));
    assert!(endless("", "\0").contains("not a format"));
    assert!(error(format!("{{\"a\":{}", "[".repeat(10_000_000))).contains("broken"));
    let name = "n".repeat(10_000_000);
    let profile = firefox(true, r#""weight":null"#, "{}").replace("inner", &name);
    assert!(error(profile).contains("bytes in a name"));
}

#[test]
fn gzip_bombs() {
    let bomb = gzip(&[b"{\"a\":".as_slice(), &vec![b' '; 200 << 20]].concat());
    assert!(bomb.len() < 2 << 20);
    assert!(error(&bomb).contains("gzip"), "{}", error(&bomb));
    let twice = gzip(&gzip(b"a;b 1\n"));
    assert!(error(&twice).contains("not a format"));
}
