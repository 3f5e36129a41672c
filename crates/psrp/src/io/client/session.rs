//! Sessions: opening, running pipelines, closing.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::Instant;
use uuid::Uuid;

use super::connection_task::ConnectionTask;
use super::host_calls::HostCallQueues;
use super::session_state::{PipelineSlot, SessionState, SharedSession, within};
use super::{Command, CommandHandle, Options, Output, PoolEvents};
use crate::client::{ClientPool, PipelineRequest};
use crate::error::Error;
use crate::io::{Connect, Transport};
use crate::message::{
    ApplicationPrivateData, CommandMetadata, GetCommandMetadata, PipelineState, PowerShell,
    RunspacePoolState, SessionCapability,
};
use crate::value::{PsString, Value};

/// Runs one script: connects, opens a pool of one runspace, runs the script and closes the pool. Requires the feature
/// `tokio`. Use a [`Session`] to run several scripts over one connection or to set [`Options`].
///
/// A failed script is not an error: check [`Output::state`] or call [`Output::completed`]. Dropping the future stops
/// the script. The output is returned even if closing the pool fails.
///
/// # Errors
///
/// Same as [`Session::open`] and [`Session::invoke`].
///
/// # Panics
///
/// Same as [`Session::open`].
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
    let session = Session::open(connector, Options::new()).await?;
    let output = session.invoke(PowerShell::script(script)).await;
    let _ = session.close().await;
    output
}

/// Asynchronous session: a connection with a runspace pool, in which pipelines run. The blocking version is
/// `psrp::blocking::Session`, the state machine without I/O [`ClientPool`].
///
/// Clones are handles of the same session. The pool is closed by [`close`](Self::close), or in the background when the
/// last handle and pipeline are dropped.
///
/// When the connection ends, all pending operations fail with [`Error::is_closed`]. The error states the reason and has
/// its cause as source.
#[derive(Clone)]
pub struct Session {
    handle: Arc<PoolHandle>,
}

/// Shared by the handles of a pool and its pipelines. Dropping the last reference closes the pool.
pub(super) struct PoolHandle {
    pub(super) shared: Arc<SharedSession>,
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closing = true;
        state.wake_task();
    }
}

