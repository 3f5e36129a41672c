//! Sources of settings: flags, environment variables and the configuration file.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::Kind;

/// Maximum size of a configuration file in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Environment variable with the path of the configuration file.
pub(super) const FILE_VARIABLE: &str = "PYPI_PROXY_CONFIG";

/// Flags, environment variables and a configuration file.
#[derive(Clone, Default)]
pub struct Sources {
    pub(super) flags: Vec<(String, String)>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) file: Option<(PathBuf, String)>,
}

impl Sources {
    /// Creates an empty set of sources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a flag by the name of its setting.
    #[must_use]
    pub fn flag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.flags.push((name.into(), value.into()));
        self
    }

    /// Adds environment variables.
    #[must_use]
    pub fn env<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.env.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Sets the path and text of the configuration file.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.file = Some((path.into(), text.into()));
        self
    }

    /// Reads the configuration file: at this path, otherwise at that of `PYPI_PROXY_CONFIG`, otherwise
    /// `pypi-proxy/config.toml` in the configuration directory of the user (`XDG_CONFIG_HOME` or `~/.config`) or in
    /// `/etc`. A missing file is an error only if it was named.
    ///
    /// # Errors
    ///
    /// Fails if a named or existing file can't be read, or is larger than 1 MiB ([`Error::is_config`]).
    pub fn find_file(self, path: Option<&Path>) -> Result<Self, Error> {
        let named = path.map(Path::to_owned).or_else(|| self.variable(FILE_VARIABLE).map(PathBuf::from));
        if let Some(path) = named {
            let text = read(&path).map_err(|error| unreadable(&path, error))?;
            return Ok(self.file(path, text));
        }
        for path in self.default_paths() {
            match read(&path) {
                Ok(text) => return Ok(self.file(path, text)),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(unreadable(&path, error)),
            }
        }
        Ok(self)
    }

    fn default_paths(&self) -> Vec<PathBuf> {
        const FILE: &str = "pypi-proxy/config.toml";
        let home = || Some(Path::new(self.variable("HOME")?).join(".config"));
        let user = self.variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
        user.into_iter().chain([PathBuf::from("/etc")]).map(|folder| folder.join(FILE)).collect()
    }

    /// Returns the value of a variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.env.iter().rev().find(|(variable, _)| variable == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = fs::File::open(path)?;
    if file.take(MAX_FILE + 1).read_to_string(&mut text)? as u64 > MAX_FILE {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

#[cold]
fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::with(Kind::Config, format!("{} can't be read", path.display())).caused_by(error)
}

/// Omits the values, which may be secret.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags: Vec<_> = self.flags.iter().map(|(name, _)| name).collect();
        f.debug_struct("Sources")
            .field("flags", &flags)
            .field("variables", &self.env.len())
            .field("file", &self.file.as_ref().map(|(path, _)| path))
            .finish()
    }
}
