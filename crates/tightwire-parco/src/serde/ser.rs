//! The serializer.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use serde::ser::{self, Serialize};

use super::{Failure, Sizes, position};
use crate::error::{ErrorKind, Fault, Segment};
use crate::wire::{Blob, Header as _, Put as _, StaticWire as _, Str, Varint};
use crate::write::{Reserved, Writer};

/// Encodes a value.
pub(super) fn put<T: Serialize + ?Sized>(value: &T, writer: &mut Writer<'_>) -> Result<(), Fault> {
    match value.serialize(Serializer(writer)) {
        Ok(()) => Ok(()),
        Err(failure) => Err(failure.explain(|message| writer.explain(message))),
    }
}

/// Encodes a part of a value.
#[inline]
fn part<T: Serialize + ?Sized>(
    value: &T,
    writer: &mut Writer<'_>,
    segment: impl FnOnce() -> Segment,
) -> Result<(), Failure> {
    value.serialize(Serializer(writer)).inspect_err(|failure| {
        writer.locate(failure.fault(), segment());
    })
}

struct Serializer<'a, 'w>(&'a mut Writer<'w>);

impl<'a, 'w> Serializer<'a, 'w> {
    fn parts(self, len: usize, variant: Option<(u32, &'static str)>) -> Result<Parts<'a, 'w>, Failure> {
        self.0.enter()?;
        if let Some((index, _)) = variant {
            Varint::write(index.into(), self.0);
        }
        Ok(Parts { writer: self.0, len, variant: variant.map(|(_, name)| name), index: 0 })
    }

    fn collection(self, len: Option<usize>) -> Result<Collection<'a, 'w>, Failure> {
        self.0.enter()?;
        let (limits, sizes) = (self.0.limits(), Sizes::default());
        let (len, is_checked) = match len {
            Some(len) => {
                sizes.start(len, limits).map_err(|exceeded| self.0.exceed(exceeded))?;
                Varint::put_length(len, self.0)?;
                (Ok(len), Sizes::need_check(len, limits))
            }
            None => (Err(self.0.begin_length()), true),
        };
        let start = self.0.written();
        Ok(Collection {
            writer: self.0,
            len,
            count: 0,
            is_checked,
            start,
            sizes,
            has_literal_key: false,
            keys: Vec::new(),
        })
    }
}

/// Methods that write the little-endian bytes of a number.
macro_rules! numbers {
    ($($method:ident: $number:ty;)*) => {$(
        #[inline]
        fn $method(self, number: $number) -> Result<(), Failure> {
            self.0.array(number.to_le_bytes());
            Ok(())
        }
    )*};
}

impl<'a, 'w> ser::Serializer for Serializer<'a, 'w> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Collection<'a, 'w>;
    type SerializeTuple = Parts<'a, 'w>;
    type SerializeTupleStruct = Parts<'a, 'w>;
    type SerializeTupleVariant = Parts<'a, 'w>;
    type SerializeMap = Collection<'a, 'w>;
    type SerializeStruct = Parts<'a, 'w>;
    type SerializeStructVariant = Parts<'a, 'w>;

    numbers! {
        serialize_u8: u8;
        serialize_i8: i8;
        serialize_u16: u16;
        serialize_i16: i16;
        serialize_u32: u32;
        serialize_i32: i32;
        serialize_u64: u64;
        serialize_i64: i64;
        serialize_u128: u128;
        serialize_i128: i128;
        serialize_f32: f32;
        serialize_f64: f64;
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, flag: bool) -> Result<(), Failure> {
        self.serialize_u8(flag.into())
    }

    fn serialize_char(self, char: char) -> Result<(), Failure> {
        self.serialize_u32(char.into())
    }

    fn serialize_str(self, text: &str) -> Result<(), Failure> {
        Ok(Str::<Varint>::NEW.put(text, self.0)?)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(Blob::<Varint>::NEW.put(bytes, self.0)?)
    }

