//! State shared by a server connection, its pipelines and their input streams.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::{Error, Kind};
use crate::host::{HostOutcome, HostRequest, HostResponse, HostResult};
use crate::io::task::wake;
use crate::link::SizedQueue;
use crate::record::ErrorRecord;
use crate::server::{self, ServerPool};
use crate::value::Value;

/// Factors on the limit of unread input at which the server stops reading: for a client that sends without waiting for
/// acknowledgements, and for others.
const MAX_INPUT_FACTOR: usize = 4;
const MAX_ACKNOWLEDGED_FACTOR: usize = 64;

/// One run of a pipeline. A client can reuse the identifier of a pipeline for another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PipelineRun {
    pub(super) id: Uuid,
    pub(super) number: u64,
}

#[derive(Default)]
pub(super) struct RunState {
    pub(super) number: u64,
    pub(super) stop: Arc<StopRequest>,
    /// Ends the handler at once.
    pub(super) aborted: CancellationToken,
    input: SizedQueue<Value>,
    input_ended: bool,
    reader: Option<Waker>,
    /// The acknowledgement of input is withheld until the handler has read some.
    is_ack_withheld: bool,
}

impl RunState {
    pub(super) fn new(number: u64, has_input: bool) -> Self {
        Self { number, input_ended: !has_input, ..Self::default() }
    }

    fn end(mut self) {
        self.aborted.cancel();
        wake(&mut self.reader);
    }
}

pub(super) struct ServerState {
    pub(super) pool: ServerPool,
    pub(super) runs: HashMap<Uuid, RunState>,
    /// Pending host calls by call identifier, which is unique in a pool.
    calls: HashMap<i64, (Option<PipelineRun>, oneshot::Sender<HostResponse>)>,
    pub(super) acknowledgements: VecDeque<Option<Uuid>>,
    input_bytes: usize,
    max_input: usize,
    /// The client has sent input without waiting for the acknowledgement before it.
    ignores_acks: bool,
    connection_waker: Option<Waker>,
    has_ended: bool,
}

pub(super) struct SharedServerState {
    state: Mutex<ServerState>,
    /// Notifies writers that there may be room.
    send_room: Notify,
    max_unsent: usize,
}

impl SharedServerState {
    pub(super) fn new(pool: ServerPool, max_unsent: usize, max_input: usize) -> Self {
        let state = ServerState {
            pool,
            runs: HashMap::new(),
            calls: HashMap::new(),
            acknowledgements: VecDeque::new(),
            input_bytes: 0,
            max_input,
            ignores_acks: false,
            connection_waker: None,
            has_ended: false,
        };
        Self { state: Mutex::new(state), send_room: Notify::new(), max_unsent }
    }

