//! Runs one call: sends attempts until one succeeds or the retry policy gives up.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use reqwest::{Body, Request};
use tokio::time::{Instant, sleep};

use super::body::{self, StreamingBody};
use super::plan::{Options, Plan};
use super::response::ResponseHead;
use super::span::CallSpan;
use super::timeouts::{Deadline, Timeouts};
use super::transport::AttemptError;
use super::{Client, random};
use crate::error::{self, Result, TimeoutPhase};
use crate::retry::{Attempts, Outcome, RetryEvent, RetryPolicy};

/// Maximum bytes of an error body to read.
const ERROR_BODY: usize = 1 << 20;

/// Maximum time for reading an error body, within the deadline of the attempt. The status is already known,
/// so a slow body is not worth a long wait.
const ERROR_TIME: Duration = Duration::from_secs(5);

/// Whether the response body is read before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyMode {
    /// Read the whole body. Errors while reading it are retried.
    Buffered,
    /// Return after the headers.
    Streaming,
}

/// A completed call with a successful response.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) head: ResponseHead,
    pub(crate) body: ResponseBody,
    pub(crate) span: CallSpan,
    pub(crate) client: Client,
    pub(crate) total: Option<Deadline>,
    pub(crate) options: Options,
}

#[derive(Debug)]
pub(crate) enum ResponseBody {
    Buffered(Bytes),
    Streaming(StreamingBody),
}

impl ResponseBody {
    /// Returns the body of a call that was made with [`BodyMode::Streaming`].
    pub(crate) fn into_streaming(self) -> Option<StreamingBody> {
        match self {
            Self::Streaming(body) => Some(body),
            Self::Buffered(_) => None,
        }
    }

    /// Returns a buffered body; empty for a streaming one.
    pub(crate) fn into_buffered(self) -> Bytes {
        match self {
            Self::Buffered(body) => body,
            Self::Streaming(_) => Bytes::new(),
        }
    }
}

/// Response to one attempt.
enum AttemptResponse {
    Success(http::response::Parts, ResponseBody),
    ErrorStatus(http::response::Parts, Body),
}

impl Client {
    fn timeouts(&self, plan: &Plan) -> Timeouts {
        plan.options.timeouts.unwrap_or(self.inner.options.timeouts)
    }

    /// Returns the deadline of a call that starts now.
    pub(crate) fn total_deadline(&self, plan: &Plan) -> Option<Deadline> {
        Deadline::after(Instant::now(), self.timeouts(plan).total, TimeoutPhase::Total)
    }

    /// Returns the retry policy of a call with these options, except for the number of retries.
    pub(crate) fn retry_policy<'a>(&'a self, options: &'a Options) -> &'a RetryPolicy {
        options.retry.as_ref().unwrap_or(&self.inner.options.retry)
    }

    /// Sends a request and retries it as the policy allows.
    pub(crate) async fn exchange(&self, mut plan: Plan, body_mode: BodyMode) -> Result<Exchange> {
        if plan.file.is_some() {
            // Boxed, because the future of every call would otherwise reserve space for it.
            Box::pin(plan.load_file()).await?;
        }
        if self.inner.options.automatic_keys {
            plan.ensure_key(fresh_key);
        }
        let span = CallSpan::new(&plan, &self.inner.base);
        // Pass futures by reference: each enclosing future would otherwise reserve space for its own copy.
        let total = self.total_deadline(&plan);
        let result = span.run(pin!(self.attempt_all(&plan, body_mode, total, &span))).await;
        match result {
            Ok((head, body)) => {
                span.record_response(head.status, head.request_id(), head.attempts);
                Ok(Exchange { head, body, span, client: self.clone(), total, options: plan.options })
            }
            Err(error) => {
                span.record_error(&error);
                Err(error)
            }
        }
    }

