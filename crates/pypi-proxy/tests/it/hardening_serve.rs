//! Clients that hold connections open, send large headers, or use other spellings of an endpoint.

use std::net::ToSocketAddrs;
use std::sync::Arc;

use pypi_proxy::page_cache::PageCache;
use pypi_proxy::serve::{Config, Proxy, Scope, Server, ServerConfig, Tls};
use pypi_proxy::store::Store;
use pypi_proxy::{page_cache, store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::support::prelude::*;
use crate::support::proxy::open;
use crate::support::server::listen;

/// URL at which no index listens. These tests do not need one.
const NO_INDEX: &str = "http://127.0.0.1:1/simple";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Waits until the server has closed a connection.
async fn closed(mut stream: impl tokio::io::AsyncRead + Unpin) {
    let mut read = Vec::new();
    // A reset also counts.
    let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut read)).await.expect("it is closed");
}

fn start(config: ServerConfig) -> RunningProxy {
    start_with(&[NO_INDEX.to_owned()], |setup| setup.server = config)
}

/// Allows two connections, and 200 ms for a header.
fn narrow() -> ServerConfig {
    ServerConfig { max_connections: 2, header_timeout: Duration::from_millis(200), ..ServerConfig::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_http2_preface_times_out() {
    let proxy = start(narrow());
    let mut held = Vec::new();
    for len in [1, 4, 16, 18, PREFACE.len() - 1, 16] {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        stream.write_all(&PREFACE[..len]).await.unwrap();
        held.push(stream);
    }
    let live = tokio::time::timeout(TIMEOUT, proxy.get("/livez", &[])).await.expect("there is room");
    assert_eq!(live.status(), 200);
    for stream in held {
        closed(stream).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_client_after_the_tls_handshake_times_out() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = made.signing_key.serialize_pem();
    let tls = Tls::from_pem(made.cert.pem().as_bytes(), key.as_bytes()).unwrap();
    let proxy = start(ServerConfig { tls: Some(tls), ..narrow() });

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(client));
    let connect = async || {
        let stream = TcpStream::connect(proxy.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connected = tokio::time::timeout(TIMEOUT, connector.connect(name, stream)).await;
        connected.expect("there is room").unwrap()
    };
    // In sequence: each one waits until an earlier one is closed.
    let mut held = Vec::new();
    for len in [0, 0, 1, 16, PREFACE.len() - 1] {
        let mut stream = connect().await;
        stream.write_all(&PREFACE[..len]).await.unwrap();
        stream.flush().await.unwrap();
        held.push(stream);
    }
    let mut stream = connect().await;
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut response = Vec::new();
    let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut response)).await.unwrap();
    assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&response));
    for stream in held {
        closed(stream).await;
    }
}

/// A client with prior knowledge of HTTP/2 sends a fragmented preface.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_http2_preface_is_accepted() {
    let proxy = start(ServerConfig::default());
    for size in [1, 7, 16, PREFACE.len()] {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in PREFACE.chunks(size) {
            stream.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // An empty SETTINGS frame (RFC 9113, section 6.5); the server responds with its own.
        stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
        let mut head = [0; 9];
        tokio::time::timeout(TIMEOUT, stream.read_exact(&mut head)).await.unwrap().unwrap();
        assert_eq!(head[3], 4, "{size}: {head:?}");
    }
}

/// Request with this number of header fields, one of which is `special`.
fn with_fields(count: usize, special: &str) -> String {
    let more: String = (2..count).map(|number| format!("x-{number}: y\r\n")).collect();
    let host = if count > 1 { "host: x\r\n" } else { "" };
    format!("GET /livez HTTP/1.1\r\n{host}{more}{special}\r\n\r\n")
}

fn statuses(received: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(received);
    text.split("HTTP/1.1 ").skip(1).map(|response| response[..3].parse().unwrap()).collect()
}

