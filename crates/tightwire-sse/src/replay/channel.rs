//! Replay buffer that is shared by publishers and asynchronous streams.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_core::stream::{FusedStream, Stream};

use super::{ReplayBuffer, ReplayPosition};
use crate::SseEvent;
use crate::error::{Error, Kind, Result};

/// Sends events to any number of connections, which can resume with `Last-Event-ID`.
///
/// Share it in an `Arc`. Every method takes a lock for a short time and never waits for a connection. It works in any
/// async runtime.
///
/// # Slow clients
///
/// A [`Subscription`] has no queue: it reads the events of the [`ReplayBuffer`]. One that is further behind than the
/// buffer reaches gets [`Error::is_too_old`] and ends. [`SseBody`](crate::SseBody) then aborts the connection, and
/// the client can reconnect. Memory is bounded by the buffer, and publishers are never slowed down.
///
/// # Examples
///
/// A handler that resumes, with the feature `body`. A client that has missed too much gets an event that tells it to
/// load its state again:
///
/// ```
/// # #[cfg(feature = "body")] {
/// use bytes::Bytes;
/// use futures_util::{StreamExt as _, stream};
/// use tightwire_sse::{ReplayChannel, SseBody, SseEvent};
///
/// fn events(channel: &ReplayChannel, headers: &http::HeaderMap) -> http::Response<impl http_body::Body> {
///     let (reset, events) = match headers.get("last-event-id").map(|id| channel.resume(id)) {
///         None => (None, channel.subscribe()),
///         Some(Ok(events)) => (None, events),
///         Some(Err(_)) => (Some(Ok(Bytes::from("event: reset\ndata:\n\n"))), channel.subscribe()),
///     };
///     SseBody::new(stream::iter(reset).chain(events)).into_response()
/// }
///
/// let channel = ReplayChannel::default();
/// channel.publish(SseEvent::new().data("hello"))?;
/// assert_eq!(events(&channel, &http::HeaderMap::new()).status(), 200);
/// # }
/// # Ok::<(), tightwire_sse::Error>(())
/// ```
pub struct ReplayChannel {
    shared: Arc<Shared>,
}

struct Shared(Mutex<State>);

struct State {
    buffer: ReplayBuffer,
    is_closed: bool,
    /// Wakers of the subscriptions that are at the end, by key.
    wakers: HashMap<u64, Waker>,
    next_key: u64,
}

impl ReplayChannel {
    /// Returns a channel with the limits and the events of `buffer`.
    pub fn new(buffer: ReplayBuffer) -> Self {
        let state = State { buffer, is_closed: false, wakers: HashMap::new(), next_key: 0 };
        Self { shared: Arc::new(Shared(Mutex::new(state))) }
    }

    /// Sends an event to all subscriptions. Returns its id. The order of events is that of the calls.
    ///
    /// # Errors
    ///
    /// Those of [`ReplayBuffer::push`], and [`Error::is_ended`] if the channel is closed. The event is not sent.
    pub fn publish(&self, event: SseEvent<'_>) -> Result<String> {
        let mut state = self.shared.lock();
        if state.is_closed {
            return Err(Error::new(Kind::Ended));
        }
        let id = state.buffer.push(event)?.into();
        wake_all(state);
        Ok(id)
    }

    /// Returns a stream of the events that are published from now on, for clients without `Last-Event-ID`.
    ///
    /// A client that needs the current state first gets a snapshot that is taken after this call. It then misses no
    /// change, but can receive a change that the snapshot contains.
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_at(self.shared.lock(), ReplayBuffer::end)
    }

    /// Returns a stream of the buffered events, beginning with the oldest, and of all later ones.
    pub fn subscribe_from_start(&self) -> Subscription {
        self.subscribe_at(self.shared.lock(), ReplayBuffer::start)
    }

    /// Returns a stream of all events after the one with this id: the value of `Last-Event-ID`, as bytes or as text.
    /// Buffered and new events follow each other without a gap and without duplicates.
    ///
    /// # Errors
    ///
    /// [`Error::is_too_old`] if no event with this id is buffered: it was evicted, or is an event of another channel.
    pub fn resume(&self, last_event_id: impl AsRef<[u8]>) -> Result<Subscription> {
        let state = self.shared.lock();
        let position = state.buffer.resume(last_event_id)?;
        Ok(self.subscribe_at(state, |_| position))
    }

    /// Returns the id of the latest event.
    pub fn last_event_id(&self) -> Option<String> {
        self.shared.lock().buffer.last_event_id().map(Into::into)
    }

    /// Ends all subscriptions, current and later ones, after the buffered events. Dropping the channel does the same.
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        wake_all(state);
    }

    fn subscribe_at(
        &self,
        mut state: MutexGuard<'_, State>,
        position: impl FnOnce(&ReplayBuffer) -> ReplayPosition,
    ) -> Subscription {
        let key = state.next_key;
        state.next_key += 1;
        let position = position(&state.buffer);
        Subscription { shared: Arc::clone(&self.shared), key, position, ended: false }
    }
}

impl Default for ReplayChannel {
    /// Returns a channel with the default [`ReplayBuffer`].
    fn default() -> Self {
        Self::new(ReplayBuffer::new())
    }
}

impl Drop for ReplayChannel {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent after a panic of an allocation or of a waker.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the waiting subscriptions after unlocking, because a waker can poll a subscription.
fn wake_all(mut state: MutexGuard<'_, State>) {
    let wakers = mem::take(&mut state.wakers);
    drop(state);
    wakers.into_values().for_each(Waker::wake);
}

/// Stream of the encoded events of a [`ReplayChannel`], one event per item, for [`SseBody`](crate::SseBody) or another
/// body.
///
/// Ends when the channel is closed and all events are received.
///
/// # Errors
///
/// [`Error::is_too_old`] once if the subscriber is too slow, so that its next event has been evicted. Then the stream
/// ends.
///
/// # Cancellation
///
/// Dropping the future of `next()` loses no event. Dropping the subscription has no effect on others.
#[must_use = "streams do nothing unless polled"]
pub struct Subscription {
    shared: Arc<Shared>,
    key: u64,
    position: ReplayPosition,
    ended: bool,
}

impl Stream for Subscription {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        let mut state = this.shared.lock();
        let event = state.buffer.next(&mut this.position).map(Option::<&Bytes>::cloned).transpose();
        if event.is_none() && !state.is_closed {
            state.wakers.insert(this.key, cx.waker().clone());
            return Poll::Pending;
        }
        this.ended = !matches!(event, Some(Ok(_)));
        Poll::Ready(event)
    }
}

impl FusedStream for Subscription {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let waker = self.shared.lock().wakers.remove(&self.key);
        // Dropped after unlocking: it can own a task that owns a subscription.
        drop(waker);
    }
}

/// Omits events and ids.
impl fmt::Debug for ReplayChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("ReplayChannel")
            .field("buffer", &state.buffer)
            .field("is_closed", &state.is_closed)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("position", &self.position)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
