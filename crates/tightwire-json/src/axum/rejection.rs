//! Rejection of request bodies.

use std::error::Error;
use std::fmt;

use axum_core::response::{IntoResponse, Response};

use super::RequestId;
use crate::envelope::Envelope;

/// Reason why [`Json`](super::Json) rejected a request. As a response it is an envelope with the id of the request:
///
/// | reason | code | HTTP | message |
/// | --- | --- | --- | --- |
/// | not one document of the expected type | 1001 | 400 | `invalid request body: ` and the error of the decoder |
/// | empty body | 1001 | 400 | `invalid request body: request body is empty` |
/// | truncated body | 1001 | 400 | `invalid request body: request body cannot be read` |
/// | body larger than the limit | 1005 | 413 | `Request entity too large` |
/// | other content type, or none | 1006 | 415 | `Unsupported media type` |
#[derive(Debug)]
pub struct JsonRejection {
    reason: Reason,
    request_id: RequestId,
}

#[derive(Debug)]
pub(super) enum Reason {
    MediaType,
    TooLarge,
    Unreadable,
    Empty,
    Invalid(crate::Error),
}

impl JsonRejection {
    pub(super) fn new(reason: Reason, request_id: RequestId) -> Self {
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

    /// Returns the error of the decoder, with its offset in the body.
    pub fn json_error(&self) -> Option<&crate::Error> {
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
