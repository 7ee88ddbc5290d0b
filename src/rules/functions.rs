//! What the rules with evidence share: how functions, frames and times are written, and the repair that makes
//! a pattern name one function.
//!
//! Uses `workspace`, `evidence`, `pattern`, `overlap` and `fix`.

use super::as_json;
use crate::evidence::{FrameId, Time, Trace, Unit, without_hash};
use crate::fix::{Applicability, Fix};
use crate::overlap::matcher::{Matcher, Outcome};
use crate::pattern::{self, Versions};
use crate::register::{Hypothesis, Slot};
use crate::span::{FileId, Span};
use crate::workspace::{Entry, Measured};

/// How many functions, traces and the like a finding lists.
pub(super) const LISTED: usize = 4;

/// The patterns of a hypothesis, each with how it is called in a sentence.
pub(super) fn patterns<'h>(
    hypothesis: &'h Hypothesis<'_>,
) -> impl Iterator<Item = (String, &'h Slot<'h>)> {
    let name = super::named(hypothesis);
    let canonical = format!("the canonical pattern of {name}");
    let canonical = hypothesis.canonical.iter().map(move |slot| (canonical.clone(), slot));
    let subcomponents = hypothesis.subcomponents.iter().map(move |each| {
        (format!("the subcomponent {} of {name}", super::quoted(each.label.value())), &each.slot)
    });
    canonical.chain(subcomponents)
}

/// A path between back ticks; of one that is too long to read in a sentence the end.
pub(super) fn path(text: &str) -> String {
    const LONGEST: usize = 80;
    const SHORTEST: usize = 20;
    let text = without_hash(text).0;
    let count = text.chars().count();
    match text.char_indices().nth(count.saturating_sub(LONGEST)) {
        Some((at, _)) if count > LONGEST => {
            // From the start of a name, if there is one.
            let end = &text[at..];
            let name = end.split_once("::").map(|(_, rest)| rest);
            let end = name.filter(|name| name.len() >= SHORTEST).unwrap_or(end);
            format!("`…{end}`")
        }
        _ => format!("`{text}`"),
    }
}

/// A time of a trace, in words.
pub(super) fn time(trace: &Trace, time: u64) -> String {
    match (trace.unit(), time) {
        (Unit::Samples, 1) => "1 sample".to_owned(),
        (Unit::Samples, _) => format!("{time} samples"),
        (Unit::Nanoseconds, _) => {
            let micros = time / 1_000 + u64::from(time % 1_000 >= 500);
            let (whole, rest) = (micros / 1_000, micros % 1_000);
            let rest = format!("{rest:03}");
            match rest.trim_end_matches('0') {
                "" => format!("{whole} ms"),
                rest => format!("{whole}.{rest} ms"),
            }
        }
    }
}

/// The verb behind a time.
pub(super) fn is(trace: &Trace, time: u64) -> &'static str {
    if (trace.unit(), time) == (Unit::Samples, 1) { "is" } else { "are" }
}

/// What the table shows of a time, with what was sampled where that is more.
pub(super) fn shown(trace: &Trace, shown: Time) -> String {
    let credited = time(trace, shown.credited);
    if shown.credited == shown.sampled {
        return credited;
    }
    format!("{credited} of {} sampled", time(trace, shown.sampled))
}

/// What the consumer reports for a pattern in a trace: the frame that it claims with the most credited time.
/// `None` where nothing is credited to any, and the table shows 0.0.
pub(super) fn reported(
    measured: &Measured<'_>,
    trace: &Trace,
    frames: &[FrameId],
) -> Option<(FrameId, Time)> {
    measured
        .largest(trace, frames)
        .map(|largest| largest.credited)
        .filter(|(_, time)| time.credited > 0)
}

/// How many of the frames of one function are copies that differ in nothing but their hash: the most of one path.
pub(super) fn copies(measured: &Measured<'_>, frames: &[FrameId]) -> usize {
    let paths = frames.iter().filter_map(|&frame| match without_hash(measured.text(frame)) {
        (path, true) => Some(path),
        _ => None,
    });
    let mut paths: Vec<&str> = paths.collect();
    paths.sort_unstable();
    paths.chunk_by(|a, b| a == b).map(<[&str]>::len).max().unwrap_or(0)
}

/// How many questions the rules may ask that go over all frames: a share of each register.
pub(super) struct Namings(usize);

impl Namings {
    pub(super) fn new(measured: &Measured<'_>, registers: usize) -> Self {
        Self((measured.namings() / registers.max(1)).max(1))
    }

    /// What is said where one more question would be one too many.
    pub(super) const SPENT: &'static str = "what pattern claims just one function is not looked for: \
                                            too many findings of this rule ask for one";

    /// Whether enough was asked.
    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }

    /// See [`Measured::naming`]; `None` too where enough was asked.
    pub(super) fn ask(&mut self, measured: &Measured<'_>, frame: FrameId) -> Option<String> {
        self.0 = self.0.checked_sub(1)?;
        measured.naming(frame)
    }
}

/// The fix that replaces a pattern by `new`, which claims just one function. `None` where `new` does not claim each of
/// `kept`, the function's frames.
pub(super) fn name_one(
    measured: &Measured<'_>,
    file: FileId,
    slot: &Slot<'_>,
    new: &str,
    kept: &[FrameId],
) -> Option<Fix> {
    let ast = pattern::parse(new, Versions::ALL).ok()?;
    let matcher = Matcher::new(&ast);
    let claims =
        |&frame: &FrameId| matches!(matcher.search(measured.text(frame)), Outcome::Match(..));
    if !kept.iter().all(claims) || slot.text.value().is_empty() {
        return None;
    }
    let whole = slot.locate(Span::new(0, slot.text.value().len()));
    let message = format!("name the one function: `{new}`");
    Some(Fix::single(message, file, whole, as_json(new), Applicability::Unsafe))
}

/// How many registers of a run have evidence.
pub(super) fn measured_registers(workspace: &crate::workspace::Workspace<'_>) -> usize {
    let has = |entry: &&Entry<'_>| workspace.measured(entry).is_some();
    workspace.entries.iter().filter(has).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;

    #[test]
    fn times_and_paths_in_words() {
        let xml = "<?xml version=\"1.0\"?><trace-query-result><node><schema name=\"time-profile\"/>\
            <row><weight id=\"1\">5</weight><backtrace id=\"2\"><frame id=\"3\" name=\"f\"/></backtrace>\
            </row></node></trace-query-result>";
        let evidence = Evidence::read("t", xml.as_bytes(), None).unwrap();
        let trace = evidence.sources()[0].trace().unwrap();
        let words = [0, 499, 500, 1_000_000, 9_581_000_000, 1_234_567].map(|ns| time(trace, ns));
        assert_eq!(words, ["0 ms", "0 ms", "0.001 ms", "1 ms", "9581 ms", "1.235 ms"]);
        let evidence = Evidence::read("t", &b"a;b 1"[..], None).unwrap();
        let trace = evidence.sources()[0].trace().unwrap();
        assert_eq!([time(trace, 1), time(trace, 2)], ["1 sample", "2 samples"]);
        assert_eq!(path("a::b"), "`a::b`");
        let long = format!("{}::{}", "a".repeat(90), "b".repeat(30));
        assert_eq!(path(&long), format!("`…{}`", "b".repeat(30)));
        let longer = format!("{}::b::h0123456789abcdef", "a".repeat(90));
        assert_eq!(path(&longer), format!("`…{}::b`", "a".repeat(77)));
        assert_eq!(path(&"é".repeat(81)), format!("`…{}`", "é".repeat(80)));
    }
}
