//! The task that moves packets between a transport and the state machine.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};

use super::hosting;
use super::shared::{Detour, Shared};
use crate::error::{Error, Kind};
use crate::io::Transport;
use crate::message::RunspacePoolState;

/// Packets that are read before writing has its turn, and such turns before other tasks have theirs.
const TURN: usize = 16;

/// How long a connection that can't be written to may take to tell why.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) struct Driver<T> {
    transport: T,
    shared: Arc<Shared>,
    buffer: Vec<u8>,
    needs_flush: bool,
    /// Why nothing can be written any more, and until when the reason may be read.
    broken: Option<(Error, Instant)>,
    /// Whether nothing more comes from a server that was asked to close the pool.
    is_at_end: bool,
    /// Until when the server has to close the pool.
    closing: Option<Instant>,
    timer: Pin<Box<Sleep>>,
    hosts: JoinSet<()>,
}

impl<T: Transport> Driver<T> {
    pub(super) fn new(transport: T, shared: Arc<Shared>) -> Self {
        Self {
            transport,
            shared,
            buffer: Vec::new(),
            needs_flush: false,
            broken: None,
            is_at_end: false,
            closing: None,
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            hosts: JoinSet::new(),
        }
    }

    /// Carries the session to its end.
    pub(super) async fn run(mut self) {
        let mut result = poll_fn(|cx| self.poll_session(cx)).await;
        if result.is_ok() {
            let limit = self.shared.limits.close_timeout;
            let ended = tokio::time::timeout(limit, poll_fn(|cx| self.transport.poll_close(cx))).await;
            result = ended.unwrap_or_else(|_| Err(Error::with(Kind::Timeout, "end of the connection")));
        }
        self.shared.end(result);
    }

    fn poll_session(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        for _ in 0..TURN {
            let detour = self.shared.lock().begin_turn(cx.waker());
            self.take_detour(detour, cx);
            if let Some(result) = self.step() {
                return Poll::Ready(result);
            }
            if self.broken.is_none()
                && let Err(error) = self.write(cx)
            {
                self.broken = Some((error, Instant::now() + LAST_WORDS));
            }
            let has_read = self.read(cx)?;
            self.call_hosts(cx);
            let state = self.shared.lock();
            let is_over =
                matches!(state.machine.state(), RunspacePoolState::Closed | RunspacePoolState::Broken);
            self.shared.tell(state);
            if is_over {
                continue;
            }
            if !has_read && self.poll_timer(cx).is_pending() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// What is to be done besides carrying packets. `Some` ends the session.
    fn step(&mut self) -> Option<Result<(), Error>> {
        use RunspacePoolState::{
            BeforeOpen, Broken, Closed, Closing, Connecting, Disconnected, Opened, Opening,
        };

        if self.is_at_end {
            return Some(Ok(()));
        }
        if self.broken.as_ref().is_some_and(|(_, deadline)| *deadline <= Instant::now()) {
            return self.broken.take().map(|(error, _)| Err(error));
        }
        let mut state = self.shared.lock();
        // What handles do may lead to events too.
        state.take_events(false);
        match state.machine.state() {
            Closed if state.is_closing => return Some(Ok(())),
            Closed | Broken => return Some(Err(state.end_of_pool())),
            _ if !state.is_closing => return None,
            // There is nothing to close, or it goes on without a client.
            BeforeOpen | Opening | Connecting | Disconnected => return Some(Ok(())),
            Opened => {
                state.settle_all();
                if state.machine.pipelines().len() == 0 {
                    // It fails in states that were left out above.
                    let _ = state.machine.close();
                    self.closing = Some(Instant::now() + self.shared.limits.close_timeout);
                } else if self.closing.is_none() {
                    let limits = &self.shared.limits;
                    self.closing = Some(Instant::now() + limits.stop_timeout + limits.close_timeout);
                }
            }
            Closing => {}
            _ => return None,
        }
        let is_late = self.closing.is_some_and(|deadline| deadline <= Instant::now());
        is_late.then(|| Err(Error::with(Kind::Timeout, "to close the pool")))
    }

    /// Writes what there is to be sent, as far as the transport takes it.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let adopted = std::mem::take(&mut self.shared.lock().adopted);
        for pipeline in adopted {
            self.transport.adopt(pipeline)?;
        }
        while let Poll::Ready(ready) = self.transport.poll_ready(cx) {
            ready?;
            let max = self.transport.max_data();
            let packet = self.shared.lock().machine.poll_transmit(max, &mut self.buffer);
            let Some(packet) = packet else { break };
            self.transport.send(packet)?;
            self.needs_flush = true;
        }
        if self.needs_flush
            && let Poll::Ready(flushed) = self.transport.poll_flush(cx)
        {
            flushed?;
            self.needs_flush = false;
        }
        Ok(())
    }

    /// Reads for one turn. Whether there was something, which may lead to something to be sent.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let mut may_read = self.shared.lock().may_read();
        for count in 0..TURN {
            if !may_read {
                return Ok(count > 0);
            }
            let received = self.transport.poll_receive(cx, &mut |packet| {
                let mut state = self.shared.lock();
                state.take(packet)?;
                may_read = state.may_read();
                Ok(())
            });
            match received {
                Poll::Pending => return Ok(count > 0),
                Poll::Ready(Some(Ok(()))) => {}
                Poll::Ready(Some(Err(error))) => return Err(error),
                Poll::Ready(None) => {
                    use RunspacePoolState::{Closed, Closing};
                    // It may end when it is asked to close the pool; there is nothing left to wait for.
                    self.is_at_end = matches!(self.shared.lock().machine.state(), Closed | Closing);
                    let early = || Error::with(Kind::Closed, "the server has ended it");
                    return if self.is_at_end { Ok(true) } else { Err(early()) };
                }
            }
        }
        Ok(true)
    }

