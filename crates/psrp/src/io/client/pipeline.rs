//! Pipeline as a stream of events.

use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::output::OutputCollector;
use super::pool::PoolHandle;
use super::{Output, PipelineHandle};
use crate::client::PipelineEvent;
use crate::error::Error;
use crate::message::PipelineState;

/// A running pipeline, as an asynchronous stream of its events. It dereferences to its [`PipelineHandle`], which sends
/// input and stops the pipeline. The blocking version is `psrp::blocking::Pipeline`.
///
/// No event is dropped. The last event is the final state of the pipeline; if the connection ends first, the last item
/// is an error. Unread events are buffered up to
/// [`ClientLimits::max_buffered_bytes`](super::ClientLimits::max_buffered_bytes), shared by all pipelines of the pool.
/// Above that limit the session stops reading for every pipeline. A pipeline that produces much output must therefore
/// be read, stopped or dropped.
///
/// Dropping a running pipeline stops and closes it in the background.
pub struct Pipeline {
    handle: PipelineHandle,
    /// Keeps the pool open.
    _pool: Arc<PoolHandle>,
}

impl Pipeline {
    pub(super) fn new(pool: Arc<PoolHandle>, handle: PipelineHandle) -> Self {
        Self { handle, _pool: pool }
    }

    /// Returns a handle for another task, which sends input or stops the pipeline while this one reads the events.
    pub fn handle(&self) -> PipelineHandle {
        self.handle.clone()
    }

    /// Returns the next event, or `None` after the last one.
    ///
    /// # Errors
    ///
    /// Fails once if the connection ends before the pipeline does ([`Error::is_closed`]).
    pub async fn next(&mut self) -> Option<Result<PipelineEvent, Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads all events and returns the collected output.
    ///
    /// # Errors
    ///
    /// Fails if the connection ends, and with [`Error::is_limit`] if the output exceeds
    /// [`ClientLimits::max_output_bytes`](super::ClientLimits::max_output_bytes).
    pub async fn output(self) -> Result<Output, Error> {
        let mut collector = OutputCollector::new(self.handle.shared.limits.max_output_bytes);
        while let Some((event, size)) = poll_fn(|cx| self.poll_sized(cx)).await.transpose()? {
            collector.push(event, size)?;
        }
        Ok(collector.finish())
    }

    /// Returns the next event and its size.
    fn poll_sized(&self, cx: &Context<'_>) -> Poll<Option<Result<(PipelineEvent, usize), Error>>> {
        let shared = &self.handle.shared;
        let mut state = shared.lock();
        let ended = state.check_alive();
        let next_call =
            state.calls.first_pending(Some(self.id())).filter(|_| shared.ordered_host && ended.is_ok());
        let Some(slot) = state.slots.get_mut(&self.id()) else { return Poll::Ready(None) };
        let read = slot.read;
        let has_progressed = std::mem::replace(&mut slot.processed, read) < read && next_call.is_some();
        if next_call.is_none_or(|events_before| events_before > read)
            && let Some((event, size)) = slot.events.pop_front()
        {
            slot.read += 1;
            state.remove_buffered(size);
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
        slot.waker.get_or_insert_with(|| cx.waker().clone()).clone_from(cx.waker());
        state.needs_notify |= has_progressed;
        shared.notify_waiters(state);
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

impl Deref for Pipeline {
    type Target = PipelineHandle;

    fn deref(&self) -> &PipelineHandle {
        &self.handle
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let id = self.id();
        let mut state = self.handle.shared.lock();
        let mut dropped = state.calls.cancel(Some(id), true);
        if let Some(slot) = state.slots.get_mut(&id) {
            slot.is_dropped = true;
            slot.waker = None;
            dropped += slot.events.drain(..).map(|(_, size)| size).sum::<usize>();
        }
        state.remove_buffered(dropped);
        // A host call may wait for the reader.
        state.needs_notify = true;
        state.wake_task();
        if state.ended.is_some() {
            state.slots.remove(&id);
        } else {
            state.close_if_unneeded(id);
            state.remove_if_done(id);
        }
    }
}

impl_debug!(Pipeline | this | id = this.id(), state = this.state());
