//! The requests of one connection, one after the other.

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

use super::super::access::Access;
use super::super::service::{Proxy, Scope};
use super::head::{Head, Plain};
use super::patience::Patience;
use super::rewind::Rewind;
use super::write::{Clock, Writer};

/// A head that is larger is left to hyper.
const MAX_HEAD: usize = 16 * 1024;
/// Memory for what is read at once.
const READ: usize = 2 * 1024;

/// For how long, and for how many bytes, a refused client may go on sending before the connection is closed.
const LINGER: Duration = Duration::from_secs(5);
const MAX_LINGER: u64 = 256 * 1024;

/// The answer to what is no request.
const INVALID: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// How a connection is treated.
#[derive(Clone, Copy)]
pub(in super::super) struct Manner {
    pub(in super::super) header_timeout: Duration,
    pub(in super::super) send_timeout: Duration,
    /// Maximum header fields of a request.
    pub(in super::super) max_fields: usize,
    pub(in super::super) client: Option<IpAddr>,
    pub(in super::super) is_logged: bool,
    pub(in super::super) scope: Scope,
}

/// Answers requests until the connection ends, until one comes that is not for us, which is returned unread, or until
/// `closing` is ready and no request has begun.
pub(in super::super) async fn serve(
    mut stream: TcpStream,
    proxy: &Proxy,
    manner: Manner,
    mut closing: Pin<&mut impl Future<Output = ()>>,
) -> Option<Rewind<TcpStream>> {
    let mut input = BytesMut::with_capacity(READ);
    let (mut memory, mut clock) = (Vec::new(), Clock::new());
    let mut patience = Patience::new(manner.header_timeout);
    let mut is_closing = false;
    loop {
        let Plain { asked, is_kept, len } = match Head::read(&input, manner.max_fields) {
            Head::Request(plain) => plain,
            Head::Foreign => return Some(Rewind::new(input, stream)),
            Head::Invalid => {
                let _ = stream.write_all(INVALID).await;
                linger(stream, &manner).await;
                return None;
            }
            Head::TooManyFields => {
                let (mut access, answer) = Access::too_large(proxy, manner.client, manner.is_logged);
                let (patience, memory, clock) = (&mut patience, &mut memory, &mut clock);
                let mut writer =
                    Writer { stream: &stream, patience, timeout: manner.send_timeout, memory, clock };
                writer.write(answer, false, false, &mut access).await.ok()?;
                linger(stream, &manner).await;
                return None;
            }
            Head::Partial if input.len() >= MAX_HEAD => return Some(Rewind::new(input, stream)),
            Head::Partial => {
                if input.is_empty() {
                    patience.renew(manner.header_timeout);
                }
                let read = poll_fn(|cx| {
                    is_closing = is_closing || closing.as_mut().poll(cx).is_ready();
                    if is_closing && input.is_empty() {
                        return Poll::Ready(Ok(0));
                    }
                    input.reserve(READ / 2);
                    let read = std::pin::pin!(stream.read_buf(&mut input));
                    if let Poll::Ready(read) = read.poll(cx) {
                        return Poll::Ready(read);
                    }
                    patience.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
                });
                match read.await {
                    Ok(0) | Err(_) => return None,
                    Ok(_) => continue,
                }
            }
        };
        let is_kept = is_kept && !is_closing;
        let client = proxy.client(manner.client, &asked);
        let mut access = Access::begin(proxy.clone(), client, &asked, manner.is_logged);
        let answer = proxy.answer_to(&asked, client, manner.scope).await;
        access.answered(&answer);
        let is_head = *asked.method == Method::HEAD;
        let (patience, memory, clock) = (&mut patience, &mut memory, &mut clock);
        let mut writer = Writer { stream: &stream, patience, timeout: manner.send_timeout, memory, clock };
        // What goes wrong here is the client's business, or told already.
        writer.write(answer, is_head, is_kept, &mut access).await.ok()?;
        if !is_kept {
            let _ = stream.shutdown().await;
            return None;
        }
        input.advance(len);
    }
}

/// Closes a connection of which not everything was read: with unread bytes the system would reset it, and the client might
/// never see the response.
async fn linger(mut stream: TcpStream, manner: &Manner) {
    let _ = stream.shutdown().await;
    let mut rest = stream.take(MAX_LINGER);
    let mut nowhere = tokio::io::sink();
    let discard = tokio::io::copy(&mut rest, &mut nowhere);
    let _ = tokio::time::timeout(LINGER.min(manner.header_timeout), discard).await;
}
