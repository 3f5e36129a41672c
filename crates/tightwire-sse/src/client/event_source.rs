//! State machine of the client: connects, decodes, waits and reconnects.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use tokio::time::{Sleep, sleep};

use super::connection::{Connection, Step};
use super::idle_timer::Timeouts;
use super::refused::{ErrorBodyLimits, RefusedResponse, retry_delay};
use super::request::{ContentTypes, RequestTemplate, check_response, is_event_stream};
use super::retry::{Outcome, Retry};
use super::transport::{Connecting, Response, Transport};
use super::{Backoff, McpSession, Message, ReadyState};
use crate::error::{Error, Kind, Result};
use crate::{Config, Decoder, Ending, Event};

/// Client that receives the events of a URL and reconnects when the connection is lost.
///
/// It is a [`Stream`] of [`Message`]s. There is no background task: the first poll sends the first request.
///
/// # Errors
///
/// An `Err` item is final: the state is [`ReadyState::Closed`] and the stream ends. The only exception is
/// [`Error::is_limit`] in the state [`ReadyState::Open`]: an oversized event was skipped, and the connection continues.
/// Recoverable errors are reported as [`Message::Reconnecting`].
///
/// The error of a response with another status than 200 or another content type has its [status](Error::status),
/// [headers](Error::headers) and [body](Error::body).
///
/// # Cancel safety
///
/// Dropping the future of `next()`, as in `select!`, loses no message. Dropping the client closes its connection or
/// cancels the request in flight.
///
/// # Panics
///
/// Polling panics outside of a tokio runtime with I/O and time drivers.
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
    request: RequestTemplate,
    transport: Transport,
    options: Options,
    retry: Retry,
    timeouts: Timeouts,
    /// Decoder of the next connection, with the last event id. The default while a connection is open.
    decoder: Decoder,
    /// Failed attempts since the last connection.
    failed_attempts: u32,
    was_open: bool,
    /// Session that a refused resumption ends.
    session: Option<McpSession>,
}

/// Options of a client; see the methods of [`EventSourceBuilder`](crate::EventSourceBuilder).
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) decoder: Config,
    pub(super) backoff: Backoff,
    pub(super) read_timeout: Option<Duration>,
    pub(super) event_timeout: Option<Duration>,
    pub(super) comments: bool,
    pub(super) retry_server_errors: bool,
    pub(super) max_retry_after: Duration,
    pub(super) error_body: ErrorBodyLimits,
    pub(super) ending: Ending,
    pub(super) content_types: ContentTypes,
    /// Random number for jitter.
    pub(super) random: fn() -> u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            decoder: Config::new(),
            backoff: Backoff::new(),
            read_timeout: None,
            event_timeout: None,
            comments: false,
            retry_server_errors: false,
            max_retry_after: Duration::from_secs(5 * 60),
            error_body: ErrorBodyLimits::default(),
            ending: Ending::Strict,
            content_types: is_event_stream,
            random,
        }
    }
}

enum Phase {
    /// The next poll sends a request. This requires a runtime, which is only guaranteed in a poll.
    Start,
    Connecting(Connecting),
    Refused(Box<RefusedResponse>),
    Open(Box<Connection>),
    Waiting(Pin<Box<Sleep>>),
    Closed,
}

impl EventSource {
    pub(super) fn new(
        request: RequestTemplate,
        transport: Transport,
        options: Options,
        last_event_id: String,
    ) -> Self {
        let retry = Retry::new(options.backoff);
        let timeouts = Timeouts::new(options.read_timeout, options.event_timeout);
        let decoder = Decoder::with_config(options.decoder).with_last_event_id(&last_event_id);
        Self {
            phase: Phase::Start,
            request,
            transport,
            options,
            retry,
            timeouts,
            decoder,
            failed_attempts: 0,
            was_open: false,
            session: None,
        }
    }

