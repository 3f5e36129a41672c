//! tightwire-json and other libraries, called as shown first in their documentation, and the operations that the rows
//! measure. Each operation returns the check value of the row, 0 on failure.

use std::hint::black_box;

use benches::Impl;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use simd_json::prelude::Writable as _;
use tightwire_json::{Decoder, Encoder};

use super::families::Family;
use super::types::Check;

/// A JSON library for types of serde.
pub trait Library: Default + 'static {
    /// Name in the report.
    const NAME: &'static str;
    /// Version, `None` for tightwire-json.
    const VERSION: Option<&'static str>;

    /// Tree of values.
    type Tree: Serialize + DeserializeOwned + Check;

    /// Encodes into a new vector.
    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>>;

    /// Appends the encoded value to a buffer.
    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()>;

    /// Decodes a document. `self` has memory that is reused.
    fn read<'de, T: Deserialize<'de>>(&'de mut self, document: &'de [u8]) -> Option<T>;

    /// Decodes a document that may be modified.
    fn read_mut<'de, T: Deserialize<'de>>(&'de mut self, document: &'de mut Vec<u8>) -> Option<T> {
        self.read(document)
    }

    /// Decodes the document of a reader.
    fn from_reader<T: DeserializeOwned>(document: &[u8]) -> Option<T>;

    /// Decodes a document into a tree.
    fn tree(&mut self, document: &[u8]) -> Option<Self::Tree> {
        self.read(document)
    }

    /// Decodes a document that may be modified into a tree.
    fn tree_mut(&mut self, document: &mut [u8]) -> Option<Self::Tree> {
        self.tree(document)
    }

    /// Encodes a tree into a new vector.
    fn tree_to_vec(tree: &Self::Tree) -> Option<Vec<u8>> {
        Self::to_vec(tree)
    }

    /// Encodes into a new vector, with line breaks.
    fn to_vec_pretty<T: Serialize>(value: &T) -> Option<Vec<u8>>;

    /// Converts a value to a tree.
    fn to_value<T: Serialize>(value: &T) -> Option<Self::Tree>;

    /// Converts a tree to another type.
    fn from_value<T: DeserializeOwned>(tree: &Self::Tree) -> Option<T>;

    /// Encodes a line with an encoder for streams, if the library has one, and appends it to a buffer.
    fn line<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        Self::to_buf(buffer, value)?;
        buffer.push(b'\n');
        Some(())
    }
}

/// A library whose values can borrow from the document.
pub trait Borrowing: Library {
    /// Decodes a document.
    fn from_borrowed<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Option<T>;
}

macro_rules! libraries {
    ($($(#[$meta:meta])* $name:ident, $text:literal, $version:expr, $tree:ty $(, $line:expr)?;
       $to_vec:expr, $to_buf:expr, $from_slice:expr, $from_reader:expr,
       $to_vec_pretty:expr, $to_value:expr, $from_value:expr;)+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default)]
            pub struct $name;

            impl Library for $name {
                const NAME: &'static str = $text;
                const VERSION: Option<&'static str> = $version;
                type Tree = $tree;

                fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
                    $to_vec(value).ok()
                }

                fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
                    $to_buf(buffer, value).ok()
                }

                fn read<'de, T: Deserialize<'de>>(&'de mut self, document: &'de [u8]) -> Option<T> {
                    $from_slice(document).ok()
                }

                fn from_reader<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
                    $from_reader(document).ok()
                }

                fn to_vec_pretty<T: Serialize>(value: &T) -> Option<Vec<u8>> {
                    $to_vec_pretty(value).ok()
                }

                fn to_value<T: Serialize>(value: &T) -> Option<Self::Tree> {
                    $to_value(value).ok()
                }

                fn from_value<T: DeserializeOwned>(tree: &Self::Tree) -> Option<T> {
                    $from_value(tree).ok()
                }

                $(
                    fn line<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
                        $line(buffer, value).ok()
                    }
                )?
            }

            impl Borrowing for $name {
                fn from_borrowed<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Option<T> {
                    $from_slice(document).ok()
                }
            }
        )+
    };
}

