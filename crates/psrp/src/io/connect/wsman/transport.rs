//! Transport that maps packets to operations on a shell.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use uuid::Uuid;

use super::fault::WsmanFault;
use super::messages::{PoolRequest, pipeline_failure, split_first_message};
use super::response::OutputChunk;
use super::session::{WsmanSession, fault, shell_text};
use super::soap::Operation;
use super::target::{ShellTarget, TargetRequest, TargetState};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::io::Transport;
use crate::outofproc::Packet;

/// Minimum time between receive requests if the service responds immediately without output.
const RECEIVE_BACKOFF: Duration = Duration::from_millis(50);

/// [`Transport`] over a shell of a WS-Management service, created by [`Wsman`](super::Wsman).
///
/// The first data of the pool creates a shell or connects to one, depending on its message. The first data of a
/// pipeline creates a command. Packets are acknowledged when the service has responded. Receive requests are repeated
/// as long as more output is possible.
///
/// If the service refuses to create a command, its pipeline fails with the reason as error record. All other errors end
/// the connection. If the transport is dropped without [`Packet::Close`] for the pool, the shell remains on the service
/// until its idle timeout.
pub struct WsmanTransport {
    session: Arc<WsmanSession>,
    state: TransportState,
    /// Identifier of the pool, from its first data.
    pool: Uuid,
    /// Identifier of the shell, which the server may have changed.
    shell: Arc<str>,
    targets: HashMap<Option<Uuid>, ShellTarget>,
    tasks: JoinSet<(Option<Uuid>, OperationResult)>,
    incoming: VecDeque<ReceivedPacket>,
    failure: Option<Error>,
    /// Error of a failed disconnect or reconnect.
    change_error: Option<Error>,
    /// Waker of the packet receiver.
    receiver: Option<Waker>,
}

/// Relation of the transport to its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransportState {
    /// Connected, or not opened yet.
    Connected,
    Disconnecting,
    /// The shell runs on without a client.
    Disconnected,
    Reconnecting,
    /// The shell is deleted.
    Deleted,
    /// The transport has failed or was closed.
    Closed,
}

/// Packet made up for the receiver: WS-Management has no packets of its own.
#[derive(Debug)]
enum ReceivedPacket {
    Data(Option<Uuid>, Vec<u8>),
    DataAck(Option<Uuid>),
    CommandAck(Option<Uuid>),
    SignalAck(Option<Uuid>),
    CloseAck(Option<Uuid>),
}

/// Result of an operation.
enum OperationResult {
    Opened(Result<(Option<Box<str>>, Vec<u8>), Error>),
    CommandCreated(Result<Option<Box<str>>, Error>),
    CommandConnected(Result<(), Error>),
    Sent(Result<(), Error>),
    Received(Result<OutputChunk, Error>),
    Interrupted(Result<(), Error>),
    Closed(Result<(), Error>),
    Disconnected(Result<(), Error>),
    Reconnected(Result<(), Error>),
}

impl WsmanTransport {
    pub(super) fn new(session: WsmanSession) -> Self {
        Self {
            session: Arc::new(session),
            state: TransportState::Connected,
            pool: Uuid::nil(),
            shell: "".into(),
            targets: HashMap::from([(None, ShellTarget::default())]),
            tasks: JoinSet::new(),
            incoming: VecDeque::new(),
            failure: None,
            change_error: None,
            receiver: None,
        }
    }

