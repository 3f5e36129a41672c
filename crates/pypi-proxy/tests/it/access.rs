//! Access: tokens, users with passwords, endpoints, rate limits, and clients behind trusted proxies.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pypi_proxy::guard;
use pypi_proxy::guard::Guard;
use reqwest::{StatusCode, Version};

use crate::support::prelude::*;

const TOKEN: &str = "build-farm-0123456789";
/// Both passwords are `secret`. The hashes are bcrypt, and SHA-512-crypt as written by `openssl passwd -6`.
const USERS: &str = "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n\
    bob:$6$abcdefgh$ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGStk8PSwGfQv72N2CKPPrVACtLtip/cZ/1GM/O6IND4WQhG.\n";
const FILE: &str = "/simple/demo/demo-1.0-py3-none-any.whl";

fn index() -> Server {
    file_index([("demo-1.0-py3-none-any.whl", content(1000))])
}

fn files(dir: &Path) -> guard::Config {
    std::fs::write(dir.join("tokens"), format!("# those of machines\n{TOKEN} build farm\n")).unwrap();
    std::fs::write(dir.join("users"), USERS).unwrap();
    guard::Config {
        tokens_file: Some(dir.join("tokens")),
        htpasswd_file: Some(dir.join("users")),
        ..guard::Config::default()
    }
}

