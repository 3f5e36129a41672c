//! Documents, structs and operations of the suite `types`: the Perplexity API.

pub mod document;
pub mod plain;

use std::hint::black_box;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::library::Library;
use crate::operation::{Side, read, to_vec};
use crate::peers::{Flexon, SerdeJson, SimdJson, SonicRs};
use document::Document;

/// Encodes or decodes a value of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Direction {
    Encode,
    Decode,
}

/// Returns an operation of a library. The check value is the length of the document that is read or written, 0 if
/// something of the document is missing.
pub fn side<'a, L: Library, T: Serialize + DeserializeOwned + 'static>(
    class: &str,
    direction: Direction,
    document: &'a Document,
) -> Side<'a> {
    let mut library = L::default();
    match direction {
        Direction::Encode => {
            let value = read::<L, T>(&mut library, &document.output);
            let encoded =
                value.as_ref().and_then(to_vec::<L, T>).filter(|encoded| document.is_encoded_in(encoded));
            let (is_right, length) = (encoded.is_some(), encoded.map_or(1, |encoded| encoded.len() as u64));
            Side::of::<L>(class, length, move || match black_box(&value).as_ref().and_then(to_vec::<L, T>) {
                Some(document) if is_right => black_box(&document).len() as u64,
                _ => 0,
            })
        }
        Direction::Decode => {
            let input = &*document.input;
            let encoded = read::<L, T>(&mut library, input).as_ref().and_then(to_vec::<L, T>);
            let is_right = encoded.is_some_and(|encoded| document.is_decoded_in(&encoded));
            let length = input.len() as u64;
            Side::of::<L>(class, length, move || match read::<L, T>(&mut library, black_box(input)) {
                Some(value) if is_right => {
                    black_box(&value);
                    length
                }
                _ => 0,
            })
        }
    }
}

fn peers<'a, T: Serialize + DeserializeOwned + 'static>(
    class: &str,
    direction: Direction,
    document: &'a Document,
) -> [Side<'a>; 4] {
    [
        side::<SerdeJson, T>(class, direction, document),
        side::<SimdJson, T>(class, direction, document),
        side::<SonicRs, T>(class, direction, document),
        side::<Flexon, T>(class, direction, document),
    ]
}

/// Returns the operations of all peers with the derived struct of a document.
pub fn derived<'a>(kind: &str, class: &str, direction: Direction, document: &'a Document) -> [Side<'a>; 4] {
    match kind {
        "UsageInfo" => peers::<plain::UsageInfo>(class, direction, document),
        "StreamChunk" | "ComplexResponse" => peers::<plain::StreamChunk>(class, direction, document),
        "ChatMessage" => peers::<plain::ChatMessage>(class, direction, document),
        "ToolCall" => peers::<plain::ToolCall>(class, direction, document),
        "ReasoningStep" => peers::<plain::ReasoningStep>(class, direction, document),
        _ => peers::<plain::SearchResponse>(class, direction, document),
    }
}
