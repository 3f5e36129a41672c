//! Replay of events for clients that resume.
#![cfg(feature = "replay")]

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::FusedStream as _;
use futures_util::{FutureExt as _, StreamExt as _};
use proptest::prelude::*;
use tightwire_sse::{
    DEFAULT_REPLAY_BYTES, DEFAULT_REPLAY_EVENTS, Reader, ReplayBuffer, ReplayChannel, ReplayPosition,
    SseEvent, Subscription,
};

/// Returns the data of the events from a position.
fn rest(buffer: &ReplayBuffer, mut position: ReplayPosition) -> Vec<String> {
    let next = || buffer.next(&mut position).unwrap().cloned();
    std::iter::from_fn(next).map(|encoded| data(&encoded)).collect()
}

/// Decodes the data of the only event of a event.
fn data(encoded: &[u8]) -> String {
    let mut events = Reader::new(encoded);
    let event = events.next().unwrap().unwrap();
    assert!(events.next().is_none());
    event.into_data()
}

/// Returns the data of the next event, if one is ready.
fn ready(subscription: &mut Subscription) -> Option<String> {
    subscription.next().now_or_never().map(|item| data(&item.unwrap().unwrap()))
}

#[test]
fn clients_resume_after_their_last_event() {
    let mut buffer = ReplayBuffer::new().with_max_events(3);
    assert!(buffer.is_empty() && buffer.last_event_id().is_none());
    assert_eq!(buffer.start(), buffer.end());
    for n in 1..=5 {
        buffer.push(SseEvent::new().id(format!("id{n}")).data(n.to_string())).unwrap();
    }
    assert_eq!((buffer.len(), buffer.last_event_id()), (3, Some("id5")));
    for (id, missed) in [
        ("id3", Some(&["4", "5"] as &[&str])),
        ("id4", Some(&["5"])),
        ("id5", Some(&[])),
        ("id2", None),
        ("id6", None),
        ("", None),
    ] {
        match buffer.resume(id) {
            Ok(position) => assert_eq!(rest(&buffer, position), missed.unwrap(), "{id:?}"),
            Err(error) => assert!(error.is_too_old() && missed.is_none(), "{id:?}"),
        }
    }
    assert!(buffer.resume(b"\xff").unwrap_err().is_too_old());
    assert_eq!(rest(&buffer, buffer.start()), ["3", "4", "5"]);
}

#[test]
fn a_position_is_too_old_when_its_next_event_is_evicted() {
    let mut buffer = ReplayBuffer::new().with_max_events(2);
    let mut position = buffer.end();
    for n in 1..=2 {
        buffer.push(SseEvent::new().data(n.to_string())).unwrap();
    }
    assert_eq!(rest(&buffer, position), ["1", "2"]);
    buffer.push(SseEvent::new().data("3")).unwrap();
    for _ in 0..2 {
        assert!(buffer.next(&mut position).unwrap_err().is_too_old());
    }
}

#[test]
fn ids_are_assigned_or_given() {
    let mut buffer = ReplayBuffer::new().with_id_prefix("p-");
    assert_eq!(buffer.push(SseEvent::new().data("a")).unwrap(), "p-1");
    assert_eq!(buffer.push(SseEvent::new().id("x").data("b")).unwrap(), "x");
    assert_eq!(buffer.push(SseEvent::new().id("").data("c")).unwrap(), "p-3");
    let mut position = buffer.start();
    for encoded in ["id: p-1\ndata: a\n\n", "id: x\ndata: b\n\n", "id: p-3\ndata: c\n\n"] {
        assert_eq!(buffer.next(&mut position).unwrap().unwrap(), encoded);
    }
    // An id of another buffer is not taken for one of this buffer.
    let (mut first, mut second) = (ReplayBuffer::new(), ReplayBuffer::new());
    let id = first.push(SseEvent::new().data("a")).unwrap();
    second.push(SseEvent::new().data("b")).unwrap();
    assert!(second.resume(id).unwrap_err().is_too_old());
}

#[test]
fn an_event_that_cannot_be_replayed_changes_nothing() {
    let mut buffer = ReplayBuffer::new().with_max_bytes(40);
    buffer.push(SseEvent::new().id("1").data("a")).unwrap();
    for id in [" 2", "2 ", "2\n3", "2\t3", "\0", "\u{7f}"] {
        let error = buffer.push(SseEvent::new().id(id).data("b")).unwrap_err();
        assert!(error.is_unencodable(), "{id:?}");
    }
    assert!(buffer.push(SseEvent::new().event("e\n").data("b")).unwrap_err().is_unencodable());
    assert!(buffer.push(SseEvent::new().id("1").data("b")).unwrap_err().is_duplicate_id());
    let error = buffer.push(SseEvent::new().id("2").data("x".repeat(28))).unwrap_err();
    assert!(error.is_limit() && error.limit() == Some(40) && error.offset().is_none(), "{error}");
    assert_eq!((buffer.len(), buffer.bytes()), (1, "id: 1\ndata: a\n\n".len()));
    buffer.push(SseEvent::new().id("2 3\u{e9}").data("b")).unwrap();
    assert_eq!(rest(&buffer, buffer.start()), ["a", "b"]);
}

