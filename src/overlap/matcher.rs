//! A matcher on the syntax tree, with CPython's meaning.
//!
//! It confirms witnesses, and runs what no automaton can: backreferences, conditionals, every
//! atomic group. A backtracking machine in the way of CPython's `_sre.c`: ways that are left are on
//! a stack of our own, so that a long text cannot exhaust the thread's; what a way changed is
//! undone from a log. Steps are counted, and a search that needs more than [`MAX_STEPS`] gives up,
//! which it says.
//!
//! Besides [`Matcher::search`], which finds what `re.search` finds, [`Matcher::all_matches`] goes
//! every way that backtracking could go and lists all spans that the pattern can match, with the
//! characters that it spells out on the way. A character that a backreference matches is not
//! spelled out; nor is any that only a lookaround reads. Uses `pattern::ast` and `charset`; knows
//! nothing of the automata.

use std::collections::{HashMap, HashSet};

use super::charset::{self, CharSet, is_word, lower};
use super::program::SPELLED_CLASS;
use crate::pattern::ast::{Assertion, Ast, Flags, Look, Node, NodeKind, RepeatKind};

/// The most steps of one search.
pub const MAX_STEPS: u32 = 2_000_000;

/// The most matches that are listed for one text.
const MAX_MATCHES: usize = 20_000;

/// The most characters of all of them.
const MAX_CHARACTERS: usize = 1 << 22;

/// How many characters that are only copied cost as much as one step.
const COPIED: usize = 64;

/// The deepest nesting that is followed.
const MAX_DEPTH: usize = 2_048;

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A match, from the first up to the second, in scalar values.
    Match(usize, usize),
    /// There is none.
    None,
    /// The search took more than [`MAX_STEPS`] steps, or the pattern is nested too deeply.
    GaveUp,
}

/// One way to match: a span in scalar values, and which of its characters are spelled out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Match {
    /// Its first character.
    pub start: usize,
    /// One past its last.
    pub end: usize,
    /// For each character of the span whether the pattern spells it out.
    pub spelled: Vec<bool>,
}

/// Finds the first match of `ast` in `text`, as `re.search` does.
pub fn search(ast: &Ast, text: &str) -> Outcome {
    Matcher::new(ast).search(text)
}

#[derive(Debug, Clone)]
enum Op {
    /// One character, spelled out.
    Char(char),
    Set(u32, bool),
    Assert(Assertion, Flags),
    Jump(usize),
    Split(Vec<usize>),
    Save(usize),
    /// The body follows, up to its `End`; then comes `next`.
    Look(Look, usize, usize),
    Atomic(usize),
    Possessive {
        min: u32,
        max: Option<u32>,
        next: usize,
    },
    LoopStart(usize),
    Loop(Box<Loop>),
    Backreference(u32, Flags),
    Conditional(u32, usize),
    Fail,
    End,
}

/// A repeat that can be given back.
#[derive(Debug, Clone)]
struct Loop {
    register: usize,
    min: u32,
    max: Option<u32>,
    lazy: bool,
    body: usize,
    next: usize,
}

/// A set as a text is held against it: nearly all of its characters are ASCII.
#[derive(Debug, Clone)]
struct Set {
    ascii: u128,
    /// All of it, if it has more than these.
    beyond: CharSet,
}

impl Set {
    fn new(set: CharSet) -> Self {
        let mut ascii = 0;
        for &(start, end) in set.ranges().iter().take_while(|(start, _)| *start < 128) {
            for c in start..=end.min(127) {
                ascii |= 1 << c;
            }
        }
        let has_more = set.ranges().last().is_some_and(|&(_, end)| end > 127);
        Self { ascii, beyond: if has_more { set } else { CharSet::default() } }
    }

    fn has(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> u32::from(c) & 1 == 1 } else { self.beyond.has(c) }
    }
}

