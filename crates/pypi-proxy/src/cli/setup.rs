//! Settings, from what the program was called with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use pypi_proxy::config::{Discovery, Engines, Found, Listen, Settings, Sources};
use pypi_proxy::store;
use reqwest::{Client, Response};

use super::failure::Failure;

/// Reads the settings: flags, the environment, and a file.
pub(super) fn settings(matches: &ArgMatches) -> Result<Settings, Failure> {
    settings_with(matches, &[])
}

/// Reads the settings, but for some that this command has its own values for.
pub(super) fn settings_with(matches: &ArgMatches, own: &[(&str, &str)]) -> Result<Settings, Failure> {
    let mut sources = Sources::new().env(std::env::vars_os());
    sources = sources.find_file(matches.get_one::<PathBuf>("config").map(PathBuf::as_path))?;
    for setting in Settings::table().iter().filter(|setting| setting.flag().is_some()) {
        if let Some(value) = matches.get_one::<String>(setting.name) {
            sources = sources.flag(setting.name, value);
        }
    }
    for (name, value) in own {
        sources = sources.flag(*name, *value);
    }
    Ok(Settings::read(&sources)?)
}

/// The index that other programs use, if none is set.
pub(super) fn index(settings: &Settings) -> Result<Option<Found>, Failure> {
    if settings.index_url.is_some() {
        return Ok(None);
    }
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Some(Discovery::new(text).find()?))
}

/// The folder of the cache, for a command that needs no index. Looking is no reason to remove what is too much.
pub(super) fn store(settings: &Settings) -> Result<store::Config, Failure> {
    let dir =
        settings.folder().ok_or_else(|| Failure::usage("there is no folder for caches: set cache_dir"))?;
    Ok(store::Config::new(dir).allow_shared_dir(settings.allow_shared_cache_dir.0).max_bytes(u64::MAX))
}

/// The URL at which a proxy with these settings serves.
pub(super) fn own_url(settings: &Settings) -> String {
    url_of(settings, &settings.listen.value)
}

/// The URL at which it serves metrics.
fn admin_url(settings: &Settings) -> String {
    url_of(settings, settings.admin_listen.value.as_ref().unwrap_or(&settings.listen.value))
}

fn url_of(settings: &Settings, Listen { host, port }: &Listen) -> String {
    let scheme = if settings.tls_cert.is_some() { "https" } else { "http" };
    // All addresses are no address to ask at.
    match &**host {
        "0.0.0.0" => format!("{scheme}://127.0.0.1:{port}"),
        "::" => format!("{scheme}://[::1]:{port}"),
        host if host.contains(':') => format!("{scheme}://[{host}]:{port}"),
        host => format!("{scheme}://{host}:{port}"),
    }
}

/// Asks the proxy that serves with these settings for its metrics. An error does not name its address.
pub(super) async fn ask_metrics(settings: &Settings, patience: Duration) -> reqwest::Result<Response> {
    ask(admin_url(settings) + "/metrics", patience).await
}

/// Asks the proxy that serves with these settings whether it is alive. An error does not name its address.
pub(super) async fn ask_live(settings: &Settings, patience: Duration) -> reqwest::Result<Response> {
    ask(own_url(settings) + "/livez", patience).await
}

async fn ask(url: String, patience: Duration) -> reqwest::Result<Response> {
    let client = Client::builder()
        .tls_backend_rustls()
        // What this machine has as a proxy for others has no part in it.
        .no_proxy()
        // It is for the name that clients call the proxy by, not for the address that it is asked at here.
        .tls_danger_accept_invalid_certs(true)
        .timeout(patience)
        .build()?;
    let answer = client.get(url).send().await;
    answer.and_then(Response::error_for_status).map_err(reqwest::Error::without_url)
}

/// The parts that make the proxy.
pub(super) fn engines(settings: &Settings, found: Option<Found>) -> Result<Engines<'_>, Failure> {
    let path = match std::env::var_os("NETRC") {
        Some(path) => Some(PathBuf::from(path)),
        None => std::env::var_os("HOME").map(|home| Path::new(&home).join(".netrc")),
    };
    // Without one, there are no users and passwords.
    let netrc = path.and_then(|path| std::fs::read_to_string(path).ok());
    Ok(Engines::new(settings, found)?.netrc(netrc))
}
