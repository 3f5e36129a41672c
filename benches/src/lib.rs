//! The shared benchmark harness.
pub mod conformance;
pub mod sse;
