//! A blocking decoder that behaves like the one of the Go client perplexity-go 1.2.0.
//!
//! For programs that must see exactly what a Go program saw. All others want [`Reader`](crate::Reader), which
//! follows the standard.
//!
//! # Deviations from the standard
//!
//! 1. CR alone does not end a line; before LF it is removed.
//! 2. A byte order mark is not removed, so that the first line is an unknown field.
//! 3. A line without a colon is ignored; the standard takes it for a field with an empty value.
//! 4. A block that has only an event type or only an id gives an event; the standard wants data.
//! 5. An id belongs to its own block; it does not persist.
//! 6. An id may contain NUL.
//! 7. `retry` is never parsed: [`Event::retry`] is always 0.
//! 8. At the end of the input, a block with at least one complete data line gives an event although its empty
//!    line is missing. An unterminated last line is dropped all the same.
//! 9. Bytes are passed on as they are, valid UTF-8 or not.
//! 10. The type of an event without one is empty, not `message`.
//! 11. Lines and blocks may have any size. This deviation alone has to be asked for, with
//!     [`with_max_event_size`](GoDecoder::with_max_event_size)`(usize::MAX)`: a decoder that anybody may fill up
//!     is no good default.
//!
//! # Examples
//!
//! ```
//! use tightwire_sse::compat::go::GoDecoder;
//!
//! let input = "event: ping\n\ndata: one\ndata: two\n";
//! let mut decoder = GoDecoder::new(input.as_bytes());
//! let event = decoder.decode()?.expect("a block with a type only");
//! assert_eq!((event.event.as_slice(), event.data.as_slice()), (&b"ping"[..], &b""[..]));
//! let event = decoder.decode()?.expect("a block without its empty line");
//! assert_eq!(event.data_lossy(), "one\ntwo");
//! assert!(decoder.decode()?.is_none());
//! # Ok::<(), tightwire_sse::Error>(())
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use std::io::{self, BufRead, BufReader, Read};

use crate::{DEFAULT_MAX_EVENT_SIZE, Error, Result, error::Kind};

/// The size of the read buffer, in bytes.
const BUFFER_SIZE: usize = 4 << 10;

/// The buffer for split lines is given back after a line larger than this, in bytes.
const RETAINED_CAPACITY: usize = 256 << 10;

/// An event as the Go client shows it: bytes, which need not be UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The event type; empty if the block has none.
    pub event: Vec<u8>,
    /// The data lines of the block, joined by LF.
    pub data: Vec<u8>,
    /// The id of the block; empty if it has none.
    pub id: Vec<u8>,
    /// Always 0.
    pub retry: i64,
}

impl Event {
    /// The event type as text, with U+FFFD for what is not UTF-8.
    pub fn event_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.event)
    }

    /// The data as text, with U+FFFD for what is not UTF-8.
    pub fn data_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.data)
    }

    /// The id as text, with U+FFFD for what is not UTF-8.
    pub fn id_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.id)
    }

    /// The data, to be parsed as JSON by the caller. It is not looked at.
    ///
    /// # Errors
    ///
    /// [`Error::is_json`], "event data is empty", if there is none.
    pub fn parse_json(&self) -> Result<&[u8]> {
        if self.data.is_empty() { Err(Error::new(Kind::EmptyData)) } else { Ok(&self.data) }
    }

    /// Whether the event type is `error`.
    pub fn is_error(&self) -> bool {
        self.event == b"error"
    }

    /// Whether the data starts with `[DONE]`.
    pub fn is_done(&self) -> bool {
        self.data.starts_with(b"[DONE]")
    }

    /// The string form: lines `event`, `id` and `data`, without those that would be empty and without an empty
    /// line at the end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.event.len() + self.data.len() + self.id.len() + 24);
        let mut put = |name: &[u8], value: &[u8]| {
            out.extend_from_slice(name);
            out.extend_from_slice(value);
            out.push(b'\n');
        };
        if !self.event.is_empty() {
            put(b"event: ", &self.event);
        }
        if !self.id.is_empty() {
            put(b"id: ", &self.id);
        }
        if !self.data.is_empty() {
            for line in self.data.split(|byte| *byte == b'\n') {
                put(b"data: ", line);
            }
        }
        out
    }
}

