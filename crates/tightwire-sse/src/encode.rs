//! The encoder: one block of the wire format per value.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::{Error, Kind, Result};
use crate::event::{Event, EventRef};
use crate::scan::{Engine, Lines, Walk, with_engine};

/// A comment that keeps a connection alive: an empty one, with the empty line that ends a block.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// What an encoder writes between two empty lines. Every part is optional.
///
/// A block without data is not dispatched by the receiver, but its id, its retry value and its comment count.
/// Decoding what [`encode`](Self::encode) wrote gives the same parts back, except that CR and CRLF in data
/// arrive as LF: the format has no other line break.
///
/// # Examples
/// ```
/// use tightwire_sse::Block;
///
/// let mut out = Vec::new();
/// Block::new().event("delta").id("7").data("two\nlines").encode(&mut out)?;
/// assert_eq!(out, b"event: delta\nid: 7\ndata: two\ndata: lines\n\n");
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block<'a> {
    comment: Option<Cow<'a, str>>,
    event: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    retry: Option<u64>,
    data: Option<Cow<'a, str>>,
}

impl<'a> Block<'a> {
    /// A block without any part; alone it encodes to the empty line.
    pub const fn new() -> Self {
        Self { comment: None, event: None, id: None, retry: None, data: None }
    }

    /// Adds a comment; each of its lines becomes one comment line. Receivers ignore it.
    #[must_use]
    pub fn comment(mut self, text: impl Into<Cow<'a, str>>) -> Self {
        self.comment = Some(text.into());
        self
    }

    /// Names the event type. The empty name is the default type, `message`, and is not written.
    #[must_use]
    pub fn event(mut self, event_type: impl Into<Cow<'a, str>>) -> Self {
        self.event = Some(event_type.into());
        self
    }

    /// Sets the last event id, for this and all later events. An empty id resets it.
    #[must_use]
    pub fn id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Tells the receiver how long to wait before it reconnects. Parts of a millisecond are cut off; more than
    /// `u64::MAX` milliseconds are written as that many.
    #[must_use]
    pub fn retry(mut self, time: Duration) -> Self {
        self.retry = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Sets the data; each of its lines becomes one data line, empty ones included. CR, LF and CRLF are line
    /// breaks.
    #[must_use]
    pub fn data(mut self, data: impl Into<Cow<'a, str>>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Copies what is borrowed.
    pub fn into_owned(self) -> Block<'static> {
        fn owned(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
            text.map(|text| Cow::Owned(text.into_owned()))
        }
        Block {
            comment: owned(self.comment),
            event: owned(self.event),
            id: owned(self.id),
            retry: self.retry,
            data: owned(self.data),
        }
    }

    /// Appends the block to `out`: comment, event, id, retry, data, and the empty line.
    ///
    /// # Errors
    /// [`Error::is_unencodable`] if the event type or the id has a line break, or the id has NUL, which
    /// receivers ignore. `out` is then as it was.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        check("event", self.event.as_deref(), is_line_break)?;
        check("id", self.id.as_deref(), |byte| is_line_break(byte) || byte == 0)?;
        out.reserve(self.size_hint());
        if let Some(comment) = &self.comment {
            put_lines(out, b": ", comment);
        }
        if let Some(event) = self.event.as_deref().filter(|event| !event.is_empty()) {
            put(out, b"event: ", event.as_bytes());
        }
        if let Some(id) = &self.id {
            put(out, b"id: ", id.as_bytes());
        }
        if let Some(millis) = self.retry {
            put(out, b"retry: ", itoa::Buffer::new().format(millis).as_bytes());
        }
        if let Some(data) = &self.data {
            put_lines(out, b"data: ", data);
        }
        out.push(b'\n');
        Ok(())
    }

    /// The encoded length if no part has a line break.
    fn size_hint(&self) -> usize {
        let part = |text: &Option<Cow<'_, str>>| text.as_ref().map_or(0, |text| text.len() + 8);
        let retry = if self.retry.is_some() { 28 } else { 0 };
        part(&self.comment) + part(&self.event) + part(&self.id) + part(&self.data) + retry + 1
    }
}

impl<'a> From<EventRef<'a>> for Block<'a> {
    /// A block that a receiver decodes to this event, whatever its last event id was before.
    fn from(event: EventRef<'a>) -> Self {
        Self {
            comment: None,
            event: (!event.event_type.is_empty()).then_some(Cow::Borrowed(event.event_type)),
            id: Some(Cow::Borrowed(event.last_event_id())),
            retry: event.retry,
            data: Some(Cow::Borrowed(event.data)),
        }
    }
}

impl<'a> From<&'a Event> for Block<'a> {
    /// A block that a receiver decodes to this event, whatever its last event id was before.
    fn from(event: &'a Event) -> Self {
        event.as_ref().into()
    }
}

fn is_line_break(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

fn check(field: &'static str, value: Option<&str>, forbidden: impl Fn(u8) -> bool) -> Result<()> {
    let mut bytes = value.unwrap_or_default().bytes().enumerate();
    match bytes.find(|(_, byte)| forbidden(*byte)) {
        None => Ok(()),
        Some((offset, byte)) => Err(Error::new(Kind::Unencodable { field, byte, offset })),
    }
}

#[inline(always)]
fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    // Once for all three parts, and with more than that behind it when many lines follow.
    out.reserve(name.len() + value.len() + 1);
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// Writes one line per line of `text`. The space after the colon is always there: a value that begins with a
/// space would lose it otherwise.
fn put_lines(out: &mut Vec<u8>, name: &[u8], text: &str) {
    with_engine(PutLines { out, name, text: text.as_bytes() });
}

struct PutLines<'a> {
    out: &'a mut Vec<u8>,
    name: &'a [u8],
    text: &'a [u8],
}

impl Walk for PutLines<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) {
        let mut lines = Lines::new(engine, self.text);
        while let Some(line) = lines.next_line() {
            put(self.out, self.name, line.bytes());
        }
        // Behind the last line break is a line as well, be it empty.
        put(self.out, self.name, lines.rest());
    }
}
