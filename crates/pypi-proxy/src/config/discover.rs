//! Finding the index that other programs of this machine use.

use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::origin::Origin;
use super::value::IndexUrl;
use super::{Set, ini};
use crate::Error;
use crate::error::Kind;

/// What pip tells of itself.
const QUESTION: &str = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)";
/// The most bytes of a file or an answer that is looked at.
const MAX_TEXT: u64 = 1 << 20;

/// An index that was found.
pub type Found = Set<IndexUrl>;

/// Looks for the index that pip or uv of this machine is configured with, or that pip uses by itself.
pub struct Discovery {
    env: HashMap<String, String>,
    root: PathBuf,
    pythons: Vec<String>,
    timeout: Duration,
}

impl Discovery {
    /// How long pip may take to answer: 10 seconds.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

    /// Looks with these variables of the environment.
    pub fn new<K: Into<String>, V: Into<String>>(env: impl IntoIterator<Item = (K, V)>) -> Self {
        Self {
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            root: PathBuf::from("/"),
            pythons: vec!["python3".into(), "python".into()],
            timeout: Self::DEFAULT_TIMEOUT,
        }
    }

    /// Looks for the files of the machine below this folder. Default: `/`.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Asks the pip of the first of these programs that has one. Default: `python3` and `python`.
    #[must_use]
    pub fn pythons(mut self, programs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.pythons = programs.into_iter().map(Into::into).collect();
        self
    }

    /// How long each may take to answer. Default: [`Self::DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Looks: `PIP_INDEX_URL`, the files of pip, `UV_DEFAULT_INDEX` and `UV_INDEX_URL`, the files of uv, and at last what
    /// pip has as its default. It blocks for as long as pip takes to answer.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or if what is found is no URL ([`Error::is_config`]).
    pub fn find(&self) -> Result<Found, Error> {
        let found = self
            .variable("PIP_INDEX_URL")
            .map(|url| (url.to_owned(), Origin::Env("PIP_INDEX_URL".into())))
            .or_else(|| self.pip_files())
            .or_else(|| self.uv_variables())
            .or_else(|| self.uv_files())
            .or_else(|| self.pip_itself());
        let Some((url, origin)) = found else {
            return Err(Error::with(
                Kind::Config,
                "no index is set, and neither pip nor uv of this machine tells one: set index_url \
                 (--index-url URL, PYPI_PROXY_INDEX_URL, or in the file)",
            ));
        };
        match IndexUrl::parse(&url) {
            Ok(value) => Ok(Set { value, origin }),
            Err(_) => {
                Err(Error::with(Kind::Config, format!("{origin}: the index is no URL of http or https")))
            }
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    fn pip_files(&self) -> Option<(String, Origin)> {
        let mut files = Vec::new();
        // What comes first here counts most.
        match self.variable("PIP_CONFIG_FILE") {
            // The way to have pip read none.
            Some("/dev/null" | "nul") => return None,
            Some(path) => files.push(PathBuf::from(path)),
            None => {}
        }
        files.extend(self.variable("VIRTUAL_ENV").map(|dir| Path::new(dir).join("pip.conf")));
        files.extend(self.user_folder().map(|dir| dir.join("pip/pip.conf")));
        if let Some(home) = self.variable("HOME").map(Path::new) {
            files.push(home.join("Library/Application Support/pip/pip.conf"));
            files.push(home.join(".pip/pip.conf"));
        }
        files.extend(self.variable("APPDATA").map(|dir| Path::new(dir).join("pip/pip.ini")));
        files.push(self.root.join("etc/pip.conf"));
        files.extend(self.machine_folders().into_iter().map(|dir| dir.join("pip/pip.conf")));
        files.push(self.root.join("Library/Application Support/pip/pip.conf"));
        let texts: Vec<_> = files.into_iter().filter_map(|path| Some((read(&path)?, path))).collect();
        // pip asks the section of the command first, in all files.
        for section in ["install", "global"] {
            for (text, path) in &texts {
                if let Some(url) = ini::value(text, section, "index-url") {
                    return Some((url.to_owned(), Origin::File(path.clone())));
                }
            }
        }
        None
    }

    fn uv_variables(&self) -> Option<(String, Origin)> {
        ["UV_DEFAULT_INDEX", "UV_INDEX_URL"].into_iter().find_map(|name| {
            let value = self.variable(name)?;
            // An index may have a name in front.
            let url = match value.split_once('=') {
                Some((front, url)) if !front.contains(':') => url,
                _ => value,
            };
            Some((url.to_owned(), Origin::Env(name.into())))
        })
    }

    fn uv_files(&self) -> Option<(String, Origin)> {
        let files = match self.variable("UV_CONFIG_FILE") {
            Some(path) => vec![PathBuf::from(path)],
            None => {
                let user = self.user_folder().map(|dir| dir.join("uv/uv.toml"));
                let appdata = self.variable("APPDATA").map(|dir| Path::new(dir).join("uv/uv.toml"));
                let machine = self.machine_folders().into_iter().map(|dir| dir.join("uv/uv.toml"));
                let machine = machine.chain([self.root.join("etc/uv/uv.toml")]);
                user.into_iter().chain(appdata).chain(machine).collect()
            }
        };
        files.into_iter().find_map(|path| {
            let table: toml::Table = read(&path)?.parse().ok()?;
            Some((uv_index(&table)?, Origin::File(path)))
        })
    }

    fn user_folder(&self) -> Option<PathBuf> {
        let home = || Some(Path::new(self.variable("HOME")?).join(".config"));
        self.variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home)
    }

    fn machine_folders(&self) -> Vec<PathBuf> {
        match self.variable("XDG_CONFIG_DIRS") {
            Some(dirs) => dirs.split(':').filter(|dir| !dir.is_empty()).map(PathBuf::from).collect(),
            None => vec![self.root.join("etc/xdg")],
        }
    }

    fn pip_itself(&self) -> Option<(String, Origin)> {
        self.pythons.iter().find_map(|program| {
            let url = self.ask(program)?;
            Some((url, Origin::Found(format!("default of pip, as {program} has it"))))
        })
    }

    /// What a program answers, if it does so in time.
    fn ask(&self, program: &str) -> Option<String> {
        let mut child = Command::new(program)
            .args(["-c", QUESTION])
            // Modules are looked for here as well, and nobody else can put one there.
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let end = Instant::now() + self.timeout;
        // The answer is a line, which a pipe has room for.
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < end => {
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "settings are read before there is an executor"
                    )]
                    std::thread::sleep(Duration::from_millis(5));
                }
                _ => break None,
            }
        };
        if status.is_none_or(|status| !status.success()) {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        let mut answer = String::new();
        child.stdout?.take(MAX_TEXT).read_to_string(&mut answer).ok()?;
        answer.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// The default index of a file of uv.
fn uv_index(table: &toml::Table) -> Option<String> {
    let text = |value: &toml::Value| value.as_str().map(str::to_owned);
    let indexes = table.get("index").and_then(toml::Value::as_array);
    let is_default = |index: &&toml::Value| index.get("default").and_then(toml::Value::as_bool) == Some(true);
    let named = indexes.and_then(|indexes| indexes.iter().find(is_default)?.get("url").and_then(text));
    let plain = || table.get("index-url").and_then(text);
    let for_pip = || table.get("pip")?.get("index-url").and_then(text);
    named.or_else(plain).or_else(for_pip)
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_TEXT).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Shows no variable: they may be secret.
impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery")
            .field("root", &self.root)
            .field("pythons", &self.pythons)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
