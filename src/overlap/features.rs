//! What of a pattern's text an index can look up.
//!
//! A partial overlap shares characters that both patterns spell out, so it can be found by text: a
//! pattern is written out as **branches**, each a row of **runs** (text that is spelled out without
//! a break) with **gaps** (characters that are not spelled out, at least one) between them. A
//! wildcard that may match nothing gives a branch with the gap and one without it, so a longest
//! spelled stretch of any way to match is exactly one run. Lookarounds and places are left out:
//! that only adds candidates. What cannot be written out in a few branches has no branches. Uses
//! `pattern::ast`, `charset`.

use super::charset;
use super::program::SPELLED_CLASS;
use crate::pattern::ast::{Flags, Node, NodeKind};
use crate::pattern::measure;

/// The most branches that a pattern is written out in.
const MAX_BRANCHES: usize = 64;

/// The most bytes of all branches, beyond what the pattern itself would take.
const MAX_BYTES: usize = 1 << 14;

/// The most rounds of a repeat that are written out.
const MAX_ROUNDS: u32 = 8;

/// The deepest nesting that is followed.
const MAX_DEPTH: usize = 2_048;

/// A piece of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Spelled out; not empty, and not next to another.
    Run(String),
    /// At least one character that is not; not next to another.
    Gap,
}

impl Piece {
    /// The text of a run.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            Self::Run(text) => Some(text),
            Self::Gap => None,
        }
    }
}

/// A row of pieces.
pub(crate) type Branch = Vec<Piece>;

/// The branches of a pattern; `None` where there would be too many.
pub(crate) fn branches(root: &Node) -> Option<Vec<Branch>> {
    let mut branches = expand(root, 0)?;
    branches.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    branches.dedup();
    Some(branches)
}

fn key(branch: &Branch) -> impl Iterator<Item = Option<&str>> {
    branch.iter().map(|piece| match piece {
        Piece::Run(text) => Some(text.as_str()),
        Piece::Gap => None,
    })
}

fn append(branch: &mut Branch, piece: &Piece) {
    match (branch.last_mut(), piece) {
        (Some(Piece::Run(text)), Piece::Run(more)) => text.push_str(more),
        (Some(Piece::Gap), Piece::Gap) => {}
        _ => branch.push(piece.clone()),
    }
}

fn push(branch: &mut Branch, run: &str) {
    match branch.last_mut() {
        Some(Piece::Run(text)) => text.push_str(run),
        _ => branch.push(Piece::Run(run.to_owned())),
    }
}

/// Adds a run to each branch, and empties it.
fn flush(branches: &mut [Branch], run: &mut String) {
    if !run.is_empty() {
        for branch in branches {
            push(branch, run);
        }
        run.clear();
    }
}

fn join(heads: Vec<Branch>, tails: &[Branch]) -> Option<Vec<Branch>> {
    if let [tail] = tails {
        let mut heads = heads;
        for head in &mut heads {
            for piece in tail {
                append(head, piece);
            }
        }
        return Some(heads);
    }
    if heads.len().checked_mul(tails.len())? > MAX_BRANCHES {
        return None;
    }
    let mut all = Vec::with_capacity(heads.len() * tails.len());
    for head in &heads {
        for tail in tails {
            let mut branch = head.clone();
            for piece in tail {
                append(&mut branch, piece);
            }
            all.push(branch);
        }
    }
    (bytes(&all) <= MAX_BYTES).then_some(all)
}

fn bytes(branches: &[Branch]) -> usize {
    let size = |piece: &Piece| match piece {
        Piece::Run(text) => text.len(),
        Piece::Gap => 1,
    };
    branches.iter().flatten().map(size).sum()
}

fn nothing() -> Vec<Branch> {
    vec![Vec::new()]
}

fn characters(set: &charset::CharSet) -> Vec<Branch> {
    if set.len() > SPELLED_CLASS {
        return vec![vec![Piece::Gap]];
    }
    let chars =
        set.ranges().iter().flat_map(|&(start, end)| start..=end).filter_map(char::from_u32);
    chars.map(|c| vec![Piece::Run(c.to_string())]).collect()
}

fn expand(node: &Node, depth: usize) -> Option<Vec<Branch>> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &node.kind {
        NodeKind::Empty | NodeKind::Assertion(..) | NodeKind::Look(..) => Some(nothing()),
        NodeKind::Literal(c, flags) if !flags.has(Flags::IGNORE_CASE) => {
            Some(vec![vec![Piece::Run(c.to_string())]])
        }
        NodeKind::Literal(c, flags) => Some(characters(&charset::literal(*c, *flags))),
        NodeKind::Dot(_) => Some(vec![vec![Piece::Gap]]),
        NodeKind::Class(class, flags) if charset::is_wider(class, *flags, SPELLED_CLASS) => {
            Some(vec![vec![Piece::Gap]])
        }
        NodeKind::Class(class, flags) => Some(characters(&charset::class(class, *flags))),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            expand(body, depth + 1)
        }
        NodeKind::Repeat(repeat, body) => {
            let body = expand(body, depth + 1)?;
            let mut all = Vec::new();
            let gaps = body.iter().all(|branch| branch.iter().all(|piece| *piece == Piece::Gap));
            // Gaps in a row are one gap.
            let max = match repeat.max {
                _ if gaps => repeat.max.unwrap_or(repeat.min.max(1)).min(repeat.min.max(1)),
                max => max?,
            };
            let min = repeat.min.min(max);
            if max > MAX_ROUNDS && !gaps {
                return None;
            }
            if gaps {
                if min == 0 || body.iter().any(Vec::is_empty) {
                    all.push(Vec::new());
                }
                if max > 0 && body.iter().any(|branch| !branch.is_empty()) {
                    all.push(vec![Piece::Gap]);
                }
                return Some(all);
            }
            let mut rounds = nothing();
            for round in 0..=max {
                if round >= min {
                    all.extend(rounds.iter().cloned());
                }
                if all.len() > MAX_BRANCHES {
                    return None;
                }
                if round < max {
                    rounds = join(rounds, &body)?;
                }
            }
            Some(all)
        }
        NodeKind::Concat(parts) => {
            let mut all = nothing();
            // Most parts are characters: what they spell in a row is joined as one.
            let mut run = String::with_capacity(parts.len());
            for part in parts {
                match &part.kind {
                    NodeKind::Literal(c, flags)
                        if depth < MAX_DEPTH && !flags.has(Flags::IGNORE_CASE) =>
                    {
                        run.push(*c);
                    }
                    _ => {
                        flush(&mut all, &mut run);
                        all = join(all, &expand(part, depth + 1)?)?;
                    }
                }
            }
            flush(&mut all, &mut run);
            Some(all)
        }
        NodeKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(expand(part, depth + 1)?);
                if all.len() > MAX_BRANCHES {
                    return None;
                }
            }
            Some(all)
        }
        NodeKind::Backreference(..) => Some(vec![Vec::new(), vec![Piece::Gap]]),
        NodeKind::Conditional(_, yes, no) => {
            let mut all = expand(yes, depth + 1)?;
            match no {
                Some(no) => all.extend(expand(no, depth + 1)?),
                None => all.push(Vec::new()),
            }
            (all.len() <= MAX_BRANCHES).then_some(all)
        }
    }
}

/// The text of a pattern that is nothing but text that a frame can have.
pub(crate) fn plain_text(root: &Node) -> Option<String> {
    measure::plain_text(root).filter(|text| !text.is_empty() && !text.contains(char::is_control))
}
