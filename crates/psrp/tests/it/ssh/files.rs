//! Temporary files of a test.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey, PublicKey};

use crate::io_copy::Directory;

/// Files in a directory that is removed on drop.
pub(crate) struct Files(Directory);

impl Files {
    pub(crate) fn new() -> Self {
        Self(Directory::new())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Writes a file that only its owner can read. Concurrent readers see the old or the new content, never a part.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let (path, new) = (self.path(name), self.path(&format!("{name}.new")));
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        fs::rename(new, &path).unwrap();
        path
    }

    /// Writes a private key in OpenSSH format, encrypted if there is a passphrase.
    pub(crate) fn write_key(&self, name: &str, key: &PrivateKey, passphrase: Option<&str>) -> PathBuf {
        let text = match passphrase {
            Some(passphrase) => key.encrypt(&mut safe_rng(), passphrase).unwrap().to_openssh(LineEnding::LF),
            None => key.to_openssh(LineEnding::LF),
        };
        self.write(name, &text.unwrap())
    }

    /// Writes a known hosts file with the key of a server on loopback.
    pub(crate) fn known_hosts(&self, port: u16, key: &PublicKey) -> PathBuf {
        self.write("known_hosts", &format!("[127.0.0.1]:{port} {}\n", line(key)))
    }
}

/// Creates a key.
pub(crate) fn key() -> PrivateKey {
    PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap()
}

/// Creates a key of the other common type.
pub(crate) fn ecdsa_key() -> PrivateKey {
    let curve = russh::keys::EcdsaCurve::NistP256;
    PrivateKey::random(&mut safe_rng(), Algorithm::Ecdsa { curve }).unwrap()
}

/// Formats a public key as in files, without comment.
pub(crate) fn line(key: &PublicKey) -> String {
    let text = key.to_openssh().unwrap();
    text.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
