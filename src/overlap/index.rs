//! All overlaps among many patterns, without asking about every pair.
//!
//! First **candidates** are found, pairs for which a necessary condition holds; then
//! [`super::relate`] decides each. No pair that it would report is missed:
//!
//! 1. Patterns of the same text are equal; one of them stands for all.
//! 2. *Inclusion*: if A is within B, then B claims a shortest frame of A. Every frame that B claims
//!    contains one of B's required literals, one for each branch (of a branch's runs the one that
//!    fewest samples contain). So the samples are scanned for the literals, and what survives is
//!    run.
//! 3. *Partial overlap*: the last shared landmark, or the piece, lies in a stretch that both spell
//!    out, so a run of A and a run of B overlap there letter by letter: one contains the other, or
//!    a suffix of one is a prefix of the other. Both are looked up in the sorted runs. The text in
//!    common must have room for a landmark or a piece, and where one run ends in a gap while the
//!    other goes on to the next identifier, what follows the gap must fit there; else the
//!    identifier is swallowed. Where there are very many such pairs (above 200,000 and four a
//!    pattern), a text that more than 24 runs begin with, as a function that ends in `_norm` where
//!    thirty begin with `norm_`, is looked at in 8 of them and counted in the others
//!    ([`Pairs::more`]).
//! 4. Patterns that cannot be written out in few branches are looked up by the triples of
//!    characters, and the identifiers of one or two, that their automata can spell out. Those
//!    without a required literal are held against every sample.
//!
//! # What a run may cost
//! One pair may visit as many states as its [`Budget`] says; all pairs together no more than a
//! fixed number and some for each pattern; of many registers each has an even part of that number. The pairs are taken in rounds: in the first each may
//! visit few states, and those that need more come again in the next, with many times as many; a
//! pair for which there are not at least twice as many as it has had in vain stays undecided. A
//! round is cut into waves of a fixed number of pairs; what a wave has used is known when the next
//! begins, and a pair may use a few times its even share of what is left. So the outcome depends
//! neither on the machine nor on the number or the order of its threads, and some hard pairs do not
//! keep the others from being decided. Automata, samples and the search for candidates have budgets of
//! their own, spent in the order of the patterns.
//!
//! Uses `features`, `texts`, `fuel`, and what the relation is made of.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use ahash::AHashMap;

use super::charset::{self, CharSet, is_word};
use super::features::{self, Branch, Piece};
use super::fuel::Fuel;
use super::hash::{Map, Set};
use super::landmark::Identifiers;
use super::matcher::Match;
use super::program::{MATCH, Program};
use super::texts::{Texts, order_key};
use super::{
    Bound, Budget, Compiled, Kind, LANDMARK, LEAST_SIZE, PIECE, Reason, Relation, Sample, Witness,
    inclusion_within, relate_within, witness,
};
use crate::pattern::Pattern;
use crate::pattern::ast::{Ast, ClassItemKind, Flags, Node, NodeKind, RepeatKind};

/// The most candidates that are looked at, and how many more for each pattern: more could not be paid for.
const MAX_CANDIDATES: usize = 2_000_000;
const CANDIDATES_PER_PATTERN: usize = 16;

/// The states that all pairs of a run together may visit.
const TOTAL: usize = 190_000_000;

/// Into how many parts that is divided at most, however many registers or questions there are.
const MOST_PARTS: usize = 1_024;

/// The part of that which the samples may take besides, and the search for candidates.
const ASIDE: usize = 12;

/// How many more for each pattern.
const TOTAL_PER_PATTERN: usize = 12_000;

/// The states that the pairs of all questions of a run together may visit that are asked besides
/// ([`inclusions_among`]).
const QUESTIONS: usize = TOTAL / 6;

/// The places and edges of all automata of a run together; one that turned out to be too large counts as
/// far as it was made.
const SIZE: usize = 4 << 20;

/// How many more for each pattern.
const SIZE_PER_PATTERN: u64 = 256;

/// The ranges of all sets together that are worked out to find equal patterns, and how many more for each pattern.
const RANGES: usize = 16_000_000;
const RANGES_PER_PATTERN: usize = 256;

/// The states that a pair may visit in each round but the last.
const ROUNDS: [usize; 3] = [1 << 14, 1 << 17, 1 << 20];

/// How many pairs are taken at a time, in the first round and later.
const WAVES: [usize; 2] = [16_384, 512];

/// How much more than an even share of what is left a pair may visit: most need less.
const UNEVEN: usize = 8;

/// From how many runs on another thread is worth its start.
const RUNS_PER_THREAD: u32 = 4_096;

/// How many pairs a thread takes at a time: few, because one may cost as much as a thousand others.
const PART: usize = 256;

/// The fewest states that are worth beginning a pair with.
const LEAST: usize = 64;

/// Of how many bytes of a text that is looked up one is paid for: most of them are never compared.
const SEARCHED: usize = 4;

/// Up to how many bytes texts are compared at each place.
const SHORT: usize = 64;

/// What a pair costs before it is begun with, in states.
const PAIR: usize = 192;

/// What it takes to look at a pair of owners, in bytes that are looked at.
const LOOK: usize = 8;

/// What two texts may always cost: enough for names of a usual length.
const TEXTS: usize = 16;

/// The most pairs that are listed as undecided because of the budget of the run.
const MAX_UNDECIDED: usize = 10_000;

/// Up to how many pairs of runs of which one ends as the other begins all of them are looked at,
/// whatever their number of patterns.
const FREE: usize = 200_000;

/// Beyond that: how many runs may begin with one text for all of them to be looked at.
const WIDE: u32 = 24;

/// How many of them are looked at where there are more.
const EXAMPLES: u32 = 8;

/// How many patterns one pattern may claim a frame of for all of them to be looked at.
const MANY: u32 = 4_096;

/// Up to how many pairs that there could be each candidate is marked, a bit each.
const MARKED: usize = 1 << 27;

/// The most triples that are listed for a pattern.
const MAX_TRIPLES: usize = 4_096;

/// How many triples may be met for each place and edge of an automaton, and besides, until they are
/// too many: in `(?:a?b?){500}` every state leads to every later one.
const MAX_MET: [usize; 2] = [16, 1 << 16];

/// Two patterns that are at odds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The index of the first pattern, A of the relation; less than that of the second.
    pub a: usize,
    /// The index of the second, B.
    pub b: usize,
    /// How they lie to each other; never *none*.
    pub relation: Relation,
}

/// What was found among many patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairs {
    /// Patterns of the same text, by index: in each list at least two, in order. The first stands
    /// for the others in `findings`.
    pub same: Vec<Vec<usize>>,
    /// All pairs that are equal, within, partial or undecided, by A and then B.
    pub findings: Vec<Finding>,
    /// Patterns that could not be compared with any other, and why.
    pub unknown: Vec<(usize, Reason)>,
    /// Patterns that may be at odds with so many that only some were looked at, and how many more
    /// there may be, by pattern. Without this the output alone would be quadratic.
    pub more: Vec<(usize, usize)>,
    /// How many pairs, about, were not looked at because a bound of the whole run was met: the
    /// candidates, or the pairs that could not be decided within its budget, are too many to list.
    pub left_out: usize,
}

/// A pattern that is at odds with many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crowd {
    /// Its index.
    pub pattern: usize,
    /// The findings that it has a part in, by their indices in [`Pairs::findings`]; in no other
    /// crowd.
    pub findings: Vec<usize>,
}

impl Pairs {
    /// The findings by pattern, see [`crowds`].
    pub fn crowds(&self, limit: usize) -> (Vec<Crowd>, Vec<usize>) {
        let pairs: Vec<_> = self.findings.iter().map(|finding| (finding.a, finding.b)).collect();
        crowds(&pairs, limit)
    }
}

/// Pairs by pattern: each pattern that is in more than `limit` of them takes its pairs, the one with
/// the most first (of equals the first); the pairs that are in no crowd are listed as the second
/// value. Near-linear in the pairs.
pub fn crowds(pairs: &[(usize, usize)], limit: usize) -> (Vec<Crowd>, Vec<usize>) {
    let mut of: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, &(a, b)) in pairs.iter().enumerate() {
        of.entry(a).or_default().push(at);
        of.entry(b).or_default().push(at);
    }
    let mut order: Vec<(usize, Vec<usize>)> =
        of.into_iter().filter(|(_, all)| all.len() > limit).collect();
    order.sort_unstable_by_key(|(pattern, all)| (std::cmp::Reverse(all.len()), *pattern));
    let mut taken = vec![false; pairs.len()];
    let mut crowds = Vec::new();
    for (pattern, mut findings) in order {
        findings.retain(|&at| taken.get(at) == Some(&false));
        if findings.len() > limit {
            for &at in &findings {
                if let Some(taken) = taken.get_mut(at) {
                    *taken = true;
                }
            }
            crowds.push(Crowd { pattern, findings });
        }
    }
    let alone = taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(at, _)| at).collect();
    (crowds, alone)
}

/// What is wanted to be known of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// Nothing; it is passed over.
    Nothing,
    /// Whether one is equal to the other or within it; a partial overlap counts as none.
    Inclusion,
    /// Everything.
    Relation,
}

