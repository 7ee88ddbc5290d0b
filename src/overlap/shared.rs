//! Shared text: is there a frame with an A-match and a B-match that share a landmark, or a piece of
//! an identifier?
//!
//! A product of both patterns, each nondeterministic and in one of three modes (before, in, after
//! its match), and a small automaton, the [`Phase`], that follows one landmark or one piece. Which
//! one that is, is guessed: the definition speaks of the *last* shared landmark, and asks that
//! nothing is swallowed after it, so it is the same to say that there is *some* shared landmark
//! after which nothing is swallowed. The first frame found is a shortest. Uses `walk`, `search`.

use std::hash::{Hash, Hasher};

use super::alphabet::{Alphabet, Division, Mask};
use super::fuel::Fuel;
use super::guard::Guard;
use super::hash::{Set, add_once};
use super::program::{MATCH, Program};
use super::reach::{BEFORE, Reach};
use super::search::{Found, Frontier};
use super::walk::{Context, Place, Prev, START, UNDERSCORE, WORD, Walker, prev_of};
use super::{Bound, LANDMARK, PIECE, Reason};

/// The match has ended.
const AFTER: u32 = u32::MAX - 1;
/// At how many places to find out which of them lead to anything and how soon, and how many units of fuel
/// that may take for each: it pays only where the search is long.
const REACH_AT: [usize; 3] = [32, 1_024, 32_768];
const REACH_PRICE: usize = 1_024;
/// How many frames are offered to `check` before the search gives up.
const MAX_REFUSED: usize = 200;

/// The last character of the match is not spelled out.
const GAP: u8 = 1;
/// Some character of the match is not.
const GAPS: u8 = 2;

/// How far the landmark or the piece has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It is still to come.
    None,
    /// A landmark of which so many characters are shared; at the start of an identifier, or inside.
    Landmark { start: bool, length: u8 },
    /// A whole landmark is shared.
    Shared,
    /// A piece of which so many characters are shared, counted no further than needed.
    Piece(u8),
    /// A whole piece is shared.
    Pieced,
}

impl Phase {
    /// Whether the frame may end here.
    fn is_enough(self) -> bool {
        match self {
            Self::None => false,
            Self::Landmark { start, .. } => start,
            Self::Shared | Self::Pieced => true,
            Self::Piece(length) => length >= PIECE,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Half {
    state: u32,
    guard: Guard,
    context: Context,
    bits: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    prev: Prev,
    phase: Phase,
    a: Half,
    b: Half,
}

impl Hash for Node {
    // Four words instead of a dozen small fields: this is the engine's hottest hash.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let phase = match self.phase {
            Phase::None => 0,
            Phase::Shared => 1,
            Phase::Pieced => 2,
            Phase::Landmark { start, length } => 4 + 2 * length + u8::from(start),
            Phase::Piece(length) => 16 + length,
        };
        hasher.write_u32(u32::from_le_bytes([self.prev, phase, self.a.bits, self.b.bits]));
        for half in [self.a, self.b] {
            hasher.write_u64(u64::from(half.state) << 32 | u64::from(half.guard.0));
        }
        hasher.write_u64(u64::from(self.a.context) << 32 | u64::from(self.b.context));
    }
}

/// What one side does with a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Move {
    half: Half,
    /// Whether the character lies in its match.
    inside: bool,
    /// Whether it spells it out.
    spelled: bool,
}

/// What the character is in the frame.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about one character")]
struct Letter {
    word: bool,
    underscore: bool,
    /// It starts an identifier.
    first: bool,
    after_word: bool,
    after_underscore: bool,
}

