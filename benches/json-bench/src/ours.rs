//! Operations of tightwire-json. Each function returns the check value of the row, 0 on failure.

use std::hint::black_box;
use std::io::{Write, sink};

use serde::Serialize;
use tightwire_json::{Codec, Decoder, Encoder};

use super::peers::Family;
use super::types::Check;

/// Encodes into a new vector and returns its length.
pub fn to_vec<T: Serialize>(value: &T) -> u64 {
    tightwire_json::to_vec(black_box(value)).map_or(0, |document| black_box(&document).len() as u64)
}

/// Encodes with a codec into a new vector and returns its length.
pub fn to_vec_with<T: Serialize>(codec: &Codec, value: &T) -> u64 {
    codec.to_vec(black_box(value)).map_or(0, |document| black_box(&document).len() as u64)
}

/// Encodes into a reused buffer and returns its length.
pub fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> u64 {
    buffer.clear();
    tightwire_json::to_buf(buffer, black_box(value)).map_or(0, |()| black_box(&*buffer).len() as u64)
}

/// Encodes a line with a new encoder into a new buffer and returns its length.
pub fn encoder<T: Serialize>(value: &T) -> u64 {
    let mut buffer = Vec::new();
    Encoder::new(&mut buffer).encode(black_box(value)).map_or(0, |()| black_box(&buffer).len() as u64)
}

/// Like [`encoder`], then writes the buffer to a sink, as an HTTP handler does.
pub fn http<T: Serialize>(value: &T) -> u64 {
    let mut buffer = Vec::new();
    let encoded = Encoder::new(&mut buffer).encode(black_box(value));
    match encoded.is_ok() && sink().write_all(black_box(&buffer)).is_ok() {
        true => buffer.len() as u64,
        false => 0,
    }
}

/// Decodes a document and returns its check value.
pub fn decode<F: Family>(document: &[u8]) -> u64 {
    tightwire_json::from_slice_borrowed::<F::Of<'_>>(black_box(document))
        .map_or(0, |value| black_box(&value).check())
}

/// Decodes the next document of a reader with a new decoder and returns its check value.
pub fn decoder<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: serde::de::DeserializeOwned,
{
    match Decoder::new(black_box(document)).decode::<F::Of<'static>>() {
        Ok(Some(value)) => black_box(&value).check(),
        _ => 0,
    }
}

/// Decodes the document of a reader and returns its check value.
pub fn whole_reader<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: serde::de::DeserializeOwned,
{
    tightwire_json::from_reader::<_, F::Of<'static>>(black_box(document))
        .map_or(0, |value| black_box(&value).check())
}

/// Encodes a value, decodes the result, and returns the check value.
pub fn round_trip<F: Family, T: Serialize>(value: &T) -> u64 {
    tightwire_json::to_vec(black_box(value)).map_or(0, |document| decode::<F>(&document))
}
