//! What can be said of the frames of a pattern without an automaton: texts that each of them
//! contains, and one of them.
//!
//! Uses `pattern::ast` and `pattern::unicode`. Exact where it says something; silent elsewhere. Walks
//! the tree once, by recursion: no tree is deeper than 2,000 nodes (see [`super::parse`]).

use super::ast::{Ast, Class, ClassItemKind, Flags, Node, NodeKind, PerlClass, RepeatKind};
use super::unicode;

/// The most texts that are listed for a pattern.
const MAX_TEXTS: usize = 64;

/// The longest text that is written out, in bytes.
const MAX_BYTES: usize = 4096;

/// Texts, none empty, of which every match contains at least one; none where that is not plain to see.
pub fn required(ast: &Ast) -> Vec<String> {
    match need(&ast.root) {
        Need::Exactly(text) if !text.is_empty() => vec![text],
        Need::Exactly(_) | Need::Anything => Vec::new(),
        Need::OneOf(texts) => texts,
    }
}

/// A text that the pattern matches, if looking at it once gives one, and whether that is certain:
/// where it is not, a matcher has to confirm it.
pub fn member(ast: &Ast) -> Option<(String, bool)> {
    let text = String::with_capacity(ast.root.span.range().len().min(MAX_BYTES));
    let mut writer = Writer { text, certain: true };
    writer.write(&ast.root)?;
    Some((writer.text, writer.certain))
}

/// What every match of a node contains.
enum Need {
    /// It is this text.
    Exactly(String),
    /// One of these, none empty.
    OneOf(Vec<String>),
    /// Nothing that is known.
    Anything,
}

/// How much a list of texts says: the length of its shortest.
fn weight(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or(0)
}

fn need(node: &Node) -> Need {
    match &node.kind {
        // What takes no place in the match.
        NodeKind::Empty | NodeKind::Assertion(..) | NodeKind::Look(..) => {
            Need::Exactly(String::new())
        }
        NodeKind::Literal(c, flags) if spells(*c, *flags) => Need::Exactly(c.to_string()),
        NodeKind::Class(class, flags) => match (class.negated, class.items.as_slice()) {
            (false, [item]) => match item.kind {
                ClassItemKind::Single(c) if spells(c, *flags) => Need::Exactly(c.to_string()),
                _ => Need::Anything,
            },
            _ => Need::Anything,
        },
        NodeKind::Literal(..)
        | NodeKind::Dot(_)
        | NodeKind::Backreference(..)
        | NodeKind::Conditional(..) => Need::Anything,
        NodeKind::Capture(_, body) | NodeKind::Group(body) | NodeKind::Atomic(body) => need(body),
        NodeKind::Repeat(repeat, _) if repeat.max == Some(0) => Need::Exactly(String::new()),
        NodeKind::Repeat(repeat, _) if repeat.min == 0 => Need::Anything,
        NodeKind::Repeat(repeat, body) => match need(body) {
            Need::Exactly(text) if text.is_empty() => Need::Exactly(text),
            Need::Exactly(text)
                if repeat.max == Some(repeat.min)
                    && text.len().saturating_mul(repeat.min as usize) <= MAX_BYTES =>
            {
                Need::Exactly(text.repeat(repeat.min as usize))
            }
            Need::Exactly(text) => Need::OneOf(vec![text]),
            other => other,
        },
        NodeKind::Concat(parts) => concat(parts),
        NodeKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                match need(part) {
                    Need::Exactly(text) if !text.is_empty() => all.push(text),
                    Need::OneOf(texts) => all.extend(texts),
                    Need::Exactly(_) | Need::Anything => return Need::Anything,
                }
                if all.len() > MAX_TEXTS {
                    return Need::Anything;
                }
            }
            Need::OneOf(all)
        }
    }
}

fn concat(parts: &[Node]) -> Need {
    let (mut run, mut best, mut is_plain) = (String::with_capacity(parts.len()), Vec::new(), true);
    let mut offer = |texts: Vec<String>| {
        if weight(&texts) > weight(&best) {
            best = texts;
        }
    };
    for part in parts {
        // Most parts are this, and nothing is to be made for them.
        if let NodeKind::Literal(c, flags) = &part.kind
            && spells(*c, *flags)
        {
            run.push(*c);
            continue;
        }
        match need(part) {
            Need::Exactly(text) => run.push_str(&text),
            other => {
                is_plain = false;
                offer(vec![std::mem::take(&mut run)]);
                if let Need::OneOf(texts) = other {
                    offer(texts);
                }
            }
        }
    }
    if is_plain {
        return Need::Exactly(run);
    }
    offer(vec![run]);
    if best.is_empty() { Need::Anything } else { Need::OneOf(best) }
}

/// Whether the character stands for itself alone, whatever the case.
fn spells(c: char, flags: Flags) -> bool {
    !flags.has(Flags::IGNORE_CASE) || c.is_ascii() && !c.is_ascii_alphabetic()
}

