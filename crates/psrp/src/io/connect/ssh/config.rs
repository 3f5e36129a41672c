//! Settings of OpenSSH's client configuration (`ssh_config`).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wildmatch::WildMatch;

use super::Ssh;
use super::known_hosts::is_listed;
use crate::Error;
use crate::error::Kind;

/// Maximum nesting depth of included files.
const MAX_INCLUDES: usize = 16;

/// Maximum number of jump hosts that are reached through another one.
const MAX_JUMPS: usize = 4;

impl Ssh {
    /// Creates a connector for `[USER@]HOST[:PORT]` with the settings of an OpenSSH configuration file, by default
    /// `~/.ssh/config` if it exists. An IPv6 address with a port is in brackets.
    ///
    /// `HostName`, `Port`, `User`, `IdentityFile`, `ProxyJump` and `Include` are read, in blocks of `Host` and of `Match`
    /// with `all`, `host` or `originalhost`. Other blocks of `Match` do not apply, and other settings are ignored. The
    /// paths of `Include` are relative to the file.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_io`] if a file cannot be read, and with [`Error::is_invalid_text`] if a setting or the
    /// destination is not valid.
    pub fn from_config(destination: &str, file: Option<&Path>) -> Result<Self, Error> {
        let default = || Some(env::home_dir()?.join(".ssh/config")).filter(|file| file.exists());
        let file = file.map(ToOwned::to_owned).or_else(default);
        configured(destination, file.as_deref(), 0)
    }
}

/// `depth` is the number of hosts for which this one is a jump host.
fn configured(destination: &str, file: Option<&Path>, depth: usize) -> Result<Ssh, Error> {
    let Destination { user, host, port } = Destination::parse(destination)?;
    let mut settings = HostSettings::default();
    if let Some(file) = file {
        settings.read(file, host, 0)?;
    }
    let name = settings.host_name.map_or_else(|| host.to_owned(), |name| expand(&name, &[('h', host)]));
    let user = user.map(ToOwned::to_owned).or(settings.user);
    let mut ssh = Ssh::new(name.as_str());
    if let Some(port) = port.or(settings.port) {
        ssh = ssh.port(port);
    }
    if let Some(user) = &user {
        ssh = ssh.user(user);
    }
    for file in &settings.identity_files {
        let home = home().to_string_lossy().into_owned();
        let local = super::local_user().unwrap_or_default();
        let remote = user.as_ref().unwrap_or(&local);
        let tokens = [('d', home.as_str()), ('h', &name), ('r', remote), ('u', &local)];
        let path = expand(file, &tokens);
        ssh = ssh.key_file(below_home(&path));
    }
    let mut jump = None;
    for hop in settings.jump.iter().flat_map(|hops| hops.split(',')).map(str::trim) {
        let hop = hop.strip_prefix("ssh://").unwrap_or(hop);
        // A jump host in a block for all hosts does not apply to itself.
        if hop == "none" || Destination::parse(hop)?.host == host {
            continue;
        }
        if depth == MAX_JUMPS {
            return Err(Error::with(Kind::InvalidText, format!("too many jump hosts behind {host}")));
        }
        let mut server = configured(hop, file, depth + 1)?;
        if let Some(previous) = jump {
            server = server.jump(previous);
        }
        jump = Some(server);
    }
    Ok(match jump {
        Some(jump) => ssh.jump(jump),
        None => ssh,
    })
}

/// `[USER@]HOST[:PORT]`.
struct Destination<'a> {
    user: Option<&'a str>,
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Destination<'a> {
    fn parse(text: &'a str) -> Result<Self, Error> {
        let invalid =
            || Error::with(Kind::InvalidText, "an SSH server must have the form [USER@]HOST[:PORT]");
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, text),
        };
        let (host, port) = if let Some(rest) = place.strip_prefix('[') {
            let (host, port) = rest.split_once(']').ok_or_else(invalid)?;
            let port = port.strip_prefix(':').or_else(|| port.is_empty().then_some(""));
            (host, port.ok_or_else(invalid)?)
        } else {
            match place.split_once(':') {
                // More than one colon: an IPv6 address without a port.
                Some((_, port)) if port.contains(':') => (place, ""),
                Some((host, port)) => (host, port),
                None => (place, ""),
            }
        };
        if host.is_empty() || user == Some("") {
            return Err(invalid());
        }
        let port = match port {
            "" => None,
            port => Some(port.parse().map_err(|_| invalid())?),
        };
        Ok(Self { user, host, port })
    }
}

