//! Decodes the elements of an array with arbitrary limits, and the same bytes as a text sequence. The results must not
//! depend on the chunks, and must be those of the whole document. The first bytes of the input set the mode, the
//! limits and the chunks, the first line is the pointer.
#![no_main]

use tightwire_json::{ChunkDecoder, Codec, Duplicates, ElementDecoder, ErrorDetails as _, Limits, Mode, TextSequenceDecoder, Value};

/// Value, or kind (syntax, EOF, data, limit) and offset of the error.
type Outcome = Result<Value, (bool, bool, bool, bool, Option<u64>)>;

/// Returns `number`, or no limit if it is 255.
fn limit(number: u8) -> usize {
    if number == u8::MAX { usize::MAX } else { usize::from(number) }
}

/// Decodes chunks whose sizes repeat.
fn decode(mut decoder: impl ChunkDecoder<Document = Value>, mut input: &[u8], sizes: &[usize]) -> Vec<Outcome> {
    let mut sizes = sizes.iter().cycle();
    let mut results = Vec::new();
    while !input.is_empty() {
        let (mut chunk, rest) = input.split_at(sizes.next().map_or(input.len(), |size| (*size).min(input.len())));
        input = rest;
        while let Some(result) = decoder.next(&mut chunk) {
            results.push(result);
        }
        assert!(chunk.is_empty());
    }
    results.extend(decoder.finish());
    let outcome = |result: tightwire_json::Result<Value>| {
        result.map_err(|error| {
            (error.is_syntax(), error.is_eof(), error.is_data(), error.is_limit(), error.offset())
        })
    };
    results.into_iter().map(outcome).collect()
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[mode, depth, size, string, first, second], input)) = input.split_first_chunk() else { return };
    let Some(line) = input.iter().position(|byte| *byte == b'\n') else { return };
    let (Ok(pointer), document) = (std::str::from_utf8(&input[..line]), &input[line + 1..]) else { return };
    let limits = Limits::new().max_depth(limit(depth)).max_string(limit(string));
    let whole = Codec::new([Mode::Strict, Mode::Compat][usize::from(mode % 2)]).with_limits(limits);
    let codec = whole.with_limits(limits.max_document(limit(size)));
    let sizes = [first, second].map(|size| usize::from(size % 32) + 1);

    let texts = || TextSequenceDecoder::with_codec(codec);
    assert_eq!(decode(texts(), document, &sizes), decode(texts(), document, &[]));

    let Ok(decoder) = ElementDecoder::with_codec(pointer, codec) else { return };
    let elements = decode(decoder, document, &[]);
    let decoder = ElementDecoder::with_codec(pointer, codec).expect("the pointer is valid");
    assert_eq!(decode(decoder, document, &sizes), elements);

    let last = elements.last();
    if !whole.is_valid(document) {
        assert!(matches!(last, Some(Err(_))), "{elements:?}");
        return;
    }
    assert!(!matches!(last, Some(Err((true, ..) | (_, true, ..)))), "{elements:?}");
    // The document may have duplicate keys, and numbers out of range.
    let Ok(root) = whole.with_duplicates(Duplicates::Error).from_slice::<Value>(document) else { return };
    match root.pointer(pointer) {
        Some(Value::Array(values)) => {
            // Nothing is decoded after an element that exceeds the limit.
            let count = elements.len() - usize::from(matches!(last, Some(Err((_, _, _, true, _)))));
            assert!(elements[..count].iter().eq(values[..count].iter().cloned().map(Ok).collect::<Vec<_>>().iter()));
            assert!(count < elements.len() || count == values.len());
        }
        _ => assert!(matches!(elements[..], [Err((_, _, true, ..))]), "{elements:?}"),
    }
});
