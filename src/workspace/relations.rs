//! How the patterns of one register lie to each other: what the rules about pairs ask, found once for
//! all of them.
//!
//! Uses `overlap`, `pattern` and `register`.

use std::collections::BTreeMap;

use ahash::AHashMap;

use super::Workspace;
use crate::overlap::{
    Answer, Budget, Compiled, Finding, Index, Kind, Member, Reason, Relation, Source, Wanted, few,
};
use crate::pattern::ast::Ast;
use crate::pattern::measure::surely_not_everywhere;
use crate::register::{PatternId, Register};

/// Up to how many patterns are looked at pair by pair.
const FEW: usize = 64;

/// The patterns of one register that are at odds.
///
/// Patterns are numbered in the order of their first use; of equal ones the first stands for all.
/// Patterns that Python refuses and patterns that claim every frame or none are left out: a rule says so
/// of each, and what they have in common with all others says nothing more.
#[derive(Debug, Default)]
pub struct Relations {
    /// The number of a pattern that is not left out.
    numbers: Numbers,
    /// By number: the first one that is equal to it, maybe itself.
    stands: Vec<usize>,
    /// The pairs that are at odds, each of two that stand for themselves, the lower number first.
    pairs: BTreeMap<(usize, usize), Relation>,
    /// By number: those that it is in a pair with.
    neighbours: AHashMap<usize, Vec<usize>>,
    /// Those of which nothing is known, and why.
    unknown: Vec<(usize, Reason)>,
    /// Those that may be at odds with more than were looked at, and with how many.
    more: Vec<(usize, usize)>,
    /// How many pairs were not looked at because there are too many.
    left_out: usize,
    /// Whether some pattern is used more than once.
    is_shared: bool,
}

/// The patterns of a register, numbered.
#[derive(Debug, Default)]
struct Numbers {
    /// The patterns, sorted.
    ids: Vec<PatternId>,
    /// For each its number; [`Numbers::NONE`] where it is left out.
    numbers: Vec<u32>,
}

impl Numbers {
    const NONE: u32 = u32::MAX;

    /// Those of a register's slots, without numbers yet.
    fn of(slots: impl Iterator<Item = PatternId>) -> Self {
        let mut ids: Vec<PatternId> = slots.collect();
        // Most are sorted: patterns have their numbers in the order of their first place.
        ids.sort_unstable();
        ids.dedup();
        let numbers = vec![Self::NONE; ids.len()];
        Self { ids, numbers }
    }

    fn place(&self, id: PatternId) -> Option<usize> {
        // And most follow each other.
        let place = id.0.checked_sub(self.ids.first()?.0)? as usize;
        if self.ids.get(place) == Some(&id) {
            return Some(place);
        }
        self.ids.binary_search(&id).ok()
    }

    fn get(&self, id: PatternId) -> Option<usize> {
        let number = self.numbers.get(self.place(id)?)?;
        (*number != Self::NONE).then_some(*number as usize)
    }
}

/// Where a pattern is used in its register.
#[derive(Debug, Default, Clone)]
struct Uses {
    canonical: bool,
    /// The hypotheses that have it as a subcomponent, in order: the first of them, and the others. Most have
    /// one at most.
    subcomponent_of: (Option<usize>, Vec<usize>),
}

impl Uses {
    /// What the rules want to know of a pair.
    fn wanted(&self, other: &Self) -> Wanted {
        let is_subcomponent = |uses: &Self| uses.subcomponent_of.0.is_some();
        if self.canonical && other.canonical {
            Wanted::Relation
        } else if (self.canonical && is_subcomponent(other))
            || (other.canonical && is_subcomponent(self))
            || self.meets(other)
        {
            Wanted::Inclusion
        } else {
            Wanted::Nothing
        }
    }

    /// Whether both are subcomponents of one hypothesis.
    fn meets(&self, other: &Self) -> bool {
        let ((Some(own), own_rest), (Some(theirs), their_rest)) =
            (&self.subcomponent_of, &other.subcomponent_of)
        else {
            return false;
        };
        own == theirs
            || their_rest.binary_search(own).is_ok()
            || own_rest.binary_search(theirs).is_ok()
            || meet(own_rest, their_rest)
    }

    /// Adds a hypothesis that has it as a subcomponent; none before the last that was added.
    fn push(&mut self, hypothesis: usize) {
        let (first, rest) = &mut self.subcomponent_of;
        let Some(first) = first else {
            *first = Some(hypothesis);
            return;
        };
        if *rest.last().unwrap_or(first) != hypothesis {
            rest.push(hypothesis);
        }
    }

    fn add(&mut self, other: Self) {
        self.canonical |= other.canonical;
        let mut all: Vec<usize> =
            [std::mem::take(&mut self.subcomponent_of), other.subcomponent_of]
                .into_iter()
                .flat_map(|(first, rest)| first.into_iter().chain(rest))
                .collect();
        all.sort_unstable();
        for hypothesis in all {
            self.push(hypothesis);
        }
    }
}

