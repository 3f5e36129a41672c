//! Serializers of arrays, objects and their keys.

use std::fmt::Display;

use serde::{Serialize, ser};

use super::VecSerializer;
use super::raw;
use super::sort::{self, Unsorted};
use super::style::Style;
use crate::error::{Error, Result};
use crate::scan::push_entry;

/// Bracket to write after the closing bracket of an array or object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    None,
    /// Closing brace of the object around the content of an enum variant.
    Brace,
}

/// Serializer of an array or object.
pub(crate) struct Compound<'s, S> {
    serializer: &'s mut VecSerializer<S>,
    first: bool,
    tail: Tail,
    /// Offset of the first entry of an object in the output.
    start: usize,
    /// Offset of the last key in the output.
    last_key: usize,
    /// Whether all keys so far are in byte order. Only maintained if the style sorts keys.
    in_order: bool,
    /// Number of unsorted maps recorded before this object.
    first_inner: usize,
}

impl<'s, S: Style> Compound<'s, S> {
    #[inline]
    pub(super) fn array(serializer: &'s mut VecSerializer<S>, tail: Tail) -> Self {
        serializer.out.push(b'[');
        Self { serializer, first: true, tail, start: 0, last_key: 0, in_order: true, first_inner: 0 }
    }

    #[inline]
    pub(super) fn object(serializer: &'s mut VecSerializer<S>, tail: Tail) -> Self {
        serializer.out.push(b'{');
        let (start, first_inner) = (serializer.out.len(), serializer.unsorted.len());
        Self { serializer, first: true, tail, start, last_key: start, in_order: true, first_inner }
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if !self.first {
            self.serializer.out.push(b',');
        }
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    pub(super) fn close(self, bracket: u8) -> &'s mut VecSerializer<S> {
        self.serializer.out.push(bracket);
        if self.tail == Tail::Brace {
            self.serializer.out.push(b'}');
        }
        self.serializer
    }

    #[inline]
    pub(super) fn close_map(self) -> Result<&'s mut VecSerializer<S>> {
        if S::SORTED && !self.in_order {
            let VecSerializer { out, unsorted, .. } = &mut *self.serializer;
            unsorted.push(Unsorted::new(out, self.start, unsorted, self.first_inner)?);
        }
        Ok(self.close(b'}'))
    }
}

/// Implements the four traits of serde whose values are arrays in JSON.
macro_rules! arrays {
    ($($kind:ident::$element:ident)*) => {
        $(
            impl<S: Style> ser::$kind for Compound<'_, S> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                    self.element(value)
                }

                #[inline]
                fn end(self) -> Result<()> {
                    self.close(b']');
                    Ok(())
                }
            }
        )*
    };
}

arrays! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

impl<S: Style> ser::SerializeMap for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let before = self.serializer.out.len();
        key.serialize(Text::<S, false> { serializer: &mut *self.serializer, comma: !self.first })?;
        if S::SORTED {
            let key = before + usize::from(!self.first);
            if !self.first && self.in_order {
                self.in_order = sort::is_ordered(&self.serializer.out, self.last_key, key);
            }
            self.last_key = key;
        }
        self.first = false;
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close_map().map(|_| ())
    }
}

impl<S: Style> ser::SerializeStructVariant for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        push_entry::<S::Set>(&mut self.serializer.out, !self.first, key);
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close(b'}');
        Ok(())
    }
}

/// Serializer of a struct, or of a raw value, which serializes as a struct.
pub(crate) struct Fields<'s, S> {
    serializer: &'s mut VecSerializer<S>,
    first: bool,
    raw: bool,
}

impl<'s, S: Style> Fields<'s, S> {
    #[inline(always)]
    pub(super) fn new(serializer: &'s mut VecSerializer<S>, name: &'static str) -> Self {
        let raw = raw::is_token(name);
        if !raw {
            serializer.out.push(b'{');
        }
        Self { serializer, first: true, raw }
    }

    #[inline(always)]
    pub(super) fn close(self) -> &'s mut VecSerializer<S> {
        if !self.raw {
            self.serializer.out.push(b'}');
        }
        self.serializer
    }
}

