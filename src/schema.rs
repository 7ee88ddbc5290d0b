//! What of a register its schema does not allow, each violation at the very characters.
//!
//! Uses `json` and `span`, and `suggest` for slips of the pen.
//!
//! The judge is `jsonschema`, on the span tree itself (see `instance`); nothing here decides
//! validity. A document is first asked whether it is valid at all, which builds nothing; only for
//! one that is not are the errors listed and put into words (see `words`). What a syntax error
//! made of the document is not reported a second time.
//!
//! A schema never reaches beyond itself: a reference to another file or to the network is an error
//! of that schema.

mod instance;
mod words;

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jsonschema::json::Node as _;
use jsonschema::paths::LocationSegment;
use jsonschema::{Keyword, PatternOptions, ReferencingError, ValidationError, Validator};

use crate::json::{self, Document, Kind, Value};
use crate::span::Span;
use instance::{Instance, Spans};

/// The schema of registers, draft 2020-12.
pub const REGISTER_SCHEMA: &str = include_str!("../schema/register.schema.json");

/// How many violations of one document are kept. If there are more, a note of the last one kept says
/// how many.
pub const MAX_VIOLATIONS: usize = 1000;

/// How many steps back a `pattern` of a user's schema may take in one search.
const BACKTRACK_LIMIT: usize = 100_000;

/// How large the compiled form of such a pattern may be, in bytes.
const PATTERN_BYTES: usize = 4 << 20;

/// A schema that documents are held against.
pub struct Schema {
    validator: Validator<Spans>,
    value: serde_json::Value,
    /// It is [`REGISTER_SCHEMA`], so words can say what its parts are for.
    is_embedded: bool,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("is_embedded", &self.is_embedded).finish_non_exhaustive()
    }
}

/// What makes a schema unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The characters of the schema at fault.
    pub span: Span,
    /// One sentence without a full stop.
    pub message: String,
}

/// A way to mend one violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// What it does, as an imperative: "rename it to `id`".
    pub message: String,
    /// What to put where, by offset, none touching another. Never empty.
    pub edits: Vec<(Span, String)>,
    /// Whether it is plainly what was meant; a person should look at any other.
    pub safe: bool,
}

/// One violation. Texts quote the input as it is, cut where it is long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The value, the unknown name, or what stands for the object that lacks a member.
    pub span: Span,
    /// One sentence without a full stop.
    pub message: String,
    /// Other places that belong to it, with a few words each.
    pub related: Vec<(Span, String)>,
    /// Facts that help to judge it, one sentence each.
    pub notes: Vec<String>,
    /// The id of the hypothesis that it lies in, decoded.
    pub hypothesis: Option<String>,
    /// The one right repair, where there is one.
    pub repair: Option<Repair>,
}

static EMBEDDED: LazyLock<Schema> = LazyLock::new(|| {
    let mut value: serde_json::Value = serde_json::from_str(REGISTER_SCHEMA).unwrap_or_default();
    // Nothing refers to its own `$id`, and the meta-schema's check of one compiles a pattern: 0.23 ms.
    value.as_object_mut().and_then(|schema| schema.remove("$id"));
    Schema { validator: build_embedded(&value), value, is_embedded: true }
});

/// Compiles the embedded schema, or a part of it.
fn build_embedded(value: &serde_json::Value) -> Validator<Spans> {
    // Two of its patterns are for members that few registers have: 0.34 ms that wait until then.
    let options = jsonschema::options_for()
        .offline()
        .should_validate_formats(true)
        .with_keyword("pattern", |_, value, _| Ok(Box::new(LazyPattern::new(value))));
    match options.build(value) {
        Ok(validator) => validator,
        Err(error) => unreachable!("the embedded schema does not compile: {error}"),
    }
}

/// The schema of registers in two parts, for registers with very many hypotheses.
struct Parts {
    /// All but what it says of each hypothesis.
    top: Validator<Spans>,
    hypothesis: Validator<Spans>,
}

static PARTS: LazyLock<Parts> = LazyLock::new(|| {
    let mut top = EMBEDDED.value.clone();
    let items = top.pointer_mut("/properties/hypotheses").and_then(|it| it.as_object_mut());
    let items = items.and_then(|it| it.remove("items")).unwrap_or_default();
    let mut hypothesis = items;
    if let (Some(schema), Some(definitions)) = (hypothesis.as_object_mut(), top.get("$defs")) {
        schema.insert("$defs".to_owned(), definitions.clone());
    }
    Parts { top: build_embedded(&top), hypothesis: build_embedded(&hypothesis) }
});

/// The keyword `pattern`, its pattern compiled when it is first searched for.
struct LazyPattern {
    pattern: String,
    compiled: OnceLock<Option<fancy_regex::Regex>>,
}

impl LazyPattern {
    fn new(value: &serde_json::Value) -> Self {
        let pattern = value.as_str().unwrap_or_default().to_owned();
        Self { pattern, compiled: OnceLock::new() }
    }
}

