//! Handle to a pipeline for sending input and stopping it.

use std::sync::Arc;

use uuid::Uuid;

use super::shared::{SessionState, SharedSession, within};
use crate::client;
use crate::error::Error;
use crate::link::invalid_state;
use crate::message::PipelineState;
use crate::value::Value;

/// Sends input to a [`Pipeline`](super::Pipeline) and stops it while another task reads its events.
///
/// A handle keeps neither the pipeline nor the pool alive. After they are dropped every method fails with
/// [`Error::is_state`] or [`Error::is_closed`].
#[derive(Clone)]
pub struct PipelineHandle {
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

impl PipelineHandle {
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
    /// [`RunspacePool::start_with_input`](super::RunspacePool::start_with_input)) or its input has ended; if the value
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
    /// Same as [`send`](Self::send).
    pub async fn end_input(&self) -> Result<(), Error> {
        self.shared.wait_for_room(Some(self.id)).await;
        self.with_pipeline("end the input", |mut pipeline| pipeline.end_input())
    }

    fn with_pipeline(
        &self,
        action: &str,
        act: impl FnOnce(client::Pipeline<'_>) -> Result<(), Error>,
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
            state.wake_task();
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

impl_debug!(PipelineHandle | this | id = this.id, state = this.state());
