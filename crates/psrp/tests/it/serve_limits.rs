//! Limits of the server's resources with a misbehaving client.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use psrp::client::{self, ClientPool, Event};
use psrp::io::serve::{Options, SessionEnd, serve};
use psrp::io::{self, Transport};
use psrp::message::{CreatePipeline, PipelineState, PowerShell, RunspacePoolState};
use psrp::outofproc::Packet;
use psrp::{Error, ErrorKind, Object, server};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use crate::handler::{Pipe, TestHandler, TestSession, pipe};
use crate::session::{limits, with_key};

/// The paused clock advances only when all tasks are idle: a packet that has not arrived by then never does.
const WHILE: Duration = Duration::from_millis(300);

/// A client that sends packets without waiting.
struct RawClient {
    machine: ClientPool,
    lines: Pipe,
    buffer: Vec<u8>,
    handler: Arc<TestHandler>,
    ended: JoinHandle<Result<SessionEnd, Error>>,
}

impl RawClient {
    async fn opened(options: Options) -> Self {
        let (lines, far) = pipe(4096);
        let handler = Arc::new(TestHandler::default());
        let ended = tokio::spawn(serve(far, handler.clone(), options));
        let limits = limits(|limits| limits.max_pipelines = 9999);
        let machine = ClientPool::new(client::Config::new().capability(with_key()).limits(limits));
        let mut raw = Self { machine, lines, buffer: Vec::new(), handler, ended };
        raw.machine.open().unwrap();
        while raw.machine.state() != RunspacePoolState::Opened {
            raw.send_all().await;
            assert!(raw.receive().await);
        }
        raw
    }

    async fn send(&mut self, packet: Packet<'_>) {
        poll_fn(|cx| self.lines.poll_ready(cx)).await.unwrap();
        self.lines.send(packet).unwrap();
        poll_fn(|cx| self.lines.poll_flush(cx)).await.unwrap();
    }

    /// Sends all pending packets without waiting for acknowledgements.
    async fn send_all(&mut self) {
        loop {
            let mut buffer = std::mem::take(&mut self.buffer);
            let Some(packet) = self.machine.poll_transmit(32 * 1024, &mut buffer) else { return };
            let answer = match packet {
                Packet::Data { target, .. } => Some(Packet::DataAck(target)),
                Packet::Command(id) => Some(Packet::CommandAck(id)),
                _ => None,
            };
            self.send(packet).await;
            self.buffer = buffer;
            if let Some(answer) = answer {
                self.machine.handle_packet(answer).unwrap();
            }
        }
    }

