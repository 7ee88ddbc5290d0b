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

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

mod check;
pub mod cli;
pub mod config;
mod console;
pub mod diagnostic;
pub mod error;
pub mod evidence;
pub mod exit;
pub mod fix;
pub mod fixer;
pub mod input;
pub mod json;
mod known;
pub mod linter;
mod measure;
pub mod output;
pub mod overlap;
mod paths;
pub mod pattern;
pub mod query;
pub mod register;
pub mod report;
pub mod rules;
pub mod schema;
mod settings;
pub mod source;
pub mod span;
mod suggest;
pub mod workspace;
pub mod writer;

use cli::{Command, Options, SchemaName};
use console::{complain, written};
use error::Error;
use exit::ExitStatus;

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

fn execute(command: &Command, is_terminal: bool, out: &mut dyn Write) -> Result<ExitStatus, Error> {
    let clean = |result| written(result).map(|()| ExitStatus::Clean);
    match command {
        Command::Check(check) => check::check(check, is_terminal, out),
        Command::Overlap { patterns, batch, options } => {
            overlap(patterns, batch.as_deref(), options, is_terminal, out)
        }
        Command::Claims { frame, paths, options } => {
            claims(frame, paths, options, is_terminal, out)
        }
        Command::Evidence { paths, tokens, only_under, snapshot, options } => {
            let asked = measure::Asked {
                paths,
                tokens: *tokens,
                only_under: only_under.as_deref(),
                snapshot: snapshot.as_deref(),
                options,
            };
            measure::measure(&asked, out)
        }
        Command::Explain { rule: Some(name), .. } => {
            let rule = settings::find_rule(name)?;
            clean(out.write_all(rule.page.as_bytes()))
        }
        Command::Explain { rule: None, options } | Command::Rules { options } => {
            clean(output::catalogue(rules::RULES, options.format, out))
        }
        Command::Schema { of, .. } => clean(out.write_all(match of {
            SchemaName::Register => schema::REGISTER_SCHEMA.as_bytes(),
            SchemaName::Config => config::SCHEMA.as_bytes(),
            SchemaName::Report => output::REPORT_SCHEMA.as_bytes(),
            SchemaName::Evidence => output::EVIDENCE_SCHEMA.as_bytes(),
        })),
        Command::GenerateShellCompletion { shell, .. } => {
            clean(out.write_all(&cli::completions(*shell)))
        }
        Command::GenerateManPage { .. } => {
            clean(cli::man_page().and_then(|page| out.write_all(&page)))
        }
    }
}

/// `reglint overlap`: how two patterns lie to each other, or many pairs of them.
fn overlap(
    patterns: &[String],
    batch: Option<&Path>,
    options: &Options,
    is_terminal: bool,
    out: &mut dyn Write,
) -> Result<ExitStatus, Error> {
    let config = settings::configure(options, &settings::working_folder()?)?;
    settings::for_answers(options, &config)?;
    without_evidence(options)?;
    let view = console::view(options, is_terminal);
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
    let folder = settings::working_folder()?;
    let config = settings::configure(options, &folder)?;
    settings::for_answers(options, &config)?;
    without_evidence(options)?;
    let input = input::read(&input::Request {
        paths,
        stdin_filename: options.stdin_filename.as_deref(),
        force_exclude: options.force_exclude,
        config: &config,
        folder: &folder,
    });
    let found = query::claims(&input.sources, frame, config.consumer);
    let view = console::view(options, is_terminal);
    written(output::claims(&found, frame, &input.sources, options.format, &view, out))?;
    written(out.flush())?;
    let failed = !input.errors.is_empty();
    for error in input.errors {
        complain(&error);
    }
    Ok(if failed { ExitStatus::Failure } else { ExitStatus::Clean })
}

/// Refuses evidence where nothing would be asked of it.
fn without_evidence(options: &Options) -> Result<(), Error> {
    if options.evidence.is_empty() {
        return Ok(());
    }
    let message = "`--evidence` is for `reglint check` and `reglint evidence`".to_owned();
    Err(Error::Usage { message, hint: None })
}
