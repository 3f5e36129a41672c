//! Which parser decodes, and how the answers stay the same.
//!
//! The own decoder defines every answer. Another backend only runs on a document that the own scanner has found
//! valid, without the numbers that this backend is known to round, and within all limits; and only its success
//! counts. Whenever it fails, the own decoder runs and its result or error, with its offset, is what the caller
//! gets.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::de::{self, Rules};
use crate::error::Result;

/// Which parser decodes.
///
/// Every backend accepts the same documents and gives the same values, kinds of error, and offsets. There is no
/// choice for encoding: the own encoder is ahead of the published ones on every row of the benchmarks, and those
/// deviate from its rules (serde_json writes NaN as `null`).
///
/// [`Backend::Native`] is the default at every size. The others first need a pass of validation, because they
/// differ from RFC 8259 or from each other in depth, lone surrogates, wide integers, or roundings; with it they
/// stay behind everywhere. They exist for comparison, and to rule out the own decoder when a problem is hunted.
///
/// Decoding into owned types, minima of alternating blocks on a Xeon with AVX-512, generic x86-64 build:
///
/// | document | native | serde_json | simd-json |
/// |---|--:|--:|--:|
/// | API response, 329 bytes | 0.37 us | 0.75 us | 1.01 us |
/// | page of 20 users, 5.7 KB | 7.6 us | 14.2 us | 14.5 us |
/// | 1,500 status messages, 860 KB | 1.06 ms | 1.92 ms | 1.65 ms, declined for its 19-digit numbers |
///
/// sonic-rs is no choice: it is slower than the native decoder on these documents, and its lazy and tree types
/// overflow the stack on deep nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Backend {
    /// The decoder of this crate.
    #[default]
    Native,
    /// serde_json. Needs the feature `serde-json`.
    #[cfg(feature = "serde-json")]
    SerdeJson,
    /// simd-json. It works on a copy of the document and only decodes into types that borrow nothing. Needs the
    /// feature `simd-json`.
    #[cfg(feature = "simd-json")]
    SimdJson,
}

/// The backend behind the root functions.
pub fn backend() -> Backend {
    Backend::Native
}

/// Whether strings are scanned by vector instructions on this machine. Where they are not, the same work is done
/// eight bytes at a time.
pub fn is_using_simd() -> bool {
    cfg!(target_arch = "x86_64")
}

/// Whether `backend` may decode `text` into a type that borrows or does not, and so whether its success counts.
#[cfg_attr(
    not(any(feature = "serde-json", feature = "simd-json")),
    allow(unused_variables, reason = "there is only one backend")
)]
pub(crate) fn applies(backend: Backend, text: &str, rules: &Rules) -> bool {
    match backend {
        Backend::Native => true,
        // Only the native decoder reads base64.
        #[cfg(any(feature = "serde-json", feature = "simd-json"))]
        _ if rules.bytes == de::BytesForm::Base64 => false,
        #[cfg(feature = "serde-json")]
        Backend::SerdeJson => de::survey(text, rules).is_ok(),
        #[cfg(feature = "simd-json")]
        Backend::SimdJson => de::survey(text, rules).is_ok_and(|survey| !survey.demanding_numbers),
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
