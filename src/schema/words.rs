//! Violations in the words of a register, each at its characters.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use jsonschema::error::{TypeKind, ValidationErrorKind as Fault};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};

use super::{MAX_VIOLATIONS, Repair, Schema, Violation};
use crate::json::{Kind, Member, Object, Str, Value};
use crate::span::Span;
use crate::suggest;

/// The longest quotation of the input in a message, in scalar values.
const QUOTED: usize = 60;

/// How many members or elements a container has before looking one up builds an index of them.
const SMALL: usize = 16;

/// How many errors of the validator are put into words at most; in its order, which is that of the
/// text but for the members of one object.
const MAX_PLACED: usize = 4 * MAX_VIOLATIONS;

/// How many alternatives a note speaks of.
const MAX_ALTERNATIVES: usize = 4;

/// At most `longest` characters of a text.
pub(super) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn quote(text: &str) -> String {
    format!("`{}`", cut(text, QUOTED))
}

/// One step from a container to what it holds.
#[derive(Clone, Copy)]
enum Step<'d> {
    Member(Member<'d>),
    Element(usize, Value<'d>),
}

impl<'d> Step<'d> {
    fn value(self) -> Value<'d> {
        match self {
            Self::Member(member) => member.value,
            Self::Element(_, value) => value,
        }
    }

    fn is(self, name: &str) -> bool {
        matches!(self, Self::Member(member) if member.name.is(name))
    }
}

/// A value with the way to it.
#[derive(Clone)]
struct Place<'d> {
    value: Value<'d>,
    steps: Vec<Step<'d>>,
    /// The id of the hypothesis that it lies in, or is.
    id: Option<&'d str>,
}

impl<'d> Place<'d> {
    /// The hypothesis that it lies in, or is: its number from 1 and its value.
    fn hypothesis(&self) -> Option<(usize, Value<'d>)> {
        match self.steps.as_slice() {
            [list, Step::Element(index, value), ..] if list.is("hypotheses") => {
                Some((index + 1, *value))
            }
            _ => None,
        }
    }

    /// The steps within its hypothesis, or from the top.
    fn inner(&self) -> &[Step<'d>] {
        if self.hypothesis().is_some() { &self.steps[2..] } else { &self.steps }
    }

    fn is_at(&self, names: &[&str]) -> bool {
        let inner = self.inner();
        self.hypothesis().is_some()
            && inner.len() >= names.len()
            && inner.iter().zip(names).all(|(step, name)| step.is(name))
    }

    /// What to call it: "hypothesis H1", "`links.qwen35` of hypothesis H1", "`family`".
    fn name(&self) -> String {
        let whole = match self.hypothesis() {
            Some((number, _)) => match self.id.filter(|id| !id.trim().is_empty()) {
                Some(id) => format!("hypothesis {}", cut(id, QUOTED)),
                None => format!("hypothesis {number}"),
            },
            None => String::new(),
        };
        let mut path = String::new();
        for step in self.inner() {
            match step {
                Step::Member(member) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(member.name.value());
                }
                Step::Element(index, _) => {
                    let _ = write!(path, "[{index}]");
                }
            }
            if path.len() > 8 * QUOTED {
                break;
            }
        }
        match (path.is_empty(), whole.is_empty()) {
            (true, true) => "the register".to_owned(),
            (true, false) => whole,
            (false, true) => quote(&path),
            (false, false) => format!("{} of {whole}", quote(&path)),
        }
    }

    /// Where to show that it lacks something: a hypothesis by its id, else the opening bracket.
    fn anchor(&self) -> Span {
        let id = self.value.get("id").filter(|_| self.inner().is_empty() && !self.steps.is_empty());
        match id.and_then(Value::as_str) {
            Some(id) => id.span(),
            None => head(self.value),
        }
    }
}

/// A value's characters; of a container only the opening bracket.
fn head(value: Value<'_>) -> Span {
    let span = value.span();
    match value.kind() {
        Kind::Object(_) | Kind::Array(_) => Span { end: span.start + 1, ..span },
        _ => span,
    }
}

/// What a value is, with its article.
fn noun(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Bool(_) => "a boolean",
        Kind::Number(_) => "a number",
        Kind::String(_) => "a string",
        Kind::Array(_) => "an array",
        Kind::Object(_) => "an object",
        Kind::Invalid => "not readable",
    }
}

