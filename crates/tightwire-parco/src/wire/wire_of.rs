//! The default wire type of a type, for both directions.

use core::fmt;
use core::marker::PhantomData;

use super::{Get, Put, StaticWire, Wire};
use crate::default_wire::{DecodeAs, DecodeOwned, Encode, EncodeAs};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// The default wire type of `T`, which [`encode`](crate::encode) and [`decode`](crate::decode) use.
///
/// A derived struct has separate wire types for encoding and decoding. This type combines them, so that such structs
/// can be elements and fields of schemas made by a [`builder`](crate::builder()).
///
/// ```
/// use tightwire_parco::wire::{WireOf, Slice, StaticWire, U8};
/// use tightwire_parco::{Decode, Encode, WireExt};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// struct Point(u8, u8);
///
/// let wire = Slice::<U8, WireOf<Point>>::NEW;
/// assert_eq!(wire.to_vec(&vec![Point(1, 2)])?, [1, 1, 2]);
/// assert_eq!(wire.decode_exact::<Vec<Point>>(&[1, 3, 4])?, [Point(3, 4)]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct WireOf<T>(PhantomData<fn() -> T>);

type Reading<T> = <T as DecodeAs<'static>>::Wire;
type Writing<T> = <T as EncodeAs>::Wire;

impl<T: Encode + DecodeOwned> Wire for WireOf<T> {
    #[inline]
    fn min_size(&self) -> usize {
        Reading::<T>::NEW.min_size()
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        Reading::<T>::NEW.fixed_size()
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        Reading::<T>::NEW.walk(input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Reading::<T>::NEW.schema(context)
    }
}

impl<T: Encode + DecodeOwned> StaticWire for WireOf<T> {
    const NEW: Self = Self(PhantomData);
}

impl<T: Encode + DecodeOwned> Put<T> for WireOf<T> {
    #[inline]
    fn put(&self, value: &T, writer: &mut Writer<'_>) -> Result<(), Fault> {
        Writing::<T>::NEW.put(value, writer)
    }

    #[inline]
    fn size(&self, value: &T, levels: Levels) -> Result<usize, Fault> {
        Writing::<T>::NEW.size(value, levels)
    }

    #[inline]
    fn put_all(&self, values: &[T], writer: &mut Writer<'_>) -> Result<(), Fault> {
        Writing::<T>::NEW.put_all(values, writer)
    }
}

impl<'de, T: Encode + DecodeOwned> Get<'de, T> for WireOf<T> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
        <T as DecodeAs<'de>>::Wire::NEW.get(reader)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut T) -> Result<(), Fault> {
        <T as DecodeAs<'de>>::Wire::NEW.get_into(reader, value)
    }
}

impl<T> Clone for WireOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WireOf<T> {}

impl<T> fmt::Debug for WireOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireOf<{}>", core::any::type_name::<T>())
    }
}
