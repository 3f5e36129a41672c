//! Options of decoding.

use crate::limits::Limits;

/// Options of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    pub(crate) lone_surrogate: LoneSurrogate,
    pub(crate) duplicates: Duplicates,
    pub(crate) byte_strings: ByteStrings,
}

/// How a string is decoded into a byte buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteStrings {
    /// As the UTF-8 bytes of the string, like serde_json.
    Utf8,
    /// As base64 (RFC 4648, section 4), like Go.
    Base64,
}

/// Handling of lone surrogates (section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoneSurrogate {
    /// Reports a syntax error.
    Error,
    /// Replaces it with U+FFFD.
    Replace,
}

/// How duplicate keys of an object are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// The type decides, as with serde_json: a derived struct rejects a duplicate field, maps and
    /// [`Value`](crate::Value) keep the last value.
    #[default]
    ByType,
    /// Structs and maps use the last value, as in Go. Earlier entries are skipped; their values must be valid JSON but
    /// may have any type. Costs an additional pass over the document.
    Last,
    /// The document is rejected with an error at the second key. Costs an additional pass over the document.
    Error,
}
