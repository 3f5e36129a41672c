//! Configuration of the client's runspace pool.

use std::fmt;
use std::ops::RangeInclusive;

use uuid::Uuid;

#[cfg(feature = "crypto")]
use crate::crypto::ClientKey;
use crate::fragment::Fragmenter;
use crate::link::{Key, LinkLimits};
use crate::message::{HostInfo, InitRunspacePool, SessionCapability};

/// Configuration and limits of a client's [`RunspacePool`](super::RunspacePool).
pub struct Config {
    pub(super) pool_id: Uuid,
    pub(super) capability: SessionCapability,
    pub(super) init: InitRunspacePool,
    pub(super) fragment_size: usize,
    pub(super) max_object_size: usize,
    pub(super) max_decoded_size: usize,
    pub(super) max_pipelines: usize,
    pub(super) max_host_calls: usize,
    pub(super) max_event_bytes: usize,
    pub(super) key: Key,
    pub(super) max_requests: usize,
    pub(super) max_pending_bytes: usize,
    pub(super) max_partial_bytes: usize,
    pub(super) max_data_per_command: usize,
}

impl Config {
    /// Default of [`fragment_size`](Self::fragment_size): 32 KiB.
    pub const DEFAULT_FRAGMENT_SIZE: usize = Fragmenter::DEFAULT_FRAGMENT_SIZE;
    /// Default of [`max_object_size`](Self::max_object_size): 200 MiB, as in PowerShell's sessions.
    pub const DEFAULT_MAX_OBJECT_SIZE: usize = 200 << 20;
    /// Default of [`max_decoded_size`](Self::max_decoded_size): 200 MiB, as in PowerShell's sessions.
    pub const DEFAULT_MAX_DECODED_SIZE: usize = 200 << 20;
    /// Default of [`max_pipelines`](Self::max_pipelines): 1024.
    pub const DEFAULT_MAX_PIPELINES: usize = 1024;
    /// Default of [`max_host_calls`](Self::max_host_calls): 64.
    pub const DEFAULT_MAX_HOST_CALLS: usize = 64;
    /// Default of [`max_event_bytes`](Self::max_event_bytes): 256 MiB.
    pub const DEFAULT_MAX_EVENT_BYTES: usize = 256 << 20;
    /// Default of [`max_requests`](Self::max_requests): 1024.
    pub const DEFAULT_MAX_REQUESTS: usize = 1024;
    /// Default of [`max_pending_bytes`](Self::max_pending_bytes): 256 MiB.
    pub const DEFAULT_MAX_PENDING_BYTES: usize = 256 << 20;
    /// Default of [`max_partial_bytes`](Self::max_partial_bytes): 256 MiB.
    pub const DEFAULT_MAX_PARTIAL_BYTES: usize = 256 << 20;
    /// Default of [`max_data_per_command`](Self::max_data_per_command): no limit.
    pub const DEFAULT_MAX_DATA_PER_COMMAND: usize = usize::MAX;

    /// Returns the default configuration: random identifier, one runspace, no host, default limits.
    pub fn new() -> Self {
        Self {
            pool_id: Uuid::new_v4(),
            capability: SessionCapability::default(),
            init: InitRunspacePool::default(),
            fragment_size: Self::DEFAULT_FRAGMENT_SIZE,
            max_object_size: Self::DEFAULT_MAX_OBJECT_SIZE,
            max_decoded_size: Self::DEFAULT_MAX_DECODED_SIZE,
            max_pipelines: Self::DEFAULT_MAX_PIPELINES,
            max_host_calls: Self::DEFAULT_MAX_HOST_CALLS,
            max_event_bytes: Self::DEFAULT_MAX_EVENT_BYTES,
            key: Key::default(),
            max_requests: Self::DEFAULT_MAX_REQUESTS,
            max_pending_bytes: Self::DEFAULT_MAX_PENDING_BYTES,
            max_partial_bytes: Self::DEFAULT_MAX_PARTIAL_BYTES,
            max_data_per_command: Self::DEFAULT_MAX_DATA_PER_COMMAND,
        }
    }

    /// Sets the identifier of the pool. To connect to an existing pool, set its identifier. Default: random.
    #[must_use]
    pub fn pool_id(mut self, id: Uuid) -> Self {
        self.pool_id = id;
        self
    }

    /// Sets the capabilities sent in the first message. Default: protocol 2.4. Both sides use the lower of their
    /// versions.
    #[must_use]
    pub fn capability(mut self, capability: SessionCapability) -> Self {
        self.capability = capability;
        self
    }

    /// Sets the message that opens the pool: number of runspaces, host, application arguments. Default: one runspace,
    /// no host, no arguments.
    #[must_use]
    pub fn init(mut self, init: InitRunspacePool) -> Self {
        self.init = init;
        self
    }

    /// Sets the minimum and maximum number of runspaces. Default: 1 and 1.
    #[must_use]
    pub fn runspaces(mut self, count: RangeInclusive<i32>) -> Self {
        (self.init.min_runspaces, self.init.max_runspaces) = count.into_inner();
        self
    }

    /// Sets the description of the host sent to the server. Default: no host.
    #[must_use]
    pub fn host_info(mut self, info: HostInfo) -> Self {
        self.init.host_info = info;
        self
    }

    /// Sets the maximum size of sent fragments in bytes, including their headers. Default:
    /// [`DEFAULT_FRAGMENT_SIZE`](Self::DEFAULT_FRAGMENT_SIZE), 32 KiB.
    #[must_use]
    pub fn fragment_size(mut self, bytes: usize) -> Self {
        self.fragment_size = bytes;
        self
    }