    fn spawn(
        &mut self,
        target: Option<Uuid>,
        operation: impl Future<Output = OperationResult> + Send + 'static,
    ) {
        self.tasks.spawn(async move { (target, operation.await) });
        // An empty task set does not store the waker.
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            receiver.wake();
        }
    }

    fn push(&mut self, incoming: ReceivedPacket) {
        self.incoming.push_back(incoming);
        self.wake();
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
        self.state = TransportState::Closed;
        self.tasks.abort_all();
        self.wake();
    }

    /// Queues a request of an existing target.
    fn enqueue(&mut self, id: Option<Uuid>, request: TargetRequest) {
        if let Some(target) = self.targets.get_mut(&id) {
            target.pending.push_back(request);
            self.send_next(id);
        }
    }

    /// Sends the next request of a target, if none is in flight.
    fn send_next(&mut self, id: Option<Uuid>) {
        while let Some(target) = self.targets.get_mut(&id) {
            let Some(request) = target.next_request() else { return };
            target.is_busy = true;
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            let known = target.id.clone();
            match (id, request, target.state) {
                // After its creation was refused, a pipeline continues to send until it receives the failure.
                (_, TargetRequest::Data(..), TargetState::New) if target.is_done => {
                    self.push(ReceivedPacket::DataAck(id))
                }
                (None, TargetRequest::Data(_, data), TargetState::New) => return self.open_shell(data),
                (Some(command), TargetRequest::Data(priority, mut data), TargetState::New) => {
                    match split_first_message(&mut data) {
                        Ok(rest) if rest.is_empty() => {}
                        Ok(rest) => target.pending.push_front(TargetRequest::Data(priority, rest)),
                        Err(error) => return self.fail(error),
                    }
                    return self.spawn(id, async move {
                        OperationResult::CommandCreated(session.command(&shell, command, &data).await)
                    });
                }
                (Some(command), TargetRequest::Connect, TargetState::New) => {
                    target.id = Some(shell_text(command).into());
                    return self.spawn(id, async move {
                        OperationResult::CommandConnected(
                            session.execute(Operation::ConnectCommand { shell: &shell, command }).await,
                        )
                    });
                }
                (_, TargetRequest::Data(priority, data), TargetState::Open) => {
                    return self.spawn(id, async move {
                        OperationResult::Sent(
                            session
                                .execute(Operation::Send {
                                    shell: &shell,
                                    command: known.as_deref(),
                                    priority,
                                    data: &data,
                                })
                                .await,
                        )
                    });
                }
                (Some(_), TargetRequest::Interrupt, TargetState::Open) => {
                    let known = known.unwrap_or_default();
                    return self.spawn(id, async move {
                        OperationResult::Interrupted(
                            session.execute(Operation::Interrupt { shell: &shell, command: &known }).await,
                        )
                    });
                }
                (Some(_), TargetRequest::Close, TargetState::Open) => {
                    target.state = TargetState::Closing;
                    let known = known.unwrap_or_default();
                    return self.spawn(id, async move {
                        OperationResult::Closed(
                            session.execute(Operation::Terminate { shell: &shell, command: &known }).await,
                        )
                    });
                }
                (None, TargetRequest::Close, TargetState::Open) => {
                    target.state = TargetState::Closing;
                    return self.spawn(id, async move {
                        OperationResult::Closed(session.execute(Operation::Delete { shell: &shell }).await)
                    });
                }
                // Targets that the server does not have, or that are being closed, need no request.
                (_, TargetRequest::Data(..), TargetState::Closing) => self.push(ReceivedPacket::DataAck(id)),
                (_, TargetRequest::Interrupt, _) => self.push(ReceivedPacket::SignalAck(id)),
                (_, TargetRequest::Close, _) => {
                    self.handle_closed(id);
                    continue;
                }
                (_, TargetRequest::Connect, _) => {}
            }
            if let Some(target) = self.targets.get_mut(&id) {
                target.is_busy = false;
            }
        }
    }

    /// Creates the shell or connects to it.
    fn open_shell(&mut self, data: Vec<u8>) {
        let request = match PoolRequest::parse(&data) {
            Ok(request) => request,
            Err(error) => return self.fail(error),
        };
        self.pool = request.pool;
        self.shell = shell_text(request.pool).into();
        let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
        self.spawn(None, async move {
            OperationResult::Opened(match request.is_connect {
                true => session.connect(&shell, &data).await.map(|data| (None, data)),
                false => session.create(request.pool, &data).await.map(|shell| (shell, Vec::new())),
            })
        });
    }

    /// Sends receive requests for all targets that can have output.
    fn receive(&mut self) {
        if self.state != TransportState::Connected {
            return;
        }
        let ready: Vec<_> = self
            .targets
            .iter_mut()
            .filter(|(_, target)| target.can_receive())
            .map(|(id, target)| {
                target.is_receiving = true;
                (*id, target.id.clone())
            })
            .collect();
        for (id, command) in ready {
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            self.spawn(id, async move {
                let start = Instant::now();
                let result = session.receive(&shell, command.as_deref()).await;
                let is_empty =
                    matches!(&result, Ok(received) if received.data.is_empty() && !received.is_done);
                if is_empty && start.elapsed() < RECEIVE_BACKOFF {
                    tokio::time::sleep(RECEIVE_BACKOFF).await;
                }
                OperationResult::Received(result)
            });
        }
    }

    /// Removes a closed command, or ends the transport with its shell.
    fn handle_closed(&mut self, id: Option<Uuid>) {
        if id.is_none() {
            self.state = TransportState::Deleted;
            // Results of requests in flight are no longer needed.
            self.tasks.abort_all();
            self.targets.clear();
        } else {
            self.targets.remove(&id);
        }
        self.push(ReceivedPacket::CloseAck(id));
    }

    fn handle_result(&mut self, id: Option<Uuid>, result: OperationResult) {
        match result {
            OperationResult::Disconnected(Ok(())) => return self.state = TransportState::Disconnected,
            OperationResult::Reconnected(Ok(())) => {
                self.state = TransportState::Connected;
                return self.receive();
            }
            OperationResult::Disconnected(Err(error)) => {
                self.change_error = Some(error);
                self.state = TransportState::Connected;
                return self.receive();
            }
            OperationResult::Reconnected(Err(error)) => {
                self.change_error = Some(error);
                return self.state = TransportState::Disconnected;
            }
            OperationResult::Received(result) => {
                self.handle_output(id, result);
                return self.receive();
            }
            _ => {}
        }
        let Some(target) = self.targets.get_mut(&id) else { return };
        target.is_busy = false;
        match result {
            OperationResult::Opened(Ok((shell, data))) => {
                target.state = TargetState::Open;
                target.is_full = !data.is_empty();
                if let Some(shell) = shell {
                    self.shell = shell.into();
                }
                self.push(ReceivedPacket::DataAck(None));
                if !data.is_empty() {
                    self.push(ReceivedPacket::Data(None, data));
                }
            }
            OperationResult::CommandCreated(Ok(command)) => {
                target.state = TargetState::Open;
                let command = command.or_else(|| id.map(|id| shell_text(id).into()));
                target.id = command.map(Into::into);
                self.push(ReceivedPacket::DataAck(id));
            }
            OperationResult::CommandConnected(Ok(())) => target.state = TargetState::Open,
            OperationResult::CommandCreated(Err(error)) | OperationResult::CommandConnected(Err(error)) => {
                self.fail_target(id, error)
            }
            OperationResult::Sent(Ok(())) => self.push(ReceivedPacket::DataAck(id)),
            // Input of a command that has ended is dropped, as by other transports. The next receive shows whether it
            // has.
            OperationResult::Sent(Err(error)) if fault(&error).is_some() && id.is_some() => {
                if !target.is_done {
                    target.send_error = Some(error);
                }
                self.push(ReceivedPacket::DataAck(id));
            }
            OperationResult::Sent(Err(error)) => self.fail(error),
            OperationResult::Closed(Err(error)) | OperationResult::Interrupted(Err(error))
                if fault(&error).is_none() =>
            {
                self.fail(error);
            }
            // The command continues to run.
            OperationResult::Interrupted(Err(error)) if !fault(&error).is_some_and(WsmanFault::is_gone) => {
                self.fail_target(id, error);
                self.push(ReceivedPacket::SignalAck(id));
            }
            // A fault means that there was nothing left to stop or close.
            OperationResult::Interrupted(_) => self.push(ReceivedPacket::SignalAck(id)),
            OperationResult::Closed(_) => self.handle_closed(id),
            OperationResult::Opened(Err(error)) => self.fail(error),
            OperationResult::Received(_)
            | OperationResult::Disconnected(_)
            | OperationResult::Reconnected(_) => {}
        }
        self.send_next(id);
        self.receive();
    }

    fn handle_output(&mut self, id: Option<Uuid>, result: Result<OutputChunk, Error>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        target.is_receiving = false;
        if target.state == TargetState::Closing {
            return;
        }
        match result {
            Ok(OutputChunk { data, is_done }) => {
                // A shell does not end this way.
                target.is_done = is_done && id.is_some();
                if target.is_done {
                    target.send_error = None;
                } else if data.is_empty()
                    && let Some(error) = target.send_error.take()
                {
                    return self.fail_target(id, error);
                }
                if !data.is_empty() {
                    target.is_full = true;
                    self.push(ReceivedPacket::Data(id, data));
                }
            }
            // Services abort pending receive requests when the client disconnects.
            Err(_)
                if matches!(
                    self.state,
                    TransportState::Disconnecting
                        | TransportState::Disconnected
                        | TransportState::Reconnecting
                ) => {}
            Err(error) => self.fail_target(id, error),
        }
    }

    /// Fails the pipeline of a command that the server has refused. Every other error fails the transport.
    fn fail_target(&mut self, id: Option<Uuid>, error: Error) {
        let reason = fault(&error).map(ToString::to_string);
        match (id, reason, self.targets.get_mut(&id)) {
            (Some(pipeline), Some(reason), Some(target)) => {
                target.is_done = true;
                target.is_full = true;
                match pipeline_failure(self.pool, pipeline, &reason) {
                    Ok(data) => {
                        self.push(ReceivedPacket::DataAck(id));
                        self.push(ReceivedPacket::Data(id, data));
                    }
                    Err(error) => self.fail(error),
                }
            }
            _ => self.fail(error),
        }
    }

    /// Handles the next completed operation.
    fn poll_tasks(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.tasks.poll_join_next(cx)) {
            Some(Ok((id, result))) => self.handle_result(id, result),
            Some(Err(error)) if error.is_cancelled() => {}
            Some(Err(error)) => self.fail(Error::with(Kind::Io, "a request has panicked").caused_by(error)),
            None => return Poll::Pending,
        }
        Poll::Ready(())
    }

    /// Fails if the transport has ended. The receiver gets the error itself.
    fn check(&self) -> Result<(), Error> {
        match (self.state, &self.failure) {
            (TransportState::Closed, Some(error)) => Err(error.duplicate()),
            (TransportState::Closed, None) => {
                Err(Error::with(Kind::Closed, "the connection has already failed"))
            }
            _ => Ok(()),
        }
    }

    /// Waits until all queued requests are done.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            self.check()?;
            if self.targets.values().all(ShellTarget::is_idle) {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_tasks(cx));
        }
    }

    /// Waits for the result of a disconnect or reconnect.
    fn poll_change(
        &mut self,
        cx: &mut Context<'_>,
        in_progress: TransportState,
        done: TransportState,
    ) -> Poll<Result<(), Error>> {
        while self.state == in_progress {
            ready!(self.poll_tasks(cx));
        }
        self.check()?;
        match self.change_error.take() {
            Some(error) => Poll::Ready(Err(error)),
            None if self.state == done => Poll::Ready(Ok(())),
            None => Poll::Ready(Err(Error::with(
                Kind::State,
                "there is no shell to disconnect from or reconnect to",
            ))),
        }
    }
}

