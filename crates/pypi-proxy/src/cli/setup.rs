//! Settings, index and store of a command, and requests to a running proxy.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::ArgMatches;
use pypi_proxy::config::{DiscoveredIndex, Discovery, Listen, ProxyBuilder, Settings, Sources};
use pypi_proxy::store;
use reqwest::{Client, Response};

use super::Usage;

/// Reads the settings from flags, environment and configuration file.
pub(super) fn settings(matches: &ArgMatches) -> Result<Settings> {
    settings_with(matches, &[])
}

/// Reads the settings with overrides of this command.
pub(super) fn settings_with(matches: &ArgMatches, overrides: &[(&str, &str)]) -> Result<Settings> {
    let mut sources = Sources::new().env(std::env::vars_os());
    sources = sources.find_file(matches.get_one::<PathBuf>("config").map(PathBuf::as_path))?;
    for setting in Settings::table().iter().filter(|setting| setting.flag().is_some()) {
        if let Some(value) = matches.get_one::<String>(setting.name) {
            sources = sources.flag(setting.name, value);
        }
    }
    for (name, value) in overrides {
        sources = sources.flag(*name, *value);
    }
    Ok(Settings::read(&sources)?)
}

/// Discovers the index of uv or pip if `index_url` is not set.
pub(super) fn index(settings: &Settings) -> Result<Option<DiscoveredIndex>> {
    if settings.index_url.is_some() {
        return Ok(None);
    }
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Some(Discovery::new(text).find()?))
}

/// Returns the store configuration for a command without an index. Opening the store evicts nothing.
pub(super) fn store(settings: &Settings) -> Result<store::Config> {
    let dir = settings
        .cache_directory()
        .ok_or_else(|| Usage("there is no cache directory (set cache_dir)".into()))?;
    let allow_shared_dir = settings.allow_shared_cache_dir.value;
    Ok(store::Config { allow_shared_dir, max_bytes: u64::MAX, ..store::Config::new(dir) })
}

pub(super) fn own_url(settings: &Settings) -> String {
    url_of(settings, &settings.listen.value)
}

/// Returns the URL of a listener of this proxy.
pub(super) fn url_of(settings: &Settings, Listen { host, port }: &Listen) -> String {
    let scheme = if settings.tls_cert.is_some() { "https" } else { "http" };
    // Unspecified addresses can't be connected to on all systems.
    match &**host {
        "0.0.0.0" => format!("{scheme}://127.0.0.1:{port}"),
        "::" => format!("{scheme}://[::1]:{port}"),
        host if host.contains(':') => format!("{scheme}://[{host}]:{port}"),
        host => format!("{scheme}://{host}:{port}"),
    }
}

/// Sends a request to the running proxy. Errors do not contain its address.
pub(super) async fn request(url: String, timeout: Duration) -> reqwest::Result<Response> {
    let client = Client::builder()
        .tls_backend_rustls()
        // `HTTP_PROXY` applies to upstream requests only.
        .no_proxy()
        // The certificate is valid for the public name of the proxy, not for this address.
        .tls_danger_accept_invalid_certs(true)
        .timeout(timeout)
        .build()?;
    let response = client.get(url).send().await;
    response.and_then(Response::error_for_status).map_err(reqwest::Error::without_url)
}

/// Creates the builder of the proxy, with the credentials of `.netrc`.
pub(super) fn proxy_builder(settings: &Settings, found: Option<DiscoveredIndex>) -> Result<ProxyBuilder<'_>> {
    let path = match std::env::var_os("NETRC") {
        Some(path) => Some(PathBuf::from(path)),
        None => std::env::var_os("HOME").map(|home| Path::new(&home).join(".netrc")),
    };
    let netrc = path.and_then(|path| std::fs::read_to_string(path).ok());
    Ok(ProxyBuilder::new(settings, found)?.netrc(netrc))
}
