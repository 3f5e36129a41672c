//! Decoding by the client over a real connection: all decoder cases, line ends in every chunking, byte order marks and
//! very large events.
//!
//! The tests cover the topics of the public contract tests for SSE clients. Requests, statuses and reconnection are in
//! `client_http` and `client_reconnect`.
#![cfg(feature = "reqwest")]

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::Client;
use tightwire_sse::{Backoff, EventSource, Message};

use crate::cases;
use crate::cases::Expected;
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
                Ok(Message::Open) => {}
                Ok(Message::Event(event)) => received.events.push(event.as_ref().into()),
                Ok(Message::Comment(text)) => received.comments.push(text),
                Ok(other) => panic!("{other:?}"),
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    bounded(async { tokio::join!(serve, client) }).await.1
}

/// Returns a few chunkings of an input, each chunk is one of the response body. More would not test more than the tests
/// of the decoder, because the network may join chunks.
fn splits(input: &[u8], explicit: Option<&[usize]>) -> Vec<Vec<Vec<u8>>> {
    let mut splits = vec![vec![input.to_vec()]];
    if input.len() <= 512 {
        splits.extend([1, 2].map(|size| input.chunks(size).map(<[u8]>::to_vec).collect()));
    }
    if let Some(lengths) = explicit {
        let mut rest = input;
        let mut chunks = Vec::new();
        for length in lengths {
            let (chunk, after) = rest.split_at(*length);
            chunks.push(chunk.to_vec());
            rest = after;
        }
        chunks.push(rest.to_vec());
        splits.push(chunks);
    }
    // An empty chunk would end the chunked body.
    splits.iter_mut().for_each(|chunks| chunks.retain(|chunk| !chunk.is_empty()));
    splits
}

#[tokio::test]
async fn decoder_cases_over_http() {
    let mut server = Server::start();
    let cases = cases::load();
    assert!(cases.len() >= 238, "{} cases", cases.len());
    for case in cases {
        for chunks in splits(&case.input, case.chunk_lengths.as_deref()) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
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

fn message(data: &str) -> Expected {
    Expected { event_type: "message".into(), data: data.into(), id: String::new(), retry: None }
}

/// Six streams, with each line end, in one chunk and in chunks of one and two bytes.
#[tokio::test]
async fn line_ends_in_every_chunking() {
    let mut server = Server::start();
    let shapes: [(&str, &[&str]); 6] = [
        ("data: a|", &["a"]),
        ("data: a||data: b 1|data: b 2|", &["a", "b 1\nb 2"]),
        ("data:|data: b|data: c|", &["\nb\nc"]),
        ("data: a|data:|data: c|", &["a\n\nc"]),
        ("data: a|||data: b|", &["a", "b"]),
        ("data: a||||data: b|", &["a", "b"]),
    ];
    for line_end in ["\n", "\r\n", "\r"] {
        for (shape, data) in shapes {
            let stream = format!("{shape}|").replace('|', line_end);
            let events: Vec<Expected> = data.iter().map(|data| message(data)).collect();
            for chunks in splits(stream.as_bytes(), None) {
                let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
                let received = receive(&mut server, &chunks, "", false).await;
                assert_eq!(received.events, events, "{stream:?} in {} chunks", chunks.len());
            }
        }
    }
}

/// An event is complete with its empty line, even if that ends with a CR that may be followed by an LF.
#[tokio::test]
async fn an_event_does_not_wait_for_the_byte_after_cr() {
    let mut server = Server::start();
    let mut source = EventSource::builder(server.url("/")).build().unwrap();
    let mut events = source.events();
    let (body, _) = bounded(async {
        tokio::select! {
            exchange = server.accept() => (exchange.open(), ()),
            event = events.next() => panic!("{event:?}"),
        }
    })
    .await;
    for (chunk, data) in [("data: 1\r\r", "1"), ("\ndata: 2\r\n\r", "2"), ("\n\ndata: 3\r\r", "3")] {
        body.send(chunk);
        let event = bounded(events.next()).await.unwrap().unwrap();
        assert_eq!(event.data(), data);
    }
}

#[tokio::test]
async fn a_byte_order_mark_is_skipped_on_each_connection() {
    let mut server = Server::start();
    let tick = Duration::from_millis(1);
    let builder = EventSource::builder(server.url("/")).backoff(Backoff::new().base(tick).floor(tick));
    let mut source = builder.build().unwrap();
    let mut events = source.events();
    let streams: [(&[&[u8]], &str); 3] = [
        (&[b"\xef\xbb", b"\xbfdata: split\n\n"], "split"),
        (&["\u{feff}data: \u{feff}kept\n\n".as_bytes()], "\u{feff}kept"),
        (&[b"data: none\n\n"], "none"),
    ];
    for (chunks, data) in streams {
        let event = bounded(async {
            tokio::select! {
                exchange = server.accept() => {
                    let body = exchange.open();
                    for chunk in chunks {
                        body.send(Bytes::from_static(chunk));
                    }
                }
                event = events.next() => panic!("{event:?}"),
            }
            events.next().await
        })
        .await;
        assert_eq!(event.unwrap().unwrap().data(), data);
    }
}

/// The default limit allows an event of 10 MiB in base64.
#[tokio::test]
async fn very_large_events_are_received() {
    let mut server = Server::start();
    for (length, split) in [(6_990_508, None), (13_981_016, Some(6_990_514))] {
        let stream = format!("data: {}\n\n", "Base64+/".repeat(length / 8 + 1).split_at(length).0);
        let (first, second) = stream.as_bytes().split_at(split.unwrap_or(0));
        let chunks: Vec<&[u8]> = [first, second].into_iter().filter(|chunk| !chunk.is_empty()).collect();
        let received = receive(&mut server, &chunks, "", false).await;
        assert_eq!(received.events.len(), 1);
        assert!(
            received.events[0].data == stream["data: ".len()..].trim_end(),
            "data of {length} bytes differs"
        );
    }
}
