//! Serializer of object keys: strings, and numbers, booleans and enum variants written as strings.

use std::fmt::Display;
use std::io::{self, Write};

use serde::ser::{self, Serialize};

use super::reject::reject;
use super::{Formatter, Serializer};
use crate::error::{Error, Reason, Result};

/// Key of an object. Everything up to its value is written as well.
pub(super) struct Key<'a, W, F> {
    pub(super) ser: &'a mut Serializer<W, F>,
    pub(super) is_first: bool,
}

impl<W: Write, F: Formatter> Key<'_, W, F> {
    /// Writes a key that is not a string between quotes.
    fn quoted(self, write: impl FnOnce(&mut F, &mut W) -> io::Result<()>) -> Result<()> {
        let Self { ser, is_first } = self;
        ser.write(|formatter, writer| {
            formatter.begin_object_key(writer, is_first)?;
            formatter.begin_string(writer)?;
            write(formatter, writer)?;
            formatter.end_string(writer)?;
            formatter.end_object_key(writer)?;
            formatter.begin_object_value(writer)
        })
    }

    /// Returns the error of a key after its start, which is written as by serde_json.
    #[cold]
    fn fail(self, reason: Reason) -> Error {
        let Self { ser, is_first } = self;
        match ser.write(|formatter, writer| formatter.begin_object_key(writer, is_first)) {
            Ok(()) => Error::of(reason),
            Err(error) => error,
        }
    }

    fn rejected(self) -> Error {
        self.fail(Reason::KEY)
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty) => $write:ident;)*) => {
        $(
            fn $method(self, value: $type) -> Result<()> {
                self.quoted(|formatter, writer| formatter.$write(writer, value))
            }
        )*
    };
}

impl<W: Write, F: Formatter> ser::Serializer for Key<'_, W, F> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_str(self, text: &str) -> Result<()> {
        let Self { ser, is_first } = self;
        ser.write(|formatter, writer| formatter.__write_key(writer, is_first, text))
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    scalars! {
        serialize_bool(bool) => write_bool;
        serialize_i8(i8) => write_i8;
        serialize_i16(i16) => write_i16;
        serialize_i32(i32) => write_i32;
        serialize_i64(i64) => write_i64;
        serialize_i128(i128) => write_i128;
        serialize_u8(u8) => write_u8;
        serialize_u16(u16) => write_u16;
        serialize_u32(u32) => write_u32;
        serialize_u64(u64) => write_u64;
        serialize_u128(u128) => write_u128;
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        if !value.is_finite() {
            return Err(self.fail(Reason::FINITE_KEY));
        }
        self.quoted(|formatter, writer| formatter.write_f32(writer, value))
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Err(self.fail(Reason::FINITE_KEY));
        }
        self.quoted(|formatter, writer| formatter.write_f64(writer, value))
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<()> {
        let Self { ser, is_first } = self;
        ser.write(|formatter, writer| formatter.begin_object_key(writer, is_first))?;
        ser::Serializer::collect_str(&mut *ser, value)?;
        ser.write(|formatter, writer| {
            formatter.end_object_key(writer)?;
            formatter.begin_object_value(writer)
        })
    }

    reject! { (); }
}
