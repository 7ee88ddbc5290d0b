//! The families of a run, their links, and the hypotheses that claim the same frames across them.
//!
//! Uses `register`, `overlap` and the other indexes.

use std::sync::OnceLock;

use ahash::{AHashMap, AHashSet};

use super::{Claims, Place, Workspace};
use crate::overlap::Answer;
use crate::register::{Link, PatternId};

/// How many undeclared counterparts of one hypothesis are kept, among those before it.
const MOST_PARTNERS: usize = 8;

/// How many of those before it are looked at for them.
const MOST_LOOKED_AT: usize = 200;

/// Where all of them are wanted, so many are kept together, if each hypothesis has its part of that many.
const MOST_PAIRS: usize = 20_000;

/// So many hypotheses or links are looked through one by one.
const FEW: usize = 32;

/// One model family.
#[derive(Debug)]
pub struct Family<'d> {
    /// Its name.
    pub name: &'d str,
    /// Its hypotheses by id; of a repeated id the first.
    ids: OnceLock<AHashMap<&'d str, Place>>,
    /// Its registers, by index in [`Workspace::entries`].
    pub entries: Vec<usize>,
    /// Whether all its registers could be read, so that an id that is not in it is not there.
    pub is_whole: bool,
    /// Who in it claims what.
    owners: OnceLock<Own<'d>>,
}

/// The patterns of one family.
#[derive(Debug)]
struct Own<'d> {
    claims: Claims<'d>,
    /// By the number of the pattern: where it stands first, as a canonical one if it is one at all.
    places: Vec<(PatternId, Place)>,
}

/// All families of a run.
#[derive(Debug)]
pub struct Families<'d> {
    list: Vec<Family<'d>>,
    by_name: AHashMap<&'d str, usize>,
    /// By entry.
    of: Vec<Option<usize>>,
    /// Whom a hypothesis names in its links, for those that name more than [`FEW`].
    named: AHashSet<(Place, Place)>,
    /// Who claims what.
    owners: OnceLock<Owners<'d>>,
    lines: OnceLock<Lines>,
}

/// The patterns of all families.
#[derive(Debug)]
struct Owners<'d> {
    claims: Claims<'d>,
    /// By the number of a pattern, for the first family that has it where it stands first, as a
    /// canonical one if it is one there at all.
    first: Vec<Option<Owner>>,
    /// Likewise for each other family that has it.
    rest: AHashMap<PatternId, Vec<Owner>>,
    /// The patterns in the order of their first place.
    order: Vec<PatternId>,
}

/// A frame of each canonical pattern, line by line.
#[derive(Debug, Default)]
struct Lines {
    frames: String,
    /// Where in `frames` the lines begin, and whose they are.
    starts: Vec<(usize, PatternId)>,
}

#[derive(Debug, Clone, Copy)]
struct Owner {
    family: usize,
    place: Place,
    is_canonical: bool,
}

/// Whose claims are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those of this family.
    Family(usize),
    /// Those of every family but this one.
    AllBut(usize),
}

impl Scope {
    fn has(self, family: usize) -> bool {
        match self {
            Self::Family(one) => one == family,
            Self::AllBut(one) => one != family,
        }
    }
}

/// Who claims the frames of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// This hypothesis claims all of them, with that pattern.
    All(Place, PatternId),
    /// None claims all of them.
    Nobody,
    /// It is not known.
    Unknown,
}

impl<'d> Families<'d> {
    pub(super) fn new(workspace: &Workspace<'d>) -> Self {
        let mut families = Self {
            list: Vec::new(),
            by_name: AHashMap::new(),
            of: Vec::with_capacity(workspace.entries.len()),
            named: AHashSet::default(),
            owners: OnceLock::new(),
            lines: OnceLock::new(),
        };
        for (number, entry) in workspace.entries.iter().enumerate() {
            let Some(name) = entry.family else {
                families.of.push(None);
                continue;
            };
            let family = *families.by_name.entry(name).or_insert_with(|| {
                let is_whole = !workspace.hidden.unread.iter().any(|unread| unread == name);
                families.list.push(Family {
                    name,
                    ids: OnceLock::new(),
                    entries: Vec::new(),
                    is_whole,
                    owners: OnceLock::new(),
                });
                families.list.len() - 1
            });
            families.of.push(Some(family));
            let family = &mut families.list[family];
            family.is_whole &= entry.is_whole();
            family.entries.push(number);
        }
        for (place, hypothesis) in workspace.hypotheses() {
            if hypothesis.named() > FEW {
                let named =
                    hypothesis.links.iter().flat_map(|link| families.linked(workspace, link));
                let named: Vec<Place> = named.collect();
                families.named.extend(named.into_iter().map(|other| (place, other)));
            }
        }
        families
    }

