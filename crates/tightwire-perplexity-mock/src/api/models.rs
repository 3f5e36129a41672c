//! The models, and which of them an endpoint takes.

use serde_json::{Value, json};

use super::refusal::{self, Refusal};
use crate::reply::Reply;

const CHAT: &[&str] =
    &["sonar", "sonar-pro", "sonar-deep-research", "sonar-reasoning", "sonar-reasoning-pro"];

/// What the list of models names: those of the responses endpoint.
const LISTED: &[(&str, &str)] = &[
    ("perplexity/sonar", "perplexity"),
    ("anthropic/claude-sonnet-4-5", "anthropic"),
    ("google/gemini-2.5-pro", "google"),
    ("openai/gpt-5", "openai"),
];

pub(crate) fn list() -> Reply {
    let models: Vec<Value> = LISTED
        .iter()
        .map(|(id, owner)| json!({"id": id, "object": "model", "created": 0, "owned_by": owner}))
        .collect();
    Reply::json(&json!({"object": "list", "data": models}))
}

pub(crate) fn check_chat(model: &str) -> Result<(), Refusal> {
    if CHAT.contains(&model) { Ok(()) } else { Err(refusal::invalid_model(model)) }
}

/// The responses endpoint takes names of the form provider/model, listed or not.
pub(crate) fn check_provider(model: &str) -> Result<(), Refusal> {
    let is_name =
        model.split_once('/').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty());
    if is_name { Ok(()) } else { Err(refusal::invalid_model(model)) }
}
