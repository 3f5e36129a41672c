//! Owned events that share the memory of their chunk.

mod utf8;

use alloc::collections::VecDeque;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use bytes::{Buf as _, Bytes};
use compact_str::CompactString;

use self::utf8::Utf8Bytes;
use crate::{Decoder, Event, EventRef, Result};

/// Event whose data is a reference-counted slice.
///
/// Cloning copies no data. Types and ids of up to 24 bytes are stored inline.
///
/// Data of one line that arrived in one chunk is a slice of that chunk and keeps the whole chunk in memory. To store a
/// small event for long, convert it with [`to_event`](Self::to_event).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct EventBytes {
    /// Empty for the default type.
    event_type: CompactString,
    data: Utf8Bytes,
    last_event_id: CompactString,
    retry: Option<u64>,
}

impl EventBytes {
    /// Copies an event that was decoded from `chunk`. Data in the chunk is shared.
    pub(crate) fn new(event: EventRef<'_>, chunk: &Bytes) -> Self {
        Self {
            event_type: CompactString::new(event.event_type),
            data: Utf8Bytes::slice(event.data, chunk),
            last_event_id: CompactString::new(event.last_event_id),
            retry: event.retry,
        }
    }

    /// Decodes the next event from `rest`, a suffix of `chunk`, which [`Decoder::append_partial`] has not taken, and advances
    /// `rest`.
    pub(crate) fn pull(decoder: &mut Decoder, chunk: &Bytes, rest: &mut &[u8]) -> Result<Option<Self>> {
        if decoder.has_much_buffered_data() {
            // Moves the data out of the decoder's buffer instead of copying it.
            return Ok(decoder.next_owned_after_append(rest)?.map(Self::from));
        }
        Ok(decoder.next_after_append(rest)?.map(|event| Self::new(event, chunk)))
    }

    /// Returns the event type, `message` by default.
    pub fn event_type(&self) -> &str {
        if self.event_type.is_empty() { crate::DEFAULT_EVENT_TYPE } else { &self.event_type }
    }

    /// Returns the data lines, joined by LF.
    pub fn data(&self) -> &str {
        self.data.as_str()
    }

    /// Returns the data lines, joined by LF, as bytes. They are valid UTF-8.
    pub fn data_bytes(&self) -> &Bytes {
        self.data.as_bytes()
    }

    /// Returns the data without copying it. It is valid UTF-8.
    pub fn into_data(self) -> Bytes {
        self.data.into_bytes()
    }

    /// Returns the last event id: that of this event or the nearest one before it. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// Returns the latest valid `retry` value since the previous event.
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(Duration::from_millis)
    }

    /// Copies the event, so that it shares no memory with the chunk.
    pub fn to_event(&self) -> Event {
        Event {
            event_type: self.event_type.clone(),
            data: String::from(self.data()),
            last_event_id: self.last_event_id.clone(),
            retry: self.retry,
        }
    }
}

impl From<Event> for EventBytes {
    /// Moves the data without copying it.
    fn from(event: Event) -> Self {
        Self {
            event_type: event.event_type,
            data: Utf8Bytes::from(event.data),
            last_event_id: event.last_event_id,
            retry: event.retry,
        }
    }
}

/// Decodes [`Bytes`] chunks into events that share their memory.
///
/// Call [`push`](Self::push) with a chunk, then [`next`](Self::next) until it returns `None`. Data that is a single
/// line within a single chunk becomes a slice of the chunk. Other data is first assembled in a buffer of the decoder,
/// of at most [`Config::max_event_size`](crate::Config::max_event_size) bytes, and then copied at most once more.
///
/// Several chunks may be queued; the caller has to limit their number.
///
/// # Examples
///
/// ```
/// let mut decoder = tightwire_sse::BytesDecoder::new();
/// let chunk = bytes::Bytes::from("data: hello\n\n");
/// decoder.push(chunk.clone());
/// let event = decoder.next()?.expect("the chunk has one event");
/// assert_eq!(event.data(), "hello");
/// assert_eq!(event.data_bytes().as_ptr(), chunk[6..].as_ptr());
/// assert!(decoder.next()?.is_none());
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
#[derive(Default)]
pub struct BytesDecoder {
    decoder: Decoder,
    chunk: Bytes,
    /// Chunks after `chunk`. Not allocated if every chunk is consumed before the next is pushed.
    queue: VecDeque<Bytes>,
}

impl BytesDecoder {
    /// Returns a decoder with the default [`Config`](crate::Config).
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a decoder with the configuration and the last event id of `decoder`.
    pub fn with_decoder(decoder: Decoder) -> Self {
        Self { decoder, ..Self::default() }
    }

    /// Appends a chunk of the stream.
    #[inline]
    pub fn push(&mut self, chunk: Bytes) {
        if !self.is_empty() {
            self.queue.push_back(chunk);
        } else if !self.decoder.append_partial(&chunk) {
            self.chunk = chunk;
        }
    }

    /// Returns whether all chunks are consumed.
    #[inline]
    fn is_empty(&self) -> bool {
        self.chunk.is_empty() && self.queue.is_empty()
    }

    /// Decodes the next event. Returns `None` when all chunks are consumed.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) once per block that exceeds the limit. Call again to continue.
    #[allow(clippy::should_implement_trait, reason = "`None` is not the end of the stream")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<EventBytes>> {
        if self.is_empty() { Ok(None) } else { self.next_from_chunks() }
    }

    fn next_from_chunks(&mut self) -> Result<Option<EventBytes>> {
        loop {
            if self.chunk.is_empty() {
                match self.queue.pop_front() {
                    Some(chunk) => self.chunk = chunk,
                    None => return Ok(None),
                }
            }
            let mut rest: &[u8] = &self.chunk;
            let event = EventBytes::pull(&mut self.decoder, &self.chunk, &mut rest);
            let used = self.chunk.len() - rest.len();
            self.chunk.advance(used);
            if let Some(event) = event? {
                return Ok(Some(event));
            }
            // Releases the memory before the next chunk arrives.
            self.chunk = Bytes::new();
        }
    }

    /// Ends the stream: drops an incomplete block and unconsumed chunks.
    pub fn finish(&mut self) {
        self.drop_chunks();
        self.decoder.finish();
    }

    /// Ends the stream and returns the event of an incomplete block, for servers that omit the last empty line. Call
    /// [`next`](Self::next) until it returns `None` before; unconsumed chunks are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) if the block exceeds the limit.
    pub fn finish_lenient(&mut self) -> Result<Option<EventBytes>> {
        self.drop_chunks();
        Ok(self.decoder.finish_lenient()?.map(|event| EventBytes::new(event, &Bytes::new())))
    }

    /// Prepares for the next connection to the same source: drops pending input, keeps the last event id and the
    /// reconnection time.
    pub fn reconnect(&mut self) {
        self.drop_chunks();
        self.decoder.reconnect();
    }

    /// Returns the last event id. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// Returns the latest valid `retry` value of the stream.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
    }

    /// Returns whether an oversized block ended decoding with [`Overflow::Terminate`](crate::Overflow::Terminate).
    pub fn is_terminated(&self) -> bool {
        self.decoder.is_terminated()
    }

    fn drop_chunks(&mut self) {
        self.chunk = Bytes::new();
        self.queue.clear();
    }
}

impl fmt::Debug for BytesDecoder {
    /// Prints sizes, but no received data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesDecoder")
            .field("decoder", &self.decoder)
            .field("chunk", &self.chunk.len())
            .field("queue", &self.queue.len())
            .finish()
    }
}
