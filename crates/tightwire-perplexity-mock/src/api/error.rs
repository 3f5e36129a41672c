//! Error responses of the API, in all formats.

use http::StatusCode;
use tightwire_json::{Value, json};

use crate::mock_response::MockResponse;

pub(crate) type ApiResult = Result<MockResponse, ApiError>;

/// A status with an error body.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: Value,
}

impl ApiError {
    pub(crate) fn into_response(self) -> MockResponse {
        MockResponse { status: Some(self.status), ..MockResponse::json(&self.body) }
    }
}

/// Creates a schema violation: status 422 with locations.
pub(crate) fn schema(location: &[Value], message: &str, kind: &str) -> ApiError {
    let body = json!({"detail": [{"loc": location, "msg": message, "type": kind}]});
    ApiError { status: StatusCode::UNPROCESSABLE_ENTITY, body }
}

/// Creates a schema violation of a query parameter.
pub(crate) fn wrong_query(name: &str, message: &str) -> ApiError {
    schema(&[json!("query"), json!(name)], message, "value_error")
}

pub(crate) fn no_file() -> ApiError {
    schema(&[json!("body"), json!("file")], "Field required", "missing")
}

/// Creates an error with a type and the status as numeric code.
pub(crate) fn typed(status: StatusCode, kind: &str, message: &str) -> ApiError {
    let body = json!({"error": {"message": message, "type": kind, "code": status.as_u16()}});
    ApiError { status, body }
}

pub(crate) fn invalid(kind: &str, message: &str) -> ApiError {
    typed(StatusCode::BAD_REQUEST, kind, message)
}

/// Creates the error of the Agent API for a field of the request.
pub(crate) fn invalid_field(field: &str, problem: &str) -> ApiError {
    let mut error = invalid("invalid_request", &format!("{field} {problem}"));
    error.body["error"]["param"] = json!(field);
    error
}

/// Creates the error of an endpoint that has ended.
pub(crate) fn retired() -> ApiError {
    let message = "Sonar is now the Agent API. The endpoint /chat/completions is no longer available.";
    typed(StatusCode::FORBIDDEN, "chat_completions_not_available", message)
}

pub(crate) fn invalid_model(model: &str) -> ApiError {
    invalid(
        "invalid_model",
        &format!("Invalid model '{model}'. Permitted models can be found in the documentation"),
    )
}

pub(crate) fn not_found(what: &str, id: &str) -> ApiError {
    typed(StatusCode::NOT_FOUND, "not_found", &format!("{what} '{id}' does not exist"))
}

pub(crate) fn no_such_path() -> ApiError {
    ApiError { status: StatusCode::NOT_FOUND, body: json!({"detail": "Not Found"}) }
}

pub(crate) fn method_not_allowed() -> ApiError {
    ApiError { status: StatusCode::METHOD_NOT_ALLOWED, body: json!({"detail": "Method Not Allowed"}) }
}
