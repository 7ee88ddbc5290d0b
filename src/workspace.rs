//! All registers that are checked together, and the indexes that rules ask.
//!
//! Uses `register`, `schema`, `json`, `overlap`, `pattern`, `source` and `span`.

use std::sync::OnceLock;

use ahash::AHashMap;

mod relations;

pub use relations::{Lie, Places, Relations};

use crate::json::Document;
use crate::overlap::{Budget, Compiled, Member, Outline};
use crate::pattern::{Consumer, Pattern};
use crate::register::{PatternId, Register};
use crate::schema::Violation;
use crate::source::{Source, Sources};
use crate::span::{FileId, Span};

/// One file with everything that was read from it.
#[derive(Debug)]
pub struct Entry<'d> {
    /// Its number; its order is that of the paths.
    pub file: FileId,
    /// Its text.
    pub source: &'d Source,
    /// Its JSON.
    pub document: &'d Document<'d>,
    /// Where it breaks the schema.
    pub violations: Vec<Violation>,
    /// What the consumer sees.
    pub register: Register<'d>,
    /// How its patterns lie to each other, once a rule has asked.
    relations: OnceLock<Relations>,
}

impl<'d> Entry<'d> {
    /// Puts the parts together.
    pub fn new(
        file: FileId,
        source: &'d Source,
        document: &'d Document<'d>,
        violations: Vec<Violation>,
        register: Register<'d>,
    ) -> Self {
        Self { file, source, document, violations, register, relations: OnceLock::new() }
    }

    /// The id of the hypothesis that `span` lies in.
    pub fn hypothesis_at(&self, span: Span) -> Option<&str> {
        let after = self.register.hypotheses.partition_point(|each| each.span.start <= span.start);
        let hypothesis = self.register.hypotheses.get(after.checked_sub(1)?)?;
        hypothesis.id().filter(|_| hypothesis.span.contains(span))
    }
}

/// All registers of a run, in the order of their paths.
#[derive(Debug)]
pub struct Workspace<'d> {
    /// The registers.
    pub entries: Vec<Entry<'d>>,
    /// The distinct patterns in them.
    pub patterns: &'d Patterns<'d>,
    /// By the number of a pattern: it as what `overlap` asks questions of.
    compiled: Vec<OnceLock<Option<Box<Compiled<'d>>>>>,
    /// By the number of a pattern: what is plain to see of it.
    outlines: Vec<OnceLock<Option<Box<Outline>>>>,
    /// Whose dialect the patterns are written in.
    pub consumer: Consumer,
    /// All sources of the run, for rules that show a place by its line.
    pub sources: &'d Sources,
}

impl<'d> Workspace<'d> {
    /// Puts the registers together. `patterns` are theirs, see [`Patterns::intern`].
    pub fn new(
        entries: Vec<Entry<'d>>,
        patterns: &'d Patterns<'d>,
        sources: &'d Sources,
        consumer: Consumer,
    ) -> Self {
        let compiled = std::iter::repeat_with(OnceLock::new).take(patterns.len()).collect();
        let outlines = std::iter::repeat_with(OnceLock::new).take(patterns.len()).collect();
        Self { entries, patterns, compiled, outlines, consumer, sources }
    }

    /// How the patterns of one register lie to each other, found by the first call.
    pub fn relations<'e>(&self, entry: &'e Entry<'_>) -> &'e Relations {
        entry.relations.get_or_init(|| Relations::of(&entry.register, self))
    }

    /// A pattern as what `overlap` asks questions of, made by the first call. `None` where CPython
    /// refuses it.
    pub fn compiled(&self, id: PatternId) -> Option<&Compiled<'d>> {
        let make = || {
            let ast = self.patterns.get(id).ast().ok()?;
            Some(Box::new(Compiled::new(ast, Budget::default())))
        };
        self.compiled.get(id.0 as usize)?.get_or_init(make).as_deref()
    }

    /// A pattern for a look at a few of them; `None` where CPython refuses it.
    fn member(&self, id: PatternId) -> Option<Member<'_>> {
        let pattern = self.patterns.get(id);
        if pattern.is_literal() && !pattern.text().chars().any(char::is_control) {
            return Some(Member::Text(pattern.text()));
        }
        let look = || Some(Box::new(Outline::new(pattern.ast().ok()?)));
        let outline = self.outlines.get(id.0 as usize)?.get_or_init(look).as_deref()?;
        Some(match outline.plain() {
            Some(text) => Member::Text(text),
            None => Member::Other(outline, self.compiled(id)?),
        })
    }
}

/// The distinct patterns of a run. What is made of one is made once, by whoever asks first.
#[derive(Debug)]
pub struct Patterns<'d> {
    list: Vec<Pattern<'d>>,
}

impl<'d> Patterns<'d> {
    /// Numbers the distinct texts in the order of their first place and gives each slot its number.
    pub fn intern(entries: &mut [Entry<'d>], consumer: Consumer) -> Self {
        let slots = entries.iter().map(|entry| entry.register.slots().count()).sum();
        let mut numbers: AHashMap<&str, PatternId> = AHashMap::with_capacity(slots);
        let mut list = Vec::with_capacity(slots);
        for slot in entries.iter_mut().flat_map(|entry| entry.register.slots_mut()) {
            let text = slot.text.value();
            slot.pattern = *numbers.entry(text).or_insert_with(|| {
                list.push(Pattern::new(text, consumer));
                PatternId(list.len() as u32 - 1)
            });
        }
        Self { list }
    }

    /// The pattern of that number.
    pub fn get(&self, id: PatternId) -> &Pattern<'d> {
        &self.list[id.0 as usize]
    }

    /// How many distinct ones there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
