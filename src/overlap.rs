//! The relation of two patterns: do they claim the same frames?
//!
//! A pattern is searched for, not matched from end to end, so any two patterns find a match in some
//! long enough name. What is asked is therefore more than that, see [`Kind`]. The answer is exact
//! for *equal*, *within* and *partial* against *none*, lookarounds, `\b`, anchors, flags and
//! Unicode classes included, as long as the patterns are regular; where they are not it is
//! three-valued.
//!
//! # Words
//! - **Frame**: a non-empty text without control characters (Unicode category `Cc`, that is
//!   U+0000–U+001F and U+007F–U+009F). No frame has a line feed, so `.` is any character, and `$`
//!   is the end. All verdicts are about frames only.
//! - **A-match**: any span that A can match at all, in any way that its backtracking could go, not
//!   only in the preferred one. An atomic group has one way only.
//! - **Spelled out** is a character that the way matched by a literal or a class of at most 16
//!   characters (counted over all of Unicode, case folding included; a literal is a literal under
//!   `(?i)` too). `.`, larger classes and backreferences do not spell out, and what a lookaround
//!   reads is not in the match.
//! - **Identifier**: a longest run of Unicode word characters of the frame, whatever the patterns'
//!   flags.
//!
//! # Decisions where the definition leaves room
//! - A landmark *inside* an identifier is where a match spells out a word character right after a
//!   word character of the same match that it does not spell out. That it spelled something out
//!   before is not asked: `\w+_count` and `free_count|x` have the function `free_count` in common.
//! - The first three characters of a landmark are characters of its identifier; only an
//!   identifier's start may have fewer.
//! - A word part, of which a *piece* is made, is the text between two `_`, not more; the `_` itself
//!   need not be in either match.
//! - A pattern that claims nothing has no frame in common with any: *none*.
//! - Where an atomic group without an exact form leaves it open whether one is within the other, a
//!   confirmed frame in common makes it *partial*; with a backreference or a conditional, or at a
//!   bound, it is *undecided*.
//! - Patterns of the same text, spans aside, are equal even if they are not regular.
//!
//! # How it works
//! ```text
//! syntax tree ──program──► automaton with conditions on its edges, one per pattern
//!      │                        │
//!      │                        ├─include─► a frame that A claims and B does not? and the reverse
//!      │                        └─shared──► else, a frame with a landmark in common?
//!      └──matcher──► every witness is confirmed on the tree, by `landmark`'s reading of the definition
//! ```
//! `include` and `shared` are breadth-first searches of product automata, so a witness is a
//! shortest one. What a lookahead asks of the text to come travels along as a Boolean formula over
//! states (`guard`), what a lookbehind knows of the text before as a set of states (`walk`), and
//! the letters are classes of characters that the two patterns cannot tell apart (`alphabet`). For
//! backreferences, conditionals and some atomic groups a pattern has two automata, one that claims
//! at least what it claims, one that claims at most that: no overlap of the former is proof of
//! none, inclusion of the one in the other is proof of inclusion, and a witness counts once the
//! matcher confirms it.
//!
//! # Witnesses
//! A shortest frame, of the most readable letters. Then, where a wildcard leaves room, a `::` is
//! put between names that would be glued together: inside the match for equal and within, and for
//! partial up to the start of the shared text. After that start nothing is inserted, so that
//! `AGXG.*FamilyCommandBuffer` and `AGXG17XFamily.*init` show `AGXG17XFamilyCommandBufferinit`.
//!
//! # Bounds
//! All bounds count states, steps or places, never time, so an answer does not depend on the
//! machine. See [`Budget`] and [`Bound`].
//!
//! Uses `span` and `pattern` only; knows nothing of diagnostics.

mod alphabet;
mod charset;
mod features;
mod few;
pub(crate) mod fuel;
mod guard;
mod hash;
mod include;
mod index;
mod landmark;
pub mod matcher;
mod program;
mod reach;
mod search;
mod shared;
mod texts;
mod walk;

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

pub use few::{Few, Member, Outline, few, is_plainly_outside};
pub use index::{
    Crowd, Finding, Index, Pairs, Source, Want, Wanted, crowds, inclusions_among, pairs,
};

use crate::pattern::ast::Ast;
use alphabet::Alphabet;
use charset::CharSet;
use fuel::Fuel;
use landmark::Identifiers;
use matcher::{Lead, Match, Matcher, Outcome};
use program::{Program, Side};
use search::Found;
pub(crate) use texts::{GRAM, Gram, Grams, gram};