/// A pattern ready to run.
#[derive(Debug, Clone)]
pub struct Matcher {
    ops: Vec<Op>,
    sets: Vec<Set>,
    /// The numbers of the sets of more than one range, while they are made.
    numbers: HashMap<CharSet, u32, ahash::RandomState>,
    groups: usize,
    registers: usize,
    /// For each group the fixed width of what it matches, once it was met.
    widths: Vec<Option<usize>>,
    /// The registers of the loops that the pattern may begin with, and that [`Lead`] is about.
    leading: Vec<usize>,
    too_large: bool,
}

/// How many rounds those loops may make that a way can begin with, that need not make any, and that
/// read one character a round which is not spelled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lead {
    /// As many as the pattern says.
    Full,
    /// At most one. What they read before that is not spelled out and ends nothing, so whether two
    /// patterns overlap in part does not depend on it.
    Short,
    /// None: that a pattern claims a frame does not depend on them.
    None,
}

impl Matcher {
    /// Prepares a pattern.
    pub fn new(ast: &Ast) -> Self {
        let groups = ast.groups.len();
        let mut matcher = Self {
            ops: Vec::new(),
            sets: Vec::new(),
            numbers: HashMap::default(),
            groups,
            registers: 0,
            widths: vec![None; groups],
            leading: Vec::new(),
            too_large: false,
        };
        if charset::weight(&ast.root) > charset::MAX_RANGES {
            matcher.too_large = true;
            return matcher;
        }
        let mut loops = Vec::new();
        leading(&ast.root, 0, &mut loops);
        matcher.emit(&ast.root, 0, &loops);
        matcher.ops.push(Op::End);
        matcher.numbers = HashMap::default();
        matcher
    }

    /// Finds the first match in `text`, as `re.search` does.
    pub fn search(&self, text: &str) -> Outcome {
        let text: Vec<char> = text.chars().collect();
        self.search_chars(&text)
    }

    /// [`Matcher::search`] that gives up after so many steps.
    pub fn search_in(&self, text: &str, most: u32) -> Outcome {
        let text: Vec<char> = text.chars().collect();
        self.search_within(&text, most, Lead::Full).0
    }

    /// [`Matcher::search`] in a text that is already taken apart.
    pub fn search_chars(&self, text: &[char]) -> Outcome {
        self.search_within(text, MAX_STEPS, Lead::Full).0
    }

    /// [`Matcher::search_chars`] in at most `most` steps, and how many it took.
    pub(crate) fn search_within(&self, text: &[char], most: u32, lead: Lead) -> (Outcome, u32) {
        let mut machine = Machine::new(self, text, most, lead);
        for start in 0..=text.len() {
            // Most places are told by the first character.
            if let Some(Op::Char(first)) = self.ops.first()
                && text.get(start) != Some(first)
            {
                machine.steps += 1;
                if machine.exhausted() {
                    return (Outcome::GaveUp, machine.steps);
                }
                continue;
            }
            machine.reset();
            if let Some(end) = machine.run(0, start, &mut |_, _| true) {
                return (Outcome::Match(start, end), machine.steps);
            }
            if machine.exhausted() {
                return (Outcome::GaveUp, machine.steps);
            }
        }
        (Outcome::None, machine.steps)
    }

    /// All ways to match anywhere in `text`, by start; `None` if there are too many or it takes too
    /// long.
    pub fn all_matches(&self, text: &[char]) -> Option<Vec<Match>> {
        self.matches_within(text, MAX_STEPS, Lead::Full).0
    }

    /// [`Matcher::all_matches`] in at most `most` steps, and how many it took.
    pub(crate) fn matches_within(
        &self,
        text: &[char],
        most: u32,
        lead: Lead,
    ) -> (Option<Vec<Match>>, u32) {
        let mut machine = Machine::new(self, text, most, lead);
        let mut seen: HashSet<Match, ahash::RandomState> = HashSet::default();
        let mut found = Vec::new();
        let (mut characters, mut copied) = (0, 0);
        for start in 0..=text.len() {
            machine.reset();
            let left = machine.most.saturating_sub(machine.steps) as usize;
            machine.run(0, start, &mut |end, marks| {
                let spelled = marks.get(start..end).unwrap_or_default().to_vec();
                let one = Match { start, end, spelled };
                copied += one.spelled.len();
                if seen.insert(one.clone()) {
                    characters += one.spelled.len();
                    found.push(one);
                }
                found.len() > MAX_MATCHES || characters > MAX_CHARACTERS || copied / COPIED > left
            });
            machine.pay_copies(copied);
            copied = 0;
            if machine.exhausted() || found.len() > MAX_MATCHES || characters > MAX_CHARACTERS {
                return (None, machine.steps);
            }
        }
        (Some(found), machine.steps)
    }

