//! How a session is served.

use std::time::Duration;

use crate::server::Config;

/// How a session is served, and its limits beside those of the [`Config`].
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

    /// The defaults.
    pub fn new() -> Self {
        Self {
            config: Config::new(),
            max_unsent_bytes: Self::DEFAULT_MAX_UNSENT_BYTES,
            max_input_bytes: Self::DEFAULT_MAX_INPUT_BYTES,
            stop_timeout: Self::DEFAULT_STOP_TIMEOUT,
            close_timeout: Self::DEFAULT_CLOSE_TIMEOUT,
        }
    }

    /// What the pool is like. Default: [`Config::new`].
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Lets pipelines write while no more than so many bytes of messages of all of them are unsent. Each may add one
    /// message to that, however large. While nothing can be sent, no more than as much is read. Default:
    /// [`DEFAULT_MAX_UNSENT_BYTES`](Self::DEFAULT_MAX_UNSENT_BYTES), 1 MiB.
    #[must_use]
    pub fn max_unsent_bytes(mut self, bytes: usize) -> Self {
        self.max_unsent_bytes = bytes;
        self
    }

    /// Acknowledges the input of a pipeline while no more than so many bytes of it, by its decoded size, wait for the
    /// handler, which is what clients wait for before they send more. When four times as much waits for the handlers of all pipelines, nothing
    /// is read any more until they have taken some; then a client that waits for no acknowledgement can't stop a
    /// pipeline either. Default: [`DEFAULT_MAX_INPUT_BYTES`](Self::DEFAULT_MAX_INPUT_BYTES), 1 MiB.
    #[must_use]
    pub fn max_input_bytes(mut self, bytes: usize) -> Self {
        self.max_input_bytes = bytes;
        self
    }

    /// How long a handler that ends by itself ([`Pipeline::stopping`](super::Pipeline::stopping)) may take. Its future
    /// is dropped then. Default: [`DEFAULT_STOP_TIMEOUT`](Self::DEFAULT_STOP_TIMEOUT), 30 seconds, half of what PowerShell
    /// waits for.
    #[must_use]
    pub fn stop_timeout(mut self, time: Duration) -> Self {
        self.stop_timeout = time;
        self
    }

    /// A limit of three times at the end of a session: to send the remaining packets, to wait for handlers that block, and to
    /// wait until a client that has closed the pool ends the connection.
    /// Default: [`DEFAULT_CLOSE_TIMEOUT`](Self::DEFAULT_CLOSE_TIMEOUT), 5 seconds.
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
