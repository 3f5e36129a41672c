//! Integration tests in one binary.

#[path = "../support/mod.rs"]
mod support;

mod api;
mod faults;
mod program;
mod readme;
mod recorded;
mod robustness;
mod scenario;
mod sdks;
mod server;