libraries! {
    /// tightwire-json.
    Ours, "ours", None, tightwire_json::Value, |buffer, value| Encoder::new(buffer).encode(value);
        tightwire_json::to_vec, tightwire_json::to_buf, tightwire_json::from_slice,
        tightwire_json::from_reader, tightwire_json::to_vec_pretty, tightwire_json::to_value, T::deserialize;
    /// serde_json.
    SerdeJson, "serde_json", Some("1.0.154"), serde_json::Value;
        serde_json::to_vec, serde_json::to_writer, serde_json::from_slice, serde_json::from_reader,
        serde_json::to_vec_pretty, serde_json::to_value, T::deserialize;
    /// sonic-rs.
    SonicRs, "sonic-rs", Some("0.5.10"), sonic_rs::Value;
        sonic_rs::to_vec, sonic_rs::to_writer, sonic_rs::from_slice, sonic_rs::from_reader,
        sonic_rs::to_vec_pretty, sonic_rs::to_value, sonic_rs::from_value;
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

impl Library for SimdJson {
    const NAME: &'static str = "simd-json";
    const VERSION: Option<&'static str> = Some("0.19.0");
    type Tree = simd_json::OwnedValue;

    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        simd_json::serde::to_vec(value).ok()
    }

    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        simd_json::serde::to_writer(buffer, value).ok()
    }

    fn read<'de, T: Deserialize<'de>>(&'de mut self, document: &'de [u8]) -> Option<T> {
        self.copy.clear();
        self.copy.extend_from_slice(document);
        simd_json::serde::from_slice_with_buffers(&mut self.copy, &mut self.buffers).ok()
    }

    fn read_mut<'de, T: Deserialize<'de>>(&'de mut self, document: &'de mut Vec<u8>) -> Option<T> {
        simd_json::serde::from_slice_with_buffers(document, &mut self.buffers).ok()
    }

    fn from_reader<T: DeserializeOwned>(document: &[u8]) -> Option<T> {
        simd_json::serde::from_reader(document).ok()
    }

    fn tree(&mut self, document: &[u8]) -> Option<simd_json::OwnedValue> {
        self.copy.clear();
        self.copy.extend_from_slice(document);
        simd_json::value::owned::to_value_with_buffers(&mut self.copy, &mut self.buffers).ok()
    }

    fn tree_mut(&mut self, document: &mut [u8]) -> Option<simd_json::OwnedValue> {
        simd_json::value::owned::to_value_with_buffers(document, &mut self.buffers).ok()
    }

    fn tree_to_vec(tree: &simd_json::OwnedValue) -> Option<Vec<u8>> {
        Some(tree.encode().into_bytes())
    }

    fn to_vec_pretty<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        simd_json::to_vec_pretty(value).ok()
    }

    fn to_value<T: Serialize>(value: &T) -> Option<simd_json::OwnedValue> {
        simd_json::serde::to_owned_value(value).ok()
    }

    fn from_value<T: DeserializeOwned>(tree: &simd_json::OwnedValue) -> Option<T> {
        simd_json::serde::from_refowned_value(tree).ok()
    }
}

/// Returns how rows describe an operation of a library. `form` is appended to the name, and is the class.
pub fn implementation<L: Library>(form: &str) -> Impl {
    let name = format!("{} {form}", L::NAME);
    match L::VERSION {
        Some(version) => Impl::peer(name, version),
        None => Impl::ours(name),
    }
    .class(form)
}

/// Returns the length of an encoded document.
pub fn length(document: Option<Vec<u8>>) -> u64 {
    document.map_or(0, |document| black_box(&document).len() as u64)
}

/// Returns the check value of a decoded value.
pub fn checked<T: Check>(value: Option<T>) -> u64 {
    value.map_or(0, |value| black_box(&value).check())
}

/// Encodes into a new vector and returns its length.
pub fn encode<L: Library, T: Serialize>(value: &T) -> u64 {
    length(L::to_vec(black_box(value)))
}

/// Encodes a tree into a new vector and returns its length.
pub fn encode_tree<L: Library>(tree: &L::Tree) -> u64 {
    length(L::tree_to_vec(black_box(tree)))
}

