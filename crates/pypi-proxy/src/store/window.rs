//! What could not be written to the disk, until all readers have it.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

/// The end of a file that is on its way, and where its readers are.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The place of the first byte.
    start: u64,
    /// The place of the first byte that ever was here.
    begin: u64,
    chunks: VecDeque<Bytes>,
    bytes: usize,
    readers: HashMap<u64, u64>,
    next: u64,
}

impl Window {
    /// A reader that wants bytes from a place on.
    pub(super) fn join(&mut self, position: u64) -> u64 {
        self.next += 1;
        self.readers.insert(self.next, position);
        self.next
    }

    pub(super) fn leave(&mut self, reader: u64) {
        self.readers.remove(&reader);
        self.trim();
    }

    /// A reader has what is before a place.
    pub(super) fn advance(&mut self, reader: u64, position: u64) {
        if let Some(own) = self.readers.get_mut(&reader) {
            *own = position;
        }
        if self.bytes > 0 {
            self.trim();
        }
    }

    /// From here on bytes come here.
    pub(super) fn begin(&mut self, start: u64) {
        self.start = start;
        self.begin = start;
    }

    /// Whether a reader that comes now still gets all of the file.
    pub(super) fn is_whole(&self) -> bool {
        self.start == self.begin
    }

    /// A place for a reader that is about to come; `None` if it would not get all.
    pub(super) fn hold(&mut self) -> Option<u64> {
        self.is_whole().then(|| self.join(0))
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
        self.trim();
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is there from a place on, at most to the end of a chunk. `None` if it is gone.
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

    /// Gives up the readers that are furthest behind.
    pub(super) fn cut(&mut self) {
        if let Some(least) = self.readers.values().copied().min() {
            self.readers.retain(|_, position| *position > least);
        }
        self.trim();
    }

    /// Drops what every reader has.
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
    fn what_all_readers_have_is_dropped() {
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
        window.cut();
        assert_eq!(window.bytes(), 0);
        assert_eq!(window.get(14), None);
        window.push(Bytes::from_static(b"ijkl"));
        assert_eq!(window.get(18).unwrap(), "ijkl");
        window.leave(fast);
        assert_eq!(window.bytes(), 0);
    }

    #[test]
    fn who_is_about_to_read_is_waited_for() {
        let mut window = Window::default();
        let held = window.hold().unwrap();
        window.push(Bytes::from_static(b"abcd"));
        let (first, late) = (window.join(0), window.hold().unwrap());
        window.advance(first, 4);
        window.leave(held);
        assert_eq!((window.get(0).unwrap(), window.is_whole()), (Bytes::from_static(b"abcd"), true));
        window.leave(late);
        assert_eq!((window.bytes(), window.hold()), (0, None));
    }
}
