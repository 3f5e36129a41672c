//! Ids of enum variants.

use crate::error::Fault;
use crate::read::Input;
use crate::wire::{
    Endian, GoInt, GoUint, Header, I8, I16, I32, I64, Order, Put, StaticWire, Str, U8, U16, U32, U64,
};

/// A wire type for the ids of an enum: a number or a string.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` cannot be an id",
    label = "ids are numbers, such as `U8`, or strings, such as `SmallVarchar`"
)]
pub trait Id: StaticWire + Put<Self::Value> {
    /// Rust type of ids: a number or a `&'static str`.
    type Value: 'static;

    /// Reads an id and returns its index in `known`.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not an id, and with [`Fault::UNKNOWN_TYPE`] at the offset of the id if it is unknown.
    fn find<I: Input>(known: &[Self::Value], input: &mut I) -> Result<usize, Fault>;
}

macro_rules! number {
    ($($name:ident $(<$order:ident>)?: $value:ty;)*) => {$(
        impl $(<$order: Order>)? Id for $name $(<$order>)? {
            type Value = $value;

            #[inline]
            fn find<I: Input>(known: &[$value], input: &mut I) -> Result<usize, Fault> {
                let bytes = input.array()?;
                let endian = number!(@endian $($order)?);
                let id = match endian {
                    Endian::Little => <$value>::from_le_bytes(bytes),
                    Endian::Big => <$value>::from_be_bytes(bytes),
                };
                match known.iter().position(|other| *other == id) {
                    Some(found) => Ok(found),
                    None => Err(input.rewind_fault(Fault::UNKNOWN_TYPE, size_of::<$value>())),
                }
            }
        }
    )*};
    (@endian) => { Endian::Little };
    (@endian $order:ident) => { $order::ENDIAN };
}

number! {
    U8: u8;
    I8: i8;
    U16<O>: u16;
    I16<O>: i16;
    U32<O>: u32;
    I32<O>: i32;
    U64<O>: u64;
    I64<O>: i64;
    GoInt<O>: i64;
    GoUint<O>: u64;
}

impl<H: Header> Id for Str<H> {
    type Value = &'static str;

    /// Compares byte by byte, which needs no allocation and rejects an unknown id at the first byte that differs.
    fn find<I: Input>(known: &[&'static str], input: &mut I) -> Result<usize, Fault> {
        let len = H::length(input)?;
        input.expect(len)?;
        let Some(mut at) = known.iter().position(|id| id.len() == len) else {
            return Err(input.rewind_fault(Fault::UNKNOWN_TYPE, H::WIDTH));
        };
        for index in 0..len {
            let [byte] = input.array::<1>()?;
            // All bytes before this one match `known[at]`.
            let read = &known[at].as_bytes()[..index];
            let goes_on = |id: &&str| {
                id.len() == len && id.as_bytes().starts_with(read) && id.as_bytes()[index] == byte
            };
            match known.iter().position(goes_on) {
                Some(found) => at = found,
                None => return Err(input.rewind_fault(Fault::UNKNOWN_TYPE, H::WIDTH + index + 1)),
            }
        }
        Ok(at)
    }
}
