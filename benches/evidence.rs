//! Reading evidence, and holding many patterns against many frames.
//!
//! `cargo bench --bench evidence`: an export of 200,000 rows beside a bare event loop over the same
//! bytes, and 10,000 patterns on 1,000,000 distinct frames. Prints times; asserts none.
#![allow(clippy::print_stdout, reason = "the measures are for reading")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use quick_xml::Reader;
use quick_xml::events::Event;
use reglint::evidence::{Covered, Evidence, Near, claims};
use reglint::pattern::{Ast, Versions, parse};

/// The best of nine of each, in turns, so that a busy machine is unfair to neither.
fn timed<A, B>(first: impl Fn() -> A, second: impl Fn() -> B) -> (Duration, Duration) {
    fn once<T>(run: impl Fn() -> T) -> Duration {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    }
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..9 {
        best.0 = best.0.min(once(&first));
        best.1 = best.1.min(once(&second));
    }
    best
}

/// An export as Instruments writes it. One row in `new` has a backtrace of its own.
fn export(rows: u64, new: u64) -> String {
    let mut xml = String::from(
        r#"<?xml version="1.0"?><trace-query-result><node xpath="x"><schema name="time-profile"/>"#,
    );
    let mut id = 10;
    let mut last = 0;
    for row in 0..rows {
        let _ = write!(
            xml,
            r#"<row><sample-time id="{id}" fmt="00:00.057.246">{row}</sample-time><thread ref="2"/><process ref="4"/><core ref="33"/><thread-state ref="8"/>"#
        );
        id += 1;
        xml.push_str(if row == 0 {
            r#"<weight id="9" fmt="1.00 ms">1000000</weight>"#
        } else {
            r#"<weight ref="9"/>"#
        });
        if row % new != 0 {
            let _ = writeln!(xml, r#"<backtrace ref="{last}"/></row>"#);
            continue;
        }
        last = id;
        let _ = write!(xml, r#"<backtrace id="{id}">"#);
        for depth in 0..20 {
            id += 1;
            let _ = write!(
                xml,
                r#"<frame id="{id}" name="some_crate::module_{}::Type::function_{depth}::h0123456789abcdef" addr="0x1{id:x}"><binary ref="5"/></frame>"#,
                row % 1000
            );
        }
        id += 1;
        let _ = writeln!(xml, "</backtrace></row>");
    }
    xml.push_str("</node></trace-query-result>");
    xml
}

fn main() {
    for (what, new) in
        [("all written out", 1), ("one in ten written out", 10), ("nearly all by ref", 1000)]
    {
        let xml = export(200_000, new);
        let bare = || {
            let mut reader = Reader::from_reader(xml.as_bytes());
            let (mut buffer, mut events) = (Vec::new(), 0_u64);
            loop {
                buffer.clear();
                match reader.read_event_into(&mut buffer) {
                    Ok(Event::Eof) | Err(_) => break events,
                    Ok(event) => {
                        black_box(event);
                        events += 1;
                    }
                }
            }
        };
        let read = || Evidence::read("it", xml.as_bytes(), None).map(|it| it.frames().len());
        let (bare, full) = timed(bare, read);
        println!(
            "export, {what}: {} MB, bare {bare:.0?}, read {full:.0?}, {:.2} of its speed",
            xml.len() / 1_000_000,
            bare.as_secs_f64() / full.as_secs_f64()
        );
    }

    let mut list = String::new();
    for n in 0..1_000_000 {
        let _ = writeln!(
            list,
            "some_crate::module_{}::Type{}::function_{n}::h{n:016x}",
            n % 1000,
            n % 50
        );
    }
    let start = Instant::now();
    let Ok(evidence) = Evidence::read("it", list.as_bytes(), None) else { return };
    println!("list of {} names: {:.2?}", evidence.frames().len(), start.elapsed());
    let patterns: Vec<Ast> = (0..10_000)
        .map(|n| match n % 5 {
            0 => format!("module_{}::Type{}::function_{}::", n % 1000, n % 50, n * 90),
            1 => format!("function_{n}(?!_cached)"),
            2 => format!("function_{}::|Type{n}::", n * 7),
            3 => format!(r"module_{}::.*function_{n}\b", n % 1000),
            _ => format!("Type{}::function_{n}", n % 50),
        })
        .filter_map(|pattern| parse(&pattern, Versions::ALL).ok())
        .collect();
    let start = Instant::now();
    let found = claims(evidence.frames(), &patterns.iter().collect::<Vec<_>>());
    println!(
        "{} patterns: {:.2?}, {} claims, {} unfinished",
        patterns.len(),
        start.elapsed(),
        found.frames.iter().map(Vec::len).sum::<usize>(),
        found.unfinished.len()
    );
    let start = Instant::now();
    let near = Near::new(evidence.frames());
    println!("index of near frames: {:.2?}", start.elapsed());
    let start = Instant::now();
    for n in 0..1000 {
        black_box(near.nearest(&format!("other::function_{n}"), 3));
    }
    println!("1,000 questions: {:.2?}", start.elapsed());
    let start = Instant::now();
    black_box(Covered::new(evidence.frames(), evidence.frames().iter().map(|(id, _)| id)));
    println!("covered: {:.2?}", start.elapsed());
}
