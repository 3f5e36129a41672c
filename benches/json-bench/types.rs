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

use benches::{Impl, Row, Suite};
#[cfg(feature = "all-backends")]
use json_bench::api::codec::backends;
use json_bench::api::codec::{Codec, Ours, SerdeJson, SonicRs};
use json_bench::api::document::Document;
use json_bench::api::plain;
use json_bench::peers::SimdJson;
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
    pair::<chat::Usage, plain::UsageInfo>(
        &mut suite,
        ["usage_info_marshal", "usage_info_unmarshal"],
        &Document::load("UsageInfo_Unmarshal", "UsageInfo"),
    );
    pair::<chat::Completion, plain::StreamChunk>(
        &mut suite,
        ["stream_chunk_marshal", "stream_chunk_unmarshal"],
        &Document::load("StreamChunk_Unmarshal", "StreamChunk"),
    );
    pair::<chat::Message, plain::ChatMessage>(
        &mut suite,
        ["chat_message_marshal_simple_text", "chat_message_unmarshal_simple_text"],
        &Document::load("ChatMessage_Unmarshal_SimpleText", "ChatMessage_SimpleText"),
    );
    pair::<chat::Message, plain::ChatMessage>(
        &mut suite,
        ["chat_message_marshal_structured_content", "chat_message_unmarshal_structured_content"],
        &Document::load("ChatMessage_Unmarshal_StructuredContent", "ChatMessage_StructuredContent"),
    );
    pair::<chat::ToolCall, plain::ToolCall>(
        &mut suite,
        ["tool_call_marshal", "tool_call_unmarshal"],
        &Document::load("ToolCall_Unmarshal", "ToolCall"),
    );
    pair::<chat::ReasoningStep, plain::ReasoningStep>(
        &mut suite,
        ["reasoning_step_marshal", "reasoning_step_unmarshal"],
        &Document::load("ReasoningStep_Unmarshal", "ReasoningStep"),
    );
    pair::<search::Response, plain::SearchResponse>(
        &mut suite,
        ["search_response_marshal", "search_response_unmarshal"],
        &Document::load("SearchResponse_Unmarshal", "SearchResponse"),
    );
    pair::<chat::Completion, plain::StreamChunk>(
        &mut suite,
        ["complex_response_marshal", "complex_response_unmarshal"],
        &Document::load("ComplexResponse_Unmarshal", "ComplexResponse"),
    );
    suite.finish();
}

/// Runs the two rows of a document: `O` is the type of tightwire-perplexity, `P` the plain struct.
fn pair<O: Payload, P: Payload>(suite: &mut Suite, [marshal, unmarshal]: [&str; 2], document: &Document) {
    // Expected length and check value; the value itself is compared with the document.
    let value = payload::<O>(document);
    let length = serde_json::to_vec(&value).map_or(0, |encoded| encoded.len() as u64);
    let row = suite.row(marshal).payload(length);
    let row = encode::<Ours, O>(row, document, length);
    let row = encode::<SerdeJson, P>(row, document, length);
    let row = encode::<SimdJson, P>(row, document, length);
    encode::<SonicRs, P>(row, document, length);

    let check = value.check();
    let row = suite.row(unmarshal).payload(document.input.len() as u64);
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

fn implementation<C: Codec>(class: &str) -> Impl {
    let name = format!("{} {class}", C::NAME);
    match C::VERSION {
        Some(version) => Impl::peer(name, version),
        None => Impl::ours(name),
    }
    .class(class)
}

/// Encodes into a new vector, and into a reused buffer. The check value is the length, 0 if the output differs from the
/// document of the row.
fn encode<'a, C: Codec, T: Payload>(row: Row<'a>, document: &Document, length: u64) -> Row<'a> {
    let value = payload::<T>(document);
    let is_right = C::to_vec(&value).is_some_and(|encoded| document.is_encoded_in(&encoded));
    let count = |document: &[u8]| if is_right { black_box(document).len() as u64 } else { 0 };
    let row = row.run(implementation::<C>(TYPED), length, || {
        C::to_vec(black_box(&value)).map_or(0, |document| count(&document))
    });
    let mut buffer = Vec::new();
    row.run(implementation::<C>(REUSED), length, || {
        buffer.clear();
        C::to_buf(&mut buffer, black_box(&value)).map_or(0, |()| count(&buffer))
    })
}

/// Decodes the input. The check value is computed from the value, 0 if the value lacks a part of the document.
fn decode<'a, C: Codec, T: Payload>(row: Row<'a>, document: &Document, check: u64) -> Row<'a> {
    let mut codec = C::default();
    let input = document.input.as_slice();
    let is_right = codec.decode::<T>(input).is_some_and(|value| document.is_decoded_in(&value));
    row.run(implementation::<C>(OWNED), check, || match codec.decode::<T>(black_box(input)) {
        Some(value) if is_right => black_box(&value).check(),
        _ => 0,
    })
}
