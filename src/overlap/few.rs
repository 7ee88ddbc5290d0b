//! All overlaps among a few patterns, most of them nothing but text: what most registers hold.
//!
//! The same questions as those of `index`, pair by pair, because for a few an index costs more than it saves. Two texts
//! are decided here. For a pair with another pattern a necessary condition is looked at, and where it
//! holds, an [`Index`](super::Index) has to decide.
//!
//! Uses `features`, `index`, `pattern`, and what the relation is made of.

use std::cell::{Cell, OnceCell};

use super::features::{self, Branch, Piece};
use super::fuel::Fuel;
use super::index::{borders, of_texts, room};
use super::matcher::{Lead, Outcome};
use super::texts::word;
use super::{Compiled, Finding, Kind, Relation, Wanted};
use crate::pattern::ast::Ast;
use crate::pattern::required::member;

/// What is plain to see of a pattern.
#[derive(Debug)]
pub struct Outline {
    plain: Option<String>,
    branches: Option<Vec<Branch>>,
    /// A frame that it claims, where one is plain to see, and whether that is certain.
    frame: Option<(String, bool)>,
}

impl Outline {
    /// Looks at a pattern.
    pub fn new(ast: &Ast) -> Self {
        let plain = features::plain_text(&ast.root);
        if plain.is_some() {
            return Self { plain, branches: None, frame: None };
        }
        let is_frame = |text: &str| !text.is_empty() && !text.contains(char::is_control);
        let frame = member(ast).filter(|(text, _)| is_frame(text));
        Self { plain, branches: features::branches(&ast.root), frame }
    }

    /// A frame that it seems to claim, where one is plain to see, and whether that is certain.
    pub fn frame(&self) -> Option<(&str, bool)> {
        self.frame.as_ref().map(|(frame, is_certain)| (frame.as_str(), *is_certain))
    }

    /// The text that the pattern is, if it is nothing else.
    pub fn plain(&self) -> Option<&str> {
        self.plain.as_deref()
    }
}

