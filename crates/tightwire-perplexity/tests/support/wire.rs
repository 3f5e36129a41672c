//! The file format of `tests/data/perplexity-wire.jsonl`, the type of every body in it, and a check for
//! fields that a value loses in a round trip.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::{Map, Value};
use tightwire_perplexity::types::{
    Deleted, async_chat, batches, browser, chat, decisions, embeddings, files, models, responses, search,
    skills,
};

/// One line of the recording.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) name: String,
    pub(crate) attempt: u64,
    pub(crate) method: String,
    /// Target without its query.
    pub(crate) path: String,
    pub(crate) request: Option<Map<String, Value>>,
    pub(crate) response: Option<RecordedResponse>,
}

#[derive(Debug)]
pub(crate) struct RecordedResponse {
    pub(crate) status: u16,
    /// Empty if there is no body.
    pub(crate) content_type: String,
    pub(crate) body: String,
}

/// Parses a recording.
///
/// # Errors
///
/// Fails with the number of the first malformed line.
pub(crate) fn exchanges(text: &str) -> Result<Vec<Exchange>, String> {
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| {
            let line =
                tightwire_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))?;
            exchange(&line).ok_or_else(|| format!("line {}: not an exchange", index + 1))
        })
        .collect()
}

fn exchange(line: &Value) -> Option<Exchange> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let request = &line["request"];
    let response = match &line["response"] {
        Value::Null => None,
        response => {
            let mut headers = response["headers"].as_array()?.iter();
            let content_type = headers.find(|header| {
                header[0].as_str().is_some_and(|name| name.eq_ignore_ascii_case("content-type"))
            });
            Some(RecordedResponse {
                status: response["status"].as_u64()?.try_into().ok()?,
                content_type: content_type.and_then(|header| text(&header[1])).unwrap_or_default(),
                body: text(&response["body"]).unwrap_or_default(),
            })
        }
    };
    Some(Exchange {
        name: format!("{} of {}", text(&line["scenario"])?, text(&line["client"])?),
        attempt: line["attempt"].as_u64().unwrap_or_default(),
        method: text(&request["method"])?,
        path: text(&request["target"])?.split('?').next()?.to_owned(),
        request: text(&request["body_text"]).and_then(|body| tightwire_json::from_str(&body).ok()),
        response,
    })
}

/// Decodes and encodes `text`, and returns the lost fields.
pub(crate) fn lost<T: DeserializeOwned + Serialize>(text: &str) -> tightwire_json::Result<Vec<String>> {
    let value: T = tightwire_json::from_str(text)?;
    let again: Value = tightwire_json::from_str(&tightwire_json::to_string(&value)?)?;
    let mut lost = Vec::new();
    compare(&tightwire_json::from_str(text)?, &again, "$", false, &mut lost);
    Ok(lost)
}

/// Collects the paths of fields of `before` that `after` lacks or has with another value.
pub(crate) fn compare(before: &Value, after: &Value, path: &str, skip_nulls: bool, lost: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                let path = format!("{path}.{name}");
                match after.get(name) {
                    Some(again) => compare(value, again, &path, skip_nulls, lost),
                    None if value.is_null() && skip_nulls => {}
                    None => lost.push(path),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (value, again)) in before.iter().zip(after).enumerate() {
                compare(value, again, &format!("{path}[{index}]"), skip_nulls, lost);
            }
        }
        (Value::Number(before), Value::Number(after)) if before.as_f64() == after.as_f64() => {}
        (before, after) if before == after => {}
        _ => lost.push(path.to_owned()),
    }
}

/// A round-trip check of one body: [`lost`] of its type.
pub(crate) type Check = fn(&str) -> tightwire_json::Result<Vec<String>>;

/// Returns the path that the official SDKs use.
pub(crate) fn sdk_path(path: &str) -> Cow<'_, str> {
    for (other, sdk) in [
        ("/v1/sonar", "/chat/completions"),
        ("/v1/async/sonar", "/async/chat/completions"),
        ("/v1/agent", "/v1/responses"),
    ] {
        match path.strip_prefix(other) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => return format!("{sdk}{rest}").into(),
            _ => {}
        }
    }
    path.into()
}

