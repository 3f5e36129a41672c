//! Whose keys are known: the files that OpenSSH keeps them in.

mod line;

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use self::line::{Line, Marker};
use crate::Error;
use crate::error::Kind;

/// The port that stands in no name.
const PORT: u16 = 22;

/// The files that OpenSSH looks into: those of the user, then those of the system.
pub(super) fn default_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some(home) = std::env::home_dir() {
        files.extend(["known_hosts", "known_hosts2"].map(|name| home.join(".ssh").join(name)));
    }
    let system = match std::env::var_os("ProgramData") {
        Some(data) if cfg!(windows) => Path::new(&data).join("ssh"),
        _ => PathBuf::from("/etc/ssh"),
    };
    files.extend(["ssh_known_hosts", "ssh_known_hosts2"].map(|name| system.join(name)));
    files
}

/// What the files say about one host.
#[derive(Debug)]
pub(super) struct KnownHosts {
    name: String,
    files: Vec<PathBuf>,
    entries: Vec<Entry>,
}

/// A line about the host.
#[derive(Debug)]
struct Entry {
    marker: Marker,
    kind: Box<str>,
    /// `None` if it can't be read.
    key: Option<Vec<u8>>,
    file: usize,
    line: usize,
    /// The line is about the host without its port, which is weaker: it can confirm a key but not contradict it.
    without_port: bool,
}

/// What is known about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is a key of the host.
    Known,
    /// Nothing is known about the host.
    Unknown,
    /// The host has other keys, such as the one at this place.
    Changed(String),
    /// This place says that it must not be accepted.
    Revoked(String),
    /// All that is known is who signs certificates of the host, at this place.
    Authority(String),
}

impl KnownHosts {
    /// Reads the files; one that is not there is empty.
    ///
    /// # Errors
    ///
    /// Fails if a file is there but can't be read: it might say that a key is revoked.
    pub(super) fn read(files: Vec<PathBuf>, host: &str, port: u16) -> Result<Self, Error> {
        let host = host.to_ascii_lowercase();
        let name = if port == PORT { host.clone() } else { format!("[{host}]:{port}") };
        let mut entries = Vec::new();
        for (file, path) in files.iter().enumerate() {
            let bytes = match fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let detail = format!("the known hosts of {} can't be read", path.display());
                    return Err(Error::with(Kind::Io, detail).caused_by(error));
                }
            };
            for (index, text) in String::from_utf8_lossy(&bytes).lines().enumerate() {
                let Some(line) = Line::parse(text) else { continue };
                let about = line.is_about(&name);
                if about || (port != PORT && line.is_about(&host)) {
                    entries.push(Entry {
                        marker: line.marker,
                        kind: line.kind.into(),
                        key: line.blob(),
                        file,
                        line: index + 1,
                        without_port: !about,
                    });
                }
            }
        }
        Ok(Self { name, files, entries })
    }

    /// How the files call the host.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The files, most important first.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The types of the keys of the host. One of them should be asked for, or a key that is known is never shown.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| entry.marker == Marker::Key).map(|entry| &*entry.kind)
    }

    /// What is known about a key, as SSH writes it on the wire.
    pub(super) fn check(&self, key: &[u8]) -> Verdict {
        let place = |entry: &Entry| format!("{}:{}", self.files[entry.file].display(), entry.line);
        let of = |marker| self.entries.iter().filter(move |entry| entry.marker == marker);
        // A revoked key that can't be read might be this one.
        if let Some(entry) =
            of(Marker::Revoked).find(|entry| entry.key.as_deref().is_none_or(|revoked| revoked == key))
        {
            return Verdict::Revoked(place(entry));
        }
        if of(Marker::Key).any(|entry| entry.key.as_deref() == Some(key)) {
            return Verdict::Known;
        }
        if let Some(entry) = of(Marker::Key).find(|entry| !entry.without_port) {
            return Verdict::Changed(place(entry));
        }
        of(Marker::Authority).next().map_or(Verdict::Unknown, |entry| Verdict::Authority(place(entry)))
    }

    /// Writes a key of the host to the first file, and knows it from now on.
    ///
    /// # Errors
    ///
    /// Fails if there is no file, or none that can be written.
    pub(super) fn learn(&mut self, kind: &str, key: Vec<u8>) -> Result<(), Error> {
        let Some(path) = self.files.first() else {
            return Err(Error::with(Kind::Unsupported, "there is no file for keys of hosts"));
        };
        let text = format!("{} {kind} {}\n", self.name, crate::b64::encode_to_string(&key));
        let line = append(path, &text).map_err(|error| {
            let detail = format!("the key of the host can't be written to {}", path.display());
            Error::with(Kind::Io, detail).caused_by(error)
        })?;
        self.entries.push(Entry {
            marker: Marker::Key,
            kind: kind.into(),
            key: Some(key),
            file: 0,
            line,
            without_port: false,
        });
        Ok(())
    }
}

