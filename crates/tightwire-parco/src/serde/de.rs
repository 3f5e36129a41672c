//! The deserializer.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, IntoDeserializer as _, Visitor};

use super::{Failure, Sizes, position};
use crate::error::{ErrorKind, Fault, Segment};
use crate::options::DuplicateKeys;
use crate::read::{Input, Reader, check_order};
use crate::text::text;
use crate::wire::dialect::{get_char, get_number, get_wide, signed};
use crate::wire::{Dialect, Format, Header as _, Order as _};

pub(super) fn get<'de, F: Format, T: Deserialize<'de>>(reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
    let whole = reader.rest();
    get_from(Slice::<F> { reader, whole, format: PhantomData }, whole.len())
}

/// Decodes a value. Size hints promise at most `unpromised` elements.
pub(crate) fn get_from<'de, T: Deserialize<'de>>(
    origin: impl Origin<'de>,
    unpromised: usize,
) -> Result<T, Fault> {
    let start = origin.position();
    let mut source = Source { unpromised, origin };
    T::deserialize(Deserializer(&mut source)).map_err(|failure| {
        let failure = source.locate(start, failure, None);
        failure.explain(|message| source.input().state_mut().trace.explain(message))
    })
}

/// A slice or stream that values are decoded from, in a format.
pub(crate) trait Origin<'de> {
    type Format: Format;
    type Input: Input;

    fn input(&mut self) -> &mut Self::Input;

    /// Returns the number of bytes that were read.
    fn position(&self) -> usize;

    /// Returns the bytes that were read since this position.
    fn since(&self, position: usize) -> &[u8];

    fn bytes(&mut self, len: usize) -> Result<Octets<'_, 'de>, Fault>;
}

/// The byte order of an origin, and its encoding of numbers.
type OrderOf<'de, S> = <<S as Origin<'de>>::Format as Format>::Order;

/// Bytes of a string or blob: a part of the message, or a copy in the buffer of a stream.
pub(crate) enum Octets<'s, 'de> {
    /// The decoded value may borrow them.
    Borrowed(&'de [u8]),
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "streams need std"))]
    Buffered(&'s [u8]),
}

struct Slice<'r, 'c, 'de, F> {
    reader: &'r mut Reader<'c, 'de>,
    whole: &'de [u8],
    format: PhantomData<F>,
}

impl<'c, 'de, F: Format> Origin<'de> for Slice<'_, 'c, 'de, F> {
    type Format = F;
    type Input = Reader<'c, 'de>;

    #[inline]
    fn input(&mut self) -> &mut Reader<'c, 'de> {
        self.reader
    }

    #[inline]
    fn position(&self) -> usize {
        self.whole.len() - self.reader.rest().len()
    }

    fn since(&self, position: usize) -> &[u8] {
        &self.whole[position..self.position()]
    }

    #[inline]
    fn bytes(&mut self, len: usize) -> Result<Octets<'_, 'de>, Fault> {
        self.reader.bytes(len).map(Octets::Borrowed)
    }
}

/// Message or stream to decode, with the limit of its size hints.
struct Source<S> {
    origin: S,
    /// Number of elements that size hints can still promise. Each element that has bytes has one that no other element
    /// has, so the collections of a valid message have at most as many elements as the message has bytes.
    unpromised: usize,
}

impl<'de, S: Origin<'de>> Source<S> {
    #[inline]
    fn input(&mut self) -> &mut S::Input {
        self.origin.input()
    }

    /// Moves the position of an error back to `start`.
    #[cold]
    fn fail_at(&mut self, start: usize, fault: Fault) -> Fault {
        let count = self.origin.position() - start;
        self.input().rewind_fault(fault, count)
    }

    /// Adds a segment to the path, and moves the position of an error that is not one of the input to `start`.
    #[cold]
    fn locate(&mut self, start: usize, mut failure: Failure, segment: Option<Segment>) -> Failure {
        if !failure.0.is_located {
            self.fail_at(start, failure.fault());
            failure.0.is_located = true;
        }
        if let Some(segment) = segment {
            self.input().locate(failure.fault(), segment);
        }
        failure
    }

    /// Reads the length of a string or byte array. Owned ones count as allocations.
    #[inline]
    fn length(&mut self, is_owned: bool) -> Result<usize, Failure> {
        let input = self.input();
        let len = <S::Format as Format>::Header::length(input)?;
        input.check_bytes(len)?;
        if is_owned {
            input.state_mut().count_allocation(len)?;
        }
        Ok(len)
    }

