//! SARIF 2.1.0, for code scanning and for viewers that know it:
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.
//!
//! A result is about what its rule reports, at one place; other places are `relatedLocations`. Lines and
//! columns count from 1, columns in UTF-16 units, which `columnKind` says: viewers that do not read it
//! mostly count so. A path becomes a URI reference; a relative one stays relative, to the working folder.
//!
//! The few objects that are used are plain structs here. `serde-sarif` would bring 33 crates, code
//! generated from the standard's schema at build time among them, for the same text; the tests hold the
//! output against that schema instead.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use ahash::AHashMap;
use serde::Serialize;

use super::json::put;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::fix::{Applicability, Fix};
use crate::json;
use crate::register::Register;
use crate::report::Report;
use crate::rules::{self, Level, RULES, Rule};
use crate::source::{ColumnUnit, Sources};
use crate::span::{FileId, Span};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What columns count. SARIF's name for it is in [`write`].
const UNIT: ColumnUnit = ColumnUnit::Utf16;

/// Writes the log: one run.
pub(super) fn write(report: &Report, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    write!(
        line,
        "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":"
    )?;
    put(
        &mut line,
        &Driver {
            name: "reglint",
            version: env!("CARGO_PKG_VERSION"),
            semantic_version: env!("CARGO_PKG_VERSION"),
            rules: RULES.iter().map(Descriptor::new).collect(),
        },
    )?;
    line.extend_from_slice(b"},\n\"columnKind\":\"utf16CodeUnits\",\"results\":[");
    out.write_all(&line)?;
    let mut fingerprints = Fingerprints::default();
    for (index, diagnostic) in report.diagnostics.iter().enumerate() {
        line.clear();
        line.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        put(&mut line, &ResultSarif::new(diagnostic, report, sources, &mut fingerprints))?;
        out.write_all(&line)?;
    }
    line.clear();
    line.extend_from_slice(if report.diagnostics.is_empty() { b"" } else { b"\n" });
    line.extend_from_slice(b"]}]}\n");
    out.write_all(&line)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    help: Text<'static>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    enabled: bool,
    level: &'static str,
}

/// A message, or one in two forms.
#[derive(Serialize)]
struct Text<'r> {
    text: std::borrow::Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<&'r str>,
}

impl<'r> Text<'r> {
    fn new(text: impl Into<std::borrow::Cow<'r, str>>) -> Self {
        Self { text: text.into(), markdown: None }
    }
}

