//! Password hashes of `htpasswd` and `openssl passwd`.

use std::str::FromStr as _;

use sha_crypt::{PasswordVerifier as _, ShaCrypt};

/// Maximum bcrypt cost. Each step doubles the time, which is about two seconds for this cost.
const MAX_COST: u32 = 15;
/// Rounds of SHA-crypt; the maximum takes about one second.
const ROUNDS: std::ops::RangeInclusive<u32> = 1000..=1_000_000;
/// Maximum bytes of a password, which bounds the time of hashing.
const MAX_PASSWORD: usize = 256;

/// A password hash.
#[derive(Clone)]
pub(super) enum PasswordHash {
    Bcrypt(Box<str>),
    ShaCrypt(Box<str>),
}

impl PasswordHash {
    /// Parses a hash of bcrypt, or of crypt(3) with SHA-256 or SHA-512.
    ///
    /// # Errors
    ///
    /// Returns a message without the hash.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text.get(..3) {
            Some("$2y" | "$2b" | "$2a") => match bcrypt::HashParts::from_str(text) {
                Err(_) => Err("malformed bcrypt hash"),
                Ok(parts) if !(4..=MAX_COST).contains(&parts.get_cost()) => {
                    Err("bcrypt hash with a cost outside of 4 to 15")
                }
                Ok(_) => Ok(Self::Bcrypt(text.into())),
            },
            Some("$5$") => sha_crypt(text, 43),
            Some("$6$") => sha_crypt(text, 86),
            Some("$ap" | "$1$") => Err("MD5 hashes are too weak (create a bcrypt hash with htpasswd -B)"),
            Some("{SH" | "{SS") => Err("SHA-1 hashes are too weak (create a bcrypt hash with htpasswd -B)"),
            _ => Err("not a bcrypt hash ($2y$) or SHA-crypt hash ($5$, $6$); \
                      plain passwords are not accepted (create a hash with htpasswd -B)"),
        }
    }

    /// Returns whether this is the hash of a password. Takes some tenths of a second; hashes are compared in constant
    /// time.
    pub(super) fn matches(&self, password: &[u8]) -> bool {
        // Passwords have no control characters (RFC 7617, 2), and bcrypt would stop at a null byte.
        if password.len() > MAX_PASSWORD || password.iter().any(u8::is_ascii_control) {
            return false;
        }
        match self {
            // bcrypt uses the first 72 bytes only, so that different longer passwords would match.
            Self::Bcrypt(hash) => bcrypt::non_truncating_verify(password, hash).unwrap_or(false),
            Self::ShaCrypt(hash) => ShaCrypt::default().verify_password(password, &**hash).is_ok(),
        }
    }
}

/// Validates a SHA-crypt hash: `$5$` or `$6$`, optionally `rounds=N$`, a salt, and a hash of `len` characters.
fn sha_crypt(text: &str, len: usize) -> Result<PasswordHash, &'static str> {
    let malformed = "malformed SHA-crypt hash";
    let is_text = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./".contains(&byte));
    let mut rest = &text[3..];
    if let Some(count) = rest.strip_prefix("rounds=") {
        let (rounds, behind) = count.split_once('$').ok_or(malformed)?;
        if !rounds.parse().is_ok_and(|rounds| ROUNDS.contains(&rounds)) {
            return Err("SHA-crypt hash with rounds outside of 1000 to 1000000");
        }
        rest = behind;
    }
    let (salt, hash) = rest.split_once('$').ok_or(malformed)?;
    if !(1..=16).contains(&salt.len()) || hash.len() != len || !is_text(salt) || !is_text(hash) {
        return Err(malformed);
    }
    Ok(PasswordHash::ShaCrypt(text.into()))
}
