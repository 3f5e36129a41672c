//! Routes requests to the page cache and the file store.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, LOCATION, VARY};
use http::{Method, Request, Response, StatusCode};

use super::encoded::EncodedMetadata;
use super::exposition::Exposition;
use super::health::{Cached, HealthCache, health, readiness_problems};
use super::locate::FileTarget;
use super::message::{ProxyResponse, RequestFields, RequestParts, Value, join_lines};
use super::metrics::metrics;
use super::request_metrics::{RejectionReason, RequestMetrics};
use super::respond::{
    CountedRejection, IMMUTABLE, X_OFFLINE, X_RULE, error_response, guard_rejection, page_response,
    purge_rejection, rule_rejection, upload_rejection,
};
use super::route::{Own, PurgeTarget, RedirectKind, Route};
use super::status::{self, View};
use super::{Config, ResponseBody};
use crate::audit::{self, Refusal};
use crate::error::Kind;
use crate::guard::{self, Area, Guard};
use crate::index_path::is_reserved;
use crate::page_cache::{self, CacheStatus, CachedPage, PageCache};
use crate::resource::Resource;
use crate::rules::Rules;
use crate::store::Store;
use crate::upstream::Upstream;
use crate::{Coding, Error, Form, ProjectName, system};

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
            Route::Own(Own::Live | Own::Ready) | Route::Unknown => true,
            Route::Own(_) | Route::Purge(_) => self != Self::Index,
            Route::Document(_) | Route::File { .. } | Route::IndexPath { .. } | Route::Moved { .. } => {
                self != Self::Admin
            }
        }
    }
}

/// Caching proxy of one or more package indexes. Turns requests into responses; clones share the same state.
#[derive(Clone, Debug)]
pub struct Proxy(pub(super) Arc<State>);

#[derive(Debug)]
pub(super) struct State {
    pub(super) upstreams: Vec<Arc<Upstream>>,
    pub(super) pages: PageCache,
    pub(super) store: Store,
    pub(super) config: Config,
    pub(super) started: SystemTime,
    pub(super) metrics: Arc<RequestMetrics>,
    /// Named indexes.
    pub(super) mounted: BTreeMap<Box<str>, Proxy>,
    pub(super) health: HealthCache,
    pub(super) status_view: Cached<Arc<View>>,
    pub(super) encoded: Arc<EncodedMetadata>,
}

/// Checks the name of an index.
pub(crate) fn check_index_name(name: &str) -> Result<(), &'static str> {
    match ProjectName::parse(name) {
        Ok(normal) if normal.as_str() != name => Err("expected a normalized name, such as torch-cu128"),
        Ok(_) if is_reserved(name) => Err("the name is that of another path of the proxy"),
        Ok(_) => Ok(()),
        Err(_) => Err("expected a name, such as torch-cu128"),
    }
}

impl State {
    /// Returns the default index and the named ones. The name of the default index is empty.
    pub(super) fn indexes(&self) -> impl Iterator<Item = (&str, &Self)> {
        let mounted = self.mounted.iter().map(|(name, index)| (&**name, &*index.0));
        std::iter::once(("", self)).chain(mounted)
    }

    /// Returns the upstreams of all indexes. Each is labeled with its number, after the name of a named index.
    pub(super) fn all_upstreams(&self) -> impl Iterator<Item = (String, &Arc<Upstream>)> {
        self.indexes().flat_map(|(name, index)| {
            index.upstreams.iter().enumerate().map(move |(at, upstream)| match name {
                "" => ((at + 1).to_string(), upstream),
                name => (format!("{name}/{}", at + 1), upstream),
            })
        })
    }

    /// Returns the sum of a number of all page caches.
    pub(super) fn sum_of_pages(&self, number: impl Fn(&PageCache) -> u64) -> u64 {
        self.indexes().map(|(_, index)| number(&index.pages)).sum()
    }

    /// Returns whether no request is sent to an index.
    pub(super) fn is_offline(&self) -> bool {
        !self.upstreams.is_empty() && self.upstreams.iter().all(|upstream| upstream.is_offline())
    }
}

impl Proxy {
    /// Creates a proxy of these upstreams, with a cache of their pages and a file store.
    pub fn new(upstreams: Vec<Arc<Upstream>>, pages: PageCache, store: Store, config: Config) -> Self {
        Self(Arc::new(State {
            upstreams,
            pages,
            store,
            config,
            started: SystemTime::now(),
            metrics: Arc::default(),
            mounted: BTreeMap::new(),
            health: HealthCache::default(),
            status_view: Cached::default(),
            encoded: Arc::default(),
        }))
    }

