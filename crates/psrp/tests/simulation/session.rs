//! Simulation of a client and a server on a paused clock. They are connected by a pipe that transfers a few bytes at a
//! time, pauses and can end. Several pipelines use the output, input and the host; readers are slow, operations are
//! cancelled, and pipelines are stopped, dropped and closed together with their pool. All decisions come from a seed: all
//! tasks of a session run on one thread, and the pauses decide which of them continues.
//!
//! The invariants: no session hangs; no object is lost, repeated or moved; each pipeline ends once, with the state that
//! its handler decided; and the queues of both sides stay within their limits.
//!
//! The simulation finds the deadlock of servers that stopped reading while their packets were unsent and did not
//! continue: it hangs without the line `is_active |= was_full && !self.is_full();` of `serve/connection.rs`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{fmt, io};

use test_support::simulation::{Random, simulate};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, ReadHalf, WriteHalf};
use tokio::time::{Instant, Sleep, sleep, timeout};
use uuid::Uuid;

use super::serve::{self, Handler, Input, Outcome, SessionEnd, serve};
use super::{ClientLimits, Command, CommandHandle, Host, HostFuture, Lines, Options, Session, Transport};
use crate::Error;
use crate::client::PipelineEvent;
use crate::guid;
use crate::host::{ChoiceDescription, HostRequest, HostResult};
use crate::message::{CreatePipeline, PipelineState, PowerShell};
use crate::outofproc::{Packet, Role};
use crate::record::{ErrorCategory, ErrorRecord, InformationalRecord};
use crate::value::{PsString, Value};

/// Time after which a session hangs.
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Timeout that hides no hang.
const NEVER: Duration = Duration::from_secs(2 * 60 * 60);
/// Maximum size of a message, encoded and decoded.
const MESSAGE: usize = 10_000;

/// One direction of an end of a connection.
struct Half<S> {
    stream: S,
    random: Random,
    /// Maximum bytes of an operation.
    size: usize,
    /// Percentage of the operations before which there is a pause.
    pauses: usize,
    pause: Option<Pin<Box<Sleep>>>,
    /// Bytes until the connection ends.
    left: Option<usize>,
}

impl<S> Half<S> {
    fn new(stream: S, random: &mut Random, left: Option<usize>) -> Self {
        let (size, pauses) = (random.pick(&[50, 1000, 4096]), random.pick(&[0, 5, 30]));
        Self { stream, random: Random::new(random.number()), size, pauses, pause: None, left }
    }

    /// Waits for the next operation and returns the number of its bytes, 0 at the end of the connection.
    fn poll_size(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if self.pause.is_none() && self.random.chance(self.pauses) {
            let millis = self.random.pick(&[0, 1, 1, 3, 20]);
            self.pause = Some(Box::pin(sleep(Duration::from_millis(millis))));
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        let size = 1 + self.random.below(self.size);
        Poll::Ready(self.left.map_or(size, |left| left.min(size)))
    }

    fn count(&mut self, transferred: usize) {
        self.left = self.left.map(|left| left - transferred);
    }
}

impl AsyncRead for Half<ReadHalf<DuplexStream>> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let size = ready!(self.poll_size(cx)).min(buffer.remaining());
        if size == 0 {
            return Poll::Ready(match self.random.chance(50) {
                true => Ok(()),
                false => Err(io::ErrorKind::ConnectionReset.into()),
            });
        }
        let mut bytes = vec![0; size];
        let mut part = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        buffer.put_slice(part.filled());
        let read = part.filled().len();
        self.count(read);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Half<WriteHalf<DuplexStream>> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let size = ready!(self.poll_size(cx)).min(bytes.len());
        if size == 0 {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &bytes[..size]))?;
        self.count(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// One end of a connection.
struct End {
    lines: Lines<Half<ReadHalf<DuplexStream>>, Half<WriteHalf<DuplexStream>>>,
    max_data: usize,
    /// Accepts a packet only if the previous one is written.
    is_unbuffered: bool,
}

impl End {
    /// Creates an end whose directions, reading and writing, end after so many bytes.
    fn new(
        role: Role,
        stream: DuplexStream,
        max_data: usize,
        left: [Option<usize>; 2],
        random: &mut Random,
    ) -> Self {
        let (read, write) = tokio::io::split(stream);
        let (read, write) = (Half::new(read, random, left[0]), Half::new(write, random, left[1]));
        Self { lines: Lines::new(role, read, write), max_data, is_unbuffered: random.chance(70) }
    }
}

impl Transport for End {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        self.lines.poll_receive(cx, take)
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.is_unbuffered { self.lines.poll_flush(cx) } else { self.lines.poll_ready(cx) }
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.lines.send(packet)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.lines.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.lines.poll_close(cx)
    }

    fn max_data(&self) -> usize {
        self.max_data
    }
}

