//! `warm`: fetches files before they are wanted.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use futures_util::{StreamExt as _, stream};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use pypi_proxy::config::Settings;
use reqwest::{Client, StatusCode};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use super::failure::{Failure, chain};
use super::requirements::{Requirements, Wanted, version_of};
use super::setup;

/// What stands in a path as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'+').remove(b'!');
const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// How long a proxy may go on to send clients elsewhere while it fetches a file.
const PATIENCE: Duration = Duration::from_secs(600);
/// The most bytes of a complaint that are shown.
const MAX_COMPLAINT: usize = 300;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let mut requirements = Requirements::default();
    for path in matches.get_many::<PathBuf>("file").into_iter().flatten() {
        requirements
            .read(path)
            .map_err(|error| Failure::because(&format!("{} can't be read", path.display()), &error))?;
    }
    for place in &requirements.skipped {
        writeln!(io::stderr(), "{place}: skipped, it names nothing that an index has")?;
    }
    // A proxy of our own waits for each file, however long that takes, and is for nobody else.
    let own = [
        ("download_timeout", "never"),
        ("access_log", "false"),
        ("auth_tokens_file", ""),
        ("auth_htpasswd_file", ""),
        ("rate_limit", "0"),
    ];
    let settings = setup::settings_with(matches, &own)?;
    let job = Job {
        texts: matches.get_many::<String>("match").into_iter().flatten().cloned().collect(),
        jobs: usize::from(*matches.get_one::<u16>("jobs").unwrap_or(&8)),
        // What this machine has as a proxy for others has no part in it.
        client: Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Failure::because("the client can't be made", &error))?,
    };
    let proxy = matches.get_one::<String>("proxy").map(|url| base(url)).transpose()?;
    tokio::runtime::Runtime::new()?.block_on(warm(&settings, proxy, &job, &requirements.wanted))
}

/// The URL of a proxy, below which its paths begin.
fn base(url: &str) -> Result<String, Failure> {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(url.trim_end_matches('/').to_owned()),
        _ => Err(Failure::usage("--proxy: it takes a URL, such as http://127.0.0.1:5000")),
    }
}

/// Why a request has failed. The URL may have a password.
fn reason(error: reqwest::Error) -> String {
    chain(&error.without_url())
}

/// What an answer other than the one that was hoped for says.
async fn complaint(mut response: reqwest::Response) -> String {
    let status = response.status();
    // A line is enough, whoever it is that answers.
    let text = response.chunk().await.ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_COMPLAINT)]);
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => format!("the proxy answers with {status}: {line}"),
        _ => format!("the proxy answers with {status}"),
    }
}

/// What is done with each of the requirements.
struct Job {
    texts: Vec<String>,
    jobs: usize,
    client: Client,
}

/// Has a proxy fetch everything: the one that is named, the one that serves, or one of our own.
async fn warm(
    settings: &Settings,
    proxy: Option<String>,
    job: &Job,
    wanted: &[Wanted],
) -> Result<(), Failure> {
    if let Some(url) = proxy {
        return job.run(&url, wanted).await;
    }
    let engines = setup::engines(settings, setup::index(settings)?)?;
    let server = match engines.start() {
        Ok((server, _)) => server,
        Err(error) if error.is_busy() => return job.run(&setup::own_url(settings), wanted).await,
        Err(error) => return Err(error.into()),
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(listener, async {
        // Also if the other side is gone.
        let _ = ended.await;
    }));
    let result = job.run(&url, wanted).await;
    drop(end);
    // What it has to tell is in the result.
    let _ = serving.await;
    result
}

#[derive(Deserialize)]
struct Page {
    files: Vec<File>,
}

#[derive(Clone, Deserialize)]
struct File {
    filename: String,
    #[serde(default)]
    hashes: Hashes,
    size: Option<u64>,
    #[serde(default)]
    yanked: serde_json::Value,
    #[serde(default, rename = "core-metadata")]
    metadata: serde_json::Value,
}

#[derive(Clone, Default, Deserialize)]
struct Hashes {
    sha256: Option<String>,
}

