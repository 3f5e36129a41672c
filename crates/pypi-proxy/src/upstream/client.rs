//! HTTP client for one index: pages, files and byte ranges.

use std::error::Error as StdError;
use std::fmt;
use std::io::Read as _;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use encoding_rs::{Encoding, UTF_8};
use flate2::bufread::MultiGzDecoder;
use futures_util::StreamExt;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, RANGE,
};
use http::{HeaderMap, StatusCode, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response};
use tokio_rustls::rustls::ClientConfig;
use url::Url;

use super::budget::{Budget, Reservation};
use super::config::Config;
use super::metrics::{RequestKind, UpstreamMetrics};
use super::tls::{self, SystemVerifier, TlsClient};
use super::url_policy::UrlPolicy;
use super::{FileBody, PageBody, PageResponse, Validators};
use crate::breaker::{Breaker, Permit};
use crate::error::{Chain, Kind};
use crate::{Error, ProjectName, system};

const PAGE_MEDIA_TYPES: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";
/// Installers ignore it at the start of a page.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const SERIAL_HEADER: &str = "x-pypi-last-serial";
/// Text of the error while the circuit breaker is open.
pub(crate) const PAUSED: &str = "the index does not respond; page requests are paused";
const MAX_REDIRECTS: usize = 5;
/// Longer `Retry-After` delays are reduced to this.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Client for one index, with its connection pools.
pub struct Upstream {
    config: Config,
    pages: Client,
    /// Does not decompress: hashes apply to the transferred bytes.
    files: Client,
    policy: Arc<UrlPolicy>,
    /// `None` if any certificate is accepted.
    verifier: Option<Arc<SystemVerifier>>,
    pub(crate) meter: Arc<UpstreamMetrics>,
    /// Applies to pages only: files may be on other hosts.
    breaker: Mutex<Breaker>,
}

impl Upstream {
    /// Creates the client without connecting.
    ///
    /// # Errors
    ///
    /// Fails if an authority is not a PEM certificate ([`Error::is_config`]).
    pub fn new(config: Config) -> Result<Self, Error> {
        let tls = TlsClient::new(&config.authorities, config.danger_accept_any_certificate)?;
        Self::with_tls(config, tls)
    }

    /// Like [`Self::new`], with a TLS configuration that several indexes share.
    pub(crate) fn with_tls(config: Config, tls: Option<TlsClient>) -> Result<Self, Error> {
        let (tls, verifier) = tls.map(|TlsClient { config, verifier }| (config, verifier)).unzip();
        let policy = Arc::new(UrlPolicy::new(config.url.clone(), config.file_hosts.clone(), proxy_hosts()));
        let build = |builder: ClientBuilder| builder.build().map_err(tls::error);
        let pages = build(builder(&config, &policy, tls.clone()))?;
        let files = builder(&config, &policy, tls).no_gzip().no_zstd().no_deflate().no_brotli();
        let files = build(files)?;
        Ok(Self { config, pages, files, policy, verifier, meter: Arc::default(), breaker: Mutex::default() })
    }

    /// Reads the authorities of the system if the index needs them, so that its first request does not wait for this.
    /// Blocks the thread.
    pub(crate) fn prepare(&self) {
        if let Some(verifier) = &self.verifier
            && self.config.url.scheme() == "https"
        {
            // The next handshake reports an error.
            let _ = verifier.load();
        }
    }

    /// Continues the metrics of a previous client of the same index.
    #[must_use]
    pub(crate) fn succeeding(mut self, previous: &[Arc<Self>]) -> Self {
        if let Some(previous) = previous.iter().find(|previous| previous.id() == self.id()) {
            self.meter = previous.meter.clone();
        }
        self
    }

    /// Returns the time for which a page is served without revalidation.
    pub fn ttl(&self) -> Duration {
        self.config.ttl
    }

    /// Returns whether no request is sent.
    pub(crate) fn is_offline(&self) -> bool {
        self.config.offline
    }

