//! tightwire-json and other crates, called as shown first in their documentation.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::peers::{self, SimdJson};

/// Encoder and decoder for types of serde.
pub trait Codec: Default {
    /// Name in the report.
    const NAME: &'static str;
    /// Version, `None` for tightwire-json.
    const VERSION: Option<&'static str>;

    /// Encodes into a new vector.
    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>>;

    /// Appends the encoded value to a buffer.
    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()>;

    /// Decodes a document. `self` has memory that is reused.
    fn decode<T: DeserializeOwned>(&mut self, document: &[u8]) -> Option<T>;
}

/// tightwire-json.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours;

impl Codec for Ours {
    const NAME: &'static str = "ours";
    const VERSION: Option<&'static str> = None;

    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        tightwire_json::to_vec(value).ok()
    }

    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        tightwire_json::to_buf(buffer, value).ok()
    }

    fn decode<T: DeserializeOwned>(&mut self, document: &[u8]) -> Option<T> {
        tightwire_json::from_slice(document).ok()
    }
}

/// serde_json.
#[derive(Clone, Copy, Debug, Default)]
pub struct SerdeJson;

impl Codec for SerdeJson {
    const NAME: &'static str = "serde_json";
    const VERSION: Option<&'static str> = Some(peers::SERDE_JSON);

    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        serde_json::to_vec(value).ok()
    }

    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        serde_json::to_writer(buffer, value).ok()
    }

    fn decode<T: DeserializeOwned>(&mut self, document: &[u8]) -> Option<T> {
        serde_json::from_slice(document).ok()
    }
}

/// simd-json, which modifies its input: every call copies the document. Its working memory is reused.
impl Codec for SimdJson {
    const NAME: &'static str = "simd-json";
    const VERSION: Option<&'static str> = Some(peers::SIMD_JSON);

    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        simd_json::serde::to_vec(value).ok()
    }

    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        simd_json::serde::to_writer(buffer, value).ok()
    }

    fn decode<T: DeserializeOwned>(&mut self, document: &[u8]) -> Option<T> {
        self.owned(document).ok()
    }
}

/// sonic-rs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SonicRs;

impl Codec for SonicRs {
    const NAME: &'static str = "sonic-rs";
    const VERSION: Option<&'static str> = Some(peers::SONIC_RS);

    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
        sonic_rs::to_vec(value).ok()
    }

    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
        sonic_rs::to_writer(buffer, value).ok()
    }

    fn decode<T: DeserializeOwned>(&mut self, document: &[u8]) -> Option<T> {
        sonic_rs::from_slice(document).ok()
    }
}

/// Other backends of tightwire-json, see `tightwire_json::Backend`.
#[cfg(feature = "all-backends")]
pub mod backends {
    use super::{Codec, DeserializeOwned, Serialize};

    macro_rules! backends {
        ($($(#[$meta:meta])* $name:ident = $text:literal;)+) => {
            $(
                $(#[$meta])*
                #[derive(Clone, Copy, Debug, Default)]
                pub struct $name;

                impl Codec for $name {
                    const NAME: &'static str = $text;
                    const VERSION: Option<&'static str> = None;

                    fn to_vec<T: Serialize>(value: &T) -> Option<Vec<u8>> {
                        tightwire_json::to_vec(value).ok()
                    }

                    fn to_buf<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Option<()> {
                        tightwire_json::to_buf(buffer, value).ok()
                    }

                    fn decode<T: DeserializeOwned>(&mut self, document: &[u8]) -> Option<T> {
                        const CODEC: tightwire_json::Codec =
                            tightwire_json::Codec::strict().with_backend(tightwire_json::Backend::$name);
                        CODEC.from_slice(document).ok()
                    }
                }
            )+
        };
    }

    backends! {
        /// tightwire-json with the backend serde_json.
        SerdeJson = "ours on serde_json";
        /// tightwire-json with the backend simd-json.
        SimdJson = "ours on simd-json";
    }
}
