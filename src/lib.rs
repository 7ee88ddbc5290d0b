//! reglint validates and lints hypothesis registers: JSON files whose hypotheses name, by a
//! regular expression, the profiler frame that a performance claim is measured on.
//!
//! Data goes one way:
//!
//! ```text
//! arguments ─ cli ─ config ─▶ settings
//!   paths ─ input ─▶ sources (text, lines, columns)
//!     text ─ json ─▶ document with spans ─ schema ─▶ violations
//!       document ─ register ─▶ hypotheses, pattern slots
//!         registers ─ workspace ─▶ indexes, each distinct pattern parsed once (pattern)
//!           workspace ─ rules ─▶ diagnostics ─ report ─▶ levels, order, counts
//!             report ─ fixer ─▶ fixed sources, linted again ─ writer ─▶ files
//!               report ─ output ─▶ text, concise, json, sarif, github ─▶ exit status
//! ```
//!
//! Parsing never fails: it gives a value and errors. A finding is a [`diagnostic::Diagnostic`], a
//! failure to work is an [`error::Error`], and a bug is a panic. `ARCHITECTURE.md` has the
//! invariants and the layers.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod error;
pub mod exit;
pub mod fix;
pub mod fixer;
pub mod input;
pub mod json;
pub mod linter;
pub mod output;
pub mod overlap;
pub mod pattern;
pub mod query;
pub mod register;
pub mod report;
pub mod rules;
pub mod schema;
pub mod source;
pub mod span;
mod suggest;
pub mod workspace;
pub mod writer;

use cli::{ColorChoice, Command, Options, SchemaName};
use config::Config;
use error::Error;
use exit::ExitStatus;
use fix::Applicability;
use fixer::Outcome;
use output::Format;
use report::{Levels, Report};
use rules::Rule;
use schema::Schema;
use source::{Role, Sources};
use span::FileId;

/// Runs the command line `arguments`, the program's name first, on the process's own streams.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let cli = match cli::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to be told where even this cannot be printed.
            let _ = error.print();
            return if error.use_stderr() { ExitStatus::Failure } else { ExitStatus::Clean };
        }
    };
    let stdout = io::stdout().lock();
    let is_terminal = stdout.is_terminal();
    let mut out = BufWriter::new(stdout);
    let result = execute(&cli.command, is_terminal, &mut out);
    let flushed = written(out.flush());
    match result.and_then(|status| flushed.map(|()| status)) {
        Ok(status) => status,
        Err(error) => {
            complain(&error);
            ExitStatus::Failure
        }
    }
}

/// The result of writing output. Where nobody reads on (`reglint … | head -1`), nothing is wrong.
fn written(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Write(error)),
        _ => Ok(()),
    }
}

fn execute(command: &Command, is_terminal: bool, out: &mut dyn Write) -> Result<ExitStatus, Error> {
    let clean = |result| written(result).map(|()| ExitStatus::Clean);
    match command {
        Command::Check(check) => self::check(check, is_terminal, out),
        Command::Overlap { patterns, batch, options } => {
            overlap(patterns, batch.as_deref(), options, is_terminal, out)
        }
        Command::Claims { frame, paths, options } => {
            claims(frame, paths, options, is_terminal, out)
        }
        Command::Explain { rule: Some(name), .. } => {
            let rule = find_rule(name)?;
            clean(out.write_all(rule.page.as_bytes()))
        }
        Command::Explain { rule: None, options } | Command::Rules { options } => {
            clean(output::catalogue(rules::RULES, options.format, out))
        }
        Command::Schema { of, .. } => clean(out.write_all(match of {
            SchemaName::Register => schema::REGISTER_SCHEMA.as_bytes(),
            SchemaName::Config => config::SCHEMA.as_bytes(),
            SchemaName::Report => output::REPORT_SCHEMA.as_bytes(),
        })),
        Command::GenerateShellCompletion { shell, .. } => {
            clean(out.write_all(&cli::completions(*shell)))
        }
        Command::GenerateManPage { .. } => {
            clean(cli::man_page().and_then(|page| out.write_all(&page)))
        }
    }
}

