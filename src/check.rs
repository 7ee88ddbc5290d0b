//! `reglint check`: the whole pipeline, from paths to the exit status.
//!
//! Uses `cli`, `console`, `settings`, and everything from `input` to `output`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::cli::{self, Options};
use crate::config::{self, Config};
use crate::console::{self, complain, tell, written};
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::fix::Applicability;
use crate::fixer::{self, Outcome};
use crate::known::BaselineFile;
use crate::output::{self, Format};
use crate::register::Date;
use crate::report::{Levels, Report};
use crate::rules::RULES;
use crate::schema::Schema;
use crate::source::{Role, Sources};
use crate::span::FileId;
use crate::{input, linter, paths, settings, suggest, workspace, writer};

/// Runs the whole pipeline: reads, checks, fixes where that is asked, and shows what is left.
pub(crate) fn check(
    check: &cli::Check,
    is_terminal: bool,
    out: &mut dyn Write,
) -> Result<ExitStatus, Error> {
    let options = &check.options;
    let folder = settings::working_folder()?;
    let config = settings::configure(options, &folder)?;
    let levels = settings::levels(options, &config)?;
    let schema = options.schema.as_deref().map(settings::read_schema).transpose()?;
    settings::distinct_outputs(options, &folder)?;
    let mut baseline = read_baseline(options, &config, &folder)?;
    let today = today()?;

    let input = input::read(&input::Request {
        paths: &check.paths,
        stdin_filename: options.stdin_filename.as_deref(),
        force_exclude: options.force_exclude,
        config: &config,
        folder: &folder,
    });
    let families = settings::families(&input.sources, &config, &folder);
    let unread = unread_families(&input, &config, &folder);
    let (evidence, unusable) = evidence(options, &config, &levels, &folder);
    let input::evidence::Read { sets: evidence, notices } = evidence;
    let mut errors = input.errors;
    errors.extend(unusable);
    let baseline_path = baseline.as_ref().map(|file| file.path().to_path_buf());
    let lint_options = linter::Options {
        levels: &levels,
        schema: schema.as_ref().unwrap_or_else(|| Schema::embedded()),
        consumer: config.consumer,
        families: &families,
        unread: &unread,
        today,
        evidence: &evidence,
        baseline: baseline.as_mut().map(|file| file.prepare(&input.sources, &folder)),
        closed: &[],
    };
    let mut run = Run {
        check,
        is_terminal,
        sources: input.sources,
        stdin: input.stdin,
        passed_over_stdin: input.passed_over_stdin,
        errors,
        notices,
        has_changes: false,
        inputs: Inputs { config: &config, baseline: baseline_path, folder: &folder },
    };
    let mut report = if options.fix || options.diff {
        run.fix(&lint_options, out)?
    } else {
        linter::lint_last(&run.sources, &lint_options)
    };
    // Where all registers were asked for, such a family is a slip.
    for family in report.idle_families.iter().filter(|_| check.paths.is_empty()) {
        run.notices
            .push(format!("there is evidence about the family `{family}`, and no register of it"));
    }
    if report.uncovered > 0 {
        let what = match report.uncovered {
            1 => "1 pattern names what the evidence does not cover".to_owned(),
            count => format!("{count} patterns name what the evidence does not cover"),
        };
        run.notices.push(format!("{what}, so nothing is said of it; see `reglint evidence`"));
    }
    if report.unlike > 0 {
        let what = match report.unlike {
            1 => "1 pattern".to_owned(),
            count => format!("{count} patterns"),
        };
        run.notices.push(format!(
            "fancy-regex may read {what} otherwise than Python does, so the rules about claims and overlaps pass over them"
        ));
    }
    if let Some(file) = &baseline {
        run.keep_baseline(file, &mut report);
    }
    run.show(&report, out)?;
    Ok(run.conclude(&report))
}

