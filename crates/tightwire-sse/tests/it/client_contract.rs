//! Decoding by the client over a real connection: all decoder cases. Requests, statuses and reconnection are in
//! `client`.
#![cfg(feature = "reqwest")]

use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::Client;
use tightwire_sse::{Backoff, EventSource, Message};

use crate::cases;
use crate::cases::{Case, Expected};
use crate::server::{Server, bounded};

/// Messages and state of the client after one stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct Received {
    events: Vec<Expected>,
    comments: Vec<String>,
    last_event_id: String,
}

/// HTTP client of all streams. Creating one is slow, because it reads the certificates of the system. Connections are
/// not reused.
static CLIENT: LazyLock<Client> =
    LazyLock::new(|| Client::builder().pool_max_idle_per_host(0).build().unwrap());

/// Sends one stream in these chunks and receives it to its end.
async fn receive(server: &mut Server, chunks: &[&[u8]], seed: &str, comments: bool) -> Received {
    let builder = EventSource::builder(server.url("/")).client(CLIENT.clone()).last_event_id(seed);
    let builder = builder.backoff(Backoff::new().max_attempts(0));
    let mut source = if comments { builder.report_comments() } else { builder }.build().unwrap();
    let serve = async {
        let body = server.accept().await.open();
        for chunk in chunks {
            body.send(Bytes::copy_from_slice(chunk));
        }
    };
    let client = async {
        let mut received = Received::default();
        loop {
            let Some(message) = source.next().await else {
                received.last_event_id = source.last_event_id().to_owned();
                return received;
            };
            match message {
                Ok(Message::Open { .. }) => {}
                Ok(Message::Event(event)) => received.events.push(event.as_ref().into()),
                Ok(Message::Comment(text)) => received.comments.push(text),
                Ok(other) => panic!("{other:?}"),
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    bounded(async { tokio::join!(serve, client) }).await.1
}

/// Returns a few chunkings of a case, each chunk is one of the response body. More would not test more than the tests
/// of the decoder, because the network may join chunks.
fn chunkings(case: &Case) -> Vec<Vec<&[u8]>> {
    let mut chunkings = vec![vec![&*case.input]];
    if case.input.len() <= 512 {
        chunkings.extend([1, 2].map(|size| case.input.chunks(size).collect()));
    }
    chunkings.extend(case.explicit_chunks());
    // An empty chunk would end the chunked body.
    chunkings.iter_mut().for_each(|chunks| chunks.retain(|chunk| !chunk.is_empty()));
    chunkings
}

#[tokio::test]
async fn decoder_cases_over_http() {
    let mut server = Server::start();
    let cases = cases::load();
    assert!(cases.len() >= 238, "{} cases", cases.len());
    for case in cases {
        for chunks in chunkings(&case) {
            let seed = case.seed.as_deref().unwrap_or_default();
            for comments in [false, true] {
                let received = receive(&mut server, &chunks, seed, comments).await;
                let context = format!("{} in {} chunks, comments {comments}", case.id, chunks.len());
                assert_eq!(received.events, case.events, "{context}");
                assert_eq!(received.last_event_id, case.last_event_id, "{context}");
                match &case.comments {
                    _ if !comments => assert!(received.comments.is_empty(), "{context}"),
                    Some(comments) => assert_eq!(&received.comments, comments, "{context}"),
                    None => {}
                }
            }
        }
    }
}
