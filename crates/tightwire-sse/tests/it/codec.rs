//! Codec for tokio-util. The decoder cases are in `entry_points`.
#![cfg(feature = "codec")]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use futures_util::{SinkExt as _, StreamExt as _};
use tightwire_sse::{Config, Decoder, Ending, Event, SseCodec, SseEvent};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::codec::{Decoder as _, Encoder, FramedRead, FramedWrite};

fn limited(bytes: usize) -> SseCodec {
    SseCodec::new().with_decoder(Decoder::with_config(Config::new().max_event_size(bytes)))
}

/// Reader that returns one entry of `script` per read, then the end.
struct Scripted(std::vec::IntoIter<Result<&'static str, io::ErrorKind>>);

impl AsyncRead for Scripted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        target: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(match self.0.next() {
            Some(Ok(text)) => {
                target.put_slice(text.as_bytes());
                Ok(())
            }
            Some(Err(kind)) => Err(kind.into()),
            None => Ok(()),
        })
    }
}

#[test]
fn the_end_of_input_decodes_the_rest_of_the_buffer() {
    for (ending, expected) in [(Ending::Strict, &["a", "b"][..]), (Ending::Lenient, &["a", "b", "c"])] {
        let mut codec = SseCodec::new().with_ending(ending);
        let mut buffer = BytesMut::from("data: a\n\ndata: b\n\ndata: c");
        let mut data = Vec::new();
        while let Some(event) = codec.decode_eof(&mut buffer).unwrap() {
            data.push(event.into_data());
        }
        assert_eq!(data, expected);
        // The dropped event is not returned later.
        assert_eq!(codec.decode(&mut BytesMut::from("\n\n")).unwrap(), None);
    }
}

#[tokio::test]
async fn events_before_and_after_an_error_are_returned() {
    let input = "data: a\n\ndata: 0123456789\n\ndata: b\n\n";
    let mut framed = FramedRead::new(input.as_bytes(), limited(10));
    assert_eq!(framed.next().await.unwrap().unwrap().data(), "a");
    assert!(framed.next().await.unwrap().unwrap_err().is_limit());
    // `FramedRead` yields `None` once after an error.
    assert!(framed.next().await.is_none());
    assert_eq!(framed.next().await.unwrap().unwrap().data(), "b");
    assert!(framed.next().await.is_none());
}

#[tokio::test]
async fn a_failed_read_is_a_transport_error() {
    let script = vec![Ok("data: a\n\ndata: b"), Err(io::ErrorKind::ConnectionReset), Ok("c\n\n")];
    let mut framed = FramedRead::new(Scripted(script.into_iter()), SseCodec::new());
    assert_eq!(framed.next().await.unwrap().unwrap().data(), "a");
    let error = framed.next().await.unwrap().unwrap_err();
    assert!(error.is_transport());
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::ConnectionReset);
    assert!(framed.next().await.is_none());
    assert_eq!(framed.next().await.unwrap().unwrap().data(), "bc");
}

#[test]
fn blocks_and_events_are_encoded_by_value_and_by_reference() {
    fn encode<T>(item: T) -> BytesMut
    where
        SseCodec: Encoder<T, Error = tightwire_sse::Error>,
    {
        let mut out = BytesMut::from("before ");
        SseCodec::new().encode(item, &mut out).unwrap();
        out
    }
    let event = || SseEvent::new().event("e").id("7").retry(Duration::from_millis(5)).data("a\nb");
    let expected = "before event: e\nid: 7\nretry: 5\ndata: a\ndata: b\n\n";
    assert_eq!(encode(&event()), expected);
    assert_eq!(encode(event()), expected);
    let event = Event::new("a");
    assert_eq!(encode(&event), encode(event));
}

#[tokio::test]
async fn a_block_that_cannot_be_encoded_writes_nothing() {
    let (client, server) = tokio::io::duplex(1024);
    let mut sink = FramedWrite::new(server, SseCodec::new());
    sink.feed(SseEvent::new().data("a")).await.unwrap();
    assert!(sink.feed(SseEvent::new().event("e\nf").data("b")).await.unwrap_err().is_unencodable());
    sink.send(SseEvent::new().data("c")).await.unwrap();
    drop(sink);
    let events: Vec<Event> =
        FramedRead::new(client, SseCodec::new()).map(|event| event.unwrap()).collect().await;
    let data: Vec<&str> = events.iter().map(Event::data).collect();
    assert_eq!(data, ["a", "c"]);
}

#[test]
fn debug_output_omits_the_data() {
    let mut codec = SseCodec::new();
    codec.encode(SseEvent::new().data("hunter2"), &mut BytesMut::new()).unwrap();
    codec.decode(&mut BytesMut::from("data: hunter2\ndata: hun")).unwrap();
    let text = format!("{codec:?}");
    // `Debug` prints bytes as numbers.
    assert!(!text.contains("hunter2") && !text.contains("104, 117, 110"), "{text}");
}
