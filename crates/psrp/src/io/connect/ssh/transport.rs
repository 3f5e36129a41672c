//! The subsystem of a server as a transport.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use russh::client::Handle;
use russh::{ChannelWriteHalf, Disconnect};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::state::{Fault, Shared};
use super::task::Task;
use crate::Error;
use crate::io::{Lines, Transport};
use crate::outofproc::{Packet, ReaderOptions, Role};

/// Keep-alives without an answer after which the connection counts as lost.
pub(super) const UNANSWERED: u32 = 3;

type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection of [`Ssh`](super::Ssh). Dropping it ends it at once.
pub struct SshTransport {
    lines: Lines<Output, Input>,
    shared: Arc<Shared>,
    handle: Arc<Handle<Task>>,
    /// What ends, for the error that says so.
    what: String,
    close_timeout: Duration,
    /// The wait for the exit status that comes after the end of the output.
    ending: Option<Waiting>,
    /// What is wrong with the end of the output itself.
    cut_off: Option<Error>,
    /// The wait for the server to close the channel.
    closing: Option<Waiting>,
    _keep_alive: Option<AbortOnDropHandle<()>>,
}

impl SshTransport {
    pub(super) fn new(
        shared: Arc<Shared>,
        handle: Handle<Task>,
        channel: &ChannelWriteHalf<russh::client::Msg>,
        what: String,
        reader: ReaderOptions,
        close_timeout: Duration,
        keep_alive: Option<Duration>,
    ) -> Self {
        let output = Output(Arc::clone(&shared));
        let input = Input { channel: Box::pin(channel.make_writer()), shared: Arc::clone(&shared) };
        let handle = Arc::new(handle);
        let keep_alive = keep_alive.map(|interval| {
            let task = self::keep_alive(Arc::clone(&handle), Arc::clone(&shared), interval);
            AbortOnDropHandle::new(tokio::spawn(task))
        });
        Self {
            lines: Lines::with_options(Role::Client, output, input, reader),
            shared,
            handle,
            what,
            close_timeout,
            ending: None,
            cut_off: None,
            closing: None,
            _keep_alive: keep_alive,
        }
    }

    /// Waits for what comes after the end of the output, and tells it if it is worth telling.
    fn poll_ending(&mut self, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        let ending = self.ending.get_or_insert_with(|| {
            let (shared, limit) = (Arc::clone(&self.shared), self.close_timeout);
            Box::pin(async move {
                let _ = timeout(limit, shared.closed()).await;
            })
        });
        ready!(ending.as_mut().poll(cx));
        self.ending = None;
        Poll::Ready(self.shared.ending(&self.what).or(self.cut_off.take()))
    }
}

impl Transport for SshTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        if self.ending.is_none() {
            match ready!(self.lines.poll_receive(cx, take)) {
                // Why the output ends tells more than that a line of it is cut off.
                None => {}
                Some(Err(error)) if error.is_unexpected_end() => self.cut_off = Some(error),
                received => return Poll::Ready(received),
            }
        }
        self.poll_ending(cx).map(|error| error.map(Err))
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
        if self.closing.is_none() {
            // Nobody reads it any more, and it must not hold up what comes after it.
            self.shared.discard_output();
            ready!(self.lines.poll_close(cx))?;
            let (shared, handle, limit) =
                (Arc::clone(&self.shared), Arc::clone(&self.handle), self.close_timeout);
            self.closing = Some(Box::pin(async move {
                let _ = timeout(limit, async {
                    shared.closed().await;
                    if handle.disconnect(Disconnect::ByApplication, "", "").await.is_ok() {
                        shared.disconnected().await;
                    }
                })
                .await;
            }));
        }
        if let Some(closing) = &mut self.closing {
            ready!(closing.as_mut().poll(cx));
        }
        self.closing = Some(Box::pin(std::future::ready(())));
        Poll::Ready(Ok(()))
    }
}

impl Drop for SshTransport {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}

impl fmt::Debug for SshTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SshTransport")
            .field("what", &self.what)
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

/// The standard output of the subsystem.
struct Output(Arc<Shared>);

impl AsyncRead for Output {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.0.poll_output(cx, buffer).map(Ok)
    }
}

/// Its standard input.
struct Input {
    channel: Pin<Box<dyn AsyncWrite + Send>>,
    shared: Arc<Shared>,
}

impl Input {
    /// What the channel says, or that it is closed, of which a writer that waits for room is not told.
    fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut dyn AsyncWrite>, &mut Context<'_>) -> Poll<std::io::Result<T>>,
    ) -> Poll<std::io::Result<T>> {
        match poll(self.channel.as_mut(), cx) {
            Poll::Pending if self.shared.is_closed(cx) => {
                Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()))
            }
            polled => polled,
        }
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.poll(cx, |channel, cx| channel.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll(cx, |channel, cx| channel.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.poll(cx, |channel, cx| channel.poll_shutdown(cx)) {
            // The server was first, which is no failure.
            Poll::Ready(Err(_)) if self.shared.is_closed(cx) => Poll::Ready(Ok(())),
            polled => polled,
        }
    }
}

/// Asks the server for a sign of life whenever there was none for so long, and gives it up after [`UNANSWERED`] times.
///
/// The library can do this too, but not know that nothing is read while the output waits to be taken.
async fn keep_alive(handle: Arc<Handle<Task>>, shared: Arc<Shared>, interval: Duration) {
    let mut unanswered = 0;
    loop {
        tokio::time::sleep(interval).await;
        if shared.take_heard() {
            unanswered = 0;
            continue;
        }
        if unanswered == UNANSWERED {
            shared.put_closed(Some(Fault::Silence));
            shared.abandon();
            return;
        }
        unanswered += 1;
        if handle.send_keepalive(true).await.is_err() {
            return;
        }
    }
}
