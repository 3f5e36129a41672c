//! What a pool is opened with.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::client::Config;
use crate::io::Host;
use crate::message::HostInfo;

/// How a [`RunspacePool`](super::RunspacePool) is opened: what the server is told, who answers its calls of the host,
/// and the limits.
pub struct Options {
    pub(super) config: Config,
    pub(super) runspaces: Option<RangeInclusive<i32>>,
    pub(super) host: Option<Arc<dyn Host>>,
    pub(super) host_info: Option<HostInfo>,
    pub(super) limits: Limits,
}

/// The limits that the session keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
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

    /// One runspace, no host, and the default limits.
    pub fn new() -> Self {
        let limits = Limits {
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

    /// The pool and the limits of the protocol: number of runspaces, arguments of the application, size of messages.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Minimum and maximum number of runspaces of the pool: as many pipelines run at the same time, others wait. A range
    /// that is empty or begins below 1 makes [`RunspacePool::open`](super::RunspacePool::open) fail. Default: that of the
    /// [`config`](Self::config), one.
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

    /// Who answers the calls of scripts to the host. Default: nobody; each call is answered with an error.
    ///
    /// The server is told what the host [tells of itself](Host::info), unless [`host_info`](Self::host_info) says
    /// something else. A host that has a handle of its pool keeps the pool open.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host_info.get_or_insert_with(|| host.info());
        self.host = Some(host);
        self
    }

    /// Makes the calls of a pipeline's host in order with its events: a call waits until the events before it were taken
    /// and more are asked for, and the events behind it wait until it has returned. A pipeline whose events nobody reads
    /// waits at its next call. Default: off, calls are made as soon as they arrive.
    #[must_use]
    pub fn ordered_host(mut self, is_ordered: bool) -> Self {
        self.limits.ordered_host = is_ordered;
        self
    }

    /// What the server is told about the host. Default: that of the [`config`](Self::config) without a host.
    #[must_use]
    pub fn host_info(mut self, info: HostInfo) -> Self {
        self.host_info = Some(info);
        self
    }

    /// Nothing more is read while events of so many bytes wait to be taken. Each counts its decoded size and 64 bytes
    /// more. One message more may come. Default:
    /// [`DEFAULT_MAX_BUFFERED_BYTES`](Self::DEFAULT_MAX_BUFFERED_BYTES), 4 MiB.
    #[must_use]
    pub fn max_buffered_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_buffered_bytes = bytes;
        self
    }

    /// Input and new pipelines wait while more than so many bytes of messages are to be sent. Default:
    /// [`DEFAULT_MAX_PENDING_BYTES`](Self::DEFAULT_MAX_PENDING_BYTES), 1 MiB.
    #[must_use]
    pub fn max_pending_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_pending_bytes = bytes;
        self
    }

    /// Maximum decoded size of what one pipeline sends when it is collected as an [`Output`](super::Output), with 64
    /// bytes more for each message. Default:
    /// [`DEFAULT_MAX_OUTPUT_BYTES`](Self::DEFAULT_MAX_OUTPUT_BYTES), 256 MiB.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_output_bytes = bytes;
        self
    }

    /// How long connecting and opening, or connecting again, may take. Default:
    /// [`DEFAULT_OPEN_TIMEOUT`](Self::DEFAULT_OPEN_TIMEOUT), 3 minutes.
    #[must_use]
    pub fn open_timeout(mut self, time: Duration) -> Self {
        self.limits.open_timeout = time;
        self
    }

    /// Minimum time between the acknowledged creation of a pipeline and the signal that stops it. A stop waits for it.
    /// PowerShell's server reports a script as stopped that it was about to start, and runs it all the same; nothing stops
    /// it after that, and its runspace stays taken. Default: [`DEFAULT_STOP_DELAY`](Self::DEFAULT_STOP_DELAY), 100 ms.
    #[must_use]
    pub fn stop_delay(mut self, time: Duration) -> Self {
        self.limits.stop_delay = time;
        self
    }

    /// How long a pipeline may take to stop. Default:
    /// [`DEFAULT_STOP_TIMEOUT`](Self::DEFAULT_STOP_TIMEOUT), 1 minute.
    #[must_use]
    pub fn stop_timeout(mut self, time: Duration) -> Self {
        self.limits.stop_timeout = time;
        self
    }

    /// How long a stopped pipeline may go on sending records and its state after the server has acknowledged the stop.
    /// PowerShell sends no state for a script that has not begun to run; the pipeline counts as stopped then. Default:
    /// [`DEFAULT_LATE_RECORDS`](Self::DEFAULT_LATE_RECORDS), 200 ms.
    #[must_use]
    pub fn late_records(mut self, time: Duration) -> Self {
        self.limits.late_records = time;
        self
    }

    /// How long the server may take to close the pool when its pipelines have stopped, and the transport to end.
    /// Default:
    /// [`DEFAULT_CLOSE_TIMEOUT`](Self::DEFAULT_CLOSE_TIMEOUT), 1 minute.
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
