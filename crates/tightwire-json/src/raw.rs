//! Raw values: JSON text of any type that is neither decoded nor encoded.
//!
//! The `unsafe` code of this module converts between `str` and [`RawValue`], whose layout is that of `str`: only so can
//! a raw value borrow from a document.
#![allow(unsafe_code, reason = "conversions of references and boxes; see the module text")]

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::codec::Codec;
use crate::error::Result;
use crate::marks::RAW_TOKEN;

/// JSON text of one value, without white space around it.
///
/// Decoding validates the text and stores it, encoding writes it without changes (except in
/// [`Mode::Compat`](crate::Mode::Compat)). Use it for a part of a document that is passed on, or decoded later.
/// `&RawValue` borrows from the document, `Box<RawValue>` owns its text.
///
/// It has the methods of serde_json's type of the same name. Encoder and decoder of this crate support both types;
/// other serializers and deserializers support neither this type nor, except those of serde_json, that one.
///
/// # Examples
///
/// ```
/// use serde::Deserialize;
/// use tightwire_json::RawValue;
///
/// #[derive(Deserialize)]
/// struct Message<'a> {
///     kind: &'a str,
///     #[serde(borrow)]
///     body: &'a RawValue,
/// }
///
/// let message: Message<'_> = tightwire_json::from_str(r#"{"kind": "numbers", "body": [1.50, 2]}"#)?;
/// assert_eq!(message.body.get(), "[1.50, 2]");
/// let body: Vec<f64> = tightwire_json::from_str(message.body.get())?;
/// assert_eq!(body, [1.5, 2.0]);
/// # assert_eq!(message.kind, "numbers");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[repr(transparent)]
pub struct RawValue {
    json: str,
}

impl RawValue {
    /// The literal `null`.
    pub const NULL: &'static Self = Self::from_text("null");
    /// The literal `true`.
    pub const TRUE: &'static Self = Self::from_text("true");
    /// The literal `false`.
    pub const FALSE: &'static Self = Self::from_text("false");

    const fn from_text(json: &str) -> &Self {
        // SAFETY: `RawValue` is `repr(transparent)` over `str`, so that both pointers have the same layout, and the
        // reference has the same lifetime.
        unsafe { &*(std::ptr::from_ref(json) as *const Self) }
    }

    fn from_boxed(json: Box<str>) -> Box<Self> {
        // SAFETY: the pointer comes from a box, and `RawValue` is `repr(transparent)` over `str`: the box is
        // deallocated with the same layout.
        unsafe { Box::from_raw(Box::into_raw(json) as *mut Self) }
    }

    /// Converts JSON text to a raw value. White space around the value is removed.
    ///
    /// # Errors
    ///
    /// Same as [`Codec::from_slice`], if the text is not one JSON value.
    pub fn from_string(json: String) -> Result<Box<Self>> {
        let value = Codec::strict().from_str::<&Self>(&json)?;
        if value.json.len() < json.len() {
            return Ok(value.to_owned());
        }
        Ok(Self::from_boxed(json.into_boxed_str()))
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        &self.json
    }
}

/// Encodes `value` into a raw value.
///
/// # Errors
///
/// Same as [`Codec::to_vec`].
pub fn to_raw_value<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>> {
    Ok(RawValue::from_boxed(Codec::strict().to_string(value)?.into_boxed_str()))
}

impl ToOwned for RawValue {
    type Owned = Box<Self>;

    fn to_owned(&self) -> Box<Self> {
        Self::from_boxed(Box::from(&self.json))
    }
}

impl Clone for Box<RawValue> {
    fn clone(&self) -> Self {
        (**self).to_owned()
    }
}

impl Default for Box<RawValue> {
    /// Returns `null`.
    fn default() -> Self {
        RawValue::NULL.to_owned()
    }
}

impl From<Box<RawValue>> for Box<str> {
    fn from(value: Box<RawValue>) -> Self {
        // SAFETY: the pointer comes from a box, and `RawValue` is `repr(transparent)` over `str`: the box is
        // deallocated with the same layout.
        unsafe { Self::from_raw(Box::into_raw(value) as *mut str) }
    }
}

impl fmt::Debug for RawValue {
    /// Writes the JSON text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawValue").field(&format_args!("{}", &self.json)).finish()
    }
}

impl fmt::Display for RawValue {
    /// Writes the JSON text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

impl Serialize for RawValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_TOKEN, 1)?;
        raw.serialize_field(RAW_TOKEN, &self.json)?;
        raw.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for &'a RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_TOKEN, Text::<&str>(PhantomData)).map(RawValue::from_text)
    }
}

impl<'de> Deserialize<'de> for Box<RawValue> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_newtype_struct(RAW_TOKEN, Text::<Box<str>>(PhantomData))
            .map(RawValue::from_boxed)
    }
}

/// Visitor of the map with one entry that the decoder makes of a raw value.
struct Text<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, _deserializer: D) -> Result<T, D::Error> {
        Err(de::Error::custom(
            "a raw value is only available directly in JSON, not in a flattened field or in a tagged or untagged enum",
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        match map.next_entry::<Key, T>()? {
            Some((Key, text)) => Ok(text),
            None => Err(de::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}

/// The key [`RAW_TOKEN`].
struct Key;

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a raw value")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
                if text == RAW_TOKEN { Ok(Key) } else { Err(E::custom("unexpected key of a raw value")) }
            }
        }

        deserializer.deserialize_identifier(KeyVisitor)
    }
}
