//! Bodies split into chunks of any size: same items, same errors, and memory linear in the size of the body.
#![cfg(feature = "client")]

use std::fmt::Debug;
use std::time::Duration;

use futures_util::StreamExt;
use test_support::counting::usage;
use test_support::{in_pieces, limits};
use tightwire_perplexity::stream::{EventStream, Malformed};
use tightwire_perplexity::types::chat::{Completion, Request};
use tightwire_perplexity::{Call, Client};
use tokio::time::Instant;

use crate::support::{Script, Step, delta};

/// Runs a future on this thread, whose allocations are counted.
fn run<F: Future>(future: F) -> F::Output {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

async fn open(pieces: &[&[u8]]) -> EventStream<Completion> {
    let script = Script::new([Step::byte_pieces(pieces.iter().copied())]);
    script.client().chat().stream(&Request::new("sonar", "hey")).await.unwrap()
}

/// Returns the texts of the items and errors, and whether the response is complete.
fn items(
    pieces: &[&[u8]],
    configure: impl Fn(EventStream<Completion>) -> EventStream<Completion>,
) -> Vec<String> {
    run(async {
        let mut stream = configure(open(pieces).await);
        let mut seen = Vec::new();
        while let Some(item) = stream.next().await {
            seen.push(match item {
                Ok(item) => item.delta_text().unwrap_or_default().to_owned(),
                Err(error) => error.to_string(),
            });
        }
        seen.push(format!("complete: {}", stream.finished_cleanly()));
        seen
    })
}

#[test]
fn streams_do_not_depend_on_chunk_boundaries() {
    let long = "x".repeat(70_000);
    let body = [&*delta("Hel"), ": comment\n\nid: 7\n\n", &delta(&long), &delta("lo")].concat();
    let largest = delta(&long).len();
    for end in
        ["data: [DONE]\n\n", "data: [DONE]", "", "data: {\"choices\":", "data: {\"id\": cut\n\n", "\n: x"]
    {
        let whole = [&*body, end].concat();
        for input in [&whole, whole.trim_end()] {
            for malformed in [Malformed::End, Malformed::Skip] {
                let seen = in_pieces(input.as_bytes(), |pieces| {
                    items(pieces, |stream| stream.with_malformed(malformed))
                });
                assert_eq!(seen[..3], ["Hel", &*long, "lo"]);
                let partial = in_pieces(input.as_bytes(), |pieces| {
                    items(pieces, |stream| stream.with_malformed(malformed).allow_partial())
                });
                assert_eq!(partial[..3], seen[..3]);
                assert!(seen.len() - partial.len() <= 1);
            }
            for limit in limits(largest) {
                let seen = in_pieces(input.as_bytes(), |pieces| {
                    items(pieces, |stream| stream.with_max_event_size(limit))
                });
                let is_too_large = seen.iter().any(|text| text.contains("exceeds the limit"));
                assert!(is_too_large || limit >= largest - 10, "{limit}");
            }
        }
    }
}

/// Returns the result of a call whose response has this body, in chunks of any size.
fn received<T: PartialEq + Debug>(body: &str, status: u16, call: impl AsyncFn(Client) -> T) -> T {
    in_pieces(body.as_bytes(), |pieces| {
        let step = Step::byte_pieces(pieces.iter().copied()).with_status(status);
        run(async { call(Script::new([step]).client()).await })
    })
}

/// Error bodies and response bodies, with limits around their size.
#[test]
fn bodies_do_not_depend_on_chunk_boundaries() {
    let text = "y".repeat(100_000);
    let body = format!("{{\"id\":\"c\",\"model\":\"sonar\",\"choices\":[],\"object\":\"{text}\"}}");
    let request = &Request::new("sonar", "hey");
    for limit in limits(body.len()) {
        let fits = limit >= body.len();
        let outcome = received(&body, 200, async |client| {
            let client = client.to_builder().max_body_size(limit).build().unwrap();
            let answer = client.chat().create(request).await;
            answer.map(|answer| answer.id).map_err(|error| error.is_limit())
        });
        assert_eq!(outcome, if fits { Ok("c".to_owned()) } else { Err(true) });
        let outcome = received(&body, 200, async |client| {
            let download = client.request(http::Method::GET, "/x").download().await.unwrap();
            download.bytes(limit).await.map_err(|error| error.is_limit())
        });
        assert_eq!(outcome, if fits { Ok(body.clone().into()) } else { Err(true) });
    }
    let refused = received(&body, 400, async |client| {
        client.chat().create(request).await.unwrap_err().body().cloned().unwrap()
    });
    assert_eq!(refused, body);
    let file = received(&body, 200, async |client| {
        let chunks: Vec<_> = client.files().content("a").await.unwrap().collect().await;
        chunks.into_iter().map(Result::unwrap).collect::<Vec<_>>().concat()
    });
    assert_eq!(file, body.as_bytes());
}

/// Returns the bytes allocated by reading a body in small chunks.
fn allocated(status: u16, length: usize) -> usize {
    let (step, feed) = Step::fed();
    let script = Script::new([step.with_status(status)]);
    run(async {
        // Allocate the chunks here, so that the call only reads them.
        for _ in 0..length / 64 {
            feed.send(&"z".repeat(64));
        }
        drop(feed);
        let call = script.client().request(http::Method::GET, "/x").undecoded().send();
        let mut call = std::pin::pin!(call);
        let mut bytes = 0;
        std::future::poll_fn(|cx| {
            let (used, polled) = usage(|| call.as_mut().poll(cx));
            bytes += used.bytes;
            polled.map(drop)
        })
        .await;
        bytes
    })
}

#[test]
fn memory_is_linear_in_the_body_size() {
    for status in [200, 400] {
        let (small, large) = (allocated(status, 128 << 10), allocated(status, 512 << 10));
        assert!(small <= 3 * (128 << 10) + (64 << 10), "{small} for status {status}");
        assert!(10 * large <= 44 * small, "{small} and {large} for status {status}");
    }
}

/// Deadlines apply while an error body is read.
#[test]
fn error_body_is_read_within_the_deadline() {
    type Limit = fn(Call<Completion>) -> Call<Completion>;

    let elapsed = |limit: Limit| {
        run(async {
            let (step, feed) = Step::fed();
            feed.send("{\"error\":{\"message\":\"cut");
            let script = Script::new([step.with_status(400).after(Duration::from_millis(600))]);
            let start = Instant::now();
            let client = script.client();
            let request = Request::new("sonar", "hey");
            let error = limit(client.chat().create(&request)).await.unwrap_err();
            // The part that arrived is used.
            assert!(error.is_bad_request() && error.body().unwrap().starts_with(b"{\"error\""));
            drop(feed);
            start.elapsed()
        })
    };
    assert_eq!(elapsed(|call| call.total_timeout(Duration::from_secs(1))), Duration::from_secs(1));
    assert_eq!(elapsed(|call| call.timeout(Duration::from_secs(2))), Duration::from_secs(2));
    assert_eq!(elapsed(|call| call), Duration::from_millis(5600));
    // With no time left, available data is still read.
    assert_eq!(elapsed(|call| call.total_timeout(Duration::from_millis(601))), Duration::from_millis(601));
}
