//! Other crates, called as shown first in their documentation. Each function returns the check value of the row, 0 on
//! failure.

use std::hint::black_box;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::documents::{Catalogue, Coastline, Messages};
use super::text::Lazy;
use super::types::{ApiData, ApiResponse, Check, PageResponse, TestData, TestMetadata, TestResponse};

/// Version of serde_json.
pub const SERDE_JSON: &str = "1.0.154";
/// Version of simd-json.
pub const SIMD_JSON: &str = "0.19.0";
/// Version of sonic-rs.
pub const SONIC_RS: &str = "0.5.10";

/// Type that may borrow from its document.
pub trait Family {
    /// Type for documents with the lifetime `'de`.
    type Of<'de>: Deserialize<'de> + Check;
}

macro_rules! families {
    ($($(#[$doc:meta])* $name:ident = $of:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl Family for $name {
                type Of<'de> = $of;
            }
        )*
    };
}

families! {
    /// The API response with a tree of values.
    ApiDynamic = ApiResponse<String, Value>;
    /// The API response with the tree of simd-json.
    ApiSimdJson = ApiResponse<String, simd_json::OwnedValue>;
    /// The API response with the tree of sonic-rs.
    ApiSonicRs = ApiResponse<String, sonic_rs::Value>;
    /// The API response with owned strings.
    ApiOwned = ApiResponse<String, ApiData<String>>;
    /// The API response with strings that borrow if they have no escapes.
    ApiCow = ApiResponse<Lazy<'de>, ApiData<Lazy<'de>>>;
    /// The API response with strings that must borrow.
    ApiStr = ApiResponse<&'de str, ApiData<&'de str>>;
    /// The page with owned strings.
    PageOwned = PageResponse<String>;
    /// The page with strings that borrow if they have no escapes.
    PageCow = PageResponse<Lazy<'de>>;
    /// The page with strings that must borrow.
    PageStr = PageResponse<&'de str>;
    /// The test response with trees of values.
    TestDynamic = TestResponse<String, Value, Value>;
    /// The test response with owned strings.
    TestOwned = TestResponse<String, TestData<String>, TestMetadata<String>>;
    /// The test response with strings that borrow if they have no escapes.
    TestCow = TestResponse<Lazy<'de>, TestData<Lazy<'de>>, TestMetadata<Lazy<'de>>>;
    /// The test response with strings that must borrow.
    TestStr = TestResponse<&'de str, TestData<&'de str>, TestMetadata<&'de str>>;
    /// Any document as a tree of values.
    Tree = Value;
    /// A document of messages.
    MessagesOwned = Messages;
    /// A document of a catalogue.
    CatalogueOwned = Catalogue;
    /// A document of a coastline.
    CoastlineOwned = Coastline;
}

fn length<E>(document: Result<Vec<u8>, E>) -> u64 {
    document.map_or(0, |document| black_box(&document).len() as u64)
}

/// serde_json into a new vector.
pub fn serde_json_to_vec<T: Serialize>(value: &T) -> u64 {
    length(serde_json::to_vec(black_box(value)))
}

/// simd-json into a new vector.
pub fn simd_json_to_vec<T: Serialize>(value: &T) -> u64 {
    length(simd_json::serde::to_vec(black_box(value)))
}

/// sonic-rs into a new vector.
pub fn sonic_rs_to_vec<T: Serialize>(value: &T) -> u64 {
    length(sonic_rs::to_vec(black_box(value)))
}

/// serde_json into a reused buffer.
pub fn serde_json_to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> u64 {
    buffer.clear();
    serde_json::to_writer(&mut *buffer, black_box(value)).map_or(0, |()| black_box(&*buffer).len() as u64)
}

/// simd-json into a reused buffer.
pub fn simd_json_to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> u64 {
    buffer.clear();
    simd_json::serde::to_writer(&mut *buffer, black_box(value))
        .map_or(0, |()| black_box(&*buffer).len() as u64)
}

/// sonic-rs into a reused buffer.
pub fn sonic_rs_to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> u64 {
    buffer.clear();
    sonic_rs::to_writer(&mut *buffer, black_box(value)).map_or(0, |()| black_box(&*buffer).len() as u64)
}

/// serde_json, a line into a new buffer.
pub fn serde_json_line<T: Serialize>(value: &T) -> u64 {
    let mut buffer = Vec::new();
    let encoded = serde_json::to_writer(&mut buffer, black_box(value));
    buffer.push(b'\n');
    encoded.map_or(0, |()| black_box(&buffer).len() as u64)
}

/// simd-json, a line into a new buffer.
pub fn simd_json_line<T: Serialize>(value: &T) -> u64 {
    let mut buffer = Vec::new();
    let encoded = simd_json::serde::to_writer(&mut buffer, black_box(value));
    buffer.push(b'\n');
    encoded.map_or(0, |()| black_box(&buffer).len() as u64)
}

/// sonic-rs, a line into a new buffer.
pub fn sonic_rs_line<T: Serialize>(value: &T) -> u64 {
    let mut buffer = Vec::new();
    let encoded = sonic_rs::to_writer(&mut buffer, black_box(value));
    buffer.push(b'\n');
    encoded.map_or(0, |()| black_box(&buffer).len() as u64)
}

