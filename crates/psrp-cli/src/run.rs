//! `psrp run`.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use psrp::Error;
use psrp::client::PipelineEvent;
use psrp::io::RunspacePool;
use psrp::message::{
    Command, CreatePipeline, PipelineState, PowerShell, RemoteStreamOptions, RunspacePoolState,
};

use crate::args::{ColorWhen, JsonStreams, LookArgs, RunArgs};
use crate::console::{ConsoleHost, ConsoleOptions};
use crate::interrupts::Interrupts;
use crate::json::Form;
use crate::screen::Screen;
use crate::{Exit, Failure, connect, script};

/// Bytes of the output that are written at a time.
const BATCH: usize = 64 * 1024;

/// Runs one script.
pub(crate) async fn run(args: RunArgs) -> Result<Exit, Failure> {
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let text = script::read(&args)?;
    let mut options = console(&args.look);
    if args.json.is_some() {
        options = options.text_to_errors();
    }
    // What the script or its input come from is no answer to a prompt.
    let host = Screen::new(match args.input.is_some() || args.script.as_deref() == Some("-") {
        true => options.without_input().stdio(),
        false => options.stdio(),
    });
    let host = Arc::new(host);
    let pool = connect::open(&args.target, &host, &interrupts).await?;
    let mut shell = PowerShell::script(text);
    if args.out_string {
        shell = shell.command(Command::new("Out-String").switch("Stream"));
    }
    let mut create = CreatePipeline::new(shell);
    create.remote_stream_options = RemoteStreamOptions::ERROR;
    create.no_input = args.input.is_none();
    let session = Session { host, interrupts, show: Show::new(args.json, args.types) };
    let exit = session.pipeline(&pool, create, args.input).await;
    session.close(&pool).await;
    Ok(session.exit(exit?))
}

/// How the console looks.
pub(crate) fn console(look: &LookArgs) -> ConsoleOptions {
    let options = match look.color {
        ColorWhen::Auto => ConsoleOptions::new(),
        ColorWhen::Always => ConsoleOptions::new().colors(true),
        ColorWhen::Never => ConsoleOptions::new().colors(false),
    };
    if look.no_progress { options.without_progress() } else { options }
}

/// What is shown in which form.
pub(crate) enum Show {
    /// Everything as text.
    Text,
    /// The output as JSON, everything else as text.
    Output(Form),
    /// Everything as JSON.
    All(Form),
}

impl Show {
    fn new(json: Option<JsonStreams>, types: bool) -> Self {
        match json {
            None => Self::Text,
            Some(JsonStreams::Output) => Self::Output(Form { types }),
            Some(JsonStreams::All) => Self::All(Form { types }),
        }
    }

    /// The line of the output for an event, `None` if the host shows it.
    fn line(&self, event: &PipelineEvent) -> Option<serde_json::Result<Option<String>>> {
        match (self, event) {
            (Self::Text, PipelineEvent::Output(value)) => Some(Ok(ConsoleHost::text(value))),
            (Self::Output(form), PipelineEvent::Output(value)) => Some(form.value(value).map(Some)),
            (Self::All(form), event) => Some(form.event(event)),
            _ => None,
        }
    }
}

/// Pipelines at a console.
pub(crate) struct Session {
    pub(crate) host: Arc<Screen>,
    pub(crate) interrupts: Interrupts,
    pub(crate) show: Show,
}

/// What is to be done next.
enum Step {
    Event(Option<Result<PipelineEvent, Error>>),
    Stop,
}

impl Session {
    /// Runs a pipeline and shows what it sends.
    pub(crate) async fn pipeline(
        &self,
        pool: &RunspacePool,
        create: CreatePipeline,
        input: Option<crate::args::InputForm>,
    ) -> Result<Exit, Failure> {
        let mut pipeline = pool.start(create).await.map_err(Failure::connection)?;
        let mut input = input.map(|form| script::feed(form, pipeline.handle()));
        let (mut exit, mut is_stopped) = (Exit::Ok, false);
        let mut lines = String::new();
        loop {
            let step = match now(pipeline.next()).await {
                Some(event) => Step::Event(event),
                None => {
                    self.print(&mut lines).await?;
                    tokio::select! {
                        event = pipeline.next() => Step::Event(event),
                        () = self.interrupts.wait(), if !is_stopped => Step::Stop,
                        () = self.host.interrupted(), if !is_stopped => {
                            // The key raised no signal: the terminal handed it to the prompt.
                            self.interrupts.raise();
                            Step::Stop
                        }
                    }
                }
            };
            let event = match step {
                Step::Event(None) => break,
                Step::Event(Some(Ok(event))) => event,
                Step::Event(Some(Err(error))) => {
                    self.print(&mut lines).await?;
                    let _ = self.host.finish().await;
                    return Err(Failure::connection(error));
                }
                Step::Stop => {
                    is_stopped = true;
                    let handle = pipeline.handle();
                    // It fails where the pipeline has just ended by itself.
                    tokio::spawn(async move { handle.stop().await });
                    continue;
                }
            };
            match &event {
                PipelineEvent::Error(_) => exit = Exit::Errors,
                // A prompt that was left by Ctrl+C may fail the script before it can be stopped.
                PipelineEvent::State(info) => match info.state {
                    PipelineState::Failed | PipelineState::Stopped => {
                        exit = match is_stopped || now(self.host.interrupted()).await.is_some() {
                            true => Exit::Interrupted,
                            false => Exit::Errors,
                        };
                    }
                    _ => {}
                },
                _ => {}
            }
            let line = self.show.line(&event);
            if line.is_some() {
                self.host.note(&event);
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
        if let Some(Ok(error)) = input.as_mut().map(tokio::sync::oneshot::Receiver::try_recv) {
            return Err(Failure::usage(error));
        }
        match pool.state() {
            RunspacePoolState::Opened => Ok(exit),
            // The pool took the pipeline with it, which has told the reason.
            state => Err(Failure::connection(anyhow::anyhow!("the pool is {state}"))),
        }
    }

    /// Writes the pending lines.
    async fn print(&self, lines: &mut String) -> Result<(), Failure> {
        let mut lines = std::mem::take(lines);
        if lines.pop().is_none() {
            return Ok(());
        }
        match self.show {
            Show::Text => self.host.print(lines).await.map_err(Failure::output),
            Show::Output(_) | Show::All(_) => self.host.print_own(lines).await.map_err(Failure::output),
        }
    }

    /// Closes the pool as far as that works: what was to be done is done.
    pub(crate) async fn close(&self, pool: &RunspacePool) {
        self.interrupts.forget();
        tokio::select! {
            _ = pool.close() => {}
            () = self.interrupts.wait() => {}
        }
    }

    /// What the program ends with, if a script has not said it.
    pub(crate) fn exit(&self, exit: Exit) -> Exit {
        match self.host.exit_code() {
            // Systems keep the lowest byte alone.
            Some(code) => Exit::Code((code & 0xFF) as u8),
            None => exit,
        }
    }
}

/// What a future gives if it is there already.
async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}