    /// Creates a proxy with other upstreams and another configuration, which shares the store, the request metrics and
    /// the start time of this one. Named indexes have to be mounted again. Pages in memory are kept as
    /// [`PageCache::reconfigure`] describes. This proxy can still be used.
    /// [`ServerHandle::replace`](super::ServerHandle::replace) has an example.
    #[must_use]
    pub fn reconfigure(
        &self,
        upstreams: Vec<Arc<Upstream>>,
        pages: page_cache::Config,
        config: Config,
    ) -> Self {
        Self(Arc::new(State {
            pages: self.0.pages.reconfigure(upstreams.clone(), pages),
            upstreams,
            store: self.0.store.clone(),
            config,
            started: self.0.started,
            metrics: self.0.metrics.clone(),
            mounted: BTreeMap::new(),
            health: HealthCache::default(),
            status_view: Cached::default(),
            encoded: self.0.encoded.clone(),
        }))
    }

    pub(crate) fn upstreams(&self) -> &[Arc<Upstream>] {
        &self.0.upstreams
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn rules(&self) -> &Rules {
        self.0.pages.rules()
    }

    pub(crate) fn guard(&self) -> Option<&Arc<Guard>> {
        self.0.config.guard.as_ref()
    }

    /// Serves the pages and files of another index below `/NAME/`, for example at `/NAME/simple/`, and purges its pages
    /// with `DELETE /NAME/cache/…`. Metrics, health and the status page cover both.
    ///
    /// Both should have the same [`Store`]. The rules, upstreams, redirects and offline mode of the other index are its
    /// own. Its guard and admin token are replaced by those of this proxy. Call this before the proxy is cloned.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use pypi_proxy::page_cache::{self, PageCache};
    /// # use pypi_proxy::serve::{self, Proxy};
    /// # use pypi_proxy::store::{self, Store};
    /// # use pypi_proxy::upstream::{self, Upstream};
    /// # fn run(store: Store, proxy: Proxy) -> Result<Proxy, pypi_proxy::Error> {
    /// let index = Arc::new(Upstream::new(upstream::Config::new("https://packages.example.org/whl/cu128")?)?);
    /// let (dir, name) = (Some(store.pages_dir()), Some("torch-cu128".to_owned()));
    /// let pages = PageCache::new(vec![index.clone()], page_cache::Config { dir, name, ..Default::default() });
    /// let torch = Proxy::new(vec![index], pages, store, serve::Config::default());
    /// proxy.mount("torch-cu128", torch)
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the name is not that of a normalized project, is that of another path of the proxy, or is used already,
    /// or if one of the proxies is in use or the other one has named indexes itself ([`Error::is_config`]).
    pub fn mount(mut self, name: &str, mut index: Self) -> Result<Self, Error> {
        let wrong = |what: &str| Error::with(Kind::Config, format!("index {name}: {what}"));
        check_index_name(name).map_err(wrong)?;
        let (Some(own), Some(other)) = (Arc::get_mut(&mut self.0), Arc::get_mut(&mut index.0)) else {
            return Err(wrong("the proxy is in use"));
        };
        if own.mounted.contains_key(name) || !other.mounted.is_empty() {
            return Err(wrong("an index of this name exists, or it has named indexes itself"));
        }
        other.metrics = own.metrics.clone();
        (other.config.guard, other.config.admin_token) = (None, own.config.admin_token.clone());
        own.mounted.insert(name.into(), index);
        Ok(self)
    }

    /// Returns the index that serves a path, and the path below it.
    pub(super) fn index_of<'p>(&self, path: &'p str) -> (&Self, &'p str) {
        if !self.0.mounted.is_empty()
            && let Some((name, _)) = path.strip_prefix('/').and_then(|path| path.split_once('/'))
            && let Some(index) = self.0.mounted.get(name)
        {
            return (index, &path[1 + name.len()..]);
        }
        (self, path)
    }

    /// Returns the named index, if there is one.
    pub(crate) fn mounted(&self, name: &str) -> Option<&Self> {
        self.0.mounted.get(name)
    }

    /// Responds to a request; its body is ignored. The client's address is unknown, so all clients that do not log in
    /// share one rate limit. Requests to purge the cache get status 403 if no admin token is configured.
    pub async fn handle<B>(&self, request: &Request<B>) -> Response<ResponseBody> {
        self.handle_in(Scope::All, request).await
    }

    /// Like [`Self::handle`], but only for the endpoints in `scope`. Lets a server use separate listeners.
    pub async fn handle_in<B>(&self, scope: Scope, request: &Request<B>) -> Response<ResponseBody> {
        self.respond_to(&RequestParts::of(request, &join_lines(request.headers())), None, scope).await.into()
    }

