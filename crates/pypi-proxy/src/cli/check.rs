//! `check`: tests the settings, the indexes, the cache and the bucket.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::time::Instant;

use clap::ArgMatches;
use pypi_proxy::ProjectName;
use pypi_proxy::config::{Listen, ProxyBuilder, Settings};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{PageResponse, Upstream, Validators};

use super::failure::{Failure, chain};
use super::setup;

/// Project whose page is requested. Status 404 also counts as success.
const PROJECT: &str = "pip";

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let mut report = Report { failures: 0 };
    report.line(true, "settings", "valid")?;
    for text in settings.ineffective() {
        report.line(true, "settings", text)?;
    }
    let found = setup::index(&settings)?;
    let origin = found.as_ref().map_or(&settings.index_url.origin, |found| &found.origin).to_string();
    report.line(true, "settings", format!("index from {origin}"))?;
    let builder = setup::proxy_builder(&settings, found)?;
    match builder.guard() {
        Ok(_) => report.line(true, "access", "valid")?,
        Err(error) => report.line(false, "access", chain(&error))?,
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    for upstream in builder.upstreams()? {
        if settings.offline.0 {
            report.line(true, "index", format!("{upstream}: skipped, because offline is set"))?;
        } else {
            runtime.block_on(index(&upstream, &mut report))?;
        }
    }
    store(&settings, &builder, &mut report)?;
    if let Some(bucket) = settings.bucket()?.filter(|_| !settings.offline.0) {
        let checked = runtime.block_on(bucket.check());
        let text = match &checked {
            Ok(()) => "write, read and delete work".to_owned(),
            Err(error) => chain(error),
        };
        report.line(checked.is_ok(), "bucket", text)?;
    }
    check_listeners(&settings, &mut report)?;
    match report.failures {
        0 => Ok(()),
        count => Err(Failure::new(format!("failed checks: {count}"))),
    }
}

struct Report {
    failures: usize,
}

impl Report {
    fn line(&mut self, is_ok: bool, what: &str, text: impl Display) -> io::Result<()> {
        self.failures += usize::from(!is_ok);
        writeln!(io::stdout(), "{:4}  {what}: {text}", if is_ok { "ok" } else { "FAIL" })
    }
}

async fn index(upstream: &Upstream, report: &mut Report) -> Result<(), Failure> {
    let name = ProjectName::parse(PROJECT)?;
    let start = Instant::now();
    let response = upstream.page(Some(&name), &Validators::default()).await;
    let time = start.elapsed().as_millis();
    let (is_ok, text) = match response {
        Ok(PageResponse::Page(page)) => {
            let form = if page.is_json { "JSON" } else { "HTML" };
            (true, format!("{form} page received in {time} ms"))
        }
        Ok(_) => (true, format!("responds in {time} ms, without a project {PROJECT}")),
        Err(error) => (false, chain(&error)),
    };
    Ok(report.line(is_ok, "index", format!("{upstream}: {text}"))?)
}

fn store(settings: &Settings, builder: &ProxyBuilder<'_>, report: &mut Report) -> Result<(), Failure> {
    let dir = settings.cache_directory().map(|dir| format!("{}: ", dir.display())).unwrap_or_default();
    match Store::open(store::Config { max_bytes: u64::MAX, ..builder.store()? }) {
        Ok(_) => report.line(true, "cache", format!("{dir}usable"))?,
        Err(error) if error.is_busy() => {
            report.line(true, "cache", format!("{dir}in use by another proxy"))?
        }
        Err(error) => report.line(false, "cache", format!("{dir}{}", chain(&error)))?,
    }
    Ok(())
}

fn check_listeners(settings: &Settings, report: &mut Report) -> Result<(), Failure> {
    for listen in std::iter::once(&settings.listen.value).chain(&settings.admin_listen.value) {
        check_listener(listen, report)?;
    }
    Ok(())
}

fn check_listener(listen: &Listen, report: &mut Report) -> Result<(), Failure> {
    match TcpListener::bind((&*listen.host, listen.port)) {
        Ok(_) => report.line(true, "listen", format!("{listen} is available"))?,
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            report.line(true, "listen", format!("{listen} is in use by another program"))?;
        }
        Err(error) => report.line(false, "listen", format!("{listen}: {error}"))?,
    }
    Ok(())
}
