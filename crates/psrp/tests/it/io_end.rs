//! Ends of pipelines, pools and connections.

#![cfg(feature = "tokio")]

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, ready};
use std::time::Duration;

use psrp::Error;
use psrp::io::{ClientLimits, Options, RunspacePool, Transport as _};
use psrp::message::{PipelineState, PowerShell, RunspacePoolState};
use psrp::outofproc::{Packet, Role};
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::server::{self, Event, PipelineEvent};
use psrp::value::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use crate::fake_server::{AppCall, lines, on_start, open, pipe, serve};

/// Starts pipelines that run until they are stopped, and records their events.
fn endless(
    notes: Arc<Mutex<Vec<&'static str>>>,
) -> impl FnMut(&mut server::RunspacePool, AppCall) -> bool + Send {
    move |machine, ask| {
        if on_start(machine, &ask, |pipeline, _| pipeline.write_output("begun").unwrap()) {
            return true;
        }
        let mut notes = notes.lock().unwrap();
        match ask {
            AppCall::Event(Event::Pipeline { id, event: PipelineEvent::Stop }) => {
                notes.push("stop");
                let mut pipeline = machine.pipeline(id).unwrap();
                pipeline.write_output("last").unwrap();
                pipeline.stop().unwrap();
            }
            AppCall::Event(Event::Pipeline { event: PipelineEvent::Closed, .. }) => notes.push("close"),
            AppCall::Event(Event::Closed) => notes.push("closed"),
            _ => return false,
        }
        true
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_without_a_final_state_ends() {
    let (near, mut far) = pipe(4096);
    let (mut machine, mut buffer) = (server::RunspacePool::new(server::Config::new()), Vec::new());
    let server = tokio::spawn(poll_fn(move |cx| {
        loop {
            while let Some(packet) = machine.poll_transmit(1000, &mut buffer) {
                far.send(packet).unwrap();
            }
            let _ = far.poll_flush(cx)?;
            let mut signal = None;
            let mut take = |packet: Packet<'_>| match packet {
                Packet::Signal(id) => {
                    signal = Some(Packet::SignalAck(id));
                    Ok(())
                }
                packet => machine.handle_packet(packet),
            };
            match ready!(far.poll_receive(cx, &mut take)) {
                Some(result) => result?,
                None => return Poll::Ready(Ok::<_, Error>(())),
            }
            if let Some(packet) = signal {
                far.send(packet)?;
            }
        }
    }));
    let pool = RunspacePool::over(near, Options::new()).await.unwrap();
    let run = pool.start(PowerShell::script("")).await.unwrap();
    let start = tokio::time::Instant::now();
    run.stop().await.unwrap();
    let expected = ClientLimits::default().stop_delay + ClientLimits::default().late_records;
    assert!(start.elapsed() >= expected && start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(run.output().await.unwrap().state, PipelineState::Stopped);
    pool.close().await.unwrap();
    server.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stopped_pipeline_delivers_all_its_output() {
    let notes = Arc::default();
    let (pool, server) = open(Options::new(), endless(Arc::clone(&notes))).await;
    let run = pool.start(PowerShell::script("")).await.unwrap();
    run.stop().await.unwrap();
    run.stop().await.unwrap();
    assert_eq!(run.state(), PipelineState::Stopped);
    let output = run.output().await.unwrap();
    assert_eq!(output.state, PipelineState::Stopped);
    assert_eq!(output.output.last(), Some(&Value::from("last")));
    assert_eq!(
        output.completed().unwrap_err().to_string(),
        "the pipeline has not completed: Stopped: The pipeline has been stopped."
    );
    pool.close().await.unwrap();
    server.await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["stop", "close", "closed"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_pipeline_stops_and_closes_it() {
    let notes = Arc::default();
    let (pool, server) = open(
        Options::new().limits(ClientLimits { stop_delay: Duration::ZERO, ..ClientLimits::default() }),
        endless(Arc::clone(&notes)),
    )
    .await;
    let mut run = pool.start(PowerShell::script("")).await.unwrap();
    while !matches!(run.next().await, Some(Ok(psrp::client::PipelineEvent::Output(_)))) {}
    drop(run);
    while !pool.pipelines().is_empty() {
        tokio::task::yield_now().await;
    }
    // Also when a future that runs a pipeline is dropped. The paused clock does not advance until the pipeline runs and
    // waits.
    let invoked = tokio::time::timeout(Duration::from_millis(50), pool.invoke(PowerShell::script(""))).await;
    assert!(invoked.is_err());
    drop(pool);
    server.await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["stop", "close", "stop", "close", "closed"]);
}

#[tokio::test]
async fn closing_a_pool_stops_its_pipelines() {
    let notes = Arc::default();
    let (pool, server) = open(Options::new(), endless(Arc::clone(&notes))).await;
    let mut run = pool.start(PowerShell::script("")).await.unwrap();
    let other = pool.clone();
    let (one, two) = tokio::join!(pool.close(), other.close());
    one.unwrap();
    two.unwrap();
    server.await.unwrap();
    assert_eq!(*notes.lock().unwrap(), ["stop", "close", "closed"]);
    while let Some(event) = run.next().await {
        if let Err(error) = event {
            panic!("{error}");
        }
    }
    assert_eq!(run.state(), PipelineState::Stopped);
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_closed());
    assert_eq!(pool.state(), RunspacePoolState::Closed);
    pool.close().await.unwrap();
}

/// Ends the pool, and checks that all pending operations fail with the same cause.
async fn all_fail(pool: RunspacePool, end: impl FnOnce()) -> Error {
    let run = pool.start(PowerShell::script("")).await.unwrap();
    let mut other = pool.start(PowerShell::script("")).await.unwrap();
    let handle = other.handle();
    let output = tokio::spawn(run.output());
    let asked = tokio::spawn({
        let pool = pool.clone();
        async move { pool.get_available_runspaces().await }
    });
    let stopped = tokio::spawn({
        let handle = other.handle();
        async move { handle.stop().await }
    });
    while !matches!(other.next().await, Some(Ok(psrp::client::PipelineEvent::Output(_)))) {}
    end();
    for error in [
        output.await.unwrap().unwrap_err(),
        asked.await.unwrap().unwrap_err(),
        stopped.await.unwrap().unwrap_err(),
    ] {
        assert!(error.is_closed(), "{error}");
    }
    let mut last = None;
    while let Some(event) = other.next().await {
        last = Some(event);
    }
    assert!(last.unwrap().unwrap_err().is_closed());
    assert!(handle.send(1).await.unwrap_err().is_closed());
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_closed());
    assert_eq!(pool.state(), RunspacePoolState::Broken);
    assert!(pool.close().await.unwrap_err().is_closed());
    pool.closed().await
}

/// Starts pipelines and does not respond to anything else.
fn deaf(machine: &mut server::RunspacePool, ask: AppCall) -> bool {
    on_start(machine, &ask, |pipeline, _| pipeline.write_output("begun").unwrap())
}

#[tokio::test]
async fn the_end_of_the_connection_fails_all_operations() {
    let (pool, server) = open(Options::new(), deaf).await;
    let error = all_fail(pool, || server.abort()).await;
    assert_eq!(error.to_string(), "the connection has ended: closed by the server");
}

#[tokio::test]
async fn a_broken_pool_fails_all_operations() {
    let is_broken = Arc::new(Mutex::new(false));
    let (pool, _server) = open(Options::new(), {
        let is_broken = Arc::clone(&is_broken);
        move |machine, ask| {
            if deaf(machine, ask) {
                return true;
            }
            if !std::mem::take(&mut *is_broken.lock().unwrap()) {
                return false;
            }
            machine
                .set_broken(ErrorRecord::new("out of \u{7}memory", ErrorCategory::LimitsExceeded))
                .unwrap();
            true
        }
    })
    .await;
    let run = pool.start(PowerShell::script("")).await.unwrap();
    *is_broken.lock().unwrap() = true;
    // A packet that makes the server poll.
    drop(pool.start(PowerShell::script("")).await.unwrap());
    let output = run.output().await.unwrap();
    assert_eq!(output.state, PipelineState::Failed);
    let error = pool.closed().await;
    let text = "the connection has ended: the server reports the pool as broken: out of \\u{7}memory";
    assert_eq!(error.to_string(), text);
}

/// Returns the client's error after these bytes in a session, and whether it has a source.
async fn error_of_garbage(garbage: &'static [u8]) -> (Error, bool) {
    let (client, middle) = tokio::io::duplex(4096);
    let (other_middle, server) = tokio::io::duplex(4096);
    tokio::spawn(serve(lines(Role::Server, server), deaf));
    let inject = Arc::new(Notify::new());
    tokio::spawn({
        let inject = Arc::clone(&inject);
        async move {
            let (mut from_client, mut to_client) = tokio::io::split(middle);
            let (mut from_server, mut to_server) = tokio::io::split(other_middle);
            let mut buffer = [0; 4096];
            let upwards = tokio::io::copy(&mut from_client, &mut to_server);
            let downwards = async {
                loop {
                    tokio::select! {
                        count = from_server.read(&mut buffer) => {
                            to_client.write_all(&buffer[..count.unwrap()]).await.unwrap();
                        }
                        () = inject.notified() => to_client.write_all(garbage).await.unwrap(),
                    }
                }
            };
            tokio::select! {
                _ = upwards => {}
                () = downwards => {}
            }
        }
    });
    let pool = RunspacePool::over(lines(Role::Client, client), Options::new()).await.unwrap();
    let error = all_fail(pool, || inject.notify_one()).await;
    let is_cause = error.source().is_some_and(|source| source.is::<Error>());
    (error, is_cause)
}

#[tokio::test]
async fn garbage_fails_all_operations() {
    let garbage: [&[u8]; 5] = [
        b"<Unknown PSGuid='00000000-0000-0000-0000-000000000000' />\n",
        b"<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>!</Data>\n",
        b"<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>AAAAAAAAAAAAAAAAAAAAAAAAAAAA</Data>\n",
        b"<Close PSGuid='00000000-0000-0000-0000-000000000000' />\n",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]>\n",
    ];
    for bytes in garbage {
        let (error, is_cause) = error_of_garbage(bytes).await;
        assert!(is_cause, "{error:?}");
    }
    let (error, _) = error_of_garbage(b"__NamedPipeError__:out of pipes\n").await;
    assert!(error.to_string().contains("out of pipes"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_stays_open() {
    let (pool, _server) = open(Options::new(), deaf).await;
    let mut run = pool.start(PowerShell::script("")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(7 * 24 * 3600)).await;
    assert!(run.next().await.unwrap().is_ok());
    assert_eq!(pool.state(), RunspacePoolState::Opened);
}

#[tokio::test(start_paused = true)]
async fn timeouts_fail_operations() {
    // The pool is never opened.
    let (near, _far) = pipe(4096);
    let error = RunspacePool::over(near, Options::new()).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");

    // The pipeline is not stopped, but closed.
    let (pool, server) = open(Options::new(), deaf).await;
    let run = pool.start(PowerShell::script("")).await.unwrap();
    let error = run.stop().await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    drop(run);
    pool.close().await.unwrap();
    server.await.unwrap();

    // The server hangs.
    let hang = Arc::new(Notify::new());
    let (near, far) = pipe(4096);
    let server = tokio::spawn({
        let hang = Arc::clone(&hang);
        async move {
            let mut server = pin!(serve(far, deaf));
            tokio::select! {
                () = &mut server => {}
                () = hang.notified() => std::future::pending().await,
            }
        }
    });
    let pool = RunspacePool::over(near, Options::new()).await.unwrap();
    hang.notify_one();
    let error = pool.close().await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert!(error.source().unwrap().downcast_ref::<Error>().unwrap().is_timeout(), "{error:?}");
    server.abort();
}

#[test]
fn dropping_the_runtime_ends_the_pool() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let (pool, run) = first.block_on(async {
        let (pool, _server) = open(Options::new(), deaf).await;
        let run = pool.start(PowerShell::script("")).await.unwrap();
        (pool, run)
    });
    drop(first);
    let error = runtime().block_on(run.output()).unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert_eq!(pool.state(), RunspacePoolState::Broken);
}

/// A process that keeps running when its input is closed.
#[cfg(unix)]
#[tokio::test]
async fn a_process_that_does_not_exit_is_killed() {
    use std::future::poll_fn;

    use psrp::io::{Child, Connect, Transport};

    let child = Child::new("sh").args(["-c", "exec sleep 600"]).exit_timeout(Duration::from_millis(1));
    let mut transport = child.connect().await.unwrap();
    assert!(transport.id().is_some());
    poll_fn(|cx| transport.poll_close(cx)).await.unwrap();
    assert_eq!(transport.id(), None);
}
