//! serde implementations for [`Value`] and the types of its variants.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::error::Result;
use super::passthrough::{self, DeserializeValue, SerializeValue};
use super::view::text;
use crate::value::{DateTime, Decimal, Members, Progress, SecureString, TimeSpan, Version};
use crate::{Object, PsString, Value};

/// Implements both serde traits for a type that can be stored in a [`Value`]. Other formats use the plain form.
macro_rules! impl_serde {
    ($($(#[$doc:meta])* $type:ty),* $(,)?) => {$(
        impl SerializeValue for $type {
            fn value(&self) -> Result<Value> {
                Ok(self.clone().into())
            }
        }

        $(#[$doc])*
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                passthrough::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                passthrough::deserialize(deserializer)
            }
        }
    )*};
}

impl_serde! {
    /// Unchanged with this crate's serializer, with shared objects; like [`Plain`](crate::serde::Plain) with others.
    Value,
    /// Like [`Value`].
    Object,
    /// Unchanged with this crate's serializer, including lone surrogates; text with others.
    PsString,
    /// `<Version>` with this crate's serializer, text with others.
    Version,
    /// `<DT>` with this crate's serializer, text such as `2024-05-06T07:08:09Z` with others.
    DateTime,
    /// `<TS>` with this crate's serializer, text such as `PT1.5S` with others.
    TimeSpan,
    /// `<D>` with this crate's serializer, text with others.
    Decimal,
    /// `<SS>` with this crate's serializer. Null with others, so that a secret can't leak into a file by accident; text
    /// is accepted when reading.
    SecureString,
    /// `<PR>` with this crate's serializer, a map with others.
    Progress,
}

impl DeserializeValue for Value {
    const EXPECTED: &'static str = "any value";

    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl DeserializeValue for Object {
    const EXPECTED: &'static str = "an object";

    fn from_value(value: Value) -> Option<Self> {
        value.as_object()
    }
}

impl DeserializeValue for PsString {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: Value) -> Option<Self> {
        text(&value).map(Cow::into_owned)
    }
}

impl DeserializeValue for Decimal {
    const EXPECTED: &'static str = "a decimal number";

    fn from_value(value: Value) -> Option<Self> {
        match *value.base() {
            Value::Decimal(number) => Some(number),
            Value::Double(number) => number.to_string().parse().ok(),
            Value::Single(number) => number.to_string().parse().ok(),
            ref base => match (base.as_i64(), base.as_u64()) {
                (Some(number), _) => Self::new(number < 0, number.unsigned_abs().into(), 0),
                (None, Some(number)) => Self::new(false, number.into(), 0),
                (None, None) => base.as_str()?.parse().ok(),
            },
        }
    }
}

impl DeserializeValue for SecureString {
    const EXPECTED: &'static str = "a secure string";

    fn from_value(value: Value) -> Option<Self> {
        match value.base() {
            Value::SecureString(secret) => Some(secret.clone()),
            Value::String(text) => text.as_str().map(Self::new),
            _ => None,
        }
    }
}

/// Implements [`DeserializeValue`] for types that are also parsed from text.
macro_rules! impl_value_type_from_text {
    ($($type:ident: $expected:literal),* $(,)?) => {$(
        impl DeserializeValue for $type {
            const EXPECTED: &'static str = $expected;

            fn from_value(value: Value) -> Option<Self> {
                match value.base() {
                    Value::$type(value) => Some(value.clone()),
                    base => base.as_str()?.parse().ok(),
                }
            }
        }
    )*};
}

impl_value_type_from_text! {
    Version: "a version",
    DateTime: "a date",
    TimeSpan: "a time span",
}

impl DeserializeValue for Progress {
    const EXPECTED: &'static str = "a progress record";

    fn from_value(value: Value) -> Option<Self> {
        if let Value::Progress(record) = value {
            return Some(*record);
        }
        let text = |name| value[name].as_ps_string().cloned();
        let mut record =
            Self::new(value["ActivityId"].as_i32()?, text("Activity")?, text("StatusDescription")?);
        record.current_operation = text("CurrentOperation");
        let number = |name: &str, default| match &value[name] {
            Value::Nil => Some(default),
            number => number.as_i32(),
        };
        record.parent_activity_id = number("ParentActivityId", -1)?;
        record.percent_complete = number("PercentComplete", -1)?;
        record.seconds_remaining = number("SecondsRemaining", -1)?;
        record.completed = text(RECORD_TYPE).is_some_and(|name| name == COMPLETED);
        Some(record)
    }
}

const RECORD_TYPE: &str = "RecordType";
const COMPLETED: &str = "Completed";

impl Progress {
    /// Returns the properties of the .NET type.
    pub(super) fn members(&self) -> Members {
        let mut members = Members::new();
        members.push("ActivityId", self.activity_id);
        members.push("ParentActivityId", self.parent_activity_id);
        members.push("Activity", self.activity.clone());
        members.push("StatusDescription", self.status_description.clone());
        members.push("CurrentOperation", self.current_operation.clone());
        members.push("SecondsRemaining", self.seconds_remaining);
        members.push("PercentComplete", self.percent_complete);
        members.push(RECORD_TYPE, if self.completed { COMPLETED } else { "Processing" });
        members
    }
}
