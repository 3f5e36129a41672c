//! The encoder: a serde serializer that writes straight into a `Vec`.

mod compound;
mod form;
mod key;
mod number;
mod pretty;
mod raw;
mod sort;

use std::fmt::{self, Display};
use std::marker::PhantomData;

use serde::Serialize;
use serde::ser;

use self::compound::{Compound, Fields, Tail};
pub(crate) use self::form::{Form, Go, Plain};
pub(crate) use self::pretty::indent;
pub(crate) use self::raw::{RAW_TOKEN, Raw};
use self::sort::Unsorted;
use crate::error::{Error, Result};
use crate::room;
use crate::scan::{push_body, push_string};

/// Writes one document to the end of a buffer.
pub(crate) struct Serializer<F> {
    out: Vec<u8>,
    raw: Raw,
    /// Maps whose entries have to be put in order.
    unsorted: Vec<Unsorted>,
    form: PhantomData<F>,
}

impl<F: Form> Serializer<F> {
    /// Returns `value` in a vector of its own.
    #[inline]
    pub(crate) fn document<T: Serialize + ?Sized>(raw: Raw, value: &T) -> Result<Vec<u8>> {
        let mut serializer = Self { out: room::vector(), raw, unsorted: Vec::new(), form: PhantomData };
        value.serialize(&mut serializer)?;
        sort::sort(&mut serializer.out, serializer.unsorted);
        room::learn(&mut serializer.out);
        Ok(serializer.out)
    }

    /// Appends `value` to `buffer`. On failure the buffer is as it was.
    pub(crate) fn append<T: Serialize + ?Sized>(buffer: &mut Vec<u8>, raw: Raw, value: &T) -> Result<()> {
        let before = buffer.len();
        // Owned for the time being: through a reference every byte would cost another indirection.
        let mut serializer =
            Self { out: std::mem::take(buffer), raw, unsorted: Vec::new(), form: PhantomData };
        let result = value.serialize(&mut serializer);
        if result.is_ok() {
            sort::sort(&mut serializer.out, serializer.unsorted);
        }
        *buffer = serializer.out;
        if result.is_err() {
            buffer.truncate(before);
        }
        result
    }

    fn string(&mut self, text: &str) {
        push_string::<F::Set>(&mut self.out, text);
    }

    fn not_finite<T>() -> Result<T> {
        Err(ser::Error::custom("NaN and infinities have no JSON form"))
    }
}

impl<'s, F: Form> ser::Serializer for &'s mut Serializer<F> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'s, F>;
    type SerializeTuple = Compound<'s, F>;
    type SerializeTupleStruct = Compound<'s, F>;
    type SerializeTupleVariant = Compound<'s, F>;
    type SerializeMap = Compound<'s, F>;
    type SerializeStruct = Fields<'s, F>;
    type SerializeStructVariant = Compound<'s, F>;

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<()> {
        self.serialize_i64(value.into())
    }

    #[inline]
    fn serialize_i16(self, value: i16) -> Result<()> {
        self.serialize_i64(value.into())
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<()> {
        self.serialize_i64(value.into())
    }

    #[inline]
    fn serialize_i64(self, value: i64) -> Result<()> {
        number::push_i64(&mut self.out, value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        number::push_display(&mut self.out, value);
        Ok(())
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u16(self, value: u16) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u32(self, value: u32) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u64(self, value: u64) -> Result<()> {
        number::push_u64(&mut self.out, value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        number::push_display(&mut self.out, value);
        Ok(())
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<()> {
        if !value.is_finite() {
            return Serializer::<F>::not_finite();
        }
        F::push_f32(&mut self.out, value);
        Ok(())
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Serializer::<F>::not_finite();
        }
        F::push_f64(&mut self.out, value);
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
        F::push_bytes(&mut self.out, value);
        Ok(())
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
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<()> {
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
        self.out.push(b'}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq> {
        Ok(Compound::array(self, Tail::None))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple> {
        Ok(Compound::array(self, Tail::None))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeTupleStruct> {
        Ok(Compound::array(self, Tail::None))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        self.variant(variant);
        Ok(Compound::array(self, Tail::Brace))
    }

    #[inline]
    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap> {
        Ok(Compound::object(self, Tail::None))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Self::SerializeStruct> {
        Ok(Fields::new(self, name))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        self.variant(variant);
        Ok(Compound::object(self, Tail::Brace))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<()> {
        self.out.push(b'"');
        let result = fmt::write(&mut Escaping(self), format_args!("{value}"));
        self.out.push(b'"');
        result.map_err(|_| ser::Error::custom("a value failed to display itself"))
    }
}

impl<F: Form> Serializer<F> {
    /// The key of an object that has the content of an enum variant as its only value.
    fn variant(&mut self, name: &str) {
        self.out.push(b'{');
        crate::scan::push_entry::<F::Set>(&mut self.out, false, name);
    }
}

/// Escapes what is displayed. No escape reaches over the parts that a display consists of, as each is valid UTF-8.
struct Escaping<'s, F>(&'s mut Serializer<F>);

impl<F: Form> fmt::Write for Escaping<'_, F> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        push_body::<F::Set>(&mut self.0.out, part);
        Ok(())
    }
}
