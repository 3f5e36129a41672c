//! Serializer of map keys: strings, and numbers, booleans and enum variants written as strings.

use std::fmt::Display;

use serde::{Serialize, ser};

use super::Serializer;
use super::raw::{reject, reject_all_but_text};
use super::style::Style;
use crate::error::{Error, Result};
use crate::scan::push_entry;

/// Writes a key with the comma before it and the colon after it.
pub(super) struct Key<'s, S> {
    serializer: &'s mut Serializer<S>,
    comma: bool,
}

impl<'s, S: Style> Key<'s, S> {
    #[inline(always)]
    pub(super) fn new(serializer: &'s mut Serializer<S>, comma: bool) -> Self {
        Self { serializer, comma }
    }

    #[inline]
    fn text(self, text: &str) -> Result<()> {
        push_entry::<S::Set>(&mut self.serializer.out, self.comma, text);
        Ok(())
    }

    /// Writes a number or boolean in quotes.
    fn quoted<T: Serialize>(self, value: T) -> Result<()> {
        if self.comma {
            self.serializer.out.push(b',');
        }
        self.serializer.out.push(b'"');
        value.serialize(&mut *self.serializer)?;
        self.serializer.out.extend_from_slice(b"\":");
        Ok(())
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

impl<S: Style> ser::Serializer for Key<'_, S> {
    type Ok = ();
    type Error = Error;

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

    reject_all_but_text! { "map key is not a string, number, boolean or enum variant" }
}
