//! Page cache: lifetimes, stale pages, persistence, merging, unresponsive indexes, and more requests than the queue
//! can hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Request, StatusCode};
use pypi_proxy::page_cache::{CacheStatus, PageCache};
use pypi_proxy::serve::Proxy;
use pypi_proxy::store::Store;
use pypi_proxy::upstream::Upstream;
use pypi_proxy::{Coding, Error, Form, ProjectName, page_cache, serve, store, upstream};
use test_support::counting;
use tokio::sync::Semaphore;

use crate::support::prelude::*;

fn name(text: &str) -> ProjectName {
    ProjectName::parse(text).unwrap()
}

fn index(server: &Server, ttl: Duration) -> Arc<Upstream> {
    upstream(&server.url("/simple"), |config| config.ttl = ttl)
}

fn pages(server: &Server, ttl: Duration, config: page_cache::Config) -> PageCache {
    PageCache::new(vec![index(server, ttl)], config)
}

async fn json(pages: &PageCache, project: &str) -> Result<(Value, CacheStatus), Error> {
    let served = pages.project(&name(project)).await?;
    let variant = served.page.variant(Form::Json, Coding::Identity).await;
    Ok((tightwire_json::from_slice(&variant.body.bytes().unwrap()).unwrap(), served.status))
}

const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn concurrent_requests_share_one_fetch() {
    let server = Server::start(|_| {
        let page = respond(200, &[JSON], page("six", &[("six-1.0.whl", "/f/six-1.0.whl")]));
        [vec![Step::Wait(Duration::from_millis(50))], page].concat()
    });
    let pages = pages(&server, LONG, page_cache::Config::default());
    let results = join_all((0..100).map(|_| json(&pages, "six"))).await;
    assert!(
        results.iter().all(|result| result.as_ref().unwrap().0["files"][0]["url"] == "../../f/six-1.0.whl")
    );
    assert_eq!(json(&pages, "six").await.unwrap().1, CacheStatus::Hit);
    assert_eq!(server.paths(), ["/simple/six/"]);
}

#[tokio::test]
async fn a_disconnected_client_does_not_cancel_a_fetch() {
    let gone = Arc::new(Semaphore::new(0));
    let gate = Step::Gate(gone.clone());
    let server =
        Server::start(move |_| [vec![gate.clone()], respond(200, &[JSON], page("six", &[]))].concat());
    let pages = pages(&server, LONG, page_cache::Config::default());
    let first = tokio::time::timeout(Duration::from_millis(20), pages.project(&name("six"))).await;
    assert!(first.is_err());
    gone.add_permits(1);
    json(&pages, "six").await.unwrap();
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_stale_page_is_served_while_revalidating() {
    let server = Server::start(|request| match request.nth {
        0 => respond(200, &[JSON, ("etag", "\"v1\"")], page("six", &[("six-1.0.whl", "u")])),
        _ => respond(304, &[], ""),
    });
    let pages = pages(&server, Duration::ZERO, page_cache::Config::default());
    let first = pages.project(&name("six")).await.unwrap();
    assert_eq!(first.status, CacheStatus::Miss);
    let second = pages.project(&name("six")).await.unwrap();
    assert_eq!(second.status, CacheStatus::Stale);
    until("it is revalidated", async || server.count() == 2).await;
    assert_eq!(server.last()["if-none-match"], "\"v1\"");
    // Unchanged content keeps its encoded variants.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let third = pages.project(&name("six")).await.unwrap();
    assert!(Arc::ptr_eq(&first.page, &third.page));
}

#[tokio::test]
async fn a_stale_page_is_served_if_the_index_fails() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let broken = is_broken.clone();
    let server = Server::start(move |_| {
        let broken = broken.load(Ordering::Relaxed);
        if broken { respond(503, &[], "secret text") } else { respond(200, &[JSON], page("six", &[])) }
    });
    let lenient =
        page_cache::Config { stale_while_revalidate: Duration::ZERO, ..page_cache::Config::default() };
    let strict = page_cache::Config { stale_if_error: Duration::ZERO, ..lenient.clone() };
    let (strict, lenient) = (pages(&server, Duration::ZERO, strict), pages(&server, Duration::ZERO, lenient));
    json(&strict, "six").await.unwrap();
    json(&lenient, "six").await.unwrap();
    is_broken.store(true, Ordering::Relaxed);
    let error = json(&strict, "six").await.unwrap_err();
    assert!(error.is_upstream());
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert_eq!(json(&lenient, "six").await.unwrap().1, CacheStatus::Stale);
    // Requests are suspended for a while.
    let count = server.count();
    for _ in 0..10 {
        json(&lenient, "six").await.unwrap();
    }
    assert_eq!(server.count(), count);
    assert!(json(&lenient, "other").await.unwrap_err().is_upstream());
    is_broken.store(false, Ordering::Relaxed);
    json(&strict, "six").await.unwrap();
}

