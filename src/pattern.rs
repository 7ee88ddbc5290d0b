//! The consumer's dialect: CPython's `re` for text patterns, as a syntax tree with spans, and what
//! fancy-regex makes of the same text.
//!
//! Uses `span` only. Offsets are in **bytes of the decoded pattern** throughout.

mod aliases;
pub mod ast;
pub mod case;
mod error;
mod names;
mod parser;
mod repair;
mod rust;
pub mod unicode;
mod versions;

use std::sync::OnceLock;

pub use ast::Ast;
pub use error::{ErrorKind, PatternError, Repair};
pub use rust::{RustError, check_rust, compile_rust, plain_in_rust};
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
        fault
    })
}

/// A pattern, parsed once, and compiled by fancy-regex once if that is asked for.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    ast: Result<Ast, Box<PatternError>>,
    rust: OnceLock<Result<fancy_regex::Regex, RustError>>,
}

impl Pattern {
    /// Parses `text`, see [`parse`].
    pub fn new(text: impl Into<Box<str>>, versions: Versions) -> Self {
        let text = text.into();
        let ast = parse(&text, versions);
        Self { text, ast, rust: OnceLock::new() }
    }

    /// The decoded pattern.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its syntax tree.
    ///
    /// # Errors
    /// Why CPython refuses it.
    pub fn ast(&self) -> Result<&Ast, &PatternError> {
        self.ast.as_ref().map_err(|fault| &**fault)
    }

    /// It as a program of fancy-regex, compiled by the first call.
    ///
    /// # Errors
    /// Why fancy-regex refuses it.
    pub fn rust(&self) -> Result<&fancy_regex::Regex, &RustError> {
        self.rust.get_or_init(|| compile_rust(&self.text)).as_ref()
    }

    /// Its fault for a consumer in Rust; compiles it only where that is not plain to see.
    pub fn rust_fault(&self) -> Option<&RustError> {
        if self.rust.get().is_none()
            && self.ast.as_ref().is_ok_and(|ast| plain_in_rust(&self.text, ast))
        {
            return None;
        }
        self.rust().err()
    }
}
