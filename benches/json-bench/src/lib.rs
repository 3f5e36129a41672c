//! Payloads, documents and implementations of the suites `json` and `types`.

pub mod api;
pub mod documents;
pub mod families;
pub mod library;
pub mod mix;
pub mod payload;
pub mod types;
