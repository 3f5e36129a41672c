//! Model names accepted by the endpoints.

use serde_json::{Value, json};

use super::error::{self, ApiError};
use crate::api_response::ApiResponse;

const CHAT: &[&str] =
    &["sonar", "sonar-pro", "sonar-deep-research", "sonar-reasoning", "sonar-reasoning-pro"];

/// Models in the list: those of the responses endpoint.
const LISTED: &[(&str, &str)] = &[
    ("perplexity/sonar", "perplexity"),
    ("anthropic/claude-sonnet-4-5", "anthropic"),
    ("google/gemini-2.5-pro", "google"),
    ("openai/gpt-5", "openai"),
];

pub(crate) fn list() -> ApiResponse {
    let models: Vec<Value> = LISTED
        .iter()
        .map(|(id, owner)| json!({"id": id, "object": "model", "created": 0, "owned_by": owner}))
        .collect();
    ApiResponse::json(&json!({"object": "list", "data": models}))
}

pub(crate) fn check_chat(model: &str) -> Result<(), ApiError> {
    if CHAT.contains(&model) { Ok(()) } else { Err(error::invalid_model(model)) }
}

/// The responses endpoint accepts any `provider/model` name, listed or not.
pub(crate) fn check_provider(model: &str) -> Result<(), ApiError> {
    let is_name =
        model.split_once('/').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty());
    if is_name { Ok(()) } else { Err(error::invalid_model(model)) }
}
