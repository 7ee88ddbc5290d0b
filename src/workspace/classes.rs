//! Which canonical patterns of a run are equal, without asking about every pair.
//!
//! Uses `overlap`, `pattern` and `claims`.
//!
//! 1. Patterns of one text have one number. Patterns that are nothing but text, escapes decoded, are
//!    equal if their texts are, and else never.
//! 2. If A and B are equal and A claims the frame m, then B claims m: m contains one of B's required
//!    texts, and B's matcher finds it. So one frame of each pattern that is not plain is looked up among
//!    those that are not, and its parts among the plain texts; patterns that claim each other's frame form
//!    a group.
//! 3. A group is refined by the engine: it says of two patterns that they are equal, or gives a frame
//!    that only one claims, and that frame splits the whole group. Each question merges or splits, so
//!    there are no more of them than twice the patterns of the group.

use std::cell::OnceCell;

use ahash::AHashMap;

use super::{Claims, Workspace};
use crate::overlap::{Answer, Member, Sample};
use crate::register::PatternId;

/// How many pairs are looked at, before the engine is asked, until the rest is left out.
const MAX_LOOKS: usize = 2_000_000;

/// Canonical patterns by their meaning.
#[derive(Debug, Default)]
pub struct Classes {
    /// The first of the patterns that a pattern is equal to, where that is another one.
    first: AHashMap<PatternId, PatternId>,
    /// A pattern from which on not every pair was looked at.
    left_out: Option<PatternId>,
}

impl Classes {
    /// The number that stands for all patterns that are equal to this one.
    pub fn of(&self, id: PatternId) -> PatternId {
        self.first.get(&id).copied().unwrap_or(id)
    }

    /// A pattern that was not compared with all others, since there are too many that are alike; so
    /// were those of higher numbers.
    pub fn left_out(&self) -> Option<PatternId> {
        self.left_out
    }

    /// Finds the classes of the canonical patterns of `workspace`.
    pub(super) fn new(workspace: &Workspace<'_>) -> Self {
        let registers = workspace.entries.iter().map(|entry| &entry.register);
        let canonical = registers.flat_map(|register| &register.hypotheses);
        let mut ids: Vec<PatternId> = canonical
            .filter_map(|hypothesis| Some(hypothesis.canonical.as_ref()?.pattern))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let is_literal = |id: &PatternId| workspace.patterns.get(*id).is_literal();
        let (literal, other): (Vec<_>, Vec<_>) = ids.iter().copied().partition(is_literal);
        if other.is_empty() {
            return Self::default();
        }

        let mut joined = Joined::default();
        let mut plain = Plain::default();
        plain.by_text.reserve(literal.len());
        for id in literal {
            plain.by_text.insert(workspace.patterns.get(id).text(), id);
        }
        let mut patterns = Vec::new();
        let mut left_out = None;
        for id in other {
            match workspace.member(id) {
                Some(Member::Text(text)) => {
                    let same = *plain.by_text.entry(text).or_insert(id);
                    if same != id {
                        joined.join(same, id);
                    }
                }
                Some(Member::Other(_)) => patterns.push(id),
                None => {}
            }
        }
        if !patterns.is_empty() {
            let claims = Claims::new(workspace.patterns, patterns.iter().copied());
            left_out = group(workspace, &claims, &plain, &patterns, &mut joined);
        }
        Self { first: joined.into_first(), left_out }
    }
}

/// The patterns that are nothing but text, by that text.
#[derive(Debug, Default)]
struct Plain<'w> {
    by_text: AHashMap<&'w str, PatternId>,
    /// An index of them, for patterns that would have to be looked up in too many ways.
    index: OnceCell<Claims<'w>>,
}

impl<'w> Plain<'w> {
    /// More parts of a frame are not looked up.
    const MOST: usize = 256;

