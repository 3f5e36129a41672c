//! A directory for the files of one test.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey, PublicKey};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A directory that is removed with the value.
pub(crate) struct Files(PathBuf);

impl Files {
    pub(crate) fn new() -> Self {
        loop {
            let name = format!("psrp-ssh-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            // Not below the target directory: the name of a socket may have about a hundred bytes.
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                // Left behind by a process with the same identifier that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made.unwrap();
                    return Self(path);
                }
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file that only its owner can read. Whoever reads it meanwhile finds the old one or the new one, never a part.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let (path, new) = (self.path(name), self.path(&format!("{name}.new")));
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        fs::rename(new, &path).unwrap();
        path
    }

    /// Writes a private key in the format of OpenSSH, encrypted if there is a passphrase.
    pub(crate) fn write_key(&self, name: &str, key: &PrivateKey, passphrase: Option<&str>) -> PathBuf {
        let text = match passphrase {
            Some(passphrase) => key.encrypt(&mut safe_rng(), passphrase).unwrap().to_openssh(LineEnding::LF),
            None => key.to_openssh(LineEnding::LF),
        };
        self.write(name, &text.unwrap())
    }

    /// Writes a file of known hosts with the key of a server on loopback.
    pub(crate) fn known_hosts(&self, port: u16, key: &PublicKey) -> PathBuf {
        self.write("known_hosts", &format!("[127.0.0.1]:{port} {}\n", line(key)))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A new key.
pub(crate) fn key() -> PrivateKey {
    PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap()
}

/// A new key of the other usual type.
pub(crate) fn ecdsa_key() -> PrivateKey {
    let curve = russh::keys::EcdsaCurve::NistP256;
    PrivateKey::random(&mut safe_rng(), Algorithm::Ecdsa { curve }).unwrap()
}

/// A public key as files have it, without comment.
pub(crate) fn line(key: &PublicKey) -> String {
    let text = key.to_openssh().unwrap();
    text.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