    async fn attempt_all(
        &self,
        plan: &Plan,
        body_mode: BodyMode,
        total: Option<Deadline>,
        span: &CallSpan,
    ) -> Result<(ResponseHead, ResponseBody)> {
        let settings = &*self.inner;
        let timeouts = self.timeouts(plan);
        let mut policy = self.retry_policy(&plan.options);
        let overridden;
        if let Some(retries) = plan.options.max_retries {
            overridden = RetryPolicy { max_retries: retries, ..policy.clone() };
            policy = &overridden;
        }
        let start = Instant::now();
        let mut attempts = Attempts::new(policy, plan.is_idempotent(), plan.is_billed);
        loop {
            attempts.begin();
            // Build a new request for each attempt. Most calls need only one, and a clone would cost the
            // same.
            let request = plan.request(&settings.base, &settings.headers, &settings.options.query)?;
            let now = Instant::now();
            let limit = match body_mode {
                BodyMode::Buffered => timeouts.attempt,
                BodyMode::Streaming => None,
            };
            let deadline = Deadline::earliest(Deadline::after(now, limit, TimeoutPhase::Attempt), total);
            let headers = Deadline::after(now, timeouts.headers, TimeoutPhase::Headers);
            // A single timer suffices if the attempt ends no later than the wait for its headers.
            let headers = if Deadline::earliest(deadline, headers) == deadline { None } else { headers };
            let attempt = pin!(self.attempt(request, body_mode, headers, timeouts.idle, total));
            let error = match Deadline::bound(deadline, attempt).await {
                Ok(Ok(AttemptResponse::ErrorStatus(head, body))) => {
                    let outcome = Outcome::Status { status: head.status, headers: &head.headers };
                    let delay = attempts.failed(&outcome, true, total.map(|total| total.left()));
                    let Some(delay) = delay else {
                        let time = deadline.map_or(ERROR_TIME, |deadline| deadline.left().min(ERROR_TIME));
                        let body = body::read_truncated(body, ERROR_BODY, time).await;
                        let made = attempts.made();
                        return Err(error::error_response(head.status, head.headers, body, made, self.key()));
                    };
                    self.notify_retry(span, attempts.made(), delay, outcome);
                    let failed_at = Instant::now();
                    // If the total timeout elapses here, the next attempt reports it.
                    let _ = Deadline::bound(total, body::drain(body)).await;
                    pause(delay.saturating_sub(failed_at.elapsed())).await;
                    continue;
                }
                Ok(Ok(AttemptResponse::Success(parts, body))) => {
                    attempts.succeeded();
                    let head = ResponseHead {
                        status: parts.status,
                        headers: parts.headers,
                        attempts: attempts.made(),
                        elapsed: start.elapsed(),
                    };
                    return Ok((head, body));
                }
                Ok(Err(error)) => error,
                Err(phase) => AttemptError::timeout(phase),
            };
            let outcome = error.outcome();
            let left = total.map(|total| total.left());
            let delay =
                if error.is_permanent { None } else { attempts.failed(&outcome, error.is_sent, left) };
            let Some(delay) = delay else {
                return Err(error.error.with_attempts(attempts.made()));
            };
            self.notify_retry(span, attempts.made(), delay, outcome);
            pause(delay).await;
        }
    }

    async fn attempt(
        &self,
        request: Request,
        body_mode: BodyMode,
        headers: Option<Deadline>,
        idle: Option<Duration>,
        total: Option<Deadline>,
    ) -> Result<AttemptResponse, AttemptError> {
        let sending = pin!(self.inner.transport.send(request));
        let response = Deadline::bound(headers, sending).await.map_err(AttemptError::timeout)??;
        let (parts, body) = response.into_parts();
        if !parts.status.is_success() {
            return Ok(AttemptResponse::ErrorStatus(parts, body));
        }
        let body = match body_mode {
            BodyMode::Streaming => ResponseBody::Streaming(StreamingBody::new(body, idle, total)),
            BodyMode::Buffered => {
                let body = body::read(body, self.inner.options.max_body).await;
                ResponseBody::Buffered(body.map_err(|error| error.with_response(&parts))?)
            }
        };
        Ok(AttemptResponse::Success(parts, body))
    }

    fn notify_retry(&self, span: &CallSpan, attempt: u32, delay: Duration, outcome: Outcome<'_>) {
        span.record_retry(attempt, delay);
        if let Some(hook) = &self.inner.options.on_retry {
            hook(&RetryEvent { attempt, delay, outcome });
        }
    }
}

/// Waits before a retry. Skips the timer for a zero delay, because it would wait for at least a millisecond.
async fn pause(delay: Duration) {
    if !delay.is_zero() {
        sleep(delay).await;
    }
}

fn fresh_key() -> HeaderValue {
    let [high, low] = random();
    // Hexadecimal digits are always valid in a header.
    HeaderValue::from_str(&format!("{high:016x}{low:016x}")).unwrap_or(HeaderValue::from_static("0"))
}
