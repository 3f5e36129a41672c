//! Helpers shared by the derive tests.

use std::fmt::Debug;

use tightwire_parco::{DecodeOwned, Encode, decode_exact, decode_from_reader, encoded_len, to_vec};

/// Checks that a value has these bytes, in both directions and with every function that computes sizes.
#[track_caller]
pub(crate) fn same<T: Encode + DecodeOwned + PartialEq + Debug>(value: &T, bytes: &[u8]) {
    assert_eq!(to_vec(value).unwrap(), bytes);
    assert_eq!(encoded_len(value).unwrap(), bytes.len());
    assert_eq!(&decode_exact::<T>(bytes).unwrap(), value);
    let mut stream = bytes;
    assert_eq!(&decode_from_reader::<T>(&mut stream).unwrap(), value);
    assert!(stream.is_empty());
}
