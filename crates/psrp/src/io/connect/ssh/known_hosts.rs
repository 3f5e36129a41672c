//! Known-hosts files of OpenSSH.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use aws_lc_rs::hmac;
use wildmatch::WildMatch;

use crate::error::Kind;
use crate::{Error, b64};

/// Default port, which is not part of the host name in the files.
const DEFAULT_PORT: u16 = 22;

/// Default files of OpenSSH: the user's, then the system's.
pub(super) fn default_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some(home) = std::env::home_dir() {
        files.extend(["known_hosts", "known_hosts2"].map(|name| home.join(".ssh").join(name)));
    }
    let system = match cfg!(windows) {
        true => std::env::var_os("ProgramData").map(|data| Path::new(&data).join("ssh")),
        false => Some(PathBuf::from("/etc/ssh")),
    };
    if let Some(system) = system {
        files.extend(["ssh_known_hosts", "ssh_known_hosts2"].map(|name| system.join(name)));
    }
    files
}

/// Entries of all files that apply to one host.
#[derive(Clone)]
pub(super) struct KnownHosts {
    host: String,
    port: u16,
    /// Name of the host as used in the files.
    pub(super) name: String,
    /// Files in order of precedence.
    pub(super) files: Vec<PathBuf>,
    entries: Vec<HostEntry>,
}

#[derive(Clone)]
struct HostEntry {
    marker: Marker,
    kind: Box<str>,
    /// `None` if the key is malformed.
    key: Option<Vec<u8>>,
    file: usize,
    line: usize,
    /// The line has no port but the connection's is not 22. Such an entry can confirm a key but not contradict it.
    without_port: bool,
}

impl KnownHosts {
    /// Reads the files. Missing files count as empty. Fails if an existing file cannot be read, because it might revoke
    /// a key.
    pub(super) fn read(files: Vec<PathBuf>, host: &str, port: u16) -> Result<Self, Error> {
        let host = host.to_ascii_lowercase();
        let name = if port == DEFAULT_PORT { host.clone() } else { format!("[{host}]:{port}") };
        let mut entries = Vec::new();
        for (file, path) in files.iter().enumerate() {
            let bytes = match fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let detail = format!("can't read known hosts from {}", path.display());
                    return Err(Error::with(Kind::Io, detail).caused_by(error));
                }
            };
            for (index, text) in String::from_utf8_lossy(&bytes).lines().enumerate() {
                let Some(line) = Line::parse(text) else { continue };
                let matches_name = line.applies_to(&name);
                if matches_name || (port != DEFAULT_PORT && line.applies_to(&host)) {
                    entries.push(HostEntry {
                        marker: line.marker,
                        kind: line.kind.into(),
                        key: line.blob(),
                        file,
                        line: index + 1,
                        without_port: !matches_name,
                    });
                }
            }
        }
        Ok(Self { host, port, name, files, entries })
    }

    /// Returns the types of the host's known keys. At least one must be offered, or the server never presents a known
    /// key.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| entry.marker == Marker::Key).map(|entry| &*entry.kind)
    }

    /// Returns whether a key in SSH wire format is known, or the reason why it must be refused even if unknown keys are
    /// accepted.
    pub(super) fn check(&self, key: &[u8]) -> Result<bool, String> {
        let location = |entry: &HostEntry| format!("{}:{}", self.files[entry.file].display(), entry.line);
        let of = |marker| self.entries.iter().filter(move |entry| entry.marker == marker);
        // An unreadable revoked key might be this one.
        let is_revoked = |entry: &&HostEntry| entry.key.as_deref().is_none_or(|revoked| revoked == key);
        if let Some(entry) = of(Marker::Revoked).find(is_revoked) {
            return Err(format!("is revoked by {}", location(entry)));
        }
        if of(Marker::Key).any(|entry| entry.key.as_deref() == Some(key)) {
            return Ok(true);
        }
        if let Some(entry) = of(Marker::Key).find(|entry| !entry.without_port) {
            return Err(format!("differs from the known key in {}", location(entry)));
        }
        match of(Marker::CertAuthority).next() {
            Some(entry) => Err(format!(
                "is unknown; {} names a certificate authority, but host certificates are not supported",
                location(entry)
            )),
            None => Ok(false),
        }
    }

    /// Adds a key of the host to the first file and reads the files again. Creates the file and its directory, accessible
    /// only to the user, if they do not exist. Fails if the file cannot be written.
    pub(super) fn add(self, kind: &str, key: &[u8]) -> Result<Self, Error> {
        let Some(path) = self.files.first() else {
            return Err(Error::with(Kind::Unsupported, "no known-hosts file is configured"));
        };
        let line = format!("{} {kind} {}\n", self.name, b64::encode_to_string(key));
        append(path, &line).map_err(|error| {
            let detail = format!("can't write the host key to {}", path.display());
            Error::with(Kind::Io, detail).caused_by(error)
        })?;
        Self::read(self.files, &self.host, self.port)
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    let mut directory = fs::DirBuilder::new();
    directory.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        options.mode(0o600);
        directory.mode(0o700);
    }
    if let Some(parent) = path.parent() {
        directory.create(parent)?;
    }
    let mut file = options.open(path)?;
    let mut before = Vec::new();
    file.read_to_end(&mut before)?;
    let end = if before.last().is_none_or(|last| *last == b'\n') { "" } else { "\n" };
    // A single write, so that lines appended by other programs do not interleave.
    file.write_all(format!("{end}{line}").as_bytes())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Key,
    /// Authority for host certificates.
    CertAuthority,
    Revoked,
}

