//! Upstreams, proxies and helpers that the tests share.

#![allow(dead_code, unused_imports, reason = "each test takes what it needs")]

#[cfg(unix)]
pub(crate) mod chromium;
pub(crate) mod exposition;
pub(crate) mod faulty;
#[cfg(all(unix, feature = "cli"))]
pub(crate) mod program;
pub(crate) mod proxy;
#[cfg(feature = "cli")]
pub(crate) mod s3;
pub(crate) mod server;
pub(crate) mod source;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pypi_proxy::store::Digest;
use tightwire_json::{Value, json};

use proxy::TIMEOUT;
use server::{Server, ranged, respond};

/// Names that most tests use.
pub(crate) mod prelude {
    pub(crate) use std::time::{Duration, Instant};

    pub(crate) use bytes::Bytes;
    pub(crate) use futures_util::future::join_all;
    pub(crate) use reqwest::{Method, Response};
    pub(crate) use test_support::optional::skip;
    pub(crate) use tightwire_json::{Value, json};

    pub(crate) use super::proxy::{PURGE, RunningProxy, Setup, TIMEOUT, start, start_with, upstream};
    pub(crate) use super::server::{
        Request, Server, Step, exchange, exchange_all, head, ranged, respond, slow, slowly,
    };
    pub(crate) use super::source::{Connection, ScriptedSource, content, digest_of};
    pub(crate) use super::{
        HTML, JSON, file_index, filenames, files_below, free_address, hashed_page, is_available, listed,
        page, page_of, stored_path, until,
    };
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/vnd.pypi.simple.v1+json");
pub(crate) const HTML: (&str, &str) = ("content-type", "text/html");

/// Page in JSON with these files, each of size 1.
pub(crate) fn page(name: &str, files: &[(&str, &str)]) -> String {
    let file = |(name, url): &(&str, &str)| json!({"filename": name, "url": url, "hashes": {}, "size": 1});
    let files: Vec<_> = files.iter().map(file).collect();
    json!({"meta": {"api-version": "1.1"}, "name": name, "versions": ["1.0"], "files": files}).to_string()
}

/// Page in JSON with these entries for files.
pub(crate) fn page_of(files: &[Value]) -> String {
    json!({"meta": {"api-version": "1.1"}, "name": "demo", "versions": [], "files": files}).to_string()
}

/// Page in JSON with the hashes and sizes of these files, whose URLs are below `/f/`.
pub(crate) fn hashed_page(files: impl IntoIterator<Item = (impl AsRef<str>, Bytes)>) -> String {
    let files: Vec<_> = files.into_iter().map(|(name, content)| listed(name.as_ref(), &content)).collect();
    page_of(&files)
}

/// Entry for a file on a page, with its hash and size. Its URL is below `/f/`.
pub(crate) fn listed(name: &str, content: &[u8]) -> Value {
    let sha256 = source::digest_of(content).to_string();
    json!({"filename": name, "url": format!("/f/{name}"), "hashes": {"sha256": sha256}, "size": content.len()})
}

pub(crate) fn filenames(page: &Value) -> Vec<&str> {
    page["files"].as_array().unwrap().iter().map(|file| file["filename"].as_str().unwrap()).collect()
}

/// Index in JSON with these files of the project `demo`.
pub(crate) fn file_index(files: impl IntoIterator<Item = (&'static str, Bytes)>) -> Server {
    let files: Vec<_> = files.into_iter().collect();
    let page = Bytes::from(hashed_page(files.iter().cloned()));
    Server::start(move |request| match &*request.path {
        "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"Demo"}]}"#),
        "/simple/demo/" => respond(200, &[JSON], page.clone()),
        path => match files.iter().find(|(name, _)| path.strip_prefix("/f/") == Some(name)) {
            Some((_, content)) => ranged(request, &[], content),
            None => respond(404, &[], ""),
        },
    })
}

/// Paths of all files below a folder. Files that are created or deleted meanwhile may be missing.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&entry.path())),
            Ok(_) => found.push(entry.path()),
            Err(_) => {}
        }
    }
    found
}

/// Returns whether a program can be started.
pub(crate) fn is_available(program: impl AsRef<std::ffi::OsStr>) -> bool {
    let mut version = std::process::Command::new(program);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok()
}

/// Path of a stored file below a cache directory.
pub(crate) fn stored_path(cache: &Path, digest: Digest) -> PathBuf {
    let name = digest.to_string();
    cache.join("files").join(&name[..2]).join(&name[2..])
}

pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    // Requests to a failed server may be suspended for half a minute.
    let deadline = Instant::now() + TIMEOUT * 2;
    while !is_so().await {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns an unused address. Its port is below the range from which systems assign ports, so that no other process
/// gets it before the program under test.
pub(crate) fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id().wrapping_mul(16).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 20_000 + u16::try_from(number % 10_000).unwrap();
        if let Ok(listener) = std::net::TcpListener::bind(("127.0.0.1", port)) {
            return listener.local_addr().unwrap();
        }
    }
}
