//! How long CPython's `re.search` takes on a text: a model of `_sre.c` that counts what it does.
//!
//! The machine goes the ways that CPython's goes, in the same order and with the same short cuts: a repeat of one character is
//! counted in a loop of its own and, where a literal follows, tried again only in front of that literal; a branch is entered only if its
//! first character fits; a search starts only where the pattern's first character stands. Each step has a price in nanoseconds,
//! a little less than what was measured for CPython 3.11 to 3.13 on a current machine, so that the sum errs on the fast side. It is no
//! time: it is the same on every machine.
//!
//! [`attack`] then looks for a frame that is slow. What makes a search slow is that one text can be divided among repeats in many ways
//! (Weideman and others, *Analyzing matching time behavior of backtracking regular expression matchers*, 2016), so frames are made of
//! words that the repeats, and what stands between them, have in common, repeated, with an end that fails.
//!
//! Texts are printable ASCII. Uses `ast` and `unicode` of `pattern`, and `span`.

use std::collections::BTreeMap;

use ahash::AHashSet;

use super::ast::{
    Assertion, Ast, Class, ClassItemKind, Flags, Look, Node, NodeKind, PerlClass, RepeatKind,
};
use super::measure::{children, min_width};
use crate::span::Span;

/// The frames that are asked about have so many characters.
pub const FRAME_CHARS: usize = 400;

/// A slow frame takes CPython this many nanoseconds at least: 10 ms, and half as much again for faster machines.
const SLOW: u64 = 15_000_000;

/// What a frame of [`SHORT_CHARS`] may cost: one that is cubic grows 64-fold to a full frame.
const SHORT_LIMIT: u64 = SLOW / 16;

/// One that costs less is not slow at full length; time that grows with the fifth power grows 1,024-fold.
const SHORT_LEAST: u64 = SLOW / 1024;

/// In tenths: how much dearer a short frame has to be than its half.
const SHORT_GROWTH: u64 = 44;

/// All short frames of one pattern together may cost this much, and all long ones.
const MAX_COST: u64 = 4 * SLOW;

/// Patterns with more steps than these in their program are not looked at.
const MAX_OPS: usize = 20_000;

/// The most ways that are kept at once.
const MAX_WAYS: usize = 1 << 20;

/// A repeat that can be made fewer times than these cannot make a search slow.
const LARGE: u32 = 16;

/// The most words that frames are made of.
const MAX_WORDS: usize = 12;

/// The most pairs of places that are looked at for words that a loop reads in two ways.
const MAX_PAIRS: usize = 20_000;

/// How many pairs that were met before cost as much as a new one.
const LOOKED_UP: usize = 16;

/// What it costs to look at a pair, in nanoseconds.
const PAIR: u64 = 50;

/// The most places that are looked at after one character.
const MAX_REACH: usize = 500;

/// So many choices have enough outcomes to be slow.
const MANY_CHOICES: u32 = 12;

/// Frames are compared by this length first, to try the most promising ones.
const SHORT_CHARS: usize = 100;

/// From one length to its double, cubic time grows by eight and quadratic by four.
const CUBIC: u64 = 6;

mod price {
    //! In nanoseconds; those of single characters in tenths.
    pub(super) const STEP: u64 = 40;
    pub(super) const WAY: u64 = 80;
    pub(super) const ROUND: u64 = 250;
    pub(super) const LOOK: u64 = 150;
    pub(super) const COUNT_ANY: u64 = 3;
    pub(super) const COUNT_SET: u64 = 10;
    pub(super) const SCAN: u64 = 8;
    pub(super) const START: u64 = 10;
}

/// A frame on which a pattern is slow: `prefix`, the words in turn, `suffix`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attack {
    /// What it begins with.
    pub prefix: String,
    /// Words, and how often each stands there.
    pub pumps: Vec<(String, usize)>,
    /// What makes it fail.
    pub suffix: String,
    /// The repeat that takes the most of the time, in bytes of the pattern.
    pub repeat: Span,
}

impl Attack {
    /// The frame.
    pub fn frame(&self) -> String {
        let mut text = self.prefix.clone();
        for (word, times) in &self.pumps {
            text.push_str(&word.repeat(*times));
        }
        text + &self.suffix
    }
}

/// A set of ASCII characters.
type Mask = u128;

const PRINTABLE: Mask = ((1 << 95) - 1) << 32;

fn bit(c: char) -> Mask {
    if c.is_ascii() { 1 << u32::from(c) } else { 0 }
}

fn folded(mask: Mask) -> Mask {
    // The letters' two cases are 32 apart.
    let upper = mask & (((1 << 26) - 1) << 65);
    let lower = mask & (((1 << 26) - 1) << 97);
    mask | upper << 32 | lower >> 32
}

fn perl(class: PerlClass) -> Mask {
    (32..127u8)
        .map(char::from)
        .filter(|c| match class {
            PerlClass::Digit => c.is_ascii_digit(),
            PerlClass::Space => *c == ' ',
            PerlClass::Word => c.is_ascii_alphanumeric() || *c == '_',
        })
        .fold(0, |mask, c| mask | bit(c))
}

fn class_mask(class: &Class, flags: Flags) -> Mask {
    let mut mask = class.items.iter().fold(0, |mask, item| {
        mask | match item.kind {
            ClassItemKind::Single(c) => bit(c),
            ClassItemKind::Range(first, last) => (32..127u8)
                .map(char::from)
                .filter(|c| (first..=last).contains(c))
                .fold(0, |mask, c| mask | bit(c)),
            ClassItemKind::Perl(class) => perl(class),
            ClassItemKind::NotPerl(class) => PRINTABLE & !perl(class),
        }
    });
    if flags.has(Flags::IGNORE_CASE) {
        mask = folded(mask);
    }
    if class.negated { PRINTABLE & !mask } else { mask & PRINTABLE }
}

