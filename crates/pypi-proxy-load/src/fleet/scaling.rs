//! Scaling of the fleet on one machine, and the cost of requests.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::site::{Site, metric, path};
use crate::data::Wheel;
use crate::measure::median;
use crate::output::{Sheet, time};
use crate::servers::Server;
use crate::wrk::{Figures, Load, Wrk};
use crate::{client, note, procfs};

/// Numbers of instances.
const INSTANCES: [usize; 3] = [1, 2, 4];
/// Total connections of the load generators.
const CONNECTIONS: usize = 64;
/// Name of the largest file in the table.
const WHEEL: &str = "wheel of 1 MiB";
/// Clients that download each file once.
const CLIENTS: usize = 32;

/// Result of requesting the same resource from all instances, which serve it from their own caches.
#[derive(Debug, Default)]
struct Hot {
    instances: usize,
    what: &'static str,
    /// Total rate of all instances; median of the rounds.
    requests_per_s: f64,
    /// Maximum over the instances; median of the rounds.
    p99_us: f64,
    /// Processor time of all instances per request.
    cpu_us: f64,
    errors: u64,
    bucket_operations_per_request: f64,
}

/// Result of clients that download every file from every instance.
#[derive(Debug, Default)]
struct Pass {
    instances: usize,
    /// True if neither the instances nor the bucket had the files; false if the bucket had them.
    is_cold: bool,
    files: usize,
    requests: usize,
    failed: usize,
    seconds: f64,
    p99_us: f64,
    cpu_us: f64,
    mean_bytes: f64,
    upstream_gets_per_file: f64,
    bucket_operations_per_request: f64,
}

#[derive(Debug, Default)]
pub(super) struct Scaling {
    hot: Vec<Hot>,
    passes: Vec<Pass>,
}

