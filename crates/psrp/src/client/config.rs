//! Configuration of the client's runspace pool.

use std::ops::RangeInclusive;

use uuid::Uuid;

#[cfg(feature = "crypto")]
use crate::crypto::ClientKey;
use crate::fragment::Fragmenter;
use crate::guid;
use crate::link::{Key, SessionLimits};
use crate::message::{HostInfo, InitRunspacePool, SessionCapability};

/// Configuration of a client's [`ClientPool`](super::ClientPool).
pub struct Config {
    pub(super) pool_id: Uuid,
    pub(super) capability: SessionCapability,
    pub(super) init: InitRunspacePool,
    pub(super) fragment_size: usize,
    pub(super) limits: SessionLimits,
    pub(super) key: Key,
}

impl Config {
    /// Returns the default configuration: random identifier, one runspace, no host, default limits.
    pub fn new() -> Self {
        Self {
            pool_id: guid::random(),
            capability: SessionCapability::default(),
            init: InitRunspacePool::default(),
            fragment_size: Fragmenter::DEFAULT_FRAGMENT_SIZE,
            limits: SessionLimits::default(),
            key: Key::default(),
        }
    }

    setters! {
        /// Sets the identifier of the pool. To connect to an existing pool, set its identifier. Default: random.
        pool_id(id: Uuid) => pool_id = id;
        /// Sets the capabilities sent in the first message. Default: protocol 2.4. Both sides use the lower of their
        /// versions.
        capability(capability: SessionCapability) => capability = capability;
        /// Sets the message that opens the pool: number of runspaces, host, application arguments. Default: one
        /// runspace, no host, no arguments.
        init(init: InitRunspacePool) => init = init;
        /// Sets the description of the host sent to the server. Default: no host.
        host_info(info: HostInfo) => init.host_info = info;
        /// Sets the maximum size of sent fragments in bytes, including their headers. Default: 32 KiB.
        fragment_size(bytes: usize) => fragment_size = bytes;
        /// Sets the limits of the pool. Default: [`SessionLimits::default`].
        limits(limits: SessionLimits) => limits = limits;
        /// Allows or forbids secure strings with protocol 2.4 or later, which does not encrypt them. If forbidden,
        /// messages that contain one fail with [`Error::is_unsupported`](crate::Error::is_unsupported). Default:
        /// allowed. Use `false` for a connection that is neither encrypted nor local; `io::Session` does this
        /// itself.
        clear_secrets(are_allowed: bool) => key.forbids_cleartext = !are_allowed;
        /// Sets the key pair for the session key exchange. Default: generated on demand.
        #[cfg(feature = "crypto")]
        key_pair(pair: ClientKey) => key.pair = Some(pair);
    }

    /// Sets the minimum and maximum number of runspaces. Default: 1 and 1.
    #[must_use]
    pub fn runspaces(mut self, count: RangeInclusive<i32>) -> Self {
        (self.init.min_runspaces, self.init.max_runspaces) = count.into_inner();
        self
    }
}

impl_default!(Config);

impl_debug! {
    /// Shows neither the key nor the application arguments.
    Config |this|
        pool_id = this.pool_id, capability = this.capability, min_runspaces = this.init.min_runspaces,
        max_runspaces = this.init.max_runspaces, fragment_size = this.fragment_size, limits = this.limits
}
