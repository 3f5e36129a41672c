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

use std::fmt;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use tokio::sync::{Mutex, Notify};
use uuid::Uuid;

pub use self::options::ConsoleOptions;
use self::session::{Refusal, Session};
use self::style::Style;
use self::terminal::{Cancel, CancelOnDrop, Channel, Echo};
use super::null::Identity;
use super::{failed, not_implemented};
use crate::Error;
use crate::client::PipelineEvent;
use crate::error::Kind;
use crate::host::{HostMethod, HostRequest, HostResult};
use crate::io::{Host, HostFuture};
use crate::message::HostInfo;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::{SecureString, Value};

/// The terminal that the program was started at, or any reader and writer, as a host.
///
/// What scripts write goes to the standard output; prompts, errors, warnings, messages and bars of progress to the error
/// output. All text of the other side is made [safe for a terminal](crate::terminal_safe) first.
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
///
/// ```
/// use std::io::Cursor;
///
/// use psrp::host::{HostRequest, HostResult};
/// use psrp::io::{ConsoleHost, Host};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let host = ConsoleHost::over(Cursor::new("Ada\n"), std::io::sink());
/// assert_eq!(host.call(None, HostRequest::ReadLine).await.unwrap(), HostResult::Text("Ada".into()));
/// // There is no more input.
/// assert!(host.call(None, HostRequest::ReadLine).await.is_err());
/// # }
/// ```
pub struct ConsoleHost {
    identity: Identity,
    info: HostInfo,
    session: Arc<Mutex<Session>>,
    interrupts: Notify,
    has_exit_code: AtomicBool,
    exit_code: AtomicI32,
}

impl ConsoleHost {
    /// A host at the standard input and outputs of this process.
    pub fn new() -> Self {
        ConsoleOptions::new().stdio()
    }

    /// A host that reads lines and writes plain text.
    pub fn over(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> Self {
        ConsoleOptions::new().over(input, output)
    }

    fn with_session(mut session: Session) -> Self {
        Self {
            identity: Identity::default(),
            info: session.info(),
            session: Arc::new(Mutex::new(session)),
            interrupts: Notify::new(),
            has_exit_code: AtomicBool::new(false),
            exit_code: AtomicI32::new(0),
        }
    }

    /// Writes a line to the output, made safe for a terminal.
    ///
    /// # Errors
    ///
    /// Fails if the output does ([`Error::is_io`]).
    pub async fn print(&self, text: impl Into<String>) -> Result<(), Error> {
        let text = text.into();
        self.run(move |session, _| Ok(session.write_line(Channel::Output, Style::PLAIN, &text)?)).await
    }

    /// Writes a line to the standard output of this process also where the text of scripts goes to the error output
    /// ([`ConsoleOptions::text_to_errors`]): what the program itself has to tell. It is made safe for a terminal.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub async fn print_own(&self, text: impl Into<String>) -> Result<(), Error> {
        let text = text.into();
        self.run(move |session, _| Ok(session.write_line(Channel::Own, Style::PLAIN, &text)?)).await
    }

    /// Writes a line to the error output, made safe for a terminal, as an error looks.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub async fn print_error(&self, text: impl Into<String>) -> Result<(), Error> {
        let text = text.into();
        self.run(move |session, _| {
            session.fresh_line()?;
            Ok(session.write_line(Channel::Messages, Style::ERROR, &text)?)
        })
        .await
    }

    /// Shows what happened in a pipeline: an object of the output as text, an error with its place, a record of another
    /// stream, a bar of progress, the reason of a failure.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub async fn show(&self, event: PipelineEvent) -> Result<(), Error> {
        self.run(move |session, _| Ok(session.show(&event)?)).await
    }

    /// The text that [`show`](Self::show) writes for an object of the output, `None` for an object without one. Programs
    /// that show many objects collect the texts and [`print`](Self::print) them together.
    pub fn text(value: &Value) -> Option<String> {
        let mut text = String::new();
        show::write_value(value, 0, &mut text).then_some(text)
    }

    /// Removes all bars of progress, and ends an unfinished line.
    ///
    /// # Errors
    ///
    /// As [`print`](Self::print).
    pub async fn finish(&self) -> Result<(), Error> {
        self.run(|session, _| {
            session.bars.clear();
            Ok(session.fresh_line()?)
        })
        .await
    }

    /// Asks the user for a password, which is not shown.
    ///
    /// # Errors
    ///
    /// Fails at the end of the input and after Ctrl+C ([`Error::is_closed`]), and if the terminal does.
    pub async fn read_password(&self, question: impl Into<String>) -> Result<SecureString, Error> {
        let question = question.into();
        self.run(move |session, cancel| {
            session.fresh_line()?;
            let password = session.ask(&question, Echo::Hidden, cancel)?;
            Ok(SecureString::new(&password))
        })
        .await
    }

    /// Asks the user for a line.
    ///
    /// # Errors
    ///
    /// As [`read_password`](Self::read_password).
    pub async fn read_line(&self, question: impl Into<String>) -> Result<String, Error> {
        let question = question.into();
        self.run(move |session, cancel| {
            session.fresh_line()?;
            Ok(session.ask(&question, Echo::Shown, cancel)?.to_string())
        })
        .await
    }

    /// Waits until the user presses Ctrl+C at a prompt, where the key raises no signal.
    pub async fn interrupted(&self) {
        self.interrupts.notified().await;
    }

    /// The exit code, if a script has asked the host to end.
    pub fn exit_code(&self) -> Option<i32> {
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

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session, &Cancel) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Error> {
        self.work(work).await.map_err(|refusal| match refusal {
            Refusal::Io(error) => error.into(),
            Refusal::End => Error::with(Kind::Closed, "there is no more input"),
            Refusal::Interrupted => Error::with(Kind::Closed, "the question was left by Ctrl+C"),
            Refusal::Invalid(reason) => Error::with(Kind::Mismatch, reason),
            Refusal::NotImplemented => Error::new(Kind::Unsupported),
        })
    }

    async fn answer(&self, request: HostRequest) -> Result<HostResult, Box<ErrorRecord>> {
        if let Some(result) = self.identity.answer(&request) {
            return Ok(result);
        }
        if let HostRequest::SetShouldExit { exit_code } = request {
            self.exit_code.store(exit_code, Ordering::Relaxed);
            self.has_exit_code.store(true, Ordering::Release);
            return Ok(HostResult::Nothing);
        }
        let method = request.method();
        let result = self.work(move |session, cancel| session.call(request, cancel)).await;
        result.map_err(|refusal| refused(method, &refusal))
    }
}

/// The error that a script sees.
fn refused(method: HostMethod, refusal: &Refusal) -> Box<ErrorRecord> {
    let text = |text: &str| format!("{method}: {text}");
    match refusal {
        Refusal::NotImplemented => not_implemented(method),
        Refusal::End => failed(text("there is no more input at the client."), ErrorCategory::ReadError),
        Refusal::Interrupted => failed(text("the user pressed Ctrl+C."), ErrorCategory::OperationStopped),
        Refusal::Invalid(reason) => failed(text(reason), ErrorCategory::InvalidArgument),
        // What exactly is of no concern to the other side.
        Refusal::Io(_) => failed(text("the console of the client failed."), ErrorCategory::DeviceError),
    }
}

impl Default for ConsoleHost {
    fn default() -> Self {
        Self::new()
    }
}

impl Host for ConsoleHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(self.answer(request))
    }

    fn info(&self) -> HostInfo {
        self.info.clone()
    }
}

impl fmt::Debug for ConsoleHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleHost").field("exit_code", &self.exit_code()).finish_non_exhaustive()
    }
}
