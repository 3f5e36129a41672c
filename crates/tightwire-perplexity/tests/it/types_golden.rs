//! Payloads of the benchmark rows: decoded, encoded, and compared with the output of the Go SDK.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::{Codec, Value};
use tightwire_perplexity::types::chat::{Completion, Message, ReasoningStep, ToolCall, Usage};
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

/// Decodes the input of a row and compares its encoding with the output of the Go SDK.
#[track_caller]
fn golden<T: DeserializeOwned + Serialize>(row: &str) -> T {
    let value = decode(&format!("{row}_Unmarshal"));
    assert_golden(row, &value);
    value
}

/// Same as [`golden`]. The Go SDK writes an empty message for a missing one.
#[track_caller]
fn golden_completion(row: &str) -> Completion {
    let completion: Completion = decode(&format!("{row}_Unmarshal"));
    let mut written = completion.clone();
    for choice in &mut written.choices {
        choice.message = Some(Message::default());
    }
    assert_golden(row, &written);
    completion
}

#[test]
fn values_are_those_of_the_go_sdk() {
    let usage: Usage = golden("UsageInfo");
    assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens), (50, 100, Some(5)));
    let call: ToolCall = golden("ToolCall");
    let arguments: Value = call.function.as_ref().unwrap().parse().unwrap();
    assert_eq!(arguments["unit"], "celsius");
    let step: ReasoningStep = golden("ReasoningStep");
    assert_eq!(step.web_search.as_ref().unwrap().search_results.len(), 2);
    let response: Response = golden("SearchResponse");
    assert_eq!(response.results.len(), 3);
    let chunk = golden_completion("StreamChunk");
    assert_eq!(chunk.delta_text(), Some("Hello, this is a test response from the assistant."));
    let completion = golden_completion("ComplexResponse");
    assert_eq!(completion.usage.as_ref().unwrap().total_tokens, 200);
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
