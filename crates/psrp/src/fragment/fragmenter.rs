//! Splits messages into fragments.

use std::borrow::Cow;

use super::{Fragment, FragmentHeader};

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

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(message: &[u8], fragment_size: usize) -> Vec<(u64, bool, bool, usize)> {
        let fragments = Fragmenter::new().fragment_size(fragment_size).split(message);
        assert_eq!(fragments.len(), fragments.clone().count());
        fragments.map(|f| (f.fragment_id, f.start, f.end, f.blob.len())).collect()
    }

    #[test]
    fn a_full_fragment_at_the_end_of_a_message_is_the_last() {
        assert_eq!(sizes(&[0; 79], 100), [(0, true, true, 79)]);
        assert_eq!(sizes(&[0; 80], 100), [(0, true, false, 79), (1, false, true, 1)]);
        assert_eq!(sizes(&[0; 158], 100), [(0, true, false, 79), (1, false, true, 79)]);
        assert_eq!(sizes(&[], 100), [(0, true, true, 0)]);
        assert_eq!(sizes(&[0; 2], 0), [(0, true, false, 1), (1, false, true, 1)]);
    }

    #[test]
    fn object_ids_are_never_zero() {
        let mut fragmenter = Fragmenter::new();
        fragmenter.set_next_object_id(i64::MAX as u64);
        assert_eq!(fragmenter.take_object_id(), i64::MAX as u64);
        assert_eq!(fragmenter.take_object_id(), 1);
        fragmenter.set_next_object_id(0);
        assert_eq!(fragmenter.take_object_id(), 1);
    }
}