/// The actions of both sides in one pipeline.
#[derive(Debug, Default)]
struct Record {
    starts: usize,
    /// Objects written by the handler, and received by the client.
    written: usize,
    received: usize,
    /// Objects sent by the client, and read by the handler.
    sent: usize,
    read: usize,
    /// The client has ended the input, and the handler has read the end.
    is_input_sent: bool,
    is_input_read: bool,
    /// Host calls without a result that the handler has made, and all calls that the host has executed.
    void_calls: Vec<usize>,
    executed: Vec<usize>,
    /// Number of host calls that the handler has begun.
    calls: usize,
    /// The client has requested a stop.
    is_stopped: bool,
    /// The handler has returned, without an error if true.
    outcome: Option<bool>,
    /// The client knows that the pipeline has ended.
    has_ended: bool,
}

/// A step of a session: time, pipeline, and event.
type Step = (Duration, usize, &'static str);

#[derive(Default)]
struct State {
    records: Vec<Record>,
    /// Violated invariants. Panics of handlers and hosts would be caught.
    problems: Vec<String>,
    steps: Vec<Step>,
    session: Option<serve::Session>,
}

/// Observer of both sides.
struct World {
    /// The connection does not fail, and the pool is closed after its pipelines have ended.
    is_calm: bool,
    start: Instant,
    state: Mutex<State>,
}

impl World {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, number: usize, work: impl FnOnce(&mut Record) -> T) -> T {
        work(&mut self.lock().records[number])
    }

    fn log(&self, number: usize, what: &'static str) {
        self.lock().steps.push((self.start.elapsed(), number, what));
    }

    fn check(&self, is_true: bool, invariant: impl fmt::Display) {
        if !is_true {
            self.lock().problems.push(invariant.to_string());
        }
    }

    /// Checks that an operation may fail with this error.
    fn check_error(&self, number: usize, error: &Error) {
        self.log(number, "error");
        // The pipeline has ended meanwhile.
        let may_fail = error.is_state() || (error.is_closed() && !self.is_calm);
        self.check(may_fail, format_args!("pipeline {number}: {error}"));
    }

    /// Checks that a text is that of the object with this number.
    fn check_object(&self, number: usize, index: usize, value: &Value) {
        let text = value.as_str().unwrap_or_default();
        let is_next = text.split_once(' ').is_some_and(|(start, _)| start == format!("{number}.{index}"));
        self.check(is_next, format_args!("pipeline {number}: {text:?} instead of object {index}"));
    }

    /// Checks an object that the client has received.
    fn receive(&self, number: usize, value: &Value) {
        let index = self.with(number, |record| {
            record.received += 1;
            record.received - 1
        });
        self.check_object(number, index, value);
    }

    /// Checks an object that the handler has read.
    fn read(&self, number: usize, value: &Value) {
        let index = self.with(number, |record| {
            record.read += 1;
            record.read - 1
        });
        self.check_object(number, index, value);
    }

    /// Checks the end of a pipeline at the client: its final state, or `None` for an error.
    fn end(&self, number: usize, state: Option<PipelineState>) {
        self.log(number, "end");
        let is_valid = self.with(number, |record| {
            if std::mem::replace(&mut record.has_ended, true) {
                return false;
            }
            let is_complete = record.received == record.written
                && record.void_calls.iter().all(|call| record.executed.contains(call))
                && (!record.is_input_read || (record.is_input_sent && record.read == record.sent));
            match state {
                _ if !self.is_calm => true,
                Some(PipelineState::Completed) => record.outcome == Some(true) && is_complete,
                Some(PipelineState::Failed) => record.outcome == Some(false) && is_complete,
                Some(PipelineState::Stopped) => record.is_stopped,
                _ => false,
            }
        });
        if !is_valid {
            let record = self.with(number, |record| format!("{record:?}"));
            self.check(false, format_args!("pipeline {number} ends as {state:?}: {record}"));
        }
    }
}

