//! Measurements without a load generator: a cold file, startup, the list of all names, a page refresh.

use std::sync::Barrier;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::client::{self, Timing};
use crate::data::{ALL_NAMES, COLD, Data};
use crate::measure::median;
use crate::pause;
use crate::procfs;
use crate::programs::admin;
use crate::servers::{Layout, Server};
use crate::upstream::Upstream;
use crate::verify::find_file;

/// Number of clients that download the same file at the same time.
pub(crate) const CLIENTS: usize = 50;

/// Result of 50 clients that download the same file, which is not cached. Times are in milliseconds from the client's
/// request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cold {
    pub(crate) server: String,
    /// Number of requests to the index for the file.
    pub(crate) upstream_gets: usize,
    pub(crate) first_byte_ms: Spread,
    pub(crate) total_ms: Spread,
    /// Time of one client that downloads directly from the index.
    pub(crate) upstream_ms: f64,
    /// Clients that failed or received wrong bytes.
    pub(crate) failed: usize,
    pub(crate) cpu_ms: Option<f64>,
    pub(crate) peak_memory: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        Self { median: median(values).unwrap_or(0.0), max: values.iter().copied().fold(0.0, f64::max) }
    }
}

/// Measures 50 clients that download a file that is not cached. The index sends it at 30 MB/s.
pub(crate) fn cold(server: &Server, data: &Data, upstream: &Upstream, round: usize) -> Result<Cold> {
    let project = COLD[round % COLD.len()];
    let content = data.content(project)?;
    let source = format!("/slow/{}", data.wheel(project)?.file);
    let alone = client::download(upstream.address, &source, |_| ())?;
    let path = find_file(server, data, project)?;
    let gets = upstream.count(&source);
    let cpu = server.pid().map(procfs::cpu_seconds);
    let barrier = Barrier::new(CLIENTS);
    let results = crate::in_threads(0..CLIENTS, |_| {
        barrier.wait();
        client::download_same(server.address, &path, &content)
    });
    let timings: Vec<&Timing> = results.iter().flatten().collect();
    if let Some(error) = results.iter().find_map(|result| result.as_ref().err()) {
        crate::note(&format!("  {}: {error:#}", server.name));
    }
    let spread =
        |of: fn(&Timing) -> f64| Spread::of(&timings.iter().map(|timing| of(timing)).collect::<Vec<_>>());
    Ok(Cold {
        server: server.name.clone(),
        upstream_gets: upstream.count(&source) - gets,
        first_byte_ms: spread(|timing| timing.first.as_secs_f64() * 1e3),
        total_ms: spread(|timing| timing.last.as_secs_f64() * 1e3),
        upstream_ms: alone.last.as_secs_f64() * 1e3,
        failed: results.iter().filter(|result| result.is_err()).count(),
        cpu_ms: server.pid().map(procfs::cpu_seconds).zip(cpu).map(|(after, before)| (after - before) * 1e3),
        peak_memory: server.pid().map(procfs::peak_memory),
    })
}

/// Startup time of a program, and its memory afterwards.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Start {
    pub(crate) server: String,
    /// Time of each start, in milliseconds.
    pub(crate) first_answer_ms: Vec<f64>,
    pub(crate) idle_memory: Option<u64>,
}

/// Starts a server `count` times in sequence.
pub(crate) fn starts(count: usize, start: impl Fn() -> Result<Server>) -> Result<Start> {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..count {
        drop(last.take());
        let server = start()?;
        times.push(server.startup.context("the server was already running")?.as_secs_f64() * 1e3);
        last = Some(server);
    }
    let server = last.context("the server was not started")?;
    let idle_memory = server.pid().map(procfs::memory_now);
    Ok(Start { server: server.name.clone(), first_answer_ms: times, idle_memory })
}

/// Result of requesting the list of all names of the public index from a newly started server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct List {
    pub(crate) server: String,
    pub(crate) answer_ms: f64,
    pub(crate) body_bytes: usize,
    /// Peak memory after one request in JSON, in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// Peak memory after requests in JSON and HTML, each uncompressed and with gzip, in bytes.
    pub(crate) peak_memory_all: Option<u64>,
    pub(crate) memory_after: Option<u64>,
}

