//! `warm`: downloads files into the cache before clients request them.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use aws_lc_rs::digest::{Context, SHA256};
use clap::ArgMatches;
use futures_util::{StreamExt as _, stream};
use indicatif::{HumanBytes, ProgressBar};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use pypi_proxy::config::Settings;
use pypi_proxy::store::{Digest, Store};
use pypi_proxy::{Details, Metadata, Page};
use reqwest::{Client, ClientBuilder, Response, StatusCode};
use tightwire_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use super::args::Warm;
use super::requirements::{Requirement, Requirements};
use super::{Usage, chain, setup};

/// Characters that need escaping in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'+').remove(b'!');
const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// Maximum time for which requests are repeated while the proxy redirects them and downloads the file in the
/// background.
const REDIRECT_TIMEOUT: Duration = Duration::from_secs(600);
/// Repetitions of a request that failed temporarily. The first pause is doubled each time.
const RETRIES: usize = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Maximum number of displayed bytes of an error response.
const MAX_ERROR_TEXT: usize = 300;

pub(super) fn run(matches: &ArgMatches, options: Warm) -> Result<()> {
    let proxy = options.proxy.as_deref().map(proxy_url).transpose()?;
    let requirements = Requirements::read_all(&options.files)?;
    for text in &requirements.skipped {
        writeln!(io::stderr(), "{text}")?;
    }
    // The temporary proxy of this command never redirects, and only this command uses it.
    let settings = setup::local_settings(matches)?;
    // Another proxy may have other indexes.
    if let (Some(name), None) = (&options.index, &proxy)
        && !settings.indexes.contains_key(name)
    {
        return Err(Usage(format!("--index: there is no index {}", name.escape_debug())).into());
    }
    let downloads = Downloads {
        index: options.index.map(|name| format!("/{name}")).unwrap_or_default(),
        texts: options.texts,
        jobs: options.jobs.into(),
        // `HTTP_PROXY` applies to upstream requests only.
        client: client(Client::builder().no_proxy())?,
        store: None,
    };
    tokio::runtime::Runtime::new()?.block_on(warm(&settings, proxy, downloads, &requirements.projects))
}

fn client(builder: ClientBuilder) -> Result<Client> {
    let builder = builder.redirect(reqwest::redirect::Policy::none());
    builder.build().context("the HTTP client can't be created")
}

/// Validates the URL of a proxy, and removes a slash at its end. An error doesn't show it as it can have a password.
fn proxy_url(url: &str) -> Result<String, Usage> {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(url.trim_end_matches('/').to_owned()),
        _ => Err(Usage("--proxy: expected a URL, such as http://127.0.0.1:5000".into())),
    }
}

/// A failed request.
struct Failure {
    error: anyhow::Error,
    /// Whether a later attempt can succeed.
    is_temporary: bool,
    /// The value of `Retry-After`.
    retry_after: Option<Duration>,
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        Self { error: error.without_url().into(), is_temporary: true, retry_after: None }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { error, is_temporary: false, retry_after: None }
    }
}

/// Describes an unexpected response: its status and the first line of its body, or the detail of a problem document.
async fn response_error(mut response: Response) -> Failure {
    let status = response.status();
    let headers = response.headers();
    let retry_after = headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    // The proxy does not ask the index later either.
    let is_offline = headers.contains_key("x-pypi-proxy-offline");
    let is_problem = headers.get("content-type").is_some_and(|value| value == "application/problem+json");
    // The first chunk has the first line.
    let text = response.chunk().await.ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_ERROR_TEXT)]).into_owned();
    let detail = || Some(tightwire_json::from_str::<Value>(&text).ok()?["detail"].as_str()?.to_owned());
    let text = if is_problem { detail() } else { text.lines().next().map(|line| line.trim().to_owned()) };
    let error = match text.filter(|text| !text.is_empty()) {
        Some(text) => anyhow!("the proxy responded with status {status}: {text}"),
        None => anyhow!("the proxy responded with status {status}"),
    };
    let is_temporary = status.is_server_error() && !is_offline || status == StatusCode::TOO_MANY_REQUESTS;
    Failure { error, is_temporary, retry_after: retry_after.map(Duration::from_secs) }
}

