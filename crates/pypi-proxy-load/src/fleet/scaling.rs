//! Scaling of the fleet on one machine, and the cost of requests.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bench_report::quantity::{Quantity, time};
use bench_report::stats::median;
use bench_report::table::{Sheet, optional};

use super::site::{FILES, Site, metric, path};
use crate::data::Wheel;
use crate::servers::Server;
use crate::wrk::{Figures, Load, Wrk};
use crate::{client, note, procfs};

/// Numbers of instances.
const INSTANCES: [usize; 3] = [1, 2, 4];
/// Total connections of the load generators.
const CONNECTIONS: usize = 64;
/// Clients that download each file once.
const CLIENTS: usize = 32;

/// Lines of the tables, and descriptions of all failures.
#[derive(Debug, Default)]
pub(super) struct Scaling {
    hot: Vec<Vec<String>>,
    passes: Vec<Vec<String>>,
    pub(super) failures: Vec<String>,
}

/// Measures fleets of several sizes.
pub(super) fn measure(site: &Site<'_>, rounds: usize, time: Duration) -> Result<Scaling> {
    let mut scaling = Scaling::default();
    for count in INSTANCES {
        let fleet = |of: usize| -> Result<Vec<Server>> {
            (0..count).map(|number| site.instance(of + number, &format!("of-{count}"), &[])).collect()
        };
        note(&format!("{count} instances: files that are not cached, then files in the bucket"));
        let cold = fleet(0)?;
        scaling.pass(site, &cold, true)?;
        drop(cold);
        let warm = fleet(count)?;
        scaling.pass(site, &warm, false)?;
        let large = site.wheels.first().context("the index has no files")?;
        let page = format!("/simple/{}/", large.project);
        let load = Load { threads: 1, connections: CONNECTIONS / count, time };
        for (what, path) in [("page", page), ("wheel of 1 MiB", path(large))] {
            note(&format!("{count} instances: {what}"));
            scaling.hot(&warm, what, &path, &Wrk::new(site.scratch())?, rounds, load)?;
        }
    }
    Ok(scaling)
}

/// Returns the number of bucket operations that instances completed. Operations skipped by an open circuit breaker are
/// excluded.
pub(super) fn bucket_operations(fleet: &[Server]) -> Result<f64> {
    fleet.iter().map(|server| metric(server, "pypi_proxy_bucket_operations_total", "\"skipped\"")).sum()
}

fn cpu_time(fleet: &[Server]) -> f64 {
    fleet.iter().filter_map(Server::pid).map(procfs::cpu_time).sum()
}

