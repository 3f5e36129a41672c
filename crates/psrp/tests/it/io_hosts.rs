//! Host calls over an in-memory pipe.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use psrp::client::{Config, PipelineEvent};
use psrp::host::{HostMethod, HostRequest, HostResult};
use psrp::io::{Host, HostFuture, Options, ScriptedHost, serve};
use psrp::message::{HostInfo, PipelineState, PowerShell};
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::value::Value;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::handler::TestSession;

/// Opens a session of a client with these options.
pub(crate) async fn session(options: Options) -> TestSession {
    TestSession::with(Config::new(), options, serve::Options::default()).await
}

#[tokio::test]
async fn hosts_respond_or_fail() {
    let host = |result: fn() -> Result<HostResult, Box<ErrorRecord>>| {
        Options::new().host(Arc::new(ScriptedHost::new().always(HostMethod::ReadLine, move |_| result())))
    };
    let failing = || Err(Box::new(ErrorRecord::new("out of paper", ErrorCategory::DeviceError)));
    for (options, expected) in [
        (host(|| Ok(HostResult::Text("typed".into()))), Ok(Value::from("typed"))),
        (host(|| Ok(HostResult::Nothing)), Ok(Value::Nil)),
        (host(failing), Err("out of paper")),
        (host(|| panic!("on purpose")), Err("the host of the client panicked")),
        (Options::new(), Err("the client has no host")),
    ] {
        let output = session(options).await.pool.invoke(PowerShell::script("ask")).await.unwrap();
        match expected {
            Ok(value) => assert_eq!((output.state, output.output), (PipelineState::Completed, vec![value])),
            Err(text) => assert_eq!(output.reason.unwrap().message().unwrap(), &text),
        }
    }
}

#[tokio::test]
async fn host_calls_run_in_order_and_before_the_end_of_the_pipeline() {
    let host = Arc::new(ScriptedHost::new());
    let options = Options::new().host(Arc::clone(&host) as _).host_info(HostInfo::lines());
    let served = session(options).await;
    let output = served.pool.invoke(PowerShell::script("alternate 300")).await.unwrap();
    assert_eq!(output.state, PipelineState::Completed);
    let lines = (0..300).filter(|number| number % 7 % 2 == 1).map(|number| format!("{number}\n"));
    assert_eq!(host.written(), lines.collect::<String>());
    served.close().await;
}

#[tokio::test]
async fn host_calls_and_events_are_in_order() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let host = {
        let log = Arc::clone(&log);
        ScriptedHost::new().always(HostMethod::WriteLine2, move |request| {
            let HostRequest::WriteLine2 { text } = request else { panic!("{request:?}") };
            log.lock().unwrap().push(text.to_string());
            Ok(HostResult::Nothing)
        })
    };
    let served = session(Options::new().host(Arc::new(host)).ordered_host(true)).await;
    let mut run = served.pool.start(PowerShell::script("alternate 300")).await.unwrap();
    while let Some(event) = run.next().await {
        if let PipelineEvent::Output(value) = event.unwrap() {
            // Other tasks run while an event is processed.
            tokio::task::yield_now().await;
            log.lock().unwrap().push(value.as_str().unwrap().to_owned());
        }
    }
    assert_eq!(*log.lock().unwrap(), (0..300).map(|number| number.to_string()).collect::<Vec<_>>());
    // A blocked call does not prevent stopping or leaving.
    let run = served.pool.start(PowerShell::script("alternate 300")).await.unwrap();
    run.stop().await.unwrap();
    drop(run);
    drop(served.pool.start(PowerShell::script("alternate 300")).await.unwrap());
    served.close().await;
}

/// Waits for a permit before it responds.
#[derive(Default)]
pub(crate) struct BlockingHost {
    called: Notify,
    go_on: Notify,
    /// Cloned by each running call.
    running: Arc<()>,
}

