//! Answering requests.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION,
    RANGE, WWW_AUTHENTICATE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use url::Url;

use super::Body;
use super::respond::{FileHead, Wanted, failure, page, text, typed};
use super::route::{Kept, Permanent, Route};
use crate::error::Kind;
use crate::metadata::MetadataSource;
use crate::page::{File, Metadata};
use crate::pages::{Pages, Served};
use crate::store::{Digest, Expected, Fill, Filling, Key, Source, Store, Stored};
use crate::upstream::{self, Upstream, Validators};
use crate::{ByteRange, Coding, Error, Form, ProjectName};

/// What a range of a file that is not here may wait for: that much of the file on its way.
const NEAR: u64 = 1 << 20;

/// What files are that nobody should look into.
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// How the proxy answers.
#[derive(Clone, Default)]
pub struct Config {
    redirect_after: Option<Duration>,
    admin_token: Option<String>,
    binary_type: bool,
}

impl Config {
    /// Clients get every file from here, and anybody may have the cache forget things.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends clients to the upstream for a file of which nothing has come after this time; it is fetched all the same.
    /// After no time at all, they are sent there for every file that is not stored. Not done for files of an index with
    /// credentials. Default: never.
    #[must_use]
    pub fn redirect_after(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.redirect_after = time.into();
        self
    }

    /// Demands this token, as `Authorization: Bearer`, from those who have the cache forget things. Default: none.
    #[must_use]
    pub fn admin_token(mut self, token: impl Into<Option<String>>) -> Self {
        self.admin_token = token.into();
        self
    }

    /// Sends all files as `application/octet-stream`. Default: as what they are.
    #[must_use]
    pub fn binary_type(mut self, is_on: bool) -> Self {
        self.binary_type = is_on;
        self
    }
}

/// Shows no token.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("redirect_after", &self.redirect_after)
            .field("has_admin_token", &self.admin_token.is_some())
            .field("binary_type", &self.binary_type)
            .finish()
    }
}

/// The proxy: pages and files of some indexes, as answers to requests.
#[derive(Clone, Debug)]
pub struct Proxy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    upstreams: Vec<Arc<Upstream>>,
    pages: Pages,
    store: Store,
    config: Config,
}

impl Proxy {
    /// A proxy of these indexes, with their pages and a store of files.
    pub fn new(upstreams: Vec<Arc<Upstream>>, pages: Pages, store: Store, config: Config) -> Self {
        Self(Arc::new(Inner { upstreams, pages, store, config }))
    }

    /// Answers a request. What it has as a body is not looked at.
    pub async fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        let (method, headers) = (request.method(), request.headers());
        let route = Route::of(request.uri().path());
        let is_kept = matches!(route, Route::Kept(_));
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if route == Route::Unknown || is_kept && is_read && !matches!(route, Route::Kept(Kept::List)) {
            return text(StatusCode::NOT_FOUND, "Not Found");
        }
        if if is_kept { *method != Method::DELETE } else { !is_read } {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            let allowed = HeaderValue::from_static(if is_kept { "DELETE" } else { "GET, HEAD" });
            response.headers_mut().insert(ALLOW, allowed);
            return response;
        }
        let mut response = match route {
            Route::List => self.list(request.uri().query(), headers).await,
            Route::Project(name) => match ProjectName::parse(&name) {
                Ok(name) => self.project(&name, request.uri().query(), headers).await,
                Err(error) => failure(&error),
            },
            Route::File { project, file } => match ProjectName::parse(&project) {
                Ok(project) => match self.file(&project, &file, method, headers).await {
                    Ok(mut response) => {
                        if self.0.config.binary_type && response.status().is_success() {
                            response.headers_mut().insert(CONTENT_TYPE, OCTETS);
                        }
                        response
                    }
                    Err(error) => failure(&error),
                },
                Err(error) => failure(&error),
            },
            Route::Kept(kept) => self.forget(kept, headers).await,
            Route::Moved { permanent, to } => moved(permanent, &to, request.uri().query()),
            Route::Home => typed(StatusCode::OK, "text/html; charset=utf-8", HOME),
            Route::Health => self.health(),
            Route::Live | Route::Ready => text(StatusCode::OK, "ok\n"),
            Route::Metrics => {
                typed(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", self.metrics())
            }
            Route::Unknown => text(StatusCode::NOT_FOUND, "Not Found"),
        };
        if *method == Method::HEAD {
            without_body(&mut response);
        }
        response
    }

    async fn list(&self, query: Option<&str>, headers: &HeaderMap) -> Response<Body> {
        match self.0.pages.list().await {
            Ok(served) => self.page(&served, query, headers).await,
            Err(error) => failure(&error),
        }
    }

