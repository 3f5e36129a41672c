//! Sends envelopes over HTTP.

use std::error::Error as _;
use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Identity, Proxy, Response, Url};
use zeroize::Zeroizing;

use super::Wsman;
#[cfg(feature = "negotiate")]
use super::connection_pool::ConnectionPool;
use super::credentials::{AuthMethod, CertificateTrust, trust_only, unusable_identity};
#[cfg(feature = "negotiate")]
use super::encryption::Scheme;
use crate::b64;
use crate::error::{Error, Kind};
use crate::io::peer_text::peer_text;

/// Delays before a connection is opened again.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// Authentication scheme of clients that TLS identifies by their certificate (DSP0226 12).
const MUTUAL_TLS: &str = "http://schemas.dmtf.org/wbem/wsman/1/wsman/secprofile/https/mutual";

pub(super) const SOAP: HeaderValue = HeaderValue::from_static("application/soap+xml;charset=UTF-8");

/// HTTP client of one service, with authentication.
pub(super) struct HttpClient {
    pub(super) endpoint: HttpEndpoint,
    authentication: HttpAuth,
}

/// URL of a service and settings of its connections.
pub(super) struct HttpEndpoint {
    pub(super) url: Url,
    pub(super) wsman: Wsman,
}

enum HttpAuth {
    /// `Authorization` header of each request. Requests share connections.
    Header { client: Client, header: HeaderValue },
    /// Every connection is authenticated separately.
    #[cfg(feature = "negotiate")]
    Negotiate(ConnectionPool),
}

pub(super) struct HttpResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// DER certificate of the server, if the connection uses TLS.
    #[cfg(feature = "negotiate")]
    pub(super) certificate: Option<Vec<u8>>,
}

impl HttpClient {
    /// Creates the HTTP client of a service. Fails with [`Error::is_untrusted`] if the trusted certificates are not
    /// valid, and with [`Error::is_unsupported`] if host and path do not form a valid URL or the credentials cannot be
    /// encoded in a header.
    pub(super) fn new(wsman: Wsman) -> Result<Self, Error> {
        let url = Url::parse(&wsman.endpoint()).map_err(|error| {
            Error::with(Kind::Unsupported, "host and path do not form a valid URL").caused_by(error)
        })?;
        let endpoint = HttpEndpoint { url, wsman };
        let credentials = &endpoint.wsman.credentials;
        // Reports invalid settings now rather than at the first request.
        let client = endpoint.client()?;
        let authentication = match credentials.method {
            AuthMethod::Basic => {
                let text = Zeroizing::new(format!("{}:{}", *credentials.user, **credentials.password));
                let text = Zeroizing::new(format!("Basic {}", b64::encode_to_string(text.as_bytes())));
                let mut header = HeaderValue::from_str(&text).map_err(|_| {
                    Error::with(Kind::Unsupported, "the credentials cannot be encoded as a header")
                })?;
                header.set_sensitive(true);
                HttpAuth::Header { client, header }
            }
            AuthMethod::Certificate => {
                HttpAuth::Header { client, header: HeaderValue::from_static(MUTUAL_TLS) }
            }
            #[cfg(feature = "negotiate")]
            AuthMethod::Negotiate(mechanisms) => HttpAuth::Negotiate(ConnectionPool::new(mechanisms, client)),
        };
        Ok(Self { endpoint, authentication })
    }

    /// Sends an envelope and returns the response envelope, which can be a fault. Fails with [`Error::is_io`] or
    /// [`Error::is_timeout`] if there is no response, with [`Error::is_limit`] if it is too large, with
    /// [`Error::is_untrusted`] if the server's identity is not verified, with [`Error::is_denied`] if the server
    /// rejects the user, and with [`Error::is_refused`] if the response is not an envelope.
    pub(super) async fn post(&self, envelope: Vec<u8>) -> Result<Vec<u8>, Error> {
        let response = match &self.authentication {
            HttpAuth::Header { client, header } => {
                let mut headers = HeaderMap::new();
                headers.insert(AUTHORIZATION, header.clone());
                headers.insert(CONTENT_TYPE, SOAP);
                self.endpoint.exchange(client, headers, envelope).await?
            }
            #[cfg(feature = "negotiate")]
            HttpAuth::Negotiate(pool) => pool.post(&self.endpoint, envelope).await?,
        };
        response.into_envelope(self.endpoint.wsman.credentials.method)
    }
}

