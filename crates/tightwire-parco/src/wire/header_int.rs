//! Go's `int` in fewer bytes.

use super::{Get, GoInt, GoUint, I8, I16, I32, I64, Order, Put, StaticWire, U8, U16, U32, U64, Wire};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

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

impl<W: Wire> Wire for HeaderInt<W> {
    same_sizes!();

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.0.walk(input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        match self.0.schema(context) {
            Schema::Number(number, endian) => Schema::Header(number, endian),
            other => other,
        }
    }
}

impl<W: StaticWire> StaticWire for HeaderInt<W> {
    const NEW: Self = Self(W::NEW);
}

macro_rules! checked {
    ($($wire:ident $(<$order:ident>)?: $value:ty;)*) => {$(
        impl $(<$order: Order>)? Put<i64> for HeaderInt<$wire $(<$order>)?> {
            #[inline]
            fn put(&self, value: &i64, writer: &mut Writer<'_>) -> Result<(), Fault> {
                let value = <$value>::try_from(*value).map_err(|_| Fault::OVERFLOW)?;
                self.0.put(&value, writer)
            }

            #[inline]
            fn size(&self, value: &i64, levels: Levels) -> Result<usize, Fault> {
                let value = <$value>::try_from(*value).map_err(|_| Fault::OVERFLOW)?;
                self.0.size(&value, levels)
            }
        }

        impl $(<$order: Order>)? Get<'_, i64> for HeaderInt<$wire $(<$order>)?> {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, '_>) -> Result<i64, Fault> {
                let value: $value = self.0.get(reader)?;
                i64::try_from(value).map_err(|_| Fault::OVERFLOW)
            }
        }
    )*};
}

integers!(checked);