/// Downloads a file and compares it with the index.
pub(super) fn fetch(server: &Server, wheel: &Wheel, content: &[u8]) -> Result<Duration> {
    Ok(client::download(server.address, &path(wheel), content)?.last)
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

impl Scaling {
    /// Clients download every file from every instance. If it is cold, neither the instances nor the bucket have the
    /// files; otherwise, the bucket has them.
    fn pass(&mut self, site: &Site<'_>, fleet: &[Server], is_cold: bool) -> Result<()> {
        let contents: Vec<_> = site.wheels.iter().map(|wheel| site.content(wheel)).collect::<Result<_>>()?;
        let (gets, operations, cpu) = (site.upstream_gets(), bucket_operations(fleet)?, cpu_time(fleet));
        let next = AtomicUsize::new(0);
        let requests = site.wheels.len() * fleet.len();
        let start = Instant::now();
        let responses = crate::in_threads(0..CLIENTS, |_| {
            let requests =
                iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|at| *at < requests);
            let fetched = requests.map(|at| {
                let file = at / fleet.len();
                fetch(&fleet[at % fleet.len()], &site.wheels[file], &contents[file])
            });
            Ok(fetched.collect::<Vec<_>>())
        });
        let seconds = start.elapsed().as_secs_f64();
        let responses: Vec<_> =
            responses.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let errors: Vec<_> = responses.iter().filter_map(|response| response.as_ref().err()).collect();
        errors.iter().for_each(|error| note(&format!("  {error:#}")));
        let mut times: Vec<f64> = responses.iter().flatten().map(|time| time.as_nanos() as f64).collect();
        times.sort_by(f64::total_cmp);
        // Include uploads that continue in the background after the responses.
        settle(fleet)?;
        let cpu = (cpu_time(fleet) - cpu) / requests as f64;
        let gets = (site.upstream_gets() - gets) as f64 / site.wheels.len() as f64;
        if is_cold && gets > 1.0 && site.has_conditional_writes() {
            self.failures.push(format!("{} instances: {gets} downloads for each file", fleet.len()));
        }
        self.fail(errors.len(), "files");
        self.passes.push(vec![
            if is_cold { "none" } else { "the bucket" }.to_owned(),
            fleet.len().to_string(),
            requests.to_string(),
            format!("{:.0}", requests as f64 / seconds),
            optional(times.get(times.len() * 99 / 100).copied(), time),
            time(cpu),
            format!("{gets:.2}"),
            format!("{:.2}", (bucket_operations(fleet)? - operations) / requests as f64),
            errors.len().to_string(),
        ]);
        Ok(())
    }

    /// Sends requests for the same resource to all instances, which serve it from their own caches.
    fn hot(
        &mut self,
        fleet: &[Server],
        what: &str,
        path: &str,
        wrk: &Wrk,
        rounds: usize,
        load: Load,
    ) -> Result<()> {
        let headers = [client::accept(client::JSON)];
        for server in fleet {
            // Fill the cache with the page and its compressed variants.
            client::request(server.address, "GET", path, &headers)?;
        }
        let (operations, cpu) = (bucket_operations(fleet)?, cpu_time(fleet));
        let (mut rates, mut p99s, mut requests, mut errors) = (Vec::new(), Vec::new(), 0, 0);
        for _ in 0..rounds {
            let figures =
                crate::in_threads(fleet, |server| wrk.run(server.address, path, &headers, load, || ()));
            let figures: Vec<Figures> = figures.into_iter().collect::<Result<_>>()?;
            rates.push(figures.iter().map(Figures::rate).sum());
            p99s.push(figures.iter().map(|one| one.latencies[&Quantity::P99]).fold(0.0, f64::max));
            requests += figures.iter().map(|one| one.requests).sum::<u64>();
            errors += figures.iter().map(|one| one.errors).sum::<u64>();
        }
        let per_request = |value: f64| value / requests.max(1) as f64;
        self.fail(errors as usize, "requests under load");
        self.hot.push(vec![
            what.to_owned(),
            fleet.len().to_string(),
            optional(median(&rates), |rate| format!("{rate:.0}")),
            optional(median(&p99s), time),
            time(per_request(cpu_time(fleet) - cpu)),
            format!("{:.3}", per_request(bucket_operations(fleet)? - operations)),
            errors.to_string(),
        ]);
        Ok(())
    }

    fn fail(&mut self, count: usize, what: &str) {
        self.failures.extend((count > 0).then(|| format!("{count} {what} failed")));
    }

    /// Returns all tables.
    pub(super) fn sheets(self, about: &str) -> [Sheet; 2] {
        let note = format!(
            "{about}. All instances, their load generators and the S3 server share the machine: more instances than cores have \
             no advantage. The p99 is that of the slowest instance, the rate the sum of all."
        );
        let columns =
            "What | #Instances | #Requests/s | #p99 | #CPU/request | #Bucket operations/request | #Failed";
        let hot = Sheet::new("Fleet: what every instance has", columns, self.hot).with_notes(vec![note]);
        let note =
            format!("{about}. Each instance gets one request for each of {FILES} files, on new connections.");
        let columns = "Who has the files | #Instances | #Requests | #Requests/s | #p99 | #CPU/request | #Upstream GETs/file | #Bucket operations/request | #Failed";
        [hot, Sheet::new("Fleet: what no instance has", columns, self.passes).with_notes(vec![note])]
    }
}
