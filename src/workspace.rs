//! All registers that are checked together, and the indexes that rules ask.
//!
//! Uses `register`, `schema`, `evidence`, `json`, `overlap`, `pattern`, `source` and `span`.
//!
//! An index is built by the first rule that asks for it: a run in which none does pays nothing.

mod claims;
mod classes;
mod families;

use std::sync::OnceLock;

use ahash::AHashMap;
use rayon::prelude::*;

mod measured;
mod relations;

pub use claims::Claims;
pub use classes::Classes;
pub use families::{Claim, Families, Family, Pair, Pairs, Scope};
pub use measured::{Claimed, Measured};
pub use relations::{Lie, Places, Relations};

use crate::evidence::{Evidence, Sets};
use crate::json::{Document, Object, Str, SyntaxError, SyntaxErrorKind, Value};
use crate::overlap::matcher::{MAX_STEPS, Outcome};
use crate::overlap::{self, Budget, Compiled, Member, Outline, is_plainly_outside};
use crate::pattern::ast::Ast;
use crate::pattern::{Consumer, Pattern, plain_in_rust};
use crate::register::{Date, Hypothesis, PatternId, Register};
use crate::schema::Violation;
use crate::source::{EncodingFault, Role, Source, Sources};
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
    /// The model family that it is about; `None` where its `family` member cannot be read.
    pub family: Option<&'d str>,
    /// How its patterns lie to each other, once a rule has asked.
    relations: OnceLock<Relations>,
    /// The number of the evidence that it is held against, see [`Workspace::measure`].
    measured: Option<usize>,
}

impl<'d> Entry<'d> {
    /// Puts the parts together.
    pub fn new(
        file: FileId,
        source: &'d Source,
        document: &'d Document<'d>,
        violations: Vec<Violation>,
        register: Register<'d>,
        family: Option<&'d str>,
    ) -> Self {
        let relations = OnceLock::new();
        Self { file, source, document, violations, register, family, relations, measured: None }
    }

    /// The number of the hypothesis that `span` lies in.
    pub fn hypothesis_number_at(&self, span: Span) -> Option<usize> {
        let after = self.register.hypotheses.partition_point(|each| each.span.start <= span.start);
        let number = after.checked_sub(1)?;
        self.register.hypotheses.get(number)?.span.contains(span).then_some(number)
    }

    /// The id of the hypothesis that `span` lies in.
    pub fn hypothesis_at(&self, span: Span) -> Option<&str> {
        self.register.hypotheses.get(self.hypothesis_number_at(span)?)?.id()
    }

    /// Whether all of it could be read, so that what is not found in it is not there.
    pub fn is_whole(&self) -> bool {
        let is_mark = |fault: &EncodingFault| matches!(fault, EncodingFault::ByteOrderMark(_));
        self.document.errors().is_empty() && self.source.encoding_faults().iter().all(is_mark)
    }

    /// Whether the user asked for it; else it is read for context only, and not to be changed.
    pub fn is_asked_for(&self) -> bool {
        self.source.role() != Role::Context
    }
}

/// Names one hypothesis of a run. Its order is that of paths, then of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The index of its register in [`Workspace::entries`].
    pub entry: usize,
    /// Its own index in the register.
    pub hypothesis: usize,
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
    /// What is there and could not be read.
    pub hidden: Hidden<'d>,
    /// The day on which allowances are judged.
    pub today: Date,
    /// Whether undeclared counterparts are looked for beyond what a report shows of them.
    pub is_thorough: bool,
    /// What the patterns claim in evidence, by the number of the evidence.
    measured: Vec<Option<Measured<'d>>>,
    classes: OnceLock<Classes>,
    families: OnceLock<Families<'d>>,
    pairs: OnceLock<Pairs>,
    ids: OnceLock<AHashMap<&'d str, Place>>,
    distinct: OnceLock<usize>,
}

