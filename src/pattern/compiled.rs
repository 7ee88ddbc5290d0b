//! A pattern with everything that is ever made of it, each at most once and only when it is asked for.
//!
//! Uses the parser, `required`, `rust` and `versions` of `pattern`.

use std::sync::OnceLock;

use super::ast::Ast;
use super::error::PatternError;
use super::required::required;
use super::rust::{RustError, check_rust, compile_rust};
use super::versions::Versions;

/// Whose dialect patterns are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumer {
    /// CPython's `re`, in every one of these versions.
    Python(Versions),
    /// Rust's fancy-regex.
    Rust,
}

impl Default for Consumer {
    fn default() -> Self {
        Self::Python(Versions::ALL)
    }
}

impl Consumer {
    /// The versions of CPython that a pattern is parsed for: all of them where it is for another.
    fn versions(self) -> Versions {
        match self {
            Self::Python(versions) => versions,
            Self::Rust => Versions::ALL,
        }
    }
}

/// The bytes that may mean something other than themselves. All are ASCII, so no part of another
/// character is among them.
const IS_SPECIAL: [bool; 256] = {
    let (special, mut table, mut at) = (b"\\.^$*+?{}[]|()", [false; 256], 0);
    while at < special.len() {
        table[special[at] as usize] = true;
        at += 1;
    }
    table
};

/// A pattern's tree, and what was found out about it.
#[derive(Debug)]
struct Parsed {
    ast: Ast,
    required: OnceLock<Vec<String>>,
}

/// A pattern. Cheap to make: most patterns of a register are plain text, and of those nothing has to
/// be parsed to know that they are valid.
#[derive(Debug)]
pub struct Pattern<'t> {
    text: &'t str,
    versions: Versions,
    is_literal: bool,
    parsed: OnceLock<Result<Box<Parsed>, Box<PatternError>>>,
    rust: OnceLock<Result<Box<fancy_regex::Regex>, Box<RustError>>>,
    rust_fault: OnceLock<Option<Box<RustError>>>,
}

impl<'t> Pattern<'t> {
    /// The pattern of that text, decoded.
    pub fn new(text: &'t str, consumer: Consumer) -> Self {
        let versions = consumer.versions();
        let is_literal = text.bytes().all(|byte| !IS_SPECIAL[usize::from(byte)]);
        let (parsed, rust, rust_fault) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { text, versions, is_literal, parsed, rust, rust_fault }
    }

    /// The decoded pattern.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Whether each of its characters stands for itself, without flags, in every dialect.
    pub fn is_literal(&self) -> bool {
        self.is_literal
    }

    /// Its syntax tree.
    ///
    /// # Errors
    /// Why CPython refuses it.
    pub fn ast(&self) -> Result<&Ast, &PatternError> {
        self.parsed().map(|parsed| &parsed.ast)
    }

    fn parsed(&self) -> Result<&Parsed, &PatternError> {
        let parse = || {
            let ast = super::parse(self.text, self.versions)?;
            Ok(Box::new(Parsed { ast, required: OnceLock::new() }))
        };
        self.parsed.get_or_init(parse).as_deref().map_err(|fault| &**fault)
    }

    /// Texts, none empty, of which every match contains at least one; none where that is not plain to see, and none
    /// of a pattern that CPython refuses.
    pub fn required(&self) -> &[String] {
        let find = |parsed: &Parsed| required(&parsed.ast);
        self.parsed().map_or(&[], |parsed| parsed.required.get_or_init(|| find(parsed)))
    }

    /// Why CPython refuses it, if it does. Parses it only where that is not plain to see.
    pub fn python_fault(&self) -> Option<&PatternError> {
        if self.is_literal() { None } else { self.ast().err() }
    }

    /// It as a program of fancy-regex, compiled by the first call and kept: some take megabytes.
    ///
    /// # Errors
    /// Why fancy-regex refuses it.
    pub fn rust(&self) -> Result<&fancy_regex::Regex, &RustError> {
        let compiled =
            self.rust.get_or_init(|| compile_rust(self.text).map(Box::new).map_err(Box::new));
        compiled.as_deref().map_err(|fault| &**fault)
    }

    /// Why fancy-regex refuses it, if it does. Compiles it only where that is not plain to see, and keeps no
    /// program.
    pub fn rust_fault(&self) -> Option<&RustError> {
        if let Some(compiled) = self.rust.get() {
            return compiled.as_deref().err().map(|fault| &**fault);
        }
        let find = || check_rust(self.text, self.ast().ok()).map(Box::new);
        self.rust_fault.get_or_init(find).as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_what_is_asked_for_and_no_more() {
        let plain = Pattern::new("a::b_c d", Consumer::default());
        assert!(plain.is_literal() && plain.python_fault().is_none());
        assert!(plain.parsed.get().is_none());
        assert!(plain.ast().is_ok() && plain.rust().is_ok());
        let simple = Pattern::new("a::b|c", Consumer::Rust);
        assert!(simple.rust_fault().is_none() && simple.rust.get().is_none());
        for special in
            ["a.b", r"\d", "[a]", "a{2}", "(a)", "a)", "a*", "a+", "a?", "^a", "a$", "a|b"]
        {
            assert!(!Pattern::new(special, Consumer::default()).is_literal(), "{special}");
        }
        let broken = Pattern::new("a(", Consumer::default());
        assert_eq!(broken.python_fault().map(|fault| fault.span.range()), Some(1..2));
        assert_eq!(broken.rust_fault().map(|fault| fault.span.range()), Some(1..2));
    }
}
