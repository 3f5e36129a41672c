//! Reference-counted text.
//!
//! Safe code cannot tell the compiler that a part of a `Bytes` is UTF-8, and validating it on every access cost a seventh
//! of the time of decoding small events. The proof is the type instead; the test compares it with validation.
#![allow(
    unsafe_code,
    reason = "conversion of bytes that the constructors take from text; see the module text"
)]

use alloc::string::String;

use bytes::Bytes;

/// Bytes that are UTF-8, because every constructor takes them from a `str` or `String`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Text(Bytes);

impl Text {
    /// `part` as a slice of `chunk` if it lies there, otherwise as a copy.
    pub(super) fn part(part: &str, chunk: &Bytes) -> Self {
        let bytes = part.as_bytes();
        // Only the addresses tell whether the decoder lent a part of the chunk or of a buffer of its own.
        let (outer, inner) = (chunk.as_ptr_range(), bytes.as_ptr_range());
        let shared = outer.start <= inner.start && inner.end <= outer.end;
        Self(if shared { chunk.slice_ref(bytes) } else { Bytes::copy_from_slice(bytes) })
    }

    pub(super) fn as_str(&self) -> &str {
        // SAFETY: the bytes were those of a `str` or `String` when this value was made, and `Bytes` never change.
        unsafe { core::str::from_utf8_unchecked(&self.0) }
    }

    pub(super) fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<String> for Text {
    /// Takes the text without copying it.
    fn from(text: String) -> Self {
        Self(Bytes::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_equals_validated_bytes() {
        let chunk = Bytes::from("data: caf\u{e9} \u{2014}\n\n");
        let whole = core::str::from_utf8(&chunk).unwrap();
        for (start, _) in whole.char_indices() {
            let shared = Text::part(&whole[start..], &chunk);
            assert_eq!(shared.as_bytes().as_ptr(), chunk[start..].as_ptr());
            let copied = Text::part(&String::from(&whole[start..]), &chunk);
            for text in [shared, copied, Text::from(String::from(&whole[start..]))] {
                assert_eq!(core::str::from_utf8(text.as_bytes()), Ok(text.as_str()));
                assert_eq!(text.as_str(), &whole[start..]);
            }
        }
    }
}