/// Whether a pattern claims every frame.
fn claims_everything(workspace: &Workspace<'_>, id: PatternId) -> bool {
    let has_all = |compiled: &Compiled<'_>| compiled.claims_everything() == Answer::Yes;
    let may = |ast: &Ast| !surely_not_everywhere(&ast.root);
    !workspace.patterns.get(id).is_literal()
        && workspace.patterns.tree(id).is_some_and(may)
        && workspace.compiled(id).is_some_and(has_all)
}

/// Whether two lists in order have a number in common.
fn meet(a: &[usize], b: &[usize]) -> bool {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    few.iter().any(|number| many.binary_search(number).is_ok())
}

impl Relations {
    /// The relations of a register's patterns.
    pub(super) fn of(register: &Register<'_>, workspace: &Workspace<'_>) -> Self {
        let mut numbers = Numbers::of(register.slots().map(|slot| slot.pattern));
        let mut ids = Vec::with_capacity(numbers.ids.len());
        let mut uses: Vec<Uses> = Vec::with_capacity(numbers.ids.len());
        let mut number = |id: PatternId, uses: &mut Vec<Uses>| {
            let place = numbers.place(id)?;
            let number = numbers.numbers.get_mut(place)?;
            if *number != Numbers::NONE {
                return Some(*number as usize);
            }
            let pattern = workspace.patterns.get(id);
            // The empty pattern claims every frame, and is cheap to tell from the others.
            if pattern.text().is_empty()
                || (!pattern.is_literal() && workspace.patterns.tree(id).is_none())
            {
                return None;
            }
            *number = ids.len() as u32;
            ids.push(id);
            uses.push(Uses::default());
            Some(ids.len() - 1)
        };
        let mut slots = 0;
        for (at, hypothesis) in register.hypotheses.iter().enumerate() {
            if let Some(slot) = &hypothesis.canonical
                && let Some(number) = number(slot.pattern, &mut uses)
            {
                slots += 1;
                uses[number].canonical = true;
            }
            for subcomponent in &hypothesis.subcomponents {
                let Some(number) = number(subcomponent.slot.pattern, &mut uses) else { continue };
                slots += 1;
                uses[number].push(at);
            }
        }
        let mut relations = Self {
            stands: (0..ids.len()).collect(),
            numbers,
            is_shared: slots > ids.len(),
            ..Self::default()
        };
        if ids.len() <= FEW {
            relations.look_at_few(&ids, &uses, workspace);
        } else {
            let is_wanted = |number: &usize| !claims_everything(workspace, ids[*number]);
            let all: Vec<usize> = (0..ids.len()).filter(is_wanted).collect();
            let findings = relations.ask_index(&all, &ids, &mut uses, workspace, None);
            relations.take(findings);
        }
        relations
    }

    /// All pairs of a few patterns, one by one.
    fn look_at_few(&mut self, ids: &[PatternId], uses: &[Uses], workspace: &Workspace<'_>) {
        let members: Vec<Member<'_>> = ids.iter().filter_map(|&id| workspace.member(id)).collect();
        let found = few(&members, &|number| workspace.compiled(ids[number]), &|a, b| {
            uses[a].wanted(&uses[b])
        });
        let mut findings = found.findings;
        if !found.open.is_empty() {
            let mut involved: Vec<usize> = found.open.iter().flat_map(|&(a, b)| [a, b]).collect();
            involved.sort_unstable();
            involved.dedup();
            involved.retain(|&number| !claims_everything(workspace, ids[number]));
            let mut theirs: Vec<Uses> = uses.to_vec();
            let open = Some(found.open.as_slice());
            findings.append(&mut self.ask_index(&involved, ids, &mut theirs, workspace, open));
            findings.sort_by_key(|finding| (finding.a, finding.b));
        }
        self.take(findings);
    }

    /// What the index finds among those of `ids` that are `involved`, by their numbers, and in `only` those pairs.
    fn ask_index(
        &mut self,
        involved: &[usize],
        ids: &[PatternId],
        uses: &mut [Uses],
        workspace: &Workspace<'_>,
        only: Option<&[(usize, usize)]>,
    ) -> Vec<Finding> {
        let sources: Vec<Source<'_>> =
            involved.iter().filter_map(|&number| workspace.source(ids[number])).collect();
        let part = (self.numbers.ids.len(), workspace.distinct());
        let index = Index::part_of(&sources, Budget::default(), part);
        for group in index.same() {
            let Some((&first, rest)) = group.split_first() else { continue };
            let first = involved[first];
            for &other in rest {
                let other = involved[other];
                self.stands[other] = first;
                let theirs = std::mem::take(&mut uses[other]);
                uses[first].add(theirs);
            }
        }
        let uses = &*uses;
        let found = index.pairs_where(&|a, b| {
            let (a, b) = (involved[a], involved[b]);
            if only.is_none_or(|pairs| pairs.binary_search(&(a, b)).is_ok()) {
                uses[a].wanted(&uses[b])
            } else {
                Wanted::Nothing
            }
        });
        let number = |at: usize| involved[at];
        self.unknown = found.unknown.into_iter().map(|(at, why)| (number(at), why)).collect();
        self.more = found.more.into_iter().map(|(at, count)| (number(at), count)).collect();
        self.left_out = found.left_out;
        let mut findings = found.findings;
        for finding in &mut findings {
            (finding.a, finding.b) = (number(finding.a), number(finding.b));
        }
        findings
    }

