//! Responses endpoint: create, stream, poll, cancel.

use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::input::Input;
use super::store::{Counters, Store};
use super::{error, models, response_events, schema, search, text};
use crate::api_response::ApiResponse;
use crate::event::Event;
use crate::request::Request;

/// Maximum sequence number: the largest integer that a double represents exactly.
const MAX_SEQUENCE: u64 = (1 << 53) - 1;

/// A response with its precomputed output.
#[derive(Debug)]
pub(crate) struct Run {
    response: Value,
    text: String,
    skills: Vec<String>,
    phase: Phase,
}

/// Phase of a response. Each poll advances a background response by one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Queued,
    InProgress,
    Cancelling,
    Cancelled,
    Done,
}

impl Run {
    fn advance(&mut self) {
        self.phase = match self.phase {
            Phase::Queued => Phase::InProgress,
            Phase::InProgress | Phase::Done => Phase::Done,
            Phase::Cancelling | Phase::Cancelled => Phase::Cancelled,
        };
    }

    /// Returns the response in this phase. It has no output until it is done.
    fn view(&self) -> Value {
        let status = match self.phase {
            Phase::Done => return self.response.clone(),
            Phase::Queued => "queued",
            // Cancelling has no status in the API.
            Phase::InProgress | Phase::Cancelling => "in_progress",
            Phase::Cancelled => "cancelled",
        };
        unfinished(&self.response, status)
    }

    fn events(&self) -> Vec<Value> {
        response_events::of(&self.response, &self.text, &self.skills)
    }
}

/// Returns a response without output and usage.
pub(crate) fn unfinished(response: &Value, status: &str) -> Value {
    let mut view = response.clone();
    view["status"] = json!(status);
    view["output"] = json!([]);
    view["usage"] = usage(0, 0);
    view
}

pub(crate) fn create(counters: &mut Counters, store: &mut Store<Run>, request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let prompt = prompt(&input)?;
    let model = model(&input)?;
    let previous = input.text("previous_response_id")?;
    if let Some(id) = previous {
        store.get(id).ok_or_else(|| error::invalid("previous_response_not_found", "No such response"))?;
    }
    let reply = match input.get("response_format").map(|format| &format["json_schema"]["schema"]) {
        Some(schema) if schema.is_object() => schema::sample(schema).to_string(),
        _ => text::reply_to(&prompt),
    };
    let id = counters.id("resp_");
    let call = function_call(&input)?;
    let status = if call.is_some() { "requires_action" } else { "completed" };
    let mut response = json!({
        "id": id,
        "object": "response",
        "created_at": counters.now(),
        "model": model,
        "status": status,
        "output": output(&id, &prompt, &reply, call),
        "usage": usage(text::tokens(&prompt), text::tokens(&reply)),
    });
    for member in [
        "background",
        "effort",
        "preset",
        "previous_response_id",
        "prompt_cache_key",
        "service_tier",
        "store",
    ] {
        if let Some(value) = input.get(member) {
            response[member] = value.clone();
        }
    }
    let skills = input.list("skills")?.unwrap_or_default();
    let skills =
        skills.iter().filter_map(|skill| skill.get("name").or(skill.get("id"))?.as_str().map(str::to_owned));
    let is_stream = input.flag("stream")?;
    let phase = if input.flag("background")? && !is_stream { Phase::Queued } else { Phase::Done };
    let run = Run { response, text: reply, skills: skills.collect(), phase };
    let reply = if is_stream { stream(run.events(), None) } else { ApiResponse::json(&run.view()) };
    store.insert(id, request.body.len(), run);
    Ok(reply)
}

/// Returns the input string, or the text of the last message.
fn prompt(input: &Input) -> Result<String, ApiError> {
    match input.required("input")? {
        content @ Value::String(_) => Ok(text::prompt(content)),
        Value::Array(items) if !items.is_empty() => {
            let message = items.iter().rev().find(|item| item.get("content").is_some());
            Ok(message.map(|message| text::prompt(&message["content"])).unwrap_or_default())
        }
        _ => Err(input.wrong("input", "Input should be a string or a list of items", "value_error")),
    }
}

/// Returns the first of `models`, else `model`, else a default for a preset, effort or profile.
fn model(input: &Input) -> Result<String, ApiError> {
    if let Some(models) = input.list("models")? {
        let names: Option<Vec<&str>> = models.iter().map(Value::as_str).collect();
        let names = names.filter(|names| (1..=5).contains(&names.len()));
        let names =
            names.ok_or_else(|| input.wrong("models", "Input should be 1 to 5 names", "value_error"))?;
        for name in &names {
            models::check_provider(name)?;
        }
        return Ok(names[0].to_owned());
    }
    if let Some(model) = input.text("model")? {
        models::check_provider(model)?;
        return Ok(model.to_owned());
    }
    if ["preset", "effort", "profile"].iter().any(|member| input.get(member).is_some()) {
        return Ok("perplexity/sonar".to_owned());
    }
    Err(error::invalid("missing_model", "One of model, models, preset and effort is needed"))
}

