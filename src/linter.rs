//! From sources to a report: the middle of the pipeline, pure and in memory.
//!
//! Uses everything below it; knows no file system, no command line and no output.

use std::sync::{LazyLock, OnceLock};

use ahash::AHashSet;
use rayon::prelude::*;

use crate::diagnostic::Diagnostic;
use crate::evidence::Sets;
use crate::json::{self, Document, Str};
use crate::pattern::Consumer;
use crate::register::{Date, Hypothesis, Register, Slot};
use crate::report::allowance::Allowances;
use crate::report::{self, Levels, Report, Summary, baseline};
use crate::rules::{Check, Findings, RULES, Rule};
use crate::schema::Schema;
use crate::source::{Role, Source, Sources};
use crate::span::FileId;
use crate::workspace::{self, Entry, Hidden, Patterns, Place, Workspace};

/// How to lint.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// Which rules run, and how bad their findings are.
    pub levels: &'a Levels,
    /// What a register has to look like.
    pub schema: &'a Schema,
    /// Whose dialect the patterns are written in.
    pub consumer: Consumer,
    /// By the number of a source: the family that the configuration gives its file, if it gives one.
    /// Sources behind its end have none.
    pub families: &'a [Option<String>],
    /// The families of files that should have been read and could not be, as far as they are known.
    pub unread: &'a [String],
    /// The day on which allowances are judged.
    pub today: Date,
    /// The real frames that the registers are held against.
    pub evidence: &'a Sets,
    /// The findings that are known and not to be reported.
    pub baseline: Option<baseline::Use<'a>>,
    /// The files that cannot be written, in ascending order: no fix may touch them.
    pub closed: &'a [FileId],
}

impl<'a> Options<'a> {
    /// Those of a run without a configuration, in which no allowance has run out.
    pub fn new(levels: &'a Levels, schema: &'a Schema) -> Self {
        static NONE: LazyLock<Sets> = LazyLock::new(Sets::default);
        Self {
            levels,
            schema,
            consumer: Consumer::default(),
            families: &[],
            unread: &[],
            today: Date::from_unix(0),
            evidence: &NONE,
            baseline: None,
            closed: &[],
        }
    }
}

/// Lints `sources` together.
pub fn lint(sources: &Sources, options: &Options<'_>) -> Report {
    lint_then(sources, options, For::Reading)
}

/// [`lint`] for what is to be fixed: it finds all that links would mend, and notes all errors, so that it shows
/// whether a fix brings up one.
pub fn lint_for_fixes(sources: &Sources, options: &Options<'_>) -> Report {
    lint_then(sources, options, For::Fixing)
}

/// [`lint`] for a process that ends soon: it leaves to the system what memory was taken, since giving
/// back what was made of many registers piece by piece takes a twentieth of the run.
pub fn lint_last(sources: &Sources, options: &Options<'_>) -> Report {
    lint_then(sources, options, For::Ending)
}

/// What a report is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// To be read.
    Reading,
    /// To be read by somebody who then ends the process.
    Ending,
    /// To fix what it says.
    Fixing,
}

