//! Structs and enums with derived codecs, as forms that others can contain.

use core::fmt;
use core::marker::PhantomData;

use super::{Get, Put, StaticWire, Wire};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Describe, Schema};
use crate::write::Writer;

/// Says that a [`Shape`] belongs to the derived encoder.
#[derive(Clone, Copy, Debug)]
pub enum Encoding {}

/// Says that a [`Shape`] belongs to the derived decoder of values that may borrow for `'de`.
#[derive(Clone, Copy, Debug)]
pub struct Decoding<'de>(PhantomData<&'de ()>);

/// What derived encoders and decoders know of a message without having one.
///
/// Both macros implement it, each for its own role, so that a type can have either or both.
pub trait Shape<Role> {
    /// The fewest bytes that a message takes.
    fn min_size() -> usize;

    /// The number of bytes, where all messages take the same.
    fn fixed_size() -> Option<usize>;

    /// See [`Wire::walk`].
    ///
    /// # Errors
    ///
    /// Fails where no message starts here.
    fn walk<I: Input>(input: &mut I) -> Result<(), Fault>;

    /// The message as data.
    fn schema(describe: &mut Describe) -> Schema;
}

/// What `#[derive(Encode)]` implements: the fields of a message, one after the other.
///
/// The derive macro is the way to implement it. Generic code has [`Encode`](crate::Encode) as a bound.
pub trait EncodeFields: Shape<Encoding> {
    /// Writes all fields.
    ///
    /// # Errors
    ///
    /// Fails with the first field that cannot be written.
    fn put_fields(&self, writer: &mut Writer<'_>) -> Result<(), Fault>;

    /// The exact number of bytes, with `levels` of structs left below this one.
    ///
    /// # Errors
    ///
    /// Fails where writing would.
    fn size_of_fields(&self, levels: Levels) -> Result<usize, Fault>;
}

/// What `#[derive(Decode)]` implements: the fields of a message, one after the other.
///
/// The derive macro is the way to implement it. Generic code has [`Decode`](crate::Decode) as a bound.
pub trait DecodeFields<'de>: Shape<Decoding<'de>> + Sized {
    /// Reads all fields.
    ///
    /// # Errors
    ///
    /// Fails with the first field that cannot be read.
    fn get_fields(reader: &mut Reader<'_, 'de>) -> Result<Self, Fault>;

    /// Reads all fields over older ones.
    ///
    /// # Errors
    ///
    /// As [`get_fields`](Self::get_fields).
    fn get_fields_into(&mut self, reader: &mut Reader<'_, 'de>) -> Result<(), Fault>;
}

/// The form of a message with derived codecs. A nested message is inlined: it has no header and no length.
pub struct Message<M, Role>(PhantomData<fn() -> (M, Role)>);

impl<M, Role> Clone for Message<M, Role> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, Role> Copy for Message<M, Role> {}

impl<M, Role> fmt::Debug for Message<M, Role> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message<{}>", core::any::type_name::<M>())
    }
}

impl<M: Shape<Role>, Role> Wire for Message<M, Role> {
    #[inline]
    fn min_size(&self) -> usize {
        M::min_size()
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        M::fixed_size()
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.walk_parts(1, |input, _| {
            input.enter()?;
            M::walk(input)?;
            input.leave();
            Ok(())
        })
    }

    fn schema(&self, describe: &mut Describe) -> Schema {
        M::schema(describe)
    }
}

impl<M: Shape<Role>, Role> StaticWire for Message<M, Role> {
    const NEW: Self = Self(PhantomData);
}

impl<M: EncodeFields> Put<M> for Message<M, Encoding> {
    #[inline]
    fn put(&self, value: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.enter()?;
        value.put_fields(writer)?;
        writer.leave();
        Ok(())
    }

    #[inline]
    fn size(&self, value: &M, levels: Levels) -> Result<usize, Fault> {
        value.size_of_fields(levels.deeper()?)
    }
}

impl<'de, M: DecodeFields<'de>> Get<'de, M> for Message<M, Decoding<'de>> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<M, Fault> {
        reader.enter()?;
        let value = M::get_fields(reader)?;
        reader.leave();
        Ok(value)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut M) -> Result<(), Fault> {
        reader.enter()?;
        value.get_fields_into(reader)?;
        reader.leave();
        Ok(())
    }
}