fn checked<T: Check, E>(value: Result<T, E>) -> u64 {
    value.map_or(0, |value| black_box(&value).check())
}

/// serde_json from bytes.
pub fn serde_json_slice<F: Family>(document: &[u8]) -> u64 {
    checked(serde_json::from_slice::<F::Of<'_>>(black_box(document)))
}

/// serde_json from text, including UTF-8 validation of the bytes.
pub fn serde_json_str<F: Family>(document: &[u8]) -> u64 {
    match std::str::from_utf8(black_box(document)) {
        Ok(text) => checked(serde_json::from_str::<F::Of<'_>>(text)),
        Err(_) => 0,
    }
}

/// sonic-rs from bytes.
pub fn sonic_rs_slice<F: Family>(document: &[u8]) -> u64 {
    checked(sonic_rs::from_slice::<F::Of<'_>>(black_box(document)))
}

/// simd-json, which modifies its input: every operation copies the document into a reused buffer. Its working memory is
/// reused, too.
#[derive(Default)]
pub struct SimdJson {
    copy: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl std::fmt::Debug for SimdJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimdJson").field("capacity", &self.copy.capacity()).finish_non_exhaustive()
    }
}

impl SimdJson {
    /// Decodes a document.
    pub fn decode<F: Family>(&mut self, document: &[u8]) -> u64 {
        self.copy.clear();
        self.copy.extend_from_slice(black_box(document));
        checked(simd_json::serde::from_slice_with_buffers::<F::Of<'_>>(&mut self.copy, &mut self.buffers))
    }

    /// Decodes a document into an owned value.
    ///
    /// # Errors
    /// If the document is not a `T`.
    pub fn owned<T: DeserializeOwned>(&mut self, document: &[u8]) -> simd_json::Result<T> {
        self.copy.clear();
        self.copy.extend_from_slice(document);
        simd_json::serde::from_slice_with_buffers(&mut self.copy, &mut self.buffers)
    }
}

/// serde_json, the next document of a reader with a new stream decoder.
pub fn serde_json_stream<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    let mut documents =
        serde_json::Deserializer::from_reader(black_box(document)).into_iter::<F::Of<'static>>();
    documents.next().map_or(0, checked)
}

/// serde_json from a reader.
pub fn serde_json_reader<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    checked(serde_json::from_reader::<_, F::Of<'static>>(black_box(document)))
}

/// simd-json from a reader.
pub fn simd_json_reader<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    checked(simd_json::serde::from_reader::<_, F::Of<'static>>(black_box(document)))
}

/// sonic-rs from a reader.
pub fn sonic_rs_reader<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    checked(sonic_rs::from_reader::<_, F::Of<'static>>(black_box(document)))
}

/// serde_json, encoding and decoding.
pub fn serde_json_round_trip<F: Family, T: Serialize>(value: &T) -> u64 {
    serde_json::to_vec(black_box(value)).map_or(0, |document| serde_json_slice::<F>(&document))
}

/// sonic-rs, encoding and decoding.
pub fn sonic_rs_round_trip<F: Family, T: Serialize>(value: &T) -> u64 {
    sonic_rs::to_vec(black_box(value)).map_or(0, |document| sonic_rs_slice::<F>(&document))
}

impl SimdJson {
    /// Encoding and decoding, in the same buffer.
    pub fn round_trip<F: Family, T: Serialize>(&mut self, value: &T) -> u64 {
        simd_json::serde::to_vec(black_box(value)).map_or(0, |mut document| {
            let document = black_box(&mut document);
            checked(simd_json::serde::from_slice_with_buffers::<F::Of<'_>>(document, &mut self.buffers))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload;

    /// Compares whole values, unlike the check values.
    #[test]
    fn all_crates_decode_the_same_value() {
        fn all<T: DeserializeOwned + PartialEq + std::fmt::Debug + Serialize>(value: &T) {
            let document = serde_json::to_vec(value).unwrap();
            assert_eq!(tightwire_json::from_slice::<T>(&document).unwrap(), *value);
            assert_eq!(
                tightwire_json::from_slice::<T>(&tightwire_json::to_vec(value).unwrap()).unwrap(),
                *value
            );
            assert_eq!(sonic_rs::from_slice::<T>(&sonic_rs::to_vec(value).unwrap()).unwrap(), *value);
            let mut copy = simd_json::serde::to_vec(value).unwrap();
            assert_eq!(simd_json::serde::from_slice::<T>(&mut copy).unwrap(), *value);
        }
        all(&payload::api_dynamic());
        all(&payload::api_typed());
        all(&payload::user());
        all(&payload::page());
        all(&payload::test_dynamic());
        all(&payload::test_typed());
        all(&payload::complex_dynamic());
        all(&payload::complex_typed());
        all(&payload::simple());
    }

    #[test]
    fn cow_strings_borrow() {
        let document = serde_json::to_vec(&payload::api_typed()).unwrap();
        let value: <ApiCow as Family>::Of<'_> = tightwire_json::from_slice_borrowed(&document).unwrap();
        assert!(matches!(value.message.0, std::borrow::Cow::Borrowed("success")));
    }
}