/// The characters that a part of one character matches.
fn mask_of(node: &Node) -> Option<Mask> {
    match &node.kind {
        NodeKind::Literal(c, flags) if flags.has(Flags::IGNORE_CASE) => Some(folded(bit(*c))),
        NodeKind::Literal(c, _) => Some(bit(*c)),
        NodeKind::Dot(_) => Some(PRINTABLE),
        NodeKind::Class(class, flags) => Some(class_mask(class, *flags)),
        NodeKind::Group(body) => mask_of(body),
        NodeKind::Alternation(branches) => one_set(branches),
        _ => None,
    }
}

/// The characters of branches that CPython makes one set of: characters and sets that are not negated, under the same flags.
/// Others, a dot among them, stay branches and are tried one after the other.
fn one_set(branches: &[Node]) -> Option<Mask> {
    let mut mask = 0;
    let mut shared = None;
    for branch in branches {
        let mut inner = branch;
        while let NodeKind::Group(body) = &inner.kind {
            inner = body;
        }
        let flags = match &inner.kind {
            NodeKind::Literal(_, flags) => *flags,
            NodeKind::Class(class, flags) if !class.negated => *flags,
            _ => return None,
        };
        if *shared.get_or_insert(flags) != flags {
            return None;
        }
        mask |= mask_of(inner)?;
    }
    Some(mask)
}

/// The characters that a match of `node` can begin with; `None` if that is not known.
fn first_of(node: &Node) -> Option<Mask> {
    match &node.kind {
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            first_of(body)
        }
        NodeKind::Repeat(repeat, body) if repeat.min > 0 => first_of(body),
        NodeKind::Concat(parts) => first_of(parts.first()?),
        NodeKind::Alternation(branches) => {
            branches.iter().try_fold(0, |mask, branch| Some(mask | first_of(branch)?))
        }
        _ => mask_of(node),
    }
}

#[derive(Debug, Clone)]
enum Op {
    Set(Mask),
    Assert(Assertion),
    Jump(usize),
    /// Where each branch begins, and what it can begin with.
    Branch(Vec<(usize, Mask)>),
    One {
        mask: Mask,
        min: usize,
        max: usize,
        lazy: bool,
        follows: Option<Mask>,
        place: usize,
    },
    LoopStart(usize),
    Loop {
        register: usize,
        min: usize,
        max: usize,
        lazy: bool,
        next: usize,
        place: usize,
    },
    /// The body follows up to its `End`; then comes the other.
    Look(Look, usize, usize),
    /// The same, for an atomic group.
    Atomic(usize),
    Possessive {
        min: usize,
        max: usize,
        next: usize,
        place: usize,
    },
    Mark,
    Fail,
    End,
}

/// A pattern ready to be measured.
#[derive(Debug)]
struct Program {
    ops: Vec<Op>,
    registers: usize,
    /// The repeats, by their place.
    repeats: Vec<Span>,
    /// What a match can begin with.
    first: Option<Mask>,
}

impl Program {
    /// `None` for what is not modelled: backreferences, conditionals, very large patterns.
    fn new(ast: &Ast) -> Option<Self> {
        let first = first_of(&ast.root);
        let mut program = Self { ops: Vec::new(), registers: 0, repeats: Vec::new(), first };
        program.emit(&ast.root)?;
        program.ops.push(Op::End);
        // What follows a repeat of one character decides where it is tried again.
        for at in 0..program.ops.len() {
            let mut next = at + 1;
            while let Some(Op::Jump(to)) = program.ops.get(next) {
                next = *to;
            }
            let literal = match program.ops.get(next) {
                Some(Op::Set(mask)) if mask.is_power_of_two() => Some(*mask),
                _ => None,
            };
            if let Some(Op::One { follows, .. }) = program.ops.get_mut(at) {
                *follows = literal;
            }
        }
        Some(program)
    }

    fn hole(&mut self) -> usize {
        self.ops.push(Op::Fail);
        self.ops.len() - 1
    }

    fn fill(&mut self, hole: usize, op: Op) {
        if let Some(place) = self.ops.get_mut(hole) {
            *place = op;
        }
    }

