//! Buffer for the parts of a document that are decoded.

use serde::de::DeserializeOwned;

use crate::boundary::Boundary;
use crate::codec::Codec;
use crate::error::{Error, Limit, Result};
use crate::sequence::RETAINED_CAPACITY;
use crate::tokenizer::{Sink, Tokenizer};

/// Boundary of a key or value in the watched container. The end of a number or literal name is reported at the next
/// byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The next byte begins a key.
    Key,
    /// The next byte, which is this one, begins a value.
    Value(u8),
    /// The key or value ends before the next byte.
    End,
    /// The watched container ends before the next byte.
    Close,
}

/// Stops the tokenizer at the keys and values of one container.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// [`Event`]s are returned for keys and values inside this number of arrays and objects.
    pub(super) depth: usize,
    /// The event for the next byte was returned.
    announced: bool,
    event: Option<Event>,
}

impl Watch {
    /// Stops before a key or value, unless this is the second call.
    #[inline(always)]
    fn announce(&mut self, depth: usize, event: Event) {
        self.announced = depth == self.depth && !self.announced;
        self.event = self.announced.then_some(event);
    }
}

impl Sink for Watch {
    #[inline(always)]
    fn key(&mut self, depth: usize) {
        self.announce(depth, Event::Key);
    }

    #[inline(always)]
    fn value(&mut self, first: u8, depth: usize) {
        self.announce(depth, Event::Value(first));
    }

    #[inline(always)]
    fn end(&mut self, depth: usize, is_container: bool) {
        self.event = if is_container && depth + 1 == self.depth {
            Some(Event::Close)
        } else {
            (depth == self.depth).then_some(Event::End)
        };
    }

    #[inline(always)]
    fn is_stopped(&self) -> bool {
        self.event.is_some()
    }

    #[inline(always)]
    fn has_tokens(&self) -> bool {
        false
    }
}

/// Tokenizer and the key or value that is being captured.
pub(super) struct Capture {
    pub(super) tokens: Tokenizer,
    pub(super) watch: Watch,
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
        let tokens = Tokenizer::new(codec, offset);
        Self { tokens, watch: Watch::default(), captured: None, buffer: Vec::new() }
    }

    /// Starts to capture a key or value of at most `max` bytes, at its first byte.
    pub(super) fn begin(&mut self, max: usize, is_key: bool) {
        self.buffer.clear();
        self.buffer.shrink_to(RETAINED_CAPACITY);
        self.captured = Some(Captured { start: self.tokens.offset, max, is_key });
    }

    /// Decodes the value that [`Event::Value`] announced, or starts to capture it if it is not an array, object or string
    /// that ends in `chunk`.
    ///
    /// # Errors
    ///
    /// The value is captured. If it is valid, this is its error, and it must not be decoded again.
    #[inline(always)]
    pub(super) fn value<T: DeserializeOwned>(
        &mut self,
        chunk: &mut &[u8],
        codec: &Codec,
    ) -> Result<Option<T>> {
        let mut limits = codec.limits();
        let window = &chunk[..chunk.len().min(limits.document)];
        // The tokenizer knows where a malformed number or literal name ends.
        let len = match window.first() {
            Some(b'{' | b'[' | b'"') => Boundary::new().find(window),
            _ => None,
        };
        let mut failed = None;
        if let Some(len) = len {
            limits.depth -= self.tokens.depth;
            match codec.with_limits(limits).from_slice(&window[..len]) {
                Ok(value) => {
                    self.watch.announced = false;
                    self.tokens.skip_value(len);
                    *chunk = &chunk[len..];
                    return Ok(Some(value));
                }
                Err(error) => failed = Some(error),
            }
        }
        self.begin(codec.limits().document, false);
        failed.map_or(Ok(None), Err)
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
        let len = self.tokens.advance(window, None, &mut self.watch)?;
        let event = self.watch.event.take();
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
