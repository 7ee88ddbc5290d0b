//! Which of many patterns may claim a frame, without trying each of them.
//!
//! Uses `pattern` and `overlap`. A frame that a pattern claims contains one of the pattern's required texts
//! ([`Pattern::required`](crate::pattern::Pattern::required)), so each such text is filed under eight bytes of it, its first or its last, whichever
//! are the rarer among all; a frame is looked up at each of its places. (An Aho–Corasick automaton
//! answers faster, but building one over the patterns of a thousand registers takes ten times as long
//! as everything else that is done with them.)

use ahash::AHashMap;

use super::Patterns;
use crate::overlap::{GRAM, Gram, Grams, gram};
use crate::register::PatternId;

/// So many texts are looked for one by one: that is done before they are filed.
const FEW: usize = 48;

/// Patterns by what their frames contain.
#[derive(Debug, Default)]
pub struct Claims<'d> {
    /// The required texts, each with the pattern that requires it.
    texts: Vec<(&'d str, PatternId)>,
    /// A part of a text, the text, and where in it the part begins; sorted.
    grams: Vec<(Gram, u32, u32)>,
    /// The parts, to tell at once that there is none.
    known: Grams,
    /// Bit n: some text is filed under n bytes.
    lengths: u16,
    /// Patterns that require nothing that is known.
    always: Vec<PatternId>,
}

impl<'d> Claims<'d> {
    /// Files the patterns of those numbers; those that CPython refuses are left out.
    pub fn new(patterns: &'d Patterns<'d>, ids: impl IntoIterator<Item = PatternId>) -> Self {
        let mut claims = Self::default();
        let ids = ids.into_iter();
        claims.texts.reserve(ids.size_hint().0);
        for id in ids {
            let pattern = patterns.get(id);
            if pattern.python_fault().is_some() {
                continue;
            }
            let before = claims.texts.len();
            claims.texts.extend(patterns.required(id).map(|text| (text, id)));
            if claims.texts.len() == before {
                claims.always.push(id);
            }
        }
        if claims.texts.len() <= FEW {
            return claims;
        }
        let ends = |text: &[u8]| {
            let size = text.len().min(GRAM);
            (gram(text, size), gram(&text[text.len() - size..], size))
        };
        let mut counts: AHashMap<Gram, u32> = AHashMap::with_capacity(claims.texts.len());
        for (text, _) in &claims.texts {
            let (first, last) = ends(text.as_bytes());
            *counts.entry(first).or_default() += 1;
            if last != first {
                *counts.entry(last).or_default() += 1;
            }
        }
        claims.grams.reserve(claims.texts.len());
        claims.known = Grams::with_capacity(claims.texts.len());
        for (at, (text, _)) in claims.texts.iter().enumerate() {
            let (first, last) = ends(text.as_bytes());
            let (key, offset) = if counts.get(&last) < counts.get(&first) {
                (last, text.len() - text.len().min(GRAM))
            } else {
                (first, 0)
            };
            claims.lengths |= 1 << key.1;
            claims.known.add(key);
            claims.grams.push((key, at as u32, offset as u32));
        }
        claims.grams.sort_unstable();
        claims
    }

    /// The patterns that may claim `frame`, among them all that do; each once, by number.
    pub fn candidates(&self, frame: &str) -> Vec<PatternId> {
        let mut found = self.always.clone();
        if self.texts.len() <= FEW {
            let held = self.texts.iter().filter(|(text, _)| frame.contains(text));
            found.extend(held.map(|(_, pattern)| *pattern));
        }
        let frame = frame.as_bytes();
        let places = if self.grams.is_empty() { 0 } else { frame.len() };
        for at in 0..places {
            for size in 1..=GRAM.min(frame.len() - at) {
                if self.lengths & 1 << size == 0 {
                    continue;
                }
                let key = gram(&frame[at..], size);
                if !self.known.may_have(key) {
                    continue;
                }
                let first = self.grams.partition_point(|(gram, ..)| *gram < key);
                let texts = self.grams[first..].iter().take_while(|(gram, ..)| *gram == key);
                for &(_, text, offset) in texts {
                    let (text, pattern) = &self.texts[text as usize];
                    let start = at.checked_sub(offset as usize);
                    if start.is_some_and(|start| frame[start..].starts_with(text.as_bytes())) {
                        found.push(*pattern);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Consumer, Pattern};

    #[test]
    fn finds_each_pattern_that_may_claim_a_frame() {
        let texts = [
            "dispatch_rope",
            "rope",
            "lm_head|output_head",
            r"\w+",
            "a",
            "",
            "dispatch_rope_multi",
            "(",
            "dispatch_norm",
            "AGXG.*FamilyCommandBuffer",
            "é",
        ];
        let patterns = Patterns::of(texts.map(|text| Pattern::new(text, Consumer::default())));
        let claims = Claims::new(&patterns, (0..texts.len() as u32).map(PatternId));
        check(&patterns, &claims);
        // Filed by their parts, among others.
        let more: Vec<String> = (0..FEW).map(|number| format!("{number}::other")).collect();
        let list = texts.into_iter().chain(more.iter().map(String::as_str));
        let patterns = Patterns::of(list.map(|text| Pattern::new(text, Consumer::default())));
        check(&patterns, &Claims::new(&patterns, (0..patterns.len() as u32).map(PatternId)));
    }

    fn check(patterns: &Patterns<'_>, claims: &Claims<'_>) {
        let found = |frame: &str| -> Vec<&str> {
            claims.candidates(frame).iter().map(|id| patterns.get(*id).text()).collect()
        };
        assert_eq!(
            found("x::dispatch_rope_multi"),
            ["dispatch_rope", "rope", r"\w+", "a", "", "dispatch_rope_multi"]
        );
        assert_eq!(found("output_head"), ["lm_head|output_head", r"\w+", "a", ""]);
        assert_eq!(
            found("AGXG17XFamilyCommandBuffer"),
            [r"\w+", "a", "", "AGXG.*FamilyCommandBuffer"]
        );
        assert_eq!(found("é"), [r"\w+", "", "é"]);
        assert_eq!(found(""), [r"\w+", ""]);
    }
}