/// What is there and could not be read: it may be what seems to be missing.
#[derive(Debug, Default)]
pub struct Hidden<'d> {
    /// The families of files that could not be read, as far as they are known.
    pub unread: Vec<String>,
    /// The texts of files whose family cannot be read: each may be of one that it names.
    texts: Vec<(FileId, &'d str)>,
    /// How long they are together, in bytes.
    len: usize,
    /// Whether one of them may name anything: it is no UTF-8, it spells characters by their numbers, or all are too
    /// long to be looked through for each name.
    any: bool,
}

/// So many bytes are looked through for each name that is missing.
const MOST_HIDDEN: usize = 1 << 16;

impl<'d> Hidden<'d> {
    /// Nothing but the families of files that were not read at all.
    pub fn new(unread: Vec<String>) -> Self {
        Self { unread, ..Self::default() }
    }

    /// Whether all could be read.
    pub fn is_empty(&self) -> bool {
        self.unread.is_empty() && self.texts.is_empty()
    }

    /// Adds a file, if what it is about is not known: it does not parse, or its family is no text.
    pub fn add(
        &mut self,
        file: FileId,
        source: &'d Source,
        document: &Document<'d>,
        entry: Option<&Entry<'_>>,
        configured: &[Option<String>],
    ) {
        let is_broken = !source.is_text() || !document.errors().is_empty();
        if !is_broken && entry.is_none_or(|entry| entry.family.is_some()) {
            return;
        }
        // A merge that went wrong leaves more than one.
        let is_conflict = |it: &SyntaxError| it.kind == SyntaxErrorKind::Conflict;
        // What the other side of a merge has is not among the members.
        let mut lost = usize::from(document.errors().iter().any(is_conflict));
        let mut found = 0;
        // No value, or a line end or the like within it: the text does not have it as one piece.
        let mut is_split = false;
        for member in
            document.root().and_then(Value::as_object).into_iter().flat_map(Object::members)
        {
            if !member.name.is("family") {
                continue;
            }
            let mut register = Register { family: member.value.as_str(), ..Register::default() };
            register.forget(|span| source.is_damaged(span));
            match register.family.map(Str::value) {
                Some(family) if !family.is_empty() => {
                    found += 1;
                    self.unread.push(family.to_owned());
                }
                _ => {
                    lost += 1;
                    let spelled = document.text().get(member.value.span().range());
                    is_split |= member.value.is_invalid()
                        || spelled.is_some_and(|it| it.contains(['\n', '\r', '\t']));
                }
            }
        }
        if found > 0 && lost == 0 {
            return;
        }
        self.unread.push(given_family(file, source, configured).to_owned());
        let text = source.text();
        self.len += text.len();
        self.any |= is_split || !source.is_text() || self.len > MOST_HIDDEN || text.contains("\\u");
        self.texts.push((file, text));
    }

