//! The default wire type of a type, for both directions.

use core::fmt;
use core::marker::PhantomData;

use super::{Get, Put, StaticWire, Wire};
use crate::error::Fault;
use crate::form::{DecodeForm, DecodeOwned, Encode, EncodeForm};
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Describe, Schema};
use crate::write::Writer;

/// The default wire type of `T`, which [`encode`](crate::encode) and [`decode`](crate::decode) use.
///
/// A derived struct has separate wire types for encoding and decoding. This type combines them, so that such structs
/// can be elements and fields of schemas made by a [`builder`](crate::builder()).
///
/// ```
/// use tightwire_parco::wire::{Own, Slice, StaticWire, U8};
/// use tightwire_parco::{Decode, Encode, WireExt};
///
/// #[derive(Debug, PartialEq, Encode, Decode)]
/// struct Point(u8, u8);
///
/// let form = Slice::<U8, Own<Point>>::NEW;
/// assert_eq!(form.to_vec(&vec![Point(1, 2)])?, [1, 1, 2]);
/// assert_eq!(form.decode_exact::<Vec<Point>>(&[1, 3, 4])?, [Point(3, 4)]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct Own<T>(PhantomData<fn() -> T>);

type Reading<T> = <T as DecodeForm<'static>>::Form;
type Writing<T> = <T as EncodeForm>::Form;

impl<T: Encode + DecodeOwned> Wire for Own<T> {
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

    fn schema(&self, describe: &mut Describe) -> Schema {
        Reading::<T>::NEW.schema(describe)
    }
}

impl<T: Encode + DecodeOwned> StaticWire for Own<T> {
    const NEW: Self = Self(PhantomData);
}

impl<T: Encode + DecodeOwned> Put<T> for Own<T> {
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

impl<'de, T: Encode + DecodeOwned> Get<'de, T> for Own<T> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
        <T as DecodeForm<'de>>::Form::NEW.get(reader)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut T) -> Result<(), Fault> {
        <T as DecodeForm<'de>>::Form::NEW.get_into(reader, value)
    }
}

impl<T> Clone for Own<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Own<T> {}

impl<T> fmt::Debug for Own<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own<{}>", core::any::type_name::<T>())
    }
}
