//! Passes incoming packets to the state machine and dispatches its events.

use tokio::time::Instant;
use uuid::Uuid;

use super::PoolEvent;
use super::shared::{SessionState, StopState, is_terminal};
use crate::client::{Event, PipelineEvent};
use crate::error::{Error, Kind};
use crate::io::remote::remote_text;
use crate::message::{PipelineState, RunspacePoolState, RunspacePoolStateInfo};
use crate::outofproc::Packet;

impl SessionState {
    pub(super) fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        let (created, stopped) = match packet {
            Packet::DataAck(id) => (id, None),
            Packet::SignalAck(id) => (None, id),
            _ => (None, None),
        };
        let result = self.machine.handle_packet(packet);
        self.dispatch_events(result.is_err());
        if let Some(id) = created.filter(|id| self.machine.is_acknowledged(*id)) {
            self.record_creation(id);
        }
        if let Some(id) = stopped {
            if self.slots.get(&id).is_some_and(|slot| matches!(slot.stop_state, StopState::Sent(_))) {
                self.set_timer(id, Instant::now() + self.limits.late_records, StopState::Acknowledged);
            }
            self.close_if_unneeded(id);
        }
        result
    }

    /// Dispatches all events of the state machine. `has_failed` means that the connection has failed.
    pub(super) fn dispatch_events(&mut self, has_failed: bool) {
        while let Some((event, size)) = self.machine.poll_sized_event() {
            // After a connection error the state machine reports pipelines as failed. Readers get the connection error
            // instead of that state.
            let is_synthetic = matches!(
                &event,
                Event::Pipeline { event: PipelineEvent::State(info), .. } if info.state == PipelineState::Failed
            );
            if !(has_failed && is_synthetic) {
                self.dispatch(event, size);
            }
        }
    }

    fn dispatch(&mut self, event: Event, size: usize) {
        match event {
            Event::Pipeline { id, event } => self.dispatch_pipeline_event(id, event, size),
            Event::HostCall { pipeline, call } => {
                // Pipelines that are only being stopped must not call the host.
                let is_dropped = |id| self.slots.get(&id).is_none_or(|slot| slot.is_dropped);
                if self.is_closing || pipeline.is_some_and(is_dropped) {
                    return;
                }
                let slot = pipeline.and_then(|id| self.slots.get(&id));
                let events_before = slot.map_or(0, |slot| slot.received);
                if self.calls.push(pipeline, call, size, events_before, &mut self.machine) {
                    self.add_buffered(size);
                }
            }
            Event::RequestCompleted { call_id, availability } => {
                if let Some(sender) = self.responses.remove(&call_id) {
                    // The caller may have dropped its future.
                    let _ = sender.send(availability);
                }
            }
            Event::State(info) => self.handle_pool_state(info),
            Event::UserEvent(event) => self.publish(&PoolEvent::User(event), size),
            Event::PoolRecord(event) => self.publish(&PoolEvent::Record(event), size),
            Event::KeyExchanged => self.needs_notify = true,
            // The state machine stores the others.
            _ => {}
        }
    }

    fn publish(&mut self, event: &PoolEvent, size: usize) {
        let count = self.subscribers.push(event, size);
        self.add_buffered(size * count);
    }

    fn handle_pool_state(&mut self, info: RunspacePoolStateInfo) {
        self.needs_notify = true;
        let message = info.error.as_ref().and_then(|record| record.message());
        self.reason = message.map(|text| remote_text(&text.to_str_lossy()));
        // State changes are few and do not count towards the buffer limit.
        self.subscribers.push(&PoolEvent::State(info), 0);
    }

    /// Returns the error of a pool that the server has closed or reported as broken.
    pub(super) fn pool_end_error(&self) -> Error {
        let what = match self.machine.state() {
            RunspacePoolState::Broken => "the server reports the pool as broken",
            _ => "the server has closed the pool",
        };
        match &self.reason {
            Some(reason) => Error::with(Kind::Closed, format!("{what}: {reason}")),
            None => Error::with(Kind::Closed, what),
        }
    }

    fn dispatch_pipeline_event(&mut self, id: Uuid, event: PipelineEvent, size: usize) {
        let is_closing = self.is_closing;
        let Some(slot) = self.slots.get_mut(&id) else { return };
        match event {
            PipelineEvent::Closed => {
                slot.is_closed = true;
                self.needs_notify = true;
                self.remove_if_done(id);
            }
            PipelineEvent::State(info) if is_terminal(info.state) => {
                // Host calls made before the end are completed before the last event is delivered.
                slot.last_event = Some((PipelineEvent::State(info), size));
                let freed = self.calls.cancel(Some(id), false);
                self.remove_buffered(freed);
                if !self.calls.is_busy(Some(id)) {
                    self.deliver_last_event(id);
                }
                self.close_if_unneeded(id);
            }
            _ if slot.is_dropped || is_closing => {}
            event => {
                if let PipelineEvent::State(info) = &event {
                    slot.state = info.state;
                }
                slot.push(event, size);
                self.add_buffered(size);
            }
        }
    }

    /// Delivers the last event of a pipeline, after its host calls have completed.
    pub(super) fn deliver_last_event(&mut self, id: Uuid) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let Some((event, size)) = slot.last_event.take() else { return };
        if let PipelineEvent::State(info) = &event {
            slot.state = info.state;
        }
        slot.is_over = true;
        self.needs_notify = true;
        if !slot.is_dropped {
            slot.push(event, size);
            self.add_buffered(size);
        }
    }
}