    /// Returns the address of the client that is connected as `peer`, possibly through trusted proxies.
    pub(super) fn client(&self, peer: Option<IpAddr>, request: &RequestParts<'_>) -> Option<IpAddr> {
        match &self.0.config.guard {
            Some(guard) => guard.client(peer, request.forwarded),
            None => peer,
        }
    }

    pub(super) async fn respond_to(
        &self,
        request: &RequestParts<'_>,
        client: Option<IpAddr>,
        scope: Scope,
    ) -> ProxyResponse {
        let (index, path) = self.index_of(request.path);
        let is_served =
            |route: &Route<'_>| scope.has(route) && (path.len() == request.path.len() || route.is_of_index());
        let route = Route::parse(path);
        let endpoint = route.endpoint();
        let route = Some(route).filter(is_served).unwrap_or(Route::Unknown);
        let mut response = match &self.0.config.guard {
            Some(guard) if !matches!(route, Route::Own(Own::Live | Own::Ready)) => {
                self.respond_with_guard(guard, index, route, request, client, scope).await
            }
            _ => index.dispatch(route, request, scope).await,
        };
        response.endpoint = endpoint;
        if let Some(reason) = response.rejected {
            self.audit(reason, request, client, &response);
        }
        if *request.method == Method::HEAD {
            response.without_body();
        }
        response
    }

    /// Responds after authentication and rate limiting.
    async fn respond_with_guard(
        &self,
        guard: &Guard,
        index: &Self,
        route: Route<'_>,
        request: &RequestParts<'_>,
        client: Option<IpAddr>,
        scope: Scope,
    ) -> ProxyResponse {
        let area = match route {
            Route::Purge(_) if self.0.config.admin_token.is_some() => Area::Admin,
            Route::Own(_) => Area::Metrics,
            _ => Area::Index,
        };
        match guard.authorize(area, client, request.fields.authorization).await {
            Err(rejection) => self.reject(guard_rejection(rejection)),
            Ok(user) => {
                let mut response = index.dispatch(route, request, scope).await;
                if user.is_some() && matches!(response.get(&CACHE_CONTROL), Some(Value::Static(IMMUTABLE))) {
                    // Shared caches must not store a response that requires a login.
                    response.set(CACHE_CONTROL, "max-age=365000000, immutable, private");
                }
                response.user = user;
                response
            }
        }
    }

    pub(super) fn reject(&self, (mut response, reason): CountedRejection) -> ProxyResponse {
        self.0.metrics.rejected[reason].add(1);
        response.rejected = Some(reason);
        response
    }

    /// Logs a rejected request.
    #[cold]
    fn audit(
        &self,
        reason: RejectionReason,
        request: &RequestParts<'_>,
        client: Option<IpAddr>,
        response: &ProxyResponse,
    ) {
        let Some(event) = reason.event() else { return };
        let authorization = request.fields.authorization;
        // Many clients send their login only after a request without it was rejected.
        if reason == RejectionReason::Login && authorization.is_none() {
            return;
        }
        let known = || self.0.config.guard.as_ref()?.known_user(authorization);
        let user = response.user.clone().or_else(known);
        let rule = match response.get(&X_RULE) {
            Some(Value::Static(rule)) => *rule,
            _ => reason.name(),
        };
        let (user, path, rule) = (user.as_deref(), Some(request.path), Some(rule));
        audit::record(event, Refusal { client, user, path, rule, ..Refusal::default() });
    }

    async fn dispatch(&self, route: Route<'_>, request: &RequestParts<'_>, scope: Scope) -> ProxyResponse {
        let method = request.method;
        let is_purge = matches!(route, Route::Purge(_));
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if !is_purge && matches!(*method, Method::POST | Method::PUT) {
            return upload_rejection();
        }
        let is_list = route == Route::Purge(PurgeTarget::Document(Resource::List));
        if route == Route::Unknown || is_purge && is_read && !is_list {
            return ProxyResponse::text(StatusCode::NOT_FOUND, "Not Found");
        }
        let is_allowed = if is_purge { *method == Method::DELETE } else { is_read };
        if !is_allowed {
            let mut response = ProxyResponse::text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            response.set(ALLOW, if is_purge { "DELETE" } else { "GET, HEAD" });
            return response;
        }
        match self.answer(route, request, scope).await {
            Ok(response) => response,
            Err(error) => match error.violation() {
                Some(violation) => self.reject(rule_rejection(violation)),
                None if error.is_forbidden() => {
                    self.reject((error_response(&error), RejectionReason::FileHost))
                }
                None => error_response(&error),
            },
        }
    }

