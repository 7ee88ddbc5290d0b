//! `dialect-mismatch`: a pattern that Python and Rust's fancy-regex compile and read in two ways.

use super::{
    Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, edited, quoted,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::matcher::{Lead, Matcher, Outcome};
use crate::overlap::{Answer, Budget, Compiled};
use crate::pattern::ast::{
    Assertion, Ast, Class, ClassItem, ClassItemKind, Flags, Look, Node, NodeKind, PerlClass,
    Repeat, RepeatKind,
};
use crate::pattern::dialects::{Construct, constructs, respelled};
use crate::pattern::measure::children;
use crate::pattern::{Pattern, Versions, compile_for_short, compile_rust, folded, parse};
use crate::span::Span;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "dialect-mismatch",
    summary: "a pattern that means something else to Python than to Rust's fancy-regex",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/dialect-mismatch.md"),
    check: Check::Workspace(check),
};

/// The states that one comparison may hold at most.
const STATES: usize = 200_000;

/// The most pieces that frames are made of where meanings cannot be compared.
const MAX_PIECES: usize = 12;

/// The characters of a longer run of literals are not pieces of their own.
const MAX_RUN: usize = 3;

/// The most frames that are tried where meanings cannot be compared.
const MAX_FRAMES: usize = 6_000;

/// How many steps may be taken on all of them for each state of a comparison.
const STEPS_PER_STATE: u32 = 2;

/// The most characters of sets that fancy-regex may have to fold for all patterns together, and what each always may.
const FOLDED: usize = 200_000_000;
const LEAST_FOLDED: usize = 4_000;

/// A construct, and a frame of printable ASCII that only one of the engines claims.
struct Found {
    construct: Construct,
    /// The frame, and whether it is Python that claims it; none for `\Z`, which no frame tells from `$`.
    frame: Option<(String, bool)>,
    /// Whether CPython warns about the construct.
    warned: bool,
}

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    let budget = Budget { states: workspace.budget().states.min(STATES) };
    let most = (FOLDED / workspace.patterns.unusual().len().max(1)).max(LEAST_FOLDED);
    let analyse = |_, pattern: &Pattern<'_>| {
        if folded(pattern.text()) > most { Vec::new() } else { analyse(pattern, budget) }
    };
    each_pattern(workspace, findings, analyse, report);
}

fn analyse(pattern: &Pattern<'_>, budget: Budget) -> Vec<Found> {
    let text = pattern.text();
    let constructs = constructs(text);
    let Some(ast) = (!constructs.is_empty()).then(|| pattern.ast().ok()).flatten() else {
        return Vec::new();
    };
    let (ends, others): (Vec<_>, Vec<_>) =
        constructs.into_iter().partition(|construct| construct.spelled.is_none());
    let frame = if others.is_empty() { None } else { difference(pattern, &others, budget) };
    let warned = |construct: &Construct| {
        ast.warnings.iter().any(|warning| construct.span.contains(warning.span))
    };
    let mut found = Vec::new();
    if let Some(frame) = frame {
        // Of several constructs, those that make a difference by themselves; all where none does.
        let alone = |construct: &&Construct| {
            others.len() == 1 || disagreement(ast, &respelled(text, [*construct]), budget).is_some()
        };
        let mut guilty: Vec<&Construct> = others.iter().filter(alone).collect();
        if guilty.is_empty() {
            guilty = others.iter().collect();
        }
        found.extend(guilty.into_iter().map(|construct| Found {
            warned: warned(construct),
            construct: construct.clone(),
            frame: Some(frame.clone()),
        }));
    }
    if !ends.is_empty() && pattern.rust_fault().is_none() {
        found.extend(ends.into_iter().map(|construct| Found {
            construct,
            frame: None,
            warned: false,
        }));
    }
    found
}

