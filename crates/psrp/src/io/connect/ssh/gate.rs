//! The socket of a connection, that reads only while there is room for what is read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::state::Shared;

/// A socket that stops reading while too much of what was read waits, and fails when nobody wants the connection.
pub(super) struct Gate<S> {
    socket: S,
    shared: Arc<Shared>,
}

impl<S> Gate<S> {
    pub(super) fn new(socket: S, shared: Arc<Shared>) -> Self {
        Self { socket, shared }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.shared.poll_read(cx))?;
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        self.shared.put_heard();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.shared.check_write(cx)?;
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.check_write(cx)?;
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.shared.is_abandoned() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_util::task::AbortOnDropHandle;

    use super::*;

    #[tokio::test]
    async fn nothing_is_read_while_too_much_waits() {
        let (near, mut far) = tokio::io::duplex(64);
        let shared = Shared::new(10);
        let mut gate = Gate::new(near, Arc::clone(&shared));
        far.write_all(b"ab").await.unwrap();
        assert_eq!(gate.read_u8().await.unwrap(), b'a');
        shared.put_output(&[0; 10]);
        let gate = tokio::spawn(async move {
            let byte = gate.read_u8().await;
            (gate, byte)
        });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!gate.is_finished());
        let mut bytes = [0];
        let mut taken = ReadBuf::new(&mut bytes);
        std::future::poll_fn(|cx| shared.poll_output(cx, &mut taken)).await;
        let (mut gate, byte) = gate.await.unwrap();
        assert_eq!(byte.unwrap(), b'b');

        shared.discard_output();
        let gate = AbortOnDropHandle::new(tokio::spawn(async move { gate.read_u8().await }));
        tokio::task::yield_now().await;
        shared.abandon();
        assert_eq!(gate.await.unwrap().unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
