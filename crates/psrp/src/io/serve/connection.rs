//! Server connection: moves packets between the transport and the state machine.

use std::future::poll_fn;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::dispatcher::Dispatcher;
use super::server_state::SharedServerState;
use super::{Handler, SessionEnd};
use crate::Error;
use crate::io::{Lines, Transport};
use crate::message::RunspacePoolState;
use crate::outofproc::{Packet, Role};
use crate::record::{ErrorCategory, ErrorRecord};
use crate::server::{Config, ServerPool};

/// Maximum packets per turn in one direction.
const PACKETS_PER_TURN: usize = 64;
/// Bytes counted per packet in addition to its data.
const PACKET_OVERHEAD: usize = 64;
/// Turns per poll before the task yields.
const TURNS_PER_POLL: usize = 16;
/// Time for a client that has closed the pool to close the connection before the server does.
const CLIENT_FIRST: Duration = Duration::from_secs(1);

/// Options for serving a session, with limits in addition to those of the [`Config`].
///
/// ```
/// use psrp::io::serve::Options;
///
/// let options = Options { max_input_bytes: 16 << 20, ..Options::default() };
/// # drop(options);
/// ```
#[derive(Debug)]
pub struct Options {
    /// The pool's settings and protocol limits. Default: [`Config::new`].
    pub config: Config,
    /// Maximum bytes of unsent messages of all pipelines, above which writers wait. Each pipeline can exceed it by one
    /// message of any size. While sending is blocked, at most the same amount is read. Default: 1 MiB.
    pub max_unsent_bytes: usize,
    /// Maximum decoded bytes of a pipeline's unread input. Above it, and above twice the limit over all pipelines, the
    /// server withholds acknowledgements, for which clients wait before they send more of this pipeline.
    ///
    /// At 64 times the limit over all pipelines, or four times if the client sends without waiting for acknowledgements,
    /// the server stops reading until handlers have read some input; until then it does not receive stop requests either.
    /// While a handler waits for the response to a host call, which is behind the input, up to four times the limit of
    /// its pipeline are acknowledged; then the call fails. Default: 1 MiB.
    pub max_input_bytes: usize,
    /// Maximum time for a handler that uses [`Pipeline::stopping`](super::Pipeline::stopping) to end after a stop request.
    /// Then its future is dropped. Default: 30 seconds, which is half of PowerShell's timeout.
    pub stop_timeout: Duration,
    /// Timeout of each step at the end of a session: sending the remaining packets, waiting for handlers that block, closing
    /// the connection, and waiting for the client to close it after it has closed the pool. Default: 5 seconds.
    pub close_timeout: Duration,
}

impl Options {
    /// Creates options with the defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            config: Config::new(),
            max_unsent_bytes: 1 << 20,
            max_input_bytes: 1 << 20,
            stop_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
        }
    }
}

/// Serves one session until the client closes the pool or the connection ends. After closing the pool, the client has
/// [`Options::close_timeout`] to close the connection.
///
/// Must be called in a tokio runtime, because each pipeline is a task. Dropping the future aborts them.
///
/// # Errors
///
/// Fails if the connection fails, and if the client violates the protocol or exceeds a limit. If the client has opened
/// the pool, it is told the reason first.
pub async fn serve<T: Transport, H: Handler>(
    transport: T,
    handler: H,
    options: Options,
) -> Result<SessionEnd, Error> {
    let Options { config, max_unsent_bytes, max_input_bytes, stop_timeout, close_timeout } = options;
    let shared = SharedServerState::new(ServerPool::new(config), max_unsent_bytes, max_input_bytes);
    let mut connection = ServerConnection {
        transport,
        dispatcher: Dispatcher::new(Arc::new(shared), handler, stop_timeout),
        buffer: Vec::new(),
        max_read: max_unsent_bytes,
        read: 0,
        is_blocked: false,
        needs_flush: false,
    };
    let ended = poll_fn(|cx| connection.poll(cx)).await;
    if let Err(error) = &ended {
        connection.report_error(error);
    }
    connection.dispatcher.shared.end();
    let is_closed = matches!(ended, Ok(SessionEnd::Closed));
    // Best effort: a client that stops reading must not keep the session alive, and one that has closed the pool or
    // disconnected does not need the last packets.
    let _ = timeout(close_timeout, poll_fn(|cx| connection.poll_close(cx, !is_closed))).await;
    // A handler that blocks its thread cannot be aborted.
    let _ = timeout(close_timeout, connection.dispatcher.shut_down()).await;
    connection.dispatcher.handler.closed(&ended).await;
    if is_closed {
        // PowerShell's client handles the acknowledgement and the end of the connection on different threads. If the
        // connection or the process ends first, it reports the session as broken. Therefore the client closes first,
        // unless it waits for the server.
        let left =
            timeout(close_timeout.min(CLIENT_FIRST), poll_fn(|cx| connection.poll_disconnected(cx))).await;
        let _ = timeout(close_timeout, poll_fn(|cx| connection.poll_close(cx, true))).await;
        if left.is_err() {
            let _ = timeout(close_timeout, poll_fn(|cx| connection.poll_disconnected(cx))).await;
        }
    }
    ended
}

