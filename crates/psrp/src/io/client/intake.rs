//! What a session makes of the packets of the server.

use tokio::time::Instant;
use uuid::Uuid;

use super::shared::State;
use super::slot::{Signal, is_terminal};
use crate::client::{Event, PipelineEvent};
use crate::error::{Error, Kind};
use crate::io::remote::remote_text;
use crate::message::{PipelineState, RunspacePoolState, RunspacePoolStateInfo};
use crate::outofproc::Packet;

impl State {
    /// Takes a packet of the server.
    pub(super) fn take(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        let (created, stopped) = match packet {
            Packet::DataAck(id) => (id, None),
            Packet::SignalAck(id) => (None, id),
            _ => (None, None),
        };
        let result = self.machine.handle_packet(packet);
        self.take_events(result.is_err());
        if let Some(id) = created.filter(|id| self.machine.is_acknowledged(*id)) {
            self.created(id);
        }
        if let Some(id) = stopped {
            if self.slots.get(&id).is_some_and(|slot| matches!(slot.signal, Signal::Sent(_))) {
                self.set_timer(id, Instant::now() + self.limits.late_records, Signal::Acknowledged);
            }
            self.settle(id);
        }
        result
    }

    /// Takes what the state machine has to tell.
    pub(super) fn take_events(&mut self, has_failed: bool) {
        while let Some((event, size)) = self.machine.poll_sized_event() {
            // Pipelines of a connection that has failed learn that instead of a state that the server never sent.
            let made_up = matches!(
                &event,
                Event::Pipeline { event: PipelineEvent::State(info), .. } if info.state == PipelineState::Failed
            );
            if !(has_failed && made_up) {
                self.dispatch(event, size);
            }
        }
    }

    fn dispatch(&mut self, event: Event, size: usize) {
        match event {
            Event::Pipeline { id, event } => self.take_of_pipeline(id, event, size),
            Event::HostCall { pipeline, call } => {
                // What is stopped because nobody needs it calls nobody.
                let is_dropped = |id| self.slots.get(&id).is_none_or(|slot| slot.is_dropped);
                if self.is_closing || pipeline.is_some_and(is_dropped) {
                    return;
                }
                let slot = pipeline.and_then(|id| self.slots.get(&id));
                let after = slot.map_or(0, |slot| slot.pushed);
                if self.calls.push(pipeline, call, size, after, &mut self.machine) {
                    self.keep(size);
                }
            }
            Event::RequestCompleted { call_id, availability } => {
                if let Some(answer) = self.answers.remove(&call_id) {
                    // Nobody waits any more if this fails.
                    let _ = answer.send(availability);
                }
            }
            Event::State(info) => self.take_state(info),
            Event::UserEvent(event) => {
                let count = self.subscribers.push_event(event, size);
                self.keep(size * count);
            }
            Event::KeyExchanged => self.has_changed = true,
            // The state machine keeps the rest.
            _ => {}
        }
    }

    fn take_state(&mut self, info: RunspacePoolStateInfo) {
        self.has_changed = true;
        let message = info.error.as_ref().and_then(|record| record.message());
        self.reason = message.map(|text| remote_text(&text.to_str_lossy()));
        self.subscribers.push_state(info);
    }

    /// Why the pool is closed or broken, as far as the server has told it.
    pub(super) fn end_of_pool(&self) -> Error {
        let what = match self.machine.state() {
            RunspacePoolState::Broken => "the server says that the pool is broken",
            _ => "the server has closed the pool",
        };
        match &self.reason {
            Some(reason) => Error::with(Kind::Closed, format!("{what}: {reason}")),
            None => Error::with(Kind::Closed, what),
        }
    }

    fn take_of_pipeline(&mut self, id: Uuid, event: PipelineEvent, size: usize) {
        let is_closing = self.is_closing;
        let Some(slot) = self.slots.get_mut(&id) else { return };
        match event {
            PipelineEvent::Closed => {
                slot.is_gone = true;
                self.has_changed = true;
                self.remove_if_done(id);
            }
            PipelineEvent::State(info) if is_terminal(info.state) => {
                // What scripts have told the host comes before their end.
                slot.last = Some((PipelineEvent::State(info), size));
                let given_up = self.calls.cancel(Some(id));
                self.release(given_up);
                if !self.calls.is_busy(Some(id)) {
                    self.finish(id);
                }
                self.settle(id);
            }
            _ if slot.is_dropped || is_closing => {}
            event => {
                if let PipelineEvent::State(info) = &event {
                    slot.state = info.state;
                }
                slot.push(event, size);
                self.keep(size);
            }
        }
    }

    /// Hands out the last event of a pipeline, now that the host has done everything.
    pub(super) fn finish(&mut self, id: Uuid) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let Some((event, size)) = slot.last.take() else { return };
        if let PipelineEvent::State(info) = &event {
            slot.state = info.state;
        }
        slot.is_over = true;
        self.has_changed = true;
        if !slot.is_dropped {
            slot.push(event, size);
            self.keep(size);
        }
    }
}
