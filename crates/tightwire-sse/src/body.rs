//! Response body of an event-stream server.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::future::{Future, Pending};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::stream::TryStream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{Error, KEEP_ALIVE, Result, SseEvent, error::Kind};

/// Default of [`SseBody::with_keep_alive`]: 15 s.
pub const DEFAULT_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Default of [`SseBody::with_shutdown_events`]: 1024.
pub const DEFAULT_SHUTDOWN_EVENTS: usize = 1024;

/// Size of the allocation that small events share, in bytes.
const FRAME_RESERVE: usize = 4 << 10;

/// Returns the headers of an event-stream response.
///
/// `Content-Type: text/event-stream`, which clients require; `Cache-Control: no-cache`; and `X-Accel-Buffering: no`,
/// which disables buffering in nginx.
///
/// # Examples
///
/// ```
/// assert_eq!(tightwire_sse::response_headers()["content-type"], "text/event-stream");
/// ```
pub fn response_headers() -> HeaderMap {
    HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ])
}

pin_project! {
    /// HTTP body that encodes a stream of events and sends keep-alive comments.
    ///
    /// The stream yields [`SseEvent`]s, or encoded events as [`Bytes`], such as those of a
    /// [`Subscription`](crate::Subscription).
    ///
    /// Send it with [`response_headers`], or use [`into_response`](Self::into_response).
    ///
    /// # Buffering
    ///
    /// Each event becomes one data frame as soon as the stream yields it. Servers such as hyper flush when the body is
    /// pending.
    ///
    /// # Keep-alive
    ///
    /// After each interval without an event, by default [`DEFAULT_KEEP_ALIVE`], the body sends the comment
    /// [`KEEP_ALIVE`], so that proxies and clients do not time out. Unless keep-alive is disabled, the body must be
    /// polled in a tokio runtime with time driver.
    ///
    /// # Shutdown
    ///
    /// A graceful shutdown of a server waits for the end of all responses, so an event stream has to end itself, see
    /// [`with_shutdown`](Self::with_shutdown). The end is regular, and clients reconnect to the next server.
    ///
    /// # Slow clients
    ///
    /// A server stops polling the body while a client does not receive: hyper does so while 16 frames or 400 KiB are in
    /// its write buffer. A body cannot detect or end this, because it is not polled. Two limits apply together:
    ///
    /// - Events: a [`Subscription`](crate::Subscription) that is further behind than the buffer of its channel is an
    ///   error, which aborts the connection when the client receives again. A client that has stopped for good uses no
    ///   memory for events.
    /// - Time: set a write timeout on the connection, for example with `TimeoutStream` of the crate `tokio-io-timeout`.
    ///   It aborts a connection that has taken no byte for this time, and the server drops the body. Without it, a
    ///   client that never receives also blocks a graceful shutdown. The example `sse_resume` of the repository shows
    ///   it.
    ///
    /// # Errors
    ///
    /// An error of the stream ends the body with [`Error::is_transport`] and the error as its source; an event that
    /// cannot be encoded ends it with [`Error::is_unencodable`]. The server then aborts the connection, and clients
    /// reconnect.
    ///
    /// # Cancellation
    ///
    /// Dropping the body drops the stream. Servers drop the body when the client disconnects.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use futures_util::stream;
    /// use http_body_util::BodyExt as _;
    /// use tightwire_sse::{SseBody, SseEvent};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let events = stream::iter([Ok::<_, Infallible>(SseEvent::new().event("greeting").data("hello"))]);
    /// let response = SseBody::new(events).into_response();
    /// assert_eq!(response.headers()["content-type"], "text/event-stream");
    /// let bytes = response.into_body().collect().await?.to_bytes();
    /// assert_eq!(bytes, "event: greeting\ndata: hello\n\n");
    /// # Ok::<(), tightwire_sse::Error>(()) }).unwrap();
    /// ```
    pub struct SseBody<S, F = Pending<()>> {
        #[pin]
        events: S,
        #[pin]
        shutdown: Option<F>,
        shutdown_events: usize,
        keep_alive: Option<KeepAlive>,
        #[pin]
        timer: Option<Sleep>,
        scratch: Vec<u8>,
        frames: BytesMut,
        // The shutdown future has completed.
        is_stopping: bool,
        ended: bool,
    }
}

#[derive(Debug)]
struct KeepAlive {
    interval: Duration,
    comment: Bytes,
}

impl<S> SseBody<S> {
    /// Returns a body that encodes `events`, a stream of `Result<SseEvent<'static>, E>` or `Result<Bytes, E>`, with
    /// keep-alive comments every [`DEFAULT_KEEP_ALIVE`].
    ///
    /// `Bytes` are sent unchanged, and have to be complete encoded events.
    pub fn new(events: S) -> Self {
        Self {
            events,
            shutdown: None,
            shutdown_events: DEFAULT_SHUTDOWN_EVENTS,
            is_stopping: false,
            keep_alive: Some(KeepAlive {
                interval: DEFAULT_KEEP_ALIVE,
                comment: Bytes::from_static(KEEP_ALIVE),
            }),
            timer: None,
            scratch: Vec::new(),
            frames: BytesMut::new(),
            ended: false,
        }
    }
}

