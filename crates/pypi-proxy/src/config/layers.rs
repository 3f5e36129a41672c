//! Selects the value of each setting from the first source that has one, and collects all errors.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::table::{Dialect, Origin, PREFIX, Property, Raw, Setting, SettingValue, Value};
use super::value::Listen;
use crate::Error;
use crate::error::Kind;
use crate::file_watch::read;
use crate::serve::check_index_name;

const PREFIXES: [&str; 3] = [PREFIX, "GROXPI_", "PROXPI_"];

pub(super) struct Layers<'a> {
    table: &'static [Setting],
    flags: HashMap<&'a str, &'a str>,
    /// Environment variables, without empty ones.
    env: HashMap<&'a str, &'a str>,
    /// Contents of the files that variables name, by the name of the setting.
    secrets: HashMap<&'static str, String>,
    /// The configuration file and the file of defaults, in this order.
    files: Vec<(PathBuf, BTreeMap<String, Raw>)>,
    /// Path of the configuration file.
    path: PathBuf,
    /// Tables of named indexes in the configuration file.
    sections: BTreeMap<String, BTreeMap<String, Raw>>,
    /// The table that is being read.
    section: Option<(String, BTreeMap<String, Raw>)>,
    pub(super) problems: Vec<String>,
    /// Messages about ignored variables.
    pub(super) warnings: Vec<String>,
}

impl<'a> Layers<'a> {
    /// Indexes the sources and reports unknown settings.
    pub(super) fn new(table: &'static [Setting], sources: &'a Sources) -> Self {
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        let by_name = |name: &str| table.iter().any(|setting| setting.name == name);
        let mut flags = HashMap::new();
        for (name, value) in &sources.flags {
            if by_name(name) {
                flags.insert(&**name, &**value);
            } else {
                problems.push(format!("--{}: unknown setting", name.escape_debug()));
            }
        }
        let mut env = HashMap::new();
        let known = variables(table);
        for (name, value) in &sources.env {
            // Variables of other programs may not be UTF-8.
            let Some(name) = name.to_str() else { continue };
            if !known.contains(name) {
                match PREFIXES.iter().position(|prefix| name.starts_with(prefix)) {
                    _ if is_service_link(name) => {}
                    Some(0) => problems.push(unknown(name, &known)),
                    // The other proxy may have settings that this one does not need.
                    Some(_) => warnings.push(unknown(name, &known) + "; ignored"),
                    None => {}
                }
                continue;
            }
            match value.to_str() {
                Some("") => drop(env.remove(name)),
                Some(value) => drop(env.insert(name, value)),
                None => problems.push(format!("{name}: not valid UTF-8")),
            }
        }
        let secrets = read_secrets(table, &env, &mut problems);
        let (mut files, mut path, mut sections) = (Vec::new(), PathBuf::new(), BTreeMap::new());
        let config = sources.file.iter().map(|file| (file, true));
        for ((file_path, text), is_config) in config.chain(sources.defaults.iter().map(|file| (file, false)))
        {
            let (values, tables, mut wrong) = parse(text);
            let unknown = values.keys().filter(|key| !by_name(key));
            wrong.extend(
                unknown
                    .map(|key| format!("unknown setting {}{}", key.escape_debug(), similar_key(key, table))),
            );
            for (index, values) in &tables {
                for key in values.keys() {
                    let problem = match table.iter().find(|setting| setting.name == key) {
                        Some(setting) if setting.is_of_index() => continue,
                        Some(_) => "applies to all indexes and can't be set for one".to_owned(),
                        None => format!("unknown setting{}", similar_key(key, table)),
                    };
                    wrong.push(format!("[index.{index}]: {}: {problem}", key.escape_debug()));
                }
            }
            if is_config {
                (path, sections) = (file_path.clone(), tables);
            } else if !tables.is_empty() {
                wrong.push("named indexes belong in the configuration file".to_owned());
            }
            problems.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", file_path.display())));
            files.push((file_path.clone(), values));
        }
        Self { table, flags, env, secrets, files, path, sections, section: None, problems, warnings }
    }

    /// Returns the names of the named indexes.
    pub(super) fn sections(&self) -> Vec<String> {
        self.sections.keys().cloned().collect()
    }

    /// Lets the table of a named index precede all other sources.
    pub(super) fn enter(&mut self, name: &str) -> Origin {
        self.section = self.sections.remove_entry(name);
        Origin::Index { file: self.path.clone(), name: name.to_owned() }
    }

