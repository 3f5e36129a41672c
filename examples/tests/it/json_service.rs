//! Tests of the example `json_service` over loopback.

#[path = "../../json_service.rs"]
#[allow(dead_code, reason = "`main` is not called")]
mod program;

use tightwire_json::{Value, json};
use tokio::net::TcpListener;

/// Starts the service and returns its base URL.
async fn start() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(program::serve(listener));
    format!("http://{address}")
}

/// Returns a client that ignores proxies set in the environment.
fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Sends a request, checks the content type of the response and returns its status and body.
async fn send(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json; charset=utf-8");
    let status = response.status().as_u16();
    (status, tightwire_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

#[tokio::test]
async fn users_are_paginated() {
    let (base, client) = (start().await, client());
    let (status, mut body) = send(client.get(format!("{base}/users?page=2&page_size=2"))).await;
    assert!(body["timestamp"].as_i64().unwrap() > 1_700_000_000_000);
    body.as_object_mut().unwrap().remove("timestamp");
    assert_eq!(status, 200);
    assert_eq!(
        body,
        json!({"code": 0, "http_code": 200, "message": "success", "data": {
            "list": [
                {"id": 3, "name": "barbara", "email": "barbara@example.org", "age": 36},
                {"id": 4, "name": "donald", "email": "donald@example.org", "age": 36},
            ],
            "total": 5, "page": 2, "page_size": 2, "total_pages": 3,
        }})
    );

    for (query, names, pages) in [
        ("", 5, 1),
        ("?page=3&page_size=2", 1, 3),
        ("?page=99", 0, 1),
        ("?page_size=0", 0, 0),
        ("?page=0", 5, 1),
    ] {
        let (_, body) = send(client.get(format!("{base}/users{query}"))).await;
        assert_eq!(body["data"]["list"].as_array().unwrap().len(), names, "{query}");
        assert_eq!(body["data"]["total_pages"], pages, "{query}");
    }
    let (status, body) = send(client.get(format!("{base}/users?page=first"))).await;
    assert_eq!((status, &body["code"]), (400, &json!(1001)));
}

#[tokio::test]
async fn a_user_or_an_error_is_returned_by_path() {
    let (base, client) = (start().await, client());
    let (status, body) = send(client.get(format!("{base}/users/2")).header("x-request-id", "req-7")).await;
    assert_eq!((status, &body["data"]["name"], &body["request_id"]), (200, &json!("alan"), &json!("req-7")));
    // The report fails without showing its cause.
    for (path, status, code, message) in [
        ("users/99", 404, 4001, "User not found"),
        ("users/two", 400, 1001, "Invalid parameter"),
        ("report", 500, 8002, "Database query failed"),
        ("nothing", 404, 4004, "Route not found"),
    ] {
        let answer = send(client.get(format!("{base}/{path}"))).await;
        assert_eq!(answer, (status, json!({"code": code, "http_code": status, "message": message})));
    }
}

#[tokio::test]
async fn a_user_name_is_unique() {
    let (base, client) = (start().await, client());
    let post = |body: &'static str| {
        client.post(format!("{base}/users")).header("content-type", "application/json").body(body)
    };
    let grace = r#"{"name":"grace","email":"grace@example.org","age":37}"#;
    let (status, body) = send(post(grace)).await;
    assert_eq!((status, &body["data"]["id"]), (200, &json!(6)));
    let (status, body) = send(post(grace)).await;
    assert_eq!((status, &body["code"], &body["message"]), (409, &json!(5001), &json!("User already exists")));
    let (_, body) = send(client.get(format!("{base}/users"))).await;
    assert_eq!(body["data"]["total"], 6);
}

#[tokio::test]
async fn invalid_bodies_are_rejected() {
    let (base, client) = (start().await, client());
    let post = |body: String| {
        client.post(format!("{base}/users")).header("content-type", "application/json").body(body)
    };
    let (status, body) = send(post(r#"{"name":"1","email":"x","age":3}"#.to_owned())).await;
    let fields: Vec<_> =
        body["data"]["errors"].as_array().unwrap().iter().map(|error| &error["field"]).collect();
    assert_eq!((status, &body["code"], &body["data"]["count"]), (400, &json!(1004), &json!(3)));
    assert_eq!(fields, ["age", "email", "name"]);
    assert_eq!(body["message"], "age: lower than 18");

    for (body, code, status) in [
        (String::new(), 1001, 400),
        (r#"{"name":"#.to_owned(), 1001, 400),
        (format!("\"{}\"", "a".repeat(16 << 10)), 1005, 413),
    ] {
        let (actual, response) = send(post(body)).await;
        assert_eq!((actual, &response["code"]), (status, &json!(code)));
    }
    let (status, body) = send(client.post(format!("{base}/users")).body("{}")).await;
    assert_eq!((status, &body["code"]), (415, &json!(1006)));
}
