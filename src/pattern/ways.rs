//! The texts that a pattern spells out, one for each way through its branches.
//!
//! Uses the `ast` of `pattern`.

use super::ast::{Node, NodeKind};

/// The most ways through a pattern that are followed.
const MOST_WAYS: usize = 64;
/// The deepest nesting that is followed.
const DEEPEST: usize = 200;
/// The longest text of a way that is kept, in bytes: a name is shorter.
const LONGEST: usize = 1 << 12;

/// One way through a pattern: the text that it spells out, with a [`GAP`] for what it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way(String);

/// Stands for characters that a pattern does not spell out. No frame has it.
pub const GAP: char = '\0';

impl Way {
    fn append(&mut self, tail: &str) {
        if self.0.len() < LONGEST {
            self.0.push_str(tail);
        }
    }

    /// The text, with a [`GAP`] for what is not spelled out.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The function that it names: what stands behind the last `::`, `.` or space. Empty where nothing does.
    pub fn name(&self) -> &str {
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

/// The ways through a part; `None` where there are more than 64, and where it nests too deeply.
pub fn ways(node: &Node) -> Option<Vec<Way>> {
    follow(node, 0)
}

fn follow(node: &Node, depth: usize) -> Option<Vec<Way>> {
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
            follow(body, depth + 1)
        }
        // What may be absent, or comes again and again, is no name.
        NodeKind::Repeat(repeat, body) => match (repeat.min, repeat.max) {
            (1, Some(1)) => follow(body, depth + 1),
            (0, Some(1)) => Some(vec![Way::default()]),
            _ => one(GAP),
        },
        NodeKind::Concat(parts) => {
            let mut all = vec![Way(String::with_capacity(parts.len()))];
            let to_each = |all: &mut [Way], tail: &str| {
                for way in all {
                    way.append(tail);
                }
            };
            // Most parts are characters: those in a row are added as one.
            let mut row = String::new();
            for part in parts {
                if let NodeKind::Literal(c, _) = &part.kind
                    && depth < DEEPEST
                {
                    if row.len() < LONGEST {
                        row.push(*c);
                    }
                    continue;
                }
                to_each(&mut all, &row);
                row.clear();
                let tails = follow(part, depth + 1)?;
                if let [tail] = tails.as_slice() {
                    to_each(&mut all, &tail.0);
                    continue;
                }
                if all.len() * tails.len() > MOST_WAYS {
                    return None;
                }
                let with = |way: &Way, tail: &Way| {
                    let mut way = way.clone();
                    way.append(&tail.0);
                    way
                };
                all = all
                    .iter()
                    .flat_map(|way| tails.iter().map(move |tail| with(way, tail)))
                    .collect();
            }
            to_each(&mut all, &row);
            Some(all)
        }
        NodeKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(follow(part, depth + 1)?);
                if all.len() > MOST_WAYS {
                    return None;
                }
            }
            Some(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Versions, parse};
    use super::*;

    #[test]
    fn each_branch_is_a_way() {
        let texts = |pattern: &str| -> Vec<String> {
            let ast = parse(pattern, Versions::ALL).unwrap();
            let ways = ways(&ast.root).unwrap_or_default();
            ways.iter().map(|way| way.text().replace(GAP, "…")).collect()
        };
        assert_eq!(texts(r"a\.b|(?:c|d)e"), ["a.b", "ce", "de"]);
        assert_eq!(texts("rope(?!_x)::f?.*z"), ["rope::…z"]);
        assert_eq!(texts("[ab]c{2}"), ["……"]);
        assert!(texts("(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)(?:a|b)").is_empty());
    }
}