    /// Whether a file besides that of `entry` may be what all of `names` are to be found in.
    pub fn may_have(&self, entry: &Entry<'_>, names: &[&str]) -> bool {
        let mut others = self.texts.iter().filter(|(file, _)| *file != entry.file);
        let has_all = |text: &str| self.any || names.iter().all(|name| text.contains(name));
        others.any(|(_, text)| has_all(text))
    }
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
        Self {
            entries,
            patterns,
            compiled,
            outlines,
            consumer,
            sources,
            hidden: Hidden::default(),
            today: Date::from_unix(0),
            is_thorough: false,
            measured: Vec::new(),
            classes: OnceLock::new(),
            families: OnceLock::new(),
            pairs: OnceLock::new(),
            ids: OnceLock::new(),
            distinct: OnceLock::new(),
        }
    }

    /// How many distinct patterns the registers have, each counted for itself: what is spent on one
    /// register is its part of a run by its part of these.
    fn distinct(&self) -> usize {
        *self.distinct.get_or_init(|| {
            let distinct = |entry: &Entry<'_>| {
                let mut ids: Vec<PatternId> =
                    entry.register.slots().map(|slot| slot.pattern).collect();
                ids.sort_unstable();
                ids.dedup();
                ids.len()
            };
            self.entries.iter().map(distinct).sum()
        })
    }

    /// Holds the patterns of the registers that were asked for against the evidence about their families.
    pub fn measure(&mut self, sets: &'d Sets) {
        let mut ids: Vec<Vec<PatternId>> = vec![Vec::new(); sets.iter().len()];
        for entry in self.entries.iter_mut().filter(|entry| entry.is_asked_for()) {
            entry.measured = sets.number(entry.family);
            if let Some(ids) = entry.measured.and_then(|number| ids.get_mut(number)) {
                ids.extend(entry.register.slots().map(|slot| slot.pattern));
            }
        }
        let measure = |(evidence, ids): (&'d Evidence, Vec<PatternId>)| {
            (!ids.is_empty()).then(|| Measured::new(evidence, self.patterns, ids))
        };
        self.measured = sets.iter().zip(ids).map(measure).collect();
    }

    /// What the patterns of a register claim in the evidence about its family; `None` where there is none.
    pub fn measured(&self, entry: &Entry<'_>) -> Option<&Measured<'d>> {
        self.measured.get(entry.measured?)?.as_ref()
    }

    /// The register in a file.
    pub fn entry_of(&self, file: FileId) -> Option<&Entry<'d>> {
        let at = self.entries.binary_search_by_key(&file, |entry| entry.file).ok()?;
        self.entries.get(at)
    }

    /// The register and the hypothesis at a place of this workspace.
    pub fn at(&self, place: Place) -> (&Entry<'d>, &Hypothesis<'d>) {
        let entry = &self.entries[place.entry];
        (entry, &entry.register.hypotheses[place.hypothesis])
    }

    /// All hypotheses with their places, in order.
    pub fn hypotheses(&self) -> impl Iterator<Item = (Place, &Hypothesis<'d>)> {
        self.entries.iter().enumerate().flat_map(|(entry, of)| {
            let numbered = of.register.hypotheses.iter().enumerate();
            numbered.map(move |(hypothesis, it)| (Place { entry, hypothesis }, it))
        })
    }

    /// The place of an entry's hypothesis.
    pub fn place(&self, entry: &Entry<'_>, hypothesis: usize) -> Place {
        let number = self.entries.partition_point(|each| each.file < entry.file);
        Place { entry: number, hypothesis }
    }

    /// The first hypothesis of that id, whatever its family.
    pub fn find(&self, id: &str) -> Option<Place> {
        let ids = self.ids.get_or_init(|| {
            let mut ids = AHashMap::new();
            for (place, hypothesis) in self.hypotheses() {
                if let Some(id) = hypothesis.id() {
                    ids.entry(id).or_insert(place);
                }
            }
            ids
        });
        ids.get(id).copied()
    }

    /// Which canonical patterns are equal.
    pub fn classes(&self) -> &Classes {
        self.classes.get_or_init(|| Classes::new(self))
    }

    /// The families, and who is linked to whom.
    pub fn families(&self) -> &Families<'d> {
        self.families.get_or_init(|| Families::new(self))
    }

    /// The hypotheses of two families whose canonical patterns are equal.
    pub fn pairs(&self) -> &Pairs {
        self.pairs.get_or_init(|| Pairs::new(self))
    }

    /// Whether [`pairs`](Self::pairs) were asked for, and has more than it would have had
    /// [without being thorough](Self::is_thorough).
    pub fn has_all_pairs(&self) -> bool {
        self.pairs.get().is_some_and(|pairs| pairs.has_more)
    }

    /// Whether a pattern claims a frame; `None` where the consumer refuses it and where the search gave up.
    pub fn claims(&self, id: PatternId, frame: &str) -> Option<bool> {
        let pattern = self.patterns.get(id);
        if pattern.is_literal() {
            return Some(frame.contains(pattern.text()));
        }
        if self.consumer == Consumer::Rust {
            return pattern.rust().ok()?.is_match(frame).ok();
        }
        // An even share, and enough for all but what backtracks without an end.
        let steps = (TOGETHER_STEPS / self.patterns.unusual().len().max(1))
            .clamp(LEAST_STEPS, MAX_STEPS as usize) as u32;
        match self.compiled(id)?.matcher().search_in(frame, steps) {
            Outcome::Match(..) => Some(true),
            Outcome::None => Some(false),
            Outcome::GaveUp => None,
        }
    }

    /// How the patterns of one register lie to each other, found by the first call.
    pub fn relations<'e>(&self, entry: &'e Entry<'_>) -> &'e Relations {
        entry.relations.get_or_init(|| Relations::of(&entry.register, self))
    }

    /// The budget of a question that is asked of each pattern.
    pub fn budget(&self) -> Budget {
        Budget::among(self.patterns.unusual().len())
    }

    /// A pattern as what `overlap` asks questions of, made by the first call. `None` where it has no
    /// [`tree`](Patterns::tree).
    pub fn compiled(&self, id: PatternId) -> Option<&Compiled<'d>> {
        let make = || {
            let ast = self.patterns.tree(id)?;
            Some(Box::new(Compiled::new(ast, self.budget())))
        };
        self.compiled.get(id.0 as usize)?.get_or_init(make).as_deref()
    }

    /// Whether `a` claims a frame that `b` does not, as far as that is plain to see.
    pub fn is_plainly_outside(&self, a: PatternId, b: PatternId) -> bool {
        match (self.member(a), self.member(b)) {
            (Some(a), Some(b)) => is_plainly_outside(a, b),
            _ => false,
        }
    }

    /// A pattern for a look at many; `None` where it has no [`tree`](Patterns::tree).
    fn source(&self, id: PatternId) -> Option<overlap::Source<'_>> {
        let pattern = self.patterns.get(id);
        if pattern.is_literal() && !pattern.text().is_empty() && !has_control(pattern.text()) {
            return Some(overlap::Source::Text(pattern));
        }
        self.patterns.tree(id).map(overlap::Source::Tree)
    }

    /// A pattern for a look at a few of them; `None` where it has no [`tree`](Patterns::tree).
    fn member(&self, id: PatternId) -> Option<Member<'_>> {
        let pattern = self.patterns.get(id);
        if pattern.is_literal() && !has_control(pattern.text()) {
            return Some(Member::Text(pattern.text()));
        }
        let look = || Some(Box::new(Outline::new(self.patterns.tree(id)?)));
        let outline = self.outlines.get(id.0 as usize)?.get_or_init(look).as_deref()?;
        Some(match outline.plain() {
            Some(text) => Member::Text(text),
            None => Member::Other(outline),
        })
    }
}

