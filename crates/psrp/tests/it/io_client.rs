//! Pools and pipelines of the client over an in-memory pipe.

#![cfg(feature = "tokio")]

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use psrp::client::{Config, PipelineEvent, PipelineRequest};
use psrp::io::{ClientLimits, Options, Output, OutputRecord, PoolEvent, RunspacePool, Transport};
use psrp::message::{
    ApplicationPrivateData, Availability, CommandMetadata, GetCommandMetadata, PipelineState, PowerShell,
    RunspacePoolState, RunspacePoolStateInfo, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord, InformationRecord, InformationalRecord};
use psrp::value::{Object, Progress, Value};
use psrp::{Error, SessionLimits, server};

use crate::fake_server;
use crate::fake_server::{AppCall, on_start, open, pipe, serve, serve_with};
use crate::session::with_input;

/// Each pipeline outputs the text of its script.
fn echo(machine: &mut server::RunspacePool, ask: AppCall) -> bool {
    on_start(machine, &ask, |pipeline, script| {
        pipeline.write_output(script).unwrap();
        pipeline.complete().unwrap();
    })
}

#[tokio::test]
async fn scripts_run_over_pipes_of_any_size() {
    for size in [1, 7, 64, 65536] {
        let (near, far) = pipe(size);
        let server = tokio::spawn(serve(far, echo));
        let pool = RunspacePool::over(near, Options::new()).await.unwrap();
        assert_eq!(pool.state(), RunspacePoolState::Opened);
        let text = "hello ".repeat(20_000);
        let output = pool.invoke(PowerShell::script(text.as_str())).await.unwrap();
        assert_eq!(output.output, [Value::from(text)]);
        assert_eq!(output.state, PipelineState::Completed);
        pool.close().await.unwrap();
        assert_eq!(pool.state(), RunspacePoolState::Closed);
        server.await.unwrap();
    }
}

/// Writes to all streams, twice to the progress stream, and fails.
fn all_streams(pipeline: &mut server::Pipeline<'_>) {
    let record = |text: &str| InformationalRecord::new(text);
    pipeline.write_output(1).unwrap();
    pipeline.write_error(ErrorRecord::new("error", ErrorCategory::InvalidData)).unwrap();
    pipeline.write_warning(record("warning")).unwrap();
    pipeline.write_verbose(record("verbose")).unwrap();
    pipeline.write_debug(record("debug")).unwrap();
    pipeline.write_information(InformationRecord::new("information")).unwrap();
    for percent in [10, 20] {
        let progress = Progress { percent_complete: percent, ..Progress::new(3, "activity", "status") };
        pipeline.write_progress(progress).unwrap();
    }
    pipeline.write_output(Value::Nil).unwrap();
    pipeline.fail(ErrorRecord::new("no \u{1b}[31mmore", ErrorCategory::InvalidOperation)).unwrap();
}

/// The streams of the records in order.
fn order(output: &Output) -> Vec<&'static str> {
    let stream = |record| match record {
        OutputRecord::Output(_) => "output",
        OutputRecord::Error(_) => "error",
        OutputRecord::Warning(_) => "warning",
        OutputRecord::Verbose(_) => "verbose",
        OutputRecord::Debug(_) => "debug",
        OutputRecord::Information(_) => "information",
        other => panic!("{other:?}"),
    };
    output.records().map(stream).collect()
}

#[tokio::test]
async fn an_output_has_errors_after_error_records_or_failure() {
    let (pool, _server) = open(Options::new(), |machine, ask| {
        on_start(machine, &ask, |pipeline, script| {
            if script.contains("write") {
                pipeline.write_error(ErrorRecord::new("written", ErrorCategory::InvalidData)).unwrap();
                pipeline.write_output(1).unwrap();
                pipeline.write_error(ErrorRecord::new("again", ErrorCategory::InvalidData)).unwrap();
            }
            match script.contains("fail") {
                true => pipeline.fail(ErrorRecord::new("failed", ErrorCategory::InvalidData)).unwrap(),
                false => pipeline.complete().unwrap(),
            }
        })
    })
    .await;
    for (script, had_errors) in [("", false), ("write", true), ("fail", true)] {
        let mut output = pool.invoke(PowerShell::script(script)).await.unwrap();
        assert_eq!(output.had_errors(), had_errors, "{script}");
        if script == "write" {
            let texts = output.errors.iter().map(|record| record.message().unwrap().to_string());
            assert_eq!(texts.collect::<Vec<_>>(), ["written", "again"]);
            assert_eq!(order(&output), ["error", "output", "error"]);
            // The caller can change the fields.
            output.errors.remove(0);
            assert_eq!(order(&output), ["error", "output"]);
        }
    }
    pool.close().await.unwrap();
}

