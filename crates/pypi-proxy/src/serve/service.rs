//! Routes requests to the page cache and the file store.

use std::io::Write as _;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use http::{Method, Request, Response, StatusCode};
use url::Url;

use super::ResponseBody;
use super::config::Config;
use super::encoded::EncodedMetadata;
use super::exposition::Exposition;
use super::health::{HealthCache, health, readiness_problems};
use super::message::{ProxyResponse, RequestFields, RequestParts, Value};
use super::metrics::metrics;
use super::reject::{CountedRejection, guard_rejection, rule_rejection};
use super::request_metrics::RequestMetrics;
use super::respond::{
    FileHeaders, IMMUTABLE, Selection, X_CACHE, error_response, is_metadata, page_response,
};
use super::route::{PurgeTarget, RedirectKind, Route};
use super::state::State;
use super::status::{self, ViewCache};
use super::target::{FileTarget, UpstreamSource, Wheel};
use crate::error::{Chain, Kind};
use crate::guard::{Area, Guard};
use crate::metadata::MetadataSource;
use crate::page::{FileFacts, Metadata};
use crate::page_cache::{CachedPage, PageBytes, PageCache};
use crate::rules::RuleViolation;
use crate::store::{Digest, Download, FetchState, FileInfo, Key, Store, StoredFile};
use crate::upstream::Upstream;
use crate::{ByteRange, Coding, Error, Form, ProjectName};

/// Distance ahead of a download within which a range request waits for it instead of fetching the range separately.
const WAIT_AHEAD: u64 = 1 << 20;

/// Content type for files served as opaque bytes.
const OCTET_STREAM: &str = "application/octet-stream";

/// Set of endpoints to serve. All others respond with 404.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All endpoints.
    #[default]
    All,
    /// Pages and files, `/livez` and `/readyz`.
    Index,
    /// Metrics, `/health`, the status page, purging, `/livez` and `/readyz`.
    Admin,
}

impl Scope {
    fn has(self, route: &Route<'_>) -> bool {
        match route {
            Route::Live | Route::Ready | Route::Unknown => true,
            Route::List | Route::Project(_) | Route::File { .. } | Route::Moved { .. } => self != Self::Admin,
            Route::Home
            | Route::Purge(_)
            | Route::Health
            | Route::Metrics
            | Route::Status
            | Route::StatusJson => self != Self::Index,
        }
    }
}

/// Caching proxy of one or more package indexes. Turns requests into responses; clones share the same state.
#[derive(Clone, Debug)]
pub struct Proxy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: State,
    health: HealthCache,
    status_view: ViewCache,
    encoded: EncodedMetadata,
}

impl Proxy {
    /// Creates a proxy of these upstreams, with a cache of their pages and a file store.
    pub fn new(upstreams: Vec<Arc<Upstream>>, pages: PageCache, store: Store, config: Config) -> Self {
        let state = State { upstreams, pages, store, config, metrics: RequestMetrics::default() };
        Self(Arc::new(Inner {
            state,
            health: HealthCache::default(),
            status_view: ViewCache::default(),
            encoded: EncodedMetadata::default(),
        }))
    }

    pub(super) fn metrics(&self) -> &RequestMetrics {
        &self.0.state.metrics
    }

    /// Waits until all pending uploads to the bucket are complete.
    pub(super) async fn flush_bucket(&self) {
        if let Some(bucket) = self.0.state.store.bucket() {
            bucket.settle().await;
        }
    }

    /// Responds to a request; its body is ignored. The client's address is unknown, so all clients that do not log in
    /// share one rate limit.
    pub async fn handle<B>(&self, request: &Request<B>) -> Response<ResponseBody> {
        self.handle_in(Scope::All, request).await
    }

    /// Like [`Self::handle`], but only for the endpoints in `scope`. Lets a server use separate listeners.
    pub async fn handle_in<B>(&self, scope: Scope, request: &Request<B>) -> Response<ResponseBody> {
        self.respond_to(&RequestParts::of(request), None, scope).await.into()
    }

