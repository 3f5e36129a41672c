//! Serves the requests of a connection in sequence.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use http::Method;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use super::super::access::RequestTracker;
use super::super::listener::Socket;
use super::super::server::Live;
use super::super::service::Scope;
use super::head::{PREFACE, ParseOutcome, SimpleRequest};
use super::write::{Clock, Output};

/// Maximum bytes of a request header. Larger ones are left to hyper.
const MAX_HEAD: usize = 16 * 1024;
/// Minimum free space in the buffer before a read.
const READ_SIZE: usize = 2 * 1024;

/// Limits for input that is discarded from a rejected client before the connection is closed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_DRAIN: u64 = 256 * 1024;

/// Response to invalid HTTP.
const INVALID: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Serves requests until the connection ends, or until `closing` is ready between two requests. Each request is served
/// by the current proxy in `live`. Returns the connection if a request has to be served by hyper.
pub(in super::super) async fn serve(
    mut stream: Socket,
    live: &mut watch::Receiver<Arc<Live>>,
    peer: Option<IpAddr>,
    scope: Scope,
    mut closing: Pin<&mut impl Future<Output = ()>>,
) -> Option<Rewind<Socket>> {
    let mut current = live.borrow_and_update().clone();
    let mut input = BytesMut::with_capacity(READ_SIZE);
    let deadline = Deadline::new(current.config.header_timeout);
    let timeout = current.config.send_timeout;
    let mut output = Output { deadline, timeout, buffer: Vec::new(), clock: Clock::new() };
    let mut is_closing = false;
    loop {
        // Fails only if the server is gone.
        if live.has_changed().unwrap_or(false) {
            current = live.borrow_and_update().clone();
            output.timeout = current.config.send_timeout;
        }
        let Live { proxy, config } = &*current;
        let SimpleRequest { request, keep_alive, len } =
            match ParseOutcome::read(&input, config.max_header_fields) {
                ParseOutcome::Request(request) => request,
                ParseOutcome::Unsupported => return Some(Rewind::new(input, stream)),
                ParseOutcome::Invalid => {
                    let _ = stream.write_all(INVALID).await;
                    drain_and_close(stream, config.header_timeout).await;
                    return None;
                }
                ParseOutcome::TooManyFields => {
                    let (mut tracker, response) = RequestTracker::too_large(proxy, peer, config.access_log);
                    output.write(&stream, response, (false, false), &mut tracker).await.ok()?;
                    drain_and_close(stream, config.header_timeout).await;
                    return None;
                }
                ParseOutcome::Partial if input.len() >= MAX_HEAD => return Some(Rewind::new(input, stream)),
                ParseOutcome::Partial => {
                    if input.is_empty() {
                        output.deadline.extend(config.header_timeout);
                    }
                    let read = poll_fn(|cx| {
                        is_closing = is_closing || closing.as_mut().poll(cx).is_ready();
                        if is_closing && input.is_empty() {
                            return Poll::Ready(Ok(0));
                        }
                        input.reserve(READ_SIZE / 2);
                        let read = std::pin::pin!(stream.read_buf(&mut input));
                        if let Poll::Ready(read) = read.poll(cx) {
                            return Poll::Ready(read);
                        }
                        output.deadline.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
                    });
                    match read.await {
                        Ok(0) | Err(_) => return None,
                        Ok(_) => continue,
                    }
                }
            };
        let keep_alive = keep_alive && !is_closing;
        let client = proxy.client(peer, &request);
        let mut tracker = RequestTracker::start(proxy.clone(), client, &request, config.access_log);
        let response = proxy.respond_to(&request, client, scope).await;
        tracker.record_response(&response);
        let is_head = *request.method == Method::HEAD;
        // The error is caused by the client, or already logged.
        output.write(&stream, response, (is_head, keep_alive), &mut tracker).await.ok()?;
        if !keep_alive {
            let _ = stream.shutdown().await;
            return None;
        }
        input.advance(len);
    }
}

/// Closes a connection with unread input. Discards the input first: otherwise the system would reset the connection,
/// and the client might not receive the response.
async fn drain_and_close(mut stream: Socket, header_timeout: Duration) {
    let _ = stream.shutdown().await;
    let mut rest = stream.take(MAX_DRAIN);
    let mut nowhere = tokio::io::sink();
    let discard = tokio::io::copy(&mut rest, &mut nowhere);
    let _ = tokio::time::timeout(DRAIN_TIMEOUT.min(header_timeout), discard).await;
}

/// A deadline that is extended much more often than it expires. Extending it does not touch the timer.
pub(super) struct Deadline {
    deadline: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Deadline {
    pub(super) fn new(time: Duration) -> Self {
        let timer = Box::pin(tokio::time::sleep(time));
        Self { deadline: timer.deadline(), timer }
    }

    /// Moves the deadline to `time` from now.
    pub(super) fn extend(&mut self, time: Duration) {
        let now = Instant::now();
        self.deadline = now.checked_add(time).unwrap_or(now + Duration::from_secs(86400 * 365));
    }

    /// Returns `Ready` when the deadline has passed.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.deadline < self.timer.deadline() {
            self.timer.as_mut().reset(self.deadline);
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            if self.deadline <= self.timer.deadline() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(self.deadline);
        }
        Poll::Pending
    }
}

/// A stream that first returns the bytes in `read`, which were already received, and then those of `stream`.
#[derive(Debug)]
pub(in super::super) struct Rewind<S> {
    read: BytesMut,
    stream: S,
}

impl<S> Rewind<S> {
    pub(in super::super) fn new(read: BytesMut, stream: S) -> Self {
        Self { read, stream }
    }
}

impl<S: AsyncRead + Unpin> Rewind<S> {
    /// Reads until it is known whether the connection starts with the HTTP/2 preface. The bytes stay readable. Fails if
    /// the connection ends earlier.
    pub(in super::super) async fn is_http2(&mut self) -> io::Result<bool> {
        loop {
            let len = self.read.len().min(PREFACE.len());
            if self.read[..len] != PREFACE[..len] {
                return Ok(false);
            }
            if len == PREFACE.len() {
                return Ok(true);
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewind<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let len = self.read.len().min(buf.remaining());
        buf.put_slice(&self.read[..len]);
        self.read.advance(len);
        if self.read.is_empty() {
            self.read = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewind<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn deadlines_can_be_extended_and_shortened() {
        let begun = Instant::now();
        let mut deadline = Deadline::new(Duration::from_secs(10));
        deadline.extend(Duration::from_secs(30));
        poll_fn(|cx| deadline.poll(cx)).await;
        assert_eq!(begun.elapsed().as_secs(), 30);
        deadline.extend(Duration::from_secs(100));
        assert!(futures_util::poll!(std::pin::pin!(poll_fn(|cx| deadline.poll(cx)))).is_pending());
        deadline.extend(Duration::from_secs(1));
        poll_fn(|cx| deadline.poll(cx)).await;
        assert_eq!(begun.elapsed().as_secs(), 31);
    }
}
