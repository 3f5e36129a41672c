//! Bounded buffer of sent events, for clients that resume with `Last-Event-ID`.

mod channel;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use compact_str::{CompactString, format_compact};

pub use self::channel::{ReplayChannel, Subscription};
use crate::error::{Error, Kind, Result};
use crate::{SseEvent, encode};

/// Default of [`ReplayBuffer::with_max_events`]: 1024.
pub const DEFAULT_REPLAY_EVENTS: usize = 1024;

/// Default of [`ReplayBuffer::with_max_bytes`]: 4 MiB.
pub const DEFAULT_REPLAY_BYTES: usize = 4 << 20;

/// Buffer of the latest events of a stream, encoded, by id.
///
/// It does no I/O; [`ReplayChannel`] shares one between publishers and connections. A connection is a
/// [`ReplayPosition`] in the buffer and stores no events, so that the number of connections does not change the memory
/// of the buffer. An event beyond a limit evicts the oldest ones.
///
/// # Ids
///
/// Every event has an id. An event without an id, or with an empty one, is assigned one: a prefix and a number. The
/// default prefix is random, so that a client that received an id from another buffer, for example before a restart of
/// the server, gets [`Error::is_too_old`] instead of the wrong events. Set the ids, for example to the keys of a
/// database, if several servers send the same events.
///
/// # Examples
///
/// ```
/// use tightwire_sse::{ReplayBuffer, SseEvent};
///
/// let mut buffer = ReplayBuffer::new().with_max_events(2);
/// for (id, data) in [("7", "a"), ("8", "b"), ("9", "c")] {
///     buffer.push(SseEvent::new().id(id).data(data))?;
/// }
/// let mut position = buffer.resume("8")?;
/// assert_eq!(buffer.next(&mut position)?.expect("one event"), "id: 9\ndata: c\n\n");
/// assert_eq!(buffer.next(&mut position)?, None);
/// assert!(buffer.resume("7").unwrap_err().is_too_old());
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
pub struct ReplayBuffer {
    events: VecDeque<Buffered>,
    /// Number of evicted events.
    evicted: u64,
    /// Positions after the events with these ids.
    positions: HashMap<CompactString, ReplayPosition>,
    bytes: usize,
    max_events: usize,
    max_bytes: usize,
    id_prefix: CompactString,
}

struct Buffered {
    id: CompactString,
    encoded: Bytes,
}

/// Position between two events of a [`ReplayBuffer`]: the number of events before it, including evicted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReplayPosition(u64);

impl ReplayBuffer {
    /// Returns an empty buffer with the default limits and a random id prefix.
    pub fn new() -> Self {
        Self {
            events: VecDeque::new(),
            evicted: 0,
            positions: HashMap::new(),
            bytes: 0,
            max_events: DEFAULT_REPLAY_EVENTS,
            max_bytes: DEFAULT_REPLAY_BYTES,
            id_prefix: format_compact!("{:016x}-", RandomState::new().hash_one(())),
        }
    }

    /// Sets the maximum number of events. Default: [`DEFAULT_REPLAY_EVENTS`]; minimum: 1. Applied by the next
    /// [`push`](Self::push).
    #[must_use]
    pub fn with_max_events(mut self, events: usize) -> Self {
        self.max_events = events.max(1);
        self
    }

    /// Sets the maximum size of all encoded events in bytes. Default: [`DEFAULT_REPLAY_BYTES`]. Applied by the next
    /// [`push`](Self::push). The overhead per event, about 200 bytes, is not counted.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the prefix of assigned ids. Default: a random one.
    ///
    /// Use a prefix that no other buffer of the same stream has, including those of earlier processes.
    #[must_use]
    pub fn with_id_prefix(mut self, prefix: &str) -> Self {
        self.id_prefix = prefix.into();
        self
    }

