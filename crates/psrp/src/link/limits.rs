//! Limits of a session.

/// Limits of a [`ClientPool`](crate::client::ClientPool) or a [`ServerPool`](crate::server::ServerPool).
///
/// ```
/// use psrp::{SessionLimits, client};
///
/// let limits = SessionLimits { max_pipelines: 4, ..SessionLimits::default() };
/// let pool = client::ClientPool::new(client::Config::new().limits(limits));
/// # drop(pool);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Maximum size of a received message in bytes, including fragment headers. A larger message fails its pipeline, or
    /// breaks the pool if it is addressed to the pool. Default: 200 MiB, as in PowerShell's sessions.
    pub max_object_size: usize,
    /// Maximum decoded size of a received message: the memory of its values and of what the typed message copies from
    /// them, in bytes. A larger message fails its pipeline, or breaks the pool if it is addressed to the pool.
    /// `max_event_bytes` should be larger. Default: 200 MiB, as in PowerShell's sessions.
    pub max_decoded_size: usize,
    /// Maximum number of pipelines at a time. Default: 1024.
    pub max_pipelines: usize,
    /// Maximum number of pending host calls. At the client, a pipeline that exceeds it fails. Default: 64.
    pub max_host_calls: usize,
    /// Maximum number of pending requests of the pool, which at the server are those that the application has not
    /// responded to. Default: 1024.
    pub max_requests: usize,
    /// Maximum decoded size of all events not polled yet, in bytes. Each event counts 64 bytes in addition. A transport
    /// that polls all events after every packet stays far below the limit. Default: 256 MiB.
    pub max_event_bytes: usize,
    /// Maximum bytes of pending output, including messages that wait for the session key. A message beyond the limit
    /// fails with [`Error::is_limit`](crate::Error::is_limit) and is not queued; retry it after data was sent. States,
    /// keys and acknowledgements of the protocol itself may use as much again; a peer that causes more of them breaks
    /// the pool. Default: 256 MiB.
    pub max_pending_bytes: usize,
    /// Maximum bytes buffered for partial messages of the pool and all its pipelines. A pipeline that exceeds it fails.
    /// Default: 256 MiB.
    pub max_partial_bytes: usize,
    /// Maximum bytes received for one pipeline in total, including fragment headers. A pipeline that exceeds it fails;
    /// the pool stays open. Default: `usize::MAX`, no limit.
    pub max_data_per_command: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            max_object_size: 200 << 20,
            max_decoded_size: 200 << 20,
            max_pipelines: 1024,
            max_host_calls: 64,
            max_requests: 1024,
            max_event_bytes: 256 << 20,
            max_pending_bytes: 256 << 20,
            max_partial_bytes: 256 << 20,
            max_data_per_command: usize::MAX,
        }
    }
}
