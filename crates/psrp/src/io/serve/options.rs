//! Options for serving a session.

use std::time::Duration;

use crate::server::Config;

/// Options for serving a session, with limits in addition to those of the [`Config`].
///
/// ```
/// use psrp::io::serve::Options;
///
/// let options = Options { max_input_bytes: 16 << 20, ..Options::default() };
/// # drop(options);
/// ```
#[derive(Debug)]
pub struct Options {
    /// The pool's settings and protocol limits. Default: [`Config::new`].
    pub config: Config,
    /// Maximum bytes of unsent messages of all pipelines, above which writers wait. Each pipeline can exceed it by one
    /// message of any size. While sending is blocked, at most the same amount is read. Default: 1 MiB.
    pub max_unsent_bytes: usize,
    /// Maximum decoded bytes of a pipeline's unread input. Above it, the server withholds acknowledgements, for which
    /// clients wait before they send more. At four times the limit, over all pipelines, the server stops reading until
    /// handlers have read some input; until then it does not receive stop requests either. Default: 1 MiB.
    pub max_input_bytes: usize,
    /// How long a handler that uses [`Pipeline::stopping`](super::Pipeline::stopping) may take to end before its future
    /// is dropped. Default: 30 seconds, which is half of PowerShell's timeout.
    pub stop_timeout: Duration,
    /// Timeout of each of three steps at the end of a session: sending the remaining packets, waiting for handlers that
    /// block, and waiting for the client to close the connection after it has closed the pool. Default: 5 seconds.
    pub close_timeout: Duration,
}

impl Options {
    /// Creates options with the defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            config: Config::new(),
            max_unsent_bytes: 1 << 20,
            max_input_bytes: 1 << 20,
            stop_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
        }
    }
}