pub(super) fn measure(site: &Site<'_>, rounds: usize, time: Duration) -> Result<Scaling> {
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
        let load = Load { threads: 1, connections: CONNECTIONS / count, time };
        for (what, path) in [("page", page), (WHEEL, path(large))] {
            note(&format!("{count} instances: {what}"));
            scaling.hot.push(hot(&warm, what, &path, &Wrk::new(site.scratch())?, rounds, load)?);
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
    Ok(client::download(server.address, &path(wheel), content)?.last)
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
    fleet: &[Server],
    what: &'static str,
    path: &str,
    wrk: &Wrk,
    rounds: usize,
    load: Load,
) -> Result<Hot> {
    let headers = [client::accept(client::JSON)];
    for server in fleet {
        // Fill the cache with the page and its compressed variants.
        client::request(server.address, "GET", path, &headers)?;
    }
    let operations = bucket_operations(fleet)?;
    let (mut rates, mut p99s) = (Vec::new(), Vec::new());
    let (mut requests, mut errors, mut cpu) = (0, 0, 0.0);
    for _ in 0..rounds {
        let before = cpu_seconds(fleet);
        let figures = crate::in_threads(fleet, |server| wrk.run(server.address, path, &headers, load, || ()));
        cpu += cpu_seconds(fleet) - before;
        let figures: Vec<Figures> = figures.into_iter().collect::<Result<_>>()?;
        rates.push(figures.iter().map(Figures::rate).sum());
        p99s.push(figures.iter().map(|one| one.p99).max().unwrap_or(0) as f64);
        requests += figures.iter().map(|one| one.requests).sum::<u64>();
        errors += figures.iter().map(Figures::errors).sum::<u64>();
    }
    Ok(Hot {
        instances: fleet.len(),
        what,
        requests_per_s: median(&rates).unwrap_or(0.0),
        p99_us: median(&p99s).unwrap_or(0.0),
        cpu_us: cpu * 1e6 / requests.max(1) as f64,
        errors,
        bucket_operations_per_request: (bucket_operations(fleet)? - operations) / requests.max(1) as f64,
    })
}

/// Assumptions about the builders, none of them measured.
const BUILDERS: f64 = 1000.0;
const BUILD_EVERY_S: f64 = 600.0;
const PACKAGES: f64 = 100.0;
/// Share of the files that an instance downloads from the bucket.
const MISSES: f64 = 0.1;
/// Peak load relative to the mean load, because builds start at the same time of day.
const PEAK: f64 = 5.0;
/// Maximum utilization of a core.
const FULL: f64 = 0.6;

impl Scaling {
    /// Describes all failures.
    pub(super) fn failures(&self, has_conditional_writes: bool) -> Vec<String> {
        // An S3 server without conditional writes allows several downloads of the same file.
        let most = if has_conditional_writes { 1.0 } else { f64::INFINITY };
        let cold = self.passes.iter().filter(|pass| pass.is_cold && pass.upstream_gets_per_file > most);
        let mut failures: Vec<String> = cold
            .map(|pass| {
                format!(
                    "{} instances: {} downloads for each file",
                    pass.instances, pass.upstream_gets_per_file
                )
            })
            .collect();
        let files: usize = self.passes.iter().map(|pass| pass.failed).sum();
        let requests: u64 = self.hot.iter().map(|row| row.errors).sum();
        if files > 0 || requests > 0 {
            failures.push(format!("{files} files and {requests} requests under load failed"));
        }
        failures
    }

    /// Returns all tables.
    pub(super) fn sheets(&self, about: &str) -> Vec<Sheet> {
        let lines = self.hot.iter().map(|row| {
            [
                row.what.to_owned(),
                row.instances.to_string(),
                format!("{:.0}", row.requests_per_s),
                time(row.p99_us),
                time(row.cpu_us),
                format!("{:.3}", row.bucket_operations_per_request),
                row.errors.to_string(),
            ]
        });
        let note = format!(
            "{about}. All instances, their load generators and the S3 server share the machine: beyond its cores more \
             instances bring nothing here. The p99 is that of the slowest instance."
        );
        let columns =
            "What | #Instances | #Requests/s | #p99 | #CPU/request | #Bucket operations/request | #Failed";
        let hot = Sheet::new("Fleet: what every instance has", [note], columns, lines);
        let lines = self.passes.iter().map(|pass| {
            [
                if pass.is_cold { "nobody" } else { "the bucket" }.to_owned(),
                pass.instances.to_string(),
                pass.requests.to_string(),
                format!("{:.0}", pass.requests as f64 / pass.seconds),
                time(pass.p99_us),
                time(pass.cpu_us),
                format!("{:.2}", pass.upstream_gets_per_file),
                format!("{:.2}", pass.bucket_operations_per_request),
                pass.failed.to_string(),
            ]
        });
        let notes: Vec<String> = self
            .passes
            .first()
            .map(|pass| {
                format!(
                    "{about}. Each instance gets a request for each of {} files of {:.0} KB on average, on a new connection.",
                    pass.files,
                    pass.mean_bytes / 1e3
                )
            })
            .into_iter()
            .collect();
        let columns = "Who has the files | #Instances | #Requests | #Requests/s | #p99 | #CPU/request | #Upstream GETs/file | #Bucket operations/request | #Failed";
        let passes = Sheet::new("Fleet: what no instance has", notes, columns, lines);
        [hot, passes].into_iter().chain(self.estimate()).collect()
    }

    /// Estimates the needs of many builders from the cost of one instance. `None` if that was not measured.
    fn estimate(&self) -> Option<Sheet> {
        let hot = |what: &str| self.hot.iter().find(|row| row.instances == 1 && row.what == what);
        let miss = self.passes.iter().find(|pass| pass.instances == 1 && !pass.is_cold)?;
        let most = self.passes.iter().filter(|pass| pass.is_cold).map(|pass| pass.upstream_gets_per_file);
        // Each package needs a page and a file.
        let each = BUILDERS * PACKAGES / BUILD_EVERY_S * PEAK;
        let cpu_us = hot("page")?.cpu_us + hot(WHEEL)?.cpu_us + MISSES * miss.cpu_us;
        let lines = [
            ("requests per second", format!("{:.0}", each * 2.0)),
            ("cores of such a machine", format!("{:.1}", each * cpu_us / 1e6 / FULL)),
            ("Gbit/s to the builders", format!("{:.1}", each * f64::from(1 << 20) * 8.0 / 1e9)),
            (
                "bucket operations per second",
                format!("{:.0}", each * MISSES * miss.bucket_operations_per_request),
            ),
            ("downloads from upstream for each file", format!("{:.2}", most.fold(0.0, f64::max))),
        ];
        let note = format!(
            "An estimate, not measured: {BUILDERS:.0} builders that build every {:.0} minutes and request the page and a file of \
             1 MiB of {PACKAGES:.0} packages; {:.0} % of the files come from the bucket; at a peak of {PEAK:.0} times the mean, \
             with cores {:.0} % full. The cost of a request is the measured one, on loopback and without TLS.",
            BUILD_EVERY_S / 60.0,
            MISSES * 100.0,
            FULL * 100.0
        );
        let lines = lines.map(|(name, value)| [name.to_owned(), value]);
        Some(Sheet::new("Fleet: toward 1,000 builders", [note], "What | #Needed", lines))
    }
}
