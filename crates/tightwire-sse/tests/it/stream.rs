//! Event stream. The decoder cases are in `entry_points`.
#![cfg(feature = "futures")]

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, FusedStream, Stream};
use futures_util::{FutureExt as _, StreamExt as _};
use tightwire_sse::{Config, Decoder, Ending, EventStream, EventStreamExt as _, Overflow, OwnedItem};
use tokio::sync::mpsc;

/// Returns the stream of the chunks of a channel.
fn receiver(
    mut receiver: mpsc::Receiver<&'static str>,
) -> impl Stream<Item = Result<&'static str, io::Error>> + Unpin {
    stream::poll_fn(move |cx| receiver.poll_recv(cx)).map(Ok)
}

#[tokio::test]
async fn events_are_returned_as_soon_as_they_are_complete() {
    let (sender, chunks) = mpsc::channel(8);
    let mut events = receiver(chunks).sse();
    assert!(events.next().now_or_never().is_none());
    sender.send("data: a\r\r").await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().data(), "a");
    sender.send("\ndata: b\n\nda").await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().data(), "b");
    assert!(events.next().now_or_never().is_none());
    drop(sender);
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_dropped_future_loses_no_event() {
    let (sender, chunks) = mpsc::channel(8);
    let mut events = receiver(chunks).sse();
    sender.send("data: a\n\ndata: b").await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().data(), "a");
    for part in ["c", "d", "e"] {
        // The future is polled once, consumes the chunk, and is dropped.
        assert!(events.next().now_or_never().is_none());
        sender.send(part).await.unwrap();
    }
    sender.send("\n\n").await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().data(), "bcde");
}

#[tokio::test]
async fn a_transport_error_has_its_source_and_does_not_end_the_stream() {
    let chunks = stream::iter([
        Ok("data: a\n\ndata: b"),
        Err(io::Error::from(io::ErrorKind::ConnectionReset)),
        Ok("c\n\n"),
    ]);
    let mut events = chunks.sse();
    assert_eq!(events.next().await.unwrap().unwrap().data(), "a");
    let error = events.next().await.unwrap().unwrap_err();
    assert!(error.is_transport());
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(events.next().await.unwrap().unwrap().data(), "bc");
    assert!(events.next().await.is_none());
}

/// Stream that panics when it is polled after its end.
struct Strict(Option<&'static str>, bool);

impl Stream for Strict {
    type Item = Result<&'static str, io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        assert!(!self.1, "polled after the end");
        let chunk = self.0.take();
        self.1 = chunk.is_none();
        Poll::Ready(chunk.map(Ok))
    }
}

#[tokio::test]
async fn the_stream_is_fused() {
    let mut events = Strict(Some("data: a\n\n"), false).sse();
    assert!(!events.is_terminated());
    assert!(events.next().await.is_some());
    for _ in 0..3 {
        assert!(events.next().await.is_none());
        assert!(events.is_terminated());
    }
}

#[tokio::test]
async fn terminate_stops_polling() {
    let config = Config::new().max_event_size(10).overflow(Overflow::Terminate);
    let endless = stream::repeat_with(|| Ok::<_, io::Error>("data: 0123456789"));
    let mut events = EventStream::new(endless).with_decoder(Decoder::with_config(config));
    assert!(events.next().await.unwrap().unwrap_err().is_limit());
    assert!(events.next().await.is_none());
    assert!(events.is_terminated());
}

#[tokio::test]
async fn an_oversized_block_between_items_is_skipped() {
    let chunks = stream::iter(["data: 0123456789", "0123\n", "\ndata: ok\n\n"].map(Ok::<_, io::Error>));
    let mut items = chunks.sse_items().with_decoder(Decoder::with_config(Config::new().max_event_size(10)));
    assert!(items.next().await.unwrap().unwrap_err().is_limit());
    assert!(matches!(items.next().await.unwrap().unwrap(), OwnedItem::Event(event) if event.data() == "ok"));
}

#[tokio::test]
async fn chunks_are_released_before_waiting_for_the_next() {
    let chunk: Arc<[u8]> = Arc::from(&b"data: a\n\nda"[..]);
    let (sender, mut chunks) = mpsc::channel(1);
    let mut events = stream::poll_fn(move |cx| chunks.poll_recv(cx)).map(Ok::<_, io::Error>).sse();
    sender.send(Arc::clone(&chunk)).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().data(), "a");
    assert!(events.next().now_or_never().is_none());
    assert_eq!(Arc::strong_count(&chunk), 1);
}

#[tokio::test]
async fn items_are_returned_at_the_end_of_their_line() {
    let (sender, chunks) = mpsc::channel(8);
    let mut items = receiver(chunks).sse_items().with_ending(Ending::Lenient);
    sender.send(": working\nretry: 20\nda").await.unwrap();
    assert_eq!(items.next().await.unwrap().unwrap(), OwnedItem::Comment(" working".into()));
    assert!(matches!(items.next().await.unwrap().unwrap(), OwnedItem::Retry(time) if time.as_millis() == 20));
    assert_eq!(items.reconnection_time().unwrap().as_millis(), 20);
    sender.send("ta: x").await.unwrap();
    drop(sender);
    assert!(matches!(items.next().await.unwrap().unwrap(), OwnedItem::Event(event) if event.data() == "x"));
    assert!(items.next().await.is_none());
}

#[test]
fn last_event_id_and_inner_stream_are_accessible() {
    let stream = EventStream::new(Strict(None, false)).with_decoder(Decoder::new().with_last_event_id("7"));
    assert_eq!((stream.last_event_id(), stream.reconnection_time()), ("7", None));
    assert!(!stream.into_inner().1);
}

fn assert_send<T: Send>(_: &T) {}

#[test]
fn a_stream_of_send_chunks_is_send() {
    assert_send(&EventStream::new(Strict(None, false)));
    assert_send(&Strict(None, false).sse_items());
}
