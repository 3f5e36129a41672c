//! Packets as operations on a shell.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use uuid::Uuid;

use super::answer::Received;
use super::fault::WsmanFault;
use super::opening::{Opening, failed_pipeline, split_first};
use super::session::{Session, fault, shell_text};
use super::target::{Request, Stage, Target};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::io::Transport;
use crate::outofproc::Packet;

/// A service that answers at once that there is no output is asked again after this.
const PAUSE: Duration = Duration::from_millis(50);

/// A shell of a service as a [`Transport`].
///
/// The first data of the pool make a shell, or connect to one if they ask for that, and the first data of a pipeline make
/// a command. What other transports acknowledge counts as acknowledged when the service has answered. Requests to receive
/// are repeated as long as there may be output.
///
/// A service that refuses to make a command fails its pipeline, with the reason as the error record. All other errors end
/// the connection. If a transport is dropped without [`Packet::Close`] for the pool, its shell stays with the service until
/// it has been idle for too long.
pub struct WsmanTransport {
    session: Arc<Session>,
    state: State,
    /// The pool, as its first data name it.
    pool: Uuid,
    /// The identifier that the server has given the shell.
    shell: Arc<str>,
    targets: HashMap<Option<Uuid>, Target>,
    tasks: JoinSet<(Option<Uuid>, Outcome)>,
    incoming: VecDeque<Incoming>,
    failure: Option<Error>,
    /// Why leaving or coming back did not succeed.
    refusal: Option<Error>,
    /// Who is waiting for packets.
    receiver: Option<Waker>,
}

/// How a transport stands to its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// With it, or on the way to it.
    Attached,
    Leaving,
    /// It goes on by itself.
    Left,
    Returning,
    /// It is deleted.
    Deleted,
    /// The transport has failed or was closed.
    Ended,
}

/// A packet that the server would have sent if this were its protocol.
#[derive(Debug)]
enum Incoming {
    Data(Option<Uuid>, Vec<u8>),
    DataAck(Option<Uuid>),
    CommandAck(Option<Uuid>),
    SignalAck(Option<Uuid>),
    CloseAck(Option<Uuid>),
}

/// How an operation has ended.
enum Outcome {
    Opened(Result<(Option<Box<str>>, Vec<u8>), Error>),
    Commanded(Result<Option<Box<str>>, Error>),
    Adopted(Result<(), Error>),
    Sent(Result<(), Error>),
    Received(Result<Received, Error>),
    Interrupted(Result<(), Error>),
    Closed(Result<(), Error>),
    Disconnected(Result<(), Error>),
    Reconnected(Result<(), Error>),
}

