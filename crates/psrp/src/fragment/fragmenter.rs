//! Fragments and their headers, and the splitting of messages into them.

use std::borrow::Cow;

use crate::error::{Error, Kind};

/// Splits messages into fragments and numbers them.
///
/// Use one per side of a session, because object identifiers must not repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragmenter {
    fragment_size: usize,
    next_object_id: u64,
}

impl Fragmenter {
    /// Default of [`fragment_size`](Self::fragment_size): 32 KiB, as in PowerShell for all transports except WSMan.
    pub const DEFAULT_FRAGMENT_SIZE: usize = 32 << 10;
    /// Minimum of [`fragment_size`](Self::fragment_size): a header and one byte.
    pub const MIN_FRAGMENT_SIZE: usize = FragmentHeader::LEN + 1;

    /// Creates a fragmenter with the default fragment size. The first object identifier is 1.
    pub const fn new() -> Self {
        Self { fragment_size: Self::DEFAULT_FRAGMENT_SIZE, next_object_id: 1 }
    }

    setters! {
        /// Sets the maximum size of a fragment in bytes, including its header of 21 bytes. Default:
        /// [`DEFAULT_FRAGMENT_SIZE`](Self::DEFAULT_FRAGMENT_SIZE), 32 KiB. Values are clamped to the range
        /// [`MIN_FRAGMENT_SIZE`](Self::MIN_FRAGMENT_SIZE) to `u32::MAX`.
        fragment_size(bytes: usize) => fragment_size = bytes.clamp(Self::MIN_FRAGMENT_SIZE, u32::MAX as usize);
    }

    pub(crate) const fn max_fragment_size(&self) -> usize {
        self.fragment_size
    }

    /// Sets the object identifier of the next message. Identifiers outside of 1 to `i64::MAX` are replaced by 1.
    pub const fn set_next_object_id(&mut self, id: u64) {
        self.next_object_id = if id == 0 || id > i64::MAX as u64 { 1 } else { id };
    }

    /// Returns the next object identifier and advances it.
    pub(crate) const fn take_object_id(&mut self) -> u64 {
        let id = self.next_object_id;
        // 0 is not a valid identifier: after the maximum, numbering restarts at 1.
        self.set_next_object_id(id + 1);
        id
    }

    /// Splits a message into fragments. An empty message yields one empty fragment.
    pub const fn split<'a>(&mut self, message: &'a [u8]) -> Fragments<'a> {
        Fragments {
            object_id: self.take_object_id(),
            fragment_id: 0,
            blob_size: self.fragment_size - FragmentHeader::LEN,
            rest: Some(message),
        }
    }

    /// Splits a message and appends all of its fragments to a buffer. Allocates only if the buffer has to grow.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) {
        let fragments = self.split(message);
        out.reserve(message.len() + fragments.len() * FragmentHeader::LEN);
        for Fragment { object_id, fragment_id, start, end, blob } in fragments {
            // Does not truncate: the fragment size is at most `u32::MAX`.
            let header = FragmentHeader { object_id, fragment_id, start, end, blob_len: blob.len() as u32 };
            header.put(&blob, out);
        }
    }
}

impl_default!(Fragmenter);

/// Iterator over the fragments of one message, in order. Returned by [`Fragmenter::split`].
#[derive(Clone)]
pub struct Fragments<'a> {
    object_id: u64,
    fragment_id: u64,
    blob_size: usize,
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Fragments<'a> {
    type Item = Fragment<'a>;

    fn next(&mut self) -> Option<Fragment<'a>> {
        let rest = self.rest?;
        let (blob, rest) = match rest.split_at_checked(self.blob_size) {
            Some((blob, rest)) if !rest.is_empty() => (blob, Some(rest)),
            _ => (rest, None),
        };
        self.rest = rest;
        let fragment_id = self.fragment_id;
        self.fragment_id += 1;
        Some(Fragment {
            object_id: self.object_id,
            fragment_id,
            start: fragment_id == 0,
            end: rest.is_none(),
            blob: Cow::Borrowed(blob),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rest.map_or(0, |rest| rest.len().div_ceil(self.blob_size).max(1));
        (left, Some(left))
    }
}

impl ExactSizeIterator for Fragments<'_> {}

impl_debug! {
    /// Shows the number of remaining fragments, whose content may be secret.
    Fragments<'_> |this| left = this.len()
}

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
    /// Whether the fragment is the first of a message.
    pub start: bool,
    /// Whether the fragment is the last of a message.
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
    /// Whether the fragment is the first of a message.
    pub start: bool,
    /// Whether the fragment is the last of a message.
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

impl_debug! {
    /// Shows the length of the blob, which may contain secrets.
    Fragment<'_> |this|
        object_id = this.object_id, fragment_id = this.fragment_id, start = this.start, end = this.end,
        len = this.blob.len()
}
