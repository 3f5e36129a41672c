//! Allocations of reading a stream: per chunk, only those of the decoded chunk.
#![cfg(feature = "client")]

use futures_util::FutureExt;
use http::Method;
use tightwire_perplexity::stream::{EventStream, StreamItem};
use tightwire_perplexity::types::chat::{Completion, DeltaChunk};

use crate::support::{Script, Step};
use test_support::counting::allocations;

/// A number, which does not allocate.
#[derive(Debug, serde::Deserialize)]
struct Number(#[allow(dead_code, reason = "the test is about what surrounds it")] u64);

impl StreamItem for Number {}

async fn open<T: StreamItem>(body: &str) -> EventStream<T> {
    let script = Script::new([Step::pieces([body])]);
    let stream = script.client().request(Method::GET, "/x").events::<T>().await.unwrap();
    // The bodies end without `[DONE]`.
    stream.allow_partial()
}

/// Returns the bytes allocated after the first item, and the number of those items. The first item sets up
/// the buffers.
async fn of_stream<T: StreamItem>(body: &str) -> (usize, usize) {
    let mut stream = open::<T>(body).await;
    stream.next().await.unwrap().unwrap();
    let (count, parts) = allocations(|| {
        let mut parts = 0;
        // The whole body is available, so no poll is pending.
        while stream.next().now_or_never().flatten().is_some() {
            parts += 1;
        }
        parts
    });
    (count, parts)
}

#[tokio::test(start_paused = true)]
async fn events_allocate_only_their_items() {
    assert_eq!(of_stream::<Number>(&"data: 7\n\n".repeat(101)).await, (0, 100));
}

#[tokio::test(start_paused = true)]
async fn deltas_only_does_not_allocate_repeated_messages() {
    let part = |text: &str| {
        let delta =
            "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"message\":{\"role\":\"assistant\",";
        format!("data: {delta}\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let long = part(&"some text ".repeat(1000)).repeat(101);
    let (short, _) = of_stream::<DeltaChunk>(&part("").repeat(101)).await;
    let (deltas, parts) = of_stream::<DeltaChunk>(&long).await;
    assert_eq!((deltas, parts), (short, 100));
    let (whole, _) = of_stream::<Completion>(&long).await;
    assert!(deltas <= 200 && deltas < whole, "{deltas} of {whole}");
}
