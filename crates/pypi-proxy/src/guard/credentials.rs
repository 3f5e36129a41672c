//! What a client says of who it is: the value of `Authorization` (RFC 9110, 11.6.2).

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The longest value that is looked at, in bytes.
const MAX_LEN: usize = 2048;
/// The user whose password is a token, as installers write it who know of no other way.
const TOKEN_USER: &[u8] = b"__token__";

/// What a client gives.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials<'v> {
    Token(Cow<'v, [u8]>),
    Password(Password),
}

/// A user and a password, with a colon between them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password {
    text: Vec<u8>,
    colon: usize,
}

impl Password {
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Empty if it is no text, which no name in a file is.
    pub(super) fn user(&self) -> &str {
        std::str::from_utf8(&self.text[..self.colon]).unwrap_or_default()
    }

    pub(super) fn password(&self) -> &[u8] {
        &self.text[self.colon + 1..]
    }
}

impl<'v> Credentials<'v> {
    /// Reads the value of the header field: `Bearer` (RFC 6750) or `Basic` (RFC 7617). `None` for anything else.
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

    /// A user and a password, else a token.
    type Given = Result<(String, Vec<u8>), Vec<u8>>;

    fn parse(value: &str) -> Option<Given> {
        Credentials::parse(value).map(|credentials| match credentials {
            Credentials::Token(token) => Err(token.into_owned()),
            Credentials::Password(both) => Ok((both.user().to_owned(), both.password().to_vec())),
        })
    }

    fn basic(text: impl AsRef<[u8]>) -> Option<Given> {
        parse(&format!("Basic {}", BASE64_STANDARD.encode(text)))
    }

    #[test]
    fn both_schemes_are_read() {
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
    fn anything_else_is_nobody() {
        for value in ["", "Basic", "Bearer", "Digest a", "Basic !", "Basic YW5uOng", "Basic YW5u", "YW5uOng="]
        {
            assert_eq!(parse(value), None, "{value}");
        }
        assert_eq!(parse(&format!("Bearer {}", "a".repeat(3000))), None);
    }
}
