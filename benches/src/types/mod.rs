//! Documents, structs and implementations of the `types` suite.

pub mod codec;
pub mod document;
pub mod plain;
pub mod totals;
