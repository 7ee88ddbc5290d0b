//! From the syntax tree to an automaton.
//!
//! First the tree is **lowered** to [`Re`], a small language of regular expressions with
//! lookarounds, in which atomic groups and possessive repeats are rewritten away. Then a
//! **program** is made of it: Thompson's construction (*Regular expression search algorithm*,
//! 1968), with the empty moves taken out, so that a state has one edge for each character set that
//! can be read next, and an edge may have **conditions** (`\b`, a lookahead, …) that hold at the
//! place before the character. A state is thus a place after a character (or the start of the
//! pattern or of a lookaround's body); bodies are parts of the same automaton.
//!
//! # What is exact
//! Everything regular. With `R` for what follows inside the same atomic group:
//! - `(?>A|B)` is `(?>A)|(?!A)(?>B)`;
//! - `(?>X*)` is `(?>X)*(?!X)`, and `X*+` is that too; with an `R` that can fail, and an `X` of
//!   fixed width, `(?>X*R)` is `(?:X(?=X*R))*(?!XX*R)(?>R)` and `(?>X*?R)` is `(?:(?!R)X)*(?>R)`;
//! - `(?>XR)` is `(?>X)(?>R)` where `X` has a fixed width.
//!
//! Backreferences, conditionals and the other atomic groups are approximated: from above where the
//! pattern's claims are to be a superset ([`Side::Over`]), from below in the other case, and the
//! other way round inside a negative lookaround. [`Program::inexact`] says so. Uses `pattern::ast`,
//! `charset`, `alphabet`.

use std::collections::VecDeque;
use std::rc::Rc;

use ahash::AHashMap;

use super::alphabet::Sets;
use super::charset::{self, CharSet};
use super::hash::{Map, Set};
use super::{Bound, Reason};
use crate::pattern::ast::{Assertion, Ast, Flags, Node, NodeKind, Repeat, RepeatKind};

/// The most characters that a class may have to count as spelled out.
pub(crate) const SPELLED_CLASS: usize = 16;

/// The most places and edges of one automaton.
pub(crate) const MAX_SIZE: u64 = 1 << 20;

/// How many ranges of a set take as much as a place or an edge.
const RANGES: usize = 16;

/// The deepest nesting that is followed.
const MAX_DEPTH: usize = 2_048;

/// The most repeats that are written out one by one inside an atomic group.
const MAX_UNROLLED: u32 = 64;

/// The most parts of atomic groups that are looked at for one pattern: an exact form may double
/// with each branch.
const MAX_ATOMICS: u32 = 50_000;

/// The target of an edge that ends a match.
pub(crate) const MATCH: u32 = u32::MAX;

/// Which way to err where a construct is not regular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Match at least what the pattern matches.
    Over,
    /// Match at most that.
    Under,
}

impl Side {
    fn flip(self) -> Self {
        match self {
            Self::Over => Self::Under,
            Self::Under => Self::Over,
        }
    }
}

/// What must hold at a place for an edge to be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Cond {
    /// The frame starts here.
    Start,
    /// It ends here.
    End,
    /// `\b` (`\B` if negated), by ASCII word characters only under `(?a)`.
    Boundary { negated: bool, ascii: bool },
    /// A lookahead, by the first state of its body.
    Ahead { negated: bool, body: u32 },
    /// A lookbehind, by its index in [`Program::behinds`].
    Behind { negated: bool, index: u32 },
}

impl Cond {
    /// Whether it asks for more than the characters on both sides of the place.
    pub(crate) fn looks(self) -> bool {
        matches!(self, Self::Ahead { .. } | Self::Behind { .. })
    }
}

/// A step of an automaton.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    /// The characters it reads, by the index of their set; nothing for [`MATCH`].
    pub(crate) set: u32,
    /// The state that it leads to, or [`MATCH`].
    pub(crate) target: u32,
    /// Its conditions, as a range of the program's.
    conds: (u32, u32),
    /// Whether the pattern spells the character out.
    pub(crate) spelled: bool,
}

impl Edge {
    /// Whether it has conditions.
    pub(crate) fn is_conditional(&self) -> bool {
        self.conds.0 != self.conds.1
    }
}

