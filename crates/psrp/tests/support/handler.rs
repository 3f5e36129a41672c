//! A handler for tests, and in-memory sessions with it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use psrp::host::{HostRequest, HostResult};
use psrp::io;
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, Session, SessionEnd, serve};
use psrp::message::{CommandMetadata, CreatePipeline, GetCommandMetadata, UserEvent};
use psrp::record::{CommandTypes, ErrorCategory, ErrorRecord, InformationRecord, InformationalRecord};
use psrp::value::{Progress, Value};
use psrp::{Error, client};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::transport::{Fault, TestTransport};
pub(crate) use crate::transport::{Pipe, pipe};

/// Executes the text of a script, and counts events.
#[derive(Debug, Default)]
pub(crate) struct TestHandler {
    /// Number of pipelines started.
    pub(crate) started: AtomicUsize,
    /// Number of pipelines running.
    pub(crate) running: AtomicUsize,
    /// Maximum number of pipelines running at a time.
    pub(crate) most: AtomicUsize,
    /// Number of objects written or read.
    pub(crate) objects: AtomicUsize,
    /// Number of sessions ended.
    pub(crate) closed: AtomicUsize,
    /// Permits for `wait` and for resets of the runspace.
    pub(crate) gate: Gate,
    pub(crate) refuses: bool,
}

#[derive(Debug)]
pub(crate) struct Gate(pub(crate) Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

/// Counts a future as running until it is dropped.
struct RunningGuard<'a>(&'a AtomicUsize);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TestHandler {
    /// Returns the value of a counter.
    pub(crate) fn count(counter: &AtomicUsize) -> usize {
        counter.load(Ordering::SeqCst)
    }

