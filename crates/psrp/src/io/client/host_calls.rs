//! Queues of host calls.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::client::ClientPool;
use crate::host::{HostCall, HostResponse};
use crate::io::Host;
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
    /// Dropping it cancels the running call, unless that returns no value.
    cancel: Option<oneshot::Sender<()>>,
}

pub(super) struct QueuedCall {
    pub(super) call: HostCall,
    /// Number of events of the pipeline that arrived before the call.
    pub(super) events_before: u64,
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
    pub(super) fn next(
        &mut self,
        pipeline: Option<Uuid>,
    ) -> Option<(QueuedCall, usize, oneshot::Receiver<()>)> {
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
