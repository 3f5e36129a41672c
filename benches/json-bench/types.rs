//! Suite `types`: encoding and decoding of the values of the Perplexity client, each compared with other crates.
//!
//! All libraries have plain structs with serde's derive, as a program would define them for this API. Two of them also
//! have the types of tightwire-perplexity, which keep unknown values and accept missing or `null` fields: each more would
//! take half a minute to build.
//!
//! The types of async-openai cannot be compared: its chunks require the field `object`, which these documents do not
//! have, its images are objects instead of strings, and it has no reasoning steps, searches and costs.

use std::process::ExitCode;

use benches::Suite;
use json_bench::{Ours, add_side};
use json_peers::api::document::Document;
use json_peers::api::plain;
use json_peers::api::{Direction, derived, side};
use json_peers::peers::{SerdeJson, SonicRs};
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
    for (verb, direction) in [("marshal", Direction::Encode), ("unmarshal", Direction::Decode)] {
        let ours =
            [side::<Ours, D>(DERIVED, direction, document), side::<Ours, C>(CLIENT, direction, document)];
        let row = suite.row(format!("{name}_{verb}{suffix}")).payload(ours[1].expected);
        ours.into_iter()
            .chain(derived(kind, DERIVED, direction, document))
            .chain([
                side::<SerdeJson, C>(CLIENT, direction, document),
                side::<SonicRs, C>(CLIENT, direction, document),
            ])
            .fold(row, add_side);
    }
}
