//! `claims-everything`: a pattern that claims every frame.

use super::{
    Ask, Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, edited,
    holds_alone,
};
use crate::diagnostic::{Diagnostic, Severity};
use crate::fix::{Applicability, Fix};
use crate::overlap::{self, Answer, Budget, Compiled, Reason};
use crate::pattern::ast::{Ast, Node, NodeKind};
use crate::pattern::measure::{min_width, surely_not_everywhere};
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

/// What is to say of a pattern.
enum Found {
    /// It claims every frame.
    Everything(Part),
    /// A bound was hit before that was decided.
    Undecided(Reason),
}

/// What claims every frame in a pattern, in bytes of it.
struct Part {
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
            if surely_not_everywhere(&ast.root) {
                return None;
            }
            if matches_everywhere(&ast.root) {
                return Some(Found::Everything(locate(pattern.text(), ast, workspace.budget())));
            }
            match workspace.compiled(id)?.claims_everything() {
                Answer::Yes => {
                    Some(Found::Everything(locate(pattern.text(), ast, workspace.budget())))
                }
                // Of one that is too large for every question, `undecided-overlap` speaks.
                Answer::Undecided(reason @ Reason::Bound(_)) => {
                    overlap::too_large(ast).is_none().then_some(Found::Undecided(reason))
                }
                Answer::Undecided(_) | Answer::No(_) => None,
            }
        },
        report,
    );
}

/// Whether a part matches at every place of every text, whatever stands there and however much of it a matcher prefers
/// to take: so do parts that may be left out, one after the other too, atomic or not. It sees what is plain in the tree,
/// in one walk; a no may be wrong.
fn matches_everywhere(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Empty => true,
        NodeKind::Repeat(repeat, body) => repeat.min == 0 || matches_everywhere(body),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            matches_everywhere(body)
        }
        NodeKind::Look(look, body) => !look.negative && matches_everywhere(body),
        NodeKind::Concat(parts) => parts.iter().all(matches_everywhere),
        NodeKind::Alternation(branches) => branches.iter().any(matches_everywhere),
        NodeKind::Conditional(_, yes, no) => {
            matches_everywhere(yes) && no.as_deref().is_none_or(matches_everywhere)
        }
        NodeKind::Literal(..)
        | NodeKind::Dot(_)
        | NodeKind::Class(..)
        | NodeKind::Assertion(..)
        | NodeKind::Backreference(..) => false,
    }
}

/// Finds the smallest part that claims every frame by itself.
fn locate(text: &str, ast: &Ast, budget: Budget) -> Part {
    let mut node = &ast.root;
    let mut alternation = None;
    loop {
        let deeper = match &node.kind {
            NodeKind::Alternation(branches) => {
                alternation = Some(branches);
                branches.iter().find(|branch| {
                    min_width(branch) <= 1
                        && holds_alone(ast, branch, Ask::ClaimsEverything, budget)
                })
            }
            NodeKind::Capture(_, body) | NodeKind::Group(body) => Some(&**body),
            NodeKind::Repeat(repeat, body) if repeat.min > 0 => {
                Some(&**body).filter(|body| holds_alone(ast, body, Ask::ClaimsEverything, budget))
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
        Some(span) => Part {
            span,
            why: "an empty branch",
            edits: without_empty_branches(text, branches, budget),
        },
        None => Part { span: node.span, why: why(node), edits: Vec::new() },
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
fn without_empty_branches(text: &str, branches: &[Node], budget: Budget) -> Vec<(Span, String)> {
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
    let narrower = mended
        .is_ok_and(|ast| matches!(Compiled::new(&ast, budget).claims_everything(), Answer::No(_)));
    if narrower { edits } else { Vec::new() }
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    let found = match found {
        Found::Everything(part) => part,
        Found::Undecided(reason) => {
            let message = "whether this pattern claims every frame could not be decided";
            let finding =
                findings.finding(message, place.label(Span::empty(0), reason.to_string()));
            return Diagnostic { severity: Severity::Warning, ..finding };
        }
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches_everywhere_is_plain_in_the_tree() {
        let matches = |text: &str| {
            let ast = parse(text, Versions::ALL).unwrap_or_else(|error| panic!("{error:?}"));
            let found = matches_everywhere(&ast.root);
            // Never a yes that the search does not give.
            let decided = Compiled::new(&ast, Budget::default()).claims_everything();
            assert!(!found || matches!(decided, Answer::Yes | Answer::Undecided(_)), "{text}");
            found
        };
        for text in [
            "",
            "a*",
            "(a|b)*",
            "a?b*",
            "(?:a|)",
            "(?>a*)b?",
            "a*+b*+",
            "(a?){3}",
            "(?=a*)",
            "(?<=)",
            "(a)?(?(1)b*)",
            "(a)?(?(1)b*|c?)",
            "(?i:a*)",
            "(?#x)",
            "(?:a*|b)(?:|c)",
        ] {
            assert!(matches(text), "{text}");
        }
        for text in [
            "a",
            ".",
            "a*b",
            "(a|b)+",
            "a|b",
            "^a*",
            "a*$",
            "\\b",
            "(?!a*)",
            "(?=a)",
            "(a?)\\1b",
            "(a)?(?(1)b|c?)",
            "a{0,2}b",
        ] {
            assert!(!matches(text), "{text}");
        }
        assert!(matches(&"(a|b)*".repeat(2_000)));
    }
}
