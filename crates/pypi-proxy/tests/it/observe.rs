//! Metrics, health, readiness, and the status page.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pypi_proxy::rules::ProjectSelector;

use crate::support::exposition::Samples;
use crate::support::prelude::*;

const WHEEL: &str = "/simple/demo/demo-1.0-py3-none-any.whl";

/// Index with one project, whose page has an entity tag.
fn index() -> Server {
    Server::start(|request| match &*request.path {
        "/simple/demo/" if request.headers.contains_key("if-none-match") => respond(304, &[], ""),
        "/simple/demo/" => {
            let (good, bad) = (content(1000), content(1001).slice(1..));
            let page = hashed_page([("demo-1.0-py3-none-any.whl", good), ("bad-1.0-py3-none-any.whl", bad)]);
            respond(200, &[JSON, ("etag", "\"1\"")], page)
        }
        "/simple/down/" => respond(503, &[], ""),
        path if path.starts_with("/f/") => respond(200, &[], content(1000)),
        _ => respond(404, &[], ""),
    })
}

/// Waits until all other requests have ended, because some counters change shortly after the client has the response.
async fn settle(proxy: &RunningProxy) -> Samples {
    loop {
        let samples = proxy.metrics().await;
        // This request itself.
        if samples["pypi_proxy_http_requests_in_flight"] <= 1.0 {
            return samples;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn requests_and_downloads_are_counted() {
    let index = index();
    let proxy = start(&[index.url("/simple")]);
    let get = async |path: &str| drop(proxy.get(path, &[]).await.bytes().await);
    for path in ["/simple/demo/", "/simple/demo/", WHEEL, WHEEL, "/simple/none/", "/simple/none/", "/x"] {
        get(path).await;
    }
    // Depending on when the connection breaks, the client may not receive a response header.
    let bad = proxy.client.get(proxy.url("/simple/demo/bad-1.0-py3-none-any.whl")).send().await;
    if let Ok(bad) = bad {
        assert!(bad.bytes().await.is_err());
    }
    get("/simple/down/").await;
    proxy.get(WHEEL, &[("range", "bytes=0-99")]).await.bytes().await.unwrap();
    proxy.send(Method::HEAD, WHEEL, &[]).await;
    proxy.send(Method::DELETE, "/cache/list", &PURGE).await;
    let samples = settle(&proxy).await;
    for (name, value) in [
        (r#"http_requests_total{route="project",code="2xx"}"#, 2.0),
        (r#"http_requests_total{route="project",code="4xx"}"#, 2.0),
        (r#"http_requests_total{route="project",code="5xx"}"#, 1.0),
        (r#"http_requests_total{route="file",code="2xx"}"#, 5.0),
        (r#"http_requests_total{route="cache",code="2xx"}"#, 1.0),
        (r#"http_requests_total{route="unknown",code="4xx"}"#, 1.0),
        (r#"cache_answers_total{route="project",verdict="hit"}"#, 1.0),
        (r#"cache_answers_total{route="project",verdict="miss"}"#, 2.0),
        (r#"cache_answers_total{route="project",verdict="negative"}"#, 1.0),
        (r#"cache_answers_total{route="file",verdict="hit"}"#, 3.0),
        (r#"cache_answers_total{route="file",verdict="miss"}"#, 2.0),
        (r#"http_request_duration_seconds_count{route="file"}"#, 5.0),
        (r#"http_response_start_seconds_count{route="project"}"#, 5.0),
        ("http_aborted_total", 1.0),
        (r#"upstream_requests_total{index="1",kind="page",code="2xx"}"#, 1.0),
        (r#"upstream_requests_total{index="1",kind="page",code="4xx"}"#, 1.0),
        (r#"upstream_requests_total{index="1",kind="page",code="5xx"}"#, 1.0),
        (r#"upstream_requests_total{index="1",kind="file",code="2xx"}"#, 2.0),
        (r#"upstream_received_bytes_total{index="1",kind="file"}"#, 2000.0),
        (r#"upstream_response_start_seconds_count{index="1",kind="page"}"#, 3.0),
        (r#"page_refreshes_total{result="changed"}"#, 1.0),
        (r#"page_refreshes_total{result="missing"}"#, 1.0),
        (r#"page_refreshes_total{result="failed"}"#, 1.0),
        ("files", 1.0),
        ("file_bytes", 1000.0),
        ("transfers_finished_total", 1.0),
        ("transfers_corrupt_total", 1.0),
        ("transfers", 0.0),
    ] {
        assert_eq!(samples.get(&format!("pypi_proxy_{name}")), Some(&value), "{name}: {samples:#?}");
    }
    let sent = samples[r#"pypi_proxy_http_sent_bytes_total{route="file"}"#];
    assert!((2100.0..3100.0).contains(&sent), "two wheels, a part, and the begin of what is corrupt: {sent}");
    if cfg!(target_os = "linux") {
        for name in
            ["process_resident_memory_bytes", "process_open_fds", "process_threads", "process_max_fds"]
        {
            assert!(samples[name] >= 1.0, "{name}");
        }
        assert!(samples["process_cpu_seconds_total"] > 0.0);
    }
    assert!(samples["process_start_time_seconds"] > 1.7e9);
    assert!(samples[r#"pypi_proxy_http_request_duration_seconds_sum{route="file"}"#] > 0.0);
}

#[tokio::test]
#[expect(clippy::float_cmp, reason = "they are counts")]
async fn an_unchanged_page_is_revalidated() {
    let index = index();
    let proxy = start_with(&[index.url("/simple")], Setup::always_revalidate);
    for verdict in ["miss", "revalidated"] {
        assert_eq!(proxy.get("/simple/demo/", &[]).await.headers()["x-cache"], verdict);
    }
    let samples = settle(&proxy).await;
    assert_eq!(samples[r#"pypi_proxy_cache_answers_total{route="project",verdict="revalidated"}"#], 1.0);
    assert_eq!(samples[r#"pypi_proxy_page_refreshes_total{result="unchanged"}"#], 1.0);
    assert_eq!(samples[r#"pypi_proxy_upstream_requests_total{index="1",kind="page",code="3xx"}"#], 1.0);
}

#[tokio::test]
async fn promtool_accepts_the_metrics() {
    let program = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    if !is_available(&program) {
        skip("promtool_accepts_the_metrics, because promtool is not available");
        return;
    }
    let index = index();
    let urls = [index.url("/simple"), index.url("/other"), index.url("/simple")];
    let proxy = start(&urls);
    proxy.get(WHEEL, &[]).await.bytes().await.unwrap();
    let text = proxy.get("/metrics", &[]).await.text().await.unwrap();
    let mut check = Command::new(program)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    check.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[tokio::test]
async fn health_has_the_fields_of_groxpi_and_proxpi() {
    let index = index();
    let secret = index.url("/simple").replace("http://", "http://reader:hunter2@");
    let proxy = start_with(&[secret, index.url("/other")], |setup| {
        setup.serve.admin_token = Some("hunter3".to_owned());
    });
    proxy.get("/simple/demo/", &[]).await;
    proxy.get("/simple/none/", &[]).await;
    let response = proxy.get("/health", &[]).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    let health: Value = tightwire_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!((&health["status"], &health["data"]["state"]), (&"success".into(), &"ok".into()));
    assert!(health["timestamp"].as_u64().unwrap() > 1_700_000_000);
    let data = &health["data"];
    assert!(data["cache_dir"].as_str().unwrap().ends_with("cache"));
    assert_eq!((&data["cache_size"], &data["storage_type"]), (&0.into(), &"local".into()));
    assert_eq!(data["index_ttl_seconds"], 1800);
    assert!(data["index_url"].as_str().unwrap().starts_with("http://***@127.0.0.1:"), "{data}");
    assert_eq!(data["indexes"][1]["state"], "answers");
    for path in
        ["/health", "/metrics", "/", "/status.json", "/simple/demo/", "/simple/none/", "/simple/demo/x"]
    {
        let response = proxy.get(path, &[]).await;
        let headers = format!("{:?}", response.headers());
        let text = headers + &response.text().await.unwrap();
        assert!(!text.contains("hunter"), "{path}: {text}");
        assert_eq!(text.contains("***@"), !path.starts_with("/simple"), "{path}: {text}");
    }

    proxy.get("/simple/down/", &[]).await;
    // Responses are reused for the rest of the second.
    let health = async || proxy.json("/health", &[]).await;
    until("it is degraded", async || health().await["data"]["state"] == "degraded").await;
    let degraded = health().await;
    let reasons = degraded["data"]["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    // The page is rendered at most once per second.
    let page = async || proxy.get("/", &[]).await.text().await.unwrap();
    until("the page shows it", async || page().await.contains("Degraded: an index fails")).await;
}

#[tokio::test]
async fn ready_if_an_index_responds_or_a_page_is_cached() {
    let is_up = Arc::new(AtomicBool::new(true));
    let own = is_up.clone();
    let index = Server::start(move |_| {
        let is_up = own.load(Ordering::Relaxed);
        if is_up { respond(200, &[JSON], page("demo", &[])) } else { respond(503, &[], "") }
    });
    // Without earlier requests, one probe is sent for all clients.
    let proxy = start(&[index.url("/simple")]);
    for _ in 0..3 {
        let ready = proxy.get("/readyz", &[]).await;
        assert_eq!((ready.status().as_u16(), ready.text().await.unwrap()), (200, "ok\n".to_owned()));
    }
    assert_eq!(index.count(), 1);

    is_up.store(false, Ordering::Relaxed);
    let proxy = start(&[index.url("/simple")]);
    let ready = proxy.get("/readyz", &[]).await;
    assert_eq!(ready.status(), 503);
    assert_eq!(ready.text().await.unwrap(), "no index responds and no page is cached\n");
    assert_eq!(proxy.get("/livez", &[]).await.status(), 200);

    // A cached page is enough.
    is_up.store(true, Ordering::Relaxed);
    let proxy = start(&[index.url("/simple")]);
    proxy.get("/simple/demo/", &[]).await;
    is_up.store(false, Ordering::Relaxed);
    assert_eq!(proxy.get("/simple/other/", &[]).await.status(), 502);
    assert_eq!(proxy.get("/readyz", &[]).await.status(), 200);
}

#[tokio::test]
async fn not_ready_if_the_cache_is_not_writable() {
    let index = index();
    let proxy = start(&[index.url("/simple")]);
    // Root can write to read-only folders, but not to a file in place of a folder.
    let partial = proxy.dir().join("cache/partial");
    std::fs::remove_dir(&partial).unwrap();
    std::fs::write(&partial, "").unwrap();
    let ready = proxy.get("/readyz", &[]).await;
    assert_eq!(ready.status(), 503);
    assert_eq!(ready.text().await.unwrap(), "the cache directory is not writable\n");
    let health = proxy.json("/health", &[]).await;
    assert_eq!(health["data"]["reasons"][0], "the cache directory is not writable");
}

#[tokio::test]
async fn the_status_page_works_without_scripts_and_has_a_strict_policy() {
    let index = index();
    let proxy = start(&[index.url("/a&b'c/simple")]);
    proxy.get("/simple/", &[]).await;
    for path in ["/", "/status"] {
        let response = proxy.get(path, &[]).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
        let page = response.text().await.unwrap();
        // Links of groxpi and proxpi, relative so that they work below any path.
        for link in ["simple/", "index/", "health", "metrics"] {
            assert!(page.contains(&format!("<a href=\"{link}\">")), "{link}");
        }
        for (start, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let (_, rest) = page.split_once(start).unwrap();
            let (text, _) = rest.split_once(end).unwrap();
            let hash = BASE64_STANDARD.encode(digest(&SHA256, text.as_bytes()));
            assert!(policy.contains(&format!("'sha256-{hash}'")), "{start}");
        }
        let markup = page.replace(include_str!("../../src/serve/status/status.js"), "");
        for word in [" onclick", " style=", "javascript:", " src=", "http-equiv=\"set"] {
            assert!(!markup.contains(word), "{word}");
        }
        assert!(page.contains("/a&amp;b'c/simple/"), "{page}");
        assert!(page.contains("0 B of 5.0 GiB in 0 files"));
    }
    let moved = proxy.get("/status/", &[]).await;
    assert_eq!((moved.status().as_u16(), moved.headers()["location"].to_str().unwrap()), (308, "../status"));
    let view = proxy.json("/status.json", &[]).await;
    assert_eq!(view["tables"]["indexes"][0]["cells"][2], "responds");
    let head = proxy.send(Method::HEAD, "/", &[]).await;
    assert!(head.headers().contains_key("content-length"));
}

#[tokio::test]
async fn the_status_page_shows_projects_slow_indexes_refusals_and_failures() {
    let index = index();
    let url = index.url("/simple").replace("http://", "http://robot:hunter2@");
    let proxy = start_with(&[url], |setup| {
        setup.pages.rules.deny = vec![ProjectSelector::parse("denied").unwrap()];
    });
    for path in ["/simple/demo/", "/simple/demo/", WHEEL, WHEEL, "/simple/down/", "/simple/denied/"] {
        proxy.get(path, &[]).await.bytes().await.unwrap();
    }
    // Whether the client gets a response header depends on when the connection breaks.
    let bad = proxy.client.get(proxy.url("/simple/demo/bad-1.0-py3-none-any.whl")).send().await;
    if let Ok(bad) = bad {
        assert!(bad.bytes().await.is_err());
    }
    settle(&proxy).await;
    let view = proxy.json("/status.json", &[]).await;
    let text = |name: &str| view["texts"][name].as_str().unwrap().to_owned();
    assert_eq!([text("page-hits"), text("projects")], ["50.0 %", "1 project"]);
    // The first and the corrupt file were misses.
    assert_eq!(text("file-hits"), "33.3 %");
    let cells = |table: &str, row: usize| {
        let cells = view["tables"][table][row]["cells"].as_array().unwrap();
        cells.iter().map(|cell| cell.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(cells("projects", 0)[..3], ["demo", "1", "1000 B"]);
    assert_eq!(cells("refusals", 0), ["project", "rule: the project is not allowed", "1"]);
    let kinds: Vec<_> = (0..2).map(|row| cells("latencies", row)[1..].to_vec()).collect();
    let pages = kinds.iter().find(|cells| cells[0] == "pages").unwrap();
    // One of the two pages had status 503.
    assert_eq!(pages[3..], ["2", "1"]);
    let failures = [cells("failures", 0), cells("failures", 1)];
    assert_eq!((&*failures[0][0], &*failures[1][0]), ("demo/bad-1.0-py3-none-any.whl", "down"));
    assert!(failures[0][1].contains("hash"), "{failures:?}");
    assert!(failures[1][1].ends_with("the index responded with status 503"), "{failures:?}");
    assert!(!view.to_string().contains("hunter2"), "{view}");
    let found = proxy.json("/status.json?q=De", &[]).await;
    assert_eq!(found["texts"]["projects"], "1 of 1 project");
    let page = async |query: &str| proxy.get(&format!("/status?q={query}"), &[]).await.text().await.unwrap();
    assert!(page("em").await.contains("<td data-label=\"Project\">demo</td><td data-label=\"Files\">"));
    let hostile = page("%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert!(hostile.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\""), "{hostile}");
    assert!(hostile.contains("No cached project has this in its name."));
    assert!(!page("").await.contains("hunter2"));
}

#[tokio::test]
async fn the_list_of_projects_survives_a_restart() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let setup = || Setup::new(dir.path(), &[index.url("/simple")]);
    let proxy = setup().start().await;
    proxy.get("/simple/demo/", &[]).await.bytes().await.unwrap();
    proxy.stop().await;
    let proxy = setup().start().await;
    until("the cache is scanned", async || {
        let view = proxy.json("/status.json", &[]).await;
        view["tables"]["projects"][0]["cells"][0] == "demo"
    })
    .await;
}
