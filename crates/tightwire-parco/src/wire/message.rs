//! Wire type of structs and enums with derived codecs.

use core::fmt;
use core::marker::PhantomData;

use super::prelude::*;
use super::{Header as _, Varint};
use crate::read::{level, walk_level};

/// Marks the [`Shape`] of the derived encoder.
#[derive(Clone, Copy, Debug)]
pub enum Encoding {}

/// Marks the [`Shape`] of the derived decoder of values that may borrow for `'de`.
#[derive(Clone, Copy, Debug)]
pub struct Decoding<'de>(PhantomData<&'de ()>);

/// Static properties of a message with a derived codec.
///
/// Both macros implement it, each for its own `Role`, so that a type can derive either or both.
pub trait Shape<Role> {
    /// Whether the message has the attribute `evolve`: its length precedes its fields.
    const EVOLVES: bool = false;

    /// Returns the minimum encoded size of the fields.
    fn min_size() -> usize;

    /// Returns the encoded size of the fields if it is always the same.
    fn fixed_size() -> Option<usize>;

    /// Walks over the fields; see [`Wire::walk`].
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid message.
    fn walk<I: Input>(input: &mut I) -> Result<(), Fault>;

    /// Returns the schema of the message.
    #[cfg(feature = "alloc")]
    fn schema(context: &mut SchemaContext) -> Schema;
}

/// Encodes the fields of a message. Implemented by `#[derive(Encode)]`.
///
/// Do not implement it by hand. Generic code uses [`Encode`](crate::Encode) as a bound.
pub trait EncodeFields: Shape<Encoding> {
    /// Encodes all fields.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first field that cannot be encoded.
    fn put_fields(&self, writer: &mut Writer<'_>) -> Result<(), Fault>;

    /// Returns the exact encoded size of the fields, with `levels` of nesting left below this message.
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    fn size_of_fields(&self, levels: Levels) -> Result<usize, Fault>;
}

/// Decodes the fields of a message. Implemented by `#[derive(Decode)]`.
///
/// Do not implement it by hand. Generic code uses [`Decode`](crate::Decode) as a bound.
pub trait DecodeFields<'de>: Shape<Decoding<'de>> + Sized {
    /// Decodes all fields.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first field that cannot be decoded.
    fn get_fields(reader: &mut Reader<'_, 'de>) -> Result<Self, Fault>;

    /// Decodes all fields into an existing value.
    ///
    /// # Errors
    ///
    /// Same as [`get_fields`](Self::get_fields).
    fn get_fields_into(&mut self, reader: &mut Reader<'_, 'de>) -> Result<(), Fault>;
}

/// Wire type of a message with derived codecs. A nested message is inlined, without header, and without length unless the
/// message has the attribute `evolve`.
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
        usize::from(M::EVOLVES) + M::min_size()
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        if M::EVOLVES { None } else { M::fixed_size() }
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        walk_level(input, |input| if M::EVOLVES { input.walk_sized(M::walk) } else { M::walk(input) })
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        M::schema(context).named::<M>()
    }
}

/// Returns the size of an evolve struct whose fields have this size.
#[inline]
pub(crate) fn sized(fields: usize) -> usize {
    Varint::width(fields as u64) + fields
}

static_wire!([M: Shape<Role>, Role] Message<M, Role> = Self(PhantomData));

impl<M: EncodeFields> Put<M> for Message<M, Encoding> {
    #[inline]
    fn put(&self, value: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.level(|writer| {
            if M::EVOLVES {
                writer.put_sized(|writer| value.put_fields(writer))
            } else {
                value.put_fields(writer)
            }
        })
    }

    #[inline]
    fn size(&self, value: &M, levels: Levels) -> Result<usize, Fault> {
        let size = value.size_of_fields(levels.deeper()?)?;
        Ok(if M::EVOLVES { sized(size) } else { size })
    }
}

impl<'de, M: DecodeFields<'de>> Get<'de, M> for Message<M, Decoding<'de>> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<M, Fault> {
        level(
            reader,
            |reader| {
                if M::EVOLVES { reader.get_sized(M::get_fields) } else { M::get_fields(reader) }
            },
        )
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut M) -> Result<(), Fault> {
        level(reader, |reader| {
            if M::EVOLVES {
                reader.get_sized(|reader| value.get_fields_into(reader))
            } else {
                value.get_fields_into(reader)
            }
        })
    }
}
