//! JSON text sequences (RFC 7464).

use proptest::prelude::*;
use tightwire_json::{Array, ChunkDecoder, Codec, Encoder, Limits, TextSequenceDecoder, Value, from_str};

use crate::support::{self, Outcome};

fn texts(input: &[u8], codec: Codec) -> Vec<Outcome<Value>> {
    support::decode_pieces(|| TextSequenceDecoder::with_codec(codec), input)
}

#[test]
fn errors_end_at_the_next_record_separator() {
    let ok = |number: i32| Ok(Value::from(number));
    let eof = |offset| Err(("eof", Some(offset)));
    let syntax = |offset| Err(("syntax", Some(offset)));
    for (input, expected) in [
        ("", vec![]),
        ("\x1e\x1e", vec![]),
        ("\x1e1\n", vec![ok(1)]),
        ("\x1e1\n\x1e\x1e2\r\n\x1e 3\t", vec![ok(1), ok(2), ok(3)]),
        // Only numbers and literal names need white space behind them (section 2.4).
        (
            "\x1e\"a\"\x1e[1]\x1e{}",
            vec![Ok("a".into()), Ok(vec![1].into()), Ok(Value::Object(Default::default()))],
        ),
        ("\x1e1\x1e2\n", vec![eof(2), ok(2)]),
        ("\x1etrue\x1e2\n", vec![eof(5), ok(2)]),
        ("\x1e1\n\x1e-2.5e3", vec![ok(1), eof(10)]),
        // Truncated and malformed (section 2.1).
        ("\x1e{\"a\":\x1e2\n", vec![eof(6), ok(2)]),
        ("\x1e[1,\"\x1e2\n", vec![eof(5), ok(2)]),
        ("\x1e\n\x1e2\n", vec![eof(2), ok(2)]),
        ("\x1e[1}, 5\n\x1e2\n", vec![syntax(3), ok(2)]),
        ("\x1e1x\n\x1e2\n", vec![syntax(2), ok(2)]),
        ("\x1e1\"\n\x1e2\n", vec![syntax(2), ok(2)]),
        ("\x1enul\n\x1e2\n", vec![syntax(4), ok(2)]),
        ("\x1e1 2\n\x1e2\n", vec![ok(1), syntax(3), ok(2)]),
        ("\x1e[] []\n\x1e2\n", vec![Ok(Value::Array(Array::new())), syntax(4), ok(2)]),
        // No record separator at the start.
        ("1\n\x1e2\n", vec![syntax(0), ok(2)]),
        ("\n", vec![syntax(0)]),
        // Too large, in elements and as a whole.
        ("\x1e\"123456789\"\n\x1e2\n", vec![Err(("limit", Some(11))), ok(2)]),
        ("\x1e         \"12345678\"         \n", vec![Ok("12345678".into())]),
        ("\x1e[[[1]]]\n\x1e2\n", vec![Err(("limit", Some(3))), ok(2)]),
        ("\x1e1e400\n\x1e2\n", vec![Err(("data", Some(1))), ok(2)]),
    ] {
        let codec = Codec::strict().with_limits(Limits::new().max_document(10).max_depth(2));
        assert_eq!(texts(input.as_bytes(), codec), expected, "{input:?}");
    }
}

#[test]
fn a_document_is_returned_as_soon_as_it_is_complete() {
    let mut decoder = TextSequenceDecoder::<Value>::new();
    let mut next = |mut chunk: &[u8]| decoder.next(&mut chunk).map(Result::unwrap);
    assert_eq!(next(b"\x1e[1"), None);
    assert_eq!(next(b"]"), Some(vec![1].into()));
    assert_eq!(next(b"\n\x1e2"), None);
    assert_eq!(next(b"3\n"), Some(23.into()));
    assert_eq!(decoder.finish().map(support::outcome), None);
}

#[test]
fn debug_output_omits_the_input() {
    let mut decoder = TextSequenceDecoder::<Value>::new();
    assert!(decoder.next(&mut &b"\x1e\"hunter2"[..]).is_none());
    let text = format!("{decoder:?}");
    // `Debug` prints bytes as numbers.
    assert!(!text.contains("104, 117, 110"), "{text}");
}

#[test]
fn memory_is_bounded_for_documents_beyond_the_limit() {
    let codec = Codec::strict().with_limits(Limits::new().max_document(1000));
    let input = [&b"\x1e\""[..], &b"x".repeat(1 << 20), b"\"\n\x1e1\n"].concat();
    let peak = test_support::counting::peak(|| {
        let decoder = TextSequenceDecoder::<u8>::with_codec(codec);
        let found: Vec<_> =
            tightwire_json::DocumentReader::new(&input[..], decoder).map(support::outcome).collect();
        assert_eq!(found, [Err(("limit", Some(1001))), Ok(1)]);
    });
    assert!(peak < 16 << 10, "{peak}");
}

proptest! {
    #[test]
    fn encoded_sequences_decode_to_their_values(
        documents in prop::collection::vec(support::document(), 0..5),
        lengths in prop::collection::vec(0_usize..20, 0..20),
    ) {
        let values: Vec<Value> = documents.iter().filter_map(|document| from_str(document).ok()).collect();
        let mut encoder = Encoder::new(Vec::new()).with_record_separator();
        for value in &values {
            encoder.encode(value).unwrap();
            encoder.encode(&f64::NAN).unwrap_err();
        }
        let bytes = encoder.into_inner();
        let found = support::decode_chunks(TextSequenceDecoder::new(), &support::split(&bytes, &lengths));
        prop_assert_eq!(found, values.into_iter().map(Ok).collect::<Vec<_>>());
    }

    #[test]
    fn malformed_texts_affect_no_other(
        bytes in support::mutated(), lengths in prop::collection::vec(0_usize..20, 0..20)
    ) {
        prop_assume!(!bytes.contains(&0x1e));
        let input = [&b"\x1e1\n\x1e"[..], &bytes, b"\n\x1e2\n"].concat();
        let found = support::decode_chunks(TextSequenceDecoder::<Value>::new(), &support::split(&input, &lengths));
        prop_assert_eq!(&found, &support::decode_chunks(TextSequenceDecoder::new(), &[&input]));
        let [first, text @ .., last] = &found[..] else { panic!("{found:?}") };
        prop_assert_eq!((first, last), (&Ok(1.into()), &Ok(2.into())));
        if bytes.is_empty() {
            prop_assert_eq!(text, &[Err(("eof", Some(5)))]);
        } else if let Ok(value) = tightwire_json::from_slice::<Value>(&bytes) {
            prop_assert_eq!(text, &[Ok(value)]);
        } else {
            prop_assert!(matches!(text, [.., Err(_)]), "{:?}", text);
        }
    }
}
