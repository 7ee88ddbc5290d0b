//! `redundant-branch`: a branch of an alternation that claims nothing of its own.

use super::{
    Ask, Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, holds_alone,
    quoted,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::matcher::{Lead, Matcher, Outcome};
use crate::overlap::{
    Answer, Budget, Compiled, Finding, Kind, Member, Outline, Sample, Wanted, few, pairs_among,
};
use crate::pattern::Pattern;
use crate::pattern::ast::{Ast, Node, NodeKind};
use crate::pattern::measure::{
    children, part, plain_text, plain_text_without, surely_not_everywhere, surely_satisfiable,
};
use crate::pattern::required::member;
use crate::register::PatternId;
use crate::span::Span;
use crate::workspace::Workspace;

pub(super) const RULE: Rule = Rule {
    name: "redundant-branch",
    summary: "a branch of an alternation that another branch covers",
    default: Level::Warn,
    fix: FixAvailability::Sometimes,
    page: include_str!("../../docs/rules/redundant-branch.md"),
    check: Check::Workspace(check),
};

/// Up to how many branches each pair is looked at, where all are plain text. More go to the index.
const FEW: usize = 16;

/// Alternations of more branches than these are not looked at.
const MOST_BRANCHES: usize = 10_000;

/// The most branches of one pattern that are tried in their context; each costs two inclusions.
const MAX_TRIED: usize = 100;

/// The most of those that take searches of automata.
const MAX_SEARCHED: usize = 16;

/// Where trying a branch takes a search of its own, the most states it may hold.
const STATES: usize = 100_000;

/// How many steps of the matcher cost about as much as one state: it runs many short searches.
const STEPS_PER_STATE: u32 = 8;

/// A branch that is not needed, in bytes of the pattern.
struct Found {
    branch: Span,
    /// The branch that covers it; none where it claims nothing at all.
    by: Option<Span>,
    /// The branch and its bar.
    cut: Option<Span>,
    /// Whether not all branches of the pattern were tried.
    more: bool,
    /// Instead of all that: how many branches an alternation has that was not looked at.
    too_many: Option<usize>,
}

/// A branch, and the one that covers it, by their places in the alternation.
type Covered = (usize, Option<usize>);

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    each_pattern(workspace, findings, |id, pattern| analyse(workspace, id, pattern), report);
}

fn analyse(workspace: &Workspace<'_>, id: PatternId, pattern: &Pattern<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    if !pattern.text().contains('|') {
        return found;
    }
    let Some(ast) = workspace.patterns.tree(id) else { return found };
    let mut alternations = Vec::new();
    collect(&ast.root, &mut alternations);
    let mut context = Context {
        workspace,
        id,
        ast,
        tried: 0,
        reduced: Vec::new(),
        searched: 0,
        steps: steps(workspace.patterns.unusual().len()),
        whole: None,
        is_beside_the_point: None,
    };
    for alternation in alternations {
        let NodeKind::Alternation(branches) = &alternation.kind else { continue };
        if branches.len() > MOST_BRANCHES {
            let (branch, by, cut, more) = (alternation.span, None, None, false);
            found.push(Found { branch, by, cut, more, too_many: Some(branches.len()) });
            continue;
        }
        let covered = covered(ast, branches, workspace.patterns.unusual().len());
        let is_gone = context.reduced.iter().any(|gone| gone.contains(alternation.span));
        if covered.is_empty() || is_gone {
            continue;
        }
        let is_searched = is_searched(&ast.root, alternation);
        for (at, by) in covered {
            if context.is_needless(branches, at, is_searched) {
                found.extend(branches.get(at).map(|branch| Found {
                    branch: branch.span,
                    by: by.and_then(|by| branches.get(by)).map(|by| by.span),
                    cut: cut(pattern.text(), at, branch.span),
                    more: false,
                    too_many: None,
                }));
            }
        }
    }
    if let Some(last) = found.last_mut() {
        last.more = context.tried >= MAX_TRIED || context.searched >= MAX_SEARCHED;
    }
    found
}

