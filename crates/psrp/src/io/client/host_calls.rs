//! Queues of host calls, and their execution.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::session_state::{PipelineSlot, SessionState, SharedSession};
use crate::client::ClientPool;
use crate::host::{HostCall, HostOutcome, HostResponse, HostResult};
use crate::io::Host;
use crate::io::task::{catch_panic, wake};
use crate::link::SizedQueue;

/// Pending host calls, one queue per pipeline and one (`None`) for the pool.
pub(super) struct HostCallQueues {
    host: Option<Arc<dyn Host>>,
    queues: HashMap<Option<Uuid>, HostCallQueue>,
    /// Keys of new queues that have no task yet.
    unserved: Vec<Option<Uuid>>,
}

#[derive(Default)]
struct HostCallQueue {
    calls: SizedQueue<QueuedCall>,
    /// [`QueuedCall::events_before`] of the running call.
    running: Option<u64>,
    /// Cancels the running call when dropped, unless the call has no result.
    cancel: Option<oneshot::Sender<()>>,
}

struct QueuedCall {
    call: HostCall,
    /// Number of events of the pipeline that arrived before the call.
    events_before: u64,
}

impl HostCallQueues {
    pub(super) fn new(host: Option<Arc<dyn Host>>) -> Self {
        Self { host, queues: HashMap::new(), unserved: Vec::new() }
    }

    /// Queues a call. Returns `false` if there is no host: the call is then answered with an error.
    pub(super) fn push(
        &mut self,
        pipeline: Option<Uuid>,
        call: HostCall,
        size: usize,
        events_before: u64,
        machine: &mut ClientPool,
    ) -> bool {
        if self.host.is_none() {
            if !call.is_void() {
                // Fails if the call or the pool no longer exists; then no response is expected.
                let _ = machine.respond(pipeline, HostResponse::failed(&call, "the client has no host"));
            }
            return false;
        }
        let queue = self.queues.entry(pipeline).or_insert_with(|| {
            self.unserved.push(pipeline);
            HostCallQueue::default()
        });
        queue.calls.push(QueuedCall { call, events_before }, size);
        true
    }

    /// Returns the number of events that arrived before the oldest call that has not finished.
    pub(super) fn first_pending(&self, pipeline: Option<Uuid>) -> Option<u64> {
        let queue = self.queues.get(&pipeline)?;
        queue.running.or(queue.calls.iter().next().map(|queued| queued.events_before))
    }

    /// Returns the queues that need a task.
    pub(super) fn take_unserved(&mut self) -> Vec<(Arc<dyn Host>, Option<Uuid>)> {
        let Some(host) = &self.host else { return Vec::new() };
        self.unserved.drain(..).map(|pipeline| (Arc::clone(host), pipeline)).collect()
    }

    /// Returns whether calls of the pipeline are queued or running.
    pub(super) fn is_busy(&self, pipeline: Option<Uuid>) -> bool {
        self.queues.contains_key(&pipeline)
    }

    /// Cancels the running call of a pipeline that has ended, and removes its queued calls, because the pipeline no
    /// longer expects their results. Queued calls without a result remain, unless the pipeline was dropped. Returns
    /// the total size of the removed calls.
    pub(super) fn cancel(&mut self, pipeline: Option<Uuid>, is_dropped: bool) -> usize {
        let Some(queue) = self.queues.get_mut(&pipeline) else { return 0 };
        queue.cancel = None;
        queue.calls.retain(|queued| !is_dropped && queued.call.is_void())
    }

    pub(super) fn clear(&mut self) {
        self.queues.clear();
        self.unserved.clear();
    }

    /// Takes the next call of a queue and its size. Removes the queue if it is empty.
    fn next(&mut self, pipeline: Option<Uuid>) -> Option<(QueuedCall, usize, oneshot::Receiver<()>)> {
        let queue = self.queues.get_mut(&pipeline)?;
        let Some((queued, size)) = queue.calls.pop() else {
            self.queues.remove(&pipeline);
            return None;
        };
        let (sender, cancelled) = oneshot::channel();
        (queue.cancel, queue.running) = (Some(sender), Some(queued.events_before));
        Some((queued, size, cancelled))
    }
}

/// Runs the calls of one queue in order until it is empty.
pub(super) async fn run_host_calls(shared: Arc<SharedSession>, host: Arc<dyn Host>, pipeline: Option<Uuid>) {
    loop {
        let next = {
            let mut state = shared.lock();
            let next = state.calls.next(pipeline);
            if let Some(id) = pipeline {
                // With `ordered_host`, events wait for the previous call.
                if let Some(slot) = state.slots.get_mut(&id).filter(|_| shared.ordered_host) {
                    wake(&mut slot.waker);
                }
                if next.is_none() {
                    state.deliver_last_event(id);
                    shared.notify_waiters(state);
                }
            }
            next
        };
        let Some((QueuedCall { call, events_before }, size, cancelled)) = next else { return };
        if let Some(id) = pipeline.filter(|_| shared.ordered_host) {
            let is_read = |slot: &PipelineSlot| slot.processed >= events_before || slot.is_dropped;
            let is_due =
                |state: &mut SessionState| state.ended.is_some() || state.slots.get(&id).is_none_or(is_read);
            shared.wait_until(|state| is_due(state).then_some(())).await;
        }
        let response = tokio::select! {
            biased;
            response = call_host(&*host, pipeline, &call) => Some(response),
            // Calls that return nothing run to completion after the pipeline's end, so that the user sees their output.
            Err(_) = cancelled, if !call.is_void() => None,
        };
        let mut state = shared.lock();
        if state.ended.is_some() {
            return;
        }
        state.remove_buffered(size);
        if let Some(response) = response.filter(|_| !call.is_void())
            && let Err(error) = state.machine.respond(pipeline, response)
            && !error.is_state()
        {
            // The response could not be encoded, but this one can. If the pipeline is gone, none is expected.
            let _ = state.machine.respond(pipeline, HostResponse::failed(&call, error.to_string()));
        }
        state.wake_task();
    }
}

/// Calls the host and converts its result, error or panic to a response.
async fn call_host(host: &dyn Host, pipeline: Option<Uuid>, call: &HostCall) -> HostResponse {
    let request = match call.request() {
        Ok(request) => request,
        Err(error) => return HostResponse::failed(call, error.to_string()),
    };
    match catch_panic(async { host.call(pipeline, request).await }).await {
        Some(Ok(result)) => HostResponse::new(call, &result),
        Some(Err(record)) => {
            let response = HostResponse::new(call, &HostResult::Nothing);
            HostResponse { outcome: HostOutcome::Error(record), ..response }
        }
        None => HostResponse::failed(call, "the host of the client panicked"),
    }
}