#[tokio::test]
async fn events_of_all_streams_arrive_in_order() {
    let (pool, _server) =
        open(Options::new(), |machine, ask| on_start(machine, &ask, |pipeline, _| all_streams(pipeline)))
            .await;
    let mut run = pool.start(PowerShell::script("")).await.unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = run.next().await {
        kinds.push(match event.unwrap() {
            PipelineEvent::Output(_) => "output",
            PipelineEvent::Error(_) => "error",
            PipelineEvent::Warning(_) => "warning",
            PipelineEvent::Verbose(_) => "verbose",
            PipelineEvent::Debug(_) => "debug",
            PipelineEvent::Information(_) => "information",
            PipelineEvent::Progress(_) => "progress",
            PipelineEvent::State(info) if info.state == PipelineState::Running => "running",
            PipelineEvent::State(info) if info.state == PipelineState::Failed => "failed",
            other => panic!("{other:?}"),
        });
    }
    let expected = "running output error warning verbose debug information progress progress output failed";
    assert_eq!(kinds.join(" "), expected);
    assert_eq!(run.state(), PipelineState::Failed);
    assert!(run.next().await.is_none());

    let output = pool.invoke(PowerShell::script("")).await.unwrap();
    assert_eq!(output.output, [Value::from(1), Value::Nil]);
    assert_eq!(output.errors[0].message().unwrap(), "error");
    let texts =
        [&output.warnings, &output.verbose, &output.debug].map(|records| records[0].message.to_str_lossy());
    assert_eq!(texts, ["warning", "verbose", "debug"]);
    assert_eq!(output.information[0].message_data, Value::from("information"));
    let progress: Vec<_> = output.progress.iter().map(|record| record.percent_complete).collect();
    assert_eq!(progress, [20]);
    assert_eq!(output.state, PipelineState::Failed);
    assert!(output.had_errors());
    assert_eq!(order(&output), ["output", "error", "warning", "verbose", "debug", "information", "output"]);

    let error = output.completed().unwrap_err();
    assert!(error.is_pipeline());
    assert_eq!(error.to_string(), "the pipeline has not completed: Failed: no \\u{1b}[31mmore");
}

#[tokio::test]
async fn an_invalid_number_of_runspaces_is_rejected() {
    for count in [0..=1, -1..=-1, RangeInclusive::new(2, 1)] {
        let (near, _far) = pipe(64);
        let error = RunspacePool::over(near, Options::new().runspaces(count)).await.unwrap_err();
        assert!(error.is_state() && error.to_string().contains("at least 1"), "{error}");
    }
}

#[tokio::test]
async fn pipelines_run_concurrently() {
    // Pipelines write their next number in turns, when there is room.
    let mut left: HashMap<uuid::Uuid, i32> = HashMap::new();
    let (pool, _server) = open(Options::new(), move |machine, ask| {
        if on_start(machine, &ask, |pipeline, _| assert!(left.insert(pipeline.id(), 0).is_none())) {
            return true;
        }
        let AppCall::Idle = ask else { return false };
        left.retain(|id, next| {
            let mut pipeline = machine.pipeline(*id).unwrap();
            pipeline.write_output(*next).unwrap();
            *next += 1;
            if *next == 500 {
                pipeline.complete().unwrap();
            }
            *next < 500
        });
        !left.is_empty()
    })
    .await;
    let runs: Vec<_> = (0..10)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move { pool.invoke(PowerShell::script("")).await.unwrap() })
        })
        .collect();
    for run in runs {
        let numbers: Vec<Value> = (0..500).map(Value::from).collect();
        assert_eq!(run.await.unwrap().output, numbers);
    }
    pool.close().await.unwrap();
}

/// Outputs its input until it ends or is the text `enough`.
fn cat(machine: &mut server::RunspacePool, ask: AppCall) -> bool {
    use server::{Event, PipelineEvent};

    if on_start(machine, &ask, |_, _| ()) {
        return true;
    }
    let AppCall::Event(Event::Pipeline { id, event }) = ask else { return false };
    // Input after the end is ignored.
    let Ok(mut pipeline) = machine.pipeline(id) else { return true };
    if pipeline.state() != PipelineState::Running {
        return true;
    }
    match event {
        PipelineEvent::Input(value) if value == "enough" => pipeline.complete().unwrap(),
        PipelineEvent::Input(value) => pipeline.write_output(value).unwrap(),
        PipelineEvent::EndOfInput => pipeline.complete().unwrap(),
        PipelineEvent::Stop => pipeline.stop().unwrap(),
        _ => {}
    }
    true
}