impl Host for BlockingHost {
    fn call(&self, _: Option<Uuid>, _: HostRequest) -> HostFuture<'_> {
        let running = Arc::clone(&self.running);
        Box::pin(async move {
            self.called.notify_one();
            self.go_on.notified().await;
            drop(running);
            Ok(HostResult::Text("at last".into()))
        })
    }
}

#[tokio::test]
async fn other_pipelines_continue_during_a_host_call() {
    let host = Arc::new(BlockingHost::default());
    let TestSession { pool, .. } =
        session(Options::new().host(Arc::clone(&host) as _).runspaces(1..=2)).await;
    let slow = pool.start(PowerShell::script("ask")).await.unwrap();
    host.called.notified().await;
    // Another pipeline without calls completes.
    assert_eq!(pool.invoke(PowerShell::script("count 1")).await.unwrap().output, [Value::from(0)]);
    host.go_on.notify_one();
    assert_eq!(slow.output().await.unwrap().output, [Value::from("at last")]);
}

#[tokio::test(start_paused = true)]
async fn responses_arrive_behind_unread_input() {
    // The server accepts four times its limit before a response.
    for (count, expected) in [(40, PipelineState::Completed), (200, PipelineState::Failed)] {
        let host = Arc::new(BlockingHost::default());
        let options = Options::new().host(Arc::clone(&host) as _);
        let server = serve::Options { max_input_bytes: 20_000, ..serve::Options::default() };
        let served = TestSession::with(Config::new(), options, server).await;
        let run = served.pool.start_with_input(PowerShell::script("ask")).await.unwrap();
        host.called.notified().await;
        for _ in 0..count {
            // Fails if the pipeline has already failed.
            let _ = run.send("x".repeat(1000)).await;
        }
        // Until all input is sent that the server accepts.
        sleep(Duration::from_secs(1)).await;
        host.go_on.notify_one();
        let output = timeout(Duration::from_secs(60), run.output()).await.expect("no deadlock").unwrap();
        assert_eq!(output.state, expected);
        served.close().await;
    }
}

#[tokio::test]
async fn calls_of_ended_pipelines_are_cancelled() {
    let host = Arc::new(BlockingHost::default());
    let served = session(Options::new().host(Arc::clone(&host) as _)).await;
    for drops in [false, true] {
        let run = served.pool.start(PowerShell::script("ask")).await.unwrap();
        host.called.notified().await;
        if drops {
            drop(run);
        } else {
            run.stop().await.unwrap();
            assert_eq!(run.output().await.unwrap().state, PipelineState::Stopped);
        }
        while Arc::strong_count(&host.running) > 1 {
            tokio::task::yield_now().await;
        }
    }
    served.close().await;
}

/// Runs a pipeline of its own pool when it is called.
#[derive(Default)]
struct Nested(Mutex<Option<psrp::io::Session>>);

impl Host for Nested {
    fn call(&self, _: Option<Uuid>, _: HostRequest) -> HostFuture<'_> {
        let pool = self.0.lock().unwrap().clone().unwrap();
        Box::pin(async move {
            let mut shell = PowerShell::script("nested");
            shell.is_nested = true;
            let output = pool.invoke(shell).await.unwrap();
            Ok(HostResult::Text(output.state.to_string().into()))
        })
    }
}

#[tokio::test]
async fn hosts_can_run_nested_pipelines() {
    let host = Arc::new(Nested::default());
    let TestSession { pool, ended, .. } = session(Options::new().host(Arc::clone(&host) as _)).await;
    *host.0.lock().unwrap() = Some(pool.clone());
    let output = pool.invoke(PowerShell::script("ask")).await.unwrap();
    assert_eq!(output.output, [Value::from("Completed")]);
    host.0.lock().unwrap().take();
    drop(pool);
    // The last handle closes the pool.
    assert_eq!(ended.await.unwrap().unwrap(), serve::SessionEnd::Closed);
}
