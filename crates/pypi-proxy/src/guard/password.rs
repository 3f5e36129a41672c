//! Hashes of passwords as `htpasswd` and `openssl passwd` write them.

use std::str::FromStr as _;

use sha_crypt::{PasswordVerifier as _, ShaCrypt};

/// Checking takes twice as long with each: with this one, about two seconds.
const MAX_COST: u32 = 15;
/// With so many rounds, about a second.
const ROUNDS: std::ops::RangeInclusive<u32> = 1000..=1_000_000;
/// Hashing a longer password takes longer.
const MAX_PASSWORD: usize = 256;

/// The hash of a password.
#[derive(Clone)]
pub(super) enum PasswordHash {
    Bcrypt(Box<str>),
    ShaCrypt(Box<str>),
}

impl PasswordHash {
    /// Reads a hash of bcrypt, or of crypt(3) with SHA-256 or SHA-512.
    ///
    /// # Errors
    ///
    /// Tells what is wrong with it, without the hash.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text.get(..3) {
            Some("$2y" | "$2b" | "$2a") => match bcrypt::HashParts::from_str(text) {
                Err(_) => Err("a hash of bcrypt that is malformed"),
                Ok(parts) if !(4..=MAX_COST).contains(&parts.get_cost()) => {
                    Err("a hash of bcrypt whose cost is not 4 to 15")
                }
                Ok(_) => Ok(Self::Bcrypt(text.into())),
            },
            Some("$5$") => sha_crypt(text, 43),
            Some("$6$") => sha_crypt(text, 86),
            Some("$ap" | "$1$") => Err("a hash of MD5 is too weak: make one of bcrypt with htpasswd -B"),
            Some("{SH" | "{SS") => Err("a hash of SHA-1 is too weak: make one of bcrypt with htpasswd -B"),
            _ => Err("neither a hash of bcrypt ($2y$) nor one of SHA-crypt ($5$, $6$); \
                      passwords themselves are not accepted: make a hash with htpasswd -B"),
        }
    }

    /// Whether it is the hash of this password, after some tenths of a second: hashes are compared in constant time.
    pub(super) fn is_of(&self, password: &[u8]) -> bool {
        // The standard has no control characters in passwords (RFC 7617, 2), and bcrypt one hash for several that have zeros.
        if password.len() > MAX_PASSWORD || password.iter().any(u8::is_ascii_control) {
            return false;
        }
        match self {
            // Of 72 bytes and more, it looks at the first 72 alone: others would be as right.
            Self::Bcrypt(hash) => bcrypt::non_truncating_verify(password, hash).unwrap_or(false),
            Self::ShaCrypt(hash) => ShaCrypt::default().verify_password(password, &**hash).is_ok(),
        }
    }
}

/// A hash of SHA-crypt: `$6$`, perhaps `rounds=N$`, a salt, and a hash of so many characters.
fn sha_crypt(text: &str, len: usize) -> Result<PasswordHash, &'static str> {
    let malformed = "a hash of SHA-crypt that is malformed";
    let is_text = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./".contains(&byte));
    let mut rest = &text[3..];
    if let Some(given) = rest.strip_prefix("rounds=") {
        let (rounds, behind) = given.split_once('$').ok_or(malformed)?;
        if !rounds.parse().is_ok_and(|rounds| ROUNDS.contains(&rounds)) {
            return Err("a hash of SHA-crypt whose rounds are not 1000 to 1000000");
        }
        rest = behind;
    }
    let (salt, hash) = rest.split_once('$').ok_or(malformed)?;
    if !(1..=16).contains(&salt.len()) || hash.len() != len || !is_text(salt) || !is_text(hash) {
        return Err(malformed);
    }
    Ok(PasswordHash::ShaCrypt(text.into()))
}
