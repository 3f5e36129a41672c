//! Eight simulated hours of three proxies with one bucket: memory, tasks and open files do not grow.
//!
//! The clock of tokio is paused, and advances only while requests are in flight or the proxies are idle. Times of the
//! operating system, such as those of pages and files, do not advance.

#[path = "../support/mod.rs"]
mod support;

use std::collections::VecDeque;
use std::io::Write as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use pypi_proxy::bucket;
use pypi_proxy::bucket::Bucket;
use test_support::counting;

use crate::support::prelude::*;

const HOURS: usize = 8;
const PROXIES: usize = 3;
const PROJECTS: usize = 8;
/// Files on the pages of the index, and in the bucket, whose lifecycle rules delete older ones.
const SHELF: usize = 40;
/// Room for a part of the files, so that each proxy evicts.
const CACHE_SIZE: u64 = 11 << 20;
/// Room for a part of the pages and negative entries.
const PAGES_SIZE: u64 = 60 << 10;
/// Duration of a download from the index. The lease is renewed meanwhile.
const DOWNLOAD: Duration = Duration::from_secs(8);
const STEP: Duration = Duration::from_secs(1);
/// Number of different lengths, and so of contents: more than the files that exist at one time.
const LENGTHS: usize = 160;
/// One in this many files is large enough to be streamed to waiting proxies.
const LARGE_INTERVAL: usize = 20;
/// Longer than any pause of this process: the clock advances faster than the network.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Tolerated growth between the second and the last hour.
const MAX_BYTES: usize = 64 << 10;
const MAX_COUNT: usize = 4;

struct File {
    name: String,
    project: usize,
    content: Bytes,
    entry: Value,
}

impl File {
    fn new(number: usize) -> Self {
        let len = if number.is_multiple_of(LARGE_INTERVAL) { 9 << 20 } else { 160_000 };
        let (project, content) = (number % PROJECTS, content(len + number % LENGTHS));
        let name = format!("p{project}-1.{number}-py3-none-any.whl");
        Self { entry: listed(&name, &content), name, project, content }
    }
}

type Shelf = Arc<Mutex<VecDeque<Arc<File>>>>;

fn index(shelf: &Shelf) -> Server {
    let shelf = shelf.clone();
    Server::start(move |request| {
        let shelf = shelf.lock().unwrap();
        if let Some(name) = request.path.strip_prefix("/f/") {
            let Some(file) = shelf.iter().find(|file| file.name == name) else {
                return respond(404, &[], "");
            };
            let steps = ranged(request, &[], &file.content);
            return slowly(steps, file.content.len() / 8 + 1, DOWNLOAD / 8);
        }
        let project = request.path.strip_prefix("/simple/p").and_then(|path| path.strip_suffix('/'));
        let Some(project) = project.and_then(|number| number.parse::<usize>().ok()) else {
            return respond(404, &[], "");
        };
        let files: Vec<_> = shelf.iter().filter(|file| file.project == project).collect();
        let etag = format!("\"{}\"", files.last().map_or("", |file| &file.name));
        if request.header("if-none-match") == etag {
            return respond(304, &[("etag", &etag)], "");
        }
        let entries: Vec<_> = files.iter().map(|file| file.entry.clone()).collect();
        respond(200, &[JSON, ("etag", &etag)], page_of(&entries))
    })
}

fn proxy(index: &Server, objects: &Arc<dyn ObjectStore>) -> RunningProxy {
    let config = bucket::Config {
        part_size: 1 << 20,
        timeout: PATIENCE,
        lease_wait: PATIENCE,
        page_wait: PATIENCE,
        ..bucket::Config::default()
    };
    let bucket = Bucket::new(objects.clone(), config);
    let mut proxy = start_with(&[index.url("/simple")], |setup| {
        setup.always_revalidate();
        for upstream in &mut setup.upstreams {
            (upstream.connect_timeout, upstream.read_timeout) = (PATIENCE, PATIENCE);
        }
        setup.pages.max_bytes = PAGES_SIZE;
        setup.pages.stale_wait = PATIENCE;
        setup.pages.bucket = Some(bucket.clone());
        setup.store.bucket = Some(bucket);
        setup.store.max_bytes = CACHE_SIZE;
        setup.store.stall_timeout = PATIENCE;
        (setup.server.header_timeout, setup.server.send_timeout) = (PATIENCE, PATIENCE);
    });
    proxy.client = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
    proxy
}

/// Runs tasks and I/O for a moment of real time.
#[allow(
    clippy::disallowed_methods,
    reason = "the clock of tokio is paused, and the thread is a blocking one"
)]
async fn yield_to_others() {
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(500))).await.unwrap();
}

/// Advances the clock in steps until the work is done. Returns the simulated duration.
async fn drive(step: Duration, work: impl Future<Output = ()>) -> Duration {
    let (mut work, start) = (pin!(work), tokio::time::Instant::now());
    loop {
        tokio::select! {
            biased;
            () = &mut work => return start.elapsed(),
            () = yield_to_others() => {}
        }
        tokio::time::advance(step).await;
    }
}

/// Advances the clock while nothing is requested.
async fn rest(time: Duration) {
    drive(Duration::from_secs(15), tokio::time::sleep(time)).await;
}

