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
//!             report ─ output ─▶ text, concise, json ─▶ exit status
//! ```
//!
//! Parsing never fails: it gives a value and errors. A finding is a [`diagnostic::Diagnostic`], a
//! failure to work is an [`error::Error`], and a bug is a panic. `ARCHITECTURE.md` has the
//! invariants and the layers.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod error;
pub mod exit;
pub mod fix;
pub mod input;
pub mod json;
mod known;
pub mod linter;
pub mod output;
pub mod overlap;
mod paths;
pub mod pattern;
pub mod register;
pub mod report;
pub mod rules;
pub mod schema;
pub mod source;
pub mod span;
mod suggest;
pub mod workspace;

use cli::{ColorChoice, Command, Options, SchemaName};
use config::Config;
use error::Error;
use exit::ExitStatus;
use known::BaselineFile;
use register::Date;
use report::Levels;
use rules::Rule;
use schema::Schema;

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
    }
}

/// `reglint check`: the whole pipeline.
fn check(check: &cli::Check, is_terminal: bool, out: &mut dyn Write) -> Result<ExitStatus, Error> {
    let options = &check.options;
    let folder = std::env::current_dir().map_err(|source| Error::Read {
        path: ".".to_owned(),
        source,
        hint: None,
    })?;
    let config = configure(options, &folder)?;
    let levels = levels(options, &config)?;
    let schema = options.schema.as_deref().map(read_schema).transpose()?;
    let mut baseline = read_baseline(options, &config, &folder)?;
    let today = today()?;

    let mut input = input::read(&input::Request {
        paths: &check.paths,
        stdin_filename: options.stdin_filename.as_deref(),
        force_exclude: options.force_exclude,
        config: &config,
        folder: &folder,
    });
    let families = families(&input.sources, &config, &folder);
    let unread = unread_families(&input.errors, &config, &folder);
    let known = baseline.as_mut().map(|file| file.prepare(&input.sources, &folder));
    let mut report = linter::lint(
        &input.sources,
        &linter::Options {
            levels: &levels,
            schema: schema.as_ref().unwrap_or_else(|| Schema::embedded()),
            consumer: config.consumer,
            families: &families,
            unread: &unread,
            today,
            baseline: known,
        },
    );
    let mut notices = Vec::new();
    if let (Some(file), Some(outcome)) = (&baseline, &report.baseline) {
        if options.write_baseline {
            match file.write(outcome) {
                Ok(notice) => {
                    notices.push(notice);
                    report.forget_findings();
                }
                // The findings are shown all the same.
                Err(error) => input.errors.push(error),
            }
        } else {
            notices = file.notices(outcome);
        }
    }
    let view = output::Options {
        color: is_coloured(options.color, is_terminal),
        width: terminal_width(is_terminal),
        quiet: options.quiet,
    };
    written(output::write(options.format, &report, &input.sources, &view, out))?;
    // Findings first, then what could not be checked, also where both streams are one terminal.
    written(out.flush())?;
    // A gate that checks nothing must not look green, unless exclusions are asked to do just that.
    let nothing = report.summary.registers == 0 && input.errors.is_empty();
    if nothing && !options.force_exclude {
        complain(&Error::Usage {
            message: "no register found in what was named".to_owned(),
            hint: None,
        });
        return Ok(ExitStatus::Failure);
    }
    if !options.quiet {
        for notice in notices {
            say(&notice);
        }
    }
    let failed = !input.errors.is_empty();
    for mut error in input.errors {
        if let Error::Read { path, source, hint } = &mut error
            && source.kind() == io::ErrorKind::NotFound
        {
            *hint = hint_for(path);
        }
        complain(&error);
    }
    Ok(if failed {
        ExitStatus::Failure
    } else if report.summary.errors > 0 && !options.exit_zero {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    })
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

/// The families that the configuration gives, by source.
fn families(sources: &source::Sources, config: &Config, folder: &Path) -> Vec<Option<String>> {
    if config.families.is_empty() {
        return Vec::new();
    }
    let family = |path: &str| config.family(&paths::normalize(&folder.join(path)));
    sources.iter().map(|(_, source)| family(source.path()).map(str::to_owned)).collect()
}

/// The families of the files that could not be read, by the configuration and by their names.
fn unread_families(errors: &[Error], config: &Config, folder: &Path) -> Vec<String> {
    let path = |error: &Error| match error {
        Error::Read { path, .. } | Error::TooLarge { path, .. } => Some(path.clone()),
        _ => None,
    };
    let family = |path: String| {
        let configured = config.family(&paths::normalize(&folder.join(&path)));
        configured.map_or_else(|| linter::file_stem(&path).to_owned(), str::to_owned)
    };
    errors.iter().filter_map(path).map(family).collect()
}

/// Tells standard error why something could not be done.
fn complain(error: &Error) {
    say(&error.to_string());
}

/// Tells standard error something that is no finding.
fn say(text: &str) {
    let text = output::escape_line(text);
    // Nobody is left to be told where even this cannot be printed.
    let _ = writeln!(io::stderr().lock(), "reglint: {text}");
}