/// Adds a line to a file, which is made with its directory if there is none; both are the user's alone then. Gives the
/// number of the line.
fn append(path: &Path, text: &str) -> io::Result<usize> {
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
    // In one piece, so that another program that adds a line does not come between.
    file.write_all(line.as_bytes())?;
    Ok(before.iter().filter(|byte| **byte == b'\n').count() + 1 + usize::from(!ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with this text, which is gone with the value.
    struct File(PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("psrp-known-hosts-{}-{name}", std::process::id()));
            fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn check(file: &File, host: &str, port: u16, key: &[u8]) -> Verdict {
        let verdict = KnownHosts::read(vec![file.0.clone()], host, port).unwrap().check(key);
        // The place is the file and the line; the file is the same for all.
        let short = |place: String| place.rsplit(':').next().unwrap().to_owned();
        match verdict {
            Verdict::Changed(place) => Verdict::Changed(short(place)),
            Verdict::Revoked(place) => Verdict::Revoked(short(place)),
            Verdict::Authority(place) => Verdict::Authority(short(place)),
            verdict => verdict,
        }
    }

    #[test]
    fn a_key_is_known_changed_revoked_or_unknown() {
        let text = "# comment\n\
            a.example.org ssh-ed25519 AAAA\n\
            a.example.org ssh-rsa BBBB\n\
            [a.example.org]:2222 ssh-ed25519 CCCC\n\
            @revoked * ssh-ed25519 DDDD\n\
            d.example.org ssh-ed25519 DDDD\n\
            @cert-authority c.example.org ssh-ed25519 EEEE\n\
            @revoked broken.example.org ssh-ed25519 *\n\
            broken.example.org ssh-ed25519 AAAA\n";
        let file = File::new("verdicts", text);
        let (a, b, c) = ([0; 3], [4, 16, 65], [8, 32, 130]);
        let d = [12, 48, 195];
        for (host, port, key, verdict) in [
            ("A.example.org", 22, &a, Verdict::Known),
            ("a.example.org", 22, &b, Verdict::Known),
            ("a.example.org", 22, &c, Verdict::Changed("2".into())),
            ("a.example.org", 2222, &c, Verdict::Known),
            ("a.example.org", 2222, &a, Verdict::Known),
            ("a.example.org", 2222, &[9, 9, 9], Verdict::Changed("4".into())),
            ("a.example.org", 2223, &a, Verdict::Known),
            ("a.example.org", 2223, &c, Verdict::Unknown),
            ("b.example.org", 22, &a, Verdict::Unknown),
            ("b.example.org", 22, &d, Verdict::Revoked("5".into())),
            ("d.example.org", 22, &d, Verdict::Revoked("5".into())),
            ("c.example.org", 22, &a, Verdict::Authority("7".into())),
            ("broken.example.org", 22, &a, Verdict::Revoked("8".into())),
        ] {
            assert_eq!(check(&file, host, port, key), verdict, "{host} {port} {key:?}");
        }
    }

    #[test]
    fn what_is_learnt_is_known_and_written() {
        let file = File::new("learnt", "other ssh-rsa AAAA");
        let mut hosts = KnownHosts::read(vec![file.0.clone()], "new.example.org", 2222).unwrap();
        assert_eq!(hosts.check(&[1, 2, 3]), Verdict::Unknown);
        hosts.learn("ssh-ed25519", vec![1, 2, 3]).unwrap();
        assert_eq!(hosts.check(&[1, 2, 3]), Verdict::Known);
        assert_eq!(hosts.check(&[1, 2, 4]), Verdict::Changed(format!("{}:2", file.0.display())));
        let text = fs::read_to_string(&file.0).unwrap();
        assert_eq!(text, "other ssh-rsa AAAA\n[new.example.org]:2222 ssh-ed25519 AQID\n");
    }

    #[test]
    fn a_file_that_can_not_be_read_is_an_error_and_one_that_is_not_there_is_none() {
        let hosts = KnownHosts::read(vec!["not/there".into()], "host", 22).unwrap();
        assert_eq!(hosts.check(&[]), Verdict::Unknown);
        let error = KnownHosts::read(vec![std::env::temp_dir()], "host", 22).unwrap_err();
        assert!(error.is_io(), "{error}");
    }
}
