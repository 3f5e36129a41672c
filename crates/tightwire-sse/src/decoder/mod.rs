//! Decoder: a state machine over chunks of bytes.

mod block;
mod chunk;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use compact_str::CompactString;

use self::block::OpenBlock;
use crate::config::Config;
use crate::error::Result;
use crate::event::EventRef;

/// Decodes an event stream from chunks of any size.
///
/// Implements "interpreting an event stream" of the WHATWG HTML standard (section 9.2.6). Every byte sequence is valid:
/// unknown fields are ignored, and invalid UTF-8 becomes U+FFFD. The events do not depend on the chunks, and time is
/// linear in the length of the input. A line that ends with CR is complete immediately; the decoder does not wait for
/// an LF.
///
/// An event that is in one chunk and has one data line borrows from the chunk, and decoding it does not allocate.
/// Otherwise the event is buffered, up to [`Config::max_event_size`]. Buffers are reused, up to 256 KiB.
///
/// # Examples
///
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
    /// Number of bytes of the byte order mark consumed so far; 3 if there is none.
    bom_bytes: u8,
    /// Whether state of earlier chunks affects the next one. If false, the next chunk starts with the first line of a
    /// block. One test of this field per chunk replaces tests of several others.
    has_state: bool,
    /// The previous chunk ended with CR.
    after_cr: bool,
    /// A buffer may exceed `RETAINED_CAPACITY`.
    oversized_buffer: bool,
    partial: Partial,
    /// Buffered part of the incomplete line, unless `partial` is `None` or `Skipped`.
    line: Vec<u8>,
    /// Length of the part of the incomplete line that is not in `line`: the name, the colon and a space if `partial` is `Data`,
    /// otherwise 0.
    name_len: usize,
    /// Data of the incomplete block: several joined lines, or a line with invalid UTF-8.
    joined: String,
    /// Complete data line that arrived in several chunks, including its name.
    split_line: String,
    /// Comment that arrived in several chunks or has invalid UTF-8.
    comment: String,
    /// Event type of the incomplete block, if it is buffered.
    event_type: CompactString,
    /// Id of the incomplete block, if it is buffered.
    pending_id: CompactString,
    /// Fields of the incomplete block that are in the buffers above.
    open: OpenBlock<'static>,
    last_event_id: CompactString,
    /// Latest `retry` value, in milliseconds.
    reconnection_time: Option<u64>,
    /// Latest `retry` value since the previous event, in milliseconds.
    unreported_retry: Option<u64>,
    /// Offset of the next chunk in the stream.
    offset: u64,
    /// Offset of the incomplete line in the stream.
    partial_line_offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Fields,
    /// Skips the rest of an oversized block.
    Resync,
    Terminated,
}

/// Incomplete line at the end of the previous chunk. It is buffered, except for `None` and `Skipped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    None,
    /// Prefix of a known field name.
    Undecided,
    Field,
    /// Data line, of which only the value is buffered, so that the value can be moved into an event.
    Data,
    Comment,
    /// Not empty, and neither a known field nor a reported comment.
    Skipped,
}

impl fmt::Debug for Decoder {
    /// Prints the state and the limits, but no received data.
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
    /// Returns a decoder with the default [`Config`].
    #[inline]
    pub const fn new() -> Self {
        Self::with_config(Config::new())
    }

    /// Returns a decoder with these limits.
    #[inline]
    pub const fn with_config(config: Config) -> Self {
        Self {
            config,
            mode: Mode::Fields,
            bom_bytes: 0,
            has_state: true,
            after_cr: false,
            oversized_buffer: false,
            partial: Partial::None,
            line: Vec::new(),
            name_len: 0,
            joined: String::new(),
            split_line: String::new(),
            comment: String::new(),
            event_type: CompactString::const_new(""),
            pending_id: CompactString::const_new(""),
            open: OpenBlock::EMPTY,
            last_event_id: CompactString::const_new(""),
            reconnection_time: None,
            unreported_retry: None,
            offset: 0,
            partial_line_offset: 0,
        }
    }

    /// Sets the initial last event id, as required after a reconnection.
    #[must_use]
    pub fn with_last_event_id(mut self, id: &str) -> Self {
        self.last_event_id = CompactString::new(id);
        self
    }

    /// Ends the stream: drops an incomplete line and an incomplete block, as the standard requires. The id of the
    /// dropped block is dropped, too; the value of a complete `retry` line is not.
    pub fn finish(&mut self) {
        self.has_state = true;
        self.partial = Partial::None;
        self.line.clear();
        self.open = OpenBlock::EMPTY;
        if self.mode == Mode::Resync {
            self.mode = Mode::Fields;
        }
    }

    /// Ends the stream and returns the event of an incomplete block, if it has data, for servers that omit the last
    /// empty line or the last line end.
    ///
    /// This deviates from the standard; see [`finish`](Self::finish). The id of a block without data is dropped, because its
    /// data may be lost.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) if the block exceeds [`Config::max_event_size`].
    pub fn finish_lenient(&mut self) -> Result<Option<EventRef<'_>>> {
        let last = self.end_of_input();
        self.finish();
        match last {
            Ok(Some(event)) => Ok(Some(self.event_ref(&event))),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Prepares for the next connection to the same source: drops pending input like [`finish`](Self::finish), keeps
    /// the last event id and the reconnection time, and skips a byte order mark again. A
    /// [terminated](Self::is_terminated) decoder decodes again. Offsets of errors count from the start of the new
    /// stream.
    pub fn reconnect(&mut self) {
        self.finish();
        self.mode = Mode::Fields;
        self.bom_bytes = 0;
        self.after_cr = false;
        self.offset = 0;
    }

    /// Returns the last event id, which a client sends as `Last-Event-ID` when it reconnects. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// Returns the latest valid `retry` value of the stream.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.reconnection_time.map(Duration::from_millis)
    }

    /// Returns whether the decoder ignores all further input after an oversized block with
    /// [`Overflow::Terminate`](crate::Overflow::Terminate).
    pub fn is_terminated(&self) -> bool {
        self.mode == Mode::Terminated
    }
}
