//! Serializer.
//!
//! The names are those of `serde_json::ser`. Most programs only need the functions of the crate root.

mod compound;
mod encode;
mod format;
mod number;
mod pretty;
mod raw;
mod serializer;
mod sort;
mod style;

use std::cell::Cell;
use std::fmt::{self, Display};

use serde::Serialize;
use serde::ser;

use self::compound::Brackets;
pub(crate) use self::compound::encode_key;
pub use self::format::Format;
pub(crate) use self::number::{push_signed, push_unsigned, widen};
pub use self::serializer::{Compound, Serializer};
use self::sort::Unsorted;
use self::style::{Canonical, Go};
pub(crate) use self::style::{Plain, Pretty, Style};
use crate::codec::Mode;
use crate::error::{Error, Result};
#[doc(no_inline)]
pub use crate::functions::{to_string, to_string_pretty, to_vec, to_vec_pretty, to_writer, to_writer_pretty};
use crate::marks::{NUMBER_TOKEN, as_text};
use crate::scan::{push_body, push_entry, push_string};

/// Serializer of one document that appends to a vector.
pub(crate) struct VecSerializer<S> {
    out: Vec<u8>,
    mode: Mode,
    /// Objects whose entries have to be sorted.
    unsorted: Vec<Unsorted>,
    style: S,
    /// Number of open arrays and objects, if the style is [`PRETTY`](Style::PRETTY).
    level: usize,
}

impl<S: Style> VecSerializer<S> {
    fn new(style: S, out: Vec<u8>, mode: Mode) -> Self {
        Self { out, mode, unsorted: Vec::new(), style, level: 0 }
    }

    /// Encodes `value` into a new vector.
    #[inline]
    pub(crate) fn document<T: Serialize + ?Sized>(style: S, mode: Mode, value: &T) -> Result<Vec<u8>> {
        let mut serializer = Self::new(style, new_vec(), mode);
        if let Err(error) = value.serialize(&mut serializer) {
            return Err(error.in_output(&serializer.out));
        }
        sort::sort(&mut serializer.out, serializer.unsorted);
        record_len(&mut serializer.out);
        Ok(serializer.out)
    }

    /// Appends `value` to `buffer`. On an error the buffer is unchanged.
    pub(crate) fn append<T: Serialize + ?Sized>(
        style: S,
        buffer: &mut Vec<u8>,
        mode: Mode,
        value: &T,
    ) -> Result<()> {
        let before = buffer.len();
        // Takes the vector, because a reference to it would cost another indirection per byte.
        let mut serializer = Self::new(style, std::mem::take(buffer), mode);
        let result = value.serialize(&mut serializer);
        if result.is_ok() {
            sort::sort(&mut serializer.out, serializer.unsorted);
        }
        *buffer = serializer.out;
        result.map_err(|error| {
            let error = error.in_output(&buffer[before..]);
            buffer.truncate(before);
            error
        })
    }

    /// Removes the last document.
    fn clear(&mut self) {
        self.out.clear();
        self.unsorted.clear();
        self.level = 0;
    }

    /// Writes an opening bracket.
    #[inline(always)]
    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        if S::PRETTY {
            self.level += 1;
        }
    }

    /// Starts an element or entry, after a comma if another one precedes it.
    #[inline(always)]
    fn separate(&mut self, comma: bool) {
        if comma {
            self.out.push(b',');
        }
        self.style.push_line(&mut self.out, self.level);
    }

    /// Writes a key, with the comma before it and the colon after it.
    #[inline(always)]
    fn push_key(&mut self, comma: bool, key: &str) {
        if S::PRETTY {
            self.separate(comma);
            push_string::<S::Set>(&mut self.out, key);
            self.colon();
        } else {
            push_entry::<S::Set>(&mut self.out, comma, key);
        }
    }

    /// Opens the object around the content of an enum variant and writes its key.
    fn variant(&mut self, name: &str) {
        self.open(b'{');
        self.push_key(false, name);
    }

    fn colon(&mut self) {
        self.out.extend_from_slice(if S::PRETTY { b": " } else { b":" });
    }

    /// Writes a closing bracket.
    #[inline(always)]
    fn close(&mut self, bracket: u8, is_empty: bool) {
        if S::PRETTY {
            self.level -= 1;
            if !is_empty {
                self.style.push_line(&mut self.out, self.level);
            }
        }
        self.out.push(bracket);
    }

    fn string(&mut self, text: &str) {
        push_string::<S::Set>(&mut self.out, text);
    }

    fn not_finite<T>() -> Result<T> {
        Err(ser::Error::custom("NaN and infinity cannot be encoded as JSON"))
    }

    #[cold]
    fn not_exact<T>() -> Result<T> {
        Err(ser::Error::custom("integer has no exact canonical form (encode it as a string)"))
    }
}

