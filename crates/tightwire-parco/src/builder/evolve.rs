//! Schemas of evolve structs.

use super::{Builder, Factory, GetFields};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader, level, walk_level};
use crate::schema::{Schema, SchemaContext};
use crate::wire::{Get, Put, Wire, sized};
use crate::write::Writer;

/// A schema whose encoding starts with the length of the fields, as a varint; see [`Builder::evolve`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a schema does nothing by itself"]
pub struct Evolve<B>(B);

impl<M, L, K> Builder<M, L, K> {
    /// Puts the length of the fields before them, so that fields can be added at the end later: the attribute `evolve`.
    ///
    /// Readers skip the bytes of fields that they do not know. Fields that older messages do not contain need
    /// [`default_on_eof`](Self::default_on_eof).
    ///
    /// ```
    /// use tightwire_parco::wire::{Slice, U8, U16, Le};
    /// use tightwire_parco::{WireExt, builder};
    ///
    /// let first = builder::<(u8, u16)>().value(U8, |m| m.0, |m, v| m.0 = v);
    /// let second = first.value(U16::<Le>::default(), |m| m.1, |m, v| m.1 = v).default_on_eof().evolve();
    /// let (first, second) = (Slice::of(U8, first.evolve()), Slice::of(U8, second));
    ///
    /// let bytes = second.to_vec(&vec![(1, 2), (3, 4)])?;
    /// assert_eq!(bytes, [2, 3, 1, 2, 0, 3, 3, 4, 0]);
    /// assert_eq!(first.decode_exact::<Vec<(u8, u16)>>(&bytes)?, [(1, 0), (3, 0)]);
    /// assert_eq!(second.decode_exact::<Vec<(u8, u16)>>(&[1, 1, 7])?, [(7, 0)]);
    /// # Ok::<(), tightwire_parco::Error>(())
    /// ```
    pub const fn evolve(self) -> Evolve<Self> {
        Evolve(self)
    }
}

impl<M, L: Wire, K> Wire for Evolve<Builder<M, L, K>> {
    #[inline]
    fn min_size(&self) -> usize {
        1 + self.0.min_size()
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        walk_level(input, |input| input.walk_sized(|input| self.0.fields.walk(input)))
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        let schema =
            context.enclosed(core::any::type_name::<Self>(), |context| match self.0.fields.schema(context) {
                Schema::Struct(fields) => Schema::Evolve { required: self.0.required(), fields },
                _ => unreachable!("a schema of fields"),
            });
        schema.named::<M>()
    }
}

impl<M, L: Put<M>, K> Put<M> for Evolve<Builder<M, L, K>> {
    #[inline]
    fn put(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.level(|writer| writer.put_sized(|writer| self.0.fields.put(model, writer)))
    }

    #[inline]
    fn size(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        self.0.size(model, levels).map(sized)
    }
}

impl<'de, M, L: GetFields<'de, M>, K: Factory<M>> Get<'de, M> for Evolve<Builder<M, L, K>> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<M, Fault> {
        let mut model = self.0.kind.make();
        self.get_into(reader, &mut model)?;
        Ok(model)
    }

    /// Runs the setters on the existing model. Data that they do not touch is unchanged.
    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
        level(reader, |reader| reader.get_sized(|reader| self.0.fields.get_fields(reader, model)))
    }
}
