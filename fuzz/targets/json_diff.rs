//! Compares the decoder with serde_json, and its entry points with each other. A document that serde_json accepts must
//! decode to the same value, except for documented differences. If a document is decoded, a `Deserializer` must return the
//! same value. The first bytes of the input set the limits.
#![no_main]

use serde::Deserialize;
use serde::de::IgnoredAny;
use tightwire_json::de::{Deserializer, IoRead, SliceRead};
use tightwire_json::{Codec, Limits, Value};

/// Value, or kind (syntax, EOF, data, limit) and offset of the error.
type Outcome = Result<String, (bool, bool, bool, bool, Option<u64>)>;

fn outcome(result: tightwire_json::Result<Value>) -> Outcome {
    // `Debug` distinguishes -0 from 0, `==` does not.
    result.map(|value| format!("{value:?}")).map_err(|error| {
        (error.is_syntax(), error.is_eof(), error.is_data(), error.is_limit(), error.offset())
    })
}

/// Asserts that all entry points return the same, and returns it.
fn decoded(codec: Codec, document: &[u8]) -> Outcome {
    let native = outcome(codec.from_slice(document));
    let first = Value::deserialize(&mut Deserializer::with_codec(SliceRead::new(document), codec));
    let read = Value::deserialize(&mut Deserializer::with_codec(IoRead::new(document), codec));
    if native.is_ok() {
        assert_eq!(outcome(first), native);
        assert_eq!(outcome(read), native);
    }
    assert_eq!(codec.from_slice::<IgnoredAny>(document).is_ok(), codec.is_valid(document));
    native
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[depth, size, string], document)) = input.split_first_chunk() else { return };
    // 255 means no limit.
    let limit = |number: u8, unit: usize| if number == u8::MAX { usize::MAX } else { usize::from(number) * unit };
    let limits = Limits::new().max_depth(limit(depth, 1)).max_document(limit(size, 4)).max_string(limit(string, 1));
    let limited = decoded(Codec::strict().with_limits(limits), document);
    let native = decoded(Codec::strict(), document);
    if limited.is_ok() {
        // The depth set by the input can exceed the default.
        assert!(limited == native || matches!(native, Err((_, _, _, true, _))), "{limited:?} {native:?}");
    }

    let theirs = serde_json::from_slice::<Value>(document);
    match (&native, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(*ours, format!("{theirs:?}")),
        // serde_json accepts one level less.
        (Ok(_), Err(error)) => assert!(error.to_string().contains("recursion limit"), "{error}"),
        (Err(_), Ok(theirs)) => panic!("rejected, but serde_json returns {theirs:?}"),
        (Err(_), Err(_)) => {}
    }
});