#[tokio::test]
async fn missing_projects_are_cached() {
    let server = Server::start(|_| respond(404, &[], ""));
    let pages = pages(&server, LONG, page_cache::Config::default());
    for _ in 0..3 {
        assert!(json(&pages, "nothing").await.unwrap_err().is_not_found());
    }
    assert_eq!(server.count(), 1);
    pages.purge(Some(&name("nothing"))).await.unwrap();
    assert!(json(&pages, "nothing").await.unwrap_err().is_not_found());
    assert_eq!(server.count(), 2);
    let config = page_cache::Config { negative_ttl: Duration::ZERO, ..page_cache::Config::default() };
    let expired = self::pages(&server, LONG, config);
    for _ in 0..2 {
        assert!(json(&expired, "nothing").await.unwrap_err().is_not_found());
    }
    assert_eq!(server.count(), 4);
}

#[tokio::test]
async fn pages_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match &*request.path {
        "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"six"}]}"#),
        _ => respond(200, &[JSON, ("etag", "\"v1\"")], page("six", &[("six-1.0.whl", "/x")])),
    });
    let config = page_cache::Config { dir: Some(dir.path().into()), ..page_cache::Config::default() };
    let before = pages(&server, LONG, config.clone());
    let (first, _) = json(&before, "six").await.unwrap();
    before.list().await.unwrap();
    assert_eq!(server.count(), 2);
    let after = pages(&server, LONG, config.clone());
    assert_eq!(json(&after, "six").await.unwrap().0, first);
    let list = after.list().await.unwrap().page.variant(Form::Html, Coding::Identity).await;
    assert!(String::from_utf8_lossy(&list.body.bytes().unwrap()).contains("<a href=\"six/\">six</a>"));
    assert_eq!(server.count(), 2);
    let served = after.project(&name("six")).await.unwrap();
    assert_eq!(served.page.file("six-1.0.whl").map(|(index, file)| (index, file.url())), Some((0, "/x")));
    // A corrupt file is fetched again.
    for folder in std::fs::read_dir(dir.path()).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            let half = bytes.len() / 2;
            bytes.truncate(half);
            std::fs::write(&path, bytes).unwrap();
        }
    }
    let damaged = pages(&server, LONG, config.clone());
    assert_eq!(json(&damaged, "six").await.unwrap().0, first);
    assert_eq!(server.count(), 3);
    // Pages on disk are served while the index is down.
    server.stop().await;
    let offline = pages(&server, Duration::ZERO, config);
    assert_eq!(json(&offline, "six").await.unwrap().0, first);
}

