//! Reload of the settings at SIGHUP, and of credentials when their files change.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::prelude::*;
use crate::support::program::{Served, program};

const FILE: &str = "/simple/demo/demo-1.0-py3-none-any.whl";

fn index() -> Server {
    file_index([("demo-1.0-py3-none-any.whl", content(1000))])
}

/// A proxy with a configuration file.
struct Configured {
    dir: tempfile::TempDir,
    served: Served,
    client: Client,
}

impl Configured {
    async fn start(config: &str) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), config).await
    }

    async fn start_in(dir: tempfile::TempDir, config: &str) -> Self {
        std::fs::write(dir.path().join("config.toml"), config).unwrap();
        let path = dir.path().join("config.toml").display().to_string();
        let args = ["serve", "--config", &path, "--listen", "127.0.0.1:0", "--log-format", "json"];
        let served = Served::start(program(dir.path(), &[], &args)).await;
        Self { dir, served, client: Client::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn hangup(&self) {
        let pid = Pid::from_raw(self.served.child.id().unwrap().cast_signed()).unwrap();
        kill_process(pid, Signal::HUP).unwrap();
    }

    /// Log events at the ends of reloads.
    fn reloads(&self) -> Vec<Value> {
        let events = self.served.log.all().into_iter().map(|line| tightwire_json::from_str(&line).unwrap());
        let is_end =
            |event: &Value| event["message"].as_str().is_some_and(|message| message.starts_with("settings "));
        events.filter(is_end).collect()
    }

    /// Reloads the settings and returns the log event.
    async fn reload(&self) -> Value {
        let before = self.reloads().len();
        self.hangup();
        until("the settings are reloaded", async || self.reloads().len() > before).await;
        self.reloads().pop().unwrap()
    }

    async fn reload_with(&self, config: &str) -> Value {
        std::fs::write(self.path("config.toml"), config).unwrap();
        self.reload().await
    }

    async fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.served.url)).send().await.unwrap()
    }

    async fn status(&self, path: &str) -> u16 {
        self.get(path).await.status().as_u16()
    }

    async fn metric(&self, name: &str) -> String {
        let text = self.get("/metrics").await.text().await.unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    }
}

