//! Responses endpoint: create, stream, poll, cancel.

use tightwire_json::{Codec, Value, json};

use super::error::{self, ApiError, ApiResult};
use super::input::Input;
use super::stateless::cited;
use super::store::Object;
use super::{Call, State, schema, strict, text};
use crate::event::Event;
use crate::mock_response::MockResponse;

const MAX_ITEMS: usize = 10_000;
/// Approximate size of a stored event, in bytes.
const EVENT_SIZE: usize = 1024;
const FILE_NAME: &str = "answer.txt";

pub(crate) fn create(state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    strict::check(&input)?;
    let items = input.list("input", MAX_ITEMS)?;
    let message =
        items.iter().rev().find_map(|item| item.get("content").or(item.is_string().then_some(item)));
    let prompt = message.map(text::prompt).unwrap_or_default();
    let mut text = schema::reply(&input, &prompt);
    let limit = input.count("max_output_tokens")?;
    let cut = limit.filter(|limit| text::tokens(&text) > *limit);
    if let Some(limit) = cut {
        text = text::first_tokens(&text, limit);
    }
    let id = state.responses.next_id();
    let model = model(&input)?;
    let function = function_call(&input);
    let mut response = json!({
        "id": id,
        "object": "response",
        "created_at": state.now(),
        "model": model,
        "status": match &function {
            Some(_) => "requires_action",
            None if cut.is_some() => "incomplete",
            None => "completed",
        },
        "output": function.map_or_else(|| output(&id, &prompt, &text), |call| json!([call])),
        "usage": usage(text::tokens(&prompt), text::tokens(&text)),
    });
    let defaults = json!({
        "background": false, "completed_at": state.now(), "error": null, "frequency_penalty": 0,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null, "max_tool_calls": null,
        "metadata": {}, "parallel_tool_calls": true, "presence_penalty": 0, "previous_response_id": null,
        "prompt_cache_key": null, "reasoning": null, "safety_identifier": null, "service_tier": "default",
        "store": true, "temperature": 1, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
        "top_logprobs": 0, "top_p": 1, "truncation": "", "user": null,
    });
    let names = defaults.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    for name in names.chain(["effort", "preset"]) {
        if let Some(value) = input.get(name).or(defaults.get(name)) {
            response[name] = value.clone();
        }
    }
    if response["status"] == "incomplete" {
        (response["incomplete_details"], response["completed_at"]) =
            (json!({"reason": "max_output_tokens"}), Value::Null);
    }
    let events = events(&response, &text, &input);
    let is_stream = input.flag("stream")?;
    let bytes = call.request.body.len() + events.len() * EVENT_SIZE;
    let mut object = Object { id, view: response, bytes, ..Object::default() };
    if input.flag("background")? && !is_stream {
        let queued = unfinished(&object.view, "queued");
        let finished = std::mem::replace(&mut object.view, queued);
        object.later = [json!({"status": "in_progress"}), finished].into();
    }
    let reply = if is_stream { stream(&events, None) } else { MockResponse::json(&object.view) };
    object.events = events;
    object.file = Some((FILE_NAME.to_owned(), text.into()));
    // Such a response cannot be retrieved.
    if input.get("store").is_none_or(|store| *store == true) {
        state.responses.insert(object);
    }
    Ok(reply)
}

/// Returns a response without output and usage, whose model is not chosen yet.
fn unfinished(response: &Value, status: &str) -> Value {
    let mut view = response.clone();
    if let Some(name) = response.get("effort").or(response.get("preset")) {
        view["model"] = name.clone();
    }
    view["completed_at"] = Value::Null;
    view["status"] = json!(status);
    view["output"] = json!([]);
    view["usage"] = Value::Null;
    view
}

/// Returns the first of `models`, else `model`, else a default for a preset, effort or profile.
fn model(input: &Input) -> Result<&str, ApiError> {
    let first = input.get("models").map(|models| &models[0]).or(input.get("model"));
    match first.map(|model| model.as_str().unwrap_or_default()) {
        Some(model) if model.contains('/') => Ok(model),
        Some(model) => Err(error::invalid_model(model)),
        None if ["preset", "effort", "profile"].iter().any(|name| input.get(name).is_some()) => {
            Ok("perplexity/sonar")
        }
        None => Err(error::invalid("missing_model", "One of model, models, preset and effort is needed")),
    }
}

/// Returns a call of the first function if the request requires a tool.
fn function_call(input: &Input) -> Option<Value> {
    input.get("tool_choice").filter(|choice| *choice == "required")?;
    let tools = input.get("tools")?.as_array()?;
    let function = tools.iter().find(|tool| tool["type"] == "function")?;
    Some(json!({
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": function["name"],
        "arguments": schema::sample(&function["parameters"]).to_string(),
        "status": "completed",
    }))
}

