//! Runs files of conformance cases through the crates of this workspace and through their peers.

pub mod json;
pub mod parco;
pub mod perplexity;
pub mod psrp;
pub mod sse;
