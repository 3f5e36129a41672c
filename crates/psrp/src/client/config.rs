//! How a pool is made.

use std::fmt;
use std::ops::RangeInclusive;

use uuid::Uuid;

#[cfg(feature = "crypto")]
use crate::crypto::ClientKey;
use crate::fragment::Fragmenter;
use crate::link::{Key, Sizes};
use crate::message::{HostInfo, InitRunspacePool, SessionCapability};

/// What a client's [`RunspacePool`](super::RunspacePool) is like, and its limits.
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
    /// Default of [`max_object_size`](Self::max_object_size): 200 MiB, PowerShell's for sessions.
    pub const DEFAULT_MAX_OBJECT_SIZE: usize = 200 << 20;
    /// Default of [`max_decoded_size`](Self::max_decoded_size): 200 MiB, PowerShell's for sessions.
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

    /// A random identifier, one runspace, no host, and the default limits.
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

    /// The identifier of the pool: that of an existing one to connect to it. Default: random.
    #[must_use]
    pub fn pool_id(mut self, id: Uuid) -> Self {
        self.pool_id = id;
        self
    }

    /// What the first message tells about the client. Default: protocol 2.4; if the server's is older, both use that.
    #[must_use]
    pub fn capability(mut self, capability: SessionCapability) -> Self {
        self.capability = capability;
        self
    }

    /// What opens the pool: number of runspaces, host, arguments of the application. Default: one
    /// runspace, no host, no arguments.
    #[must_use]
    pub fn init(mut self, init: InitRunspacePool) -> Self {
        self.init = init;
        self
    }

    /// Minimum and maximum number of runspaces. Default: one.
    #[must_use]
    pub fn runspaces(mut self, count: RangeInclusive<i32>) -> Self {
        (self.init.min_runspaces, self.init.max_runspaces) = count.into_inner();
        self
    }

    /// What the server is told about the host. Default: that there is none.
    #[must_use]
    pub fn host_info(mut self, info: HostInfo) -> Self {
        self.init.host_info = info;
        self
    }

    /// Limits fragments that are sent to so many bytes, headers included. Default:
    /// [`DEFAULT_FRAGMENT_SIZE`](Self::DEFAULT_FRAGMENT_SIZE), 32 KiB.
    #[must_use]
    pub fn fragment_size(mut self, bytes: usize) -> Self {
        self.fragment_size = bytes;
        self
    }

    /// Limits messages that are received to so many bytes, the headers of their fragments included. A pipeline with a
    /// larger one fails; the pool goes on, unless the message is its own. Default:
    /// [`DEFAULT_MAX_OBJECT_SIZE`](Self::DEFAULT_MAX_OBJECT_SIZE), 200 MiB.
    #[must_use]
    pub fn max_object_size(mut self, bytes: usize) -> Self {
        self.max_object_size = bytes;
        self
    }

    /// Maximum decoded size of a message that is received: the bytes of memory that its values take, and what its typed
    /// form copies out of them. A pipeline with a larger message fails; the pool goes on, unless the message is its own.
    /// [`max_event_bytes`](Self::max_event_bytes) should be larger. Default:
    /// [`DEFAULT_MAX_DECODED_SIZE`](Self::DEFAULT_MAX_DECODED_SIZE), 200 MiB.
    #[must_use]
    pub fn max_decoded_size(mut self, bytes: usize) -> Self {
        self.max_decoded_size = bytes;
        self
    }

    /// Limits how many pipelines there may be at a time. Default:
    /// [`DEFAULT_MAX_PIPELINES`](Self::DEFAULT_MAX_PIPELINES), 1024.
    #[must_use]
    pub fn max_pipelines(mut self, count: usize) -> Self {
        self.max_pipelines = count;
        self
    }

    /// Limits how many calls of the host may wait for an answer. A pipeline that makes another one fails. Default:
    /// [`DEFAULT_MAX_HOST_CALLS`](Self::DEFAULT_MAX_HOST_CALLS), 64.
    #[must_use]
    pub fn max_host_calls(mut self, count: usize) -> Self {
        self.max_host_calls = count;
        self
    }

    /// Maximum decoded size of all events that were not polled yet, with 64 bytes more for each. A transport that polls
    /// until there are no events, whenever it has handed something in, stays far below. Default:
    /// [`DEFAULT_MAX_EVENT_BYTES`](Self::DEFAULT_MAX_EVENT_BYTES), 256 MiB.
    #[must_use]
    pub fn max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
        self
    }

    /// Limits how many requests of the pool may wait for an answer of the server. Default:
    /// [`DEFAULT_MAX_REQUESTS`](Self::DEFAULT_MAX_REQUESTS), 1024.
    #[must_use]
    pub fn max_requests(mut self, count: usize) -> Self {
        self.max_requests = count;
        self
    }

    /// Limits the messages that wait to be sent to so many bytes, those that wait for the session key included. What
    /// exceeds it is refused ([`Error::is_limit`](crate::Error::is_limit)) and nothing of it is queued: it can be tried
    /// again when something was sent. The keys and states of the protocol itself are not refused:
    /// they may take as much again, and a server that makes more of them necessary breaks the pool. Default:
    /// [`DEFAULT_MAX_PENDING_BYTES`](Self::DEFAULT_MAX_PENDING_BYTES), 256 MiB.
    #[must_use]
    pub fn max_pending_bytes(mut self, bytes: usize) -> Self {
        self.max_pending_bytes = bytes;
        self
    }

    /// Limits what is kept of messages that were received in part, of the pool and all of its pipelines, to so many
    /// bytes. A pipeline that there is no more room for fails. Default:
    /// [`DEFAULT_MAX_PARTIAL_BYTES`](Self::DEFAULT_MAX_PARTIAL_BYTES), 256 MiB.
    #[must_use]
    pub fn max_partial_bytes(mut self, bytes: usize) -> Self {
        self.max_partial_bytes = bytes;
        self
    }

    /// Limits what is received for one pipeline in all of its life to so many bytes, headers of fragments included. A
    /// pipeline that exceeds it fails, the pool goes on. Default:
    /// [`DEFAULT_MAX_DATA_PER_COMMAND`](Self::DEFAULT_MAX_DATA_PER_COMMAND), no limit.
    #[must_use]
    pub fn max_data_per_command(mut self, bytes: usize) -> Self {
        self.max_data_per_command = bytes;
        self
    }

    /// Whether secure strings may be sent with protocol 2.4 or later, which does not encrypt them. If not, whatever has one
    /// can't be sent ([`Error::is_unsupported`](crate::Error::is_unsupported)). Default: they may. A
    /// connection that is neither encrypted nor local needs `false`, which `io::RunspacePool` sets by itself.
    #[must_use]
    pub fn clear_secrets(mut self, are_allowed: bool) -> Self {
        self.key.is_clear_refused = !are_allowed;
        self
    }

    /// The key pair for the exchange of the session key. Default: one is generated when it is needed.
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
    pub(super) fn sizes(&self) -> Sizes {
        Sizes {
            fragment_size: self.fragment_size,
            max_object_size: self.max_object_size,
            max_decoded_size: self.max_decoded_size,
            max_partial_bytes: self.max_partial_bytes,
            max_pending_bytes: self.max_pending_bytes,
            max_event_bytes: self.max_event_bytes,
        }
    }
}

/// Shows neither the key nor the arguments of the application.
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