    /// Sorts what the index found, by lower and then higher number, into equal ones and pairs.
    fn take(&mut self, findings: Vec<Finding>) {
        let (equal, rest): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.relation.kind == Kind::Equal);
        for finding in equal {
            let first = self.stands[finding.a];
            // The first of all equal ones comes first, and is in a finding with each of the others.
            if first == finding.a && self.stands[finding.b] == finding.b {
                self.stands[finding.b] = first;
            }
        }
        for at in 0..self.stands.len() {
            // By way of one of the same text.
            self.stands[at] = self.stands[self.stands[at]];
        }
        for finding in rest {
            if self.stands[finding.a] == finding.a && self.stands[finding.b] == finding.b {
                self.neighbours.entry(finding.a).or_default().push(finding.b);
                self.neighbours.entry(finding.b).or_default().push(finding.a);
                self.pairs.insert((finding.a, finding.b), finding.relation);
            }
        }
    }

    /// Whether no two slots are at odds: their patterns all differ, and nothing was found between them.
    pub fn is_quiet(&self) -> bool {
        let stand_alone = || self.stands.iter().enumerate().all(|(at, &stand)| at == stand);
        !self.is_shared && self.pairs.is_empty() && stand_alone()
    }

    /// The number of the pattern that stands for `id`. `None` where it is left out.
    pub fn stand(&self, id: PatternId) -> Option<usize> {
        self.numbers.get(id).map(|number| self.stands[number])
    }

    /// How two patterns lie to each other, seen from the first. `None` where they are not at odds in a way
    /// that a rule asks about, and where one is left out.
    pub fn between(&self, a: PatternId, b: PatternId) -> Option<Lie<'_>> {
        let (a, b) = (self.stand(a)?, self.stand(b)?);
        if a == b {
            return Some(Lie { kind: Kind::Equal, relation: None, is_flipped: false });
        }
        let relation = self.pairs.get(&(a.min(b), a.max(b)))?;
        Some(Lie::new(relation, a > b))
    }

    /// All pairs that are at odds, each of two that stand for themselves, by lower and then higher number.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, &Relation)> {
        self.pairs.iter().map(|(&(a, b), relation)| (a, b, relation))
    }

    /// The patterns that one is in a pair with, in order.
    pub fn neighbours(&self, number: usize) -> &[usize] {
        self.neighbours.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Patterns that cannot be compared with any other, and why.
    pub fn unknown(&self) -> &[(usize, Reason)] {
        &self.unknown
    }

    /// Patterns that may be at odds with more than were looked at, and with how many.
    pub fn more(&self) -> &[(usize, usize)] {
        &self.more
    }

    /// How many pairs were not looked at because there are too many.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

/// How two patterns lie to each other.
#[derive(Debug, Clone)]
pub struct Lie<'e> {
    /// As what, seen from the first, A.
    pub kind: Kind,
    /// `None` where they are equal.
    relation: Option<&'e Relation>,
    /// Whether the relation's A is the second one.
    is_flipped: bool,
}

/// A frame, and in it the matches of two patterns, in scalar values.
pub type Places<'e> = (&'e str, (usize, usize), (usize, usize));

impl<'e> Lie<'e> {
    /// As `relation` says, or with its sides changed.
    pub fn new(relation: &'e Relation, is_flipped: bool) -> Self {
        let kind = match (&relation.kind, is_flipped) {
            (Kind::AWithinB, true) => Kind::BWithinA,
            (Kind::BWithinA, true) => Kind::AWithinB,
            (kind, _) => kind.clone(),
        };
        Self { kind, relation: Some(relation), is_flipped }
    }

    /// The frame that shows it, with the matches of the first and of the second.
    pub fn places(&self) -> Option<Places<'e>> {
        let witness = self.relation?.witness.as_ref()?;
        let (a, b) = (witness.a, witness.b);
        let (first, second) = if self.is_flipped { (b, a) } else { (a, b) };
        Some((&witness.text, first, second))
    }

    /// The same, seen from the second.
    #[must_use]
    pub fn flipped(&self) -> Self {
        match self.relation {
            Some(relation) => Self::new(relation, !self.is_flipped),
            None => self.clone(),
        }
    }
}