fn guarded(index: &Server, config: guard::Config, admin_token: Option<&str>) -> RunningProxy {
    start_with(&[index.url("/simple")], |setup| {
        setup.serve.guard = Some(Guard::new(config).unwrap().into());
        setup.serve.admin_token = admin_token.map(str::to_owned);
    })
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

async fn status(proxy: &RunningProxy, path: &str, authorization: Option<&str>) -> u16 {
    let headers: Vec<_> = authorization.map(|value| ("authorization", value)).into_iter().collect();
    proxy.get(path, &headers).await.status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_a_valid_login_get_401() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let proxy = guarded(&index, files(dir.path()), None);
    let good = [
        bearer(TOKEN),
        format!("bearer  {TOKEN} "),
        basic("__token__", TOKEN),
        basic("ann", "secret"),
        basic("bob", "secret"),
    ];
    let wrong = [
        bearer("build-farm-0123456780"),
        bearer(""),
        basic("__token__", "secret"),
        basic("ann", "Secret"),
        basic("ann", ""),
        basic("cyd", "secret"),
        basic(TOKEN, ""),
        "Basic !".to_owned(),
        "Basic YW5u".to_owned(),
        "Basic YW5uOng".to_owned(),
        "YW5uOng=".to_owned(),
        "Basic".to_owned(),
        "Bearer".to_owned(),
        "Digest username=\"ann\"".to_owned(),
        bearer(&"a".repeat(10_000)),
        basic(&"a".repeat(9000), "b"),
        basic("ann", &"s".repeat(1200)),
    ];
    let paths =
        ["/", "/simple/", "/simple/demo/", "/simple/demo", FILE, "/health", "/metrics", "/status.json", "/x"];
    for path in paths {
        for value in &good {
            assert_ne!(status(&proxy, path, Some(value)).await, 401, "{path} {value}");
        }
        assert_eq!(status(&proxy, path, None).await, 401, "{path}");
    }
    for value in &wrong {
        assert_eq!(status(&proxy, FILE, Some(value)).await, 401, "{value}");
    }
    for path in ["/livez", "/readyz"] {
        assert_eq!(status(&proxy, path, None).await, 200);
        assert_eq!(status(&proxy, path, Some(&wrong[0])).await, 200);
    }
    let refused = proxy.get(FILE, &[]).await;
    assert_eq!(refused.headers()["www-authenticate"], "Basic realm=\"pypi-proxy\", charset=\"UTF-8\"");
    assert_eq!(refused.headers()["content-type"], "application/problem+json");
    let body: Value = tightwire_json::from_slice(&refused.bytes().await.unwrap()).unwrap();
    assert!(body["detail"].as_str().unwrap().contains("requires a login"), "{body}");
    // Shared caches must not store it.
    let file = proxy.get(FILE, &[("authorization", &good[0])]).await;
    assert_eq!(file.headers()["cache-control"], "max-age=365000000, immutable, private");
    let counted = proxy.get("/metrics", &[("authorization", &good[0])]).await.text().await.unwrap();
    let expected = paths.len() + wrong.len() + 1;
    let line = format!("pypi_proxy_http_refused_total{{reason=\"login\"}} {expected}\n");
    assert!(counted.contains(&line), "{counted}");
    // Requests over HTTP/2 need a login as well.
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    let denied = wrong[..5].iter().map(|value| (value, 401));
    for (value, expected) in good.iter().map(|value| (value, 200)).chain(denied) {
        let response = client.get(proxy.url(FILE)).header("authorization", value).send().await.unwrap();
        assert_eq!((response.version(), response.status().as_u16()), (Version::HTTP_2, expected), "{value}");
    }
    assert_eq!(client.get(proxy.url(FILE)).send().await.unwrap().status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_authorization_headers_get_401() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let proxy = guarded(&index, files(dir.path()), None);
    let right = bearer(TOKEN);
    let huge = "a".repeat(40_000);
    let lines: [&[u8]; 5] = [
        b"authorization: Bearer \xff\xfe",
        b"authorization: Basic \xc3\xa4",
        b"authorization:",
        // The first of two values counts.
        &[b"authorization: Bearer x\r\nauthorization: ", right.as_bytes()].concat(),
        &[b"authorization: Bearer ", huge.as_bytes()].concat(),
    ];
    for line in lines {
        let start = b"GET /simple/demo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
        let read = exchange(proxy.address(), &[start, line, b"\r\n\r\n"]);
        assert!(read.starts_with(b"HTTP/1.1 401 Unauthorized\r\n"), "{:?}", String::from_utf8_lossy(&read));
    }
    assert_eq!(status(&proxy, FILE, Some(&right)).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_can_be_public() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let proxy = guarded(&index, guard::Config { guards_metrics: false, ..files(dir.path()) }, None);
    for path in ["/metrics", "/health", "/", "/status", "/status.json"] {
        assert_eq!(status(&proxy, path, None).await, 200, "{path}");
    }
    for path in ["/simple/", "/simple/demo/", FILE] {
        assert_eq!(status(&proxy, path, None).await, 401, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn purging_requires_the_admin_token() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let (user, admin) = (basic("ann", "secret"), bearer("admin"));
    let with_token = guarded(&index, files(dir.path()), Some("admin"));
    let without = guarded(&index, files(dir.path()), None);
    for (proxy, value, expected) in [
        (&with_token, None, StatusCode::UNAUTHORIZED),
        (&with_token, Some(&user), StatusCode::UNAUTHORIZED),
        (&with_token, Some(&admin), StatusCode::OK),
        (&without, None, StatusCode::UNAUTHORIZED),
        (&without, Some(&user), StatusCode::FORBIDDEN),
        (&without, Some(&admin), StatusCode::UNAUTHORIZED),
    ] {
        let headers: Vec<_> = value.map(|value| ("authorization", &**value)).into_iter().collect();
        let response = proxy.send(Method::DELETE, "/cache/demo", &headers).await;
        assert_eq!(response.status(), expected, "{value:?}");
    }
    // The admin token gives access to nothing else.
    assert_eq!(status(&with_token, FILE, Some(&admin)).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_login_files_are_reloaded() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let config = guard::Config { reload_after: Duration::ZERO, ..files(dir.path()) };
    let proxy = guarded(&index, config, None);
    let (old, new) = (bearer(TOKEN), bearer("another-0123456789"));
    let user = basic("ann", "secret");
    let tokens = dir.path().join("tokens");
    assert_eq!(status(&proxy, FILE, Some(&old)).await, 200);
    assert_eq!(status(&proxy, FILE, Some(&user)).await, 200);

    std::fs::write(&tokens, "another-0123456789").unwrap();
    assert_eq!(status(&proxy, FILE, Some(&new)).await, 200);
    assert_eq!(status(&proxy, FILE, Some(&old)).await, 401);
    // Invalid or missing files change nothing.
    std::fs::write(&tokens, "short").unwrap();
    assert_eq!(status(&proxy, FILE, Some(&new)).await, 200);
    std::fs::remove_file(&tokens).unwrap();
    assert_eq!(status(&proxy, FILE, Some(&new)).await, 200);
    assert_eq!(status(&proxy, FILE, Some(&old)).await, 401);
    // Removed users can no longer log in.
    std::fs::write(&tokens, format!("{TOKEN}\n")).unwrap();
    std::fs::write(dir.path().join("users"), USERS.lines().nth(1).unwrap()).unwrap();
    assert_eq!(status(&proxy, FILE, Some(&old)).await, 200);
    assert_eq!(status(&proxy, FILE, Some(&user)).await, 401);
    // With empty files, no login is valid.
    std::fs::write(&tokens, "").unwrap();
    std::fs::write(dir.path().join("users"), "").unwrap();
    for value in [None, Some(&*old), Some(&*user)] {
        assert_eq!(status(&proxy, FILE, value).await, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_logins_all_succeed() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let proxy = guarded(&index, files(dir.path()), None);
    let (right, wrong) = (basic("bob", "secret"), basic("bob", "other"));
    let requests = (0..100).map(|at| {
        let (proxy, value) = (&proxy, if at % 10 == 0 { &wrong } else { &right });
        async move { (at, status(proxy, "/simple/demo/", Some(value)).await) }
    });
    for (at, status) in join_all(requests).await {
        assert_eq!(status, if at % 10 == 0 { 401 } else { 200 });
    }
}

#[test]
fn errors_in_login_files_are_reported_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let tokens = || Guard::new(guard::Config { tokens_file: Some(path.clone()), ..guard::Config::default() });
    let users =
        || Guard::new(guard::Config { htpasswd_file: Some(path.clone()), ..guard::Config::default() });
    let missing = tokens().unwrap_err();
    assert!(missing.is_config() && missing.to_string().contains("can't be read"), "{missing}");
    for (text, expected) in [
        ("ann:geheim-geheim-geheim", "line 1: not a"),
        ("# x\nann:{SHA}geheim", "line 2: SHA-1 hashes are too weak"),
        ("ann:$apr1$geheim", "MD5"),
        ("\u{1b}:geheim", "control"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = users().unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(error.is_config() && shown.contains(expected) && !shown.contains("geheim"), "{shown}");
    }
    std::fs::write(&path, vec![b'#'; 5 << 20]).unwrap();
    assert!(users().unwrap_err().is_config());
    std::fs::write(&path, b"\xff").unwrap();
    assert!(tokens().unwrap_err().is_config());
    let guard = Guard::new(files(dir.path())).unwrap();
    let shown = format!("{guard:?} {:?}", files(dir.path()));
    assert!(!shown.contains(TOKEN) && !shown.contains("$2y"), "{shown}");
}

fn proxy(config: guard::Config) -> (Server, RunningProxy) {
    let index = Server::start(|_| respond(404, &[], ""));
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.serve.guard = Some(Guard::new(config).unwrap().into());
    });
    (index, proxy)
}

/// Sends `count` requests with these headers and returns the number of successful responses.
async fn answered(proxy: &RunningProxy, count: usize, headers: &[(&str, &str)]) -> usize {
    let mut answered = 0;
    for _ in 0..count {
        let response = proxy.get("/status.json", headers).await;
        match response.status().as_u16() {
            200 => answered += 1,
            429 => {
                let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
                assert_eq!(wait, 1);
                assert!(response.text().await.unwrap().contains("too many requests"));
            }
            other => panic!("{other}"),
        }
    }
    answered
}

const BURST: usize = 20;

fn limited() -> guard::Config {
    guard::Config { rate_limit: Some((1, BURST as u32)), ..guard::Config::default() }
}

/// Maximum successful requests of a client that started at this time, independent of the speed of the machine.
fn most(started: Instant) -> usize {
    BURST + 1 + usize::try_from(started.elapsed().as_secs()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_above_the_rate_limit_get_429() {
    let (_index, proxy) = proxy(limited());
    let started = Instant::now();
    let mut count = answered(&proxy, 100, &[]).await;
    assert!((BURST..=most(started)).contains(&count), "{count}");
    // Over every protocol, and whatever address the client claims.
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    for _ in 0..50 {
        let response = client.get(proxy.url("/simple/demo/")).send().await.unwrap();
        assert_eq!(response.version(), Version::HTTP_2);
        count += usize::from(response.status() != 429);
    }
    count += answered(&proxy, 50, &[("x-forwarded-for", "192.0.2.7")]).await;
    count += answered(&proxy, 50, &[("x-forwarded-for", "192.0.2.7"), ("te", "trailers")]).await;
    assert!(count <= most(started), "{count}");
    for _ in 0..50 {
        assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
        assert_ne!(proxy.get("/readyz", &[]).await.status(), 429);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trusted_proxies_forward_the_client_address() {
    let (_index, proxy) =
        proxy(guard::Config { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..limited() });
    let started = Instant::now();
    for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"] {
        let mut count = answered(&proxy, BURST, &[("x-forwarded-for", address)]).await;
        assert_eq!(count, BURST, "{address}");
        // An address forged by the client precedes the one that the proxy has appended, in one header line or two.
        let spoofed = format!("198.51.100.1, {address}");
        // The second variant is handled by hyper.
        for more in [
            &[("x-forwarded-for", address)][..],
            &[("x-forwarded-for", address), ("te", "trailers")],
            &[("x-forwarded-for", &spoofed)],
            &[("x-forwarded-for", "198.51.100.1"), ("x-forwarded-for", address)],
        ] {
            count += answered(&proxy, 20, more).await;
        }
        assert!(count <= most(started), "{address} {count}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_have_separate_rate_limits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokens");
    std::fs::write(&path, "0123456789-first one\n0123456789-second two\n0123456789-third one\n").unwrap();
    let (_index, proxy) = proxy(guard::Config { tokens_file: Some(path), ..limited() });
    // Failed logins are limited by address, which does not affect users.
    let started = Instant::now();
    let mut guessed = 0;
    for _ in 0..60 {
        let response = proxy.get("/simple/demo/", &[("authorization", "Bearer 0123456789-other")]).await;
        guessed += usize::from(response.status() == 401);
    }
    assert!((BURST..=most(started)).contains(&guessed), "{guessed}");
    let mut first = answered(&proxy, 40, &[("authorization", "Bearer 0123456789-first")]).await;
    assert!(first >= BURST, "{first}");
    assert_eq!(answered(&proxy, BURST, &[("authorization", "Bearer 0123456789-second")]).await, BURST);
    // Another token of the same owner shares the limit.
    first += answered(&proxy, 40, &[("authorization", "Bearer 0123456789-third")]).await;
    assert!(first <= most(started), "{first}");
}

#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn all_access_settings_take_effect() {
    use crate::support::program::{run, serve};

    let index = file_index([("demo-1.0.tar.gz", content(1000))]);
    let dir = tempfile::tempdir().unwrap();
    let users = dir.path().join("users");
    std::fs::write(&users, USERS).unwrap();
    let config = dir.path().join("config.toml");
    let text = "allow_projects = ['demo', 'S?x']\ndeny_projects = ['six']\nproject_sources = ['demo=1']\n\
        min_age = '7d'\nmin_age_unknown = 'allow'\nmin_age_exempt = ['a-*']\nyanked = 'hide'\n\
        rate_limit = 100\nrate_limit_burst = 100\ntrusted_proxies = ['10.0.0.0/8', '::1']\nmetrics_need_auth = false\n";
    std::fs::write(&config, text).unwrap();
    let wanted = |name: &str| {
        let path = dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, format!("{name}\n")).unwrap();
        path
    };
    let (demo, six) = (wanted("demo"), wanted("six"));
    let (url, users) = (index.url("/simple/"), users.to_str().unwrap().to_owned());
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_AUTH_HTPASSWD_FILE", &*users),
        ("PYPI_PROXY_CONFIG", config.to_str().unwrap()),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
    ];
    let (code, output) = run(dir.path(), &env, &["check"]).await;
    assert!(code == 0 && output.contains("ok    access"), "{output}");
    let proxy = serve(dir.path(), &env).await;
    let get = |path: &'static str, login: &'static str| {
        let url = format!("{}{path}", proxy.url);
        let (user, password) = login.split_once(':').unwrap();
        let login = basic(user, password);
        async move {
            reqwest::Client::new().get(url).header("authorization", login).send().await.unwrap().status()
        }
    };
    assert_eq!(get("/simple/demo/", "ann:wrong").await, 401);
    assert_eq!(get("/simple/demo/demo-1.0.tar.gz", "ann:secret").await, 200);
    assert_eq!(get("/simple/six/", "ann:secret").await, 403);
    assert_eq!(get("/metrics", ":").await, 200);
    // A running proxy requires a login for `warm`, too.
    let warm = |login: &str| {
        let url = format!("{login}{}", proxy.address());
        let (dir, env, demo) = (dir.path(), &env, &demo);
        async move { run(dir, env, &["warm", "--proxy", &format!("http://{url}"), demo]).await }
    };
    let (code, output) = warm("").await;
    assert!(code == 1 && output.contains("401"), "{output}");
    let (code, output) = warm("ann:secret@").await;
    assert_eq!(code, 0, "{output}");
    proxy.kill().await;
    // Without a running proxy, `warm` needs no login but obeys the rules.
    let (code, output) = run(dir.path(), &env, &["warm", &demo]).await;
    assert_eq!(code, 0, "{output}");
    let (code, output) = run(dir.path(), &env, &["warm", &six]).await;
    assert!(code == 1 && output.contains("403"), "{output}");
    // The program does not start with an invalid file.
    std::fs::write(&users, "ann:geheim").unwrap();
    for command in ["serve", "check"] {
        let (code, output) = run(dir.path(), &env, &[command, "--listen", "127.0.0.1:0"]).await;
        assert!(code > 0 && output.contains("line 1") && !output.contains("geheim"), "{output}");
    }
}
