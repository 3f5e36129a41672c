//! Client configuration.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use secrecy::{ExposeSecret as _, SecretString};
use tightwire_sse::without_urls;
use tower_service::Service;

use super::headers::{self, HeaderEdit};
use super::timeouts::Timeouts;
use super::transport::Transport;
use super::url::BaseUrl;
use super::{Client, ClientOptions, PathStyle, Settings};
use crate::error::{BoxError, Error, Result};
use crate::retry::{RetryEvent, RetryPolicy};

/// Connection settings of a client that creates its own connections; see [`ClientBuilder::connect`].
///
/// For durations, `None` means no limit.
///
/// # Examples
///
/// ```
/// let connect = tightwire_perplexity::Connect { proxy: tightwire_perplexity::Proxy::None, ..Default::default() };
/// ```
#[derive(Debug, Clone)]
pub struct Connect {
    /// Timeout of establishing a connection, TLS handshake included. Default: 5 s.
    pub timeout: Option<Duration>,
    /// Time after which an idle connection is closed. Default: 90 s.
    pub idle_timeout: Option<Duration>,
    /// Maximum idle connections per host. Default: unlimited.
    pub max_idle: usize,
    /// Maximum redirects to follow. The API key is not sent to another host. Default: 10.
    pub max_redirects: usize,
    /// Proxy configuration. Default: [`Proxy::System`].
    pub proxy: Proxy,
    /// Additional root certificates in PEM format (RFC 7468, concatenated), trusted besides those of the
    /// platform. For proxies and servers with a private certificate authority. Default: none.
    pub root_certificates: String,
}

/// Proxy configuration.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// Use the proxy of the environment variables or platform settings. Requires the feature `system-proxy`.
    #[default]
    System,
    /// Connect directly.
    None,
    /// Use the proxy with this URL for all requests.
    Url(String),
}

impl fmt::Debug for Proxy {
    /// Omits the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::None => "None",
            Self::Url(_) => "Url",
        })
    }
}

impl Default for Connect {
    fn default() -> Self {
        Self {
            timeout: Some(Duration::from_secs(5)),
            idle_timeout: Some(Duration::from_secs(90)),
            max_idle: usize::MAX,
            max_redirects: 10,
            proxy: Proxy::System,
            root_certificates: String::new(),
        }
    }
}

impl Connect {
    #[cfg(any(feature = "rustls", feature = "rustls-no-provider"))]
    fn add_root_certificates(&self, builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
        let malformed = || Error::config("root certificate is malformed");
        let certificates = reqwest::Certificate::from_pem_bundle(self.root_certificates.as_bytes())
            .map_err(|error| malformed().with_source(without_urls(error)))?;
        if certificates.is_empty() {
            return Err(malformed());
        }
        Ok(builder.tls_certs_merge(certificates))
    }

    #[cfg(not(any(feature = "rustls", feature = "rustls-no-provider")))]
    fn add_root_certificates(&self, _builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
        Err(Error::config("root certificates require one of the TLS features"))
    }

    fn client(&self) -> Result<reqwest::Client> {
        // reqwest panics without a provider.
        #[cfg(all(feature = "rustls-no-provider", not(feature = "rustls")))]
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(Error::config("no rustls crypto provider is installed"));
        }
        let config_error = |error: reqwest::Error| {
            Error::config("HTTP client cannot be created").with_source(without_urls(error))
        };
        let mut builder = reqwest::Client::builder()
            .pool_idle_timeout(self.idle_timeout)
            .pool_max_idle_per_host(self.max_idle)
            .redirect(Policy::limited(self.max_redirects));
        if let Some(timeout) = self.timeout {
            builder = builder.connect_timeout(timeout);
        }
        builder = match &self.proxy {
            Proxy::System => builder,
            Proxy::None => builder.no_proxy(),
            Proxy::Url(url) => builder.proxy(reqwest::Proxy::all(url).map_err(config_error)?),
        };
        if !self.root_certificates.is_empty() {
            builder = self.add_root_certificates(builder)?;
        }
        builder.build().map_err(config_error)
    }
}

/// Environment variables of a client. Blank values count as unset.
#[derive(Default)]
struct Environment {
    api_key: Option<SecretString>,
    base_url: Option<String>,
    headers: Vec<HeaderEdit>,
}

impl Environment {
    fn from_process() -> Result<Self> {
        let variable = |name| std::env::var(name).ok();
        let text =
            |name| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        Ok(Self {
            api_key: text("PERPLEXITY_API_KEY").or_else(|| text("PPLX_API_KEY")).map(Into::into),
            base_url: text("PERPLEXITY_BASE_URL"),
            headers: headers::parse_lines(&variable("PERPLEXITY_CUSTOM_HEADERS").unwrap_or_default())?,
        })
    }
}

