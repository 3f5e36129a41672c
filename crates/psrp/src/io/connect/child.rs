//! Connector for servers that are child processes.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::process::{self, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::Sleep;
use tokio_util::task::AbortOnDropHandle;

use crate::error::{Error, Kind};
use crate::io::peer_text::StderrTail;
use crate::io::{Connect, Lines, Transport};
use crate::outofproc::{Packet, ReaderOptions, Role};

/// After the process has closed its output, how long to wait for its exit status and standard error.
const EXIT_REPORT_TIMEOUT: Duration = Duration::from_millis(500);

/// Starts a server as a child process and exchanges packets over its standard input and output, like `pwsh -s`.
///
/// The process ends with the connection. On close it has [`exit_timeout`](Self::exit_timeout) to exit, then it is
/// killed. If it exits early, the error contains the end of its standard error.
///
/// ```
/// use psrp::io::Child;
///
/// let powershell = Child::default();
/// let other = Child::new("/opt/microsoft/powershell/7/pwsh").args(["-s", "-NoLogo"]).env("POWERSHELL_TELEMETRY_OPTOUT", "1");
/// ```
#[derive(Clone)]
pub struct Child {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    inherits_env: bool,
    directory: Option<PathBuf>,
    new_group: bool,
    on_stderr: Option<StderrListener>,
    exit_timeout: Duration,
    reader_options: ReaderOptions,
}

/// Function that receives the standard error of a process.
type StderrListener = Arc<dyn Fn(&str) + Send + Sync>;

impl Child {
    /// Creates a connector for a program without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            inherits_env: true,
            directory: None,
            new_group: false,
            on_stderr: None,
            exit_timeout: Duration::from_secs(5),
            reader_options: ReaderOptions::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts the process with an empty environment instead of inheriting this one.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env.clear();
        self.inherits_env = false;
        self
    }

    setters! {
        /// Sets the working directory of the process.
        current_dir(directory: impl Into<PathBuf>) => directory = Some(directory.into());
        /// Passes the standard error of the process to a function as it arrives. Invalid UTF-8 is replaced. The
        /// function must not block; use [`terminal_safe`](crate::terminal_safe) to display the text. Default: only the
        /// end is stored, for error messages.
        on_stderr(listener: impl Fn(&str) + Send + Sync + 'static) => on_stderr = Some(Arc::new(listener));
        /// Starts the process in a new process group. Ctrl+C at the terminal then reaches only this program, which can
        /// stop a pipeline. Processes that prompt at the terminal themselves, such as `ssh` for a password, can no
        /// longer do so.
        own_process_group() => new_group = true;
        /// Sets how long the process may take to exit after its input was closed. Default: 5 seconds.
        exit_timeout(time: Duration) => exit_timeout = time;
        /// Sets the limits for reading packets.
        reader_options(options: ReaderOptions) => reader_options = options;
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if !self.inherits_env {
            command.env_clear();
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if self.new_group {
            #[cfg(unix)]
            command.process_group(0);
            // CREATE_NEW_PROCESS_GROUP
            #[cfg(windows)]
            command.creation_flags(0x200);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    fn spawn(&self) -> Result<ChildTransport, Error> {
        let mut process = self.command().spawn().map_err(|error| {
            let program = self.program.to_string_lossy();
            Error::with(Kind::Io, format!("can't start {}", crate::terminal_safe(&program))).caused_by(error)
        })?;
        let missing = || Error::with(Kind::Io, "the process has no pipes");
        let stdin = Stdin(Some(process.stdin.take().ok_or_else(missing)?));
        let stdout = process.stdout.take().ok_or_else(missing)?;
        let stderr = process.stderr.take().ok_or_else(missing)?;
        Ok(ChildTransport {
            lines: Lines::with_options(Role::Client, stdout, stdin, self.reader_options),
            process,
            stderr: StderrReader::new(stderr, self.on_stderr.clone()),
            exit_timeout: self.exit_timeout,
            close_state: CloseState::Open,
            timer: None,
        })
    }
}

/// `pwsh -s -NoLogo -NoProfile`: PowerShell from the search path, without the user's profile.
impl Default for Child {
    fn default() -> Self {
        Self::new("pwsh").args(["-s", "-NoLogo", "-NoProfile"])
    }
}

impl Connect for Child {
    type Transport = ChildTransport;

    async fn connect(&self) -> Result<ChildTransport, Error> {
        self.spawn()
    }
}

impl_debug! {
    /// Hides arguments and environment, which can contain secrets.
    Child |this| program = this.program
}

/// Connection to a child process, created by [`Child`].
pub struct ChildTransport {
    lines: Lines<ChildStdout, Stdin>,
    process: process::Child,
    stderr: StderrReader,
    exit_timeout: Duration,
    close_state: CloseState,
    timer: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
enum CloseState {
    Open,
    /// The process has closed its output; the read error, if there was one.
    OutputClosed(Option<Error>),
    /// We have closed the input of the process.
    InputClosed,
    Killed,
}

impl ChildTransport {
    /// Returns the process identifier, or `None` after the process has ended.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        pin!(self.process.wait()).poll(cx)
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(time))).as_mut().poll(cx)
    }

    /// Waits for exit status and standard error, and returns the error that describes the early end.
    fn poll_exit_error(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let exit = self.poll_exit(cx);
        let stderr_end = self.stderr.poll_end(cx);
        if (exit.is_pending() || stderr_end.is_pending())
            && self.poll_timer(cx, EXIT_REPORT_TIMEOUT).is_pending()
        {
            return Poll::Pending;
        }
        let mut reason = match exit {
            Poll::Ready(Ok(status)) => format!("the process has ended ({status})"),
            _ => "the process has closed its output".to_owned(),
        };
        if let Some(text) = self.stderr.tail() {
            reason.push_str(": ");
            reason.push_str(&text);
        }
        let error = Error::with(Kind::Closed, reason);
        Poll::Ready(match std::mem::replace(&mut self.close_state, CloseState::OutputClosed(None)) {
            CloseState::OutputClosed(Some(cause)) => error.caused_by(cause),
            _ => error,
        })
    }
}

impl Transport for ChildTransport {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        if let CloseState::Open = self.close_state {
            let cause = match ready!(self.lines.poll_receive(cx, take)) {
                None => None,
                Some(Err(error)) if error.is_io() || error.is_unexpected_end() => Some(error),
                received => return Poll::Ready(received),
            };
            self.close_state = CloseState::OutputClosed(cause);
        }
        Poll::Ready(Some(Err(ready!(self.poll_exit_error(cx)))))
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.lines.poll_ready(cx)
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        self.lines.send(packet)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.lines.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let CloseState::Open | CloseState::OutputClosed(_) = self.close_state {
            // Write errors do not matter here: the process ends anyway.
            let closed = self.lines.poll_close(cx);
            if closed.is_pending() && self.poll_timer(cx, self.exit_timeout).is_pending() {
                return Poll::Pending;
            }
            self.close_state = CloseState::InputClosed;
            self.timer = None;
        }
        if let CloseState::InputClosed = self.close_state {
            // A process blocked on writing its output might never exit.
            while let Poll::Ready(Some(Ok(()))) = self.lines.poll_receive(cx, &mut |_| Ok(())) {}
            if let Poll::Ready(status) = self.poll_exit(cx) {
                return Poll::Ready(status.map(drop).map_err(Error::from));
            }
            ready!(self.poll_timer(cx, self.exit_timeout));
            self.process.start_kill()?;
            self.close_state = CloseState::Killed;
        }
        self.poll_exit(cx).map(|status| status.map(drop).map_err(Error::from))
    }
}

