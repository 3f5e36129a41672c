//! Integration tests.

#[cfg(all(feature = "serde", feature = "derive"))]
#[path = "../support/bridge.rs"]
mod bridge;
#[path = "../support/golden.rs"]
mod golden;
#[cfg(feature = "schema-json")]
#[path = "../support/random.rs"]
mod random;
#[cfg(feature = "derive")]
#[path = "../support/mod.rs"]
mod support;
#[cfg(all(feature = "schema-json", feature = "derive"))]
#[path = "../support/vectors/mod.rs"]
mod vector_runner;

mod alloc;
mod builder;
#[cfg(all(feature = "serde", feature = "derive"))]
mod canonical;
mod chunking;
mod codec;
mod default_vectors;
#[cfg(feature = "derive")]
mod derive;
mod elements;
mod evolution;
mod exchange;
mod fingerprint;
mod headers;
mod io;
mod limits;
mod prefixes;
#[cfg(feature = "derive")]
mod registry;
mod schema_dynamic;
mod schema_json;
mod schema_properties;
#[cfg(all(feature = "serde", feature = "derive"))]
mod serde;
mod spec;
mod time;
mod vectors;
mod view;
mod wire;
mod writer;
