//! Measurements without a load generator: a cold file, startup, the list of all names, a page refresh.

use std::sync::Barrier;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench_report::model::Row;
use bench_report::quantity::{Quantity, bytes, time};
use bench_report::stats::{bounds, median};
use bench_report::table::optional;
use memchr::memmem;

use crate::client::{self, Response, accept};
use crate::data::{ALL_NAMES, COLD, Data};
use crate::programs::admin;
use crate::servers::Server;
use crate::upstream::Upstream;
use crate::verify::find_file;
use crate::{note, pause, procfs};

/// Number of clients that download the same file at the same time.
pub(crate) const CLIENTS: usize = 50;

/// Result of clients that download the same file, which is not cached.
#[derive(Debug)]
pub(crate) struct Cold {
    /// Number of requests to the index for the file.
    pub(crate) upstream_gets: usize,
    /// Clients that failed or received wrong bytes.
    pub(crate) failed: usize,
    pub(crate) text: String,
}

/// Measures clients that download a file that is not cached. The index sends it at 30 MB/s.
pub(crate) fn cold(server: &Server, data: &Data, upstream: &Upstream, round: usize) -> Result<Cold> {
    let project = COLD[round % COLD.len()];
    let content = data.content(project)?;
    let source = format!("/slow/{}", data.wheel(project)?.file);
    let alone = client::download(upstream.address, &source, &content)?;
    let path = find_file(server, data, project)?;
    let gets = upstream.count(&source);
    let barrier = Barrier::new(CLIENTS);
    let (results, cpu) = server.cpu_during(|| {
        crate::in_threads(0..CLIENTS, |_| {
            barrier.wait();
            client::download(server.address, &path, &content)
        })
    });
    if let Some(error) = results.iter().find_map(|result| result.as_ref().err()) {
        note(&format!("  {}: {error:#}", server.name));
    }
    let spread = |of: fn(&Response) -> Duration| {
        let times: Vec<f64> =
            results.iter().flatten().map(|response| of(response).as_nanos() as f64).collect();
        let max = bounds(&times).map(|(_, max)| max);
        format!("{} (maximum {})", optional(median(&times), time), optional(max, time))
    };
    let upstream_gets = upstream.count(&source) - gets;
    let failed = results.iter().filter(|result| result.is_err()).count();
    let text = format!(
        "{CLIENTS} clients, a wheel of 60 MiB that the index sends at 30 MB/s: {upstream_gets} GETs of the index; first byte after {}, \
         whole file after {}, {} directly from the index; {failed} failed; CPU {}; peak RSS {}",
        spread(|response| response.first),
        spread(|response| response.last),
        time(alone.last.as_nanos() as f64),
        optional(cpu, time),
        optional(server.pid().map(procfs::peak_memory), bytes)
    );
    Ok(Cold { upstream_gets, failed, text })
}

/// Starts a server `count` times in sequence and measures the time to the first 200.
pub(crate) fn starts(count: usize, start: impl Fn() -> Result<Server>) -> Result<(String, Row)> {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..count {
        drop(last.take());
        let server = start()?;
        times.push(server.startup.context("the server was already running")?.as_nanos() as f64);
        last = Some(server);
    }
    let server = last.context("the server was not started")?;
    let shown: Vec<String> = times.iter().map(|ns| time(*ns)).collect();
    let memory = optional(server.pid().map(procfs::memory_now), bytes);
    let text = format!("first 200 after {}; RSS {memory} then", shown.join(", "));
    Ok((text, server.row_with("startup", Quantity::Start, times)))
}

/// Requests the list of all names of the public index from a newly started server.
pub(crate) fn list(server: &Server) -> Result<String> {
    let path = server.page("", true);
    let response = client::get(server.address, &path, &[accept(client::JSON)])?;
    let names = memmem::find_iter(&response.body, b"\"name\":").count();
    ensure!(names == ALL_NAMES, "{names} names instead of {ALL_NAMES}");
    // Include the work that continues in the background after the response.
    pause(Duration::from_secs(2));
    let shown = |usage: fn(u32) -> f64| optional(server.pid().map(usage), bytes);
    let peak = shown(procfs::peak_memory);
    let gzip = ("Accept-Encoding", "gzip".to_owned());
    for headers in
        [vec![accept(client::JSON), gzip.clone()], vec![accept("text/html")], vec![accept("text/html"), gzip]]
    {
        client::request(server.address, "GET", &path, &headers)?;
    }
    pause(Duration::from_secs(2));
    Ok(format!(
        "{} for {} with 927,000 names; peak RSS {peak}, {} with HTML and gzip, {} after",
        time(response.last.as_nanos() as f64),
        bytes(response.body.len() as f64),
        shown(procfs::peak_memory),
        shown(procfs::memory_now)
    ))
}

fn purge(server: &Server, path: &str) -> Result<()> {
    let response = client::request(server.address, "DELETE", path, &[admin()])?;
    ensure!(response.status == 200, "{path} cannot be purged: status {}", response.status);
    Ok(())
}

/// Formats the medians of the times through a server and directly from the index.
fn shown(times: &[f64], direct: &[f64]) -> String {
    format!("{}, {} directly from the index", optional(median(times), time), optional(median(direct), time))
}

/// Purges a wheel of 1 MiB and its page and requests the wheel at its path at the index, `count` times.
pub(crate) fn locked(server: &Server, data: &Data, upstream: &Upstream, count: usize) -> Result<String> {
    let (wheel, content) = (data.wheel("medium")?, data.content("medium")?);
    let path = wheel.path();
    let (mut times, mut direct) = (Vec::new(), Vec::new());
    let download = |address, times: &mut Vec<f64>| -> Result<()> {
        times.push(client::download(address, &path, &content)?.last.as_nanos() as f64);
        Ok(())
    };
    let gets = || (upstream.count(&path), upstream.count("/simple/medium"));
    for _ in 0..count {
        download(upstream.address, &mut direct)?;
        purge(server, &format!("/cache/medium/{}", wheel.file))?;
        purge(server, "/cache/medium")?;
        let before = gets();
        download(server.address, &mut times)?;
        ensure!(gets() == (before.0 + 1, before.1 + 1), "the index got other requests than one for each");
    }
    Ok(shown(&times, &direct))
}

/// Purges the large page and requests it again, `count` times.
pub(crate) fn refresh(server: &Server, upstream: &Upstream, count: usize) -> Result<String> {
    let ask = |address, path: &str, times: &mut Vec<f64>| -> Result<()> {
        times.push(client::get(address, path, &[accept(client::JSON)])?.last.as_nanos() as f64);
        Ok(())
    };
    let (mut times, mut direct, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        ask(upstream.address, "/simple/large/", &mut direct)?;
        let before = upstream.count("/simple/large");
        let (refreshed, used) = server.cpu_during(|| {
            purge(server, "/cache/large")?;
            ask(server.address, &server.page("large", true), &mut times)?;
            ensure!(upstream.count("/simple/large") > before, "the page was not requested from the index");
            // Include the compression in the background.
            pause(Duration::from_millis(300));
            Ok(())
        });
        refreshed?;
        cpu.extend(used);
    }
    Ok(format!(
        "{}; CPU {} with compression in the background",
        shown(&times, &direct),
        optional(median(&cpu), time)
    ))
}
