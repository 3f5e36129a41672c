//! Readers of what measuring tools write, one module per format. None of them runs anything.

pub(crate) mod benchfmt;
pub(crate) mod criterion_data;
pub(crate) mod lines;
pub(crate) mod pyperf;
pub(crate) mod record;

use serde::{Deserialize, Serialize};

use crate::stats;

/// What one run of one implementation reported about its time per operation.
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

    /// The median where there is one, else the mean.
    pub(crate) fn typical_ns(&self) -> f64 {
        self.median_ns.unwrap_or(self.mean_ns)
    }
}