    pub(crate) fn max_page(&self) -> u64 {
        self.config.max_page
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.config.budget
    }

    /// Returns an identifier derived from the URL, stable across restarts.
    pub(crate) fn id(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.config.url.as_str().as_bytes())
    }

    /// Sends a `HEAD` request. Any response except a server error counts as success.
    pub(crate) async fn probe(&self) -> Result<(), Error> {
        let request = self.pages.head(self.page_url(None)).header(ACCEPT, PAGE_MEDIA_TYPES);
        let response = self.send(self.authorize(request).await, RequestKind::Page).await?;
        if response.status().is_server_error() {
            return Err(unexpected(response.status(), response.headers()));
        }
        self.record_success();
        Ok(())
    }

    /// Returns whether the circuit breaker is open, so that no pages are requested.
    pub(crate) fn is_circuit_open(&self) -> bool {
        self.breaker.lock().is_open()
    }

    /// Returns permission to request a page.
    fn permit(&self) -> Result<Permit, Error> {
        let now = tokio::time::Instant::now();
        let mut breaker = self.breaker.lock();
        breaker
            .try_acquire(now)
            .ok_or_else(|| Error::with(Kind::Upstream, PAUSED).retried_after(Some(breaker.pause(now))))
    }

    fn record_success(&self) {
        if self.breaker.lock().record_success() {
            tracing::info!(index = %self, "the index responds again");
        }
    }

    /// Records that the index sent no or only a partial response.
    fn record_failure(&self, permit: Permit, error: &Error) {
        if self.breaker.lock().record_failure(permit, tokio::time::Instant::now()) {
            let error = Chain(error);
            tracing::warn!(index = %self, %error, "{PAUSED}");
        }
    }

    /// Returns the URL of the page of a project, or of the project list for `None`.
    pub fn page_url(&self, project: Option<&ProjectName>) -> Url {
        let mut url = self.config.url.clone();
        if let Some(project) = project {
            // The base path ends with a slash, and normalized names need no escaping.
            url.set_path(&format!("{}{project}/", self.config.url.path()));
        }
        url
    }

    /// Requests the page of a project, or the project list for `None`, with a conditional request if `known` has
    /// validators.
    ///
    /// After 5 consecutive page requests without a response, a circuit breaker opens for one second. Then one request
    /// probes the index; each failed probe doubles the delay, up to 30 seconds. While the breaker is open, requests
    /// fail with [`Error::retry_after`].
    ///
    /// # Errors
    ///
    /// Fails if the index sends no or an unexpected response ([`Error::is_upstream`], [`Error::is_timeout`]), redirects
    /// to a forbidden URL ([`Error::is_forbidden`]), or sends too large a page ([`Error::is_limit`]).
    pub async fn page(
        &self,
        project: Option<&ProjectName>,
        known: &Validators,
    ) -> Result<PageResponse, Error> {
        let url = self.page_url(project);
        let response = self.fetch(url, PAGE_MEDIA_TYPES, self.config.max_page, known);
        let response = self.with_breaker(response).await?;
        if let PageResponse::Page(PageBody { has_page_type: false, .. }) = response {
            return Err(Error::with(Kind::Page, "the response is neither HTML nor JSON"));
        }
        Ok(response)
    }

    /// Returns the URL of a project, or of one of its versions, in the JSON API. Returns `None` if the index has no
    /// JSON API.
    pub(crate) fn json_url(&self, project: &ProjectName, version: Option<&str>) -> Option<Url> {
        let mut url = self.config.json_api.clone()?;
        let version = version.map(|version| format!("{version}/")).unwrap_or_default();
        // A URL that was set may lack the slash. Names and versions need no escaping.
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{project}/{version}json"));
        Some(url)
    }

    /// Returns the URL of the JSON API, if the index has one.
    pub(crate) fn json_api(&self) -> Option<&Url> {
        self.config.json_api.as_ref()
    }

    /// Requests a document other than a page, of at most `max` bytes. The credentials are sent only if its URL has the
    /// origin of the index.
    ///
    /// Fails as [`Self::page`], and if the URL is forbidden ([`Error::is_forbidden`]).
    pub(crate) async fn document(
        &self,
        url: &Url,
        max: u64,
        known: &Validators,
    ) -> Result<PageResponse, Error> {
        self.policy.check(url)?;
        let response = self.fetch(url.clone(), "application/json, */*;q=0.1", max, known);
        // The breaker is about the host of the index.
        if url.origin() == self.config.url.origin() {
            self.with_breaker(response).await
        } else {
            response.await
        }
    }

    /// Waits for a response unless the circuit breaker is open, and records whether there was one.
    async fn with_breaker<T>(&self, response: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let permit = self.permit()?;
        let result = response.await;
        match &result {
            Err(error) if is_connection_failure(error) => self.record_failure(permit, error),
            _ => self.record_success(),
        }
        result
    }

    async fn fetch(
        &self,
        url: Url,
        accept: &str,
        max: u64,
        known: &Validators,
    ) -> Result<PageResponse, Error> {
        let is_own = url.origin() == self.config.url.origin();
        let mut request = self.pages.get(url.clone()).header(ACCEPT, accept);
        request = header(request, IF_NONE_MATCH, known.etag.as_deref());
        if known.etag.is_none() {
            request = header(request, IF_MODIFIED_SINCE, known.last_modified.as_deref());
        }
        let request = if is_own { self.authorize(request).await } else { request };
        let response = self.send(request, RequestKind::Page).await?;
        let headers = response.headers();
        match response.status() {
            StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION => {}
            StatusCode::NOT_MODIFIED if !known.is_empty() => return Ok(PageResponse::NotModified),
            status if self.config.is_missing(status) => return Ok(PageResponse::NotFound),
            status => return Err(unexpected(status, headers)),
        }
        let content_type = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
        let content_type = content_type.map(str::to_ascii_lowercase);
        // Some mirrors send no content type.
        let is = |kind| content_type.as_ref().is_some_and(|content_type| content_type.contains(kind));
        let is_json = is("json");
        let has_page_type = is_json || is("html") || content_type.is_none();
        let is_redirected = !is_same_site(&url, response.url());
        let mut base = response.url().clone();
        base.set_query(None);
        base.set_fragment(None);
        let base = (base != url).then(|| Box::new(base));
        let validators = Validators::of(headers);
        let serial = headers.get(SERIAL_HEADER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let charset = content_type.as_ref().and_then(|it| it.split_once("charset=")?.1.split(';').next());
        // JSON is UTF-8, whatever the header says.
        let charset = charset.filter(|_| !is_json).map(|it| it.trim().trim_matches('"'));
        // reqwest decodes a single coding with a name in lower case, but not `x-gzip`. Installers ignore unknown ones.
        let codings = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let is_gzip =
            |coding: &&str| ["gzip", "x-gzip"].iter().any(|it| coding.trim().eq_ignore_ascii_case(it));
        let layers = codings.flat_map(|codings| codings.split(',')).filter(is_gzip).count();
        let mut reservation = self.budget().reserve();
        let mut bytes = self.collect(response, max, &mut reservation).await?;
        for _ in 0..layers {
            bytes = gunzip(&bytes, max, &mut reservation).await?;
        }
        let of_charset = || Some((Encoding::for_label(charset?.as_bytes())?, 0));
        let (encoding, mark) = Encoding::for_bom(&bytes).or_else(of_charset).unwrap_or((UTF_8, 0));
        bytes.drain(..mark);
        if encoding != UTF_8 {
            bytes = encoding.decode_without_bom_handling(&bytes).0.into_owned().into();
            reservation.grow(bytes.len() as u64).await;
        }
        // Detects JSON without a content type.
        let is_json = is_json || bytes.trim_ascii_start().starts_with(b"{");
        Ok(PageResponse::Page(PageBody {
            bytes,
            is_json,
            has_page_type,
            is_redirected,
            base,
            validators,
            serial,
            reservation,
        }))
    }

    /// Resolves the URL of a file on the page of a project.
    ///
    /// # Errors
    ///
    /// Fails if the URL is malformed ([`Error::is_upstream`]) or forbidden ([`Error::is_forbidden`]).
    pub fn resolve(&self, project: &ProjectName, url: &str) -> Result<Url, Error> {
        let url = self
            .page_url(Some(project))
            .join(url)
            .map_err(|_| Error::with(Kind::Upstream, "the index sent a malformed file URL"))?;
        self.policy.check(&url)?;
        Ok(url)
    }

    /// Downloads a file from an offset. If `known` has the validators of the bytes before the offset and the file has
    /// changed since, the response starts at offset 0.
    ///
    /// # Errors
    ///
    /// Fails if the file does not exist ([`Error::is_not_found`]), if the host sends no or an unexpected response
    /// ([`Error::is_upstream`], [`Error::is_timeout`]), or if it redirects to a forbidden URL
    /// ([`Error::is_forbidden`]).
    pub async fn file(&self, url: &Url, from: u64, known: &Validators) -> Result<FileBody, Error> {
        let mut request = self.files.get(url.clone());
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
            // A weak entity tag is not allowed in `If-Range` (RFC 9110, 13.1.5).
            let strong = known.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
            request = header(request, IF_RANGE, strong.or(known.last_modified.as_deref()));
        }
        let body = self.body(request, url, from).await?;
        // It would seem to be the whole file.
        if from == 0 && body.is_part() && body.len.is_none() {
            return Err(Error::with(Kind::Upstream, "partial response of unknown length"));
        }
        Ok(body)
    }

    /// Downloads a range of a file. A server may ignore the range: the body states where it starts.
    ///
    /// # Errors
    ///
    /// Same as [`Self::file`].
    pub async fn part(&self, url: &Url, range: Range<u64>) -> Result<FileBody, Error> {
        let text = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        self.body(self.files.get(url.clone()).header(RANGE, text), url, range.start).await
    }

    /// Downloads at most this many bytes from the end of a file.
    ///
    /// # Errors
    ///
    /// Same as [`Self::file`].
    pub async fn tail(&self, url: &Url, bytes: u64) -> Result<FileBody, Error> {
        self.file_range(url, &format!("bytes=-{bytes}")).await
    }

    /// Downloads the range that a client requested, with its `Range` header passed through.
    pub(crate) async fn file_range(&self, url: &Url, range: &str) -> Result<FileBody, Error> {
        self.body(header(self.files.get(url.clone()), RANGE, Some(range)), url, 0).await
    }

    pub(crate) fn has_credentials(&self) -> bool {
        self.config.current_credentials().is_some()
    }

    /// Sends a request for a file, with the credentials only if the URL has the origin of the index.
    async fn body(&self, request: RequestBuilder, url: &Url, requested: u64) -> Result<FileBody, Error> {
        let request = request.header(ACCEPT_ENCODING, "identity");
        let is_own = url.origin() == self.config.url.origin();
        let request = if is_own { self.authorize(request).await } else { request };
        let response = self.send(request, RequestKind::File).await?;
        let headers = response.headers();
        let (range, len) = match response.status() {
            StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION => (None, response.content_length()),
            StatusCode::PARTIAL_CONTENT => {
                let (range, len) = content_range(headers).ok_or_else(|| {
                    Error::with(Kind::Upstream, "partial response without a valid Content-Range")
                })?;
                (Some(range), len)
            }
            status if self.config.is_missing(status) => return Err(Error::new(Kind::NotFound)),
            status => return Err(unexpected(status, headers)),
        };
        // Some servers label archives with their own compression. The hash applies to the transferred bytes, as for
        // installers.
        let start = range.as_ref().map_or(0, |range| range.start);
        if start > requested && requested > 0 {
            return Err(Error::with(Kind::Upstream, "response with another range than requested"));
        }
        let validators = Validators::of(headers);
        let meter = self.meter.clone();
        let stream = response.bytes_stream().map(move |chunk| {
            match &chunk {
                Ok(bytes) => drop(meter[RequestKind::File].bytes.add(bytes.len() as u64)),
                Err(error) => meter.record_failure(RequestKind::File, error.is_timeout()),
            }
            chunk.map_err(|error| failed(RequestKind::File, error))
        });
        let body = FileBody::new(start, len, validators, stream);
        Ok(match range {
            Some(range) => body.with_end(range.end),
            None => body,
        })
    }

    /// Sends a request and counts its outcome.
    async fn send(&self, request: RequestBuilder, kind: RequestKind) -> Result<Response, Error> {
        if self.config.offline {
            return Err(Error::new(Kind::Offline));
        }
        let start = Instant::now();
        match system::send(request).await {
            Ok(response) => {
                self.meter.record_response(kind, response.status(), start.elapsed());
                Ok(response)
            }
            Err(error) => {
                self.meter.record_failure(kind, error.is_timeout());
                Err(failed(kind, error))
            }
        }
    }

    /// Reads the body of a page within its size limit and the memory budget.
    async fn collect(
        &self,
        response: Response,
        max: u64,
        reservation: &mut Reservation,
    ) -> Result<Vec<u8>, Error> {
        let too_large = || Error::with(Kind::Limit, "page size");
        let declared = response.content_length().unwrap_or(0);
        if declared > max {
            return Err(too_large());
        }
        // `Content-Length` may be wrong: it preallocates at most 4 MiB.
        let mut bytes = Vec::with_capacity(usize::try_from(declared.min(4 << 20)).unwrap_or(0));
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| {
                self.meter.record_failure(RequestKind::Page, error.is_timeout());
                failed(RequestKind::Page, error)
            })?;
            self.meter[RequestKind::Page].bytes.add(chunk.len() as u64);
            if bytes.len() as u64 + chunk.len() as u64 > max {
                return Err(too_large());
            }
            // Not reading meanwhile applies backpressure to the index.
            reservation.grow(chunk.len() as u64).await;
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    async fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
        if let Some(netrc) = &self.config.netrc {
            netrc.refresh().await;
        }
        match self.config.current_credentials() {
            Some((user, password)) => request.basic_auth(user, Some(password)),
            None => request,
        }
    }
}

