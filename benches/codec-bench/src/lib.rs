//! Messages and implementations of the `codec` suite: the peers of `tightwire-parco`.
//!
//! All of them implement [`Codec`](codec::Codec), so that a row is a list of types.

pub mod codec;
pub mod json;
pub mod message;
pub mod msgpack;
pub mod ours;
pub mod payload;
pub mod peers;
pub mod prost;
pub mod rkyv;
pub mod same_bytes;