/// How many characters of a landmark must be shared.
const LANDMARK: u8 = 3;

/// How many characters of a piece of an identifier must be shared.
const PIECE: u8 = 4;

/// How many units making a witness readable may cost.
const READABLE: usize = 2_048;

/// How many units it may cost for a frame of one pattern.
const READABLE_SAMPLE: usize = 16_384;

/// A pattern's automaton may always have so many places and edges, and else as many as its budget has
/// states.
const LEAST_SIZE: u64 = 1 << 12;

/// After how many steps not all matches are asked for any more.
const MANY_STEPS: u32 = 4_000;

/// How much work one question may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// How many states one question may visit, each as often as it is visited: places of a product,
    /// states in the sets of the side that is made deterministic. A formula counts as 32, four
    /// steps of the matcher as one.
    pub states: usize,
}

impl Default for Budget {
    fn default() -> Self {
        // `(a|b)*a(a|b){14}$` has sets of 300,000 states in all.
        Self { states: 24_000_000 }
    }
}

impl Budget {
    /// The states that a question about each of all patterns may visit together, about.
    const TOGETHER: usize = 24_000_000;

    /// What each pattern always may.
    const LEAST: usize = 12_000;

    /// The budget of one question about one pattern where the same is asked of so many: an even share. It
    /// depends on their number alone, so that an answer does not depend on who is asked first.
    #[must_use]
    pub fn among(patterns: usize) -> Self {
        let most = Self::default().states;
        Self { states: (Self::TOGETHER / patterns.max(1)).clamp(Self::LEAST, most) }
    }
}

/// Why something is not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A pattern refers back to a group.
    Backreference,
    /// A pattern asks whether a group took part.
    Conditional,
    /// A pattern has an atomic group or a possessive repeat without an exact form.
    Atomic,
    /// A bound was hit.
    Bound(Bound),
}

/// A bound that was hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The budget of states.
    States,
    /// The budget of states of all pairs together, see [`pairs`].
    Total,
    /// A pattern's automaton has more than 1,048,576 places or edges, repeats written out.
    Size,
    /// The sets of a pattern have more than 4,194,304 ranges of characters together.
    Ranges,
    /// A pattern is nested more than 2,048 deep.
    Depth,
    /// The patterns tell apart more than 161 classes of characters beyond ASCII.
    Characters,
    /// A condition that lookarounds put on the text speaks of more than 1,000 states.
    Lookarounds,
    /// Confirming a witness took more than [`matcher::MAX_STEPS`] steps.
    Steps,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Backreference => "a backreference is outside regular languages",
            Self::Conditional => "a conditional group is outside regular languages",
            Self::Atomic => {
                "an atomic group or possessive repeat of variable width has no exact form"
            }
            Self::Bound(Bound::States) => "the search hit its budget of states",
            Self::Bound(Bound::Total) => {
                "the patterns together hit the budget of states of one run"
            }
            Self::Bound(Bound::Size) => {
                "a pattern has more than 1,048,576 places when its repeats are written out"
            }
            Self::Bound(Bound::Ranges) => {
                "the sets of a pattern have more than 4,194,304 ranges of characters together"
            }
            Self::Bound(Bound::Depth) => "a pattern is nested more than 2,048 deep",
            Self::Bound(Bound::Characters) => {
                "the patterns tell too many characters beyond ASCII apart"
            }
            Self::Bound(Bound::Lookarounds) => {
                "the lookarounds depend on more than 1,000 states at once"
            }
            Self::Bound(Bound::Steps) => "confirming a witness took more than 2,000,000 steps",
        })
    }
}

/// How the claims of two patterns, A and B, lie to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Every frame that one claims, the other claims too.
    Equal,
    /// Every frame that A claims, B claims too, and not the reverse: B is the broader.
    AWithinB,
    /// The reverse.
    BWithinA,
    /// Neither, but some frame has a text that both match and that names something.
    Partial,
    /// None of these.
    None,
    /// Not known, and why.
    Undecided(Reason),
}

/// A frame that shows a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The frame.
    pub text: String,
    /// The text that both matches cover, in scalar values; `None` if they share none.
    pub shared: Option<(usize, usize)>,
    /// A's match, in scalar values.
    pub a: (usize, usize),
    /// B's match, in scalar values.
    pub b: (usize, usize),
}

