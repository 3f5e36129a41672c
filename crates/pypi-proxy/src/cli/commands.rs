//! Short commands: `check`, `claims`, `config`, `gc`, `healthcheck`, `stats` and `verify`.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use indicatif::{HumanBytes, ProgressBar};
use pypi_proxy::ProjectName;
use pypi_proxy::bucket::ConditionalWrites;
use pypi_proxy::config::{Discovery, Listen, ProxyBuilder, Settings};
use pypi_proxy::page_cache::Claims;
use pypi_proxy::provenance::{self, ProvenanceReport};
use pypi_proxy::rules::Rules;
use pypi_proxy::store::{self, PagesDir, Store};
use pypi_proxy::upstream::{PageResponse, Upstream, Validators};
use tokio::runtime::Runtime;

use super::{Usage, chain, listen, setup};

/// Project whose page `check` requests. Status 404 also counts as success.
const PROJECT: &str = "pip";
/// Timeouts of requests to a running proxy.
const LIVE_TIMEOUT: Duration = Duration::from_secs(3);
const METRICS_TIMEOUT: Duration = Duration::from_secs(10);

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Evicts unused files from the cache directory.
pub(super) fn gc(matches: &ArgMatches, unused: Option<Duration>) -> Result<()> {
    let settings = setup::settings(matches)?;
    // Opening the store evicts nothing, so that the output counts all removed files.
    let store = Store::open(setup::store(&settings)?)?;
    let collected = store.collect(unused, settings.cache_directory_size())?;
    writeln!(
        io::stdout(),
        "removed {} files ({}); {} files ({}) remain",
        collected.removed,
        HumanBytes(collected.removed_bytes),
        collected.files,
        HumanBytes(collected.bytes),
    )?;
    Ok(())
}

/// Prints the names that private indexes claim, or removes some of them.
pub(super) fn claims(matches: &ArgMatches, remove: &[String]) -> Result<()> {
    let settings = setup::settings(matches)?;
    let store = setup::store(&settings)?;
    let mut out = io::stdout().lock();
    if remove.is_empty() {
        for (url, names) in Claims::open_read_only(&PagesDir::of_cache(&store.dir)?)?.names() {
            names.iter().try_for_each(|name| writeln!(out, "{name}  {url}"))?;
        }
        return Ok(());
    }
    let parse =
        |name: &String| ProjectName::parse(name).map_err(|_| Usage(format!("{name:?}: not a project name")));
    let names = remove.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    // Opening the store fails while a proxy uses it, which would not notice the change.
    let store =
        Store::open(store).context("to remove a name while a proxy runs, send it DELETE /cache/NAME")?;
    let claims = Claims::open(&store.pages_dir())?;
    for name in names {
        let text = if claims.remove(&name)? { "is no longer claimed" } else { "is not claimed" };
        writeln!(out, "{name} {text}")?;
    }
    Ok(())
}

/// Tests whether the proxy with these settings responds.
pub(super) fn healthcheck(matches: &ArgMatches) -> Result<()> {
    let settings = setup::settings(matches)?;
    let listen = setup::own_address(&settings);
    let response = runtime()?.block_on(setup::request(&settings, listen, "/livez", LIVE_TIMEOUT));
    response.map(drop).with_context(|| format!("no response from {listen}"))
}

pub(super) fn config(matches: &ArgMatches, is_toml: bool) -> Result<()> {
    let settings = setup::settings(matches)?;
    let mut out = io::stdout().lock();
    if is_toml {
        write!(out, "{}", settings.to_toml())?;
        return Ok(());
    }
    write!(out, "{settings}")?;
    if settings.index_url.is_none() {
        match setup::index(&settings) {
            Ok(Some(found)) => {
                writeln!(out, "\nThe index is {} ({}).", found.value, found.origin)?;
                writeln!(out, "No index is set; {}.", Discovery::HINT)?;
            }
            Ok(None) => {}
            Err(error) => writeln!(out, "\n{error:#}")?,
        }
    }
    for text in settings.warnings() {
        writeln!(io::stderr(), "warning: {text}")?;
    }
    Ok(())
}

