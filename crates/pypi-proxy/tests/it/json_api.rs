//! The JSON API: documents of projects and versions.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use jiff::Timestamp;
use pypi_proxy::rules::{ProjectPattern, Rules, Yanked};

use crate::support::prelude::*;

const APPLICATION: (&str, &str) = ("content-type", "application/json");
const OLD: &str = "demo-1.0.tar.gz";
const NEW: &str = "demo-2.0.tar.gz";

fn file(name: &str, time: &str) -> Value {
    let mut file = listed(name, &content(1000));
    file["upload-time"] = time.into();
    file
}

/// Document of `demo` with a file per version, or with the version's file only.
fn document(version: Option<&str>) -> Value {
    let file = |name: &str| json!({"filename": name, "url": format!("https://files.example.org/{name}"), "yanked": name == NEW});
    let info = json!({"name": "Demo", "version": version.unwrap_or("2.0"), "project_urls": {"Caf\u{e9} \"x\"": null}});
    let known = json!([{"id": "X-2024-1", "aliases": [], "fixed_in": ["2.0"], "details": "a hole"}]);
    match version {
        None => json!({
            "info": info, "last_serial": 7, "releases": {"1.0": [file(OLD)], "2.0": [file(NEW)]},
            "urls": [file(NEW)], "vulnerabilities": known,
        }),
        Some(_) => json!({"info": info, "last_serial": 7, "urls": [file(OLD)], "vulnerabilities": known}),
    }
}

/// Index with the project `demo`, whose JSON API responds with this status if it is not 200.
fn index_with(status: Arc<AtomicU16>) -> Server {
    let now = Timestamp::now().to_string();
    let mut new = file(NEW, &now);
    new["yanked"] = "broken".into();
    let page = page_of(&[file(OLD, "2020-01-01T00:00:00Z"), new]);
    Server::start(move |request| {
        let status = status.load(Ordering::Relaxed);
        match &*request.path {
            "/simple/demo/" => respond(200, &[JSON], page.clone()),
            path if path.starts_with("/pypi/") && status != 200 => respond(status, &[], "secret"),
            path if path.starts_with("/pypi/demo/") && request.header("if-none-match") == "\"1\"" => {
                respond(304, &[], "")
            }
            "/pypi/demo/json" => {
                let headers = [APPLICATION, ("etag", "\"1\""), ("x-pypi-last-serial", "7")];
                respond(200, &headers, document(None).to_string())
            }
            "/pypi/demo/1.0/json" => {
                respond(200, &[APPLICATION, ("etag", "\"1\"")], document(Some("1.0")).to_string())
            }
            "/pypi/html/json" => respond(200, &[HTML], "<html>"),
            "/pypi/cut/json" => {
                vec![head(200, &[APPLICATION, ("content-length", "100")]), Step::Send("{".into())]
            }
            "/pypi/deep/json" => respond(200, &[APPLICATION], "[".repeat(100_000)),
            "/pypi/large/json" => respond(200, &[APPLICATION], format!("\"{}\"", "x".repeat(200_000))),
            _ => respond(404, &[], ""),
        }
    })
}

fn index() -> Server {
    index_with(Arc::new(AtomicU16::new(200)))
}

