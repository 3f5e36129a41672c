//! Simulation of proxies that share an index and possibly a bucket, on a paused clock. Clients request pages, files and
//! ranges, are slow and disconnect; the proxies are reloaded, purged, killed and started again in their directories; the
//! index and the bucket are slow and fail, and disks are full. All decisions come from a seed, also the order in which the
//! tasks run. Only the disk is real.
//!
//! The invariants:
//!
//! - No complete body is wrong.
//! - Pages never get older, and are not older than the configuration allows.
//! - A proxy has at most one download of a file at a time, and none of a file that it has stored. Without faults, proxies
//!   with a bucket download each file once.
//! - A file is not served from the cache after a purge until it is downloaded again.
//! - Each client gets a response in time; without faults of the index, without an error.
//! - After the faults have ended, everything works: all pages are new, all files are available, no task and no lease is
//!   left, and everything that was requested is available after a start without index and bucket.

mod bucket;
mod index;
mod world;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{Method, Request, StatusCode};
use http_body::Body as _;
use object_store::ObjectStore as _;
use parking_lot::Mutex;
use tempfile::TempDir;
use test_support::simulation::{Random, simulate_part};
use tightwire_json::Value;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use self::bucket::Objects;
use self::index::Index;
use self::world::{Process, World, below, chance, fail, log, pause, pick, with};
use crate::bucket::Bucket;
use crate::page_cache::{self, PageCache};
use crate::serve::{self, Proxy, Scope};
use crate::store::{self, Store};
use crate::upstream::{self, TlsClient, Upstream};

pub(crate) use self::world::{disk, now, send, spawn, spawn_blocking, spawn_thread};

/// Time in which every request ends.
const LIMIT: Duration = Duration::from_secs(1800);
const TTL: Duration = Duration::from_secs(60);
const STALE: Duration = Duration::from_secs(300);
/// Time for which a page is served while the index fails.
const STALE_IF_ERROR: Duration = Duration::from_secs(1200);
/// Time of a request of a page to an index that does not respond, with retries by several clients.
const PAGE_LIMIT: Duration = Duration::from_secs(120);

/// Certificates of the system, which take longer to read than a run.
static TLS: LazyLock<Option<TlsClient>> =
    LazyLock::new(|| TlsClient::new(&[], false).expect("a configuration"));

/// Size and faults of a run.
#[derive(Clone, Copy, Debug)]
struct Plan {
    processes: usize,
    has_bucket: bool,
    has_index_faults: bool,
    has_bucket_faults: bool,
    has_kills: bool,
    has_full_disks: bool,
    has_purges: bool,
    /// Whether the cache is too small for all files.
    is_small: bool,
}

impl Plan {
    fn new(random: &mut Random) -> Self {
        let (has_bucket, is_calm) = (random.chance(60), random.chance(25));
        let mut has = |percent| !is_calm && random.chance(percent);
        Self {
            has_bucket,
            has_index_faults: has(50),
            has_bucket_faults: has_bucket && has(50),
            has_kills: has(50),
            has_full_disks: has(30),
            has_purges: has(30),
            is_small: has(30),
            processes: 1 + random.below(if has_bucket { 3 } else { 1 }),
        }
    }

    /// Returns whether everything that a client got completely was stored for good.
    fn stores_everything(&self) -> bool {
        !self.has_full_disks && !self.has_purges && !self.is_small
    }
}

/// The configuration of a process. A reload changes it.
#[derive(Clone, Copy, Debug)]
struct Settings {
    ttl: Duration,
    max_memory: u64,
    wheel_metadata: bool,
}

impl Settings {
    fn random() -> Self {
        let (ttl, max_memory) = (TTL / pick(&[1, 1, 2]), pick(&[0, 1 << 20]));
        Self { ttl, max_memory, wheel_metadata: chance(70) }
    }
}

/// The newest version of a page that clients have received, by process and project.
type Seen = Arc<Mutex<HashMap<(Process, usize), usize>>>;

struct Simulation {
    plan: Plan,
    dir: TempDir,
    objects: Objects,
    /// The running proxies. The first one is process 1.
    proxies: Vec<Proxy>,
    clients: Vec<JoinHandle<()>>,
    seen: Seen,
}