/// Repeats a request that failed temporarily.
async fn retried<T>(request: impl AsyncFn() -> Result<T, Failure>) -> Result<T> {
    let mut pause = FIRST_PAUSE;
    for _ in 0..RETRIES {
        match request().await {
            Ok(value) => return Ok(value),
            Err(failure) if !failure.is_temporary => return Err(failure.error),
            Err(failure) => tokio::time::sleep(failure.retry_after.unwrap_or(pause).min(MAX_PAUSE)).await,
        }
        pause *= 2;
    }
    request().await.map_err(|failure| failure.error)
}

/// Options of the downloads.
struct Downloads {
    /// Path of the index at the proxy: empty, or `/NAME` for a named one.
    index: String,
    texts: Vec<String>,
    jobs: usize,
    client: Client,
    /// Store of the temporary proxy.
    store: Option<Store>,
}

/// A file of an index to download.
struct ChosenFile {
    url: String,
    name: String,
    size: Option<u64>,
    /// SHA-256 on the page.
    sha256: Option<Digest>,
    /// SHA-256 in the lock file, if the page has none.
    expected: Option<String>,
    has_metadata: bool,
    /// SHA-256 of the metadata, if the page has it.
    metadata: Option<Digest>,
    has_provenance: bool,
}

/// Downloads the requirements through a proxy: the given one, the one that uses the cache directory, or a temporary
/// one.
async fn warm(
    settings: &Settings,
    proxy: Option<String>,
    downloads: Downloads,
    requirements: &[Requirement],
) -> Result<()> {
    if let Some(url) = proxy {
        return downloads.run(&url, requirements).await;
    }
    let builder = setup::proxy_builder(settings, setup::index(settings)?)?;
    let (server, store) = match builder.start() {
        Ok(started) => started,
        Err(error) if error.is_busy() => {
            let listen = setup::own_address(settings);
            let client = client(setup::client_of(listen))?;
            let downloads = Downloads { client, ..downloads };
            return downloads.run(&setup::url_of(settings, listen), requirements).await;
        }
        Err(error) => return Err(error.into()),
    };
    setup::check_bucket_layout(&store).await?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(listener, async {
        // An error means that the sender was dropped, which also ends the proxy.
        let _ = ended.await;
    }));
    let result = Downloads { store: Some(store), ..downloads }.run(&url, requirements).await;
    drop(end);
    // Errors of the downloads are already in `result`.
    let _ = serving.await;
    result
}

