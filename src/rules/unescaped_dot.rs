//! `unescaped-dot`: a bare `.` between two lower-case words, where a full stop was meant.

use super::{Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern};
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
    /// The pieces of the words and the dot, in order; brackets between them are left out.
    words: Vec<Span>,
}

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    each_pattern(
        workspace,
        findings,
        |id, pattern| {
            let mut found = Vec::new();
            if has_candidate(pattern.text().as_bytes())
                && let Some(ast) = workspace.patterns.tree(id)
            {
                collect(&ast.root, &mut found);
            }
            found
        },
        report,
    );
}

/// Whether a dot stands beside words at all: what the tree is not needed for.
fn has_candidate(text: &[u8]) -> bool {
    text.windows(3).any(|window| {
        let [before, b'.', after] = window else { return false };
        (is_word(char::from(*before)) || matches!(before, b'(' | b')' | b':' | b'|'))
            && (is_word(char::from(*after)) || matches!(after, b'(' | b')' | b'|'))
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn collect(node: &Node, found: &mut Vec<Found>) {
    let mut parts = Vec::new();
    flatten(node, &mut parts);
    for (at, dot) in parts.iter().enumerate() {
        if !matches!(dot.kind, NodeKind::Dot(_)) {
            continue;
        }
        let before = word(parts.get(..at).unwrap_or_default().iter().rev().copied(), Side::Before);
        let after = word(parts.get(at + 1..).unwrap_or_default().iter().copied(), Side::After);
        // `a.b` is no pair of words, `s.finish` is.
        if let (Some(before), Some(after)) = (before, after)
            && before.len.max(after.len) > 1
        {
            let mut words = before.spans;
            words.push(dot.span);
            words.extend(after.spans);
            words.sort_unstable_by_key(|span| span.start);
            found.push(Found { dot: dot.span, words });
        }
    }
    for part in parts {
        for child in children(part) {
            collect(child, found);
        }
    }
}

/// The parts of `node` in order, those of groups that stand there once among them.
fn flatten<'n>(node: &'n Node, parts: &mut Vec<&'n Node>) {
    match &node.kind {
        NodeKind::Concat(inner) => inner.iter().for_each(|part| flatten(part, parts)),
        NodeKind::Group(body) | NodeKind::Capture(_, body) if !is_branched(body) => {
            flatten(body, parts);
        }
        _ => parts.push(node),
    }
}

/// Whether it is an alternation, maybe in groups; such a group stays whole, so that its span has its brackets.
fn is_branched(node: &Node) -> bool {
    branches(node).is_some()
}

fn branches(node: &Node) -> Option<&[Node]> {
    match &node.kind {
        NodeKind::Alternation(branches) => Some(branches),
        NodeKind::Group(body) | NodeKind::Capture(_, body) => branches(body),
        _ => None,
    }
}

/// On which side of the dot a word is.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

/// A lower-case word beside a dot.
struct Word {
    /// Its characters; of branches, those of the longest.
    len: usize,
    /// Where they stand, away from the dot.
    spans: Vec<Span>,
}

/// The word that `parts` begin with, which lead away from the dot, if it is a lower-case one on that side: `foo_v1` and `Foo`
/// are before a dot, `Bar` is not after one. A group of branches is one where each of them is.
fn word<'n>(parts: impl Iterator<Item = &'n Node>, side: Side) -> Option<Word> {
    let mut found = Word { len: 0, spans: Vec::new() };
    let mut text: Vec<char> = Vec::new();
    for part in parts {
        let len = match (&part.kind, branches(part)) {
            (NodeKind::Literal(c, _), _) if is_word(*c) => {
                text.push(*c);
                1
            }
            (_, Some(branches)) => {
                let longest = branches.iter().try_fold(0, |longest, branch| {
                    let mut inner = Vec::new();
                    flatten(branch, &mut inner);
                    if side == Side::Before {
                        inner.reverse();
                    }
                    Some(word(inner.into_iter(), side)?.len.max(longest))
                });
                match longest {
                    Some(len) if text.is_empty() => {
                        return Some(Word { len, spans: vec![part.span] });
                    }
                    Some(len) => len,
                    None => break,
                }
            }
            _ => break,
        };
        found.len += len;
        found.spans.push(part.span);
        if is_branched(part) {
            break;
        }
    }
    let nearest = *text.first()?;
    let is_lower = match side {
        Side::Before => !nearest.is_ascii_uppercase() && text.iter().any(char::is_ascii_lowercase),
        Side::After => {
            let first = text.iter().find(|c| **c != '_');
            first.is_some_and(char::is_ascii_lowercase)
        }
    };
    is_lower.then_some(found)
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    let text = place.pattern.text();
    let words: String = found.words.iter().filter_map(|span| text.get(span.range())).collect();
    let fix = Fix {
        message: "escape it".to_owned(),
        edits: place.edits(&[(found.dot, r"\.".to_owned())]),
        applicability: Applicability::Unsafe,
    };
    let message = format!("this `.` stands for any character in {}", super::quoted(&words));
    findings
        .finding(message, place.label(found.dot, ""))
        .with_note("other functions may be claimed too, of which the table shows the largest")
        .with_fix(fix)
}
