//! What a client says of who it is: the value of `Authorization` (RFC 9110, 11.6.2).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The longest value that is looked at, in bytes.
const MAX_LEN: usize = 2048;
/// The user whose password is a token, as installers write it who know of no other way.
const TOKEN_USER: &[u8] = b"__token__";

/// What a client gives.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    Token(Vec<u8>),
    Password { user: String, password: Vec<u8> },
}

impl Credentials {
    /// Reads the value of the header field: `Bearer` (RFC 6750) or `Basic` (RFC 7617). `None` for anything else, and for what
    /// can be nobody's.
    pub(super) fn parse(value: &str) -> Option<Self> {
        if value.len() > MAX_LEN {
            return None;
        }
        let (scheme, rest) = value.split_once(' ')?;
        let rest = rest.trim_matches(' ');
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(Self::Token(rest.into()));
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let mut user = BASE64_STANDARD.decode(rest).ok()?;
        let at = user.iter().position(|byte| *byte == b':')?;
        let password = user.split_off(at)[1..].to_vec();
        if user == TOKEN_USER {
            return Some(Self::Token(password));
        }
        Some(Self::Password { user: String::from_utf8(user).ok()?, password })
    }
}

/// Whether this is the value of an `Authorization` that somebody's credentials are looked for in.
///
/// What a fuzzer calls.
#[doc(hidden)]
pub fn parse_authorization(value: &str) -> bool {
    Credentials::parse(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(text: impl AsRef<[u8]>) -> Option<Credentials> {
        Credentials::parse(&format!("Basic {}", BASE64_STANDARD.encode(text)))
    }

    #[test]
    fn both_schemes_are_read() {
        let token = |text: &str| Some(Credentials::Token(text.into()));
        let password = |user: &str, password: &str| {
            Some(Credentials::Password { user: user.into(), password: password.into() })
        };
        assert!(Credentials::parse("Bearer abc") == token("abc"));
        assert!(Credentials::parse("bEARER  abc ") == token("abc"));
        assert!(basic("__token__:abc:d") == token("abc:d"));
        assert!(basic("ann:pass:word") == password("ann", "pass:word"));
        assert!(basic("ann:") == password("ann", ""));
        assert!(basic("Änne:ß") == password("Änne", "ß"));
        assert!(Credentials::parse("basic YW5uOng=") == password("ann", "x"));
    }

    #[test]
    fn anything_else_is_nobody() {
        for value in ["", "Basic", "Bearer", "Digest a", "Basic !", "Basic YW5uOng", "Basic YW5u", "YW5uOng="]
        {
            assert!(Credentials::parse(value).is_none(), "{value}");
        }
        assert!(basic(b"\xff:x").is_none());
        assert!(basic(b"ann:\xff").is_some());
        assert!(Credentials::parse(&format!("Bearer {}", "a".repeat(3000))).is_none());
    }
}
