//! `claims-nothing`: a pattern that no frame can satisfy.

use super::{
    Ask, Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, holds_alone,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::{Answer, Budget, Compiled};
use crate::pattern::ast::{Ast, Node, NodeKind};
use crate::pattern::measure::surely_satisfiable;
use crate::pattern::{Versions, parse};
use crate::span::Span;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "claims-nothing",
    summary: "a pattern that no frame can satisfy",
    default: Level::Deny,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/claims-nothing.md"),
    check: Check::Workspace(check),
};

/// The most parts of a sequence among which the smallest one at fault is looked for.
const MAX_PARTS: usize = 10_000;

/// The part that nothing satisfies, in bytes of the pattern.
struct Found {
    span: Span,
    why: &'static str,
    control: bool,
}

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    each_pattern(
        workspace,
        findings,
        |id, _| {
            let ast = workspace.patterns.tree(id)?;
            if surely_satisfiable(&ast.root) {
                return None;
            }
            let nothing = workspace.compiled(id)?.claims_nothing() == Answer::Yes;
            nothing.then(|| locate(ast, workspace.budget()))
        },
        report,
    );
}

/// Finds the smallest part that no frame satisfies, whatever stands around it.
fn locate(ast: &Ast, budget: Budget) -> Found {
    let impossible = |node: &Node| {
        !surely_satisfiable(node) && holds_alone(ast, node, Ask::ClaimsNothing, budget)
    };
    let mut node = &ast.root;
    loop {
        let deeper = match &node.kind {
            NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
                Some(&**body)
            }
            NodeKind::Look(look, body) if !look.negative => Some(&**body),
            NodeKind::Repeat(repeat, body) if repeat.min > 0 => Some(&**body),
            NodeKind::Concat(parts) if parts.len() <= MAX_PARTS => {
                let run = |start: usize, end: usize| {
                    let parts = parts.get(start..end).unwrap_or_default();
                    impossible(&Node { span: node.span, kind: NodeKind::Concat(parts.to_vec()) })
                };
                // What is impossible stays so with more around it.
                let end = first(1, parts.len(), |end| run(0, end));
                let start = end - first(1, end, |len| run(end - len, end));
                match parts.get(start..end) {
                    Some([one]) => Some(one),
                    Some([first, .., last]) if run(start, end) => {
                        let why = "no text satisfies all of this";
                        return Found { span: first.span.to(last.span), why, control: false };
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        match deeper.filter(|inner| impossible(inner)) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    let (why, control) = match &node.kind {
        NodeKind::Literal(..) => ("no frame has this character", true),
        NodeKind::Class(..) => ("no frame has a character of this set", false),
        NodeKind::Look(..) => ("this is never so", false),
        NodeKind::Alternation(_) => ("no frame satisfies any of these branches", false),
        _ => ("no text satisfies all of this", false),
    };
    Found { span: node.span, why, control: control || has_control(node) }
}

/// The first number from `low` up to `high` that holds, by bisection: those after one that holds do too. `high` where none does.
fn first(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Whether a set is empty only because frames have no control characters.
fn has_control(node: &Node) -> bool {
    use crate::pattern::ast::ClassItemKind::{Range, Single};
    let NodeKind::Class(class, _) = &node.kind else { return false };
    !class.negated
        && class
            .items
            .iter()
            .all(|item| matches!(item.kind, Single(c) | Range(_, c) if c.is_control()))
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    let mut finding =
        findings.finding("no frame satisfies this pattern", place.label(found.span, found.why));
    if found.control {
        finding
            .notes
            .push("a frame has no control characters, line feeds and tabs among them".into());
    }
    // In JSON `\b` is a backspace; what was meant is Python's, a place between words.
    let file = place.slot.locate(found.span);
    if place.entry.source.text().get(file.range()) == Some(r"\b") {
        finding
            .notes
            .push(r"in JSON `\b` is a backspace, and `\\b` is the word boundary of `re`".into());
        finding.fix = is_mended(place, found.span).then(|| {
            Fix::single(
                "double the backslash",
                place.entry.file,
                file,
                r"\\b",
                Applicability::Unsafe,
            )
        });
    }
    finding
        .with_note("the table shows 0.0 in its row, which reads as a hypothesis that was falsified")
}

/// Whether the pattern claims something once the backspace at `span` is a word boundary.
fn is_mended(place: PatternPlace<'_, '_>, span: Span) -> bool {
    let text = place.pattern.text();
    let parts = (text.get(..span.range().start), text.get(span.range().end..));
    let (Some(before), Some(behind)) = parts else { return false };
    parse(&format!(r"{before}\b{behind}"), Versions::ALL).is_ok_and(|ast| {
        let answer = Compiled::new(&ast, Budget::default()).claims_nothing();
        matches!(answer, Answer::No(_))
    })
}