#[tokio::test]
async fn a_refresh_that_began_before_a_purge_stores_nothing() {
    for (is_all, is_reloaded) in [(false, false), (true, false), (false, true), (true, true)] {
        let (dir, gate) = (tempfile::tempdir().unwrap(), Arc::new(Semaphore::new(0)));
        let step = Step::Gate(gate.clone());
        let server =
            Server::start(move |_| [vec![step.clone()], respond(200, &[JSON], page("six", &[]))].concat());
        let config = page_cache::Config { dir: Some(dir.path().into()), ..page_cache::Config::default() };
        let mut pages = pages(&server, LONG, config.clone());
        let refreshed = pages.clone();
        let refresh = tokio::spawn(async move { json(&refreshed, "six").await });
        until("the page is requested", async || server.count() == 1).await;
        if is_reloaded {
            // Another TTL: the pages in memory are not shared.
            pages = pages.reconfigure(vec![index(&server, LONG * 2)], config);
        }
        if is_all { pages.purge_all().await } else { pages.purge(Some(&name("six"))).await }.unwrap();
        gate.add_permits(2);
        refresh.await.unwrap().unwrap();
        let folders = std::fs::read_dir(dir.path()).unwrap();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
        assert_eq!(files.count(), 0, "{is_all} {is_reloaded}");
        // The next one does.
        json(&pages, "six").await.unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_slow_refresh_does_not_replace_a_newer_page_on_disk() {
    let (dir, gate) = (tempfile::tempdir().unwrap(), Arc::new(Semaphore::new(0)));
    let step = Step::Gate(gate.clone());
    let server = Server::start(move |request| match request.nth {
        0 => [vec![step.clone()], respond(200, &[JSON], page("six", &[("six-1.0.whl", "/x")]))].concat(),
        _ => respond(200, &[JSON], page("six", &[("six-2.0.whl", "/x")])),
    });
    let config = page_cache::Config { dir: Some(dir.path().into()), ..page_cache::Config::default() };
    let before = pages(&server, LONG, config.clone());
    // Another TTL: the pages in memory are not shared.
    let reloaded = before.reconfigure(vec![index(&server, LONG * 2)], config.clone());
    let slow = tokio::spawn(async move { json(&before, "six").await });
    until("the page is requested", async || server.count() == 1).await;
    let (new, _) = json(&reloaded, "six").await.unwrap();
    gate.add_permits(1);
    assert_ne!(slow.await.unwrap().unwrap().0, new);
    let restarted = pages(&server, LONG, config);
    assert_eq!((json(&restarted, "six").await.unwrap().0, server.count()), (new, 2));
}

#[tokio::test]
async fn a_reload_forgets_failures_of_refreshes_in_flight() {
    for status in [404, 429] {
        let gate = Arc::new(Semaphore::new(0));
        let step = Step::Gate(gate.clone());
        let server = Server::start(move |request| match request.nth {
            0 => [vec![step.clone()], respond(status, &[("retry-after", "3600")], "")].concat(),
            _ => respond(200, &[JSON], page("six", &[])),
        });
        let before = pages(&server, LONG, page_cache::Config::default());
        let old = before.clone();
        let slow = tokio::spawn(async move { json(&old, "six").await });
        until("the page is requested", async || server.count() == 1).await;
        let reloaded = before.reconfigure(vec![index(&server, LONG)], page_cache::Config::default());
        gate.add_permits(1);
        assert!(slow.await.unwrap().is_err(), "{status}");
        json(&reloaded, "six").await.unwrap();
    }
}

/// Configuration with which each request waits for the index.
fn revalidating(dir: &Path) -> page_cache::Config {
    let (stale_while_revalidate, stale_wait) = (Duration::ZERO, TIMEOUT);
    page_cache::Config { dir: Some(dir.into()), stale_while_revalidate, stale_wait, ..Default::default() }
}

fn versioned(version: u8) -> Vec<Step> {
    let etag = format!("\"{version}\"");
    respond(200, &[JSON, ("etag", &etag)], page("six", &[(&format!("six-{version}.0.whl"), "/x")]))
}

/// The only file below the folder of a cache.
fn only_file(dir: &Path) -> PathBuf {
    let entry = |dir: &Path| std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path();
    entry(&entry(dir))
}

#[tokio::test]
async fn a_late_answer_leaves_a_newer_page_alone() {
    for status in [404, 304] {
        let (dir, gate) = (tempfile::tempdir().unwrap(), Arc::new(Semaphore::new(0)));
        let step = Step::Gate(gate.clone());
        let server = Server::start(move |request| match request.nth {
            0 => versioned(1),
            1 => [vec![step.clone()], respond(status, &[], "")].concat(),
            _ => versioned(2),
        });
        let config = revalidating(dir.path());
        let before = pages(&server, Duration::ZERO, config.clone());
        json(&before, "six").await.unwrap();
        // Another setting: the pages in memory are not shared.
        let other = page_cache::Config { wheel_metadata: false, ..config.clone() };
        let reloaded = before.reconfigure(vec![index(&server, Duration::ZERO)], other);
        let slow = tokio::spawn(async move { json(&before, "six").await });
        until("the page is requested", async || server.count() == 2).await;
        let (new, _) = json(&reloaded, "six").await.unwrap();
        let modified = || std::fs::metadata(only_file(dir.path())).unwrap().modified().unwrap();
        let stored = modified();
        gate.add_permits(1);
        assert_eq!(slow.await.unwrap().is_ok(), status == 304);
        assert_eq!(modified(), stored, "{status}");
        let restarted = pages(&server, LONG, config);
        assert_eq!((json(&restarted, "six").await.unwrap().0, server.count()), (new, 3), "{status}");
    }
}

#[tokio::test]
async fn a_confirmed_page_does_not_make_an_older_one_on_disk_fresh() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match (request.nth, request.header("if-none-match")) {
        (0, _) => versioned(1),
        (_, "\"2\"") => respond(304, &[], ""),
        _ => versioned(2),
    });
    let config = revalidating(dir.path());
    let cache = pages(&server, Duration::ZERO, config.clone());
    json(&cache, "six").await.unwrap();
    let file = only_file(dir.path());
    let (old, modified) =
        (std::fs::read(&file).unwrap(), std::fs::metadata(&file).unwrap().modified().unwrap());
    let (new, _) = json(&cache, "six").await.unwrap();
    // As if the newer page could not be written.
    std::fs::write(&file, old).unwrap();
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
    for _ in 0..2 {
        assert_eq!(json(&cache, "six").await.unwrap().0, new);
    }
    server.stop().await;
    assert_eq!(json(&pages(&server, LONG, config), "six").await.unwrap().0, new);
}

