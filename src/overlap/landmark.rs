//! The definition of a partial overlap, on one frame and two lists of matches.
//!
//! The product in `shared` finds a frame; this says, straight from the definition, whether it is
//! one, and which text is shared. Uses `matcher`, `charset`.

use super::charset::is_word;
use super::matcher::Match;
use super::{LANDMARK, PIECE};

/// What a match does with the character at a place of the frame.
fn spells(m: &Match, at: usize) -> bool {
    covers(m, at) && m.spelled.get(at - m.start).copied().unwrap_or(false)
}

fn covers(m: &Match, at: usize) -> bool {
    m.start <= at && at < m.end
}

/// The places of a frame where an identifier starts and ends.
pub(crate) struct Identifiers {
    word: Vec<bool>,
    underscore: Vec<bool>,
}

impl Identifiers {
    /// Finds them.
    pub(crate) fn new(frame: &[char]) -> Self {
        Self {
            word: frame.iter().map(|&c| is_word(c, false)).collect(),
            underscore: frame.iter().map(|&c| c == '_').collect(),
        }
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.word.get(at).copied().unwrap_or(false)
    }

    fn starts(&self, at: usize) -> bool {
        self.is_word(at) && !(at > 0 && self.is_word(at - 1))
    }

    /// Whether the two matches overlap in part.
    pub(crate) fn overlap(&self, a: &Match, b: &Match) -> bool {
        let (first, end) = (a.start.max(b.start), a.end.min(b.end));
        if first >= end {
            return false;
        }
        let last = (first..end).rev().find(|&at| self.is_shared_landmark(a, b, at));
        let swallowed = |after: usize| {
            (after + 1..end).any(|at| self.starts(at) && spells(a, at) != spells(b, at))
        };
        last.is_some_and(|last| !swallowed(last)) || self.share_piece(a, b, first, end)
    }

    fn is_shared_landmark(&self, a: &Match, b: &Match, at: usize) -> bool {
        let start = self.starts(at);
        let resumes =
            |m: &Match| at > 0 && covers(m, at - 1) && !spells(m, at - 1) && spells(m, at);
        let inside = self.is_word(at) && !start;
        if !start && !(inside && (resumes(a) || resumes(b))) {
            return false;
        }
        for place in at..at + usize::from(LANDMARK) {
            if !self.is_word(place) {
                return start;
            }
            if !(spells(a, place) && spells(b, place)) {
                return false;
            }
        }
        true
    }

    fn share_piece(&self, a: &Match, b: &Match, first: usize, end: usize) -> bool {
        if [a, b].iter().any(|m| m.spelled.contains(&false)) {
            return false;
        }
        (first..end).any(|start| {
            let after_underscore = start > 0 && self.underscore.get(start - 1) == Some(&true);
            if !after_underscore {
                return false;
            }
            let part = (start..=self.word.len())
                .find(|&at| !self.is_word(at) || self.underscore.get(at) == Some(&true))
                .unwrap_or(start);
            let later = |m: &Match| (part..m.end).any(|at| self.starts(at));
            part <= end && part - start >= usize::from(PIECE) && !later(a) && !later(b)
        })
    }
}
