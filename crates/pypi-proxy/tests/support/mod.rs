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
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use pypi_proxy::ByteRange;
use serde_json::{Value, json};

use listener::TestListener;
use proxy::TIMEOUT;

pub(crate) type Body = BoxBody<Bytes, std::io::Error>;

/// An upstream on loopback that records its requests.
pub(crate) struct Recorder<R> {
    accepting: TestListener,
    requests: Arc<Mutex<Vec<R>>>,
}

impl<R: Clone> Recorder<R> {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.accepting.address()
    }

    pub(crate) fn requests(&self) -> Vec<R> {
        self.requests.lock().unwrap().clone()
    }

    /// Closes the listener and all connections, and waits until that is done.
    pub(crate) async fn stop(&self) {
        self.accepting.stop().await;
    }
}

/// HTTP server that records the path and headers of each request.
pub(crate) type Server = Recorder<(String, HeaderMap)>;

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

    /// Number of requests.
    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|(path, _)| path).collect()
    }

    /// Headers of the last request.
    pub(crate) fn last(&self) -> HeaderMap {
        self.requests().pop().unwrap().1
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

/// Responds with the requested range of a file, or the whole file.
pub(crate) fn ranged(request: &HeaderMap, headers: &[(&str, &str)], content: &Bytes) -> Response<Body> {
    ranged_by(request, headers, content.len(), |range| full(content.slice(range)))
}

/// Like [`ranged`], with a body for a range.
pub(crate) fn ranged_by(
    request: &HeaderMap,
    headers: &[(&str, &str)],
    len: usize,
    body: impl FnOnce(Range<usize>) -> Body,
) -> Response<Body> {
    let range = request.get("range").map(|range| ByteRange::parse(range.to_str().unwrap(), len as u64));
    let (status, range) = match range {
        Some(ByteRange::Part { start, end }) => {
            (206, usize::try_from(start).unwrap()..usize::try_from(end).unwrap())
        }
        _ => (200, 0..len),
    };
    let mut response = respond(status, headers, "");
    response.headers_mut().insert("content-length", range.len().into());
    if status == 206 {
        let place = format!("bytes {}-{}/{len}", range.start, range.end - 1);
        response.headers_mut().insert("content-range", place.parse().unwrap());
    }
    *response.body_mut() = body(range);
    response
}

/// A body of these frames; it breaks at the first error.
pub(crate) fn streamed(frames: impl Stream<Item = std::io::Result<Bytes>> + Send + Sync + 'static) -> Body {
    StreamBody::new(frames.map_ok(Frame::data)).boxed()
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

/// Index in JSON with these files of the project `demo`.
pub(crate) async fn file_index(files: impl IntoIterator<Item = (&'static str, Bytes)>) -> Server {
    let files: Arc<Vec<_>> = Arc::new(files.into_iter().collect());
    let page = Bytes::from(hashed_page(files.iter().cloned()));
    Server::start(move |path, headers| {
        let (files, page) = (files.clone(), page.clone());
        async move {
            match &*path {
                "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"Demo"}]}"#),
                "/simple/demo/" => respond(200, &[JSON], page),
                path => match files.iter().find(|(name, _)| path.strip_prefix("/f/") == Some(name)) {
                    Some((_, content)) => ranged(&headers, &[], content),
                    None => respond(404, &[], ""),
                },
            }
        }
    })
    .await
}

/// Waits until a condition is true.
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