/// `reglint check`: the whole pipeline.
fn check(check: &cli::Check, is_terminal: bool, out: &mut dyn Write) -> Result<ExitStatus, Error> {
    let options = &check.options;
    let folder = working_folder()?;
    let config = configure(options, &folder)?;
    let levels = levels(options, &config)?;
    let schema = options.schema.as_deref().map(read_schema).transpose()?;

    let input = input::read(&input::Request {
        paths: &check.paths,
        stdin_filename: options.stdin_filename.as_deref(),
        force_exclude: options.force_exclude,
        config: &config,
        folder: &folder,
    });
    let lint_options = linter::Options {
        levels: &levels,
        schema: schema.as_ref().unwrap_or_else(|| Schema::embedded()),
        consumer: config.consumer,
    };
    let view = view(options, is_terminal);
    let input::Input { mut sources, stdin, mut errors } = input;
    // Standard input that is fixed goes on to standard output; findings are then told beside it.
    let fixes_stdin = options.fix && !options.diff && stdin.is_some();
    let mut changes = false;
    let report = if options.fix || options.diff {
        let trust = if options.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
        let outcome = fixer::fix(&mut sources, &lint_options, trust);
        if options.diff {
            changes = !outcome.changed.is_empty();
            written(show_diff(&outcome, &sources, is_terminal, out))?;
        } else {
            if let Some(source) = stdin.map(|file| sources.get(file)) {
                if source.is_exact() {
                    written(out.write_all(source.text().as_bytes()))?;
                } else {
                    let words = io::Error::other("what was read is not UTF-8");
                    let path = source.path().to_owned();
                    errors.push(Error::WriteFile { path, source: words });
                }
            }
            save(&outcome, &sources, stdin, &check.paths, &mut errors);
        }
        written(out.flush())?;
        warn(&outcome, &sources);
        outcome.report
    } else {
        linter::lint(&sources, &lint_options)
    };
    if options.diff {
        if !options.quiet {
            tell(&would_fix(report.summary.fixed));
        }
    } else if fixes_stdin {
        let view = output::Options { color: false, ..view };
        let mut stderr = BufWriter::new(io::stderr().lock());
        written(output::write(options.format, &report, &sources, &view, &mut stderr))?;
        written(stderr.flush())?;
    } else {
        written(output::write(options.format, &report, &sources, &view, out))?;
    }
    for (format, path) in &options.output {
        if let Err(error) = write_report(*format, path, &report, &sources, options) {
            errors.push(error);
        }
    }
    // Findings first, then what could not be checked, also where both streams are one terminal.
    written(out.flush())?;
    // A gate that checks nothing must not look green, unless exclusions are asked to do just that.
    let nothing = report.summary.registers == 0 && errors.is_empty();
    if nothing && !options.force_exclude {
        complain(&Error::Usage {
            message: "no register found in what was named".to_owned(),
            hint: None,
        });
        return Ok(ExitStatus::Failure);
    }
    let failed = !errors.is_empty();
    for mut error in errors {
        if let Error::Read { path, source, hint } = &mut error
            && source.kind() == io::ErrorKind::NotFound
        {
            *hint = hint_for(path);
        }
        complain(&error);
    }
    let found = if options.diff { changes } else { report.summary.errors > 0 };
    Ok(if failed {
        ExitStatus::Failure
    } else if found && !options.exit_zero {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    })
}

/// `reglint overlap`: how two patterns lie to each other, or many pairs of them.
fn overlap(
    patterns: &[String],
    batch: Option<&Path>,
    options: &Options,
    is_terminal: bool,
    out: &mut dyn Write,
) -> Result<ExitStatus, Error> {
    let config = configure(options, &working_folder()?)?;
    let view = view(options, is_terminal);
    if let [a, b] = patterns {
        let answer = query::overlap(a, b, config.consumer);
        if let Err(query::Refusal(message)) = answer {
            return Err(Error::Usage { message, hint: None });
        }
        written(output::relation(&answer, options.format, &view, out))?;
        return Ok(ExitStatus::Clean);
    }
    let mut status = ExitStatus::Clean;
    let mut number = 0;
    for lines in input::Lines::open(batch.unwrap_or(Path::new("-")))? {
        let lines = lines?;
        for answer in query::overlaps(&lines, config.consumer) {
            number += 1;
            if let Err(query::Refusal(why)) = &answer {
                complain(&Error::Usage { message: format!("line {number}: {why}"), hint: None });
                status = ExitStatus::Failure;
            }
            written(output::relation(&answer, options.format, &view, out))?;
        }
    }
    Ok(status)
}

/// `reglint claims`: who claims a frame.
fn claims(
    frame: &str,
    paths: &[PathBuf],
    options: &Options,
    is_terminal: bool,
    out: &mut dyn Write,
) -> Result<ExitStatus, Error> {
    if frame.is_empty() || frame.chars().any(char::is_control) {
        let message = "a frame is not empty and has no control characters".to_owned();
        return Err(Error::Usage { message, hint: None });
    }
    let folder = working_folder()?;
    let config = configure(options, &folder)?;
    let input = input::read(&input::Request {
        paths,
        stdin_filename: options.stdin_filename.as_deref(),
        force_exclude: options.force_exclude,
        config: &config,
        folder: &folder,
    });
    let found = query::claims(&input.sources, frame, config.consumer);
    let view = view(options, is_terminal);
    written(output::claims(&found, frame, &input.sources, options.format, &view, out))?;
    written(out.flush())?;
    let failed = !input.errors.is_empty();
    for error in input.errors {
        complain(&error);
    }
    Ok(if failed { ExitStatus::Failure } else { ExitStatus::Clean })
}

