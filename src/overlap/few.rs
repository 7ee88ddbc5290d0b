//! All overlaps among a few patterns, most of them nothing but text: what most registers hold.
//!
//! The same questions as those of `index`, pair by pair, because for a few an index costs more than it saves. Two texts
//! are decided here. For a pair with another pattern a necessary condition is looked at, and where it
//! holds, an [`Index`](super::Index) has to decide.
//!
//! Uses `features`, `index`, `pattern`, and what the relation is made of.

use std::cell::Cell;

use super::features::{self, Branch, Piece};
use super::index::{of_texts, qualifies};
use super::matcher::{Lead, Outcome};
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

/// Looks at all pairs in which something is `wanted`, which is asked with the lower index first. Quadratic.
/// `compile` is asked only where it is not plain to see that a pair has nothing in common.
pub fn few(
    members: &[Member<'_>],
    compile: Compile<'_, '_>,
    wanted: &dyn Fn(usize, usize) -> Wanted,
) -> Few {
    let work = Work { compile, steps: Cell::new(STEPS) };
    let letters: Vec<u64> = members.iter().map(|member| pairs_of_letters(*member)).collect();
    let mut found = Few::default();
    for (b, &second) in members.iter().enumerate() {
        for (a, &first) in members.iter().enumerate().take(b) {
            let wanted = wanted(a, b);
            if wanted == Wanted::Nothing {
                continue;
            }
            if let (Member::Text(x), Member::Text(y)) = (first, second) {
                let may_contain = letters[a] & !letters[b] == 0 || letters[b] & !letters[a] == 0;
                let inside = may_contain && (x.contains(y) || y.contains(x));
                if inside || (wanted == Wanted::Relation && (laid(x, y) || laid(y, x))) {
                    let relation = if x == y {
                        Relation { kind: Kind::Equal, witness: None }
                    } else {
                        of_texts(x, y)
                    };
                    let is_wanted = relation.kind != Kind::Partial || wanted == Wanted::Relation;
                    if relation.kind != Kind::None && is_wanted {
                        found.findings.push(Finding { a, b, relation });
                    }
                }
            } else if work.may_include((a, first), (b, second))
                || work.may_include((b, second), (a, first))
                || (wanted == Wanted::Relation && may_share(first, second))
            {
                found.open.push((a, b));
            }
        }
    }
    found.findings.sort_by_key(|finding| (finding.a, finding.b));
    found.open.sort_unstable();
    found
}

/// A set of the pairs of letters in a text, of which those of a part are a subset.
fn pairs_of_letters(member: Member<'_>) -> u64 {
    let Member::Text(text) = member else { return 0 };
    let pairs = text.as_bytes().windows(2);
    pairs.fold(0, |set, pair| {
        let hash = u32::from(pair[0]).wrapping_mul(31) ^ u32::from(pair[1]).wrapping_mul(0x9E37);
        set | 1 << (hash.wrapping_mul(0x9E37_79B9) >> 26)
    })
}

/// Whether the second text may begin in the first and go on behind it, with room for a landmark or a piece.
fn laid(first: &str, second: &str) -> bool {
    let Some(&letter) = second.as_bytes().first() else { return false };
    memchr::memchr_iter(letter, first.as_bytes()).any(|at| {
        let Some(rest) = first.get(at..) else { return false };
        second.strip_prefix(rest).is_some_and(|more| {
            let before = first.get(..at).and_then(|text| text.chars().next_back());
            qualifies(rest, before, more.chars().next(), false, true)
        })
    })
}

/// Whether the first claims a frame that the second does not, as far as that is plain to see.
pub fn is_plainly_outside(first: Member<'_>, second: Member<'_>) -> bool {
    first.frame().is_some_and(|frame| !second.may_claim(frame))
}

impl<'a> Member<'a> {
    /// A frame that it surely claims, where one is plain to see.
    fn frame(self) -> Option<&'a str> {
        self.candidate().filter(|(_, is_certain)| *is_certain).map(|(frame, _)| frame)
    }

    /// A frame that it seems to claim, and whether that is certain.
    fn candidate(self) -> Option<(&'a str, bool)> {
        match self {
            Member::Text(text) => Some((text, true)),
            Member::Other(outline) => {
                outline.frame.as_ref().map(|(frame, is_certain)| (frame.as_str(), *is_certain))
            }
        }
    }

    /// Whether it may claim a frame: whether what it spells out is there.
    fn may_claim(self, frame: &str) -> bool {
        let is_spelled = |branch: &Branch| {
            branch.iter().all(|piece| match piece {
                Piece::Run(text) => frame.contains(text.as_str()),
                Piece::Gap => true,
            })
        };
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

/// What is asked of a matcher, and what may be.
struct Work<'w, 'a> {
    compile: Compile<'w, 'a>,
    steps: Cell<u32>,
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
        (narrower_at, narrower): (usize, Member<'_>),
        (broader_at, broader): (usize, Member<'_>),
    ) -> bool {
        let Some((frame, is_certain)) = narrower.candidate() else { return true };
        // A frame that the first does not claim says nothing.
        if !is_certain && self.claims(narrower_at, frame) != Some(true) {
            return true;
        }
        broader.may_claim(frame)
            && match broader {
                Member::Text(_) => true,
                Member::Other(_) => self.claims(broader_at, frame) != Some(false),
            }
    }
}

/// Whether two patterns may overlap in part.
fn may_share(a: Member<'_>, b: Member<'_>) -> bool {
    let (Some(a), Some(b)) = (runs(a), runs(b)) else { return true };
    a.iter().any(|&x| b.iter().any(|&y| touch(x, y) || touch(y, x)))
}

/// The texts that a pattern spells out without a break; `None` where it cannot be written out.
fn runs<'a>(member: Member<'a>) -> Option<Vec<&'a str>> {
    match member {
        Member::Text(text) => Some(vec![text]),
        Member::Other(outline) => {
            let pieces = outline.branches.as_ref()?.iter().flatten();
            let run = |piece: &'a Piece| match piece {
                Piece::Run(text) => Some(text.as_str()),
                Piece::Gap => None,
            };
            Some(pieces.filter_map(run).collect())
        }
    }
}

/// Whether the second text, laid over the first from some place on, has room for a landmark or a piece in common with it.
fn touch(first: &str, second: &str) -> bool {
    let mut before = None;
    first.char_indices().any(|(at, c)| {
        let rest = &first[at..];
        let more = second.strip_prefix(rest).or_else(|| rest.strip_prefix(second));
        let common = if rest.len() < second.len() { rest } else { second };
        let fits =
            more.is_some_and(|more| qualifies(common, before, more.chars().next(), true, true));
        before = Some(c);
        fits
    })
}
