//! The serializer.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use serde::ser::{self, Serialize};

use super::{Failure, Sizes, position};
use crate::error::{ErrorKind, Fault, Segment};
use crate::wire::dialect::{put_wide, unsigned};
use crate::wire::{
    Blob, Char, Dialect, F32, F64, Format, Header as _, I8, I16, I32, I64, Order as _, Put as _,
    StaticWire as _, Str, U8, U16, U32, U64, Varint,
};
use crate::write::{Reserved, Writer};

pub(super) fn put<F: Format, T: Serialize + ?Sized>(value: &T, writer: &mut Writer<'_>) -> Result<(), Fault> {
    match value.serialize(Serializer::<F>(writer, PhantomData)) {
        Ok(()) => Ok(()),
        Err(failure) => Err(failure.explain(|message| writer.explain(message))),
    }
}

#[inline]
fn part<F: Format, T: Serialize + ?Sized>(
    value: &T,
    writer: &mut Writer<'_>,
    segment: impl FnOnce() -> Segment,
) -> Result<(), Failure> {
    value.serialize(Serializer::<F>(writer, PhantomData)).inspect_err(|failure| {
        writer.locate(failure.fault(), segment());
    })
}

type Name = &'static str;

struct Serializer<'a, 'w, F>(&'a mut Writer<'w>, PhantomData<F>);

/// Whether the format is one of this crate.
const fn is_native<F: Format>() -> bool {
    matches!(F::Order::DIALECT, Dialect::Native)
}

impl<'a, 'w, F: Format> Serializer<'a, 'w, F> {
    fn parts(self, len: usize, variant: Option<(u32, Name)>) -> Result<Parts<'a, 'w, F>, Failure> {
        self.0.enter()?;
        match variant {
            Some((index, _)) if is_native::<F>() => Varint::write(index.into(), self.0),
            Some((index, _)) => U32::<F::Order>::NEW.put(&index, self.0)?,
            None => {}
        }
        let variant = variant.map(|(_, name)| name);
        Ok(Parts { writer: self.0, len, variant, index: 0, format: PhantomData })
    }

    fn collection(self, len: Option<usize>) -> Result<Collection<'a, 'w, F>, Failure> {
        self.0.enter()?;
        let (limits, sizes) = (self.0.limits(), Sizes::default());
        let (len, is_checked) = match len {
            Some(len) => {
                sizes.start(len, limits).map_err(|exceeded| self.0.exceed(exceeded))?;
                F::Header::put_length(len, self.0)?;
                (Ok(len), Sizes::need_check(len, limits))
            }
            // Other libraries do not support it either.
            None if !is_native::<F>() => return Err(Fault::INVALID_LENGTH.into()),
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
            format: PhantomData,
        })
    }
}

/// Methods that write a number.
macro_rules! numbers {
    ($($method:ident: $number:ty = $wire:ty;)*) => {$(
        #[inline]
        fn $method(self, number: $number) -> Result<(), Failure> {
            Ok(<$wire>::NEW.put(&number, self.0)?)
        }
    )*};
}

/// Other methods, each with its arguments and result.
macro_rules! methods {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty, |$this:ident| $value:expr;)*) => {$(
        #[inline]
        fn $method(self, $($argument: $type),*) -> Result<$result, Failure> {
            let $this = self;
            $value
        }
    )*};
}

impl<'a, 'w, F: Format> ser::Serializer for Serializer<'a, 'w, F> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Collection<'a, 'w, F>;
    type SerializeTuple = Parts<'a, 'w, F>;
    type SerializeTupleStruct = Parts<'a, 'w, F>;
    type SerializeTupleVariant = Parts<'a, 'w, F>;
    type SerializeMap = Collection<'a, 'w, F>;
    type SerializeStruct = Parts<'a, 'w, F>;
    type SerializeStructVariant = Parts<'a, 'w, F>;

    numbers! {
        serialize_u8: u8 = U8;
        serialize_i8: i8 = I8;
        serialize_u16: u16 = U16<F::Order>;
        serialize_i16: i16 = I16<F::Order>;
        serialize_u32: u32 = U32<F::Order>;
        serialize_i32: i32 = I32<F::Order>;
        serialize_u64: u64 = U64<F::Order>;
        serialize_i64: i64 = I64<F::Order>;
        serialize_f32: f32 = F32<F::Order>;
        serialize_f64: f64 = F64<F::Order>;
    }

    methods! {
        serialize_i128(number: i128) -> (), |this| this.serialize_u128(unsigned::<F::Order>(number));
        serialize_bool(flag: bool) -> (), |this| this.serialize_u8(flag.into());
        serialize_char(char: char) -> (), |this| Ok(Char::<F::Order>::NEW.put(&char, this.0)?);
        serialize_str(text: &str) -> (), |this| Ok(Str::<F::Header>::NEW.put(text, this.0)?);
        serialize_bytes(bytes: &[u8]) -> (), |this| Ok(Blob::<F::Header>::NEW.put(bytes, this.0)?);
        serialize_none() -> (), |this| this.serialize_u8(0);
        serialize_unit() -> (), |_this| Ok(());
        serialize_unit_struct(_name: Name) -> (), |this| this.parts(0, None)?.end();
        serialize_unit_variant(_name: Name, index: u32, variant: Name) -> (),
            |this| this.parts(0, Some((index, variant)))?.end();
        serialize_seq(len: Option<usize>) -> Collection<'a, 'w, F>, |this| this.collection(len);
        serialize_map(len: Option<usize>) -> Collection<'a, 'w, F>, |this| this.collection(len);
        serialize_tuple(len: usize) -> Parts<'a, 'w, F>, |this| this.parts(len, None);
        serialize_tuple_struct(_name: Name, len: usize) -> Parts<'a, 'w, F>, |this| this.parts(len, None);
        serialize_tuple_variant(_name: Name, index: u32, variant: Name, len: usize) -> Parts<'a, 'w, F>,
            |this| this.parts(len, Some((index, variant)));
        serialize_struct_variant(_name: Name, index: u32, variant: Name, len: usize) -> Parts<'a, 'w, F>,
            |this| this.parts(len, Some((index, variant)));
    }

    fn serialize_u128(self, number: u128) -> Result<(), Failure> {
        put_wide::<F::Order>(number, self.0);
        Ok(())
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        self.0.array([1]);
        self.0.enter()?;
        value.serialize(Serializer::<F>(self.0, PhantomData))?;
        self.0.leave();
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: Name, value: &T) -> Result<(), Failure> {
        let mut parts = self.parts(1, None)?;
        parts.put(value, position)?;
        parts.end()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: Name,
        index: u32,
        variant: Name,
        value: &T,
    ) -> Result<(), Failure> {
        let parts = self.parts(0, Some((index, variant)))?;
        part::<F, _>(value, parts.writer, || Segment::Field(variant))?;
        parts.end()
    }

    fn serialize_struct(self, name: Name, len: usize) -> Result<Self::SerializeStruct, Failure> {
        // The name of types that only one format can decode, such as the raw values of `serde_json`.
        if name.starts_with('$') {
            return Err(Fault(ErrorKind::NotSelfDescribing).into());
        }
        self.parts(len, None)
    }
}

