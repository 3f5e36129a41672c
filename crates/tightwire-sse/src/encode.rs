//! Events to send, and their encoding.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::{Error, Kind, Result};
use crate::event::{Event, EventRef, millis};
use crate::scan::{Engine, Lines, Task, with_engine};

/// Keep-alive comment: an empty comment and an empty line.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// Event to send. All of its fields are optional. A decoded event is an [`Event`].
///
/// A client applies the id and the retry value of an event without data, but does not pass it to the application. CR and CRLF in
/// data are decoded as LF: the format has no other line break. All other fields round-trip.
///
/// # Examples
///
/// ```
/// use tightwire_sse::SseEvent;
///
/// let mut out = Vec::new();
/// SseEvent::new().event("delta").id("7").data("two\nlines").encode(&mut out)?;
/// assert_eq!(out, b"event: delta\nid: 7\ndata: two\ndata: lines\n\n");
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent<'a> {
    comment: Option<Cow<'a, str>>,
    event: Option<Cow<'a, str>>,
    pub(crate) id: Option<Cow<'a, str>>,
    retry: Option<u64>,
    data: Option<Cow<'a, str>>,
}

impl<'a> SseEvent<'a> {
    /// Returns an event without fields.
    pub const fn new() -> Self {
        Self { comment: None, event: None, id: None, retry: None, data: None }
    }

    /// Sets a comment, one comment line per line of the text. Clients ignore it.
    #[must_use]
    pub fn comment(mut self, text: impl Into<Cow<'a, str>>) -> Self {
        self.comment = Some(text.into());
        self
    }

    /// Sets the event type. An empty type is the default, `message`, and is not written.
    #[must_use]
    pub fn event(mut self, event_type: impl Into<Cow<'a, str>>) -> Self {
        self.event = Some(event_type.into());
        self
    }

    /// Sets the last event id of this and all later events. An empty id resets it.
    #[must_use]
    pub fn id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the reconnection time of the client. Truncated to milliseconds, at most `u64::MAX`.
    #[must_use]
    pub fn retry(mut self, time: Duration) -> Self {
        self.retry = Some(millis(time));
        self
    }

    /// Sets the data, one data line per line of the text, including empty lines. CR, LF and CRLF are line breaks.
    #[must_use]
    pub fn data(mut self, data: impl Into<Cow<'a, str>>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Returns an event that owns its fields.
    pub fn into_owned(self) -> SseEvent<'static> {
        fn owned(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
            text.map(|text| Cow::Owned(text.into_owned()))
        }
        SseEvent {
            comment: owned(self.comment),
            event: owned(self.event),
            id: owned(self.id),
            retry: self.retry,
            data: owned(self.data),
        }
    }

    /// Appends the encoded event to `out`: comment, event, id, retry, data, and the empty line.
    ///
    /// # Errors
    ///
    /// [`Error::is_unencodable`] if the event type or the id contains a line break, or the id contains NUL, which
    /// clients ignore. `out` is unchanged.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        check("event", self.event.as_deref(), |(_, byte)| is_line_break(byte))?;
        check("id", self.id.as_deref(), |(_, byte)| is_line_break(byte) || byte == 0)?;
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

    /// Returns the encoded length, or more, of an event without line breaks in its fields.
    fn size_hint(&self) -> usize {
        let part = |text: &Option<Cow<'_, str>>| text.as_ref().map_or(0, |text| text.len() + 8);
        let retry = if self.retry.is_some() { 28 } else { 0 };
        part(&self.comment) + part(&self.event) + part(&self.id) + part(&self.data) + retry + 1
    }
}

impl<'a> From<EventRef<'a>> for SseEvent<'a> {
    /// Returns an event that decodes to this event, including its last event id.
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

impl<'a> From<&'a Event> for SseEvent<'a> {
    /// Returns an event that decodes to this event, including its last event id.
    fn from(event: &'a Event) -> Self {
        event.as_ref().into()
    }
}

fn is_line_break(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// Returns an error for the first byte that is forbidden at its offset.
pub(crate) fn check(
    field: &'static str,
    value: Option<&str>,
    forbidden: impl Fn((usize, u8)) -> bool,
) -> Result<()> {
    let mut bytes = value.unwrap_or_default().bytes().enumerate();
    match bytes.find(|&byte| forbidden(byte)) {
        None => Ok(()),
        Some((offset, byte)) => Err(Error::new(Kind::Unencodable { field, byte, offset })),
    }
}

#[inline(always)]
fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    // One check of the capacity instead of three.
    out.reserve(name.len() + value.len() + 1);
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// Writes one field line per line of `text`. The space after the colon is required if the value begins with a space,
/// and is always written.
fn put_lines(out: &mut Vec<u8>, name: &[u8], text: &str) {
    with_engine(PutLinesTask { out, name, text: text.as_bytes() });
}

struct PutLinesTask<'a> {
    out: &'a mut Vec<u8>,
    name: &'a [u8],
    text: &'a [u8],
}

impl Task for PutLinesTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) {
        let mut lines = Lines::new(engine, self.text);
        while let Some(line) = lines.next_line() {
            put(self.out, self.name, line.bytes());
        }
        // The text after the last line break is a line, too, even if it is empty.
        put(self.out, self.name, lines.rest());
    }
}