    /// The number of the family of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The number of the family that a hypothesis is of.
    pub fn of(&self, place: Place) -> Option<usize> {
        self.of.get(place.entry).copied().flatten()
    }

    /// The family of that number.
    pub fn get(&self, family: usize) -> &Family<'d> {
        &self.list[family]
    }

    /// All of them, in the order of their first register.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Family<'d>)> {
        self.list.iter().enumerate()
    }

    /// Whether a link of the hypothesis at `from` names the one at `to`.
    pub fn names(&self, workspace: &Workspace<'d>, from: Place, to: Place) -> bool {
        let (_, hypothesis) = workspace.at(from);
        if hypothesis.named() > FEW {
            return self.named.contains(&(from, to));
        }
        hypothesis.links.iter().any(|link| self.linked(workspace, link).any(|other| other == to))
    }

    /// The hypotheses that a link names and that are there.
    fn linked(&self, workspace: &Workspace<'d>, link: &Link<'d>) -> impl Iterator<Item = Place> {
        let family = self.find(link.family.value()).and_then(|family| self.list.get(family));
        let found = family
            .into_iter()
            .flat_map(|family| link.ids.iter().filter_map(|id| family.find(workspace, id.value())));
        found.collect::<Vec<_>>().into_iter()
    }

    /// The number of the family of that name, whatever its case; the first of several.
    pub fn find_ignoring_case(&self, name: &str) -> Option<usize> {
        let same = |family: &Family<'_>| family.name.eq_ignore_ascii_case(name);
        self.find(name).or_else(|| self.list.iter().position(same))
    }

    /// Who within `scope` claims all that the canonical pattern `id` of the hypothesis at `own` claims.
    pub fn who_claims(
        &self,
        workspace: &Workspace<'d>,
        id: PatternId,
        own: Place,
        scope: Scope,
    ) -> Claim {
        let Some(frame) = super::classes::frame_of(workspace, id) else { return Claim::Unknown };
        // Of one family is asked by links that say "none there": most families are small.
        let candidates: Vec<(PatternId, Place)> = match scope {
            Scope::Family(family) => self.get(family).candidates(workspace, frame, own),
            Scope::AllBut(_) => {
                let all = self.owners.get_or_init(|| self.index(workspace));
                let candidates = all.claims.candidates(frame).into_iter();
                candidates.filter_map(|id| Some((id, all.find(id, own, scope)?.place))).collect()
            }
        };
        let mut is_known = true;
        for (other, place) in candidates {
            match workspace.is_within(id, other) {
                Some(true) => return Claim::All(place, other),
                Some(false) => {}
                None => is_known = false,
            }
        }
        if is_known { Claim::Nobody } else { Claim::Unknown }
    }

    /// Whether the canonical pattern `id` of the hypothesis at `own` claims all that some canonical
    /// pattern within `scope` claims; `None` where that is not known.
    pub fn claims_some(
        &self,
        workspace: &Workspace<'d>,
        id: PatternId,
        own: Place,
        scope: Scope,
    ) -> Option<bool> {
        let owners = self.owners.get_or_init(|| self.index(workspace));
        let lines = self.lines.get_or_init(|| Lines::new(workspace, owners));
        let mut is_known = true;
        for other in lines.with_text_of(workspace, id) {
            if !owners.find(other, own, scope).is_some_and(|owner| owner.is_canonical) {
                continue;
            }
            match workspace.is_within(other, id) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(false)
    }

    fn index(&self, workspace: &Workspace<'d>) -> Owners<'d> {
        let mut first: Vec<Option<Owner>> = vec![None; workspace.patterns.len()];
        let mut rest: AHashMap<PatternId, Vec<Owner>> = AHashMap::new();
        let mut order = Vec::with_capacity(first.len());
        for (place, hypothesis) in workspace.hypotheses() {
            let Some(family) = self.of(place) else { continue };
            for (number, slot) in hypothesis.slots().enumerate() {
                let is_canonical = number == 0 && hypothesis.canonical.is_some();
                let own = Owner { family, place, is_canonical };
                let Some(first) = first.get_mut(slot.pattern.0 as usize) else { continue };
                let Some(first) = first else {
                    *first = Some(own);
                    order.push(slot.pattern);
                    continue;
                };
                let same = if first.family == family {
                    first
                } else {
                    let owners = rest.entry(slot.pattern).or_default();
                    // The registers of a family need not follow each other, but mostly do.
                    let Some(at) = owners.iter().rposition(|owner| owner.family == family) else {
                        owners.push(own);
                        continue;
                    };
                    &mut owners[at]
                };
                if is_canonical && !same.is_canonical {
                    *same = own;
                }
            }
        }
        let claims = Claims::new(workspace.patterns, order.iter().copied());
        Owners { claims, first, rest, order }
    }
}

impl<'d> Family<'d> {
    /// The patterns that may claim `frame`, among them all that do, by number, and where each stands first, as a
    /// canonical one if it is one at all; not what stands first at `own`.
    fn candidates(
        &self,
        workspace: &Workspace<'d>,
        frame: &str,
        own: Place,
    ) -> Vec<(PatternId, Place)> {
        // Asked once or twice, a small family is looked through more quickly than filed.
        if let [entry] = self.entries.as_slice()
            && let Some(of) = workspace.entries.get(*entry)
            && of.register.hypotheses.len() <= FEW
        {
            let may_claim = |id: PatternId| {
                let pattern = workspace.patterns.get(id);
                if pattern.is_literal() {
                    return frame.contains(pattern.text());
                }
                let mut texts = workspace.patterns.required(id).peekable();
                pattern.python_fault().is_none()
                    && (texts.peek().is_none() || texts.any(|text| frame.contains(text)))
            };
            let found = self.first_places(workspace, may_claim).into_iter();
            return found.filter(|(_, place)| *place != own).collect();
        }
        let all = self.owners.get_or_init(|| {
            let places = self.first_places(workspace, |_| true);
            let claims = Claims::new(workspace.patterns, places.iter().map(|(id, _)| *id));
            Own { claims, places }
        });
        let candidates = all.claims.candidates(frame).into_iter();
        candidates.filter_map(|id| Some((id, all.find(id, own)?))).collect()
    }

    /// Those of its patterns for which that `holds`, by number, and where each stands first, as a canonical one if it is
    /// one at all.
    fn first_places(
        &self,
        workspace: &Workspace<'d>,
        holds: impl Fn(PatternId) -> bool,
    ) -> Vec<(PatternId, Place)> {
        let mut slots: Vec<(PatternId, bool, Place)> = Vec::new();
        for &entry in &self.entries {
            let Some(of) = workspace.entries.get(entry) else { continue };
            for (number, hypothesis) in of.register.hypotheses.iter().enumerate() {
                let place = Place { entry, hypothesis: number };
                for (at, slot) in hypothesis.slots().enumerate() {
                    let is_canonical = at == 0 && hypothesis.canonical.is_some();
                    if holds(slot.pattern) {
                        slots.push((slot.pattern, !is_canonical, place));
                    }
                }
            }
        }
        slots.sort_unstable();
        slots.dedup_by_key(|slot| slot.0);
        slots.into_iter().map(|(id, _, place)| (id, place)).collect()
    }
}

impl Own<'_> {
    /// Who has a pattern; not `own` itself.
    fn find(&self, id: PatternId, own: Place) -> Option<Place> {
        let at = self.places.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.places.get(at).map(|(_, place)| *place).filter(|place| *place != own)
    }
}