async fn value(response: Response) -> Value {
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    tightwire_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn documents_are_passed_on_and_cached() {
    let index = index();
    let proxy = start(&[index.url("/simple")]);
    for (path, expected) in
        [("/pypi/demo/json", document(None)), ("/pypi/demo/1.0/json", document(Some("1.0")))]
    {
        for status in ["miss", "hit"] {
            // As Dependabot and Renovate request it.
            let response = proxy.get(path, &[("accept", "application/json")]).await;
            assert_eq!(response.headers()["x-cache"], status);
            assert_eq!(response.headers()["vary"], "Accept-Encoding");
            let tag = response.headers()["etag"].to_str().unwrap().to_owned();
            assert_eq!(value(response).await, expected);
            assert_eq!(proxy.get(path, &[("if-none-match", &tag)]).await.status(), 304);
        }
        assert_eq!(index.count_of(path), 1);
        let head = proxy.send(Method::HEAD, path, &[]).await;
        assert_eq!(head.headers()["content-length"], expected.to_string().len().to_string());
        let response = proxy.get(path, &[("accept-encoding", "gzip, deflate")]).await;
        assert_eq!(response.headers()["content-encoding"], "gzip");
        let mut text = String::new();
        let body = response.bytes().await.unwrap();
        flate2::read::GzDecoder::new(&*body).read_to_string(&mut text).unwrap();
        assert_eq!(text, expected.to_string());
    }
    assert_eq!(proxy.get("/pypi/demo/json", &[]).await.headers()["x-pypi-last-serial"], "7");
    for (path, to) in [
        ("/pypi/De.Mo/json", "../de-mo/json"),
        ("/pypi/DEMO/json?x=1", "../demo/json?x=1"),
        ("/pypi/Demo/1.0/json", "../../demo/1.0/json"),
        ("/simple/Demo/json", "../../pypi/demo/json"),
    ] {
        let response = proxy.get(path, &[]).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["location"]),
            (301, &to.parse().unwrap())
        );
    }
    let samples = proxy.metrics().await;
    assert!(samples[r#"pypi_proxy_http_requests_total{route="document",code="2xx"}"#] >= 8.0, "{samples:#?}");
}

#[tokio::test]
async fn expired_documents_are_revalidated_and_served_while_the_index_fails() {
    let status = Arc::new(AtomicU16::new(200));
    let index = index_with(status.clone());
    let dir = tempfile::tempdir().unwrap();
    let setup = || {
        let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
        setup.always_revalidate();
        setup
    };
    let proxy = setup().start().await;
    for verdict in ["miss", "revalidated"] {
        assert_eq!(proxy.get("/pypi/demo/json", &[]).await.headers()["x-cache"], verdict);
    }
    assert_eq!(index.last()["if-none-match"], "\"1\"");
    proxy.stop().await;
    // After a restart, the copy on disk is revalidated, and served if that fails.
    let proxy = setup().start().await;
    assert_eq!(proxy.get("/pypi/demo/json", &[]).await.headers()["x-cache"], "revalidated");
    status.store(500, Ordering::Relaxed);
    let response = proxy.get("/pypi/demo/json", &[]).await;
    assert_eq!(response.headers()["x-cache"], "stale");
    assert_eq!(value(response).await, document(None));
    assert_eq!(proxy.get("/pypi/demo/1.0/json", &[]).await.status(), 502);
    proxy.stop().await;
    // Offline, the copy on disk is all there is.
    let mut offline = setup();
    offline.upstreams.iter_mut().for_each(|upstream| upstream.offline = true);
    let proxy = offline.start().await;
    let requests = index.count();
    assert_eq!(value(proxy.get("/pypi/demo/json", &[]).await).await, document(None));
    assert_eq!(proxy.get("/pypi/demo/1.0/json", &[]).await.status(), 504);
    assert_eq!(index.count(), requests);
    proxy.stop().await;
    // A document that is deleted is no longer served.
    status.store(404, Ordering::Relaxed);
    let proxy = setup().start().await;
    assert_eq!(proxy.get("/pypi/demo/json", &[]).await.status(), 404);
    assert!(
        !files_below(&dir.path().join("cache/pages")).iter().any(|path| path.to_str().unwrap().contains('@'))
    );
}

#[tokio::test]
async fn unusable_responses_of_the_index_are_errors() {
    let index = index();
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.upstreams[0].max_page = 100_000;
    });
    for (project, status) in [("none", 404), ("html", 502), ("cut", 502), ("deep", 502), ("large", 502)] {
        let response = proxy.get(&format!("/pypi/{project}/json"), &[]).await;
        assert_eq!(response.status(), status, "{project}");
        assert!(!response.text().await.unwrap().contains("secret"));
    }
    // A missing project is remembered.
    assert_eq!(proxy.get("/pypi/none/json", &[]).await.headers()["x-cache"], "negative");
    assert_eq!(index.count_of("/pypi/none/json"), 1);
    // A damaged copy on disk is fetched again.
    let dir = tempfile::tempdir().unwrap();
    let setup = || Setup::new(dir.path(), &[index.url("/simple")]);
    let proxy = setup().start().await;
    assert_eq!(value(proxy.get("/pypi/demo/json", &[]).await).await, document(None));
    proxy.stop().await;
    let pages = files_below(&dir.path().join("cache/pages"));
    let copy = pages.iter().find(|path| path.to_str().unwrap().contains("demo@")).unwrap();
    let bytes = std::fs::read(copy).unwrap();
    for damaged in [&bytes[..bytes.len() - 5], b"x", b"", &[&bytes[..20], &[0xff; 20][..]].concat()] {
        std::fs::write(copy, damaged).unwrap();
        let requests = index.count();
        let proxy = setup().start().await;
        assert_eq!(value(proxy.get("/pypi/demo/json", &[]).await).await, document(None));
        assert_eq!(index.count(), requests + 1);
        proxy.stop().await;
    }
}

