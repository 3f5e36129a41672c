//! Proxies that share a bucket: each file is downloaded from the index once, and clients are served despite bucket
//! faults.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use pypi_proxy::bucket::{Bucket, ConditionalWrites};
use pypi_proxy::store::Store;
use pypi_proxy::{bucket, store};
use tokio::sync::Semaphore;

use crate::support::faulty::{Fault, Faulty};
use crate::support::prelude::*;

const PART: u64 = 100_000;
/// Long enough to renew a lease on a busy machine.
const LEASE: Duration = Duration::from_secs(6);

pub(crate) fn config() -> bucket::Config {
    bucket::Config {
        prefix: "p/q".into(),
        part_size: PART,
        timeout: Duration::from_millis(500),
        lease_duration: LEASE,
        lease_wait: TIMEOUT * 2,
        page_wait: TIMEOUT,
        ..bucket::Config::default()
    }
}

pub(crate) fn share(objects: &Arc<dyn ObjectStore>) -> Bucket {
    Bucket::new(objects.clone(), config())
}

pub(crate) fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

pub(crate) fn file_path(content: &[u8]) -> Path {
    let name = digest_of(content).to_string();
    Path::from(format!("p/q/files/sha256/{}/{}/{name}", &name[..2], &name[2..4]))
}

/// Index with files of these lengths, each of which takes some time.
fn index(files: &'static [(&'static str, usize)], time: Duration) -> Server {
    Server::start(move |request| {
        let all = files.iter().map(|(name, len)| (*name, content(*len)));
        if request.path == "/simple/demo/" {
            return match request.header("if-none-match") == "\"page\"" {
                true => respond(304, &[("etag", "\"page\"")], ""),
                false => respond(200, &[JSON, ("etag", "\"page\"")], hashed_page(all)),
            };
        }
        let file = files.iter().find(|(name, _)| request.path.strip_prefix("/f/") == Some(name));
        let Some((_, len)) = file else { return respond(404, &[], "") };
        let body = content(*len);
        slow(&body, body.len() / 16 + 1, time / 16)
    })
}

pub(crate) const SMALL: (&str, usize) = ("demo-1.0.whl", 70_000);
pub(crate) const LARGE: (&str, usize) = ("demo-2.0.whl", 550_001);

pub(crate) fn start(index: &Server, bucket: Bucket) -> RunningProxy {
    start_with(&[index.url("/simple")], |setup| {
        setup.pages.bucket = Some(bucket.clone());
        setup.store.bucket = Some(bucket);
    })
}

pub(crate) fn start_fleet(count: usize, index: &Server, objects: &Arc<dyn ObjectStore>) -> Vec<RunningProxy> {
    (0..count).map(|_| start(index, share(objects))).collect()
}

/// Requests a file from all proxies at once, by several clients each.
pub(crate) async fn fetch_all(fleet: &[RunningProxy], (name, len): (&str, usize)) {
    join_all(fleet.iter().flat_map(|proxy| (0..4).map(move |_| fetch(proxy, name, len)))).await;
}

pub(crate) async fn fetch(proxy: &RunningProxy, name: &str, len: usize) {
    let response = proxy.get(&format!("/simple/demo/{name}"), &[]).await;
    assert_eq!(response.status(), 200);
    let bytes = response.bytes().await.unwrap();
    assert!(bytes == content(len), "{name}: {} bytes", bytes.len());
}

/// Returns the value of a metric, whose name may include labels.
pub(crate) async fn metric(proxy: &RunningProxy, name: &str) -> f64 {
    proxy.metrics().await[&format!("pypi_proxy_bucket_{name}")]
}

pub(crate) async fn settle(proxies: &[RunningProxy]) {
    for proxy in proxies {
        until("uploads end", async || metric(proxy, "uploads_pending").await == 0.0).await;
    }
}

