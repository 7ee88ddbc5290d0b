//! The answer of `reglint evidence`: a table for people, an object for programs.

use std::io::{self, Write};

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::escape::escape;
use super::{Format, json};
use crate::evidence::{Function, Time, Unit};
use crate::query::evidence::{InOneStack, Known, Row, State, Sum, Table, Trial, doubled_median};
use crate::source::Sources;

/// How the times of a table are written.
#[derive(Clone, Copy)]
struct Scale {
    unit: Unit,
    tokens: Option<u64>,
}

impl Scale {
    fn name(self) -> &'static str {
        match (self.unit, self.tokens) {
            (Unit::Nanoseconds, Some(_)) => "µs/token",
            (Unit::Nanoseconds, None) => "ms",
            (Unit::Samples, Some(_)) => "samples/token",
            (Unit::Samples, None) => "samples",
        }
    }

    /// Half of `doubled`, in this scale.
    #[allow(clippy::cast_precision_loss, reason = "for reading; times are below 2^53 ns")]
    fn half(self, doubled: u64) -> f64 {
        let value = doubled as f64 / 2.0;
        let value = match (self.unit, self.tokens) {
            (Unit::Nanoseconds, Some(_)) => value / 1e3,
            (Unit::Nanoseconds, None) => value / 1e6,
            (Unit::Samples, _) => value,
        };
        value / self.tokens.map_or(1.0, |tokens| tokens as f64)
    }

    fn value(self, time: u64) -> f64 {
        self.half(time.saturating_mul(2))
    }

    fn shown(value: f64) -> String {
        format!("{value:.1}")
    }
}

/// The times of a row over the traces.
#[derive(Clone, Copy, Serialize)]
struct Spread {
    median: f64,
    minimum: f64,
    maximum: f64,
}

impl Spread {
    fn of(scale: Scale, trials: &[Trial], time: fn(&Trial) -> Option<&(String, u64)>) -> Self {
        let times: Vec<u64> =
            trials.iter().map(|trial| time(trial).map_or(0, |(_, time)| *time)).collect();
        Self {
            median: scale.half(doubled_median(&times)),
            minimum: scale.value(times.iter().copied().min().unwrap_or(0)),
            maximum: scale.value(times.iter().copied().max().unwrap_or(0)),
        }
    }
}

fn credited(trial: &Trial) -> Option<&(String, u64)> {
    trial.credited.as_ref()
}

fn sampled(trial: &Trial) -> Option<&(String, u64)> {
    trial.sampled.as_ref()
}

/// Writes what the patterns measure, in times for each of `tokens` where that is given.
pub(super) fn write(
    tables: &[Table],
    tokens: Option<u64>,
    sources: &Sources,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format == Format::Json {
        return write_json(tables, tokens, sources, out);
    }
    let mut text = String::new();
    for (nth, table) in tables.iter().enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        put_table(&mut text, table, tokens, sources);
    }
    out.write_all(text.as_bytes())
}

/// Pads `text` to a column of `width`, to its right where `is_number`.
fn pad(text: &str, width: usize, is_number: bool) -> String {
    let fill = " ".repeat(width.saturating_sub(text.width()));
    if is_number { format!("{fill}{text}") } else { format!("{text}{fill}") }
}

fn put_table(out: &mut String, table: &Table, tokens: Option<u64>, sources: &Sources) {
    let family = table.family.as_deref().unwrap_or("of no family");
    let path = sources.get(table.file).path();
    put_line(out, &format!("{} ({})", escape(path), escape(family)));
    if table.sources.is_empty() {
        put_line(out, "  no evidence about this family");
        return;
    }
    let scale = table.unit.map(|unit| Scale { unit, tokens });
    for source in &table.sources {
        put_line(out, &format!("  {}", describe(source, scale)));
        for note in notes(source) {
            put_line(out, &format!("    {note}"));
        }
    }
    let is_blind = table.sources.iter().filter_map(|source| source.total);
    let is_blind = is_blind.into_iter().any(|total| total.credited != total.sampled);
    put_rows(out, table, scale, is_blind);
    let Some(scale) = scale else { return };
    for sum in &table.sums {
        put_sum(out, sum, scale, is_blind);
    }
    if is_blind {
        put_line(
            out,
            "  the script reads no `<backtrace ref>`: its table has the times of `median`, `min` and `max`,",
        );
        put_line(out, "  and `sampled` is the median of what the traces hold");
    }
}