/// A pattern as an automaton.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    states: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    conds: Vec<Cond>,
    /// For each state how many characters a match needs from there at least.
    distances: Vec<u32>,
    /// For some states another one that can do all that they can.
    betters: Vec<u32>,
    /// For each state whether a match can end there whatever follows.
    accepting: Vec<bool>,
    /// The first state of the pattern.
    pub(crate) start: u32,
    /// The first states of the bodies of lookbehinds; one inside another comes before it.
    pub(crate) behinds: Vec<u32>,
    /// The character sets.
    pub(crate) sets: Sets,
    /// Why it is only an approximation, if so.
    pub(crate) inexact: Option<Reason>,
}

impl Program {
    /// Compiles a pattern to an automaton of at most `limit` places and edges, [`MAX_SIZE`] or
    /// less.
    pub(crate) fn new(ast: &Ast, side: Side, limit: u64) -> Result<Self, Reason> {
        size_before(ast, limit)?;
        let mut lowering = Lowering::new(limit);
        let re = lowering.node(&ast.root, side, 0)?;
        let mut program = Builder::new(limit).finish(&re, lowering.sets)?;
        program.inexact = lowering.inexact;
        Ok(program)
    }

    /// The automaton that claims every frame that has a character of `set`.
    pub(crate) fn of_set(set: CharSet) -> Result<Self, Reason> {
        Builder::new(MAX_SIZE).finish(&Re::set(0, false), vec![set])
    }

    /// The edges from a state.
    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        let (start, end) = self.states.get(state as usize).copied().unwrap_or_default();
        self.edges.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The conditions of an edge.
    pub(crate) fn conds(&self, edge: &Edge) -> &[Cond] {
        self.conds.get(edge.conds.0 as usize..edge.conds.1 as usize).unwrap_or_default()
    }

    /// How many characters a match needs from a state at least; `u32::MAX` if there is no end.
    pub(crate) fn distance(&self, state: u32) -> u32 {
        self.distances.get(state as usize).copied().unwrap_or(u32::MAX)
    }

    /// A state that can do all that this one can, and more: in `x{0,50}` the one after the first
    /// round is better than those after the others. A place of a product that differs from one
    /// already met only by a worse state leads to nothing new.
    pub(crate) fn better(&self, state: u32) -> Option<u32> {
        self.betters.get(state as usize).copied().filter(|&better| better != u32::MAX)
    }

    /// [`Program::distance`] of every state, from the ends backwards.
    fn measure(&self) -> Vec<u32> {
        let mut counts = vec![0u32; self.states.len() + 1];
        let steps = |state: u32| self.edges(state).iter().filter(|edge| edge.target != MATCH);
        for edge in self.edges.iter().filter(|edge| edge.target != MATCH) {
            if let Some(count) = counts.get_mut(edge.target as usize + 1) {
                *count += 1;
            }
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let mut next = counts.clone();
        let mut sources = vec![0u32; self.edges.len()];
        for state in 0..self.len() as u32 {
            for edge in steps(state) {
                let place = &mut next[edge.target as usize];
                sources[*place as usize] = state;
                *place += 1;
            }
        }
        let mut distances = vec![u32::MAX; self.states.len()];
        let ends = |state: &u32| self.edges(*state).iter().any(|edge| edge.target == MATCH);
        let mut queue: VecDeque<u32> = (0..self.len() as u32).filter(ends).collect();
        for &state in &queue {
            distances[state as usize] = 0;
        }
        while let Some(state) = queue.pop_front() {
            let at = state as usize;
            for &source in &sources[counts[at] as usize..counts[at + 1] as usize] {
                if distances[source as usize] == u32::MAX {
                    distances[source as usize] = distances[at] + 1;
                    queue.push_back(source);
                }
            }
        }
        distances
    }

    /// How many places and edges it has.
    pub(crate) fn size(&self) -> u64 {
        (self.states.len() + self.edges.len()) as u64
    }

    /// How many states it has.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether what stands before a match has no say in it.
    pub(crate) fn ignores_left(&self) -> bool {
        self.conds.iter().all(|cond| matches!(cond, Cond::End | Cond::Ahead { .. }))
    }

    /// Whether some step reads a character that the pattern does not spell out.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.edges.iter().any(|edge| edge.target != MATCH && !edge.spelled)
    }

    /// Whether a match can end in a state whatever follows.
    pub(crate) fn accepts(&self, state: u32) -> bool {
        self.accepting.get(state as usize).copied().unwrap_or(false)
    }
}