    /// Waits until a counter has a value.
    pub(crate) async fn reach(counter: &AtomicUsize, value: usize) {
        while Self::count(counter) != value {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until a counter stops changing. With a paused clock, until all tasks are idle.
    pub(crate) async fn settle(counter: &AtomicUsize) -> usize {
        let mut before = usize::MAX;
        loop {
            let now = Self::count(counter);
            if now == before {
                return now;
            }
            before = now;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Handler for TestHandler {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, mut input: Input) -> Outcome {
        self.started.fetch_add(1, Ordering::SeqCst);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let _running = RunningGuard(&self.running);
        let script = create.power_shell.statements().flatten().next().map(|command| command.text.to_string());
        let script = script.unwrap_or_default();
        let (verb, argument) = script.split_once(' ').unwrap_or((&script, ""));
        match verb {
            "count" => {
                for number in 0..argument.parse::<i32>().unwrap() {
                    pipeline.output(number).await?;
                    self.objects.fetch_add(1, Ordering::SeqCst);
                }
            }
            // Writes to all streams, and fails if the argument says so.
            "streams" => {
                let record = InformationalRecord::new;
                pipeline.output("output").await?;
                pipeline.error(ErrorRecord::new("error", ErrorCategory::NotSpecified)).await?;
                pipeline.warning(record("warning")).await?;
                pipeline.verbose(record("verbose")).await?;
                pipeline.debug(record("debug")).await?;
                pipeline.information(InformationRecord::new("information")).await?;
                for percent_complete in [10, 20] {
                    let progress = Progress { percent_complete, ..Progress::new(1, "progress", "working") };
                    pipeline.progress(progress).await?;
                }
                pipeline.output(Value::Nil).await?;
                if argument == "fail" {
                    let record = ErrorRecord::new("no \u{1b}[31mmore", ErrorCategory::InvalidOperation);
                    return Err(record.into());
                }
            }
            "echo" => {
                while let Some(value) = input.next().await {
                    self.objects.fetch_add(1, Ordering::SeqCst);
                    pipeline.output(value).await?;
                }
            }
            // Ends before its input.
            "head" => {
                for _ in 0..argument.parse::<i32>().unwrap() {
                    pipeline.output(input.next().await.expect("more input")).await?;
                }
            }
            // Reads nothing until permitted.
            "slow" => {
                drop(self.gate.0.acquire().await.unwrap());
                while input.next().await.is_some() {
                    self.objects.fetch_add(1, Ordering::SeqCst);
                }
            }
            "wait" => drop(self.gate.0.acquire().await.unwrap()),
            "fail" => return Err(ErrorRecord::new(argument, ErrorCategory::InvalidData).into()),
            "panic" => panic!("as it should"),
            "polite" => {
                pipeline.stopping().await;
                pipeline.output("last words").await?;
            }
            "stubborn" => {
                drop(pipeline.stopping());
                std::future::pending().await
            }
            "ask" => {
                let answer = pipeline.host(HostRequest::ReadLine).await?;
                pipeline.output(HostResult::to_value(&answer)).await?;
            }
            // Host calls and output.
            "alternate" => {
                for number in 0..argument.parse::<i32>().unwrap() {
                    let text = number.to_string();
                    match number % 7 % 2 {
                        0 => pipeline.output(text).await?,
                        _ => drop(pipeline.host(HostRequest::WriteLine2 { text: text.into() }).await?),
                    }
                }
            }
            // Two calls at once; the second response is not awaited.
            "impatient" => {
                let late = pipeline.host(HostRequest::ReadLine);
                assert!(tokio::time::timeout(Duration::from_millis(10), late).await.is_err());
                self.gate.0.add_permits(1);
                let answer = pipeline.host(HostRequest::GetName).await?;
                pipeline.output(HostResult::to_value(&answer)).await?;
            }
            "session" => {
                let session = pipeline.session();
                assert!(!session.init().host_info.is_host_ui_null);
                let answer = session.host(HostRequest::GetName).await?;
                session.send_event(UserEvent { event_identifier: 7, ..UserEvent::default() }).await?;
                pipeline.output(HostResult::to_value(&answer)).await?;
            }
            "break" => {
                let record = ErrorRecord::new(argument, ErrorCategory::ResourceUnavailable);
                pipeline.session().break_pool(record)?;
            }
            "secret" => {
                for number in 0..argument.parse::<i32>().unwrap() {
                    pipeline.output(psrp::value::SecureString::new(&format!("secret {number}"))).await?;
                    self.objects.fetch_add(1, Ordering::SeqCst);
                }
            }
            _ => pipeline.output(Value::from(&*script)).await?,
        }
        Ok(())
    }

    async fn commands(&self, get: GetCommandMetadata, _: Pipeline) -> Outcome<Vec<CommandMetadata>> {
        Ok(get.names.into_iter().map(|name| CommandMetadata::new(name, CommandTypes::CMDLET)).collect())
    }

    async fn opened(&self, _: &Session) -> Outcome {
        match self.refuses {
            true => Err(ErrorRecord::new("not today", ErrorCategory::PermissionDenied).into()),
            false => Ok(()),
        }
    }

    async fn closed(&self, _: &Result<SessionEnd, Error>) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn set_max_runspaces(&self, count: i32) -> bool {
        count <= 8
    }

    async fn reset_runspace(&self, _: &Session) -> bool {
        drop(self.gate.0.acquire().await.unwrap());
        true
    }
}

/// An in-memory session: the client, the handler, and the result of the server.
pub(crate) struct TestSession {
    pub(crate) pool: io::Session,
    pub(crate) handler: Arc<TestHandler>,
    pub(crate) ended: JoinHandle<Result<SessionEnd, Error>>,
    /// Signals and closes received by the server.
    pub(crate) log: Arc<Mutex<Vec<&'static str>>>,
}

impl TestSession {
    pub(crate) async fn new() -> Self {
        Self::with(client::Config::new(), io::Options::new(), Options::default()).await
    }

    /// Opens a pool with this number of runspaces.
    pub(crate) async fn runspaces(max: i32) -> Self {
        Self::with(client::Config::new(), io::Options::new().runspaces(1..=max), Options::default()).await
    }

    pub(crate) async fn with(config: client::Config, client: io::Options, server: Options) -> Self {
        let (near, far) = pipe(4096);
        let far = TestTransport::new(far, Fault::None);
        let (handler, log) = (Arc::new(TestHandler::default()), far.log.clone());
        let ended = tokio::spawn(serve(far, handler.clone(), server));
        let pool = io::Session::over(near, client.config(config)).await.unwrap();
        Self { pool, handler, ended, log }
    }

    /// Closes the session, and checks that both ends succeed.
    pub(crate) async fn close(self) {
        self.pool.close().await.unwrap();
        assert_eq!(self.ended.await.unwrap().unwrap(), SessionEnd::Closed);
        assert_eq!(TestHandler::count(&self.handler.running), 0);
        assert_eq!(TestHandler::count(&self.handler.closed), 1);
    }
}
