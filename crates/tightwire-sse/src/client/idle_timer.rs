//! Timeouts of a connection.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use crate::error::{Error, Kind};

/// Read timeout that only counts time spent waiting for data.
///
/// The time counts from the first poll without data, not from the last byte: a caller that spends a minute on an event
/// does not read from the socket during that minute.
#[derive(Debug)]
pub struct IdleTimer {
    timeout: Option<Duration>,
    /// Reused after a reset, so that it is allocated only once.
    timer: Option<Pin<Box<Sleep>>>,
    armed: bool,
}

impl IdleTimer {
    /// Returns a stopped timer. `None` means no timeout.
    pub const fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, timer: None, armed: false }
    }

    /// Returns the timeout passed to [`new`](Self::new).
    pub const fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Stops the timer. Call this when data has arrived.
    pub const fn reset(&mut self) {
        self.armed = false;
    }

    /// Starts the timer if it is stopped, and becomes ready when the timeout has elapsed. Call this when there is no
    /// data.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time driver, if there is a timeout.
    pub fn poll_elapsed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(timeout) = self.timeout else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        if !self.armed {
            self.armed = true;
            // `sleep` handles a timeout that `Instant` cannot represent.
            match Instant::now().checked_add(timeout) {
                Some(deadline) => timer.as_mut().reset(deadline),
                None => timer.set(sleep(timeout)),
            }
        }
        timer.as_mut().poll(cx)
    }
}

/// Read timeout and event timeout.
#[derive(Debug)]
pub(super) struct Timeouts {
    pub(super) read: IdleTimer,
    pub(super) event: IdleTimer,
}

impl Timeouts {
    pub(super) const fn new(read: Option<Duration>, event: Option<Duration>) -> Self {
        Self { read: IdleTimer::new(read), event: IdleTimer::new(event) }
    }

    pub(super) const fn reset(&mut self) {
        self.read.reset();
        self.event.reset();
    }

    /// Returns the error of the first timeout that has elapsed.
    pub(super) fn poll_error(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        if self.read.poll_elapsed(cx).is_ready() {
            return Poll::Ready(Error::new(Kind::Timeout));
        }
        self.event.poll_elapsed(cx).map(|()| Error::new(Kind::EventTimeout))
    }
}