/// One of a few patterns.
#[derive(Debug, Clone, Copy)]
pub enum Member<'a> {
    /// It is nothing but this text, without a control character.
    Text(&'a str),
    /// It is something else.
    Other(&'a Outline),
}

/// What was found among a few patterns.
#[derive(Debug, Default)]
pub struct Few {
    /// Pairs of texts that are at odds, by A and then B.
    pub findings: Vec<Finding>,
    /// Pairs that may be at odds, by the first and then the second.
    pub open: Vec<(usize, usize)>,
}

/// What makes a pattern ready for questions, by its index; `None` if that cannot be done. Not cheap.
type Compile<'w, 'a> = &'w dyn Fn(usize) -> Option<&'w Compiled<'a>>;

/// Looks at all pairs in which something is `wanted`, which is asked with the lower index first. Quadratic in
/// the members that are not text.
/// `compile` is asked only where it is not plain to see that a pair has nothing in common.
pub fn few(
    members: &[Member<'_>],
    compile: Compile<'_, '_>,
    wanted: &dyn Fn(usize, usize) -> Wanted,
) -> Few {
    let work = Work { compile, steps: Cell::new(STEPS), fuel: Fuel::new(UNITS) };
    let shaped: Vec<Shaped<'_>> = members.iter().map(|&member| Shaped::new(member)).collect();
    let mut found = Few::default();
    for (a, b) in meetings(&shaped) {
        let (Some(first), Some(second)) = (shaped.get(a), shaped.get(b)) else { continue };
        if let (Shaped::Text(x), Shaped::Text(y)) = (first, second) {
            let wanted = wanted(a, b);
            if wanted == Wanted::Nothing {
                continue;
            }
            let (x, y) = (x.text, y.text);
            let inside = x.contains(y) || y.contains(x);
            if inside || (wanted == Wanted::Relation && (work.laid(x, y) || work.laid(y, x))) {
                let relation = if x == y {
                    Relation { kind: Kind::Equal, witness: None }
                } else {
                    of_texts(x, y, &work.fuel)
                };
                let is_wanted = relation.kind != Kind::Partial || wanted == Wanted::Relation;
                if relation.kind != Kind::None && is_wanted {
                    found.findings.push(Finding { a, b, relation });
                }
            }
            continue;
        }
        let wanted = wanted(a, b);
        if wanted != Wanted::Nothing
            && (work.may_include((a, first), (b, second))
                || work.may_include((b, second), (a, first))
                || (wanted == Wanted::Relation && work.may_share(first, second)))
        {
            found.open.push((a, b));
        }
    }
    found.findings.sort_by_key(|finding| (finding.a, finding.b));
    found.open.sort_unstable();
    found
}

/// The pairs that may be at odds, the lower index first, by the higher and then the lower; those of
/// which the texts have nothing to do with each other are not among them.
///
/// Of two texts of which one stands in the other or goes on behind it, one begins in the other. So they
/// are filed by their first two bytes, and each is asked at each of its places for those that begin
/// there: linear but for what is found.
fn meetings(shaped: &[Shaped<'_>]) -> impl Iterator<Item = (usize, usize)> {
    let words = shaped.len().div_ceil(64);
    // By the higher index: a bit for each lower one.
    let mut rows = vec![0u64; shaped.len() * words];
    let mut pair = |one: usize, other: usize| {
        let (a, b) = (one.min(other), one.max(other));
        if a != b {
            rows[b * words + a / 64] |= 1 << (a % 64);
        }
    };
    let mut texts: Vec<(&str, usize)> = Vec::with_capacity(shaped.len());
    for (at, member) in shaped.iter().enumerate() {
        texts.extend(member.texts().map(|text| (text, at)));
        if member.is_open() {
            for other in 0..shaped.len() {
                pair(at, other);
            }
        }
    }
    for openers in texts.chunks(64) {
        let openings = Openings::new(openers);
        for &(text, at) in &texts {
            let mut those = openings.those_in(text);
            while those != 0 {
                pair(at, openers[those.trailing_zeros() as usize].1);
                those &= those - 1;
            }
        }
    }
    rows.into_iter().enumerate().flat_map(move |(at, row)| {
        let (block, b) = (at % words, at / words);
        let next = |row: &u64| Some(row & (row - 1)).filter(|rest| *rest != 0);
        let rows = std::iter::successors(Some(row).filter(|row| *row != 0), next);
        rows.map(move |row| (64 * block + row.trailing_zeros() as usize, b))
    })
}

/// How many bytes are compared at a place: in long texts that are alike every place looks right for long.
const COMPARED: usize = 64;

/// Up to 64 texts by how they begin; each is a bit.
struct Openings<'s> {
    texts: &'s [(&'s str, usize)],
    /// The first eight bytes of each, see [`word`].
    words: [u64; 64],
    /// By the hash of the first two bytes.
    by_pair: [u64; Glance::PAIRS],
    /// By the first byte.
    by_first: [u64; 256],
    /// Those of fewer bytes.
    short: u64,
}

