//! Page cache: lifetimes, stale pages, persistence and merging.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use pypi_proxy::page_cache::{CacheStatus, Config, PageCache};
use pypi_proxy::upstream::Upstream;
use pypi_proxy::{Coding, Error, Form, ProjectName};
use tokio::sync::Notify;

use crate::support::proxy::upstream;
use crate::support::{HTML, JSON, Server, page, respond, until};

fn name(text: &str) -> ProjectName {
    ProjectName::parse(text).unwrap()
}

fn index(server: &Server, ttl: Duration) -> Arc<Upstream> {
    upstream(&server.url("/simple"), |config| config.ttl = ttl)
}

fn pages(server: &Server, ttl: Duration, config: Config) -> PageCache {
    PageCache::new(vec![index(server, ttl)], config)
}

async fn json(pages: &PageCache, project: &str) -> Result<(serde_json::Value, CacheStatus), Error> {
    let served = pages.project(&name(project)).await?;
    let variant = served.page.variant(Form::Json, Coding::Identity).await;
    Ok((serde_json::from_slice(&variant.body.bytes().unwrap()).unwrap(), served.status))
}

const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn concurrent_requests_share_one_fetch() {
    let server = Server::start(|_, _| async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        respond(200, &[JSON], page("six", &[("six-1.0.whl", "/f/six-1.0.whl")]))
    })
    .await;
    let pages = pages(&server, LONG, Config::default());
    let results = join_all((0..100).map(|_| json(&pages, "six"))).await;
    assert!(results.iter().all(|result| result.as_ref().unwrap().0["files"][0]["url"] == "six-1.0.whl"));
    assert_eq!(json(&pages, "six").await.unwrap().1, CacheStatus::Hit);
    assert_eq!(server.paths(), ["/simple/six/"]);
}

#[tokio::test]
async fn a_disconnected_client_does_not_cancel_a_fetch() {
    let gone = Arc::new(Notify::new());
    let wait = gone.clone();
    let server = Server::start(move |_, _| {
        let wait = wait.clone();
        async move {
            wait.notified().await;
            respond(200, &[JSON], page("six", &[]))
        }
    })
    .await;
    let pages = pages(&server, LONG, Config::default());
    let first = tokio::time::timeout(Duration::from_millis(20), pages.project(&name("six"))).await;
    assert!(first.is_err());
    gone.notify_one();
    json(&pages, "six").await.unwrap();
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_stale_page_is_served_while_revalidating() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = Server::start(move |_, headers| {
        let first = count.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if headers.get("if-none-match").is_some_and(|etag| etag == "\"v1\"") {
                return respond(304, &[], "");
            }
            assert!(first);
            respond(200, &[JSON, ("etag", "\"v1\"")], page("six", &[("six-1.0.whl", "u")]))
        }
    })
    .await;
    let pages = pages(&server, Duration::ZERO, Config::default());
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
    let server = Server::start(move |_, _| {
        let broken = broken.load(Ordering::Relaxed);
        async move {
            if broken { respond(503, &[], "secret text") } else { respond(200, &[JSON], page("six", &[])) }
        }
    })
    .await;
    let lenient = Config { stale_while_revalidate: Duration::ZERO, ..Config::default() };
    let strict = Config { stale_if_error: Duration::ZERO, ..lenient.clone() };
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
    let server = Server::start(|_, _| async { respond(404, &[], "") }).await;
    let pages = pages(&server, LONG, Config::default());
    for _ in 0..3 {
        assert!(json(&pages, "nothing").await.unwrap_err().is_not_found());
    }
    assert_eq!(server.count(), 1);
    pages.purge(Some(&name("nothing"))).await.unwrap();
    assert!(json(&pages, "nothing").await.unwrap_err().is_not_found());
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn pages_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(|path, _| async move {
        match &*path {
            "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"six"}]}"#),
            _ => respond(200, &[JSON, ("etag", "\"v1\"")], page("six", &[("six-1.0.whl", "/x")])),
        }
    })
    .await;
    let config = Config { dir: Some(dir.path().into()), ..Config::default() };
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
async fn a_file_comes_from_the_first_index_that_has_it() {
    let private = Server::start(|path, _| async move {
        match &*path {
            "/simple/six/" => respond(200, &[JSON], page("six", &[("six-1.0.whl", "private")])),
            _ => respond(404, &[], ""),
        }
    })
    .await;
    let public = Server::start(|_, _| async {
        respond(200, &[HTML], "<a href=six-1.0.whl>x</a><a href=six-2.0.whl>y</a>")
    })
    .await;
    let pages = PageCache::new(vec![index(&private, LONG), index(&public, LONG)], Config::default());
    let served = pages.project(&name("six")).await.unwrap();
    let file = |name| served.page.file(name).map(|(index, file)| (index, file.url().to_owned()));
    assert_eq!(file("six-1.0.whl"), Some((0, "private".into())));
    assert_eq!(file("six-2.0.whl"), Some((1, "six-2.0.whl".into())));
    let (value, _) = json(&pages, "six").await.unwrap();
    let names: Vec<_> =
        value["files"].as_array().unwrap().iter().map(|file| file["filename"].as_str().unwrap()).collect();
    assert_eq!(names, ["six-1.0.whl", "six-2.0.whl"]);
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
    let server = Server::start(|_, _| async {
        respond(200, &[JSON], page("six", &[("six-1.0.whl", "u"), ("six-2.0.whl", "u")]))
    })
    .await;
    let pages = pages(&server, LONG, Config::default());
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
async fn a_lower_serial_is_ignored() {
    let serial = Arc::new(AtomicUsize::new(7));
    let own = serial.clone();
    let server = Server::start(move |_, _| {
        let serial = own.load(Ordering::Relaxed);
        async move { respond(200, &[JSON], format!(r#"{{"meta":{{"_last-serial":{serial}}},"files":[]}}"#)) }
    })
    .await;
    let config = Config { stale_while_revalidate: Duration::ZERO, ..Config::default() };
    let pages = pages(&server, Duration::ZERO, config);
    for (sent, expected) in [(7, 7), (6, 7), (8, 8)] {
        serial.store(sent, Ordering::Relaxed);
        let page = pages.project(&name("six")).await.unwrap().page;
        assert_eq!(page.last_serial(), Some(expected));
    }
}

#[tokio::test]
async fn memory_is_bounded_by_bytes() {
    let server = Server::start(|path, _| async move {
        let files: Vec<_> = (0..100).map(|number| (format!("a-{number}.whl"), path.repeat(10))).collect();
        let files: Vec<_> = files.iter().map(|(name, url)| (&**name, &**url)).collect();
        respond(200, &[JSON], page("a", &files))
    })
    .await;
    let pages = pages(&server, LONG, Config { max_bytes: 200_000, ..Config::default() });
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
