//! What can be told of a part of a pattern by looking at its tree, before anything is compiled.
//!
//! Uses `span` and the `ast` of `pattern`.

use super::ast::{Ast, ClassItem, ClassItemKind, Flags, Node, NodeKind};
use crate::span::Span;

/// A part of `ast` as a pattern of its own. Flags are in the leaves, so they stay; groups keep their numbers.
pub fn part(ast: &Ast, root: Node) -> Ast {
    Ast { root, flags: ast.flags, groups: ast.groups.clone(), warnings: Vec::new() }
}

/// How many characters a match of `node` has at least. Lookarounds and places count as none, so the
/// true number may be larger; it is never smaller.
pub fn min_width(node: &Node) -> u64 {
    match &node.kind {
        NodeKind::Literal(..) | NodeKind::Dot(_) | NodeKind::Class(..) => 1,
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            min_width(body)
        }
        NodeKind::Repeat(repeat, _) if repeat.min == 0 => 0,
        NodeKind::Repeat(repeat, body) => u64::from(repeat.min).saturating_mul(min_width(body)),
        NodeKind::Concat(parts) => {
            parts.iter().fold(0, |sum, part| sum.saturating_add(min_width(part)))
        }
        NodeKind::Alternation(parts) => parts.iter().map(min_width).min().unwrap_or(0),
        NodeKind::Conditional(_, yes, no) => {
            min_width(yes).min(no.as_ref().map_or(0, |no| min_width(no)))
        }
        NodeKind::Empty
        | NodeKind::Assertion(..)
        | NodeKind::Look(..)
        | NodeKind::Backreference(..) => 0,
    }
}

/// Whether some frame satisfies `node` for sure: it has no condition on its surroundings, and each of
/// its sets has a character that frames have. Where this is not so, nothing is known.
pub fn surely_satisfiable(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Empty | NodeKind::Dot(_) => true,
        NodeKind::Literal(c, _) => !c.is_control(),
        NodeKind::Class(class, _) => {
            !class.negated
                && class.items.iter().any(|item| match item.kind {
                    ClassItemKind::Single(c) | ClassItemKind::Range(_, c) => !c.is_control(),
                    ClassItemKind::Perl(_) | ClassItemKind::NotPerl(_) => true,
                })
        }
        NodeKind::Capture(_, body) | NodeKind::Group(body) => surely_satisfiable(body),
        NodeKind::Repeat(repeat, body) => repeat.min == 0 || surely_satisfiable(body),
        NodeKind::Concat(parts) => parts.iter().all(surely_satisfiable),
        NodeKind::Alternation(parts) => parts.iter().any(surely_satisfiable),
        NodeKind::Assertion(..)
        | NodeKind::Look(..)
        | NodeKind::Atomic(_)
        | NodeKind::Backreference(..)
        | NodeKind::Conditional(..) => false,
    }
}

/// Whether some frame lacks a match of `node` for sure: each match has two characters, where there are
/// frames of one, or one certain character. Where this is not so, nothing is known.
pub fn surely_not_everywhere(node: &Node) -> bool {
    let is_literal = |node: &Node| matches!(node.kind, NodeKind::Literal(..));
    let needs_one = match &node.kind {
        NodeKind::Concat(parts) => parts.iter().any(is_literal),
        _ => is_literal(node),
    };
    needs_one || min_width(node) > 1
}

/// The text that `node` matches, if it is nothing but characters that stand for themselves alone, escapes and sets
/// of one character decoded: `exec\.begin` and `exec[.]begin` are `exec.begin`.
pub fn plain_text(node: &Node) -> Option<String> {
    plain_text_without(node, &[])
}

/// [`plain_text`] of `node` without the branches at these places, where that leaves one of each alternation.
pub fn plain_text_without(node: &Node, gone: &[Span]) -> Option<String> {
    // Most patterns that are not plain show it before anything is written.
    if !is_plain(node, gone) {
        return None;
    }
    let mut text = String::with_capacity(node.span.range().len());
    push_plain(node, gone, &mut text);
    Some(text)
}