/// Awaits a future, or drops it after some time and returns `None`.
async fn cancellable<F: Future>(random: &mut Random, future: F) -> Option<F::Output> {
    if random.chance(85) {
        return Some(future.await);
    }
    let time = Duration::from_millis(random.pick(&[0, 0, 1, 5, 50, 500]));
    timeout(time, future).await.ok()
}

/// Waits now and then.
async fn dawdle(random: &mut Random, percent: usize, longest: u64) {
    if random.chance(percent) {
        sleep(Duration::from_millis(random.number() % longest)).await;
    }
}

/// Returns the text of an object.
fn object(number: usize, index: usize, random: &mut Random) -> String {
    format!("{number}.{index} {}", "x".repeat(random.pick(&[0, 0, 50, 600])))
}

/// Runs pipelines whose script is their number and a seed.
struct RandomHandler(Arc<World>);

impl Handler for RandomHandler {
    async fn opened(&self, session: &serve::Session) -> Outcome {
        self.0.lock().session = Some(session.clone());
        Ok(())
    }

    async fn run(&self, create: CreatePipeline, pipeline: serve::Pipeline, mut input: Input) -> Outcome {
        let world = &*self.0;
        let script = create.power_shell.statements().flatten().map(|command| command.text.to_string());
        let script = script.collect::<String>();
        let (number, seed) = script.split_once(' ').unwrap();
        let (number, mut random) = (number.parse::<usize>().unwrap(), Random::new(seed.parse().unwrap()));
        let starts = world.with(number, |record| {
            record.starts += 1;
            record.starts
        });
        world.check(starts == 1, format_args!("pipeline {number} has started {starts} times"));
        world.log(number, "run");

        // Such a handler ends by itself when it is stopped: it must not wait for input, which does not end then.
        let is_polite = random.chance(10);
        let _stopping = is_polite.then(|| pipeline.stopping());
        let most = random.pick(&[10, 40, 300]);
        for _ in 0..random.below(most) {
            match random.below(12) {
                0..6 => {
                    let index = world.with(number, |record| record.written);
                    let text = object(number, index, &mut random);
                    if let Some(written) = cancellable(&mut random, pipeline.output(text)).await {
                        written?;
                        world.with(number, |record| record.written += 1);
                    }
                }
                6 | 7 if !is_polite => match cancellable(&mut random, input.next()).await {
                    None => {}
                    Some(Some(value)) => world.read(number, &value),
                    Some(None) => world.with(number, |record| record.is_input_read = true),
                },
                8 => {
                    let (call, text) = host_call(world, number);
                    let request = HostRequest::WriteLine2 { text };
                    if let Some(made) = cancellable(&mut random, pipeline.host(request)).await {
                        made?;
                        world.with(number, |record| record.void_calls.push(call));
                    }
                }
                9 => {
                    let (call, caption) = host_call(world, number);
                    let request = HostRequest::PromptForChoice {
                        caption,
                        message: PsString::default(),
                        choices: vec![ChoiceDescription::new("&Yes", "")],
                        default_choice: call as i32,
                    };
                    match cancellable(&mut random, pipeline.host(request)).await {
                        None => {}
                        Some(Ok(answer)) => {
                            let is_own = answer == HostResult::Number(call as i32);
                            world
                                .check(is_own, format_args!("pipeline {number}: {answer:?} for call {call}"));
                        }
                        Some(Err(record)) => {
                            // Too much input is before the response.
                            let is_allowed = record.category == ErrorCategory::LimitsExceeded;
                            world.with(number, |record| record.outcome = is_allowed.then_some(false));
                            return Err(record);
                        }
                    }
                }
                10 => dawdle(&mut random, 50, 500).await,
                _ => pipeline.warning(InformationalRecord::new("careful")).await?,
            }
        }
        if !is_polite && random.chance(20) {
            while let Some(value) = input.next().await {
                world.read(number, &value);
            }
            world.with(number, |record| record.is_input_read = true);
        }
        let is_ok = random.chance(85);
        world.with(number, |record| record.outcome = Some(is_ok));
        world.log(number, "return");
        match is_ok {
            true => Ok(()),
            false => Err(ErrorRecord::new("no", ErrorCategory::InvalidOperation).into()),
        }
    }
}

