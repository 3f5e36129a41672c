//! NDJSON, and asynchronous streams of documents.
#![cfg(feature = "stream")]

use bytes::Bytes;
use futures_executor::block_on;
use futures_util::{SinkExt, StreamExt, stream};
use tightwire_json::{
    ChunkDecoder, Codec, DocumentStream, ElementDecoder, ErrorDetails as _, LineDecoder, NdjsonBody,
    NdjsonSink, Value,
};

use crate::support;

fn lines<T: serde::de::DeserializeOwned>(
    text: &[u8],
    step: usize,
    max_line: usize,
) -> Vec<tightwire_json::Result<T>> {
    let mut decoder = LineDecoder::new().max_line(max_line);
    let mut results = Vec::new();
    for mut chunk in text.chunks(step) {
        while let Some(document) = decoder.next(&mut chunk) {
            results.push(document);
        }
    }
    results.extend(decoder.finish());
    results
}

#[test]
fn decoder_reader_and_stream_agree_for_any_chunks_at_any_limit() {
    let long = format!("\"{}\"\r\n1\n", "é\\n".repeat(20_000));
    for input in ["1\r\n\n22\n[3]\n{\"a\":4}", "[\n\"x\"\n", "\r\r\n \r", "", &long, long.trim_end()] {
        for max_line in test_support::limits(input.len()) {
            let decoder = || LineDecoder::<Value>::new().max_line(max_line);
            support::decode_pieces(decoder, input.as_bytes());
        }
    }
}

#[test]
fn lines_end_with_lf_crlf_or_the_stream() {
    for step in 1..20 {
        let numbers: Vec<_> =
            lines::<u32>(b"1\r\n\n \r\n22\n3", step, 100).into_iter().map(Result::unwrap).collect();
        assert_eq!(numbers, [1, 22, 3], "{step}");
    }
}

#[test]
fn an_error_affects_only_its_line() {
    for step in 1..20 {
        let results = lines::<u32>(b"1\n[\n\"x\"\n4\n5 6\n7", step, 100);
        let kinds: Vec<_> = results
            .iter()
            .map(|line| match line {
                Ok(number) => (*number, None),
                Err(error) => {
                    assert!(error.is_eof() || error.is_data() || error.is_syntax());
                    (0, error.offset())
                }
            })
            .collect();
        assert_eq!(
            kinds,
            [(1, None), (0, Some(2)), (0, Some(4)), (4, None), (0, Some(12)), (7, None)],
            "{step}"
        );
    }
}

#[test]
fn long_lines_are_skipped() {
    let mut text = b"1\n\"".to_vec();
    text.extend(b"x".repeat(50));
    text.extend(b"\"\n1234567890\r\n12345678901\n3");
    for step in 1..80 {
        let results = lines::<Value>(&text, step, 10);
        assert_eq!(results.len(), 5, "{step}");
        assert_eq!(results[0].as_ref().unwrap(), &1);
        let error = results[1].as_ref().unwrap_err();
        assert!(error.is_limit());
        assert_eq!((error.limit(), error.offset()), (Some(10), Some(12)), "{step}");
        assert_eq!(results[2].as_ref().unwrap(), &1_234_567_890_u64);
        let error = results[3].as_ref().unwrap_err();
        assert!(error.is_limit());
        assert_eq!(error.offset(), Some(55 + 12 + 10), "{step}");
        assert_eq!(results[4].as_ref().unwrap(), &3);
    }
}

#[test]
fn a_body_is_decoded_by_a_stream() {
    block_on(async {
        let values = vec![Value::from("a\nb"), Value::Null, Value::from(vec![1, 2])];
        let body: Vec<_> = NdjsonBody::new(stream::iter(values.clone())).collect().await;
        assert_eq!(body.len(), 3);
        assert_eq!(body[0].as_ref().unwrap(), &Bytes::from_static(b"\"a\\nb\"\n"));

        let chunks = body.into_iter().map(|line| line.map_err(std::io::Error::other));
        let read: Vec<Value> =
            DocumentStream::new(stream::iter(chunks), LineDecoder::new()).map(Result::unwrap).collect().await;
        assert_eq!(read, values);
    });
}

#[test]
fn a_body_ends_at_a_value_that_cannot_be_encoded() {
    block_on(async {
        let mut body = NdjsonBody::new(stream::iter([1.0, f64::NAN, 2.0]));
        assert_eq!(body.next().await.unwrap().unwrap(), Bytes::from_static(b"1.0\n"));
        assert!(body.next().await.unwrap().unwrap_err().is_encode());
        assert!(body.next().await.is_none());
    });
}

#[test]
fn an_error_of_the_underlying_stream_ends_the_stream() {
    block_on(async {
        let chunks = [Ok(Bytes::from_static(b"1\n2")), Err(std::io::Error::other("reset"))];
        let mut numbers = DocumentStream::new(stream::iter(chunks), LineDecoder::<u8>::new());
        assert_eq!(numbers.next().await.unwrap().unwrap(), 1);
        assert!(numbers.next().await.unwrap().unwrap_err().is_io());
        assert!(numbers.next().await.is_none());
    });
}

#[test]
fn elements_are_decoded_from_a_body() {
    block_on(async {
        let parts = ["{\"n\":[1,2", "3,\"x\"", "],\"end\":tru", "e}"];
        let body = stream::iter(parts.map(std::io::Result::Ok));
        let elements = DocumentStream::new(body, ElementDecoder::<u8>::new("/n").unwrap());
        let elements: Vec<_> = elements.map(support::outcome).collect().await;
        assert_eq!(elements, [Ok(1), Ok(23), Err(("data", Some(11)))]);
    });
}

#[test]
fn a_malformed_document_ends_the_stream_without_reading_more() {
    block_on(async {
        let chunks = stream::iter([std::io::Result::Ok("[1,]")]).chain(stream::pending());
        let mut elements = DocumentStream::new(chunks, ElementDecoder::<u8>::new("").unwrap());
        assert_eq!(elements.next().await.unwrap().unwrap(), 1);
        assert!(elements.next().await.unwrap().unwrap_err().is_syntax());
        assert!(elements.next().await.is_none());
    });
}

#[test]
fn a_sink_sends_one_chunk_per_line() {
    block_on(async {
        let mut sink = NdjsonSink::with_codec(Vec::new(), Codec::compat());
        sink.send(Value::from("<")).await.unwrap();
        assert_eq!(sink.into_inner(), [Bytes::from_static(b"\"\\u003c\"\n")]);
    });
}

#[test]
fn debug_output_omits_the_input() {
    let mut decoder = LineDecoder::<Value>::new();
    assert!(decoder.next(&mut &b"\"hunter2"[..]).is_none());
    let text = format!("{decoder:?}");
    // `Debug` prints bytes as numbers.
    assert!(!text.contains("104, 117, 110"), "{text}");
    let chunks = stream::empty::<std::io::Result<Bytes>>();
    let text = format!("{:?}", DocumentStream::new(chunks, decoder));
    assert!(!text.contains("104, 117, 110"), "{text}");
}
