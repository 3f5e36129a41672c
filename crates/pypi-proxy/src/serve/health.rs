//! Whether the proxy does what it should.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::service::Inner;
use crate::upstream::{Condition, Upstream};

/// For how long what was found holds: whoever asks more often learns the same.
const HOLDS: Duration = Duration::from_secs(5);
/// How long a disk or an index may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was found, and when.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What was told in a second, since 1970.
    told: Mutex<(u64, Bytes)>,
    store: tokio::sync::Mutex<Writable>,
    ready: tokio::sync::Mutex<Option<(Instant, Vec<&'static str>)>>,
}

/// Whether the store can be written.
#[derive(Debug, Default)]
struct Writable {
    found: Option<(Instant, bool)>,
    /// A disk that hangs keeps a thread: one is enough.
    probe: Option<JoinHandle<bool>>,
}

/// What keeps the proxy from being ready; nothing if it is.
///
/// It is ready if the store can be written, and if an index answers or there is a page to serve without one.
pub(super) async fn obstacles(proxy: &Arc<Inner>) -> Vec<&'static str> {
    let mut ready = proxy.findings.ready.lock().await;
    if let Some((at, obstacles)) = &*ready
        && at.elapsed() < HOLDS
    {
        return obstacles.clone();
    }
    let mut obstacles = Vec::new();
    if !is_writable(proxy).await {
        obstacles.push(UNWRITABLE);
    }
    if !has_answer(&proxy.upstreams).await && !has_page(proxy).await {
        obstacles.push("no index answers, and no page is kept");
    }
    *ready = Some((Instant::now(), obstacles.clone()));
    obstacles
}

const UNWRITABLE: &str = "the folder of the cache can't be written";

/// Whether the store can be written. A disk that hangs can't.
async fn is_writable(proxy: &Arc<Inner>) -> bool {
    let mut writable = proxy.findings.store.lock().await;
    if let Some((at, is_writable)) = writable.found
        && at.elapsed() < HOLDS
    {
        return is_writable;
    }
    let mut probe = writable.probe.take().unwrap_or_else(|| {
        let store = proxy.store.clone();
        tokio::task::spawn_blocking(move || store.probe().is_ok())
    });
    let is_writable = match tokio::time::timeout(PATIENCE, &mut probe).await {
        Ok(done) => done.unwrap_or(false),
        Err(_) => {
            writable.probe = Some(probe);
            false
        }
    };
    writable.found = Some((Instant::now(), is_writable));
    is_writable
}

/// Whether one of the indexes has answered the last request to it, or does now.
async fn has_answer(indexes: &[Arc<Upstream>]) -> bool {
    if indexes.iter().any(|index| index.meter().condition() == Condition::Responding) {
        return true;
    }
    let probes = indexes.iter().map(|index| tokio::time::timeout(PATIENCE, index.probe()));
    join_all(probes).await.iter().any(|probe| matches!(probe, Ok(Ok(()))))
}

async fn has_page(proxy: &Arc<Inner>) -> bool {
    if proxy.pages.has_any() {
        return true;
    }
    let dir = proxy.store.pages_dir();
    tokio::task::spawn_blocking(move || has_file(dir.path())).await.unwrap_or(false)
}

/// Whether one of the folders in a folder has something in it.
fn has_file(dir: &Path) -> bool {
    let read = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    read(dir).any(|folder| read(&folder.path()).next().is_some())
}

/// The members of both originals, and what is not as it should be; whoever asks within a second is told the same. It says
/// nothing of credentials.
pub(super) async fn health(proxy: &Arc<Inner>) -> Bytes {
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // Nothing panics while it holds the lock.
    let told = || proxy.findings.told.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let told = told();
        if told.0 == second {
            return told.1.clone();
        }
    }
    let document = Bytes::from(document(proxy, now).await.to_string());
    *told() = (second, document.clone());
    document
}

async fn document(proxy: &Arc<Inner>, now: SystemTime) -> Value {
    let stats = proxy.store.stats();
    let mut reasons = Vec::new();
    if !is_writable(proxy).await {
        reasons.push(UNWRITABLE.to_owned());
    }
    let bucket = proxy.store.bucket();
    if let Some((bucket, trouble)) = bucket.and_then(|bucket| Some((bucket, bucket.last_error()?))) {
        reasons.push(trouble);
        // Without requests for what is not here, nobody would ever know that it answers again.
        bucket.recheck();
    }
    for (at, index) in proxy.upstreams.iter().enumerate() {
        if index.meter().condition() == Condition::Failing {
            reasons.push(format!("index {} has failed to answer the last request", at + 1));
        }
    }
    let indexes: Vec<_> = proxy
        .upstreams
        .iter()
        .map(|index| {
            let state = match index.meter().condition() {
                Condition::Unknown => "not asked yet",
                Condition::Responding => "answers",
                Condition::Failing => "fails",
            };
            json!({"url": index.to_string(), "ttl_seconds": index.ttl().as_secs(), "state": state})
        })
        .collect();
    let index = proxy.upstreams.first();
    let uptime = now.duration_since(proxy.meter.started()).unwrap_or_default();
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
