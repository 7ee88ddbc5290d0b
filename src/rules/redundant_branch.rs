//! `redundant-branch`: a branch of an alternation that claims nothing of its own.

use ahash::AHashMap;

use super::{
    Check, Findings, FixAvailability, Level, PatternPlace, Rule, each_pattern, first_of, in_waves,
    quoted,
};
use crate::diagnostic::Diagnostic;
use crate::fix::{Applicability, Fix};
use crate::overlap::fuel::Fuel;
use crate::overlap::matcher::{Lead, Matcher, Outcome};
use crate::overlap::{
    Answer, Bound, Budget, Compiled, Finding, Kind, Member, Outline, Reason, Sample, Wanted, few,
    inclusions_among,
};
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

/// The states that all patterns of a run may visit, about, and each.
const ALL_STATES: u64 = 24_000_000;
const MOST_STATES: usize = 12_000_000;

/// How many are looked at at a time.
const WAVE: usize = 16;

/// From how many patterns on they are looked at on several threads.
const PER_THREAD: usize = 64;

/// How many parts of all patterns of a run may be copied and looked at, about, and of one at least and at
/// most.
const ALL_PARTS: usize = 4_000_000;
const LEAST_PARTS: usize = 20_000;
const MOST_PARTS: usize = 1_000_000;

/// What is said where that is not enough.
const TOO_LONG: &str = "the pattern is too long for all alternations within each other to be tried";

/// What is said of the patterns that are left where all have taken too many states.
const TOO_MUCH: &str = "the work of a run on branches is bounded";

/// How many steps of the matcher cost about as much as one state: it runs many short searches.
const STEPS_PER_STATE: u32 = 8;

/// What there is to say, in bytes of the pattern.
enum Found {
    /// A branch that is not needed.
    Branch {
        branch: Span,
        /// The branch that covers it; none where it claims nothing at all.
        by: Option<Span>,
        /// The branch and its bar.
        cut: Option<Span>,
        /// Whether not all branches of the pattern were tried.
        more: bool,
    },
    /// An alternation that was not looked at, and how many branches it has.
    TooMany(Span, usize),
}

/// An alternation of which it is not known whether all branches are needed, and why.
struct Open {
    pattern: PatternId,
    alternation: Span,
    why: String,
}

/// A branch, and the one that covers it, by their places in the alternation.
type Covered = (usize, Option<usize>);

fn check(workspace: &Workspace<'_>, findings: &mut Findings) {
    let patterns = workspace.patterns;
    let has_bar = |id: &PatternId| patterns.get(*id).text().contains('|');
    let ids: Vec<PatternId> = patterns.unusual().iter().copied().filter(has_bar).collect();
    let (seen, left) = in_waves(&ids, (WAVE, ALL_STATES), ids.len() >= PER_THREAD, |id| {
        let fuel = Fuel::new(MOST_STATES);
        let seen = analyse(workspace, id, &fuel);
        (seen, fuel.used() as u64)
    });
    let mut found: AHashMap<PatternId, Vec<Found>> = AHashMap::new();
    let mut open = Vec::new();
    for (id, (theirs, left)) in seen {
        open.extend(left);
        if !theirs.is_empty() {
            found.insert(id, theirs);
        }
    }
    let not_seen = |&id: &PatternId| {
        let mut alternations = Vec::new();
        collect(&patterns.tree(id)?.root, &mut alternations);
        let alternation = alternations.first()?.span;
        Some(Open { pattern: id, alternation, why: TOO_MUCH.to_owned() })
    };
    open.extend(left.iter().filter_map(not_seen));
    each_pattern(
        workspace,
        findings,
        |id, _| found.get(&id).into_iter().flatten(),
        |findings, place, found| report(findings, place, found),
    );
    give_up(workspace, &open, findings);
}

/// Says that patterns have branches that were not decided, at the first of them: in a rule set of large patterns
/// that may be each of them.
fn give_up(workspace: &Workspace<'_>, open: &[Open], findings: &mut Findings) {
    let ids = open.iter().map(|open| open.pattern);
    let Some((count, hypothesis, place)) = first_of(workspace, ids) else { return };
    let Some(first) = open.iter().find(|open| open.pattern == place.slot.pattern) else { return };
    let message = match count {
        1 => "whether all branches are needed here could not be decided".to_owned(),
        _ => format!("whether all branches of {count} patterns are needed could not be decided"),
    };
    let label = place.label(first.alternation, "");
    let mut finding = findings.finding(message, label).with_note(first.why.as_str());
    if count > 1 {
        finding.notes.push("this is the first of them".to_owned());
    }
    findings.push(finding.with_hypothesis(hypothesis.id()));
}

