//! `claims-everything`: a pattern that claims every frame.

use super::{
    Ask, Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, edited,
    holds_alone,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::{Answer, Budget, Compiled};
use crate::pattern::ast::{Ast, Node, NodeKind};
use crate::pattern::measure::min_width;
use crate::pattern::{Versions, parse};
use crate::span::Span;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "claims-everything",
    summary: "a pattern that claims every frame",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/claims-everything.md"),
    check: Check::Workspace(check),
};

/// What claims every frame in a pattern, in bytes of it.
struct Found {
    span: Span,
    why: &'static str,
    /// The repair, if there is one.
    edits: Vec<(Span, String)>,
}

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    each_pattern(
        workspace,
        findings,
        |id, pattern| {
            let ast = workspace.patterns.tree(id)?;
            // There are frames of one character.
            if min_width(&ast.root) > 1 || begins_narrowly(&ast.root) {
                return None;
            }
            let everything = workspace.compiled(id)?.claims_everything() == Answer::Yes;
            everything.then(|| locate(pattern.text(), ast))
        },
        report,
    );
}

/// Whether a match needs one certain character: a cheap and frequent no.
fn begins_narrowly(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Literal(..) => true,
        NodeKind::Concat(parts) => {
            parts.iter().any(|part| matches!(part.kind, NodeKind::Literal(..)))
        }
        _ => false,
    }
}

/// Finds the smallest part that claims every frame by itself.
fn locate(text: &str, ast: &Ast) -> Found {
    let mut node = &ast.root;
    let mut alternation = None;
    loop {
        let deeper = match &node.kind {
            NodeKind::Alternation(branches) => {
                alternation = Some(branches);
                branches.iter().find(|branch| {
                    min_width(branch) <= 1 && holds_alone(ast, branch, Ask::ClaimsEverything)
                })
            }
            NodeKind::Capture(_, body) | NodeKind::Group(body) => Some(&**body),
            NodeKind::Repeat(repeat, body) if repeat.min > 0 => {
                Some(&**body).filter(|body| holds_alone(ast, body, Ask::ClaimsEverything))
            }
            _ => None,
        };
        match deeper {
            // An empty group is shown with its brackets.
            Some(inner) if inner.span.is_empty() && alternation.is_none() => break,
            Some(inner) => node = inner,
            None => break,
        }
    }
    let branches = alternation.map(Vec::as_slice).unwrap_or_default();
    match bar_beside(text, branches, node) {
        Some(span) => {
            Found { span, why: "an empty branch", edits: without_empty_branches(text, branches) }
        }
        None => Found { span: node.span, why: why(node), edits: Vec::new() },
    }
}

fn why(node: &Node) -> &'static str {
    match &node.kind {
        NodeKind::Alternation(_) => "together these branches match in every frame",
        _ if min_width(node) > 0 => "every frame has such a character",
        _ => "this matches the empty text, so it is found in every frame",
    }
}

/// The bar that makes `node` an empty branch of its alternation.
fn bar_beside(text: &str, branches: &[Node], node: &Node) -> Option<Span> {
    if !node.span.is_empty() || !branches.iter().any(|branch| std::ptr::eq(branch, node)) {
        return None;
    }
    let at = node.span.range().start;
    let bar = |at: usize| (text.as_bytes().get(at) == Some(&b'|')).then(|| Span::new(at, at + 1));
    at.checked_sub(1).and_then(bar).or_else(|| bar(at))
}

/// Takes the empty branches out, if others are left that do not claim everything.
fn without_empty_branches(text: &str, branches: &[Node]) -> Vec<(Span, String)> {
    let Some(kept) = branches.iter().position(|branch| !branch.span.is_empty()) else {
        return Vec::new();
    };
    let mut edits: Vec<(Span, String)> = Vec::new();
    for (place, branch) in branches.iter().enumerate() {
        if !branch.span.is_empty() {
            continue;
        }
        let at = branch.span.range().start;
        let at = if place < kept { Some(at) } else { at.checked_sub(1) };
        let Some(at) = at.filter(|&at| text.as_bytes().get(at) == Some(&b'|')) else {
            return Vec::new();
        };
        match edits.last_mut() {
            Some((last, _)) if last.end as usize == at => *last = last.to(Span::new(at, at + 1)),
            _ => edits.push((Span::new(at, at + 1), String::new())),
        }
    }
    let mended = parse(&edited(text, &edits), Versions::ALL);
    let narrower = mended.is_ok_and(|ast| {
        matches!(Compiled::new(&ast, Budget::default()).claims_everything(), Answer::No(_))
    });
    if narrower { edits } else { Vec::new() }
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    let fix = (!found.edits.is_empty()).then(|| Fix {
        message: "remove the empty branch".to_owned(),
        edits: place.edits(&found.edits),
        applicability: Applicability::Unsafe,
    });
    findings
        .finding("this pattern claims every frame", place.label(found.span, found.why))
        .with_note("the table shows the largest frame of the whole trace in its row")
        .with_fix(fix)
}