/// A frame of printable ASCII that only one of the engines claims, confirmed by running both, and
/// whether it is Python.
fn difference(
    pattern: &Pattern<'_>,
    constructs: &[Construct],
    budget: Budget,
) -> Option<(String, bool)> {
    let ast = pattern.ast().ok()?;
    // Not kept: no other rule runs it, and it may take megabytes.
    let rust = compile_rust(pattern.text()).ok()?;
    // What CPython makes of it, whoever the consumer is.
    let matcher = Matcher::new(ast);
    let confirmed = |frame: String| {
        let rust = rust.is_match(&frame).ok()?;
        let python = match matcher.search(&frame) {
            Outcome::Match(..) => true,
            Outcome::None => false,
            Outcome::GaveUp => return None,
        };
        (rust != python).then_some((frame, python))
    };
    let other = respelled(pattern.text(), constructs);
    if let Some(found) = disagreement(ast, &other, budget).and_then(confirmed) {
        return Some(found);
    }
    // References and questions about groups are beyond what can be compared; short frames are tried one by one.
    if !is_undecidable(&ast.root) {
        return None;
    }
    let mut pieces = Vec::new();
    collect_pieces(&ast.root, &mut pieces);
    collect_pieces(&parse(&other, Versions::ALL).ok()?.root, &mut pieces);
    // Both engines backtrack much alike, so the steps of one stand for those of both. Where either gives up the
    // next frames would take as long.
    let quick = compile_for_short(pattern.text()).ok()?;
    let mut left = u32::try_from(budget.states).unwrap_or(u32::MAX).saturating_mul(STEPS_PER_STATE);
    for frame in short_frames(pieces) {
        let chars: Vec<char> = frame.chars().collect();
        let (outcome, steps) = matcher.search_within(&chars, left, Lead::Full);
        left -= steps.min(left);
        let python = match outcome {
            Outcome::Match(..) => true,
            Outcome::None => false,
            Outcome::GaveUp => return None,
        };
        if quick.is_match(&frame).ok()? != python {
            return Some((frame, python));
        }
    }
    None
}

fn is_undecidable(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Backreference(..) | NodeKind::Conditional(..))
        || children(node).any(is_undecidable)
}

/// The texts that a pattern spells out, and a character of each set, of printable ASCII.
fn collect_pieces(node: &Node, pieces: &mut Vec<String>) {
    let mut push = |piece: String| {
        let fits = !piece.is_empty() && piece.bytes().all(|b| (b' '..=b'~').contains(&b));
        if fits && pieces.len() < MAX_PIECES && !pieces.contains(&piece) {
            pieces.push(piece);
        }
    };
    match &node.kind {
        NodeKind::Literal(c, _) => push(c.to_string()),
        NodeKind::Class(class, _) => {
            for item in &class.items {
                push(match item.kind {
                    ClassItemKind::Single(c) | ClassItemKind::Range(c, _) => c.to_string(),
                    ClassItemKind::Perl(PerlClass::Digit) => "0".to_owned(),
                    ClassItemKind::Perl(PerlClass::Space) => " ".to_owned(),
                    ClassItemKind::Perl(PerlClass::Word) => "a".to_owned(),
                    ClassItemKind::NotPerl(_) => "-".to_owned(),
                });
            }
        }
        NodeKind::Concat(parts) => {
            let is_literal = |part: &Node| matches!(part.kind, NodeKind::Literal(..));
            for run in parts.chunk_by(|a, b| is_literal(a) == is_literal(b)) {
                let text = run.iter().filter_map(|part| match part.kind {
                    NodeKind::Literal(c, _) => Some(c),
                    _ => None,
                });
                push(text.collect());
            }
        }
        _ => {}
    }
    if let NodeKind::Concat(parts) = &node.kind {
        // A run is one piece; its characters alone matter where it is short.
        let literals = parts.iter().filter(|part| matches!(part.kind, NodeKind::Literal(..)));
        let skip = literals.count() > MAX_RUN;
        for part in parts.iter().filter(|part| !skip || !matches!(part.kind, NodeKind::Literal(..)))
        {
            collect_pieces(part, pieces);
        }
    } else {
        for child in children(node) {
            collect_pieces(child, pieces);
        }
    }
}

/// Frames of one piece, of two, and so on, at most [`MAX_FRAMES`].
fn short_frames(mut pieces: Vec<String>) -> impl Iterator<Item = String> {
    for common in ["a", "b", "-", " "] {
        if !pieces.iter().any(|piece| piece == common) {
            pieces.push(common.to_owned());
        }
    }
    let base = pieces.len();
    // A frame is a number whose digits are pieces, without a zero: 1, 2, … 11, 12, …
    (1..=MAX_FRAMES).map(move |mut number| {
        let mut frame = Vec::new();
        while number > 0 {
            number -= 1;
            frame.push(number % base);
            number /= base;
        }
        frame.iter().rev().filter_map(|digit| pieces.get(*digit)).map(String::as_str).collect()
    })
}

