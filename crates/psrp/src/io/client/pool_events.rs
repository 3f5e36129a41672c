//! What happens in a pool besides its pipelines.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::shared::Shared;
use crate::message::{RunspacePoolStateInfo, UserEvent};

/// What happens in a pool besides its pipelines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoolEvent {
    /// An event of the remote session that a script forwards.
    User(Box<UserEvent>),
    /// The pool has another state.
    State(RunspacePoolStateInfo),
}

/// The events of a pool from [`RunspacePool::events`](super::RunspacePool::events) on. It ends with the session.
///
/// Events that are not taken count in [`Options::max_buffered_bytes`](super::Options::max_buffered_bytes) and stop the
/// whole pool in the end; drop the stream if they don't matter any more.
pub struct PoolEvents {
    shared: Arc<Shared>,
    number: u64,
}

/// The streams of events that there are.
#[derive(Default)]
pub(super) struct Subscribers {
    next: u64,
    queues: HashMap<u64, Queue>,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<(PoolEvent, usize)>,
    waker: Option<Waker>,
}

impl Subscribers {
    fn push(&mut self, event: &PoolEvent, size: usize) -> usize {
        for queue in self.queues.values_mut() {
            queue.events.push_back((event.clone(), size));
            if let Some(waker) = queue.waker.take() {
                waker.wake();
            }
        }
        self.queues.len()
    }

    /// Hands an event to all; to how many.
    pub(super) fn push_event(&mut self, event: Box<UserEvent>, size: usize) -> usize {
        self.push(&PoolEvent::User(event), size)
    }

    /// A pool has few states: they count nothing.
    pub(super) fn push_state(&mut self, info: RunspacePoolStateInfo) {
        self.push(&PoolEvent::State(info), 0);
    }

    pub(super) fn end(&mut self) {
        for queue in self.queues.values_mut() {
            if let Some(waker) = queue.waker.take() {
                waker.wake();
            }
        }
    }
}

impl PoolEvents {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let mut state = shared.lock();
        let number = state.subscribers.next;
        state.subscribers.next += 1;
        state.subscribers.queues.insert(number, Queue::default());
        drop(state);
        Self { shared, number }
    }

    /// The next event, `None` after the end of the session.
    pub async fn next(&mut self) -> Option<PoolEvent> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for PoolEvents {
    type Item = PoolEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PoolEvent>> {
        let mut state = self.shared.lock();
        let has_ended = state.ended.is_some();
        let Some(queue) = state.subscribers.queues.get_mut(&self.number) else { return Poll::Ready(None) };
        if let Some((event, size)) = queue.events.pop_front() {
            state.release(size);
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
        if let Some(queue) = state.subscribers.queues.remove(&self.number) {
            state.release(queue.events.iter().map(|(_, size)| size).sum());
        }
    }
}

impl fmt::Debug for PoolEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolEvents").finish_non_exhaustive()
    }
}