/// The alternations in `node`, outer ones first.
fn collect<'a>(node: &'a Node, found: &mut Vec<&'a Node>) {
    if matches!(node.kind, NodeKind::Alternation(_)) {
        found.push(node);
    }
    for child in children(node) {
        if !matches!(child.kind, NodeKind::Literal(..)) {
            collect(child, found);
        }
    }
}

/// The budget of one search for one of so many patterns of a run.
fn budget(patterns: usize) -> Budget {
    Budget { states: Budget::among(patterns).states.min(STATES) }
}

/// The steps that the matcher may take for one of so many patterns of a run.
fn steps(patterns: usize) -> u32 {
    u32::try_from(budget(patterns).states).unwrap_or(u32::MAX).saturating_mul(STEPS_PER_STATE)
}

/// Whether `inner` is all that `node` searches for, brackets put aside: then a branch is needed or not whatever surrounds it.
fn is_searched(node: &Node, inner: &Node) -> bool {
    std::ptr::eq(node, inner)
        || matches!(&node.kind, NodeKind::Capture(_, body) | NodeKind::Group(body) if is_searched(body, inner))
}

/// Which parts lie within which, where that is plain to see for all pairs; `None` where it is not.
fn plainly_within(parts: &[Ast]) -> Option<Vec<(usize, usize)>> {
    let outlines: Vec<Outline> = parts.iter().map(Outline::new).collect();
    let member = |outline| match Outline::plain(outline) {
        Some(text) => Member::Text(text),
        None => Member::Other(outline),
    };
    let members: Vec<Member<'_>> = outlines.iter().map(member).collect();
    // Without an automaton: what would need one is left open.
    let seen = few(&members, &|_| None, &|_, _| Wanted::Inclusion);
    seen.open.is_empty().then(|| inclusions(&seen.findings))
}

/// Which parts lie within which.
fn within_by_index(parts: &[Ast], patterns: usize) -> Vec<(usize, usize)> {
    let references: Vec<&Ast> = parts.iter().collect();
    let pairs = pairs_among(&references, budget(patterns), patterns);
    let mut within = inclusions(&pairs.findings);
    for same in &pairs.same {
        if let [first, others @ ..] = same.as_slice() {
            within.extend(others.iter().map(|&other| (other, *first)));
        }
    }
    within
}

/// The inclusions among findings; of equal ones the later lies within the first.
fn inclusions(findings: &[Finding]) -> Vec<(usize, usize)> {
    let within = findings.iter().filter_map(|finding| match finding.relation.kind {
        Kind::Equal | Kind::BWithinA => Some((finding.b, finding.a)),
        Kind::AWithinB => Some((finding.a, finding.b)),
        Kind::Partial | Kind::None | Kind::Undecided(_) => None,
    });
    within.collect()
}

/// The branches that, searched for alone, lie within another one that stays; of equal ones the later.
fn covered(ast: &Ast, branches: &[Node], patterns: usize) -> Vec<Covered> {
    let texts: Option<Vec<String>> =
        if branches.len() <= FEW { branches.iter().map(plain_text).collect() } else { None };
    let mut within: Vec<(usize, usize)> = Vec::new();
    if let Some(texts) = texts {
        for (a, text) in texts.iter().enumerate() {
            let covers = |&(b, other): &(usize, &String)| {
                b != a && text.contains(other.as_str()) && (text != other || b < a)
            };
            within.extend(texts.iter().enumerate().find(covers).map(|(b, _)| (a, b)));
        }
        return within.into_iter().map(|(a, b)| (a, Some(b))).collect();
    }
    let parts: Vec<Ast> = branches.iter().map(|branch| part(ast, branch.clone())).collect();
    let plain = if parts.len() <= FEW { plainly_within(&parts) } else { None };
    within.extend(plain.unwrap_or_else(|| within_by_index(&parts, patterns)));
    within.sort_unstable();
    within.dedup_by_key(|(a, _)| *a);
    let mut all: Vec<Covered> = within.into_iter().map(|(a, b)| (a, Some(b))).collect();
    // The index passes over patterns that claim nothing.
    for (at, branch) in branches.iter().enumerate().take(MAX_TRIED) {
        if !surely_satisfiable(branch)
            && holds_alone(ast, branch, Ask::ClaimsNothing, budget(patterns))
        {
            all.retain(|(a, _)| *a != at);
            all.push((at, None));
        }
    }
    all.sort_unstable();
    all
}

