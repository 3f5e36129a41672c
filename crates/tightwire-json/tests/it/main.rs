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
mod go_compat;
mod ndjson;
mod partial;
mod round_trip;
mod stream;
mod value;
mod value_map;
mod value_serde;
