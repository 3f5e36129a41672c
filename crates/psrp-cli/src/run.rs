//! `psrp run`.

use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use psrp::Value;
use psrp::client::PipelineEvent;
use psrp::io::{self, Output, Session};
use psrp::message::{
    Command, CreatePipeline, PipelineState, PowerShell, RemoteStreamOptions, RunspacePoolState,
};
use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

use crate::args::{ColorWhen, DisplayArgs, JsonStreams, OutputArgs, RunArgs, TargetArgs};
use crate::console::{Channel, ConsoleHost, ConsoleOptions, is_native_output};
use crate::exit::{Exit, Failure};
use crate::interrupts::Interrupts;
use crate::{connect, hosts, json, script};

/// Timeout of the query for the status of the last command.
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of output written at a time.
const BATCH: usize = 64 * 1024;

/// Number of events after which a request to stop is noticed if further events are ready.
const STOP_CHECK_INTERVAL: usize = 4096;

/// Time that the server has to stop a script, and again to close the pool, after `--timeout`.
const STOP_GRACE: Duration = Duration::from_secs(5);

pub(crate) async fn run(mut args: RunArgs) -> Result<Exit, Failure> {
    args.target.buffer_mode = args.disconnect;
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let script = script::read(&args)?;
    let options = ConsoleOptions {
        text_to_errors: args.output.json.is_some(),
        // If standard input is the script or its input, prompts cannot read it.
        without_input: args.input.is_some() || args.inline_script() == Some("-"),
        ..console(&args.display)
    };
    if args.hosts.is_some() {
        return hosts::run(args, script, &options, &interrupts).await;
    }
    let runner = PipelineRunner::new(options.stdio(), interrupts).options(&args.output);
    run_script(&args, &args.target, script, &runner).await
}

/// Runs a script on one server.
pub(crate) async fn run_script(
    args: &RunArgs,
    target: &TargetArgs,
    script: Command,
    runner: &PipelineRunner,
) -> Result<Exit, Failure> {
    let session = connect::open(target, &runner.host, &runner.interrupts).await?;
    let mut shell = PowerShell::new().command(script);
    if args.out_string {
        shell = shell.command(Command::new("Out-String").switch("Stream"));
    }
    let mut create = CreatePipeline::new(shell);
    create.remote_stream_options = RemoteStreamOptions::ERROR;
    create.no_input = args.input.is_none();
    // Otherwise PowerShell restores `$?` at the end.
    create.add_to_history = true;
    if args.disconnect.is_some() {
        return start_disconnected(&session, create, &runner.host).await;
    }
    let exit = runner.pipeline(&session, create, args.input).await;
    runner.finish(&session, exit).await
}

/// Starts a script, disconnects from its session and prints the identifier.
async fn start_disconnected(
    session: &Session,
    create: CreatePipeline,
    host: &ConsoleHost,
) -> Result<Exit, Failure> {
    let pipeline = session.start(create).await.map_err(Failure::connection)?;
    session.disconnect().await.map_err(Failure::connection)?;
    if pipeline.state() == PipelineState::Failed {
        // The server has refused the script.
        pipeline.output().await.and_then(Output::completed).map_err(Failure::connection)?;
    }
    host.print(Channel::Output, session.id().to_string()).await.map_err(Failure::output)?;
    // Ends the connection only.
    let _ = session.close().await;
    Ok(Exit::Ok)
}

/// Returns whether the last command of the script has failed, such as a program with an exit code: `$?` of the session,
/// as for `pwsh -Command`. Sessions that do not allow the query count as successful.
async fn has_failed(session: &Session) -> bool {
    let query = tokio::time::timeout(STATUS_TIMEOUT, session.invoke(PowerShell::script("$?")));
    query.await.is_ok_and(|output| output.is_ok_and(|output| output.output == [Value::Bool(false)]))
}

pub(crate) fn console(display: &DisplayArgs) -> ConsoleOptions {
    let colors = match display.color {
        ColorWhen::Auto => None,
        ColorWhen::Always => Some(true),
        ColorWhen::Never => Some(false),
    };
    ConsoleOptions { colors, without_progress: display.no_progress, ..ConsoleOptions::default() }
}