struct ServerConnection<T, H> {
    transport: T,
    dispatcher: Dispatcher<H>,
    buffer: Vec<u8>,
    /// Maximum bytes read while sending is blocked.
    max_read: usize,
    /// Bytes read since all packets were sent.
    read: usize,
    /// The transport is not ready to accept a packet.
    is_blocked: bool,
    needs_flush: bool,
}

impl<T: Transport, H: Handler> ServerConnection<T, H> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<SessionEnd, Error>> {
        for _ in 0..TURNS_PER_POLL {
            self.dispatcher.shared.lock().register(cx.waker());
            let mut is_active = self.dispatcher.poll_tasks(cx);
            let was_full = self.is_full();
            is_active |= self.poll_receive(cx)?;
            is_active |= self.poll_send(cx)?;
            // Otherwise nothing would wake the task when the next packet arrives.
            is_active |= was_full && !self.is_full();
            if self.dispatcher.shared.lock().pool.state() == RunspacePoolState::Broken {
                self.dispatcher.ended.get_or_insert(SessionEnd::Broken);
            }
            if let Some(ended) = self.dispatcher.ended {
                return Poll::Ready(Ok(ended));
            }
            if !is_active {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Returns whether no more may be read until packets are sent.
    fn is_full(&self) -> bool {
        self.is_blocked && self.read > self.max_read
    }

    /// Receives packets. Returns whether there were any, because they can have started tasks that must be polled.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        for turn in 0..PACKETS_PER_TURN {
            let is_full = self.is_full();
            let Self { transport, dispatcher, read, .. } = self;
            if dispatcher.ended.is_some() || is_full || !dispatcher.shared.lock().may_read() {
                return Ok(turn > 0);
            }
            let mut take = |packet: Packet<'_>| {
                *read += match packet {
                    Packet::Data { data, .. } => PACKET_OVERHEAD + data.len(),
                    _ => PACKET_OVERHEAD,
                };
                dispatcher.handle_packet(packet)
            };
            match transport.poll_receive(cx, &mut take) {
                Poll::Pending => return Ok(turn > 0),
                Poll::Ready(None) => {
                    dispatcher.ended = Some(SessionEnd::Disconnected);
                    return Ok(turn > 0);
                }
                Poll::Ready(Some(result)) => result?,
            }
        }
        Ok(true)
    }

    /// Sends packets. Returns whether there may be more.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let mut is_more = true;
        for _ in 0..PACKETS_PER_TURN {
            self.is_blocked = self.transport.poll_ready(cx)?.is_pending();
            if self.is_blocked {
                is_more = false;
                break;
            }
            let max = self.transport.max_data();
            let mut state = self.dispatcher.shared.lock();
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
            self.needs_flush = true;
        }
        if self.needs_flush && self.transport.poll_flush(cx)?.is_ready() {
            self.needs_flush = false;
        }
        self.dispatcher.shared.notify_writers_of_room();
        Ok(is_more)
    }

    fn report_error(&self, error: &Error) {
        let record = ErrorRecord::new(error.to_string(), ErrorCategory::ProtocolError);
        // Fails if the client has not opened a pool yet.
        let _ = self.dispatcher.shared.lock().pool.set_broken(record);
    }

    /// Sends the remaining packets, and closes the connection if `is_last` is set.
    fn poll_close(&mut self, cx: &mut Context<'_>, is_last: bool) -> Poll<Result<(), Error>> {
        while self.poll_send(cx)? {}
        if self.is_blocked {
            return Poll::Pending;
        }
        if is_last { self.transport.poll_close(cx) } else { self.transport.poll_flush(cx) }
    }

    /// Discards packets received after the pool was closed, until the connection ends.
    fn poll_disconnected(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(Ok(())) = ready!(self.transport.poll_receive(cx, &mut |_| Ok(()))) {}
        Poll::Ready(())
    }
}

/// Bytes per read, and maximum bytes read ahead.
const CHUNK_SIZE: usize = 32 * 1024;

/// Serves the client on standard input and output, like `pwsh -s` or a subsystem of an SSH server.
///
/// Nothing else may write to the standard output. A separate thread reads the standard input and can remain blocked
/// until the process exits; it keeps neither the runtime nor the process alive.
///
/// # Errors
///
/// Same as [`serve`]. Also fails if the thread cannot be started or the standard input cannot be read.
pub async fn serve_stdio<H: Handler>(handler: H, options: Options) -> Result<SessionEnd, Error> {
    let (mut writer, input) = tokio::io::duplex(CHUNK_SIZE);
    let (failure, mut failed) = oneshot::channel();
    let runtime = Handle::current();
    // tokio's standard input cannot be cancelled, and the runtime would wait for it at shutdown.
    std::thread::Builder::new().name("psrp-stdin".into()).spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut chunk = vec![0; CHUNK_SIZE];
        loop {
            match stdin.read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let _ = failure.send(error);
                    return;
                }
                Ok(0) => return,
                Ok(count) if runtime.block_on(writer.write_all(&chunk[..count])).is_err() => return,
                Ok(_) => {}
            }
        }
    })?;
    let end = serve(Lines::new(Role::Server, input, tokio::io::stdout()), handler, options).await;
    // Without the error, the failed input would look like its end.
    failed.try_recv().map_or(end, |error| Err(error.into()))
}
