//! Connection task of a client: passes packets between the transport and the state machine, and dispatches its events.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};
use uuid::Uuid;

use super::PoolEvent;
use super::host_calls::run_host_calls;
use super::session_state::{ConnectionChange, SessionState, SharedSession, StopState, is_terminal};
use crate::client::{Event, PipelineEvent};
use crate::error::{Error, Kind};
use crate::io::Transport;
use crate::io::peer_text::peer_text;
use crate::message::{PipelineState, RunspacePoolState, RunspacePoolStateInfo};
use crate::outofproc::Packet;

/// Packets read per poll before writing, and polls before the task yields.
const PACKETS_PER_POLL: usize = 16;

/// After a write fails, how long to keep reading for the peer's error (for example a child's standard error).
const ERROR_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Moves packets between the transport and the state machine until the session ends.
pub(super) struct ConnectionTask<T> {
    transport: T,
    shared: Arc<SharedSession>,
    buffer: Vec<u8>,
    needs_flush: bool,
    /// First write error, and the deadline for reading the peer's reason.
    write_error: Option<(Error, Instant)>,
    /// The server closed its output after it was asked to close the pool.
    is_eof: bool,
    close_deadline: Option<Instant>,
    timer: Pin<Box<Sleep>>,
    /// One task per queue of host calls that is being served.
    host_calls: JoinSet<()>,
}

impl<T: Transport> ConnectionTask<T> {
    pub(super) fn new(transport: T, shared: Arc<SharedSession>) -> Self {
        Self {
            transport,
            shared,
            buffer: Vec::new(),
            needs_flush: false,
            write_error: None,
            is_eof: false,
            close_deadline: None,
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            host_calls: JoinSet::new(),
        }
    }

    /// Runs until the session ends, then closes the transport.
    pub(super) async fn run(mut self) {
        let mut result = poll_fn(|cx| self.poll_session(cx)).await;
        if result.is_ok() {
            let limit = self.shared.limits.close_timeout;
            let ended = tokio::time::timeout(limit, poll_fn(|cx| self.transport.poll_close(cx))).await;
            result = ended.unwrap_or_else(|_| Err(Error::with(Kind::Timeout, "to close the connection")));
        }
        self.shared.end(result);
    }

    fn poll_session(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        for _ in 0..PACKETS_PER_POLL {
            let change = self.shared.lock().register_waker(cx.waker());
            if let Some(result) = self.poll_lifecycle() {
                return Poll::Ready(result);
            }
            if self.write_error.is_none()
                && let Err(error) = self.write(cx)
            {
                self.write_error = Some((error, Instant::now() + ERROR_DRAIN_TIMEOUT));
            }
            // Pipelines that were started before a disconnect run on the server.
            self.apply_change(change, cx);
            let has_read = self.read(cx)?;
            self.start_host_calls(cx);
            let state = self.shared.lock();
            let is_over =
                matches!(state.machine.state(), RunspacePoolState::Closed | RunspacePoolState::Broken);
            self.shared.notify_waiters(state);
            if is_over {
                continue;
            }
            if !has_read && self.poll_timer(cx).is_pending() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Handles timeouts and changes of the pool's state. Returns `Some` when the session is over.
    fn poll_lifecycle(&mut self) -> Option<Result<(), Error>> {
        use RunspacePoolState::{
            BeforeOpen, Broken, Closed, Closing, Connecting, Disconnected, Opened, Opening,
        };

        if self.is_eof {
            return Some(Ok(()));
        }
        if self.write_error.as_ref().is_some_and(|(_, deadline)| *deadline <= Instant::now()) {
            return self.write_error.take().map(|(error, _)| Err(error));
        }
        let mut state = self.shared.lock();
        // Calls on handles can produce events too.
        state.dispatch_events(false);
        match state.machine.state() {
            Closed if state.is_closing => return Some(Ok(())),
            Closed | Broken => return Some(Err(state.pool_end_error())),
            _ if !state.is_closing => return None,
            // Not open yet, or disconnected: nothing to close.
            BeforeOpen | Opening | Connecting | Disconnected => return Some(Ok(())),
            Opened => {
                state.close_unneeded();
                if state.machine.pipelines().len() == 0 {
                    // Cannot fail: the match excludes the states in which `close` is invalid.
                    let _ = state.machine.close();
                    self.close_deadline = Some(Instant::now() + self.shared.limits.close_timeout);
                } else if self.close_deadline.is_none() {
                    let limits = &self.shared.limits;
                    self.close_deadline = Some(Instant::now() + limits.stop_timeout + limits.close_timeout);
                }
            }
            Closing => {}
            _ => return None,
        }
        let is_late = self.close_deadline.is_some_and(|deadline| deadline <= Instant::now());
        is_late.then(|| Err(Error::with(Kind::Timeout, "to close the pool")))
    }

    /// Writes pending packets until the transport applies backpressure.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let adopted = std::mem::take(&mut self.shared.lock().adopted);
        for pipeline in adopted {
            self.transport.adopt(pipeline)?;
        }
        while let Poll::Ready(ready) = self.transport.poll_ready(cx) {
            ready?;
            let max = self.transport.max_data();
            let packet = self.shared.lock().machine.poll_transmit(max, &mut self.buffer);
            let Some(packet) = packet else { break };
            self.transport.send(packet)?;
            self.needs_flush = true;
        }
        if self.needs_flush
            && let Poll::Ready(flushed) = self.transport.poll_flush(cx)
        {
            flushed?;
            self.needs_flush = false;
        }
        Ok(())
    }

    /// Reads up to [`PACKETS_PER_POLL`] packets. Returns whether any arrived, because they can lead to new output.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let mut may_read = self.shared.lock().may_read();
        for count in 0..PACKETS_PER_POLL {
            if !may_read {
                return Ok(count > 0);
            }
            let received = self.transport.poll_receive(cx, &mut |packet| {
                let mut state = self.shared.lock();
                state.handle_packet(packet)?;
                may_read = state.may_read();
                Ok(())
            });
            match received {
                Poll::Pending => return Ok(count > 0),
                Poll::Ready(Some(Ok(()))) => {}
                Poll::Ready(Some(Err(error))) => return Err(error),
                Poll::Ready(None) => {
                    use RunspacePoolState::{Closed, Closing};
                    // A server may end the connection instead of answering the request to close the pool.
                    self.is_eof = matches!(self.shared.lock().machine.state(), Closed | Closing);
                    let closed = || Error::with(Kind::Closed, "closed by the server");
                    return if self.is_eof { Ok(true) } else { Err(closed()) };
                }
            }
        }
        Ok(true)
    }

