//! Session state shared by the handles and the connection task, and its lock.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use uuid::Uuid;

use super::host_calls::HostCallQueues;
use super::options::ClientLimits;
use super::pool_events::Subscribers;
use crate::client::{ClientPool, PipelineEvent};
use crate::error::{Error, Kind};
use crate::io::task::wake;
use crate::link::SizedQueue;
use crate::message::{Availability, PipelineState, RunspacePoolState};

/// Factor on `max_buffered_bytes` while a caller waits for a pipeline to stop.
const STOPPING_BUFFER_FACTOR: usize = 8;

/// Session state and its lock, which is never held across an await.
pub(super) struct SharedSession {
    state: Mutex<SessionState>,
    /// Notified of every change that [`SharedSession::wait_until`] may wait for.
    changed: Notify,
    pub(super) limits: ClientLimits,
    pub(super) ordered_host: bool,
}

pub(super) struct SessionState {
    pub(super) machine: ClientPool,
    pub(super) limits: ClientLimits,
    task_waker: Option<Waker>,
    pub(super) slots: HashMap<Uuid, PipelineSlot>,
    pub(super) responses: HashMap<i64, oneshot::Sender<Availability>>,
    pub(super) subscribers: Subscribers,
    pub(super) calls: HostCallQueues,
    /// Bytes of unread events.
    pub(super) buffered: usize,
    /// Whether reading is paused because of `max_buffered_bytes`.
    is_read_paused: bool,
    /// Number of callers that wait for a pipeline to stop.
    pub(super) stopping: usize,
    /// Deadlines of [`StopState`]s. An entry whose deadline is no longer the pipeline's is ignored.
    timers: BTreeSet<(Instant, Uuid)>,
    pub(super) is_closing: bool,
    /// Pipelines of a connected pool that the transport has not been told about.
    pub(super) adopted: Vec<Uuid>,
    /// Pending disconnect or reconnect, and the sender of its result.
    pub(super) connection_change: Option<(ConnectionChange, oneshot::Sender<Result<(), Error>>)>,
    /// Whether [`SharedSession::changed`] has to be notified.
    pub(super) needs_notify: bool,
    /// Callers that wait for room in the send queue: the pipeline, `None` to start one.
    waiting_for_room: HashSet<Option<Uuid>>,
    pub(super) reason: Option<Box<str>>,
    pub(super) ended: Option<SessionOutcome>,
}

/// Request to the transport besides sending packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionChange {
    Disconnect,
    Reconnect,
}

pub(super) struct SessionOutcome {
    /// Whether the session ended because the pool was closed; otherwise it failed.
    pub(super) is_closed: bool,
    pub(super) error: Error,
}