/// What a run has at hand behind its settings.
struct Run<'a> {
    check: &'a cli::Check,
    is_terminal: bool,
    sources: Sources,
    /// The source that standard input is.
    stdin: Option<FileId>,
    /// Whether standard input was named, and is not checked.
    passed_over_stdin: bool,
    /// What could not be done; it never hides a finding.
    errors: Vec<Error>,
    /// What standard error is told that is no finding and no failure.
    notices: Vec<String>,
    /// Whether fixes changed a file.
    has_changes: bool,
    inputs: Inputs<'a>,
}

/// What a run reads besides registers.
struct Inputs<'a> {
    config: &'a Config,
    /// Where the baseline is or will be.
    baseline: Option<PathBuf>,
    /// The working folder.
    folder: &'a Path,
}

impl Inputs<'_> {
    /// What `path` leads to, if it is something that the run reads, so that no report may take its place.
    fn what_is(&self, path: &Path, options: &Options, sources: &Sources) -> Option<&'static str> {
        let is = |other: &Path| paths::is_same(path, other, self.folder);
        if is_source(path, sources) {
            return Some("one of the files that are checked");
        }
        if self.config.file.as_deref().is_some_and(is) {
            return Some("the configuration");
        }
        if self.baseline.as_deref().is_some_and(is) {
            return Some("the baseline");
        }
        if options.schema.as_deref().is_some_and(is) {
            return Some("the schema");
        }
        let is_named = options.evidence.iter().any(|named| is(&named.path));
        (is_named || self.is_configured_evidence(path)).then_some("evidence")
    }

    fn is_configured_evidence(&self, path: &Path) -> bool {
        let root = &self.config.root;
        let absolute = paths::normalize(&self.folder.join(path));
        let from_root = paths::from_folder(&absolute, root);
        absolute.exists()
            && self.config.evidence.iter().any(|evidence| {
                paths::is_same(&absolute, &root.join(&evidence.glob), self.folder)
                    || config::path_glob(&evidence.glob).is_ok_and(|it| it.is_match(&from_root))
            })
    }
}

