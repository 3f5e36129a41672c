//! Estimate of the resources for many builders, computed from the measured cost of requests.

use serde::{Deserialize, Serialize};

use super::scaling::Scaling;

/// Assumptions about the builders, none of them measured.
pub(super) const BUILDERS: f64 = 1000.0;
pub(super) const BUILD_EVERY_S: f64 = 600.0;
pub(super) const PACKAGES: f64 = 100.0;
/// Share of the files that an instance downloads from the bucket.
pub(super) const MISSES: f64 = 0.1;
/// Peak load relative to the mean load, because builds start at the same time of day.
pub(super) const PEAK: f64 = 5.0;
/// Maximum utilization of a core.
pub(super) const FULL: f64 = 0.6;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    pub(crate) requests_per_s: f64,
    pub(crate) cores: f64,
    pub(crate) gigabits_per_s: f64,
    pub(crate) bucket_operations_per_s: f64,
    pub(crate) upstream_gets_per_file: f64,
}

/// Computes the estimate from the cost of one instance. `None` if that was not measured.
pub(super) fn estimate(scaling: &Scaling) -> Option<Estimate> {
    let hot = |what: &str| scaling.hot.iter().find(|row| row.instances == 1 && row.what == what);
    let page = hot("page")?;
    let file = hot("wheel of 1 MiB")?;
    let miss = scaling.passes.iter().find(|pass| pass.instances == 1 && !pass.is_cold)?;
    let most = scaling.passes.iter().filter(|pass| pass.is_cold).map(|pass| pass.upstream_gets_per_file);
    // Each package needs a page and a file.
    let each = BUILDERS * PACKAGES / BUILD_EVERY_S * PEAK;
    let cpu_us = page.cpu_us + file.cpu_us + MISSES * miss.cpu_us;
    Some(Estimate {
        requests_per_s: each * 2.0,
        cores: each * cpu_us / 1e6 / FULL,
        gigabits_per_s: each * f64::from(1 << 20) * 8.0 / 1e9,
        bucket_operations_per_s: each * MISSES * miss.bucket_operations_per_request,
        upstream_gets_per_file: most.fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::super::scaling::{Hot, Pass};
    use super::*;

    #[test]
    fn estimate_combines_costs() {
        let hot = |what: &str, cpu_us| Hot {
            instances: 1,
            what: what.to_owned(),
            requests_per_s: 1.0,
            p99_us: 1.0,
            cpu_us,
            errors: 0,
            bucket_operations_per_request: 0.0,
        };
        let pass = Pass {
            instances: 1,
            is_cold: false,
            files: 1,
            requests: 1,
            failed: 0,
            seconds: 1.0,
            p99_us: 1.0,
            cpu_us: 1000.0,
            mean_bytes: 1.0,
            upstream_gets_per_file: 0.0,
            bucket_operations_per_request: 2.0,
        };
        let mut scaling = Scaling { hot: vec![hot("page", 20.0)], passes: vec![pass] };
        assert_eq!(estimate(&scaling), None);
        scaling.hot.push(hot("wheel of 1 MiB", 100.0));
        let estimate = estimate(&scaling).unwrap();
        // 833 packages per second.
        assert!((estimate.requests_per_s - 1666.67).abs() < 0.1, "{estimate:?}");
        assert!((estimate.cores - 833.33 * 220e-6 / 0.6).abs() < 0.01, "{estimate:?}");
        assert!((estimate.bucket_operations_per_s - 166.67).abs() < 0.1, "{estimate:?}");
    }
}
