//! Public serializer.

use std::fmt::{self, Display};
use std::io::Write;

use serde::{Serialize, ser};

use super::style::{Canonical, Go, Plain, Pretty, Style};
use super::{VecSerializer, compound, sort};
use crate::codec::{Codec, Mode};
use crate::error::{Error, Result};

/// One type per output style.
enum Styled<P, I, G, C> {
    Plain(P),
    Pretty(I),
    Go(G),
    Canonical(C),
}

/// Evaluates an expression for any style.
macro_rules! any {
    ($styled:expr, $inner:ident => $result:expr) => {
        match $styled {
            Styled::Plain($inner) => $result,
            Styled::Pretty($inner) => $result,
            Styled::Go($inner) => $result,
            Styled::Canonical($inner) => $result,
        }
    };
}

/// Starts an array or object in any style.
macro_rules! start {
    ($serializer:expr, $vec:ident => $inner:expr) => {
        start!($serializer, $vec => $inner, Plain Pretty Go Canonical)
    };
    ($serializer:expr, $vec:ident => $inner:expr, $($style:ident)*) => {{
        let Serializer { vec, writer } = $serializer;
        let inner = match vec {
            $(Styled::$style($vec) => {
                $vec.clear();
                Styled::$style($inner?)
            })*
        };
        Ok(Compound { inner, writer })
    }};
}

/// Encodes values into a writer, as a [`serde::Serializer`].
///
/// The functions [`to_writer`](crate::to_writer) and [`to_writer_pretty`](crate::to_writer_pretty) are sufficient for
/// one value of a type that implements `Serialize`. Use this type with crates that wrap a serializer.
///
/// Each value is encoded into a buffer that is reused, and then written with one call of [`Write::write_all`]. Nothing
/// is written for a value that cannot be encoded. Nothing is written between values.
///
/// # Examples
///
/// ```
/// use serde::{Serialize, Serializer as _};
/// use tightwire_json::Serializer;
///
/// let mut serializer = Serializer::new(Vec::new());
/// serializer.collect_seq(0..3)?;
/// "four".serialize(&mut serializer)?;
/// assert_eq!(serializer.into_inner(), b"[0,1,2]\"four\"");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct Serializer<W> {
    vec: Styled<
        VecSerializer<Plain>,
        VecSerializer<Pretty<'static>>,
        VecSerializer<Go>,
        VecSerializer<Canonical>,
    >,
    writer: W,
}

/// Writes a complete document.
fn write<S: Style>(writer: &mut impl Write, serializer: &mut VecSerializer<S>) -> Result<()> {
    sort::sort(&mut serializer.out, std::mem::take(&mut serializer.unsorted));
    writer.write_all(&serializer.out).map_err(Error::io)
}

impl<W: Write> Serializer<W> {
    /// Returns a serializer with [`Codec::standard`] that writes no white space.
    pub fn new(writer: W) -> Self {
        Self::with_codec(writer, Codec::standard())
    }

    /// Returns a serializer with [`Codec::standard`] that writes one line per element and entry, indented by two
    /// spaces per level. See [`Codec::to_writer_pretty`] for another indentation.
    pub fn pretty(writer: W) -> Self {
        let vec = VecSerializer::new(Pretty::TWO_SPACES, super::new_vec(), Codec::standard().mode);
        Self { vec: Styled::Pretty(vec), writer }
    }

    /// Returns a serializer with this codec that writes no white space.
    pub fn with_codec(writer: W, codec: Codec) -> Self {
        let out = super::new_vec();
        let vec = match codec.mode {
            Mode::Strict | Mode::Fast => Styled::Plain(VecSerializer::new(Plain, out, codec.mode)),
            Mode::Canonical => Styled::Canonical(VecSerializer::new(Canonical, out, codec.mode)),
            Mode::Compat => Styled::Go(VecSerializer::new(Go, out, codec.mode)),
        };
        Self { vec, writer }
    }
}

impl<W> Serializer<W> {
    /// Returns the writer.
    pub fn into_inner(self) -> W {
        self.writer
    }
}

impl<W> fmt::Debug for Serializer<W> {
    /// Omits the buffered document.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serializer").finish_non_exhaustive()
    }
}