    /// Encodes an event, appends it, and evicts the oldest ones beyond the limits. Returns its id.
    ///
    /// # Errors
    ///
    /// The buffer is unchanged after an error:
    ///
    /// - [`Error::is_limit`] if the encoded event is larger than [`with_max_bytes`](Self::with_max_bytes).
    /// - [`Error::is_duplicate_id`] if a buffered event has the same id.
    /// - [`Error::is_unencodable`] as for [`SseEvent::encode`], and if the id cannot be the value of an HTTP header,
    ///   because of a control character or a space at its start or end.
    pub fn push(&mut self, event: SseEvent<'_>) -> Result<&str> {
        let position = ReplayPosition(self.end().0 + 1);
        let id = match event.id.as_deref() {
            Some(id) if !id.is_empty() => CompactString::new(id),
            _ => format_compact!("{}{}", self.id_prefix, position.0),
        };
        check_header_value(&id)?;
        if self.positions.contains_key(&id) {
            return Err(Error::new(Kind::DuplicateId));
        }
        let mut encoded = Vec::new();
        event.id(id.as_str()).encode(&mut encoded)?;
        if encoded.len() > self.max_bytes {
            return Err(Error::new(Kind::ReplayLimit(self.max_bytes)));
        }
        self.bytes += encoded.len();
        self.positions.insert(id.clone(), position);
        // The boxed slice has no spare capacity, which the limit would not count.
        self.events.push_back(Buffered { id, encoded: encoded.into_boxed_slice().into() });
        while self.events.len() > self.max_events || self.bytes > self.max_bytes {
            let Some(event) = self.events.pop_front() else { break };
            self.evicted += 1;
            self.bytes -= event.encoded.len();
            self.positions.remove(&event.id);
        }
        Ok(self.last_event_id().unwrap_or_default())
    }

    /// Returns the position after the event with this id: the value of `Last-Event-ID`, as bytes or as text.
    ///
    /// # Errors
    ///
    /// [`Error::is_too_old`] if no event with this id is buffered: it was evicted, or is an event of another buffer.
    pub fn resume(&self, last_event_id: impl AsRef<[u8]>) -> Result<ReplayPosition> {
        let id = str::from_utf8(last_event_id.as_ref()).ok();
        id.and_then(|id| self.positions.get(id)).copied().ok_or_else(|| Error::new(Kind::TooOld))
    }

    /// Returns the position before the oldest event.
    pub fn start(&self) -> ReplayPosition {
        ReplayPosition(self.evicted)
    }

    /// Returns the position after the latest event.
    pub fn end(&self) -> ReplayPosition {
        ReplayPosition(self.evicted + self.events.len() as u64)
    }

    /// Returns the encoded event at a position and advances the position. Returns `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::is_too_old`] if the event has been evicted. The position is unchanged.
    pub fn next(&self, position: &mut ReplayPosition) -> Result<Option<&Bytes>> {
        let index = position.0.checked_sub(self.evicted).ok_or_else(|| Error::new(Kind::TooOld))?;
        let event = usize::try_from(index).ok().and_then(|index| self.events.get(index));
        Ok(event.map(|event| {
            position.0 += 1;
            &event.encoded
        }))
    }

    /// Returns the id of the latest event.
    pub fn last_event_id(&self) -> Option<&str> {
        self.events.back().map(|event| event.id.as_str())
    }

    /// Returns the number of buffered events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether no event is buffered.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the size of the buffered events in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Default for ReplayBuffer {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns an error unless a client can send the id as `Last-Event-ID`: HTTP trims spaces and forbids control
/// characters.
fn check_header_value(id: &str) -> Result<()> {
    let is_forbidden = |(offset, byte): (usize, u8)| {
        byte.is_ascii_control() || byte == b' ' && (offset == 0 || offset + 1 == id.len())
    };
    encode::check("id", Some(id), is_forbidden)
}

impl fmt::Debug for ReplayBuffer {
    /// Prints sizes, but no events and ids.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayBuffer")
            .field("events", &self.events.len())
            .field("evicted", &self.evicted)
            .field("bytes", &self.bytes)
            .field("max_events", &self.max_events)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}
