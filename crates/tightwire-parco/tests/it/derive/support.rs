//! Helpers shared by the derive tests.

use std::fmt::Debug;

use tightwire_parco::{DecodeOwned, Encode};

/// Checks that a value has these bytes, in both directions and with every function that computes sizes.
#[track_caller]
pub(crate) fn same<T: Encode + DecodeOwned + PartialEq + Debug>(value: &T, bytes: &[u8]) {
    assert_eq!(tightwire_parco::to_vec(value).unwrap(), bytes);
    assert_eq!(tightwire_parco::encoded_len(value).unwrap(), bytes.len());
    assert_eq!(&tightwire_parco::decode_exact::<T>(bytes).unwrap(), value);
    let mut stream = bytes;
    assert_eq!(&tightwire_parco::decode_from_reader::<T>(&mut stream).unwrap(), value);
    assert!(stream.is_empty());
}

/// Returns a case of the vectors and its bytes.
pub(crate) fn vector(list: &str, id: &str) -> (serde_json::Value, Vec<u8>) {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("../../data/parco-vectors.json")).unwrap();
    let case = vectors[list].as_array().unwrap().iter().find(|case| case["id"] == id).unwrap().clone();
    let hex = case["hex"].as_str().unwrap().as_bytes().as_chunks::<2>().0;
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes = hex.iter().map(byte).collect();
    (case, bytes)
}
