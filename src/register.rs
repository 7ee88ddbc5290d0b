//! The register as the consumer sees it: hypotheses, their patterns, and where each stands.
//!
//! Uses `json` and `span`. Built from whatever the document holds: a member of the wrong type is as
//! good as absent here, since `schema` has reported it. Of a repeated member the last value counts.

use crate::json::{Array, Document, Kind, Object, Str, Value};
use crate::span::Span;

/// One register.
#[derive(Debug, Default)]
pub struct Register<'d> {
    /// Its `family` member.
    pub family: Option<Str<'d>>,
    /// Its hypotheses, in order.
    pub hypotheses: Vec<Hypothesis<'d>>,
}

/// One hypothesis.
#[derive(Debug)]
pub struct Hypothesis<'d> {
    /// The whole object.
    pub span: Span,
    /// Its name.
    pub id: Option<Str<'d>>,
    /// What it says, in prose.
    pub description: Option<Str<'d>>,
    /// The pattern that its cost is read from.
    pub canonical: Option<Slot<'d>>,
    /// The patterns that are read beside it, in order.
    pub subcomponents: Vec<Subcomponent<'d>>,
}

/// A labelled pattern of `subcomponent_regexes`.
#[derive(Debug)]
pub struct Subcomponent<'d> {
    /// Its label.
    pub label: Str<'d>,
    /// Its pattern.
    pub slot: Slot<'d>,
}

/// A place in a register that holds a pattern.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'d> {
    /// The JSON string; its map leads from the pattern's offsets to the file's.
    pub text: Str<'d>,
    /// The pattern, shared by all slots of the same text.
    pub pattern: PatternId,
}

/// Names one distinct pattern text of a run; an index into the workspace's patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PatternId(pub u32);

impl<'d> Register<'d> {
    /// The register in `document`. Its patterns have no ids yet.
    pub fn read(document: &'d Document<'_>) -> Self {
        let Some(top) = document.root().and_then(Value::as_object) else {
            return Self::default();
        };
        Self {
            family: string(top, "family"),
            hypotheses: array(top, "hypotheses").map_or_else(Vec::new, |hypotheses| {
                hypotheses.elements().filter_map(Hypothesis::read).collect()
            }),
        }
    }

    /// Forgets the ids, descriptions and patterns whose text is not known, so that nothing is said of
    /// it: those at which `is_damaged` says that bytes were lost, and those that are never closed.
    pub fn forget(&mut self, is_damaged: impl Fn(Span) -> bool) {
        let keep = |text: &Str<'_>| !text.is_guessed() && !is_damaged(text.span());
        self.family = self.family.filter(keep);
        for hypothesis in &mut self.hypotheses {
            hypothesis.id = hypothesis.id.filter(keep);
            hypothesis.description = hypothesis.description.filter(keep);
            hypothesis.canonical = hypothesis.canonical.filter(|slot| keep(&slot.text));
            hypothesis.subcomponents.retain(|subcomponent| keep(&subcomponent.slot.text));
        }
    }

    /// All slots, in the order of the file, canonical before subcomponents.
    pub fn slots(&self) -> impl Iterator<Item = &Slot<'d>> {
        self.hypotheses.iter().flat_map(Hypothesis::slots)
    }

    /// All slots, to be given their patterns.
    pub fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot<'d>> {
        self.hypotheses.iter_mut().flat_map(|hypothesis| {
            let rest =
                hypothesis.subcomponents.iter_mut().map(|subcomponent| &mut subcomponent.slot);
            hypothesis.canonical.iter_mut().chain(rest)
        })
    }
}

impl<'d> Hypothesis<'d> {
    fn read(value: Value<'d>) -> Option<Self> {
        let object = value.as_object()?;
        let slot = |text| Slot { text, pattern: PatternId::default() };
        let subcomponents = object.get("subcomponent_regexes").and_then(Value::as_object);
        Some(Self {
            span: value.span(),
            id: string(object, "id"),
            description: string(object, "description"),
            canonical: string(object, "canonical_frame_regex").map(slot),
            subcomponents: subcomponents.map_or_else(Vec::new, |labelled| {
                let effective = labelled.effective_members();
                let read = effective.filter(|member| !is_comment(member.name.value()));
                read.filter_map(|member| {
                    let text = as_string(member.value)?;
                    Some(Subcomponent { label: member.name, slot: slot(text) })
                })
                .collect()
            }),
        })
    }

    /// Its id, decoded.
    pub fn id(&self) -> Option<&'d str> {
        self.id.map(Str::value)
    }

    /// Where it is named: its id, or where it has none its first character.
    pub fn name_span(&self) -> Span {
        self.id.map_or(Span::new(self.span.range().start, self.span.range().start + 1), Str::span)
    }

    /// Its slots, the canonical one first.
    pub fn slots(&self) -> impl Iterator<Item = &Slot<'d>> {
        self.canonical
            .iter()
            .chain(self.subcomponents.iter().map(|subcomponent| &subcomponent.slot))
    }
}

impl Slot<'_> {
    /// The file's characters that spell `span` of the pattern, both in bytes.
    pub fn locate(&self, span: Span) -> Span {
        self.text.source_span(span.range())
    }
}

/// Whether a member of that name is a comment, never checked.
pub fn is_comment(name: &str) -> bool {
    name.starts_with('_')
}

fn string<'d>(object: Object<'d>, name: &str) -> Option<Str<'d>> {
    object.get(name).and_then(as_string)
}

fn array<'d>(object: Object<'d>, name: &str) -> Option<Array<'d>> {
    match object.get(name)?.kind() {
        Kind::Array(array) => Some(array),
        _ => None,
    }
}

fn as_string(value: Value<'_>) -> Option<Str<'_>> {
    match value.kind() {
        Kind::String(string) => Some(string),
        _ => None,
    }
}