/// Runs pipelines and shows their events on the console.
pub(crate) struct PipelineRunner {
    pub(crate) host: Arc<ConsoleHost>,
    pub(crate) interrupts: Interrupts,
    /// Streams that are printed as JSON; the others are text.
    pub(crate) json: Option<JsonStreams>,
    /// Adds type names and text forms to JSON.
    pub(crate) types: bool,
    /// Name of the server in JSON, if there are several.
    pub(crate) name: Option<String>,
    /// Time after which a pipeline is stopped.
    pub(crate) timeout: Option<Duration>,
}

impl PipelineRunner {
    /// Creates a runner that prints text.
    pub(crate) fn new(host: Arc<ConsoleHost>, interrupts: Interrupts) -> Self {
        Self { host, interrupts, json: None, types: false, name: None, timeout: None }
    }

    /// Sets the form of the output and the timeout.
    pub(crate) fn options(self, args: &OutputArgs) -> Self {
        let timeout = args.timeout.map(Duration::from_secs);
        Self { json: args.json, types: args.types, timeout, ..self }
    }

    pub(crate) async fn pipeline(
        &self,
        session: &Session,
        create: CreatePipeline,
        input: Option<crate::args::InputFormat>,
    ) -> Result<Exit, Failure> {
        let pipeline = session.start(create).await.map_err(Failure::connection)?;
        let input = input.map(|form| script::send_stdin(form, pipeline.handle()));
        self.output(session, pipeline, input).await
    }

    /// Shows the output of running pipelines, one after the other.
    pub(crate) async fn receive(&self, session: &Session, pipelines: Vec<Uuid>) -> Result<Exit, Failure> {
        let mut exit = Exit::Ok;
        for id in pipelines {
            let pipeline = session.connect_pipeline(id).map_err(Failure::connection)?;
            match self.output(session, pipeline, None).await? {
                Exit::Ok => {}
                other => exit = other,
            }
        }
        Ok(exit)
    }

