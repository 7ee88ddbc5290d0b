//! `several-canonical-frames`: a canonical pattern that names more than one function.

use super::{Check, Findings, FixAvailability, Level, Rule, label, named, quoted};
use crate::pattern::ast::{Node, NodeKind};
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

/// The most ways through a pattern that are followed.
const MOST_WAYS: usize = 64;
/// The deepest nesting that is followed.
const DEEPEST: usize = 200;
/// The longest text of a way that is kept, in bytes: a name is shorter.
const LONGEST: usize = 1 << 12;
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
        let Some(ways) = ways(&ast.root, 0) else { continue };
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

/// One way through a pattern: the text that it spells out, with a [`GAP`] for what it does not.
#[derive(Clone, Default)]
struct Way(String);

/// Stands for characters that a pattern does not spell out. No frame has it.
const GAP: char = '\0';

impl Way {
    fn push(&mut self, c: char) {
        if self.0.len() < LONGEST {
            self.0.push(c);
        }
    }

    fn append(&mut self, tail: &Self) {
        if self.0.len() < LONGEST {
            self.0.push_str(&tail.0);
        }
    }

    /// The function that it names: what stands behind the last `::`, `.` or space. Empty where nothing does.
    fn name(&self) -> &str {
        let is_part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        // The hash of a Rust symbol is no name.
        let text = self.0.strip_suffix("::h\0").unwrap_or(&self.0);
        let mut names = text.split([GAP, '.', ' ']).flat_map(|part| part.split("::"));
        let mut last = "";
        for name in names.by_ref() {
            let name = name.trim_matches(|c| !is_part_of_name(c)).trim_matches(':');
            if name.chars().any(char::is_alphabetic) {
                last = name;
            }
        }
        last
    }
}

/// The ways through a part; `None` where there are more than [`MOST_WAYS`].
fn ways(node: &Node, depth: usize) -> Option<Vec<Way>> {
    let one = |c: char| Some(vec![Way(c.to_string())]);
    if depth > DEEPEST {
        return None;
    }
    match &node.kind {
        NodeKind::Empty | NodeKind::Assertion(..) | NodeKind::Look(..) => {
            Some(vec![Way::default()])
        }
        NodeKind::Literal(c, _) => one(*c),
        NodeKind::Dot(_)
        | NodeKind::Class(..)
        | NodeKind::Backreference(..)
        | NodeKind::Conditional(..) => one(GAP),
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => {
            ways(body, depth + 1)
        }
        // What may be absent, or comes again and again, is no name.
        NodeKind::Repeat(repeat, body) => match (repeat.min, repeat.max) {
            (1, Some(1)) => ways(body, depth + 1),
            (0, Some(1)) => Some(vec![Way::default()]),
            _ => one(GAP),
        },
        NodeKind::Concat(parts) => {
            let mut all = vec![Way::default()];
            for part in parts {
                // Most parts are this, and nothing is to be made for them.
                if let NodeKind::Literal(c, _) = &part.kind
                    && depth < DEEPEST
                {
                    for way in &mut all {
                        way.push(*c);
                    }
                    continue;
                }
                let tails = ways(part, depth + 1)?;
                if let [tail] = tails.as_slice() {
                    for way in &mut all {
                        way.append(tail);
                    }
                    continue;
                }
                if all.len() * tails.len() > MOST_WAYS {
                    return None;
                }
                let with = |way: &Way, tail: &Way| {
                    let mut way = way.clone();
                    way.append(tail);
                    way
                };
                all = all
                    .iter()
                    .flat_map(|way| tails.iter().map(move |tail| with(way, tail)))
                    .collect();
            }
            Some(all)
        }
        NodeKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(ways(part, depth + 1)?);
                if all.len() > MOST_WAYS {
                    return None;
                }
            }
            Some(all)
        }
    }
}

/// The names of which none is like an earlier one.
fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !name.is_empty() && !distinct.iter().any(|other| alike(other, name)) {
            distinct.push(name);
        }
    }
    distinct
}

/// Whether two names are of one function: equal, the one continues the other, or they differ in digits only
/// (`norm_f16`, `norm_f32`). Capitals do not tell functions apart.
fn alike(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        let mut out = String::new();
        for c in name.chars() {
            match c {
                '0'..='9' if out.ends_with('0') => {}
                '0'..='9' => out.push('0'),
                _ => out.extend(c.to_lowercase()),
            }
        }
        out
    };
    let (a, b) = (plain(a), plain(b));
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    long.starts_with(short.as_str()) || long.ends_with(short.as_str())
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
        let ways = ways(&ast.root, 0).unwrap_or_default();
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
