//! Limits for the whole cache on disk and in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use pypi_proxy::page_cache::PageCache;
use pypi_proxy::store::{CacheArea, Store};
use pypi_proxy::upstream::Budget;
use pypi_proxy::{ProjectName, page_cache};
use tokio::sync::Semaphore;

use crate::support::prelude::*;

/// Index that has every project: an incompressible page, and files of 1000 bytes with and without a hash.
fn index() -> Server {
    Server::start(|request| {
        let Some(project) = request.path.strip_prefix("/simple/") else {
            let len = 1000 + request.path.bytes().map(usize::from).sum::<usize>() % 50;
            return respond(200, &[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")], content(len));
        };
        let project = project.trim_end_matches('/');
        let noise: String = content(9000 + project.len()).iter().map(|byte| format!("{byte:02x}")).collect();
        let link = |name: &str| format!("<a href=\"/f/{name}\">x</a>");
        let page = link(&format!("{project}-1.0.zip")) + &format!("<p title=\"{noise}\">");
        respond(200, &[HTML], page)
    })
}

/// Bytes of all files of the cache, in blocks except for stored files.
fn on_disk(cache: &Path) -> u64 {
    let sum = |part: &str, block: u64| -> u64 {
        let files = files_below(&cache.join(part));
        files.iter().flat_map(|path| path.metadata()).map(|file| file.len().next_multiple_of(block)).sum()
    };
    sum("files", 1) + sum("pages", 4096) + sum("refs", 4096)
}

async fn fetch(proxy: &RunningProxy, project: &str) {
    assert_eq!(proxy.get(&format!("/simple/{project}/"), &[]).await.status(), 200);
    let path = format!("/simple/{project}/{project}-1.0.zip");
    assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap().len() / 100, 10);
}

fn used(store: &Store) -> u64 {
    CacheArea::ALL.iter().map(|part| store.usage(*part).bytes).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_limit_bounds_everything_in_the_folder() {
    const MAX: u64 = 400_000;
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let setup = |max| {
        let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
        setup.store.max_bytes = max;
        setup
    };
    let proxy = setup(MAX).start().await;
    for number in 0..60 {
        fetch(&proxy, &format!("project-{number}")).await;
        assert!(used(&proxy.store) <= MAX, "{number}");
    }
    for part in [CacheArea::Files, CacheArea::Pages, CacheArea::References] {
        assert!(proxy.store.usage(part).entries > 0, "{part:?}");
    }
    let found = on_disk(&cache);
    assert!(found <= MAX && found > MAX / 2, "{found}");
    // Metrics show the share of each area.
    let samples = proxy.metrics().await;
    let of = |name: &str, part: &str| samples[&format!("pypi_proxy_cache_{name}{{part=\"{part}\"}}")];
    let parts = ["files", "pages", "references", "file_metadata"];
    #[expect(clippy::cast_precision_loss, reason = "the sums are small")]
    {
        assert_eq!(parts.map(|part| of("bytes", part)).iter().sum::<f64>(), used(&proxy.store) as f64);
    }
    assert!(of("entries", "pages") > 1.0 && of("evicted_total", "pages") > 10.0);
    // The most recently used entries are still there.
    assert!(index.count() > 0);
    proxy.stop().await;
    // After a restart, everything is found and counted. With a lower limit, the rest is evicted.
    let proxy = setup(MAX / 4).start().await;
    let is_bounded = async || on_disk(&cache) <= MAX / 4 && used(&proxy.store) == on_disk(&cache);
    until("the rest is evicted", is_bounded).await;
    assert!(used(&proxy.store) > 0);
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn file_facts_count_and_are_evicted() {
    let server = Server::start(|request| match request.path.strip_prefix("/simple/") {
        None => respond(200, &[], content(1000)),
        Some(project) => {
            let sha256 = digest_of(&content(1000));
            let name = format!("{}-1.0.zip", project.trim_end_matches('/'));
            let link = format!("<a href=\"/f/{name}#sha256={sha256}\">x</a>");
            respond(200, &[HTML], link)
        }
    });
    let proxy = start_with(&[server.url("/simple")], |setup| setup.store.max_bytes = 60_000);
    for number in 0..40 {
        fetch(&proxy, &format!("project-{number}")).await;
        assert!(used(&proxy.store) <= 60_000);
    }
    until("facts are stored", async || proxy.store.usage(CacheArea::FileMetadata).entries > 0).await;
    assert!(on_disk(&proxy.dir().join("cache")) <= 60_000);
}

/// Sets the times of all files of the cache whose paths do not contain a text.
fn set_times(cache: &Path, except: &str, time: SystemTime) {
    let times = std::fs::FileTimes::new().set_accessed(time).set_modified(time);
    for path in files_below(cache).iter().filter(|path| !path.to_str().unwrap().contains(except)) {
        std::fs::File::open(path).unwrap().set_times(times).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_entries_of_all_areas_are_deleted_while_the_proxy_runs() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let setup = |ttl| {
        let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
        setup.store.unused_ttl = ttl;
        setup
    };
    let proxy = setup(None).start().await;
    for project in ["old-a", "old-b", "recent"] {
        fetch(&proxy, project).await;
    }
    let usage = |proxy: &RunningProxy, area| proxy.store.usage(area).entries;
    const AREAS: [CacheArea; 3] = [CacheArea::Files, CacheArea::Pages, CacheArea::References];
    until("all is stored", async || AREAS.iter().all(|area| usage(&proxy, *area) == 3)).await;
    proxy.stop().await;

    // A week ago, except for the page of one project.
    let week = Duration::from_secs(7 * 86_400);
    set_times(&cache, "/recent", SystemTime::now() - week);
    let proxy = setup(Some(week * 2)).start().await;
    until("the cache is scanned", async || AREAS.iter().all(|area| usage(&proxy, *area) == 3)).await;
    // A request uses the entries of this project, which are its page, its reference and its file.
    fetch(&proxy, "old-b").await;
    assert_eq!(
        index.count_of("/simple/old-b/"),
        1,
        "the header of the page has the time of its confirmation"
    );
    proxy.store.set_limits(u64::MAX, Some(week / 2));
    until("unused entries are deleted", async || {
        AREAS.map(|area| usage(&proxy, area)) == [1, 2, 1] && on_disk(&cache) == used(&proxy.store)
    })
    .await;
    let pages: Vec<_> = files_below(&cache.join("pages"))
        .into_iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(pages.iter().all(|name| name != "old-a") && pages.len() == 2, "{pages:?}");
    let samples = proxy.metrics().await;
    let expired = |part: &str| samples[&format!("pypi_proxy_cache_expired_total{{part=\"{part}\"}}")];
    assert_eq!(["files", "pages", "references"].map(expired), [2.0, 1.0, 2.0]);
    assert_eq!(samples["pypi_proxy_cache_evicted_total{part=\"files\"}"], 0.0);
    // Nothing is lost: it is downloaded again.
    fetch(&proxy, "old-a").await;
    fetch(&proxy, "recent").await;
    proxy.stop().await;

    // Uses are remembered after a restart.
    let proxy = setup(Some(week / 2)).start().await;
    until("the cache is scanned", async || AREAS.iter().all(|area| usage(&proxy, *area) == 3)).await;
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_memory_that_expired_on_disk_is_stored_again() {
    let index = Server::start(|request| match request.header("if-none-match") {
        "\"v1\"" => respond(304, &[], ""),
        _ => respond(200, &[JSON, ("etag", "\"v1\"")], page("demo", &[])),
    });
    let proxy = start_with(&[index.url("/simple")], Setup::always_revalidate);
    let get = async || assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
    let pages = proxy.dir().join("cache/pages");
    let is_stored = || files_below(&pages).iter().any(|path| path.ends_with("demo"));
    get().await;
    assert!(is_stored());
    proxy.store.collect(Some(Duration::ZERO), u64::MAX).unwrap();
    assert!(!is_stored());
    // The first request confirms the page in memory, the second one gets it again.
    get().await;
    get().await;
    assert!(is_stored());
    get().await;
    let conditions = index.requests().into_iter().map(|request| !request.header("if-none-match").is_empty());
    assert_eq!(conditions.collect::<Vec<_>>(), [false, true, false, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_sent_completely_although_it_is_evicted_meanwhile() {
    const LEN: usize = 20_000_000;
    let index = file_index([("demo-1.0-py3-none-any.whl", content(LEN))]);
    let proxy = start(&[index.url("/simple")]);
    let path = "/simple/demo/demo-1.0-py3-none-any.whl";
    assert!(proxy.get(path, &[]).await.bytes().await.unwrap() == content(LEN));
    let cache = proxy.dir().join("cache/files");
    for evict in [
        |store: &Store| store.set_limits(0, None),
        |store: &Store| _ = store.collect(Some(Duration::ZERO), u64::MAX).unwrap(),
    ] {
        // More than the socket buffers hold.
        let mut response = proxy.get(path, &[]).await;
        assert_eq!(response.headers()["x-cache"], "hit");
        let mut received = response.chunk().await.unwrap().unwrap().to_vec();
        let store = proxy.store.clone();
        tokio::task::spawn_blocking(move || evict(&store)).await.unwrap();
        assert_eq!((files_below(&cache).len(), proxy.store.stats().files), (0, 0));
        while let Some(chunk) = response.chunk().await.unwrap() {
            received.extend_from_slice(&chunk);
        }
        assert!(received == content(LEN));
        // Stored again for the next round.
        proxy.store.set_limits(u64::MAX, None);
        assert!(proxy.get(path, &[]).await.bytes().await.unwrap() == content(LEN));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_pages_no_longer_count() {
    let index = index();
    let proxy = start(&[index.url("/simple")]);
    for project in ["a", "b", "c"] {
        fetch(&proxy, project).await;
    }
    assert_eq!(proxy.store.usage(CacheArea::Pages).entries, 3);
    proxy.send(Method::DELETE, "/cache/a", &PURGE).await;
    assert_eq!(proxy.store.usage(CacheArea::Pages).entries, 2);
    proxy.send(Method::DELETE, "/cache", &PURGE).await;
    assert_eq!(proxy.store.usage(CacheArea::Pages).entries, 0);
    // `gc` counts all areas, too.
    fetch(&proxy, "a").await;
    let left = proxy.store.collect(None, 0).unwrap();
    assert_eq!((left.files, left.bytes, used(&proxy.store)), (0, 0, 0));
    assert_eq!(on_disk(&proxy.dir().join("cache")), 0);
}

#[tokio::test]
async fn with_a_limit_of_zero_nothing_is_stored() {
    let index = index();
    let proxy = start_with(&[index.url("/simple")], |setup| setup.store.max_bytes = 0);
    for project in ["a", "b", "a"] {
        fetch(&proxy, project).await;
    }
    assert_eq!((on_disk(&proxy.dir().join("cache")), used(&proxy.store)), (0, 0));
}

fn name(number: usize) -> ProjectName {
    ProjectName::parse(&format!("project-{number}")).unwrap()
}

const PAGES: usize = 12;
const LEN: usize = 600_000;

/// Compressed pages of this size.
fn large(name: &str) -> Vec<Step> {
    let mut page = format!(r#"{{"files":[],"name":"{name}"}}"#).into_bytes();
    page.resize(LEN, b' ');
    respond(200, &[JSON, ("content-encoding", "zstd")], zstd::bulk::compress(&page, 1).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_decompression_shares_a_memory_budget() {
    let server = Server::start(|request| large(request.project()));
    let dir = tempfile::tempdir().unwrap();
    // None fits, some fit, all fit.
    for bytes in [0, LEN as u64 * 3, LEN as u64 * 20] {
        let budget = Budget::new(bytes);
        let upstream = upstream(&server.url("/simple"), |config| config.budget = budget.clone());
        let config = page_cache::Config { dir: Some(dir.path().into()), ..page_cache::Config::default() };
        // From the index first, then from the disk.
        for kept in [false, true] {
            let pages = PageCache::new(vec![upstream.clone()], config.clone());
            let before = server.count();
            let watch = {
                let budget = budget.clone();
                tokio::spawn(async move {
                    loop {
                        assert!(budget.used() <= bytes);
                        tokio::task::yield_now().await;
                    }
                })
            };
            let found = join_all((0..PAGES).map(|number| {
                let pages = pages.clone();
                async move { pages.project(&name(number)).await.unwrap().page.last_serial() }
            }));
            assert_eq!(found.await.len(), PAGES);
            assert!(!watch.is_finished());
            watch.abort();
            assert_eq!(server.count() > before, !kept, "{bytes}");
            assert_eq!(budget.used(), 0, "{bytes}");
        }
        std::fs::remove_dir_all(dir.path()).unwrap();
        std::fs::create_dir(dir.path()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_counts_toward_the_budget_while_it_is_received() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = gate.clone();
    let server = Server::start(move |_| {
        let [start, end] = [r#"{"name":"project-0","files":["#, "]}"].map(|text| Step::Send(text.into()));
        vec![head(200, &[JSON]), start, Step::Gate(gate.clone()), end]
    });
    let budget = Budget::new(LEN as u64);
    let upstream = upstream(&server.url("/simple"), |config| config.budget = budget.clone());
    let pages = PageCache::new(vec![upstream], page_cache::Config::default());
    let page = tokio::spawn(async move { pages.project(&name(0)).await.map(|_| ()) });
    until("the page is charged", async || budget.used() > 0).await;
    opened.add_permits(1);
    page.await.unwrap().unwrap();
    assert_eq!(budget.used(), 0);
}
