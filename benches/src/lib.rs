//! The shared benchmark harness.
pub mod sse;
