//! Documents, structs and implementations of the suite `types`: the Perplexity API.

pub mod document;
pub mod plain;
