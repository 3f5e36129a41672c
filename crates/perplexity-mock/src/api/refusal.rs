//! The error bodies of the API, in all their shapes.

use http::StatusCode;
use serde_json::{Value, json};

use crate::reply::Reply;

/// A body that does not fit the schema: status 422 with a list of places.
pub(crate) fn schema(location: &[Value], message: &str, kind: &str) -> Reply {
    let body = json!({"detail": [{"loc": location, "msg": message, "type": kind}]});
    Reply::json(&body).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

/// A refusal with a type and the status as a numeric code.
fn business(status: StatusCode, kind: &str, message: &str) -> Reply {
    let body = json!({"error": {"message": message, "type": kind, "code": status.as_u16()}});
    Reply::json(&body).with_status(status)
}

pub(crate) fn invalid(kind: &str, message: &str) -> Reply {
    business(StatusCode::BAD_REQUEST, kind, message)
}

pub(crate) fn invalid_model(model: &str) -> Reply {
    invalid(
        "invalid_model",
        &format!("Invalid model '{model}'. Permitted models can be found in the documentation"),
    )
}

pub(crate) fn not_found(what: &str, id: &str) -> Reply {
    business(StatusCode::NOT_FOUND, "not_found", &format!("{what} '{id}' does not exist"))
}

pub(crate) fn conflict(message: &str) -> Reply {
    business(StatusCode::CONFLICT, "conflict", message)
}

pub(crate) fn no_such_path() -> Reply {
    Reply::json(&json!({"detail": "Not Found"})).with_status(StatusCode::NOT_FOUND)
}

pub(crate) fn method_not_allowed() -> Reply {
    Reply::json(&json!({"detail": "Method Not Allowed"})).with_status(StatusCode::METHOD_NOT_ALLOWED)
}
