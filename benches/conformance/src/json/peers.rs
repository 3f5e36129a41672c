//! Peers of the suite `json`.

use serde::de::IgnoredAny;
use serde_json::Value;

/// Entry point of a peer.
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) accepts: fn(&[u8]) -> bool,
}

/// Peers to compare with. The tree type of sonic-rs is left out: it overflows the stack in two cases, which ends the
/// process.
pub(super) const ALL: &[Peer] = &[
    Peer { name: "serde_json", accepts: |document| serde_json::from_slice::<Value>(document).is_ok() },
    Peer {
        name: "serde_json, skipped",
        accepts: |document| serde_json::from_slice::<IgnoredAny>(document).is_ok(),
    },
    Peer {
        name: "simd-json",
        accepts: |document| simd_json::serde::from_slice::<Value>(&mut document.to_vec()).is_ok(),
    },
    Peer {
        name: "simd-json, tree of its own",
        accepts: |document| simd_json::to_owned_value(&mut document.to_vec()).is_ok(),
    },
    Peer { name: "sonic-rs", accepts: |document| sonic_rs::from_slice::<Value>(document).is_ok() },
];
