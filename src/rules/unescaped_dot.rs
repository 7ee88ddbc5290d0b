//! `unescaped-dot`: a bare `.` between two lower-case words, where a full stop was meant.

use super::{
    Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, python_tree,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::pattern::ast::{Node, NodeKind};
use crate::pattern::measure::children;
use crate::span::Span;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "unescaped-dot",
    summary: "a bare `.` between two lower-case words, as in `exec.begin`",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/unescaped-dot.md"),
    check: Check::Workspace(check),
};

/// A dot, and the words around it, in bytes of the pattern.
struct Found {
    dot: Span,
    words: Span,
}

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    each_pattern(
        workspace,
        findings,
        |_, pattern| {
            let mut found = Vec::new();
            if has_candidate(pattern.text().as_bytes())
                && let Some(ast) = python_tree(workspace, pattern)
            {
                collect(&ast.root, &mut found);
            }
            found
        },
        report,
    );
}

/// Whether a dot stands between lower-case letters at all: what the tree is not needed for.
fn has_candidate(text: &[u8]) -> bool {
    text.windows(3).any(|window| {
        matches!(window, [before, b'.', after] if before.is_ascii_lowercase() && after.is_ascii_lowercase())
    })
}

fn collect(node: &Node, found: &mut Vec<Found>) {
    if let NodeKind::Concat(parts) = &node.kind {
        let is_dot = |part: &&(usize, &Node)| matches!(part.1.kind, NodeKind::Dot(_));
        let numbered: Vec<_> = parts.iter().enumerate().collect();
        for &(at, dot) in numbered.iter().filter(is_dot) {
            let before =
                parts.get(..at).unwrap_or_default().iter().rev().take_while(|p| in_word(p));
            let after = parts.get(at + 1..).unwrap_or_default().iter().take_while(|p| in_word(p));
            let (before, after): (Vec<_>, Vec<_>) = (before.collect(), after.collect());
            let touches = before.first().is_some_and(|p| is_lower(p))
                && after.first().is_some_and(|p| is_lower(p));
            // `a.b` is no pair of words, `s.finish` is.
            if touches && before.len().max(after.len()) > 1 {
                let first = before.last().map_or(dot.span, |part| part.span);
                let last = after.last().map_or(dot.span, |part| part.span);
                found.push(Found { dot: dot.span, words: first.to(last) });
            }
        }
    }
    for child in children(node) {
        collect(child, found);
    }
}

fn in_word(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Literal('a'..='z' | '0'..='9' | '_', _))
}

fn is_lower(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Literal('a'..='z', _))
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    let words = place.pattern.text().get(found.words.range()).unwrap_or_default();
    let fix = Fix {
        message: "escape it".to_owned(),
        edits: place.edits(&[(found.dot, r"\.".to_owned())]),
        applicability: Applicability::Unsafe,
    };
    let message = format!("this `.` stands for any character in {}", super::quoted(words));
    findings
        .finding(message, place.label(found.dot, ""))
        .with_note("other functions may be claimed too, of which the table shows the largest")
        .with_fix(fix)
}
