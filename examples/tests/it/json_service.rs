//! Tests of the example `json_service` over loopback, with reqwest and with curl.

#[path = "../../json_service.rs"]
#[allow(dead_code, reason = "`main` is not called")]
mod program;

use std::io::ErrorKind;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

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
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
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
async fn a_user_is_returned_by_id_with_the_request_id() {
    let (base, client) = (start().await, client());
    let (status, body) = send(client.get(format!("{base}/users/2")).header("x-request-id", "req-7")).await;
    assert_eq!((status, &body["data"]["name"], &body["request_id"]), (200, &json!("alan"), &json!("req-7")));
    let (status, body) = send(client.get(format!("{base}/users/99"))).await;
    assert_eq!((status, body), (404, json!({"code": 4001, "http_code": 404, "message": "User not found"})));
    let (status, body) = send(client.get(format!("{base}/users/two"))).await;
    assert_eq!(
        (status, body),
        (400, json!({"code": 1001, "http_code": 400, "message": "Invalid parameter"}))
    );
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

#[tokio::test]
async fn a_server_error_does_not_show_its_cause() {
    let (base, client) = (start().await, client());
    let (status, body) = send(client.get(format!("{base}/report"))).await;
    assert_eq!(
        (status, body),
        (500, json!({"code": 8002, "http_code": 500, "message": "Database query failed"}))
    );
    let (status, body) = send(client.get(format!("{base}/nothing"))).await;
    assert_eq!((status, body), (404, json!({"code": 4004, "http_code": 404, "message": "Route not found"})));
}

/// Runs curl and returns its output, with the status in the last line. `None` if curl is not installed.
async fn curl(arguments: &[&str]) -> Option<String> {
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}"])
        .args(["--noproxy", "*"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .await;
    match output {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
    }
}

#[tokio::test]
async fn curl_can_use_the_service() {
    let base = start().await;
    let url = format!("{base}/users/1");
    let Some(user) = curl(&["--header", "X-Request-ID: req-8", &url]).await else {
        // Not captured by the test runner, so that the skip is visible.
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED curl_can_use_the_service: curl is not installed");
        return;
    };
    assert_eq!(
        user,
        concat!(
            r#"{"code":0,"http_code":200,"message":"success","data":{"id":1,"name":"ada","email":"ada@example.org","#,
            r#""age":36},"request_id":"req-8"}"#,
            "\n200"
        )
    );
    let users = format!("{base}/users");
    let json = "content-type: application/json";
    let grace = r#"{"name":"grace","email":"g@example.org","age":37}"#;
    let created = curl(&["--header", json, "--data", grace, &users]).await.unwrap();
    assert!(created.contains(r#""data":{"id":6,"name":"grace""#));
    let empty = curl(&["--header", json, "--data", "", &users]).await.unwrap();
    assert!(empty.contains("request body is empty") && empty.ends_with("\n400"), "{empty}");
    // Without the header, curl sends a form.
    let form = curl(&["--data", "name=grace", &users]).await.unwrap();
    assert_eq!(form, "{\"code\":1006,\"http_code\":415,\"message\":\"Unsupported media type\"}\n415");
}
