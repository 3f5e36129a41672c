//! A single field of a schema: wire type, getter and setter.

use alloc::string::ToString;
use core::fmt;
use core::marker::PhantomData;

use crate::error::{Fault, Segment};
use crate::options::Levels;
use crate::read::Reader;
use crate::wire::{Get, Put};
use crate::write::Writer;

/// A field: its wire type, its getter and its setter.
///
/// `G` is one of [`GetValue`], [`GetRef`], [`Reserved`] and `()`, `S` one of [`SetValue`], [`Reserved`] and `()`, which
/// means that there is none.
#[derive(Clone, Copy)]
pub struct Field<W, G, S> {
    pub(super) wire: W,
    pub(super) getter: G,
    pub(super) setter: S,
    /// Empty if the field is named by its position.
    pub(super) name: &'static str,
}

/// Getter that returns a value.
pub struct GetValue<G, T>(pub(super) G, pub(super) PhantomData<fn() -> T>);

/// Getter that borrows from the model.
pub struct GetRef<G, T: ?Sized>(pub(super) G, pub(super) PhantomData<fn(&T)>);

/// Setter that takes an owned value.
pub struct SetValue<S, T>(pub(super) S, pub(super) PhantomData<fn(T)>);

/// Placeholder getter and setter for reserved bytes, which the model does not contain.
#[derive(Clone, Copy, Debug)]
pub struct Reserved;

impl<G: Clone, T> Clone for GetValue<G, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<G: Copy, T> Copy for GetValue<G, T> {}

impl<G: Clone, T: ?Sized> Clone for GetRef<G, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<G: Copy, T: ?Sized> Copy for GetRef<G, T> {}

impl<S: Clone, T> Clone for SetValue<S, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<S: Copy, T> Copy for SetValue<S, T> {}

/// A field that can be encoded from a model `M`.
pub trait PutField<M> {
    /// Encodes the field.
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value.
    fn put_field(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault>;

    /// Returns the exact encoded size, with `levels` of nesting left.
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    fn size_of_field(&self, model: &M, levels: Levels) -> Result<usize, Fault>;
}

/// A field that can be decoded into a model `M`.
pub trait GetField<'de, M> {
    /// Decodes the field.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value.
    fn get_field(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault>;
}

impl<W, G, S> Field<W, G, S> {
    /// Returns the path segment of this field: its name, or else its position.
    #[cold]
    pub(super) fn segment(&self, position: usize) -> Segment {
        match self.name {
            "" => Segment::Name(position.to_string()),
            name => Segment::Field(name),
        }
    }
}

impl<M, W, G, S, T> PutField<M> for Field<W, GetValue<G, T>, S>
where
    W: Put<T>,
    G: Fn(&M) -> T,
{
    #[inline(always)]
    fn put_field(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.wire.put(&(self.getter.0)(model), writer)
    }

    #[inline(always)]
    fn size_of_field(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        self.wire.size(&(self.getter.0)(model), levels)
    }
}

impl<M, W, G, S, T> PutField<M> for Field<W, GetRef<G, T>, S>
where
    W: Put<T>,
    G: for<'a> Fn(&'a M) -> &'a T,
    T: ?Sized,
{
    #[inline(always)]
    fn put_field(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.wire.put((self.getter.0)(model), writer)
    }

    #[inline(always)]
    fn size_of_field(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        self.wire.size((self.getter.0)(model), levels)
    }
}

impl<M, W: Put<()>, S> PutField<M> for Field<W, Reserved, S> {
    #[inline(always)]
    fn put_field(&self, _: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.wire.put(&(), writer)
    }

    #[inline(always)]
    fn size_of_field(&self, _: &M, levels: Levels) -> Result<usize, Fault> {
        self.wire.size(&(), levels)
    }
}

impl<'de, M, W, G, S, T> GetField<'de, M> for Field<W, G, SetValue<S, T>>
where
    W: Get<'de, T>,
    S: Fn(&mut M, T),
{
    #[inline(always)]
    fn get_field(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
        let value = self.wire.get(reader)?;
        (self.setter.0)(model, value);
        Ok(())
    }
}

impl<'de, M, W: Get<'de, ()>, G> GetField<'de, M> for Field<W, G, Reserved> {
    #[inline(always)]
    fn get_field(&self, reader: &mut Reader<'_, 'de>, _: &mut M) -> Result<(), Fault> {
        self.wire.get(reader)
    }
}

impl<W, G, S> fmt::Debug for Field<W, G, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field").field("name", &self.name).finish_non_exhaustive()
    }
}

macro_rules! debug {
    ($($name:ident<$($generic:ident $(: ?$sized:ident)?),*>;)*) => {$(
        impl<$($generic $(: ?$sized)?),*> fmt::Debug for $name<$($generic),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

debug! {
    GetValue<G, T>;
    GetRef<G, T: ?Sized>;
    SetValue<S, T>;
}
