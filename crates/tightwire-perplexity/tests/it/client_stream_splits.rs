//! Unusual streams, split at every byte: same text without repetition, same response, same end.
#![cfg(feature = "client")]

use futures_util::StreamExt;
use tightwire_perplexity::stream::{Accumulate, EventStream};
use tightwire_perplexity::types::{chat, responses};
use tightwire_perplexity::{Call, Client};

use crate::support::{Script, Step, delta};

/// Observable result of a stream.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Pieces of the text.
    pieces: Vec<String>,
    /// Error, if any.
    error: Option<String>,
    /// Whether the response was complete.
    complete: bool,
    /// The accumulated response as JSON, or the error.
    whole: String,
}

async fn open<T: Accumulate>(call: fn(&Client) -> Call<EventStream<T>>, body: &[&[u8]]) -> EventStream<T> {
    call(&Script::new([Step::byte_pieces(body.iter().copied())]).client()).await.unwrap()
}

async fn seen<T: Accumulate<Whole: serde::Serialize>>(
    call: fn(&Client) -> Call<EventStream<T>>,
    body: &[&[u8]],
) -> Seen {
    let mut text = open(call, body).await.text();
    let (mut pieces, mut error) = (Vec::new(), None);
    while let Some(piece) = text.next().await {
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(reason) => error = Some(reason.to_string()),
        }
    }
    let whole = match open(call, body).await.accumulate().await {
        Ok(whole) => tightwire_json::to_string(&whole).unwrap(),
        Err(reason) => reason.to_string(),
    };
    Seen { pieces, error, complete: text.get_ref().finished_cleanly(), whole }
}

/// Splits `body` at every byte and into single bytes, and compares the results.
async fn every_split<T: Accumulate<Whole: serde::Serialize>>(
    call: fn(&Client) -> Call<EventStream<T>>,
    body: &str,
) -> Seen {
    let bytes = body.as_bytes();
    let expected = seen(call, &[bytes]).await;
    for split in 1..bytes.len() {
        let (head, tail) = bytes.split_at(split);
        assert_eq!(seen(call, &[head, tail]).await, expected, "{body:?} at {split}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(seen(call, &single).await, expected, "{body:?} in single bytes");
    expected
}

fn ask(client: &Client) -> Call<EventStream<chat::Completion>> {
    client.chat().stream(&chat::Request::new("sonar", "Say hello."))
}

fn ask_agent(client: &Client) -> Call<EventStream<responses::Event>> {
    client.responses().stream(&responses::Request::new("openai/gpt-5", "Say hello."))
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// A chunk that repeats the whole text so far and has no delta.
fn message(text: &str) -> String {
    event(&format!(r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}}}}]}}"#))
}

const DONE: &str = "data: [DONE]\n\n";

/// Checks the pieces, and whether the response is complete.
#[track_caller]
fn assert_text(seen: &Seen, pieces: &[&str], complete: bool) {
    assert_eq!(seen.pieces, pieces);
    assert_eq!((&seen.error, seen.complete), (&None, complete), "{pieces:?}");
    assert!(seen.whole.contains(&format!("\"content\":\"{}\"", pieces.concat())), "{}", seen.whole);
}

#[tokio::test(start_paused = true)]
async fn repeated_texts_are_returned_once() {
    let body = [message("Hel"), message("Hel"), message("Hello \u{e9}\u{1f600}"), DONE.into()].concat();
    assert_text(&every_split(ask, &body).await, &["Hel", "lo \u{e9}\u{1f600}"], true);
    // Empty deltas make no difference.
    let part = |text: &str| message(text).replace("\"message\"", "\"delta\":{\"content\":\"\"},\"message\"");
    let body = [part(""), part("Hel"), part("Hello"), DONE.into()].concat();
    assert_text(&every_split(ask, &body).await, &["Hel", "lo"], true);
}

#[tokio::test(start_paused = true)]
async fn deltas_and_repeated_texts_can_be_mixed() {
    let both = |add: &str, so_far: &str| {
        delta(add).replace("\"delta\"", &format!("\"message\":{{\"content\":\"{so_far}\"}},\"delta\""))
    };
    let body = [both("Hel", "Hel"), both("lo", "Hello"), DONE.into()].concat();
    assert_text(&every_split(ask, &body).await, &["Hel", "lo"], true);
    let body = [message("Hel"), delta("lo"), message("Hello!")].concat();
    let seen = every_split(ask, &body).await;
    assert_eq!(seen.pieces, ["Hel", "lo", "!"]);
    // The last chunk of a concise stream has the whole message.
    let last = message("Hello").replace("{\"choices\"", "{\"object\":\"chat.completion.done\",\"choices\"");
    let body = [delta("Hel"), delta("lo"), last].concat();
    assert_text(&every_split(ask, &body).await, &["Hel", "lo"], true);
}

