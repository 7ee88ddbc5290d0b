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
use output::Format;

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
            let asked =
                Asked { paths, tokens: *tokens, only_under: only_under.as_deref(), options };
            measure(&asked, snapshot.as_deref(), out)
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
    for_answers(options, &config)?;
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
    for_answers(options, &config)?;
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

/// What `reglint evidence` was asked.
struct Asked<'a> {
    paths: &'a [PathBuf],
    tokens: Option<u64>,
    only_under: Option<&'a str>,
    options: &'a Options,
}

/// `reglint evidence`: what the patterns measure, or a snapshot.
fn measure(
    asked: &Asked<'_>,
    snapshot: Option<&Path>,
    out: &mut dyn Write,
) -> Result<ExitStatus, Error> {
    let usage = |message: String| Error::Usage { message, hint: None };
    let options = asked.options;
    let folder = settings::working_folder()?;
    let config = settings::configure(options, &folder)?;
    for_answers(options, &config)?;
    let only_under = asked.only_under.map(|text| {
        let parsed = pattern::parse(text, pattern::Versions::ALL);
        parsed.map_err(|fault| usage(format!("`--only-under` is no pattern: {}", fault.message)))
    });
    let only_under = only_under.transpose()?;
    let input = input::read(&input::Request {
        paths: asked.paths,
        stdin_filename: options.stdin_filename.as_deref(),
        force_exclude: options.force_exclude,
        config: &config,
        folder: &folder,
    });
    let mut errors = input.errors;
    let sets = input::evidence::read(&options.evidence, &config, &folder);
    let evidence = sets.unwrap_or_else(|failed| {
        errors.extend(failed);
        evidence::Sets::default()
    });
    if !errors.is_empty() {
        errors.iter().for_each(complain);
        return Ok(ExitStatus::Failure);
    }
    let families = settings::families(&input.sources, &config, &folder);
    let request = query::evidence::Request {
        sources: &input.sources,
        families: &families,
        evidence: &evidence,
        consumer: config.consumer,
        only_under: only_under.as_ref(),
    };
    let failed = |failure| refusal(failure, &input.sources);
    if let Some(path) = snapshot {
        let (evidence, kept) = query::evidence::kept(&request).map_err(failed)?;
        write_snapshot(path, evidence, &kept, options.quiet, out)?;
    } else {
        let tables = query::evidence::measure(&request).map_err(failed)?;
        written(output::measured(&tables, asked.tokens, &input.sources, options.format, out))?;
    }
    Ok(ExitStatus::Clean)
}

/// Why `reglint evidence` has no answer, and what can be done.
fn refusal(failure: query::evidence::Failure, sources: &source::Sources) -> Error {
    use query::evidence::Failure;
    let usage = |message: String, hint: &str| Error::Usage { message, hint: Some(hint.to_owned()) };
    match failure {
        Failure::Units(file) => usage(
            format!(
                "the traces about `{}` count in nanoseconds and in samples, which is no one table",
                sources.get(file).path()
            ),
            "name traces of one kind",
        ),
        Failure::Partial(name) => usage(
            format!("`--only-under` needs whole stacks, and the snapshot of `{name}` has none"),
            "name the trace itself",
        ),
        Failure::OnlyUnder => usage(
            "the search for the frames of `--only-under` took too many steps".to_owned(),
            "make it simpler",
        ),
        Failure::SeveralSets => usage(
            "these registers have different evidence, which no one snapshot holds".to_owned(),
            "name the registers of one family",
        ),
        Failure::NoRegister => usage(
            "no register with a hypothesis found in what was named".to_owned(),
            "`reglint check` says what is wrong with them",
        ),
        Failure::NoEvidence => usage(
            "there is no evidence about these registers".to_owned(),
            "`--evidence PATH`, or `evidence` in reglint.toml",
        ),
    }
}

/// Writes a snapshot; `-` is standard output.
fn write_snapshot(
    path: &Path,
    evidence: &evidence::Evidence,
    kept: &[evidence::FrameId],
    is_quiet: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let name = path.display().to_string();
    let mut text = Vec::new();
    evidence::snapshot::write(evidence, kept, &mut text).map_err(|source| Error::Evidence {
        path: name.clone(),
        source,
        hint: Some("narrower patterns keep fewer stacks".to_owned()),
    })?;
    if path.as_os_str() == "-" {
        return written(out.write_all(&text));
    }
    if !input::evidence::is_free_for_snapshot(path) {
        let source = io::Error::other("there is a file, and it is no snapshot");
        return Err(Error::WriteFile { path: name, source });
    }
    writer::put(path, &text).map_err(|source| Error::WriteFile { path: name.clone(), source })?;
    if !is_quiet {
        let (frames, sources) = (evidence.frames().len(), evidence.sources().len());
        console::tell(&format!(
            "wrote `{name}`: {frames} frames of {sources} source{}",
            if sources == 1 { "" } else { "s" }
        ));
    }
    Ok(())
}

/// Refuses what makes sense for findings only: an answer is none.
fn for_answers(options: &Options, config: &config::Config) -> Result<(), Error> {
    // A rule that is not there is a mistake here as well.
    settings::levels(options, config)?;
    let message = match options.format {
        Format::Sarif | Format::Github => format!(
            "the format `{}` is for findings; an answer is `text`, `concise` or `json`",
            options.format.as_str()
        ),
        _ if options.fix || options.diff || !options.output.is_empty() => {
            "`--fix`, `--diff` and `--output` are for findings".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Error::Usage { message, hint: None })
}

/// Refuses evidence where nothing would be asked of it.
fn without_evidence(options: &Options) -> Result<(), Error> {
    if options.evidence.is_empty() {
        return Ok(());
    }
    let message = "`--evidence` is for `reglint check` and `reglint evidence`".to_owned();
    Err(Error::Usage { message, hint: None })
}