impl_debug!(ChildTransport | this | id = this.id(), lines = this.lines);

/// Standard input of the process. Shutting it down closes the pipe.
struct Stdin(Option<ChildStdin>);

impl AsyncWrite for Stdin {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Some(stdin) => Pin::new(stdin).poll_write(cx, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().map_or(Poll::Ready(Ok(())), |stdin| Pin::new(stdin).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(self.as_mut().poll_flush(cx));
        self.0 = None;
        Poll::Ready(flushed)
    }
}

/// Reads the standard error of the process and stores its end. Dropping it stops reading: the pipe stays open if the
/// process has passed it to another process that is still running.
struct StderrReader {
    tail: Arc<Mutex<StderrTail>>,
    task: AbortOnDropHandle<()>,
}

impl StderrReader {
    fn new(mut from: ChildStderr, listener: Option<StderrListener>) -> Self {
        let tail = Arc::<Mutex<StderrTail>>::default();
        let shared = Arc::clone(&tail);
        let task = tokio::spawn(async move {
            let mut buffer = [0; 4096];
            let mut text = Vec::new();
            // A read error ends the output.
            while let Ok(count @ 1..) = from.read(&mut buffer).await {
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
                if let Some(listener) = &listener {
                    text.extend_from_slice(&buffer[..count]);
                    // An incomplete sequence at the end waits for the rest.
                    let end = match str::from_utf8(&text) {
                        Err(error) if error.error_len().is_none() => error.valid_up_to(),
                        _ => text.len(),
                    };
                    let rest = text.split_off(end);
                    listener(&String::from_utf8_lossy(&std::mem::replace(&mut text, rest)));
                }
            }
            if let (Some(listener), false) = (listener, text.is_empty()) {
                listener(&String::from_utf8_lossy(&text));
            }
        });
        Self { tail, task: AbortOnDropHandle::new(task) }
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.task.is_finished() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.task).poll(cx).map(drop)
    }

    /// Returns the last part of the text, escaped for terminals, or `None` if there is none.
    fn tail(&self) -> Option<Box<str>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}