impl SharedSession {
    pub(super) fn new(
        machine: ClientPool,
        limits: ClientLimits,
        calls: HostCallQueues,
        ordered_host: bool,
    ) -> Arc<Self> {
        let state = SessionState {
            machine,
            limits,
            task_waker: None,
            slots: HashMap::new(),
            responses: HashMap::new(),
            subscribers: Subscribers::default(),
            calls,
            buffered: 0,
            is_read_paused: false,
            stopping: 0,
            timers: BTreeSet::new(),
            is_closing: false,
            adopted: Vec::new(),
            connection_change: None,
            needs_notify: false,
            waiting_for_room: HashSet::new(),
            reason: None,
            ended: None,
        };
        Arc::new(Self { state: Mutex::new(state), changed: Notify::new(), limits, ordered_host })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SessionState> {
        // No caller's code runs, and can panic, while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies waiting tasks if the state has changed.
    pub(super) fn notify_waiters(&self, mut state: MutexGuard<'_, SessionState>) {
        let has_room = state.waiting_for_room.iter().any(|pipeline| state.has_send_room(*pipeline));
        if has_room {
            state.waiting_for_room.clear();
        }
        if std::mem::take(&mut state.needs_notify) || has_room {
            drop(state);
            self.changed.notify_waiters();
        }
    }

    pub(super) async fn wait_until<T>(&self, mut check: impl FnMut(&mut SessionState) -> Option<T>) -> T {
        // Usually there is nothing to wait for: avoid registering with `changed`.
        if let Some(found) = check(&mut self.lock()) {
            return found;
        }
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(found) = check(&mut self.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// Waits until a message may be queued, or the session or pipeline has ended.
    pub(super) async fn wait_for_room(&self, pipeline: Option<Uuid>) {
        self.wait_until(|state| {
            let is_over = |id| state.slots.get(&id).is_none_or(|slot: &PipelineSlot| slot.is_over);
            if state.ended.is_some() || state.has_send_room(pipeline) || pipeline.is_some_and(is_over) {
                return Some(());
            }
            state.waiting_for_room.insert(pipeline);
            None
        })
        .await;
    }

    /// Ends the session and wakes all waiting tasks.
    pub(super) fn end(&self, result: Result<(), Error>) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        let (is_closed, error) = match result {
            Ok(()) => (true, Error::with(Kind::Closed, "the pool was closed")),
            Err(error) => (false, to_closed_error(error)),
        };
        state.ended = Some(SessionOutcome { is_closed, error });
        state.task_waker = None;
        state.responses.clear();
        state.connection_change = None;
        state.calls.clear();
        state.subscribers.wake();
        let mut waiting: Vec<_> = state.slots.iter_mut().filter(|(_, slot)| slot.waker.is_some()).collect();
        // Simulations repeat the order.
        waiting.sort_unstable_by_key(|(id, _)| **id);
        let wakers: Vec<_> = waiting.into_iter().filter_map(|(_, slot)| slot.waker.take()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }
}

/// Converts the error that ended a connection to [`Kind::Closed`].
fn to_closed_error(error: Error) -> Error {
    if error.is_closed() { error } else { Error::with(Kind::Closed, error.to_string()).caused_by(error) }
}

/// Fails with [`Error::is_timeout`] if `future` takes longer than `time`.
pub(super) async fn within<T>(
    time: Duration,
    what: &'static str,
    future: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match tokio::time::timeout(time, future).await {
        Ok(result) => result,
        Err(_) => Err(Error::with(Kind::Timeout, what)),
    }
}

impl SessionState {
    pub(super) fn check_alive(&self) -> Result<(), Error> {
        self.ended.as_ref().map_or(Ok(()), |ended| Err(ended.error.duplicate()))
    }

    pub(super) fn check_usable(&self, action: &str) -> Result<(), Error> {
        self.check_alive()?;
        if self.is_closing {
            return Err(crate::link::invalid_state(action, "pool", RunspacePoolState::Closing));
        }
        Ok(())
    }

    /// Returns whether a message of a pipeline may be queued. One per pipeline always may: those of other pipelines can
    /// remain in the queue until this one has ended, because they wait for its runspace.
    fn has_send_room(&self, pipeline: Option<Uuid>) -> bool {
        self.machine.pending_bytes() <= self.limits.max_pending_bytes
            || (pipeline.is_some() && self.machine.pending_bytes_of(pipeline) == 0)
    }

    pub(super) fn wake_task(&mut self) {
        wake(&mut self.task_waker);
    }

    /// Registers the waker of the connection task. Returns the pending connection change.
    pub(super) fn register_waker(&mut self, waker: &Waker) -> Option<ConnectionChange> {
        self.task_waker.get_or_insert_with(|| waker.clone()).clone_from(waker);
        self.connection_change.as_ref().map(|(change, _)| *change)
    }

    pub(super) fn remove_buffered(&mut self, size: usize) {
        self.buffered -= size;
        if self.is_read_paused && self.buffered <= self.limits.max_buffered_bytes / 2 {
            self.is_read_paused = false;
            self.wake_task();
        }
    }

    /// Returns whether the session may read. While a caller waits for a stop, the limit is higher, because the server's
    /// acknowledgement is behind the output that it has queued. The higher limit does not apply while the stop signal is
    /// delayed: a fast server would use it up. While the pool closes there is no limit, because output is dropped, nor
    /// while it disconnects, because the transport requests no more.
    pub(super) fn may_read(&mut self) -> bool {
        if matches!(self.machine.state(), RunspacePoolState::Closed | RunspacePoolState::Broken) {
            return false;
        }
        let max = self.limits.max_buffered_bytes;
        self.is_read_paused = self.is_read_paused || self.buffered > max;
        !self.is_read_paused
            || self.is_closing
            || self.connection_change.is_some()
            || (self.buffered <= max.saturating_mul(STOPPING_BUFFER_FACTOR) && self.awaits_stop())
    }

    /// Returns whether a caller waits for a stop whose next step is up to the server.
    fn awaits_stop(&self) -> bool {
        self.stopping > 0 && self.slots.values().any(|slot| slot.stop_state.awaits_server())
    }

    /// Stops, or closes once stopped, a pipeline that has ended or that no handle needs.
    pub(super) fn close_if_unneeded(&mut self, id: Uuid) {
        let is_closing = self.is_closing;
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let is_done = slot.is_over || slot.last_event.is_some();
        if slot.is_closing || slot.is_closed || !(is_done || slot.is_dropped || is_closing) {
            return;
        }
        let Ok(mut pipeline) = self.machine.pipeline(id) else { return };
        match pipeline.state() {
            PipelineState::Running => self.stop(id),
            // The stop was sent: close after its acknowledgement.
            _ if matches!(slot.stop_state, StopState::Sent(_)) => {}
            _ => {
                slot.is_closing = pipeline.close().is_ok();
                if slot.is_closing {
                    self.wake_task();
                }
            }
        }
    }

    pub(super) fn close_unneeded(&mut self) {
        let mut all: Vec<_> = self.slots.keys().copied().collect();
        // Simulations repeat the order.
        all.sort_unstable();
        all.into_iter().for_each(|id| self.close_if_unneeded(id));
    }

    /// Requests the stop of a running pipeline. The signal is delayed until [`ClientLimits::stop_delay`] after the
    /// acknowledged creation, because PowerShell cannot stop a script that was signalled while it was starting.
    pub(super) fn stop(&mut self, id: Uuid) {
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.stop_state == StopState::NotRequested)
        else {
            return;
        };
        slot.stop_state = StopState::AwaitingCreation;
        if let Some(created) = slot.created {
            self.set_timer(id, created + self.limits.stop_delay, StopState::Scheduled);
        }
        self.wake_task();
    }

    pub(super) fn record_creation(&mut self, id: Uuid) {
        let now = Instant::now();
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.created.is_none()) else { return };
        slot.created = Some(now);
        if slot.stop_state == StopState::AwaitingCreation {
            self.set_timer(id, now + self.limits.stop_delay, StopState::Scheduled);
        }
    }

    pub(super) fn set_timer(&mut self, id: Uuid, deadline: Instant, stop_state: fn(Instant) -> StopState) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.stop_state = stop_state(deadline);
            self.timers.insert((deadline, id));
        }
    }

