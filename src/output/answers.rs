//! The answers of `reglint overlap` and `reglint claims`.

use std::io::{self, Write};

use serde::Serialize;

use super::text::marked;
use super::{Format, escape::escape, json};
use crate::diagnostic::Mark;
use crate::overlap::{Kind, Relation};
use crate::query::{Claims, Refusal};
use crate::source::{ColumnUnit, Sources};

#[derive(Serialize)]
struct RelationJson<'r> {
    relation: &'static str,
    witness: Option<&'r str>,
    shared: Option<RangeJson>,
    reason: Option<String>,
}

#[derive(Serialize)]
struct RangeJson {
    start: usize,
    end: usize,
}

impl RangeJson {
    fn new((start, end): (usize, usize)) -> Self {
        Self { start, end }
    }
}

/// The name of a relation in every output.
fn name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Equal => "equal",
        Kind::AWithinB => "a-within-b",
        Kind::BWithinA => "b-within-a",
        Kind::Partial => "partial",
        Kind::None => "none",
        Kind::Undecided(_) => "undecided",
    }
}

/// Writes one answer about two patterns.
pub(super) fn relation(
    answer: &Result<Relation, Refusal>,
    format: Format,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    match (answer, format) {
        (_, Format::Json) => relation_json(answer, out),
        (Err(Refusal(why)), _) => writeln!(out, "undecided: {}", escape(why)),
        (Ok(relation), Format::Text) => relation_text(relation, width, out),
        (Ok(relation), _) => {
            let frame = relation.witness.as_ref().map_or("", |witness| &witness.text);
            let line = format!("{}\t{}", name(&relation.kind), escape(frame));
            writeln!(out, "{}", line.trim_end())
        }
    }
}

fn relation_json(answer: &Result<Relation, Refusal>, out: &mut dyn Write) -> io::Result<()> {
    let object = match answer {
        Err(Refusal(why)) => RelationJson {
            relation: "undecided",
            witness: None,
            shared: None,
            reason: Some(why.clone()),
        },
        Ok(relation) => RelationJson {
            relation: name(&relation.kind),
            witness: relation.witness.as_ref().map(|witness| witness.text.as_str()),
            shared: relation
                .witness
                .as_ref()
                .and_then(|witness| witness.shared)
                .map(RangeJson::new),
            reason: match &relation.kind {
                Kind::Undecided(reason) => Some(reason.to_string()),
                _ => None,
            },
        },
    };
    let mut line = Vec::new();
    json::put(&mut line, &object)?;
    line.push(b'\n');
    out.write_all(&line)
}

fn relation_text(relation: &Relation, width: usize, out: &mut dyn Write) -> io::Result<()> {
    match &relation.kind {
        Kind::Equal => writeln!(out, "equal: each claims every frame that the other claims")?,
        Kind::AWithinB => writeln!(out, "a-within-b: B claims every frame that A claims")?,
        Kind::BWithinA => writeln!(out, "b-within-a: A claims every frame that B claims")?,
        Kind::Partial => {
            writeln!(out, "partial: both can claim one frame by the same part of a name")?;
        }
        Kind::None => {
            writeln!(out, "none: they have no part of a name in common that both spell out")?;
        }
        Kind::Undecided(reason) => writeln!(out, "undecided: {}", escape(&reason.to_string()))?,
    }
    if let Some(witness) = &relation.witness {
        let mark = |(start, end), message: &str| Mark { start, end, message: message.to_owned() };
        let marks = [mark(witness.a, "A"), mark(witness.b, "B")];
        writeln!(out, "{}", marked(&witness.text, &marks, "  ", width))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct ClaimsJson<'r> {
    version: u32,
    frame: &'r str,
    claims: Vec<ClaimJson<'r>>,
    patterns: usize,
    undecided: Vec<PlaceJson<'r>>,
    refused: Vec<PlaceJson<'r>>,
}

#[derive(Serialize)]
struct ClaimJson<'r> {
    path: &'r str,
    hypothesis: Option<&'r str>,
    subcomponent: Option<&'r str>,
    pattern: &'r str,
    span: json::SpanJson,
    #[serde(rename = "match")]
    matched: RangeJson,
}

#[derive(Serialize)]
struct PlaceJson<'r> {
    path: &'r str,
    span: json::SpanJson,
}

/// Writes who claims a frame.
pub(super) fn claims(
    claims: &Claims,
    frame: &str,
    sources: &Sources,
    format: Format,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format == Format::Json {
        let places = |list: &[(crate::span::FileId, crate::span::Span)]| -> Vec<_> {
            let place = |&(file, span)| PlaceJson {
                path: sources.get(file).path(),
                span: json::SpanJson::new(file, span, sources),
            };
            list.iter().map(place).collect()
        };
        let object = ClaimsJson {
            version: json::VERSION,
            frame,
            claims: claims
                .claims
                .iter()
                .map(|claim| ClaimJson {
                    path: sources.get(claim.file).path(),
                    hypothesis: claim.hypothesis.as_deref(),
                    subcomponent: claim.subcomponent.as_deref(),
                    pattern: &claim.pattern,
                    span: json::SpanJson::new(claim.file, claim.span, sources),
                    matched: RangeJson::new(claim.matched),
                })
                .collect(),
            patterns: claims.tried,
            undecided: places(&claims.undecided),
            refused: places(&claims.refused),
        };
        let mut text = Vec::new();
        json::put(&mut text, &object)?;
        text.push(b'\n');
        return out.write_all(&text);
    }
    let place = |file, span: crate::span::Span| {
        let source = sources.get(file);
        let at = source.position(span.start as usize, ColumnUnit::Scalar);
        format!("{}:{}:{}", escape(source.path()), at.line, at.column)
    };
    for claim in &claims.claims {
        let id = claim.hypothesis.as_deref().unwrap_or("a hypothesis without id");
        let what = match &claim.subcomponent {
            Some(label) => format!("subcomponent {}", escape(label)),
            None => "canonical".to_owned(),
        };
        writeln!(out, "{}: {} {what}", place(claim.file, claim.span), escape(id))?;
        if format == Format::Text {
            let (start, end) = claim.matched;
            let marks = [Mark { start, end, message: String::new() }];
            writeln!(out, "{}", marked(frame, &marks, "  ", width))?;
        }
    }
    for &(file, span) in &claims.undecided {
        writeln!(out, "{}: undecided, the search took too many steps", place(file, span))?;
    }
    for &(file, span) in &claims.refused {
        writeln!(out, "{}: no pattern, see `reglint check`", place(file, span))?;
    }
    if format == Format::Text {
        let (found, all) = (claims.claims.len(), claims.tried);
        writeln!(
            out,
            "{found} of {all} patterns claim{} this frame",
            if found == 1 { "s" } else { "" }
        )?;
    }
    Ok(())
}