impl Simulation {
    async fn run(random: &mut Random) {
        let plan = Plan::new(random);
        let mut index = Index::new(random);
        index.publish(0);
        index.faults = if plan.has_index_faults { random.pick(&[5, 20]) } else { 0 };
        index.is_single = !plan.has_full_disks && !plan.is_small;
        let is_calm = !plan.has_index_faults && !plan.has_bucket_faults && !plan.has_kills;
        index.is_shared = plan.has_bucket && is_calm && plan.stores_everything();
        let steps = 5 + random.below(30);
        World::install(Random::new(random.number()), index);
        log(format_args!("{plan:?}"));
        let objects = Objects::default();
        let faults = if plan.has_bucket_faults { pick(&[2, 10, 40]) } else { 0 };
        objects.faults.store(faults, Ordering::Relaxed);
        let dir = tempfile::tempdir().expect("a folder");
        let (clients, seen) = (Vec::new(), Seen::default());
        let mut this = Self { plan, dir, objects, proxies: Vec::new(), clients, seen };
        world::run(async move {
            for process in 1..=plan.processes {
                let proxy = this.start(process);
                this.proxies.push(proxy);
            }
            for _ in 0..steps {
                this.step().await;
                world::check();
            }
            this.finish().await;
            world::check();
        })
        .await;
    }

    fn path(&self, process: Process) -> PathBuf {
        self.dir.path().join(process.to_string())
    }

    fn upstream(settings: Settings) -> Arc<Upstream> {
        let mut config = upstream::Config::new("http://index.example/simple/").expect("a URL");
        config.ttl = settings.ttl;
        Arc::new(Upstream::with_tls(config, TLS.clone()).expect("an index"))
    }

    fn pages(settings: Settings, store: &Store) -> page_cache::Config {
        page_cache::Config {
            dir: Some(store.pages_dir()),
            stale_while_revalidate: STALE,
            stale_if_error: STALE_IF_ERROR,
            max_bytes: settings.max_memory,
            bucket: store.bucket().cloned(),
            wheel_metadata: settings.wheel_metadata,
            ..page_cache::Config::default()
        }
    }

    fn start(&self, process: Process) -> Proxy {
        let config = crate::bucket::Config { part_size: 32 << 10, ..crate::bucket::Config::default() };
        let bucket = || Bucket::new(Arc::new(self.objects.clone()), config);
        let store = Store::open(store::Config {
            max_bytes: if self.plan.is_small { 160_000 } else { 1 << 30 },
            max_memory_buffer: 50_000,
            max_open_files: 2,
            bucket: self.plan.has_bucket.then(bucket),
            ..store::Config::new(self.path(process))
        });
        let (store, settings) = (store.expect("nothing else uses the folder"), Settings::random());
        // As the thread that scans the folder, which is not simulated.
        if self.plan.is_small || chance(50) {
            store.collect(None, store.max_bytes()).expect("a folder");
        }
        let upstream = Self::upstream(settings);
        let pages = PageCache::new(vec![upstream.clone()], Self::pages(settings, &store));
        log(format_args!("process {process} starts: {settings:?}"));
        Proxy::new(vec![upstream], pages, store, serve::Config::default())
    }

    async fn restart(&mut self, process: Process) {
        log(format_args!("process {process} is killed"));
        with(|world| world.generations[process] += 1);
        // The proxy is dropped after its tasks.
        let proxy = self.proxies.remove(process - 1);
        world::kill(process).await;
        drop(proxy);
        order_by_time(&self.path(process));
        let proxy = self.start(process);
        self.proxies.insert(process - 1, proxy);
    }

    async fn step(&mut self) {
        let plan = self.plan;
        let process = 1 + below(plan.processes);
        let proxy = self.proxies[process - 1].clone();
        match below(100) {
            ..8 => with(|world| {
                let project = world.random.below(2);
                world.index.publish(project);
            }),
            8..16 => {
                let settings = Settings::random();
                let (upstream, pages) = (Self::upstream(settings), Self::pages(settings, proxy.store()));
                log(format_args!("process {process} is reloaded: {settings:?}"));
                with(|world| world.generations[process] += 1);
                self.proxies[process - 1] =
                    proxy.reconfigure(vec![upstream], pages, serve::Config::default());
            }
            16..22 if plan.has_kills => {
                drop(proxy);
                self.restart(process).await;
            }
            22..28 if plan.has_full_disks => with(|world| world.full_disks[process] ^= true),
            28..32 if plan.has_index_faults => with(|world| world.index.is_down ^= true),
            32..36 if plan.has_bucket_faults => {
                let faults = pick(&[0, 5, 40, 100]);
                self.objects.faults.store(faults, Ordering::Relaxed);
            }
            36..40 if plan.has_purges => {
                let (project, is_page, client) = (below(2), chance(70), self.client(process));
                let key = (process, if is_page { String::new() } else { format!("p{project}-0.tar") });
                let path = format!("/cache/p{project}/{}", key.1);
                let (version, started) =
                    with(|world| (world.index.version(project), world.index.started.get(&key).copied()));
                log(format_args!("process {process}: purge {path}"));
                let request = Request::delete(path.trim_end_matches('/')).body(()).expect("a request");
                self.clients.push(world::spawn_in(process, async move {
                    let purged = proxy.handle_in(Scope::Admin, &request).await;
                    // Another request may be writing the page to the bucket.
                    if purged.status().is_success() && !plan.has_bucket {
                        if is_page {
                            client.see(project, version);
                        }
                        with(|world| world.index.purged.insert(key, started));
                    }
                }));
            }
            40..42 if plan.is_small => {
                let store = proxy.store().clone();
                world::spawn_in(process, async move {
                    spawn_blocking(move || drop(store.collect(None, 100_000))).await
                });
            }
            _ => {
                for _ in 0..pick(&[1, 1, 3]) {
                    self.clients.push(world::spawn_in(process, self.client(process).run()));
                }
            }
        }
        pause(pick(&[0, 0, 1, 20, 300, 2_000, 20_000, 90_000])).await;
    }

