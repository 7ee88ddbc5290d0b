//! `several-canonical-frames`: a canonical pattern that names more than one function.

use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::pattern::ast::{Node, NodeKind};
use crate::pattern::ways::{Way, ways};
use crate::span::Span;
use crate::workspace::{Entry, Workspace};

pub(super) const RULE: Rule = Rule {
    name: "several-canonical-frames",
    summary: "a canonical pattern that names more than one function",
    default: Level::Warn,
    fix: FixAvailability::None,
    page: include_str!("../../docs/rules/several-canonical-frames.md"),
    check: Check::Entry(check),
};

/// The deepest nesting that is followed.
const DEEPEST: usize = 200;
/// How many names a message lists.
const LISTED: usize = 4;

fn check(workspace: &Workspace<'_>, entry: &Entry<'_>, findings: &mut Findings) {
    for hypothesis in &entry.register.hypotheses {
        let Some(slot) = &hypothesis.canonical else { continue };
        let pattern = workspace.patterns.get(slot.pattern);
        // Without branches there is one name.
        if !pattern.text().contains('|') {
            continue;
        }
        let Some(ast) = workspace.patterns.tree(slot.pattern) else { continue };
        let Some(ways) = ways(&ast.root) else { continue };
        let names = distinct(ways.iter().map(Way::name));
        if names.len() < 2 {
            continue;
        }
        let mut listed: Vec<_> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
        if names.len() > LISTED {
            listed.push(format!("{} more", names.len() - LISTED));
        }
        let words = format!("names {}", listed.join(", "));
        let place = branches(&ast.root, 0).unwrap_or(ast.root.span);
        let message = format!("{} reads {} functions", named(hypothesis), names.len());
        let finding = findings
            .finding(message, label(entry.file, slot.locate(place), words))
            .with_note("the table shows the largest of them, maybe another one in each trace")
            .with_hypothesis(hypothesis.id());
        findings.push(finding);
    }
}

/// The names of which none is like an earlier one.
fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut distinct: Vec<(&str, String)> = Vec::new();
    for name in names {
        if name.is_empty() || distinct.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let simple = simplified(name);
        if !distinct.iter().any(|(_, other)| alike(other, &simple)) {
            distinct.push((name, simple));
        }
    }
    distinct.into_iter().map(|(name, _)| name).collect()
}

/// A name without capitals, each number in it a `0`.
fn simplified(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '0'..='9' if out.ends_with('0') => {}
            '0'..='9' => out.push('0'),
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            _ => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// Whether two names are of one function: equal, the one continues the other, or they differ in digits only
/// (`norm_f16`, `norm_f32`). Capitals do not tell functions apart. Both are [`simplified`].
fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.starts_with(short) || long.ends_with(short)
}

/// The outermost first alternation.
fn branches(node: &Node, depth: usize) -> Option<Span> {
    if depth > DEEPEST {
        return None;
    }
    match &node.kind {
        NodeKind::Alternation(_) => Some(node.span),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            branches(body, depth + 1)
        }
        NodeKind::Repeat(_, body) => branches(body, depth + 1),
        NodeKind::Concat(parts) => parts.iter().find_map(|part| branches(part, depth + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Versions, parse};

    fn names(pattern: &str) -> Vec<String> {
        let ast = parse(pattern, Versions::ALL).unwrap();
        let ways = ways(&ast.root).unwrap_or_default();
        distinct(ways.iter().map(Way::name)).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn functions_of_different_names() {
        assert_eq!(
            names(r"GraphSession|exec\.begin|s\.finish"),
            ["GraphSession", "begin", "finish"]
        );
        assert_eq!(names("a::foo|b::bar::"), ["foo", "bar"]);
        assert_eq!(names("dispatch_(?:rope|norm)_f32"), ["dispatch_rope_f32", "dispatch_norm_f32"]);
        assert_eq!(names(r"-\[AGXG init:with:\]|mach_msg"), ["init:with", "mach_msg"]);
    }

    #[test]
    fn one_function() {
        for pattern in [
            "a::Context::with_context|a::context::.*with_context",
            "alloc_buffer|alloc_buffer_uninit",
            "norm_f16::|norm_f32::",
            "foo(?:_v2)?::|foo::",
            "foo::(?:h[0-9a-f]{16}|$)",
            "(?:gemma|qwen)::forward::",
            "^main$|main::",
            "(?i)foo|FOO",
            "alloc|allocfoo",
            "run|run2",
        ] {
            assert_eq!(names(pattern).len(), 1, "{pattern}");
        }
    }
}