    /// Returns the address of the client that is connected as `peer`, possibly through trusted proxies.
    pub(super) fn client(&self, peer: Option<IpAddr>, request: &RequestParts<'_>) -> Option<IpAddr> {
        match &self.0.state.config.guard {
            Some(guard) => guard.client(peer, &request.forwarded),
            None => peer,
        }
    }

    pub(super) async fn respond_to(
        &self,
        request: &RequestParts<'_>,
        client: Option<IpAddr>,
        scope: Scope,
    ) -> ProxyResponse {
        let route =
            Some(Route::parse(request.path)).filter(|route| scope.has(route)).unwrap_or(Route::Unknown);
        let mut response = match &self.0.state.config.guard {
            Some(guard) if !matches!(route, Route::Live | Route::Ready) => {
                self.respond_with_guard(guard, route, request, client).await
            }
            _ => self.dispatch(route, request).await,
        };
        if *request.method == Method::HEAD {
            response.without_body();
        }
        response
    }

    /// Responds after authentication and rate limiting.
    async fn respond_with_guard(
        &self,
        guard: &Guard,
        route: Route<'_>,
        request: &RequestParts<'_>,
        client: Option<IpAddr>,
    ) -> ProxyResponse {
        let area = match route {
            Route::Purge(_) if self.0.state.needs_token() => Area::Admin,
            Route::Home | Route::Status | Route::StatusJson | Route::Health | Route::Metrics => Area::Metrics,
            _ => Area::Index,
        };
        match guard.authorize(area, client, request.fields.authorization).await {
            Err(rejection) => self.reject(guard_rejection(rejection)),
            Ok(user) => {
                let mut response = self.dispatch(route, request).await;
                if user.is_some() && matches!(response.get(&CACHE_CONTROL), Some(Value::Static(IMMUTABLE))) {
                    // Shared caches must not store a response that requires a login.
                    response.set(CACHE_CONTROL, "max-age=365000000, immutable, private");
                }
                response.user = user;
                response
            }
        }
    }

    /// Counts a rejected request.
    pub(super) fn reject(&self, (response, reason): CountedRejection) -> ProxyResponse {
        self.0.state.metrics.record_rejection(reason);
        response
    }

    /// Checks whether the rules allow the project.
    fn check_project(&self, name: &ProjectName) -> Result<(), RuleViolation> {
        self.0.state.pages.rules().map_or(Ok(()), |rules| rules.project(name))
    }

    /// Checks whether the rules allow a file, or the file that metadata or a signature belongs to.
    fn check_file(
        &self,
        cached: &CachedPage,
        project: &ProjectName,
        name: &str,
    ) -> Result<(), RuleViolation> {
        let Some(rules) = self.0.state.pages.rules() else { return Ok(()) };
        let base = || cached.page.file(name.rsplit_once('.')?.0);
        match cached.page.file(name).or_else(base) {
            Some((_, file)) => rules.file(project, &file.details(), SystemTime::now()),
            None => Ok(()),
        }
    }