impl fmt::Display for Event {
    /// Writes the string form of [`to_bytes`](Self::to_bytes), with U+FFFD for what is not UTF-8.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

/// A block in progress.
#[derive(Debug, Default)]
struct Block {
    event: Event,
    has_data: bool,
}

impl Block {
    /// Takes a line without its LF, and says whether it completes the block.
    fn line(&mut self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return self.has_data || !self.event.event.is_empty() || !self.event.id.is_empty();
        }
        // A comment is a line with an empty name.
        let Some(colon) = memchr::memchr(b':', line) else { return false };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => self.event.event = value.to_vec(),
            b"id" => self.event.id = value.to_vec(),
            b"data" => {
                if self.has_data {
                    self.event.data.push(b'\n');
                }
                self.has_data = true;
                self.event.data.extend_from_slice(value);
            }
            _ => {}
        }
        false
    }

    fn size(&self) -> usize {
        self.event.event.len() + self.event.id.len() + self.event.data.len()
    }
}

/// Decodes events from a blocking reader with the deviations of the Go client; see the [module](self).
///
/// # Buffering
///
/// [`new`](Self::new) allocates a buffer of 4 KiB. A line that spans reads and the block in progress are kept on
/// the heap, up to the limit of [`with_max_event_size`](Self::with_max_event_size). Time is linear in the length
/// of the input.
pub struct GoDecoder<R> {
    inner: R,
    max_event_size: usize,
    /// The beginning of a line whose end is not in the buffer.
    line: Vec<u8>,
    offset: u64,
    terminated: bool,
}

impl<R: fmt::Debug> fmt::Debug for GoDecoder<R> {
    /// Leaves out the unfinished line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoDecoder")
            .field("inner", &self.inner)
            .field("max_event_size", &self.max_event_size)
            .field("offset", &self.offset)
            .field("terminated", &self.terminated)
            .finish_non_exhaustive()
    }
}

impl<R: Read> GoDecoder<BufReader<R>> {
    /// Decodes what `reader` yields, through a buffer of 4 KiB.
    pub fn new(reader: R) -> Self {
        Self::from_buffered(BufReader::with_capacity(BUFFER_SIZE, reader))
    }
}

impl<R: BufRead> GoDecoder<R> {
    /// Decodes what `reader` yields, straight from its own buffer.
    pub fn from_buffered(reader: R) -> Self {
        Self {
            inner: reader,
            max_event_size: DEFAULT_MAX_EVENT_SIZE,
            line: Vec::new(),
            offset: 0,
            terminated: false,
        }
    }

    /// Bounds the bytes of one block: its data, type and id, plus the line being received.
    ///
    /// Default: [`DEFAULT_MAX_EVENT_SIZE`]. `usize::MAX` means no limit, as in the Go client.
    #[must_use]
    pub fn with_max_event_size(mut self, bytes: usize) -> Self {
        self.max_event_size = bytes;
        self
    }

    /// Reads up to the next event; `None` at the end of the input.
    ///
    /// The end is not final: the next call reads again.
    ///
    /// # Errors
    ///
    /// [`Error::is_transport`] if a read fails; the block in progress is lost, and the next call reads on.
    /// [`Error::is_limit`] if a block exceeds the limit; all later calls return `None`.
    pub fn decode(&mut self) -> Result<Option<Event>> {
        let mut block = Block::default();
        while !self.terminated {
            let chunk = match self.inner.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.line.clear();
                    return Err(error.into());
                }
            };
            if chunk.is_empty() {
                self.line.clear();
                return Ok(block.has_data.then_some(block.event));
            }
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if part.len() > self.max_event_size.saturating_sub(self.line.len() + block.size()) {
                self.terminated = true;
                self.line = Vec::new();
                return Err(Error::new(Kind::TooLarge { limit: self.max_event_size, offset: self.offset }));
            }
            let complete = if end.is_some() && self.line.is_empty() {
                block.line(part)
            } else {
                self.line.extend_from_slice(part);
                end.is_some() && block.line(&self.line)
            };
            let used = part.len() + usize::from(end.is_some());
            self.inner.consume(used);
            self.offset += used as u64;
            if end.is_some() {
                self.line.clear();
                self.line.shrink_to(RETAINED_CAPACITY);
            }
            if complete {
                return Ok(Some(block.event));
            }
        }
        Ok(None)
    }

    /// Reads all events up to the end of the input, or up to an error, which is returned beside them.
    pub fn decode_all(&mut self) -> (Vec<Event>, Result<()>) {
        let mut events = Vec::new();
        loop {
            match self.decode() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => return (events, Ok(())),
                Err(error) => return (events, Err(error)),
            }
        }
    }
}
