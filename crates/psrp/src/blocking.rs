//! Blocking client for programs without an async runtime. It mirrors [`io`], with iterators instead of streams.
//!
//! Each session runs its own tokio runtime with one thread, which handles packets, keep-alive messages and
//! [`Host`](io::Host) calls even while the program is busy. Connectors, options, requests and results are the types of
//! [`io`] and [`message`](crate::message). Methods fail like those of the same name of [`io::RunspacePool`] and
//! [`io::Pipeline`].
//!
//! ```no_run
//! use psrp::blocking::RunspacePool;
//! use psrp::client::PipelineEvent;
//! use psrp::io::{Child, Options};
//! use psrp::message::PowerShell;
//!
//! let pool = RunspacePool::open(&Child::default(), Options::new())?;
//! let output = pool.invoke(PowerShell::script("Get-Date"))?.completed()?;
//! println!("{:?}", output.output);
//!
//! // With input, reading one event at a time.
//! let mut pipeline = pool.start_with_input(PowerShell::script("$input"))?;
//! pipeline.send(1)?;
//! pipeline.end_input()?;
//! for event in &mut pipeline {
//!     if let PipelineEvent::Output(value) = event? {
//!         println!("{value:?}");
//!     }
//! }
//! pool.close()?;
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! # Panics
//!
//! Every function that waits panics when called from async code, where it would block a thread of the runtime. Use
//! [`io`] there, or call it in `tokio::task::spawn_blocking`. Values may be dropped anywhere.

use std::fmt;
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
    RunspacePool::open(connector, Options::new())?.invoke(PowerShell::script(script))
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
    pool: io::RunspacePool,
    runtime: SessionRuntime,
}

impl Drop for BlockingSession {
    fn drop(&mut self) {
        let (done, closed) = mpsc::channel::<()>();
        let pool = self.pool.clone();
        if let Some(runtime) = &self.runtime.0 {
            runtime.spawn(async move {
                let _ = pool.close().await;
                drop(done);
            });
        }
        // Returns an error when the task has finished.
        let _ = closed.recv();
    }
}

/// Blocking client of a runspace pool, in which pipelines run. The asynchronous version is [`io::RunspacePool`].
///
/// Clones are handles of the same pool and can be used by other threads. Dropping the last handle or pipeline closes
/// the pool and waits for that, with the same timeouts as [`close`](Self::close).
#[derive(Clone)]
pub struct RunspacePool {
    session: Arc<BlockingSession>,
}

impl RunspacePool {
    /// Connects and opens a pool.
    ///
    /// # Errors
    ///
    /// Same as [`io::RunspacePool::open`]. Also fails with [`Error::is_io`] if no thread can be started.
    pub fn open<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        let runtime = SessionRuntime::new()?;
        let pool = runtime.wait(io::RunspacePool::open(connector, options))?;
        Ok(Self { session: Arc::new(BlockingSession { pool, runtime }) })
    }

    /// Returns the asynchronous pool, for its state and identifier and for methods to pass to [`wait`](Self::wait).
    pub fn get_ref(&self) -> &io::RunspacePool {
        &self.session.pool
    }

    /// Runs a future of this session to completion. Use it for methods of [`io`] that this module does not mirror.
    ///
    /// ```no_run
    /// use psrp::blocking::RunspacePool;
    /// use psrp::io::{Child, Options};
    ///
    /// let pool = RunspacePool::open(&Child::default(), Options::new())?;
    /// println!("{:?}", pool.wait(pool.get_ref().get_available_runspaces())?);
    /// # Ok::<(), psrp::Error>(())
    /// ```
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.session.runtime.wait(future)
    }

    /// Creates and starts a pipeline.
    pub fn start(&self, request: impl Into<PipelineRequest>) -> Result<Pipeline, Error> {
        let pipeline = self.wait(self.get_ref().start(request))?;
        Ok(Pipeline { pipeline, pool: self.clone() })
    }

    /// Creates and starts a pipeline with input, which [`Pipeline::send`] sends and [`Pipeline::end_input`] ends.
    pub fn start_with_input(&self, request: impl Into<PipelineRequest>) -> Result<Pipeline, Error> {
        let pipeline = self.wait(self.get_ref().start_with_input(request))?;
        Ok(Pipeline { pipeline, pool: self.clone() })
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

impl fmt::Debug for RunspacePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get_ref().fmt(f)
    }
}

/// A running pipeline, as a blocking iterator over its events. The asynchronous version is [`io::Pipeline`].
///
/// The last event is the final state of the pipeline; if the connection ends first, the last item is an error. Each
/// call of `next` waits for an event and panics in async code. Dropping a running pipeline stops it in the background.
///
/// To stop the pipeline from another thread while this one reads it:
///
/// ```no_run
/// use psrp::blocking::RunspacePool;
/// use psrp::io::{Child, Options};
/// use psrp::message::PowerShell;
///
/// let pool = RunspacePool::open(&Child::default(), Options::new())?;
/// let pipeline = pool.start(PowerShell::script("while ($true) { Get-Date }"))?;
/// let (other, handle) = (pool.clone(), pipeline.get_ref().handle());
/// std::thread::spawn(move || other.wait(handle.stop()));
/// for event in pipeline {
///     println!("{:?}", event?);
/// }
/// # Ok::<(), psrp::Error>(())
/// ```
pub struct Pipeline {
    pipeline: io::Pipeline,
    pool: RunspacePool,
}

impl Pipeline {
    /// Returns the asynchronous pipeline, for its state, identifier and [handle](io::Pipeline::handle).
    pub fn get_ref(&self) -> &io::Pipeline {
        &self.pipeline
    }

    /// Sends an object to the input.
    pub fn send(&self, value: impl Into<Value>) -> Result<(), Error> {
        self.pool.wait(self.pipeline.send(value))
    }

    /// Ends the input.
    pub fn end_input(&self) -> Result<(), Error> {
        self.pool.wait(self.pipeline.end_input())
    }

    /// Stops the pipeline and waits until it has ended. Events sent until then can still be read.
    pub fn stop(&self) -> Result<(), Error> {
        self.pool.wait(self.pipeline.stop())
    }

    /// Reads all events and returns the collected output.
    pub fn output(self) -> Result<Output, Error> {
        self.pool.wait(self.pipeline.output())
    }
}

impl Iterator for Pipeline {
    type Item = <io::Pipeline as futures_core::Stream>::Item;

    fn next(&mut self) -> Option<Self::Item> {
        self.pool.wait(self.pipeline.next())
    }
}

impl FusedIterator for Pipeline {}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pipeline.fmt(f)
    }
}