    /// Handles expired timers and returns the next deadline.
    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        let now = Instant::now();
        while let Some(&(deadline, id)) = self.timers.first() {
            if deadline > now {
                return Some(deadline);
            }
            self.timers.pop_first();
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            let Ok(mut pipeline) = self.machine.pipeline(id) else { continue };
            match slot.stop_state {
                StopState::Scheduled(time) if time == deadline => {
                    slot.stop_state = StopState::NotRequested;
                    if pipeline.state() == PipelineState::Running && pipeline.stop().is_ok() {
                        self.set_timer(id, now + self.limits.stop_timeout, StopState::Sent);
                        self.wake_task();
                    }
                }
                StopState::Sent(time) if time == deadline => slot.stop_state = StopState::Done,
                StopState::Acknowledged(time) if time == deadline => {
                    slot.stop_state = StopState::Done;
                    // Fails if the server has sent a state, which then stands.
                    let _ = pipeline.end_without_state();
                    self.dispatch_events(false);
                }
                _ => continue,
            }
            self.close_if_unneeded(id);
        }
        None
    }

    /// Removes a pipeline that has no handle and that the server has closed.
    pub(super) fn remove_if_done(&mut self, id: Uuid) {
        if self.slots.get(&id).is_some_and(|slot| slot.is_dropped && slot.is_closed) {
            self.slots.remove(&id);
        }
    }
}

#[cfg(test)]
impl super::Session {
    /// Returns the bytes of unread events, and of unsent messages.
    pub(in crate::io) fn queued_bytes(&self) -> (usize, usize) {
        let state = self.shared().lock();
        (state.buffered, state.machine.pending_bytes())
    }
}

/// Per-pipeline state of a session.
#[derive(Default)]
pub(super) struct PipelineSlot {
    /// Unread events.
    pub(super) events: SizedQueue<PipelineEvent>,
    /// Number of events received, read, and read when the reader last polled for another one.
    pub(super) received: u64,
    pub(super) read: u64,
    pub(super) processed: u64,
    /// Waker of the reader.
    pub(super) waker: Option<Waker>,
    /// State reported by the last delivered event.
    pub(super) state: PipelineState,
    pub(super) stop_state: StopState,
    /// Time of the acknowledged creation.
    pub(super) created: Option<Instant>,
    /// Last event, withheld until the preceding host calls have completed.
    pub(super) last_event: Option<(PipelineEvent, usize)>,
    /// The last event was delivered.
    pub(super) is_over: bool,
    pub(super) is_dropped: bool,
    /// The server was asked to close the pipeline.
    pub(super) is_closing: bool,
    pub(super) is_closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StopState {
    #[default]
    NotRequested,
    /// Requested; the signal is sent after the acknowledged creation.
    AwaitingCreation,
    /// The signal is sent at this time.
    Scheduled(Instant),
    /// The signal was sent; deadline of the acknowledgement.
    Sent(Instant),
    /// Acknowledged. If no state arrives by this time, the pipeline counts as stopped.
    Acknowledged(Instant),
    /// Stopped or timed out; nothing more is expected.
    Done,
}

impl StopState {
    /// Returns whether the next step is up to the server.
    pub(super) fn awaits_server(self) -> bool {
        matches!(self, Self::AwaitingCreation | Self::Sent(_) | Self::Acknowledged(_))
    }
}

impl PipelineSlot {
    pub(super) fn new(state: PipelineState) -> Self {
        Self { state, ..Self::default() }
    }

    pub(super) fn push(&mut self, event: PipelineEvent, size: usize) {
        self.received += 1;
        self.events.push(event, size);
        wake(&mut self.waker);
    }
}

pub(super) fn is_terminal(state: PipelineState) -> bool {
    matches!(state, PipelineState::Completed | PipelineState::Failed | PipelineState::Stopped)
}