fn lint_then(sources: &Sources, options: &Options<'_>, purpose: For) -> Report {
    let list: Vec<_> = sources.iter().collect();
    let spread = Spread::of(sources);
    // One after the other for each file, while what was read of it is at hand.
    let documents: Vec<OnceLock<Document<'_>>> = list.iter().map(|_| OnceLock::new()).collect();
    let documents_of: Vec<_> = list.iter().zip(&documents).collect();
    let entries: Vec<Option<Entry<'_>>> =
        spread.map(&documents_of, |&(&(file, source), document)| {
            let document = document.get_or_init(|| parse(source));
            is_checked(source, document).then(|| {
                let violations = violations(source, document, options.schema);
                let mut register = Register::read(document);
                if !source.encoding_faults().is_empty()
                    || !document.errors().is_empty()
                    || document.has_lone_surrogate()
                {
                    register.forget(|span| source.is_damaged(span));
                }
                let family = workspace::family(file, source, document, &register, options.families);
                Entry::new(file, source, document, violations, register, family)
            })
        });
    let read = |file: FileId| documents.get(file.index()).and_then(OnceLock::get);
    let mut hidden = Hidden::new(options.unread.to_vec());
    for (&(file, source), entry) in list.iter().zip(&entries) {
        if let Some(document) = read(file) {
            hidden.add(file, source, document, entry.as_ref(), options.families);
        }
    }
    let mut entries: Vec<_> = entries.into_iter().flatten().collect();
    let patterns = Patterns::intern(&mut entries, options.consumer);
    let mut workspace = Workspace::new(entries, &patterns, sources, options.consumer);
    workspace.hidden = hidden;
    workspace.today = options.today;
    // What a baseline knows is an entry for each that is shown, and no more.
    workspace.is_thorough = purpose == For::Fixing && options.baseline.is_none();

    let running: Vec<&'static Rule> =
        RULES.iter().filter(|rule| options.levels.runs(rule)).collect();
    if running.iter().any(|rule| rule.parses_all()) {
        spread.map(patterns.unusual(), |&id| patterns.get(id).ast().is_ok());
    }
    if running.iter().any(|rule| rule.takes_evidence()) {
        workspace.measure(options.evidence);
    }
    // What they share, the first that asks finds, and so that the others have something else to do
    // meanwhile, both kinds run side by side.
    let (found, found_by_all) = spread.join(
        || spread.map(&workspace.entries, |entry| check_entry(&workspace, entry, &running)),
        || {
            spread.map(&running, |&rule| {
                let mut findings = Findings::new(rule);
                if let Check::Workspace(check) = rule.check {
                    check(&workspace, &mut findings);
                }
                findings.into_vec()
            })
        },
    );
    let mut diagnostics: Vec<Diagnostic> =
        found.into_iter().chain(found_by_all).flatten().collect();
    let is_elsewhere = |found: &mut Diagnostic| !concerns_what_was_asked(sources, found);
    let mut elsewhere: Vec<_> = diagnostics.extract_if(.., is_elsewhere).collect();
    allow(&workspace, &running, options.levels, &mut diagnostics);
    let mut outcome = None;
    if let Some(baseline) = &options.baseline {
        diagnostics = report::in_order(diagnostics);
        outcome =
            Some(baseline.apply(&workspace, sources, &mut diagnostics, |rule, message, file| {
                let is_asked = |entry| {
                    rule.finds_all(&workspace, entry)
                        || message.is_some_and(|message| rule.needs_no_evidence(message))
                };
                // Of a register that does not parse most rules do not see all.
                options.levels.runs(rule)
                    && file.and_then(|file| workspace.entry_of(file)).is_none_or(|entry| {
                        is_asked(entry) && (entry.is_whole() || rule.reads_the_text())
                    })
            }));
    }
    let mut errors = Vec::new();
    if purpose == For::Fixing {
        allow(&workspace, &[], options.levels, &mut elsewhere);
        for found in [&diagnostics, &elsewhere] {
            errors.extend(report::faults(&workspace, found, options.levels));
        }
    }
    let is_sealed = |source, file| read(file).is_some_and(|document| is_sealed(source, document));
    let sealed = list.iter().filter(|(file, source)| {
        is_sealed(source, *file) || options.closed.binary_search(file).is_ok()
    });
    let sealed = sealed.map(|(file, _)| *file).collect();
    let report = Report::new(diagnostics, options.levels, count(&workspace), sealed);
    let uncovered = uncovered(&workspace);
    let unlike = patterns.unlike();
    let is_idle =
        |family: &&str| workspace.entries.iter().all(|entry| entry.family != Some(*family));
    let idle_families = options.evidence.families().filter(is_idle).map(str::to_owned).collect();
    let is_thorough = workspace.is_thorough && workspace.has_all_pairs();
    if purpose == For::Ending {
        std::mem::forget(workspace);
        std::mem::forget(patterns);
        std::mem::forget(documents);
    }
    Report { baseline: outcome, uncovered, unlike, idle_families, errors, is_thorough, ..report }
}