    /// Ends all faults, and checks that everything works.
    async fn finish(&mut self) {
        log(format_args!("the faults end"));
        with(|world| {
            (world.index.faults, world.index.is_down) = (0, false);
            world.full_disks.fill(false);
        });
        self.objects.faults.store(0, Ordering::Relaxed);
        self.settle().await;
        let refreshes = if self.plan.has_full_disks { 2 } else { 1 };
        self.plan =
            Plan { has_index_faults: false, has_bucket_faults: false, has_full_disks: false, ..self.plan };
        // A page that was not stored because the disk was full is stored by the second refresh.
        for _ in 0..refreshes {
            // Everything that is cached in memory is too old.
            sleep(TTL + STALE + STALE_IF_ERROR).await;
            for process in 1..=self.plan.processes {
                let client = self.client(process);
                self.clients.push(world::spawn_in(process, client.everything(true)));
            }
            self.settle().await;
        }
        for process in 1..=self.plan.processes {
            self.check_store(process);
        }
        self.check_bucket().await;
        if self.plan.is_small {
            return;
        }
        log(format_args!("index and bucket are down"));
        with(|world| world.index.is_down = true);
        self.objects.faults.store(100, Ordering::Relaxed);
        for process in 1..=self.plan.processes {
            self.restart(process).await;
            let client = self.client(process);
            self.clients.push(world::spawn_in(process, client.everything(false)));
        }
        self.settle().await;
    }

    fn client(&self, process: Process) -> Client {
        let (proxy, seen) = (self.proxies[process - 1].clone(), self.seen.clone());
        let generation = with(|world| world.generations[process]);
        Client { process, generation, proxy, plan: self.plan, seen }
    }

