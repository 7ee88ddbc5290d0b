//! What the rules about pairs of patterns share: which hypotheses a pair is about, how one that is at
//! odds with many becomes one finding, and how a witness is shown.
//!
//! Uses `workspace`, `overlap`, `register` and `diagnostic`.

use ahash::AHashMap;

use super::{label, named};
use crate::diagnostic::{Label, Mark, Witness};
use crate::overlap::{Kind, crowds};
use crate::register::{Hypothesis, Slot};
use crate::workspace::{Entry, Lie, Places, Relations};

/// With more others than this, a pattern gets one finding instead of one with each of them.
pub(super) const CROWD: usize = 4;

/// How many of the others such a finding shows.
pub(super) const EXAMPLES: usize = 3;

/// A hypothesis with its canonical pattern.
#[derive(Clone, Copy)]
pub(super) struct Canonical<'e> {
    /// Its place in the register.
    pub(super) at: usize,
    pub(super) hypothesis: &'e Hypothesis<'e>,
    pub(super) slot: &'e Slot<'e>,
}

impl<'e> Canonical<'e> {
    fn of(entry: &'e Entry<'_>, at: usize) -> Option<Self> {
        let hypothesis = entry.register.hypotheses.get(at)?;
        Some(Self { at, hypothesis, slot: hypothesis.canonical.as_ref()? })
    }

    /// Its name in a sentence.
    pub(super) fn name(&self) -> String {
        named(self.hypothesis)
    }

    /// Its pattern's place.
    pub(super) fn label(&self, entry: &Entry<'_>, message: impl Into<String>) -> Label {
        label(entry.file, self.slot.text.span(), message)
    }
}

/// The canonical patterns of a register by the pattern that stands for them: of equal ones, the first.
pub(super) fn canonicals<'e>(
    entry: &'e Entry<'_>,
    relations: &Relations,
) -> AHashMap<usize, Canonical<'e>> {
    let mut first = AHashMap::new();
    for at in 0..entry.register.hypotheses.len() {
        if let Some(canonical) = Canonical::of(entry, at)
            && let Some(stand) = relations.stand(canonical.slot.pattern)
        {
            first.entry(stand).or_insert(canonical);
        }
    }
    first
}

/// Two canonical patterns that are at odds, in the order of the register.
pub(super) struct Pair<'e> {
    pub(super) earlier: Canonical<'e>,
    pub(super) later: Canonical<'e>,
    /// How the earlier one lies to the later one.
    pub(super) lie: Lie<'e>,
}

impl<'e> Pair<'e> {
    /// The other one of the two.
    pub(super) fn other(&self, one: &Canonical<'_>) -> Canonical<'e> {
        if self.earlier.at == one.at { self.later } else { self.earlier }
    }

    /// The frame that shows it.
    pub(super) fn witness(&self, message: &str) -> Option<Witness> {
        witness(&self.lie, message, &self.earlier.name(), &self.later.name())
    }

    /// The frame that shows it, with the matches of `one` and of the other.
    pub(super) fn places(&self, one: &Canonical<'_>) -> Option<Places<'e>> {
        if self.earlier.at == one.at { self.lie.places() } else { self.lie.flipped().places() }
    }
}

/// What a rule about pairs has to report.
pub(super) enum Group<'e> {
    /// One pair.
    Pair(Pair<'e>),
    /// One that is at odds with many, by the order of the others.
    Crowd(Canonical<'e>, Vec<Pair<'e>>),
}

/// The pairs of canonical patterns of one register whose relation is `wanted`, grouped.
pub(super) fn groups<'e>(
    entry: &'e Entry<'_>,
    relations: &'e Relations,
    wanted: fn(&Kind) -> bool,
) -> Vec<Group<'e>> {
    let first = canonicals(entry, relations);
    let mut pairs: Vec<Option<Pair<'e>>> = relations
        .pairs()
        .filter(|(_, _, relation)| wanted(&relation.kind))
        .filter_map(|(a, b, relation)| {
            let (a, b) = (*first.get(&a)?, *first.get(&b)?);
            let is_flipped = a.at > b.at;
            let (earlier, later) = if is_flipped { (b, a) } else { (a, b) };
            Some(Some(Pair { earlier, later, lie: Lie::new(relation, is_flipped) }))
        })
        .collect();
    let places: Vec<_> =
        pairs.iter().flatten().map(|pair| (pair.earlier.at, pair.later.at)).collect();
    let (crowds, alone) = crowds(&places, CROWD);
    let mut groups = Vec::new();
    for crowd in crowds {
        let Some(one) = Canonical::of(entry, crowd.pattern) else { continue };
        let take = |at: usize| pairs.get_mut(at).and_then(Option::take);
        groups.push(Group::Crowd(one, crowd.findings.into_iter().filter_map(take).collect()));
    }
    let alone = alone.into_iter().filter_map(|at| pairs.get_mut(at).and_then(Option::take));
    groups.extend(alone.map(Group::Pair));
    groups
}

/// The frame that shows how two patterns lie to each other. `first` and `second` say whose matches they are.
pub(super) fn witness(lie: &Lie<'_>, message: &str, first: &str, second: &str) -> Option<Witness> {
    let (frame, of_first, of_second) = lie.places()?;
    let mark = |(start, end): (usize, usize), of: &str| Mark { start, end, message: of.to_owned() };
    Some(Witness {
        message: message.to_owned(),
        frame: frame.to_owned(),
        marks: vec![mark(of_first, first), mark(of_second, second)],
    })
}

/// What is said of the others of a crowd that are not shown.
pub(super) fn more(names: impl Iterator<Item = String>) -> Option<String> {
    const LISTED: usize = 8;
    let mut names = names.skip(EXAMPLES);
    let listed: Vec<_> = names.by_ref().take(LISTED).collect();
    let rest = names.count();
    match (listed.is_empty(), rest) {
        (true, _) => None,
        (false, 0) => Some(format!("the others are {}", listed.join(", "))),
        (false, _) => Some(format!("the others are {} and {rest} more", listed.join(", "))),
    }
}