#[tokio::test(start_paused = true)]
async fn chunks_without_text_are_skipped() {
    let body = [
        event(r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#).as_str(),
        ": comment\n\nevent: ping\n\nid: 7\n\n\n\ndata:\n\nevent: keepalive\ndata: {}\n\nretry: 5\n\n",
        &delta("Hel"),
        &event(r#"{"choices":[]}"#),
        &event(r#"{"choices":[{"index":0,"delta":{"content":null},"message":null}],"usage":null}"#),
        "event: message\nid: 8\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n",
    ]
    .concat();
    assert_text(&every_split(ask, &body).await, &["Hel", "lo"], true);
    for end in ["\r\n", "\r"] {
        let body = format!("\u{feff}{}", body.replace('\n', end));
        assert_text(&every_split(ask, &body).await, &["Hel", "lo"], true);
    }
}

#[tokio::test(start_paused = true)]
async fn response_without_an_end_is_incomplete() {
    let incomplete = "stream ended before the response was complete (request id rid-1)";
    // A truncated event is dropped; one that lacks only its empty line is not.
    let cut = [delta("Hel").as_str(), delta("lo").trim_end(), "\n\ndata: {\"choices\":"].concat();
    let unterminated = [delta("Hel").as_str(), delta("lo").trim_end()].concat();
    for body in [[delta("Hel"), delta("lo")].concat(), cut, unterminated] {
        let seen = every_split(ask, &body).await;
        assert_eq!(seen.pieces, ["Hel", "lo"]);
        assert_eq!((seen.error.as_deref(), &*seen.whole), (Some(incomplete), incomplete));
        assert!(!seen.complete);
    }
    let body = [delta("Hello").as_str(), DONE, &delta("never"), "event: error\ndata: {}\n\n"].concat();
    assert_text(&every_split(ask, &body).await, &["Hello"], true);
}

#[tokio::test(start_paused = true)]
async fn errors_end_the_text() {
    for failure in [
        "event: error\ndata: {\"error\":{\"message\":\"broken\",\"code\":500}}\n\n",
        "event: error\ndata: broken\n\n",
        "data: {\"error\":{\"message\":\"broken\"}}\n\n",
        "data: {\"error\":\"broken\"}\n\n",
    ] {
        let seen = every_split(ask, &[&delta("Hel"), failure, &delta("never")].concat()).await;
        assert_eq!(seen.pieces, ["Hel"]);
        assert_eq!(seen.error.unwrap(), "broken (error event, request id rid-1)");
        assert!(!seen.complete);
    }
    let seen = every_split(ask, &[&delta("Hel"), "data: {\"id\": cut\n\n", &delta("never")].concat()).await;
    assert_eq!(seen.pieces, ["Hel"]);
    assert_eq!(seen.error.unwrap(), "response has an unexpected format at `id` (request id rid-1)");
}

#[tokio::test(start_paused = true)]
async fn text_is_that_of_the_first_choice() {
    let other = |text: &str| delta(text).replace("\"index\":0", "\"index\":1");
    let body = [other("Bon"), delta("Hel"), other("jour"), delta("lo"), DONE.into()].concat();
    let seen = every_split(ask, &body).await;
    assert_eq!(seen.pieces, ["Hel", "lo"]);
    assert!(seen.whole.contains("Bonjour"), "{}", seen.whole);
}

#[tokio::test(start_paused = true)]
async fn text_sent_only_in_the_last_event() {
    let last = "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":3,\"response\":\
                {\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":\
                [{\"type\":\"output_text\",\"text\":\"Hello\"}]}]}}\n\n";
    let first = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\
                 \"sequence_number\":2,\"item_id\":\"m\",\"delta\":\"Hello\"}\n\n";
    for body in [last.to_owned(), [first, "event: ping\n\n", last].concat()] {
        let seen = every_split(ask_agent, &body).await;
        assert_eq!((seen.pieces.concat().as_str(), seen.error, seen.complete), ("Hello", None, true));
    }
}

#[tokio::test(start_paused = true)]
async fn text_of_items_read_before_is_not_returned() {
    let body = [message("Hel"), message("Hello"), delta("!"), DONE.into()].concat();
    let mut stream = open(ask, &[body.as_bytes()]).await;
    stream.next().await.unwrap().unwrap();
    let rest: Vec<_> = stream.text().map(Result::unwrap).collect().await;
    assert_eq!(rest, ["!"], "what was given before is not known, so that only additions count");
}
