//! Waiting for jobs to end.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use crate::client::{Call, Json};
use crate::error::{Error, Result, TimeoutPhase};
use crate::types::{async_chat, batches, responses};

/// What the server works on by itself.
///
/// Implemented by the answers of this API; a caller's own type can be one as well.
pub trait Job: DeserializeOwned + Send + 'static {
    /// Whether nothing more happens to it, be it done or failed.
    fn is_final(&self) -> bool;
}

impl Job for async_chat::AsyncCompletion {
    fn is_final(&self) -> bool {
        self.status.is_final()
    }
}

impl Job for responses::Response {
    fn is_final(&self) -> bool {
        self.status.is_final()
    }
}

impl Job for batches::Batch {
    fn is_final(&self) -> bool {
        self.status.is_final()
    }
}

/// Asks for a job again and again until it has ended, with growing pauses.
///
/// What it gives is the job at its end, whether it succeeded or failed; its status tells. Dropping the future stops
/// the waiting and leaves the job alone.
#[must_use = "a job is waited for when this is awaited"]
pub struct Wait<T> {
    call: Call<Json<T>>,
    interval: Duration,
    max_interval: Duration,
    deadline: Option<Duration>,
}

impl<T: Job> Call<Json<T>> {
    /// Repeats this call until the job has ended.
    pub fn wait(self) -> Wait<T> {
        Wait {
            call: self,
            interval: Duration::from_secs(1),
            max_interval: Duration::from_secs(30),
            deadline: Some(Duration::from_secs(60 * 60)),
        }
    }
}

impl<T: Job> Wait<T> {
    /// Sets the first pause; each further one is half as long again. Default: 1 s.
    pub fn interval(mut self, pause: Duration) -> Self {
        self.interval = pause;
        self
    }

    /// Sets the longest pause. Default: 30 s.
    pub fn max_interval(mut self, pause: Duration) -> Self {
        self.max_interval = pause;
        self
    }

    /// Sets how long to wait altogether. It is looked at before each pause, and ends no call that is under way. Default:
    /// one hour.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Waits as long as it takes.
    pub fn without_deadline(mut self) -> Self {
        self.deadline = None;
        self
    }

    /// Waits. Awaiting this value itself does the same, with a future on the heap.
    ///
    /// # Errors
    /// [`Error::is_timeout`] with [`TimeoutPhase::Job`] when the next pause would go past the deadline; what a call can
    /// fail with.
    pub async fn send(self) -> Result<T> {
        let (client, plan, json) = self.call.into_parts();
        let plan = plan?;
        let start = Instant::now();
        let mut pause = self.interval.min(self.max_interval);
        loop {
            let job = Call::new(&client, Ok(plan.clone()), json).send().await?;
            if job.is_final() {
                return Ok(job);
            }
            if self.deadline.is_some_and(|deadline| start.elapsed().saturating_add(pause) > deadline) {
                return Err(Error::timeout(TimeoutPhase::Job));
            }
            sleep(pause).await;
            pause = pause.saturating_add(pause / 2).min(self.max_interval);
        }
    }
}

impl<T: Job> IntoFuture for Wait<T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<T> fmt::Debug for Wait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("call", &self.call)
            .field("interval", &self.interval)
            .field("max_interval", &self.max_interval)
            .field("deadline", &self.deadline)
            .finish()
    }
}
