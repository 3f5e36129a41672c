//! Documents, structs and implementations of the `types` suite: the Perplexity API.

pub mod codec;
pub mod document;
pub mod plain;
pub mod totals;