/// Returns a call of the first function if the request requires a tool.
fn function_call(input: &Input) -> Result<Option<Value>, ApiError> {
    if input.get("tool_choice").is_none_or(|choice| choice != "required") {
        return Ok(None);
    }
    let tools = input.list("tools")?.unwrap_or_default();
    let Some(function) = tools.iter().find(|tool| tool["type"] == "function") else { return Ok(None) };
    Ok(Some(json!({
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": function["name"],
        "arguments": schema::sample(&function["parameters"]).to_string(),
        "status": "completed",
    })))
}

fn output(id: &str, prompt: &str, reply: &str, call: Option<Value>) -> Value {
    if let Some(call) = call {
        return json!([call]);
    }
    let results: Vec<Value> = search::cited()
        .into_iter()
        .zip(1..)
        .map(|(mut result, number)| {
            result["id"] = json!(number);
            result
        })
        .collect();
    let citation = json!({
        "type": "citation",
        "start_index": 0,
        "end_index": reply.chars().count(),
        "url": "https://example.org/1",
        "title": "Page 1",
    });
    json!([
        {"type": "search_results", "queries": [prompt], "results": results},
        {
            "type": "message",
            "id": format!("msg_{id}"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply, "annotations": [citation]}],
        },
    ])
}

fn usage(input: u64, output: u64) -> Value {
    let (input_cost, output_cost) = (1e-6 * input as f64, 1e-5 * output as f64);
    json!({
        "input_tokens": input,
        "output_tokens": output,
        "total_tokens": input + output,
        "input_tokens_details": {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        "cost": {
            "currency": "USD",
            "input_cost": input_cost,
            "output_cost": output_cost,
            "total_cost": input_cost + output_cost,
        },
        "tool_calls_details": {"web_search": {"invocation": 1}},
    })
}

/// The events after a sequence number, each under its name.
fn stream(events: Vec<Value>, after: Option<u64>) -> ApiResponse {
    let is_due = |event: &Value| after.is_none_or(|after| event["sequence_number"].as_u64() > Some(after));
    let events = events.into_iter().filter(is_due).map(|event| {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        Event::named(&name).with("data", &event.to_string())
    });
    ApiResponse::events(events.chain([Event::done()]))
}

pub(crate) fn retrieve(store: &mut Store<Run>, request: &Request, id: &str) -> ApiResult {
    let run = store.get_mut(id).ok_or_else(|| error::not_found("Response", id))?;
    let query =
        |name: &str, message: &str| error::schema(&[json!("query"), json!(name)], message, "value_error");
    match request.query_value("format").as_deref() {
        None | Some("default" | "short") => {}
        Some(_) => return Err(query("format", "Input should be 'default' or 'short'")),
    }
    if request.query_value("stream").as_deref() != Some("true") {
        run.advance();
        return Ok(ApiResponse::json(&run.view()));
    }
    let after = request.query_value("starting_after").and_then(|text| text.parse().ok());
    let after = after.filter(|after| *after <= MAX_SEQUENCE);
    let after =
        after.ok_or_else(|| query("starting_after", "Input should be an integer from 0 to 2^53-1"))?;
    // The stream always runs to the end of the response.
    if run.phase != Phase::Cancelled {
        run.phase = Phase::Done;
    }
    Ok(stream(run.events(), Some(after)))
}

pub(crate) fn cancel(store: &mut Store<Run>, id: &str) -> ApiResult {
    let run = store.get_mut(id).ok_or_else(|| error::not_found("Response", id))?;
    if matches!(run.phase, Phase::Done | Phase::Cancelled) {
        return Err(error::invalid("response_not_cancellable", "The response has ended already"));
    }
    run.phase = Phase::Cancelling;
    Ok(ApiResponse::json(&json!({"response_id": id, "status": "cancelling"})))
}

const FILE_NAME: &str = "answer.txt";

fn file_id(id: &str) -> String {
    format!("file_{id}")
}

/// Lists the only file of a response, which contains its text.
pub(crate) fn files(store: &Store<Run>, id: &str) -> ApiResult {
    let run = store.get(id).ok_or_else(|| error::not_found("Response", id))?;
    Ok(ApiResponse::json(&json!({
        "object": "list",
        "data": [{
            "id": file_id(id),
            "object": "file",
            "bytes": run.text.len(),
            "created_at": run.response["created_at"],
            "filename": FILE_NAME,
        }],
    })))
}

pub(crate) fn file_content(store: &Store<Run>, id: &str, file: &str) -> ApiResult {
    let run = store.get(id).ok_or_else(|| error::not_found("Response", id))?;
    if file != file_id(id) {
        return Err(error::not_found("File", file));
    }
    let mut reply = ApiResponse::bytes("application/octet-stream", run.text.clone());
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{FILE_NAME}\""));
    reply.headers.insert(CONTENT_DISPOSITION, disposition.expect("ASCII is a valid value"));
    Ok(reply)
}