    pub(super) const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the first request in flight, without changing the state of the client.
    pub(super) fn connect(&self) -> Result<Connecting> {
        let request =
            self.request.resume(self.decoder.last_event_id()).ok_or_else(|| Error::new(Kind::Request))?;
        Ok(self.transport.connect(request))
    }

    /// Takes the response to the first request, and resumes it with GET requests. Returns their headers.
    pub(super) fn resume_with_get(
        &mut self,
        response: http::Response<reqwest::Body>,
        session: McpSession,
    ) -> &mut http::HeaderMap {
        self.session = Some(session);
        self.phase = Phase::Connecting(Box::pin(std::future::ready(Ok(response))));
        self.request.resume_with_get()
    }

    /// Returns the state of the connection after the last message.
    pub const fn state(&self) -> ReadyState {
        match self.phase {
            Phase::Start | Phase::Connecting(_) | Phase::Refused(_) | Phase::Waiting(_) => {
                ReadyState::Connecting
            }
            Phase::Open(_) => ReadyState::Open,
            Phase::Closed => ReadyState::Closed,
        }
    }

    /// Returns the last event id. Empty if there is none.
    ///
    /// The next connection sends it as `Last-Event-ID`, in UTF-8, unless it has control characters, which are not valid
    /// in HTTP. Pass it to [`EventSourceBuilder::last_event_id`](crate::EventSourceBuilder::last_event_id) to resume
    /// with another client.
    pub fn last_event_id(&self) -> &str {
        match &self.phase {
            Phase::Open(connection) => connection.last_event_id(),
            _ => self.decoder.last_event_id(),
        }
    }

    /// Closes the connection. The stream ends without another message.
    pub fn close(&mut self) {
        self.set_phase(Phase::Closed);
    }

    /// Closes the connection or ends the delay, and connects again at the next poll.
    ///
    /// Drops an incomplete event. Does not reset the backoff, and has no effect on a closed client.
    pub fn restart(&mut self) {
        if !matches!(self.phase, Phase::Closed) {
            let outcome = self.set_phase(Phase::Start);
            self.retry.record(outcome);
        }
    }

    /// Returns a stream of the events, without messages about the connection.
    ///
    /// Errors are those of [`EventSource`]. The error of an attempt to connect is an item, too, after which the stream
    /// continues: of each one until the first connection, then of the fifth failed attempt in a row and later ones.
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
        Events { source: self }
    }

    /// Changes the phase. If a connection was open, keeps its decoder without the incomplete block.
    fn set_phase(&mut self, next: Phase) -> Outcome {
        self.timeouts.reset();
        let Phase::Open(connection) = mem::replace(&mut self.phase, next) else {
            return Outcome::default();
        };
        let open_for = Some(connection.age());
        self.decoder = connection.into_decoder();
        self.decoder.reconnect();
        Outcome { open_for, retry: self.decoder.reconnection_time() }
    }

    /// Handles a lost connection or a failed attempt, and starts the delay: that of the backoff, but at least
    /// `min_delay`. Returns the next item of the stream.
    fn reconnect_after(&mut self, error: Error, min_delay: Duration) -> Option<Result<Message>> {
        let outcome = self.set_phase(Phase::Closed);
        if outcome.open_for.is_none() {
            self.failed_attempts = self.failed_attempts.saturating_add(1);
        }
        self.retry.record(outcome);
        let Some(delay) = self.retry.next_delay((self.options.random)()) else {
            // For a client that never reconnects, the end of the response is the regular end.
            let is_expected = error.is_ended() && self.retry.is_disabled();
            return if is_expected { None } else { Some(Err(error)) };
        };
        let delay = delay.max(min_delay);
        self.phase = Phase::Waiting(Box::pin(sleep(delay)));
        Some(Ok(Message::Reconnecting { error, delay }))
    }

    /// Returns whether so many attempts failed that [`Events`] reports the error of the last one.
    const fn is_unreachable(&self) -> bool {
        self.failed_attempts >= if self.was_open { 5 } else { 1 }
    }

    /// Closes the client after a permanent error.
    fn close_with(&mut self, error: Error) -> Option<Result<Message>> {
        self.set_phase(Phase::Closed);
        Some(Err(error))
    }

    /// Opens the connection of an accepted response.
    fn open(&mut self, response: Response) -> Option<Result<Message>> {
        let decoder = mem::take(&mut self.decoder);
        let (head, body) = response.into_parts();
        let connection = Connection::new(body, decoder, self.options.comments, self.options.ending);
        self.set_phase(Phase::Open(Box::new(connection)));
        (self.failed_attempts, self.was_open) = (0, true);
        Some(Ok(Message::Open { headers: head.headers }))
    }
}