/// What is wanted of which pair, by their indices.
pub type Want<'w> = &'w (dyn Fn(usize, usize) -> Wanted + Sync);

/// Finds all pairs of `patterns` that are at odds.
pub fn pairs(patterns: &[&Ast], budget: Budget) -> Pairs {
    Index::new(patterns, budget).pairs()
}

/// Which patterns are equal to others or within them, as one of so many questions of a run, which share the
/// states of all questions: it may visit that part of them, and some for each pattern, but not more than as much
/// again. And about how many it did visit.
pub fn inclusions_among(patterns: &[&Ast], budget: Budget, questions: usize) -> (Pairs, usize) {
    let sources: Vec<Source<'_>> = patterns.iter().map(|&ast| Source::Tree(ast)).collect();
    let share = QUESTIONS / questions.clamp(1, MOST_PARTS);
    let total = share + TOTAL_PER_PATTERN.saturating_mul(patterns.len()).min(share);
    let index = Index::within(&sources, budget, (1, questions), total);
    let mut candidates = index.no_candidates();
    let texts = Texts::sorted(index.runs().iter().map(|&(text, _)| text).collect());
    index.inclusions(&texts, &mut candidates);
    let mut purse = Purse::new(total);
    let spent = index.spent + candidates.spent();
    let pairs = index.decided(candidates, &|_, _| Wanted::Inclusion, &mut purse);
    (pairs, spent + (total - purse.left))
}

/// The part of something that is divided among a run, the first number of the second.
fn part_of(of: usize, (own, all): (usize, usize)) -> usize {
    (of / all.max(1)).saturating_mul(own).clamp(of / MOST_PARTS, of)
}

/// What became of one pair.
struct Decided {
    /// `None` where the states did not suffice.
    relation: Option<Relation>,
    /// How many states were visited.
    used: usize,
    /// Whether more of them might give another answer, or a more readable witness.
    cut: bool,
}

/// The states that all pairs together may still visit.
struct Purse {
    left: usize,
    /// How many of them may go into pairs that are not decided by it: where all are hard, more would not
    /// help. A wave is given twice as many, since most pairs are decided.
    in_vain: usize,
}

impl Purse {
    fn new(total: usize) -> Self {
        Self { left: total, in_vain: total / 5 * 2 }
    }

    fn pay(&mut self, used: usize, in_vain: bool) {
        self.left -= used.min(self.left);
        if in_vain {
            self.in_vain -= used.min(self.in_vain);
        }
    }
}

/// A pair, and how many states it was allowed in vain.
type Tried = ((u32, u32), usize);

/// Where a run stands.
#[derive(Debug, Clone, Copy)]
struct Owner {
    pattern: u32,
    branch: u32,
    piece: u32,
}

/// A pattern as the index takes it.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Its tree.
    Tree(&'a Ast),
    /// It is nothing but text that a frame can have ([`Pattern::is_literal`]); its tree is asked for
    /// only where it is held against one that is more.
    Text(&'a Pattern<'a>),
}

impl<'a> Source<'a> {
    fn plain(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Tree(ast) => features::plain_text(&ast.root).map(Cow::Owned),
            Self::Text(pattern) => Some(Cow::Borrowed(pattern.text())),
        }
    }

    fn ast(self) -> Option<&'a Ast> {
        match self {
            Self::Tree(ast) => Some(ast),
            Self::Text(pattern) => pattern.ast().ok(),
        }
    }
}

/// A pattern in the index.
struct Entry<'a> {
    source: Source<'a>,
    /// Its text, if it is nothing else.
    plain: Option<Cow<'a, str>>,
    /// Its branches, if it is more than text and can be written out.
    branches: Option<Vec<Branch>>,
    /// Most are never asked for.
    compiled: OnceLock<Option<Box<Compiled<'a>>>>,
}

/// Many patterns, ready to be searched for pairs that are at odds.
pub struct Index<'a> {
    budget: Budget,
    entries: Vec<Entry<'a>>,
    same: Vec<Vec<usize>>,
    /// The patterns that stand for themselves and can be compared.
    live: Vec<u32>,
    unknown: Vec<(usize, Reason)>,
    /// The states that all pairs together may visit.
    total: usize,
    /// How many were visited for the samples, and made.
    spent: usize,
    /// By how many threads the pairs are decided.
    threads: usize,
}

