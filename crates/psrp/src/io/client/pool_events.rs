//! Events of a pool: user events, records and state changes.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::session_state::SharedSession;
use crate::client::PipelineEvent;
use crate::io::task::wake;
use crate::link::SizedQueue;
use crate::message::{RunspacePoolStateInfo, UserEvent};

/// Event of a pool that does not belong to one of its pipelines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoolEvent {
    /// Event of the remote session, forwarded by a script.
    User(Box<UserEvent>),
    /// Record, output object or state that belongs to no pipeline, for example a warning of a startup script. The first
    /// stream of a pool also has those that arrived before it was created, up to 64 KiB.
    Record(PipelineEvent),
    /// Change of the pool's state.
    State(RunspacePoolStateInfo),
}

/// Stream of pool events, created by [`Session::events`](super::Session::events). Ends with the session.
///
/// Unread events count towards [`ClientLimits::max_buffered_bytes`](super::ClientLimits::max_buffered_bytes); above
/// that limit the whole pool stops reading. Drop the stream when its events are no longer needed.
pub struct PoolEvents {
    shared: Arc<SharedSession>,
    key: u64,
}

/// Queues of all [`PoolEvents`] streams of a pool.
#[derive(Default)]
pub(super) struct Subscribers {
    next_key: u64,
    /// Records that arrived before the first subscriber.
    early: SizedQueue<PoolEvent>,
    early_bytes: usize,
    queues: HashMap<u64, Subscriber>,
}

/// Maximum size of the records before the first subscriber.
const MAX_EARLY_BYTES: usize = 64 << 10;

struct Subscriber {
    events: SizedQueue<PoolEvent>,
    waker: Option<Waker>,
}

impl Subscribers {
    /// Queues an event for all subscribers and returns their number.
    pub(super) fn push(&mut self, event: &PoolEvent, size: usize) -> usize {
        if self.next_key == 0 && matches!(event, PoolEvent::Record(_)) {
            self.early_bytes += size;
            if self.early_bytes <= MAX_EARLY_BYTES {
                // The limit of buffered bytes does not apply: these may never be read.
                self.early.push(event.clone(), 0);
            }
        }
        for queue in self.queues.values_mut() {
            queue.events.push(event.clone(), size);
        }
        self.wake();
        self.queues.len()
    }

    pub(super) fn wake(&mut self) {
        for queue in self.queues.values_mut() {
            wake(&mut queue.waker);
        }
    }
}

impl PoolEvents {
    pub(super) fn new(shared: Arc<SharedSession>) -> Self {
        let mut state = shared.lock();
        let key = state.subscribers.next_key;
        state.subscribers.next_key += 1;
        let events = std::mem::take(&mut state.subscribers.early);
        state.subscribers.queues.insert(key, Subscriber { events, waker: None });
        drop(state);
        Self { shared, key }
    }

    /// Returns the next event, or `None` after the end of the session.
    pub async fn next(&mut self) -> Option<PoolEvent> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for PoolEvents {
    type Item = PoolEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PoolEvent>> {
        let mut state = self.shared.lock();
        let has_ended = state.ended.is_some();
        let Some(queue) = state.subscribers.queues.get_mut(&self.key) else { return Poll::Ready(None) };
        if let Some((event, size)) = queue.events.pop() {
            state.remove_buffered(size);
            return Poll::Ready(Some(event));
        }
        if has_ended {
            return Poll::Ready(None);
        }
        queue.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for PoolEvents {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if let Some(queue) = state.subscribers.queues.remove(&self.key) {
            state.remove_buffered(queue.events.bytes());
        }
    }
}

impl_debug!(PoolEvents);
