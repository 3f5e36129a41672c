//! Buffer for the parts of a document that are decoded.

use super::scanner::{Event, Scanner};
use crate::codec::Codec;
use crate::error::{Error, Limit, Result};
use crate::sequence::RETAINED_CAPACITY;

/// Scanner and the key or value that is being captured.
pub(super) struct Capture {
    pub(super) scanner: Scanner,
    captured: Option<Captured>,
    /// Bytes of the captured key or value in earlier chunks.
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Captured {
    /// Offset in the stream.
    start: u64,
    /// Maximum length in bytes.
    max: usize,
    /// A key that exceeds the maximum is not captured, a value is an error.
    is_key: bool,
}

impl Capture {
    /// Returns a capture of a document that starts at this offset of the stream.
    pub(super) fn new(codec: &Codec, offset: u64) -> Self {
        Self { scanner: Scanner::new(codec, offset), captured: None, buffer: Vec::new() }
    }

    /// Starts to capture a key or value of at most `max` bytes, at its first byte.
    pub(super) fn begin(&mut self, max: usize, is_key: bool) {
        self.buffer.clear();
        self.buffer.shrink_to(RETAINED_CAPACITY);
        self.captured = Some(Captured { start: self.scanner.offset, max, is_key });
    }

    /// Returns the captured text and its offset, `None` if none was captured. `part` is the last part, which
    /// [`advance`](Self::advance) returned with [`Event::End`].
    pub(super) fn end<'a>(&'a mut self, part: &'a [u8]) -> Option<(&'a [u8], u64)> {
        let captured = self.captured.take()?;
        if self.buffer.is_empty() {
            return Some((part, captured.start));
        }
        self.buffer.extend_from_slice(part);
        Some((&self.buffer, captured.start))
    }

    /// Removes bytes from `chunk` until the next event. Returns the event, `None` if there is none in this chunk or a
    /// part of it, and the removed bytes.
    pub(super) fn advance<'a>(&mut self, chunk: &mut &'a [u8]) -> Result<(Option<Event>, &'a [u8])> {
        let mut window = *chunk;
        if let Some(captured) = self.captured {
            // The error must not depend on the chunks: nothing is examined beyond the maximum.
            let remaining = (captured.max - self.buffer.len()).saturating_add(1);
            window = &window[..window.len().min(remaining)];
        }
        let (event, len) = self.scanner.advance(window)?;
        let (part, rest) = chunk.split_at(len);
        *chunk = rest;
        if let Some(Captured { start, max, is_key }) = self.captured {
            if self.buffer.len() + len > max {
                if !is_key {
                    let at = start.saturating_add(max as u64);
                    return Err(Error::over_limit(Limit::Document, max, at));
                }
                self.captured = None;
            } else if event.is_none() {
                self.buffer.extend_from_slice(part);
            }
        }
        Ok((event, part))
    }
}