    /// Locks the state without waking the connection.
    pub(super) fn lock(&self) -> MutexGuard<'_, ServerState> {
        // The state is consistent between calls of the state machine, so a poisoned lock is no problem.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the connection.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut ServerState) -> T) -> T {
        let mut state = self.lock();
        let result = work(&mut state);
        let mut waker = state.connection_waker.take();
        drop(state);
        wake(&mut waker);
        result
    }

    /// Waits for room, then writes.
    pub(super) async fn write<T>(
        &self,
        run: Option<PipelineRun>,
        write: impl FnOnce(&mut ServerState) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut write = Some(write);
        let mut attempt = || {
            let mut state = self.lock();
            if let Err(error) = state.check_open(run) {
                return Some(Err(error));
            }
            if state.pool.pending_bytes() > self.max_unsent {
                return None;
            }
            let result = write.take().map(|write| write(&mut state));
            let mut waker = state.connection_waker.take();
            drop(state);
            wake(&mut waker);
            result
        };
        loop {
            if let Some(result) = attempt() {
                return result;
            }
            // Check again: a notification between the first attempt and this line is lost.
            let notified = self.send_room.notified();
            if let Some(result) = attempt() {
                return result;
            }
            notified.await;
        }
    }

    pub(super) async fn write_to_pipeline(
        &self,
        run: PipelineRun,
        write: impl FnOnce(&mut server::ServerPipeline<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.write(Some(run), |state| write(&mut state.pool.pipeline(run.id)?)).await
    }

    /// Calls a method of the host and waits for the result, if the method has one.
    pub(super) async fn call(
        &self,
        run: Option<PipelineRun>,
        request: HostRequest,
    ) -> Result<HostResult, Box<ErrorRecord>> {
        let response = self
            .write(run, |state| {
                let number = match run {
                    Some(run) => state.pool.pipeline(run.id)?.host_call(&request)?,
                    None => state.pool.host_call(&request)?,
                };
                Ok(number.map(|number| {
                    let (sender, receiver) = oneshot::channel();
                    state.calls.retain(|_, (_, sender)| !sender.is_closed());
                    state.calls.insert(number, (run, sender));
                    if let Some(run) = run {
                        state.release_ack(run);
                    }
                    receiver
                }))
            })
            .await?;
        let Some(response) = response else { return Ok(HostResult::Nothing) };
        let response = response.await.map_err(|_| {
            let limit = || Error::with(Kind::Limit, "input before the response to a host call");
            self.lock().check_open(run).err().unwrap_or_else(limit)
        })?;
        match response.outcome {
            HostOutcome::Error(record) => Err(record),
            _ => Ok(response.result()?),
        }
    }

    pub(super) fn notify_writers(&self) {
        self.send_room.notify_waiters();
    }

    /// Wakes the waiting writers if the send queue is at most half full, so that they write larger batches.
    pub(super) fn notify_writers_of_room(&self) {
        if self.lock().pool.pending_bytes() <= self.max_unsent / 2 {
            self.notify_writers();
        }
    }

    /// Returns the next input value, or `None` if there is none yet. Wakes the connection if it has to send the
    /// withheld acknowledgement or to resume reading.
    pub(super) fn next_input(&self, run: PipelineRun, waker: &Waker) -> Option<Option<Value>> {
        let mut state = self.lock();
        let (could_read, max_input) = (state.may_read(), state.max_input);
        let run_state = state.runs.get_mut(&run.id).filter(|run_state| run_state.number == run.number);
        let Some(run_state) = run_state else { return Some(None) };
        let Some((value, bytes)) = run_state.input.pop() else {
            if run_state.input_ended {
                return Some(None);
            }
            run_state.reader = Some(waker.clone());
            return None;
        };
        let acknowledge = run_state.is_ack_withheld && run_state.input.bytes() <= max_input / 2;
        if acknowledge {
            run_state.is_ack_withheld = false;
            state.acknowledgements.push_back(Some(run.id));
        }
        state.input_bytes -= bytes;
        let resume = !could_read && state.may_read();
        let mut waker = if acknowledge || resume { state.connection_waker.take() } else { None };
        drop(state);
        wake(&mut waker);
        Some(Some(value))
    }

    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        state.calls.clear();
        let runs = std::mem::take(&mut state.runs);
        state.input_bytes = 0;
        drop(state);
        runs.into_values().for_each(RunState::end);
        self.notify_writers();
    }
}

#[cold]
fn closed_error() -> Error {
    Error::with(Kind::Closed, "the client has closed the pipeline or the session")
}

impl ServerState {
    fn check_open(&self, run: Option<PipelineRun>) -> Result<(), Error> {
        let is_gone = match run {
            _ if self.has_ended => true,
            Some(run) => self.runs.get(&run.id).is_none_or(|run_state| run_state.number != run.number),
            None => false,
        };
        if is_gone { Err(closed_error()) } else { Ok(()) }
    }

    pub(super) fn register(&mut self, waker: &Waker) {
        self.connection_waker.get_or_insert_with(|| waker.clone()).clone_from(waker);
    }

    /// Returns whether reading may continue. For a client that waits for acknowledgements the limit is so high that only
    /// large messages reach it: the input of a running pipeline can be behind that of pipelines that wait for its end.
    pub(super) fn may_read(&self) -> bool {
        let factor = if self.ignores_acks { MAX_INPUT_FACTOR } else { MAX_ACKNOWLEDGED_FACTOR };
        self.input_bytes < self.max_input.saturating_mul(factor)
    }