/// The relation of two patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Which it is.
    pub kind: Kind,
    /// A frame that both claim, with every kind but *none* and *undecided*. (Only two patterns of
    /// the same text that are not regular may lack it.)
    pub witness: Option<Witness>,
}

impl Relation {
    fn bare(kind: Kind) -> Self {
        Self { kind, witness: None }
    }

    /// The same, seen from the other side.
    #[must_use]
    pub fn flipped(mut self) -> Self {
        self.kind = match self.kind {
            Kind::AWithinB => Kind::BWithinA,
            Kind::BWithinA => Kind::AWithinB,
            kind => kind,
        };
        if let Some(witness) = &mut self.witness {
            std::mem::swap(&mut witness.a, &mut witness.b);
        }
        self
    }
}

/// The answer to a question about all frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It holds.
    Yes,
    /// It does not; a shortest frame that shows it.
    No(String),
    /// Not known, and why.
    Undecided(Reason),
}

impl Answer {
    fn reason(self) -> Option<Reason> {
        match self {
            Self::Undecided(reason) => Some(reason),
            Self::Yes | Self::No(_) => None,
        }
    }
}

/// What a search for one frame came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    /// A shortest frame of the kind.
    Frame(String),
    /// There is none.
    None,
    /// Not known, and why.
    Undecided(Reason),
}

/// A pattern ready for questions. Making one costs about as much as a question, so keep it where
/// there is more than one.
#[derive(Debug)]
pub struct Compiled<'a> {
    ast: &'a Ast,
    over: Result<Program, Reason>,
    /// What it claims at least, where `over` is not exact.
    under: Option<Result<Program, Reason>>,
    matcher: OnceLock<Matcher>,
    sample: OnceLock<Sample>,
    everything: OnceLock<Answer>,
    budget: Budget,
}

impl<'a> Compiled<'a> {
    /// Prepares a pattern.
    pub fn new(ast: &'a Ast, budget: Budget) -> Self {
        let limit = program::MAX_SIZE.min(budget.states as u64).max(LEAST_SIZE);
        let mut compiled = Self::limited(ast, budget, limit);
        if limit < program::MAX_SIZE {
            // It may well have fewer places than the bound says that is named.
            for side in [Some(&mut compiled.over), compiled.under.as_mut()].into_iter().flatten() {
                if let Err(reason @ Reason::Bound(Bound::Size)) = side {
                    *reason = Reason::Bound(Bound::Total);
                }
            }
        }
        compiled
    }

    /// [`Compiled::new`] with automata of at most `limit` places and edges.
    fn limited(ast: &'a Ast, budget: Budget, limit: u64) -> Self {
        let over = Program::new(ast, Side::Over, limit);
        let under = match &over {
            Ok(program) if program.inexact.is_some() => Some(Program::new(ast, Side::Under, limit)),
            _ => None,
        };
        Self {
            ast,
            over,
            under,
            matcher: OnceLock::new(),
            sample: OnceLock::new(),
            everything: OnceLock::new(),
            budget,
        }
    }

    /// The matcher of the pattern.
    pub fn matcher(&self) -> &Matcher {
        self.matcher.get_or_init(|| Matcher::new(self.ast))
    }

    /// What the matcher finds in a text, paid from `fuel`; with none left it gives up.
    fn search(&self, text: &[char], fuel: &Fuel) -> Outcome {
        let most = fuel.steps(matcher::MAX_STEPS);
        let (outcome, steps) = self.matcher().search_within(text, most, Lead::Full);
        fuel.spend_steps(steps);
        outcome
    }

    /// Whether the matcher finds something in a text, paid from `fuel`; `None` if it gives up.
    fn claims(&self, text: &[char], fuel: &Fuel) -> Option<bool> {
        let most = fuel.steps(matcher::MAX_STEPS);
        let (outcome, steps) = self.matcher().search_within(text, most, Lead::None);
        fuel.spend_steps(steps);
        match outcome {
            Outcome::Match(..) => Some(true),
            Outcome::None => Some(false),
            Outcome::GaveUp => None,
        }
    }

    /// [`Matcher::all_matches`], paid from `fuel`. If there are very many, `lead` is changed, and
    /// from then on those are left out that differ only in how far a wildcard at the start goes
    /// back.
    fn all_matches(&self, text: &[char], lead: &Cell<Lead>, fuel: &Fuel) -> Option<Vec<Match>> {
        if lead.get() == Lead::Full {
            let found = self.matches_within(text, MANY_STEPS, Lead::Full, fuel);
            if found.is_some() {
                return found;
            }
            lead.set(Lead::Short);
        }
        self.matches_within(text, matcher::MAX_STEPS, Lead::Short, fuel)
    }

