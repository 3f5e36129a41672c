//! The error bodies of the API, in all their shapes.

use http::StatusCode;
use serde_json::{Value, json};

use crate::reply::Reply;

/// A status with an error body.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    body: Value,
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Self::json(&refusal.body).with_status(refusal.status)
    }
}

/// A body that does not fit the schema: status 422 with a list of places.
pub(crate) fn schema(location: &[Value], message: &str, kind: &str) -> Refusal {
    let body = json!({"detail": [{"loc": location, "msg": message, "type": kind}]});
    Refusal { status: StatusCode::UNPROCESSABLE_ENTITY, body }
}

/// A refusal with a type and the status as a numeric code.
fn business(status: StatusCode, kind: &str, message: &str) -> Refusal {
    let body = json!({"error": {"message": message, "type": kind, "code": status.as_u16()}});
    Refusal { status, body }
}

pub(crate) fn invalid(kind: &str, message: &str) -> Refusal {
    business(StatusCode::BAD_REQUEST, kind, message)
}

pub(crate) fn invalid_model(model: &str) -> Refusal {
    invalid(
        "invalid_model",
        &format!("Invalid model '{model}'. Permitted models can be found in the documentation"),
    )
}

pub(crate) fn not_found(what: &str, id: &str) -> Refusal {
    business(StatusCode::NOT_FOUND, "not_found", &format!("{what} '{id}' does not exist"))
}

pub(crate) fn conflict(message: &str) -> Refusal {
    business(StatusCode::CONFLICT, "conflict", message)
}

pub(crate) fn no_such_path() -> Refusal {
    Refusal { status: StatusCode::NOT_FOUND, body: json!({"detail": "Not Found"}) }
}

pub(crate) fn method_not_allowed() -> Refusal {
    Refusal { status: StatusCode::METHOD_NOT_ALLOWED, body: json!({"detail": "Method Not Allowed"}) }
}
