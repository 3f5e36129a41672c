//! Asking an index.

use std::error::Error as StdError;
use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_RANGE, RANGE,
};
use http::{HeaderMap, StatusCode, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Certificate, Client, ClientBuilder, RequestBuilder, Response};
use url::Url;

use super::budget::{Budget, Share};
use super::config::{Config, Credentials};
use super::meter::{Asked, Meter};
use super::place::Rule;
use super::{Answer, Body, PageBody, Validators};
use crate::breaker::{Breaker, Leave};
use crate::error::{Chain, Kind};
use crate::{Error, ProjectName};

const PAGES: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";
const SERIAL: &str = "x-pypi-last-serial";
const MAX_REDIRECTS: usize = 5;
/// An index that wants to be left alone for longer is asked all the same.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// An index, and the connections to it.
pub struct Upstream {
    config: Config,
    pages: Client,
    /// What it gets is never decompressed: hashes are those of the bytes as they travel.
    files: Client,
    rule: Arc<Rule>,
    meter: Arc<Meter>,
    /// For pages: files may be on other hosts.
    breaker: Mutex<Breaker>,
}

impl Upstream {
    /// Prepares to ask an index. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// Fails if an authority is no certificate ([`Error::is_config`]).
    pub fn new(config: Config) -> Result<Self, Error> {
        // All that can be wrong with it is what the configuration has put in.
        let wrong = |error: reqwest::Error| Error::with(Kind::Config, "TLS can't be set up").caused_by(error);
        let build = |builder: ClientBuilder| builder.build().map_err(wrong);
        let rule = Arc::new(Rule::new(config.url.clone(), config.hosts.clone(), proxy_hosts()));
        let pages = build(builder(&config, &rule)?)?;
        let files = build(builder(&config, &rule)?.no_gzip().no_zstd().no_deflate().no_brotli())?;
        Ok(Self { config, pages, files, rule, meter: Arc::default(), breaker: Mutex::default() })
    }

    /// How long a page is fresh.
    pub fn ttl(&self) -> Duration {
        self.config.ttl
    }

    /// The most bytes of a page.
    pub(crate) fn max_page(&self) -> u64 {
        self.config.max_page
    }

    /// Memory for pages that are decompressed.
    pub(crate) fn budget(&self) -> &Budget {
        &self.config.budget
    }