    /// Receives a packet of the server, and returns whether there was one.
    async fn receive(&mut self) -> bool {
        let machine = &mut self.machine;
        let mut take = |packet: Packet<'_>| match packet {
            // The acknowledgement was already simulated.
            Packet::DataAck(_) | Packet::CommandAck(_) => Ok(()),
            packet => machine.handle_packet(packet),
        };
        poll_fn(|cx| self.lines.poll_receive(cx, &mut take)).await.transpose().unwrap().is_some()
    }

    /// Calls `queue` and sends its packets, repeatedly, until the server stops reading. Returns the number of calls
    /// whose packets were all sent.
    async fn fill(&mut self, mut queue: impl FnMut(&mut ClientPool)) -> usize {
        for sent in 0..10_000 {
            queue(&mut self.machine);
            if timeout(WHILE, self.send_all()).await.is_err() {
                return sent;
            }
        }
        panic!("nothing stops the client");
    }

    async fn start(&mut self, script: &str) -> Uuid {
        let mut create = CreatePipeline::new(PowerShell::script(script));
        create.no_input = false;
        let id = self.machine.invoke(create).unwrap();
        self.send_all().await;
        id
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_closes_the_connection_soon_after_its_client() {
    let mut raw = RawClient::opened(Options::default()).await;
    raw.machine.close().unwrap();
    raw.send_all().await;
    while let Ok(is_open) = timeout(WHILE, raw.receive()).await {
        assert!(is_open, "the client has time to close it first");
    }
    assert_eq!(raw.machine.state(), RunspacePoolState::Closed);
    assert!(!raw.receive().await);
    drop(raw.lines);
    assert_eq!(raw.ended.await.unwrap().unwrap(), SessionEnd::Closed);
}

#[tokio::test(start_paused = true)]
async fn pending_output_is_limited_and_can_be_cancelled() {
    let mut raw = RawClient::opened(Options { max_unsent_bytes: 100_000, ..Options::default() }).await;
    let id = raw.start("count 1000000").await;
    // The client does not read. An object has more than sixty bytes; the pipe and both ends have buffers.
    let written = TestHandler::settle(&raw.handler.objects).await;
    assert!((100..4000).contains(&written), "{written}");
    for _ in 0..100 {
        assert!(raw.receive().await);
        while raw.machine.poll_event().is_some() {}
    }
    assert!(TestHandler::settle(&raw.handler.objects).await > written, "it goes on as there is room");
    assert_eq!(TestHandler::count(&raw.handler.running), 1);
    raw.send(Packet::Close(Some(id))).await;
    TestHandler::reach(&raw.handler.running, 0).await;
}

#[tokio::test(start_paused = true)]
async fn input_is_acknowledged_when_the_handler_reads_it() {
    let client = io::Options::new()
        .limits(io::ClientLimits { max_pending_bytes: 10_000, ..io::ClientLimits::default() });
    let server = Options { max_input_bytes: 50_000, ..Options::default() };
    let served = TestSession::with(client::Config::new(), client, server).await;
    let run = served.pool.start_with_input(PowerShell::script("slow")).await.unwrap();
    let mut sent = 0;
    while timeout(WHILE, run.send("x".repeat(1000))).await.is_ok_and(|result| result.is_ok()) {
        sent += 1;
        assert!(sent < 1000, "nothing stops the input");
    }
    assert!(sent >= 50, "{sent}");
    // Other pipelines of the session are not affected.
    assert_eq!(served.pool.get_available_runspaces().await.unwrap(), 0);
    served.handler.gate.0.add_permits(1);
    for _ in sent..1000 {
        run.send("x".repeat(1000)).await.unwrap();
    }
    run.end_input().await.unwrap();
    assert_eq!(run.output().await.unwrap().state, PipelineState::Completed);
    assert_eq!(TestHandler::count(&served.handler.objects), 1000);
    served.close().await;
}

#[tokio::test(start_paused = true)]
async fn input_of_waiting_pipelines_does_not_block_the_running_one() {
    let client = io::Options::new()
        .limits(io::ClientLimits { max_pending_bytes: 10_000, ..io::ClientLimits::default() });
    let server = Options { max_input_bytes: 20_000, ..Options::default() };
    let served = TestSession::with(client::Config::new(), client, server).await;
    let mut runs = Vec::new();
    for _ in 0..8 {
        runs.push(served.pool.start_with_input(PowerShell::script("echo")).await.unwrap());
    }
    // Until the queues of client and server are full.
    for run in &runs[1..] {
        while timeout(WHILE, run.send("x".repeat(1000))).await.is_ok_and(|sent| sent.is_ok()) {}
    }
    let complete = async {
        for run in runs {
            for _ in 0..50 {
                run.send("x".repeat(1000)).await.unwrap();
            }
            run.end_input().await.unwrap();
            let output = run.output().await.unwrap();
            assert!(output.state == PipelineState::Completed && output.output.len() >= 50);
        }
    };
    timeout(Duration::from_secs(60), complete).await.expect("no deadlock");
    served.close().await;
}

#[tokio::test(start_paused = true)]
async fn backpressure_applies_without_acknowledgements() {
    let mut raw = RawClient::opened(Options { max_input_bytes: 100_000, ..Options::default() }).await;
    let id = raw.start("slow").await;
    let text = "x".repeat(10_000);
    let sent = raw.fill(|machine| machine.pipeline(id).unwrap().send_input(text.as_str()).unwrap()).await;
    // Four times the limit, and the buffers of the pipe and its ends.
    assert!((40..80).contains(&sent), "{sent}");
    raw.handler.gate.0.add_permits(1);
    TestHandler::reach(&raw.handler.objects, sent).await;
}

/// Values that are small on the wire and large in memory count with their memory size.
#[tokio::test(start_paused = true)]
async fn input_counts_its_decoded_size() {
    let mut raw = RawClient::opened(Options { max_input_bytes: 100_000, ..Options::default() }).await;
    let id = raw.start("slow").await;
    let empty = Object::list((0..500).map(|_| Object::builder().build()));
    let sent = raw.fill(|machine| machine.pipeline(id).unwrap().send_input(empty.clone()).unwrap()).await;
    // About 10 KB on the wire each, ten times as much in memory: four times the limit, and the buffer of the pipe.
    assert!((3..20).contains(&sent), "{sent}");
    raw.handler.gate.0.add_permits(1);
    TestHandler::reach(&raw.handler.objects, sent).await;
}

#[tokio::test(start_paused = true)]
async fn backpressure_applies_to_unread_responses() {
    let mut raw = RawClient::opened(Options { max_unsent_bytes: 100_000, ..Options::default() }).await;
    let sent = raw.fill(|machine| assert!(machine.get_available_runspaces().is_ok())).await;
    // A request has 100 bytes of data and counts 64 more.
    assert!((400..2000).contains(&sent), "{sent}");
    for _ in 0..sent {
        assert!(raw.receive().await);
    }
    let answers = std::iter::from_fn(|| raw.machine.poll_event());
    assert!(answers.filter(|event| matches!(event, Event::RequestCompleted { .. })).count() > 100);
}

#[tokio::test(start_paused = true)]
async fn deferred_secrets_are_limited() {
    let mut raw = RawClient::opened(Options { max_unsent_bytes: 100_000, ..Options::default() }).await;
    raw.start("secret 100000").await;
    // The client does not even read the server's key request.
    assert!((1..2000).contains(&TestHandler::settle(&raw.handler.objects).await));
    assert_eq!(TestHandler::count(&raw.handler.running), 1);
}

#[tokio::test]
async fn violations_end_the_session() {
    let many = [(); 3].map(|()| Packet::Command(Some(Uuid::new_v4())));
    for (packets, kind) in [(&many[..], ErrorKind::Limit), (&[Packet::DataAck(None)], ErrorKind::Protocol)] {
        let config = server::Config::new().limits(limits(|limits| limits.max_pipelines = 3));
        let options = Options { config, ..Options::default() };
        let mut raw = RawClient::opened(options).await;
        raw.start("wait").await;
        TestHandler::reach(&raw.handler.running, 1).await;
        for packet in packets {
            raw.send(*packet).await;
        }
        while raw.receive().await {}
        assert_eq!(raw.machine.state(), RunspacePoolState::Broken);
        assert_eq!(raw.ended.await.unwrap().unwrap_err().kind(), kind);
        assert_eq!(TestHandler::count(&raw.handler.running), 0);
        assert_eq!(TestHandler::count(&raw.handler.closed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_stay_open() {
    let served = TestSession::runspaces(2).await;
    let running = served.pool.start(PowerShell::script("wait")).await.unwrap();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(3 * 24 * 3600)).await;
        let output = served.pool.invoke(PowerShell::script("still here")).await.unwrap();
        assert_eq!(output.output.len(), 1);
    }
    assert_eq!(running.state(), PipelineState::Running);
    served.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_lasts_until_the_client_has_read_the_close() {
    for is_silent in [false, true] {
        let mut raw = RawClient::opened(Options::default()).await;
        raw.machine.close().unwrap();
        raw.send_all().await;
        while raw.machine.state() != RunspacePoolState::Closed {
            assert!(raw.receive().await);
        }
        TestHandler::reach(&raw.handler.closed, 1).await;
        tokio::time::sleep(WHILE).await;
        assert!(!raw.ended.is_finished());
        let RawClient { lines, ended, .. } = raw;
        // If the client never ends the connection, the server does after a while.
        let _open = is_silent.then_some(lines);
        assert_eq!(ended.await.unwrap().unwrap(), SessionEnd::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_closing_client_that_does_not_read_times_out() {
    let mut raw = RawClient::opened(Options::default()).await;
    raw.start("count 1000000").await;
    assert!(TestHandler::settle(&raw.handler.objects).await > 100);
    let start = tokio::time::Instant::now();
    raw.send(Packet::Close(None)).await;
    assert_eq!(raw.ended.await.unwrap().unwrap(), SessionEnd::Closed);
    assert!(start.elapsed() >= Duration::from_secs(5), "the default of the time to close");
    assert_eq!(TestHandler::count(&raw.handler.running), 0);
}

/// A transport that accepts packets only after it has returned the client's first one, and then ends.
struct LateWriter {
    client: ClientPool,
    receives: usize,
    readies: usize,
}

impl Transport for LateWriter {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        self.receives += 1;
        match self.receives {
            1 => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            2 => {
                let mut buffer = Vec::new();
                Poll::Ready(Some(take(self.client.poll_transmit(32 * 1024, &mut buffer).unwrap())))
            }
            _ => Poll::Ready(None),
        }
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.readies += 1;
        if self.readies > 2 { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn send(&mut self, _: Packet<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn receiving_continues_once_packets_are_sent() {
    let mut client = ClientPool::new(client::Config::new());
    client.open().unwrap();
    let transport = LateWriter { client, receives: 0, readies: 0 };
    let options = Options { max_unsent_bytes: 100, ..Options::default() };
    let ended = timeout(WHILE, serve(transport, TestHandler::default(), options)).await;
    assert_eq!(ended.unwrap().unwrap(), SessionEnd::Disconnected);
}