/// Whether the automaton of a pattern may be of at most `limit` places and edges, its sets included, as far
/// as that is known before anything is made.
pub(crate) fn size_before(ast: &Ast, limit: u64) -> Result<(), Reason> {
    if charset::weight(&ast.root) > charset::MAX_RANGES {
        return Err(Reason::Bound(Bound::Ranges));
    }
    // Where all that a pattern may have is allowed, its sets have a bound of their own.
    let sets = if limit < MAX_SIZE { size_of_sets(ast) } else { 0 };
    let least = places(&ast.root, 0).saturating_add(sets);
    if least > limit { Err(Reason::Bound(Bound::Size)) } else { Ok(()) }
}

/// What it takes to work out the sets of a pattern, in places and edges.
pub(crate) fn size_of_sets(ast: &Ast) -> u64 {
    (charset::weight(&ast.root) / RANGES) as u64
}

/// How many places a pattern has, each as often as it is repeated.
fn places(node: &Node, depth: usize) -> u64 {
    if depth > MAX_DEPTH {
        return 0;
    }
    match &node.kind {
        NodeKind::Literal(..) | NodeKind::Dot(_) | NodeKind::Class(..) => 1,
        NodeKind::Concat(parts) | NodeKind::Alternation(parts) => {
            parts.iter().fold(0, |sum: u64, part| sum.saturating_add(places(part, depth + 1)))
        }
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Look(_, body) => {
            places(body, depth + 1)
        }
        NodeKind::Repeat(repeat, body) if repeat.kind != RepeatKind::Possessive => {
            let rounds = repeat.max.unwrap_or(repeat.min.max(1));
            (places(body, depth + 1) + 1).saturating_mul(u64::from(rounds))
        }
        _ => 0,
    }
}

/// A regular expression with lookarounds.
#[derive(Debug)]
struct Re {
    kind: Kind,
    /// The length in characters of all that it matches, if there is one.
    width: Option<u32>,
    /// Whether it can match the empty text, lookarounds and places put aside.
    nullable: bool,
    /// Whether it matches at every place.
    total: bool,
    /// How many places its automaton has, about.
    size: u64,
}

#[derive(Debug)]
enum Kind {
    Empty,
    Fail,
    Set { set: u32, spelled: bool },
    Assert(Cond),
    Look { behind: bool, negated: bool, body: Rc<Re> },
    Concat(Vec<Rc<Re>>),
    Alternation(Vec<Rc<Re>>),
    Repeat { min: u32, max: Option<u32>, lazy: bool, body: Rc<Re> },
}

impl Re {
    fn new(kind: Kind) -> Rc<Self> {
        let (width, nullable, total, size) = match &kind {
            Kind::Empty => (Some(0), true, true, 0),
            Kind::Fail => (Some(0), false, false, 1),
            Kind::Set { .. } => (Some(1), false, false, 1),
            Kind::Assert(_) => (Some(0), true, false, 1),
            Kind::Look { body, .. } => (Some(0), true, false, body.size + 1),
            Kind::Concat(parts) => (
                parts.iter().try_fold(0u32, |sum, part| sum.checked_add(part.width?)),
                parts.iter().all(|part| part.nullable),
                parts.iter().all(|part| part.total),
                parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.size)),
            ),
            Kind::Alternation(parts) => (
                parts
                    .first()
                    .and_then(|first| first.width)
                    .filter(|&w| parts.iter().all(|part| part.width == Some(w))),
                parts.iter().any(|part| part.nullable),
                parts.iter().any(|part| part.total),
                parts.iter().fold(1u64, |sum, part| sum.saturating_add(part.size)),
            ),
            Kind::Repeat { min, max, body, .. } => (
                body.width
                    .filter(|&w| w == 0 || *max == Some(*min))
                    .and_then(|w| w.checked_mul(*min)),
                *min == 0 || body.nullable,
                *min == 0 || body.total,
                (body.size + 1).saturating_mul(u64::from(
                    max.unwrap_or(*min + u32::from(*min < u32::MAX)).max(1),
                )),
            ),
        };
        Rc::new(Self { kind, width, nullable, total, size })
    }

    fn empty() -> Rc<Self> {
        Self::new(Kind::Empty)
    }

    fn set(set: u32, spelled: bool) -> Rc<Self> {
        Self::new(Kind::Set { set, spelled })
    }

    fn concat(mut parts: Vec<Rc<Self>>) -> Rc<Self> {
        parts.retain(|part| !matches!(part.kind, Kind::Empty));
        match parts.len() {
            0 => Self::empty(),
            1 => parts.swap_remove(0),
            _ => Self::new(Kind::Concat(parts)),
        }
    }

    fn ahead(negated: bool, body: Rc<Self>) -> Rc<Self> {
        Self::new(Kind::Look { behind: false, negated, body })
    }

    fn repeat(min: u32, max: Option<u32>, body: Rc<Self>) -> Rc<Self> {
        if max == Some(0) {
            return Self::empty();
        }
        Self::new(Kind::Repeat { min, max, lazy: false, body })
    }
}