    /// A number for this index: the same whenever the program runs.
    pub(crate) fn id(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.config.url.as_str().as_bytes())
    }

    /// What was asked of it, and what came.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Asks whether it is there, whatever it answers.
    pub(crate) async fn probe(&self) -> Result<(), Error> {
        let request = self.pages.head(self.page_url(None)).header(ACCEPT, PAGES);
        let response = self.send(self.authorize(request), Asked::Page).await?;
        match response.status() {
            status if status.is_server_error() => Err(unexpected(status, response.headers())),
            _ => {
                self.responded();
                Ok(())
            }
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        // Nothing panics while it holds the lock.
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether pages are not requested for a while, because the index did not respond.
    pub(crate) fn is_left_alone(&self) -> bool {
        self.breaker().is_open()
    }

    /// Permission to request a page.
    fn leave(&self) -> Result<Leave, Error> {
        let now = tokio::time::Instant::now();
        let mut breaker = self.breaker();
        breaker.ask(now).ok_or_else(|| {
            Error::with(Kind::Upstream, "the index does not respond and is not asked for a while")
                .retried_after(Some(breaker.pause(now)))
        })
    }

    fn responded(&self) {
        if self.breaker().answered() {
            tracing::info!(index = %self, "the index responds again");
        }
    }

    /// Notes that the index did not send a whole response.
    fn was_silent(&self, leave: Leave, error: &Error) {
        if self.breaker().failed(leave, tokio::time::Instant::now()) {
            let error = Chain(error);
            tracing::warn!(index = %self, %error, "the index does not respond: no pages are requested for a while");
        }
    }

    /// Where the page of a project is, `None` for the list of all.
    pub fn page_url(&self, project: Option<&ProjectName>) -> Url {
        let mut url = self.config.url.clone();
        if let Some(project) = project {
            // A base has a path with a slash at its end, and a normal name needs no escape.
            url.set_path(&format!("{}{project}/", self.config.url.path()));
        }
        url
    }

    /// Asks for the page of a project, or for the list of all, if it is another than the one with these validators.
    ///
    /// After 5 pages in a row without a response, none is requested for a second, then one tries whether the index responds
    /// again; each time that it does not, the pause doubles, up to 30 seconds. Meanwhile the error has
    /// [`Error::retry_after`].
    ///
    /// # Errors
    ///
    /// Fails if the index does not answer, or with something else ([`Error::is_upstream`], [`Error::is_timeout`]), if it
    /// leads to a place that may not be asked ([`Error::is_forbidden`]), and if the page is too large ([`Error::is_limit`]).
    pub async fn page(&self, project: Option<&ProjectName>, known: &Validators) -> Result<Answer, Error> {
        let leave = self.leave()?;
        let result = self.fetch_page(project, known).await;
        match &result {
            Err(error) if is_silence(error) => self.was_silent(leave, error),
            _ => self.responded(),
        }
        result
    }

    async fn fetch_page(&self, project: Option<&ProjectName>, known: &Validators) -> Result<Answer, Error> {
        let mut request = self.pages.get(self.page_url(project)).header(ACCEPT, PAGES);
        request = header(request, IF_NONE_MATCH, known.etag.as_deref());
        if known.etag.is_none() {
            request = header(request, IF_MODIFIED_SINCE, known.last_modified.as_deref());
        }
        let response = self.send(self.authorize(request), Asked::Page).await?;
        let headers = response.headers();
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if !known.is_empty() => {
                return Ok(Answer::NotModified);
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(Answer::NotFound),
            status => return Err(unexpected(status, headers)),
        }
        let is_json = match headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) {
            Some(content_type) => content_type.to_ascii_lowercase().contains("json"),
            // Some mirrors do not tell.
            None => false,
        };
        let validators = Validators::of(headers);
        let serial = headers.get(SERIAL).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut share = self.budget().share();
        let bytes = self.collect(response, &mut share).await?;
        // A page without a type may be either.
        let is_json = is_json || bytes.trim_ascii_start().starts_with(b"{");
        Ok(Answer::Page(PageBody { bytes, is_json, validators, serial, share }))
    }

    /// Where a file is that the page of a project names.
    ///
    /// # Errors
    ///
    /// Fails if it is no URL ([`Error::is_upstream`]) or a place that files are not fetched from
    /// ([`Error::is_forbidden`]).
    pub fn resolve(&self, project: &ProjectName, url: &str) -> Result<Url, Error> {
        let url = self
            .page_url(Some(project))
            .join(url)
            .map_err(|_| Error::with(Kind::Upstream, "the index names something that is no URL"))?;
        self.rule.check(&url)?;
        Ok(url)
    }

    /// Fetches a file, or the part of it that follows a place. If the validators are those of the part that is there
    /// already and the file has changed since, it starts at its begin.
    ///
    /// # Errors
    ///
    /// Fails if there is no such file ([`Error::is_not_found`]), if the host does not answer or with something else
    /// ([`Error::is_upstream`], [`Error::is_timeout`]), and if it leads to a place that files are not fetched from
    /// ([`Error::is_forbidden`]).
    pub async fn file(&self, url: &Url, from: u64, known: &Validators) -> Result<Body, Error> {
        let mut request = self.files.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
            // A weak tag can't guard a range (RFC 9110, 13.1.5).
            let strong = known.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
            request = header(request, IF_RANGE, strong.or(known.last_modified.as_deref()));
        }
        self.body(self.authorize_at(request, url), from).await
    }

    /// Fetches part of a file. It may come as a whole all the same: what comes says where it starts.
    ///
    /// # Errors
    ///
    /// As [`Self::file`].
    pub async fn part(&self, url: &Url, range: Range<u64>) -> Result<Body, Error> {
        let request = self.files.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        let request = request.header(RANGE, format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
        self.body(self.authorize_at(request, url), range.start).await
    }

    /// The last bytes of a file, at most as many.
    ///
    /// # Errors
    ///
    /// As [`Self::file`].
    pub async fn tail(&self, url: &Url, bytes: u64) -> Result<Body, Error> {
        let request = self.files.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        self.body(self.authorize_at(request.header(RANGE, format!("bytes=-{bytes}")), url), 0).await
    }

    /// The part of a file that a client asks for in its own words.
    pub(crate) async fn asked(&self, url: &Url, range: &str) -> Result<Body, Error> {
        let request = self.files.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        self.body(self.authorize_at(header(request, RANGE, Some(range)), url), 0).await
    }

    /// Whether it is asked with a user and a password.
    pub(crate) fn has_credentials(&self) -> bool {
        self.config.credentials.is_some()
    }

    async fn body(&self, request: RequestBuilder, asked: u64) -> Result<Body, Error> {
        let response = self.send(request, Asked::File).await?;
        let headers = response.headers();
        let (range, len) = match response.status() {
            StatusCode::OK => (None, response.content_length()),
            StatusCode::PARTIAL_CONTENT => {
                let place = content_range(headers);
                let (range, len) =
                    place.ok_or_else(|| Error::with(Kind::Upstream, "a part of a file without its place"))?;
                (Some(range), len)
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => return Err(Error::new(Kind::NotFound)),
            status => return Err(unexpected(status, headers)),
        };
        if headers.contains_key(http::header::CONTENT_ENCODING) {
            return Err(Error::with(
                Kind::Upstream,
                "a file that is encoded on its way, which nobody asked for",
            ));
        }
        let start = range.as_ref().map_or(0, |range| range.start);
        if start > asked && asked > 0 {
            return Err(Error::with(Kind::Upstream, "another part of a file than was asked for"));
        }
        let validators = Validators::of(headers);
        let meter = self.meter.clone();
        let stream = response.bytes_stream().map(move |chunk| {
            match &chunk {
                Ok(bytes) => meter.received(Asked::File, bytes.len()),
                Err(error) => meter.failed(Asked::File, error.is_timeout()),
            }
            chunk.map_err(|error| failed(Asked::File, error))
        });
        let body = Body::new(start, len, validators, stream);
        Ok(match range {
            Some(range) => body.ending_at(range.end),
            None => body,
        })
    }

    /// Sends a request, and counts what becomes of it.
    async fn send(&self, request: RequestBuilder, asked: Asked) -> Result<Response, Error> {
        if self.config.offline {
            return Err(Error::new(Kind::Offline));
        }
        let begun = Instant::now();
        match request.send().await {
            Ok(response) => {
                self.meter.answered(asked, response.status(), begun.elapsed());
                Ok(response)
            }
            Err(error) => {
                self.meter.failed(asked, error.is_timeout());
                Err(failed(asked, error))
            }
        }
    }

    /// All of a page.
    async fn collect(&self, response: Response, share: &mut Share) -> Result<Vec<u8>, Error> {
        let too_large = || Error::with(Kind::Limit, "the size of a page");
        let max = self.config.max_page;
        let told = response.content_length().unwrap_or(0);
        if told > max {
            return Err(too_large());
        }
        // What a header tells may be wrong.
        let mut bytes = Vec::with_capacity(usize::try_from(told.min(4 << 20)).unwrap_or(0));
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| {
                self.meter.failed(Asked::Page, error.is_timeout());
                failed(Asked::Page, error)
            })?;
            self.meter.received(Asked::Page, chunk.len());
            if bytes.len() as u64 + chunk.len() as u64 > max {
                return Err(too_large());
            }
            // The index waits as well: nothing more is read of its answer meanwhile.
            share.grow(chunk.len() as u64).await;
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.config.credentials {
            Some(Credentials { user, password }) => request.basic_auth(user, Some(password)),
            None => request,
        }
    }

    /// Credentials are for the index alone, not for other hosts that it keeps its files on.
    fn authorize_at(&self, request: RequestBuilder, url: &Url) -> RequestBuilder {
        if url.origin() == self.config.url.origin() { self.authorize(request) } else { request }
    }
}