fn type_noun(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "a whole number",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// "1 item", "2 items".
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A value as it is spelled.
fn spelled(value: Value<'_>) -> String {
    quote(&value.document().text()[value.span().range()])
}

/// Whether something of the value, or within it, could not be read.
fn is_damaged(value: Value<'_>) -> bool {
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        if !value.is_complete() {
            return true;
        }
        match value.kind() {
            Kind::Array(array) => todo.extend(array.elements()),
            Kind::Object(object) => todo.extend(object.members().map(|member| member.value)),
            _ => {}
        }
    }
    false
}

enum Index<'d> {
    Members(HashMap<&'d str, Member<'d>>),
    Elements(Vec<Value<'d>>),
}

/// Puts the validator's errors on one document into words.
pub(super) struct Writer<'d> {
    schema: &'d Schema,
    root: Value<'d>,
    /// Of large containers that an error's path leads through.
    indexes: HashMap<u32, Index<'d>>,
    /// The members that an object lacks, by the object.
    missing: HashMap<u32, Vec<String>>,
    found: Vec<Violation>,
    /// Violations beyond what is kept.
    dropped: usize,
    /// What the paths of the errors start from.
    base: Place<'d>,
    /// Hypotheses whose violations were not listed.
    passed: usize,
}

impl<'d> Writer<'d> {
    pub(super) fn new(schema: &'d Schema, root: Value<'d>) -> Self {
        Self {
            schema,
            root,
            indexes: HashMap::new(),
            missing: HashMap::new(),
            found: Vec::new(),
            dropped: 0,
            base: Place { value: root, steps: Vec::new(), id: None },
            passed: 0,
        }
    }