    fn emit(&mut self, node: &Node) -> Option<()> {
        if self.ops.len() > MAX_OPS {
            return None;
        }
        if let Some(mask) = mask_of(node) {
            self.ops.push(Op::Set(mask));
            return Some(());
        }
        match &node.kind {
            NodeKind::Assertion(assertion, _) => self.ops.push(Op::Assert(*assertion)),
            NodeKind::Look(look, body) => {
                let width = min_width(body) as usize;
                let hole = self.hole();
                self.emit(body)?;
                self.ops.push(Op::End);
                let next = self.ops.len();
                self.fill(hole, Op::Look(*look, width, next));
            }
            NodeKind::Capture(_, body) => {
                self.ops.push(Op::Mark);
                self.emit(body)?;
                self.ops.push(Op::Mark);
            }
            NodeKind::Group(body) => self.emit(body)?,
            NodeKind::Atomic(body) => {
                let hole = self.hole();
                self.emit(body)?;
                self.ops.push(Op::End);
                let next = self.ops.len();
                self.fill(hole, Op::Atomic(next));
            }
            NodeKind::Repeat(repeat, body) => {
                let (min, max) =
                    (repeat.min as usize, repeat.max.map_or(usize::MAX, |max| max as usize));
                let place = self.repeats.len();
                self.repeats.push(node.span);
                let lazy = repeat.kind == RepeatKind::Lazy;
                if repeat.kind == RepeatKind::Possessive {
                    let hole = self.hole();
                    self.emit(body)?;
                    self.ops.push(Op::End);
                    let next = self.ops.len();
                    self.fill(hole, Op::Possessive { min, max, next, place });
                } else if let Some(mask) = mask_of(body) {
                    self.ops.push(Op::One { mask, min, max, lazy, follows: None, place });
                } else {
                    let register = self.registers;
                    self.registers += 1;
                    self.ops.push(Op::LoopStart(register));
                    let hole = self.hole();
                    self.emit(body)?;
                    self.ops.push(Op::Jump(hole));
                    let next = self.ops.len();
                    self.fill(hole, Op::Loop { register, min, max, lazy, next, place });
                }
            }
            NodeKind::Concat(parts) => {
                for part in parts {
                    self.emit(part)?;
                }
            }
            NodeKind::Alternation(branches) => {
                let split = self.hole();
                let (mut starts, mut jumps) = (Vec::new(), Vec::new());
                for branch in branches {
                    starts.push((self.ops.len(), first_of(branch).unwrap_or(Mask::MAX)));
                    self.emit(branch)?;
                    jumps.push(self.hole());
                }
                let next = self.ops.len();
                for jump in jumps {
                    self.fill(jump, Op::Jump(next));
                }
                self.fill(split, Op::Branch(starts));
            }
            NodeKind::Backreference(..) | NodeKind::Conditional(..) => return None,
            NodeKind::Empty | NodeKind::Literal(..) | NodeKind::Dot(_) | NodeKind::Class(..) => {}
        }
        Some(())
    }
}

/// A way that is left.
enum Way {
    Go {
        pc: usize,
        pos: usize,
    },
    /// A branch of an alternation, by its number.
    Branch {
        op: usize,
        branch: usize,
        pos: usize,
    },
    /// A repeat of one character that can be made fewer times: it ends at `pos` next, and at `low` at the earliest.
    Fewer {
        op: usize,
        pos: usize,
        low: usize,
    },
    /// One that can be made more often.
    More {
        op: usize,
        pos: usize,
        count: usize,
    },
    /// What a loop's register was.
    Restore {
        register: usize,
        was: (usize, usize),
    },
}

struct Machine<'p> {
    program: &'p Program,
    text: &'p [u8],
    /// In tenths of a nanosecond.
    cost: u64,
    limit: u64,
    by_repeat: Vec<u64>,
    registers: Vec<(usize, usize)>,
    ways: Vec<Way>,
}

/// What a search cost.
struct Cost {
    nanoseconds: u64,
    /// The repeat that took the most of it.
    repeat: Option<Span>,
}

/// What `re.search` costs on `text`; it stops at `limit` nanoseconds.
fn search(program: &Program, text: &[u8], limit: u64) -> Cost {
    let mut machine = Machine {
        program,
        text,
        cost: 0,
        limit: limit.saturating_mul(10),
        by_repeat: vec![0; program.repeats.len()],
        registers: vec![(0, usize::MAX); program.registers],
        ways: Vec::new(),
    };
    for start in 0..=text.len() {
        machine.cost += price::START;
        let fits =
            program.first.is_none_or(|first| text.get(start).is_some_and(|b| first >> b & 1 == 1));
        if fits && (machine.run(0, start, 0).is_some() || machine.is_spent()) {
            break;
        }
    }
    let most = machine
        .by_repeat
        .iter()
        .enumerate()
        .max_by_key(|(at, cost)| (**cost, std::cmp::Reverse(*at)));
    let repeat = most.and_then(|(at, _)| program.repeats.get(at)).copied();
    Cost { nanoseconds: machine.cost / 10, repeat }
}

