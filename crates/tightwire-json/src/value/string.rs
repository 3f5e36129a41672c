//! Strings of trees.

use std::ops::Deref;

/// Maximum length of an inline string, in bytes.
const INLINE: usize = 22;

/// Immutable string of a [`Value`](super::Value). Dereferences to `str`.
///
/// Strings of up to 22 bytes need no allocation.
#[derive(Clone)]
pub struct JsonString(Repr);

#[derive(Clone)]
enum Repr {
    Inline {
        len: u8,
        bytes: [u8; INLINE],
    },
    Heap(Box<str>),
    /// String that is still being received.
    #[allow(clippy::box_collection, reason = "the pointer has 8 bytes, a string 24")]
    Growing(Box<String>),
}

impl JsonString {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Inline { len, bytes } => str::from_utf8(&bytes[..usize::from(*len)]).unwrap_or_default(),
            Repr::Heap(text) => text,
            Repr::Growing(text) => text,
        }
    }

    /// Appends in amortized constant time per byte. The string has spare capacity until [`shrink`](Self::shrink).
    pub(super) fn push_str(&mut self, text: &str) {
        match &mut self.0 {
            Repr::Growing(string) => string.push_str(text),
            Repr::Inline { len, bytes } if usize::from(*len) + text.len() <= INLINE => {
                bytes[usize::from(*len)..][..text.len()].copy_from_slice(text.as_bytes());
                *len += text.len() as u8;
            }
            _ => self.0 = Repr::Growing(Box::new(self.as_str().to_owned() + text)),
        }
    }

    /// Releases the spare capacity.
    pub(super) fn shrink(&mut self) {
        if let Repr::Growing(string) = &mut self.0 {
            *self = Self::from(std::mem::take(&mut **string));
        }
    }

    fn inline(text: &str) -> Option<Self> {
        let mut bytes = [0; INLINE];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self(Repr::Inline { len: text.len() as u8, bytes }))
    }
}

impl Deref for JsonString {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for JsonString {
    fn from(text: &str) -> Self {
        Self::inline(text).unwrap_or_else(|| Self(Repr::Heap(text.into())))
    }
}

impl From<String> for JsonString {
    fn from(text: String) -> Self {
        Self::inline(&text).unwrap_or_else(|| Self(Repr::Heap(text.into())))
    }
}

impl From<JsonString> for String {
    fn from(text: JsonString) -> Self {
        match text.0 {
            Repr::Heap(text) => text.into(),
            Repr::Growing(text) => *text,
            Repr::Inline { .. } => text.as_str().to_owned(),
        }
    }
}

impl PartialEq for JsonString {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for JsonString {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_strings_have_the_whole_text() {
        for pieces in
            [&["a", "é", ""][..], &["0123456789abcdef", "éé", "éé", "x"], &["", "0123456789abcdef0123456789"]]
        {
            let mut string = JsonString::from("");
            for piece in pieces {
                string.push_str(piece);
            }
            assert_eq!(string.as_str(), pieces.concat());
            assert_eq!(String::from(string.clone()), pieces.concat());
            string.shrink();
            assert_eq!(string.as_str(), pieces.concat());
            assert!(!matches!(string.0, Repr::Growing(_)));
            // A complete string can grow again.
            string.push_str("0123456789abcdef");
            assert_eq!(string.as_str(), pieces.concat() + "0123456789abcdef");
        }
    }
}
