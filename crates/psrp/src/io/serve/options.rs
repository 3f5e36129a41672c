//! Options for serving a session.

use std::time::Duration;

use crate::server::Config;

/// Options for serving a session, with limits in addition to those of the [`Config`].
#[derive(Debug)]
pub struct Options {
    pub(super) config: Config,
    pub(super) max_unsent_bytes: usize,
    pub(super) max_input_bytes: usize,
    pub(super) stop_timeout: Duration,
    pub(super) close_timeout: Duration,
}

impl Options {
    /// Default of [`max_unsent_bytes`](Self::max_unsent_bytes): 1 MiB.
    pub const DEFAULT_MAX_UNSENT_BYTES: usize = 1 << 20;
    /// Default of [`max_input_bytes`](Self::max_input_bytes): 1 MiB.
    pub const DEFAULT_MAX_INPUT_BYTES: usize = 1 << 20;
    /// Default of [`stop_timeout`](Self::stop_timeout): 30 seconds.
    pub const DEFAULT_STOP_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`close_timeout`](Self::close_timeout): 5 seconds.
    pub const DEFAULT_CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

    /// Creates options with the defaults.
    pub fn new() -> Self {
        Self {
            config: Config::new(),
            max_unsent_bytes: Self::DEFAULT_MAX_UNSENT_BYTES,
            max_input_bytes: Self::DEFAULT_MAX_INPUT_BYTES,
            stop_timeout: Self::DEFAULT_STOP_TIMEOUT,
            close_timeout: Self::DEFAULT_CLOSE_TIMEOUT,
        }
    }

    /// Sets the pool's settings and protocol limits. Default: [`Config::new`].
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets the maximum bytes of unsent messages of all pipelines, above which writers wait. Each pipeline can exceed
    /// it by one message of any size. While sending is blocked, at most the same amount is read. Default:
    /// [`DEFAULT_MAX_UNSENT_BYTES`](Self::DEFAULT_MAX_UNSENT_BYTES), 1 MiB.
    #[must_use]
    pub fn max_unsent_bytes(mut self, bytes: usize) -> Self {
        self.max_unsent_bytes = bytes;
        self
    }

    /// Sets the maximum decoded bytes of a pipeline's unread input. Above it, the server withholds acknowledgements,
    /// for which clients wait before they send more. At four times the limit, over all pipelines, the server stops
    /// reading until handlers have read some input; until then it does not receive stop requests either. Default:
    /// [`DEFAULT_MAX_INPUT_BYTES`](Self::DEFAULT_MAX_INPUT_BYTES), 1 MiB.
    #[must_use]
    pub fn max_input_bytes(mut self, bytes: usize) -> Self {
        self.max_input_bytes = bytes;
        self
    }

    /// Sets how long a handler that uses [`Pipeline::stopping`](super::Pipeline::stopping) may take to end before its
    /// future is dropped. Default: [`DEFAULT_STOP_TIMEOUT`](Self::DEFAULT_STOP_TIMEOUT), 30 seconds, which is half of
    /// PowerShell's timeout.
    #[must_use]
    pub fn stop_timeout(mut self, time: Duration) -> Self {
        self.stop_timeout = time;
        self
    }

    /// Sets the timeout of each of three steps at the end of a session: sending the remaining packets, waiting for
    /// handlers that block, and waiting for the client to close the connection after it has closed the pool. Default:
    /// [`DEFAULT_CLOSE_TIMEOUT`](Self::DEFAULT_CLOSE_TIMEOUT), 5 seconds.
    #[must_use]
    pub fn close_timeout(mut self, time: Duration) -> Self {
        self.close_timeout = time;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