impl Downloads {
    async fn run(&self, proxy_url: &str, requirements: &[Requirement]) -> Result<()> {
        let proxy_url = &*format!("{proxy_url}{}", self.index);
        let start = Instant::now();
        let mut problems = Vec::new();
        let chosen = self.choose_all(proxy_url, requirements, &mut problems).await;
        let bar = bar(chosen.iter().map(|file| file.size).sum(), chosen.len());
        let fetched = stream::iter(&chosen).map(|file| {
            let bar = &bar;
            async move {
                self.download(file, bar).await.map_err(|error| format!("{}: {}", file.name, chain(error)))
            }
        });
        let mut fetched = fetched.buffer_unordered(self.jobs);
        let (mut files, mut bytes, mut stored) = (0_usize, 0_u64, 0_usize);
        let mut done = 0_usize;
        while let Some(result) = fetched.next().await {
            match result {
                Ok(Some(len)) => {
                    files += 1;
                    bytes += len;
                }
                Ok(None) => stored += 1,
                Err(text) => problems.push(text),
            }
            done += 1;
            bar.set_message(format!("{done}/{} files", chosen.len()));
        }
        bar.finish_and_clear();
        for problem in &problems {
            writeln!(io::stderr(), "{problem}")?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let stored = if stored > 0 { format!("; {stored} files were stored already") } else { String::new() };
        writeln!(io::stdout(), "{files} files ({}) cached in {seconds:.1} s{stored}", HumanBytes(bytes))?;
        match problems.len() {
            0 => Ok(()),
            count => bail!("problems: {count}"),
        }
    }

    /// Requests the pages and chooses their files.
    async fn choose_all(
        &self,
        proxy_url: &str,
        requirements: &[Requirement],
        problems: &mut Vec<String>,
    ) -> Vec<ChosenFile> {
        let bar = setup::styled(ProgressBar::new(requirements.len() as u64), "{bar:30} {pos}/{len} pages");
        let pages = stream::iter(requirements).map(|one| {
            let bar = &bar;
            async move {
                let page = retried(async || self.page(proxy_url, one).await).await;
                bar.inc(1);
                (one, page)
            }
        });
        let mut pages = pages.buffered(self.jobs);
        let mut chosen = Vec::new();
        let mut seen = HashSet::new();
        while let Some((requirement, page)) = pages.next().await {
            let name = &requirement.name;
            match page {
                Ok(page) => {
                    let before = problems.len();
                    let url = format!("{proxy_url}/simple/{name}/");
                    let files = self.choose(requirement, &page, &url, problems);
                    // A lock has files of all platforms, and all of them may be skipped.
                    let may_be_empty = requirement.is_locked && !self.texts.is_empty();
                    if files.is_empty() && before == problems.len() && !may_be_empty {
                        problems.push(format!("{name}: no matching file"));
                    }
                    // Several lock files can have the same file.
                    chosen.extend(files.into_iter().filter(|file| seen.insert(file.url.clone())));
                }
                Err(error) => problems.push(format!("{name}: {error:#}")),
            }
        }
        bar.finish_and_clear();
        chosen
    }

    async fn page(&self, proxy_url: &str, requirement: &Requirement) -> Result<Page, Failure> {
        let request =
            self.client.get(format!("{proxy_url}/simple/{}/", requirement.name)).header("accept", JSON);
        let response = request.send().await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(anyhow!("no such project").into()),
            _ => return Err(response_error(response).await),
        }
        let bytes = response.bytes().await?;
        Page::from_json(bytes.into()).map_err(|_| anyhow!("the proxy sent an invalid page").into())
    }

