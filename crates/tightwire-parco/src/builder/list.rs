//! Type-level list of fields. Each added field makes a new type around the previous ones, so that encoding and decoding
//! all of them compiles to straight-line code.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::field::{Field, GetField, PutField};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::wire::{Wire, both};
use crate::write::Writer;

/// The empty list.
#[derive(Clone, Copy, Debug)]
pub struct Nil;

/// The fields of `L`, then `F`.
#[derive(Clone, Copy, Debug)]
pub struct Cons<L, F> {
    pub(super) before: L,
    pub(super) last: F,
}

/// A list of fields.
pub trait Fields {
    /// The number of fields.
    const LEN: usize;

    /// Returns the minimum encoded size of all fields.
    fn min_size(&self) -> usize;

    /// Returns the encoded size of all fields if it is always the same.
    fn fixed_size(&self) -> Option<usize>;

    /// See [`Wire::walk`].
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not valid fields.
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault>;

    /// Appends the names and schemas of the fields.
    fn schema(&self, context: &mut SchemaContext, fields: &mut Vec<(String, Schema)>);
}

/// A list of fields that can be encoded from a model `M`.
pub trait PutFields<M>: Fields {
    /// Encodes all fields.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first field that cannot be encoded.
    fn put_fields(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault>;

    /// Returns the exact encoded size, with `levels` of nesting left.
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    fn size_of_fields(&self, model: &M, levels: Levels) -> Result<usize, Fault>;
}

/// A list of fields that can be decoded into a model `M`.
pub trait GetFields<'de, M>: Fields {
    /// Decodes all fields.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first field that cannot be decoded.
    fn get_fields(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault>;
}

impl Fields for Nil {
    const LEN: usize = 0;

    #[inline(always)]
    fn min_size(&self) -> usize {
        0
    }

    #[inline(always)]
    fn fixed_size(&self) -> Option<usize> {
        Some(0)
    }

    #[inline(always)]
    fn walk<I: Input>(&self, _: &mut I) -> Result<(), Fault> {
        Ok(())
    }

    fn schema(&self, _: &mut SchemaContext, _: &mut Vec<(String, Schema)>) {}
}

impl<M> PutFields<M> for Nil {
    #[inline(always)]
    fn put_fields(&self, _: &M, _: &mut Writer<'_>) -> Result<(), Fault> {
        Ok(())
    }

    #[inline(always)]
    fn size_of_fields(&self, _: &M, _: Levels) -> Result<usize, Fault> {
        Ok(0)
    }
}

impl<M> GetFields<'_, M> for Nil {
    #[inline(always)]
    fn get_fields(&self, _: &mut Reader<'_, '_>, _: &mut M) -> Result<(), Fault> {
        Ok(())
    }
}

impl<L: Fields, W: Wire, G, S> Fields for Cons<L, Field<W, G, S>> {
    const LEN: usize = L::LEN + 1;

    #[inline(always)]
    fn min_size(&self) -> usize {
        self.before.min_size() + self.last.wire.min_size()
    }

    #[inline(always)]
    fn fixed_size(&self) -> Option<usize> {
        both(self.before.fixed_size(), self.last.wire.fixed_size())
    }

    #[inline(always)]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.before.walk(input)?;
        match self.last.wire.walk(input) {
            Ok(()) => Ok(()),
            Err(fault) => Err(input.locate(fault, self.last.segment(L::LEN))),
        }
    }

    fn schema(&self, context: &mut SchemaContext, fields: &mut Vec<(String, Schema)>) {
        self.before.schema(context, fields);
        let name = match self.last.name {
            "" => L::LEN.to_string(),
            name => name.into(),
        };
        fields.push((name, self.last.wire.schema(context)));
    }
}

impl<M, L, W, G, S> PutFields<M> for Cons<L, Field<W, G, S>>
where
    L: PutFields<M>,
    W: Wire,
    Field<W, G, S>: PutField<M>,
{
    #[inline(always)]
    fn put_fields(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.before.put_fields(model, writer)?;
        match self.last.put_field(model, writer) {
            Ok(()) => Ok(()),
            Err(fault) => Err(writer.locate(fault, self.last.segment(L::LEN))),
        }
    }

    #[inline(always)]
    fn size_of_fields(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        Ok(self.before.size_of_fields(model, levels)? + self.last.size_of_field(model, levels)?)
    }
}

impl<'de, M, L, W, G, S> GetFields<'de, M> for Cons<L, Field<W, G, S>>
where
    L: GetFields<'de, M>,
    W: Wire,
    Field<W, G, S>: GetField<'de, M>,
{
    #[inline(always)]
    fn get_fields(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
        self.before.get_fields(reader, model)?;
        match self.last.get_field(reader, model) {
            Ok(()) => Ok(()),
            Err(fault) => Err(reader.locate(fault, self.last.segment(L::LEN))),
        }
    }
}
