//! Private key files.

use std::io;
use std::path::{Path, PathBuf};

use russh::keys::{PrivateKey, decode_secret_key};
use zeroize::Zeroizing;

use super::prompt::{PromptHandler, Secret, SshQuestion};

/// First line of the only format whose parser leaves no copies of the key in memory.
const OPENSSH: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";

/// Default key files of OpenSSH, without those for hardware keys.
pub(super) fn default_files() -> Vec<PathBuf> {
    let Some(home) = std::env::home_dir() else { return Vec::new() };
    ["id_ed25519", "id_ecdsa", "id_rsa"].map(|name| home.join(".ssh").join(name)).into()
}

/// Reads a private key and decrypts it if necessary. Blocks: key derivation is slow, and the user may be asked for the
/// passphrase. Returns the reason for the list of attempts if the key cannot be used.
pub(super) fn load(
    path: &Path,
    passphrase: Option<&Secret>,
    ask: Option<&PromptHandler>,
) -> Result<PrivateKey, String> {
    let text = read(path)?;
    let require = |secret: Option<Secret>| {
        secret.ok_or_else(|| "is encrypted, but no passphrase is available".to_owned())
    };
    let find_passphrase = || {
        require(
            passphrase
                .cloned()
                .or_else(|| ask.and_then(|ask| ask.call(SshQuestion::Passphrase { file: path }))),
        )
    };
    let wrong_passphrase = |_| "can't be decrypted with the passphrase".to_owned();
    let unreadable = |_| "is not a readable private key".to_owned();
    if text.trim_start().starts_with(OPENSSH) {
        let key = PrivateKey::from_openssh(text.trim_start()).map_err(|_| unreadable(()))?;
        if !key.is_encrypted() {
            return Ok(key);
        }
        let secret = find_passphrase()?;
        return key.decrypt(secret.0.as_bytes()).map_err(|_| wrong_passphrase(()));
    }
    let is_encrypted =
        ["ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED"].iter().any(|mark| text.contains(mark));
    if !is_encrypted {
        return decode_secret_key(&text, None).map_err(|_| unreadable(()));
    }
    let secret = find_passphrase()?;
    decode_secret_key(&text, Some(&secret.0)).map_err(|_| wrong_passphrase(()))
}

fn read(path: &Path) -> Result<Zeroizing<String>, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        _ => format!("can't be read ({error})"),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if std::fs::metadata(path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err("is readable by other users".into());
        }
    }
    std::fs::read_to_string(path).map(Zeroizing::new).map_err(failed)
}
