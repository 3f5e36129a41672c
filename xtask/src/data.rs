//! The list of peers in `benches/data`; `bench-report` reads the other files.

pub(crate) mod peers;

pub(crate) use bench_report::sources::{load, matches};

/// Reads a committed file, which tests check as well.
#[cfg(test)]
pub(crate) fn committed<T: serde::de::DeserializeOwned>(name: &str) -> T {
    load(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/data"), name).unwrap()
}
