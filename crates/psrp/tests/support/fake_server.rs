//! In-memory server for client tests: the state machine over one end of a pipe, and a closure that acts as its
//! application.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::future::poll_fn;
use std::task::{Context, Poll};

use psrp::client::PipelineRequest;
use psrp::io::{self, Lines, Options, Transport};
use psrp::outofproc::Role;
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
pub async fn serve(transport: impl Transport, act: impl FnMut(&mut RunspacePool, AppCall) -> bool) {
    serve_with(transport, Config::new(), act).await;
}

/// Like `serve`, with another configuration.
pub async fn serve_with(
    mut transport: impl Transport,
    config: Config,
    mut act: impl FnMut(&mut RunspacePool, AppCall) -> bool,
) {
    let mut machine = RunspacePool::new(config);
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
