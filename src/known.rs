//! The baseline's file: found, read, judged and written.
//!
//! Uses `report`, `json`, `config`, `error`, `source`, `paths` and `writer`. What a baseline means is in `report::baseline`.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::paths::{from_folder, normalize};
use crate::report::baseline::{Baseline, Outcome, Use};
use crate::source::{ColumnUnit, MAX_BYTES, Source, Sources};
use crate::writer;

/// How many entries that no longer occur are listed one by one.
const MOST_LISTED: usize = 10;

/// The baseline of a run.
#[derive(Debug)]
pub(crate) struct BaselineFile {
    /// As the user wrote it, for messages.
    name: String,
    /// From the root of the file system.
    path: PathBuf,
    /// Its text, to tell where its entries stand.
    source: Source,
    baseline: Baseline,
    /// By source, see [`Use::paths`].
    paths: Vec<String>,
    /// See [`Use::gone`].
    gone: Vec<String>,
}

impl BaselineFile {
    /// Reads the baseline at `path`, shown as `name`. Where there is none yet it is empty, if it `may_be_new`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no baseline.
    pub(crate) fn read(name: String, path: &Path, may_be_new: bool) -> Result<Self, Error> {
        let path = normalize(path);
        let text = match read_text(&name, &path) {
            Err(Error::Read { source, .. })
                if may_be_new && source.kind() == io::ErrorKind::NotFound =>
            {
                None
            }
            Err(Error::Read { path, source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let hint = Some("`--write-baseline` makes one".to_owned());
                return Err(Error::Read { path, source, hint });
            }
            read => Some(read?),
        };
        let source = Source::new(name.clone(), text.clone().unwrap_or_default().into_bytes());
        let baseline = match text.as_deref().map(Baseline::read) {
            None => Baseline::default(),
            Some(Ok(baseline)) => baseline,
            Some(Err(fault)) => {
                let at = source.position(fault.span.range().start, ColumnUnit::Scalar);
                return Err(Error::Invalid {
                    place: format!("{name}:{}:{}", at.line, at.column),
                    message: fault.message,
                    hint: Some(hint(text.as_deref().unwrap_or_default()).to_owned()),
                });
            }
        };
        Ok(Self { name, path, source, baseline, paths: Vec::new(), gone: Vec::new() })
    }

    /// Where it is, from the root of the file system.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the run may use, once its sources are known. `folder` is the working folder.
    pub(crate) fn prepare(&mut self, sources: &Sources, folder: &Path) -> Use<'_> {
        let root = self.path.parent().unwrap_or(folder).to_path_buf();
        let path = |source: &Source| from_folder(&normalize(&folder.join(source.path())), &root);
        self.paths = sources.iter().map(|(_, source)| path(source)).collect();
        let is_gone = |path: &&str| !root.join(path).exists();
        self.gone = self.baseline.paths().into_iter().filter(is_gone).map(str::to_owned).collect();
        Use { baseline: &self.baseline, paths: &self.paths, gone: &self.gone }
    }

    /// What to say of the run.
    pub(crate) fn notices(&self, outcome: &Outcome) -> Vec<String> {
        let mut notices = Vec::new();
        if outcome.silenced > 0 {
            let findings = count(outcome.silenced, "known finding is", "known findings are");
            notices.push(format!("{findings} not shown ({})", self.name));
        }
        for stale in outcome.stale.iter().take(MOST_LISTED) {
            let at = self.source.position(stale.span.range().start, ColumnUnit::Scalar);
            let known = &stale.known;
            let more =
                if stale.gone > 1 { format!(" ({} times)", stale.gone) } else { String::new() };
            notices.push(format!(
                "{}:{}:{}: no longer occurs{more}: {} in {}: {}",
                self.name, at.line, at.column, known.rule, known.path, known.message
            ));
        }
        if outcome.stale.len() > MOST_LISTED {
            notices.push(format!("{} more no longer occur", outcome.stale.len() - MOST_LISTED));
        }
        if !outcome.stale.is_empty() {
            notices.push(
                "`--write-baseline` takes out of the baseline what no longer occurs".to_owned(),
            );
        }
        notices
    }

    /// Writes the renewed baseline; gives what to say of it.
    ///
    /// # Errors
    ///
    /// It cannot be written. The old one is then as it was.
    pub(crate) fn write(&self, outcome: &Outcome) -> Result<String, Error> {
        let text = outcome.renewed.write();
        if text != self.source.text() {
            writer::put(&self.path, text.as_bytes())
                .map_err(|source| Error::WriteFile { path: self.name.clone(), source })?;
        }
        let findings = count(outcome.renewed.len(), "finding is", "findings are");
        Ok(format!("{findings} known now ({})", self.name))
    }
}

/// "1 finding is", "2 findings are".
fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// What to do about a file with `text`, which is no baseline.
fn hint(text: &str) -> &'static str {
    // A baseline that was cut off or merged wrongly still begins as one.
    if text.trim().is_empty() || text.trim_start().starts_with('[') {
        "delete the file and write it anew with `--write-baseline`"
    } else {
        // It may be a register, or whatever else somebody needs.
        "name another file: this one was not written by `--write-baseline`"
    }
}

fn read_text(name: &str, path: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read { path: name.to_owned(), source, hint: None };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        return Err(Error::TooLarge { path: name.to_owned(), limit: MAX_BYTES as u64 });
    }
    String::from_utf8(bytes).map_err(|error| Error::Invalid {
        place: name.to_owned(),
        message: format!("the byte at offset {} is not UTF-8", error.utf8_error().valid_up_to()),
        hint: None,
    })
}
