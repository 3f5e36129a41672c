//! Endpoints without state: search, embeddings, models, decisions, API keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tightwire_json::{JsonString, Map, Value, json};

use super::error::{self, ApiError, ApiResult};
use super::input::Input;
use super::{Call, State, text};
use crate::mock_response::MockResponse;

/// Maximum results per query.
const RESULTS: u64 = 3;
const MAX_QUERIES: usize = 100;
const MAX_DIMENSIONS: u64 = 2560;
const MAX_INPUTS: usize = 512;
/// Maximum chunks of all documents together.
const MAX_CHUNKS: usize = 16_000;

pub(crate) fn search(state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let queries = input.texts("query", MAX_QUERIES)?;
    let limit = input.count("max_results")?.unwrap_or(RESULTS).min(RESULTS);
    let results = queries.iter().flat_map(|query| (1..=limit).map(move |number| (query, number)));
    let results: Vec<Value> = results
        .map(|(query, number)| {
            json!({
                "title": format!("{query}: result {number}"),
                "url": format!("https://example.org/{number}"),
                "snippet": format!("What page {number} says about {query}"),
                "date": "2024-01-01",
                // Recordings have this field with the value null.
                "last_updated": null,
            })
        })
        .collect();
    let body = json!({
        "id": format!("search-{}", state.request),
        "results": results,
        "server_time": "2024-01-01T00:00:00Z",
    });
    Ok(MockResponse::json(&body))
}

/// Returns the pages cited by responses.
pub(crate) fn cited() -> Vec<Value> {
    (1..=2)
        .map(|number| {
            json!({
                "title": format!("Page {number}"),
                "url": format!("https://example.org/{number}"),
                "date": "2024-01-01",
                "last_updated": "2024-02-01",
                "snippet": format!("What page {number} says"),
                "source": "web",
            })
        })
        .collect()
}

/// Returns the embeddings of texts: the bytes of each text, repeated to the requested length.
fn embed(input: &Input, texts: &[&str]) -> Result<Vec<Value>, ApiError> {
    let dimensions = input.count("dimensions")?.unwrap_or(MAX_DIMENSIONS).min(MAX_DIMENSIONS);
    let is_binary = input.text("encoding_format")? == Some("base64_binary");
    let len = usize::try_from(if is_binary { dimensions.div_ceil(8) } else { dimensions }).unwrap_or(0);
    let embedding = |(index, text): (usize, &&str)| {
        let vector: Vec<u8> = text.bytes().cycle().take(len).collect();
        json!({"object": "embedding", "index": index, "embedding": STANDARD.encode(vector)})
    };
    Ok(texts.iter().enumerate().map(embedding).collect())
}

fn embeddings_response(input: &Input, data: &[Value], texts: &[&str]) -> ApiResult {
    let tokens: u64 = texts.iter().map(|text| text::tokens(text)).sum();
    let cost = 0.000_000_01 * tokens as f64;
    Ok(MockResponse::json(&json!({
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

pub(crate) fn embeddings(_state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let texts = input.texts("input", MAX_INPUTS)?;
    embeddings_response(&input, &embed(&input, &texts)?, &texts)
}

pub(crate) fn contextualized_embeddings(_state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let wrong = || input.wrong("input", "Input should be a valid list of lists of strings", "list_type");
    let mut data = Vec::new();
    let mut texts = Vec::new();
    for (index, document) in input.list("input", MAX_INPUTS)?.iter().enumerate() {
        let chunks = document.as_array().ok_or_else(wrong)?;
        if texts.len() + chunks.len() > MAX_CHUNKS {
            return Err(error::invalid("invalid_input", &format!("At most {MAX_CHUNKS} chunks are allowed")));
        }
        let start = texts.len();
        for chunk in chunks {
            texts.push(chunk.as_str().ok_or_else(wrong)?);
        }
        let chunks = embed(&input, &texts[start..])?;
        data.push(json!({"object": "contextualized_embedding", "index": index, "data": chunks}));
    }
    embeddings_response(&input, &data, &texts)
}

pub(crate) fn models(_state: &mut State, _call: &Call<'_>) -> ApiResult {
    let models = ["perplexity/sonar", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro", "openai/gpt-5"];
    let models = models.map(|id| {
        let owner = id.split('/').next();
        json!({"id": id, "object": "model", "created": 0, "owned_by": owner})
    });
    Ok(MockResponse::json(&json!({"object": "list", "data": models})))
}

/// Generates a key that counts the requests. All keys are accepted anyway.
pub(crate) fn generate_auth_token(state: &mut State, call: &Call<'_>) -> ApiResult {
    let name = if call.request.body.is_empty() {
        None
    } else {
        Input::of(call.request)?.text("token_name")?.map(str::to_owned)
    };
    let (token, created) = (format!("pplx-{:032x}", state.request), state.now());
    Ok(MockResponse::json(
        &json!({"auth_token": token, "created_at_epoch_seconds": created, "token_name": name}),
    ))
}

pub(crate) fn revoke_auth_token(_state: &mut State, call: &Call<'_>) -> ApiResult {
    Input::of(call.request)?.required_text("auth_token")?;
    Ok(MockResponse::status(200))
}

/// Chooses the first option of every question.
pub(crate) fn decisions(_state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let model = input.required_text("model")?;
    let state = input.required("state")?;
    let questions = input.nested("questions")?;
    let answer = |(name, question): (&JsonString, &Value)| {
        let criteria = &question["criteria"];
        let answer = match questions.nested(name)?.required_text("type")? {
            "noul" => json!({"type": "noul", "noul": 0.9}),
            "choice" => {
                let options = criteria.as_object();
                let first = options.and_then(|options| options.keys().next()).map_or("", JsonString::as_str);
                json!({"type": "choice", "choice": first, "confidence": 1.0, "probabilities": {first: 1.0}})
            }
            "score" => {
                let levels = criteria.as_array().into_iter().flatten().enumerate();
                let legend: Map<_, _> =
                    levels.map(|(level, text)| (level.to_string(), text.clone())).collect();
                json!({
                    "type": "score",
                    "score": 0.0,
                    "confidence": 1.0,
                    "probabilities": {"0": 1.0},
                    "legend": legend,
                })
            }
            _ => return Err(input.wrong("questions", "Input should have a known type", "literal_error")),
        };
        Ok((name.clone(), answer))
    };
    let answers = questions.fields.iter().map(answer).collect::<Result<Map<_, _>, _>>()?;
    Ok(MockResponse::json(&json!({
        "model": model,
        "usage": {"input_tokens": text::tokens(&state.to_string()), "output_tokens": answers.len()},
        "answers": answers,
    })))
}