/// Returns the number of the next host call of a pipeline, and a text with both numbers.
fn host_call(world: &World, number: usize) -> (usize, PsString) {
    let call = world.with(number, |record| {
        record.calls += 1;
        record.calls - 1
    });
    (call, format!("{number}.{call}").into())
}

/// Answers each choice with its default, after some time.
struct SlowHost(Arc<World>);

impl Host for SlowHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(async move {
            let (text, result) = match request {
                HostRequest::WriteLine2 { text } => (text, HostResult::Nothing),
                HostRequest::PromptForChoice { caption, default_choice, .. } => {
                    (caption, HostResult::Number(default_choice))
                }
                other => {
                    self.0.check(false, format_args!("the host call {other:?}"));
                    return Ok(HostResult::Nothing);
                }
            };
            let text = text.to_string();
            let (number, call) = text.split_once('.').unwrap();
            let (number, call): (usize, usize) = (number.parse().unwrap(), call.parse().unwrap());
            let is_later = self.0.with(number, |record| {
                let is_later = record.executed.last().is_none_or(|last| *last < call);
                record.executed.push(call);
                is_later
            });
            self.0.check(is_later, format_args!("pipeline {number}: call {call} is repeated or late"));
            dawdle(&mut Random::new(call as u64), 50, 100).await;
            Ok(result)
        })
    }
}

/// Sends some objects to a pipeline and ends its input.
async fn send_input(world: Arc<World>, handle: CommandHandle, number: usize, mut random: Random) {
    let most = random.pick(&[5, 40]);
    let count = random.below(most);
    let mut index = 0;
    while index < count {
        dawdle(&mut random, 5, 500).await;
        let text = object(number, index, &mut random);
        match cancellable(&mut random, handle.send(text)).await {
            None => {}
            Some(Ok(())) => {
                index += 1;
                world.with(number, |record| record.sent += 1);
            }
            Some(Err(error)) => return world.check_error(number, &error),
        }
    }
    loop {
        match cancellable(&mut random, handle.end_input()).await {
            None => {}
            Some(Ok(())) => return world.with(number, |record| record.is_input_sent = true),
            Some(Err(error)) => return world.check_error(number, &error),
        }
    }
}

async fn stop(world: Arc<World>, handle: CommandHandle, number: usize, mut random: Random) {
    dawdle(&mut random, 80, 3000).await;
    world.log(number, "stop");
    world.with(number, |record| record.is_stopped = true);
    if let Some(Err(error)) = cancellable(&mut random, handle.stop()).await {
        world.check_error(number, &error);
    }
}

fn is_terminal(state: PipelineState) -> bool {
    matches!(state, PipelineState::Completed | PipelineState::Failed | PipelineState::Stopped)
}

/// Reads a pipeline until it ends, or drops it before.
async fn read(world: &World, mut run: Command, number: usize, random: &mut Random) {
    let mut is_over = false;
    loop {
        dawdle(random, 3, 2000).await;
        match random.below(200) {
            0 => return world.log(number, "drop"),
            1 if !is_over => {
                return match run.output().await {
                    Ok(output) => {
                        output.output.iter().for_each(|value| world.receive(number, value));
                        world.end(number, Some(output.state));
                    }
                    Err(error) => {
                        world.check_error(number, &error);
                        world.end(number, None);
                    }
                };
            }
            _ => {}
        }
        let Some(next) = cancellable(random, run.next()).await else { continue };
        let Some(event) = next else { break };
        world.check(!is_over, format_args!("pipeline {number} has an event after its end"));
        match event {
            Ok(PipelineEvent::Output(value)) => world.receive(number, &value),
            Ok(PipelineEvent::State(info)) if is_terminal(info.state) => {
                is_over = true;
                world.end(number, Some(info.state));
            }
            Ok(_) => {}
            Err(error) => {
                is_over = true;
                world.check_error(number, &error);
                world.end(number, None);
            }
        }
    }
    world.check(is_over, format_args!("pipeline {number} has no end"));
    world.check(run.next().await.is_none(), format_args!("pipeline {number} continues after its end"));
}

