//! The span tree as `jsonschema` wants to see a document: nothing is parsed twice, and nothing is
//! copied unless a keyword compares whole values.
//!
//! Of a repeated member the last one counts, as for Python. A value that could not be read counts
//! as null; what the validator says of it is dropped later.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, JsonNumber, NodeIdentity};

use crate::json::{Array, Elements, Kind, Member, Members, Object, Str, Value};

/// The representation.
pub(super) struct Spans;

/// A value of the document, or the name of one of its members.
#[derive(Clone, Copy)]
pub(super) enum Instance<'d> {
    Value(Value<'d>),
    Name(&'d str),
}

impl Json for Spans {
    type Node<'d> = Instance<'d>;
    type PreparedKey = Box<str>;
    type StringBuffer = String;

    // A lookup is a walk over the members, so one pass replaces several; measured on registers.
    const KEYS_PER_LOOKUP: usize = 8;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut String,
        string: &str,
        f: impl FnOnce(Instance<'_>) -> T,
    ) -> T {
        buffer.clear();
        buffer.push_str(string);
        f(Instance::Name(buffer))
    }
}

/// A number as it is spelled.
pub(super) struct Literal<'d>(&'d str);

impl JsonNumber for Literal<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Infinite where Python's `float` is.
    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        let exact = self.as_u64().map(Into::into).or_else(|| self.as_i64().map(Into::into));
        let rounded = || {
            let value = self.as_f64().unwrap_or_default().clamp(f64::MIN, f64::MAX);
            serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into())
        };
        Cow::Owned(exact.unwrap_or_else(rounded))
    }

    fn is_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
            || self.as_f64().is_some_and(|value| value.is_finite() && value.fract() == 0.0)
    }
}

fn copy(value: Value<'_>) -> serde_json::Value {
    use serde_json::Value as Copy;
    match value.kind() {
        Kind::Null | Kind::Invalid => Copy::Null,
        Kind::Bool(value) => Copy::Bool(value),
        Kind::Number(text) => Copy::Number(Literal(text).to_number().into_owned()),
        Kind::String(string) => Copy::String(string.value().to_owned()),
        // As deep as documents are, at most `json::MAX_DEPTH`.
        Kind::Array(array) => Copy::Array(array.elements().map(copy).collect()),
        Kind::Object(object) => {
            let members = object.effective_members();
            Copy::Object(members.map(|it| (it.name.value().to_owned(), copy(it.value))).collect())
        }
    }
}

impl<'d> json::Node<'d, Spans> for Instance<'d> {
    type Object = Object<'d>;
    type Array = Array<'d>;
    type Number = Literal<'d>;

    fn as_object(&self) -> Option<Object<'d>> {
        match self {
            Self::Value(value) => value.as_object(),
            Self::Name(_) => None,
        }
    }

    fn as_array(&self) -> Option<Array<'d>> {
        match self {
            Self::Value(value) => value.as_array(),
            Self::Name(_) => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'d, str>> {
        match self {
            Self::Value(value) => value.as_str().map(|string| Cow::Borrowed(string.value())),
            Self::Name(name) => Some(Cow::Borrowed(name)),
        }
    }

    fn as_number(&self) -> Option<Literal<'d>> {
        match self {
            Self::Value(value) => match value.kind() {
                Kind::Number(text) => Some(Literal(text)),
                _ => None,
            },
            Self::Name(_) => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Value(value) => match value.kind() {
                Kind::Bool(value) => Some(value),
                _ => None,
            },
            Self::Name(_) => None,
        }
    }

    fn is_null(&self) -> bool {
        self.json_type() == JsonType::Null
    }

    fn json_type(&self) -> JsonType {
        match self {
            Self::Value(value) => match value.kind() {
                Kind::Null | Kind::Invalid => JsonType::Null,
                Kind::Bool(_) => JsonType::Boolean,
                Kind::Number(_) => JsonType::Number,
                Kind::String(_) => JsonType::String,
                Kind::Array(_) => JsonType::Array,
                Kind::Object(_) => JsonType::Object,
            },
            Self::Name(_) => JsonType::String,
        }
    }

    fn to_value(&self) -> Cow<'d, serde_json::Value> {
        Cow::Owned(match self {
            Self::Value(value) => copy(*value),
            Self::Name(name) => serde_json::Value::String((*name).to_owned()),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(match self {
            Self::Value(value) => {
                NodeIdentity::tagged(std::ptr::from_ref(value.document()).addr(), value.id())
            }
            Self::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), u32::MAX),
        })
    }
}

impl<'d> json::Object<'d, Spans> for Object<'d> {
    type Node = Instance<'d>;
    type MemberName = Name<'d>;
    type MembersIter = EffectiveMembers<'d>;

    fn len(&self) -> usize {
        self.effective_len()
    }

    fn get(&self, key: &Box<str>) -> Option<Instance<'d>> {
        Object::get(*self, key).map(Instance::Value)
    }

    fn members(&self) -> EffectiveMembers<'d> {
        EffectiveMembers(Object::members(*self))
    }
}

/// A member's name, decoded when it is read.
pub(super) struct Name<'d>(Str<'d>);

impl AsRef<str> for Name<'_> {
    fn as_ref(&self) -> &str {
        self.0.value()
    }
}

impl<'d> From<Name<'d>> for Cow<'d, str> {
    fn from(name: Name<'d>) -> Self {
        Cow::Borrowed(name.0.value())
    }
}

/// The members that Python keeps.
pub(super) struct EffectiveMembers<'d>(Members<'d>);

impl<'d> Iterator for EffectiveMembers<'d> {
    type Item = (Name<'d>, Instance<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        let Member { name, value } = self.0.find(|member| !member.is_shadowed())?;
        Some((Name(name), Instance::Value(value)))
    }
}

impl<'d> json::Array<'d, Spans> for Array<'d> {
    type Node = Instance<'d>;
    type ElementsIter = std::iter::Map<Elements<'d>, fn(Value<'d>) -> Instance<'d>>;

    fn len(&self) -> usize {
        Array::len(*self)
    }

    fn elements(&self) -> Self::ElementsIter {
        Array::elements(*self).map(Instance::Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonschema::json::conformance;

    #[test]
    fn keeps_the_contract_of_the_validator() {
        let text = conformance::document().to_string();
        let document = crate::json::parse(&text);
        conformance::assert_conformance::<Spans>(&Instance::Value(document.root().unwrap()));
    }

    #[test]
    fn numbers_are_what_they_spell() {
        use json::Node as _;
        for (text, whole, value) in [
            ("1", true, 1.0),
            ("-0", true, 0.0),
            ("1.0", true, 1.0),
            ("1e2", true, 100.0),
            ("1.5", false, 1.5),
            ("1e999", false, f64::INFINITY),
            ("123456789012345678901234567890", true, 123_456_789_012_345_678_901_234_567_890.0),
        ] {
            let document = crate::json::parse(text);
            let number = Instance::Value(document.root().unwrap()).as_number().unwrap();
            assert_eq!(number.is_integer(), whole, "{text}");
            assert_eq!(number.as_f64(), Some(value), "{text}");
        }
    }
}
