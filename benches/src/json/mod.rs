//! Payloads, documents and implementations of the `json` suite.

pub mod documents;
pub mod ours;
pub mod payload;
pub mod peers;
pub mod text;
pub mod types;
