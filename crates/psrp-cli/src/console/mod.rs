//! Host that interacts with the user on a terminal.

mod convert;
mod editor;
mod keys;
mod options;
mod progress;
mod prompt;
mod session;
mod show;
mod stdio;
mod style;
mod terminal;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use psrp::client::PipelineEvent;
use psrp::host::{HostMethod, HostRequest, HostResult};
use psrp::io::{Host, HostFuture, NullHost};
use psrp::message::HostInfo;
use psrp::record::{ErrorCategory, ErrorRecord, exception};
use psrp::value::{SecureString, Value};
use tokio::sync::{Mutex, Notify};
use uuid::Uuid;

pub(crate) use self::options::ConsoleOptions;
pub(crate) use self::session::CallError;
use self::session::Session;
use self::style::Style;
use self::terminal::{Cancel, CancelOnDrop, Channel, Echo};

/// The terminal of this process, or any reader and writer, as a PowerShell host.
///
/// Script output goes to standard output; prompts, errors, warnings, messages and progress bars go to standard error.
/// All text from the server is [escaped for the terminal](psrp::terminal_safe).
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
    interrupts: Notify,
    has_exit_code: AtomicBool,
    exit_code: AtomicI32,
}

impl ConsoleHost {
    fn with_session(mut session: Session) -> Self {
        Self {
            identity: NullHost::new(),
            info: session.info(),
            session: Arc::new(Mutex::new(session)),
            interrupts: Notify::new(),
            has_exit_code: AtomicBool::new(false),
            exit_code: AtomicI32::new(0),
        }
    }

    /// Writes a line to the output, escaped for the terminal.
    pub(crate) async fn print(&self, text: impl Into<String>) -> Result<(), CallError> {
        let text = text.into();
        self.run_blocking(move |session, _| Ok(session.write_line(Channel::Output, Style::PLAIN, &text)?))
            .await
    }

    /// Writes a line to standard output, escaped for the terminal, even if script output goes to standard error
    /// ([`ConsoleOptions::text_to_errors`]).
    pub(crate) async fn print_to_stdout(&self, text: impl Into<String>) -> Result<(), CallError> {
        let text = text.into();
        self.run_blocking(move |session, _| Ok(session.write_line(Channel::Program, Style::PLAIN, &text)?))
            .await
    }

    /// Writes a line to standard error as an error, escaped for the terminal.
    pub(crate) async fn print_error(&self, text: impl Into<String>) -> Result<(), CallError> {
        let text = text.into();
        self.run_blocking(move |session, _| {
            session.end_partial_line()?;
            Ok(session.write_line(Channel::Messages, Style::ERROR, &text)?)
        })
        .await
    }

    /// Shows a pipeline event: an output object as text, an error with its position, a record, a progress bar, or the
    /// cause of a failure.
    pub(crate) async fn show(&self, event: PipelineEvent) -> Result<(), CallError> {
        self.run_blocking(move |session, _| Ok(session.show(&event)?)).await
    }

    /// Returns the text that [`show`](Self::show) writes for an output object, `None` if it has none. Collect many
    /// texts to [`print`](Self::print) them at once.
    pub(crate) fn text(value: &Value) -> Option<String> {
        let mut text = String::new();
        show::write_value(value, 0, &mut text).then_some(text)
    }

    /// Removes all progress bars and ends an unfinished line.
    pub(crate) async fn finish(&self) -> Result<(), CallError> {
        self.run_blocking(|session, _| {
            session.bars.clear();
            Ok(session.end_partial_line()?)
        })
        .await
    }

    /// Prompts for a password, which is not echoed.
    pub(crate) async fn read_password(&self, question: impl Into<String>) -> Result<SecureString, CallError> {
        let question = question.into();
        self.run_blocking(move |session, cancel| {
            session.end_partial_line()?;
            let password = session.ask(&question, Echo::Hidden, cancel)?;
            Ok(SecureString::new(&password))
        })
        .await
    }

    /// Prompts for a line.
    pub(crate) async fn read_line(&self, question: impl Into<String>) -> Result<String, CallError> {
        let question = question.into();
        self.run_blocking(move |session, cancel| {
            session.end_partial_line()?;
            Ok(session.ask(&question, Echo::Shown, cancel)?.to_string())
        })
        .await
    }

    /// Waits until the user presses Ctrl+C at a prompt, where it raises no signal.
    pub(crate) async fn interrupted(&self) {
        self.interrupts.notified().await;
    }

    /// Returns the exit code if a script has asked the host to exit.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        self.has_exit_code.load(Ordering::Acquire).then(|| self.exit_code.load(Ordering::Relaxed))
    }

    /// Runs a console operation on a blocking thread.
    async fn run_blocking<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Session, &Cancel) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let cancel = Cancel::default();
        let _guard = CancelOnDrop(cancel.clone());
        let mut session = Arc::clone(&self.session).lock_owned().await;
        let result = tokio::task::spawn_blocking(move || operation(&mut session, &cancel)).await;
        let result = result.unwrap_or_else(|error| Err(CallError::Io(std::io::Error::other(error))));
        if let Err(CallError::Interrupted) = result {
            self.interrupts.notify_one();
        }
        result
    }

    async fn handle(&self, request: HostRequest) -> Result<HostResult, Box<ErrorRecord>> {
        match request {
            HostRequest::GetName
            | HostRequest::GetVersion
            | HostRequest::GetInstanceId
            | HostRequest::GetCurrentCulture
            | HostRequest::GetCurrentUICulture => return self.identity.call(None, request).await,
            HostRequest::SetShouldExit { exit_code } => {
                self.exit_code.store(exit_code, Ordering::Relaxed);
                self.has_exit_code.store(true, Ordering::Release);
                return Ok(HostResult::Nothing);
            }
            _ => {}
        }
        let method = request.method();
        let result = self.run_blocking(move |session, cancel| session.call(request, cancel)).await;
        result.map_err(|error| error_record(method, &error))
    }
}

/// Creates the error record for a failed call, with PowerShell's identifier and exception types for hosts.
fn error_record(method: HostMethod, error: &CallError) -> Box<ErrorRecord> {
    let not_implemented =
        ["System.Management.Automation.PSNotImplementedException", "System.NotImplementedException"];
    let failed =
        ["System.Management.Automation.Host.HostException", "System.Management.Automation.RuntimeException"];
    let (names, category, message) = match error {
        CallError::NotImplemented => {
            let message = format!("The client's host does not implement {method}.");
            (not_implemented, ErrorCategory::NotImplemented, message)
        }
        CallError::End => {
            let message = format!("{method}: end of input on the client.");
            (failed, ErrorCategory::ReadError, message)
        }
        CallError::Interrupted => {
            (failed, ErrorCategory::OperationStopped, format!("{method}: the user pressed Ctrl+C."))
        }
        CallError::Invalid(reason) => (failed, ErrorCategory::InvalidArgument, format!("{method}: {reason}")),
        // The cause is not disclosed to the server.
        CallError::Io(_) => {
            (failed, ErrorCategory::DeviceError, format!("{method}: the client's console failed."))
        }
    };
    let reason = names[0].rsplit('.').next().unwrap_or_default();
    let exception = exception(names.into_iter().chain(["System.SystemException"]), message);
    let record = ErrorRecord::of_exception(exception, category);
    Box::new(record.with_id("RemoteHostExecutionException").with_reason(reason))
}

impl Host for ConsoleHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(self.handle(request))
    }

    fn info(&self) -> HostInfo {
        self.info.clone()
    }
}
