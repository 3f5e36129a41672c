//! Sessions for programs without an async runtime: the methods of [`io`] block, and iterators take the place of streams.
//!
//! Each session has a tokio runtime with one thread of its own, on which packets, keep-alive messages and the calls of a
//! [`Host`](io::Host) are handled, also while the program does something else. Connectors, options, requests and results are
//! the types of [`io`] and [`message`](crate::message).
//!
//! ```
//! use psrp::Value;
//! use psrp::blocking::RunspacePool;
//! use psrp::client::PipelineEvent;
//! use psrp::io::Options;
//! use psrp::message::PowerShell;
//! # use psrp::io::{Lines, serve};
//! # /// Returns the text of the script in capitals, and then the input.
//! # struct Capitals;
//! # impl serve::Handler for Capitals {
//! #     async fn run(
//! #         &self,
//! #         create: psrp::message::CreatePipeline,
//! #         pipeline: serve::Pipeline,
//! #         mut input: serve::Input,
//! #     ) -> serve::Outcome {
//! #         let script = create.power_shell.statements().flatten().next().unwrap().text.to_string();
//! #         pipeline.output(script.to_uppercase()).await?;
//! #         while let Some(value) = input.next().await {
//! #             pipeline.output(value).await?;
//! #         }
//! #         Ok(())
//! #     }
//! # }
//! # let server = || async {
//! #     let (near, far) = tokio::io::duplex(4096);
//! #     let ((read, write), (far_read, far_write)) = (tokio::io::split(near), tokio::io::split(far));
//! #     let far = Lines::new(psrp::outofproc::Role::Server, far_read, far_write);
//! #     tokio::spawn(serve::serve(far, Capitals, serve::Options::new()));
//! #     Ok(Lines::new(psrp::outofproc::Role::Client, read, write))
//! # };
//!
//! // `server` is a connector, such as `Child`, `Ssh` or `Wsman`. This one makes capitals of scripts.
//! let pool = RunspacePool::open(&server, Options::new())?;
//! let output = pool.invoke(PowerShell::script("Get-Date"))?.completed()?;
//! assert_eq!(output.output, [Value::from("GET-DATE")]);
//!
//! // With input, and one event after the other.
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
//! Every function that waits panics inside of async code, where it would block a thread of the runtime: use [`io`] there, or
//! call it in `tokio::task::spawn_blocking`. Values may be dropped anywhere.

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

/// Runs one script, as [`psrp::run`](crate::run) does: connects, opens a pool of one runspace, runs the script in it, and
/// closes the pool.
///
/// # Errors
///
/// As [`psrp::run`](crate::run).
///
/// # Panics
///
/// Panics inside of async code.
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

/// A runtime that ends its tasks in the background when it is dropped. Tokio's own waits for them, and panics in async code.
struct Runtime(Option<runtime::Runtime>);

impl Runtime {
    fn new() -> Result<Self, Error> {
        let mut builder = Builder::new_multi_thread();
        Ok(Self(Some(builder.worker_threads(1).thread_name("psrp").enable_all().build()?)))
    }

    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("the runtime is there until it is dropped").block_on(future)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Closes the pool when the last of the pool's handles and pipelines is dropped.
struct Session {
    pool: io::RunspacePool,
    runtime: Runtime,
}

impl Drop for Session {
    fn drop(&mut self) {
        let (done, closed) = mpsc::channel::<()>();
        let pool = self.pool.clone();
        if let Some(runtime) = &self.runtime.0 {
            runtime.spawn(async move {
                let _ = pool.close().await;
                drop(done);
            });
        }
        // Fails when the task has ended.
        let _ = closed.recv();
    }
}

/// A runspace pool of a server, as [`io::RunspacePool`], whose methods block.
///
/// A pool is a handle: clones are of the same pool, also in other threads. Dropping the last of its handles and pipelines
/// closes the pool and waits for it, at most as long as [`close`](Self::close).
#[derive(Clone)]
pub struct RunspacePool {
    session: Arc<Session>,
}

impl RunspacePool {
    /// Connects and opens a pool.
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::open`], and if the system starts no thread ([`Error::is_io`]).
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn open<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        let runtime = Runtime::new()?;
        let pool = runtime.wait(io::RunspacePool::open(connector, options))?;
        Ok(Self { session: Arc::new(Session { pool, runtime }) })
    }

    /// The pool as async code sees it: its state, its identifier, and methods for [`wait`](Self::wait).
    pub fn get_ref(&self) -> &io::RunspacePool {
        &self.session.pool
    }

    /// Waits for a future of this session: for what [`io`] has and this module has not.
    ///
    /// ```no_run
    /// use psrp::blocking::RunspacePool;
    /// use psrp::io::{Child, Options};
    ///
    /// let pool = RunspacePool::open(&Child::default(), Options::new())?;
    /// println!("{:?}", pool.wait(pool.get_ref().get_available_runspaces())?);
    /// # Ok::<(), psrp::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.session.runtime.wait(future)
    }

