//! Indexes that do not respond, and clients that want more pages than there is room for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use pypi_proxy::ProjectName;
use pypi_proxy::pages::{self, Pages, Verdict};
use pypi_proxy::serve::{self, Proxy};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{self, Upstream};

use crate::support::proxy::PATIENCE;
use crate::support::raw::{Raw, Step, reply};
use crate::support::{JSON, page};

/// No test waits for this long.
const NEVER: Duration = Duration::from_secs(86_400);

fn name(text: &str) -> ProjectName {
    ProjectName::parse(text).unwrap()
}

/// An index that sends each page once, and after that accepts requests and says nothing.
async fn silent_after_the_first() -> Raw {
    Raw::start(|asked| match asked.nth {
        0 => reply("200 OK", &[JSON], page("six", &[("six-1.0.whl", "/f/six-1.0.whl")])),
        _ => vec![Step::Stall],
    })
    .await
}

fn upstream(index: &Raw, set: impl Fn(upstream::Config) -> upstream::Config) -> Arc<Upstream> {
    let config = upstream::Config::new(&index.url("/simple")).unwrap().ttl(Duration::ZERO);
    Arc::new(Upstream::new(set(config)).unwrap())
}

/// A proxy without a listener.
fn proxy(dir: &Path, upstream: Arc<Upstream>, pages: pages::Config) -> Proxy {
    let store = Store::open(store::Config::new(dir.join("cache"))).unwrap();
    let pages = Pages::new(vec![upstream.clone()], pages);
    Proxy::new(vec![upstream], pages, store, serve::Config::new())
}

async fn get(proxy: &Proxy, path: &str) -> (StatusCode, http::HeaderMap) {
    let response = proxy.answer(&Request::get(path).body(()).unwrap()).await;
    (response.status(), response.headers().clone())
}

#[tokio::test]
async fn a_cached_page_is_served_while_the_index_is_silent() {
    assert!(pages::Config::DEFAULT_STALE_WAIT < Duration::from_secs(2));
    let dir = tempfile::tempdir().unwrap();
    let index = silent_after_the_first().await;
    let config = pages::Config::new().dir(dir.path()).stale_while_revalidate(Duration::ZERO);
    let config = config.stale_wait(Duration::from_millis(50));
    let new = || {
        let upstream = upstream(&index, |config| config.read_timeout(NEVER).connect_timeout(NEVER));
        Pages::new(vec![upstream], config.clone())
    };
    let project = async |pages: &Pages| {
        let served = tokio::time::timeout(PATIENCE, pages.project(&name("six"))).await;
        served.expect("it is served").unwrap().verdict
    };
    let pages = new();
    assert_eq!(project(&pages).await, Verdict::Miss);
    // From memory, twice, and from the disk.
    assert_eq!(project(&pages).await, Verdict::Stale);
    assert_eq!(project(&pages).await, Verdict::Stale);
    assert_eq!(project(&new()).await, Verdict::Stale);
    assert_eq!(index.count("/simple/six/"), 3);
}

/// With the clock paused, every timeout passes as soon as there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn an_index_that_does_not_respond_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let index = Raw::start(|asked| match asked.path.as_str() {
        "/simple/there/" => reply("404 Not Found", &[], ""),
        _ => vec![Step::Stall],
    })
    .await;
    let proxy = proxy(dir.path(), upstream(&index, |config| config), pages::Config::new());
    for number in 0..5 {
        let (status, headers) = get(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!((status, headers.get("retry-after")), (StatusCode::GATEWAY_TIMEOUT, None), "{number}");
    }
    // No request is sent, so that no timeout has to pass.
    let begun = tokio::time::Instant::now();
    for number in 5..50 {
        let (status, headers) = get(&proxy, &format!("/simple/project-{number}/")).await;
        assert_eq!(
            (status, &headers["retry-after"]),
            (StatusCode::SERVICE_UNAVAILABLE, &"1".parse().unwrap())
        );
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
    // One request at a time tries whether it responds again, less and less often.
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
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while get(&proxy, "/simple/there/").await.0 != StatusCode::NOT_FOUND {
        assert!(tokio::time::Instant::now() < deadline, "it is never asked again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What is cached needs no index, and what is not fails at once.
#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn offline_opens_no_connection() {
    use crate::support::program::{run, serve};
    use crate::support::source::content;
    use crate::support::{Server, answer, hashed_page};

    const WHEEL: &str = "demo-1.0-py3-none-any.whl";

    let dir = tempfile::tempdir().unwrap();
    let index = Server::start(|path, _| async move {
        match &*path {
            "/simple/demo/" => answer(200, &[JSON], hashed_page([(WHEEL.to_owned(), content(1000))])),
            path if path.starts_with("/f/") => answer(200, &[], content(1000)),
            _ => answer(404, &[], ""),
        }
    })
    .await;
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
        let response = client.get(format!("{url}{path}")).timeout(PATIENCE).send().await.unwrap();
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
    assert!(text.contains("not asked, because offline is set"), "{text}");
    let connection = listener.accept();
    assert!(connection.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
}
