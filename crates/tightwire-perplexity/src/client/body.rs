//! Reading response bodies.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use reqwest::Body;
use tightwire_sse::{IdleTimer, without_urls};
use tokio::time::{Sleep, timeout};

use super::timeouts::Deadline;
use super::transport::AttemptError;
use crate::error::{Error, Kind, TimeoutPhase};

/// Maximum bytes of an unwanted body that are read so that its connection can be reused.
const DRAIN_BYTES: usize = 16 << 10;

/// Maximum time for draining a body. A new connection costs about as much.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// Returns the next chunk of data. Trailers are skipped.
fn poll_data(body: &mut Body, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, reqwest::Error>>> {
    loop {
        match std::task::ready!(Pin::new(&mut *body).poll_frame(cx)) {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Poll::Ready(Some(Ok(data)));
                }
            }
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        }
    }
}

/// Reads a body of at most `limit` bytes. A body that arrives as one chunk is not copied.
pub(super) async fn read(mut body: Body, limit: usize) -> Result<Bytes, AttemptError> {
    let too_large =
        || AttemptError { error: Error::new(Kind::TooLarge(limit)), is_permanent: true, is_sent: true };
    // The length of compressed bodies is unknown.
    let content_length = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    if content_length.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut read = BodyBuffer::default();
    while let Some(data) = poll_fn(|cx| poll_data(&mut body, cx)).await {
        let data = data.map_err(AttemptError::from_reqwest)?;
        if data.len() > limit - read.len() {
            return Err(too_large());
        }
        read.push(data, content_length);
    }
    Ok(read.into_bytes())
}

/// Body assembled from chunks. A single chunk is not copied; several are copied into a buffer that grows by
/// doubling.
#[derive(Default)]
struct BodyBuffer {
    first: Bytes,
    joined: BytesMut,
}

impl BodyBuffer {
    fn len(&self) -> usize {
        self.first.len() + self.joined.len()
    }

    /// Appends a chunk. `expected` is the length of the whole body, if known.
    fn push(&mut self, data: Bytes, expected: Option<usize>) {
        if self.len() == 0 {
            self.first = data;
            return;
        }
        if self.joined.is_empty() {
            let length = self.first.len() + data.len();
            self.joined.reserve(expected.unwrap_or(length * 2));
            self.joined.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.joined.extend_from_slice(&data);
    }

    fn into_bytes(self) -> Bytes {
        if self.joined.is_empty() { self.first } else { self.joined.freeze() }
    }
}

/// Reads up to `limit` bytes of an error body. Returns the bytes received so far if `time` elapses or the connection
/// is lost.
pub(super) async fn read_truncated(mut body: Body, limit: usize, time: Duration) -> Bytes {
    let mut read = BodyBuffer::default();
    let reading = async {
        while let Some(Ok(mut data)) = poll_fn(|cx| poll_data(&mut body, cx)).await {
            data.truncate(limit - read.len());
            read.push(data, None);
            if read.len() == limit {
                break;
            }
        }
    };
    // A timeout is not an error: the body read so far is used.
    let _ = timeout(time, reading).await;
    read.into_bytes()
}

/// Reads and discards the rest of a body if it is short and arrives soon. Otherwise the connection is closed.
pub(super) async fn drain(mut body: Body) {
    let rest = poll_fn(|cx| poll_drain(&mut body, &mut 0, cx));
    // A timeout is not an error: the connection is closed.
    let _ = timeout(DRAIN_TIME, rest).await;
}

fn poll_drain(body: &mut Body, drained: &mut usize, cx: &mut Context<'_>) -> Poll<()> {
    while let Some(Ok(data)) = std::task::ready!(poll_data(body, cx)) {
        *drained += data.len();
        if *drained > DRAIN_BYTES {
            break;
        }
    }
    Poll::Ready(())
}

/// A response body that is read while it arrives. Dropping it cancels the request.
#[derive(Debug)]
pub(crate) struct StreamingBody {
    body: Body,
    silence: IdleTimer,
    /// Total timeout of the call.
    total: Option<Pin<Box<Sleep>>>,
    drained: usize,
}

impl StreamingBody {
    pub(crate) fn new(body: Body, idle: Option<Duration>, total: Option<Deadline>) -> Self {
        let total = total.map(|total| Box::pin(total.timer()));
        Self { body, silence: IdleTimer::new(idle), total, drained: 0 }
    }

    /// Ready when the total timeout has elapsed.
    fn poll_total(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.total.as_mut().map_or(Poll::Pending, |timer| timer.as_mut().poll(cx))
    }

    /// Returns the next chunk, or `None` at the end of the body.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.poll_total(cx).is_ready() {
            return Poll::Ready(Some(Err(Error::new(Kind::Timeout(TimeoutPhase::Total)))));
        }
        let Poll::Ready(data) = poll_data(&mut self.body, cx) else {
            std::task::ready!(self.silence.poll_elapsed(cx));
            return Poll::Ready(Some(Err(Error::new(Kind::Timeout(TimeoutPhase::Idle)))));
        };
        self.silence.reset();
        Poll::Ready(data.map(|data| {
            data.map_err(|error| match error.is_timeout() {
                true => Error::new(Kind::Timeout(TimeoutPhase::Idle)).with_source(without_urls(error)),
                false => Error::connection(without_urls(error)),
            })
        }))
    }

    /// Drains a short body so that its connection can be reused. Ready after the end of the body, or after
    /// the drain limits or the total timeout.
    pub(crate) fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.silence.timeout() != Some(DRAIN_TIME) {
            self.silence = IdleTimer::new(Some(DRAIN_TIME));
        }
        if self.poll_total(cx).is_ready() {
            return Poll::Ready(());
        }
        match poll_drain(&mut self.body, &mut self.drained, cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => self.silence.poll_elapsed(cx),
        }
    }

    pub(crate) fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Reads the remaining body, at most `limit` bytes.
    pub(crate) async fn read(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut read = BodyBuffer::default();
        while let Some(chunk) = poll_fn(|cx| self.poll_chunk(cx)).await {
            let chunk = chunk?;
            if chunk.len() > limit - read.len() {
                return Err(Error::new(Kind::TooLarge(limit)));
            }
            read.push(chunk, None);
        }
        Ok(read.into_bytes())
    }
}
