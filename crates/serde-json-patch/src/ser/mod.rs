//! Serializer.

mod compound;
mod formatter;
mod key;
#[cfg(any(feature = "arbitrary_precision", feature = "raw_value"))]
pub(crate) mod only_text;
pub(crate) mod reject;

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

use serde::ser::{self, Serialize};
use tightwire_json::engine;

#[doc(hidden)]
pub use self::compound::Compound;
use self::formatter::Buffer;
pub use self::formatter::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};
use crate::error::{Error, Result};

/// Serializer that writes JSON with a [`Formatter`].
pub struct Serializer<W, F = CompactFormatter> {
    writer: W,
    formatter: F,
}

impl<W: Write> Serializer<W> {
    /// Returns a serializer that writes no white space.
    #[inline]
    pub fn new(writer: W) -> Self {
        Self::with_formatter(writer, CompactFormatter)
    }
}

impl<'a, W: Write> Serializer<W, PrettyFormatter<'a>> {
    /// Returns a serializer that writes one line per element and entry, indented by two spaces per level.
    #[inline]
    pub fn pretty(writer: W) -> Self {
        Self::with_formatter(writer, PrettyFormatter::new())
    }
}

impl<W: Write, F: Formatter> Serializer<W, F> {
    /// Returns a serializer with this formatter.
    #[inline]
    pub fn with_formatter(writer: W, formatter: F) -> Self {
        Self { writer, formatter }
    }

    /// Returns the writer.
    #[inline]
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Calls methods of the formatter.
    #[inline(always)]
    fn write(&mut self, write: impl FnOnce(&mut F, &mut W) -> io::Result<()>) -> Result<()> {
        match write(&mut self.formatter, &mut self.writer) {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::io(error)),
        }
    }

    /// Starts an object with one entry, the content of an enum variant.
    #[inline]
    fn variant(&mut self, name: &str) -> Result<()> {
        self.write(|formatter, writer| {
            formatter.begin_object(writer)?;
            formatter.__write_key(writer, true, name)
        })
    }

    #[inline]
    fn end_variant(&mut self) -> Result<()> {
        self.write(|formatter, writer| {
            formatter.end_object_value(writer)?;
            formatter.end_object(writer)
        })
    }

    #[inline]
    fn array(&mut self, len: Option<usize>) -> Result<Compound<'_, W, F>> {
        let is_empty = len == Some(0);
        self.write(|formatter, writer| {
            formatter.begin_array(writer)?;
            if is_empty { formatter.end_array(writer) } else { Ok(()) }
        })?;
        Ok(Compound::new(self, is_empty))
    }

    #[inline]
    fn object(&mut self, len: Option<usize>) -> Result<Compound<'_, W, F>> {
        let is_empty = len == Some(0);
        self.write(|formatter, writer| {
            formatter.begin_object(writer)?;
            if is_empty { formatter.end_object(writer) } else { Ok(()) }
        })?;
        Ok(Compound::new(self, is_empty))
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty) => $write:ident;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<()> {
                self.write(|formatter, writer| formatter.$write(writer, value))
            }
        )*
    };
}