    /// Starts to serve the calls of the host that have come, and forgets who has finished.
    fn call_hosts(&mut self, cx: &mut Context<'_>) {
        let starts = self.shared.lock().calls.starts();
        for (host, pipeline) in starts {
            self.hosts.spawn(hosting::serve(Arc::clone(&self.shared), host, pipeline));
        }
        while let Poll::Ready(Some(_)) = self.hosts.poll_join_next(cx) {}
    }

    /// Ready if something became too late.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let signal = self.shared.lock().next_deadline();
        let broken = self.broken.as_ref().map(|(_, deadline)| *deadline);
        let next = [signal, broken, self.closing].into_iter().flatten().min();
        let Some(next) = next else { return Poll::Pending };
        if self.timer.deadline() != next {
            self.timer.as_mut().reset(next);
        }
        self.timer.as_mut().poll(cx)
    }

    /// Leaves the pool or takes it up again.
    fn take_detour(&mut self, detour: Option<Detour>, cx: &mut Context<'_>) {
        let done = match detour {
            None => return,
            Some(Detour::Disconnect) => self.transport.poll_disconnect(cx),
            Some(Detour::Reconnect) => self.transport.poll_reconnect(cx),
        };
        let Poll::Ready(result) = done else { return };
        let mut state = self.shared.lock();
        let Some((detour, waiting)) = state.detour.take() else { return };
        let result = result.and_then(|()| match detour {
            Detour::Disconnect => state.machine.disconnect(),
            Detour::Reconnect => state.machine.reconnect(),
        });
        // Pipelines may have been dropped meanwhile.
        state.settle_all();
        // Nobody waits any more if this fails.
        let _ = waiting.send(result);
    }
}

/// A driver that is dropped with its runtime ends the session.
impl<T> Drop for Driver<T> {
    fn drop(&mut self) {
        self.shared.end(Err(Error::with(Kind::Closed, "the runtime of the session has ended")));
    }
}
