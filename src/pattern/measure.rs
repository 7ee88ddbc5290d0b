//! What can be told of a part of a pattern by looking at its tree, before anything is compiled.
//!
//! Uses `span` and the `ast` of `pattern`.

use super::ast::{Ast, ClassItem, ClassItemKind, Flags, Node, NodeKind};

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

/// The text that `node` matches, if it is nothing but characters that stand for themselves alone, escapes and sets
/// of one character decoded: `exec\.begin` and `exec[.]begin` are `exec.begin`.
pub fn plain_text(node: &Node) -> Option<String> {
    let mut text = String::new();
    push_plain(node, &mut text).then_some(text)
}

fn push_plain(node: &Node, text: &mut String) -> bool {
    match &node.kind {
        NodeKind::Empty => true,
        NodeKind::Literal(c, flags) if !flags.has(Flags::IGNORE_CASE) => {
            text.push(*c);
            true
        }
        NodeKind::Class(class, flags) if !class.negated && !flags.has(Flags::IGNORE_CASE) => {
            match class.items.as_slice() {
                [ClassItem { kind: ClassItemKind::Single(c), .. }] => {
                    text.push(*c);
                    true
                }
                _ => false,
            }
        }
        NodeKind::Group(body) => push_plain(body, text),
        NodeKind::Concat(parts) => parts.iter().all(|part| push_plain(part, text)),
        _ => false,
    }
}

/// The parts that `node` is made of, in order.
pub fn children(node: &Node) -> Vec<&Node> {
    match &node.kind {
        NodeKind::Look(_, body)
        | NodeKind::Capture(_, body)
        | NodeKind::Group(body)
        | NodeKind::Atomic(body)
        | NodeKind::Repeat(_, body) => vec![body],
        NodeKind::Concat(parts) | NodeKind::Alternation(parts) => parts.iter().collect(),
        NodeKind::Conditional(_, yes, no) => std::iter::once(&**yes).chain(no.as_deref()).collect(),
        _ => Vec::new(),
    }
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
}
