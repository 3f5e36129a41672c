//! Host that interacts with the user on a terminal.

mod convert;
mod dedup;
mod editor;
mod keys;
mod progress;
mod prompt;
mod screen;
mod session;
mod show;
mod stdio;
mod style;
mod terminal;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{self, Arc, PoisonError};

use psrp::client::PipelineEvent;
use psrp::host::{HostMethod, HostRequest, HostResult};
use psrp::io::{Host, HostFuture, NullHost};
use psrp::message::HostInfo;
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::value::Value;
use tokio::sync::{Mutex, Notify};
use uuid::Uuid;
use zeroize::Zeroizing;

use self::dedup::Deduplicator;
use self::progress::ProgressBars;
pub(crate) use self::session::CallError;
use self::session::Session;
pub(crate) use self::show::is_native_output;
use self::stdio::{PrefixedStdio, Stdio};
use self::style::Style;
pub(crate) use self::style::allows_colors;
use self::terminal::Terminal;
pub(crate) use self::terminal::{Channel, Echo};

/// The terminal of this process, or any reader and writer, as a PowerShell host.
///
/// Script output goes to standard output; prompts, errors, warnings, messages and progress bars go to standard error.
/// All text from the server is made safe for the terminal ([`printable`](crate::printable::printable)).
///
/// - If the output is no terminal, there are no colours and no progress bars. `NO_COLOR` and `TERM=dumb` disable
///   colours, too.
/// - If the input is no terminal, prompts read lines from it, including passwords. At its end the prompt fails in the
///   script.
/// - On a terminal, passwords are not echoed. Ctrl+C at a prompt fails it and is reported by
///   [`interrupted`](Self::interrupted). All other calls wait until the prompt is answered.
/// - Keys, size, cursor, title and colours of the window are available if input and both outputs are a terminal.
///   Scripts can clear the window, but not read, fill or scroll its contents.
///
/// Calls run on blocking threads, not on the runtime's.
pub(crate) struct ConsoleHost {
    /// Responds to calls about the host's identity.
    identity: NullHost,
    info: HostInfo,
    session: Arc<Mutex<Session>>,
    shown: Deduplicator,
    interrupts: Notify,
    cancelled: Notify,
    exit_code: sync::Mutex<Option<i32>>,
    is_interactive: bool,
    /// Kind of the last output object, 0 before the first.
    last_output: AtomicU8,
}

const LAST_IS_TEXT: u8 = 1;
const LAST_HAS_PROPERTIES: u8 = 2;

#[derive(Clone, Debug, Default)]
pub(crate) struct ConsoleOptions {
    /// Sends script output to standard error instead of standard output.
    pub(crate) text_to_errors: bool,
    /// Prompts fail with end of input instead of reading standard input.
    pub(crate) without_input: bool,
    /// Enables or disables colours. Default: enabled if the output is a terminal and `NO_COLOR` is not set.
    pub(crate) colors: Option<bool>,
    /// Hides progress bars. Default: shown if standard error is a terminal.
    pub(crate) without_progress: bool,
}

impl ConsoleOptions {
    /// Creates a host on the standard streams of this process.
    pub(crate) fn stdio(self) -> Arc<ConsoleHost> {
        let stdio = Box::new(self.streams());
        Arc::new(self.at(stdio))
    }

    /// Creates a host that writes whole lines to the standard streams, each with a prefix. Prompts fail.
    pub(crate) fn prefixed(self, prefix: String) -> Arc<ConsoleHost> {
        let stdio = Box::new(PrefixedStdio::new(self.streams(), prefix));
        Arc::new(self.at(stdio))
    }

    fn streams(&self) -> Stdio {
        let mut stdio = Stdio::new();
        stdio.all_to_errors = self.text_to_errors;
        stdio.reads_input = !self.without_input;
        stdio
    }

    fn at(self, terminal: Box<dyn Terminal>) -> ConsoleHost {
        let mut session = Session::new(terminal);
        session.colors = self.colors;
        if self.without_progress {
            session.bars = ProgressBars::new(None);
        }
        ConsoleHost {
            identity: NullHost::new(),
            info: session.info(),
            is_interactive: session.terminal.has_keys(),
            session: Arc::new(Mutex::new(session)),
            shown: Deduplicator::default(),
            interrupts: Notify::new(),
            cancelled: Notify::new(),
            exit_code: sync::Mutex::default(),
            last_output: AtomicU8::new(0),
        }
    }
}

impl ConsoleHost {
    /// Writes a line, escaped for the terminal.
    pub(crate) async fn print(&self, channel: Channel, text: String) -> Result<(), CallError> {
        self.run_blocking(move |session| Ok(session.write_line(channel, Style::PLAIN, &text)?)).await
    }

    /// Writes a line to standard error as an error, escaped for the terminal.
    pub(crate) async fn print_error(&self, text: String) -> Result<(), CallError> {
        self.run_blocking(move |session| {
            session.end_partial_line()?;
            Ok(session.write_line(Channel::Messages, Style::ERROR, &text)?)
        })
        .await
    }

