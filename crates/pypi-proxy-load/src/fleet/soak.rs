//! Soak test: mixed load for a long time, to detect leaks of memory and descriptors.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::scaling::{bucket_operations, fetch};
use super::site::Site;
use crate::data::Random;
use crate::servers::Server;
use crate::{client, note, pause, procfs};

const INSTANCES: usize = 3;
const CLIENTS: usize = 6;
/// Requests per second of each client. The machine is not saturated.
const RATE: u32 = 10;
const SAMPLE: Duration = Duration::from_secs(5);
/// Interval between pauses of the bucket, and the duration of a pause.
const PAUSE_INTERVAL: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_secs(5);
/// Size of the cache folders, in percent of the total size of all files.
const TIER_PERCENT: u64 = 30;

/// Tolerated growth of memory, in bytes, and of descriptors, during a run.
const MOST_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
const MAX_DESCRIPTOR_GROWTH: f64 = 8.0;

/// A quantity of one instance over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) instance: String,
    /// `memory` in bytes, or `descriptors`.
    pub(crate) what: String,
    pub(crate) first: f64,
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) max: f64,
    /// Growth per hour of the regression line after the first third of the run.
    pub(crate) slope_per_hour: f64,
    pub(crate) is_flat: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Soak {
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    /// Descriptions of the first errors.
    pub(crate) failures: Vec<String>,
    pub(crate) failed: u64,
    pub(crate) bucket_pauses: usize,
    /// Pages that could not be purged from all instances because the bucket was paused.
    pub(crate) refused_purges: u64,
    pub(crate) upstream_gets: usize,
    pub(crate) bucket_operations: f64,
    pub(crate) series: Vec<Series>,
}

impl Soak {
    pub(crate) fn is_passed(&self) -> bool {
        self.failed == 0 && self.series.iter().all(|series| series.is_flat)
    }
}

/// Runs the soak test: clients request pages and files from three instances whose caches have room for a part of the
/// files, and the bucket is paused at regular intervals.
pub(super) fn run(site: &Site<'_>, time: Duration) -> Result<Soak> {
    let bytes: u64 = site.wheels.iter().map(|wheel| wheel.size).sum();
    let tier = (bytes * TIER_PERCENT / 100).to_string();
    let settings = [
        ("PYPI_PROXY_LOCAL_CACHE_SIZE", &*tier),
        ("PYPI_PROXY_CACHE_SIZE", &*tier),
        ("PYPI_PROXY_INDEX_TTL", "30"),
        ("PYPI_PROXY_BUCKET_TIMEOUT", "2s"),
    ];
    let fleet: Vec<Server> =
        (0..INSTANCES).map(|number| site.instance(number, "soak", &settings)).collect::<Result<_>>()?;
    let contents: Vec<_> = site.wheels.iter().map(|wheel| site.content(wheel)).collect::<Result<_>>()?;
    let gets = site.upstream_gets();
    let (requests, failed, is_over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let failures = std::sync::Mutex::new(Vec::new());
    let (pauses, refused) = (AtomicUsize::new(0), AtomicU64::new(0));
    let mut samples = Vec::new();
    let start = Instant::now();
    let ask = |number: usize| {
        let mut random = Random::new(&format!("client {number}"));
        while !is_over.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let draw = random.next();
            let server = &fleet[(draw & 0xff) as usize % fleet.len()];
            let at = (draw >> 8) as usize % site.wheels.len();
            let result = match (draw >> 32) % 10 {
                0..5 => fetch(server, &site.wheels[at], &contents[at]).map(drop),
                5..8 => status(server, &format!("/simple/{}/", site.wheels[at].project), 200),
                8 => status(server, "/simple/there-is-none/", 404),
                // Request its page again.
                _ => purge(server, &site.wheels[at].project, &refused),
            };
            requests.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = result {
                failed.fetch_add(1, Ordering::Relaxed);
                let mut failures = failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if failures.len() < 20 {
                    let text = format!("{:.0} s, {}: {error:#}", start.elapsed().as_secs_f64(), server.name);
                    note(&text);
                    failures.push(text);
                }
            }
            pause((Duration::from_secs(1) / RATE).saturating_sub(asked.elapsed()));
        }
    };
    let spoil = || -> Result<()> {
        while !is_over.load(Ordering::Relaxed) {
            pause(Duration::from_millis(500));
            let wanted = (start.elapsed().as_secs() / PAUSE_INTERVAL.as_secs()) as usize;
            if pauses.load(Ordering::Relaxed) < wanted {
                site.pause_bucket(PAUSE)?;
                pauses.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let spoiling = scope.spawn(spoil);
        for number in 0..CLIENTS {
            let ask = &ask;
            scope.spawn(move || ask(number));
        }
        while start.elapsed() < time {
            pause(SAMPLE);
            samples.push((start.elapsed().as_secs_f64(), fleet.iter().map(sample).collect::<Vec<_>>()));
        }
        is_over.store(true, Ordering::Relaxed);
        spoiling.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the thread that pauses the bucket panicked")))
    })?;
    let mut all = Vec::new();
    for (at, server) in fleet.iter().enumerate() {
        let of = |pick: fn(&[f64; 2]) -> f64| -> Vec<(f64, f64)> {
            samples.iter().map(|(time, all)| (*time, pick(&all[at]))).collect()
        };
        all.push(series(&server.name, "memory", &of(|sample| sample[0]), MOST_BYTES)?);
        all.push(series(&server.name, "descriptors", &of(|sample| sample[1]), MAX_DESCRIPTOR_GROWTH)?);
    }
    Ok(Soak {
        seconds: start.elapsed().as_secs_f64(),
        requests: requests.into_inner(),
        failures: failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner),
        failed: failed.into_inner(),
        bucket_pauses: pauses.into_inner(),
        refused_purges: refused.into_inner(),
        upstream_gets: site.upstream_gets() - gets,
        bucket_operations: bucket_operations(&fleet)?,
        series: all,
    })
}

