//! Parser for the header `Authorization` (RFC 9110, 11.6.2).

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Maximum length of the header value in bytes.
const MAX_LEN: usize = 2048;
/// User whose password is a token, a common convention of installers.
const TOKEN_USER: &[u8] = b"__token__";

/// Credentials of a request.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials<'v> {
    Token(Cow<'v, [u8]>),
    Password(Password),
}

/// User and password with a colon between them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password {
    text: Vec<u8>,
    colon: usize,
}

impl Password {
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the user, or an empty string (which matches no user) if it is not UTF-8.
    pub(super) fn user(&self) -> &str {
        std::str::from_utf8(&self.text[..self.colon]).unwrap_or_default()
    }

    pub(super) fn password(&self) -> &[u8] {
        &self.text[self.colon + 1..]
    }
}

impl<'v> Credentials<'v> {
    /// Parses a header value: `Bearer` (RFC 6750) or `Basic` (RFC 7617). `None` for other schemes and malformed values.
    pub(super) fn parse(value: &'v str) -> Option<Self> {
        if value.len() > MAX_LEN {
            return None;
        }
        let (scheme, rest) = value.split_once(' ')?;
        let rest = rest.trim_matches(' ');
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(Self::Token(rest.as_bytes().into()));
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let mut text = BASE64_STANDARD.decode(rest).ok()?;
        let colon = text.iter().position(|byte| *byte == b':')?;
        if text[..colon] == *TOKEN_USER {
            text.drain(..=colon);
            return Some(Self::Token(text.into()));
        }
        Some(Self::Password(Password { text, colon }))
    }
}

/// Returns whether the value contains supported credentials.
///
/// For fuzzing.
#[doc(hidden)]
pub fn parse_authorization(value: &str) -> bool {
    Credentials::parse(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User and password, or a token.
    type Parsed = Result<(String, Vec<u8>), Vec<u8>>;

    fn parse(value: &str) -> Option<Parsed> {
        Credentials::parse(value).map(|credentials| match credentials {
            Credentials::Token(token) => Err(token.into_owned()),
            Credentials::Password(both) => Ok((both.user().to_owned(), both.password().to_vec())),
        })
    }

    fn basic(text: impl AsRef<[u8]>) -> Option<Parsed> {
        parse(&format!("Basic {}", BASE64_STANDARD.encode(text)))
    }

    #[test]
    fn bearer_and_basic_are_parsed() {
        let token = |text: &str| Some(Err(text.into()));
        let password = |user: &str, password: &str| Some(Ok((user.into(), password.into())));
        assert_eq!(parse("Bearer abc"), token("abc"));
        assert_eq!(parse("bEARER  abc "), token("abc"));
        assert_eq!(basic("__token__:abc:d"), token("abc:d"));
        assert_eq!(basic("ann:pass:word"), password("ann", "pass:word"));
        assert_eq!(basic("ann:"), password("ann", ""));
        assert_eq!(basic("Änne:ß"), password("Änne", "ß"));
        assert_eq!(parse("basic YW5uOng="), password("ann", "x"));
        assert_eq!(basic(b"\xff:x"), password("", "x"));
    }

    #[test]
    fn other_values_are_rejected() {
        for value in ["", "Basic", "Bearer", "Digest a", "Basic !", "Basic YW5uOng", "Basic YW5u", "YW5uOng="]
        {
            assert_eq!(parse(value), None, "{value}");
        }
        assert_eq!(parse(&format!("Bearer {}", "a".repeat(3000))), None);
    }
}