/// What is known of the pattern around an alternation.
struct Context<'w, 'd> {
    workspace: &'w Workspace<'d>,
    id: PatternId,
    ast: &'w Ast,
    /// How many branches were tried in it.
    tried: usize,
    /// The branches that are gone already.
    reduced: Vec<Span>,
    /// How many took a search.
    searched: usize,
    /// How many steps the matcher may still take.
    steps: u32,
    /// The pattern, for such searches.
    whole: Option<Compiled<'w>>,
    /// See [`Context::is_beside_the_point`], once it was asked.
    is_beside_the_point: Option<bool>,
}

impl Context<'_, '_> {
    /// Whether another rule has more to say of the pattern, or nothing can be proven of it.
    fn is_beside_the_point(&mut self) -> bool {
        if let Some(known) = self.is_beside_the_point {
            return known;
        }
        let answer = self.has_another_fault();
        self.is_beside_the_point = Some(answer);
        answer
    }

    fn has_another_fault(&self) -> bool {
        let Some(compiled) = self.workspace.compiled(self.id) else { return true };
        !compiled.is_exact()
            || (!surely_not_everywhere(&self.ast.root)
                && compiled.claims_everything() == Answer::Yes)
            || (!surely_satisfiable(&self.ast.root) && compiled.claims_nothing() == Answer::Yes)
    }

    /// Whether the pattern claims the same frames without a branch, and without those found before.
    fn is_needless(&mut self, branches: &[Node], at: usize, is_searched: bool) -> bool {
        let Some(branch) = branches.get(at) else { return false };
        if is_searched {
            if self.is_beside_the_point() {
                return false;
            }
            self.reduced.push(branch.span);
            return true;
        }
        if self.tried >= MAX_TRIED {
            return false;
        }
        self.tried += 1;
        let mut gone = self.reduced.clone();
        gone.push(branch.span);
        let others: Vec<Span> =
            branches.iter().filter(|other| !std::ptr::eq(*other, branch)).map(|b| b.span).collect();
        let is_frame = |text: &str| !text.is_empty() && !text.contains(char::is_control);
        // Most branches are needed, and a frame that takes this one shows it.
        let root = &self.ast.root;
        if let Some(own) = plain_text_without(root, &others).filter(|own| is_frame(own))
            && plain_text_without(root, &gone).is_some_and(|rest| !own.contains(&rest))
        {
            return false;
        }
        let reduced = part(self.ast, without(root, &gone));
        let only = part(self.ast, without(root, &others));
        let matcher = Matcher::new(&reduced);
        let is_missed = |frame: &str, left: &mut u32| {
            let text: Vec<char> = frame.chars().collect();
            let (outcome, steps) = matcher.search_within(&text, *left / 2, Lead::Full);
            *left -= steps.min(*left);
            outcome == Outcome::None
        };
        if member(&only).is_some_and(|(text, certain)| {
            certain && is_frame(&text) && is_missed(&text, &mut self.steps)
        }) {
            return false;
        }
        if self.is_beside_the_point() || self.searched >= MAX_SEARCHED {
            return false;
        }
        self.searched += 1;
        let budget = budget(self.workspace.patterns.unusual().len());
        let whole = self.whole.get_or_insert_with(|| Compiled::new(self.ast, budget));
        self.reduced.push(branch.span);
        let compiled = Compiled::new(&reduced, budget);
        let shown = match Compiled::new(&only, budget).sample() {
            Sample::Frame(frame) => is_missed(frame, &mut self.steps),
            _ => false,
        };
        let same = !shown
            && whole.within(&compiled) == Answer::Yes
            && compiled.within(whole) == Answer::Yes;
        if !same {
            self.reduced.pop();
        }
        same
    }
}