/// Requests the list of all names.
pub(crate) fn list(server: &Server) -> Result<List> {
    let path = server.page("", true);
    let accept = |kind: &str| ("Accept".to_owned(), kind.to_owned());
    let json = accept("application/vnd.pypi.simple.v1+json");
    let start = Instant::now();
    let response = client::request(server.address, "GET", &path, std::slice::from_ref(&json))?;
    let answer_ms = start.elapsed().as_secs_f64() * 1e3;
    ensure!(response.status == 200, "status {}", response.status);
    let names = memchr_count(&response.body, b"\"name\":");
    ensure!(names == ALL_NAMES, "{names} names instead of {ALL_NAMES}");
    // Include the work that continues in the background after the response.
    pause(std::time::Duration::from_secs(2));
    let peak_memory = server.pid().map(procfs::peak_memory);
    let gzip = ("Accept-Encoding".to_owned(), "gzip".to_owned());
    let html = accept("text/html");
    for headers in [vec![json, gzip.clone()], vec![html.clone()], vec![html, gzip]] {
        client::request(server.address, "GET", &path, &headers)?;
    }
    pause(std::time::Duration::from_secs(2));
    Ok(List {
        server: server.name.clone(),
        answer_ms,
        body_bytes: response.body.len(),
        peak_memory,
        peak_memory_all: server.pid().map(procfs::peak_memory),
        memory_after: server.pid().map(procfs::memory_now),
    })
}

/// Returns the number of occurrences of a word.
fn memchr_count(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len()).filter(|window| *window == word).count()
}

/// Result of requesting a wheel of 1 MiB at its path at the index, when neither the wheel nor its page are cached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Locked {
    pub(crate) server: String,
    /// Median time from the request to the last byte, including the requests of the server for the page and the file.
    pub(crate) answer_ms: f64,
    /// Time of a request for the wheel sent directly to the index.
    pub(crate) upstream_ms: f64,
}

/// Purges a wheel and its page and requests the wheel again, `count` times.
pub(crate) fn locked(server: &Server, data: &Data, upstream: &Upstream, count: u32) -> Result<Locked> {
    let (wheel, content) = (data.wheel("medium")?, data.content("medium")?);
    let path = wheel.path();
    let (mut times, mut direct) = (Vec::new(), Vec::new());
    let download = |address, times: &mut Vec<f64>| -> Result<()> {
        times.push(client::download_same(address, &path, &content)?.last.as_secs_f64() * 1e3);
        Ok(())
    };
    for _ in 0..count {
        download(upstream.address, &mut direct)?;
        for purged in [format!("/cache/medium/{}", wheel.file), "/cache/medium".to_owned()] {
            let response = client::request(server.address, "DELETE", &purged, &[admin()])?;
            ensure!(response.status == 200, "{purged} cannot be purged: status {}", response.status);
        }
        let before = (upstream.count(&path), upstream.count("/simple/medium/"));
        download(server.address, &mut times)?;
        let after = (upstream.count(&path), upstream.count("/simple/medium/"));
        ensure!(after == (before.0 + 1, before.1 + 1), "the index got other requests than one for each");
    }
    let figure = |times: &[f64]| median(times).unwrap_or(0.0);
    Ok(Locked { server: server.name.clone(), answer_ms: figure(&times), upstream_ms: figure(&direct) })
}

/// Result of requesting the large page after it was purged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Refresh {
    pub(crate) server: String,
    /// Median time from the request to the last byte, including the request of the server to the index.
    pub(crate) answer_ms: f64,
    /// Time of a request for the page sent directly to the index.
    pub(crate) upstream_ms: f64,
    /// Processor time of the server, including compression in the background.
    pub(crate) cpu_ms: Option<f64>,
}

/// Purges the large page and requests it again, `count` times.
pub(crate) fn refresh(server: &Server, upstream: &Upstream, count: u32) -> Result<Refresh> {
    ensure!(matches!(server.layout, Layout::Proxy { .. }), "it has static pages only");
    let json = [("Accept".to_owned(), "application/vnd.pypi.simple.v1+json".to_owned())];
    let ask = |address, path: &str| -> Result<f64> {
        let start = Instant::now();
        let response = client::request(address, "GET", path, &json)?;
        ensure!(response.status == 200, "status {}", response.status);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let page = server.page("large", true);
    let (mut times, mut direct, mut cpu) = (Vec::new(), Vec::new(), None);
    for _ in 0..count {
        direct.push(ask(upstream.address, "/simple/large/")?);
        let before = upstream.count("/simple/large/") + upstream.count("/simple/large");
        let start = server.pid().map(procfs::cpu_seconds);
        let response = client::request(server.address, "DELETE", "/cache/large", &[admin()])?;
        ensure!(response.status == 200, "the page cannot be purged: status {}", response.status);
        times.push(ask(server.address, &page)?);
        let after = upstream.count("/simple/large/") + upstream.count("/simple/large");
        ensure!(after > before, "the page was not requested from the index");
        pause(std::time::Duration::from_millis(300));
        if let Some((end, start)) = server.pid().map(procfs::cpu_seconds).zip(start) {
            cpu = Some(cpu.unwrap_or(0.0) + (end - start) * 1e3);
        }
    }
    Ok(Refresh {
        server: server.name.clone(),
        answer_ms: median(&times).unwrap_or(0.0),
        upstream_ms: median(&direct).unwrap_or(0.0),
        cpu_ms: cpu.map(|cpu| cpu / f64::from(count)),
    })
}