impl<'s> Openings<'s> {
    fn new(texts: &'s [(&'s str, usize)]) -> Self {
        let (by_pair, by_first) = ([0; Glance::PAIRS], [0; 256]);
        let mut all = Self { texts, words: [0; 64], by_pair, by_first, short: 0 };
        for (bit, (text, _)) in texts.iter().enumerate() {
            let bytes = text.as_bytes();
            all.words[bit] = word(bytes);
            match bytes {
                &[first, second, ..] => {
                    all.by_pair[Glance::hash(first, second)] |= 1 << bit;
                    all.by_first[usize::from(first)] |= 1 << bit;
                }
                _ => all.short |= 1 << bit,
            }
        }
        all
    }

    /// Those that stand in a text, go on behind it or begin with it, as far as a part of each place tells, and
    /// all that are short.
    fn those_in(&self, text: &str) -> u64 {
        let mut those = self.short;
        let [first, rest @ ..] = text.as_bytes() else {
            return u64::MAX >> (64 - self.texts.len());
        };
        let mut before = *first;
        for (at, &byte) in rest.iter().enumerate() {
            let mut hits = self.by_pair[Glance::hash(before, byte)] & !those;
            before = byte;
            if hits == 0 {
                continue;
            }
            let rest = &text.as_bytes()[at..];
            let start = word(rest);
            while hits != 0 {
                let bit = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                let other = self.texts[bit].0.as_bytes();
                let size = rest.len().min(other.len()).min(COMPARED);
                let differ = (start ^ self.words[bit]) << (64 - 8 * size.min(8));
                if differ == 0 && rest[..size] == other[..size] {
                    those |= 1 << bit;
                }
            }
        }
        if rest.is_empty() {
            return u64::MAX >> (64 - self.texts.len());
        }
        those | self.by_first[usize::from(before)]
    }
}

/// What tells at a glance that two texts have nothing to do with each other.
#[derive(Debug, Clone, Copy)]
struct Glance {
    /// The pairs of bytes of the text, hashed: those of a part of it are a subset.
    pairs: u64,
    /// The first byte, and the last one if that is another place: nothing is equal to what is not there.
    ends: (u16, u16),
    /// The hash of the first pair; [`Glance::NO_PAIR`] where there is none.
    opening: u16,
    /// The pairs behind the first byte, hashed to more places; the last word is for what is not there.
    inner: [u64; Self::PAIRS / 64 + 1],
}

impl Glance {
    /// To how many places a pair of bytes is hashed.
    const PAIRS: usize = 512;

    const NO_PAIR: u16 = Self::PAIRS as u16;

    fn hash(first: u8, second: u8) -> usize {
        usize::from(u16::from_le_bytes([first, second]).wrapping_mul(0x9E37) >> 7)
    }

    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let hash = |pair: &[u8]| Self::hash(pair[0], pair[1]);
        let opening = bytes.get(..2).map_or(Self::NO_PAIR, |pair| hash(pair) as u16);
        let mut inner = [0; Self::PAIRS / 64 + 1];
        for pair in bytes.get(1..).unwrap_or_default().windows(2) {
            let bit = hash(pair);
            inner[bit >> 6] |= 1u64 << (bit & 63);
        }
        let mut pairs = inner.iter().fold(0, |all, word| all | word);
        if opening != Self::NO_PAIR {
            pairs |= 1 << (opening & 63);
        }
        let first = bytes.first().map_or(256, |&byte| u16::from(byte));
        let last = bytes.last().filter(|_| bytes.len() > 1).map_or(257, |&byte| u16::from(byte));
        Self { pairs, ends: (first, last), opening, inner }
    }

    /// Whether the other may be a part of it; never wrong where it says no.
    fn may_contain(&self, part: &Self) -> bool {
        part.pairs & !self.pairs == 0
    }

    /// Whether the other may begin somewhere behind the first byte of it; never wrong where it says no.
    fn may_end_in(&self, other: &Self) -> bool {
        let word = self.inner[usize::from(other.opening >> 6)];
        self.ends.1 == other.ends.0 || word >> (other.opening & 63) & 1 == 1
    }
}

/// A text with what tells at a glance that it has nothing to do with most others.
#[derive(Debug)]
struct Shape<'a> {
    text: &'a str,
    glance: OnceCell<Glance>,
}

impl<'a> Shape<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, glance: OnceCell::new() }
    }

    fn glance(&self) -> &Glance {
        self.glance.get_or_init(|| Glance::new(self.text))
    }
}