    fn set(&mut self, set: CharSet, spelled: bool) {
        let next = self.sets.len() as u32;
        let number = if set.ranges().len() > 1 {
            *self.numbers.entry(set.clone()).or_insert(next)
        } else {
            next
        };
        self.ops.push(Op::Set(number, spelled));
        if number == next {
            self.sets.push(Set::new(set));
        }
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

    fn emit(&mut self, node: &Node, depth: usize, loops: &[*const Node]) {
        if depth > MAX_DEPTH {
            self.too_large = true;
            return;
        }
        match &node.kind {
            NodeKind::Empty => {}
            NodeKind::Literal(c, flags) if charset::is_itself(*c, *flags) => {
                self.ops.push(Op::Char(*c));
            }
            NodeKind::Literal(c, flags) => self.set(charset::literal(*c, *flags), true),
            NodeKind::Dot(flags) => self.set(charset::dot(*flags), false),
            NodeKind::Class(class, flags) => {
                let set = charset::class(class, *flags);
                let spelled = set.len() <= SPELLED_CLASS;
                self.set(set, spelled);
            }
            NodeKind::Assertion(assertion, flags) => self.ops.push(Op::Assert(*assertion, *flags)),
            NodeKind::Look(look, body) => {
                let width = if look.behind { width(body, &self.widths, 0) } else { Some(0) };
                let hole = self.hole();
                self.emit(body, depth + 1, loops);
                self.ops.push(Op::End);
                let next = self.ops.len();
                // The parser lets only bodies of fixed width through; any other would match
                // nowhere.
                self.fill(hole, width.map_or(Op::Fail, |width| Op::Look(*look, width, next)));
            }
            NodeKind::Capture(group, body) => {
                let slot = (*group as usize).saturating_sub(1) * 2;
                self.ops.push(Op::Save(slot));
                self.emit(body, depth + 1, loops);
                self.ops.push(Op::Save(slot + 1));
                let width = width(body, &self.widths, depth);
                if let Some(place) = self.widths.get_mut(slot / 2) {
                    *place = width;
                }
            }
            NodeKind::Group(body) => self.emit(body, depth + 1, loops),
            NodeKind::Atomic(body) => {
                let hole = self.hole();
                self.emit(body, depth + 1, loops);
                self.ops.push(Op::End);
                let next = self.ops.len();
                self.fill(hole, Op::Atomic(next));
            }
            NodeKind::Repeat(repeat, body) if repeat.kind == RepeatKind::Possessive => {
                let hole = self.hole();
                self.emit(body, depth + 1, loops);
                self.ops.push(Op::End);
                let next = self.ops.len();
                self.fill(hole, Op::Possessive { min: repeat.min, max: repeat.max, next });
            }
            NodeKind::Repeat(repeat, body) => {
                let register = self.registers;
                self.registers += 1;
                if loops.contains(&std::ptr::from_ref(node)) {
                    self.leading.push(register);
                }
                self.ops.push(Op::LoopStart(register));
                let hole = self.hole();
                self.emit(body, depth + 1, loops);
                self.ops.push(Op::Jump(hole));
                let (min, max, lazy) = (repeat.min, repeat.max, repeat.kind == RepeatKind::Lazy);
                let next = self.ops.len();
                let body = hole + 1;
                let again = Loop { register, min, max, lazy, body, next };
                self.fill(hole, Op::Loop(Box::new(again)));
            }
            NodeKind::Concat(parts) => {
                for part in parts {
                    self.emit(part, depth + 1, loops);
                }
            }
            NodeKind::Alternation(parts) => {
                let split = self.hole();
                let mut starts = Vec::with_capacity(parts.len());
                let mut jumps = Vec::with_capacity(parts.len());
                for part in parts {
                    starts.push(self.ops.len());
                    self.emit(part, depth + 1, loops);
                    jumps.push(self.hole());
                }
                let next = self.ops.len();
                for jump in jumps {
                    self.fill(jump, Op::Jump(next));
                }
                self.fill(split, Op::Split(starts));
            }
            NodeKind::Backreference(group, flags) => {
                self.ops.push(Op::Backreference(*group, *flags));
            }
            NodeKind::Conditional(group, yes, no) => {
                let condition = self.hole();
                self.emit(yes, depth + 1, loops);
                let jump = self.hole();
                self.fill(condition, Op::Conditional(*group, self.ops.len()));
                if let Some(no) = no {
                    self.emit(no, depth + 1, loops);
                }
                self.fill(jump, Op::Jump(self.ops.len()));
            }
        }
    }
}

/// The loops that [`Lead`] is about; whether the part is made of nothing else.
fn leading(node: &Node, depth: usize, loops: &mut Vec<*const Node>) -> bool {
    const MOST: usize = 16;
    if depth > MAX_DEPTH || loops.len() > MOST {
        return false;
    }
    match &node.kind {
        NodeKind::Empty => true,
        NodeKind::Group(body) => leading(body, depth + 1, loops),
        NodeKind::Concat(parts) => parts.iter().all(|part| leading(part, depth + 1, loops)),
        NodeKind::Alternation(parts) => {
            for part in parts {
                leading(part, depth + 1, loops);
            }
            false
        }
        NodeKind::Repeat(repeat, body) => {
            let wild = match &body.kind {
                NodeKind::Dot(_) => true,
                NodeKind::Class(class, flags) => charset::is_wider(class, *flags, SPELLED_CLASS),
                _ => false,
            };
            let is_loop = wild && repeat.min == 0 && repeat.kind != RepeatKind::Possessive;
            if is_loop {
                loops.push(std::ptr::from_ref(node));
            }
            is_loop
        }
        _ => false,
    }
}

/// The fixed width of what a part matches, in characters.
fn width(node: &Node, groups: &[Option<usize>], depth: usize) -> Option<usize> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &node.kind {
        NodeKind::Empty | NodeKind::Assertion(..) | NodeKind::Look(..) => Some(0),
        NodeKind::Literal(..) | NodeKind::Dot(_) | NodeKind::Class(..) => Some(1),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            width(body, groups, depth + 1)
        }
        NodeKind::Repeat(repeat, body) => {
            let one = width(body, groups, depth + 1)?;
            (one == 0 || repeat.max == Some(repeat.min))
                .then(|| one.checked_mul(repeat.min as usize))?
        }
        NodeKind::Concat(parts) => parts
            .iter()
            .try_fold(0usize, |sum, part| sum.checked_add(width(part, groups, depth + 1)?)),
        NodeKind::Alternation(parts) => {
            let first = width(parts.first()?, groups, depth + 1)?;
            parts.iter().all(|part| width(part, groups, depth + 1) == Some(first)).then_some(first)
        }
        NodeKind::Conditional(_, yes, no) => {
            let yes = width(yes, groups, depth + 1)?;
            let no = no.as_ref().map_or(Some(0), |no| width(no, groups, depth + 1))?;
            (yes == no).then_some(yes)
        }
        NodeKind::Backreference(group, _) => {
            groups.get((*group as usize).checked_sub(1)?).copied().flatten()
        }
    }
}