#[test]
fn the_oldest_events_are_evicted_beyond_a_limit() {
    let size = "id: 1000\ndata: a\n\n".len();
    for (buffer, events) in [
        (ReplayBuffer::new(), DEFAULT_REPLAY_EVENTS),
        (ReplayBuffer::new().with_max_events(5), 5),
        (ReplayBuffer::new().with_max_events(0), 1),
        (ReplayBuffer::new().with_max_bytes(5 * size), 5),
        (ReplayBuffer::new().with_max_bytes(6 * size - 1), 5),
    ] {
        let mut buffer = buffer;
        for n in 1000..3000 {
            buffer.push(SseEvent::new().id(n.to_string()).data("a")).unwrap();
        }
        assert_eq!((buffer.len(), buffer.bytes()), (events, events * size), "{buffer:?}");
        // An evicted id can be used again.
        buffer.push(SseEvent::new().id("1000").data("a")).unwrap();
    }
    let mut buffer = ReplayBuffer::new();
    for _ in 0..3 {
        buffer.push(SseEvent::new().data("x".repeat(DEFAULT_REPLAY_BYTES / 2))).unwrap();
        assert_eq!(buffer.len(), 1);
    }
}

#[tokio::test]
async fn missed_events_and_live_events_have_no_gap() {
    let channel = ReplayChannel::default();
    let first = channel.publish(SseEvent::new().data("1")).unwrap();
    channel.publish(SseEvent::new().data("2")).unwrap();
    let mut resumed = channel.resume(&first).unwrap();
    let mut live = channel.subscribe();
    let mut all = channel.subscribe_from_start();
    assert_eq!(ready(&mut all).as_deref(), Some("1"));
    for subscription in [&mut resumed, &mut all] {
        assert_eq!(ready(subscription).as_deref(), Some("2"));
    }
    let last = channel.publish(SseEvent::new().data("3")).unwrap();
    assert_eq!(channel.last_event_id(), Some(last));
    for subscription in [&mut resumed, &mut live, &mut all] {
        assert_eq!(ready(subscription).as_deref(), Some("3"));
        assert_eq!(ready(subscription), None);
    }
    assert!(channel.resume("other").unwrap_err().is_too_old());
}

#[tokio::test]
async fn a_subscriber_that_is_too_slow_gets_an_error_and_the_others_continue() {
    let channel = ReplayChannel::new(ReplayBuffer::new().with_max_events(2));
    let (mut slow, mut fast) = (channel.subscribe(), channel.subscribe());
    for n in 0..5 {
        channel.publish(SseEvent::new().data(n.to_string())).unwrap();
        assert_eq!(ready(&mut fast), Some(n.to_string()));
    }
    assert!(slow.next().await.unwrap().unwrap_err().is_too_old());
    assert!(slow.is_terminated() && slow.next().await.is_none());
    channel.publish(SseEvent::new().data("more")).unwrap();
    assert_eq!(ready(&mut fast).as_deref(), Some("more"));
}

#[cfg(feature = "body")]
#[tokio::test]
async fn the_connection_of_a_client_that_is_too_slow_is_aborted() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut connection = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let channel = Arc::new(ReplayChannel::new(ReplayBuffer::new().with_max_events(2)));
    let events = Arc::clone(&channel);
    let respond = move || {
        let response = tightwire_sse::SseBody::new(events.subscribe_from_start()).into_response();
        std::future::ready(response.map(axum::body::Body::new))
    };
    channel.publish(SseEvent::new().data("first")).unwrap();
    tokio::spawn(axum::serve(listener, axum::routing::get(respond)).into_future());
    connection.write_all(b"GET / HTTP/1.1\r\nhost: example.org\r\n\r\n").await.unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"data: first\n\n\r\n") {
        assert_ne!(connection.read_buf(&mut received).await.unwrap(), 0);
    }
    // The server does not run in between.
    for _ in 0..3 {
        channel.publish(SseEvent::new().data("evicts")).unwrap();
    }
    connection.read_to_end(&mut received).await.unwrap();
    assert!(received.ends_with(b"data: first\n\n\r\n"), "no further event and no regular end");
}