/// A member with the shapes of its texts.
enum Shaped<'a> {
    Text(Shape<'a>),
    /// A frame that it seems to claim, and whether that is certain; and the texts that it spells out, branch by
    /// branch: `None` where it cannot be written out.
    Other(Option<(Shape<'a>, bool)>, Option<Vec<Vec<Shape<'a>>>>),
}

impl<'a> Shaped<'a> {
    fn new(member: Member<'a>) -> Self {
        match member {
            Member::Text(text) => Self::Text(Shape::new(text)),
            Member::Other(outline) => {
                let runs = |branch: &'a Branch| {
                    branch.iter().filter_map(Piece::run).map(Shape::new).collect()
                };
                let branches = outline.branches.as_ref();
                let frame = outline.frame().map(|(frame, certain)| (Shape::new(frame), certain));
                Self::Other(frame, branches.map(|branches| branches.iter().map(runs).collect()))
            }
        }
    }

    /// All texts that tell what it may claim: none empty, but for what is nothing.
    fn texts(&self) -> impl Iterator<Item = &'a str> {
        let (shape, branches) = match self {
            Self::Text(shape) => (Some(shape), None),
            Self::Other(frame, branches) => (frame.as_ref().map(|(it, _)| it), branches.as_ref()),
        };
        let runs = branches.into_iter().flatten().flatten();
        shape.into_iter().chain(runs).map(|shape| shape.text)
    }

    /// Whether they do not tell all: no frame of it is certain, or it has ways to match that spell out
    /// nothing, or too many.
    fn is_open(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Other(Some((_, true)), Some(branches)) => branches.iter().any(Vec::is_empty),
            Self::Other(..) => true,
        }
    }

    /// A frame that it seems to claim, and whether that is certain.
    fn candidate(&self) -> Option<(&Shape<'a>, bool)> {
        match self {
            Self::Text(shape) => Some((shape, true)),
            Self::Other(frame, _) => frame.as_ref().map(|(frame, is_certain)| (frame, *is_certain)),
        }
    }

    /// Whether it may claim a frame: whether what it spells out is there.
    fn may_claim(&self, frame: &Shape<'_>) -> bool {
        let is_there = |run: &Shape<'_>| {
            frame.glance().may_contain(run.glance()) && frame.text.contains(run.text)
        };
        match self {
            Self::Text(text) => is_there(text),
            Self::Other(_, Some(branches)) => {
                branches.iter().any(|branch| branch.iter().all(is_there))
            }
            Self::Other(_, None) => true,
        }
    }

    /// The texts that it spells out without a break; `None` where it cannot be written out.
    fn runs(&self) -> Option<impl Iterator<Item = &Shape<'a>> + Clone> {
        let (text, branches) = match self {
            Self::Text(text) => (Some(text), &[][..]),
            Self::Other(_, branches) => (None, branches.as_ref()?.as_slice()),
        };
        Some(text.into_iter().chain(branches.iter().flatten()))
    }
}

/// Whether the first claims a frame that the second does not, as far as that is plain to see.
pub fn is_plainly_outside(first: Member<'_>, second: Member<'_>) -> bool {
    first.frame().is_some_and(|frame| !second.may_claim(frame))
}

impl<'a> Member<'a> {
    /// A frame that it surely claims, where one is plain to see.
    fn frame(self) -> Option<&'a str> {
        match self {
            Member::Text(text) => Some(text),
            Member::Other(outline) => {
                outline.frame().filter(|(_, is_certain)| *is_certain).map(|(frame, _)| frame)
            }
        }
    }

    /// Whether it may claim a frame: whether what it spells out is there.
    fn may_claim(self, frame: &str) -> bool {
        let is_spelled =
            |branch: &Branch| branch.iter().filter_map(Piece::run).all(|run| frame.contains(run));
        match self {
            Member::Text(text) => frame.contains(text),
            Member::Other(Outline { branches: Some(branches), .. }) => {
                branches.iter().any(is_spelled)
            }
            Member::Other(_) => true,
        }
    }
}

/// The steps of the matcher for all pairs together; what is not known behind them is left open.
const STEPS: u32 = 4_000_000;

/// The most of them for one question.
const STEPS_AT_ONCE: u32 = 50_000;

