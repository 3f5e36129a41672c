//! Integration tests, in one binary.

#[path = "../support/mod.rs"]
mod support;

mod alloc;
mod axum;
mod conformance;
mod decode;
mod differential;
mod encode;
mod envelope;
mod errors;
mod go_compat;
mod ndjson;
mod round_trip;
mod stream;