    fn matches_within(
        &self,
        text: &[char],
        most: u32,
        lead: Lead,
        fuel: &Fuel,
    ) -> Option<Vec<Match>> {
        let (found, steps) = self.matcher().matches_within(text, fuel.steps(most), lead);
        fuel.spend_steps(steps);
        found
    }

    /// A shortest frame that it claims.
    pub fn sample(&self) -> &Sample {
        self.sample_within(&Fuel::new(self.budget.states))
    }

    /// [`Compiled::sample`] and the automata, paid from `fuel`.
    pub(crate) fn sample_paid(&self, fuel: &Fuel) -> &Sample {
        let own = fuel.part(self.budget.states);
        let sample = self.sample_within(&own);
        fuel.spend(own.used().saturating_add(usize::try_from(self.size()).unwrap_or(usize::MAX)));
        sample
    }

    /// [`Compiled::sample`], with all of `fuel` as its budget if it is not known yet.
    fn sample_within(&self, fuel: &Fuel) -> &Sample {
        self.sample.get_or_init(|| {
            let over = match &self.over {
                Ok(over) => over,
                Err(reason) => return Sample::Undecided(reason.clone()),
            };
            let Some(alphabet) = Alphabet::new(&over.sets, &over.sets, fuel) else {
                return Sample::Undecided(Reason::Bound(Bound::Characters));
            };
            let (unsure, exact) = (self.unsure(), over.inexact.is_none());
            let mut check = |text: &str| exact || self.claims(&chars_of(text), fuel) == Some(true);
            match include::difference(over, None, &alphabet, fuel, &unsure, &mut check) {
                Found::Yes(text) => Sample::Frame(text),
                Found::No => Sample::None,
                Found::Unknown(reason) => Sample::Undecided(reason),
            }
        })
    }

    /// Whether no frame satisfies it.
    pub fn claims_nothing(&self) -> Answer {
        match self.sample() {
            Sample::Frame(text) => Answer::No(text.clone()),
            Sample::None => Answer::Yes,
            Sample::Undecided(reason) => Answer::Undecided(reason.clone()),
        }
    }

    /// Whether it claims every frame.
    pub fn claims_everything(&self) -> Answer {
        self.everything.get_or_init(|| self.find_everything()).clone()
    }

    fn find_everything(&self) -> Answer {
        let all = match Program::of_set(CharSet::all()) {
            Ok(all) => all,
            Err(reason) => return Answer::Undecided(reason),
        };
        let fuel = Fuel::new(self.budget.states);
        let mut check =
            |text: &str| self.is_exact() || self.claims(&chars_of(text), &fuel) == Some(false);
        answer(self.search_outside(&all, &fuel, &mut check))
    }

    /// Whether every frame that it claims is claimed by `other` too; if not, with a shortest frame
    /// that only it claims.
    pub fn within(&self, other: &Compiled<'_>) -> Answer {
        self.within_by(other, &Fuel::new(self.budget.states))
    }

    /// [`Compiled::within`], paid from `fuel`.
    pub(crate) fn within_paid(&self, other: &Compiled<'_>, fuel: &Fuel) -> Answer {
        let own = fuel.part(self.budget.states);
        let answer = self.within_by(other, &own);
        fuel.spend(own.used());
        answer
    }

    /// [`Compiled::within`], with all of `fuel` as its budget.
    fn within_by(&self, other: &Compiled<'_>, fuel: &Fuel) -> Answer {
        let over = match &self.over {
            Ok(over) => over,
            Err(reason) => return Answer::Undecided(reason.clone()),
        };
        if self.ast.root.kind == other.ast.root.kind {
            return Answer::Yes;
        }
        // Most patterns are refuted by one frame; a shortest of all is a shortest of those that the
        // other lacks.
        match self.sample_within(fuel) {
            Sample::Frame(text) if other.claims(&chars_of(text), fuel) == Some(false) => {
                return Answer::No(text.clone());
            }
            Sample::None => return Answer::Yes,
            Sample::Frame(_) | Sample::Undecided(_) => {}
        }
        let exact = self.is_exact() && other.is_exact();
        let mut check = |text: &str| {
            exact || {
                let text = chars_of(text);
                self.claims(&text, fuel) == Some(true) && other.claims(&text, fuel) == Some(false)
            }
        };
        answer(other.search_outside(over, fuel, &mut check))
    }