#[tokio::test]
async fn only_indexes_with_a_json_api_are_requested() {
    let index = index();
    let proxy = start(&[index.url("/other")]);
    assert_eq!(proxy.get("/pypi/demo/json", &[]).await.status(), 404);
    assert_eq!(index.count(), 0);
    // The URL can be set, and disabled.
    for (url, status) in [(Some(index.url("/pypi")), 200), (None, 404)] {
        let proxy = start_with(&[index.url("/other")], |setup| {
            setup.upstreams[0].json_api = url.map(|url| url.parse().unwrap());
        });
        assert_eq!(proxy.get("/pypi/demo/json", &[]).await.status(), status);
    }
    // Credentials are for the origin of the index only.
    let other = self::index();
    for json_api in [&index, &other] {
        let url = index.url("/simple").replace("http://", "http://reader:hunter2@");
        let proxy = start_with(&[url], |setup| {
            setup.upstreams[0].json_api = Some(json_api.url("/pypi/").parse().unwrap());
        });
        assert_eq!(proxy.get("/pypi/demo/json", &[]).await.status(), 200);
        let is_own = json_api.address() == index.address();
        assert_eq!(json_api.last().contains_key("authorization"), is_own);
    }
}

#[tokio::test]
async fn the_first_index_that_has_the_document_wins() {
    let empty = Server::start(|_| respond(404, &[], ""));
    let index = index();
    let proxy = start(&[empty.url("/simple"), index.url("/simple")]);
    assert_eq!(value(proxy.get("/pypi/demo/json", &[]).await).await, document(None));
    // A project of a private index is not looked up elsewhere while it fails.
    let rules = Rules { only_from: vec![(ProjectPattern::parse("acme-*").unwrap(), 0)], ..Rules::default() };
    let failing = Server::start(|_| respond(500, &[], ""));
    for indexes in [[&empty, &index], [&failing, &index]] {
        let urls = indexes.map(|index| index.url("/simple"));
        let proxy = start_with(&urls, |setup| setup.pages.rules = rules.clone());
        let expected = if std::ptr::eq(indexes[0], &raw const failing) { 502 } else { 404 };
        assert_eq!(proxy.get("/pypi/acme-x/json", &[]).await.status(), expected);
        assert!(!index.paths().iter().any(|path| path.contains("acme")));
    }
    let proxy = start(&[failing.url("/simple"), index.url("/simple")]);
    assert_eq!(proxy.get("/pypi/demo/json", &[]).await.status(), 502);
}

