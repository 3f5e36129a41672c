//! Envelopes over HTTP.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Response, Url};
use zeroize::Zeroizing;

use super::config::{Method, Trust, Wsman};
use crate::b64;
use crate::error::{Error, Kind};

pub(super) const SOAP: HeaderValue = HeaderValue::from_static("application/soap+xml;charset=UTF-8");

/// A service, and who it is told that the client is.
pub(super) struct Http {
    wire: Wire,
    authentication: Authentication,
}

/// Where a service is, and what connections to it are like.
pub(super) struct Wire {
    pub(super) url: Url,
    trust: Trust,
    connect_timeout: Duration,
    request_timeout: Duration,
    max_response_size: usize,
}

enum Authentication {
    /// The header that each request has. Requests share their connections.
    Basic { client: Client, header: HeaderValue },
    /// Each connection has authenticated itself.
    #[cfg(feature = "negotiate")]
    Negotiate(super::channel::Channels),
}

/// An answer of HTTP: its body, and what else matters.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// The certificate of the server in DER, if the connection has one.
    #[cfg(feature = "negotiate")]
    pub(super) certificate: Option<Vec<u8>>,
}

impl Http {
    /// # Errors
    ///
    /// As [`Wsman::connect`](crate::io::Connect::connect).
    pub(super) fn new(config: &Wsman) -> Result<Self, Error> {
        let url = Url::parse(&config.endpoint())
            .map_err(|error| Error::with(Kind::Unsupported, "host or path make no URL").caused_by(error))?;
        let wire = Wire {
            url,
            trust: config.trust.clone(),
            connect_timeout: config.connect_timeout,
            request_timeout: config.request_timeout(),
            max_response_size: config.max_response_size,
        };
        // Fails now rather than with the first request.
        let client = wire.client()?;
        let authentication = match config.credentials.method {
            Method::Basic => {
                let credentials = &config.credentials;
                let text = Zeroizing::new(format!("{}:{}", credentials.user, *credentials.password));
                let text = Zeroizing::new(format!("Basic {}", b64::encode_to_string(text.as_bytes())));
                let mut header = HeaderValue::from_str(&text)
                    .map_err(|_| Error::with(Kind::Unsupported, "credentials that make no header"))?;
                header.set_sensitive(true);
                Authentication::Basic { client, header }
            }
            #[cfg(feature = "negotiate")]
            Method::Negotiate(packages) => {
                let channels =
                    super::channel::Channels::new(packages, config.credentials.clone(), config.is_tls);
                Authentication::Negotiate(channels.with_first(client))
            }
        };
        Ok(Self { wire, authentication })
    }

    /// Sends an envelope; the answer to it, which may be a fault.
    ///
    /// # Errors
    ///
    /// Fails if there is no answer ([`Error::is_io`], [`Error::is_timeout`]), if it is too large ([`Error::is_limit`]), if
    /// the server is not to be trusted ([`Error::is_untrusted`]) or refuses the user ([`Error::is_denied`]), and if it
    /// answers with something else than an envelope ([`Error::is_refused`]).
    pub(super) async fn post(&self, envelope: Vec<u8>) -> Result<Vec<u8>, Error> {
        let reply = match &self.authentication {
            Authentication::Basic { client, header } => {
                let mut headers = HeaderMap::new();
                headers.insert(AUTHORIZATION, header.clone());
                headers.insert(CONTENT_TYPE, SOAP);
                self.wire.exchange(client, headers, envelope).await?
            }
            #[cfg(feature = "negotiate")]
            Authentication::Negotiate(channels) => channels.post(&self.wire, envelope).await?,
        };
        reply.into_envelope()
    }
}

impl Wire {
    /// A client with connections of its own.
    ///
    /// # Errors
    ///
    /// Fails if the trusted certificates are none.
    pub(super) fn client(&self) -> Result<Client, Error> {
        let untrusted = |error: reqwest::Error| {
            Error::with(Kind::Untrusted, "certificates that can't be trusted").caused_by(error)
        };
        let builder = ClientBuilder::new()
            .http1_only()
            // Whatever else is built into the same program: its errors are understood, and its bindings known.
            .tls_backend_rustls()
            .no_proxy()
            .redirect(Policy::none())
            // The limit is one of what arrives.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .tcp_nodelay(true)
            .tls_info(cfg!(feature = "negotiate"))
            .user_agent(concat!("psrp/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect_timeout)
            .timeout(self.request_timeout);
        let builder = match &self.trust {
            Trust::Platform => builder,
            Trust::Only(pem) => {
                let certificates = Certificate::from_pem_bundle(pem).map_err(untrusted)?;
                if certificates.is_empty() {
                    return Err(Error::with(Kind::Untrusted, "no certificate to trust"));
                }
                builder.tls_certs_only(certificates)
            }
            Trust::Anything => builder.tls_danger_accept_invalid_certs(true),
        };
        builder.build().map_err(untrusted)
    }

    /// One request and its answer.
    pub(super) async fn exchange(
        &self,
        client: &Client,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Reply, Error> {
        // Compressed answers would not be bounded by their length.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let request = client.post(self.url.clone()).headers(headers).body(body);
        let mut response = request.send().await.map_err(failure)?;
        let body = self.body(&mut response).await?;
        Ok(Reply {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body,
            #[cfg(feature = "negotiate")]
            certificate: response
                .extensions()
                .get::<reqwest::tls::TlsInfo>()
                .and_then(|info| info.peer_certificate().map(Into::into)),
        })
    }

    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failure)? {
            if body.len() + chunk.len() > self.max_response_size {
                return Err(Error::with(Kind::Limit, "bytes of an answer"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

impl Reply {
    /// The envelope, which answers with another status than success have too if they are faults.
    fn into_envelope(self) -> Result<Vec<u8>, Error> {
        if self.status == StatusCode::UNAUTHORIZED {
            return Err(Error::with(Kind::Denied, "the service does not take the credentials"));
        }
        let kind = self.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_envelope = kind.to_ascii_lowercase().starts_with("application/soap+xml");
        if self.status.is_success() || (is_envelope && !self.body.is_empty()) {
            return Ok(self.body);
        }
        let status = self.status.as_u16();
        Err(Error::with(Kind::Refused, format!("the service answers with the status {status} of HTTP")))
    }

    /// The tokens of a scheme that the service has sent.
    #[cfg(feature = "negotiate")]
    pub(super) fn challenge(&self, scheme: &str) -> Option<&str> {
        let values = self.headers.get_all(http::header::WWW_AUTHENTICATE).iter();
        values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).find_map(
            |challenge| {
                let challenge = challenge.trim();
                let (name, token) = challenge.split_once(' ').unwrap_or((challenge, ""));
                name.eq_ignore_ascii_case(scheme).then(|| token.trim())
            },
        )
    }
}

/// The error of a request that has no answer.
fn failure(error: reqwest::Error) -> Error {
    // The URL is the caller's and may be a secret; the causes say what went wrong.
    let error = error.without_url();
    if error.is_timeout() {
        return Error::with(Kind::Timeout, "to answer a request").caused_by(error);
    }
    match is_certificate(&error) {
        true => Error::with(Kind::Untrusted, "its certificate is not believed").caused_by(error),
        false => Error::with(Kind::Io, "a request over HTTP").caused_by(error),
    }
}

/// Whether the certificate of the server is what went wrong.
fn is_certificate(error: &reqwest::Error) -> bool {
    let mut next = error.source();
    while let Some(cause) = next {
        if matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        // The errors of std hide the one that is inside of them from `source`.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    false
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("url", &self.wire.url.as_str()).finish_non_exhaustive()
    }
}
