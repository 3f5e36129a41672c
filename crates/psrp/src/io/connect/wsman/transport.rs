//! Transport that maps packets to operations on a shell.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use uuid::Uuid;

use super::fault::WsmanFault;
use super::messages::{parse_pool_request, pipeline_failure, split_first_message};
use super::response::Response;
use super::session::{WsmanSession, fault, shell_text};
use super::soap::{self, Request};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::io::Transport;
use crate::io::task::wake;
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
    shell: Box<str>,
    targets: HashMap<Option<Uuid>, ShellTarget>,
    tasks: JoinSet<(Option<Uuid>, Operation, Result<Response, Error>)>,
    /// Packets for the receiver, made up because WS-Management has none of its own, and the data of each.
    incoming: VecDeque<(Packet<'static>, Vec<u8>)>,
    failure: Option<Error>,
    /// Error of a failed disconnect or reconnect.
    change_error: Option<Error>,
    receiver: Option<Waker>,
}

/// Relation of the transport to its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransportState {
    /// Connected, or not opened yet.
    Connected,
    /// Will disconnect after the pending requests, and receives no more output: it is for the next client.
    Draining,
    Disconnecting,
    /// The shell runs on without a client.
    Disconnected,
    Reconnecting,
    Deleted,
    /// The transport has failed or was closed.
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// Creates a shell or connects to one.
    Open,
    CreateCommand,
    ConnectCommand,
    Send,
    Receive,
    Interrupt,
    Close,
    Disconnect,
    Reconnect,
}

#[derive(Debug)]
enum TargetRequest {
    Data(Priority, Vec<u8>),
    /// Connects to this running command.
    Connect(Uuid),
    Interrupt,
    /// Terminates a command or deletes the shell.
    Close,
}

/// Lifecycle of a shell or command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TargetState {
    /// Not created on the server yet.
    #[default]
    New,
    Open,
    /// Being closed; its output is ignored.
    Closing,
}

/// Shell or command.
///
/// Its requests are sent one at a time, because their order matters. Receiving output runs in parallel.
#[derive(Debug, Default)]
struct ShellTarget {
    state: TargetState,
    /// Identifier assigned by the server.
    id: Option<Box<str>>,
    pending: VecDeque<TargetRequest>,
    is_busy: bool,
    is_receiving: bool,
    /// Received data has not been taken yet.
    is_full: bool,
    /// The server has no more output for it.
    is_done: bool,
    /// Error of data that was not accepted. It is ignored if the command turns out to have ended.
    send_error: Option<Error>,
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

    fn spawn(&mut self, target: Option<Uuid>, operation: Operation, request: Request) {
        let session = Arc::clone(&self.session);
        self.tasks.spawn(async move {
            let start = Instant::now();
            let result = session.run(&request).await;
            let is_empty = matches!(&result, Ok(response) if response.data.is_empty() && !response.is_done);
            if operation == Operation::Receive && is_empty && start.elapsed() < RECEIVE_BACKOFF {
                tokio::time::sleep(RECEIVE_BACKOFF).await;
            }
            (target, operation, result)
        });
        // An empty task set does not store the waker.
        wake(&mut self.receiver);
    }

    fn push(&mut self, packet: Packet<'static>) {
        self.incoming.push_back((packet, Vec::new()));
        wake(&mut self.receiver);
    }

    fn push_data(&mut self, target: Option<Uuid>, data: Vec<u8>) {
        if !data.is_empty() {
            let packet = Packet::Data { target, priority: Priority::Default, data: &[] };
            self.incoming.push_back((packet, data));
            wake(&mut self.receiver);
        }
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
        self.state = TransportState::Closed;
        self.tasks.abort_all();
        wake(&mut self.receiver);
    }

    fn enqueue(&mut self, id: Option<Uuid>, request: TargetRequest) {
        if let Some(target) = self.targets.get_mut(&id) {
            target.pending.push_back(request);
            self.send_next(id);
        }
    }

