//! Blocking client for programs without an async runtime. It mirrors [`io`], with iterators instead of streams.
//!
//! Each session runs its own tokio runtime with one thread, which handles packets, keep-alive messages and
//! [`Host`](io::Host) calls even while the program is busy. Connectors, options, requests and results are the types of
//! [`io`] and [`message`](crate::message). Methods fail like those of the same name of [`io::Session`] and
//! [`io::Command`].
//!
//! ```no_run
//! use psrp::blocking::Session;
//! use psrp::client::PipelineEvent;
//! use psrp::io::{Child, Options};
//! use psrp::message::PowerShell;
//!
//! let session = Session::open(&Child::default(), Options::new())?;
//! let output = session.invoke(PowerShell::script("Get-Date"))?.completed()?;
//! println!("{:?}", output.output);
//!
//! // With input, reading one event at a time.
//! let mut pipeline = session.start_with_input(PowerShell::script("$input"))?;
//! pipeline.send(1)?;
//! pipeline.end_input()?;
//! for event in &mut pipeline {
//!     if let PipelineEvent::Output(value) = event? {
//!         println!("{value:?}");
//!     }
//! }
//! session.close()?;
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! # Panics
//!
//! Every function that waits panics when called from async code, where it would block a thread of the runtime. Use
//! [`io`] there, or call it in `tokio::task::spawn_blocking`. Values may be dropped anywhere.

use std::future::Future;
use std::iter::FusedIterator;
use std::sync::{Arc, mpsc};

use tokio::runtime::{self, Builder};

use crate::client::PipelineRequest;
use crate::error::Error;
use crate::io::{self, Connect, Options, Output};
use crate::message::PowerShell;
use crate::value::{PsString, Value};

/// Runs one script: connects, opens a pool of one runspace, runs the script and closes the pool. The asynchronous
/// version is [`psrp::run`](crate::run).
///
/// # Errors
///
/// Same as [`psrp::run`](crate::run).
///
/// # Examples
///
/// ```no_run
/// use psrp::io::Child;
///
/// let output = psrp::blocking::run(&Child::default(), "Get-Process pwsh")?.completed()?;
/// println!("{} processes", output.output.len());
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn run<C: Connect>(connector: &C, script: impl Into<PsString>) -> Result<Output, Error> {
    Session::open(connector, Options::new())?.invoke(PowerShell::script(script))
}

/// Tokio runtime that shuts down in the background on drop. tokio's own `Drop` waits for its tasks and panics in async
/// code.
struct SessionRuntime(Option<runtime::Runtime>);

impl SessionRuntime {
    fn new() -> Result<Self, Error> {
        let mut builder = Builder::new_multi_thread();
        Ok(Self(Some(builder.worker_threads(1).thread_name("psrp").enable_all().build()?)))
    }

    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("the runtime is there until it is dropped").block_on(future)
    }
}

impl Drop for SessionRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Session whose drop closes the pool. Shared by the handles of the pool and its pipelines.
struct BlockingSession {
    session: io::Session,
    runtime: SessionRuntime,
}

impl Drop for BlockingSession {
    fn drop(&mut self) {
        let (done, closed) = mpsc::channel::<()>();
        let session = self.session.clone();
        if let Some(runtime) = &self.runtime.0 {
            runtime.spawn(async move {
                let _ = session.close().await;
                drop(done);
            });
        }
        // Returns an error when the task has finished.
        let _ = closed.recv();
    }
}

/// Blocking session: a connection with a runspace pool, in which pipelines run. The asynchronous version is
/// [`io::Session`].
///
/// Clones are handles of the same session and can be used by other threads. Dropping the last handle or pipeline closes
/// the pool and waits for that, with the same timeouts as [`close`](Self::close).
#[derive(Clone)]
pub struct Session {
    shared: Arc<BlockingSession>,
}

