//! Plain data for JSON and other formats.

use std::collections::{BTreeMap, HashSet};

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::clixml::number;
use crate::serde::functions::{Budget, RemainingBudget};
use crate::serde::view::{self, text, visible};
use crate::value::Base;
use crate::{Object, PsString, Value, b64};

/// A value as plain data, for example to print it as JSON.
///
/// All serializers except the one of this crate write [`Value`] in this form; this type adds options.
///
/// | value | as |
/// |---|---|
/// | `Nil` | null |
/// | `Bool`, integers, `Single`, `Double` | boolean, number; in JSON null for NaN and infinities |
/// | `Decimal`, `System.Numerics.BigInteger` | string, to preserve all digits; see [`numbers`](Self::numbers) |
/// | strings, `Uri`, `Xml`, `ScriptBlock`, `Char` | string, with U+FFFD for each lone surrogate |
/// | `Guid`, `Version`, `DateTime`, `TimeSpan` | string as in CLIXML: `2024-05-06T07:08:09.5Z`, `PT1.5S` |
/// | `Bytes` | Base64; bytes in binary formats |
/// | `SecureString` | null, encrypted or not |
/// | `Progress` | map with the property names of the .NET type |
/// | list, enumerable, queue or stack | list |
/// | dictionary | map; keys are the text form of the value, or the type name if there is none |
/// | dictionary with keys of the same text, such as `1` and `"1"` | list of maps with `Key` and `Value` |
/// | enumeration value | its name, else its number |
/// | object that wraps a value | the wrapped value |
/// | other objects | map of the members: extended members, then adapted ones that are not hidden by these |
/// | object without members but with a text form, regular expression | the text |
/// | reference to an enclosing object | the text form of the object, else null |
///
/// Members of lists, dictionaries and wrapped values, type names and text forms are omitted unless
/// [`with_type_names`](Self::with_type_names) is set.
///
/// ```
/// use psrp::serde::Plain;
/// use psrp::{Object, Value};
///
/// let file = Object::builder()
///     .type_names(["System.IO.FileInfo", "System.Object"])
///     .to_string("a.txt")
///     .adapted("Length", 42_i64)
///     .build();
/// let value = Value::from(file);
/// assert_eq!(serde_json::to_string(&value)?, r#"{"Length":42}"#);
/// assert_eq!(
///     serde_json::to_string(&Plain::new(&value).with_type_names())?,
///     r#"{"$TypeNames":["System.IO.FileInfo","System.Object"],"$ToString":"a.txt","Length":42}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Plain<'a, N = NumbersAsText> {
    value: &'a Value,
    budget: Budget,
    with_type_names: bool,
    numbers: N,
}

/// Writes numbers that have no type in serde: decimals and big integers.
pub trait PlainNumbers: Copy {
    /// Writes a number in decimal notation, such as `-1.50`.
    ///
    /// # Errors
    ///
    /// Fails like the serializer.
    fn serialize<S: Serializer>(self, number: &str, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Writes numbers as strings.
#[derive(Clone, Copy, Debug)]
pub struct NumbersAsText;

impl PlainNumbers for NumbersAsText {
    fn serialize<S: Serializer>(self, number: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(number)
    }
}

impl<'a> Plain<'a> {
    /// Creates plain data with the default [`Budget`] and without type names.
    pub const fn new(value: &'a Value) -> Self {
        Self { value, budget: Budget::new(), with_type_names: false, numbers: NumbersAsText }
    }

    /// Sets how decimals and big integers are written, for example as raw values of serde_json. Default: as strings.
    pub fn numbers<N: PlainNumbers>(self, numbers: N) -> Plain<'a, N> {
        Plain { value: self.value, budget: self.budget, with_type_names: self.with_type_names, numbers }
    }
}

impl<N> Plain<'_, N> {
    /// Sets the budget. If it is exceeded, the serializer fails.
    pub const fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Writes each object as a map with `$TypeNames`, `$ToString` and `$Value`, if present, followed by its members.
    pub const fn with_type_names(mut self) -> Self {
        self.with_type_names = true;
        self
    }
}

/// # Errors
///
/// Fails like the serializer, and if the budget is exceeded.
impl<N: PlainNumbers> Serialize for Plain<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { value, with_type_names, numbers, .. } = *self;
        Node { value, budget: &self.budget.start(), with_type_names, numbers }.serialize(serializer)
    }
}

