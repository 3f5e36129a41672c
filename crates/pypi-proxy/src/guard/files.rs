//! The files that say who may ask: one of tokens, one of users with hashes of their passwords.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};

use super::password::PasswordHash;
use crate::page::bytes_of;

/// The most lines of a file.
const MAX_LINES: usize = 10_000;
/// A shorter token could be guessed.
const MIN_TOKEN: usize = 16;
/// The longest token, and the longest name.
const MAX_TOKEN: usize = 512;
const MAX_NAME: usize = 255;

/// A token as its SHA-256, and what its owner is called.
pub(super) type Token = ([u8; 32], Arc<str>);

/// The lines that say something, with their numbers.
fn lines(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, String> {
    if text.lines().count() > MAX_LINES {
        return Err(format!("it has more than {MAX_LINES} lines"));
    }
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    Ok(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')))
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// Reads a file of tokens: in each line a token, or its SHA-256 as `sha256:` and hexadecimal digits, and behind a blank the
/// name of its owner. One without a name is called by the number of its line.
///
/// # Errors
///
/// Tells the line that is malformed, and nothing that is in it.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    for (number, line) in lines(text)? {
        let told = |wrong: &str| format!("line {number}: {wrong}");
        let (token, name) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let hash = match token.strip_prefix("sha256:") {
            Some(hex) => bytes_of(hex).ok_or_else(|| told("its hash has to have 64 hexadecimal digits"))?,
            None if !token.bytes().all(is_allowed) => {
                return Err(told("a token has letters and digits of ASCII, and -._~+/="));
            }
            None if !(MIN_TOKEN..=MAX_TOKEN).contains(&token.len()) => {
                return Err(told("a token has 16 to 512 characters"));
            }
            None => sha256(token.as_bytes()),
        };
        let name = match name.trim() {
            "" => format!("token-{number}").into(),
            name if is_name(name) => name.into(),
            _ => return Err(told("a name has up to 255 bytes without control characters")),
        };
        tokens.push((hash, name));
    }
    Ok(tokens)
}

/// Reads a file of users: in each line a name, a colon and the hash of the password.
///
/// # Errors
///
/// Tells the line that is malformed, and nothing that is in it.
pub(super) fn users(text: &str) -> Result<HashMap<Arc<str>, PasswordHash>, String> {
    let mut users = HashMap::new();
    for (number, line) in lines(text)? {
        let told = |wrong: &str| format!("line {number}: {wrong}");
        let (name, hash) = line.split_once(':').ok_or_else(|| told("a colon is missing"))?;
        if !is_name(name) {
            return Err(told("a name has 1 to 255 bytes without control characters"));
        }
        // Others put more behind another colon.
        let hash = hash.split(':').next().unwrap_or_default();
        let hash = PasswordHash::parse(hash).map_err(told)?;
        if users.insert(Arc::from(name), hash).is_some() {
            return Err(told("a user who is there twice"));
        }
    }
    Ok(users)
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().unwrap_or_default()
}

/// Whether these are files that can be read: one of tokens, and one of users.
///
/// What a fuzzer calls.
#[doc(hidden)]
pub fn parse_files(text: &str) -> (bool, bool) {
    (tokens(text).is_ok(), users(text).is_ok())
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
    fn hashes_of_other_programs_are_understood() {
        let users = users(USERS).unwrap();
        assert_eq!(users.len(), 4);
        for (name, hash) in users {
            assert!(hash.is_of(b"secret"), "{name}");
            for wrong in [&b"Secret"[..], b"", b"secret ", b"secret\0", b"secret\0secret", &[b's'; 300]] {
                assert!(!hash.is_of(wrong), "{name} {wrong:?}");
            }
        }
    }

    #[test]
    fn a_password_that_bcrypt_cuts_is_nobodys() {
        let users = users("eve:$2y$04$abcdefghijklmnopqrstuuBzzIgyKkz7xMWYSzkIjUSnxEQFQ0WNe").unwrap();
        assert!(!users["eve"].is_of(&[b'a'; 80]) && !users["eve"].is_of(&[b'a'; 72]));
    }

    #[test]
    fn passwords_need_not_be_ascii() {
        let users = users("eve:$5$a./Zb9$CMSS34bqjZZFJ5s1DuaPSfv4weZidCWtWuqtJJMgeaB").unwrap();
        assert!(users["eve"].is_of("pässword".as_bytes()) && !users["eve"].is_of(b"password"));
    }

    #[test]
    fn tokens_have_owners() {
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        let text = format!("0123456789abcdef build  farm\n# no\n\n fedcba9876543210~\nsha256:{hex}\tann\n");
        let tokens = tokens(&text).unwrap();
        let names: Vec<_> = tokens.iter().map(|(_, name)| &**name).collect();
        assert_eq!(names, ["build  farm", "token-4", "ann"]);
        // That is the hash of `secret`.
        assert_eq!((tokens[0].0, tokens[2].0), (sha256(b"0123456789abcdef"), sha256(b"secret")));
    }

    #[test]
    fn what_is_wrong_is_told_without_what_is_in_the_line() {
        let many = "a:b\n".repeat(10_001);
        let high = "ann:$2y$31$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
        for (text, told) in [
            ("x\nann", "line 1: a colon is missing"),
            (":x", "line 1: a name has"),
            ("ann:geheim", "line 1: neither a hash"),
            ("ann:", "line 1: neither a hash"),
            ("ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "htpasswd -B"),
            ("\nann:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/", "line 2: a hash of MD5 is too weak"),
            ("ann:$2y$04$short", "malformed"),
            (high, "cost is not 4 to 15"),
            ("ann:$6$rounds=999$salt$x", "rounds are not"),
            ("ann:$6$rounds=999999999$salt$x", "rounds are not"),
            ("ann:$6$salt", "malformed"),
            ("ann:$6$salt$geheim", "malformed"),
            ("ann:$5$ä$geheim", "malformed"),
            (&many, "more than 10000 lines"),
        ] {
            let error = users(text).err().unwrap();
            assert!(error.contains(told) && !error.contains("geheim"), "{text}: {error}");
        }
        let twice = format!("{USERS}{USERS}");
        assert!(users(&twice).err().unwrap().contains("twice"));
        for (text, told) in [
            ("short-geheim", "16 to 512"),
            ("0123456789äbcdef-geheim", "ASCII"),
            ("sha256:geheim", "64 hexadecimal"),
            ("0123456789abcdef a\u{7}geheim", "control"),
        ] {
            let error = tokens(text).unwrap_err();
            assert!(
                error.starts_with("line 1: ") && error.contains(told) && !error.contains("geheim"),
                "{error}"
            );
        }
    }
}