/// Looks for a shortest frame with a landmark or a piece that both patterns share.
///
/// `check`, `unsure` and `fuel` are as in [`super::include::difference`].
#[allow(clippy::too_many_lines, reason = "one search; its parts share all of its state")]
pub(crate) fn shared(
    a: &Program,
    b: &Program,
    alphabet: &Alphabet,
    fuel: &Fuel,
    unsure: &Reason,
    check: &mut dyn FnMut(&str) -> bool,
) -> Found {
    let mut walkers = [Walker::new(a, alphabet, 0, fuel), Walker::new(b, alphabet, 1, fuel)];
    let exact = a.inexact.is_none() && b.inexact.is_none();
    let half = Half { state: BEFORE, guard: Guard::TRUE, context: 0, bits: 0 };
    let first = Node { prev: START, phase: Phase::None, a: half, b: half };
    let mut frontier = Frontier::new(first, rest(a, half).max(rest(b, half)), exact);
    let (mut a_moves, mut b_moves, mut phases) = (Vec::new(), Vec::new(), Vec::new());
    let mut division = Division::default();
    let mut refused = 0;
    let mut reach = None;
    let mut tries = REACH_AT.iter();
    let mut next_try = tries.next();
    while let Some((number, node)) = frontier.pop() {
        if let Some(&at) = next_try
            && frontier.len() > at
        {
            reach = Reach::new(a, b, alphabet, fuel, at * REACH_PRICE);
            next_try = if reach.is_some() { None } else { tries.next() };
        }
        // `None` for a place that leads nowhere.
        let rest = |node: &Node| match &reach {
            Some(reach) if node.phase == Phase::None => reach.least(node.a.state, node.b.state),
            _ => Some(rest(a, node.a).max(rest(b, node.b))),
        };
        let Some(least) = rest(&node) else { continue };
        if let Some(bound) = bound(&walkers) {
            return Found::Unknown(bound);
        }
        if reach.is_some() && node.phase == Phase::None && frontier.postpone(number, least) {
            continue;
        }
        if node.phase.is_enough()
            && ends(&mut walkers[0], node.a, node.prev)
            && ends(&mut walkers[1], node.b, node.prev)
        {
            if let Some(bound) = bound(&walkers) {
                return Found::Unknown(bound);
            }
            let text = frontier.text(number, alphabet);
            if check(&text) {
                return Found::Yes(text);
            }
            refused += 1;
            if refused >= MAX_REFUSED {
                return Found::Unknown(unsure.clone());
            }
        }
        let mut symbols =
            symbols(&walkers[0], node.a, alphabet).and(symbols(&walkers[1], node.b, alphabet));
        if exact {
            symbols = representatives(&walkers, node, alphabet, symbols, &mut division);
        }
        for symbol in symbols.iter() {
            let prev = prev_of(alphabet, symbol);
            let word = prev & WORD != 0;
            let letter = Letter {
                word,
                underscore: prev & UNDERSCORE != 0,
                first: word && node.prev & WORD == 0,
                after_word: node.prev & WORD != 0,
                after_underscore: node.prev & UNDERSCORE != 0,
            };
            let place =
                |half: Half| Place { prev: node.prev, context: half.context, next: Some(symbol) };
            moves(&mut walkers[0], node.a, place(node.a), node.phase, &mut a_moves);
            if a_moves.is_empty() {
                continue;
            }
            moves(&mut walkers[1], node.b, place(node.b), node.phase, &mut b_moves);
            fuel.spend(1 + a_moves.len() * b_moves.len() / 2);
            if fuel.is_empty() {
                break;
            }
            for &a_move in &a_moves {
                for &b_move in &b_moves {
                    follow(node, letter, a_move, b_move, &mut phases);
                    for &phase in &phases {
                        let lost = phase == Phase::None
                            && (a_move.half.state == AFTER || b_move.half.state == AFTER);
                        if lost {
                            continue;
                        }
                        let node = Node {
                            prev,
                            phase,
                            a: settle(a_move, phase, letter),
                            b: settle(b_move, phase, letter),
                        };
                        let Some(rest) = rest(&node) else { continue };
                        // Looking it up costs more than all that goes before.
                        fuel.spend(1);
                        if exact && is_worse(&frontier, node, [a, b], frontier.length(number) + 1) {
                            continue;
                        }
                        if frontier.push(node, number, symbol, rest) {
                            fuel.spend(2);
                        }
                    }
                }
            }
        }
    }
    match bound(&walkers) {
        Some(bound) => Found::Unknown(bound),
        None if refused > 0 => Found::Unknown(unsure.clone()),
        None => Found::No,
    }
}

