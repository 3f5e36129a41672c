//! Raw values: JSON text that is neither decoded nor encoded.
//!
//! The `unsafe` code of this module converts between `str` and [`RawValue`], whose layout is that of `str`: only so can a
//! raw value borrow from a document.
#![allow(unsafe_code, reason = "conversions of references and boxes; see the module text")]

use std::fmt::{self, Debug, Display};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::error::Error;

/// Name of the struct and of its field as which a raw value passes through serde.
pub(crate) const TOKEN: &str = "$serde_json::private::RawValue";

/// JSON text of one value, without white space around it.
///
/// `&RawValue` borrows from the document, `Box<RawValue>` owns its text. Encoding writes the text without changes.
#[repr(transparent)]
pub struct RawValue {
    json: str,
}

impl RawValue {
    /// The literal `null`.
    pub const NULL: &'static Self = Self::of_text("null");
    /// The literal `true`.
    pub const TRUE: &'static Self = Self::of_text("true");
    /// The literal `false`.
    pub const FALSE: &'static Self = Self::of_text("false");

    const fn of_text(json: &str) -> &Self {
        // SAFETY: `RawValue` is `repr(transparent)` over `str`, so that both pointers have the same layout, and the
        // reference has the same lifetime.
        unsafe { &*(std::ptr::from_ref(json) as *const Self) }
    }

    fn of_box(json: Box<str>) -> Box<Self> {
        // SAFETY: the pointer comes from a box, and `RawValue` is `repr(transparent)` over `str`: the box is
        // deallocated with the same layout.
        unsafe { Box::from_raw(Box::into_raw(json) as *mut Self) }
    }

    /// Converts JSON text to a raw value. White space around it is removed.
    ///
    /// # Errors
    ///
    /// If the text is not one JSON value.
    pub fn from_string(json: String) -> Result<Box<Self>, Error> {
        let value = crate::from_str::<&Self>(&json)?;
        if value.json.len() < json.len() {
            return Ok(value.to_owned());
        }
        Ok(Self::of_box(json.into_boxed_str()))
    }

    /// Converts JSON text to a raw value without a check, except in builds with debug assertions.
    ///
    /// # Safety
    ///
    /// The text must be one JSON value, without white space around it.
    pub unsafe fn from_string_unchecked(json: String) -> Box<Self> {
        debug_assert!(
            crate::from_str::<&Self>(&json).is_ok_and(|value| value.json.len() == json.len()),
            "from_string_unchecked: the text is not one JSON value without white space around it",
        );
        Self::of_box(json.into_boxed_str())
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        &self.json
    }
}

/// Encodes a value into a raw value.
///
/// # Errors
///
/// Same as [`to_string`](crate::to_string).
pub fn to_raw_value<T>(value: &T) -> Result<Box<RawValue>, Error>
where
    T: ?Sized + Serialize,
{
    Ok(RawValue::of_box(crate::to_string(value)?.into_boxed_str()))
}

impl Clone for Box<RawValue> {
    fn clone(&self) -> Self {
        (**self).to_owned()
    }
}

impl ToOwned for RawValue {
    type Owned = Box<Self>;

    fn to_owned(&self) -> Box<Self> {
        Self::of_box(Box::from(&self.json))
    }
}

impl Default for Box<RawValue> {
    fn default() -> Self {
        RawValue::NULL.to_owned()
    }
}

impl From<Box<RawValue>> for Box<str> {
    fn from(value: Box<RawValue>) -> Self {
        // SAFETY: the reverse of `of_box`, for the same reason.
        unsafe { Self::from_raw(Box::into_raw(value) as *mut str) }
    }
}

impl Debug for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawValue").field(&format_args!("{}", &self.json)).finish()
    }
}

impl Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

impl Serialize for RawValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct(TOKEN, 1)?;
        fields.serialize_field(TOKEN, &self.json)?;
        fields.end()
    }
}

/// Reads a raw value from its text.
pub(crate) struct Boxed;

struct Borrowed;

/// Visitor of the map with one entry as which a deserializer passes a raw value; see [`private`](crate::private).
struct Entry<T>(T);

impl<'de, T: DeserializeSeed<'de>> Visitor<'de> for Entry<T> {
    type Value = T::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T::Value, A::Error> {
        crate::private::key(&mut map, TOKEN, ["raw value", "unexpected raw value"], &self)?;
        map.next_value_seed(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for &'a RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TOKEN, Entry(Borrowed))
    }
}

impl<'de> Deserialize<'de> for Box<RawValue> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TOKEN, Entry(Boxed))
    }
}

impl<'de> DeserializeSeed<'de> for Borrowed {
    type Value = &'de RawValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'de RawValue, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Borrowed {
    type Value = &'de RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("raw value")
    }

    fn visit_borrowed_str<E>(self, json: &'de str) -> Result<&'de RawValue, E> {
        Ok(RawValue::of_text(json))
    }
}

impl<'de> DeserializeSeed<'de> for Boxed {
    type Value = Box<RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Box<RawValue>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Boxed {
    type Value = Box<RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("raw value")
    }

    fn visit_str<E>(self, json: &str) -> Result<Box<RawValue>, E> {
        Ok(RawValue::of_text(json).to_owned())
    }

    fn visit_string<E>(self, json: String) -> Result<Box<RawValue>, E> {
        Ok(RawValue::of_box(json.into_boxed_str()))
    }
}

impl<'de> IntoDeserializer<'de, Error> for &'de RawValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! of_text {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(
            fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Error> {
                crate::Deserializer::from_str(&self.json).$method($($argument,)* visitor)
            }
        )*
    };
}

/// Decodes the JSON text.
impl<'de> Deserializer<'de> for &'de RawValue {
    type Error = Error;

    of_text! {
        deserialize_any() deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_option() deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier() deserialize_ignored_any()
    }
}
