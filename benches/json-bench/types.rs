//! Suite `types`: encoding and decoding of the values of the Perplexity client, each compared with other crates.
//!
//! All libraries have the same two sets of Rust types: plain structs with serde's derive, as a program would define
//! them for this API, and the types of tightwire-perplexity, which keep unknown values and accept missing or `null`
//! fields.
//!
//! The types of async-openai cannot be compared: its chunks require the field `object`, which these documents do not
//! have, its images are objects instead of strings, and it has no reasoning steps, searches and costs.

use std::hint::black_box;
use std::process::ExitCode;

use benches::{Row, Suite};
use json_bench::api::document::Document;
use json_bench::api::plain;
use json_bench::library::{Library, Ours, SerdeJson, SimdJson, SonicRs, implementation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_perplexity::types::{chat, search};

benches::counting_allocator!();

/// Plain structs with serde's derive, encoded into a new vector or decoded.
const DERIVED: &str = "derived structs";
/// The types of tightwire-perplexity, likewise.
const CLIENT: &str = "client types";

/// Type that can be encoded and decoded.
trait Payload: Serialize + DeserializeOwned + 'static {}

impl<T: Serialize + DeserializeOwned + 'static> Payload for T {}

fn main() -> ExitCode {
    benches::main("types", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    pair::<chat::Usage, plain::UsageInfo>(suite, ["usage_info", ""], ["UsageInfo", ""]);
    pair::<chat::Completion, plain::StreamChunk>(suite, ["stream_chunk", ""], ["StreamChunk", ""]);
    let (row, document) = (["chat_message", "_simple_text"], ["ChatMessage", "_SimpleText"]);
    pair::<chat::Message, plain::ChatMessage>(suite, row, document);
    let (row, document) = (["chat_message", "_structured_content"], ["ChatMessage", "_StructuredContent"]);
    pair::<chat::Message, plain::ChatMessage>(suite, row, document);
    pair::<chat::ToolCall, plain::ToolCall>(suite, ["tool_call", ""], ["ToolCall", ""]);
    pair::<chat::ReasoningStep, plain::ReasoningStep>(suite, ["reasoning_step", ""], ["ReasoningStep", ""]);
    pair::<search::Response, plain::SearchResponse>(suite, ["search_response", ""], ["SearchResponse", ""]);
    pair::<chat::Completion, plain::StreamChunk>(suite, ["complex_response", ""], ["ComplexResponse", ""]);
    Ok(())
}

/// Runs the two rows of a document: `C` is the type of tightwire-perplexity, `D` the derived struct. Both names
/// consist of type and variant.
fn pair<C: Payload, D: Payload>(suite: &mut Suite, [name, suffix]: [&str; 2], [kind, variant]: [&str; 2]) {
    let document = &Document::load(kind, variant);
    let length = serde_json::to_vec(&payload::<C>(document)).map_or(0, |encoded| encoded.len() as u64);
    let row = suite.row(format!("{name}_marshal{suffix}")).payload(length);
    let row = encoders::<D>(row, DERIVED, document, length);
    encoders::<C>(row, CLIENT, document, length);

    let row = suite.row(format!("{name}_unmarshal{suffix}")).payload(document.input.len() as u64);
    let row = decoders::<D>(row, DERIVED, document);
    decoders::<C>(row, CLIENT, document);
}

/// Returns the value of the marshal row.
fn payload<T: Payload>(document: &Document) -> T {
    let Ok(value) = tightwire_json::from_slice(&document.output) else {
        unreachable!("the documents have these types, as tests check")
    };
    value
}

fn encoders<'a, T: Payload>(row: Row<'a>, class: &str, document: &'a Document, length: u64) -> Row<'a> {
    let row = encode::<Ours, T>(row, class, document, length);
    let row = encode::<SerdeJson, T>(row, class, document, length);
    let row = encode::<SimdJson, T>(row, class, document, length);
    encode::<SonicRs, T>(row, class, document, length)
}

/// The check value is the length, 0 if the output differs from the document of the row.
fn encode<'a, L: Library, T: Payload>(
    row: Row<'a>,
    class: &str,
    document: &'a Document,
    length: u64,
) -> Row<'a> {
    let value = payload::<T>(document);
    let is_right = L::to_vec(&value).is_some_and(|encoded| document.is_encoded_in(&encoded));
    row.run(implementation::<L>(class), length, move || match L::to_vec(black_box(&value)) {
        Some(document) if is_right => black_box(&document).len() as u64,
        _ => 0,
    })
}

fn decoders<'a, T: Payload>(row: Row<'a>, class: &str, document: &'a Document) -> Row<'a> {
    let row = decode::<Ours, T>(row, class, document);
    let row = decode::<SerdeJson, T>(row, class, document);
    let row = decode::<SimdJson, T>(row, class, document);
    decode::<SonicRs, T>(row, class, document)
}

/// The check value is the length of the input, 0 if the value lacks a part of the document.
fn decode<'a, L: Library, T: Payload>(row: Row<'a>, class: &str, document: &'a Document) -> Row<'a> {
    let mut library = L::default();
    let input = document.input.as_slice();
    let is_right = library.read::<T>(input).is_some_and(|value| document.is_decoded_in(&value));
    row.run(implementation::<L>(class), input.len() as u64, move || {
        match library.read::<T>(black_box(input)) {
            Some(value) if is_right => {
                black_box(&value);
                input.len() as u64
            }
            _ => 0,
        }
    })
}