fn output(id: &str, prompt: &str, text: &str) -> Value {
    let mut results = cited();
    for (result, number) in results.iter_mut().zip(1..) {
        result["id"] = json!(number);
    }
    let citation = json!({
        "type": "url_citation",
        "start_index": 0,
        "end_index": text.chars().count(),
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
            "content": [{"type": "output_text", "text": text, "annotations": [citation]}],
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
        "tool_calls_details": {"search_web": {"invocation": 1, "cost_usd": 0.005}},
    })
}

fn events(response: &Value, text: &str, input: &Input) -> Vec<Value> {
    let mut events = Vec::new();
    let mut add = |kind: &str, mut event: Value| {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(events.len());
        events.push(event);
    };
    let running = unfinished(response, "in_progress");
    add("response.created", json!({"response": running}));
    add("response.in_progress", json!({"response": running}));
    for skill in input.get("skills").and_then(Value::as_array).into_iter().flatten() {
        if let Some(name) = skill.get("name").or(skill.get("id")) {
            add("response.skill.loaded", json!({"name": name}));
        }
    }
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        if item["type"] == "search_results" {
            let thought = "The web may know this.";
            add("response.reasoning.started", json!({"thought": thought}));
            // The call becomes the results, which have the same index.
            let call = json!({"type": "function_call", "id": "fc_0", "call_id": "call_0", "name": "search_web",
                "arguments": "{}", "status": "in_progress"});
            add("response.output_item.added", json!({"item": call, "output_index": index}));
            let queries = json!({"call_id": "call_0", "queries": item["queries"], "thought": thought});
            add("response.reasoning.search_queries", queries);
            let results = json!({"call_id": "call_0", "results": item["results"], "thought": null});
            add("response.reasoning.search_results", results);
            add("response.output_item.done", json!({"item": item, "output_index": index}));
            add("response.reasoning.stopped", json!({"thought": thought}));
            continue;
        }
        let mut empty = item.clone();
        empty["status"] = json!("in_progress");
        if item["type"] == "message" {
            empty["content"] = Value::Null;
        }
        add("response.output_item.added", json!({"item": empty, "output_index": index}));
        if item["type"] == "message" {
            let part = |name: &str, value: &str| json!({"item_id": item["id"], "output_index": index, "content_index": 0, name: value});
            for piece in text::pieces(text) {
                add("response.output_text.delta", part("delta", piece));
            }
            add("response.output_text.done", part("text", text));
        }
        add("response.output_item.done", json!({"item": item, "output_index": index}));
    }
    let is_cut = response["status"] == "incomplete";
    let mut last = json!({"response": response});
    if input.get("stream_options").is_some_and(|options| options["include_usage"] == false)
        && let Some(response) = last["response"].as_object_mut()
    {
        response.remove("usage");
    }
    add(if is_cut { "response.incomplete" } else { "response.completed" }, last);
    events
}

/// Streams the events after a sequence number as data without names. As from the server, keys are sorted, so that the
/// type is the last one, and there is no `[DONE]`.
fn stream(events: &[Value], after: Option<u64>) -> MockResponse {
    let is_due = |event: &&Value| after.is_none_or(|after| event["sequence_number"].as_u64() > Some(after));
    let sorted = |event| Codec::canonical().to_string(event).expect("an event has no other numbers");
    MockResponse::events(events.iter().filter(is_due).map(|event| Event::data(&sorted(event))))
}

/// Polls a response, or streams its events after `starting_after`.
pub(crate) fn retrieve(state: &mut State, call: &Call<'_>) -> ApiResult {
    if call.request.query_value("stream").as_deref() != Some("true") {
        return state.responses.poll(call);
    }
    let after = call.request.query_value("starting_after").and_then(|text| text.parse().ok());
    let after = after
        .ok_or_else(|| error::wrong_query("starting_after", "Input should be a non-negative integer"))?;
    Ok(stream(&state.responses.get(call.ids[0])?.events, Some(after)))
}

pub(crate) fn cancel(state: &mut State, call: &Call<'_>) -> ApiResult {
    let ended = || error::invalid("invalid_request", "The response has ended or does not exist");
    let response = state.responses.get_mut(call.ids[0]).map_err(|_| ended())?;
    if response.later.is_empty() {
        return Err(ended());
    }
    let cancelled = json!({
        "status": "cancelled",
        "error": {"message": "cancelled", "code": "cancelled", "type": "cancelled"},
        "incomplete_details": {"reason": "cancelled"},
        "completed_at": null,
        "usage": null,
    });
    response.later = [cancelled].into();
    Ok(MockResponse::json(&json!({"response_id": response.id, "status": "cancelling"})))
}

/// Lists the only file of a response, which contains its text.
pub(crate) fn files(state: &mut State, call: &Call<'_>) -> ApiResult {
    let response = state.responses.get(call.ids[0])?;
    let bytes = response.file.as_ref().map_or(0, |(_, content)| content.len());
    let file = json!({
        "id": format!("file_{}", response.id),
        "object": "file",
        "bytes": bytes,
        "created_at": response.view["created_at"],
        "filename": FILE_NAME,
    });
    Ok(MockResponse::json(&json!({"object": "list", "data": [file]})))
}