impl Machine<'_> {
    fn is_spent(&self) -> bool {
        self.cost >= self.limit || self.ways.len() > MAX_WAYS
    }

    fn has(&self, mask: Mask, pos: usize) -> bool {
        self.text.get(pos).is_some_and(|byte| mask >> (byte & 127) & 1 == 1)
    }

    fn spend(&mut self, place: usize, cost: u64) {
        self.cost += cost;
        if let Some(of) = self.by_repeat.get_mut(place) {
            *of += cost;
        }
    }

    /// Runs from `pc` at `pos` to an `End`; where that was. Ways left behind are dropped.
    fn run(&mut self, pc: usize, pos: usize, depth: usize) -> Option<usize> {
        let base = self.ways.len();
        let mut next = Some((pc, pos));
        let end = loop {
            let Some((pc, pos)) = next else {
                if self.is_spent() || self.ways.len() <= base {
                    break None;
                }
                next = self.again();
                continue;
            };
            self.cost += price::STEP;
            if self.is_spent() || depth > 50 {
                break None;
            }
            next = match self.program.ops.get(pc)? {
                Op::Set(mask) => self.has(*mask, pos).then_some((pc + 1, pos + 1)),
                Op::Mark => Some((pc + 1, pos)),
                Op::Jump(to) => Some((*to, pos)),
                Op::Fail => None,
                Op::End => break Some(pos),
                Op::Assert(assertion) => self.assert(*assertion, pos).then_some((pc + 1, pos)),
                Op::Branch(_) => self.branch(pc, 0, pos),
                Op::One { mask, min, max, lazy, place, .. } => {
                    let (mask, min, max, lazy, place) = (*mask, *min, *max, *lazy, *place);
                    let wanted = if lazy { min } else { max };
                    let left = self.text.get(pos..).unwrap_or_default();
                    let count = left
                        .iter()
                        .take(wanted)
                        .take_while(|b| mask >> (**b & 127) & 1 == 1)
                        .count();
                    let price = if mask == PRINTABLE { price::COUNT_ANY } else { price::COUNT_SET };
                    self.spend(place, price::WAY + count as u64 * price);
                    if count < min {
                        None
                    } else if lazy {
                        self.ways.push(Way::More { op: pc, pos: pos + count, count });
                        Some((pc + 1, pos + count))
                    } else {
                        self.ways.push(Way::Fewer { op: pc, pos: pos + count, low: pos + min });
                        None
                    }
                }
                Op::LoopStart(register) => {
                    self.set(*register, (0, usize::MAX));
                    Some((pc + 1, pos))
                }
                Op::Loop { register, min, max, lazy, next, place } => {
                    let (register, min, max, lazy, next, place) =
                        (*register, *min, *max, *lazy, *next, *place);
                    self.spend(place, price::ROUND);
                    let (count, last) = self.registers.get(register).copied()?;
                    if count < min {
                        self.set(register, (count + 1, last));
                        Some((pc + 1, pos))
                    } else if count >= max || last == pos {
                        Some((next, pos))
                    } else if lazy {
                        // The way on is tried first; the round is kept for later.
                        self.ways.push(Way::More { op: pc, pos, count });
                        Some((next, pos))
                    } else {
                        self.ways.push(Way::Go { pc: next, pos });
                        self.set(register, (count + 1, pos));
                        Some((pc + 1, pos))
                    }
                }
                Op::Look(look, width, next) => {
                    let (look, width, next) = (*look, *width, *next);
                    self.cost += price::LOOK;
                    let start = if look.behind { pos.checked_sub(width) } else { Some(pos) };
                    let found =
                        start.is_some_and(|start| self.run(pc + 1, start, depth + 1).is_some());
                    (found != look.negative).then_some((next, pos))
                }
                Op::Atomic(next) => {
                    let next = *next;
                    self.cost += price::LOOK;
                    self.run(pc + 1, pos, depth + 1).map(|end| (next, end))
                }
                Op::Possessive { .. } => self.possessive(pc, pos, depth),
            };
        };
        while self.ways.len() > base {
            if let Some(Way::Restore { register, was }) = self.ways.pop()
                && end.is_none()
                && let Some(place) = self.registers.get_mut(register)
            {
                *place = was;
            }
        }
        end
    }

    /// A possessive repeat: each round goes one way only.
    fn possessive(&mut self, pc: usize, pos: usize, depth: usize) -> Option<(usize, usize)> {
        let Op::Possessive { min, max, next, place } = self.program.ops.get(pc)? else {
            return None;
        };
        let (min, max, next, place) = (*min, *max, *next, *place);
        let (mut count, mut at) = (0, pos);
        while count < max {
            self.spend(place, price::STEP);
            match self.run(pc + 1, at, depth + 1) {
                Some(end) if end > at => (count, at) = (count + 1, end),
                // A round that reads nothing can be made again as often as is wanted.
                Some(_) => count = max,
                None => break,
            }
        }
        (count >= min).then_some((next, at))
    }

    fn set(&mut self, register: usize, value: (usize, usize)) {
        if let Some(place) = self.registers.get_mut(register) {
            let was = std::mem::replace(place, value);
            self.ways.push(Way::Restore { register, was });
        }
    }

    /// Enters the first branch from `branch` on whose first character fits.
    fn branch(&mut self, op: usize, branch: usize, pos: usize) -> Option<(usize, usize)> {
        let Some(Op::Branch(starts)) = self.program.ops.get(op) else { return None };
        for (at, (start, first)) in starts.iter().enumerate().skip(branch) {
            self.cost += price::STEP / 2;
            if *first == Mask::MAX || self.has(*first, pos) {
                self.cost += price::WAY;
                self.ways.push(Way::Branch { op, branch: at + 1, pos });
                return Some((*start, pos));
            }
        }
        None
    }

    /// Takes the last way that is left, one step of it.
    fn again(&mut self) -> Option<(usize, usize)> {
        match self.ways.pop()? {
            Way::Go { pc, pos } => Some((pc, pos)),
            Way::Branch { op, branch, pos } => self.branch(op, branch, pos),
            Way::Restore { register, was } => {
                if let Some(place) = self.registers.get_mut(register) {
                    *place = was;
                }
                None
            }
            Way::Fewer { op, mut pos, low } => {
                let Some(Op::One { follows, place, .. }) = self.program.ops.get(op) else {
                    return None;
                };
                let (follows, place) = (*follows, *place);
                if let Some(literal) = follows {
                    let mut scanned = 1;
                    while !self.has(literal, pos) {
                        if pos <= low {
                            self.spend(place, scanned * price::SCAN);
                            return None;
                        }
                        pos -= 1;
                        scanned += 1;
                    }
                    self.spend(place, scanned * price::SCAN);
                }
                self.spend(place, price::WAY);
                if pos > low {
                    self.ways.push(Way::Fewer { op, pos: pos - 1, low });
                }
                Some((op + 1, pos))
            }
            Way::More { op, pos, count } => match self.program.ops.get(op)? {
                Op::One { mask, max, place, .. } => {
                    let (mask, max, place) = (*mask, *max, *place);
                    self.spend(place, price::WAY);
                    if count >= max || !self.has(mask, pos) {
                        return None;
                    }
                    self.ways.push(Way::More { op, pos: pos + 1, count: count + 1 });
                    Some((op + 1, pos + 1))
                }
                Op::Loop { register, .. } => {
                    self.set(*register, (count + 1, pos));
                    Some((op + 1, pos))
                }
                _ => None,
            },
        }
    }

    fn assert(&self, assertion: Assertion, pos: usize) -> bool {
        let word = |at: Option<usize>| {
            at.and_then(|at| self.text.get(at))
                .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        };
        let boundary = word(pos.checked_sub(1)) != word(Some(pos));
        match assertion {
            Assertion::TextStart | Assertion::Caret => pos == 0,
            Assertion::TextEnd | Assertion::Dollar => pos == self.text.len(),
            Assertion::WordBoundary => boundary,
            Assertion::NotWordBoundary => !boundary,
        }
    }
}

