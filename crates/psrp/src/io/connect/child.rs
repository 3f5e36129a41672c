//! Servers that are child processes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::process::{self, ChildStdin, ChildStdout, Command};
use tokio::time::Sleep;

use super::stderr::{Listener, Stderr};
use crate::error::{Error, Kind};
use crate::io::{Connect, Lines, Transport};
use crate::outofproc::{Packet, ReaderOptions, Role};

/// How long a process that has closed its output may take to end and tell why.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Starts a server as a child process and talks to it by its standard input and output, as `pwsh -s` does it.
///
/// The process ends with the connection: it is given some time to do so by itself, then it is killed. Its error output
/// is read; the end of it is part of the error if the process ends early.
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
    keeps_env: bool,
    directory: Option<PathBuf>,
    listener: Option<Listener>,
    exit_timeout: Duration,
    reading: ReaderOptions,
}

impl Child {
    /// Default of [`exit_timeout`](Self::exit_timeout): 5 seconds.
    pub const DEFAULT_EXIT_TIMEOUT: Duration = Duration::from_secs(5);

    /// A program without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            keeps_env: true,
            directory: None,
            listener: None,
            exit_timeout: Self::DEFAULT_EXIT_TIMEOUT,
            reading: ReaderOptions::new(),
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

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes a variable of the environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts with an empty environment instead of the one of this process.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env.clear();
        self.keeps_env = false;
        self
    }

    /// Sets the directory that the program starts in.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Hands the error output of the process to a function as it comes. It must not block; bytes that are no UTF-8 are
    /// replaced. Show the text by [`terminal_safe`](crate::terminal_safe). Default: only the end of it is kept, for the
    /// error.
    #[must_use]
    pub fn on_stderr(mut self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// How long the process may take to end by itself when its input is closed. Default:
    /// [`DEFAULT_EXIT_TIMEOUT`](Self::DEFAULT_EXIT_TIMEOUT), 5 seconds.
    #[must_use]
    pub fn exit_timeout(mut self, time: Duration) -> Self {
        self.exit_timeout = time;
        self
    }

    /// Limits of what is read.
    #[must_use]
    pub fn reader_options(mut self, options: ReaderOptions) -> Self {
        self.reading = options;
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if !self.keeps_env {
            command.env_clear();
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
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
            lines: Lines::with_options(Role::Client, stdout, stdin, self.reading),
            process,
            stderr: Stderr::read(stderr, self.listener.clone()),
            exit_timeout: self.exit_timeout,
            ending: Ending::None,
            timer: None,
        })
    }
}

/// `pwsh -s -NoLogo -NoProfile`: PowerShell as the search path has it, without the profile of the user.
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

/// Shows neither arguments nor environment, which may be secret.
impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("program", &self.program).finish_non_exhaustive()
    }
}

/// The connection to a child process.
pub struct ChildTransport {
    lines: Lines<ChildStdout, Stdin>,
    process: process::Child,
    stderr: Stderr,
    exit_timeout: Duration,
    ending: Ending,
    timer: Option<Pin<Box<Sleep>>>,
}

/// How far the end of a connection is.
#[derive(Debug)]
enum Ending {
    None,
    /// The process has closed its output, for this reason.
    Output(Option<Error>),
    /// The input of the process is closed.
    Input,
    Killed,
}

impl ChildTransport {
    /// The identifier of the process, until it has ended.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<ExitStatus>> {
        pin!(self.process.wait()).poll(cx)
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(time))).as_mut().poll(cx)
    }

    /// Waits for the reason of an early end.
    fn poll_reason(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let exit = self.poll_exit(cx);
        let has_told = self.stderr.poll_end(cx);
        if (exit.is_pending() || has_told.is_pending()) && self.poll_timer(cx, LAST_WORDS).is_pending() {
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
        Poll::Ready(match std::mem::replace(&mut self.ending, Ending::Output(None)) {
            Ending::Output(Some(cause)) => error.caused_by(cause),
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
        if let Ending::None = self.ending {
            let cause = match ready!(self.lines.poll_receive(cx, take)) {
                None => None,
                Some(Err(error)) if error.is_io() || error.is_unexpected_end() => Some(error),
                received => return Poll::Ready(received),
            };
            self.ending = Ending::Output(cause);
        }
        Poll::Ready(Some(Err(ready!(self.poll_reason(cx)))))
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
        if let Ending::None | Ending::Output(_) = self.ending {
            // What can't be written any more does not matter: the process ends in any case.
            let closed = self.lines.poll_close(cx);
            if closed.is_pending() && self.poll_timer(cx, self.exit_timeout).is_pending() {
                return Poll::Pending;
            }
            self.ending = Ending::Input;
            self.timer = None;
        }
        if let Ending::Input = self.ending {
            // A process whose output nobody reads might never end.
            while let Poll::Ready(Some(Ok(()))) = self.lines.poll_receive(cx, &mut |_| Ok(())) {}
            if let Poll::Ready(status) = self.poll_exit(cx) {
                return Poll::Ready(status.map(drop).map_err(Error::from));
            }
            ready!(self.poll_timer(cx, self.exit_timeout));
            self.process.start_kill()?;
            self.ending = Ending::Killed;
        }
        self.poll_exit(cx).map(|status| status.map(drop).map_err(Error::from))
    }
}

impl fmt::Debug for ChildTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildTransport")
            .field("id", &self.id())
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

/// The input of a process, which is closed when it is shut down.
struct Stdin(Option<ChildStdin>);

impl AsyncWrite for Stdin {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match &mut self.0 {
            Some(stdin) => Pin::new(stdin).poll_write(cx, bytes),
            None => Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.0.as_mut().map_or(Poll::Ready(Ok(())), |stdin| Pin::new(stdin).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let flushed = ready!(self.as_mut().poll_flush(cx));
        self.0 = None;
        Poll::Ready(flushed)
    }
}
