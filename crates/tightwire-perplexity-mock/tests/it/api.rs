//! The built-in API: state, pagination, errors. `recorded.rs` compares the fields of the responses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::{Client, api, hello};

async fn statuses(client: &Client, target: &str, polls: usize) -> Vec<String> {
    let mut statuses = Vec::new();
    for _ in 0..polls {
        statuses.push(client.get(target).await.json()["status"].as_str().unwrap().to_owned());
    }
    statuses
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|object| object["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn same_requests_get_the_same_responses() {
    let mut answers = Vec::new();
    for _ in 0..2 {
        let (_mock, client) = api().await;
        let first = client.post("/chat/completions", &hello()).await;
        let second =
            client.post("/v1/responses", &json!({"model": "a/b", "input": "x", "stream": true})).await;
        answers.push((first.headers, first.body, second.headers, second.body));
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn both_paths_of_an_endpoint_work() {
    let (_mock, client) = api().await;
    assert_eq!(client.post("/v1/sonar", &hello()).await.json()["object"], "chat.completion");
    let job = client.post("/v1/async/sonar", &json!({"request": hello()})).await.json();
    let target = format!("/v1/async/sonar/{}", job["id"].as_str().unwrap());
    assert_eq!(client.get(&target).await.json()["status"], "IN_PROGRESS");
    let run = json!({"model": "a/b", "input": "x"});
    assert_eq!(client.post("/v1/agent", &run).await.json()["object"], "response");
    assert_eq!(client.get("/v1/agent/resp_1").await.status, 200);
}

#[tokio::test]
async fn completion_repeats_the_last_user_message() {
    let (_mock, client) = api().await;
    let request = json!({"model": "sonar", "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "Two"},
        {"role": "user", "content": [
            {"type": "text", "text": "Three"},
            {"type": "image_url", "image_url": {"url": "https://example.org/i.png"}},
        ]},
    ]});
    let answer = client.post("/chat/completions", &request).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "You said: Three");
    assert_eq!(answer["usage"]["prompt_tokens"], 5);
    assert_eq!(answer["usage"]["total_tokens"], 8);
}

#[tokio::test]
async fn chunks_add_up_to_the_completion() {
    let (_mock, client) = api().await;
    for mode in ["full", "concise"] {
        let mut request = hello();
        request["stream"] = json!(true);
        request["stream_mode"] = json!(mode);
        request["n"] = json!(2);
        let chunks = client.post("/chat/completions", &request).await.event_values();
        for choice in 0..2 {
            let text: String = chunks
                .iter()
                .filter_map(|chunk| chunk["choices"][choice]["delta"]["content"].as_str())
                .collect();
            assert_eq!(text, "You said: Hello there");
        }
        let last = chunks.last().unwrap();
        assert_eq!(last["choices"][1]["finish_reason"], "stop");
        assert_eq!(last["choices"][1]["message"]["content"], "You said: Hello there");
        assert!(last["usage"]["cost"]["total_cost"].is_f64() && last["citations"].is_array());
    }
}

#[tokio::test]
async fn long_prompts_are_truncated() {
    let (_mock, client) = api().await;
    let text = "a ".repeat(100_000);
    let request = json!({"model": "sonar", "stream": true, "messages": [{"role": "user", "content": text}]});
    let chunks = client.post("/chat/completions", &request).await.event_values();
    let last = &chunks.last().unwrap()["choices"][0]["message"]["content"];
    assert_eq!(last.as_str().unwrap().len(), "You said: ".len() + 1_000);
}

#[tokio::test]
async fn tool_calls_and_json_output_on_request() {
    let (_mock, client) = api().await;
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let function = json!({"name": "weather", "description": "d", "parameters": schema});
    let mut request = hello();
    request["tools"] = json!([{"type": "function", "function": function}]);
    request["tool_choice"] = json!("required");
    let message = &client.post("/chat/completions", &request).await.json()["choices"][0]["message"];
    assert_eq!(message["content"], Value::Null);
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"city":"text"}"#);

    let mut request = hello();
    request["response_format"] = json!({"type": "json_schema", "json_schema": {"schema": schema}});
    let answer = client.post("/chat/completions", &request).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], r#"{"city":"text"}"#);
}