/// The URL with its credentials masked.
impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.config, f)
    }
}

/// Shows where it is, with credentials masked.
impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upstream").field(&self.config).finish()
    }
}

/// Hosts of the HTTP proxies that the environment sets, which reqwest uses.
fn proxy_hosts() -> Vec<String> {
    let proxies = Matcher::from_system();
    let host = |url| Some(proxies.intercept(&Uri::from_static(url))?.uri().host()?.to_ascii_lowercase());
    ["http://public.invalid/", "https://public.invalid/"].into_iter().filter_map(host).collect()
}

fn builder(config: &Config, rule: &Arc<Rule>) -> Result<ClientBuilder, Error> {
    let each = rule.clone();
    let redirect = reqwest::redirect::Policy::custom(move |attempt| {
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error("too many redirects");
        }
        match each.check(attempt.url()) {
            Ok(()) => attempt.follow(),
            Err(error) => attempt.error(error),
        }
    });
    let mut builder = Client::builder()
        // Whatever else is built into the same program: it honours the trust store as the documentation says.
        .tls_backend_rustls()
        .user_agent(concat!("pypi-proxy/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(config.connect_timeout)
        .read_timeout(config.read_timeout)
        .redirect(redirect)
        .referer(false)
        .tls_danger_accept_invalid_certs(!config.verify_tls);
    for pem in &config.authorities {
        let wrong =
            |error| Error::with(Kind::Config, "an authority is no certificate in PEM").caused_by(error);
        let certificates = Certificate::from_pem_bundle(pem).map_err(wrong)?;
        if certificates.is_empty() {
            return Err(Error::with(Kind::Config, "an authority is no certificate in PEM"));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    // A name that looks public may still resolve to a private address.
    if rule.limits_addresses() {
        builder = builder.dns_resolver(Arc::new(LimitedNames(rule.clone())));
    }
    Ok(builder)
}

/// Resolves names to the addresses that a rule allows.
struct LimitedNames(Arc<Rule>);

impl Resolve for LimitedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let rule = self.0.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> =
                found.filter(|found| rule.allows(name.as_str(), found.ip())).collect();
            if found.is_empty() {
                let detail = "a host that the index names has no public address (set file_hosts to allow it)";
                return Err(Error::with(Kind::Forbidden, detail).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn header(request: RequestBuilder, name: http::HeaderName, value: Option<&str>) -> RequestBuilder {
    match value.and_then(|value| HeaderValue::from_str(value).ok()) {
        Some(value) => request.header(name, value),
        None => request,
    }
}

/// The place and the whole length of `bytes 0-99/1000`.
fn content_range(headers: &HeaderMap) -> Option<(Range<u64>, Option<u64>)> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, len) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
    (first <= last).then(|| (first..last.saturating_add(1), len.trim().parse().ok()))
}

#[cold]
fn unexpected(status: StatusCode, headers: &HeaderMap) -> Error {
    let is_busy = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    Error::with(Kind::Upstream, format!("the index answers with status {}", status.as_u16()))
        .retried_after(if is_busy { retry_after(headers) } else { None })
}

/// Seconds or a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    let time = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).unwrap_or_default(),
    };
    Some(time.min(MAX_PAUSE))
}

/// Whether there was no response, or only a part of one.
fn is_silence(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<reqwest::Error>());
    source.is_some_and(|error| !error.is_redirect())
}

/// Whether the rule of redirects or that of names has refused a request.
fn is_forbidden(error: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |cause| StdError::source(*cause));
    causes.any(|cause| cause.is::<Error>())
}

/// URLs may hold tokens: no error shows one.
#[cold]
fn failed(asked: Asked, error: reqwest::Error) -> Error {
    let kind = if error.is_timeout() {
        Kind::Timeout
    } else if is_forbidden(&error) {
        Kind::Forbidden
    } else {
        Kind::Upstream
    };
    Error::with(kind, format!("a {} can't be fetched", asked.name())).caused_by(error.without_url())
}