fn put_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

fn describe(source: &crate::query::evidence::Source, scale: Option<Scale>) -> String {
    let name = escape(&source.name);
    let total = source.total.zip(scale).map(|(total, scale)| {
        let scale = Scale { tokens: None, ..scale };
        let sampled = Scale::shown(scale.value(total.sampled));
        let seen = if total.sampled == total.credited {
            String::new()
        } else {
            format!(", of which the script sees {}", Scale::shown(scale.value(total.credited)))
        };
        format!(", {sampled} {}{seen}", scale.name())
    });
    let under = source.under.zip(scale).map(|(under, scale)| {
        let scale = Scale { tokens: None, ..scale };
        format!("; {} under `--only-under` count", Scale::shown(scale.value(under.sampled)))
    });
    let frames = count(source.frames, "frame");
    let rest = [total, under].into_iter().flatten().collect::<String>();
    format!("{name}: {}, {frames}{rest}", source.format.as_str())
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What was left out of a source, and what may be otherwise in it.
fn notes(source: &crate::query::evidence::Source) -> Vec<String> {
    let notes = source.notes;
    let said = [
        (notes.unfit_names, "names were passed over: empty, or with control characters"),
        (notes.unweighted, "samples without a time that can be read count nothing"),
        (notes.fractions, "counts had a fraction, which was cut off"),
    ];
    let said = said.iter().filter(|(number, _)| *number > 0);
    let mut all: Vec<String> = said.map(|(number, words)| format!("{number} {words}")).collect();
    all.extend(source.is_v0.then(|| crate::evidence::V0_NOTE.to_owned()));
    all
}

fn put_rows(out: &mut String, table: &Table, scale: Option<Scale>, is_blind: bool) {
    const LONGEST: usize = 40;
    let name = |row: &Row| {
        let (indent, name) = match (&row.subcomponent, &row.hypothesis) {
            (Some(label), _) => ("    ", label.as_str()),
            (None, Some(id)) => ("  ", id.as_str()),
            (None, None) => ("  ", "(without id)"),
        };
        let name: String = escape(name).chars().take(LONGEST).collect();
        format!("{indent}{name}")
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut head = vec![scale.map_or_else(String::new, |scale| format!("  {}", scale.name()))];
    if scale.is_some() {
        head.extend(["median", "min", "max"].map(str::to_owned));
        if is_blind {
            head.push("sampled".to_owned());
        }
    }
    head.push("functions".to_owned());
    let numbers = head.len();
    head.push(if scale.is_some() { "the table shows" } else { "claims" }.to_owned());
    lines.push(head);
    for row in &table.rows {
        let mut line = vec![name(row)];
        if let Some(scale) = scale {
            let times = Spread::of(scale, &row.trials, credited);
            line.extend([times.median, times.minimum, times.maximum].map(Scale::shown));
            if is_blind {
                let sampled = Spread::of(scale, &row.trials, sampled).median;
                line.push(Scale::shown(sampled));
            }
        }
        line.push(row.functions.len().to_string());
        line.push(shown(row, scale.is_some()));
        lines.push(line);
    }
    let widths: Vec<usize> = (0..numbers)
        .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|it| it.width()).max())
        .map(Option::unwrap_or_default)
        .collect();
    for line in &lines {
        let cells = line.iter().enumerate().map(|(at, cell)| match widths.get(at) {
            Some(width) => pad(cell, *width, at > 0),
            None => cell.clone(),
        });
        put_line(out, &cells.collect::<Vec<_>>().join("  "));
    }
}

