//! Memory buffer for bytes that could not be written to disk, until all readers have them.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

/// The buffered end of a download, and the positions of its readers.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// File offset of the first buffered byte.
    start: u64,
    /// File offset of the first byte that was ever buffered.
    begin: u64,
    chunks: VecDeque<Bytes>,
    bytes: usize,
    readers: HashMap<u64, u64>,
    next: u64,
}

impl Window {
    /// Adds a reader at a file offset. Returns its identifier.
    pub(super) fn join(&mut self, position: u64) -> u64 {
        self.next += 1;
        self.readers.insert(self.next, position);
        self.next
    }

    pub(super) fn leave(&mut self, reader: u64) {
        self.readers.remove(&reader);
        self.trim();
    }

    /// Records that a reader has all bytes before `position`.
    pub(super) fn advance(&mut self, reader: u64, position: u64) {
        if let Some(own) = self.readers.get_mut(&reader) {
            *own = position;
        }
        if self.bytes > 0 {
            self.trim();
        }
    }

    /// Starts buffering at a file offset.
    pub(super) fn begin(&mut self, start: u64) {
        self.start = start;
        self.begin = start;
    }

    /// Returns whether a new reader would get all bytes of the file.
    pub(super) fn has_all_bytes(&self) -> bool {
        self.start == self.begin
    }

    /// Reserves all bytes for a reader that will join later. Returns `None` if some are gone.
    pub(super) fn reserve(&mut self) -> Option<u64> {
        self.has_all_bytes().then(|| self.join(0))
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
        self.trim();
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns bytes from `position` to at most the end of a chunk, or `None` if they are not buffered.
    pub(super) fn get(&self, position: u64) -> Option<Bytes> {
        let mut at = self.start;
        for chunk in &self.chunks {
            let end = at + chunk.len() as u64;
            if (at..end).contains(&position) {
                return Some(chunk.slice(usize::try_from(position - at).ok()?..));
            }
            at = end;
        }
        None
    }

    /// Drops the readers that are furthest behind.
    pub(super) fn drop_slowest_readers(&mut self) {
        if let Some(least) = self.readers.values().copied().min() {
            self.readers.retain(|_, position| *position > least);
        }
        self.trim();
    }

    /// Drops the bytes that every reader has.
    fn trim(&mut self) {
        let least = self.readers.values().copied().min().unwrap_or(u64::MAX);
        while let Some(chunk) = self.chunks.front()
            && self.start + chunk.len() as u64 <= least
        {
            self.start += chunk.len() as u64;
            self.bytes -= chunk.len();
            self.chunks.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumed_bytes_are_dropped() {
        let mut window = Window::default();
        let (slow, fast) = (window.join(0), window.join(0));
        window.begin(10);
        window.push(Bytes::from_static(b"abcd"));
        window.push(Bytes::from_static(b"efgh"));
        assert_eq!(window.get(12).unwrap(), "cd");
        assert_eq!(window.get(9), None);
        assert_eq!(window.get(18), None);
        window.advance(fast, 18);
        assert_eq!(window.bytes(), 8);
        window.advance(slow, 14);
        assert_eq!((window.bytes(), window.get(10)), (4, None));
        window.drop_slowest_readers();
        assert_eq!(window.bytes(), 0);
        assert_eq!(window.get(14), None);
        window.push(Bytes::from_static(b"ijkl"));
        assert_eq!(window.get(18).unwrap(), "ijkl");
        window.leave(fast);
        assert_eq!(window.bytes(), 0);
    }

    #[test]
    fn reserved_bytes_are_kept() {
        let mut window = Window::default();
        let reservation = window.reserve().unwrap();
        window.push(Bytes::from_static(b"abcd"));
        let (first, late) = (window.join(0), window.reserve().unwrap());
        window.advance(first, 4);
        window.leave(reservation);
        assert_eq!((window.get(0).unwrap(), window.has_all_bytes()), (Bytes::from_static(b"abcd"), true));
        window.leave(late);
        assert_eq!((window.bytes(), window.reserve()), (0, None));
    }
}