/// Runs one pipeline.
async fn play(world: Arc<World>, pool: Session, number: usize, mut random: Random) {
    dawdle(&mut random, 50, 300).await;
    let has_input = random.chance(50);
    world.with(number, |record| record.is_input_sent = !has_input);
    let script = PowerShell::script(format!("{number} {}", random.number()));
    let starting = async {
        match has_input {
            true => pool.start_with_input(script).await,
            false => pool.start(script).await,
        }
    };
    let run = match cancellable(&mut random, starting).await {
        None => return,
        Some(Ok(run)) => run,
        Some(Err(error)) => return world.check_error(number, &error),
    };
    drop(pool);
    world.log(number, "start");
    let mut tasks = Vec::new();
    if has_input {
        let random = Random::new(random.number());
        tasks.push(tokio::spawn(send_input(Arc::clone(&world), run.handle(), number, random)));
    }
    if random.chance(20) {
        let random = Random::new(random.number());
        tasks.push(tokio::spawn(stop(Arc::clone(&world), run.handle(), number, random)));
    }
    read(&world, run, number, &mut random).await;
    for task in tasks {
        task.await.unwrap();
    }
}

/// Requests the number of free runspaces several times.
async fn request(world: Arc<World>, pool: Session, runspaces: i64, mut random: Random) {
    for _ in 0..random.below(6) {
        dawdle(&mut random, 80, 1000).await;
        match cancellable(&mut random, pool.get_available_runspaces()).await {
            None => {}
            Some(Ok(count)) => world.check((0..=runspaces).contains(&count), "the number of runspaces"),
            Some(Err(error)) => return world.check_error(0, &error),
        }
    }
}

/// Upper bounds of the queues: unread events, unread input, and the unsent messages of client and server.
struct Bounds {
    events: usize,
    input: usize,
    client: usize,
    server: usize,
    /// Bytes by which unread events and input may exceed their limits: those of a packet and of the last events.
    packet: usize,
}

impl Bounds {
    fn check(&self, world: &World, pool: &Session) {
        let mut state = world.lock();
        let (events, client) = pool.queued_bytes();
        let (input, server) = state.session.as_ref().map_or((0, 0), serve::Session::queued_bytes);
        // While a caller waits for a stop, more is read, because the acknowledgement is behind the output.
        let factor = if state.records.iter().any(|record| record.is_stopped) { 8 } else { 1 };
        for (name, queued, bound) in [
            ("unread events", events, factor * self.events + self.packet),
            ("unread input", input, self.input + self.packet),
            ("unsent messages of the client", client, self.client),
            ("unsent messages of the server", server, self.server),
        ] {
            if queued > bound {
                state.problems.push(format!("{queued} bytes of {name}, at most {bound}"));
            }
        }
    }
}

/// Compares the queues with their bounds until the task is aborted.
async fn watch(world: Arc<World>, pool: Session, bounds: Bounds) {
    loop {
        sleep(Duration::from_millis(5)).await;
        bounds.check(&world, &pool);
    }
}

