//! Choice of the decoder.
//!
//! The native decoder defines the result. Another backend only runs on documents that the native parser has validated,
//! that are within all limits, and that have no numbers that the backend rounds. If the backend fails, the native
//! decoder runs, and its value or error is returned.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::de::{self, Rules};
use crate::error::Result;

/// Decoder implementation. Encoding always uses the native encoder.
///
/// All backends accept the same documents and return the same values, kinds of errors, and offsets.
///
/// [`Backend::Native`] is the default and the fastest. The others need an additional validation pass, because they
/// differ from RFC 8259 or from each other in depth, lone surrogates, large integers, or rounding. They exist for
/// comparison, and to rule out a bug of the native decoder.
///
/// Decoding into owned types, minimum times of alternating runs on a Xeon with AVX-512, generic x86-64 build:
///
/// | document | native | serde_json | simd-json |
/// |---|--:|--:|--:|
/// | API response, 329 bytes | 0.37 us | 0.75 us | 1.01 us |
/// | page of 20 users, 5.7 KB | 7.6 us | 14.2 us | 14.5 us |
/// | 1,500 status messages, 860 KB | 1.06 ms | 1.92 ms | 1.65 ms, native fallback because of 19-digit numbers |
///
/// There is no backend for sonic-rs: it is slower than the native decoder on these documents, and its lazy and tree
/// types overflow the stack on deep nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Backend {
    /// The decoder of this crate.
    #[default]
    Native,
    /// serde_json. Requires the feature `serde-json`.
    #[cfg(feature = "serde-json")]
    SerdeJson,
    /// simd-json, on a copy of the document. Types that borrow are decoded by the native decoder. Requires the feature
    /// `simd-json`.
    #[cfg(feature = "simd-json")]
    SimdJson,
}

/// Returns the backend of the root functions.
pub fn backend() -> Backend {
    Backend::Native
}

/// Returns whether strings are scanned with vector instructions on this platform. Otherwise they are scanned eight
/// bytes at a time.
pub fn is_using_simd() -> bool {
    cfg!(target_arch = "x86_64")
}

/// Returns whether `backend` decodes `text` to the same value as the native decoder.
#[cfg_attr(
    not(any(feature = "serde-json", feature = "simd-json")),
    allow(unused_variables, reason = "there is only one backend")
)]
pub(crate) fn applies(backend: Backend, text: &str, rules: &Rules) -> bool {
    match backend {
        Backend::Native => true,
        // Only the native decoder decodes base64.
        #[cfg(any(feature = "serde-json", feature = "simd-json"))]
        _ if rules.byte_strings == de::ByteStrings::Base64 => false,
        #[cfg(feature = "serde-json")]
        Backend::SerdeJson => de::survey(text, rules).is_ok(),
        #[cfg(feature = "simd-json")]
        Backend::SimdJson => de::survey(text, rules).is_ok_and(|demanding_numbers| !demanding_numbers),
    }
}

/// Decodes into a type that may borrow from `text`.
pub(crate) fn decode<'de, T: Deserialize<'de>>(backend: Backend, text: &'de str, rules: &Rules) -> Result<T> {
    #[cfg(feature = "serde-json")]
    if backend == Backend::SerdeJson
        && applies(backend, text, rules)
        && let Ok(value) = serde_json::from_str(text)
    {
        return Ok(value);
    }
    let _ = backend;
    de::decode(text, rules)
}

/// Decodes into a type that borrows nothing.
pub(crate) fn decode_owned<T: DeserializeOwned>(backend: Backend, text: &str, rules: &Rules) -> Result<T> {
    #[cfg(feature = "simd-json")]
    if backend == Backend::SimdJson && applies(backend, text, rules) {
        let mut copy = text.as_bytes().to_vec();
        if let Ok(value) = simd_json::serde::from_slice(&mut copy) {
            return Ok(value);
        }
    }
    decode(backend, text, rules)
}