macro_rules! documents {
    ($($method:ident $(<$generic:ident>)? ($($argument:ident: $type:ty),*))*) => {
        $(
            fn $method $(<$generic: Serialize + ?Sized>)? (self, $($argument: $type),*) -> Result<()> {
                any!(&mut self.vec, vec => {
                    vec.clear();
                    ser::Serializer::$method(&mut *vec, $($argument),*)?;
                    write(&mut self.writer, vec)
                })
            }
        )*
    };
}

impl<'a, W: Write> ser::Serializer for &'a mut Serializer<W> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a, W>;
    type SerializeTuple = Compound<'a, W>;
    type SerializeTupleStruct = Compound<'a, W>;
    type SerializeTupleVariant = Compound<'a, W>;
    type SerializeMap = Compound<'a, W>;
    type SerializeStruct = Compound<'a, W>;
    type SerializeStructVariant = Compound<'a, W>;

    documents! {
        serialize_bool(value: bool)
        serialize_i8(value: i8)
        serialize_i16(value: i16)
        serialize_i32(value: i32)
        serialize_i64(value: i64)
        serialize_i128(value: i128)
        serialize_u8(value: u8)
        serialize_u16(value: u16)
        serialize_u32(value: u32)
        serialize_u64(value: u64)
        serialize_u128(value: u128)
        serialize_f32(value: f32)
        serialize_f64(value: f64)
        serialize_char(value: char)
        serialize_str(value: &str)
        serialize_bytes(value: &[u8])
        serialize_none()
        serialize_some<T>(value: &T)
        serialize_unit()
        serialize_unit_struct(name: &'static str)
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str)
        serialize_newtype_struct<T>(name: &'static str, value: &T)
        serialize_newtype_variant<T>(name: &'static str, index: u32, variant: &'static str, value: &T)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq> {
        start!(self, vec => vec.serialize_seq(len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple> {
        start!(self, vec => vec.serialize_tuple(len))
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct> {
        start!(self, vec => vec.serialize_tuple_struct(name, len))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        start!(self, vec => vec.serialize_tuple_variant(name, index, variant, len))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap> {
        start!(self, vec => vec.serialize_map(len))
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct> {
        start!(self, vec => vec.serialize_struct(name, len))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        start!(self, vec => vec.serialize_struct_variant(name, index, variant, len))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        any!(&mut self.vec, vec => {
            vec.clear();
            ser::Serializer::collect_str(&mut *vec, value)?;
            write(&mut self.writer, vec)
        })
    }
}

/// Array, map, struct or enum variant that a [`Serializer`] is writing.
pub struct Compound<'a, W> {
    inner: Styled<
        compound::Compound<'a, Plain>,
        compound::Compound<'a, Pretty<'static>>,
        compound::Compound<'a, Go>,
        compound::Compound<'a, Canonical>,
    >,
    writer: &'a mut W,
}

impl<W> fmt::Debug for Compound<'_, W> {
    /// Omits the buffered document.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compound").finish_non_exhaustive()
    }
}

macro_rules! arrays {
    ($($kind:ident::$element:ident)*) => {
        $(
            impl<W: Write> ser::$kind for Compound<'_, W> {
                type Ok = ();
                type Error = Error;

                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                    any!(&mut self.inner, array => ser::$kind::$element(array, value))
                }

                fn end(self) -> Result<()> {
                    any!(self.inner, array => write(self.writer, array.close(b']')))
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

impl<W: Write> ser::SerializeMap for Compound<'_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        any!(&mut self.inner, map => map.serialize_key(key))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        any!(&mut self.inner, map => map.serialize_value(value))
    }

    fn end(self) -> Result<()> {
        any!(self.inner, map => write(self.writer, map.close_map()?))
    }
}

macro_rules! fields {
    ($($kind:ident)*) => {
        $(
            impl<W: Write> ser::$kind for Compound<'_, W> {
                type Ok = ();
                type Error = Error;

                fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
                    any!(&mut self.inner, object => ser::$kind::serialize_field(object, key, value))
                }

                fn end(self) -> Result<()> {
                    any!(self.inner, object => write(self.writer, object.close_struct()?))
                }
            }
        )*
    };
}

fields! { SerializeStruct SerializeStructVariant }
