//! Runs the cases of `cargo xtask conformance perplexity` with the recording of this crate.
#![cfg(feature = "client")]

use crate::replies;

#[test]
fn recorded_responses_decode_as_expected() {
    let report = replies::run(include_str!("../data/perplexity-wire.jsonl")).unwrap();
    assert_eq!(report.failures, []);
    assert!(report.passed > 180, "{} passed", report.passed);
    assert!(report.without_document < 30, "{} without a document", report.without_document);
}

/// Runs a recording of one response.
fn run(method: &str, target: &str, status: u16, kind: &str, body: &str) -> replies::Report {
    let line = tightwire_json::json!({
        "client": "none", "scenario": "made up", "attempt": 0,
        "request": {"method": method, "target": target},
        "response": {"status": status, "headers": [["content-type", kind]], "body": body},
    });
    replies::run(&line.to_string()).unwrap()
}

const JSON: &str = "application/json";

/// Endpoints of the client that the recording does not cover.
#[test]
fn endpoints_without_recording_have_types() {
    let file = r#"{"id":"f","object":"file","bytes":1,"created_at":2,"filename":"a","purpose":"batch"}"#;
    let page = format!(r#"{{"object":"list","data":[{file}],"has_more":false}}"#);
    let chat = r#"{"id":"c","model":"sonar","choices":[]}"#;
    for (method, target, body) in [
        ("POST", "/v1/files", file),
        ("GET", "/v1/files?limit=1", &page),
        ("GET", "/v1/files/f", file),
        ("POST", "/v1/sonar", chat),
    ] {
        let report = run(method, target, 200, JSON, body);
        assert_eq!((report.failures, report.passed), (vec![], 1), "{method} {target}");
    }
}

#[test]
fn failures_are_reported() {
    for (target, status, kind, body, problem) in [
        ("/search", 200, JSON, r#"{"id":"a","results":1}"#, "expected"),
        ("/v1/nothing", 200, JSON, "{}", "no type for this endpoint"),
        ("/search", 400, JSON, r#"{"detail":[{"loc":"body","msg":"m"}]}"#, "message \"m\", expected"),
        ("/chat/completions", 200, "text/event-stream", "data: {\"id\":1}\n\n", "id"),
    ] {
        let report = run("POST", target, status, kind, body);
        let [(id, found)] = &report.failures[..] else { panic!("{target} does not fail") };
        assert_eq!(id, "made up of none, attempt 0");
        assert!(found.contains(problem), "{found}");
        assert_eq!(report.passed, 0);
    }
    assert_eq!(run("POST", "/v1/files/f/content", 200, "application/octet-stream", "a").without_document, 1);
    assert!(replies::run("{}").is_err());
}
