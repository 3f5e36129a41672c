//! Connections that authenticate themselves, each once.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use base64_simd::STANDARD;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::Client;

use super::config::WsmanCredentials;
use super::http::{Reply, SOAP, Wire};
use super::negotiate::{Context, Packages};
use super::seal;
use crate::error::{Error, Kind};

/// Legs of one authentication; NTLM has three, Kerberos two or three.
const MAX_LEGS: usize = 8;

/// The connections to a service that nobody uses now. A request takes one, or makes one.
///
/// It is the connection that is authenticated, so that each has a client of reqwest to itself: such a client keeps using
/// its one connection as long as its requests come one after the other. One that is dropped in the middle of a request
/// takes its connection along.
pub(super) struct Channels {
    packages: Packages,
    credentials: WsmanCredentials,
    is_tls: bool,
    idle: Mutex<Vec<Channel>>,
}

struct Channel {
    client: Client,
    context: Option<Context>,
}

impl Channels {
    pub(super) fn new(packages: Packages, credentials: WsmanCredentials, is_tls: bool) -> Self {
        Self { packages, credentials, is_tls, idle: Mutex::new(Vec::new()) }
    }

    /// With a client that has made no connection yet.
    pub(super) fn with_first(self, client: Client) -> Self {
        self.give_back(Channel { client, context: None });
        self
    }

    fn take(&self) -> Option<Channel> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, channel: Channel) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(channel);
    }

    /// Sends an envelope, encrypted if the connection is not.
    ///
    /// # Errors
    ///
    /// As [`Wire::exchange`]; and if the authentication fails ([`Error::is_denied`]) or the answer is not what the
    /// service has encrypted ([`Error::is_crypto`], [`Error::is_protocol`]).
    pub(super) async fn post(&self, wire: &Wire, envelope: Vec<u8>) -> Result<Reply, Error> {
        let mut channel = match self.take() {
            Some(channel) => channel,
            None => Channel { client: wire.client()?, context: None },
        };
        // The service may have closed the connection, and asks who is there on the next.
        let is_fresh = channel.context.is_none();
        let mut reply = self.attempt(&mut channel, wire, &envelope).await?;
        if reply.status == StatusCode::UNAUTHORIZED && !is_fresh {
            channel.context = None;
            reply = self.attempt(&mut channel, wire, &envelope).await?;
        }
        self.give_back(channel);
        Ok(reply)
    }

    async fn attempt(&self, channel: &mut Channel, wire: &Wire, envelope: &[u8]) -> Result<Reply, Error> {
        let Channel { client, context } = channel;
        let context = match context {
            Some(context) => context,
            None => context.insert(self.authenticate(client, wire).await?),
        };
        let mut headers = HeaderMap::new();
        if self.is_tls {
            headers.insert(CONTENT_TYPE, SOAP);
            return wire.exchange(client, headers, envelope.to_vec()).await;
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(seal::CONTENT_TYPE));
        let body = seal::wrap(&context.seal(envelope)?, envelope.len());
        let mut reply = wire.exchange(client, headers, body).await?;
        if reply.status == StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if seal::is_sealed(kind) {
            let (sealed, length) = seal::unwrap(&reply.body)?;
            reply.body = context.unseal(sealed)?;
            if reply.body.len() != length {
                return Err(Error::with(Kind::Protocol, "an encrypted answer of another length"));
            }
            reply.headers.insert(CONTENT_TYPE, SOAP);
        } else if !reply.body.is_empty() {
            // Anybody on the way can have written it.
            reply.body.clear();
            if reply.status.is_success() {
                return Err(Error::with(Kind::Protocol, "an answer that is not encrypted"));
            }
        }
        Ok(reply)
    }

    /// Authenticates a connection with requests that have no content.
    async fn authenticate(&self, client: &Client, wire: &Wire) -> Result<Context, Error> {
        let host = wire.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let mut context = Context::new(self.packages, &self.credentials, host)?;
        let mut token = context.step(Vec::new()).await?;
        for _ in 0..MAX_LEGS {
            let mut headers = HeaderMap::new();
            let mut value =
                HeaderValue::from_str(&format!("Negotiate {}", STANDARD.encode_to_string(&token)))
                    .map_err(|_| Error::new(Kind::Denied))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
            let reply = wire.exchange(client, headers, Vec::new()).await?;
            let answer = reply.challenge("Negotiate").unwrap_or_default();
            let answer = STANDARD
                .decode_to_vec(answer)
                .map_err(|_| Error::with(Kind::Protocol, "a token that is no Base64"))?;
            let is_taken = reply.status.is_success();
            if !is_taken && reply.status != StatusCode::UNAUTHORIZED {
                let status = reply.status.as_u16();
                let what = format!("the service answers with the status {status} of HTTP");
                return Err(Error::with(Kind::Refused, what));
            }
            token = match answer.is_empty() {
                true if is_taken && context.is_complete() => return Ok(context),
                true if is_taken => {
                    return Err(Error::with(Kind::Untrusted, "it does not prove that it knows the user"));
                }
                true => return Err(Error::with(Kind::Denied, "the service does not take the credentials")),
                false if is_taken && context.is_complete() => return Ok(context),
                false => context.step(answer).await?,
            };
            if is_taken {
                return match context.is_complete() {
                    true => Ok(context),
                    false => Err(Error::with(Kind::Untrusted, "it does not prove that it knows the user")),
                };
            }
        }
        Err(Error::with(Kind::Protocol, "an authentication without an end"))
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channels").field("packages", &self.packages).finish_non_exhaustive()
    }
}
