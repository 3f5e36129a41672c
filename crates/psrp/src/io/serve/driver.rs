//! Packets between a transport and the machine.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::time::timeout;

use super::shared::Shared;
use super::work::Work;
use super::{Handler, Options};
use crate::Error;
use crate::io::Transport;
use crate::message::RunspacePoolState;
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::server::RunspacePool;

/// Packets that are moved in one direction before the other one has its turn.
const TURN: usize = 64;
/// What a packet counts beside its data.
const PACKET: usize = 64;
/// Turns before other tasks have theirs.
const TURNS: usize = 16;

/// How a session has ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The client has closed the pool.
    Closed,
    /// The connection has ended, or the client has sent an empty line.
    Disconnected,
    /// The handler has broken the pool.
    Broken,
}

/// Serves one session: until the client closes the pool, or the connection ends. A client that has closed the pool has
/// [`Options::close_timeout`] to end the connection.
///
/// Must be called in a runtime of tokio, whose tasks the pipelines are. They are given up when the future is dropped.
///
/// # Errors
///
/// Fails if the connection does, and if the client violates the protocol or exceeds a limit; one that has opened
/// the pool is told so first.
pub async fn serve<T: Transport, H: Handler>(
    transport: T,
    handler: H,
    options: Options,
) -> Result<Ended, Error> {
    let Options { config, max_unsent_bytes, max_input_bytes, stop_timeout, close_timeout } = options;
    let shared = Shared::new(RunspacePool::new(config), max_unsent_bytes, max_input_bytes);
    let mut driver = Driver {
        transport,
        work: Work::new(Arc::new(shared), handler, stop_timeout, max_input_bytes),
        buffer: Vec::new(),
        max_read: max_unsent_bytes,
        max_input: max_input_bytes,
        read: 0,
        is_unsent: false,
        is_unflushed: false,
    };
    let ended = poll_fn(|cx| driver.poll(cx)).await;
    if let Err(error) = &ended {
        driver.tell(error);
    }
    driver.work.shared.end();
    // A client that takes nothing more must not keep the session alive. One that has closed the pool, or is gone, needs
    // not hear the last of it.
    let _ = timeout(close_timeout, poll_fn(|cx| driver.poll_close(cx))).await;
    // What blocks its thread can't be given up.
    let _ = timeout(close_timeout, driver.work.shut_down()).await;
    driver.work.handler.closed(&ended).await;
    if matches!(ended, Ok(Ended::Closed)) {
        // PowerShell's client reports a failure if the process ends before it has read the acknowledgement.
        let _ = timeout(close_timeout, poll_fn(|cx| driver.poll_disconnected(cx))).await;
    }
    ended
}

struct Driver<T, H> {
    transport: T,
    work: Work<H>,
    buffer: Vec<u8>,
    /// Bytes that may be read while nothing can be sent.
    max_read: usize,
    max_input: usize,
    /// Bytes that were read since everything was sent.
    read: usize,
    /// Whether something waits until the transport takes it.
    is_unsent: bool,
    is_unflushed: bool,
}

impl<T: Transport, H: Handler> Driver<T, H> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Ended, Error>> {
        for _ in 0..TURNS {
            self.work.shared.lock().register(cx.waker());
            let mut any = self.work.poll_tasks(cx);
            any |= self.poll_receive(cx)?;
            any |= self.poll_send(cx)?;
            if self.work.shared.lock().pool.state() == RunspacePoolState::Broken {
                self.work.ended.get_or_insert(Ended::Broken);
            }
            if let Some(ended) = self.work.ended {
                return Poll::Ready(Ok(ended));
            }
            if !any {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Takes packets of the client. Whether there were any: they may have started tasks, which are to be looked at.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let Self { transport, work, read, .. } = self;
        for turn in 0..TURN {
            let is_full = self.is_unsent && *read > self.max_read;
            if work.ended.is_some() || is_full || !work.shared.lock().may_read(self.max_input) {
                return Ok(turn > 0);
            }
            let mut take = |packet: Packet<'_>| {
                *read += match packet {
                    Packet::Data { data, .. } => PACKET + data.len(),
                    _ => PACKET,
                };
                work.take(packet)
            };
            match transport.poll_receive(cx, &mut take) {
                Poll::Pending => return Ok(turn > 0),
                Poll::Ready(None) => {
                    work.ended = Some(Ended::Disconnected);
                    return Ok(turn > 0);
                }
                Poll::Ready(Some(result)) => result?,
            }
        }
        Ok(true)
    }

    /// Sends packets to the client. Whether there may be more.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let mut is_more = true;
        for _ in 0..TURN {
            self.is_unsent = self.transport.poll_ready(cx)?.is_pending();
            if self.is_unsent {
                is_more = false;
                break;
            }
            let max = self.transport.max_data();
            let mut state = self.work.shared.lock();
            let packet = match state.acknowledgements.pop_front() {
                Some(target) => Some(Packet::DataAck(target)),
                None => state.pool.poll_transmit(max, &mut self.buffer),
            };
            drop(state);
            let Some(packet) = packet else {
                self.read = 0;
                is_more = false;
                break;
            };
            self.transport.send(packet)?;
            self.is_unflushed = true;
        }
        if self.is_unflushed && self.transport.poll_flush(cx)?.is_ready() {
            self.is_unflushed = false;
        }
        let has_room = self.work.shared.has_much_room(&self.work.shared.lock());
        if has_room {
            self.work.shared.tell_room();
        }
        Ok(is_more)
    }

    /// Tells the client why the session ends.
    fn tell(&self, error: &Error) {
        let record = ErrorRecord::new(error.to_string(), ErrorCategory::ProtocolError);
        // It can't be told before it has opened a pool.
        let _ = self.work.shared.lock().pool.set_broken(record);
    }

    /// Sends what there is, and ends the connection.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while self.poll_send(cx)? {}
        if self.is_unsent {
            return Poll::Pending;
        }
        self.transport.poll_close(cx)
    }

    /// Drops what a client sends after it has closed the pool, until the connection ends.
    fn poll_disconnected(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(Ok(())) = ready!(self.transport.poll_receive(cx, &mut |_| Ok(()))) {}
        Poll::Ready(())
    }
}
