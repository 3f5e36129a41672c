//! The push decoder: a state machine over chunks of bytes.

mod block;
mod walk;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;
use core::time::Duration;

use compact_str::CompactString;

use self::block::Saved;
use self::walk::{Feed, Next, NextItem, NextOwned};
use crate::config::Config;
use crate::error::Result;
use crate::event::{Event, EventRef, Item};
use crate::scan::with_engine;

/// Decodes an event stream that arrives in chunks of any size.
///
/// The decoder implements "interpreting an event stream" of the WHATWG HTML standard (section 9.2.6). It
/// accepts every byte sequence: what is not a known field is ignored, and invalid UTF-8 becomes U+FFFD. The
/// same input gives the same events however it is cut into chunks, in time linear in its length. A line that
/// ends with CR is complete at once; the decoder never waits to see whether LF follows.
///
/// Construction allocates nothing, and neither does decoding as long as blocks lie within one chunk and have
/// one data line: such events borrow from the chunk. Buffers for the other cases grow on demand up to
/// [`Config::max_event_size`] and are kept for reuse up to 256 KiB.
///
/// # Examples
/// ```
/// let mut decoder = tightwire_sse::Decoder::new();
/// let mut seen = Vec::new();
/// for chunk in ["id: 7\nda", "ta: hello\n\ndata: [DO", "NE]\n\n"] {
///     let mut chunk = chunk.as_bytes();
///     while let Some(event) = decoder.next(&mut chunk)? {
///         seen.push((event.data().to_owned(), event.last_event_id().to_owned()));
///     }
/// }
/// assert_eq!(seen, [("hello".into(), "7".into()), ("[DONE]".into(), "7".into())]);
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
#[derive(Clone)]
pub struct Decoder {
    config: Config,
    mode: Mode,
    /// How many bytes of the byte order mark were seen; 3 also stands for "there was none".
    mark_seen: u8,
    /// Anything but this is true: the stream is past its mark, at the start of a line, in an empty block, and has
    /// nothing to clean up. One test then replaces many at the start of a chunk.
    busy: bool,
    /// The previous chunk ended with CR.
    after_cr: bool,
    /// A buffer may have more than `RETAINED_CAPACITY`.
    overgrown: bool,
    partial: Partial,
    /// The unfinished line, if `partial` says that it is kept.
    line: Vec<u8>,
    /// Data of the block in progress: several lines joined, or one that had to be repaired.
    joined: String,
    /// A complete data line that came in several chunks, name included.
    held: String,
    /// A comment that came in several chunks or had to be repaired.
    comment: String,
    /// Event type of the block in progress, if it did not fit in one chunk.
    event_type: CompactString,
    /// Id of the block in progress, if it did not fit in one chunk.
    pending_id: CompactString,
    /// What the block in progress has in the buffers above.
    open: Saved,
    last_event_id: CompactString,
    reconnection_time: Option<u64>,
    /// The latest `retry` value that no event has reported yet.
    unreported_retry: Option<u64>,
    /// Offset in the stream of the next byte to be fed.
    offset: u64,
    /// Offset in the stream of the unfinished line.
    line_offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Fields,
    /// The block in progress was too large: skip to its empty line.
    Resync,
    Terminated,
}

/// The line in progress at the end of the previous chunk. All but the first and the last keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    None,
    /// The beginning of a known name.
    Undecided,
    Field,
    Comment,
    /// It has at least one byte and cannot become anything that matters.
    Skipped,
}

impl fmt::Debug for Decoder {
    /// Tells the state and the limits, and nothing that was received.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("config", &self.config)
            .field("mode", &self.mode)
            .field("partial", &self.partial)
            .field("open", &self.open)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder with the default [`Config`].
    #[inline]
    pub const fn new() -> Self {
        Self::with_config(Config::new())
    }

    /// A decoder with these limits.
    #[inline]
    pub const fn with_config(config: Config) -> Self {
        Self {
            config,
            mode: Mode::Fields,
            mark_seen: 0,
            busy: true,
            after_cr: false,
            overgrown: false,
            partial: Partial::None,
            line: Vec::new(),
            joined: String::new(),
            held: String::new(),
            comment: String::new(),
            event_type: CompactString::const_new(""),
            pending_id: CompactString::const_new(""),
            open: Saved::NOTHING,
            last_event_id: CompactString::const_new(""),
            reconnection_time: None,
            unreported_retry: None,
            offset: 0,
            line_offset: 0,
        }
    }

    /// Sets the last event id that events have until the stream sets another one, as after a reconnection.
    #[must_use]
    pub fn with_last_event_id(mut self, id: &str) -> Self {
        self.last_event_id = CompactString::new(id);
        self
    }