/// Settings of one host. The first value in the files wins.
#[derive(Default)]
struct HostSettings {
    host_name: Option<String>,
    port: Option<u16>,
    user: Option<String>,
    identity_files: Vec<String>,
    jump: Option<String>,
}

impl HostSettings {
    /// Adds the settings of a file.
    fn read(&mut self, file: &Path, host: &str, depth: usize) -> Result<(), Error> {
        let text = fs::read_to_string(file).map_err(|error| {
            Error::with(Kind::Io, format!("can't read {}", file.display())).caused_by(error)
        })?;
        let mut is_active = true;
        for (index, line) in text.lines().enumerate() {
            let invalid = || Error::with(Kind::InvalidText, format!("{}:{}", file.display(), index + 1));
            let words = words(line).ok_or_else(invalid)?;
            let Some((keyword, arguments)) = words.split_first() else { continue };
            let first = || arguments.first().cloned().ok_or_else(invalid);
            match &**keyword {
                "host" => is_active = is_listed(arguments.iter().map(String::as_str), host),
                "match" => is_active = self.matches(arguments, host),
                _ if !is_active => {}
                "include" if depth < MAX_INCLUDES => {
                    let directory = file.parent().unwrap_or(Path::new(""));
                    for path in arguments.iter().flat_map(|pattern| included(directory, pattern)) {
                        self.read(&path, host, depth + 1)?;
                    }
                }
                "include" => return Err(invalid()),
                "hostname" => set(&mut self.host_name, first()?),
                "port" => set(&mut self.port, first()?.parse().map_err(|_| invalid())?),
                "user" => set(&mut self.user, first()?),
                "identityfile" => self.identity_files.extend(Some(first()?).filter(|file| file != "none")),
                "proxyjump" => set(&mut self.jump, first()?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns whether a block of `Match` applies. Blocks with other criteria do not.
    fn matches(&self, criteria: &[String], host: &str) -> bool {
        let words: Vec<_> = criteria.iter().map(String::as_str).collect();
        match words[..] {
            ["all"] => true,
            ["originalhost", patterns] => is_listed(patterns.split(','), host),
            ["host", patterns] => {
                let name = self.host_name.as_deref().map(|name| expand(name, &[('h', host)]));
                is_listed(patterns.split(','), name.as_deref().unwrap_or(host))
            }
            _ => false,
        }
    }
}

fn set<T>(setting: &mut Option<T>, value: T) {
    setting.get_or_insert(value);
}

/// Splits a line into its keyword in lower case and the arguments. `None` if a quotation mark is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Some(Vec::new());
    }
    let end = line.find(|char: char| char.is_whitespace() || char == '=').unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let mut rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
    let mut words = vec![keyword.to_ascii_lowercase()];
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Some(words)
}

/// Returns the files of an `Include`, whose last component can have wildcards.
fn included(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let path = directory.join(below_home(pattern));
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str)) else {
        return Vec::new();
    };
    if !name.contains(['*', '?']) {
        return Vec::from_iter(path.is_file().then_some(path));
    }
    let pattern = WildMatch::new(name);
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| pattern.matches(name)))
        .map(|entry| entry.path())
        .collect();
    files.sort_unstable();
    files
}

/// Replaces tokens such as `%h`. `%%` is a percent sign; unknown tokens remain.
fn expand(text: &str, tokens: &[(char, &str)]) -> String {
    let mut parts = text.split('%');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        let token = part.chars().next();
        match tokens.iter().find(|(name, _)| Some(*name) == token) {
            Some((name, value)) => expanded.extend([*value, &part[name.len_utf8()..]]),
            None if part.is_empty() => expanded.extend(["%", parts.next().unwrap_or_default()]),
            None => expanded.extend(["%", part]),
        }
    }
    expanded
}

fn home() -> PathBuf {
    env::home_dir().unwrap_or_default()
}

/// Replaces `~/` at the start of a path.
fn below_home(path: &str) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| path.into(), |rest| home().join(rest))
}
