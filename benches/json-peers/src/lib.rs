//! Documents, types and operations of the suites `json` and `types`, and the operations of all peers.
//!
//! The operations are generic over the library and instantiated once per library: here for the peers, in `json-bench`
//! for tightwire-json. Nothing here depends on our libraries, so that their changes compile nothing of this.

#[cfg(feature = "peers")]
pub mod api;
#[cfg(feature = "peers")]
pub mod input;
#[cfg(feature = "peers")]
pub mod library;
#[cfg(feature = "peers")]
pub mod operation;
pub mod payload;
#[cfg(feature = "peers")]
pub mod peers;
#[cfg(feature = "peers")]
pub mod real;
#[cfg(feature = "peers")]
pub mod special;
pub mod types;
