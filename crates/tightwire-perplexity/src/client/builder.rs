//! Settings of a client.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret as _, SecretString};
use tightwire_sse::without_urls;
use tower_service::Service;

use super::env::Environment;
use super::headers::{self, Edit};
use super::timeouts::Timeouts;
use super::transport::Transport;
use super::url::{BaseUrl, Pair};
use super::{Client, OnRetry, PathStyle, RetryEvent, Settings};
use crate::error::{BoxError, Error, Result};
use crate::retry::RetryPolicy;

/// How connections are made, for a client that makes its own; see [`ClientBuilder::connect`].
///
/// For times, `None` means no limit.
///
/// # Examples
/// ```
/// let connect = tightwire_perplexity::Connect { proxy: tightwire_perplexity::Proxy::None, ..Default::default() };
/// ```
#[derive(Debug, Clone)]
pub struct Connect {
    /// How long making a connection may take, TLS included. Default: 5 s.
    pub timeout: Option<Duration>,
    /// How long an idle connection is kept. Default: 90 s.
    pub idle_timeout: Option<Duration>,
    /// How many idle connections are kept per host. Default: as many as there are.
    pub max_idle: usize,
    /// How many redirects are followed. The key is not sent to another host. Default: 10.
    pub max_redirects: usize,
    /// Where proxies come from. Default: [`Proxy::System`].
    pub proxy: Proxy,
    /// Certificates of authorities to trust besides those of the platform, in PEM form (RFC 7468), one after the
    /// other: for proxies and servers with certificates of their own. Default: none.
    pub authorities: String,
}

/// Where proxies come from.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// The environment and the settings of the platform, with the feature `system-proxy`.
    #[default]
    System,
    /// There is none.
    None,
    /// The one with this URL, for all requests.
    Url(String),
}

impl fmt::Debug for Proxy {
    /// Leaves out the URL, which may have a password.
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
            authorities: String::new(),
        }
    }
}

impl Connect {
    /// Trusts the further authorities.
    #[cfg(any(feature = "rustls", feature = "rustls-no-provider"))]
    fn trusting(&self, builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
        let malformed = || Error::config("a certificate of an authority is malformed");
        let certificates = reqwest::Certificate::from_pem_bundle(self.authorities.as_bytes())
            .map_err(|error| malformed().with_source(without_urls(error)))?;
        if certificates.is_empty() {
            return Err(malformed());
        }
        Ok(builder.tls_certs_merge(certificates))
    }

    #[cfg(not(any(feature = "rustls", feature = "rustls-no-provider")))]
    fn trusting(&self, _builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
        Err(Error::config("authorities are of no use without a feature for TLS"))
    }

    fn client(&self) -> Result<reqwest::Client> {
        // Without a provider reqwest would panic.
        #[cfg(all(feature = "rustls-no-provider", not(feature = "rustls")))]
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(Error::config("no provider of cryptography is installed for rustls"));
        }
        let refused = |error: reqwest::Error| {
            Error::config("connections cannot be set up").with_source(without_urls(error))
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
            Proxy::Url(url) => builder.proxy(reqwest::Proxy::all(url).map_err(refused)?),
        };
        if !self.authorities.is_empty() {
            builder = self.trusting(builder)?;
        }
        builder.build().map_err(refused)
    }
}

/// Builds a [`Client`]. Mistakes are reported once, by [`build`](Self::build).
#[must_use = "a builder does nothing until it is built"]
pub struct ClientBuilder {
    key: Option<SecretString>,
    base_url: Option<String>,
    transport: Option<Transport>,
    connect: Option<Connect>,
    /// Whether to look at the environment.
    environment: bool,
    /// Those of the environment come before them.
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
    /// The first mistake.
    problem: Option<Error>,
}

impl ClientBuilder {
    /// The default of [`max_body_size`](Self::max_body_size): 64 MiB.
    pub const DEFAULT_MAX_BODY_SIZE: usize = 64 << 20;

    pub(super) fn new() -> Self {
        Self {
            key: None,
            base_url: None,
            transport: None,
            connect: None,
            environment: true,
            edits: Vec::new(),
            query: Vec::new(),
            timeouts: Timeouts::new(),
            retry: RetryPolicy::new(),
            max_body: Self::DEFAULT_MAX_BODY_SIZE,
            path_style: PathStyle::default(),
            automatic_keys: false,
            platform_headers: false,
            validates: true,
            on_retry: None,
            problem: None,
        }
    }