impl Run<'_> {
    fn options(&self) -> &Options {
        &self.check.options
    }

    /// Applies fixes and writes the files, or shows the difference; gives what is left.
    fn fix(
        &mut self,
        lint_options: &linter::Options<'_>,
        out: &mut dyn Write,
    ) -> Result<Report, Error> {
        let (outcome, closed) = self.fix_what_can_be_written(lint_options);
        if self.options().diff {
            self.has_changes = !outcome.changed.is_empty();
            written(show_diff(&outcome, &self.sources, self.is_terminal, out))?;
        } else if self.passed_over_stdin {
            written(input::copy_stdin(out))?;
        } else if let Some(source) = self.stdin.map(|file| self.sources.get(file)) {
            if source.is_exact() {
                written(out.write_all(source.text().as_bytes()))?;
            } else {
                let words = io::Error::other("what was read is not UTF-8");
                let path = source.path().to_owned();
                self.errors.push(Error::WriteFile { path, source: words });
            }
        }
        written(out.flush())?;
        warn(&outcome, &closed, &self.sources);
        Ok(outcome.report)
    }

    /// Fixes the sources and, unless only the difference is wanted, writes the files. A file that cannot be
    /// written is an error and stays as it is on disk: then everything is fixed anew without it, so that what is
    /// reported is what is there. Gives those files too, in ascending order.
    fn fix_what_can_be_written(&mut self, options: &linter::Options<'_>) -> (Outcome, Vec<FileId>) {
        let is_bold = self.options().unsafe_fixes;
        let trust = if is_bold { Applicability::Unsafe } else { Applicability::Safe };
        let mut bounds = None;
        let mut closed: Vec<FileId> = Vec::new();
        // The texts that this run has written.
        let mut disk: BTreeMap<FileId, String> = BTreeMap::new();
        // Each round but the last closes one file more.
        loop {
            let options = linter::Options { closed: &closed, ..options.clone() };
            let outcome = fixer::fix(&mut self.sources, &options, trust);
            if disk.is_empty() && outcome.changed.keys().all(|file| Some(*file) == self.stdin) {
                return (outcome, closed);
            }
            let paths = &self.check.paths;
            let bounds = bounds.get_or_insert_with(|| writer::Bounds::new(&self.sources, paths));
            let mut failed = self.unwritable(&outcome, bounds);
            if failed.is_empty() && !self.options().diff {
                failed = self.save(&outcome, bounds, &mut disk);
            }
            if failed.is_empty() {
                return (outcome, closed);
            }
            for (file, before) in outcome.changed {
                self.sources.replace(file, before);
            }
            for file in failed {
                if let Some(text) = disk.remove(&file) {
                    self.sources.replace(file, text);
                }
                if let Err(at) = closed.binary_search(&file) {
                    closed.insert(at, file);
                }
            }
        }
    }

    /// The changed files of which it shows before they are written that they cannot be.
    fn unwritable(&mut self, outcome: &Outcome, bounds: &writer::Bounds) -> Vec<FileId> {
        let files = outcome.changed.keys().filter(|file| Some(**file) != self.stdin);
        let mut failed = Vec::new();
        for &file in files {
            if let Err(error) = writer::check(self.sources.get(file), bounds) {
                self.errors.push(error);
                failed.push(file);
            }
        }
        failed
    }

    /// Writes the files that fixing changed, and gives those that could not be. One that cannot be written never
    /// hides another. `disk` has what an earlier call wrote.
    fn save(
        &mut self,
        outcome: &Outcome,
        bounds: &writer::Bounds,
        disk: &mut BTreeMap<FileId, String>,
    ) -> Vec<FileId> {
        let files: BTreeSet<FileId> = outcome.changed.keys().chain(disk.keys()).copied().collect();
        let mut failed = Vec::new();
        for file in files.into_iter().filter(|file| Some(*file) != self.stdin) {
            let source = self.sources.get(file);
            let before = disk.get(&file).or_else(|| outcome.changed.get(&file));
            let Some(before) = before.filter(|before| *before != source.text()) else { continue };
            match writer::write(source, before, bounds) {
                Ok(()) => {
                    disk.insert(file, source.text().to_owned());
                }
                Err(error) => {
                    self.errors.push(error);
                    failed.push(file);
                }
            }
        }
        failed
    }

    /// Writes the baseline where that is asked, or notes what it did.
    fn keep_baseline(&mut self, file: &BaselineFile, report: &mut Report) {
        let Some(outcome) = &report.baseline else { return };
        if !self.options().write_baseline {
            self.notices.extend(file.notices(outcome));
            return;
        }
        match file.write(outcome) {
            Ok(notice) => {
                self.notices.push(notice);
                report.forget_findings();
            }
            // The findings are shown all the same.
            Err(error) => self.errors.push(error),
        }
    }

    /// Shows the findings, here and in the files that were asked for.
    fn show(&mut self, report: &Report, out: &mut dyn Write) -> Result<(), Error> {
        let options = self.options();
        let view = console::view(options, self.is_terminal);
        if options.diff {
            if !options.quiet {
                tell(&would_fix(report.summary.fixed));
            }
        } else if options.fix && (self.stdin.is_some() || self.passed_over_stdin) {
            // Standard input that was fixed has gone on to standard output.
            let view = output::Options { color: false, ..view };
            let mut stderr = BufWriter::new(io::stderr().lock());
            written(output::write(options.format, report, &self.sources, &view, &mut stderr))?;
            written(stderr.flush())?;
        } else {
            written(output::write(options.format, report, &self.sources, &view, out))?;
        }
        let failed: Vec<Error> = options
            .output
            .iter()
            .filter_map(|(format, path)| {
                if let Some(what) = self.inputs.what_is(path, options, &self.sources) {
                    let source = io::Error::other(format!("it is {what}"));
                    return Some(Error::WriteFile { path: path.display().to_string(), source });
                }
                write_report(*format, path, report, &self.sources, options).err()
            })
            .collect();
        self.errors.extend(failed);
        // Findings first, then what could not be checked, also where both streams are one terminal.
        written(out.flush())
    }

    /// Says what could not be done, and how the run ends.
    fn conclude(mut self, report: &Report) -> ExitStatus {
        let errors = std::mem::take(&mut self.errors);
        let options = self.options();
        // A gate that checks nothing must not look green, unless exclusions are asked to do just that.
        let nothing = report.summary.registers == 0 && errors.is_empty();
        if nothing && !options.force_exclude {
            let message = "no register found in what was named".to_owned();
            complain(&Error::Usage { message, hint: None });
            return ExitStatus::Failure;
        }
        if !options.quiet {
            self.notices.iter().for_each(|notice| tell(notice));
        }
        let has_failed = !errors.is_empty();
        for mut error in errors {
            if let Error::Read { path, source, hint } = &mut error
                && source.kind() == io::ErrorKind::NotFound
            {
                *hint = hint_for(path);
            }
            complain(&error);
        }
        let found = if options.diff { self.has_changes } else { report.summary.errors > 0 };
        if has_failed {
            ExitStatus::Failure
        } else if found && !options.exit_zero {
            ExitStatus::Findings
        } else {
            ExitStatus::Clean
        }
    }
}

