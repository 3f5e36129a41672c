//! `stats`: prints the size of the cache, or the metrics of the running proxy.

use std::io::{self, Write as _};
use std::time::Duration;

use clap::ArgMatches;
use indicatif::HumanBytes;
use pypi_proxy::config::Settings;
use pypi_proxy::store::Store;

use super::failure::Failure;
use super::setup;

/// Timeout of the metrics request.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
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
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            for (name, value) in runtime.block_on(metrics(&settings))? {
                writeln!(out, "{name}  {value}")?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Requests the metrics of the running proxy.
async fn metrics(settings: &Settings) -> Result<Vec<(String, String)>, Failure> {
    let failed = |error: reqwest::Error| {
        let listen = settings.admin_listen.value.as_ref().unwrap_or(&settings.listen.value);
        let text = format!("a proxy uses the cache, but none responds at {listen}");
        Failure::with_cause(&text, &error)
    };
    let text = setup::request_metrics(settings, TIMEOUT).await.map_err(failed)?.text().await;
    let text = text.map_err(|error| failed(error.without_url()))?;
    // Metrics with labels are omitted.
    let lines = text.lines().filter_map(|line| line.strip_prefix("pypi_proxy_")?.split_once(' '));
    let plain = lines.filter(|(name, _)| !name.contains('{'));
    Ok(plain.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}