    /// Sets the maximum size of a received message in bytes, including fragment headers. A larger message fails its
    /// pipeline, or breaks the pool if it is addressed to the pool. Default:
    /// [`DEFAULT_MAX_OBJECT_SIZE`](Self::DEFAULT_MAX_OBJECT_SIZE), 200 MiB.
    #[must_use]
    pub fn max_object_size(mut self, bytes: usize) -> Self {
        self.max_object_size = bytes;
        self
    }

    /// Sets the maximum decoded size of a received message: the memory of its values and of what the typed message
    /// copies from them, in bytes. A larger message fails its pipeline, or breaks the pool if it is addressed to the
    /// pool. [`max_event_bytes`](Self::max_event_bytes) should be larger. Default:
    /// [`DEFAULT_MAX_DECODED_SIZE`](Self::DEFAULT_MAX_DECODED_SIZE), 200 MiB.
    #[must_use]
    pub fn max_decoded_size(mut self, bytes: usize) -> Self {
        self.max_decoded_size = bytes;
        self
    }

    /// Sets the maximum number of pipelines at a time. Default: [`DEFAULT_MAX_PIPELINES`](Self::DEFAULT_MAX_PIPELINES),
    /// 1024.
    #[must_use]
    pub fn max_pipelines(mut self, count: usize) -> Self {
        self.max_pipelines = count;
        self
    }

    /// Sets the maximum number of pending host calls. A pipeline that exceeds it fails. Default:
    /// [`DEFAULT_MAX_HOST_CALLS`](Self::DEFAULT_MAX_HOST_CALLS), 64.
    #[must_use]
    pub fn max_host_calls(mut self, count: usize) -> Self {
        self.max_host_calls = count;
        self
    }

    /// Sets the maximum decoded size of all events not polled yet, in bytes. Each event counts 64 bytes in addition. A
    /// transport that polls all events after every packet stays far below the limit. Default:
    /// [`DEFAULT_MAX_EVENT_BYTES`](Self::DEFAULT_MAX_EVENT_BYTES), 256 MiB.
    #[must_use]
    pub fn max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
        self
    }

    /// Sets the maximum number of pending requests of the pool. Default:
    /// [`DEFAULT_MAX_REQUESTS`](Self::DEFAULT_MAX_REQUESTS), 1024.
    #[must_use]
    pub fn max_requests(mut self, count: usize) -> Self {
        self.max_requests = count;
        self
    }

    /// Sets the maximum bytes of pending output, including messages that wait for the session key. A message beyond the
    /// limit fails with [`Error::is_limit`](crate::Error::is_limit) and is not queued; retry it after data was sent.
    /// Keys and states of the protocol itself may use as much again; a server that causes more of them breaks the pool.
    /// Default: [`DEFAULT_MAX_PENDING_BYTES`](Self::DEFAULT_MAX_PENDING_BYTES), 256 MiB.
    #[must_use]
    pub fn max_pending_bytes(mut self, bytes: usize) -> Self {
        self.max_pending_bytes = bytes;
        self
    }

    /// Sets the maximum bytes buffered for partial messages of the pool and all its pipelines. A pipeline that exceeds
    /// it fails. Default: [`DEFAULT_MAX_PARTIAL_BYTES`](Self::DEFAULT_MAX_PARTIAL_BYTES), 256 MiB.
    #[must_use]
    pub fn max_partial_bytes(mut self, bytes: usize) -> Self {
        self.max_partial_bytes = bytes;
        self
    }

    /// Sets the maximum bytes received for one pipeline in total, including fragment headers. A pipeline that exceeds
    /// it fails; the pool stays open. Default: [`DEFAULT_MAX_DATA_PER_COMMAND`](Self::DEFAULT_MAX_DATA_PER_COMMAND), no
    /// limit.
    #[must_use]
    pub fn max_data_per_command(mut self, bytes: usize) -> Self {
        self.max_data_per_command = bytes;
        self
    }

    /// Allows or forbids secure strings with protocol 2.4 or later, which does not encrypt them. If forbidden, messages
    /// that contain one fail with [`Error::is_unsupported`](crate::Error::is_unsupported). Default: allowed. Use
    /// `false` for a connection that is neither encrypted nor local; `io::RunspacePool` does this itself.
    #[must_use]
    pub fn clear_secrets(mut self, are_allowed: bool) -> Self {
        self.key.forbids_cleartext = !are_allowed;
        self
    }

    /// Sets the key pair for the session key exchange. Default: generated on demand.
    #[cfg(feature = "crypto")]
    #[must_use]
    pub fn key_pair(mut self, pair: ClientKey) -> Self {
        self.key.pair = Some(pair);
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    pub(super) fn link_limits(&self) -> LinkLimits {
        LinkLimits {
            fragment_size: self.fragment_size,
            max_object_size: self.max_object_size,
            max_decoded_size: self.max_decoded_size,
            max_partial_bytes: self.max_partial_bytes,
            max_pending_bytes: self.max_pending_bytes,
            max_event_bytes: self.max_event_bytes,
        }
    }
}

/// Shows neither the key nor the application arguments.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("pool_id", &self.pool_id)
            .field("capability", &self.capability)
            .field("min_runspaces", &self.init.min_runspaces)
            .field("max_runspaces", &self.init.max_runspaces)
            .field("fragment_size", &self.fragment_size)
            .field("max_object_size", &self.max_object_size)
            .field("max_decoded_size", &self.max_decoded_size)
            .field("max_pipelines", &self.max_pipelines)
            .field("max_host_calls", &self.max_host_calls)
            .field("max_event_bytes", &self.max_event_bytes)
            .field("max_requests", &self.max_requests)
            .field("max_pending_bytes", &self.max_pending_bytes)
            .field("max_partial_bytes", &self.max_partial_bytes)
            .field("max_data_per_command", &self.max_data_per_command)
            .finish_non_exhaustive()
    }
}
