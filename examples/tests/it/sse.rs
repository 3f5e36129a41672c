//! Tests of the examples `sse_chat`, `sse_contract_service` and `sse_resume`.

#[path = "../../sse_chat.rs"]
#[allow(dead_code, reason = "`main` is not called")]
mod sse_chat;
#[path = "../../sse_contract_service.rs"]
#[allow(dead_code, reason = "`main` is not called")]
mod sse_contract_service;
#[path = "../../sse_resume.rs"]
#[allow(dead_code, reason = "`main` is not called")]
mod sse_resume;

use http_body_util::BodyExt as _;
use tightwire_json::{Value, json};
use tokio::net::TcpListener;

#[tokio::test]
async fn a_chat_completion_is_streamed() {
    let mut out = Vec::new();
    sse_chat::chat("Why?", &mut out).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("> Why?\nAn event stream is a response that does not end"), "{out}");
    assert!(out.ends_with("流れ続ける応答。\n"), "{out}");
}

#[tokio::test]
async fn received_events_are_reported_by_callbacks() {
    let service = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/", service.local_addr().unwrap());
    let service = tokio::spawn(sse_contract_service::serve(service));

    let (sender, mut callbacks) = tokio::sync::mpsc::unbounded_channel();
    let callback = move |request: axum::extract::Request| {
        let sender = sender.clone();
        async move {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            sender.send(tightwire_json::from_slice::<Value>(&body).unwrap()).unwrap();
        }
    };
    let harness = axum::Router::new()
        .route(
            "/stream",
            axum::routing::get(|| async {
                ([("content-type", "text/event-stream")], "id: 7\ndata: one\n\n")
            }),
        )
        .route("/callback/{number}", axum::routing::post(callback));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let harness = tokio::spawn(axum::serve(listener, harness).into_future());

    let client = reqwest::Client::new();
    let capabilities = client.get(&url).send().await.unwrap().bytes().await.unwrap();
    let capabilities: Value = tightwire_json::from_slice(&capabilities).unwrap();
    assert!(capabilities["capabilities"].as_array().unwrap().contains(&json!("restart")));
    let parameters = json!({
        "tag": "test", "streamUrl": format!("{base}/stream"), "callbackUrl": format!("{base}/callback"),
    });
    let opened = client.post(&url).body(parameters.to_string()).send().await.unwrap();
    assert_eq!(opened.status(), 201);
    let first = callbacks.recv().await.unwrap();
    assert_eq!((&first["kind"], &first["event"]["data"]), (&json!("event"), &json!("one")));

    client.delete(&url).send().await.unwrap();
    service.await.unwrap().unwrap();
    harness.abort();
}

#[tokio::test]
async fn a_client_that_restarts_misses_no_event() {
    let mut out = Vec::new();
    sse_resume::run(&mut out).await.unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "1\n2\n3\nclient restarts\n4\n5\n6\nserver stopped\n");
}
