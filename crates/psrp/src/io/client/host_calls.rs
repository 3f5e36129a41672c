//! Queues of host calls, and the tasks that run them.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::shared::{SharedSession, SessionState};
use super::slot::PipelineSlot;
use crate::client::RunspacePool;
use crate::host::{HostCall, HostOutcome, HostResponse, HostResult};
use crate::io::Host;
use crate::record::ErrorRecord;

/// Pending host calls, one queue per pipeline and one (`None`) for the pool.
pub(super) struct HostCallQueues {
    host: Option<Arc<dyn Host>>,
    queues: HashMap<Option<Uuid>, HostCallQueue>,
    /// Keys of new queues that have no task yet.
    unserved: Vec<Option<Uuid>>,
}

#[derive(Default)]
struct HostCallQueue {
    calls: VecDeque<QueuedCall>,
    /// [`QueuedCall::events_before`] of the running call.
    running: Option<u64>,
    /// Dropping it cancels the running call, unless that returns no value.
    cancel: Option<oneshot::Sender<()>>,
}

struct QueuedCall {
    call: HostCall,
    /// Bytes counted towards `max_buffered_bytes`.
    size: usize,
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
        machine: &mut RunspacePool,
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
        queue.calls.push_back(QueuedCall { call, size, events_before });
        true
    }

    /// Returns the number of events that arrived before the oldest call that has not finished.
    pub(super) fn first_pending(&self, pipeline: Option<Uuid>) -> Option<u64> {
        let queue = self.queues.get(&pipeline)?;
        queue.running.or(queue.calls.front().map(|queued| queued.events_before))
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

    /// Cancels the calls that return a value, because the pipeline no longer expects it. Returns their total size.
    pub(super) fn cancel(&mut self, pipeline: Option<Uuid>) -> usize {
        let Some(queue) = self.queues.get_mut(&pipeline) else { return 0 };
        queue.cancel = None;
        let mut size = 0;
        queue.calls.retain(|queued| {
            if !queued.call.is_void() {
                size += queued.size;
            }
            queued.call.is_void()
        });
        size
    }

    /// Drops all queued calls of a pipeline. Returns their total size.
    pub(super) fn discard(&mut self, pipeline: Option<Uuid>) -> usize {
        let Some(queue) = self.queues.get_mut(&pipeline) else { return 0 };
        queue.cancel = None;
        queue.calls.drain(..).map(|queued| queued.size).sum()
    }

    /// Drops all queues.
    pub(super) fn clear(&mut self) {
        self.queues.clear();
        self.unserved.clear();
    }

    /// Takes the next call of a queue. Removes the queue if it is empty.
    fn next(&mut self, pipeline: Option<Uuid>) -> Option<(QueuedCall, oneshot::Receiver<()>)> {
        let queue = self.queues.get_mut(&pipeline)?;
        let Some(queued) = queue.calls.pop_front() else {
            self.queues.remove(&pipeline);
            return None;
        };
        let (sender, cancelled) = oneshot::channel();
        (queue.cancel, queue.running) = (Some(sender), Some(queued.events_before));
        Some((queued, cancelled))
    }
}

/// Runs the calls of one queue in order until it is empty.
pub(super) async fn run_queue(shared: Arc<SharedSession>, host: Arc<dyn Host>, pipeline: Option<Uuid>) {
    loop {
        let next = {
            let mut state = shared.lock();
            let next = state.calls.next(pipeline);
            if let Some(id) = pipeline {
                // With `ordered_host`, events wait for the previous call.
                let slot = state.slots.get_mut(&id).filter(|_| shared.limits.ordered_host);
                if let Some(waker) = slot.and_then(|slot| slot.waker.take()) {
                    waker.wake();
                }
                if next.is_none() {
                    state.deliver_last_event(id);
                    shared.notify_waiters(state);
                }
            }
            next
        };
        let Some((QueuedCall { call, size, events_before }, cancelled)) = next else { return };
        if let Some(id) = pipeline.filter(|_| shared.limits.ordered_host) {
            let is_read = |slot: &PipelineSlot| slot.processed >= events_before || slot.is_dropped;
            let is_due =
                |state: &mut SessionState| state.ended.is_some() || state.slots.get(&id).is_none_or(is_read);
            shared.wait_until(|state| is_due(state).then_some(())).await;
        }
        let response = tokio::select! {
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
    let mut future = pin!(async { host.call(pipeline, request).await });
    let result = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    });
    match result.await {
        Some(Ok(result)) => HostResponse::new(call, &result),
        Some(Err(record)) => error_response(call, record),
        None => HostResponse::failed(call, "the host of the client panicked"),
    }
}

fn error_response(call: &HostCall, record: Box<ErrorRecord>) -> HostResponse {
    let response = HostResponse::new(call, &HostResult::Nothing);
    HostResponse { outcome: HostOutcome::Error(record), ..response }
}
