//! reglint validates and lints hypothesis registers.

pub mod diagnostic;
pub mod fix;
pub mod overlap;
pub mod pattern;
pub mod source;
pub mod span;
