//! Streams that reconnect.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;

use super::EventStream;
use crate::client::Call;
use crate::error::{Error, Result, TimeoutPhase};
use crate::types::responses::{Accumulator, Event, Response, Status};

/// Delay before the first resumption. Each further one without progress is twice as long, up to [`MAX_DELAY`].
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(8);

impl EventStream<Event> {
    /// Returns the call that continues this stream after its last event. `None` until the response identifier
    /// and a sequence number were received.
    pub fn resume(&self) -> Option<Call<Self>> {
        let (id, sequence) = (self.state.interpreter.response_id.as_deref()?, self.last_sequence_number()?);
        Some(self.state.client.responses().resume(id, sequence))
    }

    /// Returns a stream that reconnects when the connection is lost, at most `resumes` times in a row without
    /// receiving a new event. It waits 0.5 s before it reconnects, and twice as long each time without a new event, up
    /// to 8 s, and as long as the server requests. A request to reconnect counts as one connection with all its
    /// retries. Its error ends the stream unless the connection was lost or the status may be temporary.
    ///
    /// If the server no longer has the events, the response is retrieved once. If it has ended, it is the last event.
    /// Only stored responses can be resumed.
    pub fn resuming(self, resumes: u32) -> ResumingStream {
        ResumingStream { state: State::Open(self), resumes, left: resumes, cursor: None }
    }
}

/// Events of a response over several connections; see [`EventStream::resuming`].
///
/// Events that the server repeats are skipped. An error ends the stream.
#[must_use = "streams do nothing unless polled"]
pub struct ResumingStream {
    state: State,
    resumes: u32,
    left: u32,
    /// Sequence number after which the stream was resumed.
    cursor: Option<u64>,
}

type Opening = Pin<Box<dyn Future<Output = Result<EventStream<Event>>> + Send>>;
type Retrieving = Pin<Box<dyn Future<Output = Result<Response>> + Send>>;

enum State {
    Open(EventStream<Event>),
    /// The lost stream, and the request that replaces it.
    Opening(EventStream<Event>, Opening),
    /// The response is retrieved after this error.
    Retrieving(Error, Retrieving),
    Ended,
}

impl ResumingStream {
    /// Returns the next event, or `None` at the end.
    ///
    /// # Errors
    /// Same as [`EventStream::next`], and the errors of [`Call::send`].
    pub async fn next(&mut self) -> Option<Result<Event>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads the stream to its end and returns the combined response.
    ///
    /// # Errors
    /// Same as [`next`](Self::next), and the errors of [`Response::into_result`] for a response that failed. A response
    /// that was cancelled is returned. Events received before an error are lost.
    pub async fn accumulate(mut self) -> Result<Response> {
        let mut accumulator = Accumulator::new();
        while let Some(event) = self.next().await {
            accumulator.push(&event?);
        }
        let response = accumulator.finish();
        if response.status == Status::Failed { response.into_result() } else { Ok(response) }
    }

    /// Returns the call that resumes the stream, if it can be resumed. `requested` is the delay that the server asked for.
    fn reopen(&mut self, lost: &EventStream<Event>, requested: Duration) -> Option<Opening> {
        let call = lost.resume()?;
        let delay = FIRST_DELAY.saturating_mul(1 << (self.resumes - self.left).min(4)).min(MAX_DELAY);
        let delay = delay.max(requested);
        self.left = self.left.checked_sub(1)?;
        self.cursor = lost.last_sequence_number();
        let left = lost.state.total.map(|total| total.left());
        let call = match left {
            Some(left) => call.total_timeout(left.saturating_sub(delay)),
            None => call,
        };
        Some(Box::pin(async move {
            tokio::time::sleep(delay.min(left.unwrap_or(delay))).await;
            call.send().await
        }))
    }

    /// Returns whether an event was not received over an earlier connection.
    fn is_new(&mut self, event: &Event) -> bool {
        let sequence = event.sequence_number();
        let is_repeated = sequence.is_some() && sequence <= self.cursor;
        if !is_repeated {
            self.left = self.resumes;
        }
        !is_repeated || event.is_final()
    }
}

/// Returns whether the connection was lost.
fn is_lost(error: &Error) -> bool {
    match error.timeout_phase() {
        Some(phase) => phase != TimeoutPhase::Total,
        None => error.is_connection() || error.is_incomplete(),
    }
}

impl Stream for ResumingStream {
    type Item = Result<Event>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Ended => return Poll::Ready(None),
                State::Open(stream) => {
                    let end = ready!(stream.poll_item(cx));
                    let is_lost = match &end {
                        Some(Ok(event)) => {
                            if this.is_new(event) {
                                return Poll::Ready(end);
                            }
                            continue;
                        }
                        Some(Err(error)) => is_lost(error),
                        None => !stream.finished_cleanly(),
                    };
                    let State::Open(stream) = std::mem::replace(&mut this.state, State::Ended) else {
                        continue;
                    };
                    match is_lost.then(|| this.reopen(&stream, Duration::ZERO)).flatten() {
                        Some(opening) => this.state = State::Opening(stream, opening),
                        None => return Poll::Ready(end),
                    }
                }
                State::Opening(_, opening) => {
                    let opened = ready!(opening.as_mut().poll(cx));
                    let State::Opening(lost, _) = std::mem::replace(&mut this.state, State::Ended) else {
                        continue;
                    };
                    match opened {
                        Ok(mut next) => {
                            next.state.interpreter.resume_from(&lost.state.interpreter);
                            this.state = State::Open(next);
                        }
                        Err(error) if error.is_bad_request() => {
                            let id = lost.state.interpreter.response_id.as_deref().unwrap_or_default();
                            let retrieving = lost.state.client.responses().retrieve(id).into_future();
                            this.state = State::Retrieving(error, retrieving);
                        }
                        Err(error) => {
                            let requested = error.retry_after().unwrap_or_default();
                            let is_lost = is_lost(&error) || (error.is_api() && error.is_retryable());
                            let is_temporary = is_lost && requested <= lost.state.client.max_retry_after();
                            match is_temporary.then(|| this.reopen(&lost, requested)).flatten() {
                                Some(opening) => this.state = State::Opening(lost, opening),
                                None => return Poll::Ready(Some(Err(error))),
                            }
                        }
                    }
                }
                State::Retrieving(_, retrieving) => {
                    let response = ready!(retrieving.as_mut().poll(cx));
                    let State::Retrieving(expired, _) = std::mem::replace(&mut this.state, State::Ended)
                    else {
                        continue;
                    };
                    let last = response.map(Event::of).transpose();
                    return Poll::Ready(Some(last.unwrap_or(Err(expired))));
                }
            }
        }
    }
}

impl fmt::Debug for ResumingStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumingStream").field("left", &self.left).finish_non_exhaustive()
    }
}