impl Stream for EventSource {
    type Item = Result<Message>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let message = match &mut this.phase {
                Phase::Start => match this.request.resume(this.decoder.last_event_id()) {
                    Some(request) => {
                        this.phase = Phase::Connecting(this.transport.connect(request));
                        continue;
                    }
                    None => this.close_with(Error::new(Kind::Request)),
                },
                Phase::Connecting(response) => match response.as_mut().poll(cx) {
                    Poll::Ready(Ok(response)) => {
                        match check_response(
                            response.status(),
                            response.headers(),
                            this.options.content_types,
                        ) {
                            Ok(()) => this.open(response),
                            Err(refusal) => {
                                // The error has the start of the body, which often contains the reason.
                                let limits = this.options.error_body;
                                let refusal = match &this.session {
                                    Some(session) => {
                                        session.refusal(refusal, response.status(), this.was_open)
                                    }
                                    None => refusal,
                                };
                                let refused = RefusedResponse::new(refusal, response, limits);
                                this.set_phase(Phase::Refused(Box::new(refused)));
                                continue;
                            }
                        }
                    }
                    Poll::Ready(Err(failure)) if failure.is_permanent => this.close_with(failure.error),
                    Poll::Ready(Err(failure)) => this.reconnect_after(failure.error, Duration::ZERO),
                    Poll::Pending => {
                        let error = ready!(this.timeouts.poll_error(cx));
                        this.reconnect_after(error, Duration::ZERO)
                    }
                },
                Phase::Refused(response) => {
                    let error = ready!(response.poll_error(cx));
                    // Statuses that the options do not retry, and a `Retry-After` beyond their maximum, end the stream.
                    match retry_delay(&error, &this.options, SystemTime::now()) {
                        Some(delay) => this.reconnect_after(error, delay),
                        None => this.close_with(error),
                    }
                }
                Phase::Open(connection) => match ready!(connection.poll_step(&mut this.timeouts, cx)) {
                    Step::Message(message) => Some(Ok(message)),
                    Step::Skipped(error) => Some(Err(error)),
                    Step::Lost(error) => this.reconnect_after(error, Duration::ZERO),
                    Step::Terminated(error) => this.close_with(error),
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

/// Maximum number of messages skipped per poll, so that a fast stream of comments does not block the executor.
const MESSAGES_PER_POLL: usize = 64;

/// Stream of the events of an [`EventSource`], without its other messages; see [`EventSource::events`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Events<'a> {
    source: &'a mut EventSource,
}

impl Stream for Events<'_> {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        for _ in 0..MESSAGES_PER_POLL {
            match ready!(Pin::new(&mut *self.source).poll_next(cx)) {
                Some(Ok(Message::Event(event))) => return Poll::Ready(Some(Ok(event))),
                Some(Ok(Message::Reconnecting { error, .. })) if self.source.is_unreachable() => {
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Ok(Message::Open { .. } | Message::Comment(_) | Message::Reconnecting { .. })) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl FusedStream for Events<'_> {
    fn is_terminated(&self) -> bool {
        self.source.is_terminated()
    }
}

/// Omits the URL, headers, body and ids, which may be secret.
impl fmt::Debug for EventSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSource").field("state", &self.state()).finish_non_exhaustive()
    }
}

/// Returns a random number for jitter, from the random keys of the standard library's hash maps.
fn random() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}
