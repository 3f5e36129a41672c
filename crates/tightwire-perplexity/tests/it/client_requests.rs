//! Requests: URLs, headers, bodies, and the settings that they depend on.
#![cfg(feature = "client")]

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use futures_util::TryStreamExt;
use http::Method;
use tightwire_perplexity::resources::PathStyle;
use tightwire_perplexity::types::{async_chat, auth_tokens, chat, files, skills};
use tightwire_perplexity::{Client, TimeoutPhase};

use crate::support::{Script, Step};

fn question() -> chat::Request {
    chat::Request::new("sonar", "Why?")
}

#[tokio::test(start_paused = true)]
async fn defaults_of_a_request() {
    let script = Script::new([Step::ok(ANY)]);
    script.client().chat().create(&question()).await.unwrap();
    let sent = &script.sent()[0];
    assert_eq!((&*sent.method, &*sent.url), ("POST", "https://example.org/base/chat/completions"));
    assert_eq!(sent.body, r#"{"messages":[{"role":"user","content":"Why?"}],"model":"sonar"}"#);
    let expected = [
        ("accept", "application/json"),
        ("authorization", "Bearer pplx-s3cret"),
        ("content-type", "application/json"),
        ("user-agent", concat!("tightwire-perplexity/", env!("CARGO_PKG_VERSION"))),
        ("x-source", "tightwire-perplexity"),
        ("x-title", "Perplexity client for Rust"),
    ];
    let mut headers: Vec<_> =
        sent.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    headers.sort_unstable();
    assert_eq!(headers, expected);
    assert!(sent.headers["authorization"].is_sensitive());
}

#[tokio::test(start_paused = true)]
async fn call_headers_override_client_headers() {
    let script = Script::new([Step::ok(ANY), Step::ok(ANY)]);
    let client = script
        .builder()
        .default_header("X-Title", "client")
        .default_header("x-both", "client")
        .without_default_header("x-source")
        .default_header("user-agent", "agent/1")
        .build()
        .unwrap();
    client.chat().create(&question()).await.unwrap();
    client
        .chat()
        .create(&question())
        .header("X-Both", "call")
        .header("x-source", "call")
        .secret_header("x-secret", "s")
        .without_header("Authorization")
        .await
        .unwrap();
    let [first, second] = &script.sent()[..] else { panic!("two requests were sent") };
    assert_eq!(first.headers["x-title"], "client");
    assert_eq!(first.headers["x-both"], "client");
    assert_eq!(first.headers["user-agent"], "agent/1");
    assert!(!first.headers.contains_key("x-source"));
    assert_eq!(second.headers["x-both"], "call");
    assert_eq!(second.headers["x-source"], "call");
    assert!(second.headers["x-secret"].is_sensitive());
    assert!(!second.headers.contains_key("authorization"));
}

#[tokio::test(start_paused = true)]
async fn query_parameters_are_merged() {
    let script = Script::new([Step::ok("{\"data\":[]}")]);
    let client = script
        .builder()
        .base_url("https://example.org/base/?v=1&k=base")
        .default_query("k", "client")
        .default_query("c", true)
        .build()
        .unwrap();
    let params = files::ListParams::default().limit(5_u32).purpose(files::Purpose::Batch);
    client.files().list(&params).query("limit", 7).query("l", "a,b").await.unwrap();
    assert_eq!(
        script.sent()[0].url,
        "https://example.org/base/v1/files?v=1&k=client&c=true&purpose=batch&limit=7&l=a%2Cb"
    );
}

#[tokio::test(start_paused = true)]
async fn extra_body_fields_take_precedence() {
    let script = Script::new([Step::ok(ANY), Step::ok(ANY), Step::ok(ANY)]);
    let client = script.client();
    client
        .chat()
        .create(&question())
        .extra_body("model", "other")
        .extra_body("max_tokens", ())
        .extra_body("media_response", BTreeMap::from([("overrides", [1])]))
        .await
        .unwrap();
    client.request(Method::POST, "/x").extra_body("only", 1).await.unwrap();
    client.request(Method::PATCH, "/x?a=1").json_body(&[1]).await.unwrap();
    let sent = script.sent();
    assert_eq!(
        sent[0].body,
        r#"{"max_tokens":null,"media_response":{"overrides":[1]},"messages":[{"role":"user","content":"Why?"}],"model":"other"}"#
    );
    assert_eq!(sent[1].body, r#"{"only":1}"#);
    assert_eq!(
        (&*sent[2].method, &*sent[2].url, &*sent[2].body),
        ("PATCH", "https://example.org/base/x?a=1", "[1]")
    );
    let error = client.request(Method::POST, "/x").json_body(&[1]).extra_body("a", 1).await.unwrap_err();
    assert_eq!(error.field(), Some("extra_body"));
}

#[tokio::test(start_paused = true)]
async fn an_error_instead_of_no_content_is_not_lost() {
    let script = Script::new([r#"{"error":{"message":"no such key"}}"#, "{}", ""].map(Step::ok));
    let client = script.client();
    let error = client.auth_tokens().revoke("pplx-1").await.unwrap_err();
    assert!(error.is_api() && error.message() == Some("no such key"));
    client.auth_tokens().revoke("pplx-1").await.unwrap();
    client.auth_tokens().revoke("pplx-1").await.unwrap();
}

/// Response of every type that these tests request.
const ANY: &str = r#"{"id":"1","response_id":"1","skill_id":"1","auth_token":"pplx-1","data":[]}"#;

/// Requests that `client_wire.rs` does not cover, because the recordings lack them, and `Accept` headers.
#[tokio::test(start_paused = true)]
async fn endpoints() {
    let change = &skills::ChangeParams::new("r1");
    let script = Script::new((0..10).map(|_| Step::ok(ANY)));
    let client = &script.client();
    let id = "a/b c?d";
    client.async_chat().retrieve_with(id, &async_chat::GetParams::default().local_mode(true)).await.unwrap();
    drop(client.responses().files().content(id, "f").await.unwrap());
    client.browser_sessions().delete(id).await.unwrap();
    client.files().create(files::Purpose::Batch, "in.jsonl", b"{}").await.unwrap();
    drop(client.files().content(id).await.unwrap());
    client.batches().list(&Default::default()).await.unwrap();
    client.skills().update(id, change, "s.zip", b"PK").await.unwrap();
    client.skills().delete(id, change).await.unwrap();
    let name = auth_tokens::GenerateRequest::default().token_name("CI");
    let token = client.auth_tokens().generate(&name).await.unwrap();
    assert!(token.auth_token.expose() == "pplx-1" && !format!("{token:?}").contains("pplx-1"));
    client.auth_tokens().revoke("pplx-1").await.unwrap();
    let sent: Vec<_> = script
        .sent()
        .iter()
        .map(|sent| {
            let path = sent.url.strip_prefix("https://example.org/base").unwrap();
            let accept = sent.headers["accept"].to_str().unwrap();
            let kind = sent.headers.get("content-type").map_or("-", |kind| kind.to_str().unwrap());
            format!("{} {path} {accept} {}", sent.method, kind.split(';').next().unwrap())
        })
        .collect();
    let expected = [
        "GET /async/chat/completions/a%2Fb%20c%3Fd?local_mode=true application/json -",
        "GET /v1/agent/a%2Fb%20c%3Fd/files/f/content application/octet-stream -",
        "DELETE /v1/browser/sessions/a%2Fb%20c%3Fd */* -",
        "POST /v1/files application/json multipart/form-data",
        "GET /v1/files/a%2Fb%20c%3Fd/content application/octet-stream -",
        "GET /v1/batches application/json -",
        "PUT /v1/skills/a%2Fb%20c%3Fd?expected_revision=r1 application/json multipart/form-data",
        "DELETE /v1/skills/a%2Fb%20c%3Fd?expected_revision=r1 */* -",
        "POST /generate_auth_token application/json application/json",
        "POST /revoke_auth_token */* application/json",
    ];
    assert_eq!(sent, expected);
    let bodies: Vec<_> = script.sent()[8..].iter().map(|sent| sent.body.clone()).collect();
    assert_eq!(bodies, [r#"{"token_name":"CI"}"#, r#"{"auth_token":"pplx-1"}"#]);
    let upload = &script.sent()[3].body;
    let (purpose, file) = (upload.find("name=\"purpose\"").unwrap(), upload.find("name=\"file\"").unwrap());
    assert!(purpose < file && upload.contains("filename=\"in.jsonl\"") && upload.contains("\r\n\r\n{}\r\n"));
}

#[tokio::test(start_paused = true)]
async fn path_styles() {
    let (chat, job) = ("chat/completions", "async/chat/completions/1");
    for (style, expected) in [
        (PathStyle::default(), [chat, job, "v1/agent/1/cancel"]),
        (PathStyle::Sdk, [chat, job, "v1/responses/1/cancel"]),
        (PathStyle::V1, ["v1/sonar", "v1/async/sonar/1", "v1/agent/1/cancel"]),
    ] {
        let script = Script::new((0..3).map(|_| Step::ok(ANY)));
        let client = script.builder().path_style(style).build().unwrap();
        client.chat().create(&question()).await.unwrap();
        client.async_chat().retrieve("1").await.unwrap();
        client.responses().cancel("1").await.unwrap();
        let urls: Vec<_> = script.sent().iter().map(|sent| sent.url.clone()).collect();
        assert_eq!(urls, expected.map(|path| format!("https://example.org/base/{path}")));
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_requests_are_not_sent() {
    let script = Script::new([Step::ok(ANY)]);
    let client = script.client();
    for id in ["", ".", ".."] {
        assert_eq!(client.files().retrieve(id).await.unwrap_err().field(), Some("id"));
    }
    let empty = chat::Request::new("", "Why?");
    let error = client.chat().create(&empty).await.unwrap_err();
    assert!(error.is_invalid_request());
    assert_eq!(error.field(), Some("model"));
    assert_eq!(error.attempts(), 0);
    let error = client.models().list().header("a b", "c").header("x", "y").await.unwrap_err();
    assert_eq!(error.field(), Some("header"));
    assert!(script.sent().is_empty());
    let trusting = client.to_builder().without_validation().build().unwrap();
    trusting.chat().create(&empty).await.unwrap();
    assert_eq!(script.sent().len(), 1);
}

/// An empty list is a response, another object is not.
#[tokio::test(start_paused = true)]
async fn lists_and_objects_are_not_guessed() {
    let script = Script::new(
        (0..9).map(|_| Step::ok("{}")).chain([Step::ok(r#"{"data":[]}"#), Step::ok(r#"{"skills":null}"#)]),
    );
    let client = &script.client();
    let errors = [
        client.files().list(&Default::default()).await.unwrap_err(),
        client.batches().list(&Default::default()).await.unwrap_err(),
        client.models().list().await.unwrap_err(),
        client.responses().files().list("r").await.unwrap_err(),
        client.async_chat().list(&Default::default()).await.unwrap_err(),
        client.skills().list(&Default::default()).await.unwrap_err(),
        client.skills().revisions("s", &Default::default()).await.unwrap_err(),
        client.browser_sessions().create().await.unwrap_err(),
        client.auth_tokens().generate(&Default::default()).await.unwrap_err(),
    ];
    assert!(errors.iter().all(|error| error.is_decode() && error.body().unwrap() == "{}"), "{errors:?}");
    assert!(client.models().list().await.unwrap().data.is_empty());
    assert!(client.skills().list(&Default::default()).await.unwrap().skills.is_empty());
}

#[tokio::test(start_paused = true)]
async fn raw_responses() {
    let script = Script::new([Step::status(200, &[("x-other", "1")], "{\"id\":\"c\", \"future\":1}")]);
    let answer = script.client().chat().create(&question()).raw().await.unwrap();
    assert_eq!(answer.value().id, "c");
    assert_eq!(answer.body(), "{\"id\":\"c\", \"future\":1}");
    let head = answer.head();
    assert_eq!((head.status().as_u16(), head.request_id(), head.retries()), (200, Some("rid-1"), 0));
    assert_eq!(head.headers()["x-other"], "1");
}

#[tokio::test(start_paused = true)]
async fn downloads() {
    let named = [("content-disposition", "attachment; filename=\"a/out.csv\""), ("content-type", "text/csv")];
    let script =
        Script::new([Step::status(200, &named, "1,2"), Step::pieces(["ab", "cd"]), Step::pieces(["abc"])]);
    let files = &script.client();
    let file = files.files().content("f").await.unwrap();
    assert_eq!((file.filename().as_deref(), file.content_type()), (Some("out.csv"), Some("text/csv")));
    assert_eq!(file.content_length(), Some(3));
    assert_eq!(file.bytes(3).await.unwrap(), "1,2");
    let chunks: Vec<_> = files.files().content("f").await.unwrap().try_collect().await.unwrap();
    assert_eq!(chunks, ["ab", "cd"]);
    let error = files.files().content("f").await.unwrap().bytes(2).await.unwrap_err();
    assert!(error.is_limit());
}

#[tokio::test(start_paused = true)]
async fn pages_follow_each_other() {
    let pages = [
        r#"{"data":[{"id":"1"},{"id":"2"}],"has_more":true,"last_id":"2"}"#,
        r#"{"data":[],"has_more":true,"last_id":"3"}"#,
        r#"{"data":[{"id":"4"}],"has_more":false,"last_id":"4"}"#,
    ];
    let script = Script::new(pages.map(Step::ok));
    let params = files::ListParams::default().limit(2_u32);
    let items: Vec<_> =
        script.client().files().list(&params).header("x-a", "1").items().try_collect().await.unwrap();
    assert_eq!(items.iter().map(|file| &*file.id).collect::<Vec<_>>(), ["1", "2", "4"]);
    let queries: Vec<_> =
        script.sent().iter().map(|sent| sent.url.split_once('?').unwrap().1.to_owned()).collect();
    assert_eq!(queries, ["limit=2", "limit=2&after=2", "limit=2&after=3"]);
    assert!(script.sent().iter().all(|sent| sent.headers["x-a"] == "1"));
}

#[tokio::test(start_paused = true)]
async fn pages_end_at_errors_and_loops() {
    let circle = r#"{"skills":[{"skill_id":"s"}],"next_page_token":"t"}"#;
    let script = Script::new([Step::ok(circle), Step::ok(circle), Step::ok(circle)]);
    let skills: Vec<_> =
        script.client().skills().list(&Default::default()).items().try_collect().await.unwrap();
    assert_eq!(skills.len(), 2);
    let script = Script::new([Step::ok(circle), Step::failed(403), Step::ok(circle)]);
    let mut items = script.client().skills().list(&Default::default()).items();
    assert!(items.try_next().await.unwrap().is_some());
    assert!(items.try_next().await.unwrap_err().is_permission_denied());
    assert!(items.try_next().await.unwrap().is_none());
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn jobs_are_polled_with_increasing_delays() {
    let jobs = [
        r#"{"id":"1","status":"CREATED"}"#,
        r#"{"id":"1","status":"IN_PROGRESS"}"#,
        r#"{"id":"1","status":"of the future"}"#,
        r#"{"id":"1","status":"FAILED","error_message":"no"}"#,
    ];
    let script = Script::new(jobs.map(Step::ok));
    let (sender, reports) = mpsc::channel();
    let waiting = script.client().async_chat().wait("1").max_interval(Duration::from_secs(2));
    let waiting = waiting.on_progress(move |job| sender.send(job.status.to_string()).unwrap());
    assert_eq!(waiting.await.unwrap().error_message.unwrap(), "no");
    assert_eq!(script.times(), [0, 1000, 2500, 4500]);
    let reports: Vec<_> = reports.iter().collect();
    assert_eq!(reports, ["CREATED", "IN_PROGRESS", "of the future", "FAILED"]);

    let script = Script::new((0..9).map(|_| Step::ok(r#"{"id":"1","status":"in_progress"}"#)));
    let waiting = script.client().batches().wait("1").deadline(Duration::from_secs(5));
    let error = waiting.await.unwrap_err();
    assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Job));
    assert_eq!(script.times(), [0, 1000, 2500, 4750]);
}

#[tokio::test]
async fn files_are_read_when_the_call_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in.jsonl");
    let script = Script::new([Step::ok(r#"{"id":"file-1"}"#)]);
    let upload = || script.client().files().create_from_path(files::Purpose::Batch, &path);
    let error = upload().await.unwrap_err();
    assert!(error.is_invalid_request() && error.field() == Some("file"), "{error}");
    assert!(!crate::support::chain(&error).contains("in.jsonl"));

    let call = upload();
    std::fs::write(&path, "{}\n").unwrap();
    assert_eq!(call.await.unwrap().id, "file-1");
    let sent = script.sent();
    assert_eq!((sent.len(), &*sent[0].url), (1, "https://example.org/base/v1/files"));
    let form = ["name=\"purpose\"\r\n\r\nbatch\r\n", "filename=\"in.jsonl\"", "\r\n\r\n{}\n\r\n--"];
    assert!(form.iter().all(|part| sent[0].body.contains(part)), "{}", sent[0].body);
}

#[tokio::test]
async fn clients_can_be_derived_from_clients() {
    let script = Script::new([Step::ok("1")]);
    let client = script
        .builder()
        .base_url("https://example.org/p?q=1")
        .default_header("x-a", "1")
        .default_header("user-agent", "agent/1")
        .default_query("b", 2)
        .build()
        .unwrap();
    let other = client.to_builder().api_key("other").default_header("x-c", "3");
    let other = other.default_header("User-Agent", "agent/2").build().unwrap();
    other.request(Method::GET, "/x").await.unwrap();
    let first = &script.sent()[0];
    assert_eq!(first.url, "https://example.org/p/x?q=1&b=2");
    for (name, value) in
        [("authorization", "Bearer other"), ("user-agent", "agent/2"), ("x-a", "1"), ("x-c", "3")]
    {
        assert_eq!(first.headers[name], value);
    }
}

#[test]
fn invalid_settings_are_rejected() {
    let builder = || Client::builder().without_environment();
    assert!(builder().build().unwrap_err().is_config());
    for key in ["", " \n", "a\nb"] {
        assert!(builder().api_key(key).build().unwrap_err().is_config(), "{key:?}");
    }
    for url in ["", "nowhere", "ftp://example.org", "https://", "/v1"] {
        assert!(builder().api_key("k").base_url(url).build().unwrap_err().is_config(), "{url:?}");
    }
    let error =
        builder().api_key("k").default_header("a b", "").default_header("x", "\n").build().unwrap_err();
    assert_eq!(error.field(), Some("header"));
}
