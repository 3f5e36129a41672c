//! Chat completions, buffered and streamed.

use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::input::Input;
use super::store::Counters;
use super::{error, models, schema, search, text};
use crate::api_response::ApiResponse;
use crate::event::Event;
use crate::request::Request;

const ROLES: &[&str] = &["system", "user", "assistant", "tool"];
const MAX_TOKENS: u64 = 128_000;
const MAX_CHOICES: u64 = 16;

/// A completion, before it is encoded as one object or as chunks.
#[derive(Debug)]
pub(crate) struct Completion {
    /// Fields of every chunk: `id`, `model`, `created`.
    head: Value,
    /// Fields of the buffered response and of the last chunk, such as usage and citations.
    tail: Value,
    text: String,
    tool_calls: Option<Value>,
    choices: u64,
}

pub(crate) fn create(counters: &mut Counters, request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let completion = Completion::of(counters, &input)?;
    if !input.flag("stream")? {
        return Ok(ApiResponse::json(&completion.whole()));
    }
    let chunks = match input.text("stream_mode")? {
        None | Some("full") => completion.full_chunks(),
        Some("concise") => completion.concise_chunks(),
        Some(_) => {
            return Err(input.wrong("stream_mode", "Input should be 'full' or 'concise'", "literal_error"));
        }
    };
    Ok(ApiResponse::events(chunks.iter().map(Event::json).chain([Event::done()])))
}

impl Completion {
    /// Generates the completion of a request.
    pub(crate) fn of(counters: &mut Counters, input: &Input) -> Result<Self, ApiError> {
        let model = input.required_text("model")?;
        input.required("messages")?;
        let messages = input.list("messages")?.unwrap_or_default();
        models::check_chat(model)?;
        check(input, messages)?;
        let prompt = messages.iter().rev().find(|message| message["role"] == "user");
        let prompt = prompt.map(|message| text::prompt(&message["content"])).unwrap_or_default();
        let tool_calls = tool_calls(input)?;
        let reply = match input.get("response_format").map(|format| &format["json_schema"]["schema"]) {
            Some(schema) if schema.is_object() => schema::sample(schema).to_string(),
            _ => text::reply_to(&prompt),
        };
        let reply = if tool_calls.is_some() { String::new() } else { reply };
        let choices = input.count("n")?.unwrap_or(1);
        if !(1..=MAX_CHOICES).contains(&choices) {
            return Err(error::invalid("invalid_parameter", &format!("n must be from 1 to {MAX_CHOICES}")));
        }
        let prompt_tokens: u64 =
            messages.iter().map(|message| text::tokens(&text::of_content(&message["content"]))).sum();
        Ok(Self {
            head: json!({"id": counters.id("cmpl-"), "model": model, "created": counters.now()}),
            tail: tail(input, model, &prompt, prompt_tokens, text::tokens(&reply) * choices)?,
            text: reply,
            tool_calls,
            choices,
        })
    }

    /// Returns the buffered response.
    pub(crate) fn whole(&self) -> Value {
        self.chunk("chat.completion", &self.tail, &|index| {
            json!({
                "index": index,
                "finish_reason": "stop",
                "message": self.message(),
                "delta": {"role": "assistant", "content": ""},
            })
        })
    }

    fn message(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if let Some(calls) = &self.tool_calls {
            message["content"] = Value::Null;
            message["tool_calls"] = calls.clone();
        }
        message
    }

    fn chunk(&self, object: &str, tail: &Value, choice: &dyn Fn(u64) -> Value) -> Value {
        let mut chunk = self.head.clone();
        merge(&mut chunk, tail);
        chunk["object"] = json!(object);
        chunk["choices"] = (0..self.choices).map(choice).collect();
        chunk
    }

    /// Every chunk repeats the text so far.
    fn full_chunks(&self) -> Vec<Value> {
        let pieces = text::pieces(&self.text);
        let mut so_far = String::new();
        pieces
            .iter()
            .enumerate()
            .map(|(number, piece)| {
                so_far += piece;
                let is_last = number + 1 == pieces.len();
                let mut delta = json!({"role": "assistant", "content": piece});
                if let Some(calls) = &self.tool_calls {
                    delta["tool_calls"] = calls.clone();
                }
                let message =
                    if is_last { self.message() } else { json!({"role": "assistant", "content": so_far}) };
                let none = json!({});
                self.chunk("chat.completion.chunk", if is_last { &self.tail } else { &none }, &|index| {
                    json!({
                        "index": index,
                        "finish_reason": is_last.then_some("stop"),
                        "message": message,
                        "delta": delta,
                    })
                })
            })
            .collect()
    }

