//! The integration tests, in one program.

#[path = "../support/cases.rs"]
mod cases;
#[cfg(feature = "body")]
#[path = "../support/chunked.rs"]
mod chunked;
#[path = "../support/twin.rs"]
mod literal_decoder;
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
mod compat_go;
mod decoder_conformance;
mod encode;
mod json;
mod limits;
mod reader;
mod stream;
mod twin;
