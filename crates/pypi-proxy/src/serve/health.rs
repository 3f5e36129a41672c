//! Health and readiness checks.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::future::join_all;
use tightwire_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::service::State;
use crate::store::is_disk_full;
use crate::upstream::Condition;

/// Time for which the result of a check is reused, to limit the load of frequent probes.
const CHECK_TTL: Duration = Duration::from_secs(5);
/// Time for which a response of `/health` is reused.
const DOCUMENT_TTL: Duration = Duration::from_secs(1);
/// Timeout of a check of the disk or of an upstream.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The last result of a computation. Requests that arrive during the computation share it.
#[derive(Debug, Default)]
pub(super) struct Cached<T>(tokio::sync::Mutex<Option<(Instant, T)>>);

impl<T: Clone> Cached<T> {
    /// Returns the last result if it is younger than `ttl`, otherwise a new one.
    pub(super) async fn get(&self, ttl: Duration, compute: impl Future<Output = T>) -> T {
        let mut last = self.0.lock().await;
        match &*last {
            Some((at, result)) if at.elapsed() < ttl => result.clone(),
            _ => last.insert((Instant::now(), compute.await)).1.clone(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct HealthCache {
    document: Cached<Bytes>,
    disk_problem: Cached<Option<&'static str>>,
    /// A check of the disk in progress. Reused, because each check blocks a thread while the disk hangs.
    probe: tokio::sync::Mutex<Option<JoinHandle<Option<&'static str>>>>,
    ready: Cached<Vec<&'static str>>,
}

/// Returns the reasons why the proxy is not ready; empty if it is ready.
///
/// The proxy is ready if the store is writable, and at least one upstream responds or some page can be served without
/// one.
pub(super) async fn readiness_problems(proxy: &State) -> Vec<&'static str> {
    let check = async {
        let mut problems = Vec::from_iter(disk_problem(proxy).await);
        if !is_any_upstream_up(proxy).await && !is_any_page_cached(proxy).await {
            problems.push("no index responds and no page is cached");
        }
        problems
    };
    proxy.health.ready.get(CHECK_TTL, check).await
}

const UNWRITABLE: &str = "the cache directory is not writable";
const FULL: &str = "the disk of the cache directory is full; files are sent, but not stored";

/// Returns why the store is not writable, if it is not. A disk that hangs is not.
async fn disk_problem(proxy: &State) -> Option<&'static str> {
    let check = async {
        let mut running = proxy.health.probe.lock().await;
        let mut probe = running.take().unwrap_or_else(|| {
            let store = proxy.store.clone();
            let problem = |error| if is_disk_full(&error) { FULL } else { UNWRITABLE };
            tokio::task::spawn_blocking(move || store.probe().err().map(problem))
        });
        if let Ok(done) = tokio::time::timeout(PROBE_TIMEOUT, &mut probe).await {
            return done.unwrap_or(Some(UNWRITABLE));
        }
        *running = Some(probe);
        Some(UNWRITABLE)
    };
    proxy.health.disk_problem.get(CHECK_TTL, check).await
}

/// Returns whether any upstream responded to the last request, or responds to a probe now.
async fn is_any_upstream_up(proxy: &State) -> bool {
    let indexes: Vec<_> = proxy.all_upstreams().map(|(_, upstream)| upstream).collect();
    if indexes.iter().any(|index| index.meter.condition() == Condition::Responding) {
        return true;
    }
    let probes = indexes.iter().map(|index| tokio::time::timeout(PROBE_TIMEOUT, index.probe()));
    join_all(probes).await.iter().any(|probe| matches!(probe, Ok(Ok(()))))
}

async fn is_any_page_cached(proxy: &State) -> bool {
    if proxy.indexes().any(|(_, index)| index.pages.has_any_page()) {
        return true;
    }
    let dir = proxy.store.pages_dir();
    tokio::task::spawn_blocking(move || has_files(dir.path())).await.unwrap_or(false)
}

/// Returns whether any subfolder has a file.
fn has_files(dir: &Path) -> bool {
    let read = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    read(dir).any(|folder| read(&folder.path()).next().is_some())
}

/// Returns the response of `/health`: the fields of groxpi and proxpi, and reasons for a degraded state. Contains no
/// credentials. The response is reused for one second.
pub(super) async fn health(proxy: &State) -> Bytes {
    let document = async { Bytes::from(document(proxy, SystemTime::now()).await.to_string()) };
    proxy.health.document.get(DOCUMENT_TTL, document).await
}

async fn document(proxy: &State, now: SystemTime) -> Value {
    let stats = proxy.store.stats();
    // A small probe may succeed where no file has room.
    let full = || proxy.store.is_disk_full().then_some(FULL);
    let mut reasons = Vec::from_iter(disk_problem(proxy).await.or_else(full).map(str::to_owned));
    let bucket = proxy.store.bucket();
    if let Some((bucket, trouble)) = bucket.and_then(|bucket| Some((bucket, bucket.remote().last_error()?))) {
        reasons.push(trouble);
        // Without other requests, nothing would detect that the bucket is available again.
        bucket.recheck();
    }
    for (label, index) in proxy.all_upstreams() {
        if index.meter.condition() == Condition::Failing {
            reasons.push(format!("index {label} failed to respond to the last request"));
        }
    }
    let indexes: Vec<_> = proxy
        .all_upstreams()
        .map(|(label, index)| {
            let state = match index.meter.condition() {
                Condition::Unknown => "no request yet",
                Condition::Responding => "answers",
                Condition::Failing => "fails",
            };
            json!({"index": label, "url": index.to_string(), "ttl_seconds": index.ttl().as_secs(), "state": state})
        })
        .collect();
    let index = proxy.upstreams.first();
    let uptime = now.duration_since(proxy.started).unwrap_or_default();
    json!({
        "status": "success",
        "data": {
            "state": if reasons.is_empty() { "ok" } else { "degraded" },
            "reasons": reasons,
            "cache_dir": proxy.store.dir().to_string_lossy(),
            "cache_size": stats.bytes,
            "cache_files": stats.files,
            "index_url": index.map(ToString::to_string),
            "index_ttl_seconds": index.map(|index| index.ttl().as_secs()),
            "indexes": indexes,
            "storage_type": if bucket.is_some() { "s3" } else { "local" },
            "uptime_seconds": uptime.as_secs(),
            "version": env!("CARGO_PKG_VERSION"),
        },
        "timestamp": now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    })
}
