//! Wire types that contain another one: options, pointers, cells, Go's `int` in fewer bytes, and default wire types.

use core::cell::{Cell, RefCell};
use core::cmp::Reverse;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use super::adjust::Id;
use super::prelude::*;
use crate::default_wire::{DecodeAs, DecodeOwned, Encode, EncodeAs};

/// A flag byte, then the value if the flag is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opt<W>(pub W);

impl<W: Wire> Wire for Opt<W> {
    #[inline]
    fn min_size(&self) -> usize {
        1
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        if input.flag()? { self.0.walk(input) } else { Ok(()) }
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Option(self.0.schema(context).into())
    }
}

static_wire!([W: StaticWire] Opt<W> = Self(W::NEW));

impl<T, W: Put<T>> Put<Option<T>> for Opt<W> {
    #[inline]
    fn put(&self, value: &Option<T>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.array([u8::from(value.is_some())]);
        match value {
            Some(value) => self.0.put(value, writer),
            None => Ok(()),
        }
    }

    #[inline]
    fn size(&self, value: &Option<T>, levels: Levels) -> Result<usize, Fault> {
        match value {
            Some(value) => Ok(1 + self.0.size(value, levels)?),
            None => Ok(1),
        }
    }
}

impl<'de, T, W: Get<'de, T>> Get<'de, Option<T>> for Opt<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Option<T>, Fault> {
        if reader.flag()? { self.0.get(reader).map(Some) } else { Ok(None) }
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut Option<T>) -> Result<(), Fault> {
        match (reader.flag()?, &mut *value) {
            (true, Some(old)) => return self.0.get_into(reader, old),
            (true, None) => *value = Some(self.0.get(reader)?),
            (false, _) => *value = None,
        }
        Ok(())
    }
}

/// Wire type `W`, or the default of the Rust type if the message, or the enclosing evolve struct, ends before the value.
///
/// It is the attribute `default_on_eof` for a [`builder`](crate::builder()), where only the last fields can have it;
/// [`Builder::default_on_eof`](crate::builder::Builder::default_on_eof) applies it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrDefault<W>(pub W);

impl<W: Wire> Wire for OrDefault<W> {
    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        if input.at_end()? { Ok(()) } else { self.0.walk(input) }
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        self.0.schema(context)
    }
}

static_wire!([W: StaticWire] OrDefault<W> = Self(W::NEW));

put_as! { [T: ?Sized, W: Put<T>] T, OrDefault<W>: |wire, value| value, wire.0; }

impl<'de, T: Default, W: Get<'de, T>> Get<'de, T> for OrDefault<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
        if reader.at_end()? { Ok(T::default()) } else { self.0.get(reader) }
    }
}

/// Wire type `W` for the target of a `Box`, `Rc`, `Arc` or reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pointer<W>(pub W);

same_wire!([W: Wire] Pointer<W>: |pointer| pointer.0);

static_wire!([W: StaticWire] Pointer<W> = Self(W::NEW));

put_as! { [P: Deref, W: Put<P::Target>] P, Pointer<W>: |pointer, value| &**value, pointer.0; }

#[cfg(feature = "alloc")]
mod owned;

/// Wire type `W` for the value in a cell, a lock or a `Reverse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrapped<W>(pub W);

same_wire!([W: Wire] Wrapped<W>: |wrapped| wrapped.0);

static_wire!([W: StaticWire] Wrapped<W> = Self(W::NEW));

/// Implements the traits for wrappers: how the value is borrowed, and how a wrapper is made.
macro_rules! wrapped {
    ($([$($bound:ident)?] $type:ty: |$wrapper:ident| $borrow:expr, $new:expr;)*) => {$(
        put_as! { [T $(: $bound)?, W: Put<T>] $type, Wrapped<W>: |wrapped, $wrapper| &$borrow, wrapped.0; }

        impl<'de, T, W: Get<'de, T>> Get<'de, $type> for Wrapped<W> {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$type, Fault> {
                self.0.get(reader).map($new)
            }
        }
    )*};
}

wrapped! {
    [] Reverse<T>: |value| value.0, Reverse;
    [Copy] Cell<T>: |value| value.get(), Cell::new;
    [] RefCell<T>: |value| *value.try_borrow().map_err(|_| Fault::INVALID_VALUE)?, RefCell::new;
}

// A poisoned lock still has a value.
#[cfg(feature = "std")]
wrapped! {
    [] std::sync::Mutex<T>: |lock| *lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner), std::sync::Mutex::new;
    [] std::sync::RwLock<T>: |lock| *lock.read().unwrap_or_else(std::sync::PoisonError::into_inner), std::sync::RwLock::new;
}

/// A value that is encoded and decoded as a `T`, with the wire type `W` of that type: the attributes `into` and `try_from`. The
/// documentation of [`EncodeAs`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converted<T, W>(W, PhantomData<fn() -> T>);

same_wire!([T, W: Wire] Converted<T, W>: |converted| converted.0);

static_wire!([T, W: StaticWire] Converted<T, W> = Self(W::NEW, PhantomData));

put_as! { [T, V: Clone + Into<T>, W: Put<T>] V, Converted<T, W>: |converted, value| &value.clone().into(), converted.0; }

impl<'de, T, V: TryFrom<T>, W: Get<'de, T>> Get<'de, V> for Converted<T, W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<V, Fault> {
        let start = reader.rest();
        let value = self.0.get(reader)?;
        value.try_into().map_err(|_| reader.fail_at(start, Fault::INVALID_VALUE))
    }
}

/// An `i64` encoded as the number `W`, which must be able to represent it. The Go library calls it a header.
///
/// It is the wire type of registry ids. Unlike a length, the value can be negative if `W` is signed.
///
/// ```
/// use tightwire_parco::wire::{HeaderInt, U8};
/// use tightwire_parco::WireExt;
///
/// assert_eq!(HeaderInt(U8).to_vec(&200i64)?, [200]);
/// assert!(HeaderInt(U8).to_vec(&300i64).unwrap_err().is_overflow());
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderInt<W>(pub W);

same_wire! {
    [W: Wire] HeaderInt<W>: |header| header.0, |schema| match schema {
        Schema::Number(number, endian) => Schema::Header(number, endian),
        other => other,
    }
}

static_wire!([W: StaticWire] HeaderInt<W> = Self(W::NEW));

put_as! {
    [W: Id<Value: TryFrom<i64>>] i64, HeaderInt<W>: |header, value|
        &W::Value::try_from(*value).map_err(|_| Fault::OVERFLOW)?, header.0;
}

impl<'de, W: Id<Value: TryInto<i64>> + Get<'de, W::Value>> Get<'de, i64> for HeaderInt<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<i64, Fault> {
        self.0.get(reader)?.try_into().map_err(|_| Fault::OVERFLOW)
    }
}

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

same_wire!([T: Encode + DecodeOwned] WireOf<T>: |_wire| Reading::<T>::NEW);

static_wire!([T: Encode + DecodeOwned] WireOf<T> = Self(PhantomData));

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