    /// Returns the files with the given hashes, otherwise those of the newest matching version. `url` is that of the page.
    fn choose(
        &self,
        requirement: &Requirement,
        page: &Page,
        url: &str,
        problems: &mut Vec<String>,
    ) -> Vec<ChosenFile> {
        let files = page.files().map(|file| (file.name(), file.details()));
        let chosen = |name: &str, details: &Details<'_>, expected: Option<&str>| {
            let metadata = match details.metadata {
                Metadata::Present(sha256) => sha256,
                Metadata::Extracted(sha256) => Some(sha256),
                _ => None,
            };
            ChosenFile {
                url: format!("{url}{}", escape(name)),
                name: name.to_owned(),
                size: details.size,
                sha256: details.sha256.map(Digest),
                expected: expected.map(str::to_owned),
                has_metadata: matches!(details.metadata, Metadata::Present(_) | Metadata::Extracted(_)),
                metadata: metadata.map(Digest),
                has_provenance: details.provenance.is_some(),
            }
        };
        if !requirement.files.is_empty() {
            let mut by_hash = HashMap::new();
            for (name, details) in files {
                if let Some(sha256) = details.sha256 {
                    by_hash.entry(Digest(sha256).to_string()).or_insert((name, details));
                }
            }
            let mut found = Vec::new();
            for wanted in &requirement.files {
                let by_name = || {
                    let file = page.file(wanted.name.as_deref()?)?;
                    file.details().sha256.is_none().then(|| (file.name(), file.details()))
                };
                let is_skipped = wanted.name.as_deref().is_some_and(|name| !self.matches_platform(name));
                match by_hash.get(&wanted.sha256) {
                    Some((name, _)) if !self.matches_platform(name) => {}
                    Some((name, details)) => found.push(chosen(name, details, None)),
                    None if is_skipped => {}
                    None => match by_name() {
                        Some((name, details)) => found.push(chosen(name, &details, Some(&wanted.sha256))),
                        None if requirement.is_locked => {
                            let what = wanted.name.as_deref().unwrap_or(&wanted.sha256);
                            problems.push(format!("{}: {what} is not on its page", requirement.name));
                        }
                        None => {}
                    },
                }
            }
            return found;
        }
        let is_pinned = requirement.versions.iter().any(|one| one.operator().to_string().starts_with("=="));
        let dated: Vec<_> = files
            .filter(|(_, details)| is_pinned || details.yanked.is_none())
            .filter_map(|(name, details)| Some((requirement.version_of(name)?, name, details)))
            .filter(|(version, ..)| requirement.versions.contains(version))
            .collect();
        let newest = |is_final: bool| {
            let versions = dated.iter().map(|(version, ..)| version);
            versions.filter(|version| !is_final || version.is_stable()).max().cloned()
        };
        // Pre-releases count only if there is no final release.
        let newest = newest(true).or_else(|| newest(false));
        let dated = dated
            .iter()
            .filter(|(version, name, _)| Some(version) == newest.as_ref() && self.matches_platform(name));
        dated.map(|(_, name, details)| chosen(name, details, None)).collect()
    }

    fn matches_platform(&self, file: &str) -> bool {
        let is_platform_wheel = file.ends_with(".whl") && !file.ends_with("-none-any.whl");
        self.texts.is_empty() || !is_platform_wheel || self.texts.iter().any(|text| file.contains(&**text))
    }

    /// Downloads a file and its metadata. Returns the length, or `None` if the file was stored already.
    async fn download(&self, file: &ChosenFile, bar: &ProgressBar) -> Result<Option<u64>> {
        if file.has_metadata && !self.has(file.metadata.as_ref()) {
            let url = format!("{}.metadata", file.url);
            // Metadata is small, and an error of the file itself is reported below.
            let _ = self.fetch(&url, None, None).await;
        }
        if file.has_provenance {
            // It is not needed to install the file.
            let _ = self.fetch(&format!("{}.provenance", file.url), None, None).await;
        }
        if file.expected.is_none() && (self.has(file.sha256.as_ref()) || self.is_stored(&file.url).await) {
            bar.inc(file.size.unwrap_or_default());
            return Ok(None);
        }
        retried(async || self.fetch(&file.url, file.expected.as_deref(), Some(bar)).await).await.map(Some)
    }

    fn has(&self, digest: Option<&Digest>) -> bool {
        self.store.as_ref().zip(digest).is_some_and(|(store, digest)| store.get(digest).is_some())
    }

    /// Asks the proxy whether a file is stored. It answers without a request to the index.
    async fn is_stored(&self, url: &str) -> bool {
        let response = self.client.head(url).send().await;
        response.is_ok_and(|response| response.headers().get("x-cache").is_some_and(|value| value == "hit"))
    }

    /// Downloads a file and returns its length.
    async fn fetch(
        &self,
        url: &str,
        expected: Option<&str>,
        bar: Option<&ProgressBar>,
    ) -> Result<u64, Failure> {
        let end = Instant::now() + REDIRECT_TIMEOUT;
        loop {
            let mut response = self.client.get(url).send().await?;
            match response.status() {
                StatusCode::OK => {}
                // The proxy redirects, but downloads the file in the background.
                StatusCode::FOUND if Instant::now() < end => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
                _ => return Err(response_error(response).await),
            }
            let mut hash = Context::new(&SHA256);
            let mut len = 0;
            let advance = |count: u64| bar.into_iter().for_each(|bar| bar.inc(count));
            loop {
                match response.chunk().await {
                    Ok(Some(chunk)) => {
                        len += chunk.len() as u64;
                        hash.update(&chunk);
                        advance(chunk.len() as u64);
                    }
                    Ok(None) => break,
                    Err(error) => {
                        // The next attempt starts at the beginning.
                        bar.into_iter().for_each(|bar| bar.dec(len));
                        return Err(error.into());
                    }
                }
            }
            let found = Digest::from(hash.finish()).to_string();
            if expected.is_some_and(|expected| expected != found) {
                return Err(anyhow!("the file does not have the hash in the lock file").into());
            }
            return Ok(len);
        }
    }
}

fn bar(total: Option<u64>, files: usize) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = match total {
        Some(_) => "{bar:30} {msg} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        None => "{spinner} {msg} {bytes} {bytes_per_sec}",
    };
    setup::styled(bar, template).with_message(format!("0/{files} files"))
}

/// Escapes a file name for a URL path.
fn escape(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, ESCAPED).to_string()
}
