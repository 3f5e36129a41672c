//! Reading the bodies of answers.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use reqwest::Body;
use tightwire_sse::{IdleTimer, without_urls};
use tokio::time::timeout;

use super::transport::Failure;
use crate::error::{Error, TimeoutPhase};

/// How much of a body that nobody wants is read, so that its connection can be used again, in bytes.
const DRAIN_BYTES: usize = 16 << 10;

/// How long that may take. Another connection costs about as much.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// The next chunk of data; trailers are skipped.
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
pub(super) async fn read(mut body: Body, limit: usize) -> Result<Bytes, Failure> {
    let too_large = || Failure { error: Error::too_large(limit), futile: true };
    // Decompressed bodies have no length beforehand.
    let announced = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut read = Joined::default();
    while let Some(data) = poll_fn(|cx| poll_data(&mut body, cx)).await {
        let data = data.map_err(Failure::of_reqwest)?;
        if data.len() > limit - read.len() {
            return Err(too_large());
        }
        read.push(data, announced);
    }
    Ok(read.into_bytes())
}

/// Chunks in one piece. A single chunk is not copied, several are copied into a buffer that grows by doubling.
#[derive(Default)]
struct Joined {
    only: Bytes,
    several: BytesMut,
}

impl Joined {
    fn len(&self) -> usize {
        self.only.len() + self.several.len()
    }

    /// Appends a chunk. `expected` is the length of all of them, if it is known.
    fn push(&mut self, data: Bytes, expected: Option<usize>) {
        if self.len() == 0 {
            self.only = data;
            return;
        }
        if self.several.is_empty() {
            let length = self.only.len() + data.len();
            self.several.reserve(expected.unwrap_or(length * 2));
            self.several.extend_from_slice(&std::mem::take(&mut self.only));
        }
        self.several.extend_from_slice(&data);
    }

    fn into_bytes(self) -> Bytes {
        if self.several.is_empty() { self.only } else { self.several.freeze() }
    }
}

/// Reads as much of the body of an error as `limit` and `time` allow, and takes what there is if it breaks off.
pub(super) async fn read_some(mut body: Body, limit: usize, time: Duration) -> Bytes {
    let mut read = Joined::default();
    let reading = async {
        while let Some(Ok(mut data)) = poll_fn(|cx| poll_data(&mut body, cx)).await {
            data.truncate(limit - read.len());
            read.push(data, None);
            if read.len() == limit {
                break;
            }
        }
    };
    // Running out of time is one way to be done.
    let _ = timeout(time, reading).await;
    read.into_bytes()
}

/// Reads and forgets the rest of a body if it is short and comes soon; otherwise its connection is closed.
pub(super) async fn drain(mut body: Body) {
    let rest = poll_fn(|cx| poll_drain(&mut body, &mut 0, cx));
    // Running out of time is one way to be done.
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

/// A body that is read while it arrives. Dropping it cancels the request.
#[derive(Debug)]
pub(crate) struct LiveBody {
    body: Body,
    silence: IdleTimer,
    drained: usize,
}

impl LiveBody {
    pub(crate) fn new(body: Body, idle: Option<Duration>) -> Self {
        Self { body, silence: IdleTimer::new(idle), drained: 0 }
    }

    /// The next chunk, the end, or why there is neither.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let Poll::Ready(data) = poll_data(&mut self.body, cx) else {
            std::task::ready!(self.silence.poll_elapsed(cx));
            return Poll::Ready(Some(Err(Error::timeout(TimeoutPhase::Idle))));
        };
        self.silence.reset();
        Poll::Ready(data.map(|data| {
            data.map_err(|error| match error.is_timeout() {
                true => Error::timeout(TimeoutPhase::Idle).with_source(without_urls(error)),
                false => Error::connection(without_urls(error)),
            })
        }))
    }

    /// Makes the connection free for the next call if the body ends soon; ready when it has, or has not.
    pub(crate) fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.silence.timeout() != Some(DRAIN_TIME) {
            self.silence = IdleTimer::new(Some(DRAIN_TIME));
        }
        match poll_drain(&mut self.body, &mut self.drained, cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => self.silence.poll_elapsed(cx),
        }
    }

    pub(crate) fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Reads the rest.
    pub(crate) async fn read(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut read = Joined::default();
        while let Some(chunk) = poll_fn(|cx| self.poll_chunk(cx)).await {
            let chunk = chunk?;
            if chunk.len() > limit - read.len() {
                return Err(Error::too_large(limit));
            }
            read.push(chunk, None);
        }
        Ok(read.into_bytes())
    }
}