/// Returns the check of a JSON response; `None` for an endpoint without one.
pub(crate) fn response_check(method: &str, path: &str) -> Option<Check> {
    let path = sdk_path(path);
    let segments: Vec<_> = path.split('/').skip(1).collect();
    Some(match (method, &segments[..]) {
        ("POST", ["chat", "completions"]) => lost::<chat::Completion>,
        ("POST", ["search"]) => lost::<search::Response>,
        ("GET", ["async", "chat", "completions"]) => lost::<async_chat::List>,
        ("POST", ["async", "chat", "completions"]) | ("GET", ["async", "chat", "completions", _]) => {
            lost::<async_chat::AsyncCompletion>
        }
        ("POST", ["v1", "responses", _, "cancel"]) => lost::<responses::Cancelled>,
        ("GET", ["v1", "responses", _, "files"]) => lost::<responses::FileList>,
        ("POST", ["v1", "responses"]) | ("GET", ["v1", "responses", _]) => lost::<responses::Response>,
        ("POST", ["v1", "embeddings"]) => lost::<embeddings::Response>,
        ("POST", ["v1", "contextualizedembeddings"]) => lost::<embeddings::ContextualizedResponse>,
        ("POST", ["v1", "browser", "sessions"]) => lost::<browser::Session>,
        ("GET", ["v1", "models"]) => lost::<models::List>,
        ("POST", ["v1", "decisions"]) => lost::<decisions::Response>,
        ("GET", ["v1", "files"]) => lost::<files::List>,
        ("POST", ["v1", "files"]) | ("GET", ["v1", "files", _]) => lost::<files::FileObject>,
        ("DELETE", ["v1", "files", _]) => lost::<Deleted>,
        ("GET", ["v1", "batches"]) => lost::<batches::List>,
        ("POST", ["v1", "batches"] | ["v1", "batches", _, "cancel"]) | ("GET", ["v1", "batches", _]) => {
            lost::<batches::Batch>
        }
        ("GET", ["v1", "skills"]) => lost::<skills::List>,
        ("GET", ["v1", "skills", _, "download"]) => lost::<skills::Download>,
        ("GET", ["v1", "skills", _, "revisions"]) => lost::<skills::Revisions>,
        ("POST", ["v1", "skills"]) | ("GET" | "PUT", ["v1", "skills", _]) => lost::<skills::ManagedSkill>,
        _ => return None,
    })
}

/// Returns the check of a JSON request; `None` for an endpoint without one.
pub(crate) fn request_check(path: &str) -> Option<Check> {
    Some(match sdk_path(path).as_ref() {
        "/chat/completions" => lost::<chat::Request>,
        "/search" => lost::<search::Request>,
        "/async/chat/completions" => lost::<async_chat::Request>,
        "/v1/responses" => lost::<responses::Request>,
        "/v1/embeddings" => lost::<embeddings::Request>,
        "/v1/contextualizedembeddings" => lost::<embeddings::ContextualizedRequest>,
        "/v1/browser/sessions" => lost::<browser::CreateRequest>,
        "/v1/decisions" => lost::<decisions::Request>,
        "/v1/batches" => lost::<batches::CreateRequest>,
        _ => return None,
    })
}

/// Returns type and data of all events until `[DONE]`, from a body truncated at `cut`.
pub(crate) fn events(body: &str, cut: usize) -> Vec<(String, String)> {
    let mut decoder = tightwire_sse::Decoder::new();
    let mut events = Vec::new();
    for mut chunk in [&body.as_bytes()[..cut], &body.as_bytes()[cut..]] {
        while let Some(event) = decoder.next(&mut chunk).expect("no recorded event is larger than the limit")
        {
            if event.data() == "[DONE]" {
                return events;
            }
            events.push((event.event_type().to_owned(), event.data().to_owned()));
        }
    }
    events
}