#[tokio::test]
async fn a_closed_channel_ends_its_subscriptions_after_the_buffered_events() {
    for close in [|channel: ReplayChannel| channel.close(), drop::<ReplayChannel>] {
        let channel = ReplayChannel::default();
        let mut behind = channel.subscribe();
        channel.publish(SseEvent::new().data("a")).unwrap();
        let waiting = tokio::spawn(channel.subscribe().collect::<Vec<_>>());
        tokio::task::yield_now().await;
        close(channel);
        assert_eq!(ready(&mut behind).as_deref(), Some("a"));
        assert!(behind.next().await.is_none() && behind.is_terminated());
        assert!(waiting.await.unwrap().is_empty());
    }
    let channel = ReplayChannel::default();
    let id = channel.publish(SseEvent::new().data("a")).unwrap();
    channel.close();
    assert!(channel.publish(SseEvent::new().data("b")).unwrap_err().is_ended());
    assert!(channel.resume(id).unwrap().next().await.is_none());
}

#[test]
fn publishers_and_subscribers_in_several_threads_see_one_order() {
    const EVENTS: usize = 500;
    let channel = ReplayChannel::default();
    let orders: Vec<Vec<String>> = std::thread::scope(|scope| {
        let receive = |subscription: Subscription| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(subscription.map(|item| data(&item.unwrap())).collect())
        };
        let subscribers: Vec<_> = (0..3)
            .map(|_| {
                let subscription = channel.subscribe();
                scope.spawn(move || receive(subscription))
            })
            .collect();
        let publish = |publisher: usize| {
            for n in 0..EVENTS {
                channel.publish(SseEvent::new().data(format!("{publisher} {n}"))).unwrap();
            }
        };
        let publishers = [0, 1].map(|publisher| scope.spawn(move || publish(publisher)));
        publishers.into_iter().for_each(|publisher| publisher.join().unwrap());
        channel.close();
        subscribers.into_iter().map(|subscriber| subscriber.join().unwrap()).collect()
    });
    assert_eq!(orders[0].len(), 2 * EVENTS);
    assert!(orders.iter().all(|order| order == &orders[0]));
}

#[derive(Debug, Clone)]
enum Step {
    Publish,
    Receive(usize),
    Reconnect(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Publish),
        3 => (0..3_usize).prop_map(Step::Receive),
        1 => (0..3_usize).prop_map(Step::Reconnect),
    ]
}

proptest! {
    /// Each client receives every number in order, or learns that it is too slow.
    #[test]
    fn clients_receive_every_event_once(capacity in 1..6_usize, steps in prop::collection::vec(step(), 0..200)) {
        let channel = ReplayChannel::new(ReplayBuffer::new().with_max_events(capacity));
        let mut published: usize = 0;
        let mut buffered = VecDeque::new();
        let mut clients: Vec<(usize, Subscription)> = (0..3).map(|_| (0, channel.subscribe())).collect();
        for step in steps {
            match step {
                Step::Publish => {
                    published += 1;
                    channel.publish(SseEvent::new().id(published.to_string()).data(published.to_string())).unwrap();
                    buffered.push_back(published);
                    if buffered.len() > capacity {
                        buffered.pop_front();
                    }
                }
                Step::Receive(client) => {
                    let (last, subscription) = &mut clients[client];
                    match subscription.next().now_or_never() {
                        None => prop_assert_eq!(*last, published),
                        Some(Some(Ok(encoded))) => {
                            prop_assert_eq!(data(&encoded), (*last + 1).to_string());
                            *last += 1;
                        }
                        Some(item) => {
                            prop_assert!(item.unwrap().unwrap_err().is_too_old());
                            prop_assert!(!buffered.contains(&(*last + 1)));
                            *last = published;
                            *subscription = channel.subscribe();
                        }
                    }
                }
                Step::Reconnect(client) => {
                    let (last, subscription) = &mut clients[client];
                    match channel.resume(last.to_string()) {
                        Ok(resumed) => {
                            prop_assert!(buffered.contains(last));
                            *subscription = resumed;
                        }
                        Err(error) => prop_assert!(error.is_too_old() && !buffered.contains(last)),
                    }
                }
            }
        }
    }
}

#[test]
fn debug_output_omits_events_and_ids() {
    let channel = ReplayChannel::new(ReplayBuffer::new().with_id_prefix("hunter2"));
    channel.publish(SseEvent::new().data("hunter2")).unwrap();
    channel.publish(SseEvent::new().id("hunter2").data("a")).unwrap();
    let text = format!("{channel:?} {:?}", channel.subscribe());
    assert!(text.contains("events: 2") && !text.contains("hunter2"), "{text}");
}
