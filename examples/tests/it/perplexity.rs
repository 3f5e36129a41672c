//! Runs the code of the `perplexity_*` examples against a mock server in this process.
#![allow(clippy::duplicate_mod, reason = "each example includes the module perplexity_api")]

macro_rules! programs {
    ($($name:ident: $path:literal)+) => {$(
        #[path = $path]
        #[allow(dead_code, reason = "the example's `main` is unused here")]
        mod $name;
    )+};
}

programs! {
    perplexity_api: "../../perplexity_api/mod.rs"
    perplexity_background: "../../perplexity_background.rs"
    perplexity_repl: "../../perplexity_repl.rs"
    perplexity_search: "../../perplexity_search.rs"
    perplexity_stream: "../../perplexity_stream.rs"
    perplexity_structured: "../../perplexity_structured.rs"
    perplexity_tools: "../../perplexity_tools.rs"
    perplexity_upload: "../../perplexity_upload.rs"
}

use std::time::Duration;

#[tokio::test]
async fn stream_is_written_and_accumulated() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let mut out = Vec::new();
    let answer = perplexity_stream::ask(&client, "Why is the sky blue?", &mut out).await.unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "You said: Why is the sky blue?\n");
    assert_eq!(answer.output_text(), "You said: Why is the sky blue?");
    // As shown in README.md.
    let pages: Vec<_> = answer.sources().into_iter().map(|page| page.url).collect();
    assert_eq!(pages, ["https://example.org/1", "https://example.org/2"]);
    assert_eq!(answer.usage.unwrap().total_tokens, 12);
}

#[tokio::test]
async fn search_returns_results() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let found = perplexity_search::search(&client, vec!["a".into(), "b".into()]).await.unwrap();
    assert!(found.results.len() >= 2);
    assert!(found.results.iter().all(|page| page.url.starts_with("https://")));
}

#[tokio::test]
async fn structured_answer_matches_the_schema() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let mut complete = 0;
    let answer = perplexity_structured::moons(&client, "Jupiter", |_| complete += 1).await.unwrap();
    assert_eq!(complete, answer.moons.len());
    assert_eq!(answer.planet, "text");
    assert_eq!(answer.moons.len(), 1);
    assert_eq!(answer.moons[0].diameter, 1.5);
}

#[tokio::test]
async fn background_run_is_polled() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let pause = Duration::from_millis(1);
    let done = perplexity_background::research(&client, "Tea?", pause).await.unwrap();
    assert_eq!(done.output_text(), "You said: Tea?");
}

#[tokio::test]
async fn upload_reports_its_progress() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "{}\n".repeat(50_000)).unwrap();
    let (sender, reports) = std::sync::mpsc::channel();
    let progress = move |sent, total| sender.send((sent, total)).unwrap();
    let uploaded = perplexity_upload::upload(&client, file.path(), progress).await.unwrap();
    assert_eq!(uploaded.bytes, 150_000);
    let (sent, total) = reports.iter().last().unwrap();
    assert!(sent == total && total > uploaded.bytes);
}

#[tokio::test]
async fn tool_is_called_before_the_answer() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let (answer, calls) = perplexity_tools::ask(&client, "How is the weather?").await.unwrap();
    assert_eq!((&*answer, calls), ("You said: How is the weather?", 1));
}

/// The output shown in README.md.
#[tokio::test]
async fn end_of_input_ends_the_conversation() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let mut out = Vec::new();
    perplexity_repl::talk(&client, "perplexity/sonar", &b"Why is the sky blue?\n"[..], &mut out)
        .await
        .unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "> You said: Why is the sky blue?\n> \n");
}

#[tokio::test]
async fn conversation_continues_after_errors_and_commands() {
    let (client, _server) = perplexity_api::local().await.unwrap();
    let input = b"Hello\n\n/help\n/model none\nLost\n/model openai/gpt-5\n/new\nAgain\n/quit\nNever\n";
    let mut out = Vec::new();
    perplexity_repl::talk(&client, "perplexity/sonar", &input[..], &mut out).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    let told: Vec<_> = out.lines().map(|line| line.trim_start_matches("> ")).collect();
    assert_eq!(told[..2], ["You said: Hello", "commands: /new, /model NAME, /quit"], "{out}");
    // The model does not exist.
    assert!(out.contains(" (400 bad_request"), "{out}");
    assert!(out.ends_with("You said: Again\n> \n"), "{out}");
    assert!(!out.contains("Never"));
}