    /// A frame that `a` claims and this pattern does not.
    fn search_outside(
        &self,
        a: &Program,
        fuel: &Fuel,
        check: &mut dyn FnMut(&str) -> bool,
    ) -> Found {
        let under = match self.under.as_ref().unwrap_or(&self.over) {
            Ok(under) => under,
            Err(reason) => return Found::Unknown(reason.clone()),
        };
        let Some(alphabet) = Alphabet::new(&a.sets, &under.sets, fuel) else {
            return Found::Unknown(Reason::Bound(Bound::Characters));
        };
        let unsure = a.inexact.clone().unwrap_or_else(|| self.unsure());
        include::difference(a, Some(under), &alphabet, fuel, &unsure, check)
    }

    /// Whether its automaton is exact: no backreference or conditional, and no atomic group without
    /// an exact form. Where it is not, an answer may be undecided, and a frame may not be a
    /// shortest one.
    pub fn is_exact(&self) -> bool {
        self.under.is_none()
    }

    /// Why an answer about it may not be known.
    fn unsure(&self) -> Reason {
        match &self.over {
            Ok(program) => program.inexact.clone().unwrap_or(Reason::Bound(Bound::Steps)),
            Err(reason) => reason.clone(),
        }
    }

    /// How many places and edges its automata have.
    fn size(&self) -> u64 {
        let size = |program: &Result<Program, Reason>| program.as_ref().map_or(0, Program::size);
        size(&self.over) + self.under.as_ref().map_or(0, size)
    }

    /// What it took to make its automata of at most `limit` places and edges, in these.
    fn cost(&self, limit: u64) -> u64 {
        match &self.over {
            // It was counted before anything was made.
            Err(_) if program::size_before(self.ast, limit).is_err() => 0,
            Err(_) => limit,
            Ok(_) => self.size() + program::size_of_sets(self.ast),
        }
    }

    fn has_wildcard(&self) -> bool {
        self.over.as_ref().is_ok_and(Program::has_wildcard)
    }
}

