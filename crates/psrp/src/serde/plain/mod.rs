//! Values as plain data, for JSON and other formats.

mod read;

use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::b64;
use crate::clixml::number;
use crate::serde::budget::{Budget, Meter};
use crate::serde::de::{text, visible};
use crate::serde::special;
use crate::value::{Base, TypeNames};
use crate::{Object, PsString, Value};

pub(super) use self::read::deserialize;

/// A value as plain data: what a command-line tool prints as JSON.
///
/// [`Value`] itself is written in this way by any serializer but the one of this crate; this type adds choices.
///
/// | value | as |
/// |---|---|
/// | `Nil` | null |
/// | `Bool`, integers, `Single`, `Double` | boolean, number; JSON has null for what is no finite number |
/// | `Decimal` | a string, so that no digit is lost |
/// | strings, `Uri`, `Xml`, `ScriptBlock`, `Char` | a string, with U+FFFD for each lone surrogate |
/// | `Guid`, `Version`, `DateTime`, `TimeSpan` | a string as in CLIXML: `2024-05-06T07:08:09.5Z`, `PT1.5S` |
/// | `Bytes` | base64; bytes where the format is a binary one |
/// | `SecureString` | null, encrypted or not |
/// | `Progress` | a map with the names of the .NET type |
/// | a list, enumerable, queue or stack | a list |
/// | a dictionary | a map; keys are the text of a value, the type name of what has none |
/// | a value of an enumeration | its name, else its number |
/// | an object that wraps a value | the value |
/// | any other object | a map of its members: extended ones, then the adapted ones that these do not hide |
/// | an object without members that has a text | the text |
/// | a reference to an enclosing object | the text of the object, else null |
///
/// Members of lists, dictionaries and wrapped values, type names and text forms are left out, unless
/// [`with_type_names`](Self::with_type_names) asks for them.
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
pub struct Plain<'a> {
    value: &'a Value,
    budget: Budget,
    details: Details,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Details {
    Members,
    All,
}

impl<'a> Plain<'a> {
    /// With the default [`Budget`] and without type names.
    pub const fn new(value: &'a Value) -> Self {
        Self { value, budget: Budget::new(), details: Details::Members }
    }

    /// Sets how many values are written, and how deep. Beyond, the serializer fails.
    pub const fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Writes each object as a map with `$TypeNames`, `$ToString` and `$Value`, as far as it has them, before its
    /// members.
    pub const fn with_type_names(mut self) -> Self {
        self.details = Details::All;
        self
    }
}

/// # Errors
///
/// Those of the serializer, and one if the budget is exceeded.
impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let meter = self.budget.meter();
        Node { value: self.value, meter: &meter, details: self.details }.serialize(serializer)
    }
}

/// A value with what is left of the budget.
#[derive(Clone, Copy)]
struct Node<'a> {
    value: &'a Value,
    meter: &'a Meter,
    details: Details,
}

impl Node<'_> {
    fn list<S: Serializer>(self, items: &[Value], serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(items.len()))?;
        for value in items {
            list.serialize_element(&Node { value, ..self })?;
        }
        list.end()
    }

    fn dictionary<S: Serializer>(self, entries: &[(Value, Value)], serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (key, value) in entries {
            let node = Node { value, ..self };
            // A key is no deeper than a text, so that it needs no node of its own.
            self.meter.charge(key).map_err(ser::Error::custom)?;
            match text(key) {
                Some(text) => map.serialize_entry(&*text.lossy(), &node)?,
                None => map.serialize_entry(&key_text(key), &node)?,
            }
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
        if self.details == Details::All {
            return self.details(object, serializer);
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
                    Some(text) if members.is_empty() => serializer.serialize_str(&text.to_str_lossy()),
                    _ => self.members(&members, serializer),
                }
            }
        }
    }

    /// All that an object has but the difference between its two kinds of members.
    fn details<S: Serializer>(self, object: &Object, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(names) = object.type_names() {
            map.serialize_entry(special::TYPE_NAMES, &Names(names))?;
        }
        if let Some(text) = object.to_string_text() {
            map.serialize_entry(special::TO_STRING, &*text.to_str_lossy())?;
        }
        match object.base() {
            Base::None => {}
            Base::Value(inner) => map.serialize_entry(special::VALUE, &Node { value: inner, ..self })?,
            Base::List(_, items) => {
                map.serialize_entry(special::VALUE, &Wrapped(self, Inner::List(items)))?
            }
            Base::Dictionary(entries) => {
                map.serialize_entry(special::VALUE, &Wrapped(self, Inner::Dictionary(entries)))?;
            }
        }
        for (name, value) in visible(object.extended().as_slice(), object.adapted().as_slice()) {
            map.serialize_entry(&*name.to_str_lossy(), &Node { value, ..self })?;
        }
        map.end()
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.meter.charge(self.value).map_err(ser::Error::custom)?;
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
            Value::Bytes(bytes) if serializer.is_human_readable() => {
                serializer.serialize_str(&b64::encode_to_string(bytes))
            }
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Value::Cycle(cycle) => match cycle.upgrade() {
                Some(object) => match object.to_string_text() {
                    Some(text) => serializer.serialize_str(&text.to_str_lossy()),
                    None => serializer.serialize_unit(),
                },
                None => serializer.serialize_unit(),
            },
            Value::Object(object) => {
                self.meter.enter().map_err(ser::Error::custom)?;
                let result = self.object(object, serializer);
                self.meter.leave();
                result
            }
            Value::MemberSet(members) => {
                self.meter.enter().map_err(ser::Error::custom)?;
                let result = self.members(&visible(members.as_slice(), &[]), serializer);
                self.meter.leave();
                result
            }
            Value::Progress(record) => self.members(&visible(record.members().as_slice(), &[]), serializer),
            value => match text(value) {
                Some(text) => serializer.serialize_str(&text.lossy()),
                None => serializer.serialize_unit(),
            },
        }
    }
}

/// What an object wraps, without the object.
struct Wrapped<'a>(Node<'a>, Inner<'a>);

#[derive(Clone, Copy)]
enum Inner<'a> {
    List(&'a [Value]),
    Dictionary(&'a [(Value, Value)]),
}

impl Serialize for Wrapped<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Inner::List(items) => self.0.list(items, serializer),
            Inner::Dictionary(entries) => self.0.dictionary(entries, serializer),
        }
    }
}

struct Names<'a>(&'a TypeNames);

impl Serialize for Names<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.as_slice().iter().map(PsString::to_str_lossy))
    }
}

/// The key of a map for a key that has no text.
fn key_text(key: &Value) -> String {
    match key.base() {
        Value::Bool(value) => value.to_string(),
        Value::Single(value) => number::text(*value).as_str().to_owned(),
        Value::Double(value) => number::text(*value).as_str().to_owned(),
        Value::Bytes(bytes) => b64::encode_to_string(bytes),
        key => match (key.as_i64(), key.as_u64()) {
            (Some(number), _) => number.to_string(),
            (None, Some(number)) => number.to_string(),
            // An object that is nothing but its members: what it is has to do.
            (None, None) => match key.as_object().as_ref().and_then(Object::type_names) {
                Some(names) => names.first().map_or_else(String::new, ToString::to_string),
                None => String::new(),
            },
        },
    }
}