    /// Reasoning first, then deltas, then the complete message.
    fn concise_chunks(&self) -> Vec<Value> {
        let steps = json!([{
            "thought": "The web may know this.",
            "type": "web_search",
            "web_search": {"search_keywords": ["question"], "search_results": search::cited()},
        }]);
        let none = json!({});
        let searched = json!({"search_results": search::cited(), "usage": self.tail["usage"]});
        let with = |member: &'static str, value: Value| {
            move |index: u64| -> Value {
                let mut choice = json!({"index": index, "finish_reason": null});
                choice[member] = value.clone();
                choice
            }
        };
        let reasoning = json!({"role": "assistant", "content": "", "reasoning_steps": steps});
        let mut chunks = vec![
            self.chunk("chat.reasoning", &none, &with("delta", reasoning.clone())),
            self.chunk("chat.reasoning.done", &searched, &with("message", reasoning)),
        ];
        for piece in text::pieces(&self.text) {
            let mut delta = json!({"role": "assistant", "content": piece});
            if let Some(calls) = &self.tool_calls {
                delta["tool_calls"] = calls.clone();
            }
            chunks.push(self.chunk("chat.completion.chunk", &none, &with("delta", delta)));
        }
        chunks.push(self.chunk(
            "chat.completion.done",
            &self.tail,
            &|index| json!({"index": index, "finish_reason": "stop", "message": self.message()}),
        ));
        chunks
    }
}

fn check(input: &Input, messages: &[Value]) -> Result<(), ApiError> {
    for message in messages {
        let is_known = message["role"].as_str().is_some_and(|role| ROLES.contains(&role));
        if !is_known {
            return Err(input.wrong("messages", "Input should have a known role", "literal_error"));
        }
    }
    if !messages.last().is_some_and(|last| last["role"] == "user" || last["role"] == "tool") {
        return Err(error::invalid("invalid_message", "Last message must have role 'user' or 'tool'"));
    }
    if input.count("max_tokens")?.is_some_and(|tokens| tokens > MAX_TOKENS) {
        return Err(error::invalid("invalid_max_tokens", "max_tokens must be at most 128000"));
    }
    for (name, most) in [("temperature", 2.0), ("top_p", 1.0)] {
        if input.number(name)?.is_some_and(|value| !(0.0..=most).contains(&value)) {
            return Err(error::invalid("invalid_parameter", &format!("{name} must be from 0 to {most}")));
        }
    }
    Ok(())
}

/// Returns a call of the first tool if the request requires one.
fn tool_calls(input: &Input) -> Result<Option<Value>, ApiError> {
    if input.get("tool_choice").is_none_or(|choice| choice != "required") {
        return Ok(None);
    }
    let Some(function) = input.list("tools")?.and_then(|tools| tools.first()).map(|tool| &tool["function"])
    else {
        return Err(error::invalid("invalid_tool_choice", "tool_choice 'required' needs a tool"));
    };
    let arguments = schema::sample(&function["parameters"]).to_string();
    let call = json!({"name": function["name"], "arguments": arguments});
    Ok(Some(json!([{"id": "call_1", "type": "function", "function": call}])))
}

fn tail(
    input: &Input,
    model: &str,
    prompt: &str,
    input_tokens: u64,
    output_tokens: u64,
) -> Result<Value, ApiError> {
    let context =
        input.get("web_search_options").map_or(&Value::Null, |options| &options["search_context_size"]);
    let (input_cost, output_cost, request_cost) =
        (1e-6 * input_tokens as f64, 1e-6 * output_tokens as f64, 0.005);
    let mut tail = json!({
        "usage": {
            "prompt_tokens": input_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens,
            "search_context_size": context.as_str().unwrap_or("low"),
            "cost": {
                "input_tokens_cost": input_cost,
                "output_tokens_cost": output_cost,
                "request_cost": request_cost,
                "total_cost": input_cost + output_cost + request_cost,
            },
        },
    });
    if model == "sonar-deep-research" {
        merge(
            &mut tail["usage"],
            &json!({"citation_tokens": 20, "num_search_queries": 3, "reasoning_tokens": 40}),
        );
    }
    if !input.flag("disable_search")? {
        let results = search::cited();
        tail["citations"] = results.iter().map(|result| result["url"].clone()).collect();
        tail["search_results"] = json!(results);
    }
    if input.flag("return_images")? {
        tail["images"] = json!([{
            "image_url": "https://example.org/image.png",
            "origin_url": "https://example.org/1",
            "title": "An image",
            "width": 10,
            "height": 20,
        }]);
    }
    if input.flag("return_related_questions")? {
        tail["related_questions"] = json!([format!("Why {prompt}?")]);
    }
    Ok(tail)
}

/// Adds the fields of an object to another.
fn merge(target: &mut Value, members: &Value) {
    for (name, value) in members.as_object().into_iter().flatten() {
        target[name] = value.clone();
    }
}