/// The first way from the syntax tree to the automaton: to [`Re`].
struct Lowering {
    limits: Limits,
    sets: Vec<CharSet>,
    ids: AHashMap<CharSet, u32>,
    /// The expressions of single characters.
    chars: AHashMap<char, Rc<Re>>,
    /// What each capturing group matches, for approximating backreferences.
    groups: Map<u32, Rc<Re>>,
    inexact: Option<Reason>,
}

/// How large an expression may grow.
struct Limits {
    size: u64,
    /// How many more parts of atomic groups are looked at.
    atomics: u32,
}

impl Limits {
    fn fits(&self, re: Rc<Re>) -> Option<Rc<Re>> {
        (re.size <= self.size).then_some(re)
    }
}

impl Lowering {
    fn new(limit: u64) -> Self {
        Self {
            limits: Limits { size: limit, atomics: MAX_ATOMICS },
            sets: Vec::new(),
            ids: AHashMap::new(),
            chars: AHashMap::new(),
            groups: Map::default(),
            inexact: None,
        }
    }

    fn set(&mut self, set: CharSet, spelled: bool) -> Rc<Re> {
        let next = self.sets.len() as u32;
        let id = if let Some(&id) = self.ids.get(&set) {
            id
        } else {
            self.sets.push(set.clone());
            self.ids.insert(set, next);
            next
        };
        Re::set(id, spelled)
    }

    /// One character; most of a pattern is such.
    fn char(&mut self, c: char) -> Rc<Re> {
        if let Some(known) = self.chars.get(&c) {
            return known.clone();
        }
        let re = self.set(CharSet::single(c), true);
        self.chars.insert(c, re.clone());
        re
    }

