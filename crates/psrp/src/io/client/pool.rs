//! The pool and what it can be told to do.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use tokio::time::Instant;
use uuid::Uuid;

use super::driver::Driver;
use super::feeding;
use super::hosting::Calls;
use super::shared::{Shared, State, within};
use super::slot::Slot;
use super::{Options, Output, Pipeline, PipelineHandle, PoolEvents};
use crate::client::{PipelineRequest, RunspacePool as Machine};
use crate::error::Error;
use crate::io::{Connect, Transport};
use crate::message::{
    ApplicationPrivateData, CommandMetadata, GetCommandMetadata, PipelineState, PowerShell,
    RunspacePoolState, SessionCapability,
};
use crate::value::{PsString, Value};

/// Runs one script: connects, opens a pool of one runspace, runs the script in it, and closes the pool. With the feature
/// `tokio`. A [`RunspacePool`] runs several scripts over one connection, and takes [`Options`].
///
/// The script may have failed: see [`Output::state`] and [`Output::completed`]. Dropping the future stops it. Once the
/// script has ended its output is returned, also if closing the pool fails.
///
/// # Errors
///
/// As [`RunspacePool::open`] and [`RunspacePool::invoke`].
///
/// # Panics
///
/// As [`RunspacePool::open`].
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::Child;
///
/// // PowerShell as a child process; `Ssh`, `Wsman` and `Socket` connect elsewhere.
/// let output = psrp::run(&Child::default(), "Get-Process pwsh").await?.completed()?;
/// println!("{} processes", output.output.len());
/// # Ok(())
/// # }
/// ```
pub async fn run<C: Connect>(connector: &C, script: impl Into<PsString>) -> Result<Output, Error> {
    let pool = RunspacePool::open(connector, Options::new()).await?;
    let output = pool.invoke(PowerShell::script(script)).await;
    let _ = pool.close().await;
    output
}

/// A runspace pool of a server, in which pipelines run.
///
/// A pool is a handle: clones are of the same pool. It is closed by [`close`](Self::close), and in the background when
/// all handles and pipelines are dropped.
///
/// Everything that waits fails with [`Error::is_closed`] when the connection ends; the error tells the reason, and has
/// what it comes from as its source.
#[derive(Clone)]
pub struct RunspacePool {
    handle: Arc<Handle>,
}

/// Closes the pool with the last handle.
pub(super) struct Handle {
    pub(super) shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closing = true;
        state.wake_driver();
    }
}