    /// Responds to a request with an allowed method.
    async fn answer(
        &self,
        route: Route<'_>,
        request: &RequestParts<'_>,
        scope: Scope,
    ) -> Result<ProxyResponse, Error> {
        let ok = StatusCode::OK;
        Ok(match route {
            Route::Document(resource) => {
                let cached = self.0.pages.resource(&resource).await?;
                if resource.is_page() {
                    self.page(&cached, request).await
                } else {
                    document(&request.fields, &cached, "application/json").await
                }
            }
            Route::File { project, file } => self.typed(self.file(&project, &file, request).await?),
            Route::IndexPath { path, file } => {
                self.typed(self.file_of_any_index(path, &file, request).await?)
            }
            Route::Purge(target) => self.purge(target, &request.fields, scope).await?,
            Route::Moved { kind, to, .. } => moved(kind, &to, request.query),
            Route::Own(Own::Status) => status::html(&self.0, scope, request.query).await,
            Route::Own(Own::StatusJson) => status::json(&self.0, request.query).await,
            Route::Own(Own::Health) => ProxyResponse::typed(ok, "application/json", health(&self.0).await),
            Route::Own(Own::Live) => ProxyResponse::text(ok, "ok\n"),
            Route::Own(Own::Ready) => match &*readiness_problems(&self.0).await {
                [] => ProxyResponse::text(ok, "ok\n"),
                problems => ProxyResponse::text(StatusCode::SERVICE_UNAVAILABLE, problems.join("\n") + "\n"),
            },
            Route::Own(Own::Metrics) => ProxyResponse::typed(ok, Exposition::CONTENT_TYPE, metrics(&self.0)),
            Route::Unknown => ProxyResponse::text(StatusCode::NOT_FOUND, "Not Found"),
        })
    }

    /// Sets the content type of a response with a file as configured.
    fn typed(&self, mut response: ProxyResponse) -> ProxyResponse {
        if self.0.config.binary_type && response.status.is_success() {
            response.set(CONTENT_TYPE, OCTET_STREAM);
        }
        response
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
            let text = "None of the accepted media types is available.";
            return ProxyResponse::text(StatusCode::NOT_ACCEPTABLE, text);
        };
        let coding = Coding::from_accept(fields.accept_encoding.unwrap_or_default());
        let mut response =
            page_response(fields, cached, form, coding, cached.page.variant(form, coding).await);
        let max_age = self.0.config.page_max_age.as_secs();
        if max_age > 0 && cached.status != CacheStatus::Stale {
            response.set_text(CACHE_CONTROL, &format!("max-age={max_age}"));
        }
        if self.0.is_offline() {
            response.set(X_OFFLINE, "true");
        }
        response
    }

    async fn purge(
        &self,
        target: PurgeTarget<'_>,
        fields: &RequestFields<'_>,
        scope: Scope,
    ) -> Result<ProxyResponse, Error> {
        let token = &self.0.config.admin_token;
        let is_allowed = token.as_ref().map_or(scope == Scope::Admin, |token| {
            let sent = fields.authorization.and_then(|value| guard::parameter(value, "bearer"));
            sent.is_some_and(|sent| {
                aws_lc_rs::constant_time::verify_slices_are_equal(sent.as_bytes(), token.as_bytes()).is_ok()
            })
        });
        if !is_allowed {
            return Ok(self.reject(purge_rejection(token.is_some())));
        }
        match target {
            PurgeTarget::Document(resource) => self.0.pages.purge(resource.project()).await?,
            PurgeTarget::All => {
                for (_, index) in self.0.indexes() {
                    index.pages.purge_all().await?;
                }
            }
            PurgeTarget::File { project, file } => {
                let cached = self.0.pages.page(&project).await?;
                let target = FileTarget::of(&cached, &project, &file, &self.0)?;
                let store = self.0.store.clone();
                let purged = system::spawn_blocking(move || store.purge(&target.key)).await;
                if let (Some(digest), Some(bucket)) = (purged.unwrap_or(Ok(None))?, self.0.store.bucket()) {
                    bucket.remove(&digest).await?;
                }
            }
        }
        let body = r#"{"data":null,"status":"success"}"#;
        Ok(ProxyResponse::typed(StatusCode::OK, "application/json", body))
    }
}

/// Responds with a document that has one format.
pub(super) async fn document(
    fields: &RequestFields<'_>,
    cached: &CachedPage,
    content_type: &'static str,
) -> ProxyResponse {
    let coding = Coding::from_accept(fields.accept_encoding.unwrap_or_default());
    let form = Form::Json;
    let variant = cached.page.variant(form, coding).await;
    let mut response = page_response(fields, cached, form, coding, variant);
    if response.status == StatusCode::OK {
        response.set(CONTENT_TYPE, content_type);
    }
    response.set(VARY, "Accept-Encoding");
    response
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
