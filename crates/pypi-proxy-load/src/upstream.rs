//! The local index that all servers use as their upstream: an HTTP server in this process that counts requests.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::client::JSON;
use crate::data::{self, Data};

/// Rate limit of slow files in bytes per second, shared by all connections.
const SLOW: u64 = 30_000_000;

/// Media type of files, and name of the list of all names, which is JSON for every client.
const FILE: &str = "application/octet-stream";
const ALL: &str = "all.json";

/// Bytes written at a time to a rate-limited response.
const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    /// Serves requests until it is dropped.
    _runtime: Runtime,
}

#[derive(Debug)]
struct Shared {
    dir: PathBuf,
    counts: Mutex<HashMap<String, usize>>,
    /// Contents of the files requested so far.
    files: Mutex<HashMap<String, Bytes>>,
    /// Time at which the next chunk of a slow file may be sent.
    next: Mutex<Instant>,
}

impl Upstream {
    /// Serves the content of the index.
    pub(crate) fn start(data: &Data) -> Result<Self> {
        let upstream = Self::listen(&data.dir)?;
        data.write_pages(&format!("http://{}", upstream.address))?;
        Ok(upstream)
    }

    /// Serves the files of a folder, including files added later.
    pub(crate) fn listen(dir: &Path) -> Result<Self> {
        let (counts, files, next) = (Mutex::default(), Mutex::default(), Mutex::new(Instant::now()));
        let shared = Arc::new(Shared { dir: dir.to_owned(), counts, files, next });
        let runtime = Runtime::new()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)));
        let listener = listener.context("no port available for the index")?;
        let address = listener.local_addr()?;
        let router = Router::new().fallback(serve).with_state(shared.clone());
        runtime.spawn(axum::serve(listener, router).into_future());
        Ok(Self { address, shared, _runtime: runtime })
    }

    /// Returns the URL of the index with the list of a large mirror.
    pub(crate) fn index(&self) -> String {
        format!("http://{}/simple/", self.address)
    }

    /// Returns the URL of the index with the list of all names.
    pub(crate) fn whole_index(&self) -> String {
        format!("http://{}/all/simple/", self.address)
    }

    /// Returns the number of GET requests for a path, with or without a slash at its end.
    pub(crate) fn count(&self, path: &str) -> usize {
        locked(&self.shared.counts).get(path.trim_end_matches('/')).copied().unwrap_or(0)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().path();
    if request.method() != Method::HEAD {
        *locked(&shared.counts).entry(path.trim_end_matches('/').to_owned()).or_default() += 1;
    }
    let has =
        |name: &str, word: &str| header(request.headers(), name).is_some_and(|value| value.contains(word));
    let (end, kind) = if has("accept", "json") { ("json", JSON) } else { ("html", "text/html") };
    let file = path.strip_prefix("/files/").or_else(|| path.strip_prefix("/slow/"));
    let (name, kind) = match (file, path.trim_end_matches('/')) {
        (Some(file), _) => (format!("files/{file}"), FILE),
        (None, "/all/simple") => (ALL.to_owned(), JSON),
        (None, "/simple") => (format!("list.{end}"), kind),
        (None, page) => (format!("{}.{end}", page.trim_start_matches("/simple/")), kind),
    };
    let is_gzip = kind != FILE && name != ALL && has("accept-encoding", "gzip");
    let file = shared.content(&format!("{name}{}", if is_gzip { ".gz" } else { "" }));
    let Some(content) = file else { return StatusCode::NOT_FOUND.into_response() };
    let tag = format!("\"{}-{}\"", content.len(), u8::from(is_gzip));
    if header(request.headers(), "if-none-match") == Some(&tag) {
        return (StatusCode::NOT_MODIFIED, [("ETag", tag)]).into_response();
    }
    let len = content.len();
    let range = header(request.headers(), "range").and_then(|value| range(value, len));
    let (start, end) = range.unwrap_or((0, len));
    let content = content.slice(start..end);
    let body = if path.starts_with("/slow/") { shared.limited(content) } else { content.into() };
    let headers = [
        ("Content-Type", kind.to_owned()),
        ("Content-Length", (end - start).to_string()),
        ("ETag", tag),
        ("Cache-Control", "max-age=600, public".to_owned()),
        ("Accept-Ranges", "bytes".to_owned()),
        ("Last-Modified", "Sun, 01 Jun 2025 12:34:56 GMT".to_owned()),
        ("Vary", "Accept, Accept-Encoding".to_owned()),
    ];
    let coding = is_gzip.then_some([("Content-Encoding", "gzip")]);
    let range = range.map(|(start, end)| [("Content-Range", format!("bytes {start}-{}/{len}", end - 1))]);
    let status = if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    (status, headers, coding, range, body).into_response()
}

impl Shared {
    fn content(&self, name: &str) -> Option<Bytes> {
        let mut files = locked(&self.files);
        if let Some(content) = files.get(name) {
            return Some(content.clone());
        }
        let content = match name {
            ALL => data::json_list(&data::names(data::ALL_NAMES)).into_bytes(),
            name if name.contains("..") => return None,
            name => fs::read(self.dir.join(name)).ok()?,
        };
        Some(files.entry(name.to_owned()).or_insert(content.into()).clone())
    }

    fn limited(self: Arc<Self>, content: Bytes) -> Body {
        let next = move |mut content: Bytes| {
            let shared = self.clone();
            async move {
                let chunk = content.split_to(content.len().min(CHUNK));
                let at = {
                    let mut next = locked(&shared.next);
                    let at = (*next).max(Instant::now());
                    *next = at + Duration::from_nanos(chunk.len() as u64 * 1_000_000_000 / SLOW);
                    at
                };
                tokio::time::sleep_until(at.into()).await;
                (!chunk.is_empty()).then_some((Ok::<_, Infallible>(chunk), content))
            }
        };
        Body::from_stream(stream::unfold(content, next))
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Parses a range with a first byte. Returns the first byte and the end.
fn range(value: &str, len: usize) -> Option<(usize, usize)> {
    let (start, last) = value.strip_prefix("bytes=")?.split_once('-')?;
    let end = last.parse().map_or(len, |last: usize| len.min(last + 1));
    start.parse().ok().filter(|start| *start < end).map(|start| (start, end))
}
