//! How a run ends.
//!
//! Uses nothing of the crate.

use std::process::ExitCode;

/// The exit status. A finding is never [`ExitStatus::Failure`], and a failure never hides findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// 0: no finding at error level.
    Clean,
    /// 1: at least one finding at error level.
    Findings,
    /// 2: reglint could not do its work, at least in part.
    Failure,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Clean => Self::from(0),
            ExitStatus::Findings => Self::from(1),
            ExitStatus::Failure => Self::from(2),
        }
    }
}
