//! Unresponsive indexes, and more page requests than the queue can hold.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use pypi_proxy::ProjectName;
use pypi_proxy::page_cache::{self, CacheStatus, PageCache};
use pypi_proxy::serve::{self, Proxy};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{self, Upstream};

use crate::support::proxy::{TIMEOUT, start_with, upstream};
use crate::support::raw::{Raw, Step, reply};
use crate::support::{JSON, page, until};
use test_support::counting;

/// Longer than any test runs.
const NEVER: Duration = Duration::from_secs(86_400);

fn name(text: &str) -> ProjectName {
    ProjectName::parse(text).unwrap()
}

async fn get(proxy: &Proxy, path: &str) -> (StatusCode, http::HeaderMap) {
    let response = proxy.handle(&Request::get(path).body(()).unwrap()).await;
    (response.status(), response.headers().clone())
}

#[tokio::test]
async fn a_cached_page_is_served_while_the_index_is_silent() {
    assert!(page_cache::Config::default().stale_wait < Duration::from_secs(2));
    let dir = tempfile::tempdir().unwrap();
    let index = Raw::start(|received| match received.nth {
        0 => reply("200 OK", &[JSON], page("six", &[])),
        _ => vec![Step::Stall],
    })
    .await;
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
    assert_eq!(index.count("/simple/six/"), 3);
}

/// With a paused clock, a timeout expires as soon as there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn requests_to_an_unresponsive_index_are_suspended() {
    let dir = tempfile::tempdir().unwrap();
    let index = Raw::start(|received| match received.path.as_str() {
        "/simple/there/" => reply("404 Not Found", &[], ""),
        _ => vec![Step::Stall],
    })
    .await;
    let upstream = upstream(&index.url("/simple"), |config| config.read_timeout = Duration::from_secs(30));
    let store = Store::open(store::Config::new(dir.path().join("cache"))).unwrap();
    let pages = PageCache::new(vec![upstream.clone()], page_cache::Config::default());
    let proxy = Proxy::new(vec![upstream], pages, store, serve::Config::default());
    for number in 0..5 {
        let (status, headers) = get(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!((status, headers.get("retry-after")), (StatusCode::GATEWAY_TIMEOUT, None), "{number}");
    }
    // No request is sent, so no timeout has to expire.
    let started = tokio::time::Instant::now();
    for number in 5..50 {
        let (status, headers) = get(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(headers["retry-after"], "1");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
    // One request at a time probes whether it responds again, with increasing backoff.
    let mut pauses = Vec::new();
    for number in 50..56 {
        tokio::time::advance(Duration::from_secs(30)).await;
        let (status, _) = get(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!(status, StatusCode::GATEWAY_TIMEOUT, "{number}");
        let (_, headers) = get(&proxy, &format!("/simple/other-{number}/")).await;
        pauses.push(headers["retry-after"].to_str().unwrap().to_owned());
    }
    assert_eq!(pauses, ["2", "4", "8", "16", "30", "30"]);
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::time::resume();
    let responds = async || get(&proxy, "/simple/there/").await.0 == StatusCode::NOT_FOUND;
    until("requests are sent again", responds).await;
}

/// Requests for distinct projects each need the index.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_page_fetches_are_limited() {
    const RUNNING: usize = 2;
    const QUEUED: usize = 3;

    let index = Raw::start(|received| match received.path.as_str() {
        "/simple/cached/" if received.nth == 0 => reply("200 OK", &[JSON], page("cached", &[])),
        "/simple/other/" => reply("404 Not Found", &[], ""),
        _ => vec![Step::Stall],
    })
    .await;
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.always_revalidate();
        setup.upstreams[0].read_timeout = NEVER;
        (setup.pages.max_fetches, setup.pages.max_queued) = (RUNNING, QUEUED);
    })
    .await;
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

/// An index without projects on its own thread, so that its memory is not counted.
fn empty_index() -> std::net::SocketAddr {
    use std::io::{BufRead as _, Write as _};

    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = std::io::BufReader::new(stream.unwrap());
            std::thread::spawn(move || {
                let mut line = String::new();
                while stream.read_line(&mut line).is_ok_and(|len| len > 0) {
                    if line == "\r\n" {
                        let response = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
                        stream.get_mut().write_all(response).unwrap();
                    }
                    line.clear();
                }
            });
        }
    });
    address
}

#[test]
fn negative_entries_count_toward_the_memory_limit() {
    const COUNT: usize = 2000;

    let address = empty_index();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for indexes in [1, 3] {
        let new = |number: usize| {
            let url = format!("http://{address}/simple-{number}/");
            Arc::new(Upstream::new(upstream::Config::new(&url).unwrap()).unwrap())
        };
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
    use crate::support::file_index;
    use crate::support::program::{run, serve};
    use crate::support::source::content;

    const WHEEL: &str = "demo-1.0-py3-none-any.whl";

    let dir = tempfile::tempdir().unwrap();
    let index = file_index([(WHEEL, content(1000))]).await;
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
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let response = client.get(format!("{url}{path}")).timeout(TIMEOUT).send().await.unwrap();
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