    /// Waits until all clients have their responses, and nothing runs any more.
    async fn settle(&mut self) {
        for client in self.clients.drain(..) {
            // Those of a killed process are cancelled.
            let _ = client.await;
        }
        let start = Instant::now();
        while world::running() > 0 {
            if start.elapsed() > LIMIT {
                fail(format!("{} tasks do not end", world::running()));
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
        world::check();
    }

    fn check_store(&self, process: Process) {
        let store = self.proxies[process - 1].store();
        let stats = store.stats();
        if (stats.in_flight, stats.partial) != (0, 0) {
            fail(format!("process {process} is idle: {stats:?}"));
        }
        let dir = self.path(process);
        let partial = files_below(&dir.join("partial"));
        if !partial.is_empty() {
            fail(format!("partial files are left: {partial:?}"));
        }
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let used: u64 = files_below(&dir.join("files")).iter().map(size).sum();
        if used > store.max_bytes() {
            fail(format!("files have {used} bytes"));
        }
    }

    async fn check_bucket(&self) {
        let objects = self.objects.inner.list(None).filter_map(async |object| object.ok());
        for object in objects.collect::<Vec<_>>().await {
            let path = object.location.to_string();
            let is_calm = !self.plan.has_kills && with(|world| world.index.is_shared);
            if is_calm && ["leases/", "wanted/", "parts/"].iter().any(|part| path.starts_with(part)) {
                fail(format!("{path} is left in the bucket"));
            }
            if let Some(digest) = path.strip_prefix("files/").and_then(|path| path.rsplit('/').next()) {
                let len = with(|world| {
                    let mut files = world.index.projects.iter().flatten();
                    files.find(|file| file.digest.to_string() == digest).map(|file| file.content.len())
                });
                if len != usize::try_from(object.size).ok() {
                    fail(format!("{path} has {} bytes instead of {len:?}", object.size));
                }
            }
        }
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Gives files distinct times, by which a scan orders them. Those with times of the real disk are the oldest.
fn order_by_time(dir: &Path) {
    let oldest = now() - LIMIT * 100;
    let time = |path: &PathBuf| {
        let time = fs::metadata(path).and_then(|metadata| metadata.modified());
        time.ok().filter(|time| *time > oldest).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let mut files: Vec<_> = files_below(dir).into_iter().map(|path| (time(&path), path)).collect();
    files.sort();
    for (number, (time, path)) in files.iter().enumerate() {
        let time = *time + Duration::from_nanos(number as u64);
        let _ = fs::File::open(path).and_then(|file| file.set_modified(time));
    }
}

/// A client of a proxy.
struct Client {
    process: Process,
    generation: usize,
    proxy: Proxy,
    plan: Plan,
    seen: Seen,
}

impl Client {
    /// Requests a page and some of its files.
    async fn run(self) {
        let project = below(2);
        let names = self.page(project).await.unwrap_or_default();
        for _ in 0..2 {
            if !names.is_empty() {
                self.file(&names[below(names.len())], false).await;
            }
        }
    }

    /// Requests everything that the index has. It is up to date if the index works.
    async fn everything(self, is_up: bool) {
        for project in 0..2 {
            let expected = with(|world| world.index.version(project));
            let names = self.page(project).await.unwrap_or_default();
            if names.len() != expected && expected > 0 {
                // The first response may be the stale page.
                sleep(PAGE_LIMIT).await;
                let names = self.page(project).await.unwrap_or_default();
                if names.len() != expected {
                    fail(format!("the page has version {} instead of {expected}", names.len()));
                }
            }
            for name in names {
                if !self.file(&name, true).await {
                    fail(format!(
                        "{name} is not served, and the index is {}",
                        if is_up { "up" } else { "down" }
                    ));
                }
            }
        }
    }

    async fn get(
        &self,
        method: Method,
        path: &str,
        range: Option<&str>,
    ) -> Option<http::Response<serve::ResponseBody>> {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("accept", "application/vnd.pypi.simple.v1+json");
        if let Some(range) = range {
            request = request.header("range", range);
        }
        let request = request.body(()).expect("a request");
        let response = timeout(LIMIT, self.proxy.handle(&request)).await;
        if response.is_err() {
            fail(format!("a client gets no response to {path}"));
        }
        response.ok()
    }

    /// Reads a body until its declared end. Returns `None` if the client disconnects.
    async fn read(
        mut body: serve::ResponseBody,
        mut is_patient: bool,
    ) -> Result<Option<Bytes>, crate::Error> {
        let (mut bytes, speed) = (Vec::new(), pick(&[0, 0, 0, 10, 2_000]));
        is_patient |= chance(85);
        let len = body.size_hint().exact();
        while len != Some(bytes.len() as u64) {
            let frame = std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx));
            match timeout(LIMIT, frame).await {
                Err(_) => {
                    fail("a body does not end".into());
                    return Ok(None);
                }
                Ok(None) => break,
                Ok(Some(frame)) => bytes.extend_from_slice(&frame?.into_data().unwrap_or_default()),
            }
            pause(speed).await;
            if !is_patient && chance(30) {
                return Ok(None);
            }
        }
        Ok(Some(bytes.into()))
    }

    /// Requests a page, and returns the names of its files.
    async fn page(&self, project: usize) -> Option<Vec<String>> {
        let path = format!("/simple/p{project}/");
        let (start, process) = (Instant::now(), self.process);
        let least = self.seen.lock().get(&(process, project)).copied().unwrap_or_default();
        let response = self.get(Method::GET, &path, None).await?;
        let (status, newest) = (response.status(), with(|world| world.index.version(project)));
        if status != StatusCode::OK {
            log(format_args!("client: {path}: {status}"));
            let is_expected = self.plan.has_index_faults || status == StatusCode::NOT_FOUND && least == 0;
            if !is_expected && !with(|world| world.index.is_down) {
                fail(format!("{path}: status {status}"));
            }
            return None;
        }
        let bytes = Self::read(response.into_body(), true).await.ok().flatten()?;
        let page: Value = tightwire_json::from_slice(&bytes).expect("a page in JSON");
        let files = page["files"].as_array().expect("files");
        let names: Vec<_> =
            files.iter().map(|file| file["filename"].as_str().expect("a name").to_owned()).collect();
        let version = names.len();
        log(format_args!("client: {path} has version {version}"));
        let next = with(|world| {
            let files = &world.index.projects[project];
            let is_right = files.iter().map(|file| &file.name).take(version).eq(&names) && version <= newest;
            let next = files.get(version).and_then(|file| file.published);
            if is_right { Ok(next) } else { Err(format!("{path} has {names:?}")) }
        });
        // Without serials, proxies only know when the others have requested a page.
        let is_ordered = self.plan.processes == 1 || with(|world| world.index.has_serials);
        let is_kept = !(self.plan.has_full_disks || self.plan.has_purges && self.plan.has_bucket);
        if version < least && is_ordered && is_kept {
            fail(format!("{path} has version {version} after {least}"));
        }
        let allowed = TTL + PAGE_LIMIT + if self.plan.has_index_faults { STALE_IF_ERROR } else { STALE };
        match next {
            Err(wrong) => fail(wrong),
            Ok(Some(next)) if next + allowed < start => {
                fail(format!("{path} has version {version} for too long"))
            }
            Ok(_) => {}
        }
        self.see(project, version);
        Some(names)
    }

    /// Records that later responses must have at least this version. A reload does not affect the requests in flight, nor
    /// they the next ones.
    fn see(&self, project: usize, version: usize) {
        if self.generation == with(|world| world.generations[self.process]) {
            let mut seen = self.seen.lock();
            let newest = seen.entry((self.process, project)).or_default();
            *newest = version.max(*newest);
        }
    }

    /// Requests a file. Returns whether it was served.
    async fn file(&self, name: &str, is_patient: bool) -> bool {
        let content = with(|world| world.index.file(name).expect("a file of the index").content.clone());
        let len = content.len();
        let range = (!is_patient && chance(20)).then(|| {
            let first = below(len);
            first..first + 1 + below(len - first)
        });
        let method = if !is_patient && chance(5) { Method::HEAD } else { Method::GET };
        let text = range.as_ref().map(|range| format!("bytes={}-{}", range.start, range.end - 1));
        let key = (self.process, name.to_owned());
        let purged = with(|world| world.index.purged.get(&key).copied());
        let Some(response) = self.get(method.clone(), &format!("/f/{name}"), text.as_deref()).await else {
            return false;
        };
        let (status, cache) = (response.status(), response.headers().get("x-cache"));
        let is_stored = cache.is_none_or(|x| x != "pass");
        // Files of one byte are the same.
        if cache.is_some_and(|x| x == "hit")
            && len > 1
            && purged == Some(with(|world| world.index.started.get(&key).copied()))
        {
            fail(format!("{name} is still stored after a purge"));
        }
        let expected = match status {
            StatusCode::OK => content,
            StatusCode::PARTIAL_CONTENT => content.slice(range.unwrap_or(0..len)),
            _ => {
                log(format_args!("client: {name}: {status}"));
                if !self.plan.has_index_faults && !with(|world| world.index.is_down) {
                    fail(format!("{name}: status {status}"));
                }
                return false;
            }
        };
        let read = Self::read(response.into_body(), is_patient).await;
        match read {
            Ok(Some(_)) if method == Method::HEAD => true,
            Ok(Some(bytes)) => {
                log(format_args!("client: {name}: {status}, {} bytes", bytes.len()));
                // A range is sent before the hash of the whole file is known.
                let is_verified =
                    status == StatusCode::OK || !self.plan.has_index_faults && !self.plan.has_bucket_faults;
                if is_verified && bytes != expected {
                    fail(format!("{name} has a wrong body of {} bytes with status {status}", bytes.len()));
                }
                if status == StatusCode::OK && is_stored && self.plan.stores_everything() {
                    with(|world| world.index.accepted.insert(key));
                }
                true
            }
            Ok(None) => true,
            Err(error) => {
                log(format_args!("client: {name}: {}", crate::error::Chain(&error)));
                // The start of a large file is sent before its hash is known.
                let is_corrupt = self.plan.has_bucket_faults && error.is_corrupt();
                if !self.plan.has_index_faults && !self.plan.has_full_disks && !is_corrupt {
                    fail(format!("{name}: {}", crate::error::Chain(&error)));
                }
                false
            }
        }
    }
}

/// Runs a simulation, and returns the hash of all that happened.
fn run(mut random: Random) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(Simulation::run(&mut random));
    drop(runtime);
    World::remove()
}

#[test]
fn proxies_stay_correct() {
    simulate_part(20, 2, |random| {
        run(random);
    });
}

#[test]
fn a_seed_repeats_a_run() {
    for seed in 0..30 {
        assert_eq!(run(Random::new(seed)), run(Random::new(seed)), "seed {seed}");
    }
}
