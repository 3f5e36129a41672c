//! State shared by the connection's handler and the transport.
//!
//! The handler stores incoming data and never waits for the reader: while it waited, russh would not send either, and a
//! pipeline with unread output could not be stopped. Memory is bounded by the
//! [`BackpressureSocket`](super::backpressure::BackpressureSocket) below, which stops reading while too much output is
//! unread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

use crate::Error;
use crate::error::Kind;
use crate::io::remote::{StderrTail, remote_text};

/// How the subsystem's program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExitReason {
    Status(u32),
    Signal(Box<str>),
}

/// State of a connection.
#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    /// Unread standard output.
    output: VecDeque<u8>,
    max_output: usize,
    /// Output is discarded because the transport is closing.
    is_discarding: bool,
    /// End of the standard error.
    stderr: StderrTail,
    /// No more output will arrive.
    is_eof: bool,
    /// The channel or the connection is closed.
    closed: bool,
    exit: Option<ExitReason>,
    /// Response to the subsystem request.
    subsystem_response: Option<bool>,
    /// Error that ended the connection.
    error: Option<ConnectionError>,
    /// The connection is to be ended at once.
    abandoned: bool,
    /// Data arrived since the last check by the keep-alive task.
    is_active: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    socket_reader: Option<Waker>,
    socket_writer: Option<Waker>,
}

/// Error that ended a connection.
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
            Self::Disconnect(text) => format!("the server has ended the connection: {}", remote_text(text)),
            Self::NoAuthMethodLeft => "the server accepts no more authentication attempts".into(),
            Self::KeepAliveTimeout => "the server does not answer".into(),
            Self::Other(text) => text.to_string(),
        }
    }
}

/// Connection state and its change notification.
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

    // Called by the handler.

    pub(super) fn put_output(&self, data: &[u8]) {
        let mut state = self.lock();
        if !state.is_discarding {
            state.output.extend(data);
        }
        wake(&mut state.reader);
    }

    pub(super) fn put_stderr(&self, data: &[u8]) {
        self.lock().stderr.push(data);
    }

    pub(super) fn put_exit(&self, exit: ExitReason) {
        self.lock().exit = Some(exit);
    }

    pub(super) fn put_subsystem_response(&self, is_accepted: bool) {
        self.lock().subsystem_response = Some(is_accepted);
        self.changed.notify_waiters();
    }

    pub(super) fn put_eof(&self) {
        let mut state = self.lock();
        state.is_eof = true;
        wake(&mut state.reader);
    }

    /// Marks the channel as closed, and with an error the connection.
    pub(super) fn put_closed(&self, error: Option<ConnectionError>) {
        let mut state = self.lock();
        state.is_eof = true;
        state.closed = true;
        state.error = state.error.take().or(error);
        wake(&mut state.reader);
        wake(&mut state.writer);
        drop(state);
        self.changed.notify_waiters();
    }

    // Called by the transport.

    /// Moves standard output into `buffer`; at the end, nothing.
    pub(super) fn poll_output(&self, cx: &Context<'_>, buffer: &mut tokio::io::ReadBuf<'_>) -> Poll<()> {
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

    /// Waits for the response to the subsystem request. `None` if the connection ends first.
    pub(super) async fn subsystem_response(&self) -> Option<bool> {
        self.wait_until(|state| state.subsystem_response.map(Some).or(state.closed.then_some(None))).await
    }

    pub(super) async fn closed(&self) {
        self.wait_until(|state| state.closed.then_some(())).await;
    }

    /// Waits until the connection has ended.
    pub(super) async fn disconnected(&self) {
        self.wait_until(|state| state.error.is_some().then_some(())).await;
    }

    /// Discards unread and future output.
    pub(super) fn discard_output(&self) {
        let mut state = self.lock();
        state.is_discarding = true;
        state.output = VecDeque::new();
        wake(&mut state.socket_reader);
    }

    async fn wait_until<T>(&self, ready: impl Fn(&ConnectionState) -> Option<T>) -> T {
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
        let cause = match (&state.error, &state.exit) {
            (Some(error), _) => Some(error.text()),
            (None, Some(ExitReason::Status(0))) => None,
            (None, Some(ExitReason::Status(status))) => Some(format!("exit status {status}")),
            (None, Some(ExitReason::Signal(signal))) => Some(format!("signal {}", remote_text(signal))),
            (None, None) => None,
        };
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
        let kind = if matches!(state.error, Some(ConnectionError::KeepAliveTimeout)) {
            Kind::Timeout
        } else {
            Kind::Closed
        };
        Some(Error::with(kind, detail))
    }

    // Called by the socket and the keep-alive task.

    /// Ready if the socket may be read. Otherwise the caller is woken when it may.
    pub(super) fn poll_read(&self, cx: &Context<'_>) -> Poll<std::io::Result<()>> {
        let mut state = self.lock();
        if state.abandoned {
            return Poll::Ready(Err(abandoned_error()));
        }
        // The waker is also needed if the connection is abandoned while the socket has no data.
        state.socket_reader = Some(cx.waker().clone());
        if state.is_full() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    pub(super) fn check_write(&self, cx: &Context<'_>) -> std::io::Result<()> {
        let mut state = self.lock();
        if state.abandoned {
            return Err(abandoned_error());
        }
        state.socket_writer = Some(cx.waker().clone());
        Ok(())
    }

    pub(super) fn record_activity(&self) {
        self.lock().is_active = true;
    }

    /// Returns and clears the activity flag. Also true while reading is paused by backpressure.
    pub(super) fn take_activity(&self) -> bool {
        let mut state = self.lock();
        let is_active = std::mem::take(&mut state.is_active);
        is_active || state.is_full()
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }
}

impl ConnectionState {
    fn is_full(&self) -> bool {
        self.output.len() >= self.max_output
    }
}

fn abandoned_error() -> std::io::Error {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted)
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_end_is_no_error() {
        let shared = SharedConnection::new(1);
        assert!(shared.end_error("it").is_none());
        shared.put_exit(ExitReason::Status(0));
        assert!(shared.end_error("it").is_none());
        shared.put_exit(ExitReason::Signal("KILL\x1b[2J".into()));
        let text = shared.end_error("it").unwrap().to_string();
        assert!(text.ends_with("it: signal KILL\\u{1b}[2J"), "{text}");
        shared.put_closed(Some(ConnectionError::KeepAliveTimeout));
        assert!(shared.end_error("it").unwrap().is_timeout());
    }
}