impl Session {
    /// Connects and opens a pool.
    ///
    /// # Errors
    ///
    /// Fails if the connection cannot be made; if the server does not open the pool; with [`Error::is_timeout`] if both
    /// together take longer than [`ClientLimits::open_timeout`](super::ClientLimits::open_timeout); and with
    /// [`Error::is_state`] for an invalid number of runspaces.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime with time enabled, and with I/O enabled if the connector needs it. This applies
    /// to every function that creates a pool.
    pub async fn open<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        Self::connect_and_start(connector, options, ClientPool::open).await
    }

    /// Opens a pool over an existing transport.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub async fn over<T: Transport + 'static>(transport: T, options: Options) -> Result<Self, Error> {
        Self::start_session(transport, options, ClientPool::open).await
    }

    /// Connects to a disconnected pool, identified by [`Config::pool_id`](crate::client::Config::pool_id) of the
    /// options. Attach to its pipelines with [`connect_pipeline`](Self::connect_pipeline).
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub async fn connect<C: Connect>(connector: &C, options: Options) -> Result<Self, Error> {
        Self::connect_and_start(connector, options, ClientPool::connect).await
    }

    /// Connects to a disconnected pool over an existing transport.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub async fn connect_over<T: Transport + 'static>(transport: T, options: Options) -> Result<Self, Error> {
        Self::start_session(transport, options, ClientPool::connect).await
    }

    /// Connects, then starts the session with the rest of the timeout.
    async fn connect_and_start<C: Connect>(
        connector: &C,
        mut options: Options,
        begin: impl FnOnce(&mut ClientPool) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let time = options.limits.open_timeout;
        let start = Instant::now();
        let transport = within(time, "to connect", connector.connect()).await?;
        options.limits.open_timeout = time.saturating_sub(start.elapsed());
        Self::start_session(transport, options, begin).await
    }

    async fn start_session<T: Transport + 'static>(
        transport: T,
        options: Options,
        begin: impl FnOnce(&mut ClientPool) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let Options { mut config, runspaces, host, host_info, ordered_host, limits } = options;
        if let Some(count) = runspaces {
            config = config.runspaces(count);
        }
        if let Some(info) = host_info {
            config = config.host_info(info);
        }
        if !transport.is_confidential() {
            config = config.clear_secrets(false);
        }
        let mut machine = ClientPool::new(config);
        begin(&mut machine)?;
        let shared = SharedSession::new(machine, limits, HostCallQueues::new(host), ordered_host);
        tokio::spawn(ConnectionTask::new(transport, Arc::clone(&shared)).run());
        let session = Self { handle: Arc::new(PoolHandle { shared }) };
        within(limits.open_timeout, "to open the pool", session.wait_until_open()).await?;
        Ok(session)
    }

    async fn wait_until_open(&self) -> Result<(), Error> {
        self.shared()
            .wait_until(|state| match state.check_alive() {
                Ok(()) => (state.machine.state() == RunspacePoolState::Opened).then_some(Ok(())),
                Err(error) => Some(Err(error)),
            })
            .await
    }

    pub(super) fn shared(&self) -> &Arc<SharedSession> {
        &self.handle.shared
    }

    /// Returns the identifier of the pool.
    pub fn id(&self) -> Uuid {
        self.shared().lock().machine.id()
    }

    /// Returns the state of the pool: `Broken` if the connection has ended unexpectedly.
    pub fn state(&self) -> RunspacePoolState {
        let state = self.shared().lock();
        match &state.ended {
            Some(ended) if ended.is_closed => RunspacePoolState::Closed,
            Some(_) => RunspacePoolState::Broken,
            None if state.is_closing => RunspacePoolState::Closing,
            None => state.machine.state(),
        }
    }

    /// Returns the server's protocol versions, once received.
    pub fn peer(&self) -> Option<SessionCapability> {
        self.shared().lock().machine.peer().cloned()
    }

    /// Returns the application's private data, if the server has sent any.
    pub fn application_private_data(&self) -> Option<ApplicationPrivateData> {
        self.shared().lock().machine.application_private_data().cloned()
    }

    /// Subscribes to user events and state changes of the pool. Earlier events are not delivered.
    pub fn events(&self) -> PoolEvents {
        PoolEvents::new(Arc::clone(self.shared()))
    }

    /// Waits until the session has ended and returns the reason.
    pub async fn closed(&self) -> Error {
        self.shared().wait_until(|state| state.check_alive().err()).await
    }

    /// Returns the pipelines of this client and their states, in no particular order.
    pub fn pipelines(&self) -> Vec<(Uuid, PipelineState)> {
        self.shared().lock().machine.pipelines().collect()
    }

    /// Creates and starts a pipeline. Waits while the send queue is full
    /// ([`ClientLimits::max_pending_bytes`](super::ClientLimits::max_pending_bytes)).
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not open, with [`Error::is_limit`] if there are too many
    /// pipelines, with [`Error::is_unwritable`] if the request cannot be encoded or needs a newer server, and if the
    /// connection ends.
    pub async fn start(&self, request: impl Into<PipelineRequest>) -> Result<Command, Error> {
        let request = request.into();
        self.shared().wait_for_room(None).await;
        let id = {
            let mut state = self.shared().lock();
            state.check_usable("start a pipeline")?;
            let id = state.machine.invoke(request)?;
            state.slots.insert(id, PipelineSlot::new(PipelineState::Running));
            state.wake_task();
            id
        };
        Ok(self.pipeline(id))
    }

    /// Creates and starts a pipeline with input, which [`CommandHandle::send`] sends and [`CommandHandle::end_input`]
    /// ends. The server is told at creation whether a pipeline has input; this cannot be changed later.
    ///
    /// # Errors
    ///
    /// Same as [`start`](Self::start).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), psrp::Error> {
    /// use psrp::io::{Child, Options, Session};
    /// use psrp::message::PowerShell;
    ///
    /// let session = Session::open(&Child::default(), Options::new()).await?;
    /// let pipeline = session.start_with_input(PowerShell::script("$input | ForEach-Object { $_ * 2 }")).await?;
    /// for number in 1..=3 {
    ///     pipeline.send(number).await?;
    /// }
    /// pipeline.end_input().await?;
    /// assert_eq!(pipeline.output().await?.output, [2, 4, 6].map(psrp::Value::from));
    /// session.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_with_input(&self, request: impl Into<PipelineRequest>) -> Result<Command, Error> {
        let mut request = request.into();
        if let PipelineRequest::Run(create) = &mut request {
            create.no_input = false;
        }
        self.start(request).await
    }

    /// Attaches to a pipeline that is running on the server, for example in a pool opened by
    /// [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_state`] if the pool is not open or already has a pipeline with this identifier, and with
    /// [`Error::is_limit`] if there are too many pipelines.
    pub fn connect_pipeline(&self, id: Uuid) -> Result<Command, Error> {
        let mut state = self.shared().lock();
        state.check_usable("connect to a pipeline")?;
        state.machine.connect_pipeline(id)?;
        let slot =
            PipelineSlot { created: Some(Instant::now()), ..PipelineSlot::new(PipelineState::Running) };
        state.slots.insert(id, slot);
        state.adopted.push(id);
        state.wake_task();
        drop(state);
        Ok(self.pipeline(id))
    }

    fn pipeline(&self, id: Uuid) -> Command {
        Command::new(Arc::clone(&self.handle), CommandHandle::new(Arc::clone(self.shared()), id))
    }

    /// Runs a pipeline without input and collects its output.
    ///
    /// A failed pipeline is not an error: check [`Output::state`] or call [`Output::completed`]. Dropping the future
    /// stops the pipeline.
    ///
    /// # Errors
    ///
    /// Same as [`start`](Self::start). Also fails with [`Error::is_limit`] if the output exceeds
    /// [`ClientLimits::max_output_bytes`](super::ClientLimits::max_output_bytes).
    pub async fn invoke(&self, request: impl Into<PipelineRequest>) -> Result<Output, Error> {
        self.start(request).await?.output().await
    }

    /// Runs a pipeline with the given input objects and collects its output at the same time. If the pipeline ends
    /// early, the remaining input is not sent.
    ///
    /// # Errors
    ///
    /// Same as [`invoke`](Self::invoke). Also fails if an object cannot be encoded.
    pub async fn invoke_with_input<V: Into<Value>>(
        &self,
        request: impl Into<PipelineRequest>,
        input: impl IntoIterator<Item = V>,
    ) -> Result<Output, Error> {
        let pipeline = self.start_with_input(request).await?;
        let handle = pipeline.handle();
        let mut sender = pin!(async {
            for value in input {
                handle.send(value).await?;
            }
            handle.end_input().await
        });
        let mut output = pin!(pipeline.output());
        let mut is_input_sent = false;
        poll_fn(|cx| {
            if !is_input_sent && let Poll::Ready(result) = sender.as_mut().poll(cx) {
                is_input_sent = true;
                match result {
                    // The pipeline ended before its input did; its output contains the reason.
                    Err(error) if !error.is_state() && !error.is_closed() => return Poll::Ready(Err(error)),
                    _ => {}
                }
            }
            output.as_mut().poll(cx)
        })
        .await
    }

    /// Runs a pipeline without input and deserializes its output. Requires the feature `serde`.
    ///
    /// # Errors
    ///
    /// Same as [`invoke`](Self::invoke). Also fails with [`Error::is_pipeline`] if the pipeline does not complete, and
    /// with [`Error::is_mismatch`] if an object does not have the shape of `T`.
    #[cfg(feature = "serde")]
    pub async fn invoke_as<T: ::serde::de::DeserializeOwned>(
        &self,
        request: impl Into<PipelineRequest>,
    ) -> Result<Vec<T>, Error> {
        self.invoke(request).await?.completed()?.output_as()
    }

    /// Returns the metadata of the server's commands that match the query.
    ///
    /// # Errors
    ///
    /// Same as [`invoke`](Self::invoke). Also fails with [`Error::is_pipeline`] if the pipeline does not complete, with
    /// [`Error::is_unwritable`] if the server's protocol is older than 2.1, and with [`Error::is_mismatch`] if the
    /// response is not command metadata.
    pub async fn get_command_metadata(&self, get: GetCommandMetadata) -> Result<Vec<CommandMetadata>, Error> {
        let output = self.invoke(get).await?.completed()?.output;
        let Some((count, commands)) = output.split_first() else { return Ok(Vec::new()) };
        GetCommandMetadata::count(count)?;
        commands.iter().map(CommandMetadata::from_value).collect()
    }

    /// Stops and closes the pipelines, closes the pool and ends the connection. Output that arrives after this call is
    /// dropped. Does nothing if the pool is closed.
    ///
    /// Any handle can close the pool, and several can wait for it. The pool is closed even if this future is dropped.
    ///
    /// # Errors
    ///
    /// Fails if the connection has ended for another reason, and if the server exceeds
    /// [`ClientLimits::stop_timeout`](super::ClientLimits::stop_timeout) or
    /// [`ClientLimits::close_timeout`](super::ClientLimits::close_timeout). After an error, too, this client has no
    /// pool any more.
    pub async fn close(&self) -> Result<(), Error> {
        {
            let mut state = self.shared().lock();
            state.is_closing = true;
            state.wake_task();
        }
        let ended = |state: &mut SessionState| {
            state
                .ended
                .as_ref()
                .map(|ended| if ended.is_closed { Ok(()) } else { Err(ended.error.duplicate()) })
        };
        self.shared().wait_until(ended).await
    }
}

impl_debug!(Session | this | id = this.id(), state = this.state());
