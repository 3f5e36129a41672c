//! JSON bodies that are validated with garde.

use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};

use axum_core::extract::{FromRequest, OptionalFromRequest, Request};
use axum_core::response::{IntoResponse, Response};
use garde::Validate;
use http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::envelope::Envelope;
use crate::json::{Json, JsonRejection};
use crate::response::RequestId;

/// Extractor that decodes a body as [`Json`] does and validates the value with garde. `Option<ValidJson<T>>` is `None`
/// for a request without a content type.
///
/// Validation errors are sent as an envelope with status 400, code 1004 and [`FieldErrors`] as data; its message is
/// the first error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ValidJson<T>(pub T);

impl<T> ValidJson<T> {
    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for ValidJson<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for ValidJson<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Validation errors of a request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldErrors {
    /// Errors in the order in which garde reports them.
    pub errors: Vec<FieldError>,
    /// Number of errors.
    pub count: usize,
}

/// Validation error of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// Path of the field with the names in Rust, such as `tags[2].name`. Empty for an error of the whole value.
    pub field: String,
    /// Message of garde, or of the custom rule.
    pub message: String,
}

impl FieldErrors {
    fn new(report: &garde::Report) -> Self {
        let error = |(path, error): &(garde::Path, garde::Error)| FieldError {
            field: path.to_string(),
            message: error.message().to_owned(),
        };
        let errors: Vec<_> = report.iter().map(error).collect();
        Self { count: errors.len(), errors }
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("validation failed")?;
        for (index, FieldError { field, message }) in self.errors.iter().enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            match field.is_empty() {
                true => write!(f, "{separator}{message}")?,
                false => write!(f, "{separator}{field}: {message}")?,
            }
        }
        Ok(())
    }
}

/// Reason why [`ValidJson`] rejected a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValidJsonRejection {
    /// The body is not JSON of the expected type.
    Body(JsonRejection),
    /// The value failed validation.
    Fields {
        /// Validation errors.
        errors: FieldErrors,
        /// Id of the request.
        request_id: RequestId,
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
        let request_id = RequestId::from_parts(&parts);
        let Json(value): Json<T> = Json::read(Request::from_parts(parts, body), state, &request_id)
            .await
            .map_err(ValidJsonRejection::Body)?;
        match value.validate() {
            Ok(()) => Ok(Self(value)),
            Err(report) => Err(ValidJsonRejection::Fields { errors: FieldErrors::new(&report), request_id }),
        }
    }
}

/// `None` if the request has no content type, as in axum.
impl<T, S> OptionalFromRequest<S> for ValidJson<T>
where
    T: DeserializeOwned + Validate<Context: Default>,
    S: Send + Sync,
{
    type Rejection = ValidJsonRejection;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, Self::Rejection> {
        if !request.headers().contains_key(CONTENT_TYPE) {
            return Ok(None);
        }
        <Self as FromRequest<S>>::from_request(request, state).await.map(Some)
    }
}

impl ValidJsonRejection {
    /// Returns the error of the decoder, with path and position in the body.
    pub fn json_error(&self) -> Option<&tightwire_json::Error> {
        match self {
            Self::Body(rejection) => rejection.json_error(),
            Self::Fields { .. } => None,
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
            // `Display` prints the rejection, so the chain continues with its source.
            Self::Body(rejection) => rejection.source(),
            Self::Fields { .. } => None,
        }
    }
}

impl IntoResponse for ValidJsonRejection {
    fn into_response(self) -> Response {
        match self {
            Self::Body(rejection) => rejection.into_response(),
            Self::Fields { errors, request_id } => {
                let message = match errors.errors.first() {
                    Some(FieldError { field, message }) if !field.is_empty() => format!("{field}: {message}"),
                    Some(FieldError { message, .. }) => message.clone(),
                    None => "validation failed".to_owned(),
                };
                Envelope::error_with_data(400, 1004, message, errors)
                    .with_request_id(request_id)
                    .into_response()
            }
        }
    }
}
