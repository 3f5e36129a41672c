//! The built-in API: state, pagination, errors. `recorded.rs` compares the fields of the responses.

use tightwire_json::{Value, json};
use tightwire_perplexity_mock::Scenario;

use crate::support::{Client, api, hello, start};

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
async fn chat_completions_have_ended_unless_the_scenario_has_them() {
    let (_mock, client) = start(Scenario::api()).await;
    for (method, target) in [
        ("POST", "/chat/completions"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/sonar"),
        ("GET", "/async/chat/completions"),
        ("POST", "/v1/async/sonar"),
        ("GET", "/v1/async/sonar/req_1"),
    ] {
        let answer = client.send(method, target, &[], hello().to_string()).await.unwrap();
        assert_eq!(answer.status, 403, "{target}");
        assert_eq!(answer.json()["error"]["type"], "chat_completions_not_available");
        assert_eq!(answer.json()["error"]["code"], 403);
    }
    let (_mock, client) = start(Scenario::from_toml("chat = true").unwrap()).await;
    assert_eq!(client.post("/v1/chat/completions", &hello()).await.status, 200);
}

#[tokio::test]
async fn the_agent_api_rejects_unknown_fields_and_values_out_of_range() {
    let (_mock, client) = api().await;
    for (fields, param) in [
        (json!({"search_mode": "academic"}), "search_mode"),
        (json!({"messages": []}), "messages"),
        (json!({"tools": [{"type": "web_search", "num_search_results": 3}]}), "tools[0].num_search_results"),
        (json!({"tools": [{"type": "web_search", "filters": {"x": 1}}]}), "tools[0].filters.x"),
        (
            json!({"tools": [{"type": "web_search", "filters": {"safe_search": true}}]}),
            "tools[0].filters.safe_search",
        ),
        (json!({"tools": [{"type": "web_search", "user_location": {"x": 1}}]}), "tools[0].user_location.x"),
        (
            json!({"tools": [{"type": "image_search", "filters": {"search_domain_filter": []}}]}),
            "tools[0].filters.search_domain_filter",
        ),
        (json!({"tools": [{"type": "function", "function": {}}]}), "tools[0].function"),
        (json!({"tools": [{"type": "function", "name": "search_web"}]}), "tools[0].name"),
        (json!({"reasoning": {"summary": "auto"}}), "reasoning.summary"),
        (json!({"stream_options": {"x": 1}}), "stream_options.x"),
        (json!({"response_format": {"type": "json_schema", "schema": {}}}), "response_format.schema"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"x": 1}}}),
            "response_format.json_schema.x",
        ),
        (json!({"tools": [{"type": "teleport"}]}), "tools[0].type"),
        (json!({"response_format": {"type": "regex"}}), "response_format.type"),
        (json!({"response_format": {"type": "json_schema"}}), "response_format.json_schema"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}}),
            "response_format.json_schema",
        ),
        (
            json!({"input": [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}]}),
            "input[0].content[0].type",
        ),
        (json!({"input": ""}), "input"),
        (json!({"input": []}), "input"),
        (json!({"input": null}), "input"),
        (json!({"max_steps": 0}), "max_steps"),
        (json!({"models": ["a/b", "a/b", "a/b", "a/b", "a/b", "a/b"]}), "models"),
        (json!({"model": "anthropic/claude"}), "max_output_tokens"),
    ] {
        let mut request = json!({"model": "perplexity/sonar", "input": "x"});
        for (name, value) in fields.as_object().unwrap() {
            request[name.as_str()] = value.clone();
        }
        let answer = client.post("/v1/agent", &request).await;
        assert_eq!(answer.status, 400, "{param}");
        let error = answer.json()["error"].clone();
        assert_eq!((&error["type"], &error["param"]), (&json!("invalid_request"), &json!(param)));
    }
}

