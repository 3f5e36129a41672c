//! Compares the decoder with serde_json, and its entry points with each other, for trees and other types. A document that
//! serde_json accepts must decode to the same value, except for documented differences. If a document is decoded, a
//! `Deserializer` must return the same value. The first bytes of the input set the limits.
#![no_main]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use tightwire_json::de::{Deserializer, IoRead, SliceRead};
use tightwire_json::{Codec, ErrorDetails as _, Limits, Value};

/// Value, or kind (syntax, EOF, data, limit) and offset of the error.
type Outcome = Result<String, (bool, bool, bool, bool, Option<u64>)>;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "`Debug` reads the fields")]
struct Record {
    a: Option<u64>,
    #[serde(default)]
    b: Vec<(i8, f64)>,
    #[serde(default)]
    c: BTreeMap<String, Shape>,
    d: Option<Box<Self>>,
    e: Option<Value>,
}

#[derive(Debug, Deserialize)]
enum Shape {
    #[serde(rename = "a")]
    Unit,
    #[serde(rename = "b")]
    Newtype(#[expect(dead_code, reason = "`Debug` reads it")] i32),
    #[serde(rename = "c")]
    Struct {
        #[expect(dead_code, reason = "`Debug` reads it")]
        a: bool,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "`Debug` reads the fields")]
enum Untagged {
    Integer(i64),
    Text(String),
    Shape(Shape),
    Many(Vec<Self>),
    Tree(Value),
}

fn outcome<T: Debug>(result: tightwire_json::Result<T>) -> Outcome {
    // `Debug` distinguishes -0 from 0, `==` does not.
    result
        .map(|value| format!("{value:?}"))
        .map_err(|error| (error.is_syntax(), error.is_eof(), error.is_data(), error.is_limit(), error.offset()))
}

/// Asserts that all entry points return the same, and returns it.
fn decoded<T: DeserializeOwned + Debug>(codec: Codec, document: &[u8]) -> Outcome {
    let native = outcome::<T>(codec.from_slice(document));
    let first = T::deserialize(&mut Deserializer::with_codec(SliceRead::new(document), codec));
    let read = T::deserialize(&mut Deserializer::with_codec(IoRead::new(document), codec));
    if native.is_ok() {
        assert_eq!(outcome(first), native);
        assert_eq!(outcome(read), native);
    }
    native
}

/// Compares the values of a type.
fn compare<T: DeserializeOwned + Debug>(document: &[u8]) {
    let native = decoded::<T>(Codec::strict(), document);
    match (&native, serde_json::from_slice::<T>(document)) {
        (Ok(ours), Ok(theirs)) => assert_eq!(*ours, format!("{theirs:?}")),
        // serde_json accepts one level less, and no `-0` for integers.
        (Ok(_), Err(error)) => assert!(
            error.to_string().contains("recursion limit") || document.windows(2).any(|bytes| bytes == b"-0"),
            "{error}"
        ),
        // serde_json accepts more in skipped values.
        (Err(error), Ok(theirs)) => assert!(!Codec::strict().is_valid(document), "{error:?} {theirs:?}"),
        (Err(_), Err(_)) => {}
    }
}

/// Compares the values before the first error.
fn compare_streams(document: &[u8]) {
    let mut ours = tightwire_json::Deserializer::from_slice(document).into_iter::<Value>();
    let mut theirs = serde_json::Deserializer::from_slice(document).into_iter::<Value>();
    loop {
        match (ours.next(), theirs.next()) {
            (Some(Ok(value)), Some(Ok(their_value))) => {
                assert_eq!(format!("{value:?}"), format!("{their_value:?}"));
                assert_eq!(ours.byte_offset(), theirs.byte_offset());
            }
            (Some(Ok(_)), Some(Err(error))) => {
                assert!(error.to_string().contains("recursion limit"), "{error}");
                return;
            }
            (Some(Err(_)), Some(Err(_))) | (None, None) => return,
            (one, other) => panic!("{one:?} {other:?}"),
        }
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[depth, size, string], document)) = input.split_first_chunk() else { return };
    // 255 means no limit.
    let limit = |number: u8, unit: usize| if number == u8::MAX { usize::MAX } else { usize::from(number) * unit };
    let limits = Limits::new().max_depth(limit(depth, 1)).max_document(limit(size, 4)).max_string(limit(string, 1));
    let limited = decoded::<Value>(Codec::strict().with_limits(limits), document);
    let native = decoded::<Value>(Codec::strict(), document);
    if limited.is_ok() {
        // The depth set by the input can exceed the default.
        assert!(limited == native || matches!(native, Err((_, _, _, true, _))), "{limited:?} {native:?}");
    }
    for codec in [Codec::strict(), Codec::strict().with_limits(limits)] {
        assert_eq!(codec.from_slice::<IgnoredAny>(document).is_ok(), codec.is_valid(document));
    }

    if let (Err(error), Ok(theirs)) = (&native, serde_json::from_slice::<Value>(document)) {
        panic!("{error:?}, but serde_json returns {theirs:?}");
    }
    compare::<Value>(document);
    compare::<Record>(document);
    compare::<Untagged>(document);
    compare::<Vec<Shape>>(document);
    compare::<BTreeMap<i16, Option<String>>>(document);
    compare_streams(document);
});