    async fn project(&self, name: &ProjectName, query: Option<&str>, headers: &HeaderMap) -> Response<Body> {
        match self.0.pages.project(name).await {
            Ok(served) => self.page(&served, query, headers).await,
            Err(error) => failure(&error),
        }
    }

    async fn page(&self, served: &Served, query: Option<&str>, headers: &HeaderMap) -> Response<Body> {
        let header =
            |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or("");
        let asked = query
            .and_then(|query| form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "format"));
        let form = match asked {
            Some((_, format)) => Form::from_query(&format),
            None => Form::from_accept(header(ACCEPT)),
        };
        let Some(form) = form else {
            return text(StatusCode::NOT_ACCEPTABLE, "None of the accepted media types is available.");
        };
        let coding = Coding::from_accept(header(ACCEPT_ENCODING));
        page(headers, served, form, coding, served.entry.variant(form, coding).await)
    }

    /// A file, or the metadata or signature of one.
    async fn file(
        &self,
        project: &ProjectName,
        name: &str,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, Error> {
        let served = self.0.pages.project(project).await?;
        let found = Found::of(&served, project, name, &self.0.upstreams)?;
        let digest = match found.expected.sha256 {
            Some(digest) => Some(digest),
            None => self.0.store.lookup(project, name),
        };
        if let Some(stored) = digest.and_then(|digest| self.0.store.get(&digest)) {
            return Ok(stored_file(name, stored, headers));
        }
        let etag = found.expected.sha256.map(|digest| tag(&digest));
        let head = FileHead { name, len: found.expected.size, etag, verdict: "miss" };
        if *method == Method::HEAD && head.len.is_some() {
            return Ok(match head.wanted(headers) {
                Wanted::All => head.respond(Body::empty()),
                Wanted::Part(range) => head.respond_part(range, Body::empty()),
                Wanted::Nothing(response) => *response,
            });
        }
        let running = self.0.store.running(&found.key);
        if headers.contains_key(RANGE)
            && found.made_of.is_none()
            && running.as_ref().is_none_or(|fill| !is_near(fill, headers, head.len))
            && !self.is_redirected(&found)
        {
            return self.pass(&found, &head, headers).await;
        }
        if !self.0.store.is_on()
            && self.0.config.redirect_after == Some(Duration::ZERO)
            && self.is_redirected(&found)
        {
            return Ok(redirect(&found.url));
        }
        let filling = match &found.made_of {
            Some(wheel) => {
                let stored = wheel.sha256.and_then(|digest| self.0.store.get(&digest));
                let (upstream, url) = (found.upstream.clone(), found.url.clone());
                let source = MetadataSource { upstream, url, name: wheel.name.clone(), stored };
                self.0.store.fill(found.key.clone(), found.expected, source)
            }
            None => {
                let source = From { upstream: found.upstream.clone(), url: found.url.clone() };
                self.0.store.fill(found.key.clone(), found.expected, source)
            }
        };
        let fill = match filling {
            Filling::Stored(stored) => return Ok(stored_file(name, stored, headers)),
            Filling::Running(fill) => fill,
        };
        let told = match self.0.config.redirect_after.filter(|_| self.is_redirected(&found)) {
            None => fill.head().await?,
            Some(Duration::ZERO) => return Ok(redirect(&found.url)),
            Some(time) => match tokio::time::timeout(time, fill.head()).await {
                Ok(told) => told?,
                Err(_) => return Ok(redirect(&found.url)),
            },
        };
        let head = FileHead { len: told.len, ..head };
        Ok(match head.wanted(headers) {
            Wanted::All => head.respond(Body::growing(fill.reader(None), head.len)),
            Wanted::Part(range) => {
                let len = range.end - range.start;
                head.respond_part(range.clone(), Body::growing(fill.reader(Some(range)), Some(len)))
            }
            Wanted::Nothing(response) => *response,
        })
    }

    fn is_redirected(&self, found: &Found) -> bool {
        self.0.config.redirect_after.is_some() && !found.upstream.has_credentials() && found.made_of.is_none()
    }

    /// Part of a file that is not here: only that part is fetched.
    async fn pass(
        &self,
        found: &Found,
        head: &FileHead<'_>,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, Error> {
        let range = headers.get(RANGE).and_then(|range| range.to_str().ok()).unwrap_or_default();
        // Without the length, a range can only be understood by who has the file.
        let body = match head.len.map(|len| ByteRange::parse(range, len)) {
            Some(ByteRange::Part { start, end }) => {
                let body = found.upstream.part(&found.url, start..end).await?;
                // A client that does not look would take it for what it has asked for.
                let is_other = body.is_part() && (body.start, body.part_len()) != (start, Some(end - start));
                if is_other || body.len.is_some_and(|len| head.len != Some(len)) {
                    return Err(Error::with(Kind::Upstream, "another part of a file than was asked for"));
                }
                body
            }
            Some(ByteRange::Unsatisfiable) => {
                return Ok(match head.wanted(headers) {
                    Wanted::Nothing(response) => *response,
                    _ => head.respond(Body::empty()),
                });
            }
            Some(ByteRange::Full) | None => found.upstream.asked(&found.url, range).await?,
        };
        let head = FileHead {
            len: head.len.or(body.len),
            name: head.name,
            etag: head.etag.clone(),
            verdict: "pass",
        };
        let (start, part_len) = (body.start, body.part_len());
        Ok(match part_len {
            Some(len) if body.is_part() => {
                head.respond_part(start..start + len, Body::passing(body, Some(len)))
            }
            len => head.respond(Body::passing(body, len)),
        })
    }

    async fn forget(&self, kept: Kept<'_>, headers: &HeaderMap) -> Response<Body> {
        if let Some(token) = &self.0.config.admin_token {
            let given =
                headers.get(AUTHORIZATION).and_then(|given| given.to_str().ok()?.strip_prefix("Bearer "));
            let is_right = given.is_some_and(|given| {
                aws_lc_rs::constant_time::verify_slices_are_equal(given.as_bytes(), token.as_bytes()).is_ok()
            });
            if !is_right {
                let mut response = text(StatusCode::UNAUTHORIZED, "Unauthorized");
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                return response;
            }
        }
        match self.forget_kept(kept).await {
            Ok(()) => typed(StatusCode::OK, "application/json", r#"{"data":null,"status":"success"}"#),
            Err(error) => failure(&error),
        }
    }

    async fn forget_kept(&self, kept: Kept<'_>) -> Result<(), Error> {
        match kept {
            Kept::List => self.0.pages.forget(None).await,
            Kept::Project(name) => self.0.pages.forget(Some(&ProjectName::parse(&name)?)).await,
            Kept::All => self.0.pages.forget_all().await,
            Kept::File { project, file } => {
                let project = ProjectName::parse(&project)?;
                let served = self.0.pages.project(&project).await?;
                let found = Found::of(&served, &project, &file, &self.0.upstreams)?;
                let digest = found.expected.sha256.or_else(|| self.0.store.lookup(&project, &file));
                let store = self.0.store.clone();
                let Some(digest) = digest else { return Ok(()) };
                let work = move || store.remove(&digest).map(drop);
                tokio::task::spawn_blocking(work).await.unwrap_or(Ok(()))
            }
        }
    }

    fn health(&self) -> Response<Body> {
        let stats = self.0.store.stats();
        let index = self.0.upstreams.first();
        let document = serde_json::json!({
            "status": "success",
            "data": {
                "index_url": index.map(|index| index.to_string()),
                "index_ttl_seconds": index.map(|index| index.ttl().as_secs()),
                "cache_size": stats.bytes,
                "storage_type": "local",
            },
            "timestamp": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        });
        typed(StatusCode::OK, "application/json", document.to_string())
    }

    fn metrics(&self) -> String {
        use std::fmt::Write as _;

        let stats = self.0.store.stats();
        let mut out = String::new();
        let mut put = |name: &str, kind: &str, help: &str, value: u64| {
            // Writing into a string does not fail.
            let _ = write!(
                out,
                "# HELP pypi_proxy_{name} {help}\n# TYPE pypi_proxy_{name} {kind}\npypi_proxy_{name} {value}\n"
            );
        };
        put("files", "gauge", "Files that are stored.", stats.files);
        put("file_bytes", "gauge", "Bytes of the files that are stored.", stats.bytes);
        put("page_bytes", "gauge", "Bytes of pages in memory.", self.0.pages.bytes());
        put("transfers", "gauge", "Files on their way from an upstream.", stats.running);
        put("transfers_finished_total", "counter", "Files that were fetched.", stats.fetched);
        put("transfers_failed_total", "counter", "Files that could not be fetched.", stats.failed);
        put(
            "transfers_corrupt_total",
            "counter",
            "Files that were not what they should have been.",
            stats.corrupt,
        );
        put(
            "transfers_resumed_total",
            "counter",
            "Times that the rest of a file was asked for.",
            stats.resumed,
        );
        put(
            "files_unwritten_total",
            "counter",
            "Files that could not be written, but were passed on.",
            stats.unwritten,
        );
        put("files_evicted_total", "counter", "Files that were removed to make room.", stats.evicted);
        out
    }
}

/// The page for people.
const HOME: &str = include_str!("home.html");

/// A file that a page names, and where it is.
struct Found {
    upstream: Arc<Upstream>,
    url: Url,
    key: Key,
    expected: Expected,
    /// For metadata that only the wheel has: the wheel, and `url` is its address.
    made_of: Option<Wheel>,
}

struct Wheel {
    name: String,
    sha256: Option<Digest>,
}

impl Found {
    fn of(
        served: &Served,
        project: &ProjectName,
        name: &str,
        upstreams: &[Arc<Upstream>],
    ) -> Result<Self, Error> {
        let missing = || Error::new(Kind::NotFound);
        let by_name = || Key::Name(project.clone(), name.into());
        let place = |index: usize, file: &File<'_>| {
            let upstream = upstreams.get(index).ok_or_else(missing)?;
            Ok::<_, Error>((upstream.clone(), upstream.resolve(project, file.url())?))
        };
        if let Some((index, file)) = served.entry.file(name) {
            let details = file.details();
            let (upstream, url) = place(index, &file)?;
            let sha256 = details.sha256.map(Digest);
            let key = sha256.map_or_else(by_name, Key::Digest);
            let expected = Expected { sha256, size: details.size };
            return Ok(Self { upstream, url, key, expected, made_of: None });
        }
        let (base, end) = name.rsplit_once('.').ok_or_else(missing)?;
        let (index, file) = served.entry.file(base).ok_or_else(missing)?;
        let details = file.details();
        let sha256 = match (end, details.metadata) {
            ("metadata", Metadata::Present(sha256)) => sha256.map(Digest),
            ("metadata", Metadata::Made) => {
                let (upstream, url) = place(index, &file)?;
                let made_of = Some(Wheel { name: base.to_owned(), sha256: details.sha256.map(Digest) });
                return Ok(Self { upstream, url, key: by_name(), expected: Expected::default(), made_of });
            }
            ("asc", _) if details.has_signature != Some(false) => None,
            _ => return Err(missing()),
        };
        let (upstream, mut url) = place(index, &file)?;
        let path = format!("{}.{end}", url.path());
        url.set_path(&path);
        let key = sha256.map_or_else(by_name, Key::Digest);
        Ok(Self { upstream, url, key, expected: Expected { sha256, size: None }, made_of: None })
    }
}