/// A stream of numbers that is pending at every second poll.
struct Numbers(i32, bool);

impl futures_core::Stream for Numbers {
    type Item = i32;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<i32>> {
        self.1 = !self.1;
        if self.1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.0 += 1;
        Poll::Ready((self.0 <= 50).then_some(self.0))
    }
}

#[tokio::test]
async fn input_is_sent_while_output_is_read() {
    let (pool, _server) =
        open(Options::new().limits(ClientLimits { max_pending_bytes: 1000, ..ClientLimits::default() }), cat)
            .await;
    let output = pool.invoke_with_input(PowerShell::script("$input"), 0..3000).await.unwrap();
    assert_eq!(output.output, (0..3000).map(Value::from).collect::<Vec<_>>());
    let output = pool.invoke_with_stream(PowerShell::script("$input"), Numbers(0, false)).await.unwrap();
    assert_eq!(output.output, (1..=50).map(Value::from).collect::<Vec<_>>());

    // The pipeline ends before its input.
    let endless = std::iter::repeat_n("more", 10).chain(std::iter::repeat("enough"));
    let output = pool.invoke_with_input(PowerShell::script("$input"), endless).await.unwrap();
    assert_eq!((output.output.len(), output.state), (10, PipelineState::Completed));

    let create = with_input("$input");
    let mut run = pool.start(create).await.unwrap();
    let input = run.handle();
    let sender = tokio::spawn(async move {
        input.send("a").await.unwrap();
        input.end_input().await.unwrap();
        input.send("b").await.unwrap_err()
    });
    let mut count = 0;
    while let Some(event) = run.next().await {
        count += usize::from(matches!(event.unwrap(), PipelineEvent::Output(_)));
    }
    assert_eq!(count, 1);
    assert!(sender.await.unwrap().is_state());
    assert!(run.send("c").await.unwrap_err().is_state());
    drop(run);

    let run = pool.start(PowerShell::script("no input")).await.unwrap();
    assert!(run.send(1).await.unwrap_err().is_state());
}

#[tokio::test]
async fn pool_requests_get_responses() {
    use server::Event;

    let (near, far) = pipe(4096);
    let config =
        server::Config::new().application_private_data(ApplicationPrivateData::new([("Name", "test")]));
    let server = serve_with(far, config, |machine, ask| {
        let AppCall::Event(event) = ask else { return false };
        match event {
            Event::SetMaxRunspaces { call_id, count } => {
                machine.respond(call_id, Availability::Accepted(count < 10)).unwrap();
            }
            Event::SetMinRunspaces { call_id, .. } => {
                machine.respond(call_id, Availability::Accepted(true)).unwrap();
            }
            Event::GetAvailableRunspaces { call_id } => {
                let count = i64::from(machine.max_runspaces());
                machine.respond(call_id, Availability::Count(count)).unwrap();
            }
            Event::ResetRunspaceState { call_id } => {
                machine.respond(call_id, Availability::Accepted(true)).unwrap();
                machine.send_event(UserEvent { event_identifier: 7, ..UserEvent::default() }).unwrap();
            }
            _ => {}
        }
        true
    });
    tokio::spawn(server);
    // The order of the two is arbitrary.
    let config = Config::new().pool_id(uuid::Uuid::from_u128(5));
    let pool = RunspacePool::over(near, Options::new().runspaces(2..=3).config(config)).await.unwrap();
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (2, 3));
    assert_eq!(pool.id(), uuid::Uuid::from_u128(5));
    let data = pool.application_private_data().unwrap().data.unwrap();
    assert_eq!(data.get("Name").unwrap(), &Value::from("test"));
    assert!(pool.peer().is_some());

    let mut events = pool.events();
    assert!(!pool.set_max_runspaces(10).await.unwrap());
    assert!(pool.set_max_runspaces(5).await.unwrap());
    assert!(pool.set_min_runspaces(4).await.unwrap());
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (4, 5));
    assert_eq!(pool.get_available_runspaces().await.unwrap(), 5);
    assert!(pool.set_min_runspaces(6).await.unwrap_err().is_state());
    assert!(pool.reset_runspace_state().await.unwrap());
    let Some(PoolEvent::User(event)) = events.next().await else { panic!() };
    assert_eq!(event.event_identifier, 7);
    pool.close().await.unwrap();
    let Some(PoolEvent::State(RunspacePoolStateInfo { state, .. })) = events.next().await else { panic!() };
    assert_eq!(state, RunspacePoolState::Closed);
    assert_eq!(events.next().await, None);
    let error = pool.get_available_runspaces().await.unwrap_err();
    assert!(error.is_closed(), "{error}");
}

