//! State shared by the connection's handler and the transport.
//!
//! The handler stores incoming data and never waits for the reader: while it waited, russh would not send either, and a
//! pipeline with unread output could not be stopped. Memory is bounded by the
//! [`BackpressureSocket`] below, which stops reading while too much output is unread.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::Error;
use crate::error::Kind;
use crate::io::peer_text::{StderrTail, peer_text};
use crate::io::task::wake;

#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    output: VecDeque<u8>,
    max_output: usize,
    /// Output is discarded because the transport is closing.
    is_discarding: bool,
    pub(super) stderr: StderrTail,
    /// No more output will arrive.
    pub(super) is_eof: bool,
    /// The channel or the connection is closed.
    pub(super) closed: bool,
    /// Exit status or signal (not escaped) with which the subsystem's program has failed.
    pub(super) exit: Option<String>,
    pub(super) subsystem_response: Option<bool>,
    pub(super) error: Option<ConnectionError>,
    /// The connection is to be ended at once.
    abandoned: bool,
    /// Data arrived since the last check by the keep-alive task.
    is_active: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    socket_reader: Option<Waker>,
    socket_writer: Option<Waker>,
}

#[derive(Clone, Debug)]
pub(super) enum ConnectionError {
    /// Disconnect message of the server; the text is not escaped.
    Disconnect(Box<str>),
    /// The server accepts no further authentication method.
    NoAuthMethodLeft,
    /// Keep-alive messages were not answered.
    KeepAliveTimeout,
    /// Other errors; the text is escaped.
    Other(Box<str>),
}

impl ConnectionError {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Disconnect(text) => format!("the server has ended the connection: {}", peer_text(text)),
            Self::NoAuthMethodLeft => "the server accepts no more authentication attempts".into(),
            Self::KeepAliveTimeout => "the server does not answer".into(),
            Self::Other(text) => text.to_string(),
        }
    }
}

#[derive(Debug)]
pub(super) struct SharedConnection {
    state: Mutex<ConnectionState>,
    changed: Notify,
}

impl SharedConnection {
    pub(super) fn new(max_output: usize) -> Arc<Self> {
        let state = ConnectionState { max_output, ..ConnectionState::default() };
        Arc::new(Self { state: Mutex::new(state), changed: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        // Code under the lock leaves the state consistent even if it panics.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Changes the state and wakes the transport. Called by the handler.
    pub(super) fn update(&self, change: impl FnOnce(&mut ConnectionState)) {
        let mut state = self.lock();
        change(&mut state);
        wake(&mut state.reader);
        wake(&mut state.writer);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Marks the channel as closed, and with an error the connection.
    pub(super) fn put_closed(&self, error: Option<ConnectionError>) {
        self.update(|state| {
            state.is_eof = true;
            state.closed = true;
            state.error = state.error.take().or(error);
        });
    }

    /// Moves standard output into `buffer`; at the end, nothing.
    pub(super) fn poll_output(&self, cx: &Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.output.is_empty() {
            if state.is_eof {
                return Poll::Ready(());
            }
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let was_full = state.is_full();
        let count = state.output.len().min(buffer.remaining());
        let (first, second) = state.output.as_slices();
        let from_first = count.min(first.len());
        buffer.put_slice(&first[..from_first]);
        buffer.put_slice(&second[..count - from_first]);
        state.output.drain(..count);
        if was_full && !state.is_full() {
            wake(&mut state.socket_reader);
        }
        Poll::Ready(())
    }

    /// Returns whether the channel is closed. Otherwise the caller is woken when it closes.
    pub(super) fn is_closed(&self, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        if !state.closed {
            state.writer = Some(cx.waker().clone());
        }
        state.closed
    }

    pub(super) fn discard_output(&self) {
        let mut state = self.lock();
        state.is_discarding = true;
        state.output = VecDeque::new();
        wake(&mut state.socket_reader);
    }

    pub(super) async fn wait_until<T>(&self, ready: impl Fn(&ConnectionState) -> Option<T>) -> T {
        loop {
            // Registered before the check, so that no change in between is missed.
            let changed = self.changed.notified();
            if let Some(value) = ready(&self.lock()) {
                return value;
            }
            changed.await;
        }
    }

    pub(super) fn error(&self) -> Option<ConnectionError> {
        self.lock().error.clone()
    }

    /// Ends the connection at once.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.abandoned = true;
        wake(&mut state.socket_reader);
        wake(&mut state.socket_writer);
    }

    /// Returns the error that explains the end of the output, or `None` for a normal end.
    pub(super) fn end_error(&self, name: &str) -> Option<Error> {
        let state = self.lock();
        let stderr = state.stderr.text();
        let cause = state
            .error
            .as_ref()
            .map(ConnectionError::text)
            .or_else(|| state.exit.as_deref().map(|exit| peer_text(exit).into()));
        if cause.is_none() && stderr.is_none() {
            return None;
        }
        let mut detail = name.to_owned();
        for text in [cause.as_deref(), stderr.as_deref()].into_iter().flatten() {
            if !text.is_empty() {
                detail.push_str(": ");
                detail.push_str(text);
            }
        }
        let is_timeout = matches!(state.error, Some(ConnectionError::KeepAliveTimeout));
        Some(Error::with(if is_timeout { Kind::Timeout } else { Kind::Closed }, detail))
    }

    /// Ready if the socket may be read. Otherwise the caller is woken when it may.
    pub(super) fn poll_read(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.lock();
        if state.abandoned {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        // The waker is also needed if the connection is abandoned while the socket has no data.
        state.socket_reader = Some(cx.waker().clone());
        if state.is_full() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    pub(super) fn check_write(&self, cx: &Context<'_>) -> io::Result<()> {
        let mut state = self.lock();
        if state.abandoned {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        state.socket_writer = Some(cx.waker().clone());
        Ok(())
    }

    /// Returns and clears the activity flag. Also true while reading is paused by backpressure.
    pub(super) fn take_activity(&self) -> bool {
        let mut state = self.lock();
        let is_active = std::mem::take(&mut state.is_active);
        is_active || state.is_full()
    }
}

impl ConnectionState {
    pub(super) fn put_output(&mut self, data: &[u8]) {
        if !self.is_discarding {
            self.output.extend(data);
        }
    }

    fn is_full(&self) -> bool {
        self.output.len() >= self.max_output
    }
}

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
        self.shared.lock().is_active = true;
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
        if self.shared.check_write(cx).is_err() {
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

    #[test]
    fn normal_end_is_no_error() {
        let shared = SharedConnection::new(1);
        assert!(shared.end_error("it").is_none());
        shared.update(|state| state.exit = Some("signal KILL\x1b[2J".into()));
        let text = shared.end_error("it").unwrap().to_string();
        assert!(text.ends_with("it: signal KILL\\u{1b}[2J"), "{text}");
        shared.put_closed(Some(ConnectionError::KeepAliveTimeout));
        assert!(shared.end_error("it").unwrap().is_timeout());
    }

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