/// Prints what fixing changed in each file. At a terminal it is for reading, and shows no character that
/// a terminal obeys; elsewhere it is for `patch`, byte by byte.
fn show_diff(
    outcome: &Outcome,
    sources: &Sources,
    is_terminal: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (&file, before) in &outcome.changed {
        let source = sources.get(file);
        let path = output::escape_line(source.path());
        let diff = writer::diff(&path, before, source.text());
        if is_terminal {
            for line in diff.lines() {
                writeln!(out, "{}", output::escape_line(line))?;
            }
        } else {
            out.write_all(diff.as_bytes())?;
        }
    }
    Ok(())
}

/// How many fixes that were withheld are named.
const MOST_WITHHELD: usize = 10;

/// Says what fixing left alone, and why.
fn warn(outcome: &Outcome, closed: &[FileId], sources: &Sources) {
    let found: BTreeSet<FileId> =
        outcome.report.diagnostics.iter().map(|found| found.primary.file).collect();
    // Why a file cannot be written is said with the errors.
    for file in outcome.report.sealed.iter().filter(|file| closed.binary_search(file).is_err()) {
        let file = *file;
        let source = sources.get(file);
        if source.role() != Role::Context && found.contains(&file) {
            let why = if source.is_exact() { "does not parse" } else { "is not UTF-8" };
            tell(&format!("`{}` {why}, so no fix touches it", source.path()));
        }
    }
    for &file in &outcome.spoiled {
        let path = sources.get(file).path();
        tell(&format!(
            "a fix would leave `{path}` so that it does not parse, and was not applied; please report this"
        ));
    }
    for withheld in outcome.withheld.iter().take(MOST_WITHHELD) {
        let (path, other) = (sources.get(withheld.file).path(), sources.get(withheld.error_file));
        let place = if withheld.file == withheld.error_file {
            String::new()
        } else {
            format!(" in `{}`", other.path())
        };
        tell(&format!(
            "`{path}`: the fix \"{}\" would lead to an error{place} ({}), and was not applied",
            withheld.message, withheld.error
        ));
    }
    if outcome.withheld.len() > MOST_WITHHELD {
        let more = outcome.withheld.len() - MOST_WITHHELD;
        tell(&format!("{more} more fixes would lead to errors, and were not applied"));
    }
    if outcome.unsettled {
        tell("there are more fixes than one run applies; another run goes on");
    }
}

/// The last line of `--diff`.
fn would_fix(number: usize) -> String {
    match number {
        0 => "nothing would be fixed".to_owned(),
        1 => "would fix 1 finding".to_owned(),
        _ => format!("would fix {number} findings"),
    }
}

