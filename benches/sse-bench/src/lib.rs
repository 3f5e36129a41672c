//! Inputs, implementations and limits of the `sse` suite.

pub mod encode;
pub mod http;
pub mod ours;
pub mod payload;
pub mod peers;
pub mod tally;
