//! Payloads of the benchmark rows: decoded, encoded, and compared with the output of the Go SDK.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::{Codec, Value};
use tightwire_perplexity::types::chat::{Completion, Message, ReasoningStep, Role, ToolCall, Usage};
use tightwire_perplexity::types::search::Response;

fn data() -> Value {
    tightwire_json::from_str(include_str!("../data/perplexity-bench-data.json")).unwrap()
}

/// Decodes the input of a row.
fn decode<T: DeserializeOwned>(row: &str) -> T {
    let data = data();
    let text = data["unmarshal_inputs_exact_text"][row].as_str().unwrap();
    // Require that no part of the document is ignored.
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(tightwire_json::from_str::<T>(&text[..end]).is_err(), "{row} to {end}");
    }
    tightwire_json::from_str(text).unwrap()
}

/// Compares with the output of the Go SDK, which omits zero fractions of floats.
#[track_caller]
fn assert_golden<T: Serialize>(row: &str, value: &T) {
    let data = data();
    let text = data["marshal_expected_output"][row].as_str().unwrap();
    assert_eq!(Codec::compat().to_string(value).unwrap(), text);
    assert_eq!(text.len() as u64, data["marshal_output_bytes"][row].as_u64().unwrap());
}

/// The Go SDK writes an empty message for a missing one.
fn with_empty_messages(mut completion: Completion) -> Completion {
    for choice in &mut completion.choices {
        let mut message = Message::default();
        message.role = Role::default();
        choice.message = Some(message);
    }
    completion
}

#[test]
fn usage() {
    let usage: Usage = decode("UsageInfo_Unmarshal");
    assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens), (50, 100, Some(5)));
    assert_golden("UsageInfo", &usage);
}

#[test]
fn chunk() {
    let chunk: Completion = decode("StreamChunk_Unmarshal");
    assert_eq!(chunk.delta(), Some("Hello, this is a test response from the assistant."));
    assert_golden("StreamChunk", &with_empty_messages(chunk));
}

#[test]
fn messages() {
    let simple: Message = decode("ChatMessage_Unmarshal_SimpleText");
    assert_eq!(simple, Message::user("What is the weather like today?"));
    assert_golden("ChatMessage_SimpleText", &simple);
    let structured: Message = decode("ChatMessage_Unmarshal_StructuredContent");
    assert_eq!(structured.parts().len(), 2);
    assert_golden("ChatMessage_StructuredContent", &structured);
}

#[test]
fn tool_call() {
    let call: ToolCall = decode("ToolCall_Unmarshal");
    let arguments: Value = call.function.as_ref().unwrap().parse().unwrap();
    assert_eq!(arguments["unit"], "celsius");
    assert_golden("ToolCall", &call);
}

#[test]
fn reasoning_step() {
    let step: ReasoningStep = decode("ReasoningStep_Unmarshal");
    assert_eq!(step.web_search.as_ref().unwrap().search_results.len(), 2);
    assert_golden("ReasoningStep", &step);
}

#[test]
fn search_response() {
    let response: Response = decode("SearchResponse_Unmarshal");
    assert_eq!(response.results.len(), 3);
    assert_golden("SearchResponse", &response);
}

#[test]
fn complex_response() {
    let completion: Completion = decode("ComplexResponse_Unmarshal");
    assert_eq!(completion.usage.as_ref().unwrap().total_tokens, 200);
    assert_golden("ComplexResponse", &with_empty_messages(completion));
}