#[tokio::test]
async fn a_file_comes_from_the_first_index_that_has_it() {
    let private = Server::start(|request| match &*request.path {
        "/simple/six/" => respond(200, &[JSON], page("six", &[("six-1.0.whl", "private")])),
        _ => respond(404, &[], ""),
    });
    let public = Server::start(|request| {
        respond(
            200,
            &[HTML],
            "<a href=six-1.0.whl>x</a><a href=six-2.0.whl>y</a>".replace("six", request.project()),
        )
    });
    let config = crate::support::proxy::united(page_cache::Config::default());
    let pages = PageCache::new(vec![index(&private, LONG), index(&public, LONG)], config);
    let served = pages.project(&name("six")).await.unwrap();
    let file = |name| served.page.file(name).map(|(index, file)| (index, file.url().to_owned()));
    assert_eq!(file("six-1.0.whl"), Some((0, "private".into())));
    assert_eq!(file("six-2.0.whl"), Some((1, "six-2.0.whl".into())));
    let (value, _) = json(&pages, "six").await.unwrap();
    assert_eq!(filenames(&value), ["six-1.0.whl", "six-2.0.whl"]);
    // Only some files have sizes, which version 1.1 does not allow; and an incomplete list of versions is omitted.
    assert_eq!((&value["meta"]["api-version"], value.get("versions")), (&"1.0".into(), None));
    let (value, _) = json(&pages, "other").await.unwrap();
    assert_eq!(value["files"].as_array().unwrap().len(), 2);
    // Projects of a private index must not be looked up in another one while it is down.
    private.stop().await;
    assert!(json(&pages, "third").await.is_err());
}

