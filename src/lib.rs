//! reglint validates and lints hypothesis registers.

pub mod diagnostic;
pub mod fix;
pub mod json;
pub mod schema;
pub mod source;
pub mod span;
mod suggest;