async fn fetch(proxy: &RunningProxy, file: &File) {
    let response = proxy.get(&format!("/simple/p{}/{}", file.project, file.name), &[]).await;
    assert_eq!(response.status(), 200, "{}", file.name);
    let body = response.bytes().await.unwrap();
    assert!(body == file.content, "{}: {} bytes", file.name, body.len());
}

async fn status(proxy: &RunningProxy, path: &str, wanted: u16) {
    let response = proxy.get(path, &[]).await;
    assert_eq!(response.status(), wanted, "{path}");
    response.bytes().await.unwrap();
}

/// Requests of one minute: pages, a missing project, and known files from every proxy, then a new file from all.
async fn minute(number: usize, fleet: &[RunningProxy], shelf: &Shelf) {
    let new = Arc::new(File::new(number));
    {
        let mut shelf = shelf.lock().unwrap();
        shelf.push_back(new.clone());
        if shelf.len() > SHELF {
            shelf.pop_front();
        }
    }
    let known = |at: usize| {
        let shelf = shelf.lock().unwrap();
        shelf[(number * 7 + at * 11) % shelf.len()].clone()
    };
    let asking = fleet.iter().enumerate().map(async |(at, proxy)| {
        status(proxy, &format!("/simple/p{}/", number % PROJECTS), 200).await;
        status(proxy, &format!("/simple/missing-{number}-{at}/"), 404).await;
        fetch(proxy, &known(at)).await;
    });
    let all = drive(STEP, async { drop(join_all(asking).await) }).await;
    let asking = fleet.iter().map(|proxy| fetch(proxy, &new));
    let one = drive(STEP, async { drop(join_all(asking).await) }).await;
    rest(Duration::from_secs(60).saturating_sub(all + one)).await;
}

/// Deletes the files that left the index.
async fn expire(objects: &Arc<dyn ObjectStore>, shelf: &Shelf) {
    let kept: Vec<_> = {
        let shelf = shelf.lock().unwrap();
        shelf.iter().map(|file| file.entry["hashes"]["sha256"].as_str().unwrap().to_owned()).collect()
    };
    let files: Vec<_> = objects.list(Some(&Path::from("files"))).try_collect().await.unwrap();
    for file in files {
        if !kept.iter().any(|hash| file.location.filename() == Some(hash)) {
            objects.delete(&file.location).await.unwrap();
        }
    }
}

#[derive(Debug)]
struct Sample {
    bytes: usize,
    tasks: usize,
    open_files: usize,
    objects: usize,
}

impl Sample {
    /// Measures after all idle connections were closed.
    async fn take(objects: &Arc<dyn ObjectStore>) -> Self {
        rest(Duration::from_secs(900)).await;
        let list: Vec<_> = objects.list(None).try_collect().await.unwrap();
        let leases = list.iter().filter(|object| !object.location.as_ref().starts_with("files/"));
        Self {
            bytes: counting::held(),
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
            open_files: std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count),
            objects: leases.count(),
        }
    }
}

async fn metric(fleet: &[RunningProxy], name: &str) -> f64 {
    let mut sum = 0.0;
    for proxy in fleet {
        sum += proxy.metrics().await[name];
    }
    sum
}

#[tokio::test(start_paused = true)]
async fn memory_is_flat_for_eight_hours() {
    // The clock does not advance by itself while a blocking task runs.
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let pause = tokio::task::spawn_blocking(move || ended.recv().unwrap_or_default());
    let started = SystemTime::now();
    let shelf = Shelf::default();
    let (index, objects) = (index(&shelf), Arc::new(InMemory::new()) as Arc<dyn ObjectStore>);
    let fleet: Vec<_> = (0..PROXIES).map(|_| proxy(&index, &objects)).collect();
    let mut samples = Vec::new();
    let mut requests = 0;
    for hour in 0..HOURS {
        for number in hour * 60..(hour + 1) * 60 {
            minute(number, &fleet, &shelf).await;
            expire(&objects, &shelf).await;
            requests += index.count();
            index.clear();
        }
        let sample = Sample::take(&objects).await;
        let _ =
            writeln!(std::io::stderr(), "hour {}: {sample:?}, {:?}", hour + 1, started.elapsed().unwrap());
        samples.push(sample);
    }
    let minutes = (HOURS * 60) as f64;
    let leases = async |outcome: &str| {
        metric(&fleet, &format!("pypi_proxy_bucket_leases_total{{outcome=\"{outcome}\"}}")).await
    };
    // All of it has happened.
    assert!(leases("acquired").await >= minutes && leases("waited").await >= minutes);
    assert!(leases("streamed").await >= minutes / LARGE_INTERVAL as f64);
    assert!(
        metric(&fleet, "pypi_proxy_bucket_operations_total{operation=\"update\",outcome=\"done\"}").await
            >= minutes
    );
    assert!(metric(&fleet, "pypi_proxy_files_evicted_total").await >= minutes / 2.0);
    assert!(requests as f64 >= minutes * 4.0);
    let (first, last) = (&samples[1], &samples[HOURS - 1]);
    assert!(last.bytes <= first.bytes + MAX_BYTES, "{samples:#?}");
    assert!(last.tasks <= first.tasks + MAX_COUNT, "{samples:#?}");
    assert!(last.open_files <= first.open_files + MAX_COUNT, "{samples:#?}");
    assert!(last.objects <= first.objects + MAX_COUNT, "{samples:#?}");
    drop(end);
    pause.await.unwrap();
}