    fn node(&mut self, node: &Node, side: Side, depth: usize) -> Result<Rc<Re>, Reason> {
        if depth > MAX_DEPTH {
            return Err(Reason::Bound(Bound::Depth));
        }
        let re = match &node.kind {
            NodeKind::Empty => Re::empty(),
            NodeKind::Literal(c, flags) if charset::is_itself(*c, *flags) => self.char(*c),
            NodeKind::Literal(c, flags) => self.set(charset::literal(*c, *flags), true),
            NodeKind::Dot(flags) => self.set(charset::dot(*flags), false),
            NodeKind::Class(class, flags) => {
                let set = charset::class(class, *flags);
                let spelled = set.len() <= SPELLED_CLASS;
                self.set(set, spelled)
            }
            NodeKind::Assertion(assertion, flags) => {
                Re::new(Kind::Assert(assert(*assertion, *flags)))
            }
            NodeKind::Look(look, body) => {
                let side = if look.negative { side.flip() } else { side };
                let body = self.node(body, side, depth + 1)?;
                Re::new(Kind::Look { behind: look.behind, negated: look.negative, body })
            }
            NodeKind::Capture(group, body) => {
                let re = self.node(body, side, depth + 1)?;
                self.groups.insert(*group, re.clone());
                re
            }
            NodeKind::Group(body) => self.node(body, side, depth + 1)?,
            NodeKind::Concat(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.node(part, side, depth + 1))
                    .collect::<Result<Vec<_>, _>>()?;
                Re::concat(parts)
            }
            NodeKind::Alternation(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.node(part, side, depth + 1))
                    .collect::<Result<Vec<_>, _>>()?;
                Re::new(Kind::Alternation(parts))
            }
            NodeKind::Atomic(body) => {
                let before = self.inexact.clone();
                let re = self.node(body, side, depth + 1)?;
                let exact = if self.inexact == before {
                    atomic(std::slice::from_ref(&re), 0, &mut self.limits)
                } else {
                    None
                };
                self.or_approximate(exact, re, side)
            }
            NodeKind::Repeat(repeat, body) => {
                let before = self.inexact.clone();
                let re = self.node(body, side, depth + 1)?;
                self.repeat(*repeat, &re, side, before.as_ref())
            }
            NodeKind::Backreference(group, flags) => {
                self.inexact = Some(Reason::Backreference);
                match (side, self.groups.get(group).cloned()) {
                    (Side::Under, _) => Re::new(Kind::Fail),
                    (Side::Over, Some(body)) if !flags.has(Flags::IGNORE_CASE) => {
                        Self::text_of(&body)
                    }
                    (Side::Over, _) => {
                        let any = self.set(CharSet::all(), false);
                        Re::repeat(0, None, any)
                    }
                }
            }
            NodeKind::Conditional(_, yes, no) => {
                self.inexact = Some(Reason::Conditional);
                let yes = self.node(yes, side, depth + 1)?;
                let no = match no {
                    Some(no) => self.node(no, side, depth + 1)?,
                    None => Re::empty(),
                };
                match side {
                    Side::Over => Re::new(Kind::Alternation(vec![yes, no])),
                    Side::Under => Re::new(Kind::Fail),
                }
            }
        };
        self.limits.fits(re).ok_or(Reason::Bound(Bound::Size))
    }

    fn or_approximate(&mut self, exact: Option<Rc<Re>>, plain: Rc<Re>, side: Side) -> Rc<Re> {
        match (exact, side) {
            (Some(re), _) => re,
            (None, Side::Over) => {
                self.inexact.get_or_insert(Reason::Atomic);
                plain
            }
            (None, Side::Under) => {
                self.inexact.get_or_insert(Reason::Atomic);
                Re::new(Kind::Fail)
            }
        }
    }

    fn repeat(
        &mut self,
        repeat: Repeat,
        body: &Rc<Re>,
        side: Side,
        before: Option<&Reason>,
    ) -> Rc<Re> {
        let plain = Re::new(Kind::Repeat {
            min: repeat.min,
            max: repeat.max,
            lazy: repeat.kind == RepeatKind::Lazy,
            body: body.clone(),
        });
        if repeat.kind != RepeatKind::Possessive {
            return if repeat.max == Some(0) { Re::empty() } else { plain };
        }
        // CPython makes each round atomic by itself; then as many as there can be.
        let exact = match atomic(std::slice::from_ref(body), 0, &mut self.limits) {
            Some(round) if self.inexact.as_ref() == before && !body.nullable => {
                Some(Re::concat(vec![
                    Re::repeat(repeat.min, Some(repeat.min), round.clone()),
                    as_many(
                        &round,
                        body,
                        repeat.max.map(|max| max.saturating_sub(repeat.min)),
                        &Re::empty(),
                    ),
                ]))
            }
            _ => None,
        };
        self.or_approximate(exact, plain, side)
    }

    /// What a backreference to a group can match at most: the group's texts at any place.
    fn text_of(re: &Re) -> Rc<Re> {
        match &re.kind {
            Kind::Empty | Kind::Assert(_) | Kind::Look { .. } => Re::empty(),
            Kind::Fail => Re::new(Kind::Fail),
            Kind::Set { set, .. } => Re::set(*set, false),
            Kind::Concat(parts) => {
                Re::concat(parts.iter().map(|part| Self::text_of(part)).collect())
            }
            Kind::Alternation(parts) => {
                Re::new(Kind::Alternation(parts.iter().map(|part| Self::text_of(part)).collect()))
            }
            Kind::Repeat { min, max, body, .. } => Re::repeat(*min, *max, Self::text_of(body)),
        }
    }
}

fn assert(assertion: Assertion, flags: Flags) -> Cond {
    let ascii = flags.has(Flags::ASCII);
    match assertion {
        // No frame has a line feed, so a line is the text.
        Assertion::Caret | Assertion::TextStart => Cond::Start,
        Assertion::Dollar | Assertion::TextEnd => Cond::End,
        Assertion::WordBoundary => Cond::Boundary { negated: false, ascii },
        Assertion::NotWordBoundary => Cond::Boundary { negated: true, ascii },
    }
}

/// As many rounds as there can be, up to `max`, and then `rest`. A round matches if `plain` does.
fn as_many(round: &Rc<Re>, plain: &Rc<Re>, max: Option<u32>, rest: &Rc<Re>) -> Rc<Re> {
    let stop = Re::ahead(true, plain.clone());
    match max {
        None => Re::concat(vec![Re::repeat(0, None, round.clone()), stop, rest.clone()]),
        Some(0) => rest.clone(),
        Some(max) => Re::concat(vec![
            Re::new(Kind::Alternation(vec![
                Re::concat(vec![Re::repeat(0, Some(max - 1), round.clone()), stop]),
                Re::repeat(max, Some(max), round.clone()),
            ])),
            rest.clone(),
        ]),
    }
}