#[tokio::test]
async fn jobs_advance_with_each_poll() {
    let (_mock, client) = api().await;
    let create = json!({"request": hello(), "idempotency_key": "k"});
    let job = client.post("/async/chat/completions", &create).await.json();
    assert_eq!(job["status"], "CREATED");
    assert_eq!(client.post("/async/chat/completions", &create).await.json()["id"], job["id"]);
    assert_eq!(
        statuses(&client, "/async/chat/completions/req_1", 3).await,
        ["IN_PROGRESS", "COMPLETED", "COMPLETED"]
    );
    client.post("/async/chat/completions", &json!({"request": hello()})).await;
    let page = client.get("/async/chat/completions?limit=1").await.json();
    assert_eq!((&page["requests"][0]["id"], &page["next_token"]), (&json!("req_2"), &json!("page-1")));
    let page = client.get("/async/chat/completions?limit=1&next_token=page-1").await.json();
    assert_eq!((&page["requests"][0]["status"], &page["next_token"]), (&json!("COMPLETED"), &Value::Null));
}

#[tokio::test]
async fn background_responses_are_polled_resumed_and_cancelled() {
    let (_mock, client) = api().await;
    let run = json!({"model": "a/b", "input": "x", "background": true});
    for _ in 0..3 {
        assert_eq!(client.post("/v1/responses", &run).await.json()["status"], "queued");
    }
    assert_eq!(statuses(&client, "/v1/responses/resp_1", 3).await, ["in_progress", "completed", "completed"]);
    assert_eq!(client.post("/v1/responses/resp_1/cancel", &json!({})).await.status, 400);

    assert_eq!(client.post("/v1/responses/resp_2/cancel", &json!({})).await.json()["status"], "cancelling");
    assert_eq!(statuses(&client, "/v1/responses/resp_2", 2).await, ["cancelled", "cancelled"]);

    let all = client.get("/v1/responses/resp_3?stream=true&starting_after=0").await.event_values();
    let rest = client.get("/v1/responses/resp_3?stream=true&starting_after=4").await.event_values();
    assert_eq!(all[4..], rest);
    assert_eq!(rest[0]["sequence_number"], 5);
    for query in
        ["stream=true", "stream=true&starting_after=-1", "stream=true&starting_after=9007199254740992"]
    {
        assert_eq!(client.get(&format!("/v1/responses/resp_3?{query}")).await.status, 422);
    }
}

#[tokio::test]
async fn embeddings_have_the_requested_length() {
    let (_mock, client) = api().await;
    for (format, expected) in [("base64_int8", 256), ("base64_binary", 32)] {
        let request = json!({
            "model": "pplx-embed-v1-0.6b", "input": ["a", "b", "a"], "dimensions": 256, "encoding_format": format,
        });
        let data = client.post("/v1/embeddings", &request).await.json()["data"].clone();
        assert_eq!(data[0]["embedding"], data[2]["embedding"]);
        assert_ne!(data[0]["embedding"], data[1]["embedding"]);
        let bytes = STANDARD.decode(data[0]["embedding"].as_str().unwrap()).unwrap();
        assert_eq!(bytes.len(), expected);
    }
}

#[tokio::test]
async fn files_are_listed_read_and_deleted() {
    let (_mock, client) = api().await;
    for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
        let made = client.upload("POST", "/v1/files", &[("purpose", "batch")], (name, name)).await;
        assert_eq!(made.json()["bytes"], 7);
    }
    let page = client.get("/v1/files?limit=2").await.json();
    assert_eq!((ids(&page), &page["has_more"]), (vec!["file_3", "file_2"], &json!(true)));
    let page = client.get("/v1/files?limit=2&after=file_2").await.json();
    assert_eq!((ids(&page), &page["has_more"]), (vec!["file_1"], &json!(false)));
    assert_eq!(ids(&client.get("/v1/files?order=asc").await.json()), ["file_1", "file_2", "file_3"]);
    assert_eq!(ids(&client.get("/v1/files?purpose=batch_output").await.json()), [""; 0]);
    let content = client.get("/v1/files/file_2/content").await;
    assert_eq!(content.text(), "b.jsonl");
    assert_eq!(content.header("content-disposition"), Some("attachment; filename=\"b.jsonl\""));
    assert_eq!(client.delete("/v1/files/file_2").await.json()["deleted"], true);
    assert_eq!(client.get("/v1/files/file_2").await.status, 404);
    for query in ["limit=0", "limit=101", "limit=x"] {
        assert_eq!(client.get(&format!("/v1/files?{query}")).await.status, 422);
    }
    assert_eq!(client.get("/v1/files?after=file_9").await.status, 400);
}

