//! Headers with a lower limit.

use crate::error::Fault;
use crate::read::Input;
use crate::schema::{Schema, SchemaContext};
use crate::wire::{Header, StaticWire, Wire};

/// The header `H` limited to lengths and counts of at most `N`, for encoding and decoding.
///
/// `Str<Max<4096, U16<Le>>>` is a string of at most 4096 bytes. Longer strings fail with
/// [`Error::is_limit`](crate::Error::is_limit); the decoder checks this before it allocates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Max<const N: u64, H>(H);

impl<const N: u64, H: Header> Wire for Max<N, H> {
    same_sizes!();

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        Self::length(input).map(|_| ())
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        self.0.schema(context)
    }
}

impl<const N: u64, H: Header> StaticWire for Max<N, H> {
    const NEW: Self = Self(H::NEW);
}

impl<const N: u64, H: Header> Header for Max<N, H> {
    const WIDTH: usize = H::WIDTH;
    const MAX: u64 = if N < H::MAX { N } else { H::MAX };

    #[inline(always)]
    fn header(len: u64) -> [u8; 8] {
        H::header(len)
    }

    #[inline]
    fn length<I: Input>(input: &mut I) -> Result<usize, Fault> {
        let len = H::length(input)?;
        if len as u64 <= N { Ok(len) } else { Err(Fault::LIMIT) }
    }

    #[inline]
    fn check(len: usize) -> Result<(), Fault> {
        H::check(len)?;
        if len as u64 <= N { Ok(()) } else { Err(Fault::LIMIT) }
    }
}