/// What laying texts over each other may cost for all pairs together; behind that they may overlap.
const UNITS: usize = 1 << 22;

/// What is asked of a matcher and of texts, and what may be.
struct Work<'w, 'a> {
    compile: Compile<'w, 'a>,
    steps: Cell<u32>,
    fuel: Fuel,
}

impl Work<'_, '_> {
    /// Whether the pattern of that index claims a frame; `None` where that is not known.
    fn claims(&self, at: usize, frame: &str) -> Option<bool> {
        let matcher = (self.compile)(at)?.matcher();
        let chars: Vec<char> = frame.chars().collect();
        let most = self.steps.get().min(STEPS_AT_ONCE);
        let (outcome, steps) = matcher.search_within(&chars, most, Lead::None);
        self.steps.set(self.steps.get().saturating_sub(steps));
        match outcome {
            Outcome::Match(..) => Some(true),
            Outcome::None => Some(false),
            Outcome::GaveUp => None,
        }
    }

    /// Whether all that the first claims the second may claim too. Both with their indices.
    fn may_include(
        &self,
        (narrower_at, narrower): (usize, &Shaped<'_>),
        (broader_at, broader): (usize, &Shaped<'_>),
    ) -> bool {
        let Some((frame, is_certain)) = narrower.candidate() else { return true };
        // A frame that the first does not claim says nothing.
        if !is_certain && self.claims(narrower_at, frame.text) != Some(true) {
            return true;
        }
        broader.may_claim(frame)
            && match broader {
                Shaped::Text(_) => true,
                Shaped::Other(..) => self.claims(broader_at, frame.text) != Some(false),
            }
    }

    /// Whether the second text may begin in the first and go on behind it, with room for a landmark or a piece.
    fn laid(&self, first: &str, second: &str) -> bool {
        self.fuel.spend((first.len() + second.len()) / 16);
        self.fuel.is_empty()
            || borders(first, second).into_iter().any(|common| {
                let before = first.get(..first.len() - common);
                let before = before.and_then(|text| text.chars().next_back());
                let next = second.get(common..).and_then(|text| text.chars().next());
                let common = second.get(..common).unwrap_or_default();
                self.room(common, before, next, false)
            })
    }

    /// Whether two patterns may overlap in part.
    fn may_share(&self, a: &Shaped<'_>, b: &Shaped<'_>) -> bool {
        let (Some(a), Some(b)) = (a.runs(), b.runs()) else { return true };
        let mut a = a;
        a.any(|x| b.clone().any(|y| self.touch(x, y) || self.touch(y, x)))
    }

    /// Whether the second text, laid over the first from some place on, has room for a landmark or a piece in common
    /// with it.
    fn touch(&self, first: &Shape<'_>, second: &Shape<'_>) -> bool {
        // From the start on, one begins with the other; from another place on, the second begins there.
        if !first.text.starts_with(second.text)
            && !second.text.starts_with(first.text)
            && !first.glance().may_end_in(second.glance())
            && second.text.len() > 1
        {
            return false;
        }
        let (first, second) = (first.text, second.text);
        let mut before = None;
        first.char_indices().any(|(at, c)| {
            let rest = &first[at..];
            let common = if rest.len() < second.len() { rest } else { second };
            // The two are compared some tens of bytes at a time.
            self.fuel.spend(common.len() / 1_024 + usize::from(at % 8 == 7));
            if self.fuel.is_empty() {
                return true;
            }
            let more = second.strip_prefix(rest).or_else(|| rest.strip_prefix(second));
            let fits =
                more.is_some_and(|more| self.room(common, before, more.chars().next(), true));
            before = Some(c);
            fits
        })
    }

    /// [`super::index::qualifies`], paid for; it may be so where that is not possible.
    fn room(&self, common: &str, before: Option<char>, next: Option<char>, resumes: bool) -> bool {
        let (fits, looked_at) = room(common, before, next, resumes, true);
        self.fuel.spend(looked_at / 16);
        fits || self.fuel.is_empty()
    }
}
