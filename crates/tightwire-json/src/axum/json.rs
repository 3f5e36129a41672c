//! JSON bodies.

use axum_core::extract::{FromRequest, Request};
use axum_core::response::{IntoResponse, Response as HttpResponse};
use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::envelope::{unencodable, with_body};
use super::rejection::Problem;
use super::{JsonRejection, RequestContext, media_type};
use crate::envelope::Response;
use crate::errno::codes;

/// The longest body that [`Json`] reads unless a layer sets another limit: 2 MiB. The setter is axum's
/// `DefaultBodyLimit` layer, for a router or for a single route; the default is axum's as well.
pub const DEFAULT_BODY_LIMIT: usize = 2 << 20;

/// A value that is the whole body of a request or a response.
///
/// As an extractor it takes bodies of type `application/json` and `application/*+json` up to the limit
/// ([`DEFAULT_BODY_LIMIT`]) that hold one document and nothing else. What it refuses is answered in an envelope, see
/// [`JsonRejection`].
///
/// As a response it has status 200 and the content type `application/json; charset=utf-8`. A value that cannot be
/// encoded is answered with status 500 and the envelope of [`codes::INTERNAL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T> Json<T> {
    /// Reads a request whose head has been read into `context`.
    pub(super) async fn read<S>(
        request: Request,
        state: &S,
        context: RequestContext,
    ) -> Result<Self, JsonRejection>
    where
        T: DeserializeOwned,
        S: Send + Sync,
    {
        let reject = |problem| JsonRejection::new(problem, context.clone());
        if !media_type::is_json(request.headers()) {
            return Err(reject(Problem::MediaType));
        }
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            reject(match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => Problem::TooLarge,
                _ => Problem::Unreadable,
            })
        })?;
        if body.trim_ascii().is_empty() {
            return Err(reject(Problem::Empty));
        }
        crate::from_slice(&body).map(Self).map_err(|error| reject(Problem::Invalid(error)))
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
        let context = RequestContext::from_parts(&parts);
        Self::read(Request::from_parts(parts, body), state, context).await
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> HttpResponse {
        match crate::to_vec(&self.0) {
            Ok(body) => with_body(StatusCode::OK, body),
            Err(_) => unencodable(Response::error(codes::INTERNAL)),
        }
    }
}