    /// Returns the value of a setting, or `None` after reporting that it is malformed.
    pub(super) fn take<T: Value>(&mut self, index: usize) -> Option<SettingValue<T>> {
        let setting = &self.table[index];
        let (raw, origin, dialect) = self.first(setting);
        let problem = match T::read(&raw, dialect) {
            Some(value) if value.is_zero() && setting.has(Property::Positive) => {
                "must be greater than 0".into()
            }
            Some(value) => return Some(SettingValue { value, origin }),
            None => format!("expected {}", T::SYNTAX),
        };
        let key = if matches!(origin, Origin::File(_) | Origin::Index { .. }) {
            format!(" {}:", setting.name)
        } else {
            String::new()
        };
        self.problems.push(format!("{origin}:{key} {problem}"));
        None
    }

    fn first(&self, setting: &Setting) -> (Raw, Origin, Dialect) {
        let text = |value: &str| Raw::Text(value.to_owned());
        if let Some((name, values)) = &self.section {
            if let Some(raw) = values.get(setting.name) {
                let origin = Origin::Index { file: self.path.clone(), name: name.clone() };
                return (raw.clone(), origin, Dialect::PypiProxy);
            }
            if !setting.is_inherited() {
                return (text(setting.default), Origin::Default, Dialect::PypiProxy);
            }
        }
        if let Some(value) = self.flags.get(setting.name) {
            return (text(value), Origin::Flag(setting.name.replace('_', "-")), Dialect::PypiProxy);
        }
        if let Some((name, value)) = self.env.get_key_value(&*setting.variable()) {
            return (text(value), Origin::Env((*name).to_owned()), Dialect::PypiProxy);
        }
        if let (Some(value), Some(variable)) = (self.secrets.get(setting.name), setting.file_variable()) {
            return (text(value), Origin::Env(variable), Dialect::PypiProxy);
        }
        if setting.name == "listen"
            && let Some((value, names)) = self.host_and_port()
        {
            return (Raw::Text(value), Origin::Env(names.to_owned()), Dialect::Groxpi);
        }
        for (names, dialect) in [(setting.groxpi, Dialect::Groxpi), (setting.proxpi, Dialect::Proxpi)] {
            for name in names {
                if let Some(value) = self.env.get(name) {
                    // The presence of this variable disables colors, whatever its value.
                    let value = if *name == "NO_COLOR" { "false" } else { value };
                    return (text(value), Origin::Env((*name).to_owned()), dialect);
                }
            }
        }
        for (path, values) in &self.files {
            if let Some(raw) = values.get(setting.name) {
                return (raw.clone(), Origin::File(path.clone()), Dialect::PypiProxy);
            }
        }
        (text(setting.default), Origin::Default, Dialect::PypiProxy)
    }

    /// Combines `HOST` and `PORT`. Setting either means that other machines shall reach the proxy, so that the default
    /// address is 0.0.0.0.
    fn host_and_port(&self) -> Option<(String, &'static str)> {
        let (host, port) = (self.env.get("HOST"), self.env.get("PORT"));
        let names = match (host, port) {
            (None, None) => return None,
            (Some(_), None) => "HOST",
            (None, Some(_)) => "PORT",
            (Some(_), Some(_)) => "HOST and PORT",
        };
        let host = host.map_or("0.0.0.0", |host| host.trim());
        let port = port.map_or_else(|| Listen::PORT.to_string(), |port| port.trim().to_owned());
        let is_bare = host.contains(':') && !host.starts_with('[');
        // A colon in the port would become part of the host.
        let port = if port.bytes().all(|byte| byte.is_ascii_digit()) { port } else { "?".into() };
        Some((if is_bare { format!("[{host}]:{port}") } else { format!("{host}:{port}") }, names))
    }

    pub(super) fn into_error(mut self) -> Error {
        // A malformed value that several indexes inherit is one error.
        let mut known = HashSet::new();
        self.problems.retain(|problem| known.insert(problem.clone()));
        match &self.problems[..] {
            [one] => Error::with(Kind::Config, &**one),
            all => {
                let count = all.len();
                Error::with(Kind::Config, format!("{count} errors\n  {}", all.join("\n  ")))
            }
        }
    }
}