impl Session {
    /// Connects and opens a pool.
    ///
    /// # Errors
    ///
    /// Same as [`io::Session::open`]. Also fails with [`Error::is_io`] if no thread can be started.
    pub fn open<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        let runtime = SessionRuntime::new()?;
        let session = runtime.wait(io::Session::open(connector, options))?;
        Ok(Self { shared: Arc::new(BlockingSession { session, runtime }) })
    }

    /// Returns the asynchronous session, for its state and identifier and for methods to pass to [`wait`](Self::wait).
    pub fn get_ref(&self) -> &io::Session {
        &self.shared.session
    }

    /// Runs a future of this session to completion. Use it for methods of [`io`] that this module does not mirror.
    ///
    /// ```no_run
    /// use psrp::blocking::Session;
    /// use psrp::io::{Child, Options};
    ///
    /// let session = Session::open(&Child::default(), Options::new())?;
    /// println!("{:?}", session.wait(session.get_ref().get_available_runspaces())?);
    /// # Ok::<(), psrp::Error>(())
    /// ```
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.shared.runtime.wait(future)
    }

    /// Creates and starts a pipeline.
    pub fn start(&self, request: impl Into<PipelineRequest>) -> Result<Command, Error> {
        let command = self.wait(self.get_ref().start(request))?;
        Ok(Command { command, session: self.clone() })
    }

    /// Creates and starts a pipeline with input, which [`Command::send`] sends and [`Command::end_input`] ends.
    pub fn start_with_input(&self, request: impl Into<PipelineRequest>) -> Result<Command, Error> {
        let command = self.wait(self.get_ref().start_with_input(request))?;
        Ok(Command { command, session: self.clone() })
    }

    /// Runs a pipeline without input and collects its output. A failed pipeline is not an error: see
    /// [`Output::completed`].
    pub fn invoke(&self, request: impl Into<PipelineRequest>) -> Result<Output, Error> {
        self.wait(self.get_ref().invoke(request))
    }

    /// Runs a pipeline with the given input objects and collects its output.
    pub fn invoke_with_input<V: Into<Value>>(
        &self,
        request: impl Into<PipelineRequest>,
        input: impl IntoIterator<Item = V>,
    ) -> Result<Output, Error> {
        self.wait(self.get_ref().invoke_with_input(request, input))
    }

    /// Runs a pipeline without input and deserializes its output. Requires the feature `serde`.
    #[cfg(feature = "serde")]
    pub fn invoke_as<T: ::serde::de::DeserializeOwned>(
        &self,
        request: impl Into<PipelineRequest>,
    ) -> Result<Vec<T>, Error> {
        self.wait(self.get_ref().invoke_as(request))
    }

    /// Stops and closes the pipelines, closes the pool and ends the connection.
    pub fn close(&self) -> Result<(), Error> {
        self.wait(self.get_ref().close())
    }
}

impl_debug!(Session | this | session = this.get_ref());

/// A running pipeline, as a blocking iterator over its events. The asynchronous version is [`io::Command`].
///
/// The last event is the final state of the pipeline; if the connection ends first, the last item is an error. Each
/// call of `next` waits for an event and panics in async code. Dropping a running pipeline stops it in the background.
///
/// To stop the pipeline from another thread while this one reads it:
///
/// ```no_run
/// use psrp::blocking::Session;
/// use psrp::io::{Child, Options};
/// use psrp::message::PowerShell;
///
/// let session = Session::open(&Child::default(), Options::new())?;
/// let pipeline = session.start(PowerShell::script("while ($true) { Get-Date }"))?;
/// let (other, handle) = (session.clone(), pipeline.get_ref().handle());
/// std::thread::spawn(move || other.wait(handle.stop()));
/// for event in pipeline {
///     println!("{:?}", event?);
/// }
/// # Ok::<(), psrp::Error>(())
/// ```
pub struct Command {
    command: io::Command,
    session: Session,
}

impl Command {
    /// Returns the asynchronous pipeline, for its state, identifier and [handle](io::Command::handle).
    pub fn get_ref(&self) -> &io::Command {
        &self.command
    }

    /// Sends an object to the input.
    pub fn send(&self, value: impl Into<Value>) -> Result<(), Error> {
        self.session.wait(self.command.send(value))
    }

    /// Ends the input.
    pub fn end_input(&self) -> Result<(), Error> {
        self.session.wait(self.command.end_input())
    }

    /// Stops the pipeline and waits until it has ended. Events sent until then can still be read.
    pub fn stop(&self) -> Result<(), Error> {
        self.session.wait(self.command.stop())
    }

    /// Reads all events and returns the collected output.
    pub fn output(self) -> Result<Output, Error> {
        self.session.wait(self.command.output())
    }
}

impl Iterator for Command {
    type Item = <io::Command as futures_core::Stream>::Item;

    fn next(&mut self) -> Option<Self::Item> {
        self.session.wait(self.command.next())
    }
}

impl FusedIterator for Command {}

impl_debug!(Command | this | command = this.command);