#[tokio::test]
async fn keys_are_generated_and_revoked() {
    let (_mock, client) = api().await;
    let answer = client.post("/generate_auth_token", &json!({"token_name": "CI"})).await.json();
    let token = json!({"auth_token": answer["auth_token"]});
    assert!(token["auth_token"].as_str().unwrap().starts_with("pplx-") && answer["token_name"] == "CI");
    assert!(answer["created_at_epoch_seconds"].as_u64().is_some());
    for (body, status) in [(token, 200), (json!({}), 422)] {
        assert_eq!(client.post("/revoke_auth_token", &body).await.status, status);
    }
}

#[tokio::test]
async fn responses_end_at_the_maximum_of_tokens() {
    let (_mock, client) = api().await;
    let mut request = json!({"model": "perplexity/sonar", "input": "one two three", "max_output_tokens": 4});
    let answer = client.post("/v1/responses", &request).await.json();
    assert_eq!((&answer["status"], &answer["usage"]["output_tokens"]), (&json!("incomplete"), &json!(4)));
    assert_eq!(answer["incomplete_details"]["reason"], "max_output_tokens");
    assert_eq!(answer["output"][1]["content"][0]["text"], "You said: one two");
    request["stream"] = json!(true);
    request["stream_options"] = json!({"include_usage": false});
    let events = client.post("/v1/responses", &request).await.event_values();
    let last = events.last().unwrap();
    assert!(last["response"].get("usage").is_none());
    assert_eq!(
        (&last["type"], &last["response"]["status"]),
        (&json!("response.incomplete"), &json!("incomplete"))
    );
    request["max_output_tokens"] = json!(5);
    assert_eq!(
        client.post("/v1/responses", &request).await.event_values().last().unwrap()["type"],
        "response.completed"
    );
}

#[tokio::test]
async fn streams_of_the_agent_api_consist_of_data_with_sorted_keys() {
    let (_mock, client) = api().await;
    let request = json!({"model": "perplexity/sonar", "input": "x", "stream": true});
    let answer = client.post("/v1/responses", &request).await;
    for line in answer.text().lines().filter(|line| !line.is_empty()) {
        assert!(line.starts_with("data: {") && line.contains(",\"type\":\"response."), "{line}");
    }
    let events = answer.event_values();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let (added, done) = (of("response.output_item.added"), of("response.output_item.done"));
    assert_eq!(
        (&added[0]["item"]["name"], &added[1]["item"]["content"]),
        (&json!("search_web"), &Value::Null)
    );
    assert_eq!((&done[0]["item"]["type"], &done[0]["output_index"]), (&json!("search_results"), &json!(0)));
}

#[tokio::test]
async fn responses_have_all_fields_and_repeat_those_of_the_request() {
    let (_mock, client) = api().await;
    let request = json!({"effort": "low", "input": "x", "background": true, "metadata": {"a": "b"}});
    let queued = client.post("/v1/responses", &request).await.json();
    assert_eq!(
        (&queued["model"], &queued["usage"], &queued["output"]),
        (&json!("low"), &Value::Null, &json!([]))
    );
    let target = format!("/v1/agent/{}", queued["id"].as_str().unwrap());
    assert_eq!(client.get(&target).await.json()["completed_at"], Value::Null);
    let done = client.get(&target).await.json();
    assert_eq!((&done["model"], &done["metadata"]["a"]), (&json!("perplexity/sonar"), &json!("b")));
    // The 32 fields of every response, and the effort.
    assert_eq!(done.as_object().unwrap().len(), 33);
}

