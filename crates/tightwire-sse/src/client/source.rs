//! The driver: connects, decodes, waits, connects again. It acts only when polled.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use tokio::time::{Sleep, sleep};

use super::connection::{Connection, Step};
use super::request::Template;
use super::retry::{Outcome, Retry};
use super::silence::Silence;
use super::transport::{Connecting, Failure, Transport};
use super::{Events, Message, ReadyState, response};
use crate::error::{Error, Kind, Result};
use crate::{Config, Decoder};

/// A client that receives the events of a URL and connects again when the connection is lost.
///
/// It is a [`Stream`] of [`Message`]s. Nothing happens unless it is polled: the first poll sends the first
/// request, and there is no background task.
///
/// # Errors
///
/// An `Err` item is final: the state is [`ReadyState::Closed`] and the stream ends after it. The one
/// exception is [`Error::is_limit`] while the state is [`ReadyState::Open`]: one event was skipped and
/// the connection goes on. Losses that the client recovers from are [`Message::Reconnecting`].
///
/// # Cancel safety
///
/// Everything received is kept in the client, so a future that waits for the next message can be dropped at
/// any time, as `select!` does, without losing an event. Dropping the client closes its connection and
/// cancels a request under way.
///
/// # Panics
///
/// Polling needs a tokio runtime with its I/O and time drivers, and panics outside of one.
///
/// # Examples
///
/// ```no_run
/// use futures_util::TryStreamExt;
/// use tightwire_sse::{EventSource, Message};
///
/// # async fn run() -> tightwire_sse::Result<()> {
/// let mut source = EventSource::builder("https://example.org/prices").build()?;
/// while let Some(message) = source.try_next().await? {
///     match message {
///         Message::Event(event) if event.event_type() == "bye" => source.close(),
///         Message::Event(event) => println!("{}: {}", event.event_type(), event.data()),
///         Message::Reconnecting { error, delay } => eprintln!("{error}, trying again in {delay:?}"),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct EventSource {
    phase: Phase,
    settings: Settings,
    retry: Retry,
    silence: Silence,
    /// The last event id string of the connections before the current one.
    last_event_id: String,
}

/// What stays the same over all connections.
pub(super) struct Settings {
    pub(super) request: Template,
    pub(super) transport: Transport,
    pub(super) decoder: Config,
    pub(super) comments: bool,
    pub(super) retry_server_errors: bool,
}

enum Phase {
    /// The next poll sends a request. Sending needs a runtime, which only a poll is sure to have.
    Start,
    Connecting(Connecting),
    Open(Box<Connection>),
    Waiting(Pin<Box<Sleep>>),
    Closed,
}

impl EventSource {
    pub(super) const fn new(
        settings: Settings,
        retry: Retry,
        silence: Silence,
        last_event_id: String,
    ) -> Self {
        Self { phase: Phase::Start, settings, retry, silence, last_event_id }
    }

    /// Returns the state of the connection, as of the message received last.
    pub const fn state(&self) -> ReadyState {
        match self.phase {
            Phase::Start | Phase::Connecting(_) | Phase::Waiting(_) => ReadyState::Connecting,
            Phase::Open(_) => ReadyState::Open,
            Phase::Closed => ReadyState::Closed,
        }
    }

    /// Returns the id that the next connection resumes after; empty if there is none.
    ///
    /// It is sent as `Last-Event-ID`, in UTF-8. An id with control characters, which HTTP cannot carry, is
    /// not.
    ///
    /// It can be stored and handed to
    /// [`EventSourceBuilder::last_event_id`](crate::EventSourceBuilder::last_event_id) of another client.
    pub fn last_event_id(&self) -> &str {
        match &self.phase {
            Phase::Open(connection) => connection.last_event_id(),
            _ => &self.last_event_id,
        }
    }

    /// Drops the connection for good. The stream ends without a further message.
    pub fn close(&mut self) {
        self.leave(Phase::Closed);
    }

    /// Drops the connection, or the wait for one, and connects again at the next poll.
    ///
    /// What was received of an unfinished event is discarded. The series of waits stays where it is. A closed
    /// client stays closed.
    pub fn restart(&mut self) {
        if !matches!(self.phase, Phase::Closed) {
            let outcome = self.leave(Phase::Start);
            self.retry.note(outcome);
        }
    }

