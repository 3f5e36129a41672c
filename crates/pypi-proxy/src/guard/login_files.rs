//! Parsers for the file of tokens and the file of users with password hashes.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use sha_crypt::{PasswordVerifier as _, ShaCrypt};

use crate::hash::bytes_of;

/// Maximum number of lines of a file.
const MAX_LINES: usize = 10_000;
/// Minimum length of a token; shorter ones could be guessed.
const MIN_TOKEN: usize = 16;
/// Maximum lengths of a token and a name in bytes.
const MAX_TOKEN: usize = 512;
const MAX_NAME: usize = 255;

/// SHA-256 of a token, and the name of its owner.
pub(super) type Token = ([u8; 32], Arc<str>);

/// Returns the lines that are not empty or comments, with their numbers.
fn lines(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, String> {
    if text.lines().count() > MAX_LINES {
        return Err(format!("more than {MAX_LINES} lines"));
    }
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    Ok(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')))
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// Parses a file of tokens. Each line has a token, or its SHA-256 as `sha256:` and hexadecimal digits, then a space and
/// the name of its owner. The default name contains the line number. Returns a message with the number of the malformed
/// line and none of its contents.
pub(super) fn parse_tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut parse_tokens = Vec::new();
    for (number, line) in lines(text)? {
        let message = |wrong: &str| format!("line {number}: {wrong}");
        let (token, name) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let hash = match token.strip_prefix("sha256:") {
            Some(hex) => bytes_of(hex).ok_or_else(|| message("the hash must have 64 hexadecimal digits"))?,
            None if !token.bytes().all(is_allowed) => {
                return Err(message("a token may contain ASCII letters and digits, and -._~+/="));
            }
            None if !(MIN_TOKEN..=MAX_TOKEN).contains(&token.len()) => {
                return Err(message("a token must have 16 to 512 characters"));
            }
            None => sha256(token.as_bytes()),
        };
        let name = match name.trim() {
            "" => format!("token-{number}").into(),
            name if is_name(name) => name.into(),
            _ => return Err(message("a name must have at most 255 bytes and no control characters")),
        };
        parse_tokens.push((hash, name));
    }
    Ok(parse_tokens)
}

/// Parses a file of users. Each line has a name, a colon and a password hash. Returns a message with the number of the
/// malformed line and none of its contents.
pub(super) fn parse_users(text: &str) -> Result<HashMap<Arc<str>, PasswordHash>, String> {
    let mut parse_users = HashMap::new();
    for (number, line) in lines(text)? {
        let message = |wrong: &str| format!("line {number}: {wrong}");
        let (name, hash) = line.split_once(':').ok_or_else(|| message("missing colon"))?;
        if !is_name(name) {
            return Err(message("a name must have 1 to 255 bytes and no control characters"));
        }
        // Some programs append more fields.
        let hash = hash.split(':').next().unwrap_or_default();
        let hash = PasswordHash::parse(hash).map_err(message)?;
        if parse_users.insert(Arc::from(name), hash).is_some() {
            return Err(message("duplicate user"));
        }
    }
    Ok(parse_users)
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().unwrap_or_default()
}

/// Returns whether the text is a valid file of tokens, and a valid file of users.
#[cfg(fuzzing)]
pub fn parse_files(text: &str) -> (bool, bool) {
    (parse_tokens(text).is_ok(), parse_users(text).is_ok())
}

/// Maximum bcrypt cost. Each step doubles the time, which is about two seconds for this cost.
const MAX_COST: u32 = 15;
/// Rounds of SHA-crypt; the maximum takes about one second.
const ROUNDS: std::ops::RangeInclusive<u32> = 1000..=1_000_000;
/// Maximum bytes of a password, which bounds the time of hashing.
const MAX_PASSWORD: usize = 256;

#[derive(Clone)]
pub(super) enum PasswordHash {
    Bcrypt(Box<str>),
    ShaCrypt(Box<str>),
}

impl PasswordHash {
    /// Parses a hash of bcrypt, or of crypt(3) with SHA-256 or SHA-512. Returns a message without the hash.
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

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "# who may ask
    ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW
    bob:$6$abcdefgh$ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGStk8PSwGfQv72N2CKPPrVACtLtip/cZ/1GM/O6IND4WQhG.:more
    cyd:$5$abcdefgh$gruCpC7VkOTspMQTTSAR8mtlO9Upms.fwqE5y16JVM.

    dan:$6$rounds=1500$saltsalt$34Syr0FSbWlp9hNFif0BNSVHRPxwiPh79DU920TQC0DoAPilRd9UG4mVZjASSDEENmIuJl1xJneHoAcjNgCp00
    ";

    #[test]
    fn hashes_of_htpasswd_and_openssl_are_accepted() {
        let parse_users = parse_users(USERS).unwrap();
        assert_eq!(parse_users.len(), 4);
        for (name, hash) in parse_users {
            assert!(hash.matches(b"secret"), "{name}");
            for wrong in [&b"Secret"[..], b"", b"secret ", b"secret\0", b"secret\0secret", &[b's'; 300]] {
                assert!(!hash.matches(wrong), "{name} {wrong:?}");
            }
        }
    }

    #[test]
    fn passwords_may_be_long_or_have_non_ascii_characters() {
        let users = "ann:$2y$04$abcdefghijklmnopqrstuuBzzIgyKkz7xMWYSzkIjUSnxEQFQ0WNe\n\
                     eve:$5$a./Zb9$CMSS34bqjZZFJ5s1DuaPSfv4weZidCWtWuqtJJMgeaB";
        let users = parse_users(users).unwrap();
        // bcrypt would compare only the first 72 bytes.
        assert!(!users["ann"].matches(&[b'a'; 80]) && !users["ann"].matches(&[b'a'; 72]));
        assert!(users["eve"].matches("pässword".as_bytes()) && !users["eve"].matches(b"password"));
    }

    #[test]
    fn tokens_have_owner_names() {
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        let text = format!("0123456789abcdef build  farm\n# no\n\n fedcba9876543210~\nsha256:{hex}\tann\n");
        let parse_tokens = parse_tokens(&text).unwrap();
        let names: Vec<_> = parse_tokens.iter().map(|(_, name)| &**name).collect();
        assert_eq!(names, ["build  farm", "token-4", "ann"]);
        // SHA-256 of `secret`.
        assert_eq!((parse_tokens[0].0, parse_tokens[2].0), (sha256(b"0123456789abcdef"), sha256(b"secret")));
    }

    #[test]
    fn errors_have_line_numbers_but_no_contents() {
        let many = "a:b\n".repeat(10_001);
        let high = "ann:$2y$31$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
        for (text, message) in [
            ("x\nann", "line 1: missing colon"),
            (":x", "line 1: a name must have"),
            ("ann:geheim", "line 1: not a bcrypt hash"),
            ("ann:", "line 1: not a bcrypt hash"),
            ("ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "htpasswd -B"),
            ("\nann:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/", "line 2: MD5 hashes are too weak"),
            ("ann:$2y$04$short", "malformed"),
            (high, "cost outside of 4 to 15"),
            ("ann:$6$rounds=999$salt$x", "rounds outside of"),
            ("ann:$6$rounds=999999999$salt$x", "rounds outside of"),
            ("ann:$6$salt", "malformed"),
            ("ann:$6$salt$geheim", "malformed"),
            ("ann:$5$ä$geheim", "malformed"),
            (&many, "more than 10000 lines"),
        ] {
            let error = parse_users(text).err().unwrap();
            assert!(error.contains(message) && !error.contains("geheim"), "{text}: {error}");
        }
        let twice = format!("{USERS}{USERS}");
        assert!(parse_users(&twice).err().unwrap().contains("duplicate"));
        for (text, message) in [
            ("short-geheim", "16 to 512"),
            ("0123456789äbcdef-geheim", "ASCII"),
            ("sha256:geheim", "64 hexadecimal"),
            ("0123456789abcdef a\u{7}geheim", "control"),
        ] {
            let error = parse_tokens(text).unwrap_err();
            assert!(error.starts_with("line 1: ") && error.contains(message), "{error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
