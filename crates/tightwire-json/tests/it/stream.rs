//! `Encoder` and `Decoder`.

use std::io::{self, Read, Write};

use proptest::prelude::*;
use serde::de::IgnoredAny;
use tightwire_json::{Codec, Decoder, Encoder, Limits, Value};

use crate::support;

/// Counts calls and keeps what they wrote.
#[derive(Debug, Default)]
struct Writes(Vec<Vec<u8>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands out a few bytes at a time, with interruptions.
struct Dribble<'a> {
    bytes: &'a [u8],
    step: usize,
    interrupt: bool,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = self.step.min(self.bytes.len()).min(buffer.len());
        buffer[..len].copy_from_slice(&self.bytes[..len]);
        self.bytes = &self.bytes[len..];
        Ok(len)
    }
}

fn all(bytes: &[u8], step: usize) -> Vec<Result<Value, (&'static str, Option<u64>)>> {
    let mut decoder = Decoder::new(Dribble { bytes, step, interrupt: false });
    let mut found = Vec::new();
    // More steps than bytes: a decoder that never ends fails the test instead of hanging it.
    for _ in 0..bytes.len() + 2 {
        match support::outcome(decoder.decode::<Value>()) {
            Ok(None) => return found,
            Ok(Some(value)) => found.push(Ok(value)),
            Err(error) => found.push(Err(error)),
        }
    }
    panic!("the decoder does not end: {found:?}");
}

#[test]
fn one_write_per_document_and_none_for_an_error() {
    let mut encoder = Encoder::new(Writes::default());
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
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = Encoder::new(Full).encode(&1).unwrap_err();
    assert!(error.is_io());
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn documents_need_no_separator() {
    for step in [1, 2, 3, 1000] {
        let found = all(b" {\"a\":1}{\"a\":[]}\n\n12 true\"x\\\"\"[3]null 4 ", step);
        let found: Vec<_> = found.into_iter().map(|value| value.unwrap().to_string()).collect();
        assert_eq!(found, ["{\"a\":1}", "{\"a\":[]}", "12", "true", "\"x\\\"\"", "[3]", "null", "4"]);
        assert_eq!(all(b"", step), []);
        assert_eq!(all(b" \n", step), []);
    }
}

#[test]
fn what_is_cut_off_or_stray_is_an_error_once() {
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
            assert_eq!(all(text.as_bytes(), step), [Ok(Value::from(1)), Err(expected)], "{text}");
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
    let mut endless = Decoder::with_codec(io::repeat(b'['), codec);
    let error = endless.decode::<IgnoredAny>().unwrap_err();
    assert!(error.is_limit());
    assert_eq!((error.limit(), error.offset()), (Some(1000), Some(1000)));
    assert!(endless.decode::<IgnoredAny>().unwrap().is_none());

    // White space between documents is no part of any.
    let mut spaces = b" ".repeat(100_000);
    spaces.push(b'1');
    let mut decoder = Decoder::with_codec(spaces.as_slice(), codec);
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(1));
}

#[test]
fn readers_are_read_to_their_limit() {
    let codec = Codec::strict().with_limits(Limits::new().max_document(1000));
    assert!(codec.from_reader::<_, Value>(io::repeat(b' ')).unwrap_err().is_limit());
    assert_eq!(tightwire_json::from_reader::<_, u8>(&b" 7 "[..]).unwrap(), 7);
}

#[test]
fn debug_output_shows_nothing_that_was_read() {
    let mut decoder = Decoder::new(&b"1 \"hunter2\""[..]);
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(1));
    let text = format!("{decoder:?}");
    // As bytes are printed.
    assert!(!text.contains("104, 117, 110"), "{text}");
}

proptest! {
    #[test]
    fn streams_equal_their_documents(
        documents in prop::collection::vec(support::document(), 0..5), step in 1_usize..40
    ) {
        let expected: Vec<_> =
            documents.iter().map(|document| support::outcome(tightwire_json::from_str::<Value>(document)).ok()).collect();
        prop_assume!(expected.iter().all(Option::is_some));
        let expected: Vec<_> = expected.into_iter().map(|value| Ok(value.unwrap())).collect();
        prop_assert_eq!(all(documents.join("\n").as_bytes(), step), expected);
    }

    #[test]
    fn no_input_makes_a_decoder_run_forever(bytes in support::mutated(), step in 1_usize..40) {
        let found = all(&bytes, step);
        prop_assert_eq!(found, all(&bytes, usize::MAX));
    }
}

/// Every entry point for streams gives the same in pieces of any size, at every limit.
#[test]
fn pieces_and_limits_change_nothing() {
    let long = format!("[\"{}\"]", "é\\n".repeat(40_000));
    for input in
        ["{\"a\":[1,2.5e3,\"\u{e9}\"]} true 12 \"x\" null", "{\"a\"", "[1,]", "{} ]", "\"\\u00", "", &long]
    {
        for limit in test_support::limits(input.len()) {
            let codec = Codec::strict().with_limits(Limits::new().max_document(limit));
            test_support::in_pieces(input.as_bytes(), |pieces| {
                let mut decoder = Decoder::with_codec(Pieces(pieces.iter().copied().collect()), codec);
                let mut found = Vec::new();
                loop {
                    match support::outcome(decoder.decode::<Value>()) {
                        Ok(None) => return found,
                        Ok(Some(value)) => found.push(Ok(value)),
                        Err(error) => found.push(Err(error)),
                    }
                }
            });
        }
    }
}

/// Reads one piece at a time.
struct Pieces<'a>(std::collections::VecDeque<&'a [u8]>);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.0.front().is_some_and(|piece| piece.is_empty()) {
            self.0.pop_front();
        }
        let Some(piece) = self.0.front_mut() else { return Ok(0) };
        piece.read(buffer)
    }
}

/// A reader that notes how much memory it is offered, which is what the decoder has initialized for it.
struct Offered<'a> {
    bytes: &'a [u8],
    largest: usize,
}

impl Read for &mut Offered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.largest = self.largest.max(buffer.len());
        let len = buffer.len().min(self.bytes.len()).min(1460);
        self.bytes.read(&mut buffer[..len])
    }
}

#[test]
fn small_reads_initialize_no_more_than_twice_the_document() {
    for size in [1 << 20, 4 << 20] {
        let document = format!("\"{}\"", "a".repeat(size));
        let mut reader = Offered { bytes: document.as_bytes(), largest: 0 };
        let (usage, value) = test_support::counting::usage(|| Decoder::new(&mut reader).decode::<String>());
        assert_eq!(value.unwrap().unwrap().len(), size);
        // The buffer in all its sizes, each twice the one before, and the string.
        assert!(usage.bytes < 6 * size, "{usage:?}");
        assert!(reader.largest <= 2 * size);
    }
}
