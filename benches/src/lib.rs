//! The shared benchmark harness.
