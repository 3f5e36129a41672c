//! Private keys of the user.

use std::io;
use std::path::{Path, PathBuf};

use russh::keys::{PrivateKey, decode_secret_key};
use zeroize::Zeroizing;

use super::question::{Ask, Secret};

/// The head of the only format whose reader leaves no copies of the key behind.
const OPENSSH: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";

/// The files that OpenSSH looks for, without those of keys that other devices hold.
pub(super) fn default_files() -> Vec<PathBuf> {
    let Some(home) = std::env::home_dir() else { return Vec::new() };
    ["id_ed25519", "id_ecdsa", "id_rsa"].map(|name| home.join(".ssh").join(name)).into()
}

/// Why a key can't be used, for the error that lists what was tried.
#[derive(Debug)]
pub(super) enum NoKey {
    /// There is no file.
    Missing,
    /// There is one, but.
    Unusable(String),
}

impl NoKey {
    fn because(reason: impl Into<String>) -> Self {
        Self::Unusable(reason.into())
    }
}

/// Reads a private key and decrypts it if it has to be. It takes a while: the derivation of keys from passphrases is slow
/// on purpose, and the user may be asked.
pub(super) fn load(path: &Path, passphrase: Option<&Secret>, ask: Option<&Ask>) -> Result<PrivateKey, NoKey> {
    let text = read(path)?;
    let given =
        |secret: Option<Secret>| secret.ok_or(NoKey::because("is encrypted, and there is no passphrase"));
    let find = || given(passphrase.cloned().or_else(|| ask.and_then(|ask| ask.passphrase(path))));
    let wrong = |_| NoKey::because("can't be decrypted with the passphrase");
    let unreadable = |_| NoKey::because("is no private key that can be read");
    if text.trim_start().starts_with(OPENSSH) {
        let key = PrivateKey::from_openssh(text.trim_start()).map_err(|_| unreadable(()))?;
        if !key.is_encrypted() {
            return Ok(key);
        }
        let secret = find()?;
        return key.decrypt(secret.0.as_bytes()).map_err(|_| wrong(()));
    }
    let is_encrypted =
        ["ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED"].iter().any(|mark| text.contains(mark));
    if !is_encrypted {
        return decode_secret_key(&text, None).map_err(|_| unreadable(()));
    }
    let secret = find()?;
    decode_secret_key(&text, Some(&secret.0)).map_err(|_| wrong(()))
}

fn read(path: &Path) -> Result<Zeroizing<String>, NoKey> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => NoKey::Missing,
        _ => NoKey::because(format!("can't be read ({error})")),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if std::fs::metadata(path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(NoKey::because("can be read by others than its owner"));
        }
    }
    std::fs::read_to_string(path).map(Zeroizing::new).map_err(failed)
}
