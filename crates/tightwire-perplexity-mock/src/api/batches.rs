//! Batches of requests to the responses endpoint.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::error::ApiResult;
use super::files::File;
use super::input::Input;
use super::store::{Counters, Store};
use super::{error, files, page, text};
use crate::api_response::ApiResponse;
use crate::request::Request;

const ENDPOINT: &str = "/v1/responses";
const WINDOW: &str = "24h";
/// Maximum requests per batch.
const MAX_REQUESTS: u64 = 50_000;
const WINDOW_SECONDS: u64 = 24 * 60 * 60;

/// A batch. Each poll advances it by one status.
#[derive(Debug)]
pub(crate) struct Batch {
    id: String,
    input_file: String,
    idempotency_key: Option<String>,
    metadata: Value,
    status: Status,
    /// Time at which each status was reached.
    times: Vec<(&'static str, u64)>,
    requests: u64,
    output_file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Validating,
    InProgress,
    Finalizing,
    Completed,
    Cancelling,
    Cancelled,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Validating => "validating",
            Self::InProgress => "in_progress",
            Self::Finalizing => "finalizing",
            Self::Completed => "completed",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the next status, and the name of the field with its time.
    fn next(self) -> Option<(Self, &'static str)> {
        match self {
            Self::Validating => Some((Self::InProgress, "in_progress_at")),
            Self::InProgress => Some((Self::Finalizing, "finalizing_at")),
            Self::Finalizing => Some((Self::Completed, "completed_at")),
            Self::Cancelling => Some((Self::Cancelled, "cancelled_at")),
            Self::Completed | Self::Cancelled => None,
        }
    }
}

impl Batch {
    fn view(&self) -> Value {
        let done = if self.status == Status::Completed { self.requests } else { 0 };
        let mut view = json!({
            "id": self.id,
            "object": "batch",
            "endpoint": ENDPOINT,
            "completion_window": WINDOW,
            "input_file_id": self.input_file,
            "status": self.status.name(),
            "request_counts": {"total": self.requests, "completed": done, "failed": 0},
            "usage": {
                "input_tokens": done,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": done,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 2 * done,
            },
        });
        for (member, time) in &self.times {
            view[member] = json!(time);
        }
        if !self.metadata.is_null() {
            view["metadata"] = self.metadata.clone();
        }
        if let Some(id) = &self.output_file {
            view["output_file_id"] = json!(id);
        }
        view
    }
}

pub(crate) fn create(
    counters: &mut Counters,
    files: &Store<File>,
    store: &mut Store<Batch>,
    request: &Request,
) -> ApiResult {
    let input = Input::of(request)?;
    let key = request.header("idempotency-key").map(str::to_owned);
    if key.is_some()
        && let Some(known) = store.values().find(|batch| batch.idempotency_key == key)
    {
        return Ok(ApiResponse::json(&known.view()));
    }
    if input.required_text("endpoint")? != ENDPOINT {
        return Err(input.wrong("endpoint", "Input should be '/v1/responses'", "literal_error"));
    }
    if input.text("completion_window")?.is_some_and(|window| window != WINDOW) {
        return Err(input.wrong("completion_window", "Input should be '24h'", "literal_error"));
    }
    let input_file = input.required_text("input_file_id")?.to_owned();
    let file = files.get(&input_file).ok_or_else(|| error::not_found("File", &input_file))?;
    let requests = lines(&file.content).count() as u64;
    if requests > MAX_REQUESTS {
        return Err(error::invalid("batch_too_large", "At most 50000 requests are allowed"));
    }
    let id = counters.id("batch_");
    let now = counters.now();
    let batch = Batch {
        id: id.clone(),
        input_file,
        idempotency_key: key,
        metadata: input.get("metadata").cloned().unwrap_or_default(),
        status: Status::Validating,
        times: vec![("created_at", now), ("expires_at", now + WINDOW_SECONDS)],
        requests,
        output_file: None,
    };
    let view = batch.view();
    store.insert(id, request.body.len(), batch);
    Ok(ApiResponse::json(&view))
}

/// Newest first.
pub(crate) fn list(store: &Store<Batch>, request: &Request) -> ApiResult {
    page::after(request, store.values().rev().map(Batch::view).collect())
}

pub(crate) fn retrieve(
    counters: &mut Counters,
    files: &mut Store<File>,
    store: &mut Store<Batch>,
    id: &str,
) -> ApiResult {
    let now = counters.now();
    let batch = store.get_mut(id).ok_or_else(|| error::not_found("Batch", id))?;
    let Some((next, member)) = batch.status.next() else { return Ok(ApiResponse::json(&batch.view())) };
    batch.status = next;
    batch.times.push((member, now));
    if next == Status::Completed {
        let input = batch.input_file.clone();
        let output = results(files, &input);
        let output = files::insert(counters, files, "results.jsonl", "batch_output", output.into());
        if let Some(batch) = store.get_mut(id) {
            batch.output_file = Some(output);
        }
    }
    let batch = store.get(id).ok_or_else(|| error::not_found("Batch", id))?;
    Ok(ApiResponse::json(&batch.view()))
}

pub(crate) fn cancel(counters: &Counters, store: &mut Store<Batch>, id: &str) -> ApiResult {
    let now = counters.now();
    let batch = store.get_mut(id).ok_or_else(|| error::not_found("Batch", id))?;
    if matches!(batch.status, Status::Completed | Status::Cancelled) {
        return Err(error::invalid("batch_not_cancellable", "The batch has ended already"));
    }
    if batch.status != Status::Cancelling {
        batch.status = Status::Cancelling;
        batch.times.push(("cancelling_at", now));
    }
    Ok(ApiResponse::json(&batch.view()))
}

/// Returns one line per request of the input file, which may have been deleted.
fn results(files: &Store<File>, input: &str) -> String {
    let mut output = String::new();
    let content = files.get(input).map(|file| file.content.clone()).unwrap_or_default();
    for (number, line) in lines(&content).enumerate() {
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        let prompt = text::prompt(&request["body"]["input"]);
        let result = json!({
            "id": format!("batch_req_{}", number + 1),
            "custom_id": request["custom_id"],
            "response": {"status_code": 200, "body": {"output_text": text::reply_to(&prompt)}},
            "error": null,
        });
        // Writing to a string cannot fail.
        let _ = writeln!(output, "{result}");
    }
    output
}

fn lines(content: &[u8]) -> impl Iterator<Item = String> {
    content
        .split(|byte| *byte == b'\n')
        .map(|line| String::from_utf8_lossy(line).trim().to_owned())
        .filter(|line| !line.is_empty())
}
