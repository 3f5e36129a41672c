//! In-memory server for client tests: the state machine over one end of a pipe, and a closure that acts as its
//! application.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use psrp::Error;
use psrp::client::PipelineRequest;
use psrp::io::{self, Lines, Options, Transport};
use psrp::outofproc::{Packet, Role};
use psrp::server::{Config, Event, Pipeline, PipelineEvent, RunspacePool};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// One end of a pipe.
pub type Pipe = Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// Call of the application.
pub enum AppCall {
    /// The client caused an event.
    Event(Event),
    /// The output queue has room.
    Idle,
}

/// Creates a pipe with this capacity in bytes.
pub fn pipe(size: usize) -> (Pipe, Pipe) {
    let (near, far) = tokio::io::duplex(size);
    (lines(Role::Client, near), lines(Role::Server, far))
}

/// Packets over one end of a pipe.
pub fn lines(role: Role, end: DuplexStream) -> Pipe {
    let (read, write) = tokio::io::split(end);
    Lines::new(role, read, write)
}

/// Opens a client's pool, and spawns its server.
pub async fn open(
    options: Options,
    act: impl FnMut(&mut RunspacePool, AppCall) -> bool + Send + 'static,
) -> (io::RunspacePool, JoinHandle<()>) {
    let (near, far) = pipe(4096);
    let server = tokio::spawn(serve(far, act));
    let pool = io::RunspacePool::over(near, options).await.expect("the server opens each pool");
    (pool, server)
}

/// If an event starts a pipeline, starts it and lets `write` write.
pub fn on_start(
    machine: &mut RunspacePool,
    ask: &AppCall,
    write: impl FnOnce(&mut Pipeline<'_>, &str),
) -> bool {
    let AppCall::Event(event) = ask else { return false };
    let Some((id, script)) = started(event) else { return false };
    let mut pipeline = machine.pipeline(id).expect("a pipeline that is to start is there");
    pipeline.start().expect("a new pipeline can start");
    write(&mut pipeline, &script);
    true
}

/// Serves until the client ends the connection or the pool is closed. `act` is called with `AppCall::Idle` while less than
/// 64 KiB are pending; it returns whether it has done something.
pub async fn serve(mut transport: impl Transport, mut act: impl FnMut(&mut RunspacePool, AppCall) -> bool) {
    let mut machine = RunspacePool::new(Config::new());
    let mut buffer = Vec::new();
    poll_fn(|cx| {
        loop {
            let mut is_closed = false;
            while let Some(event) = machine.poll_event() {
                is_closed |= event == Event::Closed;
                act(&mut machine, AppCall::Event(event));
            }
            while machine.pending_bytes() < 64 * 1024 && act(&mut machine, AppCall::Idle) {}
            let can_write = send(&mut transport, &mut machine, &mut buffer, cx);
            if is_closed {
                return Poll::Ready(());
            }
            match transport.poll_receive(cx, &mut |packet| machine.handle_packet(packet)) {
                Poll::Ready(Some(Ok(()))) => {}
                Poll::Ready(_) => return Poll::Ready(()),
                // There may be more to do after something was sent.
                Poll::Pending if can_write && act(&mut machine, AppCall::Idle) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
    let _ = poll_fn(|cx| transport.poll_close(cx)).await;
}

/// Sends all packets. Returns false if the transport is not ready.
fn send(
    transport: &mut impl Transport,
    machine: &mut RunspacePool,
    buffer: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> bool {
    while let Poll::Ready(Ok(())) = transport.poll_ready(cx) {
        let Some(packet) = machine.poll_transmit(32 * 1024, buffer) else {
            return transport.poll_flush(cx).is_ready();
        };
        transport.send(packet).expect("each packet can be sent");
    }
    false
}

/// Returns the pipeline that this event starts, and its script.
pub fn started(event: &Event) -> Option<(Uuid, String)> {
    let Event::Pipeline { id, event: PipelineEvent::Start(request) } = event else { return None };
    let PipelineRequest::Run(create) = request else { return Some((*id, String::new())) };
    let command = create.power_shell.statements().flatten().next();
    Some((*id, command.map(|command| command.text.to_str_lossy().into_owned()).unwrap_or_default()))
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    /// The connection ends before the packet with this number.
    Cut(usize),
    /// The packet arrives a minute late.
    Late(usize),
    /// The packet arrives twice.
    Twice(usize),
    /// Signals are acknowledged, but do not arrive.
    IgnoredSignals,
}

/// An end of a pipe that injects a fault into received packets, and that supports disconnecting.
pub struct TestTransport {
    inner: Pipe,
    fault: Fault,
    /// Number of received packets.
    pub arrived: Arc<AtomicUsize>,
    delay: Option<Pin<Box<tokio::time::Sleep>>>,
    /// Disconnects and reconnects.
    pub log: Arc<Mutex<Vec<&'static str>>>,
}

impl TestTransport {
    pub fn new(inner: Pipe, fault: Fault) -> Self {
        Self { inner, fault, arrived: Arc::default(), delay: None, log: Arc::default() }
    }
}

impl Transport for TestTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        let number = self.arrived.load(Ordering::SeqCst);
        if self.fault == Fault::Cut(number) {
            return Poll::Ready(None);
        }
        if self.fault == Fault::Late(number) {
            let minute = || Box::pin(tokio::time::sleep(Duration::from_secs(59)));
            if self.delay.get_or_insert_with(minute).as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        let is_twice = self.fault == Fault::Twice(number);
        let ignores_signals = self.fault == Fault::IgnoredSignals;
        let mut ignored = None;
        let arrived = self.arrived.clone();
        let received = self.inner.poll_receive(cx, &mut |packet| {
            arrived.fetch_add(1, Ordering::SeqCst);
            if let (Packet::Signal(id), true) = (packet, ignores_signals) {
                ignored = Some(id);
                return Ok(());
            }
            take(packet)?;
            if is_twice { take(packet) } else { Ok(()) }
        });
        if let Some(id) = ignored {
            self.inner.send(Packet::SignalAck(id))?;
        }
        received
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.inner.send(packet)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_close(cx)
    }

    fn poll_disconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.log.lock().unwrap().push("disconnect");
        Poll::Ready(Ok(()))
    }

    fn poll_reconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.log.lock().unwrap().push("reconnect");
        Poll::Ready(Ok(()))
    }
}