    async fn dispatch(&self, route: Route<'_>, request: &RequestParts<'_>) -> ProxyResponse {
        let (method, fields) = (request.method, &request.fields);
        let is_purge = matches!(route, Route::Purge(_));
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if route == Route::Unknown || is_purge && is_read && !matches!(route, Route::Purge(PurgeTarget::List))
        {
            return ProxyResponse::text(StatusCode::NOT_FOUND, "Not Found");
        }
        let is_allowed = if is_purge { *method == Method::DELETE } else { is_read };
        if !is_allowed {
            let mut response = ProxyResponse::text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            response.set(ALLOW, if is_purge { "DELETE" } else { "GET, HEAD" });
            return response;
        }
        match route {
            Route::List => self.list(request).await,
            Route::Project(name) => match ProjectName::parse(&name) {
                Ok(name) => self.project(&name, request).await,
                Err(error) => error_response(&error),
            },
            Route::File { project, file } => match ProjectName::parse(&project) {
                Ok(project) => match self.file(&project, &file, method, fields).await {
                    Ok(mut response) => {
                        if self.0.state.config.binary_type && response.status.is_success() {
                            response.set(CONTENT_TYPE, OCTET_STREAM);
                        }
                        response
                    }
                    Err(error) => error_response(&error),
                },
                Err(error) => error_response(&error),
            },
            Route::Purge(target) => self.purge(target, fields).await,
            Route::Moved { kind, to } => moved(kind, &to, request.query),
            Route::Home | Route::Status => status::html(&self.0.state, &self.0.status_view),
            Route::StatusJson => status::json(&self.0.state, &self.0.status_view),
            Route::Health => ProxyResponse::typed(
                StatusCode::OK,
                "application/json",
                health(&self.0.state, &self.0.health).await,
            ),
            Route::Live => ProxyResponse::text(StatusCode::OK, "ok\n"),
            Route::Ready => match &*readiness_problems(&self.0.state, &self.0.health).await {
                [] => ProxyResponse::text(StatusCode::OK, "ok\n"),
                problems => ProxyResponse::text(StatusCode::SERVICE_UNAVAILABLE, problems.join("\n") + "\n"),
            },
            Route::Metrics => {
                ProxyResponse::typed(StatusCode::OK, Exposition::CONTENT_TYPE, metrics(&self.0.state))
            }
            Route::Unknown => ProxyResponse::text(StatusCode::NOT_FOUND, "Not Found"),
        }
    }

    async fn list(&self, request: &RequestParts<'_>) -> ProxyResponse {
        match self.0.state.pages.list().await {
            Ok(cached) => self.page(&cached, request).await,
            Err(error) => error_response(&error),
        }
    }

    async fn project(&self, name: &ProjectName, request: &RequestParts<'_>) -> ProxyResponse {
        if let Err(violation) = self.check_project(name) {
            return self.reject(rule_rejection(violation));
        }
        match self.0.state.pages.project(name).await {
            Ok(cached) => self.page(&cached, request).await,
            Err(error) => error_response(&error),
        }
    }

