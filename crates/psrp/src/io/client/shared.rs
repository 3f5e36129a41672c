//! What the handles of a session share with its driver.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use uuid::Uuid;

use super::hosting::Calls;
use super::options::Limits;
use super::pool_events::Subscribers;
use super::slot::{Signal, Slot};
use crate::client::RunspacePool;
use crate::error::{Error, Kind};
use crate::message::{Availability, PipelineState, RunspacePoolState};

/// How many times as much may be buffered while somebody waits for a pipeline to stop.
const WHILE_STOPPING: usize = 8;

/// The state of a session behind its lock, which nobody holds while waiting.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Something happened that [`Shared::wait_until`] may wait for.
    changed: Notify,
    pub(super) limits: Limits,
}

pub(super) struct State {
    pub(super) machine: RunspacePool,
    pub(super) limits: Limits,
    /// The driver, while it waits.
    driver: Option<Waker>,
    pub(super) slots: HashMap<Uuid, Slot>,
    pub(super) answers: HashMap<i64, oneshot::Sender<Availability>>,
    pub(super) subscribers: Subscribers,
    pub(super) calls: Calls,
    /// Bytes of events that wait to be taken.
    buffered: usize,
    /// Whether reading waits until less is buffered.
    is_paused: bool,
    /// How many wait for a pipeline to stop, which may need that more is read.
    pub(super) stopping: usize,
    /// When the [`Signal`] of a pipeline is due. Those that it does not have any more do nothing.
    timers: BTreeSet<(Instant, Uuid)>,
    pub(super) is_closing: bool,
    /// Pipelines that the transport is to be told of.
    pub(super) adopted: Vec<Uuid>,
    /// What the transport is to do besides sending.
    pub(super) detour: Option<(Detour, oneshot::Sender<Result<(), Error>>)>,
    /// Whether somebody is to be told by [`Shared::changed`].
    pub(super) has_changed: bool,
    is_waiting_for_room: bool,
    /// The reason of the server's last change of the pool's state.
    pub(super) reason: Option<Box<str>>,
    pub(super) ended: Option<Ended>,
}

/// What a transport does instead of carrying packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detour {
    Disconnect,
    Reconnect,
}

/// How a session has ended.
pub(super) struct Ended {
    /// Whether it was closed as it should.
    pub(super) is_closed: bool,
    error: Error,
}

impl Ended {
    pub(super) fn error(&self) -> Error {
        self.error.duplicate()
    }
}