impl<'d> Keyword<'d, Spans> for LazyPattern {
    fn validate(&self, instance: Instance<'d>) -> Result<(), ValidationError<'d>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("")) }
    }

    fn is_valid(&self, instance: Instance<'d>) -> bool {
        let Some(text) = instance.as_string() else { return true };
        let compiled = self.compiled.get_or_init(|| fancy_regex::Regex::new(&self.pattern).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(&*text).unwrap_or(false))
    }
}

/// Compiles a user's schema.
fn build(value: &serde_json::Value) -> Result<Validator<Spans>, ValidationError<'static>> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    jsonschema::options_for().offline().with_pattern_options(patterns).build(value)
}

impl Schema {
    /// The schema of registers, compiled once.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// A user's schema; draft 2020-12 where its `$schema` does not say otherwise.
    ///
    /// # Errors
    /// A text that is not JSON, a schema that its meta-schema does not allow, a pattern that does
    /// not compile, a reference that leads nowhere or out of the schema.
    pub fn from_text(text: &str) -> Result<Self, SchemaError> {
        let document = json::parse(text);
        if let Some(error) = document.errors().first() {
            return Err(SchemaError { span: error.span, message: error.message.clone() });
        }
        let whole = document.root().map_or(Span::empty(0), Value::span);
        let value: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| {
                // Nesting, numbers and surrogates that the schema's own reader does not take.
                let message = format!("the schema cannot be read: {error}");
                SchemaError { span: Span { end: whole.start + 1, ..whole }, message }
            })?;
        match build(&value) {
            Ok(validator) => Ok(Self { validator, value, is_embedded: false }),
            Err(error) => Err(schema_error(&document, &error)),
        }
    }

    /// What of the document the schema does not allow, by offset. Empty where the document has no
    /// value.
    pub fn violations(&self, document: &Document<'_>) -> Vec<Violation> {
        let Some(root) = document.root() else { return Vec::new() };
        let instance = Instance::Value(root);
        if self.validator.is_valid(instance) {
            return Vec::new();
        }
        let mut writer = words::Writer::new(self, root);
        match root.get("hypotheses").and_then(Value::as_array) {
            Some(list) if self.is_embedded && list.len() > MAX_VIOLATIONS => {
                // The validator lists all errors at once, a kilobyte each. One hypothesis at a time
                // bounds what that takes.
                writer.write(PARTS.top.iter_errors(instance));
                for (index, value) in list.elements().enumerate() {
                    let instance = Instance::Value(value);
                    if PARTS.hypothesis.is_valid(instance) {
                        continue;
                    }
                    if writer.is_full() {
                        writer.pass_hypothesis();
                    } else if writer.enter_hypothesis(index, value) {
                        writer.write(PARTS.hypothesis.iter_errors(instance));
                    }
                }
            }
            _ => writer.write(self.validator.iter_errors(instance)),
        }
        writer.finish()
    }
}

/// What a schema does wrong, at the place in its text.
fn schema_error(document: &Document<'_>, error: &ValidationError<'static>) -> SchemaError {
    use jsonschema::error::ValidationErrorKind as Fault;
    let root = document.root();
    let (place, message) = if let Fault::Referencing(fault) = error.kind() {
        let message = match fault {
            ReferencingError::Unretrievable { uri, .. } => {
                format!("the schema refers to `{uri}`, and references are not followed out of it")
            }
            other => format!("a reference of the schema cannot be resolved: {other}"),
        };
        (root.and_then(|root| culprit(root, &message)), message)
    } else {
        let place = root.and_then(|root| {
            error.instance_path().segments().try_fold(root, |value, segment| match segment {
                LocationSegment::Property(name) => value.get(&name),
                LocationSegment::Index(at) => value.as_array()?.elements().nth(at),
            })
        });
        (place, format!("the schema is not valid: {}", words::cut(&error.to_string(), 200)))
    };
    let span = place.or(root).map_or(Span::empty(0), |value| match value.kind() {
        Kind::Object(_) | Kind::Array(_) => Span { end: value.span().start + 1, ..value.span() },
        _ => value.span(),
    });
    SchemaError { span, message }
}

/// The reference in a schema that `message` speaks of.
fn culprit<'d>(root: Value<'d>, message: &str) -> Option<Value<'d>> {
    let mut todo = vec![root];
    let mut first = None;
    while let Some(value) = todo.pop() {
        match value.kind() {
            Kind::Array(array) => todo.extend(array.elements()),
            Kind::Object(object) => {
                for member in object.effective_members() {
                    let target = member.value.as_str().filter(|_| {
                        matches!(member.name.value(), "$ref" | "$dynamicRef" | "$recursiveRef")
                    });
                    match target {
                        Some(target) => {
                            let words =
                                target.value().trim_start_matches('#').trim_end_matches('#');
                            let named = !words.is_empty() && message.contains(words);
                            // The earliest of those that fit.
                            if named
                                && first.is_none_or(|it: Value<'_>| it.id() > member.value.id())
                            {
                                first = Some(member.value);
                            }
                        }
                        None => todo.push(member.value),
                    }
                }
            }
            _ => {}
        }
    }
    first
}