/// A shortest frame of printable ASCII that only one of `ast` and `other` claims.
fn disagreement(ast: &Ast, other: &str, budget: Budget) -> Option<String> {
    let (a, b) = (printable(ast), printable(&parse(other, Versions::ALL).ok()?));
    let (a, b) = (Compiled::new(&a, budget), Compiled::new(&b, budget));
    match (a.within(&b), b.within(&a)) {
        (Answer::No(one), Answer::No(two)) => Some(if two.len() < one.len() { two } else { one }),
        (Answer::No(one), _) | (_, Answer::No(one)) => Some(one),
        _ => None,
    }
}

/// `ast` for frames of printable ASCII only: `\A(?=[ -~]*\Z)(?s:.*?)…`.
fn printable(ast: &Ast) -> Ast {
    let span = ast.root.span;
    let node = |kind| Node { span, kind };
    let many = |kind, body| {
        let repeat = Repeat { min: 0, max: None, kind, operator: span };
        node(NodeKind::Repeat(repeat, Box::new(body)))
    };
    let item = ClassItem { span, kind: ClassItemKind::Range(' ', '~') };
    let class = Class { negated: false, bracketed: true, items: vec![item] };
    let class = node(NodeKind::Class(Box::new(class), Flags::NONE));
    let end = node(NodeKind::Assertion(Assertion::TextEnd, Flags::NONE));
    let whole = node(NodeKind::Concat(vec![many(RepeatKind::Greedy, class), end]));
    let ahead = Look { behind: false, negative: false };
    let root = node(NodeKind::Concat(vec![
        node(NodeKind::Assertion(Assertion::TextStart, Flags::NONE)),
        node(NodeKind::Look(ahead, Box::new(whole))),
        many(RepeatKind::Lazy, node(NodeKind::Dot(Flags::DOT_ALL))),
        ast.root.clone(),
    ]));
    crate::pattern::measure::part(ast, root)
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    let construct = &found.construct;
    let text = place.pattern.text();
    let spelling = quoted(text.get(construct.span.range()).unwrap_or_default());
    let message = format!("{spelling} means something else to Python than to Rust's fancy-regex");
    let mut finding = findings.finding(message, place.label(construct.span, ""));
    finding.notes.push(format!("to Python it is {}", construct.python));
    finding.notes.push(format!("to fancy-regex it is {}", construct.rust));
    finding.notes.push(match &found.frame {
        Some((frame, true)) => format!("Python claims the frame `{frame}`, fancy-regex does not"),
        Some((frame, false)) => format!("fancy-regex claims the frame `{frame}`, Python does not"),
        None => "they differ before line feeds at the end of a text only, and no frame has any; \
                 `$` claims the same frames in both"
            .to_owned(),
    });
    if found.warned {
        finding.notes.push(
            "`re.compile` gives a FutureWarning: a later Python may read it in another way".into(),
        );
    }
    finding.with_fix(fix(place, construct))
}

/// The spelling that both engines read alike.
fn fix(place: PatternPlace<'_, '_>, construct: &Construct) -> Option<Fix> {
    let (plain, keeps) = construct.plain.as_ref()?;
    let edits: [(Span, String); 1] = [(construct.span, plain.clone())];
    parse(&edited(place.pattern.text(), &edits), Versions::ALL).ok()?;
    let message = match (keeps, &construct.spelled) {
        (_, None) => format!("spell it `{plain}`, which is the same for frames"),
        (true, _) => "spell what Python reads so that both read it".to_owned(),
        (false, _) => "spell what fancy-regex reads so that both read it".to_owned(),
    };
    Some(Fix {
        message,
        edits: place.edits(&edits),
        applicability: if *keeps { Applicability::Safe } else { Applicability::Unsafe },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Consumer;

    #[test]
    fn frames_are_tried_as_long_as_they_are_paid_for() {
        // A reference to a group is beyond the automata. Rust reads `&&` as what both sets have.
        let pattern = Pattern::new(r"(a)\1[b&&c]", Consumer::default());
        let found = |states| {
            let found = analyse(&pattern, Budget { states });
            found.first().and_then(|found| found.frame.clone())
        };
        assert_eq!(found(STATES), Some(("aab".to_owned(), true)));
        assert_eq!(found(10), None);
    }
}