fn variables(table: &'static [Setting]) -> HashSet<String> {
    let mut known = HashSet::from([FILE_VARIABLE.to_owned(), DEFAULTS_VARIABLE.to_owned()]);
    for setting in table {
        known.insert(setting.variable());
        known.extend(setting.file_variable());
        known.extend(setting.groxpi.iter().chain(setting.proxpi).map(|name| (*name).to_owned()));
    }
    known
}

/// Returns the edit distance of a name and a known one if it is small.
fn near(name: &str, known: &str) -> Option<usize> {
    Some(strsim::osa_distance(name, known)).filter(|distance| *distance <= (name.len() / 4).max(1))
}

/// Returns the most similar setting for the message about an unknown key, which may have hyphens as in flags.
fn similar_key(key: &str, table: &[Setting]) -> String {
    let name = key.to_ascii_lowercase().replace('-', "_");
    let of = |setting: &Setting| Some((near(&name, setting.name)?, setting.name));
    let similar = table.iter().filter(|_| name.len() <= MAX_SIMILAR).filter_map(of).min();
    similar.map_or_else(String::new, |(_, similar)| format!(" (similar: {similar})"))
}

/// Returns a message about an unknown variable, with the most similar known one.
fn unknown(name: &str, known: &HashSet<String>) -> String {
    let split = |name: &str| {
        let prefix = PREFIXES.iter().position(|prefix| name.starts_with(prefix))?;
        Some((prefix, name[PREFIXES[prefix].len()..].to_owned()))
    };
    let similar = split(name).filter(|(_, rest)| rest.len() <= MAX_SIMILAR).and_then(|(prefix, rest)| {
        let of = |candidate: &String| {
            let (other, end) = split(candidate)?;
            // With equal distance, a variable of the same program is more probable.
            Some((near(&rest, &end)?, other != prefix, candidate.clone()))
        };
        known.iter().filter_map(of).min()
    });
    let similar = similar.map_or_else(String::new, |(_, _, similar)| format!(" (similar: {similar})"));
    format!("{}: unknown setting{similar}", name.escape_debug())
}

/// Reads the files that variables such as `PYPI_PROXY_ADMIN_TOKEN_FILE` name. No message contains the path, because a
/// user may have set the variable to the secret itself.
fn read_secrets(
    table: &'static [Setting],
    env: &HashMap<&str, &str>,
    problems: &mut Vec<String>,
) -> HashMap<&'static str, String> {
    let mut secrets = HashMap::new();
    for setting in table {
        let Some(variable) = setting.file_variable() else { continue };
        let Some(path) = env.get(&*variable) else { continue };
        let other = setting.variable();
        if env.contains_key(&*other) {
            problems.push(format!("{variable}: {other} is set as well"));
        }
        match read(Path::new(path), MAX_SECRET) {
            Ok(text) if text.trim().is_empty() => problems.push(format!("{variable}: the file is empty")),
            Ok(text) if text.trim().contains(char::is_control) => {
                problems.push(format!("{variable}: the file has more than one line, or control characters"));
            }
            Ok(text) => drop(secrets.insert(setting.name, text)),
            Err(error) => problems.push(format!("{variable}: the file can't be read: {error}")),
        }
    }
    secrets
}

/// Returns whether Kubernetes sets this variable in every container for a service named like one of the proxies.
fn is_service_link(name: &str) -> bool {
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    rest == "SERVICE_HOST" || rest == "PORT" || rest.starts_with("SERVICE_PORT") || {
        let numbered = rest.strip_prefix("PORT_").and_then(|rest| rest.split_once('_'));
        numbered.is_some_and(|(port, protocol)| {
            port.bytes().all(|byte| byte.is_ascii_digit())
                && ["TCP", "UDP", "SCTP"].iter().any(|name| protocol.starts_with(name))
        })
    }
}

/// Values by name, those of named indexes, and problems.
type ParsedFile = (BTreeMap<String, Raw>, BTreeMap<String, BTreeMap<String, Raw>>, Vec<String>);

