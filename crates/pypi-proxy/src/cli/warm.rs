//! `warm`: downloads files into the cache before clients request them.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::ArgMatches;
use futures_util::{StreamExt as _, stream};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use pypi_proxy::config::Settings;
use pypi_proxy::store::Digest;
use pypi_proxy::{Details, Metadata, Page};
use reqwest::{Client, ClientBuilder, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use super::args::Warm;
use super::requirements::{Requirement, Requirements, version_of};
use super::{Usage, chain, setup};

/// Characters that need escaping in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'+').remove(b'!');
const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// Maximum time for which requests are repeated while the proxy redirects them and downloads the file in the
/// background.
const REDIRECT_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum number of displayed bytes of an error response.
const MAX_ERROR_TEXT: usize = 300;

pub(super) fn run(matches: &ArgMatches, options: Warm) -> Result<()> {
    let proxy = options.proxy.as_deref().map(proxy_url).transpose()?;
    let mut requirements = Requirements::default();
    for path in &options.files {
        requirements.read(path).with_context(|| format!("{} can't be read", path.display()))?;
    }
    for location in &requirements.skipped {
        writeln!(io::stderr(), "{location}: skipped, not a project of an index")?;
    }
    // The temporary proxy of this command never redirects, and only this command uses it.
    let overrides = [
        ("download_timeout", "never"),
        ("access_log", "false"),
        ("auth_tokens_file", ""),
        ("auth_htpasswd_file", ""),
        ("rate_limit", "0"),
    ];
    let settings = setup::settings_with(matches, &overrides)?;
    let downloads = Downloads {
        texts: options.texts,
        jobs: options.jobs.into(),
        // `HTTP_PROXY` applies to upstream requests only.
        client: client(Client::builder().no_proxy())?,
    };
    tokio::runtime::Runtime::new()?.block_on(warm(&settings, proxy, &downloads, &requirements.projects))
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

/// Describes an unexpected response: its status and the first line of its body.
async fn response_error(mut response: reqwest::Response) -> anyhow::Error {
    let status = response.status();
    // The first chunk has the first line.
    let text = response.chunk().await.ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_ERROR_TEXT)]);
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => anyhow!("the proxy responded with status {status}: {line}"),
        _ => anyhow!("the proxy responded with status {status}"),
    }
}

/// Options of the downloads.
struct Downloads {
    texts: Vec<String>,
    jobs: usize,
    client: Client,
}

/// Downloads the requirements through a proxy: the given one, the one that uses the cache directory, or a temporary
/// one.
async fn warm(
    settings: &Settings,
    proxy: Option<String>,
    downloads: &Downloads,
    requirements: &[Requirement],
) -> Result<()> {
    if let Some(url) = proxy {
        return downloads.run(&url, requirements).await;
    }
    let builder = setup::proxy_builder(settings, setup::index(settings)?)?;
    let server = match builder.start() {
        Ok((server, _)) => server,
        Err(error) if error.is_busy() => {
            let listen = setup::own_address(settings);
            let client = client(setup::client_of(listen))?;
            let downloads = Downloads { client, texts: downloads.texts.clone(), ..*downloads };
            return downloads.run(&setup::url_of(settings, listen), requirements).await;
        }
        Err(error) => return Err(error.into()),
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(listener, async {
        // An error means that the sender was dropped, which also ends the proxy.
        let _ = ended.await;
    }));
    let result = downloads.run(&url, requirements).await;
    drop(end);
    // Errors of the downloads are already in `result`.
    let _ = serving.await;
    result
}

impl Downloads {
    async fn run(&self, proxy_url: &str, requirements: &[Requirement]) -> Result<()> {
        let start = Instant::now();
        let pages =
            stream::iter(requirements).map(|one| async move { (one, self.page(proxy_url, one).await) });
        let pages: Vec<_> = pages.buffered(self.jobs).collect().await;
        let mut problems = Vec::new();
        let mut urls = Vec::new();
        for (requirement, page) in pages {
            match page.map(|page| self.choose(requirement, &page)) {
                Ok(files) if files.is_empty() => {
                    problems.push(format!("{}: no matching file", requirement.name))
                }
                Ok(files) => urls.extend(files.into_iter().map(|(name, size, has_metadata)| {
                    let url = format!("{proxy_url}/simple/{}/{}", requirement.name, escape(&name));
                    (url, name, size, has_metadata)
                })),
                Err(error) => problems.push(format!("{}: {error:#}", requirement.name)),
            }
        }
        let total: Option<u64> = urls.iter().map(|(_, _, size, _)| *size).sum();
        let bar = bar(total);
        let fetched = stream::iter(&urls).map(|(url, name, _, has_metadata)| {
            let bar = &bar;
            async move {
                if *has_metadata {
                    // Metadata is small, and an error of the file itself is reported below.
                    let _ = self.fetch(&format!("{url}.metadata"), None).await;
                }
                self.fetch(url, Some(bar)).await.map_err(|error| format!("{name}: {}", chain(error)))
            }
        });
        let mut fetched = fetched.buffer_unordered(self.jobs);
        let (mut files, mut bytes) = (0_usize, 0_u64);
        while let Some(result) = fetched.next().await {
            match result {
                Ok(len) => {
                    files += 1;
                    bytes += len;
                }
                Err(text) => problems.push(text),
            }
        }
        bar.finish_and_clear();
        for problem in &problems {
            writeln!(io::stderr(), "{problem}")?;
        }
        let seconds = start.elapsed().as_secs_f64();
        writeln!(io::stdout(), "{files} files ({}) cached in {seconds:.1} s", HumanBytes(bytes))?;
        match problems.len() {
            0 => Ok(()),
            count => bail!("problems: {count}"),
        }
    }

