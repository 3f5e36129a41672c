//! Options for opening a pool.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::client::Config;
use crate::io::Host;
use crate::message::HostInfo;

/// Options for opening a [`Session`](super::Session): pool settings, the host, and limits.
#[derive(Default)]
pub struct Options {
    pub(super) config: Config,
    pub(super) runspaces: Option<RangeInclusive<i32>>,
    pub(super) host: Option<Arc<dyn Host>>,
    pub(super) host_info: Option<HostInfo>,
    pub(super) ordered_host: bool,
    pub(super) limits: ClientLimits,
}

/// Limits and timeouts of a client's session.
///
/// ```
/// use std::time::Duration;
///
/// use psrp::io::{ClientLimits, Options};
///
/// let limits = ClientLimits { open_timeout: Duration::from_secs(10), ..ClientLimits::default() };
/// let options = Options::new().limits(limits);
/// # drop(options);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Maximum bytes of buffered events. Each event counts its decoded size plus 64 bytes. Above the limit the session
    /// stops reading; one more message may be buffered. Default: 4 MiB.
    pub max_buffered_bytes: usize,
    /// Size of the send queue, in bytes, above which sending input and starting pipelines wait. Each pipeline can queue
    /// one message in addition, because the input of other pipelines may have to wait for its end. Default: 1 MiB.
    pub max_pending_bytes: usize,
    /// Maximum decoded size of a collected [`Output`](super::Output), plus 64 bytes per message. Default: 256 MiB.
    pub max_output_bytes: usize,
    /// Timeout for connecting and opening the pool, or for reconnecting. Default: 3 minutes.
    pub open_timeout: Duration,
    /// Minimum time between the acknowledged creation of a pipeline and its stop signal. An earlier stop is delayed. If
    /// PowerShell's server receives a stop for a script that it is about to start, it reports it as stopped but runs it
    /// anyway: the script can then no longer be stopped and occupies its runspace. Default: 100 ms.
    pub stop_delay: Duration,
    /// Timeout for stopping a pipeline. Default: 1 minute.
    pub stop_timeout: Duration,
    /// Timeout for the records and state of a stopped pipeline after the server has acknowledged the stop. PowerShell
    /// sends no state for a script that had not begun to run; after this time the pipeline counts as stopped.
    /// Default: 200 ms.
    pub late_records: Duration,
    /// Timeout for the server to close the pool after its pipelines have stopped, and again for closing the transport.
    /// Default: 1 minute.
    pub close_timeout: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            max_buffered_bytes: 4 << 20,
            max_pending_bytes: 1 << 20,
            max_output_bytes: 256 << 20,
            open_timeout: Duration::from_secs(180),
            stop_delay: Duration::from_millis(100),
            stop_timeout: Duration::from_secs(60),
            late_records: Duration::from_millis(200),
            close_timeout: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// Creates options with one runspace, no host and the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the pool's protocol settings: number of runspaces, application arguments, message limits.
        config(config: Config) => config = config;
        /// Sets the minimum and maximum number of runspaces. Each runspace runs one pipeline at a time; further
        /// pipelines wait on the server. [`Session::open`](super::Session::open) fails for an empty range or a
        /// minimum below 1. Default: the range of the [`config`](Self::config), which is one runspace.
        ///
        /// ```no_run
        /// # async fn example() -> Result<(), psrp::Error> {
        /// use psrp::io::{Child, Options, Session};
        /// use psrp::message::PowerShell;
        ///
        /// let session = Session::open(&Child::default(), Options::new().runspaces(1..=4)).await?;
        /// assert_eq!(session.max_runspaces(), 4);
        /// // Both scripts run at the same time.
        /// let (process, date) = tokio::join!(
        ///     session.invoke(PowerShell::script("$PID")),
        ///     session.invoke(PowerShell::script("Get-Date")),
        /// );
        /// println!("{:?} {:?}", process?.output, date?.output);
        /// session.close().await?;
        /// # Ok(())
        /// # }
        /// ```
        runspaces(count: RangeInclusive<i32>) => runspaces = Some(count);
        /// If true, orders a pipeline's host calls with its events. A call starts when the events before it have been
        /// read and the reader polls for another; later events are delivered after the call has returned. A pipeline
        /// whose events are not read therefore blocks at its next call. Default: false, calls start as soon as they
        /// arrive.
        ordered_host(is_ordered: bool) => ordered_host = is_ordered;
        /// Sets the host description sent to the server. Default: the [host's](Self::host), else the one of the
        /// [`config`](Self::config).
        host_info(info: HostInfo) => host_info = Some(info);
        /// Sets the limits and timeouts of the session. Default: [`ClientLimits::default`].
        limits(limits: ClientLimits) => limits = limits;
    }

    /// Sets the host that answers host calls of scripts. Default: none; every call is answered with an error.
    ///
    /// The server receives the host's [`info`](Host::info) unless [`host_info`](Self::host_info) is set. A host that
    /// owns a handle of its pool keeps the pool open.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host_info.get_or_insert_with(|| host.info());
        self.host = Some(host);
        self
    }
}

impl_debug! {
    Options |this|
        config = this.config, runspaces = this.runspaces, host = this.host.is_some(), limits = this.limits
}