impl WsmanTransport {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session: Arc::new(session),
            state: State::Attached,
            pool: Uuid::nil(),
            shell: "".into(),
            targets: HashMap::from([(None, Target::default())]),
            tasks: JoinSet::new(),
            incoming: VecDeque::new(),
            failure: None,
            refusal: None,
            receiver: None,
        }
    }

    fn spawn(&mut self, target: Option<Uuid>, operation: impl Future<Output = Outcome> + Send + 'static) {
        self.tasks.spawn(async move { (target, operation.await) });
        // An empty set has not kept the waker.
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            receiver.wake();
        }
    }

    fn push(&mut self, incoming: Incoming) {
        self.incoming.push_back(incoming);
        self.wake();
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
        self.state = State::Ended;
        self.tasks.abort_all();
        self.wake();
    }

    /// Adds a request for a target that is there.
    fn ask(&mut self, id: Option<Uuid>, request: Request) {
        if let Some(target) = self.targets.get_mut(&id) {
            target.waiting.push_back(request);
            self.advance(id);
        }
    }

    /// Makes the next request of a target if there is one and it is its turn.
    fn advance(&mut self, id: Option<Uuid>) {
        while let Some(target) = self.targets.get_mut(&id) {
            let Some(request) = target.next_request() else { return };
            target.is_busy = true;
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            let known = target.id.clone();
            match (id, request, target.stage) {
                // A pipeline that was refused goes on sending until it hears of that.
                (_, Request::Data(..), Stage::New) if target.is_done => self.push(Incoming::DataAck(id)),
                (None, Request::Data(_, data), Stage::New) => return self.open(data),
                (Some(command), Request::Data(priority, mut data), Stage::New) => {
                    match split_first(&mut data) {
                        Ok(rest) if rest.is_empty() => {}
                        Ok(rest) => target.waiting.push_front(Request::Data(priority, rest)),
                        Err(error) => return self.fail(error),
                    }
                    return self.spawn(id, async move {
                        Outcome::Commanded(session.command(&shell, command, &data).await)
                    });
                }
                (Some(command), Request::Adopt, Stage::New) => {
                    target.id = Some(shell_text(command).into());
                    return self.spawn(id, async move {
                        Outcome::Adopted(session.connect_command(&shell, command).await)
                    });
                }
                (_, Request::Data(priority, data), Stage::Open) => {
                    return self.spawn(id, async move {
                        Outcome::Sent(session.send(&shell, known.as_deref(), priority, &data).await)
                    });
                }
                (Some(_), Request::Interrupt, Stage::Open) => {
                    let known = known.unwrap_or_default();
                    return self.spawn(id, async move {
                        Outcome::Interrupted(session.interrupt(&shell, &known).await)
                    });
                }
                (Some(_), Request::Close, Stage::Open) => {
                    target.stage = Stage::Closing;
                    let known = known.unwrap_or_default();
                    return self
                        .spawn(id, async move { Outcome::Closed(session.terminate(&shell, &known).await) });
                }
                (None, Request::Close, Stage::Open) => {
                    target.stage = Stage::Closing;
                    return self.spawn(id, async move { Outcome::Closed(session.delete(&shell).await) });
                }
                // What the server does not know, or is to forget, needs no request.
                (_, Request::Data(..), Stage::Closing) => self.push(Incoming::DataAck(id)),
                (_, Request::Interrupt, _) => self.push(Incoming::SignalAck(id)),
                (_, Request::Close, _) => {
                    self.closed(id);
                    continue;
                }
                (_, Request::Adopt, _) => {}
            }
            if let Some(target) = self.targets.get_mut(&id) {
                target.is_busy = false;
            }
        }
    }

    /// Makes the shell, or connects to it.
    fn open(&mut self, data: Vec<u8>) {
        let opening = match Opening::read(&data) {
            Ok(opening) => opening,
            Err(error) => return self.fail(error),
        };
        self.pool = opening.pool;
        self.shell = shell_text(opening.pool).into();
        let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
        self.spawn(None, async move {
            Outcome::Opened(match opening.is_connection {
                true => session.connect(&shell, &data).await.map(|data| (None, data)),
                false => session.create(opening.pool, &data).await.map(|shell| (shell, Vec::new())),
            })
        });
    }

    /// Waits for output of all targets that may have some.
    fn receive(&mut self) {
        if self.state != State::Attached {
            return;
        }
        let ready: Vec<_> = self
            .targets
            .iter_mut()
            .filter(|(_, target)| target.wants_to_receive())
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
                if is_empty && start.elapsed() < PAUSE {
                    tokio::time::sleep(PAUSE).await;
                }
                Outcome::Received(result)
            });
        }
    }

    /// A command or the shell is gone.
    fn closed(&mut self, id: Option<Uuid>) {
        if id.is_none() {
            self.state = State::Deleted;
            // Nobody waits for what is still on its way.
            self.tasks.abort_all();
            self.targets.clear();
        } else {
            self.targets.remove(&id);
        }
        self.push(Incoming::CloseAck(id));
    }

    fn finish(&mut self, id: Option<Uuid>, outcome: Outcome) {
        match outcome {
            Outcome::Disconnected(Ok(())) => return self.state = State::Left,
            Outcome::Reconnected(Ok(())) => {
                self.state = State::Attached;
                return self.receive();
            }
            Outcome::Disconnected(Err(error)) => {
                self.refusal = Some(error);
                self.state = State::Attached;
                return self.receive();
            }
            Outcome::Reconnected(Err(error)) => {
                self.refusal = Some(error);
                return self.state = State::Left;
            }
            Outcome::Received(result) => {
                self.received(id, result);
                return self.receive();
            }
            _ => {}
        }
        let Some(target) = self.targets.get_mut(&id) else { return };
        target.is_busy = false;
        match outcome {
            Outcome::Opened(Ok((shell, data))) => {
                target.stage = Stage::Open;
                target.is_full = !data.is_empty();
                if let Some(shell) = shell {
                    self.shell = shell.into();
                }
                self.push(Incoming::DataAck(None));
                if !data.is_empty() {
                    self.push(Incoming::Data(None, data));
                }
            }
            Outcome::Commanded(Ok(command)) => {
                target.stage = Stage::Open;
                let command = command.or_else(|| id.map(|id| shell_text(id).into()));
                target.id = command.map(Into::into);
                self.push(Incoming::DataAck(id));
            }
            Outcome::Adopted(Ok(())) => target.stage = Stage::Open,
            Outcome::Commanded(Err(error)) | Outcome::Adopted(Err(error)) => self.refused(id, error),
            Outcome::Sent(Ok(())) => self.push(Incoming::DataAck(id)),
            // Input of a command that has ended is dropped, as by other transports. Whether it has will be received.
            Outcome::Sent(Err(error)) if fault(&error).is_some() && id.is_some() => {
                if !target.is_done {
                    target.doubt = Some(error);
                }
                self.push(Incoming::DataAck(id));
            }
            Outcome::Sent(Err(error)) => self.fail(error),
            Outcome::Closed(Err(error)) | Outcome::Interrupted(Err(error)) if fault(&error).is_none() => {
                self.fail(error);
            }
            // The command goes on.
            Outcome::Interrupted(Err(error)) if !fault(&error).is_some_and(WsmanFault::is_gone) => {
                self.refused(id, error);
                self.push(Incoming::SignalAck(id));
            }
            // A fault says that there is nothing left to be stopped or closed.
            Outcome::Interrupted(_) => self.push(Incoming::SignalAck(id)),
            Outcome::Closed(_) => self.closed(id),
            Outcome::Opened(Err(error)) => self.fail(error),
            Outcome::Received(_) | Outcome::Disconnected(_) | Outcome::Reconnected(_) => {}
        }
        self.advance(id);
        self.receive();
    }

    fn received(&mut self, id: Option<Uuid>, result: Result<Received, Error>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        target.is_receiving = false;
        if target.stage == Stage::Closing {
            return;
        }
        match result {
            Ok(Received { data, is_done }) => {
                // The shell itself never ends this way.
                target.is_done = is_done && id.is_some();
                if target.is_done {
                    target.doubt = None;
                } else if data.is_empty()
                    && let Some(error) = target.doubt.take()
                {
                    return self.refused(id, error);
                }
                if !data.is_empty() {
                    target.is_full = true;
                    self.push(Incoming::Data(id, data));
                }
            }
            // Services end what waits when the client leaves.
            Err(_) if matches!(self.state, State::Leaving | State::Left | State::Returning) => {}
            Err(error) => self.refused(id, error),
        }
    }

    /// A command that the server does not make or does not go on with fails its pipeline, everything else the
    /// transport.
    fn refused(&mut self, id: Option<Uuid>, error: Error) {
        let reason = fault(&error).map(ToString::to_string);
        match (id, reason, self.targets.get_mut(&id)) {
            (Some(pipeline), Some(reason), Some(target)) => {
                target.is_done = true;
                target.is_full = true;
                match failed_pipeline(self.pool, pipeline, &reason) {
                    Ok(data) => {
                        self.push(Incoming::DataAck(id));
                        self.push(Incoming::Data(id, data));
                    }
                    Err(error) => self.fail(error),
                }
            }
            _ => self.fail(error),
        }
    }

    /// Takes what operations have ended with.
    fn poll_tasks(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.tasks.poll_join_next(cx)) {
            Some(Ok((id, outcome))) => self.finish(id, outcome),
            Some(Err(error)) if error.is_cancelled() => {}
            Some(Err(error)) => self.fail(Error::with(Kind::Io, "a request has panicked").caused_by(error)),
            None => return Poll::Pending,
        }
        Poll::Ready(())
    }

    /// Fails with the reason of the end if there is one; who receives is told the reason in any case.
    fn check(&self) -> Result<(), Error> {
        match (self.state, &self.failure) {
            (State::Ended, Some(error)) => Err(error.duplicate()),
            (State::Ended, None) => Err(Error::with(Kind::Closed, "it has failed before")),
            _ => Ok(()),
        }
    }

    /// Waits until everything that was asked for is done.
    fn poll_settled(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            self.check()?;
            if self.targets.values().all(Target::is_settled) {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_tasks(cx));
        }
    }

    /// Waits for the answer to leaving or coming back.
    fn poll_turn(&mut self, cx: &mut Context<'_>, turning: State, turned: State) -> Poll<Result<(), Error>> {
        while self.state == turning {
            ready!(self.poll_tasks(cx));
        }
        self.check()?;
        match self.refusal.take() {
            Some(error) => Poll::Ready(Err(error)),
            None if self.state == turned => Poll::Ready(Ok(())),
            None => {
                Poll::Ready(Err(Error::with(Kind::State, "there is no shell to leave or to come back to")))
            }
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
                    Incoming::Data(target, data) => {
                        let more = self
                            .incoming
                            .iter()
                            .any(|other| matches!(other, Incoming::Data(other, _) if other == target));
                        if let Some(known) = self.targets.get_mut(target) {
                            known.is_full = more;
                        }
                        self.receive();
                        Packet::Data { target: *target, priority: Priority::Default, data }
                    }
                    Incoming::DataAck(target) => Packet::DataAck(*target),
                    Incoming::CommandAck(target) => Packet::CommandAck(*target),
                    Incoming::SignalAck(target) => Packet::SignalAck(*target),
                    Incoming::CloseAck(target) => Packet::CloseAck(*target),
                };
                return Poll::Ready(Some(take(packet)));
            }
            match self.state {
                State::Deleted => return Poll::Ready(None),
                State::Ended => return Poll::Ready(self.failure.take().map(Err)),
                _ => {}
            }
            if self.poll_tasks(cx).is_pending() {
                self.receiver = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
    }

    /// Ready until the transport has failed: a client sends no more to a target than it gets acknowledged.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(self.check())
    }

    /// # Errors
    ///
    /// Fails for packets that are a server's, and after the pool was closed ([`Error::is_unsupported`]).
    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.check()?;
        match packet {
            Packet::Data { target, priority, data } if self.targets.contains_key(&target) => {
                self.ask(target, Request::Data(priority, data.to_vec()));
            }
            Packet::Command(Some(id)) if self.state != State::Deleted => {
                self.targets.entry(Some(id)).or_default();
                self.push(Incoming::CommandAck(Some(id)));
            }
            Packet::Signal(Some(id)) => match self.targets.contains_key(&Some(id)) {
                true => self.ask(Some(id), Request::Interrupt),
                false => self.push(Incoming::SignalAck(Some(id))),
            },
            Packet::Close(id) => match self.targets.contains_key(&id) {
                true => self.ask(id, Request::Close),
                false => self.push(Incoming::CloseAck(id)),
            },
            _ => {
                return Err(Error::with(
                    Kind::Unsupported,
                    "a packet that a service of WS-Management can't get",
                ));
            }
        }
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_settled(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if matches!(self.state, State::Attached) {
            ready!(self.poll_settled(cx))?;
        }
        self.tasks.abort_all();
        self.state = State::Ended;
        Poll::Ready(self.failure.take().map_or(Ok(()), Err))
    }

    /// As much as fits into an envelope of the largest size.
    fn max_data(&self) -> usize {
        self.session.max_data()
    }

    fn is_confidential(&self) -> bool {
        self.session.is_confidential()
    }

    fn adopt(&mut self, pipeline: Uuid) -> Result<(), Error> {
        self.check()?;
        self.targets.entry(Some(pipeline)).or_default();
        self.ask(Some(pipeline), Request::Adopt);
        Ok(())
    }

    fn poll_disconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let is_open = self.targets.get(&None).is_some_and(|target| target.stage == Stage::Open);
        if self.state == State::Attached && is_open && self.refusal.is_none() {
            ready!(self.poll_settled(cx))?;
            self.state = State::Leaving;
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            self.spawn(None, async move { Outcome::Disconnected(session.disconnect(&shell).await) });
        }
        self.poll_turn(cx, State::Leaving, State::Left)
    }

    fn poll_reconnect(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.state == State::Left && self.refusal.is_none() {
            self.state = State::Returning;
            let (session, shell) = (Arc::clone(&self.session), Arc::clone(&self.shell));
            self.spawn(None, async move { Outcome::Reconnected(session.reconnect(&shell).await) });
        }
        self.poll_turn(cx, State::Returning, State::Attached)
    }
}

/// Shows how much is going on, not what.
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
