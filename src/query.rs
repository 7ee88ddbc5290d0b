//! Questions from the command line that no register has to be wrong for: how two patterns lie to each
//! other, and who claims a frame.
//!
//! Uses `workspace`, `evidence`, `register`, `overlap`, `pattern`, `json` and `source`.

pub mod evidence;

use rayon::prelude::*;

use crate::json::{self, Document};
use crate::overlap::matcher::Outcome;
use crate::overlap::{Budget, Relation, relation};
use crate::pattern::{Consumer, Pattern, plain_in_rust};
use crate::register::Register;
use crate::source::{Role, Source, Sources};
use crate::span::{FileId, Span};
use crate::workspace::{self, Entry, Patterns, Workspace};

/// Why there is no answer about two patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

/// How `a` and `b` lie to each other.
///
/// # Errors
/// Which of them the consumer refuses, and why, as a sentence.
pub fn overlap(a: &str, b: &str, consumer: Consumer) -> Result<Relation, Refusal> {
    let (a, b) = (Pattern::new(a, consumer), Pattern::new(b, consumer));
    let refused = |name: &str, pattern: &Pattern<'_>| {
        let fault = pattern.python_fault()?;
        let part = pattern.text().get(fault.span.range()).unwrap_or_default();
        let place = if part.is_empty() { String::new() } else { format!(" at `{part}`") };
        Some(Refusal(format!("{name} is no pattern{place}: {}", fault.message)))
    };
    if let Some(refusal) = refused("A", &a).or_else(|| refused("B", &b)) {
        return Err(refusal);
    }
    let (Ok(a_tree), Ok(b_tree)) = (a.ast(), b.ast()) else {
        return Err(Refusal("Python refuses one of the patterns".to_owned()));
    };
    let is_alike = |pattern: &Pattern<'_>, tree| plain_in_rust(pattern.text(), tree);
    if consumer == Consumer::Rust && !(is_alike(&a, a_tree) && is_alike(&b, b_tree)) {
        let why =
            "the consumer is fancy-regex, which may read one of the patterns otherwise than Python";
        return Err(Refusal(why.to_owned()));
    }
    Ok(relation(a_tree, b_tree, Budget::default()))
}

/// The answers to `lines`, each a JSON array of two patterns, in their order.
pub fn overlaps(lines: &[Vec<u8>], consumer: Consumer) -> Vec<Result<Relation, Refusal>> {
    let answer = |line: &Vec<u8>| {
        let Ok([a, b]) = serde_json::from_slice::<[String; 2]>(line) else {
            return Err(Refusal(
                "a line of a batch is a JSON array of two strings, without lone surrogates"
                    .to_owned(),
            ));
        };
        overlap(&a, &b, consumer)
    };
    lines.par_iter().map(answer).collect()
}

/// A pattern that claims a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The register.
    pub file: FileId,
    /// The pattern's place in it.
    pub span: Span,
    /// The hypothesis, if it has an id.
    pub hypothesis: Option<String>,
    /// The label of a subcomponent; `None` for the canonical pattern.
    pub subcomponent: Option<String>,
    /// The pattern, decoded.
    pub pattern: String,
    /// What it matches, from and to, in scalar values of the frame.
    pub matched: (usize, usize),
}

/// Who claims a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claims {
    /// The claims, in the order of the files and then of their places.
    pub claims: Vec<Claim>,
    /// How many patterns were tried.
    pub tried: usize,
    /// Those of which it is not known because the search took too many steps.
    pub undecided: Vec<(FileId, Span)>,
    /// Those that the consumer refuses.
    pub refused: Vec<(FileId, Span)>,
}

/// Which patterns of the registers among `sources` claim `frame`. Files that were read for context only are
/// passed over.
pub fn claims(sources: &Sources, frame: &str, consumer: Consumer) -> Claims {
    let documents = documents(sources);
    let mut entries = entries(&documents, &[]);
    let patterns = Patterns::intern(&mut entries, consumer);
    let workspace = Workspace::new(entries, &patterns, sources, consumer);
    let mut found = Claims::default();
    for entry in &workspace.entries {
        for hypothesis in &entry.register.hypotheses {
            let canonical = hypothesis.canonical.iter().map(|slot| (None, slot));
            let rest = hypothesis.subcomponents.iter();
            let rest = rest.map(|each| (Some(each.label.value().to_owned()), &each.slot));
            for (subcomponent, slot) in canonical.chain(rest) {
                found.tried += 1;
                let place = (entry.file, slot.text.span());
                match search(&workspace, patterns.get(slot.pattern), slot.pattern, frame) {
                    None => found.refused.push(place),
                    Some(Outcome::None) => {}
                    Some(Outcome::GaveUp) => found.undecided.push(place),
                    Some(Outcome::Match(start, end)) => found.claims.push(Claim {
                        file: entry.file,
                        span: slot.text.span(),
                        hypothesis: hypothesis.id().map(str::to_owned),
                        subcomponent,
                        pattern: slot.value.to_owned(),
                        matched: (start, end),
                    }),
                }
            }
        }
    }
    found
}

/// A source with its JSON.
type Parsed<'s> = (FileId, &'s Source, Document<'s>);

/// The documents among `sources` that were asked for and are text.
fn documents(sources: &Sources) -> Vec<Parsed<'_>> {
    let asked = sources.iter().filter(|(_, it)| it.role() != Role::Context && it.is_text());
    asked.map(|(file, source)| (file, source, json::parse(source.text()))).collect()
}

/// Their registers, as far as they can be read. `families` are those that the configuration gives to files, by source.
fn entries<'d>(documents: &'d [Parsed<'d>], families: &'d [Option<String>]) -> Vec<Entry<'d>> {
    let entry = |(file, source, document): &'d Parsed<'d>| {
        let mut register = Register::read(document);
        register.forget(|span| source.is_damaged(span));
        let family = workspace::family(*file, source, document, &register, families);
        Entry::new(*file, source, document, Vec::new(), register, family)
    };
    documents.iter().map(entry).collect()
}

/// What the consumer finds in `frame`; `None` where it refuses the pattern.
fn search(
    workspace: &Workspace<'_>,
    pattern: &Pattern<'_>,
    id: crate::register::PatternId,
    frame: &str,
) -> Option<Outcome> {
    let scalars = |bytes: usize| frame.get(..bytes).map_or(0, |text| text.chars().count());
    match workspace.consumer {
        Consumer::Rust => Some(match pattern.rust().ok()?.find(frame) {
            Ok(Some(found)) => Outcome::Match(scalars(found.start()), scalars(found.end())),
            Ok(None) => Outcome::None,
            Err(_) => Outcome::GaveUp,
        }),
        Consumer::Python(_) if pattern.is_literal() => {
            Some(frame.find(pattern.text()).map_or(Outcome::None, |at| {
                Outcome::Match(scalars(at), scalars(at + pattern.text().len()))
            }))
        }
        Consumer::Python(_) => Some(workspace.compiled(id)?.matcher().search(frame)),
    }
}
