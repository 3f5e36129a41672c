//! Optional values.

use alloc::boxed::Box;

use super::{Get, Put, StaticWire, Wire};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// A flag byte, then the value if the flag is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opt<W>(pub W);

impl<W: Wire> Wire for Opt<W> {
    #[inline]
    fn min_size(&self) -> usize {
        1
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        None
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        if input.flag()? { self.0.walk(input) } else { Ok(()) }
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Option(Box::new(self.0.schema(context)))
    }
}

impl<W: StaticWire> StaticWire for Opt<W> {
    const NEW: Self = Self(W::NEW);
}

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
