//! [`Value`] and the types of its variants: as they are in values, as text or plain data anywhere else.

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::fault::Result;
use super::hand::{self, Give, Take};
use super::{de::text, plain};
use crate::value::{DateTime, Decimal, Members, Progress, SecureString, TimeSpan, Version};
use crate::{Object, PsString, Value};

/// Implements both traits by way of [`Give`] and [`Take`].
macro_rules! through_hand {
    ($($(#[$doc:meta])* $type:ty),* $(,)?) => {$(
        $(#[$doc])*
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                hand::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                hand::deserialize(deserializer)
            }
        }
    )*};
}

through_hand! {
    /// As it is for this crate's serializer, objects shared; for any other as [`Plain`](crate::serde::Plain) writes it.
    Value,
    /// As [`Value`].
    Object,
    /// As it is for this crate's serializer, lone surrogates included; text for any other.
    PsString,
    /// `<Version>` for this crate's serializer, text for any other.
    Version,
    /// `<DT>` for this crate's serializer, text such as `2024-05-06T07:08:09Z` for any other.
    DateTime,
    /// `<TS>` for this crate's serializer, text such as `PT1.5S` for any other.
    TimeSpan,
    /// `<D>` for this crate's serializer, text for any other.
    Decimal,
    /// `<SS>` for this crate's serializer. Any other is given a null: a secret is in no file by accident. Reading takes
    /// text.
    SecureString,
    /// `<PR>` for this crate's serializer, a map for any other.
    Progress,
}

/// What is made of a value of any kind, if it fits.
trait FromValue: Sized {
    const EXPECTED: &'static str;

    fn from_value(value: Value) -> Option<Self>;
}

/// The value and its plain form are that of [`Value`]; both ways of reading go through [`FromValue`].
macro_rules! like_value {
    ($($type:ty),* $(,)?) => {$(
        impl Give for $type {
            fn give(&self) -> Result<Value> {
                Ok(Value::from(self.clone()))
            }

            fn give_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                plain::Plain::new(&Value::from(self.clone())).serialize(serializer)
            }
        }

        impl<'de> Take<'de> for $type {
            const EXPECTED: &'static str = <Self as FromValue>::EXPECTED;

            fn take<D: Deserializer<'de>>(value: Value, _: D) -> Result<Option<Self>, D::Error> {
                Ok(<Self as FromValue>::from_value(value))
            }

            fn take_plain<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = plain::deserialize(deserializer)?;
                let found = super::kinds::name(&value);
                <Self as FromValue>::from_value(value).ok_or_else(|| {
                    de::Error::invalid_type(de::Unexpected::Other(found), &<Self as FromValue>::EXPECTED)
                })
            }
        }
    )*};
}

like_value!(Value, Object, PsString, Version, DateTime, TimeSpan, Decimal, SecureString, Progress);

impl FromValue for Value {
    const EXPECTED: &'static str = "any value";

    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl FromValue for Object {
    const EXPECTED: &'static str = "an object";

    fn from_value(value: Value) -> Option<Self> {
        value.as_object()
    }
}

impl FromValue for PsString {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: Value) -> Option<Self> {
        text(&value).map(|text| text.into_ps_string())
    }
}

impl FromValue for Decimal {
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

impl FromValue for SecureString {
    const EXPECTED: &'static str = "a secure string";

    fn from_value(value: Value) -> Option<Self> {
        match value.base() {
            Value::SecureString(secret) => Some(secret.clone()),
            Value::String(text) => text.as_str().map(Self::new),
            _ => None,
        }
    }
}

/// Types that are also read from their text.
macro_rules! from_text {
    ($($type:ident: $expected:literal),* $(,)?) => {$(
        impl FromValue for $type {
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

from_text! {
    Version: "a version",
    DateTime: "a date",
    TimeSpan: "a span of time",
}

impl FromValue for Progress {
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
    /// The properties of the .NET type.
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
