//! Fields in a row, as a type: each one added makes a new type around the older ones, so that writing and reading all
//! of them is straight-line code.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::field::{Field, GetField, PutField};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Describe, Schema};
use crate::wire::{Wire, both};
use crate::write::Writer;

/// No fields.
#[derive(Clone, Copy, Debug)]
pub struct End;

/// The fields of `L`, then `F`.
#[derive(Clone, Copy, Debug)]
pub struct Then<L, F> {
    pub(super) before: L,
    pub(super) last: F,
}

/// Fields in a row, whatever they belong to.
pub trait Fields {
    /// How many.
    const LEN: usize;

    /// The fewest bytes that they take.
    fn min_size(&self) -> usize;

    /// The number of bytes, where it is always the same.
    fn fixed_size(&self) -> Option<usize>;

    /// See [`Wire::walk`].
    ///
    /// # Errors
    ///
    /// Fails where they do not start here.
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault>;

    /// Appends names and forms.
    fn schema(&self, describe: &mut Describe, fields: &mut Vec<(String, Schema)>);
}

/// Fields that a model `M` can be written from.
pub trait PutFields<M>: Fields {
    /// Writes them.
    ///
    /// # Errors
    ///
    /// Fails with the first that cannot be written.
    fn put_fields(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault>;

    /// The exact number of bytes, with `levels` of structs left.
    ///
    /// # Errors
    ///
    /// Fails where writing would.
    fn size_of_fields(&self, model: &M, levels: Levels) -> Result<usize, Fault>;
}

/// Fields that can be read into a model `M`.
pub trait GetFields<'de, M>: Fields {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// Fails with the first that cannot be read.
    fn get_fields(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault>;
}

impl Fields for End {
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

    fn schema(&self, _: &mut Describe, _: &mut Vec<(String, Schema)>) {}
}

impl<M> PutFields<M> for End {
    #[inline(always)]
    fn put_fields(&self, _: &M, _: &mut Writer<'_>) -> Result<(), Fault> {
        Ok(())
    }

    #[inline(always)]
    fn size_of_fields(&self, _: &M, _: Levels) -> Result<usize, Fault> {
        Ok(0)
    }
}

impl<M> GetFields<'_, M> for End {
    #[inline(always)]
    fn get_fields(&self, _: &mut Reader<'_, '_>, _: &mut M) -> Result<(), Fault> {
        Ok(())
    }
}

impl<L: Fields, W: Wire, G, S> Fields for Then<L, Field<W, G, S>> {
    const LEN: usize = L::LEN + 1;

    #[inline(always)]
    fn min_size(&self) -> usize {
        self.before.min_size() + self.last.form.min_size()
    }

    #[inline(always)]
    fn fixed_size(&self) -> Option<usize> {
        both(self.before.fixed_size(), self.last.form.fixed_size())
    }

    #[inline(always)]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.before.walk(input)?;
        match self.last.form.walk(input) {
            Ok(()) => Ok(()),
            Err(fault) => Err(input.locate(fault, self.last.segment(L::LEN))),
        }
    }

    fn schema(&self, describe: &mut Describe, fields: &mut Vec<(String, Schema)>) {
        self.before.schema(describe, fields);
        let name = match self.last.name {
            "" => L::LEN.to_string(),
            name => name.into(),
        };
        fields.push((name, self.last.form.schema(describe)));
    }
}

impl<M, L, W, G, S> PutFields<M> for Then<L, Field<W, G, S>>
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

impl<'de, M, L, W, G, S> GetFields<'de, M> for Then<L, Field<W, G, S>>
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