fn chars_of(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn answer(found: Found) -> Answer {
    match found {
        Found::No => Answer::Yes,
        Found::Yes(text) => Answer::No(text),
        Found::Unknown(reason) => Answer::Undecided(reason),
    }
}

/// The relation of `a` and `b`.
pub fn relation(a: &Ast, b: &Ast, budget: Budget) -> Relation {
    relate(&Compiled::new(a, budget), &Compiled::new(b, budget))
}

/// [`relation`] of two patterns that are ready; it may cost what the first one's budget says.
pub fn relate(a: &Compiled<'_>, b: &Compiled<'_>) -> Relation {
    // Samples are kept, so they are not part of the price.
    let _ = (a.sample(), b.sample());
    relate_within(a, b, &Fuel::new(a.budget.states))
}

/// [`relate`], paid from `fuel`.
fn relate_within(a: &Compiled<'_>, b: &Compiled<'_>, fuel: &Fuel) -> Relation {
    match inclusions(a, b, fuel) {
        Ok(inclusions) => partial(a, b, inclusions, fuel),
        Err(relation) => relation,
    }
}

/// Whether one is equal to the other or within it, no more: a partial overlap counts as none. It may
/// cost what the first one's budget says.
pub fn inclusion(a: &Compiled<'_>, b: &Compiled<'_>) -> Relation {
    let _ = (a.sample(), b.sample());
    inclusion_within(a, b, &Fuel::new(a.budget.states))
}

/// [`inclusion`], paid from `fuel`.
fn inclusion_within(a: &Compiled<'_>, b: &Compiled<'_>, fuel: &Fuel) -> Relation {
    match inclusions(a, b, fuel) {
        Ok((Answer::Undecided(reason), _) | (_, Answer::Undecided(reason))) => {
            Relation::bare(Kind::Undecided(reason))
        }
        Ok(_) => Relation::bare(Kind::None),
        Err(relation) => relation,
    }
}

/// Whether `a` is within `b` and `b` within `a`; as an error the relation, where these settle it.
fn inclusions(
    a: &Compiled<'_>,
    b: &Compiled<'_>,
    fuel: &Fuel,
) -> Result<(Answer, Answer), Relation> {
    if let Some(reason) = [&a.over, &b.over].into_iter().find_map(|over| over.as_ref().err()) {
        return Err(Relation::bare(Kind::Undecided(reason.clone())));
    }
    if *a.sample_within(fuel) == Sample::None || *b.sample_within(fuel) == Sample::None {
        return Err(Relation::bare(Kind::None));
    }
    if a.ast.root.kind == b.ast.root.kind {
        return Err(common(a, b, Kind::Equal, fuel));
    }
    let (a_in_b, b_in_a) = (a.within_by(b, fuel), b.within_by(a, fuel));
    match (&a_in_b, &b_in_a) {
        (Answer::Yes, Answer::Yes) => Err(common(a, b, Kind::Equal, fuel)),
        (Answer::Yes, Answer::No(_)) => Err(common(a, b, Kind::AWithinB, fuel)),
        (Answer::No(_), Answer::Yes) => Err(common(b, a, Kind::AWithinB, fuel).flipped()),
        // Equal or within: not partial at any rate.
        (Answer::Yes, Answer::Undecided(reason)) | (Answer::Undecided(reason), Answer::Yes) => {
            Err(Relation::bare(Kind::Undecided(reason.clone())))
        }
        _ => Ok((a_in_b, b_in_a)),
    }
}

/// The relation of two patterns that are neither equal nor the one within the other for sure.
fn partial(
    a: &Compiled<'_>,
    b: &Compiled<'_>,
    (a_in_b, b_in_a): (Answer, Answer),
    fuel: &Fuel,
) -> Relation {
    let (a_over, b_over) = match (&a.over, &b.over) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(reason), _) | (_, Err(reason)) => {
            return Relation::bare(Kind::Undecided(reason.clone()));
        }
    };
    let Some(alphabet) = Alphabet::new(&a_over.sets, &b_over.sets, fuel) else {
        return Relation::bare(Kind::Undecided(Reason::Bound(Bound::Characters)));
    };
    let unsure =
        a_over.inexact.clone().or(b_over.inexact.clone()).unwrap_or(Reason::Bound(Bound::Steps));
    let mut witness = None;
    let mut check = |text: &str| {
        witness = partial_witness(a, b, text, fuel);
        witness.is_some()
    };
    let found = shared::shared(a_over, b_over, &alphabet, fuel, &unsure, &mut check);
    match found {
        Found::Yes(_) => match [a_in_b, b_in_a].into_iter().find_map(Answer::reason) {
            // A claim in common is proven, and that is what matters.
            None | Some(Reason::Atomic) => Relation { kind: Kind::Partial, witness },
            Some(reason) => Relation::bare(Kind::Undecided(reason)),
        },
        Found::Unknown(reason) => Relation::bare(Kind::Undecided(reason)),
        Found::No => match (a_in_b, b_in_a) {
            (Answer::No(_), Answer::No(_)) => Relation::bare(Kind::None),
            (Answer::Undecided(reason), _) | (_, Answer::Undecided(reason)) => {
                Relation::bare(Kind::Undecided(reason))
            }
            // One is settled and the other would have been returned above.
            _ => Relation::bare(Kind::Undecided(unsure)),
        },
    }
}

/// The relation `kind`, where all that `a` claims `b` claims too.
fn common(a: &Compiled<'_>, b: &Compiled<'_>, kind: Kind, fuel: &Fuel) -> Relation {
    let text = match a.sample_within(fuel) {
        Sample::Frame(text) => text,
        Sample::None => return Relation::bare(Kind::None),
        Sample::Undecided(_) if kind == Kind::Equal && !a.is_exact() => {
            return Relation::bare(Kind::Equal);
        }
        Sample::Undecided(reason) => return Relation::bare(Kind::Undecided(reason.clone())),
    };
    let chars = chars_of(text);
    let readable = if a.has_wildcard() { readable_sample(a, &chars, fuel) } else { None };
    let witness = readable
        .and_then(|chars| common_witness(a, b, &chars, fuel))
        .or_else(|| common_witness(a, b, &chars, fuel));
    match witness {
        Some(witness) => Relation { kind, witness: Some(witness) },
        None if fuel.is_empty() => Relation::bare(Kind::Undecided(Reason::Bound(Bound::States))),
        None => Relation::bare(Kind::Undecided(Reason::Bound(Bound::Steps))),
    }
}