/// How many repeats can share a text out among them at most, the search's own start among them; 100 where a repeat is
/// in another one.
fn degree(node: &Node) -> u32 {
    match &node.kind {
        NodeKind::Repeat(repeat, body) if repeat.kind != RepeatKind::Possessive => {
            let is_large = repeat.max.is_none_or(|max| max >= LARGE);
            let inner = degree(body);
            if !is_large {
                inner.saturating_mul(repeat.max.unwrap_or(1).max(1))
            } else if mask_of(body).is_some() {
                1
            } else if inner > 0 || is_ambiguous(body) {
                100
            } else {
                1
            }
        }
        NodeKind::Alternation(branches) => branches.iter().map(degree).max().unwrap_or(0),
        _ => children(node).fold(0, |sum, child| sum.saturating_add(degree(child))),
    }
}

/// Whether a text may be matched by `node` in two ways: something in it may be left out, or has branches.
fn is_ambiguous(node: &Node) -> bool {
    match &node.kind {
        _ if mask_of(node).is_some() => false,
        NodeKind::Alternation(_) => true,
        NodeKind::Repeat(repeat, body) => repeat.max != Some(repeat.min) || is_ambiguous(body),
        _ => children(node).any(is_ambiguous),
    }
}

/// How often a match has to choose among ways that are few each: what is optional, and branches. Twenty of them have a million
/// outcomes, whatever the length of the text.
fn choices(node: &Node) -> u32 {
    match &node.kind {
        NodeKind::Repeat(repeat, body) if repeat.kind != RepeatKind::Possessive => {
            let inner = choices(body).saturating_add(u32::from(repeat.max != Some(repeat.min)));
            inner.saturating_mul(repeat.max.unwrap_or(1))
        }
        _ if mask_of(node).is_some() => 0,
        NodeKind::Alternation(branches) => {
            branches.iter().map(choices).max().unwrap_or(0).saturating_add(1)
        }
        _ => children(node).fold(0, |sum, child| sum.saturating_add(choices(child))),
    }
}

/// Whether a search can begin at one place only.
fn is_anchored(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Assertion(Assertion::Caret, flags) => !flags.has(Flags::MULTI_LINE),
        NodeKind::Assertion(Assertion::TextStart, _) => true,
        NodeKind::Capture(_, body) | NodeKind::Group(body) => is_anchored(body),
        NodeKind::Concat(parts) => parts.first().is_some_and(is_anchored),
        NodeKind::Alternation(branches) => branches.iter().all(is_anchored),
        _ => false,
    }
}

/// The words that frames are made of.
#[derive(Default)]
struct Words {
    /// How many repeats read each ASCII character.
    popular: Vec<u32>,
    /// What repeats read.
    pumps: Vec<String>,
    /// What stands before a repeat, from the pattern's start.
    prefixes: Vec<String>,
    /// What stands between one repeat and the next.
    between: Vec<String>,
}

impl Words {
    fn pick(&self, mask: Mask) -> Option<char> {
        (32..127u8)
            .filter(|b| mask >> b & 1 == 1)
            .max_by_key(|b| {
                let popular = self.popular.get(usize::from(*b)).copied().unwrap_or(0);
                (popular, b.is_ascii_lowercase(), b.is_ascii_alphanumeric(), std::cmp::Reverse(*b))
            })
            .map(char::from)
    }

    fn count(&mut self, node: &Node) {
        if let NodeKind::Repeat(_, body) = &node.kind {
            self.count_all(body);
        } else {
            for child in children(node) {
                self.count(child);
            }
        }
    }

    /// Counts for what stands in a repeat.
    fn count_all(&mut self, node: &Node) {
        if let Some(mask) = mask_of(node) {
            for (at, count) in self.popular.iter_mut().enumerate() {
                *count += u32::from(mask >> at & 1 == 1);
            }
        } else {
            for child in children(node) {
                self.count_all(child);
            }
        }
    }

    /// A short text that `node` matches, with repeats made as often as they must, but `least` times at least.
    fn sample(&self, node: &Node, least: u32, out: &mut String) {
        if out.len() > FRAME_CHARS {
            return;
        }
        if let Some(mask) = mask_of(node) {
            out.extend(self.pick(mask));
            return;
        }
        match &node.kind {
            NodeKind::Repeat(repeat, body) => {
                let wanted = repeat.min.max(least).min(repeat.max.unwrap_or(u32::MAX));
                for _ in 0..wanted.min(FRAME_CHARS as u32) {
                    self.sample(body, least, out);
                }
            }
            NodeKind::Alternation(branches) => {
                if let Some(branch) = branches.first() {
                    self.sample(branch, least, out);
                }
            }
            NodeKind::Look(..) => {}
            _ => {
                for child in children(node) {
                    self.sample(child, least, out);
                }
            }
        }
    }

    fn sampled(&self, node: &Node, least: u32) -> String {
        let mut out = String::new();
        self.sample(node, least, &mut out);
        out
    }

