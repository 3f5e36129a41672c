//! Transport over the subsystem channel.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use russh::client::{Handle, Msg};
use russh::{ChannelWriteHalf, Disconnect};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::handler::ClientHandler;
use super::state::{ConnectionError, ConnectionState, SharedConnection};
use super::{AbandonOnDrop, Login, Ssh};
use crate::Error;
use crate::io::{Lines, Transport};
use crate::outofproc::{Packet, Role};

/// Number of unanswered keep-alive messages after which the connection fails.
pub(super) const MAX_UNANSWERED: u32 = 3;

type EndFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Connection created by [`Ssh`](super::Ssh). Dropping it ends the connection immediately.
pub struct SshTransport {
    lines: Lines<ChannelReader, ChannelWriter>,
    shared: Arc<SharedConnection>,
    handle: Arc<Handle<ClientHandler>>,
    name: String,
    close_timeout: Duration,
    /// Wait for the exit status, which follows the end of the output.
    exit_wait: Option<EndFuture>,
    /// Error of an output that ends within a line.
    truncation_error: Option<Error>,
    /// Wait for the server to close the channel.
    close_wait: Option<EndFuture>,
    _keep_alive: Option<AbortOnDropHandle<()>>,
    _abandon: AbandonOnDrop,
    /// Connection that carries this one.
    _jump: Option<Box<Login>>,
}

impl SshTransport {
    pub(super) fn new(ssh: &Ssh, login: Login, channel: &ChannelWriteHalf<Msg>) -> Self {
        let Login { handle, abandon, jump } = login;
        let shared = Arc::clone(&abandon.0);
        let (output, input) = halves(&shared, channel);
        let handle = Arc::new(handle);
        let keep_alive = ssh.keep_alive.map(|interval| {
            let task = send_keep_alive(Arc::clone(&handle), Arc::clone(&shared), interval);
            AbortOnDropHandle::new(tokio::spawn(task))
        });
        Self {
            lines: Lines::with_options(Role::Client, output, input, ssh.reader_options),
            shared,
            handle,
            name: ssh.session_name(),
            close_timeout: ssh.close_timeout,
            exit_wait: None,
            truncation_error: None,
            close_wait: None,
            _keep_alive: keep_alive,
            _abandon: abandon,
            _jump: jump,
        }
    }

    /// Waits for the exit status and returns the error of an abnormal end.
    fn poll_end_error(&mut self, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        let exit_wait = self.exit_wait.get_or_insert_with(|| {
            let (shared, limit) = (Arc::clone(&self.shared), self.close_timeout);
            Box::pin(async move {
                let _ = timeout(limit, shared.wait_until(is_closed)).await;
            })
        });
        ready!(exit_wait.as_mut().poll(cx));
        self.exit_wait = None;
        Poll::Ready(self.shared.end_error(&self.name).or(self.truncation_error.take()))
    }
}

impl Transport for SshTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        if self.exit_wait.is_none() {
            match ready!(self.lines.poll_receive(cx, take)) {
                // The exit status explains more than a truncated last line.
                None => {}
                Some(Err(error)) if error.is_unexpected_end() => self.truncation_error = Some(error),
                received => return Poll::Ready(received),
            }
        }
        self.poll_end_error(cx).map(|error| error.map(Err))
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.lines.poll_ready(cx)
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.lines.send(packet)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.lines.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.close_wait.is_none() {
            // Discard unread output: it would delay the close message behind it.
            self.shared.discard_output();
            ready!(self.lines.poll_close(cx))?;
            let (shared, handle, limit) =
                (Arc::clone(&self.shared), Arc::clone(&self.handle), self.close_timeout);
            self.close_wait = Some(Box::pin(async move {
                let _ = timeout(limit, async {
                    shared.wait_until(is_closed).await;
                    if handle.disconnect(Disconnect::ByApplication, "", "").await.is_ok() {
                        shared.wait_until(|state| state.error.is_some().then_some(())).await;
                    }
                })
                .await;
            }));
        }
        if let Some(close_wait) = &mut self.close_wait {
            ready!(close_wait.as_mut().poll(cx));
        }
        self.close_wait = Some(Box::pin(std::future::ready(())));
        Poll::Ready(Ok(()))
    }
}

impl_debug!(SshTransport | this | session = this.name, lines = this.lines);

fn is_closed(state: &ConnectionState) -> Option<()> {
    state.closed.then_some(())
}

/// Returns the output and the input of the only channel of a connection.
pub(super) fn halves(
    shared: &Arc<SharedConnection>,
    channel: &ChannelWriteHalf<Msg>,
) -> (ChannelReader, ChannelWriter) {
    let channel = Box::pin(channel.make_writer());
    (ChannelReader(Arc::clone(shared)), ChannelWriter { channel, shared: Arc::clone(shared) })
}

pub(super) struct ChannelReader(Arc<SharedConnection>);

impl AsyncRead for ChannelReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_output(cx, buffer).map(Ok)
    }
}

pub(super) struct ChannelWriter {
    channel: Pin<Box<dyn AsyncWrite + Send>>,
    shared: Arc<SharedConnection>,
}

impl ChannelWriter {
    /// Polls the channel. Fails if the channel is closed, because russh does not wake a writer that waits for window
    /// space.
    fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut dyn AsyncWrite>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match poll(self.channel.as_mut(), cx) {
            Poll::Pending if self.shared.is_closed(cx) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            polled => polled,
        }
    }
}

impl AsyncWrite for ChannelWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll(cx, |channel, cx| channel.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, |channel, cx| channel.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.poll(cx, |channel, cx| channel.poll_shutdown(cx)) {
            // The server closed the channel first; that is no error.
            Poll::Ready(Err(_)) if self.shared.is_closed(cx) => Poll::Ready(Ok(())),
            polled => polled,
        }
    }
}

/// Sends keep-alive messages while the server is silent, and ends the connection after [`MAX_UNANSWERED`] without an
/// answer.
///
/// russh has its own keep-alive, but it cannot tell a silent server from reading that is paused by backpressure.
async fn send_keep_alive(
    handle: Arc<Handle<ClientHandler>>,
    shared: Arc<SharedConnection>,
    interval: Duration,
) {
    let mut unanswered = 0;
    loop {
        tokio::time::sleep(interval).await;
        if shared.take_activity() {
            unanswered = 0;
            continue;
        }
        if unanswered == MAX_UNANSWERED {
            shared.put_closed(Some(ConnectionError::KeepAliveTimeout));
            shared.abandon();
            return;
        }
        unanswered += 1;
        if handle.send_keepalive(true).await.is_err() {
            return;
        }
    }
}