impl Descriptor {
    fn new(rule: &Rule) -> Self {
        Self {
            id: rule.name,
            short_description: Text::new(rule.summary),
            full_description: Text::new(rule.summary),
            help: Text {
                markdown: Some(rule.page),
                ..Text::new(format!("{}; `reglint explain {}` says more", rule.summary, rule.name))
            },
            default_configuration: Configuration {
                enabled: rule.default != Level::Allow,
                level: if rule.default == Level::Deny { "error" } else { "warning" },
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultSarif<'r> {
    rule_id: &'r str,
    rule_index: usize,
    level: &'r str,
    message: Text<'r>,
    locations: [LocationSarif<'r>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<LocationSarif<'r>>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<FixSarif<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LocationSarif<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
struct LogicalLocation<'r> {
    name: &'r str,
    kind: &'r str,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixSarif<'r> {
    description: Text<'r>,
    artifact_changes: Vec<ArtifactChange<'r>>,
    properties: FixProperties<'r>,
}

/// SARIF has no word for how far a fix can be trusted.
#[derive(Serialize)]
struct FixProperties<'r> {
    applicability: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'r> {
    artifact_location: ArtifactLocation,
    replacements: Vec<Replacement<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'r> {
    deleted_region: Region,
    inserted_content: Text<'r>,
}

impl<'r> ResultSarif<'r> {
    fn new(
        diagnostic: &'r Diagnostic,
        report: &Report,
        sources: &'r Sources,
        fingerprints: &mut Fingerprints,
    ) -> Self {
        let mut message = diagnostic.message.clone();
        for note in super::facts(diagnostic) {
            let _ = write!(message, "\n{note}");
        }
        // Who reads SARIF takes a fix for one to apply, so one that is for reading only is told in words.
        let trust = diagnostic.fix.as_ref().map(|fix| (fix, report.applicability(fix)));
        let (fix, told) = match trust {
            Some((fix, Applicability::DisplayOnly)) => (None, Some(fix)),
            other => (other, None),
        };
        if let Some(told) = told {
            let _ = write!(message, "\nhelp: {} ({})", told.message, super::trust(told, report));
        }
        let mut location = LocationSarif::new(&diagnostic.primary, sources);
        location.logical_locations = diagnostic
            .hypothesis
            .iter()
            .map(|id| LogicalLocation { name: id, kind: "object" })
            .collect();
        let related = diagnostic.related.iter().enumerate();
        let related = related.map(|(index, label)| LocationSarif {
            id: Some(index + 1),
            ..LocationSarif::new(label, sources)
        });
        Self {
            rule_id: diagnostic.rule,
            rule_index: rules::position(diagnostic.rule),
            level: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: Text::new(message),
            locations: [location],
            related_locations: related.collect(),
            partial_fingerprints: fingerprints.of(diagnostic, sources),
            fixes: fix.iter().map(|(fix, trust)| FixSarif::new(fix, *trust, sources)).collect(),
        }
    }
}

impl<'r> LocationSarif<'r> {
    fn new(label: &'r Label, sources: &Sources) -> Self {
        Self {
            id: None,
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation::new(label.file, sources),
                region: Region::new(label.file, label.span, sources),
            },
            logical_locations: Vec::new(),
            message: (!label.message.is_empty()).then(|| Text::new(label.message.as_str())),
        }
    }
}

impl ArtifactLocation {
    fn new(file: FileId, sources: &Sources) -> Self {
        Self { uri: uri(sources.get(file).path()) }
    }
}

impl Region {
    /// An empty span is the place between two characters: it starts and ends there.
    fn new(file: FileId, span: Span, sources: &Sources) -> Self {
        let source = sources.get(file);
        let start = source.position(span.start as usize, UNIT);
        let mut end = source.position(span.end as usize, UNIT);
        // A byte order mark has no column of its own: the first one is where it is shown.
        if end == start && !span.is_empty() {
            end.column += 1;
        }
        Self {
            start_line: start.line,
            start_column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

impl<'r> FixSarif<'r> {
    fn new(fix: &'r Fix, trust: Applicability, sources: &Sources) -> Self {
        let changes = fix.edits.chunk_by(|a, b| a.file == b.file).filter_map(|edits| {
            let file = edits.first()?.file;
            let replacements = edits.iter().map(|edit| Replacement {
                deleted_region: Region::new(file, edit.span, sources),
                inserted_content: Text::new(edit.replacement.as_str()),
            });
            Some(ArtifactChange {
                artifact_location: ArtifactLocation::new(file, sources),
                replacements: replacements.collect(),
            })
        });
        Self {
            description: Text::new(fix.message.as_str()),
            artifact_changes: changes.collect(),
            properties: FixProperties { applicability: trust.as_str() },
        }
    }
}

/// A path as a URI reference (RFC 3986): `/` between its parts, everything else that is not unreserved
/// percent-encoded. An absolute one gets the scheme `file`.
fn uri(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let has_drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    let mut out = String::with_capacity(path.len() + 8);
    if path.starts_with('/') {
        out.push_str("file://");
    } else if has_drive {
        out.push_str("file:///");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// What a finding is known by from commit to commit.
///
/// Made of the rule, the files and the hypotheses that it has places in, what it says and the text that is underlined,
/// not of any line or column: it stays the same whatever is added above, and in whatever order hypotheses or findings
/// stand. Which of two hypotheses comes first decides where their finding is and what it names first; so of one
/// about several neither the order of its words nor the text counts. Only findings that are the same in all
/// that are told apart by the number behind the colon.
#[derive(Default)]
struct Fingerprints {
    seen: AHashMap<u64, usize>,
    /// By file: where its hypotheses are, and their ids. Made where a finding has several places.
    hypotheses: AHashMap<FileId, Vec<(Span, Option<String>)>>,
}

impl Fingerprints {
    fn of(&mut self, diagnostic: &Diagnostic, sources: &Sources) -> BTreeMap<&'static str, String> {
        let primary = &diagnostic.primary;
        let labels = || std::iter::once(primary).chain(&diagnostic.related);
        let mut files: Vec<String> =
            labels().map(|label| uri(sources.get(label.file).path())).collect();
        files.sort_unstable();
        files.dedup();
        let mut ids: Vec<String> = diagnostic.hypothesis.iter().cloned().collect();
        let mut is_about_several = false;
        if !diagnostic.related.is_empty() {
            let mut places: Vec<_> =
                labels().filter_map(|label| self.hypothesis(label, sources)).collect();
            places.sort_unstable();
            places.dedup();
            is_about_several = places.len() > 1;
            ids = places.into_iter().filter_map(|(_, _, id)| id).collect();
            ids.sort_unstable();
        }
        let mut words: Vec<&str> = diagnostic.message.split_whitespace().collect();
        let mut text =
            sources.get(primary.file).text().get(primary.span.range()).unwrap_or_default();
        if is_about_several {
            words.sort_unstable();
            text = "";
        }
        let lists: [&[&str]; 5] = [
            &[diagnostic.rule],
            &files.iter().map(String::as_str).collect::<Vec<_>>(),
            &ids.iter().map(String::as_str).collect::<Vec<_>>(),
            &words,
            &[text],
        ];
        let hash = fnv(lists);
        let count = self.seen.entry(hash).or_default();
        *count += 1;
        let fingerprint = format!("{hash:016x}:{count}");
        // The second name is the one that GitHub reads.
        BTreeMap::from([
            ("reglint/v1", fingerprint.clone()),
            ("primaryLocationLineHash", fingerprint),
        ])
    }

    /// The hypothesis that a place lies in: where it is, and its id.
    fn hypothesis(
        &mut self,
        label: &Label,
        sources: &Sources,
    ) -> Option<(FileId, Span, Option<String>)> {
        let all = self.hypotheses.entry(label.file).or_insert_with(|| {
            let document = json::parse(sources.get(label.file).text());
            let hypotheses = Register::read(&document).hypotheses.into_iter();
            hypotheses.map(|it| (it.span, it.id().map(str::to_owned))).collect()
        });
        let after = all.partition_point(|(span, _)| span.start <= label.span.start);
        let (span, id) = all.get(after.checked_sub(1)?)?;
        span.contains(label.span).then(|| (label.file, *span, id.clone()))
    }
}

/// The 64-bit FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv>) of lists of texts, each text and each list with
/// its end: the same on every machine and in every version.
fn fnv<const N: usize>(lists: [&[&str]; N]) -> u64 {
    // No byte of UTF-8 is 0xfe or 0xff.
    let list = |list: &&[&str]| -> Vec<u8> {
        list.iter().flat_map(|text| text.bytes().chain([0xff])).chain([0xfe]).collect()
    };
    lists.iter().flat_map(list).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("registers/gemma.json"), "registers/gemma.json");
        assert_eq!(uri("a b/µ:#?%.json"), "a%20b/%C2%B5%3A%23%3F%25.json");
        #[cfg(unix)]
        assert_eq!(uri("/r/a.json"), "file:///r/a.json");
    }

    #[test]
    fn hashes_are_those_of_the_definition() {
        // The hash of the bytes ff fe, by the definition.
        let step = |hash: u64, byte: u64| (hash ^ byte).wrapping_mul(1_099_511_628_211);
        assert_eq!(fnv([&[""]]), step(step(14_695_981_039_346_656_037, 0xff), 0xfe));
        assert_ne!(fnv([&["a", "b"]]), fnv([&["ab", ""]]));
        assert_ne!(fnv([&["a", "b"], &[]]), fnv([&["a"], &["b"]]));
    }
}
