//! The repair of a pattern that claims what another one names: narrowed by a lookaround, and tried before
//! it is offered.
//!
//! Uses `workspace`, `overlap`, `pattern` and `fix`.

use super::{as_json, edits};
use crate::fix::{Applicability, Fix};
use crate::overlap::{Answer, Compiled, Kind, inclusion, relate};
use crate::pattern::{self, Versions, ast::Ast, ast::NodeKind};
use crate::register::Slot;
use crate::span::{FileId, Span};
use crate::workspace::{Places, Workspace};

/// The narrowed pattern and those that it is kept from may have so many bytes together.
const MOST_BYTES: usize = 1_000;

/// Against no more others than this is a pattern narrowed at once.
const MOST: usize = 16;

/// One that a broader pattern must let go, and a frame with the match of the broader and of that one.
pub(super) struct Other<'e> {
    pub(super) slot: &'e Slot<'e>,
    pub(super) places: Option<Places<'e>>,
}

/// When a finding is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// When the patterns have no overlap at all.
    NoOverlap,
    /// When neither is within the other.
    NotWithin,
}

/// A fix that narrows `broader` so that it lets go what `others` claim and nothing else. None where that is
/// not a matter of what stands right before or behind a match, and where it cannot be proven.
pub(super) fn narrow(
    workspace: &Workspace<'_>,
    file: FileId,
    broader: &Slot<'_>,
    others: &[Other<'_>],
    goal: Goal,
) -> Option<Fix> {
    if others.is_empty() || others.len() > MOST {
        return None;
    }
    let text = workspace.patterns.get(broader.pattern).text();
    let ast = workspace.patterns.tree(broader.pattern)?;
    let plain = |ast: &Ast| ast.flags == pattern::ast::Flags::NONE;
    let claims = workspace.compiled(broader.pattern)?;
    // Flags stand at the start of a pattern and backreferences count its groups: neither can be moved.
    if !plain(ast) || !claims.is_exact() {
        return None;
    }
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for other in others {
        let (frame, own, theirs) = other.places?;
        let part = |start: usize, end: usize| -> String {
            frame.chars().skip(start).take(end.saturating_sub(start)).collect()
        };
        let (list, rest) = match (theirs.0 < own.0, own.1 < theirs.1) {
            (false, true) => (&mut behind, part(own.1, theirs.1)),
            (true, false) => (&mut before, part(theirs.0, own.0)),
            _ => return None,
        };
        let rest = pattern::escaped(&rest);
        if !list.contains(&rest) {
            list.push(rest);
        }
    }
    // A lookbehind has one width.
    let head = before.iter().fold(String::new(), |head, text| head + "(?<!" + text + ")");
    let tail = if behind.is_empty() { String::new() } else { format!("(?!{})", behind.join("|")) };
    let wraps = matches!(ast.root.kind, NodeKind::Alternation(_));
    let (head, tail) =
        if wraps { (format!("{head}(?:"), format!("){tail}")) } else { (head, tail) };
    let narrowed = format!("{head}{text}{tail}");

    // Longer ones nobody would read, and each is held against all others.
    let theirs = others.iter().map(|other| workspace.patterns.get(other.slot.pattern).text().len());
    if narrowed.len() + theirs.sum::<usize>() > MOST_BYTES {
        return None;
    }
    let narrowed_ast = pattern::parse(&narrowed, Versions::ALL).ok()?;
    let budget = workspace.budget();
    let candidate = Compiled::new(&narrowed_ast, budget);
    let mut union = format!("(?:{narrowed})");
    for other in others {
        let theirs = workspace.compiled(other.slot.pattern)?;
        if !plain(workspace.patterns.tree(other.slot.pattern)?) || !theirs.is_exact() {
            return None;
        }
        let relation = match goal {
            Goal::NoOverlap => relate(&candidate, theirs),
            Goal::NotWithin => inclusion(&candidate, theirs),
        };
        if relation.kind != Kind::None {
            return None;
        }
        union.push_str("|(?:");
        union.push_str(workspace.patterns.get(other.slot.pattern).text());
        union.push(')');
    }
    // What it lets go, one of the others claims.
    let union = pattern::parse(&union, Versions::ALL).ok()?;
    if claims.within(&Compiled::new(&union, budget)) != Answer::Yes {
        return None;
    }
    let end = text.len();
    let mut places = Vec::new();
    if !head.is_empty() {
        places.push((broader.locate(Span::empty(0)), as_json(&head)));
    }
    if !tail.is_empty() {
        places.push((broader.locate(Span::empty(end)), as_json(&tail)));
    }
    Some(Fix {
        message: format!("narrow it to `{narrowed}`"),
        edits: edits(file, &places),
        applicability: Applicability::Unsafe,
    })
}