    #[inline]
    fn text<V: Visitor<'de>>(&mut self, is_owned: bool, visitor: V) -> Result<V::Value, Failure> {
        let len = self.length(is_owned)?;
        let fault = match self.origin.bytes(len)? {
            Octets::Borrowed(bytes) => match text(bytes) {
                Ok(text) => return visitor.visit_borrowed_str(text),
                Err(fault) => fault,
            },
            Octets::Buffered(bytes) => match text(bytes) {
                Ok(text) => return visitor.visit_str(text),
                Err(fault) => fault,
            },
        };
        Err(self.input().rewind_fault(fault, len).into())
    }

    #[inline]
    fn bytes<V: Visitor<'de>>(&mut self, is_owned: bool, visitor: V) -> Result<V::Value, Failure> {
        let len = self.length(is_owned)?;
        match self.origin.bytes(len)? {
            Octets::Borrowed(bytes) => visitor.visit_borrowed_bytes(bytes),
            Octets::Buffered(bytes) => visitor.visit_bytes(bytes),
        }
    }

    #[inline]
    fn part<T>(
        &mut self,
        segment: impl FnOnce() -> Option<Segment>,
        decode: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let start = self.origin.position();
        decode(self).map_err(|failure| self.locate(start, failure, segment()))
    }

    /// Decodes the contents of a value that counts as a level.
    #[inline]
    fn level<T>(&mut self, decode: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        self.input().enter()?;
        let value = decode(self)?;
        self.input().leave();
        Ok(value)
    }

    fn parts<V: Visitor<'de>>(&mut self, visitor: V, len: usize, names: Names) -> Result<V::Value, Failure> {
        let mut parts = Parts { source: self, len, index: 0, names };
        let value = visitor.visit_seq(&mut parts)?;
        // Aliases of fields count as fields, so the number of fields is only an upper bound.
        if parts.index == len || matches!(names, Names::Fields(_)) {
            Ok(value)
        } else {
            Err(Fault::INVALID_LENGTH.into())
        }
    }

    fn collection<T>(
        &mut self,
        visit: impl FnOnce(&mut Elements<'_, S>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.level(|source| {
            let count = <S::Format as Format>::Header::length(source.input())?;
            let options = *source.input().options();
            let sizes = Sizes::default();
            if let Err(exceeded) = sizes.start(count, &options.limits) {
                return Err(source.input().state_mut().trace.exceed(exceeded).into());
            }
            let promised = count.min(source.unpromised).min(options.limits.allocation);
            source.unpromised -= promised;
            let start = source.origin.position();
            let keys = if options.canonical {
                Keys::Sorted(Vec::new())
            } else if options.duplicates == DuplicateKeys::Reject {
                Keys::Distinct(BTreeSet::new())
            } else {
                Keys::Any
            };
            let is_checked = Sizes::need_check(count, &options.limits);
            let mut elements = Elements { source, count, index: 0, promised, start, is_checked, sizes, keys };
            let value = visit(&mut elements)?;
            if elements.index == count { Ok(value) } else { Err(Fault::INVALID_LENGTH.into()) }
        })
    }
}

struct Deserializer<'a, S>(&'a mut Source<S>);

/// Methods that read a value from a source and pass it to a visitor.
macro_rules! methods {
    ($([$($argument:ident: $type:ty),*] $method:ident => |$source:ident, $visitor:ident| $value:expr;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* $visitor: V) -> Result<V::Value, Failure> {
            let $source = self.0;
            $value
        }
    )*};
}

