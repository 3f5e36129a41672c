//! What the driver of a session, its pipelines and their inputs have in common.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::stop::Stop;
use crate::error::{Error, Kind};
use crate::host::{HostOutcome, HostRequest, HostResponse, HostResult};
use crate::record::ErrorRecord;
use crate::server::{self, RunspacePool};
use crate::value::Value;

/// A run of a pipeline. A client may use an identifier again, for another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) id: Uuid,
    pub(super) number: u64,
}

/// What there is of a run.
pub(super) struct Slot {
    pub(super) number: u64,
    pub(super) stop: Arc<Stop>,
    /// The task, once it runs.
    pub(super) task: Option<AbortHandle>,
    input: VecDeque<(Value, usize)>,
    input_bytes: usize,
    input_ended: bool,
    reader: Option<Waker>,
    /// Whether the client waits for an acknowledgement until the handler has read.
    is_withheld: bool,
    /// Whether something waits for the key.
    is_parked: bool,
}

impl Slot {
    pub(super) fn new(number: u64, has_input: bool) -> Self {
        Self {
            number,
            stop: Arc::default(),
            task: None,
            input: VecDeque::new(),
            input_bytes: 0,
            input_ended: !has_input,
            reader: None,
            is_withheld: false,
            is_parked: false,
        }
    }
}

pub(super) struct State {
    pub(super) pool: RunspacePool,
    slots: HashMap<Uuid, Slot>,
    /// Who waits for answers of the host, by the number of the call, which no two calls of a pool have.
    calls: HashMap<i64, (Option<Run>, oneshot::Sender<HostResponse>)>,
    /// Data that are to be acknowledged.
    pub(super) acknowledgements: VecDeque<Option<Uuid>>,
    input_bytes: usize,
    driver: Option<Waker>,
    is_over: bool,
}

pub(super) struct Shared {
    state: Mutex<State>,
    /// Tells those who wait with writing that they may look again.
    room: Notify,
    max_unsent: usize,
    max_input: usize,
}

impl Shared {
    pub(super) fn new(pool: RunspacePool, max_unsent: usize, max_input: usize) -> Self {
        let state = State {
            pool,
            slots: HashMap::new(),
            calls: HashMap::new(),
            acknowledgements: VecDeque::new(),
            input_bytes: 0,
            driver: None,
            is_over: false,
        };
        Self { state: Mutex::new(state), room: Notify::new(), max_unsent, max_input }
    }

    /// For the driver, which needs not be woken.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // What a panic has left is a state between two calls of the machine, for it has no other.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something and wakes the driver.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = work(&mut state);
        let driver = state.driver.take();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
        result
    }

    /// Writes something when there is room for it.
    pub(super) async fn write<T>(
        &self,
        run: Option<Run>,
        write: impl FnOnce(&mut State) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut write = Some(write);
        let mut attempt = || {
            let mut state = self.lock();
            if let Err(gone) = state.require(run) {
                return Some(Err(gone));
            }
            if !state.has_room(run, self.max_unsent) {
                return None;
            }
            let result = write.take().map(|write| state.parking(run, write));
            let driver = state.driver.take();
            drop(state);
            if let Some(driver) = driver {
                driver.wake();
            }
            result
        };
        loop {
            if let Some(result) = attempt() {
                return result;
            }
            // It hears of everything that happens from now on, so that is looked at once more.
            let notified = self.room.notified();
            if let Some(result) = attempt() {
                return result;
            }
            notified.await;
        }
    }

    /// Writes something of a pipeline when there is room for it.
    pub(super) async fn write_of(
        &self,
        run: Run,
        write: impl FnOnce(&mut server::Pipeline<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.write(Some(run), |state| write(&mut state.pool.pipeline(run.id)?)).await
    }

    /// Calls a method of the host, and waits for the answer if there is one.
    pub(super) async fn call(
        &self,
        run: Option<Run>,
        request: HostRequest,
    ) -> Result<HostResult, Box<ErrorRecord>> {
        let answer = self
            .write(run, |state| {
                let number = match run {
                    Some(run) => state.pool.pipeline(run.id)?.host_call(&request)?,
                    None => state.pool.host_call(&request)?,
                };
                Ok(number.map(|number| {
                    let (sender, receiver) = oneshot::channel();
                    state.calls.retain(|_, (_, sender)| !sender.is_closed());
                    state.calls.insert(number, (run, sender));
                    receiver
                }))
            })
            .await?;
        let Some(answer) = answer else { return Ok(HostResult::Nothing) };
        let response = answer.await.map_err(|_| gone())?;
        match response.outcome {
            HostOutcome::Error(record) => Err(record),
            _ => Ok(response.result()?),
        }
    }

    /// Tells those who wait that there may be room: much of it, so that they write much at once.
    pub(super) fn tell_room(&self) {
        self.room.notify_waiters();
    }

    /// Whether so little is unsent that those who wait should hear of it.
    pub(super) fn has_much_room(&self, state: &State) -> bool {
        state.pool.pending_bytes() <= self.max_unsent / 2
    }

    /// The next value of the input; the driver is woken if the client or the driver waits for that.
    pub(super) fn next_input(&self, run: Run, waker: &Waker) -> Option<Option<Value>> {
        let (max_input, mut state) = (self.max_input, self.lock());
        let total = state.input_bytes;
        let slot = state.slots.get_mut(&run.id).filter(|slot| slot.number == run.number);
        let Some(slot) = slot else { return Some(None) };
        let Some((value, bytes)) = slot.input.pop_front() else {
            if slot.input_ended {
                return Some(None);
            }
            slot.reader = Some(waker.clone());
            return None;
        };
        slot.input_bytes -= bytes;
        let acknowledge = slot.is_withheld && slot.input_bytes <= max_input / 2;
        if acknowledge {
            slot.is_withheld = false;
            state.acknowledgements.push_back(Some(run.id));
        }
        state.input_bytes = total - bytes;
        let resume = total >= max_input.saturating_mul(4) && state.may_read(max_input);
        let driver = if acknowledge || resume { state.driver.take() } else { None };
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
        Some(Some(value))
    }

    /// Ends everything that waits.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.calls.clear();
        let slots = std::mem::take(&mut state.slots);
        state.input_bytes = 0;
        drop(state);
        slots.into_values().for_each(Slot::end);
        self.tell_room();
    }
}

