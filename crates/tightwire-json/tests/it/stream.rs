//! `Encoder` and `Decoder`.

use std::io::{self, Write};

use proptest::prelude::*;
use serde::de::IgnoredAny;
use tightwire_json::{Codec, Decoder, Encoder, ErrorDetails as _, Limits, Value, from_str};

use crate::support;

type Outcome = support::Outcome<Value>;

/// Writer that records each call.
#[derive(Debug, Default)]
struct RecordedWrites(Vec<Vec<u8>>);

impl Write for RecordedWrites {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn decode_all(bytes: &[u8], step: usize) -> Vec<Outcome> {
    decode_chunks(&bytes.chunks(step).collect::<Vec<_>>(), Codec::strict())
}

fn decode_chunks(chunks: &[&[u8]], codec: Codec) -> Vec<Outcome> {
    let len = chunks.concat().len();
    let mut decoder = Decoder::with_codec(io::BufReader::new(test_support::Pieces::new(chunks)), codec);
    let mut found = Vec::new();
    // Bounded, so that a decoder that does not terminate fails the test instead of hanging it.
    for _ in 0..len + 2 {
        match support::outcome(decoder.decode::<Value>()) {
            Ok(None) => return found,
            Ok(Some(value)) => found.push(Ok(value)),
            Err(error) => found.push(Err(error)),
        }
    }
    panic!("the decoder does not terminate: {found:?}");
}

#[test]
fn an_encoder_writes_once_per_document_and_not_on_errors() {
    let mut encoder = Encoder::new(RecordedWrites::default());
    encoder.encode(&vec![1; 10_000]).unwrap();
    assert!(encoder.encode(&(1, f64::INFINITY)).unwrap_err().is_encode());
    encoder.encode("b").unwrap();
    let writes = encoder.into_inner().0;
    assert_eq!(writes.len(), 2);
    assert_eq!(writes[0].len(), 20_002);
    assert_eq!(writes[1], b"\"b\"\n");
}

#[test]
fn a_failing_writer_is_an_io_error() {
    let full: &mut [u8] = &mut [];
    let error = Encoder::new(full).encode(&1).unwrap_err();
    assert!(error.is_io());
    assert_eq!(error.io_error_kind(), Some(io::ErrorKind::WriteZero));
}

#[test]
fn documents_need_no_separator() {
    for step in [1, 2, 3, 1000] {
        let found = decode_all(b" {\"a\":1}{\"a\":[]}\n\n12 true\"x\\\"\"[3]null 4 ", step);
        let found: Vec<_> = found.into_iter().map(|value| value.unwrap().to_string()).collect();
        assert_eq!(found, ["{\"a\":1}", "{\"a\":[]}", "12", "true", "\"x\\\"\"", "[3]", "null", "4"]);
        assert_eq!(decode_all(b"", step), []);
        assert_eq!(decode_all(b" \n", step), []);
    }
}

#[test]
fn truncated_documents_and_stray_bytes_are_reported_once() {
    for (text, expected) in [
        ("1 {\"a\":", ("eof", Some(7))),
        ("1 [", ("eof", Some(3))),
        ("1 \"abc", ("eof", Some(6))),
        ("1 tru", ("eof", Some(5))),
        ("1 -", ("eof", Some(3))),
        ("1 ]", ("syntax", Some(2))),
        ("1 }", ("syntax", Some(2))),
        ("1 ,2", ("syntax", Some(2))),
        ("1 nope 3", ("syntax", Some(3))),
        ("1 {]", ("syntax", Some(3))),
        ("1 [}", ("syntax", Some(3))),
        ("1 \u{feff}2", ("syntax", Some(2))),
        ("1 [1 2]", ("syntax", Some(5))),
    ] {
        for step in [1, 5, 1000] {
            assert_eq!(decode_all(text.as_bytes(), step), [Ok(Value::from(1)), Err(expected)], "{text}");
        }
    }
}

#[test]
fn a_document_of_another_type_does_not_end_the_stream() {
    let mut decoder = Decoder::new(&b"1 \"two\" 3"[..]);
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(1));
    let error = decoder.decode::<u8>().unwrap_err();
    assert!(error.is_data());
    assert_eq!(error.offset(), Some(2));
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(3));
    assert_eq!(decoder.decode::<u8>().unwrap(), None);
    assert_eq!(decoder.offset(), 9);
}