#[tokio::test]
async fn batches_complete_or_are_cancelled() {
    let (_mock, client) = api().await;
    let lines = "{\"custom_id\":\"x\",\"body\":{\"input\":\"One\"}}\n\n{\"custom_id\":\"y\"}\n";
    client.upload("POST", "/v1/files", &[("purpose", "batch")], ("a.jsonl", lines)).await;
    let create = json!({"endpoint": "/v1/responses", "input_file_id": "file_1", "metadata": {"a": "b"}});
    let batch = client.post("/v1/batches", &create).await.json();
    assert_eq!((&batch["status"], &batch["metadata"]["a"]), (&json!("validating"), &json!("b")));
    assert_eq!(
        statuses(&client, "/v1/batches/batch_1", 4).await,
        ["in_progress", "finalizing", "completed", "completed"]
    );
    let done = client.get("/v1/batches/batch_1").await.json();
    assert_eq!(done["request_counts"], json!({"total": 2, "completed": 2, "failed": 0}));
    let output = client.get(&format!("/v1/files/{}/content", done["output_file_id"].as_str().unwrap())).await;
    let first: Value = serde_json::from_str(output.text().lines().next().unwrap()).unwrap();
    assert_eq!((&first["custom_id"], &first["response"]["status_code"]), (&json!("x"), &json!(200)));
    assert_eq!(client.post("/v1/batches/batch_1/cancel", &json!({})).await.status, 400);
    client.post("/v1/batches", &create).await;
    assert_eq!(client.post("/v1/batches/batch_2/cancel", &json!({})).await.json()["status"], "cancelling");
    assert_eq!(statuses(&client, "/v1/batches/batch_2", 1).await, ["cancelled"]);
    assert_eq!(ids(&client.get("/v1/batches").await.json()), ["batch_2", "batch_1"]);
}

#[tokio::test]
async fn batch_is_created_once_per_idempotency_key() {
    let (_mock, client) = api().await;
    client.upload("POST", "/v1/files", &[("purpose", "batch")], ("a.jsonl", "{}")).await;
    let body = json!({"endpoint": "/v1/responses", "input_file_id": "file_1"}).to_string();
    let mut made = Vec::new();
    for key in ["k", "k", "l"] {
        let answer =
            client.send("POST", "/v1/batches", &[("idempotency-key", key)], body.clone()).await.unwrap();
        made.push(answer.json()["id"].clone());
    }
    assert_eq!(made, ["batch_1", "batch_1", "batch_2"]);
}

#[tokio::test]
async fn skill_updates_require_the_latest_revision() {
    let (_mock, client) = api().await;
    client.upload("POST", "/v1/skills", &[], ("a.zip", "PK")).await;
    let newer = client.upload("PUT", "/v1/skills/sk_1?expected_revision=r1", &[], ("b.zip", "PK")).await;
    assert_eq!(newer.json()["latest_revision"], "r2");
    let stale = client.upload("PUT", "/v1/skills/sk_1?expected_revision=r1", &[], ("c.zip", "PK")).await;
    assert_eq!(stale.status, 409);
    assert_eq!(client.delete("/v1/skills/sk_1").await.status, 422);
    assert_eq!(client.get("/v1/skills/sk_1?revision=r1").await.json()["name"], "a");
    assert_eq!(client.get("/v1/skills/sk_1/download?revision=r3").await.status, 404);
    let page = client.get("/v1/skills/sk_1/revisions?limit=1").await.json();
    assert_eq!(page["next_page_token"], "page-1");
    assert_eq!(client.get("/v1/skills?page_token=page-7").await.status, 400);
    assert_eq!(client.delete("/v1/skills/sk_1?expected_revision=r2").await.status, 204);
    assert_eq!(client.get("/v1/skills").await.json()["skills"], json!([]));
}

#[tokio::test]
async fn decisions_support_all_question_types() {
    let (_mock, client) = api().await;
    let request = json!({"model": "m", "state": {"a": 1}, "questions": {
        "n": {"type": "noul"},
        "c": {"type": "choice", "criteria": {"x": "1", "y": null, "z": null}},
        "s": {"type": "score", "criteria": ["bad", "good"]},
    }});
    let answers = client.post("/v1/decisions", &request).await.json()["answers"].clone();
    assert_eq!(answers["n"], json!({"type": "noul", "noul": 0.9}));
    assert_eq!(answers["c"]["probabilities"], json!({"x": 0.75, "y": 0.125, "z": 0.125}));
    assert_eq!(answers["s"]["legend"], json!({"0": "bad", "1": "good"}));
    for question in [json!({"type": "other"}), json!({"type": "choice"}), json!({})] {
        let request = json!({"model": "m", "state": "s", "questions": {"q": question}});
        assert_eq!(client.post("/v1/decisions", &request).await.status, 422);
    }
}