impl<'a, W: Write, F: Formatter> ser::Serializer for &'a mut Serializer<W, F> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a, W, F>;
    type SerializeTuple = Compound<'a, W, F>;
    type SerializeTupleStruct = Compound<'a, W, F>;
    type SerializeTupleVariant = Compound<'a, W, F>;
    type SerializeMap = Compound<'a, W, F>;
    type SerializeStruct = Compound<'a, W, F>;
    type SerializeStructVariant = Compound<'a, W, F>;

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
        serialize_str(&str) => __write_str;
        serialize_bytes(&[u8]) => write_byte_array;
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<()> {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        self.write(|formatter, writer| formatter.write_f32(writer, value))
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        self.write(|formatter, writer| formatter.write_f64(writer, value))
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_unit(self) -> Result<()> {
        self.write(F::write_null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.end_variant()
    }

    #[inline]
    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq> {
        self.array(len)
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple> {
        self.array(Some(len))
    }

    #[inline]
    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct> {
        self.array(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        self.variant(variant)?;
        self.array(Some(len))
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap> {
        self.object(len)
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct> {
        match name {
            #[cfg(feature = "arbitrary_precision")]
            crate::number::TOKEN => Ok(Compound::Number { ser: self }),
            #[cfg(feature = "raw_value")]
            crate::raw::TOKEN => Ok(Compound::Raw { ser: self }),
            _ => self.object(Some(len)),
        }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        self.variant(variant)?;
        self.object(Some(len))
    }

    fn collect_str<T: ?Sized + Display>(self, value: &T) -> Result<()> {
        self.write(F::begin_string)?;
        let mut text = Escaping { serializer: self, error: None };
        if write!(text, "{value}").is_err() {
            return Err(text.error.unwrap_or_else(|| {
                ser::Error::custom("a Display implementation returned an error unexpectedly")
            }));
        }
        self.write(F::end_string)
    }
}

/// Writes the output of a `Display` implementation as parts of a string.
struct Escaping<'a, W, F> {
    serializer: &'a mut Serializer<W, F>,
    error: Option<Error>,
}

impl<W: Write, F: Formatter> fmt::Write for Escaping<'_, W, F> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.serializer.write(|formatter, writer| formatter.__write_str_body(writer, part)).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

/// Encodes a value into a writer, in blocks of about 8 KiB. After an error, the bytes before it are written, as in serde_json.
///
/// # Errors
///
/// If the writer or the `Serialize` implementation fails, or if a map has a key that is no string.
#[inline]
pub fn to_writer<W, T>(mut writer: W, value: &T) -> Result<()>
where
    W: Write,
    T: ?Sized + Serialize,
{
    write_blocks::<false, T>(&mut writer, value)
}

/// Same as [`to_writer`] with one line per element and entry, indented by two spaces per level.
///
/// # Errors
///
/// Same as [`to_writer`].
#[inline]
pub fn to_writer_pretty<W, T>(mut writer: W, value: &T) -> Result<()>
where
    W: Write,
    T: ?Sized + Serialize,
{
    write_blocks::<true, T>(&mut writer, value)
}

fn write_blocks<const PRETTY: bool, T: ?Sized + Serialize>(writer: &mut dyn Write, value: &T) -> Result<()> {
    let formatter = Buffer::<PRETTY, 8192>::new(Vec::with_capacity(1024));
    let mut serializer = Serializer::with_formatter(writer, formatter);
    let result = value.serialize(&mut serializer);
    serializer.write(Buffer::flush)?;
    result
}

/// Encodes a value into bytes.
///
/// # Errors
///
/// If the `Serialize` implementation fails, or if a map has a key that is no string.
#[inline]
pub fn to_vec<T>(value: &T) -> Result<Vec<u8>>
where
    T: ?Sized + Serialize,
{
    document::<false, T>(value)
}

/// Same as [`to_vec`] with one line per element and entry, indented by two spaces per level.
///
/// # Errors
///
/// Same as [`to_vec`].
#[inline]
pub fn to_vec_pretty<T>(value: &T) -> Result<Vec<u8>>
where
    T: ?Sized + Serialize,
{
    document::<true, T>(value)
}

#[inline]
fn document<const PRETTY: bool, T: ?Sized + Serialize>(value: &T) -> Result<Vec<u8>> {
    let formatter = Buffer::<PRETTY, { usize::MAX }>::new(engine::new_document());
    let mut serializer = Serializer::with_formatter(io::sink(), formatter);
    value.serialize(&mut serializer)?;
    engine::finish_document(&mut serializer.formatter.out);
    Ok(serializer.formatter.out)
}

/// Encodes a value into text.
///
/// # Errors
///
/// Same as [`to_vec`].
#[inline]
pub fn to_string<T>(value: &T) -> Result<String>
where
    T: ?Sized + Serialize,
{
    text(to_vec(value)?)
}

/// Same as [`to_string`] with one line per element and entry, indented by two spaces per level.
///
/// # Errors
///
/// Same as [`to_vec`].
#[inline]
pub fn to_string_pretty<T>(value: &T) -> Result<String>
where
    T: ?Sized + Serialize,
{
    text(to_vec_pretty(value)?)
}

/// Returns a document as text.
fn text(document: Vec<u8>) -> Result<String> {
    engine::into_text(document).ok_or_else(|| ser::Error::custom("the document is not UTF-8"))
}
