//! Integration tests, in one binary.

#[path = "../support/mod.rs"]
mod support;

mod alloc;
mod api;
mod axum;
mod conformance;
mod decode;
mod differential;
mod encode;
mod envelope;
mod go_compat;
mod ndjson;
mod round_trip;
mod stream;
