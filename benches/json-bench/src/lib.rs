//! Payloads, documents and implementations of the suites `json` and `types`.

pub mod api;
pub mod documents;
pub mod ours;
pub mod payload;
pub mod peers;
pub mod text;
pub mod types;