#[derive(Clone, Copy)]
struct Node<'a, N> {
    value: &'a Value,
    budget: &'a RemainingBudget,
    with_type_names: bool,
    numbers: N,
}

impl<N: PlainNumbers> Node<'_, N> {
    fn list<S: Serializer>(self, items: &[Value], serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(items.len()))?;
        for value in items {
            list.serialize_element(&Node { value, ..self })?;
        }
        list.end()
    }

    fn dictionary<S: Serializer>(self, entries: &[(Value, Value)], serializer: S) -> Result<S::Ok, S::Error> {
        let text = |key: &Value| match text(key) {
            Some(text) => text.to_str_lossy().into_owned(),
            None => key_text(key),
        };
        let is_string = |(key, _): &(Value, Value)| matches!(key, Value::String(_));
        if !entries.iter().all(is_string) {
            let mut texts = HashSet::new();
            if !entries.iter().all(|(key, _)| texts.insert(text(key))) {
                let mut list = serializer.serialize_seq(Some(entries.len()))?;
                for (key, value) in entries {
                    let entry = [("Key", key), ("Value", value)];
                    let entry = entry.map(|(name, value)| (name, Node { value, ..self }));
                    list.serialize_element(&BTreeMap::from(entry))?;
                }
                return list.end();
            }
        }
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (key, value) in entries {
            // Keys are written as text and so never nested.
            self.budget.charge(key).map_err(ser::Error::custom)?;
            map.serialize_entry(&text(key), &Node { value, ..self })?;
        }
        map.end()
    }

    fn members<S: Serializer>(
        self,
        members: &[(&PsString, &Value)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(members.len()))?;
        for (name, value) in members {
            map.serialize_entry(&*name.to_str_lossy(), &Node { value, ..self })?;
        }
        map.end()
    }

    fn object<S: Serializer>(self, object: &Object, serializer: S) -> Result<S::Ok, S::Error> {
        if self.with_type_names {
            return self.typed_object(object, serializer);
        }
        match object.base() {
            Base::List(_, items) => self.list(items, serializer),
            Base::Dictionary(entries) => self.dictionary(entries, serializer),
            Base::Value(inner) => match object.to_string_text() {
                Some(name) if object.is_a("System.Enum") => serializer.serialize_str(&name.to_str_lossy()),
                _ => Node { value: inner, ..self }.serialize(serializer),
            },
            Base::None => {
                let members = visible(object.extended().as_slice(), object.adapted().as_slice());
                match object.to_string_text() {
                    Some(text)
                        if object.is_a("System.Numerics.BigInteger") && is_integer(&text.to_str_lossy()) =>
                    {
                        self.numbers.serialize(&text.to_str_lossy(), serializer)
                    }
                    Some(text) if object.is_a("System.Text.RegularExpressions.Regex") => {
                        serializer.serialize_str(&text.to_str_lossy())
                    }
                    Some(text) if members.is_empty() => serializer.serialize_str(&text.to_str_lossy()),
                    _ => self.members(&members, serializer),
                }
            }
        }
    }

    /// Writes an object with type names, text form and wrapped value.
    fn typed_object<S: Serializer>(self, object: &Object, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(names) = object.type_names() {
            let names: Vec<_> = names.into_iter().map(PsString::to_str_lossy).collect();
            map.serialize_entry(view::TYPE_NAMES, &names)?;
        }
        if let Some(text) = object.to_string_text() {
            map.serialize_entry(view::TO_STRING, &*text.to_str_lossy())?;
        }
        match object.base() {
            Base::None => {}
            Base::Value(inner) => map.serialize_entry(view::VALUE, &Node { value: inner, ..self })?,
            Base::List(..) | Base::Dictionary(_) => {
                map.serialize_entry(view::VALUE, &Container(self, object.base()))?;
            }
        }
        for (name, value) in visible(object.extended().as_slice(), object.adapted().as_slice()) {
            map.serialize_entry(&*name.to_str_lossy(), &Node { value, ..self })?;
        }
        map.end()
    }
}

