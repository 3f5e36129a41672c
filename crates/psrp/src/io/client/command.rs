//! Running pipeline as a stream of events, and a handle for sending input and stopping it.

use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use uuid::Uuid;

use super::Output;
use super::output::OutputCollector;
use super::session::PoolHandle;
use super::session_state::{SessionState, SharedSession, within};
use crate::client::{self, PipelineEvent};
use crate::error::Error;
use crate::link::invalid_state;
use crate::message::PipelineState;
use crate::value::Value;

/// A running pipeline, as an asynchronous stream of its events. It dereferences to its [`CommandHandle`], which sends
/// input and stops the pipeline. The blocking version is `psrp::blocking::Command`. What it runs is made of
/// [`message::Command`](crate::message::Command)s.
///
/// No event is dropped. The last event is the final state of the pipeline; if the connection ends first, the last item
/// is an error. Unread events are buffered up to
/// [`ClientLimits::max_buffered_bytes`](super::ClientLimits::max_buffered_bytes), shared by all pipelines of the pool.
/// Above that limit the session stops reading for every pipeline. A pipeline that produces much output must therefore
/// be read, stopped or dropped.
///
/// Dropping a running pipeline stops and closes it in the background.
pub struct Command {
    handle: CommandHandle,
    /// Keeps the pool open.
    _pool: Arc<PoolHandle>,
}

impl Command {
    pub(super) fn new(pool: Arc<PoolHandle>, handle: CommandHandle) -> Self {
        Self { handle, _pool: pool }
    }

    /// Returns a handle for another task, which sends input or stops the pipeline while this one reads the events.
    pub fn handle(&self) -> CommandHandle {
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
            && let Some((event, size)) = slot.events.pop()
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

impl Stream for Command {
    type Item = Result<PipelineEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.poll_sized(cx));
        Poll::Ready(event.map(|result| result.map(|(event, _)| event)))
    }
}

impl Deref for Command {
    type Target = CommandHandle;

    fn deref(&self) -> &CommandHandle {
        &self.handle
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        let id = self.id();
        let mut state = self.handle.shared.lock();
        let mut dropped = state.calls.cancel(Some(id), true);
        if let Some(slot) = state.slots.get_mut(&id) {
            slot.is_dropped = true;
            slot.waker = None;
            dropped += std::mem::take(&mut slot.events).bytes();
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

impl_debug!(Command | this | id = this.id(), state = this.state());

/// Sends input to a [`Command`] and stops it while another task reads its events.
///
/// A handle keeps neither the pipeline nor the pool alive. After they are dropped every method fails with
/// [`Error::is_state`] or [`Error::is_closed`].
#[derive(Clone)]
pub struct CommandHandle {
    pub(super) shared: Arc<SharedSession>,
    pub(super) id: Uuid,
}

/// Counts a caller that waits for a pipeline to stop, until it is dropped.
struct StopWaiter<'a>(&'a SharedSession);

impl<'a> StopWaiter<'a> {
    fn new(shared: &'a SharedSession) -> Self {
        let mut state = shared.lock();
        state.stopping += 1;
        state.wake_task();
        Self(shared)
    }
}

impl Drop for StopWaiter<'_> {
    fn drop(&mut self) {
        self.0.lock().stopping -= 1;
    }
}

impl CommandHandle {
    pub(super) fn new(shared: Arc<SharedSession>, id: Uuid) -> Self {
        Self { shared, id }
    }

    /// Returns the identifier of the pipeline.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Returns the last state received from the server, or `Failed` if the pipeline no longer exists.
    pub fn state(&self) -> PipelineState {
        let mut state = self.shared.lock();
        if let Some(slot) = state.slots.get(&self.id)
            && slot.is_over
        {
            return slot.state;
        }
        if state.ended.is_some() {
            return PipelineState::Failed;
        }
        state.machine.pipeline(self.id).map_or(PipelineState::Failed, |pipeline| pipeline.state())
    }

    /// Sends an object to the pipeline's input. Waits while the send queue is full
    /// ([`ClientLimits::max_pending_bytes`](super::ClientLimits::max_pending_bytes)).
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pipeline is not running, was created without input (see
    /// [`Session::start_with_input`](super::Session::start_with_input)) or its input has ended; if the value
    /// cannot be encoded; and if the connection ends.
    pub async fn send(&self, value: impl Into<Value>) -> Result<(), Error> {
        let value = value.into();
        self.shared.wait_for_room(Some(self.id)).await;
        self.with_pipeline("send input", |mut pipeline| pipeline.send_input(value))
    }

    /// Ends the input. Waits while the send queue is full.
    ///
    /// # Errors
    ///
    /// Fails like [`send`](Self::send).
    pub async fn end_input(&self) -> Result<(), Error> {
        self.shared.wait_for_room(Some(self.id)).await;
        self.with_pipeline("end the input", |mut pipeline| pipeline.end_input())
    }

    fn with_pipeline(
        &self,
        action: &str,
        act: impl FnOnce(client::ClientPipeline<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut state = self.shared.lock();
        state.check_alive()?;
        if let Some(slot) = state.slots.get(&self.id)
            && slot.is_over
        {
            return Err(invalid_state(action, "pipeline", slot.state));
        }
        act(state.machine.pipeline(self.id)?)?;
        state.wake_task();
        Ok(())
    }

    /// Stops the pipeline and waits until it has ended. Events sent until then, including the final state, can still be
    /// read. Does nothing if the pipeline has already ended.
    ///
    /// While this waits, the session buffers up to eight times
    /// [`ClientLimits::max_buffered_bytes`](super::ClientLimits::max_buffered_bytes).
    ///
    /// # Errors
    ///
    /// Fails if the connection ends, and with [`Error::is_timeout`] if stopping takes longer than
    /// [`ClientLimits::stop_timeout`](super::ClientLimits::stop_timeout). After a timeout, dropping the pipeline closes
    /// it.
    pub async fn stop(&self) -> Result<(), Error> {
        let _stopping = StopWaiter::new(&self.shared);
        {
            let mut state = self.shared.lock();
            if self.has_ended(&state) {
                return Ok(());
            }
            state.check_alive()?;
            match state.machine.pipeline(self.id)?.state() {
                PipelineState::Running => state.stop(self.id),
                PipelineState::Stopping => {}
                other => return Err(invalid_state("stop", "pipeline", other)),
            }
        }
        let ended = |state: &mut SessionState| match state.check_alive() {
            _ if self.has_ended(state) => Some(Ok(())),
            Err(error) => Some(Err(error)),
            Ok(()) => None,
        };
        let time = self.shared.limits.stop_timeout;
        within(time, "to stop the pipeline", self.shared.wait_until(ended)).await
    }

    fn has_ended(&self, state: &SessionState) -> bool {
        state.slots.get(&self.id).is_none_or(|slot| slot.is_over || slot.last_event.is_some())
    }
}

impl_debug!(CommandHandle | this | id = this.id, state = this.state());
