//! Reads evidence: from paths and globs to what was read, by family.
//!
//! Uses `evidence`, `config`, `error` and `paths`. Evidence that is only half there would make patterns look
//! dead that are not: where a file cannot be used, nothing of the evidence is.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::config::{self, Config, EvidenceGlob};
use crate::error::Error;
use crate::evidence::{Evidence, EvidenceError, Format, Sets};
use crate::paths;

/// A file of evidence that the user named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What to read it as; `None` for what its content looks like.
    pub format: Option<Format>,
    /// Where it is; `-` is standard input.
    pub path: PathBuf,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Read {
    /// By family.
    pub sets: Sets,
    /// What was passed over, each a sentence without a full stop.
    pub notices: Vec<String>,
}

/// A file to read.
struct Wanted {
    family: Option<String>,
    format: Option<Format>,
    path: PathBuf,
    /// As it is shown.
    name: String,
}

/// Reads the files that were named or, where none was, those of the configuration. `folder` is the working
/// folder.
///
/// What is named is read as any tool would: a pipe too, to its end, and one that nobody writes to is waited for.
/// What a glob leads to is read where it is a file; pipes and devices there are passed over.
///
/// # Errors
/// Each file that cannot be used, and each glob that leads to none; then there is no evidence.
pub fn read(named: &[Named], config: &Config, folder: &Path) -> Result<Read, Vec<Error>> {
    let (mut errors, mut notices) = (Vec::new(), Vec::new());
    let mut wanted = Vec::new();
    for Named { format, path } in named {
        let shown = path.strip_prefix(".").ok().filter(|rest| !rest.as_os_str().is_empty());
        let name = shown.unwrap_or(path).display().to_string();
        wanted.push(Wanted { family: None, format: *format, path: path.clone(), name });
    }
    if named.is_empty() {
        for glob in &config.evidence {
            let before = wanted.len();
            list(glob, config, folder, &mut wanted, &mut notices);
            if wanted.len() == before {
                let message = format!("no evidence matches `{}` of the configuration", glob.glob);
                errors.push(Error::Usage { message, hint: None });
            }
        }
    }
    // A file that two globs lead to is one source; what is about all families is about each.
    let mut seen: BTreeSet<(PathBuf, Option<String>)> = BTreeSet::new();
    wanted.sort_by_key(|wanted| wanted.family.is_some());
    wanted.retain(|wanted| {
        let path = paths::normalize(&folder.join(&wanted.path));
        !seen.contains(&(path.clone(), None)) && seen.insert((path, wanted.family.clone()))
    });
    let read = |wanted: &Wanted| read_file(wanted);
    let results: Vec<Result<Evidence, Error>> = match wanted.as_slice() {
        [one] => vec![read(one)],
        many => many.par_iter().map(read).collect(),
    };
    let mut items = Vec::with_capacity(wanted.len());
    for (wanted, result) in wanted.into_iter().zip(results) {
        match result {
            Ok(evidence) => items.push((wanted.family, evidence)),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let sets = Sets::new(items).map_err(|error| vec![unusable("evidence", error, None)])?;
    notices.dedup();
    Ok(Read { sets, notices })
}

/// Whether a snapshot may be written to `path`: there is none, or an older one.
pub fn is_free_for_snapshot(path: &Path) -> bool {
    // Opening a pipe would wait for its other end.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    match File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut head)) {
        Ok(_) => Format::of(&head) == Some(Format::Snapshot),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The files that a glob of the configuration leads to, in the order of their paths. What version control
/// ignores is read too: traces are not committed.
fn list(
    wanted: &EvidenceGlob,
    config: &Config,
    folder: &Path,
    found: &mut Vec<Wanted>,
    notices: &mut Vec<String>,
) {
    let one = |path: &Path| Wanted {
        family: wanted.family.clone(),
        format: wanted.format,
        path: path.to_path_buf(),
        name: paths::from_folder(path, folder),
    };
    let literal = paths::normalize(&config.root.join(&wanted.glob));
    if literal.is_file() {
        found.push(one(&literal));
        return;
    }
    let Ok(matcher) = config::path_glob(&wanted.glob) else { return };
    let plain: PathBuf = Path::new(&config::resolved(&wanted.glob))
        .components()
        .take_while(|part| !config::is_wild(&part.as_os_str().to_string_lossy()))
        .collect();
    let start = config.root.join(plain);
    let walk = ignore::WalkBuilder::new(start).standard_filters(false).build();
    let mut list: Vec<PathBuf> = walk
        .filter_map(Result::ok)
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.strip_prefix(&config.root).is_ok_and(|path| matcher.is_match(path)))
        .collect();
    list.sort();
    list.retain(|path| {
        // A link that leads nowhere is none either.
        let found = fs::metadata(path).map(|found| (found.is_file(), found.is_dir()));
        if let Ok((false, false)) = found {
            let name = paths::from_folder(path, folder);
            notices.push(format!("`{name}` is passed over: it is no file"));
        }
        matches!(found, Ok((true, _)))
    });
    found.extend(list.iter().map(|path| one(path)));
}

fn read_file(wanted: &Wanted) -> Result<Evidence, Error> {
    let Wanted { path, name, format, .. } = wanted;
    let failed = |source: io::Error| Error::Read { path: name.clone(), source, hint: None };
    let read = if path.as_os_str() == "-" {
        Evidence::read(name, io::stdin().lock(), *format)
    } else {
        if fs::metadata(path).map_err(failed)?.is_dir() {
            return Err(unusable(
                name,
                io::Error::from(io::ErrorKind::IsADirectory).into(),
                Some(hint(path).to_owned()),
            ));
        }
        Evidence::read(name, File::open(path).map_err(failed)?, *format)
    };
    read.map_err(|error| unusable(name, error, None))
}

fn unusable(name: &str, source: EvidenceError, hint: Option<String>) -> Error {
    Error::Evidence { path: name.to_owned(), source, hint }
}

/// What to do with a folder: Instruments' traces are some.
fn hint(path: &Path) -> &'static str {
    if path.extension().is_some_and(|extension| extension == "trace") {
        "export its table first: `xctrace export --input X.trace --xpath \
         '/trace-toc/run[@number=\"1\"]/data/table[@schema=\"time-profile\"]'`"
    } else {
        "name the files in it"
    }
}