fn base(index: &Server) -> String {
    format!("index_url = \"{}\"\ndownload_timeout = \"never\"\n", index.url("/simple/"))
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_settings_take_effect_without_a_restart() {
    let (index, other) = (index(), file_index([("demo-2.0-py3-none-any.whl", content(2000))]));
    let base = base(&index);
    let proxy = Configured::start(&base).await;
    assert_eq!(proxy.get(FILE).await.bytes().await.unwrap(), content(1000));
    let started = proxy.metric("process_start_time_seconds").await;
    let requests = index.count();

    // Nothing has changed: pages stay in memory, and the index is not contacted.
    let event = proxy.reload().await;
    assert_eq!((&event["message"], &event["changed"]), (&"settings reloaded".into(), &"".into()));
    assert_eq!(proxy.get("/simple/demo/").await.headers()["x-cache"], "hit");

    let event = proxy.reload_with(&format!("{base}deny_projects = [\"demo\"]\n")).await;
    assert_eq!(event["changed"], "deny_projects");
    for path in ["/simple/demo/", FILE] {
        assert_eq!(proxy.status(path).await, 403);
    }
    proxy.reload_with(&format!("{base}index_ttl = \"1h\"\n")).await;
    assert_eq!(proxy.get(FILE).await.headers()["x-cache"], "hit");
    assert_eq!(index.count(), requests);

    let event = proxy.reload_with(&base.replace(&index.url(""), &other.url(""))).await;
    assert_eq!(event["changed"], "index_url, index_ttl");
    assert!(proxy.get("/simple/demo/").await.text().await.unwrap().contains("demo-2.0"));
    assert_eq!(proxy.status(FILE).await, 404);

    let tokens = proxy.path("tokens");
    std::fs::write(&tokens, "0123456789abcdef ci\n").unwrap();
    let access = format!("metrics_need_auth = false\nauth_tokens_file = \"{}\"\n", tokens.display());
    proxy.reload_with(&format!("{base}{access}")).await;
    assert_eq!(proxy.status(FILE).await, 401);
    let with_token = || proxy.client.get(format!("{}{FILE}", proxy.served.url));
    assert_eq!(with_token().bearer_auth("0123456789abcdef").send().await.unwrap().status(), 200);
    // A changed file takes effect at once.
    std::fs::write(&tokens, "fedcba9876543210 ci\n").unwrap();
    proxy.reload().await;
    assert_eq!(with_token().bearer_auth("0123456789abcdef").send().await.unwrap().status(), 401);
    assert_eq!(with_token().bearer_auth("fedcba9876543210").send().await.unwrap().status(), 200);

    // Metrics and the start time survive.
    assert_eq!(proxy.metric("process_start_time_seconds").await, started);
    assert_eq!(proxy.metric("pypi_proxy_http_refused_total{reason=\"project\"}").await, "2");
    assert_eq!(proxy.metric("pypi_proxy_http_refused_total{reason=\"login\"}").await, "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn malware_records_are_read_again() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let records = dir.path().join("osv");
    std::fs::create_dir(&records).unwrap();
    let config = format!("{}osv_dir = \"{}\"\n", base(&index), records.display());
    let proxy = Configured::start_in(dir, &config).await;
    assert_eq!((proxy.status(FILE).await, proxy.status("/simple/demo/").await), (200, 200));
    let requests = index.count();
    let record =
        r#"{"id":"MAL-1","affected":[{"package":{"ecosystem":"PyPI","name":"demo"},"versions":["1.0"]}]}"#;
    std::fs::write(records.join("MAL-1.json"), record).unwrap();
    proxy.reload().await;
    let response = proxy.get(FILE).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["x-pypi-proxy-rule"]),
        (403, &"osv_dir".parse().unwrap())
    );
    assert_eq!(proxy.get("/simple/demo/").await.headers()["x-pypi-proxy-removed"], "osv_dir=1");
    // An unreadable directory does not disable its records.
    std::fs::rename(&records, proxy.path("other")).unwrap();
    assert_eq!(proxy.reload().await["message"], "settings reloaded");
    assert_eq!(proxy.status(FILE).await, 403);
    let event = proxy.reload_with(&base(&index)).await;
    assert_eq!((event["changed"].as_str(), proxy.status(FILE).await), (Some("osv_dir"), 200));
    assert_eq!(index.count(), requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_need_a_restart_are_reported() {
    let index = index();
    let base = base(&index);
    let proxy = Configured::start(&base).await;
    let config = format!("{base}max_connections = 7\nopen_files = 5\nyanked = \"hide\"\n");
    let event = proxy.reload_with(&config).await;
    assert_eq!(event["message"], "settings reloaded");
    assert_eq!(event["changed"], "yanked");
    let mut proxy = proxy;
    let warning = proxy.served.event(|event| event["settings"].is_string()).await;
    assert_eq!(warning["settings"], "max_connections, open_files");
    assert_eq!(warning["level"], "WARN");
    assert_eq!(proxy.get(FILE).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_settings_and_files_leave_the_previous_settings_in_effect() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(file("tokens"), "0123456789abcdef ci\n").unwrap();
    let (missing, tokens) = (file("missing"), file("tokens"));
    let access = format!("{}auth_tokens_file = \"{tokens}\"\n", base(&index));
    let proxy = Configured::start_in(dir, &access).await;
    let check = async || {
        assert_eq!(proxy.status(FILE).await, 401);
        let request = proxy.client.get(format!("{}{FILE}", proxy.served.url));
        let response = request.bearer_auth("0123456789abcdef").send().await.unwrap();
        assert_eq!(response.bytes().await.unwrap(), content(1000));
    };
    check().await;
    let base = base(&index);
    for (config, reason) in [
        ("index_url = \"hunter2".to_owned(), "line 1: invalid TOML"),
        (format!("{base}no_such_setting = 1\n"), "no_such_setting"),
        (format!("{base}index_ttl = \"hunter2\"\n"), "index_ttl"),
        (format!("{base}tls_cert = \"{missing}\"\ntls_key = \"{missing}\"\n"), "missing can't be read"),
        (format!("{base}tls_cert = \"{tokens}\"\ntls_key = \"{tokens}\"\n"), "no certificate found"),
        (format!("{base}ca_files = [\"{missing}\"]\n"), "missing can't be read"),
        (format!("{base}auth_htpasswd_file = \"{missing}\"\n"), "missing: can't be read"),
    ] {
        let event = proxy.reload_with(&config).await;
        assert_eq!((&event["level"], reason), (&"ERROR".into(), reason), "{event}");
        assert!(event["error"].as_str().unwrap().contains(reason), "{reason}: {event}");
        check().await;
    }
    std::fs::remove_file(proxy.path("config.toml")).unwrap();
    assert_eq!(proxy.reload().await["level"], "ERROR");
    // Files of the previous settings that became unusable.
    std::fs::write(&tokens, "short\n").unwrap();
    assert!(proxy.reload_with(&access).await["error"].as_str().unwrap().contains("tokens"));
    check().await;
    std::fs::write(&tokens, "0123456789abcdef ci\n").unwrap();
    std::fs::create_dir(proxy.path(".netrc")).unwrap();
    assert!(proxy.reload().await["error"].as_str().unwrap().contains(".netrc can't be read"));
    check().await;
    std::fs::remove_dir(proxy.path(".netrc")).unwrap();
    assert_eq!(proxy.reload().await["message"], "settings reloaded");
    check().await;
    assert!(!proxy.served.log.all().concat().contains("hunter2"));
}

const CLIENTS: usize = 8;
const RELOADS: usize = 12;

/// Clients request pages and slow files, on new and on open connections, during reloads of which each changes the
/// rules, and some fail.
#[tokio::test(flavor = "multi_thread")]
async fn no_request_fails_during_reloads() {
    let names: Vec<String> = (0..CLIENTS * 40).map(|at| format!("demo-{at}-py3-none-any.whl")).collect();
    let wheel = |at: usize| content(60_000 + at);
    let page = hashed_page(names.iter().enumerate().map(|(at, name)| (name, wheel(at))));
    let own = names.clone();
    let index = Server::start(move |request| match request.path.strip_prefix("/f/") {
        None => respond(200, &[JSON], page.clone()),
        Some(file) => {
            let at = own.iter().position(|name| name == file).unwrap();
            slow(&wheel(at), 10_000, Duration::from_millis(3))
        }
    });
    let base = base(&index);
    let proxy = Configured::start(&base).await;
    let (is_done, complete) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients = (0..CLIENTS).map(|client| {
        let (url, names) = (proxy.served.url.clone(), names.clone());
        let (is_done, complete) = (is_done.clone(), complete.clone());
        tokio::spawn(async move {
            let open = Client::new();
            let http2 = Client::builder().http2_prior_knowledge().build().unwrap();
            let mut at = client;
            while !is_done.load(Ordering::Relaxed) {
                let client = match at % 3 {
                    0 => open.clone(),
                    1 => http2.clone(),
                    _ => Client::new(),
                };
                let number = at % names.len();
                let response =
                    client.get(format!("{url}/simple/demo/{}", names[number])).send().await.unwrap();
                assert_eq!(response.status(), 200);
                assert!(response.bytes().await.unwrap() == wheel(number), "{number}");
                let response = client.get(format!("{url}/simple/demo/")).send().await.unwrap();
                assert_eq!(response.status(), 200);
                assert!(!response.bytes().await.unwrap().is_empty());
                complete.fetch_add(2, Ordering::Relaxed);
                at += CLIENTS;
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    for round in 0..RELOADS {
        let before = complete.load(Ordering::Relaxed);
        let event = match round % 3 {
            0 => proxy.reload_with(&format!("{base}deny_projects = [\"other-{round}\"]\n")).await,
            1 => proxy.reload_with("no_such_setting = 1\n").await,
            // Several signals at once.
            _ => {
                std::fs::write(proxy.path("config.toml"), format!("{base}index_ttl = \"{round}h\"\n"))
                    .unwrap();
                (0..3).for_each(|_| proxy.hangup());
                proxy.reload().await
            }
        };
        assert_eq!(event["level"], if round % 3 == 1 { "ERROR" } else { "INFO" }, "{event}");
        until("requests complete", async || complete.load(Ordering::Relaxed) > before + CLIENTS).await;
    }
    is_done.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let complete = complete.load(Ordering::Relaxed);
    assert!(complete >= RELOADS * CLIENTS, "{complete}");
    // Every response was counted, across all reloads.
    let requests = ["project", "file"]
        .map(|route| format!("pypi_proxy_http_requests_total{{route=\"{route}\",code=\"2xx\"}}"));
    let counted = join_all(requests.iter().map(|name| proxy.metric(name))).await;
    assert_eq!(counted.iter().map(|count| count.parse::<usize>().unwrap()).sum::<usize>(), complete);
    until("no request is in flight", async || {
        // The request for the metrics itself.
        proxy.metric("pypi_proxy_http_requests_in_flight").await == "1"
    })
    .await;
    assert_eq!(proxy.metric("pypi_proxy_http_aborted_total").await, "0");
    let log = proxy.served.end(Signal::TERM).await;
    let incomplete =
        log.lines().find(|line| line.contains("pypi_proxy::access") && !line.contains("\"whole\":true"));
    assert_eq!(incomplete, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_flight_completes_with_the_previous_settings() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let (wheel, opened) = (content(100_000), gate.clone());
    let own = wheel.clone();
    let page = hashed_page([("demo-1.0-py3-none-any.whl", wheel.clone())]);
    let index = Server::start(move |request| {
        if !request.path.starts_with("/f/") {
            return respond(200, &[JSON], page.clone());
        }
        let length = ("content-length", &*own.len().to_string());
        let (start, end) = (own.slice(..50_000), own.slice(50_000..));
        vec![head(200, &[length]), Step::Send(start), Step::Gate(gate.clone()), Step::Send(end)]
    });
    let base = base(&index);
    let proxy = Configured::start(&base).await;
    let mut response = proxy.get(FILE).await;
    let mut received = response.chunk().await.unwrap().unwrap().to_vec();
    proxy.reload_with(&format!("{base}deny_projects = [\"demo\"]\n")).await;
    assert_eq!(proxy.status(FILE).await, 403);
    opened.add_permits(1);
    while let Some(chunk) = response.chunk().await.unwrap() {
        received.extend_from_slice(&chunk);
    }
    assert!(received == wheel);
    // The download was stored.
    proxy.reload_with(&base).await;
    assert_eq!(proxy.get(FILE).await.headers()["x-cache"], "hit");
    assert_eq!(index.count_of("/f/demo-1.0-py3-none-any.whl"), 1);
}

fn certificate(dir: &Path) -> reqwest::Certificate {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(dir.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    std::fs::write(dir.join("cert.pem"), made.cert.pem()).unwrap();
    reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn new_connections_use_the_renewed_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let old = certificate(dir.path());
    let file = |name: &str| dir.path().join(name).display().to_string();
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let index = index();
    let config = format!("{}tls_cert = \"{cert}\"\ntls_key = \"{key}\"\n", base(&index));
    let proxy = Configured::start_in(dir, &config).await;
    let url = format!("https://{}{FILE}", proxy.served.address());
    let trusting =
        |root: &reqwest::Certificate| Client::builder().tls_certs_only([root.clone()]).build().unwrap();
    let open = trusting(&old);
    assert_eq!(open.get(&url).send().await.unwrap().status(), 200);
    let new = certificate(proxy.dir.path());
    assert!(trusting(&new).get(&url).send().await.is_err());
    assert_eq!(proxy.reload().await["message"], "settings reloaded");
    assert_eq!(trusting(&new).get(&url).send().await.unwrap().status(), 200);
    assert!(trusting(&old).get(&url).send().await.is_err());
    // The open connection stays.
    assert_eq!(open.get(&url).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_netrc_file_is_read_without_a_signal() {
    let wheel = content(1000);
    let page = hashed_page([("demo-1.0-py3-none-any.whl", wheel.clone())]);
    let index = Server::start(move |request| {
        let is_valid = request.header("authorization") == "Basic cmVhZGVyOnNlY3JldA==";
        match (is_valid, &*request.path) {
            (false, _) => respond(401, &[], ""),
            (true, "/simple/demo/") => respond(200, &[JSON], page.clone()),
            (true, _) => ranged(request, &[], &wheel),
        }
    });
    // Every page is revalidated.
    let always = "index_ttl = 0\nstale_while_revalidate = 0\nstale_if_error = 0\n";
    let proxy = Configured::start(&(base(&index) + always)).await;
    let netrc = proxy.path(".netrc");
    // There is no file at first.
    assert_eq!(proxy.status("/simple/demo/").await, 403);
    std::fs::write(&netrc, "machine 127.0.0.1 login reader password wrong\n").unwrap();
    until("the file is read", async || {
        proxy.status("/simple/demo/").await;
        index.last().contains_key("authorization")
    })
    .await;
    assert_eq!(proxy.status("/simple/demo/").await, 403);
    std::fs::write(&netrc, "machine 127.0.0.1 login reader password secret\n").unwrap();
    until("the file is read again", async || proxy.status("/simple/demo/").await == 200).await;
    // An unreadable file is reported, and the credentials stay.
    std::fs::remove_file(&netrc).unwrap();
    std::fs::create_dir(&netrc).unwrap();
    let mut proxy = proxy;
    until("the file is checked", async || {
        assert_eq!(proxy.status("/simple/demo/").await, 200);
        proxy.served.log.all().iter().any(|line| line.contains("credentials not reloaded"))
    })
    .await;
    assert_eq!(proxy.get(FILE).await.bytes().await.unwrap(), content(1000));
    // Without the file, there are no credentials. A signal applies that at once.
    std::fs::remove_dir(&netrc).unwrap();
    proxy.reload().await;
    assert_eq!(proxy.status("/simple/demo/").await, 403);
    let event = proxy.served.event(|event| event["message"] == "credentials not reloaded").await;
    assert_eq!(event["level"], "ERROR");
    let log = proxy.served.log.all().concat();
    assert!(!log.contains("secret") && !log.contains("reader"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lower_cache_size_takes_effect_at_a_reload() {
    let index = index();
    let base = base(&index);
    let proxy = Configured::start(&base).await;
    assert_eq!(proxy.get(FILE).await.bytes().await.unwrap(), content(1000));
    assert_eq!(proxy.metric("pypi_proxy_files").await, "1");
    proxy.reload_with(&format!("{base}cache_size = 10\n")).await;
    assert_eq!(proxy.metric("pypi_proxy_files").await, "0");
    assert_eq!(proxy.metric("pypi_proxy_file_limit_bytes").await, "10");
    assert_eq!(proxy.get(FILE).await.bytes().await.unwrap(), content(1000));
    assert_eq!(proxy.metric("pypi_proxy_files").await, "0");
    proxy.reload_with(&base).await;
    assert_eq!(proxy.get(FILE).await.bytes().await.unwrap(), content(1000));
    until("it is stored again", async || proxy.metric("pypi_proxy_files").await == "1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn named_indexes_are_added_changed_and_removed() {
    let (index, other) = (index(), file_index([("demo-2.0-py3-none-any.whl", content(2000))]));
    let base = base(&index);
    let named = format!("[index.other]\nindex_url = \"{}\"\n", other.url("/simple/"));
    let proxy = Configured::start(&base).await;
    assert_eq!(proxy.status("/other/simple/demo/").await, 404);
    let event = proxy.reload_with(&format!("{base}{named}")).await;
    assert_eq!((&event["changed"], &event["indexes"]), (&"".into(), &"other".into()));
    assert_eq!(proxy.status("/other/simple/demo/").await, 200);
    assert_eq!(proxy.status("/simple/demo/").await, 200);

    // Pages of an unchanged index stay in memory.
    let requests = (index.count(), other.count());
    proxy.reload_with(&format!("{base}stale_wait = 1\n{named}")).await;
    for path in ["/simple/demo/", "/other/simple/demo/"] {
        assert_eq!(proxy.get(path).await.headers()["x-cache"], "hit", "{path}");
    }
    assert_eq!((index.count(), other.count()), requests);

    // The index becomes private, and public again.
    proxy.reload_with(&format!("{base}{named}private_indexes = [1]\n")).await;
    assert_eq!(proxy.status("/other/simple/demo/").await, 200);
    assert_eq!(proxy.status("/simple/demo/").await, 404);
    proxy.reload_with(&format!("{base}{named}")).await;
    assert_eq!(proxy.status("/simple/demo/").await, 200);

    // A malformed table changes nothing.
    let event = proxy.reload_with(&format!("{base}{named}min_age = \"soon\"\n")).await;
    assert!(event.to_string().contains("[index.other]: min_age: expected"), "{event}");
    assert_eq!(proxy.status("/other/simple/demo/").await, 200);
    proxy.reload_with(&base).await;
    assert_eq!(proxy.status("/other/simple/demo/").await, 404);
}
