//! A pipeline as a stream of events.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use uuid::Uuid;

use super::output::Collector;
use super::pool::Handle;
use super::{Output, PipelineHandle};
use crate::client::PipelineEvent;
use crate::error::Error;
use crate::message::PipelineState;
use crate::value::Value;

/// A pipeline that runs, as the stream of its events.
///
/// Nothing is dropped: the last event is the state in which the pipeline has ended, unless the connection ends before,
/// which is an error. Events that nobody takes are kept up to
/// [`Options::max_buffered_bytes`](super::Options::max_buffered_bytes) of all pipelines of the pool together; then
/// nothing more is read for any of them. So do not leave a pipeline alone that is still to send much: read it, stop it, or
/// drop it.
///
/// When it is dropped before its end the server is told to stop and to close it, in the background.
pub struct Pipeline {
    handle: PipelineHandle,
    /// Keeps the pool open.
    _pool: Arc<Handle>,
}

impl Pipeline {
    pub(super) fn new(pool: Arc<Handle>, handle: PipelineHandle) -> Self {
        Self { handle, _pool: pool }
    }

    /// The identifier of the pipeline.
    pub fn id(&self) -> Uuid {
        self.handle.id()
    }

    /// The state of the pipeline, as it has arrived; events that lead to it may still wait to be read.
    pub fn state(&self) -> PipelineState {
        self.handle.state()
    }

    /// What sends input and stops the pipeline while this is read elsewhere.
    pub fn handle(&self) -> PipelineHandle {
        self.handle.clone()
    }

    /// The next event, `None` after the last one.
    ///
    /// # Errors
    ///
    /// Fails once if the connection ends before the pipeline does ([`Error::is_closed`]).
    pub async fn next(&mut self) -> Option<Result<PipelineEvent, Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Sends an object to the input: [`PipelineHandle::send`].
    ///
    /// # Errors
    ///
    /// As that.
    pub async fn send(&self, value: impl Into<Value>) -> Result<(), Error> {
        self.handle.send(value).await
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// As [`PipelineHandle::send`].
    pub async fn end_input(&self) -> Result<(), Error> {
        self.handle.end_input().await
    }

    /// Stops the pipeline and waits until it has ended: [`PipelineHandle::stop`].
    ///
    /// # Errors
    ///
    /// As that.
    pub async fn stop(&self) -> Result<(), Error> {
        self.handle.stop().await
    }

    /// Collects what the pipeline sends until its end.
    ///
    /// # Errors
    ///
    /// Fails if the connection ends, and if there is more than
    /// [`Options::max_output_bytes`](super::Options::max_output_bytes) ([`Error::is_limit`]).
    pub async fn output(self) -> Result<Output, Error> {
        let mut collector = Collector::new(self.handle.shared.limits.max_output_bytes);
        while let Some((event, size)) = poll_fn(|cx| self.poll_sized(cx)).await.transpose()? {
            collector.take(event, size)?;
        }
        Ok(collector.finish())
    }

    /// The next event with what it counts.
    fn poll_sized(&self, cx: &Context<'_>) -> Poll<Option<Result<(PipelineEvent, usize), Error>>> {
        let shared = &self.handle.shared;
        let mut state = shared.lock();
        let ended = state.alive();
        let call = state.calls.first(Some(self.id())).filter(|_| shared.limits.ordered_host && ended.is_ok());
        let Some(slot) = state.slots.get_mut(&self.id()) else { return Poll::Ready(None) };
        let taken = slot.taken;
        let has_settled = std::mem::replace(&mut slot.settled, taken) < taken && call.is_some();
        if call.is_none_or(|after| after > taken)
            && let Some((event, size)) = slot.events.pop_front()
        {
            slot.taken += 1;
            state.release(size);
            return Poll::Ready(Some(Ok((event, size))));
        }
        if slot.is_over {
            return Poll::Ready(None);
        }
        if let Err(error) = ended {
            slot.state = PipelineState::Failed;
            slot.is_over = true;
            return Poll::Ready(Some(Err(error)));
        }
        if !slot.waker.as_ref().is_some_and(|own| own.will_wake(cx.waker())) {
            slot.waker = Some(cx.waker().clone());
        }
        state.has_changed |= has_settled;
        shared.tell(state);
        Poll::Pending
    }
}

impl Stream for Pipeline {
    type Item = Result<PipelineEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.poll_sized(cx));
        Poll::Ready(event.map(|result| result.map(|(event, _)| event)))
    }
}

impl FusedStream for Pipeline {
    fn is_terminated(&self) -> bool {
        let state = self.handle.shared.lock();
        state.slots.get(&self.id()).is_none_or(|slot| slot.is_over && slot.events.is_empty())
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let id = self.id();
        let mut state = self.handle.shared.lock();
        let mut dropped = state.calls.discard(Some(id));
        if let Some(slot) = state.slots.get_mut(&id) {
            slot.is_dropped = true;
            slot.waker = None;
            dropped += slot.events.drain(..).map(|(_, size)| size).sum::<usize>();
        }
        state.release(dropped);
        // A call may wait for the reader.
        state.has_changed = true;
        state.wake_driver();
        if state.ended.is_some() {
            state.slots.remove(&id);
        } else {
            state.settle(id);
            state.remove_if_done(id);
        }
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("id", &self.id())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
