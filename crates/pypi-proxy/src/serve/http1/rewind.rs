//! Stream that returns bytes read before.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

use super::head::PREFACE;

/// A stream that returns `read` before anything else.
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
    /// Reads until it is known whether the connection starts with the HTTP/2 preface. The bytes stay readable.
    ///
    /// # Errors
    ///
    /// Fails if the connection ends earlier.
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
