//! Fragments and their headers as bytes.

use std::borrow::Cow;
use std::fmt;

use crate::error::{Error, Kind};

const START: u8 = 1;
const END: u8 = 2;

/// PowerShell stores identifiers as signed 64-bit integers and ignores the sign bit.
const ID_MASK: u64 = i64::MAX as u64;

/// Header of a fragment, 21 bytes (MS-PSRP 2.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentHeader {
    /// Object identifier: the number of the message, counted by its sender from 1. Encoded with 63 bits.
    pub object_id: u64,
    /// Position of the fragment in its message, from 0. Encoded with 63 bits.
    pub fragment_id: u64,
    /// True for the first fragment of a message.
    pub start: bool,
    /// True for the last fragment of a message.
    pub end: bool,
    /// Length of the blob that follows, in bytes.
    pub blob_len: u32,
}

impl FragmentHeader {
    /// Encoded size of a header in bytes.
    pub const LEN: usize = 21;

    /// Encodes the header. Numbers are big-endian.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&(self.object_id & ID_MASK).to_be_bytes());
        bytes[8..16].copy_from_slice(&(self.fragment_id & ID_MASK).to_be_bytes());
        bytes[16] = if self.start { START } else { 0 } | if self.end { END } else { 0 };
        bytes[17..].copy_from_slice(&self.blob_len.to_be_bytes());
        bytes
    }

    /// Decodes a header. The highest bit of identifiers and unknown flags are ignored.
    ///
    /// # Errors
    ///
    /// Fails if the object identifier is 0 ([`Error::is_invalid_header`]).
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let id = |at: usize| {
            let mut id = [0; 8];
            id.copy_from_slice(&bytes[at..at + 8]);
            u64::from_be_bytes(id) & ID_MASK
        };
        let object_id = id(0);
        if object_id == 0 {
            return Err(Error::with(Kind::InvalidHeader, "object 0 of a fragment"));
        }
        Ok(Self {
            object_id,
            fragment_id: id(8),
            start: bytes[16] & START != 0,
            end: bytes[16] & END != 0,
            blob_len: u32::from_be_bytes([bytes[17], bytes[18], bytes[19], bytes[20]]),
        })
    }

    /// Appends the header and its blob, whose length must be `blob_len`.
    #[inline]
    pub(crate) fn put(&self, blob: &[u8], out: &mut Vec<u8>) {
        out.reserve(Self::LEN + blob.len());
        out.extend_from_slice(&self.to_bytes());
        out.extend_from_slice(blob);
    }
}

/// A fragment of a message (MS-PSRP 2.2.4).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Fragment<'a> {
    /// Object identifier: the number of the message, counted by its sender from 1. Encoded with 63 bits.
    pub object_id: u64,
    /// Position of the fragment in its message, from 0. Encoded with 63 bits.
    pub fragment_id: u64,
    /// True for the first fragment of a message.
    pub start: bool,
    /// True for the last fragment of a message.
    pub end: bool,
    /// Bytes of the message.
    pub blob: Cow<'a, [u8]>,
}

impl<'a> Fragment<'a> {
    /// Decodes the first fragment of the input. Returns it and the remaining input. The blob is borrowed.
    ///
    /// # Errors
    ///
    /// Fails if the fragment is truncated ([`Error::is_unexpected_end`]) or if the object identifier is 0
    /// ([`Error::is_invalid_header`]).
    pub fn decode(input: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let end = || Error::with(Kind::UnexpectedEnd, "fragment").or_offset(input.len() as u64);
        let (header, rest) = input.split_first_chunk().ok_or_else(end)?;
        let header = FragmentHeader::from_bytes(header)?;
        let (blob, rest) = rest.split_at_checked(header.blob_len as usize).ok_or_else(end)?;
        let FragmentHeader { object_id, fragment_id, start, end, .. } = header;
        Ok((Self { object_id, fragment_id, start, end, blob: blob.into() }, rest))
    }

    /// Appends the encoded fragment to a buffer.
    ///
    /// # Errors
    ///
    /// Fails if the blob is longer than `u32::MAX` bytes ([`Error::is_limit`]).
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let blob_len =
            u32::try_from(self.blob.len()).map_err(|_| Error::with(Kind::Limit, "blob of a fragment"))?;
        let Self { object_id, fragment_id, start, end, .. } = *self;
        FragmentHeader { object_id, fragment_id, start, end, blob_len }.put(&self.blob, out);
        Ok(())
    }

    /// Copies the blob, so that the fragment no longer borrows from the input.
    pub fn into_owned(self) -> Fragment<'static> {
        let Self { object_id, fragment_id, start, end, blob } = self;
        Fragment { object_id, fragment_id, start, end, blob: Cow::Owned(blob.into_owned()) }
    }
}

/// Shows the length of the blob, which may contain secrets.
impl fmt::Debug for Fragment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fragment")
            .field("object_id", &self.object_id)
            .field("fragment_id", &self.fragment_id)
            .field("start", &self.start)
            .field("end", &self.end)
            .field("len", &self.blob.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_63_bits() {
        let header = FragmentHeader {
            object_id: u64::MAX,
            fragment_id: 1 << 63,
            start: true,
            end: false,
            blob_len: 0x0102_0304,
        };
        let mut bytes = header.to_bytes();
        assert_eq!(bytes, *b"\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\0\x01\x01\x02\x03\x04");
        bytes[0] = 0xFF;
        bytes[16] = 0xFD;
        let header = FragmentHeader::from_bytes(&bytes).unwrap();
        assert_eq!(header.object_id, i64::MAX as u64);
        assert!(header.start && !header.end, "other flags are ignored");
    }

    #[test]
    fn truncated_fragments_are_rejected() {
        let fragment =
            Fragment { object_id: 7, fragment_id: 2, start: false, end: true, blob: b"abc".into() };
        let mut bytes = Vec::new();
        fragment.encode(&mut bytes).unwrap();
        for end in 0..bytes.len() {
            assert!(Fragment::decode(&bytes[..end]).unwrap_err().is_unexpected_end());
        }
        bytes.push(9);
        let (decoded, rest) = Fragment::decode(&bytes).unwrap();
        assert_eq!((decoded.into_owned(), rest), (fragment, &[9][..]));
    }
}
