//! Decodes arbitrary bytes with arbitrary limits. Decoding must not panic or hang, decoded values must round-trip, and
//! NDJSON must decode to the same values for every chunk size. The first bytes of the input set the mode, the limits
//! and the chunk size.
#![no_main]

use tightwire_json::{ChunkDecoder, Codec, Limits, LineDecoder, Mode, Value};

/// Returns `number * unit`, or no limit if `number` is 255.
fn limit(number: u8, unit: usize) -> usize {
    if number == u8::MAX { usize::MAX } else { usize::from(number) * unit }
}

/// Decodes NDJSON and returns the value or the error message of each line.
fn lines<'a>(chunks: impl Iterator<Item = &'a [u8]>, codec: Codec, max_line: usize) -> Vec<Result<Value, String>> {
    let mut decoder = LineDecoder::with_codec(codec).max_line(max_line);
    let mut results = Vec::new();
    for mut chunk in chunks {
        while let Some(result) = decoder.next(&mut chunk) {
            results.push(result.map_err(|error| error.to_string()));
        }
    }
    results.extend(decoder.finish().map(|result| result.map_err(|error| error.to_string())));
    results
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[mode, depth, size, string, chunk_size], document)) = input.split_first_chunk() else { return };
    let unlimited = Codec::new([Mode::Strict, Mode::Compat, Mode::Fast, Mode::Canonical][usize::from(mode % 4)]);
    let codec = unlimited
        .with_limits(Limits::new().max_depth(limit(depth, 1)).max_document(limit(size, 4)).max_string(limit(string, 1)));
    let chunk_size = usize::from(chunk_size).max(1);
    let whole = lines([document].into_iter(), codec, limit(size, 4));
    assert_eq!(lines(document.chunks(chunk_size), codec, limit(size, 4)), whole);

    let Ok(value) = codec.from_slice::<Value>(document) else {
        // Decoding the same bytes as a stream of documents must terminate, too.
        let mut documents = tightwire_json::Decoder::with_codec(document, codec);
        while let Ok(Some(_)) = documents.decode::<Value>() {}
        return;
    };
    assert!(codec.is_valid(document));
    let Ok(again) = codec.to_vec(&value) else {
        // The canonical form has no integers that are not exact as a double.
        assert_eq!(codec.mode(), Mode::Canonical, "a decoded value can be encoded");
        return;
    };
    // Without limits: escapes may make the document longer.
    let value_again: Value = unlimited.from_slice(&again).expect("an encoded document can be decoded");
    // Go and ECMAScript encode 1.0 as 1, which is decoded as an integer.
    if matches!(codec.mode(), Mode::Strict | Mode::Fast) {
        assert_eq!(value_again, value);
    }
    assert_eq!(codec.to_vec(&value_again).expect("it was encoded before"), again);
    let pretty = codec.to_vec_pretty(&value, "  ").expect("a decoded value can be encoded");
    if matches!(codec.mode(), Mode::Strict | Mode::Fast) {
        assert_eq!(serde_json::to_vec(&value).expect("a tree can be encoded"), again);
        assert_eq!(serde_json::to_vec_pretty(&value).expect("a tree can be encoded"), pretty);
    }
    assert_eq!(unlimited.from_slice::<Value>(&pretty).expect("an encoded document can be decoded"), value_again);
});