/// Whether no fix may touch a source: nobody asked for it, it does not parse, or its bytes are not its
/// text.
fn is_sealed(source: &Source, document: &Document<'_>) -> bool {
    source.role() == Role::Context || !document.errors().is_empty() || !source.is_exact()
}

/// Takes out the findings that the registers allow, and adds what is wrong with the allowances.
fn allow(
    workspace: &Workspace<'_>,
    running: &[&'static Rule],
    levels: &Levels,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let lost = lost_allowances(workspace);
    if !lost.is_empty() {
        diagnostics.retain(|diagnostic| !may_be_allowed(workspace, &lost, diagnostic));
    }
    let mut allowances = Allowances::new(workspace);
    if allowances.is_empty() {
        return;
    }
    allowances.apply(workspace, diagnostics);
    for &rule in running {
        if let Check::Allowances(check) = rule.check {
            let judged = allowances.judged(workspace, |rule| levels.runs(rule));
            let mut findings = Findings::new(rule);
            check(workspace, &judged, &mut findings);
            let mut found = findings.into_vec();
            allowances.apply(workspace, &mut found);
            diagnostics.append(&mut found);
        }
    }
}

/// The hypotheses with allowances of which it is not known what they allow, each with the rule if that
/// is known: those that could not be read, and those for another hypothesis where the id of one could not.
fn lost_allowances<'d>(workspace: &Workspace<'d>) -> Vec<(Place, Option<&'d str>)> {
    let mut all = Vec::new();
    for (number, entry) in workspace.entries.iter().enumerate() {
        if entry.is_whole() {
            continue;
        }
        let hypotheses = &entry.register.hypotheses;
        let ids: AHashSet<_> = hypotheses.iter().filter_map(Hypothesis::id).collect();
        let is_nameless = hypotheses.iter().any(|it| it.id().is_none());
        for (hypothesis, it) in hypotheses.iter().enumerate() {
            let place = Place { entry: number, hypothesis };
            all.extend(it.lost_allowances.iter().map(|rule| (place, *rule)));
            let names_lost = |with: Str<'_>| is_nameless && !ids.contains(with.value());
            let lost = it.allowances.iter().filter(|it| it.with.is_some_and(names_lost));
            all.extend(lost.map(|it| (place, Some(it.rule.value()))));
        }
    }
    all
}

/// Whether one of the allowances that could not be read may be for this finding.
fn may_be_allowed(
    workspace: &Workspace<'_>,
    lost: &[(Place, Option<&str>)],
    diagnostic: &Diagnostic,
) -> bool {
    // What is wrong with a text stays wrong.
    if ["invalid-json", "invalid-encoding", "duplicate-key", "schema-violation"]
        .contains(&diagnostic.rule)
    {
        return false;
    }
    std::iter::once(&diagnostic.primary).chain(&diagnostic.related).any(|label| {
        let Some(entry) = workspace.entry_of(label.file) else { return false };
        let Some(number) = entry.hypothesis_number_at(label.span) else { return false };
        let place = workspace.place(entry, number);
        let first = lost.partition_point(|(it, _)| *it < place);
        let mut own = lost[first..].iter().take_while(|(it, _)| *it == place);
        own.any(|(_, rule)| match rule {
            Some(rule) => *rule == diagnostic.rule,
            // A pattern that does not compile stays wrong, too, unless the register allows one somewhere.
            None => diagnostic.rule != "invalid-pattern" || names_invalid_pattern(entry),
        })
    })
}

/// Whether a register names the rule, or a half of its name where a mistake split that.
fn names_invalid_pattern(entry: &Entry<'_>) -> bool {
    ["\"invalid-", "-pattern\""].iter().any(|half| entry.source.text().contains(half))
}

/// The JSON of a source. Of bytes that are no text at all nothing more is said.
fn parse(source: &Source) -> Document<'_> {
    json::parse(if source.is_text() { source.text() } else { "null" })
}

