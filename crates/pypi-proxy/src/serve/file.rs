//! Responses with files, and with the metadata and signatures of files.

use std::io::Write as _;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_ENCODING, HeaderValue, LOCATION};
use http::{Method, StatusCode};
use url::Url;

use super::ResponseBody;
use super::locate::{FileTarget, Location, UnlistedProjects, UpstreamSource};
use super::message::{ProxyResponse, RequestFields, RequestParts};
use super::respond::{FileHeaders, Selection, X_CACHE, is_metadata};
use super::service::{self, Proxy, State};
use crate::error::{Chain, Kind};
use crate::metadata::MetadataSource;
use crate::page::{FileFacts, Metadata};
use crate::page_cache::{CacheStatus, CachedPage, RenderedPage};
use crate::resource::{FileId, Resource};
use crate::store::{Digest, Download, FetchState, FileInfo, Key, StoredFile};
use crate::upstream::{FileBody, Validators};
use crate::{ByteRange, Coding, Error, ProjectName, file_name, system};

/// Distance ahead of a download within which a range request waits for it instead of fetching the range separately.
const WAIT_AHEAD: u64 = 1 << 20;

/// Content type of provenance.
const PROVENANCE_TYPE: &str = "application/vnd.pypi.integrity.v1+json";

/// Request for a file of a project.
struct FileRequest<'a> {
    proxy: &'a State,
    project: &'a ProjectName,
    name: &'a str,
    cached: &'a CachedPage,
    is_head: bool,
    fields: &'a RequestFields<'a>,
    /// Whether facts about the file are facts about the file of this name on the page.
    has_facts: bool,
}

impl Proxy {
    /// Responds with a file, or the metadata, signature or provenance of one.
    pub(super) async fn file(
        &self,
        project: &ProjectName,
        name: &str,
        request: &RequestParts<'_>,
    ) -> Result<ProxyResponse, Error> {
        let cached = self.0.pages.project(project).await?;
        self.request(project, name, &cached, request, true).respond().await
    }

    /// Responds with a file, or the metadata or signature of one, by its path at the default index or a named one. An
    /// index that lists the file has precedence over one that may have it.
    pub(super) async fn file_of_any_index(
        &self,
        path: &str,
        name: &str,
        request: &RequestParts<'_>,
    ) -> Result<ProxyResponse, Error> {
        let (mut unlisted, mut refused) = (Vec::new(), None);
        for index in std::iter::once(self).chain(self.0.mounted.values()) {
            let found = match index.0.locate(path, name).await? {
                Location::Unlisted(projects) => {
                    unlisted.push((index, projects));
                    continue;
                }
                Location::Listed { project, cached, has_facts } => {
                    index.request(&project, name, &cached, request, has_facts).respond().await
                }
            };
            if let Some(response) = self.final_response(index, found, &mut refused) {
                return response;
            }
        }
        if refused.is_none() {
            for (index, projects) in unlisted {
                let found = index.unlisted_file(path, name, request, projects).await;
                if let Some(response) = self.final_response(index, found, &mut refused) {
                    return response;
                }
            }
        }
        Err(refused.unwrap_or_else(|| Error::new(Kind::NotFound)))
    }

    /// Returns the response of an index unless it does not have the file, or is a named index whose rules refuse the file:
    /// those of another index may allow it.
    fn final_response(
        &self,
        index: &Self,
        found: Result<ProxyResponse, Error>,
        refused: &mut Option<Error>,
    ) -> Option<Result<ProxyResponse, Error>> {
        match found {
            Err(error) if error.is_not_found() => None,
            Err(error) if error.violation().is_some() && !std::ptr::eq(self, index) => {
                *refused = Some(error);
                None
            }
            found => Some(found),
        }
    }

    /// Responds with a file that the pages of these projects do not list. It is requested at the host of the listed files.
    async fn unlisted_file(
        &self,
        path: &str,
        name: &str,
        request: &RequestParts<'_>,
        projects: UnlistedProjects,
    ) -> Result<ProxyResponse, Error> {
        let UnlistedProjects { refused, mut candidates } = projects;
        // The file may belong to each of the projects.
        refused.map_or(Ok(()), Err)?;
        for (project, cached) in &candidates {
            let page = cached.as_ref().map(|cached| &*cached.page);
            self.0.pages.check_unlisted(project, page, file_name::base(name))?;
        }
        // A project that exists, otherwise the most likely one.
        candidates.sort_by_key(|(_, cached)| cached.is_none());
        let Some((project, cached)) = candidates.into_iter().next() else {
            return Err(Error::new(Kind::NotFound));
        };
        let cached = cached.unwrap_or_else(|| CachedPage {
            page: Arc::new(RenderedPage::nothing()),
            status: CacheStatus::Miss,
        });
        let request = self.request(&project, name, &cached, request, false);
        for target in FileTarget::unlisted(&cached.page, &project, name, path, &self.0)? {
            match request.respond_from(target, false).await {
                Err(error) if error.is_not_found() => {}
                result => return result,
            }
        }
        Err(Error::new(Kind::NotFound))
    }