impl Slot {
    /// Wakes whoever reads from it, and gives up its task.
    fn end(self) {
        if let Some(task) = self.task {
            task.abort();
        }
        if let Some(reader) = self.reader {
            reader.wake();
        }
    }
}

#[cold]
fn gone() -> Error {
    Error::with(Kind::Closed, "the client has closed the pipeline or the session")
}

impl State {
    fn require(&self, run: Option<Run>) -> Result<(), Error> {
        let is_gone = match run {
            _ if self.is_over => true,
            Some(run) => self.slots.get(&run.id).is_none_or(|slot| slot.number != run.number),
            None => false,
        };
        if is_gone { Err(gone()) } else { Ok(()) }
    }

    fn has_room(&self, run: Option<Run>, max_unsent: usize) -> bool {
        let is_parked = |run: Run| self.slots.get(&run.id).is_some_and(|slot| slot.is_parked);
        self.pool.pending_bytes() <= max_unsent && (self.pool.has_key() || !run.is_some_and(is_parked))
    }

    /// Writes, and notes if what was written waits for the key: nothing limits how much of that there is.
    fn parking<T>(
        &mut self,
        run: Option<Run>,
        write: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let before = self.pool.pending_bytes();
        let result = write(self)?;
        if self.pool.pending_bytes() == before
            && let Some(slot) = run.and_then(|run| self.slots.get_mut(&run.id))
        {
            slot.is_parked = true;
        }
        Ok(result)
    }

    /// Registers the waker of the driver.
    pub(super) fn register(&mut self, waker: &Waker) {
        if !self.driver.as_ref().is_some_and(|driver| driver.will_wake(waker)) {
            self.driver = Some(waker.clone());
        }
    }

    pub(super) fn may_read(&self, max_input: usize) -> bool {
        self.input_bytes < max_input.saturating_mul(4)
    }

    pub(super) fn insert(&mut self, id: Uuid, slot: Slot) {
        self.slots.insert(id, slot);
    }

    pub(super) fn slot(&mut self, run: Run) -> Option<&mut Slot> {
        self.slots.get_mut(&run.id).filter(|slot| slot.number == run.number)
    }

    /// The run that a pipeline has now.
    pub(super) fn run(&self, id: Uuid) -> Option<Run> {
        self.slots.get(&id).map(|slot| Run { id, number: slot.number })
    }

    /// Forgets a run, and acknowledges what its handler has not read.
    pub(super) fn remove(&mut self, run: Run) {
        if self.slot(run).is_none() {
            return;
        }
        let Some(slot) = self.slots.remove(&run.id) else { return };
        self.input_bytes -= slot.input_bytes;
        self.calls.retain(|_, (caller, _)| *caller != Some(run));
        if slot.is_withheld {
            self.acknowledgements.push_back(Some(run.id));
        }
        slot.end();
    }

    /// Acknowledges data, unless much input waits.
    pub(super) fn acknowledge(&mut self, target: Option<Uuid>, max_input: usize) {
        match target.and_then(|id| self.slots.get_mut(&id)) {
            Some(slot) if slot.input_bytes > max_input && !slot.is_withheld => slot.is_withheld = true,
            _ => self.acknowledgements.push_back(target),
        }
    }

    /// Hands a value of the input and its decoded size to the handler; `None` is the end.
    pub(super) fn put_input(&mut self, id: Uuid, value: Option<(Value, usize)>) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        match value {
            Some((value, bytes)) => {
                slot.input.push_back((value, bytes));
                slot.input_bytes += bytes;
                self.input_bytes += bytes;
            }
            None => slot.input_ended = true,
        }
        if let Some(reader) = slot.reader.take() {
            reader.wake();
        }
    }

    /// Hands an answer of the host to who waits for it.
    pub(super) fn answer(&mut self, response: HostResponse) {
        if let Some((_, sender)) = self.calls.remove(&response.call_id) {
            // Who does not wait any more has no use for it.
            let _ = sender.send(response);
        }
    }
}
