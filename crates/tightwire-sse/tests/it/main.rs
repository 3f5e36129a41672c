//! Integration tests, in one binary.

#[path = "../support/cases.rs"]
mod cases;
#[cfg(feature = "body")]
#[path = "../support/chunked.rs"]
mod chunked;
#[path = "../support/reference.rs"]
mod reference_decoder;
#[cfg(feature = "reqwest")]
#[path = "../support/server.rs"]
mod server;

mod allocations;
mod body;
mod browser;
mod bytes;
mod client;
mod client_contract;
mod codec;
mod compat_eventsource_stream;
mod compat_reqwest_eventsource;
mod encode;
mod entry_points;
mod extension;
mod json;
mod limits;
mod mcp;
mod reader;
mod readme;
mod reference;
mod replay;
mod stream;
