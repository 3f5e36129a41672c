//! What makes connections.

#[cfg(feature = "ssh")]
pub(super) mod ssh;
