//! Suite `types`: encoding and decoding of the values of the Perplexity client, each compared with other crates.
//!
//! tightwire-json uses the types of tightwire-perplexity, which keep unknown values and accept missing or `null`
//! fields. The peers use plain structs with serde's derive, as a program would define them for this API.
//!
//! The types of async-openai cannot be compared: its chunks require the field `object`, which these documents do not
//! have, its images are objects instead of strings, and it has no reasoning steps, searches and costs.
//!
//! The other backends of tightwire-json are only measured with the feature `all-backends`, which slows down the peer
//! serde_json.

use std::hint::black_box;

use benches::{Row, Suite};
use json_bench::api::document::Document;
use json_bench::api::plain;
#[cfg(feature = "all-backends")]
use json_bench::library::backends;
use json_bench::library::{Library, Ours, SerdeJson, SimdJson, SonicRs, implementation};
use json_bench::types::Check;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_perplexity::types::{chat, search};

benches::counting_allocator!();

/// Encoding into a new vector.
const TYPED: &str = "typed";
/// Encoding into a reused buffer.
const REUSED: &str = "typed reused";
/// Decoding into an owned value.
const OWNED: &str = "typed owned";

/// Type that can be encoded and decoded.
trait Payload: Serialize + DeserializeOwned + Check {}

impl<T: Serialize + DeserializeOwned + Check> Payload for T {}

fn main() {
    let mut suite = Suite::from_args("types", env!("CARGO_TARGET_TMPDIR"));
    pair::<chat::Usage, plain::UsageInfo>(&mut suite, "usage_info", "", ["UsageInfo_Unmarshal", "UsageInfo"]);
    pair::<chat::Completion, plain::StreamChunk>(
        &mut suite,
        "stream_chunk",
        "",
        ["StreamChunk_Unmarshal", "StreamChunk"],
    );
    pair::<chat::Message, plain::ChatMessage>(
        &mut suite,
        "chat_message",
        "_simple_text",
        ["ChatMessage_Unmarshal_SimpleText", "ChatMessage_SimpleText"],
    );
    pair::<chat::Message, plain::ChatMessage>(
        &mut suite,
        "chat_message",
        "_structured_content",
        ["ChatMessage_Unmarshal_StructuredContent", "ChatMessage_StructuredContent"],
    );
    pair::<chat::ToolCall, plain::ToolCall>(&mut suite, "tool_call", "", ["ToolCall_Unmarshal", "ToolCall"]);
    pair::<chat::ReasoningStep, plain::ReasoningStep>(
        &mut suite,
        "reasoning_step",
        "",
        ["ReasoningStep_Unmarshal", "ReasoningStep"],
    );
    pair::<search::Response, plain::SearchResponse>(
        &mut suite,
        "search_response",
        "",
        ["SearchResponse_Unmarshal", "SearchResponse"],
    );
    pair::<chat::Completion, plain::StreamChunk>(
        &mut suite,
        "complex_response",
        "",
        ["ComplexResponse_Unmarshal", "ComplexResponse"],
    );
    suite.finish();
}

/// Runs the two rows of a document: `O` is the type of tightwire-perplexity, `P` the plain struct. The names are those of
/// input and output in the file of documents.
fn pair<O: Payload, P: Payload>(suite: &mut Suite, name: &str, suffix: &str, [input, output]: [&str; 2]) {
    let document = &Document::load(input, output);
    // Expected length and check value; the value itself is compared with the document.
    let value = payload::<O>(document);
    let length = serde_json::to_vec(&value).map_or(0, |encoded| encoded.len() as u64);
    let row = suite.row(format!("{name}_marshal{suffix}")).payload(length);
    let row = encode::<Ours, O>(row, document, length);
    let row = encode::<SerdeJson, P>(row, document, length);
    let row = encode::<SimdJson, P>(row, document, length);
    encode::<SonicRs, P>(row, document, length);

    let check = value.check();
    let row = suite.row(format!("{name}_unmarshal{suffix}")).payload(document.input.len() as u64);
    let row = decode::<Ours, O>(row, document, check);
    #[cfg(feature = "all-backends")]
    let row = decode::<backends::SerdeJson, O>(row, document, check);
    #[cfg(feature = "all-backends")]
    let row = decode::<backends::SimdJson, O>(row, document, check);
    let row = decode::<SerdeJson, P>(row, document, check);
    let row = decode::<SimdJson, P>(row, document, check);
    decode::<SonicRs, P>(row, document, check);
}

/// Returns the value of the marshal row.
fn payload<T: Payload>(document: &Document) -> T {
    let Ok(value) = tightwire_json::from_slice(&document.output) else {
        unreachable!("the documents have these types, as tests check")
    };
    value
}

/// Encodes into a new vector, and into a reused buffer. The check value is the length, 0 if the output differs from the
/// document of the row.
fn encode<'a, L: Library, T: Payload>(row: Row<'a>, document: &Document, length: u64) -> Row<'a> {
    let value = payload::<T>(document);
    let is_right = L::to_vec(&value).is_some_and(|encoded| document.is_encoded_in(&encoded));
    let count = |document: &[u8]| if is_right { black_box(document).len() as u64 } else { 0 };
    let row = row.run(implementation::<L>(TYPED), length, || {
        L::to_vec(black_box(&value)).map_or(0, |document| count(&document))
    });
    let mut buffer = Vec::new();
    row.run(implementation::<L>(REUSED), length, || {
        buffer.clear();
        L::to_buf(&mut buffer, black_box(&value)).map_or(0, |()| count(&buffer))
    })
}

/// Decodes the input. The check value is computed from the value, 0 if the value lacks a part of the document.
fn decode<'a, L: Library, T: Payload>(row: Row<'a>, document: &Document, check: u64) -> Row<'a> {
    let mut library = L::default();
    let input = document.input.as_slice();
    let is_right = library.read::<T>(input).is_some_and(|value| document.is_decoded_in(&value));
    row.run(implementation::<L>(OWNED), check, || match library.read::<T>(black_box(input)) {
        Some(value) if is_right => black_box(&value).check(),
        _ => 0,
    })
}