impl Owners<'_> {
    /// Who has a pattern within a scope; not `own` itself.
    fn find(&self, id: PatternId, own: Place, scope: Scope) -> Option<Owner> {
        self.of(id).find(|owner| scope.has(owner.family) && owner.place != own).copied()
    }

    /// All owners of a pattern, in order.
    fn of(&self, id: PatternId) -> impl Iterator<Item = &Owner> {
        let first = self.first.get(id.0 as usize).and_then(Option::as_ref);
        first.into_iter().chain(self.rest.get(&id).into_iter().flatten())
    }
}

impl Lines {
    fn new(workspace: &Workspace<'_>, owners: &Owners<'_>) -> Self {
        let mut lines = Self::default();
        for &id in &owners.order {
            if owners.of(id).any(|owner| owner.is_canonical)
                && let Some(frame) = super::classes::frame_of(workspace, id)
            {
                lines.starts.push((lines.frames.len(), id));
                lines.frames.push_str(frame);
                lines.frames.push('\n');
            }
        }
        lines
    }

    /// The canonical patterns of which the frame has a text that `id` requires: all of them, where it
    /// requires none that is known.
    fn with_text_of(&self, workspace: &Workspace<'_>, id: PatternId) -> Vec<PatternId> {
        let mut found = Vec::new();
        let mut is_known = false;
        for text in workspace.patterns.required(id) {
            is_known = true;
            for hit in memchr::memmem::find_iter(self.frames.as_bytes(), text.as_bytes()) {
                let line = self.starts.partition_point(|&(start, _)| start <= hit);
                found.extend(line.checked_sub(1).and_then(|line| self.starts.get(line)));
            }
        }
        if !is_known {
            found.extend(&self.starts);
        }
        found.dedup();
        found.into_iter().map(|(_, id)| id).collect()
    }
}