    async fn page(&self, cached: &CachedPage, request: &RequestParts<'_>) -> ProxyResponse {
        let fields = &request.fields;
        let format = request
            .query
            .and_then(|query| form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "format"));
        let form = match format {
            Some((_, format)) => Form::from_query(&format),
            None => Form::from_accept(fields.accept.unwrap_or_default()),
        };
        let Some(form) = form else {
            return ProxyResponse::text(
                StatusCode::NOT_ACCEPTABLE,
                "None of the accepted media types is available.",
            );
        };
        let coding = Coding::from_accept(fields.accept_encoding.unwrap_or_default());
        page_response(fields, cached, form, coding, cached.page.variant(form, coding).await)
    }

    /// Responds with a file, or the metadata or signature of one.
    async fn file(
        &self,
        project: &ProjectName,
        name: &str,
        method: &Method,
        fields: &RequestFields<'_>,
    ) -> Result<ProxyResponse, Error> {
        if let Err(violation) = self.check_project(project) {
            return Ok(self.reject(rule_rejection(violation)));
        }
        let cached = self.0.state.pages.project(project).await?;
        if let Err(violation) = self.check_file(&cached, project, name) {
            return Ok(self.reject(rule_rejection(violation)));
        }
        cached.page.count_file_request();
        let label = || Arc::from(format!("{project}/{name}"));
        // Fast path: the location of a file that is stored does not matter.
        let details = cached.page.file(name).map(|(_, file)| file.details());
        let is_metadata_unknown =
            details.as_ref().is_some_and(|details| details.metadata == Metadata::Unknown);
        let digest = details.filter(|details| details.size.is_some()).and_then(|details| details.sha256);
        if let Some(stored) = digest.and_then(|digest| self.0.state.store.get_labeled(&Digest(digest), label))
        {
            if is_metadata_unknown {
                self.extract_in_background(project, name, &cached, stored.clone());
            }
            return Ok(self.stored(name, stored, fields).await);
        }
        let target = FileTarget::of(&cached, project, name, &self.0.state)?;
        let digest = target.digest(&self.0.state.store);
        if let Some(stored) = digest.and_then(|digest| self.0.state.store.get_labeled(&digest, label)) {
            if target.needs_facts() {
                self.0.state.pages.record_facts(project, name, FileFacts::new(Some(stored.len), None));
            }
            if is_metadata_unknown {
                self.extract_in_background(project, name, &cached, stored.clone());
            }
            return Ok(self.stored(name, stored, fields).await);
        }
        let etag = target.expected.sha256.map(|digest| tag(&digest));
        let len = match target.expected.size {
            None if *method == Method::HEAD && target.is_listed => self.len(project, name, &target).await?,
            size => size,
        };
        let headers = FileHeaders { name, len, etag, cache_status: "miss" };
        if *method == Method::HEAD && headers.len.is_some() {
            return Ok(match headers.select(fields) {
                Selection::All => headers.respond(ResponseBody::empty()),
                Selection::Part(range) => headers.respond_part(range, ResponseBody::empty()),
                Selection::Done(response) => *response,
            });
        }
        let download = self.0.state.store.in_flight(&target.key);
        if fields.range.is_some()
            && target.wheel.is_none()
            && download.as_ref().is_none_or(|download| !is_within_reach(download, fields, headers.len))
            && !self.may_redirect(&target)
        {
            return self.pass_through(project, &target, &headers, fields).await;
        }
        if !self.0.state.store.is_enabled()
            && self.0.state.config.redirect_after == Some(Duration::ZERO)
            && self.may_redirect(&target)
        {
            return Ok(redirect(&target.url));
        }
        let wheel_info = Arc::new(OnceLock::new());
        let fetched = match &target.wheel {
            Some(wheel) => {
                let stored = wheel.sha256.and_then(|digest| self.0.state.store.get(&digest));
                let (upstream, url) = (target.upstream.clone(), target.url.clone());
                let (name, label) = (wheel.name.clone(), label());
                let wheel_info = wheel_info.clone();
                let source = MetadataSource { upstream, url, name, label, stored, wheel_info };
                self.0.state.store.fetch(target.key.clone(), target.expected, source)
            }
            None => {
                let (upstream, url) = (target.upstream.clone(), target.url.clone());
                let source = UpstreamSource { upstream, url, label: label() };
                self.0.state.store.fetch(target.key.clone(), target.expected, source)
            }
        };
        let download = match fetched {
            FetchState::Stored(stored) => return Ok(self.stored(name, stored, fields).await),
            FetchState::InFlight(download) => download,
        };
        self.record_facts(project, name, &target, &download, wheel_info);
        if is_metadata_unknown {
            self.extract_after_download(project, name, &cached, &download);
        }
        let info = match self.0.state.config.redirect_after.filter(|_| self.may_redirect(&target)) {
            None => download.info().await?,
            Some(Duration::ZERO) => return Ok(redirect(&target.url)),
            Some(time) => match tokio::time::timeout(time, download.info()).await {
                Ok(info) => info?,
                Err(_) => return Ok(redirect(&target.url)),
            },
        };
        let headers = FileHeaders { len: info.len, ..headers };
        Ok(match headers.select(fields) {
            Selection::All => headers.respond(ResponseBody::growing(download.reader(None), headers.len)),
            Selection::Part(range) => {
                let len = range.end - range.start;
                headers.respond_part(
                    range.clone(),
                    ResponseBody::growing(download.reader(Some(range)), Some(len)),
                )
            }
            Selection::Done(response) => *response,
        })
    }

    /// Responds with a stored file. Metadata is compressed as the client prefers.
    async fn stored(&self, name: &str, stored: StoredFile, fields: &RequestFields<'_>) -> ProxyResponse {
        // A range applies to the uncompressed file.
        let accepted = fields.accept_encoding.filter(|_| fields.range.is_none() && is_metadata(name));
        let coding = accepted.map_or(Coding::Identity, Coding::from_accept);
        match (self.0.encoded.get(&stored, coding).await, coding.content_encoding()) {
            (Some(bytes), Some(encoding)) => encoded_file(name, &stored.digest, bytes, encoding, fields),
            _ => stored_file(name, stored, fields),
        }
    }

    /// Records facts about a downloaded file that its page lacks.
    fn record_facts(
        &self,
        project: &ProjectName,
        name: &str,
        target: &FileTarget,
        download: &Download,
        wheel_info: Arc<OnceLock<FileInfo>>,
    ) {
        let wheel = target.wheel.as_ref().and_then(|wheel| Some((wheel.name.clone(), wheel.sha256?)));
        if wheel.is_none() && !target.needs_facts() {
            return;
        }
        let (pages, project, name, download) =
            (self.0.state.pages.clone(), project.clone(), name.to_owned(), download.observer());
        tokio::spawn(async move {
            let Ok(Some(stored)) = download.done().await else { return };
            match wheel {
                Some((wheel, sha256)) => {
                    let info = wheel_info.get();
                    let modified = info.and_then(|info| info.validators.last_modified.as_deref());
                    let fact = FileFacts::new(info.and_then(|info| info.len), modified);
                    pages.record_facts(&project, &wheel, fact.with_wheel(&sha256, Some(&stored.digest)));
                }
                None => {
                    let info = download.info().await.unwrap_or_default();
                    let fact = FileFacts::new(Some(stored.len), info.validators.last_modified.as_deref());
                    pages.record_facts(&project, &name, fact);
                }
            }
        });
    }

    /// Extracts the metadata of a stored wheel whose page has none, at most once. The page lists it from the next
    /// refresh on.
    fn extract_in_background(
        &self,
        project: &ProjectName,
        name: &str,
        cached: &CachedPage,
        stored: StoredFile,
    ) {
        let Some(wheel) = self.unexamined_wheel(project, name, cached) else { return };
        let (proxy, project) = (self.clone(), project.clone());
        tokio::spawn(async move { proxy.extract_metadata(&project, wheel, stored).await });
    }

    /// Extracts the metadata of a wheel once its download is complete.
    fn extract_after_download(
        &self,
        project: &ProjectName,
        name: &str,
        cached: &CachedPage,
        download: &Download,
    ) {
        let Some(wheel) = self.unexamined_wheel(project, name, cached) else { return };
        let (proxy, project, download) = (self.clone(), project.clone(), download.observer());
        tokio::spawn(async move {
            if let Ok(Some(stored)) = download.done().await {
                proxy.extract_metadata(&project, wheel, stored).await;
            }
        });
    }

    /// Returns the metadata file of a wheel that should be searched: the page has the wheel's SHA-256 but no metadata,
    /// and the wheel was not searched before.
    fn unexamined_wheel(&self, project: &ProjectName, name: &str, cached: &CachedPage) -> Option<FileTarget> {
        if !name.ends_with(".whl") || !self.0.state.pages.extracts_metadata() {
            return None;
        }
        let details = cached.page.file(name)?.1.details();
        let wheel = Digest(details.sha256?);
        if details.metadata != Metadata::Unknown || self.0.state.pages.is_examined(project, name, &wheel) {
            return None;
        }
        FileTarget::of(cached, project, &format!("{name}.metadata"), &self.0.state).ok()
    }

    async fn extract_metadata(&self, project: &ProjectName, target: FileTarget, stored: StoredFile) {
        let Some(Wheel { name, sha256: Some(wheel) }) = target.wheel else { return };
        if self.0.state.pages.is_examined(project, &name, &wheel) {
            return;
        }
        let (upstream, url, wheel_info) = (target.upstream, target.url, Arc::default());
        let label = Arc::from(format!("{project}/{name}.metadata"));
        let (len, name) = (stored.len, name.clone());
        let source = MetadataSource { upstream, url, name, label, stored: Some(stored), wheel_info };
        let metadata = match source.extract().await {
            Ok(metadata) => Some(Digest::of(&metadata)),
            Err(error) if error.is_not_found() => {
                tracing::debug!(error = %Chain(&error), wheel = source.name, "a wheel has no readable metadata");
                None
            }
            // May succeed next time.
            Err(_) => return,
        };
        let fact = FileFacts::new(Some(len), None).with_wheel(&wheel, metadata.as_ref());
        self.0.state.pages.record_facts(project, &source.name, fact);
    }

    fn may_redirect(&self, target: &FileTarget) -> bool {
        self.0.state.config.redirect_after.is_some()
            && !target.upstream.has_credentials()
            && target.wheel.is_none()
    }

    /// Requests one byte of a file from its host to learn the length.
    async fn len(
        &self,
        project: &ProjectName,
        name: &str,
        target: &FileTarget,
    ) -> Result<Option<u64>, Error> {
        let body = target.upstream.part(&target.url, 0..1).await?;
        if target.needs_facts() {
            let fact = FileFacts::new(body.len, body.validators.last_modified.as_deref());
            self.0.state.pages.record_facts(project, name, fact);
        }
        Ok(body.len)
    }

    /// Passes a range request to the upstream without downloading the whole file.
    async fn pass_through(
        &self,
        project: &ProjectName,
        target: &FileTarget,
        headers: &FileHeaders<'_>,
        fields: &RequestFields<'_>,
    ) -> Result<ProxyResponse, Error> {
        let range = fields.range.unwrap_or_default();
        // Without the length, only the upstream can interpret the range.
        let body = match headers.len.map(|len| ByteRange::parse(range, len)) {
            Some(ByteRange::Part { start, end }) => {
                let shared = match (self.0.state.store.bucket(), &target.key) {
                    (Some(bucket), Key::Digest(digest)) => {
                        bucket.part(digest, &target.expected, start..end).await
                    }
                    _ => None,
                };
                let body = match shared {
                    Some(body) => body,
                    None => target.upstream.part(&target.url, start..end).await?,
                };
                // Clients may not check which range they received.
                let is_other = body.is_part() && (body.start, body.part_len()) != (start, Some(end - start));
                if is_other || body.len.is_some_and(|len| headers.len != Some(len)) {
                    return Err(Error::with(
                        Kind::Upstream,
                        "the response has another range of the file than requested",
                    ));
                }
                body
            }
            Some(ByteRange::Unsatisfiable) => {
                return Ok(match headers.select(fields) {
                    Selection::Done(response) => *response,
                    _ => headers.respond(ResponseBody::empty()),
                });
            }
            Some(ByteRange::Full) | None => target.upstream.file_range(&target.url, range).await?,
        };
        let headers = FileHeaders {
            len: headers.len.or(body.len),
            name: headers.name,
            etag: headers.etag.clone(),
            cache_status: "pass",
        };
        if target.needs_facts() {
            let fact = FileFacts::new(body.len, body.validators.last_modified.as_deref());
            self.0.state.pages.record_facts(project, headers.name, fact);
        }
        let (start, part_len) = (body.start, body.part_len());
        Ok(match part_len {
            Some(len) if body.is_part() => {
                headers.respond_part(start..start + len, ResponseBody::pass_through(body, Some(len)))
            }
            len => headers.respond(ResponseBody::pass_through(body, len)),
        })
    }

    async fn purge(&self, target: PurgeTarget<'_>, fields: &RequestFields<'_>) -> ProxyResponse {
        if let Some(token) = &self.0.state.config.admin_token {
            let sent = fields.authorization.and_then(|value| value.strip_prefix("Bearer "));
            let is_valid = sent.is_some_and(|sent| {
                aws_lc_rs::constant_time::verify_slices_are_equal(sent.as_bytes(), token.as_bytes()).is_ok()
            });
            if !is_valid {
                let mut response = ProxyResponse::text(StatusCode::UNAUTHORIZED, "Unauthorized");
                response.set(WWW_AUTHENTICATE, "Bearer");
                return response;
            }
        }
        match self.purge_target(target).await {
            Ok(()) => ProxyResponse::typed(
                StatusCode::OK,
                "application/json",
                r#"{"data":null,"status":"success"}"#,
            ),
            Err(error) => error_response(&error),
        }
    }

    async fn purge_target(&self, target: PurgeTarget<'_>) -> Result<(), Error> {
        match target {
            PurgeTarget::List => self.0.state.pages.purge(None).await,
            PurgeTarget::Project(name) => self.0.state.pages.purge(Some(&ProjectName::parse(&name)?)).await,
            PurgeTarget::All => self.0.state.pages.purge_all().await,
            PurgeTarget::File { project, file } => {
                let project = ProjectName::parse(&project)?;
                let cached = self.0.state.pages.project(&project).await?;
                let target = FileTarget::of(&cached, &project, &file, &self.0.state)?;
                let store = self.0.state.store.clone();
                let digest = target.digest(&store);
                let Some(digest) = digest else { return Ok(()) };
                let bucket = store.bucket().cloned();
                let work = move || store.remove(&digest).map(drop);
                tokio::task::spawn_blocking(work).await.unwrap_or(Ok(()))?;
                match bucket {
                    Some(bucket) => bucket.remove(&digest).await,
                    None => Ok(()),
                }
            }
        }
    }
}

