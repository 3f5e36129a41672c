//! Events that wait for the application.

use std::collections::VecDeque;

use crate::error::{Error, Kind};

/// Events that wait, with a limit of their decoded size.
#[derive(Debug)]
pub(crate) struct Events<E> {
    queue: VecDeque<(E, usize)>,
    bytes: usize,
    max_bytes: usize,
}

impl<E> Events<E> {
    /// What an event counts besides its decoded size.
    const EACH: usize = 64;

    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Fails if there is no room for an event of this decoded size.
    pub(crate) fn reserve(&self, size: usize) -> Result<(), Error> {
        if self.bytes.saturating_add(size).saturating_add(Self::EACH) > self.max_bytes {
            return Err(Error::with(Kind::Limit, "bytes of events that wait"));
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, event: E, len: usize) {
        self.bytes += len + Self::EACH;
        self.queue.push_back((event, len));
    }

    pub(crate) fn pop(&mut self) -> Option<E> {
        self.pop_sized().map(|(event, _)| event)
    }

    /// The event with what it counts.
    pub(crate) fn pop_sized(&mut self) -> Option<(E, usize)> {
        let (event, len) = self.queue.pop_front()?;
        let size = len + Self::EACH;
        self.bytes -= size;
        Some((event, size))
    }
}