/// Methods that read a number.
macro_rules! numbers {
    ($($method:ident, $visit:ident;)*) => {
        methods! { $([] $method => |source, visitor| visitor.$visit(get_number::<OrderOf<'de, S>, _>(source.input())?);)* }
    };
}

impl<'de, S: Origin<'de>> de::Deserializer<'de> for Deserializer<'_, S> {
    type Error = Failure;

    numbers! {
        deserialize_u8, visit_u8;
        deserialize_i8, visit_i8;
        deserialize_u16, visit_u16;
        deserialize_i16, visit_i16;
        deserialize_u32, visit_u32;
        deserialize_i32, visit_i32;
        deserialize_u64, visit_u64;
        deserialize_i64, visit_i64;
        deserialize_f32, visit_f32;
        deserialize_f64, visit_f64;
    }

    methods! {
        [] deserialize_u128 => |source, visitor| visitor.visit_u128(get_wide::<OrderOf<'de, S>>(source.input())?);
        [] deserialize_i128 => |source, visitor| {
            visitor.visit_i128(signed::<OrderOf<'de, S>>(get_wide::<OrderOf<'de, S>>(source.input())?))
        };
        [] deserialize_bool => |source, visitor| visitor.visit_bool(source.input().flag()?);
        [] deserialize_char => |source, visitor| visitor.visit_char(get_char::<OrderOf<'de, S>>(source.input())?);
        [] deserialize_str => |source, visitor| source.text(false, visitor);
        [] deserialize_string => |source, visitor| source.text(true, visitor);
        [] deserialize_bytes => |source, visitor| source.bytes(false, visitor);
        [] deserialize_byte_buf => |source, visitor| source.bytes(true, visitor);
        [] deserialize_option => |source, visitor| if source.input().flag()? {
            source.level(|source| visitor.visit_some(Deserializer(source)))
        } else {
            visitor.visit_none()
        };
        [] deserialize_unit => |_source, visitor| visitor.visit_unit();
        [_name: &'static str] deserialize_unit_struct => |source, visitor| source.level(|_| visitor.visit_unit());
        [_name: &'static str] deserialize_newtype_struct => |source, visitor| source.level(|source| {
            source.part(|| Some(position(0)), |source| visitor.visit_newtype_struct(Deserializer(source)))
        });
        [] deserialize_seq => |source, visitor| source.collection(|elements| visitor.visit_seq(elements));
        [] deserialize_map => |source, visitor| source.collection(|elements| visitor.visit_map(elements));
        [len: usize] deserialize_tuple => |source, visitor| {
            source.level(|source| source.parts(visitor, len, Names::Indices))
        };
        [_name: &'static str, len: usize] deserialize_tuple_struct => |source, visitor| {
            source.level(|source| source.parts(visitor, len, Names::Positions))
        };
        [_name: &'static str, fields: &'static [&'static str]] deserialize_struct => |source, visitor| {
            source.level(|source| source.parts(visitor, fields.len(), Names::Fields(fields)))
        };
        [_name: &'static str, names: &'static [&'static str]] deserialize_enum => |source, visitor| {
            source.level(|source| visitor.visit_enum(Variant { source, names, id: 0 }))
        };
        // Only a self-describing format can decode these types.
        [] deserialize_any => |_source, _visitor| Err(Fault(ErrorKind::NotSelfDescribing).into());
        [] deserialize_ignored_any => |_source, _visitor| Err(Fault(ErrorKind::NotSelfDescribing).into());
        [] deserialize_identifier => |_source, _visitor| Err(Fault(ErrorKind::NotSelfDescribing).into());
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Names of the parts of a value in error paths.
#[derive(Clone, Copy)]
enum Names {
    /// Parts of tuples and arrays, which serde does not distinguish.
    Indices,
    /// Fields without names.
    Positions,
    Fields(&'static [&'static str]),
}

impl Names {
    fn segment(self, index: usize) -> Option<Segment> {
        match self {
            Self::Indices => Some(Segment::Index(index)),
            Self::Positions => Some(position(index)),
            Self::Fields(names) => names.get(index).map(|name| Segment::Field(name)),
        }
    }
}

/// The parts of a struct, tuple or variant.
struct Parts<'a, S> {
    source: &'a mut Source<S>,
    len: usize,
    index: usize,
    names: Names,
}

impl<'de, S: Origin<'de>> de::SeqAccess<'de> for Parts<'_, S> {
    type Error = Failure;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let index = self.index;
        if index == self.len {
            return Ok(None);
        }
        self.index += 1;
        let decode = |source: &mut Source<S>| seed.deserialize(Deserializer(source));
        self.source.part(|| self.names.segment(index), decode).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len - self.index)
    }
}

/// The elements of a sequence, or the entries of a map.
struct Elements<'a, S> {
    source: &'a mut Source<S>,
    count: usize,
    /// Number of elements that have started.
    index: usize,
    /// Number of elements in the size hint.
    promised: usize,
    /// Position of the current element.
    start: usize,
    /// Whether the sizes of the elements are checked.
    is_checked: bool,
    sizes: Sizes,
    keys: Keys,
}

/// The check of the keys of a map.
enum Keys {
    Any,
    /// Duplicates are rejected: the encoded keys.
    Distinct(BTreeSet<Vec<u8>>),
    /// The canonical mode: the last encoded key.
    Sorted(Vec<u8>),
}

impl<'de, S: Origin<'de>> Elements<'_, S> {
    /// Starts the next element and returns its index.
    #[inline]
    fn start(&mut self) -> Result<Option<usize>, Failure> {
        let position = self.source.origin.position();
        if self.is_checked && self.index > 0 {
            let limits = self.source.input().options().limits;
            if let Err(exceeded) = self.sizes.add(position - self.start, self.count, &limits) {
                return Err(self.source.input().state_mut().trace.exceed(exceeded).into());
            }
        }
        if self.index == self.count {
            return Ok(None);
        }
        self.start = position;
        self.index += 1;
        Ok(Some(self.index - 1))
    }

    #[inline]
    fn get<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
        segment: impl FnOnce() -> Segment,
    ) -> Result<T::Value, Failure> {
        self.source.part(
            || Some(segment()),
            |source| {
                source.input().state_mut().count_allocation(size_of::<T::Value>())?;
                seed.deserialize(Deserializer(source))
            },
        )
    }

    /// Fails if the key of the current entry has the same bytes as an earlier one, or is not in canonical order.
    fn check_key(&mut self, index: usize) -> Result<(), Failure> {
        let key = || self.source.origin.since(self.start);
        let result = match &mut self.keys {
            Keys::Any => return Ok(()),
            Keys::Distinct(keys) => {
                if keys.insert(key().to_vec()) {
                    return Ok(());
                }
                Err(Fault(ErrorKind::DuplicateKey))
            }
            Keys::Sorted(last) => {
                let result = if index == 0 { Ok(()) } else { check_order(last, key()) };
                last.clear();
                last.extend_from_slice(key());
                result
            }
        };
        result.map_err(|fault| {
            let fault = self.source.fail_at(self.start, fault);
            self.source.input().locate(fault, Segment::Key(index)).into()
        })
    }
}

impl<'de, S: Origin<'de>> de::SeqAccess<'de> for &mut Elements<'_, S> {
    type Error = Failure;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let Some(index) = self.start()? else { return Ok(None) };
        self.get(seed, || Segment::Index(index)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.promised.saturating_sub(self.index))
    }
}

