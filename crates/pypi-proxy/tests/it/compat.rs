//! Compatibility with groxpi and proxpi: one request per row, to a program configured with their environment
//! variables. Comments explain the rows in which it differs.
#![cfg(feature = "cli")]

use crate::support::prelude::*;
use crate::support::program::{Served, serve};
use crate::support::proxy::client;

const PREFIXES: [&str; 2] = ["GROXPI", "PROXPI"];
/// groxpi and proxpi have no token: every client can purge their caches.
const TOKEN: &str = "a-token-of-the-test";
const V1: &str = "application/vnd.pypi.simple.v1+json";

/// Index with a project of two files, and a project that requires a login.
fn index() -> Server {
    Server::start(|received| {
        let path = received.path.strip_prefix("/private").unwrap_or(&received.path);
        match path {
            "/simple/" => respond(
                200,
                &[JSON],
                r#"{"meta":{"api-version":"1.0"},"projects":[{"name":"Demo"},{"name":"other"}]}"#,
            ),
            "/simple/demo/" => {
                let mut page: Value = tightwire_json::from_str(&hashed_page(files())).unwrap();
                page["files"][0]["yanked"] = "broken <b>".into();
                page["files"][0]["requires-python"] = ">=3.8,<4".into();
                page["files"][0]["upload-time"] = "2025-11-30T12:00:00.123456Z".into();
                page["files"][0]["core-metadata"] = json!({"sha256": digest_of(b"Name: demo").to_string()});
                page["files"][0]["provenance"] = "https://files.example.org/p".into();
                page["x-of-the-index"] = 7.into();
                page["meta"]["_last-serial"] = 7.into();
                respond(200, &[JSON, ("etag", "\"v1\"")], page.to_string())
            }
            "/f/demo-1.0-py3-none-any.whl.metadata" => respond(200, &[], "Name: demo"),
            "/simple/broken/" => respond(500, &[], "secret"),
            path => {
                let file = files().into_iter().find(|(name, _)| path.strip_prefix("/f/") == Some(name));
                file.map_or_else(|| respond(404, &[], ""), |(_, content)| respond(200, &[], content))
            }
        }
    })
}