/// `node` without the branches at these places.
fn without(node: &Node, gone: &[Span]) -> Node {
    let again = |body: &Node| Box::new(without(body, gone));
    let kind = match &node.kind {
        NodeKind::Look(look, body) => NodeKind::Look(*look, again(body)),
        NodeKind::Capture(number, body) => NodeKind::Capture(*number, again(body)),
        NodeKind::Group(body) => NodeKind::Group(again(body)),
        NodeKind::Atomic(body) => NodeKind::Atomic(again(body)),
        NodeKind::Repeat(repeat, body) => NodeKind::Repeat(*repeat, again(body)),
        NodeKind::Concat(parts) => {
            NodeKind::Concat(parts.iter().map(|part| without(part, gone)).collect())
        }
        NodeKind::Alternation(branches) => {
            let stays = |branch: &&Node| !gone.contains(&branch.span);
            let mut left: Vec<Node> =
                branches.iter().filter(stays).map(|branch| without(branch, gone)).collect();
            if left.len() == 1 {
                return left.swap_remove(0);
            }
            NodeKind::Alternation(left)
        }
        kind => kind.clone(),
    };
    Node { span: node.span, kind }
}

/// The characters to delete for a branch to be gone: it and the bar beside it.
fn cut(text: &str, at: usize, branch: Span) -> Option<Span> {
    let is_bar = |at: usize| text.as_bytes().get(at) == Some(&b'|');
    let range = branch.range();
    if at > 0 {
        let bar = range.start.checked_sub(1).filter(|&bar| is_bar(bar))?;
        Some(Span::new(bar, range.end))
    } else {
        is_bar(range.end).then(|| Span::new(range.start, range.end + 1))
    }
}

fn report(findings: &Findings, place: PatternPlace<'_, '_>, found: &Found) -> Diagnostic {
    if let Some(count) = found.too_many {
        let message = format!("{count} branches are more than are compared with each other");
        let first = Span { end: found.branch.start, ..found.branch };
        return findings
            .finding(message, place.label(first, ""))
            .with_note(format!("alternations of up to {MOST_BRANCHES} branches are looked at"));
    }
    let text = |span: Span| quoted(place.pattern.text().get(span.range()).unwrap_or_default());
    let shown =
        if found.branch.is_empty() { found.cut.unwrap_or(found.branch) } else { found.branch };
    let branch =
        if found.branch.is_empty() { "the empty branch".into() } else { text(found.branch) };
    let message = match found.by {
        None => format!("no frame satisfies the branch {branch}"),
        Some(by) if text(by) == branch => format!("the branch {branch} stands here twice"),
        Some(by) => {
            let by = if by.is_empty() { "the empty branch".into() } else { text(by) };
            format!("{branch} adds no frame to those that {by} lets this pattern claim")
        }
    };
    let mut finding = findings.finding(message, place.label(shown, ""));
    if let Some(by) = found.by.filter(|by| !by.is_empty()) {
        finding = finding.with_related(place.label(by, "it covers this"));
    }
    if found.more {
        finding
            .notes
            .push("not all branches of this pattern were tried: there are too many".to_owned());
    }
    finding.with_fix(found.cut.map(|cut| Fix {
        message: "remove the branch".to_owned(),
        edits: place.edits(&[(cut, String::new())]),
        applicability: Applicability::Safe,
    }))
}