/// A way that is left.
struct Way {
    pc: usize,
    pos: usize,
    undo: usize,
}

/// What a step changed.
enum Change {
    Slot(usize, Option<usize>),
    Register(usize, (u32, usize)),
}

struct Machine<'a> {
    matcher: &'a Matcher,
    /// The registers of the loops that make no more than so many rounds.
    leading: &'a [usize],
    rounds: u32,
    text: &'a [char],
    slots: Vec<Option<usize>>,
    /// For each loop how many rounds it made, and where the last one that was not required began.
    registers: Vec<(u32, usize)>,
    ways: Vec<Way>,
    changes: Vec<Change>,
    marks: Vec<bool>,
    looking: usize,
    steps: u32,
    most: u32,
}

impl<'a> Machine<'a> {
    fn new(matcher: &'a Matcher, text: &'a [char], most: u32, lead: Lead) -> Self {
        let leading = matcher.leading.as_slice();
        let (leading, rounds) = match lead {
            Lead::Full => (&[][..], 0),
            Lead::Short => (leading, 1),
            Lead::None => (leading, 0),
        };
        let mut machine = Self {
            matcher,
            leading,
            rounds,
            text,
            slots: vec![None; matcher.groups * 2],
            registers: vec![(0, usize::MAX); matcher.registers],
            ways: Vec::new(),
            changes: Vec::new(),
            marks: vec![false; text.len()],
            looking: 0,
            steps: if matcher.too_large { most } else { 0 },
            most,
        };
        machine.pay_copies(text.len() + matcher.groups + matcher.registers);
        machine
    }