/// Formats the URL with masked credentials.
impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.config, f)
    }
}

/// Formats the configuration with masked credentials.
impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upstream").field(&self.config).finish()
    }
}

/// Returns the hosts of the HTTP proxies that reqwest takes from the environment.
fn proxy_hosts() -> Vec<String> {
    let proxies = Matcher::from_system();
    let host = |url| Some(proxies.intercept(&Uri::from_static(url))?.uri().host()?.to_ascii_lowercase());
    ["http://public.invalid/", "https://public.invalid/"].into_iter().filter_map(host).collect()
}

fn builder(config: &Config, policy: &Arc<UrlPolicy>, tls: Option<ClientConfig>) -> ClientBuilder {
    let each = policy.clone();
    let redirect = reqwest::redirect::Policy::custom(move |attempt| {
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error("too many redirects");
        }
        match each.check(attempt.url()) {
            Ok(()) => attempt.follow(),
            Err(error) => attempt.error(error),
        }
    });
    let builder = Client::builder()
        .user_agent(concat!("pypi-proxy/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(config.connect_timeout)
        .read_timeout(config.read_timeout)
        .redirect(redirect)
        .referer(false);
    let builder = match tls {
        Some(tls) => builder.tls_backend_preconfigured(tls),
        None => builder.tls_backend_rustls().tls_danger_accept_invalid_certs(true),
    };
    // A public host name may still resolve to a private address.
    if !policy.restricts_addresses() {
        return builder;
    }
    builder.dns_resolver(Arc::new(RestrictedResolver(policy.clone())))
}

/// Resolves host names to allowed addresses only.
struct RestrictedResolver(Arc<UrlPolicy>);

impl Resolve for RestrictedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0.clone();
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<SocketAddr> =
                addresses.filter(|address| policy.allows(name.as_str(), address.ip())).collect();
            if addresses.is_empty() {
                let detail = "a file host has no public address (set file_hosts to allow it)";
                return Err(Error::with(Kind::Forbidden, detail).into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Decompresses a page within its size limit and the memory budget.
async fn gunzip(bytes: &[u8], max: u64, reservation: &mut Reservation) -> Result<Vec<u8>, Error> {
    let damaged = |error| Error::with(Kind::Upstream, "the page is not gzip").caused_by(error);
    let (mut decoder, mut page) = (MultiGzDecoder::new(bytes), Vec::new());
    loop {
        let count = decoder.by_ref().take(64 * 1024).read_to_end(&mut page).map_err(damaged)?;
        if page.len() as u64 > max {
            return Err(Error::with(Kind::Limit, "page size"));
        }
        if count == 0 {
            return Ok(page);
        }
        reservation.grow(count as u64).await;
    }
}

/// Returns whether URLs have the same origin, except that HTTPS may have replaced HTTP.
fn is_same_site(requested: &Url, url: &Url) -> bool {
    let is_upgrade = requested.scheme() == "http" && url.scheme() == "https";
    requested.origin() == url.origin()
        || is_upgrade && requested.host() == url.host() && (requested.port(), url.port()) == (None, None)
}

fn header(request: RequestBuilder, name: http::HeaderName, value: Option<&str>) -> RequestBuilder {
    match value.and_then(|value| HeaderValue::from_str(value).ok()) {
        Some(value) => request.header(name, value),
        None => request,
    }
}

/// Parses `bytes 0-99/1000` into the range and the length of the whole file.
fn content_range(headers: &HeaderMap) -> Option<(Range<u64>, Option<u64>)> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, len) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
    (first <= last).then(|| (first..last.saturating_add(1), len.trim().parse().ok()))
}

#[cold]
fn unexpected(status: StatusCode, headers: &HeaderMap) -> Error {
    if matches!(status.as_u16(), 401 | 403 | 407) {
        let text = format!(
            "status {} (set its user and password in the URL or in a netrc file, or missing_statuses if the status means \
             that it does not have the project)",
            status.as_u16()
        );
        return Error::with(Kind::Refused, text);
    }
    let is_busy = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    Error::with(Kind::Upstream, format!("the index responded with status {}", status.as_u16()))
        .retried_after(if is_busy { retry_after(headers) } else { None })
}

/// Parses `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    let time = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).unwrap_or_default(),
    };
    Some(time.min(MAX_RETRY_AFTER))
}

/// Returns whether the index sent no or only a partial response.
fn is_connection_failure(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<reqwest::Error>());
    source.is_some_and(|error| !error.is_redirect())
}

/// Returns whether the URL policy rejected a redirect or resolved address.
fn is_forbidden(error: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |cause| StdError::source(*cause));
    causes.any(|cause| cause.is::<Error>())
}

/// Converts an error without its URL, which may contain tokens.
#[cold]
fn failed(request: RequestKind, error: reqwest::Error) -> Error {
    let kind = if error.is_timeout() {
        Kind::Timeout
    } else if is_forbidden(&error) {
        Kind::Forbidden
    } else {
        Kind::Upstream
    };
    Error::with(kind, format!("{} download failed", request.name())).caused_by(error.without_url())
}
