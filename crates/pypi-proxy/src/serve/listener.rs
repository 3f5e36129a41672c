//! Listeners and connections over TCP and Unix sockets.

use std::io;
use std::io::IoSlice;
use std::net::IpAddr;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Source of connections of a [`Server`](super::Server).
#[derive(Debug)]
pub enum Listener {
    /// A TCP port.
    Tcp(TcpListener),
    /// A Unix socket, not on Windows. The addresses of its clients are unknown: clients that do not log in share one
    /// rate limit, and `X-Forwarded-For` is ignored. TLS applies as for a TCP port.
    #[cfg(unix)]
    Unix(UnixListener),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

#[cfg(unix)]
impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::Unix(listener)
    }
}

/// Accepts connections.
pub(super) trait Listen {
    fn accept(&self) -> impl Future<Output = io::Result<Socket>> + Send;
}

impl Listen for Listener {
    async fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok(Socket::Tcp(stream))
            }
            #[cfg(unix)]
            Self::Unix(listener) => listener.accept().await.map(|(stream, _)| Socket::Unix(stream)),
        }
    }
}

/// A connection.
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Socket {
    /// Returns the address of the client, or `None` for a Unix socket.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().ok().map(|address| address.ip()),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.try_write(bytes),
        }
    }

    pub(super) fn try_write_vectored(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write_vectored(parts),
            #[cfg(unix)]
            Self::Unix(stream) => stream.try_write_vectored(parts),
        }
    }

    /// Calls `write`, and waits for the next event if it would block.
    pub(super) fn try_write_io<T>(&self, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Tcp(stream) => stream.try_io(Interest::WRITABLE, write),
            #[cfg(unix)]
            Self::Unix(stream) => stream.try_io(Interest::WRITABLE, write),
        }
    }

    pub(super) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_write_ready(cx),
            #[cfg(unix)]
            Self::Unix(stream) => stream.poll_write_ready(cx),
        }
    }

    fn writer(&mut self) -> Pin<&mut (dyn AsyncWrite + Send + Unpin)> {
        match self {
            Self::Tcp(stream) => Pin::new(stream),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream),
        }
    }
}

#[cfg(unix)]
impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.writer().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
