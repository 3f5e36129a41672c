//! Parsers for the output of measurement tools, one module per format.

pub(crate) mod benchfmt;
pub(crate) mod criterion_data;
pub(crate) mod lines;
pub(crate) mod pyperf;
pub(crate) mod record;

use serde::{Deserialize, Serialize};

use crate::stats;

/// Time per operation that one run of one implementation reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timing {
    /// Median of the samples; Go reports none.
    pub(crate) median_ns: Option<f64>,
    pub(crate) mean_ns: f64,
}

impl Timing {
    /// Summarises samples in nanoseconds per operation; `None` without samples.
    pub(crate) fn of_samples(samples: &[f64]) -> Option<Self> {
        let mean_ns = stats::mean(samples)?;
        Some(Self { median_ns: stats::median(samples), mean_ns })
    }

    /// Returns the median, or else the mean.
    pub(crate) fn typical_ns(&self) -> f64 {
        self.median_ns.unwrap_or(self.mean_ns)
    }
}