/// An atomic group around the parts of `seq`, one after the other, without atomic groups; `None`
/// where no exact form is known, or it would be too large.
fn atomic(seq: &[Rc<Re>], depth: usize, limits: &mut Limits) -> Option<Rc<Re>> {
    limits.atomics = limits.atomics.saturating_sub(1 + seq.len() as u32);
    if depth > MAX_DEPTH || limits.atomics == 0 {
        return None;
    }
    let Some((first, rest)) = seq.split_first() else { return Some(Re::empty()) };
    if !rest.is_empty() && first.width.is_some() {
        let head = atomic(std::slice::from_ref(first), depth + 1, limits)?;
        let tail = atomic(rest, depth + 1, limits)?;
        return limits.fits(Re::concat(vec![head, tail]));
    }
    let re = match &first.kind {
        Kind::Empty | Kind::Fail | Kind::Set { .. } | Kind::Assert(_) | Kind::Look { .. } => {
            first.clone()
        }
        Kind::Concat(parts) => {
            let all: Vec<_> = parts.iter().chain(rest).cloned().collect();
            return atomic(&all, depth + 1, limits);
        }
        Kind::Alternation(parts) => {
            let mut branches = Vec::with_capacity(parts.len());
            let mut failed: Vec<Rc<Re>> = Vec::new();
            for part in parts {
                let mut all = vec![part.clone()];
                all.extend(rest.iter().cloned());
                let branch = atomic(&all, depth + 1, limits)?;
                let mut whole = Vec::new();
                if !failed.is_empty() {
                    whole.push(Re::ahead(true, Re::new(Kind::Alternation(failed.clone()))));
                }
                whole.push(branch);
                branches.push(limits.fits(Re::concat(whole))?);
                failed.push(Re::concat(all));
            }
            Re::new(Kind::Alternation(branches))
        }
        Kind::Repeat { min, max, lazy, body } => {
            atomic_repeat((*min, *max, *lazy), body, rest, depth, limits)?
        }
    };
    limits.fits(re)
}

/// [`atomic`] for a repeat and what follows it.
fn atomic_repeat(
    (min, max, lazy): (u32, Option<u32>, bool),
    body: &Rc<Re>,
    rest: &[Rc<Re>],
    depth: usize,
    limits: &mut Limits,
) -> Option<Rc<Re>> {
    if body.nullable {
        return None;
    }
    if min > 0 {
        if min > MAX_UNROLLED {
            return None;
        }
        let mut all = vec![body.clone(); min as usize];
        if max != Some(min) {
            let max = max.map(|max| max.saturating_sub(min));
            all.push(Re::new(Kind::Repeat { min: 0, max, lazy, body: body.clone() }));
        }
        all.extend(rest.iter().cloned());
        return atomic(&all, depth + 1, limits);
    }
    let round = atomic(std::slice::from_ref(body), depth + 1, limits)?;
    let tail = atomic(rest, depth + 1, limits)?;
    let rest = Re::concat(rest.to_vec());
    if rest.total {
        // Whatever round is taken, the rest follows: no way back is ever used.
        return Some(if lazy { tail } else { as_many(&round, body, max, &tail) });
    }
    body.width?;
    if lazy {
        let more = Re::concat(vec![Re::ahead(true, rest), round]);
        return Some(Re::concat(vec![Re::repeat(0, max, more), tail]));
    }
    let then =
        |rounds: Option<u32>| Re::concat(vec![Re::repeat(0, rounds, body.clone()), rest.clone()]);
    let stop = |rounds: Option<u32>| Re::ahead(true, Re::concat(vec![body.clone(), then(rounds)]));
    match max {
        None => Some(Re::concat(vec![
            Re::repeat(0, None, Re::concat(vec![round, Re::ahead(false, then(None))])),
            stop(None),
            tail,
        ])),
        Some(max) if max <= MAX_UNROLLED => {
            let mut all = tail.clone();
            for left in 0..max {
                all = limits.fits(Re::new(Kind::Alternation(vec![
                    Re::concat(vec![round.clone(), Re::ahead(false, then(Some(left))), all]),
                    Re::concat(vec![stop(Some(left)), tail.clone()]),
                ])))?;
            }
            Some(all)
        }
        Some(_) => None,
    }
}