impl<S: Style> ser::SerializeStruct for Fields<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.raw {
            return value.serialize(Text::<S, true> { serializer: &mut *self.serializer, comma: false });
        }
        push_entry::<S::Set>(&mut self.serializer.out, !self.first, key);
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline(always)]
    fn end(self) -> Result<()> {
        self.close();
        Ok(())
    }
}

/// Serializer of map keys, and of the text of raw values if `RAW`.
///
/// Keys are strings, and numbers, booleans and enum variants written as strings, with the comma before the key and the
/// colon after it. The text of a raw value is a string that is written without quotes.
struct Text<'s, S, const RAW: bool> {
    serializer: &'s mut VecSerializer<S>,
    comma: bool,
}

impl<S: Style, const RAW: bool> Text<'_, S, RAW> {
    #[inline]
    fn text(self, text: &str) -> Result<()> {
        if RAW {
            return raw::push_raw(&mut self.serializer.out, self.serializer.raw_values, text);
        }
        push_entry::<S::Set>(&mut self.serializer.out, self.comma, text);
        Ok(())
    }

    /// Writes a number or boolean in quotes.
    fn quoted<T: Serialize>(self, value: T) -> Result<()> {
        if RAW {
            return Self::reject();
        }
        if self.comma {
            self.serializer.out.push(b',');
        }
        self.serializer.out.push(b'"');
        value.serialize(&mut *self.serializer)?;
        self.serializer.out.extend_from_slice(b"\":");
        Ok(())
    }

    fn reject<T>() -> Result<T> {
        Err(ser::Error::custom(match RAW {
            true => "raw value is not a string",
            false => "map key is not a string, number, boolean or enum variant",
        }))
    }
}

macro_rules! quoted {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method(self, value: $type) -> Result<()> {
                self.quoted(value)
            }
        )*
    };
}

/// Defines the methods for values that cannot be written as a string.
macro_rules! reject {
    ($($method:ident($($argument:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(
            fn $method(self, $($argument: $type),*) -> Result<$ok> {
                Self::reject()
            }
        )*
    };
}

impl<S: Style, const RAW: bool> ser::Serializer for Text<'_, S, RAW> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ser::Impossible<(), Error>;
    type SerializeTuple = ser::Impossible<(), Error>;
    type SerializeTupleStruct = ser::Impossible<(), Error>;
    type SerializeTupleVariant = ser::Impossible<(), Error>;
    type SerializeMap = ser::Impossible<(), Error>;
    type SerializeStruct = ser::Impossible<(), Error>;
    type SerializeStructVariant = ser::Impossible<(), Error>;

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        self.text(value)
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        if RAW {
            return self.text(&value.to_string());
        }
        if self.comma {
            self.serializer.out.push(b',');
        }
        (&mut *self.serializer).collect_str(value)?;
        self.serializer.out.push(b':');
        Ok(())
    }

    quoted! {
        serialize_bool(bool)
        serialize_i8(i8)
        serialize_i16(i16)
        serialize_i32(i32)
        serialize_i64(i64)
        serialize_i128(i128)
        serialize_u8(u8)
        serialize_u16(u16)
        serialize_u32(u32)
        serialize_u64(u64)
        serialize_u128(u128)
        serialize_f32(f32)
        serialize_f64(f64)
    }

    reject! {
        serialize_bytes(_value: &[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(_name: &'static str) -> ();
        serialize_seq(_len: Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(_len: usize) -> Self::SerializeTuple;
        serialize_tuple_struct(_name: &'static str, _len: usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(_name: &'static str, _index: u32, _variant: &'static str, _len: usize)
            -> Self::SerializeTupleVariant;
        serialize_map(_len: Option<usize>) -> Self::SerializeMap;
        serialize_struct(_name: &'static str, _len: usize) -> Self::SerializeStruct;
        serialize_struct_variant(_name: &'static str, _index: u32, _variant: &'static str, _len: usize)
            -> Self::SerializeStructVariant;
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<()> {
        Self::reject()
    }
}
