//! One value for each setting, from the first place that has one, and everything that is wrong with them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use super::file;
use super::origin::{Dialect, Origin, Set};
use super::sources::{FILE_VARIABLE, Sources};
use super::table::{PREFIX, Setting};
use super::value::{Listen, Raw, Value};
use crate::Error;
use crate::error::Kind;

const PREFIXES: [&str; 3] = [PREFIX, "GROXPI_", "PROXPI_"];

pub(super) struct Layers<'a> {
    table: &'static [Setting],
    flags: HashMap<&'a str, &'a str>,
    /// Those that are text and not empty.
    env: HashMap<&'a str, &'a str>,
    file: BTreeMap<String, Raw>,
    path: PathBuf,
    pub(super) problems: Vec<String>,
}

impl<'a> Layers<'a> {
    /// Sorts what there is, and finds what is not known.
    pub(super) fn new(table: &'static [Setting], sources: &'a Sources) -> Self {
        let mut problems = Vec::new();
        let by_name = |name: &str| table.iter().any(|setting| setting.name == name);
        let mut flags = HashMap::new();
        for (name, value) in &sources.flags {
            if by_name(name) {
                flags.insert(&**name, &**value);
            } else {
                problems.push(format!("--{}: there is no such setting", name.escape_debug()));
            }
        }
        let mut env = HashMap::new();
        let known = variables(table);
        for (name, value) in &sources.env {
            // Other programs may have names that are no text.
            let Some(name) = name.to_str() else { continue };
            let is_known = known.contains_key(name);
            if !is_known {
                let is_ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
                if is_ours && !is_service_link(name) {
                    let name = name.escape_debug();
                    problems.push(format!(
                        "{name}: there is no such setting{}",
                        similar(&known, &name.to_string())
                    ));
                }
                continue;
            }
            match value.to_str() {
                Some("") => drop(env.remove(name)),
                Some(value) => drop(env.insert(name, value)),
                None => problems.push(format!("{name}: it is no text in UTF-8")),
            }
        }
        let mut path = PathBuf::new();
        let mut values = BTreeMap::new();
        if let Some((place, text)) = &sources.file {
            path.clone_from(place);
            match file::read(text) {
                Ok((found, wrong)) => {
                    values = found;
                    problems.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", place.display())));
                }
                Err(wrong) => problems.push(format!("{}: {wrong}", place.display())),
            }
            for key in values.keys().filter(|key| !by_name(key)) {
                problems.push(format!("{}: there is no setting {}", place.display(), key.escape_debug()));
            }
        }
        Self { table, flags, env, file: values, path, problems }
    }

    /// The value of a setting; `None` after noting what is wrong with it.
    pub(super) fn take<T: Value>(&mut self, index: usize) -> Option<Set<T>> {
        let setting = &self.table[index];
        let (raw, origin, dialect) = self.first(setting);
        match T::read(&raw, dialect) {
            Some(value) => Some(Set { value, origin }),
            None => {
                let key = if matches!(origin, Origin::File(_)) { setting.name } else { "it" };
                self.problems.push(format!("{origin}: {key} takes {}", T::FORM));
                None
            }
        }
    }

    fn first(&self, setting: &Setting) -> (Raw, Origin, Dialect) {
        let text = |value: &str| Raw::Text(value.to_owned());
        if let Some(value) = self.flags.get(setting.name) {
            return (text(value), Origin::Flag(setting.name.replace('_', "-")), Dialect::Own);
        }
        if let Some((name, value)) = self.env.get_key_value(&*setting.variable()) {
            return (text(value), Origin::Env((*name).to_owned()), Dialect::Own);
        }
        if setting.name == "listen"
            && let Some((value, names)) = self.host_and_port()
        {
            return (Raw::Text(value), Origin::Env(names.to_owned()), Dialect::Groxpi);
        }
        for (names, dialect) in [(setting.groxpi, Dialect::Groxpi), (setting.proxpi, Dialect::Proxpi)] {
            for name in names {
                if let Some(value) = self.env.get(name) {
                    // This one turns colours off by being there.
                    let value = if *name == "NO_COLOR" { "false" } else { value };
                    return (text(value), Origin::Env((*name).to_owned()), dialect);
                }
            }
        }
        if let Some(raw) = self.file.get(setting.name) {
            return (raw.clone(), Origin::File(self.path.clone()), Dialect::Own);
        }
        (text(setting.default), Origin::Default, Dialect::Own)
    }

    /// Two variables that make one value. Who sets one of them wants to be reached from elsewhere.
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
        // A port that holds a colon would become part of the host.
        let port = if port.bytes().all(|byte| byte.is_ascii_digit()) { port } else { "?".into() };
        Some((if is_bare { format!("[{host}]:{port}") } else { format!("{host}:{port}") }, names))
    }

    /// All that is wrong, as one error.
    pub(super) fn into_error(self) -> Error {
        match &self.problems[..] {
            [one] => Error::with(Kind::Config, &**one),
            all => {
                let count = all.len();
                Error::with(Kind::Config, format!("{count} of them\n  {}", all.join("\n  ")))
            }
        }
    }
}

/// All variables that are known, with the names of their settings.
fn variables(table: &'static [Setting]) -> HashMap<String, &'static str> {
    let mut known = HashMap::from([(FILE_VARIABLE.to_owned(), "config")]);
    for setting in table {
        known.insert(setting.variable(), setting.name);
        let others = setting.groxpi.iter().chain(setting.proxpi);
        known.extend(others.map(|name| ((*name).to_owned(), setting.name)));
    }
    known
}

/// What Kubernetes sets in every container for a service that is called as one of the proxies.
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

/// A hint at the variable that was meant.
fn similar(known: &HashMap<String, &'static str>, name: &str) -> String {
    let near = known.keys().map(|other| (distance(other, name), other)).min();
    near.filter(|(distance, _)| *distance <= 3)
        .map_or_else(String::new, |(_, other)| format!(" ({other} is one)"))
}

/// How many letters have to be changed, added or taken away.
fn distance(a: &str, b: &str) -> usize {
    // Nothing that long is a typing error.
    if a.len().abs_diff(b.len()) > 3 || b.len() > 100 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
