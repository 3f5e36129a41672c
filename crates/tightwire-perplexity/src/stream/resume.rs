//! Streams that reconnect.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;

use super::{EventStream, StreamState};
use crate::client::Call;
use crate::error::{Error, Result, TimeoutPhase};
use crate::types::responses::{Accumulator, Event, Response, Status};

/// Delay before the first resumption. Each further one without progress is twice as long, up to [`MAX_DELAY`].
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(8);

impl EventStream<Event> {
    /// Returns the call that continues this stream after its last event. `None` until the response identifier
    /// and a sequence number were received.
    ///
    /// It has the headers, query parameters, timeouts and retry options of the call of this stream. Options of the
    /// stream, such as [`allow_partial`](Self::allow_partial), are those of a new one.
    pub fn resume(&self) -> Option<Call<Self>> {
        let (id, sequence) = (self.state.interpreter.response_id.as_deref()?, self.last_sequence_number()?);
        Some(self.state.client.responses().resume(id, sequence).continuing(&self.state.options))
    }

    /// Returns a stream that reconnects when the connection is lost, at most `resumes` times in a row without
    /// receiving a new event. It waits 0.5 s before it reconnects, and twice as long each time without a new event, up
    /// to 8 s, and as long as the server requests. A request to reconnect counts as one connection with all its
    /// retries. Its error ends the stream unless the connection was lost or the status may be temporary. Options of the
    /// call and of this stream apply to all connections.
    ///
    /// If the server no longer has the events, the response is retrieved once. If it has ended, it is the last event.
    /// Only stored responses can be resumed.
    pub fn resuming(self, resumes: u32) -> ResumingStream {
        ResumingStream { state: State::Open(self), resumes, left: resumes, cursor: None, is_complete: false }
    }
}

/// Events of a response over several connections; see [`EventStream::resuming`].
///
/// Events that the server repeats are skipped. An error ends the stream, except for malformed events under
/// [`Malformed::Skip`](super::Malformed::Skip).
#[must_use = "streams do nothing unless polled"]
pub struct ResumingStream {
    state: State,
    resumes: u32,
    left: u32,
    /// Sequence number after which the stream was resumed.
    cursor: Option<u64>,
    is_complete: bool,
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
    ///
    /// Same as [`EventStream::next`], and the errors of [`Call::send`].
    pub async fn next(&mut self) -> Option<Result<Event>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns whether the server marked the response as complete; see [`EventStream::allow_partial`].
    pub fn finished_cleanly(&self) -> bool {
        match &self.state {
            State::Open(stream) => stream.finished_cleanly(),
            _ => self.is_complete,
        }
    }

    /// Reads the stream to its end and returns the combined response.
    ///
    /// # Errors
    ///
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
        let call = lost.state.in_time(call, delay);
        let left = lost.state.total.map_or(delay, |total| total.left());
        Some(Box::pin(async move {
            tokio::time::sleep(delay.min(left)).await;
            call.send().await
        }))
    }

    /// Returns whether an event was not received over an earlier connection.
    fn is_new(&mut self, event: &Event) -> bool {
        let sequence = event.sequence_number();
        // An event without a number is no progress: the server may send it over every connection.
        if sequence > self.cursor {
            self.left = self.resumes;
        }
        sequence.is_none() || sequence > self.cursor || event.is_final()
    }
}

impl StreamState {
    /// Sets the total timeout of a call that is sent after `delay` to the time that is left.
    fn in_time<T>(&self, call: Call<T>, delay: Duration) -> Call<T> {
        match self.total {
            Some(total) => call.total_timeout(total.left().saturating_sub(delay)),
            None => call,
        }
    }

    /// Returns the maximum delay that the server may request.
    fn max_retry_after(&self) -> Duration {
        self.client.retry_policy(&self.options).max_retry_after
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
                            // A resumed stream may repeat events.
                            if this.is_new(event) {
                                return Poll::Ready(end);
                            }
                            continue;
                        }
                        // A malformed event was skipped.
                        Some(Err(_)) if stream.state.body.is_some() => return Poll::Ready(end),
                        Some(Err(error)) => is_lost(error),
                        None => !stream.finished_cleanly(),
                    };
                    let State::Open(stream) = std::mem::replace(&mut this.state, State::Ended) else {
                        continue;
                    };
                    match is_lost.then(|| this.reopen(&stream, Duration::ZERO)).flatten() {
                        Some(opening) => this.state = State::Opening(stream, opening),
                        None => {
                            this.is_complete = stream.finished_cleanly();
                            return Poll::Ready(end);
                        }
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
                            next.state.partial = lost.state.partial;
                            this.state = State::Open(next);
                        }
                        // The server no longer has the events, but may still have the response.
                        Err(error) if error.is_bad_request() => {
                            let id = lost.state.interpreter.response_id.as_deref().unwrap_or_default();
                            let call = lost.state.client.responses().retrieve(id);
                            let call =
                                lost.state.in_time(call.continuing(&lost.state.options), Duration::ZERO);
                            this.state = State::Retrieving(error, call.into_future());
                        }
                        Err(error) => {
                            let requested = error.retry_after().unwrap_or_default();
                            let is_lost = is_lost(&error) || (error.is_api() && error.is_retryable());
                            let is_temporary = is_lost && requested <= lost.state.max_retry_after();
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
                    return Poll::Ready(Some(match response.map(Event::of) {
                        Ok(Some(last)) => {
                            this.is_complete = true;
                            Ok(last)
                        }
                        Err(error) if error.timeout_phase() == Some(TimeoutPhase::Total) => Err(error),
                        // The error of the resumption tells more than that of the attempt to retrieve the response.
                        _ => Err(expired),
                    }));
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