/// A node of Thompson's automaton.
#[derive(Clone)]
enum Inst {
    Set { set: u32, spelled: bool, next: u32 },
    Split(Vec<u32>),
    Cond(Cond, u32),
    Fail,
    Match,
}

/// The second way: from [`Re`] to the automaton.
struct Builder {
    limit: u64,
    insts: Vec<Inst>,
    behinds: Vec<u32>,
    /// Bodies that are already there, by the address of their expression.
    bodies: AHashMap<(*const Re, bool), u32>,
    /// Nodes, and others that can do all that they can.
    betters: Vec<(u32, u32)>,
}

impl Builder {
    fn new(limit: u64) -> Self {
        Self {
            limit,
            insts: Vec::new(),
            behinds: Vec::new(),
            bodies: AHashMap::new(),
            betters: Vec::new(),
        }
    }

    fn push(&mut self, inst: Inst) -> u32 {
        self.insts.push(inst);
        self.insts.len() as u32 - 1
    }

    /// Adds `re` in front of `next`; returns where it starts.
    fn emit(&mut self, re: &Rc<Re>, next: u32) -> Result<u32, Reason> {
        if self.insts.len() as u64 > 2 * self.limit {
            return Err(Reason::Bound(Bound::Size));
        }
        Ok(match &re.kind {
            Kind::Empty => next,
            Kind::Fail => self.push(Inst::Fail),
            Kind::Set { set, spelled } => {
                self.push(Inst::Set { set: *set, spelled: *spelled, next })
            }
            Kind::Assert(cond) => self.push(Inst::Cond(*cond, next)),
            Kind::Look { behind, negated, body } => {
                let known = self.bodies.get(&(Rc::as_ptr(body), *behind)).copied();
                let at = if let Some(at) = known {
                    at
                } else {
                    let end = self.push(Inst::Match);
                    let start = self.emit(body, end)?;
                    let at = if *behind {
                        self.behinds.push(start);
                        self.behinds.len() as u32 - 1
                    } else {
                        start
                    };
                    self.bodies.insert((Rc::as_ptr(body), *behind), at);
                    at
                };
                let cond = if *behind {
                    Cond::Behind { negated: *negated, index: at }
                } else {
                    Cond::Ahead { negated: *negated, body: at }
                };
                self.push(Inst::Cond(cond, next))
            }
            Kind::Concat(parts) => {
                let mut at = next;
                for part in parts.iter().rev() {
                    at = self.emit(part, at)?;
                }
                at
            }
            Kind::Alternation(parts) => {
                let starts = parts
                    .iter()
                    .map(|part| self.emit(part, next))
                    .collect::<Result<Vec<_>, _>>()?;
                self.push(Inst::Split(starts))
            }
            Kind::Repeat { min, max, body, .. } => {
                let mut at = match max {
                    None => {
                        let again = self.push(Inst::Fail);
                        let start = self.emit(body, again)?;
                        if let Some(inst) = self.insts.get_mut(again as usize) {
                            *inst = Inst::Split(vec![start, next]);
                        }
                        again
                    }
                    Some(max) => {
                        let mut at = next;
                        let mut rounds = Vec::new();
                        for _ in *min..*max {
                            rounds.push(at);
                            let start = self.emit(body, at)?;
                            at = self.push(Inst::Split(vec![start, next]));
                        }
                        // The last one pushed is what follows the first round.
                        if let Some(better) = rounds.pop() {
                            self.betters
                                .extend(rounds.iter().skip(1).map(|&worse| (worse, better)));
                        }
                        at
                    }
                };
                for _ in 0..*min {
                    at = self.emit(body, at)?;
                }
                at
            }
        })
    }

