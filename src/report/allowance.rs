//! Which findings the registers themselves allow.
//!
//! Uses `rules`, `workspace`, `register` and `diagnostic`.
//!
//! An allowance of a hypothesis silences a finding of its rule that has a place in that hypothesis,
//! the primary one or a related one. With `with`, only a finding that has a place in that other
//! hypothesis too; with `until`, only up to and on that day.

use ahash::AHashMap;

use crate::diagnostic::Diagnostic;
use crate::register::Date;
use crate::rules::{self, Judged, Outcome};
use crate::workspace::{Place, Workspace};

/// The hypotheses that a finding has a place in, in order, each once.
pub(super) fn hypotheses_of(workspace: &Workspace<'_>, diagnostic: &Diagnostic) -> Vec<Place> {
    let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.related);
    let mut places: Vec<Place> = labels
        .filter_map(|label| {
            let entry = workspace.entries.binary_search_by_key(&label.file, |it| it.file).ok()?;
            let hypothesis = workspace.entries.get(entry)?.hypothesis_number_at(label.span)?;
            Some(Place { entry, hypothesis })
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The allowances of a run.
#[derive(Debug)]
pub struct Allowances {
    list: Vec<Judged>,
    /// By the rule's place in the catalogue and the hypothesis: the index in `list`.
    of: AHashMap<(usize, Place), usize>,
}

impl Allowances {
    /// Those of the registers of `workspace` that name a rule.
    pub fn new(workspace: &Workspace<'_>) -> Self {
        let mut allowances = Self { list: Vec::new(), of: AHashMap::new() };
        for (place, hypothesis) in workspace.hypotheses() {
            for (number, allowance) in hypothesis.allowances.iter().enumerate() {
                let rule = rules::position(allowance.rule.value());
                if rule == rules::RULES.len() {
                    continue;
                }
                let outcome = match allowance.until.map(|until| Date::parse(until.value())) {
                    None => Outcome::Unused,
                    Some(Some(until)) if workspace.today <= until => Outcome::Unused,
                    Some(Some(_)) => Outcome::RunOut,
                    // A day that cannot be read is reported, and allows nothing.
                    Some(None) => continue,
                };
                allowances.of.insert((rule, place), allowances.list.len());
                allowances.list.push(Judged { place, allowance: number, outcome });
            }
        }
        allowances
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes out the findings that are allowed.
    pub fn apply(&mut self, workspace: &Workspace<'_>, diagnostics: &mut Vec<Diagnostic>) {
        if self.is_empty() {
            return;
        }
        diagnostics.retain(|diagnostic| !self.allows(workspace, diagnostic));
    }

    /// Whether a finding is allowed. Every allowance that does so counts as used.
    fn allows(&mut self, workspace: &Workspace<'_>, diagnostic: &Diagnostic) -> bool {
        let rule = rules::position(diagnostic.rule);
        let places = hypotheses_of(workspace, diagnostic);
        let mut is_allowed = false;
        for &place in &places {
            let Some(judged) = self.of.get(&(rule, place)).and_then(|&at| self.list.get_mut(at))
            else {
                continue;
            };
            let (_, hypothesis) = workspace.at(place);
            let with = hypothesis.allowances.get(judged.allowance).and_then(|it| it.with);
            // A finding that is about others too is not only about that one.
            let is_meant = with.is_none_or(|with| {
                let mut others = places.iter().filter(|it| **it != place).peekable();
                others.peek().is_some()
                    && others.all(|it| workspace.at(*it).1.id() == Some(with.value()))
            });
            if is_meant && judged.outcome != Outcome::RunOut {
                judged.outcome = Outcome::Used;
                is_allowed = true;
            }
        }
        is_allowed
    }

    /// What became of those that can be judged: of rules that ran, in registers that were asked for
    /// and could be read as a whole.
    pub fn judged(
        &self,
        workspace: &Workspace<'_>,
        ran: impl Fn(&'static rules::Rule) -> bool,
    ) -> Vec<Judged> {
        let can_be_judged = |judged: &&Judged| {
            let (entry, hypothesis) = workspace.at(judged.place);
            let Some(allowance) = hypothesis.allowances.get(judged.allowance) else { return false };
            // What is said of allowances is not known yet.
            let is_first = |rule: &rules::Rule| !matches!(rule.check, rules::Check::Allowances(_));
            let can_judge = |rule: &'static rules::Rule| {
                ran(rule) && is_first(rule) && rule.judges(workspace, entry, hypothesis, allowance)
            };
            // One for an id that is not there is reported as that.
            entry.is_asked_for()
                && entry.is_whole()
                && allowance.with.is_none_or(|with| workspace.find(with.value()).is_some())
                && rules::find(allowance.rule.value()).is_some_and(can_judge)
        };
        self.list.iter().filter(can_be_judged).copied().collect()
    }
}