impl<N: PlainNumbers> Serialize for Node<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.budget.charge(self.value).map_err(ser::Error::custom)?;
        match self.value {
            Value::Nil | Value::SecureString(_) => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::SByte(value) => serializer.serialize_i8(*value),
            Value::Byte(value) => serializer.serialize_u8(*value),
            Value::Int16(value) => serializer.serialize_i16(*value),
            Value::UInt16(value) => serializer.serialize_u16(*value),
            Value::Int32(value) => serializer.serialize_i32(*value),
            Value::UInt32(value) => serializer.serialize_u32(*value),
            Value::Int64(value) => serializer.serialize_i64(*value),
            Value::UInt64(value) => serializer.serialize_u64(*value),
            Value::Single(value) => serializer.serialize_f32(*value),
            Value::Double(value) => serializer.serialize_f64(*value),
            Value::Decimal(value) => self.numbers.serialize(&value.to_string(), serializer),
            Value::Bytes(bytes) if serializer.is_human_readable() => {
                serializer.serialize_str(&b64::encode_to_string(bytes))
            }
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Value::Cycle(cycle) => match cycle.upgrade().as_ref().and_then(Object::to_string_text) {
                Some(text) => serializer.serialize_str(&text.to_str_lossy()),
                None => serializer.serialize_unit(),
            },
            Value::Object(object) => {
                self.budget.enter().map_err(ser::Error::custom)?;
                let result = self.object(object, serializer);
                self.budget.leave();
                result
            }
            Value::MemberSet(members) => {
                self.budget.enter().map_err(ser::Error::custom)?;
                let result = self.members(&visible(members.as_slice(), &[]), serializer);
                self.budget.leave();
                result
            }
            Value::Progress(record) => self.members(&visible(record.members().as_slice(), &[]), serializer),
            value => match text(value) {
                Some(text) => serializer.serialize_str(&text.to_str_lossy()),
                None => serializer.serialize_unit(),
            },
        }
    }
}

/// The items or entries of a container without its other parts.
struct Container<'a, N>(Node<'a, N>, &'a Base);

impl<N: PlainNumbers> Serialize for Container<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Base::List(_, items) => self.0.list(items, serializer),
            Base::Dictionary(entries) => self.0.dictionary(entries, serializer),
            Base::None | Base::Value(_) => serializer.serialize_unit(),
        }
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Converts a key without text form to the key of a map.
fn key_text(key: &Value) -> String {
    match key.base() {
        Value::Bool(value) => value.to_string(),
        Value::Single(value) => number::text(*value).as_str().to_owned(),
        Value::Double(value) => number::text(*value).as_str().to_owned(),
        Value::Bytes(bytes) => b64::encode_to_string(bytes),
        key => match (key.as_i64(), key.as_u64()) {
            (Some(number), _) => number.to_string(),
            (None, Some(number)) => number.to_string(),
            // An object without text form: use its type name.
            (None, None) => match key.as_object().as_ref().and_then(Object::type_names) {
                Some(names) => names.first().map_or_else(String::new, ToString::to_string),
                None => String::new(),
            },
        },
    }
}

/// Converts plain data to a value.
///
/// Integers become `Int32` if they fit, else `Int64` or `UInt64`; other numbers `Double`; text `String`; lists a list;
/// maps a custom object with these members, or a dictionary if a key is not a string.
pub(in crate::serde) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    deserializer.deserialize_any(PlainVisitor)
}

struct PlainVisitor;

macro_rules! converted {
    ($($visit:ident($type:ty)),* $(,)?) => {$(
        fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        }
    )*};
}

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    converted! {
        visit_bool(bool),
        visit_f32(f32),
        visit_f64(f64),
        visit_str(&str),
        visit_string(String),
        visit_bytes(&[u8]),
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(i32::try_from(value).map_or(Value::Int64(value), Value::Int32))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value).map_or(Ok(Value::UInt64(value)), |value| self.visit_i64(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Value, A::Error> {
        let items = Vec::<Value>::deserialize(SeqAccessDeserializer::new(items))?;
        Ok(Object::list(items).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = entries.next_entry::<Value, Value>()? {
            pairs.push(pair);
        }
        if pairs.iter().all(|(key, _)| matches!(key, Value::String(_))) {
            return Ok(Object::custom(pairs.into_iter().filter_map(|(key, value)| match key {
                Value::String(name) => Some((name, value)),
                _ => None,
            }))
            .into());
        }
        if pairs.iter().any(|(key, _)| key.is_nil()) {
            return Err(de::Error::custom("a key of a dictionary is null"));
        }
        Ok(Object::dictionary(pairs).into())
    }
}
