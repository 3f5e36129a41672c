//! The read timeout.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Measures for how long nothing has arrived while somebody was waiting for it.
///
/// The time counts from the first poll that found nothing rather than from the last byte. A caller that
/// spends a minute on an event has not read from the socket in that minute, so nothing could have arrived.
#[derive(Debug)]
pub struct Silence {
    limit: Option<Duration>,
    /// Kept over resets, so that an event that arrives alone does not cost an allocation.
    timer: Option<Pin<Box<Sleep>>>,
    armed: bool,
}

impl Silence {
    /// No limit where there is none.
    pub const fn new(limit: Option<Duration>) -> Self {
        Self { limit, timer: None, armed: false }
    }

    /// How long it may last.
    pub const fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Something arrived.
    pub const fn end(&mut self) {
        self.armed = false;
    }

    /// Becomes ready when the silence has lasted for the whole limit.
    pub fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = self.limit else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        if !self.armed {
            self.armed = true;
            // `sleep` takes care of a limit past the end of time, which `Instant` cannot represent.
            match Instant::now().checked_add(limit) {
                Some(deadline) => timer.as_mut().reset(deadline),
                None => timer.set(sleep(limit)),
            }
        }
        timer.as_mut().poll(cx)
    }
}
