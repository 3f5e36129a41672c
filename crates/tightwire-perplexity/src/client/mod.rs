//! The client: settings, requests, answers.
//!
//! `url`, `headers`, `extra`, `multipart` and `plan` put requests together without any I/O; `exchange` sends them,
//! `transport` is where reqwest comes in, `call` is what callers see of it.

mod answer;
mod body;
mod builder;
mod call;
mod download;
mod env;
mod exchange;
mod extra;
mod headers;
mod multipart;
mod plan;
mod platform;
mod rate_limit;
mod response;
mod span;
mod timeouts;
mod transport;
mod url;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method};
use secrecy::{ExposeSecret as _, SecretString};

pub use self::answer::{Answer, Events, File, Json, Nothing, Raw, Undecoded};
pub use self::builder::{ClientBuilder, Connect, Proxy};
pub use self::call::Call;
pub use self::download::Download;
pub use self::rate_limit::{Quota, RateLimits};
pub use self::response::{Response, ResponseHead};
pub use self::timeouts::Timeouts;

pub(crate) use self::body::LiveBody;
pub(crate) use self::exchange::Exchange;
pub(crate) use self::headers::Accept;
pub(crate) use self::multipart::{Form, Upload};
pub(crate) use self::plan::Plan;
pub(crate) use self::span::CallSpan;
pub(crate) use self::url::segment;

use self::headers::Edit;
use self::transport::Transport;
use self::url::{BaseUrl, Pair};
use crate::error::Result;
use crate::retry::{Outcome, RetryPolicy};

/// A client of the Perplexity API. Clones share the connections and the settings and cost next to nothing.
///
/// # Examples
/// ```
/// let client = tightwire_perplexity::Client::builder().api_key("key").base_url("https://example.org/api").build()?;
/// assert_eq!(client.base_url(), "https://example.org/api");
/// # Ok::<(), tightwire_perplexity::Error>(())
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Settings>,
}

/// All that a client is made of.
#[derive(Clone)]
struct Settings {
    key: SecretString,
    base: BaseUrl,
    transport: Transport,
    /// Of every request, those of the caller included.
    headers: HeaderMap,
    /// What the caller changed about them.
    edits: Vec<Edit>,
    query: Vec<Pair>,
    timeouts: Timeouts,
    retry: RetryPolicy,
    max_body: usize,
    path_style: PathStyle,
    automatic_keys: bool,
    platform_headers: bool,
    validates: bool,
    on_retry: Option<Arc<OnRetry>>,
}

type OnRetry = dyn Fn(&RetryEvent<'_>) + Send + Sync;

/// A retry that is about to happen; see [`ClientBuilder::on_retry`].
#[derive(Debug)]
#[non_exhaustive]
pub struct RetryEvent<'a> {
    /// How many attempts were made.
    pub attempt: u32,
    /// How long the client waits before the next one.
    pub delay: Duration,
    /// How the latest attempt failed.
    pub outcome: Outcome<'a>,
}

/// Which names of endpoints are used; the API knows some under two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PathStyle {
    /// `/chat/completions`, `/async/chat/completions`, `/v1/responses`: what the clients of the vendor use.
    #[default]
    Sdk,
    /// `/v1/sonar`, `/v1/async/sonar`, `/v1/agent`: what the documentation of the API uses.
    V1,
}

/// A random number, for boundaries of forms and for idempotency keys. It does not come from the source that a policy
/// draws its jitter from, for two calls with one key would count as one.
pub(crate) fn random() -> [u64; 2] {
    [fastrand::u64(..), fastrand::u64(..)]
}

/// Decodes what has passed a limit of bodies or events already.
pub(crate) fn codec() -> tightwire_json::Codec {
    tightwire_json::Codec::standard().with_limits(tightwire_json::Limits::new().max_document(usize::MAX))
}

impl Client {
    /// The default base URL.
    pub const BASE_URL: &str = "https://api.perplexity.ai";

    /// A client with this key and the other settings of the environment; see [`from_env`](Self::from_env).
    ///
    /// # Errors
    /// As [`ClientBuilder::build`].
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// A client with the key and the settings of the environment: `PERPLEXITY_API_KEY` or `PPLX_API_KEY`,
    /// `PERPLEXITY_BASE_URL`, `PERPLEXITY_CUSTOM_HEADERS`.
    ///
    /// # Errors
    /// As [`ClientBuilder::build`].
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// Begins to build a client.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Begins to build a client that differs from this one in some settings. It shares the connections of this one
    /// unless settings of connections change.
    ///
    /// # Examples
    /// ```
    /// # let client = tightwire_perplexity::Client::builder().api_key("key").build()?;
    /// let patient = client.to_builder().max_retries(8).build()?;
    /// # Ok::<(), tightwire_perplexity::Error>(())
    /// ```
    pub fn to_builder(&self) -> ClientBuilder {
        ClientBuilder::of(&self.inner)
    }

    /// The URL that paths are appended to, without its query. A password in it is part of it.
    pub fn base_url(&self) -> &str {
        self.inner.base.as_url().as_str()
    }

    /// A request to any path of the API, with the same headers, retries and errors as the others have.
    ///
    /// The answer is decoded as a [`tightwire_json::Value`] unless the call says otherwise. `path` is appended to the base URL
    /// and may have a query; it has to be encoded.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// #[derive(serde::Deserialize)]
    /// struct Created {
    ///     id: String,
    /// }
    ///
    /// let body = [("input", "x")].into_iter().collect::<std::collections::BTreeMap<_, _>>();
    /// let created: Created = client.request(http::Method::POST, "/v2/things").json_body(&body).decode_as().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(&self, method: Method, path: &str) -> Call<Json<tightwire_json::Value>> {
        Call::new(self, Ok(Plan::new(method, path.to_owned())), Json::new())
    }

    pub(crate) fn path_style(&self) -> PathStyle {
        self.inner.path_style
    }

    /// Whether requests are checked before they are sent.
    pub(crate) fn validates(&self) -> bool {
        self.inner.validates
    }

    pub(crate) fn key(&self) -> &str {
        self.inner.key.expose_secret()
    }
}

impl fmt::Debug for Client {
    /// Leaves out the key and the values of headers and queries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.inner.base)
            .field("transport", &self.inner.transport)
            .field("timeouts", &self.inner.timeouts)
            .field("retry", &self.inner.retry)
            .field("max_body_size", &self.inner.max_body)
            .field("path_style", &self.inner.path_style)
            .finish_non_exhaustive()
    }
}