/// Runs a session until both sides have ended. Returns its steps.
async fn run(mut random: Random) -> Vec<Step> {
    let pipelines = 1 + random.below(5);
    let closes_early = random.chance(15);
    let cut = if random.chance(30) { Some(random.below(4)) } else { None };
    let longest = random.pick(&[10_000, 100_000]);
    let bytes = random.below(longest);
    let left = |half| (cut == Some(half)).then_some(bytes);
    let world = Arc::new(World {
        is_calm: cut.is_none() && !closes_early,
        start: Instant::now(),
        state: Mutex::default(),
    });
    world.lock().records.resize_with(pipelines, Record::default);

    // Both ends can wait for each other if a direction has ended.
    let close_timeout = if cut.is_some() { Duration::from_secs(60) } else { NEVER };
    let max_data = random.pick(&[100, 1000, 10_000]);
    let limits = ClientLimits {
        max_buffered_bytes: random.pick(&[2000, 20_000, 4 << 20]),
        max_pending_bytes: random.pick(&[2000, 20_000, 1 << 20]),
        open_timeout: NEVER,
        stop_delay: Duration::from_millis(random.pick(&[0, 100])),
        stop_timeout: NEVER,
        close_timeout,
        ..ClientLimits::default()
    };
    let runspaces = random.pick(&[1, 2, 8]);
    let client = Options::new().runspaces(1..=runspaces).host(Arc::new(SlowHost(Arc::clone(&world))));
    let client = client.ordered_host(random.chance(50)).limits(limits);
    let server = serve::Options {
        max_unsent_bytes: random.pick(&[500, 20_000, 1 << 20]),
        max_input_bytes: random.pick(&[2000, 20_000, 1 << 20]),
        stop_timeout: Duration::from_secs(random.pick(&[1, 30])),
        close_timeout,
        ..serve::Options::default()
    };
    let more = (pipelines + 1) * MESSAGE;
    let bounds = Bounds {
        events: limits.max_buffered_bytes,
        // Above twice the limit, each pipeline adds a message. Those with host calls in flight have four times the limit.
        input: (2 + 4 * pipelines.min(runspaces as usize)) * server.max_input_bytes,
        client: limits.max_pending_bytes + more,
        server: server.max_unsent_bytes + more,
        packet: 3 * max_data + 2 * more,
    };

    let (near, far) = tokio::io::duplex(random.pick(&[64, 1000, 30_000]));
    let near = End::new(Role::Client, near, max_data, [left(0), left(1)], &mut random);
    let far = End::new(Role::Server, far, max_data, [left(2), left(3)], &mut random);
    let serving = tokio::spawn(serve(far, RandomHandler(Arc::clone(&world)), server));
    let opening = Session::over(near, client);
    let pool = match random.chance(3) {
        true => timeout(Duration::from_millis(random.number() % 100), opening).await.ok(),
        false => Some(opening.await),
    };
    let Some(Ok(pool)) = pool else {
        if let Some(Err(error)) = pool {
            world.check_error(0, &error);
        }
        // The server sees the end of the connection.
        let _ = serving.await.unwrap();
        return finish(&world);
    };

    let watching = tokio::spawn(watch(Arc::clone(&world), pool.clone(), bounds));
    let mut tasks = Vec::new();
    for number in 0..pipelines {
        let random = Random::new(random.number());
        tasks.push(tokio::spawn(play(Arc::clone(&world), pool.clone(), number, random)));
    }
    let requests = Random::new(random.number());
    tasks.push(tokio::spawn(request(Arc::clone(&world), pool.clone(), runspaces.into(), requests)));
    if closes_early {
        dawdle(&mut random, 80, 3000).await;
        world.log(0, "close");
        if let Some(Err(error)) = cancellable(&mut random, pool.close()).await {
            world.check_error(0, &error);
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    if world.is_calm {
        while !pool.pipelines().is_empty() {
            sleep(Duration::from_millis(100)).await;
        }
        // Until the last host calls and acknowledgements.
        sleep(Duration::from_secs(5)).await;
        let state = world.lock();
        let server = state.session.as_ref().map(serve::Session::queued_bytes);
        assert_eq!((pool.queued_bytes(), server), ((0, 0), Some((0, 0))), "bytes of closed pipelines");
    }
    watching.abort();
    let closed = pool.close().await;
    drop(pool);
    let ended = serving.await.unwrap();
    if cut.is_none() {
        closed.unwrap();
        assert_eq!(ended.unwrap(), SessionEnd::Closed);
    } else if let Err(error) = closed {
        world.check_error(0, &error);
    }
    finish(&world)
}

/// Fails if an invariant was violated. Returns the steps.
fn finish(world: &World) -> Vec<Step> {
    let mut state = world.lock();
    let State { problems, steps, .. } = &mut *state;
    assert!(problems.is_empty(), "{problems:#?} after {steps:#?}");
    std::mem::take(steps)
}

fn run_seed(random: Random) -> Vec<Step> {
    guid::SIMULATED.set(Some(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let steps = runtime
        .unwrap()
        .block_on(async { timeout(HOUR, run(random)).await.expect("the session does not hang") });
    guid::SIMULATED.set(None);
    steps
}

#[test]
fn sessions_end_without_lost_or_repeated_objects() {
    simulate(60, |random| drop(run_seed(random)));
}

#[test]
fn a_seed_repeats_its_session() {
    for seed in 0..10 {
        assert_eq!(run_seed(Random::new(seed)), run_seed(Random::new(seed)), "seed {seed}");
    }
}
