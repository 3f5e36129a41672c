//! Discovery of the index that pip or uv of this machine uses.

use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::SettingValue;
use super::table::Origin;
use super::value::IndexUrl;
use crate::Error;
use crate::error::Kind;

/// Python code that prints the index of `pip install`: from pip's environment variables and configuration files,
/// otherwise pip's default.
const PRINT_INDEX: &str = "from pip._internal.commands import create_command; \
                           print(create_command('install').parse_args([])[0].index_url)";

/// Maximum time for which pip may run.
const PIP_TIMEOUT: Duration = Duration::from_secs(10);

/// The URL of a discovered index, with its source.
pub type DiscoveredIndex = SettingValue<IndexUrl>;

/// Finds the index that uv or pip of this machine uses.
pub struct Discovery {
    env: HashMap<String, String>,
    pythons: Vec<String>,
}

impl Discovery {
    /// Text for users that says how to set the index.
    pub const HINT: &str = if cfg!(windows) {
        "set the index with the flag --index-url URL, with the variable PYPI_PROXY_INDEX_URL=URL, or with the line \
         index_url = 'URL' in %APPDATA%\\pypi-proxy\\config.toml"
    } else {
        "set the index with the flag --index-url URL, with the variable PYPI_PROXY_INDEX_URL=URL, or with the line \
         index_url = 'URL' in ~/.config/pypi-proxy/config.toml or /etc/pypi-proxy/config.toml"
    };

    /// Creates a discovery that reads these environment variables.
    pub fn new<K: Into<String>, V: Into<String>>(env: impl IntoIterator<Item = (K, V)>) -> Self {
        Self {
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            pythons: vec!["python3".into(), "python".into()],
        }
    }

    /// Sets the Python interpreters that are tried in this order. Default: `python3` and `python`.
    #[must_use]
    pub fn pythons(mut self, programs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.pythons = programs.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the first index found in `PIP_INDEX_URL`, `UV_DEFAULT_INDEX`, `UV_INDEX_URL`, the configuration files
    /// of uv, and pip, which reports its configured or default index. Blocks while pip runs, at most 10 seconds for
    /// each interpreter.
    ///
    /// # Errors
    ///
    /// Fails if no index is found, or if it is not an `http` or `https` URL ([`Error::is_config`]).
    pub fn find(&self) -> Result<DiscoveredIndex, Error> {
        let variable = ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"].into_iter().find_map(|name| {
            let value = self.variable(name)?;
            // uv allows a name in front: `NAME=URL`.
            let url = match value.split_once('=') {
                Some((front, url)) if !front.contains(':') => url,
                _ => value,
            };
            Some((url.to_owned(), Origin::Env(name.into())))
        });
        let found = variable.or_else(|| self.uv_files()).or_else(|| {
            self.pythons
                .iter()
                .find_map(|python| Some((pip_index(python)?, Origin::Discovered(format!("pip of {python}")))))
        });
        let Some((url, origin)) = found else {
            let text =
                format!("no index is set, and neither uv nor pip of this machine has one: {}", Self::HINT);
            return Err(Error::with(Kind::Config, text));
        };
        match IndexUrl::parse(&url) {
            Ok(value) => Ok(SettingValue { value, origin }),
            Err(_) => {
                Err(Error::with(Kind::Config, format!("{origin}: the index is not an http or https URL")))
            }
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    fn uv_files(&self) -> Option<(String, Origin)> {
        let files = match self.variable("UV_CONFIG_FILE") {
            Some(path) => vec![PathBuf::from(path)],
            None => {
                let home = || Some(Path::new(self.variable("HOME")?).join(".config"));
                let xdg = self.variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
                let user = xdg.or_else(|| self.variable("APPDATA").map(PathBuf::from));
                // Every user of Windows can create folders on its drive.
                let system = (!cfg!(windows)).then(|| PathBuf::from("/etc"));
                user.into_iter().chain(system).map(|dir| dir.join("uv/uv.toml")).collect()
            }
        };
        files.into_iter().find_map(|path| {
            let table: toml::Table = std::fs::read_to_string(&path).ok()?.parse().ok()?;
            Some((uv_index(&table)?, Origin::File(path)))
        })
    }
}

fn pip_index(python: &str) -> Option<String> {
    // Python imports modules from the working directory, so that it must not be writable by other users.
    let mut command = Command::new(python);
    let dir = if cfg!(windows) { std::env::var_os("SystemRoot")? } else { "/".into() };
    command.args(["-c", PRINT_INDEX]).current_dir(dir).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        sender.send(output.read_to_string(&mut text).map(|_| text))
    });
    let text = received.recv_timeout(PIP_TIMEOUT);
    if text.is_err() {
        // If this fails, the interpreter has just ended.
        let _ = child.kill();
    }
    let is_good = child.wait().ok()?.success();
    let text = text.ok()?.ok().filter(|_| is_good)?;
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns the default index of a configuration file of uv.
fn uv_index(table: &toml::Table) -> Option<String> {
    let text = |value: &toml::Value| value.as_str().map(str::to_owned);
    let indexes = table.get("index").and_then(toml::Value::as_array);
    let is_default = |index: &&toml::Value| index.get("default").and_then(toml::Value::as_bool) == Some(true);
    let named = indexes.and_then(|indexes| indexes.iter().find(is_default)?.get("url").and_then(text));
    let plain = || table.get("index-url").and_then(text);
    let of_pip_table = || table.get("pip")?.get("index-url").and_then(text);
    named.or_else(plain).or_else(of_pip_table)
}

/// Omits the environment variables, which may contain secrets.
impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery").field("pythons", &self.pythons).finish_non_exhaustive()
    }
}
