//! Every backend gives the same value or the same kind of error at the same offset, and where serde_json accepts a
//! document so does this crate, with the same value, unless a documented difference explains it.
#![no_main]

use json::{Backend, Codec, Value};
use serde::de::IgnoredAny;

fn outcome(result: json::Result<Value>) -> Result<String, (bool, bool, bool, bool, Option<u64>)> {
    // Debug tells -0 from 0, which comparison does not.
    result.map(|value| format!("{value:?}")).map_err(|error| {
        (error.is_syntax(), error.is_eof(), error.is_data(), error.is_limit(), error.offset())
    })
}

libfuzzer_sys::fuzz_target!(|document: &[u8]| {
    let native = outcome(Codec::strict().from_slice(document));
    for backend in [Backend::SerdeJson, Backend::SimdJson] {
        assert_eq!(outcome(Codec::strict().with_backend(backend).from_slice(document)), native, "{backend:?}");
    }
    let mut copy = document.to_vec();
    assert_eq!(outcome(Codec::strict().from_slice_mut(&mut copy)), native);
    assert_eq!(Codec::strict().from_slice::<IgnoredAny>(document).is_ok(), json::is_valid(document));

    let theirs = serde_json::from_slice::<Value>(document);
    match (&native, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(*ours, format!("{theirs:?}")),
        // They count one level of nesting less.
        (Ok(_), Err(error)) => assert!(error.to_string().contains("recursion limit"), "{error}"),
        (Err(_), Ok(theirs)) => panic!("refused, but serde_json gives {theirs:?}"),
        (Err(_), Err(_)) => {}
    }
});
