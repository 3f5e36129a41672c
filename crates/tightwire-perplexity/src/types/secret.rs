//! Strings that must not be logged.

use std::fmt;

use super::wire::field_value;
use serde::{Deserialize, Serialize};

/// A string that `Debug` does not print, such as the credentials of an MCP server.
///
/// # Examples
/// ```
/// let secret = tightwire_perplexity::types::Secret::from("sesame");
/// assert_eq!(format!("{secret:?}"), "[redacted]");
/// assert_eq!(secret.expose(), "sesame");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Box<str>);

impl Secret {
    /// Returns the secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

field_value!(Secret);
