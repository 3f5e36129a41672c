//! A host that talks to the user at a terminal.

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
pub(crate) use self::session::Refusal;
use self::session::Session;
use self::style::Style;
use self::terminal::{Cancel, CancelOnDrop, Channel, Echo};

/// The terminal that the program was started at, or any reader and writer, as a host.
///
/// What scripts write goes to the standard output; prompts, errors, warnings, messages and bars of progress to the error
/// output. All text of the other side is made [safe for a terminal](psrp::terminal_safe) first.
///
/// - Where the output is no terminal, nothing has colours and there are no bars. The variable `NO_COLOR` and the
///   terminal type `dumb` switch colours off too.
/// - Where the input is no terminal, prompts take its lines, also those for passwords. At its end a prompt fails in the
///   script.
/// - At a terminal, passwords are not shown while they are typed, and Ctrl+C at a prompt fails it and is told by
///   [`interrupted`](Self::interrupted). Everything else waits until a prompt is answered.
/// - Keys, size, cursor, title and colours of the window are there if input and both outputs are a terminal. The
///   contents of the window can be cleared but neither read, filled nor moved, whatever a script asks for.
///
/// Calls block threads that are meant for it, not those of the runtime.
pub(crate) struct ConsoleHost {
    /// Answers the calls about the host itself.
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

    /// Writes a line to the output, made safe for a terminal.
    pub(crate) async fn print(&self, text: impl Into<String>) -> Result<(), Refusal> {
        let text = text.into();
        self.work(move |session, _| Ok(session.write_line(Channel::Output, Style::PLAIN, &text)?)).await
    }

    /// Writes a line to the standard output of this process also where the text of scripts goes to the error output
    /// ([`ConsoleOptions::text_to_errors`]): what the program itself has to tell. It is made safe for a terminal.
    pub(crate) async fn print_own(&self, text: impl Into<String>) -> Result<(), Refusal> {
        let text = text.into();
        self.work(move |session, _| Ok(session.write_line(Channel::Own, Style::PLAIN, &text)?)).await
    }

    /// Writes a line to the error output, made safe for a terminal, as an error looks.
    pub(crate) async fn print_error(&self, text: impl Into<String>) -> Result<(), Refusal> {
        let text = text.into();
        self.work(move |session, _| {
            session.fresh_line()?;
            Ok(session.write_line(Channel::Messages, Style::ERROR, &text)?)
        })
        .await
    }

    /// Shows what happened in a pipeline: an object of the output as text, an error with its place, a record of another
    /// stream, a bar of progress, the reason of a failure.
    pub(crate) async fn show(&self, event: PipelineEvent) -> Result<(), Refusal> {
        self.work(move |session, _| Ok(session.show(&event)?)).await
    }

    /// The text that [`show`](Self::show) writes for an object of the output, `None` for an object without one. Programs
    /// that show many objects collect the texts and [`print`](Self::print) them together.
    pub(crate) fn text(value: &Value) -> Option<String> {
        let mut text = String::new();
        show::write_value(value, 0, &mut text).then_some(text)
    }

    /// Removes all bars of progress, and ends an unfinished line.
    pub(crate) async fn finish(&self) -> Result<(), Refusal> {
        self.work(|session, _| {
            session.bars.clear();
            Ok(session.fresh_line()?)
        })
        .await
    }

    /// Asks the user for a password, which is not shown.
    pub(crate) async fn read_password(&self, question: impl Into<String>) -> Result<SecureString, Refusal> {
        let question = question.into();
        self.work(move |session, cancel| {
            session.fresh_line()?;
            let password = session.ask(&question, Echo::Hidden, cancel)?;
            Ok(SecureString::new(&password))
        })
        .await
    }

    /// Asks the user for a line.
    pub(crate) async fn read_line(&self, question: impl Into<String>) -> Result<String, Refusal> {
        let question = question.into();
        self.work(move |session, cancel| {
            session.fresh_line()?;
            Ok(session.ask(&question, Echo::Shown, cancel)?.to_string())
        })
        .await
    }

    /// Waits until the user presses Ctrl+C at a prompt, where the key raises no signal.
    pub(crate) async fn interrupted(&self) {
        self.interrupts.notified().await;
    }

    /// The exit code, if a script has asked the host to end.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        self.has_exit_code.load(Ordering::Acquire).then(|| self.exit_code.load(Ordering::Relaxed))
    }

    /// Works on the console on a thread that may block.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session, &Cancel) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let cancel = Cancel::default();
        let _guard = CancelOnDrop(cancel.clone());
        let mut session = Arc::clone(&self.session).lock_owned().await;
        let result = tokio::task::spawn_blocking(move || work(&mut session, &cancel)).await;
        let result = result.unwrap_or_else(|error| Err(Refusal::Io(std::io::Error::other(error))));
        if let Err(Refusal::Interrupted) = result {
            self.interrupts.notify_one();
        }
        result
    }

    async fn answer(&self, request: HostRequest) -> Result<HostResult, Box<ErrorRecord>> {
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
        let result = self.work(move |session, cancel| session.call(request, cancel)).await;
        result.map_err(|refusal| refused(method, &refusal))
    }
}

/// The error that a script gets, with the identifier and types of exception that PowerShell uses for hosts.
fn refused(method: HostMethod, refusal: &Refusal) -> Box<ErrorRecord> {
    let not_implemented =
        ["System.Management.Automation.PSNotImplementedException", "System.NotImplementedException"];
    let failed =
        ["System.Management.Automation.Host.HostException", "System.Management.Automation.RuntimeException"];
    let (names, category, message) = match refusal {
        Refusal::NotImplemented => {
            let message = format!("The client's host does not implement {method}.");
            (not_implemented, ErrorCategory::NotImplemented, message)
        }
        Refusal::End => {
            let message = format!("{method}: there is no more input at the client.");
            (failed, ErrorCategory::ReadError, message)
        }
        Refusal::Interrupted => {
            (failed, ErrorCategory::OperationStopped, format!("{method}: the user pressed Ctrl+C."))
        }
        Refusal::Invalid(reason) => (failed, ErrorCategory::InvalidArgument, format!("{method}: {reason}")),
        // The server does not get the reason.
        Refusal::Io(_) => {
            (failed, ErrorCategory::DeviceError, format!("{method}: the console of the client failed."))
        }
    };
    let reason = names[0].rsplit('.').next().unwrap_or_default();
    let exception = exception(names.into_iter().chain(["System.SystemException"]), message);
    let record = ErrorRecord::of_exception(exception, category);
    Box::new(record.with_id("RemoteHostExecutionException").with_reason(reason))
}

impl Host for ConsoleHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(self.answer(request))
    }

    fn info(&self) -> HostInfo {
        self.info.clone()
    }
}