impl<S, F> SseBody<S, F> {
    /// Ends the body regularly when `shutdown` completes, after the events that the stream has ready.
    ///
    /// It sends events until the stream is pending, at most [`with_shutdown_events`](Self::with_shutdown_events).
    /// Replaces an earlier shutdown future. Default: the body ends with the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use futures_util::{StreamExt as _, stream};
    /// use http_body_util::BodyExt as _;
    /// use tightwire_sse::{SseBody, SseEvent};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// let events = stream::iter([Ok::<_, Infallible>(SseEvent::new().data("ready"))]).chain(stream::pending());
    /// let body = SseBody::new(events).with_shutdown(async { _ = stopped.await });
    /// drop(stop);
    /// assert_eq!(body.collect().await?.to_bytes(), "data: ready\n\n");
    /// # Ok::<(), tightwire_sse::Error>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn with_shutdown<G: Future<Output = ()>>(self, shutdown: G) -> SseBody<S, G> {
        SseBody {
            events: self.events,
            shutdown: Some(shutdown),
            shutdown_events: self.shutdown_events,
            keep_alive: self.keep_alive,
            timer: self.timer,
            scratch: self.scratch,
            frames: self.frames,
            is_stopping: self.is_stopping,
            ended: self.ended,
        }
    }

    /// Sets the maximum number of events that are sent after the shutdown future has completed, so that a stream that
    /// is always ready ends, too. Default: [`DEFAULT_SHUTDOWN_EVENTS`].
    #[must_use]
    pub fn with_shutdown_events(mut self, events: usize) -> Self {
        self.shutdown_events = events;
        self
    }

    /// Sets the time without an event after which a keep-alive comment is sent. Default: [`DEFAULT_KEEP_ALIVE`];
    /// minimum: 1 ms.
    #[must_use]
    pub fn with_keep_alive(mut self, interval: Duration) -> Self {
        let comment = self.keep_alive.map_or(Bytes::from_static(KEEP_ALIVE), |keep_alive| keep_alive.comment);
        self.keep_alive = Some(KeepAlive { interval: interval.max(Duration::from_millis(1)), comment });
        self
    }

    /// Sets the text of the keep-alive comments, one comment line per line of the text. Default: empty.
    ///
    /// Enables keep-alive with [`DEFAULT_KEEP_ALIVE`] if it is disabled.
    #[must_use]
    pub fn with_keep_alive_text(mut self, text: &str) -> Self {
        let mut comment = Vec::new();
        // Cannot fail: a comment can contain any text.
        if SseEvent::new().comment(text).encode(&mut comment).is_ok() {
            let interval = self.keep_alive.map_or(DEFAULT_KEEP_ALIVE, |keep_alive| keep_alive.interval);
            self.keep_alive = Some(KeepAlive { interval, comment: comment.into() });
        }
        self
    }

    /// Disables keep-alive comments. The body then needs no timer.
    #[must_use]
    pub fn without_keep_alive(mut self) -> Self {
        self.keep_alive = None;
        self
    }

    /// Returns a response with status 200, [`response_headers`] and this body.
    pub fn into_response(self) -> http::Response<Self> {
        let mut response = http::Response::new(self);
        *response.headers_mut() = response_headers();
        response
    }
}

impl<S, F> Body for SseBody<S, F>
where
    S: TryStream,
    S::Ok: IntoFrame,
    S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    F: Future<Output = ()>,
{
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        let mut this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        if let Some(shutdown) = this.shutdown.as_mut().as_pin_mut()
            && shutdown.poll(cx).is_ready()
        {
            this.shutdown.set(None);
            *this.is_stopping = true;
        }
        let next = match *this.shutdown_events {
            0 if *this.is_stopping => Poll::Ready(None),
            _ => this.events.try_poll_next(cx),
        };
        let frame = match next {
            Poll::Ready(Some(Ok(event))) => {
                *this.shutdown_events -= usize::from(*this.is_stopping);
                event.into_frame(this.scratch, this.frames)
            }
            Poll::Ready(Some(Err(error))) => Err(Error::with_source(Kind::Transport, error)),
            Poll::Pending if !*this.is_stopping => {
                let Some(keep_alive) = this.keep_alive else { return Poll::Pending };
                if this.timer.is_none() {
                    this.timer.set(Some(sleep_until(deadline(keep_alive.interval))));
                }
                let Some(timer) = this.timer.as_mut().as_pin_mut() else { return Poll::Pending };
                if timer.poll(cx).is_pending() {
                    return Poll::Pending;
                }
                Ok(keep_alive.comment.clone())
            }
            Poll::Ready(None) | Poll::Pending => {
                *this.ended = true;
                this.timer.set(None);
                return Poll::Ready(None);
            }
        };
        // The interval starts with the latest frame; the timer is created when the stream is pending.
        this.timer.set(None);
        *this.ended = frame.is_err();
        Poll::Ready(Some(frame.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

/// Returns the deadline of an interval that starts now. An interval that `Instant` cannot represent becomes a year.
fn deadline(interval: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(interval).unwrap_or(now + YEAR)
}

/// Item of the stream of a body.
pub trait IntoFrame {
    /// Returns the encoded event. Small events share the memory of `frames`.
    fn into_frame(self, scratch: &mut Vec<u8>, frames: &mut BytesMut) -> Result<Bytes>;
}

impl IntoFrame for SseEvent<'static> {
    fn into_frame(self, scratch: &mut Vec<u8>, frames: &mut BytesMut) -> Result<Bytes> {
        scratch.clear();
        self.encode(scratch)?;
        if scratch.len() > FRAME_RESERVE {
            return Ok(Bytes::from(core::mem::take(scratch)));
        }
        if frames.capacity() < scratch.len() {
            frames.reserve(FRAME_RESERVE);
        }
        frames.extend_from_slice(scratch);
        Ok(frames.split().freeze())
    }
}

impl IntoFrame for Bytes {
    fn into_frame(self, _: &mut Vec<u8>, _: &mut BytesMut) -> Result<Bytes> {
        Ok(self)
    }
}

impl<S, F> fmt::Debug for SseBody<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseBody")
            .field("keep_alive", &self.keep_alive)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