    /// Goes through the pattern; `before` is a text that leads up to `node`, `gap` what came since the last repeat.
    fn collect(&mut self, node: &Node, before: &mut String, gap: &mut String) {
        match &node.kind {
            NodeKind::Repeat(repeat, body) if repeat.max.is_none_or(|max| max >= LARGE) => {
                self.prefixes.push(before.clone());
                self.between.push(std::mem::take(gap));
                let mut words = vec![self.sampled(body, 0), self.sampled(body, 1)];
                if let NodeKind::Alternation(branches) = &inside(body).kind {
                    words.extend(branches.iter().map(|branch| self.sampled(branch, 1)));
                }
                if mask_of(body).is_none() {
                    self.collect(body, &mut before.clone(), gap);
                }
                self.pumps.extend(words);
                self.pumps.extend(self.between.last().cloned());
                self.sample(node, 0, before);
            }
            NodeKind::Concat(parts) => {
                for part in parts {
                    self.collect(part, before, gap);
                }
            }
            NodeKind::Alternation(branches) if mask_of(node).is_none() => {
                for branch in branches {
                    self.collect(branch, &mut before.clone(), &mut gap.clone());
                }
                self.sample(node, 0, before);
                self.sample(node, 0, gap);
            }
            NodeKind::Capture(_, body)
            | NodeKind::Group(body)
            | NodeKind::Atomic(body)
            | NodeKind::Repeat(_, body)
                if mask_of(body).is_none() =>
            {
                self.collect(body, before, gap);
                if let NodeKind::Repeat(..) = &node.kind {
                    self.pumps.push(gap.clone());
                    self.pumps.push(self.sampled(node, 1));
                }
            }
            NodeKind::Look(_, body) => self.collect(body, &mut before.clone(), &mut gap.clone()),
            _ => {
                if let NodeKind::Repeat(..) = &node.kind {
                    self.pumps.push(self.sampled(node, 1));
                }
                self.sample(node, 0, before);
                self.sample(node, 0, gap);
            }
        }
    }
}

/// Texts that a round of some loop reads in two ways, so that their repetition is divided in exponentially many.
///
/// The ways are those through the program without its counts, looked at in pairs that read the same text (the test for
/// exponential ambiguity of Weber and Seidl, *On the degree of ambiguity of finite automata*, 1991). What is found is tried.
struct Ambiguity<'p> {
    program: &'p Program,
    /// Where the next character can be read after one is read at each place, and whether on several ways.
    after: Vec<Option<Vec<(usize, bool)>>>,
    /// How many more pairs may be looked at.
    left: usize,
}

/// A pair of places that read next, the smaller first, and whether the ways there have parted.
type Pair = (usize, usize, bool);

impl Ambiguity<'_> {
    /// Such words, and how many pairs were looked at.
    fn words(program: &Program, words: &Words) -> (Vec<String>, usize) {
        let after = vec![None; program.ops.len()];
        let mut search = Ambiguity { program, after, left: MAX_PAIRS };
        let mut in_loop = vec![false; program.ops.len()];
        for (at, op) in program.ops.iter().enumerate() {
            if let Op::Loop { next, .. } = op
                && let Some(body) = in_loop.get_mut(at + 1..*next)
            {
                body.fill(true);
            }
        }
        let mut found: Vec<String> = Vec::new();
        for (at, _) in in_loop.iter().enumerate().filter(|(_, inside)| **inside) {
            if search.left == 0 || found.len() > MAX_WORDS {
                break;
            }
            if let Some(word) = search.round(at, words).filter(|word| !found.contains(word)) {
                found.push(word);
            }
        }
        (found, MAX_PAIRS - search.left)
    }

    fn mask(&self, at: usize) -> Option<Mask> {
        match self.program.ops.get(at)? {
            Op::Set(mask) | Op::One { mask, .. } => Some(*mask),
            _ => None,
        }
    }

    /// Pays for so many pairs; `None` once that is too much, and nothing is left then.
    fn pay(&mut self, pairs: usize) -> Option<()> {
        let left = self.left.checked_sub(pairs);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// A shortest text that leads from `at` back to it on two ways.
    fn round(&mut self, at: usize, words: &Words) -> Option<String> {
        self.mask(at)?;
        let mut pairs: Vec<(Pair, usize, char)> = vec![((at, at, false), 0, ' ')];
        let mut seen: AHashSet<Pair> = AHashSet::new();
        let mut next = 0;
        while let Some(&((a, b, parted), ..)) = pairs.get(next) {
            let both = self.mask(a)? & self.mask(b)?;
            if let Some(c) = words.pick(both) {
                let (from_a, from_b) = (self.after(a), self.after(b));
                // Most of what follows two places is known already, but has to be looked up.
                self.pay(from_a.len() * from_b.len() / LOOKED_UP)?;
                for &(x, twice) in &from_a {
                    for &(y, _) in &from_b {
                        let parted = parted || x != y || a == b && twice;
                        let pair = (x.min(y), x.max(y), parted);
                        if pair == (at, at, true) {
                            let mut text = vec![c];
                            let mut back = next;
                            while let Some(&(_, before, c)) = pairs.get(back).filter(|_| back > 0) {
                                text.push(c);
                                back = before;
                            }
                            return Some(text.iter().rev().collect());
                        }
                        if seen.insert(pair) {
                            self.pay(1)?;
                            pairs.push((pair, next, c));
                        }
                    }
                }
            }
            next += 1;
        }
        None
    }

    /// Where the next character can be read after one is read at `at`.
    fn after(&mut self, at: usize) -> Vec<(usize, bool)> {
        if let Some(Some(known)) = self.after.get(at) {
            return known.clone();
        }
        let mut visits: BTreeMap<usize, u8> = BTreeMap::new();
        let mut open = vec![at + 1];
        if let Some(Op::One { max: 2.., .. }) = self.program.ops.get(at) {
            open.push(at);
        }
        while let Some(pc) = open.pop() {
            if visits.len() > MAX_REACH {
                break;
            }
            let count = visits.entry(pc).or_default();
            if *count == 2 {
                continue;
            }
            *count += 1;
            match self.program.ops.get(pc) {
                Some(Op::Set(_) | Op::Fail) | None => {}
                Some(Op::One { min, .. }) => open.extend((*min == 0).then_some(pc + 1)),
                Some(Op::Jump(to) | Op::Look(_, _, to)) => open.push(*to),
                Some(Op::Branch(starts)) => open.extend(starts.iter().map(|(start, _)| *start)),
                Some(Op::Loop { next, .. } | Op::Possessive { next, .. }) => {
                    open.extend([pc + 1, *next]);
                }
                Some(Op::LoopStart(_) | Op::Mark | Op::Assert(_) | Op::Atomic(_) | Op::End) => {
                    open.push(pc + 1);
                }
            }
        }
        let reads = visits.into_iter().filter(|(pc, _)| self.mask(*pc).is_some());
        let found: Vec<_> = reads.map(|(pc, count)| (pc, count > 1)).collect();
        if let Some(place) = self.after.get_mut(at) {
            *place = Some(found.clone());
        }
        found
    }
}