impl Transport for WsmanTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        loop {
            if let Some(incoming) = self.incoming.pop_front() {
                let packet = match &incoming {
                    ReceivedPacket::Data(target, data) => {
                        let more = self
                            .incoming
                            .iter()
                            .any(|other| matches!(other, ReceivedPacket::Data(other, _) if other == target));
                        if let Some(known) = self.targets.get_mut(target) {
                            known.is_full = more;
                        }
                        self.receive();
                        Packet::Data { target: *target, priority: Priority::Default, data }
                    }
                    ReceivedPacket::DataAck(target) => Packet::DataAck(*target),
                    ReceivedPacket::CommandAck(target) => Packet::CommandAck(*target),
                    ReceivedPacket::SignalAck(target) => Packet::SignalAck(*target),
                    ReceivedPacket::CloseAck(target) => Packet::CloseAck(*target),
                };
                return Poll::Ready(Some(take(packet)));
            }
            match self.state {
                TransportState::Deleted => return Poll::Ready(None),
                TransportState::Closed => return Poll::Ready(self.failure.take().map(Err)),
                _ => {}
            }
            if self.poll_tasks(cx).is_pending() {
                self.receiver = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
    }

    /// Ready unless the transport has failed: unacknowledged data bounds the queue.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(self.check())
    }

    /// # Errors
    ///
    /// Fails with [`Error::is_unsupported`] for packets that only servers send, and after the pool was closed.
    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.check()?;
        match packet {
            Packet::Data { target, priority, data } if self.targets.contains_key(&target) => {
                self.enqueue(target, TargetRequest::Data(priority, data.to_vec()));
            }
            Packet::Command(Some(id)) if self.state != TransportState::Deleted => {
                self.targets.entry(Some(id)).or_default();
                self.push(ReceivedPacket::CommandAck(Some(id)));
            }
            Packet::Signal(Some(id)) => match self.targets.contains_key(&Some(id)) {
                true => self.enqueue(Some(id), TargetRequest::Interrupt),
                false => self.push(ReceivedPacket::SignalAck(Some(id))),
            },
            Packet::Close(id) => match self.targets.contains_key(&id) {
                true => self.enqueue(id, TargetRequest::Close),
                false => self.push(ReceivedPacket::CloseAck(id)),
            },
            _ => {
                return Err(Error::with(Kind::Unsupported, "this packet cannot be sent over WS-Management"));
            }
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_idle(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if matches!(self.state, TransportState::Connected) {
            ready!(self.poll_idle(cx))?;
        }
        self.tasks.abort_all();
        self.state = TransportState::Closed;
        Poll::Ready(self.failure.take().map_or(Ok(()), Err))
    }

    /// Data that fits into an envelope of the maximum size.
    fn max_data(&self) -> usize {
        self.session.max_data()
    }

    fn is_confidential(&self) -> bool {
        self.session.is_confidential()
    }

    fn adopt(&mut self, pipeline: Uuid) -> Result<(), Error> {
        self.check()?;
        self.targets.entry(Some(pipeline)).or_default();
        self.enqueue(Some(pipeline), TargetRequest::Connect);
        Ok(())
    }

    fn poll_disconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let is_open = self.targets.get(&None).is_some_and(|target| target.state == TargetState::Open);
        if self.state == TransportState::Connected && is_open && self.change_error.is_none() {
            ready!(self.poll_idle(cx))?;
            self.state = TransportState::Disconnecting;
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            self.spawn(None, async move {
                OperationResult::Disconnected(session.execute(Operation::Disconnect { shell: &shell }).await)
            });
        }
        self.poll_change(cx, TransportState::Disconnecting, TransportState::Disconnected)
    }

    fn poll_reconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.state == TransportState::Disconnected && self.change_error.is_none() {
            self.state = TransportState::Reconnecting;
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            self.spawn(None, async move {
                OperationResult::Reconnected(session.execute(Operation::Reconnect { shell: &shell }).await)
            });
        }
        self.poll_change(cx, TransportState::Reconnecting, TransportState::Connected)
    }
}

/// Shows the number of targets and requests, not their contents.
impl fmt::Debug for WsmanTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WsmanTransport")
            .field("state", &self.state)
            .field("shell", &self.shell)
            .field("targets", &self.targets.len())
            .field("requests", &self.tasks.len())
            .finish_non_exhaustive()
    }
}