const REFUSED: &str = r#"pypi_proxy_http_refused_total{reason="head"}"#;
const CLOSE: &str = "connection: close";
/// Header fields that only hyper supports, so that it serves the request.
const FOREIGN: &str = "te: trailers\r\nconnection: close";

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_at_most_100_header_fields() {
    let proxy = start(ServerConfig::default());
    let address = proxy.address();
    let status = |head: &str| statuses(&exchange(address, &[head.as_bytes()]));
    for count in [2, 32, 33, 99, 100] {
        assert_eq!(status(&with_fields(count, CLOSE)), [200], "{count}");
        assert_eq!(status(&with_fields(count - 1, FOREIGN)), [200], "{count}");
    }
    for count in [101, 102, 1000] {
        assert_eq!(status(&with_fields(count, CLOSE)), [431], "{count}");
        assert_eq!(status(&with_fields(count - 1, FOREIGN)), [431], "{count}");
    }
    // HTTP/2 has the same limit.
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    for (count, status) in [(90, 200), (101, 431)] {
        let mut request = client.get(proxy.url("/livez"));
        for number in 0..count {
            request = request.header(format!("x-{number}"), "y");
        }
        let response = request.send().await.unwrap();
        assert_eq!((response.version(), response.status().as_u16()), (reqwest::Version::HTTP_2, status));
    }
    assert_eq!(proxy.metrics().await[REFUSED], 7.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_too_large_for_hyper_is_counted() {
    let proxy = start(ServerConfig::default());
    let address = proxy.address();
    let large = |bytes: usize| with_fields(10, &format!("x: {}\r\n{CLOSE}", "y".repeat(bytes)));
    let (fits, too_large) = (large(30_000), large(200_000));
    assert_eq!(statuses(&exchange(address, &[fits.as_bytes()])), [200]);
    // The rest is not read, so the connection may be reset before the response arrives.
    assert_ne!(statuses(&exchange(address, &[too_large.as_bytes()])), [200]);
    until("it is counted", async || proxy.metrics().await[REFUSED] >= 1.0).await;
}

/// Fragmentation of headers does not change the responses.
#[tokio::test(flavor = "multi_thread")]
async fn fragmented_headers_get_the_same_response() {
    // An incomplete header of this size is left to hyper.
    const MAX_HEAD: usize = 16 * 1024;
    let sized = |size: usize, special: &str| {
        let head = |filler: usize| with_fields(5, &format!("x: {}\r\n{special}", "y".repeat(filler)));
        head(size - head(0).len())
    };
    let get = with_fields(3, "accept: */*");
    let mut inputs: Vec<(Vec<u8>, &[u16])> = vec![
        (with_fields(3, CLOSE).into(), &[200]),
        (with_fields(3, FOREIGN).into(), &[200]),
        (with_fields(100, CLOSE).into(), &[200]),
        (with_fields(101, CLOSE).into(), &[431]),
        (with_fields(400, CLOSE).into(), &[431]),
        // Several requests at once, followed by the end of the connection.
        ([&*get, &get, &with_fields(3, FOREIGN)].concat().into(), &[200, 200, 200]),
        ([&*get, &with_fields(101, CLOSE), &get].concat().into(), &[200, 431]),
        // Not a request.
        (b"GET / HTTP/1.1\r\nhost: \x1b\r\n\r\n".into(), &[400]),
        (b"\0\0\0\0\r\n\r\n".into(), &[400]),
        (b"\x16\x03\x01\x02\0\x01\r\n\r\n".into(), &[400]),
        (b"GET / HTTP/1.1\r\nho st: x\r\n\r\n".into(), &[400]),
    ];
    for size in [MAX_HEAD - 1, MAX_HEAD, MAX_HEAD + 1, 2 * MAX_HEAD] {
        inputs.push((sized(size, CLOSE).into(), &[200]));
    }
    let unterminated: Vec<(Vec<u8>, &[u16])> = vec![
        (get.trim_end().into(), &[]),
        ([&*get, "GET /livez HT"].concat().into(), &[200]),
        (PREFACE[..20].into(), &[]),
    ];
    let proxy = start(ServerConfig::default());
    let address = proxy.address();
    for (at, (input, expected)) in inputs.iter().enumerate() {
        let outcome = test_support::in_pieces(input, |pieces| statuses(&exchange(address, pieces)));
        assert_eq!(outcome, *expected, "{at}");
    }
    for (at, (input, expected)) in unterminated.iter().enumerate() {
        let outcome = test_support::in_pieces(input, |pieces| statuses(&exchange_all(address, pieces)));
        assert_eq!(outcome, *expected, "unterminated {at}");
    }
    // The same with other limits, complete and incomplete.
    const FIELDS: usize = 7;
    for max in test_support::limits(FIELDS) {
        let proxy = start(ServerConfig { max_header_fields: max, ..ServerConfig::default() });
        let address = proxy.address();
        for special in [CLOSE, FOREIGN] {
            let count = FIELDS - special.matches('\r').count();
            let head = with_fields(count, special);
            let outcome =
                test_support::in_pieces(head.as_bytes(), |pieces| statuses(&exchange(address, pieces)));
            assert_eq!(outcome, [if max < FIELDS { 431 } else { 200 }], "{max}: {special}");
            let cut = head.trim_end().as_bytes();
            let outcome = test_support::in_pieces(cut, |pieces| statuses(&exchange_all(address, pieces)));
            // The last field is incomplete.
            let expected: &[u16] = if max < FIELDS - 1 { &[431] } else { &[] };
            assert_eq!(outcome, expected, "{max}: {special}");
        }
    }
}

/// Sends `GET` or `DELETE` with this exact path, without normalization by a client.
fn status(address: impl ToSocketAddrs, method: &str, path: &str, special: &str) -> u16 {
    let request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{special}\r\n\r\n");
    statuses(&exchange(address, &[request.as_bytes()]))[0]
}

const ADMIN: [&str; 5] = ["/", "/metrics", "/status", "/status.json", "/health"];
const BOTH: [&str; 2] = ["/livez", "/readyz"];

/// Checks that only the admin listener has the endpoints for administrators.
fn check_listeners(public: impl ToSocketAddrs + Copy, admin: impl ToSocketAddrs + Copy, special: &str) {
    for (method, paths) in [("GET", &ADMIN[..]), ("DELETE", &["/cache", "/cache/list"])] {
        for path in paths {
            assert_eq!(status(public, method, path, special), 404, "{path}");
            assert_eq!(status(admin, method, path, special), 200, "{path}");
        }
    }
    for path in BOTH {
        assert_ne!(status(public, "GET", path, special), 404, "{path}");
        assert_ne!(status(admin, "GET", path, special), 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_listener_serves_metrics_instead_of_the_public_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(store::Config::new(dir.path().join("cache"))).unwrap();
    let index = upstream(NO_INDEX, |_| ());
    let pages = PageCache::new(vec![index.clone()], page_cache::Config::default());
    let proxy = Proxy::new(vec![index], pages, store, Config::default());
    // The same through `Proxy::handle_in`.
    for (scope, path, expected) in [
        (Scope::All, "/metrics", 200),
        (Scope::Admin, "/metrics", 200),
        (Scope::Index, "/metrics", 404),
        (Scope::All, "/simple", 301),
        (Scope::Index, "/simple", 301),
        (Scope::Admin, "/simple", 404),
    ] {
        let request = http::Request::get(path).body(()).unwrap();
        assert_eq!(proxy.handle_in(scope, &request).await.status(), expected, "{scope:?} {path}");
    }
    let ((public, public_address), (admin, admin_address)) = (listen(), listen());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let config = ServerConfig { max_connections: 1, ..ServerConfig::default() };
    let server = Server::new(proxy, config).admin(admin);
    let task = tokio::spawn(server.serve(public, async {
        let _ = stopped.await;
    }));
    for special in [CLOSE, FOREIGN] {
        check_listeners(public_address, admin_address, special);
        assert_eq!(status(public_address, "GET", "/simple", special), 301);
        assert_eq!(status(admin_address, "GET", "/simple", special), 404);
        assert_eq!(status(admin_address, "GET", "/simple/", special), 404);
    }
    // The only public connection is in use.
    let _held = std::net::TcpStream::connect(public_address).unwrap();
    assert_eq!(status(admin_address, "GET", "/livez", CLOSE), 200);
    drop(stop);
    task.await.unwrap().unwrap();
}

/// Other users with write access could replace files.
#[tokio::test]
async fn a_cache_directory_of_other_users_is_rejected() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let config = || store::Config::new(&cache);
    let set_mode = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir(&cache).unwrap();
    for mode in [0o777, 0o1777, 0o775, 0o722, 0o2770] {
        set_mode(&cache, mode);
        let error = open(config()).await.unwrap_err();
        assert!(error.is_storage() && !error.is_busy(), "{mode:o}: {error}");
        let text = error.to_string();
        let has = |word: &str| text.contains(word);
        assert!(has("writable by other users") && has("allow_shared_cache_dir"), "{mode:o}: {text}");
        assert!(has(&cache.display().to_string()), "{mode:o}: {text}");
        // Nothing was written there.
        assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 0);
    }
    set_mode(&cache, 0o777);
    open(store::Config { allow_shared_dir: true, ..config() }).await.unwrap();
    for mode in [0o700, 0o755, 0o750] {
        set_mode(&cache, mode);
        open(config()).await.unwrap();
    }
    // Subfolders are checked, too.
    let pages = cache.join("pages");
    set_mode(&pages, 0o777);
    let error = open(config()).await.unwrap_err();
    assert!(error.to_string().contains(&pages.display().to_string()), "{error}");
    set_mode(&pages, 0o755);
    // Only root can change the owner. Root itself may own it.
    let somebody = Some(rustix::fs::Uid::from_raw(12345));
    if rustix::fs::chown(&cache, somebody, None).is_ok() {
        let error = open(config()).await.unwrap_err();
        assert!(error.to_string().contains("owned by another user (uid 12345)"), "{error}");
        open(store::Config { allow_shared_dir: true, ..config() }).await.unwrap();
    }
}

/// The proxy creates folders that it accepts itself, independent of the umask.
#[tokio::test]
async fn a_new_cache_directory_is_writable_only_by_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("deep/cache");
    open(store::Config::new(&cache)).await.unwrap();
    for path in ["", "files", "partial", "refs", "pages"] {
        let mode = std::fs::metadata(cache.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o022, 0, "{path}: {mode:o}");
    }
    open(store::Config::new(&cache)).await.unwrap();
}

#[cfg(feature = "cli")]
mod program {
    use super::*;
    use crate::support::program::{Served, run, serve};

    async fn logged(dir: &tempfile::TempDir, name: &str, value: &str) -> Served {
        serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", NO_INDEX), (name, value)]).await
    }

    #[tokio::test]
    async fn a_request_with_too_many_header_fields_is_logged() {
        let dir = tempfile::tempdir().unwrap();
        let mut served = logged(&dir, "PYPI_PROXY_MAX_HEADER_FIELDS", "5").await;
        for (count, status) in [(5, 200), (6, 431)] {
            let head = with_fields(count, CLOSE);
            assert_eq!(statuses(&exchange(served.address(), &[head.as_bytes()])), [status]);
        }
        let event = served.event(|event| event["status"] == 431).await;
        assert_eq!((&event["method"], &event["path"]), (&"-".into(), &"-".into()), "{event}");
        assert_eq!(event["client"], "127.0.0.1");
    }

    #[tokio::test]
    async fn the_program_serves_an_admin_listener() {
        let dir = tempfile::tempdir().unwrap();
        let mut served = logged(&dir, "PYPI_PROXY_ADMIN_LISTEN", "127.0.0.1:0").await;
        let admin = served.event(|event| event["admin_address"].is_string()).await;
        let (public, admin) = (served.address(), admin["admin_address"].as_str().unwrap());
        check_listeners(public, admin, CLOSE);
        // Commands that connect to the proxy use the right listener.
        let env = [("PYPI_PROXY_LISTEN", public), ("PYPI_PROXY_ADMIN_LISTEN", admin)];
        let (code, text) = run(dir.path(), &env, &["stats"]).await;
        assert!(code == 0 && text.contains("files"), "{code}: {text}");
        let (code, text) = run(dir.path(), &env, &["healthcheck"]).await;
        assert_eq!(code, 0, "{text}");
    }

    #[tokio::test]
    async fn the_program_rejects_a_cache_directory_writable_by_others() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).unwrap();
        let cache = cache.to_str().unwrap();
        let listen = ("PYPI_PROXY_LISTEN", "127.0.0.1:0");
        let env = [("PYPI_PROXY_CACHE_DIR", cache), ("PYPI_PROXY_INDEX_URL", NO_INDEX), listen];
        for command in ["serve", "verify", "gc", "stats"] {
            let (code, text) = run(dir.path(), &env, &[command]).await;
            assert!(code == 1 && text.contains("is writable by other users"), "{command}: {code}: {text}");
        }
        let (code, text) = run(dir.path(), &env, &["verify", "--allow-shared-cache-dir"]).await;
        assert_eq!(code, 0, "{text}");
    }
}