fn files() -> [(&'static str, Bytes); 2] {
    [("demo-1.0-py3-none-any.whl", content(100_000)), ("demo-1.0.tar.gz", content(50_000))]
}

struct Proxy {
    served: Served,
    dir: tempfile::TempDir,
}

/// Starts the program with the variables of groxpi or proxpi.
async fn start(prefix: &str, index: &str, more: &[(&str, &str)]) -> Proxy {
    let named = |name: &str| format!("{prefix}_{name}");
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("originals").display().to_string();
    let mut env = vec![
        (named("INDEX_URL"), index.to_owned()),
        (named("CACHE_DIR"), folder),
        (named("DOWNLOAD_TIMEOUT"), "60".to_owned()),
        ("PYPI_PROXY_ADMIN_TOKEN".to_owned(), TOKEN.to_owned()),
    ];
    env.extend(more.iter().map(|(name, value)| (named(name), (*value).to_owned())));
    let env: Vec<_> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
    Proxy { served: serve(dir.path(), &env).await, dir }
}

async fn send(proxy: &Proxy, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    crate::support::proxy::send(&client(), method, format!("{}{path}", proxy.served.url), headers).await
}

/// Method, path, status, content type or location, and start of the body.
type Row = (&'static str, &'static str, u16, &'static str, &'static str);

/// Routes of groxpi and proxpi, and routes that neither has.
const ROUTES: &[Row] = &[
    ("GET", "/", 200, "text/html; charset=utf-8", "<!"),
    ("GET", "/simple/", 200, "text/html; charset=utf-8", "<!"),
    ("GET", "/index/", 200, "text/html; charset=utf-8", "<!"),
    ("GET", "/simple/demo/", 200, "text/html; charset=utf-8", "<!"),
    ("GET", "/index/demo/", 200, "text/html; charset=utf-8", "<!"),
    // 301 in groxpi, 308 in proxpi.
    ("GET", "/simple", 301, "simple/", ""),
    ("GET", "/simple/demo", 301, "demo/", ""),
    ("GET", "/index", 308, "index/", ""),
    // groxpi redirects the other way: pip and the standard require the slash.
    ("GET", "/index/demo", 308, "demo/", ""),
    ("GET", "/index/demo?x=1", 308, "demo/?x=1", ""),
    // A name that is not normalized is 404 in groxpi and 500 in proxpi.
    ("GET", "/simple/De_mo/", 301, "../de-mo/", ""),
    ("GET", "/index/Demo/", 308, "../demo/", ""),
    ("GET", "/simple/demo/demo-1.0-py3-none-any.whl", 200, "application/zip", ""),
    ("GET", "/index/demo/demo-1.0-py3-none-any.whl", 200, "application/zip", ""),
    // proxpi sends `application/x-tar+gzip`, which is not common.
    ("GET", "/index/demo/demo-1.0.tar.gz", 200, "application/gzip", ""),
    // 404 in groxpi.
    (
        "GET",
        "/simple/demo/demo-1.0-py3-none-any.whl.metadata",
        200,
        "text/plain; charset=utf-8",
        "Name: demo",
    ),
    ("GET", "/index/demo/demo-1.0-py3-none-any.whl.metadata", 200, "text/plain; charset=utf-8", "Name: demo"),
    ("GET", "/health", 200, "application/json", "{"),
    // Missing in both.
    ("GET", "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "# HELP"),
    ("GET", "/simple/missing/", 404, "text/plain; charset=utf-8", ""),
    ("GET", "/index/missing/", 404, "text/plain; charset=utf-8", ""),
    ("GET", "/simple/demo/missing-1.0.whl", 404, "text/plain; charset=utf-8", ""),
    ("GET", "/simple/missing/missing-1.0.whl", 404, "text/plain; charset=utf-8", ""),
    // 500 in both.
    ("GET", "/simple/broken/", 502, "text/plain; charset=utf-8", "upstream request failed"),
    ("GET", "/nothing", 404, "text/plain; charset=utf-8", "Not Found"),
    ("GET", "/cache/demo", 404, "text/plain; charset=utf-8", "Not Found"),
    ("GET", "/cache/list", 405, "text/plain; charset=utf-8", "Method Not Allowed"),
    ("POST", "/cache/list", 405, "text/plain; charset=utf-8", "Method Not Allowed"),
    ("PUT", "/cache/list", 405, "text/plain; charset=utf-8", "Method Not Allowed"),
    ("PATCH", "/cache/list", 405, "text/plain; charset=utf-8", "Method Not Allowed"),
    ("HEAD", "/cache/list", 405, "text/plain; charset=utf-8", ""),
    ("OPTIONS", "/cache/list", 405, "text/plain; charset=utf-8", "Method Not Allowed"),
    ("DELETE", "/cache/list", 200, "application/json", r#"{"data":null,"status":"success"}"#),
    ("DELETE", "/cache/demo", 200, "application/json", r#"{"data":null,"status":"success"}"#),
    // groxpi does not normalize the name, so it purges nothing.
    ("DELETE", "/cache/De.mo", 200, "application/json", r#"{"data":null,"status":"success"}"#),
    // 404 in groxpi.
    ("HEAD", "/simple/demo/", 200, "text/html; charset=utf-8", ""),
    ("HEAD", "/index/", 200, "text/html; charset=utf-8", ""),
    ("HEAD", "/index/demo/demo-1.0-py3-none-any.whl", 200, "application/zip", ""),
    ("POST", "/simple/demo/", 405, "text/plain; charset=utf-8", "Method Not Allowed"),
    // Requests of pipenv and of a Poetry plug-in.
    ("GET", "/simple//demo/", 200, "text/html; charset=utf-8", "<!"),
    // 200 in proxpi. The links on the page start at its root.
    ("GET", "/index/simple/demo/", 308, "../../demo/", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn routes_of_groxpi_and_proxpi_are_supported() {
    let index = index();
    for prefix in PREFIXES {
        let proxy = start(prefix, &index.url("/simple"), &[]).await;
        for (method, path, status, kind, begin) in ROUTES {
            let authorization = format!("Bearer {TOKEN}");
            let response = send(&proxy, method, path, &[("authorization", &authorization)]).await;
            let about = format!("{prefix} {method} {path}");
            assert_eq!(response.status(), *status, "{about}");
            let is_moved = matches!(status, 301 | 308);
            let header = if is_moved { "location" } else { "content-type" };
            assert_eq!(response.headers()[header], *kind, "{about}");
            if *status == 405 {
                let allowed = if path.starts_with("/cache") { "DELETE" } else { "GET, HEAD" };
                assert_eq!(response.headers()["allow"], allowed, "{about}");
            }
            let bytes = response.bytes().await.unwrap();
            assert!(bytes.starts_with(begin.as_bytes()), "{about}: {bytes:?}");
            assert!(*method != "HEAD" || bytes.is_empty(), "{about}");
        }
        // proxpi requests the list of all projects for a missing project, and the header of each file.
        let before = index.count_of("/simple/");
        assert_eq!(send(&proxy, "GET", "/simple/missing-too/", &[]).await.status(), 404);
        assert_eq!(index.count_of("/simple/"), before);
        assert!(index.requests().iter().all(|received| received.method == "GET"));
    }
}

/// `Accept` header and the format of the response. groxpi searches for substrings, and proxpi requires the header.
const ACCEPTED: &[(Option<&str>, u16, &str)] = &[
    (None, 200, "text/html"),
    (Some("*/*"), 200, "text/html"),
    (Some("text/html"), 200, "text/html"),
    (Some("text/html, */*;q=0.1"), 200, "text/html"),
    (Some(V1), 200, "application/vnd.pypi.simple.v1+json"),
    (Some("application/vnd.pypi.simple.latest+json"), 200, "application/vnd.pypi.simple.v1+json"),
    (Some("application/vnd.pypi.simple.v1+html"), 200, "application/vnd.pypi.simple.v1+html"),
    (Some("application/vnd.pypi.simple.v1+json, */*;q=0.1"), 200, V1),
    // JSON in groxpi.
    (Some("text/html, application/vnd.pypi.simple.v1+json;q=0.01"), 200, "text/html"),
    (Some("application/vnd.pypi.simple.v2+json"), 406, "text/plain"),
    // HTML in groxpi.
    (Some("image/png"), 406, "text/plain"),
    (Some("application/vnd.pypi.simple.v1+json;q=0, text/html;q=0"), 406, "text/plain"),
];

#[tokio::test(flavor = "multi_thread")]
async fn formats_are_negotiated_as_in_the_standard() {
    let index = index();
    for prefix in PREFIXES {
        let proxy = start(prefix, &index.url("/simple"), &[]).await;
        for path in ["/simple/", "/index/demo/"] {
            for (accept, status, form) in ACCEPTED {
                let response = raw(&proxy, path, *accept);
                assert_eq!(response.0, *status, "{prefix} {path} {accept:?}");
                assert!(response.1.starts_with(form), "{prefix} {path} {accept:?}: {}", response.1);
            }
            // proxpi accepts complete media types, groxpi anything that contains "json".
            for (format, form) in
                [("application/vnd.pypi.simple.v1%2Bjson", V1), ("json", V1), ("text/html", "text/html")]
            {
                let response =
                    send(&proxy, "GET", &format!("{path}?format={format}"), &[("accept", "image/png")]).await;
                assert_eq!(response.status(), 200, "{prefix} {path} {format}");
                assert!(response.headers()["content-type"].to_str().unwrap().starts_with(form), "{format}");
            }
        }
        for (codings, coding) in [
            ("gzip", Some("gzip")),
            ("identity", None),
            ("gzip, deflate, zstd", Some("zstd")),
            ("gzip;q=0", None),
        ] {
            let response = send(&proxy, "GET", "/simple/demo/", &[("accept-encoding", codings)]).await;
            let sent = response.headers().get("content-encoding").map(|coding| coding.to_str().unwrap());
            assert_eq!(sent, coding, "{codings}");
            assert_eq!(response.headers()["vary"], "Accept, Accept-Encoding");
            assert_eq!(response.headers()["x-pypi-last-serial"], "7");
            // groxpi compresses files for each client, even ranges.
            let headers = [("accept-encoding", codings), ("range", "bytes=0-99")];
            let file = send(&proxy, "GET", "/simple/demo/demo-1.0.tar.gz", &headers).await;
            assert_eq!((file.status().as_u16(), file.headers().get("content-encoding")), (206, None));
            assert_eq!(file.bytes().await.unwrap().len(), 100);
        }
    }
}

/// Returns the status and content type of a response. Other clients send an `Accept` header of their own.
fn raw(proxy: &Proxy, path: &str, accept: Option<&str>) -> (u16, String) {
    let accept = accept.map_or_else(String::new, |accept| format!("accept: {accept}\r\n"));
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{accept}\r\n");
    let received = exchange(proxy.served.address(), &[request.as_bytes()]);
    let text = String::from_utf8_lossy(&received).to_lowercase();
    let status = text[9..12].parse().unwrap();
    let kind = text.split("content-type: ").nth(1).unwrap().split("\r\n").next().unwrap();
    (status, kind.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_preserve_all_fields_of_the_index() {
    let index = index();
    for prefix in PREFIXES {
        let proxy = start(prefix, &index.url("/simple"), &[]).await;
        let list = send(&proxy, "GET", "/simple/", &[("accept", V1)]).await.text().await.unwrap();
        let list: Value = tightwire_json::from_str(&list).unwrap();
        assert_eq!(list["meta"]["api-version"], "1.0");
        assert_eq!(list["projects"], json!([{"name": "Demo"}, {"name": "other"}]));
        let list = send(&proxy, "GET", "/index/", &[("accept", "text/html")]).await.text().await.unwrap();
        assert!(list.contains("<a href=\"demo/\">") && list.contains("<a href=\"other/\">"), "{list}");
        let page = send(&proxy, "GET", "/simple/demo/", &[("accept", V1)]).await.text().await.unwrap();
        let page: Value = tightwire_json::from_str(&page).unwrap();
        let file = &page["files"][0];
        // Relative, so that it works below any path.
        assert_eq!(file["url"], "../../f/demo-1.0-py3-none-any.whl");
        // groxpi omits all of these, and has its own field for the reason of a yanked file.
        for member in ["hashes", "size", "upload-time", "core-metadata", "provenance", "requires-python"] {
            assert!(file.get(member).is_some(), "{prefix} {member}");
        }
        assert_eq!((&file["yanked"], file.get("yanked-reason")), (&"broken <b>".into(), None));
        assert_eq!((&page["meta"]["api-version"], &page["x-of-the-index"]), (&"1.1".into(), &7.into()));
        let html =
            send(&proxy, "GET", "/index/demo/", &[("accept", "text/html")]).await.text().await.unwrap();
        for part in [
            "<meta name=\"pypi:repository-version\" content=\"1.",
            "href=\"../../f/demo-1.0-py3-none-any.whl#sha256=",
            "data-requires-python=\"&gt;=3.8,&lt;4\"",
            "data-yanked=\"broken &lt;b&gt;\"",
            "data-core-metadata=\"sha256=",
            "data-dist-info-metadata=\"sha256=",
            ">demo-1.0-py3-none-any.whl</a>",
        ] {
            assert!(html.contains(part), "{prefix}: {part} is not in {html}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_groxpi_and_proxpi_take_effect() {
    let index = index();
    let path = "/simple/demo/demo-1.0-py3-none-any.whl";
    for prefix in PREFIXES {
        // 0 redirects clients to the index; the file is downloaded as well.
        let settings = [("DOWNLOAD_TIMEOUT", "0"), ("BINARY_FILE_MIME_TYPE", "1")];
        let proxy = start(prefix, &index.url("/simple"), &settings).await;
        let response = send(&proxy, "GET", path, &[]).await;
        assert_eq!(response.status(), 302);
        assert_eq!(response.headers()["location"], index.url("/f/demo-1.0-py3-none-any.whl"));
        until("it is stored", async || send(&proxy, "GET", path, &[]).await.status() == 200).await;
        let stored = send(&proxy, "GET", path, &[]).await;
        assert_eq!(stored.headers()["content-type"], "application/octet-stream");
        // A name with a leading dot, which both use for partial files, is invalid.
        for name in [".tmp-1", "demo-1.0-py3-none-any.whl.proxpi-partial"] {
            assert_eq!(send(&proxy, "GET", &format!("/simple/demo/{name}"), &[]).await.status(), 404);
        }
        // Their folder is not touched except for a subfolder.
        let folder = std::fs::read_dir(proxy.dir.path().join("originals")).unwrap();
        assert_eq!(folder.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>(), ["pypi-proxy"]);
        // 0 bytes: proxpi stores no files, groxpi stores all of them.
        let proxy = start(prefix, &index.url("/simple"), &[("CACHE_SIZE", "0")]).await;
        for _ in 0..2 {
            let response = send(&proxy, "GET", path, &[]).await;
            assert_eq!(response.status(), if prefix == "GROXPI" { 200 } else { 302 });
            response.bytes().await.unwrap();
        }
        // With a TTL of 0, every request revalidates.
        let proxy = start(prefix, &index.url("/simple"), &[("INDEX_TTL", "0")]).await;
        let before = index.count_of("/simple/demo/");
        for count in 1..=3 {
            // Requests during a refresh share it.
            while index.count_of("/simple/demo/") < before + count {
                send(&proxy, "GET", "/simple/demo/", &[]).await;
            }
        }
        assert!(index.requests().last().unwrap().header("if-none-match") == "\"v1\"");
        // Additional indexes, one of which fails.
        let extra = index.url("/private/simple");
        let settings = [("EXTRA_INDEX_URLS", &*extra), ("EXTRA_INDEX_TTLS", "60")];
        let proxy = start(prefix, &index.url("/nothing"), &settings).await;
        assert_eq!(send(&proxy, "GET", "/simple/demo/", &[]).await.status(), 200);
        assert_eq!(send(&proxy, "GET", path, &[]).await.bytes().await.unwrap(), content(100_000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_response_timeout_does_not_abort_slow_downloads() {
    // Longer than groxpi's timeout for a whole file, which is long enough for the start of the response on any machine.
    let wheel = content(1000);
    let index = Server::start(move |received| {
        if !received.path.starts_with("/f/") {
            return respond(200, &[JSON], hashed_page([("demo-1.0.whl", wheel.clone())]));
        }
        slow(&wheel, 250, Duration::from_millis(1500))
    });
    for prefix in PREFIXES {
        let proxy = start(prefix, &index.url("/simple"), &[("DOWNLOAD_TIMEOUT", "5")]).await;
        for _ in 0..2 {
            let response = send(&proxy, "GET", "/simple/demo/demo-1.0.whl", &[]).await;
            assert_eq!(response.status(), 200, "{prefix}");
            assert_eq!(response.bytes().await.unwrap(), content(1000), "{prefix}");
        }
    }
}
