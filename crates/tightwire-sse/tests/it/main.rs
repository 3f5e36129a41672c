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

mod adaptors_conformance;
mod allocations;
mod body;
mod browser;
mod bytes;
mod chunking;
mod client_contract;
mod client_http;
mod client_reconnect;
mod codec;
mod compat_eventsource_stream;
mod decoder_conformance;
mod encode;
mod json;
mod limits;
mod reader;
mod reference;
mod stream;
