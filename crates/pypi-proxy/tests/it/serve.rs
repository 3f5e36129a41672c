//! The proxy over loopback: pages, files and purging, and the number of allocations per cached response.

use std::io::{Read, Write};
use std::sync::Arc;

use pypi_proxy::guard;
use pypi_proxy::guard::Guard;
use test_support::counting;
use tokio::sync::Semaphore;

use crate::support::prelude::*;

/// Index with one project, whose wheel has 200,000 bytes.
fn index() -> (Server, Bytes) {
    let wheel = content(200_000);
    (file_index([("demo-1.0-py3-none-any.whl", wheel.clone())]), wheel)
}

const WHEEL: &str = "/simple/demo/demo-1.0-py3-none-any.whl";

#[tokio::test]
async fn unchanged_pages_get_304() {
    let (index, _) = index();
    let proxy = start(&[index.url("/simple")]);
    let first = proxy.get("/simple/demo/", &[]).await;
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    let modified = first.headers()["last-modified"].to_str().unwrap().to_owned();
    for header in [
        ("if-none-match", &*format!("\"x\", W/{etag}")),
        ("if-none-match", "*"),
        ("if-modified-since", &*modified),
    ] {
        let again = proxy.get("/simple/demo/", &[header]).await;
        assert_eq!(again.status(), 304, "{header:?}");
        assert_eq!(again.headers()["etag"], *etag, "{header:?}");
        assert_eq!(again.bytes().await.unwrap(), "");
    }
    // Another format has another entity tag.
    let json = [("accept", "application/vnd.pypi.simple.v1+json"), ("if-none-match", &*etag)];
    assert_eq!(proxy.get("/simple/demo/", &json).await.status(), 200);
    let head = proxy.send(Method::HEAD, "/simple/demo/", &[]).await;
    assert_eq!(head.headers()["content-length"], *first.bytes().await.unwrap().len().to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_share_one_download() {
    let (index, wheel) = index();
    let proxy = start(&[index.url("/simple")]);
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
}

#[tokio::test]
async fn ranges_of_stored_and_missing_files_are_equal() {
    let (index, wheel) = index();
    let proxy = start(&[index.url("/simple")]);
    let cases = [
        ("bytes=0-99", 206, 0..100),
        ("bytes=-16384", 206, 183_616..200_000),
        ("bytes=199999-", 206, 199_999..200_000),
        ("bytes=-300000", 206, 0..200_000),
        ("bytes=200000-", 416, 0..0),
        ("bytes=1-2,5-6", 200, 0..200_000),
    ];
    for is_stored in [false, true] {
        let head = proxy.send(Method::HEAD, WHEEL, &[]).await;
        assert_eq!(head.headers()["content-length"], "200000");
        assert_eq!(head.headers()["accept-ranges"], "bytes");
        assert!(is_stored || !index.paths().iter().any(|path| path.ends_with(".whl")));
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
    let other = [("range", "bytes=0-9"), ("if-range", "\"other\"")];
    assert_eq!(proxy.get(WHEEL, &other).await.status(), 200);
}

#[tokio::test]
async fn clients_are_not_redirected_to_an_index_with_credentials() {
    let (index, _) = index();
    let secret = index.url("/simple").replace("http://", "http://user:secret@");
    let redirecting = |setup: &mut Setup| setup.serve.redirect_after = Some(Duration::ZERO);
    let proxy = start_with(&[secret], redirecting);
    assert_eq!(proxy.get(WHEEL, &[]).await.status(), 200);
    let health = proxy.get("/health", &[]).await.text().await.unwrap();
    assert!(health.contains("***@") && !health.contains("secret"), "{health}");
}

#[tokio::test]
async fn cached_entries_can_be_purged() {
    let (index, _) = index();
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.serve.admin_token = Some("token".to_owned());
    });
    proxy.get("/simple/", &[]).await;
    proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
    let paths = ["/cache/list", "/cache/Demo", "/cache/demo/demo-1.0-py3-none-any.whl", "/cache"];
    for path in paths {
        for headers in [&[][..], &[("authorization", "Bearer tokem")], &[("authorization", "Basic token")]] {
            assert_eq!(proxy.send(Method::DELETE, path, headers).await.status(), 401);
        }
        let response = proxy.send(Method::DELETE, path, &[("authorization", "bearer token")]).await;
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
async fn a_download_that_began_before_a_purge_is_not_stored() {
    let (name, wheel) = ("demo-1.0-py3-none-any.whl", content(200_000));
    let nameless = page_of(&[json!({"filename": name, "url": format!("/f/{name}"), "hashes": {}})]);
    for listed in [hashed_page([(name, wheel.clone())]), nameless] {
        let (sent, gate) = (wheel.clone(), Arc::new(Semaphore::new(0)));
        let step = Step::Gate(gate.clone());
        let index = Server::start(move |request| match request.path.starts_with("/simple/") {
            true => respond(200, &[JSON], listed.clone()),
            false => [vec![step.clone()], respond(200, &[], sent.clone())].concat(),
        });
        let proxy = start(&[index.url("/simple")]);
        let download = async || proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
        let purge = async {
            until("the file is requested", async || index.count() == 2).await;
            let path = format!("/cache/demo/{name}");
            assert_eq!(proxy.send(Method::DELETE, &path, &PURGE).await.status(), 200);
            gate.add_permits(2);
        };
        assert!(tokio::join!(download(), purge).0 == wheel);
        assert!(
            ["files", "partial", "refs"].iter().all(|part| files_below(&proxy.dir().join(part)).is_empty())
        );
        // The next one is stored.
        assert!(download().await == wheel);
        assert_eq!((proxy.store.stats().files, index.count()), (1, 3));
    }
}

#[tokio::test]
async fn without_an_admin_token_the_cache_cannot_be_purged() {
    let (index, _) = index();
    let proxy = start_with(&[index.url("/simple")], |setup| setup.serve.admin_token = None);
    proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
    for headers in [&[][..], &[("authorization", "Bearer ")]] {
        for path in ["/cache/list", "/cache/demo", "/cache/demo/demo-1.0-py3-none-any.whl", "/cache"] {
            let response = proxy.send(Method::DELETE, path, headers).await;
            assert_eq!(response.status(), 403, "{path}");
            let text = response.text().await.unwrap();
            assert!(text.contains("admin_token") && text.contains("admin_listen"), "{text}");
        }
    }
    assert_eq!(proxy.store.stats().files, 1);
    let refused = proxy.metrics().await[r#"pypi_proxy_http_refused_total{reason="purge"}"#];
    assert_eq!(refused, 8.0);
    let page = proxy.get("/", &[]).await.text().await.unwrap();
    assert!(page.contains("Purging is off") && !page.contains("id=\"purge-all\""), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_escapes_the_cache_or_the_index() {
    let index = Server::start(|received| match &*received.path {
        "/simple/demo/" => respond(200, &[JSON], page("demo", &[("demo-1.0.whl", "/f/x")])),
        _ => respond(200, &[], "secret"),
    });
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("secret"), "secret").unwrap();
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    let ups = ".. %2e%2e %2E. .%2e %252e%252e %25252e%25252e %c0%ae%c0%ae %e0%80%ae%e0%80%ae \
        %uff0e%uff0e %ef%bc%8e%ef%bc%8e ..%00 ..; ..%3b ... .... .%00. %00..";
    let fronts = [
        "",
        "/simple/",
        "/index/",
        "/simple/demo/",
        "/index/simple/",
        "/cache/",
        "/simple/demo/demo-1.0.whl",
    ];
    let slashes = ["/", "%2f", "%2F", "%5c", "\\", "%255c", "%252f", "%c0%af", "%e2%88%95", "//", "/./"];
    let mut paths: Vec<String> = Vec::new();
    for up in ups.split(' ') {
        for slash in slashes {
            let out = [up, up, up].join(slash);
            for front in fronts {
                paths.push(format!("{front}{slash}{out}{slash}secret"));
                paths.push(format!("{front}{out}"));
            }
        }
    }
    let others = "/secret http://x/../secret * /% /%2 /%zz /simple/%ff/ /simple/\u{ff0e}\u{ff0e}/";
    paths.extend(others.split(' ').map(str::to_owned));
    for path in &paths {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let response = exchange(proxy.address(), &[request.as_bytes()]);
        let response = String::from_utf8_lossy(&response);
        let status = response.split(' ').nth(1).unwrap_or("none");
        // Paths like `/simple/...` become the status page or a folder after slashes are merged.
        assert!(matches!(status, "400" | "404" | "405" | "301" | "308"), "{path}: {response}");
        assert!(!response.contains("secret"), "{path}: {response}");
    }
    let requests = index.requests();
    assert!(requests.iter().all(|received| received.path == "/simple/demo/"), "{requests:?}");
    assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
}

const PAGE: &str = "GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nUser-Agent: pip/26.2\r\nAccept-Encoding: gzip, deflate\r\n\
    Accept: application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01\r\n\r\n";
const KNOWN: &str = "GET /simple/demo/ HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nIf-Modified-Since: Sun, 06 Nov 2044 08:49:37 GMT\r\n\r\n";
const FILE: &str = "GET /simple/demo/demo-1.0.whl HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
const LOCKED: &str = "GET /f/demo-1.0.whl HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n";
const HEALTH: &str = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_cached_response_takes_at_most_four_allocations() {
    check(None, &[(HEALTH, 4), (PAGE, 4), (KNOWN, 4), (FILE, 4), (LOCKED, 4)]);
}

/// Decoding a user name and password takes allocations.
#[test]
fn an_authenticated_cached_response_takes_few_more_allocations() {
    let dir = tempfile::tempdir().unwrap();
    let (tokens, users) = (dir.path().join("tokens"), dir.path().join("users"));
    std::fs::write(&tokens, "0123456789abcdef").unwrap();
    std::fs::write(&users, "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW").unwrap();
    let config = guard::Config {
        tokens_file: Some(tokens),
        htpasswd_file: Some(users),
        rate_limit: Some((1_000_000, 1_000_000)),
        ..guard::Config::default()
    };
    let with = |value: &str| FILE.replace("Accept", &format!("Authorization: {value}\r\nAccept"));
    let (token, password) = (with("Bearer 0123456789abcdef"), with("Basic YW5uOnNlY3JldA=="));
    check(Some(Guard::new(config).unwrap()), &[(&token, 4), (&password, 5)]);
}

/// Checks the number of allocations per request. Runs the server on the thread of the test, whose allocations are
/// counted, and the client on another thread.
fn check(guard: Option<Guard>, requests: &[(&str, usize)]) {
    const TIMES: usize = 200;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let entered = runtime.enter();
    let index = file_index([("demo-1.0.whl", content(50_000))]);
    let proxy = start_with(&[index.url("/simple")], |setup| setup.serve.guard = guard.map(Arc::new));
    drop(entered);
    for (request, most) in requests {
        let request = (*request).to_owned();
        let sent = request.clone();
        let address = proxy.address();
        let (warm, is_warm) = tokio::sync::oneshot::channel();
        let client = runtime.spawn_blocking(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            let mut buffer = vec![0; 256 * 1024];
            let mut send = || {
                stream.write_all(sent.as_bytes()).unwrap();
                let mut len = 0;
                while !is_whole(&buffer[..len]) {
                    len += stream.read(&mut buffer[len..]).unwrap();
                }
            };
            for _ in 0..50 {
                send();
            }
            warm.send(()).unwrap();
            for _ in 0..TIMES {
                send();
            }
        });
        runtime.block_on(is_warm).unwrap();
        let (count, ()) = counting::allocations(|| runtime.block_on(client).unwrap());
        // Allows for occasional allocations that do not belong to a request.
        assert!(count <= most * TIMES + 50, "{count} allocations for {TIMES} of {request}");
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
    let text = std::str::from_utf8(&bytes[..head]).unwrap();
    let field = |name| text.lines().find_map(|line| line.strip_prefix(name));
    let len: usize = field("content-length: ").map_or(0, |len| len.parse().unwrap());
    let status: u16 = text[9..12].parse().unwrap();
    assert!(matches!(status, 200 | 304));
    bytes.len() >= head + 4 + if status == 304 { 0 } else { len }
}
