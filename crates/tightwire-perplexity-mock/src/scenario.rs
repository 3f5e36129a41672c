//! What the server is told to do.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::error::{Error, Result};
use crate::file;
use crate::request::Request;
use crate::rule::Rule;

/// Rules, and what becomes of requests to which none applies.
///
/// ```
/// use tightwire_perplexity_mock::Scenario;
///
/// let scenario = Scenario::from_toml(
///     r#"
///     [[rule]]
///     method = "POST"
///     path = "/chat/completions"
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
}

/// Which requests count as authenticated. The others get status 401 with an HTML page, as from the API's gateway.
///
/// `Debug` does not show the keys.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// Those with `Authorization: Bearer` and any key that is not blank.
    AnyKey,
    /// Those with `Authorization: Bearer` and one of these keys.
    Keys(Vec<String>),
    /// All.
    Off,
}

/// What becomes of requests to which no rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmatched {
    Api,
    NotFound,
}

/// The cases of `scenarios/default.toml`.
static DEFAULT: LazyLock<Scenario> = LazyLock::new(|| {
    Scenario::from_toml(include_str!("../scenarios/default.toml")).expect("the default scenario is valid")
});

impl Scenario {
    /// The built-in API without rules.
    pub fn api() -> Self {
        Self { rules: Vec::new(), auth: Auth::AnyKey, unmatched: Unmatched::Api }
    }

    /// No API: a request to which no rule applies gets status 404.
    pub fn rules_only() -> Self {
        Self { unmatched: Unmatched::NotFound, ..Self::api() }
    }

    /// Reads a scenario in the format that the README of this crate describes.
    ///
    /// # Errors
    ///
    /// With line and column, if the text is not TOML or not a scenario.
    pub fn from_toml(text: &str) -> Result<Self> {
        file::parse(text)
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, and as [`from_toml`](Self::from_toml).
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_toml(&fs::read_to_string(path).map_err(Error::read)?)
    }

    /// Adds a rule. The first that applies and is not used up answers.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Says which requests count as authenticated; [`Auth::AnyKey`] unless set.
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }
}

impl Default for Scenario {
    /// The built-in API with the cases of `scenarios/default.toml`, each of which a request asks for with the header
    /// `x-mock-case`.
    fn default() -> Self {
        DEFAULT.clone()
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