/// Whether a source is treated as a register: one that was named always is, one that was found in
/// a folder where it has a `hypotheses` member or does not parse, a sibling only where it is whole.
fn is_checked(source: &Source, document: &Document<'_>) -> bool {
    let has_hypotheses = || document.root().is_some_and(|top| top.get("hypotheses").is_some());
    let broken = !document.errors().is_empty() || !source.is_text();
    match source.role() {
        Role::Named => true,
        Role::Found => broken || has_hypotheses(),
        Role::Context => !broken && has_hypotheses(),
    }
}

/// Where a source breaks the schema. Nothing where the bytes are no text, nor where a file that was
/// merely found does not parse and shows no sign of being a register.
fn violations(
    source: &Source,
    document: &Document<'_>,
    schema: &Schema,
) -> Vec<crate::schema::Violation> {
    let stray = source.role() == Role::Found
        && !document.errors().is_empty()
        && document.root().and_then(|top| top.get("hypotheses")).is_none();
    if stray || !source.is_text() { Vec::new() } else { schema.violations(document) }
}

fn check_entry(
    workspace: &Workspace<'_>,
    entry: &Entry<'_>,
    running: &[&'static Rule],
) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for &rule in running {
        let mut findings = Findings::new(rule);
        match rule.check {
            Check::Entry(check) => check(workspace, entry, &mut findings),
            Check::Evidence(check, _) => {
                check(workspace, entry, workspace.measured(entry), &mut findings);
            }
            Check::Workspace(_) | Check::Allowances(_) => continue,
        }
        all.append(&mut findings.into_vec());
    }
    all
}

/// Whether any place of a finding lies in a file that the user asked for.
fn concerns_what_was_asked(sources: &Sources, diagnostic: &Diagnostic) -> bool {
    std::iter::once(&diagnostic.primary)
        .chain(&diagnostic.related)
        .any(|label| sources.get(label.file).role() != Role::Context)
}

/// How many patterns claim no symbol of lists that do not cover them, where there is no trace either.
fn uncovered(workspace: &Workspace<'_>) -> usize {
    let of = |entry: &Entry<'_>| {
        let Some(measured) = workspace.measured(entry) else { return 0 };
        if measured.traces().next().is_some() {
            return 0;
        }
        let is_uncovered = |slot: &&Slot<'_>| {
            measured.frames(slot.pattern).is_some_and(<[_]>::is_empty)
                && measured.covering(workspace.patterns, slot.pattern).is_none()
        };
        entry.register.slots().filter(is_uncovered).count()
    };
    workspace.entries.iter().map(of).sum()
}

fn count(workspace: &Workspace<'_>) -> Summary {
    let asked = || workspace.entries.iter().filter(|entry| entry.source.role() != Role::Context);
    Summary {
        registers: asked().count(),
        hypotheses: asked().map(|entry| entry.register.hypotheses.len()).sum(),
        patterns: asked().map(|entry| entry.register.slots().count()).sum(),
        ..Summary::default()
    }
}

/// Whether work is spread over threads: starting them costs more than a small run takes.
#[derive(Clone, Copy)]
struct Spread(bool);

impl Spread {
    /// So many bytes are checked before a second thread pays off.
    const WORTH_A_THREAD: usize = 128 * 1024;

    fn of(sources: &Sources) -> Self {
        let bytes: usize = sources.iter().map(|(_, source)| source.text().len()).sum();
        // One large register is worth it too: its own rules and those of all run side by side.
        Self(bytes >= Self::WORTH_A_THREAD)
    }

    /// Both, side by side where work is spread.
    fn join<A: Send, B: Send>(
        self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        if self.0 { rayon::join(a, b) } else { (a(), b()) }
    }

    fn map<'i, T: Sync, R: Send>(
        self,
        items: &'i [T],
        each: impl Fn(&'i T) -> R + Sync + Send,
    ) -> Vec<R> {
        if self.0 { items.par_iter().map(each).collect() } else { items.iter().map(each).collect() }
    }
}