#[tokio::test]
async fn rules_apply_to_documents() {
    let index = index();
    let deny = Rules { deny: vec![ProjectPattern::parse("demo").unwrap().into()], ..Rules::default() };
    let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = deny);
    for path in ["/pypi/demo/json", "/pypi/demo/1.0/json"] {
        let response = proxy.get(path, &[]).await;
        assert_eq!(response.status(), 403);
        assert!(response.text().await.unwrap().contains("denies"));
    }
    assert_eq!(index.count(), 0);
    // Files that the page does not list are removed, and with them their version.
    let old = Rules { min_age: Duration::from_secs(86_400), ..Rules::default() };
    let hide = Rules { yanked: Yanked::Hide, ..Rules::default() };
    for rules in [old, hide] {
        let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = rules);
        let mut expected = document(None);
        expected["releases"].as_object_mut().unwrap().remove("2.0");
        expected["urls"] = json!([]);
        let first = proxy.get("/pypi/demo/json", &[]).await;
        let tag = first.headers()["etag"].clone();
        assert_eq!(value(first).await, expected);
        let again = proxy.get("/pypi/demo/json", &[]).await;
        assert_eq!((&again.headers()["etag"], &again.headers()["x-cache"]), (&tag, &"hit".parse().unwrap()));
        assert_eq!(value(again).await, expected);
        // All files of this version are listed.
        assert_eq!(value(proxy.get("/pypi/demo/1.0/json", &[]).await).await, document(Some("1.0")));
        assert_eq!(proxy.get("/pypi/html/json", &[]).await.status(), 404);
    }
}

/// Index with a page without upload times. The times in its JSON API are those of its files, except for the third one. The
/// API responds with this status.
fn index_without_times(is_json: bool, status: Arc<AtomicU16>) -> Server {
    let names = [OLD, NEW, "demo-3.0.tar.gz"];
    let mut files = names.map(|name| listed(name, &content(1000)));
    let link = |file: &Value| {
        let sha256 = file["hashes"]["sha256"].as_str().unwrap();
        format!("<a href='{}#sha256={sha256}'>x</a>", file["url"].as_str().unwrap())
    };
    let html = files.iter().map(link).collect::<String>();
    let (kind, page) = if is_json { (JSON, page_of(&files)) } else { (HTML, html) };
    files[2]["hashes"]["sha256"] = digest_of(b"another file").to_string().into();
    let time =
        ["2024-01-10T00:00:00.5Z".to_owned(), Timestamp::now().to_string(), "2024-01-10T00:00:00Z".into()];
    let upload = |(file, time): (&Value, String)| json!({"filename": file["filename"], "digests": file["hashes"], "size": 1000, "upload_time_iso_8601": time});
    let uploads: Vec<_> = files.iter().zip(time).map(upload).collect();
    let api =
        json!({"info": {}, "releases": {"1.0": [uploads[0]], "3.0": [uploads[2]]}, "urls": [uploads[1]]})
            .to_string();
    Server::start(move |request| match &*request.path {
        "/simple/demo/" if request.header("if-none-match").is_empty() => {
            respond(200, &[kind, ("etag", "\"1\"")], page.clone())
        }
        "/simple/demo/" => respond(304, &[], ""),
        "/pypi/demo/json" => match status.load(Ordering::Relaxed) {
            200 => respond(200, &[APPLICATION], api.clone()),
            status => respond(status, &[], ""),
        },
        _ => respond(404, &[], ""),
    })
}

async fn times(proxy: &RunningProxy) -> Vec<bool> {
    let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
    page["files"].as_array().unwrap().iter().map(|file| file.get("upload-time").is_some()).collect()
}

#[tokio::test]
async fn pages_without_upload_times_get_those_of_the_api() {
    for is_json in [true, false] {
        let index = index_without_times(is_json, Arc::new(AtomicU16::new(200)));
        let dir = tempfile::tempdir().unwrap();
        let setup = |upload_times| {
            let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
            setup.always_revalidate();
            setup.pages.upload_times = upload_times;
            setup
        };
        let proxy = setup(false).start().await;
        assert_eq!(times(&proxy).await, [false; 3]);
        assert_eq!(index.count_of("/pypi/demo/json"), 0);
        proxy.stop().await;
        // The index confirms the page on disk.
        let proxy = setup(true).start().await;
        assert_eq!(times(&proxy).await, [true, true, false], "{is_json}");
        let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
        assert_eq!(page["files"][0]["upload-time"], "2024-01-10T00:00:00.500000Z");
        assert_eq!(page["files"][0]["size"], 1000);
        proxy.stop().await;
        // They are stored.
        let requests = index.count_of("/pypi/demo/json");
        let mut fresh = setup(true);
        fresh.ttl(Duration::from_secs(3600));
        let proxy = fresh.start().await;
        assert_eq!(times(&proxy).await, [true, true, false]);
        assert!(index.count_of("/pypi/demo/json") <= requests + 1);
        proxy.stop().await;
        // Rules use them, also for the first request of a page.
        let proxy = start_with(&[index.url("/simple")], |setup| {
            setup.pages.upload_times = true;
            setup.pages.rules = Rules { min_age: Duration::from_secs(86_400), ..Rules::default() };
        });
        let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
        assert_eq!(filenames(&page), [OLD], "{is_json}");
    }
}