/// The character that a leaf stands for, if it stands for that alone.
fn plain_char(node: &Node) -> Option<char> {
    match &node.kind {
        NodeKind::Literal(c, flags) if !flags.has(Flags::IGNORE_CASE) => Some(*c),
        NodeKind::Class(class, flags) if !class.negated && !flags.has(Flags::IGNORE_CASE) => {
            match class.items.as_slice() {
                [ClassItem { kind: ClassItemKind::Single(c), .. }] => Some(*c),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The one branch that stays.
fn only_branch<'n>(branches: &'n [Node], gone: &[Span]) -> Option<&'n Node> {
    let mut staying = branches.iter().filter(|branch| !gone.contains(&branch.span));
    staying.next().filter(|_| staying.next().is_none())
}

fn is_plain(node: &Node, gone: &[Span]) -> bool {
    match &node.kind {
        NodeKind::Empty => true,
        NodeKind::Group(body) => is_plain(body, gone),
        NodeKind::Concat(parts) => parts.iter().all(|part| match &part.kind {
            // Most parts are this.
            NodeKind::Literal(_, flags) => !flags.has(Flags::IGNORE_CASE),
            _ => is_plain(part, gone),
        }),
        NodeKind::Alternation(branches) => {
            only_branch(branches, gone).is_some_and(|branch| is_plain(branch, gone))
        }
        _ => plain_char(node).is_some(),
    }
}

/// Writes what is plain.
fn push_plain(node: &Node, gone: &[Span], text: &mut String) {
    match &node.kind {
        NodeKind::Literal(c, _) => text.push(*c),
        NodeKind::Group(body) => push_plain(body, gone, text),
        NodeKind::Concat(parts) => {
            for part in parts {
                match &part.kind {
                    // Most parts are this.
                    NodeKind::Literal(c, _) => text.push(*c),
                    _ => push_plain(part, gone, text),
                }
            }
        }
        NodeKind::Alternation(branches) => {
            if let Some(branch) = only_branch(branches, gone) {
                push_plain(branch, gone, text);
            }
        }
        _ => text.extend(plain_char(node)),
    }
}

/// The parts that `node` is made of, in order.
pub fn children(node: &Node) -> impl Iterator<Item = &Node> {
    let (first, parts, last): (Option<&Node>, &[Node], Option<&Node>) = match &node.kind {
        NodeKind::Look(_, body)
        | NodeKind::Capture(_, body)
        | NodeKind::Group(body)
        | NodeKind::Atomic(body)
        | NodeKind::Repeat(_, body) => (Some(body), &[], None),
        NodeKind::Concat(parts) | NodeKind::Alternation(parts) => (None, parts, None),
        NodeKind::Conditional(_, yes, no) => (Some(yes), &[], no.as_deref()),
        _ => (None, &[], None),
    };
    first.into_iter().chain(parts).chain(last)
}

#[cfg(test)]
mod tests {
    use super::super::{Versions, parse};
    use super::*;

    #[test]
    fn measures_from_below() {
        let width = |text| min_width(&parse(text, Versions::ALL).unwrap().root);
        let cases = [
            ("", 0),
            ("abc", 3),
            ("a|bc", 1),
            ("a*b+", 1),
            ("(ab){3}", 6),
            ("(?=abc)", 0),
            (r"\ba\b", 1),
            ("(a)?(?(1)bc|d)", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(width(text), expected, "{text}");
        }
    }

    #[test]
    fn is_sure_of_plain_things_only() {
        let sure = |text| surely_satisfiable(&parse(text, Versions::ALL).unwrap().root);
        for text in ["abc", "a|b", "[a-z]+", r"\w*x", r"(\n)?", r"\n|a", "(a(b))"] {
            assert!(sure(text), "{text}");
        }
        for text in [r"\n", r"[\t\n]", "(?!)", r"\ba", "^a", r"[^\s\S]", r"a\x00"] {
            assert!(!sure(text), "{text}");
        }
    }

    #[test]
    fn plain_texts() {
        for (pattern, text) in [
            ("a::b", Some("a::b")),
            (r"s\.finish", Some("s.finish")),
            ("s[.]f", Some("s.f")),
            ("s[.,]f", None),
            ("s[^.]f", None),
            ("a.b", None),
            ("(?i)a", None),
            ("(?:a)[b]", Some("ab")),
            ("(a)", None),
        ] {
            let ast = parse(pattern, Versions::ALL).unwrap();
            assert_eq!(plain_text(&ast.root).as_deref(), text, "{pattern}");
        }
    }

    #[test]
    fn plain_texts_without_branches() {
        let ast = parse("a(?:b|c|d)e(?:|f)", Versions::ALL).unwrap();
        let at = |range: std::ops::Range<usize>| Span::new(range.start, range.end);
        let without = |gone: &[Span]| plain_text_without(&ast.root, gone);
        let (b, c, empty) = (at(4..5), at(6..7), at(14..14));
        assert_eq!(without(&[b, c, empty]).as_deref(), Some("adef"));
        for gone in [&[][..], &[b, c], &[b, empty], &[b, c, at(8..9), empty]] {
            assert_eq!(without(gone), None, "{gone:?}");
        }
    }
}