/// An upstream as the source of one file.
struct From {
    upstream: Arc<Upstream>,
    url: Url,
}

impl Source for From {
    async fn open(&mut self, from: u64, known: &Validators) -> Result<upstream::Body, Error> {
        self.upstream.file(&self.url, from, known).await
    }
}

/// Whether a range is in the part of the file that is here, or soon will be.
fn is_near(fill: &Fill, headers: &HeaderMap, len: Option<u64>) -> bool {
    let range = headers.get(RANGE).and_then(|range| range.to_str().ok()).unwrap_or_default();
    match ByteRange::parse(range, len.unwrap_or(u64::MAX)) {
        ByteRange::Part { start, .. } => start <= fill.available().saturating_add(NEAR),
        ByteRange::Full | ByteRange::Unsatisfiable => true,
    }
}

fn tag(digest: &Digest) -> HeaderValue {
    // Digits and letters are always a value.
    HeaderValue::from_str(&format!("\"{digest}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

fn stored_file(name: &str, stored: Stored, headers: &HeaderMap) -> Response<Body> {
    let Stored { file, len, digest } = stored;
    let head = FileHead { name, len: Some(len), etag: Some(tag(&digest)), verdict: "hit" };
    match head.wanted(headers) {
        Wanted::All => head.respond(Body::file(file, 0..len)),
        Wanted::Part(range) => head.respond_part(range.clone(), Body::file(file, range)),
        Wanted::Nothing(response) => *response,
    }
}

fn moved(permanent: Permanent, to: &str, query: Option<&str>) -> Response<Body> {
    let status = match permanent {
        Permanent::Moved => StatusCode::MOVED_PERMANENTLY,
        Permanent::Redirect => StatusCode::PERMANENT_REDIRECT,
    };
    let to = query.map_or_else(|| to.to_owned(), |query| format!("{to}?{query}"));
    let mut response = text(status, "");
    if let Ok(to) = HeaderValue::from_str(&to) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}

fn redirect(url: &Url) -> Response<Body> {
    let mut response = text(StatusCode::FOUND, "");
    if let Ok(url) = HeaderValue::from_str(url.as_str()) {
        response.headers_mut().insert(LOCATION, url);
    }
    response
}

/// The answer to `HEAD`: the same, with the length of what is left out.
fn without_body(response: &mut Response<Body>) {
    let body = std::mem::replace(response.body_mut(), Body::empty());
    let status = response.status();
    if let Some(len) = http_body::Body::size_hint(&body).exact()
        && !response.headers().contains_key(CONTENT_LENGTH)
        && status != StatusCode::NOT_MODIFIED
    {
        response.headers_mut().insert(CONTENT_LENGTH, len.into());
    }
}
