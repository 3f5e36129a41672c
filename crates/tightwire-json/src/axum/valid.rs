//! JSON bodies with rules.

use std::error::Error;
use std::fmt;

use axum_core::extract::{FromRequest, Request};
use axum_core::response::{IntoResponse, Response as HttpResponse};
use garde::Validate;
use serde::de::DeserializeOwned;

use super::{Envelope, Json, JsonRejection, RequestContext};
use crate::validation::{ValidationErrors, validate_input};

/// A body that was read as [`Json`] and then passed the rules of its type.
///
/// Rejected fields are answered with code 1004 and status 400; the message is the first one, and the data holds them
/// all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValidJson<T>(pub T);

/// Why [`ValidJson`] refused a body.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValidJsonRejection {
    /// It is not JSON of the expected type.
    Body(JsonRejection),
    /// Its fields break rules.
    Fields {
        /// What was rejected.
        errors: ValidationErrors,
        /// The request.
        context: RequestContext,
    },
}

impl<T, S> FromRequest<S> for ValidJson<T>
where
    T: DeserializeOwned + Validate<Context: Default>,
    S: Send + Sync,
{
    type Rejection = ValidJsonRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let (parts, body) = request.into_parts();
        let context = RequestContext::from_parts(&parts);
        let Json(value): Json<T> = Json::read(Request::from_parts(parts, body), state, context.clone())
            .await
            .map_err(ValidJsonRejection::Body)?;
        match validate_input(&value, context.language) {
            Ok(()) => Ok(Self(value)),
            Err(errors) => Err(ValidJsonRejection::Fields { errors, context }),
        }
    }
}

impl fmt::Display for ValidJsonRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(rejection) => rejection.fmt(f),
            Self::Fields { errors, .. } => errors.fmt(f),
        }
    }
}

impl Error for ValidJsonRejection {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // `Display` prints the rejection, so the chain goes on beneath it.
            Self::Body(rejection) => rejection.source(),
            Self::Fields { .. } => None,
        }
    }
}

impl IntoResponse for ValidJsonRejection {
    fn into_response(self) -> HttpResponse {
        match self {
            Self::Body(rejection) => rejection.into_response(),
            Self::Fields { errors, context } => {
                Envelope(context.responder().fail_with_validation(errors)).into_response()
            }
        }
    }
}
