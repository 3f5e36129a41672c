//! Options for opening a pool.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::client::Config;
use crate::io::Host;
use crate::message::HostInfo;

/// Options for opening a [`RunspacePool`](super::RunspacePool): pool settings, the host, and limits.
pub struct Options {
    pub(super) config: Config,
    pub(super) runspaces: Option<RangeInclusive<i32>>,
    pub(super) host: Option<Arc<dyn Host>>,
    pub(super) host_info: Option<HostInfo>,
    pub(super) limits: SessionLimits,
}

/// Limits and timeouts of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionLimits {
    pub(super) max_buffered_bytes: usize,
    pub(super) max_pending_bytes: usize,
    pub(super) max_output_bytes: usize,
    pub(super) ordered_host: bool,
    pub(super) open_timeout: Duration,
    pub(super) stop_delay: Duration,
    pub(super) stop_timeout: Duration,
    pub(super) late_records: Duration,
    pub(super) close_timeout: Duration,
}

impl Options {
    /// Default of [`max_buffered_bytes`](Self::max_buffered_bytes): 4 MiB.
    pub const DEFAULT_MAX_BUFFERED_BYTES: usize = 4 << 20;
    /// Default of [`max_pending_bytes`](Self::max_pending_bytes): 1 MiB.
    pub const DEFAULT_MAX_PENDING_BYTES: usize = 1 << 20;
    /// Default of [`max_output_bytes`](Self::max_output_bytes): 256 MiB.
    pub const DEFAULT_MAX_OUTPUT_BYTES: usize = 256 << 20;
    /// Default of [`open_timeout`](Self::open_timeout): 3 minutes.
    pub const DEFAULT_OPEN_TIMEOUT: Duration = Duration::from_secs(180);
    /// Default of [`stop_delay`](Self::stop_delay): 100 ms.
    pub const DEFAULT_STOP_DELAY: Duration = Duration::from_millis(100);
    /// Default of [`stop_timeout`](Self::stop_timeout): 1 minute.
    pub const DEFAULT_STOP_TIMEOUT: Duration = Duration::from_secs(60);
    /// Default of [`late_records`](Self::late_records): 200 ms.
    pub const DEFAULT_LATE_RECORDS: Duration = Duration::from_millis(200);
    /// Default of [`close_timeout`](Self::close_timeout): 1 minute.
    pub const DEFAULT_CLOSE_TIMEOUT: Duration = Duration::from_secs(60);

    /// Creates options with one runspace, no host and the default limits.
    pub fn new() -> Self {
        let limits = SessionLimits {
            max_buffered_bytes: Self::DEFAULT_MAX_BUFFERED_BYTES,
            max_pending_bytes: Self::DEFAULT_MAX_PENDING_BYTES,
            max_output_bytes: Self::DEFAULT_MAX_OUTPUT_BYTES,
            ordered_host: false,
            open_timeout: Self::DEFAULT_OPEN_TIMEOUT,
            stop_delay: Self::DEFAULT_STOP_DELAY,
            stop_timeout: Self::DEFAULT_STOP_TIMEOUT,
            late_records: Self::DEFAULT_LATE_RECORDS,
            close_timeout: Self::DEFAULT_CLOSE_TIMEOUT,
        };
        Self { config: Config::new(), runspaces: None, host: None, host_info: None, limits }
    }

    /// Sets the pool's protocol settings: number of runspaces, application arguments, message limits.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets the minimum and maximum number of runspaces. Each runspace runs one pipeline at a time; further pipelines
    /// wait on the server. [`RunspacePool::open`](super::RunspacePool::open) fails for an empty range or a minimum
    /// below 1. Default: the range of the [`config`](Self::config), which is one runspace.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), psrp::Error> {
    /// use psrp::io::{Child, Options, RunspacePool};
    /// use psrp::message::PowerShell;
    ///
    /// let pool = RunspacePool::open(&Child::default(), Options::new().runspaces(1..=4)).await?;
    /// assert_eq!(pool.max_runspaces(), 4);
    /// // Both scripts run at the same time.
    /// let (process, date) =
    ///     tokio::join!(pool.invoke(PowerShell::script("$PID")), pool.invoke(PowerShell::script("Get-Date")));
    /// println!("{:?} {:?}", process?.output, date?.output);
    /// pool.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn runspaces(mut self, count: RangeInclusive<i32>) -> Self {
        self.runspaces = Some(count);
        self
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

