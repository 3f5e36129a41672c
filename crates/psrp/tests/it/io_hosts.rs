//! Host calls over an in-memory pipe.

#![cfg(feature = "tokio")]

use std::sync::{Arc, Mutex};

use psrp::host::{HostOutcome, HostRequest, HostResult};
use psrp::io::{Host, HostFuture, Options};
use psrp::message::{HostInfo, PipelineState, PowerShell};
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::server::{Event, PipelineEvent, RunspacePool};
use psrp::value::Value;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::fake_server;
use crate::fake_server::{AppCall, on_start, open};

/// Makes the host calls named by a script, one per word, and outputs their responses. `later` keeps the pipeline
/// running.
fn caller(machine: &mut RunspacePool, ask: AppCall) -> bool {
    let has_started = on_start(machine, &ask, |pipeline, script| {
        for word in script.split(' ') {
            let request = match word {
                "read" => HostRequest::ReadLine,
                "later" => continue,
                text => HostRequest::WriteLine2 { text: text.into() },
            };
            pipeline.host_call(&request).unwrap();
        }
        if !script.contains("read") && !script.contains("later") {
            pipeline.complete().unwrap();
        }
    });
    match ask {
        AppCall::Event(Event::HostResponse { pipeline: Some(id), response }) => {
            let mut pipeline = machine.pipeline(id).unwrap();
            let text = match &response.outcome {
                HostOutcome::Error(record) => format!("error: {}", record.message().unwrap().to_str_lossy()),
                HostOutcome::Value(value) => value.as_str().unwrap().to_owned(),
                HostOutcome::Nothing => "nothing".to_owned(),
            };
            pipeline.write_output(text).unwrap();
            pipeline.complete().unwrap();
        }
        AppCall::Event(Event::Pipeline { id, event: PipelineEvent::Stop }) => {
            machine.pipeline(id).unwrap().stop().unwrap();
        }
        _ => return has_started,
    }
    true
}

/// A host that calls a function with the text of a call, `None` for one that reads.
struct Fixed<F>(F);

impl<F: Fn(Option<&str>) -> Result<HostResult, Box<ErrorRecord>> + Send + Sync> Host for Fixed<F> {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        let result = match &request {
            HostRequest::WriteLine2 { text } => (self.0)(Some(&text.to_str_lossy())),
            _ => (self.0)(None),
        };
        Box::pin(async move {
            tokio::task::yield_now().await;
            result
        })
    }
}

async fn answer_to_read(options: Options) -> String {
    let (pool, _server) = open(options, caller).await;
    let output = pool.invoke(PowerShell::script("read")).await.unwrap();
    assert_eq!(output.state, PipelineState::Completed);
    output.output[0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn hosts_respond_or_fail() {
    let host = |result: fn() -> Result<HostResult, Box<ErrorRecord>>| {
        Options::new().host(Arc::new(Fixed(move |_: Option<&str>| result())))
    };
    assert_eq!(answer_to_read(host(|| Ok(HostResult::Text("typed".into())))).await, "typed");
    assert_eq!(answer_to_read(host(|| Ok(HostResult::Nothing))).await, "nothing");
    let failing = || Err(Box::new(ErrorRecord::new("out of paper", ErrorCategory::DeviceError)));
    assert_eq!(answer_to_read(host(failing)).await, "error: out of paper");
    assert_eq!(answer_to_read(host(|| panic!("on purpose"))).await, "error: the host of the client panicked");
    assert_eq!(answer_to_read(Options::new()).await, "error: the client has no host");
}

#[tokio::test]
async fn host_calls_run_in_order_and_before_the_end_of_the_pipeline() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let host = {
        let lines = Arc::clone(&lines);
        Fixed(move |text: Option<&str>| {
            lines.lock().unwrap().push(text.unwrap().to_owned());
            Ok(HostResult::Nothing)
        })
    };
    let options = Options::new().host(Arc::new(host)).host_info(HostInfo::lines());
    let (pool, _server) = open(options, caller).await;
    let words: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let output = pool.invoke(PowerShell::script(words.join(" ").as_str())).await.unwrap();
    assert_eq!(output.state, PipelineState::Completed);
    assert_eq!(*lines.lock().unwrap(), words);
}

#[tokio::test]
async fn host_calls_and_events_are_in_order() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let host = {
        let log = Arc::clone(&log);
        Fixed(move |text: Option<&str>| {
            log.lock().unwrap().push(text.unwrap().to_owned());
            Ok(HostResult::Nothing)
        })
    };
    let serve = |machine: &mut RunspacePool, ask| {
        on_start(machine, &ask, |pipeline, _| {
            for number in 0..300 {
                let text = number.to_string();
                match number % 7 % 2 {
                    0 => pipeline.write_output(text).unwrap(),
                    _ => drop(
                        pipeline.host_call(&HostRequest::WriteLine2 { text: text.as_str().into() }).unwrap(),
                    ),
                }
            }
            pipeline.complete().unwrap();
        })
    };
    let (pool, _server) = open(Options::new().host(Arc::new(host)).ordered_host(true), serve).await;
    let mut run = pool.start(PowerShell::script("")).await.unwrap();
    while let Some(event) = run.next().await {
        if let psrp::client::PipelineEvent::Output(value) = event.unwrap() {
            // Other tasks run while an event is processed.
            tokio::task::yield_now().await;
            log.lock().unwrap().push(value.as_str().unwrap().to_owned());
        }
    }
    assert_eq!(*log.lock().unwrap(), (0..300).map(|number| number.to_string()).collect::<Vec<_>>());
    // A blocked call does not prevent stopping or leaving.
    let run = pool.start(PowerShell::script("")).await.unwrap();
    run.stop().await.unwrap();
    drop(run);
    drop(pool.start(PowerShell::script("")).await.unwrap());
    pool.close().await.unwrap();
}