/// The sample with `::` where a wildcard of the pattern matched nothing between two words.
fn readable_sample(a: &Compiled<'_>, frame: &[char], fuel: &Fuel) -> Option<Vec<char>> {
    let mut best = None;
    let lead = Cell::new(Lead::Full);
    let mut frame = frame.to_vec();
    let mut at = 1;
    let own = fuel.part(READABLE_SAMPLE);
    while at < frame.len() && !own.is_empty() {
        own.spend(1 + frame.len() / 16);
        let words = Identifiers::new(&frame);
        if words.is_word(at - 1) && words.is_word(at) {
            let mut longer = frame.clone();
            longer.splice(at..at, [':', ':']);
            let Some(matches) = a.all_matches(&longer, &lead, &own) else { break };
            let fits = matches.iter().any(|m| {
                let spelled = |place: usize| {
                    place.checked_sub(m.start).and_then(|i| m.spelled.get(i)).copied()
                };
                spelled(at - 1) == Some(true)
                    && spelled(at) == Some(false)
                    && spelled(at + 1) == Some(false)
                    && spelled(at + 2) == Some(true)
            });
            if fits {
                frame = longer;
                best = Some(frame.clone());
                at += 2;
            }
        }
        at += 1;
    }
    fuel.spend(own.used());
    best
}

/// A frame that both claim, with the two matches that share the most.
fn common_witness(
    a: &Compiled<'_>,
    b: &Compiled<'_>,
    frame: &[char],
    fuel: &Fuel,
) -> Option<Witness> {
    let (Outcome::Match(a_start, a_end), Outcome::Match(b_start, b_end)) =
        (a.search(frame, fuel), b.search(frame, fuel))
    else {
        return None;
    };
    let lead = Cell::new(Lead::Full);
    let mut best = ((a_start, a_end), (b_start, b_end));
    let overlap =
        |(a, b): ((usize, usize), (usize, usize))| a.1.min(b.1).saturating_sub(a.0.max(b.0));
    if overlap(best) < (a_end - a_start).min(b_end - b_start)
        && let (Some(a), Some(b)) =
            (a.all_matches(frame, &lead, fuel), b.all_matches(frame, &lead, fuel))
        && a.len().saturating_mul(b.len()) <= 1_000_000
    {
        fuel.spend(a.len() * b.len() / 16);
        for a in &a {
            for b in &b {
                let pair = ((a.start, a.end), (b.start, b.end));
                if overlap(pair) > overlap(best) {
                    best = pair;
                }
            }
        }
    }
    let (a, b) = best;
    Some(witness(frame, a, b))
}

fn witness(frame: &[char], a: (usize, usize), b: (usize, usize)) -> Witness {
    let shared = (a.0.max(b.0), a.1.min(b.1));
    Witness { text: frame.iter().collect(), shared: (shared.0 < shared.1).then_some(shared), a, b }
}

/// The pair of matches of a frame that overlap in part, if there is one; of several, one with the
/// most text in common.
fn partial_matches(
    a: &Compiled<'_>,
    b: &Compiled<'_>,
    frame: &[char],
    lead: &Cell<Lead>,
    fuel: &Fuel,
) -> Option<(Match, Match)> {
    let (a, b) = (a.all_matches(frame, lead, fuel)?, b.all_matches(frame, lead, fuel)?);
    fuel.spend(a.len().saturating_mul(b.len()) / 64);
    let words = Identifiers::new(frame);
    let mut best: Option<(&Match, &Match)> = None;
    let size = |(a, b): (&Match, &Match)| {
        let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
        (shared, usize::MAX - (a.end - a.start) - (b.end - b.start))
    };
    for a in &a {
        for b in &b {
            if best.is_some_and(|best| size((a, b)) <= size(best))
                || a.end.min(b.end) <= a.start.max(b.start)
            {
                continue;
            }
            // It looks at each character in common a few times.
            fuel.spend(1 + (a.end.min(b.end) - a.start.max(b.start)) / 4);
            if fuel.is_empty() {
                return None;
            }
            if words.overlap(a, b) {
                best = Some((a, b));
            }
        }
    }
    best.map(|(a, b)| (a.clone(), b.clone()))
}

/// Confirms that two patterns overlap in part on a frame, and makes it readable.
fn partial_witness(a: &Compiled<'_>, b: &Compiled<'_>, text: &str, fuel: &Fuel) -> Option<Witness> {
    let mut frame = chars_of(text);
    let lead = Cell::new(Lead::Full);
    let mut best = partial_matches(a, b, &frame, &lead, fuel)?;
    // Only the match that begins first has text before the shared one.
    let earlier = if best.0.start < best.1.start { a } else { b };
    if earlier.has_wildcard() {
        let mut at = best.0.start.min(best.1.start) + 1;
        let until = fuel.used().saturating_add(READABLE);
        while at <= best.0.start.max(best.1.start) && fuel.used() <= until {
            match separate((a, b), &frame, &best, at, (&lead, fuel)) {
                Some((longer, pair)) => {
                    (frame, best) = (longer, pair);
                    at += 3;
                }
                None => at += 1,
            }
        }
    }
    Some(witness(&frame, (best.0.start, best.0.end), (best.1.start, best.1.end)))
}

