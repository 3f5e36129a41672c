//! JSON bodies of requests and responses, and their rejection.

use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};

use axum_core::extract::{FromRequest, OptionalFromRequest, Request};
use axum_core::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::Codec;

use crate::envelope::Envelope;
use crate::response::{RequestId, encoding_failure, json_response, request_codec};

/// Default maximum size of a request body: 2 MiB, as in axum. The layer `DefaultBodyLimit` of axum changes it for a
/// router or a route.
pub const DEFAULT_BODY_LIMIT: usize = 2 << 20;

/// JSON body of a request or a response.
///
/// As an extractor it accepts bodies of type `application/json` and `application/*+json` that contain exactly one
/// document, up to the body limit ([`DEFAULT_BODY_LIMIT`]). It decodes with the codec of the router, see
/// [the crate](crate#codec-of-a-router). A rejection is sent as an envelope, see [`JsonRejection`]. `Option<Json<T>>`
/// is `None` for a request without a content type.
///
/// As a response it has status 200 and the content type `application/json; charset=utf-8`. If the value cannot be
/// encoded, the response has status 500 and an envelope with code 7000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Json<T>(pub T);

impl<T> Json<T> {
    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Encodes the value with this codec and returns the response. The implementation of [`IntoResponse`] uses
    /// [`Codec::standard`].
    pub fn into_response_with(self, codec: &Codec) -> Response
    where
        T: Serialize,
    {
        match codec.to_vec(&self.0) {
            Ok(body) => json_response(StatusCode::OK, body),
            Err(_) => encoding_failure("".into()),
        }
    }
}

impl<T: DeserializeOwned> Json<T> {
    /// Decodes a body with [`Codec::standard`]. For bodies that were extracted as bytes before.
    ///
    /// # Errors
    ///
    /// A rejection without request id if the body is empty or not a `T`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JsonRejection> {
        Self::decode(bytes, &Codec::standard()).map_err(|reason| JsonRejection::new(reason, RequestId(None)))
    }

    fn decode(body: &[u8], codec: &Codec) -> Result<Self, Reason> {
        if body.len() > codec.limits().document() {
            return Err(Reason::TooLarge);
        }
        if body.trim_ascii().is_empty() {
            return Err(Reason::Empty);
        }
        codec.from_slice(body).map(Self).map_err(Reason::Invalid)
    }

    /// Reads and decodes the body of a request with this id.
    pub(crate) async fn read<S: Send + Sync>(
        request: Request,
        state: &S,
        id: &RequestId,
    ) -> Result<Self, JsonRejection> {
        let reject = |reason| JsonRejection::new(reason, id.clone());
        if !is_json(request.headers()) {
            return Err(reject(Reason::MediaType));
        }
        let codec = request_codec(request.extensions());
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            reject(match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => Reason::TooLarge,
                _ => Reason::Unreadable,
            })
        })?;
        Self::decode(&body, &codec).map_err(reject)
    }
}

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Json<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Json<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T, S> FromRequest<S> for Json<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = JsonRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let (parts, body) = request.into_parts();
        let id = RequestId::from_parts(&parts);
        Self::read(Request::from_parts(parts, body), state, &id).await
    }
}

/// `None` if the request has no content type, as in axum.
impl<T, S> OptionalFromRequest<S> for Json<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = JsonRejection;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, Self::Rejection> {
        if !request.headers().contains_key(CONTENT_TYPE) {
            return Ok(None);
        }
        <Self as FromRequest<S>>::from_request(request, state).await.map(Some)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        self.into_response_with(&Codec::standard())
    }
}

/// Returns whether the content type is `application/json` or `application/*+json` (RFC 6839, section 3.1). Parameters
/// are ignored: RFC 8259 defines none, and the body has to be UTF-8 in any case.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.strip_prefix("application/").is_some_and(|subtype| {
        subtype == "json" || subtype.strip_suffix("+json").is_some_and(|prefix| !prefix.is_empty())
    })
}

/// Reason why [`Json`] rejected a request. As a response it is an envelope with the id of the request:
///
/// | reason | code | HTTP | message |
/// | --- | --- | --- | --- |
/// | not one document of the expected type | 1001 | 400 | `invalid request body: ` and the error of the decoder, with path, line and column |
/// | empty body | 1001 | 400 | `invalid request body: request body is empty` |
/// | truncated body | 1001 | 400 | `invalid request body: request body cannot be read` |
/// | body larger than the limit of the body or the codec | 1005 | 413 | `Request entity too large` |
/// | other content type, or none | 1006 | 415 | `Unsupported media type` |
#[derive(Debug)]
pub struct JsonRejection {
    reason: Reason,
    request_id: RequestId,
}

#[derive(Debug)]
enum Reason {
    MediaType,
    TooLarge,
    Unreadable,
    Empty,
    Invalid(tightwire_json::Error),
}

impl JsonRejection {
    fn new(reason: Reason, request_id: RequestId) -> Self {
        Self { reason, request_id }
    }

    /// Returns whether the content type is missing or not JSON.
    pub fn is_media_type(&self) -> bool {
        matches!(self.reason, Reason::MediaType)
    }

    /// Returns whether the body is larger than the limit.
    pub fn is_limit(&self) -> bool {
        matches!(self.reason, Reason::TooLarge)
    }

    /// Returns whether the body is empty or only white space.
    pub fn is_empty(&self) -> bool {
        matches!(self.reason, Reason::Empty)
    }

    /// Returns whether reading the body failed.
    pub fn is_io(&self) -> bool {
        matches!(self.reason, Reason::Unreadable)
    }

    /// Returns the error of the decoder, with path and position in the body.
    pub fn json_error(&self) -> Option<&tightwire_json::Error> {
        match &self.reason {
            Reason::Invalid(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the envelope of the response.
    pub fn to_envelope(&self) -> Envelope<()> {
        let envelope = match &self.reason {
            Reason::MediaType => Envelope::error(415, 1006, "Unsupported media type"),
            Reason::TooLarge => Envelope::error(413, 1005, "Request entity too large"),
            Reason::Unreadable | Reason::Empty | Reason::Invalid(_) => {
                Envelope::error(400, 1001, format!("invalid request body: {self}"))
            }
        };
        envelope.with_request_id(self.request_id.clone())
    }
}

impl fmt::Display for JsonRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::MediaType => f.write_str("content type is not JSON"),
            Reason::TooLarge => f.write_str("request body is too large"),
            Reason::Unreadable => f.write_str("request body cannot be read"),
            Reason::Empty => f.write_str("request body is empty"),
            Reason::Invalid(error) => error.fmt(f),
        }
    }
}

impl Error for JsonRejection {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            // `Display` prints the decoder's error, so the chain continues with its source.
            Reason::Invalid(error) => error.source(),
            _ => None,
        }
    }
}

impl IntoResponse for JsonRejection {
    fn into_response(self) -> Response {
        self.to_envelope().into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn json_content_types_are_recognized() {
        let is = |value: &'static str| {
            is_json(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]))
        };
        assert!(is("application/json"));
        assert!(is("Application/JSON ; charset=utf-8"));
        assert!(is("application/problem+json"));
        assert!(is("application/vnd.api+JSON;v=1"));
        for other in ["text/json", "application/+json", "application/jsonp", "application/json5", "json", ""]
        {
            assert!(!is(other), "{other}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
