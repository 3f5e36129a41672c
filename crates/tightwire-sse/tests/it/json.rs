//! Decoding of event data as JSON.
#![cfg(all(feature = "json", feature = "std", feature = "futures", feature = "bytes"))]

use std::io;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, FusedStream as _};
use serde::Deserialize;
use tightwire_sse::{BytesDecoder, Decoder, Ending, Event, EventStreamExt as _, JsonStreamExt as _, Reader};

#[derive(Debug, PartialEq, Deserialize)]
struct Delta {
    text: String,
}

fn delta(text: &str) -> Delta {
    Delta { text: text.to_owned() }
}

const INPUT: &str = concat!(
    ": PROCESSING\n\n",
    "data: {\"text\": \"a\"}\n\n",
    "event: message_delta\ndata: {\ndata:   \"text\": \"b\"\ndata: }\n\n",
    "data: not json\n\n",
    "data: {\"text\": 5}\n\n",
    "data: {\"text\": \"c\"}\n\n",
    "data: [DONE] really\n\n",
    "data: {\"text\": \"late\"}\n\n",
);

/// Returns the value, or `None` for a JSON error.
fn checked(result: Result<Delta, tightwire_sse::Error>) -> Option<Delta> {
    result.map_err(|error| assert!(error.is_json(), "{error:?}")).ok()
}

fn until_done() -> Vec<Option<Delta>> {
    vec![Some(delta("a")), Some(delta("b")), None, None, Some(delta("c"))]
}