    /// Pays for so much that was only copied or filled.
    fn pay_copies(&mut self, count: usize) {
        let steps = u32::try_from(count / COPIED).unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_add(steps);
    }

    fn reset(&mut self) {
        self.pay_copies(self.slots.len());
        self.slots.fill(None);
        self.ways.clear();
        self.changes.clear();
        self.looking = 0;
    }

    fn exhausted(&self) -> bool {
        self.steps >= self.most
    }

    fn set_slot(&mut self, slot: usize, value: Option<usize>) {
        if let Some(place) = self.slots.get_mut(slot) {
            self.changes.push(Change::Slot(slot, *place));
            *place = value;
        }
    }

    fn set_register(&mut self, register: usize, value: (u32, usize)) {
        if let Some(place) = self.registers.get_mut(register) {
            self.changes.push(Change::Register(register, *place));
            *place = value;
        }
    }

    fn undo(&mut self, down_to: usize) {
        while self.changes.len() > down_to {
            match self.changes.pop() {
                Some(Change::Slot(slot, value)) => {
                    if let Some(place) = self.slots.get_mut(slot) {
                        *place = value;
                    }
                }
                Some(Change::Register(register, value)) => {
                    if let Some(place) = self.registers.get_mut(register) {
                        *place = value;
                    }
                }
                None => {}
            }
        }
    }

    fn save_way(&mut self, pc: usize, pos: usize) {
        self.ways.push(Way { pc, pos, undo: self.changes.len() });
    }

