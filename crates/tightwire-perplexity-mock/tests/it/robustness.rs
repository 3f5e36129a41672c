//! Requests with random bodies.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use tightwire_json::{Value, json};

use crate::support;

const TARGETS: &[&str] = &[
    "/chat/completions",
    "/async/chat/completions",
    "/search",
    "/v1/responses",
    "/v1/responses/resp_1/cancel",
    "/v1/embeddings",
    "/v1/contextualizedembeddings",
    "/v1/browser/sessions",
    "/v1/files",
    "/v1/batches",
    "/v1/decisions",
    "/v1/skills",
    "/generate_auth_token",
    "/revoke_auth_token",
];

/// Field names that some endpoint reads, and values that are valid for some field.
const NAMES: &str = "model models messages role content text type stream stream_mode tools tool_choice function \
    parameters properties items $ref anyOf response_format json_schema schema request idempotency_key query \
    max_results input background skills name dimensions encoding_format endpoint input_file_id metadata state \
    questions criteria q";
const VALUES: &str = "sonar a/b user text concise required object array # #/properties auto base64_binary noul \
    choice score \u{e9}";

fn word(words: &'static str) -> impl Strategy<Value = &'static str> {
    select(words.split_whitespace().collect::<Vec<_>>())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..1500).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word(VALUES).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(word(NAMES), inner, 0..8).prop_map(|members| json!(members)),
        ]
    })
}

/// Returns a valid request with one random field.
fn close() -> impl Strategy<Value = Value> {
    let valid = json!({
        "model": "sonar",
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "input": "Hello",
        "query": "q",
        "state": "s",
        "questions": {"q": {"type": "noul"}},
    });
    (word(NAMES), value(), select(&["sonar", "a/b", "pplx-embed-v1-0.6b", "pplx-embed-context-v1-4b"][..]))
        .prop_map(move |(name, value, model)| {
            let mut request = valid.clone();
            request["model"] = json!(model);
            request[name] = value;
            request
        })
}

proptest! {
    #[test]
    fn every_request_gets_a_response(
        requests in vec((select(TARGETS), prop_oneof![value(), close()]), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mock, client) = support::api().await;
            for (target, body) in &requests {
                let answer = client.post(target, body).await;
                prop_assert!(answer.status.is_success() || answer.status.is_client_error(), "{target} {body}");
                prop_assert!(!answer.body.is_empty());
            }
            prop_assert_eq!(mock.request_count(), requests.len() as u64);
            Ok(())
        })?;
    }
}