#[tokio::test]
async fn variants_have_the_same_content_and_different_etags() {
    let server =
        Server::start(|_| respond(200, &[JSON], page("six", &[("six-1.0.whl", "u"), ("six-2.0.whl", "u")])));
    let pages = pages(&server, LONG, page_cache::Config::default());
    let page = pages.project(&name("six")).await.unwrap().page;
    let mut tags = std::collections::HashSet::new();
    for form in [Form::Json, Form::Html] {
        let mut made = Vec::new();
        for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate, Coding::Zstd] {
            let variant = page.variant(form, coding).await;
            tags.insert(variant.etag);
            made.push(variant.body.bytes().unwrap());
        }
        let read = |mut decoder: Box<dyn std::io::Read + '_>| {
            let mut decoded = Vec::new();
            decoder.read_to_end(&mut decoded).unwrap();
            decoded
        };
        assert_eq!(read(Box::new(flate2::read::GzDecoder::new(&made[1][..]))), made[0]);
        assert_eq!(read(Box::new(flate2::read::ZlibDecoder::new(&made[2][..]))), made[0]);
        assert_eq!(zstd::decode_all(&made[3][..]).unwrap(), made[0]);
    }
    assert_eq!(tags.len(), 8);
}

#[tokio::test]
async fn memory_is_bounded_by_bytes() {
    let server = Server::start(|request| {
        let files: Vec<_> =
            (0..100).map(|number| (format!("a-{number}.whl"), request.path.repeat(10))).collect();
        let files: Vec<_> = files.iter().map(|(name, url)| (&**name, &**url)).collect();
        respond(200, &[JSON], page(request.project(), &files))
    });
    let pages =
        pages(&server, LONG, page_cache::Config { max_bytes: 200_000, ..page_cache::Config::default() });
    for number in 0..50 {
        json(&pages, &format!("project-{number}")).await.unwrap();
        assert!(pages.bytes() <= 200_000);
    }
    assert!(pages.bytes() > 50_000);
    json(&pages, "project-49").await.unwrap();
    assert_eq!(server.count(), 50);
    json(&pages, "project-0").await.unwrap();
    assert_eq!(server.count(), 51);
}

/// Longer than any test runs.
const NEVER: Duration = Duration::from_secs(86_400);

async fn answer(proxy: &Proxy, path: &str) -> (StatusCode, http::HeaderMap) {
    let response = proxy.handle(&Request::get(path).body(()).unwrap()).await;
    (response.status(), response.headers().clone())
}

#[tokio::test]
async fn a_cached_page_is_served_while_the_index_is_silent() {
    assert!(page_cache::Config::default().stale_wait < Duration::from_secs(2));
    let dir = tempfile::tempdir().unwrap();
    let index = Server::start(|received| match received.nth {
        0 => respond(200, &[JSON], page("six", &[])),
        _ => vec![Step::Stall],
    });
    let config = page_cache::Config {
        dir: Some(dir.path().into()),
        stale_while_revalidate: Duration::ZERO,
        stale_wait: Duration::from_millis(50),
        ..page_cache::Config::default()
    };
    let new = || {
        let set = |config: &mut upstream::Config| (config.ttl, config.read_timeout) = (Duration::ZERO, NEVER);
        PageCache::new(vec![upstream(&index.url("/simple"), set)], config.clone())
    };
    let project = async |pages: &PageCache| {
        let served = tokio::time::timeout(TIMEOUT, pages.project(&name("six"))).await;
        served.expect("it is served").unwrap().status
    };
    let pages = new();
    assert_eq!(project(&pages).await, CacheStatus::Miss);
    // From memory, twice, and from the disk.
    assert_eq!(project(&pages).await, CacheStatus::Stale);
    assert_eq!(project(&pages).await, CacheStatus::Stale);
    assert_eq!(project(&new()).await, CacheStatus::Stale);
    assert_eq!(index.count_of("/simple/six/"), 3);
}