/// Waits for a permit before it responds, and notifies when it is cancelled.
struct BlockingHost {
    called: Notify,
    go_on: Notify,
    given_up: Arc<Notify>,
}

impl BlockingHost {
    fn new() -> Arc<Self> {
        Arc::new(Self { called: Notify::new(), go_on: Notify::new(), given_up: Arc::default() })
    }
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Host for BlockingHost {
    fn call(&self, _: Option<Uuid>, _: HostRequest) -> HostFuture<'_> {
        let dropped = NotifyOnDrop(Arc::clone(&self.given_up));
        Box::pin(async move {
            let _dropped = dropped;
            self.called.notify_one();
            self.go_on.notified().await;
            Ok(HostResult::Text("at last".into()))
        })
    }
}

#[tokio::test]
async fn other_pipelines_continue_during_a_host_call() {
    let host = BlockingHost::new();
    let (pool, _server) = open(Options::new().host(Arc::clone(&host) as _), caller).await;
    let slow = pool.start(PowerShell::script("read")).await.unwrap();
    host.called.notified().await;
    // Another pipeline without calls completes.
    let quick = pool.start(PowerShell::script("later")).await.unwrap();
    quick.stop().await.unwrap();
    assert_eq!(quick.output().await.unwrap().state, PipelineState::Stopped);
    host.go_on.notify_one();
    assert_eq!(slow.output().await.unwrap().output, [Value::from("at last")]);
}

#[tokio::test]
async fn calls_of_ended_pipelines_are_cancelled() {
    let host = BlockingHost::new();
    let (pool, _server) = open(Options::new().host(Arc::clone(&host) as _), caller).await;
    for drops in [false, true] {
        let run = pool.start(PowerShell::script("read")).await.unwrap();
        host.called.notified().await;
        if drops {
            drop(run);
        } else {
            run.stop().await.unwrap();
            assert_eq!(run.output().await.unwrap().state, PipelineState::Stopped);
        }
        host.given_up.notified().await;
    }
    pool.close().await.unwrap();
}

/// Runs a pipeline of its own pool when it is called.
#[derive(Default)]
struct Nested(Mutex<Option<psrp::io::RunspacePool>>);

impl Host for Nested {
    fn call(&self, _: Option<Uuid>, _: HostRequest) -> HostFuture<'_> {
        let pool = self.0.lock().unwrap().clone().unwrap();
        Box::pin(async move {
            let mut shell = PowerShell::script("line");
            shell.is_nested = true;
            let output = pool.invoke(shell).await.unwrap();
            Ok(HostResult::Text(output.state.to_string().into()))
        })
    }
}

#[tokio::test]
async fn hosts_can_run_nested_pipelines() {
    let host = Arc::new(Nested::default());
    let options = Options::new().host(Arc::clone(&host) as _);
    let (pool, server) = open(options, |machine, ask| {
        // The nested pipeline makes no call.
        if let AppCall::Event(event) = &ask
            && fake_server::started(event).is_some_and(|(_, script)| script == "line")
        {
            return on_start(machine, &ask, |pipeline, _| pipeline.complete().unwrap());
        }
        caller(machine, ask)
    })
    .await;
    *host.0.lock().unwrap() = Some(pool.clone());
    let output = pool.invoke(PowerShell::script("read")).await.unwrap();
    assert_eq!(output.output, [Value::from("Completed")]);
    host.0.lock().unwrap().take();
    drop(pool);
    // The last handle closes the pool.
    server.await.unwrap();
}

#[tokio::test]
async fn pools_can_call_the_host() {
    let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let host = Fixed(|_: Option<&str>| Ok(HostResult::Text("typed".into())));
    let (_pool, _server) = open(Options::new().host(Arc::new(host)), move |machine, ask| {
        match ask {
            AppCall::Event(Event::Opened(info)) => {
                assert!(!info.host_info.is_host_ui_null);
                machine.host_call(&HostRequest::ReadLine).unwrap();
            }
            AppCall::Event(Event::HostResponse { pipeline: None, response }) => {
                sender.send(response.result().unwrap()).unwrap();
            }
            _ => return false,
        }
        true
    })
    .await;
    assert_eq!(answers.recv().await, Some(HostResult::Text("typed".into())));
}