#[test]
fn a_reader_stops_at_done() {
    let mut values = Reader::new(INPUT.as_bytes()).json_until_done::<Delta>();
    assert_eq!(values.by_ref().map(checked).collect::<Vec<_>>(), until_done());
    assert!(values.next().is_none());
    // The events after `[DONE]` can still be read.
    let rest: Vec<String> = values.into_inner().map(|event| event.unwrap().into_data()).collect();
    assert_eq!(rest, [r#"{"text": "late"}"#]);
}

#[tokio::test]
async fn a_stream_stops_at_done() {
    let chunks = stream::iter(INPUT.as_bytes().chunks(7).map(Ok::<_, io::Error>));
    let mut values = chunks.sse().json_until_done::<Delta>();
    assert!(!values.is_terminated());
    assert_eq!(values.by_ref().map(checked).collect::<Vec<_>>().await, until_done());
    assert!(values.is_terminated());
    assert!(values.next().await.is_none());
    assert_eq!(values.get_ref().last_event_id(), "");
    let rest: Vec<String> = values.into_inner().map(|event| event.unwrap().into_data()).collect().await;
    assert_eq!(rest, [r#"{"text": "late"}"#]);
}

#[tokio::test]
async fn done_is_data_unless_requested() {
    let mut expected = until_done();
    expected.extend([None, Some(delta("late"))]);
    assert_eq!(Reader::new(INPUT.as_bytes()).json().map(checked).collect::<Vec<_>>(), expected);
    let chunks = stream::iter([Ok::<_, io::Error>(INPUT)]);
    assert_eq!(chunks.sse().json().map(checked).collect::<Vec<_>>().await, expected);
}

#[tokio::test]
async fn an_end_before_done_is_an_error_if_the_ending_is_strict() {
    let truncated = "data: 1\n\n";
    assert_eq!(Reader::new(truncated.as_bytes()).json_until_done::<u32>().count(), 1);
    assert_eq!(stream::iter([Ok::<_, io::Error>(truncated)]).sse().json_until_done::<u32>().count().await, 1);
    let mut values = Reader::new(truncated.as_bytes()).json_until_done::<u32>().with_ending(Ending::Strict);
    assert_eq!(values.next().unwrap().unwrap(), 1);
    assert!(values.next().unwrap().unwrap_err().is_ended());
    assert!(values.next().is_none());

    let events = stream::iter([Ok::<_, io::Error>(truncated)]).sse();
    let mut values = events.json_until_done::<u32>().with_ending(Ending::Strict);
    assert_eq!(values.next().await.unwrap().unwrap(), 1);
    assert!(values.next().await.unwrap().unwrap_err().is_ended());
    assert!(values.next().await.is_none());
}

#[tokio::test]
async fn other_errors_are_returned() {
    let chunks = || [Ok("data: 1\n\n"), Err(io::Error::from(io::ErrorKind::TimedOut)), Ok("data: 2\n\n")];
    let mut values = stream::iter(chunks()).sse().json_until_done::<u32>();
    assert_eq!(values.next().await.unwrap().unwrap(), 1);
    assert!(values.next().await.unwrap().unwrap_err().is_transport());
    assert_eq!(values.next().await.unwrap().unwrap(), 2);
    assert!(values.next().await.is_none());

    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::TimedOut.into())
        }
    }
    let mut values = Reader::new(Failing).json::<u32>();
    assert!(values.next().unwrap().unwrap_err().is_transport());
}

#[test]
fn all_event_types_decode_json_that_borrows() {
    #[derive(Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
    }
    let input = b"data: {\"text\":\"hi\"}\n\n";
    let mut decoder = Decoder::new();
    let event = decoder.next(&mut &input[..]).unwrap().unwrap();
    assert_eq!(event.json::<Borrowed<'_>>().unwrap().text, "hi");
    let owned = event.to_owned();
    assert_eq!(owned.json::<Borrowed<'_>>().unwrap().text, "hi");
    let mut decoder = BytesDecoder::new();
    decoder.push(Bytes::from_static(input));
    let shared = decoder.next().unwrap().unwrap();
    assert_eq!(shared.json::<Borrowed<'_>>().unwrap().text, "hi");
    assert!(!event.is_done() && !owned.is_done() && !shared.is_done());
}

#[tokio::test]
async fn events_without_data_are_skipped() {
    let input = "data: \nid: 0\nretry: 3000\n\ndata: 1\n\nevent: ping\ndata:\ndata: \n\ndata: 2\n\ndata\n\n";
    let expected = |values: Vec<tightwire_sse::Result<u32>>| {
        assert_eq!(values.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [1, 2]);
    };
    let stream = |input: String| stream::iter([Ok::<_, io::Error>(input)]).sse();
    expected(Reader::new(input.as_bytes()).json().collect());
    expected(stream(input.to_owned()).json().collect().await);
    // The end of the input ends the line and the event of `[DONE]`.
    for end in ["data: [DONE]", "data: [DONE]\n", "data: [DONE]\n\n"] {
        let input = format!("{input}{end}");
        expected(Reader::new(input.as_bytes()).json_until_done().collect());
        expected(stream(input).json_until_done().collect().await);
    }
}

#[test]
fn a_json_error_has_a_source_and_the_start_of_the_data() {
    let data = format!("{{\"error\": \"quota exceeded{}\"}}", "\u{e9}".repeat(4 << 10));
    let error = Event::new(data.as_str()).json::<u32>().unwrap_err();
    assert!(data.starts_with(error.data().unwrap()) && (4090..=4096).contains(&error.data().unwrap().len()));
    assert!(format!("{error:?}").contains("quota exceeded"));
    let event = Event::new(r#"{"text": "secret"#);
    let error = event.json::<Delta>().unwrap_err();
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<serde_json::Error>().unwrap();
    assert_eq!((source.line(), source.is_eof()), (1, true));
    assert_eq!(error.data(), Some(r#"{"text": "secret"#));
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn done_is_compared_as_a_prefix() {
    for (data, done) in
        [("[DONE]", true), ("[DONE] extra", true), (" [DONE]", false), ("[done]", false), ("", false)]
    {
        let event = Event::new(data);
        assert_eq!((event.is_done(), event.as_ref().is_done()), (done, done), "{data:?}");
        let mut decoder = BytesDecoder::new();
        decoder.push(Bytes::from(format!("data: {data}\n\n")));
        assert_eq!(decoder.next().unwrap().unwrap().is_done(), done, "{data:?}");
    }
}
