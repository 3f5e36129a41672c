//! Settings, from what the program was called with.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use pypi_proxy::config::{Discovery, Engines, Found, Listen, Settings, Sources};
use pypi_proxy::store;

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
    Ok(store::Config::new(dir).max_bytes(u64::MAX))
}

/// The URL at which a proxy with these settings serves.
pub(super) fn own_url(settings: &Settings) -> String {
    let Listen { host, port } = &settings.listen.value;
    // All addresses are no address to ask at.
    match &**host {
        "0.0.0.0" => format!("http://127.0.0.1:{port}"),
        "::" => format!("http://[::1]:{port}"),
        host if host.contains(':') => format!("http://[{host}]:{port}"),
        host => format!("http://{host}:{port}"),
    }
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
