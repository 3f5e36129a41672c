//! HTTP client.
//!
//! `url`, `headers`, `multipart` and `plan` build requests and do no I/O. `exchange` sends them with
//! retries, `upload` reads files and reports the progress of bodies, `transport` sends through reqwest or a
//! tower service, and `call` is
//! the public interface of a request.

mod body;
mod builder;
mod call;
mod download;
mod exchange;
mod headers;
mod multipart;
mod plan;
mod response;
mod span;
mod timeouts;
mod transport;
mod upload;
mod url;

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, Method};
use secrecy::{ExposeSecret as _, SecretString};

pub use self::builder::{ClientBuilder, Connect, Proxy};
pub use self::call::Call;
pub use self::download::Download;
pub use self::response::{Response, ResponseHead, TokenUsage};
pub use self::timeouts::Timeouts;
pub use self::transport::ReqwestService;

pub(crate) use self::body::StreamingBody;
pub(crate) use self::exchange::{BodyMode, Exchange};
pub(crate) use self::headers::EVENTS;
pub(crate) use self::multipart::Form;
pub(crate) use self::plan::{Options, Plan};
pub(crate) use self::response::is_unexpected;
pub(crate) use self::span::CallSpan;
pub(crate) use self::timeouts::Deadline;
pub(crate) use self::url::segment;

use self::headers::HeaderEdit;
use self::transport::Transport;
use self::url::{BaseUrl, QueryParam};
use crate::error::Result;
use crate::retry::{RetryEvent, RetryPolicy};

/// Client of the Perplexity API. Cloning is cheap: clones share connections and settings.
///
/// # Examples
///
/// ```
/// let client = tightwire_perplexity::Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").base_url("https://example.org/api").build()?;
/// assert_eq!(client.base_url(), "https://example.org/api");
/// # Ok::<(), tightwire_perplexity::Error>(())
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Settings>,
}

/// Resolved configuration.
struct Settings {
    key: SecretString,
    base: BaseUrl,
    transport: Transport,
    /// Default headers with all changes applied.
    headers: HeaderMap,
    options: ClientOptions,
}

/// Options that a client and its builder share.
#[derive(Clone)]
struct ClientOptions {
    /// Changes to the default headers, applied after those of the environment.
    edits: Vec<HeaderEdit>,
    query: Vec<QueryParam>,
    timeouts: Timeouts,
    retry: RetryPolicy,
    max_body: usize,
    path_style: PathStyle,
    automatic_keys: bool,
    validates: bool,
    on_retry: Option<Arc<RetryHook>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            edits: Vec::new(),
            query: Vec::new(),
            timeouts: Timeouts::new(),
            retry: RetryPolicy::new(),
            max_body: 64 << 20,
            path_style: PathStyle::default(),
            automatic_keys: false,
            validates: true,
            on_retry: None,
        }
    }
}

type RetryHook = dyn Fn(&RetryEvent<'_>) + Send + Sync;

/// Endpoint paths. Some endpoints of the API have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PathStyle {
    /// `/v1/agent`, `/chat/completions`, `/async/chat/completions`.
    #[default]
    Agent,
    /// `/v1/responses` instead of `/v1/agent`, as in the official SDKs; gateways may only have this path.
    Sdk,
    /// `/v1/sonar` and `/v1/async/sonar` instead of `/chat/completions` and `/async/chat/completions`, as in the API
    /// reference.
    V1,
}

/// Returns a random number for form boundaries and idempotency keys.
pub(crate) fn random() -> [u64; 2] {
    [fastrand::u64(..), fastrand::u64(..)]
}

impl Client {
    /// Default base URL.
    pub const BASE_URL: &str = "https://api.perplexity.ai";

    /// Creates a client with this API key. Other settings come from the environment, see
    /// [`from_env`](Self::from_env).
    ///
    /// # Errors
    ///
    /// Same as [`ClientBuilder::build`].
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// Creates a client from the environment: `PERPLEXITY_API_KEY` or `PPLX_API_KEY`, `PERPLEXITY_BASE_URL`
    /// and `PERPLEXITY_CUSTOM_HEADERS`.
    ///
    /// # Errors
    ///
    /// Same as [`ClientBuilder::build`].
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Returns a builder with the settings of this client. The new client shares its connections, unless
    /// [`connect`](ClientBuilder::connect), [`service`](ClientBuilder::service) or
    /// [`http_client`](ClientBuilder::http_client) is called.
    ///
    /// # Examples
    ///
    /// ```
    /// # let client = tightwire_perplexity::Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").build()?;
    /// let persistent = client.to_builder().max_retries(8).build()?;
    /// # Ok::<(), tightwire_perplexity::Error>(())
    /// ```
    pub fn to_builder(&self) -> ClientBuilder {
        ClientBuilder::of(&self.inner)
    }

    /// Returns the base URL without its query. It includes a password, if any.
    pub fn base_url(&self) -> &str {
        self.inner.base.as_url().as_str()
    }

    /// Creates a request to any path of the API, with the authentication, retries and errors of the typed
    /// methods.
    ///
    /// The response is decoded as a [`tightwire_json::Value`], unless the call is changed. `path` is appended
    /// to the base URL; it must be percent-encoded and may have a query.
    ///
    /// # Examples
    ///
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
    pub fn request(&self, method: Method, path: &str) -> Call<tightwire_json::Value> {
        Call::json(self, Ok(Plan::new(method, path.to_owned())))
    }

    pub(crate) fn path_style(&self) -> PathStyle {
        self.inner.options.path_style
    }

    /// Returns whether requests are validated before they are sent.
    pub(crate) fn validates(&self) -> bool {
        self.inner.options.validates
    }

    pub(crate) fn key(&self) -> &str {
        self.inner.key.expose_secret()
    }
}

impl fmt::Debug for Client {
    /// Omits the API key and the values of headers and query parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.inner.base)
            .field("transport", &self.inner.transport)
            .field("timeouts", &self.inner.options.timeouts)
            .field("retry", &self.inner.options.retry)
            .field("max_body_size", &self.inner.options.max_body)
            .field("path_style", &self.inner.options.path_style)
            .finish_non_exhaustive()
    }
}
