//! Answering requests.

use std::io::Write as _;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use http::{Method, Request, Response, StatusCode};
use url::Url;

use super::Body;
use super::answer::{Answer, Asked, AskedFields, Value};
use super::coded::Coded;
use super::config::Config;
use super::exposition::Exposition;
use super::health::{Findings, health, obstacles};
use super::meter::Meter;
use super::metrics::metrics;
use super::refuse::{Denial, by_guard, by_rule};
use super::respond::{FileHead, IMMUTABLE, Wanted, X_CACHE, failure, is_metadata, page};
use super::route::{Kept, Permanent, Route};
use super::status::{self, History};
use crate::error::{Chain, Kind};
use crate::guard::{Area, Guard};
use crate::metadata::MetadataSource;
use crate::page::{Details, Fact, File, Metadata};
use crate::pages::{Held, Pages, Served};
use crate::rules::RuleViolation;
use crate::store::{Digest, Expected, Fill, Filling, Head, Key, Reference, Source, Store, Stored};
use crate::upstream::{self, Upstream, Validators};
use crate::{ByteRange, Coding, Error, Form, ProjectName};

/// What a range of a file that is not here may wait for: that much of the file on its way.
const NEAR: u64 = 1 << 20;

/// What files are that nobody should look into.
const OCTETS: &str = "application/octet-stream";

impl Inner {
    /// Whether having the cache forget something is for some only.
    pub(super) fn needs_token(&self) -> bool {
        self.config.admin_token.is_some()
    }
}

/// Which endpoints are served. The others are not found.
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
            | Route::Kept(_)
            | Route::Health
            | Route::Metrics
            | Route::Status
            | Route::StatusJson => self != Self::Index,
        }
    }
}

/// The proxy: pages and files of some indexes, as answers to requests.
#[derive(Clone, Debug)]
pub struct Proxy(Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) upstreams: Vec<Arc<Upstream>>,
    pub(super) pages: Pages,
    pub(super) store: Store,
    config: Config,
    pub(super) meter: Meter,
    pub(super) findings: Findings,
    pub(super) history: History,
    coded: Coded,
}

impl Proxy {
    /// A proxy of these indexes, with their pages and a store of files.
    pub fn new(upstreams: Vec<Arc<Upstream>>, pages: Pages, store: Store, config: Config) -> Self {
        Self(Arc::new(Inner {
            upstreams,
            pages,
            store,
            config,
            meter: Meter::default(),
            findings: Findings::default(),
            history: History::default(),
            coded: Coded::default(),
        }))
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.0.meter
    }

    /// Waits until the bucket has what it is to get.
    pub(super) async fn settle(&self) {
        if let Some(bucket) = self.0.store.bucket() {
            bucket.settle().await;
        }
    }

    /// Takes samples of what is counted, for the page for people, for ever.
    pub(super) async fn keep_history(self) {
        status::sample(&self.0).await;
    }