fn inside(node: &Node) -> &Node {
    match &node.kind {
        NodeKind::Capture(_, body) | NodeKind::Group(body) => inside(body),
        _ => node,
    }
}

/// Keeps the first of equal words that are of use, and not too many.
fn tidy(words: &mut Vec<String>, keep_empty: bool) {
    let mut seen: Vec<String> = Vec::new();
    words.retain(|word| {
        let fresh = (keep_empty || !word.is_empty())
            && word.len() <= FRAME_CHARS / 4
            && !seen.contains(word);
        if fresh {
            seen.push(word.clone());
        }
        fresh && seen.len() <= MAX_WORDS
    });
}

/// Whether a pattern may be [suspect](is_suspect), by its text alone: most have too few repeats and choices, however they nest.
pub fn may_be_suspect(text: &str) -> bool {
    let (mut repeats, mut choices, mut before) = (0_u32, 0_u32, b' ');
    for &byte in text.as_bytes() {
        match byte {
            // It may repeat what it follows many times over.
            b'{' => return true,
            b'*' | b'+' => {
                // What it repeats is more than a character, or stands further ahead (in verbose mode).
                if before == b')' || before.is_ascii_whitespace() {
                    return true;
                }
                repeats += 1;
                choices += 1;
            }
            b'?' | b'|' => choices += 1,
            _ => {}
        }
        before = byte;
    }
    repeats > 1 || choices >= MANY_CHOICES
}

/// Whether a pattern has repeats or choices enough to be slow; cheap to tell.
pub fn is_suspect(ast: &Ast) -> bool {
    let start = u32::from(!is_anchored(&ast.root));
    degree(&ast.root).saturating_add(start) >= 3 || choices(&ast.root) >= MANY_CHOICES
}

/// A frame of [`FRAME_CHARS`] characters on which a search for `ast` takes cubic time or worse, and 10 ms or more, if one is found.
///
/// Looks at what bounded work finds: no answer is no promise. Patterns with backreferences or conditionals are not
/// looked at. Besides, the work that it took: nanoseconds of the model.
pub fn attack(ast: &Ast) -> (Option<Attack>, u64) {
    let mut spent = 0;
    let found = if is_suspect(ast) { find(ast, &mut spent) } else { None };
    (found, spent)
}

/// [`attack`]; adds the work to `total`.
fn find(ast: &Ast, total: &mut u64) -> Option<Attack> {
    let program = Program::new(ast)?;
    let mut words = Words { popular: vec![0; 128], ..Words::default() };
    words.count(&ast.root);
    let mut last = String::new();
    words.collect(&ast.root, &mut String::new(), &mut last);
    let between = words.between.iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>();
    words.pumps.push(last);
    tidy(&mut words.pumps, false);
    let (ambiguous, pairs) = Ambiguity::words(&program, &words);
    *total += pairs as u64 * PAIR;
    words.pumps.extend(ambiguous);
    let mut pumps: Vec<Vec<String>> = Vec::new();
    for word in &words.pumps {
        if !pumps.iter().any(|known| known.first() == Some(word)) {
            pumps.push(vec![word.clone()]);
        }
    }
    if (2..=MAX_WORDS).contains(&between.len()) {
        pumps.push(between);
    }
    words.prefixes.insert(0, String::new());
    tidy(&mut words.prefixes, true);
    // The dearest short frames first; among those that cost about the same, the simplest.
    let mut spent = 0;
    let mut ranked = Vec::new();
    'ranking: for pump in &pumps {
        for suffix in ["", "!", "~ "] {
            for prefix in &words.prefixes {
                let build = |length| shape(prefix, pump, suffix, prefix.len() + length);
                let Some((short, half)) = build(SHORT_CHARS).zip(build(SHORT_CHARS / 2)) else {
                    continue;
                };
                let cost = search(&program, short.frame().as_bytes(), SHORT_LIMIT).nanoseconds;
                spent += cost;
                if spent > MAX_COST {
                    break 'ranking;
                }
                if cost < SHORT_LEAST {
                    continue;
                }
                if cost < SHORT_LIMIT {
                    let half = search(&program, half.frame().as_bytes(), SHORT_LIMIT).nanoseconds;
                    spent += half;
                    // What is cubic later on begins with growth a little more than quadratic.
                    if cost * 10 < half * SHORT_GROWTH {
                        continue;
                    }
                }
                let rank = if cost < SHORT_LIMIT { cost.max(1).ilog2() } else { u64::BITS };
                ranked.push((std::cmp::Reverse(rank), prefix, pump, suffix));
            }
        }
    }
    ranked.sort_by_key(|(cost, ..)| *cost);
    *total += spent;
    let before = *total;
    for (_, prefix, pump, suffix) in ranked {
        let build = |length| shape(prefix, pump, suffix, length);
        let Some((candidate, half)) = build(FRAME_CHARS).zip(build(FRAME_CHARS / 2)) else {
            continue;
        };
        if candidate.frame().len() != FRAME_CHARS {
            continue;
        }
        let cost = search(&program, candidate.frame().as_bytes(), SLOW);
        *total += cost.nanoseconds;
        if cost.nanoseconds >= SLOW {
            let half = search(&program, half.frame().as_bytes(), SLOW);
            *total += half.nanoseconds;
            // Where both hit the limit the time is beyond any polynomial that matters.
            let is_cubic = half.nanoseconds >= SLOW || half.nanoseconds * CUBIC <= cost.nanoseconds;
            if is_cubic && let Some(repeat) = cost.repeat {
                return Some(Attack { repeat, ..candidate });
            }
        }
        if *total - before > MAX_COST {
            break;
        }
    }
    None
}