    /// Takes the empty moves out.
    fn finish(mut self, re: &Rc<Re>, sets: Vec<CharSet>) -> Result<Program, Reason> {
        let end = self.push(Inst::Match);
        let start = self.emit(re, end)?;
        let mut states = Numbers::new(self.insts.len());
        let mut program = Program {
            states: Vec::new(),
            edges: Vec::new(),
            conds: Vec::new(),
            distances: Vec::new(),
            betters: Vec::new(),
            accepting: Vec::new(),
            start: states.of(start),
            behinds: self.behinds.iter().map(|&body| states.of(body)).collect(),
            sets: Sets::new(sets),
            inexact: None,
        };
        let mut seen = vec![u32::MAX; self.insts.len()];
        let mut seen_with: Set<(u32, u32)> = Set::default();
        let mut lists = Lists::default();
        let mut stack = Vec::new();
        let mut work = 0u64;
        let mut at = 0;
        while let Some(&inst) = states.order.get(at) {
            let state = at as u32;
            at += 1;
            let first = program.edges.len() as u32;
            stack.push((inst, 0));
            seen_with.clear();
            while let Some((inst, list)) = stack.pop() {
                work += 1;
                if work > 4 * self.limit.max(1 << 10) {
                    return Err(Reason::Bound(Bound::Size));
                }
                // Without conditions the stamp is enough, and a way with conditions to the same
                // node adds nothing.
                match seen.get_mut(inst as usize) {
                    Some(stamp) if *stamp == state => continue,
                    Some(stamp) if list == 0 => *stamp = state,
                    _ => {
                        if !seen_with.insert((inst, list)) {
                            continue;
                        }
                    }
                }
                match self.insts.get(inst as usize).unwrap_or(&Inst::Fail) {
                    Inst::Fail => {}
                    Inst::Match => {
                        program.edges.push(Edge {
                            set: 0,
                            target: MATCH,
                            conds: lists.range(list),
                            spelled: false,
                        });
                    }
                    Inst::Set { set, spelled, next } => {
                        let target = states.of(*next);
                        program.edges.push(Edge {
                            set: *set,
                            target,
                            conds: lists.range(list),
                            spelled: *spelled,
                        });
                    }
                    Inst::Split(ways) => stack.extend(ways.iter().rev().map(|&way| (way, list))),
                    Inst::Cond(cond, next) => {
                        let cond = match *cond {
                            Cond::Ahead { negated, body } => {
                                Cond::Ahead { negated, body: states.of(body) }
                            }
                            other => other,
                        };
                        stack.push((*next, lists.with(list, cond)));
                        // Alternatives of conditions in a row multiply.
                        if lists.conds.len() as u64 > self.limit {
                            return Err(Reason::Bound(Bound::Size));
                        }
                    }
                }
            }
            program.states.push((first, program.edges.len() as u32));
            let own = program.edges.get(first as usize..).unwrap_or_default();
            let accepts = own.iter().any(|edge| edge.target == MATCH && !edge.is_conditional());
            program.accepting.push(accepts);
        }
        program.conds = lists.conds;
        program.distances = program.measure();
        program.betters = vec![u32::MAX; program.states.len()];
        for (inst, better) in self.betters {
            if let (Some(state), Some(better)) = (states.known(inst), states.known(better))
                && let Some(place) = program.betters.get_mut(state as usize)
            {
                *place = better;
            }
        }
        Ok(program)
    }
}

/// The nodes that are states, in the order in which they are met.
struct Numbers {
    of: Vec<u32>,
    order: Vec<u32>,
}

impl Numbers {
    fn new(insts: usize) -> Self {
        Self { of: vec![u32::MAX; insts], order: Vec::new() }
    }

    fn known(&self, inst: u32) -> Option<u32> {
        self.of.get(inst as usize).copied().filter(|&number| number != u32::MAX)
    }

    fn of(&mut self, inst: u32) -> u32 {
        let Some(number) = self.of.get_mut(inst as usize) else { return 0 };
        if *number == u32::MAX {
            *number = self.order.len() as u32;
            self.order.push(inst);
        }
        *number
    }
}

/// Sets of conditions, each once; number 0 is the empty one.
struct Lists {
    conds: Vec<Cond>,
    ranges: Vec<(u32, u32)>,
    ids: AHashMap<Vec<Cond>, u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { conds: Vec::new(), ranges: vec![(0, 0)], ids: AHashMap::from([(Vec::new(), 0)]) }
    }
}

impl Lists {
    fn range(&self, list: u32) -> (u32, u32) {
        self.ranges.get(list as usize).copied().unwrap_or_default()
    }

    fn with(&mut self, list: u32, cond: Cond) -> u32 {
        let (start, end) = self.range(list);
        let mut all: Vec<Cond> =
            self.conds.get(start as usize..end as usize).unwrap_or_default().to_vec();
        if let Err(at) = all.binary_search(&cond) {
            all.insert(at, cond);
        }
        if let Some(&id) = self.ids.get(&all) {
            return id;
        }
        let start = self.conds.len() as u32;
        self.conds.extend_from_slice(&all);
        let id = self.ranges.len() as u32;
        self.ranges.push((start, self.conds.len() as u32));
        self.ids.insert(all, id);
        id
    }
}