impl RunspacePool {
    /// Connects and opens a pool.
    ///
    /// # Errors
    ///
    /// Fails if there is no connection to be had, if the server does not open a pool, if this takes longer than
    /// [`Options::open_timeout`] ([`Error::is_timeout`]), and if no pool can have that number of runspaces
    /// ([`Error::is_state`]).
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with time and, for what needs it, I/O, as do all functions that make a pool.
    pub async fn open<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        let time = options.limits.open_timeout;
        let start = Instant::now();
        let transport = within(time, "to connect", connector.connect()).await?;
        Self::begin(transport, options.open_timeout(time - time.min(start.elapsed())), Machine::open).await
    }

    /// Opens a pool over a connection.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn over<T: Transport + 'static>(transport: T, options: Options) -> Result<Self, Error> {
        Self::begin(transport, options, Machine::open).await
    }

    /// Connects to a pool that a client has left, the one with the
    /// [identifier](crate::client::Config::pool_id) of the options. Its pipelines are taken over by
    /// [`connect_pipeline`](Self::connect_pipeline).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn connect<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        let time = options.limits.open_timeout;
        let start = Instant::now();
        let transport = within(time, "to connect", connector.connect()).await?;
        let options = options.open_timeout(time - time.min(start.elapsed()));
        Self::begin(transport, options, Machine::connect).await
    }

    /// The same over a connection.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn connect_over<T: Transport + 'static>(transport: T, options: Options) -> Result<Self, Error> {
        Self::begin(transport, options, Machine::connect).await
    }

    async fn begin<T: Transport + 'static>(
        transport: T,
        options: Options,
        begin: impl FnOnce(&mut Machine) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let Options { mut config, runspaces, host, host_info, limits } = options;
        if let Some(count) = runspaces {
            config = config.runspaces(count);
        }
        if let Some(info) = host_info {
            config = config.host_info(info);
        }
        if !transport.is_confidential() {
            config = config.clear_secrets(false);
        }
        let mut machine = Machine::new(config);
        begin(&mut machine)?;
        let shared = Shared::new(machine, limits, Calls::new(host));
        tokio::spawn(Driver::new(transport, Arc::clone(&shared)).run());
        let pool = Self { handle: Arc::new(Handle { shared }) };
        within(limits.open_timeout, "to open the pool", pool.until_opened()).await?;
        Ok(pool)
    }

    async fn until_opened(&self) -> Result<(), Error> {
        self.shared()
            .wait_until(|state| match state.alive() {
                Ok(()) => (state.machine.state() == RunspacePoolState::Opened).then_some(Ok(())),
                Err(error) => Some(Err(error)),
            })
            .await
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }

    /// The identifier of the pool.
    pub fn id(&self) -> Uuid {
        self.shared().lock().machine.id()
    }

    /// The state of the pool. It is broken if the connection has ended.
    pub fn state(&self) -> RunspacePoolState {
        let state = self.shared().lock();
        match &state.ended {
            Some(ended) if ended.is_closed => RunspacePoolState::Closed,
            Some(_) => RunspacePoolState::Broken,
            None if state.is_closing => RunspacePoolState::Closing,
            None => state.machine.state(),
        }
    }

    /// What the server has told about itself.
    pub fn peer(&self) -> Option<SessionCapability> {
        self.shared().lock().machine.peer().cloned()
    }

    /// What the server's application has told, if it has.
    pub fn application_private_data(&self) -> Option<ApplicationPrivateData> {
        self.shared().lock().machine.application_private_data().cloned()
    }

    /// What happens in the pool from now on, user events and states.
    pub fn events(&self) -> PoolEvents {
        PoolEvents::new(Arc::clone(self.shared()))
    }

    /// Waits until the session has ended, and tells why.
    pub async fn closed(&self) -> Error {
        self.shared().wait_until(|state| state.alive().err()).await
    }

    /// The pipelines of this client and their states, in no order.
    pub fn pipelines(&self) -> Vec<(Uuid, PipelineState)> {
        self.shared().lock().machine.pipelines().collect()
    }

    /// Creates and starts a pipeline. It waits while too much is to be sent
    /// ([`Options::max_pending_bytes`]).
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), if there are too many pipelines ([`Error::is_limit`]), if
    /// the request can't be written or needs a newer server ([`Error::is_unwritable`]), and if the connection ends.
    pub async fn start(&self, request: impl Into<PipelineRequest>) -> Result<Pipeline, Error> {
        let request = request.into();
        self.shared().room(None).await;
        let id = {
            let mut state = self.shared().lock();
            state.usable("start a pipeline")?;
            let id = state.machine.invoke(request)?;
            state.slots.insert(id, Slot::new(PipelineState::Running));
            state.wake_driver();
            id
        };
        Ok(self.pipeline(id))
    }

    /// The same for a pipeline that gets input by [`Pipeline::send`] until [`Pipeline::end_input`]. Whether there is input
    /// can't be changed later: the server is told when the pipeline is created.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), psrp::Error> {
    /// use psrp::io::{Child, Options, RunspacePool};
    /// use psrp::message::PowerShell;
    ///
    /// let pool = RunspacePool::open(&Child::default(), Options::new()).await?;
    /// let pipeline = pool.start_with_input(PowerShell::script("$input | ForEach-Object { $_ * 2 }")).await?;
    /// for number in 1..=3 {
    ///     pipeline.send(number).await?;
    /// }
    /// pipeline.end_input().await?;
    /// assert_eq!(pipeline.output().await?.output, [2, 4, 6].map(psrp::Value::from));
    /// pool.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_with_input(&self, request: impl Into<PipelineRequest>) -> Result<Pipeline, Error> {
        let mut request = request.into();
        if let PipelineRequest::Run(create) = &mut request {
            create.no_input = false;
        }
        self.start(request).await
    }

    /// Takes over a pipeline that runs at the server, such as one of a pool that was connected to.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or has a pipeline with this identifier ([`Error::is_state`]), and if there are too
    /// many pipelines ([`Error::is_limit`]).
    pub fn connect_pipeline(&self, id: Uuid) -> Result<Pipeline, Error> {
        let mut state = self.shared().lock();
        state.usable("connect to a pipeline")?;
        state.machine.connect_pipeline(id)?;
        let slot = Slot { created: Some(Instant::now()), ..Slot::new(PipelineState::Running) };
        state.slots.insert(id, slot);
        state.adopted.push(id);
        state.wake_driver();
        drop(state);
        Ok(self.pipeline(id))
    }

    fn pipeline(&self, id: Uuid) -> Pipeline {
        Pipeline::new(Arc::clone(&self.handle), PipelineHandle::new(Arc::clone(self.shared()), id))
    }

    /// Runs a pipeline without input and collects what it sends.
    ///
    /// The pipeline may have failed: see [`Output::state`] and [`Output::completed`]. Dropping the future stops it.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), and if the pipeline sends more than [`Options::max_output_bytes`]
    /// ([`Error::is_limit`]).
    pub async fn invoke(&self, request: impl Into<PipelineRequest>) -> Result<Output, Error> {
        self.start(request).await?.output().await
    }

    /// Runs a pipeline with these objects as its input, and collects what it sends meanwhile. What the pipeline does not
    /// want is not sent: it may end before its input does.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke), and if an object can't be written.
    pub async fn invoke_with_input<V: Into<Value>>(
        &self,
        request: impl Into<PipelineRequest>,
        input: impl IntoIterator<Item = V>,
    ) -> Result<Output, Error> {
        let mut input = input.into_iter();
        feeding::invoke(self, request.into(), |_| Poll::Ready(input.next())).await
    }

    /// The same with objects as they come.
    ///
    /// # Errors
    ///
    /// As [`invoke_with_input`](Self::invoke_with_input).
    pub async fn invoke_with_stream<S: Stream<Item: Into<Value>>>(
        &self,
        request: impl Into<PipelineRequest>,
        input: S,
    ) -> Result<Output, Error> {
        let mut input = pin!(input);
        feeding::invoke(self, request.into(), |cx| input.as_mut().poll_next(cx)).await
    }

    /// Runs a pipeline without input and converts each object of its output. With the feature `serde`.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke), if the pipeline does not complete ([`Error::is_pipeline`]), and if an object is not
    /// of the shape of `T` ([`Error::is_mismatch`]).
    #[cfg(feature = "serde")]
    pub async fn invoke_as<T: ::serde::de::DeserializeOwned>(
        &self,
        request: impl Into<PipelineRequest>,
    ) -> Result<Vec<T>, Error> {
        self.invoke(request).await?.completed()?.output_as()
    }

    /// The commands of the server that match.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke), if the pipeline does not complete ([`Error::is_pipeline`]), if the server's protocol
    /// is older than 2.1 ([`Error::is_unwritable`]), and if what it sends describes no commands
    /// ([`Error::is_mismatch`]).
    pub async fn get_command_metadata(&self, get: GetCommandMetadata) -> Result<Vec<CommandMetadata>, Error> {
        let output = self.invoke(get).await?.completed()?.output;
        let Some((count, commands)) = output.split_first() else { return Ok(Vec::new()) };
        GetCommandMetadata::count(count)?;
        commands.iter().map(CommandMetadata::from_value).collect()
    }

    /// Closes the pool, after its pipelines have been stopped and closed, and ends the connection. What pipelines send
    /// from now on is dropped. Nothing happens if it is closed.
    ///
    /// Each handle may close the pool, and several may wait for it. If the future is dropped the pool is closed all the
    /// same.
    ///
    /// # Errors
    ///
    /// Fails if the connection has ended otherwise, with its reason; and if the server takes too long
    /// ([`Options::stop_timeout`], [`Options::close_timeout`]). The pool is gone for this client then too.
    pub async fn close(&self) -> Result<(), Error> {
        {
            let mut state = self.shared().lock();
            state.is_closing = true;
            state.wake_driver();
        }
        let ended = |state: &mut State| {
            state.ended.as_ref().map(|ended| if ended.is_closed { Ok(()) } else { Err(ended.error()) })
        };
        self.shared().wait_until(ended).await
    }
}

impl fmt::Debug for RunspacePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunspacePool")
            .field("id", &self.id())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