    /// Returns a view that yields events only, for callers who do not care about the connection.
    ///
    /// It ends with the error after which the client does not connect again. An event past the size limit is
    /// an error too, after which it goes on; see [`EventSource`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::TryStreamExt;
    ///
    /// # async fn run() -> tightwire_sse::Result<()> {
    /// let mut source = tightwire_sse::EventSource::builder("https://example.org/prices").build()?;
    /// let mut events = source.events();
    /// while let Some(event) = events.try_next().await? {
    ///     println!("{}", event.data());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub const fn events(&mut self) -> Events<'_> {
        Events::new(self)
    }

    /// Changes the phase. The id of the connection that ends is kept, its unfinished block is not.
    fn leave(&mut self, next: Phase) -> Outcome {
        self.silence.end();
        let Phase::Open(connection) = mem::replace(&mut self.phase, next) else {
            return Outcome::default();
        };
        connection.last_event_id().clone_into(&mut self.last_event_id);
        Outcome { open_for: Some(connection.age()), retry: connection.retry() }
    }

    /// Handles a lost connection or a failed attempt, and waits for the next one. Returns the next item of the stream.
    fn lose(&mut self, error: Error) -> Option<Result<Message>> {
        let outcome = self.leave(Phase::Closed);
        self.retry.note(outcome);
        let Some(delay) = self.retry.next_delay(random()) else {
            // The end of the response is what a client that never reconnects waits for.
            let is_expected = error.is_ended() && self.retry.is_disabled();
            return if is_expected { None } else { Some(Err(error)) };
        };
        self.phase = Phase::Waiting(Box::pin(sleep(delay)));
        Some(Ok(Message::Reconnecting { error, delay }))
    }

    /// Closes the client after an error that another attempt would meet again.
    fn fail(&mut self, error: Error) -> Option<Result<Message>> {
        self.leave(Phase::Closed);
        Some(Err(error))
    }

    fn answered(
        &mut self,
        answer: Result<http::Response<reqwest::Body>, Failure>,
    ) -> Option<Result<Message>> {
        let response = match answer {
            Ok(response) => response,
            Err(failure) if failure.futile => return self.fail(failure.error),
            Err(failure) => return self.lose(failure.error),
        };
        if let Err(error) = response::check(response.status(), response.headers()) {
            return if self.settings.retry_server_errors && response.status().is_server_error() {
                self.lose(error)
            } else {
                self.fail(error)
            };
        }
        // A decoder of its own for each connection: byte order mark again, nothing left of a broken block,
        // and a reconnection time only if this server sends one. The id is seeded, as browsers do.
        let decoder = Decoder::with_config(self.settings.decoder).with_last_event_id(&self.last_event_id);
        let connection = Connection::new(response.into_body(), decoder, self.settings.comments);
        self.leave(Phase::Open(Box::new(connection)));
        Some(Ok(Message::Open))
    }
}

impl Stream for EventSource {
    type Item = Result<Message>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let message = match &mut this.phase {
                Phase::Start => match this.settings.request.resume(&this.last_event_id) {
                    Some(request) => {
                        this.phase = Phase::Connecting(this.settings.transport.connect(request));
                        continue;
                    }
                    None => this.fail(Error::new(Kind::Request)),
                },
                Phase::Connecting(response) => match response.as_mut().poll(cx) {
                    Poll::Ready(answer) => this.answered(answer),
                    Poll::Pending => {
                        ready!(this.silence.poll_limit(cx));
                        this.lose(Error::new(Kind::Timeout))
                    }
                },
                Phase::Open(connection) => match ready!(connection.poll_step(&mut this.silence, cx)) {
                    Step::Message(message) => Some(Ok(message)),
                    Step::Skipped(error) => Some(Err(error)),
                    Step::Lost(error) => this.lose(error),
                    Step::Terminated(error) => this.fail(error),
                },
                Phase::Waiting(sleep) => {
                    ready!(sleep.as_mut().poll(cx));
                    this.phase = Phase::Start;
                    continue;
                }
                Phase::Closed => return Poll::Ready(None),
            };
            return Poll::Ready(message);
        }
    }
}

impl FusedStream for EventSource {
    fn is_terminated(&self) -> bool {
        self.state() == ReadyState::Closed
    }
}

/// Shows neither the URL nor the headers, body or ids, which may be secret.
impl fmt::Debug for EventSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSource").field("state", &self.state()).finish_non_exhaustive()
    }
}

/// Jitter has to differ between processes and calls, nothing more; the keys of the standard library's hash
/// maps do.
fn random() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}
