//! Selects the value of each setting from the first source that has one, and collects all errors.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use super::file;
use super::origin::{Dialect, Origin, SettingValue};
use super::sources::{FILE_VARIABLE, Sources};
use super::table::{PREFIX, Setting};
use super::value::{Listen, Raw, Value};
use crate::Error;
use crate::error::Kind;

const PREFIXES: [&str; 3] = [PREFIX, "GROXPI_", "PROXPI_"];

pub(super) struct Layers<'a> {
    table: &'static [Setting],
    flags: HashMap<&'a str, &'a str>,
    /// Without empty values.
    env: HashMap<&'a str, &'a str>,
    file: BTreeMap<String, Raw>,
    path: PathBuf,
    pub(super) problems: Vec<String>,
}

impl<'a> Layers<'a> {
    /// Indexes the sources and reports unknown settings.
    pub(super) fn new(table: &'static [Setting], sources: &'a Sources) -> Self {
        let mut problems = Vec::new();
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
                let is_ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
                if is_ours && !is_service_link(name) {
                    problems.push(format!("{}: unknown setting", name.escape_debug()));
                }
                continue;
            }
            match value.to_str() {
                Some("") => drop(env.remove(name)),
                Some(value) => drop(env.insert(name, value)),
                None => problems.push(format!("{name}: not valid UTF-8")),
            }
        }
        let mut path = PathBuf::new();
        let mut values = BTreeMap::new();
        if let Some((file_path, text)) = &sources.file {
            path.clone_from(file_path);
            match file::read(text) {
                Ok((found, wrong)) => {
                    values = found;
                    problems
                        .extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", file_path.display())));
                }
                Err(wrong) => problems.push(format!("{}: {wrong}", file_path.display())),
            }
            for key in values.keys().filter(|key| !by_name(key)) {
                problems.push(format!("{}: unknown setting {}", file_path.display(), key.escape_debug()));
            }
        }
        Self { table, flags, env, file: values, path, problems }
    }

    /// Returns the value of a setting, or `None` after reporting that it is malformed.
    pub(super) fn take<T: Value>(&mut self, index: usize) -> Option<SettingValue<T>> {
        let setting = &self.table[index];
        let (raw, origin, dialect) = self.first(setting);
        match T::read(&raw, dialect) {
            Some(value) => Some(SettingValue { value, origin }),
            None => {
                let key = if matches!(origin, Origin::File(_)) {
                    format!(" {}:", setting.name)
                } else {
                    String::new()
                };
                self.problems.push(format!("{origin}:{key} expected {}", T::SYNTAX));
                None
            }
        }
    }

    fn first(&self, setting: &Setting) -> (Raw, Origin, Dialect) {
        let text = |value: &str| Raw::Text(value.to_owned());
        if let Some(value) = self.flags.get(setting.name) {
            return (text(value), Origin::Flag(setting.name.replace('_', "-")), Dialect::PypiProxy);
        }
        if let Some((name, value)) = self.env.get_key_value(&*setting.variable()) {
            return (text(value), Origin::Env((*name).to_owned()), Dialect::PypiProxy);
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
        if let Some(raw) = self.file.get(setting.name) {
            return (raw.clone(), Origin::File(self.path.clone()), Dialect::PypiProxy);
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

    /// Combines all problems into one error.
    pub(super) fn into_error(self) -> Error {
        match &self.problems[..] {
            [one] => Error::with(Kind::Config, &**one),
            all => {
                let count = all.len();
                Error::with(Kind::Config, format!("{count} errors\n  {}", all.join("\n  ")))
            }
        }
    }
}

/// Returns all known variables.
fn variables(table: &'static [Setting]) -> HashSet<String> {
    let mut known = HashSet::from([FILE_VARIABLE.to_owned()]);
    for setting in table {
        known.insert(setting.variable());
        known.extend(setting.groxpi.iter().chain(setting.proxpi).map(|name| (*name).to_owned()));
    }
    known
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