/// What there is to say of a pattern, and what is left of it where nothing is; paid from `fuel`.
fn analyse(workspace: &Workspace<'_>, id: PatternId, fuel: &Fuel) -> (Vec<Found>, Option<Open>) {
    let mut found = Vec::new();
    let pattern = workspace.patterns.get(id);
    let Some(ast) = workspace.patterns.tree(id) else { return (found, None) };
    let mut alternations = Vec::new();
    collect(&ast.root, &mut alternations);
    let mut context = Context {
        workspace,
        id,
        ast,
        fuel,
        tried: 0,
        reduced: Vec::new(),
        searched: 0,
        steps: steps(workspace.patterns.unusual().len()),
        size: parts(&ast.root),
        parts: (ALL_PARTS / workspace.patterns.unusual().len().max(1))
            .clamp(LEAST_PARTS, MOST_PARTS),
        bound: None,
        whole: None,
        is_beside_the_point: None,
    };
    // At which alternation a bound was met first, and which.
    let mut open: Option<(Span, String)> = None;
    for alternation in alternations {
        let NodeKind::Alternation(branches) = &alternation.kind else { continue };
        if branches.len() > MOST_BRANCHES {
            found.push(Found::TooMany(alternation.span, branches.len()));
            continue;
        }
        if context.reduced.iter().any(|gone| gone.contains(alternation.span)) {
            continue;
        }
        if !context.pay(parts(alternation)) {
            open = open.or(Some((alternation.span, TOO_LONG.to_owned())));
            break;
        }
        let (covered, met) = covered(ast, branches, workspace.patterns.unusual().len(), fuel);
        open = open.or(met.map(|met| (alternation.span, met)));
        let is_searched = is_searched(&ast.root, alternation);
        for (at, by) in covered {
            if context.is_needless(branches, at, is_searched) {
                found.extend(branches.get(at).map(|branch| Found::Branch {
                    branch: branch.span,
                    by: by.and_then(|by| branches.get(by)).map(|by| by.span),
                    cut: cut(pattern.text(), at, branch.span),
                    more: false,
                }));
            }
        }
        open = open.or(context.bound.take().map(|met| (alternation.span, met)));
    }
    let steps = steps(workspace.patterns.unusual().len()) - context.steps;
    fuel.spend((steps / STEPS_PER_STATE) as usize);
    match (found.last_mut(), open) {
        (Some(Found::Branch { more, .. }), Some(_)) => *more = true,
        // Of a pattern that is too large for every question, `undecided-overlap` speaks.
        (None, Some((alternation, why))) if !context.is_beside_the_point() => {
            return (found, Some(Open { pattern: id, alternation, why }));
        }
        _ => {}
    }
    (found, None)
}

