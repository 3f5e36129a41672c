//! Borrowed and owned events.

use alloc::string::String;
use core::time::Duration;

use compact_str::CompactString;

/// Type of an event without `event` field.
pub const DEFAULT_EVENT_TYPE: &str = "message";

/// Returns the type as stored in events: empty for the default type, so that an explicit `event: message` is equal to an
/// event without the field.
#[inline]
pub(crate) fn stored_type(event_type: &str) -> &str {
    if event_type == DEFAULT_EVENT_TYPE { "" } else { event_type }
}

/// Event that borrows from the decoder or from the chunk.
///
/// Convert it to an [`Event`] to store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRef<'a> {
    pub(crate) event_type: &'a str,
    pub(crate) data: &'a str,
    /// Converted to `&str` on access only: most callers do not read the id of every event.
    pub(crate) last_event_id: &'a CompactString,
    pub(crate) retry: Option<u64>,
}

impl<'a> EventRef<'a> {
    /// Returns the event type, `message` by default.
    pub fn event_type(&self) -> &'a str {
        if self.event_type.is_empty() { DEFAULT_EVENT_TYPE } else { self.event_type }
    }

    /// Returns the data lines, joined by LF.
    pub fn data(&self) -> &'a str {
        self.data
    }

    /// Returns the last event id: that of this event or the nearest one before it. Empty if there is none.
    pub fn last_event_id(&self) -> &'a str {
        self.last_event_id
    }

    /// Returns the latest valid `retry` value since the previous event.
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(Duration::from_millis)
    }

    /// Copies the event into an owned one.
    pub fn to_owned(&self) -> Event {
        Event {
            event_type: CompactString::new(self.event_type),
            data: String::from(self.data),
            last_event_id: self.last_event_id.clone(),
            retry: self.retry,
        }
    }
}

/// Owned event.
///
/// Types and ids of up to 24 bytes are stored inline, so that most events have one heap allocation: the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Event {
    /// Empty for the default type.
    pub(crate) event_type: CompactString,
    pub(crate) data: String,
    pub(crate) last_event_id: CompactString,
    pub(crate) retry: Option<u64>,
}

impl Event {
    /// Returns a builder, for tests of code that receives events.
    pub fn builder() -> EventBuilder {
        EventBuilder::default()
    }

    /// Returns an event of the default type with this data, without an id and a retry value.
    pub fn new(data: impl Into<String>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// Returns the event type, `message` by default.
    pub fn event_type(&self) -> &str {
        self.as_ref().event_type()
    }

    /// Returns the data lines, joined by LF.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Returns the data without copying it.
    pub fn into_data(self) -> String {
        self.data
    }

    /// Returns the last event id: that of this event or the nearest one before it. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// Returns the latest valid `retry` value since the previous event.
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(Duration::from_millis)
    }

    /// Borrows the event.
    #[allow(clippy::should_implement_trait, reason = "the borrowed event is a value, not a reference")]
    pub fn as_ref(&self) -> EventRef<'_> {
        EventRef {
            event_type: &self.event_type,
            data: &self.data,
            last_event_id: &self.last_event_id,
            retry: self.retry,
        }
    }
}

/// Builder of an [`Event`], for tests of code that receives events; see [`Event::builder`].
///
/// It does not check values: a decoded event has no CR in its fields, no LF in its type and id, and no NUL in its id. To
/// send an event, use [`SseEvent`](crate::SseEvent).
///
/// # Examples
///
/// ```
/// use tightwire_sse::Event;
///
/// let event = Event::builder().event_type("token").data("Hello").last_event_id("7").build();
/// assert_eq!((event.event_type(), event.data(), event.last_event_id()), ("token", "Hello", "7"));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "call `build` to get the event"]
pub struct EventBuilder {
    event: Event,
}

impl EventBuilder {
    /// Sets the event type. Default: `message`.
    pub fn event_type(mut self, event_type: impl AsRef<str>) -> Self {
        self.event.event_type = CompactString::new(stored_type(event_type.as_ref()));
        self
    }

    /// Sets the data lines, joined by LF. Default: empty.
    pub fn data(mut self, data: impl Into<String>) -> Self {
        self.event.data = data.into();
        self
    }

    /// Sets the last event id. Default: empty.
    pub fn last_event_id(mut self, id: impl AsRef<str>) -> Self {
        self.event.last_event_id = CompactString::new(id);
        self
    }

    /// Sets the `retry` value. Truncated to milliseconds, at most `u64::MAX`. Default: none.
    pub fn retry(mut self, time: Duration) -> Self {
        self.event.retry = Some(millis(time));
        self
    }

    /// Returns the event with the fields that were set.
    pub fn build(self) -> Event {
        self.event
    }
}

/// Returns the number of milliseconds, truncated, at most `u64::MAX`.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl From<EventRef<'_>> for Event {
    fn from(event: EventRef<'_>) -> Self {
        event.to_owned()
    }
}

/// Event, comment or reconnection time; see [`Decoder::next_item`](crate::Decoder::next_item).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// Event.
    Event(EventRef<'a>),
    /// Text of a comment line after the colon, including a leading space.
    Comment(&'a str),
    /// Value of a valid `retry` line. It takes effect immediately, even if no event follows.
    Retry(Duration),
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_EVENT_TYPE, Event};
    use crate::Decoder;

    #[test]
    fn an_explicit_default_type_is_equal_to_none() {
        for split in ["event: message\ndata: x\n\n|", "event: mess|age\ndata: x\n\n"] {
            let mut decoder = Decoder::new();
            let found = split.split('|').find_map(|chunk| {
                decoder.next(&mut chunk.as_bytes()).ok().flatten().map(|event| event.to_owned())
            });
            assert_eq!(found, Some(Event::new("x")), "{split:?}");
        }
        assert_eq!(Event::builder().event_type(DEFAULT_EVENT_TYPE).data("x").build(), Event::new("x"));
    }
}