    /// Shows the events of a pipeline until it ends or its input fails.
    async fn output(
        &self,
        session: &Session,
        mut pipeline: io::Command,
        mut input: Option<oneshot::Receiver<anyhow::Error>>,
    ) -> Result<Exit, Failure> {
        let mut exit = Exit::Ok;
        let mut stopped = None;
        let mut deadline = deadline(self.timeout);
        let mut lines = String::new();
        let mut rounds = 0_usize;
        loop {
            rounds += 1;
            // Endless output that is always ready can be stopped, too.
            let is_check = rounds.is_multiple_of(STOP_CHECK_INTERVAL);
            let ready = if is_check { None } else { poll_once(pipeline.next()).await };
            let next = match ready {
                Some(next) => next,
                None => {
                    self.print(&mut lines).await?;
                    tokio::select! {
                        biased;
                        reason = self.stop_request(stopped.is_some(), deadline) => {
                            if stopped.is_some() {
                                let error = anyhow::anyhow!("the server does not stop the script");
                                return Err(Failure::new(Exit::TimedOut, error));
                            }
                            stopped = Some(reason);
                            deadline = None;
                            let handle = pipeline.handle();
                            // Fails if the pipeline has just ended.
                            tokio::spawn(async move { handle.stop().await });
                            self.host.cancel_prompt();
                            if let (Exit::TimedOut, Some(time)) = (reason, self.timeout) {
                                deadline = Some(Instant::now() + STOP_GRACE);
                                let text = format!("psrp: stopped after {} s (--timeout)", time.as_secs());
                                self.host.print_error(text).await.map_err(Failure::output)?;
                            }
                            continue;
                        }
                        next = pipeline.next() => next,
                    }
                }
            };
            let event = match next {
                None => break,
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    self.print(&mut lines).await?;
                    let _ = self.host.finish().await;
                    return Err(Failure::connection(error));
                }
            };
            match &event {
                PipelineEvent::Error(record) if !is_native_output(record) => exit = Exit::Errors,
                // Ctrl+C at a prompt may fail the script before it can be stopped.
                PipelineEvent::State(info) => match info.state {
                    PipelineState::Failed | PipelineState::Stopped => {
                        exit = match stopped {
                            Some(reason) => reason,
                            None if poll_once(self.host.interrupted()).await.is_some() => Exit::Interrupted,
                            None => Exit::Errors,
                        };
                    }
                    _ => {}
                },
                _ => {}
            }
            let line = self.line(&event);
            if line.is_some() {
                self.host.record_shown(&event);
            }
            match line {
                None => {
                    self.print(&mut lines).await?;
                    self.host.show(event).await.map_err(Failure::output)?;
                }
                Some(Ok(None)) => {}
                Some(Ok(Some(line))) => {
                    lines += &line;
                    lines.push('\n');
                    if lines.len() > BATCH {
                        self.print(&mut lines).await?;
                    }
                }
                Some(Err(error)) => {
                    exit = Exit::Errors;
                    self.print(&mut lines).await?;
                    let text = format!("error: an object can't be written as JSON: {error}");
                    self.host.print_error(text).await.map_err(Failure::output)?;
                }
            }
        }
        self.print(&mut lines).await?;
        self.host.finish().await.map_err(Failure::output)?;
        if let Some(Ok(error)) = input.as_mut().map(oneshot::Receiver::try_recv) {
            return Err(Failure::usage(error));
        }
        match session.state() {
            RunspacePoolState::Opened => Ok(exit),
            // The pool has broken and reported the error in a pipeline event.
            state => Err(Failure::connection(anyhow::anyhow!("the pool is {state}"))),
        }
    }

    /// Returns the line to print for an event, `None` if the host shows the event.
    fn line(&self, event: &PipelineEvent) -> Option<serde_json::Result<Option<String>>> {
        let json = match (self.json, event) {
            (None, PipelineEvent::Output(value)) => return Some(Ok(self.host.text(value))),
            (Some(JsonStreams::Output), PipelineEvent::Output(value)) => {
                json::value(value, self.types).map(Some)
            }
            (Some(JsonStreams::All), event) => json::event(event, self.types),
            _ => return None,
        };
        let (Some(name), Some(streams)) = (&self.name, self.json) else { return Some(json) };
        Some(json.and_then(|json| json.map(|json| json::with_host(name, streams, &json)).transpose()))
    }

    /// Waits until the pipeline has to be stopped and returns the reason. After the first time, only the deadline counts.
    async fn stop_request(&self, is_stopped: bool, deadline: Option<Instant>) -> Exit {
        tokio::select! {
            () = self.interrupted(), if !is_stopped => Exit::Interrupted,
            () = expired(deadline) => Exit::TimedOut,
        }
    }

    /// Waits for Ctrl+C. At a prompt it is received as a key, not as a signal.
    async fn interrupted(&self) {
        tokio::select! {
            () = self.interrupts.wait() => {}
            () = self.host.interrupted() => self.interrupts.raise(),
        }
    }

    async fn print(&self, lines: &mut String) -> Result<(), Failure> {
        let mut lines = std::mem::take(lines);
        if lines.pop().is_none() {
            return Ok(());
        }
        let channel = if self.json.is_none() { Channel::Output } else { Channel::Program };
        self.host.print(channel, lines).await.map_err(Failure::output)
    }

    /// Closes the session after its last pipeline, and returns the exit status of the program.
    pub(crate) async fn finish(
        &self,
        session: &Session,
        mut exit: Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        if matches!(exit, Ok(Exit::Ok)) && self.host.exit_code().is_none() && has_failed(session).await {
            exit = Ok(Exit::Errors);
        }
        let has_hung = exit.as_ref().is_err_and(|failure| failure.exit == Exit::TimedOut);
        let time = if has_hung { STOP_GRACE } else { Duration::MAX };
        let _ = tokio::time::timeout(time, self.close(session)).await;
        Ok(self.exit(exit?))
    }

    /// Closes the pool. Errors are ignored because all work is done.
    pub(crate) async fn close(&self, session: &Session) {
        self.interrupts.reset();
        tokio::select! {
            _ = session.close() => {}
            () = self.interrupts.wait() => {}
        }
    }

    /// Returns the exit code set by a script, otherwise `exit`.
    pub(crate) fn exit(&self, exit: Exit) -> Exit {
        match self.host.exit_code() {
            Some(code) => Exit::Code(code),
            None => exit,
        }
    }
}

/// Returns the end of a time that starts now, `None` if it is not limited.
pub(crate) fn deadline(time: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(time?)
}

/// Waits until a deadline, or forever if there is none.
pub(crate) async fn expired(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Polls a future once and returns its output if it is ready.
async fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = ready(()) => None,
    }
}
