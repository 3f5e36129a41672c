//! One call: attempts until there is an answer or a reason to give up.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use reqwest::{Body, Request};
use tokio::time::{Instant, sleep};

use super::body::{self, LiveBody};
use super::plan::Plan;
use super::platform;
use super::response::ResponseHead;
use super::span::CallSpan;
use super::timeouts::Deadline;
use super::transport::Failure;
use super::{Client, RetryEvent, random};
use crate::error::{self, Result, TimeoutPhase};
use crate::retry::{Attempts, Outcome};

/// How much of the body of an error is kept, in bytes.
const ERROR_BODY: usize = 1 << 20;

/// Maximum time to read that, within the deadline of the attempt. The status is there already, so a late body is worth
/// no long wait.
const ERROR_TIME: Duration = Duration::from_secs(5);

/// When an answer is complete enough to be handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// When all of its body is there.
    Whole,
    /// When its headers are there.
    Live,
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) head: ResponseHead,
    pub(crate) payload: Payload,
    pub(crate) span: CallSpan,
    pub(crate) client: Client,
}

#[derive(Debug)]
pub(crate) enum Payload {
    Whole(Bytes),
    Live(LiveBody),
}

impl Payload {
    /// The body, if all of it is there; empty otherwise.
    pub(crate) fn into_whole(self) -> Bytes {
        match self {
            Self::Whole(body) => body,
            Self::Live(_) => Bytes::new(),
        }
    }
}

/// How an attempt ended that got an answer.
enum Answered {
    Whole(http::response::Parts, Bytes),
    Live(http::response::Parts, Body),
    Refused(http::response::Parts, Body),
}

impl Client {
    /// Sends a request as often as the policy allows.
    pub(crate) async fn exchange(&self, mut plan: Plan, delivery: Delivery) -> Result<Exchange> {
        if self.inner.automatic_keys {
            plan.ensure_key(fresh_key);
        }
        let span = CallSpan::new(&plan, &self.inner.base);
        // Futures are handed on by reference: each of those around them would keep room for copies of its own.
        let result = span.run(pin!(self.attempt_all(&plan, delivery, &span))).await;
        match result {
            Ok((head, payload)) => {
                span.answered(head.status, head.request_id(), head.attempts);
                Ok(Exchange { head, payload, span, client: self.clone() })
            }
            Err(error) => {
                span.failed(&error);
                Err(error)
            }
        }
    }

    async fn attempt_all(
        &self,
        plan: &Plan,
        delivery: Delivery,
        span: &CallSpan,
    ) -> Result<(ResponseHead, Payload)> {
        let config = &*self.inner;
        let timeouts = plan.options.timeouts.unwrap_or(config.timeouts);
        let mut policy = plan.options.retry.as_ref().unwrap_or(&config.retry);
        let overridden;
        if let Some(retries) = plan.options.max_retries {
            overridden = policy.clone().max_retries(retries);
            policy = &overridden;
        }
        let start = Instant::now();
        let total = Deadline::after(start, timeouts.total, TimeoutPhase::Total);
        let mut attempts = Attempts::new(policy, plan.is_idempotent());
        loop {
            let before = attempts.begin();
            // Made anew for each attempt: most calls need one, and a copy would cost as much.
            let mut request = plan.request(&config.base, &config.headers, &config.query)?;
            if config.platform_headers {
                platform::describe(request.headers_mut(), timeouts.attempt);
                platform::count(request.headers_mut(), before);
            }
            let now = Instant::now();
            let limit = match delivery {
                Delivery::Whole => timeouts.attempt,
                Delivery::Live => None,
            };
            let deadline = Deadline::earliest(Deadline::after(now, limit, TimeoutPhase::Attempt), total);
            let headers = Deadline::after(now, timeouts.headers, TimeoutPhase::Headers);
            // One timer is enough where the whole attempt ends no later than the wait for its headers.
            let headers = if Deadline::earliest(deadline, headers) == deadline { None } else { headers };
            let attempt = pin!(self.attempt(request, delivery, headers));
            let failure = match Deadline::bound(deadline, attempt).await {
                Ok(Ok(Answered::Refused(head, body))) => {
                    let outcome = Outcome::Status { status: head.status, headers: &head.headers };
                    let delay = attempts.failed(&outcome, total.map(|total| total.left()));
                    let Some(delay) = delay else {
                        let time = deadline.map_or(ERROR_TIME, |deadline| deadline.left().min(ERROR_TIME));
                        let body = body::read_some(body, ERROR_BODY, time).await;
                        let (made, now) = (attempts.made(), policy.now());
                        return Err(error::refusal(head.status, head.headers, body, made, self.key(), now));
                    };
                    self.retrying(span, attempts.made(), delay, outcome);
                    let refused = Instant::now();
                    // Running out of time is found by the next attempt.
                    let _ = Deadline::bound(total, body::drain(body)).await;
                    pause(delay.saturating_sub(refused.elapsed())).await;
                    continue;
                }
                Ok(Ok(Answered::Whole(parts, body))) => {
                    attempts.succeeded();
                    return Ok((head(parts, &attempts, start), Payload::Whole(body)));
                }
                Ok(Ok(Answered::Live(parts, body))) => {
                    attempts.succeeded();
                    let body = LiveBody::new(body, timeouts.idle);
                    return Ok((head(parts, &attempts, start), Payload::Live(body)));
                }
                Ok(Err(failure)) => failure,
                Err(phase) => Failure::timeout(phase),
            };
            let outcome = failure.outcome();
            let left = total.map(|total| total.left());
            let delay = if failure.futile { None } else { attempts.failed(&outcome, left) };
            let Some(delay) = delay else {
                return Err(failure.error.with_attempts(attempts.made()));
            };
            self.retrying(span, attempts.made(), delay, outcome);
            pause(delay).await;
        }
    }

    async fn attempt(
        &self,
        request: Request,
        delivery: Delivery,
        headers: Option<Deadline>,
    ) -> Result<Answered, Failure> {
        let sending = pin!(self.inner.transport.send(request));
        let response = Deadline::bound(headers, sending).await.map_err(Failure::timeout)??;
        let (parts, body) = http::Response::from(response).into_parts();
        if !parts.status.is_success() {
            return Ok(Answered::Refused(parts, body));
        }
        match delivery {
            Delivery::Live => Ok(Answered::Live(parts, body)),
            Delivery::Whole => {
                let body = body::read(body, self.inner.max_body).await;
                let body = body.map_err(|failure| failure.of_answer(&parts))?;
                Ok(Answered::Whole(parts, body))
            }
        }
    }

    fn retrying(&self, span: &CallSpan, attempt: u32, delay: Duration, outcome: Outcome<'_>) {
        span.retrying(attempt, delay);
        if let Some(hook) = &self.inner.on_retry {
            hook(&RetryEvent { attempt, delay, outcome });
        }
    }
}

/// Waits before a retry. A timer would take a millisecond for no wait at all.
async fn pause(delay: Duration) {
    if !delay.is_zero() {
        sleep(delay).await;
    }
}

/// A random idempotency key.
fn fresh_key() -> HeaderValue {
    let [high, low] = random();
    // Hexadecimal digits are fine in any header, so the other case does not happen.
    HeaderValue::from_str(&format!("{high:016x}{low:016x}")).unwrap_or(HeaderValue::from_static("0"))
}

fn head(parts: http::response::Parts, attempts: &Attempts<'_>, start: Instant) -> ResponseHead {
    ResponseHead {
        status: parts.status,
        headers: parts.headers,
        attempts: attempts.made(),
        elapsed: start.elapsed(),
    }
}
