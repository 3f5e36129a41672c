//! Reserved bytes.

use super::{Get, Put, StaticWire, Wire};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// `N` reserved bytes: encoded as zeros, ignored when decoded. The Rust type is `()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skip<const N: usize>;

impl<const N: usize> Wire for Skip<N> {
    #[inline]
    fn min_size(&self) -> usize {
        N
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        Some(N)
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.skip(N)
    }

    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::Skip(N as u64)
    }
}

impl<const N: usize> StaticWire for Skip<N> {
    const NEW: Self = Self;
}

impl<const N: usize> Put<()> for Skip<N> {
    #[inline]
    fn put(&self, (): &(), writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.zeros(N);
        Ok(())
    }

    #[inline]
    fn size(&self, (): &(), _: Levels) -> Result<usize, Fault> {
        Ok(N)
    }
}

impl<const N: usize> Get<'_, ()> for Skip<N> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<(), Fault> {
        reader.skip(N)
    }
}