    /// Runs from `pc` at `pos` until an `End`, and gives the place there. `found` is asked whether
    /// that will do; if not, the other ways are gone too.
    fn run(
        &mut self,
        pc: usize,
        pos: usize,
        found: &mut dyn FnMut(usize, &[bool]) -> bool,
    ) -> Option<usize> {
        let base = self.ways.len();
        let (mut pc, mut pos) = (pc, pos);
        loop {
            self.steps += 1;
            if self.exhausted() {
                self.ways.truncate(base);
                return None;
            }
            match self.step(pc, pos) {
                Step::To(next_pc, next_pos) => (pc, pos) = (next_pc, next_pos),
                Step::End if found(pos, &self.marks) => {
                    self.ways.truncate(base);
                    return Some(pos);
                }
                Step::End | Step::Fail => {
                    if self.ways.len() == base {
                        return None;
                    }
                    let way = self.ways.pop()?;
                    self.undo(way.undo);
                    (pc, pos) = (way.pc, way.pos);
                }
            }
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm an instruction")]
    fn step(&mut self, pc: usize, pos: usize) -> Step {
        let program = self.matcher;
        let Some(op) = program.ops.get(pc) else { return Step::Fail };
        let holds = match op {
            Op::Char(c) => {
                let reads = self.text.get(pos) == Some(c);
                return if reads { self.read(pc, pos, true) } else { Step::Fail };
            }
            Op::Set(set, spelled) => {
                let reads = self.text.get(pos).is_some_and(|&c| {
                    program.sets.get(*set as usize).is_some_and(|set| set.has(c))
                });
                return if reads { self.read(pc, pos, *spelled) } else { Step::Fail };
            }
            Op::Assert(assertion, flags) => self.assert(*assertion, *flags, pos),
            Op::Jump(to) => return Step::To(*to, pos),
            Op::Split(starts) => {
                for &start in starts.iter().skip(1).rev() {
                    self.save_way(start, pos);
                }
                self.steps = self.steps.saturating_add(starts.len() as u32);
                return starts.first().map_or(Step::Fail, |&start| Step::To(start, pos));
            }
            Op::Save(slot) => {
                self.set_slot(*slot, Some(pos));
                true
            }
            Op::Look(look, width, next) => {
                let before = self.changes.len();
                self.looking += 1;
                let start = if look.behind { pos.checked_sub(*width) } else { Some(pos) };
                let found =
                    start.is_some_and(|start| self.run(pc + 1, start, &mut |_, _| true).is_some());
                self.looking -= 1;
                if look.negative || !found {
                    self.undo(before);
                }
                if found == look.negative || self.exhausted() {
                    return Step::Fail;
                }
                return Step::To(*next, pos);
            }
            Op::Atomic(next) => {
                let before = self.changes.len();
                return if let Some(end) = self.run(pc + 1, pos, &mut |_, _| true) {
                    Step::To(*next, end)
                } else {
                    self.undo(before);
                    Step::Fail
                };
            }
            Op::Possessive { min, max, next } => {
                return self.possessive(pc + 1, pos, *min, *max, *next);
            }
            Op::LoopStart(register) => {
                self.set_register(*register, (0, usize::MAX));
                true
            }
            Op::Loop(again) => {
                let Loop { register, min, max, lazy, body, next } = &**again;
                let (count, last) = self.registers.get(*register).copied().unwrap_or_default();
                if count < *min {
                    self.set_register(*register, (count + 1, last));
                    return Step::To(*body, pos);
                }
                let more = max.is_none_or(|max| count < max)
                    && pos != last
                    && (count < self.rounds || !self.leading.contains(register));
                if !more {
                    return Step::To(*next, pos);
                }
                let round = (count.saturating_add(1), pos);
                if *lazy {
                    // The way into the next round starts at a step that makes the round.
                    self.changes.push(Change::Register(*register, (count, last)));
                    if let Some(place) = self.registers.get_mut(*register) {
                        *place = round;
                    }
                    self.save_way(*body, pos);
                    return Step::To(*next, pos);
                }
                self.save_way(*next, pos);
                self.set_register(*register, round);
                return Step::To(*body, pos);
            }
            Op::Backreference(group, flags) => {
                let slot = (*group as usize).saturating_sub(1) * 2;
                let ends = (
                    self.slots.get(slot).copied().flatten(),
                    self.slots.get(slot + 1).copied().flatten(),
                );
                let (Some(start), Some(end)) = ends else { return Step::Fail };
                let Some(length) = end.checked_sub(start) else { return Step::Fail };
                let (Some(want), Some(have)) =
                    (self.text.get(start..end), self.text.get(pos..pos + length))
                else {
                    return Step::Fail;
                };
                let ascii = flags.has(Flags::ASCII);
                self.pay_copies(length);
                let same = want.iter().zip(have).all(|(&a, &b)| {
                    a == b || (flags.has(Flags::IGNORE_CASE) && lower(a, ascii) == lower(b, ascii))
                });
                if !same {
                    return Step::Fail;
                }
                if self.looking == 0
                    && let Some(marks) = self.marks.get_mut(pos..pos + length)
                {
                    marks.fill(false);
                }
                return Step::To(pc + 1, pos + length);
            }
            Op::Conditional(group, no) => {
                let slot = (*group as usize).saturating_sub(1) * 2;
                let took_part = self.slots.get(slot + 1).is_some_and(Option::is_some);
                return Step::To(if took_part { pc + 1 } else { *no }, pos);
            }
            Op::Fail => false,
            Op::End => return Step::End,
        };
        if holds { Step::To(pc + 1, pos) } else { Step::Fail }
    }

    /// Goes past a character that `pc` reads.
    fn read(&mut self, pc: usize, pos: usize, spelled: bool) -> Step {
        if self.looking == 0
            && let Some(mark) = self.marks.get_mut(pos)
        {
            *mark = spelled;
        }
        Step::To(pc + 1, pos + 1)
    }

    fn possessive(
        &mut self,
        body: usize,
        pos: usize,
        min: u32,
        max: Option<u32>,
        next: usize,
    ) -> Step {
        let before = self.changes.len();
        let (mut pos, mut count) = (pos, 0u32);
        while max.is_none_or(|max| count < max) {
            let round = self.changes.len();
            match self.run(body, pos, &mut |_, _| true) {
                Some(end) => {
                    count = count.saturating_add(1);
                    if end == pos {
                        // A round that reads nothing can be made again as often as is wanted.
                        break;
                    }
                    pos = end;
                }
                None if count < min => {
                    self.undo(before);
                    return Step::Fail;
                }
                None => {
                    self.undo(round);
                    break;
                }
            }
        }
        if self.exhausted() { Step::Fail } else { Step::To(next, pos) }
    }

    fn assert(&self, assertion: Assertion, flags: Flags, pos: usize) -> bool {
        let ascii = flags.has(Flags::ASCII);
        let lines = flags.has(Flags::MULTI_LINE);
        let at = |at: Option<usize>| at.and_then(|at| self.text.get(at).copied());
        let (before, after) = (at(pos.checked_sub(1)), at(Some(pos)));
        let boundary = || {
            before.is_some_and(|c| is_word(c, ascii)) != after.is_some_and(|c| is_word(c, ascii))
        };
        match assertion {
            Assertion::TextStart => before.is_none(),
            Assertion::Caret => before.is_none() || (lines && before == Some('\n')),
            Assertion::TextEnd => after.is_none(),
            Assertion::Dollar => {
                after.is_none() || (after == Some('\n') && (lines || pos + 1 == self.text.len()))
            }
            Assertion::WordBoundary => boundary(),
            // CPython before 3.14 has neither in the empty text.
            Assertion::NotWordBoundary => !self.text.is_empty() && !boundary(),
        }
    }
}

enum Step {
    To(usize, usize),
    End,
    Fail,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Versions, parse};

    fn matcher(pattern: &str) -> Matcher {
        Matcher::new(&parse(pattern, Versions::ALL).unwrap_or_else(|error| panic!("{error:?}")))
    }

    #[test]
    fn a_set_has_what_its_ranges_have() {
        for ranges in [
            vec![],
            vec![(0, 0x10_FFFF)],
            vec![(97, 97)],
            vec![(10, 64), (120, 127)],
            vec![(126, 129), (0xE9, 0xE9)],
            vec![(128, 200)],
        ] {
            let all = CharSet::new(ranges);
            let set = Set::new(all.clone());
            for c in ('\0'..='\u{17F}').chain(['\u{10FFFF}']) {
                assert_eq!(set.has(c), all.has(c), "{c:?} {all:?}");
            }
        }
    }

    #[test]
    fn equal_sets_are_kept_once() {
        assert_eq!(matcher(&r"\w[ab_]".repeat(500)).sets.len(), 2);
    }

    #[test]
    fn what_is_only_copied_is_paid_for() {
        // Each of the matches is listed with all of its characters.
        let text = vec!['a'; 2_000];
        let (found, steps) = matcher("a.*?").matches_within(&text, 20_000, Lead::Full);
        assert_eq!(found, None);
        assert!(steps >= 20_000);
        // Each start sets the groups back.
        let (outcome, steps) =
            matcher(&"(b)".repeat(3_000)).search_within(&text, MAX_STEPS, Lead::None);
        assert_eq!(outcome, Outcome::None);
        assert!(steps as usize > 2_000 * 6_000 / COPIED, "{steps}");
    }
}