    /// Those that may be equal to `id`, which claims `frame`; all that are, among others.
    ///
    /// Such a text claims `frame` too, so it stands in it; and `id` claims the text, so one of the texts that `id` requires
    /// stands in that.
    fn candidates(
        &self,
        workspace: &'w Workspace<'_>,
        id: PatternId,
        frame: &str,
    ) -> Vec<PatternId> {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut is_known = false;
        for text in workspace.patterns.required(id) {
            is_known = true;
            let mut from = 0;
            while let Some((start, end)) = frame
                .get(from..)
                .and_then(|rest| rest.find(text))
                .map(|at| (from + at, from + at + text.len()))
            {
                spans.push((start, end));
                from = start
                    + frame.get(start..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8);
            }
        }
        let ways =
            |&(start, end): &(usize, usize)| (start + 1).saturating_mul(frame.len() - end + 1);
        let ways = spans.iter().map(ways).fold(0, usize::saturating_add);
        if !is_known || ways > Self::MOST {
            let ids = || self.by_text.values().copied();
            let index = self.index.get_or_init(|| Claims::new(workspace.patterns, ids()));
            return index.candidates(frame);
        }
        let mut ids: Vec<PatternId> = Vec::new();
        for (start, end) in spans {
            for from in (0..=start).filter(|&at| frame.is_char_boundary(at)) {
                let ends = (end..=frame.len()).filter(|&at| frame.is_char_boundary(at));
                let parts = ends.filter_map(|to| frame.get(from..to));
                ids.extend(parts.filter_map(|part| self.by_text.get(part)));
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// A frame that a pattern claims.
pub(super) fn frame_of<'w>(workspace: &'w Workspace<'_>, id: PatternId) -> Option<&'w str> {
    let pattern = workspace.patterns.get(id);
    if pattern.is_literal() {
        return Some(pattern.text());
    }
    match workspace.member(id)? {
        Member::Text(text) => return Some(text),
        Member::Other(outline) => {
            if let Some((text, is_certain)) = outline.frame()
                && (is_certain || workspace.claims(id, text) == Some(true))
            {
                return Some(text);
            }
        }
    }
    match workspace.compiled(id)?.sample() {
        Sample::Frame(text) => Some(text),
        Sample::None | Sample::Undecided(_) => None,
    }
}

/// Joins those of `patterns`, which `claims` has, that are equal to each other or to one that is `plain`. Gives
/// the first that was left out.
fn group<'w>(
    workspace: &'w Workspace<'_>,
    claims: &Claims<'_>,
    plain: &Plain<'w>,
    patterns: &[PatternId],
    joined: &mut Joined,
) -> Option<PatternId> {
    let mut frames: AHashMap<PatternId, Option<&str>> = AHashMap::new();
    let mut alike = Joined::default();
    let mut looks = 0;
    let mut left_out = None;
    for &id in patterns {
        let own = *frames.entry(id).or_insert_with(|| frame_of(workspace, id));
        let Some(own) = own else { continue };
        let mut candidates = claims.candidates(own);
        candidates.extend(plain.candidates(workspace, id, own));
        candidates.sort_unstable();
        looks += candidates.len();
        if looks > MAX_LOOKS {
            left_out = Some(id);
            break;
        }
        for other in candidates {
            if other == id || alike.root(other) == alike.root(id) {
                continue;
            }
            let theirs = *frames.entry(other).or_insert_with(|| frame_of(workspace, other));
            // Both, as far as it is known.
            if workspace.claims(other, own) != Some(false)
                && theirs.is_some_and(|it| workspace.claims(id, it) != Some(false))
            {
                alike.join(other, id);
            }
        }
    }
    let mut groups: AHashMap<PatternId, Vec<PatternId>> = AHashMap::new();
    let members: Vec<PatternId> = alike.parent.keys().copied().collect();
    for id in members {
        groups.entry(alike.root(id)).or_default().push(id);
    }
    let mut todo: Vec<Vec<PatternId>> = groups.into_values().collect();
    while let Some(mut rest) = todo.pop() {
        rest.sort_unstable_by(|a, b| b.cmp(a));
        let Some(pivot) = rest.pop() else { continue };
        while let Some(other) = rest.pop() {
            let Some(frame) = difference(workspace, pivot, other, joined) else { continue };
            let side = |id: PatternId| workspace.claims(id, &frame);
            let (own, theirs) = (side(pivot), side(other));
            let (stay, mut leave): (Vec<_>, Vec<_>) =
                rest.into_iter().partition(|&id| side(id).is_none_or(|it| Some(it) == own));
            rest = stay;
            if own != theirs {
                leave.push(other);
            }
            todo.push(leave);
        }
    }
    left_out
}

/// A frame that only one of the two claims. Where there is none they are joined; where that is not
/// known, they are neither.
fn difference(
    workspace: &Workspace<'_>,
    a: PatternId,
    b: PatternId,
    joined: &mut Joined,
) -> Option<String> {
    let (first, second) = (workspace.compiled(a)?, workspace.compiled(b)?);
    match (first.within(second), second.within(first)) {
        (Answer::Yes, Answer::Yes) => {
            joined.join(a, b);
            None
        }
        (Answer::No(frame), _) | (_, Answer::No(frame)) => Some(frame),
        _ => None,
    }
}

/// Sets that grow together; the first of each stands for it.
#[derive(Debug, Default)]
struct Joined {
    parent: AHashMap<PatternId, PatternId>,
}

impl Joined {
    fn root(&mut self, id: PatternId) -> PatternId {
        let mut root = id;
        while let Some(&parent) = self.parent.get(&root)
            && parent != root
        {
            root = parent;
        }
        // The next way is short.
        let mut at = id;
        while at != root {
            let Some(parent) = self.parent.insert(at, root) else { break };
            at = parent;
        }
        root
    }

    fn join(&mut self, a: PatternId, b: PatternId) {
        let (a, b) = (self.root(a), self.root(b));
        let first = a.min(b);
        self.parent.insert(a, first);
        self.parent.insert(b, first);
    }

    fn into_first(mut self) -> AHashMap<PatternId, PatternId> {
        let ids: Vec<PatternId> = self.parent.keys().copied().collect();
        ids.into_iter().map(|id| (id, self.root(id))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Patterns;
    use super::*;
    use crate::source::Sources;

    #[test]
    fn the_parts_of_a_frame_are_looked_up_or_the_index_is_asked() {
        use crate::pattern::{Consumer, Pattern};
        let long = format!("{}kv{}", "a".repeat(40), "b".repeat(40));
        let texts = ["kv", "kv::put", "éa::kv", "nowhere", &long, "kv(?:::put)?", "[ab]*kv[ab]*"];
        let patterns = Patterns::of(texts.map(|text| Pattern::new(text, Consumer::default())));
        let sources = Sources::default();
        let workspace = Workspace::new(Vec::new(), &patterns, &sources, Consumer::default());
        let mut plain = Plain::default();
        for number in 0..5 {
            let id = PatternId(number);
            plain.by_text.insert(patterns.get(id).text(), id);
        }
        let found = |id: u32, frame: &str| -> Vec<&str> {
            let found = plain.candidates(&workspace, PatternId(id), frame);
            found.iter().map(|id| patterns.get(*id).text()).collect()
        };
        assert_eq!(found(5, "éa::kv::put"), ["kv", "kv::put", "éa::kv"]);
        assert!(plain.index.get().is_none());
        assert_eq!(found(6, &long), ["kv", long.as_str()]);
        assert!(plain.index.get().is_some());
    }

    #[test]
    fn sets_grow_together() {
        let mut joined = Joined::default();
        for (a, b) in [(5, 4), (1, 2), (4, 2), (8, 9)] {
            joined.join(PatternId(a), PatternId(b));
        }
        let first = joined.into_first();
        for (id, expected) in [(1, 1), (2, 1), (4, 1), (5, 1), (8, 8), (9, 8)] {
            assert_eq!(first[&PatternId(id)], PatternId(expected), "{id}");
        }
        assert_eq!(first.get(&PatternId(3)), None);
    }
}
