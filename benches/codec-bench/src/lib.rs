//! Messages and implementations of the `codec` suite: the peers of `tightwire-parco`.

pub mod codec;
pub mod layouts;
pub mod message;
pub mod peers;
