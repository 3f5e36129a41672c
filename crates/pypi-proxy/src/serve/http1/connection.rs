//! Serves the requests of a connection in sequence.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::super::access::RequestTracker;
use super::super::service::{Proxy, Scope};
use super::deadline::Deadline;
use super::head::{ParseOutcome, SimpleRequest};
use super::rewind::Rewind;
use super::write::{Clock, Writer};

/// Maximum bytes of a request header. Larger ones are left to hyper.
const MAX_HEAD: usize = 16 * 1024;
/// Minimum free space in the buffer before a read.
const READ_SIZE: usize = 2 * 1024;

/// Limits for input that is discarded from a rejected client before the connection is closed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_DRAIN: u64 = 256 * 1024;

/// Response to invalid HTTP.
const INVALID: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Configuration of a connection.
#[derive(Clone, Copy)]
pub(in super::super) struct ConnectionConfig {
    pub(in super::super) header_timeout: Duration,
    pub(in super::super) send_timeout: Duration,
    /// Maximum header fields of a request.
    pub(in super::super) max_fields: usize,
    pub(in super::super) client: Option<IpAddr>,
    pub(in super::super) is_logged: bool,
    pub(in super::super) scope: Scope,
}

/// Serves requests until the connection ends, or until `closing` is ready between two requests. Returns the connection
/// if a request has to be served by hyper.
pub(in super::super) async fn serve(
    mut stream: TcpStream,
    proxy: &Proxy,
    config: ConnectionConfig,
    mut closing: Pin<&mut impl Future<Output = ()>>,
) -> Option<Rewind<TcpStream>> {
    let mut input = BytesMut::with_capacity(READ_SIZE);
    let (mut buffer, mut clock) = (Vec::new(), Clock::new());
    let mut deadline = Deadline::new(config.header_timeout);
    let mut is_closing = false;
    loop {
        let SimpleRequest { request, keep_alive, len } = match ParseOutcome::read(&input, config.max_fields) {
            ParseOutcome::Request(request) => request,
            ParseOutcome::Unsupported => return Some(Rewind::new(input, stream)),
            ParseOutcome::Invalid => {
                let _ = stream.write_all(INVALID).await;
                drain_and_close(stream, &config).await;
                return None;
            }
            ParseOutcome::TooManyFields => {
                let (mut tracker, response) =
                    RequestTracker::too_large(proxy, config.client, config.is_logged);
                let (deadline, buffer, clock) = (&mut deadline, &mut buffer, &mut clock);
                let mut writer =
                    Writer { stream: &stream, deadline, timeout: config.send_timeout, buffer, clock };
                writer.write(response, false, false, &mut tracker).await.ok()?;
                drain_and_close(stream, &config).await;
                return None;
            }
            ParseOutcome::Partial if input.len() >= MAX_HEAD => return Some(Rewind::new(input, stream)),
            ParseOutcome::Partial => {
                if input.is_empty() {
                    deadline.extend(config.header_timeout);
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
                    deadline.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
                });
                match read.await {
                    Ok(0) | Err(_) => return None,
                    Ok(_) => continue,
                }
            }
        };
        let keep_alive = keep_alive && !is_closing;
        let client = proxy.client(config.client, &request);
        let mut tracker = RequestTracker::start(proxy.clone(), client, &request, config.is_logged);
        let response = proxy.respond_to(&request, client, config.scope).await;
        tracker.record_response(&response);
        let is_head = *request.method == Method::HEAD;
        let (deadline, buffer, clock) = (&mut deadline, &mut buffer, &mut clock);
        let mut writer = Writer { stream: &stream, deadline, timeout: config.send_timeout, buffer, clock };
        // The error is caused by the client, or already logged.
        writer.write(response, is_head, keep_alive, &mut tracker).await.ok()?;
        if !keep_alive {
            let _ = stream.shutdown().await;
            return None;
        }
        input.advance(len);
    }
}

/// Closes a connection with unread input. Discards the input first: otherwise the system would reset the connection,
/// and the client might not receive the response.
async fn drain_and_close(mut stream: TcpStream, config: &ConnectionConfig) {
    let _ = stream.shutdown().await;
    let mut rest = stream.take(MAX_DRAIN);
    let mut nowhere = tokio::io::sink();
    let discard = tokio::io::copy(&mut rest, &mut nowhere);
    let _ = tokio::time::timeout(DRAIN_TIMEOUT.min(config.header_timeout), discard).await;
}