impl<'de, S: Origin<'de>> de::MapAccess<'de> for &mut Elements<'_, S> {
    type Error = Failure;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        let Some(index) = self.start()? else { return Ok(None) };
        let key = self.get(seed, || Segment::Key(index))?;
        self.check_key(index)?;
        Ok(Some(key))
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        let index = self.index.saturating_sub(1);
        self.get(seed, || Segment::Value(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.promised.saturating_sub(self.index))
    }
}

/// An enum, then the contents of its variant.
struct Variant<'a, S> {
    source: &'a mut Source<S>,
    names: &'static [&'static str],
    /// Index of the variant, once it is read.
    id: u64,
}

impl<'de, S: Origin<'de>> de::EnumAccess<'de> for Variant<'_, S> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<(T::Value, Self), Failure> {
        let start = self.source.origin.position();
        self.id = match OrderOf::<'de, S>::DIALECT {
            Dialect::Native => self.source.input().varint()?,
            _ => get_number::<OrderOf<'de, S>, u32>(self.source.input())?.into(),
        };
        let variant = u32::try_from(self.id).ok().and_then(|index| {
            let identifier: de::value::U32Deserializer<Failure> = index.into_deserializer();
            seed.deserialize(identifier).ok()
        });
        match variant {
            Some(variant) => Ok((variant, self)),
            None => Err(self.source.fail_at(start, Fault::UNKNOWN_TYPE).into()),
        }
    }
}

impl<S> Variant<'_, S> {
    fn get<'de, T>(self, decode: impl FnOnce(&mut Source<S>) -> Result<T, Failure>) -> Result<T, Failure>
    where
        S: Origin<'de>,
    {
        let Self { source, names, id } = self;
        source.part(|| Names::Fields(names).segment(usize::try_from(id).ok()?), decode)
    }
}

impl<'de, S: Origin<'de>> de::VariantAccess<'de> for Variant<'_, S> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        self.get(|source| seed.deserialize(Deserializer(source)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Failure> {
        self.get(|source| source.parts(visitor, len, Names::Positions))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.get(|source| source.parts(visitor, fields.len(), Names::Fields(fields)))
    }
}

/// The texts omit the value that was found, so that they contain no input.
impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::custom(Fault::INVALID_VALUE, message)
    }

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(Fault::INVALID_VALUE, format_args!("expected {expected}"))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(Fault::INVALID_VALUE, format_args!("expected {expected}"))
    }

    fn invalid_length(_: usize, expected: &dyn de::Expected) -> Self {
        Self::custom(Fault::INVALID_LENGTH, format_args!("expected {expected}"))
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::custom(Fault::UNKNOWN_TYPE, "unknown variant")
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::custom(Fault::INVALID_VALUE, "unknown field")
    }
}