    /// Answers a request. What it has as a body is not looked at. Nothing is known of where it comes from: those who do not
    /// log in count as one client.
    pub async fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        self.answer_in(Scope::All, request).await
    }

    /// The same for some of the endpoints only, so that a server can keep the others for itself.
    pub async fn answer_in<B>(&self, scope: Scope, request: &Request<B>) -> Response<Body> {
        self.answer_to(&Asked::of(request), None, scope).await.into()
    }

    /// The address of who asks over a connection from `peer`.
    pub(super) fn client(&self, peer: Option<IpAddr>, asked: &Asked<'_>) -> Option<IpAddr> {
        match &self.0.config.guard {
            Some(guard) => guard.client(peer, &asked.forwarded),
            None => peer,
        }
    }

    pub(super) async fn answer_to(&self, asked: &Asked<'_>, client: Option<IpAddr>, scope: Scope) -> Answer {
        let route = Some(Route::of(asked.path)).filter(|route| scope.has(route)).unwrap_or(Route::Unknown);
        let mut answer = match &self.0.config.guard {
            Some(guard) if !matches!(route, Route::Live | Route::Ready) => {
                self.guarded(guard, route, asked, client).await
            }
            _ => self.routed(route, asked).await,
        };
        if *asked.method == Method::HEAD {
            answer.without_body();
        }
        answer
    }

    /// Answers who may ask.
    async fn guarded(
        &self,
        guard: &Guard,
        route: Route<'_>,
        asked: &Asked<'_>,
        client: Option<IpAddr>,
    ) -> Answer {
        let area = match route {
            Route::Kept(_) if self.0.needs_token() => Area::Admin,
            Route::Home | Route::Status | Route::StatusJson | Route::Health | Route::Metrics => Area::Metrics,
            _ => Area::Index,
        };
        match guard.authorize(area, client, asked.fields.authorization).await {
            Err(refused) => self.refuse(by_guard(refused)),
            Ok(user) => {
                let mut answer = self.routed(route, asked).await;
                if user.is_some() && matches!(answer.get(&CACHE_CONTROL), Some(Value::Static(IMMUTABLE))) {
                    // What stands in between must not give it to others.
                    answer.set(CACHE_CONTROL, "max-age=365000000, immutable, private");
                }
                answer.user = user;
                answer
            }
        }
    }

    /// Counts a refused request.
    pub(super) fn refuse(&self, (answer, reason): Denial) -> Answer {
        self.0.meter.refuse(reason);
        answer
    }

    /// Whether there may be something of a project.
    fn check_project(&self, name: &ProjectName) -> Result<(), RuleViolation> {
        self.0.pages.rules().map_or(Ok(()), |rules| rules.project(name))
    }

    /// Whether clients may have a file, or what belongs to one.
    fn check_file(&self, served: &Served, project: &ProjectName, name: &str) -> Result<(), RuleViolation> {
        let Some(rules) = self.0.pages.rules() else { return Ok(()) };
        let base = || served.entry.file(name.rsplit_once('.')?.0);
        match served.entry.file(name).or_else(base) {
            Some((_, file)) => rules.file(project, &file.details(), SystemTime::now()),
            None => Ok(()),
        }
    }

    async fn routed(&self, route: Route<'_>, asked: &Asked<'_>) -> Answer {
        let (method, fields) = (asked.method, &asked.fields);
        let is_kept = matches!(route, Route::Kept(_));
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if route == Route::Unknown || is_kept && is_read && !matches!(route, Route::Kept(Kept::List)) {
            return Answer::text(StatusCode::NOT_FOUND, "Not Found");
        }
        if if is_kept { *method != Method::DELETE } else { !is_read } {
            let mut answer = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            answer.set(ALLOW, if is_kept { "DELETE" } else { "GET, HEAD" });
            return answer;
        }
        match route {
            Route::List => self.list(asked).await,
            Route::Project(name) => match ProjectName::parse(&name) {
                Ok(name) => self.project(&name, asked).await,
                Err(error) => failure(&error),
            },
            Route::File { project, file } => match ProjectName::parse(&project) {
                Ok(project) => match self.file(&project, &file, method, fields).await {
                    Ok(mut answer) => {
                        if self.0.config.binary_type && answer.status.is_success() {
                            answer.set(CONTENT_TYPE, OCTETS);
                        }
                        answer
                    }
                    Err(error) => failure(&error),
                },
                Err(error) => failure(&error),
            },
            Route::Kept(kept) => self.forget(kept, fields).await,
            Route::Moved { permanent, to } => moved(permanent, &to, asked.query),
            Route::Home | Route::Status => status::html(&self.0),
            Route::StatusJson => status::json(&self.0),
            Route::Health => Answer::typed(StatusCode::OK, "application/json", health(&self.0).await),
            Route::Live => Answer::text(StatusCode::OK, "ok\n"),
            Route::Ready => match &*obstacles(&self.0).await {
                [] => Answer::text(StatusCode::OK, "ok\n"),
                obstacles => Answer::text(StatusCode::SERVICE_UNAVAILABLE, obstacles.join("\n") + "\n"),
            },
            Route::Metrics => Answer::typed(StatusCode::OK, Exposition::CONTENT_TYPE, metrics(&self.0)),
            Route::Unknown => Answer::text(StatusCode::NOT_FOUND, "Not Found"),
        }
    }

    async fn list(&self, asked: &Asked<'_>) -> Answer {
        match self.0.pages.list().await {
            Ok(served) => self.page(&served, asked).await,
            Err(error) => failure(&error),
        }
    }

    async fn project(&self, name: &ProjectName, asked: &Asked<'_>) -> Answer {
        if let Err(refusal) = self.check_project(name) {
            return self.refuse(by_rule(refusal));
        }
        match self.0.pages.project(name).await {
            Ok(served) => self.page(&served, asked).await,
            Err(error) => failure(&error),
        }
    }

    async fn page(&self, served: &Served, asked: &Asked<'_>) -> Answer {
        let fields = &asked.fields;
        let format = asked
            .query
            .and_then(|query| form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "format"));
        let form = match format {
            Some((_, format)) => Form::from_query(&format),
            None => Form::from_accept(fields.accept.unwrap_or_default()),
        };
        let Some(form) = form else {
            return Answer::text(
                StatusCode::NOT_ACCEPTABLE,
                "None of the accepted media types is available.",
            );
        };
        let coding = Coding::from_accept(fields.accept_encoding.unwrap_or_default());
        page(fields, served, form, coding, served.entry.variant(form, coding).await)
    }

    /// A file, or the metadata or signature of one.
    async fn file(
        &self,
        project: &ProjectName,
        name: &str,
        method: &Method,
        asked: &AskedFields<'_>,
    ) -> Result<Answer, Error> {
        if let Err(refusal) = self.check_project(project) {
            return Ok(self.refuse(by_rule(refusal)));
        }
        let served = self.0.pages.project(project).await?;
        if let Err(refusal) = self.check_file(&served, project, name) {
            return Ok(self.refuse(by_rule(refusal)));
        }
        served.entry.want();
        let label = || Arc::from(format!("{project}/{name}"));
        // Where it is from does not matter if it is here.
        let details = served.entry.file(name).map(|(_, file)| file.details());
        let is_untold = details.as_ref().is_some_and(|details| details.metadata == Metadata::Untold);
        let digest = details.filter(|details| details.size.is_some()).and_then(|details| details.sha256);
        if let Some(stored) = digest.and_then(|digest| self.0.store.get_called(&Digest(digest), label)) {
            if is_untold {
                self.look_into(project, name, &served, stored.clone());
            }
            return Ok(self.stored(name, stored, asked).await);
        }
        let found = Found::of(&served, project, name, &self.0)?;
        let digest = found.digest(&self.0.store);
        if let Some(stored) = digest.and_then(|digest| self.0.store.get_called(&digest, label)) {
            if found.is_poor() {
                self.0.pages.learn(project, name, Fact::new(Some(stored.len), None));
            }
            if is_untold {
                self.look_into(project, name, &served, stored.clone());
            }
            return Ok(self.stored(name, stored, asked).await);
        }
        let etag = found.expected.sha256.map(|digest| tag(&digest));
        let len = match found.expected.size {
            None if *method == Method::HEAD && found.is_listed => self.len(project, name, &found).await?,
            size => size,
        };
        let head = FileHead { name, len, etag, verdict: "miss" };
        if *method == Method::HEAD && head.len.is_some() {
            return Ok(match head.wanted(asked) {
                Wanted::All => head.respond(Body::empty()),
                Wanted::Part(range) => head.respond_part(range, Body::empty()),
                Wanted::Nothing(answer) => *answer,
            });
        }
        let running = self.0.store.running(&found.key);
        if asked.range.is_some()
            && found.made_of.is_none()
            && running.as_ref().is_none_or(|fill| !is_near(fill, asked, head.len))
            && !self.is_redirected(&found)
        {
            return self.pass(project, &found, &head, asked).await;
        }
        if !self.0.store.is_on()
            && self.0.config.redirect_after == Some(Duration::ZERO)
            && self.is_redirected(&found)
        {
            return Ok(redirect(&found.url));
        }
        let told = Arc::new(OnceLock::new());
        let filling = match &found.made_of {
            Some(wheel) => {
                let stored = wheel.sha256.and_then(|digest| self.0.store.get(&digest));
                let (upstream, url) = (found.upstream.clone(), found.url.clone());
                let (name, label) = (wheel.name.clone(), label());
                let told = told.clone();
                let source = MetadataSource { upstream, url, name, label, stored, told };
                self.0.store.fill(found.key.clone(), found.expected, source)
            }
            None => {
                let (upstream, url) = (found.upstream.clone(), found.url.clone());
                let source = From { upstream, url, label: label() };
                self.0.store.fill(found.key.clone(), found.expected, source)
            }
        };
        let fill = match filling {
            Filling::Stored(stored) => return Ok(self.stored(name, stored, asked).await),
            Filling::Running(fill) => fill,
        };
        self.learn(project, name, &found, &fill, told);
        if is_untold {
            self.look_into_whole(project, name, &served, &fill);
        }
        let told = match self.0.config.redirect_after.filter(|_| self.is_redirected(&found)) {
            None => fill.head().await?,
            Some(Duration::ZERO) => return Ok(redirect(&found.url)),
            Some(time) => match tokio::time::timeout(time, fill.head()).await {
                Ok(told) => told?,
                Err(_) => return Ok(redirect(&found.url)),
            },
        };
        let head = FileHead { len: told.len, ..head };
        Ok(match head.wanted(asked) {
            Wanted::All => head.respond(Body::growing(fill.reader(None), head.len)),
            Wanted::Part(range) => {
                let len = range.end - range.start;
                head.respond_part(range.clone(), Body::growing(fill.reader(Some(range)), Some(len)))
            }
            Wanted::Nothing(answer) => *answer,
        })
    }

    /// A file that is here: metadata in the coding that suits the client best, anything else as it is.
    async fn stored(&self, name: &str, stored: Stored, asked: &AskedFields<'_>) -> Answer {
        // A range is one of the file itself.
        let accepted = asked.accept_encoding.filter(|_| asked.range.is_none() && is_metadata(name));
        let coding = accepted.map_or(Coding::Identity, Coding::from_accept);
        match (self.0.coded.get(&stored, coding).await, coding.content_encoding()) {
            (Some(held), Some(encoding)) => coded_file(name, &stored.digest, held, encoding, asked),
            _ => stored_file(name, stored, asked),
        }
    }

    /// Notes what a file has turned out to be, if its page does not tell that.
    fn learn(
        &self,
        project: &ProjectName,
        name: &str,
        found: &Found,
        fill: &Fill,
        told: Arc<OnceLock<Head>>,
    ) {
        let wheel = found.made_of.as_ref().and_then(|wheel| Some((wheel.name.clone(), wheel.sha256?)));
        if wheel.is_none() && !found.is_poor() {
            return;
        }
        let (pages, project, name, fill) =
            (self.0.pages.clone(), project.clone(), name.to_owned(), fill.observer());
        tokio::spawn(async move {
            let Ok(Some(stored)) = fill.done().await else { return };
            match wheel {
                Some((wheel, sha256)) => {
                    let head = told.get();
                    let modified = head.and_then(|head| head.validators.last_modified.as_deref());
                    let fact = Fact::new(head.and_then(|head| head.len), modified);
                    pages.learn(&project, &wheel, fact.of_wheel(&sha256, Some(&stored.digest)));
                }
                None => {
                    let head = fill.head().await.unwrap_or_default();
                    let fact = Fact::new(Some(stored.len), head.validators.last_modified.as_deref());
                    pages.learn(&project, &name, fact);
                }
            }
        });
    }

    /// Reads the metadata of a stored wheel that its index has none of, once. What can be read is on the page from the next
    /// time that the index is asked.
    fn look_into(&self, project: &ProjectName, name: &str, served: &Served, stored: Stored) {
        let Some(wheel) = self.unread(project, name, served) else { return };
        let (proxy, project) = (self.clone(), project.clone());
        tokio::spawn(async move { proxy.look(&project, wheel, stored).await });
    }

    /// The same of a wheel that is being fetched.
    fn look_into_whole(&self, project: &ProjectName, name: &str, served: &Served, fill: &Fill) {
        let Some(wheel) = self.unread(project, name, served) else { return };
        let (proxy, project, fill) = (self.clone(), project.clone(), fill.observer());
        tokio::spawn(async move {
            if let Ok(Some(stored)) = fill.done().await {
                proxy.look(&project, wheel, stored).await;
            }
        });
    }

    /// A wheel of a page that tells its SHA-256 but nothing of metadata, if these were not looked for yet.
    fn unread(&self, project: &ProjectName, name: &str, served: &Served) -> Option<Found> {
        if !name.ends_with(".whl") || !self.0.pages.reads_wheels() {
            return None;
        }
        let details = served.entry.file(name)?.1.details();
        let wheel = Digest(details.sha256?);
        if details.metadata != Metadata::Untold || self.0.pages.has_looked(project, name, &wheel) {
            return None;
        }
        Found::of(served, project, &format!("{name}.metadata"), &self.0).ok()
    }

    async fn look(&self, project: &ProjectName, found: Found, stored: Stored) {
        let Some(Wheel { name, sha256: Some(wheel) }) = found.made_of else { return };
        if self.0.pages.has_looked(project, &name, &wheel) {
            return;
        }
        let (upstream, url, told) = (found.upstream, found.url, Arc::default());
        let label = Arc::from(format!("{project}/{name}.metadata"));
        let (len, name) = (stored.len, name.clone());
        let source = MetadataSource { upstream, url, name, label, stored: Some(stored), told };
        let metadata = match source.make().await {
            Ok(metadata) => Some(Digest::of(&metadata)),
            Err(error) if error.is_not_found() => {
                tracing::debug!(error = %Chain(&error), wheel = source.name, "a wheel has no metadata that can be read");
                None
            }
            // It may be read the next time.
            Err(_) => return,
        };
        let fact = Fact::new(Some(len), None).of_wheel(&wheel, metadata.as_ref());
        self.0.pages.learn(project, &source.name, fact);
    }

    fn is_redirected(&self, found: &Found) -> bool {
        self.0.config.redirect_after.is_some() && !found.upstream.has_credentials() && found.made_of.is_none()
    }

    /// The length of a file, which only its host knows: a byte of it tells that.
    async fn len(&self, project: &ProjectName, name: &str, found: &Found) -> Result<Option<u64>, Error> {
        let body = found.upstream.part(&found.url, 0..1).await?;
        if found.is_poor() {
            let fact = Fact::new(body.len, body.validators.last_modified.as_deref());
            self.0.pages.learn(project, name, fact);
        }
        Ok(body.len)
    }

    /// Part of a file that is not here: only that part is fetched.
    async fn pass(
        &self,
        project: &ProjectName,
        found: &Found,
        head: &FileHead<'_>,
        asked: &AskedFields<'_>,
    ) -> Result<Answer, Error> {
        let range = asked.range.unwrap_or_default();
        // Without the length, a range can only be understood by who has the file.
        let body = match head.len.map(|len| ByteRange::parse(range, len)) {
            Some(ByteRange::Part { start, end }) => {
                let shared = match (self.0.store.bucket(), &found.key) {
                    (Some(bucket), Key::Digest(digest)) => {
                        bucket.part(digest, &found.expected, start..end).await
                    }
                    _ => None,
                };
                let body = match shared {
                    Some(body) => body,
                    None => found.upstream.part(&found.url, start..end).await?,
                };
                // A client that does not look would take it for what it has asked for.
                let is_other = body.is_part() && (body.start, body.part_len()) != (start, Some(end - start));
                if is_other || body.len.is_some_and(|len| head.len != Some(len)) {
                    return Err(Error::with(Kind::Upstream, "another part of a file than was asked for"));
                }
                body
            }
            Some(ByteRange::Unsatisfiable) => {
                return Ok(match head.wanted(asked) {
                    Wanted::Nothing(answer) => *answer,
                    _ => head.respond(Body::empty()),
                });
            }
            Some(ByteRange::Full) | None => found.upstream.file_range(&found.url, range).await?,
        };
        let head = FileHead {
            len: head.len.or(body.len),
            name: head.name,
            etag: head.etag.clone(),
            verdict: "pass",
        };
        if found.is_poor() {
            let fact = Fact::new(body.len, body.validators.last_modified.as_deref());
            self.0.pages.learn(project, head.name, fact);
        }
        let (start, part_len) = (body.start, body.part_len());
        Ok(match part_len {
            Some(len) if body.is_part() => {
                head.respond_part(start..start + len, Body::passing(body, Some(len)))
            }
            len => head.respond(Body::passing(body, len)),
        })
    }

    async fn forget(&self, kept: Kept<'_>, asked: &AskedFields<'_>) -> Answer {
        if let Some(token) = &self.0.config.admin_token {
            let given = asked.authorization.and_then(|given| given.strip_prefix("Bearer "));
            let is_right = given.is_some_and(|given| {
                aws_lc_rs::constant_time::verify_slices_are_equal(given.as_bytes(), token.as_bytes()).is_ok()
            });
            if !is_right {
                let mut answer = Answer::text(StatusCode::UNAUTHORIZED, "Unauthorized");
                answer.set(WWW_AUTHENTICATE, "Bearer");
                return answer;
            }
        }
        match self.forget_kept(kept).await {
            Ok(()) => {
                Answer::typed(StatusCode::OK, "application/json", r#"{"data":null,"status":"success"}"#)
            }
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
                let found = Found::of(&served, &project, &file, &self.0)?;
                let store = self.0.store.clone();
                let digest = found.digest(&store);
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

/// A file that a page names, and where it is.
struct Found {
    upstream: Arc<Upstream>,
    url: Url,
    key: Key,
    expected: Expected,
    /// For metadata that only the wheel has: the wheel, and `url` is its address.
    made_of: Option<Wheel>,
    /// Whether it is a file of the page, not one that belongs to another.
    is_listed: bool,
}

struct Wheel {
    name: String,
    sha256: Option<Digest>,
}

impl Found {
    fn of(served: &Served, project: &ProjectName, name: &str, proxy: &Inner) -> Result<Self, Error> {
        let missing = || Error::new(Kind::NotFound);
        let place = |index: usize, file: &File<'_>| {
            let upstream = proxy.upstreams.get(index).ok_or_else(missing)?;
            Ok::<_, Error>((upstream.clone(), upstream.resolve(project, file.url())?))
        };
        // Without a SHA-256 it is the file that this index has at this URL, as long as the page offers the same hashes.
        let key =
            |sha256: Option<Digest>, upstream: &Upstream, url: &Url, checksum, details: &Details<'_>| {
                let Some(digest) = sha256 else {
                    let index = upstream.page_url(None);
                    let hashes = format!("{checksum:?} {:?} {:?}", details.sha256, details.checksum);
                    let origin = [index.as_str(), url.as_str(), &hashes];
                    return Key::Reference(Reference::new(project.clone(), name, &origin));
                };
                Key::Digest(digest)
            };
        if let Some((index, file)) = served.entry.file(name) {
            let details = file.details();
            let (upstream, url) = place(index, &file)?;
            let (sha256, checksum) = (details.sha256.map(Digest), details.checksum);
            let key = key(sha256, &upstream, &url, checksum, &details);
            let expected = Expected { sha256, checksum, size: details.size };
            return Ok(Self { upstream, url, key, expected, made_of: None, is_listed: true });
        }
        let (base, end) = name.rsplit_once('.').ok_or_else(missing)?;
        let (index, file) = served.entry.file(base).ok_or_else(missing)?;
        let details = file.details();
        let (sha256, checksum) = match (end, details.metadata) {
            ("metadata", Metadata::Present(sha256)) => (sha256.map(Digest), details.metadata_checksum),
            ("metadata", metadata @ (Metadata::Made(_) | Metadata::Untold))
                if base.ends_with(".whl") && proxy.pages.reads_wheels() =>
            {
                let (upstream, url) = place(index, &file)?;
                let made_of = Some(Wheel { name: base.to_owned(), sha256: details.sha256.map(Digest) });
                let sha256 = if let Metadata::Made(sha256) = metadata { Some(Digest(sha256)) } else { None };
                let key = key(sha256, &upstream, &url, None, &details);
                let expected = Expected { sha256, ..Expected::default() };
                return Ok(Self { upstream, url, key, expected, made_of, is_listed: false });
            }
            ("asc", _) if details.has_signature != Some(false) => (None, None),
            _ => return Err(missing()),
        };
        let (upstream, mut url) = place(index, &file)?;
        let path = format!("{}.{end}", url.path());
        url.set_path(&path);
        let key = key(sha256, &upstream, &url, checksum, &details);
        let expected = Expected { sha256, checksum, size: None };
        Ok(Self { upstream, url, key, expected, made_of: None, is_listed: false })
    }

    /// The SHA-256 of the file: that of its page, or that of a file of the same origin that was fetched before.
    fn digest(&self, store: &Store) -> Option<Digest> {
        match &self.key {
            Key::Digest(digest) => Some(*digest),
            Key::Reference(reference) => store.lookup(reference),
        }
    }

    /// Whether the page tells the hash of the file, but not its size.
    fn is_poor(&self) -> bool {
        self.is_listed && self.expected.sha256.is_some() && self.expected.size.is_none()
    }
}

/// An upstream as the source of one file.
struct From {
    upstream: Arc<Upstream>,
    url: Url,
    label: Arc<str>,
}

impl Source for From {
    fn label(&self) -> Option<Arc<str>> {
        Some(self.label.clone())
    }

    async fn open(&mut self, from: u64, known: &Validators) -> Result<upstream::FileBody, Error> {
        self.upstream.file(&self.url, from, known).await
    }
}

/// Whether a range is in the part of the file that is here, or soon will be.
fn is_near(fill: &Fill, asked: &AskedFields<'_>, len: Option<u64>) -> bool {
    let range = asked.range.unwrap_or_default();
    match ByteRange::parse(range, len.unwrap_or(u64::MAX)) {
        ByteRange::Part { start, .. } => start <= fill.available().saturating_add(NEAR),
        ByteRange::Full | ByteRange::Unsatisfiable => true,
    }
}

fn tag(digest: &Digest) -> HeaderValue {
    let mut text = [b'"'; 66];
    let mut out = &mut text[1..65];
    // There is room for all of it, and digits and letters are always a value.
    let _ = write!(out, "{digest}");
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

fn coded_file(
    name: &str,
    digest: &Digest,
    held: Held,
    encoding: &'static str,
    asked: &AskedFields<'_>,
) -> Answer {
    let etag = HeaderValue::from_str(&format!("\"{digest}-{encoding}\"")).ok();
    let head = FileHead { name, len: Some(held.len()), etag, verdict: "hit" };
    match head.wanted(asked) {
        Wanted::Nothing(answer) => *answer,
        Wanted::All | Wanted::Part(_) => {
            let mut answer = head.respond(held.into());
            answer.set(CONTENT_ENCODING, encoding);
            answer
        }
    }
}

fn stored_file(name: &str, stored: Stored, asked: &AskedFields<'_>) -> Answer {
    let Stored { file, len, digest } = stored;
    let head = FileHead { name, len: Some(len), etag: Some(tag(&digest)), verdict: "hit" };
    match head.wanted(asked) {
        Wanted::All => head.respond(Body::file(file, 0..len)),
        Wanted::Part(range) => head.respond_part(range.clone(), Body::file(file, range)),
        Wanted::Nothing(answer) => *answer,
    }
}

fn moved(permanent: Permanent, to: &str, query: Option<&str>) -> Answer {
    let status = match permanent {
        Permanent::Moved => StatusCode::MOVED_PERMANENTLY,
        Permanent::Redirect => StatusCode::PERMANENT_REDIRECT,
    };
    let mut answer = Answer::text(status, "");
    match query {
        None => answer.set_text(LOCATION, to),
        Some(query) => answer.set_text(LOCATION, &format!("{to}?{query}")),
    }
    answer
}

fn redirect(url: &Url) -> Answer {
    let mut answer = Answer::text(StatusCode::FOUND, "");
    answer.set(X_CACHE, "redirect");
    answer.set_text(LOCATION, url.as_str());
    answer
}