impl<'a> Index<'a> {
    /// Prepares the patterns.
    pub fn new(patterns: &[&'a Ast], budget: Budget) -> Self {
        let sources: Vec<Source<'a>> = patterns.iter().map(|&ast| Source::Tree(ast)).collect();
        Self::of(&sources, budget)
    }

    /// Prepares patterns of which it is known that most are nothing but text.
    pub fn of(patterns: &[Source<'a>], budget: Budget) -> Self {
        Self::part_of(patterns, budget, (1, 1))
    }

    /// [`Index::of`] of what is a part of the run, the first number of the second: it may visit that part of
    /// the states of a run, and some for each pattern.
    pub fn part_of(patterns: &[Source<'a>], budget: Budget, part: (usize, usize)) -> Self {
        let own = part_of(TOTAL, part);
        let total = own + TOTAL_PER_PATTERN.saturating_mul(patterns.len());
        Self::within(patterns, budget, part, total)
    }

    /// Prepares patterns whose pairs may visit `total` states, as a part of a run.
    fn within(patterns: &[Source<'a>], budget: Budget, run: (usize, usize), total: usize) -> Self {
        let mut first: AHashMap<Cow<'a, [u8]>, usize> = AHashMap::with_capacity(patterns.len());
        let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut live = Vec::new();
        let mut unknown = Vec::new();
        let mut entries = Vec::with_capacity(patterns.len());
        let part = |of| part_of(of, run);
        let mut states_left = total / ASIDE;
        let mut size_left =
            part(SIZE) as u64 + SIZE_PER_PATTERN.saturating_mul(patterns.len() as u64);
        let size_at_first = size_left;
        let mut sets = AHashMap::new();
        let mut ranges_left = part(RANGES) + RANGES_PER_PATTERN.saturating_mul(patterns.len());
        for (at, &source) in patterns.iter().enumerate() {
            let plain = source.plain();
            let key: Cow<'a, [u8]> = match (&plain, source) {
                (Some(Cow::Borrowed(text)), _) => Cow::Borrowed(text.as_bytes()),
                (Some(Cow::Owned(text)), _) => Cow::Owned(text.as_bytes().to_vec()),
                (None, Source::Text(_)) => Cow::Borrowed(&[]),
                (None, Source::Tree(ast)) => {
                    let mut key = Vec::new();
                    // Where that would take too long, as they are written: such patterns are still compared, one by one.
                    let weight = charset::weight(&ast.root);
                    let by_meaning = weight <= ranges_left.min(charset::MAX_RANGES);
                    if by_meaning {
                        ranges_left -= weight;
                    }
                    canonical(&ast.root, by_meaning.then_some(&mut sets), &mut key);
                    Cow::Owned(key)
                }
            };
            let stands = *first.entry(key).or_insert(at);
            let mut entry = Entry { source, plain, branches: None, compiled: OnceLock::new() };
            if stands != at {
                groups.entry(stands).or_insert_with(|| vec![stands]).push(at);
                entries.push(entry);
                continue;
            }
            if let (None, Source::Tree(ast)) = (&entry.plain, source) {
                let most = super::program::MAX_SIZE.min(budget.states as u64).max(LEAST_SIZE);
                // However many are large, there is something left for the next.
                let limit = (size_left / 4).max(SIZE_PER_PATTERN).min(most);
                let make = || Some(Box::new(Compiled::limited(ast, budget, limit)));
                let Some(compiled) = entry.compiled.get_or_init(make) else {
                    entries.push(entry);
                    continue;
                };
                size_left -= compiled.cost(limit).min(size_left);
                if let Err(reason) = &compiled.over {
                    let reason = match reason {
                        Reason::Bound(Bound::Size) if limit < super::program::MAX_SIZE => {
                            Reason::Bound(Bound::Total)
                        }
                        reason => reason.clone(),
                    };
                    unknown.push((at, reason));
                    entries.push(entry);
                    continue;
                }
                // However many are hard, there is something left for the next.
                let fuel = Fuel::new(budget.states.min((states_left / 8).max(LEAST)));
                let claims_nothing = *compiled.sample_within(&fuel) == Sample::None;
                states_left -= fuel.used().min(states_left);
                if claims_nothing {
                    entries.push(entry);
                    continue;
                }
                entry.branches = features::branches(&ast.root);
            }
            live.push(at as u32);
            entries.push(entry);
        }
        let mut same: Vec<Vec<usize>> = groups.into_values().collect();
        same.sort_unstable();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let spent = total / ASIDE - states_left + (size_at_first - size_left) as usize;
        Self { budget, entries, same, live, unknown, total, spent, threads }
    }

    /// Lets so many threads decide the pairs, not as many as the machine has cores. What is found
    /// does not depend on it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Lets all pairs together visit so many states.
    #[doc(hidden)]
    #[must_use]
    pub fn with_total(mut self, states: usize) -> Self {
        self.total = states;
        self
    }

    fn compiled(&self, at: u32) -> Option<&Compiled<'a>> {
        let entry = self.entries.get(at as usize)?;
        let make = || Some(Box::new(Compiled::new(entry.source.ast()?, self.budget)));
        entry.compiled.get_or_init(make).as_deref()
    }

    fn ast(&self, at: u32) -> Option<&'a Ast> {
        self.entries.get(at as usize)?.source.ast()
    }

    fn plain(&self, at: u32) -> Option<&str> {
        self.entries.get(at as usize)?.plain.as_deref()
    }

    /// The branches of one that is more than text, if it can be written out.
    fn branches(&self, at: u32) -> Option<&[Branch]> {
        self.entries.get(at as usize)?.branches.as_deref()
    }

    /// A shortest frame of a pattern; `None` if that is not known.
    fn sample(&self, at: u32) -> Option<&str> {
        if let Some(text) = self.plain(at) {
            return Some(text);
        }
        match self.compiled(at)?.sample() {
            Sample::Frame(text) => Some(text),
            Sample::None | Sample::Undecided(_) => None,
        }
    }

    /// Patterns of the same text, by index: in each list at least two, in order. The first stands
    /// for the others.
    pub fn same(&self) -> &[Vec<usize>] {
        &self.same
    }

    /// All pairs that are at odds.
    pub fn pairs(&self) -> Pairs {
        self.pairs_where(&|_, _| Wanted::Relation)
    }

    /// The pairs that are at odds in a way that is wanted. `wanted` is asked of the patterns that
    /// stand for those of the same text, the lower index first.
    pub fn pairs_where(&self, wanted: Want<'_>) -> Pairs {
        let mut candidates = self.no_candidates();
        let runs = self.runs();
        let texts = Texts::sorted(runs.iter().map(|&(text, _)| text).collect());
        let owners: Vec<Owner> = runs.iter().map(|&(_, owner)| owner).collect();
        let owners: Vec<&[Owner]> = runs
            .chunk_by(|(a, _), (b, _)| a == b)
            .scan(&owners[..], |rest, same| {
                let (own, others) = rest.split_at_checked(same.len())?;
                *rest = others;
                Some(own)
            })
            .collect();
        let places = self.places(&texts);
        if self.is_plain() {
            self.plain_inclusions(&texts, &owners, &places, &mut candidates);
        } else {
            self.inclusions(&texts, &mut candidates);
        }
        self.overlaps(&texts, &owners, &places, &mut candidates);
        self.unwritten(&mut candidates);
        self.decided(candidates, wanted, &mut Purse::new(self.total))
    }

    fn no_candidates(&self) -> Candidates {
        Candidates::new(self.live.len(), self.entries.len(), self.total / ASIDE)
    }

    /// What comes of the candidates.
    fn decided(&self, mut candidates: Candidates, wanted: Want<'_>, purse: &mut Purse) -> Pairs {
        candidates.tidy();
        candidates.pairs.retain(|&(a, b)| wanted(a as usize, b as usize) != Wanted::Nothing);
        let (findings, undecided) = self.decide(&candidates.pairs, wanted, purse);
        let looked_at = candidates.pairs.len();
        let all = self.live.len() * self.live.len().saturating_sub(1) / 2;
        // What was left out may be a pair that was found in another way, or have been met before.
        let left_out = candidates.left_out.min(all.saturating_sub(looked_at)) + undecided;
        let more = candidates.more();
        Pairs { same: self.same.clone(), findings, unknown: self.unknown.clone(), more, left_out }
    }

    /// The candidates that are at odds, in their order, and how many more could not be decided.
    fn decide(
        &self,
        candidates: &[(u32, u32)],
        wanted: Want<'_>,
        purse: &mut Purse,
    ) -> (Vec<Finding>, usize) {
        let mut findings = Vec::new();
        let mut left_out = 0;
        // Each with what it has cost in vain.
        let mut pending: Vec<_> = candidates.iter().map(|&pair| (pair, 0)).collect();
        for round in 0..=ROUNDS.len() {
            let most = ROUNDS.get(round).copied().unwrap_or(usize::MAX).min(self.budget.states);
            let last = most == self.budget.states;
            let mut again = Vec::new();
            let mut to_come = pending.len();
            for wave in pending.chunks(WAVES[round.min(1)]) {
                let even = purse.left / to_come.max(1);
                let share = even
                    .saturating_mul(UNEVEN)
                    .min(purse.left / wave.len())
                    .min(2 * purse.in_vain / wave.len())
                    .min(most);
                to_come -= wave.len();
                let decided = self.decide_wave(wave, share, wanted);
                for (&((a, b), tried), decided) in wave.iter().zip(decided) {
                    let Decided { relation, used, cut } = decided;
                    purse.pay(used, cut);
                    if cut && !last {
                        again.push(((a, b), share.max(tried)));
                        continue;
                    }
                    let finding = |relation| Finding { a: a as usize, b: b as usize, relation };
                    match relation {
                        Some(Relation { kind: Kind::None, .. }) => {}
                        Some(relation) => findings.push(finding(relation)),
                        None if findings.len() >= MAX_UNDECIDED => left_out += 1,
                        None => {
                            let full = share == self.budget.states;
                            let bound = if full { Bound::States } else { Bound::Total };
                            let kind = Kind::Undecided(Reason::Bound(bound));
                            findings.push(finding(Relation::bare(kind)));
                        }
                    }
                }
            }
            pending = again;
            if last {
                break;
            }
        }
        findings.sort_unstable_by_key(|finding| (finding.a, finding.b));
        (findings, left_out)
    }

    /// The relations of pairs that may visit `share` states each.
    fn decide_wave(&self, wave: &[Tried], share: usize, wanted: Want<'_>) -> Vec<Decided> {
        let one = |&((a, b), tried): &Tried| {
            if tried > 0 && share < 2 * tried && share < self.budget.states {
                // What was too little will not do the next time.
                return Decided { relation: None, used: 0, cut: true };
            }
            self.relation(a, b, share, wanted(a as usize, b as usize))
        };
        let decide = |part: &[Tried]| -> Vec<_> { part.iter().map(one).collect() };
        let parts: Vec<&[Tried]> = wave.chunks(PART.min(wave.len().div_ceil(8))).collect();
        let threads = self.threads.min(parts.len());
        // A thread costs as much as some hundred easy pairs.
        if threads <= 1 || (wave.len() < 4 * PART && share <= ROUNDS[0]) {
            return decide(wave);
        }
        let next = AtomicUsize::new(0);
        let mut done: Vec<(usize, Vec<Decided>)> = std::thread::scope(|scope| {
            let work = || {
                let mut done = Vec::new();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(part) = parts.get(at) else { return done };
                    done.push((at, decide(part)));
                }
            };
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                match other.join() {
                    Ok(done) => all.extend(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        done.sort_unstable_by_key(|(at, _)| *at);
        done.into_iter().flat_map(|(_, relations)| relations).collect()
    }

    /// The relation of one pair, which may visit `share` states, and what it takes to keep it.
    fn relation(&self, a: u32, b: u32, share: usize, wanted: Wanted) -> Decided {
        let mut decided = self.relation_within(a, b, share, wanted);
        if let Some(Relation { witness: Some(witness), .. }) = &decided.relation {
            // A byte as much as a state: what is kept has a bound as well.
            decided.used += witness.text.len();
        }
        decided
    }

    /// The relation of one pair, which may visit `share` states.
    fn relation_within(&self, a: u32, b: u32, share: usize, wanted: Wanted) -> Decided {
        let known = |relation| Decided { relation: Some(relation), used: 0, cut: false };
        if let (Some(a), Some(b)) = (self.plain(a), self.plain(b)) {
            let fuel = Fuel::new(share.max(TEXTS));
            let relation = of_texts(a, b, &fuel);
            let is_wanted = relation.kind != Kind::Partial || wanted == Wanted::Relation;
            let relation = if is_wanted { relation } else { Relation::bare(Kind::None) };
            let cut = fuel.is_empty();
            return Decided { relation: (!cut).then_some(relation), used: fuel.used(), cut };
        }
        let (Some(a), Some(b)) = (self.compiled(a), self.compiled(b)) else {
            return known(Relation::bare(Kind::None));
        };
        if share < LEAST && share < self.budget.states {
            return Decided { relation: None, used: 0, cut: true };
        }
        // What is kept is not part of the price, or the price would depend on who comes first.
        let _ = (a.sample(), b.sample());
        let fuel = Fuel::new(share);
        fuel.spend(PAIR);
        let relation = match wanted {
            Wanted::Relation => relate_within(a, b, &fuel),
            _ => inclusion_within(a, b, &fuel),
        };
        let cut = fuel.is_empty();
        let open = cut && matches!(relation.kind, Kind::Undecided(_));
        Decided { relation: (!open).then_some(relation), used: fuel.used(), cut }
    }

    /// All runs by their text, each with the place where it stands; of one text in the order of the
    /// patterns.
    fn runs(&self) -> Vec<(&str, Owner)> {
        let mut runs: Vec<(&str, Owner)> = Vec::with_capacity(self.live.len());
        for &pattern in &self.live {
            if let Some(text) = self.plain(pattern) {
                runs.push((text, Owner { pattern, branch: 0, piece: 0 }));
            }
            for (branch, pieces) in self.branches(pattern).unwrap_or_default().iter().enumerate() {
                for (piece, run) in pieces.iter().enumerate() {
                    if let Piece::Run(text) = run {
                        let owner = Owner { pattern, branch: branch as u32, piece: piece as u32 };
                        runs.push((text, owner));
                    }
                }
            }
        }
        runs.sort_by_cached_key(|&(text, _)| (order_key(text), text));
        runs
    }

    /// Pairs of which one may be within the other.
    fn inclusions(&self, runs: &Texts<'_>, candidates: &mut Candidates) {
        let frequency = self.frequency(runs);
        let mut literals: Vec<(Cow<'_, str>, u32)> = Vec::with_capacity(self.live.len());
        let mut generic = Vec::new();
        for &b in &self.live {
            if let Some(text) = self.plain(b) {
                literals.push((Cow::Borrowed(text), b));
                continue;
            }
            let required = match self.branches(b) {
                Some(branches) => rarest(branches, runs, &frequency),
                None => self.ast(b).and_then(|ast| required(&ast.root, 0)),
            };
            match required {
                Some(all) => literals.extend(all.into_iter().map(|text| (Cow::Owned(text), b))),
                None => generic.push(b),
            }
        }
        literals.sort_unstable();
        literals.dedup();
        literals.retain(|(text, _)| !text.is_empty());
        let same = || literals.chunk_by(|(a, _), (b, _)| a == b);
        let lists: Vec<Vec<u32>> =
            same().map(|same| same.iter().map(|&(_, b)| b).collect()).collect();
        let literals = Texts::sorted(same().filter_map(|same| Some(&*same.first()?.0)).collect());
        let mut hits = Hits::new(self.entries.len());
        let mut claimed = vec![0u32; self.entries.len()];
        for &a in &self.live {
            let Some(sample) = self.sample(a) else {
                // Nothing is known of it, so it is held against all.
                self.all_with(a, candidates);
                continue;
            };
            hits.clear();
            if candidates.pay(generic.len(), 1) {
                hits.extend(generic.iter().copied());
            }
            for (at, _) in sample.char_indices() {
                if !candidates.pay_search(sample.len() - at, self.live.len()) {
                    break;
                }
                for literal in literals.prefixes(&sample[at..]) {
                    let list = lists.get(literal as usize).map_or(&[][..], Vec::as_slice);
                    if candidates.pay(list.len(), 1) {
                        hits.extend(list.iter().copied());
                    }
                }
            }
            let chars: Vec<char> = sample.chars().collect();
            for &b in hits.sorted() {
                let Some(claimed) = claimed.get_mut(b as usize) else { continue };
                if *claimed >= MANY {
                    candidates.count(b, 1);
                    continue;
                }
                // With no fuel left every hit is a candidate.
                let fuel = &candidates.claims;
                let may_claim = |compiled: &Compiled<'_>| {
                    fuel.is_empty() || compiled.claims(&chars, fuel) != Some(false)
                };
                let claims =
                    b != a && (self.plain(b).is_some() || self.compiled(b).is_some_and(may_claim));
                if claims {
                    *claimed += 1;
                    candidates.add(a, b);
                }
            }
        }
    }

    /// Whether all patterns are nothing but text.
    fn is_plain(&self) -> bool {
        self.live.iter().all(|&at| self.plain(at).is_some())
    }

    /// The places in the runs, by run and offset, at which another run may begin or be begun; the first
    /// place of each.
    fn places(&self, texts: &Texts<'_>) -> Vec<(u32, u32)> {
        let scan = |runs: Range<u32>| {
            let mut found = Vec::with_capacity(runs.len());
            for run in runs {
                let text = texts.get(run);
                found.push((run, 0));
                texts.meetings(text, |at| found.push((run, at as u32)));
            }
            found
        };
        let count = texts.len() as u32;
        let threads = (self.threads as u32).min(count / RUNS_PER_THREAD);
        if threads <= 1 {
            return scan(0..count);
        }
        let part = count.div_ceil(threads);
        std::thread::scope(|scope| {
            let scan = &scan;
            let others: Vec<_> = (1..threads)
                .map(|number| (number * part).min(count)..((number + 1) * part).min(count))
                .map(|runs| scope.spawn(move || scan(runs)))
                .collect();
            let mut all = scan(0..part);
            for other in others {
                match other.join() {
                    Ok(found) => all.extend(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    /// [`Index::inclusions`] where all patterns are nothing but text: each is one run, its own sample and
    /// its own literal.
    fn plain_inclusions(
        &self,
        runs: &Texts<'_>,
        owners: &[&[Owner]],
        places: &[(u32, u32)],
        candidates: &mut Candidates,
    ) {
        let owner = |run: u32| owners.get(run as usize)?.first().map(|owner| owner.pattern);
        // By pattern: its run.
        let mut run_of = vec![0u32; self.entries.len()];
        for run in 0..runs.len() as u32 {
            if let Some(own) = owner(run).and_then(|at| run_of.get_mut(at as usize)) {
                *own = run;
            }
        }
        // By run: where its places begin.
        let mut starts: Vec<usize> = Vec::with_capacity(runs.len() + 1);
        starts.extend(places.iter().enumerate().filter(|(_, (_, at))| *at == 0).map(|(n, _)| n));
        starts.push(places.len());
        let mut claimed = vec![0u32; self.entries.len()];
        let mut hits = Hits::new(self.entries.len());
        for &a in &self.live {
            let Some(&run) = run_of.get(a as usize) else { continue };
            let Some(&[start, end]) = starts.get(run as usize..).and_then(<[usize]>::first_chunk)
            else {
                continue;
            };
            let text = runs.get(run);
            hits.clear();
            let mut hit = |run: u32| {
                if candidates.pay(1, 1) {
                    hits.extend(owner(run));
                }
            };
            runs.prefixes_of(run).for_each(&mut hit);
            for &(_, at) in places.get(start + 1..end).unwrap_or_default() {
                let rest = text.get(at as usize..).unwrap_or_default();
                if !candidates.pay_search(rest.len(), self.live.len()) {
                    break;
                }
                let mut hit = |run: u32| {
                    if candidates.pay(1, 1) {
                        hits.extend(owner(run));
                    }
                };
                runs.prefixes(rest).for_each(&mut hit);
            }
            for &b in hits.sorted() {
                let Some(claimed) = claimed.get_mut(b as usize) else { continue };
                if *claimed >= MANY {
                    candidates.count(b, 1);
                } else if b != a {
                    *claimed += 1;
                    candidates.add(a, b);
                }
            }
        }
    }

    /// How many places of all samples each run begins at; of the first samples where that is much
    /// work, since any run of a branch will do.
    fn frequency(&self, runs: &Texts<'_>) -> Vec<u32> {
        let mut frequency = vec![0u32; runs.len()];
        let mut left = 4 * (self.total / ASIDE);
        for &a in &self.live {
            let Some(sample) = self.sample(a) else { continue };
            for (at, _) in sample.char_indices() {
                if left == 0 {
                    return frequency;
                }
                left = left.saturating_sub((sample.len() - at) / (4 * SEARCHED));
                for run in runs.prefixes(&sample[at..]) {
                    left = left.saturating_sub(1);
                    if let Some(count) = frequency.get_mut(run as usize) {
                        *count += 1;
                    }
                }
            }
        }
        frequency
    }

    /// Pairs that may share a landmark or a piece, of those that are written out.
    fn overlaps(
        &self,
        texts: &Texts<'_>,
        owners: &[&[Owner]],
        places: &[(u32, u32)],
        candidates: &mut Candidates,
    ) {
        let of = |run: u32| owners.get(run as usize).copied().unwrap_or_default();
        // How many owners the runs before each have, so that those of a range can be counted.
        let mut before_each = vec![0usize; owners.len() + 1];
        for (at, owners) in owners.iter().enumerate() {
            before_each[at + 1] = before_each[at] + owners.len();
        }
        let mut wide = Vec::new();
        let mut total = 0usize;
        for (number, &(a, at)) in places.iter().enumerate() {
            let (text, at) = (texts.get(a), at as usize);
            let rest = &text[at..];
            let before = text[..at].chars().next_back();
            let mut look = |b| self.overlap((a, of(a)), at, (b, of(b)), before, texts, candidates);
            if at == 0 {
                texts.prefixes_of(a).for_each(&mut look);
                // What begins with the whole run contains it, and is found from there.
                continue;
            }
            texts.prefixes(rest).for_each(&mut look);
            candidates.pay_bytes(rest.len() / SEARCHED);
            if candidates.fuel.is_empty() {
                self.leave_places_out(&places[number..], owners, candidates);
                break;
            }
            let all = texts.extensions(rest);
            if all.is_empty() {
                continue;
            }
            let (fits, looked_at) = room(rest, before, None, true, true);
            candidates.pay_bytes(4 * looked_at);
            if fits {
                total = total.saturating_add(all.len());
                wide.push((a, at, before, all));
            }
        }
        let few = total <= FREE + 4 * self.live.len();
        for (a, at, before, mut all) in wide {
            if !few && all.len() as u32 > WIDE {
                let end = all.start + EXAMPLES;
                let count = before_each[all.end as usize] - before_each[end as usize];
                for owner in of(a) {
                    candidates.count(owner.pattern, count);
                }
                all.end = end;
            }
            for b in all {
                if texts.get(b).len() > texts.get(a).len() - at {
                    self.overlap((a, of(a)), at, (b, of(b)), before, texts, candidates);
                }
            }
        }
    }

    /// Leaves the runs out at whose places nothing is looked for: each may meet any pattern.
    fn leave_places_out(
        &self,
        places: &[(u32, u32)],
        owners: &[&[Owner]],
        candidates: &mut Candidates,
    ) {
        for same in places.chunk_by(|(a, _), (b, _)| a == b) {
            let run = same.first().and_then(|&(run, _)| owners.get(run as usize));
            candidates.leave_out(run.map_or(0, |run| run.len()).saturating_mul(self.live.len()));
        }
    }

    /// Run `b` laid over run `a` from byte `at` on.
    fn overlap(
        &self,
        (a, a_owners): (u32, &[Owner]),
        at: usize,
        (b, b_owners): (u32, &[Owner]),
        before: Option<char>,
        texts: &Texts<'_>,
        candidates: &mut Candidates,
    ) {
        let (a, b) = (texts.get(a), texts.get(b));
        let rest = a.get(at..).unwrap_or_default();
        let (common, a_more, b_more) = if rest.len() > b.len() {
            (b, rest.get(b.len()..).unwrap_or_default(), "")
        } else {
            (rest, "", b.get(rest.len()..).unwrap_or_default())
        };
        let next = a_more.chars().chain(b_more.chars()).next();
        let pairs = a_owners.len().saturating_mul(b_owners.len());
        if candidates.fuel.is_empty() {
            candidates.leave_out(pairs);
            return;
        }
        let (fits, looked_at) = room(common, before, next, true, true);
        candidates.pay_bytes(8 + 4 * looked_at);
        if !fits || !candidates.pay(pairs, LOOK) {
            return;
        }
        // There are four ways to ask, however many owners.
        let mut known = [None; 4];
        let last = common.chars().next_back();
        for &a_owner in a_owners {
            let a_place = self.place(a_owner);
            for &b_owner in b_owners {
                if a_owner.pattern == b_owner.pattern {
                    continue;
                }
                let b_place = self.place(b_owner);
                let resumes = b_place.gap_before || (at == 0 && a_place.gap_before);
                let pieces = a_place.alone && b_place.alone;
                let fuel = &candidates.fuel;
                let fits = &mut known[usize::from(resumes) + 2 * usize::from(pieces)];
                if *fits.get_or_insert_with(|| qualifies(common, before, next, resumes, pieces))
                    && !(b_more.is_empty() && swallows(b_place, last, a_more, fuel))
                    && !(a_more.is_empty() && swallows(a_place, last, b_more, fuel))
                {
                    candidates.add(a_owner.pattern, b_owner.pattern);
                }
            }
        }
    }

    /// Makes candidates of all pairs with one pattern.
    fn all_with(&self, at: u32, candidates: &mut Candidates) {
        if candidates.pay(self.live.len(), 16) {
            self.live.iter().for_each(|&other| candidates.add(at, other));
        }
    }

    fn place(&self, owner: Owner) -> RunPlace<'_> {
        if self.plain(owner.pattern).is_some() {
            return RunPlace { gap_before: false, alone: true, after: &[] };
        }
        let branch = self
            .branches(owner.pattern)
            .and_then(|branches| branches.get(owner.branch as usize))
            .map_or(&[][..], Vec::as_slice);
        let after = branch.get(owner.piece as usize + 1..).unwrap_or_default();
        RunPlace { gap_before: owner.piece > 0, alone: branch.len() == 1, after }
    }

    /// Pairs that may share text, with a pattern that is not written out.
    fn unwritten(&self, candidates: &mut Candidates) {
        let is_unwritten = |at: u32| self.plain(at).is_none() && self.branches(at).is_none();
        if !self.live.iter().any(|&at| is_unwritten(at)) {
            return;
        }
        let mut of_triple: Map<Triple, Vec<(u32, Roles)>> = Map::default();
        let mut searched = Vec::new();
        for &at in &self.live {
            let triples = match (self.plain(at), self.branches(at)) {
                (Some(text), _) => Some(triples_of_branches(&[vec![Piece::Run(text.to_owned())]])),
                (None, Some(branches)) => Some(triples_of_branches(branches)),
                (None, None) => self
                    .compiled(at)
                    .and_then(|c| c.over.as_ref().ok())
                    .and_then(|program| triples_of_program(program, &candidates.fuel)),
            };
            match triples {
                Some(triples) => {
                    for &(triple, roles) in &triples {
                        of_triple.entry(triple).or_default().push((at, roles));
                    }
                    if is_unwritten(at) {
                        searched.push((at, triples));
                    }
                }
                None => self.all_with(at, candidates),
            }
        }
        // Two patterns may have many triples in common; they are a pair once.
        let mut paired_with = vec![u32::MAX; self.entries.len()];
        for (a, triples) in searched {
            for (triple, a_roles) in triples {
                let list = of_triple.get(&triple).map_or(&[][..], Vec::as_slice);
                if !candidates.pay(list.len(), 1) {
                    continue;
                }
                // Only the start of an identifier may have fewer than three.
                let (alike, either) = if triple.2.is_some() {
                    (FIRST | AFTER_UNDERSCORE, RESUMED)
                } else {
                    (FIRST, 0)
                };
                for &(b, b_roles) in list {
                    if (a_roles & b_roles & alike != 0 || (a_roles | b_roles) & either != 0)
                        && let Some(other) = paired_with.get_mut(b as usize)
                        && *other != a
                    {
                        *other = a;
                        candidates.add(a, b);
                    }
                }
            }
        }
    }
}

/// Patterns, each once however often it is added.
struct Hits {
    all: Vec<u32>,
    /// By pattern: the number of the list that it was added to last.
    added_to: Vec<u32>,
    list: u32,
}

impl Hits {
    /// None of so many.
    fn new(patterns: usize) -> Self {
        Self { all: Vec::new(), added_to: vec![0; patterns], list: 0 }
    }

    fn clear(&mut self) {
        self.all.clear();
        self.list += 1;
    }

    fn extend(&mut self, patterns: impl IntoIterator<Item = u32>) {
        for pattern in patterns {
            if let Some(list) = self.added_to.get_mut(pattern as usize)
                && std::mem::replace(list, self.list) != self.list
            {
                self.all.push(pattern);
            }
        }
    }

    fn sorted(&mut self) -> &[u32] {
        self.all.sort_unstable();
        &self.all
    }
}

/// The candidates so far.
struct Candidates {
    /// What may still be spent on looking for them.
    fuel: Fuel,
    /// What may still be spent on trying whether a pattern claims the sample of another.
    claims: Fuel,
    /// What is owed besides, in sixteenths of a unit: most of what is looked at costs less than one.
    owed: usize,
    pairs: Vec<(u32, u32)>,
    /// How many pairs there may be.
    most: usize,
    /// For each pair that there could be whether it is one, and how many patterns there are; empty where they are
    /// too many. Then the pairs are sorted from time to time.
    marks: Vec<u64>,
    width: usize,
    sorted: usize,
    more: HashMap<u32, usize>,
    left_out: usize,
}

impl Candidates {
    /// Those of so many patterns, numbered up to `numbers`, for which so much may be spent.
    fn new(patterns: usize, numbers: usize, total: usize) -> Self {
        let bits = numbers.checked_mul(numbers).filter(|&bits| bits <= MARKED).unwrap_or(0);
        Self {
            fuel: Fuel::new(total),
            claims: Fuel::new(total),
            owed: 0,
            pairs: Vec::new(),
            most: (MAX_CANDIDATES + CANDIDATES_PER_PATTERN.saturating_mul(patterns))
                .min(total / (PAIR / ASIDE)),
            marks: vec![0; bits.div_ceil(64)],
            width: numbers,
            sorted: 0,
            more: HashMap::new(),
            left_out: 0,
        }
    }

    /// What was spent.
    fn spent(&self) -> usize {
        self.fuel.used() + self.claims.used()
    }

    /// Pays for looking at so many pairs, each as much as so many bytes; if that cannot be paid they are left out.
    fn pay(&mut self, pairs: usize, each: usize) -> bool {
        self.pay_bytes(pairs.saturating_mul(each));
        if self.fuel.is_empty() {
            self.leave_out(pairs);
        }
        !self.fuel.is_empty()
    }

    /// Pays for looking at so many bytes, or as much as that.
    fn pay_bytes(&mut self, bytes: usize) {
        self.owed = self.owed.saturating_add(bytes);
        self.fuel.spend(self.owed / 16);
        self.owed %= 16;
    }

    /// Pays for looking a text of so many bytes up; if that cannot be paid so many pairs are left out.
    fn pay_search(&mut self, bytes: usize, pairs: usize) -> bool {
        self.pay_bytes(bytes / SEARCHED);
        if self.fuel.is_empty() {
            self.leave_out(pairs);
        }
        !self.fuel.is_empty()
    }

    /// Counts pairs that are not looked at.
    fn leave_out(&mut self, pairs: usize) {
        self.left_out = self.left_out.saturating_add(pairs);
    }

    fn add(&mut self, a: u32, b: u32) {
        let pair = (a.min(b), a.max(b));
        if a == b || self.pairs.last() == Some(&pair) {
            return;
        }
        let bit = pair.0 as usize * self.width + pair.1 as usize;
        if let Some(word) = self.marks.get_mut(bit / 64) {
            if *word >> (bit % 64) & 1 == 1 {
                return self.pay_bytes(4);
            }
            *word |= 1 << (bit % 64);
        } else if self.pairs.len() >= (2 * self.sorted.max(1 << 16)).min(self.most)
            && self.pairs.len() - self.sorted >= self.pairs.len() / 8
        {
            self.tidy();
        }
        self.fuel.spend(1);
        if self.pairs.len() < self.most {
            self.pairs.push(pair);
        } else {
            self.left_out += 1;
        }
    }

    fn tidy(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.sorted = self.pairs.len();
    }

    /// Counts pairs of a pattern that are not looked at.
    fn count(&mut self, pattern: u32, pairs: usize) {
        *self.more.entry(pattern).or_default() += pairs;
    }

    /// How many pairs were not looked at, by pattern.
    fn more(&self) -> Vec<(usize, usize)> {
        let mut more: Vec<_> =
            self.more.iter().map(|(&pattern, &pairs)| (pattern as usize, pairs)).collect();
        more.sort_unstable();
        more
    }
}

/// Where a run stands in its branch.
#[derive(Clone, Copy)]
struct RunPlace<'a> {
    gap_before: bool,
    /// The branch is nothing but the run.
    alone: bool,
    /// The pieces after it.
    after: &'a [Piece],
}

/// Whether text that two runs have in common has room for a landmark or a piece.
///
/// `before` is the spelled character before it, if there is one, `next` the one after it; `resumes`
/// says whether a landmark may begin with it after a gap, and `pieces` whether pieces count.
pub(super) fn qualifies(
    common: &str,
    before: Option<char>,
    next: Option<char>,
    resumes: bool,
    pieces: bool,
) -> bool {
    room(common, before, next, resumes, pieces).0
}

/// [`qualifies`], and how many bytes were looked at; each at most a few times.
pub(super) fn room(
    common: &str,
    before: Option<char>,
    next: Option<char>,
    resumes: bool,
    pieces: bool,
) -> (bool, usize) {
    let word = |c: char| match c {
        '\0'..='\x7F' => c.is_ascii_alphanumeric() || c == '_',
        _ => is_word(c, false),
    };
    let landmark = usize::from(LANDMARK);
    let mut previous = before;
    if resumes
        && before.is_none_or(word)
        && common.chars().take(landmark).filter(|&c| word(c)).count() == landmark
    {
        return (true, landmark);
    }
    let mut rest = common.chars();
    loop {
        let looked_at = common.len() - rest.as_str().len();
        if previous.is_none_or(|c| !word(c)) {
            // More than these are not asked for.
            let length = rest.clone().take(landmark).take_while(|&c| word(c)).count();
            let ends = || rest.clone().nth(length).is_some() || next.is_none_or(|c| !word(c));
            if length == landmark || (length > 0 && ends()) {
                return (true, looked_at + length);
            }
        }
        if pieces && previous.is_none_or(|c| c == '_') {
            let length = rest.clone().take_while(|&c| word(c) && c != '_').count();
            let ends =
                || rest.clone().nth(length).is_some() || next.is_none_or(|c| !word(c) || c == '_');
            if length >= usize::from(PIECE) && ends() {
                return (true, looked_at + length);
            }
        }
        match rest.next() {
            Some(c) => previous = Some(c),
            None => return (false, common.len()),
        }
    }
}

/// Whether a run that ends in a gap must swallow an identifier of `more`, the text with which
/// another run goes on; paid from `fuel`.
fn swallows(place: RunPlace<'_>, last: Option<char>, more: &str, fuel: &Fuel) -> bool {
    let [Piece::Gap, Piece::Run(then), ..] = place.after else { return false };
    let mut previous = last;
    for (at, c) in more.char_indices() {
        if is_word(c, false) && previous.is_none_or(|c| !is_word(c, false)) {
            fuel.spend(at / 16 + at.saturating_mul(then.len().min(more.len())) / 512);
            if fuel.is_empty() {
                return false;
            }
            // The run after the gap must begin here or before, and agree with the text.
            return !more.char_indices().skip(1).take_while(|&(place, _)| place <= at).any(
                |(place, _)| {
                    more[place..].starts_with(then.as_str()) || then.starts_with(&more[place..])
                },
            );
        }
        previous = Some(c);
    }
    fuel.spend(more.len() / 16);
    false
}

/// For each branch the run that fewest samples have; `None` if a branch has no run.
fn rarest(branches: &[Branch], runs: &Texts<'_>, frequency: &[u32]) -> Option<Vec<String>> {
    let count = |text: &str| {
        runs.find(text).and_then(|at| frequency.get(at as usize)).copied().unwrap_or(0)
    };
    branches
        .iter()
        .map(|branch| {
            let texts = branch.iter().filter_map(|piece| match piece {
                Piece::Run(text) => Some(text),
                Piece::Gap => None,
            });
            texts.min_by_key(|text| (count(text), std::cmp::Reverse(text.len()))).cloned()
        })
        .collect()
}

/// Literals of which every match of a part contains one; `None` if there are none to be seen.
fn required(node: &Node, depth: usize) -> Option<Vec<String>> {
    if depth > 2_048 {
        return None;
    }
    match &node.kind {
        NodeKind::Literal(c, flags) if !flags.has(Flags::IGNORE_CASE) => Some(vec![c.to_string()]),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            required(body, depth + 1)
        }
        NodeKind::Repeat(repeat, body) if repeat.min > 0 => required(body, depth + 1),
        NodeKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(required(part, depth + 1)?);
                if all.len() > 10_000 {
                    return None;
                }
            }
            Some(all)
        }
        NodeKind::Concat(parts) => {
            let mut best: Option<Vec<String>> = None;
            let mut text = String::new();
            let shortest = |all: &[String]| all.iter().map(String::len).min().unwrap_or(0);
            let mut offer = |all: Vec<String>| {
                let worse = best.as_ref().is_some_and(|best| {
                    (shortest(best), std::cmp::Reverse(best.len()))
                        >= (shortest(&all), std::cmp::Reverse(all.len()))
                });
                if !worse && shortest(&all) > 0 {
                    best = Some(all);
                }
            };
            for part in parts {
                match &part.kind {
                    NodeKind::Literal(c, flags) if !flags.has(Flags::IGNORE_CASE) => text.push(*c),
                    // These read nothing, so the text goes on after them.
                    NodeKind::Empty | NodeKind::Assertion(..) | NodeKind::Look(..) => {}
                    _ => {
                        offer(vec![std::mem::take(&mut text)]);
                        if let Some(all) = required(part, depth + 1) {
                            offer(all);
                        }
                    }
                }
            }
            offer(vec![text]);
            best
        }
        _ => None,
    }
}

/// Three characters in a row, or an identifier of one or two.
type Triple = (char, Option<char>, Option<char>);

/// Where in an identifier a pattern can spell a triple out, as a set of bits.
type Roles = u8;
/// At its start.
const FIRST: Roles = 1;
/// After a character that it does not spell out.
const RESUMED: Roles = 2;
/// After `_`, or what may be one.
const AFTER_UNDERSCORE: Roles = 4;

fn merged(mut all: Vec<(Triple, Roles)>) -> Vec<(Triple, Roles)> {
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 |= next.1;
        }
        same
    });
    all
}

fn triples_of_branches(branches: &[Branch]) -> Vec<(Triple, Roles)> {
    let mut all = Vec::new();
    for branch in branches {
        for (piece, run) in branch.iter().enumerate() {
            let Piece::Run(text) = run else { continue };
            let chars: Vec<char> = text.chars().collect();
            let word = |at: usize| chars.get(at).is_some_and(|&c| is_word(c, false));
            for (at, &c) in chars.iter().enumerate().filter(|&(at, _)| word(at)) {
                let roles = match at.checked_sub(1).and_then(|before| chars.get(before)) {
                    None if piece > 0 => FIRST | RESUMED,
                    None => FIRST | AFTER_UNDERSCORE,
                    Some('_') => AFTER_UNDERSCORE,
                    Some(&c) if !is_word(c, false) => FIRST,
                    Some(_) => 0,
                };
                let (second, third) = (chars.get(at + 1).copied(), chars.get(at + 2).copied());
                let triple = match (word(at + 1), word(at + 2)) {
                    (false, _) => (c, None, None),
                    (true, false) => (c, second, None),
                    (true, true) => (c, second, third),
                };
                all.push((triple, roles));
            }
        }
    }
    merged(all)
}

/// What one set can read, as far as identifiers go.
struct Letters {
    words: Vec<char>,
    others: bool,
    underscore: bool,
}

/// The triples that an automaton can spell out, paid from `fuel`; `None` if there are too many.
fn triples_of_program(program: &Program, fuel: &Fuel) -> Option<Vec<(Triple, Roles)>> {
    let own = fuel.part(MAX_MET[0] * program.size() as usize + MAX_MET[1]);
    let found = triples_within(program, &own);
    fuel.spend(own.used());
    found.filter(|_| !own.is_empty())
}

fn triples_within(program: &Program, met_left: &Fuel) -> Option<Vec<(Triple, Roles)>> {
    let meet = |count: usize| {
        met_left.spend(count);
        (!met_left.is_empty()).then_some(())
    };
    // Only of sets that are spelled out, so that they are small (a literal that ignores case is,
    // too).
    let mut letters: Map<u32, Letters> = Map::default();
    for edge in (0..program.len() as u32).flat_map(|state| program.edges(state)) {
        if edge.target == MATCH || !edge.spelled || letters.contains_key(&edge.set) {
            continue;
        }
        let ranges = program.sets.get(edge.set).map_or(&[][..], CharSet::ranges);
        let all: Vec<char> = ranges
            .iter()
            .flat_map(|&(start, end)| start..=end)
            .filter_map(char::from_u32)
            .collect();
        let words: Vec<char> = all.iter().copied().filter(|&c| is_word(c, false)).collect();
        let (others, underscore) = (words.len() < all.len(), words.contains(&'_'));
        letters.insert(edge.set, Letters { words, others, underscore });
    }
    let mut roles = vec![0; program.len()];
    if let Some(start) = roles.get_mut(program.start as usize) {
        *start = FIRST | AFTER_UNDERSCORE;
    }
    for edge in (0..program.len() as u32).flat_map(|state| program.edges(state)) {
        let Some(of) = roles.get_mut(edge.target as usize) else { continue };
        *of |= match letters.get(&edge.set) {
            Some(letters) if edge.spelled => {
                (FIRST * u8::from(letters.others))
                    | (AFTER_UNDERSCORE * u8::from(letters.underscore))
            }
            _ => FIRST | RESUMED,
        };
    }
    let spelled = |state: u32| {
        let edges = program.edges(state).iter().filter(|edge| edge.target != MATCH && edge.spelled);
        edges.filter_map(|edge| {
            letters.get(&edge.set).map(|letters| (edge.target, edge.set, letters))
        })
    };
    // Whether an identifier may end in a state: the match ends, or something is read that is no
    // spelled word character.
    let ends = |state: u32| {
        program.edges(state).iter().any(|edge| {
            edge.target == MATCH
                || !edge.spelled
                || letters.get(&edge.set).is_none_or(|letters| letters.others)
        })
    };
    let ends: Vec<bool> = (0..program.len() as u32).map(ends).collect();
    let may_end = |state: u32| ends.get(state as usize).copied().unwrap_or(true);
    let mut all = Vec::new();
    // Where a way goes on depends on its sets and on where it stands; by most ways it was met before.
    let (mut firsts_met, mut seconds_met, mut thirds_met) =
        (Set::default(), Set::default(), Set::default());
    for state in 0..program.len() as u32 {
        let roles = roles.get(state as usize).copied().unwrap_or_default();
        for (first, a_set, firsts) in spelled(state) {
            meet(1)?;
            if !firsts_met.insert((roles, a_set, first)) {
                continue;
            }
            if may_end(first) {
                all.extend(firsts.words.iter().map(|&a| ((a, None, None), roles)));
            }
            for (second, b_set, seconds) in spelled(first) {
                meet(1)?;
                if !seconds_met.insert((roles, a_set, b_set, second)) {
                    continue;
                }
                if may_end(second) {
                    meet(firsts.words.len() * seconds.words.len())?;
                    for &a in &firsts.words {
                        all.extend(seconds.words.iter().map(|&b| ((a, Some(b), None), roles)));
                    }
                }
                for (_, c_set, thirds) in spelled(second) {
                    meet(1)?;
                    if !thirds_met.insert((roles, a_set, b_set, c_set)) {
                        continue;
                    }
                    let count = firsts.words.len() * seconds.words.len() * thirds.words.len();
                    meet(count)?;
                    for &a in &firsts.words {
                        for &b in &seconds.words {
                            let thirds = thirds.words.iter();
                            all.extend(thirds.map(|&c| ((a, Some(b), Some(c)), roles)));
                        }
                    }
                }
            }
            if all.len() > 16 * MAX_TRIPLES {
                all = merged(all);
                if all.len() > MAX_TRIPLES {
                    return None;
                }
            }
        }
    }
    let all = merged(all);
    (all.len() <= MAX_TRIPLES).then_some(all)
}

/// The relation of two patterns that are nothing but text, and different; paid from `fuel`, and
/// undecided where that does not suffice.
pub(super) fn of_texts(a: &str, b: &str, fuel: &Fuel) -> Relation {
    let undecided = || Relation::bare(Kind::Undecided(Reason::Bound(Bound::Total)));
    fuel.spend((a.len() + b.len()) / 16);
    if fuel.is_empty() {
        return undecided();
    }
    let place = |large: &str, small: &str| {
        let at = if large.len() < small.len() { None } else { large.find(small) };
        at.and_then(|at| large.get(..at)).map(|before| before.chars().count())
    };
    let within = |large: &str, small: &str, at: usize| {
        let (all, part) = ((0, large.chars().count()), (at, at + small.chars().count()));
        let shared = (part.0 < part.1).then_some(part);
        Witness { text: large.to_owned(), shared, a: all, b: part }
    };
    if let Some(at) = place(a, b) {
        return Relation { kind: Kind::AWithinB, witness: Some(within(a, b, at)) };
    }
    if let Some(at) = place(b, a) {
        let witness = within(b, a, at);
        let witness = Witness { a: witness.b, b: witness.a, ..witness };
        return Relation { kind: Kind::BWithinA, witness: Some(witness) };
    }
    let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // By length in scalar values, the longest first; of equal ones the one that `a` begins.
    let mut all: Vec<(std::cmp::Reverse<usize>, bool, usize)> = Vec::new();
    for (left, right, flipped) in [(a, b, false), (b, a, true)] {
        let (mut chars, mut counted) = (0, 0);
        for &common in borders(left, right).iter().rev() {
            chars += right.get(counted..common).map_or(0, |text| text.chars().count());
            counted = common;
            all.push((std::cmp::Reverse(chars), flipped, common));
        }
    }
    all.sort_unstable();
    for (std::cmp::Reverse(chars), flipped, common) in all {
        let (left, right) = if flipped { (b, a) } else { (a, b) };
        let before = left.get(..left.len() - common).and_then(|text| text.chars().next_back());
        let next = right.get(common..).and_then(|text| text.chars().next());
        let (fits, looked_at) =
            room(right.get(..common).unwrap_or_default(), before, next, false, true);
        fuel.spend((looked_at + if fits { left.len() + right.len() } else { 0 }) / 16);
        if fuel.is_empty() {
            return undecided();
        }
        if !fits {
            continue;
        }
        let (left, right) = if flipped { (&y, &x) } else { (&x, &y) };
        let start = left.len() - chars;
        let mut frame = left.clone();
        frame.extend_from_slice(right.get(chars..).unwrap_or_default());
        let all = |start: usize, end: usize| Match { start, end, spelled: vec![true; end - start] };
        let (one, other) = (all(0, left.len()), all(start, frame.len()));
        if Identifiers::new(&frame).overlap(&one, &other) {
            let spans = ((0, left.len()), (start, frame.len()));
            let (a, b) = if flipped { (spans.1, spans.0) } else { spans };
            return Relation { kind: Kind::Partial, witness: Some(witness(&frame, a, b)) };
        }
    }
    Relation { kind: Kind::None, witness: None }
}

/// For each text with which `left` ends and `right` begins its length in bytes, the longest first.
///
/// By the failure function of Knuth, Morris and Pratt (*Fast pattern matching in strings*, 1977), in
/// time linear in the two.
pub(super) fn borders(left: &str, right: &str) -> Vec<usize> {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let most = left.len().min(right.len());
    let (tail, right) = (&left[left.len() - most..], &right[..most]);
    if most <= SHORT {
        return (1..=most).rev().filter(|&length| tail.ends_with(&right[..length])).collect();
    }
    // For each beginning of `right` the longest shorter one that it ends with.
    let mut shorter = vec![0; most + 1];
    let grow = |shorter: &[usize], mut length: usize, byte: u8| loop {
        if right.get(length) == Some(&byte) {
            return length + 1;
        }
        if length == 0 {
            return 0;
        }
        length = shorter[length];
    };
    for at in 1..most {
        shorter[at + 1] = grow(&shorter, shorter[at], right[at]);
    }
    let mut length = tail.iter().fold(0, |length, &byte| grow(&shorter, length, byte));
    let mut all = Vec::new();
    while length > 0 {
        all.push(length);
        length = shorter[length];
    }
    all
}

/// Writes a part down so that two parts of equal text after parsing are written alike: spans are
/// left out, and groups without a number. A set is its number in `sets`, which is the same for all; without
/// them it is what it is written as.
fn canonical(node: &Node, mut sets: Option<&mut AHashMap<CharSet, u32>>, out: &mut Vec<u8>) {
    let number = |out: &mut Vec<u8>, n: u32| out.extend_from_slice(&n.to_le_bytes());
    let char_ = |out: &mut Vec<u8>, c: char| out.extend_from_slice(&(c as u32).to_le_bytes());
    let flag = |out: &mut Vec<u8>, flags: Flags| {
        let all = [Flags::IGNORE_CASE, Flags::MULTI_LINE, Flags::DOT_ALL, Flags::ASCII];
        out.push(all.iter().enumerate().map(|(bit, &flag)| u8::from(flags.has(flag)) << bit).sum());
    };
    // No text in UTF-8 starts with such a byte, so that a pattern of plain text is written like no
    // other.
    out.push(0xFF);
    match &node.kind {
        NodeKind::Empty => out.push(0),
        NodeKind::Literal(c, flags) => {
            out.push(1);
            char_(out, *c);
            flag(out, *flags);
        }
        NodeKind::Dot(flags) => {
            out.push(2);
            flag(out, *flags);
        }
        NodeKind::Class(class, flags) => {
            if let Some(sets) = sets {
                out.push(3);
                let next = sets.len() as u32;
                let set = charset::class(class, *flags);
                number(out, *sets.entry(set).or_insert(next));
                return;
            }
            out.extend([14, u8::from(class.negated)]);
            flag(out, *flags);
            number(out, class.items.len() as u32);
            for item in &class.items {
                let (first, last) = match item.kind {
                    ClassItemKind::Single(c) => (c as u32, c as u32),
                    ClassItemKind::Range(first, last) => (first as u32, last as u32),
                    // No range ends before it begins.
                    ClassItemKind::Perl(kind) => (u32::MAX, kind as u32),
                    ClassItemKind::NotPerl(kind) => (u32::MAX - 1, kind as u32),
                };
                number(out, first);
                number(out, last);
            }
        }
        NodeKind::Assertion(assertion, flags) => {
            out.push(4);
            out.push(*assertion as u8);
            flag(out, *flags);
        }
        NodeKind::Look(look, body) => {
            out.push(5);
            out.push(u8::from(look.behind) * 2 + u8::from(look.negative));
            canonical(body, sets, out);
        }
        NodeKind::Capture(group, body) => {
            out.push(6);
            number(out, *group);
            canonical(body, sets, out);
        }
        NodeKind::Group(body) => {
            out.pop();
            canonical(body, sets, out);
        }
        NodeKind::Atomic(body) => {
            out.push(7);
            canonical(body, sets, out);
        }
        NodeKind::Repeat(repeat, body) => {
            out.push(8);
            number(out, repeat.min);
            number(out, repeat.max.map_or(0, |max| max.saturating_add(1)));
            out.push(match repeat.kind {
                RepeatKind::Greedy => 0,
                RepeatKind::Lazy => 1,
                RepeatKind::Possessive => 2,
            });
            canonical(body, sets, out);
        }
        NodeKind::Concat(parts) | NodeKind::Alternation(parts) => {
            out.push(if matches!(node.kind, NodeKind::Concat(_)) { 9 } else { 10 });
            number(out, parts.len() as u32);
            for part in parts {
                canonical(part, sets.as_deref_mut(), out);
            }
        }
        NodeKind::Backreference(group, flags) => {
            out.push(11);
            number(out, *group);
            flag(out, *flags);
        }
        NodeKind::Conditional(group, yes, no) => {
            out.push(12);
            number(out, *group);
            canonical(yes, sets.as_deref_mut(), out);
            match no {
                Some(no) => canonical(no, sets, out),
                None => out.push(13),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::{MAX_SIZE, Side};
    use super::*;
    use crate::pattern::{Versions, parse};

    /// Texts of a few letters, short and long, much alike.
    fn texts() -> Vec<String> {
        let mut all: Vec<String> = ["a", "_", "é", "ab", "a_b", "::", "éa:é", "x_abcd", "abcd_x"]
            .iter()
            .flat_map(|part| [1, 2, 3, 70].map(|count| part.repeat(count)))
            .collect();
        let longer: Vec<String> =
            all.iter().flat_map(|text| [format!("{text}:b"), format!("_x{text}")]).collect();
        all.extend(longer);
        all
    }

    #[test]
    fn borders_are_those_that_a_scan_finds() {
        let texts = texts();
        for left in &texts {
            for right in &texts {
                let lengths = (1..=left.len().min(right.len())).rev();
                let scan: Vec<usize> = lengths
                    .filter(|&length| right.get(..length).is_some_and(|text| left.ends_with(text)))
                    .collect();
                assert_eq!(borders(left, right), scan, "{left} {right}");
            }
        }
    }

    #[test]
    fn room_is_found_in_one_pass() {
        // Here every place begins a word part, and none is long enough.
        for part in ["x_", "_", "ab_", "::", ":_", "é_"] {
            let text = part.repeat(5_000);
            let (fits, looked_at) = room(&text, Some('a'), Some('a'), false, true);
            assert!(!fits || looked_at < 16, "{part}");
            assert!(looked_at <= text.len() + 16, "{part}");
        }
    }

    #[test]
    fn long_texts_that_are_alike_are_paid_for() {
        let size = 100_000;
        let (a, b) = (format!("x_{}b", "a_".repeat(size)), format!("{}c", "a_".repeat(size)));
        let most = 1 << 20;
        let enough = Fuel::new(most);
        let relation = of_texts(&a, &b, &enough);
        assert_eq!(relation.kind, Kind::None);
        assert!(enough.used() >= size / 16, "{}", enough.used());
        assert!(enough.used() < size, "{}", enough.used());
        // Each text that both have in common is looked through to its end.
        let (a, b) = (format!("c{}", "a_".repeat(size)), format!("{}b", "a_".repeat(size)));
        let fuel = Fuel::new(most);
        let relation = of_texts(&a, &b, &fuel);
        assert_eq!(relation.kind, Kind::Undecided(Reason::Bound(Bound::Total)));
        assert!(fuel.is_empty());
        // The first that is enough ends the search.
        let (a, b) = (format!("c::{}", "ab".repeat(size)), format!("{}d", "ab".repeat(size)));
        let fuel = Fuel::new(most);
        assert_eq!(of_texts(&a, &b, &fuel).kind, Kind::Partial);
        assert!(fuel.used() < size, "{}", fuel.used());
    }

    #[test]
    fn an_automaton_in_which_every_state_leads_to_every_other_is_spelled_out() {
        let deep = 100;
        let pattern = format!("{}a{}", "(?:a|".repeat(deep), ")*".repeat(deep)) + "b";
        let ast = parse(&pattern, Versions::ALL).unwrap_or_else(|error| panic!("{error:?}"));
        let program = Program::new(&ast, Side::Over, MAX_SIZE).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(program.size() > 1_000);
        let triples = triples_of_program(&program, &Fuel::new(1 << 24)).map_or(0, |all| all.len());
        // `aaa`, `aab`, `ab` and `b`.
        assert_eq!(triples, 4);
    }

    fn trees(patterns: impl Iterator<Item = String>) -> Vec<Ast> {
        let tree = |text: String| {
            parse(&text, Versions::ALL).unwrap_or_else(|error| panic!("{text}: {error:?}"))
        };
        patterns.map(tree).collect()
    }

    #[test]
    fn hard_pairs_take_a_part_of_the_states_of_a_run_and_leave_the_rest_open() {
        let asts = trees((0..60).map(|i| format!("(a|b)*a(a|b){{{}}}x_y{i}", 30 + i)));
        let sources: Vec<Source<'_>> = asts.iter().map(Source::Tree).collect();
        let budget = Budget::default();
        let of = |own, all| Index::part_of(&sources, budget, (own, all)).total;
        let each = TOTAL_PER_PATTERN * sources.len();
        assert_eq!(of(1, 1), TOTAL + each);
        assert_eq!(of(30, 90), TOTAL / 90 * 30 + each);
        // However many there are, something is left for each.
        assert_eq!(of(1, usize::MAX), TOTAL / MOST_PARTS + each);
        assert_eq!(of(0, 0), TOTAL / MOST_PARTS + each);
        let found = Index::part_of(&sources, budget, (1, 1_000)).pairs();
        let is_open = |finding: &Finding| {
            finding.relation.kind == Kind::Undecided(Reason::Bound(Bound::Total))
        };
        assert!(found.findings.iter().any(is_open) || found.left_out > 0);
    }

    #[test]
    fn pairs_that_stay_open_do_not_take_all_states() {
        let asts = trees((0..40).map(|i| format!("(a|b)*a(a|b){{{}}}$", 30 + i)));
        let all: Vec<&Ast> = asts.iter().collect();
        let index = Index::new(&all, Budget::default()).with_total(2_000_000);
        let all: Vec<(u32, u32)> =
            (0..40u32).flat_map(|a| (a + 1..40).map(move |b| (a, b))).collect();
        let mut purse = Purse::new(index.total);
        let (findings, left_out) = index.decide(&all, &|_, _| Wanted::Relation, &mut purse);
        assert_eq!((findings.len(), left_out), (all.len(), 0));
        let is_open = |finding: &Finding| matches!(finding.relation.kind, Kind::Undecided(_));
        assert!(findings.iter().all(is_open));
        // The last wave may take twice what is left for such pairs, as most of it is usually decided.
        assert_eq!(purse.in_vain, 0);
        assert!(purse.left >= index.total / 5, "{}", purse.left);
    }
}