struct Line<'a> {
    marker: Marker,
    hosts: &'a str,
    /// Key type, such as `ssh-ed25519`.
    kind: &'a str,
    key: &'a str,
}

impl<'a> Line<'a> {
    /// Parses a line. Returns `None` for comments, empty lines and incomplete lines.
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().filter(|word| !word.starts_with('#'))?;
        let (marker, hosts) = match first {
            "@cert-authority" => (Marker::CertAuthority, words.next()?),
            "@revoked" => (Marker::Revoked, words.next()?),
            other if other.starts_with('@') => return None,
            hosts => (Marker::Key, hosts),
        };
        Some(Self { marker, hosts, kind: words.next()?, key: words.next()? })
    }

    /// Returns the key in SSH wire format, or `None` if it is not valid Base64.
    fn blob(&self) -> Option<Vec<u8>> {
        b64::decode_to_box(self.key.as_bytes()).map(Vec::from)
    }

    /// Returns whether the line applies to a host. `name` is in lower case, and `[name]:port` if the port is not 22.
    fn applies_to(&self, name: &str) -> bool {
        if let Some(hashed) = self.hosts.strip_prefix("|1|") {
            return is_hash_of(hashed, name).unwrap_or(false);
        }
        is_listed(self.hosts.split(','), name)
    }
}

/// Returns whether a host matches a list of patterns.
pub(super) fn is_listed<'a>(patterns: impl Iterator<Item = &'a str>, name: &str) -> bool {
    let matches = |pattern| WildMatch::new_case_insensitive(pattern).matches(name);
    let mut found = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            // A negated pattern excludes the host even if others match.
            Some(pattern) if matches(pattern) => return false,
            Some(_) => {}
            None => found |= matches(pattern),
        }
    }
    found
}

/// Returns whether `hashed` (`salt|hash` in Base64) is the hash of the name.
fn is_hash_of(hashed: &str, name: &str) -> Option<bool> {
    let (salt, hash) = hashed.split_once('|')?;
    let salt = b64::decode_to_box(salt.as_bytes())?;
    let hash = b64::decode_to_box(hash.as_bytes())?;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
    Some(hmac::verify(&key, name.as_bytes(), &hash).is_ok())
}
