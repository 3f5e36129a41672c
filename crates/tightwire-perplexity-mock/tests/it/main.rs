//! The integration tests, in one program.

#[path = "../support/mod.rs"]
mod support;

mod api;
mod faults;
mod program;
mod recorded;
mod robustness;
mod scenario;
mod sdks;
mod server;