    fn request<'a>(
        &'a self,
        project: &'a ProjectName,
        name: &'a str,
        cached: &'a CachedPage,
        request: &'a RequestParts<'_>,
        has_facts: bool,
    ) -> FileRequest<'a> {
        let (is_head, fields) = (*request.method == Method::HEAD, &request.fields);
        FileRequest { proxy: &self.0, project, name, cached, is_head, fields, has_facts }
    }
}

impl FileRequest<'_> {
    /// Responds if the rules allow the file.
    async fn respond(&self) -> Result<ProxyResponse, Error> {
        let Self { proxy, project, name, cached, .. } = *self;
        let store = &proxy.store;
        proxy.pages.check_file(project, &cached.page, name)?;
        cached.page.count_file_request();
        let label = || Arc::from(format!("{project}/{name}"));
        // Fast path: the location of a file that is stored does not matter.
        let details = cached.page.file(name).map(|(_, file)| file.details());
        let is_metadata_unknown =
            details.as_ref().is_some_and(|details| details.metadata == Metadata::Unknown);
        let digest = details.filter(|details| details.size.is_some()).and_then(|details| details.sha256);
        if let Some(stored) = digest.and_then(|digest| store.get_labeled(&Digest(digest), label)) {
            return Ok(self.stored(stored, is_metadata_unknown).await);
        }
        if let Some(document) = self.provenance()? {
            let cached = &proxy.pages.resource(&document).await?;
            return Ok(service::document(self.fields, cached, PROVENANCE_TYPE).await);
        }
        self.respond_from(FileTarget::of(cached, project, name, proxy)?, is_metadata_unknown).await
    }

    /// Responds with a file from this origin.
    async fn respond_from(
        &self,
        target: FileTarget,
        is_metadata_unknown: bool,
    ) -> Result<ProxyResponse, Error> {
        let Self { proxy, project, name, is_head, fields, .. } = *self;
        let (store, config) = (&proxy.store, &proxy.config);
        let label = || Arc::from(format!("{project}/{name}"));
        if let Some(stored) = store.digest(&target.key).and_then(|digest| store.get_labeled(&digest, label)) {
            self.record_facts_of(&target, Some(stored.len), None);
            return Ok(self.stored(stored, is_metadata_unknown).await);
        }
        let etag = target.expected.sha256.map(|digest| tag(&digest));
        let len = match target.expected.size {
            None if is_head && target.is_listed => self.len(&target).await?,
            size => size,
        };
        let headers = FileHeaders { name, len, etag, cache_status: "miss" };
        if is_head && headers.len.is_some() {
            return Ok(headers.answer(fields, |_| ResponseBody::empty()));
        }
        let redirect_after =
            config.redirect_after.filter(|_| !target.upstream.has_credentials() && target.wheel.is_none());
        let download = store.in_flight(&target.key);
        if fields.range.is_some()
            && target.wheel.is_none()
            && download.as_ref().is_none_or(|download| !is_within_reach(download, fields, headers.len))
            && redirect_after.is_none()
        {
            let passed = self.pass_through(&target, headers).await;
            if let Err(error) = &passed
                && !error.is_not_found()
            {
                store.failures().record(&label(), Some(target.upstream.to_string()), error);
            }
            return passed;
        }
        if store.max_bytes() == 0 && redirect_after == Some(Duration::ZERO) {
            return Ok(redirect(&target.url));
        }
        let wheel_info = Arc::new(OnceLock::new());
        let (upstream, url, label) = (target.upstream.clone(), target.url.clone(), label());
        let key = target.key.clone();
        let fetched = match &target.wheel {
            Some(wheel) => {
                let stored = wheel.sha256.and_then(|digest| store.get(&digest));
                let (name, wheel_info) = (wheel.name.clone(), wheel_info.clone());
                let source = MetadataSource { upstream, url, name, label, stored, wheel_info };
                store.fetch(key, target.expected, source)
            }
            None => store.fetch(key, target.expected, UpstreamSource { upstream, url, label }),
        };
        let download = match fetched {
            FetchState::Stored(stored) => return Ok(self.stored(stored, false).await),
            FetchState::InFlight(download) => download,
        };
        self.record_facts_after(&download, &target, wheel_info);
        if is_metadata_unknown {
            let download = download.observer();
            self.extract_metadata(async move { download.done().await.ok().flatten() });
        }
        let info = match redirect_after {
            None => download.info().await?,
            Some(Duration::ZERO) => return Ok(redirect(&target.url)),
            Some(time) => match tokio::time::timeout(time, download.info()).await {
                Ok(info) => info?,
                Err(_) => return Ok(redirect(&target.url)),
            },
        };
        let headers = FileHeaders { len: info.len, ..headers };
        Ok(headers.answer(fields, |range| {
            let len = range.as_ref().map_or(info.len, |range| Some(range.end - range.start));
            ResponseBody::growing(download.reader(range), len)
        }))
    }

    /// Returns the provenance that is requested, if it is one.
    fn provenance(&self) -> Result<Option<Resource>, Error> {
        let Self { proxy, project, name, cached, .. } = *self;
        let Some(base) = name.strip_suffix(".provenance").filter(|_| cached.page.file(name).is_none()) else {
            return Ok(None);
        };
        let missing = || Error::new(Kind::NotFound);
        let (index, file) = cached.page.file(base).ok_or_else(missing)?;
        let upstream = proxy.upstreams.get(index).ok_or_else(missing)?;
        let url = upstream.resolve(project, file.provenance().ok_or_else(missing)?)?;
        let sha256 = file.details().sha256.map(Digest);
        let (project, name) = (project.clone(), base.into());
        Ok(Some(Resource::Provenance(Box::new(FileId { project, name, sha256, index, url }))))
    }

    /// Responds with a stored file. Metadata is compressed as the client prefers.
    async fn stored(&self, stored: StoredFile, is_metadata_unknown: bool) -> ProxyResponse {
        let Self { name, fields, .. } = *self;
        if is_metadata_unknown {
            self.extract_metadata(std::future::ready(Some(stored.clone())));
        }
        // A range applies to the uncompressed file.
        let accepted = fields.accept_encoding.filter(|_| fields.range.is_none() && is_metadata(name));
        let coding = accepted.map_or(Coding::Identity, Coding::from_accept);
        if let (Some(bytes), Some(encoding)) =
            (self.proxy.encoded.get(&stored, coding).await, coding.content_encoding())
        {
            let etag = HeaderValue::from_str(&format!("\"{}-{encoding}\"", stored.digest)).ok();
            let headers = FileHeaders { name, len: Some(bytes.len()), etag, cache_status: "hit" };
            if let Selection::Done(response) = headers.select(fields) {
                return *response;
            }
            let mut response = headers.respond(bytes.into());
            response.set(CONTENT_ENCODING, encoding);
            return response;
        }
        let StoredFile { file, len, digest } = stored;
        let headers = FileHeaders { name, len: Some(len), etag: Some(tag(&digest)), cache_status: "hit" };
        headers.answer(fields, |range| ResponseBody::file(file, range.unwrap_or(0..len)))
    }

    /// Records facts about the file, such as its size, that the index page lacks.
    fn record_facts_of(&self, target: &FileTarget, len: Option<u64>, modified: Option<&str>) {
        if self.has_facts && target.needs_facts() {
            self.proxy.pages.record_facts(self.project, self.name, FileFacts::new(len, modified));
        }
    }

    /// Records facts about a downloaded file, such as its size, that the index page lacks.
    fn record_facts_after(
        &self,
        download: &Download,
        target: &FileTarget,
        wheel_info: Arc<OnceLock<FileInfo>>,
    ) {
        let wheel = target.wheel.as_ref().and_then(|wheel| Some((wheel.name.clone(), wheel.sha256?)));
        if !self.has_facts || wheel.is_none() && !target.needs_facts() {
            return;
        }
        let (pages, download) = (self.proxy.pages.clone(), download.observer());
        let (project, name) = (self.project.clone(), self.name.to_owned());
        system::spawn(async move {
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

    /// Extracts the metadata of a wheel whose page has none, once the wheel is stored. The page lists it from the next
    /// refresh on.
    fn extract_metadata(&self, stored: impl Future<Output = Option<StoredFile>> + Send + 'static) {
        let Some((wheel, target)) = self.unexamined_wheel() else { return };
        let pages = self.proxy.pages.clone();
        let (project, name) = (self.project.clone(), self.name.to_owned());
        system::spawn(async move {
            let Some(stored) = stored.await.filter(|_| !pages.is_examined(&project, &name, &wheel)) else {
                return;
            };
            let label = Arc::from(format!("{project}/{name}.metadata"));
            let (upstream, url, wheel_info) = (target.upstream, target.url, Arc::default());
            let len = stored.len;
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
            pages.record_facts(&project, &source.name, fact);
        });
    }

    /// Returns the SHA-256 and the metadata file of a wheel that should be searched: the page has its SHA-256 but no
    /// metadata, and the wheel was not searched before.
    fn unexamined_wheel(&self) -> Option<(Digest, FileTarget)> {
        let Self { proxy, project, name, cached, .. } = *self;
        if !self.has_facts || !name.ends_with(".whl") || !proxy.pages.extracts_metadata() {
            return None;
        }
        let details = cached.page.file(name)?.1.details();
        let wheel = Digest(details.sha256?);
        if details.metadata != Metadata::Unknown || proxy.pages.is_examined(project, name, &wheel) {
            return None;
        }
        Some((wheel, FileTarget::of(cached, project, &format!("{name}.metadata"), proxy).ok()?))
    }

    /// Requests one byte of a file from its host to learn the length.
    async fn len(&self, target: &FileTarget) -> Result<Option<u64>, Error> {
        let body = target.upstream.part(&target.url, 0..1).await?;
        self.record_facts_of(target, body.len, body.validators.last_modified.as_deref());
        Ok(body.len)
    }

    /// Passes a range request to the upstream without downloading the whole file.
    async fn pass_through(
        &self,
        target: &FileTarget,
        headers: FileHeaders<'_>,
    ) -> Result<ProxyResponse, Error> {
        let range = self.fields.range.unwrap_or_default();
        // Without the length, only the upstream can interpret the range.
        let body = match headers.len.map(|len| ByteRange::parse(range, len)) {
            Some(ByteRange::Part { start, end }) => {
                let shared = match (self.proxy.store.bucket(), &target.key) {
                    (Some(bucket), Key::Digest(digest)) => {
                        bucket.part(digest, target.expected.size, start..end).await
                    }
                    _ => None,
                };
                let body = match shared {
                    Some(body) => with_fallback(body, start..end, target),
                    None => target.upstream.part(&target.url, start..end).await?,
                };
                // Clients may not check which range they received.
                let is_other = body.is_part() && (body.start, body.part_len()) != (start, Some(end - start));
                if is_other || body.len.is_some_and(|len| headers.len != Some(len)) {
                    return Err(other_range());
                }
                body
            }
            Some(ByteRange::Unsatisfiable) => {
                return Ok(match headers.select(self.fields) {
                    Selection::Done(response) => *response,
                    _ => headers.respond(ResponseBody::empty()),
                });
            }
            Some(ByteRange::Full) | None => target.upstream.file_range(&target.url, range).await?,
        };
        self.record_facts_of(target, body.len, body.validators.last_modified.as_deref());
        let headers = FileHeaders { len: headers.len.or(body.len), cache_status: "pass", ..headers };
        let (start, part_len) = (body.start, body.part_len());
        Ok(match part_len {
            Some(len) if body.is_part() => {
                headers.respond_part(start..start + len, ResponseBody::pass_through(body, Some(len)))
            }
            len => headers.respond(ResponseBody::pass_through(body, len)),
        })
    }
}

/// Continues a range from the bucket at the index if the bucket fails.
fn with_fallback(body: FileBody, range: Range<u64>, target: &FileTarget) -> FileBody {
    let (start, len, end) = (range.start, body.len, range.end);
    let index = Some((target.upstream.clone(), target.url.clone()));
    let stream = stream::try_unfold((body, start, index), move |(mut body, at, mut index)| async move {
        let mut next = body.next().await.transpose();
        if at < end
            && !matches!(next, Ok(Some(_)))
            && let Some((upstream, url)) = index.take()
        {
            body = upstream.part(&url, at..end).await?;
            if (body.start, body.part_len()) != (at, Some(end - at)) {
                return Err(other_range());
            }
            next = body.next().await.transpose();
        }
        Ok(next?.map(|bytes| {
            let at = at + bytes.len() as u64;
            (bytes, (body, at, index))
        }))
    });
    FileBody::new(start, len, Validators::default(), stream).with_end(end)
}

#[cold]
fn other_range() -> Error {
    Error::with(Kind::Upstream, "the response has another range of the file than requested")
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

fn redirect(url: &Url) -> ProxyResponse {
    let mut response = ProxyResponse::text(StatusCode::FOUND, "");
    response.set(X_CACHE, "redirect");
    response.set_text(LOCATION, url.as_str());
    response
}