/// The distinct patterns of a run. What is made of one is made once, by whoever asks first.
#[derive(Debug)]
pub struct Patterns<'d> {
    list: Vec<Pattern<'d>>,
    consumer: Consumer,
    unusual: OnceLock<Vec<PatternId>>,
}

/// The steps of the matcher that a search for one frame by each pattern of a run may take, about.
const TOGETHER_STEPS: usize = 200_000_000;

/// The steps that one search always may take.
const LEAST_STEPS: usize = 20_000;

/// From how many patterns on other threads are worth their start.
const MANY: usize = 4096;

impl<'d> Patterns<'d> {
    /// Numbers the distinct texts in the order of their first place and gives each slot its number.
    pub fn intern(entries: &mut [Entry<'d>], consumer: Consumer) -> Self {
        let slots = entries.iter().map(|entry| entry.register.slots().count()).sum();
        let mut numbers: AHashMap<&str, PatternId> = AHashMap::with_capacity(slots);
        let mut list = Vec::with_capacity(slots);
        for slot in entries.iter_mut().flat_map(|entry| entry.register.slots_mut()) {
            let text = slot.value;
            slot.pattern = *numbers.entry(text).or_insert_with(|| {
                list.push(text);
                PatternId(list.len() as u32 - 1)
            });
        }
        let make = |text: &&'d str| Pattern::new(text, consumer);
        let list = if list.len() < MANY {
            list.iter().map(make).collect()
        } else {
            list.par_iter().map(make).collect()
        };
        Self { list, consumer, unusual: OnceLock::new() }
    }

    /// These patterns, which need not be distinct.
    #[cfg(test)]
    fn of(list: impl IntoIterator<Item = Pattern<'d>>) -> Self {
        let list = list.into_iter().collect();
        Self { list, consumer: Consumer::default(), unusual: OnceLock::new() }
    }

    /// The pattern of that number.
    pub fn get(&self, id: PatternId) -> &Pattern<'d> {
        &self.list[id.0 as usize]
    }