#[tokio::test]
async fn responses_that_are_not_stored_or_unknown_cannot_be_retrieved_or_cancelled() {
    let (_mock, client) = api().await;
    let request = json!({"model": "perplexity/sonar", "input": "x", "store": false});
    let id = client.post("/v1/responses", &request).await.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.get(&format!("/v1/responses/{id}")).await.status, 404);
    assert_eq!(client.post(&format!("/v1/responses/{id}/cancel"), &json!({})).await.status, 400);
    let request = json!({"model": "perplexity/sonar", "input": "x", "background": true});
    let id = client.post("/v1/responses", &request).await.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        client.post(&format!("/v1/agent/{id}/cancel"), &json!({})).await.json()["status"],
        "cancelling"
    );
    let cancelled = client.get(&format!("/v1/agent/{id}")).await.json();
    assert_eq!((&cancelled["error"]["code"], &cancelled["usage"]), (&json!("cancelled"), &Value::Null));
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
async fn completion_repeats_the_last_user_message() {
    let (_mock, client) = api().await;
    let mut request = json!({"model": "sonar", "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [
            {"type": "text", "text": "Hello there"},
            {"type": "image_url", "image_url": {"url": "https://example.org/i.png"}},
        ]},
    ]});
    let answer = client.post("/chat/completions", &request).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "You said: Hello there");
    assert_eq!((&answer["usage"]["prompt_tokens"], &answer["usage"]["total_tokens"]), (&json!(4), &json!(8)));
    request["stream"] = json!(true);
    for mode in ["full", "concise"] {
        request["stream_mode"] = json!(mode);
        let chunks = client.post("/chat/completions", &request).await.event_values();
        let deltas = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
        assert_eq!(deltas.collect::<String>(), "You said: Hello there");
        let last = chunks.last().unwrap();
        assert_eq!(last["choices"][0]["finish_reason"], "stop");
        assert_eq!(last["choices"][0]["message"]["content"], "You said: Hello there");
        assert!(last["usage"]["cost"]["total_cost"].is_f64() && last["citations"].is_array());
    }
}

#[tokio::test]
async fn objects_advance_with_each_poll_until_they_are_cancelled() {
    for (target, create, polls, can_be_cancelled) in [
        (
            "/async/chat/completions",
            json!({"request": hello()}),
            &["IN_PROGRESS", "COMPLETED", "COMPLETED"][..],
            false,
        ),
        (
            "/v1/responses",
            json!({"model": "a/b", "input": "x", "background": true}),
            &["in_progress", "completed", "completed"],
            true,
        ),
        (
            "/v1/batches",
            json!({"endpoint": "/v1/responses", "input_file_id": "file_1"}),
            &["in_progress", "finalizing", "completed", "completed"],
            true,
        ),
    ] {
        let (_mock, client) = api().await;
        client.upload("POST", "/v1/files", &[], ("a.jsonl", "{}\n")).await;
        let one = client.post(target, &create).await.json()["id"].as_str().unwrap().to_owned();
        let two = client.post(target, &create).await.json()["id"].as_str().unwrap().to_owned();
        let one = format!("{target}/{one}");
        assert_eq!(statuses(&client, &one, polls.len()).await, polls);
        if can_be_cancelled {
            assert_eq!(client.post(&format!("{one}/cancel"), &json!({})).await.status, 400);
            let two = format!("{target}/{two}");
            let answer = client.post(&format!("{two}/cancel"), &json!({})).await.json();
            assert_eq!(answer["status"], "cancelling");
            assert_eq!(statuses(&client, &two, 2).await, ["cancelled", "cancelled"]);
        }
    }
}

#[tokio::test]
async fn idempotency_keys_return_the_same_object() {
    let (_mock, client) = api().await;
    client.upload("POST", "/v1/files", &[], ("a.jsonl", "{}")).await;
    let batch = json!({"endpoint": "/v1/responses", "input_file_id": "file_1"});
    for (key, expected) in [("k", 1), ("k", 1), ("l", 2)] {
        let headers = [("idempotency-key", key)];
        let made = client.send("POST", "/v1/batches", &headers, batch.to_string()).await.unwrap().json();
        assert_eq!(made["id"], format!("batch_{expected}"));
        let job = json!({"request": hello(), "idempotency_key": key});
        let made = client.post("/async/chat/completions", &job).await.json();
        assert_eq!(made["id"], format!("req_{expected}"));
    }
}

#[tokio::test]
async fn streams_resume_after_a_sequence_number() {
    let (_mock, client) = api().await;
    client.post("/v1/responses", &json!({"model": "a/b", "input": "x"})).await;
    let all = client.get("/v1/responses/resp_1?stream=true&starting_after=0").await.event_values();
    let rest = client.get("/v1/responses/resp_1?stream=true&starting_after=4").await.event_values();
    assert_eq!(all[4..], rest);
    assert_eq!(rest[0]["sequence_number"], 5);
    for query in ["stream=true", "stream=true&starting_after=-1"] {
        assert_eq!(client.get(&format!("/v1/responses/resp_1?{query}")).await.status, 422);
    }
}