impl Workspace<'_> {
    /// Whether all that `a` claims `b` claims too; `None` where it is not known.
    pub fn is_within(&self, a: PatternId, b: PatternId) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        let (first, second) = (self.patterns.get(a), self.patterns.get(b));
        if first.is_literal() && second.is_literal() {
            return Some(first.text().contains(second.text()));
        }
        if self.is_plainly_outside(a, b) {
            return Some(false);
        }
        match self.compiled(a)?.within(self.compiled(b)?) {
            Answer::Yes => Some(true),
            Answer::No(_) => Some(false),
            Answer::Undecided(_) => None,
        }
    }
}

/// Two hypotheses of two families whose canonical patterns are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The later one.
    pub later: Place,
    /// The earlier one.
    pub earlier: Place,
    /// Whether a link of either says so.
    pub is_declared: bool,
}

/// All such pairs.
#[derive(Debug, Default)]
pub struct Pairs {
    /// In order.
    pub list: Vec<Pair>,
    /// Hypotheses with more undeclared counterparts before them than are listed.
    pub crowded: AHashSet<Place>,
    /// Whether more are listed than a report shows.
    pub has_more: bool,
    /// How many are listed of one hypothesis.
    most: usize,
}

impl Pairs {
    pub(super) fn new(workspace: &Workspace<'_>) -> Self {
        let families = workspace.families();
        let mut pairs = Self::default();
        if families.list.len() < 2 {
            return pairs;
        }
        let classes = workspace.classes();
        let class = |place: Place| {
            let id = workspace.at(place).1.canonical.as_ref()?.pattern;
            // One that CPython refuses claims nothing that is known.
            workspace.patterns.get(id).python_fault().is_none().then(|| classes.of(id))
        };
        // Who says something of whom; and who says of a family what cannot be right, which is
        // reported as that.
        let mut linked: Vec<(Place, Place)> = Vec::new();
        let mut settled: Vec<(Place, usize)> = Vec::new();
        for (place, hypothesis) in workspace.hypotheses() {
            for link in &hypothesis.links {
                let Some(family) = families.find(link.family.value()) else { continue };
                if link.is_null {
                    settled.push((place, family));
                }
                for id in &link.ids {
                    match families.get(family).find(workspace, id.value()) {
                        Some(other) if class(other).is_some() && class(other) == class(place) => {
                            linked.push((place.max(other), place.min(other)));
                        }
                        _ => settled.push((place, family)),
                    }
                }
            }
        }
        linked.sort_unstable();
        linked.dedup();
        settled.sort_unstable();
        let across = |a: Place, b: Place| families.of(a) != families.of(b);
        pairs.list.extend(
            linked.iter().filter(|&&(a, b)| across(a, b)).map(|&(later, earlier)| Pair {
                later,
                earlier,
                is_declared: true,
            }),
        );

        let mut groups: AHashMap<PatternId, Vec<Place>> = AHashMap::new();
        let mut counts = vec![0_u32; workspace.patterns.len()];
        let of_families = || {
            let all = workspace.hypotheses().map(|(place, _)| place);
            let known = all.filter(|&place| families.of(place).is_some());
            known.filter_map(|place| Some((class(place)?, place)))
        };
        for (class, _) in of_families() {
            counts[class.0 as usize] += 1;
        }
        for (class, place) in of_families() {
            if counts[class.0 as usize] > 1 {
                groups.entry(class).or_default().push(place);
            }
        }
        let grouped: usize = groups.values().map(Vec::len).sum();
        let all = if workspace.is_thorough { MOST_PAIRS / grouped.max(1) } else { 0 };
        pairs.most = all.max(MOST_PARTNERS);
        for group in groups.into_values() {
            pairs.undeclared(families, &group, &linked, &settled);
        }
        pairs.list.sort_unstable();
        pairs
    }