    /// The tree of a pattern whose consumer reads it as CPython does. `None` where CPython refuses it, and where
    /// fancy-regex may read it otherwise and is the consumer: then nothing can be said of its claims.
    pub fn tree(&self, id: PatternId) -> Option<&Ast> {
        let pattern = self.get(id);
        let ast = pattern.ast().ok()?;
        let is_alike = || plain_in_rust(pattern.text(), ast);
        (self.consumer != Consumer::Rust || is_alike()).then_some(ast)
    }

    /// How many patterns have no [`tree`](Self::tree) though they are whole: fancy-regex may read them otherwise.
    pub fn unlike(&self) -> usize {
        if self.consumer != Consumer::Rust {
            return 0;
        }
        let all = (0..self.list.len() as u32).map(PatternId);
        all.filter(|&id| {
            let pattern = self.get(id);
            !pattern.is_literal() && pattern.rust_fault().is_none() && self.tree(id).is_none()
        })
        .count()
    }

    /// Texts, none empty, of which each frame that a pattern claims contains at least one; none where that is not
    /// plain to see.
    fn required(&self, id: PatternId) -> impl Iterator<Item = &str> {
        let pattern = self.get(id);
        let (text, texts) = match pattern.is_literal() {
            true => (Some(pattern.text()).filter(|text| !text.is_empty()), &[][..]),
            false if self.tree(id).is_some() => (None, pattern.required()),
            false => (None, &[][..]),
        };
        text.into_iter().chain(texts.iter().map(String::as_str))
    }

    /// Those that are more than text that a frame can have: the others need no look.
    pub fn unusual(&self) -> &[PatternId] {
        self.unusual.get_or_init(|| {
            let is_unusual = |(_, pattern): &(usize, &Pattern<'_>)| {
                let text = pattern.text();
                text.is_empty() || !pattern.is_literal() || may_have_control(text)
            };
            let list = self.list.iter().enumerate().filter(is_unusual);
            list.map(|(number, _)| PatternId(number as u32)).collect()
        })
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

/// The family that a register is about. `None` where it says so itself in a way that cannot be read. `configured` are
/// the families that the configuration gives to files, by source.
pub fn family<'a>(
    file: FileId,
    source: &'a Source,
    document: &'a Document<'_>,
    register: &Register<'a>,
    configured: &'a [Option<String>],
) -> Option<&'a str> {
    let has_member = document.root().is_some_and(|top| top.get("family").is_some());
    match register.family.map(Str::value) {
        Some("") => {}
        Some(family) => return Some(family),
        None if has_member => return None,
        None => {}
    }
    Some(given_family(file, source, configured))
}

/// The family of a register that does not say so itself.
fn given_family<'a>(file: FileId, source: &'a Source, configured: &'a [Option<String>]) -> &'a str {
    let configured = configured.get(file.index()).and_then(Option::as_deref);
    configured.unwrap_or_else(|| file_stem(source.path()))
}

/// The name of a file without its folder and its last ending.
pub fn file_stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// Whether `text` may have a control character; never wrong where it says no.
fn may_have_control(text: &str) -> bool {
    // Without a way out in between, many bytes are looked at in one step.
    let marks = |byte: u8| u8::from(byte < 0x20) | u8::from(byte == 0x7f) | u8::from(byte == 0xc2);
    text.bytes().fold(0, |found, byte| found | marks(byte)) != 0
}

/// Whether `text` has a control character.
fn has_control(text: &str) -> bool {
    may_have_control(text) && text.chars().any(char::is_control)
}