    /// A builder of the same client.
    pub(super) fn of(settings: &Settings) -> Self {
        let query = settings.base.query().map(|query| format!("?{query}")).unwrap_or_default();
        Self {
            key: Some(settings.key.clone()),
            base_url: Some(format!("{}{query}", settings.base.as_url())),
            transport: Some(settings.transport.clone()),
            connect: None,
            // What it says is part of the settings already.
            environment: false,
            edits: settings.edits.clone(),
            query: settings.query.clone(),
            timeouts: settings.timeouts,
            retry: settings.retry.clone(),
            max_body: settings.max_body,
            path_style: settings.path_style,
            automatic_keys: settings.automatic_keys,
            platform_headers: settings.platform_headers,
            validates: settings.validates,
            on_retry: settings.on_retry.clone(),
            problem: None,
        }
    }

    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.problem.get_or_insert(error).is_config()).ok()
    }

    /// Sets the API key. Default: `PERPLEXITY_API_KEY`, then `PPLX_API_KEY`, which other programs use.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into().into());
        self
    }

    /// Sets the URL that paths are appended to; its own path and query are kept. Default: `PERPLEXITY_BASE_URL`, then
    /// [`Client::BASE_URL`].
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Does not look at the environment. Default: what is not set is looked up there.
    pub fn without_environment(mut self) -> Self {
        self.environment = false;
        self
    }

    /// Sends requests with this client of reqwest: with certificates, proxies, DNS, or HTTP/2 without negotiation, as
    /// it was built. Its timeouts and redirects apply besides those of this builder. Of this, [`service`](Self::service)
    /// and [`connect`](Self::connect) the last one that is called counts.
    ///
    /// # Examples
    /// ```
    /// let http = reqwest::Client::builder().local_address(std::net::IpAddr::from([127, 0, 0, 1])).build()?;
    /// let client = tightwire_perplexity::Client::builder().api_key("key").http_client(http).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.transport = Some(Transport::Reqwest(client));
        self
    }

    /// Sends requests through a tower service: a `reqwest::Client` with layers around it, or a test's answers.
    ///
    /// Each attempt is one call of a clone of the service, so that layers see retries as well. Waiting for the service
    /// is part of the attempt, and its time limits count it; for a queue that may be long, set longer ones.
    ///
    /// # Examples
    /// At most four requests at once, and 50 per minute. A limit of rate has one state for all calls, which the queue
    /// before it shares among the clones.
    ///
    /// ```
    /// use std::time::Duration;
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
    ///     .service(reqwest::Client::new());
    /// let client = tightwire_perplexity::Client::builder().api_key("key").service(service).build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A header that depends on the request:
    ///
    /// ```
    /// use tower::ServiceExt;
    ///
    /// let service = reqwest::Client::new().map_request(|mut request: reqwest::Request| {
    ///     let length = request.body().and_then(reqwest::Body::as_bytes).map_or(0, <[u8]>::len);
    ///     request.headers_mut().insert("x-length", length.into());
    ///     request
    /// });
    /// let client = tightwire_perplexity::Client::builder().api_key("key").service(service).build()?;
    /// # Ok::<(), tightwire_perplexity::Error>(())
    /// ```
    pub fn service<S>(mut self, service: S) -> Self
    where
        S: Service<reqwest::Request, Response = reqwest::Response> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        self.transport = Some(Transport::service(service));
        self
    }

    /// Sets how connections are made. The client then has connections of its own. Default: [`Connect::default`].
    pub fn connect(mut self, connect: Connect) -> Self {
        self.transport = None;
        self.connect = Some(connect);
        self
    }

    /// Sets a header of every request; it wins over the client's own and over `PERPLEXITY_CUSTOM_HEADERS`, where each
    /// line has a name, a colon and a value.
    pub fn default_header(mut self, name: &str, value: &str) -> Self {
        let edit = headers::parse_name(name).and_then(|name| Ok((name, Some(headers::parse_value(value)?))));
        let edit = self.note(edit);
        self.edits.extend(edit);
        self
    }

    /// Leaves out a header that the client would send by itself.
    pub fn without_default_header(mut self, name: &str) -> Self {
        let name = self.note(headers::parse_name(name));
        self.edits.extend(name.map(|name| (name, None)));
        self
    }

    /// Forgets the headers that were set so far, those of the client that this builder began with included.
    pub fn clear_default_headers(mut self) -> Self {
        self.edits.clear();
        self
    }

    /// Sets a parameter of the query of every request.
    pub fn default_query(mut self, name: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        let name = name.into();
        self.query.retain(|(other, _)| *other != name);
        self.query.push((name, value.to_string()));
        self
    }

    /// Forgets the parameters that were set so far.
    pub fn clear_default_query(mut self) -> Self {
        self.query.clear();
        self
    }

    /// Sets the `User-Agent` header. Default: name and version of this crate.
    pub fn user_agent(mut self, agent: &str) -> Self {
        let agent = self.note(headers::parse_value(agent));
        self.edits.extend(agent.map(|agent| (http::header::USER_AGENT, Some(agent))));
        self
    }

    /// Sets the time limits of calls. Default: [`Timeouts::new`].
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the same limit for the headers, for one attempt, and for the silence between two reads of a stream.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeouts = Timeouts { total: self.timeouts.total, ..Timeouts::each(limit) };
        self
    }

    /// Sets when calls are sent again. Default: [`RetryPolicy::new`].
    pub fn retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Sets how often a call is sent again. Default: 2.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.retry = self.retry.max_retries(retries);
        self
    }

    /// Calls `hook` before each retry.
    pub fn on_retry(mut self, hook: impl Fn(&RetryEvent<'_>) + Send + Sync + 'static) -> Self {
        self.on_retry = Some(Arc::new(hook));
        self
    }

    /// Gives every call that is not idempotent by its method a random idempotency key.
    pub fn automatic_idempotency_keys(mut self) -> Self {
        self.automatic_keys = true;
        self
    }

    /// Describes the platform in `x-stainless-*` headers, as the clients of the vendor do.
    pub fn platform_headers(mut self) -> Self {
        self.platform_headers = true;
        self
    }

    /// Sends requests without checking them first: the server decides.
    pub fn without_validation(mut self) -> Self {
        self.validates = false;
        self
    }

    /// Limits the bodies of answers, in bytes; streams and downloads are not limited. Default:
    /// [`DEFAULT_MAX_BODY_SIZE`](Self::DEFAULT_MAX_BODY_SIZE).
    pub fn max_body_size(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Chooses among the names of endpoints. Default: [`PathStyle::Sdk`].
    pub fn path_style(mut self, style: PathStyle) -> Self {
        self.path_style = style;
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// [`Error::is_config`] if there is no key, or the key, the base URL, the proxy or a certificate is malformed, and
    /// under the feature `rustls-no-provider` if no provider is installed; [`Error::is_invalid_request`] if a header is
    /// malformed, be it one of the environment.
    pub fn build(mut self) -> Result<Client> {
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        let environment = if self.environment { Environment::of_process()? } else { Environment::default() };
        let key = match self.key {
            Some(key) => SecretString::from(key.expose_secret().trim()),
            None => environment.api_key.ok_or_else(|| Error::config("there is no API key"))?,
        };
        if key.expose_secret().is_empty() {
            return Err(Error::config("the API key is empty"));
        }
        let url = self.base_url.or(environment.base_url);
        let base = BaseUrl::new(url.as_deref().unwrap_or(Client::BASE_URL))?;
        let transport = match self.transport {
            Some(transport) => transport,
            None => Transport::Reqwest(self.connect.unwrap_or_default().client()?),
        };
        let mut edits = environment.headers;
        edits.extend(self.edits);
        let mut headers = headers::defaults(
            headers::bearer(key.expose_secret())?,
            HeaderValue::from_static(headers::AGENT),
        );
        headers::apply(&mut headers, &edits);
        Ok(Client {
            inner: Arc::new(Settings {
                key,
                base,
                transport,
                headers,
                edits,
                query: self.query,
                timeouts: self.timeouts,
                retry: self.retry,
                max_body: self.max_body,
                path_style: self.path_style,
                automatic_keys: self.automatic_keys,
                platform_headers: self.platform_headers,
                validates: self.validates,
                on_retry: self.on_retry,
            }),
        })
    }
}

impl fmt::Debug for ClientBuilder {
    /// Leaves out the key, the URL, and the values of headers and queries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .field("problem", &self.problem)
            .finish_non_exhaustive()
    }
}
