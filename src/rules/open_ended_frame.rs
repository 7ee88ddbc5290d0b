//! `open-ended-frame`: a canonical pattern that stops inside an identifier.

use super::{Check, Findings, FixAvailability, Level, Rule, label, named};
use crate::diagnostic::{Mark, Witness};
use crate::overlap::matcher::Outcome;
use crate::overlap::{Answer, Compiled};
use crate::pattern::ast::{
    Ast, Class, ClassItem, ClassItemKind, Flags, Look, Node, NodeKind, PerlClass,
};
use crate::span::Span;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "open-ended-frame",
    summary: "a canonical pattern that stops inside an identifier, so that longer names are claimed too",
    default: Level::Allow,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/open-ended-frame.md"),
    check: Check::Entry(check),
};

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let Some(ast) = workspace.patterns.tree(slot.pattern) else { continue };
        let Some(end) = open_end(&ast.root, 0) else { continue };
        let longer = followed_by_word(ast);
        let longer = Compiled::new(&longer, workspace.budget());
        let Answer::No(frame) = longer.claims_nothing() else { continue };
        let Outcome::Match(start, stop) = longer.matcher().search(&frame) else { continue };
        let message =
            format!("{} also claims names that only begin like this one", named(hypothesis));
        let witness = Witness {
            message: "a frame that it claims".to_owned(),
            frame,
            marks: vec![Mark { start, end: stop, message: "the match ends here".to_owned() }],
        };
        let finding = findings
            .finding(message, label(entry.file, slot.locate(end), "stops inside an identifier"))
            .with_witness(witness)
            .with_note("close the name with `::`, `\\b` or `$` where one function is meant")
            .with_hypothesis(hypothesis.id());
        findings.push(finding);
    }
}

/// A last character of the pattern that is spelled out and belongs in an identifier; of several branches' the first.
fn open_end(node: &Node, depth: usize) -> Option<Span> {
    // Deeper than any pattern that is meant.
    const DEEPEST: usize = 500;
    if depth > DEEPEST {
        return None;
    }
    match &node.kind {
        NodeKind::Literal(c, _) => (c.is_alphanumeric() || *c == '_').then_some(node.span),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            open_end(body, depth + 1)
        }
        NodeKind::Repeat(repeat, body) if repeat.max != Some(0) => open_end(body, depth + 1),
        NodeKind::Concat(parts) => {
            // Back over what matches no text.
            for part in parts.iter().rev() {
                match &part.kind {
                    NodeKind::Empty | NodeKind::Look(..) | NodeKind::Assertion(..) => {}
                    _ => return open_end(part, depth + 1),
                }
            }
            None
        }
        NodeKind::Alternation(parts) => parts.iter().find_map(|part| open_end(part, depth + 1)),
        _ => None,
    }
}

/// The pattern with a word character right behind its match.
fn followed_by_word(ast: &Ast) -> Ast {
    let at = Span::empty(ast.root.span.range().end);
    let node = |kind| Node { span: at, kind };
    let word = ClassItem { span: at, kind: ClassItemKind::Perl(PerlClass::Word) };
    let class = Class { negated: false, bracketed: false, items: vec![word] };
    let class = node(NodeKind::Class(Box::new(class), Flags::NONE));
    let ahead = node(NodeKind::Look(Look { behind: false, negative: false }, Box::new(class)));
    let body = Node { span: ast.root.span, kind: NodeKind::Group(Box::new(ast.root.clone())) };
    Ast {
        root: Node { span: ast.root.span, kind: NodeKind::Concat(vec![body, ahead]) },
        flags: ast.flags,
        groups: ast.groups.clone(),
        warnings: Vec::new(),
    }
}