    /// Shows a pipeline event: an output object as text, an error with its position, a record, a progress bar, or the
    /// cause of a failure.
    pub(crate) async fn show(&self, event: PipelineEvent) -> Result<(), CallError> {
        self.record_shown(&event);
        if let PipelineEvent::Output(value) = &event {
            return match self.text(value) {
                Some(text) => self.print(Channel::Output, text).await,
                None => Ok(()),
            };
        }
        self.run_blocking(move |session| Ok(session.show(&event)?)).await
    }

    /// Suppresses the host call that the server makes for an event, which has been shown.
    pub(crate) fn record_shown(&self, event: &PipelineEvent) {
        self.shown.record(event);
    }

    /// Returns the text that [`show`](Self::show) writes for an output object, `None` if it has none. Collect many
    /// texts to [`print`](Self::print) them at once. Like in PowerShell, there is an empty line between the properties
    /// of an object and other output.
    pub(crate) fn text(&self, value: &Value) -> Option<String> {
        let mut text = String::new();
        if !show::write_value(value, 0, &mut text) {
            return None;
        }
        let now = if show::has_properties(value) { LAST_HAS_PROPERTIES } else { LAST_IS_TEXT };
        let before = self.last_output.swap(now, Ordering::Relaxed);
        if text.contains('\x1b') {
            // Colours do not spread to the next object.
            text += "\x1b[0m";
        }
        if before != 0 && (before | now) & LAST_HAS_PROPERTIES != 0 {
            text.insert(0, '\n');
        }
        Some(text)
    }

    /// Removes all progress bars and ends an unfinished line.
    pub(crate) async fn finish(&self) -> Result<(), CallError> {
        self.run_blocking(|session| {
            session.bars.clear();
            Ok(session.end_partial_line()?)
        })
        .await
    }

    /// Prompts for a line.
    pub(crate) async fn ask(&self, question: String, echo: Echo) -> Result<Zeroizing<String>, CallError> {
        self.run_blocking(move |session| {
            session.end_partial_line()?;
            session.ask(&question, echo)
        })
        .await
    }

    /// Returns whether a user can answer prompts on a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Waits until the user presses Ctrl+C at a prompt, where it raises no signal.
    pub(crate) async fn interrupted(&self) {
        self.interrupts.notified().await;
    }

    /// Cancels the call that waits for an answer, because the script is being stopped.
    pub(crate) fn cancel_prompt(&self) {
        self.cancelled.notify_waiters();
    }

    /// Returns the exit code if a script has asked the host to exit.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        *self.exit_code.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a console operation on a blocking thread.
    async fn run_blocking<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Session) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let mut session = Arc::clone(&self.session).lock_owned().await;
        // Dropped with this future, which cancels the operation.
        let alive = Arc::new(());
        session.cancel = Arc::downgrade(&alive);
        let result = tokio::task::spawn_blocking(move || operation(&mut session)).await;
        let result = result.unwrap_or_else(|error| Err(CallError::Io(std::io::Error::other(error))));
        if let Err(CallError::Interrupted) = result {
            self.interrupts.notify_one();
        }
        result
    }

    async fn handle(&self, request: HostRequest) -> Result<HostResult, Box<ErrorRecord>> {
        match &request {
            HostRequest::GetName
            | HostRequest::GetVersion
            | HostRequest::GetInstanceId
            | HostRequest::GetCurrentCulture
            | HostRequest::GetCurrentUICulture => return self.identity.call(None, request).await,
            HostRequest::SetShouldExit { exit_code } => {
                *self.exit_code.lock().unwrap_or_else(PoisonError::into_inner) = Some(*exit_code);
                return Ok(HostResult::Nothing);
            }
            request if self.shown.is_repeated(request) => return Ok(HostResult::Nothing),
            _ => {}
        }
        let method = request.method();
        let result = tokio::select! {
            result = self.run_blocking(move |session| session.call(request)) => result,
            () = self.cancelled.notified(), if !method.is_void() => Err(CallError::Interrupted),
        };
        result.map_err(|error| error_record(method, &error))
    }
}

fn error_record(method: HostMethod, error: &CallError) -> Box<ErrorRecord> {
    let (category, reason) = match error {
        CallError::NotImplemented => return Box::new(ErrorRecord::host_not_implemented(method)),
        CallError::End => (ErrorCategory::ReadError, "end of input on the client."),
        CallError::Interrupted => (ErrorCategory::OperationStopped, "the prompt was cancelled."),
        CallError::Invalid(reason) => (ErrorCategory::InvalidArgument, *reason),
        // The cause is not disclosed to the server.
        CallError::Io(_) => (ErrorCategory::DeviceError, "the client's console failed."),
    };
    Box::new(ErrorRecord::host_failure(format!("{method}: {reason}"), category))
}

impl Host for ConsoleHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(self.handle(request))
    }

    fn info(&self) -> HostInfo {
        self.info.clone()
    }
}
