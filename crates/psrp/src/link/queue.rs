//! Queues of items with a size.

use std::collections::VecDeque;

use crate::error::{Error, Kind};

/// First-in, first-out queue that knows the total size of its items in bytes.
pub(crate) struct SizedQueue<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
}

impl<T> Default for SizedQueue<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), bytes: 0 }
    }
}

impl<T> SizedQueue<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the total size of the items.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(item, _)| item)
    }

    pub(crate) fn push(&mut self, item: T, size: usize) {
        self.bytes += size;
        self.items.push_back((item, size));
    }

    /// Removes the oldest item and returns it with its size.
    pub(crate) fn pop(&mut self) -> Option<(T, usize)> {
        let (item, size) = self.items.pop_front()?;
        self.bytes -= size;
        Some((item, size))
    }

    /// Removes the items that `is_kept` rejects. Returns their total size.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) -> usize {
        let before = self.bytes;
        self.items.retain(|(item, _)| is_kept(item));
        self.bytes = self.items.iter().map(|(_, size)| size).sum();
        before - self.bytes
    }
}

/// Queue of events, limited by their decoded size.
pub(crate) struct EventQueue<E> {
    events: SizedQueue<E>,
    max_bytes: usize,
}

impl<E> EventQueue<E> {
    /// Bytes that an event counts in addition to its decoded size.
    const EVENT_OVERHEAD: usize = 64;

    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { events: SizedQueue::default(), max_bytes }
    }

    /// Fails if there is no room for an event of this decoded size.
    pub(crate) fn reserve(&self, size: usize) -> Result<(), Error> {
        if self.events.bytes().saturating_add(size).saturating_add(Self::EVENT_OVERHEAD) > self.max_bytes {
            return Err(Error::with(Kind::Limit, "bytes of pending events"));
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, event: E, len: usize) {
        self.events.push(event, len + Self::EVENT_OVERHEAD);
    }

    /// Returns the next event and the bytes it counted.
    pub(crate) fn pop_with_size(&mut self) -> Option<(E, usize)> {
        self.events.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_follows_the_items() {
        let mut queue = SizedQueue::default();
        for (item, size) in [('a', 1), ('b', 20), ('c', 300), ('d', 4000)] {
            queue.push(item, size);
        }
        assert_eq!((queue.bytes(), queue.pop()), (4321, Some(('a', 1))));
        assert_eq!((queue.retain(|item| *item != 'c'), queue.bytes()), (300, 4020));
        assert!(queue.iter().eq(&['b', 'd']));
        assert_eq!((queue.retain(|_| false), queue.bytes(), queue.pop()), (4020, 0, None));
        assert!(queue.is_empty());
    }
}
