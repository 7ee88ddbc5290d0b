//! stub
use super::{Ast, PatternError, Versions};
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumer { Python(Versions), Rust }
impl Default for Consumer { fn default() -> Self { Self::Python(Versions::ALL) } }
#[derive(Debug)]
pub struct Pattern { text: String, ast: Result<Ast, Box<PatternError>> }
impl Pattern {
    pub fn new(text: &str, _c: Consumer) -> Self { Self { text: text.into(), ast: super::parse(text, Versions::ALL) } }
    pub fn text(&self) -> &str { &self.text }
    pub fn rust(&self) -> Result<(), ()> { fancy_regex::Regex::new(&self.text).map(|_| ()).map_err(|_| ()) }
    pub fn error(&self) -> Option<&PatternError> { self.ast.as_ref().err().map(|e| &**e) }
}