/// Prints the size of the cache, or the metrics of the running proxy.
pub(super) fn stats(matches: &ArgMatches) -> Result<()> {
    let settings = setup::settings(matches)?;
    let mut out = io::stdout().lock();
    // Opening the store would create the directory.
    if let Some(dir) = settings.cache_directory().filter(|dir| !dir.exists()) {
        writeln!(out, "there is no cache yet: {}", dir.display())?;
        return Ok(());
    }
    match Store::open(setup::store(&settings)?) {
        Ok(store) => {
            let found = store.collect(None, u64::MAX)?;
            writeln!(out, "no proxy uses this cache\nfiles       {}", found.files)?;
            writeln!(out, "file_bytes  {} ({})", found.bytes, HumanBytes(found.bytes))?;
        }
        Err(error) if error.is_busy() => {
            let text = runtime()?.block_on(metrics(&settings))?;
            // Metrics with labels are omitted.
            let lines = text.lines().filter_map(|line| line.strip_prefix("pypi_proxy_")?.split_once(' '));
            for (name, value) in lines.filter(|(name, _)| !name.contains('{')) {
                writeln!(out, "{name}  {value}")?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Requests the metrics of the running proxy.
async fn metrics(settings: &Settings) -> Result<String> {
    let listen = setup::admin_address(settings);
    let request = async {
        let response = setup::request(settings, listen, "/metrics", METRICS_TIMEOUT).await?;
        response.text().await.map_err(reqwest::Error::without_url)
    };
    request.await.with_context(|| format!("a proxy uses the cache, but none responds at {listen}"))
}

/// Checks the hashes of all stored files.
pub(super) fn verify(matches: &ArgMatches, is_bucket: bool) -> Result<()> {
    let settings = setup::settings(matches)?;
    let bar = ProgressBar::new_spinner();
    let verified = if is_bucket {
        let none = || Usage("--bucket: no bucket is configured (set storage_type)".into());
        let bucket = settings.bucket()?.ok_or_else(none)?;
        runtime()?.block_on(bucket.verify(|_, _| bar.inc(1)))?
    } else {
        Store::open(setup::store(&settings)?)?.verify(|_, _| bar.inc(1))?
    };
    bar.finish_and_clear();
    let mut out = io::stdout().lock();
    for digest in &verified.bad {
        writeln!(out, "removed damaged file {digest}")?;
    }
    writeln!(out, "{} files ({}) are good", verified.good, HumanBytes(verified.bytes))?;
    match verified.bad.len() {
        0 => Ok(()),
        count => bail!("damaged files: {count}"),
    }
}

/// Verifies the cached provenance of stored files.
pub(super) fn verify_provenance(matches: &ArgMatches) -> Result<()> {
    let settings = setup::settings(matches)?;
    let bar = ProgressBar::new_spinner();
    let report = provenance::verify_stored(&Store::open(setup::store(&settings)?)?, || bar.inc(1));
    bar.finish_and_clear();
    let mut out = io::stdout().lock();
    let count = report.bad.len();
    for (file, error) in report.bad {
        writeln!(out, "{file}: {}", chain(error))?;
    }
    let ProvenanceReport { good, attestations, without_file, .. } = report;
    writeln!(out, "the provenance of {good} files verifies ({attestations} attestations)")?;
    if without_file > 0 {
        writeln!(out, "skipped, because the file is not stored: {without_file}")?;
    }
    writeln!(out, "not checked: issuer and validity of the certificates, transparency log")?;
    match count {
        0 => Ok(()),
        count => bail!("files whose provenance does not verify: {count}"),
    }
}

/// Tests the settings, the indexes, the cache and the bucket.
pub(super) fn check(matches: &ArgMatches) -> Result<()> {
    let settings = setup::settings(matches)?;
    let mut report = Report { failures: 0 };
    report.line(true, "settings", "valid")?;
    for text in settings.warnings() {
        report.line(true, "settings", text)?;
    }
    let found = setup::index(&settings)?;
    let origin = found.as_ref().map_or(&settings.index_url.origin, |found| &found.origin).to_string();
    report.line(true, "settings", format!("index from {origin}"))?;
    let builder = setup::proxy_builder(&settings, found)?;
    report.result("access", builder.guard(), "valid")?;
    report.osv(&builder)?;
    let runtime = setup::runtime()?;
    for builder in std::iter::once(builder.clone()).chain(builder.named()) {
        let index = builder.name().map_or_else(|| "index".to_owned(), |name| format!("index {name}"));
        for upstream in builder.upstreams()? {
            if builder.is_offline() {
                report.line(true, &index, format!("{upstream}: skipped, because offline is set"))?;
            } else {
                runtime.block_on(report.index(&index, &upstream))?;
            }
        }
    }
    report.store(&settings, &builder)?;
    if let Some(bucket) = settings.bucket()?.filter(|_| !settings.offline.value) {
        let found = runtime.block_on(bucket.check());
        let text = match found {
            Ok(ConditionalWrites::Ignored | ConditionalWrites::Rejected) => {
                "write, read and delete work; conditional writes do not, so that several proxies may download the same file"
            }
            _ => "write, read, delete and conditional writes work",
        };
        report.result("bucket", found, text)?;
    }
    for listen in settings.listen.iter().chain(&settings.admin_listen.value) {
        report.listener(listen)?;
    }
    match report.failures {
        0 => Ok(()),
        count => bail!("failed checks: {count}"),
    }
}

/// Requests an index page. Returns whether it is JSON, or `None` if the index does not have it.
async fn get(upstream: &Upstream, project: Option<&ProjectName>) -> Result<Option<bool>, pypi_proxy::Error> {
    let PageResponse::Page(page) = upstream.page(project, &Validators::default()).await? else {
        return Ok(None);
    };
    let is_json = page.is_json;
    page.check(project, upstream.page_url(project).path()).map(|()| Some(is_json))
}

fn not_an_index(upstream: &Upstream, why: &str) -> String {
    let url = upstream.to_string();
    let hint = match url.split_once("/simple/") {
        None => format!("; did you mean {url}simple/ ?"),
        Some((_, "")) => String::new(),
        Some((root, _)) => format!("; did you mean {root}/simple/ ?"),
    };
    format!("this URL is not that of an index: no project {PROJECT}, {why}{hint}")
}

/// Output of `check`.
struct Report {
    failures: usize,
}

impl Report {
    fn line(&mut self, is_ok: bool, what: &str, text: impl Display) -> io::Result<()> {
        self.failures += usize::from(!is_ok);
        writeln!(io::stdout(), "{:4}  {what}: {text}", if is_ok { "ok" } else { "FAIL" })
    }

    fn result<T>(&mut self, what: &str, result: Result<T, pypi_proxy::Error>, good: &str) -> io::Result<()> {
        match result {
            Ok(_) => self.line(true, what, good),
            Err(error) => self.line(false, what, chain(error)),
        }
    }

    async fn index(&mut self, index: &str, upstream: &Upstream) -> Result<()> {
        let name = ProjectName::parse(PROJECT)?;
        let start = Instant::now();
        let page = get(upstream, Some(&name)).await;
        let time = start.elapsed().as_millis();
        let (is_ok, text) = match page {
            Ok(Some(is_json)) => {
                let form = if is_json { "JSON" } else { "HTML" };
                (true, format!("{form} page received in {time} ms"))
            }
            // Private indexes may lack the project, but then they have a list of projects.
            Ok(None) => match get(upstream, None).await {
                Ok(Some(_)) => (true, format!("responds in {time} ms, without a project {PROJECT}")),
                Ok(None) => (false, not_an_index(upstream, "no list of projects")),
                Err(error) if error.is_page() => {
                    (false, not_an_index(upstream, "its list of projects is another page"))
                }
                Err(error) => (false, format!("no project {PROJECT}; list of projects: {}", chain(error))),
            },
            Err(error) if error.is_page() => (false, not_an_index(upstream, &chain(error))),
            Err(error) => (false, chain(error)),
        };
        Ok(self.line(is_ok, index, format!("{upstream}: {text}"))?)
    }

    /// Reports each malformed OSV record. The others take effect nevertheless.
    fn osv(&mut self, builder: &ProxyBuilder<'_>) -> io::Result<()> {
        let osv = match builder.rules() {
            Ok(Rules { osv: Some(osv), .. }) => osv,
            Ok(_) => return Ok(()),
            Err(error) => return self.line(false, "osv", chain(error)),
        };
        self.line(true, "osv", format!("{} records take effect", osv.count()))?;
        osv.problems().into_iter().try_for_each(|problem| self.line(false, "osv", problem))
    }

    fn store(&mut self, settings: &Settings, builder: &ProxyBuilder<'_>) -> Result<()> {
        let dir = settings.cache_directory().map(|dir| format!("{}: ", dir.display())).unwrap_or_default();
        let (is_ok, text) =
            match Store::open(store::Config { max_bytes: u64::MAX, unused_ttl: None, ..builder.store()? }) {
                Ok(_) => (true, "usable".to_owned()),
                Err(error) if error.is_busy() => (true, "in use by another proxy".to_owned()),
                Err(error) => (false, chain(error)),
            };
        Ok(self.line(is_ok, "cache", dir + &text)?)
    }

    fn listener(&mut self, listen: &Listen) -> io::Result<()> {
        match listen::check(listen) {
            Ok(()) => self.line(true, "listen", format!("{listen} is available")),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                self.line(true, "listen", format!("{listen} is in use by another program"))
            }
            Err(error) => self.line(false, "listen", format!("{listen}: {error}")),
        }
    }
}