#[tokio::test]
async fn errors_have_the_formats_of_the_api() {
    let (_mock, client) = api().await;
    let detail =
        |loc: Value, msg: &str, kind: &str| json!({"detail": [{"loc": loc, "msg": msg, "type": kind}]});
    let error = |message: &str, kind: &str, code: u16| {
        let inner = json!({"message": message, "type": kind, "code": code});
        json!({"error": inner})
    };
    for (target, body, expected) in [
        ("/chat/completions", json!({}), detail(json!(["body", "model"]), "Field required", "missing")),
        ("/chat/completions", json!([]), detail(json!(["body"]), "Input should be an object", "dict_type")),
        (
            "/async/chat/completions",
            json!({"request": {"model": "sonar"}}),
            detail(json!(["body", "request", "messages"]), "Field required", "missing"),
        ),
        (
            "/chat/completions",
            json!({"model": "x", "messages": [{"role": "user", "content": ""}]}),
            error(
                "Invalid model 'x'. Permitted models can be found in the documentation",
                "invalid_model",
                400,
            ),
        ),
        (
            "/chat/completions",
            json!({"model": "sonar", "messages": [{"role": "assistant", "content": ""}]}),
            error("Last message must have role 'user' or 'tool'", "invalid_message", 400),
        ),
        ("/v1/batches/batch_7/cancel", json!({}), error("Batch 'batch_7' does not exist", "not_found", 404)),
        ("/nothing", json!({}), json!({"detail": "Not Found"})),
        ("/v1/models", json!({}), json!({"detail": "Method Not Allowed"})),
        ("/v1/files", json!({}), detail(json!(["body", "file"]), "Field required", "missing")),
    ] {
        let answer = client.post(target, &body).await;
        assert!(answer.status.is_client_error());
        assert_eq!(answer.json(), expected, "{target}");
        assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req-")));
    }
    let malformed = client.send("POST", "/search", &[], "{\"query\": oops}").await.unwrap();
    assert_eq!(malformed.status, 422);
    assert_eq!(malformed.json()["detail"][0]["type"], "json_invalid");
}

#[tokio::test]
async fn fields_of_the_wrong_type_are_rejected_with_their_location() {
    let (_mock, client) = api().await;
    for (target, body, name) in [
        ("/search", json!({"query": 1}), "query"),
        ("/search", json!({"query": "a", "max_results": "3"}), "max_results"),
        ("/search", json!({"query": "a", "display_server_time": 1}), "display_server_time"),
        ("/v1/responses", json!({"model": "a/b", "input": []}), "input"),
        ("/v1/responses", json!({"models": [], "input": "x"}), "models"),
        (
            "/v1/embeddings",
            json!({"model": "pplx-embed-v1-4b", "input": "a", "encoding_format": "x"}),
            "encoding_format",
        ),
        (
            "/v1/contextualizedembeddings",
            json!({"model": "pplx-embed-context-v1-4b", "input": ["a"]}),
            "input",
        ),
        ("/v1/batches", json!({"endpoint": "/v1/chat", "input_file_id": "f"}), "endpoint"),
    ] {
        let answer = client.post(target, &body).await;
        assert_eq!(answer.status, 422, "{body}");
        assert_eq!(answer.json()["detail"][0]["loc"], json!(["body", name]), "{body}");
    }
}

#[tokio::test]
async fn values_out_of_range_are_rejected() {
    let (_mock, client) = api().await;
    let chat = |name: &str, value: Value| {
        let mut request = hello();
        request[name] = value;
        request
    };
    for (target, body) in [
        ("/chat/completions", chat("max_tokens", json!(128_001))),
        ("/chat/completions", chat("temperature", json!(2.5))),
        ("/chat/completions", chat("tool_choice", json!("required"))),
        ("/chat/completions", chat("n", json!(0))),
        ("/chat/completions", chat("n", json!(17))),
        ("/search", json!({"query": []})),
        ("/search", json!({"query": "a", "max_results": 21})),
        ("/v1/responses", json!({"input": "x"})),
        ("/v1/responses", json!({"model": "gpt", "input": "x"})),
        ("/v1/responses", json!({"model": "a/b", "input": "x", "previous_response_id": "resp_9"})),
        ("/v1/embeddings", json!({"model": "pplx-embed-v1-0.6b", "input": "a", "dimensions": 1025})),
        ("/v1/embeddings", json!({"model": "pplx-embed-v1-0.6b", "input": [""]})),
        ("/v1/embeddings", json!({"model": "x", "input": "a"})),
        ("/v1/embeddings", json!({"model": "pplx-embed-v1-0.6b", "input": vec!["a"; 513]})),
        ("/v1/contextualizedembeddings", json!({"model": "pplx-embed-context-v1-4b", "input": []})),
        (
            "/v1/contextualizedembeddings",
            json!({"model": "pplx-embed-context-v1-4b", "input": [vec!["a"; 16_001]]}),
        ),
        ("/async/chat/completions", json!({"request": chat("stream", json!(true))})),
    ] {
        let answer = client.post(target, &body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"]["code"], 400);
    }
    let people = json!({"query": "a", "max_results": 21, "search_type": "people"});
    assert_eq!(client.post("/search", &people).await.status, 200);
}
