//! Scaling of the fleet on one machine, and the cost of requests.

use std::fs;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::site::{Site, metric, path};
use crate::data::Wheel;
use crate::measure::median;
use crate::servers::Server;
use crate::wrk::{Figures, Load, Wrk};
use crate::{client, note, procfs};

/// Numbers of instances.
pub(super) const INSTANCES: [usize; 3] = [1, 2, 4];
/// Total connections of the load generators.
const CONNECTIONS: usize = 64;
/// Clients that download each file once.
const CLIENTS: usize = 32;

/// Result of requesting the same resource from all instances, which serve it from their own caches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hot {
    pub(crate) instances: usize,
    pub(crate) what: String,
    /// Total rate of all instances; median of the rounds.
    pub(crate) requests_per_s: f64,
    /// Maximum over the instances; median of the rounds.
    pub(crate) p99_us: f64,
    /// Processor time of all instances per request.
    pub(crate) cpu_us: f64,
    pub(crate) errors: u64,
    pub(crate) bucket_operations_per_request: f64,
}

/// Result of clients that download every file from every instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pass {
    pub(crate) instances: usize,
    /// True if neither the instances nor the bucket had the files; false if the bucket had them.
    pub(crate) is_cold: bool,
    pub(crate) files: usize,
    pub(crate) requests: usize,
    pub(crate) failed: usize,
    pub(crate) seconds: f64,
    pub(crate) p99_us: f64,
    pub(crate) cpu_us: f64,
    pub(crate) mean_bytes: f64,
    pub(crate) upstream_gets_per_file: f64,
    pub(crate) bucket_operations_per_request: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaling {
    pub(crate) hot: Vec<Hot>,
    pub(crate) passes: Vec<Pass>,
}

pub(super) fn measure(site: &Site<'_>, rounds: usize, seconds: usize) -> Result<Scaling> {
    let mut scaling = Scaling::default();
    for count in INSTANCES {
        let fleet = |of: usize| -> Result<Vec<Server>> {
            (0..count).map(|number| site.instance(of + number, &format!("of-{count}"), &[])).collect()
        };
        note(&format!("{count} instances: files that are not cached, then files in the bucket"));
        let cold = fleet(0)?;
        scaling.passes.push(pass(site, &cold, true)?);
        drop(cold);
        let warm = fleet(count)?;
        scaling.passes.push(pass(site, &warm, false)?);
        let large = site.wheels.first().context("the index has no files")?;
        let page = format!("/simple/{}/", large.project);
        for (what, path) in [("page", page), ("wheel of 1 MiB", path(large))] {
            note(&format!("{count} instances: {what}"));
            scaling.hot.push(hot(site, &warm, what, &path, rounds, seconds)?);
        }
    }
    Ok(scaling)
}

/// Returns the number of bucket operations that instances completed. Operations skipped by an open circuit breaker are
/// excluded.
pub(super) fn bucket_operations(fleet: &[Server]) -> Result<f64> {
    fleet.iter().map(|server| metric(server, "pypi_proxy_bucket_operations_total", "\"skipped\"")).sum()
}

fn cpu_seconds(fleet: &[Server]) -> f64 {
    fleet.iter().filter_map(Server::pid).map(procfs::cpu_seconds).sum()
}

/// Downloads a file and compares it with the index.
pub(super) fn fetch(server: &Server, wheel: &Wheel, content: &[u8]) -> Result<Duration> {
    Ok(client::download_same(server.address, &path(wheel), content)?.last)
}

