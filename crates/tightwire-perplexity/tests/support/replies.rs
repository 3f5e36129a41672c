//! Every answer of a recording through the client: nothing of a success is lost, and a refusal becomes the right error.
//!
//! Needs the module `wire` beside it.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use serde::Serialize;
use tightwire_json::Value;
use tightwire_perplexity::types::{chat, responses};
use tightwire_perplexity::{Client, Error, Events, RetryPolicy, StreamItem};
use tower_service::Service;

use super::wire::{self, Answer, Exchange};

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many answers came out as they should.
    pub(crate) passed: usize,
    /// The ids of the others, each with what was wrong.
    pub(crate) failures: Vec<(String, String)>,
    /// How many exchanges have nothing to decode: files, redirects, broken connections.
    pub(crate) without_document: usize,
}

type Predicate = fn(&Error) -> bool;

/// Why an answer did not come out as it should.
type Problem = Box<dyn std::error::Error>;

/// Fails an answer unless a condition holds.
macro_rules! expect {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+).into());
        }
    };
}

/// Runs all exchanges of a file.
///
/// # Errors
///
/// Fails if the text is not in the format, or no client can be made.
pub(crate) fn run(text: &str) -> Result<Report, Problem> {
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
            (400.., _) => runtime.block_on(refusal(answer)),
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

/// A success in JSON. What is not JSON has to be refused as such.
fn document(exchange: &Exchange, body: &str) -> Result<(), Problem> {
    let check = wire::answer_check(&exchange.method, &exchange.path).ok_or("no type for this endpoint")?;
    if tightwire_json::from_str::<Value>(body).is_err() {
        let refused = check.run(body).is_err_and(|error| error.is_syntax());
        expect!(refused, "broken JSON is not refused as broken");
        return Ok(());
    }
    let lost = check.run(body)?;
    expect!(lost.is_empty(), "lost {}", lost.join(", "));
    Ok(())
}

async fn stream(path: &str, answer: &Answer) -> Result<(), Problem> {
    match wire::sdk_path(path).as_ref() {
        "/chat/completions" => items::<chat::Completion>(answer).await,
        _ => items::<responses::Event>(answer).await,
    }
}

/// A stream: the client gives an item per event, up to the event that reports a failure or is broken.
async fn items<T: StreamItem + Serialize + PartialEq>(answer: &Answer) -> Result<(), Problem> {
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

/// A refusal: the kind of error that its status stands for, with its message, code and type.
async fn refusal(answer: &Answer) -> Result<(), Problem> {
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
    let api = error.as_api().ok_or("a refusal is not an error of the API")?;
    for (status, is_kind) in kinds {
        expect!(is_kind(&error) == (answer.status == status), "{error} is taken for {status}");
    }
    expect!(error.is_server_error() == (answer.status >= 500), "{error} and the side that is to blame");
    expect!(api.status().as_u16() == answer.status, "status {}", api.status());
    let document = tightwire_json::from_str::<Value>(&answer.body).unwrap_or_default();
    let expected = message(&document)
        .or_else(|| api.status().canonical_reason().map(str::to_owned))
        .ok_or("no message to expect")?;
    expect!(api.message() == expected, "message {:?}, expected {expected:?}", api.message());
    let member = |name: &str| match &document["error"][name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    expect!(api.code() == member("code").as_deref(), "code {:?}", api.code());
    expect!(api.error_type() == member("type").as_deref(), "type {:?}", api.error_type());
    Ok(())
}

/// The message of a failure, from the members that were recorded with one.
fn message(document: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let text = places.iter().find_map(|place| document.pointer(place)?.as_str());
    text.map(str::to_owned).or_else(|| {
        let problem = document.pointer("/detail/0")?;
        let place: Vec<_> = problem["loc"].as_array()?.iter().filter_map(Value::as_str).collect();
        Some(format!("{}: {}", place.join("."), problem["msg"].as_str()?))
    })
}

/// A call that gets this answer, and does not ask again.
fn call<T: StreamItem>(answer: &Answer) -> Result<tightwire_perplexity::Call<Events<T>>, Problem> {
    let mut response = http::Response::builder().status(answer.status);
    if !answer.content_type.is_empty() {
        response = response.header("content-type", &answer.content_type);
    }
    let client = Client::builder()
        .without_environment()
        .api_key("test-key")
        .base_url("https://example.org")
        .retry_policy(RetryPolicy::never())
        .service(Canned(response.body(answer.body.clone())?))
        .build()?;
    Ok(client.request(http::Method::POST, "/chat/completions").events())
}

/// Answers every request in the same way.
#[derive(Clone)]
struct Canned(http::Response<String>);

impl Service<reqwest::Request> for Canned {
    type Response = reqwest::Response;
    type Error = Infallible;
    type Future = Ready<Result<reqwest::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: reqwest::Request) -> Self::Future {
        ready(Ok(self.0.clone().into()))
    }
}
