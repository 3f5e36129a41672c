//! Soak test: mixed load for a long time, to detect leaks of memory and descriptors.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use bench_report::quantity::bytes;
use bench_report::stats::bounds;
use bench_report::table::Sheet;

use super::scaling::{bucket_operations, fetch};
use super::site::Site;
use crate::data::random;
use crate::programs::admin;
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

/// Note and lines of the table, and whether the test passed.
#[derive(Debug)]
pub(super) struct Soak {
    note: String,
    lines: Vec<Vec<String>>,
    pub(super) is_passed: bool,
}

impl Soak {
    pub(super) fn sheet(self, about: &str) -> Sheet {
        let columns = "What | #First | #Min | #Mean | #Max | #Slope/hour | #Verdict";
        Sheet::new("Fleet: soak", columns, self.lines).with_notes(vec![format!("{about}. {}", self.note)])
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
    let (pauses, refused) = (AtomicUsize::new(0), AtomicU64::new(0));
    let mut samples = Vec::new();
    let start = Instant::now();
    let ask = |number: usize| {
        let mut random = random(&format!("client {number}"));
        while !is_over.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let server = &fleet[random.usize(..fleet.len())];
            let at = random.usize(..site.wheels.len());
            let result = match random.u32(..10) {
                0..5 => fetch(server, &site.wheels[at], &contents[at]).map(drop),
                5..8 => status(server, &format!("/simple/{}/", site.wheels[at].project), 200),
                8 => status(server, "/simple/there-is-none/", 404),
                // Request its page again.
                _ => purge(server, &site.wheels[at].project, &refused),
            };
            requests.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = result
                && failed.fetch_add(1, Ordering::Relaxed) < 20
            {
                note(&format!("{:.0} s, {}: {error:#}", start.elapsed().as_secs_f64(), server.name));
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
        spoiling.join().unwrap_or_else(|_| Err(anyhow!("the thread that pauses the bucket panicked")))
    })?;
    let (mut lines, mut is_flat) = (Vec::new(), true);
    for (at, server) in fleet.iter().enumerate() {
        for (of, what, most) in [(0, "memory", MOST_BYTES), (1, "descriptors", MAX_DESCRIPTOR_GROWTH)] {
            let samples: Vec<(f64, f64)> =
                samples.iter().map(|(time, values)| (*time, values[at][of])).collect();
            let growth = growth(&samples).context("the run is too short to compute a slope")?;
            is_flat &= growth.total <= most;
            lines.push(line(&format!("{what} of {}", server.name), &samples, &growth, most));
        }
    }
    let failed = failed.into_inner();
    let note = format!(
        "{:.1} minutes of pages, files, pages that are requested again after a purge, and missing projects; folders with room for \
         less than a third of the files; the bucket stalled {} times, and {} pages could not be purged from all instances. {} \
         requests, {failed} failed; {} downloads from upstream, {:.0} bucket operations. Slopes are those after the first third.",
        start.elapsed().as_secs_f64() / 60.0,
        pauses.into_inner(),
        refused.into_inner(),
        requests.into_inner(),
        site.upstream_gets() - gets,
        bucket_operations(&fleet)?
    );
    Ok(Soak { note, lines, is_passed: is_flat && failed == 0 })
}

fn status(server: &Server, path: &str, wanted: u16) -> Result<()> {
    let response = client::request(server.address, "GET", path, &[])?;
    ensure!(response.status == wanted, "{path}: status {}", response.status);
    Ok(())
}

/// Purges a page on all instances, and counts the purges that failed because of the bucket.
fn purge(server: &Server, project: &str, refused: &AtomicU64) -> Result<()> {
    let path = format!("/cache/{project}");
    let response = client::request(server.address, "DELETE", &path, &[admin()])?;
    refused.fetch_add(u64::from(response.status == 502), Ordering::Relaxed);
    ensure!(matches!(response.status, 200 | 502), "DELETE {path}: status {}", response.status);
    Ok(())
}

/// Returns the current memory and number of descriptors.
fn sample(server: &Server) -> [f64; 2] {
    let pid = server.pid().unwrap_or_default();
    [procfs::memory_now(pid), procfs::descriptors(pid) as f64]
}

/// Growth of a quantity by the regression line after the first third of the run.
#[derive(Debug)]
struct Growth {
    per_second: f64,
    total: f64,
}

/// Computes the growth. `None` if the run is too short.
fn growth(samples: &[(f64, f64)]) -> Option<Growth> {
    let points = &samples[samples.len() / 3..];
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let both: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let per_second = (spread > 0.0).then(|| both / spread)?;
    Some(Growth { per_second, total: per_second * (points.last()?.0 - points.first()?.0) })
}

fn line(name: &str, samples: &[(f64, f64)], growth: &Growth, most: f64) -> Vec<String> {
    let is_memory = name.starts_with("memory");
    let shown = |value: f64| if is_memory { bytes(value.round()) } else { format!("{value:.0}") };
    let values: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
    let (low, high) = bounds(&values).unwrap_or_default();
    let slope = growth.per_second * 3600.0;
    vec![
        name.to_owned(),
        shown(samples[0].1),
        shown(low),
        shown(values.iter().sum::<f64>() / values.len() as f64),
        shown(high),
        format!("{}{}", if slope < 0.0 { "-" } else { "+" }, shown(slope.abs())),
        if growth.total <= most { "flat" } else { "GROWS" }.to_owned(),
    ]
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
        let growth = |samples: &[(f64, f64)]| growth(samples).map(|growth| (growth.per_second, growth.total));
        assert!(growth(&points(0.0)).unwrap().1 <= MOST_BYTES);
        let (per_second, total) = growth(&points(60e3)).unwrap();
        assert!(total > MOST_BYTES && (per_second / 10e3 - 1.0).abs() < 0.01, "{per_second} {total}");
        assert_eq!(growth(&[(0.0, 1.0)]), None);
    }
}
