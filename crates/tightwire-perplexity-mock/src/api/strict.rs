//! Rejects what the Agent API rejects: unknown fields, such as those of chat completions, and values out of range.

use tightwire_json::Value;

use super::error::{self, ApiError};
use super::input::Input;

const REQUEST: &[&str] = &[
    "background",
    "effort",
    "input",
    "instructions",
    "language_preference",
    "max_output_tokens",
    "max_steps",
    "max_tool_calls",
    "metadata",
    "model",
    "models",
    "parallel_tool_calls",
    "preset",
    "previous_response_id",
    "profile",
    "prompt_cache_key",
    "reasoning",
    "response_format",
    "service_tier",
    "skills",
    "step_budget_reminder",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "truncation",
];

/// Fields of each tool, besides `type`.
const TOOLS: &[(&str, &[&str])] = &[
    (
        "web_search",
        &[
            "filters",
            "max_results",
            "max_tokens",
            "max_tokens_per_page",
            "search_context_size",
            "search_type",
            "user_location",
        ],
    ),
    ("image_search", &["filters", "max_results"]),
    ("fetch_url", &["max_urls", "total_budget_tokens"]),
    ("people_search", &[]),
    ("finance_search", &[]),
    ("sandbox", &[]),
    ("function", &["description", "name", "parameters", "strict"]),
    (
        "mcp",
        &[
            "allowed_tools",
            "authorization",
            "defer_loading",
            "headers",
            "require_approval",
            "server_label",
            "server_url",
        ],
    ),
    ("connector", &["allowed_tools", "id", "require_approval", "server_description", "server_label"]),
];

/// Fields of the objects of a request, or of the objects of a tool.
const OBJECTS: &[(&str, &[&str])] = &[
    ("profile", &["id", "type", "version"]),
    ("reasoning", &["effort"]),
    ("response_format", &["json_schema", "type"]),
    ("response_format.json_schema", &["description", "name", "schema", "strict"]),
    ("stream_options", &["include_usage"]),
    (
        "web_search.filters",
        &[
            "last_updated_after_filter",
            "last_updated_before_filter",
            "search_after_date_filter",
            "search_before_date_filter",
            "search_domain_filter",
            "search_recency_filter",
        ],
    ),
    ("web_search.user_location", &["city", "country", "latitude", "longitude", "region"]),
    ("image_search.filters", &["domain_filter", "format_filter", "safe_search"]),
];

/// Names of functions that the service uses itself.
const RESERVED: &[&str] =
    &["fetch_url", "finance_search", "people_search", "sandbox", "search_people", "search_web", "web_search"];

/// Types of content parts.
const PARTS: &[&str] = &["input_file", "input_image", "input_text", "output_text"];

const MAX_MODELS: usize = 5;

/// Checks a request of the Agent API.
pub(crate) fn check(input: &Input) -> Result<(), ApiError> {
    known(input.fields.iter().map(|(name, _)| name.as_str()), REQUEST, "")?;
    for (index, tool) in input.get("tools").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        let kind = tool["type"].as_str().unwrap_or_default();
        let Some((_, fields)) = TOOLS.iter().find(|(name, _)| *name == kind) else {
            return Err(error::invalid_field(&format!("{path}.type"), "is no tool"));
        };
        known(names(tool), &[fields, &["type"][..]].concat(), &path)?;
        for (name, fields) in OBJECTS {
            if let Some(name) = name.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.')) {
                known(names(&tool[name]), fields, &format!("{path}.{name}"))?;
            }
        }
        if kind == "function" && tool["name"].as_str().is_some_and(|name| RESERVED.contains(&name)) {
            return Err(error::invalid_field(&format!("{path}.name"), "is reserved"));
        }
    }
    for (path, fields) in OBJECTS {
        let (name, inner) = path.split_once('.').unwrap_or((path, ""));
        let object = input.get(name).map(|object| if inner.is_empty() { object } else { &object[inner] });
        known(object.into_iter().flat_map(names), fields, path)?;
    }
    for (index, item) in input.get("input").and_then(Value::as_array).into_iter().flatten().enumerate() {
        for (part, content) in item["content"].as_array().into_iter().flatten().enumerate() {
            if !content["type"].as_str().is_some_and(|kind| PARTS.contains(&kind)) {
                return Err(error::invalid_field(
                    &format!("input[{index}].content[{part}].type"),
                    "is no content",
                ));
            }
        }
    }
    if let Some(format) = input.get("response_format") {
        if format["type"] != "json_schema" {
            return Err(error::invalid_field("response_format.type", "must be json_schema"));
        }
        let schema = &format["json_schema"]["schema"];
        if !schema.is_object() || schema.get("type").is_some_and(|kind| kind != "object") {
            return Err(error::invalid_field("response_format.json_schema", "must have an object as root"));
        }
    }
    match input.get("input") {
        Some(Value::String(text)) if text.is_empty() => {
            Err(error::invalid_field("input", "must not be empty"))
        }
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(items)) if !items.is_empty() => Ok(()),
        // The server says so for every other type.
        _ => Err(error::invalid_field("input", "array must not be empty")),
    }?;
    if input.count("max_steps")? == Some(0) {
        return Err(error::invalid_field("max_steps", "must be at least 1"));
    }
    if input
        .get("models")
        .and_then(Value::as_array)
        .is_some_and(|models| !(1..=MAX_MODELS).contains(&models.len()))
    {
        return Err(error::invalid_field("models", "must have from 1 to 5 models"));
    }
    let is_anthropic =
        input.get("model").and_then(Value::as_str).is_some_and(|it| it.starts_with("anthropic/"));
    if is_anthropic && input.get("max_output_tokens").is_none() {
        return Err(error::invalid_field("max_output_tokens", "is required for this model"));
    }
    Ok(())
}

fn names(object: &Value) -> impl Iterator<Item = &str> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.as_str())
}

fn known<'a>(mut names: impl Iterator<Item = &'a str>, known: &[&str], parent: &str) -> Result<(), ApiError> {
    match names.find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) if parent.is_empty() => Err(error::invalid_field(name, "is an unknown field")),
        Some(name) => Err(error::invalid_field(&format!("{parent}.{name}"), "is an unknown field")),
    }
}
