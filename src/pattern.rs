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

/// A pattern, parsed when its tree is first asked for, and compiled by fancy-regex likewise: each at
/// most once.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    versions: Versions,
    ast: OnceLock<Result<Ast, Box<PatternError>>>,
    rust: OnceLock<Result<fancy_regex::Regex, RustError>>,
}

impl Pattern {
    /// The pattern `text`, decoded, for a consumer of `versions`.
    pub fn new(text: impl Into<Box<str>>, versions: Versions) -> Self {
        Self { text: text.into(), versions, ast: OnceLock::new(), rust: OnceLock::new() }
    }

    /// The decoded pattern.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text that it matches, if it is that text itself: without any character that means
    /// something in a pattern. Valid everywhere, so nothing need be parsed to know it.
    pub fn literal(&self) -> Option<&str> {
        let special = |b: &u8| br"\.[{()*+?^$|".contains(b);
        (!self.text.as_bytes().iter().any(|b| special(b))).then_some(&self.text)
    }

    /// Its syntax tree, see [`parse`].
    ///
    /// # Errors
    /// Why CPython refuses it.
    pub fn ast(&self) -> Result<&Ast, &PatternError> {
        let parsed = self.ast.get_or_init(|| parse(&self.text, self.versions));
        parsed.as_ref().map_err(|fault| &**fault)
    }

    /// Why CPython refuses it, if it does. Parses it only where that is not plain to see.
    pub fn fault(&self) -> Option<&PatternError> {
        if self.literal().is_some() { None } else { self.ast().err() }
    }

    /// It as a program of fancy-regex.
    ///
    /// # Errors
    /// Why fancy-regex refuses it.
    pub fn rust(&self) -> Result<&fancy_regex::Regex, &RustError> {
        self.rust.get_or_init(|| compile_rust(&self.text)).as_ref()
    }

    /// Why fancy-regex refuses it, if it does. Compiles it only where that is not plain to see.
    pub fn rust_fault(&self) -> Option<&RustError> {
        let plain = || {
            rust::is_plain_text(&self.text)
                || self.ast().is_ok_and(|ast| plain_in_rust(&self.text, ast))
        };
        if self.rust.get().is_none() && plain() {
            return None;
        }
        self.rust().err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_does_what_is_asked_for_and_no_more() {
        let plain = Pattern::new("a::b_c d]", Versions::ALL);
        assert_eq!((plain.literal(), plain.fault()), (Some("a::b_c d]"), None));
        assert!(plain.ast.get().is_none());
        assert!(plain.ast().is_ok() && plain.rust().is_ok());
        let plain = Pattern::new("a::b|c", Versions::ALL);
        assert!(plain.rust_fault().is_none() && plain.rust.get().is_none());
        for special in
            ["a.b", r"\d", "[a]", "a{2}", "(a)", "a)", "a*", "a+", "a?", "^a", "a$", "a|b"]
        {
            assert_eq!(Pattern::new(special, Versions::ALL).literal(), None, "{special}");
        }
        let broken = Pattern::new("a(", Versions::ALL);
        assert_eq!(broken.fault().map(|fault| fault.kind), Some(ErrorKind::UnclosedGroup));
        assert_eq!(broken.rust_fault().map(|fault| fault.span.range()), Some(1..2));
    }
}
