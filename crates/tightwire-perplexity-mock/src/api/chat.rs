//! Chat completions, buffered and streamed.

use tightwire_json::{Value, json};

use super::error::{self, ApiError, ApiResult};
use super::input::Input;
use super::stateless::cited;
use super::store::merge;
use super::{Call, State, schema, text};
use crate::event::Event;
use crate::mock_response::MockResponse;

const MODELS: &[&str] =
    &["sonar", "sonar-pro", "sonar-deep-research", "sonar-reasoning", "sonar-reasoning-pro"];
const MAX_MESSAGES: usize = 10_000;

/// A completion, before it is encoded as one object or as chunks.
#[derive(Debug)]
pub(crate) struct Completion {
    /// Fields of every chunk: `id`, `model`, `created`.
    head: Value,
    /// Fields of the buffered response and of the last chunk: usage and citations.
    tail: Value,
    text: String,
    message: Value,
}

pub(crate) fn create(state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let completion = Completion::of(state, &input)?;
    if !input.flag("stream")? {
        return Ok(MockResponse::json(&completion.complete()));
    }
    let chunks = match input.text("stream_mode")? {
        None | Some("full") => completion.full_chunks(),
        Some("concise") => completion.concise_chunks(),
        Some(_) => {
            return Err(input.wrong("stream_mode", "Input should be 'full' or 'concise'", "literal_error"));
        }
    };
    Ok(MockResponse::events(chunks.iter().map(Event::json).chain([Event::done()])))
}

impl Completion {
    /// Generates the completion of a request.
    pub(crate) fn of(state: &State, input: &Input) -> Result<Self, ApiError> {
        let model = input.required_text("model")?;
        let messages = input.list("messages", MAX_MESSAGES)?;
        if !MODELS.contains(&model) {
            return Err(error::invalid_model(model));
        }
        let prompt = messages.iter().rev().find(|message| message["role"] == "user");
        let prompt = prompt.map(|message| text::prompt(&message["content"])).unwrap_or_default();
        let mut text = schema::reply(input, &prompt);
        let mut message = json!({"role": "assistant", "content": text});
        if input.get("tool_choice").is_some_and(|choice| choice == "required") {
            let function = &input.required("tools")?[0]["function"];
            let arguments = schema::sample(&function["parameters"]).to_string();
            let function = json!({"name": function["name"], "arguments": arguments});
            text = String::new();
            message["content"] = Value::Null;
            message["tool_calls"] = json!([{"id": "call_1", "type": "function", "function": function}]);
        }
        let tokens = messages.iter().map(|message| text::tokens(&text::of_content(&message["content"])));
        let (input_tokens, output_tokens): (u64, u64) = (tokens.sum(), text::tokens(&text));
        let (input_cost, output_cost, request_cost) =
            (1e-6 * input_tokens as f64, 1e-6 * output_tokens as f64, 0.005);
        let tail = json!({
            "usage": {
                "prompt_tokens": input_tokens,
                "completion_tokens": output_tokens,
                "total_tokens": input_tokens + output_tokens,
                "search_context_size": "low",
                "cost": {
                    "input_tokens_cost": input_cost,
                    "output_tokens_cost": output_cost,
                    "request_cost": request_cost,
                    "total_cost": input_cost + output_cost + request_cost,
                },
            },
            "citations": cited().iter().map(|result| result["url"].clone()).collect::<Value>(),
            "search_results": cited(),
        });
        let head = json!({"id": format!("cmpl-{}", state.request), "model": model, "created": state.now()});
        Ok(Self { head, tail, text, message })
    }

    /// Returns the buffered response.
    pub(crate) fn complete(&self) -> Value {
        let delta = json!({"role": "assistant", "content": ""});
        let choice = json!({"finish_reason": "stop", "message": self.message, "delta": delta});
        self.chunk("chat.completion", &self.tail, choice)
    }

    fn chunk(&self, object: &str, fields: &Value, mut choice: Value) -> Value {
        let mut chunk = self.head.clone();
        merge(&mut chunk, fields);
        choice["index"] = json!(0);
        chunk["object"] = json!(object);
        chunk["choices"] = json!([choice]);
        chunk
    }

    /// Returns the parts of the message, one per word.
    fn deltas(&self) -> Vec<Value> {
        let delta = |piece: &str| {
            let mut delta = json!({"role": "assistant", "content": piece});
            if let Some(calls) = self.message.get("tool_calls") {
                delta["tool_calls"] = calls.clone();
            }
            delta
        };
        text::pieces(&self.text).into_iter().map(delta).collect()
    }

    /// Every chunk repeats the text so far.
    fn full_chunks(&self) -> Vec<Value> {
        let mut so_far = String::new();
        let mut chunks = Vec::new();
        for delta in self.deltas() {
            so_far += delta["content"].as_str().unwrap_or_default();
            let message = json!({"role": "assistant", "content": so_far});
            let choice = json!({"finish_reason": null, "message": message, "delta": delta});
            chunks.push(self.chunk("chat.completion.chunk", &json!({}), choice));
        }
        if let Some(last) = chunks.last_mut() {
            merge(last, &self.tail);
            merge(&mut last["choices"][0], &json!({"finish_reason": "stop", "message": self.message}));
        }
        chunks
    }

    /// Reasoning first, then deltas, then the complete message.
    fn concise_chunks(&self) -> Vec<Value> {
        let search = json!({"search_keywords": ["question"], "search_results": cited()});
        let step = json!({"thought": "The web may know this.", "type": "web_search", "web_search": search});
        let reasoning = json!({"role": "assistant", "content": "", "reasoning_steps": [step]});
        let searched = json!({"search_results": cited(), "usage": self.tail["usage"]});
        let none = json!({});
        let mut chunks = vec![
            self.chunk("chat.reasoning", &none, json!({"finish_reason": null, "delta": reasoning})),
            self.chunk(
                "chat.reasoning.done",
                &searched,
                json!({"finish_reason": null, "message": reasoning}),
            ),
        ];
        for delta in self.deltas() {
            let choice = json!({"finish_reason": null, "delta": delta});
            chunks.push(self.chunk("chat.completion.chunk", &none, choice));
        }
        let choice = json!({"finish_reason": "stop", "message": self.message});
        chunks.push(self.chunk("chat.completion.done", &self.tail, choice));
        chunks
    }
}
