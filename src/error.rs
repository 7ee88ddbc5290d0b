//! What stops a run, or a part of it. What a register's author did wrong is never one of these:
//! that is a [`crate::diagnostic::Diagnostic`].
//!
//! Uses the errors of `evidence`.

use std::fmt;
use std::io;

use crate::evidence::EvidenceError;

/// Why reglint could not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// The command line makes no sense beyond what its parser knows.
    Usage {
        /// One sentence without a full stop.
        message: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A file or folder could not be read.
    Read {
        /// As the user gave it.
        path: String,
        /// Why.
        source: io::Error,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A file is beyond a bound of this program.
    TooLarge {
        /// As the user gave it.
        path: String,
        /// The bound, in bytes.
        limit: u64,
    },
    /// The configuration, or a schema of the user's, does not hold.
    Invalid {
        /// Path, line and column, as far as they are known: `reglint.toml:3:1`.
        place: String,
        /// One sentence without a full stop.
        message: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A file could not be written; it is as it was.
    WriteFile {
        /// As the user gave it.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be used as evidence.
    Evidence {
        /// As the user gave it.
        path: String,
        /// Why.
        source: EvidenceError,
        /// What can be done.
        hint: Option<String>,
    },
    /// The output could not be written.
    Write(io::Error),
}

impl Error {
    fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. }
            | Self::Read { hint, .. }
            | Self::Invalid { hint, .. }
            | Self::Evidence { hint, .. } => hint.as_deref(),
            Self::TooLarge { .. } | Self::WriteFile { .. } | Self::Write(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { message, .. } => write!(f, "{message}")?,
            Self::Read { path, source, .. } => write!(f, "cannot read `{path}`: {source}")?,
            Self::TooLarge { path, limit } => {
                write!(f, "`{path}` is too large: at most {limit} bytes are read")?;
            }
            Self::Invalid { place, message, .. } => write!(f, "{place}: {message}")?,
            Self::WriteFile { path, source } => write!(f, "cannot write `{path}`: {source}")?,
            Self::Evidence { path, source, .. } => {
                write!(f, "cannot use `{path}` as evidence: {source}")?;
            }
            Self::Write(source) => write!(f, "cannot write the output: {source}")?,
        }
        self.hint().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::WriteFile { source, .. } | Self::Write(source) => {
                Some(source)
            }
            Self::Evidence { source, .. } => Some(source),
            Self::Usage { .. } | Self::TooLarge { .. } | Self::Invalid { .. } => None,
        }
    }
}
