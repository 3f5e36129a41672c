//! Configuration of the server's runspace pool.

#[cfg(feature = "crypto")]
use crate::crypto::SessionKey;
use crate::fragment::Fragmenter;
use crate::link::{Key, SessionLimits};
use crate::message::{ApplicationPrivateData, SessionCapability};
use crate::value::{PsString, Value};

/// Configuration of a server's [`ServerPool`](super::ServerPool).
pub struct Config {
    pub(super) capability: SessionCapability,
    pub(super) private_data: ApplicationPrivateData,
    pub(super) fragment_size: usize,
    pub(super) limits: SessionLimits,
    pub(super) key: Key,
}

impl Config {
    /// Returns the default configuration: the protocol versions as the only private data, default limits.
    pub fn new() -> Self {
        Self {
            capability: SessionCapability::default(),
            private_data: ApplicationPrivateData::new::<PsString, Value>([]),
            fragment_size: Fragmenter::DEFAULT_FRAGMENT_SIZE,
            limits: SessionLimits::default(),
            key: Key::default(),
        }
    }

    setters! {
        /// Sets the capabilities sent in the first message. Default: protocol 2.4. Both sides use the lower of their
        /// versions.
        capability(capability: SessionCapability) => capability = capability;
        /// Sets the application's private data sent to the client. Default: versions of protocol and serialization.
        application_private_data(data: ApplicationPrivateData) => private_data = data;
        /// Sets the maximum size of sent fragments in bytes, including their headers. Default: 32 KiB.
        fragment_size(bytes: usize) => fragment_size = bytes;
        /// Sets the limits of the pool. Default: [`SessionLimits::default`].
        limits(limits: SessionLimits) => limits = limits;
        /// Sets the session key. Default: random, generated when a client requests it.
        #[cfg(feature = "crypto")]
        session_key(key: SessionKey) => key.server_key = Some(key);
    }
}

impl_default!(Config);

impl_debug! {
    /// Shows neither the key nor the application's private data.
    Config |this| capability = this.capability, fragment_size = this.fragment_size, limits = this.limits
}
