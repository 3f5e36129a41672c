//! What can be done with a pipeline besides reading its events.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::shared::{Shared, State, within};
use crate::client;
use crate::error::Error;
use crate::link::invalid_state;
use crate::message::PipelineState;
use crate::value::Value;

/// Sends input to a [`Pipeline`](super::Pipeline) and stops it while another task reads its events.
///
/// It keeps neither the pipeline nor the pool: when they are dropped everything fails with [`Error::is_state`] or
/// [`Error::is_closed`].
#[derive(Clone)]
pub struct PipelineHandle {
    pub(super) shared: Arc<Shared>,
    pub(super) id: Uuid,
}

/// Counts those who wait for a pipeline to stop.
struct Stopping<'a>(&'a Shared);

impl<'a> Stopping<'a> {
    fn new(shared: &'a Shared) -> Self {
        let mut state = shared.lock();
        state.stopping += 1;
        state.wake_driver();
        Self(shared)
    }
}

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.lock().stopping -= 1;
    }
}

impl PipelineHandle {
    pub(super) fn new(shared: Arc<Shared>, id: Uuid) -> Self {
        Self { shared, id }
    }

    /// The identifier of the pipeline.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// The state of the pipeline, as the last of its events that has arrived tells it; failed if it is gone.
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

    /// Sends an object to the input. It waits while too much is to be sent
    /// ([`Options::max_pending_bytes`](super::Options::max_pending_bytes)).
    ///
    /// # Errors
    ///
    /// Fails if the pipeline does not run any more, was created without input
    /// ([`RunspacePool::start_with_input`](super::RunspacePool::start_with_input) creates one with it), or had its input
    /// ended ([`Error::is_state`]); if the value can't be written; and if the connection ends.
    pub async fn send(&self, value: impl Into<Value>) -> Result<(), Error> {
        let value = value.into();
        self.shared.room(Some(self.id)).await;
        self.act("send input", |mut pipeline| pipeline.send_input(value))
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn end_input(&self) -> Result<(), Error> {
        self.shared.room(Some(self.id)).await;
        self.act("end the input", |mut pipeline| pipeline.end_input())
    }

    fn act(
        &self,
        action: &str,
        act: impl FnOnce(client::Pipeline<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut state = self.shared.lock();
        state.alive()?;
        if let Some(slot) = state.slots.get(&self.id)
            && slot.is_over
        {
            return Err(invalid_state(action, "pipeline", slot.state));
        }
        act(state.machine.pipeline(self.id)?)?;
        state.wake_driver();
        Ok(())
    }

    /// Stops the pipeline and waits until it has ended. What it sends until then, its state included, can still be
    /// read. Nothing happens if it has ended.
    ///
    /// While this waits, up to eight times [`Options::max_buffered_bytes`](super::Options::max_buffered_bytes) are read.
    ///
    /// # Errors
    ///
    /// Fails if the connection ends, and if the pipeline takes longer than
    /// [`Options::stop_timeout`](super::Options::stop_timeout) ([`Error::is_timeout`]); dropping it closes it then.
    pub async fn stop(&self) -> Result<(), Error> {
        let _stopping = Stopping::new(&self.shared);
        {
            let mut state = self.shared.lock();
            if self.has_ended(&state) {
                return Ok(());
            }
            state.alive()?;
            match state.machine.pipeline(self.id)?.state() {
                PipelineState::Running => state.stop(self.id),
                PipelineState::Stopping => {}
                other => return Err(invalid_state("stop", "pipeline", other)),
            }
            state.wake_driver();
        }
        let ended = |state: &mut State| match state.alive() {
            _ if self.has_ended(state) => Some(Ok(())),
            Err(error) => Some(Err(error)),
            Ok(()) => None,
        };
        let time = self.shared.limits.stop_timeout;
        within(time, "to stop the pipeline", self.shared.wait_until(ended)).await
    }

    fn has_ended(&self, state: &State) -> bool {
        state.slots.get(&self.id).is_none_or(|slot| slot.is_over || slot.last.is_some())
    }
}

impl fmt::Debug for PipelineHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipelineHandle").field("id", &self.id).field("state", &self.state()).finish()
    }
}