struct Writer {
    text: String,
    certain: bool,
}

impl Writer {
    fn write(&mut self, node: &Node) -> Option<()> {
        if self.text.len() > MAX_BYTES {
            return None;
        }
        match &node.kind {
            NodeKind::Empty => {}
            NodeKind::Literal(c, _) => self.text.push(*c),
            NodeKind::Dot(_) => self.text.push('x'),
            NodeKind::Class(class, flags) => self.text.push(element(class, *flags)?),
            NodeKind::Assertion(..) | NodeKind::Look(..) => self.certain = false,
            NodeKind::Atomic(body) => {
                self.certain = false;
                self.write(body)?;
            }
            NodeKind::Capture(_, body) | NodeKind::Group(body) => self.write(body)?,
            NodeKind::Repeat(repeat, body) => {
                self.certain &= repeat.kind != RepeatKind::Possessive;
                for _ in 0..repeat.min {
                    let before = self.text.len();
                    self.write(body)?;
                    // Nothing, any number of times, is nothing.
                    if self.text.len() == before {
                        break;
                    }
                }
            }
            NodeKind::Concat(parts) => parts.iter().try_for_each(|part| self.write(part))?,
            NodeKind::Alternation(parts) => self.write(parts.first()?)?,
            NodeKind::Backreference(..) | NodeKind::Conditional(..) => return None,
        }
        Some(())
    }
}

/// A printable character of a class.
fn element(class: &Class, flags: Flags) -> Option<char> {
    const OFFERED: [char; 8] = ['x', 'a', '0', '_', ':', ' ', '-', 'é'];
    let perl = |of: PerlClass, c: char| {
        let ascii = flags.has(Flags::ASCII);
        (!ascii || c.is_ascii())
            && match of {
                PerlClass::Digit => unicode::is_digit(c),
                PerlClass::Space => unicode::is_space(c),
                PerlClass::Word => unicode::is_word(c),
            }
    };
    let has = |c: char| {
        class.items.iter().any(|item| match item.kind {
            ClassItemKind::Single(one) => one == c,
            ClassItemKind::Range(first, last) => (first..=last).contains(&c),
            ClassItemKind::Perl(of) => perl(of, c),
            ClassItemKind::NotPerl(of) => !perl(of, c),
        })
    };
    if class.negated {
        // Case folding adds to what is excluded.
        let folds = flags.has(Flags::IGNORE_CASE);
        return OFFERED.into_iter().find(|&c| !(has(c) || folds && c.is_alphabetic()));
    }
    let named = class.items.iter().find_map(|item| match item.kind {
        ClassItemKind::Single(c) | ClassItemKind::Range(c, _) if !c.is_control() => Some(c),
        _ => None,
    });
    named.or_else(|| OFFERED.into_iter().find(|&c| has(c)))
}

#[cfg(test)]
mod tests {
    use super::super::{Versions, parse};
    use super::*;

    fn ast(pattern: &str) -> Ast {
        parse(pattern, Versions::ALL).unwrap_or_else(|fault| panic!("{pattern}: {fault:?}"))
    }

    #[test]
    fn required_texts() {
        for (pattern, texts) in [
            ("abc", &["abc"][..]),
            (r"exec\.begin", &["exec.begin"]),
            ("ab(?=x)c", &["abc"]),
            ("a[b](?:c)", &["abc"]),
            ("a?bcd.ef", &["bcd"]),
            ("ab.+cdef", &["cdef"]),
            ("ab|cd", &["ab", "cd"]),
            ("x(?:abc|def)", &["abc", "def"]),
            ("(?:ab){2}c", &["ababc"]),
            ("(?:ab)+c", &["ab"]),
            ("(?i)a::b", &["::"]),
            ("ab|", &[]),
            (r"\w+", &[]),
            ("(a)?(?(1)bc|bd)", &[]),
            ("a{0}", &[]),
        ] {
            assert_eq!(required(&ast(pattern)), texts, "{pattern}");
        }
    }

    #[test]
    fn a_member_that_is_certain_is_matched() {
        for (pattern, text) in [
            ("ab.c", "abxc"),
            (r"a\d\w[^x]", "a0xa"),
            ("a{3}b*", "aaa"),
            ("(?:ab|c)[d-f]", "abd"),
            (r"[^\w]", ":"),
            ("(?i)[^ab]", "0"),
        ] {
            let (found, certain) = member(&ast(pattern)).unwrap();
            assert_eq!((found.as_str(), certain), (text, true), "{pattern}");
            let regex = fancy_regex::Regex::new(pattern).unwrap();
            assert!(regex.is_match(text).unwrap(), "{pattern}");
        }
        assert_eq!(member(&ast("a(?=b)")), Some(("a".to_owned(), false)));
        assert_eq!(member(&ast(r"(a)\1")), None);
    }
}