macro_rules! integers {
    ($($push:ident: $($method:ident($type:ty))*;)*) => {
        $($(
            #[inline]
            fn $method(self, value: $type) -> Result<()> {
                let start = self.out.len();
                number::$push(&mut self.out, value);
                if S::CANONICAL && !number::is_double(&mut self.out, start) {
                    return VecSerializer::<S>::not_exact();
                }
                Ok(())
            }
        )*)*
    };
}

impl<'s, S: Style> ser::Serializer for &'s mut VecSerializer<S> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = compound::Compound<'s, S>;
    type SerializeTuple = compound::Compound<'s, S>;
    type SerializeTupleStruct = compound::Compound<'s, S>;
    type SerializeTupleVariant = compound::Compound<'s, S>;
    type SerializeMap = compound::Compound<'s, S>;
    type SerializeStruct = compound::Compound<'s, S>;
    type SerializeStructVariant = compound::Compound<'s, S>;

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    integers! {
        push_signed: serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64);
        push_unsigned: serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64);
        push_wide: serialize_i128(i128) serialize_u128(u128);
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<()> {
        if !value.is_finite() {
            return VecSerializer::<S>::not_finite();
        }
        S::push_f32(&mut self.out, value);
        Ok(())
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return VecSerializer::<S>::not_finite();
        }
        S::push_f64(&mut self.out, value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        self.string(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        S::push_bytes(self, value)
    }

    #[inline]
    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<()> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<()> {
        if name == NUMBER_TOKEN {
            return as_text(|| value.serialize(self));
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.close(b'}', false);
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq> {
        Ok(compound::Compound::array(self, Brackets::Plain))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple> {
        Ok(compound::Compound::array(self, Brackets::Plain))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeTupleStruct> {
        Ok(compound::Compound::array(self, Brackets::Plain))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        self.variant(variant);
        Ok(compound::Compound::array(self, Brackets::Variant))
    }

    #[inline]
    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap> {
        Ok(compound::Compound::object(self, Brackets::Plain))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Self::SerializeStruct> {
        Ok(compound::Compound::fields(self, name))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        self.variant(variant);
        Ok(compound::Compound::object(self, Brackets::Variant))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        self.out.push(b'"');
        fmt::write(&mut Escaping(self), format_args!("{value}"))
            .map_err(|_| <Error as ser::Error>::custom("a `Display` implementation returned an error"))?;
        self.out.push(b'"');
        Ok(())
    }
}

/// Writer that escapes the output of a `Display` implementation. Each part is valid UTF-8, so that no escaped character
/// extends over two parts.
struct Escaping<'s, S>(&'s mut VecSerializer<S>);

impl<S: Style> fmt::Write for Escaping<'_, S> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        push_body::<S::Set>(&mut self.0.out, part);
        Ok(())
    }
}

/// Capacity in addition to the estimated length, in bytes: for each string and number, the encoder reserves at most one
/// block more than it needs.
const SLACK: usize = 32;

/// Maximum initial capacity, in bytes.
const MAX_CAPACITY: usize = 8 << 20;

thread_local! {
    /// Lengths of the last two documents, the last one first.
    static LENGTHS: Cell<(usize, usize)> = const { Cell::new((128, 128)) };
}

/// Returns a vector for a new document. Its capacity is the smaller of the last two lengths: a thread that alternates
/// large and small documents never allocates a large vector for a small document.
#[inline]
pub(crate) fn new_vec() -> Vec<u8> {
    let (last, before) = LENGTHS.get();
    Vec::with_capacity(last.min(before).min(MAX_CAPACITY) + SLACK)
}

/// Records the length of a finished document, and shrinks its vector if less than half of it is used.
#[inline]
pub(crate) fn record_len(document: &mut Vec<u8>) {
    let (last, _) = LENGTHS.get();
    LENGTHS.set((document.len(), last));
    if document.len() + SLACK < document.capacity() / 2 {
        document.shrink_to_fit();
    }
}
