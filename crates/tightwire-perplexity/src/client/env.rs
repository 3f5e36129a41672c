//! Settings from environment variables.

use secrecy::SecretString;

use super::headers::{self, HeaderEdit};
use crate::error::Result;

const API_KEY: &str = "PERPLEXITY_API_KEY";
const OTHER_API_KEY: &str = "PPLX_API_KEY";
const BASE_URL: &str = "PERPLEXITY_BASE_URL";
const CUSTOM_HEADERS: &str = "PERPLEXITY_CUSTOM_HEADERS";

/// Environment variables of a client. Blank values count as unset.
#[derive(Default)]
pub(super) struct Environment {
    pub(super) api_key: Option<SecretString>,
    pub(super) base_url: Option<String>,
    pub(super) headers: Vec<HeaderEdit>,
}

impl Environment {
    /// Reads the variables of the process.
    pub(super) fn from_process() -> Result<Self> {
        let variable = |name| std::env::var(name).ok();
        let text =
            |name| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        Ok(Self {
            api_key: text(API_KEY).or_else(|| text(OTHER_API_KEY)).map(Into::into),
            base_url: text(BASE_URL),
            headers: headers::parse_lines(&variable(CUSTOM_HEADERS).unwrap_or_default())?,
        })
    }
}
