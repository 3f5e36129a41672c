//! Reads fragment headers from chunked input and tracks the stream offset.

use super::FragmentHeader;
use crate::error::{Error, Kind};

/// Reads headers and blobs from chunks of any size.
pub(super) struct HeaderReader {
    bytes: [u8; FragmentHeader::LEN],
    len: usize,
    /// Bytes consumed since the start of the stream, including blobs.
    offset: u64,
}

impl HeaderReader {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; FragmentHeader::LEN], len: 0, offset: 0 }
    }

    /// Returns whether no header is partially read.
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads a header. Returns `None` if the input ends before the header is complete; all of it is consumed then.
    #[inline]
    pub(super) fn read(&mut self, input: &mut &[u8]) -> Result<Option<FragmentHeader>, Error> {
        if self.len == 0
            && let Some((header, rest)) = input.split_first_chunk()
        {
            *input = rest;
            self.offset += FragmentHeader::LEN as u64;
            return FragmentHeader::from_bytes(header).map(Some).map_err(|error| self.with_offset(error));
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
        FragmentHeader::from_bytes(&self.bytes).map(Some).map_err(|error| self.with_offset(error))
    }

    /// Consumes at most `left` bytes of a blob and subtracts them from `left`.
    #[inline]
    pub(super) fn read_blob<'i>(&mut self, input: &mut &'i [u8], left: &mut usize) -> &'i [u8] {
        let (blob, rest) = input.split_at((*left).min(input.len()));
        *input = rest;
        *left -= blob.len();
        self.offset += blob.len() as u64;
        blob
    }

    /// Sets the offset of an error to the start of the last header.
    pub(super) fn with_offset(&self, error: Error) -> Error {
        error.or_offset(self.offset - FragmentHeader::LEN as u64)
    }

    pub(super) fn out_of_order(&self, what: &'static str) -> Error {
        self.with_offset(Error::with(Kind::OutOfOrder, what))
    }

    pub(super) fn limit(&self, what: &'static str) -> Error {
        self.with_offset(Error::with(Kind::Limit, what))
    }
}
