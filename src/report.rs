//! What a run found, and the counts that every output tells.
//!
//! Uses `diagnostic` only.

use crate::diagnostic::Diagnostic;

/// What a run found, in its one total order, levels applied.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The findings, in the order that every output keeps.
    pub diagnostics: Vec<Diagnostic>,
    /// The counts.
    pub summary: Summary,
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Registers that were checked, one a file.
    pub registers: usize,
    /// Hypotheses in them.
    pub hypotheses: usize,
    /// Patterns in those: canonical ones and subcomponents.
    pub patterns: usize,
    /// Findings at error level.
    pub errors: usize,
    /// Findings at warning level.
    pub warnings: usize,
    /// Findings that a safe fix repairs.
    pub fixable: usize,
    /// Findings that an unsafe fix repairs.
    pub unsafe_fixable: usize,
}
