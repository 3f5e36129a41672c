//! Pool of HTTP connections that are authenticated once each (NTLM and Kerberos).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64_simd::STANDARD;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::Client;

use super::bindings::channel_bindings;
use super::credentials::Mechanisms;
use super::encryption::{self, Scheme};
use super::http::{HttpEndpoint, HttpResponse, SOAP};
use super::negotiate::SecurityContext;
use crate::error::{Error, Kind};

/// Maximum round trips of one authentication. NTLM needs three, Kerberos two or three.
const MAX_ROUND_TRIPS: usize = 8;

/// Pool of idle authenticated connections. A request takes one or opens a new one.
///
/// NTLM and Kerberos authenticate a connection, not a request. Each connection therefore has its own reqwest client,
/// which reuses its single connection as long as requests are sequential. Cancelling a request drops its client and
/// connection.
pub(super) struct ConnectionPool {
    mechanisms: Mechanisms,
    /// The service offers `Kerberos` and not `Negotiate`.
    is_kerberos_only: AtomicBool,
    idle: Mutex<Vec<PooledConnection>>,
}

struct PooledConnection {
    client: Client,
    context: Option<SecurityContext>,
}

impl ConnectionPool {
    /// `client` has no connection yet.
    pub(super) fn new(mechanisms: Mechanisms, client: Client) -> Self {
        let idle = Mutex::new(vec![PooledConnection { client, context: None }]);
        Self { mechanisms, is_kerberos_only: AtomicBool::new(false), idle }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<PooledConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an envelope, encrypted unless the connection uses TLS. Fails like [`HttpEndpoint::exchange`], with
    /// [`Error::is_denied`] if the authentication fails, and with [`Error::is_crypto`] or [`Error::is_protocol`] if the
    /// response is not encrypted correctly.
    pub(super) async fn post(
        &self,
        endpoint: &HttpEndpoint,
        envelope: Vec<u8>,
    ) -> Result<HttpResponse, Error> {
        let idle = self.idle().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => PooledConnection { client: endpoint.client()?, context: None },
        };
        // If the service has closed the idle connection, the new one has to be authenticated again.
        let is_new = connection.context.is_none();
        let mut response = self.attempt(&mut connection, endpoint, &envelope).await?;
        if response.status == StatusCode::UNAUTHORIZED && !is_new {
            connection.context = None;
            response = self.attempt(&mut connection, endpoint, &envelope).await?;
        }
        self.idle().push(connection);
        Ok(response)
    }

    async fn attempt(
        &self,
        connection: &mut PooledConnection,
        endpoint: &HttpEndpoint,
        envelope: &[u8],
    ) -> Result<HttpResponse, Error> {
        let PooledConnection { client, context } = connection;
        let context = match context {
            Some(context) => context,
            None => context.insert(self.authenticate(client, endpoint).await?),
        };
        let mut headers = HeaderMap::new();
        if endpoint.wsman.is_tls {
            headers.insert(CONTENT_TYPE, SOAP);
            return endpoint.exchange(client, headers, envelope.to_vec()).await;
        }
        let scheme = context.scheme();
        headers.insert(CONTENT_TYPE, header_value(&scheme.content_type())?);
        let body = encryption::encode(scheme, &context.encrypt(envelope)?, envelope.len());
        let mut response = endpoint.exchange(client, headers, body).await?;
        if response.status == StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let kind = response.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if encryption::is_encrypted(kind) {
            let (encrypted, length) = encryption::decode(&response.body)?;
            response.body = context.decrypt(encrypted)?;
            if response.body.len() != length {
                return Err(Error::with(Kind::Protocol, "a decrypted response of the wrong length"));
            }
            response.headers.insert(CONTENT_TYPE, SOAP);
        } else if !response.body.is_empty() {
            // An attacker could have written it.
            response.body.clear();
            if response.status.is_success() {
                return Err(Error::with(Kind::Protocol, "a response that is not encrypted"));
            }
        }
        Ok(response)
    }

    /// Authenticates a connection by requests without a body.
    async fn authenticate(&self, client: &Client, endpoint: &HttpEndpoint) -> Result<SecurityContext, Error> {
        // Kerberos needs the certificate for its first token.
        let mut bindings = None;
        if endpoint.wsman.is_tls {
            let response = endpoint.exchange(client, HeaderMap::new(), Vec::new()).await?;
            self.check_schemes(&response);
            bindings = response.certificate.as_deref().map(channel_bindings);
        }
        if !self.is_kerberos_only.load(Ordering::Relaxed) {
            let result = self.authenticate_by(Scheme::Negotiate, client, endpoint, bindings.clone()).await;
            if !self.is_kerberos_only.load(Ordering::Relaxed) {
                return result;
            }
        }
        self.authenticate_by(Scheme::Kerberos, client, endpoint, bindings).await
    }

    /// Remembers whether the service rejects `Negotiate` and offers `Kerberos`.
    fn check_schemes(&self, response: &HttpResponse) {
        let is_kerberos_only = response.status == StatusCode::UNAUTHORIZED
            && self.mechanisms != Mechanisms::Ntlm
            && response.challenge(Scheme::Negotiate.name()).is_none()
            && response.challenge(Scheme::Kerberos.name()).is_some();
        self.is_kerberos_only.fetch_or(is_kerberos_only, Ordering::Relaxed);
    }

    async fn authenticate_by(
        &self,
        scheme: Scheme,
        client: &Client,
        endpoint: &HttpEndpoint,
        bindings: Option<Vec<u8>>,
    ) -> Result<SecurityContext, Error> {
        let host = endpoint.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let credentials = &endpoint.wsman.credentials;
        let mut context = SecurityContext::new(self.mechanisms, scheme, credentials, host, bindings)?;
        let mut token = context.step(Vec::new()).await?;
        for _ in 0..MAX_ROUND_TRIPS {
            let mut headers = HeaderMap::new();
            let mut value =
                header_value(&format!("{} {}", scheme.name(), STANDARD.encode_to_string(&token)))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
            let response = endpoint.exchange(client, headers, Vec::new()).await?;
            if scheme == Scheme::Negotiate {
                self.check_schemes(&response);
            }
            let challenge = response.challenge(scheme.name()).unwrap_or_default();
            let server_token = STANDARD
                .decode_to_vec(challenge)
                .map_err(|_| Error::with(Kind::Protocol, "an authentication token that is not Base64"))?;
            let is_success = response.status.is_success();
            if !is_success && response.status != StatusCode::UNAUTHORIZED {
                let status = response.status.as_u16();
                let what = format!("HTTP status {status}");
                return Err(Error::with(Kind::Refused, what));
            }
            if is_success && context.is_complete() {
                return Ok(context);
            }
            if !server_token.is_empty() {
                token = context.step(server_token).await?;
            } else if !is_success {
                return Err(response.denied(scheme.name()));
            }
            if is_success {
                return match context.is_complete() {
                    true => Ok(context),
                    false => Err(Error::with(Kind::Untrusted, "the service did not authenticate itself")),
                };
            }
        }
        Err(Error::with(Kind::Protocol, "an authentication with too many round trips"))
    }
}

fn header_value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text).map_err(|_| Error::new(Kind::Denied))
}