/// Returns whether a range starts in the downloaded part of the file or shortly after it.
fn is_within_reach(download: &Download, fields: &RequestFields<'_>, len: Option<u64>) -> bool {
    let range = fields.range.unwrap_or_default();
    match ByteRange::parse(range, len.unwrap_or(u64::MAX)) {
        ByteRange::Part { start, .. } => start <= download.available().saturating_add(WAIT_AHEAD),
        ByteRange::Full | ByteRange::Unsatisfiable => true,
    }
}

fn tag(digest: &Digest) -> HeaderValue {
    let mut text = [b'"'; 66];
    let mut out = &mut text[1..65];
    // 64 hexadecimal digits fit and are always a valid header value.
    let _ = write!(out, "{digest}");
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

fn encoded_file(
    name: &str,
    digest: &Digest,
    bytes: PageBytes,
    encoding: &'static str,
    fields: &RequestFields<'_>,
) -> ProxyResponse {
    let etag = HeaderValue::from_str(&format!("\"{digest}-{encoding}\"")).ok();
    let headers = FileHeaders { name, len: Some(bytes.len()), etag, cache_status: "hit" };
    match headers.select(fields) {
        Selection::Done(response) => *response,
        Selection::All | Selection::Part(_) => {
            let mut response = headers.respond(bytes.into());
            response.set(CONTENT_ENCODING, encoding);
            response
        }
    }
}

fn stored_file(name: &str, stored: StoredFile, fields: &RequestFields<'_>) -> ProxyResponse {
    let StoredFile { file, len, digest } = stored;
    let headers = FileHeaders { name, len: Some(len), etag: Some(tag(&digest)), cache_status: "hit" };
    match headers.select(fields) {
        Selection::All => headers.respond(ResponseBody::file(file, 0..len)),
        Selection::Part(range) => headers.respond_part(range.clone(), ResponseBody::file(file, range)),
        Selection::Done(response) => *response,
    }
}

fn moved(kind: RedirectKind, to: &str, query: Option<&str>) -> ProxyResponse {
    let status = match kind {
        RedirectKind::Moved => StatusCode::MOVED_PERMANENTLY,
        RedirectKind::Redirect => StatusCode::PERMANENT_REDIRECT,
    };
    let mut response = ProxyResponse::text(status, "");
    match query {
        None => response.set_text(LOCATION, to),
        Some(query) => response.set_text(LOCATION, &format!("{to}?{query}")),
    }
    response
}

fn redirect(url: &Url) -> ProxyResponse {
    let mut response = ProxyResponse::text(StatusCode::FOUND, "");
    response.set(X_CACHE, "redirect");
    response.set_text(LOCATION, url.as_str());
    response
}
