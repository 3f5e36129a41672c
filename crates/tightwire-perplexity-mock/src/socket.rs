//! Sockets that report when all bytes are written, and that can reset the connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// State of a connection, shared between its socket and the response body.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether hyper has bytes that the socket has not accepted.
    is_dirty: bool,
    /// Task waiting for the socket to accept them.
    waiter: Option<Waker>,
    /// Whether the connection is to be reset when it is dropped.
    resets: bool,
}

impl ConnectionState {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that bytes were handed to hyper.
    pub(crate) fn mark_dirty(&self) {
        self.state().is_dirty = true;
    }

    /// Waits until the socket has accepted all bytes handed to hyper. The task that polls this also writes
    /// head and body, so no bytes can be added meanwhile.
    pub(crate) fn poll_clean(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.is_dirty {
            return Poll::Ready(());
        }
        state.waiter = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Resets the connection when it is dropped.
    pub(crate) fn reset_at_end(&self) {
        self.state().resets = true;
    }

    fn mark_clean(&self) {
        let waiter = {
            let mut state = self.state();
            state.is_dirty = false;
            state.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

/// A TCP stream that updates its [`ConnectionState`].
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    connection: Arc<ConnectionState>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, connection: Arc<ConnectionState>) -> Self {
        Self { stream, connection }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.connection.state().resets {
            // Closing with zero linger resets the connection. If the option cannot be set, the close is a
            // graceful one.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes the socket only after its own buffers are empty.
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.connection.mark_clean();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