    /// Takes the next event out of `chunk`, which is advanced past it.
    ///
    /// `None` means that the chunk is used up; call again with the next one. After an event, call again with
    /// what is left of the same chunk.
    ///
    /// # Errors
    /// [`Error::is_limit`](crate::Error::is_limit) once per block that exceeds [`Config::max_event_size`].
    /// The chunk is advanced past what was consumed, and the decoder stays usable as [`Config::overflow`] says.
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    #[inline]
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Result<Option<EventRef<'a>>> {
        if self.extend_tiny(chunk) {
            *chunk = &[];
            return Ok(None);
        }
        if let Some(data) = self.next_whole(chunk) {
            let event = self.dispatch_data(data);
            return Ok(Some(self.event_ref(&event)));
        }
        if chunk.is_empty() {
            return Ok(None);
        }
        with_engine(Next { decoder: self, chunk })
    }

    /// Like [`next`](Self::next), for an event to keep. Joined data lines, and long data
    /// that came in several chunks, are moved into it, not copied.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline]
    pub fn next_owned(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>> {
        if self.extend_tiny(chunk) {
            *chunk = &[];
            return Ok(None);
        }
        self.next_owned_walk(chunk)
    }

    /// Not inlined: an event is large to return, and tiny chunks should not pay for the room.
    #[inline(never)]
    fn next_owned_walk(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>> {
        if let Some(data) = self.next_whole(chunk) {
            let event = self.dispatch_data(data);
            return Ok(Some(self.event_ref(&event).to_owned()));
        }
        if chunk.is_empty() {
            return Ok(None);
        }
        with_engine(NextOwned { decoder: self, chunk })
    }

    /// Like [`next`](Self::next), but also reports comments and `retry` lines, in stream order.
    ///
    /// A comment that is longer than [`Config::max_event_size`] is skipped.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn next_item<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Result<Option<Item<'a>>> {
        if self.extend_tiny(chunk) {
            *chunk = &[];
            return Ok(None);
        }
        if let Some(data) = self.next_whole(chunk) {
            let event = self.dispatch_data(data);
            return Ok(Some(Item::Event(self.event_ref(&event))));
        }
        if chunk.is_empty() {
            return Ok(None);
        }
        with_engine(NextItem { decoder: self, chunk })
    }

    /// Decodes a chunk and hands every event to `on_event` until that breaks or the chunk is used up.
    ///
    /// Returns how many bytes were consumed: all of them, unless `on_event` broke. Call again with the rest to
    /// go on. `on_event` gets an error, [`Error::is_limit`](crate::Error::is_limit), once per block that
    /// exceeds [`Config::max_event_size`]; decoding goes on as [`Config::overflow`] says.
    ///
    /// This is the fastest way to decode many small events.
    ///
    /// # Examples
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let mut decoder = tightwire_sse::Decoder::new();
    /// let chunk = b"data: a\n\ndata: [DONE]\n\ndata: b\n\n";
    /// let mut seen = Vec::new();
    /// let consumed = decoder.feed(chunk, |event| match event {
    ///     Ok(event) if event.data() == "[DONE]" => ControlFlow::Break(()),
    ///     Ok(event) => {
    ///         seen.push(event.data().to_owned());
    ///         ControlFlow::Continue(())
    ///     }
    ///     Err(_) => ControlFlow::Break(()),
    /// });
    /// assert_eq!(seen, ["a"]);
    /// assert_eq!(&chunk[consumed..], b"data: b\n\n");
    /// ```
    pub fn feed<F>(&mut self, chunk: &[u8], on_event: F) -> usize
    where
        F: FnMut(Result<EventRef<'_>>) -> ControlFlow<()>,
    {
        self.settle(chunk);
        if self.extend_tiny(chunk) {
            return chunk.len();
        }
        with_engine(Feed { decoder: self, chunk, on_event })
    }

    /// Ends the stream: an unfinished line and a block without its empty line are dropped, as the standard asks.
    /// An id that the dropped block had set is dropped with it; a `retry` line that ended has taken effect.
    pub fn finish(&mut self) {
        self.busy = true;
        self.partial = Partial::None;
        self.line.clear();
        self.open = Saved::NOTHING;
        if self.mode == Mode::Resync {
            self.mode = Mode::Fields;
        }
    }

    /// Ends the stream of a server that leaves out the last empty line, or even the last line end: the end of
    /// input counts as both. Returns the event of the block in progress, if it has data.
    ///
    /// The standard drops such a block; see [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`Error::is_limit`](crate::Error::is_limit) if the last line makes the block exceed
    /// [`Config::max_event_size`].
    pub fn finish_lenient(&mut self) -> Result<Option<EventRef<'_>>> {
        let last = self.end_of_input();
        self.finish();
        match last {
            Ok(Some(event)) => Ok(Some(self.event_ref(&event))),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Prepares for the next stream of the same source: what is pending is dropped as by
    /// [`finish`](Self::finish), a byte order mark is expected again, and the last event id and the reconnection
    /// time stay. A [terminated](Self::is_terminated) decoder decodes again. Offsets of errors count from the start
    /// of the new stream.
    pub fn reconnect(&mut self) {
        self.finish();
        self.mode = Mode::Fields;
        self.mark_seen = 0;
        self.after_cr = false;
        self.offset = 0;
    }

    /// The last event id: what a client sends as `Last-Event-ID` when it reconnects. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// The latest valid `retry` value of the stream.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.reconnection_time.map(Duration::from_millis)
    }

    /// Whether the decoder ignores all further input because a block was too large under
    /// [`Overflow::Terminate`](crate::Overflow::Terminate).
    pub fn is_terminated(&self) -> bool {
        self.mode == Mode::Terminated
    }
}
