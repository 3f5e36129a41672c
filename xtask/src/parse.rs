//! Parser for the output of Go benchmarks.

pub(crate) mod benchfmt;