/// A frame of `length` characters: what the words leave over is filled up with the first character of the first word.
fn shape(prefix: &str, pump: &[String], suffix: &str, length: usize) -> Option<Attack> {
    let room = length.checked_sub(prefix.len() + suffix.len())?;
    let share = room / pump.len().max(1);
    let mut pumps: Vec<(String, usize)> =
        pump.iter().map(|word| (word.clone(), (share / word.len().max(1)).max(1))).collect();
    let used: usize = pumps.iter().map(|(word, times)| word.len() * times).sum();
    let (word, times) = pumps.first_mut()?;
    let left = room.checked_sub(used)?;
    *times += left / word.len().max(1);
    let rest = left % word.len().max(1);
    let mut prefix = prefix.to_owned();
    if rest > 0 {
        // The tail of the word in front of it keeps the words aligned.
        prefix.push_str(word.get(word.len() - rest..)?);
    }
    Some(Attack { prefix, pumps, suffix: suffix.to_owned(), repeat: Span::empty(0) })
}

#[cfg(test)]
mod tests {
    use super::super::{Versions, parse};
    use super::*;

    fn slow(text: &str) -> Option<Attack> {
        attack(&parse(text, Versions::ALL).unwrap()).0
    }

    #[test]
    fn the_text_shows_all_that_is_suspect() {
        let parts =
            ["a", ".*", "(b|c)", "(?:d?|e)*", "(x|y)+", "f{3}", "[*+]", r"\*", "(?x) *", "?", "^"];
        for first in parts {
            for second in parts {
                for third in parts {
                    let text = [first, second, third].concat();
                    let Ok(ast) = parse(&text, Versions::ALL) else { continue };
                    assert!(may_be_suspect(&text) || !is_suspect(&ast), "{text}");
                }
            }
        }
        assert!(may_be_suspect(&"a?".repeat(12)) && may_be_suspect("(?x)(a|b) #\n*"));
        assert!(
            !may_be_suspect(r"m446::(?:quant|dispatch_quant)_f32") && !may_be_suspect("s.*quant")
        );
    }

    #[test]
    fn finds_the_known_ones() {
        for text in [
            "(a+)+$",
            r"(\w+\s*)+:",
            "(.*)(.*)(.*)x",
            ".*.*.*=",
            "(a|aa)+$",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            r"(\d+)*x",
            "a.*b.*c.*d",
            r"^\w*\w*\w*\w*-",
            "(?:a*)*b",
            "x(?:a+b?)+y",
            "(?=(a+)+$)a",
            "^(.*?,){11}P",
            "(?:.*::)?(?:.*::)?(?:.*::)?zzz",
            // Branches that have some text in common, whatever they are.
            r"(?:.|\w)*x",
            r"(?:[^:]|\w)*::run",
            r"(?:.|\s)*x",
            "(?:a|.)*x",
            "(?:[^a]|[^b])*x",
            r"(?:\w\d|\d\w|_)*x",
            "(?:(?i:a)|[ab])*x",
            "(?:<[^>]*>|.)*::x",
            "(?:[ab]c|a[cd])*x",
            "(?:(?:a|.){2})*x",
            // What is optional, in each other or in turn.
            "(?:x?){20}y",
            "(?:a?b?)*x",
            "(?:x{0,3})*y",
            "x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?y",
            "<.*<.*>.*>::x",
            r"\[.*\[.*\[.*\]::x",
        ] {
            let attack = slow(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(attack.frame().len(), FRAME_CHARS, "{text}");
        }
    }

    #[test]
    fn is_quiet_about_the_rest() {
        for text in [
            "AGXG.*FamilyCommandBuffer",
            "foo.*bar",
            "a*b*",
            "(?:ab)*",
            r"\w+::\w+",
            "(a++)+$",
            "(?>a+)+b",
            "(?:module::)*function",
            "foo|bar",
            "^a*b*c*$",
            "(?:a{2})*",
            r"^\w+\s+\w+$",
            // Python makes one set of these branches.
            r"(?:a|b|\w)*x",
            "(?:[ab]|[bc])*-",
            // These have no text in common.
            r"(?:\w|::)*foo",
            "(?:[^:]|:)*x",
            r"(?:\w+::)*foo",
            "x?y?z?::foo",
            "(?:x?){5}y",
        ] {
            assert_eq!(slow(text), None, "{text}");
        }
    }
}
