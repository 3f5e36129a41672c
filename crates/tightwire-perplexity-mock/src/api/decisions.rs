//! Decisions: one answer per question.

use serde_json::{Map, Value, json};

use super::error::ApiResult;
use super::input::Input;
use super::text;
use crate::api_response::ApiResponse;
use crate::request::Request;

/// Confidence of the first option; the others share the rest.
const CONFIDENCE: f64 = 0.75;

pub(crate) fn create(request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let model = input.required_text("model")?;
    let state = input.required("state")?;
    let questions = input.nested("questions")?;
    let wrong = |message: &str| input.wrong("questions", message, "value_error");
    let mut answers = Map::new();
    for (name, question) in input.required("questions")?.as_object().into_iter().flatten() {
        let criteria = question.get("criteria");
        let answer = match questions.nested(name)?.required_text("type")? {
            "noul" => json!({"type": "noul", "noul": 0.9}),
            "choice" => {
                let options = criteria.and_then(Value::as_object).filter(|options| !options.is_empty());
                let options = options.ok_or_else(|| wrong("A choice needs criteria"))?;
                let names: Vec<&str> = options.keys().map(String::as_str).collect();
                json!({
                    "type": "choice",
                    "choice": names[0],
                    "confidence": CONFIDENCE,
                    "probabilities": probabilities(names.iter().map(ToString::to_string)),
                })
            }
            "score" => {
                let levels = criteria.and_then(Value::as_array).filter(|levels| !levels.is_empty());
                let levels = levels.ok_or_else(|| wrong("A score needs criteria"))?;
                let legend: Map<String, Value> = levels
                    .iter()
                    .enumerate()
                    .map(|(level, text)| (level.to_string(), text.clone()))
                    .collect();
                json!({
                    "type": "score",
                    "score": 0.0,
                    "confidence": CONFIDENCE,
                    "probabilities": probabilities((0..levels.len()).map(|level| level.to_string())),
                    "legend": legend,
                })
            }
            _ => return Err(wrong("type should be 'noul', 'choice' or 'score'")),
        };
        answers.insert(name.clone(), answer);
    }
    Ok(ApiResponse::json(&json!({
        "model": model,
        "usage": {"input_tokens": text::tokens(&state.to_string()), "output_tokens": answers.len()},
        "answers": answers,
    })))
}

fn probabilities(options: impl ExactSizeIterator<Item = String>) -> Map<String, Value> {
    let others = options.len() - 1;
    let of = |index: usize| match (others, index) {
        (0, _) => 1.0,
        (_, 0) => CONFIDENCE,
        _ => (1.0 - CONFIDENCE) / others as f64,
    };
    options.enumerate().map(|(index, option)| (option, json!(of(index)))).collect()
}