    fn serialize_none(self) -> Result<(), Failure> {
        self.serialize_u8(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        self.0.array([1]);
        self.0.enter()?;
        value.serialize(Serializer(self.0))?;
        self.0.leave();
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Failure> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failure> {
        ser::SerializeTuple::end(self.parts(0, None)?)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<(), Failure> {
        ser::SerializeTuple::end(self.parts(0, Some((index, variant)))?)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        let mut parts = self.parts(1, None)?;
        parts.put(value, position)?;
        ser::SerializeTuple::end(parts)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        let parts = self.parts(0, Some((index, variant)))?;
        part(value, parts.writer, || Segment::Field(variant))?;
        ser::SerializeTuple::end(parts)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, Failure> {
        self.collection(len)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, Failure> {
        self.parts(len, None)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, Failure> {
        self.parts(len, None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, Failure> {
        self.parts(len, Some((index, variant)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, Failure> {
        self.collection(len)
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, Failure> {
        // The name of types that only one format can decode, such as the raw values of `serde_json`.
        if name.starts_with('$') {
            return Err(Fault(ErrorKind::NotSelfDescribing).into());
        }
        self.parts(len, None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, Failure> {
        self.parts(len, Some((index, variant)))
    }
}

/// Returns whether a value is a name that derived code writes. Values of fields and keys of maps are never of the type `str`,
/// but flattened and tagged types write the names of their fields and variants.
fn is_literal<T: ?Sized>() -> bool {
    let name = core::any::type_name::<T>();
    name == "str" || name.ends_with("::AdjacentlyTaggedEnumVariant")
}

/// The elements of a sequence, or the entries of a map.
struct Collection<'a, 'w> {
    writer: &'a mut Writer<'w>,
    /// The announced number of elements, or the place of the number.
    len: Result<usize, Reserved>,
    /// Number of elements so far.
    count: usize,
    /// Whether the sizes of the elements are checked.
    is_checked: bool,
    /// Number of bytes before the current element.
    start: usize,
    sizes: Sizes,
    /// Whether the first key is a literal.
    has_literal_key: bool,
    /// Positions of the keys of a map in the canonical mode.
    keys: Vec<Range<usize>>,
}

impl Collection<'_, '_> {
    #[inline]
    fn put<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        segment: impl FnOnce() -> Segment,
    ) -> Result<(), Failure> {
        part(value, self.writer, segment)
    }

    /// Counts an element or entry that is complete.
    #[inline]
    fn next(&mut self) -> Result<(), Failure> {
        self.count += 1;
        if self.is_checked {
            let end = self.writer.written();
            let total = self.len.as_ref().copied().unwrap_or(self.count);
            let checked = self.sizes.add(end - self.start, total, self.writer.limits());
            checked.map_err(|exceeded| self.writer.exceed(exceeded))?;
            self.start = end;
        }
        Ok(())
    }

    fn end(self) -> Result<(), Failure> {
        if !self.keys.is_empty() {
            self.writer.sort_parts(&self.keys, Segment::Key)?;
        }
        match self.len {
            Ok(len) if len != self.count => return Err(Fault::INVALID_LENGTH.into()),
            Ok(_) => {}
            Err(reserved) => self.writer.end_length(reserved, self.count),
        }
        self.writer.leave();
        Ok(())
    }
}

impl ser::SerializeSeq for Collection<'_, '_> {
    type Ok = ();
    type Error = Failure;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        let index = self.count;
        self.put(value, || Segment::Index(index))?;
        self.next()
    }

    fn end(self) -> Result<(), Failure> {
        self.end()
    }
}

impl ser::SerializeMap for Collection<'_, '_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        let index = self.count;
        if is_literal::<T>() {
            self.has_literal_key = index == 0;
            if self.len.is_err() {
                return Err(Fault(ErrorKind::NotSelfDescribing).into());
            }
        }
        let start = self.writer.position();
        self.put(key, || Segment::Key(index))?;
        self.keys.extend(self.writer.is_canonical().then(|| start..self.writer.position()));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        let index = self.count;
        if is_literal::<T>() && self.has_literal_key {
            return Err(Fault(ErrorKind::NotSelfDescribing).into());
        }
        self.put(value, || Segment::Value(index))?;
        self.next()
    }

    fn end(self) -> Result<(), Failure> {
        self.end()
    }
}

/// The parts of a struct, tuple or variant.
struct Parts<'a, 'w> {
    writer: &'a mut Writer<'w>,
    /// Announced number of parts.
    len: usize,
    variant: Option<&'static str>,
    index: usize,
}

impl Parts<'_, '_> {
    #[inline]
    fn put<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        segment: impl FnOnce(usize) -> Segment,
    ) -> Result<(), Failure> {
        if let Err(failure) = part(value, self.writer, || segment(self.index)) {
            return Err(self.within_variant(failure));
        }
        self.index += 1;
        Ok(())
    }

    #[cold]
    fn within_variant(&mut self, failure: Failure) -> Failure {
        if let Some(name) = self.variant {
            self.writer.locate(failure.fault(), Segment::Field(name));
        }
        failure
    }

    fn skip(&mut self, name: &'static str) -> Failure {
        let fault = self.writer.locate(Fault(ErrorKind::SkippedField), Segment::Field(name));
        self.within_variant(fault.into())
    }
}

impl ser::SerializeTuple for Parts<'_, '_> {
    type Ok = ();
    type Error = Failure;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.put(value, Segment::Index)
    }

    fn end(self) -> Result<(), Failure> {
        if self.index != self.len {
            return Err(Fault::INVALID_LENGTH.into());
        }
        self.writer.leave();
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Parts<'_, '_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.put(value, position)
    }

    fn end(self) -> Result<(), Failure> {
        ser::SerializeTuple::end(self)
    }
}

impl ser::SerializeTupleVariant for Parts<'_, '_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.put(value, position)
    }

    fn end(self) -> Result<(), Failure> {
        ser::SerializeTuple::end(self)
    }
}

impl ser::SerializeStruct for Parts<'_, '_> {
    type Ok = ();
    type Error = Failure;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        if self.index == 0 && is_literal::<T>() {
            return Err(Fault(ErrorKind::NotSelfDescribing).into());
        }
        self.put(value, |_| Segment::Field(name))
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), Failure> {
        Err(self.skip(name))
    }

    fn end(self) -> Result<(), Failure> {
        ser::SerializeTuple::end(self)
    }
}

impl ser::SerializeStructVariant for Parts<'_, '_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        self.put(value, |_| Segment::Field(name))
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), Failure> {
        Err(self.skip(name))
    }

    fn end(self) -> Result<(), Failure> {
        ser::SerializeTuple::end(self)
    }
}

impl ser::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::custom(Fault(ErrorKind::Rejected), message)
    }
}