pub(crate) async fn paths(objects: &Arc<dyn ObjectStore>, below: &str) -> Vec<String> {
    use futures_util::TryStreamExt as _;
    let list: Vec<_> = objects.list(Some(&Path::from(below))).try_collect().await.unwrap();
    list.into_iter().map(|object| object.location.to_string()).collect()
}

async fn page_is_shared(objects: &Arc<dyn ObjectStore>) {
    until("the page is shared", async || paths(objects, "p/q/pages").await.len() == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_downloads_each_file_once_from_the_index() {
    let objects = memory();
    let index = index(&[SMALL, LARGE], Duration::from_millis(200));
    let fleet = start_fleet(3, &index, &objects);
    for (name, len) in [SMALL, LARGE] {
        fetch_all(&fleet, (name, len)).await;
        assert_eq!(index.count_of(&format!("/f/{name}")), 1);
        let object = objects.get(&file_path(&content(len))).await.unwrap();
        let sha256 = object.attributes.iter().next().unwrap().1.to_string();
        assert_eq!(sha256, digest_of(&content(len)).to_string());
        assert_eq!(object.bytes().await.unwrap(), content(len));
    }
    settle(&fleet).await;
    until("all leases are released", async || paths(&objects, "p/q/leases").await.is_empty()).await;
    // A new proxy needs neither files nor pages from the index.
    let late = start_fleet(1, &index, &objects);
    page_is_shared(&objects).await;
    let requests = index.requests().len();
    fetch(&late[0], SMALL.0, SMALL.1).await;
    assert_eq!(index.requests().len(), requests);
    let part = late[0].get("/simple/demo/demo-2.0.whl", &[("range", "bytes=1000-1999")]).await;
    assert_eq!(part.status(), 206);
    assert_eq!(part.bytes().await.unwrap(), content(LARGE.1).slice(1000..2000));
    assert_eq!(index.requests().len(), requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corrupt_file_in_the_bucket_is_replaced() {
    let index = index(&[SMALL, LARGE], Duration::ZERO);
    for (name, len) in [SMALL, LARGE] {
        for damage in [Bytes::from_static(b"short"), content(len + 1), flipped(len)] {
            let objects = memory();
            objects.put(&file_path(&content(len)), damage.into()).await.unwrap();
            let fleet = start_fleet(1, &index, &objects);
            fetch_all(&fleet, (name, len)).await;
            assert_eq!(metric(&fleet[0], "corrupt_total").await, 1.0);
            settle(&fleet).await;
            is_stored(&objects, len).await;
        }
    }
}

/// Checks that the bucket has the file of this length.
async fn is_stored(objects: &Arc<dyn ObjectStore>, len: usize) {
    let object = objects.get(&file_path(&content(len))).await.unwrap();
    assert!(object.bytes().await.unwrap() == content(len));
}

/// Returns whether the bucket has the small and the large file.
fn has_both(objects: &Faulty) -> bool {
    [SMALL, LARGE].iter().all(|(_, len)| objects.has(&file_path(&content(*len))))
}

fn flipped(len: usize) -> Bytes {
    let mut bytes = content(len).to_vec();
    bytes[len / 2] ^= 1;
    bytes.into()
}

/// The file is too large to be withheld until its hash is verified: a client that reads it gets an error at the end,
/// and later clients get the intact file.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_corrupt_file_fails_and_is_replaced() {
    const HUGE: (&str, usize) = ("demo-3.0.whl", (8 << 20) + 1);
    let (objects, index) = (memory(), index(&[HUGE], Duration::ZERO));
    objects.put(&file_path(&content(HUGE.1)), flipped(HUGE.1).into()).await.unwrap();
    let fleet = start_fleet(1, &index, &objects);
    let response = fleet[0].get("/simple/demo/demo-3.0.whl", &[]).await;
    assert!(response.bytes().await.is_err());
    fetch_all(&fleet, HUGE).await;
    settle(&fleet).await;
    assert_eq!(metric(&fleet[0], "corrupt_total").await, 1.0);
    is_stored(&objects, HUGE.1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_with_a_wrong_hash_are_not_uploaded() {
    let objects: Arc<Faulty> = Faulty::new(Fault::None);
    let bucket = Bucket::new(objects.clone(), config());
    let dir = tempfile::tempdir().unwrap();
    let config = store::Config { retries: 0, bucket: Some(bucket), ..store::Config::new(dir.path()) };
    let store = Store::open(config).unwrap();
    let (good, bad) = (ScriptedSource::new(content(LARGE.1), []), ScriptedSource::new(flipped(LARGE.1), []));
    let broken = Connection { bytes: Some(450_000), fails: true, ..Connection::default() };
    let cut = ScriptedSource::new(content(LARGE.1), vec![broken; 1000]);
    for source in [bad, cut] {
        let started = objects.started();
        // The download may end before its upload starts. Then try again.
        until("an upload is started", async || {
            assert!(source.download_as(&store, good.key(), good.expected()).done().await.is_err());
            objects.started() > started
        })
        .await;
        until("the upload is aborted", async || objects.aborted() == objects.started()).await;
        assert_eq!(objects.len(), 0);
    }
    good.download(&store).done().await.unwrap();
    until("it is there", async || objects.get(&file_path(&good.content)).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_of_a_dead_owner_is_taken_over() {
    let (objects, index) = (memory(), index(&[LARGE], Duration::ZERO));
    // A lease left by a dead proxy. Leases contain no absolute times.
    let lease = Path::from(format!("p/q/leases/{}", digest_of(&content(LARGE.1))));
    let document = r#"{"owner":"0-0","seconds":2.0,"beat":7}"#;
    objects.put(&lease, document.into()).await.unwrap();
    let fleet = start_fleet(3, &index, &objects);
    fetch_all(&fleet, LARGE).await;
    assert_eq!(index.count_of("/f/demo-2.0.whl"), 1);
    let mut taken_over = 0.0;
    for proxy in &fleet {
        taken_over += metric(proxy, "leases_total{outcome=\"taken_over\"}").await;
    }
    assert_eq!(taken_over, 1.0);
    settle(&fleet).await;
    until("all leases are released", async || paths(&objects, "p/q/leases").await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed_until_the_download_ends() {
    let objects = memory();
    let index = index(&[LARGE], LEASE * 2);
    let fleet = start_fleet(2, &index, &objects);
    fetch_all(&fleet, LARGE).await;
    assert_eq!(index.count_of("/f/demo-2.0.whl"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_lease_has_a_limit() {
    let (objects, index) = (memory(), index(&[SMALL], Duration::ZERO));
    let lease = Path::from(format!("p/q/leases/{}", digest_of(&content(SMALL.1))));
    for nonsense in ["", "{", r#"{"owner":"a","seconds":1e300,"beat":0}"#] {
        objects.put(&lease, nonsense.into()).await.unwrap();
        let limited = bucket::Config { lease_wait: Duration::from_millis(300), ..config() };
        let proxy = start(&index, Bucket::new(objects.clone(), limited));
        fetch(&proxy, SMALL.0, SMALL.1).await;
        settle(std::slice::from_ref(&proxy)).await;
        objects.delete(&file_path(&content(SMALL.1))).await.unwrap();
    }
    assert_eq!(index.count_of("/f/demo-1.0.whl"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_get_their_files_despite_bucket_faults() {
    for fault in [Fault::Failing, Fault::Hanging, Fault::Full, Fault::Denying, Fault::CutShort] {
        let objects = Faulty::new(fault);
        let shared: Arc<dyn ObjectStore> = objects.clone();
        let index = index(&[SMALL, LARGE], Duration::ZERO);
        let fleet = start_fleet(2, &index, &shared);
        fetch_all(&fleet, SMALL).await;
        fetch_all(&fleet, LARGE).await;
        let proxy = &fleet[0];
        if !matches!(fault, Fault::CutShort) {
            until("it is told", async || {
                let health = proxy.json("/health", &[]).await;
                let reason = health["data"]["reasons"][0].as_str().unwrap_or_default().to_owned();
                health["data"]["state"] == "degraded"
                    && reason.contains("bucket")
                    && !reason.contains("hunter2")
            })
            .await;
            assert_eq!(proxy.get("/readyz", &[]).await.status(), 200);
        }
        // It recovers by itself, and missed uploads are repeated when the file is requested.
        objects.set(Fault::None);
        until("it is well again", async || {
            fetch_all(&fleet, SMALL).await;
            fetch_all(&fleet, LARGE).await;
            let health = proxy.json("/health", &[]).await;
            health["data"]["state"] == "ok" && has_both(&objects)
        })
        .await;
        for proxy in fleet {
            proxy.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_continues_at_the_index_if_the_bucket_breaks() {
    let objects = Faulty::new(Fault::None);
    let shared: Arc<dyn ObjectStore> = objects.clone();
    let (name, file) = (LARGE.0, content(LARGE.1));
    let own = file.clone();
    let index = Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[JSON], hashed_page([(name, own.clone())])),
        _ => ranged(request, &[], &own),
    });
    let fleet = start_fleet(2, &index, &shared);
    fetch(&fleet[0], LARGE.0, LARGE.1).await;
    settle(&fleet).await;
    assert_eq!(fleet[1].get("/simple/demo/", &[]).await.status(), 200);
    objects.set(Fault::CutShort);
    let path = format!("/simple/demo/{name}");
    let response = fleet[1].get(&path, &[("range", "bytes=100-400099")]).await;
    assert_eq!(response.status(), 206);
    assert!(response.bytes().await.unwrap() == file.slice(100..400_100));
    let ranges = index.requests().into_iter().map(|request| request.header("range").to_owned());
    assert_eq!(ranges.filter(|range| !range.is_empty()).collect::<Vec<_>>(), ["bytes=200100-400099"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_waits_for_pending_uploads() {
    let objects = Faulty::new(Fault::Held);
    let index = index(&[SMALL, LARGE], Duration::ZERO);
    let shared: Arc<dyn ObjectStore> = objects.clone();
    let bucket = Bucket::new(shared.clone(), bucket::Config { timeout: TIMEOUT, ..config() });
    let proxy = start(&index, bucket);
    fetch(&proxy, SMALL.0, SMALL.1).await;
    fetch(&proxy, LARGE.0, LARGE.1).await;
    // No client waited for the upload.
    assert!(!objects.has(&file_path(&content(LARGE.1))));
    let release = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        objects.set(Fault::None);
    };
    tokio::join!(proxy.stop(), release);
    assert!(has_both(&objects));
    until("all leases are released", async || paths(&shared, "p/q/leases").await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_beyond_the_queue_limit_are_skipped_until_the_next_request() {
    let objects = Faulty::new(Fault::Held);
    let index = index(&[SMALL, LARGE], Duration::ZERO);
    let limited = bucket::Config { timeout: TIMEOUT, max_uploads: 1, ..config() };
    let proxy = start(&index, Bucket::new(objects.clone(), limited));
    fetch(&proxy, LARGE.0, LARGE.1).await;
    fetch(&proxy, SMALL.0, SMALL.1).await;
    until("one is left out", async || metric(&proxy, "uploads_total{outcome=\"dropped\"}").await == 1.0)
        .await;
    objects.set(Fault::None);
    until("it is there all the same", async || {
        fetch(&proxy, SMALL.0, SMALL.1).await;
        objects.has(&file_path(&content(SMALL.1)))
    })
    .await;
    assert_eq!(index.count_of("/f/demo-1.0.whl"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_without_hashes_are_shared() {
    let index = Server::start(|request| match &*request.path {
        "/simple/demo/" => respond(200, &[HTML], "<a href=/f/demo-1.0.whl>demo-1.0.whl</a>"),
        "/f/demo-1.0.whl" => respond(200, &[], content(SMALL.1)),
        _ => respond(404, &[], ""),
    });
    let objects = memory();
    for _ in 0..2 {
        let fleet = start_fleet(2, &index, &objects);
        fetch_all(&fleet, SMALL).await;
        settle(&fleet).await;
    }
    assert_eq!(index.count_of("/f/demo-1.0.whl"), 1);
    let names = paths(&objects, "p/q/names").await;
    assert!(names.len() == 1 && names[0].starts_with("p/q/names/demo/demo-1.0.whl/"), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_files_in_the_bucket_are_detected() {
    let objects = memory();
    for (len, damage) in [(1000, content(1000)), (2000, flipped(2000))] {
        objects.put(&file_path(&content(len)), damage.into()).await.unwrap();
    }
    objects.put(&Path::from("p/q/files/sha256/of/others"), "x".into()).await.unwrap();
    let bucket = share(&objects);
    assert_eq!(bucket.check().await.unwrap(), ConditionalWrites::Supported);
    let verified = bucket.verify(|_, _| ()).await.unwrap();
    assert_eq!((verified.good, verified.bytes), (1, 1000));
    assert_eq!(verified.bad, [digest_of(&content(2000))]);
    assert!(bucket.verify(|_, _| ()).await.unwrap().bad.is_empty());
    assert_eq!(paths(&objects, "p/q/files").await.len(), 2);
    assert_eq!(paths(&objects, "p/q/checks").await, <[String; 0]>::default());
    let error = share(&(Faulty::new(Fault::Denying) as Arc<dyn ObjectStore>)).check().await.unwrap_err();
    assert!(error.is_bucket() && !error.to_string().contains("hunter2"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn purging_deletes_from_the_bucket() {
    let (objects, index) = (memory(), index(&[SMALL], Duration::ZERO));
    let fleet = start_fleet(1, &index, &objects);
    let proxy = &fleet[0];
    fetch_all(&fleet, SMALL).await;
    settle(&fleet).await;
    page_is_shared(&objects).await;
    let gone = proxy.send(Method::DELETE, "/cache/demo/demo-1.0.whl", &PURGE).await;
    assert_eq!((gone.status().as_u16(), paths(&objects, "p/q/files").await.len()), (200, 0));
    let gone = proxy.send(Method::DELETE, "/cache/demo", &PURGE).await;
    assert_eq!((gone.status().as_u16(), paths(&objects, "p/q/pages").await.len()), (200, 0));
    fetch_all(&fleet, SMALL).await;
    page_is_shared(&objects).await;
    assert_eq!(proxy.send(Method::DELETE, "/cache", &PURGE).await.status(), 200);
    assert_eq!(paths(&objects, "p/q/pages").await, <[String; 0]>::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_of_a_page_that_ends_after_a_purge_stores_nothing() {
    for purged in ["/cache/demo", "/cache"] {
        let (objects, index) = (Faulty::new(Fault::Held), index(&[SMALL], Duration::ZERO));
        let slow = bucket::Config { timeout: TIMEOUT, ..config() };
        let proxy = start(&index, Bucket::new(objects.clone(), slow));
        assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
        until("the upload begins", async || objects.operations("q/pages/").contains(&"create")).await;
        assert_eq!(proxy.send(Method::DELETE, purged, &PURGE).await.status(), 200);
        objects.set(Fault::None);
        let objects: Arc<dyn ObjectStore> = objects;
        // The lease is released after the upload.
        until("the upload ends", async || paths(&objects, "p/q/leases").await.is_empty()).await;
        assert_eq!(paths(&objects, "p/q/pages").await, <[String; 0]>::default(), "{purged}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_404_leaves_the_newer_page_of_another_proxy_in_the_bucket() {
    let (objects, gate) = (memory(), Arc::new(Semaphore::new(0)));
    let step = Step::Gate(gate.clone());
    let index = Server::start(move |request| match request.nth {
        1 => [vec![step.clone()], respond(404, &[], "")].concat(),
        nth => respond(200, &[JSON], hashed_page([(format!("demo-{nth}.0.whl"), content(1))])),
    });
    let fleet = [(); 2].map(|()| {
        let short = bucket::Config { page_wait: Duration::from_millis(100), ..config() };
        start_with(&[index.url("/simple")], |setup| {
            setup.always_revalidate();
            setup.pages.stale_wait = TIMEOUT;
            setup.pages.bucket = Some(Bucket::new(objects.clone(), short));
        })
    });
    let version = async || {
        let path = paths(&objects, "p/q/pages").await.pop()?;
        Some(objects.head(&Path::from(path)).await.ok()?.e_tag)
    };
    assert_eq!(fleet[0].get("/simple/demo/", &[]).await.status(), 200);
    until("the page is shared", async || version().await.is_some()).await;
    let first = version().await;
    let late = async {
        let response = fleet[0].get("/simple/demo/", &[]).await;
        assert_eq!(response.status(), 404);
    };
    let newer = async {
        until("the page is requested", async || index.count() == 2).await;
        assert_eq!(fleet[1].get("/simple/demo/", &[]).await.status(), 200);
        until("the newer page is shared", async || version().await != first).await;
        gate.add_permits(1);
    };
    tokio::join!(late, newer);
    assert!(version().await.is_some());
}

/// Documents are shared like pages, and purged with their project.
#[tokio::test(flavor = "multi_thread")]
async fn documents_are_shared() {
    let objects = memory();
    let index = Server::start(|request| match request.path.starts_with("/pypi/demo/") {
        true => respond(200, &[("content-type", "application/json")], "{}"),
        false => respond(404, &[], ""),
    });
    let fleet = start_fleet(2, &index, &objects);
    let paths_of_pages = async || paths(&objects, "p/q/pages").await;
    for (project, count) in [("demo/json", 1), ("demo/1.0/json", 2)] {
        for proxy in &fleet {
            assert_eq!(proxy.get(&format!("/pypi/{project}"), &[]).await.text().await.unwrap(), "{}");
            until("the document is shared", async || paths_of_pages().await.len() == count).await;
        }
    }
    assert_eq!(index.count(), 2);
    assert!(paths_of_pages().await.iter().all(|path| path.contains("/demo")));
    for (purged, left) in [("/cache/dem", 2), ("/cache/demo", 0)] {
        assert_eq!(fleet[0].send(Method::DELETE, purged, &PURGE).await.status(), 200);
        assert_eq!(paths_of_pages().await.len(), left);
    }
    assert_eq!(fleet[0].get("/pypi/demo/json", &[]).await.headers()["x-cache"], "miss");
    until("the document is shared", async || paths_of_pages().await.len() == 1).await;
    assert_eq!(fleet[0].send(Method::DELETE, "/cache", &PURGE).await.status(), 200);
    assert_eq!(paths_of_pages().await.len(), 0);
}

/// Slow responses of the bucket do not delay pages.
#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_pages_of_the_bucket_has_a_limit() {
    let objects: Arc<dyn ObjectStore> = Faulty::new(Fault::Hanging);
    let index = index(&[SMALL], Duration::ZERO);
    let (timeout, page_wait) = (Duration::from_secs(3600), Duration::from_millis(100));
    let slow = bucket::Config { timeout, page_wait, ..config() };
    let proxy = start(&index, Bucket::new(objects, slow));
    assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
}

/// A proxy that was just started can serve pages without the index.
#[tokio::test(flavor = "multi_thread")]
async fn pages_in_the_bucket_are_served_while_the_index_is_down() {
    let (objects, index) = (memory(), index(&[SMALL], Duration::ZERO));
    let fleet = start_fleet(1, &index, &objects);
    fetch_all(&fleet, SMALL).await;
    settle(&fleet).await;
    page_is_shared(&objects).await;
    index.stop().await;
    let late = start_with(&[index.url("/simple")], |setup| {
        setup.ttl(Duration::ZERO);
        setup.pages.bucket = Some(share(&objects));
        setup.store.bucket = Some(share(&objects));
    });
    fetch(&late, SMALL.0, SMALL.1).await;
}