    /// Sends the next request of a target, if none is in flight.
    fn send_next(&mut self, id: Option<Uuid>) {
        while let Some(target) = self.targets.get_mut(&id).filter(|target| !target.is_busy) {
            let Some(request) = target.pending.pop_front() else { return };
            let (shell, command) = (&*self.shell, target.id.as_deref());
            let (operation, request) = match (request, target.state) {
                // After its creation was refused, a pipeline continues to send until it receives the failure.
                (TargetRequest::Data(..), TargetState::New) if target.is_done => {
                    self.push(Packet::DataAck(id));
                    continue;
                }
                (TargetRequest::Data(priority, mut data), TargetState::New) => match id {
                    Some(command) => {
                        match split_first_message(&mut data) {
                            Ok(rest) if rest.is_empty() => {}
                            Ok(rest) => target.pending.push_front(TargetRequest::Data(priority, rest)),
                            Err(error) => return self.fail(error),
                        }
                        (Operation::CreateCommand, Request::command(shell, command, &data))
                    }
                    None => {
                        let (pool, is_connect) = match parse_pool_request(&data) {
                            Ok(request) => request,
                            Err(error) => return self.fail(error),
                        };
                        (self.pool, self.shell) = (pool, shell_text(pool).into());
                        let request = match is_connect {
                            true => Request::connect(&self.shell, &data),
                            false => Request::create(pool, &data, self.session.wsman().idle_timeout),
                        };
                        (Operation::Open, request)
                    }
                },
                (TargetRequest::Connect(command), TargetState::New) => {
                    target.id = Some(shell_text(command).into());
                    (Operation::ConnectCommand, Request::connect_command(shell, command))
                }
                (TargetRequest::Data(priority, data), TargetState::Open) => {
                    (Operation::Send, Request::send(shell, command, priority, &data))
                }
                (TargetRequest::Interrupt, TargetState::Open) => {
                    (Operation::Interrupt, Request::signal(shell, command, soap::INTERRUPT))
                }
                (TargetRequest::Close, TargetState::Open) => {
                    target.state = TargetState::Closing;
                    let request = match id {
                        Some(_) => Request::signal(shell, command, soap::TERMINATE),
                        None => Request::delete(shell),
                    };
                    (Operation::Close, request)
                }
                // Targets that the server does not have, or that are being closed, need no request.
                (TargetRequest::Data(..), TargetState::Closing) => {
                    self.push(Packet::DataAck(id));
                    continue;
                }
                (TargetRequest::Interrupt, _) => {
                    self.push(Packet::SignalAck(id));
                    continue;
                }
                (TargetRequest::Close, _) => {
                    self.handle_closed(id);
                    continue;
                }
                (TargetRequest::Connect(_), _) => continue,
            };
            target.is_busy = true;
            return self.spawn(id, operation, request);
        }
    }

