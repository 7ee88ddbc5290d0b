//! One pattern's automaton, walked along a frame.
//!
//! A place in a frame is seen from the left as the kind of the previous character and, for each
//! lookbehind, the states that its body has reached (its *context*); from the right as the next
//! character. The context runs forward beside the frame and is deterministic: a body is started
//! anew at every place, and a lookbehind holds where its body ends. A lookahead inside a
//! lookbehind's body may still ask something of the text to come, so each of its states carries a
//! [`Guard`].
//!
//! Every formula handed out after a step is about the text **after** the character that was read.
//! Uses `program`, `alphabet`, `guard`, `fuel`.

use std::rc::Rc;

use super::alphabet::{Alphabet, Division, Symbol};
use super::fuel::{FORMULA, Fuel};
use super::guard::{Guard, Guards};
use super::hash::Map;
use super::program::{Cond, Edge, MATCH, Program};

/// What the previous character is, as a set of bits; 0 for a character that is none of these.
pub(crate) type Prev = u8;
/// There is none: the frame starts here.
pub(crate) const START: Prev = 1;
/// A word character.
pub(crate) const WORD: Prev = 2;
/// A word character under `(?a)`.
pub(crate) const ASCII_WORD: Prev = 4;
/// `_`.
pub(crate) const UNDERSCORE: Prev = 8;

/// The bits of a character.
pub(crate) fn prev_of(alphabet: &Alphabet, symbol: Symbol) -> Prev {
    let mut prev = 0;
    if alphabet.is_word(symbol) {
        prev |= WORD;
    }
    if alphabet.is_ascii_word(symbol) {
        prev |= ASCII_WORD;
    }
    if Alphabet::is_underscore(symbol) {
        prev |= UNDERSCORE;
    }
    prev
}

/// A context's number; 0 is the one at the start of a frame.
pub(crate) type Context = u32;

/// States with the condition under which they were reached, by state.
pub(crate) type Threads = Vec<(u32, Guard)>;

/// A place between two characters: the bits of the one, the context, and the other (`None` at the
/// frame's end).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) prev: Prev,
    pub(crate) context: Context,
    pub(crate) next: Option<Symbol>,
}

/// What the lookbehinds say at a place.
#[derive(Debug)]
struct Behind {
    /// For each whether it holds.
    truths: Vec<Guard>,
    /// The context after the next character.
    next: Context,
}

/// The walker of one side of a pair.
#[derive(Debug)]
pub(crate) struct Walker<'a> {
    pub(crate) program: &'a Program,
    pub(crate) fuel: &'a Fuel,
    alphabet: &'a Alphabet,
    side: usize,
    pub(crate) guards: Guards<'a>,
    contexts: Vec<Rc<Vec<Threads>>>,
    context_numbers: Map<Rc<Vec<Threads>>, Context>,
    behinds: Map<Place, Rc<Behind>>,
    steps: Map<(Guard, Place), Guard>,
    /// The lookbehinds that are settled at the place where a context is being worked out.
    settled: Option<(Place, Vec<Guard>)>,
}

impl<'a> Walker<'a> {
    /// A walker for side 0 or 1 of the pair that the alphabet was made for.
    pub(crate) fn new(
        program: &'a Program,
        alphabet: &'a Alphabet,
        side: usize,
        fuel: &'a Fuel,
    ) -> Self {
        let empty = Rc::new(vec![Threads::new(); program.behinds.len()]);
        Self {
            program,
            fuel,
            alphabet,
            side,
            guards: Guards::new(fuel),
            contexts: vec![empty.clone()],
            context_numbers: Map::from_iter([(empty, 0)]),
            behinds: Map::default(),
            steps: Map::default(),
            settled: None,
        }
    }

    /// The symbols that an edge reads.
    pub(crate) fn mask(&self, edge: &Edge) -> super::alphabet::Mask {
        self.alphabet.mask(self.side, edge.set)
    }

    /// Tells the symbols apart that lead to different places from a state without conditions, kinds
    /// of characters ([`Alphabet::split_kinds`]) aside; false where that takes more than looking
    /// at its edges, or is not worth it.
    pub(crate) fn split(&self, state: u32, division: &mut Division) -> bool {
        const MOST_EDGES: usize = 64;
        let edges = self.program.edges(state);
        edges.len() <= MOST_EDGES
            && self.program.behinds.is_empty()
            && edges.iter().all(|edge| {
                let looks = self.program.conds(edge).iter().any(|cond| cond.looks());
                !looks && (edge.target == MATCH || division.split(self.mask(edge)))
            })
    }

    /// Whether an edge can be taken by its character, conditions aside.
    pub(crate) fn reads(&self, edge: &Edge, place: Place) -> bool {
        match place.next {
            Some(symbol) => {
                edge.target != MATCH && self.alphabet.mask(self.side, edge.set).has(symbol)
            }
            None => false,
        }
    }

    /// Under which condition on the text after the next character an edge's conditions hold at a
    /// place.
    pub(crate) fn opens(&mut self, edge: &Edge, place: Place) -> Guard {
        if !edge.is_conditional() {
            return Guard::TRUE;
        }
        let program = self.program;
        let mut all = Guard::TRUE;
        self.fuel.spend(FORMULA * program.conds(edge).len());
        for &cond in program.conds(edge) {
            let guard = self.cond(cond, place);
            all = self.guards.and(all, guard);
            if all == Guard::FALSE {
                break;
            }
        }
        all
    }

