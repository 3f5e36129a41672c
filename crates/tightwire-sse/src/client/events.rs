//! Stream of the events of a client.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::stream::FusedStream;

use super::{EventSource, Message};
use crate::Event;
use crate::error::Result;

/// Maximum number of messages skipped per poll, so that a fast stream of comments does not block the executor.
const MESSAGES_PER_POLL: usize = 64;

/// Stream of the events of an [`EventSource`], without its other messages; see [`EventSource::events`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Events<'a> {
    source: &'a mut EventSource,
}

impl<'a> Events<'a> {
    pub(super) const fn new(source: &'a mut EventSource) -> Self {
        Self { source }
    }
}

impl Stream for Events<'_> {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        for _ in 0..MESSAGES_PER_POLL {
            match ready!(Pin::new(&mut *self.source).poll_next(cx)) {
                Some(Ok(Message::Event(event))) => return Poll::Ready(Some(Ok(event))),
                Some(Ok(Message::Open | Message::Comment(_) | Message::Reconnecting { .. })) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl FusedStream for Events<'_> {
    fn is_terminated(&self) -> bool {
        self.source.is_terminated()
    }
}
