//! TCP socket with backpressure.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::state::SharedConnection;

/// Socket wrapper that stops reading while too much output is unread, and fails once the connection is abandoned.
pub(super) struct BackpressureSocket<S> {
    socket: S,
    shared: Arc<SharedConnection>,
}

impl<S> BackpressureSocket<S> {
    pub(super) fn new(socket: S, shared: Arc<SharedConnection>) -> Self {
        Self { socket, shared }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BackpressureSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.shared.poll_read(cx))?;
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        self.shared.record_activity();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BackpressureSocket<S> {
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
    async fn reading_stops_while_too_much_output_is_unread() {
        let (near, mut far) = tokio::io::duplex(64);
        let shared = SharedConnection::new(10);
        let mut socket = BackpressureSocket::new(near, Arc::clone(&shared));
        far.write_all(b"ab").await.unwrap();
        assert_eq!(socket.read_u8().await.unwrap(), b'a');
        shared.update(|state| state.put_output(&[0; 10]));
        let reader = tokio::spawn(async move {
            let byte = socket.read_u8().await;
            (socket, byte)
        });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!reader.is_finished());
        let mut bytes = [0];
        let mut taken = ReadBuf::new(&mut bytes);
        std::future::poll_fn(|cx| shared.poll_output(cx, &mut taken)).await;
        let (mut socket, byte) = reader.await.unwrap();
        assert_eq!(byte.unwrap(), b'b');

        shared.discard_output();
        let reader = AbortOnDropHandle::new(tokio::spawn(async move { socket.read_u8().await }));
        tokio::task::yield_now().await;
        shared.abandon();
        assert_eq!(reader.await.unwrap().unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