/// The bound that was met, if one was.
fn bound(walkers: &[Walker<'_>; 2]) -> Option<Reason> {
    if walkers[0].fuel.is_empty() {
        Some(Reason::Bound(Bound::States))
    } else if walkers.iter().any(|walker| walker.guards.overflow) {
        Some(Reason::Bound(Bound::Lookarounds))
    } else {
        None
    }
}

/// Whether a place is known that can do all that this one can.
fn is_worse(frontier: &Frontier<Node>, node: Node, [a, b]: [&Program; 2], length: u32) -> bool {
    let with_a = |state| Node { a: Half { state, ..node.a }, ..node };
    let with_b = |state| Node { b: Half { state, ..node.b }, ..node };
    a.better(node.a.state).is_some_and(|state| frontier.knows(&with_a(state), length))
        || b.better(node.b.state).is_some_and(|state| frontier.knows(&with_b(state), length))
}

/// The least that one side still needs to end its match.
fn rest(program: &Program, half: Half) -> u32 {
    match half.state {
        AFTER => 0,
        BEFORE => program.distance(program.start),
        state => program.distance(state),
    }
}

/// The half after a move, with the bits that still matter.
fn settle(movement: Move, phase: Phase, letter: Letter) -> Half {
    let mut half = movement.half;
    if phase != Phase::None || !movement.inside || half.state == AFTER {
        half.bits = 0;
    } else if movement.spelled {
        half.bits &= GAPS;
    } else {
        // A gap matters only to a landmark inside the same identifier.
        half.bits = if letter.word { GAP | GAPS } else { GAPS };
    }
    half
}

/// The phases that the character can lead to.
fn follow(node: Node, letter: Letter, a: Move, b: Move, phases: &mut Vec<Phase>) {
    phases.clear();
    let both = a.spelled && b.spelled;
    match node.phase {
        Phase::None => {
            phases.push(Phase::None);
            if !both || !letter.word {
                return;
            }
            let resumed = (node.a.bits | node.b.bits) & GAP != 0 && letter.after_word;
            if letter.first || resumed {
                phases.push(Phase::Landmark { start: letter.first, length: 1 });
            }
            if letter.after_underscore
                && !letter.underscore
                && (node.a.bits | node.b.bits) & GAPS == 0
            {
                phases.push(Phase::Piece(1));
            }
        }
        Phase::Landmark { start, length } => {
            if !letter.word {
                if start {
                    phases.push(Phase::Shared);
                }
            } else if both {
                let length = length + 1;
                phases.push(if length == LANDMARK {
                    Phase::Shared
                } else {
                    Phase::Landmark { start, length }
                });
            }
        }
        Phase::Shared => {
            let swallowed = letter.first && a.inside && b.inside && a.spelled != b.spelled;
            if !swallowed {
                phases.push(Phase::Shared);
            }
        }
        Phase::Piece(length) if letter.word && !letter.underscore => {
            if both {
                phases.push(Phase::Piece(PIECE.min(length + 1)));
            }
        }
        Phase::Piece(length) if length < PIECE => {}
        Phase::Piece(_) | Phase::Pieced => {
            let spelled = (!a.inside || a.spelled) && (!b.inside || b.spelled);
            if spelled && !(letter.first && (a.inside || b.inside)) {
                phases.push(Phase::Pieced);
            }
        }
    }
}

/// Whether one side's match is whole if the frame ends here.
fn ends(walker: &mut Walker<'_>, half: Half, prev: Prev) -> bool {
    let place = Place { prev, context: half.context, next: None };
    if half.state == BEFORE || walker.step(half.guard, place) != Guard::TRUE {
        return false;
    }
    let program = walker.program;
    if half.state == AFTER || program.distance(half.state) != 0 {
        return half.state == AFTER;
    }
    walker.fuel.spend(program.edges(half.state).len() / 8);
    program.accepts(half.state)
        || program
            .edges(half.state)
            .iter()
            .any(|edge| edge.target == MATCH && walker.opens(edge, place) == Guard::TRUE)
}

/// The symbols that one side can go on with.
fn symbols(walker: &Walker<'_>, half: Half, alphabet: &Alphabet) -> Mask {
    if half.state == BEFORE || half.state == AFTER {
        return alphabet.live;
    }
    if walker.program.distance(half.state) == 0 {
        return alphabet.live;
    }
    let mut all = Mask::default();
    walker.fuel.spend(walker.program.edges(half.state).len() / 8);
    for edge in walker.program.edges(half.state) {
        all = all.or(walker.mask(edge));
    }
    all.and(alphabet.live)
}

/// Of the symbols that lead to the same places only the most readable one.
fn representatives(
    walkers: &[Walker<'_>; 2],
    node: Node,
    alphabet: &Alphabet,
    symbols: Mask,
    division: &mut Division,
) -> Mask {
    division.start(symbols);
    alphabet.split_kinds(division);
    let enough = walkers.iter().zip([node.a, node.b]).all(|(walker, half)| {
        half.guard == Guard::TRUE
            && match half.state {
                AFTER => walker.program.behinds.is_empty(),
                BEFORE => walker.split(walker.program.start, division),
                state => walker.split(state, division),
            }
    });
    if enough { division.firsts() } else { symbols }
}

/// What one side can do with the next character.
fn moves(walker: &mut Walker<'_>, half: Half, place: Place, phase: Phase, moves: &mut Vec<Move>) {
    moves.clear();
    let guard = walker.step(half.guard, place);
    if guard == Guard::FALSE {
        return;
    }
    let context = walker.next_context(place);
    let outside = |state, guard| Move {
        half: Half { state, guard, context, bits: 0 },
        inside: false,
        spelled: false,
    };
    let state = match half.state {
        AFTER => {
            moves.push(outside(AFTER, guard));
            return;
        }
        BEFORE => {
            moves.push(outside(BEFORE, Guard::TRUE));
            walker.program.start
        }
        state => state,
    };
    let only_spelled = matches!(phase, Phase::Piece(_) | Phase::Pieced);
    let program = walker.program;
    let mut seen = Set::default();
    walker.fuel.spend(program.edges(state).len());
    for edge in program.edges(state) {
        let ends = edge.target == MATCH;
        if ends && half.state == BEFORE {
            // An empty match shares nothing.
            continue;
        }
        if !ends && (!walker.reads(edge, place) || (only_spelled && !edge.spelled)) {
            continue;
        }
        let opens = walker.opens(edge, place);
        let guard = walker.guards.and(guard, opens);
        if guard == Guard::FALSE {
            continue;
        }
        let movement = if ends {
            outside(AFTER, guard)
        } else {
            Move {
                half: Half { state: edge.target, guard, context, bits: half.bits },
                inside: true,
                spelled: edge.spelled,
            }
        };
        add_once(moves, &mut seen, movement);
    }
}
