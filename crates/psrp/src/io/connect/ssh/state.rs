//! What the task of a connection and the transport share.
//!
//! The task hands over what arrives and never waits for whoever takes it: while it waits it would not send either, and a
//! pipeline whose output nobody reads could not be stopped. What bounds the memory is the [`Gate`](super::gate::Gate)
//! below the task, through which nothing more is read while too much waits here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

use crate::Error;
use crate::error::Kind;
use crate::io::remote::{Tail, remote_text};

/// How the program of the subsystem ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Status(u32),
    Signal(Box<str>),
}

/// The state of a connection.
#[derive(Debug)]
pub(super) struct State {
    /// The standard output that was not read yet.
    output: VecDeque<u8>,
    max_output: usize,
    /// Nobody takes the output any more.
    discards: bool,
    /// The last of the standard error.
    complaint: Tail,
    /// No more standard output arrives.
    at_end: bool,
    /// The channel is closed, or the connection is.
    closed: bool,
    exit: Option<Exit>,
    /// The answer to the request of the subsystem.
    answer: Option<bool>,
    /// Why the connection has ended.
    fault: Option<Fault>,
    /// Nobody wants the connection any more.
    abandoned: bool,
    /// Something was received since this was asked for.
    heard: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    gate_reader: Option<Waker>,
    gate_writer: Option<Waker>,
}

/// What ended a connection.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The server says so. Its text is not safe for a terminal.
    Disconnect(Box<str>),
    /// The server takes no more logins.
    NoMethod,
    /// The server does not answer.
    Silence,
    /// Anything else, in words that are safe.
    Other(Box<str>),
}

impl Fault {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Disconnect(text) => format!("the server has ended the connection: {}", remote_text(text)),
            Self::NoMethod => "the server takes no more logins".into(),
            Self::Silence => "the server does not answer".into(),
            Self::Other(text) => text.to_string(),
        }
    }
}

/// The shared state, and what tells of its changes.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

