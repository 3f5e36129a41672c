//! Integration tests, in one binary.

#[path = "../support/mod.rs"]
mod support;

mod alloc;
mod api;
mod canonical;
mod conformance;
mod decode;
mod differential;
mod elements;
mod encode;
mod errors;
mod formats;
mod go_compat;
mod ndjson;
mod partial;
mod round_trip;
mod signatures;
mod stream;
mod text_sequence;
mod tree;
mod value;
mod value_map;
mod value_serde;