/// With a paused clock, a timeout expires as soon as there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn requests_to_an_unresponsive_index_are_suspended() {
    let dir = tempfile::tempdir().unwrap();
    let index = Server::start(|received| match received.path.as_str() {
        "/simple/there/" => respond(404, &[], ""),
        _ => vec![Step::Stall],
    });
    let upstream = upstream(&index.url("/simple"), |config| config.read_timeout = Duration::from_secs(30));
    let store = Store::open(store::Config::new(dir.path().join("cache"))).unwrap();
    let pages = PageCache::new(vec![upstream.clone()], page_cache::Config::default());
    let proxy = Proxy::new(vec![upstream], pages, store, serve::Config::default());
    for number in 0..5 {
        let (status, headers) = answer(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!((status, headers.get("retry-after")), (StatusCode::GATEWAY_TIMEOUT, None), "{number}");
    }
    // No request is sent, so no timeout has to expire.
    let started = tokio::time::Instant::now();
    for number in 5..50 {
        let (status, headers) = answer(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(headers["retry-after"], "1");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
    // One request at a time probes whether it responds again, with increasing backoff.
    let mut pauses = Vec::new();
    for number in 50..56 {
        tokio::time::advance(Duration::from_secs(30)).await;
        let (status, _) = answer(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!(status, StatusCode::GATEWAY_TIMEOUT, "{number}");
        let (_, headers) = answer(&proxy, &format!("/simple/other-{number}/")).await;
        pauses.push(headers["retry-after"].to_str().unwrap().to_owned());
    }
    assert_eq!(pauses, ["2", "4", "8", "16", "30", "30"]);
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::time::resume();
    let responds = async || answer(&proxy, "/simple/there/").await.0 == StatusCode::NOT_FOUND;
    until("requests are sent again", responds).await;
}

/// Requests for distinct projects each need the index.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_page_fetches_are_limited() {
    const RUNNING: usize = 2;
    const QUEUED: usize = 3;

    let index = Server::start(|received| match received.path.as_str() {
        "/simple/cached/" if received.nth == 0 => respond(200, &[JSON], page("cached", &[])),
        "/simple/other/" => respond(404, &[], ""),
        _ => vec![Step::Stall],
    });
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.always_revalidate();
        setup.upstreams[0].read_timeout = NEVER;
        (setup.pages.max_fetches, setup.pages.max_queued) = (RUNNING, QUEUED);
    });
    let gauges = async || {
        let samples = proxy.metrics().await;
        ["fetches", "fetches_queued", "fetches_rejected_total"]
            .map(|name| samples[&format!("pypi_proxy_page_{name}")])
    };
    let becomes = async |expected: [f64; 3]| {
        until(&format!("{expected:?}"), async || gauges().await == expected).await;
    };
    assert_eq!(proxy.get("/simple/cached/", &[]).await.status(), 200);
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..RUNNING + QUEUED {
        let request = proxy.client.get(proxy.url(&format!("/simple/project-{number}/")));
        clients.spawn(async move { request.send().await.unwrap().status() });
    }
    becomes([2.0, 3.0, 0.0]).await;
    let count = index.requests().len();
    assert_eq!(count, 1 + RUNNING);
    for number in 0..20 {
        let rejected = proxy.get(&format!("/simple/more-{number}/"), &[]).await;
        assert_eq!(rejected.status(), 503);
        assert_eq!(rejected.headers()["retry-after"], "1");
    }
    // A cached page is served, although it can't be revalidated.
    let cached = proxy.get("/simple/cached/", &[]).await;
    assert_eq!(cached.status(), 200);
    assert_eq!(cached.headers()["x-cache"], "stale");
    becomes([2.0, 3.0, 20.0]).await;
    assert_eq!(index.requests().len(), count);
    // Rejected requests leave no entries: only the cached page and five others exist.
    let samples = proxy.metrics().await;
    assert!(samples["pypi_proxy_pages"] <= 6.0, "{}", samples["pypi_proxy_pages"]);
    // There is room again after those requests.
    index.stop().await;
    while let Some(status) = clients.join_next().await {
        assert_eq!(status.unwrap(), 502);
    }
    becomes([0.0, 0.0, 20.0]).await;
}

