//! Streams that reconnect.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::EventStream;
use crate::client::Call;
use crate::error::{Result, TimeoutPhase};
use crate::types::responses::Event;

impl EventStream<Event> {
    /// Returns the call that continues this stream after its last event. `None` until the response identifier
    /// and a sequence number were received.
    pub fn resume(&self) -> Option<Call<Self>> {
        let (id, sequence) = (self.state.interpreter.response_id.as_deref()?, self.last_sequence_number()?);
        Some(self.state.client.responses().resume(id, sequence))
    }

    /// Returns a stream that reconnects when the connection is lost, at most `resumes` times in a row without
    /// receiving an event.
    ///
    /// Only stored responses can be resumed.
    pub fn resuming(self, resumes: u32) -> ResumingStream {
        ResumingStream { state: State::Open(self), resumes, left: resumes }
    }
}

/// Events of a response over several connections; see [`EventStream::resuming`].
///
/// An error ends the stream.
#[must_use = "streams do nothing unless polled"]
pub struct ResumingStream {
    state: State,
    resumes: u32,
    left: u32,
}

type Opening = Pin<Box<dyn Future<Output = Result<EventStream<Event>>> + Send>>;

enum State {
    Open(EventStream<Event>),
    /// The lost stream, and the request that replaces it.
    Opening(EventStream<Event>, Opening),
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

    /// Returns the call that resumes the stream, if it can be resumed.
    fn reopen(&mut self, lost: &EventStream<Event>) -> Option<Opening> {
        let call = lost.resume()?;
        self.left = self.left.checked_sub(1)?;
        let call = match lost.state.total {
            Some(total) => call.total_timeout(total.left()),
            None => call,
        };
        Some(call.into_future())
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
                        Some(Ok(_)) => {
                            this.left = this.resumes;
                            return Poll::Ready(end);
                        }
                        Some(Err(error)) => match error.timeout_phase() {
                            Some(phase) => phase != TimeoutPhase::Total,
                            None => error.is_connection() || error.is_incomplete(),
                        },
                        None => !stream.finished_cleanly(),
                    };
                    let State::Open(stream) = std::mem::replace(&mut this.state, State::Ended) else {
                        continue;
                    };
                    match is_lost.then(|| this.reopen(&stream)).flatten() {
                        Some(opening) => this.state = State::Opening(stream, opening),
                        None => return Poll::Ready(end),
                    }
                }
                State::Opening(lost, opening) => match ready!(opening.as_mut().poll(cx)) {
                    Ok(mut next) => {
                        next.state.interpreter.resume_from(&lost.state.interpreter);
                        this.state = State::Open(next);
                    }
                    Err(error) => {
                        this.state = State::Ended;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
            }
        }
    }
}

impl fmt::Debug for ResumingStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumingStream").field("left", &self.left).finish_non_exhaustive()
    }
}