impl Shared {
    pub(super) fn new(max_output: usize) -> Arc<Self> {
        let state = State {
            output: VecDeque::new(),
            max_output,
            discards: false,
            complaint: Tail::default(),
            at_end: false,
            closed: false,
            exit: None,
            answer: None,
            fault: None,
            abandoned: false,
            heard: false,
            reader: None,
            writer: None,
            gate_reader: None,
            gate_writer: None,
        };
        Arc::new(Self { state: Mutex::new(state), changed: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    // What arrives.

    pub(super) fn put_output(&self, data: &[u8]) {
        let mut state = self.lock();
        if !state.discards {
            state.output.extend(data);
        }
        wake(&mut state.reader);
    }

    pub(super) fn put_complaint(&self, data: &[u8]) {
        self.lock().complaint.push(data);
    }

    pub(super) fn put_exit(&self, exit: Exit) {
        self.lock().exit = Some(exit);
    }

    pub(super) fn put_answer(&self, answer: bool) {
        self.lock().answer = Some(answer);
        self.changed.notify_waiters();
    }

    pub(super) fn put_end_of_output(&self) {
        let mut state = self.lock();
        state.at_end = true;
        wake(&mut state.reader);
    }

    /// The channel is closed; with a fault, the connection.
    pub(super) fn put_closed(&self, fault: Option<Fault>) {
        let mut state = self.lock();
        state.at_end = true;
        state.closed = true;
        state.fault = state.fault.take().or(fault);
        wake(&mut state.reader);
        wake(&mut state.writer);
        drop(state);
        self.changed.notify_waiters();
    }

    // What the transport does.

    /// Moves standard output into `buffer`; nothing at its end.
    pub(super) fn poll_output(&self, cx: &Context<'_>, buffer: &mut tokio::io::ReadBuf<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.output.is_empty() {
            if state.at_end {
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
            wake(&mut state.gate_reader);
        }
        Poll::Ready(())
    }

    /// Whether the channel is closed; if not, the caller is woken when it is.
    pub(super) fn is_closed(&self, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        if !state.closed {
            state.writer = Some(cx.waker().clone());
        }
        state.closed
    }

    /// The answer to the request of the subsystem; `None` if the connection ends before.
    pub(super) async fn answer(&self) -> Option<bool> {
        self.until(|state| state.answer.map(Some).or(state.closed.then_some(None))).await
    }

    pub(super) async fn closed(&self) {
        self.until(|state| state.closed.then_some(())).await;
    }

    /// Waits for the end of the connection.
    pub(super) async fn disconnected(&self) {
        self.until(|state| state.fault.is_some().then_some(())).await;
    }

    /// Drops the output that waits and all that is still to come.
    pub(super) fn discard_output(&self) {
        let mut state = self.lock();
        state.discards = true;
        state.output = VecDeque::new();
        wake(&mut state.gate_reader);
    }

    async fn until<T>(&self, ready: impl Fn(&State) -> Option<T>) -> T {
        loop {
            // Made before the look, so that no change is missed between.
            let changed = self.changed.notified();
            if let Some(value) = ready(&self.lock()) {
                return value;
            }
            changed.await;
        }
    }

    pub(super) fn fault(&self) -> Option<Fault> {
        self.lock().fault.clone()
    }

    /// Ends the connection at once.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.abandoned = true;
        wake(&mut state.gate_reader);
        wake(&mut state.gate_writer);
    }

    /// Why the output has ended, if there is more to tell than that it has.
    pub(super) fn ending(&self, what: &str) -> Option<Error> {
        let state = self.lock();
        let complaint = state.complaint.text();
        let cause = match (&state.fault, &state.exit) {
            (Some(fault), _) => Some(fault.text()),
            (None, Some(Exit::Status(0))) => None,
            (None, Some(Exit::Status(status))) => Some(format!("exit status {status}")),
            (None, Some(Exit::Signal(signal))) => Some(format!("signal {}", remote_text(signal))),
            (None, None) => None,
        };
        if cause.is_none() && complaint.is_none() {
            return None;
        }
        let mut detail = what.to_owned();
        for text in [cause.as_deref(), complaint.as_deref()].into_iter().flatten() {
            if !text.is_empty() {
                detail.push_str(": ");
                detail.push_str(text);
            }
        }
        let kind = if matches!(state.fault, Some(Fault::Silence)) { Kind::Timeout } else { Kind::Closed };
        Some(Error::with(kind, detail))
    }

    // What the gate and the keep-alive do.

    /// Whether to go on reading. If not now, the caller is woken when it is time.
    pub(super) fn poll_read(&self, cx: &Context<'_>) -> Poll<std::io::Result<()>> {
        let mut state = self.lock();
        if state.abandoned {
            return Poll::Ready(Err(abandoned()));
        }
        // The waker stays for the case that the connection is abandoned while the socket has nothing.
        state.gate_reader = Some(cx.waker().clone());
        if state.is_full() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    pub(super) fn check_write(&self, cx: &Context<'_>) -> std::io::Result<()> {
        let mut state = self.lock();
        if state.abandoned {
            return Err(abandoned());
        }
        state.gate_writer = Some(cx.waker().clone());
        Ok(())
    }

    pub(super) fn put_heard(&self) {
        self.lock().heard = true;
    }

    /// Whether the server was heard since the last time, or nobody listened.
    pub(super) fn take_heard(&self) -> bool {
        let mut state = self.lock();
        let heard = std::mem::take(&mut state.heard);
        heard || state.is_full()
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }
}

impl State {
    fn is_full(&self) -> bool {
        self.output.len() >= self.max_output
    }
}

fn abandoned() -> std::io::Error {
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
    fn an_end_that_is_no_failure_is_none() {
        let shared = Shared::new(1);
        assert!(shared.ending("it").is_none());
        shared.put_exit(Exit::Status(0));
        assert!(shared.ending("it").is_none());
        shared.put_exit(Exit::Signal("KILL\x1b[2J".into()));
        let text = shared.ending("it").unwrap().to_string();
        assert!(text.ends_with("it: signal KILL\\u{1b}[2J"), "{text}");
        shared.put_closed(Some(Fault::Silence));
        assert!(shared.ending("it").unwrap().is_timeout());
    }
}