#[tokio::test]
async fn pages_are_served_without_upload_times_while_the_api_fails() {
    for failure in [404, 500] {
        let status = Arc::new(AtomicU16::new(failure));
        let index = index_without_times(false, status.clone());
        let proxy = start_with(&[index.url("/simple")], |setup| {
            setup.always_revalidate();
            setup.pages.upload_times = true;
        });
        assert_eq!(times(&proxy).await, [false; 3]);
        status.store(200, Ordering::Relaxed);
        assert_eq!(times(&proxy).await, [true, true, false], "{failure}");
    }
}

#[tokio::test]
async fn documents_are_purged_with_their_project() {
    let index = index();
    let proxy = start(&[index.url("/simple")]);
    let documents = || {
        let pages = files_below(&proxy.dir().join("cache/pages"));
        pages.iter().filter(|path| path.to_str().unwrap().contains('@')).count()
    };
    for (purged, left) in [("/cache/other", 2), ("/cache/demo", 0), ("/cache", 0)] {
        for path in ["/pypi/demo/json", "/pypi/demo/1.0/json"] {
            assert_eq!(proxy.get(path, &[]).await.status(), 200);
        }
        assert_eq!(documents(), 2);
        assert_eq!(proxy.send(Method::DELETE, purged, &PURGE).await.status(), 200);
        assert_eq!(documents(), left, "{purged}");
    }
    // The first purge kept them, the second did not.
    assert_eq!(index.count_of("/pypi/demo/json"), 2);
    assert_eq!(proxy.metrics().await["pypi_proxy_page_bytes"].to_bits(), 0);
}

#[tokio::test]
async fn documents_count_toward_the_memory_limit() {
    let index = Server::start(|request| match request.path.starts_with("/pypi/") {
        true => {
            respond(200, &[APPLICATION], json!({"path": request.path, "x": "x".repeat(5000)}).to_string())
        }
        false => respond(200, &[JSON], page("demo", &[])),
    });
    let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.max_bytes = 100_000);
    proxy.get("/simple/demo/", &[]).await;
    for number in 0..50 {
        assert_eq!(proxy.get(&format!("/pypi/demo/{number}/json"), &[]).await.status(), 200);
    }
    let samples = proxy.metrics().await;
    assert!(
        samples["pypi_proxy_page_bytes"] <= 100_000.0 && samples["pypi_proxy_pages"] < 20.0,
        "{samples:#?}"
    );
    // Pages outlive documents, and evicted documents are read from disk.
    assert_eq!(proxy.get("/simple/demo/", &[]).await.headers()["x-cache"], "hit");
    assert_eq!(proxy.get("/pypi/demo/0/json", &[]).await.headers()["x-cache"], "hit");
    assert_eq!(index.count(), 51);
}

#[tokio::test]
async fn other_parts_of_the_api_are_not_served() {
    let index = index();
    let proxy = start(&[index.url("/simple")]);
    for (method, path, status) in [
        (Method::GET, "/search?q=demo", 404),
        (Method::POST, "/search", 405),
        (Method::POST, "/pypi", 405),
        (Method::GET, "/pypi/demo", 404),
        (Method::GET, "/pypi/demo/1.0", 404),
        (Method::GET, "/pypi/demo/1.0/x/json", 404),
        (Method::POST, "/pypi/demo/json", 405),
        (Method::DELETE, "/pypi/demo/json", 405),
    ] {
        assert_eq!(proxy.send(method.clone(), path, &[]).await.status(), status, "{method} {path}");
    }
    assert_eq!(index.count(), 0);
}
