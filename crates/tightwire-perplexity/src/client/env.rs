//! Settings from environment variables.

use secrecy::SecretString;

use super::headers::{self, HeaderEdit};
use crate::error::Result;

const API_KEY: &str = "PERPLEXITY_API_KEY";
const OTHER_API_KEY: &str = "PPLX_API_KEY";
const BASE_URL: &str = "PERPLEXITY_BASE_URL";
const CUSTOM_HEADERS: &str = "PERPLEXITY_CUSTOM_HEADERS";

/// Environment variables of a client. Blank values count as unset.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) api_key: Option<SecretString>,
    pub(super) base_url: Option<String>,
    pub(super) headers: Vec<HeaderEdit>,
}

impl Environment {
    /// Reads the variables of the process.
    pub(super) fn from_process() -> Result<Self> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let text =
            |name| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        Ok(Self {
            api_key: text(API_KEY).or_else(|| text(OTHER_API_KEY)).map(Into::into),
            base_url: text(BASE_URL),
            headers: headers::parse_lines(&variable(CUSTOM_HEADERS).unwrap_or_default())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Environment {
        let find = |name: &str| variables.iter().find(|(other, _)| *other == name);
        Environment::read(|name| find(name).map(|(_, value)| (*value).to_owned())).unwrap()
    }

    fn key(variables: &[(&str, &str)]) -> Option<String> {
        read(variables).api_key.map(|key| key.expose_secret().to_owned())
    }

    #[test]
    fn keys() {
        assert_eq!(key(&[]), None);
        assert_eq!(key(&[(API_KEY, " a\n"), (OTHER_API_KEY, "b")]).as_deref(), Some("a"));
        assert_eq!(key(&[(API_KEY, "  "), (OTHER_API_KEY, "b")]).as_deref(), Some("b"));
        assert_eq!(key(&[(API_KEY, "")]), None);
    }

    #[test]
    fn other_variables() {
        let environment = read(&[(BASE_URL, "http://example.org/x"), (CUSTOM_HEADERS, "x-a: 1\nx-b: 2")]);
        assert_eq!(environment.base_url.as_deref(), Some("http://example.org/x"));
        assert_eq!(environment.headers.len(), 2);
        assert_eq!(read(&[(BASE_URL, " ")]).base_url, None);
    }

    #[test]
    fn debug_redacts_the_key() {
        assert!(!format!("{:?}", read(&[(API_KEY, "s3cret")])).contains("s3cret"));
    }
}
