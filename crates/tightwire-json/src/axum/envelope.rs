//! Envelopes as HTTP responses.

use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response as HttpResponse};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response as HttpBuilder, StatusCode};
use serde::Serialize;

use super::RequestContext;
use crate::envelope::Response;
use crate::errno::{Errno, codes};

/// Answers with a [`Response`]: its HTTP status, `application/json; charset=utf-8`, and the envelope as body.
///
/// Where the data cannot be encoded, the answer is status 500 with the envelope of
/// [`codes::INTERNAL`] and the same request id.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope<T>(pub Response<T>);

impl<T> From<Response<T>> for Envelope<T> {
    fn from(response: Response<T>) -> Self {
        Self(response)
    }
}

impl<T: Serialize> IntoResponse for Envelope<T> {
    fn into_response(self) -> HttpResponse {
        let Self(response) = self;
        let status =
            StatusCode::from_u16(response.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        match crate::to_vec(&response) {
            Ok(body) => with_body(status, body),
            Err(_) => unencodable(Response::error(codes::INTERNAL).with_request_id(response.request_id)),
        }
    }
}

/// Answers in English; [`Responder::fail`](crate::envelope::Responder::fail) knows the language of the request.
impl IntoResponse for Errno {
    fn into_response(self) -> HttpResponse {
        Envelope(Response::error(&self)).into_response()
    }
}

/// Answers every request with status 404 and `{"code":4004,"message":"Route not found"}`: the fallback of a router.
///
/// The message is in the language of the request, whose id is added where it has one.
pub async fn not_found(context: RequestContext) -> Envelope<()> {
    let mut response = context.responder().fail(codes::ROUTE_NOT_FOUND);
    response.http_code = 0;
    Envelope(response)
}

/// A JSON body with its headers.
pub(super) fn with_body(status: StatusCode, body: Vec<u8>) -> HttpResponse {
    let mut answer = HttpBuilder::new(Body::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    answer
}

/// The answer in place of one that cannot be encoded.
pub(super) fn unencodable(failure: Response<()>) -> HttpResponse {
    // Texts, numbers and no data always have a JSON form; without a body the status still tells what happened.
    with_body(StatusCode::INTERNAL_SERVER_ERROR, crate::to_vec(&failure).unwrap_or_default())
}
