//! reglint validates and lints hypothesis registers.

pub mod diagnostic;
pub mod fix;
pub mod output;
pub mod report;
pub mod source;
pub mod span;