/// Whether a path leads to one of the files that were read.
fn is_source(path: &Path, sources: &Sources) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let name = path.file_name();
    sources.iter().any(|(_, source)| {
        let other = Path::new(source.path());
        other.file_name() == name && other.canonicalize().is_ok_and(|other| other == path)
    })
}

/// Writes a report into a file of its own, as it would be printed where no terminal is.
fn write_report(
    format: Format,
    path: &Path,
    report: &Report,
    sources: &Sources,
    options: &Options,
) -> Result<(), Error> {
    let view = output::Options {
        quiet: options.quiet,
        unsafe_fixes: options.unsafe_fixes,
        ..output::Options::default()
    };
    let write = || {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        output::write(format, report, sources, &view, &mut file)?;
        file.flush()
    };
    write().map_err(|source| Error::WriteFile { path: path.display().to_string(), source })
}

/// What to say of a path that is not there and looks like a mistyped command.
fn hint_for(path: &str) -> Option<String> {
    let names: Vec<String> = cli::command_names().collect();
    suggest::nearest(path, names.iter().map(String::as_str))
        .map(|name| format!("did you mean the command `reglint {name}`?"))
}

/// The baseline that the options or the configuration name.
fn read_baseline(
    options: &Options,
    config: &Config,
    folder: &Path,
) -> Result<Option<BaselineFile>, Error> {
    let (name, path) = match (&options.baseline, &config.baseline) {
        (Some(path), _) => (path.display().to_string(), folder.join(path)),
        (None, Some(path)) => {
            let absolute = paths::normalize(&config.root.join(path));
            (paths::from_folder(&absolute, folder), absolute)
        }
        (None, None) if options.write_baseline => {
            return Err(Error::Usage {
                message: "`--write-baseline` does not know where".to_owned(),
                hint: Some("`--baseline FILE`, or `baseline` in reglint.toml".to_owned()),
            });
        }
        (None, None) => return Ok(None),
    };
    BaselineFile::read(name, &path, options.write_baseline).map(Some)
}

/// The day in UTC, or the one that `REGLINT_TODAY` says it is: runs that are to be repeated set it.
fn today() -> Result<Date, Error> {
    if let Some(value) = std::env::var_os("REGLINT_TODAY").filter(|value| !value.is_empty()) {
        let value = value.to_string_lossy();
        return Date::parse(&value).ok_or_else(|| Error::Usage {
            message: format!("`REGLINT_TODAY` is `{value}`, and not a day"),
            hint: Some("as in `2027-03-31`".to_owned()),
        });
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Ok(Date::from_unix(now.map_or(0, |since| since.as_secs())))
}

/// The evidence of a run in which a rule asks for some, and why there is none.
fn evidence(
    options: &Options,
    config: &Config,
    levels: &Levels,
    folder: &Path,
) -> (input::evidence::Read, Vec<Error>) {
    if !RULES.iter().any(|rule| rule.takes_evidence() && levels.runs(rule)) {
        return (input::evidence::Read::default(), Vec::new());
    }
    match input::evidence::read(&options.evidence, config, folder) {
        Ok(read) => (read, Vec::new()),
        Err(errors) => (input::evidence::Read::default(), errors),
    }
}

/// The families of the files that could not be read, by the configuration and by their names.
fn unread_families(input: &input::Input, config: &Config, folder: &Path) -> Vec<String> {
    let named = input.errors.iter().filter_map(|error| match error {
        Error::Read { path, .. } | Error::TooLarge { path, .. } => Some(path.clone()),
        _ => None,
    });
    let siblings = input.unread.iter().map(|path| path.display().to_string());
    let family = |path: String| {
        let configured = config.family(&paths::normalize(&folder.join(&path)));
        configured.map_or_else(|| workspace::file_stem(&path).to_owned(), str::to_owned)
    };
    named.chain(siblings).map(family).collect()
}
