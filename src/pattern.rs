//! The consumer's dialect: CPython's `re` for text patterns, as a syntax tree with spans, and what
//! fancy-regex makes of the same text.
//!
//! Uses `span` only. Offsets are in **bytes of the decoded pattern** throughout.

mod aliases;
pub mod ast;
pub mod backtrack;
pub mod case;
mod compiled;
pub mod dialects;
mod error;
pub mod measure;
mod names;
mod parser;
mod repair;
pub mod required;
mod rust;
pub mod unicode;
mod versions;
pub mod ways;

pub use ast::Ast;
pub use compiled::{Consumer, Pattern};
pub use error::{ErrorKind, PatternError, Repair};
pub use rust::{
    RustError, accepted_by_rust, check_rust, compile_for_short, compile_rust, folded, plain_in_rust,
};
pub use unicode::{is_digit, is_space, is_word};
pub use versions::{Python, Versions};

/// Parses `text` as CPython's `re.compile` would in every one of `versions`.
///
/// Takes time and memory linear in `text`, and no more stack for a deeper pattern. No tree is
/// deeper than 2,000 nodes, so it can be walked and dropped by recursion.
///
/// # Errors
/// The first fault that one of the versions finds, see [`PatternError`].
pub fn parse(text: &str, versions: Versions) -> Result<Ast, Box<PatternError>> {
    parser::parse(text, versions).map_err(|mut fault| {
        repair::suggest(text, versions, &mut fault);
        // Another fault may be left: then a person has to look, whatever this repair does.
        if let Some(repair) = fault.repair.as_mut().filter(|repair| repair.safe) {
            repair.safe = parser::parse(&repair.apply(text), versions).is_ok();
        }
        fault
    })
}

/// `text` as a pattern that matches just that.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.^$*+?{}[]|()".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
