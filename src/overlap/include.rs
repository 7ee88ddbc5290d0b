//! Inclusion: is there a frame that A claims and B does not?
//!
//! A product of A, which stays nondeterministic (one state, and the formula that its lookaheads
//! still ask for), and B, which is made deterministic on the fly: the set of all states that it can
//! be in, each with its formula. Once B claims a frame it claims every longer one, unless something
//! looks at what follows, so such a branch is cut; that keeps the product small. The first frame
//! found is a shortest. A B that claims nothing makes it a search for a shortest frame that A
//! claims.
//!
//! Sets of B are compared by antichains (De Wulf, Doyen, Henzinger, Raskin, *Antichains: a new
//! algorithm for checking universality of finite automata*, 2006) where the product grows large: a
//! place with more of B's states than one seen before with the same state of A leads to nothing
//! new. Uses `walk`, `search`.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::alphabet::{Alphabet, Division, Mask};
use super::fuel::Fuel;
use super::guard::Guard;
use super::hash::{Map, Set, add_once};
use super::program::{MATCH, Program};
use super::search::{Found, Frontier};
use super::walk::{Context, Place, Prev, START, Threads, Walker, prev_of};
use super::{Bound, Reason};

/// A has not begun its match.
const BEFORE: u32 = u32::MAX;
/// A has matched.
const DONE: u32 = u32::MAX - 1;
/// How many frames are offered to `check` before the search gives up.
const MAX_REFUSED: usize = 200;
/// From how many places on antichains are worth their price.
const ANTICHAIN_FROM: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    prev: Prev,
    state: u32,
    guard: Guard,
    context: Context,
    others: u32,
    other_context: Context,
}

impl Hash for Node {
    // Three words instead of six small fields.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        hasher.write_u64(pair(self.guard.0, u32::from(self.prev)));
        hasher.write_u64(pair(self.context, self.other_context));
        hasher.write_u64(pair(self.state, self.others));
    }
}

/// B as a deterministic automaton, built as far as it is walked.
struct Deterministic<'a> {
    walker: Walker<'a>,
    sets: Vec<Rc<Threads>>,
    numbers: Map<Rc<Threads>, u32>,
    steps: Map<(u32, Place), Option<(u32, Context)>>,
    /// For a set how it tells symbols apart; `None` where that is not known.
    divisions: Map<u32, Option<Rc<Division>>>,
}

impl<'a> Deterministic<'a> {
    fn new(walker: Walker<'a>) -> Self {
        let empty = Rc::new(Threads::new());
        Self {
            walker,
            sets: vec![empty.clone()],
            numbers: Map::from_iter([(empty, 0)]),
            steps: Map::default(),
            divisions: Map::default(),
        }
    }

    /// How a set tells the symbols apart, their kinds aside; `None` where that takes more than
    /// looking at its edges.
    fn division(&mut self, set: u32, live: Mask) -> Option<Rc<Division>> {
        if let Some(known) = self.divisions.get(&set) {
            return known.clone();
        }
        let mut division = Division::default();
        division.start(live);
        let threads = self.sets.get(set as usize).cloned().unwrap_or_default();
        self.walker.fuel.spend(threads.len() / 4);
        let walker = &self.walker;
        let enough = walker.split(walker.program.start, &mut division)
            && threads.iter().all(|&(state, guard)| {
                guard == Guard::TRUE && state != MATCH && walker.split(state, &mut division)
            });
        let known = enough.then(|| Rc::new(division));
        self.divisions.insert(set, known.clone());
        known
    }

    /// The set after the next character, or at the frame's end; `None` once B claims the frame.
    fn step(&mut self, set: u32, place: Place) -> Option<(u32, Context)> {
        if let Some(&known) = self.steps.get(&(set, place)) {
            return known;
        }
        let mut threads = self.sets.get(set as usize).map(|set| set.to_vec()).unwrap_or_default();
        let pending = match threads.last() {
            Some(&(MATCH, guard)) => {
                threads.pop();
                self.walker.step(guard, place)
            }
            _ => Guard::FALSE,
        };
        let start = self.walker.program.start;
        if let Err(at) = threads.binary_search_by_key(&start, |thread| thread.0) {
            threads.insert(at, (start, Guard::TRUE));
        } else if let Ok(at) = threads.binary_search_by_key(&start, |thread| thread.0) {
            threads[at].1 = Guard::TRUE;
        }
        let (mut after, matched) = self.walker.step_threads(&threads, place);
        let program = self.walker.program;
        let worse = |&(state, guard): &(u32, Guard)| {
            let Some(better) = program.better(state) else { return false };
            after.binary_search(&(better, guard)).is_ok()
                || after.binary_search(&(better, Guard::TRUE)).is_ok()
        };
        if after.iter().any(worse) {
            after = after.iter().copied().filter(|thread| !worse(thread)).collect();
        }
        let claimed = self.walker.guards.or(pending, matched);
        let sure = after
            .iter()
            .any(|&(state, guard)| guard == Guard::TRUE && self.walker.program.accepts(state));
        let stepped = if claimed == Guard::TRUE || (sure && place.next.is_some()) {
            None
        } else {
            if claimed != Guard::FALSE {
                after.push((MATCH, claimed));
            }
            let context = if place.next.is_some() { self.walker.next_context(place) } else { 0 };
            Some((self.number(after), context))
        };
        self.steps.insert((set, place), stepped);
        stepped
    }