impl HttpEndpoint {
    /// Creates a reqwest client with its own connections. Fails if the certificates are not valid.
    pub(super) fn client(&self) -> Result<Client, Error> {
        let builder = ClientBuilder::new()
            .http1_only()
            // Independent of the features that other crates enable for reqwest: its errors and channel bindings are
            // known.
            .tls_backend_rustls()
            .no_proxy()
            .redirect(Policy::none())
            // The size limit applies to the bytes received.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .tcp_nodelay(true)
            .tls_info(cfg!(feature = "negotiate"))
            .user_agent(concat!("psrp/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.wsman.connect_timeout)
            .timeout(self.wsman.operation_timeout.saturating_add(self.wsman.grace));
        let builder = match &self.wsman.proxy {
            Some(url) => builder.proxy(proxy(url)?),
            None => builder,
        };
        let identity = self.wsman.credentials.identity();
        let builder = match identity {
            Some(pem) => builder.identity(Identity::from_pem(pem).map_err(unusable_identity)?),
            None => builder,
        };
        let builder = match &self.wsman.trust {
            CertificateTrust::Platform => builder,
            CertificateTrust::Only(pem) => builder.tls_backend_preconfigured(trust_only(pem, identity)?),
            CertificateTrust::All => builder.tls_danger_accept_invalid_certs(true),
        };
        builder.build().map_err(|error| match identity {
            Some(_) => unusable_identity(error),
            None => Error::with(Kind::Untrusted, "TLS can't be set up").caused_by(error),
        })
    }

    pub(super) async fn exchange(
        &self,
        client: &Client,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<HttpResponse, Error> {
        // The size limit would not bound a compressed response.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut response = self.send(client, headers, body).await?;
        let body = self.body(&mut response).await?;
        Ok(HttpResponse {
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

    /// Sends a request. Repeats it while no connection can be opened, because nothing was sent then.
    async fn send(&self, client: &Client, headers: HeaderMap, mut body: Vec<u8>) -> Result<Response, Error> {
        let (mut retries, mut delay) = (self.wsman.connect_retries, MIN_RETRY_DELAY);
        loop {
            let content = if retries > 0 { body.clone() } else { std::mem::take(&mut body) };
            let request = client.post(self.url.clone()).headers(headers.clone()).body(content);
            match request.send().await {
                Err(error) if retries > 0 && error.is_connect() && !is_certificate(&error) => {
                    tokio::time::sleep(delay).await;
                    retries -= 1;
                    delay = (2 * delay).min(MAX_RETRY_DELAY);
                }
                result => return result.map_err(request_error),
            }
        }
    }

    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(request_error)? {
            if body.len() + chunk.len() > self.wsman.max_response_size {
                return Err(Error::with(Kind::Limit, "bytes of a response (see max_response_size)"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

impl HttpResponse {
    /// Returns the envelope. Faults have an envelope too, but an error status.
    fn into_envelope(self, method: AuthMethod) -> Result<Vec<u8>, Error> {
        if self.status == StatusCode::UNAUTHORIZED {
            return Err(self.denied(match method {
                AuthMethod::Basic => "Basic",
                AuthMethod::Certificate => "certificate",
                #[cfg(feature = "negotiate")]
                AuthMethod::Negotiate(_) => Scheme::Negotiate.name(),
            }));
        }
        let kind = self.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_envelope = kind.to_ascii_lowercase().starts_with("application/soap+xml");
        if self.status.is_success() || (is_envelope && !self.body.is_empty()) {
            return Ok(self.body);
        }
        let status = self.status.as_u16();
        Err(Error::with(Kind::Refused, format!("HTTP status {status}")))
    }

    /// Returns the authentication schemes of the `WWW-Authenticate` headers, each with its token or parameters.
    fn challenges(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.headers.get_all(WWW_AUTHENTICATE).iter();
        values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(|challenge| {
            let challenge = challenge.trim();
            challenge.split_once(' ').map_or((challenge, ""), |(name, token)| (name, token.trim()))
        })
    }

    /// Returns the token of an authentication scheme.
    #[cfg(feature = "negotiate")]
    pub(super) fn challenge(&self, scheme: &str) -> Option<&str> {
        self.challenges().find_map(|(name, token)| name.eq_ignore_ascii_case(scheme).then_some(token))
    }

    /// Returns the error of a rejected login with this scheme. It lists the offered schemes if this one is not offered.
    pub(super) fn denied(&self, scheme: &str) -> Error {
        // Parameters of a scheme that follow a comma are no schemes.
        let is_name = |name: &&str| {
            !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'-'))
        };
        let offered: Vec<&str> = self.challenges().map(|(name, _)| name).filter(is_name).collect();
        if offered.is_empty() || offered.iter().any(|name| name.eq_ignore_ascii_case(scheme)) {
            return Error::with(Kind::Denied, "the service rejected the credentials");
        }
        let offered = peer_text(&offered.join(", "));
        Error::with(
            Kind::Denied,
            format!("the service does not offer {scheme} authentication, only {offered}"),
        )
    }
}

/// Parses the URL of a proxy. The error does not contain it, because it can have a password.
fn proxy(url: &str) -> Result<Proxy, Error> {
    let invalid = || Error::with(Kind::Unsupported, "the proxy must have the form http://HOST:PORT");
    let parsed = Url::parse(url).map_err(|_| invalid())?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(invalid());
    }
    Proxy::all(parsed).map_err(|_| invalid())
}

fn request_error(error: reqwest::Error) -> Error {
    // The URL can contain secrets of the caller; the causes explain the failure.
    let error = error.without_url();
    if error.is_timeout() {
        return Error::with(Kind::Timeout, "to respond to a request").caused_by(error);
    }
    match is_certificate(&error) {
        true => Error::with(Kind::Untrusted, "the server's certificate is not trusted").caused_by(error),
        false => Error::with(Kind::Io, "HTTP request").caused_by(error),
    }
}

fn is_certificate(error: &reqwest::Error) -> bool {
    let mut next = error.source();
    while let Some(cause) = next {
        if matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        // `source` of an I/O error skips the error that it wraps.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    false
}