    /// Whether enough was found that no more is shown.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() > MAX_VIOLATIONS
    }

    /// Counts a hypothesis with violations that are not listed.
    pub(super) fn pass_hypothesis(&mut self) {
        self.passed += 1;
    }

    /// Takes the errors that follow as those of one hypothesis; false if there is no such.
    pub(super) fn enter_hypothesis(&mut self, index: usize, value: Value<'d>) -> bool {
        let top = self.root.as_object();
        let Some(list) = top.and_then(|top| self.member(top, "hypotheses")) else { return false };
        let id = value.as_object().and_then(|object| self.member(object, "id"));
        self.base = Place {
            value,
            steps: vec![Step::Member(list), Step::Element(index, value)],
            id: id.and_then(|member| member.value.as_str()).map(Str::value),
        };
        true
    }

    pub(super) fn write<'e>(&mut self, errors: impl Iterator<Item = ValidationError<'e>>) {
        let mut placed = Vec::new();
        for error in errors {
            if placed.len() >= MAX_PLACED {
                self.dropped += 1;
                continue;
            }
            if let Some(place) = self.place(error.instance_path())
                && !Self::is_consequence(&place, &error)
            {
                if let Fault::Required { property } = error.kind()
                    && let Some(name) = property.as_str()
                {
                    self.missing.entry(place.value.id()).or_default().push(name.to_owned());
                }
                placed.push((place, error));
            }
        }
        self.doubt_misspelled_names(&placed);
        // Unknown names first: each may be a missing one, misspelled.
        let (unknown, others): (Vec<_>, Vec<_>) =
            placed.into_iter().partition(|(_, error)| unexpected(error).is_some());
        for (place, error) in unknown.iter().chain(&others) {
            self.error(place, error, 0);
        }
    }

    /// A name that is spelled wrongly as JSON and that the schema does not know may be any name:
    /// nothing is missing for sure where it stands.
    fn doubt_misspelled_names(&mut self, placed: &[(Place<'d>, ValidationError<'_>)]) {
        if self.root.document().errors().is_empty() {
            return;
        }
        for (place, error) in placed {
            let Some(object) = place.value.as_object() else { continue };
            let mut names = unexpected(error).unwrap_or_default().iter();
            let is_doubtful = place.value.is_guessed()
                || names.any(|name| {
                    self.member(object, name).is_some_and(|it| it.name.is_misspelled())
                });
            if is_doubtful {
                self.missing.insert(place.value.id(), Vec::new());
            }
        }
    }

    /// What was found, by offset.
    pub(super) fn finish(self) -> Vec<Violation> {
        let mut found = self.found;
        found.sort_by(|a, b| (a.span, &a.message).cmp(&(b.span, &b.message)));
        found.dedup_by(|later, first| later.span == first.span && later.message == first.message);
        let mut more = Vec::new();
        for (number, noun, nouns) in [
            (self.dropped + found.len().saturating_sub(MAX_VIOLATIONS), "violation", "violations"),
            (self.passed, "hypothesis with violations", "hypotheses with violations"),
        ] {
            match number {
                0 => {}
                1 => more.push(format!("one more {noun}")),
                _ => more.push(format!("{number} more {nouns}")),
            }
        }
        found.truncate(MAX_VIOLATIONS);
        if let (Some(last), false) = (found.last_mut(), more.is_empty()) {
            let are = if more.len() == 1 && more[0].starts_with("one") { "is" } else { "are" };
            last.notes.push(format!("{} {are} not shown", more.join(" and ")));
        }
        found
    }

    /// Whether the error only repeats that something could not be read.
    fn is_consequence(place: &Place<'_>, error: &ValidationError<'_>) -> bool {
        if place.value.document().errors().is_empty() {
            return false;
        }
        if place.value.is_invalid() || place.value.as_str().is_some_and(Str::is_misspelled) {
            return true;
        }
        // A sign or a digit of it may stand for something else.
        if matches!(place.value.kind(), Kind::Number(_)) && place.value.touches_error() {
            return true;
        }
        match error.kind() {
            Fault::Type { .. } => place.value.is_guessed() || place.value.is_beside_error(),
            Fault::Required { .. }
            | Fault::MinItems { .. }
            | Fault::MinProperties { .. }
            | Fault::AdditionalItems { .. } => {
                !place.value.is_complete() || !place.value.has_sure_end()
            }
            Fault::AnyOf { .. }
            | Fault::OneOfNotValid { .. }
            | Fault::OneOfMultipleValid { .. }
            | Fault::Not { .. }
            | Fault::Contains
            | Fault::Constant { .. }
            | Fault::Enum { .. }
            | Fault::UniqueItems => is_damaged(place.value),
            _ => false,
        }
    }

    // Places.

    fn place(&mut self, path: &Location) -> Option<Place<'d>> {
        let mut place = self.base.clone();
        for segment in path.segments() {
            let step = match segment {
                LocationSegment::Property(name) => {
                    Step::Member(self.member(place.value.as_object()?, &name)?)
                }
                LocationSegment::Index(index) => {
                    Step::Element(index, self.element(place.value, index)?)
                }
            };
            place.value = step.value();
            place.steps.push(step);
            if place.steps.len() == 2
                && let Some((_, hypothesis)) = place.hypothesis()
                && let Some(hypothesis) = hypothesis.as_object()
            {
                let id = self.member(hypothesis, "id").and_then(|member| member.value.as_str());
                place.id = id.map(Str::value);
            }
        }
        Some(place)
    }

    /// The last member whose name reads as `name`.
    fn member(&mut self, object: Object<'d>, name: &str) -> Option<Member<'d>> {
        if object.len() <= SMALL {
            return object.effective_members().filter(|it| it.name.value() == name).last();
        }
        let index = self.indexes.entry(object.as_value().id()).or_insert_with(|| {
            Index::Members(object.effective_members().map(|it| (it.name.value(), it)).collect())
        });
        match index {
            Index::Members(members) => members.get(name).copied(),
            Index::Elements(_) => None,
        }
    }

    fn element(&mut self, array: Value<'d>, at: usize) -> Option<Value<'d>> {
        let elements = array.as_array()?.elements();
        if at < SMALL {
            return elements.into_iter().nth(at);
        }
        let index = self.indexes.entry(array.id());
        match index.or_insert_with(|| Index::Elements(elements.collect())) {
            Index::Elements(elements) => elements.get(at).copied(),
            Index::Members(_) => None,
        }
    }

    // Words.

    fn push(&mut self, place: &Place<'d>, mut violation: Violation) {
        if self.found.len() >= 2 * MAX_VIOLATIONS {
            self.dropped += 1;
            return;
        }
        violation.hypothesis = place.id.map(str::to_owned);
        self.found.push(violation);
    }

    fn say(&mut self, place: &Place<'d>, span: Span, message: String) {
        self.push(place, plain(span, message));
    }

    fn error(&mut self, place: &Place<'d>, error: &ValidationError<'_>, depth: usize) {
        let value = place.value;
        let span = value.span();
        match error.kind() {
            Fault::AdditionalProperties { unexpected }
            | Fault::UnevaluatedProperties { unexpected } => {
                self.unknown_members(place, unexpected, error.schema_path());
            }
            Fault::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let still =
                    self.missing.get(&value.id()).is_none_or(|all| all.iter().any(|it| it == name));
                if still {
                    let message = format!("{} has no {}", place.name(), quote(name));
                    self.say(place, place.anchor(), message);
                }
            }
            Fault::PropertyNames { error } => self.bad_name(place, error),
            Fault::AnyOf { context } | Fault::OneOfNotValid { context } => {
                self.alternatives(place, context, depth);
            }
            Fault::AdditionalItems { limit } => {
                let extra = self.element(value, *limit).map_or(span, Value::span);
                let message = format!("{} may have only {}", place.name(), count(*limit, "item"));
                self.say(place, extra, message);
            }
            Fault::UnevaluatedItems { unexpected } => {
                let message =
                    format!("{} has an item that the schema does not speak of", place.name());
                let unexpected: HashSet<_> = unexpected.iter().map(String::as_str).collect();
                let culprit = value.as_array().and_then(|array| {
                    array
                        .elements()
                        .find(|it| unexpected.contains(copied(*it).to_string().as_str()))
                });
                self.say(place, culprit.map_or(span, Value::span), message);
            }
            Fault::UniqueItems => self.repeated_item(place),
            Fault::FalseSchema => {
                let span = match place.steps.last() {
                    Some(Step::Member(member)) => member.name.span(),
                    _ => head(value),
                };
                self.say(place, span, format!("{} is not allowed here", place.name()));
            }
            Fault::MinItems { .. } | Fault::MinProperties { .. } | Fault::Contains => {
                let message = match error.kind() {
                    Fault::MinItems { limit: 1 } if self.is_hypotheses(place) => {
                        "the register has no hypothesis: `hypotheses` is empty".to_owned()
                    }
                    kind => self.sentence(&place.name(), Some(place), kind, Some(value)),
                };
                self.say(place, span, message);
            }
            // Of the embedded schema, whose `pattern` is `LazyPattern`.
            Fault::Custom { .. } if place.is_at(&["frames"]) => {
                self.control_character(place);
            }
            Fault::MaxItems { limit } => {
                let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
                let span = self.element(value, limit).map_or(span, Value::span);
                let message = self.sentence(&place.name(), Some(place), error.kind(), Some(value));
                self.say(place, span, message);
            }
            kind => {
                let message = self.sentence(&place.name(), Some(place), kind, Some(value));
                // A large container is shown by its bracket.
                let span = if matches!(kind, Fault::Type { .. }) { head(value) } else { span };
                self.say(place, span, message);
            }
        }
    }

    fn is_hypotheses(&self, place: &Place<'d>) -> bool {
        self.schema.is_embedded && place.steps.len() == 1 && place.steps[0].is("hypotheses")
    }

    /// What is wrong with something called `subject`: the value, or a name where there is none.
    #[expect(clippy::too_many_lines, reason = "one arm a keyword")]
    fn sentence(
        &self,
        subject: &str,
        place: Option<&Place<'d>>,
        kind: &Fault,
        value: Option<Value<'d>>,
    ) -> String {
        let shown = value.map_or_else(|| "it".to_owned(), spelled);
        let own = |names: &[&str]| {
            self.schema.is_embedded && place.is_some_and(|place| place.is_at(names))
        };
        let depth = place.map_or(0, |place| place.inner().len());
        let sized = |noun: &str| count(value.map_or(0, size), noun);
        match kind {
            Fault::Type { kind } => {
                let is = value.map_or("a string", noun);
                if own(&["links"]) && depth == 2 {
                    return format!("{subject} is {is}; a link is an id, a list of ids or null");
                }
                if own(&["_reglint", "allow"]) && depth == 3 {
                    return format!(
                        "{subject} is {is}; an allowance is a reason, or an object with one"
                    );
                }
                if let (TypeKind::Single(JsonType::Integer), Some("a number")) =
                    (kind, value.map(noun))
                {
                    return format!("{subject} is {shown}, not a whole number");
                }
                let kinds: Vec<_> = match kind {
                    TypeKind::Single(kind) => vec![type_noun(*kind)],
                    TypeKind::Multiple(kinds) => kinds.iter().map(type_noun).collect(),
                };
                format!("{subject} is {is}, not {}", list(&kinds))
            }
            // Of the embedded schema, whose `pattern` is `LazyPattern`.
            Fault::Custom { .. } if own(&["_reglint", "allow"]) => {
                let is_empty = value.is_some_and(|value| size(value) == 0);
                let is = if is_empty { "empty" } else { "blank" };
                format!("{subject} is {is}; an allowance needs a reason")
            }
            Fault::MinLength { limit: 1 }
            | Fault::MinItems { limit: 1 }
            | Fault::MinProperties { limit: 1 } => format!("{subject} is empty"),
            Fault::MinLength { limit } => {
                format!("{subject} has {}, fewer than {limit}", sized("character"))
            }
            Fault::MaxLength { limit } => {
                format!("{subject} has {}, more than {limit}", sized("character"))
            }
            Fault::MinItems { limit } => {
                format!("{subject} has {}, fewer than {limit}", sized("item"))
            }
            Fault::MaxItems { limit } => {
                format!("{subject} has {}, more than {limit}", sized("item"))
            }
            Fault::MinProperties { limit } => {
                format!("{subject} has {}, fewer than {limit}", sized("member"))
            }
            Fault::MaxProperties { limit } => {
                format!("{subject} has {}, more than {limit}", sized("member"))
            }
            Fault::Maximum { .. } if value.is_some_and(is_infinite) => {
                format!("{subject} is {shown}, which is infinite for Python")
            }
            Fault::Minimum { limit } => format!("{subject} is {shown}, less than {limit}"),
            Fault::Maximum { limit } => format!("{subject} is {shown}, more than {limit}"),
            Fault::ExclusiveMinimum { limit } => {
                format!("{subject} is {shown}, but has to be more than {limit}")
            }
            Fault::ExclusiveMaximum { limit } => {
                format!("{subject} is {shown}, but has to be less than {limit}")
            }
            Fault::MultipleOf { multiple_of } => {
                format!("{subject} is {shown}, not a multiple of {multiple_of}")
            }
            Fault::Constant { expected_value } => {
                format!("{subject} has to be {}", quote(&expected_value.to_string()))
            }
            Fault::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let all: Vec<_> =
                    options.iter().take(12).map(|option| quote(&option.to_string())).collect();
                let all: Vec<_> = all.iter().map(String::as_str).collect();
                let more = if options.len() > 12 { " and others" } else { "" };
                format!("{subject} is {shown}, not {}{more}", list(&all))
            }
            Fault::Pattern { pattern } => {
                format!("{subject} does not match the pattern {}", quote(pattern))
            }
            Fault::BacktrackLimitExceeded { .. } | Fault::RegexEngineFailure { .. } => {
                format!(
                    "{subject} could not be checked: a pattern of the schema takes too long on it"
                )
            }
            Fault::Format { format } if format == "date" => {
                format!("{subject} is not a day such as 2027-03-31")
            }
            Fault::Format { format } => format!("{subject} is not of the format {}", quote(format)),
            Fault::Contains => {
                format!(
                    "{subject} has not as many items that fit as the schema's `contains` asks for"
                )
            }
            Fault::Not { .. } => format!("{subject} is what the schema excludes"),
            Fault::OneOfMultipleValid { .. } => {
                format!("{subject} fits several alternatives of the schema, and only one may fit")
            }
            Fault::AnyOf { context } | Fault::OneOfNotValid { context } => {
                format!("{subject} fits none of the {} alternatives of the schema", context.len())
            }
            Fault::FalseSchema => format!("{subject} is not allowed here"),
            Fault::Required { property } => {
                format!("{subject} has no {}", quote(property.as_str().unwrap_or_default()))
            }
            Fault::AdditionalProperties { unexpected }
            | Fault::UnevaluatedProperties { unexpected } => {
                let names = unexpected.first().map_or(String::new(), |name| quote(name));
                format!("{subject} has the unknown member {names}")
            }
            other => format!("{subject} breaks the schema's {}", quote(other.keyword())),
        }
    }

    /// Members that the schema does not know. One that is near a missing one is that one.
    fn unknown_members(&mut self, place: &Place<'d>, names: &[String], schema_path: &Location) {
        let Some(object) = place.value.as_object() else { return };
        let known = self.known_names(schema_path);
        let known: Vec<_> =
            known.iter().map(String::as_str).filter(|name| object.get(name).is_none()).collect();
        let whole = place.name();
        let mut taken = HashSet::new();
        let (mut unknown, mut wanted) = (Vec::new(), HashMap::<String, usize>::new());
        for name in names {
            let Some(member) = self.member(object, name) else { continue };
            // `invalid-encoding` says it of a name that is no text.
            let is_odd = member.name.is_misspelled() || member.name.has_lone_surrogate();
            if is_odd || !place.value.has_sure_end() {
                continue;
            }
            let missing =
                self.missing.get(&place.value.id()).map(Vec::as_slice).unwrap_or_default();
            let needed =
                suggest::nearest(name, missing.iter().map(String::as_str)).map(str::to_owned);
            if let Some(needed) = &needed {
                *wanted.entry(needed.clone()).or_default() += 1;
            }
            unknown.push((name, member, needed));
        }
        for (name, member, needed) in unknown {
            // Of two that could be the missing one, who knows which is it?
            let is_only = needed.as_ref().is_some_and(|needed| wanted.get(needed) == Some(&1));
            let near = match &needed {
                Some(needed) => Some(needed.clone()),
                // Where nothing is near, there may be thousands of names.
                None if names.len() > 1000 => None,
                None => {
                    let free = known.iter().copied().filter(|name| !taken.contains(*name));
                    suggest::nearest(name, free).map(str::to_owned)
                }
            };
            let within = if place.steps.is_empty() {
                "at the top of the register".to_owned()
            } else {
                format!("in {whole}")
            };
            let mut violation =
                plain(member.name.span(), format!("unknown member {} {within}", quote(name)));
            if let Some(near) = &near {
                taken.insert(near.clone());
                violation.notes.push(suggest::did_you_mean(near));
                if needed.is_some() {
                    violation.notes.push(format!("{whole} has no {}", quote(near)));
                }
                let spelled = serde_json::Value::from(near.as_str()).to_string();
                violation.repair = Some(Repair {
                    message: format!("rename it to `{near}`"),
                    edits: vec![(member.name.inner_span(), spelled.trim_matches('"').to_owned())],
                    safe: is_only,
                });
            }
            if self.schema.is_embedded {
                violation.notes.push(
                    "the script that reads the register drops unknown members without a word; a name that begins with `_` makes a comment".to_owned(),
                );
            }
            if let (Some(needed), Some(missing)) =
                (&needed, self.missing.get_mut(&place.value.id()))
            {
                missing.retain(|name| name != needed);
            }
            self.push(place, violation);
        }
    }

    /// The names under `properties` beside the keyword at `path`.
    fn known_names(&self, path: &Location) -> Vec<String> {
        let beside = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
        let properties = self.schema.value.pointer(beside).and_then(|it| it.get("properties"));
        let properties = properties.and_then(serde_json::Value::as_object);
        properties.map(|it| it.keys().cloned().collect()).unwrap_or_default()
    }

    fn bad_name(&mut self, place: &Place<'d>, error: &ValidationError<'_>) {
        let name = error.instance().as_str().unwrap_or_default().to_owned();
        let member = place.value.as_object().and_then(|object| self.member(object, &name));
        let subject = format!("the member name {}", quote(&name));
        let subject =
            if place.steps.is_empty() { subject } else { format!("{subject} in {}", place.name()) };
        let message = match error.kind() {
            Fault::MinLength { limit } | Fault::MaxLength { limit } => {
                let length = count(name.chars().count(), "character");
                let more = matches!(error.kind(), Fault::MaxLength { .. });
                format!(
                    "{subject} has {length}, {} than {limit}",
                    if more { "more" } else { "fewer" }
                )
            }
            Fault::Enum { .. } | Fault::Constant { .. } => {
                format!("{subject} is none that the schema allows")
            }
            kind => self.sentence(&subject, None, kind, None),
        };
        let span = member.map_or(head(place.value), |member| member.name.span());
        self.say(place, span, message);
    }

    /// A value that fits none of several alternatives. Where all but one are ruled out by its type,
    /// what that one says is what is wrong.
    fn alternatives(
        &mut self,
        place: &Place<'d>,
        branches: &[Vec<ValidationError<'static>>],
        depth: usize,
    ) {
        let here = place.steps.len();
        let rules_out = |error: &ValidationError<'_>| {
            matches!(error.kind(), Fault::Type { .. } | Fault::Constant { .. } | Fault::Enum { .. })
                && error.instance_path().segments().count()
                    <= here + usize::from(!matches!(error.kind(), Fault::Type { .. }))
        };
        let left: Vec<_> = branches.iter().filter(|branch| !branch.iter().any(rules_out)).collect();
        if let ([only], true) = (left.as_slice(), branches.len() > 1 && depth < 8) {
            for error in *only {
                if let Some(place) = self.place(error.instance_path())
                    && !Self::is_consequence(&place, error)
                {
                    self.error(&place, error, depth + 1);
                }
            }
            return;
        }
        let message = format!(
            "{} fits none of the {} alternatives of the schema",
            place.name(),
            branches.len()
        );
        let mut violation = plain(place.value.span(), message);
        for (index, branch) in branches.iter().enumerate().take(MAX_ALTERNATIVES) {
            if let Some(error) = branch.first()
                && let Some(place) = self.place(error.instance_path())
            {
                let sentence =
                    self.sentence(&place.name(), Some(&place), error.kind(), Some(place.value));
                violation.notes.push(format!("alternative {}: {sentence}", index + 1));
            }
        }
        self.push(place, violation);
    }

    fn repeated_item(&mut self, place: &Place<'d>) {
        let mut seen = HashMap::new();
        let mut violation =
            plain(place.value.span(), format!("{} has the same item twice", place.name()));
        for element in place.value.as_array().into_iter().flat_map(crate::json::Array::elements) {
            if let Some(first) = seen.insert(copied(element).to_string(), element) {
                violation.span = element.span();
                violation.related.push((first.span(), "the first one".to_owned()));
                break;
            }
        }
        self.push(place, violation);
    }

    /// A frame with a control character, shown at that character.
    fn control_character(&mut self, place: &Place<'d>) {
        let mut span = place.value.span();
        let mut code = 0;
        if let Some(string) = place.value.as_str()
            && let Some((at, c)) = string.value().char_indices().find(|(_, c)| c.is_control())
        {
            span = string.source_span(at..at + c.len_utf8());
            code = u32::from(c);
        }
        let name = place.name();
        let message = format!("{name} has the control character U+{code:04X}; a frame has none");
        self.say(place, span, message);
    }
}

fn copied(value: Value<'_>) -> std::borrow::Cow<'_, serde_json::Value> {
    use jsonschema::json::Node as _;
    super::Instance::Value(value).to_value()
}

fn size(value: Value<'_>) -> usize {
    match value.kind() {
        Kind::String(string) => string.value().chars().count(),
        Kind::Array(array) => array.len(),
        Kind::Object(object) => object.effective_len(),
        _ => 0,
    }
}

fn is_infinite(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Number(text) => text.parse::<f64>().is_ok_and(f64::is_infinite),
        _ => false,
    }
}

fn plain(span: Span, message: String) -> Violation {
    Violation {
        span,
        message,
        related: Vec::new(),
        notes: Vec::new(),
        hypothesis: None,
        repair: None,
    }
}

fn unexpected<'e>(error: &'e ValidationError<'_>) -> Option<&'e [String]> {
    match error.kind() {
        Fault::AdditionalProperties { unexpected }
        | Fault::UnevaluatedProperties { unexpected } => Some(unexpected),
        _ => None,
    }
}
