//! Scenarios.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::file;
use crate::request::Request;
use crate::rule::Rule;

/// Rules, and the behavior for requests that match no rule.
///
/// ```
/// use tightwire_perplexity_mock::Scenario;
///
/// let scenario = Scenario::from_toml(
///     r#"
///     [[rule]]
///     method = "POST"
///     path = "/v1/agent"
///     answer = [{ status = 429, headers = { retry-after-ms = "20" }, times = 2 }, { api = true }]
///     "#,
/// )?;
/// # Ok::<(), tightwire_perplexity_mock::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scenario {
    pub(crate) rules: Vec<Rule>,
    pub(crate) auth: Auth,
    pub(crate) unmatched: Unmatched,
    pub(crate) has_chat: bool,
}

/// Which requests are authenticated. Others get status 401 with an HTML page, as from the API's gateway.
///
/// `Debug` redacts the keys.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// Requests with `Authorization: Bearer` and any non-blank key.
    AnyKey,
    /// Requests with `Authorization: Bearer` and one of these keys.
    Keys(Vec<String>),
    /// All requests.
    Off,
}

/// Behavior for requests that match no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unmatched {
    #[default]
    Api,
    NotFound,
}

impl Scenario {
    /// Creates a scenario with the built-in API and no rules.
    pub fn api() -> Self {
        Self { rules: Vec::new(), auth: Auth::AnyKey, unmatched: Unmatched::Api, has_chat: false }
    }

    /// Creates a scenario without the built-in API: requests that match no rule get status 404.
    pub fn rules_only() -> Self {
        Self { unmatched: Unmatched::NotFound, ..Self::api() }
    }

    /// Parses a scenario in the format described in the README of this crate.
    ///
    /// # Errors
    ///
    /// An error with line and column if the text is not valid TOML or not a valid scenario.
    pub fn from_toml(text: &str) -> Result<Self> {
        file::parse(text)
    }

    /// Loads a scenario from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, and as for [`from_toml`](Self::from_toml).
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_toml(&fs::read_to_string(path).map_err(Error::Read)?)
    }

    /// Adds a rule. The first matching rule that is not exhausted responds.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets whether the built-in API has the endpoints of chat completions, which Perplexity ended on 2026-09-27. Requests
    /// to them otherwise get status 403. Default: `false`.
    #[must_use]
    pub fn chat(mut self, is_available: bool) -> Self {
        self.has_chat = is_available;
        self
    }

    /// Sets which requests are authenticated. Default: [`Auth::AnyKey`].
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }
}

impl Default for Scenario {
    /// Returns the built-in API with the cases of `scenarios/default.toml`, which a request selects with the
    /// header `x-mock-case`.
    fn default() -> Self {
        Self::from_toml(include_str!("../scenarios/default.toml")).expect("the default scenario is valid")
    }
}

impl Auth {
    pub(crate) fn admits(&self, request: &Request) -> bool {
        let key =
            request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
        match self {
            Self::AnyKey => key.is_some_and(|key| !key.is_empty()),
            Self::Keys(keys) => key.is_some_and(|key| keys.iter().any(|known| known == key)),
            Self::Off => true,
        }
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AnyKey => f.write_str("AnyKey"),
            Self::Keys(keys) => write!(f, "Keys({})", keys.len()),
            Self::Off => f.write_str("Off"),
        }
    }
}