impl Shared {
    pub(super) fn new(machine: RunspacePool, limits: Limits, calls: Calls) -> Arc<Self> {
        let state = State {
            machine,
            limits,
            driver: None,
            slots: HashMap::new(),
            answers: HashMap::new(),
            subscribers: Subscribers::default(),
            calls,
            buffered: 0,
            is_paused: false,
            stopping: 0,
            timers: BTreeSet::new(),
            is_closing: false,
            adopted: Vec::new(),
            detour: None,
            has_changed: false,
            is_waiting_for_room: false,
            reason: None,
            ended: None,
        };
        Arc::new(Self { state: Mutex::new(state), changed: Notify::new(), limits })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of a caller's code can't happen while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who wait if there is something to tell.
    pub(super) fn tell(&self, mut state: MutexGuard<'_, State>) {
        let has_room = state.is_waiting_for_room && state.has_room();
        if has_room {
            state.is_waiting_for_room = false;
        }
        if std::mem::take(&mut state.has_changed) || has_room {
            drop(state);
            self.changed.notify_waiters();
        }
    }

    /// Waits until `check` finds what it looks for.
    pub(super) async fn wait_until<T>(&self, mut check: impl FnMut(&mut State) -> Option<T>) -> T {
        // Those who ask for room mostly find it.
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

    /// Waits until not too much is to be sent any more, or the session or pipeline has ended.
    pub(super) async fn room(&self, pipeline: Option<Uuid>) {
        self.wait_until(|state| {
            let is_over = |id| state.slots.get(&id).is_none_or(|slot: &Slot| slot.is_over);
            let found = state.ended.is_some() || state.has_room() || pipeline.is_some_and(is_over);
            state.is_waiting_for_room |= !found;
            found.then_some(())
        })
        .await;
    }

    /// Ends the session; those who wait for something learn of it.
    pub(super) fn end(&self, result: Result<(), Error>) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        let (is_closed, error) = match result {
            Ok(()) => (true, Error::with(Kind::Closed, "the pool was closed")),
            Err(error) => (false, closed_by(error)),
        };
        state.ended = Some(Ended { is_closed, error });
        state.driver = None;
        state.answers.clear();
        state.detour = None;
        state.calls.clear();
        state.subscribers.end();
        let wakers: Vec<_> = state.slots.values_mut().filter_map(|slot| slot.waker.take()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }
}

/// The error of everything that waits for a connection that has failed.
fn closed_by(error: Error) -> Error {
    if error.is_closed() { error } else { Error::with(Kind::Closed, error.to_string()).caused_by(error) }
}

/// Fails with [`Error::is_timeout`] if something takes too long.
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

impl State {
    /// Fails if the session has ended.
    pub(super) fn alive(&self) -> Result<(), Error> {
        self.ended.as_ref().map_or(Ok(()), |ended| Err(ended.error()))
    }

    /// Fails if the session has ended or is being closed.
    pub(super) fn usable(&self, action: &str) -> Result<(), Error> {
        self.alive()?;
        if self.is_closing {
            return Err(crate::link::invalid_state(action, "pool", RunspacePoolState::Closing));
        }
        Ok(())
    }

    pub(super) fn has_room(&self) -> bool {
        self.machine.pending_bytes() <= self.limits.max_pending_bytes
    }

    pub(super) fn wake_driver(&mut self) {
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }

    /// Remembers whom to wake, and tells what the transport is to do besides sending.
    pub(super) fn begin_turn(&mut self, waker: &Waker) -> Option<Detour> {
        if !self.driver.as_ref().is_some_and(|own| own.will_wake(waker)) {
            self.driver = Some(waker.clone());
        }
        self.detour.as_ref().map(|(detour, _)| *detour)
    }

    /// Counts an event that waits to be taken.
    pub(super) fn keep(&mut self, size: usize) {
        self.buffered += size;
    }

    /// Counts an event that was taken or dropped.
    pub(super) fn release(&mut self, size: usize) {
        self.buffered -= size;
        if self.is_paused && self.buffered <= self.limits.max_buffered_bytes / 2 {
            self.is_paused = false;
            self.wake_driver();
        }
    }

    /// Whether more may be read. While somebody waits for a pipeline to stop more may be buffered, because the answer comes
    /// behind the output that the server has queued. Not before the stop is sent: a fast server would fill that room as
    /// well. When the pool closes, output is dropped anyway.
    pub(super) fn may_read(&mut self) -> bool {
        if matches!(self.machine.state(), RunspacePoolState::Closed | RunspacePoolState::Broken) {
            return false;
        }
        let max = self.limits.max_buffered_bytes;
        self.is_paused = self.is_paused || self.buffered > max;
        !self.is_paused
            || self.is_closing
            || (self.buffered <= max.saturating_mul(WHILE_STOPPING) && self.awaits_stop())
    }

    /// Whether a caller waits for a pipeline to stop, and the next step of that is an answer of the server.
    fn awaits_stop(&self) -> bool {
        self.stopping > 0 && self.slots.values().any(|slot| slot.signal.awaits_server())
    }

    /// Stops and closes a pipeline that nobody needs any more, as far as that is possible now.
    pub(super) fn settle(&mut self, id: Uuid) {
        let is_closing = self.is_closing;
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let is_done = slot.is_over || slot.last.is_some();
        if slot.is_closing || slot.is_gone || !(is_done || slot.is_dropped || is_closing) {
            return;
        }
        let Ok(mut pipeline) = self.machine.pipeline(id) else { return };
        match pipeline.state() {
            PipelineState::Running => {
                self.stop(id);
            }
            // The server is to close what it has stopped.
            _ if matches!(slot.signal, Signal::Sent(_)) => return,
            _ => slot.is_closing = pipeline.close().is_ok(),
        }
        self.wake_driver();
    }

    /// Does that for all pipelines.
    pub(super) fn settle_all(&mut self) {
        let all: Vec<_> = self.slots.keys().copied().collect();
        all.into_iter().for_each(|id| self.settle(id));
    }

    /// Stops a pipeline that runs. The signal follows [`Limits::stop_delay`] after the acknowledged creation: PowerShell
    /// can't stop a script any more that was stopped while it was being started.
    pub(super) fn stop(&mut self, id: Uuid) {
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.signal == Signal::None) else { return };
        slot.signal = Signal::Wanted;
        if let Some(created) = slot.created {
            self.set_timer(id, created + self.limits.stop_delay, Signal::Delayed);
        }
    }

    /// Remembers when the creation of a pipeline was acknowledged.
    pub(super) fn created(&mut self, id: Uuid) {
        let now = Instant::now();
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.created.is_none()) else { return };
        slot.created = Some(now);
        if slot.signal == Signal::Wanted {
            self.set_timer(id, now + self.limits.stop_delay, Signal::Delayed);
        }
    }

    pub(super) fn set_timer(&mut self, id: Uuid, deadline: Instant, signal: fn(Instant) -> Signal) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.signal = signal(deadline);
            self.timers.insert((deadline, id));
        }
    }

    /// Does what is due, and tells when to look again.
    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        let now = Instant::now();
        while let Some(&(deadline, id)) = self.timers.first() {
            if deadline > now {
                return Some(deadline);
            }
            self.timers.pop_first();
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            let Ok(mut pipeline) = self.machine.pipeline(id) else { continue };
            match slot.signal {
                Signal::Delayed(own) if own == deadline => {
                    slot.signal = Signal::None;
                    if pipeline.state() == PipelineState::Running && pipeline.stop().is_ok() {
                        self.set_timer(id, now + self.limits.stop_timeout, Signal::Sent);
                        self.wake_driver();
                    }
                }
                Signal::Sent(own) if own == deadline => slot.signal = Signal::Done,
                Signal::Acknowledged(own) if own == deadline => {
                    slot.signal = Signal::Done;
                    // It fails if there was a state.
                    let _ = pipeline.end_without_state();
                    self.take_events(false);
                }
                _ => continue,
            }
            self.settle(id);
        }
        None
    }

    /// Forgets a pipeline that neither a handle nor the server knows any more.
    pub(super) fn remove_if_done(&mut self, id: Uuid) {
        if self.slots.get(&id).is_some_and(|slot| slot.is_dropped && slot.is_gone) {
            self.slots.remove(&id);
        }
    }
}
