//! How a pool is made.

use std::fmt;

use uuid::Uuid;

#[cfg(feature = "crypto")]
use crate::crypto::ClientKey;
use crate::fragment::DEFAULT_FRAGMENT_SIZE;
use crate::link::Key;
use crate::message::{HostInfo, InitRunspacePool, SessionCapability};

/// What a client's [`RunspacePool`](super::RunspacePool) is like, and its limits.
pub struct Config {
    pub(super) pool_id: Uuid,
    pub(super) capability: SessionCapability,
    pub(super) init: InitRunspacePool,
    pub(super) fragment_size: usize,
    pub(super) max_object_size: usize,
    pub(super) max_pipelines: usize,
    pub(super) max_host_calls: usize,
    pub(super) max_event_bytes: usize,
    pub(super) key: Key,
}

impl Config {
    /// A random identifier, one runspace, no host, and the default limits.
    pub fn new() -> Self {
        Self {
            pool_id: Uuid::new_v4(),
            capability: SessionCapability::default(),
            init: InitRunspacePool::default(),
            fragment_size: DEFAULT_FRAGMENT_SIZE,
            max_object_size: 10 << 20,
            max_pipelines: 1024,
            max_host_calls: 64,
            max_event_bytes: 64 << 20,
            key: Key::default(),
        }
    }

    /// The identifier of the pool: that of an existing one to connect to it. Default: random.
    #[must_use]
    pub fn pool_id(mut self, id: Uuid) -> Self {
        self.pool_id = id;
        self
    }

    /// What the first message tells about the client. Default: protocol 2.3.
    #[must_use]
    pub fn capability(mut self, capability: SessionCapability) -> Self {
        self.capability = capability;
        self
    }

    /// What opens the pool: number of runspaces, host, arguments of the application.
    #[must_use]
    pub fn init(mut self, init: InitRunspacePool) -> Self {
        self.init = init;
        self
    }

    /// What the server is told about the host. Default: that there is none.
    #[must_use]
    pub fn host_info(mut self, info: HostInfo) -> Self {
        self.init.host_info = info;
        self
    }

    /// Limits fragments that are sent to so many bytes, headers included. Default: 32 KiB.
    #[must_use]
    pub fn fragment_size(mut self, bytes: usize) -> Self {
        self.fragment_size = bytes;
        self
    }

    /// Limits messages that are received to so many bytes, the headers of their fragments included. Default: 10 MiB.
    #[must_use]
    pub fn max_object_size(mut self, bytes: usize) -> Self {
        self.max_object_size = bytes;
        self
    }

    /// Limits how many pipelines there may be at a time. Default: 1024.
    #[must_use]
    pub fn max_pipelines(mut self, count: usize) -> Self {
        self.max_pipelines = count;
        self
    }

    /// Limits how many calls of the host may wait for an answer. Default: 64.
    #[must_use]
    pub fn max_host_calls(mut self, count: usize) -> Self {
        self.max_host_calls = count;
        self
    }

    /// Limits the messages of all events that were not polled yet to so many bytes, with 64 bytes more for each. A
    /// transport that polls until there are no events, whenever it has handed something in, stays far below. Default:
    /// 64 MiB.
    #[must_use]
    pub fn max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
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
            .field("max_pipelines", &self.max_pipelines)
            .field("max_host_calls", &self.max_host_calls)
            .field("max_event_bytes", &self.max_event_bytes)
            .finish_non_exhaustive()
    }
}