#[cfg(feature = "crypto")]
#[tokio::test]
async fn secure_strings_are_transferred_in_both_directions() {
    use psrp::value::SecureString;

    let config = Config::new().capability(crate::session::with_key());
    let (pool, _server) = open(Options::new().config(config), cat).await;
    let secret = || Value::from(SecureString::new("Pa\u{df}wort"));
    let output = pool.invoke_with_input(PowerShell::script(""), [secret()]).await.unwrap();
    let Value::SecureString(text) = &output.output[0] else { panic!() };
    assert_eq!(text.reveal().unwrap().as_str(), "Pa\u{df}wort");
    pool.exchange_key().await.unwrap();
    pool.decrypt(&output.output[0]).await.unwrap();
}

#[tokio::test]
async fn commands_are_listed() {
    let (pool, _server) = open(Options::new(), |machine, ask| {
        let AppCall::Event(server::Event::Pipeline { id, event: server::PipelineEvent::Start(request) }) =
            ask
        else {
            return false;
        };
        assert!(matches!(request, PipelineRequest::GetCommandMetadata(_)));
        let mut pipeline = machine.pipeline(id).unwrap();
        pipeline.start().unwrap();
        pipeline.write_output(Object::custom([("Count", 1)])).unwrap();
        let command = Object::builder().extended("Name", "Get-Date").extended("CommandType", 8).build();
        pipeline.write_output(command).unwrap();
        pipeline.complete().unwrap();
        true
    })
    .await;
    let commands: Vec<CommandMetadata> =
        pool.get_command_metadata(GetCommandMetadata::new(["Get-D*"])).await.unwrap();
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].name, "Get-Date");
}

#[cfg(feature = "serde")]
#[tokio::test]
async fn output_is_deserialized() {
    let (pool, _server) = open(Options::new(), |machine, ask| {
        on_start(machine, &ask, |pipeline, script| match script {
            "fail" => pipeline.fail(ErrorRecord::new("no", ErrorCategory::NotSpecified)).unwrap(),
            _ => {
                pipeline.write_output(1).unwrap();
                pipeline.write_output(2).unwrap();
                pipeline.complete().unwrap();
            }
        })
    })
    .await;
    let numbers: Vec<u8> = pool.invoke_as(PowerShell::script("1..2")).await.unwrap();
    assert_eq!(numbers, [1, 2]);
    let error = pool.invoke_as::<String>(PowerShell::script("1..2")).await.unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    let error = pool.invoke_as::<u8>(PowerShell::script("fail")).await.unwrap_err();
    assert!(error.is_pipeline(), "{error}");
}

#[tokio::test]
async fn collected_output_is_limited() {
    let options = Options::new().limits(ClientLimits { max_output_bytes: 10_000, ..ClientLimits::default() });
    let (pool, _server) = open(options, |machine, ask| {
        on_start(machine, &ask, |pipeline, script| {
            for number in 0..script.parse().unwrap() {
                pipeline.write_output(number).unwrap();
            }
            pipeline.complete().unwrap();
        })
    })
    .await;
    assert_eq!(pool.invoke(PowerShell::script("50")).await.unwrap().output.len(), 50);
    let error = pool.invoke(PowerShell::script("5000")).await.unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert_eq!(pool.invoke(PowerShell::script("50")).await.unwrap().output.len(), 50);
}

#[tokio::test]
async fn an_oversized_object_fails_only_its_pipeline() {
    let options = Options::new()
        .config(Config::new().limits(SessionLimits { max_object_size: 50_000, ..SessionLimits::default() }));
    let (pool, _server) = open(options, |machine, ask| {
        on_start(machine, &ask, |pipeline, script| {
            pipeline.write_output("before").unwrap();
            pipeline.write_output("x".repeat(script.parse().unwrap())).unwrap();
            pipeline.complete().unwrap();
        })
    })
    .await;
    let output = pool.invoke(PowerShell::script("100000")).await.unwrap();
    assert_eq!((output.state, output.output.len()), (PipelineState::Failed, 1));
    assert_eq!(output.reason.as_ref().unwrap().category, ErrorCategory::LimitsExceeded);
    assert!(output.completed().unwrap_err().is_pipeline());
    // It is also removed at the server.
    assert_eq!(pool.invoke(PowerShell::script("10")).await.unwrap().output.len(), 2);
    while !pool.pipelines().is_empty() {
        tokio::task::yield_now().await;
    }
    pool.close().await.unwrap();
}