    async fn page(&self, proxy_url: &str, requirement: &Requirement) -> Result<Page> {
        let request =
            self.client.get(format!("{proxy_url}/simple/{}/", requirement.name)).header("accept", JSON);
        let response = request.send().await.map_err(reqwest::Error::without_url)?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => bail!("no such project"),
            _ => return Err(response_error(response).await),
        }
        let bytes = response.bytes().await.map_err(reqwest::Error::without_url)?;
        Page::from_json(bytes.into()).map_err(|_| anyhow!("the proxy sent an invalid page"))
    }

    /// Returns the names, sizes and availability of metadata of the files with the given hashes, otherwise of those of
    /// the newest matching version.
    fn choose(&self, requirement: &Requirement, page: &Page) -> Vec<(String, Option<u64>, bool)> {
        let files = page.files().map(|file| (file.name(), file.details()));
        let chosen = |name: &str, details: Details<'_>| {
            let has_metadata = matches!(details.metadata, Metadata::Present(_) | Metadata::Extracted(_));
            (name.to_owned(), details.size, has_metadata)
        };
        if !requirement.hashes.is_empty() {
            let has_hash = |details: &Details<'_>| {
                details.sha256.is_some_and(|hash| requirement.hashes.contains(&Digest(hash).to_string()))
            };
            let files = files.filter(|(_, details)| has_hash(details));
            return files.map(|(name, details)| chosen(name, details)).collect();
        }
        let is_pinned = requirement.versions.iter().any(|one| one.operator().to_string().starts_with("=="));
        let dated: Vec<_> = files
            .filter(|(_, details)| is_pinned || details.yanked.is_none())
            .filter_map(|(name, details)| Some((version_of(name)?, name, details)))
            .filter(|(version, ..)| requirement.versions.contains(version))
            .collect();
        let newest = |is_final: bool| {
            let versions = dated.iter().map(|(version, ..)| version);
            versions.filter(|version| !is_final || version.is_stable()).max().cloned()
        };
        // Pre-releases count only if there is no final release.
        let newest = newest(true).or_else(|| newest(false));
        let dated = dated
            .into_iter()
            .filter(|(version, name, _)| Some(version) == newest.as_ref() && self.matches_platform(name));
        dated.map(|(_, name, details)| chosen(name, details)).collect()
    }

    fn matches_platform(&self, file: &str) -> bool {
        let is_platform_wheel = file.ends_with(".whl") && !file.ends_with("-none-any.whl");
        self.texts.is_empty() || !is_platform_wheel || self.texts.iter().any(|text| file.contains(&**text))
    }

    /// Downloads a file and returns its length.
    async fn fetch(&self, url: &str, bar: Option<&ProgressBar>) -> Result<u64> {
        let end = Instant::now() + REDIRECT_TIMEOUT;
        loop {
            let mut response = self.client.get(url).send().await.map_err(reqwest::Error::without_url)?;
            match response.status() {
                StatusCode::OK => {}
                // The proxy redirects, but downloads the file in the background.
                StatusCode::FOUND if Instant::now() < end => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
                _ => return Err(response_error(response).await),
            }
            let mut len = 0;
            while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
                len += chunk.len() as u64;
                if let Some(bar) = bar {
                    bar.inc(chunk.len() as u64);
                }
            }
            return Ok(len);
        }
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    match ProgressStyle::with_template(template) {
        Ok(style) if total.is_some() => bar.with_style(style),
        _ => bar,
    }
}

/// Escapes a file name for a URL path.
fn escape(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, ESCAPED).to_string()
}
