//! Decodes every response of a recording with the client: successful responses round-trip, and error
//! responses become the right error.
//!
//! Requires the sibling module `wire`.

use std::convert::Infallible;
use std::future::ready;

use serde::Serialize;
use tightwire_json::Value;
use tightwire_perplexity::retry::RetryPolicy;
use tightwire_perplexity::stream::{EventStream, StreamItem};
use tightwire_perplexity::types::{chat, responses};
use tightwire_perplexity::{Client, Error};

use super::wire::{self, Exchange, RecordedResponse};

/// Result of a recording.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Number of passed responses.
    pub(crate) passed: usize,
    /// Identifiers of the failed responses, with the reason.
    pub(crate) failures: Vec<(String, String)>,
    /// Number of exchanges without a body to decode: files, redirects, lost connections.
    pub(crate) without_document: usize,
}

type Predicate = fn(&Error) -> bool;

/// Reason of a failed response.
type Failure = Box<dyn std::error::Error>;

/// Fails the response unless a condition holds.
macro_rules! expect {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+).into());
        }
    };
}

/// Runs all exchanges of a recording.
///
/// # Errors
///
/// Fails if the text is malformed or no client can be created.
pub(crate) fn run(text: &str) -> Result<Report, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = Report::default();
    for exchange in wire::exchanges(text)? {
        let Some(answer) = &exchange.response else {
            report.without_document += 1;
            continue;
        };
        let outcome = match (answer.status, &*answer.content_type) {
            (200..300, "application/json") => document(&exchange, &answer.body),
            (200..300, "text/event-stream") => runtime.block_on(stream(&exchange.path, answer)),
            (400.., _) => runtime.block_on(error_response(answer)),
            _ => {
                report.without_document += 1;
                continue;
            }
        };
        match outcome {
            Ok(()) => report.passed += 1,
            Err(problem) => {
                let id = format!("{}, attempt {}", exchange.name, exchange.attempt);
                report.failures.push((id, problem.to_string()));
            }
        }
    }
    Ok(report)
}

/// Checks a successful JSON response. Other content must be rejected.
fn document(exchange: &Exchange, body: &str) -> Result<(), Failure> {
    let check = wire::response_check(&exchange.method, &exchange.path).ok_or("no type for this endpoint")?;
    if tightwire_json::from_str::<Value>(body).is_err() {
        let refused = check(body).is_err_and(|error| error.is_syntax());
        expect!(refused, "broken JSON is not refused as broken");
        return Ok(());
    }
    let lost = check(body)?;
    expect!(lost.is_empty(), "lost {}", lost.join(", "));
    Ok(())
}

async fn stream(path: &str, answer: &RecordedResponse) -> Result<(), Failure> {
    match wire::sdk_path(path).as_ref() {
        "/chat/completions" => items::<chat::Completion>(answer).await,
        _ => items::<responses::Event>(answer).await,
    }
}

/// Checks a stream: one item per event, up to an error event or malformed data.
async fn items<T: StreamItem + Serialize + PartialEq>(answer: &RecordedResponse) -> Result<(), Failure> {
    let mut stream = call::<T>(answer)?.await?;
    for (kind, data) in wire::events(&answer.body, 0) {
        let item = stream.next().await.ok_or("the stream ends early")?;
        let document = tightwire_json::from_str::<Value>(&data).ok();
        let Some(document) = document else {
            expect!(item.is_err_and(|error| error.is_decode()), "a broken event is not refused");
            return Ok(());
        };
        if kind == "error" || document.get("error").is_some_and(|error| !error.is_null()) {
            let Err(error) = item else { return Err("a reported failure is taken for an item".into()) };
            expect!(error.is_stream(), "a reported failure is another error: {error}");
            let message = message(&document).ok_or("the reported failure has no message")?;
            expect!(error.to_string().contains(&*message), "message {error}, expected {message}");
            return Ok(());
        }
        let item = item?;
        expect!(item == tightwire_json::from_str(&data)?, "the item is not the event: {data}");
        let lost = wire::lost::<T>(&data)?;
        expect!(lost.is_empty(), "lost {}", lost.join(", "));
    }
    let end = stream.next().await;
    let is_incomplete = matches!(&end, Some(Err(error)) if error.is_incomplete());
    expect!(end.is_none() || is_incomplete, "there are more items than events");
    expect!(is_incomplete != stream.finished_cleanly(), "the end of the answer is not what the stream says");
    Ok(())
}

/// Checks an error response: the kind of error for its status, with message, code and type.
async fn error_response(answer: &RecordedResponse) -> Result<(), Failure> {
    let kinds: [(u16, Predicate); 7] = [
        (400, Error::is_bad_request),
        (401, Error::is_authentication),
        (403, Error::is_permission_denied),
        (404, Error::is_not_found),
        (409, Error::is_conflict),
        (422, Error::is_unprocessable),
        (429, Error::is_rate_limit),
    ];
    let Err(error) = call::<chat::Completion>(answer)?.await else {
        return Err("a refusal is taken for an answer".into());
    };
    expect!(error.is_api(), "a refusal is not an error of the API");
    let status = error.status().ok_or("a refusal has no status")?;
    for (status, is_kind) in kinds {
        expect!(is_kind(&error) == (answer.status == status), "{error} is taken for {status}");
    }
    expect!(error.is_server_error() == (answer.status >= 500), "{error} and the side that is to blame");
    expect!(status.as_u16() == answer.status, "status {status}");
    let document = tightwire_json::from_str::<Value>(&answer.body).unwrap_or_default();
    let expected = message(&document)
        .or_else(|| status.canonical_reason().map(str::to_owned))
        .ok_or("no message to expect")?;
    let found = error.message().unwrap_or_default();
    expect!(found == expected, "message {found:?}, expected {expected:?}");
    let member = |name: &str| match &document["error"][name] {
        Value::Null => None,
        Value::String(text) => Some(text.to_string()),
        other => Some(other.to_string()),
    };
    expect!(error.code() == member("code").as_deref(), "code {:?}", error.code());
    expect!(error.error_type() == member("type").as_deref(), "type {:?}", error.error_type());
    Ok(())
}

/// Returns the message of an error, from the fields that the recordings use.
fn message(document: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let text = places.iter().find_map(|place| document.pointer(place)?.as_str());
    text.map(str::to_owned).or_else(|| {
        let problem = document.pointer("/detail/0")?;
        let place: Vec<_> = problem["loc"].as_array()?.iter().filter_map(Value::as_str).collect();
        Some(format!("{}: {}", place.join("."), problem["msg"].as_str()?))
    })
}

/// Creates a call that gets this response, without retries.
fn call<T: StreamItem>(
    answer: &RecordedResponse,
) -> Result<tightwire_perplexity::Call<EventStream<T>>, Failure> {
    let mut response = http::Response::builder().status(answer.status);
    if !answer.content_type.is_empty() {
        response = response.header("content-type", &answer.content_type);
    }
    let response = response.body(answer.body.clone())?;
    let client = Client::builder()
        .without_environment()
        .api_key("test-key")
        .base_url("https://example.org")
        .retry_policy(RetryPolicy::never())
        .service(tower::service_fn(move |_| {
            ready(Ok::<_, Infallible>(response.clone().map(reqwest::Body::from)))
        }))
        .build()?;
    Ok(client.request(http::Method::POST, "/chat/completions").events())
}
