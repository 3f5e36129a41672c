//! Owned events that share the memory of the chunk they came in.

mod text;

use alloc::collections::VecDeque;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use bytes::{Buf as _, Bytes};
use compact_str::CompactString;

use self::text::Text;
use crate::{Decoder, Event, EventRef, Result};

/// A dispatched event that owns its parts; the data is a reference-counted slice.
///
/// Cloning copies no data. Types and ids of up to 24 bytes are stored in place.
///
/// If the data is one line that arrived in one chunk, it is a slice of that chunk and keeps the whole chunk in
/// memory for as long as it lives. To keep a small event for long, convert it with [`to_event`](Self::to_event).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct EventBytes {
    /// Empty stands for the default type.
    event_type: CompactString,
    data: Text,
    last_event_id: CompactString,
    retry: Option<u64>,
}

impl EventBytes {
    /// Copies an event that was decoded from `chunk`, except for data that lies there.
    pub(crate) fn new(event: EventRef<'_>, chunk: &Bytes) -> Self {
        Self {
            event_type: CompactString::new(event.event_type),
            data: Text::part(event.data, chunk),
            last_event_id: CompactString::new(event.last_event_id),
            retry: event.retry,
        }
    }

    /// Takes the next event out of `rest`, a part of `chunk`.
    pub(crate) fn pull(decoder: &mut Decoder, chunk: &Bytes, rest: &mut &[u8]) -> Result<Option<Self>> {
        if decoder.gathers_much() {
            // Moved out of the decoder's buffer instead of copied.
            return Ok(decoder.next_owned(rest)?.map(Self::from));
        }
        Ok(decoder.next(rest)?.map(|event| Self::new(event, chunk)))
    }

    /// The event type; `message` unless the block named another one.
    pub fn event_type(&self) -> &str {
        if self.event_type.is_empty() { crate::DEFAULT_EVENT_TYPE } else { &self.event_type }
    }

    /// The data lines of the block, joined by LF.
    pub fn data(&self) -> &str {
        self.data.as_str()
    }

    /// The data lines of the block, joined by LF. They are valid UTF-8.
    pub fn data_bytes(&self) -> &Bytes {
        self.data.as_bytes()
    }

    /// Takes the data without copying it. It is valid UTF-8.
    pub fn into_data(self) -> Bytes {
        self.data.into_bytes()
    }

    /// The last event id at the time of dispatch. It persists over events; empty if none was set.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// The latest valid `retry` value that was received since the previous event was dispatched.
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(Duration::from_millis)
    }

    /// Copies the event into one that shares no memory with a chunk.
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
    /// Takes the data without copying it.
    fn from(event: Event) -> Self {
        Self {
            event_type: event.event_type,
            data: Text::from(event.data),
            last_event_id: event.last_event_id,
            retry: event.retry,
        }
    }
}

/// Decodes [`Bytes`] chunks into events that share their memory.
///
/// Push a chunk, then pull events until there are none left; several chunks may be pushed at once and wait in
/// order. Chunks are never copied or joined: data that lies in one line of one chunk becomes a slice of it,
/// other data is collected by the decoder within [`Config::max_event_size`](crate::Config::max_event_size) and
/// copied once more at most.
///
/// The waiting chunks are the caller's to limit.
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
    /// Chunks after `chunk`. Nothing is allocated as long as every chunk is drained before the next is pushed.
    waiting: VecDeque<Bytes>,
}

impl BytesDecoder {
    /// A decoder with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder over `decoder`, which carries the limits and a seeded last event id.
    pub fn with_decoder(decoder: Decoder) -> Self {
        Self { decoder, ..Self::default() }
    }

    /// Adds a chunk of the stream after those that were pushed before.
    pub fn push(&mut self, chunk: Bytes) {
        if self.chunk.is_empty() && self.waiting.is_empty() {
            self.chunk = chunk;
        } else {
            self.waiting.push_back(chunk);
        }
    }

    /// Takes the next event out of the chunks. `None` means that they are used up.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) once per block past the limit. The decoder stays
    /// usable: call again.
    #[allow(clippy::should_implement_trait, reason = "`None` is not the end, as it is for an iterator")]
    pub fn next(&mut self) -> Result<Option<EventBytes>> {
        loop {
            if self.chunk.is_empty() {
                match self.waiting.pop_front() {
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
            // Gives the memory back before the next chunk arrives.
            self.chunk = Bytes::new();
        }
    }

    /// Ends the stream: drops a block that is not finished, and chunks that were not pulled.
    pub fn finish(&mut self) {
        self.drop_chunks();
        self.decoder.finish();
    }

    /// Ends the stream of a server that leaves out the last empty line: the end counts as the end of the line
    /// and of the block. Pull all events first; chunks that were not pulled are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) if the block exceeds the limit.
    pub fn finish_lenient(&mut self) -> Result<Option<EventBytes>> {
        self.drop_chunks();
        Ok(self.decoder.finish_lenient()?.map(|event| EventBytes::new(event, &Bytes::new())))
    }

    /// Prepares for the next stream of the same source: drops what is pending, keeps the last event id and the
    /// reconnection time.
    pub fn reconnect(&mut self) {
        self.drop_chunks();
        self.decoder.reconnect();
    }

    /// The last event id at this point of the stream; empty if none was set.
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// The latest reconnection time that the stream asked for.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.decoder.reconnection_time()
    }

    /// Whether an oversized block ended decoding under [`Overflow::Terminate`](crate::Overflow::Terminate).
    pub fn is_terminated(&self) -> bool {
        self.decoder.is_terminated()
    }

    fn drop_chunks(&mut self) {
        self.chunk = Bytes::new();
        self.waiting.clear();
    }
}

impl fmt::Debug for BytesDecoder {
    /// Tells how much waits, and nothing that was received.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesDecoder")
            .field("decoder", &self.decoder)
            .field("chunk", &self.chunk.len())
            .field("waiting", &self.waiting.len())
            .finish()
    }
}