    /// Creates and starts a pipeline.
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::start`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn start(&self, request: impl Into<PipelineRequest>) -> Result<Pipeline, Error> {
        let pipeline = self.wait(self.get_ref().start(request))?;
        Ok(Pipeline { pipeline, pool: self.clone() })
    }

    /// Creates and starts a pipeline that gets input by [`Pipeline::send`] until [`Pipeline::end_input`].
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::start`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn start_with_input(&self, request: impl Into<PipelineRequest>) -> Result<Pipeline, Error> {
        let pipeline = self.wait(self.get_ref().start_with_input(request))?;
        Ok(Pipeline { pipeline, pool: self.clone() })
    }

    /// Runs a pipeline without input and collects what it sends. It may have failed: see [`Output::completed`].
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::invoke`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn invoke(&self, request: impl Into<PipelineRequest>) -> Result<Output, Error> {
        self.wait(self.get_ref().invoke(request))
    }

    /// Runs a pipeline with these objects as its input, and collects what it sends meanwhile.
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::invoke_with_input`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn invoke_with_input<V: Into<Value>>(
        &self,
        request: impl Into<PipelineRequest>,
        input: impl IntoIterator<Item = V>,
    ) -> Result<Output, Error> {
        self.wait(self.get_ref().invoke_with_input(request, input))
    }

    /// Runs a pipeline without input and converts each object of its output. With the feature `serde`.
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::invoke_as`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    #[cfg(feature = "serde")]
    pub fn invoke_as<T: ::serde::de::DeserializeOwned>(
        &self,
        request: impl Into<PipelineRequest>,
    ) -> Result<Vec<T>, Error> {
        self.wait(self.get_ref().invoke_as(request))
    }

    /// Closes the pool, after its pipelines have been stopped and closed, and ends the connection.
    ///
    /// # Errors
    ///
    /// As [`io::RunspacePool::close`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn close(&self) -> Result<(), Error> {
        self.wait(self.get_ref().close())
    }
}

impl fmt::Debug for RunspacePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get_ref().fmt(f)
    }
}

/// A pipeline that runs, as the iterator over its events: [`io::Pipeline`], whose methods block.
///
/// The last event is the state in which the pipeline has ended, unless the connection ends before, which is an error. Each
/// step of the iterator waits for the next event and panics inside of async code. A pipeline that is dropped before its end
/// is stopped in the background.
///
/// Another thread stops the pipeline while this one reads it:
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
    /// The pipeline as async code sees it: its state, its identifier, and its [handle](io::Pipeline::handle).
    pub fn get_ref(&self) -> &io::Pipeline {
        &self.pipeline
    }

    /// Sends an object to the input.
    ///
    /// # Errors
    ///
    /// As [`io::PipelineHandle::send`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn send(&self, value: impl Into<Value>) -> Result<(), Error> {
        self.pool.wait(self.pipeline.send(value))
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// As [`io::PipelineHandle::send`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn end_input(&self) -> Result<(), Error> {
        self.pool.wait(self.pipeline.end_input())
    }

    /// Stops the pipeline and waits until it has ended. What it sends until then can still be read.
    ///
    /// # Errors
    ///
    /// As [`io::PipelineHandle::stop`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
    pub fn stop(&self) -> Result<(), Error> {
        self.pool.wait(self.pipeline.stop())
    }

    /// Collects what the pipeline sends until its end.
    ///
    /// # Errors
    ///
    /// As [`io::Pipeline::output`].
    ///
    /// # Panics
    ///
    /// Panics inside of async code.
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