/// Encodes into a reused buffer and returns its length.
pub fn encode_reused<L: Library, T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> u64 {
    buffer.clear();
    L::to_buf(buffer, black_box(value)).map_or(0, |()| black_box(&*buffer).len() as u64)
}

/// Encodes a line into a new buffer and returns its length.
pub fn line<L: Library, T: Serialize>(value: &T) -> u64 {
    let mut buffer = Vec::new();
    let encoded = L::line(&mut buffer, black_box(value));
    encoded.map_or(0, |()| black_box(&buffer).len() as u64)
}

/// Decodes a document and returns its check value.
pub fn decode<L: Library, F: Family>(library: &mut L, document: &[u8]) -> u64 {
    checked(library.read::<F::Of<'_>>(black_box(document)))
}

/// Decodes a document into a tree and returns its check value.
pub fn decode_tree<L: Library>(library: &mut L, document: &[u8]) -> u64 {
    checked(library.tree(black_box(document)))
}

/// Decodes with serde_json from text, including UTF-8 validation of the bytes.
pub fn serde_json_str<F: Family>(document: &[u8]) -> u64 {
    let text = std::str::from_utf8(black_box(document)).ok();
    checked(text.and_then(|text| serde_json::from_str::<F::Of<'_>>(text).ok()))
}

/// Decodes the document of a reader.
pub fn decode_reader<L: Library, F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    checked(L::from_reader::<F::Of<'static>>(black_box(document)))
}

/// Decodes the next document of a reader with a new stream decoder of tightwire-json.
pub fn stream<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    checked(Decoder::new(black_box(document)).decode::<F::Of<'static>>().ok().flatten())
}

/// Decodes the next document of a reader with a new stream decoder of serde_json.
pub fn serde_json_stream<F: Family>(document: &[u8]) -> u64
where
    F::Of<'static>: DeserializeOwned,
{
    let mut documents =
        serde_json::Deserializer::from_reader(black_box(document)).into_iter::<F::Of<'static>>();
    checked(documents.next().and_then(Result::ok))
}

/// Encodes a value, decodes the result, and returns the check value.
pub fn round_trip<L: Library, F: Family, T: Serialize>(library: &mut L, value: &T) -> u64 {
    let Some(mut document) = L::to_vec(black_box(value)) else { return 0 };
    checked(library.read_mut::<F::Of<'_>>(black_box(&mut document)))
}

/// Encodes a tree, decodes the result, and returns the check value.
pub fn round_trip_tree<L: Library>(library: &mut L, tree: &L::Tree) -> u64 {
    let Some(mut document) = L::tree_to_vec(black_box(tree)) else { return 0 };
    checked(library.tree_mut(black_box(&mut document)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::ApiCow;
    use crate::payload;

    /// Compares whole values, unlike the check values.
    #[test]
    fn all_libraries_decode_the_same_value() {
        fn same<L: Library, T: DeserializeOwned + PartialEq + std::fmt::Debug + Serialize>(value: &T) {
            let mut document = L::to_vec(value).unwrap();
            assert_eq!(L::from_reader::<T>(&document).unwrap(), *value, "{}", L::NAME);
            assert_eq!(L::default().read::<T>(&document).unwrap(), *value, "{}", L::NAME);
            assert_eq!(L::default().read_mut::<T>(&mut document).unwrap(), *value, "{}", L::NAME);
        }
        fn all<T: DeserializeOwned + PartialEq + std::fmt::Debug + Serialize>(value: &T) {
            same::<Ours, T>(value);
            same::<SerdeJson, T>(value);
            same::<SimdJson, T>(value);
            same::<SonicRs, T>(value);
        }
        all(&payload::api_dynamic());
        all(&payload::api_typed());
        all(&payload::user());
        all(&payload::page(20));
        all(&payload::test_dynamic());
        all(&payload::test_typed());
        all(&payload::complex_dynamic());
        all(&payload::complex_typed());
        all(&payload::simple());
    }

    #[test]
    fn cow_strings_borrow() {
        let document = serde_json::to_vec(&payload::api_typed()).unwrap();
        let value: <ApiCow as Family>::Of<'_> = Ours::from_borrowed(&document).unwrap();
        assert!(matches!(value.message.0, std::borrow::Cow::Borrowed("success")));
    }
}
