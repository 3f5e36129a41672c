//! Structs and enums with derived codecs.

use std::fmt::Debug;

use tightwire_parco::{DecodeOwned, Encode, decode_exact, decode_from_reader, encoded_len, to_vec};

mod attributes;
mod borrowed;
mod enums;
mod errors;
mod evolve;
mod generics;
mod into;
mod max_size;
mod types;

/// Checks that a value has these bytes, in both directions and with every function that computes sizes.
#[track_caller]
fn same<T: Encode + DecodeOwned + PartialEq + Debug>(value: &T, bytes: &[u8]) {
    assert_eq!(to_vec(value).unwrap(), bytes);
    assert_eq!(encoded_len(value).unwrap(), bytes.len());
    assert_eq!(&decode_exact::<T>(bytes).unwrap(), value);
    let mut stream = bytes;
    assert_eq!(&decode_from_reader::<T>(&mut stream).unwrap(), value);
    assert!(stream.is_empty());
}