/// The frame with a `::` at a place up to the start of the shared text, if two words are glued
/// together there and a wildcard takes it.
///
/// Where one match begins in what the other one spells out before its wildcard, the letters that
/// they have in common are written twice: `norm_addispatch` is `norm_add` and `dispatch`.
fn separate(
    (a, b): (&Compiled<'_>, &Compiled<'_>),
    frame: &[char],
    best: &(Match, Match),
    at: usize,
    (lead, fuel): (&Cell<Lead>, &Fuel),
) -> Option<(Vec<char>, (Match, Match))> {
    fuel.spend(frame.len() / 16);
    let words = Identifiers::new(frame);
    if !(words.is_word(at - 1) && words.is_word(at)) {
        return None;
    }
    let start = best.0.start.max(best.1.start);
    let end = best.0.end.min(best.1.end);
    let (earlier, pattern) = if best.0.start < best.1.start { (&best.0, a) } else { (&best.1, b) };
    let common = if at == start {
        earlier.spelled.iter().skip(at - earlier.start).take_while(|&&spelled| spelled).count()
    } else {
        0
    };
    let mut longer = frame.get(..at + common)?.to_vec();
    longer.extend([':', ':']);
    longer.extend_from_slice(frame.get(at..)?);
    if pattern.claims(&longer, fuel) != Some(true) {
        return None;
    }
    let pair = partial_matches(a, b, &longer, lead, fuel)?;
    let spelled = |m: &Match, place: usize| {
        place.checked_sub(m.start).and_then(|i| m.spelled.get(i)).copied()
    };
    let either = |place, what| {
        spelled(&pair.0, place) == Some(what) || spelled(&pair.1, place) == Some(what)
    };
    let at = at + common;
    let same = longer.get(pair.0.start.max(pair.1.start)..pair.0.end.min(pair.1.end))
        == frame.get(start..end);
    let fits =
        either(at - 1, true) && either(at, false) && either(at + 1, false) && either(at + 2, true);
    (same && fits).then_some((longer, pair))
}

/// Whether every frame that `a` claims is claimed by `b` too; if not, with a shortest frame that
/// only `a` claims.
pub fn within(a: &Ast, b: &Ast, budget: Budget) -> Answer {
    Compiled::new(a, budget).within(&Compiled::new(b, budget))
}

/// The bound that keeps a pattern from being looked at at all, if that is plain to see: it has too many
/// places when its repeats are written out, or too many ranges in its sets.
pub fn too_large(ast: &Ast) -> Option<Reason> {
    program::size_before(ast, program::MAX_SIZE).err()
}

/// Whether a pattern claims every frame; if not, with a shortest one that it does not claim.
pub fn claims_everything(ast: &Ast, budget: Budget) -> Answer {
    Compiled::new(ast, budget).claims_everything()
}

/// Whether no frame satisfies a pattern; if one does, with a shortest.
pub fn claims_nothing(ast: &Ast, budget: Budget) -> Answer {
    Compiled::new(ast, budget).claims_nothing()
}

/// A shortest frame that a pattern claims, of readable letters.
pub fn sample(ast: &Ast, budget: Budget) -> Sample {
    Compiled::new(ast, budget).sample().clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Versions, parse};

    #[test]
    fn making_a_long_frame_readable_is_bounded() {
        // At each of its places a wildcard matched nothing between two words.
        let parts: String = (0..3_000).map(|_| "ab.*").collect();
        let ast = parse(&(parts + "c"), Versions::ALL).unwrap_or_else(|error| panic!("{error:?}"));
        let compiled = Compiled::new(&ast, Budget::default());
        let frame: Vec<char> = "ab".repeat(3_000).chars().chain(['c']).collect();
        let fuel = Fuel::new(Budget::default().states);
        readable_sample(&compiled, &frame, &fuel);
        assert!(fuel.used() > 0 && fuel.used() <= READABLE_SAMPLE, "{}", fuel.used());
    }
}