impl Job {
    async fn run(&self, base: &str, wanted: &[Wanted]) -> Result<(), Failure> {
        let begun = Instant::now();
        let pages = stream::iter(wanted).map(|wanted| async move { (wanted, self.page(base, wanted).await) });
        let pages: Vec<_> = pages.buffered(self.jobs).collect().await;
        let mut problems = Vec::new();
        let mut urls = Vec::new();
        for (wanted, page) in pages {
            match page.map(|page| self.choose(wanted, page.files)) {
                Ok(files) if files.is_empty() => problems.push(format!("{}: no file fits", wanted.name)),
                Ok(files) => urls.extend(files.into_iter().map(|file| {
                    let is_there = |value: &serde_json::Value| {
                        !matches!(value, serde_json::Value::Null | serde_json::Value::Bool(false))
                    };
                    let name = escape(&file.filename);
                    (format!("{base}/simple/{}/{name}", wanted.name), is_there(&file.metadata), file)
                })),
                Err(text) => problems.push(format!("{}: {text}", wanted.name)),
            }
        }
        let total: Option<u64> = urls.iter().map(|(_, _, file)| file.size).sum();
        let bar = bar(total);
        let fetched = stream::iter(&urls).map(|(url, has_metadata, file)| {
            let bar = &bar;
            async move {
                if *has_metadata {
                    // It is small, and the file itself counts.
                    let _ = self.fetch(&format!("{url}.metadata"), None).await;
                }
                self.fetch(url, Some(bar)).await.map_err(|text| format!("{}: {text}", file.filename))
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
        let seconds = begun.elapsed().as_secs_f64();
        writeln!(io::stdout(), "{files} files, {} are cached, after {seconds:.1} s", HumanBytes(bytes))?;
        match problems.len() {
            0 => Ok(()),
            count => Err(Failure::new(format!("problems: {count}"))),
        }
    }

    async fn page(&self, base: &str, wanted: &Wanted) -> Result<Page, String> {
        let request = self.client.get(format!("{base}/simple/{}/", wanted.name)).header("accept", JSON);
        let response = request.send().await.map_err(reason)?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err("there is no such project".into()),
            _ => return Err(complaint(response).await),
        }
        let bytes = response.bytes().await.map_err(reason)?;
        serde_json::from_slice(&bytes).map_err(|_| "the proxy sends no page".into())
    }

    /// The files of the newest version that fits, or those with the hashes that are given.
    fn choose(&self, wanted: &Wanted, files: Vec<File>) -> Vec<File> {
        if !wanted.hashes.is_empty() {
            let is_named =
                |file: &File| file.hashes.sha256.as_ref().is_some_and(|hash| wanted.hashes.contains(hash));
            return files.into_iter().filter(is_named).collect();
        }
        let is_pinned = wanted.versions.iter().any(|one| one.operator().to_string().starts_with("=="));
        let is_yanked =
            |file: &File| !matches!(file.yanked, serde_json::Value::Null | serde_json::Value::Bool(false));
        let mut dated: Vec<_> = files
            .into_iter()
            .filter(|file| is_pinned || !is_yanked(file))
            .filter_map(|file| Some((version_of(&file.filename)?, file)))
            .filter(|(version, _)| wanted.versions.contains(version))
            .collect();
        let newest = |is_final: bool| {
            let versions = dated.iter().map(|(version, _)| version);
            versions.filter(|version| !is_final || version.is_stable()).max().cloned()
        };
        // One that is not final only if there is no other.
        let newest = newest(true).or_else(|| newest(false));
        dated.retain(|(version, file)| Some(version) == newest.as_ref() && self.is_matched(&file.filename));
        dated.into_iter().map(|(_, file)| file).collect()
    }

    fn is_matched(&self, file: &str) -> bool {
        let is_for_one = file.ends_with(".whl") && !file.ends_with("-none-any.whl");
        self.texts.is_empty() || !is_for_one || self.texts.iter().any(|text| file.contains(&**text))
    }

    /// Fetches a file to its end, and tells its length.
    async fn fetch(&self, url: &str, bar: Option<&ProgressBar>) -> Result<u64, String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut response = self.client.get(url).send().await.map_err(reason)?;
            match response.status() {
                StatusCode::OK => {}
                // The proxy fetches it all the same.
                StatusCode::FOUND if Instant::now() < end => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
                _ => return Err(complaint(response).await),
            }
            let mut len = 0;
            while let Some(chunk) = response.chunk().await.map_err(reason)? {
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

/// The name of a file as part of a path.
fn escape(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, ESCAPED).to_string()
}
