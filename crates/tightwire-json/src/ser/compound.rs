//! Serializers of arrays, objects and their keys.

use std::fmt::Display;

use serde::{Serialize, ser};

use super::VecSerializer;
use super::number;
use super::raw;
use super::sort::{Keys, Order};
use super::style::{Plain, Style};
use crate::codec::{Codec, Mode};
use crate::error::{Error, Result};
use crate::marks::{NUMBER_TOKEN, as_text, is_token};

/// Brackets that a [`Compound`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brackets {
    /// Those of an array or object.
    Plain,
    /// Those of an array or object within the object of an enum variant.
    Variant,
    /// None: a raw value serializes as a struct.
    None,
}

/// Serializer of an array or object, or of a raw value.
pub(crate) struct Compound<'s, S> {
    serializer: &'s mut VecSerializer<S>,
    first: bool,
    brackets: Brackets,
    /// Keys of an object.
    keys: Keys,
}

impl<'s, S: Style> Compound<'s, S> {
    #[inline]
    pub(super) fn array(serializer: &'s mut VecSerializer<S>, brackets: Brackets) -> Self {
        serializer.open(b'[');
        Self { serializer, first: true, brackets, keys: Keys::default() }
    }

    #[inline]
    pub(super) fn object(serializer: &'s mut VecSerializer<S>, brackets: Brackets) -> Self {
        serializer.open(b'{');
        let keys = Keys::new(&serializer.out, &serializer.unsorted);
        Self { serializer, first: true, brackets, keys }
    }

    /// Starts a struct, or a raw value if it has the name of one.
    #[inline(always)]
    pub(super) fn fields(serializer: &'s mut VecSerializer<S>, name: &'static str) -> Self {
        match is_token(name) {
            false => Self::object(serializer, Brackets::Plain),
            true => Self { serializer, first: true, brackets: Brackets::None, keys: Keys::default() },
        }
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.serializer.separate(!self.first);
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    pub(super) fn close(self, bracket: u8) -> &'s mut VecSerializer<S> {
        self.serializer.close(bracket, self.first);
        if self.brackets == Brackets::Variant {
            self.serializer.close(b'}', false);
        }
        self.serializer
    }

    #[inline]
    pub(super) fn close_map(self) -> Result<&'s mut VecSerializer<S>> {
        self.close_object(S::MAPS)
    }

    #[inline]
    pub(super) fn close_struct(self) -> Result<&'s mut VecSerializer<S>> {
        match self.brackets {
            Brackets::None => Ok(self.serializer),
            Brackets::Plain | Brackets::Variant => self.close_object(S::STRUCTS),
        }
    }

    #[inline]
    fn close_object(self, order: Option<Order>) -> Result<&'s mut VecSerializer<S>> {
        self.keys.close(order, &self.serializer.out, &mut self.serializer.unsorted)?;
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
        self.keys.push(S::MAPS, &self.serializer.out, before + usize::from(!self.first));
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

/// Implements the two traits of serde for named fields.
macro_rules! fields {
    ($($kind:ident)*) => {
        $(
            impl<S: Style> ser::$kind for Compound<'_, S> {
                type Ok = ();
                type Error = Error;

                #[inline(always)]
                fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
                    if self.brackets == Brackets::None {
                        return value.serialize(Text::<S, true> { serializer: &mut *self.serializer, comma: false });
                    }
                    let before = self.serializer.out.len();
                    self.serializer.push_key(!self.first, key);
                    self.keys.push(S::STRUCTS, &self.serializer.out, before + usize::from(!self.first));
                    self.first = false;
                    value.serialize(&mut *self.serializer)
                }

                #[inline(always)]
                fn end(self) -> Result<()> {
                    self.close_struct().map(|_| ())
                }
            }
        )*
    };
}

fields! { SerializeStruct SerializeStructVariant }

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
            return raw::push_raw(self.serializer, text);
        }
        self.serializer.push_key(self.comma, text);
        Ok(())
    }

    /// Writes a number or boolean in quotes.
    fn quoted(self, write: impl FnOnce(&mut VecSerializer<S>) -> Result<()>) -> Result<()> {
        if RAW {
            return Self::reject();
        }
        self.serializer.separate(self.comma);
        self.serializer.out.push(b'"');
        write(&mut *self.serializer)?;
        self.serializer.out.push(b'"');
        self.serializer.colon();
        Ok(())
    }

    fn reject<T>() -> Result<T> {
        Err(ser::Error::custom(match RAW {
            true => "raw value is not a string",
            false => "map key is not a string, number, boolean or enum variant",
        }))
    }
}

/// Returns the string as which a map key is encoded.
pub(crate) fn encode_key<T: Serialize + ?Sized>(key: &T) -> Result<String> {
    let mut serializer = VecSerializer::new(Plain, Vec::new(), Mode::Strict);
    key.serialize(Text::<Plain, false> { serializer: &mut serializer, comma: false })?;
    Codec::leading_string(&serializer.out)
}

macro_rules! quoted {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method(self, value: $type) -> Result<()> {
                self.quoted(|serializer| value.serialize(serializer))
            }
        )*
    };
}

/// Defines the methods for integers: in a string, they may exceed the exact range of doubles.
macro_rules! quoted_integers {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method(self, value: $type) -> Result<()> {
                self.quoted(|serializer| {
                    number::push_wide(&mut serializer.out, value);
                    Ok(())
                })
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

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<()> {
        if !RAW && name == NUMBER_TOKEN {
            let number = as_text(|| VecSerializer::document(Plain, Mode::Fast, value))?;
            return self.text(str::from_utf8(&number).map_err(<Error as ser::Error>::custom)?);
        }
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        if RAW {
            return self.text(&value.to_string());
        }
        self.serializer.separate(self.comma);
        (&mut *self.serializer).collect_str(value)?;
        self.serializer.colon();
        Ok(())
    }

    quoted! {
        serialize_bool(bool)
        serialize_f32(f32)
        serialize_f64(f64)
    }

    quoted_integers! {
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