/// Of how many parts a part is made.
fn parts(node: &Node) -> usize {
    1 + children(node).map(parts).sum::<usize>()
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

/// The bound that a reason is about.
fn bound(reason: &Reason) -> Option<String> {
    matches!(reason, Reason::Bound(_)).then(|| reason.to_string())
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

/// Which parts lie within which, and the bound that leaves some open.
fn within_by_index(
    parts: &[Ast],
    patterns: usize,
    fuel: &Fuel,
) -> (Vec<(usize, usize)>, Option<String>) {
    let references: Vec<&Ast> = parts.iter().collect();
    let (pairs, used) = inclusions_among(&references, budget(patterns), patterns);
    fuel.spend(used);
    let mut within = inclusions(&pairs.findings);
    for same in &pairs.same {
        if let [first, others @ ..] = same.as_slice() {
            within.extend(others.iter().map(|&other| (other, *first)));
        }
    }
    let open = pairs.findings.iter().filter_map(|finding| match &finding.relation.kind {
        Kind::Undecided(reason) => Some(reason),
        _ => None,
    });
    let left_out = (pairs.left_out > 0).then_some(&Reason::Bound(Bound::Total));
    let mut reasons = pairs.unknown.iter().map(|(_, reason)| reason).chain(open).chain(left_out);
    (within, reasons.find_map(bound))
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

/// The branches that, searched for alone, lie within another one that stays; of equal ones the later. Besides, the
/// bound that leaves some open.
fn covered(
    ast: &Ast,
    branches: &[Node],
    patterns: usize,
    fuel: &Fuel,
) -> (Vec<Covered>, Option<String>) {
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
        return (within.into_iter().map(|(a, b)| (a, Some(b))).collect(), None);
    }
    let parts: Vec<Ast> = branches.iter().map(|branch| part(ast, branch.clone())).collect();
    let plain = if parts.len() <= FEW { plainly_within(&parts) } else { None };
    let (found, bound) =
        plain.map_or_else(|| within_by_index(&parts, patterns, fuel), |found| (found, None));
    within.extend(found);
    within.sort_unstable();
    within.dedup_by_key(|(a, _)| *a);
    let mut all: Vec<Covered> = within.into_iter().map(|(a, b)| (a, Some(b))).collect();
    // The index passes over patterns that claim nothing.
    for (at, branch) in branches.iter().enumerate().take(MAX_TRIED) {
        let claims_nothing = || {
            let alone = part(ast, branch.clone());
            *Compiled::new(&alone, budget(patterns)).sample_paid(fuel) == Sample::None
        };
        if !surely_satisfiable(branch) && claims_nothing() {
            all.retain(|(a, _)| *a != at);
            all.push((at, None));
        }
    }
    all.sort_unstable();
    (all, bound)
}

/// What is known of the pattern around an alternation.
struct Context<'w, 'd> {
    workspace: &'w Workspace<'d>,
    id: PatternId,
    ast: &'w Ast,
    /// What searches are paid from.
    fuel: &'w Fuel,
    /// How many branches were tried in it.
    tried: usize,
    /// The branches that are gone already.
    reduced: Vec<Span>,
    /// How many took a search.
    searched: usize,
    /// How many steps the matcher may still take.
    steps: u32,
    /// Of how many parts it is made.
    size: usize,
    /// How many parts of it may still be copied and looked at; alternations in each other are looked at
    /// once for each that they stand in.
    parts: usize,
    /// A bound that left a branch open.
    bound: Option<String>,
    /// The pattern, for such searches.
    whole: Option<Compiled<'w>>,
    /// See [`Context::is_beside_the_point`], once it was asked.
    is_beside_the_point: Option<bool>,
}

impl Context<'_, '_> {
    /// Pays for so many parts; whether there are enough.
    fn pay(&mut self, parts: usize) -> bool {
        self.fuel.spend(parts);
        let left = self.parts.checked_sub(parts);
        self.parts = left.unwrap_or(self.parts);
        left.is_some()
    }

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
            self.bound = Some(format!("no more than {MAX_TRIED} branches of a pattern are tried"));
            return false;
        }
        if !self.pay(self.size) {
            self.bound = Some(TOO_LONG.to_owned());
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
        if self.is_beside_the_point() {
            return false;
        }
        if self.searched >= MAX_SEARCHED {
            self.bound =
                Some(format!("no more than {MAX_SEARCHED} branches of a pattern are searched for"));
            return false;
        }
        self.searched += 1;
        let budget = budget(self.workspace.patterns.unusual().len());
        let whole = self.whole.get_or_insert_with(|| Compiled::new(self.ast, budget));
        self.reduced.push(branch.span);
        let compiled = Compiled::new(&reduced, budget);
        let shown = match Compiled::new(&only, budget).sample_paid(self.fuel) {
            Sample::Frame(frame) => is_missed(frame, &mut self.steps),
            _ => false,
        };
        let mut answer = Answer::No(String::new());
        if !shown {
            answer = whole.within_paid(&compiled, self.fuel);
        }
        if answer == Answer::Yes {
            answer = compiled.within_paid(whole, self.fuel);
        }
        if let Answer::Undecided(reason) = &answer {
            self.bound = self.bound.take().or_else(|| bound(reason));
        }
        if answer != Answer::Yes {
            self.reduced.pop();
        }
        answer == Answer::Yes
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
    let (at, by, cut, more) = match *found {
        Found::Branch { branch, by, cut, more } => (branch, by, cut, more),
        Found::TooMany(alternation, count) => {
            let message = format!("{count} branches are more than are compared with each other");
            return findings
                .finding(message, place.label(Span::empty(alternation.start as usize), ""))
                .with_note(format!(
                    "alternations of up to {MOST_BRANCHES} branches are looked at"
                ));
        }
    };
    let text = |span: Span| quoted(place.pattern.text().get(span.range()).unwrap_or_default());
    let shown = if at.is_empty() { cut.unwrap_or(at) } else { at };
    let branch = if at.is_empty() { "the empty branch".into() } else { text(at) };
    let message = match by {
        None => format!("no frame satisfies the branch {branch}"),
        Some(by) if text(by) == branch => format!("the branch {branch} stands here twice"),
        Some(by) => {
            let by = if by.is_empty() { "the empty branch".into() } else { text(by) };
            format!("{branch} adds no frame to those that {by} lets this pattern claim")
        }
    };
    let mut finding = findings.finding(message, place.label(shown, ""));
    if let Some(by) = by.filter(|by| !by.is_empty()) {
        finding = finding.with_related(place.label(by, "it covers this"));
    }
    if more {
        finding.notes.push("not all branches of this pattern could be decided".to_owned());
    }
    finding.with_fix(cut.map(|cut| Fix {
        message: "remove the branch".to_owned(),
        edits: place.edits(&[(cut, String::new())]),
        applicability: Applicability::Safe,
    }))
}