#[test]
fn the_buffer_is_bounded() {
    let codec = Codec::strict().with_limits(Limits::new().max_document(1000));
    let mut endless = Decoder::with_codec(io::BufReader::new(io::repeat(b'[')), codec);
    let error = endless.decode::<IgnoredAny>().unwrap_err();
    assert!(error.is_limit());
    assert_eq!((error.limit(), error.offset()), (Some(1000), Some(1000)));
    assert!(endless.decode::<IgnoredAny>().unwrap().is_none());

    // White space between documents does not count.
    let mut spaces = b" ".repeat(100_000);
    spaces.push(b'1');
    let mut decoder = Decoder::with_codec(spaces.as_slice(), codec);
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(1));
}

#[test]
fn from_reader_stops_reading_at_the_limit() {
    let codec = Codec::strict().with_limits(Limits::new().max_document(1000));
    assert!(codec.from_reader::<_, Value>(io::repeat(b' ')).unwrap_err().is_limit());
    assert_eq!(tightwire_json::from_reader::<_, u8>(&b" 7 "[..]).unwrap(), 7);
}

#[test]
fn debug_output_omits_the_input() {
    let mut decoder = Decoder::new(&b"1 \"hunter2\""[..]);
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(1));
    let text = format!("{decoder:?}");
    // `Debug` prints bytes as numbers.
    assert!(!text.contains("104, 117, 110"), "{text}");
}

proptest! {
    #[test]
    fn a_stream_decodes_to_its_documents(
        documents in prop::collection::vec(support::document(), 0..5), step in 1_usize..40
    ) {
        let expected: Vec<_> =
            documents.iter().map(|document| support::outcome(from_str::<Value>(document)).ok()).collect();
        prop_assume!(expected.iter().all(Option::is_some));
        let expected: Vec<_> = expected.into_iter().map(|value| Ok(value.unwrap())).collect();
        prop_assert_eq!(decode_all(documents.join("\n").as_bytes(), step), expected);
    }

    #[test]
    fn decoding_terminates_for_any_input_and_chunk_size(bytes in support::mutated(), step in 1_usize..40) {
        let found = decode_all(&bytes, step);
        prop_assert_eq!(found, decode_all(&bytes, usize::MAX));
    }
}

#[test]
fn results_do_not_depend_on_the_chunks_at_any_limit() {
    let long = format!("[\"{}\"]", "é\\n".repeat(40_000));
    for input in
        ["{\"a\":[1,2.5e3,\"\u{e9}\"]} true 12 \"x\" null", "{\"a\"", "[1,]", "{} ]", "\"\\u00", "", &long]
    {
        for limit in test_support::limits(input.len()) {
            let codec = Codec::strict().with_limits(Limits::new().max_document(limit));
            test_support::in_pieces(input.as_bytes(), |chunks| decode_chunks(chunks, codec));
        }
    }
}

#[test]
fn small_reads_initialize_no_more_than_twice_the_document() {
    for size in [1 << 20, 4 << 20] {
        let document = format!("\"{}\"", "a".repeat(size));
        let mut reader = io::BufReader::with_capacity(1460, document.as_bytes());
        let (usage, value) = test_support::counting::usage(|| Decoder::new(&mut reader).decode::<String>());
        assert_eq!(value.unwrap().unwrap().len(), size);
        // All sizes of the doubled buffer, and the string.
        assert!(usage.bytes < 6 * size, "{usage:?}");
    }
}
