//! Waiting for background jobs.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use crate::client::{Call, Deadline};
use crate::error::{Error, Kind, Result, TimeoutPhase};
use crate::types::{async_chat, batches, responses};

/// A background job on the server.
///
/// Implemented for the jobs of this API. Applications can implement it for their own types.
pub trait Job: DeserializeOwned + Send + 'static {
    /// Returns whether the job has ended, successfully or not.
    fn is_final(&self) -> bool;
}

macro_rules! jobs {
    ($($job:ty),+) => {$(
        impl Job for $job {
            fn is_final(&self) -> bool {
                self.status.is_final()
            }
        }
    )+};
}

jobs!(async_chat::AsyncCompletion, responses::Response, batches::Batch);

/// Polls a job with increasing intervals until it has ended.
///
/// Returns the job in its final state, whether it succeeded or failed; check its status. Dropping the future
/// stops polling and does not affect the job. A total timeout of the call covers all polls and delays.
#[must_use = "a job is waited for when this is awaited"]
pub struct Wait<T> {
    call: Call<T>,
    interval: Duration,
    max_interval: Duration,
    deadline: Option<Duration>,
    on_progress: Box<dyn FnMut(&T) + Send>,
}

impl<T: Job> Call<T> {
    /// Repeats this call until the job has ended.
    pub fn wait(self) -> Wait<T> {
        Wait {
            call: self,
            interval: Duration::from_secs(1),
            max_interval: Duration::from_secs(30),
            deadline: Some(Duration::from_secs(60 * 60)),
            on_progress: Box::new(|_| ()),
        }
    }
}

impl<T: Job> Wait<T> {
    /// Sets the delay before the second poll. Each further delay is 1.5 times as long. Default: 1 s.
    pub fn interval(mut self, pause: Duration) -> Self {
        self.interval = pause;
        self
    }

    /// Sets the maximum delay between polls. Default: 30 s.
    pub fn max_interval(mut self, pause: Duration) -> Self {
        self.max_interval = pause;
        self
    }

    /// Sets the maximum total waiting time. It is checked before each delay, and does not interrupt a call in
    /// flight. `None` disables it. Default: one hour.
    pub fn deadline(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.deadline = limit.into();
        self
    }

    /// Calls `report` with the job after each poll, also after the last one. Default: nothing.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let job = client.async_chat().wait("job-1").on_progress(|job| eprintln!("{}", job.status)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(&T) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    /// Polls until the job has ended. The same as awaiting this value, without boxing the future.
    ///
    /// # Errors
    ///
    /// [`Error::is_timeout`] with [`TimeoutPhase::Job`] if the next delay would exceed the deadline, and the
    /// errors of [`Call::send`], which include the total timeout.
    pub async fn send(self) -> Result<T> {
        let plan = self.call.plan.as_ref().ok();
        let total = plan.and_then(|plan| self.call.client.total_deadline(plan));
        Deadline::bound(total, self.poll()).await.map_err(|phase| Error::new(Kind::Timeout(phase)))?
    }

    async fn poll(mut self) -> Result<T> {
        let Call { client, plan, .. } = self.call;
        let plan = plan?;
        let start = Instant::now();
        let mut pause = self.interval.min(self.max_interval);
        loop {
            let job: T = Call::json(&client, Ok(plan.clone())).send().await?;
            (self.on_progress)(&job);
            if job.is_final() {
                return Ok(job);
            }
            if self.deadline.is_some_and(|deadline| start.elapsed().saturating_add(pause) > deadline) {
                return Err(Error::new(Kind::Timeout(TimeoutPhase::Job)));
            }
            sleep(pause).await;
            pause = pause.saturating_add(pause / 2).min(self.max_interval);
        }
    }
}

impl<T> fmt::Debug for Wait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("call", &self.call)
            .field("interval", &self.interval)
            .field("max_interval", &self.max_interval)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl<T: Job> IntoFuture for Wait<T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
