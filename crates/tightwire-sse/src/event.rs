//! Events, borrowed and owned.

use alloc::string::String;
use core::time::Duration;

use compact_str::CompactString;

/// The type of an event that has no `event` field.
pub const DEFAULT_EVENT_TYPE: &str = "message";

/// A dispatched event that borrows from the decoder or from the chunk that was fed.
///
/// Turn it into an [`Event`] to keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRef<'a> {
    pub(crate) event_type: &'a str,
    pub(crate) data: &'a str,
    /// Resolved only when asked for: most receivers never look at the id of every event.
    pub(crate) last_event_id: &'a CompactString,
    pub(crate) retry: Option<u64>,
}

impl<'a> EventRef<'a> {
    /// The event type; `message` unless the block named another one.
    pub fn event_type(&self) -> &'a str {
        if self.event_type.is_empty() { DEFAULT_EVENT_TYPE } else { self.event_type }
    }

    /// The data lines of the block, joined by LF.
    pub fn data(&self) -> &'a str {
        self.data
    }

    /// The last event id at the time of dispatch. It persists over events; empty if none was set.
    pub fn last_event_id(&self) -> &'a str {
        self.last_event_id
    }

    /// The latest valid `retry` value that was received since the previous event was dispatched.
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(Duration::from_millis)
    }

    /// Copies the event.
    pub fn to_owned(&self) -> Event {
        Event {
            event_type: CompactString::new(self.event_type),
            data: String::from(self.data),
            last_event_id: self.last_event_id.clone(),
            retry: self.retry,
        }
    }
}

/// A dispatched event that owns its parts.
///
/// Types and ids of up to 24 bytes are stored in place, so that most events own one heap allocation: the data.
/// Two events are equal if their type, data, id and retry value are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Event {
    /// Empty stands for the default type.
    pub(crate) event_type: CompactString,
    pub(crate) data: String,
    pub(crate) last_event_id: CompactString,
    pub(crate) retry: Option<u64>,
}

impl Event {
    /// An event of the default type with this data, without an id or a retry value.
    pub fn new(data: impl Into<String>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// The event type; `message` unless the block named another one.
    pub fn event_type(&self) -> &str {
        self.as_ref().event_type()
    }

    /// The data lines of the block, joined by LF.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Takes the data without copying it.
    pub fn into_data(self) -> String {
        self.data
    }

    /// The last event id at the time of dispatch. It persists over events; empty if none was set.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// The latest valid `retry` value that was received since the previous event was dispatched.
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(Duration::from_millis)
    }

    /// Borrows the event.
    #[allow(clippy::should_implement_trait, reason = "the borrowed form is a value, not a reference")]
    pub fn as_ref(&self) -> EventRef<'_> {
        EventRef {
            event_type: &self.event_type,
            data: &self.data,
            last_event_id: &self.last_event_id,
            retry: self.retry,
        }
    }
}

impl From<EventRef<'_>> for Event {
    fn from(event: EventRef<'_>) -> Self {
        event.to_owned()
    }
}

/// What a decoder reports when asked for more than events; see [`Decoder::next_item`](crate::Decoder::next_item).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A block with data ended.
    Event(EventRef<'a>),
    /// A comment line ended. The text is what follows the colon, unchanged: a leading space stays.
    Comment(&'a str),
    /// A valid `retry` line ended. It takes effect at once, whether or not an event follows.
    Retry(Duration),
}
