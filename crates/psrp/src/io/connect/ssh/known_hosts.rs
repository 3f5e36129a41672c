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
#[derive(Debug)]
pub(super) struct KnownHosts {
    /// Name of the host as used in the files.
    pub(super) name: String,
    /// Files in order of precedence.
    pub(super) files: Vec<PathBuf>,
    entries: Vec<HostEntry>,
}

#[derive(Debug)]
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
        Ok(Self { name, files, entries })
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

    /// Returns the first file and the line for a new key of the host.
    pub(super) fn new_line(&self, kind: &str, key: &[u8]) -> Result<(PathBuf, String), Error> {
        let Some(path) = self.files.first() else {
            return Err(Error::with(Kind::Unsupported, "no known-hosts file is configured"));
        };
        let line = format!("{} {kind} {}\n", self.name, b64::encode_to_string(key));
        Ok((path.clone(), line))
    }

    /// Adds a key that was written to this line of the first file.
    pub(super) fn add(&mut self, kind: &str, key: Vec<u8>, line: usize) {
        self.entries.push(HostEntry {
            marker: Marker::Key,
            kind: kind.into(),
            key: Some(key),
            file: 0,
            line,
            without_port: false,
        });
    }
}

/// Appends a line to a file and returns its line number. Creates the file and its directory, accessible only to the
/// user, if they do not exist. Fails if the file cannot be written.
pub(super) fn append(path: &Path, text: &str) -> Result<usize, Error> {
    write_line(path, text).map_err(|error| {
        let detail = format!("can't write the host key to {}", path.display());
        Error::with(Kind::Io, detail).caused_by(error)
    })
}

fn write_line(path: &Path, text: &str) -> io::Result<usize> {
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
    let ended = before.last().is_none_or(|last| *last == b'\n');
    let line = if ended { text.to_owned() } else { format!("\n{text}") };
    // A single write, so that lines appended by other programs do not interleave.
    file.write_all(line.as_bytes())?;
    Ok(before.iter().filter(|byte| **byte == b'\n').count() + 1 + usize::from(!ended))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Key,
    /// Authority for host certificates.
    CertAuthority,
    Revoked,
}

#[derive(Debug)]
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

#[cfg(test)]
mod tests {
    use super::*;

    struct TempFile(PathBuf);

    impl TempFile {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("psrp-known-hosts-{}-{name}", std::process::id()));
            fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn key_is_known_changed_revoked_or_unknown() {
        let text = "# comment\n\
            a.example.org ssh-ed25519 AAAA\n\
            a.example.org ssh-rsa BBBB\n\
            [a.example.org]:2222 ssh-ed25519 CCCC\n\
            @revoked * ssh-ed25519 DDDD\n\
            d.example.org ssh-ed25519 DDDD\n\
            @cert-authority c.example.org ssh-ed25519 EEEE\n\
            @revoked broken.example.org ssh-ed25519 *\n\
            broken.example.org ssh-ed25519 AAAA\n";
        let file = TempFile::new("verdicts", text);
        let (a, b, c) = ([0; 3], [4, 16, 65], [8, 32, 130]);
        let d = [12, 48, 195];
        let authority =
            "is unknown; @:7 names a certificate authority, but host certificates are not supported";
        for (host, port, key, expected) in [
            ("A.example.org", 22, &a, Ok(true)),
            ("a.example.org", 22, &b, Ok(true)),
            ("a.example.org", 22, &c, Err("differs from the known key in @:2")),
            ("a.example.org", 2222, &c, Ok(true)),
            ("a.example.org", 2222, &a, Ok(true)),
            ("a.example.org", 2222, &[9, 9, 9], Err("differs from the known key in @:4")),
            ("a.example.org", 2223, &a, Ok(true)),
            ("a.example.org", 2223, &c, Ok(false)),
            ("b.example.org", 22, &a, Ok(false)),
            ("b.example.org", 22, &d, Err("is revoked by @:5")),
            ("d.example.org", 22, &d, Err("is revoked by @:5")),
            ("c.example.org", 22, &a, Err(authority)),
            ("broken.example.org", 22, &a, Err("is revoked by @:8")),
        ] {
            let found = KnownHosts::read(vec![file.0.clone()], host, port).unwrap().check(key);
            let expected = expected.map_err(|text| text.replace('@', &file.0.display().to_string()));
            assert_eq!(found, expected, "{host} {port} {key:?}");
        }
    }

