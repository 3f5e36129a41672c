//! Envelopes as HTTP responses, and the request id that they echo.

use std::borrow::Cow;
use std::convert::Infallible;

use axum_core::body::Body;
use axum_core::extract::FromRequestParts;
use axum_core::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Extensions, StatusCode};
use serde::Serialize;
use tightwire_json::Codec;

use crate::envelope::Envelope;

/// Header of the request id.
pub const REQUEST_ID_HEADER: &str = "x-request-id";
/// Maximum length of an accepted request id, in bytes.
pub const MAX_REQUEST_ID: usize = 128;

/// Code of the envelope sent instead of a response that cannot be encoded.
const INTERNAL: i64 = 7000;

/// Extractor of the header `x-request-id`. Never fails.
///
/// `None` if the header is missing, longer than [`MAX_REQUEST_ID`], or contains anything but visible ASCII characters:
/// the id is echoed in responses and usually logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestId(pub Option<String>);

impl RequestId {
    /// Reads the id from the header of a request.
    pub fn from_parts(parts: &Parts) -> Self {
        let id = parts.headers.get(REQUEST_ID_HEADER).map(HeaderValue::as_bytes).unwrap_or_default();
        let valid = (1..=MAX_REQUEST_ID).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic);
        Self(valid.then(|| String::from_utf8_lossy(id).into_owned()))
    }
}

/// Converts a missing id to an empty string, which [`Envelope::with_request_id`] omits.
impl From<RequestId> for Cow<'static, str> {
    fn from(RequestId(id): RequestId) -> Self {
        id.map_or(Cow::Borrowed(""), Cow::Owned)
    }
}

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::from_parts(parts))
    }
}

/// Extractor of the codec of the router: the [`Codec`] in the extensions of the request, or [`Codec::standard`] if there
/// is none. Never fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterCodec(pub Codec);

impl<S: Sync> FromRequestParts<S> for RouterCodec {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(request_codec(&parts.extensions)))
    }
}

/// Returns the codec for the body of a request.
pub(crate) fn request_codec(extensions: &Extensions) -> Codec {
    extensions.get().copied().unwrap_or_else(Codec::standard)
}

impl<T: Serialize> Envelope<T> {
    /// Encodes the envelope with this codec and returns the response. The implementation of [`IntoResponse`] uses
    /// [`Codec::standard`].
    pub fn into_response_with(self, codec: &Codec) -> Response {
        match codec.to_vec(&self) {
            Ok(body) => {
                let status = StatusCode::from_u16(self.http_status());
                json_response(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body)
            }
            Err(_) => encoding_failure(self.request_id),
        }
    }
}

/// Responds with [`Envelope::http_status`] and the envelope as body. A status outside of 100..=999 becomes 500.
///
/// If the data cannot be encoded, responds with status 500 and an envelope with code 7000 and the same request id.
impl<T: Serialize> IntoResponse for Envelope<T> {
    fn into_response(self) -> Response {
        self.into_response_with(&Codec::standard())
    }
}

/// Returns a response with a JSON body.
pub(crate) fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}

/// Returns the response for a value that cannot be encoded.
pub(crate) fn encoding_failure(request_id: Cow<'static, str>) -> Response {
    let envelope = Envelope::error(500, INTERNAL, "Internal server error").with_request_id(request_id);
    // Numbers and strings can always be encoded.
    json_response(StatusCode::INTERNAL_SERVER_ERROR, tightwire_json::to_vec(&envelope).unwrap_or_default())
}