fn working_folder() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|source| Error::Read {
        path: ".".to_owned(),
        source,
        hint: None,
    })
}

/// How the output is to look.
fn view(options: &Options, is_terminal: bool) -> output::Options {
    output::Options {
        color: is_coloured(options.color, is_terminal),
        width: terminal_width(is_terminal),
        quiet: options.quiet,
        unsafe_fixes: options.unsafe_fixes,
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

/// Writes the files that fixing changed. One that cannot be written never hides another.
fn save(
    outcome: &Outcome,
    sources: &Sources,
    stdin: Option<FileId>,
    paths: &[PathBuf],
    errors: &mut Vec<Error>,
) {
    if outcome.changed.keys().all(|file| Some(*file) == stdin) {
        return;
    }
    let bounds = writer::Bounds::new(sources, paths);
    for (&file, before) in &outcome.changed {
        if Some(file) != stdin
            && let Err(error) = writer::write(sources.get(file), before, &bounds)
        {
            errors.push(error);
        }
    }
}

/// Says what fixing left alone, and why.
fn warn(outcome: &Outcome, sources: &Sources) {
    let found: BTreeSet<FileId> =
        outcome.report.diagnostics.iter().map(|found| found.primary.file).collect();
    for &file in &outcome.report.sealed {
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
    if outcome.unsettled {
        let rounds = fixer::MAX_ROUNDS;
        tell(&format!("fixes did not come to an end in {rounds} rounds; another run goes on"));
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

/// The configuration that the options ask for, with their exclusions.
fn configure(options: &Options, folder: &Path) -> Result<Config, Error> {
    let mut config = match &options.config {
        Some(path) => Config::load(path, folder)?,
        None if options.isolated => Config::none(folder.to_path_buf()),
        None => Config::discover(folder)?,
    };
    for glob in &options.exclude {
        config.exclude.add(glob).map_err(|message| Error::Usage { message, hint: None })?;
    }
    Ok(config)
}

/// The level of each rule: the configuration's, then the command line's, the last word winning.
fn levels(options: &Options, config: &Config) -> Result<Levels, Error> {
    let mut levels = Levels::default();
    for &(rule, level) in &config.levels {
        levels.set(rule, level);
    }
    for (level, name) in &options.levels {
        if name == "warnings" {
            levels.set_warnings(*level);
        } else {
            levels.set(find_rule(name)?, *level);
        }
    }
    if !options.select.is_empty() {
        let selection: Result<Vec<_>, _> =
            options.select.iter().map(|name| find_rule(name)).collect();
        levels.select(&selection?);
    }
    Ok(levels)
}

fn find_rule(name: &str) -> Result<&'static Rule, Error> {
    config::find_rule(name).map_err(|(message, hint)| Error::Usage { message, hint })
}

/// The user's own schema.
fn read_schema(path: &Path) -> Result<Schema, Error> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: name.clone(),
        source,
        hint: None,
    })?;
    Schema::from_text(&text).map_err(|fault| {
        let source = source::Source::new(name, text.into_bytes());
        let at = source.position(fault.span.range().start, source::ColumnUnit::Scalar);
        Error::Invalid {
            place: format!("{}:{}:{}", source.path(), at.line, at.column),
            message: fault.message,
            hint: None,
        }
    })
}

/// Whether the text is coloured: as asked, else at a terminal that wants it (<https://no-color.org>).
fn is_coloured(choice: ColorChoice, is_terminal: bool) -> bool {
    let refused = || {
        std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
    };
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !refused(),
    }
}

/// How many columns the output has. Where it is no terminal, as many as lines are usually read at.
fn terminal_width(is_terminal: bool) -> usize {
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = if is_terminal { measured() } else { None };
    width.unwrap_or(output::Options::default().width)
}

/// What to say of a path that is not there and looks like a mistyped command.
fn hint_for(path: &str) -> Option<String> {
    let names: Vec<String> = cli::command_names().collect();
    suggest::nearest(path, names.iter().map(String::as_str))
        .map(|name| format!("did you mean the command `reglint {name}`?"))
}

/// Tells standard error why something could not be done.
fn complain(error: &Error) {
    tell(&error.to_string());
}

/// Tells standard error `text`, one line.
fn tell(text: &str) {
    let text = output::escape_line(text);
    // Nobody is left to be told where even this cannot be printed.
    let _ = writeln!(io::stderr().lock(), "reglint: {text}");
}
