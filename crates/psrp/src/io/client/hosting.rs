//! The calls of the host: who waits for one, and who answers.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::shared::{Shared, State};
use super::slot::Slot;
use crate::client::RunspacePool;
use crate::host::{HostCall, HostOutcome, HostResponse, HostResult};
use crate::io::Host;
use crate::record::ErrorRecord;

/// Calls that were not made yet, of each pipeline and of the pool.
pub(super) struct Calls {
    host: Option<Arc<dyn Host>>,
    queues: HashMap<Option<Uuid>, Queue>,
    /// Queues that nobody serves yet.
    starts: Vec<Option<Uuid>>,
}

#[derive(Default)]
struct Queue {
    calls: VecDeque<Queued>,
    /// [`Queued::after`] of the call that is being made.
    making: Option<u64>,
    /// Gives up the call that is being made, if its answer matters.
    current: Option<oneshot::Sender<()>>,
}

struct Queued {
    call: HostCall,
    /// What it counts.
    size: usize,
    /// How many events of the pipeline came before it.
    after: u64,
}

impl Calls {
    pub(super) fn new(host: Option<Arc<dyn Host>>) -> Self {
        Self { host, queues: HashMap::new(), starts: Vec::new() }
    }

    /// Takes a call. Whether it waits; without a host it is answered at once.
    pub(super) fn push(
        &mut self,
        pipeline: Option<Uuid>,
        call: HostCall,
        size: usize,
        after: u64,
        machine: &mut RunspacePool,
    ) -> bool {
        if self.host.is_none() {
            if !call.is_void() {
                // It fails if the call or the pool is gone: nobody waits then.
                let _ = machine.respond(pipeline, HostResponse::failed(&call, "the client has no host"));
            }
            return false;
        }
        let queue = self.queues.entry(pipeline).or_insert_with(|| {
            self.starts.push(pipeline);
            Queue::default()
        });
        queue.calls.push_back(Queued { call, size, after });
        true
    }

    /// How many events of the pipeline came before the first call that has not returned.
    pub(super) fn first(&self, pipeline: Option<Uuid>) -> Option<u64> {
        let queue = self.queues.get(&pipeline)?;
        queue.making.or(queue.calls.front().map(|queued| queued.after))
    }

    /// The queues that are to be served from now on.
    pub(super) fn starts(&mut self) -> Vec<(Arc<dyn Host>, Option<Uuid>)> {
        let Some(host) = &self.host else { return Vec::new() };
        self.starts.drain(..).map(|pipeline| (Arc::clone(host), pipeline)).collect()
    }

    /// Whether calls wait or are being made.
    pub(super) fn is_busy(&self, pipeline: Option<Uuid>) -> bool {
        self.queues.contains_key(&pipeline)
    }

    /// Gives up the calls whose answers nobody waits for any more. What they count.
    pub(super) fn cancel(&mut self, pipeline: Option<Uuid>) -> usize {
        let Some(queue) = self.queues.get_mut(&pipeline) else { return 0 };
        queue.current = None;
        let mut size = 0;
        queue.calls.retain(|queued| {
            if !queued.call.is_void() {
                size += queued.size;
            }
            queued.call.is_void()
        });
        size
    }

    /// Drops all calls of a pipeline that were not made yet. What they count.
    pub(super) fn discard(&mut self, pipeline: Option<Uuid>) -> usize {
        let Some(queue) = self.queues.get_mut(&pipeline) else { return 0 };
        queue.current = None;
        queue.calls.drain(..).map(|queued| queued.size).sum()
    }

    /// Drops all calls.
    pub(super) fn clear(&mut self) {
        self.queues.clear();
        self.starts.clear();
    }

    /// The next call of a queue, which ends if there is none.
    fn next(&mut self, pipeline: Option<Uuid>) -> Option<(Queued, oneshot::Receiver<()>)> {
        let queue = self.queues.get_mut(&pipeline)?;
        let Some(queued) = queue.calls.pop_front() else {
            self.queues.remove(&pipeline);
            return None;
        };
        let (sender, given_up) = oneshot::channel();
        (queue.current, queue.making) = (Some(sender), Some(queued.after));
        Some((queued, given_up))
    }
}

/// Makes the calls of one queue, one after the other.
pub(super) async fn serve(shared: Arc<Shared>, host: Arc<dyn Host>, pipeline: Option<Uuid>) {
    loop {
        let next = {
            let mut state = shared.lock();
            let next = state.calls.next(pipeline);
            if let Some(id) = pipeline {
                // Events may have waited for the call before.
                let slot = state.slots.get_mut(&id).filter(|_| shared.limits.ordered_host);
                if let Some(waker) = slot.and_then(|slot| slot.waker.take()) {
                    waker.wake();
                }
                if next.is_none() {
                    state.finish(id);
                    shared.tell(state);
                }
            }
            next
        };
        let Some((Queued { call, size, after }, given_up)) = next else { return };
        if let Some(id) = pipeline.filter(|_| shared.limits.ordered_host) {
            let is_read = |slot: &Slot| slot.settled >= after || slot.is_dropped;
            let is_due =
                |state: &mut State| state.ended.is_some() || state.slots.get(&id).is_none_or(is_read);
            shared.wait_until(|state| is_due(state).then_some(())).await;
        }
        let response = tokio::select! {
            response = answer(&*host, pipeline, &call) => Some(response),
            // What a user sees in any case is shown even if the pipeline has ended.
            Err(_) = given_up, if !call.is_void() => None,
        };
        let mut state = shared.lock();
        if state.ended.is_some() {
            return;
        }
        state.release(size);
        if let Some(response) = response.filter(|_| !call.is_void())
            && let Err(error) = state.machine.respond(pipeline, response)
            && !error.is_state()
        {
            // The answer can't be written, this one can. If the pipeline is gone nobody waits for either.
            let _ = state.machine.respond(pipeline, HostResponse::failed(&call, error.to_string()));
        }
        state.wake_driver();
    }
}

/// Has the host do what a call asks for.
async fn answer(host: &dyn Host, pipeline: Option<Uuid>, call: &HostCall) -> HostResponse {
    let request = match call.request() {
        Ok(request) => request,
        Err(error) => return HostResponse::failed(call, error.to_string()),
    };
    let mut future = pin!(async { host.call(pipeline, request).await });
    let result = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    });
    match result.await {
        Some(Ok(result)) => HostResponse::new(call, &result),
        Some(Err(record)) => failed(call, record),
        None => HostResponse::failed(call, "the host of the client panicked"),
    }
}

fn failed(call: &HostCall, record: Box<ErrorRecord>) -> HostResponse {
    let response = HostResponse::new(call, &HostResult::Nothing);
    HostResponse { outcome: HostOutcome::Error(record), ..response }
}
