//! The socket under a connection: tells when everything is written, and can be reset.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What a response may know and order about the connection that it goes over.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether bytes were handed to hyper that the socket has not taken yet.
    is_dirty: bool,
    /// Who waits for the socket to take them.
    waiter: Option<Waker>,
    /// Whether the connection ends with a reset.
    resets: bool,
}

impl Wire {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that bytes were handed to hyper.
    pub(crate) fn mark_dirty(&self) {
        self.state().is_dirty = true;
    }

    /// Waits until the socket has taken what was handed to hyper. Head and body are written by the task that polls
    /// this, so that nothing can come in between.
    pub(crate) fn poll_clean(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.is_dirty {
            return Poll::Ready(());
        }
        state.waiter = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Makes the end of the connection a reset.
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

/// A TCP stream that keeps its [`Wire`] informed.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    wire: Arc<Wire>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, wire: Arc<Wire>) -> Self {
        Self { stream, wire }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.wire.state().resets {
            // A close with zero linger is a reset. Where the option cannot be set the close is an orderly one, which
            // is all that can be done here.
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

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes the socket only after its own buffers are empty.
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.wire.mark_clean();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
