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

impl RecordedResponse {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
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

/// Decodes and encodes `text`, and returns the lost fields. Without the feature `extra`, `null` fields may be
/// lost.
pub(crate) fn lost<T: DeserializeOwned + Serialize>(text: &str) -> tightwire_json::Result<Vec<String>> {
    let value: T = tightwire_json::from_str(text)?;
    let again: Value = tightwire_json::from_str(&tightwire_json::to_string(&value)?)?;
    let mut lost = Vec::new();
    compare(&tightwire_json::from_str(text)?, &again, "$", !cfg!(feature = "extra"), &mut lost);
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

/// A round-trip check of one body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) type_name: &'static str,
    lost: fn(&str) -> tightwire_json::Result<Vec<String>>,
}

impl Check {
    fn of<T: DeserializeOwned + Serialize>() -> Self {
        Self { type_name: std::any::type_name::<T>(), lost: lost::<T> }
    }

    pub(crate) fn run(self, body: &str) -> tightwire_json::Result<Vec<String>> {
        (self.lost)(body)
    }
}

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
        ("POST", ["chat", "completions"]) => Check::of::<chat::Completion>(),
        ("POST", ["search"]) => Check::of::<search::Response>(),
        ("GET", ["async", "chat", "completions"]) => Check::of::<async_chat::List>(),
        ("POST", ["async", "chat", "completions"]) | ("GET", ["async", "chat", "completions", _]) => {
            Check::of::<async_chat::AsyncCompletion>()
        }
        ("POST", ["v1", "responses", _, "cancel"]) => Check::of::<responses::Cancelled>(),
        ("GET", ["v1", "responses", _, "files"]) => Check::of::<responses::FileList>(),
        ("POST", ["v1", "responses"]) | ("GET", ["v1", "responses", _]) => Check::of::<responses::Response>(),
        ("POST", ["v1", "embeddings"]) => Check::of::<embeddings::Response>(),
        ("POST", ["v1", "contextualizedembeddings"]) => Check::of::<embeddings::ContextualizedResponse>(),
        ("POST", ["v1", "browser", "sessions"]) => Check::of::<browser::Session>(),
        ("GET", ["v1", "models"]) => Check::of::<models::List>(),
        ("POST", ["v1", "decisions"]) => Check::of::<decisions::Response>(),
        ("GET", ["v1", "files"]) => Check::of::<files::List>(),
        ("POST", ["v1", "files"]) | ("GET", ["v1", "files", _]) => Check::of::<files::FileObject>(),
        ("DELETE", ["v1", "files", _]) => Check::of::<Deleted>(),
        ("GET", ["v1", "batches"]) => Check::of::<batches::List>(),
        ("POST", ["v1", "batches"] | ["v1", "batches", _, "cancel"]) | ("GET", ["v1", "batches", _]) => {
            Check::of::<batches::Batch>()
        }
        ("GET", ["v1", "skills"]) => Check::of::<skills::List>(),
        ("GET", ["v1", "skills", _, "download"]) => Check::of::<skills::Download>(),
        ("GET", ["v1", "skills", _, "revisions"]) => Check::of::<skills::Revisions>(),
        ("POST", ["v1", "skills"]) | ("GET" | "PUT", ["v1", "skills", _]) => {
            Check::of::<skills::ManagedSkill>()
        }
        _ => return None,
    })
}

/// Returns the check of a JSON request; `None` for an endpoint without one.
pub(crate) fn request_check(path: &str) -> Option<Check> {
    Some(match sdk_path(path).as_ref() {
        "/chat/completions" => Check::of::<chat::Request>(),
        "/search" => Check::of::<search::Request>(),
        "/async/chat/completions" => Check::of::<async_chat::Request>(),
        "/v1/responses" => Check::of::<responses::Request>(),
        "/v1/embeddings" => Check::of::<embeddings::Request>(),
        "/v1/contextualizedembeddings" => Check::of::<embeddings::ContextualizedRequest>(),
        "/v1/browser/sessions" => Check::of::<browser::CreateRequest>(),
        "/v1/decisions" => Check::of::<decisions::Request>(),
        "/v1/batches" => Check::of::<batches::CreateRequest>(),
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