    pub(super) fn run_state(&mut self, run: PipelineRun) -> Option<&mut RunState> {
        self.runs.get_mut(&run.id).filter(|run_state| run_state.number == run.number)
    }

    pub(super) fn current_run(&self, id: Uuid) -> Option<PipelineRun> {
        self.runs.get(&id).map(|run_state| PipelineRun { id, number: run_state.number })
    }

    /// Removes a run. Sends the acknowledgement that was withheld for unread input.
    pub(super) fn remove(&mut self, run: PipelineRun) {
        if self.run_state(run).is_none() {
            return;
        }
        self.release_ack(run);
        let Some(run_state) = self.runs.remove(&run.id) else { return };
        self.input_bytes -= run_state.input.bytes();
        self.calls.retain(|_, (caller, _)| *caller != Some(run));
        run_state.end();
    }

    /// Acknowledges data, or withholds the acknowledgement while too much input is unread.
    pub(super) fn acknowledge(&mut self, target: Option<Uuid>) {
        let is_withheld =
            target.and_then(|id| self.current_run(id)).is_some_and(|run| self.withhold_ack(run));
        if !is_withheld {
            self.acknowledgements.push_back(target);
        }
    }

    /// Returns whether the acknowledgement of the last data of a run is withheld.
    fn withhold_ack(&mut self, run: PipelineRun) -> bool {
        let (total, max) = (self.input_bytes, self.max_input);
        let Some(run_state) = self.runs.get_mut(&run.id) else { return false };
        let bytes = run_state.input.bytes();
        if run_state.is_ack_withheld {
            self.ignores_acks = true;
            return false;
        }
        if bytes >= max.saturating_mul(MAX_INPUT_FACTOR) {
            // Their responses are behind more input.
            self.calls.retain(|_, (caller, _)| *caller != Some(run));
        }
        let is_full = bytes > max || (bytes > 0 && total > max.saturating_mul(2));
        let is_call =
            |(caller, sender): &(_, oneshot::Sender<_>)| *caller == Some(run) && !sender.is_closed();
        run_state.is_ack_withheld = is_full && !self.calls.values().any(is_call);
        run_state.is_ack_withheld
    }

    /// Sends the acknowledgement that was withheld for unread input.
    fn release_ack(&mut self, run: PipelineRun) {
        if let Some(run_state) = self.run_state(run)
            && std::mem::take(&mut run_state.is_ack_withheld)
        {
            self.acknowledgements.push_back(Some(run.id));
        }
    }

    /// Queues an input value and its decoded size for the handler. `None` ends the input.
    pub(super) fn push_input(&mut self, id: Uuid, value: Option<(Value, usize)>) {
        let Some(run_state) = self.runs.get_mut(&id) else { return };
        match value {
            Some((value, bytes)) => {
                run_state.input.push(value, bytes);
                self.input_bytes += bytes;
            }
            None => run_state.input_ended = true,
        }
        wake(&mut run_state.reader);
    }

    pub(super) fn complete_host_call(&mut self, response: HostResponse) {
        if let Some((_, sender)) = self.calls.remove(&response.call_id) {
            // The caller may have dropped its future.
            let _ = sender.send(response);
        }
    }
}

#[cfg(test)]
impl super::Session {
    /// Returns the bytes of unread input, and of unsent messages.
    pub(in crate::io) fn queued_bytes(&self) -> (usize, usize) {
        let state = self.shared.lock();
        (state.input_bytes, state.pool.pending_bytes())
    }
}

/// Request of the client to stop a pipeline.
#[derive(Debug, Default)]
pub(super) struct StopRequest {
    pub(super) token: CancellationToken,
    /// The handler ends by itself.
    pub(super) is_handled: AtomicBool,
}

impl StopRequest {
    /// Waits until the handler has to be dropped: on request, or after `timeout` if it ends by itself.
    pub(super) async fn wait_for_deadline(&self, timeout: Duration) {
        self.token.cancelled().await;
        if self.is_handled.load(Ordering::Acquire) {
            tokio::time::sleep(timeout).await;
        }
    }
}
