//! Bodies that are refused.

use std::error::Error;
use std::fmt;

use axum_core::response::{IntoResponse, Response as HttpResponse};

use super::{Envelope, RequestContext};
use crate::envelope::Response;
use crate::errno::{Errno, codes};

/// Why [`Json`](super::Json) refused a body. As a response it is an envelope with the id of the request:
///
/// | reason | code | HTTP | message |
/// | --- | --- | --- | --- |
/// | not one document of the expected type | 1001 | 400 | `invalid request body: ` and what is wrong where |
/// | empty body | 1001 | 400 | `invalid request body: request body is empty` |
/// | the body broke off | 1001 | 400 | `invalid request body: request body cannot be read` |
/// | longer than the limit | 1005 | 413 | that of the code, in the language of the request |
/// | other content type, or none | 1006 | 415 | that of the code, in the language of the request |
#[derive(Debug)]
pub struct JsonRejection {
    problem: Problem,
    context: RequestContext,
}

#[derive(Debug)]
pub(super) enum Problem {
    MediaType,
    TooLarge,
    Unreadable,
    Empty,
    Invalid(crate::Error),
}

impl JsonRejection {
    pub(super) fn new(problem: Problem, context: RequestContext) -> Self {
        Self { problem, context }
    }

    /// Whether the content type is missing or not JSON.
    pub fn is_media_type(&self) -> bool {
        matches!(self.problem, Problem::MediaType)
    }

    /// Whether the body is longer than the limit.
    pub fn is_limit(&self) -> bool {
        matches!(self.problem, Problem::TooLarge)
    }

    /// Whether the body is empty or nothing but white space.
    pub fn is_empty(&self) -> bool {
        matches!(self.problem, Problem::Empty)
    }

    /// Whether the body broke off before its end.
    pub fn is_io(&self) -> bool {
        matches!(self.problem, Problem::Unreadable)
    }

    /// The error of the decoder, which tells where the body is wrong.
    pub fn json_error(&self) -> Option<&crate::Error> {
        match &self.problem {
            Problem::Invalid(error) => Some(error),
            _ => None,
        }
    }

    /// The envelope to answer with.
    pub fn to_envelope(&self) -> Response<()> {
        let errno: Errno = match &self.problem {
            Problem::MediaType => codes::UNSUPPORTED_MEDIA_TYPE.clone(),
            Problem::TooLarge => codes::ENTITY_TOO_LARGE.clone(),
            Problem::Unreadable | Problem::Empty | Problem::Invalid(_) => {
                let message = format!("invalid request body: {self}");
                codes::INVALID_PARAMETER.with_messages(message, "")
            }
        };
        self.context.responder().fail(&errno)
    }
}

impl fmt::Display for JsonRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::MediaType => f.write_str("content type is not JSON"),
            Problem::TooLarge => f.write_str("request body is too large"),
            Problem::Unreadable => f.write_str("request body cannot be read"),
            Problem::Empty => f.write_str("request body is empty"),
            Problem::Invalid(error) => error.fmt(f),
        }
    }
}

impl Error for JsonRejection {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            // `Display` prints the decoder's error, so the chain goes on beneath it.
            Problem::Invalid(error) => error.source(),
            _ => None,
        }
    }
}

impl IntoResponse for JsonRejection {
    fn into_response(self) -> HttpResponse {
        Envelope(self.to_envelope()).into_response()
    }
}
