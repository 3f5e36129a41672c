//! Settings, index and store of a command, and requests to a running proxy.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use pypi_proxy::config::{DiscoveredIndex, Discovery, Listen, ProxyBuilder, Settings, Sources};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::Netrc;
use reqwest::{Client, ClientBuilder, Response};
use tokio::runtime::Runtime;

use super::{Usage, chain};

/// Reads the settings from flags, environment and configuration file.
pub(super) fn settings(matches: &ArgMatches) -> Result<Settings> {
    settings_with(matches, &[])
}

/// Reads the settings with overrides of this command.
pub(super) fn settings_with(matches: &ArgMatches, overrides: &[(&str, &str)]) -> Result<Settings> {
    let mut sources = Sources::new().env(std::env::vars_os());
    sources = sources.find_file(matches.get_one::<PathBuf>("config").map(PathBuf::as_path))?;
    for setting in Settings::table().iter().filter(|setting| setting.flag().is_some()) {
        // A command has the flags of the settings that it uses.
        if let Ok(Some(value)) = matches.try_get_one::<String>(setting.name) {
            sources = sources.flag(setting.name, value);
        }
    }
    for (name, value) in overrides {
        sources = sources.flag(*name, *value);
    }
    Ok(Settings::read(&sources)?)
}

/// Reads the settings of a command that uses the parts of a proxy without serving clients.
pub(super) fn local_settings(matches: &ArgMatches) -> Result<Settings> {
    let overrides = [
        ("download_timeout", "never"),
        ("access_log", "false"),
        ("auth_tokens_file", ""),
        ("auth_htpasswd_file", ""),
        ("rate_limit", "0"),
    ];
    settings_with(matches, &overrides)
}

/// Creates the runtime of a command that works on the cache or sends several requests.
pub(super) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
}

/// Sets the template of a progress bar.
pub(super) fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
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

/// Fails if the bucket of a store has a layout that this program does not support. The proxy does not depend on the bucket
/// in other respects, so that other failures have no effect.
pub(super) async fn check_bucket_layout(store: &Store) -> Result<(), pypi_proxy::Error> {
    match store.bucket() {
        Some(bucket) => bucket.check_layout().await.or_else(|error| match error.is_bucket_layout() {
            true => Err(error),
            false => Ok(()),
        }),
        None => Ok(()),
    }
}

/// Returns the address of the running proxy for pages and files: a TCP port if there is one, otherwise a Unix socket.
pub(super) fn own_address(settings: &Settings) -> &Listen {
    address(&settings.listen.value)
}

/// Returns the address of the running proxy for metrics.
pub(super) fn admin_address(settings: &Settings) -> &Listen {
    let admin = &settings.admin_listen.value;
    if admin.is_empty() { own_address(settings) } else { address(admin) }
}

fn address(all: &[Listen]) -> &Listen {
    // Reading the settings rejects an empty list.
    all.iter().find(|listen| matches!(listen, Listen::Tcp { .. })).unwrap_or(&all[0])
}

/// Returns the URL of a listener of this proxy.
pub(super) fn url_of(settings: &Settings, listen: &Listen) -> String {
    let scheme = if settings.tls_cert.is_some() { "https" } else { "http" };
    let Listen::Tcp { host, port } = listen else { return format!("{scheme}://localhost") };
    // Unspecified addresses can't be connected to on all systems.
    match &**host {
        "0.0.0.0" => format!("{scheme}://127.0.0.1:{port}"),
        "::" => format!("{scheme}://[::1]:{port}"),
        host if host.contains(':') => format!("{scheme}://[{host}]:{port}"),
        host => format!("{scheme}://{host}:{port}"),
    }
}

/// Returns a client that connects to this listener.
pub(super) fn client_of(listen: &Listen) -> ClientBuilder {
    // `HTTP_PROXY` applies to upstream requests only.
    let builder = Client::builder().no_proxy();
    match listen {
        Listen::Tcp { .. } => builder,
        #[cfg(unix)]
        Listen::Unix(path) => builder.unix_socket(&**path),
        // The proxy does not listen on Unix sockets there.
        #[cfg(not(unix))]
        Listen::Unix(_) => builder,
    }
}

/// Sends a request to a listener of the running proxy. Errors do not contain its address.
pub(super) async fn request(
    settings: &Settings,
    listen: &Listen,
    path: &str,
    timeout: Duration,
) -> reqwest::Result<Response> {
    let client = client_of(listen)
        .tls_backend_rustls()
        // The certificate is valid for the public name of the proxy, not for this address.
        .tls_danger_accept_invalid_certs(true)
        .timeout(timeout)
        .build()?;
    let response = client.get(url_of(settings, listen) + path).send().await;
    response.and_then(Response::error_for_status).map_err(reqwest::Error::without_url)
}

/// Returns the `.netrc` file, which is not read yet.
pub(super) fn netrc() -> Option<Netrc> {
    let path = match std::env::var_os("NETRC") {
        Some(path) => Some(PathBuf::from(path)),
        None => {
            let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
            std::env::var_os(home).map(|home| Path::new(&home).join(".netrc"))
        }
    };
    path.map(Netrc::new)
}

/// Creates the builder of the proxy, with the credentials of `.netrc`.
pub(super) fn proxy_builder(settings: &Settings, found: Option<DiscoveredIndex>) -> Result<ProxyBuilder<'_>> {
    let netrc = netrc();
    // The default file may be that of another user.
    if let Some(Err(error)) = netrc.as_ref().map(Netrc::reload) {
        tracing::warn!(error = %chain(error), "no credentials of .netrc");
    }
    Ok(ProxyBuilder::new(settings, found)?.netrc(netrc))
}