#[tokio::test]
async fn invalid_states_are_errors() {
    let (pool, _server) = open(
        Options::new()
            .config(Config::new().limits(SessionLimits { max_pipelines: 1, ..SessionLimits::default() })),
        cat,
    )
    .await;
    let run = pool.start(PowerShell::script("")).await.unwrap();
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_limit());
    assert!(pool.connect_pipeline(run.id()).unwrap_err().is_state());
    assert_eq!(pool.pipelines(), [(run.id(), PipelineState::Running)]);
    assert!(pool.disconnect().await.unwrap_err().is_unsupported());
    assert!(pool.reconnect().await.unwrap_err().is_state());
    assert_eq!(pool.state(), RunspacePoolState::Opened);
}

/// A transport that supports disconnecting. Records its calls.
struct DisconnectableTransport(fake_server::Pipe, Arc<Mutex<Vec<&'static str>>>);

impl Transport for DisconnectableTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        self.0.poll_receive(cx, take)
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx)
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.0.send(packet)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_close(cx)
    }

    fn poll_disconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.1.lock().unwrap().push("disconnect");
        Poll::Ready(Ok(()))
    }

    fn poll_reconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.1.lock().unwrap().push("reconnect");
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_pool_is_disconnected_and_reconnected() {
    let (near, far) = pipe(4096);
    let server = tokio::spawn(serve(far, cat));
    let notes = Arc::new(Mutex::new(Vec::new()));
    let connector = {
        let transport = Mutex::new(Some(DisconnectableTransport(near, Arc::clone(&notes))));
        move || std::future::ready(Ok(transport.lock().unwrap().take().unwrap()))
    };
    let pool = RunspacePool::open(&connector, Options::new()).await.unwrap();
    let create = with_input("$input");
    let run = pool.start(create).await.unwrap();
    run.send(1).await.unwrap();
    pool.disconnect().await.unwrap();
    assert_eq!(pool.state(), RunspacePoolState::Disconnected);
    assert!(pool.disconnect().await.unwrap_err().is_state());
    assert!(run.send(2).await.unwrap_err().is_state());
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_state());
    pool.reconnect().await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["disconnect", "reconnect"]);
    run.send(3).await.unwrap();
    run.end_input().await.unwrap();
    assert_eq!(run.output().await.unwrap().output, [1, 3].map(Value::from));
    pool.close().await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn a_disconnected_pool_is_not_closed() {
    let (near, far) = pipe(4096);
    let closed = Arc::new(Mutex::new(false));
    let server = tokio::spawn(serve(far, {
        let closed = Arc::clone(&closed);
        move |_, ask| {
            if let AppCall::Event(server::Event::Closed) = ask {
                *closed.lock().unwrap() = true;
            }
            false
        }
    }));
    let pool =
        RunspacePool::over(DisconnectableTransport(near, Arc::default()), Options::new()).await.unwrap();
    pool.disconnect().await.unwrap();
    pool.close().await.unwrap();
    server.await.unwrap();
    assert!(!*closed.lock().unwrap());
}

#[tokio::test]
async fn a_client_connects_to_an_existing_pool() {
    let (near, far) = pipe(4096);
    let server = tokio::spawn(serve(far, echo));
    let id = uuid::Uuid::from_u128(9);
    let options = Options::new().config(Config::new().pool_id(id));
    let pool = RunspacePool::connect_over(near, options).await.unwrap();
    assert_eq!((pool.id(), pool.state()), (id, RunspacePoolState::Opened));
    // The server has no such pipeline, which is detected when something is sent.
    let run = pool.connect_pipeline(uuid::Uuid::from_u128(3)).unwrap();
    assert_eq!(run.state(), PipelineState::Running);
    assert_eq!(pool.invoke(PowerShell::script("a")).await.unwrap().output, [Value::from("a")]);
    drop(run);
    pool.close().await.unwrap();
    server.await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_pool_opens_over_a_socket() {
    use psrp::io::{Lines, Socket};
    use psrp::outofproc::Role;

    let directory = std::env::temp_dir().join(format!("psrp-io-client-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("socket");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let server = tokio::spawn(async move {
        let (read, write) = listener.accept().await.unwrap().0.into_split();
        serve(Lines::new(Role::Server, read, write), echo).await;
    });
    let pool = RunspacePool::open(&Socket::new(&path), Options::new()).await.unwrap();
    let output = pool.invoke(PowerShell::script("over a socket")).await.unwrap();
    assert_eq!(output.output, [Value::from("over a socket")]);
    pool.close().await.unwrap();
    server.await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}