/// Builder of a [`Client`] or `blocking::Client`. Configuration errors are reported by [`build`](Self::build).
#[must_use = "a builder does nothing until it is built"]
pub struct ClientBuilder<C = Client> {
    key: Option<SecretString>,
    base_url: Option<String>,
    transport: Option<Transport>,
    connect: Option<Connect>,
    environment: bool,
    options: ClientOptions,
    first_error: Option<Error>,
    client: PhantomData<fn() -> C>,
}

impl<C: From<Client>> ClientBuilder<C> {
    pub(crate) fn new() -> Self {
        Self {
            key: None,
            base_url: None,
            transport: None,
            connect: None,
            environment: true,
            options: ClientOptions::default(),
            first_error: None,
            client: PhantomData,
        }
    }

    /// Creates a builder with the settings of an existing client.
    pub(super) fn of(settings: &Settings) -> Self {
        let query = settings.base.query().map(|query| format!("?{query}")).unwrap_or_default();
        Self {
            key: Some(settings.key.clone()),
            base_url: Some(format!("{}{query}", settings.base.as_url())),
            transport: Some(settings.transport.clone()),
            // The settings already include the environment.
            environment: false,
            options: settings.options.clone(),
            ..Self::new()
        }
    }

    fn record_error<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.first_error.get_or_insert(error).is_config()).ok()
    }

    /// Sets the API key. Default: `PERPLEXITY_API_KEY`, then `PPLX_API_KEY`, which some other programs use.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into().into());
        self
    }

    /// Sets the base URL. Endpoint paths are appended to its path, and its query is sent with every request.
    /// Default: `PERPLEXITY_BASE_URL`, then [`Client::BASE_URL`].
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Ignores the environment variables. Default: unset options are read from them.
    pub fn without_environment(mut self) -> Self {
        self.environment = false;
        self
    }

    /// Sends requests with an existing reqwest client, which brings its own TLS, proxy and DNS settings. Its
    /// timeouts and redirect policy apply in addition to those of this builder. The last call of this method,
    /// [`service`](Self::service) and [`connect`](Self::connect) wins.
    ///
    /// # Examples
    ///
    /// ```
    /// let http = reqwest::Client::builder().local_address(std::net::IpAddr::from([127, 0, 0, 1])).build()?;
    /// let client = tightwire_perplexity::Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").http_client(http).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.transport = Some(Transport::Reqwest(client));
        self
    }

    /// Sends requests through a tower service: any HTTP client with the types of the `http` crate, such as that of
    /// hyper-util; a [`ReqwestService`](crate::ReqwestService) wrapped in layers; or a test double, such as a router.
    ///
    /// Each attempt calls a clone of the service, so layers see retries as well. Waiting until the service is
    /// ready counts towards the timeouts of the attempt; increase them for long queues. [`Connect`] does not apply:
    /// redirects, proxies, decompression and the connect timeout are those of the service. An error of the service
    /// is a timeout ([`Error::is_timeout`]) if its source chain contains an I/O error of the kind `TimedOut` or a
    /// timeout of tokio, otherwise a connection error.
    ///
    /// # Examples
    ///
    /// At most four concurrent requests, and 50 per minute. The rate limit has a single state, which the
    /// buffer layer shares among the clones.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tightwire_perplexity::{Client, ReqwestService};
    /// use tower::ServiceBuilder;
    /// use tower::buffer::BufferLayer;
    /// use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> tightwire_perplexity::Result<()> {
    /// let service = ServiceBuilder::new()
    ///     .layer(ConcurrencyLimitLayer::new(4))
    ///     .layer(BufferLayer::new(64))
    ///     .layer(RateLimitLayer::new(50, Duration::from_secs(60)))
    ///     .service(ReqwestService::from(reqwest::Client::new()));
    /// let client = Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").service(service).build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Set a header that depends on the request:
    ///
    /// ```
    /// use tightwire_perplexity::{Client, ReqwestService};
    /// use tower::ServiceExt as _;
    ///
    /// let http = ReqwestService::from(reqwest::Client::new());
    /// let service = http.map_request(|mut request: http::Request<reqwest::Body>| {
    ///     let length = request.body().as_bytes().map_or(0, <[u8]>::len);
    ///     request.headers_mut().insert("x-length", length.into());
    ///     request
    /// });
    /// let client = Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").service(service).build()?;
    /// # Ok::<(), tightwire_perplexity::Error>(())
    /// ```
    ///
    /// Send through hyper-util, here without TLS:
    ///
    /// ```
    /// use hyper_util::rt::TokioExecutor;
    ///
    /// let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http();
    /// let builder = tightwire_perplexity::Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").service(http);
    /// let client = builder.base_url("http://127.0.0.1:8080").build()?;
    /// # Ok::<(), tightwire_perplexity::Error>(())
    /// ```
    pub fn service<S, B>(mut self, service: S) -> Self
    where
        S: Service<http::Request<reqwest::Body>, Response = http::Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.transport = Some(Transport::service(service));
        self
    }

    /// Sets the connection options. The client then creates its own connections. Default:
    /// [`Connect::default`].
    pub fn connect(mut self, connect: Connect) -> Self {
        self.transport = None;
        self.connect = Some(connect);
        self
    }

    /// Sets a header of every request, such as `user-agent`. It overrides the client's defaults and the headers of
    /// `PERPLEXITY_CUSTOM_HEADERS` (one `name: value` per line).
    pub fn default_header(mut self, name: &str, value: &str) -> Self {
        let edit = headers::parse_name(name).and_then(|name| Ok((name, Some(headers::parse_value(value)?))));
        let edit = self.record_error(edit);
        self.options.edits.extend(edit);
        self
    }

    /// Removes a header that the client sends by default.
    pub fn without_default_header(mut self, name: &str) -> Self {
        let name = self.record_error(headers::parse_name(name));
        self.options.edits.extend(name.map(|name| (name, None)));
        self
    }

    /// Sets a query parameter of every request.
    pub fn default_query(mut self, name: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        let name = name.into();
        self.options.query.retain(|(other, _)| *other != name);
        self.options.query.push((name, value.to_string()));
        self
    }

    /// Sets the timeouts of calls. Default: [`Timeouts::new`].
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.options.timeouts = timeouts;
        self
    }

    /// Sets one timeout for the response headers, for an attempt, and for the idle time of a stream.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.options.timeouts = Timeouts { total: self.options.timeouts.total, ..Timeouts::each(limit) };
        self
    }

    /// Sets the timeout of a whole call, including retries, streams and waiting for a job; see [`Timeouts::total`].
    /// Default: none.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.options.timeouts.total = Some(limit);
        self
    }

    /// Sets the retry policy. Default: [`RetryPolicy::new`].
    pub fn retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.options.retry = policy;
        self
    }

    /// Sets the maximum number of retries per call. Default: 2.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.options.retry.max_retries = retries;
        self
    }

    /// Calls `hook` before each retry.
    pub fn on_retry(mut self, hook: impl Fn(&RetryEvent<'_>) + Send + Sync + 'static) -> Self {
        self.options.on_retry = Some(Arc::new(hook));
        self
    }

    /// Adds a random idempotency key to every call whose method is not idempotent.
    pub fn automatic_idempotency_keys(mut self) -> Self {
        self.options.automatic_keys = true;
        self
    }

    /// Disables local validation: requests are sent as they are.
    pub fn without_validation(mut self) -> Self {
        self.options.validates = false;
        self
    }

    /// Sets the maximum size of response bodies, in bytes. It does not apply to streams and downloads.
    /// Default: 64 MiB.
    pub fn max_body_size(mut self, bytes: usize) -> Self {
        self.options.max_body = bytes;
        self
    }

    /// Selects between the alternative endpoint paths of the API. Default: [`PathStyle::Agent`].
    pub fn path_style(mut self, style: PathStyle) -> Self {
        self.options.path_style = style;
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`] if the API key is missing, if the key, base URL, proxy or a certificate is
    /// malformed, or if the feature `rustls-no-provider` is used and no provider is installed.
    /// [`Error::is_invalid_request`] if a header is malformed, including those of the environment.
    pub fn build(mut self) -> Result<C> {
        if let Some(first_error) = self.first_error.take() {
            return Err(first_error);
        }
        let environment =
            if self.environment { Environment::from_process()? } else { Environment::default() };
        let key = match self.key {
            Some(key) => SecretString::from(key.expose_secret().trim()),
            None => environment.api_key.ok_or_else(|| {
                Error::config("API key is missing (set PERPLEXITY_API_KEY or call api_key)")
            })?,
        };
        if key.expose_secret().is_empty() {
            return Err(Error::config("API key is empty"));
        }
        let url = self.base_url.or(environment.base_url);
        let base = BaseUrl::new(url.as_deref().unwrap_or(Client::BASE_URL))?;
        let transport = match self.transport {
            Some(transport) => transport,
            None => Transport::Reqwest(self.connect.unwrap_or_default().client()?),
        };
        let mut options = self.options;
        options.edits.splice(0..0, environment.headers);
        let mut headers = headers::defaults(headers::bearer(key.expose_secret())?);
        headers::apply(&mut headers, &options.edits);
        Ok(Client { inner: Arc::new(Settings { key, base, transport, headers, options }) }.into())
    }
}

impl<C> fmt::Debug for ClientBuilder<C> {
    /// Omits the API key, the URL, and the values of headers and query parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("timeouts", &self.options.timeouts)
            .field("retry", &self.options.retry)
            .field("first_error", &self.first_error)
            .finish_non_exhaustive()
    }
}
