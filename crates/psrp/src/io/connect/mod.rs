//! What makes connections.

#[cfg(feature = "wsman")]
pub(super) mod wsman;