fn pass(site: &Site<'_>, fleet: &[Server], is_cold: bool) -> Result<Pass> {
    let contents: Vec<_> = site.wheels.iter().map(|wheel| site.content(wheel)).collect::<Result<_>>()?;
    let (gets, operations, cpu) = (site.upstream_gets(), bucket_operations(fleet)?, cpu_seconds(fleet));
    let next = AtomicUsize::new(0);
    // Every file is requested from every instance.
    let requests = site.wheels.len() * fleet.len();
    let start = Instant::now();
    let answers = crate::in_threads(0..CLIENTS, |_| {
        let requests =
            iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|at| *at < requests);
        let fetched = requests.map(|at| {
            let file = at / fleet.len();
            fetch(&fleet[at % fleet.len()], &site.wheels[file], &contents[file])
        });
        Ok(fetched.collect::<Vec<_>>())
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut times = Vec::new();
    let mut failed = 0;
    for answer in answers.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        match answer {
            Ok(time) => times.push(time),
            Err(error) => {
                note(&format!("  {error:#}"));
                failed += 1;
            }
        }
    }
    times.sort_unstable();
    // Include uploads that continue in the background after the responses.
    settle(fleet)?;
    let bytes: usize = contents.iter().map(Vec::len).sum();
    let per_request = |value: f64| value / requests as f64;
    Ok(Pass {
        instances: fleet.len(),
        is_cold,
        files: site.wheels.len(),
        requests,
        failed,
        seconds,
        p99_us: times.get(times.len() * 99 / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6),
        cpu_us: per_request((cpu_seconds(fleet) - cpu) * 1e6),
        mean_bytes: bytes as f64 / contents.len() as f64,
        upstream_gets_per_file: (site.upstream_gets() - gets) as f64 / site.wheels.len() as f64,
        bucket_operations_per_request: per_request(bucket_operations(fleet)? - operations),
    })
}

/// Waits until the instances stop using the bucket.
fn settle(fleet: &[Server]) -> Result<()> {
    let mut last = -1.0;
    for _ in 0..60 {
        let now = bucket_operations(fleet)?;
        if now <= last {
            break;
        }
        last = now;
        crate::pause(Duration::from_secs(1));
    }
    Ok(())
}

fn hot(
    site: &Site<'_>,
    fleet: &[Server],
    what: &str,
    path: &str,
    rounds: usize,
    seconds: usize,
) -> Result<Hot> {
    let load = Load { threads: 1, connections: CONNECTIONS / fleet.len(), seconds };
    let headers = [("Accept".to_owned(), "application/vnd.pypi.simple.v1+json".to_owned())];
    let wrks: Vec<Wrk> = (0..fleet.len())
        .map(|number| {
            let scratch = site.scratch().join(format!("wrk-{number}"));
            fs::create_dir_all(&scratch)?;
            Wrk::new(&scratch)
        })
        .collect::<Result<_>>()?;
    for server in fleet {
        // Fill the cache with the page and its compressed variants.
        client::request(server.address, "GET", path, &headers)?;
    }
    let operations = bucket_operations(fleet)?;
    let (mut rates, mut p99s) = (Vec::new(), Vec::new());
    let (mut requests, mut errors, mut cpu) = (0, 0, 0.0);
    for _ in 0..rounds {
        let before = cpu_seconds(fleet);
        let figures = crate::in_threads(fleet.iter().zip(&wrks), |(server, wrk)| {
            wrk.run(&format!("http://{}{path}", server.address), &headers, load)
        });
        cpu += cpu_seconds(fleet) - before;
        let figures: Vec<Figures> = figures.into_iter().collect::<Result<_>>()?;
        rates.push(figures.iter().map(|one| one.requests as f64 * 1e6 / one.duration_us as f64).sum());
        p99s.push(figures.iter().map(|one| one.p99).max().unwrap_or(0) as f64);
        requests += figures.iter().map(|one| one.requests).sum::<u64>();
        errors += figures.iter().map(Figures::errors).sum::<u64>();
    }
    Ok(Hot {
        instances: fleet.len(),
        what: what.to_owned(),
        requests_per_s: median(&rates).unwrap_or(0.0),
        p99_us: median(&p99s).unwrap_or(0.0),
        cpu_us: cpu * 1e6 / requests.max(1) as f64,
        errors,
        bucket_operations_per_request: (bucket_operations(fleet)? - operations) / requests.max(1) as f64,
    })
}

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
    use super::*;

    #[test]
    fn estimate_combines_costs() {
        let hot = |what: &str, cpu_us| Hot { instances: 1, what: what.to_owned(), cpu_us, ..Hot::default() };
        let pass =
            Pass { instances: 1, cpu_us: 1000.0, bucket_operations_per_request: 2.0, ..Pass::default() };
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
