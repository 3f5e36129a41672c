//! Embeddings of texts and of chunks in context.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::input::Input;
use super::{error, text};
use crate::api_response::ApiResponse;
use crate::request::Request;

/// Models with their maximum number of dimensions, which is also the default.
const PLAIN: &[(&str, u64)] = &[("pplx-embed-v1-0.6b", 1024), ("pplx-embed-v1-4b", 2560)];
const CONTEXTUALIZED: &[(&str, u64)] =
    &[("pplx-embed-context-v1-0.6b", 1024), ("pplx-embed-context-v1-4b", 2560)];

const MIN_DIMENSIONS: u64 = 128;
const MAX_INPUTS: usize = 512;
/// Maximum chunks of all documents together.
const MAX_CHUNKS: usize = 16_000;

/// Format of the vectors of a request.
#[derive(Clone, Copy)]
struct Shape {
    dimensions: u64,
    encoding: Encoding,
}

#[derive(Clone, Copy)]
enum Encoding {
    Int8,
    Binary,
}

impl Shape {
    fn of(input: &Input, models: &[(&str, u64)]) -> Result<Self, ApiError> {
        let name = input.required_text("model")?;
        let (_, most) =
            models.iter().find(|(model, _)| *model == name).ok_or_else(|| error::invalid_model(name))?;
        let dimensions = input.count("dimensions")?.unwrap_or(*most);
        if !(MIN_DIMENSIONS..=*most).contains(&dimensions) {
            let message = format!("dimensions must be from {MIN_DIMENSIONS} to {most}");
            return Err(error::invalid("invalid_dimensions", &message));
        }
        let encoding = match input.text("encoding_format")? {
            None | Some("base64_int8") => Encoding::Int8,
            Some("base64_binary") => Encoding::Binary,
            Some(_) => {
                let message = "Input should be 'base64_int8' or 'base64_binary'";
                return Err(input.wrong("encoding_format", message, "literal_error"));
            }
        };
        Ok(Self { dimensions, encoding })
    }

    fn embedding(self, text: &str, index: usize) -> Value {
        let vector = components(text).take(usize::try_from(self.dimensions).unwrap_or(usize::MAX));
        let embedding = match self.encoding {
            Encoding::Int8 => {
                json!(
                    STANDARD.encode(vector.map(|component| component.to_ne_bytes()[0]).collect::<Vec<u8>>())
                )
            }
            Encoding::Binary => json!(STANDARD.encode(pack(vector))),
        };
        json!({"object": "embedding", "index": index, "embedding": embedding})
    }
}

/// Returns the components of a text's vector: bytes of an xorshift generator seeded with the FNV-1a hash of
/// the text.
fn components(text: &str) -> impl Iterator<Item = i8> {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut state = hash | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i8::from_ne_bytes([state.to_be_bytes()[0]])
    })
}

/// Packs one bit per component, set if it is positive, most significant bit first.
fn pack(components: impl Iterator<Item = i8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, component) in components.enumerate() {
        if index % 8 == 0 {
            bytes.push(0);
        }
        if component > 0
            && let Some(last) = bytes.last_mut()
        {
            *last |= 0x80 >> (index % 8);
        }
    }
    bytes
}

fn check(texts: &[&str]) -> Result<(), ApiError> {
    if texts.is_empty() || texts.iter().any(|text| text.is_empty()) {
        return Err(error::invalid("invalid_input", "Texts must not be empty"));
    }
    Ok(())
}

fn reply(input: &Input, data: &[Value], tokens: u64) -> ApiResult {
    let cost = 0.000_000_01 * tokens as f64;
    Ok(ApiResponse::json(&json!({
        "object": "list",
        "data": data,
        "model": input.required_text("model")?,
        "usage": {
            "prompt_tokens": tokens,
            "total_tokens": tokens,
            "cost": {"currency": "USD", "input_cost": cost, "total_cost": cost},
        },
    })))
}

pub(crate) fn create(request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let shape = Shape::of(&input, PLAIN)?;
    let texts = input.texts("input")?;
    check(&texts)?;
    if texts.len() > MAX_INPUTS {
        return Err(error::invalid("invalid_input", "At most 512 texts are allowed"));
    }
    let data: Vec<Value> =
        texts.iter().enumerate().map(|(index, text)| shape.embedding(text, index)).collect();
    reply(&input, &data, texts.iter().map(|text| text::tokens(text)).sum())
}

pub(crate) fn create_contextualized(request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let shape = Shape::of(&input, CONTEXTUALIZED)?;
    let wrong = || input.wrong("input", "Input should be a valid list of lists of strings", "list_type");
    input.required("input")?;
    let mut data = Vec::new();
    let mut tokens = 0;
    let documents = input.list("input")?.unwrap_or_default();
    if documents.is_empty() || documents.len() > MAX_INPUTS {
        return Err(error::invalid("invalid_input", "From 1 to 512 documents are allowed"));
    }
    let chunks: usize = documents.iter().filter_map(Value::as_array).map(Vec::len).sum();
    if chunks > MAX_CHUNKS {
        return Err(error::invalid("invalid_input", &format!("At most {MAX_CHUNKS} chunks are allowed")));
    }
    for (index, document) in documents.iter().enumerate() {
        let chunks = document.as_array().ok_or_else(wrong)?;
        let chunks: Vec<&str> =
            chunks.iter().map(|chunk| chunk.as_str().ok_or_else(wrong)).collect::<Result<_, _>>()?;
        check(&chunks)?;
        tokens += chunks.iter().map(|chunk| text::tokens(chunk)).sum::<u64>();
        let chunks: Vec<Value> =
            chunks.iter().enumerate().map(|(index, chunk)| shape.embedding(chunk, index)).collect();
        data.push(json!({"object": "contextualized_embedding", "index": index, "data": chunks}));
    }
    reply(&input, &data, tokens)
}