/// Returns whether a value is a name that derived code writes. Values of fields and keys of maps are never of the type `str`,
/// but flattened and tagged types write the names of their fields and variants.
fn is_literal<T: ?Sized>() -> bool {
    let name = core::any::type_name::<T>();
    name == "str" || name.ends_with("::AdjacentlyTaggedEnumVariant")
}

/// The elements of a sequence, or the entries of a map.
struct Collection<'a, 'w, F> {
    writer: &'a mut Writer<'w>,
    /// The announced number of elements, or the place of the number.
    len: Result<usize, Reserved>,
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
    format: PhantomData<F>,
}

impl<F: Format> Collection<'_, '_, F> {
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

impl<F: Format> ser::SerializeSeq for Collection<'_, '_, F> {
    type Ok = ();
    type Error = Failure;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        let index = self.count;
        part::<F, _>(value, self.writer, || Segment::Index(index))?;
        self.next()
    }

    fn end(self) -> Result<(), Failure> {
        self.end()
    }
}

impl<F: Format> ser::SerializeMap for Collection<'_, '_, F> {
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
        part::<F, _>(key, self.writer, || Segment::Key(index))?;
        self.keys.extend(self.writer.is_canonical().then(|| start..self.writer.position()));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        let index = self.count;
        if is_literal::<T>() && self.has_literal_key {
            return Err(Fault(ErrorKind::NotSelfDescribing).into());
        }
        part::<F, _>(value, self.writer, || Segment::Value(index))?;
        self.next()
    }

    fn end(self) -> Result<(), Failure> {
        self.end()
    }
}

/// The parts of a struct, tuple or variant.
struct Parts<'a, 'w, F> {
    writer: &'a mut Writer<'w>,
    /// Announced number of parts.
    len: usize,
    variant: Option<Name>,
    index: usize,
    format: PhantomData<F>,
}

impl<F: Format> Parts<'_, '_, F> {
    #[inline]
    fn put<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        segment: impl FnOnce(usize) -> Segment,
    ) -> Result<(), Failure> {
        if let Err(failure) = part::<F, _>(value, self.writer, || segment(self.index)) {
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

    fn end(self) -> Result<(), Failure> {
        if self.index != self.len {
            return Err(Fault::INVALID_LENGTH.into());
        }
        self.writer.leave();
        Ok(())
    }
}

/// Implements the traits of values whose parts have no names.
macro_rules! positional {
    ($($trait:ident::$method:ident, $segment:expr;)*) => {$(
        impl<F: Format> ser::$trait for Parts<'_, '_, F> {
            type Ok = ();
            type Error = Failure;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
                self.put(value, $segment)
            }

            fn end(self) -> Result<(), Failure> {
                self.end()
            }
        }
    )*};
}

positional! {
    SerializeTuple::serialize_element, Segment::Index;
    SerializeTupleStruct::serialize_field, position;
    SerializeTupleVariant::serialize_field, position;
}

/// Implements the traits of structs and variants with named fields. The first field of a tagged struct is a literal.
macro_rules! named {
    ($($trait:ident, $is_tagged:literal;)*) => {$(
        impl<F: Format> ser::$trait for Parts<'_, '_, F> {
            type Ok = ();
            type Error = Failure;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: Name,
                value: &T,
            ) -> Result<(), Failure> {
                if $is_tagged && self.index == 0 && is_literal::<T>() {
                    return Err(Fault(ErrorKind::NotSelfDescribing).into());
                }
                self.put(value, |_| Segment::Field(name))
            }

            fn skip_field(&mut self, name: Name) -> Result<(), Failure> {
                let fault = self.writer.locate(Fault(ErrorKind::SkippedField), Segment::Field(name));
                Err(self.within_variant(fault.into()))
            }

            fn end(self) -> Result<(), Failure> {
                self.end()
            }
        }
    )*};
}

named! {
    SerializeStruct, true;
    SerializeStructVariant, false;
}

impl ser::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::custom(Fault(ErrorKind::Rejected), message)
    }
}