#[tokio::test]
async fn files_are_listed_read_and_deleted() {
    let (_mock, client) = api().await;
    for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
        let made = client.upload("POST", "/v1/files", &[("purpose", "batch")], (name, name)).await;
        assert_eq!(made.json()["bytes"], 7);
    }
    for (query, expected, has_more) in [
        ("limit=2", &["file_3", "file_2"][..], true),
        ("limit=2&after=file_2", &["file_1"], false),
        ("order=asc", &["file_1", "file_2", "file_3"], false),
    ] {
        let page = client.get(&format!("/v1/files?{query}")).await.json();
        assert_eq!((ids(&page), &page["has_more"]), (expected.to_vec(), &json!(has_more)));
    }
    let content = client.get("/v1/files/file_2/content").await;
    assert_eq!(content.text(), "b.jsonl");
    assert_eq!(content.header("content-disposition"), Some("attachment; filename=\"b.jsonl\""));
    assert_eq!(client.delete("/v1/files/file_2").await.json()["deleted"], true);
    for (target, status) in
        [("/file_2", 404), ("?limit=0", 422), ("?limit=101", 422), ("?limit=x", 422), ("?after=file_9", 400)]
    {
        assert_eq!(client.get(&format!("/v1/files{target}")).await.status, status);
    }
}

#[tokio::test]
async fn batch_output_has_a_line_per_request() {
    let (_mock, client) = api().await;
    let lines = "{\"custom_id\":\"x\",\"body\":{\"input\":\"One\"}}\n\n{\"custom_id\":\"y\"}\n";
    client.upload("POST", "/v1/files", &[], ("a.jsonl", lines)).await;
    let create = json!({"endpoint": "/v1/responses", "input_file_id": "file_1", "metadata": {"a": "b"}});
    assert_eq!(client.post("/v1/batches", &create).await.json()["metadata"]["a"], "b");
    statuses(&client, "/v1/batches/batch_1", 3).await;
    let done = client.get("/v1/batches/batch_1").await.json();
    assert_eq!(done["request_counts"], json!({"total": 2, "completed": 2, "failed": 0}));
    let output = client.get(&format!("/v1/files/{}/content", done["output_file_id"].as_str().unwrap())).await;
    let first: Value = tightwire_json::from_str(output.text().lines().next().unwrap()).unwrap();
    assert_eq!((&first["custom_id"], &first["response"]["status_code"]), (&json!("x"), &json!(200)));
}

#[tokio::test]
async fn skill_updates_require_the_latest_revision() {
    let (_mock, client) = api().await;
    client.upload("POST", "/v1/skills", &[], ("a.zip", "PK")).await;
    let target = "/v1/skills/sk_1?expected_revision=r1";
    assert_eq!(client.upload("PUT", target, &[], ("b.zip", "PK")).await.json()["latest_revision"], "r2");
    assert_eq!(client.upload("PUT", target, &[], ("c.zip", "PK")).await.status, 409);
    assert_eq!(client.delete("/v1/skills/sk_1").await.status, 422);
    assert_eq!(client.get("/v1/skills/sk_1").await.json()["name"], "b");
    assert_eq!(client.delete("/v1/skills/sk_1?expected_revision=r2").await.status, 204);
    assert_eq!(client.get("/v1/skills").await.json()["skills"], json!([]));
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
            "/v1/embeddings",
            json!({"model": "m", "input": vec!["a"; 513]}),
            error("input must have from 1 to 512 items", "invalid_input", 400),
        ),
        (
            "/v1/contextualizedembeddings",
            json!({"model": "m", "input": [vec!["a"; 16_001]]}),
            error("At most 16000 chunks are allowed", "invalid_input", 400),
        ),
        (
            "/search",
            json!({"query": "a", "max_results": "3"}),
            detail(json!(["body", "max_results"]), "Input should be a valid integer", "int_type"),
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