/// The last column of a row.
fn shown(row: &Row, has_traces: bool) -> String {
    match row.state {
        State::NoFrame => return "no frame, though the symbols cover it".to_owned(),
        State::NotSampled => return "not sampled".to_owned(),
        State::NotCovered => return "no frame; the symbols do not cover it".to_owned(),
        State::Undecided => return "not known, the search was given up".to_owned(),
        State::Refused => return "no pattern, see `reglint check`".to_owned(),
        State::OtherDialect => {
            return "not known, fancy-regex may read it otherwise than Python".to_owned();
        }
        State::Claims => {}
    }
    let mut names: Vec<String> = if has_traces {
        let frames = row.trials.iter().filter_map(|trial| credited(trial).or(sampled(trial)));
        frames.map(|(frame, _)| Function::of(frame).to_string()).collect()
    } else {
        row.functions.iter().map(|(name, _)| name.clone()).collect()
    };
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    match names.as_slice() {
        [] => "not sampled".to_owned(),
        [one] => escape(one).into_owned(),
        [first, rest @ ..] => format!("{}, and {} more", escape(first), rest.len()),
    }
}

/// How many pairs of a sum are listed.
const LISTED: usize = 10;

fn put_sum(out: &mut String, sum: &Sum, scale: Scale, is_blind: bool) {
    let name = escape(&sum.source);
    let Some(Known { sum, union, pairs, is_cut }) = &sum.known else {
        put_line(
            out,
            &format!("  {name}: the snapshot does not tell how these frames lie in stacks"),
        );
        return;
    };
    if sum.sampled == 0 {
        return;
    }
    let words = |time: fn(&Time) -> u64| {
        let shown = |time: u64| Scale::shown(scale.value(time));
        let (sum, union) = (time(sum), time(union));
        let rest = match sum.saturating_sub(union) {
            0 => "nothing is counted twice".to_owned(),
            twice => format!("{} of it counted twice, {} without that", shown(twice), shown(union)),
        };
        format!("the rows add up to {} {}, {rest}", shown(sum), scale.name())
    };
    put_line(out, &format!("  {name}: {}", words(|time| time.sampled)));
    if is_blind {
        put_line(out, &format!("    as the script sees it {}", words(|time| time.credited)));
    }
    for InOneStack { outer, inner, is_one_frame, time } in pairs.iter().take(LISTED) {
        let id = |id: &Option<String>| {
            id.as_deref().map_or("(without id)".to_owned(), |id| escape(id).into_owned())
        };
        let time = Scale::shown(scale.value(time.sampled));
        let (outer, inner) = (id(outer), id(inner));
        put_line(
            out,
            &match is_one_frame {
                true => format!("    {outer} and {inner} show one frame: {time}"),
                false => format!("    {inner} is inside of {outer}: {time}"),
            },
        );
    }
    if pairs.len() > LISTED || *is_cut {
        let unknown = if *is_cut { ", and more than are looked at" } else { "" };
        put_line(
            out,
            &format!("    and {} more pairs{unknown}", pairs.len().saturating_sub(LISTED)),
        );
    }
}

#[derive(Serialize)]
struct AnswerJson<'t> {
    version: u32,
    tokens: Option<u64>,
    registers: Vec<TableJson<'t>>,
}

#[derive(Serialize)]
struct TableJson<'t> {
    path: &'t str,
    family: Option<&'t str>,
    /// What times are counted in: `ns` or `samples`.
    unit: Option<&'static str>,
    /// What the spreads are in.
    scale: Option<&'static str>,
    evidence: Vec<SourceJson<'t>>,
    patterns: Vec<RowJson<'t>>,
    sums: Vec<SumJson<'t>>,
}

#[derive(Serialize)]
struct SourceJson<'t> {
    name: &'t str,
    format: &'static str,
    frames: usize,
    total: Option<TimeJson>,
    under: Option<TimeJson>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct TimeJson {
    credited: u64,
    sampled: u64,
}

impl From<Time> for TimeJson {
    fn from(time: Time) -> Self {
        Self { credited: time.credited, sampled: time.sampled }
    }
}

