//! Queue of events for the application.

use std::collections::VecDeque;

use crate::error::{Error, Kind};

/// Queue of events, limited by their decoded size.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    queue: VecDeque<(E, usize)>,
    bytes: usize,
    max_bytes: usize,
}

impl<E> EventQueue<E> {
    /// Bytes that an event counts in addition to its decoded size.
    const EVENT_OVERHEAD: usize = 64;

    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Fails if there is no room for an event of this decoded size.
    pub(crate) fn reserve(&self, size: usize) -> Result<(), Error> {
        if self.bytes.saturating_add(size).saturating_add(Self::EVENT_OVERHEAD) > self.max_bytes {
            return Err(Error::with(Kind::Limit, "bytes of pending events"));
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, event: E, len: usize) {
        self.bytes += len + Self::EVENT_OVERHEAD;
        self.queue.push_back((event, len));
    }

    /// Returns the next event and the bytes it counted.
    pub(crate) fn pop_with_size(&mut self) -> Option<(E, usize)> {
        let (event, len) = self.queue.pop_front()?;
        let size = len + Self::EVENT_OVERHEAD;
        self.bytes -= size;
        Some((event, size))
    }
}
