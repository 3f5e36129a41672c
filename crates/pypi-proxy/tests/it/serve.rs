//! The proxy over loopback: pages, files and purging.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support;
use crate::support::proxy::{Setup, start, start_with};
use crate::support::raw::{Raw, reply};
use crate::support::source::{content, digest_of};
use crate::support::{Body, JSON, Server, ranged, respond};

/// Index with one project, whose wheel has 200,000 bytes.
async fn index() -> (Server, Bytes) {
    let wheel = content(200_000);
    let own = wheel.clone();
    let server = Server::start(move |path, headers| {
        let wheel = own.clone();
        async move {
            match &*path {
                "/simple/" => {
                    respond(200, &[JSON], r#"{"meta":{"api-version":"1.0"},"projects":[{"name":"Demo"}]}"#)
                }
                "/simple/demo/" => respond(200, &[JSON], page(&wheel)),
                "/f/demo-1.0-py3-none-any.whl" | "/f/unhashed-1.0.whl" | "/f/slow-1.0.whl" => {
                    ranged(&headers, &wheel, &[("etag", "\"w\"")])
                }
                "/f/demo-1.0-py3-none-any.whl.metadata" => respond(200, &[], "Name: demo"),
                "/f/bad-1.0.whl" => respond(200, &[], vec![0; 200_000]),
                "/f/broken-1.0.whl" => broken(&wheel),
                _ => respond(404, &[], "nothing"),
            }
        }
    })
    .await;
    (server, wheel)
}

fn page(wheel: &[u8]) -> String {
    let sha256 = digest_of(wheel).to_string();
    let metadata = digest_of(b"Name: demo").to_string();
    let file = |name: &str, hashes: serde_json::Value| {
        serde_json::json!({
            "filename": name, "url": format!("../../f/{name}"), "hashes": hashes, "size": wheel.len(),
            "core-metadata": {"sha256": metadata}, "upload-time": "2024-01-01T00:00:00Z",
        })
    };
    let hashes = serde_json::json!({"sha256": sha256});
    serde_json::json!({
        "meta": {"api-version": "1.1", "_last-serial": 7}, "name": "demo", "versions": ["1.0"],
        "files": [file("demo-1.0-py3-none-any.whl", hashes.clone()), file("bad-1.0.whl", hashes.clone()),
            file("broken-1.0.whl", serde_json::json!({"sha256": "1".repeat(64)})), file("unhashed-1.0.whl", serde_json::json!({})),
            file("missing-1.0.whl", hashes)],
    })
    .to_string()
}

/// A response that always breaks half-way.
fn broken(wheel: &Bytes) -> http::Response<Body> {
    let frames = [Ok(Frame::data(wheel.slice(..100_000))), Err(std::io::Error::other("reset"))];
    let body = StreamBody::new(futures_util::stream::iter(frames)).boxed();
    http::Response::builder().header("content-length", wheel.len()).body(body).unwrap()
}

const WHEEL: &str = "/simple/demo/demo-1.0-py3-none-any.whl";

#[tokio::test]
async fn pages_are_served_in_the_requested_format_and_coding() {
    let (index, _) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    let pip =
        "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
    for path in ["/simple/demo/", "/index/demo/", "//simple//demo/", "/index/simple/demo/"] {
        let response = proxy.get(path, &[("accept", pip)]).await;
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "application/vnd.pypi.simple.v1+json");
        assert_eq!(response.headers()["vary"], "Accept, Accept-Encoding");
        assert_eq!(response.headers()["x-pypi-last-serial"], "7");
        let page: serde_json::Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        assert_eq!(page["files"][0]["url"], "demo-1.0-py3-none-any.whl");
        assert_eq!(page["files"][0]["upload-time"], "2024-01-01T00:00:00Z");
    }
    let zipped = proxy.get("/simple/demo/", &[("accept", pip), ("accept-encoding", "gzip, deflate")]).await;
    assert_eq!(zipped.headers()["content-encoding"], "gzip");
    let html = proxy.get("/simple/demo/", &[]).await;
    assert_eq!(html.headers()["content-type"], "text/html; charset=utf-8");
    assert!(html.text().await.unwrap().contains("#sha256="));
    let list = proxy.get("/simple/", &[("accept", pip)]).await.text().await.unwrap();
    assert!(list.contains(r#""name":"Demo""#));
    let forced =
        proxy.get("/simple/?format=application/vnd.pypi.simple.v1%2Bjson", &[("accept", "image/png")]).await;
    assert_eq!(forced.status(), 200);
    assert_eq!(proxy.get("/simple/", &[("accept", "image/png")]).await.status(), 406);
    assert_eq!(proxy.get("/simple/nothing/", &[]).await.status(), 404);
    assert_eq!(index.paths().iter().filter(|path| *path == "/simple/demo/").count(), 1);
}

#[tokio::test]
async fn unchanged_pages_get_304() {
    let (index, _) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    let first = proxy.get("/simple/demo/", &[]).await;
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    let modified = first.headers()["last-modified"].to_str().unwrap().to_owned();
    for header in [
        ("if-none-match", &*format!("\"x\", W/{etag}")),
        ("if-none-match", "*"),
        ("if-modified-since", &*modified),
    ] {
        let again = proxy.get("/simple/demo/", &[header]).await;
        assert_eq!(
            (again.status().as_u16(), again.headers()["etag"].to_str().unwrap()),
            (304, &*etag),
            "{header:?}"
        );
        assert_eq!(again.bytes().await.unwrap(), "");
    }
    // Another format has another entity tag.
    let json = [("accept", "application/vnd.pypi.simple.v1+json"), ("if-none-match", &*etag)];
    assert_eq!(proxy.get("/simple/demo/", &json).await.status(), 200);
    let head = proxy.send(Method::HEAD, "/simple/demo/", &[]).await;
    assert_eq!(
        head.headers()["content-length"].to_str().unwrap(),
        first.bytes().await.unwrap().len().to_string()
    );
}

#[tokio::test]
async fn paths_redirect_to_their_canonical_form() {
    let (index, _) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    for (path, status, to) in [
        ("/simple", 301, "simple/"),
        ("/simple/demo", 301, "demo/"),
        ("/index/demo?x=1", 308, "demo/?x=1"),
        ("/simple/De_Mo/", 301, "../de-mo/"),
    ] {
        let response = proxy.get(path, &[]).await;
        assert_eq!(
            (response.status().as_u16(), response.headers()["location"].to_str().unwrap()),
            (status, to),
            "{path}"
        );
    }
    for path in
        ["/x", "/simple/demo/../demo/", "/simple/%2e%2e/", "/simple/demo/.tmp-1", "/cache/demo", "/cache"]
    {
        let response = proxy.get(path, &[]).await;
        assert!(matches!(response.status().as_u16(), 404 | 200), "{path}");
    }
    assert_eq!(proxy.get("/simple/demo/%2e%2e%2fx", &[]).await.status(), 404);
    for (method, path, allowed) in
        [(Method::POST, "/simple/", "GET, HEAD"), (Method::GET, "/cache/list", "DELETE")]
    {
        let response = proxy.send(method, path, &[]).await;
        assert_eq!(
            (response.status().as_u16(), response.headers()["allow"].to_str().unwrap()),
            (405, allowed)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_share_one_download() {
    let (index, wheel) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    let answers = join_all((0..50).map(|_| async {
        let response = proxy.get(WHEEL, &[("accept-encoding", "gzip")]).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-length"], "200000");
        assert_eq!(response.headers()["content-type"], "application/zip");
        assert!(response.headers().get("content-encoding").is_none());
        response.bytes().await.unwrap()
    }))
    .await;
    assert!(answers.iter().all(|bytes| bytes == &wheel));
    let hit = proxy.get(WHEEL, &[]).await;
    assert_eq!(hit.headers()["x-cache"], "hit");
    let etag = hit.headers()["etag"].clone();
    assert_eq!(hit.bytes().await.unwrap(), wheel);
    assert_eq!(proxy.get(WHEEL, &[("if-none-match", etag.to_str().unwrap())]).await.status(), 304);
    assert_eq!(index.paths().iter().filter(|path| path.ends_with(".whl")).count(), 1);
    let metadata = proxy.get(&format!("{WHEEL}.metadata"), &[]).await;
    assert_eq!(metadata.text().await.unwrap(), "Name: demo");
}

#[tokio::test]
async fn ranges_of_stored_and_missing_files_are_equal() {
    let (index, wheel) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    let cases = [
        ("bytes=0-99", 206, 0..100),
        ("bytes=-16384", 206, 183_616..200_000),
        ("bytes=199999-", 206, 199_999..200_000),
        ("bytes=-300000", 206, 0..200_000),
        ("bytes=200000-", 416, 0..0),
        ("bytes=1-2,5-6", 200, 0..200_000),
    ];
    for is_stored in [false, true] {
        for (range, status, part) in cases.clone() {
            let response = proxy.get(WHEEL, &[("range", range)]).await;
            assert_eq!(response.status().as_u16(), status, "{range} {is_stored}");
            if status == 206 {
                let place = format!("bytes {}-{}/200000", part.start, part.end - 1);
                assert_eq!(response.headers()["content-range"], *place);
            }
            if status != 416 {
                assert_eq!(response.headers()["content-length"], *part.len().to_string());
                assert_eq!(response.bytes().await.unwrap(), wheel.slice(part), "{range} {is_stored}");
            }
        }
        if !is_stored {
            assert!(proxy.store.stats().files == 0);
            proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
        }
    }
    let head = proxy.send(Method::HEAD, WHEEL, &[]).await;
    assert_eq!((head.status().as_u16(), head.headers()["content-length"].to_str().unwrap()), (200, "200000"));
    let other = [("range", "bytes=0-9"), ("if-range", "\"other\"")];
    assert_eq!(proxy.get(WHEEL, &other).await.status(), 200);
}

#[tokio::test]
async fn head_requests_for_missing_files_download_nothing() {
    let (index, _) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    let head = proxy.send(Method::HEAD, WHEEL, &[]).await;
    assert_eq!(
        (
            head.headers()["content-length"].to_str().unwrap(),
            head.headers()["accept-ranges"].to_str().unwrap()
        ),
        ("200000", "bytes")
    );
    assert!(!index.paths().iter().any(|path| path.ends_with(".whl")));
}

#[tokio::test]
async fn corrupt_files_never_succeed() {
    let (index, _) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    for name in ["bad-1.0.whl", "broken-1.0.whl"] {
        for _ in 0..2 {
            let response = proxy.client.get(proxy.url(&format!("/simple/demo/{name}"))).send().await;
            // Depending on when the connection breaks, there may be no response at all.
            let Ok(response) = response else { continue };
            assert!(response.status() == 502 || response.bytes().await.is_err(), "{name}");
        }
    }
    assert_eq!(proxy.get("/simple/demo/missing-1.0.whl", &[]).await.status(), 404);
    assert_eq!(proxy.get("/simple/demo/unknown-1.0.whl", &[]).await.status(), 404);
    assert_eq!(proxy.store.stats().files, 0);
    assert!(proxy.store.stats().corrupt >= 2);
}

#[tokio::test]
async fn files_without_a_hash_are_stored_by_reference() {
    let (index, wheel) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    for verdict in ["miss", "hit"] {
        let response = proxy.get("/simple/demo/unhashed-1.0.whl", &[]).await;
        assert_eq!(response.headers()["x-cache"], verdict);
        assert_eq!(response.bytes().await.unwrap(), wheel);
    }
    assert_eq!(index.paths().iter().filter(|path| path.ends_with(".whl")).count(), 1);
}

#[tokio::test]
async fn clients_can_be_redirected_to_the_upstream() {
    let (index, wheel) = index().await;
    let redirecting = |setup: &mut Setup| setup.serve.redirect_after = Some(Duration::ZERO);
    let proxy = start_with(&[index.url("/simple")], redirecting).await;
    let response = proxy.get(WHEEL, &[]).await;
    assert_eq!(response.status(), 302);
    assert_eq!(response.headers()["location"], index.url("/f/demo-1.0-py3-none-any.whl"));
    while proxy.store.stats().files == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(proxy.get(WHEEL, &[]).await.bytes().await.unwrap(), wheel);
    // Never to an index with credentials.
    let secret = index.url("/simple").replace("http://", "http://user:secret@");
    let proxy = start_with(&[secret], redirecting).await;
    assert_eq!(proxy.get(WHEEL, &[]).await.status(), 200);
    let health = proxy.get("/health", &[]).await.text().await.unwrap();
    assert!(health.contains("***@") && !health.contains("secret"), "{health}");
}

#[tokio::test]
async fn cached_entries_can_be_purged() {
    let (index, _) = index().await;
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.serve.admin_token = Some("token".to_owned());
    })
    .await;
    proxy.get("/simple/", &[]).await;
    proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
    let paths = ["/cache/list", "/cache/Demo", "/cache/demo/demo-1.0-py3-none-any.whl", "/cache"];
    for path in paths {
        for headers in [&[][..], &[("authorization", "Bearer tokem")], &[("authorization", "Basic token")]] {
            assert_eq!(proxy.send(Method::DELETE, path, headers).await.status(), 401);
        }
        let response = proxy.send(Method::DELETE, path, &[("authorization", "Bearer token")]).await;
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.text().await.unwrap(), r#"{"data":null,"status":"success"}"#);
    }
    assert_eq!(proxy.store.stats().files, 0);
    let count = index.count();
    proxy.get("/simple/", &[]).await;
    proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
    assert_eq!(index.count(), count + 3);
}

#[tokio::test]
async fn an_unreachable_index_gives_a_clear_error() {
    let (index, _) = index().await;
    index.stop().await;
    let proxy = start(&[index.url("/simple")]).await;
    let response = proxy.get("/simple/demo/", &[]).await;
    assert_eq!(response.status(), 502);
    assert!(!response.text().await.unwrap().contains("127.0.0.1"));
    assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
}

#[tokio::test]
async fn shutdown_waits_for_responses() {
    let slow = Server::start(|path, _| async move {
        if path.ends_with('/') {
            return respond(
                200,
                &[JSON],
                support::page("demo", &[("slow-1.0.whl", "/f/slow-1.0.whl")])
                    .replace("\"size\":1", "\"size\":5"),
            );
        }
        let chunks = futures_util::stream::unfold(0, |count| async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            (count < 5).then(|| (Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"x"))), count + 1))
        });
        http::Response::new(StreamBody::new(chunks).boxed())
    })
    .await;
    let proxy = start(&[slow.url("/simple")]).await;
    let address = proxy.address();
    let response = proxy.get("/simple/demo/slow-1.0.whl", &[]).await;
    let (body, ()) = tokio::join!(response.bytes(), proxy.stop());
    assert_eq!(body.unwrap(), "xxxxx");
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn sequential_requests_share_a_connection() {
    let (index, _) = index().await;
    let proxy = start(&[index.url("/simple")]).await;
    let mut stream = tokio::net::TcpStream::connect(proxy.address()).await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\nHEAD /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(text.matches("\r\n\r\nok\n").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_escapes_the_cache_or_the_index() {
    let index = Raw::start(|received| match &*received.path {
        "/simple/demo/" => reply("200 OK", &[JSON], support::page("demo", &[("demo-1.0.whl", "/f/x")])),
        _ => reply("200 OK", &[], "secret"),
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("secret"), "secret").unwrap();
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    let ups = [
        "..",
        "%2e%2e",
        "%2E.",
        ".%2e",
        "%252e%252e",
        "%25252e%25252e",
        "%c0%ae%c0%ae",
        "%e0%80%ae%e0%80%ae",
        "%uff0e%uff0e",
        "%ef%bc%8e%ef%bc%8e",
        "..%00",
        "..;",
        "..%3b",
        "...",
        "....",
        ".%00.",
        "%00..",
    ];
    let slashes = ["/", "%2f", "%2F", "%5c", "\\", "%255c", "%252f", "%c0%af", "%e2%88%95", "//", "/./"];
    let mut paths: Vec<String> = Vec::new();
    for up in ups {
        for slash in slashes {
            let out = [up, up, up].join(slash);
            for front in [
                "",
                "/simple/",
                "/index/",
                "/simple/demo/",
                "/index/simple/",
                "/cache/",
                "/simple/demo/demo-1.0.whl",
            ] {
                paths.push(format!("{front}{slash}{out}{slash}secret"));
                paths.push(format!("{front}{out}"));
            }
        }
    }
    paths.extend(
        [
            "/secret",
            "http://x/../secret",
            "*",
            "/%",
            "/%2",
            "/%zz",
            "/simple/%ff/",
            "/simple/\u{ff0e}\u{ff0e}/",
        ]
        .map(str::to_owned),
    );
    let mut stream = tokio::net::TcpStream::connect(proxy.address()).await.unwrap();
    for path in &paths {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        stream.read_to_end(&mut response).await.unwrap();
        let response = String::from_utf8_lossy(&response);
        let status = response.split(' ').nth(1).unwrap_or("none");
        // Paths like `/simple/...` become the status page or a folder after slashes are merged.
        assert!(matches!(status, "400" | "404" | "405" | "301" | "308"), "{path}: {response}");
        assert!(!response.contains("secret"), "{path}: {response}");
        stream = tokio::net::TcpStream::connect(proxy.address()).await.unwrap();
    }
    assert!(
        index.requests().iter().all(|received| received.path == "/simple/demo/"),
        "{:?}",
        index.requests()
    );
    assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
}