/// Parses a TOML file: setting names with their values, and a message if it is not TOML or for each value of an
/// unsupported type. No message contains a value.
fn parse(text: &str) -> ParsedFile {
    let (mut values, mut sections) = (BTreeMap::new(), BTreeMap::new());
    let mut problems = Vec::new();
    let mut table = text.parse::<toml::Table>().unwrap_or_else(|error| {
        // The message of the TOML parser would quote the line, which may contain a password.
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let line = line.map_or_else(String::new, |line| format!("line {line}: "));
        problems.push(format!("{line}invalid TOML"));
        toml::Table::new()
    });
    let mut read = |table: toml::Table, place: &str| {
        let mut values = BTreeMap::new();
        for (key, value) in table {
            match raw(value) {
                Some(value) => drop(values.insert(key, value)),
                None => {
                    let key = key.escape_debug();
                    problems.push(format!(
                        "{place}{key}: expected a value or an array of values (tables are [index.NAME])"
                    ));
                }
            }
        }
        values
    };
    let mut wrong = Vec::new();
    match table.remove("index") {
        None => {}
        Some(toml::Value::Table(indexes)) => {
            for (name, table) in indexes {
                match (check_index_name(&name), table) {
                    (Ok(()), toml::Value::Table(table)) => {
                        let values = read(table, &format!("[index.{name}]: "));
                        sections.insert(name, values);
                    }
                    (Ok(()), _) => wrong.push(format!("index.{name}: expected a table")),
                    (Err(error), _) => wrong.push(format!("[index.{}]: {error}", name.escape_debug())),
                }
            }
        }
        Some(_) => wrong.push("index: expected tables such as [index.NAME]".into()),
    }
    values.extend(read(table, ""));
    problems.extend(wrong);
    (values, sections, problems)
}

fn raw(value: toml::Value) -> Option<Raw> {
    match value {
        toml::Value::Array(items) => items.into_iter().map(scalar).collect::<Option<_>>().map(Raw::Items),
        value => scalar(value).map(Raw::Text),
    }
}

fn scalar(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(is_on) => Some(is_on.to_string()),
        toml::Value::Datetime(time) => Some(time.to_string()),
        toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}

/// Maximum size of a configuration file in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Maximum size of a file with a secret in bytes.
const MAX_SECRET: u64 = 64 * 1024;
/// Maximum length of an unknown name for which a similar one is searched.
const MAX_SIMILAR: usize = 64;
/// Environment variable with the path of the configuration file.
pub(super) const FILE_VARIABLE: &str = "PYPI_PROXY_CONFIG";
/// Environment variable with the path of a file of defaults.
const DEFAULTS_VARIABLE: &str = "PYPI_PROXY_DEFAULTS";

/// Flags, environment variables, a configuration file and a file of defaults.
#[derive(Clone, Default)]
pub struct Sources {
    pub(super) flags: Vec<(String, String)>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) file: Option<(PathBuf, String)>,
    pub(super) defaults: Option<(PathBuf, String)>,
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

    /// Sets the path and text of a file whose values replace built-in defaults. All other sources take precedence.
    #[must_use]
    pub fn defaults(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.defaults = Some((path.into(), text.into()));
        self
    }

    /// Reads the configuration file: at this path, otherwise at that of `PYPI_PROXY_CONFIG`, otherwise
    /// `pypi-proxy/config.toml` in the configuration directory of the user (`XDG_CONFIG_HOME` or `~/.config`; `APPDATA`
    /// on Windows) or in `/etc`, except on Windows. A missing file is an error only if it was named. Also reads the file of
    /// defaults that `PYPI_PROXY_DEFAULTS` names.
    ///
    /// # Errors
    ///
    /// Fails if a named or existing file can't be read, or is larger than 1 MiB ([`Error::is_config`]).
    pub fn find_file(mut self, path: Option<&Path>) -> Result<Self, Error> {
        if let Some(path) = self.variable(DEFAULTS_VARIABLE).map(PathBuf::from) {
            let text = read(&path, MAX_FILE).map_err(|error| unreadable(&path, error))?;
            self = self.defaults(path, text);
        }
        let named = path.map(Path::to_owned).or_else(|| self.variable(FILE_VARIABLE).map(PathBuf::from));
        if let Some(path) = named {
            let text = read(&path, MAX_FILE).map_err(|error| unreadable(&path, error))?;
            return Ok(self.file(path, text));
        }
        for path in self.default_paths() {
            match read(&path, MAX_FILE) {
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
        // Every user of Windows can create folders on its drive.
        let (user, system) = match cfg!(windows) {
            true => (self.variable("APPDATA"), None),
            false => (self.variable("XDG_CONFIG_HOME"), Some(PathBuf::from("/etc"))),
        };
        let user = user.map(PathBuf::from).or_else(home);
        user.into_iter().chain(system).map(|folder| folder.join(FILE)).collect()
    }

    /// Returns the value of a variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.env.iter().rev().find(|(variable, _)| variable == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }
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
