//! Compares the built-in API with recorded exchanges: every request is accepted, and every response has at
//! least the fields of the recorded one.

use serde::Deserialize;
use tightwire_json::{Value, json};
use tightwire_perplexity_mock::Mock;

use crate::support;
use crate::support::{Client, ReceivedResponse};

#[derive(Deserialize)]
struct Exchange {
    scenario: String,
    method: String,
    target: String,
    json: Option<Value>,
    form: Option<Form>,
    status: u16,
    content_type: Option<String>,
    answer: Option<String>,
}

#[derive(Deserialize)]
struct Form {
    content_type: String,
    text: String,
}

/// Fields that the API sends only on request; the recording server always sent them.
const ON_REQUEST: &[&str] = &["images", "related_questions"];

/// Creates one object of each type, so that the identifiers in the recorded requests exist.
async fn with_objects(scenario: &str) -> (Mock, Client) {
    let (mock, client) = support::api().await;
    if scenario != "async-create" {
        let job =
            json!({"request": {"model": "sonar-deep-research", "messages": support::hello()["messages"]}});
        client.post("/async/chat/completions", &job).await;
    }
    if scenario == "async-get" {
        client.get("/async/chat/completions/req_1").await;
    }
    let is_cancelled = scenario == "responses-cancel";
    for id in ["resp_0", "resp_1"] {
        let run = json!({"model": "openai/gpt-5", "input": id, "background": is_cancelled});
        client.post("/v1/responses", &run).await;
    }
    client.post("/v1/browser/sessions", &json!({})).await;
    client.upload("POST", "/v1/files", &[("purpose", "batch")], ("a.jsonl", "{}\n")).await;
    let batch = json!({"endpoint": "/v1/responses", "input_file_id": "file_1"});
    client.post("/v1/batches", &batch).await;
    client.upload("POST", "/v1/skills", &[], ("s.zip", "PK")).await;
    (mock, client)
}

async fn replay(exchange: &Exchange) -> ReceivedResponse {
    let (_mock, client) = with_objects(&exchange.scenario).await;
    let mut request = exchange.json.clone();
    if let Some(request) = &mut request {
        // The first response of a recording has number 0.
        if request.get("previous_response_id").is_some() {
            request["previous_response_id"] = json!("resp_1");
        }
    }
    let (content_type, body) = match (&request, &exchange.form) {
        (Some(json), _) => ("application/json", json.to_string()),
        (None, Some(form)) => (form.content_type.as_str(), form.text.clone()),
        (None, None) => ("application/json", String::new()),
    };
    let headers = [("content-type", content_type)];
    client.send(&exchange.method, &exchange.target, &headers, body).await.expect("it answers")
}

/// Returns the paths of the recorded fields that the value of the mock server lacks.
fn missing(recorded: &Value, ours: &Value, path: &str) -> Vec<String> {
    match (recorded, ours) {
        (Value::Null, _) | (Value::Bool(_), Value::Bool(_)) => Vec::new(),
        (Value::Number(_), Value::Number(_)) | (Value::String(_), Value::String(_)) => Vec::new(),
        (Value::Object(recorded), Value::Object(_)) => recorded
            .iter()
            .filter(|(name, _)| !ON_REQUEST.contains(&name.as_str()))
            .flat_map(|(name, value)| missing(value, &ours[name], &format!("{path}/{name}")))
            .collect(),
        (Value::Array(recorded), Value::Array(ours)) => recorded
            .iter()
            .enumerate()
            .flat_map(|(index, value)| missing_item(value, ours, &format!("{path}/{index}")))
            .collect(),
        _ => vec![format!("{path}: {recorded} and {ours}")],
    }
}

/// Returns the recorded fields that the most similar item of the mock server lacks. Items with a `type` are
/// compared with items of the same type.
fn missing_item(recorded: &Value, ours: &[Value], path: &str) -> Vec<String> {
    ours.iter()
        .filter(|item| item.get("type") == recorded.get("type"))
        .map(|item| missing(recorded, item, path))
        .min_by_key(Vec::len)
        .unwrap_or_else(|| vec![format!("{path}: nothing like {recorded}")])
}

fn events(body: &str) -> Vec<Value> {
    body.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| tightwire_json::from_str(data).expect("data is JSON"))
        .collect()
}

#[tokio::test]
async fn responses_have_the_fields_of_the_recorded_ones() {
    let mut compared = 0;
    for line in include_str!("../data/recorded.jsonl").lines() {
        let exchange: Exchange = tightwire_json::from_str(line).unwrap();
        let name = &exchange.scenario;
        let answer = replay(&exchange).await;
        assert_eq!(answer.status, exchange.status, "{name}: {}", answer.text());
        assert_eq!(answer.header("content-type"), exchange.content_type.as_deref(), "{name}");
        let Some(recorded) = &exchange.answer else { continue };
        let lacking = if exchange.content_type.as_deref() == Some("text/event-stream") {
            let ours = events(answer.text());
            // The recording server sent all events, ignoring `starting_after`.
            let first = if exchange.target.contains("starting_after=0") { 1 } else { 0 };
            events(recorded)[first..].iter().flat_map(|event| missing_item(event, &ours, name)).collect()
        } else {
            missing(&tightwire_json::from_str(recorded).unwrap(), &answer.json(), name)
        };
        assert_eq!(lacking, Vec::<String>::new(), "{}", answer.text());
        compared += 1;
    }
    assert!(compared > 30, "{compared} answers compared");
}

#[test]
fn comparison_finds_missing_fields() {
    let recorded = json!({"a": 1, "b": [{"type": "x", "c": "d"}], "e": null});
    assert!(missing(&recorded, &json!({"a": 2.5, "b": [{}, {"type": "x", "c": ""}]}), "").is_empty());
    for ours in [json!({"a": "1", "b": []}), json!({"b": [{"type": "y"}]})] {
        assert_eq!(missing(&recorded, &ours, "").len(), 2, "{ours}");
    }
}
