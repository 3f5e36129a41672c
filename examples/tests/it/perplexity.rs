//! Runs what the examples of `perplexity` do, against a server in this process.
#![allow(
    clippy::duplicate_mod,
    reason = "each program has the module with the server as a module of its own"
)]

macro_rules! programs {
    ($($name:ident: $path:literal)+) => {$(
        #[path = $path]
        #[allow(dead_code, reason = "a test has a `main` of its own")]
        mod $name;
    )+};
}

programs! {
    perplexity_api: "../../perplexity_api/mod.rs"
    perplexity_async: "../../perplexity_async.rs"
    perplexity_chat: "../../perplexity_chat.rs"
    perplexity_repl: "../../perplexity_repl.rs"
    perplexity_search: "../../perplexity_search.rs"
    perplexity_stream: "../../perplexity_stream.rs"
    perplexity_structured: "../../perplexity_structured.rs"
    perplexity_tools: "../../perplexity_tools.rs"
}

use std::time::Duration;

use perplexity_api::Api;

#[tokio::test]
async fn a_question_is_answered() {
    let api = Api::local().await.unwrap();
    let answer = perplexity_chat::ask(&api.client, "Why?").await.unwrap();
    assert_eq!(answer.text(), Some("You said: Why?"));
    // As `examples/README.md` shows it.
    assert_eq!(answer.citations.unwrap(), ["https://example.org/1", "https://example.org/2"]);
}

#[tokio::test]
async fn a_stream_is_written_and_put_together() {
    let api = Api::local().await.unwrap();
    let mut out = Vec::new();
    let answer = perplexity_stream::ask(&api.client, "Why is the sky blue?", &mut out).await.unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "You said: Why is the sky blue?\n");
    assert_eq!(answer.text(), Some("You said: Why is the sky blue?"));
    assert!(answer.usage.is_some());
}

#[tokio::test]
async fn a_search_finds_pages() {
    let api = Api::local().await.unwrap();
    let found = perplexity_search::search(&api.client, vec!["a".into(), "b".into()]).await.unwrap();
    assert!(found.results.len() >= 2);
    assert!(found.results.iter().all(|page| page.url.starts_with("https://")));
}

#[tokio::test]
async fn an_answer_meets_its_schema() {
    let api = Api::local().await.unwrap();
    let answer = perplexity_structured::moons(&api.client, "Jupiter").await.unwrap();
    assert_eq!(answer.planet, "text");
    assert_eq!(answer.moons.len(), 1);
    assert_eq!(answer.moons[0].diameter, 1.5);
}

#[tokio::test]
async fn a_job_is_waited_for() {
    let api = Api::local().await.unwrap();
    let pause = Duration::from_millis(1);
    let done = perplexity_async::research(&api.client, "Tea?", pause).await.unwrap();
    assert_eq!(done.response.unwrap().text(), Some("You said: Tea?"));
}

#[tokio::test]
async fn a_tool_is_called_before_the_answer() {
    let api = Api::local().await.unwrap();
    let (answer, calls) = perplexity_tools::ask(&api.client, "How is the weather?").await.unwrap();
    assert_eq!((&*answer, calls), ("You said: How is the weather?", 1));
}

/// The output in `examples/README.md`.
#[tokio::test]
async fn the_end_of_the_input_ends_a_conversation() {
    let api = Api::local().await.unwrap();
    let mut out = Vec::new();
    perplexity_repl::talk(&api.client, "sonar", &b"Why is the sky blue?\n"[..], &mut out).await.unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "> You said: Why is the sky blue?\n> \n");
}

#[tokio::test]
async fn a_conversation_goes_on() {
    let api = Api::local().await.unwrap();
    let input = b"Hello\n\n/help\n/model none\nLost\n/model sonar-pro\n/new\nAgain\n/quit\nNever\n";
    let mut out = Vec::new();
    perplexity_repl::talk(&api.client, "sonar", &input[..], &mut out).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    let told: Vec<_> = out.lines().map(|line| line.trim_start_matches("> ")).collect();
    assert_eq!(told[..2], ["You said: Hello", "commands: /new, /model NAME, /quit"], "{out}");
    // There is no such model.
    assert!(out.contains("\n400 bad_request: "), "{out}");
    assert!(out.ends_with("You said: Again\n> \n"), "{out}");
    assert!(!out.contains("Never"));
}
