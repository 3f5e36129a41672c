//! Parsers for the output of measurement tools, one module per format.

pub(crate) mod benchfmt;
pub(crate) mod lines;
pub(crate) mod pyperf;

use serde::Deserialize;

/// Result of one process of an implementation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Sample {
    /// Median time per operation; for Go the mean.
    #[serde(skip)]
    pub(crate) time_ns: f64,
    /// True if the time is that of a single call, which exceeds the time guard.
    pub(crate) is_once: bool,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) version: Option<String>,
    pub(crate) check: Option<u64>,
}
