//! `dialect-mismatch`: a pattern that Python and Rust's fancy-regex compile and read in two ways.

use super::{
    Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, edited, quoted,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::matcher::Outcome;
use crate::overlap::{Answer, Budget, Compiled};
use crate::pattern::ast::{
    Assertion, Ast, Class, ClassItem, ClassItemKind, Flags, Look, Node, NodeKind, Repeat,
    RepeatKind,
};
use crate::pattern::dialects::{Construct, constructs, respelled};
use crate::pattern::{Pattern, Versions, parse};
use crate::register::PatternId;
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

/// The states that one comparison may hold.
const STATES: usize = 200_000;

/// A construct, and a frame of printable ASCII that only one of the engines claims.
struct Found {
    construct: Construct,
    /// The frame, and whether it is Python that claims it; none for `\Z`, which no frame tells apart.
    frame: Option<(String, bool)>,
    /// Whether CPython warns about the construct.
    warned: bool,
}

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    each_pattern(workspace, findings, |id, pattern| analyse(workspace, id, pattern), report);
}

fn analyse(workspace: &Workspace<'_>, id: PatternId, pattern: &Pattern<'_>) -> Vec<Found> {
    let text = pattern.text();
    let constructs = constructs(text);
    let Some(ast) = (!constructs.is_empty()).then(|| pattern.ast().ok()).flatten() else {
        return Vec::new();
    };
    let (ends, others): (Vec<_>, Vec<_>) =
        constructs.into_iter().partition(|construct| construct.spelled.is_none());
    let frame = if others.is_empty() { None } else { difference(workspace, id, pattern, &others) };
    let warned = |construct: &Construct| {
        ast.warnings.iter().any(|warning| construct.span.contains(warning.span))
    };
    let mut found = Vec::new();
    if let Some(frame) = frame {
        // Of several constructs, those that make a difference by themselves; all where none does.
        let alone = |construct: &&Construct| {
            others.len() == 1 || disagreement(ast, &respelled(text, [*construct])).is_some()
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
    if !ends.is_empty() && pattern.rust().is_ok() {
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
    workspace: &Workspace<'_>,
    id: PatternId,
    pattern: &Pattern<'_>,
    constructs: &[Construct],
) -> Option<(String, bool)> {
    let ast = pattern.ast().ok()?;
    let frame = disagreement(ast, &respelled(pattern.text(), constructs))?;
    let rust = pattern.rust().ok()?.is_match(&frame).ok()?;
    let python = match workspace.compiled(id)?.matcher().search(&frame) {
        Outcome::Match(..) => true,
        Outcome::None => false,
        Outcome::GaveUp => return None,
    };
    (rust != python).then_some((frame, python))
}

/// A shortest frame of printable ASCII that only one of `ast` and `other` claims.
fn disagreement(ast: &Ast, other: &str) -> Option<String> {
    let (a, b) = (printable(ast), printable(&parse(other, Versions::ALL).ok()?));
    let budget = Budget { states: STATES };
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
        None => "no frame has a line feed, so both claim the same frames".to_owned(),
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
    let whose = if *keeps { "Python" } else { "fancy-regex" };
    Some(Fix {
        message: format!("spell what {whose} reads so that both read it"),
        edits: place.edits(&edits),
        applicability: if *keeps { Applicability::Safe } else { Applicability::Unsafe },
    })
}