    /// Sends receive requests for all targets that can have output.
    fn receive(&mut self) {
        if self.state != TransportState::Connected {
            return;
        }
        let ready: Vec<_> = self
            .targets
            .iter_mut()
            .filter(|(_, target)| target.state == TargetState::Open)
            .filter(|(_, target)| !target.is_receiving && !target.is_full && !target.is_done)
            .map(|(id, target)| {
                target.is_receiving = true;
                (*id, target.id.clone())
            })
            .collect();
        for (id, command) in ready {
            let request = Request::receive(&self.shell, command.as_deref());
            self.spawn(id, Operation::Receive, request);
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
        self.push(Packet::CloseAck(id));
    }

    fn handle_result(&mut self, id: Option<Uuid>, operation: Operation, result: Result<Response, Error>) {
        match operation {
            Operation::Disconnect | Operation::Reconnect => {
                let is_connected = (operation == Operation::Reconnect) == result.is_ok();
                self.state =
                    if is_connected { TransportState::Connected } else { TransportState::Disconnected };
                self.change_error = result.err();
                return self.receive();
            }
            Operation::Receive => {
                self.handle_output(id, result);
                return self.receive();
            }
            _ => {}
        }
        let Some(target) = self.targets.get_mut(&id) else { return };
        target.is_busy = false;
        let is_fault = result.as_ref().err().is_some_and(|error| fault(error).is_some());
        match (operation, result) {
            (Operation::Open, Ok(Response { id: shell, data, .. })) => {
                target.state = TargetState::Open;
                target.is_full = !data.is_empty();
                if let Some(shell) = shell {
                    self.shell = shell;
                }
                self.push(Packet::DataAck(None));
                self.push_data(None, data);
            }
            (Operation::CreateCommand, Ok(response)) => {
                target.state = TargetState::Open;
                target.id = response.id.or_else(|| id.map(|id| shell_text(id).into()));
                self.push(Packet::DataAck(id));
            }
            (Operation::ConnectCommand, Ok(_)) => target.state = TargetState::Open,
            (Operation::CreateCommand | Operation::ConnectCommand, Err(error)) => self.fail_target(id, error),
            (Operation::Send, Ok(_)) => self.push(Packet::DataAck(id)),
            // Input of a command that has ended is dropped, as by other transports. The next receive shows whether it
            // has.
            (Operation::Send, Err(error)) if is_fault && id.is_some() => {
                if !target.is_done {
                    target.send_error = Some(error);
                }
                self.push(Packet::DataAck(id));
            }
            // The command continues to run.
            (Operation::Interrupt, Err(error))
                if is_fault && !fault(&error).is_some_and(WsmanFault::is_gone) =>
            {
                self.fail_target(id, error);
                self.push(Packet::SignalAck(id));
            }
            // A fault means that there was nothing left to stop or close.
            (Operation::Interrupt, result) if is_fault || result.is_ok() => self.push(Packet::SignalAck(id)),
            (Operation::Close, result) if is_fault || result.is_ok() => self.handle_closed(id),
            (_, Err(error)) => self.fail(error),
            (_, Ok(_)) => {}
        }
        self.send_next(id);
        self.receive();
    }

    fn handle_output(&mut self, id: Option<Uuid>, result: Result<Response, Error>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        target.is_receiving = false;
        if target.state == TargetState::Closing {
            return;
        }
        match result {
            Ok(Response { data, is_done, .. }) => {
                // A shell does not end this way.
                target.is_done = is_done && id.is_some();
                if target.is_done {
                    target.send_error = None;
                } else if data.is_empty()
                    && let Some(error) = target.send_error.take()
                {
                    return self.fail_target(id, error);
                }
                target.is_full |= !data.is_empty();
                self.push_data(id, data);
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
                        self.push(Packet::DataAck(id));
                        self.push_data(id, data);
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
            Some(Ok((id, operation, result))) => self.handle_result(id, operation, result),
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
            if self.targets.values().all(|target| !target.is_busy && target.pending.is_empty()) {
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
            if let Some((mut packet, received)) = self.incoming.pop_front() {
                if let Packet::Data { target, data, .. } = &mut packet {
                    *data = &received;
                    let is_same = |other: &Packet<'_>| matches!(other, Packet::Data { target: other, .. } if other == target);
                    let is_full = self.incoming.iter().any(|(other, _)| is_same(other));
                    if let Some(known) = self.targets.get_mut(target) {
                        known.is_full = is_full;
                    }
                    self.receive();
                }
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

    /// Fails with [`Error::is_unsupported`] for packets that only servers send, and after the pool was closed.
    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.check()?;
        match packet {
            Packet::Data { target, priority, data } if self.targets.contains_key(&target) => {
                self.enqueue(target, TargetRequest::Data(priority, data.to_vec()));
            }
            Packet::Command(Some(id)) if self.state != TransportState::Deleted => {
                self.targets.entry(Some(id)).or_default();
                self.push(Packet::CommandAck(Some(id)));
            }
            Packet::Signal(Some(id)) => match self.targets.contains_key(&Some(id)) {
                true => self.enqueue(Some(id), TargetRequest::Interrupt),
                false => self.push(Packet::SignalAck(Some(id))),
            },
            Packet::Close(id) => match self.targets.contains_key(&id) {
                true => self.enqueue(id, TargetRequest::Close),
                false => self.push(Packet::CloseAck(id)),
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
        soap::max_data(self.session.wsman())
    }

    fn is_confidential(&self) -> bool {
        let wsman = self.session.wsman();
        !wsman.is_plain() || wsman.are_clear_secrets_allowed
    }

    fn adopt(&mut self, pipeline: Uuid) -> Result<(), Error> {
        self.check()?;
        self.targets.entry(Some(pipeline)).or_default();
        self.enqueue(Some(pipeline), TargetRequest::Connect(pipeline));
        Ok(())
    }

    fn poll_disconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let is_open = self.targets.get(&None).is_some_and(|target| target.state == TargetState::Open);
        if self.state == TransportState::Connected && is_open && self.change_error.is_none() {
            self.state = TransportState::Draining;
        }
        if self.state == TransportState::Draining {
            ready!(self.poll_idle(cx))?;
            // The rest of a message is sent after the acknowledgement of its start.
            if self.incoming.iter().any(|(packet, _)| !matches!(packet, Packet::Data { .. })) {
                return Poll::Pending;
            }
            self.state = TransportState::Disconnecting;
            let mode = self.session.wsman().buffer_mode;
            self.spawn(None, Operation::Disconnect, Request::disconnect(&self.shell, mode));
        }
        self.poll_change(cx, TransportState::Disconnecting, TransportState::Disconnected)
    }

    fn poll_reconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.state == TransportState::Disconnected && self.change_error.is_none() {
            self.state = TransportState::Reconnecting;
            self.spawn(None, Operation::Reconnect, Request::reconnect(&self.shell));
        }
        self.poll_change(cx, TransportState::Reconnecting, TransportState::Connected)
    }
}

impl_debug! {
    /// Shows the number of targets and requests, not their contents.
    WsmanTransport |this|
        state = this.state, shell = this.shell, targets = this.targets.len(), requests = this.tasks.len()
}