    fn number(&mut self, set: Threads) -> u32 {
        let set = Rc::new(set);
        if let Some(&known) = self.numbers.get(&set) {
            return known;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    /// Whether all of one set's states are in the other, no condition harder.
    fn is_subset(&self, small: u32, large: u32, fuel: &Fuel) -> bool {
        let (Some(small), Some(large)) =
            (self.sets.get(small as usize), self.sets.get(large as usize))
        else {
            return false;
        };
        let mut rest = large.iter();
        fuel.spend(1 + small.len().min(large.len()) / 8);
        small.iter().all(|thread| rest.any(|other| other == thread))
    }
}

/// Looks for a shortest frame that `a` claims and `b` does not.
///
/// `check` is asked about each frame found; if it refuses, the search goes on, but can no longer
/// say that there is none: then the answer is `unsure`. Where the fuel runs out, that is not known
/// either.
#[allow(clippy::too_many_lines, reason = "one search; its parts share all of its state")]
pub(crate) fn difference(
    a: &Program,
    b: Option<&Program>,
    alphabet: &Alphabet,
    fuel: &Fuel,
    unsure: &Reason,
    check: &mut dyn FnMut(&str) -> bool,
) -> Found {
    let mut left = Walker::new(a, alphabet, 0, fuel);
    // Then a frame without what stands before A's match does as well; it must have a character
    // though.
    let skip_before = a.ignores_left()
        && b.is_none_or(Program::ignores_left)
        && a.edges(a.start).iter().all(|edge| edge.target != MATCH);
    let mut right = b.map(|b| Deterministic::new(Walker::new(b, alphabet, 1, fuel)));
    let exact = a.inexact.is_none() && b.is_none_or(|b| b.inexact.is_none());
    let mut chains: Map<Node, Vec<(u32, u32)>> = Map::default();
    let mut refused = 0;
    let first = Node {
        prev: START,
        state: BEFORE,
        guard: Guard::TRUE,
        context: 0,
        others: 0,
        other_context: 0,
    };
    let mut frontier = Frontier::new(first, a.distance(a.start), exact);
    let mut next: Vec<(u32, Guard)> = Vec::new();
    let mut division = Division::default();
    let blind = a.ignores_left() && b.is_none_or(Program::ignores_left);
    while let Some((number, node)) = frontier.pop() {
        if let Some(bound) = bound(&left, right.as_ref()) {
            return Found::Unknown(bound);
        }
        let end = Place { prev: node.prev, context: node.context, next: None };
        let other_end = Place { prev: node.prev, context: node.other_context, next: None };
        if number != 0
            && ends(&mut left, node, end)
            && right.as_mut().is_none_or(|right| right.step(node.others, other_end).is_some())
        {
            let text = frontier.text(number, alphabet);
            // Once a bound is met the frame is worthless; the next place says so.
            if bound(&left, right.as_ref()).is_none() && check(&text) {
                return Found::Yes(text);
            }
            refused += 1;
            if refused >= MAX_REFUSED {
                return Found::Unknown(unsure.clone());
            }
        }
        let mut symbols = symbols(&left, node, alphabet, skip_before && number == 0);
        if exact {
            symbols = representatives(
                (&left, right.as_mut()),
                (node, blind),
                (alphabet, symbols),
                &mut division,
            );
        }
        for symbol in symbols.iter() {
            let place = Place { prev: node.prev, context: node.context, next: Some(symbol) };
            next.clear();
            fuel.spend(1);
            if fuel.is_empty() {
                break;
            }
            step(&mut left, node, place, skip_before, &mut next);
            if next.is_empty() {
                continue;
            }
            let (others, other_context) = match &mut right {
                None => (0, 0),
                Some(right) => {
                    let place = Place { context: node.other_context, ..place };
                    match right.step(node.others, place) {
                        Some(after) => after,
                        None => continue,
                    }
                }
            };
            let context = left.next_context(place);
            // Where nothing asks for it the kind of the character makes no difference.
            let prev = if blind { 0 } else { prev_of(alphabet, symbol) };
            for &(state, guard) in &next {
                let node = Node { prev, state, guard, context, others, other_context };
                if exact
                    && frontier.len() > ANTICHAIN_FROM
                    && let Some(right) = &right
                {
                    let length = frontier.length(number) + 1;
                    let chain = chains.entry(Node { others: 0, ..node }).or_default();
                    let subset = |&(small, at): &(u32, u32)| {
                        at <= length && right.is_subset(small, others, fuel)
                    };
                    if chain.iter().any(subset) {
                        continue;
                    }
                    if chain.len() < 64 {
                        chain.push((others, length));
                    }
                }
                let better = a.better(state).map(|state| Node { state, ..node });
                if exact
                    && better
                        .is_some_and(|better| frontier.knows(&better, frontier.length(number) + 1))
                {
                    continue;
                }
                let rest = match state {
                    DONE => 0,
                    BEFORE => a.distance(a.start),
                    state => a.distance(state),
                };
                frontier.push(node, number, symbol, rest);
            }
        }
    }
    match bound(&left, right.as_ref()) {
        Some(bound) => Found::Unknown(bound),
        None if refused > 0 => Found::Unknown(unsure.clone()),
        None => Found::No,
    }
}

/// The bound that was met, if one was.
fn bound(left: &Walker<'_>, right: Option<&Deterministic<'_>>) -> Option<Reason> {
    if left.fuel.is_empty() {
        Some(Reason::Bound(Bound::States))
    } else if left.guards.overflow || right.is_some_and(|right| right.walker.guards.overflow) {
        Some(Reason::Bound(Bound::Lookarounds))
    } else {
        None
    }
}

/// Whether A claims the frame if it ends here.
fn ends(walker: &mut Walker<'_>, node: Node, place: Place) -> bool {
    if walker.step(node.guard, place) != Guard::TRUE {
        return false;
    }
    let state = match node.state {
        DONE => return true,
        BEFORE => walker.program.start,
        state => state,
    };
    let program = walker.program;
    // Only where no more is needed is there a way to the end among the edges.
    if program.accepts(state) || program.distance(state) != 0 {
        return program.accepts(state);
    }
    walker.fuel.spend(program.edges(state).len() / 8);
    program
        .edges(state)
        .iter()
        .any(|edge| edge.target == MATCH && walker.opens(edge, place) == Guard::TRUE)
}

/// The symbols that can lead on.
fn symbols(walker: &Walker<'_>, node: Node, alphabet: &Alphabet, begins: bool) -> Mask {
    let state = match node.state {
        DONE => return alphabet.live,
        BEFORE if !begins => return alphabet.live,
        BEFORE => walker.program.start,
        state => state,
    };
    if walker.program.distance(state) == 0 {
        return alphabet.live;
    }
    let mut all = Mask::default();
    walker.fuel.spend(walker.program.edges(state).len() / 8);
    for edge in walker.program.edges(state) {
        all = all.or(walker.mask(edge));
    }
    all.and(alphabet.live)
}

/// Of the symbols that lead to the same places only the most readable one. `blind` says that the
/// kinds of the characters make no difference.
fn representatives(
    (left, right): (&Walker<'_>, Option<&mut Deterministic<'_>>),
    (node, blind): (Node, bool),
    (alphabet, symbols): (&Alphabet, Mask),
    division: &mut Division,
) -> Mask {
    let simple = node.guard == Guard::TRUE && !symbols.without(symbols.first()).is_empty();
    if !simple {
        return symbols;
    }
    if let Some(right) = right {
        let Some(known) = right.division(node.others, alphabet.live) else { return symbols };
        division.copy(&known, symbols);
    } else {
        division.start(symbols);
    }
    if !blind {
        alphabet.split_kinds(division);
    }
    let enough = match node.state {
        DONE => left.program.behinds.is_empty(),
        BEFORE => left.split(left.program.start, division),
        state => left.split(state, division),
    };
    if enough { division.firsts() } else { symbols }
}

/// Where A can be after the next character.
fn step(
    walker: &mut Walker<'_>,
    node: Node,
    place: Place,
    skip_before: bool,
    next: &mut Vec<(u32, Guard)>,
) {
    let guard = walker.step(node.guard, place);
    if guard == Guard::FALSE {
        return;
    }
    let state = match node.state {
        DONE => {
            next.push((DONE, guard));
            return;
        }
        BEFORE => {
            if !skip_before {
                next.push((BEFORE, Guard::TRUE));
            }
            walker.program.start
        }
        state => state,
    };
    let program = walker.program;
    let mut seen = Set::default();
    walker.fuel.spend(program.edges(state).len());
    for edge in program.edges(state) {
        if edge.target != MATCH && !walker.reads(edge, place) {
            continue;
        }
        let opens = walker.opens(edge, place);
        let guard = walker.guards.and(guard, opens);
        if guard == Guard::FALSE {
            continue;
        }
        let done = edge.target == MATCH || program.accepts(edge.target);
        let to = (if done { DONE } else { edge.target }, guard);
        add_once(next, &mut seen, to);
    }
    if next.contains(&(DONE, Guard::TRUE)) {
        // Any other way asks for more.
        next.clear();
        next.push((DONE, Guard::TRUE));
    }
}
