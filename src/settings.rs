//! From the command line and the configuration to what a run is to do: validated once.
//!
//! Uses `cli`, `config`, `report`, `schema`, `rules`, `source`, `paths` and `error`.

use std::path::{Path, PathBuf};

use crate::cli::Options;
use crate::config::{self, Config};
use crate::error::Error;
use crate::output::Format;
use crate::paths;
use crate::report::Levels;
use crate::rules::Rule;
use crate::schema::Schema;
use crate::source::{ColumnUnit, Source, Sources};

/// The folder that relative paths are meant from.
pub(crate) fn working_folder() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|source| Error::Read {
        path: ".".to_owned(),
        source,
        hint: None,
    })
}

/// The configuration that the options ask for, with their exclusions.
pub(crate) fn configure(options: &Options, folder: &Path) -> Result<Config, Error> {
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
pub(crate) fn levels(options: &Options, config: &Config) -> Result<Levels, Error> {
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

/// Refuses what makes sense for findings only: an answer is none.
pub(crate) fn for_answers(options: &Options, config: &Config) -> Result<(), Error> {
    // A rule that is not there is a mistake here as well.
    levels(options, config)?;
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

/// Refuses two reports that go to one file.
pub(crate) fn distinct_outputs(options: &Options, folder: &Path) -> Result<(), Error> {
    for (number, (_, path)) in options.output.iter().enumerate() {
        // What is no file, as `/dev/null`, takes any number.
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            continue;
        }
        let mut earlier = options.output.iter().take(number);
        if earlier.any(|(_, other)| paths::is_same(path, other, folder)) {
            let message = format!("two reports are to go to `{}`", path.display());
            return Err(Error::Usage { message, hint: Some("name a file for each".to_owned()) });
        }
    }
    Ok(())
}

/// The rule of that name, or what was probably meant.
pub(crate) fn find_rule(name: &str) -> Result<&'static Rule, Error> {
    config::find_rule(name).map_err(|(message, hint)| Error::Usage { message, hint })
}

/// The user's own schema.
pub(crate) fn read_schema(path: &Path) -> Result<Schema, Error> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: name.clone(),
        source,
        hint: None,
    })?;
    Schema::from_text(&text).map_err(|fault| {
        let source = Source::new(name, text.into_bytes());
        let at = source.position(fault.span.range().start, ColumnUnit::Scalar);
        Error::Invalid {
            place: format!("{}:{}:{}", source.path(), at.line, at.column),
            message: fault.message,
            hint: None,
        }
    })
}

/// The families that the configuration gives, by source.
pub(crate) fn families(sources: &Sources, config: &Config, folder: &Path) -> Vec<Option<String>> {
    if config.families.is_empty() {
        return Vec::new();
    }
    let family = |path: &str| config.family(&paths::normalize(&folder.join(path)));
    sources.iter().map(|(_, source)| family(source.path()).map(str::to_owned)).collect()
}