    /// If true, orders a pipeline's host calls with its events. A call starts when the events before it have been read
    /// and the reader polls for another; later events are delivered after the call has returned. A pipeline whose
    /// events are not read therefore blocks at its next call. Default: false, calls start as soon as they arrive.
    #[must_use]
    pub fn ordered_host(mut self, is_ordered: bool) -> Self {
        self.limits.ordered_host = is_ordered;
        self
    }

    /// Sets the host description sent to the server. Default: the [host's](Self::host), else the one of the
    /// [`config`](Self::config).
    #[must_use]
    pub fn host_info(mut self, info: HostInfo) -> Self {
        self.host_info = Some(info);
        self
    }

    /// Sets the maximum bytes of buffered events. Each event counts its decoded size plus 64 bytes. Above the limit the
    /// session stops reading; one more message may be buffered. Default:
    /// [`DEFAULT_MAX_BUFFERED_BYTES`](Self::DEFAULT_MAX_BUFFERED_BYTES), 4 MiB.
    #[must_use]
    pub fn max_buffered_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_buffered_bytes = bytes;
        self
    }

    /// Sets the size of the send queue, in bytes, above which sending input and starting pipelines wait. Default:
    /// [`DEFAULT_MAX_PENDING_BYTES`](Self::DEFAULT_MAX_PENDING_BYTES), 1 MiB.
    #[must_use]
    pub fn max_pending_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_pending_bytes = bytes;
        self
    }

    /// Sets the maximum decoded size of a collected [`Output`](super::Output), plus 64 bytes per message. Default:
    /// [`DEFAULT_MAX_OUTPUT_BYTES`](Self::DEFAULT_MAX_OUTPUT_BYTES), 256 MiB.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_output_bytes = bytes;
        self
    }

    /// Sets the timeout for connecting and opening the pool, or for reconnecting. Default:
    /// [`DEFAULT_OPEN_TIMEOUT`](Self::DEFAULT_OPEN_TIMEOUT), 3 minutes.
    #[must_use]
    pub fn open_timeout(mut self, time: Duration) -> Self {
        self.limits.open_timeout = time;
        self
    }

    /// Sets the minimum time between the acknowledged creation of a pipeline and its stop signal. An earlier stop is
    /// delayed. If PowerShell's server receives a stop for a script that it is about to start, it reports it as stopped but
    /// runs it anyway: the script can then no longer be stopped and occupies its runspace. Default:
    /// [`DEFAULT_STOP_DELAY`](Self::DEFAULT_STOP_DELAY), 100 ms.
    #[must_use]
    pub fn stop_delay(mut self, time: Duration) -> Self {
        self.limits.stop_delay = time;
        self
    }

    /// Sets the timeout for stopping a pipeline. Default: [`DEFAULT_STOP_TIMEOUT`](Self::DEFAULT_STOP_TIMEOUT), 1
    /// minute.
    #[must_use]
    pub fn stop_timeout(mut self, time: Duration) -> Self {
        self.limits.stop_timeout = time;
        self
    }

    /// Sets how long to wait for the records and state of a stopped pipeline after the server has acknowledged the
    /// stop. PowerShell sends no state for a script that had not begun to run; after this time the pipeline counts as
    /// stopped. Default: [`DEFAULT_LATE_RECORDS`](Self::DEFAULT_LATE_RECORDS), 200 ms.
    #[must_use]
    pub fn late_records(mut self, time: Duration) -> Self {
        self.limits.late_records = time;
        self
    }

    /// Sets the timeout for the server to close the pool after its pipelines have stopped, and again for closing the
    /// transport. Default: [`DEFAULT_CLOSE_TIMEOUT`](Self::DEFAULT_CLOSE_TIMEOUT), 1 minute.
    #[must_use]
    pub fn close_timeout(mut self, time: Duration) -> Self {
        self.limits.close_timeout = time;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("config", &self.config)
            .field("runspaces", &self.runspaces)
            .field("host", &self.host.is_some())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
