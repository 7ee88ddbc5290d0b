//! stub
use crate::json::Document;
use crate::span::Span;
pub const REGISTER_SCHEMA: &str = "";
#[derive(Debug)]
pub struct Schema;
#[derive(Debug)]
pub struct Violation { pub span: Span, pub message: String }
pub struct SchemaError { pub span: Span, pub message: String }
impl Schema { pub fn embedded() -> &'static Schema { &Schema } pub fn from_text(_: &str) -> Result<Schema, SchemaError> { Ok(Schema) } pub fn violations(&self, _: &Document<'_>) -> Vec<Violation> { vec![] } }
