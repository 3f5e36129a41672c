//! Deployment: systemd, nginx and Prometheus, with the files in `docs/deploy`. `cargo xtask test deploy` checks that
//! the files are well-formed.
#![cfg(feature = "cli")]

mod nginx;
mod systemd;
mod watch;

use std::path::PathBuf;

use crate::support::prelude::*;
use crate::support::program::{run, serve};

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
/// More than the buffers of a pipe and a socket.
const WHEEL_BYTES: usize = 3_000_000;

fn wheel() -> Bytes {
    content(WHEEL_BYTES)
}

fn index() -> Server {
    file_index([(WHEEL, wheel())])
}

/// Returns whether a program is available; otherwise reports a skipped test.
fn has(program: &str, test: &str) -> bool {
    let is_there = is_available(program);
    if !is_there {
        skip(&format!("{test}, because {program} is not available"));
    }
    is_there
}

/// Reads a file of `docs/deploy`.
fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[tokio::test(flavor = "multi_thread")]
async fn healthcheck_reports_whether_the_proxy_responds() {
    let dir = tempfile::tempdir().unwrap();
    let index = index();
    let served = serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", &index.url("/simple/"))]).await;
    let address = served.address().to_owned();
    // It connects directly to a listening address, ignoring the HTTP proxy settings of this machine.
    let all = address.replace("127.0.0.1", "0.0.0.0");
    for listen in [&address, &all] {
        let env = [("PYPI_PROXY_LISTEN", listen.as_str()), ("HTTP_PROXY", "http://127.0.0.1:1")];
        assert_eq!(run(dir.path(), &env, &["healthcheck"]).await, (0, String::new()));
    }
    served.kill().await;
    let (code, text) = run(dir.path(), &[], &["healthcheck", "--listen", &address]).await;
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(&format!("no response from {address}")), "{text}");
    assert_eq!(run(dir.path(), &[], &["healthcheck", "--listen", "nowhere:x"]).await.0, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn healthcheck_over_tls_needs_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["packages.example.org".to_owned()]).unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let index = index();
    let url = index.url("/simple/");
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_TLS_CERT", &cert), ("PYPI_PROXY_TLS_KEY", &key)];
    let served = serve(dir.path(), &env).await;
    let address = served.address();
    let health = run(dir.path(), &env, &["healthcheck", "--listen", address]).await;
    assert_eq!(health, (0, String::new()));
}
