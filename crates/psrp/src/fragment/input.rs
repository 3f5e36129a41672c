//! What both assemblers have in common: headers out of chunks, and where in the stream they were.

use super::FragmentHeader;
use crate::error::{Error, Kind};

/// Buffers beyond this are given back when their message was handed out.
pub(super) const RETAINED: usize = 1 << 20;

/// Collects headers from chunks of any size.
pub(super) struct HeaderInput {
    bytes: [u8; FragmentHeader::LEN],
    len: usize,
    /// Bytes that were taken since the beginning, blobs included.
    offset: u64,
}

impl HeaderInput {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; FragmentHeader::LEN], len: 0, offset: 0 }
    }

    /// Whether no part of a header is there.
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the bytes of a header. `None` as long as it is not complete, and then the input is empty.
    #[inline]
    pub(super) fn take(&mut self, input: &mut &[u8]) -> Result<Option<FragmentHeader>, Error> {
        if self.len == 0
            && let Some((header, rest)) = input.split_first_chunk()
        {
            *input = rest;
            self.offset += FragmentHeader::LEN as u64;
            return FragmentHeader::from_bytes(header).map(Some).map_err(|error| self.place(error));
        }
        let missing = &mut self.bytes[self.len..];
        let taken = missing.len().min(input.len());
        missing[..taken].copy_from_slice(&input[..taken]);
        *input = &input[taken..];
        self.offset += taken as u64;
        self.len += taken;
        if self.len < FragmentHeader::LEN {
            return Ok(None);
        }
        self.len = 0;
        FragmentHeader::from_bytes(&self.bytes).map(Some).map_err(|error| self.place(error))
    }

    /// Takes at most so many bytes of a blob.
    #[inline]
    pub(super) fn take_blob<'i>(&mut self, input: &mut &'i [u8], left: &mut usize) -> &'i [u8] {
        let (blob, rest) = input.split_at((*left).min(input.len()));
        *input = rest;
        *left -= blob.len();
        self.offset += blob.len() as u64;
        blob
    }

    /// Gives an error the place of the header that was read last.
    pub(super) fn place(&self, error: Error) -> Error {
        error.or_offset(self.offset - FragmentHeader::LEN as u64)
    }

    pub(super) fn out_of_order(&self, what: &'static str) -> Error {
        self.place(Error::with(Kind::OutOfOrder, what))
    }

    pub(super) fn limit(&self, what: &'static str) -> Error {
        self.place(Error::with(Kind::Limit, what))
    }
}

/// What a second call after an error is answered.
pub(super) fn failed_before() -> Error {
    Error::with(Kind::State, "the assembler has failed before")
}

/// How much to reserve for a message whose first bytes are there: most have few fragments.
pub(super) fn first_reserve(available: usize) -> usize {
    const LARGEST: usize = 256 * 1024;
    available.max(available.saturating_mul(8).min(LARGEST))
}