#[derive(Serialize)]
struct RowJson<'t> {
    hypothesis: Option<&'t str>,
    subcomponent: Option<&'t str>,
    pattern: &'t str,
    span: json::SpanJson,
    state: &'static str,
    functions: Vec<FunctionJson<'t>>,
    trials: Vec<TrialJson<'t>>,
    credited: Option<Spread>,
    sampled: Option<Spread>,
}

#[derive(Serialize)]
struct FunctionJson<'t> {
    name: &'t str,
    frames: usize,
}

#[derive(Serialize)]
struct TrialJson<'t> {
    credited: Option<FrameJson<'t>>,
    sampled: Option<FrameJson<'t>>,
}

#[derive(Serialize)]
struct FrameJson<'t> {
    frame: &'t str,
    time: u64,
}

impl<'t> FrameJson<'t> {
    fn of(found: Option<&'t (String, u64)>) -> Option<Self> {
        found.map(|(frame, time)| Self { frame, time: *time })
    }
}

#[derive(Serialize)]
struct SumJson<'t> {
    source: &'t str,
    sum: Option<TimeJson>,
    union: Option<TimeJson>,
    pairs: Vec<PairJson<'t>>,
    all_pairs: bool,
}

#[derive(Serialize)]
struct PairJson<'t> {
    outer: Option<&'t str>,
    inner: Option<&'t str>,
    one_frame: bool,
    time: TimeJson,
}

fn write_json(
    tables: &[Table],
    tokens: Option<u64>,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let table = |table| table_json(table, tokens, sources);
    let answer = AnswerJson {
        version: json::VERSION,
        tokens,
        registers: tables.iter().map(table).collect(),
    };
    let mut text = Vec::new();
    json::put(&mut text, &answer)?;
    text.push(b'\n');
    out.write_all(&text)
}

fn table_json<'t>(table: &'t Table, tokens: Option<u64>, sources: &'t Sources) -> TableJson<'t> {
    let scale = table.unit.map(|unit| Scale { unit, tokens });
    let row = |row: &'t Row| {
        let spread = |time: fn(&Trial) -> Option<&(String, u64)>| {
            scale.map(|scale| Spread::of(scale, &row.trials, time))
        };
        RowJson {
            hypothesis: row.hypothesis.as_deref(),
            subcomponent: row.subcomponent.as_deref(),
            pattern: &row.pattern,
            span: json::SpanJson::new(table.file, row.span, sources),
            state: row.state.as_str(),
            functions: row
                .functions
                .iter()
                .map(|(name, frames)| FunctionJson { name, frames: *frames })
                .collect(),
            trials: row
                .trials
                .iter()
                .map(|trial| TrialJson {
                    credited: FrameJson::of(credited(trial)),
                    sampled: FrameJson::of(sampled(trial)),
                })
                .collect(),
            credited: spread(credited),
            sampled: spread(sampled),
        }
    };
    let source = |source: &'t crate::query::evidence::Source| SourceJson {
        name: &source.name,
        format: source.format.as_str(),
        frames: source.frames,
        total: source.total.map(TimeJson::from),
        under: source.under.map(TimeJson::from),
        notes: notes(source),
    };
    let sum = |sum: &'t Sum| {
        let known = sum.known.as_ref();
        let pair = |pair: &'t InOneStack| PairJson {
            outer: pair.outer.as_deref(),
            inner: pair.inner.as_deref(),
            one_frame: pair.is_one_frame,
            time: pair.time.into(),
        };
        SumJson {
            source: &sum.source,
            sum: known.map(|known| known.sum.into()),
            union: known.map(|known| known.union.into()),
            pairs: known.map_or_else(Vec::new, |known| known.pairs.iter().map(pair).collect()),
            all_pairs: known.is_some_and(|known| !known.is_cut),
        }
    };
    TableJson {
        path: sources.get(table.file).path(),
        family: table.family.as_deref(),
        unit: table.unit.map(|unit| match unit {
            Unit::Nanoseconds => "ns",
            Unit::Samples => "samples",
        }),
        scale: scale.map(Scale::name),
        evidence: table.sources.iter().map(source).collect(),
        patterns: table.rows.iter().map(row).collect(),
        sums: table.sums.iter().map(sum).collect(),
    }
}