#[test]
fn negative_entries_count_toward_the_memory_limit() {
    const COUNT: usize = 2000;

    // The index runs on another thread, so that its memory is not counted.
    let other = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let index = other.block_on(async { Server::start(|_| respond(404, &[], "")) });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for indexes in [1, 3] {
        let new = |number: usize| upstream(&index.url(&format!("/simple-{number}")), |_| ());
        let pages = PageCache::new((0..indexes).map(new).collect(), page_cache::Config::default());
        let send = |from: usize, to: usize| {
            runtime.block_on(async {
                for number in from..to {
                    let project = name(&format!("a-name-of-usual-length-{number}"));
                    assert!(pages.project(&project).await.unwrap_err().is_not_found());
                }
            });
        };
        // Allocate connections and other one-time state first.
        send(0, 100);
        let before = pages.bytes();
        let held = counting::peak(|| send(100, 100 + COUNT));
        let counted = usize::try_from(pages.bytes() - before).unwrap();
        let range = held * 9 / 10..=held * 2;
        assert!(range.contains(&counted), "{counted} of {held} bytes, {indexes} indexes");
    }
}

/// Cached entries need no index, all others fail immediately.
#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn offline_opens_no_connection() {
    use crate::support::program::{run, serve};

    const WHEEL: &str = "demo-1.0-py3-none-any.whl";

    let dir = tempfile::tempdir().unwrap();
    let index = file_index([(WHEEL, content(1000))]);
    let url = index.url("/simple/");
    let endpoint = format!("http://{}", index.address());
    let local = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_INDEX_TTL", "0"),
        // A page of any age is served.
        ("PYPI_PROXY_STALE_WHILE_REVALIDATE", "0"),
        ("PYPI_PROXY_STALE_IF_ERROR", "0"),
    ];
    let status = async |url: &str, path: &str| {
        let request = crate::support::proxy::client().get(format!("{url}{path}"));
        let response = request.timeout(TIMEOUT).send().await.unwrap();
        let status = response.status().as_u16();
        response.bytes().await.unwrap();
        status
    };
    let file = format!("/simple/demo/{WHEEL}");
    let served = serve(dir.path(), &local).await;
    for path in ["/simple/demo/", &*file] {
        assert_eq!(status(&served.url, path).await, 200, "{path}");
    }
    served.kill().await;

    let address = index.address();
    index.stop().await;
    let listener = std::net::TcpListener::bind(address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut env = local.to_vec();
    env.extend([
        ("PYPI_PROXY_OFFLINE", "true"),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "0"),
        ("PYPI_PROXY_STORAGE_TYPE", "hybrid"),
        ("PYPI_PROXY_S3_BUCKET", "bucket"),
        ("PYPI_PROXY_S3_ENDPOINT", &endpoint),
        ("PYPI_PROXY_S3_ACCESS_KEY_ID", "id"),
        ("PYPI_PROXY_S3_SECRET_ACCESS_KEY", "key"),
    ]);
    let served = serve(dir.path(), &env).await;
    for (path, expected) in [
        ("/simple/demo/", 200),
        (&*file, 200),
        ("/simple/demo/", 200),
        ("/simple/other/", 504),
        ("/simple/other/other-1.0.whl", 504),
        ("/simple/", 504),
        ("/readyz", 200),
        ("/health", 200),
    ] {
        assert_eq!(status(&served.url, path).await, expected, "{path}");
    }
    served.kill().await;
    let (_, text) = run(dir.path(), &env, &["check"]).await;
    assert!(text.contains("skipped, because offline is set"), "{text}");
    let connection = listener.accept();
    assert!(connection.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
}
