//! What each of many patterns claims, in one pass over the frames.
//!
//! Texts that a pattern's matches all contain ([`required`]) are looked for at once, by an
//! Aho-Corasick automaton over those of all patterns. Where a pattern is such a text, finding it is
//! claiming; else the matcher, with the consumer's meaning, confirms each frame in which one is
//! found. A pattern without such a text is run on every frame.
//!
//! The work is bounded in the matcher's steps. The frames are gone over in pieces of
//! [`PIECE`], each with its own share, so that the answer is the same for any number of threads; a
//! pattern whose share was used up is in [`Claims::unfinished`]. Uses `pattern` and `overlap`.
//!
//! [`required`]: crate::pattern::required::required

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};
use rayon::prelude::*;

use super::frames::{FrameId, Frames};
use crate::overlap::matcher::{self, Lead, Matcher, Outcome};
use crate::pattern::ast::Ast;
use crate::pattern::measure::plain_text;
use crate::pattern::required::required;

/// Frames of one piece.
const PIECE: usize = 8_192;

/// Steps of the matcher for one piece, for each pattern and for all of them. A frame takes some
/// hundred steps.
const STEPS: u64 = 20_000_000;
const ALL_STEPS: u64 = 200_000_000;

/// Steps for all pieces.
const TOTAL_STEPS: u64 = 4_000_000_000;

/// The most claims in all.
const CLAIMS: usize = 1 << 26;

/// What patterns claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// For each pattern its frames, by number.
    pub frames: Vec<Vec<FrameId>>,
    /// The patterns, by place, that were not held against every frame, or that the matcher gave up
    /// on: what is listed they claim, but there may be more.
    pub unfinished: Vec<usize>,
}

/// A pattern, ready.
enum Runner {
    /// It is a text that the automaton finds; or the empty text, which is in every frame.
    Text,
    Matcher(Box<Matcher>),
}

/// What was found in one piece.
#[derive(Default)]
struct Found {
    claims: Vec<(u32, FrameId)>,
    unfinished: Vec<u32>,
}

/// Holds each pattern against each frame, as `re.search` does.
pub fn claims(frames: &Frames, patterns: &[&Ast]) -> Claims {
    let mut texts: Vec<String> = Vec::new();
    let mut of_text: Vec<Vec<u32>> = Vec::new();
    let mut places: HashMap<String, usize, ahash::RandomState> = HashMap::default();
    let mut everywhere: Vec<u32> = Vec::new();
    let mut runners: Vec<Runner> = Vec::with_capacity(patterns.len());
    for (at, &ast) in patterns.iter().enumerate() {
        let plain = plain_text(&ast.root);
        let needed = match &plain {
            Some(text) if text.is_empty() => Vec::new(),
            Some(text) => vec![text.clone()],
            None => required(ast),
        };
        runners.push(match plain {
            Some(_) => Runner::Text,
            None => Runner::Matcher(Box::new(Matcher::new(ast))),
        });
        if needed.is_empty() {
            everywhere.push(at as u32);
        }
        for text in needed {
            let place = *places.entry(text).or_insert_with_key(|text| {
                texts.push(text.clone());
                of_text.push(Vec::new());
                texts.len() - 1
            });
            if let Some(list) = of_text.get_mut(place)
                && list.last() != Some(&(at as u32))
            {
                list.push(at as u32);
            }
        }
    }
    let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts);
    let search = Search {
        runners: &runners,
        everywhere: &everywhere,
        of_text: &of_text,
        automaton: automaton.as_ref().ok(),
    };
    let all: Vec<(FrameId, &str)> = frames.iter().collect();
    let pieces = all.len().div_ceil(PIECE).max(1) as u64;
    let share = (TOTAL_STEPS / pieces).min(ALL_STEPS);
    let most = CLAIMS / pieces as usize;
    let found: Vec<Found> =
        all.par_chunks(PIECE).map(|piece| search.piece(piece, share, most)).collect();
    let mut claims = Claims { frames: vec![Vec::new(); patterns.len()], unfinished: Vec::new() };
    for piece in found {
        for (pattern, frame) in piece.claims {
            if let Some(list) = claims.frames.get_mut(pattern as usize) {
                list.push(frame);
            }
        }
        claims.unfinished.extend(piece.unfinished.iter().map(|&at| at as usize));
    }
    if automaton.is_err() {
        // Too many texts for the automaton: nothing was looked for by them.
        claims.unfinished.extend(of_text.iter().flatten().map(|&at| at as usize));
    }
    claims.unfinished.sort_unstable();
    claims.unfinished.dedup();
    claims
}

struct Search<'s> {
    runners: &'s [Runner],
    everywhere: &'s [u32],
    /// The patterns that need each of the automaton's texts.
    of_text: &'s [Vec<u32>],
    automaton: Option<&'s AhoCorasick>,
}

impl Search<'_> {
    fn piece(&self, piece: &[(FrameId, &str)], share: u64, most: usize) -> Found {
        let mut found = Found::default();
        let mut spent: HashMap<u32, u64, ahash::RandomState> = HashMap::default();
        let mut left = share;
        // The last frame, counted from 1, in which each text was found, and each pattern was tried.
        let mut text_in = vec![0_u32; self.of_text.len()];
        let mut tried_in = vec![0_u32; self.runners.len()];
        let mut chars: Vec<char> = Vec::new();
        let mut candidates: Vec<u32> = Vec::new();
        for (nth, &(frame, text)) in piece.iter().enumerate() {
            let stamp = nth as u32 + 1;
            candidates.clear();
            candidates.extend_from_slice(self.everywhere);
            let hits = self
                .automaton
                .into_iter()
                .flat_map(|automaton| automaton.find_overlapping_iter(text));
            for hit in hits {
                let place = hit.pattern().as_usize();
                let (Some(seen), Some(patterns)) =
                    (text_in.get_mut(place), self.of_text.get(place))
                else {
                    continue;
                };
                if *seen == stamp {
                    continue;
                }
                *seen = stamp;
                for &pattern in patterns {
                    if let Some(tried) = tried_in.get_mut(pattern as usize)
                        && *tried != stamp
                    {
                        *tried = stamp;
                        candidates.push(pattern);
                    }
                }
            }
            chars.clear();
            for &pattern in &candidates {
                let claimed = match self.runners.get(pattern as usize) {
                    Some(Runner::Text) => true,
                    Some(Runner::Matcher(matcher)) => {
                        if chars.is_empty() {
                            chars.extend(text.chars());
                        }
                        let own = spent.entry(pattern).or_default();
                        let steps = left.min(STEPS - *own).min(u64::from(matcher::MAX_STEPS));
                        if steps == 0 {
                            found.unfinished.push(pattern);
                            continue;
                        }
                        let (outcome, steps) =
                            matcher.search_within(&chars, steps as u32, Lead::None);
                        // A search that ends at once is work too.
                        let steps = u64::from(steps) + 8;
                        *own = (*own + steps).min(STEPS);
                        left = left.saturating_sub(steps);
                        if outcome == Outcome::GaveUp {
                            found.unfinished.push(pattern);
                        }
                        matches!(outcome, Outcome::Match(..))
                    }
                    None => false,
                };
                if claimed {
                    if found.claims.len() < most {
                        found.claims.push((pattern, frame));
                    } else {
                        found.unfinished.push(pattern);
                    }
                }
            }
            if found.unfinished.len() > self.runners.len() {
                found.unfinished.sort_unstable();
                found.unfinished.dedup();
            }
        }
        found.unfinished.sort_unstable();
        found.unfinished.dedup();
        found
    }
}