fn status(server: &Server, path: &str, wanted: u16) -> Result<()> {
    let response = client::request(server.address, "GET", path, &[])?;
    ensure!(response.status == wanted, "{path}: status {}", response.status);
    Ok(())
}

/// Purges a page on all instances, and counts the purges that failed because of the bucket.
fn purge(server: &Server, project: &str, refused: &AtomicU64) -> Result<()> {
    let path = format!("/cache/{project}");
    let response = client::request(server.address, "DELETE", &path, &[crate::programs::admin()])?;
    refused.fetch_add(u64::from(response.status == 502), Ordering::Relaxed);
    ensure!(matches!(response.status, 200 | 502), "DELETE {path}: status {}", response.status);
    Ok(())
}

/// Returns the current memory and number of descriptors.
fn sample(server: &Server) -> [f64; 2] {
    let pid = server.pid().unwrap_or_default();
    [procfs::memory_now(pid) as f64, procfs::descriptors(pid) as f64]
}

fn series(instance: &str, what: &str, samples: &[(f64, f64)], most: f64) -> Result<Series> {
    let values: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
    let settled = &samples[samples.len() / 3..];
    let slope = slope(settled).context("the run is too short to compute a slope")?;
    let (Some((from, _)), Some((to, _))) = (settled.first(), settled.last()) else { unreachable!() };
    Ok(Series {
        instance: instance.to_owned(),
        what: what.to_owned(),
        first: values[0],
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        mean: values.iter().sum::<f64>() / values.len() as f64,
        max: values.iter().copied().fold(0.0, f64::max),
        slope_per_hour: slope * 3600.0,
        is_flat: slope * (to - from) <= most,
    })
}

/// Returns the growth per second of the regression line, or `None` for fewer than two points in time.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let both: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 0.0).then(|| both / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_detected_despite_noise() {
        let points = |growth: f64| -> Vec<(f64, f64)> {
            (0..300)
                .map(|at| (f64::from(at) * 6.0, 50e6 + growth * f64::from(at) + f64::from(at % 7) * 1e5))
                .collect()
        };
        assert!(series("a", "memory", &points(0.0), MOST_BYTES).unwrap().is_flat);
        let grown = series("a", "memory", &points(60e3), MOST_BYTES).unwrap();
        assert!(!grown.is_flat && (grown.slope_per_hour / 36e6 - 1.0).abs() < 0.01, "{grown:?}");
        assert!(series("a", "memory", &[(0.0, 1.0)], MOST_BYTES).is_err());
    }
}
