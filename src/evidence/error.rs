//! Why evidence cannot be used.
//!
//! Uses `evidence::format`.

use std::fmt;
use std::io;

use super::format::Format;

/// Why a file cannot be read as evidence. Its text is one sentence without a full stop.
#[derive(Debug)]
pub enum EvidenceError {
    /// The bytes could not be had.
    Read(io::Error),
    /// No format is known that begins like this.
    Unknown,
    /// There is no frame in it; with what it holds instead, where that is known.
    Empty(Format, Option<String>),
    /// It is text, but most of its lines are no names.
    NotNames,
    /// It is not what its beginning promised.
    Broken {
        /// What it was read as.
        format: Format,
        /// What is wrong.
        what: String,
        /// Where.
        at: Place,
    },
    /// There is more of something than is read.
    Bound {
        /// Of what, in the plural: `distinct frames`.
        what: &'static str,
        /// How many are read at most.
        most: u64,
    },
}

/// A place in evidence, in its uncompressed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Bytes from the start.
    Byte(u64),
    /// A line, from 1.
    Line(u64),
    /// Not known.
    Unknown,
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "{error}"),
            Self::Unknown => f.write_str(
                "not a format of evidence: neither a time profile as XML, folded stacks, a profile \
                 as JSON, a binary, a list of names, nor a snapshot",
            ),
            Self::NotNames => f.write_str(
                "not a format of evidence: text, but most of its lines are no names of functions; \
                 `names=PATH` reads it as a list all the same",
            ),
            Self::Empty(format, None) => write!(f, "no frames in this {format}"),
            Self::Empty(format, Some(what)) => write!(f, "no frames in this {format}: {what}"),
            Self::Broken { format, what, at } => {
                write!(f, "broken {format}: {what}")?;
                match at {
                    Place::Byte(at) => write!(f, " at byte {at}"),
                    Place::Line(line) => write!(f, " in line {line}"),
                    Place::Unknown => Ok(()),
                }
            }
            Self::Bound { what, most } => write!(f, "more than {most} {what}, which is the bound"),
        }
    }
}

impl std::error::Error for EvidenceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for EvidenceError {
    /// A bound that the reader below another library hit comes back as what it was.
    fn from(error: io::Error) -> Self {
        bound(&error).unwrap_or(Self::Read(error))
    }
}

impl EvidenceError {
    /// [`EvidenceError::from`] of an error that is shared.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        let copy = || Self::Read(io::Error::new(error.kind(), error.to_string()));
        bound(error).unwrap_or_else(copy)
    }

    /// Of JSON that does not parse, or is not what was expected.
    pub(crate) fn from_json(format: Format, error: serde_json::Error) -> Self {
        if error.is_io() {
            return io::Error::from(error).into();
        }
        let at = Place::Line(error.line() as u64);
        let what = error.to_string();
        // The line is said once.
        let what = what.rfind(" at line ").and_then(|end| what.get(..end)).unwrap_or(&what);
        let said = format!("broken {format}: ");
        let what = what.strip_prefix(said.as_str()).unwrap_or(what);
        Self::Broken { format, what: what.to_owned(), at }
    }
}

fn bound(error: &io::Error) -> Option<EvidenceError> {
    let inner = error.get_ref()?;
    if let Some(&EvidenceError::Bound { what, most }) = inner.downcast_ref() {
        return Some(EvidenceError::Bound { what, most });
    }
    // Libraries wrap errors in their own, more than once.
    bound(inner.downcast_ref()?)
}
