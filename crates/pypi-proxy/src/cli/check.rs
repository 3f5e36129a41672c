//! `check`: whether all is as it should be.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::time::Instant;

use clap::ArgMatches;
use pypi_proxy::ProjectName;
use pypi_proxy::config::{Engines, Listen, Settings};
use pypi_proxy::store::Store;
use pypi_proxy::upstream::{Answer, Upstream, Validators};

use super::failure::{Failure, chain};
use super::setup;

/// A project to ask for. An index need not have it: what matters is that it answers.
const PROJECT: &str = "pip";

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let mut report = Report { failures: 0 };
    report.line(true, "settings", "all can be read")?;
    for text in settings.idle() {
        report.line(true, "settings", text)?;
    }
    let found = setup::index(&settings)?;
    let origin = found.as_ref().map_or(&settings.index_url.origin, |found| &found.origin).to_string();
    report.line(true, "settings", format!("the index comes from {origin}"))?;
    let engines = setup::engines(&settings, found)?;
    match engines.guard() {
        Ok(_) => report.line(true, "access", "who may ask can be told")?,
        Err(error) => report.line(false, "access", chain(&error))?,
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    for upstream in engines.upstreams()? {
        if settings.offline.0 {
            report.line(true, "index", format!("{upstream}: not asked, because offline is set"))?;
        } else {
            runtime.block_on(index(&upstream, &mut report))?;
        }
    }
    store(&settings, &engines, &mut report)?;
    if let Some(bucket) = settings.bucket()?.filter(|_| !settings.offline.0) {
        let checked = runtime.block_on(bucket.check());
        let text = match &checked {
            Ok(()) => "objects can be written, read and removed".to_owned(),
            Err(error) => chain(error),
        };
        report.line(checked.is_ok(), "bucket", text)?;
    }
    listener(&settings, &mut report)?;
    match report.failures {
        0 => Ok(()),
        count => Err(Failure::new(format!("checks that have failed: {count}"))),
    }
}

struct Report {
    failures: usize,
}

impl Report {
    fn line(&mut self, is_good: bool, what: &str, text: impl Display) -> io::Result<()> {
        self.failures += usize::from(!is_good);
        writeln!(io::stdout(), "{:4}  {what}: {text}", if is_good { "ok" } else { "FAIL" })
    }
}

async fn index(upstream: &Upstream, report: &mut Report) -> Result<(), Failure> {
    let name = ProjectName::parse(PROJECT)?;
    let begun = Instant::now();
    let answer = upstream.page(Some(&name), &Validators::default()).await;
    let time = begun.elapsed().as_millis();
    let (is_good, text) = match answer {
        Ok(Answer::Page(page)) => {
            let form = if page.is_json { "JSON" } else { "HTML" };
            (true, format!("answers in {form} after {time} ms"))
        }
        Ok(_) => (true, format!("answers after {time} ms, and has no {PROJECT}")),
        Err(error) => (false, chain(&error)),
    };
    Ok(report.line(is_good, "index", format!("{upstream}: {text}"))?)
}

fn store(settings: &Settings, engines: &Engines<'_>, report: &mut Report) -> Result<(), Failure> {
    let dir = settings.folder().map(|dir| format!("{}: ", dir.display())).unwrap_or_default();
    match Store::open(engines.store()?.max_bytes(u64::MAX)) {
        Ok(_) => report.line(true, "cache", format!("{dir}the folder can be used"))?,
        Err(error) if error.is_busy() => {
            report.line(true, "cache", format!("{dir}a proxy uses the folder"))?
        }
        Err(error) => report.line(false, "cache", format!("{dir}{}", chain(&error)))?,
    }
    Ok(())
}

fn listener(settings: &Settings, report: &mut Report) -> Result<(), Failure> {
    for listen in std::iter::once(&settings.listen.value).chain(&settings.admin_listen.value) {
        is_free(listen, report)?;
    }
    Ok(())
}

fn is_free(listen: &Listen, report: &mut Report) -> Result<(), Failure> {
    match TcpListener::bind((&*listen.host, listen.port)) {
        Ok(_) => report.line(true, "listen", format!("{listen} is free"))?,
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            report.line(true, "listen", format!("{listen} is in use, by a proxy or something else"))?;
        }
        Err(error) => report.line(false, "listen", format!("{listen}: {error}"))?,
    }
    Ok(())
}
