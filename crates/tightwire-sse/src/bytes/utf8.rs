//! Reference-counted UTF-8 text.
//!
//! Validating the data on every access took a seventh of the time of decoding small events. Instead, all constructors
//! of this type take UTF-8 text, so that an access needs no validation. The test validates the bytes of each
//! constructor.
#![allow(
    unsafe_code,
    reason = "conversion of bytes that the constructors take from a `str`; see the module text"
)]

use alloc::string::String;

use bytes::Bytes;

/// Bytes that are UTF-8: all constructors take a `str` or `String`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Utf8Bytes(Bytes);

impl Utf8Bytes {
    /// Returns a slice of `chunk` if `text` is in it, otherwise a copy.
    pub(super) fn slice(text: &str, chunk: &Bytes) -> Self {
        let bytes = text.as_bytes();
        // The decoder returns data in the chunk or in its buffers; only the address tells which.
        let (outer, inner) = (chunk.as_ptr_range(), bytes.as_ptr_range());
        let shared = outer.start <= inner.start && inner.end <= outer.end;
        Self(if shared { chunk.slice_ref(bytes) } else { Bytes::copy_from_slice(bytes) })
    }

    pub(super) fn as_str(&self) -> &str {
        // SAFETY: the constructors took the bytes from a `str` or `String`, and `Bytes` are immutable.
        unsafe { core::str::from_utf8_unchecked(&self.0) }
    }

    pub(super) fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<String> for Utf8Bytes {
    /// Moves the text without copying it.
    fn from(text: String) -> Self {
        Self(Bytes::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_agrees_with_validation() {
        let chunk = Bytes::from("data: caf\u{e9} \u{2014}\n\n");
        let whole = core::str::from_utf8(&chunk).unwrap();
        for (start, _) in whole.char_indices() {
            let shared = Utf8Bytes::slice(&whole[start..], &chunk);
            assert_eq!(shared.as_bytes().as_ptr(), chunk[start..].as_ptr());
            let copied = Utf8Bytes::slice(&String::from(&whole[start..]), &chunk);
            for text in [shared, copied, Utf8Bytes::from(String::from(&whole[start..]))] {
                assert_eq!(core::str::from_utf8(text.as_bytes()), Ok(text.as_str()));
                assert_eq!(text.as_str(), &whole[start..]);
            }
        }
    }
}
