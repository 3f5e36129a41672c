//! Calls of the client's host over a pipe in memory.

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

use crate::served;
use crate::served::{Ask, on_start, open};

/// Makes the calls that a script names, one per word, and gives their answers as output. `later` leaves the pipeline
/// running.
fn caller(machine: &mut RunspacePool, ask: Ask) -> bool {
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
        Ask::Event(Event::HostResponse { pipeline: Some(id), response }) => {
            let mut pipeline = machine.pipeline(id).unwrap();
            let text = match &response.outcome {
                HostOutcome::Error(record) => format!("error: {}", record.message().unwrap().to_str_lossy()),
                HostOutcome::Value(value) => value.as_str().unwrap().to_owned(),
                HostOutcome::Nothing => "nothing".to_owned(),
            };
            pipeline.write_output(text).unwrap();
            pipeline.complete().unwrap();
        }
        Ask::Event(Event::Pipeline { id, event: PipelineEvent::Stop }) => {
            machine.pipeline(id).unwrap().stop().unwrap();
        }
        _ => return has_started,
    }
    true
}

/// Does what a function does, which gets the text of a call, `None` for one that reads.
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
async fn a_host_answers_or_fails() {
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
async fn calls_of_a_pipeline_are_made_in_order_and_before_its_end() {
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
async fn calls_and_events_come_in_order() {
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
            // Others have their turn while an event is worked on.
            tokio::task::yield_now().await;
            log.lock().unwrap().push(value.as_str().unwrap().to_owned());
        }
    }
    assert_eq!(*log.lock().unwrap(), (0..300).map(|number| number.to_string()).collect::<Vec<_>>());
    // A call that waits for a reader keeps nobody from stopping or leaving.
    let run = pool.start(PowerShell::script("")).await.unwrap();
    run.stop().await.unwrap();
    drop(run);
    drop(pool.start(PowerShell::script("")).await.unwrap());
    pool.close().await.unwrap();
}

/// Waits for a word before it answers, and tells when it was given up.
struct Patient {
    called: Notify,
    go_on: Notify,
    given_up: Arc<Notify>,
}

impl Patient {
    fn new() -> Arc<Self> {
        Arc::new(Self { called: Notify::new(), go_on: Notify::new(), given_up: Arc::default() })
    }
}

struct TellDrop(Arc<Notify>);

impl Drop for TellDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Host for Patient {
    fn call(&self, _: Option<Uuid>, _: HostRequest) -> HostFuture<'_> {
        let dropped = TellDrop(Arc::clone(&self.given_up));
        Box::pin(async move {
            let _dropped = dropped;
            self.called.notify_one();
            self.go_on.notified().await;
            Ok(HostResult::Text("at last".into()))
        })
    }
}

#[tokio::test]
async fn others_go_on_while_a_call_is_answered() {
    let host = Patient::new();
    let (pool, _server) = open(Options::new().host(Arc::clone(&host) as _), caller).await;
    let slow = pool.start(PowerShell::script("read")).await.unwrap();
    host.called.notified().await;
    // Another pipeline, which calls nobody, comes to its end.
    let quick = pool.start(PowerShell::script("later")).await.unwrap();
    quick.stop().await.unwrap();
    assert_eq!(quick.output().await.unwrap().state, PipelineState::Stopped);
    host.go_on.notify_one();
    assert_eq!(slow.output().await.unwrap().output, [Value::from("at last")]);
}

#[tokio::test]
async fn a_call_of_a_pipeline_that_ends_is_given_up() {
    let host = Patient::new();
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
async fn a_host_runs_nested_pipelines() {
    let host = Arc::new(Nested::default());
    let options = Options::new().host(Arc::clone(&host) as _);
    let (pool, server) = open(options, |machine, ask| {
        // The nested one ends without a call.
        if let Ask::Event(event) = &ask
            && served::started(event).is_some_and(|(_, script)| script == "line")
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
async fn a_pool_calls_the_host_too() {
    let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let host = Fixed(|_: Option<&str>| Ok(HostResult::Text("typed".into())));
    let (_pool, _server) = open(Options::new().host(Arc::new(host)), move |machine, ask| {
        match ask {
            Ask::Event(Event::Opened(info)) => {
                assert!(!info.host_info.is_host_ui_null);
                machine.host_call(&HostRequest::ReadLine).unwrap();
            }
            Ask::Event(Event::HostResponse { pipeline: None, response }) => {
                sender.send(response.result().unwrap()).unwrap();
            }
            _ => return false,
        }
        true
    })
    .await;
    assert_eq!(answers.recv().await, Some(HostResult::Text("typed".into())));
}
