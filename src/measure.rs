//! `reglint evidence`: what the patterns measure in traces, or a snapshot of those.
//!
//! Uses `cli`, `console`, `settings`, `query`, and everything from `input` to `output`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::Options;
use crate::console::{self, complain, written};
use crate::error::Error;
use crate::evidence::{Evidence, FrameId, snapshot};
use crate::exit::ExitStatus;
use crate::source::Sources;
use crate::{input, output, pattern, query, settings, writer};

/// What `reglint evidence` was asked.
pub(crate) struct Asked<'a> {
    /// The registers.
    pub(crate) paths: &'a [PathBuf],
    /// How many tokens a trial is of.
    pub(crate) tokens: Option<u64>,
    /// A pattern: only samples below a frame that it claims.
    pub(crate) only_under: Option<&'a str>,
    /// Where to write a snapshot, in the place of an answer; `-` is standard output.
    pub(crate) snapshot: Option<&'a Path>,
    /// What is common to all commands.
    pub(crate) options: &'a Options,
}

/// `reglint evidence`: what the patterns measure, or a snapshot.
pub(crate) fn measure(asked: &Asked<'_>, out: &mut dyn Write) -> Result<ExitStatus, Error> {
    let usage = |message: String| Error::Usage { message, hint: None };
    let options = asked.options;
    let folder = settings::working_folder()?;
    let config = settings::configure(options, &folder)?;
    settings::for_answers(options, &config)?;
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
    let read = input::evidence::read(&options.evidence, &config, &folder);
    let read = read.unwrap_or_else(|failed| {
        errors.extend(failed);
        input::evidence::Read::default()
    });
    let evidence = read.sets;
    read.notices.iter().for_each(|notice| console::tell(notice));
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
    if let Some(path) = asked.snapshot {
        let (evidence, kept) = query::evidence::kept(&request).map_err(failed)?;
        write_snapshot(path, evidence, &kept, options.quiet, out)?;
    } else {
        let tables = query::evidence::measure(&request).map_err(failed)?;
        written(output::measured(&tables, asked.tokens, &input.sources, options.format, out))?;
    }
    Ok(ExitStatus::Clean)
}

/// Why `reglint evidence` has no answer, and what can be done.
fn refusal(failure: query::evidence::Failure, sources: &Sources) -> Error {
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
        Failure::UnderNothing => usage(
            "`--only-under` claims no frame of these traces, so every row would be 0.0".to_owned(),
            "`reglint evidence` without it shows what was sampled",
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
    evidence: &Evidence,
    kept: &[FrameId],
    is_quiet: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let name = path.display().to_string();
    let mut text = Vec::new();
    snapshot::write(evidence, kept, &mut text).map_err(|source| Error::Evidence {
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