    fn cond(&mut self, cond: Cond, place: Place) -> Guard {
        let holds = match cond {
            Cond::Start => place.prev & START != 0,
            Cond::End => place.next.is_none(),
            Cond::Boundary { negated, ascii } => {
                let before = place.prev & if ascii { ASCII_WORD } else { WORD } != 0;
                let after = place.next.is_some_and(|symbol| {
                    if ascii {
                        self.alphabet.is_ascii_word(symbol)
                    } else {
                        self.alphabet.is_word(symbol)
                    }
                });
                (before != after) != negated
            }
            Cond::Ahead { negated, body } => {
                let body = self.guards.var(body);
                let guard = self.step(body, place);
                return if negated { self.guards.not(guard) } else { guard };
            }
            Cond::Behind { negated, index } => {
                let guard = match &self.settled {
                    Some((at, truths)) if *at == place => {
                        truths.get(index as usize).copied().unwrap_or(Guard::FALSE)
                    }
                    _ => self
                        .behind(place)
                        .truths
                        .get(index as usize)
                        .copied()
                        .unwrap_or(Guard::FALSE),
                };
                return if negated { self.guards.not(guard) } else { guard };
            }
        };
        if holds { Guard::TRUE } else { Guard::FALSE }
    }

    /// A formula after the next character of a place was read; at the frame's end, whether it
    /// holds.
    pub(crate) fn step(&mut self, guard: Guard, place: Place) -> Guard {
        if guard == Guard::TRUE || guard == Guard::FALSE {
            return guard;
        }
        let key = (guard, place);
        if let Some(&known) = self.steps.get(&key) {
            return known;
        }
        let (state, high, low) = self.guards.parts(guard);
        let program = self.program;
        self.fuel.spend(FORMULA + program.edges(state).len());
        if self.fuel.is_empty() {
            return Guard::FALSE;
        }
        let mut holds = Guard::FALSE;
        for edge in program.edges(state) {
            if edge.target != MATCH && !self.reads(edge, place) {
                continue;
            }
            let opens = self.opens(edge, place);
            let then =
                if edge.target == MATCH { Guard::TRUE } else { self.guards.var(edge.target) };
            let both = self.guards.and(opens, then);
            holds = self.guards.or(holds, both);
            if holds == Guard::TRUE {
                break;
            }
        }
        let high = self.step(high, place);
        let low = self.step(low, place);
        let stepped = self.guards.if_else(holds, high, low);
        self.steps.insert(key, stepped);
        stepped
    }

    /// The context after the next character of a place.
    pub(crate) fn next_context(&mut self, place: Place) -> Context {
        if self.program.behinds.is_empty() { 0 } else { self.behind(place).next }
    }

    fn behind(&mut self, place: Place) -> Rc<Behind> {
        if let Some(known) = self.behinds.get(&place) {
            return known.clone();
        }
        let program = self.program;
        let context = self.contexts.get(place.context as usize).cloned().unwrap_or_default();
        self.fuel.spend(FORMULA * (1 + program.behinds.len()));
        self.settled = Some((place, Vec::new()));
        let mut next = Vec::with_capacity(program.behinds.len());
        // A body inside another comes first, so what the other asks of it is settled.
        for (index, &start) in program.behinds.iter().enumerate() {
            let mut threads = context.get(index).cloned().unwrap_or_default();
            threads.push((start, Guard::TRUE));
            let (after, holds) = self.step_threads(&threads, place);
            next.push(after);
            if let Some((_, truths)) = &mut self.settled {
                truths.push(holds);
            }
        }
        let truths = self.settled.take().map(|(_, truths)| truths).unwrap_or_default();
        let next = Rc::new(next);
        let number = self.contexts.len() as Context;
        let next = if let Some(&known) = self.context_numbers.get(&next) {
            known
        } else {
            self.contexts.push(next.clone());
            self.context_numbers.insert(next, number);
            number
        };
        let behind = Rc::new(Behind { truths, next });
        self.behinds.insert(place, behind.clone());
        behind
    }

    /// All states after the next character of a place, from all of `threads`, and under which
    /// condition one of them matched at the place itself.
    pub(crate) fn step_threads(
        &mut self,
        threads: &[(u32, Guard)],
        place: Place,
    ) -> (Threads, Guard) {
        let program = self.program;
        let mut after = Threads::new();
        let mut matched = Guard::FALSE;
        for &(state, guard) in threads {
            let guard = self.step(guard, place);
            if guard == Guard::FALSE {
                continue;
            }
            self.fuel.spend(1 + program.edges(state).len());
            if self.fuel.is_empty() {
                break;
            }
            for edge in program.edges(state) {
                if edge.target != MATCH && !self.reads(edge, place) {
                    continue;
                }
                let opens = self.opens(edge, place);
                let both = self.guards.and(guard, opens);
                if edge.target == MATCH {
                    matched = self.guards.or(matched, both);
                } else if both != Guard::FALSE {
                    after.push((edge.target, both));
                }
            }
        }
        self.merge(&mut after);
        (after, matched)
    }

    /// Puts equal states together, and all in order.
    fn merge(&mut self, threads: &mut Threads) {
        threads.sort_unstable();
        let mut kept: usize = 0;
        for at in 0..threads.len() {
            let (state, guard) = threads[at];
            if kept > 0 && threads[kept - 1].0 == state {
                threads[kept - 1].1 = self.guards.or(threads[kept - 1].1, guard);
            } else {
                threads[kept] = (state, guard);
                kept += 1;
            }
        }
        threads.truncate(kept);
    }
}