    /// Starts a task for each new queue of host calls, and reaps the tasks that have finished.
    fn start_host_calls(&mut self, cx: &mut Context<'_>) {
        let unserved = self.shared.lock().calls.take_unserved();
        for (host, pipeline) in unserved {
            self.host_calls.spawn(run_host_calls(Arc::clone(&self.shared), host, pipeline));
        }
        while let Poll::Ready(Some(_)) = self.host_calls.poll_join_next(cx) {}
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let signal = self.shared.lock().next_deadline();
        let write_error = self.write_error.as_ref().map(|(_, deadline)| *deadline);
        let next = [signal, write_error, self.close_deadline].into_iter().flatten().min();
        let Some(next) = next else { return Poll::Pending };
        if self.timer.deadline() != next {
            self.timer.as_mut().reset(next);
        }
        self.timer.as_mut().poll(cx)
    }

    /// Disconnects or reconnects the pool if a handle asked for it.
    fn apply_change(&mut self, change: Option<ConnectionChange>, cx: &mut Context<'_>) {
        let done = match change {
            None => return,
            Some(ConnectionChange::Disconnect) => self.transport.poll_disconnect(cx),
            Some(ConnectionChange::Reconnect) => self.transport.poll_reconnect(cx),
        };
        let Poll::Ready(result) = done else { return };
        let mut state = self.shared.lock();
        let Some((change, waiting)) = state.connection_change.take() else { return };
        let result = result.and_then(|()| match change {
            ConnectionChange::Disconnect => state.machine.disconnect(),
            ConnectionChange::Reconnect => state.machine.reconnect(),
        });
        // Pipelines may have been dropped while the transport was busy.
        state.close_unneeded();
        // The caller may have dropped its future.
        let _ = waiting.send(result);
    }
}

/// Ends the session if the task is dropped together with its runtime.
impl<T> Drop for ConnectionTask<T> {
    fn drop(&mut self) {
        self.shared.end(Err(Error::with(Kind::Closed, "the runtime of the session has ended")));
    }
}

impl SessionState {
    fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
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
        while let Some((event, size)) = self.machine.events.pop_with_size() {
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
                    self.buffered += size;
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
        self.buffered += size * count;
    }

    fn handle_pool_state(&mut self, info: RunspacePoolStateInfo) {
        self.needs_notify = true;
        let message = info.error.as_ref().and_then(|record| record.message());
        self.reason = message.map(|text| peer_text(&text.to_str_lossy()));
        // State changes are few and do not count towards the buffer limit.
        self.subscribers.push(&PoolEvent::State(info), 0);
    }

    /// Returns the error of a pool that the server has closed or reported as broken.
    fn pool_end_error(&self) -> Error {
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
                self.buffered += size;
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
            self.buffered += size;
        }
    }
}
