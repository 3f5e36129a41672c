//! Integration tests in one binary.

#[cfg(feature = "client")]
#[path = "../support/replies.rs"]
mod replies;
#[cfg(feature = "client")]
#[path = "../support/server.rs"]
mod server;
#[cfg(feature = "client")]
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/wire.rs"]
mod wire;

mod agent_cases;
mod agent_simulation;
mod client_allocations;
mod client_chunking;
mod client_env;
mod client_middleware;
mod client_replies;
mod client_requests;
mod client_retry;
mod client_secrets;
mod client_server;
mod client_service;
mod client_stream;
mod client_stream_splits;
mod client_structured;
mod client_transport;
mod client_wire;
mod readme;
mod types_golden;
mod types_tolerance;
mod types_wire;
