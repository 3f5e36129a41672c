//! Scenario files.

use proptest::prelude::*;
use tightwire_json::json;
use tightwire_perplexity_mock::{Error, Scenario};

use crate::support::{hello, start};

#[tokio::test]
async fn all_keys_of_a_file_take_effect() {
    let scenario = Scenario::from_toml(
        r#"
        auth = { keys = ["test-key"] }
        unmatched = "not-found"
        chat = true

        [[rule]]
        method = "POST"
        path = "/chat/*"
        headers = { x-case = "*" }
        query = { a = "b" }
        body = { "/model" = "sonar", "/messages/0/role" = "user" }
        cycle = true
        answer = [
            { status = 429, headers = { retry-after-ms = "20" }, json = { error = "slow" }, times = 2 },
            { api = true },
        ]

        [[rule]]
        path = "/text"
        answer = [
            { text = "plain" },
            { base64 = "AAEC", headers = { content-type = "application/octet-stream" } },
            { status = 204 },
            { json = [1], chunked = true },
        ]

        [[rule]]
        path = "/events"

        [[rule.answer]]
        events = [
            { comment = "hi" },
            { event = "a", id = "1", retry = 5, data = "x\ny" },
            { json = { b = true } },
            { raw = "data: [DONE]\r\n\r\n" },
        ]
        cut = 3
        pause_ms = 1
        "#,
    )
    .unwrap();
    let (_mock, client) = start(scenario).await;

    let target = "/chat/completions?a=b";
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let answer = client.send("POST", target, &[("x-case", "1")], hello().to_string()).await.unwrap();
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses, [429, 429, 200, 429]);
    for (target, case, body) in [
        ("/chat/completions", "x-case", hello()),
        (target, "x-other", hello()),
        (target, "x-case", json!({})),
    ] {
        assert_eq!(client.send("POST", target, &[(case, "1")], body.to_string()).await.unwrap().status, 404);
    }

    let text = client.get("/text").await;
    assert_eq!((text.text(), text.header("content-type")), ("plain", Some("text/plain")));
    let bytes = client.get("/text").await;
    assert_eq!((&bytes.body[..], bytes.header("content-length")), (&[0, 1, 2][..], Some("3")));
    let empty = client.get("/text").await;
    assert_eq!((empty.status.as_u16(), empty.header("content-length")), (204, None));
    let chunked = client.get("/text").await;
    assert_eq!((chunked.text(), chunked.header("transfer-encoding")), ("[1]", Some("chunked")));

    let expected =
        ": hi\n\nevent: a\nid: 1\nretry: 5\ndata: x\ndata: y\n\ndata: {\"b\":true}\n\ndata: [DONE]\r\n\r\n";
    assert_eq!(client.get("/events").await.text(), expected);
}

#[test]
fn errors_have_line_and_column() {
    let rule = "[[rule]]\npath = \"/\"\n";
    for (text, place) in [
        ("auth = ", (1, 8)),
        ("auth = \"none\"", (1, 8)),
        ("auth = 1", (1, 8)),
        ("unmatched = \"x\"", (1, 13)),
        ("rules = []", (1, 1)),
        ("\n[[rule]]\nanswer = [{}]", (2, 1)),
        ("[[rule]]\npath = \"v1\"\nanswer = [{}]", (2, 8)),
        ("[[rule]]\npath = \"/**/a\"\nanswer = [{}]", (2, 8)),
        (&format!("{rule}answer = []"), (3, 10)),
        (&format!("{rule}method = \"a b\"\nanswer = [{{}}]"), (3, 10)),
        (&format!("{rule}headers = {{ \"a b\" = \"\" }}\nanswer = [{{}}]"), (3, 21)),
        (&format!("{rule}body = {{ model = 1 }}\nanswer = [{{}}]"), (3, 18)),
        (&format!("{rule}answer = [{{ text = \"\", api = true }}]"), (3, 11)),
        (&format!("{rule}answer = [{{ status = 100 }}]"), (3, 22)),
        (&format!("{rule}answer = [{{ status = 1000 }}]"), (3, 22)),
        (&format!("{rule}answer = [{{ times = 0 }}]"), (3, 21)),
        (&format!("{rule}answer = [{{ cut = 0 }}]"), (3, 19)),
        (&format!("{rule}answer = [{{ base64 = \"*\" }}]"), (3, 22)),
        (&format!("{rule}answer = [{{ headers = {{ a = \"\\n\" }} }}]"), (3, 29)),
        (&format!("{rule}answer = [{{ chunked = true, content_length = 1 }}]"), (3, 11)),
        (&format!("{rule}answer = [{{ steps = [{{ at = \"tail\", effect = \"reset\" }}] }}]"), (3, 29)),
        (&format!("{rule}answer = [{{ steps = [{{ at = 1, effect = \"explode\" }}] }}]"), (3, 41)),
        (&format!("{rule}answer = [{{ steps = [{{ at = 1, effect = \"wait\" }}] }}]"), (3, 22)),
        (&format!("{rule}answer = [{{ steps = [{{ at = 1, effect = \"stall\", ms = 1 }}] }}]"), (3, 22)),
        (&format!("{rule}answer = [{{ events = [{{ }}] }}]"), (3, 23)),
        (&format!("{rule}answer = [{{ events = [{{ data = \"\", json = 1 }}] }}]"), (3, 23)),
        (&format!("{rule}answer = [{{ events = [{{ raw = \"\", id = \"1\" }}] }}]"), (3, 23)),
    ] {
        let error = Scenario::from_toml(text).expect_err(text);
        let Error::Scenario { line, column, .. } = error else { panic!("{error}: {text}") };
        assert_eq!((line, column), place, "{text}: {error}");
        assert!(error.to_string().contains(&format!("line {}, column {}", place.0, place.1)));
    }
}

#[test]
fn unreadable_file_is_an_error() {
    let error = Scenario::load("no/such/file.toml").unwrap_err();
    assert!(matches!(error, Error::Read(_)) && std::error::Error::source(&error).is_some());
}

/// Fragments of scenario files in random order.
const WORDS: &str = r#"(\[\[rule\]\]|path|answer|steps|auth| = |"/"|\[|\]|\{|\}|,|[0-9a-z\n]){0,20}"#;

proptest! {
    /// Parsing an arbitrary text returns a scenario, or an error whose position is inside the text.
    #[test]
    fn any_text_is_parsed_without_a_panic(text in WORDS) {
        if let Err(error) = Scenario::from_toml(&text) {
            let Error::Scenario { line, column, .. } = error else { panic!("{error}") };
            prop_assert!(line <= text.matches('\n').count() + 1 && column <= text.len() + 1);
        }
    }
}
