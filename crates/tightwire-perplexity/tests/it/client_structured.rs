//! Structured output: the schema in the request, the decoded value, and the errors of values that do not match.
#![cfg(all(feature = "client", feature = "schemars"))]

use tightwire_json::{Value, json};
use tightwire_perplexity::types::chat::{Completion, JsonSchema, Parsed, Request};
use tightwire_perplexity::types::responses;
use tightwire_perplexity::{Error, Result};

use crate::support::{Script, Step};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Planet {
    name: String,
    moons: Vec<Moon>,
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Moon {
    /// Diameter in kilometres.
    diameter: f64,
}

fn question() -> Request {
    Request::new("sonar", "Which planet?")
}

/// Sends `request`, to which the model answers with `content`. Returns the sent body, too.
async fn parse(request: &Request, content: Value) -> (Result<Parsed<Planet>>, Value) {
    let message = json!({"role": "assistant", "content": content});
    let body = json!({"id": "c", "citations": ["https://example.org"], "choices": [{"message": message}]});
    let script = Script::new([Step::status(200, &[], body.to_string())]);
    let parsed = script.client().chat().parse(request).await;
    (parsed, tightwire_json::from_str(&script.sent()[0].body).unwrap())
}

#[tokio::test]
async fn values_and_completions_are_returned() {
    for content in [
        r#"{"name": "Mars", "moons": [{"diameter": 22.5}]}"#,
        "<think>\nMars has {two}.\n</think>\n\n{\"name\": \"Mars\", \"moons\": [{\"diameter\": 22.5}]}\n",
    ] {
        let (parsed, sent) = parse(&question(), content.into()).await;
        let parsed = parsed.unwrap();
        assert_eq!(parsed.value, Planet { name: "Mars".into(), moons: vec![Moon { diameter: 22.5 }] });
        assert_eq!(parsed.completion.text(), Some(content));
        assert_eq!(parsed.completion.citations.unwrap(), ["https://example.org"]);
        let format = &sent["response_format"];
        assert_eq!(format["type"], "json_schema");
        assert_eq!(format["json_schema"]["name"], "Planet");
        let moon = &format["json_schema"]["schema"]["$defs"]["Moon"]["properties"]["diameter"];
        assert_eq!(moon["description"], "Diameter in kilometres.");
    }
}

#[tokio::test]
async fn a_format_of_the_request_is_kept() {
    let schema = JsonSchema::new(json!({"type": "object"})).name("mine");
    let (parsed, sent) = parse(&question().response_format(schema), "{}".into()).await;
    assert_eq!(sent["response_format"]["json_schema"]["name"], "mine");
    assert_eq!(parsed.unwrap_err().path(), None);
}

#[tokio::test]
async fn errors_have_the_path_and_the_response() {
    let cases: [(Value, Option<&str>); 5] = [
        (
            r#"{"name": "Mars", "moons": [{"diameter": 1}, {"diameter": "small"}]}"#.into(),
            Some("moons[1].diameter"),
        ),
        (r#"{"name": 4, "moons": []}"#.into(), Some("name")),
        ("Mars has two moons.".into(), None),
        ("".into(), None),
        (Value::Null, None),
    ];
    for (content, path) in cases {
        let error: Error = parse(&question(), content.clone()).await.0.unwrap_err();
        assert!(error.is_decode(), "{error}");
        assert_eq!(error.path(), path, "{content}");
        let response: Completion = tightwire_json::from_slice(error.body().unwrap()).unwrap();
        assert_eq!(response.citations.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn responses_of_the_agent_api_are_parsed_in_the_same_way() {
    for (status, text, expected) in [
        ("completed", r#"{"name": "Mars", "moons": []}"#, Ok("Mars")),
        (
            "completed",
            r#"{"name": "Mars", "moons": [{"diameter": "small"}]}"#,
            Err(Some("moons[0].diameter")),
        ),
        ("completed", "Mars has two moons.", Err(None)),
        ("incomplete", r#"{"name": "Ma"#, Err(None)),
    ] {
        let content = json!([{"type": "output_text", "text": text}]);
        let body = json!({"id": "r", "status": status, "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "message", "content": content}]});
        let script = Script::new([Step::status(200, &[], body.to_string())]);
        let request = responses::Request::new("perplexity/sonar", "Which planet?");
        let parsed = script.client().responses().parse::<Planet>(&request).await;
        let sent: Value = tightwire_json::from_str(&script.sent()[0].body).unwrap();
        assert_eq!(sent["response_format"]["json_schema"]["name"], "Planet");
        match parsed {
            Ok(parsed) => assert_eq!((Ok(&*parsed.value.name), &*parsed.response.id), (expected, "r")),
            Err(error) => {
                assert_eq!(Err(error.path()), expected);
                assert_eq!(
                    crate::support::chain(&error).contains("max_output_tokens"),
                    status == "incomplete"
                );
                assert_eq!(error.body().unwrap(), &body.to_string());
            }
        }
    }
    for status in ["failed", "cancelled"] {
        let body =
            json!({"id": "r", "status": status, "error": {"message": "no", "code": "c"}, "output": []});
        let script = Script::new([Step::status(200, &[], body.to_string())]);
        let request = responses::Request::new("perplexity/sonar", "Which planet?");
        let error = script.client().responses().parse::<Planet>(&request).await.unwrap_err();
        assert_eq!(
            (error.message(), error.code(), error.request_id()),
            (Some("no"), Some("c"), Some("rid-1"))
        );
    }
}