    /// Adds the pairs of a group of equal patterns that no link declares. `linked` and `settled` are sorted.
    fn undeclared(
        &mut self,
        families: &Families<'_>,
        group: &[Place],
        linked: &[(Place, Place)],
        settled: &[(Place, usize)],
    ) {
        let is_settled = |place, family| settled.binary_search(&(place, family)).is_ok();
        // By family, each in order.
        let mut before: Vec<(usize, Vec<Place>)> = Vec::new();
        let mut positions: AHashMap<usize, usize> = AHashMap::new();
        for &later in group {
            let Some(own) = families.of(later) else { continue };
            let (mut found, mut looked_at) = (0, 0);
            'families: for (family, earlier) in &before {
                if *family == own || is_settled(later, *family) {
                    continue;
                }
                for &earlier in earlier {
                    if linked.binary_search(&(later, earlier)).is_ok() {
                        continue;
                    }
                    if found == self.most || looked_at == MOST_LOOKED_AT.max(self.most) {
                        self.crowded.insert(later);
                        break 'families;
                    }
                    self.has_more |= found == MOST_PARTNERS || looked_at == MOST_LOOKED_AT;
                    looked_at += 1;
                    if !is_settled(earlier, own) {
                        found += 1;
                        self.list.push(Pair { later, earlier, is_declared: false });
                    }
                }
            }
            let position = *positions.entry(own).or_insert_with(|| {
                before.push((own, Vec::new()));
                before.len() - 1
            });
            before[position].1.push(later);
        }
    }
}

impl<'d> Family<'d> {
    /// The hypothesis of that id. `workspace` is the one that the family is of.
    pub fn find(&self, workspace: &Workspace<'d>, id: &str) -> Option<Place> {
        // Most families are small: looking is quicker than making an index.
        if let [entry] = self.entries.as_slice()
            && let Some(of) = workspace.entries.get(*entry)
            && of.register.hypotheses.len() <= FEW
        {
            let hypothesis = of.register.hypotheses.iter().position(|it| it.id() == Some(id))?;
            return Some(Place { entry: *entry, hypothesis });
        }
        let ids = self.ids.get_or_init(|| {
            let mut ids = AHashMap::new();
            for &entry in &self.entries {
                let hypotheses = &workspace.entries[entry].register.hypotheses;
                for (hypothesis, it) in hypotheses.iter().enumerate() {
                    if let Some(id) = it.id() {
                        ids.entry(id).or_insert(Place { entry, hypothesis });
                    }
                }
            }
            ids
        });
        ids.get(id).copied()
    }
}
