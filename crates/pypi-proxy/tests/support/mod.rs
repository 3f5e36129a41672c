//! HTTP server on loopback with scripted responses, and shared helpers.

#![allow(dead_code, reason = "each test takes what it needs")]

pub(crate) mod chromium;
pub(crate) mod exposition;
pub(crate) mod faulty;
#[cfg(target_os = "linux")]
mod listener;
pub(crate) mod mount;
#[cfg(feature = "cli")]
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod raw;
pub(crate) mod source;
pub(crate) mod wheel;

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use listener::TestListener;
use pypi_proxy::ByteRange;
use serde_json::{Value, json};

pub(crate) type Body = BoxBody<Bytes, std::io::Error>;

/// An upstream that records its requests.
pub(crate) struct Server {
    accepting: TestListener,
    requests: Arc<Mutex<Vec<(String, HeaderMap)>>>,
}

impl Server {
    /// Responds to every request by calling a function with its path and headers.
    pub(crate) async fn start<F, A>(response: F) -> Self
    where
        F: Fn(String, HeaderMap) -> A + Send + Sync + 'static,
        A: Future<Output = Response<Body>> + Send + 'static,
    {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (response, seen) = (Arc::new(response), requests.clone());
        let accepting = TestListener::start(move |stream| {
            let (response, seen) = (response.clone(), seen.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let path = request.uri().path_and_query().unwrap().to_string();
                let headers = request.headers().clone();
                seen.lock().unwrap().push((path.clone(), headers.clone()));
                let response = response(path, headers);
                async move { Ok::<_, Infallible>(response.await) }
            });
            async move {
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            }
        })
        .await;
        Self { accepting, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.accepting.address()
    }

    /// Number of requests.
    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    /// All requests with their headers.
    pub(crate) fn requests(&self) -> Vec<(String, HeaderMap)> {
        self.requests.lock().unwrap().clone()
    }

    /// Headers of the last request.
    pub(crate) fn last(&self) -> HeaderMap {
        self.requests.lock().unwrap().last().unwrap().1.clone()
    }

    /// Closes the listener and all connections, and waits until that is done.
    pub(crate) async fn stop(&self) {
        self.accepting.stop().await;
    }
}

/// Reports a skipped test. Written directly to stderr, because the test harness hides the output of passing tests.
pub(crate) fn skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

/// Builds a response.
pub(crate) fn respond(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response<Body> {
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(full(body)).unwrap()
}

/// Page in JSON with these files, each of size 1.
pub(crate) fn page(name: &str, files: &[(&str, &str)]) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|(name, url)| json!({"filename": name, "url": url, "hashes": {}, "size": 1}))
        .collect();
    json!({"meta": {"api-version": "1.1"}, "name": name, "versions": ["1.0"], "files": files}).to_string()
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/vnd.pypi.simple.v1+json");

/// A file of a page in JSON with its hash and size, whose URL is below `/f/`.
pub(crate) fn file(name: &str, content: &[u8]) -> Value {
    let sha256 = source::digest_of(content).to_string();
    json!({"filename": name, "url": format!("/f/{name}"), "hashes": {"sha256": sha256}, "size": content.len()})
}

/// Page in JSON with these files.
pub(crate) fn project_page(files: impl IntoIterator<Item = Value>) -> String {
    let files: Vec<_> = files.into_iter().collect();
    json!({"meta": {"api-version": "1.1"}, "name": "demo", "versions": [], "files": files}).to_string()
}

/// Page in JSON with the hashes and sizes of these files, whose URLs are below `/f/`.
pub(crate) fn hashed_page(files: impl IntoIterator<Item = (String, Bytes)>) -> String {
    project_page(files.into_iter().map(|(name, content)| file(&name, &content)))
}

/// Index with one file in each of these projects.
pub(crate) async fn index_of(projects: &'static [&str], name: &'static str, content: Bytes) -> Server {
    let page = hashed_page([(name.to_owned(), content.clone())]);
    Server::start(move |path, _| {
        let (page, content) = (page.clone(), content.clone());
        async move {
            let project = path.strip_prefix("/simple/").map(|project| project.trim_end_matches('/'));
            match project {
                Some(project) if projects.contains(&project) => respond(200, &[JSON], page),
                None if path.starts_with("/f/") => respond(200, &[], content),
                _ => respond(404, &[], ""),
            }
        }
    })
    .await
}

/// Returns the range that a client requests of a body with this length.
pub(crate) fn requested_range(headers: &HeaderMap, len: usize) -> Option<Range<usize>> {
    match ByteRange::parse(headers.get("range")?.to_str().unwrap(), len as u64) {
        ByteRange::Part { start, end } => {
            Some(usize::try_from(start).unwrap()..usize::try_from(end).unwrap())
        }
        _ => None,
    }
}

/// Responds with the content, or the range of it that the client requests.
pub(crate) fn ranged(headers: &HeaderMap, content: &Bytes, more: &[(&str, &str)]) -> Response<Body> {
    let Some(range) = requested_range(headers, content.len()) else {
        return respond(200, more, content.clone());
    };
    let place = format!("bytes {}-{}/{}", range.start, range.end - 1, content.len());
    respond(206, &[more, &[("content-range", &place)]].concat(), content.slice(range))
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