    #[test]
    fn added_key_is_known_and_written() {
        let file = TempFile::new("added", "other ssh-rsa AAAA");
        let mut hosts = KnownHosts::read(vec![file.0.clone()], "new.example.org", 2222).unwrap();
        assert_eq!(hosts.check(&[1, 2, 3]), Ok(false));
        let (path, line) = hosts.new_line("ssh-ed25519", &[1, 2, 3]).unwrap();
        hosts.add("ssh-ed25519", vec![1, 2, 3], append(&path, &line).unwrap());
        assert_eq!(hosts.check(&[1, 2, 3]), Ok(true));
        let differs = format!("differs from the known key in {}:2", file.0.display());
        assert_eq!(hosts.check(&[1, 2, 4]), Err(differs));
        let text = fs::read_to_string(&file.0).unwrap();
        assert_eq!(text, "other ssh-rsa AAAA\n[new.example.org]:2222 ssh-ed25519 AQID\n");
    }

    #[test]
    fn unreadable_file_is_an_error_and_missing_file_is_empty() {
        let hosts = KnownHosts::read(vec!["not/there".into()], "host", 22).unwrap();
        assert_eq!(hosts.check(&[]), Ok(false));
        let error = KnownHosts::read(vec![std::env::temp_dir()], "host", 22).unwrap_err();
        assert!(error.is_io(), "{error}");
    }

    #[test]
    fn patterns_match_like_openssh() {
        for (hosts, name, about) in [
            ("server", "server", true),
            ("Server.Example.ORG", "server.example.org", true),
            ("server", "server2", false),
            ("other,server", "server", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("192.0.2.?", "192.0.2.7", true),
            ("192.0.2.?", "192.0.2.77", false),
            ("*.example.org,!bad.example.org", "bad.example.org", false),
            ("!bad.example.org,*.example.org", "good.example.org", true),
            ("!bad.example.org", "good.example.org", false),
            ("[server]:2222", "[server]:2222", true),
            ("[server]:2222", "server", false),
            ("[*]:2222", "[server]:2222", true),
            ("*", "anything", true),
            ("", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ] {
            let line = Line { marker: Marker::Key, hosts, kind: "", key: "" };
            assert_eq!(line.applies_to(name), about, "{hosts} {name}");
        }
    }

    #[test]
    fn hashed_names_match_like_openssh() {
        // Written by `ssh-keygen -H`.
        for (hosts, name) in [
            ("|1|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM=", "server.example.org"),
            ("|1|i5zmp3y7Ozrj7zT32opihG1cd+E=|rH1IvF8Czpyb8co84YfDZ3QKNaI=", "[server.example.org]:2222"),
        ] {
            let line = Line { marker: Marker::Key, hosts, kind: "", key: "" };
            assert!(line.applies_to(name));
            assert!(!line.applies_to("server.example.com"));
        }
        for broken in
            ["|1|", "|1|AAAA", "|1|*|*", "|2|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM="]
        {
            let line = Line { marker: Marker::Key, hosts: broken, kind: "", key: "" };
            assert!(!line.applies_to("server.example.org"), "{broken}");
        }
    }

    #[test]
    fn comments_and_incomplete_lines_are_skipped() {
        for text in [
            "",
            "   ",
            "# comment",
            "host",
            "host ssh-ed25519",
            "@revoked host ssh-ed25519",
            "@new host t AAAA",
        ] {
            assert!(Line::parse(text).is_none(), "{text}");
        }
        let line = Line::parse(" @revoked\tb,a  ssh-rsa AAAA what it is\r\n").unwrap();
        assert_eq!(
            (line.marker, line.hosts, line.kind, line.key),
            (Marker::Revoked, "b,a", "ssh-rsa", "AAAA")
        );
    }
}
